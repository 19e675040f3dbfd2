"""`models get`: networks by name and from files; whatever goes wrong ends in one sentence and leaves nothing behind."""

import hashlib
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from nn.katago_files import NetworkFile
from test_models_command import models, succeed

from gtp_engine.base.errors import ModelError, TengenError
from gtp_engine.nn import named_networks, network_catalogue, published_networks, wheel_download
from gtp_engine.nn.metadata import read_metadata
from gtp_engine.nn.named_networks import default_name, model_path, shipped_folder, user_folder
from gtp_engine.nn.network_catalogue import PUBLISHED, PublishedNetwork

NAME = PUBLISHED[0].name
CONTENT = NetworkFile(15).bytes(gzipped=True)

Pip = Callable[[list[str], Path], tuple[int, str]]


def wheel_bytes(folder: Path) -> bytes:
    path = folder / "made.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("katrain/models/some-long-name.bin.gz", CONTENT)
        archive.writestr("katrain/__init__.py", "")
        archive.writestr("katrain-1.dist-info/licenses/LICENSE", "Use it as\nyou like.\n")
    content = path.read_bytes()
    path.unlink()
    return content


@pytest.fixture(autouse=True)
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Publish a tiny network as the best, in a wheel that is returned; nothing is installed, pip must not run."""
    content = wheel_bytes(tmp_path)
    tiny = replace(
        PUBLISHED[0],
        wheel_bytes=len(content),
        wheel_sha256=hashlib.sha256(content).hexdigest(),
        file_bytes=len(CONTENT),
        file_sha256=hashlib.sha256(CONTENT).hexdigest(),
    )
    monkeypatch.setattr(network_catalogue, "PUBLISHED", (tiny, *PUBLISHED[1:]))
    monkeypatch.setenv("TENGEN_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(published_networks, "find_spec", lambda name: None)
    monkeypatch.setattr(published_networks.shutil, "which", lambda name: None)
    monkeypatch.setattr("gtp_engine.nn.network_files.describe_machine", lambda: {"simd": []})
    pip_is(monkeypatch, None)
    return content


def pip_is(monkeypatch: pytest.MonkeyPatch, pip: Pip | None) -> None:
    def must_not_run(arguments: list[str], folder: Path) -> tuple[int, str]:
        raise AssertionError("pip was called")

    monkeypatch.setattr(wheel_download, "_run_pip", pip or must_not_run)


def delivering(content: bytes, calls: list[list[str]] | None = None) -> Pip:
    def pip(arguments: list[str], folder: Path) -> tuple[int, str]:
        if calls is not None:
            calls.append(arguments)
        (folder / "katrain-1.20.0-py3-none-any.whl").write_bytes(content)
        return 0, ""

    return pip


def failing(message: str) -> Pip:
    def pip(arguments: list[str], folder: Path) -> tuple[int, str]:
        (folder / "half").write_bytes(b"half a wheel")
        return 1, message

    return pip


def fail(*arguments: str) -> str:
    """Return the one line on stderr of a command that fails and leaves the user's folder as it was."""
    before = sorted(user_folder().rglob("*"))
    result = models(*arguments)
    assert result.exit_code == 2, result.output
    assert sorted(user_folder().rglob("*")) == before
    (line,) = result.stderr.splitlines()
    return line


def got() -> list[str]:
    return sorted(path.name for path in user_folder().iterdir())


# --- What works


@pytest.mark.parametrize("name", [NAME, "best"])
def test_a_published_network_becomes_the_default(monkeypatch: pytest.MonkeyPatch, wheel: bytes, name: str) -> None:
    calls: list[list[str]] = []
    pip_is(monkeypatch, delivering(wheel, calls))
    output = succeed("get", name)
    assert calls[0][0] == "download" and calls[0][-1] == "katrain==1.20.0" and "--no-deps" in calls[0]
    (licence,) = (line for line in output.splitlines() if line.startswith("Licence of KataGo's networks: "))
    assert "https://katagotraining.org/network_license/" in licence and licence.endswith(f"{NAME}-LICENSE.txt")
    assert "Use it as\nyou like." in Path(licence.rpartition(": ")[2]).read_text(encoding="utf-8")
    assert f"`gtp-engine` plays with {NAME} from now on" in output
    assert got() == [f"{NAME}-LICENSE.txt", f"{NAME}.onnx", "default.txt"]
    assert model_path(None) == model_path(NAME) == user_folder() / f"{NAME}.onnx"
    info = read_metadata(model_path(None))
    assert info.origin == "some-long-name.bin.gz in katrain-1.20.0-py3-none-any.whl"
    assert "you like" in info.license


def test_a_network_file_that_is_not_known_keeps_its_name() -> None:
    Path("my.net.bin.gz").write_bytes(NetworkFile(16).bytes(gzipped=True))
    assert "plays with my.net from now on" in succeed("get", "my.net.bin.gz")
    assert read_metadata(model_path(None)).origin == "my.net.bin.gz"


def test_a_human_like_network_is_not_played_with_by_default() -> None:
    Path("human.bin.gz").write_bytes(NetworkFile(15, human=1).bytes(gzipped=True))
    assert "plays with" not in succeed("get", "human.bin.gz")
    assert read_metadata(model_path("human")).needs_profile
    assert default_name() == "builtin"


def test_katrain_in_this_environment_needs_no_connection(monkeypatch: pytest.MonkeyPatch, wheel: bytes) -> None:
    Path("made.whl").write_bytes(wheel)
    zipfile.ZipFile("made.whl").extractall("site")
    spec = SimpleNamespace(origin=str(Path("site/katrain/__init__.py").resolve()))
    monkeypatch.setattr(published_networks, "find_spec", lambda name: spec)
    assert f"Found {NAME} in " in succeed("get", NAME)
    assert got() == [f"{NAME}-LICENSE.txt", f"{NAME}.onnx", "default.txt"]


def test_katrain_elsewhere_is_found_by_its_command(
    monkeypatch: pytest.MonkeyPatch, wheel: bytes, tmp_path: Path
) -> None:
    Path("made.whl").write_bytes(wheel)
    zipfile.ZipFile("made.whl").extractall("tool/lib/python3.12/site-packages")
    command = Path("tool/bin/katrain")
    command.parent.mkdir()
    command.touch()
    Path("link").symlink_to(command.resolve())
    monkeypatch.setattr(published_networks.shutil, "which", lambda name: str(tmp_path / "link"))
    assert f"Found {NAME} in {tmp_path / 'tool'}" in succeed("get", NAME)


def test_another_release_of_katrain_does_not_help(monkeypatch: pytest.MonkeyPatch, wheel: bytes) -> None:
    Path("site/katrain").mkdir(parents=True)
    Path("site/katrain/other.bin.gz").write_bytes(bytes(len(CONTENT)))
    spec = SimpleNamespace(origin=str(Path("site/katrain/__init__.py").resolve()))
    monkeypatch.setattr(published_networks, "find_spec", lambda name: spec)
    pip_is(monkeypatch, delivering(wheel))
    assert "Downloading katrain==1.20.0" in succeed("get", NAME)


def test_what_is_here_is_listed_and_not_downloaded_again(monkeypatch: pytest.MonkeyPatch, wheel: bytes) -> None:
    pip_is(monkeypatch, delivering(wheel))
    succeed("get", NAME)
    succeed("default", "builtin")
    pip_is(monkeypatch, None)
    assert "is already in" in succeed("get", NAME)
    lines = succeed("get").splitlines()
    assert [line.split()[0] for line in lines[1:4]] == [network.name for network in PUBLISHED]
    assert "default" in lines[1] and "superhuman" in lines[1]
    assert "125 MB" in lines[2] and " no " in lines[2]
    assert any(line.startswith("Licence: ") for line in lines)


# --- What does not


FULL = "is full; make room, or set TENGEN_DATA_DIR"


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("ERROR: [Errno 28] No space left on device", FULL),
        ("OSError: Disk quota exceeded", FULL),
        ("something\nERROR: no password\n", "pip failed: 'ERROR: no password'; try again, or download"),
    ],
)
def test_failures_of_a_download_are_shown(monkeypatch: pytest.MonkeyPatch, message: str, shown: str) -> None:
    pip_is(monkeypatch, failing(message))
    assert shown in fail("get", NAME)


def test_a_disk_with_too_little_room_is_noticed_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        published_networks.shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9, 100)
    )
    assert "is full: expected " in fail("get", PUBLISHED[1].name)


def test_a_disk_that_is_full_at_the_conversion(monkeypatch: pytest.MonkeyPatch, wheel: bytes) -> None:
    pip_is(monkeypatch, delivering(wheel))
    written = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if ".onnx" in path.name:
            written(path, data[:10])
            raise OSError(28, "No space left on device")
        return written(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    assert ": No space left on device; make room there" in fail("get", NAME)


def test_a_wheel_that_changed(monkeypatch: pytest.MonkeyPatch, wheel: bytes) -> None:
    pip_is(monkeypatch, delivering(wheel + b"!"))
    line = fail("get", NAME)
    assert "from the package index has the SHA-256" in line and "so it was not imported" in line


def test_an_interruption(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(arguments: list[str], folder: Path) -> tuple[int, str]:
        (folder / "half").touch()
        raise KeyboardInterrupt

    pip_is(monkeypatch, interrupted)
    result = models("get", NAME)
    assert (result.exit_code, result.stderr) == (130, "\nInterrupted; the default network is the same as before.\n")
    assert got() == []
    assert default_name() == "builtin"


def test_a_download_that_was_killed_is_cleared_away(monkeypatch: pytest.MonkeyPatch, wheel: bytes) -> None:
    left, beside = (user_folder() / f"unfinished-{name}" for name in "xy")
    for folder in (left, beside):
        folder.mkdir(parents=True)
        (folder / "half.whl").touch()
    os.utime(left, (0, 0))
    pip_is(monkeypatch, delivering(wheel))
    succeed("get", NAME)
    assert got() == [f"{NAME}-LICENSE.txt", f"{NAME}.onnx", "default.txt", beside.name], (
        "another process may be at work"
    )


def test_unknown_names() -> None:
    for name in ("b10c384", "b10c384h6nbtflrs"):
        line = fail("get", name)
        assert f"network '{name}': expected best, b10c384h6nbttflrs, " in line
        assert "did you mean b10c384h6nbttflrs? `gtp-engine models get` lists them" in line


def test_a_folder_that_cannot_be_created_or_written(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("data").touch()
    assert "cannot be created (" in fail("get", NAME)
    Path("data").unlink()
    user_folder().mkdir(parents=True)

    def refused(*arguments: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(published_networks.tempfile, "TemporaryDirectory", refused)
    line = fail("get", NAME)
    assert "networks' cannot be written (Permission denied); set TENGEN_DATA_DIR to another one" in line


@pytest.mark.parametrize("name", ["some-long-name.bin.gz", "LICENSE"])
def test_a_wheel_with_damaged_contents(name: str) -> None:
    content = b"these bytes are compressed" * 40
    with zipfile.ZipFile("katrain.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("katrain/some-long-name.bin.gz", content)
        archive.writestr("katrain/LICENSE", content)
        start = archive.getinfo(f"katrain/{name}").header_offset + 30 + len(f"katrain/{name}")
    data = bytearray(Path("katrain.whl").read_bytes())
    data[start : start + 8] = b"\xff" * 8
    Path("katrain.whl").write_bytes(data)
    line = fail("get", "katrain.whl")
    assert f"{name} in 'katrain.whl' cannot be read (" in line and line.endswith("); download it again")


def test_a_folder_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("downloads/locked").mkdir(parents=True)
    listed = Path.iterdir

    def refuse(folder: Path) -> Iterator[Path]:
        if folder.name == "locked":
            raise PermissionError(13, "Permission denied")
        return listed(folder)

    monkeypatch.setattr(Path, "iterdir", refuse)
    line = fail("get", "downloads")
    assert line.endswith("locked' cannot be read (Permission denied); name the file of the network")


# --- The default


def test_the_default_may_be_from_a_wheel_or_a_file_or_go_back(tmp_path: Path, wheel: bytes) -> None:
    Path("katrain.whl").write_bytes(wheel)
    assert f"plays with {NAME} from now on" in succeed("get", "./katrain.whl")
    assert got() == [f"{NAME}-LICENSE.txt", f"{NAME}.onnx", "default.txt"]
    file = shutil.copy(model_path(None), tmp_path / "elsewhere.onnx")
    assert succeed("default", "elsewhere.onnx") == f"{file}\n"
    assert model_path(None) == Path(file)
    assert succeed("default", "alphago-9x9") == "alphago-9x9\n"
    assert succeed("default", NAME) == f"{NAME}\n"
    assert succeed("default", "builtin") == succeed("default") == "builtin\n"
    assert model_path("alphago-9x9").is_dir()
    mine = shutil.copy(file, user_folder() / "alphago-9x9.onnx")
    assert model_path("alphago-9x9") == mine, "the user's own come before those that ship"


def test_a_damaged_default_is_named(tmp_path: Path) -> None:
    user_folder().mkdir(parents=True)
    (user_folder() / "default.txt").write_bytes(b"\xff\xfe\0")
    line = fail("default")
    assert "default.txt' is damaged: expected the name of the default network; set it again with" in line
    with pytest.raises(ModelError, match="is damaged"):
        model_path(None)
    assert succeed("default", "builtin") == "builtin\n"


def test_without_a_home_there_are_the_networks_that_ship(monkeypatch: pytest.MonkeyPatch, wheel: bytes) -> None:
    monkeypatch.setattr(named_networks, "data_folder", no_home)
    assert default_name() == "builtin"
    assert model_path(None) == shipped_folder()
    assert model_path("alphago-9x9").is_dir()
    assert "alphago-9x9" in succeed("list")
    Path("katrain.whl").write_bytes(wheel)
    for arguments in (["get", "katrain.whl"], ["default", "builtin"]):
        result = models(*arguments)
        assert (result.exit_code, result.stderr) == (2, "Error: there is no home directory\n")


def no_home() -> Path:
    raise TengenError("there is no home directory")


def test_the_default_does_not_depend_on_the_current_folder() -> None:
    succeed("default", "alphago-9x9")
    Path("alphago-9x9").mkdir()
    assert model_path(None).is_absolute() and model_path("alphago-9x9") == Path("alphago-9x9")
    assert model_path("~no-such-user/net.onnx") == Path("~no-such-user/net.onnx"), "a home that is not there"


def test_published_networks_are_fixed_by_hashes() -> None:
    for network in PUBLISHED:
        assert isinstance(network, PublishedNetwork)
        assert len(network.wheel_sha256) == len(network.file_sha256) == 64
    assert len({network.name for network in PUBLISHED}) == len({network.wheel_sha256 for network in PUBLISHED}) == 3
