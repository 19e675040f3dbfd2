"""Files of a run that cannot be written: one sentence, whatever the file is."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gtp_engine.errors import TengenError, problem, shown_path


@contextmanager
def writing(path: Path, kind: type[TengenError], what: str) -> Iterator[None]:
    """Raise an error of `kind` where the block, which writes `path`, raises OSError; `what` says what the path is."""
    try:
        yield
    except OSError as error:
        given = f"cannot write {what} {shown_path(path)}: {error.strerror or error}"
        raise kind(problem(given, advice="make room there, or name another folder")) from error
