"""The device that torch computes on, the precision, and threads that share the positions of a batch.

Positions/s of training b6c96 on one core of a Xeon with AMX, in float32 / bfloat16: 9×9 306 / 776, 13×13 146 / 403,
19×19 70 / 200.  With instructions up to AVX512-BF16 only (`ONEDNN_MAX_CPU_ISA`), bfloat16 was slower than float32:
298 / 206, 149 / 99, 66 / 46; with fewer, several times so.

torch's own threads meet after every operation, hundreds of times a step: on a machine with other work two of them were
slower than one (training b6c96, 9×9, two busy cores: 160 positions/s, one thread 470, two shares 590; on idle cores 780
one thread, 1370 two shares).  Games of a network of 7 layers with 64 filters took 89 s instead of 5.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast

import torch
import torch.fx.experimental._config
from torch import Tensor, nn

from gtp_engine.base.errors import ConfigError
from gtp_engine.base.machine import available_cores, describe_machine

MOST_THREADS: Final = 8
"""Threads at most: Python itself runs on one core, and steers all of them."""

_FAST_BFLOAT16: Final = "amx_bf16"
"""The instruction set that makes training in bfloat16 faster than in float32."""


Module = TypeVar("Module", bound=nn.Module)
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Machine:
    """A device and the number format of convolutions and products; weights and sums are always float32."""

    device: torch.device
    precision: str
    threads: int
    """Of the processor."""

    @property
    def title(self) -> str:
        """For people: "cpu in bfloat16"."""
        return f"{self.device} in {self.precision}"

    @property
    def shares(self) -> int:
        """How many threads should share the positions of a batch."""
        return min(self.threads, MOST_THREADS) if self.device.type == "cpu" else 1

    def use_threads(self, shares: int = 1) -> None:
        """Have torch use `threads / shares` threads for operations of the calling thread."""
        torch.set_num_threads(max(1, self.threads // shares))

    def place(self, module: Module) -> Module:
        """Return `module`, moved to the device, its filters with channels last, as convolutions are fastest."""
        module.to(self.device)
        for parameter in module.parameters():
            if parameter.ndim == 4:
                parameter.data = parameter.data.contiguous(memory_format=torch.channels_last)
        return module

    def run(self, module: nn.Module, planes: Tensor, *others: Tensor) -> Any:
        """Return the outputs of a network for `planes` [N, P, H, W] of any type and its other inputs, on the device."""
        is_half = self.precision == "bfloat16"
        planes = planes.to(torch.bfloat16 if is_half else torch.float32, memory_format=torch.channels_last)
        # torch shares its cache of converted weights among threads, and each weight is used only once anyway
        with torch.autocast(self.device.type, torch.bfloat16, enabled=is_half, cache_enabled=False):
            return module(planes, *others)

    def pool(self) -> ThreadPoolExecutor:
        """Return threads that each run a whole network on a share of the positions; torch's are divided among them."""
        return ThreadPoolExecutor(self.shares, "data-parallel", initializer=self.use_threads, initargs=(self.shares,))


def choose_machine(device: str, precision: str, *, threads: int = 0) -> Machine:
    """Return the machine to compute on, with `threads` threads (0: one for each core).

    Raises ConfigError for a device that does not exist.
    """
    has_cuda = torch.cuda.is_available()
    if device == "cuda" and not has_cuda:
        raise ConfigError("device cuda", expected="a CUDA device", advice="use --device cpu")
    chosen = torch.device("cuda" if device != "cpu" and has_cuda else "cpu")
    if precision == "auto":
        if chosen.type == "cuda":
            is_fast = torch.cuda.is_bf16_supported()
        else:
            is_fast = _FAST_BFLOAT16 in (describe_machine()["simd"] or ())
        precision = "bfloat16" if is_fast else "float32"
    return Machine(chosen, precision, threads or available_cores())


def compiled(function: Function) -> Function:
    """Return a function or module compiled for tensors of any size: one compilation serves all boards.

    Without the setting, torch would assume that sizes that are equal once always are, and compile again for the first
    board that is not a square.
    """
    torch.fx.experimental._config.use_duck_shape = False
    return cast("Function", torch.compile(function, dynamic=True))
