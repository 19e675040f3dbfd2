"""Batches of samples from shards that all lie in the memory of the device, packed as on disk, and are unpacked there.

A GPU trains a small network faster than processor cores unpack its samples.  On 19×19 a position takes 2.9 KB, on
13×13 1.4 KB, on 9×9 0.8 KB, so that ten million of all boards fit into 20 GB.

    ResidentBatches   a stream like `batches.Batches`
    unpack_bits       planes from their bits, on any device
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Self

import numpy as np
import torch
from torch import Tensor

from gtp_engine.errors import TengenError, problem, shown_path
from gtp_engine.nn.symmetry import symmetry_count
from gtp_engine.training.core.game_data import turned_boards
from gtp_engine.training.distillation.batches import Batch, Board, no_shards, shard_length
from gtp_engine.training.distillation.shards import (
    OWNERSHIP_UNIT,
    Samples,
    parse_name,
    read_shard,
    shard_paths,
)

_READERS: Final = 8
"""Threads that read shards: checking sums and copying release the GIL."""


class DeviceMemoryError(TengenError):
    """Positions that do not fit into the memory of the device."""


class ResidentBatches:
    """An endless stream of batches of `size` positions from the shards in `folder` now, in the memory of `device`.

    `shares` are the frequencies of board sizes, and those without a share are left out; {} means in proportion to their
    positions.  The positions of a board are shuffled for each epoch; those at its end that do not fill a batch are left
    out.  Each batch shows its positions in all orientations of the board, an equal share in each.

    Raises ShardError if there are no shards, or one is damaged, DeviceMemoryError if they do not fit into memory.
    """

    def __init__(
        self,
        folder: Path,
        size: int,
        *,
        seed: int,
        device: torch.device,
        shares: Mapping[Board, float] = MappingProxyType({}),
    ) -> None:
        self._size: Final = size
        self._seed: Final = seed
        self._device: Final = device
        try:
            self._samples: Final = _load(folder, device, shares)
        except torch.OutOfMemoryError as error:
            raise DeviceMemoryError(
                problem(
                    f"the positions in {shown_path(folder)} do not fit into the memory of {device}",
                    advice="train without --in-memory, or on fewer positions",
                )
            ) from error
        if not self._samples:
            raise no_shards(folder, shares)
        counts = self.positions
        weights = {board: shares.get(board, counts[board]) for board in sorted(counts)}
        self._shares: Final = {board: weight / sum(weights.values()) for board, weight in weights.items()}
        self._step = 0
        self._places: dict[Board, tuple[int, int]] = dict.fromkeys(counts, (0, 0))  # epoch, positions used in it
        self._orders: dict[Board, tuple[int, Tensor]] = {}  # epoch, its order

    @property
    def positions(self) -> dict[Board, int]:
        """The number of positions of each board."""
        return {board: len(samples["game"]) for board, samples in self._samples.items()}

    def state(self) -> dict[str, Any]:
        """Return the place in the stream, as plain values."""
        return {"step": self._step, "resident": dict(self._places)}

    def go_to(self, state: dict[str, Any]) -> None:
        """Continue at a place that `state` returned, or begin again if it is that of a stream of another kind."""
        self._step = state["step"]
        self._places |= {board: place for board, place in state.get("resident", {}).items() if board in self._places}

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Batch:
        """Return the next batch, on the device."""
        rng = np.random.default_rng((self._seed, self._step))
        boards = list(self._shares)
        board = boards[rng.choice(len(boards), p=list(self._shares.values()))]
        rows = self._next_rows(board)
        self._step += 1
        chosen = {name: array.index_select(0, rows) for name, array in self._samples[board].items() if name != "game"}
        return _unpacked(chosen, board, rng.permutation(symmetry_count(*board)).tolist())

    def _next_rows(self, board: Board) -> Tensor:
        """Return the next positions of a board, by index."""
        epoch, used = self._places[board]
        count = len(self._samples[board]["game"])
        if used and used + self._size > count:
            epoch, used = epoch + 1, 0
        if board not in self._orders or self._orders[board][0] != epoch:
            order = np.random.default_rng((self._seed, *board, epoch)).permutation(count)
            self._orders[board] = epoch, torch.from_numpy(order).to(self._device)
        self._places[board] = epoch, used + self._size
        return self._orders[board][1][used : used + self._size]


def unpack_bits(packed: Tensor, width: int, height: int) -> Tensor:
    """Return planes [N, P, H, W], uint8, from their bits [N, P, ⌈A/8⌉] (`numpy.packbits`), on the same device."""
    shifts = torch.arange(7, -1, -1, device=packed.device, dtype=torch.uint8)
    bits = packed[..., None].bitwise_right_shift(shifts).bitwise_and(1)
    area: Tensor = bits.flatten(2)[:, :, : width * height]
    return area.reshape(*area.shape[:2], height, width)


def _load(folder: Path, device: torch.device, shares: Mapping[Board, float]) -> dict[Board, dict[str, Tensor]]:
    """Return the arrays of all shards in a folder, joined, by board and name."""
    paths = [path for path in shard_paths(folder) if not shares or parse_name(path)[:2] in shares]
    counts: dict[Board, int] = {}
    places = []
    for path in paths:
        board = parse_name(path)[:2]
        places.append(counts.get(board, 0))
        counts[board] = counts.get(board, 0) + shard_length(path)
    joined: dict[Board, dict[str, Tensor]] = {board: {} for board in counts}
    with ThreadPoolExecutor(_READERS) as pool:
        for begin in range(0, len(paths), _READERS):  # not all at once: the processor may have less memory
            some = slice(begin, begin + _READERS)
            for path, place, samples in zip(paths[some], places[some], pool.map(_samples_in, paths[some]), strict=True):
                board = parse_name(path)[:2]
                _put(joined[board], place, samples, count=counts[board], device=device)
    return joined


def _samples_in(path: Path) -> Samples:
    return read_shard(path)[0]


def _put(arrays: dict[str, Tensor], place: int, samples: Samples, *, count: int, device: torch.device) -> None:
    """Write the samples of a shard into the arrays for `count` of them, from `place` on."""
    for name, array in samples._asdict().items():
        values = torch.from_numpy(array)
        if name not in arrays:
            arrays[name] = torch.empty((count, *array.shape[1:]), dtype=values.dtype, device=device)
        arrays[name][place : place + len(array)] = values.to(device)


@cache
def _cells(width: int, height: int, symmetry: int, device: torch.device) -> Tensor:
    """Return, for each cell of a board in a symmetry, the cell that it shows; the pass, last, stays."""
    numbers = turned_boards(np.arange(width * height).reshape(height, width), symmetry).ravel()
    return torch.from_numpy(np.append(numbers, width * height)).to(device)


def _unpacked(samples: dict[str, Tensor], board: Board, symmetries: list[int]) -> Batch:
    """Return packed samples as a batch; equal parts of them, in order, are shown in each of `symmetries`."""
    width, height = board
    planes = unpack_bits(samples["planes"], width, height).flatten(2)
    with_pass = [_cells(width, height, symmetry, planes.device) for symmetry in symmetries]
    points = [cells[:-1] for cells in with_pass]

    def turned(array: Tensor, cells: list[Tensor]) -> Tensor:
        parts = array.tensor_split(len(symmetries))
        return torch.cat([part.index_select(-1, order) for part, order in zip(parts, cells, strict=True)])

    return Batch(
        planes=turned(planes, points).view(*planes.shape[:2], height, width),
        globals=samples["globals"],
        policy=turned(samples["policy"], with_pass).float(),
        value=samples["value"].float(),
        score=samples["score"],
        ownership=turned(samples["ownership"], points).float() / OWNERSHIP_UNIT,
        optimistic=turned(samples["optimistic"], with_pass).float(),
    )
