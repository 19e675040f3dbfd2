"""Batches of samples for training, drawn from a folder of shards.

    SampleBatch            N positions of one board size, unpacked, as torch tensors
    Batches          an endless stream of them, in an order that its seed and `state` fix
    ShardGroups      where they come from: shards on disk, in a folder that may still be growing
    ResidentShards   the same, all of them in the memory of the device, packed as on disk

The size of the next batch is drawn in proportion to the number of positions.  Each batch shows its positions in all
orientations of the board, an equal share in each.  They are unpacked on the device that trains: a GPU trains a
small network faster than processor cores unpack its samples.
"""

import zipfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from gtp_engine.base.errors import problem, shown, shown_path
from gtp_engine.base.files import ZIP_DAMAGE, open_regular
from gtp_engine.nn.symmetry import symmetry_count
from gtp_engine.training.core.game_data import turned_boards
from gtp_engine.training.distillation.shards import (
    OWNERSHIP_UNIT,
    BoardSides,
    Samples,
    ShardError,
    join,
    parse_name,
    read_shard,
    shard_paths,
)

GROUP_POSITIONS: Final = 65_536
"""Positions that are shuffled together: 150 MB on 19×19."""

_READERS: Final = 8
"""Threads that read shards into memory: checking sums and copying release the GIL."""

_PROCESSOR: Final = torch.device("cpu")
_EVERY_BOARD: Final[Mapping[BoardSides, float]] = MappingProxyType({})

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

    def split(self, shares: int) -> list["SampleBatch"]:
        """Return the batch in up to `shares` shares of about the same size, none of them empty."""
        shares = min(shares, len(self.planes))
        return [SampleBatch(*share) for share in zip(*(tensor.tensor_split(shares) for tensor in self), strict=True)]

    def to(self, device: torch.device) -> "SampleBatch":
        """Return the batch on `device`."""
        return SampleBatch(*(tensor.to(device, non_blocking=True) for tensor in self))


class SampleSource(Protocol):
    """Where a stream takes its samples from."""

    @property
    def seed(self) -> int:
        """The seed of its order, and of the stream's."""
        ...

    @property
    def weights(self) -> Mapping[BoardSides, float]:
        """How often each board comes, with any sum: the shares that were asked for, or the numbers of positions."""
        ...

    def take(self, board: BoardSides, size: int) -> Packed:
        """Return the next `size` positions of a board, or fewer if it has no more."""
        ...

    def state(self) -> dict[str, Any]:
        """Return the place in it, as plain values."""
        ...

    def go_to(self, state: dict[str, Any]) -> None:
        """Continue at a place that `state` returned, or begin again if it is that of a source of another kind."""
        ...


class Batches:
    """An endless stream of batches of `size` positions from a source, on `device`."""

    def __init__(self, source: SampleSource, size: int, device: torch.device = _PROCESSOR) -> None:
        self._source: Final = source
        self._size: Final = size
        self._device: Final = device
        self._step = 0

    def state(self) -> dict[str, Any]:
        """Return the place in the stream, as plain values."""
        return {"step": self._step, **self._source.state()}

    def go_to(self, state: dict[str, Any]) -> None:
        """Continue at a place that `state` returned; raises ShardError if shards of that epoch are missing."""
        self._step = state["step"]
        self._source.go_to(state)

    @property
    def shares(self) -> dict[BoardSides, float]:
        """The share of the batches that each board size has, by board."""
        weights = self._source.weights
        total = sum(weights[board] for board in sorted(weights))
        return {board: weights[board] / total for board in sorted(weights)}

    def __iter__(self) -> Iterator[SampleBatch]:
        return self

    def __next__(self) -> SampleBatch:
        """Return the next batch; raises ShardError as its source does."""
        rng = np.random.default_rng((self._source.seed, self._step))
        shares = self.shares
        board = list(shares)[rng.choice(len(shares), p=list(shares.values()))]
        packed = self._source.take(board, self._size)
        self._step += 1
        samples = {name: array.to(self._device, non_blocking=True) for name, array in packed.items()}
        return unpack(samples, board, rng.permutation(symmetry_count(*board)).tolist())


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


class ShardGroups:
    """Shards on disk.  Every board size has its own in random order, a few of them at a time joined and shuffled.

    So neighbours in a shard do not stay neighbours.  After an epoch the folder is read again, so that new shards are
    included.  Positions at the end of a group that do not fill a batch wait for the next epoch.

    `shares` are the frequencies of board sizes, and those without a share are left out; {} means in proportion to their
    positions.  Raises ShardError if there are no shards, all of a board have been deleted, or one is damaged.
    """

    def __init__(
        self,
        folder: Path,
        *,
        seed: int,
        shares: Mapping[BoardSides, float] = _EVERY_BOARD,
        group_positions: int = GROUP_POSITIONS,
    ) -> None:
        self.seed: Final = seed
        self._folder: Final = folder
        self._shares: Final = shares
        self._group_positions: Final = group_positions
        self._places: dict[BoardSides, _EpochPlace] = {}
        self._counts: dict[BoardSides, int] = {}
        self._groups: dict[BoardSides, Samples] = {}
        self._count()

    @property
    def weights(self) -> dict[BoardSides, float]:
        """How often each board comes."""
        return {board: self._shares.get(board, count) for board, count in self._counts.items()}

    def state(self) -> dict[str, Any]:
        """Return the place in the shards."""
        return {
            "places": {board: vars(place) | {"shards": list(place.shards)} for board, place in self._places.items()},
            "counts": dict(self._counts),
        }

    def go_to(self, state: dict[str, Any]) -> None:
        """Continue at a place; see `SampleSource`."""
        self._places = {board: _EpochPlace(**place) for board, place in state.get("places", {}).items()}
        self._counts = dict(state.get("counts", self._counts))
        self._groups = {}

    def take(self, board: BoardSides, size: int) -> Packed:
        """Return the next positions of a board."""
        place = self._places.setdefault(board, _EpochPlace())
        if board not in self._groups and place.shards:
            self._groups[board] = self._group(board, place)
        group = self._groups.get(board)
        if group is None or (place.position and place.position + size > group.count):
            self._next_group(board, place)
            group = self._groups[board]
        rows = slice(place.position, place.position + size)
        place.position += size
        return tensors_of(Samples._make(array[rows] for array in group))

    def _count(self) -> None:
        """Count the positions in the folder."""
        self._counts = dict(count_positions(self._folder, self._shares))
        if not self._counts:
            raise no_shards(self._folder, self._shares)

    def _next_group(self, board: BoardSides, place: _EpochPlace) -> None:
        """Go to the next group of a board size, which may begin a new epoch."""
        if place.last >= len(place.shards):
            self._count()
            place.epoch += 1
            place.last = 0
            names = [path.name for path in shard_paths(self._folder) if parse_name(path)[:2] == board]
            if not names:
                raise no_shards(self._folder, [board])
            place.shards = [names[i] for i in self._rng(board, place).permutation(len(names))]
        place.first = place.last
        count = 0
        while place.last < len(place.shards) and count < self._group_positions:
            count += shard_length(self._folder / place.shards[place.last])
            place.last += 1
        place.position = 0
        self._groups[board] = self._group(board, place)

    def _group(self, board: BoardSides, place: _EpochPlace) -> Samples:
        """Return the positions of the current group, shuffled."""
        paths = [self._folder / name for name in place.shards[place.first : place.last]]
        samples = join([read_shard(path)[0] for path in paths])
        return samples.take(self._rng(board, place, place.first).permutation(samples.count))

    def _rng(self, board: BoardSides, place: _EpochPlace, *more: int) -> np.random.Generator:
        return np.random.default_rng((self.seed, *board, place.epoch, *more))


class ResidentShards:
    """All positions of the shards that are in `folder` now, in the memory of `device`.

    The positions of a board are shuffled for each epoch; those at its end that do not fill a batch are left out.  On
    19×19 a position takes 2.9 KB, on 13×13 1.4 KB, on 9×9 0.8 KB, so that ten million of all boards fit into 20 GB.

    `shares` as in `ShardGroups`.  Raises ShardError if there are no shards, one is damaged, or they do not fit
    into memory.
    """

    def __init__(
        self, folder: Path, device: torch.device, *, seed: int, shares: Mapping[BoardSides, float] = _EVERY_BOARD
    ) -> None:
        self.seed: Final = seed
        self._device: Final = device
        try:
            self._samples: Final = _load(folder, device, shares)
        except torch.OutOfMemoryError as error:
            raise ShardError(
                problem(
                    f"the positions in {shown_path(folder)} do not fit into the memory of {device}",
                    advice="train without --in-memory, or on fewer positions",
                )
            ) from error
        if not self._samples:
            raise no_shards(folder, shares)
        self.weights: Final = {board: shares.get(board, count) for board, count in self.positions.items()}
        self._places: dict[BoardSides, tuple[int, int]] = dict.fromkeys(self._samples, (0, 0))  # epoch, positions used
        self._orders: dict[BoardSides, tuple[int, Tensor]] = {}  # epoch, its order

    @property
    def positions(self) -> dict[BoardSides, int]:
        """The number of positions of each board."""
        return {board: len(samples["game"]) for board, samples in self._samples.items()}

    def state(self) -> dict[str, Any]:
        """Return the place in the shards."""
        return {"resident": dict(self._places)}

    def go_to(self, state: dict[str, Any]) -> None:
        """Continue at a place; see `SampleSource`."""
        self._places |= {board: place for board, place in state.get("resident", {}).items() if board in self._places}

    def take(self, board: BoardSides, size: int) -> Packed:
        """Return the next positions of a board."""
        rows = self._next_rows(board, size)
        return {name: array.index_select(0, rows) for name, array in self._samples[board].items() if name != "game"}

    def _next_rows(self, board: BoardSides, size: int) -> Tensor:
        """Return the next positions of a board, by index."""
        epoch, used = self._places[board]
        count = len(self._samples[board]["game"])
        if used and used + size > count:
            epoch, used = epoch + 1, 0
        if board not in self._orders or self._orders[board][0] != epoch:
            order = np.random.default_rng((self.seed, *board, epoch)).permutation(count)
            self._orders[board] = epoch, torch.from_numpy(order).to(self._device)
        self._places[board] = epoch, used + size
        return self._orders[board][1][used : used + size]


def _load(
    folder: Path, device: torch.device, shares: Mapping[BoardSides, float]
) -> dict[BoardSides, dict[str, Tensor]]:
    """Return the arrays of all shards in a folder, joined, by board and name."""
    counts = count_positions(folder, shares)
    paths = [path for path in shard_paths(folder) if parse_name(path)[:2] in counts]
    joined: dict[BoardSides, dict[str, Tensor]] = {board: {} for board in counts}
    filled: Counter[BoardSides] = Counter()
    with ThreadPoolExecutor(_READERS) as pool:
        for begin in range(0, len(paths), _READERS):  # not all at once: the processor may have less memory
            for samples, meta in pool.map(read_shard, paths[begin : begin + _READERS]):
                board = (meta.width, meta.height)
                _put(joined[board], filled[board], samples, count=counts[board], device=device)
                filled[board] += samples.count
    return joined


def _put(arrays: dict[str, Tensor], place: int, samples: Samples, *, count: int, device: torch.device) -> None:
    """Write the samples of a shard into the arrays for `count` of them, from `place` on."""
    for name, values in tensors_of(samples).items():
        if name not in arrays:
            arrays[name] = torch.empty((count, *values.shape[1:]), dtype=values.dtype, device=device)
        arrays[name][place : place + len(values)] = values.to(device)


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
    numbers = turned_boards(np.arange(width * height).reshape(height, width), symmetry).ravel()
    return torch.from_numpy(np.append(numbers, width * height)).to(device)


def count_positions(folder: Path, boards: Collection[BoardSides] = ()) -> Counter[BoardSides]:
    """Return the number of positions of each of these boards, of all where none are named, in a folder of shards.

    Raises ShardError.
    """
    counts: Counter[BoardSides] = Counter()
    for path in shard_paths(folder):
        board = parse_name(path)[:2]
        if not boards or board in boards:
            counts[board] += shard_length(path)
    return counts


def no_shards(folder: Path, boards: Iterable[BoardSides]) -> ShardError:
    """Return the error that there are no shards of these boards in a folder, of any where none are named."""
    names = ", ".join(f"{width}x{height}" for width, height in boards)
    expected = f"some of the boards {names}" if names else "some"
    return ShardError(problem(f"no shards in {shown_path(folder)}", expected=expected))


@lru_cache(maxsize=100_000)
def shard_length(path: Path) -> int:
    """Return the number of positions in a shard, from the header of one array; raises ShardError."""
    try:
        with open_regular(path) as stream, zipfile.ZipFile(stream) as archive, archive.open("game.npy") as file:
            np.lib.format.read_magic(file)
            count = int(np.lib.format.read_array_header_1_0(file)[0][0])
    except (OSError, *ZIP_DAMAGE) as error:
        raise ShardError(problem(f"shard {shown(path.name)} is damaged ({error})", advice="delete it")) from error
    if count == 0:
        raise ShardError(problem(f"shard {shown(path.name)} has no positions", advice="delete it"))
    return count
