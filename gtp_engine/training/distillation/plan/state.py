"""What the parts of a plan pass on to each other: a JSON file in its folder."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from gtp_engine.errors import ConfigError, problem, shown_path
from gtp_engine.files import replacing, sha256_of, writing
from gtp_engine.training.core.learning import check_same
from gtp_engine.training.distillation.plan.settings import PlanSettings

FILE_NAME: Final = "plan.json"
_FORMAT: Final = 1
_FREE: Final = ("part", "minutes", "workers", "device", "compiled", "epochs")
"""Settings in which a part may differ from the one before."""


@dataclass
class NetworkState:
    """One network of a plan."""

    batch: int = 0
    """Positions in a step; less than planned once memory was too small."""
    speed: float = 0.0
    """Samples per second, measured."""
    compiled: bool = False
    in_memory: bool = True
    """Whether all positions fit into the memory of the device, as far as that is known."""
    samples: int = 0
    seconds: float = 0.0
    done: bool = False


@dataclass
class PlanState:
    """Where a plan is."""

    settings: dict[str, Any]
    used: float = 0.0
    """Seconds of the parts so far."""
    parts: int = 0
    generated: bool = False
    """Whether there are enough positions."""
    positions: int = 0
    positions_per_second: float = 0.0
    startup: float = 0.0
    """Seconds from the beginning of a part to its first step of training."""
    networks: dict[str, NetworkState] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    """What did not go as planned."""
    init: str | None = None
    """Hash of the file that a network begins with, "" without one; None until a part has begun."""

    def network(self, title: str) -> NetworkState:
        """Return the state of a network by its size."""
        return self.networks.setdefault(title, NetworkState())

    def check_init(self, init: Path | None) -> None:
        """Record the file that a network begins with; raises ConfigError if an earlier part had another one, or none.

        A network that is still to begin would silently begin otherwise.
        """
        digest = "" if init is None else sha256_of(init)
        if self.init not in (None, digest):
            given = "no --init" if init is None else f"--init {shown_path(init)}"
            expected = "the file that the plan began with" if self.init else "none, as the plan began without"
            raise ConfigError(problem(given, expected=expected, advice="give the same command, or another folder"))
        self.init = digest

    def write(self, folder: Path) -> None:
        """Write the state, replacing an older one; raises ConfigError if that is impossible."""
        with writing(folder / FILE_NAME, ConfigError, "plan"):
            folder.mkdir(parents=True, exist_ok=True)
            with replacing(folder / FILE_NAME) as unfinished:
                unfinished.write_text(json.dumps({"format": _FORMAT, **asdict(self)}, indent=2), encoding="utf-8")


def read_state(folder: Path, settings: PlanSettings) -> PlanState:
    """Return the state of the plan in a folder, a new one if there is none.

    Raises ConfigError if it is damaged, or of a plan with other settings.
    """
    path = folder / FILE_NAME
    if not path.exists():
        return PlanState(asdict(settings))
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if values.pop("format") != _FORMAT:
            raise ValueError
        values["networks"] = {title: NetworkState(**each) for title, each in values["networks"].items()}
        state = PlanState(**values)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(problem(f"plan {shown_path(path)} is damaged", advice="delete it")) from error
    check_same(state.settings, asdict(settings), free=_FREE)
    return state
