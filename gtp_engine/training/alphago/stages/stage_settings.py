"""A run of a stage and the stages' settings: sections of options (`config.option`), from which the commands make flags.

A run records its settings in its checkpoint and resumes with the same ones only.  Needs neither numpy nor torch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gtp_engine.base.progress import ProgressBar
from gtp_engine.base.steps import never
from gtp_engine.config.option import Section, option
from gtp_engine.go.rules import PRESETS, Scoring
from gtp_engine.training.core.learning import LEAST_RATE, Learning, with_default

KOMI: Final = 7.5
"""Default points for White; a half point rules out draws, so that every game has a winner to learn from."""
TEST_SHARE: Final = 0.05
"""Default share of the games that is held out for testing."""
AREA_RULES: Final = tuple(
    name for name, rules in PRESETS.items() if rules.scoring is Scoring.AREA and not rules.has_button
)
"""Rule sets under which the area on the board is the result; a game with a button could not be learned from."""

LIMITS: Final = ("samples", "minutes", "threads", "validations", "checkpoint_minutes", "device")
"""Fields of `Learning` in which a resumed run may differ from its beginning."""

_TEST_SHARE_HELP: Final = "Share of the games that is held out for testing."


@dataclass(frozen=True)
class StageRun:
    """A run in the folder `out`; a stage continues an earlier run in the same folder."""

    out: Path
    bar: ProgressBar
    is_stopped: Callable[[], bool] = never
    name: str = ""
    """The name in the exported file; "": one made of the network's size."""
    terms: str = ""
    """The licence of the weights in the exported file."""


@dataclass(frozen=True)
class RecordSettings(Section, name="records"):
    """Games of a network against itself, as SGF files."""

    games: int = option(1000, "Stop when FOLDER holds this many games.", low=1)
    size: int = option(9, "Lines of the board.", bounds=(2, 25))
    komi: float = option(KOMI, "Points for White.")
    rules: str = option("chinese", "Rule set; one that scores by area, for real results.", choices=tuple(PRESETS))
    temperature: float = option(1.0, "Temperature of the policy after the opening.", bounds=(0.1, 10))
    parallel_games: int = option(64, "Games played at once.", low=1)
    stop_decided: bool = option(False, "End games once NET is sure of the winner; the loser resigns.")
    seed: int = option(1, "First seed to use; seeds of games in FOLDER are skipped.", low=0)
    threads: int = option(0, "Threads of the network; 0: all cores.", low=0)


@dataclass(frozen=True)
class PolicyGameSettings(Section, name="games"):
    """Games between policy networks that are being trained."""

    komi: float = option(KOMI, "Points for White.")
    rules: str = option("chinese", "Rule set; one that scores by area.", choices=AREA_RULES)
    parallel_games: int = option(128, "Games played at once.", low=1)


@dataclass(frozen=True)
class PolicyLearning(Learning, name="training"):
    """How the policy network learns."""

    average_steps: int = with_default("average_steps", 300)
    checkpoint_minutes: float = with_default("checkpoint_minutes", 5.0)
    validation_positions: int = with_default("validation_positions", 4096)


@dataclass(frozen=True)
class ValueLearning(PolicyLearning, name="training"):
    """How the value network learns."""

    learning_rate: float = with_default("learning_rate", 0.01)
    """Its norms let it learn faster than the policy.  Test error of 7 layers of 64 after 400,000 samples: 0.521; with
    0.003 0.533, with 0.02 0.522."""


@dataclass(frozen=True)
class PolicySettings(Section, name="policy"):
    """The supervised policy network."""

    layers: int = option(7, "Convolutions, the 1×1 at the end included; the paper has 13.", low=2)
    channels: int = option(64, "Filters of each; the paper has 192.", low=1)
    test_share: float = option(TEST_SHARE, _TEST_SHARE_HELP, bounds=(0, 1))


@dataclass(frozen=True)
class RolloutNetSettings(PolicySettings, name="rollout_network"):
    """The policy network for rollouts."""

    layers: int = option(3, "Convolutions, the 1×1 at the end included: few, as rollouts call it for each move.", low=2)
    channels: int = option(16, "Filters of each.", low=1)


@dataclass(frozen=True)
class RolloutSettings(Section, name="rollout"):
    """The linear rollout policy."""

    epochs: int = option(12, "Passes over all games.", low=1)
    games_per_step: int = option(16, "Games of a step.", low=1)
    learning_rate: float = with_default("learning_rate", 0.15)
    final_rate: float = with_default("final_rate", 0.1)
    prior: float = option(1.0, "Weight of the normal prior, in observations of each squared weight.", low=0)
    least_count: int = option(10, low=1)
    """A diamond pattern gets weights of its own if it occurs this often in the games."""
    test_share: float = option(TEST_SHARE, _TEST_SHARE_HELP, bounds=(0, 1))
    seed: int = option(1, "Seed of the order of games.", low=0)


@dataclass(frozen=True)
class ReinforceSettings(Section, name="reinforce"):
    """How the policy network learns from its games."""

    iterations: int = option(1000, "Length of the run.", low=1)
    games: int = option(128, "Games of an iteration; the paper has 128.", low=2)
    learning_rate: float = option(0.05, "Learning rate of plain gradient descent.", low=LEAST_RATE)
    """For a mean over moves; the paper's 0.001 is for the sum over a game's.  On 9×9 (7 layers of 64) the network won
    87% of 400 games against its beginning after 10 iterations, 91% after 30; with 0.3 it won 84 and 76%."""
    clip: float = with_default("clip", 1.0)
    pool_every: int = option(20, "Iterations after which the network joins the pool of opponents.", low=1)
    """The paper's run of 10,000 had 500."""
    evaluate_every: int = option(20, "Iterations between matches against the network of SUPERVISED.", low=1)
    evaluation_games: int = option(200, "Games of such a match.", low=2)
    seed: int = with_default("seed", 1)
    precision: str = with_default("precision", "auto")
    device: str = with_default("device", "auto")
    threads: int = with_default("threads", 0)
    checkpoint_minutes: float = with_default("checkpoint_minutes", 5.0)


@dataclass(frozen=True)
class ValueSettings(Section, name="value"):
    """The value network and its games."""

    games: int = option(10_000, "Games to play; training uses one position of each.", low=2)
    layers: int = option(0, "Convolutions, the 1×1 at the end included; 0: as many as the policy's.", low=0)
    hidden: int = option(256, "Units of the dense layer.", low=1)
    owners_weight: float = option(1.0, "Weight of ownership in the loss; the paper has none (0).", low=0)
    from_scratch: bool = option(False, "Start with random filters instead of the supervised policy's.")
    test_share: float = option(TEST_SHARE, _TEST_SHARE_HELP, bounds=(0, 1))
