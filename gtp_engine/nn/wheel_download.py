"""Downloads a wheel by pip, from the package index that the user's tools are configured to use.

pip knows about indexes, proxies, certificates and passwords; the cause of a failure is read from its messages, because
its exit status is always 1.  Environments that uv makes have no pip; there the one runs that Python brings for new
environments (https://docs.python.org/3/library/ensurepip.html), or uv fetches one, and the index is that of uv's
variables or settings (https://docs.astral.sh/uv/concepts/configuration-files/), if they name any.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from gtp_engine.base.errors import ModelError, shown

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


def download_wheel(requirement: str, folder: Path) -> Path:
    """Download the wheel of a requirement such as "katrain==1.20.0" into an empty folder; return its path.

    The progress is shown on stderr.  Raises ModelError, with what to do, if that fails.
    """
    advice = f"or download {requirement} elsewhere and give its file: `gtp-engine models get FILE.whl`"
    status, messages = _run_pip(["download", *_OPTIONS, "--dest", str(folder), requirement], folder)
    if status == 0:
        wheels = list(folder.glob("*.whl"))
        if len(wheels) == 1:
            return wheels[0]
        messages = f"it left {len(wheels)} wheels instead of one"
    if _NO_SPACE.search(messages):
        raise no_space(folder.parent)
    if _NO_CONNECTION.search(messages):
        raise ModelError("there is no connection to the package index", advice=f"check it and try again, {advice}")
    if _NOT_THERE.search(messages):
        given = f"the package index that pip uses has no wheel {requirement}"
        raise ModelError(given, advice=f"set another index, or its password, {advice}")
    errors = [line for line in messages.splitlines() if line.startswith("ERROR")] or messages.splitlines()[-1:]
    raise ModelError(f"pip failed: {shown(' '.join(errors), length=300)}", advice=f"try again, {advice}")


def no_space(folder: Path, needed: int = 0) -> ModelError:
    """Return the error for a full disk; `needed` is in bytes, 0 if unknown."""
    return ModelError(
        f"the disk that holds {folder} is full",
        expected=f"{needed / 1e6:,.0f} MB free" if needed else "",
        advice="make room, or set TENGEN_DATA_DIR to a folder on another disk",
    )


def _run_pip(arguments: list[str], folder: Path) -> tuple[int, str]:
    """Run pip with its temporary files in `folder`; return its exit status and what it wrote to stderr."""
    settings = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder)) | {"PYTHONIOENCODING": "utf-8"}
    if find_spec("pip") is None and (index := uv_index()):
        settings["PIP_INDEX_URL"] = index
    result = subprocess.run(
        [*pip_command(), *arguments],
        env=os.environ | settings,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    return result.returncode, result.stderr


def pip_command() -> list[str]:
    """Return the words that run pip: this environment's, or one for new environments; raises ModelError without any."""
    if find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    ensurepip = find_spec("ensurepip")
    places = [sysconfig.get_config_var("WHEEL_PKG_DIR")]  # of distributions that keep it apart
    places += [Path(place, "_bundled") for place in (ensurepip and ensurepip.submodule_search_locations) or ()]
    for place in filter(None, places):
        for wheel in sorted(Path(place).glob("pip-*.whl")):
            return [sys.executable, str(wheel / "pip")]
    if uv := shutil.which("uv"):
        return [uv, "tool", "run", "pip"]
    raise ModelError("pip is missing", advice="install it in the environment of gtp-engine and try again")


def uv_index() -> str | None:
    """Return the address of the package index by uv's variables or settings, None if pip's own settings count."""
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL"):
        if value := os.environ.get(name, "").strip():
            return re.sub(r"^[\w.-]+=(?=\w+://)", "", value)  # it may have a name
    return None if os.environ.get("PIP_INDEX_URL") else next(_indexes_in_settings(), None)


def _indexes_in_settings() -> Iterator[str]:
    """Yield the default indexes in uv's settings, those that count most first."""
    if sys.platform == "win32":
        folders = [os.environ.get("APPDATA"), os.environ.get("PROGRAMDATA")]
    else:
        users = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
        folders = [users, *(os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":"), "/etc"]
    named = os.environ.get("UV_CONFIG_FILE")
    for file in [*filter(None, [named]), *(os.path.join(folder, "uv", "uv.toml") for folder in folders if folder)]:
        with suppress(OSError, ValueError):
            settings: dict[str, Any] = tomllib.loads(Path(file).read_text(encoding="utf-8"))
            tables = [table for table in settings.get("index", []) if isinstance(table, dict)]
            found = [table.get("url") for table in tables if table.get("default")]
            found += [settings.get("index-url"), settings.get("pip", {}).get("index-url")]
            yield from (value for value in found if isinstance(value, str))
