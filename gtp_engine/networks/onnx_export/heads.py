"""The heads: from the trunk's output, [B, C, H, W], to the outputs that `nn.metadata` describes."""

from typing import Final

from gtp_engine.networks.katago_format.description import Conv, Floats, MatMul, PolicyHead, ValueHead
from gtp_engine.networks.onnx_export.board_shape import BoardSize
from gtp_engine.networks.onnx_export.convolutions import (
    activate,
    activate_between_products,
    biased_convolution,
    convolve,
    pool_branch,
    pool_for_trunk,
    pooled_product,
    with_bias,
)
from gtp_engine.networks.onnx_export.graph import Graph, Tensor

_MOST_POLICIES: Final = 2
"""Policies in the graph: the policy and the optimistic one; predictions of value and score by move are left out."""


def policy_count(head: PolicyHead) -> int:
    """Return P, the number of policies of the graph."""
    return min(head.channels, _MOST_POLICIES)


def policy_head(graph: Graph, trunk: Tensor, head: PolicyHead, size: BoardSize, count: int) -> Tensor:
    """Return the first `count` policies as logits [B, count, H·W + 1]: all points row by row, then the pass."""
    pooled = pool_for_trunk(graph, pool_branch(graph, trunk, head.pool))
    bias = pooled_product(graph, pooled, head.pool_to_bias, size, head.norm)
    hidden = activate(graph, biased_convolution(graph, trunk, head.conv, bias, head.norm), head.activation)
    points = convolve(graph, hidden, Conv(head.to_logits.weights[:count], head.to_logits.dilation))
    points = graph.add("Reshape", points, graph.integers(0, count, -1))
    passing = graph.add("Reshape", _pass_logits(graph, pooled, head, size, count), graph.integers(0, count, 1))
    return graph.add("Concat", points, passing, axis=2)


def _pass_logits(graph: Graph, pooled: Tensor, head: PolicyHead, size: BoardSize, count: int) -> Tensor:
    """Return the logits of the pass, [B, count]."""
    if head.pass_to_logits is None:
        return pooled_product(graph, pooled, MatMul(head.pool_to_pass.weights[:, :count]), size)
    hidden = with_bias(graph, pooled_product(graph, pooled, head.pool_to_pass, size), head.pass_bias)
    hidden = activate_between_products(graph, hidden, head.pass_activation)
    return graph.add("MatMul", hidden, graph.constant(head.pass_to_logits.weights[:, :count]))


def value_head(graph: Graph, trunk: Tensor, head: ValueHead, size: BoardSize) -> tuple[Tensor, Tensor, Tensor]:
    """Return value [B, 3], the other predictions ("misc") [B, M] and ownership [B, H·W]."""
    features = pool_branch(graph, trunk, head.pool)
    mean = graph.add("ReduceMean", features, graph.integers(2, 3), keepdims=0)
    hidden = graph.add("MatMul", mean, size.value_matrix(head.pool_to_hidden.weights))
    hidden = activate(graph, with_bias(graph, hidden, head.hidden_bias), head.hidden_activation)
    value = _linear(graph, hidden, head.to_value, head.value_bias)
    misc = _linear(graph, hidden, head.to_misc, head.misc_bias)
    ownership = graph.add("Reshape", convolve(graph, features, head.to_ownership), graph.integers(0, -1))
    return value, misc, ownership


def _linear(graph: Graph, x: Tensor, matrix: MatMul, bias: Floats) -> Tensor:
    """Return `x @ matrix + bias`."""
    return with_bias(graph, graph.add("MatMul", x, graph.constant(matrix.weights)), bias)
