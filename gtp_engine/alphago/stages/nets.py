"""AlphaGo's networks as torch modules.

Zero-padded convolutions, the first of 5×5 and the rest of 3×3 points, each followed by a ReLU, then a 1×1 convolution
to one channel.  The policy network adds a bias for each point, which gives the logits of a softmax.  The value network
continues with a dense layer and ends in a tanh.  Both therefore play on one board size only.

Two additions to the paper: the value network also predicts the owner of each point, by a 1×1 convolution on the same
features, because a game then teaches it far more than one number, and it knows which stones are dead.  And in training
a batch norm follows each of its convolutions; the export merges it into the filters.

Source: Silver et al., Nature 529 (2016), "Neural network architecture": 13 layers of 192 filters, the last one
included; for the value network 256 dense units.

Shapes: N positions, boards of H × W points, A = H·W.
"""

from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np
import torch
from torch import Tensor, nn

from gtp_engine.alphago.planes import POLICY_PLANES, VALUE_PLANES
from gtp_engine.errors import ConfigError, problem
from gtp_engine.networks.katago_format.description import BatchNorm
from gtp_engine.training.nets.layers import NormLayer

FIRST_FILTER: Final = 5
FILTER: Final = 3
"""Sides of the filters, in points."""

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
                raise ConfigError(problem(f"a network with {name} {getattr(self, name)}", expected=f"at least {least}"))

    @property
    def area(self) -> int:
        """The number of points, A."""
        return self.width * self.height

    @property
    def title(self) -> str:
        """The size as a short name: "9x9-l7c64"."""
        return f"{self.width}x{self.height}-l{self.layers}c{self.channels}"

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self)


class Filters(NamedTuple):
    """A convolution as it is exported."""

    weights: Tensor
    """[O, I, side, side]."""
    bias: Tensor
    """[O]."""


class Trunk(nn.Module):
    """All convolutions but the last, each with a ReLU; if `normed`, with a batch norm before the ReLU."""

    def __init__(self, planes: int, shape: NetShape, *, normed: bool) -> None:
        super().__init__()
        sizes = [(planes, FIRST_FILTER), *[(shape.channels, FILTER)] * (shape.layers - 2)]
        self.convs = nn.ModuleList(
            nn.Conv2d(inputs, shape.channels, size, padding=size // 2, bias=not normed) for inputs, size in sizes
        )
        self.norms = nn.ModuleList(_new_norm(shape.channels) if normed else nn.Identity() for _ in sizes)
        for conv in self.layers:
            _initialize(conv)

    @property
    def layers(self) -> list[nn.Conv2d]:
        """The convolutions in order."""
        return cast("list[nn.Conv2d]", list(self.convs))

    def forward(self, planes: Tensor) -> Tensor:
        """Return the features [N, C, H, W] of `planes` [N, P, H, W]."""
        for conv, norm in zip(self.convs, self.norms, strict=True):
            planes = torch.relu(norm(conv(planes)))
        return planes

    def filters(self) -> list[Filters]:
        """Return the convolutions with their norms merged into them."""
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
_Kind = TypeVar("_Kind", PolicyNet, ValueNet)

KINDS: Final[dict[str, type[Net]]] = {"policy": PolicyNet, "value": ValueNet}
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


def _merged(conv: nn.Conv2d, norm: nn.Module) -> Filters:
    """Return a convolution and the norm or identity that follows it as one convolution."""
    if not isinstance(norm, NormLayer):
        assert conv.bias is not None, "a convolution without a norm has a bias"
        return Filters(conv.weight.detach(), conv.bias.detach())
    factors = norm.describe()
    return Filters(
        conv.weight.detach() * torch.from_numpy(factors.scale)[:, None, None, None], torch.from_numpy(factors.bias)
    )


def _initialize(layer: nn.Conv2d | nn.Linear) -> None:
    """Initialize a layer that a ReLU follows."""
    nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
