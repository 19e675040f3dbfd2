"""The state of a tournament: ratings and who scored how much against whom, over all games and by condition."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.elo import RatingError, rate_players
from gtp_engine.errors import counted
from gtp_engine.match.records import GameRecord
from gtp_engine.match.settings import stored
from gtp_engine.match.statistics import format_standings, repeated_games, repetition_remark
from gtp_engine.tournament.tournament_file import Description, Pairing

_NO_RATINGS: Final = "There are no ratings until games that count connect all engines."


@dataclass(frozen=True)
class Table:
    """Results of the games under one title; P engines in the order of the description.

    `points[i, j]` are the points of i against j, a draw being half a point, float64[P, P].  `void` and `repeated` are
    the numbers of games that do not count, and that repeat an earlier one of their match.  `elo` and `margin`,
    float64[P], are the ratings about their mean and half the widths of their 95 % intervals; None until games connect
    all engines.
    """

    title: str
    points: NDArray[np.float64]
    void: int
    repeated: int
    elo: NDArray[np.float64] | None
    margin: NDArray[np.float64] | None

    @property
    def games(self) -> NDArray[np.float64]:
        """Games that count, by engine and opponent, float64[P, P]."""
        return self.points + self.points.T

    @property
    def order(self) -> list[int]:
        """The engines, the best first: by rating or, while there are no ratings, by their share of the points."""
        games = self.games.sum(axis=1)
        rank = self.points.sum(axis=1) / np.maximum(games, 1) if self.elo is None else self.elo
        return [int(place) for place in np.argsort(-rank, kind="stable")]


def tables_of(description: Description, results: Mapping[Pairing, Sequence[GameRecord]]) -> list[Table]:
    """Return the table of all games, followed by one for each condition if there are several."""
    tables = [_table("All games", description, results.items())]
    if len(description.conditions) > 1:
        for number, condition in enumerate(description.conditions):
            played = [(pairing, records) for pairing, records in results.items() if pairing.condition == number]
            tables.append(_table(condition.title, description, played))
    return tables


def _table(title: str, description: Description, results: Iterable[tuple[Pairing, Sequence[GameRecord]]]) -> Table:
    points, void, repeated = np.zeros((len(description.entrants),) * 2), 0, 0
    for pairing, records in results:
        counting = [record for record in records if record.winner != "none"]
        won = sum(record.points for record in counting)
        points[pairing.first, pairing.second] += won
        points[pairing.second, pairing.first] += len(counting) - won
        void += len(records) - len(counting)
        repeated += len(repeated_games(counting))
    try:
        ratings = rate_players(points)
    except RatingError:  # games do not connect all engines yet, or were void
        return Table(title, points, void, repeated, None, None)
    return Table(title, points, void, repeated, ratings.elo, ratings.margin)


def format_tables(description: Description, tables: Sequence[Table]) -> str:
    """Return the tables as Markdown."""
    names = [entrant.name for entrant in description.entrants]
    parts = []
    for table in tables:
        void = f"{counted(table.void, 'void game')} left out" if table.void else ""
        rows = _NO_RATINGS if table.elo is None else format_standings(names, table.points, {})
        remark = repetition_remark(table.repeated)
        parts.append("\n\n".join(filter(None, (f"### {table.title}", rows, void, remark))))
    return "\n\n".join(parts)


def to_json(
    description: Description, tables: Sequence[Table], results: Mapping[Pairing, Sequence[GameRecord]]
) -> dict[str, Any]:
    """Return engines, conditions, tables and every game as a JSON object; docs/tournaments.md describes it."""
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
                "elo": None if table.elo is None else table.elo.round(1).tolist(),
                "margin": None if table.margin is None else table.margin.round(1).tolist(),
            }
            for table in tables
        ],
        "games": [
            {
                "first": pairing.first,
                "second": pairing.second,
                "condition": pairing.condition,
                "number": record.game,
                "black": record.black,
                "winner": record.winner,
                "result": record.result,
                "reason": record.reason,
                "moves": record.moves,
                "record": f"{description.folder(pairing)}/games/{record.game:04d}.sgf",
            }
            for pairing, records in results.items()
            for record in records
        ],
    }
