"""Files that commands write beside what they print."""

from pathlib import Path
from typing import Final

from gtp_engine.errors import ConfigError, problem, shown_path
from gtp_engine.files import check_writable, replacing

_ADVICE: Final = "name a file elsewhere"


def check_result(path: Path, advice: str = _ADVICE) -> None:
    """Raise ConfigError if a file cannot be written; to be called before the work that takes minutes."""
    try:
        check_writable(path)
    except OSError as error:
        raise _cannot_write(path, error, advice) from error


def write_result(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; raises ConfigError where that is impossible."""
    try:
        with replacing(path) as unfinished:
            unfinished.write_bytes(content)
    except OSError as error:
        raise _cannot_write(path, error, _ADVICE) from error


def _cannot_write(path: Path, error: OSError, advice: str) -> ConfigError:
    return ConfigError(problem(f"cannot write {shown_path(path)}: {error.strerror or error}", advice=advice))
