"""The table by which ranks are told (`people.rank_estimate`), fitted to the moves of many players of known rank.

look_at       what moves tell in games of people, for as many players of each group of ranks
fit_table     the table
accuracies    how well it finds the ranks of players that were left out
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.base.errors import IllegalMoveError
from gtp_engine.base.steps import never
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.game import Game
from gtp_engine.people.rank_estimate import (
    BEST,
    COLUMNS,
    COVERED,
    LEAST_MOVES,
    WORST,
    Numbers,
    RankTable,
    estimate,
    interval_of,
    means_of,
    middle_rank,
    powers_of,
)
from gtp_engine.training.core.game_data import is_name_held_out
from gtp_engine.training.distillation.distillation_settings import RankFitSettings
from gtp_engine.training.people.human_data import HumanGame, group_of, in_turns

_FOLDS: Final = 2
_DRAWS: Final = 40
_SEED: Final = 1


class MeasuredGame(NamedTuple):
    """The moves of one side of a game, and the player's name and rank."""

    player: str
    rank: int
    moves: Numbers


def look_at(
    games: Sequence[HumanGame],
    measure: Callable[[Game, int], Numbers],
    settings: RankFitSettings,
    *,
    is_stopped: Callable[[], bool] = never,
) -> Iterator[MeasuredGame]:
    """Yield what moves tell in games of as many held-out players of each group: two games each, if they have two."""
    rng = np.random.default_rng(settings.seed)
    of_player: dict[int, dict[str, list[tuple[HumanGame, int]]]] = {}
    for game in games:
        for name, rank, color in zip(game.players, game.ranks, (BLACK, WHITE), strict=True):
            is_known = BEST <= rank <= WORST and len(game.moves) >= settings.least_length
            if is_known and is_name_held_out(name, settings.held_out):
                of_player.setdefault(group_of(rank), {}).setdefault(name, []).append((game, color))
    orders = []
    for _, players in sorted(of_player.items()):
        names = [*players]
        orders.append([(names[i], players[names[i]]) for i in rng.permutation(len(names))[: settings.players]])
    for name, sides in in_turns(orders):
        for i in rng.permutation(len(sides))[:2]:
            if is_stopped():
                return
            game, color = sides[i]
            moves = measure(_played(game), color)
            if len(moves) >= LEAST_MOVES:
                yield MeasuredGame(name, game.ranks[color - BLACK], moves)


def _played(record: HumanGame) -> Game:
    """Return the game with its moves, up to one that cannot be played."""
    game = record.start.copy()
    for move in record.moves:
        try:
            game.play(move, tolerant=True)
        except IllegalMoveError:
            break
    return game


def fit_table(games: Sequence[MeasuredGame], networks: tuple[str, str]) -> RankTable:
    """Return the table fitted to games of many players, some of them with several games.

    The factor is the one with which intervals cover 90% of the players' ranks in tables fitted without them.
    """
    held_out = [(table, game) for table, rest in _held_out(games, networks) for game in rest]

    def covered(factor: float) -> float:
        hits = []
        for table, game in held_out:
            found = estimate(replace(table, factor=factor), [game.moves])
            hits.append(found.high <= game.rank <= found.low)
        return float(np.mean(hits))

    low, high = 0.2, 5.0
    for _step in range(12):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if covered(middle) < COVERED else (low, middle)
    return replace(_fitted(games, networks), factor=float(np.sqrt(low * high)))


def _held_out(
    games: Sequence[MeasuredGame], networks: tuple[str, str]
) -> Iterator[tuple[RankTable, list[MeasuredGame]]]:
    """Yield tables, each fitted without the games of some players, with these games; every game comes once."""
    players = np.random.default_rng(_SEED).permutation(sorted({game.player for game in games})).tolist()
    for fold in range(_FOLDS):
        left_out = set(players[fold::_FOLDS])
        kept = [game for game in games if game.player not in left_out]
        yield _fitted(kept, networks), [game for game in games if game.player in left_out]


NUMBERS: Final = (1, 2, 5, 10, 20)
ACCURACY_HEAD: Final = """\
| games | group right | within one | mean error, ranks | interval holds the rank |
|---|---|---|---|---|"""
"""The head of a table of `Accuracy`."""


class Accuracy(NamedTuple):
    """How well the group of `games` games by players of one group is told, by tables fitted without these players."""

    games: int
    right: float
    within_one: float
    mean_error: float
    """In ranks, of one number for the rank."""
    covered: float
    """How often the interval holds the rank."""

    def __str__(self) -> str:
        return (
            f"| {self.games} | {self.right:.0%} | {self.within_one:.0%} | {self.mean_error:.1f} | {self.covered:.0%} |"
        )


def accuracies(games: Sequence[MeasuredGame], table: RankTable) -> list[Accuracy]:
    """Return the accuracy for each of `NUMBERS` of games that every group has among those left out together."""
    rng = np.random.default_rng(_SEED)
    rows: dict[int, list[tuple[float, ...]]] = {}
    for part, rest in _held_out(games, table.networks):
        members: dict[int, list[MeasuredGame]] = {}
        for game in rest:
            members.setdefault(group_of(game.rank), []).append(game)
        for number in NUMBERS:
            if number > min(map(len, members.values())):
                break
            for of_group in members.values():
                for _draw in range(_DRAWS):
                    drawn = [of_group[i] for i in rng.choice(len(of_group), number, replace=False)]
                    rows.setdefault(number, []).append(_told(replace(part, factor=table.factor), drawn))
    return [Accuracy(number, *np.mean(found, axis=0).tolist()) for number, found in rows.items()]


def _told(table: RankTable, games: Sequence[MeasuredGame]) -> tuple[float, ...]:
    """Return whether a table finds the group of these games, each by another player: the columns of `Accuracy`."""
    posterior = table.posterior([game.moves for game in games], players=len(games))
    groups = [group_of(rank) for rank in range(BEST, WORST + 1)]
    names = sorted(set(groups))
    sums = [posterior[np.array(groups) == name].sum() for name in names]
    away = abs(int(np.argmax(sums)) - names.index(group_of(games[0].rank)))
    rank = np.mean([game.rank for game in games])
    low, high = interval_of(posterior)
    return away == 0, away <= 1, float(abs(middle_rank(posterior) - rank)), high <= round(rank) <= low


def _fitted(games: Sequence[MeasuredGame], networks: tuple[str, str]) -> RankTable:
    """Return the table of these games, with a factor of 1."""
    ranks = np.array([game.rank for game in games])
    found = np.array([means_of(game.moves) for game in games])
    counts = np.array([np.isfinite(game.moves).sum(axis=0) for game in games])
    known = np.isfinite(found)
    means = np.zeros((len(COLUMNS), 3))
    for i in range(len(COLUMNS)):
        rows = known[:, i]
        weights = np.sqrt(counts[rows, i])
        means[i] = np.linalg.lstsq(powers_of(ranks[rows]) * weights[:, None], found[rows, i] * weights, rcond=None)[0]
    of_move = _covariance(np.concatenate([game.moves - means_of(game.moves) for game in games]))
    residuals = found - powers_of(ranks) @ means.T
    of_whole = _covariance(residuals) - of_move * _mean_inverse(counts)
    by_player: dict[str, list[int]] = {}
    for i, game in enumerate(games):
        by_player.setdefault(game.player, []).append(i)
    pairs = [(a, b) for rows in by_player.values() for a in rows for b in rows if a != b]
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    of_player = _positive(_covariance(residuals[first], residuals[second]))
    return RankTable(networks, means, of_player, _positive(of_whole - of_player), of_move, 1.0)


def _covariance(rows: Numbers, others: Numbers | None = None) -> Numbers:
    """Return the covariance of columns with mean 0, over the rows in which both are known; 0 where there are none.

    With `others`, that of the columns of one with those of the other.
    """
    others = rows if others is None else others
    known, of_others = np.isfinite(rows).astype(np.float64), np.isfinite(others).astype(np.float64)
    covariance: Numbers = np.nan_to_num(rows).T @ np.nan_to_num(others) / np.maximum(known.T @ of_others, 1)
    return covariance


def _mean_inverse(counts: NDArray[Any]) -> Numbers:
    """Return the mean over games of one divided by the geometric mean of the moves of two columns, [D, D]."""
    roots = np.where(counts > 0, 1 / np.sqrt(np.maximum(counts, 1)), 0.0)
    known = (counts > 0).astype(np.float64)
    inverse: Numbers = roots.T @ roots / np.maximum(known.T @ known, 1)
    return inverse


def _positive(matrix: Numbers) -> Numbers:
    """Return the nearest covariance: symmetric, without negative variances in any direction."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    positive: Numbers = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return positive
