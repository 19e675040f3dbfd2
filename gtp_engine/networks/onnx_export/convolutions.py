"""Blocks of convolutions, on tensors [B, C, H, W]: batch, channel, row, column.

A batch norm that follows a convolution is folded into its weights and bias.  The first norm of a block cannot be
folded, because the block's input is also added to its output.
"""

from gtp_engine.networks.katago_format.description import (
    Activation,
    BatchNorm,
    Conv,
    Floats,
    GlobalPoolingBlock,
    MatMul,
    NormActConv,
    OrdinaryBlock,
    PoolBranch,
)
from gtp_engine.networks.onnx_export.board_shape import BoardSize
from gtp_engine.networks.onnx_export.graph import Graph, Tensor


def convolve(graph: Graph, x: Tensor, conv: Conv, norm: BatchNorm | None = None) -> Tensor:
    """Return the convolution of `x`, with the norm that follows it folded in."""
    weights, inputs = conv.weights, [x]
    if norm is not None:
        weights = weights * norm.scale[:, None, None, None]
    inputs.append(graph.constant(weights))
    if norm is not None:
        inputs.append(graph.constant(norm.bias))
    sizes = weights.shape[2:]
    margins = [(size - 1) // 2 * step for size, step in zip(sizes, conv.dilation, strict=True)]
    return graph.add(
        "Conv",
        *inputs,
        kernel_shape=list(sizes),
        dilations=list(conv.dilation),
        pads=margins * 2,
        strides=[1, 1],
    )


def normalize(graph: Graph, x: Tensor, norm: BatchNorm) -> Tensor:
    """Return `x * scale + bias` by channel."""
    scale, bias = (graph.constant(part[:, None, None]) for part in (norm.scale, norm.bias))
    return graph.add("Add", graph.add("Mul", x, scale), bias)


def activate(graph: Graph, x: Tensor, activation: Activation) -> Tensor:
    """Return the activation of `x`, of any shape.

    Mish is x · tanh(log(1 + eˣ)) in exactly these steps: OpenVINO fuses them into one node, and onnxruntime has fast
    code for each, while its Softplus took a third of a network's time.  Where eˣ overflows the result is x, which is
    correct.
    """
    if activation is Activation.RELU:
        return graph.add("Relu", x)
    if activation is Activation.MISH:
        softplus = graph.add("Log", graph.add("Add", graph.add("Exp", x), graph.floats(1.0)))
        return graph.add("Mul", x, graph.add("Tanh", softplus))
    if activation is Activation.SILU:
        return graph.add("Mul", x, graph.add("Sigmoid", x))
    return x


def activate_between_products(graph: Graph, x: Tensor, activation: Activation) -> Tensor:
    """Return the activation of `x` [B, C], which comes from a product with a matrix and goes into another one.

    OpenVINO makes one node of such a sequence, and cannot load a network with a Mish in it; so Mish takes other steps
    than in `activate`: x − 2x / (1 + (1 + eˣ)²).  Where eˣ overflows the result is x, which is correct.
    """
    if activation is not Activation.MISH:
        return activate(graph, x, activation)
    one = graph.floats(1.0)
    power = graph.add("Add", graph.add("Exp", x), one)
    divisor = graph.add("Add", graph.add("Mul", power, power), one)
    return graph.add("Sub", x, graph.add("Div", graph.add("Add", x, x), divisor))


def norm_act_conv(graph: Graph, x: Tensor, layer: NormActConv, following: BatchNorm | None = None) -> Tensor:
    """Return norm, activation and convolution of `x`, with a `following` norm folded in."""
    active = activate(graph, normalize(graph, x, layer.norm), layer.activation)
    return convolve(graph, active, layer.conv, following)


def ordinary_block(graph: Graph, x: Tensor, block: OrdinaryBlock) -> Tensor:
    """Return an ordinary block of `x`."""
    hidden = norm_act_conv(graph, x, block.first, block.second.norm)
    hidden = activate(graph, hidden, block.second.activation)
    return graph.add("Add", x, convolve(graph, hidden, block.second.conv))


def global_pooling_block(graph: Graph, x: Tensor, block: GlobalPoolingBlock, size: BoardSize) -> Tensor:
    """Return a global pooling block of `x`."""
    active = activate(graph, normalize(graph, x, block.first.norm), block.first.activation)
    pooled = pool_for_trunk(graph, pool_branch(graph, active, block.pool))
    bias = pooled_product(graph, pooled, block.pool_to_bias, size, block.second.norm)
    hidden = biased_convolution(graph, active, block.first.conv, bias, block.second.norm)
    hidden = activate(graph, hidden, block.second.activation)
    return graph.add("Add", x, convolve(graph, hidden, block.second.conv))


def pool_branch(graph: Graph, x: Tensor, branch: PoolBranch) -> Tensor:
    """Return the output of a branch before pooling."""
    return activate(graph, convolve(graph, x, branch.conv, branch.norm), branch.activation)


def biased_convolution(graph: Graph, x: Tensor, conv: Conv, bias: Tensor, norm: BatchNorm) -> Tensor:
    """Return `norm(conv(x) + b)`, where `bias` [B, O] is b with the norm's scale and bias already applied."""
    scaled = Conv(conv.weights * norm.scale[:, None, None, None], conv.dilation)
    return graph.add("Add", convolve(graph, x, scaled), everywhere(graph, bias))


def everywhere(graph: Graph, x: Tensor) -> Tensor:
    """Return `x` [B, C] as [B, C, 1, 1], which broadcasts to every point of the board."""
    return graph.add("Reshape", x, graph.integers(0, -1, 1, 1))


def pool_for_trunk(graph: Graph, x: Tensor) -> Tensor:
    """Return the mean and maximum of every channel over the board, [B, 2C]."""
    axes = graph.integers(2, 3)
    mean = graph.add("ReduceMean", x, axes, keepdims=0)
    return graph.add("Concat", mean, graph.add("ReduceMax", x, axes, keepdims=0), axis=1)


def pooled_product(
    graph: Graph, pooled: Tensor, matrix: MatMul, size: BoardSize, norm: BatchNorm | None = None
) -> Tensor:
    """Return the product of `pooled` [B, 2C] with `matrix` [3C, O], with the norm that follows folded in."""
    weights = matrix.weights if norm is None else matrix.weights * norm.scale
    product = graph.add("MatMul", pooled, size.trunk_matrix(weights))
    return product if norm is None else with_bias(graph, product, norm.bias)


def with_bias(graph: Graph, x: Tensor, bias: Floats | None) -> Tensor:
    """Return `x + bias`, channels last; None adds nothing."""
    return x if bias is None else graph.add("Add", x, graph.constant(bias))
