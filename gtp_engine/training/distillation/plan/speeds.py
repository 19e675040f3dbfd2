"""How fast this machine evaluates and trains a network: measured with random positions, before the time is divided.

SpeedTrials   trials on one machine: `choose_training` tells in which batches, compiled or not, a network trains
              fastest, `compile_teacher` has a teacher compiled, if that is faster
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import torch

from gtp_engine.nn.katago_inputs import GLOBALS, PLANES
from gtp_engine.training.core import devices
from gtp_engine.training.core.devices import Machine, threads_on
from gtp_engine.training.core.optimizer import Optimizer, ParallelGradients
from gtp_engine.training.distillation.batches import SampleBatch
from gtp_engine.training.distillation.distillation_settings import DistillationLearning, LossWeights
from gtp_engine.training.distillation.module_files import TorchModel, untrained_module
from gtp_engine.training.distillation.run import figures_of
from gtp_engine.training.distillation.shards import BoardSides
from gtp_engine.training.nets.network_module import NetworkModule
from gtp_engine.training.nets.new import WITH_ERRORS, Shape

_MEASURED_SHARE: Final = 0.1
"""Boards with a smaller share of the batches are not measured."""
_SMALLEST_BATCH: Final = 2
_WARM_UP_CALLS: Final = 2
_LEAST_CALLS: Final = 2
_WORTHWHILE: Final = 1.25
"""Larger batches must be so many times as fast to be worth fewer steps."""
_LARGEST_GROWTH: Final = 4
"""Times that batches may be larger than planned."""
_NOTICEABLE: Final = 1.05
"""Times that something compiled must be as fast."""


class TrainingSpeed(NamedTuple):
    """How a network trains fastest."""

    batch: int
    compiled: bool
    samples_per_second: float


def main_boards(shares: Mapping[BoardSides, float]) -> dict[BoardSides, float]:
    """Return the boards with the largest shares, which sum to 1."""
    largest = max(shares.values())
    main = {board: share for board, share in shares.items() if share >= min(largest, _MEASURED_SHARE)}
    return {board: share / sum(main.values()) for board, share in main.items()}


@dataclass(frozen=True)
class SpeedTrials:
    """Trials on a machine, each of about `seconds` on each main board; `log` receives what was found."""

    machine: Machine
    shares: Mapping[BoardSides, float]
    """Of the boards."""
    seconds: float
    log: Callable[[str], None]

    def choose_training(self, shape: Shape, *, batch: int, compiled: str) -> TrainingSpeed:
        """Return how a network trains fastest, beginning with batches of `batch`.

        Batches are halved while memory is too small, and on a GPU doubled while that is worthwhile.  `compiled` is as
        in `PlanSettings`.
        """
        speed = 0.0
        while not speed:
            try:
                speed = self.training(shape, batch=batch, compiled=False)
            except torch.OutOfMemoryError:
                if batch < 2 * _SMALLEST_BATCH:
                    raise
                batch //= 2
                self.log(f"{shape.title}: memory is too small, batches of {batch}")
                torch.cuda.empty_cache()
        self.log(f"{shape.title} trains {speed:,.0f} samples/s in batches of {batch}")
        has_gpu = self.machine.device.type == "cuda"
        for _ in range(_LARGEST_GROWTH.bit_length() - 1 if has_gpu else 0):
            try:
                larger = self.training(shape, batch=2 * batch, compiled=False)
            except torch.OutOfMemoryError:
                torch.cuda.empty_cache()
                break
            self.log(f"{shape.title} trains {larger:,.0f} samples/s in batches of {2 * batch}")
            if larger < _WORTHWHILE * speed:
                break
            batch, speed = 2 * batch, larger
        if compiled == "off" or (compiled == "auto" and not has_gpu):
            return TrainingSpeed(batch, False, speed)
        try:
            faster = self.training(shape, batch=batch, compiled=True)
        except Exception as error:  # the compiler's kinds are many, and without it everything works
            self.log(f"{shape.title} is not compiled: {_first_line(error)}")
            return TrainingSpeed(batch, False, speed)
        self.log(f"{shape.title} trains {faster:,.0f} samples/s compiled")
        if compiled == "auto" and faster < _NOTICEABLE * speed:
            return TrainingSpeed(batch, False, speed)
        return TrainingSpeed(batch, True, faster)

    def compile_teacher(self, model: TorchModel, *, rows: int, compiled: str) -> None:
        """Have a teacher compiled if `compiled`, as in `PlanSettings`, wants it and, for "auto", if that is faster."""
        eager = self.evaluation(model, rows)
        self.log(f"{model.info.name} evaluates {eager:,.0f} positions/s in calls of {rows}")
        if compiled == "off" or (compiled == "auto" and model.machine.device.type != "cuda"):
            return
        undo = model.compile()
        try:
            faster = self.evaluation(model, rows)
        except Exception as error:  # as above
            undo()
            self.log(f"{model.info.name} is not compiled: {_first_line(error)}")
            return
        self.log(f"{model.info.name} evaluates {faster:,.0f} positions/s compiled")
        if compiled == "auto" and faster < _NOTICEABLE * eager:
            undo()

    def evaluation(self, model: TorchModel, rows: int) -> float:
        """Return the positions per second that a network evaluates in calls of `rows`."""
        rng = np.random.default_rng(1)
        each = 0.0
        for (width, height), share in main_boards(self.shares).items():
            bits = rng.integers(256, size=(rows, PLANES, -(-width * height // 8)), dtype=np.uint8)
            globals_ = np.zeros((rows, GLOBALS), dtype=np.float32)

            def call(
                bits: np.ndarray = bits, globals_: np.ndarray = globals_, width: int = width, height: int = height
            ) -> None:
                model.run_bits(bits, globals_, width, height)

            each += share * self._seconds_of(call) / rows
        return 1 / each

    def training(self, shape: Shape, *, batch: int, compiled: bool) -> float:
        """Return the samples per second in batches of `batch`.

        Raises torch.OutOfMemoryError if the batches are too large, and what compiling raises.
        """
        module = untrained_module(shape, name=shape.title, seed=1, outputs=WITH_ERRORS)
        module.count_statistics(True)
        self.machine.place(module).train()
        optimizer = Optimizer(module, DistillationLearning.optimizer, weight_decay=0.0)
        figures, machine = devices.compiled(figures_of) if compiled else figures_of, self.machine
        threads = threads_on(machine)
        machine.use_threads(threads)

        def figures_here(module: NetworkModule, batch: SampleBatch) -> torch.Tensor:
            found: torch.Tensor = figures(module, batch, machine, LossWeights())
            return found

        each = 0.0
        with ParallelGradients(module, machine, figures_here, threads=threads) as gradients:
            for board, share in main_boards(self.shares).items():
                positions = random_batch(board, batch, machine.device)

                def step(positions: SampleBatch = positions) -> None:
                    gradients.write(positions)
                    optimizer.step(1e-4)

                each += share * self._seconds_of(step) / batch
        return 1 / each

    def _seconds_of(self, call: Callable[[], None]) -> float:
        """Return the mean duration of `call`, called for about `seconds` after a warm-up."""
        for _ in range(_WARM_UP_CALLS):
            call()
        self._wait()
        began, calls = time.perf_counter(), 0
        while calls < _LEAST_CALLS or time.perf_counter() - began < self.seconds:
            call()
            calls += 1
            if calls % _LEAST_CALLS == 0:
                self._wait()
        self._wait()
        return (time.perf_counter() - began) / calls

    def _wait(self) -> None:
        """Wait until the device has done everything."""
        if self.machine.device.type == "cuda":
            torch.cuda.synchronize(self.machine.device)


def random_batch(board: BoardSides, count: int, device: torch.device) -> SampleBatch:
    """Return `count` positions of noise with labels of noise, on the device."""
    width, height = board
    area = width * height
    generator = torch.Generator().manual_seed(1)

    def noise(*sizes: int) -> torch.Tensor:
        return torch.rand(count, *sizes, generator=generator)

    policy, optimistic = (noise(area + 1).softmax(dim=1) for _ in range(2))
    batch = SampleBatch(
        planes=(noise(PLANES, height, width) < 0.2).to(torch.uint8),
        globals=noise(GLOBALS),
        policy=policy,
        value=noise(3).softmax(dim=1),
        score=noise(6),
        ownership=2 * noise(area) - 1,
        optimistic=optimistic,
        ranks=torch.zeros((count, 2), dtype=torch.int8),
    )
    return batch.to(device)


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {(str(error).strip() or 'no message').splitlines()[0]}"
