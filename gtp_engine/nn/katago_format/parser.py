"""Parses a KataGo network file into a `Network`; raises ModelError with one sentence for any mistake in the file.

A file consists of words separated by white space.  An array is written either as words, or as `@BIN@` and little-endian
float32; both forms may occur in one file.
"""

import gzip
import io
import math
import re
import zlib
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Final

import numpy as np

from gtp_engine.base.errors import ModelError, shown
from gtp_engine.evaluation.positions import FloatArray
from gtp_engine.nn.katago_format import description as desc
from gtp_engine.nn.metadata import PROFILE_INPUTS, Scales, read_network_file

OLDEST_VERSION: Final = 8
"""The first model version whose inputs are KataGo's V7 features."""
NEWEST_VERSION: Final = 17

_NEWEST_PROFILE_ENCODER: Final = 1

_MOST_NESTED_STACKS: Final = 8
"""Published networks nest stacks of blocks once; a damaged file must not recurse endlessly."""


_WORD: Final = re.compile(rb"\s*(\S+)")
_BINARY_MARK: Final = re.compile(rb"\s*@BIN@")
_LONGEST_WORD: Final = 1000
"""Bytes; names are shorter, and error messages must not show binary data without white space."""
_BYTES_PER_TEXT_FLOAT: Final = 16
"""First guess of a float's length in text, including white space; it only affects speed."""
_HIGHEST_RATIO: Final = 16
"""How many times larger a gzipped file may get: weights as text shrink to a third, as binary hardly at all."""
_LEAST_LIMIT: Final = 1 << 24
"""Bytes that a small file may have when decompressed, whatever its own size."""
_GZIP_MARK: Final = b"\x1f\x8b"


def load_network(path: str | Path) -> desc.Network:
    """Return the network in the file `path`; raises ModelError, with the name of the file."""
    data = read_network_file(path)
    try:
        return parse_network(data)
    except ModelError as error:
        raise ModelError(f"{Path(path).name}: {error}") from error


def parse_network(data: bytes) -> desc.Network:
    """Return the network in the bytes of a file, gzipped or not; raises ModelError."""
    return _Parser(_uncompressed(data)).network()


def _uncompressed(data: bytes) -> bytes:
    """Return `data`, decompressed if it is gzipped; raises ModelError if it is damaged."""
    if not data.startswith(_GZIP_MARK):
        return data
    most = _LEAST_LIMIT + _HIGHEST_RATIO * len(data)
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            found = file.read(most + 1)
    except (EOFError, OSError, zlib.error) as error:
        raise ModelError(f"damaged gzip data ({error})", advice="download the file again") from error
    if len(found) > most:
        raise ModelError(f"more than {_HIGHEST_RATIO} times as large when decompressed", expected="a network")
    return found


class _Tokens:
    """Reads uncompressed `data` from start to end.

    Every method raises ModelError, naming `what` it should have read, when it finds something else.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def word(self, what: str) -> str:
        """Return the next word."""
        found = _WORD.match(self._data, self._position, self._position + _LONGEST_WORD)
        if not found:
            raise ModelError("the file ends too early", expected=what, advice="download it again")
        self._position = found.end()
        return found[1].decode("ascii", errors="replace")

    def integer(self, what: str, *, least: int = 0, most: int = 1 << 20) -> int:
        """Return the next word as an integer between `least` and `most`."""
        word = self.word(what)
        try:
            number = int(word)
        except ValueError:
            number = least - 1
        if not least <= number <= most:
            raise ModelError(f"{what} {shown(word)}", expected=f"an integer from {least} to {most}")
        return number

    def flag(self, what: str) -> bool:
        """Return the next word, 0 or 1, as a truth value."""
        return self.integer(what, most=1) == 1

    def positive(self, what: str) -> float:
        """Return the next word as a positive finite number."""
        word = self.word(what)
        try:
            number = float(word)
        except ValueError:
            number = 0.0
        if not (number > 0 and np.isfinite(number)):
            raise ModelError(f"{what} {shown(word)}", expected="a positive number")
        return number

    def unused(self, what: str, count: int) -> None:
        """Skip `count` reserved numbers, which must be zero."""
        for _ in range(count):
            if (word := self.word(what)) != "0":
                raise ModelError(f"{what} {shown(word)}", expected="0", advice="a newer Tengen may support it")

    def floats(self, what: str, shape: tuple[int, ...]) -> FloatArray:
        """Return the next array, of `shape`."""
        count = math.prod(shape)
        if count > len(self._data) - self._position:  # a number takes a byte at least
            raise ModelError(f"the file ends within {what}", advice="download it again")
        mark = _BINARY_MARK.match(self._data, self._position)
        array = self._binary_floats(what, count, mark.end()) if mark else self._text_floats(what, count)
        if not np.isfinite(array).all():
            raise ModelError(f"{what} holds a weight that is not a finite number", advice="download it again")
        return array.reshape(shape)

    def _binary_floats(self, what: str, count: int, start: int) -> FloatArray:
        end = start + 4 * count
        if end > len(self._data):
            raise ModelError(f"the file ends within {what}", advice="download it again")
        self._position = end
        return np.frombuffer(self._data, "<f4", count, start).astype(np.float32)

    def _text_floats(self, what: str, count: int) -> FloatArray:
        size = _BYTES_PER_TEXT_FLOAT * (count + 1)
        while True:
            chunk = self._data[self._position : self._position + size]
            words = chunk.split(None, count)
            at_end = self._position + size >= len(self._data)
            if len(words) > count or at_end:  # one word more than needed, so the last needed one is complete
                break
            size *= 2
        if len(words) < count:
            raise ModelError(f"the file ends within {what}", advice="download it again")
        self._position += len(chunk) - (len(words[count]) if len(words) > count else 0)
        try:
            return np.array(words[:count], dtype=np.bytes_).astype(np.float32)
        except ValueError as error:
            raise ModelError(f"{what} holds a weight that is not a number") from error


class _Parser(_Tokens):
    """Parses a file from start to end; the methods follow the order of the format."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._version = 0
        self._parameters = 0
        self._depth = 0

    def network(self) -> desc.Network:
        """Return the whole network."""
        name = self.word("the network's name")
        self._version = self._model_version(name)
        planes = self.integer("number of input planes", least=1)
        globals_ = self.integer("number of global inputs", least=1)
        scales, (has_profile, suicide_area) = self._scales(), self._options(name)
        trunk = self._trunk(planes, globals_, has_profile)
        channels = len(trunk.norm.scale)
        policy, value = self._policy_head(channels), self._value_head(channels)
        return desc.Network(
            name, self._version, planes, globals_, scales, suicide_area, trunk, policy, value, self._parameters
        )

    def _model_version(self, name: str) -> int:
        word = self.word("the network's version")
        if not (name.isascii() and name.isprintable() and word.isdecimal()):
            raise ModelError("not a KataGo network", expected="a file that begins with its name and version")
        version = int(word)
        if not OLDEST_VERSION <= version <= NEWEST_VERSION:
            known = f"{OLDEST_VERSION} to {NEWEST_VERSION}"
            why = "older networks have other inputs" if version < OLDEST_VERSION else "a newer Tengen may support it"
            raise ModelError(f"network {shown(name)} is of model version {version}", expected=known, advice=why)
        return version

    def _scales(self) -> Scales:
        if self._version < 13:
            return Scales()
        self.positive("multiplier of the score distribution")  # an output used only in training
        return Scales(*(self.positive(f"multiplier of {field.name}") for field in fields(Scales)))

    def _options(self, name: str) -> tuple[bool, bool]:
        """Return whether a profile is an input, and whether pass-alive areas follow rules that allow suicide."""
        if self._version < 15:
            return False, False
        encoder = self.integer("version of the profile encoder")
        if encoder > _NEWEST_PROFILE_ENCODER:
            raise ModelError(
                f"network {shown(name)} has version {encoder} of the profile encoder (metaEncoderVersion)",
                expected=f"0 or {_NEWEST_PROFILE_ENCODER}",
                advice="a newer Tengen may support it",
            )
        suicide_area = self.flag("choice of pass-alive areas")
        self.unused("model option", 6)
        return encoder > 0, suicide_area

    # Layers

    def _expect(self, what: str, wanted: int | None, *, least: int = 0) -> int:
        """Return the next word as an integer; raises ModelError unless it is `wanted`, where None is any number."""
        given = self.integer(what, least=least)
        if wanted is not None and given != wanted:
            raise ModelError(f"{given} {what}", expected=str(wanted), advice="the file is damaged")
        return given

    def _floats(self, what: str, *shape: int) -> FloatArray:
        self._parameters += math.prod(shape)
        return self.floats(what, shape)

    def _conv(self, inputs: int, outputs: int | None = None) -> desc.Conv:
        what = f"convolution {shown(self.word('a convolution'))}"
        height, width = (self.integer(f"{part} of {what}", least=1) for part in ("height", "width"))
        if height % 2 == 0 or width % 2 == 0:
            raise ModelError(f"{what} is {height}×{width}", expected="odd sizes")
        inputs = self._expect(f"input channels of {what}", inputs, least=1)
        outputs = self._expect(f"output channels of {what}", outputs, least=1)
        down, across = (self.integer(f"{part} dilation of {what}", least=1) for part in ("row", "column"))
        weights = self._floats(what, height, width, inputs, outputs)
        return desc.Conv(np.ascontiguousarray(weights.transpose(3, 2, 0, 1)), (down, across))

    def _batch_norm(self, channels: int) -> desc.BatchNorm:
        what = f"batch norm {shown(self.word('a batch norm'))}"
        self._expect(f"channels of {what}", channels)
        epsilon = self.positive(f"epsilon of {what}")
        has_scale, has_bias = self.flag(f"scale flag of {what}"), self.flag(f"bias flag of {what}")
        mean = self.floats(f"means of {what}", (channels,)).astype(np.float64)  # statistics are no parameters
        variance = self.floats(f"variances of {what}", (channels,)).astype(np.float64)
        scale = self._floats(f"scales of {what}", channels) if has_scale else np.ones(channels, np.float32)
        bias = self._floats(f"biases of {what}", channels) if has_bias else np.zeros(channels, np.float32)
        if not (variance + epsilon > 0).all():
            raise ModelError(f"{what} has a negative variance", advice="download the file again")
        merged = scale / np.sqrt(variance + epsilon)
        return desc.BatchNorm(merged.astype(np.float32), (bias - merged * mean).astype(np.float32))

    def _rms_norm(self, channels: int, *, ends_trunk: bool = False) -> desc.RmsNorm:
        """Return the RMS norm that begins a transformer block, or the one that ends the trunk."""
        what = f"RMS norm {shown(self.word('an RMS norm'))}"
        self._expect(f"channels of {what}", channels)
        epsilon = self.positive(f"epsilon of {what}")
        spatial = ends_trunk and self.flag(f"spatial flag of {what}")
        if ends_trunk:
            self.unused(f"group size of {what}", 1)
        scale = self._floats(f"scales of {what}", channels)
        return desc.RmsNorm(
            epsilon, spatial, scale, self._floats(f"biases of {what}", channels) if ends_trunk else None
        )

    def _activation(self) -> desc.Activation:
        what = f"activation {shown(self.word('an activation'))}"
        if self._version < 11:
            return desc.Activation.RELU
        kind = self.word(f"kind of {what}")
        try:
            return desc.Activation(kind.removeprefix("ACTIVATION_"))
        except ValueError as error:
            known = ", ".join(f"ACTIVATION_{each.value}" for each in desc.Activation)
            raise ModelError(f"{what} is {shown(kind)}", expected=f"one of {known}") from error

    def _matmul(self, inputs: int, outputs: int | None = None) -> desc.MatMul:
        what = f"matrix {shown(self.word('a matrix'))}"
        inputs = self._expect(f"inputs of {what}", inputs, least=1)
        outputs = self._expect(f"outputs of {what}", outputs, least=1)
        return desc.MatMul(self._floats(what, inputs, outputs))

    def _bias(self, channels: int) -> FloatArray:
        what = f"bias {shown(self.word('a bias'))}"
        self._expect(f"channels of {what}", channels)
        return self._floats(what, channels)

    def _norm_act_conv(self, inputs: int, outputs: int | None = None) -> desc.NormActConv:
        return desc.NormActConv(self._batch_norm(inputs), self._activation(), self._conv(inputs, outputs))

    def _pool_branch(self, inputs: int) -> desc.PoolBranch:
        conv = self._conv(inputs)
        return desc.PoolBranch(conv, self._batch_norm(_outputs(conv)), self._activation())

    # Trunk

    def _trunk(self, planes: int, globals_: int, has_profile: bool) -> desc.Trunk:
        self.word("the trunk's name")
        count = self.integer("number of blocks", least=1)
        channels = self.integer("number of trunk channels", least=1)
        for part in ("middle", "regular", "dilated", "pooled"):  # unused: each block has its own numbers
            self.integer(f"number of {part} channels")
        ends_with_rms_norm = self._version >= 15 and self.flag("kind of the trunk's last norm")
        if self._version >= 15:
            self.unused("trunk option", 5)
        conv, from_globals = self._conv(planes, channels), self._matmul(globals_, channels)
        from_profile = self._profile_encoder(channels) if has_profile else None
        blocks = self._blocks(count, channels)
        norm = self._rms_norm(channels, ends_trunk=True) if ends_with_rms_norm else self._batch_norm(channels)
        return desc.Trunk(conv, from_globals, blocks, norm, self._activation(), from_profile)

    def _profile_encoder(self, channels: int) -> desc.ProfileEncoder:
        what = f"profile encoder {shown(self.word('the profile encoder'))}"
        self._expect(f"inputs of {what}", PROFILE_INPUTS)
        mul1 = self._matmul(PROFILE_INPUTS)
        first = mul1.weights.shape[1]
        bias1, act1, mul2 = self._bias(first), self._activation(), self._matmul(first)
        second = mul2.weights.shape[1]
        bias2, act2 = self._bias(second), self._activation()
        return desc.ProfileEncoder(mul1, bias1, act1, mul2, bias2, act2, self._matmul(second, channels))

    def _blocks(self, count: int, channels: int) -> tuple[desc.Block, ...]:
        readers: dict[str, Callable[[int], desc.Block]] = {
            "ordinary_block": self._ordinary_block,
            "gpool_block": self._global_pooling_block,
            "nested_bottleneck_block": self._bottleneck_block,
            "transformer_attention_block": self._attention_block,
            "transformer_ffn_block": self._feed_forward_block,
        }
        blocks = []
        for _ in range(count):
            kind = self.word("a block")
            if kind not in readers:
                raise ModelError(f"block kind {shown(kind)}", expected=f"one of {', '.join(readers)}")
            self.word("a block's name")
            blocks.append(readers[kind](channels))
        return tuple(blocks)

    def _ordinary_block(self, channels: int) -> desc.OrdinaryBlock:
        first = self._norm_act_conv(channels)
        return desc.OrdinaryBlock(first, self._norm_act_conv(_outputs(first.conv), channels))

    def _global_pooling_block(self, channels: int) -> desc.GlobalPoolingBlock:
        first, pool = self._norm_act_conv(channels), self._pool_branch(channels)
        to_bias = self._matmul(3 * _outputs(pool.conv), _outputs(first.conv))
        return desc.GlobalPoolingBlock(first, pool, to_bias, self._norm_act_conv(_outputs(first.conv), channels))

    def _bottleneck_block(self, channels: int) -> desc.BottleneckBlock:
        count = self.integer("number of blocks in a bottleneck block", least=1)
        self._depth += 1
        if self._depth > _MOST_NESTED_STACKS:
            raise ModelError(f"blocks nested {self._depth} deep", expected=f"at most {_MOST_NESTED_STACKS}")
        narrow = self._norm_act_conv(channels)
        inner = _outputs(narrow.conv)
        blocks = self._blocks(count, inner)
        self._depth -= 1
        return desc.BottleneckBlock(narrow, blocks, self._norm_act_conv(inner, channels))

    def _attention_block(self, channels: int) -> desc.AttentionBlock:
        heads, kv_heads, query_channels, value_channels = (
            self.integer(what, least=1)
            for what in ("number of heads", "number of key/value heads", "channels of a query", "channels of a value")
        )
        rotates, learned = self.flag("flag of rotation"), self.flag("flag of learned rotation")
        if heads % kv_heads or (rotates and query_channels % 2):
            raise ModelError(
                f"attention with {heads} heads of {query_channels} channels and {kv_heads} key/value heads",
                expected="heads that share key/value heads evenly and, where they are rotated, an even size",
            )
        norm = self._rms_norm(channels)
        query = self._matmul(channels, heads * query_channels)
        key = self._matmul(channels, kv_heads * query_channels)
        value = self._matmul(channels, kv_heads * value_channels)
        out = self._matmul(heads * value_channels, channels)
        frequencies = None
        if rotates:
            pairs = query_channels // 2
            frequencies = self._learned_frequencies(kv_heads, pairs) if learned else self._fixed_frequencies(pairs)
        return desc.AttentionBlock(
            norm, query, key, value, out, heads, kv_heads, query_channels, value_channels, frequencies
        )

    def _learned_frequencies(self, kv_heads: int, pairs: int) -> FloatArray:
        what = f"rotation {shown(self.word('a rotation'))}"
        for part, wanted in (("heads", kv_heads), ("pairs", pairs), ("directions", 2)):
            self._expect(f"{part} of {what}", wanted)
        return self._floats(what, kv_heads, pairs, 2)

    def _fixed_frequencies(self, pairs: int) -> FloatArray:
        """Return frequencies θ^(−2i/pairs): the first half of the pairs turns with y, the other with x."""
        what = f"rotation {shown(self.word('a rotation'))}"
        theta = self.positive(f"base of {what}")
        along_y = pairs // 2
        frequencies = np.zeros((1, pairs, 2))
        frequencies[0, :along_y, 1] = theta ** (-2 * np.arange(along_y) / pairs)
        frequencies[0, along_y:, 0] = theta ** (-2 * np.arange(pairs - along_y) / pairs)
        return frequencies.astype(np.float32)

    def _feed_forward_block(self, channels: int) -> desc.FeedForwardBlock:
        self._expect("channels of a feed-forward block", channels)
        hidden = self.integer("hidden channels of a feed-forward block", least=1)
        if not self.flag("gate flag of a feed-forward block"):
            raise ModelError(
                "a feed-forward block without gate", expected="SwiGLU, the only kind that the format defines"
            )
        norm, up = self._rms_norm(channels), self._matmul(channels, hidden)
        gate, down = self._matmul(channels, hidden), self._matmul(hidden, channels)
        return desc.FeedForwardBlock(norm, up, gate, down)

    # Heads

    def _policy_channels(self) -> int:
        if self._version < 12:
            return 1
        if self._version < 17:
            return 4 if self._version == 16 else 2
        channels = self.integer("number of policy channels")
        if channels not in (2, 4):
            raise ModelError(f"a policy head of {channels} channels", expected="2 or 4")
        self.unused("policy option", 3)
        return channels

    def _policy_head(self, channels: int) -> desc.PolicyHead:
        self.word("the policy head's name")
        policies = self._policy_channels()
        conv, pool = self._conv(channels), self._pool_branch(channels)
        hidden, pooled = _outputs(conv), 3 * _outputs(pool.conv)
        to_bias = self._matmul(pooled, hidden)
        norm, activation, to_logits = self._batch_norm(hidden), self._activation(), self._conv(hidden, policies)
        pass_bias, pass_activation, pass_to_logits = None, desc.Activation.IDENTITY, None
        if self._version < 15:
            to_pass = self._matmul(pooled, policies)
        else:
            to_pass = self._matmul(pooled)
            pass_hidden = to_pass.weights.shape[1]
            pass_bias, pass_activation = self._bias(pass_hidden), self._activation()
            pass_to_logits = self._matmul(pass_hidden, policies)
        return desc.PolicyHead(
            conv, pool, to_bias, norm, activation, to_logits, to_pass, pass_bias, pass_activation, pass_to_logits
        )

    def _value_head(self, channels: int) -> desc.ValueHead:
        self.word("the value head's name")
        if self._version >= 17:
            self.unused("value option", 3)
        misc = 6 if self._version >= 9 else 4
        pool = self._pool_branch(channels)
        to_hidden = self._matmul(3 * _outputs(pool.conv))
        hidden = to_hidden.weights.shape[1]
        hidden_bias, activation = self._bias(hidden), self._activation()
        to_value, value_bias = self._matmul(hidden, 3), self._bias(3)
        to_misc, misc_bias = self._matmul(hidden, misc), self._bias(misc)
        to_ownership = self._conv(_outputs(pool.conv), 1)
        return desc.ValueHead(
            pool, to_hidden, hidden_bias, activation, to_value, value_bias, to_misc, misc_bias, to_ownership
        )


def _outputs(conv: desc.Conv) -> int:
    return len(conv.weights)
