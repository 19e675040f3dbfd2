"""Training of the linear rollout policy: multinomial logistic regression over the legal moves of recorded positions.

The loss is the cross-entropy of the moves played, with a normal prior on the weights.  The optimizer is AdaGrad (Duchi,
Hazan and Singer 2011), which suits sparse features, of which few are common and most are rare; a step takes all
positions of a few games.  One core is enough: a million positions take some seconds.

A run is a folder with `checkpoint.pt`, log, curves and, at the end, `rollout-policy.npz`.
"""

import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from gtp_engine.alphago.linear_policy import LinearPolicy, new_tables, write_linear_policy
from gtp_engine.alphago.linear_rollouts import new_linear_work
from gtp_engine.alphago.neighborhoods import diamond_images
from gtp_engine.alphago.stages.game_positions import GameStore
from gtp_engine.alphago.stages.game_records import RecordedGame, split_games
from gtp_engine.alphago.stages.rollout_gradient import (
    BEST,
    COUNTS,
    LOSS,
    POSITIONS,
    PROBABILITY,
    Floats,
    ReplayBuffers,
    add_games,
    diamonds_into,
)
from gtp_engine.alphago.stages.rollout_weights import WeightSpace, uniform_policy
from gtp_engine.alphago.stages.stage_run import StageRun
from gtp_engine.alphago.stages.stage_settings import RolloutSettings
from gtp_engine.errors import ModelError, counted
from gtp_engine.files import writing
from gtp_engine.go.board import clone, new_board
from gtp_engine.nn.plug_ins import ROLLOUT_WEIGHTS
from gtp_engine.training.core.checkpoint import Checkpoint, has_checkpoint, read_checkpoint, write_checkpoint
from gtp_engine.training.core.learning import check_same, cosine_rate
from gtp_engine.training.core.loop import Figures, format_figures
from gtp_engine.training.core.reporting import CURVES_FILE, LOG_FILE, Curves, RunLog, figure_panels, read_log

KIND: Final = "rollout policy"
"""The kind of its checkpoints."""
NAME: Final = "linear rollout policy"
_LOG_STEPS: Final = 20
"""Steps between two lines of the log."""
_SAVE_SECONDS: Final = 300.0
_FIRST_SQUARE: Final = 1e-6
"""The initial sums of squares of AdaGrad, which bound the first step."""


class RolloutTrainer:
    """Trains on the games of `train` and validates on those of `test`.

    `steps`, `samples` and `seconds` are what has been done; `counts` are those of `rollout_gradient` since the last
    `take_figures`.
    """

    def __init__(
        self, train: GameStore, test: GameStore, settings: RolloutSettings, diamonds: NDArray[np.int64]
    ) -> None:
        self.settings: Final = settings
        self.space: Final = WeightSpace(diamonds)
        self.weights: Floats = np.zeros(self.space.size)
        self.squares: Floats = np.full(self.space.size, _FIRST_SQUARE)
        self.steps = self.samples = 0
        self.seconds = 0.0
        self.counts: Floats = np.zeros(COUNTS)
        self._train: Final = train
        self._test: Final = test
        self._buffers: Final = new_replay_buffers(train, diamonds)
        self._steps_per_epoch: Final = -(-len(train.games) // settings.games_per_step)

    @property
    def fraction(self) -> float:
        """The part of the run that is done, 0 to 1."""
        return self.steps / (self.settings.epochs * self._steps_per_epoch)

    @property
    def is_epoch(self) -> bool:
        """Whether an epoch has just ended."""
        return self.steps % self._steps_per_epoch == 0

    def step(self) -> None:
        """Do one step."""
        settings = self.settings
        epoch, place = divmod(self.steps, self._steps_per_epoch)
        order = np.random.default_rng((settings.seed, epoch)).permutation(len(self._train.games))
        gradient = self.space.empty_gradient()
        games = order[place * settings.games_per_step : (place + 1) * settings.games_per_step]
        add_games(self._train.moves, games, self.space.scores(self.weights), gradient, self._buffers)
        positions = max(1.0, gradient.counts[POSITIONS])
        slope = self.space.gradient(gradient) / positions
        slope += settings.prior / len(self._train.moves.points) * self.weights
        self.squares += slope * slope
        rate = cosine_rate(self.fraction, highest=settings.learning_rate, warm_up=0.0, final=settings.final_rate)
        self.weights -= rate * slope / np.sqrt(self.squares)
        self.steps += 1
        self.samples += int(gradient.counts[POSITIONS])
        self.counts += gradient.counts

    def take_figures(self) -> Figures:
        """Return the figures of the steps since the last call, on the positions of each step before it."""
        figures = _figures(self.counts)
        self.counts[:] = 0.0
        return figures

    def validate(self) -> Figures:
        """Return the figures on the test games."""
        gradient, games = self.space.empty_gradient(), np.arange(len(self._test.games))
        add_games(self._test.moves, games, self.space.scores(self.weights), gradient, self._buffers)
        return _figures(gradient.counts)

    def policy(self) -> LinearPolicy:
        """Return the policy with the current weights."""
        return self.space.policy(self.weights)


def run_rollout_policy(games: list[RecordedGame], settings: RolloutSettings, run: StageRun) -> Path | None:
    """Train until the end, or until the run is stopped; return the policy's file, None if the run is not done."""
    train, test = split_stores(games, settings.test_share)
    trainer = _begin(train, test, settings, run.out)
    run.bar.log(
        f"{trainer.space.size:,} weights, {len(trainer.space.diamonds):,} diamonds; "
        f"{counted(len(train.games), 'game')} to train on, {len(test.games):,} to test on"
    )
    curves = Curves(run.out / CURVES_FILE, run.bar.log)
    with RunLog(run.out, after=trainer.steps) as log:
        saved = time.monotonic()
        while trainer.fraction < 1 and not run.is_stopped():
            _advance(trainer, log, run, curves)
            if time.monotonic() - saved > _SAVE_SECONDS:
                _save(trainer, train, run.out)
                saved = time.monotonic()
    _save(trainer, train, run.out)
    if trainer.fraction < 1:
        return None
    origin = f"trained by Tengen on {trainer.samples:,} samples of moves of recorded games"
    policy = replace(trainer.policy(), name=run.name or NAME, origin=origin, license=run.terms)
    with writing(run.out / ROLLOUT_WEIGHTS, ModelError, "rollout policy"):
        write_linear_policy(run.out / ROLLOUT_WEIGHTS, policy)
    run.bar.log(f"Written: {run.out / ROLLOUT_WEIGHTS}")
    return run.out / ROLLOUT_WEIGHTS


def split_stores(games: list[RecordedGame], test_share: float) -> tuple[GameStore, GameStore]:
    """Return the training games and the test games; raises RecordsError if either part is empty."""
    train, test = split_games(games, test_share)
    return GameStore(train), GameStore(test)


def new_replay_buffers(store: GameStore, diamonds: NDArray[np.int64]) -> ReplayBuffers:
    """Return work arrays for the games of a store, with a uniform policy that has these diamonds."""
    empty = new_board(store.width, store.height)
    n = empty.color.size
    linear = new_linear_work(new_tables(uniform_policy(diamonds)), store.width, store.height)
    return ReplayBuffers(empty, clone(empty), linear, np.zeros(n), np.zeros(n, dtype=np.int32))


def common_diamonds(store: GameStore, least_count: int) -> NDArray[np.int64]:
    """Return the diamonds that occur at least so often in the games, each in its smallest orientation, sorted."""
    found = np.zeros(len(store.moves.points), dtype=np.int64)
    diamonds_into(store.moves, new_replay_buffers(store, np.zeros(0, dtype=np.int64)), found)
    codes, counts = np.unique(found[found >= 0], return_counts=True)
    smallest, numbers = np.unique(diamond_images(codes).min(axis=0), return_inverse=True)
    common: NDArray[np.int64] = smallest[np.bincount(numbers, weights=counts) >= least_count]
    return common


def _advance(trainer: RolloutTrainer, log: RunLog, run: StageRun, curves: Curves) -> None:
    """Do a step and report it; at the end of an epoch, validate and draw the curves."""
    started = time.monotonic()
    trainer.step()
    validation = trainer.validate() if trainer.is_epoch else None
    trainer.seconds += time.monotonic() - started
    place = {"steps": trainer.steps, "samples": trainer.samples, "seconds": trainer.seconds}
    if trainer.steps % _LOG_STEPS == 0 or trainer.is_epoch:
        figures = trainer.take_figures()
        log.write({"kind": "step", **place, "figures": figures})
        run.bar.update(trainer.fraction, f"{trainer.samples:,} samples, {format_figures(figures)}")
    if validation is not None:
        log.write({"kind": "validation", **place, "figures": {"test": validation}})
        run.bar.log(f"test after {trainer.samples:,} samples: {format_figures(validation)}")
        curves.draw(figure_panels(read_log(run.out / LOG_FILE)))


def _begin(train: GameStore, test: GameStore, settings: RolloutSettings, out: Path) -> RolloutTrainer:
    """Return a trainer, resumed if `out` has a checkpoint; raises ConfigError if that has other settings."""
    if not has_checkpoint(out):
        return RolloutTrainer(train, test, settings, common_diamonds(train, settings.least_count))
    checkpoint = read_checkpoint(out)
    checkpoint.check_kind(KIND)
    check_same(checkpoint.settings, _settings(settings, train))
    trainer = RolloutTrainer(train, test, settings, checkpoint.state["diamonds"].numpy())
    trainer.weights = checkpoint.weights["weights"].numpy()
    trainer.squares, trainer.counts = (checkpoint.state[name].numpy() for name in ("squares", "counts"))
    trainer.steps, trainer.samples, trainer.seconds = checkpoint.steps, checkpoint.samples, checkpoint.seconds
    return trainer


def _save(trainer: RolloutTrainer, train: GameStore, out: Path) -> None:
    """Write the checkpoint."""
    state = {"diamonds": trainer.space.diamonds, "squares": trainer.squares, "counts": trainer.counts}
    checkpoint = Checkpoint(
        kind=KIND,
        network={},
        settings=_settings(trainer.settings, train),
        weights={"weights": torch.from_numpy(trainer.weights)},
        state={name: torch.from_numpy(array) for name, array in state.items()},
        steps=trainer.steps,
        samples=trainer.samples,
        seconds=trainer.seconds,
    )
    write_checkpoint(out, checkpoint)


def _settings(settings: RolloutSettings, train: GameStore) -> dict[str, Any]:
    """Return what a resumed run must have in common with its beginning."""
    return asdict(settings) | {"stage": KIND, "training games": len(train.games)}


def _figures(counts: Floats) -> Figures:
    """Return the loss in nats, the share of moves played that the policy ranks first, and their mean probability."""
    positions = max(1.0, counts[POSITIONS])
    return {
        "loss": float(counts[LOSS] / positions),
        "top-1": float(counts[BEST] / positions),
        "probability": float(counts[PROBABILITY] / positions),
    }
