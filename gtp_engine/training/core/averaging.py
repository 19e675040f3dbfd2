"""The average of a network's weights over the last steps, which plays better than the weights of any single step."""

from copy import deepcopy
from typing import Final, Generic, TypeVar

import torch
from torch import nn

Module = TypeVar("Module", bound=nn.Module)

_SHARE_AT_FIRST: Final = 10
"""At step s the average covers s / 10 steps, up to its final number of steps."""


class Average(Generic[Module]):
    """An exponential moving average of a module's weights and statistics, held by `module`."""

    def __init__(self, module: Module, steps: int) -> None:
        self.module = deepcopy(module).eval().requires_grad_(False)
        self._steps = steps

    @torch.no_grad()
    def add(self, module: Module, step: int) -> None:
        """Add the weights after step number `step`, counted from 1."""
        share = 1 / max(1.0, min(self._steps, step / _SHARE_AT_FIRST))
        means, current = self.module.state_dict(), module.state_dict()
        # all tensors in one call: a GPU would spend longer starting a hundred operations than on carrying them out
        torch._foreach_lerp_(list(means.values()), [current[name] for name in means], share)
