"""The value network: one position a game, made as the paper says, and the right perspective for both colours."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from board_helpers import game_from
from training.alphago.games import orderly_records
from training.alphago.test_reinforce import checkpoint_of, start
from training.needs_torch import torch

from gtp_engine.config.network import NetworkConfig
from gtp_engine.evaluation.evaluation import new_evaluation
from gtp_engine.evaluation.evaluator import DEFAULT_OPTIONS
from gtp_engine.evaluation.from_game import conditions_of, write_game
from gtp_engine.evaluation.positions import new_positions
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import board_points
from gtp_engine.go.game import Game
from gtp_engine.nn.linear_policy_file import write_linear_policy
from gtp_engine.nn.loading import load_evaluator
from gtp_engine.progress import ProgressBar
from gtp_engine.training.alphago.examples import examples_of
from gtp_engine.training.alphago.game_positions import Picks, Shelf
from gtp_engine.training.alphago.game_records import RecordsError, recorded
from gtp_engine.training.alphago.net_export import export_net
from gtp_engine.training.alphago.nets import NetShape, PolicyNet, ValueNet
from gtp_engine.training.alphago.policy_rows import PolicyRows
from gtp_engine.training.alphago.rollout_weights import indifferent_policy
from gtp_engine.training.alphago.stage_settings import StageLearning
from gtp_engine.training.alphago.torch_games import GameSettings
from gtp_engine.training.alphago.value import ValueRun, ValueTask, run_value, sampled, split_episodes, values_of
from gtp_engine.training.alphago.value_comparison import (
    compare,
    compare_run,
    draw_stages,
    format_stages,
    kernel_judge,
    network_judge,
    policy_judge,
    turning_judge,
)
from gtp_engine.training.alphago.value_games import fill_folder, read_folder, value_games
from gtp_engine.training.core.checkpoint import read_checkpoint, write_checkpoint
from gtp_engine.training.core.run_log import read_log
from gtp_engine.training.core.stopping import never
from gtp_engine.training.nets.layers import NormLayer

pytest.importorskip("matplotlib", reason="curves need matplotlib")

GAME = GameSettings(komi=0.5, batch=8)


def favourite(action: int, name: str) -> PolicyRows:
    """Return a player that takes one point as soon as it may, and else any."""

    def logits(planes: np.ndarray) -> np.ndarray:
        found = np.zeros((len(planes), 16), dtype=np.float32)
        found[:, action] = 50.0
        return found

    return PolicyRows(logits, name)


def blank(net: PolicyNet | ValueNet) -> None:
    """Make all weights 0, and norms do nothing."""
    for parameter in net.parameters():
        torch.nn.init.zeros_(parameter)
    for norm in net.trunk.norms:
        if isinstance(norm, NormLayer):
            torch.nn.init.ones_(norm.scale)
    net.eval()


def test_phases_of_a_game() -> None:
    """U − 1 moves by the one policy, a random move, then the other policy: seen by whom each move was asked of."""
    asked: dict[str, set[int]] = {"first": set(), "second": set()}

    def player(name: str) -> PolicyRows:
        def logits(planes: np.ndarray) -> np.ndarray:
            asked[name] |= set((planes[:, 0] + planes[:, 1]).sum(axis=(1, 2)).astype(int).tolist())
            return np.zeros((len(planes), 16), dtype=np.float32)

        return PolicyRows(logits, name)

    games = value_games(player("first"), player("second"), (4, 4), GAME, np.random.default_rng(1))
    episodes = list(islice(games, 60))
    assert 0 in asked["first"] and 0 not in asked["second"]
    assert len({episode.moment for episode in episodes}) > 8
    for episode in episodes:
        assert 1 <= episode.moment <= 16 and len(episode.game.points) > episode.moment
        assert episode.game.points[episode.moment - 1] != PASS and episode.game.winner in (BLACK, WHITE)


def test_the_move_before_the_sample_is_random() -> None:
    """Both policies would take their favourite point; the games differ all the same, by one move."""
    player = favourite(5, "favourite")
    games = value_games(player, player, (4, 4), GAME, np.random.default_rng(1))
    first = [episode.game.points[0] for episode in islice(games, 200) if episode.moment == 1]
    assert len(set(first)) > 3


def test_samples_are_seen_by_who_plays_next() -> None:
    player = favourite(5, "favourite")
    episodes = list(islice(value_games(player, player, (4, 4), GAME, np.random.default_rng(1)), 30))
    shelf, picks = sampled(episodes)
    assert {BLACK, WHITE} == set(picks.to_play.tolist())
    for episode, count, color, outcome in zip(
        episodes, picks.counts, picks.to_play, shelf.outcomes(picks), strict=True
    ):
        assert episode.game.game(int(count)).to_play == color
        assert outcome == (1 if episode.game.winner == color else -1)


def test_a_folder_of_games_is_filled_up(tmp_path: Path) -> None:
    player = favourite(5, "favourite")

    def fill(games: int, stop: bool = False) -> int:
        with ProgressBar() as bar:
            found = fill_folder(
                tmp_path,
                games,
                lambda rng: value_games(player, player, (4, 4), GAME, rng),
                seed=1,
                bar=bar,
                is_stopped=lambda: stop,
            )
        return len(found)

    assert (fill(5), fill(9), fill(4), fill(20, stop=True)) == (5, 9, 4, 9)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1-00000.npz", "2-00000.npz"]
    names = [episode.game.name for episode in read_folder(tmp_path)]
    assert len(set(names)) == 9 and names[5] == "2-00000-0"


def test_the_file_speaks_for_the_right_side_in_the_engine(tmp_path: Path) -> None:
    """A network that counts own stones less the opponent's, and a policy that plays right of an own stone."""
    shape = NetShape(5, 5, layers=2, channels=2, hidden=1)
    value, policy = ValueNet(shape), PolicyNet(shape)
    blank(value)
    blank(policy)
    with torch.no_grad():
        value.trunk.layers[0].weight[0, 0, 2, 2] = value.trunk.layers[0].weight[1, 1, 2, 2] = 1.0
        value.to_points.weight.view(-1).copy_(torch.tensor([1.0, -1.0]))
        value.to_points.bias.fill_(1.0)
        value.to_hidden.weight.fill_(1.0)
        value.to_value.weight.fill_(0.5)
        value.to_value.bias.fill_(-0.5 * 25)
        policy.trunk.layers[0].weight[0, 0, 2, 1] = 9.0
        policy.to_logits.weight[0, 0] = 1.0
    for net in (value, policy):
        export_net(net, tmp_path / f"{net.KIND}.onnx", name=net.KIND, origin="made by a test", terms="")
    config = NetworkConfig(model=str(tmp_path), provider="cpu", precision="float32", symmetry="none")
    evaluator = load_evaluator(config, log=lambda _: None, board=(5, 5))
    positions, out = new_positions(1, 5, 5), new_evaluation(1, 5, 5)
    game = Game(5, 5)
    black_ahead = [0, 1, 0, 1, 1, 2]  # stones
    for ahead, vertex in zip(black_ahead, ("B2", "D4", "B4", "pass", "C5", None), strict=True):
        write_game(positions, 0, game)
        evaluator.evaluate(positions, 1, conditions_of(game), out, DEFAULT_OPTIONS)
        assert out.win_black[0] - out.loss_black[0] == pytest.approx(np.tanh(0.5 * ahead), abs=1e-5)
        own = [p for p in board_points(5, 5) if game.board.color[p] == game.to_play]
        if own:
            best = int(out.policy[0].argmax())
            assert best - 1 in own, "the move beside an own stone, whichever colour plays"
        if vertex is not None:
            game.play(vertex)
    evaluator.close()


def test_colour_is_told_to_the_value_network() -> None:
    shape = NetShape(5, 5, layers=2, channels=1, hidden=1)
    value = ValueNet(shape)
    blank(value)
    with torch.no_grad():
        value.trunk.layers[0].weight[0, 48, 2, 2] = 1.0
        value.to_points.weight.fill_(1.0)
        value.to_hidden.weight.fill_(1 / 25)
        value.to_value.weight.fill_(2.0)
        value.to_value.bias.fill_(-1.0)
    shelf = Shelf(orderly_records(1))
    with torch.no_grad():
        values = values_of(shelf, shelf.move_picks(), value)
    assert values == pytest.approx(np.tanh([1.0, -1.0] * 6), abs=1e-6)


def test_a_run_leaves_all_it_should_and_its_error_falls(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name, seed in (("supervised", 1), ("reinforced", 2)):
        write_checkpoint(tmp_path / name, checkpoint_of(start(seed=seed)))
    learning = StageLearning(
        samples=60 * 32, batch=32, learning_rate=0.03, threads=1, precision="float32", validations=4, log_steps=5
    )
    run = ValueRun(
        tmp_path / "supervised", tmp_path / "reinforced", tmp_path / "value", learning,
        games=160, game=replace(GAME, batch=16), hidden=8, test_share=0.3,
    )  # fmt: skip
    with ProgressBar() as bar:
        assert run_value(run, bar, lambda: True) is None
        path = run_value(run, bar, never)
    assert path is not None and path.name == "value.onnx" and path.exists()
    log = read_log(run.out / "log.jsonl")
    training = [line["figures"]["error"] for line in log if line["kind"] == "step"]
    tested = [line["figures"]["test"] for line in log if line["kind"] == "validation"]
    assert training[-1] < 0.7 * training[0] and tested[-1]["error"] < 0.9 and tested[-1]["right winner"] > 0.6
    assert tested[-1]["owners' error"] < 0.9
    assert read_checkpoint(run.out).kind == "value"
    write_linear_policy(tmp_path / "weights.npz", indifferent_policy(np.zeros(0, dtype=np.int64)))
    table = compare_run(run, rollouts=2, linear=tmp_path / "weights.npz").splitlines()
    judges = "value network | turned all ways | 2 rollouts of the policy network | 2 linear | 2 uniform | 2 tactical"
    assert table[0] == f"| moves | positions | {judges} |"
    assert all(0 < float(error) < 2.5 for error in table[-1].split("|")[3:-1])
    assert (run.out / "comparison.png").exists() and "1,000" not in capfd.readouterr().out


def test_owners_count_in_the_loss_as_much_as_they_are_to() -> None:
    shelf = Shelf(orderly_records(4))
    picks = shelf.move_picks()
    examples = next(examples_of(shelf, picks, for_value=True))
    answers = torch.full((len(picks.games), 1 + 25), 0.5)
    for weight in (0.0, 2.0):
        task = ValueTask(shelf, picks, weight)
        loss, error, of_owners, right = task.figures(answers, examples).tolist()
        assert error == pytest.approx(1.25) and right == pytest.approx(0.5), "half the positions are the winner's"
        wanted = ((0.5 - examples.owners) ** 2).mean().item()
        assert of_owners == pytest.approx(wanted) and loss == pytest.approx(error + weight * wanted)
        judged = task.validate(lambda planes: torch.full((len(planes), 1 + 25), 0.5))
        assert judged == pytest.approx(dict(zip(task.names, (loss, error, of_owners, right), strict=True)))


def test_games_of_which_none_are_left_to_test_on() -> None:
    with pytest.raises(RecordsError, match="0 games to learn from and 0 to test on"):
        split_episodes([], 0.5)


BOTH_LIVE = """
    . X . X O
    X X X X O
    O O O O O
    O . O O O
    O O O . O"""
"""Nobody has a move but into an own eye: every rollout ends as the board stands, which White wins."""


def test_rollouts_are_averaged_for_the_side_to_play() -> None:
    records = []
    for diagram in (BOTH_LIVE, BOTH_LIVE.translate(str.maketrans("XO", "OX"))):
        game = game_from(diagram)
        winner = game.score().winner
        game.play("pass")
        records.append(recorded(game, name="x", winner=winner))
    shelf = Shelf(records)
    assert shelf.winners.tolist() == [WHITE, BLACK]
    anybody = PolicyRows(lambda planes: np.zeros((len(planes), 25), dtype=np.float32), "anybody")
    for color, wanted in ((BLACK, [-1, 1]), (WHITE, [1, -1])):
        picks = Picks(np.arange(2), np.zeros(2, dtype=np.int64), np.full(2, color, dtype=np.int8))
        assert kernel_judge("uniform", 3, seed=1)(shelf, picks).tolist() == wanted
        assert policy_judge(anybody, 3, seed=1)(shelf, picks).tolist() == wanted
        assert shelf.outcomes(picks).tolist() == wanted


def test_a_network_that_looks_at_all_sides_is_averaged() -> None:
    """It says 1 where an own stone lies in the lower left corner, and 0 elsewhere."""
    shelf = Shelf(orderly_records(3))
    picks = Picks(np.zeros(2, dtype=np.int64), np.array([1, 12]), np.array([BLACK, BLACK], dtype=np.int8))

    def answer(planes: torch.Tensor) -> torch.Tensor:
        return planes[:, :1, -1, 0].expand(-1, 26)

    game = shelf.games[0].game(12)
    own = sum(game.board.color[point] == BLACK for point in (board_points(5, 5)[i] for i in (0, 4, 20, 24)))
    assert 0 < own < 4
    assert turning_judge(answer)(shelf, picks)[1] == pytest.approx(own / 4)
    assert network_judge(answer)(shelf, picks)[1] == (game.board.color[board_points(5, 5)[20]] == BLACK)


def test_errors_are_told_by_stage(tmp_path: Path) -> None:
    shelf = Shelf(orderly_records(6))
    picks = shelf.move_picks()
    outcomes = shelf.outcomes(picks)
    judges = {
        "all-knowing": lambda shelf, picks: shelf.outcomes(picks),
        "doubtful": lambda shelf, picks: np.zeros(len(picks.games), dtype=np.float32),
        "knows openings": lambda shelf, picks: np.where(picks.counts < 6, outcomes, -outcomes),
    }
    first, second = compare(shelf, picks, judges, stages=2)
    assert (first.first, first.last, second.first, second.last) == (0, 5, 6, 11) and first.positions == 36
    assert first.errors == {"all-knowing": 0, "doubtful": 1, "knows openings": 0}
    assert second.errors == {"all-knowing": 0, "doubtful": 1, "knows openings": 4}
    table = format_stages([first, second]).splitlines()
    assert table[0] == "| moves | positions | all-knowing | doubtful | knows openings |"
    assert table[2] == "| 0–5 | 36 | 0.000 | 1.000 | 0.000 |" and table[4] == "| all | 72 | 0.000 | 1.000 | 2.000 |"
    draw_stages(tmp_path / "x.png", [first, second])
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
