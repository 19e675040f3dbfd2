"""How the networks of AlphaGo's stages learn, where that differs from `training.core.learning`.  Needs no torch."""

from dataclasses import dataclass
from typing import Final

from gtp_engine.training.core.learning import Learning, with_default

PATIENCE: Final = ("samples", "minutes", "threads", "validations", "checkpoint_minutes", "device")
"""Settings in which a resumed run may differ from what it was."""
VALUE_LEARNING_RATE: Final = 0.01
"""Highest learning rate of the value network, whose norms let it learn faster than the policy.

Test error of 7 layers of 64 after 400,000 samples: 0.521; with 0.003 0.533, with 0.02 0.522.
"""


@dataclass(frozen=True)
class StageLearning(Learning, name="learning"):
    """How a network learns from examples."""

    average_steps: int = with_default("average_steps", 300)
    checkpoint_minutes: float = with_default("checkpoint_minutes", 5.0)
    validation_positions: int = with_default("validation_positions", 4096)
