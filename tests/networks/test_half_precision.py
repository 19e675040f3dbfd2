"""Networks in half precision: what is half, what stays exact, and how little it changes."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from nn import tiny_networks
from nn.katago_files import NetworkFile

from gtp_engine.nn.half_precision import in_half_precision
from gtp_engine.nn.onnx_export.convert import convert_file


def outputs(model: str | bytes, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def inputs() -> dict[str, np.ndarray]:
    random = np.random.default_rng(1)
    spatial = (random.random((2, 22, 9, 7)) < 0.2).astype(np.float32)
    spatial[:, 0] = 1.0
    return {"spatial": spatial, "globals": random.random((2, 19)).astype(np.float32)}


@pytest.fixture(params=[*range(8, 18), "tiny"])
def network(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return networks of all versions of KataGo's format; the later ones have transformers."""
    if request.param == "tiny":
        return tiny_networks.v7_network(tmp_path / "net.onnx")
    (tmp_path / "net.bin.gz").write_bytes(NetworkFile(request.param).bytes(gzipped=True))
    convert_file(tmp_path / "net.bin.gz", tmp_path / "net.onnx")
    return tmp_path / "net.onnx"


def test_half_precision_changes_little_but_something(network: Path) -> None:
    half = in_half_precision(network)
    before, after = onnx.load(network), onnx.load_from_string(half)
    onnx.checker.check_model(after, full_check=True)
    pairs = list(zip(outputs(half, inputs()), outputs(str(network), inputs()), strict=True))
    for found, expected in pairs:
        assert found.dtype == np.float32
        assert found == pytest.approx(expected, abs=0.01 * max(1.0, float(np.abs(expected).max())))
    assert any((a != b).any() for a, b in pairs)
    assert after.graph.input == before.graph.input and after.graph.output == before.graph.output
    assert after.metadata_props == before.metadata_props
    assert len(after.SerializeToString()) < 0.75 * network.stat().st_size + 10_000, "weights are half as large"
    check_kinds(after)


def check_kinds(half: onnx.ModelProto) -> None:
    """Assert that convolutions are in half precision, and what is exact is not."""
    model = onnx.shape_inference.infer_shapes(half, data_prop=True)
    kinds = {entry.name: entry.type.tensor_type.elem_type for entry in [*model.graph.value_info, *model.graph.input]}
    kinds |= {entry.name: entry.data_type for entry in model.graph.initializer}
    found: dict[str, set[int]] = {}
    for node in model.graph.node:
        found.setdefault(node.op_type, set()).add(kinds[node.input[0]])
    assert found["Conv"] == {onnx.TensorProto.FLOAT16}
    for exact in {"Pow", "ReduceMean", "Sqrt"} & found.keys():
        assert found[exact] == {onnx.TensorProto.FLOAT}


def test_weights_beyond_the_range_are_bounded(tmp_path: Path) -> None:
    graph = tiny_networks.Graph(0)
    weights = graph.constant(np.full((1, 48, 1, 1), 1e6, dtype=np.float32))
    graph.output("policy", graph.add("Conv", graph.planes(48), weights), ("batch", 1, 9, 7))
    described = tiny_networks.metadata(kind="policy", encoder="alphago-48", planes="48", globals="0")
    file = graph.save(tmp_path / "large.onnx", described)
    (weight,) = onnx.load_from_string(in_half_precision(file)).graph.initializer
    assert float(onnx.numpy_helper.to_array(weight).max()) == 65504.0
