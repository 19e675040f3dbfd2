"""The parts of a KataGo network: layers, blocks, trunk and heads, as frozen dataclasses of float32 arrays.

Shape letters: I input channels, O output channels, C channels, F a filter's height and width, P rotation pairs.
The layers' names in the file are not kept; the parser uses them in its error messages.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from gtp_engine.evaluation.positions import FloatArray
from gtp_engine.nn.metadata import Scales

MIDDLE_WIDTH: Final = 14.0
"""KataGo's reference for board widths, in points: pooling uses the difference of √(points) from it."""

MOST_POLICIES: Final = 2
"""The policy and the optimistic one; further outputs of a policy head are predictions of value and score by move."""


class Activation(Enum):
    """The function after a norm or a bias; the values are the words of the file format without `ACTIVATION_`."""

    IDENTITY = "IDENTITY"
    RELU = "RELU"
    MISH = "MISH"
    SILU = "SILU"


@dataclass(frozen=True, eq=False)
class Conv:
    """A convolution with zero padding that keeps the board's size, stride 1, without bias."""

    weights: FloatArray
    """[O, I, F, F]."""
    dilation: tuple[int, int]
    """Steps between the filter's rows and columns, in points."""


@dataclass(frozen=True, eq=False)
class BatchNorm:
    """`x * scale + bias` for each channel, with the running statistics of the file folded in."""

    scale: FloatArray
    """[C]."""
    bias: FloatArray
    """[C]."""


@dataclass(frozen=True, eq=False)
class RmsNorm:
    """`x / sqrt(mean(x²) + epsilon) * scale + bias`; the mean over channels, and over the board too where `spatial`."""

    epsilon: float
    spatial: bool
    scale: FloatArray
    """[C]."""
    bias: FloatArray | None
    """[C], or None inside transformer blocks."""


@dataclass(frozen=True, eq=False)
class MatMul:
    """`x @ weights`."""

    weights: FloatArray
    """[I, O]."""


@dataclass(frozen=True, eq=False)
class NormActConv:
    """Norm, activation, convolution: the pre-activation order of all of KataGo's residual blocks."""

    norm: BatchNorm
    activation: Activation
    conv: Conv


@dataclass(frozen=True, eq=False)
class PoolBranch:
    """A convolution whose normed and activated output is pooled over the board."""

    conv: Conv
    norm: BatchNorm
    activation: Activation


@dataclass(frozen=True, eq=False)
class OrdinaryBlock:
    """`x + second(first(x))`."""

    first: NormActConv
    second: NormActConv


@dataclass(frozen=True, eq=False)
class GlobalPoolingBlock:
    """An ordinary block whose first convolution gets a bias from `pool`, a branch with the same input."""

    first: NormActConv
    pool: PoolBranch
    pool_to_bias: MatMul
    second: NormActConv


@dataclass(frozen=True, eq=False)
class BottleneckBlock:
    """`x + widen(blocks(narrow(x)))`."""

    narrow: NormActConv
    blocks: "tuple[Block, ...]"
    widen: NormActConv


@dataclass(frozen=True, eq=False)
class AttentionBlock:
    """`x + attention(norm(x)) @ out`: softmax attention of every point to every point, in several heads.

    A key/value head serves `heads / kv_heads` query heads, in order.  Queries and keys are rotated before they are
    multiplied: channels 2p and 2p+1 of a head turn by the angle x · frequencies[…, p, 0] + y · frequencies[…, p, 1],
    with x and y counted in points from the upper left corner.  Products are divided by √query_channels.
    """

    norm: RmsNorm
    query: MatMul
    key: MatMul
    value: MatMul
    out: MatMul
    heads: int
    kv_heads: int
    query_channels: int
    """Channels of a query or key of one head."""
    value_channels: int
    """Channels of a value of one head."""
    frequencies: FloatArray | None
    """[kv_heads or 1, P, 2], in radians per point, or None without rotation."""


@dataclass(frozen=True, eq=False)
class FeedForwardBlock:
    """`x + (silu(n @ up) * (n @ gate)) @ down` with n = norm(x): a SwiGLU."""

    norm: RmsNorm
    up: MatMul
    gate: MatMul
    down: MatMul


Block: TypeAlias = OrdinaryBlock | GlobalPoolingBlock | BottleneckBlock | AttentionBlock | FeedForwardBlock


@dataclass(frozen=True, eq=False)
class ProfileEncoder:
    """`act2(bias2 + act1(bias1 + profile @ mul1) @ mul2) @ mul3`: what a profile of players adds to the trunk's input.

    KataGo calls it the encoder of SGF metadata; `nn.encoders` describes its input.
    """

    mul1: MatMul
    bias1: FloatArray
    act1: Activation
    mul2: MatMul
    bias2: FloatArray
    act2: Activation
    mul3: MatMul


@dataclass(frozen=True, eq=False)
class Trunk:
    """`activation(norm(blocks(conv(spatial) + globals @ from_globals + from_profile(profile))))`.

    What comes of the profile is added before block number `profile_block`, counted from 0: before the first one in
    KataGo's networks.
    """

    conv: Conv
    from_globals: MatMul
    blocks: tuple[Block, ...]
    norm: BatchNorm | RmsNorm
    activation: Activation
    from_profile: ProfileEncoder | None = None
    """Only in networks that imitate people."""
    profile_block: int = 0


@dataclass(frozen=True, eq=False)
class PolicyHead:
    """Logits of one or more policies, for each point and for the pass; those after MOST_POLICIES are not used.

    The pooled branch gives a bias for `conv`'s output, which `norm`, `activation` and `to_logits` follow, and the
    logits of the pass: `pool_to_pass` alone, or followed by `pass_bias`, `pass_activation` and `pass_to_logits`.
    """

    conv: Conv
    pool: PoolBranch
    pool_to_bias: MatMul
    norm: BatchNorm
    activation: Activation
    to_logits: Conv
    pool_to_pass: MatMul
    pass_bias: FloatArray | None
    pass_activation: Activation
    pass_to_logits: MatMul | None


@dataclass(frozen=True, eq=False)
class ValueHead:
    """Value, scores and ownership; `hidden` is the pooled branch times a matrix, biased and activated."""

    pool: PoolBranch
    pool_to_hidden: MatMul
    hidden_bias: FloatArray
    hidden_activation: Activation
    to_value: MatMul
    value_bias: FloatArray
    """[3]: win, loss, no result."""
    to_misc: MatMul
    misc_bias: FloatArray
    """[4] or [6]: score mean and deviation, lead, time left, short-term errors of value and score."""
    to_ownership: Conv


@dataclass(frozen=True, eq=False)
class Network:
    """The contents of a network file."""

    name: str
    version: int
    """KataGo's model version, 8 to 17."""
    planes: int
    globals_: int
    scales: Scales
    suicide_area: bool
    """Whether the pass-alive areas of its input always follow rules that allow suicide."""
    trunk: Trunk
    policy: PolicyHead
    value: ValueHead
    parameters: int
    """Number of learned parameters in the file."""
