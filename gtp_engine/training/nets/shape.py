"""How large a new network is: a frozen dataclass, recorded in every checkpoint.  Needs no torch."""

from dataclasses import dataclass
from typing import Final

from gtp_engine.config.option import Section, option
from gtp_engine.errors import ConfigError, problem

ACTIVATIONS: Final = ("relu", "mish", "silu")


@dataclass(frozen=True)
class Shape(Section, name="shape"):
    """The sizes of a network; every field is an option (`config.option`)."""

    blocks: int = option(6, "Residual blocks.", low=1)
    channels: int = option(96, "Channels of the trunk.", low=1)
    pooling_every: int = option(3, "A block pools over the board every so many blocks; 0: none does.", low=0)
    pooled_channels: int = option(32, "Channels of the trunk that are pooled there.", low=1)
    policy_channels: int = option(32, "Channels of the policy head.", low=1)
    value_channels: int = option(32, "Channels of the value head.", low=1)
    value_hidden: int = option(64, "Hidden units of the value head.", low=1)
    activation: str = option("relu", "Activation after each norm.", choices=ACTIVATIONS)

    def __post_init__(self) -> None:
        """Raise ConfigError for sizes that are out of bounds or do not fit together."""
        super().__post_init__()
        if self.pooling_every and self.pooled_channels >= self.channels:
            raise ConfigError(
                problem(f"{self.pooled_channels} pooled of {self.channels} channels", expected="fewer pooled ones")
            )

    @property
    def title(self) -> str:
        """Its size as KataGo's names have it: b6c96."""
        return f"b{self.blocks}c{self.channels}"
