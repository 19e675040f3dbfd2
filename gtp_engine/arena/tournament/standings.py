"""The state of a tournament: ratings and who scored how much against whom, over all games and by condition.

As text, as JSON, and as a page for a browser: one file, which loads nothing from elsewhere.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from typing import Any, Final
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from gtp_engine.arena.elo import RatingError, Ratings, rate_players
from gtp_engine.arena.match.records import GameRecord
from gtp_engine.arena.match.settings import stored
from gtp_engine.arena.match.statistics import repeated_games, repetition_remark
from gtp_engine.arena.tournament.tournament_file import Meeting, Tournament
from gtp_engine.base.errors import counted

_NO_RATINGS: Final = "There are no ratings until games that count connect all engines."


@dataclass(frozen=True)
class Table:
    """Results of the games under one title; P engines in the order of the description.

    `points[i, j]` are the points of i against j, a draw being half a point, float64[P, P].  `void` and `repeated` are
    the numbers of games that do not count, and that repeat an earlier one of their match.  `seconds` are the means per
    move, float64[P], NaN where there are none.  There are no `ratings` until games connect all engines.
    """

    title: str
    points: NDArray[np.float64]
    void: int
    repeated: int
    seconds: NDArray[np.float64]
    ratings: Ratings | None

    @property
    def games(self) -> NDArray[np.float64]:
        """Games that count, by engine and opponent, float64[P, P]."""
        return self.points + self.points.T

    @property
    def order(self) -> list[int]:
        """The engines, the best first: by rating or, while there are no ratings, by their share of the points."""
        games = self.games.sum(axis=1)
        rank = self.points.sum(axis=1) / np.maximum(games, 1) if self.ratings is None else self.ratings.elo
        return [int(place) for place in np.argsort(-rank, kind="stable")]


def tables_of(description: Tournament, results: Mapping[Meeting, Sequence[GameRecord]]) -> list[Table]:
    """Return the table of all games, followed by one for each condition if there are several."""
    tables = [_table("All games", description, results.items())]
    if len(description.conditions) > 1:
        for number, condition in enumerate(description.conditions):
            played = [(meeting, records) for meeting, records in results.items() if meeting.condition == number]
            tables.append(_table(condition.title, description, played))
    return tables


def _table(title: str, description: Tournament, results: Iterable[tuple[Meeting, Sequence[GameRecord]]]) -> Table:
    points, void, repeated = np.zeros((len(description.entrants),) * 2), 0, 0
    times: list[list[float]] = [[] for _ in description.entrants]
    for meeting, records in results:
        for record in records:
            times[meeting.first] += record.think_times["first"]
            times[meeting.second] += record.think_times["second"]
        counting = [record for record in records if record.winner != "none"]
        won = sum(record.points for record in counting)
        points[meeting.first, meeting.second] += won
        points[meeting.second, meeting.first] += len(counting) - won
        void += len(records) - len(counting)
        repeated += len(repeated_games(counting))
    seconds = np.array([np.mean(each) if each else np.nan for each in times])
    ratings = None
    with suppress(RatingError):  # games do not connect all engines yet, or were void
        ratings = rate_players(points)
    return Table(title, points, void, repeated, seconds, ratings)


def format_tables(description: Tournament, tables: Sequence[Table]) -> str:
    """Return the tables as Markdown."""
    names = [entrant.name for entrant in description.entrants]
    parts = []
    for table in tables:
        void = f"{counted(table.void, 'void game')} left out" if table.void else ""
        rows = _NO_RATINGS if table.ratings is None else _crosstable(names, table)
        remark = repetition_remark(table.repeated)
        parts.append("\n\n".join(filter(None, (f"### {table.title}", rows, void, remark))))
    return "\n\n".join(parts)


def _crosstable(names: Sequence[str], table: Table) -> str:
    """Return one table as Markdown, with the mean time of the moves in the last column."""
    titles = ["#", "player", "Elo", "games", "points", *map(str, range(1, len(names) + 1)), "s per move"]
    rows = [titles, ["---:", "---", *["---:"] * (len(titles) - 2)]]
    for place, engine in enumerate(table.order, start=1):
        time = "–" if np.isnan(table.seconds[engine]) else f"{table.seconds[engine]:.2f}"
        rows.append([str(place), names[engine], *_numbers(table, engine), *_shares(table, engine), time])
    escaped = ([cell.replace("|", "\\|") for cell in row] for row in rows)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in escaped)


def to_json(
    description: Tournament, tables: Sequence[Table], results: Mapping[Meeting, Sequence[GameRecord]]
) -> dict[str, Any]:
    """Return engines, conditions, tables and every game as a JSON object; docs/strength.md describes it."""
    return {
        "format": 1,
        "engines": [{"name": entrant.name, "command": entrant.command} for entrant in description.entrants],
        "conditions": [{"title": condition.title, **stored(condition.values)} for condition in description.conditions],
        "tables": [
            {
                "title": table.title,
                "points": table.points.tolist(),
                "void": table.void,
                "repeated": table.repeated,
                "elo": None if table.ratings is None else table.ratings.elo.round(1).tolist(),
                "margin": None if table.ratings is None else table.ratings.margin.round(1).tolist(),
            }
            for table in tables
        ],
        "games": [
            {
                "first": meeting.first,
                "second": meeting.second,
                "condition": meeting.condition,
                "number": record.game,
                "black": record.black,
                "winner": record.winner,
                "result": record.result,
                "reason": record.reason,
                "moves": record.moves,
                "record": f"{description.folder(meeting)}/games/{record.game:04d}.sgf",
            }
            for meeting, records in results.items()
            for record in records
        ],
    }


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


def page_of(
    title: str, description: Tournament, tables: Sequence[Table], results: Mapping[Meeting, Sequence[GameRecord]]
) -> str:
    """Return the page, HTML in UTF-8, which links the records of all games."""
    engines = "".join(
        f"<dt>{escape(entrant.name)}</dt><dd><code>{escape(entrant.command)}</code></dd>"
        for entrant in description.entrants
    )
    games = "".join(_games(description, meeting, records) for meeting, records in results.items() if records)
    body = [*(_section(description, table) for table in tables), f"<h2>Engines</h2><dl>{engines}</dl>"]
    body += [f"<h2>Games</h2>{games}"] if games else []
    return _PAGE.format(title=escape(title), body="\n".join(body))


def _games(description: Tournament, meeting: Meeting, records: Sequence[GameRecord]) -> str:
    """Return links to the games of two engines under one condition."""
    first, second = (description.entrants[place].name for place in (meeting.first, meeting.second))
    links = []
    for record in records:
        black, white = (first, second) if record.black == "first" else (second, first)
        place = quote(f"{description.folder(meeting)}/games/{record.game:04d}.sgf")
        text = f"{black} (B) – {white} (W): {record.result}"
        links.append(f'<li value="{record.game}"><a href="{place}">{escape(text)}</a></li>')
    title = f"{description.conditions[meeting.condition].title}: {first} – {second}"
    return f"<details><summary>{escape(title)}</summary><ol>{''.join(links)}</ol></details>"


def _section(description: Tournament, table: Table) -> str:
    """Return the heading and crosstable of one table."""
    places = range(1, len(description.entrants) + 1)
    heads = "".join(f"<th scope=col>{head}</th>" for head in ("#", "engine", "Elo", "games", "points", *places))
    rows = "".join(_row(description, table, place, engine) for place, engine in enumerate(table.order, start=1))
    notes = f"<p>{counted(table.void, 'void game')} left out.</p>" if table.void else ""
    if remark := repetition_remark(table.repeated):
        notes += f"<p>{remark}</p>"
    head = f"<thead><tr>{heads}</tr></thead>"
    return f"<h2>{escape(table.title)}</h2><div class=scroll><table>{head}<tbody>{rows}</tbody></table></div>{notes}"


def _row(description: Tournament, table: Table, place: int, engine: int) -> str:
    cells = [f"<td>{place}</td><th scope=row>{escape(description.entrants[engine].name)}</th>"]
    cells += [f"<td>{number}</td>" for number in _numbers(table, engine)]
    for other, share in zip(table.order, _shares(table, engine), strict=True):
        points, games = table.points[engine, other], table.games[engine, other]
        of = f' style="--share:{100 * points / games:.0f}" title="{points:g} of {games:.0f}"' if games else ""
        cells.append(f"<td{of}>{share}</td>")
    return f"<tr>{''.join(cells)}</tr>"


def _numbers(table: Table, engine: int) -> list[str]:
    """Return rating, games and share of the points of an engine."""
    rating = "–"
    if table.ratings is not None:
        rating = f"{table.ratings.elo[engine]:+.0f} ± {table.ratings.margin[engine]:.0f}"
    points, games = table.points[engine].sum(), table.games[engine].sum()
    return [rating, f"{games:.0f}", _share(points, games)]


def _shares(table: Table, engine: int) -> list[str]:
    """Return its share of the points against each opponent, the best first."""
    return [_share(table.points[engine, other], table.games[engine, other]) for other in table.order]


def _share(points: float, games: float) -> str:
    return f"{points / games:.0%}" if games else "–"
