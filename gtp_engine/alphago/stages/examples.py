"""Training examples as torch tensors: positions of recorded games with the move played and the outcome.

ExampleBatch        a batch
ExampleStream   an endless stream of batches, whose order follows from its seed and `state`
examples_of     given positions in one orientation
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from torch import Tensor

from gtp_engine.alphago.stages.game_positions import (
    GameStore,
    Replayer,
    draw_symmetries,
    transform_actions,
)
from gtp_engine.alphago.stages.replay import PositionRefs
from gtp_engine.go.board import IntArray
from gtp_engine.nn.symmetry import IDENTITY

BATCH: Final = 512
"""Positions of an evaluation batch."""


class ExampleBatch(NamedTuple):
    """N positions on boards of H × W points, from the view of the side to move."""

    planes: Tensor  # float32 [N, 48 or 49, H, W]
    actions: Tensor  # int64 [N] the move played, row · W + column; −1 for none
    outcomes: Tensor  # float32 [N] 1 for a win, −1 for a loss, 0 for neither
    owners: Tensor  # float32 [N, H·W] final owner of each point, 1 own, −1 the opponent's; [N, 0] for a policy network

    def split(self, parts: int) -> list["ExampleBatch"]:
        """Return the batch in up to `parts` parts of about the same size, none of them empty."""
        parts = min(parts, len(self.planes))
        return [ExampleBatch(*part) for part in zip(*(tensor.tensor_split(parts) for tensor in self), strict=True)]

    def to(self, device: torch.device) -> "ExampleBatch":
        """Return the batch on `device`."""
        return ExampleBatch(*(tensor.to(device, non_blocking=True) for tensor in self))


class ExampleStream:
    """An endless stream of batches of `size` positions; each position comes once an epoch, in a random orientation.

    An incomplete batch at the end of an epoch is dropped; if there are fewer positions than `size`, all of them are one
    batch.  `for_value` adds the value network's plane and the owners that it predicts beside the outcomes.
    """

    def __init__(self, store: GameStore, refs: PositionRefs, size: int, *, seed: int, for_value: bool) -> None:
        self._store: Final = store
        self._refs: Final = refs
        self._size: Final = min(size, len(refs.games))
        self._seed: Final = seed
        self._for_value: Final = for_value
        self._replayer: Final = Replayer(store, self._size, player_color=for_value)
        self._epoch = self._batch = 0
        self._order = self._shuffled()

    @property
    def positions(self) -> int:
        """The number of positions in an epoch."""
        return len(self._refs.games)

    def state(self) -> dict[str, Any]:
        """Return the position in the stream, as plain values."""
        return {"epoch": self._epoch, "batch": self._batch}

    def go_to(self, state: dict[str, Any]) -> None:
        """Continue where `state` was taken."""
        self._epoch, self._batch = state["epoch"], state["batch"]
        self._order = self._shuffled()

    def __iter__(self) -> Iterator[ExampleBatch]:
        return self

    def __next__(self) -> ExampleBatch:
        """Return the next batch."""
        begin = self._batch * self._size
        if begin + self._size > len(self._order):
            self._epoch, self._batch, begin = self._epoch + 1, 0, 0
            self._order = self._shuffled()
        refs = self._refs.take(self._order[begin : begin + self._size])
        rng = np.random.default_rng((self._seed, self._epoch, self._batch))
        self._batch += 1
        symmetries = draw_symmetries(rng, len(refs.games), self._store.width, self._store.height)
        return _examples(self._store, self._replayer, refs, symmetries, for_value=self._for_value)

    def _shuffled(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the order of the epoch."""
        return np.random.default_rng((self._seed, self._epoch)).permutation(len(self._refs.games))


def examples_of(
    store: GameStore, refs: PositionRefs, *, size: int = BATCH, for_value: bool, symmetry: int = IDENTITY
) -> Iterator[ExampleBatch]:
    """Yield the positions in their order, up to `size` at a time, all in one orientation.

    `for_value` as in `ExampleStream`.
    """
    replayer = Replayer(store, size, player_color=for_value)
    for batch in refs.batches(size):
        symmetries = np.full(len(batch.games), symmetry, dtype=np.int32)
        yield _examples(store, replayer, batch, symmetries, for_value=for_value)


def _examples(
    store: GameStore, replayer: Replayer, refs: PositionRefs, symmetries: IntArray, *, for_value: bool
) -> ExampleBatch:
    owners = replayer.owners(refs, symmetries) if for_value else np.zeros((len(refs.games), 0), dtype=np.float32)
    actions = transform_actions(store.actions(refs), symmetries, store.width, store.height)
    return ExampleBatch(
        planes=torch.from_numpy(replayer.encode(refs, symmetries)),
        actions=torch.from_numpy(actions.astype(np.int64)),
        outcomes=torch.from_numpy(store.outcomes(refs)),
        owners=torch.from_numpy(owners),
    )
