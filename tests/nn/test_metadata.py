"""The metadata of network files: read, written, and refused with one sentence."""

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper
from texts import meaning, texts

from gtp_engine.base.errors import ModelError
from gtp_engine.evaluation.evaluator_info import ANY_BOARD, BoardSizes
from gtp_engine.nn.metadata import NetworkInfo, Scales, info_of, read_properties

INFO = NetworkInfo(
    kind="policy+value", encoder="katago-v7", planes=22, globals_=19, sizes=ANY_BOARD, name="b6c96",
    precision="float32", passes="policy", model_version=14, scales=Scales(score_error=150.0), suicide_area=True,
    ownership=True, origin="a test", license="MIT\n\nPermission is …", source_sha256="ab" * 32,
)  # fmt: skip
REQUIRED = ("kind", "encoder", "planes", "globals", "sizes", "name", "precision", "pass")


def test_written_and_read_again_and_optional_properties_have_defaults() -> None:
    assert info_of(INFO.properties()) == INFO
    assert all(key.startswith("tengen.") for key in INFO.properties())
    properties = {f"tengen.{key}": INFO.properties()[f"tengen.{key}"] for key in ("format", *REQUIRED)}
    bare = replace(INFO, model_version=0, scales=Scales(), suicide_area=False, ownership=False)
    assert info_of(properties) == replace(bare, origin="", license="", source_sha256="")


def test_only_networks_from_katago_know_the_cleanup_phases_and_playout_doubling_advantages() -> None:
    properties = INFO.properties()
    del properties["tengen.advantages"]
    for changes, knows in (({}, True), ({"source_sha256": ""}, False), ({"encoder": "alphago-48"}, False)):
        info = info_of(properties | {f"tengen.{key}": text for key, text in changes.items()})
        assert info.knows_cleanup is info.advantages is knows
    assert info_of({**properties, "tengen.source_sha256": "", "tengen.advantages": "1"}).advantages


@pytest.mark.parametrize(
    ("changes", "fits"),
    [
        ({"sizes": BoardSizes((9, 9), (9, 9)), "name": "b", "precision": "int8", "origin": "", "license": ""}, True),
        ({"source_sha256": "cd" * 32}, True),
        *(({name: value}, False) for name, value in {"source_sha256": "", "model_version": 13, "planes": 23}.items()),
    ],
)
def test_networks_with_the_same_inputs_and_outputs_take_each_others_place(changes: Any, fits: bool) -> None:
    assert INFO.is_interchangeable(replace(INFO, **changes)) is fits


def test_what_kind_encoder_and_version_tell() -> None:
    table: list[tuple[dict[str, Any], tuple[bool, ...]]] = [
        ({"ownership": False}, (True, True, True, False)),
        ({"ownership": False, "kind": "policy", "model_version": 8}, (False, True, False, False)),
        ({"encoder": "katago-v7-human", "model_version": 9}, (True, True, True, True)),
        ({"encoder": "alphago-49", "kind": "value", "model_version": 0}, (True, False, False, False)),
        ({"encoder": "alphago-49", "kind": "value", "ownership": False}, (False, False, True, False)),
    ]
    for changes, expected in table:
        info = replace(INFO, **changes)
        assert (info.has_ownership, info.is_katago, info.has_errors, info.needs_profile) == expected, changes


def sizes_with(text: str) -> str:
    """Return the boards of a network with a property that is as in `planes=22`; one that is - is missing."""
    key, _, value = text.partition("=")
    properties = INFO.properties() | {f"tengen.{key}": value}
    if value == "-":
        del properties[f"tengen.{key}"]
    return str(info_of(properties).sizes)


@pytest.mark.parametrize(("_", "text", "expected"), texts("metadata"))
def test_properties(_: str, text: str, expected: str) -> None:
    assert meaning(sizes_with, text) == expected
    with pytest.raises(ModelError, match=r"not a network of this engine.*gtp-engine models import"):
        info_of({"name": "katago"})
    assert "tengen.globals" in str(meaning(sizes_with, f"globals={'9' * 5000}"))


class TestFiles:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        node = helper.make_node("Relu", ["x"], ["y"])
        x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy")
        model = helper.make_model(helper.make_graph([node], "tiny", [x], [y]))
        helper.set_model_props(model, INFO.properties())
        onnx.save(model, tmp_path / "net.onnx")
        return tmp_path / "net.onnx"

    def test_properties_are_read_without_onnx_if_there_are_any(self, file: Path) -> None:
        assert read_properties(file) == INFO.properties()
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
