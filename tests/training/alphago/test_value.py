"""The value network: one position of each game, chosen as in the paper, and the right perspective for both colours."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from training.alphago.games import orderly_records, played
from training.alphago.test_reinforce import checkpoint_of, start
from training.needs_torch import torch

from gtp_engine import ConfigError, Evaluator, Game, load_evaluator
from gtp_engine.base.progress import ProgressBar
from gtp_engine.config.sections import NetworkConfig
from gtp_engine.evaluation.evaluator import Request
from gtp_engine.evaluation.from_game import write_game
from gtp_engine.evaluation.positions import new_evaluation, new_positions
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE
from gtp_engine.go.coords import board_points
from gtp_engine.training.alphago.stages.game_positions import GameStore, examples_of
from gtp_engine.training.alphago.stages.nets import NetShape, PolicyNet, ValueNet, export_net
from gtp_engine.training.alphago.stages.policy_players import policy_player
from gtp_engine.training.alphago.stages.stage_settings import PolicyGameSettings, StageRun, ValueLearning, ValueSettings
from gtp_engine.training.alphago.stages.value import (
    ValueRun,
    fill_games,
    read_folder,
    run_value,
    samples_of,
    value_games,
)
from gtp_engine.training.core.checkpoint import read_checkpoint, write_checkpoint
from gtp_engine.training.core.devices import choose_machine
from gtp_engine.training.core.reporting import read_log
from gtp_engine.training.nets.layers import NormLayer

pytest.importorskip("matplotlib", reason="curves need matplotlib")

MACHINE = choose_machine("cpu", "float32", threads=1)
GAME = PolicyGameSettings(komi=0.5, parallel_games=8)


def favourite(action: int, name: str) -> Evaluator:
    """Return a player that plays one point as soon as it may, and random moves otherwise."""

    def logits(planes: np.ndarray) -> np.ndarray:
        found = np.zeros((len(planes), 16), dtype=np.float32)
        found[:, action] = 50.0
        return found

    return policy_player(logits, name)


def blank(net: PolicyNet | ValueNet) -> None:
    """Set all weights to 0 and all norms to the identity."""
    for parameter in net.parameters():
        torch.nn.init.zeros_(parameter)
    for norm in net.trunk.norms:
        if isinstance(norm, NormLayer):
            torch.nn.init.ones_(norm.scale)
    net.eval()


def test_phases_of_a_game() -> None:
    """U − 1 moves of the first policy, a random move, then the second policy, by the positions that each evaluates."""
    seen: dict[str, set[int]] = {"first": set(), "second": set()}

    def player(name: str) -> Evaluator:
        def logits(planes: np.ndarray) -> np.ndarray:
            seen[name] |= set((planes[:, 0] + planes[:, 1]).sum(axis=(1, 2)).astype(int).tolist())
            return np.zeros((len(planes), 16), dtype=np.float32)

        return policy_player(logits, name)

    games = value_games(player("first"), player("second"), (4, 4), GAME, np.random.default_rng(1))
    found = list(islice(games, 60))
    assert 0 in seen["first"] and 0 not in seen["second"]
    assert len({game.moment for game in found}) > 8
    for game in found:
        assert 1 <= game.moment <= 16 and len(game.points) > game.moment
        assert game.points[game.moment - 1] != PASS and game.winner in (BLACK, WHITE)


def test_samples_have_the_perspective_of_the_side_to_move_after_a_random_move() -> None:
    """Both policies always play their favourite point; only the random move varies."""
    player = favourite(5, "favourite")
    games = list(islice(value_games(player, player, (4, 4), GAME, np.random.default_rng(1)), 200))
    assert len({game.points[0] for game in games if game.moment == 1}) > 3
    games[0] = replace(games[0], winner=EMPTY)
    store, numbers = samples_of(games)
    colors = store.moves.colors[numbers].tolist()
    assert {BLACK, WHITE} == set(colors)
    for game, color, outcome in zip(games, colors, store.outcomes(numbers), strict=True):
        assert played(game, game.moment).to_play == color
        assert outcome == {color: 1, EMPTY: 0}.get(game.winner, -1)


def test_a_folder_is_filled_with_games(tmp_path: Path) -> None:
    players = favourite(5, "favourite"), favourite(5, "favourite")

    def fill(games: int, stop: bool = False, terms: PolicyGameSettings = GAME) -> int:
        with ProgressBar() as bar:
            run = StageRun(tmp_path, bar, lambda: stop)
            return len(fill_games(run, games, players, (4, 4), terms, seed=1))

    assert (fill(5), fill(9), fill(4), fill(20, stop=True)) == (5, 9, 4, 9)
    assert sorted(path.name for path in (tmp_path / "games").iterdir()) == ["1-00000.npz", "2-00000.npz"]
    names = [game.name for game in read_folder(tmp_path / "games")]
    assert len(set(names)) == 9 and names[5] == "2-00000-0"
    for changes, wanted in (({"komi": 7.5}, "chinese rules and komi 7.5"), ({"rules": "nz"}, "nz rules and komi 0.5")):
        message = f"have chinese rules and komi 0.5: expected {wanted}; give the settings that they were played with"
        with pytest.raises(ConfigError, match=message):
            fill(9, terms=replace(GAME, **changes))


@pytest.mark.parametrize("rules", ["japanese", "aga-button"])
def test_rules_whose_games_cannot_be_learned_from_are_no_choice(rules: str) -> None:
    """Of a game with a button, which the value network found out after all of them had been played."""
    with pytest.raises(ConfigError, match=rf"games\.rules = '{rules}': expected .*chinese"):
        PolicyGameSettings(rules=rules)


def test_the_exported_networks_have_the_right_perspective_in_the_engine(tmp_path: Path) -> None:
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
        evaluator.evaluate(Request(positions, 1, out))
        assert out.win_black[0] - out.loss_black[0] == pytest.approx(np.tanh(0.5 * ahead), abs=1e-5)
        own = [p for p in board_points(5, 5) if game.board.color[p] == game.to_play]
        if own:
            best = int(out.policy[0].argmax())
            assert best - 1 in own, "the move beside an own stone, whichever colour plays"
        if vertex is not None:
            game.play(vertex)
    evaluator.close()


def test_the_value_network_receives_the_colour_to_move() -> None:
    shape = NetShape(5, 5, layers=2, channels=1, hidden=1)
    value = ValueNet(shape)
    blank(value)
    with torch.no_grad():
        value.trunk.layers[0].weight[0, 48, 2, 2] = 1.0
        value.to_points.weight.fill_(1.0)
        value.to_hidden.weight.fill_(1 / 25)
        value.to_value.weight.fill_(2.0)
        value.to_value.bias.fill_(-1.0)
    store = GameStore(orderly_records(1))
    with torch.no_grad():
        (examples,) = examples_of((store, store.stones()), for_value=True)
        values = value(examples.planes)[:, 0].numpy()
    assert values == pytest.approx(np.tanh([1.0, -1.0] * 6), abs=1e-6)


def test_a_run_writes_its_files_and_its_error_falls(tmp_path: Path) -> None:
    for name, seed in (("supervised", 1), ("reinforced", 2)):
        write_checkpoint(tmp_path / name, checkpoint_of(start(seed=seed)))
    learning = ValueLearning(
        samples=60 * 32, batch=32, learning_rate=0.03, threads=1, precision="float32", validations=4, log_steps=5
    )
    settings, out = ValueSettings(games=160, hidden=8, test_share=0.3), tmp_path / "value"
    game = replace(GAME, parallel_games=16)
    given = (tmp_path / "supervised", tmp_path / "reinforced"), settings, game, learning
    with ProgressBar() as bar:
        run_value(*given, StageRun(out, bar, lambda: True))
        assert not (out / "value.onnx").exists()
        run_value(*given, StageRun(out, bar))
    assert (out / "value.onnx").exists()
    log = read_log(out / "log.jsonl")
    training = [line["figures"]["error"] for line in log if line["kind"] == "step"]
    tested = [line["figures"]["test"] for line in log if line["kind"] == "validation"]
    assert training[-1] < 0.7 * training[0] and tested[-1]["error"] < 0.9 and tested[-1]["right winner"] > 0.6
    assert tested[-1]["owners' error"] < 0.9
    assert read_checkpoint(out).kind == "value"


def test_owners_have_their_weight_in_the_loss(tmp_path: Path) -> None:
    store = GameStore(orderly_records(4))
    positions = store, store.stones()
    examples = next(examples_of(positions, for_value=True))
    outputs = torch.full((len(positions[1]), 1 + 25), 0.5)
    for weight in (0.0, 2.0):
        net, settings = ValueNet(NetShape(5, 5, layers=2, channels=1)), ValueSettings(owners_weight=weight)
        loop = ValueRun(net, (positions, positions), settings, ValueLearning(samples=1), MACHINE, tmp_path)
        loss, error, of_owners, right = loop.measure(outputs, examples).tolist()
        assert error == pytest.approx(1.25) and right == pytest.approx(0.5), "half the positions are the winner's"
        wanted = ((0.5 - examples.owners) ** 2).mean().item()
        assert of_owners == pytest.approx(wanted) and loss == pytest.approx(error + weight * wanted)
        loop.average.module = lambda planes: torch.full((len(planes), 1 + 25), 0.5)
        named = zip(loop.tested_names, (loss, error, of_owners, right), strict=True)
        assert loop.validate()["test"] == pytest.approx(dict(named))
