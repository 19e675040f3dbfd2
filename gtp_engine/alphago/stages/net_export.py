"""Export of a trained policy or value network to a self-describing ONNX file, checked before it is kept."""

from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import nn

from gtp_engine.alphago.stages.nets import Net, NetShape, PolicyNet
from gtp_engine.evaluation.evaluation import FloatArray
from gtp_engine.evaluation.evaluator_info import BoardSizes
from gtp_engine.networks.onnx_export.graph import Graph
from gtp_engine.nn.metadata import NetworkInfo
from gtp_engine.nn.onnx_model import OnnxModel
from gtp_engine.nn.providers import PROVIDERS, Runtime
from gtp_engine.training.core.checkpoint import check_output, write_checked

_CHECKED_POSITIONS: Final = 8
_SEED: Final = 1
_DENSITY: Final = 0.3
"""Share of ones in the random planes on which file and module are compared."""


def export_net(module: Net, target: Path, *, name: str, origin: str, terms: str) -> None:
    """Write `module` (on the CPU) to `target`, an ONNX file; `terms` is the licence of the weights.

    A file at `target` is replaced once the new one is complete and its outputs agree with the module's.

    Raises ModelError, with the difference, if they do not.
    """
    model = model_of(module, name=name, origin=origin, terms=terms)
    write_checked(model, target, lambda path: check_net_file(path, module))


def model_of(module: Net, *, name: str, origin: str, terms: str) -> Any:
    """Return a network as an `onnx.ModelProto` with its metadata."""
    graph, shape = Graph(), module.shape
    features = graph.input("spatial", ("batch", module.PLANES, "height", "width"))
    for filters in module.trunk.filters():
        features = graph.add("Relu", _convolved(graph, features, *filters))
    if isinstance(module, PolicyNet):
        points = _flattened(graph, _convolved(graph, features, module.to_logits.weight), shape)
        graph.output("policy", graph.add("Add", points, graph.constant(_array(module.point_bias))), ("batch", "points"))
    else:
        points = _flattened(graph, _convolved(graph, features, *module.to_points.parameters()), shape)
        hidden = graph.add("Relu", _dense(graph, points, module.to_hidden))
        graph.output("value", graph.add("Tanh", _dense(graph, hidden, module.to_value)), ("batch", 1))
        owners = _flattened(graph, _convolved(graph, features, *module.to_owners.parameters()), shape)
        graph.output("ownership", owners, ("batch", "points"))
    return graph.model(name, _info(module, name, origin, terms).properties())


def check_net_file(path: Path, module: Net) -> None:
    """Raise ModelError if the network file's outputs differ from those of `module` on random planes."""
    model = OnnxModel(path, Runtime(PROVIDERS["cpu"], "float32"))
    planes = random_planes(module.shape, module.PLANES)
    module.eval()
    with torch.no_grad():
        wanted = module(torch.from_numpy(planes)).numpy()
    outputs = model.run(planes, np.zeros((len(planes), 0), dtype=np.float32))
    model.close()
    if isinstance(module, PolicyNet):
        assert outputs.policy is not None, "checked when the file was opened"
        found = outputs.policy
    else:
        assert outputs.value is not None and outputs.ownership is not None, "checked when the file was opened"
        found = np.concatenate([outputs.value, np.tanh(outputs.ownership)], axis=1)
    check_output(found.reshape(-1), wanted.reshape(-1), f"{module.KIND} network")


def random_planes(shape: NetShape, planes: int) -> FloatArray:
    """Return random planes of ones and zeros, float32[8, planes, H, W]."""
    rng = np.random.default_rng(_SEED)
    size = (_CHECKED_POSITIONS, planes, shape.height, shape.width)
    return (rng.random(size) < _DENSITY).astype(np.float32)


def _info(module: Net, name: str, origin: str, terms: str) -> NetworkInfo:
    """Return the metadata of the file."""
    width, height = module.shape.width, module.shape.height
    return NetworkInfo(
        kind=module.KIND,
        encoder=f"alphago-{module.PLANES}",
        planes=module.PLANES,
        globals_=0,
        sizes=BoardSizes((width, width), (height, height)),
        name=name,
        precision="float32",
        passes="none",
        ownership=not isinstance(module, PolicyNet),
        origin=origin,
        license=terms,
    )


def _convolved(graph: Graph, source: str, weights: torch.Tensor, *bias: torch.Tensor) -> str:
    side = weights.shape[-1]
    constants = [graph.constant(_array(each)) for each in (weights, *bias)]
    return graph.add("Conv", source, *constants, kernel_shape=[side, side], pads=[side // 2] * 4)


def _flattened(graph: Graph, source: str, shape: NetShape) -> str:
    """Return the only channel of `source` as [B, A]."""
    return graph.add("Reshape", source, graph.integers(-1, shape.area))


def _dense(graph: Graph, source: str, layer: nn.Linear) -> str:
    return graph.add("Gemm", source, graph.constant(_array(layer.weight)), graph.constant(_array(layer.bias)), transB=1)


def _array(tensor: torch.Tensor) -> FloatArray:
    array: FloatArray = tensor.detach().float().contiguous().numpy()
    return array
