from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from gtp_engine import Config, Engine, write_metadata


def save(path: Path, output: str, planes: int, nodes: list) -> None:
    """Write a network with one convolution over the planes, followed by the nodes."""
    weights = np.random.default_rng(1).normal(0, 0.1, (1, planes, 3, 3)).astype(np.float32)
    spatial = helper.make_tensor_value_info("spatial", TensorProto.FLOAT, ["batch", planes, "height", "width"])
    result = helper.make_tensor_value_info(output, TensorProto.FLOAT, ["batch", "values"])
    first = helper.make_node("Conv", ["spatial", "weights"], ["x"], pads=[1, 1, 1, 1])
    graph = helper.make_graph(
        [first, *nodes], "one layer", [spatial], [result], [numpy_helper.from_array(weights, "weights")]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    path.write_bytes(model.SerializeToString())
    print(write_metadata(path, encoder=f"alphago-{planes}", name=f"one layer, {output}", sizes="2-25"))


folder = Path("one-layer")
folder.mkdir()
save(folder / "policy.onnx", "policy", 48, [helper.make_node("Flatten", ["x"], ["policy"])])
mean = [helper.make_node("GlobalAveragePool", ["x"], ["m"]), helper.make_node("Flatten", ["m"], ["f"])]
save(folder / "value.onnx", "value", 49, [*mean, helper.make_node("Tanh", ["f"], ["value"])])

config = Config().with_values({"network.model": "one-layer", "game.board_size": 5, "search.visits": 20})
with Engine(config) as engine:
    while not engine.game.is_over and len(engine.game.moves) < 8:
        engine.genmove()
    print(engine.game.to_sgf())
