"""Training of the linear rollout policy: multinomial logistic regression over the legal moves of recorded positions.

The loss is the cross-entropy of the moves played, with a normal prior on the weights.  Steps are AdaGrad's (Duchi,
Hazan and Singer 2011), which suits features of which few are common and most are rare; a step takes the positions of a
few games.  Nothing here needs more than one core: a million positions take some seconds.

A run is a folder with `checkpoint.npz`, log, curves and, at the end, `rollout-policy.npz`.
"""

import json
import os
import time
import zipfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.errors import ConfigError, ModelError, problem, shown_path
from gtp_engine.evaluation.linear_policy import LinearPolicy
from gtp_engine.go.board import clone, new_board
from gtp_engine.nn.linear_policy_file import FILE_NAME, write_linear_policy
from gtp_engine.progress import ProgressBar
from gtp_engine.search.rollouts.linear_tables import new_tables
from gtp_engine.search.rollouts.linear_weights import new_linear_work
from gtp_engine.search.rollouts.neighborhoods import diamond_images
from gtp_engine.training.alphago.game_positions import Shelf
from gtp_engine.training.alphago.game_records import TEST_SHARE, RecordedGame, split_games
from gtp_engine.training.alphago.rollout_gradient import (
    BEST,
    COUNTS,
    LOSS,
    POSITIONS,
    PROBABILITY,
    Floats,
    ReplayRoom,
    add_games,
    diamonds_into,
)
from gtp_engine.training.alphago.rollout_weights import WeightSpace, indifferent_policy
from gtp_engine.training.core.curves import FILE_NAME as CURVES
from gtp_engine.training.core.curves import figure_panels, write_panels
from gtp_engine.training.core.learning import check_same, cosine_rate
from gtp_engine.training.core.run_log import FILE_NAME as LOG
from gtp_engine.training.core.run_log import RunLog, read_log

CHECKPOINT: Final = "checkpoint.npz"
NAME: Final = "linear rollout policy"
_FORMAT: Final = 1
_LOG_STEPS: Final = 20
"""Steps between two lines of the log."""
_SAVE_SECONDS: Final = 300.0
_FIRST_SQUARE: Final = 1e-6
"""What AdaGrad's sums of squares begin with, so that the first step has a length."""


@dataclass(frozen=True)
class RolloutSettings:
    """How the policy learns."""

    epochs: int = 12
    """How often every game is seen."""
    games: int = 16
    """Games of a step."""
    learning_rate: float = 0.15
    final_rate: float = 0.1
    """Share of the learning rate that is left at the end."""
    prior: float = 1.0
    """Weight of the prior: as if a weight's square were observed so often."""
    least_count: int = 10
    """A diamond has weights of its own if it came so often in the games."""
    test_share: float = TEST_SHARE
    seed: int = 1

    def __post_init__(self) -> None:
        """Raise ConfigError for what makes no run."""
        for name in ("epochs", "games", "least_count"):
            if getattr(self, name) < 1:
                raise ConfigError(problem(f"{name} {getattr(self, name)}", expected="at least 1"))


class RolloutTrainer:
    """Learns from the games of `train`; `steps`, `samples` and `seconds` say how far it is.

    `counts` are those of `rollout_gradient`, since `take_figures`.
    """

    def __init__(self, train: Shelf, test: Shelf, settings: RolloutSettings, diamonds: NDArray[np.int64]) -> None:
        self.settings: Final = settings
        self.space: Final = WeightSpace(diamonds)
        self.weights: Floats = np.zeros(self.space.size)
        self.squares: Floats = np.full(self.space.size, _FIRST_SQUARE)
        self.steps = self.samples = 0
        self.seconds = 0.0
        self.counts: Floats = np.zeros(COUNTS)
        self._train: Final = train
        self._test: Final = test
        self._room: Final = replay_room(train, diamonds)
        self._steps_per_epoch: Final = -(-len(train.games) // settings.games)

    @property
    def fraction(self) -> float:
        """Which part of the run is done."""
        return self.steps / (self.settings.epochs * self._steps_per_epoch)

    @property
    def is_epoch(self) -> bool:
        """Whether an epoch has just ended."""
        return self.steps % self._steps_per_epoch == 0

    def step(self) -> None:
        """Take a step."""
        settings = self.settings
        epoch, place = divmod(self.steps, self._steps_per_epoch)
        order = np.random.default_rng((settings.seed, epoch)).permutation(len(self._train.games))
        gradient = self.space.empty_gradient()
        games = order[place * settings.games : (place + 1) * settings.games]
        add_games(self._train.moves, games, self.space.scores(self.weights), gradient, self._room)
        positions = max(1.0, gradient.counts[POSITIONS])
        slope = self.space.gradient(gradient) / positions
        slope += settings.prior / len(self._train.moves.points) * self.weights
        self.squares += slope * slope
        rate = cosine_rate(self.fraction, highest=settings.learning_rate, warm_up=0.0, final=settings.final_rate)
        self.weights -= rate * slope / np.sqrt(self.squares)
        self.steps += 1
        self.samples += int(gradient.counts[POSITIONS])
        self.counts += gradient.counts

    def take_figures(self) -> dict[str, float]:
        """Return what the policy was worth on the positions of the steps since it was asked last, before each."""
        figures = _figures(self.counts)
        self.counts[:] = 0.0
        return figures

    def validate(self) -> dict[str, float]:
        """Return what the policy is worth on the test games."""
        gradient, games = self.space.empty_gradient(), np.arange(len(self._test.games))
        add_games(self._test.moves, games, self.space.scores(self.weights), gradient, self._room)
        return _figures(gradient.counts)

    def policy(self) -> LinearPolicy:
        """Return the policy as it is."""
        return self.space.policy(self.weights)


def run_rollout_policy(
    games: list[RecordedGame],
    settings: RolloutSettings,
    out: Path,
    bar: ProgressBar,
    is_stopped: Callable[[], bool],
    *,
    name: str = "",
    terms: str = "",
) -> Path | None:
    """Train until the end, or `is_stopped`; return the policy's file, None if the run is not done.

    Goes on where an earlier run in the same folder ended.  `name` and `terms`, the licence, are for the file.
    """
    train, test = shelves(games, settings.test_share)
    trainer = _begin(train, test, settings, out)
    bar.log(
        f"{trainer.space.size:,} weights, {len(trainer.space.diamonds):,} diamonds; "
        f"{len(train.games):,} games to learn from, {len(test.games):,} to test on"
    )
    out.mkdir(parents=True, exist_ok=True)
    with RunLog(out, after=trainer.steps) as log:
        saved = time.monotonic()
        while trainer.fraction < 1 and not is_stopped():
            _advance(trainer, log, bar)
            if trainer.is_epoch:
                write_panels(out / CURVES, figure_panels(read_log(out / LOG)))
            if time.monotonic() - saved > _SAVE_SECONDS:
                _save(trainer, out)
                saved = time.monotonic()
    _save(trainer, out)
    if trainer.fraction < 1:
        return None
    origin = f"trained by Tengen on {trainer.samples:,} samples of moves of recorded games"
    write_linear_policy(out / FILE_NAME, replace(trainer.policy(), name=name or NAME, origin=origin, license=terms))
    bar.log(f"Written: {out / FILE_NAME}")
    return out / FILE_NAME


def shelves(games: list[RecordedGame], test_share: float) -> tuple[Shelf, Shelf]:
    """Return the games to learn from and those to test on; raises RecordsError unless there are some of both."""
    train, test = split_games(games, test_share)
    return Shelf(train), Shelf(test)


def replay_room(shelf: Shelf, diamonds: NDArray[np.int64]) -> ReplayRoom:
    """Return work arrays for the games of a shelf, with a policy that knows the diamonds and likes all moves alike."""
    empty = new_board(shelf.width, shelf.height)
    n = empty.color.size
    tables = new_tables(indifferent_policy(diamonds))
    linear = new_linear_work(tables, shelf.width, shelf.height)
    return ReplayRoom(empty, clone(empty), linear, np.zeros(n), np.zeros(n, dtype=np.int32))


def common_diamonds(shelf: Shelf, least_count: int) -> NDArray[np.int64]:
    """Return the diamonds that came so often in the games, in the least of their orientations, sorted."""
    found = np.zeros(len(shelf.moves.points), dtype=np.int64)
    diamonds_into(shelf.moves, replay_room(shelf, np.zeros(0, dtype=np.int64)), found)
    codes, counts = np.unique(found[found >= 0], return_counts=True)
    least, numbers = np.unique(diamond_images(codes).min(axis=0), return_inverse=True)
    common: NDArray[np.int64] = least[np.bincount(numbers, weights=counts) >= least_count]
    return common


def _advance(trainer: RolloutTrainer, log: RunLog, bar: ProgressBar) -> None:
    """Take a step, and tell about it; at the end of an epoch, test."""
    begun = time.monotonic()
    trainer.step()
    verdict = trainer.validate() if trainer.is_epoch else None
    trainer.seconds += time.monotonic() - begun
    where = {"steps": trainer.steps, "samples": trainer.samples, "seconds": trainer.seconds}
    if trainer.steps % _LOG_STEPS == 0 or trainer.is_epoch:
        figures = trainer.take_figures()
        log.write({"kind": "step", **where, "figures": figures})
        text = ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
        bar.update(trainer.fraction, f"{trainer.samples:,} samples, {text}")
    if verdict is not None:
        log.write({"kind": "validation", **where, "figures": {"test": verdict}})
        text = ", ".join(f"{name} {value:.3f}" for name, value in verdict.items())
        bar.log(f"test after {trainer.samples:,} samples: {text}")


def _begin(train: Shelf, test: Shelf, settings: RolloutSettings, out: Path) -> RolloutTrainer:
    """Return a trainer, as the checkpoint in `out` has it if there is one; raises ConfigError if that is another's."""
    if not (out / CHECKPOINT).exists():
        return RolloutTrainer(train, test, settings, common_diamonds(train, settings.least_count))
    arrays, meta = _read(out / CHECKPOINT)
    check_same(meta["settings"], _settings(settings, train))
    trainer = RolloutTrainer(train, test, settings, arrays["diamonds"])
    trainer.weights, trainer.squares, trainer.counts = (arrays[name] for name in ("weights", "squares", "counts"))
    trainer.steps, trainer.samples, trainer.seconds = meta["steps"], meta["samples"], meta["seconds"]
    return trainer


def _save(trainer: RolloutTrainer, out: Path) -> None:
    """Write the checkpoint, replacing an older one once the new one is complete."""
    meta = {"format": _FORMAT, "settings": _settings(trainer.settings, trainer._train)}
    meta |= {"steps": trainer.steps, "samples": trainer.samples, "seconds": trainer.seconds}
    unfinished = out / (CHECKPOINT + ".part")
    with unfinished.open("wb") as file:
        np.savez(
            file,
            meta=np.array(json.dumps(meta)),
            diamonds=trainer.space.diamonds,
            weights=trainer.weights,
            squares=trainer.squares,
            counts=trainer.counts,
        )
    os.replace(unfinished, out / CHECKPOINT)


def _read(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the contents of a checkpoint; raises ModelError if it is none."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in ("meta", "diamonds", "weights", "squares", "counts")}
        meta = json.loads(str(arrays["meta"]))
        if meta["format"] != _FORMAT:
            raise ValueError
        return arrays, meta
    except (OSError, KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile) as error:
        given = f"{shown_path(path)} is damaged or no checkpoint"
        raise ModelError(problem(given, expected="that of a run of this stage")) from error


def _settings(settings: RolloutSettings, train: Shelf) -> dict[str, Any]:
    """Return what a run that goes on must have in common with its beginning."""
    return asdict(settings) | {"stage": "rollout policy", "training games": len(train.games)}


def _figures(counts: Floats) -> dict[str, float]:
    """Return loss in nats, share of moves that the policy likes best, and mean probability of the moves played."""
    positions = max(1.0, counts[POSITIONS])
    return {
        "loss": float(counts[LOSS] / positions),
        "top-1": float(counts[BEST] / positions),
        "probability": float(counts[PROBABILITY] / positions),
    }
