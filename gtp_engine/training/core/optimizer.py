"""How weights change: gradients, the steps of the optimizer, and the average of the weights.

    ParallelGradients   gradients of a batch
    Optimizer           steps of all weights of a module
    BatchedMuon         `torch.optim.Muon`, the matrices of one shape together
    Average             the mean of the last weights, which plays better than the weights of any single step

Gradients are computed by data-parallel threads, each with a share of the positions.  Norms take their statistics from
one share.  The shares and the order of sums are fixed, so that a run repeats exactly.

The optimizer is Muon for filters and matrices, Adam for everything else.
Muon's step is the orthogonal matrix nearest to the mean gradient, so that all directions of a layer learn equally fast
(Jordan et al., "Muon: An optimizer for hidden layers in neural networks", 2024); a filter counts as a matrix
of its outputs by the inputs that each output sums.

Tried without gain: Muon for the blocks of the trunk only, as KataGo has it, and Adam for input and heads.  b3c48 on 9×9
after 48,000 samples, one run each: KL from the teacher 0.597 instead of 0.590, winrate error 0.138 instead of 0.135,
lead error 4.7 instead of 4.5 points, same first move 53.5% instead of 50.5% (of 1,100 positions).
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any, Final, Generic, Self, TypeVar, cast

import torch
from torch import Tensor, nn

from gtp_engine.training.core.devices import Machine
from gtp_engine.training.nets.layers import norms_of

_BETAS: Final = (0.9, 0.99)
"""Adam's averages: the second covers 100 steps, because the learning rate changes all the time."""

_RMS_OF_ADAM: Final = 0.2
"""Root mean square of Adam's steps, which "match_rms_adamw" of torch.optim.Muon gives to those of Muon."""

_WEIGHT_DIMENSIONS: Final = (2, 4)
"""Of matrices and filters; the frequencies of a transformer's rotation have 3, and are no linear map."""

_MEAN_GRADIENT: Final = "momentum_buffer"
"""The name that torch.optim.Muon has for the running mean of a matrix's gradients, which a checkpoint keeps."""

_SHARE_AT_FIRST: Final = 10
"""At step s the average covers s / 10 steps, up to its final number of steps."""


PositionBatch = tuple[Tensor, ...]
"""A NamedTuple of tensors about N positions, their first dimension; the planes come first."""

Module = TypeVar("Module", bound=nn.Module)
Positions = TypeVar("Positions", bound=PositionBatch)


def split(batch: Positions, shares: int) -> list[Positions]:
    """Return a batch in up to `shares` shares of about the same size, none of them empty."""
    parts = [tensor.tensor_split(min(shares, len(batch[0]))) for tensor in batch]
    return [_like(batch, share) for share in zip(*parts, strict=True)]


def on_device(batch: Positions, device: torch.device) -> Positions:
    """Return a batch on `device`."""
    return _like(batch, [tensor.to(device, non_blocking=True) for tensor in batch])


def _like(batch: Positions, tensors: Iterable[Tensor]) -> Positions:
    """Return other tensors as a batch of the same type."""
    return cast("Positions", cast(Any, type(batch))._make(tensors))


class ParallelGradients(Generic[Module]):
    """Computes the gradients of `module` in the threads of the machine; a context manager.

    Each thread but the first has a copy of the module that shares its weights and has statistics of its own; these are
    averaged after each step in which norms count them.
    """

    def __init__(self, module: Module, machine: Machine) -> None:
        self._machine = machine
        self._parameters = trained(module)
        shared = {id(parameter): parameter for parameter in module.parameters()}  # each copy has its own statistics
        self._modules = [module, *(deepcopy(module, {**shared}) for _ in range(machine.shares - 1))]
        self._norms = [norm for each in self._modules for norm in norms_of(each)]
        self._pool = machine.pool()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def write(
        self, batch: Positions, figures_of: Callable[[Module, Positions], Tensor], *, counts: bool = False
    ) -> Tensor:
        """Write the gradients of `batch` into the module's parameters; return its figures.

        `figures_of` returns those of a share, means over its positions, as a vector that begins with the loss.  If it
        `counts`, norms take their statistics from the batch; otherwise they leave them as they are.
        """
        for norm in self._norms:
            norm.counts = counts

        def compute(module: Module, share: Positions) -> tuple[tuple[Tensor, ...], Tensor]:
            figures = figures_of(module, on_device(share, self._machine.device))
            return torch.autograd.grad(figures[0], self._parameters), figures.detach()

        shares = split(batch, len(self._modules))
        results = list(self._pool.map(compute, self._modules, shares))
        weights = [len(share[0]) / len(batch[0]) for share in shares]
        for i, parameter in enumerate(self._parameters):
            parameter.grad = _weighted_sum([gradients[i] for gradients, _ in results], weights)
        if counts and len(self._modules) > 1:
            self._average_statistics(len(shares))
        return _weighted_sum([figures for _, figures in results], weights)

    @torch.no_grad()
    def _average_statistics(self, used: int) -> None:
        """Give the module and all copies the mean statistics of the first `used` of them."""
        for buffers in zip(*(module.buffers() for module in self._modules), strict=True):
            mean = torch.stack(buffers[:used]).mean(dim=0)
            for buffer in buffers:
                buffer.copy_(mean)


def trained(module: nn.Module) -> list[nn.Parameter]:
    """Return the parameters of a module that are not frozen."""
    return [parameter for parameter in module.parameters() if parameter.requires_grad]


def _weighted_sum(tensors: list[Tensor], weights: list[float]) -> Tensor:
    if len(tensors) == 1:
        return tensors[0]
    total = tensors[0] * weights[0]
    for tensor, weight in zip(tensors[1:], weights[1:], strict=True):
        total.add_(tensor, alpha=weight)
    return total


class Optimizer:
    """Steps of a module's weights along the gradients in its parameters; `kind` is one of `learning.OPTIMIZERS`.

    `weight_decay` applies to filters and matrices, not to scales, biases and frequencies.  The module must be on its
    device already.
    """

    def __init__(self, module: nn.Module, kind: str, weight_decay: float) -> None:
        parameters = trained(module)
        weights = [parameter for parameter in parameters if parameter.ndim in _WEIGHT_DIMENSIONS]
        others = [parameter for parameter in parameters if parameter.ndim not in _WEIGHT_DIMENSIONS]
        self._matrices: list[tuple[nn.Parameter, nn.Parameter]] = []
        groups: list[dict[str, Any]] = [{"params": others, "weight_decay": 0.0}]
        self._parts: dict[str, torch.optim.Optimizer] = {}
        if kind == "muon":
            self._matrices = [(weight, nn.Parameter(_as_matrix(weight.data))) for weight in weights]
            matrices = [matrix for _, matrix in self._matrices]
            assert all(weight.data_ptr() == matrix.data_ptr() for weight, matrix in self._matrices), "views, not copies"
            # steps as large as Adam's, so that one learning rate fits both
            self._parts["Muon"] = BatchedMuon(matrices, weight_decay=weight_decay, adjust_lr_fn="match_rms_adamw")
        else:
            groups.append({"params": weights, "weight_decay": weight_decay})
        self._parts["AdamW"] = torch.optim.AdamW(groups, betas=_BETAS, fused=True)

    def step(self, learning_rate: float) -> None:
        """Do one step."""
        for weight, matrix in self._matrices:
            assert weight.grad is not None, "every weight has a gradient"
            matrix.grad = _as_matrix(weight.grad)
        for part in self._parts.values():
            for group in part.param_groups:
                group["lr"] = learning_rate
            part.step()

    def state_dict(self) -> dict[str, Any]:
        """Return the state, for a checkpoint."""
        return {name: part.state_dict() for name, part in self._parts.items()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore a state that an optimizer of the same kind returned."""
        for name, part in self._parts.items():
            part.load_state_dict(state[name])


class BatchedMuon(torch.optim.Muon):
    """`torch.optim.Muon`, but the matrices of one shape are made orthogonal together.

    A GPU spends longer starting the operations for each matrix of a small network than on carrying them out.
    """

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Do one step."""
        assert closure is None, "gradients are computed beforehand"
        for group in self.param_groups:
            by_shape: dict[tuple[int, ...], list[Tensor]] = defaultdict(list)
            for matrix in group["params"]:
                by_shape[tuple(matrix.shape)].append(matrix)
            for matrices in by_shape.values():
                self._step_of_shape(matrices, group)

    def _step_of_shape(self, matrices: list[Tensor], group: dict[str, Any]) -> None:
        """Do the step of the matrices of one shape."""
        gradients = [matrix.grad for matrix in matrices if matrix.grad is not None]
        assert len(gradients) == len(matrices), "every matrix has a gradient"
        for matrix in matrices:
            if _MEAN_GRADIENT not in self.state[matrix]:
                self.state[matrix][_MEAN_GRADIENT] = torch.zeros_like(matrix)
        means = [self.state[matrix][_MEAN_GRADIENT] for matrix in matrices]
        torch._foreach_lerp_(means, gradients, 1 - group["momentum"])
        steps = torch._foreach_lerp(gradients, means, group["momentum"]) if group["nesterov"] else means
        orthogonal = _orthogonal(torch.stack(list(steps)), group["ns_coefficients"], group["ns_steps"], group["eps"])
        rate = group["lr"] * _RMS_OF_ADAM * math.sqrt(max(matrices[0].shape))
        torch._foreach_mul_(matrices, 1 - group["lr"] * group["weight_decay"])
        torch._foreach_add_(matrices, list(orthogonal.float().unbind()), alpha=-rate)


def _orthogonal(matrices: Tensor, coefficients: tuple[float, float, float], steps: int, epsilon: float) -> Tensor:
    """Return about the nearest orthogonal matrices [N, O, I], bfloat16, by Newton–Schulz iterations."""
    linear, cubic, quintic = coefficients
    found = matrices.bfloat16()
    is_tall = found.shape[1] > found.shape[2]
    if is_tall:
        found = found.mT
    found = found / found.norm(dim=(1, 2), keepdim=True).clamp(min=epsilon)
    for _ in range(steps):
        gram = found @ found.mT
        found = torch.baddbmm(found, torch.baddbmm(gram, gram, gram, beta=cubic, alpha=quintic), found, beta=linear)
    return found.mT if is_tall else found


def _as_matrix(weights: Tensor) -> Tensor:
    """Return weights [O, I] as they are, filters [O, I, H, W] as [O, H · W · I]: no copy if channels lie last."""
    return weights if weights.ndim == 2 else weights.permute(0, 2, 3, 1).flatten(1)


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
