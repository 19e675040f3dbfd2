"""One part of a plan: measure, generate, train, finish; whatever happens, it ends with the files to keep.

    report.md                what was done, the tables of agreement, what to do next
    <network>.onnx           the averaged network
    <network>.log.jsonl      the log of its run
    <network>.pt             its checkpoint
    19x19-….npz, …           a shard of held-out positions of each main board, for the calibration of 8 bits

`run_part` runs a part.  `generate` has many workers play games whose positions one device evaluates, `train` trains a
network in a run that continues in the next part and ends by the clock.
"""

import math
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final, NamedTuple

import torch

from gtp_engine.errors import ConfigError, TengenError, counted, problem, shown_path
from gtp_engine.files import copy_whole, writing
from gtp_engine.machine import available_cores, describe_machine
from gtp_engine.selfplay.plans import planner_for
from gtp_engine.selfplay.policy_games import SEARCH_BATCH
from gtp_engine.training.core.checkpoint import CHECKPOINT_FILE, Checkpoint, has_checkpoint, read_checkpoint
from gtp_engine.training.core.devices import Machine, choose_machine
from gtp_engine.training.core.loop import TrainingError, TrainingLoop
from gtp_engine.training.core.reporting import LOG_FILE, run_and_report
from gtp_engine.training.distillation.batches import DeviceMemoryError, SampleBatch, count_positions
from gtp_engine.training.distillation.distillation_settings import (
    DistillationLearning,
    PlannedNetwork,
    PlanSettings,
    TrainConfig,
)
from gtp_engine.training.distillation.evaluation_server import EvaluationServer, RemoteTeacher
from gtp_engine.training.distillation.generate import DataFolder, FolderSettings, Goal, Tally, fill, format_tally
from gtp_engine.training.distillation.labelled_games import SelfPlaySettings, parse_sizes
from gtp_engine.training.distillation.losses import AGREEMENT_HEAD, agreement_row
from gtp_engine.training.distillation.module_files import TorchModel, module_of_file, size_of_file
from gtp_engine.training.distillation.plan.plan_state import PlanPart, PlanState, most_samples
from gtp_engine.training.distillation.plan.speeds import SpeedTrials
from gtp_engine.training.distillation.run import config_of, export_run, new_loop, panels, validate_file
from gtp_engine.training.distillation.shards import HELD_OUT, TRAIN, BoardSides, bytes_of, first_shards, shard_paths
from gtp_engine.training.distillation.workers import Makers, PlayingNetwork, job_of, pooled_blocks
from gtp_engine.training.nets.network_module import NetworkModule

_DATA: Final = "data"
_RESULTS: Final = "results"
_REPORT: Final = "report.md"
"""Two folders in that of the plan, and a file in the second."""
_MAIN_BOARDS: Final = ((19, 19), (13, 13), (9, 9))

_MEASURING_SHARE: Final = 0.002
_MOST_MEASURING: Final = 1.0
"""Share of a part, and the most seconds, of each measurement of a speed on one board."""
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
_TABLE_POSITIONS: Final = 2048
_TEACHER_ROWS: Final = 2048
"""Positions in the calls in which a teacher's speed is measured: what a server thread finds waiting on 16 cores."""

_WORKERS_OF_A_CORE: Final = 2
"""One waits for the device while the other encodes."""
_TEACHER, _PLAYER = 0, 1
"""The numbers of the networks at the server."""

_CHECKPOINT_MINUTES: Final = 2.0
_VALIDATIONS: Final = 6
_VALIDATION_POSITIONS: Final = 512
"""Of each set: with the default boards and both kinds of games 13,000, a few seconds."""
_LOG_STEPS: Final = 100
_SMALLEST_BATCH: Final = 2
_SHORTEST_SECONDS: Final = 1.0


class PlanFiles(NamedTuple):
    """The files of the networks that a plan begins with."""

    teacher: Path
    player: Path | None = None
    """Plays a share of the games."""
    init: Path | None = None
    """Gives its weights to the planned network of its size."""


def run_part(part: PlanPart, files: PlanFiles) -> PlanState:
    """Run one part of a plan and return the plan's state.

    Raises TengenError for files and settings that cannot be used; errors in the work leave what has been reached.
    """
    work = PartWork(part, files)
    for path in (files.teacher, files.player):
        if path is not None and not part.state.generated:
            module_of_file(path)  # an error later would leave a part without positions
    try:
        work.run()
    finally:
        work.finish()
    return part.state


class PartWork:
    """The work of one part: `run` it, then `finish` it."""

    def __init__(self, part: PlanPart, files: PlanFiles) -> None:
        self._part: Final = part
        self._state: Final = part.state
        self._settings: Final = part.settings
        self._files: Final = files
        self._machine: Final = choose_machine(part.settings.device, "auto")
        self._networks: Final = part.settings.planned_networks()
        self._size_of_init: Final = "" if files.init is None else size_of_file(files.init)
        if files.init is not None and self._size_of_init not in (each.title for each in self._networks):
            raise ConfigError(
                problem(
                    f"network {shown_path(files.init)} is a {self._size_of_init}",
                    expected=f"one of the planned sizes, {part.settings.networks}",
                )
            )
        part.state.check_init(files.init)
        self._only_trains = part.state.generated  # until training begins, whose time is then that of a start
        length = part.clock.part
        self._shortest_run: Final = _SHORTEST_RUN * length
        self._trials: Final = SpeedTrials(
            self._machine, parse_sizes(part.settings.sizes), min(_MOST_MEASURING, _MEASURING_SHARE * length), part.log
        )

    def run(self) -> None:
        """Do what is next until the part is over."""
        part, state = self._part, self._state
        part.log(f"{self._machine.title} {_device_name(self._machine)}; {part.clock.length:.0f} s for this part")
        state.parts += 1
        part.record()
        if state.generated and self._lacks_positions():
            state.generated = self._only_trains = False
            state.positions = 0
            part.note("the positions of earlier parts are gone: games are played again")
        for _ in range(_ATTEMPTS):
            if not state.generated and not part.is_over:
                self._generate()
        for planned in self._networks:
            if state.network(planned.title).done:
                continue
            if part.is_over or self._is_for_the_next_part(planned):
                break
            self._train(planned)

    def finish(self) -> None:
        """Export what there is, measure it, and write the results and the plan's state.

        Raises ConfigError if the state cannot be written, after everything else.
        """
        part = self._part
        lines: list[str] = []
        try:
            part.write_state()
        except TengenError as error:
            part.note(str(error))
        runs = {}
        for planned in self._networks:
            run = part.folder / planned.title
            if not has_checkpoint(run):
                continue
            runs[planned.name] = run
            try:
                lines += [f"\n## {planned.name}\n", *self._table(export_run(run, terms=self._settings.license))]
            except TengenError as error:
                part.note(f"{planned.title} could not be exported: {error}")
        results = part.folder / _RESULTS
        try:
            for name in write_results(results, self._report(lines), runs, part.folder / _DATA / HELD_OUT):
                part.log(f"left out of the results: {name}")
        except TengenError as error:
            part.note(str(error))
        part.log(f"part {self._state.parts} took {part.clock.elapsed:.0f} s; results are in {results}")
        part.write_state()

    def _lacks_positions(self) -> bool:
        """Return whether a network is still to be trained, and there is nothing to train it on."""
        shards = self._part.folder / _DATA / TRAIN
        is_done = all(self._state.network(planned.title).done for planned in self._networks)
        return not is_done and not (shards.is_dir() and shard_paths(shards))

    def _generate(self) -> None:
        """Generate positions until training could use no more, or the part is over."""
        part, state, (teacher, player, _) = self._part, self._state, self._files
        memory = _DATA_SHARE * _free_bytes(self._machine)
        models = [TorchModel(path, device=self._settings.device) for path in (teacher, player) if path is not None]

        def is_enough(positions: Counter[BoardSides]) -> bool:
            part.record()  # before it says that all is generated: the last shards are still to be written
            state.generated = self._has_enough(positions.total()) or self._is_full(positions, memory)
            return state.generated or part.is_over

        data = open_folder(self._settings, part.folder / _DATA, models[0])  # nothing has been reached if that fails
        try:
            state.positions, state.positions_per_second = generate(
                part, data, models, is_enough=is_enough, meanwhile=lambda: self._measure(models[0])
            )
        except TengenError as error:
            state.positions = count_positions(part.folder / _DATA / TRAIN).total()
            if not state.positions:
                raise
            state.generated = self._has_enough(state.positions, repeats=_MOST_REPEATS)
            part.note(f"generating ended early: {error}")
        else:
            if not state.generated and self._has_enough(state.positions, repeats=_MOST_REPEATS):
                state.generated = True
                part.note(f"{state.positions:,} positions, fewer than planned, because their part was over")
        finally:
            models.clear()
            torch.cuda.empty_cache()  # what torch keeps for reuse; nothing without a GPU

    def _has_enough(self, positions: int, *, repeats: float = 1.0) -> bool:
        """Return whether that is enough for training, which may see each `repeats` times as often as planned."""
        runs = [(planned.samples, self._state.network(planned.title).speed) for planned in self._networks]
        if not all(speed for _, speed in runs):  # the part was over before they were measured
            return False
        samples = most_samples(runs, self._part.training_left)
        return positions > 0 and positions * repeats * self._settings.epochs >= samples

    def _is_full(self, positions: Counter[BoardSides], memory: float) -> bool:
        """Return whether there is no room for more positions, in the device's `memory` or on the disk, and note it."""
        if not positions.total():
            return False
        if bytes_of(positions) >= memory:
            place = "the device's memory"
        elif shutil.disk_usage(self._part.folder).free < _LEAST_ROOM:
            place = "the disk"
        else:
            return False
        self._part.note(f"{positions.total():,} positions, fewer than planned, because they fill {place}")
        return True

    def _measure(self, teacher: TorchModel) -> None:
        """Measure what the time is divided by; compiling the teacher is worth its time before any games are played.

        What a part that is over has not measured, the next one does.
        """
        if self._part.is_over:
            return
        rows = min(_TEACHER_ROWS, self._settings.games)
        self._trials.compile_teacher(teacher, rows=rows, compiled=self._compiled(self._settings.compiled_teacher))
        for planned in self._networks:
            if not self._state.network(planned.title).speed and not self._part.is_over:
                self._choose_training(planned, compiled="off")

    @property
    def _can_compile(self) -> bool:
        """Whether the part has the time to compile a network and to use it."""
        return self._part.clock.left >= _COMPILING + self._shortest_run

    def _compiled(self, setting: str) -> str:
        """Return whether torch compiles a network that begins now: as the setting says, if there is time for it."""
        return setting if self._can_compile else "off"

    def _is_for_the_next_part(self, planned: PlannedNetwork) -> bool:
        """Return whether this part has too little time left to train a network as planned, and the next one enough."""
        network, setting = self._state.network(planned.title), self._settings.compiled_training
        may_compile = setting == "on" or (setting == "auto" and self._machine.device.type == "cuda")
        compiles = network.compiled if network.samples else may_compile
        needed = self._shortest_run + (_COMPILING if compiles else 0.0)
        part = self._part
        left = part.clock.left
        if left >= needed or self._only_trains or part.clock.next_left(part.startup) < needed:
            return False
        part.log(f"{planned.title} is for the next part: {left:.0f} s are left, {needed:.0f} s are needed")
        return True

    def _train(self, planned: PlannedNetwork) -> None:
        """Train a network until it has its samples, or the part is over."""
        part, title = self._part, planned.title
        network = self._state.network(title)
        if network.samples:
            network.compiled = network.compiled and self._can_compile
        elif part.clock.left >= self._shortest_run or not network.speed:
            self._choose_training(planned, compiled=self._compiled(self._settings.compiled_training))
            if part.is_over:
                return
        seconds, shortest = part.training_left, self._shortest_run
        if not network.samples and seconds < shortest and planned is not self._networks[0]:
            part.note(f"{title} is left out: {seconds:.0f} s are left")
            network.done = True
            return
        if 0 < seconds - (planned.samples - network.samples) / network.speed < shortest:
            planned = planned._replace(samples=0)
        if self._only_trains:
            self._state.startup, self._only_trains = part.clock.elapsed, False
        wanted = f", {planned.samples:,} are wanted" if planned.samples else ""
        part.log(f"{seconds:.0f} s for {title}: about {seconds * network.speed:,.0f} samples{wanted}")
        init = self._files.init if title == self._size_of_init else None
        train(part, planned, seconds=seconds, init=init)

    def _choose_training(self, planned: PlannedNetwork, *, compiled: str) -> None:
        """Measure how a network trains fastest."""
        network = self._state.network(planned.title)
        network.batch, network.compiled, network.speed = self._trials.choose_training(
            planned.shape, batch=self._settings.batch, compiled=compiled
        )

    def _table(self, network: Path) -> list[str]:
        """Return the agreement of a network with the teacher as lines of Markdown."""
        try:
            data, device = self._part.folder / _DATA, self._settings.device
            found = validate_file(network, data, positions=_TABLE_POSITIONS, device=device)
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


def _device_name(machine: Machine) -> str:
    if machine.device.type != "cuda":
        return f"with {counted(machine.threads, 'thread')}"
    return f"({torch.cuda.get_device_name(machine.device)})"


def _free_bytes(machine: Machine) -> float:
    """Return how much memory of a GPU is free; data for a processor are not limited."""
    return torch.cuda.mem_get_info(machine.device)[0] if machine.device.type == "cuda" else math.inf


# Games


def open_folder(settings: PlanSettings, folder: Path, teacher: TorchModel) -> DataFolder:
    """Return the folder that positions go to, uncompressed.

    Raises ShardError where it cannot be read or written, and ConfigError if another teacher labelled its positions.
    """
    info = teacher.info
    data = DataFolder(
        folder,
        info,
        least_seed=settings.seed,
        settings=FolderSettings(held_out=settings.held_out, compressed=False),
    )
    others = [name for digest, name in data.teachers.items() if digest != info.source_sha256]
    if others:
        raise ConfigError(
            problem(
                f"teacher {info.name}",
                expected=f"{others[0]}, by which the positions in {shown_path(folder)} were labelled",
                advice="give that file, or another folder",
            )
        )
    return data


def generate(
    part: PlanPart,
    data: DataFolder,
    models: Sequence[TorchModel],
    *,
    is_enough: Callable[[Counter[BoardSides]], bool],
    meanwhile: Callable[[], None],
) -> tuple[int, float]:
    """Generate positions into `data` until `is_enough`, which is asked every second about those of each board.

    `models` are the teacher and, if there is one, the player.  `meanwhile` is called once, while the first worker
    compiles the kernels.  Returns how many positions are in the folder, those of earlier parts included, and how many
    were new in a second.  Raises WorkerError, and ShardError where a shard cannot be written; the positions so far are
    then in the folder.
    """
    settings, server = part.settings, EvaluationServer(models)
    count = settings.workers or _WORKERS_OF_A_CORE * available_cores()
    workers = [_makers(server, settings, has_player=len(models) > 1) for _ in range(count)]
    games = SelfPlaySettings(
        parse_sizes(settings.sizes),
        data.seed,
        settings.games,
        planner=planner_for(knows_advantage=models[0].info.advantages),
        player_share=settings.player_share,
    )

    def progress(data: DataFolder, tally: Tally) -> None:
        part.bar.update(0.0, f"{data.positions:,} positions, {tally.rate:,.0f}/s")

    with server, pooled_blocks(job_of(workers, games), count, note=part.bar.log) as blocks:
        meanwhile()
        tally = fill(data, blocks, Goal(), progress=progress, is_stopped=lambda: is_enough(data.kept))
    part.bar.log(format_tally(data, tally))
    return data.positions, tally.rate


def _makers(server: EvaluationServer, settings: PlanSettings, *, has_player: bool) -> Makers:
    """Return the networks of a worker, which all ask the server."""
    area = max(width * height for width, height in parse_sizes(settings.sizes))
    rows = max(settings.games, SEARCH_BATCH)
    teacher = RemoteTeacher(server.port(_TEACHER, rows=rows, area=area), settings.looks)
    if not has_player:
        return Makers(teacher)
    asked = RemoteTeacher(server.port(_PLAYER, rows=rows, area=area))
    return Makers(teacher, PlayingNetwork(asked, settings.visits, settings.seed))


# Training


def train(part: PlanPart, planned: PlannedNetwork, *, seconds: float, init: Path | None = None) -> None:
    """Train a network to its samples, or `seconds` more, in this part or later, and note what goes wrong.

    It begins with the network in the file `init`, if one is given.  Its state, which says in which batches, is kept up
    to date.  Where memory is too small, the run goes on from its checkpoint with batches of half the size; if it cannot
    hold the positions, they are read from their shards.
    """
    title = planned.title
    state, folder = part.state.network(title), part.folder / title
    end = part.clock.now() + seconds

    def run_once() -> TrainingLoop[NetworkModule, SampleBatch]:
        """Train from the checkpoint on; what it holds is freed when it fails."""
        checkpoint = read_checkpoint(folder) if has_checkpoint(folder) else None
        config = _config(part, planned, seconds=max(_SHORTEST_SECONDS, end - part.clock.now()))
        config = replace(config, init=init) if checkpoint is None else _continued(config, checkpoint)
        loop = new_loop(config, checkpoint, log=part.bar.log)

        def is_over() -> bool:
            """Return whether the part ends here, after bringing the state up to date."""
            state.samples, state.seconds = loop.samples, loop.seconds
            part.record()
            return part.is_over

        state.done = run_and_report(loop, part.bar, is_over, panels=panels)
        return loop

    while not part.is_over:
        try:
            loop = run_once()
        except torch.OutOfMemoryError:
            if state.batch < 2 * _SMALLEST_BATCH:
                raise
            state.batch //= 2
            part.note(f"{title}: memory was too small, batches of {state.batch} from then on")
        except DeviceMemoryError:
            state.in_memory = False
            part.note(f"{title}: memory was too small for the positions, which are read from shards")
        except TrainingError as error:
            part.note(f"{title}: {error}")
            state.done = True
            return
        else:
            state.samples, state.seconds = loop.samples, loop.seconds
            return
        torch.cuda.empty_cache()


def _config(part: PlanPart, planned: PlannedNetwork, *, seconds: float) -> TrainConfig:
    """Return a run of so many seconds."""
    settings, title = part.settings, planned.title
    state = part.state.network(title)
    learning = DistillationLearning(
        samples=planned.samples,
        minutes=seconds / 60,
        batch=state.batch,
        learning_rate=settings.learning_rate,
        seed=settings.seed,
        device=settings.device,
        compiled=state.compiled,
        checkpoint_minutes=_CHECKPOINT_MINUTES,
        validations=_VALIDATIONS,
        validation_positions=_VALIDATION_POSITIONS,
        log_steps=_LOG_STEPS,
    )
    shares = tuple((*board, share) for board, share in parse_sizes(settings.sizes).items())
    return TrainConfig(
        part.folder / _DATA,
        part.folder / title,
        learning,
        planned.name,
        planned.shape,
        board_shares=shares,
        in_memory=state.in_memory,
    )


def _continued(config: TrainConfig, checkpoint: Checkpoint) -> TrainConfig:
    """Return the run of a checkpoint, and what it began with, with the length and the batches of `config`."""
    before = config_of(checkpoint)
    if before.shape != config.shape:
        raise TrainingError(problem(f"a checkpoint of {before.shape.title}", expected=config.shape.title))
    minutes = checkpoint.seconds / 60 + config.learning.minutes
    return replace(config, init=before.init, learning=replace(config.learning, minutes=minutes))


# Results


def write_results(results: Path, report: str, runs: Mapping[str, Path], held_out: Path) -> list[str]:
    """Write the report and the files of `runs`, folders by name, to `results`; return what the disk left out.

    Files of an earlier part are replaced.  Raises ConfigError if not even the report can be written.
    """
    with writing(results, ConfigError, "results to"):
        results.mkdir(parents=True, exist_ok=True)
        for old in results.iterdir():
            if old.is_file():
                old.unlink()
        (results / _REPORT).write_text(report, encoding="utf-8")
    left_out = []
    for source, name in _files_to_keep(runs, held_out):
        try:
            copy_whole(source, results / name)
        except OSError as error:
            left_out.append(f"{name} ({error.strerror or error})")
    if left_out:
        with writing(results, ConfigError, "results to"), (results / _REPORT).open("a", encoding="utf-8") as file:
            file.write(f"\nLeft out of these files: {', '.join(left_out)}.\n")
    return left_out


def _files_to_keep(runs: Mapping[str, Path], held_out: Path) -> list[tuple[Path, str]]:
    """Return the files that exist and their new names: those of runs, the first held-out shard of each main board."""
    first = first_shards(held_out) if held_out.is_dir() else {}
    wanted = [
        *((folder / f"{name}.onnx", f"{name}.onnx") for name, folder in runs.items()),
        *((folder / LOG_FILE, f"{name}.log.jsonl") for name, folder in runs.items()),
        *((first[board], first[board].name) for board in _MAIN_BOARDS if board in first),
        *((folder / CHECKPOINT_FILE, f"{name}.pt") for name, folder in runs.items()),
    ]
    return [(source, name) for source, name in wanted if source.exists()]
