"""A round robin between the ways to play that a chain's networks offer, at equal time: what each part is worth.

Figure 4 of the paper in miniature: value network, rollouts and both in one search, the policy network without a search,
rollouts without a network, and GNU Go as somebody known.  Every pair plays a match of `gtp-engine match` in a folder of
its own, resumed like any match.
"""

import shlex
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from gtp_engine.match.ratings import format_standings
from gtp_engine.match.records import GameRecord
from gtp_engine.training.core.command_chain import ENGINE, Step, engine_command

GNUGO_LEVEL: Final = 10
"""Its default, and what others compare themselves with."""
RANDOM_PLIES: Final = 4
"""Random moves that each two games with exchanged colours begin with: two players would else repeat their games."""


class Player(NamedTuple):
    """Who takes part: a name for files, one for people, and its command line."""

    key: str
    title: str
    command: str


class Conditions(NamedTuple):
    """What the games are played under."""

    size: int
    games: int
    """Of each pair of players."""
    seconds: float
    """For each move of those that search; GNU Go takes what it takes."""


def players_of(network: Path, seconds: float, gnugo: str | None = None) -> list[Player]:
    """Return the players that the folder `network` makes, and GNU Go if its path is given; each has one thread.

    They think as long as they may and give up no game, so that the comparison is about moves alone.
    """

    def engine(*arguments: object) -> str:
        return engine_command("--model", network, "--threads", 1, "--network-threads", 1, "--no-resign", *arguments)

    timed = ("--time-per-move", seconds, "--no-early-stop")
    players = [
        Player("value", "policy and value network (λ = 0)", engine(*timed, "--rollout-share", 0)),
        Player("mixed", "policy, value network and rollouts (λ = 0.5)", engine(*timed, "--rollout-share", 0.5)),
        Player("rollouts", "policy network and rollouts (λ = 1)", engine(*timed, "--rollout-share", 1)),
        Player("policy", "policy network alone", engine("--visits", 1)),
        Player("rave", "rollouts alone (RAVE)", engine(*timed, "--search", "rave", "--rollout-policy", "linear")),
    ]
    if gnugo is not None:
        command = shlex.join([gnugo, "--mode", "gtp", "--level", str(GNUGO_LEVEL), "--chinese-rules"])
        players.append(Player("gnugo", f"GNU Go, level {GNUGO_LEVEL}", command))
    return players


def match_steps(players: Sequence[Player], conditions: Conditions, out: Path, *, parallel: int) -> list[Step]:
    """Return the matches of everybody with everybody, in folders of `out`."""
    terms = ("--size", conditions.size, "--games", conditions.games, "--random-plies", RANDOM_PLIES)
    steps = []
    for first, second in combinations(players, 2):
        names = ("--first-name", first.title, "--second-name", second.title)
        sides = ("--first", first.command, "--second", second.command, *names)
        where = ("--parallel", parallel, "--out", match_folder(out, first, second))
        steps.append(Step(f"{first.title} – {second.title}", (*ENGINE, "match", *sides, *terms, *where)))
    return steps


def match_folder(out: Path, first: Player, second: Player) -> Path:
    """Return where the games of two players are."""
    return out / f"{first.key}-{second.key}"


def read_matches(players: Sequence[Player], out: Path) -> dict[tuple[int, int], list[GameRecord]]:
    """Return the finished games by the numbers of the two players, the first of them being the match's first."""
    matches = {}
    for one, other in combinations(range(len(players)), 2):
        results = match_folder(out, players[one], players[other]) / "results.jsonl"
        matches[one, other] = [GameRecord.from_line(line) for line in results.read_text("utf-8").splitlines()]
    return matches


def table_of(players: Sequence[Player], out: Path) -> str:
    """Return the standings after all matches as a Markdown table, with the mean time of a move; void games are out."""
    points = np.zeros((len(players), len(players)))
    times: list[list[float]] = [[] for _ in players]
    for (one, other), records in read_matches(players, out).items():
        for record in records:
            times[one] += record.think_times["first"]
            times[other] += record.think_times["second"]
            if record.winner != "none":
                points[one, other] += record.points
                points[other, one] += 1.0 - record.points
    means = [f"{np.mean(each):.2f}" if each else "–" for each in times]
    return format_standings([player.title for player in players], points, {"s a move": means})


def report_of(players: Sequence[Player], conditions: Conditions, out: Path) -> str:
    """Return the table under a line that says what it is about, as Markdown."""
    size, games, seconds = conditions
    return (
        f"{size}×{size}, {games} games of each pair, {seconds:g} s a move and one thread each, "
        f"openings of {RANDOM_PLIES} random moves with colours exchanged; Elo about the mean, 95 % intervals.\n\n"
        f"{table_of(players, out)}"
    )
