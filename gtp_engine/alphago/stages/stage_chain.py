"""The whole chain: all stages as commands, the networks in one folder, and the table of a round robin."""

import shutil
from pathlib import Path
from typing import Final, NamedTuple

from gtp_engine.alphago.stages.round_robin import MatchTerms, match_steps, players_of, report_of
from gtp_engine.errors import ConfigError
from gtp_engine.files import writing
from gtp_engine.machine import available_cores
from gtp_engine.streams import write_log
from gtp_engine.training.core.runs import ENGINE, Step, carry_out_all, open_folder

NETWORK: Final = "network"
TABLE: Final = "table.md"
"""What a chain leaves in its folder: the networks for `gtp-engine --model`, and the table of the matches."""

_PRODUCTS: Final = ("supervised/policy.onnx", "rollouts/rollout-policy.npz", "value/value.onnx")
"""The files that the engine plays with; as in the paper, the supervised policy guides the search."""

Flags = tuple[object, ...]


class Plan(NamedTuple):
    """The flags of each stage, and the matches at the end."""

    command: str
    """The command that carries it out."""
    size: int
    records: Flags
    policy: Flags
    rollout_policy: Flags
    reinforce: Flags
    value: Flags
    games: int
    """Of each match."""
    seconds: float
    """Per move of a match."""


FULL: Final = Plan(
    command="gtp-engine alphago chain",
    size=9,
    records=("--games", 12_000, "--temperature", 0.7),
    policy=("--minutes", 12, "--layers", 7, "--channels", 64),
    rollout_policy=("--epochs", 6),
    reinforce=("--iterations", 150, "--learning-rate", 0.03, "--pool-every", 10, "--evaluate-every", 25),
    value=("--games", 300_000, "--samples", 5_000_000, "--layers", 15, "--test-share", 0.01),
    games=60,
    seconds=0.1,
)
MINI: Final = Plan(
    command="gtp-engine alphago chain --mini",
    size=9,
    records=("--games", 1000),
    policy=("--minutes", 1, "--layers", 4, "--channels", 32),
    rollout_policy=("--epochs", 4, "--positions", 200, "--rollouts", 8, "--speed-seconds", 0.3),
    reinforce=(
        *("--iterations", 16, "--games", 64, "--pool-every", 4, "--parallel-games", 64),
        *("--evaluate-every", 16, "--evaluation-games", 128),
    ),
    value=("--games", 12_000, "--samples", 200_000, "--hidden", 64, "--test-share", 0.1, "--rollouts", 8),
    games=4,
    seconds=0.1,
)
"""Takes 12 minutes on two cores."""


def run_chain(plan: Plan, folder: Path, teacher: Path, terms: str = "") -> int:
    """Train the networks, play the matches and write the table; return the exit status of a command that fails, or 0.

    Finished commands are not run again.  `teacher` plays the records; `terms` is the licence of the weights.  Raises
    ConfigError where files cannot be written, or where the folder holds another chain.
    """
    gnugo = shutil.which("gnugo")
    if gnugo is None:
        write_log("GNU Go is not on the PATH; the table will not include it.")
    open_folder(folder, plan.command, teacher)
    if status := carry_out_all(training_steps(plan, folder, teacher, terms)):
        return status
    network, matches = folder / NETWORK, folder / "matches"
    with writing(network, ConfigError, "networks to"):
        network.mkdir(exist_ok=True)
        for product in _PRODUCTS:
            shutil.copy2(folder / product, network)
    players = players_of(network, plan.seconds, gnugo)
    match_terms = MatchTerms(plan.size, plan.games, plan.seconds)
    if status := carry_out_all(match_steps(players, match_terms, matches, parallel=available_cores())):
        return status
    with writing(folder / TABLE, ConfigError, "table"):
        (folder / TABLE).write_text(report_of(players, match_terms, matches) + "\n", encoding="utf-8")
    return 0


def training_steps(plan: Plan, folder: Path, teacher: Path, terms: str) -> list[Step]:
    """Return the commands that train the networks, in order."""
    records, supervised, reinforced = folder / "records", folder / "supervised", folder / "reinforced"
    rollouts, value = folder / "rollouts", folder / "value"

    def step(title: str, stage: str, product: Path, *arguments: object) -> Step:
        return Step(title, (*ENGINE, "alphago", stage, *arguments, "--license", terms), product)

    weights = rollouts / "rollout-policy.npz"
    linear = ("--linear", weights)
    return [
        Step("Records", (*ENGINE, "alphago", "records", teacher, records, "--size", plan.size, *plan.records)),
        step("Supervised policy", "policy", supervised / "policy.onnx", records, supervised, *plan.policy),
        step("Rollout policy", "rollout-policy", weights, records, rollouts, *plan.rollout_policy),
        step("Reinforcement", "reinforce", reinforced / "policy.onnx", supervised, reinforced, *plan.reinforce),
        step("Value network", "value", value / "value.onnx", supervised, reinforced, value, *linear, *plan.value),
    ]
