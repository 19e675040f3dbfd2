"""Files of JSON lines about the steps of a run, which a continued run goes on with."""

import json
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

FILE_NAME: Final = "log.jsonl"


class LineLog:
    """Writes JSON lines, each with its "steps"; a context manager.

    `after` is the step that a continued run goes on from.  Lines about later steps, from a run that was cut off behind
    its last checkpoint, are dropped.
    """

    def __init__(self, folder: Path, *, after: int = 0) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / FILE_NAME
        kept = [line for line in read_log(path) if line["steps"] <= after]
        path.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
        self._file = path.open("a", encoding="utf-8")

    def write(self, line: dict[str, Any]) -> None:
        """Write a line at once."""
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a log; none if there is no file, and not the last one if it was cut off."""
    if not path.exists():
        return []
    whole = path.read_text(encoding="utf-8").rpartition("\n")[0]
    return [json.loads(line) for line in whole.splitlines()]
