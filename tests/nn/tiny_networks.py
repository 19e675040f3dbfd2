"""Small networks with random weights, as self-describing ONNX files, for tests."""

from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

PLANES, GLOBALS = 22, 19
MISC = 6


class Graph:
    """Collects nodes and weights; every method returns the name of its result."""

    def __init__(self, seed: int, scale: float = 1.0) -> None:
        self.scale = scale
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.random = np.random.default_rng(seed)

    def constant(self, value: NDArray[np.generic]) -> str:
        name = f"constant{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(value, name))
        return name

    def random_weights(self, *shape: int) -> str:
        fan_in = int(np.prod(shape[1:])) if len(shape) == 4 else shape[0]
        return self.constant((self.scale * self.random.standard_normal(shape) / np.sqrt(fan_in)).astype(np.float32))

    def node(self, kind: str, *inputs: str, output: str = "", **attributes: object) -> str:
        name = output or f"node{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def convolution(self, source: str, channels_in: int, channels_out: int, size: int) -> str:
        weights = self.random_weights(channels_out, channels_in, size, size)
        return self.node("Conv", source, weights, kernel_shape=[size, size], pads=[size // 2] * 4)

    def linear(self, source: str, width_in: int, width_out: int, output: str = "") -> str:
        return self.node("MatMul", source, self.random_weights(width_in, width_out), output=output)

    def pooled(self, source: str) -> str:
        """Return the mean over the board, [B, channels]."""
        return self.node("ReduceMean", source, self.constant(np.array([2, 3], dtype=np.int64)), keepdims=0)

    def reshape(self, source: str, shape: list[int], output: str = "") -> str:
        return self.node("Reshape", source, self.constant(np.array(shape, dtype=np.int64)), output=output)


def v7_network(
    path: Path,
    *,
    seed: int = 0,
    channels: int = 8,
    blocks: int = 1,
    policies: int = 2,
    misc: int = MISC,
    scale: float = 1.0,
    **changes: str,
) -> Path:
    """Write a residual KataGo-like network with `policies` policy channels; its weights are multiplied by `scale`.

    `changes` replace metadata, `kind="policy"`; an empty text removes the entry.
    """
    graph = Graph(seed, scale)
    trunk = graph.convolution("spatial", PLANES, channels, 3)
    from_globals = graph.reshape(graph.linear("globals", GLOBALS, channels), [0, channels, 1, 1])
    trunk = graph.node("Add", trunk, from_globals)
    for _ in range(blocks):
        inner = graph.convolution(graph.node("Relu", trunk), channels, channels, 3)
        trunk = graph.node("Add", trunk, graph.convolution(graph.node("Relu", inner), channels, channels, 3))
    trunk = graph.node("Relu", trunk)
    pooled = graph.pooled(trunk)
    moves = graph.reshape(graph.convolution(trunk, channels, policies, 1), [0, policies, -1])
    passes = graph.reshape(graph.linear(pooled, channels, policies), [0, policies, 1])
    graph.node("Concat", moves, passes, output="policy", axis=2)
    graph.linear(pooled, channels, 3, output="value")
    graph.linear(pooled, channels, misc, output="misc")
    graph.reshape(graph.convolution(trunk, channels, 1, 1), [0, -1], output="ownership")
    inputs = [spatial(PLANES), ("globals", ["batch", GLOBALS])]
    outputs = [
        ("policy", ["batch", policies, "actions"]),
        ("value", ["batch", 3]),
        ("misc", ["batch", misc]),
        ("ownership", ["batch", "points"]),
    ]
    return save(path, graph, inputs, outputs, metadata(**changes))


def alphago_policy(path: Path, *, seed: int = 0, **changes: str) -> Path:
    """Write a policy network with AlphaGo's 48 planes, which cannot pass."""
    graph = Graph(seed)
    graph.reshape(graph.convolution("spatial", 48, 1, 3), [0, -1], output="policy")
    described = metadata(**{"kind": "policy", "encoder": "alphago-48", "planes": "48", "globals": "0"} | changes)
    return save(path, graph, [spatial(48)], [("policy", ["batch", "points"])], described)


def alphago_value(path: Path, *, seed: int = 0, **changes: str) -> Path:
    """Write a value network with AlphaGo's 49 planes, with an ownership output if `ownership="1"`."""
    graph = Graph(seed)
    trunk = graph.convolution("spatial", 49, 4, 3)
    graph.node("Tanh", graph.linear(graph.pooled(trunk), 4, 1), output="value")
    outputs: list[tuple[str, list[int | str]]] = [("value", ["batch", 1])]
    if changes.get("ownership") == "1":
        graph.reshape(graph.convolution(trunk, 4, 1, 1), [0, -1], output="ownership")
        outputs.append(("ownership", ["batch", "points"]))
    described = metadata(**{"kind": "value", "encoder": "alphago-49", "planes": "49", "globals": "0"} | changes)
    return save(path, graph, [spatial(49)], outputs, described)


def spatial(planes: int) -> tuple[str, list[int | str]]:
    return "spatial", ["batch", planes, "height", "width"]


def metadata(**changes: str) -> dict[str, str]:
    """Return the metadata of a network like KataGo's, with changes."""
    values = {
        "format": "1",
        "kind": "policy+value",
        "encoder": "katago-v7",
        "planes": str(PLANES),
        "globals": str(GLOBALS),
        "sizes": "2-25",
        "name": "tiny",
        "precision": "float32",
        "model_version": "14",
        "pass": "policy",
        "origin": "random weights created by a test",
        "license": "MIT",
    }
    return {f"tengen.{key}": text for key, text in (values | changes).items() if text}


def save(
    path: Path,
    graph: Graph,
    inputs: list[tuple[str, list[int | str]]],
    outputs: list[tuple[str, list[int | str]]],
    properties: dict[str, str],
) -> Path:
    def described(tensors: list[tuple[str, list[int | str]]]) -> list[onnx.ValueInfoProto]:
        return [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in tensors]

    body = helper.make_graph(graph.nodes, "tiny", described(inputs), described(outputs), graph.weights)
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    helper.set_model_props(model, properties)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())
    return path
