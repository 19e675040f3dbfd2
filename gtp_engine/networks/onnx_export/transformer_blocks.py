"""Transformer blocks, on tensors [B, S, C]: batch, point (row by row), channel.

Channels come last so that every product with weights is one plain matrix product and no block transposes its input.
Further letters: N heads, D channels of a head.

Each product has a node of its own.  One product for queries, keys and values, or for both halves of a feed-forward
block, was not faster, and splitting its result cost time; besides, OpenVINO fuses the SiLU into the product before it.
"""

import numpy as np

from gtp_engine.networks.katago_format.description import (
    Activation,
    AttentionBlock,
    BatchNorm,
    FeedForwardBlock,
    Floats,
    MatMul,
    NormActConv,
    RmsNorm,
)
from gtp_engine.networks.onnx_export.board_shape import BoardSize
from gtp_engine.networks.onnx_export.convolutions import activate, with_bias
from gtp_engine.networks.onnx_export.graph import Graph, Tensor


def product(graph: Graph, x: Tensor, matrix: MatMul) -> Tensor:
    """Return `x @ matrix`."""
    return graph.add("MatMul", x, graph.constant(matrix.weights))


def normalize_points(graph: Graph, x: Tensor, norm: BatchNorm | RmsNorm) -> Tensor:
    """Return the norm of `x`.

    The steps of an RMS norm are those that OpenVINO and onnxruntime fuse into one node.
    """
    if isinstance(norm, RmsNorm):
        axes = graph.integers(1, 2) if norm.spatial else graph.integers(-1)
        mean = graph.add("ReduceMean", graph.add("Pow", x, graph.floats(2.0)), axes, keepdims=1)
        root = graph.add("Sqrt", graph.add("Add", mean, graph.floats(norm.epsilon)))
        x = graph.add("Mul", x, graph.add("Div", graph.floats(1.0), root))
    return with_bias(graph, graph.add("Mul", x, graph.constant(norm.scale)), norm.bias)


def pointwise(graph: Graph, x: Tensor, layer: NormActConv) -> Tensor:
    """Return norm, activation and a 1×1 convolution of `x`."""
    active = activate(graph, normalize_points(graph, x, layer.norm), layer.activation)
    return graph.add("MatMul", active, graph.constant(layer.conv.weights[:, :, 0, 0].T))


def feed_forward_block(graph: Graph, x: Tensor, block: FeedForwardBlock) -> Tensor:
    """Return a feed-forward block of `x`."""
    normed = normalize_points(graph, x, block.norm)
    up = activate(graph, product(graph, normed, block.up), Activation.SILU)
    hidden = graph.add("Mul", up, product(graph, normed, block.gate))
    return graph.add("Add", x, product(graph, hidden, block.down))


def attention_block(graph: Graph, x: Tensor, block: AttentionBlock, size: BoardSize) -> Tensor:
    """Return an attention block of `x`."""
    normed = normalize_points(graph, x, block.norm)
    scale = np.float32(1 / np.sqrt(block.query_channels))
    queries = _rotated_heads(graph, normed, block.query.weights * scale, block.heads, block, size)
    keys = _rotated_heads(graph, normed, block.key.weights, block.kv_heads, block, size)
    values = _heads(graph, normed, block.value.weights, block.kv_heads)
    if block.kv_heads != block.heads:
        served_by = graph.constant(np.repeat(np.arange(block.kv_heads), block.heads // block.kv_heads))
        keys, values = (graph.add("Gather", each, served_by, axis=1) for each in (keys, values))
    scores = graph.add("MatMul", queries, graph.add("Transpose", keys, perm=[0, 1, 3, 2]))
    mixed = graph.add("MatMul", graph.add("Softmax", scores, axis=-1), values)
    mixed = graph.add("Transpose", mixed, perm=[0, 2, 1, 3])
    mixed = graph.add("Reshape", mixed, graph.integers(0, 0, block.heads * block.value_channels))
    return graph.add("Add", x, product(graph, mixed, block.out))


def _heads(graph: Graph, x: Tensor, weights: Floats, heads: int) -> Tensor:
    """Return the product with `weights` [C, N·D] by head: [B, N, S, D]."""
    shape = graph.integers(0, 0, heads, weights.shape[1] // heads)
    columns = graph.add("Reshape", graph.add("MatMul", x, graph.constant(weights)), shape)
    return graph.add("Transpose", columns, perm=[0, 2, 1, 3])


def _rotated_heads(
    graph: Graph, x: Tensor, weights: Floats, heads: int, block: AttentionBlock, size: BoardSize
) -> Tensor:
    """Return queries or keys by head [B, N, S, D], rotated by the block's frequencies.

    The channels of a head are reordered, all first ones of pairs before all second ones: products of queries and keys
    stay the same, and the partner of each channel is half a head away.  OpenVINO fuses the slices, the product with −1
    and the concatenation into one node, together with the transposition before them.
    """
    if block.frequencies is None:
        return _heads(graph, x, weights, heads)
    channels = block.query_channels
    by_half = weights.reshape(-1, heads, channels // 2, 2).swapaxes(2, 3).reshape(weights.shape)
    straight = _heads(graph, x, by_half, heads)
    ends = [graph.integers(end) for end in (0, channels // 2, channels)]
    last_axis, step = graph.integers(3), graph.integers(1)
    first, second = (graph.add("Slice", straight, *ends[at : at + 2], last_axis, step) for at in (0, 1))
    across = graph.add("Concat", graph.add("Mul", second, graph.floats(-1.0)), first, axis=-1)
    cosine, sine = size.turns(_by_channel(block.frequencies, heads))
    return graph.add("Add", graph.add("Mul", straight, cosine), graph.add("Mul", across, sine))


def _by_channel(frequencies: Floats, heads: int) -> Floats:
    """Return `frequencies` [heads or key/value heads or 1, pairs, 2] as [N or 1, D, 2], equal for both of a pair."""
    groups = len(frequencies)
    by_head = frequencies if groups == 1 else np.repeat(frequencies, heads // groups, axis=0)
    return np.concatenate([by_head, by_head], axis=1)
