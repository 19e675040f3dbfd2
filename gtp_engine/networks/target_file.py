"""The file that a conversion or a quantization writes, checked before the work."""

from pathlib import Path

from gtp_engine.errors import ModelError, problem, shown_path
from gtp_engine.files import check_writable


def check_target(target: Path, *, source: Path) -> None:
    """Raise ModelError if `target` cannot be written, or is the file `source` that is read, which would be lost."""
    if target.exists() and source.exists() and target.samefile(source):
        raise ModelError(problem(f"{shown_path(target)} is the network itself", expected="another file to write"))
    try:
        check_writable(target)
    except OSError as error:
        raise not_written(target, error) from error


def not_written(target: Path, error: OSError) -> ModelError:
    """Return the error for a network file that could not be written."""
    return ModelError(f"network file {shown_path(target)} cannot be written ({error.strerror})")
