"""Rollouts: legal games to the end, counted as Tromp and Taylor count, with policies that find urgent moves."""

from typing import Any

import numpy as np
import pytest
from board_helpers import parse_diagram
from fake_evaluators import rows_of
from puct_support import game_from

from gtp_engine import Game
from gtp_engine.compiled.arrays import zeros
from gtp_engine.go.area import area_margin
from gtp_engine.go.board import Board, is_legal
from gtp_engine.go.constants import BLACK, EMPTY, WHITE
from gtp_engine.go.tactics import is_eye
from gtp_engine.search.puct.expand import Results
from gtp_engine.search.rng import new_states, random_below
from gtp_engine.search.rollouts import rollout
from gtp_engine.search.rollouts.patterns import fits_pattern, pattern_table
from gtp_engine.training.alphago.rollout_batches import new_scratch, play_rows


def roll(game: Game, policy: int, seed: int) -> tuple[Board, np.ndarray, bool]:
    """Return the board after a rollout, who played first on its points, and whether it came to an end.

    It is played by a kernel of the games: one for this alone would take long to compile.
    """
    size = (game.width, game.height)
    scratch, results = new_scratch(*size, new_states(1, seed)[0]), zeros(Results, S=1, n=game.board.color.size)
    limit = rollout.MOVES_PER_POINT * game.width * game.height
    play_rows(rows_of([game]), 1, policy, limit, results, scratch, rollout.new_rollout_work(*size))
    return scratch.board, scratch.first_player, bool(results.finished[0])


@pytest.mark.parametrize("policy", rollout.POLICIES.values(), ids=rollout.POLICIES)
@pytest.mark.parametrize("size", [(2, 2), (5, 7), (9, 9), (19, 19), (25, 25)], ids=str)
def test_a_rollout_ends_where_neither_side_has_a_move_that_fills_no_eye(policy: int, size: tuple[int, int]) -> None:
    game = Game(*size)
    for seed in range(5):
        board, _, has_ended = roll(game, policy, seed)
        if not has_ended:
            continue  # cut off in a cycle of kos
        # The tactical policy may also stop where only self-ataris are left.
        left = [p for p in np.flatnonzero(board.color == EMPTY).tolist() if policy != rollout.TACTICAL]
        for color in (BLACK, WHITE):
            assert not [p for p in left if is_legal(board, p, color, False) and not is_eye(board, p, color)]


@pytest.mark.parametrize("policy", rollout.POLICIES.values(), ids=rollout.POLICIES)
def test_the_count_of_a_finished_uniform_rollout_is_the_tromp_taylor_area(policy: int) -> None:
    game = Game(9)
    agreed = 0
    for seed in range(30):
        board, _, _ = roll(game, policy, seed)
        owner = np.zeros(board.color.size, dtype=np.int32)
        margin = rollout.count_area(board, owner)
        assert owner.sum() == margin
        work = np.zeros((2, board.color.size), dtype=np.int32)
        agreed += margin == area_margin(board, work[0], work[1])
    # Larger empty areas (seki, self-atari) are counted by their neighbours, so a few may differ.
    assert agreed >= (30 if policy != rollout.TACTICAL else 20)


def test_the_first_player_of_a_point_is_the_one_whose_stone_came_first() -> None:
    game = Game(5)
    board, first_player, _ = roll(game, rollout.POLICIES["uniform"], seed=4)
    stones = (board.color == BLACK) | (board.color == WHITE)
    assert np.all(first_player[stones] != 0)
    assert set(first_player.tolist()) <= {0, BLACK, WHITE}


def answers(text: str, to_play: int) -> set[int]:
    """Return the candidates of the tactical policy after the opponent's stone drawn as `#` or `@`."""
    game = game_from(text, to_play)
    (last,) = parse_diagram(text).marked_stones
    work = rollout.new_rollout_work(game.width, game.height)
    # interpreted: it is compiled in rollouts, and on its own that takes seconds
    find: Any = rollout._tactical_candidates
    count = find.interpreted(game.board, to_play, last, work)
    return set(work.candidates[:count].tolist())


def test_a_chain_put_in_atari_is_saved_by_capturing_or_escaping() -> None:
    text = """
        . . . . . . .
        . . X O . . .
        . X O X b . .
        . . a @ . . .
        . . . . . . .
    """
    assert answers(text, BLACK) == set(parse_diagram(text).marks.values())


def test_the_stones_just_played_are_captured_if_they_can_be() -> None:
    text = """
        . X # O .
        . a O O .
        . O O . .
        . . . . .
    """
    assert answers(text, WHITE) == set()  # the chain of two has two liberties
    text = text.replace(". X #", "O X #")
    assert answers(text, WHITE) == {parse_diagram(text).marks["a"]}


@pytest.mark.parametrize("ladder_breaker", [False, True])
def test_a_chain_runs_only_where_no_ladder_catches_it(ladder_breaker: bool) -> None:
    text = f"""
        . . . . . . .
        . . . O . . .
        . . O X @ . .
        . . O a . . .
        . . . . . {"X" if ladder_breaker else "."} .
        . . . . . . .
        . . . . . . .
    """
    escapes = {parse_diagram(text).marks["a"]}
    assert answers(text, BLACK) == (escapes if ladder_breaker else set())


@pytest.mark.parametrize(
    ("neighborhood", "color", "fits"),
    [
        ("X O X/. . ./. . .", BLACK, True),  # hane that encloses
        ("O X O/. . ./. . .", BLACK, True),  # the same for the other colour
        (". . ./. . ./. . .", BLACK, False),
        ("X O ./O . ./. . .", BLACK, True),  # unprotected cut
        ("X O ./O . O/. . .", BLACK, False),  # protected
        ("X O O/. . ./. . .", BLACK, True),  # hane at the head of two: only for one side
        ("X O O/. . ./. . .", WHITE, False),
    ],
)
def test_patterns(neighborhood: str, color: int, fits: bool) -> None:
    rows = neighborhood.split("/")
    text = "\n".join([". . . . .", *(f". {row} ." for row in rows), ". . . . ."])
    game = game_from(text)
    center = (2 + 1) * 6 + 2 + 1
    assert fits_pattern(game.board, center, color, pattern_table()) is fits


def test_the_pattern_table_treats_colours_alike() -> None:
    table = pattern_table()
    swap = np.array([0, 2, 1, 3])
    codes = np.arange(1 << 16)
    swapped = sum(swap[(codes >> (2 * place)) & 3] << (2 * place) for place in range(8))
    black, white = table & 1, table >> 1
    assert np.array_equal(black, white[swapped])
    assert 0 < np.count_nonzero(table) < table.size


def test_random_numbers_cover_their_range_evenly() -> None:
    state = new_states(1, 5)[0]
    counts = np.bincount([random_below(state, 7) for _ in range(7000)], minlength=7)
    assert counts.size == 7 and counts.min() > 850 and counts.max() < 1150
