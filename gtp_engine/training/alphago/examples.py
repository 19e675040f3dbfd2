"""Examples to learn from, as torch tensors: positions of recorded games, what was played there and who won.

Examples        N of them
ExampleStream   an endless stream of batches, in an order that its seed and `state` fix
examples_of     some positions in one orientation
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from torch import Tensor

from gtp_engine.go.board import IntArray
from gtp_engine.nn.symmetry import IDENTITY
from gtp_engine.training.alphago.game_positions import Picks, Replayer, Shelf, draw_symmetries, turned_actions

TOGETHER: Final = 512
"""Positions that are shown together."""


class Examples(NamedTuple):
    """N positions on boards of H × W points; everything for the side to move."""

    planes: Tensor  # float32 [N, 48 or 49, H, W]
    actions: Tensor  # int64 [N] the move that was played, row · W + column; −1 for none
    outcomes: Tensor  # float32 [N] 1 where the game was won, −1 lost, 0 neither
    owners: Tensor  # float32 [N, H·W] whose each point is when the game is over, 1 or −1; [N, 0] where nobody learns it

    def split(self, parts: int) -> list["Examples"]:
        """Return them in up to `parts` parts of about the same size, none of them empty."""
        parts = min(parts, len(self.planes))
        return [Examples(*part) for part in zip(*(tensor.tensor_split(parts) for tensor in self), strict=True)]

    def to(self, device: torch.device) -> "Examples":
        """Return them on `device`."""
        return Examples(*(tensor.to(device, non_blocking=True) for tensor in self))


class ExampleStream:
    """Batches of `size` of the positions `picks`, without end; each position comes once in an epoch, anyhow turned.

    What is left at the end of an epoch and fills no batch is left out; so is nothing where all of it fills none.
    `for_value` adds the value network's plane, and the owners that it learns beside the outcomes.
    """

    def __init__(self, shelf: Shelf, picks: Picks, size: int, *, seed: int, for_value: bool) -> None:
        self._shelf: Final = shelf
        self._picks: Final = picks
        self._size: Final = min(size, len(picks.games))
        self._seed: Final = seed
        self._for_value: Final = for_value
        self._replayer: Final = Replayer(shelf, self._size, player_color=for_value)
        self._epoch = self._batch = 0
        self._order = self._shuffled()

    def state(self) -> dict[str, Any]:
        """Return the place in the stream, as plain values."""
        return {"epoch": self._epoch, "batch": self._batch}

    def go_to(self, state: dict[str, Any]) -> None:
        """Go on where `state` was."""
        self._epoch, self._batch = state["epoch"], state["batch"]
        self._order = self._shuffled()

    def __iter__(self) -> Iterator[Examples]:
        return self

    def __next__(self) -> Examples:
        """Return the next batch."""
        begin = self._batch * self._size
        if begin + self._size > len(self._order):
            self._epoch, self._batch, begin = self._epoch + 1, 0, 0
            self._order = self._shuffled()
        picks = self._picks.take(self._order[begin : begin + self._size])
        rng = np.random.default_rng((self._seed, self._epoch, self._batch))
        self._batch += 1
        symmetries = draw_symmetries(rng, len(picks.games), self._shelf.width, self._shelf.height)
        return _examples(self._shelf, self._replayer, picks, symmetries, for_value=self._for_value)

    def _shuffled(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the order of the epoch."""
        return np.random.default_rng((self._seed, self._epoch)).permutation(len(self._picks.games))


def examples_of(
    shelf: Shelf, picks: Picks, *, size: int = TOGETHER, for_value: bool, symmetry: int = IDENTITY
) -> Iterator[Examples]:
    """Yield positions in their order, up to `size` at a time, as one orientation shows them.

    `for_value` as in `ExampleStream`.
    """
    replayer = Replayer(shelf, size, player_color=for_value)
    for begin in range(0, len(picks.games), size):
        part = picks.take(np.arange(begin, min(begin + size, len(picks.games))))
        yield _examples(shelf, replayer, part, np.full(len(part.games), symmetry, dtype=np.int32), for_value=for_value)


def _examples(shelf: Shelf, replayer: Replayer, picks: Picks, symmetries: IntArray, *, for_value: bool) -> Examples:
    owners = replayer.owners(picks, symmetries) if for_value else np.zeros((len(picks.games), 0), dtype=np.float32)
    actions = turned_actions(shelf.actions(picks), symmetries, shelf.width, shelf.height)
    return Examples(
        planes=torch.from_numpy(replayer.encode(picks, symmetries)),
        actions=torch.from_numpy(actions.astype(np.int64)),
        outcomes=torch.from_numpy(shelf.outcomes(picks)),
        owners=torch.from_numpy(owners),
    )
