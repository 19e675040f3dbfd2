"""Symmetry laws: turning or mirroring the board, or exchanging the colours, does the same to every answer.

f(sym(position)) == sym(f(position)) for legality, liberties, hash classes, ladders, eyes, pass-alive maps and area, on
random positions of square and rectangular boards and all eight symmetries.
"""

import random
from collections.abc import Callable

import numpy as np
import pytest
import reference
from board_helpers import board_of, game_of, points_of, random_position, stones_of

from gtp_engine.go import board as boards
from gtp_engine.go.benson import area_map, new_life_work, pass_alive_map
from gtp_engine.go.board import Board
from gtp_engine.go.constants import BLACK, EMPTY, WHITE
from gtp_engine.go.ladder import stones_in_ladders
from gtp_engine.go.rules import Rules, Scoring
from gtp_engine.go.tactics import eye_map

SIZES = [(2, 2), (3, 3), (5, 5), (4, 7), (7, 7), (9, 9)]
each_size = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")

SYMMETRIES = {
    "identity": lambda x, y, w, h: (x, y),
    "mirror left and right": lambda x, y, w, h: (w - 1 - x, y),
    "mirror up and down": lambda x, y, w, h: (x, h - 1 - y),
    "half turn": lambda x, y, w, h: (w - 1 - x, h - 1 - y),
    "transpose": lambda x, y, w, h: (y, x),
    "quarter turn right": lambda x, y, w, h: (h - 1 - y, x),
    "quarter turn left": lambda x, y, w, h: (y, w - 1 - x),
    "transpose along the other diagonal": lambda x, y, w, h: (h - 1 - y, w - 1 - x),
}
SWAPS_SIDES = {"transpose", "quarter turn right", "quarter turn left", "transpose along the other diagonal"}


def liberty_counts(board: Board, points: tuple[int, ...]) -> list[int]:
    return [len(boards.chain_liberties(board, p)) for p in points]


def legality(board: Board, points: tuple[int, ...], color: int, suicide: bool) -> list[int]:
    return [int(boards.is_legal(board, p, color, suicide)) for p in points]


def by_point(board: Board, points: tuple[int, ...], kernel: Callable[..., None], *arguments: object) -> list[int]:
    out = np.zeros(board.color.size, dtype=np.int32)
    kernel(board, *arguments, out)
    return [int(out[p]) for p in points]


def answers(position: reference.Position) -> dict[str, list[int]]:
    """Return every map about the position, row by row, under the name of the question."""
    board, points = board_of(position), points_of(position)
    size = position.width, position.height
    maps = {
        "liberties": liberty_counts(board, points),
        "ladders": [int(mark) for mark in stones_in_ladders(board)[list(points)]],
        "eyes": by_point(board, points, eye_map),
    }
    for suicide in (False, True):
        maps[f"pass-alive, suicide {suicide}"] = by_point(board, points, pass_alive_map, suicide, new_life_work(*size))
        maps[f"area, suicide {suicide}"] = by_point(board, points, area_map, suicide, new_life_work(*size))
        for color in (BLACK, WHITE):
            maps[f"legal for {color}, suicide {suicide}"] = legality(board, points, color, suicide)
    return maps


@each_size
def test_answers_turn_with_the_board(size: tuple[int, int]):
    rng = random.Random(f"symmetry {size}")
    width, height = size
    for _ in range(6):
        position = random_position(rng, width, height, 2 * width * height)
        expected = answers(position)
        for name, mapping in SYMMETRIES.items():
            turned_size = (height, width) if name in SWAPS_SIDES else size
            where = [mapping(i % width, i // width, width, height) for i in range(width * height)]
            target = [y * turned_size[0] + x for x, y in where]
            assert sorted(target) == list(range(width * height))
            turned = reference.transform(position, lambda x, y, m=mapping: m(x, y, width, height), turned_size)
            found = answers(turned)
            for question, values in expected.items():
                assert [found[question][t] for t in target] == values, f"{question}: {name}"


@each_size
def test_answers_exchange_with_the_colours(size: tuple[int, int]):
    rng = random.Random(f"colours {size}")
    for _ in range(15):
        position = random_position(rng, *size, 3 * size[0] * size[1])
        mine, theirs = answers(position), answers(reference.swap_colors(position))
        for question in ("liberties", "ladders", "eyes"):
            assert mine[question] == theirs[question]
        for suicide in (False, True):
            for question in (f"pass-alive, suicide {suicide}", f"area, suicide {suicide}"):
                assert [(0, 2, 1)[v] for v in theirs[question]] == mine[question]
            for color in (BLACK, WHITE):
                theirs_legal = theirs[f"legal for {BLACK + WHITE - color}, suicide {suicide}"]
                assert mine[f"legal for {color}, suicide {suicide}"] == theirs_legal


@each_size
def test_scores_are_the_same_from_every_side(size: tuple[int, int]):
    rng = random.Random(f"scores {size}")
    width, height = size
    for scoring in Scoring:
        position = random_position(rng, width, height, 2 * width * height)
        expected = score_of(position, scoring)
        for name, mapping in SYMMETRIES.items():
            turned_size = (height, width) if name in SWAPS_SIDES else size
            turned = reference.transform(position, lambda x, y, m=mapping: m(x, y, width, height), turned_size)
            assert score_of(turned, scoring) == expected
        black, white = score_of(reference.swap_colors(position), scoring)
        assert (white, black) == expected


def score_of(position: reference.Position, scoring: Scoring) -> tuple[float, float]:
    score = game_of(position, Rules(scoring=scoring), 0.0).score()
    return score.black, score.white


def test_hashes_of_the_eight_views_differ_unless_the_views_are_equal():
    rng = random.Random(12)
    for _ in range(50):
        position = random_position(rng, 5, 5, 12)
        views = {
            reference.transform(position, lambda x, y, m=mapping: m(x, y, 5, 5), (5, 5))
            for mapping in SYMMETRIES.values()
        }
        assert len({int(board_of(view).hash[0]) for view in views}) == len(views)


def test_the_hash_does_not_depend_on_the_order_of_moves():
    rng = random.Random(13)
    position = random_position(rng, 9, 9, 60)
    stones = stones_of(position)
    expected = int(board_of(position).hash[0])
    for _ in range(10):
        rng.shuffle(stones)
        board = boards.new_board(9, 9)
        for color, point in stones:
            assert board.color[point] == EMPTY
            boards.play_assume_legal(board, point, color)
        assert int(board.hash[0]) == expected
