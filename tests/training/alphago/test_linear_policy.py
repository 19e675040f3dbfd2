"""The linear rollout policy's file: what was written is read, in a folder of networks too; plain words for the rest."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from nn import tiny_networks

from gtp_engine import Config, ModelError, load_evaluator
from gtp_engine.config import NetworkConfig
from gtp_engine.engine.resources import Resources
from gtp_engine.engine.searches import new_searcher
from gtp_engine.nn.plug_ins import ROLLOUT_WEIGHTS
from gtp_engine.training.alphago.linear_policy import LinearPolicy, read_linear_policy, write_linear_policy

POLICY = LinearPolicy(
    patterns=np.array([5, 4096]),
    pattern_weights=np.array([0.5, -1], dtype=np.float32),
    plain_patterns=np.array([5]),
    plain_weights=np.array([2], dtype=np.float32),
    diamonds=np.array([1 << 35, 7]),
    diamond_weights=np.arange(24, dtype=np.float32).reshape(2, 12),
    near=np.array([1, 0.5, 0.25], dtype=np.float32),
    urgent=np.array([2.5, 1.5, 0.5], dtype=np.float32),
    name="tiny",
    origin="a test",
    license="CC0-1.0",
)


def test_reading_returns_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / ROLLOUT_WEIGHTS
    write_linear_policy(path, POLICY)
    found = read_linear_policy(path)
    for name, value in vars(POLICY).items():
        assert np.array_equal(getattr(found, name), value), name
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_of_networks_may_hold_one(tmp_path: Path) -> None:
    tiny_networks.alphago_policy(tmp_path / "policy.onnx", name="p")
    tiny_networks.alphago_value(tmp_path / "value.onnx", name="v")
    config = NetworkConfig(model=str(tmp_path), network_threads=1, provider="cpu")
    assert load_evaluator(config, log=print, board=(9, 9)).info.rollout_weights is None
    write_linear_policy(tmp_path / ROLLOUT_WEIGHTS, POLICY)
    evaluator = load_evaluator(config, log=print, board=(9, 9))
    assert evaluator.info.rollout_weights is not None
    assert evaluator.info.rollout_weights.name == "tiny"
    for kind in ("puct", "rave", "uct"):
        values = {"search.search": kind, "search.rollout_policy": "linear", "puct.rollout_share": "0.5"}
        new_searcher(Resources(evaluator), Config().with_values(values)).close()
    evaluator.close()


def rewrite(path: Path, **changes: object) -> None:
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    np.savez(path, **{name: array for name, array in (arrays | changes).items() if array is not None})


META = {"format": 1, "kind": "linear-rollout", "features": "linear-1", "name": "", "origin": "", "license": ""}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"meta": json.dumps(META | {"kind": "value"})}, "has kind 'value': expected linear-rollout; train one with"),
        ({"meta": json.dumps(META | {"format": 2})}, "has format 2: expected 1"),
        ({"meta": json.dumps(META | {"features": "linear-9"})}, "has features 'linear-9': expected linear-1"),
        ({"meta": "[]"}, "is damaged or no rollout policy"),
        ({"meta": None}, "is damaged or no rollout policy"),
        ({"patterns": np.array([5, 1 << 20])}, "is damaged"),
        ({"diamonds": np.array([-1, 7])}, "is damaged"),
        ({"diamond_weights": np.zeros((2, 11), dtype=np.float32)}, "is damaged"),
        ({"near": np.array([1, np.nan, 0], dtype=np.float32)}, "is damaged"),
        ({"pattern_weights": np.zeros(3, dtype=np.float32)}, "is damaged"),
        ({"urgent": np.array(["a", "b", "c"])}, "is damaged"),
        ({"patterns": np.array([5, None])}, "is damaged"),
    ],
)
def test_errors_name_what_is_wrong_with_a_file(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    path = tmp_path / ROLLOUT_WEIGHTS
    write_linear_policy(path, POLICY)
    rewrite(path, **changes)
    with pytest.raises(ModelError, match=message):
        read_linear_policy(path)


@pytest.mark.parametrize("size", [0, 10, 400])
def test_a_file_that_is_cut_off_is_called_damaged(tmp_path: Path, size: int) -> None:
    path = tmp_path / ROLLOUT_WEIGHTS
    write_linear_policy(path, replace(POLICY, name="n"))
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ModelError, match="is damaged or no rollout policy"):
        read_linear_policy(path)
    path.unlink()
    with pytest.raises(ModelError, match="cannot be read"):
        read_linear_policy(path)
