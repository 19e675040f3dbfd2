"""Batches from the memory of a device: the same samples as from disk, each as often, and resumed exactly."""

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from training.needs_torch import torch
from training.toy import count_stones, write_data

from gtp_engine.nn.symmetry import symmetry_count
from gtp_engine.training.distillation.batches import Batch, unpack
from gtp_engine.training.distillation.resident_batches import DeviceMemoryError, ResidentBatches, _unpacked, unpack_bits
from gtp_engine.training.distillation.shards import ShardError

CPU = torch.device("cpu")


def stream(folder: Path, size: int = 8, **changes: object) -> ResidentBatches:
    return ResidentBatches(folder / "train", size, seed=5, device=CPU, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("board", [(5, 5), (4, 3)])
def test_a_device_unpacks_as_a_processor_does(board: tuple[int, int]) -> None:
    samples = count_stones(*board, 19, seed=2)
    samples.optimistic[:] = np.random.default_rng(1).random(samples.optimistic.shape)
    symmetries = np.random.default_rng(1).permutation(symmetry_count(*board)).tolist()
    tensors = {name: torch.from_numpy(array) for name, array in samples._asdict().items()}
    found, expected = _unpacked(tensors, board, symmetries), unpack(samples, board, symmetries)
    for name, one, other in zip(Batch._fields, found, expected, strict=True):
        assert one.dtype == other.dtype, name
        torch.testing.assert_close(one, other, msg=name)


def test_bits_of_boards_whose_points_do_not_fill_bytes() -> None:
    planes = np.random.default_rng(1).integers(2, size=(3, 22, 5, 7), dtype=np.uint8)
    packed = np.packbits(planes.reshape(3, 22, 35), axis=2)
    np.testing.assert_array_equal(unpack_bits(torch.from_numpy(packed), 7, 5), planes)


def test_an_epoch_shows_every_position_once(tmp_path: Path) -> None:
    write_data(tmp_path, (5, 5), count=12)
    batches = stream(tmp_path)
    assert batches.positions == {(5, 5): 24}
    for _ in range(2):
        found = torch.cat([batch.globals for batch in islice(batches, 3)])
        assert len(found.unique(dim=0)) == len(stream(tmp_path, 24).__next__().globals.unique(dim=0))


def test_boards_have_their_shares(tmp_path: Path) -> None:
    write_data(tmp_path, (5, 5), (4, 3), (3, 3), count=12)
    boards = [batch.board for batch in islice(stream(tmp_path, 2, shares={(5, 5): 3.0, (4, 3): 1.0}), 80)]
    assert set(boards) == {(5, 5), (4, 3)} and 50 <= boards.count((5, 5)) <= 70


def test_positions_that_do_not_fit_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def empty(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError

    write_data(tmp_path, (5, 5), count=12)
    monkeypatch.setattr(torch, "empty", empty)
    with pytest.raises(DeviceMemoryError, match=r"do not fit into the memory of cpu; train without --in-memory, or on"):
        stream(tmp_path)


def test_it_continues_at_its_place(tmp_path: Path) -> None:
    write_data(tmp_path, (5, 5), (4, 3), count=12)
    whole = stream(tmp_path)
    list(islice(whole, 7))
    resumed = stream(tmp_path)
    resumed.go_to(whole.state())
    for one, other in zip(islice(whole, 9), islice(resumed, 9), strict=True):
        assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_without_shards(tmp_path: Path) -> None:
    write_data(tmp_path, (5, 5))
    with pytest.raises(ShardError, match="expected some of the boards 9x9"):
        stream(tmp_path, shares={(9, 9): 1.0})
