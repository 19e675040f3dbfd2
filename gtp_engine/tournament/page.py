"""A tournament's tables as a page for a browser: one file, which loads nothing from elsewhere."""

from collections.abc import Sequence
from html import escape
from typing import Final

from gtp_engine.errors import counted
from gtp_engine.match.statistics import repetition_remark
from gtp_engine.tournament.standings import Table
from gtp_engine.tournament.tournament_file import Description

_PAGE: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --line: #8884; --good: #2a8; --bad: #d54; }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .3rem .7rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }}
th:nth-child(2), td:nth-child(2) {{ text-align: left; }}
td[style] {{ background: color-mix(in srgb, var(--good) calc(1% * var(--share)), var(--bad)); color: #fff; }}
code {{ font-size: .85rem; overflow-wrap: anywhere; }}
</style>
<h1>{title}</h1>
{body}
</html>
"""


def page_of(title: str, description: Description, tables: Sequence[Table]) -> str:
    """Return the page, HTML in UTF-8."""
    engines = "".join(
        f"<dt>{escape(entrant.name)}</dt><dd><code>{escape(entrant.command)}</code></dd>"
        for entrant in description.entrants
    )
    body = [*(_section(description, table) for table in tables), f"<h2>Engines</h2><dl>{engines}</dl>"]
    return _PAGE.format(title=escape(title), body="\n".join(body))


def _section(description: Description, table: Table) -> str:
    """Return the heading and crosstable of one table."""
    places = range(1, len(description.entrants) + 1)
    heads = "".join(f"<th scope=col>{head}</th>" for head in ("#", "engine", "Elo", "games", "points", *places))
    rows = "".join(_row(description, table, place, engine) for place, engine in enumerate(table.order, start=1))
    notes = f"<p>{counted(table.void, 'void game')} left out.</p>" if table.void else ""
    if remark := repetition_remark(table.repeated):
        notes += f"<p>{remark}</p>"
    head = f"<thead><tr>{heads}</tr></thead>"
    return f"<h2>{escape(table.title)}</h2><div class=scroll><table>{head}<tbody>{rows}</tbody></table></div>{notes}"


def _row(description: Description, table: Table, place: int, engine: int) -> str:
    played = table.games
    rating = "–"
    if table.elo is not None and table.margin is not None:
        rating = f"{table.elo[engine]:+.0f} ± {table.margin[engine]:.0f}"
    cells = [
        f"<td>{place}</td><th scope=row>{escape(description.entrants[engine].name)}</th><td>{rating}</td>",
        f"<td>{played[engine].sum():.0f}</td>",
        f"<td>{_share(table.points[engine].sum(), played[engine].sum())}</td>",
    ]
    for other in table.order:
        points, games = table.points[engine, other], played[engine, other]
        if not games:
            cells.append("<td>–</td>")
            continue
        of = f"{points:g} of {games:.0f}"
        cells.append(f'<td style="--share:{100 * points / games:.0f}" title="{of}">{_share(points, games)}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def _share(points: float, games: float) -> str:
    return f"{points / games:.0%}" if games else "–"
