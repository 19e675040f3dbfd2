"""Policy networks as players: their move probabilities, for either colour and in any orientation."""

import numpy as np
import pytest
from board_helpers import game_from
from fake_evaluators import evaluated
from training.alphago.games import random_game

from gtp_engine import Evaluator, Game, parse_vertex
from gtp_engine.evaluation.positions import Evaluation, FloatArray
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import board_points
from gtp_engine.training.alphago.stages.policy_players import SwitchedPlayer, policy_player, uniform_player


def next_to_opponents(planes: FloatArray) -> FloatArray:
    """Return logits that are highest on and beside the opponent's stones: they turn with the board."""
    stones = planes[:, 1]
    beside = np.zeros_like(stones)
    beside[:, 1:] += stones[:, :-1]
    beside[:, :-1] += stones[:, 1:]
    beside[:, :, 1:] += stones[:, :, :-1]
    beside[:, :, :-1] += stones[:, :, 1:]
    return (2 * beside + 9 * stones).reshape(len(planes), -1)


def ask(player: Evaluator, *games: Game) -> Evaluation:
    out = evaluated(player, *games)
    assert not any(np.isnan(array).any() for array in out)
    return out


def test_the_policy_is_a_softmax_over_playable_moves() -> None:
    """Ten games in ten orientations: the moves beside the opponent's stones stay beside them."""
    games = [random_game(seed, 5, 5, moves=14 + seed % 2) for seed in range(10)]
    out = ask(policy_player(next_to_opponents, "beside"), *games)
    for row, game in enumerate(games):
        weights = {}
        for point in game.legal_points():
            around = (point - 1, point + 1, point - 6, point + 6)
            weights[point] = np.exp(2.0 * sum(game.board.color[p] == 3 - game.to_play for p in around))
        found = {p: out.policy[row, p] for p in board_points(5, 5) if out.policy[row, p] > 0}
        assert found.keys() <= weights.keys(), "occupied points have high logits, and no odds"
        total = sum(weights[p] for p in found)
        for point, odds in found.items():
            assert odds == pytest.approx(weights[point] / total, rel=1e-4)
        assert out.win_black[row] == out.loss_black[row] == 0.5


EYES = """
    . X . X O
    X X X X O
    O O O O O
    O . O O O
    O O O . O"""


@pytest.mark.parametrize("color", [BLACK, WHITE])
def test_own_eyes_are_not_filled_and_a_player_without_another_move_passes(color: int) -> None:
    out = ask(policy_player(next_to_opponents, "beside"), game_from(EYES, first_player=color))
    assert out.policy[0, PASS] == 1 and out.policy[0].sum() == 1


def test_the_uniform_player_fills_eyes_but_kills_no_own_stones() -> None:
    out = ask(uniform_player(), game_from(EYES))
    vertices = [parse_vertex(text, width=5, height=5) for text in ("A5", "C5")]
    assert np.flatnonzero(out.policy[0]).tolist() == sorted(vertices)
    assert out.policy[0, vertices[0]] == pytest.approx(0.5)


def test_each_row_is_evaluated_by_its_own_player() -> None:
    games = [random_game(seed, 4, 4, moves=seed) for seed in range(5)]
    one = policy_player(lambda planes: np.zeros((len(planes), 16), dtype=np.float32), "one")
    two = policy_player(next_to_opponents, "two")
    by_color = SwitchedPlayer([one, two], lambda positions, count: positions.to_play[:count] - BLACK)
    assert by_color.info.name == "one and two"
    found, ones, twos = ask(by_color, *games), ask(one, *games), ask(two, *games)
    for row, game in enumerate(games):
        wanted = ones if game.to_play == BLACK else twos
        assert np.allclose(found.policy[row], wanted.policy[row])
    assert not np.allclose(ones.policy[1], twos.policy[1])
