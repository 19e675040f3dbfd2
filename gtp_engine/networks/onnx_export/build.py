"""Builds the ONNX graph of a KataGo network."""

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from gtp_engine.networks.katago_format.description import (
    AttentionBlock,
    Block,
    BottleneckBlock,
    FeedForwardBlock,
    GlobalPoolingBlock,
    Network,
    NormActConv,
    OrdinaryBlock,
    RmsNorm,
    Trunk,
)
from gtp_engine.networks.onnx_export.board_shape import BoardSize
from gtp_engine.networks.onnx_export.convolutions import (
    activate,
    convolve,
    everywhere,
    global_pooling_block,
    norm_act_conv,
    normalize,
    ordinary_block,
)
from gtp_engine.networks.onnx_export.graph import Graph, Tensor
from gtp_engine.networks.onnx_export.heads import policy_count, policy_head, value_head
from gtp_engine.networks.onnx_export.profile_encoder import profile_bias
from gtp_engine.networks.onnx_export.transformer_blocks import (
    attention_block,
    feed_forward_block,
    normalize_points,
    pointwise,
    product,
)
from gtp_engine.nn.metadata import PROFILE_INPUTS, NetworkInfo


class Layout(Enum):
    """The order of the dimensions of features."""

    BOARD = "[B, C, H, W]"
    POINTS = "[B, S, C]"


@dataclass(frozen=True)
class Features:
    """A tensor between blocks."""

    tensor: Tensor
    layout: Layout
    channels: int


def build_model(network: Network, info: NetworkInfo) -> Any:
    """Return `network` as an `onnx.ModelProto` with `info` as its metadata."""
    return _Builder(network).model(info)


class _Builder:
    """Builds the graph of one network."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._graph = Graph()
        self._spatial = self._graph.input("spatial", ("batch", network.planes, "height", "width"))
        profile = PROFILE_INPUTS if network.trunk.from_profile is not None else 0
        self._globals = self._graph.input("globals", ("batch", network.globals_ + profile))
        self._size = BoardSize(self._graph, self._spatial)

    def model(self, info: NetworkInfo) -> Any:
        """Return the finished model."""
        graph, network = self._graph, self._network
        # KataGo never asks a network that imitates people for its optimistic policy.
        count = policy_count(network.policy) if network.trunk.from_profile is None else 1
        trunk = self._trunk(network.trunk)
        policy = policy_head(graph, trunk, network.policy, self._size, count)
        value, misc, ownership = value_head(graph, trunk, network.value, self._size)
        graph.output("policy", policy, ("batch", count, "actions"))
        graph.output("value", value, ("batch", 3))
        graph.output("misc", misc, ("batch", len(network.value.misc_bias)))
        graph.output("ownership", ownership, ("batch", "points"))
        return graph.model(network.name, info.properties())

    def _trunk(self, trunk: Trunk) -> Tensor:
        """Return the trunk's output, the heads' input, in the layout BOARD."""
        graph = self._graph
        from_globals = everywhere(graph, self._from_globals(trunk))
        first = graph.add("Add", convolve(graph, self._spatial, trunk.conv), from_globals)
        x = self._blocks(Features(first, Layout.BOARD, len(trunk.norm.scale)), trunk.blocks)
        if isinstance(trunk.norm, RmsNorm):
            x = self._in(Layout.POINTS, x)
            x = replace(x, tensor=activate(graph, normalize_points(graph, x.tensor, trunk.norm), trunk.activation))
            return self._in(Layout.BOARD, x).tensor
        x = self._in(Layout.BOARD, x)
        return activate(graph, normalize(graph, x.tensor, trunk.norm), trunk.activation)

    def _from_globals(self, trunk: Trunk) -> Tensor:
        """Return what the global values, and the profile after them, add to the trunk's input, [B, C]."""
        graph, count = self._graph, self._network.globals_
        if trunk.from_profile is None:
            return product(graph, self._globals, trunk.from_globals)
        parts = graph.integers(count, PROFILE_INPUTS)
        values, profile = graph.split(self._globals, parts, axis=1)
        added = profile_bias(graph, profile, trunk.from_profile)
        return graph.add("Add", product(graph, values, trunk.from_globals), added)

    def _blocks(self, x: Features, blocks: tuple[Block, ...]) -> Features:
        for block in blocks:
            x = self._in(_layout_of(block), x)
            x = replace(x, tensor=self._block(x, block))
        return x

    def _block(self, x: Features, block: Block) -> Tensor:
        """Return the output of `block` for `x`, which is in the block's layout."""
        graph = self._graph
        match block:
            case OrdinaryBlock():
                return ordinary_block(graph, x.tensor, block)
            case GlobalPoolingBlock():
                return global_pooling_block(graph, x.tensor, block, self._size)
            case AttentionBlock():
                return attention_block(graph, x.tensor, block, self._size)
            case FeedForwardBlock():
                return feed_forward_block(graph, x.tensor, block)
            case BottleneckBlock():
                inner = self._blocks(self._norm_act_conv(x, block.narrow), block.blocks)
                wide = self._norm_act_conv(self._in(x.layout, inner), block.widen)
                return graph.add("Add", x.tensor, wide.tensor)

    def _norm_act_conv(self, x: Features, layer: NormActConv) -> Features:
        apply = norm_act_conv if x.layout is Layout.BOARD else pointwise
        return Features(apply(self._graph, x.tensor, layer), x.layout, layer.conv.weights.shape[0])

    def _in(self, layout: Layout, x: Features) -> Features:
        """Return `x` in `layout`."""
        graph = self._graph
        if x.layout is layout:
            return x
        if layout is Layout.POINTS:
            rows = graph.add("Reshape", x.tensor, graph.integers(0, x.channels, -1))
            return replace(x, tensor=graph.add("Transpose", rows, perm=[0, 2, 1]), layout=layout)
        columns = graph.add("Transpose", x.tensor, perm=[0, 2, 1])
        shape = graph.add("Concat", graph.integers(0, x.channels), self._size.shape, axis=0)
        return replace(x, tensor=graph.add("Reshape", columns, shape), layout=layout)


def _layout_of(block: Block) -> Layout:
    """Return the layout that `block` works in; a bottleneck of 1×1 convolutions uses that of its inner blocks."""
    match block:
        case AttentionBlock() | FeedForwardBlock():
            return Layout.POINTS
        case BottleneckBlock():
            filters = {layer.conv.weights.shape[2:] for layer in (block.narrow, block.widen)}
            return _layout_of(block.blocks[0]) if filters == {(1, 1)} else Layout.BOARD
    return Layout.BOARD
