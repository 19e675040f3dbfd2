"""Samples of evaluated positions: the side to move's view, the encoder's planes, actions in their order."""

import numpy as np
import pytest
from board_helpers import play_moves
from fake_evaluators import FakeEvaluator, UniformEvaluator, evaluated

from gtp_engine import Evaluator, Game, Rules
from gtp_engine.evaluation.evaluator import Request
from gtp_engine.evaluation.from_game import write_game
from gtp_engine.evaluation.positions import new_evaluation, new_positions
from gtp_engine.go.constants import BLACK, PASS
from gtp_engine.go.coords import point_to_xy
from gtp_engine.nn.encoders import KatagoV7Encoder
from gtp_engine.training.distillation.labelled_games import Labeller
from gtp_engine.training.distillation.shards import Samples
from gtp_engine.training.selfplay.policy_games import PolicyGames


class BlackLeads(FakeEvaluator):
    """Evaluates every position alike: Black wins with 70%, White with 20%, Black leads by 4 and owns the top row."""

    WIN, LOSS, SCORE, STDEV, LEAD, OWNERSHIP = 0.7, 0.2, 3.0, 9.0, 4.0, 0.5

    def __init__(self, width: int) -> None:
        super().__init__()
        self._width = width

    def evaluate(self, request: Request) -> None:
        super().evaluate(request)
        out = request.out
        out.win_black[:], out.loss_black[:] = self.WIN, self.LOSS
        out.score_black[:], out.score_stdev[:], out.lead_black[:] = self.SCORE, self.STDEV, self.LEAD
        top = (self._width + 1) + 1 + np.arange(self._width)
        out.ownership_black[:] = 0.0
        out.ownership_black[:, top] = self.OWNERSHIP


def label(game: Game, evaluator: Evaluator | None = None) -> Samples:
    positions, evaluation = (make(3, game.width, game.height) for make in (new_positions, new_evaluation))
    write_game(positions, 0, game)
    (evaluator or BlackLeads(game.width)).evaluate(Request(positions, 1, evaluation))
    return Labeller(game.width, game.height).label(positions, evaluation, [7], np.zeros_like(evaluation.policy))


@pytest.mark.parametrize(("moves", "value", "sign"), [([], [0.7, 0.2, 0.1], 1), (["C2"], [0.2, 0.7, 0.1], -1)])
def test_what_is_good_for_black_is_bad_for_white_to_move(moves: list[str], value: list[float], sign: int) -> None:
    game = play_moves(Game(5, 4), moves)
    samples = label(game)
    np.testing.assert_allclose(samples.value, [value], atol=1e-3)
    np.testing.assert_allclose(samples.score[:, :3], [[sign * 3.0, 9.0, sign * 4.0]])
    assert samples.ownership[0].tolist() == [sign * 64] * 5 + [0] * 15, "round(0.5 · 127), on the top row"


def test_the_policy_is_by_actions_with_the_pass_last() -> None:
    game = Game(5, 4)
    game.play("C2")
    evaluation = evaluated(BlackLeads(5), game)
    (policy,) = label(game).policy
    for point in game.legal_points():
        x, y = point_to_xy(point, width=5)
        assert policy[y * 5 + x] == pytest.approx(evaluation.policy[0, point], rel=1e-3)
    assert policy[-1] == pytest.approx(evaluation.policy[0, PASS], rel=1e-3)
    assert policy[2 * 5 + 2] == 0.0, "C2 is occupied"
    assert policy.sum(dtype=float) == pytest.approx(1.0, abs=1e-3)
    assert np.count_nonzero(policy) == len(game.legal_points()) + 1
    assert label(Game(3), UniformEvaluator()).value.tolist() == [[0.5, 0.5, 0.0]], "none is below zero"


@pytest.mark.parametrize("size", [(5, 5), (7, 4)])
def test_planes_are_what_the_encoder_writes_for_the_game_played_again(size: tuple[int, int]) -> None:
    games = PolicyGames(UniformEvaluator(), *size, numbers=range(4), batch=3, rng=np.random.default_rng(3))
    labeller, encoder = Labeller(*size), KatagoV7Encoder(*size)
    width, height = size
    row, identity = new_positions(1, *size), np.zeros(1, dtype=np.int32)
    black = 0
    while games.playing:
        games.evaluate()
        numbers = [played.number for played in games.playing]
        samples = labeller.label(games.positions, games.evaluation, numbers, games.optimistic)
        planes = np.unpackbits(samples.planes, axis=2, count=width * height)
        for i, played in enumerate(games.playing):
            again = play_moves(Game(*size, played.game.rules, played.game.komi), played.game.moves)
            write_game(row, 0, again)
            inputs = encoder.encode(row, range(1), identity)
            np.testing.assert_array_equal(planes[i].reshape(22, height, width), inputs.spatial[0])
            np.testing.assert_array_equal(samples.globals[i], inputs.globals_[0])
            black += again.to_play == BLACK
        assert samples.game.tolist() == numbers
        games.play()
    assert black > 20, "both sides were to move"


def test_samples_do_not_change_when_later_ones_are_built() -> None:
    positions, evaluation = new_positions(1, 5, 5), new_evaluation(1, 5, 5)
    labeller, game = Labeller(5, 5), Game(5, 5, Rules.parse("japanese"), 3.5)
    made = []
    for vertex in ("C3", "B2", "pass"):
        write_game(positions, 0, game)
        BlackLeads(5).evaluate(Request(positions, 1, evaluation))
        none = np.zeros_like(evaluation.policy)
        made.append((labeller.label(positions, evaluation, [0], none), label(game)))
        game.play(vertex)
    for samples, fresh in made:
        for array, expected in zip(samples[:-1], fresh[:-1], strict=True):
            np.testing.assert_array_equal(array, expected)
