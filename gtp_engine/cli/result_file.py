"""Files that commands write beside what they print."""

from pathlib import Path

from gtp_engine.errors import ConfigError, problem, shown_path
from gtp_engine.files import replacing


def write_result(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; raises ConfigError where that is impossible."""
    try:
        with replacing(path) as unfinished:
            unfinished.write_bytes(content)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(
            problem(f"cannot write {shown_path(path)}: {reason}", advice="name a file elsewhere")
        ) from error
