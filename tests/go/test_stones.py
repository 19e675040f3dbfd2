"""The plain board of a `Game` and the arrays for kernels: the same answers in every position of random games."""

import random
import subprocess
import sys

import numpy as np
import pytest

from gtp_engine.go import board as boards
from gtp_engine.go.area import area_owners
from gtp_engine.go.constants import BLACK, EMPTY, NULL_POINT, PASS, WHITE
from gtp_engine.go.coords import Move, board_points
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Ko, Rules


@pytest.mark.parametrize("suicide", [False, True])
@pytest.mark.parametrize("size", [(2, 2), (3, 5), (7, 7), (13, 9), (25, 25)])
def test_both_boards_agree(size: tuple[int, int], suicide: bool):
    """A random game with moves taken back, begun with stones set up: stones, hash, ko, captures, legal moves, area."""
    rng = random.Random(f"{size} {suicide}")
    game, points = Game(*size, Rules(ko=Ko.SIMPLE, suicide=suicide)), board_points(*size)
    game.set_up([Move(rng.choice((BLACK, WHITE)), point) for point in rng.sample(points, 2)])
    for turn in range(150):
        color = rng.choice((BLACK, WHITE))
        if rng.random() < 0.15:
            game.undo(rng.randint(0, min(len(game.moves), 9)))
        else:
            game.play(rng.choice([*game.legal_points(color), PASS]), color)
        if turn % 5 == 0 or size[0] < 9:
            compare(game, points, suicide=suicide)


def compare(game: Game, points: tuple[int, ...], *, suicide: bool) -> None:
    board = game.board
    assert {point: board.color[point] for point in points if board.color[point] != EMPTY} == game.stones
    assert (int(board.hash[0]), int(board.info[boards.KO_POINT])) == (game.hash, (game.ko_point or NULL_POINT))
    assert {BLACK: board.info[boards.CAPTURED + WHITE], WHITE: board.info[boards.CAPTURED + BLACK]} == game.captures
    owners = area_owners(board)
    for color in (BLACK, WHITE):
        assert [p for p in points if boards.is_legal(board, p, color, suicide)] == game.legal_points(color)
        assert np.flatnonzero((owners == color) & (board.color == EMPTY)).tolist() == game.territory(color)
    score = game.score()
    assert score.margin_black + game.area_komi == np.sum(owners == BLACK) - np.sum(owners == WHITE)
    for point in (stones := game.stones):
        assert game.chain(point) == [each for each in stones if board.head[each] == board.head[point]]


def test_a_board_that_was_asked_for_follows_the_game():
    game = Game(5, rules="tromp-taylor")
    game.play("C3")
    other, board = game.copy(), game.board
    game.play("C4")
    assert game.board is board and board.color.tolist().count(WHITE) == 1  # the arrays are advanced
    game.undo(2)
    assert not game.stones and game.board.info[boards.KO_POINT] == NULL_POINT
    assert (game.board.color != WHITE).all() and (game.board.color != BLACK).all()
    assert other.board.color.tolist().count(BLACK) == 1


RULES_AND_RECORDS = """
import sys
from gtp_engine import Game, GameTree, Rules
game = Game(9, rules="japanese")
game.set_up([("black", "E5"), ("white", "E6")], "white")
for vertex in ("A1", "B1", "pass", "A2", "pass", "pass"):
    game.play(vertex)
game.undo(1), game.copy(), game.legal_points(), game.liberties("E5"), game.territory("black", ["E6"])
print(game.score(), game.tally(), game.diagram(), game.svg()[:4], repr(game))
tree = GameTree(game.to_sgf())
tree.main_line()[-1].add_move("C3").add_variation(["C4", "C5"])
assert Game.from_sgf(tree.to_bytes()).moves and tree.record.rules == Rules.parse("japanese")
print(sorted({"numpy", "numba"} & set(sys.modules)))
"""


def test_rules_and_records_load_neither_numpy_nor_a_kernel():
    found = subprocess.run([sys.executable, "-c", RULES_AND_RECORDS], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "[]"
