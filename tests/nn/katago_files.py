"""A writer of KataGo's network format, for small networks with random weights.

It follows KataGo's exporter (`python/export_model_pytorch.py`).  While a file is written, every layer is kept as it
is in the file, arrays in the file's order, as a plain namespace; `reference_network.py` calculates with those, so that
nothing it does comes from the package's reader.
"""

import gzip
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

PLANES, GLOBALS = 22, 19
PROFILE = 192
CHANNELS = 8
POOLED = 4
SCALES = (20.0, 21.0, 22.0, 23.0, 41.0, 0.5, 150.0)
"""Multipliers of score distribution, score mean, score deviation, lead, time left, win-loss error, score error."""


class NetworkFile:
    """A file of model `version` with the trunk `blocks`, kinds of blocks by name.

    A bottleneck block is a tuple of the kinds inside.  `norm` is the trunk's last: batch, rms or spatial-rms.
    """

    def __init__(
        self, version: int, blocks: tuple[Any, ...] = ("ordinary", "gpool"), *, seed: int = 0, norm: str = "batch",
        activation: str = "MISH", binary: bool = True, policies: int = 2, human: int = 0, suicide_area: int = 0,
        filter_size: int = 3, dilation: int = 1, planes: int = PLANES,
    ) -> None:  # fmt: skip
        self.version, self.binary = version, binary
        self.activation = activation if version >= 11 else "RELU"
        self.random = np.random.default_rng(seed)
        self.parts: list[bytes] = []
        self.numbers = 0
        self.words("tiny-network", version, planes, GLOBALS)
        if version >= 13:
            self.words(*SCALES)
        if version >= 15:
            self.words(human, suicide_area, 0, 0, 0, 0, 0, 0)
        self.words("trunk", len(blocks), CHANNELS, CHANNELS, CHANNELS - POOLED, POOLED, POOLED)
        if version >= 15:
            self.words(int(norm != "batch"), 0, 0, 0, 0, 0)
        self.first = self.conv(planes, CHANNELS, filter_size, dilation)
        self.from_globals = self.matmul(GLOBALS, CHANNELS)
        self.from_profile = self.profile_encoder() if human else None
        self.blocks = [self.block(kind, CHANNELS) for kind in blocks]
        self.norm = self.batch_norm(CHANNELS) if norm == "batch" else self.tip_norm(CHANNELS, norm == "spatial-rms")
        self.tip_activation = self.act()
        self.policy = self.policy_head(policies)
        self.value = self.value_head()

    def bytes(self, *, gzipped: bool = False) -> bytes:
        data = b"".join(self.parts)
        return gzip.compress(data, mtime=0) if gzipped else data

    # What a file consists of

    def words(self, *words: object) -> None:
        self.parts += [f"{word}\n".encode() for word in words]

    def floats(self, *shape: int, scale: float | None = None, least: float | None = None) -> NDArray[np.float64]:
        """Write random weights; `least` makes them positive."""
        values = self.random.standard_normal(shape)
        if least is not None:
            values = least + np.abs(values)
        else:
            values *= scale if scale is not None else 0.5
        exact = values.astype("<f4")
        self.numbers += exact.size
        if self.binary:
            self.parts += [b"@BIN@" + exact.tobytes() + b"\n"]
        else:
            self.words(" ".join(repr(float(value)) for value in exact.ravel()))
        return exact.astype(np.float64)

    # Layers

    def conv(self, inputs: int, outputs: int, size: int = 1, dilation: int = 1) -> SimpleNamespace:
        self.words("conv", size, size, inputs, outputs, dilation, dilation)
        scale = 1.2 / np.sqrt(size * size * inputs)
        return SimpleNamespace(weights=self.floats(size, size, inputs, outputs, scale=scale), dilation=dilation)

    def matmul(self, inputs: int, outputs: int) -> NDArray[np.float64]:
        self.words("matmul", inputs, outputs)
        return self.floats(inputs, outputs, scale=1.2 / np.sqrt(inputs))

    def bias(self, channels: int) -> NDArray[np.float64]:
        self.words("bias", channels)
        return self.floats(channels)

    def batch_norm(self, channels: int) -> SimpleNamespace:
        has_scale, has_bias = self.random.integers(2, size=2)
        self.words("norm", channels, 0.001, has_scale, has_bias)
        mean, variance = self.floats(channels), self.floats(channels, least=0.3)
        self.numbers -= 2 * channels  # statistics are not learned
        scale = self.floats(channels, least=0.5) if has_scale else np.ones(channels)
        bias = self.floats(channels) if has_bias else np.zeros(channels)
        return SimpleNamespace(kind="batch", mean=mean, variance=variance, scale=scale, bias=bias, epsilon=0.001)

    def tip_norm(self, channels: int, spatial: bool) -> SimpleNamespace:
        self.words("tip", channels, 1e-6, int(spatial), 0)
        scale, bias = self.floats(channels, least=0.5), self.floats(channels)
        return SimpleNamespace(kind="rms", spatial=spatial, scale=scale, bias=bias, epsilon=1e-6)

    def inner_norm(self, channels: int) -> SimpleNamespace:
        self.words("norm", channels, 1e-6)
        return SimpleNamespace(
            kind="rms", spatial=False, scale=self.floats(channels, least=0.5), bias=0.0, epsilon=1e-6
        )

    def act(self) -> str:
        self.words("act")
        if self.version >= 11:
            self.words(f"ACTIVATION_{self.activation}")
        return self.activation

    def norm_act_conv(self, inputs: int, outputs: int, size: int) -> SimpleNamespace:
        return SimpleNamespace(norm=self.batch_norm(inputs), act=self.act(), conv=self.conv(inputs, outputs, size))

    def pool(self, inputs: int, outputs: int, size: int = 1) -> SimpleNamespace:
        return SimpleNamespace(conv=self.conv(inputs, outputs, size), norm=self.batch_norm(outputs), act=self.act())

    def profile_encoder(self) -> SimpleNamespace:
        self.words("encoder", PROFILE)
        self.words("mul1", PROFILE, 7)
        mul1 = self.floats(PROFILE, 7, scale=0.1)
        bias1, act1, mul2, bias2, act2 = self.bias(7), self.act(), self.matmul(7, 5), self.bias(5), self.act()
        return SimpleNamespace(
            mul1=mul1, bias1=bias1, act1=act1, mul2=mul2, bias2=bias2, act2=act2, mul3=self.matmul(5, CHANNELS)
        )

    # Blocks

    def block(self, kind: Any, channels: int) -> SimpleNamespace:
        if isinstance(kind, tuple):
            return self.bottleneck(kind, channels)
        if kind == "ordinary":
            self.words("ordinary_block", "block")
            first, second = self.norm_act_conv(channels, 6, 3), self.norm_act_conv(6, channels, 3)
            return SimpleNamespace(kind=kind, first=first, second=second)
        if kind == "gpool":
            return self.gpool(channels)
        if kind == "ffn":
            return self.feed_forward(channels)
        return self.attention(kind, channels)

    def gpool(self, channels: int) -> SimpleNamespace:
        self.words("gpool_block", "block")
        first, pool = self.norm_act_conv(channels, 6, 3), self.pool(channels, POOLED, 3)
        to_bias = self.matmul(3 * POOLED, 6)
        second = self.norm_act_conv(6, channels, 3)
        return SimpleNamespace(kind="gpool", first=first, pool=pool, to_bias=to_bias, second=second)

    def bottleneck(self, kinds: tuple[Any, ...], channels: int) -> SimpleNamespace:
        self.words("nested_bottleneck_block", "block", len(kinds))
        narrow = self.norm_act_conv(channels, 6, 1)
        inner = [self.block(kind, 6) for kind in kinds]
        return SimpleNamespace(kind="bottleneck", narrow=narrow, blocks=inner, widen=self.norm_act_conv(6, channels, 1))

    def attention(self, kind: str, channels: int) -> SimpleNamespace:
        """Write attention: "attention" alone rotates nothing, "-fixed" and "-learned" do; "-shared" shares keys."""
        heads, query, value = 4, 6, 5
        kv_heads = 2 if "shared" in kind else heads
        is_learned = "learned" in kind
        rotates = is_learned or "fixed" in kind
        self.words("transformer_attention_block", "block", heads, kv_heads, query, value, int(rotates), int(is_learned))
        block = SimpleNamespace(
            kind="attention", norm=self.inner_norm(channels),
            query=self.matmul(channels, heads * query), key=self.matmul(channels, kv_heads * query),
            value=self.matmul(channels, kv_heads * value), out=self.matmul(heads * value, channels),
            heads=heads, kv_heads=kv_heads, query_channels=query, value_channels=value, theta=None, learned=None,
        )  # fmt: skip
        if is_learned:
            self.words("rotation", kv_heads, query // 2, 2)
            block.learned = self.floats(kv_heads, query // 2, 2)
        elif rotates:
            self.words("rotation", 100.0)
            block.theta = 100.0
        return block

    def feed_forward(self, channels: int) -> SimpleNamespace:
        self.words("transformer_ffn_block", "block", channels, 12, 1)
        norm, up, gate = self.inner_norm(channels), self.matmul(channels, 12), self.matmul(channels, 12)
        return SimpleNamespace(kind="ffn", norm=norm, up=up, gate=gate, down=self.matmul(12, channels))

    # Heads

    def policy_head(self, policies: int) -> SimpleNamespace:
        self.words("policyhead")
        if self.version >= 17:
            self.words(policies, 0, 0, 0)
        elif self.version == 16:
            policies = 4
        else:
            policies = 2 if self.version >= 12 else 1
        conv, pool = self.conv(CHANNELS, 5), self.pool(CHANNELS, POOLED)
        head = SimpleNamespace(conv=conv, pool=pool, to_bias=self.matmul(3 * POOLED, 5))
        head.norm, head.act, head.to_logits = self.batch_norm(5), self.act(), self.conv(5, policies)
        head.to_pass = self.matmul(3 * POOLED, policies if self.version < 15 else 5)
        head.pass_bias = head.pass_act = head.to_pass2 = None
        if self.version >= 15:
            head.pass_bias, head.pass_act, head.to_pass2 = self.bias(5), self.act(), self.matmul(5, policies)
        return head

    def value_head(self) -> SimpleNamespace:
        self.words("valuehead", *([0, 0, 0] if self.version >= 17 else []))
        misc = 6 if self.version >= 9 else 4
        head = SimpleNamespace(pool=self.pool(CHANNELS, 6), to_hidden=self.matmul(18, 7), hidden_bias=self.bias(7))
        head.act = self.act()
        head.to_value, head.value_bias = self.matmul(7, 3), self.bias(3)
        head.to_misc, head.misc_bias = self.matmul(7, misc), self.bias(misc)
        head.to_ownership = self.conv(6, 1)
        return head
