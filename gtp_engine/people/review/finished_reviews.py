"""What is shown of a finished review, all of it made from the content of its JSON: a page, a report, a table.

The page is one HTML file that needs nothing else, made of the files in `page` and the review's JSON.  Its policy
(Content-Security-Policy) lets it load nothing and run only the script of those files, named by its hash, so that
nothing in a hostile record can become code.  The report is for a terminal: the lead as a graph of blocks, both players
in numbers, and the biggest mistakes.  The table has a row for each of many games.
"""

import base64
import csv
import hashlib
import html
import io
import json
import re
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from gtp_engine.base.languages import LANGUAGES, _, in_language, message_text, page_texts, rank_text
from gtp_engine.people.rank_estimate import no_rank_text, played_like_text
from gtp_engine.people.review.game_review import BLUNDERS, PHASES

if TYPE_CHECKING:
    from rich.table import Table

PAGE_PARTS: Final = Path(__file__).parent / "page"
"""The folder of what the page is made of.  The board, positions and graphs are also those of the page of `gtp-engine
serve`, which lies above this package."""

_STYLES: Final = ("common", "page", "board")
_MODULES: Final = ("language", "names", "position", "board", "graph", "lessons", "review_parts", "page")
"""The order is that in which modules import each other."""

_POLICY: Final = "default-src 'none'; style-src '{style}'; script-src '{script}'; base-uri 'none'; form-action 'none'"

_HEIGHT: Final = 9
"""Rows of the graph, the middle one for an even game."""

_NARROWEST: Final = 20
"""Columns of the graph at least, however narrow the terminal."""


_NAMED_MISTAKES: Final = 3
"""Mistakes that the summary names."""


def page_of(result: dict[str, Any], *, title: str) -> str:
    """Return the page of a review; its numbers are those of the JSON `result`, which it contains."""
    names = [result["players"][color]["name"] for color in ("B", "W")]
    if all(names):
        title = " – ".join(names)
    style = "\n".join(["", *(_part(f"{name}.css") for name in _STYLES)])
    script = "\n".join(['\n"use strict";', *(_enclosed(name) for name in _MODULES), ""])
    page = in_language(_part("page.html"))
    words = " ".join(f"{page}{script}".split())  # texts that other pages have are left out
    texts = {tag: {key: text for key, text in page_texts(tag).items() if key in words} for tag in LANGUAGES}
    values = {
        "@TITLE@": html.escape(title),
        "@DATA@": _embedded(result),
        "@TEXTS@": _embedded(texts),
        "@POLICY@": _POLICY.format(style=_hash(style), script=_hash(script)),
        "@STYLE@": style,
        "@SCRIPT@": script,
    }
    return re.sub("|".join(values), lambda mark: values[mark[0]], page)


def _embedded(value: Any) -> str:
    """Return JSON for a script element, where "</" would end it and "<!--" start a comment, also within a string."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _part(name: str) -> str:
    return PAGE_PARTS.joinpath(name).read_text("utf-8")


def _enclosed(name: str) -> str:
    """Return a module as a constant with what it exports, since a page of one file cannot import."""
    text = re.sub(
        r'^import (\{.*\}) from "\./(\w+)\.js";$', r"const \1 = \2Module;", _part(f"{name}.js"), flags=re.MULTILINE
    )
    exports = re.findall(r"^export \w+ (\w+)", text, re.MULTILINE)
    body = re.sub(r"^export ", "", text, flags=re.MULTILINE)
    return f"const {name}Module = (() => {{\n{body}return {{ {', '.join(exports)} }};\n}})();"


def _hash(content: str) -> str:
    """Return the hash by which the policy knows the content of an element."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode("utf-8")).digest()).decode("ascii")


def terminal_report(result: dict[str, Any], *, width: int, color: bool) -> str:
    """Return the content of a review's JSON as text of at most `width` columns."""
    from rich.console import Console
    from rich.table import Table

    text = io.StringIO()
    console = Console(
        file=text, stderr=False, width=width, force_terminal=color, legacy_windows=False, markup=False, emoji=False
    )
    for note in result["notes"]:
        console.print(_("Note: {note}", note=message_text(note)), highlight=False, soft_wrap=True)
    console.print(_graph([each["lead"] for each in result["positions"]], width), highlight=False)
    players = Table("", _("accuracy"), "95%", _("points lost per move"), _("best moves"), _("lost 2, 5, 10 or more"))
    for name, side in ((_("Black"), result["players"]["B"]), (_("White"), result["players"]["W"])):
        if side["accuracy"] is not None:
            low, high = side["accuracy_interval"] or ("", "")
            blunders = ", ".join(str(count) for count in side["blunders"].values())
            numbers = (side["accuracy"], f"{low}–{high}", side["mean_points_lost"], side["best_moves"], blunders)
            players.add_row(f"{name} {side['name'] or ''}".strip(), *(str(number) for number in numbers))
    console.print(players)
    first = result["person"] or "B"
    colors = (first, "W" if first == "B" else "B")
    for color_of_player in colors:
        console.print(_rank_text(result, color_of_player), highlight=False, soft_wrap=True)
    for color_of_player in colors:
        numbers = result["players"][color_of_player]["mistakes"]
        if numbers:
            console.print(_mistakes_table(result, color_of_player, numbers))
    return text.getvalue()


def summary(result: dict[str, Any]) -> str:
    """Return three lines for the end of a review: how well both played, and the three largest mistakes."""
    lines = []
    for color in "BW":
        side = result["players"][color]
        if side["accuracy"] is not None:
            text = _(
                "{name}: {accuracy}% accuracy, {points} points lost per move",
                name=_name_of(result, color),
                accuracy=side["accuracy"],
                points=side["mean_points_lost"],
            )
            lines.append(text)
    numbers = [number for side in result["players"].values() for number in side["mistakes"]]
    worst = sorted(numbers, key=lambda number: -result["moves"][number - 1]["points_lost"])[:_NAMED_MISTAKES]
    if worst:
        lines.append(_("Largest mistakes: {moves}", moves="; ".join(_mistake(result, number) for number in worst)))
    return "\n".join(lines)


def _mistake(result: dict[str, Any], number: int) -> str:
    """Return a move with what it lost and the better one: "move 34, D4, lost 5.2 points, Q10 was better"."""
    move, before = result["moves"][number - 1], result["positions"][number - 1]
    values = {"number": number, "move": move["vertex"], "points": f"{move['points_lost']:.1f}"}
    if not before["candidates"]:
        return _("move {number}, {move}, lost {points} points", **values)
    best = before["candidates"][0]["line"][0]
    return _("move {number}, {move}, lost {points} points, {best} was better", **values, best=best)


def _name_of(result: dict[str, Any], color: str) -> str:
    return result["players"][color]["name"] or (_("Black") if color == "B" else _("White"))


def _rank_text(result: dict[str, Any], color: str) -> str:
    """Return which rank a player played like, or why that is not known."""
    found, name = result["players"][color]["played_like"], _name_of(result, color)
    if found["estimate"] is not None:
        return played_like_text(name, found["estimate"])
    return "" if found["note"] is None else no_rank_text(name)


def _mistakes_table(result: dict[str, Any], color: str, numbers: list[int]) -> "Table":
    """Return the mistakes of a player; the last column says how many people of some ranks play them."""
    from rich.table import Table

    title = _("Mistakes of {name}", name=_name_of(result, color))
    columns = (_("move"), _("played"), _("lost"), _("winrate"), _("better"), _("people"))
    table = Table(*columns, title=title, title_justify="left")
    for number in numbers:
        move, before = result["moves"][number - 1], result["positions"][number - 1]
        better = " ".join(before["candidates"][0]["line"]) if before["candidates"] else ""
        people = ", ".join(
            f"{rank_text(rank)} {share:.0%}" for rank, share in ((move["people"] or {}).get("shares") or {}).items()
        )
        lost = (f"{move['points_lost']:.1f}", f"−{move['winrate_lost']:.0%}")
        table.add_row(str(number), f"{move['color']} {move['vertex']}", *lost, better, people)
    return table


def _graph(leads: list[float], width: int) -> str:
    """Return the leads as a graph: above the axis Black leads, below White."""
    columns = min(len(leads), max(_NARROWEST, width - 10))
    means = [fmean(leads[len(leads) * i // columns : len(leads) * (i + 1) // columns]) for i in range(columns)]
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
    return "\n".join([_("Lead in points, above the line Black's, below White's"), *lines])


def csv_of(results: Iterable[tuple[str, dict[str, Any]]]) -> str:
    """Return the table of reviews, each the name of its file and its JSON; what a game or a player lacks is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["file", "result", "moves", *_columns("black"), *_columns("white")])
    for name, result in results:
        game, players = result["game"], result["players"]
        row = [name, game["result"], len(result["moves"])]
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
