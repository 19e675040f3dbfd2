"""Play against mirror Go; the numbers are KataGo's formulas, worked out by hand."""

from math import sqrt

import numpy as np
import pytest
from board_helpers import play_moves
from fake_evaluators import rows_of
from puct_support import AreaEvaluator, Searching, ShapedEvaluator, search

from gtp_engine import Game, Rules, parse_vertex
from gtp_engine.evaluation.positions import new_evaluation
from gtp_engine.go.board import Board
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import board_points
from gtp_engine.go.handicap import fixed_handicap_points
from gtp_engine.search.limits import Limits, SearchRequest
from gtp_engine.search.puct.anti_mirror import (
    Mirroring,
    adjust_evaluation,
    is_mirrored,
    mirrored_margin,
    mirroring_in,
    raise_priors,
    value_centre,
)
from gtp_engine.search.puct.leaves import EVALUATE, new_leaves
from gtp_engine.search.puct.root import mirror

REFLECTION = mirror(3, 13, 13)


def point(vertex: str) -> int:
    return parse_vertex(vertex, width=13, height=13)


def mirrored_game(pairs: int, *, komi: float = 7.5, first: str = "", rules: str = "tromp-taylor") -> Game:
    """Return a game on 13x13 in which one side plays on every other point from A13 on and the other one mirrors.

    With `first`, Black begins there and mirrors White then.
    """
    game = Game(13, rules=Rules.parse(rules), komi=komi)
    if first:
        game.play(first)
    for place in board_points(13, 13)[: 2 * pairs : 2]:
        game.play(place)
        game.play(REFLECTION[place])
    return game


# --- the opponent


@pytest.mark.parametrize(
    ("pairs", "others", "color", "mirrors"),
    [
        (13, "", BLACK, False),
        (14, "", BLACK, True),
        (14, "", WHITE, False),  # Black does not mirror
        (16, "G8 H7", BLACK, False),  # the last move mirrors nothing
        (16, "G8 J7 G10 G4", BLACK, True),  # with 17 of 18 moves mirrored, 7 + 9 are enough
        (30, "E7 D7 J7 K7 E8 D8 J8 K8 C5 L9", BLACK, True),
        # After many mirrored moves, five others and a mirrored one: (3 · 0.75⁵ + 1) · 0.75 = 1.28 of 3, below 45%.
        (30, "E7 D7 J7 K7 E8 D8 J8 K8 E6 D6 C5 L9", BLACK, False),
    ],
)
def test_an_opponent_mirrors_after_fourteen_mirrored_moves(pairs: int, others: str, color: int, mirrors: bool) -> None:
    """Of n moves 7 + n / 2 have to be mirrored, the last one among them."""
    found = mirroring_in(play_moves(mirrored_game(pairs), others), color)
    assert (found is not None) is mirrors
    assert found is None or (found.color == WHITE and not found.has_centre)


@pytest.mark.parametrize(
    ("size", "komi", "handicap", "rules", "white"),
    [
        (19, 7.5, 0, "tromp-taylor", 6.5),  # Black gets the last point
        (19, 6.5, 0, "japanese", 6.5),
        (8, 7.5, 0, "tromp-taylor", 7.5),
        (19, 0.5, 2, "tromp-taylor", -0.5),
        (19, 0.5, 3, "tromp-taylor", -2.5),
        (19, 0.5, 2, "chinese", 1.5),
    ],
)
def test_the_margin_of_a_mirrored_game(size: int, komi: float, handicap: int, rules: str, white: float) -> None:
    game = Game(size, rules=Rules.parse(rules), komi=komi)
    if handicap:
        game.set_handicap(fixed_handicap_points(handicap, size, size))
    assert mirrored_margin(game, WHITE) == white
    assert mirrored_margin(game, BLACK) == -white


def test_the_symmetry_around_the_centre() -> None:
    game = mirrored_game(14)
    assert mirroring_in(game, BLACK).is_symmetric  # type: ignore[union-attr]
    for vertex in ("H8", "M1", "C4", "L10"):  # White does not reply to the first of these
        game.play(vertex)
    found = mirroring_in(game, BLACK)
    assert found is not None
    assert not found.is_symmetric


# --- evaluations


def white_at_the_centre(*, wins: bool = True) -> Mirroring:
    return Mirroring(WHITE, REFLECTION, point("G7"), has_centre=True, wins=wins, is_symmetric=True)


def board_with(*vertices: str) -> Board:
    game = Game(13)
    for vertex in vertices:
        game.play(vertex, WHITE)
    return game.board


def policy_of(**probabilities: float) -> np.ndarray:
    policy = np.zeros(Game(13).board.color.size, dtype=np.float32)
    for vertex, probability in probabilities.items():
        policy[PASS if vertex == "passing" else point(vertex)] = probability
    return policy


def test_the_mirrored_reply_becomes_likelier() -> None:
    for wins, weight in ((True, 3.0), (False, 1.0)):
        policy = policy_of(D4=0.1, K10=0.2, passing=0.1)
        raise_priors(white_at_the_centre(wins=wins), [point("D4")], board_with("G7"), policy)
        assert policy[point("K10")] == pytest.approx(0.2 + 0.8 * weight / 2)
        assert policy[PASS] == pytest.approx(0.1)
    policy = policy_of(D4=0.1, passing=0.1)
    raise_priors(white_at_the_centre(), [1, 1, point("D4")], board_with(), policy)
    assert policy[PASS] == pytest.approx(0.1 + 0.9 / (1 + sqrt(3))), "the reply is illegal"
    raise_priors(white_at_the_centre(), [PASS], board_with(), policy_of(D4=0.5))


def test_moves_around_the_centre_become_likelier() -> None:
    board = board_with("G7", "G8", "G9")
    policy = policy_of(H8=0.1, F6=0.1, G10=0.1, E7=0.1, E6=0.1, D4=0.1)
    raise_priors(white_at_the_centre(), [], board, policy)
    expected = {"H8": 0.05, "F6": 0.05, "G10": 0.05, "E7": 0.03, "E6": 0.0, "D4": 0.0, "F7": None}
    for vertex, weight in expected.items():
        assert policy[point(vertex)] == pytest.approx(0.0 if weight is None else 0.1 + 0.9 * weight), vertex
    free = white_at_the_centre()._replace(has_centre=False)
    policy = policy_of(G7=0.1, F6=0.1, E7=0.1)
    raise_priors(free, [1, 1], board_with(), policy)
    assert policy[point("G7")] == pytest.approx(0.1 + 0.9 * 0.3 / (1 + sqrt(2)))
    assert policy[point("F6")] == pytest.approx(0.1 + 0.9 * 0.05 / (1 + sqrt(2)))
    assert policy[point("E7")] == pytest.approx(0.1)


def test_on_even_boards_four_points_are_central() -> None:
    policy = np.full(Game(6).board.color.size, 0.1, dtype=np.float32)
    raise_priors(Mirroring(WHITE, mirror(3, 6, 6), 0, False, False, True), [], Game(6).board, policy)
    raised = np.round((policy - 0.1) / 0.9, 3)
    assert [int(np.count_nonzero(raised == np.float32(weight))) for weight in (0.3, 0.05)] == [4, 12]


def test_the_result_shifts_towards_the_owner_of_the_centre() -> None:
    """Artanh 0.2 is 0.202733."""
    for is_symmetric, expected in ((True, np.tanh(0.202733 - 0.7)), (False, np.tanh(0.202733 - 0.3))):
        evaluation = new_evaluation(1, 13, 13)
        evaluation.win_black[0], evaluation.loss_black[0] = 0.54, 0.36
        evaluation.ownership_black[0, point("G7")] = -1.0
        value_centre(white_at_the_centre()._replace(is_symmetric=is_symmetric), evaluation, 0)
        value = (evaluation.win_black[0] - evaluation.loss_black[0]) / 0.9
        assert value == pytest.approx(expected, abs=1e-5)
        assert evaluation.win_black[0] + evaluation.loss_black[0] == pytest.approx(0.9)


def test_paths_are_mirrored_up_to_the_last_moves() -> None:
    mirroring = white_at_the_centre()
    a, b, c = (point(vertex) for vertex in ("D4", "K10", "C3"))
    assert is_mirrored([], mirroring)
    assert is_mirrored([a], mirroring)
    assert is_mirrored([a, b, c], mirroring)
    assert not is_mirrored([a, c], mirroring)
    assert is_mirrored([a, c], mirroring, skip_recent=1)
    assert is_mirrored([a, b, c, a], mirroring, skip_recent=4)
    assert not is_mirrored([a, c, a, b, a, b], mirroring, skip_recent=4)


def test_only_mirrored_leaves_change() -> None:
    games = [mirrored_game(14) for _ in range(2)]
    for game in games:
        game.play("G7", WHITE)
    positions, evaluation = rows_of(games), new_evaluation(2, 13, 13)
    evaluation.win_black[:], evaluation.loss_black[:] = 0.5, 0.5
    evaluation.policy[:, point("K10")] = 0.5
    evaluation.ownership_black[:, point("G7")] = -1.0
    leaves = new_leaves(1, 13, 13)._replace(positions=positions)
    leaves.kind[:], leaves.slot[:], leaves.filled[0] = EVALUATE, [0, 1], 2
    path = [point("D4"), point("C4"), *[point("D4"), point("K10")] * 2, point("D4")]
    leaves.depth[:] = [1, len(path)]
    leaves.moves[0, 0] = point("D4")
    leaves.moves[1, : len(path)] = path
    adjust_evaluation(white_at_the_centre(), leaves, evaluation)
    assert evaluation.policy[0, point("K10")] > 1.0
    assert evaluation.policy[1, point("K10")] == 0.5
    assert evaluation.win_black[0] < 0.5 == evaluation.win_black[1]


# --- the search


def test_a_search_against_a_mirroring_opponent_looks_at_the_centre() -> None:
    game = mirrored_game(14, first="G7", komi=0.5)
    color = game.to_play
    assert (color, game.color_at(point("G7"))) == (WHITE, BLACK)
    near = [point(vertex) for vertex in ("F7", "H7", "G6", "G8", "F8", "H8", "F6", "H6")]

    def visits(anti_mirror: bool) -> int:
        report = search(
            game, SearchRequest(Limits(200), anti_mirror=anti_mirror), ShapedEvaluator(), symmetry_pruning=False
        )
        return sum(move.visits for move in report.moves if move.point in near)

    assert visits(True) > 2 * visits(False)


class FavouriteEvaluator(AreaEvaluator):
    """Expects one point to be played."""

    favourite = PASS

    def policy(self, board: Board, color: int, moves: list[int]) -> np.ndarray:
        likes = np.array([100.0 if move == self.favourite else 1.0 for move in moves])
        return likes / likes.sum()


@pytest.mark.parametrize("anti_mirror", [True, False])
def test_a_tree_is_dropped_when_the_opponent_begins_to_mirror(anti_mirror: bool) -> None:
    game, evaluator = mirrored_game(13), FavouriteEvaluator()
    place = board_points(13, 13)[2 * 13]
    evaluator.favourite = REFLECTION[place]
    with Searching(evaluator) as searcher:
        game.play(place)
        searcher.run(game, SearchRequest(Limits(300), anti_mirror=anti_mirror), to_play=WHITE)
        game.play(REFLECTION[place])
        assert (searcher.run(game, SearchRequest(Limits(100), anti_mirror=anti_mirror)).playouts == 100) is anti_mirror
        assert searcher.run(game, SearchRequest(Limits(150), anti_mirror=anti_mirror)).playouts <= 50
        assert (searcher.run(game, Limits(150)).playouts == 150) is anti_mirror, "an analysis"
