"""AlphaGo's networks as torch modules, as players, and their export to self-describing ONNX files.

Zero-padded convolutions, the first of 5×5 and the rest of 3×3 points, each followed by a ReLU, then a 1×1 convolution
to one channel.  The policy network adds a bias for each point, which gives the logits of a softmax.  The value network
continues with a dense layer and ends in a tanh.  Both therefore play on one board size only.

Two additions to the paper: the value network also predicts the owner of each point, by a 1×1 convolution on the same
features, because a game then teaches it far more than one number, and it knows which stones are dead.  And in training
a batch norm follows each of its convolutions; the export merges it into the filters.

Source: Silver et al., Nature 529 (2016), "Neural network architecture": 13 layers of 192 filters, the last one
included; for the value network 256 dense units.

A file is checked before it is kept: its outputs have to agree with the module's.

Shapes: N positions, boards of H × W points, A = H·W.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, TypeAlias, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from gtp_engine.base.errors import ConfigError, ModelError, shown_path
from gtp_engine.evaluation.evaluator_info import BoardSizes
from gtp_engine.evaluation.positions import FloatArray
from gtp_engine.nn.katago_format.description import BatchNorm
from gtp_engine.nn.metadata import NetworkInfo, write_model
from gtp_engine.nn.network_evaluator import NetworkEvaluator
from gtp_engine.nn.onnx_export.graph import Graph
from gtp_engine.nn.onnx_model import OnnxModel, random_inputs
from gtp_engine.nn.providers import PROVIDERS, Runtime
from gtp_engine.training.alphago.planes import POLICY_PLANES, VALUE_PLANES
from gtp_engine.training.alphago.stages.policy_players import policy_player
from gtp_engine.training.alphago.stages.stage_settings import StageRun
from gtp_engine.training.core.checkpoint import check_output, read_checkpoint
from gtp_engine.training.core.devices import Machine
from gtp_engine.training.nets.layers import NormLayer, floats

_CHECKED_POSITIONS: Final = 8
"""Positions on which file and module are compared."""

FIRST_FILTER: Final = 5
FILTER: Final = 3
"""Sides of the filters, in points."""

_LEAST_PART: Final = 16
"""Fewest positions for which another thread is worthwhile."""
_OUTPUT_GAIN: Final = 0.1
"""Factor on the first weights of the output layers: training begins with an even policy and even values."""


@dataclass(frozen=True)
class NetShape:
    """How large a network is."""

    width: int
    height: int
    layers: int = 7
    """Convolutions, the one of 1×1 included."""
    channels: int = 64
    hidden: int = 256
    """Units of the value network's dense layer."""

    def __post_init__(self) -> None:
        """Raise ConfigError for sizes that are too small."""
        for name, least in (("layers", 2), ("channels", 1), ("hidden", 1)):
            if getattr(self, name) < least:
                raise ConfigError(f"a network with {name} {getattr(self, name)}", expected=f"at least {least}")

    @property
    def area(self) -> int:
        """The number of points, A."""
        return self.width * self.height

    @property
    def title(self) -> str:
        """The size as a short name: "9x9-l7c64"."""
        return f"{self.width}x{self.height}-l{self.layers}c{self.channels}"


class ConvStack(nn.Module):
    """All convolutions but the last, each with a ReLU; if `normed`, with a batch norm before the ReLU."""

    def __init__(self, planes: int, shape: NetShape, *, normed: bool) -> None:
        super().__init__()
        sizes = [(planes, FIRST_FILTER), *[(shape.channels, FILTER)] * (shape.layers - 2)]
        self.layers = [
            nn.Conv2d(inputs, shape.channels, size, padding=size // 2, bias=not normed) for inputs, size in sizes
        ]
        """The convolutions in order."""
        self.convs = nn.ModuleList(self.layers)
        self.norms = nn.ModuleList(_new_norm(shape.channels) if normed else nn.Identity() for _ in sizes)
        for conv in self.layers:
            _initialize(conv)

    def forward(self, planes: Tensor) -> Tensor:
        """Return the features [N, C, H, W] of `planes` [N, P, H, W]."""
        for conv, norm in zip(self.convs, self.norms, strict=True):
            planes = torch.relu(norm(conv(planes)))
        return planes

    def filters(self) -> list[tuple[Tensor, Tensor]]:
        """Return the weights [O, I, side, side] and biases [O] of the convolutions, their norms merged into them."""
        return [_merged(conv, norm) for conv, norm in zip(self.layers, self.norms, strict=True)]


class PolicyNet(nn.Module):
    """The policy network."""

    KIND: ClassVar[str] = "policy"
    PLANES: Final = POLICY_PLANES

    def __init__(self, shape: NetShape) -> None:
        super().__init__()
        self.shape = shape
        self.trunk = ConvStack(POLICY_PLANES, shape, normed=False)
        self.to_logits = nn.Conv2d(shape.channels, 1, 1, bias=False)
        self.point_bias = nn.Parameter(torch.zeros(shape.area))
        nn.init.normal_(self.to_logits.weight, std=_OUTPUT_GAIN * shape.channels**-0.5)

    def forward(self, planes: Tensor) -> Tensor:
        """Return the logits of all points, float32 [N, A], for `planes` [N, 48, H, W]."""
        points: Tensor = self.to_logits(self.trunk(planes)).flatten(1).float()
        return points + self.point_bias


class RolloutNet(PolicyNet):
    """A policy network for rollouts: as the policy network, and small."""

    KIND: ClassVar[str] = "rollout"


class ValueNet(nn.Module):
    """The value network."""

    KIND: ClassVar[str] = "value"
    PLANES: Final = VALUE_PLANES

    def __init__(self, shape: NetShape) -> None:
        super().__init__()
        self.shape = shape
        self.trunk = ConvStack(VALUE_PLANES, shape, normed=True)
        self.to_points = nn.Conv2d(shape.channels, 1, 1)
        self.to_hidden = nn.Linear(shape.area, shape.hidden)
        self.to_value = nn.Linear(shape.hidden, 1)
        self.to_owners = nn.Conv2d(shape.channels, 1, 1)
        _initialize(self.to_points)
        _initialize(self.to_hidden)
        nn.init.normal_(self.to_value.weight, std=_OUTPUT_GAIN * shape.hidden**-0.5)
        nn.init.zeros_(self.to_value.bias)
        nn.init.normal_(self.to_owners.weight, std=_OUTPUT_GAIN * shape.channels**-0.5)

    def forward(self, planes: Tensor) -> Tensor:
        """Return value and ownership for the side to move, float32 [N, 1 + A], for `planes` [N, 49, H, W].

        First the value, −1 (loss) to 1 (win); then each point's owner, −1 (the opponent's) to 1 (own).
        """
        features = self.trunk(planes)
        points = self.to_points(features).flatten(1)
        value = self.to_value(torch.relu(self.to_hidden(points)))
        return torch.tanh(torch.cat([value, self.to_owners(features).flatten(1)], dim=1).float())

    @torch.no_grad()
    def copy_trunk(self, policy: PolicyNet) -> None:
        """Copy the filters of a policy network with the same number of channels; the colour plane's become zeros.

        If the networks differ in depth, the layers are copied that both have.
        """
        for own, source in zip(self.trunk.layers, policy.trunk.layers, strict=False):
            own.weight.zero_()
            own.weight[:, : source.weight.shape[1]] = source.weight


Net: TypeAlias = PolicyNet | ValueNet
_Kind = TypeVar("_Kind", PolicyNet, RolloutNet, ValueNet)

KINDS: Final[dict[str, type[Net]]] = {kind.KIND: kind for kind in (PolicyNet, RolloutNet, ValueNet)}
"""The kinds of networks by their names in files."""


def new_net(kind: type[_Kind], shape: NetShape, *, seed: int) -> _Kind:
    """Return a network with random weights, which follow from the seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return kind(shape)


def _new_norm(channels: int) -> NormLayer:
    """Return an identity norm that takes its statistics from the training batches."""
    norm = NormLayer(BatchNorm(np.ones(channels, dtype=np.float32), np.zeros(channels, dtype=np.float32)))
    norm.counts = True
    return norm


def _merged(conv: nn.Conv2d, norm: nn.Module) -> tuple[Tensor, Tensor]:
    """Return a convolution and the norm or identity that follows it as one convolution."""
    if not isinstance(norm, NormLayer):
        assert conv.bias is not None, "a convolution without a norm has a bias"
        return conv.weight.detach(), conv.bias.detach()
    factors = norm.describe()
    return conv.weight.detach() * torch.from_numpy(factors.scale)[:, None, None, None], torch.from_numpy(factors.bias)


def _initialize(layer: nn.Conv2d | nn.Linear) -> None:
    """Initialize a layer that a ReLU follows."""
    nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)


def export_net(module: Net, target: Path, *, name: str, origin: str, terms: str) -> None:
    """Write `module` (on the CPU) to `target`, an ONNX file; `terms` is the licence of the weights.

    A file at `target` is replaced once the new one is complete and its outputs agree with the module's.

    Raises ModelError, with the difference, if they do not.
    """
    model = model_of(module, name=name, origin=origin, terms=terms)
    write_model(model, target, lambda path: check_net_file(path, module))


def model_of(module: Net, *, name: str, origin: str, terms: str) -> Any:
    """Return a network as an `onnx.ModelProto` with its metadata."""
    graph, shape = Graph(), module.shape
    features = graph.input("spatial", ("batch", module.PLANES, "height", "width"))
    for filters in module.trunk.filters():
        features = graph.add("Relu", _convolved(graph, features, *filters))
    if isinstance(module, PolicyNet):
        points = _flattened(graph, _convolved(graph, features, module.to_logits.weight), shape)
        graph.output("policy", graph.add("Add", points, graph.constant(floats(module.point_bias))), ("batch", "points"))
    else:
        points = _flattened(graph, _convolved(graph, features, *module.to_points.parameters()), shape)
        hidden = graph.add("Relu", _dense(graph, points, module.to_hidden))
        graph.output("value", graph.add("Tanh", _dense(graph, hidden, module.to_value)), ("batch", 1))
        owners = _flattened(graph, _convolved(graph, features, *module.to_owners.parameters()), shape)
        graph.output("ownership", owners, ("batch", "points"))
    info = NetworkInfo(
        kind=module.KIND,
        encoder=f"alphago-{module.PLANES}",
        planes=module.PLANES,
        globals_=0,
        sizes=BoardSizes((shape.width, shape.width), (shape.height, shape.height)),
        name=name,
        precision="float32",
        passes="none",
        ownership=not isinstance(module, PolicyNet),
        origin=origin,
        license=terms,
    )
    return graph.model(name, info.properties())


def check_net_file(path: Path, module: Net) -> None:
    """Raise ModelError if the network file's outputs differ from those of `module` on random planes."""
    model = OnnxModel(path, Runtime(PROVIDERS["cpu"], "float32"))
    planes, globals_ = random_inputs(model.info, _CHECKED_POSITIONS)
    with torch.no_grad():
        wanted = module.eval()(torch.from_numpy(planes)).numpy()
    outputs = [each.reshape(len(planes), -1) for each in model.run(planes, globals_) if each is not None]
    model.close()
    found = np.concatenate(outputs, axis=1)
    if isinstance(module, ValueNet):
        found[:, 1:] = np.tanh(found[:, 1:])  # the owners
    check_output(found, wanted, f"{module.KIND} network")


def _convolved(graph: Graph, source: str, weights: torch.Tensor, *bias: torch.Tensor) -> str:
    side = weights.shape[-1]
    constants = [graph.constant(floats(each)) for each in (weights, *bias)]
    return graph.add("Conv", source, *constants, kernel_shape=[side, side], pads=[side // 2] * 4)


def _flattened(graph: Graph, source: str, shape: NetShape) -> str:
    """Return the only channel of `source` as [B, A]."""
    return graph.add("Reshape", source, graph.integers(-1, shape.area))


def _dense(graph: Graph, source: str, layer: nn.Linear) -> str:
    return graph.add("Gemm", source, graph.constant(floats(layer.weight)), graph.constant(floats(layer.bias)), transB=1)


def read_net(folder: Path) -> Net:
    """Return the network of the run in `folder`, on the CPU; raises ModelError if it has none of AlphaGo's kinds."""
    checkpoint = read_checkpoint(folder)
    if checkpoint.kind not in KINDS:
        raise ModelError(f"{shown_path(folder)} has a {checkpoint.kind} network", expected=f"one of {', '.join(KINDS)}")
    net = KINDS[checkpoint.kind](NetShape(**checkpoint.network))
    net.load_state_dict(checkpoint.weights)
    return net.eval()


def read_policy(folder: Path) -> PolicyNet:
    """Return the policy network of the run in `folder`; raises ModelError if it has none."""
    net = read_net(folder)
    if not isinstance(net, PolicyNet) or net.KIND != PolicyNet.KIND:
        raise ModelError(f"{shown_path(folder)} has a {net.KIND} network", expected="a run with a policy network")
    return net


def export_run(run: StageRun, origin: str, *, title: str = "") -> None:
    """Write the network of a finished run to the run's folder, as a file that is named after its kind.

    The network's name is the run's, or `title`, by default its kind, with its size.
    """
    net = read_net(run.out)
    target = run.out / f"{net.KIND}.onnx"
    export_net(net, target, name=run.name or f"{title or net.KIND}-{net.shape.title}", origin=origin, terms=run.terms)
    run.bar.log(f"Written: {target}")


def torch_player(net: PolicyNet, machine: Machine, name: str) -> NetworkEvaluator:
    """Return a network as a player, always with its current weights; each thread evaluates a share of the positions."""
    pool = machine.pool()

    def evaluate(planes: FloatArray) -> FloatArray:
        with torch.inference_mode():
            logits = machine.run(net, torch.from_numpy(planes).to(machine.device))
        result: FloatArray = logits.cpu().numpy()
        return result

    def evaluate_in_parts(planes: FloatArray) -> FloatArray:
        parts = min(machine.shares, 1 + len(planes) // _LEAST_PART)
        return np.concatenate(list(pool.map(evaluate, np.array_split(planes, parts))))

    return policy_player(evaluate_in_parts, name)
