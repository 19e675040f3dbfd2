"""Small networks with random weights, as self-describing ONNX files, for tests."""

from pathlib import Path

import numpy as np
import onnx

from gtp_engine.nn.onnx_export import graph as onnx_graph

PLANES, GLOBALS = 22, 19
MISC = 6


class Graph(onnx_graph.Graph):
    """Collects nodes and random weights; every method returns the name of its result."""

    def __init__(self, seed: int, scale: float = 1.0) -> None:
        super().__init__()
        self.scale = scale
        self.random = np.random.default_rng(seed)

    def planes(self, count: int) -> str:
        """Add the input of planes."""
        return self.input("spatial", ("batch", count, "height", "width"))

    def random_weights(self, *shape: int) -> str:
        fan_in = int(np.prod(shape[1:])) if len(shape) == 4 else shape[0]
        return self.constant((self.scale * self.random.standard_normal(shape) / np.sqrt(fan_in)).astype(np.float32))

    def convolution(self, source: str, channels_in: int, channels_out: int, size: int) -> str:
        weights = self.random_weights(channels_out, channels_in, size, size)
        return self.add("Conv", source, weights, kernel_shape=[size, size], pads=[size // 2] * 4)

    def linear(self, source: str, width_in: int, width_out: int) -> str:
        return self.add("MatMul", source, self.random_weights(width_in, width_out))

    def pooled(self, source: str) -> str:
        """Return the mean over the board, [B, channels]."""
        return self.add("ReduceMean", source, self.integers(2, 3), keepdims=0)

    def reshape(self, source: str, *shape: int) -> str:
        return self.add("Reshape", source, self.integers(*shape))

    def save(self, path: Path, properties: dict[str, str]) -> Path:
        """Write the network to a file."""
        model = self.model("tiny", properties)
        onnx.checker.check_model(model)
        path.write_bytes(model.SerializeToString())
        return path


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
    trunk = graph.convolution(graph.planes(PLANES), PLANES, channels, 3)
    from_globals = graph.linear(graph.input("globals", ("batch", GLOBALS)), GLOBALS, channels)
    trunk = graph.add("Add", trunk, graph.reshape(from_globals, 0, channels, 1, 1))
    for _ in range(blocks):
        inner = graph.convolution(graph.add("Relu", trunk), channels, channels, 3)
        trunk = graph.add("Add", trunk, graph.convolution(graph.add("Relu", inner), channels, channels, 3))
    trunk = graph.add("Relu", trunk)
    pooled = graph.pooled(trunk)
    moves = graph.reshape(graph.convolution(trunk, channels, policies, 1), 0, policies, -1)
    passes = graph.reshape(graph.linear(pooled, channels, policies), 0, policies, 1)
    graph.output("policy", graph.add("Concat", moves, passes, axis=2), ("batch", policies, "actions"))
    graph.output("value", graph.linear(pooled, channels, 3), ("batch", 3))
    graph.output("misc", graph.linear(pooled, channels, misc), ("batch", misc))
    graph.output("ownership", graph.reshape(graph.convolution(trunk, channels, 1, 1), 0, -1), ("batch", "points"))
    return graph.save(path, metadata(**changes))


def alphago_policy(path: Path, *, seed: int = 0, **changes: str) -> Path:
    """Write a policy network with AlphaGo's 48 planes, which cannot pass."""
    graph = Graph(seed)
    moves = graph.reshape(graph.convolution(graph.planes(48), 48, 1, 3), 0, -1)
    graph.output("policy", moves, ("batch", "points"))
    described = {"kind": "policy", "encoder": "alphago-48", "planes": "48", "globals": "0"}
    return graph.save(path, metadata(**described | changes))


def alphago_value(path: Path, *, seed: int = 0, **changes: str) -> Path:
    """Write a value network with AlphaGo's 49 planes, with an ownership output if `ownership="1"`."""
    graph = Graph(seed)
    trunk = graph.convolution(graph.planes(49), 49, 4, 3)
    graph.output("value", graph.add("Tanh", graph.linear(graph.pooled(trunk), 4, 1)), ("batch", 1))
    if changes.get("ownership") == "1":
        graph.output("ownership", graph.reshape(graph.convolution(trunk, 4, 1, 1), 0, -1), ("batch", "points"))
    described = {"kind": "value", "encoder": "alphago-49", "planes": "49", "globals": "0"}
    return graph.save(path, metadata(**described | changes))


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
