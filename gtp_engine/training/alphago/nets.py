"""AlphaGo's networks as torch modules.

Convolutions over the board, the first of 5×5 and the rest of 3×3 points, padded with zeros, each followed by a ReLU;
then 1×1 to a number for each point.  The policy network adds a bias for each point: its outputs are the logits of a
softmax.  The value network goes on with a dense layer and ends in a tanh.  Both so know one board size only.

Beside the paper's: the value network foretells the owner of each point too, by a 1×1 convolution on the same features.
It learns far more of a game so than from one number, and can tell which stones are dead.  And while it learns, a batch
norm follows each convolution, which is merged into the filters of the file.

Source: Silver et al., Nature 529 (2016), "Neural network architecture": 13 layers of 192 filters, the last one
included; for the value network 256 dense units.

Shapes: N positions, boards of H × W points, A = H·W.
"""

from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np
import torch
from torch import Tensor, nn

from gtp_engine.errors import ConfigError, problem
from gtp_engine.networks.katago_format.description import BatchNorm
from gtp_engine.nn.alphago_planes import POLICY_PLANES, VALUE_PLANES
from gtp_engine.training.nets.layers import NormLayer

FIRST_FILTER: Final = 5
FILTER: Final = 3
"""Sides of the filters, in points."""

_OUTPUT_GAIN: Final = 0.1
"""What the weights that make the output are smaller by: training begins with an even policy and an open game."""


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
        """Raise ConfigError for sizes that make no network."""
        for name, least in (("layers", 2), ("channels", 1), ("hidden", 1)):
            if getattr(self, name) < least:
                raise ConfigError(problem(f"a network with {name} {getattr(self, name)}", expected=f"at least {least}"))

    @property
    def area(self) -> int:
        """The number of points, A."""
        return self.width * self.height

    @property
    def title(self) -> str:
        """For people: "9x9-l7c64"."""
        return f"{self.width}x{self.height}-l{self.layers}c{self.channels}"

    def to_json(self) -> dict[str, Any]:
        """Return the fields as values that JSON has."""
        return asdict(self)


class Filters(NamedTuple):
    """A convolution as a file has it."""

    weights: Tensor
    """[O, I, side, side]."""
    bias: Tensor
    """[O]."""


class Trunk(nn.Module):
    """The convolutions up to the last but one, each with its ReLU, and where `normed` with a batch norm before it."""

    def __init__(self, planes: int, shape: NetShape, *, normed: bool) -> None:
        super().__init__()
        sizes = [(planes, FIRST_FILTER), *[(shape.channels, FILTER)] * (shape.layers - 2)]
        self.convs = nn.ModuleList(
            nn.Conv2d(inputs, shape.channels, size, padding=size // 2, bias=not normed) for inputs, size in sizes
        )
        self.norms = nn.ModuleList(_new_norm(shape.channels) if normed else nn.Identity() for _ in sizes)
        for conv in self.layers:
            _prepare(conv)

    @property
    def layers(self) -> list[nn.Conv2d]:
        """The convolutions, in their order."""
        return cast("list[nn.Conv2d]", list(self.convs))

    def forward(self, planes: Tensor) -> Tensor:
        """Return the features [N, C, H, W] of `planes` [N, P, H, W]."""
        for conv, norm in zip(self.convs, self.norms, strict=True):
            planes = torch.relu(norm(conv(planes)))
        return planes

    def filters(self) -> list[Filters]:
        """Return the convolutions, their norms merged into them."""
        return [_merged(conv, norm) for conv, norm in zip(self.layers, self.norms, strict=True)]


class PolicyNet(nn.Module):
    """The policy network."""

    KIND: Final = "policy"
    PLANES: Final = POLICY_PLANES

    def __init__(self, shape: NetShape) -> None:
        super().__init__()
        self.shape = shape
        self.trunk = Trunk(POLICY_PLANES, shape, normed=False)
        self.to_logits = nn.Conv2d(shape.channels, 1, 1, bias=False)
        self.point_bias = nn.Parameter(torch.zeros(shape.area))
        nn.init.normal_(self.to_logits.weight, std=_OUTPUT_GAIN * shape.channels**-0.5)

    def forward(self, planes: Tensor) -> Tensor:
        """Return the logits of all points, float32 [N, A], for `planes` [N, 48, H, W]."""
        points: Tensor = self.to_logits(self.trunk(planes)).flatten(1).float()
        return points + self.point_bias


class ValueNet(nn.Module):
    """The value network."""

    KIND: Final = "value"
    PLANES: Final = VALUE_PLANES

    def __init__(self, shape: NetShape) -> None:
        super().__init__()
        self.shape = shape
        self.trunk = Trunk(VALUE_PLANES, shape, normed=True)
        self.to_points = nn.Conv2d(shape.channels, 1, 1)
        self.to_hidden = nn.Linear(shape.area, shape.hidden)
        self.to_value = nn.Linear(shape.hidden, 1)
        self.to_owners = nn.Conv2d(shape.channels, 1, 1)
        _prepare(self.to_points)
        _prepare(self.to_hidden)
        nn.init.normal_(self.to_value.weight, std=_OUTPUT_GAIN * shape.hidden**-0.5)
        nn.init.zeros_(self.to_value.bias)
        nn.init.normal_(self.to_owners.weight, std=_OUTPUT_GAIN * shape.channels**-0.5)

    def forward(self, planes: Tensor) -> Tensor:
        """Return what the side to move can expect, for `planes` [N, 49, H, W], as float32 [N, 1 + A].

        First of the game, −1 (loss) to 1 (win); then of each point, −1 (the other side's in the end) to 1 (its own).
        """
        features = self.trunk(planes)
        points = self.to_points(features).flatten(1)
        value = self.to_value(torch.relu(self.to_hidden(points)))
        return torch.tanh(torch.cat([value, self.to_owners(features).flatten(1)], dim=1).float())

    @torch.no_grad()
    def take_trunk(self, policy: PolicyNet) -> None:
        """Take the filters of a policy network with as many channels; the colour's plane has no say at first.

        Of two networks that differ in depth, the layers are taken that both have.
        """
        for mine, theirs in zip(self.trunk.layers, policy.trunk.layers, strict=False):
            mine.weight.zero_()
            mine.weight[:, : theirs.weight.shape[1]] = theirs.weight


Net: TypeAlias = PolicyNet | ValueNet
_Kind = TypeVar("_Kind", PolicyNet, ValueNet)

KINDS: Final[dict[str, type[Net]]] = {"policy": PolicyNet, "value": ValueNet}
"""The kinds of networks by their names in files."""


def new_net(kind: type[_Kind], shape: NetShape, *, seed: int) -> _Kind:
    """Return a network with random weights; the same seed gives the same ones."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return kind(shape)


def _new_norm(channels: int) -> NormLayer:
    """Return a norm that changes nothing yet, and takes its statistics from what it is trained with."""
    norm = NormLayer(BatchNorm(np.ones(channels, dtype=np.float32), np.zeros(channels, dtype=np.float32)))
    norm.counts = True
    return norm


def _merged(conv: nn.Conv2d, norm: nn.Module) -> Filters:
    """Return a convolution and the norm that follows it, or none, as one convolution."""
    if not isinstance(norm, NormLayer):
        assert conv.bias is not None, "without a norm there is one"
        return Filters(conv.weight.detach(), conv.bias.detach())
    factors = norm.describe()
    return Filters(
        conv.weight.detach() * torch.from_numpy(factors.scale)[:, None, None, None], torch.from_numpy(factors.bias)
    )


def _prepare(layer: nn.Conv2d | nn.Linear) -> None:
    """Give a layer that a ReLU follows its first weights."""
    nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
