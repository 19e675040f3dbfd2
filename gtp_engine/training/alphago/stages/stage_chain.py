"""The whole chain: all stages as commands, the networks in one folder, and the Elo table of a round robin.

The round robin is figure 4 of the paper in miniature, at equal time: value network, rollouts and both in one search,
the policy network without a search, rollouts without a network, and GNU Go as a reference.  It is a tournament of
`gtp-engine tournament`, whose file the chain writes, and resumes like any tournament.
"""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from gtp_engine.arena.tournament.standings import format_tables, tables_of
from gtp_engine.arena.tournament.tournament_file import read_description
from gtp_engine.arena.tournament.tournament_runner import TournamentRunner
from gtp_engine.base.errors import ConfigError, counted
from gtp_engine.base.files import copy_whole, write_result, writing
from gtp_engine.base.machine import available_cores
from gtp_engine.base.steps import ENGINE, Step, carry_out_all, engine_command, open_folder
from gtp_engine.base.streams import write_log
from gtp_engine.base.worker_process import join_command

GNUGO_LEVEL: Final = 10
"""GNU Go's default level, and the usual reference."""
RANDOM_PLIES: Final = 4
"""Random moves at the start of each pair of games with exchanged colours: the games would otherwise repeat."""


NETWORK: Final = "network"
TABLE: Final = "table.md"
"""What a chain leaves in its folder: the networks for `gtp-engine --model`, and the table of the tournament."""
_TOURNAMENT: Final = "tournament.toml"

_PRODUCTS: Final = (
    "supervised/policy.onnx",
    "rollouts/rollout-policy.npz",
    "rollout-network/rollout.onnx",
    "value/value.onnx",
)
"""The files that the engine plays with; as in the paper, the supervised policy guides the search."""

Flags = tuple[object, ...]


class StageFlags(NamedTuple):
    """The flags of each stage, and the tournament at the end."""

    command: str
    """The command that carries it out."""
    size: int
    records: Flags
    policy: Flags
    rollout_policy: Flags
    rollout_network: Flags
    reinforce: Flags
    value: Flags
    games: int
    """Of each pair of players."""
    seconds: float
    """Per move of an engine that searches in the tournament; GNU Go's time is not limited."""

    def on(self, size: int) -> "StageFlags":
        """Return the same on a board of `size` lines."""
        command = self.command if size == self.size else f"{self.command} --size {size}"
        return self._replace(size=size, command=command)


FULL: Final = StageFlags(
    command="gtp-engine alphago chain",
    size=9,
    records=("--games", 12_000, "--temperature", 0.7),
    policy=("--minutes", 12, "--layers", 7, "--channels", 64),
    rollout_policy=("--epochs", 6),
    rollout_network=("--minutes", 5),
    reinforce=("--iterations", 150, "--learning-rate", 0.03, "--pool-every", 10, "--evaluate-every", 25),
    value=("--games", 300_000, "--samples", 5_000_000, "--layers", 15, "--test-share", 0.01),
    games=60,
    seconds=0.1,
)
MINI: Final = StageFlags(
    command="gtp-engine alphago chain --mini",
    size=9,
    records=("--games", 1000),
    policy=("--minutes", 1, "--layers", 4, "--channels", 32),
    rollout_policy=("--epochs", 4),
    rollout_network=("--minutes", 0.5),
    reinforce=(
        *("--iterations", 16, "--games", 64, "--pool-every", 4, "--parallel-games", 64),
        *("--evaluate-every", 16, "--evaluation-games", 128),
    ),
    value=("--games", 12_000, "--samples", 200_000, "--hidden", 64, "--test-share", 0.1),
    games=4,
    seconds=0.1,
)
"""Takes 12 minutes on two cores."""


def run_chain(plan: StageFlags, folder: Path, teacher: Path, terms: str = "") -> None:
    """Train the networks, play the tournament and write the table; exit with the status of a command that fails.

    Finished commands are not run again.  `teacher` plays the records; `terms` is the licence of the weights.  Raises
    ConfigError where files cannot be written, or where the folder holds another chain.
    """
    gnugo = shutil.which("gnugo")
    if gnugo is None:
        write_log("GNU Go is not on the PATH; the table will not include it.")
    open_folder(folder, plan.command, teacher)
    carry_out_all(training_steps(plan, folder, teacher, terms))
    network, file = folder / NETWORK, folder / _TOURNAMENT
    with writing(network, ConfigError, "networks to"):
        network.mkdir(exist_ok=True)
        for product in _PRODUCTS:
            copy_whole(folder / product, network / Path(product).name)
    write_result(file, tournament_of(players_of(network, plan.seconds, gnugo), plan).encode())
    carry_out_all([Step("Tournament", (*ENGINE, "tournament", file))])
    write_result(folder / TABLE, report_of(plan, file).encode())


def training_steps(plan: StageFlags, folder: Path, teacher: Path, terms: str) -> list[Step]:
    """Return the commands that train the networks, in order."""
    records, supervised, reinforced = folder / "records", folder / "supervised", folder / "reinforced"
    rollouts, value = folder / "rollouts", folder / "value"

    def step(title: str, stage: str, product: Path, *arguments: object) -> Step:
        return Step(title, (*ENGINE, "alphago", stage, *arguments, "--license", terms), product)

    weights, small = rollouts / "rollout-policy.npz", folder / "rollout-network"
    return [
        Step("Records", (*ENGINE, "alphago", "records", teacher, records, "--size", plan.size, *plan.records)),
        step("Supervised policy", "policy", supervised / "policy.onnx", records, supervised, *plan.policy),
        step("Rollout policy", "rollout-policy", weights, records, rollouts, *plan.rollout_policy),
        step("Rollout network", "rollout-network", small / "rollout.onnx", records, small, *plan.rollout_network),
        step("Reinforcement", "reinforce", reinforced / "policy.onnx", supervised, reinforced, *plan.reinforce),
        step("Value network", "value", value / "value.onnx", supervised, reinforced, value, *plan.value),
    ]


def players_of(network: Path, seconds: float, gnugo: str | None = None) -> dict[str, str]:
    """Return the names and command lines of the players that use `network`, and of GNU Go if its path is given.

    Each has one thread, uses its full time and never resigns, so that the comparison is about moves alone.
    """

    def engine(*arguments: object) -> str:
        return engine_command("--model", network, "--threads", 1, "--network-threads", 1, "--no-resign", *arguments)

    timed = ("--time-per-move", seconds, "--no-early-stop")
    players = {
        "policy and value network (λ = 0)": engine(*timed, "--rollout-share", 0),
        "policy, value network and rollouts (λ = 0.5)": engine(*timed, "--rollout-share", 0.5),
        "policy network and rollouts (λ = 1)": engine(*timed, "--rollout-share", 1),
        "policy network alone": engine("--visits", 1),
        "rollouts alone (RAVE)": engine(*timed, "--search", "rave", "--rollout-policy", "linear"),
    }
    if gnugo is not None:
        command = [gnugo, "--mode", "gtp", "--level", str(GNUGO_LEVEL), "--chinese-rules"]
        players[f"GNU Go, level {GNUGO_LEVEL}"] = join_command(command)
    return players


def tournament_of(players: Mapping[str, str], plan: StageFlags) -> str:
    """Return the file of a tournament in which all pairs of players meet; what is JSON text is TOML text too."""
    lines = [f"games = {plan.games}", f"parallel = {available_cores()}"]
    for name, command in players.items():
        lines += [
            "[[engines]]",
            f"name = {json.dumps(name, ensure_ascii=False)}",
            f"command = {json.dumps(command, ensure_ascii=False)}",
        ]
    return "\n".join([*lines, "[[conditions]]", f"size = {plan.size}", f"random-plies = {RANDOM_PLIES}", ""])


def report_of(plan: StageFlags, file: Path) -> str:
    """Return the table of the tournament that a file describes, under a line about its games, as Markdown."""
    description = read_description(file)
    results = TournamentRunner(description, file.with_suffix("")).results
    size, games = plan.size, counted(plan.games, "game")
    return (
        f"{size}×{size}, {games} of each pair, {plan.seconds:g} s per move and one thread each, "
        f"openings of {RANDOM_PLIES} random moves with colours exchanged; Elo about the mean, 95% intervals.\n\n"
        f"{format_tables(description, tables_of(description, results))}\n"
    )
