"""Graphs of KataGo networks give the outputs of a plain calculation, for every kind of block, head and version."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from nn import reference_network
from nn.katago_files import GLOBALS, PLANES, SCALES, NetworkFile
from numpy.typing import NDArray

from gtp_engine.base.errors import ConfigError, ModelError
from gtp_engine.nn.katago_format.parser import parse_network
from gtp_engine.nn.metadata import PROFILE_INPUTS, Scales, info_of, read_properties
from gtp_engine.nn.onnx_export.build import build_model
from gtp_engine.nn.onnx_export.convert import convert_file, info_of_network

OUTPUTS = ["policy", "value", "misc", "ownership"]
TOLERANCE = 1e-5
"""Largest difference between float32 and float64, as a share of the largest output, or of 1."""


def model_of(file: NetworkFile) -> onnx.ModelProto:
    network = parse_network(file.bytes())
    model = build_model(network, info_of_network(network, origin="test", terms="MIT", sha256="0" * 64))
    onnx.checker.check_model(model, full_check=True)
    return model


def session_of(model: onnx.ModelProto, **sizes: int) -> onnxruntime.InferenceSession:
    """Return a session for the model, with the dimensions in `sizes` fixed."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    for name, size in sizes.items():
        options.add_free_dimension_override_by_name(name, size)
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def random_input(
    batch: int, height: int, width: int, planes: int = PLANES, values: int = GLOBALS
) -> dict[str, NDArray[np.float32]]:
    random = np.random.default_rng(1)
    spatial = random.integers(2, size=(batch, planes, height, width)).astype(np.float32)
    return {"spatial": spatial, "globals": random.standard_normal((batch, values)).astype(np.float32)}


def check(file: NetworkFile, *, height: int = 5, width: int = 5, batch: int = 2) -> None:
    """Compare all outputs for some positions, with free and with fixed dimensions."""
    model = model_of(file)
    values = GLOBALS if file.from_profile is None else GLOBALS + PROFILE_INPUTS
    given = random_input(batch, height, width, file.first.weights.shape[2], values)
    for sizes in ({}, {"batch": batch, "height": height, "width": width}):
        outputs = session_of(model, **sizes).run(OUTPUTS, given)
        for row in range(batch):
            expected = reference_network.evaluate(file, given["spatial"][row].astype(np.float64), given["globals"][row])
            for name, output in zip(OUTPUTS, outputs, strict=True):
                if name == "policy" and file.from_profile is not None:
                    expected[name] = expected[name][:1]
                assert output[row].shape == expected[name].shape, name
                size = max(1.0, np.abs(expected[name]).max())
                assert np.abs(output[row] - expected[name]).max() < TOLERANCE * size, name


@pytest.mark.parametrize("version", range(8, 18))
def test_versions(version: int) -> None:
    check(NetworkFile(version, ("ordinary", "gpool")))


@pytest.mark.parametrize(
    "blocks",
    [
        ("ordinary",),
        ("gpool",),
        (("ordinary", "gpool"),),
        (("ordinary", ("gpool",)), "ordinary"),
        ("attention",),
        ("attention-fixed",),
        ("attention-fixed-shared",),
        ("attention-learned",),
        ("attention-learned-shared",),
        ("ffn",),
        ("attention-learned", "ffn", "attention-learned", "ffn"),
        (("attention-learned", "ffn"), ("attention-learned-shared", "ffn")),
        ("ordinary", "attention-fixed", "gpool", "ffn", ("ffn", "ordinary"), ("gpool", "attention")),
    ],
    ids=str,
)
def test_blocks(blocks: tuple[object, ...]) -> None:
    check(NetworkFile(17, blocks), height=5, width=4)


@pytest.mark.parametrize("activation", ["IDENTITY", "RELU", "MISH", "SILU"])
@pytest.mark.parametrize("norm", ["batch", "rms", "spatial-rms"])
def test_activations_and_last_norms(activation: str, norm: str) -> None:
    check(NetworkFile(17, ("ordinary", "ffn"), activation=activation, norm=norm))


@pytest.mark.parametrize(("height", "width"), [(2, 2), (3, 7), (9, 9), (19, 19)])
def test_board_sizes(height: int, width: int) -> None:
    check(NetworkFile(17, ("gpool", "attention-learned")), height=height, width=width, batch=1)


@pytest.mark.parametrize("policies", [2, 4])
def test_policies_beyond_the_second_are_dropped(policies: int) -> None:
    file = NetworkFile(17, policies=policies)
    check(file)
    session = session_of(model_of(file))
    assert session.get_outputs()[0].shape == ["batch", 2, "actions"]
    inputs = {each.name: each.shape for each in session.get_inputs()}
    assert inputs == {"spatial": ["batch", PLANES, "height", "width"], "globals": ["batch", GLOBALS]}


@pytest.mark.parametrize(("filter_size", "dilation", "planes"), [(1, 1, 22), (5, 1, 22), (3, 2, 30)])
def test_filters_and_other_numbers_of_planes(filter_size: int, dilation: int, planes: int) -> None:
    check(NetworkFile(8, filter_size=filter_size, dilation=dilation, planes=planes))


@pytest.mark.parametrize("activation", ["IDENTITY", "RELU", "MISH", "SILU"])
def test_networks_that_imitate_people(activation: str) -> None:
    """They have one policy: KataGo never asks them for their optimistic one."""
    file = NetworkFile(15, human=1, activation=activation)
    check(file)
    info = info_of_network(parse_network(file.bytes()), origin="test", terms="MIT", sha256="0" * 64)
    assert info.needs_profile and info.is_katago
    assert (info.encoder, info.globals_) == ("katago-v7-human", GLOBALS + PROFILE_INPUTS)


def test_mish_of_large_numbers() -> None:
    """eˣ overflows beyond 88, where Mish is x itself."""
    file = NetworkFile(14, ("ordinary",))
    given = random_input(1, 5, 5)
    given["globals"] *= 1000
    outputs = session_of(model_of(file)).run(OUTPUTS, given)
    expected = reference_network.evaluate(file, given["spatial"][0].astype(np.float64), given["globals"][0])
    for name, output in zip(OUTPUTS, outputs, strict=True):
        assert np.allclose(output[0], expected[name], rtol=1e-4, atol=1e-2), name


def test_constants_are_folded_once_the_size_is_fixed(tmp_path: Path) -> None:
    """No value that depends only on the size of the board is computed at every evaluation."""
    model = model_of(NetworkFile(17, ("gpool", "attention-learned")))
    options = onnxruntime.SessionOptions()
    for name, size in (("batch", 1), ("height", 9), ("width", 9)):
        options.add_free_dimension_override_by_name(name, size)
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(tmp_path / "optimized.onnx")
    onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    left = {node.op_type for node in onnx.load(options.optimized_model_filepath).graph.node}
    assert left & {"Shape", "Range", "Cos", "Sin"} == set()


class TestFiles:
    def test_metadata(self, tmp_path: Path) -> None:
        source, target = tmp_path / "net.bin.gz", tmp_path / "net.onnx"
        source.write_bytes(NetworkFile(17, suicide_area=1).bytes(gzipped=True))
        conversion = convert_file(source, target)
        info = info_of(read_properties(target))
        assert info == conversion.info
        assert (info.name, info.kind, info.encoder, info.model_version) == (
            "tiny-network", "policy+value", "katago-v7", 17,
        )  # fmt: skip
        assert (info.origin, info.passes, str(info.sizes), info.suicide_area) == ("net.bin.gz", "policy", "2-25", True)
        assert info.scales == Scales(*SCALES[1:])
        session = onnxruntime.InferenceSession(target, providers=["CPUExecutionProvider"])
        assert info_of(session.get_modelmeta().custom_metadata_map) == info

    def test_the_same_file_twice_is_the_same_and_a_bad_one_leaves_the_old_file(self, tmp_path: Path) -> None:
        source, target = tmp_path / "net.bin.gz", tmp_path / "net.onnx"
        source.write_bytes(NetworkFile(14).bytes())
        convert_file(source, target)
        before = target.read_bytes()
        convert_file(source, target)
        assert target.read_bytes() == before
        with pytest.raises(ConfigError, match=r"cannot write .*: No such file"):
            convert_file(source, tmp_path / "missing" / "net.onnx")
        source.write_bytes(NetworkFile(14).bytes()[:-100])
        with pytest.raises(ModelError, match=r"net\.bin\.gz: the file ends"):
            convert_file(source, target)
        assert target.read_bytes() == before
        assert sorted(path.name for path in tmp_path.iterdir()) == ["net.bin.gz", "net.onnx"]
