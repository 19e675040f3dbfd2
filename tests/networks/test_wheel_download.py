"""Networks without pip, as in the environments of uv: the package index is read, here one on this machine."""

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest

from gtp_engine.base.errors import ModelError
from gtp_engine.nn import wheel_download
from gtp_engine.nn.wheel_download import PYPI, _file_name, _is_wheel, download_wheel, index_url

REQUIREMENT = "katrain==1.20.0"
WHEEL = "katrain-1.20.0-py3-none-any.whl"
CONTENT = bytes(range(256)) * 4000
JSON = "application/vnd.pypi.simple.v1+json"
NAMES = ["katrain-1.20.0.tar.gz", "katrain-1.20.0.1-py3-none-any.whl", f"{WHEEL}.metadata", WHEEL]


class Index(BaseHTTPRequestHandler):
    """An index with one package; each folder shows another kind of index."""

    def do_GET(self) -> None:
        folder, _, rest = self.path[1:].partition("/")
        login = "Basic " + base64.b64encode(b"me:p@ss").decode()
        if folder == "locked" and self.headers["Authorization"] != login:
            self.reply(401)
        elif rest.lower() == f"files/{WHEEL}":
            self.reply(200, CONTENT, cut=500 if folder == "cut" else 0)
        elif rest != "simple/katrain/" or folder == "empty":
            self.reply(404)
        elif folder == "html":
            links = (
                f'<a data-requires-python="&gt;=3" href="../../files/{name}#sha256=0">{name}</a>' for name in NAMES
            )
            self.reply(200, "".join(links).encode(), "text/html")
        else:
            names = [name.replace("katrain", "KaTrain") for name in NAMES] if folder == "capitals" else NAMES
            files = [{"filename": name, "url": f"/{folder}/files/{name}"} for name in names]
            content = json.dumps({"files": files[:3] if folder == "old" else files}).encode()
            self.reply(200, b"{" if folder == "broken" else content, JSON)

    def reply(self, status: int, content: bytes = b"", kind: str = "text/plain", cut: int = 0) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) - cut])

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
def without_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide pip: it was said to be missing, and no network came."""
    monkeypatch.setattr(wheel_download, "find_spec", lambda name: None)
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("file", "is_one"),
    [
        ("kata1-1.0-py3-none-any.whl", True),
        ("Kata1-1.0-py3-none-any.whl", True),
        ("kata1-1.1-py3-none-any.whl", False),
        ("kata1-1.0-/../../x.whl", False),
        ("kata1-1.0-\\..\\x.whl", False),
        ("kata1-1.0-x\n.whl", False),
        ("kata1-1.0-c:x.whl", False),
        ("kata1-1.0-py3-none-any.zip", False),
    ],
)
def test_a_wheel_is_named_as_a_file_in_a_folder(file: str, is_one: bool) -> None:
    """Slashes that the index had quoted led to other folders."""
    assert _is_wheel(_file_name(f"https://index/files/{quote(file, safe='')}"), "kata1", "1.0") is is_one


@pytest.mark.parametrize("folder", ["json", "html", "locked", "capitals"])
def test_a_wheel_comes_from_the_index(
    server: str, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    login = "me:p%40ss@" if folder == "locked" else ""
    monkeypatch.setenv("PIP_INDEX_URL", f"http://{login}{server}/{folder}/simple/")
    wheel = download_wheel(REQUIREMENT, tmp_path)
    assert wheel.name.lower() == WHEEL
    assert wheel.read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ("http://{}/empty/simple", "the package index 'http://{}/empty/simple' has no wheel katrain==1.20.0; set an"),
        ("http://{}/old/simple", "has no wheel katrain==1.20.0; set another index, or download katrain==1.20.0 else"),
        ("http://me:wrong@{}/locked/simple", "index 'http://{}/locked/simple' answers 401 (Unauthorized); set another"),
        ("http://{}/cut/simple", "no connection to the package index 'http://{}/cut/simple' (1,023,500 of 1,024,000 b"),
        ("http://{}/broken/simple", "there is no connection to the package index 'http://{}/broken/simple' (Expecting"),
        ("http://127.0.0.1:1/simple", "no connection to the package index 'http://127.0.0.1:1/simple' (<urlopen error"),
        ("file:///srv/simple", "('file:///srv/simple/katrain/' does not begin with https://); check it and try again"),
    ],
)
def test_what_goes_wrong_is_told_without_the_password(
    server: str, index: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", index.format(server))
    with pytest.raises(ModelError) as caught:
        download_wheel(REQUIREMENT, tmp_path)
    assert message.format(server) in str(caught.value) and str(caught.value).count("package index") == 1
    assert "wrong" not in str(caught.value)
    assert str(caught.value).endswith("`gtp-engine models get FILE.whl`")


def test_a_full_disk_is_told(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(link: str, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setenv("UV_INDEX_URL", f"http://{server}/json/simple")
    monkeypatch.setattr(wheel_download, "_fetch", full)
    with pytest.raises(ModelError, match=r"^the disk that holds .* is full"):
        download_wheel(REQUIREMENT, tmp_path)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("home/.config/uv/uv.toml", 'index-url = "{}"'),
        ("home/.config/uv/uv.toml", '[pip]\nindex-url = "{}"'),
        ("home/.config/uv/uv.toml", '[[index]]\nurl = "https://extra"\n[[index]]\nurl = "{}"\ndefault = true'),
        ("home/.config/pip/pip.conf", "[global]\nindex-url = {}\nextra-index-url = https://extra\n"),
        ("home/.pip/pip.conf", "[install]\nindex-url={}"),
        ("environment/pip.conf", "[global]\r\nindex-url: {}\r\n"),
        ("xdg/pip/pip.conf", "[download]\nindex-url = {}\n"),
    ],
)
def test_settings_of_uv_and_pip_name_the_index(tmp_path: Path, file: str, text: str) -> None:
    variables = {"HOME": str(tmp_path / "home"), "XDG_CONFIG_DIRS": str(tmp_path / "xdg")}
    prefix = tmp_path / "environment"
    assert index_url(variables, prefix) == PYPI
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text("[damaged", encoding="utf-8")
    assert index_url(variables, prefix) == PYPI
    path.write_text(text.format("https://mine/simple"), encoding="utf-8")
    assert index_url(variables, prefix) == "https://mine/simple"
    assert index_url(variables | {"UV_DEFAULT_INDEX": "own=https://other/x=1"}, prefix) == "https://other/x=1"


def test_windows_has_other_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    path = tmp_path / "Roaming" / "pip" / "pip.ini"
    path.parent.mkdir(parents=True)
    path.write_text("[global]\nindex-url = https://mine/simple\n", encoding="utf-8")
    variables = {"APPDATA": str(tmp_path / "Roaming"), "PROGRAMDATA": str(tmp_path / "all")}
    assert index_url(variables, tmp_path) == "https://mine/simple"
