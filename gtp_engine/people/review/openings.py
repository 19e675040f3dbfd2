"""An opening explored: what people of a rank play in a position, how games went on from there, what the moves lose.

    opening_of     the opening of a game on record
    moves_played   the moves of a position in these games, found by their positions, and by people
    compared       the same with what they lose, and with those that a search prefers

Positions that are reflections or rotations of each other are the same one, and so are moves that are.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.base.errors import TengenError
from gtp_engine.config import Config
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.go.board import IntArray
from gtp_engine.go.coords import board_points
from gtp_engine.go.game import Game
from gtp_engine.nn.symmetry import cell_orders, cell_table
from gtp_engine.people.review.game_analysis import seeded
from gtp_engine.people.review.game_review import outlook_of, points_lost
from gtp_engine.people.review.lessons import People
from gtp_engine.search.limits import Limits
from gtp_engine.search.puct.joint_search import JointSearch
from gtp_engine.sgf import SgfRecord

MOST_MOVES: Final = 12
"""Moves of a position that are compared."""

_LEAST_SHARE: Final = 0.01
_OF_PEOPLE: Final = 8
_OF_GAMES: Final = 8
_OF_ENGINE: Final = 3
"""Moves of each kind at most: those that people play most (_LEAST_SHARE of them at least), games, and the search."""

_POINTS_A_MOVE: Final = 6
"""Points of the board for each move of a game that counts as its opening: 60 on 19x19."""

VISITS: Final = 48
"""Visits of the search that finds the engine's moves, ..."""
VISITS_AFTER: Final = 24
"""... and of those that compare moves, one after each."""

_PASSES: Final = -1


@dataclass(frozen=True)
class OpeningMove:
    """A move, and all that is the same by symmetry: `vertex` is the one in the upper right.

    `share` of the people play it, None where that is not known; `games` went on with it, of which Black won `black`
    and White `white`; it loses `points_lost` against the best of the moves, None where that is not known.
    """

    vertex: str
    share: float | None = None
    games: int = 0
    black: int = 0
    white: int = 0
    points_lost: float | None = None


class _Symmetries(NamedTuple):
    """The symmetries of a board: which point comes to each place, and where each point goes, [symmetries, points]."""

    points: NDArray[np.int64]
    """The points of the board by rows from the top, as `Game` has them."""
    sources: NDArray[np.int64]
    places: IntArray

    def position(self, game: Game) -> tuple[int, list[int]]:
        """Return what all symmetric positions have in common, and the symmetries that lead to it."""
        stones = game.board.color[self.points].astype(np.int8)
        texts = [row.tobytes() for row in stones[self.sources]]
        least = min(texts)
        return hash((game.to_play, game.width, least)), [number for number, text in enumerate(texts) if text == least]

    def move(self, place: int, symmetries: list[int]) -> int:
        """Return what all symmetric moves in a position of these `symmetries` have in common."""
        return int(self.places[symmetries, place].min())


@lru_cache(maxsize=64)
def _symmetries(width: int, height: int) -> _Symmetries:
    points = np.array(board_points(width, height))
    return _Symmetries(points, cell_orders(width, height), cell_table(width, height)[:, points])


class Opening(NamedTuple):
    """The opening of a game: the move that followed each position, and who won."""

    moves: dict[int, int]
    winner: str


def opening_of(record: SgfRecord, result: str) -> Opening:
    """Return the opening of a game with this result; it ends where the record makes no sense."""
    game = Game(record.width, record.height)
    count = game.width * game.height // _POINTS_A_MOVE
    if record.later_setups:
        count = min(count, record.later_setups[0].move_index)
    symmetries, moves = _symmetries(game.width, game.height), dict[int, int]()
    place_of = {int(point): place for place, point in enumerate(symmetries.points)}
    try:
        game.set_up(record.setup_stones, record.first_player)
        for move in record.moves[:count]:
            game.to_play = move.color
            position, symmetric = symmetries.position(game)
            place = place_of.get(move.point)
            moves.setdefault(position, _PASSES if place is None else symmetries.move(place, symmetric))
            game.play(move, tolerant=True)
    except TengenError:
        pass
    return Opening(moves, result[:1])


def moves_played(game: Game, rank: str, people: People | None, openings: Iterable[Opening]) -> list[OpeningMove]:
    """Return what `people` of a rank play, if any, and how games went on, the most frequent moves first."""
    shares = people.shares(game, rank) if people is not None and people.plays_on(game) else None
    position, _symmetric = _symmetries(game.width, game.height).position(game)
    winners: dict[int | None, Counter[str]] = defaultdict(Counter)  # by the move that followed
    for opening in openings:
        winners[opening.moves.get(position)][opening.winner] += 1
    found = []
    for move, points in _moves_of(game).items():
        games = winners[move]
        share = None if shares is None else round(float(shares[points].sum()), 4)
        found.append(OpeningMove(game.vertex(points[0]), share, games.total(), games["B"], games["W"]))
    likely = sorted(found, key=lambda each: -(each.share or 0.0))[:_OF_PEOPLE]
    frequent = sorted(found, key=lambda each: -each.games)[:_OF_GAMES]
    wanted = {each.vertex: each for each in likely if (each.share or 0.0) >= _LEAST_SHARE}
    wanted |= {each.vertex: each for each in frequent if each.games}
    return _sorted(wanted.values())[: MOST_MOVES - _OF_ENGINE]


def compared(game: Game, moves: Sequence[OpeningMove], config: Config, network: Evaluator) -> list[OpeningMove]:
    """Return the moves, and those that a search prefers, with what each loses; raises what the network raises."""
    search = JointSearch(seeded(config), network, MOST_MOVES)
    (report,) = search.run([(game, game.to_play)], Limits(VISITS))
    best = {each.point for each in report.moves[:_OF_ENGINE]}
    preferred = [points[0] for points in _moves_of(game).values() if not best.isdisjoint(points)]
    others = [OpeningMove(game.vertex(point)) for point in preferred]
    known = {each.vertex for each in moves}
    wanted = [*moves, *(each for each in others if each.vertex not in known)]
    after = [game.copy() for _ in wanted]
    for each, move in zip(after, wanted, strict=True):
        each.play(move.vertex)
    if not wanted:
        return []
    reports = search.run([(each, each.to_play) for each in after], Limits(VISITS_AFTER))
    leads = [outlook_of(each, game.to_play).lead for each in reports]
    losses = [round(points_lost(max(leads), lead), 1) for lead in leads]
    return _sorted(replace(each, points_lost=lost) for each, lost in zip(wanted, losses, strict=True))


def _moves_of(game: Game) -> dict[int, list[int]]:
    """Return the legal points by their moves (`_Symmetries.move`), of each move that in the upper right first."""
    symmetries = _symmetries(game.width, game.height)
    _position, symmetric = symmetries.position(game)
    legal, found = set(game.legal_points()), dict[int, list[int]]()
    for place in sorted(range(len(symmetries.points)), key=lambda place: place // game.width - place % game.width):
        if (point := int(symmetries.points[place])) in legal:
            found.setdefault(symmetries.move(place, symmetric), []).append(point)
    return found


def _sorted(moves: Iterable[OpeningMove]) -> list[OpeningMove]:
    return sorted(moves, key=lambda each: (-(each.share or 0.0), -each.games, each.points_lost or 0.0))
