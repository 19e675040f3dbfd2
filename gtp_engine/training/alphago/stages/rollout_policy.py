"""Training of the linear rollout policy: multinomial logistic regression over the legal moves of recorded positions.

The loss is the cross-entropy of the moves played, with a normal prior on the weights.  The optimizer is AdaGrad (Duchi,
Hazan and Singer 2011), which suits sparse features, of which few are common and most are rare; a step takes all
positions of a few games.  One core is enough: a million positions take some seconds.

The weights are one vector (`WeightSpace`):

    S weights of patterns with liberties, Q of plain patterns, FIRST_DIAMOND of moves that save or kill,
    three of distance, DIAMOND_SIZE for each diamond of the list

A pattern is identified by the smallest code of its eight orientations.

A run is a folder with `checkpoint.pt`, log, curves and, at the end, `rollout-policy.npz`.
"""

import time
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from gtp_engine.base.errors import ModelError, counted
from gtp_engine.base.files import writing
from gtp_engine.base.steps import check_same
from gtp_engine.go.board import IntArray, clone, new_board
from gtp_engine.nn.plug_ins import ROLLOUT_WEIGHTS
from gtp_engine.training.alphago.linear_policy import (
    REACHES,
    LinearPolicy,
    least_places,
    new_tables,
    write_linear_policy,
)
from gtp_engine.training.alphago.linear_rollouts import (
    FIRST_DIAMOND,
    NAKADE,
    SAVE_BY_CAPTURE,
    SAVE_BY_ESCAPE,
    new_linear_work,
)
from gtp_engine.training.alphago.neighborhoods import (
    DIAMOND_SIZE,
    PATTERNS,
    diamond_images,
    pattern_images,
    plain_patterns,
    playable_patterns,
    swapped_patterns,
)
from gtp_engine.training.alphago.stages.game_positions import GameStore
from gtp_engine.training.alphago.stages.game_records import RecordedGame, split_games
from gtp_engine.training.alphago.stages.rollout_gradient import (
    BEST,
    COUNTS,
    LOSS,
    POSITIONS,
    PROBABILITY,
    Doubles,
    Gradient,
    ReplayBuffers,
    Scores,
    add_games,
    diamonds_into,
)
from gtp_engine.training.alphago.stages.stage_settings import RolloutSettings, StageRun
from gtp_engine.training.core.checkpoint import Checkpoint, has_checkpoint, read_checkpoint, write_checkpoint
from gtp_engine.training.core.learning import cosine_rate
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


Ints = NDArray[np.int64]

_NEAR: Final = slice(FIRST_DIAMOND, FIRST_DIAMOND + 3)
_HANDCRAFTED: Final = FIRST_DIAMOND + 3
"""The number of weights that belong neither to patterns nor to diamonds."""


def uniform_policy(diamonds: Ints) -> LinearPolicy:
    """Return the policy with these diamonds whose weights are all 0."""
    codes, weights = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
    responses = np.zeros((len(diamonds), DIAMOND_SIZE), dtype=np.float32)
    return LinearPolicy(codes, weights, codes, weights, diamonds, responses, near=np.zeros(3, dtype=np.float32))


class _Numbering(NamedTuple):
    """The indices of patterns."""

    patterns: Ints  # [S] codes of playable patterns, each the smallest of its orientations
    kinds: IntArray  # [2, PATTERNS] index of each code, for Black and for White; 0 for patterns that are not playable
    plains: Ints  # [Q] codes of the plain patterns
    plain_of: Ints  # [S] index of each pattern's plain pattern


@cache
def _numbering() -> _Numbering:
    """Return the indices; computing them takes half a second."""
    codes = np.arange(PATTERNS)
    least, playable = pattern_images(codes).min(axis=0), playable_patterns(codes)
    patterns = np.unique(least[playable])
    kinds = np.where(playable, np.searchsorted(patterns, least), 0)
    plains, plain_of = np.unique(least[plain_patterns(patterns)], return_inverse=True)
    both = np.stack([kinds, kinds[swapped_patterns(codes)]]).astype(np.int32)
    return _Numbering(patterns, both, plains, plain_of)


class WeightSpace:
    """The layout of the weight vector; `diamonds` [R] are those whose responses have weights of their own."""

    def __init__(self, diamonds: Ints) -> None:
        self.diamonds: Final = diamonds
        self.patterns, self.kinds, self.plains, self._plain_of = _numbering()
        known = least_places(diamonds) + DIAMOND_SIZE * np.arange(len(diamonds))[:, None]
        self._response_of: Final = known.ravel()

    @property
    def size(self) -> int:
        """The number of weights."""
        return len(self.patterns) + len(self.plains) + _HANDCRAFTED + DIAMOND_SIZE * len(self.diamonds)

    def parts(self, weights: Doubles) -> tuple[Doubles, Doubles, Doubles, Doubles]:
        """Return views of the weights: patterns, plain patterns, handcrafted, responses [R · DIAMOND_SIZE]."""
        edges = np.cumsum([len(self.patterns), len(self.plains), _HANDCRAFTED])
        patterns, plains, handcrafted, responses = np.split(weights, edges)
        return patterns, plains, handcrafted, responses

    def scores(self, weights: Doubles) -> Scores:
        """Return the scores of all features."""
        patterns, plains, handcrafted, responses = self.parts(weights)
        near = handcrafted[_NEAR][REACHES]
        known = responses[self._response_of].reshape(-1, DIAMOND_SIZE) + near
        local = np.concatenate([handcrafted[:FIRST_DIAMOND], near, known.ravel()])
        return Scores(self.kinds, patterns + plains[self._plain_of], local)

    def gradient(self, of_scores: Gradient) -> Doubles:
        """Return the gradient with respect to the weights from that with respect to the scores."""
        responses = of_scores.local[FIRST_DIAMOND:].reshape(-1, DIAMOND_SIZE)
        near = np.bincount(REACHES, weights=responses.sum(axis=0))
        known = responses[1:].ravel()
        return np.concatenate(
            [
                of_scores.patterns,
                np.bincount(self._plain_of, weights=of_scores.patterns),
                of_scores.local[:FIRST_DIAMOND],
                near,
                np.bincount(self._response_of, weights=known, minlength=known.size),
            ]
        )

    def empty_gradient(self, weights: Doubles) -> Gradient:
        """Return a gradient of zeros, at the scores of these weights."""
        local = FIRST_DIAMOND + DIAMOND_SIZE * (len(self.diamonds) + 1)
        return Gradient(self.scores(weights), np.zeros(len(self.patterns)), np.zeros(local), np.zeros(COUNTS))

    def policy(self, weights: Doubles) -> LinearPolicy:
        """Return the policy with these weights; pattern weights of 0 are left out."""
        patterns, plains, handcrafted, responses = (part.astype(np.float32) for part in self.parts(weights))
        return LinearPolicy(
            patterns=self.patterns[patterns != 0],
            pattern_weights=patterns[patterns != 0],
            plain_patterns=self.plains[plains != 0],
            plain_weights=plains[plains != 0],
            diamonds=self.diamonds,
            diamond_weights=responses[self._response_of].reshape(-1, DIAMOND_SIZE),
            near=handcrafted[_NEAR],
            save_by_capture=float(handcrafted[SAVE_BY_CAPTURE]),
            save_by_escape=float(handcrafted[SAVE_BY_ESCAPE]),
            nakade=float(handcrafted[NAKADE]),
        )


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
        self.weights: Doubles = np.zeros(self.space.size)
        self.squares: Doubles = np.full(self.space.size, _FIRST_SQUARE)
        self.steps = self.samples = 0
        self.seconds = 0.0
        self.counts: Doubles = np.zeros(COUNTS)
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
        gradient = self.space.empty_gradient(self.weights)
        games = order[place * settings.games_per_step : (place + 1) * settings.games_per_step]
        add_games(self._train.moves, games, gradient, self._buffers)
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
        gradient, games = self.space.empty_gradient(self.weights), np.arange(len(self._test.games))
        add_games(self._test.moves, games, gradient, self._buffers)
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


def _figures(counts: Doubles) -> Figures:
    """Return the loss in nats, the share of moves played that the policy ranks first, and their mean probability."""
    positions = max(1.0, counts[POSITIONS])
    return {
        "loss": float(counts[LOSS] / positions),
        "top-1": float(counts[BEST] / positions),
        "probability": float(counts[PROBABILITY] / positions),
    }
