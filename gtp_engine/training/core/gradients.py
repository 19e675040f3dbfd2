"""Gradients of a batch, each part of it calculated by a thread of its own (`parts`).

    PartedGradients   any network's, of any loss
    Gradients         those of KataGo's kind

Norms take their statistics from a part.  Parts and the order of sums are fixed, so that a run repeats exactly.
"""

from collections.abc import Callable
from copy import deepcopy
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

import torch
from torch import Tensor, nn

from gtp_engine.training.core.data_parallel import PartThreads
from gtp_engine.training.core.devices import Machine
from gtp_engine.training.distillation.batches import Batch
from gtp_engine.training.distillation.losses import Losses, losses_of
from gtp_engine.training.distillation.train_config import LossWeights
from gtp_engine.training.nets import NetworkModule


class Splittable(Protocol):
    """A batch of N positions, its tensors' first dimension."""

    @property
    def planes(self) -> Tensor: ...  # noqa: D102

    def split(self, parts: int) -> list[Self]:
        """Return the batch in up to `parts` parts of about the same size, none of them empty."""
        ...

    def to(self, device: torch.device) -> Self:
        """Return the batch on `device`."""
        ...


Module = TypeVar("Module", bound=nn.Module)
Positions = TypeVar("Positions", bound=Splittable)


class PartedGradients(Generic[Module, Positions]):
    """Calculates the gradients of `module` in `parts` threads; a context manager.

    `figures` returns the loss of a part, its mean over the positions, and whatever else is to be told, as a vector
    that begins with the loss.  Copies of the module share its weights and have statistics of their own, if there are
    any, which are averaged after each step while it `counts_statistics`.
    """

    def __init__(
        self,
        module: Module,
        machine: Machine,
        figures: Callable[[Module, Positions], Tensor],
        *,
        parts: int,
        counts_statistics: bool = True,
    ) -> None:
        self._module = module
        self._machine = machine
        self._figures = figures
        self.counts_statistics = counts_statistics
        self._parameters = list(module.parameters())
        self.copies = [_sharing_copy(module) for _ in range(parts)]
        self._threads = PartThreads(machine, parts)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._threads.close()

    def write(self, batch: Positions) -> Tensor:
        """Write the gradients of `batch` into the module's weights; return its figures."""
        parts = batch.split(len(self.copies))
        found = self._threads.map(self._calculate, self.copies, parts)
        shares = [len(part.planes) / len(batch.planes) for part in parts]
        for i, parameter in enumerate(self._parameters):
            parameter.grad = _weighted_sum([gradients[i] for gradients, _ in found], shares)
        if self.counts_statistics:
            self._average_statistics(len(parts))
        return _weighted_sum([figures for _, figures in found], shares)

    def _calculate(self, module: Module, part: Positions) -> tuple[tuple[Tensor, ...], Tensor]:
        """Return the gradients of a part, and its figures."""
        figures = self._figures(module, part.to(self._machine.device))
        gradients = torch.autograd.grad(figures[0], self._parameters)
        return gradients, figures.detach()

    @torch.no_grad()
    def _average_statistics(self, used: int) -> None:
        """Give the module and all copies the mean statistics of the first `used` copies."""
        for buffer, *theirs in zip(self._module.buffers(), *(copy.buffers() for copy in self.copies), strict=True):
            buffer.copy_(torch.stack(theirs[:used]).mean(dim=0))
            for each in theirs:
                each.copy_(buffer)


class Gradients:
    """Calculates the gradients of a network of KataGo's kind, see `PartedGradients`; a context manager."""

    def __init__(self, module: NetworkModule, machine: Machine, weights: LossWeights, *, parts: int) -> None:
        scales = module.network.scales
        self._module = module

        def figures(copy: NetworkModule, part: Batch) -> Tensor:
            losses = losses_of(machine.run(copy, part.planes, part.globals), part, scales)
            return torch.stack([losses.total(weights), *losses])

        self._parted = PartedGradients(
            module, machine, figures, parts=parts, counts_statistics=module.counts_statistics
        )

    def __enter__(self) -> "Gradients":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._parted.__exit__(kind, error, trace)

    def count_statistics(self, counts: bool) -> None:
        """Have norms take their statistics from batches, or leave them as they are."""
        for module in (self._module, *self._parted.copies):
            module.count_statistics(counts)
        self._parted.counts_statistics = counts

    def write(self, batch: Batch) -> tuple[Tensor, Losses]:
        """Write the gradients of `batch` into the module's weights; return the loss and its parts."""
        total, *losses = self._parted.write(batch)
        return total, Losses(*losses)


def _sharing_copy(module: Module) -> Module:
    """Return a copy of `module` that has the very same weights, and its own statistics."""
    return deepcopy(module, {id(parameter): parameter for parameter in module.parameters()})


def _weighted_sum(tensors: list[Tensor], shares: list[float]) -> Tensor:
    total = tensors[0] * shares[0]
    for tensor, share in zip(tensors[1:], shares[1:], strict=True):
        total.add_(tensor, alpha=share)
    return total
