"""Gradients of a batch, each part of it calculated by a thread of its own.

torch's own threads meet after every operation, hundreds of times a step: on a machine that does anything else two of
them were slower than one (b6c96, 9×9, two busy cores: 160 positions/s, one thread 470).  Here a thread goes through the
whole network with its part of the batch, and all meet once a step (590 positions/s; on idle cores 780 each, 1370 both).

Norms take their statistics from a part.  Parts and the order of sums are fixed, so that a run repeats exactly.
"""

from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from types import TracebackType
from typing import Final

import torch
from torch import Tensor

from gtp_engine.training.batches import Batch
from gtp_engine.training.config import LossWeights
from gtp_engine.training.devices import Machine
from gtp_engine.training.losses import Losses, losses_of
from gtp_engine.training.nets import NetworkModule

MOST_PARTS: Final = 8
"""Parts of a batch at most: Python itself runs on one core, and steers all parts."""


class Gradients:
    """Calculates the gradients of `module` in `parts` threads; a context manager.

    Copies of the module share its weights and have statistics of their own, which are averaged after each step.
    """

    def __init__(self, module: NetworkModule, machine: Machine, weights: LossWeights, *, parts: int) -> None:
        self._module = module
        self._machine = machine
        self._weights = weights
        self._parameters = list(module.parameters())
        self._copies = [_sharing_copy(module) for _ in range(parts)]
        self._pool = ThreadPoolExecutor(parts, "gradients", initializer=lambda: machine.use_threads(parts))

    def __enter__(self) -> "Gradients":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown()

    def write(self, batch: Batch) -> tuple[Tensor, Losses]:
        """Write the gradients of `batch` into the module's weights; return the loss and its parts."""
        parts = batch.split(len(self._copies))
        found = list(self._pool.map(self._calculate, self._copies, parts))
        shares = [len(part.planes) / len(batch.planes) for part in parts]
        for i, parameter in enumerate(self._parameters):
            parameter.grad = _weighted_sum([gradients[i] for gradients, _ in found], shares)
        if self._module.counts_statistics:
            self._average_statistics(len(parts))
        figures = _weighted_sum([figures for _, figures in found], shares)
        return figures[0], Losses(*figures[1:])

    def _calculate(self, module: NetworkModule, part: Batch) -> tuple[tuple[Tensor, ...], Tensor]:
        """Return the gradients of a part, and its loss with all parts of that."""
        part = part.to(self._machine.device)
        outputs = self._machine.run(module, part.planes, part.globals)
        losses = losses_of(outputs, part, self._module.network.scales)
        total = losses.total(self._weights)
        gradients = torch.autograd.grad(total, self._parameters)
        return gradients, torch.stack([total, *losses]).detach()

    @torch.no_grad()
    def _average_statistics(self, used: int) -> None:
        """Give the module and all copies the mean statistics of the first `used` copies."""
        for buffer, *theirs in zip(self._module.buffers(), *(copy.buffers() for copy in self._copies), strict=True):
            buffer.copy_(torch.stack(theirs[:used]).mean(dim=0))
            for each in theirs:
                each.copy_(buffer)


def _sharing_copy(module: NetworkModule) -> NetworkModule:
    """Return a copy of `module` that has the very same weights, and its own statistics."""
    return deepcopy(module, {id(parameter): parameter for parameter in module.parameters()})


def _weighted_sum(tensors: list[Tensor], shares: list[float]) -> Tensor:
    total = tensors[0] * shares[0]
    for tensor, share in zip(tensors[1:], shares[1:], strict=True):
        total.add_(tensor, alpha=share)
    return total
