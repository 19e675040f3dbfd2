"""A table of reviewed games in CSV: one row for each."""

import csv
import io
from collections.abc import Iterable
from typing import Any

from gtp_engine.review.game_review import BLUNDERS, PHASES
from gtp_engine.review.review_files import Outcome


def csv_of(outcomes: Iterable[Outcome]) -> str:
    """Return the table with its header; what a game or a player lacks is empty, what was not reviewed is left out."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["file", "result", "moves", *_columns("black"), *_columns("white")])
    for outcome in outcomes:
        if outcome.result is not None:
            game, players = outcome.result["game"], outcome.result["players"]
            row = [outcome.source.name, game["result"], len(outcome.result["moves"])]
            writer.writerow([_shown(value) for value in (*row, *_values(players["B"]), *_values(players["W"]))])
    return text.getvalue()


def _columns(color: str) -> list[str]:
    names = ["", "rank", "accuracy", "accuracy low", "accuracy high", "points lost per move", "best moves"]
    names += [f"lost {least} or more" for least in BLUNDERS]
    names += [f"points lost per move in the {phase}" for phase in PHASES]
    return [f"{color} {name}".strip() for name in names]


def _values(side: dict[str, Any]) -> list[Any]:
    low, high = side["accuracy_interval"] or (None, None)
    values = [side["name"], side["rank"], side["accuracy"], low, high, side["mean_points_lost"], side["best_moves"]]
    return [*values, *side["blunders"].values(), *side["by_phase"].values()]


def _shown(value: Any) -> Any:
    """Return a value for a cell; text that a spreadsheet would take for a formula gets an apostrophe in front."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@"):
        return "'" + value
    return value
