"""The pool of opponents: earlier versions of a network, as files of weights named by the iteration they are from."""

from pathlib import Path
from typing import Final

import numpy as np
import torch

from gtp_engine.errors import ModelError, problem, shown_path
from gtp_engine.training.alphago.nets import PolicyNet

_SUFFIX: Final = ".pt"


class Pool:
    """The versions in a folder; `numbers` are theirs, ascending."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder: Final = folder
        self.numbers = sorted(int(path.stem) for path in folder.glob(f"*{_SUFFIX}") if path.stem.isdecimal())

    def add(self, number: int, net: PolicyNet) -> None:
        """Take in the weights of `net` as version `number`."""
        path = self._path(number)
        unfinished = path.with_name(path.name + ".part")
        torch.save(net.state_dict(), unfinished)
        unfinished.replace(path)
        self.numbers = sorted({*self.numbers, number})

    def draw(self, rng: np.random.Generator) -> int:
        """Return the number of any version; raises ModelError if there is none."""
        if not self.numbers:
            raise ModelError(problem(f"no versions in {shown_path(self._folder)}", advice="begin the run anew"))
        return int(rng.choice(self.numbers))

    def load(self, number: int, net: PolicyNet) -> None:
        """Give `net` the weights of a version; raises ModelError if its file is gone or damaged."""
        path = self._path(number)
        try:
            net.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
        except Exception as error:  # what torch raises for a damaged file is of many kinds
            raise ModelError(
                problem(f"cannot read version {shown_path(path)} ({error})", advice="delete it")
            ) from error

    def forget(self, *, after: int) -> None:
        """Drop versions from iterations later than `after`: the run was cut off and will make them again."""
        for number in [number for number in self.numbers if number > after]:
            self._path(number).unlink()
            self.numbers.remove(number)

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:06}{_SUFFIX}"
