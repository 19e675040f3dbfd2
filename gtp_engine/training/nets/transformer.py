"""Transformer blocks as torch modules; they map [B, C, H, W] to the same shape and work on [B, S, C], S = H·W points.

Further letters: N heads, D channels of a head, P rotation pairs of a head.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gtp_engine.networks.katago_format.description import AttentionBlock, FeedForwardBlock
from gtp_engine.training.nets.layers import MatrixLayer, RmsNormLayer, floats, parameter


def to_points(x: Tensor) -> Tensor:
    """Return `x` [B, C, H, W] as [B, S, C], row by row."""
    return x.flatten(2).transpose(1, 2)


def to_board(points: Tensor, like: Tensor) -> Tensor:
    """Return `points` [B, S, C] on the board of `like` [B, C, H, W]."""
    return points.transpose(1, 2).reshape(like.shape)


class FeedForwardLayers(nn.Module):
    """`x + (silu(n @ up) * (n @ gate)) @ down` with n = norm(x)."""

    def __init__(self, block: FeedForwardBlock) -> None:
        super().__init__()
        self.norm = RmsNormLayer(block.norm)
        self.up, self.gate, self.down = (MatrixLayer(matrix) for matrix in (block.up, block.gate, block.down))

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's output for `x`."""
        normed = self.norm(to_points(x))
        return x + to_board(self.down(F.silu(self.up(normed)) * self.gate(normed)), x)

    def describe(self) -> FeedForwardBlock:
        """Return the block as plain data."""
        return FeedForwardBlock(self.norm.describe(), self.up.describe(), self.gate.describe(), self.down.describe())


class AttentionLayers(nn.Module):
    """`x + attention(norm(x)) @ out`, as `AttentionBlock` describes it."""

    def __init__(self, block: AttentionBlock) -> None:
        super().__init__()
        self._heads, self._kv_heads = block.heads, block.kv_heads
        self._query_channels, self._value_channels = block.query_channels, block.value_channels
        self.norm = RmsNormLayer(block.norm)
        self.query, self.key, self.value, self.out = (
            MatrixLayer(matrix) for matrix in (block.query, block.key, block.value, block.out)
        )
        self.frequencies = None if block.frequencies is None else parameter(block.frequencies)

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's output for `x`."""
        normed = self.norm(to_points(x))
        queries = self._rotated(_by_head(self.query(normed), self._heads), x)
        keys = self._rotated(_by_head(self.key(normed), self._kv_heads), x)
        values = _by_head(self.value(normed), self._kv_heads)
        share = self._heads // self._kv_heads
        if share > 1:
            keys, values = (each.repeat_interleave(share, dim=1) for each in (keys, values))
        found = F.scaled_dot_product_attention(queries, keys, values)
        return x + to_board(self.out(found.transpose(1, 2).flatten(2)), x)

    def describe(self) -> AttentionBlock:
        """Return the block as plain data."""
        return AttentionBlock(
            self.norm.describe(),
            self.query.describe(),
            self.key.describe(),
            self.value.describe(),
            self.out.describe(),
            self._heads,
            self._kv_heads,
            self._query_channels,
            self._value_channels,
            None if self.frequencies is None else floats(self.frequencies),
        )

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
