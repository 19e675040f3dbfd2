"""Openings: positions and moves that are the same by symmetry, games on record, people, and what moves lose."""

from puct_support import AreaEvaluator
from review.test_lessons import RankedEvaluator

from gtp_engine.config import Config
from gtp_engine.go.constants import BLACK
from gtp_engine.go.coords import Move, parse_vertex
from gtp_engine.go.game import Game
from gtp_engine.people.review.lessons import People
from gtp_engine.people.review.openings import Opening, OpeningMove, compared, moves_played, opening_of
from gtp_engine.sgf import parse_sgf

GAMES = {
    "upper right": "(;SZ[5]RE[B+R];B[dd];W[bb];B[db])",
    "lower left, reflected": "(;SZ[5]RE[W+2.5];B[bb];W[dd];B[bd])",
    "another reply": "(;SZ[5]RE[B+1];B[db];W[dd])", "unfinished": "(;SZ[5];B[db])",
    "set up": "(;SZ[5]AB[bb][dd]RE[W+R];W[cc])", "illegal": "(;SZ[5]RE[W+R];B[cc];W[cc])",
    "another size": "(;SZ[7]RE[W+R];B[db])", "White first": "(;SZ[5]RE[W+R];W[db])",
}  # fmt: skip


def index_of(games: dict[str, str]) -> list[Opening]:
    records = [parse_sgf(text.encode()) for text in games.values()]
    return [opening_of(record, record.result or "") for record in records]


def point_of(vertex: str) -> int:
    return parse_vertex(vertex, width=5, height=5)


def after(*vertices: str) -> Game:
    game = Game(5, 5)
    for vertex in vertices:
        game.play(vertex)
    return game


def test_games_are_found_by_their_positions_whatever_the_symmetry() -> None:
    index = index_of(GAMES)
    assert moves_played(after(), "5k", None, index) == [
        OpeningMove("D4", None, 4, 2, 1),
        OpeningMove("C3", None, 1, 0, 1),
    ]
    for corner, opposite in (("D4", "B2"), ("B4", "D2"), ("B2", "D4"), ("D2", "B4")):
        found = moves_played(after(corner), "5k", None, index)
        assert [(move.games, move.black, move.white) for move in found] == [(2, 1, 1), (1, 1, 0)]
        assert found[0].vertex == opposite
    changed = index_of({"one": "(;SZ[5]RE[W+R];B[cc];AE[cc];W[aa])"})
    assert moves_played(after("A1"), "5k", None, index) == moves_played(after("C3"), "5k", None, changed) == []


def test_one_move_for_six_points_is_the_opening() -> None:
    index, game, games = index_of({"one": "(;SZ[2:6]RE[B+R];B[aa];W[bc];B[ae])"}), Game(2, 6), []
    for vertex in ("A6", "B4", "A2"):
        games.append([move.games for move in moves_played(game, "5k", None, index)])
        game.play(vertex)
    assert games == [[1], [1], []]


def test_a_stone_that_a_move_leaves_symmetric_has_one_move_for_both_sides() -> None:
    index = index_of({"one": "(;SZ[5]RE[B+R];B[cc];W[ca])", "other": "(;SZ[5]RE[W+R];B[cc];W[ec])"})
    (move,) = moves_played(after("C3"), "5k", None, index)
    assert (move.games, move.black, move.white) == (2, 1, 1)
    assert move.vertex == "C5", "nearest to the upper right, the highest"


def test_people_of_the_rank_play_a_move_and_all_that_are_the_same() -> None:
    game = after()
    human = RankedEvaluator(point_of("B2"))
    moves = moves_played(game, "3d", People(AreaEvaluator(), human, None), ())
    assert human.asked == ["3d"]
    (corner,) = [move for move in moves if move.vertex == "D4"]
    assert corner.share is not None and abs(corner.share - (0.12 + 3 * 0.88 / 25)) < 0.01, "of four corners"
    assert len(moves) == 6, "points that are not the same"


def test_a_move_loses_what_the_best_of_all_has_more() -> None:
    game = after()
    game.set_up([Move(BLACK, point_of(vertex)) for vertex in ("A2", "B2", "C2")])
    moves = [OpeningMove("A1", 0.5), OpeningMove("D4", 0.1)]
    found = compared(game, moves, Config(), AreaEvaluator())
    assert [move.vertex for move in found[:2]] == ["A1", "D4"], "people's moves come first"
    losses = [move.points_lost for move in found]
    assert min(loss for loss in losses if loss is not None) == 0 and None not in losses
    assert len(found) <= 5, "and three of the search"
