"""A growing folder of shards: samples are split by game, freed of duplicates, shuffled and written.

    <folder>/train/<W>x<H>-<seed>-<number>.npz      layout: `shards`
    <folder>/held-out/…

Nothing is ever overwritten, but only one run at a time may write into a folder.  A later run can continue it: the used
seeds and the inputs are read from its shards.
"""

from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.files import writing
from gtp_engine.training.core.game_data import is_held_out
from gtp_engine.training.distillation.distillation_settings import GenerateSettings
from gtp_engine.training.distillation.labelled_games import LabelledBlock
from gtp_engine.training.distillation.shards import (
    HELD_OUT,
    TRAIN,
    BoardSides,
    Samples,
    ShardError,
    ShardMeta,
    ShardName,
    join,
    parse_name,
    read_shard,
    shard_paths,
    write_shard,
)
from gtp_engine.training.distillation.workers import TeacherInfo

SHARD_POSITIONS: Final = 8192
"""Positions of a shard: 3 to 6 MB on 19×19, so that a reader can hold several."""
HELD_OUT_POSITIONS: Final = 1024
"""Positions of a shard that is held out: few, so that validation can begin early."""
BUFFER_SHARDS: Final = 2
"""A shard is drawn from the samples of this many, so that it has samples of more games than run at a time."""

_KEY_BYTES: Final = 8
_RECENT_KEYS: Final = 1 << 17
"""Keys collected in a set before they are sorted into the array, so that sorting takes little of the time."""
_Place = tuple[str, BoardSides]


class SeenKeys:
    """The keys of all samples so far: eight bytes each, the latest ones more."""

    def __init__(self) -> None:
        self._sorted = np.zeros(0, dtype=np.uint64)
        self._recent: set[int] = set()

    def add(self, keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Add keys; return for each of them whether it was new."""
        places = np.searchsorted(self._sorted, keys)
        known = np.zeros(len(keys), dtype=bool)
        inside = places < len(self._sorted)
        known[inside] = self._sorted[places[inside]] == keys[inside]
        for i, key in enumerate(keys.tolist()):
            known[i] |= key in self._recent
            self._recent.add(key)
        if len(self._recent) >= _RECENT_KEYS:
            recent = np.fromiter(self._recent, dtype=np.uint64, count=len(self._recent))
            self._sorted = np.union1d(self._sorted, recent)
            self._recent = set()
        return ~known


def input_keys(samples: Samples) -> NDArray[np.uint64]:
    """Return a key of the network's inputs for each sample: board, last moves, rules and komi."""
    digests = [
        blake2b(planes.tobytes() + values.tobytes(), digest_size=_KEY_BYTES).digest()
        for planes, values in zip(samples.planes, samples.globals, strict=True)
    ]
    return np.frombuffer(b"".join(digests), dtype=np.uint64)


@dataclass(frozen=True)
class FolderSettings:
    """How samples are split and packed."""

    shard_positions: int = SHARD_POSITIONS
    held_out_positions: int = HELD_OUT_POSITIONS
    held_out: float = GenerateSettings.held_out
    """Share of games held out for validation."""
    compressed: bool = True
    """Shards take less than half the space, and a hundred times as long."""


class DataFolder:
    """Takes blocks and writes shards; `close` writes what is left.

    `teachers` are the networks that labelled the shards found at the beginning, names by hash.
    `seed` is the first unused one from `least_seed` on.  `kept` counts the positions of each board, those found at the
    beginning included; `duplicates` counts the samples left out.  Raises ShardError for shards that cannot be read or
    written.
    """

    def __init__(
        self, folder: Path, teacher: TeacherInfo, *, least_seed: int = 0, settings: FolderSettings = FolderSettings()
    ) -> None:
        self.kept: Final[Counter[BoardSides]] = Counter()
        self.teachers: Final[dict[str, str]] = {}
        self.duplicates = 0
        self._folder: Final = folder
        self._teacher: Final = teacher
        self._settings: Final = settings
        self._seen: Final = SeenKeys()
        self._numbers: Final[Counter[_Place]] = Counter()
        self._waiting: Final[dict[_Place, list[Samples]]] = {}
        self.seed: Final = max(least_seed, self._read() + 1)
        self._rng: Final = np.random.default_rng(self.seed)

    @property
    def positions(self) -> int:
        """The number of positions, those not yet written included."""
        return self.kept.total()

    def add(self, block: LabelledBlock) -> int:
        """Add samples, and write shards when there are enough; return how many were new."""
        samples = block.samples.take(self._seen.add(input_keys(block.samples)))
        self.duplicates += block.samples.count - samples.count
        self.kept[block.board] += samples.count
        for split, chosen in self._split(samples).items():
            place = (split, block.board)
            self._waiting.setdefault(place, []).append(chosen)
            if self._waiting_at(place) >= BUFFER_SHARDS * self._shard_positions(split):
                self._write_one(place)
        return samples.count

    def close(self) -> None:
        """Write all samples that wait for a full shard."""
        for place in self._waiting:
            while self._waiting_at(place):
                self._write_one(place)

    def _read(self) -> int:
        """Read the shards in the folder; return the highest seed among them, or −1."""
        seeds = [-1]
        for split in (TRAIN, HELD_OUT):
            folder = self._folder / split
            with writing(folder, ShardError, "shards to"):
                folder.mkdir(parents=True, exist_ok=True)
            for path in shard_paths(folder):
                samples, meta = read_shard(path)
                self._seen.add(input_keys(samples))
                self.kept[meta.width, meta.height] += samples.count
                self.teachers[meta.teacher_sha256] = meta.teacher
                seeds.append(parse_name(path).seed)
        return max(seeds)

    def _split(self, samples: Samples) -> dict[str, Samples]:
        """Return the samples that go to each of the two folders."""
        held_out = is_held_out(samples.game, self._settings.held_out)
        split = {TRAIN: samples.take(~held_out), HELD_OUT: samples.take(held_out)}
        return {name: part for name, part in split.items() if part.count}

    def _shard_positions(self, split: str) -> int:
        return self._settings.shard_positions if split == TRAIN else self._settings.held_out_positions

    def _waiting_at(self, place: _Place) -> int:
        return sum(part.count for part in self._waiting[place])

    def _write_one(self, place: _Place) -> None:
        """Write a shard of some of the waiting samples, drawn at random."""
        split, (width, height) = place
        samples = join(self._waiting[place])
        order = self._rng.permutation(samples.count)
        chosen, rest = np.split(order, [self._shard_positions(split)])
        name = ShardName(width, height, self.seed, self._numbers[place])
        teacher = self._teacher
        meta = ShardMeta(width, height, teacher.name, teacher.sha256, teacher.licence, self.seed)
        path = self._folder / split / str(name)
        write_shard(path, samples.take(chosen), meta, compressed=self._settings.compressed)
        self._numbers[place] += 1
        self._waiting[place] = [samples.take(rest)]
