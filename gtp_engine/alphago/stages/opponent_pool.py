"""The pool of opponents: earlier versions of a network, as files of weights named after their iteration."""

from pathlib import Path
from typing import Final

import numpy as np
import torch

from gtp_engine.alphago.stages.nets import PolicyNet
from gtp_engine.errors import ModelError, problem, shown_path
from gtp_engine.files import writing
from gtp_engine.training.core.checkpoint import write_values

_SUFFIX: Final = ".pt"


class OpponentPool:
    """The versions in a folder; `numbers` are their iterations, ascending."""

    def __init__(self, folder: Path) -> None:
        with writing(folder, ModelError, "versions to"):
            folder.mkdir(parents=True, exist_ok=True)
        self._folder: Final = folder
        self.numbers = sorted(int(path.stem) for path in folder.glob(f"*{_SUFFIX}") if path.stem.isdecimal())

    def add(self, number: int, net: PolicyNet) -> None:
        """Add the weights of `net` as version `number`; raises ModelError if the file cannot be written."""
        write_values(self._path(number), net.state_dict(), "version")
        self.numbers = sorted({*self.numbers, number})

    def draw(self, rng: np.random.Generator) -> int:
        """Return the number of a random version; raises ModelError if there is none."""
        if not self.numbers:
            raise ModelError(problem(f"no versions in {shown_path(self._folder)}", advice="start the run again"))
        return int(rng.choice(self.numbers))

    def load(self, number: int, net: PolicyNet) -> None:
        """Load the weights of a version into `net`; raises ModelError if its file is missing or damaged."""
        path = self._path(number)
        try:
            net.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
        except Exception as error:  # torch raises errors of many types for a damaged file
            raise ModelError(
                problem(f"cannot read version {shown_path(path)} ({error})", advice="delete it")
            ) from error

    def drop(self, *, after: int) -> None:
        """Delete versions from iterations later than `after`: an interrupted run will create them again."""
        for number in [number for number in self.numbers if number > after]:
            self._path(number).unlink()
            self.numbers.remove(number)

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:06}{_SUFFIX}"
