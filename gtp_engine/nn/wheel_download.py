"""Downloads a wheel from the package index that the user's tools are configured to use.

pip does it where this Python has it: it knows about indexes, proxies, certificates and passwords.  The cause of a
failure is read from its messages, because its exit status is always 1.  Environments that uv makes have no pip; there
the index is read as pip would (https://packaging.python.org/en/latest/specifications/simple-repository-api/).  Its
address is the one in uv's variables or settings, or pip's; else that of PyPI.
"""

import configparser
import json
import os
import re
import subprocess
import sys
import tomllib
import urllib.request
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import suppress
from html.parser import HTMLParser
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

from gtp_engine.base.errors import ModelError, problem, shown
from gtp_engine.base.progress import ProgressBar

PYPI: Final = "https://pypi.org/simple"
"""The index that pip uses by default."""

_NO_SPACE: Final = re.compile(r"No space left on device|not enough space on the disk|Errno 28\b|Disk quota exceeded")
_NO_CONNECTION: Final = re.compile(
    r"ConnectionError|connection broken|Failed to establish a new connection|NameResolutionError|Connection refused"
    r"|[Nn]ame resolution|[Tt]imed out|Network is unreachable|ProxyError|SSLError|Connection(?:Reset|Aborted)"
    r"|IncompleteRead"
)
_NOT_THERE: Final = re.compile(r"No matching distribution found|Could not find a version")
_OPTIONS: Final = (
    "--no-deps",
    "--only-binary=:all:",
    "--ignore-requires-python",  # only the files in the wheel are wanted
    "--no-cache-dir",  # a hundred megabytes that are needed once
    "--no-input",
    "--retries=2",
    "--disable-pip-version-check",
)

_WHEEL_NAME: Final = re.compile(r"[\w.+!-]+\.whl", re.ASCII)

_PATIENCE: Final = 30.0
"""Seconds to wait for the index to send anything."""
_CHUNK: Final = 1 << 18
_LARGEST_LIST: Final = 1 << 26
"""Bytes of the list of a package's files that are read at most."""


def download_wheel(requirement: str, folder: Path) -> Path:
    """Download the wheel of a requirement such as "katrain==1.20.0" into an empty folder; return its path.

    The progress is shown on stderr.  Raises ModelError, with what to do, if that fails.
    """
    advice = f"or download {requirement} elsewhere and give its file: `gtp-engine models get FILE.whl`"
    if find_spec("pip") is None:
        return _download_from_index(requirement, folder, advice)
    status, messages = _run_pip(["download", *_OPTIONS, "--dest", str(folder), requirement], folder)
    if status == 0:
        wheels = list(folder.glob("*.whl"))
        if len(wheels) == 1:
            return wheels[0]
        messages = f"it left {len(wheels)} wheels instead of one"
    if _NO_SPACE.search(messages):
        raise no_space(folder.parent)
    if _NO_CONNECTION.search(messages):
        raise _no_connection("the package index", advice)
    if _NOT_THERE.search(messages):
        raise _not_there("the package index that pip uses", requirement, advice)
    errors = [line for line in messages.splitlines() if line.startswith("ERROR")] or messages.splitlines()[-1:]
    raise ModelError(problem(f"pip failed: {shown(' '.join(errors), length=300)}", advice=f"try again, {advice}"))


def no_space(folder: Path, needed: int = 0) -> ModelError:
    """Return the error for a full disk; `needed` is in bytes, 0 if unknown."""
    return ModelError(
        problem(
            f"the disk that holds {folder} is full",
            expected=f"{needed / 1e6:,.0f} MB free" if needed else "",
            advice="make room, or set TENGEN_DATA_DIR to a folder on another disk",
        )
    )


def _no_connection(index: str, advice: str, reason: str = "") -> ModelError:
    given = f"there is no connection to {index}" + (f" ({reason})" if reason else "")
    return ModelError(problem(given, advice=f"check it and try again, {advice}"))


def _not_there(index: str, requirement: str, advice: str) -> ModelError:
    return ModelError(problem(f"{index} has no wheel {requirement}", advice=f"set another index, {advice}"))


def _run_pip(arguments: list[str], folder: Path) -> tuple[int, str]:
    """Run pip with its temporary files in `folder`; return its exit status and what it wrote to stderr."""
    places = {name: str(folder) for name in ("TMPDIR", "TEMP", "TMP")}
    result = subprocess.run(
        [sys.executable, "-m", "pip", *arguments],
        env=os.environ | places | {"PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    return result.returncode, result.stderr


# Without pip


def _download_from_index(requirement: str, folder: Path, advice: str) -> Path:
    """Download a wheel without pip; raises ModelError."""
    name, _, version = requirement.partition("==")
    index = index_url(os.environ, Path(sys.prefix))
    listing = f"{index.rstrip('/')}/{name}/"
    shown_index = f"the package index {shown(_without_password(index))}"
    try:
        links = _links(listing)
        link = next((link for link in links if _is_wheel(_file_name(link), name, version)), None)
        if link is None:
            raise _not_there(shown_index, requirement, advice)
        target = folder / _file_name(link)
        _fetch(_with_password(link, index), target)
    except ModelError:
        raise
    except HTTPError as error:
        error.close()
        if error.code == 404:
            raise _not_there(shown_index, requirement, advice) from error
        given = f"{shown_index} answers {error.code} ({error.reason})"
        raise ModelError(problem(given, advice=f"set another index, or its password, {advice}")) from error
    except (OSError, HTTPException, ValueError) as error:  # ValueError: an address that is none
        if _NO_SPACE.search(str(error)):
            raise no_space(folder.parent) from error
        raise _no_connection(shown_index, advice, str(error)) from error
    return target


def index_url(variables: Mapping[str, str], prefix: Path) -> str:
    """Return the address of the package index: from variables, from the settings of uv and pip, or PyPI's.

    `prefix` is the folder of the Python environment, which may have settings of its own.
    """
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"):
        if value := variables.get(name, "").strip():
            return re.sub(r"^[\w.-]+=(?=\w+://)", "", value)  # uv's may have a name
    return next(_indexes_in_files(variables, prefix), PYPI)


def _indexes_in_files(variables: Mapping[str, str], prefix: Path) -> Iterator[str]:
    """Yield the addresses in settings files, those that count most first."""
    for file in _settings_files("uv", "uv.toml", variables, prefix):
        with suppress(OSError, ValueError):
            yield from _uv_indexes(tomllib.loads(file.read_text(encoding="utf-8")))
    for file in _settings_files("pip", "pip.ini" if sys.platform == "win32" else "pip.conf", variables, prefix):
        parser = configparser.RawConfigParser()
        with suppress(OSError, ValueError, configparser.Error):
            parser.read_string(file.read_text(encoding="utf-8-sig"))
            for section in ("download", "install", "global"):
                if value := parser.get(section, "index-url", fallback=""):
                    yield value.strip()


def _uv_indexes(settings: dict[str, Any]) -> Iterator[str]:
    """Yield the default index in uv's settings."""
    tables = settings.get("index", [])
    for value in (
        *(table.get("url") for table in tables if isinstance(table, dict) and table.get("default")),
        settings.get("index-url"),
        settings.get("pip", {}).get("index-url"),
    ):
        if isinstance(value, str):
            yield value


def _settings_files(tool: str, name: str, variables: Mapping[str, str], prefix: Path) -> list[Path]:
    """Return where uv and pip look for their settings, what counts most first."""
    named = [Path(value) for value in [variables.get(f"{tool.upper()}_CONFIG_FILE")] if value]
    home = Path(variables.get("HOME") or variables.get("USERPROFILE") or os.devnull)
    if sys.platform == "win32":
        users = [Path(variables.get("APPDATA") or home / "AppData" / "Roaming") / tool / name, home / tool / name]
        machines = [Path(variables.get("PROGRAMDATA") or r"C:\ProgramData") / tool / name]
    else:
        users = [Path(variables.get("XDG_CONFIG_HOME") or home / ".config") / tool / name, home / f".{tool}" / name]
        folders = (variables.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":")
        machines = [*(Path(folder, tool, name) for folder in folders), Path("/etc", tool, name), Path("/etc", name)]
        if sys.platform == "darwin":
            support = Path("Library", "Application Support", tool, name)
            users, machines = [home / support, *users], [Path("/") / support, *machines]
    return [*named, prefix / name, *users, *machines]


def _links(listing: str) -> list[str]:
    """Return the addresses of a package's files, from the list of them in JSON or HTML.

    Raises OSError, HTTPException or ValueError.
    """
    kinds = "application/vnd.pypi.simple.v1+json, text/html;q=0.2"
    with _opened(listing, {"Accept": kinds}) as answer:
        text, base = answer.read(_LARGEST_LIST), answer.url
        is_json = "json" in answer.headers.get_content_type()
    if is_json:
        found = [str(file["url"]) for file in json.loads(text)["files"]]
    else:
        parser = _LinkParser()
        parser.feed(text.decode("utf-8", errors="replace"))
        found = parser.links
    return [urljoin(base, link) for link in found]


class _LinkParser(HTMLParser):
    """Collects the addresses of a page's links."""

    def __init__(self) -> None:
        super().__init__()
        self.links: Final[list[str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the address of a link."""
        self.links.extend(value for name, value in attrs if tag == "a" and name == "href" and value)


def _fetch(link: str, target: Path) -> None:
    """Download a file; raises OSError, HTTPException or ValueError."""
    with _opened(link, {}) as answer, target.open("wb") as file:
        total = int(answer.headers.get("Content-Length") or 0)
        done = 0
        with ProgressBar(total=total or None) as bar:
            while chunk := answer.read(_CHUNK):
                file.write(chunk)
                done += len(chunk)
                bar.update(done, f"{done / 1e6:.0f} MB")
    if done < total:
        raise ConnectionError(f"{done:,} of {total:,} bytes came")


def _opened(address: str, headers: dict[str, str]) -> Any:
    """Open an address, with the name and password that it may hold; raises as `_links` does."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https"):
        raise ValueError(f"{shown(_without_password(address))} does not begin with https://")
    request = urllib.request.Request(_without_password(address), headers=headers)
    if parts.username is not None:
        words = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        request.add_unredirected_header("Authorization", f"Basic {b64encode(words.encode()).decode('ascii')}")
    return urllib.request.urlopen(request, timeout=_PATIENCE)


def _without_password(address: str) -> str:
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _with_password(link: str, index: str) -> str:
    """Return a link with the name and password that the index has, if it leads to the same machine."""
    parts, own = urlsplit(link), urlsplit(index)
    is_same = (parts.scheme, parts.hostname, parts.port) == (own.scheme, own.hostname, own.port)
    return urlunsplit(parts._replace(netloc=own.netloc)) if is_same and parts.username is None else link


def _is_wheel(file: str, name: str, version: str) -> bool:
    """Return whether a file is a wheel of this package and version; older wheels are named in capitals.

    It is the name of a file in a folder: no slash, however it was quoted, leads out of that.
    """
    words = file.lower().split("-")
    return _WHEEL_NAME.fullmatch(file) is not None and words[:2] == [name, version]


def _file_name(link: str) -> str:
    return unquote(urlsplit(link).path.rpartition("/")[2])
