"""Shards: what is written is read again, and damage is detected."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from full_disk import fill_disk_of

from gtp_engine.training.distillation.shards import (
    PLAYER_GAME,
    UNKNOWN,
    Samples,
    ShardError,
    ShardMeta,
    ShardName,
    first_shards,
    is_of_player,
    join,
    parse_name,
    read_shard,
    shard_paths,
    write_shard,
)

META = ShardMeta(5, 4, "teacher", "ab" * 32, "CC0", 3)


def some_samples(count: int, seed: int = 1, points: int = 20) -> Samples:
    rng = np.random.default_rng(seed)
    return Samples(
        planes=rng.integers(256, size=(count, 22, -(-points // 8)), dtype=np.uint8),
        globals=rng.normal(size=(count, 19)).astype(np.float32),
        policy=rng.random((count, points + 1)).astype(np.float16),
        value=rng.random((count, 3)).astype(np.float16),
        score=rng.normal(size=(count, 6)).astype(np.float32),
        ownership=rng.integers(-127, 128, size=(count, points)).astype(np.int8),
        optimistic=rng.random((count, points + 1)).astype(np.float16),
        game=np.arange(count, dtype=np.int64),
        ranks=np.zeros((count, 2), dtype=np.int8),
    )


def assert_same(found: Samples, expected: Samples) -> None:
    for name, array, wanted in zip(Samples._fields, found, expected, strict=True):
        assert array.dtype == wanted.dtype
        np.testing.assert_array_equal(array, wanted, err_msg=name)


def rewrite(path: Path, **changes: Any) -> None:
    """Replace arrays of a shard; None removes one."""
    with np.load(path) as file:
        arrays = {**file, **changes}
    np.savez_compressed(path, **{name: array for name, array in arrays.items() if array is not None})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "5x4-3-00000.npz"
    write_shard(path, some_samples(6), META)
    return path


def test_what_is_written_is_read_again(path: Path) -> None:
    samples, meta = read_shard(path)
    assert meta == META
    assert_same(samples, some_samples(6))
    assert [file.name for file in path.parent.iterdir()] == [path.name], "nothing unfinished is left"
    with np.load(path) as file:
        assert set(file) == {*Samples._fields, "meta"} and json.loads(str(file["meta"]))["format"] == 3


def test_a_shard_is_never_overwritten(path: Path) -> None:
    with pytest.raises(ShardError, match="exists already"):
        write_shard(path, some_samples(3), META)
    assert read_shard(path)[0].count == 6


def test_arrays_of_another_shape_are_not_written(tmp_path: Path) -> None:
    samples = some_samples(3, points=25)
    with pytest.raises(ShardError, match=r"planes is uint8 \(3, 22, 4\), not uint8 \(3, 22, 3\)"):
        write_shard(tmp_path / "5x4-1-00000.npz", samples, META)
    assert not list(tmp_path.iterdir())


def damaged(path: Path, how: str) -> None:
    data = bytearray(path.read_bytes())
    if how == "cut":
        path.write_bytes(data[:-200])
    elif how == "byte":
        data[len(data) // 2] ^= 255
        path.write_bytes(data)
    elif how == "text":
        path.write_text("hello")
    elif how == "gone":
        path.unlink()
    elif how == "array":
        rewrite(path, score=None)
    elif how == "type":
        rewrite(path, policy=some_samples(6).policy.astype(np.float32))
    else:
        with np.load(path) as file:
            meta = json.loads(str(file["meta"]))
        rewrite(path, meta=np.array(json.dumps(meta | {"format": 4})))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("cut", r"^shard '5x4-3-00000.npz' is damaged \(.*\); delete it$"),
        ("byte", "is damaged"),
        ("text", "is damaged"),
        ("gone", r"cannot read shard .*No such file"),
        ("array", "score"),
        ("type", r"policy is float32 \(6, 21\), not float16 \(6, 21\)"),
        ("format", r"has another format: expected 3$"),
    ],
)
def test_damage_is_named(path: Path, how: str, message: str) -> None:
    damaged(path, how)
    with pytest.raises(ShardError, match=message):
        read_shard(path)


def test_a_shard_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "5x4-3-00000.npz"
    with pytest.raises(ShardError, match=r"cannot write shard '.*00000.npz': No such file .*; make room there"):
        write_shard(path, some_samples(6), META)


def test_a_full_disk_is_reported_and_leaves_no_part_of_a_shard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "5x4-3-00000.npz"
    fill_disk_of(tmp_path / "shard.part", monkeypatch)
    with pytest.raises(ShardError, match=r"cannot write shard .*: No space left on device; make room"):
        write_shard(path, some_samples(600), META)
    assert not list(tmp_path.iterdir())


def test_a_shard_of_another_board_than_its_name_is_refused(path: Path) -> None:
    """Training took its board from the name, and reshaped what cannot be."""
    other = path.rename(path.with_name("4x5-3-00000.npz"))
    with pytest.raises(ShardError, match=r"'4x5-3-00000.npz' has positions on 5x4: expected those on the board of its"):
        read_shard(other)


def test_shards_of_the_old_format_are_read(path: Path) -> None:
    """What their teachers had no place for is unknown."""
    with np.load(path) as file:
        meta, score = json.loads(str(file["meta"])), file["score"]
    rewrite(path, meta=np.array(json.dumps(meta | {"format": 1})), score=score[:, :3], optimistic=None, ranks=None)
    samples, _ = read_shard(path)
    unknown = np.full((6, 3), UNKNOWN, dtype=np.float32)
    zeros = np.zeros((6, 21), dtype=np.float16)
    assert_same(samples, some_samples(6)._replace(score=np.hstack([score[:, :3], unknown]), optimistic=zeros))


def test_a_shard_without_compression_is_the_same(path: Path) -> None:
    plain = path.with_name("5x4-3-00001.npz")
    write_shard(plain, some_samples(6), META, compressed=False)
    assert_same(read_shard(plain)[0], read_shard(path)[0])
    assert plain.stat().st_size > sum(array.nbytes for array in some_samples(6))


def test_games_of_another_player_are_marked() -> None:
    assert is_of_player(np.array([0, PLAYER_GAME, (5 << 32) + 7, (5 << 32) + 7 + PLAYER_GAME])).tolist() == [
        False, True, False, True
    ]  # fmt: skip


def test_shards_are_sorted_by_board_seed_and_number(tmp_path: Path) -> None:
    names = [ShardName(9, 9, 2, 10), ShardName(9, 9, 2, 9), ShardName(9, 9, 10, 0), ShardName(7, 9, 3, 0)]
    for name in names:
        (tmp_path / str(name)).touch()
    for other in ("notes.txt", "9x9-1-00000.npz.part", "a9x9-1-1.npz"):
        (tmp_path / other).touch()
    found = [path.name for path in shard_paths(tmp_path)]
    assert found == ["7x9-3-00000.npz", "9x9-2-00009.npz", "9x9-2-00010.npz", "9x9-10-00000.npz"]
    assert parse_name(tmp_path / found[-1]) == (9, 9, 10, 0)
    assert {board: path.name for board, path in first_shards(tmp_path).items()} == {(7, 9): found[0], (9, 9): found[1]}


def test_invalid_names_and_folders(tmp_path: Path) -> None:
    with pytest.raises(ShardError, match="expected a shard's name"):
        parse_name(Path("shard.npz"))
    with pytest.raises(ShardError, match="expected a folder of shards"):
        shard_paths(tmp_path / "none")


def test_samples_are_joined_and_taken() -> None:
    both = join([some_samples(3, 1), some_samples(2, 2)])
    assert both.count == 5
    assert_same(both.take(np.array([3, 4])), some_samples(2, 2))
    assert_same(both.take(np.array([True, True, True, False, False])), some_samples(3, 1))
