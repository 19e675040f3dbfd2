"""A finished search in the formats of Go servers: OGS's chat line (through gtp2ogs) and CGOS's JSON.

Both show the view of the side that moves.  The chat line is KataGo's (`ogsChatToStderr` in `cpp/command/gtp.cpp`),
which gtp2ogs parses (`src/PvOutputParser.ts`).  The JSON's keys and its ownership text are those that CGOS's Python
client makes of KataGo's reports (`client-python/src/gtpengine.py`) and CGOS's viewer reads.
"""

import json
from typing import TYPE_CHECKING, Final

import numpy as np

from gtp_engine.go.coords import board_points
from gtp_engine.search.report import MoveReport, SearchReport, completed, for_color

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gtp_engine.engine import Choice
    from gtp_engine.go.game import Game

OGS_PV_LENGTH: Final = 15
"""Longest continuation in a chat line, in moves: KataGo's `analysisPVLen`."""

CGOS_MOVES: Final = 20
"""Most moves in the JSON: CGOS's server closes the connection at a line of 64 KiB, which 361 moves can exceed."""

_OWNERSHIP_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_HIGHEST_LETTER: Final = 62
"""Index of the letter for certain ownership; A is the opponent's.  The viewer does not use the last one."""


def ogs_chat_line(game: "Game", choice: "Choice") -> str:
    """Return the line about a choice that gtp2ogs posts to the game's chat, or "" where nothing was searched.

    `game` holds the position before the move.  The continuation begins with the chosen move if that was searched, else
    with the best one; a line without any would end gtp2ogs.
    """
    report = completed(choice.report, game)
    if report.best is None:
        return ""
    chosen = next((move for move in report.moves if move.point == choice.point), report.best)
    if not chosen.pv:
        return ""
    return (
        f"MALKOVICH:Visits {report.visits} Winrate {100 * report.winrate:.2f}% "
        f"ScoreLead {report.seen_by(report.to_play).lead:.1f} ScoreStdev {report.score_stdev:.1f} "
        f"PV {' '.join(map(game.vertex, chosen.pv[:OGS_PV_LENGTH]))}"
    )


def cgos_analysis(game: "Game", report: SearchReport) -> str:
    """Return a search as a line of JSON for CGOS, the best moves first; `game` holds the position that was searched."""
    report = completed(report, game)
    moves = [move for move in report.moves if move.visits > 0][:CGOS_MOVES]
    seen = report.seen_by(report.to_play)
    analysis = {
        "visits": report.visits,
        "winrate": round(report.winrate, 4),
        "score": round(seen.lead, 2),
        "moves": [_cgos_move(game, move, report.to_play) for move in moves],
        "ownership": _ownership_text(game, for_color(report.ownership_black, report.to_play)),
    }
    return json.dumps(analysis, separators=(",", ":"))


def _cgos_move(game: "Game", move: MoveReport, color: int) -> dict[str, str | float]:
    seen = move.seen_by(color)
    return {
        "move": game.vertex(move.point),
        "visits": move.visits,
        "winrate": round(seen.winrate, 4),
        "prior": round(move.prior, 4),
        "score": round(seen.lead, 2),
        "pv": " ".join(map(game.vertex, move.pv[1:])),
    }


def _ownership_text(game: "Game", ownership: "NDArray[np.floating]") -> str:
    """Return a letter for every point, row by row from the top left, for values from -1 to 1."""
    values = np.asarray([ownership[point] for point in board_points(game.width, game.height)])
    indices = np.rint((values.clip(-1, 1) + 1) / 2 * _HIGHEST_LETTER).astype(int)
    return "".join(_OWNERSHIP_LETTERS[index] for index in indices)
