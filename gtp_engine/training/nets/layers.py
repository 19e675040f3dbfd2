"""The layers of KataGo's networks as torch modules: each is built from its description and can return it.

Twins of the dataclasses in `networks.katago_format.description`, with the same shapes; `describe` returns such a
dataclass with float32 copies of the weights as they are now.

Shape letters: B batch, C channels, I and O input and output channels, H and W the board's rows and columns.
"""

import math
from typing import Final

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gtp_engine.networks.katago_format.description import (
    Activation,
    BatchNorm,
    Conv,
    Floats,
    MatMul,
    NormActConv,
    PoolBranch,
    RmsNorm,
)

STATISTICS_MOMENTUM: Final = 0.02
"""Weight of a batch in the running statistics of a norm: they cover about 50 batches, so that every board size
contributes although a batch has only one."""

_EPSILON: Final = 1e-5
"""Added to variances; small beside those of He-initialised layers, which are about 1."""

_MIDDLE_WIDTH: Final = 14.0
"""KataGo's centre of board widths, in points (`networks.onnx_export.board_shape`)."""


def parameter(array: Floats) -> nn.Parameter:
    """Return a trainable copy of `array`."""
    return nn.Parameter(torch.from_numpy(np.array(array, dtype=np.float32)))


def floats(tensor: Tensor) -> Floats:
    """Return a float32 copy of a tensor on any device."""
    return np.ascontiguousarray(tensor.detach().cpu().float().numpy()).copy()


def activate(x: Tensor, activation: Activation) -> Tensor:
    """Return the activation of `x`; `x` itself may be overwritten with it."""
    match activation:
        case Activation.RELU:
            return F.relu(x, inplace=True)
        case Activation.MISH:
            return F.mish(x)
        case Activation.SILU:
            return F.silu(x)
        case Activation.IDENTITY:
            return x


class ConvLayer(nn.Module):
    """A convolution that keeps the board's size, without bias."""

    def __init__(self, conv: Conv) -> None:
        super().__init__()
        self.weight = parameter(conv.weights)
        self._dilation = conv.dilation
        sizes = conv.weights.shape[2:]
        self._margins = [(size - 1) // 2 * step for size, step in zip(sizes, conv.dilation, strict=True)]

    def forward(self, x: Tensor) -> Tensor:
        """Return the convolution of `x` [B, I, H, W]: [B, O, H, W]."""
        return F.conv2d(x, self.weight, padding=self._margins, dilation=self._dilation)

    def describe(self) -> Conv:
        """Return the layer as plain data."""
        return Conv(floats(self.weight), self._dilation)


class MatrixLayer(nn.Module):
    """A product with a matrix."""

    def __init__(self, matrix: MatMul) -> None:
        super().__init__()
        self.weight = parameter(matrix.weights)

    def forward(self, x: Tensor) -> Tensor:
        """Return `x` [..., I] times the matrix: [..., O]."""
        return x @ self.weight

    def describe(self) -> MatMul:
        """Return the layer as plain data."""
        return MatMul(floats(self.weight))


class NormLayer(nn.Module):
    """A batch norm, which begins with the statistics that reduce it to `x * scale + bias`.

    If `counts` is set, training uses mean and variance of the batch and updates their running averages; otherwise, and
    in evaluation, the running averages are used.
    """

    mean: Tensor
    variance: Tensor

    def __init__(self, norm: BatchNorm) -> None:
        super().__init__()
        self.counts = False
        self.scale = parameter(norm.scale)
        self.bias = parameter(norm.bias)
        self.register_buffer("mean", torch.zeros(len(norm.scale)))
        self.register_buffer("variance", torch.full((len(norm.scale),), 1.0 - _EPSILON))

    def forward(self, x: Tensor) -> Tensor:
        """Return the norm of `x` [B, C, ...], by channel."""
        counts = self.counts and self.training
        return F.batch_norm(x, self.mean, self.variance, self.scale, self.bias, counts, STATISTICS_MOMENTUM, _EPSILON)

    @torch.no_grad()
    def set_statistics(self, mean: Tensor, variance: Tensor) -> None:
        """Replace the running averages by `mean` and `variance` [C], without changing what the norm computes."""
        old, new = torch.sqrt(self.variance + _EPSILON), torch.sqrt(variance + _EPSILON)
        self.bias.add_(self.scale * (mean - self.mean) / old)
        self.scale.mul_(new / old)
        self.mean.copy_(mean)
        self.variance.copy_(variance)

    def describe(self) -> BatchNorm:
        """Return the layer as plain data, its statistics merged into scale and bias."""
        deviation = np.sqrt(floats(self.variance).astype(np.float64) + _EPSILON)
        scale = floats(self.scale) / deviation
        bias = floats(self.bias) - floats(self.mean) * scale
        return BatchNorm(scale.astype(np.float32), bias.astype(np.float32))


class RmsNormLayer(nn.Module):
    """A division by the root of the mean square, over channels or over channels and board."""

    def __init__(self, norm: RmsNorm) -> None:
        super().__init__()
        self._epsilon, self._spatial = norm.epsilon, norm.spatial
        self.scale = parameter(norm.scale)
        self.bias = None if norm.bias is None else parameter(norm.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Return the norm of `x` [B, S, C], S points."""
        wide = x.float()
        mean = wide.square().mean(dim=(1, 2) if self._spatial else -1, keepdim=True)
        normed = wide * torch.rsqrt(mean + self._epsilon) * self.scale
        return (normed if self.bias is None else normed + self.bias).to(x.dtype)

    def describe(self) -> RmsNorm:
        """Return the layer as plain data."""
        bias = None if self.bias is None else floats(self.bias)
        return RmsNorm(self._epsilon, self._spatial, floats(self.scale), bias)


class NormActConvLayer(nn.Module):
    """Norm, activation, convolution; a caller may add something to the norm's input."""

    def __init__(self, layer: NormActConv) -> None:
        super().__init__()
        self.norm = NormLayer(layer.norm)
        self.activation = layer.activation
        self.conv = ConvLayer(layer.conv)

    def forward(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x` [B, I, H, W]: [B, O, H, W]."""
        y: Tensor = self.conv(activate(self.norm(x), self.activation))
        return y

    def describe(self) -> NormActConv:
        """Return the layer as plain data."""
        return NormActConv(self.norm.describe(), self.activation, self.conv.describe())


class PoolBranchLayer(nn.Module):
    """Convolution, norm and activation, whose result the caller pools."""

    def __init__(self, branch: PoolBranch) -> None:
        super().__init__()
        self.conv = ConvLayer(branch.conv)
        self.norm = NormLayer(branch.norm)
        self.activation = branch.activation

    def forward(self, x: Tensor) -> Tensor:
        """Return the features to pool, [B, O, H, W]."""
        return activate(self.norm(self.conv(x)), self.activation)

    def describe(self) -> PoolBranch:
        """Return the layer as plain data."""
        return PoolBranch(self.conv.describe(), self.norm.describe(), self.activation)


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
    """Return (√(H·W) − 14) · 0.1, as `networks.onnx_export.board_shape` has it."""
    height, width = x.shape[2:]
    return (math.sqrt(height * width) - _MIDDLE_WIDTH) * 0.1
