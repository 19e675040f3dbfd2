"""The ONNX graph of a KataGo network, built from its description.

In the layout BOARD, tensors are [B, C, H, W]: batch, channel, row, column.  A batch norm that follows a convolution is
folded into its weights and bias.  The first norm of a block cannot be folded, because the block's input is also added
to its output.

Transformer blocks work in the layout POINTS, [B, S, C]: batch, point (row by row), channel.  Channels come last so that
every product with weights is one plain matrix product and no block transposes its input.  Each product has a node of
its own.  One product for queries, keys and values, or for both halves of a feed-forward block, was not faster, and
splitting its result cost time; besides, OpenVINO fuses the SiLU into the product before it.

Further letters: I and O input and output channels, N heads, D channels of a head, P policies, M other predictions.
"""

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np

from gtp_engine.evaluation.positions import FloatArray
from gtp_engine.nn.katago_format import description as desc
from gtp_engine.nn.metadata import PROFILE_INPUTS, NetworkInfo
from gtp_engine.nn.onnx_export.graph import BoardGraph, Tensor


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


def build_model(network: desc.Network, info: NetworkInfo) -> Any:
    """Return `network` as an `onnx.ModelProto` with `info` as its metadata."""
    return _LayerGraph(network).finished(info)


class _LayerGraph(BoardGraph):
    """The graph of one network; the methods add the parts of its description, and return the tensor of their output."""

    def __init__(self, network: desc.Network) -> None:
        super().__init__(network.planes)
        self._network = network
        profile = PROFILE_INPUTS if network.trunk.from_profile is not None else 0
        self._globals = self.input("globals", ("batch", network.globals_ + profile))

    def finished(self, info: NetworkInfo) -> Any:
        """Return the finished model."""
        network = self._network
        # KataGo never asks a network that imitates people for its optimistic policy.
        most = desc.MOST_POLICIES if network.trunk.from_profile is None else 1
        count = min(len(network.policy.to_logits.weights), most)
        trunk = self._trunk(network.trunk)
        policy = self._policy_head(trunk, network.policy, count)
        value, misc, ownership = self._value_head(trunk, network.value)
        self.output("policy", policy, ("batch", count, "actions"))
        self.output("value", value, ("batch", 3))
        self.output("misc", misc, ("batch", len(network.value.misc_bias)))
        self.output("ownership", ownership, ("batch", "points"))
        return self.model(network.name, info.properties())

    # Layers

    def _convolve(
        self, x: Tensor, conv: desc.Conv, norm: desc.BatchNorm | None = None, bias: Tensor | None = None
    ) -> Tensor:
        """Return the convolution of `x`, with the norm that follows it folded in.

        With `bias` [B, O], in which scale and bias of the norm are applied already, that is added in place of the
        norm's.
        """
        constants = [conv.weights if norm is None else conv.weights * norm.scale[:, None, None, None]]
        if norm is not None and bias is None:
            constants.append(norm.bias)
        sizes, dilations = list(conv.weights.shape[2:]), list(conv.dilation)
        margins = [(size - 1) // 2 * step for size, step in zip(sizes, dilations, strict=True)]
        options = {"kernel_shape": sizes, "dilations": dilations, "pads": margins * 2, "strides": [1, 1]}
        found = self.add("Conv", x, *map(self.constant, constants), **options)
        return found if bias is None else self.add("Add", found, self._everywhere(bias))

    def _normalize(self, x: Tensor, norm: desc.BatchNorm) -> Tensor:
        """Return `x * scale + bias` by channel."""
        scale, bias = (self.constant(part[:, None, None]) for part in (norm.scale, norm.bias))
        return self.add("Add", self.add("Mul", x, scale), bias)

    def _activate(self, x: Tensor, activation: desc.Activation) -> Tensor:
        """Return the activation of `x`, of any shape.

        Mish is x · tanh(log(1 + eˣ)) in exactly these steps: OpenVINO fuses them into one node, and onnxruntime has
        fast code for each, while its Softplus took a third of a network's time.  Where eˣ overflows the result is x,
        which is correct.
        """
        if activation is desc.Activation.RELU:
            return self.add("Relu", x)
        if activation is desc.Activation.MISH:
            softplus = self.add("Log", self.add("Add", self.add("Exp", x), self.floats(1.0)))
            return self.add("Mul", x, self.add("Tanh", softplus))
        if activation is desc.Activation.SILU:
            return self.add("Mul", x, self.add("Sigmoid", x))
        return x

    def _activate_between_products(self, x: Tensor, activation: desc.Activation) -> Tensor:
        """Return the activation of `x` [B, C], which comes from a product with a matrix and goes into another one.

        OpenVINO makes one node of such a sequence, and cannot load a network with a Mish in it; so Mish takes other
        steps than in `_activate`: x − 2x / (1 + (1 + eˣ)²).  Where eˣ overflows the result is x, which is correct.
        """
        if activation is not desc.Activation.MISH:
            return self._activate(x, activation)
        one = self.floats(1.0)
        power = self.add("Add", self.add("Exp", x), one)
        divisor = self.add("Add", self.add("Mul", power, power), one)
        return self.add("Sub", x, self.add("Div", self.add("Add", x, x), divisor))

    def _pool_branch(self, x: Tensor, branch: desc.PoolBranch) -> Tensor:
        """Return the output of a branch before pooling."""
        return self._activate(self._convolve(x, branch.conv, branch.norm), branch.activation)

    def _everywhere(self, x: Tensor) -> Tensor:
        """Return `x` [B, C] as [B, C, 1, 1], which broadcasts to every point of the board."""
        return self.add("Reshape", x, self.integers(0, -1, 1, 1))

    def _pool_for_trunk(self, x: Tensor) -> Tensor:
        """Return the mean and maximum of every channel over the board, [B, 2C]."""
        axes = self.integers(2, 3)
        mean = self.add("ReduceMean", x, axes, keepdims=0)
        return self.add("Concat", mean, self.add("ReduceMax", x, axes, keepdims=0), axis=1)

    def _pooled_product(self, pooled: Tensor, matrix: desc.MatMul, norm: desc.BatchNorm | None = None) -> Tensor:
        """Return the product of `pooled` [B, 2C] with `matrix` [3C, O], with the norm that follows folded in."""
        weights = matrix.weights if norm is None else matrix.weights * norm.scale
        product = self.add("MatMul", pooled, self.trunk_matrix(weights))
        return product if norm is None else self._with_bias(product, norm.bias)

    def _with_bias(self, x: Tensor, bias: FloatArray | None) -> Tensor:
        """Return `x + bias`, channels last; None adds nothing."""
        return x if bias is None else self.add("Add", x, self.constant(bias))

    def _product(self, x: Tensor, matrix: desc.MatMul) -> Tensor:
        """Return `x @ matrix`."""
        return self.add("MatMul", x, self.constant(matrix.weights))

    def _normalize_points(self, x: Tensor, norm: desc.BatchNorm | desc.RmsNorm) -> Tensor:
        """Return the norm of `x`.

        The steps of an RMS norm are those that OpenVINO and onnxruntime fuse into one node.
        """
        if isinstance(norm, desc.RmsNorm):
            axes = self.integers(1, 2) if norm.spatial else self.integers(-1)
            mean = self.add("ReduceMean", self.add("Pow", x, self.floats(2.0)), axes, keepdims=1)
            root = self.add("Sqrt", self.add("Add", mean, self.floats(norm.epsilon)))
            x = self.add("Mul", x, self.add("Div", self.floats(1.0), root))
        return self._with_bias(self.add("Mul", x, self.constant(norm.scale)), norm.bias)

    # Trunk

    def _trunk(self, trunk: desc.Trunk) -> Tensor:
        """Return the trunk's output, the heads' input, in the layout BOARD."""
        first_bias, from_profile = self._from_globals(trunk)
        from_globals = self._everywhere(first_bias)
        first = self.add("Add", self._convolve(self.spatial, trunk.conv), from_globals)
        x = Features(first, Layout.BOARD, len(trunk.norm.scale))
        x = self._blocks(x, trunk.blocks[: trunk.profile_block])
        if from_profile is not None:
            x = self._in(Layout.BOARD, x)
            x = replace(x, tensor=self.add("Add", x.tensor, self._everywhere(from_profile)))
        x = self._blocks(x, trunk.blocks[trunk.profile_block :])
        x = self._in(Layout.POINTS if isinstance(trunk.norm, desc.RmsNorm) else Layout.BOARD, x)
        x = replace(x, tensor=self._norm_act(x, trunk.norm, trunk.activation))
        return self._in(Layout.BOARD, x).tensor

    def _from_globals(self, trunk: desc.Trunk) -> tuple[Tensor, Tensor | None]:
        """Return what the global values add to the trunk, [B, C], and what the profile after them adds later, if so.

        Where both are added in one place, the former is their sum.
        """
        if trunk.from_profile is None:
            return self._product(self._globals, trunk.from_globals), None
        parts = self.integers(self._network.globals_, PROFILE_INPUTS)
        values, profile = self.split(self._globals, parts, axis=1)
        added = self._profile_bias(profile, trunk.from_profile)
        product = self._product(values, trunk.from_globals)
        return (product, added) if trunk.profile_block else (self.add("Add", product, added), None)

    def _blocks(self, x: Features, blocks: tuple[desc.Block, ...]) -> Features:
        for block in blocks:
            x = self._in(_layout_of(block), x)
            x = replace(x, tensor=self._block(x, block))
        return x

    def _block(self, x: Features, block: desc.Block) -> Tensor:
        """Return the output of `block` for `x`, which is in the block's layout."""
        match block:
            case desc.OrdinaryBlock():
                return self._ordinary_block(x.tensor, block)
            case desc.GlobalPoolingBlock():
                return self._global_pooling_block(x.tensor, block)
            case desc.AttentionBlock():
                return self._attention_block(x.tensor, block)
            case desc.FeedForwardBlock():
                return self._feed_forward_block(x.tensor, block)
            case desc.BottleneckBlock():
                inner = self._blocks(self._norm_act_conv(x, block.narrow), block.blocks)
                wide = self._norm_act_conv(self._in(x.layout, inner), block.widen)
                return self.add("Add", x.tensor, wide.tensor)

    def _norm_act(self, x: Features, norm: desc.BatchNorm | desc.RmsNorm, activation: desc.Activation) -> Tensor:
        """Return norm and activation of `x`, in its layout, which is POINTS for RMS norms."""
        if x.layout is Layout.BOARD and isinstance(norm, desc.BatchNorm):
            return self._activate(self._normalize(x.tensor, norm), activation)
        return self._activate(self._normalize_points(x.tensor, norm), activation)

    def _norm_act_conv(self, x: Features, layer: desc.NormActConv) -> Features:
        """Return norm, activation and convolution of `x`, a convolution of 1×1 in the layout POINTS."""
        active, weights = self._norm_act(x, layer.norm, layer.activation), layer.conv.weights
        if x.layout is Layout.BOARD:
            return Features(self._convolve(active, layer.conv), x.layout, len(weights))
        return Features(self.add("MatMul", active, self.constant(weights[:, :, 0, 0].T)), x.layout, len(weights))

    def _in(self, layout: Layout, x: Features) -> Features:
        """Return `x` in `layout`."""
        if x.layout is layout:
            return x
        if layout is Layout.POINTS:
            rows = self.add("Reshape", x.tensor, self.integers(0, x.channels, -1))
            return replace(x, tensor=self.add("Transpose", rows, perm=[0, 2, 1]), layout=layout)
        columns = self.add("Transpose", x.tensor, perm=[0, 2, 1])
        shape = self.add("Concat", self.integers(0, x.channels), self.sides, axis=0)
        return replace(x, tensor=self.add("Reshape", columns, shape), layout=layout)

    def _profile_bias(self, profile: Tensor, encoder: desc.ProfileEncoder) -> Tensor:
        """Return what `profile`, [B, 192], adds to each channel of the trunk's input, [B, C]."""
        hidden = self._with_bias(self._product(profile, encoder.mul1), encoder.bias1)
        hidden = self._product(self._activate_between_products(hidden, encoder.act1), encoder.mul2)
        hidden = self._activate_between_products(self._with_bias(hidden, encoder.bias2), encoder.act2)
        return self._product(hidden, encoder.mul3)

    # Blocks

    def _ordinary_block(self, x: Tensor, block: desc.OrdinaryBlock) -> Tensor:
        """Return an ordinary block of `x`."""
        active = self._activate(self._normalize(x, block.first.norm), block.first.activation)
        hidden = self._activate(self._convolve(active, block.first.conv, block.second.norm), block.second.activation)
        return self.add("Add", x, self._convolve(hidden, block.second.conv))

    def _global_pooling_block(self, x: Tensor, block: desc.GlobalPoolingBlock) -> Tensor:
        """Return a global pooling block of `x`."""
        active = self._activate(self._normalize(x, block.first.norm), block.first.activation)
        pooled = self._pool_for_trunk(self._pool_branch(active, block.pool))
        bias = self._pooled_product(pooled, block.pool_to_bias, block.second.norm)
        hidden = self._convolve(active, block.first.conv, block.second.norm, bias)
        hidden = self._activate(hidden, block.second.activation)
        return self.add("Add", x, self._convolve(hidden, block.second.conv))

    def _feed_forward_block(self, x: Tensor, block: desc.FeedForwardBlock) -> Tensor:
        """Return a feed-forward block of `x`."""
        normed = self._normalize_points(x, block.norm)
        up = self._activate(self._product(normed, block.up), desc.Activation.SILU)
        hidden = self.add("Mul", up, self._product(normed, block.gate))
        return self.add("Add", x, self._product(hidden, block.down))

    def _attention_block(self, x: Tensor, block: desc.AttentionBlock) -> Tensor:
        """Return an attention block of `x`."""
        normed = self._normalize_points(x, block.norm)
        scale = np.float32(1 / np.sqrt(block.query_channels))
        queries = self._rotated_heads(normed, block.query.weights * scale, block.heads, block)
        keys = self._rotated_heads(normed, block.key.weights, block.kv_heads, block)
        values = self._heads(normed, block.value.weights, block.kv_heads)
        if block.kv_heads != block.heads:
            served_by = self.constant(np.repeat(np.arange(block.kv_heads), block.heads // block.kv_heads))
            keys, values = (self.add("Gather", each, served_by, axis=1) for each in (keys, values))
        scores = self.add("MatMul", queries, self.add("Transpose", keys, perm=[0, 1, 3, 2]))
        mixed = self.add("MatMul", self.add("Softmax", scores, axis=-1), values)
        mixed = self.add("Transpose", mixed, perm=[0, 2, 1, 3])
        mixed = self.add("Reshape", mixed, self.integers(0, 0, block.heads * block.value_channels))
        return self.add("Add", x, self._product(mixed, block.out))

    def _heads(self, x: Tensor, weights: FloatArray, heads: int) -> Tensor:
        """Return the product with `weights` [C, N·D] by head: [B, N, S, D]."""
        shape = self.integers(0, 0, heads, weights.shape[1] // heads)
        columns = self.add("Reshape", self.add("MatMul", x, self.constant(weights)), shape)
        return self.add("Transpose", columns, perm=[0, 2, 1, 3])

    def _rotated_heads(self, x: Tensor, weights: FloatArray, heads: int, block: desc.AttentionBlock) -> Tensor:
        """Return queries or keys by head [B, N, S, D], rotated by the block's frequencies.

        The channels of a head are reordered, all first ones of pairs before all second ones: products of queries and
        keys stay the same, and the partner of each channel is half a head away.  OpenVINO fuses the slices, the product
        with −1 and the concatenation into one node, together with the transposition before them.
        """
        if block.frequencies is None:
            return self._heads(x, weights, heads)
        channels = block.query_channels
        by_half = weights.reshape(-1, heads, channels // 2, 2).swapaxes(2, 3).reshape(weights.shape)
        straight = self._heads(x, by_half, heads)
        ends = [self.integers(end) for end in (0, channels // 2, channels)]
        last_axis, step = self.integers(3), self.integers(1)
        first, second = (self.add("Slice", straight, *ends[at : at + 2], last_axis, step) for at in (0, 1))
        across = self.add("Concat", self.add("Mul", second, self.floats(-1.0)), first, axis=-1)
        cosine, sine = self.turns(_by_channel(block.frequencies, heads))
        return self.add("Add", self.add("Mul", straight, cosine), self.add("Mul", across, sine))

    # Heads

    def _policy_head(self, trunk: Tensor, head: desc.PolicyHead, count: int) -> Tensor:
        """Return the first `count` policies as logits [B, count, H·W + 1]: all points row by row, then the pass."""
        pooled = self._pool_for_trunk(self._pool_branch(trunk, head.pool))
        bias = self._pooled_product(pooled, head.pool_to_bias, head.norm)
        hidden = self._activate(self._convolve(trunk, head.conv, head.norm, bias), head.activation)
        points = self._convolve(hidden, desc.Conv(head.to_logits.weights[:count], head.to_logits.dilation))
        points = self.add("Reshape", points, self.integers(0, count, -1))
        passing = self.add("Reshape", self._pass_logits(pooled, head, count), self.integers(0, count, 1))
        return self.add("Concat", points, passing, axis=2)

    def _pass_logits(self, pooled: Tensor, head: desc.PolicyHead, count: int) -> Tensor:
        """Return the logits of the pass, [B, count]."""
        if head.pass_to_logits is None:
            return self._pooled_product(pooled, desc.MatMul(head.pool_to_pass.weights[:, :count]))
        hidden = self._with_bias(self._pooled_product(pooled, head.pool_to_pass), head.pass_bias)
        hidden = self._activate_between_products(hidden, head.pass_activation)
        return self.add("MatMul", hidden, self.constant(head.pass_to_logits.weights[:, :count]))

    def _value_head(self, trunk: Tensor, head: desc.ValueHead) -> tuple[Tensor, Tensor, Tensor]:
        """Return value [B, 3], the other predictions ("misc") [B, M] and ownership [B, H·W]."""
        features = self._pool_branch(trunk, head.pool)
        mean = self.add("ReduceMean", features, self.integers(2, 3), keepdims=0)
        hidden = self.add("MatMul", mean, self.value_matrix(head.pool_to_hidden.weights))
        hidden = self._activate(self._with_bias(hidden, head.hidden_bias), head.hidden_activation)
        value = self._with_bias(self._product(hidden, head.to_value), head.value_bias)
        misc = self._with_bias(self._product(hidden, head.to_misc), head.misc_bias)
        ownership = self.add("Reshape", self._convolve(features, head.to_ownership), self.integers(0, -1))
        return value, misc, ownership


def _layout_of(block: desc.Block) -> Layout:
    """Return the layout that `block` works in; a bottleneck of 1×1 convolutions uses that of its inner blocks."""
    match block:
        case desc.AttentionBlock() | desc.FeedForwardBlock():
            return Layout.POINTS
        case desc.BottleneckBlock():
            filters = {layer.conv.weights.shape[2:] for layer in (block.narrow, block.widen)}
            return _layout_of(block.blocks[0]) if filters == {(1, 1)} else Layout.BOARD
    return Layout.BOARD


def _by_channel(frequencies: FloatArray, heads: int) -> FloatArray:
    """Return `frequencies` [heads or key/value heads or 1, pairs, 2] as [N or 1, D, 2], equal for both of a pair."""
    groups = len(frequencies)
    by_head = frequencies if groups == 1 else np.repeat(frequencies, heads // groups, axis=0)
    return np.concatenate([by_head, by_head], axis=1)
