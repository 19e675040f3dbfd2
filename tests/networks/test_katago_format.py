"""The parser of KataGo's network files: every version, both notations, and one sentence for any mistake."""

import gzip
import re
import resource
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nn.katago_files import CHANNELS, SCALES, NetworkFile
from shared_files import shared_file

from gtp_engine.base.errors import ModelError
from gtp_engine.nn.katago_format.description import (
    Activation,
    AttentionBlock,
    BottleneckBlock,
    FeedForwardBlock,
    GlobalPoolingBlock,
    OrdinaryBlock,
    RmsNorm,
)
from gtp_engine.nn.katago_format.parser import load_network, parse_network
from gtp_engine.nn.metadata import Scales

VERSIONS = range(8, 18)
EVERY_BLOCK = ("ordinary", "gpool", ("attention-learned-shared", "ffn", ("ordinary",)), "attention-fixed")


class TestWhatIsRead:
    @pytest.mark.parametrize("version", VERSIONS)
    def test_versions(self, version: int) -> None:
        network = parse_network(NetworkFile(version).bytes())
        assert (network.name, network.version, network.planes, network.globals_) == ("tiny-network", version, 22, 19)
        assert len(network.policy.to_logits.weights) == (4 if version == 16 else 2 if version >= 12 else 1)
        assert len(network.value.misc_bias) == (6 if version >= 9 else 4)
        assert (network.policy.pass_to_logits is not None) == (version >= 15)
        assert network.trunk.activation is (Activation.MISH if version >= 11 else Activation.RELU)
        assert network.scales == (Scales(*SCALES[1:]) if version >= 13 else Scales())

    def test_blocks(self) -> None:
        trunk = parse_network(NetworkFile(17, EVERY_BLOCK, norm="rms").bytes()).trunk
        ordinary, pooling, bottleneck, attention = trunk.blocks
        assert isinstance(ordinary, OrdinaryBlock)
        assert isinstance(pooling, GlobalPoolingBlock)
        assert isinstance(attention, AttentionBlock)
        assert isinstance(bottleneck, BottleneckBlock)
        assert [type(block) for block in bottleneck.blocks] == [AttentionBlock, FeedForwardBlock, BottleneckBlock]
        assert isinstance(trunk.norm, RmsNorm)

    def test_weights_are_those_of_the_file(self) -> None:
        file = NetworkFile(17)
        network = parse_network(file.bytes())
        assert not network.suicide_area and parse_network(NetworkFile(17, suicide_area=1).bytes()).suicide_area
        assert np.array_equal(network.trunk.conv.weights, file.first.weights.transpose(3, 2, 0, 1))
        assert np.array_equal(network.trunk.from_globals.weights, file.from_globals)
        assert np.array_equal(network.value.misc_bias, file.value.misc_bias)

    def test_batch_norms_are_merged(self) -> None:
        file = NetworkFile(8)
        norm = file.norm
        merged = parse_network(file.bytes()).trunk.norm
        x = np.linspace(-3, 3, CHANNELS)
        expected = (x - norm.mean) / np.sqrt(norm.variance + norm.epsilon) * norm.scale + norm.bias
        assert np.allclose(x * merged.scale + merged.bias, expected, atol=1e-6)

    @pytest.mark.parametrize("version", [8, 17])
    def test_parameters_are_counted(self, version: int) -> None:
        file = NetworkFile(version, EVERY_BLOCK)
        assert parse_network(file.bytes()).parameters == file.numbers

    @pytest.mark.parametrize("binary", [True, False], ids=["binary", "text"])
    @pytest.mark.parametrize("gzipped", [True, False], ids=["gzipped", "plain"])
    def test_notations(self, tmp_path: Path, binary: bool, gzipped: bool) -> None:
        path = tmp_path / "net"
        path.write_bytes(NetworkFile(14, binary=binary).bytes(gzipped=gzipped))
        network, same = load_network(path), parse_network(NetworkFile(14).bytes())
        assert np.array_equal(network.trunk.conv.weights, same.trunk.conv.weights)
        assert np.array_equal(network.value.to_ownership.weights, same.value.to_ownership.weights)

    def test_long_numbers_in_text(self) -> None:
        """The reader guesses how long a list of numbers is; longer ones must not be cut."""
        text = NetworkFile(8, binary=False).bytes()
        padded = re.sub(rb"(-?\d+\.\d+)(e-\d+)?(?=[ \n])", lambda m: m[0] + b" " * 40, text)
        network, same = parse_network(padded), parse_network(text)
        assert np.array_equal(network.value.to_ownership.weights, same.value.to_ownership.weights)

    @pytest.mark.parametrize(
        ("name", "version", "parameters"),
        [
            ("g170-b6c96-s175395328-d26788732", 8, 1_027_911),
            ("b7c96h3tfrs-test5-cnorm", 17, 818_953),
            ("b7c96h6kv3qk32v16tflrs-fson-bnh", 17, 851_881),
        ],
    )
    def test_published_networks(self, name: str, version: int, parameters: int) -> None:
        network = load_network(shared_file(f"nets/{name}.bin.gz"))
        assert (network.name, network.version, network.parameters) == (name, version, parameters)


def refusal(data: bytes) -> str:
    """Return the one sentence with which a file is refused."""
    with pytest.raises(ModelError) as caught:
        parse_network(data)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 300
    return text


def replaced(file: NetworkFile, old: bytes, new: bytes, *, nth: int = 0) -> bytes:
    """Return a file with the `nth` occurrence of `old` exchanged."""
    parts = file.bytes().split(old)
    return old.join(parts[: nth + 1]) + new + old.join(parts[nth + 1 :])


class TestWhatIsRefused:
    @pytest.mark.parametrize("version", [3, 7, 18])
    def test_other_versions(self, version: int) -> None:
        data = replaced(NetworkFile(8), b"\n8\n", f"\n{version}\n".encode())
        assert f"network 'tiny-network' is of model version {version}: expected 8 to 17" in refusal(data)

    @pytest.mark.parametrize(
        "data", [b"", b"\0\1\2\3", b"hello", b"hello world", b"PK\3\4" + bytes(100), gzip.compress(b"junk", mtime=0)]
    )
    def test_other_files(self, data: bytes, tmp_path: Path) -> None:
        assert "expected" in refusal(data)
        (tmp_path / "broken.bin.gz").write_bytes(data)
        with pytest.raises(ModelError, match=r"^broken\.bin\.gz: "):
            load_network(tmp_path / "broken.bin.gz")

    def test_unknown_profile_encoders_and_those_of_other_inputs(self) -> None:
        message = refusal(NetworkFile(15, human=2).bytes())
        assert "version 2 of the profile encoder (metaEncoderVersion): expected 0 or 1" in message
        data = replaced(NetworkFile(15, human=1), b"\nmul1\n192\n", b"\nmul1\n191\n")
        assert "191 inputs of matrix 'mul1': expected 192" in refusal(data)

    @pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.99])
    def test_gzip_that_is_cut_off_or_damaged(self, share: float) -> None:
        data = NetworkFile(14).bytes(gzipped=True)
        end = int(share * len(data))
        assert "damaged gzip data" in refusal(data[:end])
        flipped = data[:end] + bytes([data[end] ^ 0xFF]) + data[end + 1 :]
        assert "damaged" in refusal(flipped) or "expected" in refusal(flipped)

    @pytest.mark.parametrize("binary", [True, False], ids=["binary", "text"])
    def test_files_that_end_too_early(self, binary: bool) -> None:
        data = NetworkFile(17, EVERY_BLOCK, binary=binary).bytes()
        for end in range(0, len(data) - 20, len(data) // 200):
            refusal(data[:end])

    @pytest.mark.parametrize(
        ("old", "new", "sentence"),
        [
            (b"gpool_block", b"fancy_block", "block kind 'fancy_block': expected one of ordinary_block"),
            (b"ACTIVATION_MISH", b"ACTIVATION_GELU", "activation 'act' is 'ACTIVATION_GELU'"),
            (b"conv\n3\n3\n22\n", b"conv\n2\n3\n22\n", "convolution 'conv' is 2×3: expected odd sizes"),
            (b"conv\n3\n3\n22\n", b"conv\n3\n3\n21\n", "21 input channels of convolution 'conv': expected 22"),
            (b"conv\n3\n3\n22\n", b"conv\nx\n3\n22\n", "height of convolution 'conv' 'x': expected an integer"),
            (b"conv\n3\n3\n22\n", b"conv\n3\n3\n99999999999\n", "expected an integer from 1 to"),
            (b"\n0.001\n", b"\n-1\n", "epsilon of batch norm 'norm' '-1': expected a positive number"),
            (b"\n0.001\n", b"\ninf\n", "expected a positive number"),
            (b"matmul\n19\n", b"matmul\n18\n", "18 inputs of matrix 'matmul': expected 19; the file is damaged"),
            (b"valuehead\n0\n", b"valuehead\n7\n", "value option '7': expected 0; a newer Tengen may support it"),
            (b"policyhead\n2\n", b"policyhead\n3\n", "a policy head of 3 channels: expected 2 or 4"),
            (b"block\n8\n12\n1\n", b"block\n8\n12\n0\n", "a feed-forward block without gate"),
            (b"block\n4\n4\n6\n5\n", b"block\n4\n3\n6\n5\n", "attention with 4 heads of 6 channels and 3 key/value"),
            (b"tiny-network\n17\n22", b"tiny-network\n17\n0", "number of input planes '0'"),
        ],
    )
    def test_wrong_words(self, old: bytes, new: bytes, sentence: str) -> None:
        file = NetworkFile(17, ("gpool", "attention-fixed", "ffn"))
        assert sentence in refusal(replaced(file, old, new))

    def test_weights_that_are_no_numbers_and_negative_variances(self) -> None:
        file = NetworkFile(8)
        data = file.bytes()
        start = data.index(b"@BIN@") + 5
        for value in (np.nan, np.inf):
            assert "not a finite number" in refusal(data[:start] + np.float32(value).tobytes() + data[start + 4 :])
        variance = file.norm.variance.astype("<f4").tobytes()
        assert "negative variance" in refusal(data.replace(variance, (-file.norm.variance).astype("<f4").tobytes()))

    def test_blocks_nested_without_end(self) -> None:
        kinds: tuple[object, ...] = ("ordinary",)
        for _ in range(4):
            kinds = (kinds,)
        data = NetworkFile(17, (kinds,) * 3).bytes()  # side by side any number
        assert isinstance(parse_network(data).trunk.blocks[0], BottleneckBlock)
        for _ in range(6):
            kinds = (kinds,)
        assert "blocks nested 9 deep" in refusal(NetworkFile(17, (kinds,)).bytes())

    @given(st.data())
    def test_damage_anywhere_is_never_a_crash(self, data: st.DataObject) -> None:
        original = NetworkFile(17, EVERY_BLOCK, binary=data.draw(st.booleans())).bytes()
        position = data.draw(st.integers(0, len(original) - 1))
        junk = data.draw(st.binary(min_size=1, max_size=12))
        damaged = original[:position] + junk + original[position + data.draw(st.integers(0, 12)) :]
        try:
            parse_network(damaged)
        except ModelError as error:
            assert "\n" not in str(error)

    def test_gzip_that_grows_without_end(self) -> None:
        bomb = gzip.compress(bytes(1 << 24)) * 16
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert "times as large when decompressed" in refusal(bomb)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 17, "kB"

    @pytest.mark.parametrize("sizes", [(2**20 - 1, 2**20 - 1), (2**20 - 1, 3), (2**16 + 1, 2**15 + 1)])
    @pytest.mark.parametrize("binary", [True, False], ids=["binary", "text"])
    def test_sizes_beyond_64_bits(self, sizes: tuple[int, int], binary: bool) -> None:
        data = NetworkFile(14, binary=binary).bytes()
        text = re.sub(rb"\nconv\s3\s3\s", f"\nconv\n{sizes[0]}\n{sizes[1]}\n".encode(), data, count=1)
        assert text != data
        assert "the file ends within convolution 'conv'" in refusal(text)
