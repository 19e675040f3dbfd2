"""The commands `gtp-engine models …`: files made, described and listed; mistakes answered with one sentence."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from nn.katago_files import NetworkFile
from nn.tiny_networks import v7_network

from gtp_engine.cli import cli
from gtp_engine.cli.options import INTERRUPTED
from gtp_engine.nn import named_networks
from gtp_engine.nn.metadata import info_of, read_properties
from gtp_engine.nn.named_networks import model_path
from gtp_engine.nn.network_catalogue import published_network


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of its own, on a processor without use for 8-bit copies."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENGEN_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr("gtp_engine.nn.network_files.describe_machine", lambda: {"simd": []})
    return tmp_path


def models(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["models", *arguments], prog_name="gtp-engine")


def succeed(*arguments: str) -> str:
    result = models(*arguments)
    assert result.exit_code == 0, result.output
    return result.output


def fail(*arguments: str) -> str:
    """Return the one line that a command which goes wrong puts on stderr."""
    result = models(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    return line


def write_network(name: str = "tiny.bin.gz") -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(NetworkFile(15).bytes(gzipped=True))
    return path


class TestImport:
    @pytest.mark.parametrize("name", ["tiny.bin.gz", "tiny.txt.gz", "tiny.gz", "tiny.bin", "tiny"])
    def test_the_result_lies_here(self, here: Path, name: str) -> None:
        write_network(f"elsewhere/{name}")
        output = succeed("import", f"elsewhere/{name}")
        assert "name          tiny-network" in output
        assert "katago-v7, model version 15" in output
        assert "written       tiny.onnx" in output
        assert info_of(read_properties("tiny.onnx")).origin == name

    def test_names_and_folders_for_the_result(self) -> None:
        write_network()
        succeed("import", "tiny.bin.gz", "-o", "other.onnx")
        assert Path("other.onnx").exists()
        Path("empty").mkdir()
        assert "No networks found" in succeed("list", "empty")
        Path("people.bin.gz").write_bytes(NetworkFile(15, human=1).bytes(gzipped=True))
        assert succeed("import", "people.bin.gz").endswith("gtp-engine --human-model people.onnx --level 5k\n")

    def test_missing_onnx(self, monkeypatch: pytest.MonkeyPatch) -> None:
        write_network()
        monkeypatch.setitem(sys.modules, "onnx.helper", None)
        assert "the package onnx is missing; install it: " in fail("import", "tiny.bin.gz")


def test_info() -> None:
    write_network()
    output = succeed("info", "tiny.bin.gz")
    assert "KataGo, model version 15" in output and "parameters" in output
    succeed("import", "tiny.bin.gz")
    output = succeed("info", "tiny.onnx")
    for line in ("name          tiny-network", "boards        2-25", "origin        tiny.bin.gz"):
        assert line in output


class TestList:
    def test_default_folders(self) -> None:
        write_network()
        Path("models").mkdir()
        succeed("import", "tiny.bin.gz", "-o", "models/tiny.onnx")
        Path("junk.onnx").write_bytes(b"junk")
        output = succeed("list")
        assert "tiny-network (policy+value, katago-v7, float32, boards 2-25)" in output
        assert "junk.onnx  unusable: " in output

    def test_an_8_bit_copy_is_listed_with_its_original(self) -> None:
        Path("models").mkdir()
        v7_network(Path("models/net.onnx"))
        for name in ("alone", "net"):
            v7_network(Path(f"models/{name}-int8.onnx"), precision="int8")
        alone, both = succeed("list", "models").splitlines()
        assert alone == "models/alone-int8.onnx  tiny (policy+value, katago-v7, int8, boards 2-25)"
        assert both == "models/net.onnx  tiny (policy+value, katago-v7, float32 and int8, boards 2-25)"

    def test_a_file_is_listed_once(self, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(named_networks, "PLACES", (here / "models",))
        Path("models").mkdir()
        v7_network(Path("models/net.onnx"))
        assert [line.partition("  ")[0] for line in succeed("list").splitlines()] == ["models/net.onnx"]

    def test_the_default_network_is_marked(self) -> None:
        (line,) = (line for line in succeed("list").splitlines() if line.endswith("  (default)"))
        assert "tengen-b10c128 (" in line
        (line,) = (line for line in succeed("list").splitlines() if line.endswith("  (default on 9x9)"))
        assert "tengen-9x9 (" in line
        succeed("default", "alphago-9x9")
        (line,) = (line for line in succeed("list").splitlines() if line.endswith("  (default)"))
        assert "alphago-9x9 (" in line
        succeed("default", "builtin")

    def test_a_set_that_ships_is_listed_and_described(self) -> None:
        folders = {text: folder for folder, text in (line.split("  ")[:2] for line in succeed("list").splitlines())}
        assert "tengen-human (policy+value, boards 2-25)" in folders, "its 8-bit copy is no other network"
        output = succeed("info", folders["alphago-9x9 (policy, value, boards 9x9)"])
        assert "policy.onnx:\nname          alphago-9x9-policy\n" in output
        assert "value.onnx:\nname          alphago-9x9-value\n" in output
        assert succeed("info", "alphago-9x9") == output


class TestFromWheel:
    @pytest.fixture
    def wheel(self) -> str:
        network = write_network("elsewhere/net.bin.gz")
        with zipfile.ZipFile("katrain-1-py3-none-any.whl", "w") as archive:
            archive.write(network, "katrain/models/net.bin.gz")
            archive.writestr("katrain/__init__.py", "")
            archive.writestr("katrain-1.dist-info/licenses/LICENSE", "Use it as\nyou like.\n")
        return "katrain-1-py3-none-any.whl"

    def test_networks_and_licence(self, wheel: str) -> None:
        output = succeed("from-wheel", wheel)
        assert output.startswith("Licence of KataGo's networks: ") and f"; of {wheel}: net-LICENSE.txt\n" in output
        assert Path("net-LICENSE.txt").read_text(encoding="utf-8").endswith("Use it as\nyou like.\n")
        assert "written       net.onnx" in output
        assert output.splitlines()[-1] == "Play with it:  gtp-engine --model net.onnx"
        info = info_of(read_properties("net.onnx"))
        assert info.origin == f"net.bin.gz in {wheel}"
        assert info.license.endswith("Use it as\nyou like.")

    def test_unpacked_or_installed_package(self, wheel: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        zipfile.ZipFile(wheel).extractall("site")
        (here / "nets").mkdir()
        assert "; of katrain: " in succeed("from-wheel", "site/katrain", "--folder", "nets")
        assert (here / "nets" / "net.onnx").exists()
        monkeypatch.syspath_prepend(str(here / "site"))
        assert "net.bin.gz in katrain" in succeed("from-wheel")

    def test_no_katrain_here(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("gtp_engine.nn.published_networks.find_spec", lambda name: None)
        monkeypatch.setattr("gtp_engine.nn.published_networks.shutil.which", lambda name: None)
        assert "KaTrain is not installed here; name a wheel" in fail("from-wheel")


@pytest.mark.parametrize(("option", "end"), [((), "begun for"), (("--int8",), "made for"), (("--no-int8",), "--model")])
def test_an_8_bit_copy_is_made_behind_or_now_or_not(
    option: tuple[str, ...], end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "gtp_engine.nn.network_files"
    monkeypatch.setattr(f"{module}.begin_faster_copy", lambda path: f"begun for {path}")
    monkeypatch.setattr(
        "gtp_engine.training.quantization.faster_copy.make_faster_copy",
        lambda path, progress, log: print(f"made for {path}"),
    )
    write_network()
    assert succeed("import", "tiny.bin.gz", *option).endswith(f"{end} tiny.onnx\n")


def test_a_published_network_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENGEN_DATA_DIR", str(tmp_path))
    (tmp_path / "networks").mkdir()
    network = tmp_path / "networks" / f"{published_network('best').name}.onnx"  # type: ignore[union-attr]
    network.touch()
    assert model_path("best") == network and "gtp-engine models get best" in succeed("--help")


@pytest.mark.parametrize("flag", ["--model", "--human-model"])
def test_on_a_terminal_the_download_is_offered_first(tmp_path: Path, flag: str) -> None:
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
    terminal, theirs = pty.openpty()
    words = [sys.executable, "-m", "gtp_engine", flag, "best"]
    with subprocess.Popen(
        words, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, env=os.environ | {"TENGEN_DATA_DIR": str(tmp_path)}
    ) as process:
        os.close(theirs)
        shown = b""
        while b"?" not in shown:
            shown += os.read(terminal, 1000)
        os.write(terminal, b"n\n")
        assert process.wait() == INTERRUPTED
    os.close(terminal)
    assert b"Download the network b10c384h6nbttflrs (106 MB)?" in shown
    assert not [*tmp_path.rglob("*.onnx")]
