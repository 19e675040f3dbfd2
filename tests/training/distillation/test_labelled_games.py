"""Blocks of samples of a worker, board sizes in turn."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby, islice

import numpy as np
import pytest
from fake_evaluators import FakeEvaluator, evaluated, rows_of
from numpy.typing import NDArray

from gtp_engine import ConfigError, Game
from gtp_engine.evaluation.positions import Positions
from gtp_engine.go.constants import PASS
from gtp_engine.training.distillation import labelled_games
from gtp_engine.training.distillation.distillation_settings import MOST_SEEDS, MOST_WORKERS, GenerateSettings
from gtp_engine.training.distillation.shards import BoardSides, Samples, is_of_player
from gtp_engine.training.selfplay.policy_games import network_moves, search_moves


def blocks(count: int, sizes: str = "4=1", *, seed: int = 1, worker: int = 0) -> list[labelled_games.LabelledBlock]:
    settings = GenerateSettings(sizes=sizes, seed=seed, batch=3)
    return list(islice(labelled_games.play_blocks(FakeEvaluator(), settings, worker), count))


def test_shares_of_positions_follow_the_sizes() -> None:
    made: Counter[BoardSides] = Counter()
    for block in blocks(15 * labelled_games.STINT_BLOCKS, "4=.1,4x3=.3,3=.6"):
        made[block.board] += block.samples.count
    shares = [(board, round(count / made.total(), 1)) for board, count in made.items()]
    assert shares == [((3, 3), 0.6), ((4, 3), 0.3), ((4, 4), 0.1)], "the largest share comes first"


def test_stints_of_one_size_grow() -> None:
    boards = [block.board for block in blocks(6 * labelled_games.STINT_BLOCKS - 2, "3=1,4=1")]
    lengths = [len(list(stint)) for _, stint in groupby(boards)]
    assert lengths == [1, 1, 2, 2, 4, 4, 8, 8, 8, 8]


def test_games_continue_at_the_next_turn_of_their_size() -> None:
    """A game's number is in blocks of one size only, and games do not begin again with every stint."""
    found = blocks(6, "7=1,7x6=1")
    boards: dict[int, set[BoardSides]] = {}
    for block in found:
        for number in block.samples.game.tolist():
            boards.setdefault(number, set()).add(block.board)
    assert all(len(of_game) == 1 for of_game in boards.values())
    stints = [list(stint) for _, stint in groupby(found, key=lambda block: block.board)]
    first, third = ({int(n) for block in stint for n in block.samples.game} for stint in (stints[0], stints[2]))
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
    assert labelled_games.first_game(MOST_SEEDS - 1, MOST_WORKERS - 1) < 2**63 - 2**32


class TopLeft:
    """Plays the first free point."""

    def __call__(self, positions: Positions, rows: Sequence[int], games: Sequence[Game]) -> NDArray[np.floating]:
        policy = np.zeros((len(games), positions.forbidden.shape[1]))
        for row, game in enumerate(games):
            policy[row, min(game.legal_points(), default=PASS)] = 1.0
        return policy


def test_a_player_makes_the_moves_of_its_games_and_the_teacher_labels_them() -> None:
    settings = GenerateSettings(sizes="4=1", seed=11, batch=8, player_share=0.5)
    samples = next(labelled_games.play_blocks(FakeEvaluator(), settings, player=TopLeft())).samples
    flags = is_of_player(samples.game)
    assert 0 < flags.sum() < samples.count
    stones = np.unpackbits(samples.planes, axis=2)[:, 1:3].sum(axis=1)
    second = [i for i in range(samples.count) if stones[i].sum() == 1]
    assert {bool(stones[i, 0]) for i in second if flags[i]} == {True}
    assert {bool(stones[i, 0]) for i in second if not flags[i]} == {True, False}
    assert samples.policy[flags].max() < 1, "the labels are the teacher's"


def test_a_network_as_the_player() -> None:
    """Some rows of a batch, in another order, have the policies that they have in the whole batch."""
    games = [Game(4) for _ in range(4)]
    for row, game in enumerate(games):
        game.play(game.legal_points()[row])
    rows = [3, 1]
    found = network_moves(FakeEvaluator())(rows_of(games), rows, [games[row] for row in rows])
    np.testing.assert_array_equal(found, evaluated(FakeEvaluator(), *games).policy[rows])
    assert not np.array_equal(found[0], found[1])


def test_a_search_as_the_player() -> None:
    moves = search_moves(FakeEvaluator(), 12, seed=1)
    games = [Game(4), Game(4)]
    games[1].play("B2")
    found = moves(rows_of(games), [0, 1], games)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert (found > 0).sum(axis=1).min() > 1, "the moves that were visited"
    assert found[1, games[1].moves[0].point] == 0


@pytest.mark.parametrize("text", ["", "9", "9=", "9=-1", "1=1", "26=1", "9=1,9=2", "9=1;13=1", "9=0", "x9=1", "large"])
def test_sizes_that_make_no_sense(text: str) -> None:
    with pytest.raises(ConfigError, match=r"expected sizes from 2 to 25 .* or mixed or small"):
        labelled_games.parse_sizes(text)


def test_sizes_become_shares_and_the_mixed_ones_have_every_size_9_13_and_19_most_often() -> None:
    shares = labelled_games.parse_sizes("9=4, 13=2,19x13=.5,7=1.5,5=0")
    assert shares == {(9, 9): 0.5, (13, 13): 0.25, (19, 13): 0.0625, (7, 7): 0.1875}
    shares = labelled_games.parse_sizes("mixed")
    assert {(size, size) for size in range(7, 20)} <= shares.keys()
    assert {board for board, share in shares.items() if share > 0.1} == {(9, 9), (13, 13), (19, 19)}
    assert any(width != height for width, height in shares)
    assert all(
        sum(labelled_games.parse_sizes(name).values()) == pytest.approx(1) for name in labelled_games.SIZE_PRESETS
    )
