"""One part of a plan: measure, generate, train, finish; whatever happens, it ends with the files to keep."""

import math
import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Final

import torch

from gtp_engine.errors import ConfigError, TengenError, counted, problem, shown_path
from gtp_engine.machine import describe_machine
from gtp_engine.progress import ProgressBar
from gtp_engine.training.core.checkpoint import has_checkpoint
from gtp_engine.training.core.devices import Machine, choose_machine
from gtp_engine.training.distillation.batches import count_positions
from gtp_engine.training.distillation.game_variety import parse_sizes
from gtp_engine.training.distillation.plan.clock import PlanClock, most_samples
from gtp_engine.training.distillation.plan.generation import generate, open_folder
from gtp_engine.training.distillation.plan.learning import train
from gtp_engine.training.distillation.plan.results import write_results
from gtp_engine.training.distillation.plan.settings import PlannedNetwork, PlanSettings
from gtp_engine.training.distillation.plan.speeds import choose_training, compile_teacher
from gtp_engine.training.distillation.plan.state import PlanState, read_state
from gtp_engine.training.distillation.run import export_run, validate_file
from gtp_engine.training.distillation.shards import HELD_OUT, TRAIN, BoardSides, bytes_of, shard_paths
from gtp_engine.training.distillation.start import size_of_file
from gtp_engine.training.distillation.torch_evaluator import TorchModel
from gtp_engine.training.distillation.validation import AGREEMENT_HEAD, agreement_row

_DATA: Final = "data"
_RESULTS: Final = "results"
_FINISH_SHARE: Final = 0.08
_MOST_FINISH: Final = 30.0
"""Share of a part, and the most seconds, that export, tables and files get: a few seconds on an idle machine."""
_MEASURING_SHARE: Final = 0.002
_MOST_MEASURING: Final = 1.0
"""The same for each measurement of a speed on one board."""
_STARTUP_SHARE: Final = 0.1
"""Share of a part that its start is expected to take until that has been measured."""
_SHORTEST_RUN: Final = 0.15
"""Share of a part that is too short for another network; the one before gets that time too."""
_DATA_SHARE: Final = 0.7
"""Share of the device's free memory that positions may fill: training needs the rest."""
_LEAST_ROOM: Final = 512 << 20
"""Bytes that games leave free on the disk: the last shards, checkpoints, networks and results need them."""
_COMPILING: Final = 150.0
"""Seconds that compiling a network may take: nothing can end it when the part is over."""
_MOST_REPEATS: Final = 2.0
"""Times as often as planned that training may see each position before another part begins with games."""
_ATTEMPTS: Final = 2
"""Times that a part begins with games: a worker may have been killed by accident, a second failure is none."""
_RECORD_SECONDS: Final = 10.0
"""Seconds after which the state is written again, so that a part that is killed counts."""
_TABLE_POSITIONS: Final = 2048
_TEACHER_ROWS: Final = 2048
"""Positions in the calls in which a teacher's speed is measured: what a server thread finds waiting on 16 cores."""


def run_part(
    settings: PlanSettings,
    folder: Path,
    teacher: Path,
    player: Path | None,
    bar: ProgressBar,
    is_stopped: Callable[[], bool],
    *,
    init: Path | None = None,
    began: float | None = None,
) -> PlanState:
    """Run one part of the plan in `folder`, which began at `began` (`time.monotonic`), and return the plan's state.

    The planned network of the size of that in the file `init` begins with its weights.  Raises TengenError for files
    and settings that cannot be used; errors in the work leave what has been reached.
    """
    began = time.monotonic() if began is None else began
    state = read_state(folder, settings)
    part = 60 * settings.part
    finish = min(_MOST_FINISH, _FINISH_SHARE * part)
    clock = PlanClock(began, part, 60 * settings.minutes, state.used, finish)
    work = _Part(settings, folder, state, clock, bar, is_stopped, init=init)
    try:
        work.run(teacher, player)
    finally:
        work.finish()
    return state


class _Part:
    """The work of one part."""

    def __init__(
        self,
        settings: PlanSettings,
        folder: Path,
        state: PlanState,
        clock: PlanClock,
        bar: ProgressBar,
        is_stopped: Callable[[], bool],
        *,
        init: Path | None = None,
    ) -> None:
        self._settings: Final = settings
        self._folder: Final = folder
        self._state: Final = state
        self._clock: Final = clock
        self._bar: Final = bar
        self._is_stopped: Final = is_stopped
        self._machine: Final = choose_machine(settings.device, "auto")
        self._shares: Final[Mapping[BoardSides, float]] = parse_sizes(settings.sizes)
        self._networks: Final = settings.planned_networks()
        self._init: Final = init
        self._size_of_init: Final = "" if init is None else size_of_file(init)
        if init is not None and self._size_of_init not in (each.shape.title for each in self._networks):
            raise ConfigError(
                problem(
                    f"network {shown_path(init)} is a {self._size_of_init}",
                    expected=f"one of the planned sizes, {settings.networks}",
                )
            )
        state.check_init(init)
        self._used_before: Final = state.used
        self._recorded: float | None = None  # seconds of the part, None before the first record
        self._only_trains = state.generated  # until training begins, whose time is then that of a start

    @property
    def _is_over(self) -> bool:
        return self._clock.is_over or self._is_stopped()

    @property
    def _startup(self) -> float:
        """Seconds that the next part is expected to need before it trains."""
        return self._state.startup or _STARTUP_SHARE * self._clock.part

    def run(self, teacher: Path, player: Path | None) -> None:
        """Do what is next until the part is over."""
        self._log(f"{self._machine.title} {_device_name(self._machine)}; {self._clock.length:.0f} s for this part")
        self._state.parts += 1
        self._record()
        if self._state.generated and self._lacks_positions():
            self._state.generated = self._only_trains = False
            self._state.positions = 0
            self._note("the positions of earlier parts are gone: games are played again")
        for _ in range(_ATTEMPTS):
            if not self._state.generated and not self._is_over:
                self._generate(teacher, player)
        for planned in self._networks:
            if self._state.network(planned.shape.title).done:
                continue
            if self._is_over or self._is_for_the_next_part(planned):
                break
            self._train(planned)

    def finish(self) -> None:
        """Export what there is, measure it, and write the results and the plan's state.

        Raises ConfigError if the state cannot be written, after everything else.
        """
        state = self._state
        lines: list[str] = []
        state.used = self._used_before + self._clock.elapsed
        try:
            state.write(self._folder)
        except TengenError as error:
            self._note(str(error))
        runs = []
        for planned in self._networks:
            run = self._folder / planned.shape.title
            if not has_checkpoint(run):
                continue
            runs.append((planned.name, run))
            try:
                lines += [f"\n## {planned.name}\n", *self._table(export_run(run, terms=self._settings.license))]
            except TengenError as error:
                self._note(f"{planned.shape.title} could not be exported: {error}")
        results = self._folder / _RESULTS
        try:
            left_out = write_results(results, self._report(lines), runs, self._folder / _DATA / HELD_OUT)
        except TengenError as error:
            self._note(str(error))
        else:
            for name in left_out:
                self._log(f"left out of the results: {name}")
        self._log(f"part {state.parts} took {self._clock.elapsed:.0f} s; results are in {results}")
        state.used = self._used_before + self._clock.elapsed
        state.write(self._folder)

    def _record(self) -> None:
        """Write the plan's state, unless that was done a moment ago."""
        elapsed = self._clock.elapsed
        if self._recorded is not None and elapsed - self._recorded < _RECORD_SECONDS:
            return
        self._recorded, self._state.used = elapsed, self._used_before + elapsed
        with suppress(ConfigError):  # `finish` writes it once more, and complains
            self._state.write(self._folder)

    def _lacks_positions(self) -> bool:
        """Return whether a network is still to be trained, and there is nothing to train it on."""
        shards = self._folder / _DATA / TRAIN
        is_done = all(self._state.network(planned.shape.title).done for planned in self._networks)
        return not is_done and not (shards.is_dir() and shard_paths(shards))

    def _generate(self, teacher: Path, player: Path | None) -> None:
        """Generate positions until training could use no more, or the part is over."""
        state, settings = self._state, self._settings
        device, memory = settings.device, _DATA_SHARE * _free_bytes(self._machine)
        models = [TorchModel(path, device=device) for path in (teacher, player) if path is not None]

        def is_enough(positions: Counter[BoardSides]) -> bool:
            self._record()  # before it says that all is generated: the last shards are still to be written
            state.generated = self._has_enough(positions.total()) or self._is_full(positions, memory)
            return state.generated or self._is_over

        data = open_folder(settings, self._folder / _DATA, models[0])  # nothing has been reached if that fails
        try:
            found = generate(
                settings,
                data,
                models[0],
                models[1] if player is not None else None,
                is_enough=is_enough,
                meanwhile=lambda: self._measure(models[0]),
                bar=self._bar,
            )
        except TengenError as error:
            state.positions = count_positions(self._folder / _DATA / TRAIN).total()
            if not state.positions:
                raise
            state.generated = self._has_enough(state.positions, repeats=_MOST_REPEATS)
            self._note(f"generating ended early: {error}")
        else:
            state.positions, state.positions_per_second = found
            if not state.generated and self._has_enough(state.positions, repeats=_MOST_REPEATS):
                state.generated = True
                self._note(f"{state.positions:,} positions, fewer than planned, because their part was over")
        finally:
            models.clear()
            _release_memory(self._machine)

    def _has_enough(self, positions: int, *, repeats: float = 1.0) -> bool:
        """Return whether that is enough for training, which may see each `repeats` times as often as planned."""
        runs = [(planned.samples, self._state.network(planned.shape.title).speed) for planned in self._networks]
        if not all(speed for _, speed in runs):  # the part was over before they were measured
            return False
        samples = most_samples(runs, self._clock.training_left(self._startup))
        return positions > 0 and positions * repeats * self._settings.epochs >= samples

    def _is_full(self, positions: Counter[BoardSides], memory: float) -> bool:
        """Return whether there is no room for more positions, in the device's `memory` or on the disk, and note it."""
        if not positions.total():
            return False
        if bytes_of(positions) >= memory:
            self._note(f"{positions.total():,} positions, fewer than planned, because they fill the device's memory")
            return True
        if shutil.disk_usage(self._folder).free < _LEAST_ROOM:
            self._note(f"{positions.total():,} positions, fewer than planned, because they fill the disk")
            return True
        return False

    def _measure(self, teacher: TorchModel) -> None:
        """Measure what the time is divided by; compiling the teacher is worth its time before any games are played.

        What a part that is over has not measured, the next one does.
        """
        if self._is_over:
            return
        compile_teacher(
            teacher,
            self._shares,
            compiled=self._compiled(self._settings.compiled_teacher),
            rows=min(_TEACHER_ROWS, self._settings.games),
            seconds=self._measuring_seconds,
            log=self._log,
        )
        for planned in self._networks:
            if not self._state.network(planned.shape.title).speed and not self._is_over:
                self._choose_training(planned, compiled="off")

    @property
    def _shortest_run(self) -> float:
        return _SHORTEST_RUN * self._clock.part

    @property
    def _can_compile(self) -> bool:
        """Whether the part has the time to compile a network and to use it."""
        return self._clock.left >= _COMPILING + self._shortest_run

    def _compiled(self, setting: str) -> str:
        """Return whether torch compiles a network that begins now: as the setting says, if there is time for it."""
        return setting if self._can_compile else "off"

    def _is_for_the_next_part(self, planned: PlannedNetwork) -> bool:
        """Return whether this part has too little time left to train a network as planned, and the next one enough."""
        network, setting = self._state.network(planned.shape.title), self._settings.compiled_training
        may_compile = setting == "on" or (setting == "auto" and self._machine.device.type == "cuda")
        compiles = network.compiled if network.samples else may_compile
        needed = self._shortest_run + (_COMPILING if compiles else 0.0)
        left = self._clock.left
        if left >= needed or self._only_trains or self._clock.next_left(self._startup) < needed:
            return False
        self._log(f"{planned.shape.title} is for the next part: {left:.0f} s are left, {needed:.0f} s are needed")
        return True

    def _train(self, planned: PlannedNetwork) -> None:
        """Train a network until it has its samples, or the part is over."""
        state = self._state
        network = state.network(planned.shape.title)
        if network.samples:
            network.compiled = network.compiled and self._can_compile
        elif self._clock.left >= self._shortest_run or not network.speed:
            self._choose_training(planned, compiled=self._compiled(self._settings.compiled_training))
            if self._is_over:
                return
        seconds = self._clock.training_left(self._startup)
        shortest = self._shortest_run
        if not network.samples and seconds < shortest and planned is not self._networks[0]:
            self._note(f"{planned.shape.title} is left out: {seconds:.0f} s are left")
            network.done = True
            return
        if 0 < seconds - (planned.samples - network.samples) / network.speed < shortest:
            planned = planned._replace(samples=0)
        if self._only_trains:
            state.startup, self._only_trains = self._clock.elapsed, False
        wanted = f", {planned.samples:,} are wanted" if planned.samples else ""
        self._log(f"{seconds:.0f} s for {planned.shape.title}: about {seconds * network.speed:,.0f} samples{wanted}")
        data, folder = self._folder / _DATA, self._folder / planned.shape.title
        state.notes += train(
            planned,
            network,
            self._settings,
            data,
            folder,
            init=self._init if planned.shape.title == self._size_of_init else None,
            seconds=seconds,
            clock=self._clock,
            is_stopped=self._is_stopped,
            record=self._record,
            bar=self._bar,
        )

    def _choose_training(self, planned: PlannedNetwork, *, compiled: str) -> None:
        """Measure how a network trains fastest."""
        network = self._state.network(planned.shape.title)
        network.batch, network.compiled, network.speed = choose_training(
            planned.shape,
            self._shares,
            self._machine,
            batch=self._settings.batch,
            compiled=compiled,
            seconds=self._measuring_seconds,
            log=self._log,
        )

    @property
    def _measuring_seconds(self) -> float:
        return min(_MOST_MEASURING, _MEASURING_SHARE * self._clock.part)

    def _table(self, network: Path) -> list[str]:
        """Return the agreement of a network with the teacher as lines of Markdown."""
        try:
            found = validate_file(
                network, self._folder / _DATA, positions=_TABLE_POSITIONS, device=self._settings.device
            )
        except TengenError as error:
            return [f"No table: {error}"]
        return [AGREEMENT_HEAD, *(agreement_row(place, agreement) for place, agreement in found.items())]

    def _report(self, lines: list[str]) -> str:
        """Return what was done as Markdown."""
        state, settings = self._state, self._settings
        networks = [
            f"- {title}: {each.samples:,} samples in {each.seconds:.0f} s, batches of {each.batch}"
            f"{', compiled' if each.compiled else ''}{', done' if each.done else ''}"
            for title, each in state.networks.items()
        ]
        return "\n".join(
            [
                f"# A plan of {settings.minutes:g} minutes: part {state.parts}, {state.used:.0f} s used\n",
                f"- {self._machine.title} {_device_name(self._machine)}, {describe_machine()['processor']}",
                f"- {state.positions:,} positions, {state.positions_per_second:,.0f} a second",
                *networks,
                *(f"- {note}" for note in state.notes),
                *lines,
                "\n## Settings\n",
                *(f"    {name} = {value}" for name, value in asdict(settings).items()),
                "",
            ]
        )

    def _note(self, text: str) -> None:
        """Log what did not go as planned, and keep it for the report."""
        self._state.notes.append(text)
        self._log(text)

    def _log(self, text: str) -> None:
        self._bar.log(f"{self._clock.elapsed:6.1f} s  {text}")


def _device_name(machine: Machine) -> str:
    if machine.device.type != "cuda":
        return f"with {counted(machine.threads, 'thread')}"
    return f"({torch.cuda.get_device_name(machine.device)})"


def _free_bytes(machine: Machine) -> float:
    """Return how much memory of a GPU is free; data for a processor are not limited."""
    return torch.cuda.mem_get_info(machine.device)[0] if machine.device.type == "cuda" else math.inf


def _release_memory(machine: Machine) -> None:
    """Give memory that torch keeps for reuse back to the device."""
    if machine.device.type == "cuda":
        torch.cuda.empty_cache()
