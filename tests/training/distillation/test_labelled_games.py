"""Blocks of samples of a worker, board sizes in turn."""

from collections import Counter
from itertools import islice

import numpy as np
from fake_evaluators import FakeEvaluator

from gtp_engine.selfplay.rows_evaluator import GroupedRows
from gtp_engine.training.distillation.game_variety import Board
from gtp_engine.training.distillation.generate_settings import MOST_SEEDS, MOST_WORKERS
from gtp_engine.training.distillation.labelled_games import (
    BLOCK_MOVES,
    STINT_BLOCKS,
    Block,
    SelfPlaySettings,
    first_game,
    play_blocks,
)
from gtp_engine.training.distillation.shards import Samples


def blocks(count: int, sizes: dict[Board, float] | None = None, *, seed: int = 1, worker: int = 0) -> list[Block]:
    settings = SelfPlaySettings(sizes or {(4, 4): 1.0}, seed, batch=3)
    return list(islice(play_blocks(GroupedRows(FakeEvaluator()), settings, worker), count))


def test_blocks_have_a_sample_of_every_position_of_a_full_batch() -> None:
    for block in blocks(3):
        assert block.board == (4, 4)
        assert block.samples.count == 3 * BLOCK_MOVES
        assert block.seconds > 0
        assert len(set(block.samples.game.tolist())) >= 3


def test_shares_of_positions_follow_the_sizes() -> None:
    made: Counter[Board] = Counter()
    for block in blocks(30 * STINT_BLOCKS, {(3, 3): 0.6, (4, 3): 0.3, (4, 4): 0.1}):
        made[block.board] += block.samples.count
    total = made.total()
    assert {board: round(count / total, 1) for board, count in made.items()} == {(3, 3): 0.6, (4, 3): 0.3, (4, 4): 0.1}


def test_a_stint_is_of_one_size() -> None:
    boards = [block.board for block in blocks(4 * STINT_BLOCKS, {(3, 3): 0.5, (4, 4): 0.5})]
    for begin in range(0, len(boards), STINT_BLOCKS):
        assert len(set(boards[begin : begin + STINT_BLOCKS])) == 1


def test_games_continue_at_the_next_turn_of_their_size() -> None:
    """A game's number is in blocks of one size only, and games do not begin anew with every stint."""
    found = blocks(6 * STINT_BLOCKS, {(7, 7): 0.5, (7, 6): 0.5})
    boards: dict[int, set[Board]] = {}
    for block in found:
        for number in block.samples.game.tolist():
            boards.setdefault(number, set()).add(block.board)
    assert all(len(of_game) == 1 for of_game in boards.values())
    stints = [found[begin : begin + STINT_BLOCKS] for begin in range(0, len(found), STINT_BLOCKS)]
    first, third = ({int(n) for block in stint for n in block.samples.game} for stint in (stints[0], stints[2]))
    assert stints[0][0].board == stints[2][0].board
    assert first & third


def test_seed_and_worker_decide_everything() -> None:
    def same(a: Samples, b: Samples) -> bool:
        return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))

    (first,), (again,) = blocks(1), blocks(1)
    assert same(first.samples, again.samples)
    for other in (blocks(1, seed=2), blocks(1, worker=1)):
        assert not same(first.samples._replace(game=other[0].samples.game), other[0].samples)


def test_numbers_of_games_are_unique_and_fit() -> None:
    numbers = [
        set(block.samples.game.tolist()) for w in (0, 1) for s in (1, 2) for block in blocks(1, seed=s, worker=w)
    ]
    assert len(set.union(*numbers)) == sum(map(len, numbers))
    assert first_game(MOST_SEEDS - 1, MOST_WORKERS - 1) < 2**63 - 2**32
