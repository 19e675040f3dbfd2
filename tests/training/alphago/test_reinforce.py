"""REINFORCE: the gradient's sign for both colours, playable moves, opponents, and runs that resume exactly."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from board_helpers import play_moves, point_to_action
from training.alphago.test_alphago_encoder import encode
from training.needs_torch import torch

from gtp_engine import ConfigError, Game, ModelError, parse_vertex
from gtp_engine.base.progress import ProgressBar
from gtp_engine.base.steps import never
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.training.alphago.planes import SENSIBLE
from gtp_engine.training.alphago.stages import reinforce
from gtp_engine.training.alphago.stages.game_positions import ExampleBatch
from gtp_engine.training.alphago.stages.game_records import read_shard, scored
from gtp_engine.training.alphago.stages.nets import NetShape, PolicyNet, new_net, read_policy, torch_player
from gtp_engine.training.alphago.stages.stage_settings import PolicyGameSettings, ReinforceSettings, StageRun
from gtp_engine.training.core.checkpoint import Checkpoint, read_checkpoint, write_checkpoint, write_values
from gtp_engine.training.core.devices import choose_machine
from gtp_engine.training.core.reporting import read_log, run_and_report

pytest.importorskip("matplotlib", reason="curves need matplotlib")

SHAPE = NetShape(3, 3, layers=3, channels=8)
SETTINGS = ReinforceSettings(
    iterations=3, games=8, pool_every=2, evaluate_every=3, evaluation_games=4, precision="float32", threads=1
)
GAME = PolicyGameSettings(komi=0.5, parallel_games=8)


def start(shape: NetShape = SHAPE, seed: int = 1) -> PolicyNet:
    return new_net(PolicyNet, shape, seed=seed)


def game_of(*vertices: str) -> Game:
    """Return a game with these moves and two passes behind them."""
    game = play_moves(Game(3, 3, komi=0.5), (*vertices, "pass", "pass"))
    assert game.is_over
    return game


def action_of(vertex: str) -> int:
    return point_to_action(parse_vertex(vertex, width=3, height=3), width=3, height=3)


def learned(
    run: reinforce.Reinforcement, learner: int, *games: Game
) -> tuple[torch.Tensor, torch.Tensor, ExampleBatch]:
    """Return log p of the learner's moves before and after one step, and the moves."""
    records = [scored(game, learner=learner) for game in games]
    (moves,) = reinforce.learner_moves(records)

    def chances() -> torch.Tensor:
        with torch.no_grad():
            return run.net(moves.planes).log_softmax(dim=1).gather(1, moves.actions[:, None]).squeeze(1)

    before = chances()
    run.learn(records)
    return before, chances(), moves


@pytest.mark.parametrize("learner", [BLACK, WHITE])
def test_moves_of_won_games_become_more_probable_and_those_of_lost_ones_less(tmp_path: Path, learner: int) -> None:
    """Black wins by a stone more, White by komi; either may be the learner."""
    run = reinforce.Reinforcement(start(), replace(SETTINGS, learning_rate=0.5), GAME, tmp_path)
    black_wins, white_wins = game_of("B2", "A1", "B1"), game_of("A1", "B2")
    before, after, moves = learned(run, learner, black_wins, white_wins)
    assert moves.outcomes.tolist() == ([1, 1, -1] if learner == BLACK else [-1, 1])
    assert torch.equal((after - before).sign(), moves.outcomes.sign())


def test_only_the_learners_stones_in_games_with_a_winner_count() -> None:
    unfinished = Game(3, 3)
    unfinished.play("A1")
    games = ((game_of("B2", "A1", "pass", "C1"), BLACK), (game_of("A1", "B2"), WHITE), (unfinished, BLACK))
    (moves,) = reinforce.learner_moves([scored(game, learner=learner) for game, learner in games])
    own = moves.planes[:, 0].sum(dim=(1, 2)).tolist()
    others = moves.planes[:, 1].sum(dim=(1, 2)).tolist()
    assert sorted(zip(own, others, strict=True)) == [(0, 0), (0, 1)]
    assert reinforce.learner_moves([scored(game_of(), learner=BLACK)]) == []


def test_the_gradient_is_that_of_the_policy_that_was_played() -> None:
    """Illegal moves have no gradient, and that of the other logits is advantage · (p − chosen)."""
    planes = torch.zeros(1, 48, 3, 3)
    planes[0, SENSIBLE].view(-1)[:4] = 1
    logits = torch.tensor([[0.0, 1.0, 2.0, 0.0, 9.0, 9.0, 9.0, 9.0, 9.0]], requires_grad=True)
    batch = ExampleBatch(planes, torch.tensor([1]), torch.tensor([0.5]), torch.zeros(1, 0))
    loss, entropy = reinforce.policy_gradient(logits, batch)
    odds = torch.softmax(torch.tensor([0.0, 1.0, 2.0, 0.0]), dim=0)
    assert float(loss.detach()) == pytest.approx(-0.5 * float(odds[1].log()))
    assert float(entropy.detach()) == pytest.approx(float(-(odds * odds.log()).sum()))
    (gradient,) = torch.autograd.grad(loss, logits)
    wanted = 0.5 * (odds - torch.tensor([0.0, 1.0, 0.0, 0.0]))
    assert gradient[0, :4].tolist() == pytest.approx(wanted.tolist(), abs=1e-6) and not gradient[0, 4:].any()


def test_examples_are_what_the_network_saw() -> None:
    """Positions are replayed in the orientation in which they were played: planes and moves are those of the game."""
    seen = set[bytes]()
    machine = choose_machine("cpu", "float32", threads=1)
    net = start().eval()
    player = torch_player(net, machine, "net")
    model: Any = player.models[0]
    inner = model.logits

    def record(planes: np.ndarray) -> np.ndarray:
        seen.update(row.tobytes() for row in planes)
        return inner(planes)

    model.logits = record
    settings, rng = PolicyGameSettings(komi=0.5, parallel_games=4), np.random.default_rng(1)
    batches = reinforce.learner_moves(reinforce.play_versus((player, player), (3, 3), settings, games=8, rng=rng))
    assert batches
    for batch in batches:
        for planes, action in zip(batch.planes.numpy(), batch.actions.tolist(), strict=True):
            assert planes.tobytes() in seen
            assert planes[SENSIBLE].reshape(-1)[action] == 1


def test_the_learner_has_each_colour_in_half_of_the_games() -> None:
    machine = choose_machine("cpu", "float32", threads=1)
    sure, other = start(), start(seed=2)
    for parameter in sure.parameters():
        torch.nn.init.zeros_(parameter)
    sure.point_bias.data[action_of("B2")] = 99.0
    players = torch_player(sure.eval(), machine, ""), torch_player(other.eval(), machine, "")
    settings, rng = PolicyGameSettings(komi=0.5, parallel_games=4), np.random.default_rng(1)
    games = reinforce.play_versus(players, (3, 3), settings, games=7, rng=rng)
    assert [game.learner for game in games] == [BLACK] * 4 + [WHITE] * 3
    centre = parse_vertex("B2", width=3, height=3)
    for game in games:
        first = int(np.flatnonzero(game.colors == game.learner)[0])
        taken = centre in game.points[:first]
        assert taken or game.points[first] in (centre, PASS)


def test_a_network_finds_the_winning_move(tmp_path: Path) -> None:
    """Black's centre wins on 3×3; after some games the network begins there."""
    settings = replace(SETTINGS, games=32, learning_rate=1.0, clip=9.0)
    run = reinforce.Reinforcement(start(), settings, PolicyGameSettings(komi=0.5, parallel_games=32), tmp_path)
    planes = torch.from_numpy(encode(Game(3, 3))[np.newaxis, :48])

    def centre() -> float:
        with torch.no_grad():
            return float(run.net(planes).softmax(dim=1)[0, action_of("B2")])

    before = centre()
    for _ in range(15):
        next(run.work())
        run.steps += 1
    assert before < 0.3 and centre() > 2 * before


def test_a_run_writes_its_files_and_resumes_exactly(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    supervised = tmp_path / "supervised"
    write_checkpoint(supervised, checkpoint_of(start()))
    answers = iter([False, True])
    with ProgressBar() as bar:
        reinforce.run_reinforcement(supervised, SETTINGS, GAME, StageRun(tmp_path / "a", bar))
        stopped = StageRun(tmp_path / "b", bar, lambda: next(answers))
        reinforce.run_reinforcement(supervised, SETTINGS, GAME, stopped)
        assert read_checkpoint(tmp_path / "b").steps == 1 and not (tmp_path / "b/policy.onnx").exists()
        (tmp_path / "b/pool/000002.pt").touch()  # of a step after that, whose process was killed
        reinforce.run_reinforcement(supervised, SETTINGS, GAME, StageRun(tmp_path / "b", bar))
    names = sorted(entry.relative_to(tmp_path / "a").as_posix() for entry in (tmp_path / "a").rglob("*.*"))
    assert names == [
        "checkpoint.pt", "curves.png",
        "experience/000000.npz", "experience/000001.npz", "experience/000002.npz",
        "log.jsonl", "policy.onnx", "pool/000000.pt", "pool/000002.pt",
    ]  # fmt: skip
    torch.testing.assert_close(*(read_policy(tmp_path / run).state_dict() for run in ("a", "b")), rtol=0, atol=0)
    log = read_log(tmp_path / "a" / "log.jsonl")
    assert [line["steps"] for line in log] == [1, 2, 3, 3] and log[-1]["kind"] == "validation"
    assert len(read_shard(tmp_path / "a" / "experience" / "000002.npz")) == 8
    assert "validation (against the first network) after 24 games: winrate" in capfd.readouterr().err
    with pytest.raises(ConfigError, match="games 8 there, 16 now"):
        reinforce.Reinforcement(start(), replace(SETTINGS, games=16), GAME, tmp_path / "a")


def test_an_error_ends_a_run_after_a_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version that could not be written joins the pool when the run resumes."""

    def full(path: Path, values: dict[str, Any], what: str) -> None:
        if path.stem != "000000":
            raise ModelError("no space left")
        write_values(path, values, what)

    with ProgressBar() as bar, monkeypatch.context() as patch:
        patch.setattr(reinforce, "write_values", full)
        with pytest.raises(ModelError, match="no space left"):
            run_and_report(reinforce.Reinforcement(start(), SETTINGS, GAME, tmp_path), bar, never)
    assert read_checkpoint(tmp_path).steps == 2
    resumed = reinforce.Reinforcement(start(), SETTINGS, GAME, tmp_path)
    assert resumed.run() and versions_in(tmp_path) == ["000000.pt", "000002.pt"]


def versions_in(run: Path) -> list[str]:
    return sorted(path.name for path in (run / "pool").iterdir())


def checkpoint_of(net: PolicyNet) -> Checkpoint:
    return Checkpoint("policy", asdict(net.shape), {}, net.state_dict(), {}, 0, 0, 0.0)


def test_opponents_are_versions_of_the_run_so_far(tmp_path: Path) -> None:
    """Those of a run that was killed before its first checkpoint may be stronger than the network that begins."""
    run, rng = reinforce.Reinforcement(start(), SETTINGS, GAME, tmp_path), np.random.default_rng(1)
    with pytest.raises(ModelError, match="no versions in"):
        run.load_opponent(rng)
    nets = {number: start(seed=2 + number) for number in (0, 2, 4)}
    for number, net in nets.items():
        write_values(tmp_path / "pool" / f"{number:06}.pt", net.state_dict(), "version")

    def opponents() -> set[int]:
        found = set()
        for _ in range(30):
            run.load_opponent(rng)
            weights = run._opponent.trunk.layers[0].weight
            found |= {number for number, net in nets.items() if torch.equal(weights, net.trunk.layers[0].weight)}
        return found

    assert opponents() == {0}
    run.steps = 3
    assert opponents() == {0, 2}
    (tmp_path / "pool" / "000000.pt").unlink()
    assert opponents() == {2}, "a damaged one, which was deleted as advised"
    (tmp_path / "pool" / "000002.pt").write_bytes(b"junk")
    with pytest.raises(ModelError, match=r"cannot read version .*000002.*; delete it"):
        run.load_opponent(rng)
