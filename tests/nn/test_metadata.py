"""The metadata of network files: read, written, and refused with one sentence."""

import tempfile
from dataclasses import replace
from pathlib import Path

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from gtp_engine.base.errors import ModelError
from gtp_engine.evaluation.evaluator_info import ANY_BOARD
from gtp_engine.nn.metadata import NetworkInfo, Scales, info_of, read_properties

INFO = NetworkInfo(
    kind="policy+value", encoder="katago-v7", planes=22, globals_=19, sizes=ANY_BOARD, name="b6c96",
    precision="float32", passes="policy", model_version=14, scales=Scales(score_error=150.0), suicide_area=True,
    ownership=True, origin="a test", license="MIT\n\nPermission is …", source_sha256="ab" * 32,
)  # fmt: skip
REQUIRED = ("kind", "encoder", "planes", "globals", "sizes", "name", "precision", "pass")


def test_written_and_read_again() -> None:
    assert info_of(INFO.properties()) == INFO
    assert all(key.startswith("tengen.") for key in INFO.properties())


def test_optional_properties_have_defaults() -> None:
    properties = {f"tengen.{key}": INFO.properties()[f"tengen.{key}"] for key in ("format", *REQUIRED)}
    bare = replace(
        INFO, model_version=0, scales=Scales(), suicide_area=False, ownership=False,
        origin="", license="", source_sha256="",
    )  # fmt: skip
    assert info_of(properties) == bare


def test_only_converted_networks_know_the_cleanup_phases() -> None:
    properties = INFO.properties()
    assert info_of(properties).knows_cleanup
    assert not info_of({**properties, "tengen.source_sha256": ""}).knows_cleanup
    assert not info_of({**properties, "tengen.encoder": "alphago-48"}).knows_cleanup


def test_only_networks_from_katago_know_playout_doubling_advantages() -> None:
    properties = INFO.properties()
    del properties["tengen.advantages"]
    assert info_of(properties).advantages
    assert not info_of({**properties, "tengen.source_sha256": ""}).advantages
    assert not info_of({**properties, "tengen.encoder": "alphago-48"}).advantages
    assert info_of({**properties, "tengen.source_sha256": "", "tengen.advantages": "1"}).advantages


@pytest.mark.parametrize("text", ["2-25", "9x9", "13x9", "9-13"])
def test_sizes(text: str) -> None:
    assert str(info_of(INFO.properties() | {"tengen.sizes": text}).sizes) == text


def refusal(**changes: str | None) -> str:
    """Return the sentence with which metadata are refused that differ in `changes`; None takes one away."""
    properties = INFO.properties() | {f"tengen.{key}": text for key, text in changes.items() if text is not None}
    for key, text in changes.items():
        if text is None:
            del properties[f"tengen.{key}"]
    with pytest.raises(ModelError) as caught:
        info_of(properties)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_networks_of_other_programs() -> None:
    with pytest.raises(ModelError, match=r"not a network of this engine.*gtp-engine models import"):
        info_of({"name": "katago"})


@pytest.mark.parametrize("key", REQUIRED)
def test_required_properties_must_be_there(key: str) -> None:
    assert f"lacks tengen.{key}" in refusal(**{key: None})


@pytest.mark.parametrize(
    ("key", "text", "sentence"),
    [
        ("format", "2", "network format '2': expected 1"),
        ("kind", "oracle", "tengen.kind 'oracle': expected one of policy, value, rollout, policy+value"),
        ("encoder", "v8", "tengen.encoder 'v8': expected one of katago-v7, katago-v7-human, alphago-48, alphago-49"),
        ("planes", "0", "tengen.planes '0': expected a whole number from 1 up"),
        ("planes", "22.0", "tengen.planes"),
        ("globals", "-1", "tengen.globals '-1'"),
        ("globals", "9" * 5000, "tengen.globals"),
        ("sizes", "19", "tengen.sizes '19': expected a range such as 2-25"),
        ("sizes", "25-2", "tengen.sizes"),
        ("sizes", "0x9", "tengen.sizes"),
        ("precision", "float16", "tengen.precision"),
        ("pass", "yes", "tengen.pass"),
        ("model_version", "new", "tengen.model_version"),
        ("scales", "20", "tengen.scales"),
        ("scales", '{"lead": "much"}', "tengen.scales"),
        ("scales", '{"lead": null}', "tengen.scales"),
        ("scales", '{"unknown": 1}', "expected a JSON object of numbers with the names lead"),
        ("scales", "{", "tengen.scales"),
    ],
)
def test_wrong_values(key: str, text: str, sentence: str) -> None:
    assert sentence in refusal(**{key: text})


class TestFiles:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        node = helper.make_node("Relu", ["x"], ["y"])
        x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy")
        model = helper.make_model(helper.make_graph([node], "tiny", [x], [y]))
        helper.set_model_props(model, INFO.properties())
        onnx.save(model, tmp_path / "net.onnx")
        return tmp_path / "net.onnx"

    def test_properties_are_read_without_onnx(self, file: Path) -> None:
        assert read_properties(file) == INFO.properties()

    def test_files_without_properties(self, file: Path) -> None:
        model = onnx.load(file)
        del model.metadata_props[:]
        onnx.save(model, file)
        assert read_properties(file) == {}

    def test_missing_files(self, tmp_path: Path) -> None:
        with pytest.raises(ModelError, match=r"cannot be read \(not a file name\)"):
            read_properties("a\0b.onnx")
        missing = tmp_path / ("long " * 20) / "missing.onnx"
        with pytest.raises(ModelError, match="No such file") as caught:
            read_properties(missing)
        assert str(missing) in str(caught.value)

    @given(cut=st.integers(1, 1000))
    def test_files_that_are_cut_off(self, cut: int) -> None:
        content = helper.make_model(helper.make_graph([], "tiny", [], []))
        helper.set_model_props(content, INFO.properties())
        data = content.SerializeToString()
        check_damaged(data[: -min(cut, len(data))])

    @given(st.binary(max_size=200))
    def test_junk(self, data: bytes) -> None:
        check_damaged(data)


def check_damaged(data: bytes) -> None:
    """Read a damaged file, which works if the metadata survived, and is refused otherwise."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.onnx"
        path.write_bytes(data)
        try:
            info_of(read_properties(path))
        except ModelError as error:
            assert "\n" not in str(error)
