"""The log of a run: a file of JSON lines, which a continued run goes on with, and TensorBoard if it is wanted.

{"kind": "step", "fraction": …, "steps": …, "samples": …, "seconds": …, "learning_rate": …, "gradient": …,
 "loss": …, "losses": {"policy": …, …}, "samples_per_second": …}
{"kind": "judged", "steps": …, "samples": …, "seconds": …, "boards": {"9x9": {"policy_kl": …, …}}}
"""

from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

from gtp_engine.errors import ConfigError, problem
from gtp_engine.training.core.line_log import LineLog
from gtp_engine.training.distillation.batches import Board
from gtp_engine.training.distillation.trainer import Progress
from gtp_engine.training.distillation.validation import Verdict


class Log:
    """Writes the lines of a run; a context manager.  `after` as in `LineLog`."""

    def __init__(self, folder: Path, *, after: int = 0, tensorboard: bool = False) -> None:
        self._lines = LineLog(folder, after=after)
        self._tensorboard = _tensorboard(folder, after) if tensorboard else None

    def __enter__(self) -> "Log":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lines.close()
        if self._tensorboard is not None:
            self._tensorboard.close()

    def stepped(self, progress: Progress) -> None:
        """Write a line about steps."""
        self._lines.write({"kind": "step", **progress._asdict()})
        scalars = {f"loss/{name}": value for name, value in progress.losses.items()}
        names = ("loss", "learning_rate", "gradient", "samples_per_second")
        self._show(scalars | {f"train/{name}": getattr(progress, name) for name in names}, progress.samples)

    def judged(self, progress: Progress, verdicts: dict[Board, Verdict]) -> None:
        """Write a line about held-out positions."""
        boards = {f"{width}x{height}": asdict(verdict) for (width, height), verdict in verdicts.items()}
        place = {name: getattr(progress, name) for name in ("steps", "samples", "seconds")}
        self._lines.write({"kind": "judged", **place, "boards": boards})
        scalars = {f"{name}/{board}": value for board, values in boards.items() for name, value in values.items()}
        self._show(scalars, progress.samples)

    def _show(self, scalars: dict[str, float], samples: int) -> None:
        if self._tensorboard is not None:
            for name, value in scalars.items():
                self._tensorboard.add_scalar(name, value, samples)


def _tensorboard(folder: Path, after: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise ConfigError(problem("TensorBoard is missing", advice='pip install "gtp-engine[train]"')) from error
    return SummaryWriter(str(folder / "tensorboard"), purge_step=after or None)
