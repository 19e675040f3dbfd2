"""AlphaGo's networks as torch modules.

Convolutions over the board, the first of 5×5 and the rest of 3×3 points, padded with zeros, each followed by a ReLU;
then 1×1 to a number for each point.  The policy network adds a bias for each point: its outputs are the logits of a
softmax.  The value network goes on with a dense layer and ends in a tanh.  Both so know one board size only.

Beside the paper's: the value network foretells the owner of each point too, by a 1×1 convolution on the same features.
It learns far more of a game so than from one number, and can tell which stones are dead.

Source: Silver et al., Nature 529 (2016), "Neural network architecture": 13 layers of 192 filters, the last one
included; for the value network 256 dense units.

Shapes: N positions, boards of H × W points, A = H·W.
"""

from dataclasses import asdict, dataclass
from typing import Any, Final, TypeAlias, TypeVar, cast

import torch
from torch import Tensor, nn

from gtp_engine.errors import ConfigError, problem
from gtp_engine.nn.alphago_planes import POLICY_PLANES, VALUE_PLANES

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


class Trunk(nn.Module):
    """The convolutions up to the last but one, each with its ReLU; `convs` holds them."""

    def __init__(self, planes: int, shape: NetShape) -> None:
        super().__init__()
        sizes = [(planes, FIRST_FILTER), *[(shape.channels, FILTER)] * (shape.layers - 2)]
        self.convs = nn.ModuleList(nn.Conv2d(inputs, shape.channels, size, padding=size // 2) for inputs, size in sizes)
        for conv in self.layers:
            _prepare(conv)

    @property
    def layers(self) -> list[nn.Conv2d]:
        """The convolutions, in their order."""
        return cast("list[nn.Conv2d]", list(self.convs))

    def forward(self, planes: Tensor) -> Tensor:
        """Return the features [N, C, H, W] of `planes` [N, P, H, W]."""
        for conv in self.layers:
            planes = torch.relu(conv(planes))
        return planes


class PolicyNet(nn.Module):
    """The policy network."""

    KIND: Final = "policy"
    PLANES: Final = POLICY_PLANES

    def __init__(self, shape: NetShape) -> None:
        super().__init__()
        self.shape = shape
        self.trunk = Trunk(POLICY_PLANES, shape)
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
        self.trunk = Trunk(VALUE_PLANES, shape)
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
        points = torch.relu(self.to_points(features)).flatten(1)
        value = self.to_value(torch.relu(self.to_hidden(points)))
        return torch.tanh(torch.cat([value, self.to_owners(features).flatten(1)], dim=1).float())

    @torch.no_grad()
    def take_trunk(self, policy: PolicyNet) -> None:
        """Take the convolutions of a policy network of the same shape; the colour's plane has no say at first."""
        for mine, theirs in zip(self.trunk.layers, policy.trunk.layers, strict=True):
            assert mine.bias is not None and theirs.bias is not None, "all have one"
            mine.weight.zero_()
            mine.weight[:, : theirs.weight.shape[1]] = theirs.weight
            mine.bias.copy_(theirs.bias)


Net: TypeAlias = PolicyNet | ValueNet
_Kind = TypeVar("_Kind", PolicyNet, ValueNet)

KINDS: Final[dict[str, type[Net]]] = {"policy": PolicyNet, "value": ValueNet}
"""The kinds of networks by their names in files."""


def new_net(kind: type[_Kind], shape: NetShape, *, seed: int) -> _Kind:
    """Return a network with random weights; the same seed gives the same ones."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return kind(shape)


def _prepare(layer: nn.Conv2d | nn.Linear) -> None:
    """Give a layer that a ReLU follows its first weights."""
    nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
