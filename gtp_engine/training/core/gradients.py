"""Gradients of a batch, computed by data-parallel threads, each with a share of the positions.

Norms take their statistics from one share.  The shares and the order of sums are fixed, so that a run repeats exactly.
"""

from collections.abc import Callable
from copy import deepcopy
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

import torch
from torch import Tensor, nn

from gtp_engine.training.core.data_parallel import ParallelThreads
from gtp_engine.training.core.devices import Machine
from gtp_engine.training.nets.layers import NormLayer


class Splittable(Protocol):
    """A batch of N positions, its tensors' first dimension."""

    @property
    def planes(self) -> Tensor: ...  # noqa: D102

    def split(self, shares: int) -> list[Self]:
        """Return the batch in up to `shares` shares of about the same size, none of them empty."""
        ...

    def to(self, device: torch.device) -> Self:
        """Return the batch on `device`."""
        ...


Module = TypeVar("Module", bound=nn.Module)
Positions = TypeVar("Positions", bound=Splittable)


class ParallelGradients(Generic[Module, Positions]):
    """Computes the gradients of `module` in `threads` threads; a context manager.

    `figures` returns means over the positions of a share as a vector that begins with the loss.  Each of several
    threads has a copy of the module that shares its weights and has statistics of its own; these are averaged after
    each step while norms count them (`count_statistics`; at first as the module does).
    """

    def __init__(
        self, module: Module, machine: Machine, figures: Callable[[Module, Positions], Tensor], *, threads: int
    ) -> None:
        self._module = module
        self._machine = machine
        self._figures = figures
        self._parameters = list(module.parameters())
        self._copies = [_sharing_copy(module) for _ in range(threads)] if threads > 1 else [module]
        self._counts = any(norm.counts for norm in _norms(module))
        self._threads = ParallelThreads(machine, threads)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._threads.close()

    def count_statistics(self, counts: bool) -> None:
        """Have norms take their statistics from batches, or leave them as they are."""
        if counts != self._counts:
            for module in (self._module, *self._copies):
                for norm in _norms(module):
                    norm.counts = counts
            self._counts = counts

    def write(self, batch: Positions) -> Tensor:
        """Write the gradients of `batch` into the module's parameters; return its figures."""
        shares = batch.split(len(self._copies))
        results = self._threads.map(self._compute, self._copies, shares)
        weights = [len(share.planes) / len(batch.planes) for share in shares]
        for i, parameter in enumerate(self._parameters):
            parameter.grad = _weighted_sum([gradients[i] for gradients, _ in results], weights)
        if self._counts and len(self._copies) > 1:
            self._average_statistics(len(shares))
        return _weighted_sum([figures for _, figures in results], weights)

    def _compute(self, module: Module, share: Positions) -> tuple[tuple[Tensor, ...], Tensor]:
        """Return the gradients of a share, and its figures."""
        figures = self._figures(module, share.to(self._machine.device))
        gradients = torch.autograd.grad(figures[0], self._parameters)
        return gradients, figures.detach()

    @torch.no_grad()
    def _average_statistics(self, used: int) -> None:
        """Give the module and all copies the mean statistics of the first `used` copies."""
        buffers = (self._module.buffers(), *(copy.buffers() for copy in self._copies))
        for buffer, *of_copies in zip(*buffers, strict=True):
            buffer.copy_(torch.stack(of_copies[:used]).mean(dim=0))
            for each in of_copies:
                each.copy_(buffer)


def _norms(module: nn.Module) -> list[NormLayer]:
    return [layer for layer in module.modules() if isinstance(layer, NormLayer)]


def _sharing_copy(module: Module) -> Module:
    """Return a copy of `module` that has the very same weights, and its own statistics."""
    return deepcopy(module, {id(parameter): parameter for parameter in module.parameters()})


def _weighted_sum(tensors: list[Tensor], weights: list[float]) -> Tensor:
    if len(tensors) == 1:
        return tensors[0]
    total = tensors[0] * weights[0]
    for tensor, weight in zip(tensors[1:], weights[1:], strict=True):
        total.add_(tensor, alpha=weight)
    return total
