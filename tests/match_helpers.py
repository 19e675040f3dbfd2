"""Matches between scripted engines (`scripted_engine`), and games that were never played, for the tests of matches."""

import sys
from pathlib import Path
from typing import Any

from gtp_engine import MatchFolder, MatchSettings, run_match
from gtp_engine.arena.match.records import GameRecord
from gtp_engine.base.worker_process import join_command

ENGINE = Path(__file__).parent / "scripted_engine.py"
WITHOUT_PACKAGES = [sys.executable, "-S"]
"""Starts in half of the time."""

ANALYSIS_ENGINE = join_command([*WITHOUT_PACKAGES, str(ENGINE.with_name("scripted_analysis.py"))])
"""The command line of a scripted engine for analyses."""


def engine(arguments: str = "") -> str:
    """Return the command line of a scripted engine."""
    return f"{join_command([*WITHOUT_PACKAGES, str(ENGINE)])} {arguments}"


def settings(first: str = "", second: str = "", **values: Any) -> MatchSettings:
    """Return a match of one 5×5 game between engines with these arguments."""
    defaults: dict[str, Any] = {"games": 1, "size": 5, "komi": 0.5, "referee": "board", "reply_timeout": 20.0}
    return MatchSettings(first=engine(first), second=engine(second), **(defaults | values))


def play(folder: Path, first: str = "", second: str = "", **values: Any) -> list[GameRecord]:
    """Play the match and return its games."""
    match = settings(first, second, **values)
    return run_match(match, MatchFolder(folder, match))


def sent(folder: Path, side: str) -> list[str]:
    """Return the commands that the first worker's engine of one side got."""
    lines = (folder / "logs" / f"{side}-1.log").read_text().splitlines()
    return [line[3:] for line in lines if line.startswith(">> ")]


def record(game: int, black: Any = "first", winner: Any = "first", **values: Any) -> GameRecord:
    """Return a finished game, won by resignation unless `values` say otherwise."""
    defaults: dict[str, Any] = {
        "opening": "",
        "result": "B+R",
        "reason": "resign",
        "moves": 50,
        "think_times": {"first": [1.0, 3.0], "second": [0.5]},
        "overruns": {"first": 0, "second": 0},
        "digest": str(game),
    }
    return GameRecord(game=game, black=black, winner=winner, **(defaults | values))


def won_by(*winners: str) -> list[GameRecord]:
    """Return games 1, 2, … with these winners ("first", "second", "draw", "none"), colours alternating."""
    return [
        record(game, black="first" if game % 2 else "second", winner=winner)
        for game, winner in enumerate(winners, start=1)
    ]
