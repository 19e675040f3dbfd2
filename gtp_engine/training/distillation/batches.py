"""Batches of samples for training, drawn from a folder of shards.

    SampleBatch   N positions of one board size, unpacked, as torch tensors
    Batches       gives them without end, in an order that its seed and the place of the beginning fix

The size of the next batch is drawn in proportion to the number of positions.  Each batch shows its positions in all
orientations of the board, an equal share in each.  They are unpacked on the device that trains: a GPU trains a
small network faster than processor cores unpack its samples.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import torch
from torch import Tensor

from gtp_engine.base.errors import shown_path
from gtp_engine.nn.symmetry import cell_orders, symmetry_count
from gtp_engine.training.core.loop import Place
from gtp_engine.training.distillation.shards import (
    OWNERSHIP_UNIT,
    BoardSides,
    Samples,
    ShardError,
    count_positions,
    no_shards,
    read_shard,
    shard_length,
    shards_by_board,
)

GROUP_POSITIONS: Final = 65_536
"""Positions that are shuffled together: 150 MB on 19×19."""

_READERS: Final = 8
"""Threads that read shards into memory: checking sums and copying release the GIL."""

Packed = Mapping[str, Tensor]
"""Samples as tensors by name, packed as in a shard."""


class SampleBatch(NamedTuple):
    """N positions on boards of H rows and W columns, A = H·W; everything for the side to move."""

    planes: Tensor  # uint8 [N, 22, H, W]
    globals: Tensor  # float32 [N, 19]
    policy: Tensor  # float32 [N, A + 1] probabilities, the pass last
    value: Tensor  # float32 [N, 3] win, loss, no result
    score: Tensor  # float32 [N, 6] mean, standard deviation, lead, …; −1 or not a number where unknown (`shards`)
    ownership: Tensor  # float32 [N, A] −1 to 1, less where unknown
    optimistic: Tensor  # float32 [N, A + 1] probabilities; zeros where unknown
    ranks: Tensor  # int8 [N, 2] of the side to move and its opponent; 0 for no people

    @property
    def board(self) -> BoardSides:
        """Width and height."""
        return self.planes.shape[3], self.planes.shape[2]


@dataclass
class _EpochPlace:
    """The place among the shards of one board size."""

    epoch: int = -1
    """Number of the epoch, from 0 on; −1 before the first."""
    shards: list[str] = field(default_factory=list)
    """Names of the epoch's shards, in order."""
    first: int = 0
    """Index of the current group's first shard."""
    last: int = 0
    """Index after its last shard."""
    position: int = 0
    """Positions of the group that have been used."""


class Batches:
    """Batches of `size` positions from the shards in a folder, on `device`.

    Every board size has its shards in random order, a few of them at a time joined and shuffled, so that neighbours in
    a shard do not stay neighbours.  After an epoch the folder is read again, so that new shards are included.
    Positions at the end of a group that do not fill a batch wait for the next epoch.

    With `in_memory` all shards of a board are one group, which stays in the memory of the device, packed as on disk.
    On 19×19 a position takes 2.9 KB, on 13×13 1.4 KB, on 9×9 0.8 KB, so that ten million of all boards fit into 20 GB.

    `shares` are the frequencies of board sizes, and those without a share are left out; {} means in proportion to their
    positions.  Raises ShardError if there are no shards, all of a board have been deleted, one is damaged, or they do
    not fit into memory.
    """

    def __init__(
        self,
        folder: Path,
        size: int,
        *,
        seed: int,
        device: torch.device,
        shares: Mapping[BoardSides, float],
        in_memory: bool,
        group_positions: int = GROUP_POSITIONS,
    ) -> None:
        self._folder: Final = folder
        self._size: Final = size
        self._seed: Final = seed
        self._device: Final = device
        self._shares: Final = shares
        self._in_memory: Final = in_memory
        self._group_positions: Final = sys.maxsize if in_memory else group_positions
        self._step = 0
        self._places: defaultdict[BoardSides, _EpochPlace] = defaultdict(_EpochPlace)
        self._counts: dict[BoardSides, int] = {}
        self._held: dict[BoardSides, tuple[list[str], Packed]] = {}  # the last group of each board, by its shards
        self._count()
        if in_memory:
            for board in self._counts:
                self._next_group(board)
                self._group(board)
        self._beginning: Final = self._place()

    @property
    def shares(self) -> dict[BoardSides, float]:
        """The share of the batches that each board size has, by board."""
        weights = {board: self._shares.get(board, count) for board, count in sorted(self._counts.items())}
        total = sum(weights.values())
        return {board: weight / total for board, weight in weights.items()}

    def stream(self, place: Place | None = None) -> Iterator[tuple[SampleBatch, Place]]:
        """Yield batches without end, each with the place after it (`core.loop.Stream`); one stream at a time.

        From the place of a stream from memory that an earlier version wrote, it begins an epoch.  Raises ShardError, as
        where shards of the place's epoch are missing.
        """
        place = place or self._beginning
        self._step = place["step"]
        places = {board: _EpochPlace(**of_board) for board, of_board in place.get("places", {}).items()}
        self._places = defaultdict(_EpochPlace, places)
        self._counts = dict(place.get("counts", self._counts))
        positions_of = cache(self._positions)  # one iterator for each board
        while True:
            rng, shares = np.random.default_rng((self._seed, self._step)), self.shares
            board = list(shares)[rng.choice(len(shares), p=list(shares.values()))]
            packed = next(positions_of(board))
            self._step += 1
            samples = {name: array.to(self._device, non_blocking=True) for name, array in packed.items()}
            yield unpack(samples, board, rng.permutation(symmetry_count(*board)).tolist()), self._place()

    def _place(self) -> Place:
        places = {board: {**vars(place)} for board, place in self._places.items()}
        return {"step": self._step, "places": places, "counts": dict(self._counts)}

    def _positions(self, board: BoardSides) -> Iterator[Packed]:
        """Yield positions of a board without end, from its place on: those of a batch, or fewer if it has no more."""
        place = self._places[board]
        if not place.shards:
            self._next_group(board)
        while True:
            samples = self._group(board)
            order = self._rng(board, place.first).permutation(len(samples["planes"]))
            rows = torch.from_numpy(order).to(samples["planes"].device)
            while not place.position or place.position + self._size <= len(rows):
                chosen = rows[place.position : place.position + self._size]
                place.position += self._size
                yield {name: array.index_select(0, chosen) for name, array in samples.items()}
            del samples  # before others are read: two may not fit into memory
            self._next_group(board)

    def _count(self) -> None:
        """Count the positions in the folder."""
        self._counts = dict(count_positions(self._folder, self._shares))
        if not self._counts:
            raise no_shards(self._folder, self._shares)

    def _next_group(self, board: BoardSides) -> None:
        """Go to the next group of a board size, which may begin a new epoch."""
        place = self._places[board]
        if place.last >= len(place.shards):
            self._count()
            place.epoch += 1
            place.last = 0
            names = [path.name for path in shards_by_board(self._folder).get(board, ())]
            if not names:
                raise no_shards(self._folder, [board])
            place.shards = [names[i] for i in self._rng(board).permutation(len(names))]
        place.first = place.last
        count = 0
        while place.last < len(place.shards) and count < self._group_positions:
            count += shard_length(self._folder / place.shards[place.last])
            place.last += 1
        place.position = 0

    def _group(self, board: BoardSides) -> Packed:
        """Return the positions of the current group of a board size."""
        place = self._places[board]
        names = place.shards[place.first : place.last]
        names = sorted(names) if self._in_memory else names
        if board not in self._held or self._held[board][0] != names:
            self._held.pop(board, None)  # as above
            self._held[board] = names, self._read(names)
        return self._held[board][1]

    def _read(self, names: Sequence[str]) -> Packed:
        """Return the positions of some shards of one board size, one after the other."""
        paths, joined, filled = [self._folder / name for name in names], dict[str, Tensor](), 0
        device, count = self._device if self._in_memory else torch.device("cpu"), sum(map(shard_length, paths))
        try:
            with ThreadPoolExecutor(_READERS) as pool:
                for begin in range(0, len(paths), _READERS):  # not all at once: the processor may have less memory
                    for samples, _ in pool.map(read_shard, paths[begin : begin + _READERS]):
                        for name, values in tensors_of(samples).items():
                            if name not in joined:
                                shape = (count, *values.shape[1:])
                                joined[name] = torch.empty(shape, dtype=values.dtype, device=device)
                            joined[name][filled : filled + len(values)] = values.to(device)
                        filled += samples.count
        except torch.OutOfMemoryError as error:
            raise ShardError(
                f"the positions in {shown_path(self._folder)} do not fit into the memory of {device}",
                advice="train without --in-memory, or on fewer positions",
            ) from error
        return joined

    def _rng(self, board: BoardSides, *more: int) -> np.random.Generator:
        return np.random.default_rng((self._seed, *board, self._places[board].epoch, *more))


def tensors_of(samples: Samples) -> dict[str, Tensor]:
    """Return samples as tensors by name, which share their memory."""
    return {name: torch.from_numpy(array) for name, array in samples._asdict().items()}


def unpack(samples: Packed, board: BoardSides, symmetries: Sequence[int] = (0,)) -> SampleBatch:
    """Return packed samples as a batch; equal parts of them, in order, are shown in each of `symmetries`."""
    width, height = board
    planes = unpack_bits(samples["planes"], width, height).flatten(2)
    with_pass = [_cells(width, height, symmetry, planes.device) for symmetry in symmetries]
    points = [cells[:-1] for cells in with_pass]

    def turned(array: Tensor, cells: list[Tensor]) -> Tensor:
        parts = array.tensor_split(len(symmetries))
        return torch.cat([part.index_select(-1, order) for part, order in zip(parts, cells, strict=True)])

    return SampleBatch(
        planes=turned(planes, points).view(*planes.shape[:2], height, width),
        globals=samples["globals"],
        policy=turned(samples["policy"], with_pass).float(),
        value=samples["value"].float(),
        score=samples["score"],
        ownership=turned(samples["ownership"], points).float() / OWNERSHIP_UNIT,
        optimistic=turned(samples["optimistic"], with_pass).float(),
        ranks=samples["ranks"],
    )


def unpack_bits(packed: Tensor, width: int, height: int) -> Tensor:
    """Return planes [N, P, H, W], uint8, from their bits [N, P, ⌈A/8⌉] (`numpy.packbits`), on the same device."""
    shifts = torch.arange(7, -1, -1, device=packed.device, dtype=torch.uint8)
    bits = packed[..., None].bitwise_right_shift(shifts).bitwise_and(1)
    area: Tensor = bits.flatten(2)[:, :, : width * height]
    return area.reshape(*area.shape[:2], height, width)


@cache
def _cells(width: int, height: int, symmetry: int, device: torch.device) -> Tensor:
    """Return, for each cell of a board in a symmetry, the cell that it shows; the pass, last, stays."""
    return torch.from_numpy(np.append(cell_orders(width, height)[symmetry], width * height)).to(device)
