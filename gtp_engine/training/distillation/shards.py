"""Shards: the files of labelled positions that training reads, and what writes, reads and counts them.

A shard is a `.npz` of N positions on boards of one size (H rows, W columns, A = H·W points):

    planes     uint8 [N, 22, ⌈A/8⌉]  bits of KataGo's input planes, version 7 (`numpy.packbits` of rows of the board)
    globals    float32 [N, 19]       the values beside them
    policy     float16 [N, A + 1]    probabilities of the legal moves, the pass last; illegal ones have 0
    value      float16 [N, 3]        probabilities that the side to move wins, that it loses, of no result
    score      float32 [N, 6]        mean and standard deviation of the score, lead: points, for the side to move;
                                     variance of the moves left; expected errors over the next moves of win − loss, and
                                     of the score.  −1: the teacher has no output for it (only the last three)
    ownership  int8 [N, A]           round(127 · ownership), positive where the side to move owns a point
    optimistic float16 [N, A + 1]    the optimistic policy, like `policy`; zeros if the teacher has none
    ranks      int8 [N, 2]           ranks of the side to move and its opponent (`HumanProfile`); 0: no people
    game       int64 [N]             number of the game that a position is from
    meta       JSON: format, width, height, teacher, teacher_sha256, licence, seed

A folder of data has two folders of shards, `train` and `held-out`; a game is in one of them.  The name of a shard is
`<W>x<H>-<seed>-<number>.npz`.  In shards of 8192 positions each takes 0.93 KB on 19×19, 0.46 KB on 13×13 and 0.24 KB on
9×9 without an optimistic policy, where the arrays have 2.9, 1.4 and 0.8 KB.

A position of a game between people (`human_data`) has the move played as its policy, and nothing but the result of the
game beside: its ownership is UNKNOWN_OWNER, its score not a number, its value 0 where the result is unknown.
"""

import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.base.errors import TengenError, shown, shown_path
from gtp_engine.base.files import ZIP_DAMAGE, json_of, open_regular, replacing, writing
from gtp_engine.nn import decode
from gtp_engine.nn.katago_inputs import ADVANTAGE, GLOBALS, PLANES
from gtp_engine.training.core.game_data import number_of

FORMAT: Final = 3
TRAIN: Final = "train"
HELD_OUT: Final = "held-out"
"""Names of the two folders."""
SHARD_SIZES: Final[Mapping[str, int]] = MappingProxyType({TRAIN: 8192, HELD_OUT: 1024})
"""Positions of a shard: 3 to 6 MB on 19×19, so that a reader can hold several; of one that is held out few, so that
validation can begin early."""
BUFFER_SHARDS: Final = 2
"""A shard is drawn from the samples of this many, so that it has samples of more games than run at a time."""
OWNERSHIP_UNIT: Final = 127
"""Factor of ownership, −1 to 1."""
UNKNOWN_OWNER: Final = -128
SCORES: Final = 6
ALWAYS_KNOWN: Final = 3
"""Values of `score`, and how many of them every teacher has."""
UNKNOWN: Final = decode.UNKNOWN
"""In `score`: what the teacher has no output for."""
PLAYER_GAME: Final = 1 << 31
"""The bit of a game's number that is set if its moves are not the teacher's, but another player's."""

BoardSides = tuple[int, int]
"""Width and height of a board, in points."""

_NAME: Final = re.compile(r"(\d+)x(\d+)-(\d+)-(\d+)\.npz")


class ShardError(TengenError, ValueError):
    """A shard that cannot be read or written, or does not match its name or metadata."""


class Samples(NamedTuple):
    """The arrays of N positions, see the module's docstring."""

    planes: NDArray[np.uint8]
    globals: NDArray[np.float32]
    policy: NDArray[np.float16]
    value: NDArray[np.float16]
    score: NDArray[np.float32]
    ownership: NDArray[np.int8]
    optimistic: NDArray[np.float16]
    ranks: NDArray[np.int8]
    game: NDArray[np.int64]

    @property
    def count(self) -> int:  # type: ignore[override]  # hides a tuple's method
        """The number of positions, N."""
        return len(self.game)

    def take(self, rows: NDArray[Any] | slice) -> "Samples":
        """Return copies of some positions, by index or by a mask; of those of a slice, views."""
        return Samples._make(array[rows] for array in self)


@dataclass(frozen=True)
class ShardMeta:
    """The origin of a shard's positions."""

    width: int
    height: int
    teacher: str
    """Name of the network that labelled them."""
    teacher_sha256: str
    """Hash of its file."""
    licence: str
    """Its licence, for people."""
    seed: int
    """Seed of the run that generated them."""


class ShardName(NamedTuple):
    """The parts of a shard's name."""

    width: int
    height: int
    seed: int
    number: int

    def __str__(self) -> str:
        return f"{self.width}x{self.height}-{self.seed}-{self.number:05}.npz"


def parse_name(path: Path) -> ShardName:
    """Return the parts of a shard's name; raises ShardError for other names."""
    found = _NAME.fullmatch(path.name)
    if found is None:
        raise ShardError(f"file {shown(path.name)}", expected="a shard's name, such as 19x19-1-00000.npz")
    return ShardName(*map(int, found.groups()))


def shard_paths(folder: Path) -> list[Path]:
    """Return the shards in a folder, sorted by board, seed and number; raises ShardError if it is not a folder."""
    if not folder.is_dir():
        raise ShardError(f"no folder {shown_path(folder)}", expected="a folder of shards")
    return sorted((path for path in folder.iterdir() if _NAME.fullmatch(path.name)), key=parse_name)


def shards_by_board(folder: Path) -> dict[BoardSides, list[Path]]:
    """Return the shards of each board, by width and height, sorted; raises ShardError like `shard_paths`."""
    return {board: [*paths] for board, paths in groupby(shard_paths(folder), lambda path: parse_name(path)[:2])}


def unused_seed(folder: Path, seed: int) -> int:
    """Make the two folders in a folder of data; return the first seed from `seed` on above those of the shards there.

    Raises ShardError.
    """
    for part in (folder / TRAIN, folder / HELD_OUT):
        with writing(part, ShardError, "shards to"):
            part.mkdir(parents=True, exist_ok=True)
        seed = max([seed, *(parse_name(path).seed + 1 for path in shard_paths(part))])
    return seed


def join(parts: Sequence[Samples]) -> Samples:
    """Return the positions of all parts, of which there is at least one."""
    return Samples._make(np.concatenate(arrays) for arrays in zip(*parts, strict=True))


def is_of_player(games: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each number of a game whether another player than the teacher made its moves."""
    found: NDArray[np.bool_] = games & PLAYER_GAME != 0
    return found


def record_number(name: str) -> int:
    """Return the number of a recorded game from its name (`number_of`), without the bit `PLAYER_GAME`."""
    return number_of(name) & ~PLAYER_GAME & (1 << 63) - 1


def write_shard(path: Path, samples: Samples, meta: ShardMeta, *, compressed: bool = True) -> None:
    """Write a shard, under its name only once it is complete; compression takes far longer than writing.

    Raises ShardError for arrays of other shapes, for a shard that exists already, and where it cannot be written.
    """
    _check(path, samples, meta)
    if path.exists():
        raise ShardError(f"shard {shown_path(path)} exists already", advice="use another seed")
    text = json.dumps({"format": FORMAT, **asdict(meta)})
    with writing(path, ShardError, "shard"), replacing(path) as unfinished, open(unfinished, "wb") as file:
        save = np.savez_compressed if compressed else np.savez
        save(file, meta=np.array(text), **samples._asdict())


@dataclass(frozen=True, eq=False)
class ShardWriter:
    """Writes samples to `folder` as shards, each drawn at random from the samples of several; `close` writes the rest.

    `meta_of` returns the origin of the samples of a board; its seed is that in the names of the shards, of which there
    must be none yet.
    """

    folder: Path
    rng: np.random.Generator
    meta_of: Callable[[BoardSides], ShardMeta]
    compressed: bool = True
    _numbers: Counter[tuple[str, BoardSides]] = field(default_factory=Counter, init=False)
    _waiting: dict[tuple[str, BoardSides], list[Samples]] = field(default_factory=dict, init=False)

    def add(self, split: str, board: BoardSides, samples: Samples) -> None:
        """Add samples to one of the two folders, and write a shard when there are enough."""
        place = (split, board)
        self._waiting.setdefault(place, []).append(samples)
        if self._waiting_at(place) >= BUFFER_SHARDS * SHARD_SIZES[split]:
            self._write(place)

    def close(self) -> None:
        """Write all samples that wait for a full shard."""
        for place in self._waiting:
            while self._waiting_at(place):
                self._write(place)

    def _waiting_at(self, place: tuple[str, BoardSides]) -> int:
        return sum(part.count for part in self._waiting[place])

    def _write(self, place: tuple[str, BoardSides]) -> None:
        """Write a shard of some of the waiting samples."""
        split, board = place
        samples, meta = join(self._waiting[place]), self.meta_of(board)
        chosen, rest = np.split(self.rng.permutation(samples.count), [SHARD_SIZES[split]])
        name = ShardName(*board, meta.seed, self._numbers[place])
        write_shard(self.folder / split / str(name), samples.take(chosen), meta, compressed=self.compressed)
        self._numbers[place] += 1
        self._waiting[place] = [samples.take(rest)]


def read_shard(path: Path) -> tuple[Samples, ShardMeta]:
    """Return the positions of a shard and their origin; raises ShardError."""
    try:
        with open_regular(path) as stream, np.load(stream, allow_pickle=False) as file:
            values: dict[str, Any] = json_of(str(file["meta"]))
            if values.pop("format") != FORMAT:
                raise ShardError(f"shard {shown(path.name)} has another format", expected=f"{FORMAT}")
            samples = Samples(**{name: file[name] for name in Samples._fields})
        meta = ShardMeta(**values)
    except OSError as error:
        raise ShardError(f"cannot read shard {shown_path(path)}: {error.strerror or error}") from error
    except ZIP_DAMAGE as error:
        if isinstance(error, ShardError):
            raise
        raise _damaged(path, str(error)) from error
    if _NAME.fullmatch(path.name) and parse_name(path)[:2] != (meta.width, meta.height):
        given = f"shard {shown(path.name)} has positions on {meta.width}x{meta.height}"
        raise ShardError(given, expected="those on the board of its name", advice="delete it")
    _check(path, samples, meta)
    return samples, meta


@lru_cache(maxsize=100_000)
def shard_length(path: Path) -> int:
    """Return the number of positions in a shard, from the header of one array; raises ShardError."""
    try:
        with open_regular(path) as stream, zipfile.ZipFile(stream) as archive, archive.open("game.npy") as file:
            np.lib.format.read_magic(file)
            count = int(np.lib.format.read_array_header_1_0(file)[0][0])
    except (OSError, *ZIP_DAMAGE) as error:
        raise _damaged(path, str(error)) from error
    if count == 0:
        raise ShardError(f"shard {shown(path.name)} has no positions", advice="delete it")
    return count


def count_positions(folder: Path, boards: Collection[BoardSides] = ()) -> Counter[BoardSides]:
    """Return the number of positions of each of these boards, of all where none are named, in a folder of shards.

    Raises ShardError.
    """
    found = shards_by_board(folder)
    return Counter({board: sum(map(shard_length, found[board])) for board in found if not boards or board in boards})


def no_shards(folder: Path, boards: Iterable[BoardSides]) -> ShardError:
    """Return the error that there are no shards of these boards in a folder, of any where none are named."""
    names = ", ".join(f"{width}x{height}" for width, height in boards)
    return ShardError(f"no shards in {shown_path(folder)}", expected=f"some of the boards {names}" if names else "some")


class DataFacts(NamedTuple):
    """What is known of the positions to train on."""

    teacher: str
    """The names of the networks that labelled them."""
    has_advantages: bool
    """Whether games were played with playout doubling advantages."""
    has_optimistic_policy: bool
    """Whether there are labels for an optimistic policy."""
    has_errors: bool
    """Whether there are labels for the time left and the expected errors."""
    has_ranks: bool
    """Whether there are games between people."""


def facts_of(folder: Path) -> DataFacts:
    """Return what the first shard of each board in a folder says of its positions; a shard is of many games."""
    found = [read_shard(path) for path, *_ in shards_by_board(folder).values()]
    shards = [samples for samples, _ in found]
    return DataFacts(
        teacher=", ".join(sorted({meta.teacher for _, meta in found})),
        has_advantages=any(each.globals[:, ADVANTAGE].any() for each in shards),
        has_optimistic_policy=bool(shards) and all(each.optimistic.any() for each in shards),
        has_errors=bool(shards) and all((each.score[:, ALWAYS_KNOWN:] != UNKNOWN).all() for each in shards),
        has_ranks=any(each.ranks.any() for each in shards),
    )


def _damaged(path: Path, reason: str) -> ShardError:
    return ShardError(f"shard {shown(path.name)} is damaged ({reason})", advice="delete it")


def _check(path: Path, samples: Samples, meta: ShardMeta) -> None:
    """Raise ShardError unless the arrays have the types and shapes of a shard."""
    count, points = samples.count, meta.width * meta.height
    layout: dict[str, tuple[type[Any], tuple[int, ...]]] = {
        "planes": (np.uint8, (count, PLANES, -(-points // 8))),
        "globals": (np.float32, (count, GLOBALS)),
        "policy": (np.float16, (count, points + 1)),
        "value": (np.float16, (count, 3)),
        "score": (np.float32, (count, SCORES)),
        "ownership": (np.int8, (count, points)),
        "optimistic": (np.float16, (count, points + 1)),
        "ranks": (np.int8, (count, 2)),
        "game": (np.int64, (count,)),
    }
    for name, (kind, shape) in layout.items():
        array = getattr(samples, name)
        if array.dtype != kind or array.shape != shape:
            reason = f"{name} is {array.dtype} {array.shape}, not {np.dtype(kind)} {shape}"
            raise _damaged(path, reason)
