"""The layers and blocks of KataGo's networks as torch modules, each built from its description.

    Layers      what all of them are: the arrays of a description as parameters, its parts as modules
    MODULES     which module computes which description

`nn.katago_format.description` lists the fields of each part, which are attributes of the same names here, and
says what it computes, which is `forward` here.

Shape letters: B batch, C channels, I and O input and output channels, H and W the board's rows and columns, S = H·W
points, N heads, D channels of a head, P rotation pairs of a head.
"""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gtp_engine.evaluation.positions import FloatArray
from gtp_engine.nn.katago_format import description as desc

STATISTICS_MOMENTUM: Final = 0.02
"""Weight of a batch in the running statistics of a norm: they cover about 50 batches, so that every board size
contributes although a batch has only one."""

_EPSILON: Final = 1e-5
"""Added to variances; small beside those of He-initialised layers, which are about 1."""

_OTHER_NAMES: Final[Mapping[str, str]] = MappingProxyType({"weights": "weight"})
"""Fields that have another name here, which is the one in checkpoints."""

Description = TypeVar("Description")


class Layers(nn.Module, Generic[Description]):
    """A part of a network, with the fields of its description as attributes; a subclass says how it is computed."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, description: Description) -> None:
        super().__init__()
        self._kind = type(description)
        for name in self._fields():
            setattr(self, _OTHER_NAMES.get(name, name), _live(getattr(description, name)))

    def describe(self) -> Description:
        """Return the description with float32 copies of the weights as they are now."""
        return self._kind(**{name: _described(getattr(self, _OTHER_NAMES.get(name, name))) for name in self._fields()})

    def _fields(self) -> list[str]:
        return [field.name for field in fields(self._kind)]  # type: ignore[arg-type]  # a dataclass


def _live(value: Any) -> Any:
    """Return an array of a description as a trainable copy, a part of it as its module, anything else as it is."""
    if isinstance(value, np.ndarray):
        return nn.Parameter(torch.from_numpy(np.array(value, dtype=np.float32)))
    if isinstance(value, tuple) and all(map(is_dataclass, value)):
        return BlockStack(value)
    return MODULES[type(value)](value) if type(value) in MODULES else value


def _described(value: Any) -> Any:
    """Return what `_live` was given, with the weights of now."""
    if isinstance(value, nn.Parameter):
        return floats(value)
    return value.describe() if isinstance(value, Layers | BlockStack) else value


def floats(tensor: Tensor) -> FloatArray:
    """Return a float32 copy of a tensor on any device."""
    return np.ascontiguousarray(tensor.detach().cpu().float().numpy()).copy()


def activate(x: Tensor, activation: desc.Activation) -> Tensor:
    """Return the activation of `x`; `x` itself may be overwritten with it."""
    match activation:
        case desc.Activation.RELU:
            return F.relu(x, inplace=True)
        case desc.Activation.MISH:
            return F.mish(x)
        case desc.Activation.SILU:
            return F.silu(x)
        case desc.Activation.IDENTITY:
            return x


# Layers


class ConvLayer(Layers[desc.Conv]):
    """A convolution that keeps the board's size, without bias."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the convolution of `x` [B, I, H, W]: [B, O, H, W]."""
        margins = [(size - 1) // 2 * step for size, step in zip(self.weight.shape[2:], self.dilation, strict=True)]
        return F.conv2d(x, self.weight, padding=margins, dilation=self.dilation)


class MatrixLayer(Layers[desc.MatMul]):
    """A product with a matrix."""

    def forward(self, x: Tensor) -> Tensor:
        """Return `x` [..., I] times the matrix: [..., O]."""
        return x @ self.weight


class NormLayer(Layers[desc.BatchNorm]):
    """A batch norm, which begins with the statistics that reduce it to `x * scale + bias`.

    If `counts` is set, training uses mean and variance of the batch and updates their running averages; otherwise, in
    evaluation, and where the norm is frozen, the running averages are used.
    """

    mean: Tensor
    variance: Tensor

    def __init__(self, norm: desc.BatchNorm) -> None:
        super().__init__(norm)
        self.counts = False
        self.register_buffer("mean", torch.zeros(len(norm.scale)))
        self.register_buffer("variance", torch.full((len(norm.scale),), 1.0 - _EPSILON))

    def forward(self, x: Tensor) -> Tensor:
        """Return the norm of `x` [B, C, ...], by channel."""
        counts = self.counts and self.training and self.scale.requires_grad
        return F.batch_norm(x, self.mean, self.variance, self.scale, self.bias, counts, STATISTICS_MOMENTUM, _EPSILON)

    @torch.no_grad()
    def set_statistics(self, mean: Tensor, variance: Tensor) -> None:
        """Replace the running averages by `mean` and `variance` [C], without changing what the norm computes."""
        old, new = torch.sqrt(self.variance + _EPSILON), torch.sqrt(variance + _EPSILON)
        self.bias.add_(self.scale * (mean - self.mean) / old)
        self.scale.mul_(new / old)
        self.mean.copy_(mean)
        self.variance.copy_(variance)

    def describe(self) -> desc.BatchNorm:
        """Return the norm as plain data, its statistics merged into scale and bias."""
        deviation = np.sqrt(floats(self.variance).astype(np.float64) + _EPSILON)
        scale = floats(self.scale) / deviation
        bias = floats(self.bias) - floats(self.mean) * scale
        return desc.BatchNorm(scale.astype(np.float32), bias.astype(np.float32))


def norms_of(module: nn.Module) -> list[NormLayer]:
    """Return every batch norm in a module."""
    return [layer for layer in module.modules() if isinstance(layer, NormLayer)]


class RmsNormLayer(Layers[desc.RmsNorm]):
    """A division by the root of the mean square, over channels or over channels and board."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the norm of `x` [B, S, C]."""
        wide = x.float()
        mean = wide.square().mean(dim=(1, 2) if self.spatial else -1, keepdim=True)
        normed = wide * torch.rsqrt(mean + self.epsilon) * self.scale
        return (normed if self.bias is None else normed + self.bias).to(x.dtype)


class NormActConvLayer(Layers[desc.NormActConv]):
    """Norm, activation, convolution; a caller may add something to the norm's input."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x` [B, I, H, W]: [B, O, H, W]."""
        y: Tensor = self.conv(activate(self.norm(x), self.activation))
        return y


class PoolBranchLayer(Layers[desc.PoolBranch]):
    """Convolution, norm and activation, whose result the caller pools."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the features to pool, [B, O, H, W]."""
        return activate(self.norm(self.conv(x)), self.activation)


class ProfileLayers(Layers[desc.ProfileEncoder]):
    """`act2(bias2 + act1(bias1 + profile @ mul1) @ mul2) @ mul3`."""

    def forward(self, profile: Tensor) -> Tensor:
        """Return what `profile` [B, 192] adds to each channel of the trunk, [B, C]."""
        hidden = activate(self.mul1(profile) + self.bias1, self.act1)
        added: Tensor = self.mul3(activate(self.mul2(hidden) + self.bias2, self.act2))
        return added


def everywhere(bias: Tensor, like: Tensor) -> Tensor:
    """Return `bias` [B, C] as [B, C, 1, 1] in the number format of `like`."""
    return bias.to(like.dtype)[:, :, None, None]


def pool_for_trunk(x: Tensor) -> Tensor:
    """Return mean, mean · spread and maximum of `x` [B, C, H, W] over the board: [B, 3C]."""
    mean = x.mean(dim=(2, 3))
    return torch.cat([mean, mean * _spread(x), x.amax(dim=(2, 3))], dim=1)


def pool_for_value(x: Tensor) -> Tensor:
    """Return mean, mean · spread and mean · (spread² − 0.1) of `x` [B, C, H, W] over the board: [B, 3C]."""
    mean, spread = x.mean(dim=(2, 3)), _spread(x)
    return torch.cat([mean, mean * spread, mean * (spread * spread - 0.1)], dim=1)


def _spread(x: Tensor) -> float:
    """Return (√(H·W) − 14) · 0.1, as `nn.onnx_export.graph.BoardGraph` has it."""
    height, width = x.shape[2:]
    return (math.sqrt(height * width) - desc.MIDDLE_WIDTH) * 0.1


def to_points(x: Tensor) -> Tensor:
    """Return `x` [B, C, H, W] as [B, S, C], row by row."""
    return x.flatten(2).transpose(1, 2)


def to_board(points: Tensor, like: Tensor) -> Tensor:
    """Return `points` [B, S, C] on the board of `like` [B, C, H, W]."""
    return points.transpose(1, 2).reshape(like.shape)


# Blocks, which map [B, C, H, W] to the same shape


class OrdinaryLayers(Layers[desc.OrdinaryBlock]):
    """`x + second(first(x))`."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's output for `x`."""
        change: Tensor = self.second(self.first(x))
        return x + change


class GlobalPoolingLayers(Layers[desc.GlobalPoolingBlock]):
    """An ordinary block whose first convolution gets a bias computed by `pool` from the whole board."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's output for `x`."""
        active = activate(self.first.norm(x), self.first.activation)
        hidden = self.first.conv(active)
        bias = self.pool_to_bias(pool_for_trunk(self.pool(active)))
        change: Tensor = self.second(hidden + everywhere(bias, hidden))
        return x + change


class BottleneckLayers(Layers[desc.BottleneckBlock]):
    """`x + widen(blocks(narrow(x)))`."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's output for `x`."""
        change: Tensor = self.widen(self.blocks(self.narrow(x)))
        return x + change


class FeedForwardLayers(Layers[desc.FeedForwardBlock]):
    """`x + (silu(n @ up) * (n @ gate)) @ down` with n = norm(x)."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's output for `x`."""
        normed = self.norm(to_points(x))
        return x + to_board(self.down(F.silu(self.up(normed)) * self.gate(normed)), x)


class AttentionLayers(Layers[desc.AttentionBlock]):
    """`x + attention(norm(x)) @ out`, as `AttentionBlock` describes it."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's output for `x`."""
        normed = self.norm(to_points(x))
        queries = self._rotated(_by_head(self.query(normed), self.heads), x)
        keys = self._rotated(_by_head(self.key(normed), self.kv_heads), x)
        values = _by_head(self.value(normed), self.kv_heads)
        share = self.heads // self.kv_heads
        if share > 1:
            keys, values = (each.repeat_interleave(share, dim=1) for each in (keys, values))
        found = F.scaled_dot_product_attention(queries, keys, values)
        return x + to_board(self.out(found.transpose(1, 2).flatten(2)), x)

    def _rotated(self, columns: Tensor, board: Tensor) -> Tensor:
        """Return `columns` [B, N, S, D] with channels 2p and 2p + 1 rotated by the angle of their point."""
        if self.frequencies is None:
            return columns
        height, width = board.shape[2:]
        heads, points = columns.shape[1:3]
        y = torch.arange(height, device=board.device, dtype=torch.float32).repeat_interleave(width)
        x = torch.arange(width, device=board.device, dtype=torch.float32).repeat(height)
        frequencies = self.frequencies.repeat_interleave(heads // len(self.frequencies), dim=0)  # [N, P, 2]
        angles = x[:, None] * frequencies[:, None, :, 0] + y[:, None] * frequencies[:, None, :, 1]  # [N, S, P]
        cosine, sine = angles.cos(), angles.sin()
        first, second = columns.float().view(*columns.shape[:3], -1, 2).unbind(-1)
        turned = torch.stack([first * cosine - second * sine, first * sine + second * cosine], dim=-1)
        return turned.reshape(len(columns), heads, points, -1).to(columns.dtype)


def _by_head(columns: Tensor, heads: int) -> Tensor:
    """Return `columns` [B, S, N·D] as [B, N, S, D]."""
    return columns.view(*columns.shape[:2], heads, -1).transpose(1, 2)


class BlockStack(nn.Module):
    """Blocks in sequence."""

    def __init__(self, blocks: tuple[desc.Block, ...]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(_live(block) for block in blocks)

    def forward(self, x: Tensor, begin: int = 0, end: int | None = None) -> Tensor:
        """Return the output of the last block, or that of the blocks from `begin` to `end` only."""
        for layers in self.layers[begin:end]:
            x = layers(x)
        return x

    def describe(self) -> tuple[desc.Block, ...]:
        """Return the blocks as plain data."""
        return tuple(map(_described, self.layers))


MODULES: Final[Mapping[type, type[Layers[Any]]]] = MappingProxyType(
    {
        desc.Conv: ConvLayer,
        desc.MatMul: MatrixLayer,
        desc.BatchNorm: NormLayer,
        desc.RmsNorm: RmsNormLayer,
        desc.NormActConv: NormActConvLayer,
        desc.PoolBranch: PoolBranchLayer,
        desc.ProfileEncoder: ProfileLayers,
        desc.OrdinaryBlock: OrdinaryLayers,
        desc.GlobalPoolingBlock: GlobalPoolingLayers,
        desc.BottleneckBlock: BottleneckLayers,
        desc.AttentionBlock: AttentionLayers,
        desc.FeedForwardBlock: FeedForwardLayers,
    }
)
