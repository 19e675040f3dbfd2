"""The whole chain: all stages as commands, the networks in one folder, and the Elo table of a round robin.

The round robin is figure 4 of the paper in miniature, at equal time: value network, rollouts and both in one search,
the policy network without a search, rollouts without a network, and GNU Go as a reference.  Every pair plays a match of
`gtp-engine match` in a folder of its own, which resumes like any match.
"""

import shutil
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from gtp_engine.arena.match.records import GameRecord
from gtp_engine.arena.match.statistics import format_standings
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
"""What a chain leaves in its folder: the networks for `gtp-engine --model`, and the table of the matches."""

_PRODUCTS: Final = (
    "supervised/policy.onnx",
    "rollouts/rollout-policy.npz",
    "rollout-network/rollout.onnx",
    "value/value.onnx",
)
"""The files that the engine plays with; as in the paper, the supervised policy guides the search."""

Flags = tuple[object, ...]


class StageFlags(NamedTuple):
    """The flags of each stage, and the matches at the end."""

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
    """Of the match of each pair of players."""
    seconds: float
    """Per move of an engine that searches in a match; GNU Go's time is not limited."""

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


def run_chain(plan: StageFlags, folder: Path, teacher: Path, terms: str = "") -> int:
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
            copy_whole(folder / product, network / Path(product).name)
    players = players_of(network, plan.seconds, gnugo)
    if status := carry_out_all(match_steps(players, plan, matches, parallel=available_cores())):
        return status
    write_result(folder / TABLE, (report_of(players, plan, matches) + "\n").encode())
    return 0


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


class Participant(NamedTuple):
    """A participant: its name in files, its name in the table, and its command line."""

    key: str
    title: str
    command: str


def players_of(network: Path, seconds: float, gnugo: str | None = None) -> list[Participant]:
    """Return the players that use the folder `network`, and GNU Go if its path is given; each has one thread.

    They use their full time and never resign, so that the comparison is about moves alone.
    """

    def engine(*arguments: object) -> str:
        return engine_command("--model", network, "--threads", 1, "--network-threads", 1, "--no-resign", *arguments)

    timed = ("--time-per-move", seconds, "--no-early-stop")
    players = [
        Participant("value", "policy and value network (λ = 0)", engine(*timed, "--rollout-share", 0)),
        Participant("mixed", "policy, value network and rollouts (λ = 0.5)", engine(*timed, "--rollout-share", 0.5)),
        Participant("rollouts", "policy network and rollouts (λ = 1)", engine(*timed, "--rollout-share", 1)),
        Participant("policy", "policy network alone", engine("--visits", 1)),
        Participant("rave", "rollouts alone (RAVE)", engine(*timed, "--search", "rave", "--rollout-policy", "linear")),
    ]
    if gnugo is not None:
        command = join_command([gnugo, "--mode", "gtp", "--level", str(GNUGO_LEVEL), "--chinese-rules"])
        players.append(Participant("gnugo", f"GNU Go, level {GNUGO_LEVEL}", command))
    return players


def match_steps(players: Sequence[Participant], plan: StageFlags, out: Path, *, parallel: int) -> list[Step]:
    """Return the matches of all pairs of players, in folders of `out`."""
    common = ("--size", plan.size, "--games", plan.games, "--random-plies", RANDOM_PLIES, "--parallel", parallel)
    steps = []
    for first, second in combinations(players, 2):
        sides = ("--first", first.command, "--second", second.command)
        names = ("--first-name", first.title, "--second-name", second.title)
        command = (*ENGINE, "match", *sides, *names, *common, "--out", match_folder(out, first, second))
        steps.append(Step(f"{first.title} – {second.title}", command))
    return steps


def match_folder(out: Path, first: Participant, second: Participant) -> Path:
    """Return the folder of the match between two players."""
    return out / f"{first.key}-{second.key}"


def read_matches(players: Sequence[Participant], out: Path) -> dict[tuple[int, int], list[GameRecord]]:
    """Return the finished games of all matches by the indices of their first and second player."""
    matches = {}
    for first, second in combinations(range(len(players)), 2):
        results = match_folder(out, players[first], players[second]) / "results.jsonl"
        matches[first, second] = [GameRecord.from_line(line) for line in results.read_text("utf-8").splitlines()]
    return matches


def table_of(players: Sequence[Participant], out: Path) -> str:
    """Return the standings as a Markdown table with the mean seconds per move; void games do not count."""
    points = np.zeros((len(players), len(players)))
    times: list[list[float]] = [[] for _ in players]
    for (first, second), records in read_matches(players, out).items():
        for record in records:
            times[first] += record.think_times["first"]
            times[second] += record.think_times["second"]
            if record.winner != "none":
                points[first, second] += record.points
                points[second, first] += 1.0 - record.points
    means = [f"{np.mean(each):.2f}" if each else "–" for each in times]
    return format_standings([player.title for player in players], points, {"s per move": means})


def report_of(players: Sequence[Participant], plan: StageFlags, out: Path) -> str:
    """Return the table under a line that describes its matches, as Markdown."""
    size, games = plan.size, counted(plan.games, "game")
    return (
        f"{size}×{size}, {games} of each pair, {plan.seconds:g} s per move and one thread each, "
        f"openings of {RANDOM_PLIES} random moves with colours exchanged; Elo about the mean, 95% intervals.\n\n"
        f"{table_of(players, out)}"
    )
