"""A review for a terminal: the lead as a graph of blocks, both players in numbers, and the biggest mistakes."""

import io
from typing import Any, Final

_HEIGHT: Final = 9
"""Rows of the graph, the middle one for an even game."""

_NARROWEST: Final = 20
"""Columns of the graph at least, however narrow the terminal."""


def terminal_report(result: dict[str, Any], *, width: int, color: bool) -> str:
    """Return the content of a review's JSON as text of at most `width` columns."""
    from rich.console import Console
    from rich.table import Table

    text = io.StringIO()
    console = Console(
        file=text, stderr=False, width=width, force_terminal=color, legacy_windows=False, markup=False, emoji=False
    )
    console.print(_graph([each["lead"] for each in result["positions"]], width), highlight=False)
    players = Table("", "accuracy", "95 %", "points lost per move", "best moves", "lost 2, 5, 10 or more")
    for name, side in (("Black", result["players"]["B"]), ("White", result["players"]["W"])):
        if side["accuracy"] is not None:
            low, high = side["accuracy_interval"]
            blunders = ", ".join(str(count) for count in side["blunders"].values())
            numbers = (side["accuracy"], f"{low}–{high}", side["mean_points_lost"], side["best_moves"], blunders)
            players.add_row(f"{name} {side['name'] or ''}".strip(), *(str(number) for number in numbers))
    console.print(players)
    mistakes = Table("move", "played", "points lost", "better", "continuation")
    for number in result["mistakes"]:
        move, candidates = result["moves"][number - 1], result["positions"][number - 1]["candidates"]
        line = " ".join(candidates[0]["line"])
        mistakes.add_row(str(number), f"{move['color']} {move['vertex']}", str(move["points_lost"]), move["best"], line)
    if result["mistakes"]:
        console.print(mistakes)
    return text.getvalue()


def _graph(leads: list[float], width: int) -> str:
    """Return the leads as a graph: above the axis Black leads, below White."""
    columns = min(len(leads), max(_NARROWEST, width - 10))
    means = [_mean(leads[len(leads) * i // columns : len(leads) * (i + 1) // columns]) for i in range(columns)]
    most = max(1.0, *(abs(mean) for mean in means))
    half = _HEIGHT // 2
    lines = []
    for level in range(half, -half - 1, -1):
        label = f"{level / half * most:+7.1f} "
        if level == 0:
            lines.append(f"{0:7.1f} " + "".join("─" for _ in means))
            continue
        threshold = (abs(level) - 0.5) / half * most
        sign = 1.0 if level > 0 else -1.0
        lines.append(label + "".join("█" if sign * mean >= threshold else " " for mean in means))
    return "\n".join(["Lead in points, above the line Black's, below White's", *lines])


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
