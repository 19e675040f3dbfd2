"""Batches: every position once in an epoch, in an order that can be repeated and continued, in all orientations.

From shards on disk, and from the memory of a device.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from training.needs_torch import torch
from training.toy import count_stones, unpacked, write_data

from gtp_engine.go.coords import board_points
from gtp_engine.nn.symmetry import cell_table, symmetry_count
from gtp_engine.training.core.loop import Place
from gtp_engine.training.distillation.batches import Batches, SampleBatch
from gtp_engine.training.distillation.shards import ShardError, ShardMeta, ShardName, shard_paths, write_shard

SEED = 5


def batches_of(folder: Path, size: int = 8, **changes: Any) -> Batches:
    usual = {"device": torch.device("cpu"), "shares": {}, "in_memory": False, "group_positions": 64}
    return Batches(folder / "train", size, seed=SEED, **usual | changes)


def resident(folder: Path, size: int = 8, **changes: Any) -> Batches:
    return batches_of(folder, size, in_memory=True, **changes)


def drawn(batches: Batches, place: Place | None = None) -> Iterator[SampleBatch]:
    """Yield the batches of a stream without their places."""
    return (batch for batch, _ in batches.stream(place))


def scores(batch: SampleBatch) -> list[float]:
    """Return the numbers of the positions of `numbered`."""
    return batch.score[:, 0].tolist()


def numbered(folder: Path, width: int, height: int, count: int, *, first: int = 0, shard: int = 0) -> None:
    """Write a shard of `count` positions whose score is their number."""
    samples = count_stones(width, height, 4, seed=1).take(np.zeros(count, dtype=np.int64))
    samples.score[:] = np.arange(first, first + count)[:, None]
    (folder / "train").mkdir(exist_ok=True, parents=True)
    path = folder / "train" / str(ShardName(width, height, 1, shard))
    write_shard(path, samples, ShardMeta(width, height, "", "", "", 1))


def same(one: SampleBatch, other: SampleBatch) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("new", [batches_of, resident])
def test_an_epoch_has_every_position_once(tmp_path: Path, new: Callable[[Path], Batches]) -> None:
    for shard in range(6):
        numbered(tmp_path, 5, 5, 32, first=32 * shard, shard=shard)
    batches = drawn(new(tmp_path))
    first, second = ([score for batch in islice(batches, 24) for score in scores(batch)] for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(192))
    assert first != second, "each epoch has an order of its own"
    if new is resident:
        batches = drawn(new(tmp_path), {"step": 7, "resident": {(5, 5): (1, 8)}})  # of an earlier version
        assert sorted(score for batch in islice(batches, 24) for score in scores(batch)) == list(range(192))
    assert len({score // 32 for score in first[:8]}) > 1, "shards of a group are mixed"


@pytest.mark.parametrize(("count", "lengths"), [(30, [8] * 9), (3, [3] * 3)], ids=["the rest waits", "all there are"])
def test_lengths_of_batches(tmp_path: Path, count: int, lengths: list[int]) -> None:
    """Positions that fill no batch wait for the next epoch."""
    numbered(tmp_path, 5, 5, count)
    assert [len({*scores(batch)}) for batch in islice(drawn(batches_of(tmp_path)), len(lengths))] == lengths


def test_board_sizes_come_as_often_as_they_have_positions(tmp_path: Path) -> None:
    numbered(tmp_path, 5, 5, 60)
    numbered(tmp_path, 4, 3, 20)
    found = Counter(batch.board for batch in islice(drawn(batches_of(tmp_path)), 400))
    assert 0.65 < found[5, 5] / 400 < 0.85
    even = batches_of(tmp_path, shares={(5, 5): 1, (4, 3): 1})
    found = Counter(batch.board for batch in islice(drawn(even), 400))
    assert 0.4 < found[5, 5] / 400 < 0.6
    assert batches_of(tmp_path, shares={(4, 3): 0.1, (9, 9): 0.9}).shares == {(4, 3): 1.0}
    with pytest.raises(ShardError, match="expected some of the boards 9x9"):
        batches_of(tmp_path, shares={(9, 9): 1})


@pytest.mark.parametrize("new", [batches_of, resident])
def test_new_shards_are_included_when_an_epoch_begins(tmp_path: Path, new: Callable[[Path], Batches]) -> None:
    numbered(tmp_path, 5, 5, 16)
    batches = drawn(new(tmp_path))
    next(batches)
    numbered(tmp_path, 5, 5, 16, first=100, shard=1)
    numbered(tmp_path, 4, 3, 64, shard=0)
    assert max(scores(next(batches))) < 100
    later = list(islice(batches, 12))
    assert {batch.board for batch in later} == {(5, 5), (4, 3)}
    assert any(max(scores(batch)) >= 100 for batch in later if batch.board == (5, 5))


def test_a_board_whose_shards_are_deleted_is_named(tmp_path: Path) -> None:
    numbered(tmp_path, 5, 5, 800)
    numbered(tmp_path, 4, 3, 16)
    batches = drawn(batches_of(tmp_path, shares={(5, 5): 1, (4, 3): 1}))
    for _ in range(8):
        next(batches)
    (path,) = (path for path in shard_paths(tmp_path / "train") if path.name.startswith("4x3"))
    path.unlink()
    with pytest.raises(ShardError, match=r"^no shards in .*: expected some of the boards 4x3$"):
        list(islice(batches, 20))


@pytest.mark.parametrize("steps", [0, 1, 7, 20])
@pytest.mark.parametrize("new", [batches_of, resident])
def test_a_stream_continues_at_a_place(tmp_path: Path, new: Callable[[Path], Batches], steps: int) -> None:
    write_data(tmp_path, (5, 5), (4, 3))
    stream, place = new(tmp_path).stream(), None
    for _ in range(steps):
        _, place = next(stream)
    again = drawn(new(tmp_path), place)
    assert all(same(batch, other) for (batch, _), other in zip(islice(stream, 20), islice(again, 20), strict=True))


def test_a_stream_begins_again(tmp_path: Path) -> None:
    write_data(tmp_path, (5, 5), (4, 3))
    batches = resident(tmp_path)
    first, second = (list(islice(drawn(batches), 20)) for _ in range(2))
    assert all(same(*pair) for pair in zip(first, second, strict=True))


def test_orientations_share_a_batch_evenly() -> None:
    for width, height in ((5, 5), (4, 3)):
        samples = count_stones(width, height, 16, seed=2)
        samples.optimistic[:] = np.random.default_rng(1).random(samples.optimistic.shape)
        plain = unpacked(samples, (width, height))
        symmetries = np.random.default_rng(1).permutation(symmetry_count(width, height)).tolist()
        turned = unpacked(samples, (width, height), symmetries)
        part = 16 // len(symmetries)
        for number, symmetry in enumerate(symmetries):
            rows = slice(number * part, (number + 1) * part)
            cells = [*cell_table(width, height)[symmetry, board_points(width, height)].tolist(), width * height]
            for name in ("planes", "ownership", "policy", "optimistic"):
                axis = 2 if name == "planes" else 1
                before, after = (getattr(batch, name)[rows].flatten(axis) for batch in (plain, turned))
                assert torch.equal(after[..., cells[: before.shape[-1]]], before), "as an encoder shows the points"
        assert torch.equal(plain.score, turned.score) and torch.equal(plain.globals, turned.globals)


def test_unpacked_samples_are_what_was_packed() -> None:
    samples = count_stones(4, 3, 5, seed=2)
    batch = unpacked(samples, (4, 3))
    assert batch.board == (4, 3) and batch.planes.shape == (5, 22, 3, 4)
    own, opponent = batch.planes[:, 1].flatten(1), batch.planes[:, 2].flatten(1)
    assert torch.equal(batch.ownership, own.float() - opponent.float())
    np.testing.assert_array_equal(batch.value, samples.value.astype(np.float32))
    assert all(tensor.dtype == torch.float32 for tensor in batch[1:-1]) and batch.ranks.shape == (5, 2)


def test_positions_in_memory_are_read_once(tmp_path: Path) -> None:
    write_data(tmp_path, (5, 5))
    batches = drawn(resident(tmp_path))
    for path in shard_paths(tmp_path / "train"):
        path.write_bytes(b"")
    assert len(list(islice(batches, 100))) == 100


def test_positions_that_do_not_fit_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def empty(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError

    write_data(tmp_path, (5, 5), count=12)
    monkeypatch.setattr(torch, "empty", empty)
    with pytest.raises(ShardError, match=r"do not fit into the memory of cpu; train without --in-memory, or on"):
        resident(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "no shards in"), (b"", r"'5x5-1-00000.npz' is damaged"), (b"junk" * 100, r"'5x5-1-00000.npz' is damaged")],
)
def test_folders_without_positions(tmp_path: Path, content: bytes | None, message: str) -> None:
    (tmp_path / "train").mkdir()
    if content is not None:
        (tmp_path / "train" / "5x5-1-00000.npz").write_bytes(content)
    with pytest.raises(ShardError, match=message):
        batches_of(tmp_path)
    numbered(tmp_path / "empty", 5, 5, 0)
    with pytest.raises(ShardError, match=r"^shard '5x5-1-00000.npz' has no positions; delete it$"):
        batches_of(tmp_path / "empty")
