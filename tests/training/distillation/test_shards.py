"""Shards: what is written is read again, damage is detected; folders split by game, free of duplicates, continued."""

import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_evaluators import FakeEvaluator
from full_disk import fill_disk_of

from gtp_engine.evaluation.evaluator_info import ANY_BOARD
from gtp_engine.nn.metadata import NetworkInfo
from gtp_engine.training.core.game_data import is_held_out
from gtp_engine.training.distillation.distillation_settings import GenerateSettings
from gtp_engine.training.distillation.generate import DataFolder, SeenKeys, input_keys
from gtp_engine.training.distillation.labelled_games import LabelledBlock, play_blocks
from gtp_engine.training.distillation.shards import (
    HELD_OUT,
    TRAIN,
    Samples,
    ShardError,
    ShardMeta,
    ShardName,
    join,
    parse_name,
    read_shard,
    shard_paths,
    shards_by_board,
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


def rewrite(path: Path, *, form: int = 3, **changes: Any) -> None:
    """Replace arrays of a shard; None removes one."""
    with np.load(path) as file:
        meta = json.loads(str(file["meta"])) | {"format": form}
        arrays = {**file, **changes, "meta": np.array(json.dumps(meta))}
    np.savez_compressed(path, **{name: array for name, array in arrays.items() if array is not None})


def change_a_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(data)


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


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-200]), r"^shard '5x4-3-0+.npz' is damaged \(.*\); delete"),
        (change_a_byte, "is damaged"),
        (lambda path: path.write_text("hello"), "is damaged"),
        (Path.unlink, r"cannot read shard .*No such file"),
        (lambda path: rewrite(path, score=None), "score"),
        (lambda path: rewrite(path, policy=np.zeros((6, 21), np.float32)), r"is float32 \(6, 21\), not float16 \("),
        (lambda path: rewrite(path, form=4), r"has another format: expected 3$"),
    ],
)
def test_damage_is_named(path: Path, damage: Callable[[Path], None], message: str) -> None:
    damage(path)
    with pytest.raises(ShardError, match=message):
        read_shard(path)


def test_a_full_disk_is_reported_and_leaves_no_part_of_a_shard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "5x4-3-00000.npz"
    fill_disk_of(tmp_path / "shard.part", monkeypatch)
    with pytest.raises(ShardError, match=r"cannot write shard .*: No space left on device; make room"):
        write_shard(path, some_samples(600), META)
    monkeypatch.undo()
    with pytest.raises(ShardError, match=r"planes is uint8 \(3, 22, 4\), not uint8 \(3, 22, 3\)"):
        write_shard(path, some_samples(3, points=25), META)
    assert not list(tmp_path.iterdir())


def test_a_shard_of_another_board_than_its_name_is_refused(path: Path) -> None:
    """Training took its board from the name, and reshaped what cannot be."""
    other = path.rename(path.with_name("4x5-3-00000.npz"))
    with pytest.raises(ShardError, match=r"'4x5-3-00000.npz' has positions on 5x4: expected those on the board of its"):
        read_shard(other)


def test_a_shard_without_compression_is_the_same(path: Path) -> None:
    plain = path.with_name("5x4-3-00001.npz")
    write_shard(plain, some_samples(6), META, compressed=False)
    assert plain.stat().st_size > sum(array.nbytes for array in some_samples(6))
    with pytest.raises(ShardError, match="exists already"):
        write_shard(plain, some_samples(3), META)
    assert_same(read_shard(plain)[0], read_shard(path)[0])


def test_shards_are_sorted_by_board_seed_and_number(tmp_path: Path) -> None:
    names = [ShardName(9, 9, 2, 10), ShardName(9, 9, 2, 9), ShardName(9, 9, 10, 0), ShardName(7, 9, 3, 0)]
    for name in names:
        (tmp_path / str(name)).touch()
    for other in ("notes.txt", "9x9-1-00000.npz.part", "a9x9-1-1.npz"):
        (tmp_path / other).touch()
    found = [path.name for path in shard_paths(tmp_path)]
    assert found == ["7x9-3-00000.npz", "9x9-2-00009.npz", "9x9-2-00010.npz", "9x9-10-00000.npz"]
    assert parse_name(tmp_path / found[-1]) == (9, 9, 10, 0)
    by_board = {board: [path.name for path in paths] for board, paths in shards_by_board(tmp_path).items()}
    assert by_board == {(7, 9): found[:1], (9, 9): found[1:]}
    with pytest.raises(ShardError, match="expected a shard's name"):
        parse_name(Path("shard.npz"))
    with pytest.raises(ShardError, match="expected a folder of shards"):
        shard_paths(tmp_path / "none")


TEACHER = NetworkInfo(
    "policy+value", "katago-v7", 22, 19, ANY_BOARD, "fake", "float32", "policy", license="none", source_sha256="00"
)
PARTED = GenerateSettings(held_out=0.3, seed=0)


@pytest.fixture(autouse=True)
def _small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gtp_engine.training.distillation.shards.SHARD_SIZES", {TRAIN: 100, HELD_OUT: 20})


def blocks(count: int, seed: int = 1) -> list[LabelledBlock]:
    settings = GenerateSettings(sizes="4=.7,3x5=.3", seed=seed, batch=3)
    return list(islice(play_blocks(FakeEvaluator(), settings), count))


def filled(path: Path, count: int = 20) -> DataFolder:
    folder = DataFolder(path, TEACHER, PARTED)
    folder.fill(blocks(count, folder.seed))
    return folder


def samples_in(folder: Path, split: str) -> Samples:
    return join([read_shard(path)[0] for path in shard_paths(folder / split) if path.name.startswith("4x4")])


def keys_in(folder: Path) -> list[int]:
    paths = [path for split in (TRAIN, HELD_OUT) for path in shard_paths(folder / split)]
    return [key for path in paths for key in input_keys(read_shard(path)[0]).tolist()]


def test_a_folder_has_every_new_sample_once_its_games_whole_and_can_be_filled_further(tmp_path: Path) -> None:
    assert DataFolder(tmp_path, TEACHER, GenerateSettings()).seed == 1
    first = filled(tmp_path)
    given = blocks(20, first.seed)
    keys, expected = keys_in(tmp_path), [key for block in given for key in input_keys(block.samples).tolist()]
    assert {*keys} == {*expected} and len(keys) == len({*keys}) == first.new
    assert first.duplicates == len(expected) - len(keys) > 0, "four games begin on an empty board"
    train, held_out = ({*samples_in(tmp_path, split).game.tolist()} for split in (TRAIN, HELD_OUT))
    assert train and held_out and not train & held_out and all(is_held_out(np.array([*held_out]), 0.3))
    before = {path: path.read_bytes() for path in shard_paths(tmp_path / TRAIN)}
    full = DataFolder(tmp_path, TEACHER, PARTED)
    full.fill(given)
    assert (full.new, full.kept.total()) == (0, len(keys)), "all are there"
    seeds = [DataFolder(tmp_path, TEACHER, GenerateSettings(seed=seed)).seed for seed in (0, 9)]
    assert seeds == [first.seed + 1, 9], "none is used twice"
    second, again = filled(tmp_path), keys_in(tmp_path)
    assert (second.seed, second.kept.total()) == (first.seed + 1, len(again))
    assert len({*again}) == len(again) > len(keys)
    assert {path: path.read_bytes() for path in before} == before


def test_shards_are_of_many_games_have_the_requested_size_and_record_their_origin(tmp_path: Path) -> None:
    folder = filled(tmp_path, 40)
    paths = [path for path in shard_paths(tmp_path / TRAIN) if path.name.startswith("4x4")]
    counts = [read_shard(path)[0].count for path in paths]
    assert len(paths) > 3 and {*counts[:-1]} == {100} and 0 < counts[-1] <= 100
    samples, meta = read_shard(paths[0])
    assert (meta.width, meta.height, meta.seed, meta.teacher, meta.licence) == (4, 4, folder.seed, "fake", "none")
    assert len({*samples.game.tolist()}) > 8 and np.mean(np.diff(samples.game) == 0) < 0.4, "in no order"


def test_the_split_has_the_share_it_should_have() -> None:
    games = np.arange(100_000, dtype=np.int64)
    for share in (0.0, 0.02, 0.3, 1.0):
        assert np.mean(is_held_out(games, share)) == pytest.approx(share, abs=0.005)
    in_order = is_held_out(games, 0.5)
    assert np.mean(in_order[1:] == in_order[:-1]) == pytest.approx(0.5, abs=0.01), "neighbours are independent"


def test_a_shard_is_written_as_soon_as_there_are_two_shards_of_samples(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path, TEACHER, GenerateSettings(held_out=0.0))
    for block in blocks(16):
        folder.add(block)
        written = sum(read_shard(path)[0].count for path in shard_paths(tmp_path / TRAIN))
        assert 0 <= folder.new - written < 2 * 200 + 48, "two shards of each board and a block"
    assert written > 0


# --- Keys


def test_keys_see_boards_rules_and_history() -> None:
    samples = blocks(1)[0].samples
    keys = input_keys(samples)
    assert (input_keys(samples) == keys).all()
    planes, values = samples.planes.copy(), samples.globals.copy()
    planes[0, 21, -1] ^= 128
    values[1, 18] += 0.5
    changed = input_keys(samples._replace(planes=planes, globals=values))
    assert (changed[:2] != keys[:2]).all()
    assert (changed[2:] == keys[2:]).all()


def test_seen_keys_are_those_of_a_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gtp_engine.training.distillation.generate._RECENT_KEYS", 50)
    rng, seen, expected = np.random.default_rng(1), SeenKeys(), set()
    for _ in range(100):
        keys = rng.integers(2000, size=20).astype(np.uint64) << np.uint64(50)
        new = seen.add(keys)
        for key, is_new in zip(keys.tolist(), new.tolist(), strict=True):
            assert is_new == (key not in expected)
            expected.add(key)
