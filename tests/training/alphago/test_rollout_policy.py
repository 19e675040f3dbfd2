"""Training the linear rollout policy: the gradient, the recovery of known weights, runs that resume."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from training.alphago.games import played, record, wild_game, write_records
from training.needs_torch import torch  # noqa: F401  # comes first: logs and curves of runs need it

from gtp_engine import ConfigError, Game, ModelError, Rules
from gtp_engine.base.progress import ProgressBar
from gtp_engine.cli import cli
from gtp_engine.go.board import new_board
from gtp_engine.go.constants import BLACK, EMPTY, NULL_POINT, WHITE
from gtp_engine.nn.plug_ins import ROLLOUT_WEIGHTS
from gtp_engine.search.rng import new_states
from gtp_engine.training.alphago.linear_policy import (
    LinearPolicy,
    local_scores,
    new_tables,
    pattern_scores,
    read_linear_policy,
)
from gtp_engine.training.alphago.linear_rollouts import begin_linear, new_linear_work, play_out_linear
from gtp_engine.training.alphago.stages.game_positions import GameStore
from gtp_engine.training.alphago.stages.game_records import RecordedGame, RecordsError, recorded
from gtp_engine.training.alphago.stages.rollout_gradient import LOSS, POSITIONS, ReplayBuffers, add_games
from gtp_engine.training.alphago.stages.rollout_policy import (
    NO_DIAMONDS,
    RolloutTrainer,
    WeightSpace,
    common_diamonds,
    new_replay_buffers,
    run_rollout_policy,
)
from gtp_engine.training.alphago.stages.stage_settings import RolloutSettings, StageRun
from gtp_engine.training.core.checkpoint import CHECKPOINT_FILE
from gtp_engine.training.core.reporting import read_log

pytest.importorskip("matplotlib", reason="curves need matplotlib")

SETTINGS = RolloutSettings(epochs=3, games_per_step=8, least_count=20, test_share=0.2)


def uniform_policy() -> LinearPolicy:
    space = WeightSpace(NO_DIAMONDS)
    return space.policy(np.zeros(space.size))


@cache
def planted_policy() -> LinearPolicy:
    """Return a policy that prefers moves near the last one, saving stones, and capturing neighbours of it."""
    near, urgent = np.array([[2.0, 1.0, -1.0], [2.0, 1.5, 0.0]], dtype=np.float32)
    return replace(uniform_policy(), near=near, urgent=urgent)


@cache
def planted_games(count: int = 250, size: int = 6) -> list[RecordedGame]:
    """Return games whose moves were drawn from that policy."""
    linear = new_linear_work(new_tables(planted_policy()), size, size, limit=1)
    rng, games = new_states(1, 11)[0], []
    for number in range(count):
        game, last = Game(size, size, Rules.parse("chinese")), NULL_POINT
        while len(game.moves) < 40:
            board, first_player = new_board(size, size), np.zeros(game.board.color.size, dtype=np.int8)
            board.storage[:], board.hash[:] = game.board.storage, game.board.hash
            play_out_linear(board, game.to_play, last, linear, rng, first_player)
            last = int(first_player.argmax())
            if last == NULL_POINT or game.illegal_reason(last, game.to_play) is not None:
                break  # a pass, or superko
            game.play(last)
        games.append(recorded(game, name=f"{number}.sgf", winner=BLACK if number % 2 else WHITE))
    return games


def loss(space: WeightSpace, weights: np.ndarray, store: GameStore, buffers: ReplayBuffers) -> float:
    gradient = space.empty_gradient(weights)
    add_games(store.moves, np.arange(len(store.games)), gradient, buffers)
    return float(gradient.counts[LOSS])


def test_the_gradient_is_that_of_the_loss() -> None:
    """In the directions of the features that matter most, and in random ones."""
    store, rng = GameStore([record(seed) for seed in range(6)]), np.random.default_rng(1)
    space = WeightSpace(common_diamonds(store, 2))
    assert len(space.diamonds) > 3
    weights = rng.normal(scale=0.5, size=space.size)
    gradient, buffers = space.empty_gradient(weights), new_replay_buffers(store, space)
    add_games(store.moves, np.arange(6), gradient, buffers)
    slope = space.gradient(gradient)
    directions = [np.eye(1, space.size, place).ravel() for place in np.argsort(-np.abs(slope))[:20]]
    directions += [np.sign(rng.normal(size=space.size)) for _ in range(3)]
    for direction in directions:
        step = 1e-5 * direction
        difference = loss(space, weights + step, store, buffers) - loss(space, weights - step, store, buffers)
        assert difference / 2e-5 == pytest.approx(slope @ direction, rel=1e-4, abs=1e-6)


def test_scores_in_training_are_those_of_the_policy_that_is_written() -> None:
    store, rng = GameStore([record(seed) for seed in range(6)]), np.random.default_rng(2)
    space = WeightSpace(common_diamonds(store, 2))
    weights = rng.normal(scale=0.5, size=space.size).astype(np.float32).astype(np.float64)
    gradient, policy = space.empty_gradient(weights), space.policy(weights)
    kinds, scores = gradient.kinds[0], gradient.scores
    codes = np.flatnonzero(kinds)
    # A comparison with pytest.approx takes seconds for so many patterns.
    np.testing.assert_allclose(pattern_scores(policy, codes), scores[kinds[codes]], rtol=0, atol=1e-5)
    np.testing.assert_allclose(local_scores(policy), scores[gradient.first_local :], rtol=0, atol=1e-5)


def test_a_known_policy_is_recovered(tmp_path: Path) -> None:
    """The policy trained on its games predicts more of its games as well as it does itself."""
    games = planted_games()
    train, test = GameStore(games[50:]), GameStore(games[:50])
    trainer = RolloutTrainer(train, test, replace(SETTINGS, least_count=1 << 30), tmp_path)
    truth, planted = np.zeros(trainer.space.size), planted_policy()
    handcrafted = trainer.space.parts(truth)[2]
    handcrafted[:] = *planted.urgent, *planted.near
    before, positions = trainer.validate()["test"], sum(len(game.points) for game in games[:50])
    least = loss(trainer.space, truth, test, new_replay_buffers(test, trainer.space)) / positions
    trainer.run()
    after, found = trainer.validate()["test"], trainer.space.policy(trainer.vector)
    assert before["loss"] > least + 0.3
    assert after["loss"] == pytest.approx(least, abs=0.1)
    assert after["top-1"] > before["top-1"] + 0.1
    assert after["probability"] > before["probability"] + 0.05
    assert found.near[0] > found.near[1] + 0.3 > found.near[2] + 1
    assert min(found.urgent[:2]) > 1


@pytest.mark.parametrize("rules", ["chinese", "new-zealand"])
def test_unusual_games_can_be_replayed(rules: str) -> None:
    """Set-up stones, several moves of a colour, filled eyes, suicide: the incremental state stays right to the end."""
    games = [recorded(wild_game(seed, rules), name=f"{seed}", winner=EMPTY) for seed in range(30)]
    store = GameStore(games)
    space = WeightSpace(NO_DIAMONDS)
    buffers, gradient = new_replay_buffers(store, space), space.empty_gradient(np.zeros(space.size))
    fresh = new_linear_work(new_tables(uniform_policy()), store.width, store.height)
    for number, game in enumerate(games):
        add_games(store.moves, np.array([number]), gradient, buffers)
        assert np.array_equal(buffers.board.color, played(game, len(game.points)).board.color)
        begin_linear(buffers.board, fresh)
        assert np.array_equal(buffers.linear.weight, fresh.weight)
    assert gradient.counts[POSITIONS] > 100
    assert np.isfinite(gradient.counts).all()


def test_both_colours_learn_the_same() -> None:
    """A game and its twin with the colours exchanged have the same gradient."""
    game = record(3)
    twin = replace(game, colors=(3 - game.colors).astype(np.int8), first_player=WHITE)
    space, slopes = WeightSpace(NO_DIAMONDS), []
    for each in (game, twin):
        store, gradient = GameStore([each]), space.empty_gradient(np.zeros(space.size))
        add_games(store.moves, np.array([0]), gradient, new_replay_buffers(store, space))
        slopes.append(space.gradient(gradient))
    np.testing.assert_allclose(*slopes, rtol=5e-7, atol=5e-13)
    assert np.abs(slopes[0]).max() > 0.5


def test_an_interrupted_run_resumes_exactly(tmp_path: Path) -> None:
    games, answers, cut = planted_games()[:60], iter([False] * 7 + [True]), tmp_path / "cut"
    with ProgressBar() as bar:
        run_rollout_policy(games, SETTINGS, StageRun(tmp_path / "whole", bar, name="n", terms="CC0-1.0"))
        run_rollout_policy(games, SETTINGS, StageRun(cut, bar, lambda: next(answers)))
        assert not (cut / ROLLOUT_WEIGHTS).exists()
        run_rollout_policy(games, SETTINGS, StageRun(cut, bar))
    one, other = (read_linear_policy(folder / ROLLOUT_WEIGHTS) for folder in (tmp_path / "whole", cut))
    assert (one.name, one.license) == ("n", "CC0-1.0")
    assert "samples of moves of recorded games" in one.origin
    assert np.array_equal(one.pattern_weights, other.pattern_weights)
    assert np.array_equal(one.diamond_weights, other.diamond_weights)
    logs = [
        [(line["steps"], line["figures"]) for line in read_log(folder / "log.jsonl") if line["kind"] == "validation"]
        for folder in (tmp_path / "whole", cut)
    ]
    assert logs[0] == logs[1] and len(logs[0]) == SETTINGS.epochs
    assert (cut / "curves.png").stat().st_size > 1000


def test_a_policy_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """It ended in a traceback; the checkpoint is there, and the same command writes it later."""
    (tmp_path / ROLLOUT_WEIGHTS).mkdir()
    message = r"cannot write rollout policy '.*\.npz': Is a directory; make room there, or name another folder"
    with ProgressBar() as bar, pytest.raises(ModelError, match=message):
        run_rollout_policy(planted_games()[:60], replace(SETTINGS, epochs=1), StageRun(tmp_path, bar))
    assert (tmp_path / CHECKPOINT_FILE).exists()


def test_a_run_resumes_with_its_own_settings_only(tmp_path: Path) -> None:
    games = planted_games()[:60]
    with ProgressBar() as bar:
        run_rollout_policy(games, SETTINGS, StageRun(tmp_path, bar, lambda: True))
        with pytest.raises(ConfigError, match=r"other settings \(prior"):
            run_rollout_policy(games, replace(SETTINGS, prior=3.0), StageRun(tmp_path, bar))
        with pytest.raises(ConfigError, match=r"other settings \(training games"):
            run_rollout_policy(games[:50], SETTINGS, StageRun(tmp_path, bar))
        (tmp_path / CHECKPOINT_FILE).write_bytes((tmp_path / CHECKPOINT_FILE).read_bytes()[:100])
        with pytest.raises(ModelError, match=r"checkpoint\.pt' is damaged or none"):
            run_rollout_policy(games, SETTINGS, StageRun(tmp_path, bar))
    with pytest.raises(ConfigError, match=r"rollout\.epochs = 0: expected an integer of at least 1"):
        RolloutSettings(epochs=0)
    with ProgressBar() as bar, pytest.raises(RecordsError, match="expected some of both"):
        run_rollout_policy(games[:1], SETTINGS, StageRun(tmp_path, bar))


def test_the_command_trains(tmp_path: Path) -> None:
    records, out = write_records(tmp_path / "records", 40), tmp_path / "run"
    command = ["alphago", "rollout-policy", str(records), str(out), "--epochs=1", "--test-share=0.3"]
    found = CliRunner().invoke(cli, [*command, "--name=tiny"])
    assert found.exit_code == 0 and "validation (test) after" in found.stderr
    assert read_linear_policy(tmp_path / "run" / ROLLOUT_WEIGHTS).name == "tiny"
    refused = CliRunner().invoke(cli, [*command, "--prior=2"])
    assert refused.exit_code == 2
    assert refused.stderr.splitlines()[-1].startswith("Error: the run there has other settings (prior 1.0 there")
