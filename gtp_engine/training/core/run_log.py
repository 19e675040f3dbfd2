"""The log of a run: a file of JSON lines, which a resumed run continues, and TensorBoard if it is wanted.

{"kind": "step", "fraction": …, "steps": …, "samples": …, "seconds": …, "learning_rate": …, "gradient": …,
 "figures": {"loss": …, …}, "samples_per_second": …}
{"kind": "validation", "steps": …, "samples": …, "seconds": …, "figures": {"9x9": {"policy_kl": …, …}}}
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from gtp_engine.errors import ConfigError, problem
from gtp_engine.files import replacing
from gtp_engine.training.core.observers import Progress, Validation
from gtp_engine.training.core.writing import writing

FILE_NAME: Final = "log.jsonl"

_OLD_NAME, _NAME = '"win rate":', '"winrate":'
"""What a figure was called in development versions, and is called now."""


class RunLog:
    """Writes JSON lines, each with its "steps"; an observer of a training loop, and a context manager.

    `after` is the step at which a run is resumed: later lines, from a run that was killed after its last checkpoint,
    are dropped.  Raises ConfigError where the log cannot be written.
    """

    def __init__(self, folder: Path, *, after: int = 0, tensorboard: bool = False) -> None:
        self._path = folder / FILE_NAME
        with writing(self._path, ConfigError, "log"):
            folder.mkdir(parents=True, exist_ok=True)
            lines = [line for line in read_log(self._path) if line["steps"] <= after]
            with replacing(self._path) as unfinished:
                unfinished.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
            self._file = self._path.open("a", encoding="utf-8")
        self._tensorboard = _tensorboard(folder, lines) if tensorboard else None

    def write(self, line: dict[str, Any]) -> None:
        """Write a line at once."""
        with writing(self._path, ConfigError, "log"):
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()

    def stepped(self, progress: Progress) -> None:
        """Write a line about steps."""
        self.write({"kind": "step", **progress._asdict()})
        names = ("learning_rate", "gradient", "samples_per_second")
        self._show("train", progress.figures | {name: getattr(progress, name) for name in names}, progress.samples)

    def validated(self, progress: Progress, validation: Validation) -> None:
        """Write a line about a validation."""
        place = {name: getattr(progress, name) for name in ("steps", "samples", "seconds")}
        self.write({"kind": "validation", **place, "figures": validation})
        for name, figures in validation.items():
            self._show(name, figures, progress.samples)

    def _show(self, group: str, figures: dict[str, float], samples: int) -> None:
        if self._tensorboard is not None:
            for name, value in figures.items():
                self._tensorboard.add_scalar(f"{name}/{group}", value, samples)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):  # of a line that could not be written, about which `write` has complained
            self._file.close()
        if self._tensorboard is not None:
            self._tensorboard.close()


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a log; none if there is no file, and not the last one if it is incomplete.

    Figures have the names of now, so that the curves of a run that has been resumed go on.
    """
    if not path.exists():
        return []
    whole = path.read_text(encoding="utf-8").rpartition("\n")[0]
    return [json.loads(line.replace(_OLD_NAME, _NAME)) for line in whole.splitlines()]


def _tensorboard(folder: Path, lines: Sequence[dict[str, Any]]) -> Any:
    """Return what writes for TensorBoard, which goes on after the last of `lines` and hides what came later."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise ConfigError(problem("TensorBoard is missing", advice='pip install "gtp-engine[train]"')) from error
    first = lines[-1]["samples"] + 1 if lines else None
    return SummaryWriter(str(folder / "tensorboard"), purge_step=first)
