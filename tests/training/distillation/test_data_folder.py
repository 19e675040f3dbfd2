"""A folder of shards: split by game, free of duplicates, shuffled, continued."""

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from fake_evaluators import FakeEvaluator

from gtp_engine.evaluation.evaluator_info import ANY_BOARD
from gtp_engine.nn.metadata import NetworkInfo
from gtp_engine.training.core.game_data import is_held_out
from gtp_engine.training.distillation.generate import DataFolder, FolderSettings, SeenKeys, input_keys
from gtp_engine.training.distillation.labelled_games import LabelledBlock, SelfPlaySettings, play_blocks
from gtp_engine.training.distillation.shards import HELD_OUT, TRAIN, Samples, ShardError, join, read_shard, shard_paths

TEACHER = NetworkInfo(
    "policy+value", "katago-v7", 22, 19, ANY_BOARD, "fake", "float32", "policy", license="none", source_sha256="00"
)
SMALL = FolderSettings(shard_positions=100, held_out_positions=20, held_out=0.3)


def blocks(count: int, seed: int = 1) -> list[LabelledBlock]:
    settings = SelfPlaySettings({(4, 4): 0.7, (3, 5): 0.3}, seed, batch=3)
    return list(islice(play_blocks(FakeEvaluator(), settings), count))


def filled(path: Path, count: int = 20) -> DataFolder:
    folder = DataFolder(path, TEACHER, settings=SMALL)
    for block in blocks(count, folder.seed):
        folder.add(block)
    folder.close()
    return folder


def read_all(path: Path, split: str) -> Samples:
    """Return the samples of the 4×4 boards."""
    shards = [read_shard(shard) for shard in shard_paths(path / split)]
    return join([samples for samples, meta in shards if meta.width == 4])


def test_every_new_sample_is_in_one_shard(tmp_path: Path) -> None:
    folder = filled(tmp_path)
    keys = np.concatenate(
        [input_keys(read_shard(path)[0]) for split in (TRAIN, HELD_OUT) for path in shard_paths(tmp_path / split)]
    )
    expected = np.concatenate([input_keys(block.samples) for block in blocks(20, folder.seed)])
    assert set(keys.tolist()) == set(expected.tolist())
    assert len(keys) == len(set(keys.tolist())) == folder.positions
    assert folder.duplicates == len(expected) - len(keys) > 0, "four games begin on an empty board"


def test_games_are_split_whole(tmp_path: Path) -> None:
    filled(tmp_path)
    train, held_out = (set(read_all(tmp_path, split).game.tolist()) for split in (TRAIN, HELD_OUT))
    assert train and held_out
    assert not train & held_out
    assert all(is_held_out(np.array(list(held_out)), 0.3))


def test_the_split_has_the_share_it_should_have() -> None:
    games = np.arange(100_000, dtype=np.int64)
    for share in (0.0, 0.02, 0.3, 1.0):
        assert np.mean(is_held_out(games, share)) == pytest.approx(share, abs=0.005)
    in_order = is_held_out(games, 0.5)
    assert np.mean(in_order[1:] == in_order[:-1]) == pytest.approx(0.5, abs=0.01), "neighbours are independent"


def test_shards_have_the_requested_size_and_record_their_origin(tmp_path: Path) -> None:
    folder = filled(tmp_path, 30)
    paths = [path for path in shard_paths(tmp_path / TRAIN) if path.name.startswith("4x4")]
    counts = [read_shard(path)[0].count for path in paths]
    assert len(paths) > 3
    assert set(counts[:-1]) == {100} and 0 < counts[-1] <= 100
    _, meta = read_shard(paths[0])
    assert (meta.width, meta.height, meta.seed, meta.teacher, meta.licence) == (4, 4, folder.seed, "fake", "none")


def test_a_shard_is_of_many_games_in_no_order(tmp_path: Path) -> None:
    filled(tmp_path, 40)
    samples, _ = read_shard(next(path for path in shard_paths(tmp_path / TRAIN) if path.name.startswith("4x4")))
    assert len(set(samples.game.tolist())) > 8
    assert np.mean(np.diff(samples.game) == 0) < 0.4


def test_a_shard_is_written_as_soon_as_there_are_two_shards_of_samples(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path, TEACHER, settings=FolderSettings(shard_positions=40, held_out=0.0))
    kept = 0
    for block in blocks(8):
        kept += folder.add(block)
        written = sum(read_shard(path)[0].count for path in shard_paths(tmp_path / TRAIN))
        assert 0 <= kept - written < 80 + 48, "two shards and a block"
    assert written > 0


# --- Going on


def test_a_folder_is_continued_with_another_seed_and_without_repeating_anything(tmp_path: Path) -> None:
    first = filled(tmp_path)
    before = {path: path.read_bytes() for path in shard_paths(tmp_path / TRAIN)}
    second = filled(tmp_path)
    assert second.seed == first.seed + 1
    assert second.positions > first.positions
    assert {path: path.read_bytes() for path in before} == before, "old shards stay as they are"
    samples = [read_shard(path)[0] for split in (TRAIN, HELD_OUT) for path in shard_paths(tmp_path / split)]
    keys = np.concatenate([input_keys(part) for part in samples])
    assert len(set(keys.tolist())) == len(keys) == second.positions


def test_the_same_samples_again_are_all_duplicates(tmp_path: Path) -> None:
    first = filled(tmp_path)
    again = DataFolder(tmp_path, TEACHER, settings=SMALL)
    assert again.positions == first.positions
    assert sum(again.add(block) for block in blocks(20, first.seed)) == 0


def test_the_seed_may_begin_higher_but_never_repeats(tmp_path: Path) -> None:
    assert DataFolder(tmp_path, TEACHER).seed == 0
    assert DataFolder(tmp_path, TEACHER, least_seed=5).seed == 5
    filled(tmp_path)
    assert DataFolder(tmp_path, TEACHER, least_seed=0).seed == 1
    assert DataFolder(tmp_path, TEACHER, least_seed=9).seed == 9


def test_a_damaged_shard_is_named(tmp_path: Path) -> None:
    filled(tmp_path)
    path = shard_paths(tmp_path / TRAIN)[0]
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ShardError, match=f"shard '{path.name}' is damaged .*; delete it"):
        DataFolder(tmp_path, TEACHER)


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
