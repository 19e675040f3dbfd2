"""One run of a stage: where it writes, how it reports, when it stops, and what its file is called."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gtp_engine.progress import ProgressBar
from gtp_engine.training.core.runs import never


@dataclass(frozen=True)
class StageRun:
    """A run in the folder `out`; a stage continues an earlier run in the same folder."""

    out: Path
    bar: ProgressBar
    is_stopped: Callable[[], bool] = never
    name: str = ""
    """The name in the exported file; "": one made of the network's size."""
    terms: str = ""
    """The licence of the weights in the exported file."""
