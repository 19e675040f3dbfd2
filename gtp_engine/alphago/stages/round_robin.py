"""A round robin at equal time between searches with different parts of a chain's networks, and its Elo table.

Figure 4 of the paper in miniature: value network, rollouts and both in one search, the policy network without a search,
rollouts without a network, and GNU Go as a reference.  Every pair plays a match of `gtp-engine match` in a folder of
its own, which resumes like any match.
"""

import shlex
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from gtp_engine.errors import counted
from gtp_engine.match.records import GameRecord
from gtp_engine.match.statistics import format_standings
from gtp_engine.training.core.runs import ENGINE, Step, engine_command

GNUGO_LEVEL: Final = 10
"""GNU Go's default level, and the usual reference."""
RANDOM_PLIES: Final = 4
"""Random moves at the start of each pair of games with exchanged colours: the games would otherwise repeat."""


class Player(NamedTuple):
    """A participant: its name in files, its name in the table, and its command line."""

    key: str
    title: str
    command: str


class MatchTerms(NamedTuple):
    """The terms of all matches."""

    size: int
    games: int
    """Of each pair of players."""
    seconds: float
    """Per move of an engine that searches; GNU Go's time is not limited."""


def players_of(network: Path, seconds: float, gnugo: str | None = None) -> list[Player]:
    """Return the players that use the folder `network`, and GNU Go if its path is given; each has one thread.

    They use their full time and never resign, so that the comparison is about moves alone.
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


def match_steps(players: Sequence[Player], terms: MatchTerms, out: Path, *, parallel: int) -> list[Step]:
    """Return the matches of all pairs of players, in folders of `out`."""
    common = ("--size", terms.size, "--games", terms.games, "--random-plies", RANDOM_PLIES, "--parallel", parallel)
    steps = []
    for first, second in combinations(players, 2):
        sides = ("--first", first.command, "--second", second.command)
        names = ("--first-name", first.title, "--second-name", second.title)
        command = (*ENGINE, "match", *sides, *names, *common, "--out", match_folder(out, first, second))
        steps.append(Step(f"{first.title} – {second.title}", command))
    return steps


def match_folder(out: Path, first: Player, second: Player) -> Path:
    """Return the folder of the match between two players."""
    return out / f"{first.key}-{second.key}"


def read_matches(players: Sequence[Player], out: Path) -> dict[tuple[int, int], list[GameRecord]]:
    """Return the finished games of all matches by the indices of their first and second player."""
    matches = {}
    for first, second in combinations(range(len(players)), 2):
        results = match_folder(out, players[first], players[second]) / "results.jsonl"
        matches[first, second] = [GameRecord.from_line(line) for line in results.read_text("utf-8").splitlines()]
    return matches


def table_of(players: Sequence[Player], out: Path) -> str:
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


def report_of(players: Sequence[Player], terms: MatchTerms, out: Path) -> str:
    """Return the table under a line that describes its matches, as Markdown."""
    size, games, seconds = terms
    return (
        f"{size}×{size}, {counted(games, 'game')} of each pair, {seconds:g} s per move and one thread each, "
        f"openings of {RANDOM_PLIES} random moves with colours exchanged; Elo about the mean, 95 % intervals.\n\n"
        f"{table_of(players, out)}"
    )
