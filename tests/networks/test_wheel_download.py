"""Networks without pip, as in the environments of uv: the pip that Python brings reads an index of this machine."""

import base64
import io
import json
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import pytest

from gtp_engine.base.errors import ModelError
from gtp_engine.nn import wheel_download
from gtp_engine.nn.wheel_download import download_wheel, pip_command, uv_index

REQUIREMENT = "katrain==1.20.0"
WHEEL = "katrain-1.20.0-py3-none-any.whl"


def content() -> bytes:
    """Return a wheel that pip takes for one."""
    file, folder = io.BytesIO(), "katrain-1.20.0.dist-info"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{folder}/METADATA", "Metadata-Version: 2.1\nName: katrain\nVersion: 1.20.0\n")
        archive.writestr(f"{folder}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{folder}/RECORD", "")
    return file.getvalue()


CONTENT = content()


class Index(BaseHTTPRequestHandler):
    """An index with one package; each folder shows another kind of index."""

    def do_GET(self) -> None:
        folder, _, rest = self.path[1:].partition("/")
        login = "Basic " + base64.b64encode(b"me:p@ss").decode()
        if folder == "locked" and self.headers["Authorization"] != login:
            self.reply(401)
        elif rest == f"files/{WHEEL}":
            self.reply(200, CONTENT)
        elif rest != "simple/katrain/":
            self.reply(404)
        else:
            files = [{"filename": WHEEL, "url": f"/{folder}/files/{WHEEL}", "hashes": {}}]
            text = json.dumps({"meta": {"api-version": "1.0"}, "name": "katrain", "files": files})
            self.reply(200, text.encode(), "application/vnd.pypi.simple.v1+json")

    def reply(self, status: int, content: bytes = b"", kind: str = "text/plain") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Index) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def without_pip(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide pip: it was said to be missing, and no network came.  This machine's settings do not count."""
    monkeypatch.setattr(wheel_download, "find_spec", lambda name: None if name == "pip" else find_spec(name))
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_CONFIG_FILE", "PIP_INDEX_URL", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "APPDATA", "PROGRAMDATA"):
        monkeypatch.setenv(name, str(tmp_path / name))


@pytest.mark.parametrize(("variable", "folder", "login"), [
    ("PIP_INDEX_URL", "open", ""), ("UV_DEFAULT_INDEX", "locked", "me:p%40ss@"),
])  # fmt: skip
def test_a_wheel_from_the_index(
    server: str, variable: str, folder: str, login: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, f"http://{login}{server}/{folder}/simple/")
    target = tmp_path / "wheels"
    target.mkdir()
    wheel = download_wheel(REQUIREMENT, target)
    assert (wheel.name, wheel.read_bytes()) == (WHEEL, CONTENT)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (
            "http://me:wrong@{}/locked/simple",
            "the package index that pip uses has no wheel katrain==1.20.0; set another",
        ),
        ("http://127.0.0.1:1/simple", "there is no connection to the package index; check it and try again, or"),
    ],
)
def test_what_goes_wrong_is_told_without_the_password(
    server: str, index: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_INDEX_URL", index.format(server))
    with pytest.raises(ModelError) as caught:
        download_wheel(REQUIREMENT, tmp_path)
    assert str(caught.value).startswith(message) and "wrong" not in str(caught.value)
    assert str(caught.value).endswith("`gtp-engine models get FILE.whl`")


def test_where_python_brings_no_pip_uv_fetches_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Debian has a package of its own for what brings it."""
    assert pip_command()[1].endswith("/pip")
    monkeypatch.setattr(wheel_download, "find_spec", lambda name: None)
    monkeypatch.setattr(wheel_download.sysconfig, "get_config_var", lambda name: str(tmp_path))
    monkeypatch.setattr(wheel_download.shutil, "which", lambda name: f"/bin/{name}")
    assert pip_command() == ["/bin/uv", "tool", "run", "pip"]
    (tmp_path / "pip-99-py3-none-any.whl").touch()
    assert pip_command()[1:] == [str(tmp_path / "pip-99-py3-none-any.whl" / "pip")]
    (tmp_path / "pip-99-py3-none-any.whl").unlink()
    monkeypatch.setattr(wheel_download.shutil, "which", lambda name: None)
    with pytest.raises(ModelError, match=r"^pip is missing; install it"):
        pip_command()


@pytest.mark.parametrize("text", [
    'index-url = "{}"',
    '[pip]\nindex-url = "{}"',
    '[[index]]\nurl = "https://extra"\n[[index]]\nurl = "{}"\ndefault = true',
])  # fmt: skip
@pytest.mark.parametrize(("system", "folder"), [
    ("linux", "XDG_CONFIG_HOME"), ("linux", "XDG_CONFIG_DIRS"), ("win32", "APPDATA"), ("win32", "PROGRAMDATA"),
])  # fmt: skip
def test_uv_names_the_index(
    system: str, folder: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", system)
    assert uv_index() is None
    path = tmp_path / folder / "uv" / "uv.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[damaged", encoding="utf-8")
    assert uv_index() is None
    path.write_text(text.format("https://mine/simple"), encoding="utf-8")
    assert uv_index() == "https://mine/simple"
    monkeypatch.setenv("PIP_INDEX_URL", "https://other/simple")
    assert uv_index() is None, "pip's own variable counts more"
    for name, url in (("UV_INDEX_URL", "https://former"), ("UV_DEFAULT_INDEX", "own=https://other/x=1")):
        monkeypatch.setenv(name, url)
    assert uv_index() == "https://other/x=1"
