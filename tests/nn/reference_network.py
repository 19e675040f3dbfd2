"""A KataGo network calculated slowly and plainly in float64, from the layers as `katago_files.NetworkFile` wrote them.

Features are arrays [C, H, W] of one position.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np
from nn.katago_files import GLOBALS, NetworkFile
from numpy.typing import NDArray

Array = NDArray[np.float64]


def evaluate(network: NetworkFile, spatial: Array, globals_: Array) -> dict[str, Array]:
    """Return the raw outputs for one position: policy [P, H·W + 1], value [3], misc [M], ownership [H·W].

    `globals_` are followed by the profile where the network has an encoder for it.
    """
    added = globals_[:GLOBALS] @ network.from_globals
    if network.from_profile is not None:
        added += profile_bias(globals_[GLOBALS:], network.from_profile)
    x = conv(spatial, network.first) + added[:, None, None]
    for block in network.blocks:
        x = apply_block(x, block)
    x = activate(normalize(x, network.norm), network.tip_activation)
    return {"policy": policy(x, network.policy)} | value(x, network.value)


def profile_bias(profile: Array, encoder: SimpleNamespace) -> Array:
    hidden = activate(profile @ encoder.mul1 + encoder.bias1, encoder.act1)
    return activate(hidden @ encoder.mul2 + encoder.bias2, encoder.act2) @ encoder.mul3


def conv(x: Array, layer: SimpleNamespace) -> Array:
    size, _, _, outputs = layer.weights.shape
    reach = size // 2 * layer.dilation
    _, height, width = x.shape
    padded = np.pad(x, ((0, 0), (reach, reach), (reach, reach)))
    out = np.zeros((outputs, height, width))
    for row in range(size):
        for column in range(size):
            down, across = row * layer.dilation, column * layer.dilation
            window = padded[:, down : down + height, across : across + width]
            out += np.einsum("io,ihw->ohw", layer.weights[row, column], window)
    return out


def normalize(x: Array, norm: SimpleNamespace) -> Array:
    if norm.kind == "batch":
        x = (x - norm.mean[:, None, None]) / np.sqrt(norm.variance + norm.epsilon)[:, None, None]
    elif norm.spatial:
        x = x / np.sqrt(np.mean(x**2) + norm.epsilon)
    else:
        x = x / np.sqrt(np.mean(x**2, axis=0, keepdims=True) + norm.epsilon)
    return x * norm.scale[:, None, None] + np.reshape(norm.bias, (-1, 1, 1))


def activate(x: Array, kind: str) -> Array:
    if kind == "RELU":
        return np.maximum(x, 0)
    if kind == "MISH":
        return x * np.tanh(np.logaddexp(0, x))
    if kind == "SILU":
        return x / (1 + np.exp(-x))
    assert kind == "IDENTITY"
    return x


def norm_act_conv(x: Array, layer: SimpleNamespace) -> Array:
    return conv(activate(normalize(x, layer.norm), layer.act), layer.conv)


def pooled(x: Array, layer: SimpleNamespace, *, for_value: bool = False) -> Array:
    """Return the three pooled numbers of every channel; width counts as the root of the board's area."""
    x = activate(normalize(conv(x, layer.conv), layer.norm), layer.act)
    width = np.sqrt(x.shape[1] * x.shape[2])
    mean = x.mean(axis=(1, 2))
    third = mean * ((width - 14) ** 2 * 0.01 - 0.1) if for_value else x.max(axis=(1, 2))
    return np.concatenate([mean, mean * (width - 14) * 0.1, third])


def apply_block(x: Array, block: SimpleNamespace) -> Array:
    if block.kind == "ordinary":
        return x + norm_act_conv(norm_act_conv(x, block.first), block.second)
    if block.kind == "gpool":
        active = activate(normalize(x, block.first.norm), block.first.act)
        bias = pooled(active, block.pool) @ block.to_bias
        return x + norm_act_conv(conv(active, block.first.conv) + bias[:, None, None], block.second)
    if block.kind == "bottleneck":
        inner = norm_act_conv(x, block.narrow)
        for each in block.blocks:
            inner = apply_block(inner, each)
        return x + norm_act_conv(inner, block.widen)
    points = normalize(x, block.norm).reshape(len(x), -1).T  # [S, C]
    if block.kind == "ffn":
        out = (activate(points @ block.up, "SILU") * (points @ block.gate)) @ block.down
    else:
        out = attention(points, block, x.shape[1], x.shape[2])
    return x + out.T.reshape(x.shape)


def attention(points: Array, block: SimpleNamespace, height: int, width: int) -> Array:
    found = []
    for head in range(block.heads):
        kv_head = head // (block.heads // block.kv_heads)
        query = rotate(columns(points @ block.query, head, block.query_channels), block, kv_head, height, width)
        key = rotate(columns(points @ block.key, kv_head, block.query_channels), block, kv_head, height, width)
        weights = np.exp(query @ key.T / np.sqrt(block.query_channels))
        weights /= weights.sum(axis=1, keepdims=True)
        found.append(weights @ columns(points @ block.value, kv_head, block.value_channels))
    return np.concatenate(found, axis=1) @ block.out


def columns(x: Array, head: int, channels: int) -> Array:
    return x[:, head * channels : (head + 1) * channels]


def rotate(x: Array, block: SimpleNamespace, kv_head: int, height: int, width: int) -> Array:
    """Turn each pair of channels, as a complex number, by an angle that grows with row and column."""
    if block.theta is None and block.learned is None:
        return x
    pairs = block.query_channels // 2
    turned = x[:, 0::2] + 1j * x[:, 1::2]
    for point in range(height * width):
        row, column = divmod(point, width)
        for pair in range(pairs):
            turned[point, pair] *= np.exp(1j * angle(block, kv_head, pair, row, column))
    return np.stack([turned.real, turned.imag], axis=2).reshape(x.shape)


def angle(block: SimpleNamespace, kv_head: int, pair: int, row: int, column: int) -> float:
    if block.learned is not None:
        per_column, per_row = block.learned[kv_head, pair]
        return float(column * per_column + row * per_row)
    half = block.query_channels // 2
    by_rows = half // 2
    if pair < by_rows:
        return float(row / block.theta ** (2 * pair / half))
    return float(column / block.theta ** (2 * (pair - by_rows) / half))


def policy(x: Array, head: SimpleNamespace) -> Array:
    """Return the logits of the policies that are kept: the first, and the optimistic one where there is one."""
    pool = pooled(x, head.pool)
    hidden = activate(normalize(conv(x, head.conv) + (pool @ head.to_bias)[:, None, None], head.norm), head.act)
    points = conv(hidden, head.to_logits)
    passing = pool @ head.to_pass
    if head.to_pass2 is not None:
        passing = activate(passing + head.pass_bias, head.pass_act) @ head.to_pass2
    return np.concatenate([points.reshape(len(points), -1), passing[:, None]], axis=1)[:2]


def value(x: Array, head: SimpleNamespace) -> dict[str, Any]:
    hidden = activate(pooled(x, head.pool, for_value=True) @ head.to_hidden + head.hidden_bias, head.act)
    features = activate(normalize(conv(x, head.pool.conv), head.pool.norm), head.pool.act)
    return {
        "value": hidden @ head.to_value + head.value_bias,
        "misc": hidden @ head.to_misc + head.misc_bias,
        "ownership": conv(features, head.to_ownership).ravel(),
    }
