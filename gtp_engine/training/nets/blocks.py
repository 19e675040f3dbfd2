"""The residual blocks of KataGo's networks as torch modules; all map [B, C, H, W] to the same shape."""

from torch import Tensor, nn

from gtp_engine.networks.katago_format.description import (
    AttentionBlock,
    Block,
    BottleneckBlock,
    FeedForwardBlock,
    GlobalPoolingBlock,
    OrdinaryBlock,
)
from gtp_engine.training.nets.layers import (
    MatrixLayer,
    NormActConvLayer,
    PoolBranchLayer,
    activate,
    everywhere,
    pool_for_trunk,
)
from gtp_engine.training.nets.transformer import AttentionLayers, FeedForwardLayers


class OrdinaryLayers(nn.Module):
    """`x + second(first(x))`."""

    def __init__(self, block: OrdinaryBlock) -> None:
        super().__init__()
        self.first = NormActConvLayer(block.first)
        self.second = NormActConvLayer(block.second)

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's output for `x`."""
        change: Tensor = self.second(self.first(x))
        return x + change

    def describe(self) -> OrdinaryBlock:
        """Return the block as plain data."""
        return OrdinaryBlock(self.first.describe(), self.second.describe())


class GlobalPoolingLayers(nn.Module):
    """An ordinary block whose first convolution gets a bias computed by `pool` from the whole board."""

    def __init__(self, block: GlobalPoolingBlock) -> None:
        super().__init__()
        self.first = NormActConvLayer(block.first)
        self.pool = PoolBranchLayer(block.pool)
        self.pool_to_bias = MatrixLayer(block.pool_to_bias)
        self.second = NormActConvLayer(block.second)

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's output for `x`."""
        active = activate(self.first.norm(x), self.first.activation)
        hidden = self.first.conv(active)
        bias = self.pool_to_bias(pool_for_trunk(self.pool(active)))
        change: Tensor = self.second(hidden + everywhere(bias, hidden))
        return x + change

    def describe(self) -> GlobalPoolingBlock:
        """Return the block as plain data."""
        return GlobalPoolingBlock(
            self.first.describe(), self.pool.describe(), self.pool_to_bias.describe(), self.second.describe()
        )


class BottleneckLayers(nn.Module):
    """`x + widen(blocks(narrow(x)))`."""

    def __init__(self, block: BottleneckBlock) -> None:
        super().__init__()
        self.narrow = NormActConvLayer(block.narrow)
        self.blocks = BlockStack(block.blocks)
        self.widen = NormActConvLayer(block.widen)

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's output for `x`."""
        change: Tensor = self.widen(self.blocks(self.narrow(x)))
        return x + change

    def describe(self) -> BottleneckBlock:
        """Return the block as plain data."""
        return BottleneckBlock(self.narrow.describe(), self.blocks.describe(), self.widen.describe())


class BlockStack(nn.Module):
    """Blocks in sequence."""

    def __init__(self, blocks: tuple[Block, ...]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(_layers_of(block) for block in blocks)

    def forward(self, x: Tensor) -> Tensor:
        """Return the output of the last block."""
        for layers in self.layers:
            x = layers(x)
        return x

    def describe(self) -> tuple[Block, ...]:
        """Return the blocks as plain data."""
        return tuple(layers.describe() for layers in self.layers)  # type: ignore[operator]


def _layers_of(block: Block) -> nn.Module:
    match block:
        case OrdinaryBlock():
            return OrdinaryLayers(block)
        case GlobalPoolingBlock():
            return GlobalPoolingLayers(block)
        case BottleneckBlock():
            return BottleneckLayers(block)
        case AttentionBlock():
            return AttentionLayers(block)
        case FeedForwardBlock():
            return FeedForwardLayers(block)
