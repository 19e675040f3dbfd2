"""Small networks and small data for tests of training."""

from collections.abc import Sequence
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from training.needs_torch import torch

from gtp_engine.base.progress import ProgressBar
from gtp_engine.base.steps import never
from gtp_engine.evaluation.from_game import write_game
from gtp_engine.evaluation.positions import FloatArray, new_positions
from gtp_engine.go.constants import PASS
from gtp_engine.go.game import Game
from gtp_engine.nn.encoders import KatagoV7Encoder
from gtp_engine.training.distillation.batches import SampleBatch, tensors_of, unpack
from gtp_engine.training.distillation.distillation_settings import DistillationLearning, TrainConfig
from gtp_engine.training.distillation.module_files import export_network
from gtp_engine.training.distillation.run import run_training
from gtp_engine.training.distillation.shards import (
    HELD_OUT,
    OWNERSHIP_UNIT,
    TRAIN,
    UNKNOWN,
    Samples,
    ShardMeta,
    ShardName,
    write_shard,
)
from gtp_engine.training.nets.network_module import NetworkModule, Outputs
from gtp_engine.training.nets.new import PLAIN, OutputSet, Shape, new_network

TINY = Shape(
    blocks=2, channels=6, pooling_every=2, pooled_channels=2, policy_channels=3, value_channels=4, value_hidden=5
)
"""An ordinary block and one that pools."""


@lru_cache(maxsize=32)
def random_positions(width: int, height: int, count: int, *, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return inputs for positions of games of random moves, [count, 22, H, W] and [count, 19]; do not change them."""
    rng, positions = np.random.default_rng(seed), new_positions(count, width, height)
    for row in range(count):
        game = Game(width, height)
        for _ in range(int(rng.integers(width * height))):
            points = game.legal_points()
            game.play(int(rng.choice(points)) if points else PASS)
        write_game(positions, row, game)
    return KatagoV7Encoder(width, height).encode(positions, range(count), np.zeros(count, dtype=np.int32))


def tiny_module(seed: int = 1, outputs: OutputSet = PLAIN, **changes: Any) -> NetworkModule:
    """Return a tiny network whose every number matters: norms and biases are random too."""
    module = NetworkModule(new_network(Shape(**vars(TINY) | changes), name="tiny", seed=seed, outputs=outputs))
    generator = torch.Generator().manual_seed(seed)
    for name, tensor in module.state_dict().items():
        if "variance" in name or "scale" in name:
            tensor.copy_(0.5 + torch.rand(tensor.shape, generator=generator))
        elif "bias" in name or "mean" in name:
            tensor.copy_(torch.randn(tensor.shape, generator=generator) / 2)
    return module.eval()


def exported(path: Path, module: NetworkModule | None = None) -> Path:
    """Write a network, by default a tiny one, to a file; return its path."""
    export_network(module or tiny_module(), path, name=path.stem, origin="made by a test", terms="CC0-1.0")
    return path


def run(module: NetworkModule, width: int, height: int, *, count: int = 3, seed: int = 1) -> Outputs:
    """Return the outputs of a module for random positions."""
    spatial, globals_ = random_positions(width, height, count, seed=seed)
    with torch.no_grad():
        outputs: Outputs = module(torch.from_numpy(spatial), torch.from_numpy(globals_))
    return outputs


def count_stones(width: int, height: int, count: int, seed: int) -> Samples:
    """Return positions labelled by their stones: who has more leads, stones are owned, free points are good moves."""
    spatial, globals_ = random_positions(width, height, count, seed=seed)
    stones = spatial[:, 1:3].reshape(count, 2, -1)
    ownership = stones[:, 0] - stones[:, 1]
    lead = ownership.sum(axis=1, keepdims=True)
    free = np.concatenate([1 - stones.sum(axis=1), np.full((count, 1), 0.1)], axis=1)
    win, unknown = 1 / (1 + np.exp(-lead / 3)), np.full_like(lead, UNKNOWN)
    return Samples(
        planes=np.packbits(spatial.reshape(count, len(spatial[0]), -1) > 0, axis=2),
        globals=globals_.copy(),
        policy=(free / free.sum(axis=1, keepdims=True)).astype(np.float16),
        value=np.concatenate([win, 1 - win, np.zeros_like(win)], axis=1).astype(np.float16),
        score=np.concatenate([lead, np.full_like(lead, 2.0), lead, *[unknown] * 3], axis=1).astype(np.float32),
        ownership=(OWNERSHIP_UNIT * ownership).astype(np.int8),
        optimistic=np.zeros((count, width * height + 1), dtype=np.float16),
        game=np.arange(count, dtype=np.int64),
        ranks=np.zeros((count, 2), dtype=np.int8),
    )


def unpacked(samples: Samples, board: tuple[int, int], symmetries: Sequence[int] = (0,)) -> SampleBatch:
    """Return samples as a batch."""
    return unpack(tensors_of(samples), board, symmetries)


def write_data(folder: Path, *boards: tuple[int, int], count: int = 48, shards: int = 2, seed: int = 1) -> Path:
    """Write shards of boards (width, height) to a folder, and one of each that is held out."""
    for name, number in ((TRAIN, shards), (HELD_OUT, 1)):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for width, height in boards:
            for i in range(number):
                samples = count_stones(width, height, count, seed=i + 100 * (name == HELD_OUT))
                path = folder / name / str(ShardName(width, height, seed, i))
                write_shard(path, samples, ShardMeta(width, height, "counter of stones", "0" * 64, "CC0", 1))
    return folder


def tiny_config(tmp_path: Path, **changes: Any) -> TrainConfig:
    """Return a short run with data of its own."""
    data = tmp_path / "data"
    if not data.exists():
        write_data(data, (5, 5), (4, 3))
    values: dict[str, Any] = {
        "data": data, "out": tmp_path / "run", "shape": TINY, "samples": 30 * 16, "batch": 16, "threads": 1,
        "precision": "float32", "log_steps": 1, "validations": 2, "average_steps": 10, "learning_rate": 0.01,
    }  # fmt: skip
    values |= changes
    names = {field.name for field in fields(DistillationLearning)}
    learning = DistillationLearning(**{name: values.pop(name) for name in names & set(values)})
    return TrainConfig(**values, learning=learning)


def trained(config: TrainConfig) -> bool:
    """Carry out a run and return whether it came to its end."""
    with ProgressBar() as bar:
        return run_training(config, bar, never)
