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

from collections.abc import Generator
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gtp_engine.base.errors import ModelError, counted
from gtp_engine.base.files import writing
from gtp_engine.go.board import IntArray, clone, new_board
from gtp_engine.nn.plug_ins import ROLLOUT_WEIGHTS
from gtp_engine.training.alphago.linear_policy import (
    REACHES,
    LinearPolicy,
    least_places,
    new_tables,
    write_linear_policy,
)
from gtp_engine.training.alphago.linear_rollouts import FIRST_DIAMOND, new_linear_work
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
    add_games,
    diamonds_into,
)
from gtp_engine.training.alphago.stages.stage_settings import RolloutSettings, StageRun
from gtp_engine.training.core.checkpoint import Checkpoint
from gtp_engine.training.core.learning import StepSchedule
from gtp_engine.training.core.loop import RunIdentity, TrainingRun, Validation
from gtp_engine.training.core.reporting import run_and_report

KIND: Final = "rollout policy"
"""The kind of its checkpoints."""
NAME: Final = "linear rollout policy"
_LOG_STEPS: Final = 20
"""Steps between two lines of the log."""
_FIRST_SQUARE: Final = 1e-6
"""The initial sums of squares of AdaGrad, which bound the first step."""


Ints = NDArray[np.int64]

NO_DIAMONDS: Final[Ints] = np.zeros(0, dtype=np.int64)
_NEAR: Final = slice(FIRST_DIAMOND, FIRST_DIAMOND + 3)
_HANDCRAFTED: Final = FIRST_DIAMOND + 3
"""The number of weights that belong neither to patterns nor to diamonds."""


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
    """The layout of the weight vector; `diamonds` [R] are those whose responses have weights of their own.

    A score is the sum of two weights: of a pattern's and its plain pattern's, of a distance's and a response's.  Moves
    that save or kill, and answers to unknown diamonds, have one only.
    """

    def __init__(self, diamonds: Ints) -> None:
        self.diamonds: Final = diamonds
        self.patterns, self._kinds, self.plains, plain_of = _numbering()
        plain, handcrafted, response = np.cumsum([len(self.patterns), len(self.plains), _HANDCRAFTED]).tolist()
        self._edges: Final = [plain, handcrafted, response]
        none = response + DIAMOND_SIZE * len(diamonds)
        self.size: Final = none
        """The number of weights."""
        known = least_places(diamonds) + DIAMOND_SIZE * np.arange(len(diamonds))[:, None]
        self._response_of: Final = known.ravel()
        near = handcrafted + FIRST_DIAMOND + REACHES
        pairs: list[tuple[Any, Any]] = [
            (np.arange(plain), plain + plain_of),
            (handcrafted + np.arange(FIRST_DIAMOND), none),
            (near, none),
            (np.tile(near, len(diamonds)), response + self._response_of),
        ]
        self._terms: Final = np.concatenate([np.broadcast_arrays(*pair) for pair in pairs], axis=1)
        """The indices of the two weights of each score, [2, S + F]; the number of weights stands for none."""

    def parts(self, weights: Doubles) -> tuple[Doubles, Doubles, Doubles, Doubles]:
        """Return views of the weights: patterns, plain patterns, handcrafted, responses [R · DIAMOND_SIZE]."""
        patterns, plains, handcrafted, responses = np.split(weights, self._edges)
        return patterns, plains, handcrafted, responses

    def empty_gradient(self, weights: Doubles) -> Gradient:
        """Return a gradient of zeros, at the scores of these weights."""
        scores = np.append(weights, 0.0)[self._terms].sum(axis=0)
        return Gradient(self._kinds, len(self.patterns), scores, np.zeros_like(scores), np.zeros(COUNTS))

    def gradient(self, of_scores: Gradient) -> Doubles:
        """Return the gradient with respect to the weights from that with respect to the scores."""
        slopes = np.tile(of_scores.slopes, 2)
        summed = np.bincount(self._terms.ravel(), weights=slopes, minlength=self.size + 1)
        return np.asarray(summed[: self.size], dtype=np.float64)

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
            urgent=handcrafted[:FIRST_DIAMOND],
        )


class RolloutTrainer(TrainingRun):
    """A run that learns from the games of `train` and validates on those of `test`; the one in `out` goes on.

    Raises ConfigError if that has other settings.
    """

    names = ("loss", "top-1", "probability")

    def __init__(self, train: GameStore, test: GameStore, settings: RolloutSettings, out: Path) -> None:
        epoch = -(-len(train.games) // settings.games_per_step)
        identity = RunIdentity(KIND, {}, asdict(settings) | {"stage": KIND, "training games": len(train.games)})
        steps, rates = settings.epochs * epoch, (settings.learning_rate, settings.final_rate)
        super().__init__(out, identity, StepSchedule(steps, epoch, *rates, log_steps=_LOG_STEPS))
        self.settings: Final = settings
        self._train_games: Final = train
        self._test_games: Final = test
        self._steps_per_epoch: Final = epoch
        self.space = WeightSpace(NO_DIAMONDS)
        self.vector = self._squares = np.zeros(0)
        self._buffers = new_replay_buffers(train, self.space)
        if not self.resume_in_folder():
            self._begin(WeightSpace(common_diamonds(train, settings.least_count)))

    def _begin(self, space: WeightSpace) -> None:
        """Set all weights to 0."""
        self.space, self.vector = space, np.zeros(space.size)
        self._squares = np.full(space.size, _FIRST_SQUARE)
        self._buffers = new_replay_buffers(self._train_games, space)

    def work(self) -> Generator[tuple[Tensor, int], None, None]:
        """Do steps; their figures are those before them, see `TrainingRun`."""
        settings, moves = self.settings, self._train_games.moves
        while True:
            epoch, place = divmod(self.steps, self._steps_per_epoch)
            order = np.random.default_rng((settings.seed, epoch)).permutation(len(self._train_games.games))
            gradient = self.space.empty_gradient(self.vector)
            games = order[place * settings.games_per_step : (place + 1) * settings.games_per_step]
            add_games(moves, games, gradient, self._buffers)
            slope = self.space.gradient(gradient) / max(1.0, gradient.counts[POSITIONS])
            slope += settings.prior / len(moves.points) * self.vector
            self._squares += slope * slope
            self.vector -= self.learning_rate * slope / np.sqrt(self._squares)
            figures = torch.tensor([float(np.linalg.norm(slope)), *_figures(gradient.counts)], dtype=torch.float64)
            yield figures, int(gradient.counts[POSITIONS])

    def validate(self) -> Validation:
        """Return the figures on the test games."""
        gradient, games = self.space.empty_gradient(self.vector), np.arange(len(self._test_games.games))
        add_games(self._test_games.moves, games, gradient, self._buffers)
        return {"test": dict(zip(self.names, _figures(gradient.counts), strict=True))}

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return the vector of weights; and the diamonds and AdaGrad's sums of squares."""
        state = {"diamonds": torch.from_numpy(self.space.diamonds), "squares": torch.from_numpy(self._squares)}
        return {"weights": torch.from_numpy(self.vector)}, state

    def restore(self, checkpoint: Checkpoint) -> None:
        """Take over a checkpoint; see `TrainingRun`."""
        self._begin(WeightSpace(checkpoint.state["diamonds"].numpy()))
        self.vector, self._squares = checkpoint.weights["weights"].numpy(), checkpoint.state["squares"].numpy()


def run_rollout_policy(games: list[RecordedGame], settings: RolloutSettings, run: StageRun) -> None:
    """Train until the end, when the policy is written, or until the run is stopped."""
    train, test = map(GameStore, split_games(games, settings.test_share))
    trainer = RolloutTrainer(train, test, settings, run.out)
    run.bar.log(
        f"{trainer.space.size:,} weights, {len(trainer.space.diamonds):,} diamonds; "
        f"{counted(len(train.games), 'game')} to train on, {len(test.games):,} to test on"
    )
    if not run_and_report(trainer, run.bar, run.is_stopped):
        return
    origin = f"trained by Tengen on {trainer.samples:,} samples of moves of recorded games"
    policy = replace(trainer.space.policy(trainer.vector), name=run.name or NAME, origin=origin, license=run.terms)
    with writing(run.out / ROLLOUT_WEIGHTS, ModelError, "rollout policy"):
        write_linear_policy(run.out / ROLLOUT_WEIGHTS, policy)
    run.bar.log(f"Written: {run.out / ROLLOUT_WEIGHTS}")


def new_replay_buffers(store: GameStore, space: WeightSpace) -> ReplayBuffers:
    """Return work arrays for the games of a store, with the policy whose weights are all 0."""
    empty = new_board(store.width, store.height)
    n = empty.color.size
    linear = new_linear_work(new_tables(space.policy(np.zeros(space.size))), store.width, store.height)
    return ReplayBuffers(empty, clone(empty), linear, np.zeros(n), np.zeros(n, dtype=np.int32))


def common_diamonds(store: GameStore, least_count: int) -> NDArray[np.int64]:
    """Return the diamonds that occur at least so often in the games, each in its smallest orientation, sorted."""
    found = np.zeros(len(store.moves.points), dtype=np.int64)
    diamonds_into(store.moves, new_replay_buffers(store, WeightSpace(NO_DIAMONDS)), found)
    codes, counts = np.unique(found[found >= 0], return_counts=True)
    smallest, numbers = np.unique(diamond_images(codes).min(axis=0), return_inverse=True)
    common: NDArray[np.int64] = smallest[np.bincount(numbers, weights=counts) >= least_count]
    return common


def _figures(counts: Doubles) -> tuple[float, ...]:
    """Return the figures: the loss in nats, the share of moves that the policy ranks first, their probability."""
    return tuple(float(counts[name] / max(1.0, counts[POSITIONS])) for name in (LOSS, BEST, PROBABILITY))
