"""Batches of samples for training, drawn from a folder of shards that may still be growing.

    Batch      N positions of one board size, unpacked, as torch tensors
    Batches    an endless stream of them, in an order that its seed and `state` fix

Every board size has a stream of its own: its shards in random order, a few of them at a time joined and shuffled (a
group), so that neighbours in a shard do not stay neighbours.  After an epoch the folder is read again, so that new
shards are included.  The size of the next batch is drawn in proportion to the number of positions.

Each batch shows its positions in all orientations of the board, an equal share in each.
"""

import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gtp_engine.errors import problem, shown, shown_path
from gtp_engine.files import ZIP_DAMAGE
from gtp_engine.nn.symmetry import symmetry_count
from gtp_engine.training.core.game_data import turned_boards, turned_points
from gtp_engine.training.distillation.shards import (
    OWNERSHIP_UNIT,
    Samples,
    ShardError,
    join,
    parse_name,
    read_shard,
    shard_paths,
)

GROUP_POSITIONS: Final = 65_536
"""Positions that are shuffled together: 150 MB on 19×19."""

Board = tuple[int, int]
"""Width and height."""


class Batch(NamedTuple):
    """N positions on boards of H rows and W columns, A = H·W; everything for the side to move."""

    planes: Tensor  # uint8 [N, 22, H, W]
    globals: Tensor  # float32 [N, 19]
    policy: Tensor  # float32 [N, A + 1] probabilities, the pass last
    value: Tensor  # float32 [N, 3] win, loss, no result
    score: Tensor  # float32 [N, 6] mean, standard deviation, lead, …; −1 where unknown (`shards`)
    ownership: Tensor  # float32 [N, A] −1 to 1
    optimistic: Tensor  # float32 [N, A + 1] probabilities; zeros where unknown

    @property
    def board(self) -> Board:
        """Width and height."""
        return self.planes.shape[3], self.planes.shape[2]

    def split(self, shares: int) -> list["Batch"]:
        """Return the batch in up to `shares` shares of about the same size, none of them empty."""
        shares = min(shares, len(self.planes))
        return [Batch(*share) for share in zip(*(tensor.tensor_split(shares) for tensor in self), strict=True)]

    def to(self, device: torch.device) -> "Batch":
        """Return the batch on `device`."""
        return Batch(*(tensor.to(device, non_blocking=True) for tensor in self))


@dataclass
class _Place:
    """The place in the stream of one board size."""

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
    """An endless stream of batches of `size` positions from the shards in `folder`.

    `shares` are the frequencies of board sizes, and those without a share are left out; {} means in proportion to their
    positions.  Positions at the end of a group that do not fill a batch wait for the next epoch.

    Raises ShardError if there are no shards, all of a board have been deleted, or one is damaged.
    """

    def __init__(
        self,
        folder: Path,
        size: int,
        *,
        seed: int,
        shares: Mapping[Board, float] = MappingProxyType({}),
        group_positions: int = GROUP_POSITIONS,
    ) -> None:
        self._folder = folder
        self._size = size
        self._seed = seed
        self._shares = shares
        self._group_positions = group_positions
        self._places: dict[Board, _Place] = {}
        self._counts: dict[Board, int] = {}
        self._groups: dict[Board, Samples] = {}
        self._step = 0
        self._count()

    def state(self) -> dict[str, Any]:
        """Return the place in the stream, as plain values."""
        return {
            "step": self._step,
            "places": {board: vars(place) | {"shards": list(place.shards)} for board, place in self._places.items()},
            "counts": dict(self._counts),
        }

    def go_to(self, state: dict[str, Any]) -> None:
        """Continue at a place that `state` returned, or begin again if it is that of a stream of another kind.

        Raises ShardError if shards of that epoch are missing.
        """
        self._step = state["step"]
        self._places = {board: _Place(**place) for board, place in state.get("places", {}).items()}
        self._counts = dict(state.get("counts", self._counts))
        self._groups = {}

    @property
    def shares(self) -> dict[Board, float]:
        """The share of the batches that each board size has, by board."""
        weights = {board: self._shares.get(board, self._counts[board]) for board in sorted(self._counts)}
        total = sum(weights.values())
        return {board: weight / total for board, weight in weights.items()}

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        """Return the next batch."""
        rng = np.random.default_rng((self._seed, self._step))
        shares = self.shares
        board = list(shares)[rng.choice(len(shares), p=list(shares.values()))]
        samples = self._take(board)
        self._step += 1
        return unpack(samples, board, rng.permutation(symmetry_count(*board)))

    def _count(self) -> None:
        """Count the positions in the folder."""
        counts = count_positions(self._folder)
        self._counts = {board: n for board, n in counts.items() if not self._shares or board in self._shares}
        if not self._counts:
            raise no_shards(self._folder, self._shares)

    def _take(self, board: Board) -> Samples:
        """Return the next positions of a board size."""
        place = self._places.setdefault(board, _Place())
        if board not in self._groups and place.shards:
            self._groups[board] = self._group(board, place)
        group = self._groups.get(board)
        if group is None or (place.position and place.position + self._size > group.count):
            self._next_group(board, place)
            group = self._groups[board]
        rows = slice(place.position, place.position + self._size)
        place.position += self._size
        return Samples._make(array[rows] for array in group)

    def _next_group(self, board: Board, place: _Place) -> None:
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

    def _group(self, board: Board, place: _Place) -> Samples:
        """Return the positions of the current group, shuffled."""
        paths = [self._folder / name for name in place.shards[place.first : place.last]]
        samples = join([read_shard(path)[0] for path in paths])
        return samples.take(self._rng(board, place, place.first).permutation(samples.count))

    def _rng(self, board: Board, place: _Place, *more: int) -> np.random.Generator:
        return np.random.default_rng((self._seed, *board, place.epoch, *more))


def unpack(samples: Samples, board: Board, symmetries: Sequence[int] | NDArray[np.int64] = (0,)) -> Batch:
    """Return samples as a batch; equal parts of them, in order, are shown in each of `symmetries`."""
    width, height = board
    bits = np.unpackbits(samples.planes, axis=2, count=width * height).reshape(samples.count, -1, height, width)
    planes = np.empty_like(bits)
    policy, ownership, optimistic = [], [], []
    for rows, symmetry in zip(np.array_split(np.arange(samples.count), len(symmetries)), symmetries, strict=True):
        part = slice(rows[0], rows[-1] + 1) if len(rows) else slice(0, 0)
        planes[part] = turned_boards(bits[part], int(symmetry))
        policy.append(turned_points(samples.policy[part], width, height, int(symmetry)))
        ownership.append(turned_points(samples.ownership[part], width, height, int(symmetry)))
        optimistic.append(turned_points(samples.optimistic[part], width, height, int(symmetry)))
    return Batch(
        planes=torch.from_numpy(planes),
        globals=torch.from_numpy(samples.globals.copy()),
        policy=torch.from_numpy(np.concatenate(policy).astype(np.float32)),
        value=torch.from_numpy(samples.value.astype(np.float32)),
        score=torch.from_numpy(samples.score.copy()),
        ownership=torch.from_numpy(np.concatenate(ownership).astype(np.float32) / OWNERSHIP_UNIT),
        optimistic=torch.from_numpy(np.concatenate(optimistic).astype(np.float32)),
    )


def count_positions(folder: Path) -> Counter[Board]:
    """Return the number of positions of each board size in a folder of shards; raises ShardError."""
    counts: Counter[Board] = Counter()
    for path in shard_paths(folder):
        counts[parse_name(path)[:2]] += shard_length(path)
    return counts


def no_shards(folder: Path, boards: Iterable[Board]) -> ShardError:
    """Return the error that there are no shards of these boards in a folder, of any where none are named."""
    names = ", ".join(f"{width}x{height}" for width, height in boards)
    expected = f"some of the boards {names}" if names else "some"
    return ShardError(problem(f"no shards in {shown_path(folder)}", expected=expected))


@lru_cache(maxsize=100_000)
def shard_length(path: Path) -> int:
    """Return the number of positions in a shard, from the header of one array; raises ShardError."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open("game.npy") as file:
            np.lib.format.read_magic(file)
            count = int(np.lib.format.read_array_header_1_0(file)[0][0])
    except (OSError, *ZIP_DAMAGE) as error:
        raise ShardError(problem(f"shard {shown(path.name)} is damaged ({error})", advice="delete it")) from error
    if count == 0:
        raise ShardError(problem(f"shard {shown(path.name)} has no positions", advice="delete it"))
    return count
