"""The plan of half an hour in miniature: the same steps on a processor, with networks that know nothing."""

import errno
import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from training.needs_torch import torch
from training.toy import tiny_module, write_data

from gtp_engine.cli import cli
from gtp_engine.errors import ConfigError, ModelError, WorkerError
from gtp_engine.nn.onnx_model import read_info
from gtp_engine.progress import ProgressBar
from gtp_engine.training.core.checkpoint import read_checkpoint
from gtp_engine.training.core.devices import choose_machine
from gtp_engine.training.core.loop import TrainingLoop
from gtp_engine.training.core.runs import never
from gtp_engine.training.distillation.distillation_settings import MOST_SEEDS, PlannedNetwork, PlanSettings
from gtp_engine.training.distillation.module_files import export_network, untrained_module
from gtp_engine.training.distillation.plan.plan_state import (
    RESERVE,
    NetworkState,
    PlanClock,
    PlanPart,
    PlanState,
    begin_part,
    most_samples,
    read_state,
)
from gtp_engine.training.distillation.plan.run_part import (
    PartWork,
    PlanFiles,
    run_part,
    train,
    write_results,
)
from gtp_engine.training.distillation.plan.speeds import SpeedTrials, TrainingSpeed, main_boards
from gtp_engine.training.distillation.shards import ShardError, bytes_of, is_of_player, read_shard, shard_paths
from gtp_engine.training.nets.new import WITH_ERRORS, Shape

MINIATURE = PlanSettings(
    minutes=40,
    part=20,  # never reached: every step ends by its amount of work
    networks="b1c6=96,b2c6=64",
    sizes="5=2,4x3=1",
    epochs=1e9,  # any number of positions is enough
    workers=1,  # so that the first block is always the same
    games=8,
    held_out=0.25,
    batch=16,
    device="cpu",
    compiled="off",
    license="MIT",
)


class Log(ProgressBar):
    """Keeps the lines of the log."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def log(self, text: str) -> None:
        self.lines.append(text)

    def has(self, text: str) -> bool:
        return any(text in line for line in self.lines)


def run_plan(
    folder: Path, log: Log, teacher: Path, player: Path | None = None, *, init: Path | None = None,
    is_stopped: Callable[[], bool] = never,
) -> PlanState:  # fmt: skip
    """Run the next part of MINIATURE in a folder."""
    return run_part(begin_part(MINIATURE, folder, log, is_stopped), PlanFiles(teacher, player, init))


def work_of(
    folder: Path, log: Log, times: PlanClock, *, settings: PlanSettings = MINIATURE, state: PlanState | None = None,
    is_stopped: Callable[[], bool] = never,
) -> PartWork:  # fmt: skip
    """Return the work of a part with a clock of its own."""
    state = read_state(folder, settings) if state is None else state
    return PartWork(PlanPart(settings, folder, state, times, log, is_stopped), PlanFiles(folder))


@pytest.mark.long
def test_a_plan_in_miniature(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted after the games, it goes on, survives a lack of memory, and leaves the files to take home."""
    teacher, folder = tmp_path / "teacher.onnx", tmp_path / "plan"
    export_network(tiny_module(), teacher, name="teacher", origin="", terms="")
    init, first = tmp_path / "init.onnx", MINIATURE.planned_networks()[0]
    begun = untrained_module(first.shape, name="init", seed=2, outputs=WITH_ERRORS).eval()
    export_network(begun, init, name="init", origin="", terms="")
    with Log() as log:
        state = run_plan(folder, log, teacher, teacher, init=init, is_stopped=lambda: log.has("new positions in"))
    assert state.generated and state.positions > 0 and not state.networks["b1c6"].samples
    games = [read_shard(path)[0].game for path in shard_paths(folder / "data" / "train")]
    assert {bool(flag) for each in games for flag in is_of_player(each)} == {False, True}
    assert log.has("evaluates") and log.has("b1c6 trains") and (folder / "results" / "report.md").exists()

    step, failures = TrainingLoop._step, iter([None, None, torch.OutOfMemoryError()])

    def failing_step(*arguments: object) -> None:
        if error := next(failures, None):
            raise error
        step(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(TrainingLoop, "_step", failing_step)
    with Log() as log:
        state = run_plan(folder, log, teacher, teacher, init=init)
    assert [network.done for network in state.networks.values()] == [True, True] and state.parts == 2
    assert state.networks["b1c6"].batch == 8 and "batches of 8" in state.notes[0]
    assert [network.samples for network in state.networks.values()] == [96, 64]
    assert read_checkpoint(folder / "b1c6").samples == state.networks["b1c6"].samples
    results = {path.name for path in (folder / "results").iterdir()}
    assert {"report.md", "tengen-b1c6.onnx", "tengen-b2c6.onnx", "tengen-b1c6.log.jsonl"} <= results
    trained = [read_info(folder / "results" / f"tengen-{title}.onnx") for title in ("b1c6", "b2c6")]
    assert {info.license for info in trained} == {"MIT"}
    assert [info.model_version for info in trained] == [8, 8], "the teacher has no labels for the errors of `init`"
    assert log.has("init.onnx begins without its expected errors")
    report = (folder / "results" / "report.md").read_text(encoding="utf-8")
    assert "| 5×5 |" in report and "| 5×5, games of the player |" in report and "memory was too small" in report


def test_a_plan_begins_with_a_network_of_a_planned_size(tmp_path: Path) -> None:
    init = tmp_path / "init.onnx"
    shape = PlanSettings(networks="b3c6").planned_networks()[0].shape
    export_network(untrained_module(shape, name="init", seed=1).eval(), init, name="init", origin="", terms="")
    with (
        Log() as log,
        pytest.raises(ConfigError, match=r"init.onnx' is a b3c6: expected .* sizes, b1c6"),
    ):
        run_plan(tmp_path, log, init, init=init)


@pytest.mark.parametrize(
    ("is_interrupted", "is_done", "status", "message"),
    [
        (False, False, 0, "16.0 minutes are left: the same command runs the next part.\n"),
        (True, False, 130, "Interrupted; 16.0 minutes are left: the same command runs the next part.\n"),
        (True, True, 0, ""),
    ],
)
def test_an_interrupted_plan_tells_a_script_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_interrupted: bool, is_done: bool, status: int, message: str
) -> None:
    """What follows in the script would otherwise begin with an unfinished network."""
    monkeypatch.chdir(tmp_path)

    def run_part(*_: object) -> PlanState:
        if is_interrupted:
            signal.raise_signal(signal.SIGTERM)
        return PlanState({}, used=60 * 4.0, networks={"b1c6": NetworkState(done=is_done)})

    monkeypatch.setattr("gtp_engine.training.distillation.plan.run_part.run_part", run_part)
    flags = ("--teacher=teacher.onnx", "--minutes=20", "--networks=b1c6")
    done = CliRunner().invoke(cli, ["train", "plan", "folder", *flags])
    assert (done.exit_code, done.stderr) == (status, message)


def test_flags_without_effect_are_refused() -> None:
    done = CliRunner().invoke(cli, ["train", "plan", "folder", "--teacher=net", "--visits=8"])
    assert done.exit_code == 2
    assert "--visits has no effect without --player: leave it out." in " ".join(done.stderr.split())


def test_a_run_that_cannot_be_exported_is_taken_home_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def export_run(folder: Path, *, terms: str) -> Path:
        raise ModelError(f"{folder.name} differs")

    monkeypatch.setattr("gtp_engine.training.distillation.plan.run_part.export_run", export_run)
    (tmp_path / "b1c6").mkdir()
    for name in ("checkpoint.pt", "log.jsonl"):
        (tmp_path / "b1c6" / name).touch()
    with Log() as log:
        work_of(tmp_path, log, clock(100.0)).finish()
    results = {path.name for path in (tmp_path / "results").iterdir()}
    assert results == {"report.md", "tengen-b1c6.log.jsonl", "tengen-b1c6.pt"}
    assert log.has("b1c6 could not be exported: b1c6 differs")


def clock(now: float, **changes: float) -> PlanClock:
    values = {"began": 100.0, "part": 540.0, "total": 1620.0, "used": 0.0, "finish": 30.0} | changes
    return PlanClock(**values, now=lambda: now)


def test_a_part_ends_before_its_time() -> None:
    assert clock(100.0).left == pytest.approx(540 * (1 - RESERVE) - 30)
    assert not clock(590.0).is_over and clock(600.0).is_over
    assert clock(100.0, used=1500.0).left == pytest.approx(120 * (1 - RESERVE) - 30), "the last part is short"
    assert clock(100.0, used=1620.0).is_over


def test_training_has_the_time_of_all_parts_but_their_starts_and_ends() -> None:
    """Whole parts after this one lose their start, their end and their reserve."""
    alone = clock(100.0, used=1080.0).training_left(60.0)
    three = clock(100.0).training_left(60.0)
    assert alone == pytest.approx(0.97 * (540 * 0.98 - 30))
    assert three == pytest.approx(alone + 0.97 * 2 * (540 * 0.98 - 30 - 60))


def test_the_next_part_is_shorter_by_its_start_and_its_end() -> None:
    assert clock(100.0).next_left(60.0) == pytest.approx(540 * (1 - RESERVE) - 30 - 60)
    assert clock(100.0, total=700.0).next_left(60.0) == pytest.approx(160 * (1 - RESERVE) - 30 - 60)
    assert clock(100.0, used=1080.0).next_left(60.0) == 0, "there is none"


class Beginning:
    """A part whose games are over `elapsed` seconds after its beginning: how its networks are chosen and trained."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, choosing: float = 0.0) -> None:
        self.chosen: list[tuple[str, str]] = []
        self.trained: list[str] = []
        self._now = 0.0
        self._folder = tmp_path
        write_data(tmp_path / "data", (5, 5))

        def choose(trials: SpeedTrials, shape: Shape, *, batch: int, compiled: str) -> TrainingSpeed:
            self._now += choosing
            self.chosen.append((shape.title, compiled))
            return TrainingSpeed(16, compiled == "on", 100.0)

        def train(part: PlanPart, planned: PlannedNetwork, **_: object) -> None:
            self.trained.append(planned.title)

        monkeypatch.setattr(SpeedTrials, "choose_training", choose)
        monkeypatch.setattr("gtp_engine.training.distillation.plan.run_part.train", train)

    def __call__(self, elapsed: float, *, used: float = 0.0, only_trains: bool = False) -> None:
        settings = replace(MINIATURE, compiled="on", networks="b1c6")
        state = read_state(self._folder, settings)
        state.generated = only_trains
        self._now = 100.0 + elapsed
        times = PlanClock(100.0, 540.0, 1620.0, used, 30.0, now=lambda: self._now)
        with Log() as log:
            work = work_of(self._folder, log, times, settings=settings, state=state)
            state.generated = True
            work.run()


def test_nothing_begins_in_a_part_that_it_would_not_end_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling cannot be ended: 150 seconds are for it, and 81 for a run that is worth it."""
    begin = Beginning(tmp_path, monkeypatch)
    begin(260.0)
    assert (begin.chosen, begin.trained) == ([("b1c6", "on")], ["b1c6"])
    begin(300.0)
    assert len(begin.chosen) == 1, "it is for the next part"
    begin(300.0, only_trains=True)
    assert begin.chosen.pop() == ("b1c6", "off"), "the next part would begin as late"
    begin(300.0, used=1080.0)
    assert begin.chosen.pop() == ("b1c6", "off"), "there is no other part"
    assert begin.trained == ["b1c6"] * 3


def test_a_part_that_is_interrupted_measures_nothing_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling the teacher and trying batches of every network took minutes after Ctrl-C."""
    module, measured = "gtp_engine.training.distillation.plan.run_part", []

    def generate(
        *_: object, is_enough: Callable[..., bool], meanwhile: Callable[[], None], **__: object
    ) -> tuple[int, float]:
        meanwhile()
        assert is_enough(Counter({(5, 5): 100}))
        return 100, 1.0

    def choose(trials: SpeedTrials, shape: Shape, **_: object) -> TrainingSpeed:
        measured.append(shape.title)
        return TrainingSpeed(16, False, 100.0)

    for name, function in (
        ("TorchModel", lambda path, device: None),
        ("open_folder", lambda *_: None),
        ("generate", generate),
        ("SpeedTrials.compile_teacher", lambda *_, **__: measured.append("teacher")),
        ("SpeedTrials.choose_training", choose),
    ):
        monkeypatch.setattr(f"{module}.{name}", function)
    for count, expected in enumerate(([], ["teacher"], ["teacher", "b1c6"])):
        measured.clear()
        state = read_state(tmp_path, MINIATURE)
        with Log() as log:
            is_stopped = lambda count=count: len(measured) == count  # noqa: E731
            work_of(tmp_path, log, clock(100.0), state=state, is_stopped=is_stopped)._generate()
        assert measured == expected and not state.generated


def test_a_part_that_is_over_does_not_train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = Beginning(tmp_path, monkeypatch, choosing=400.0)
    begin(200.0)
    assert begin.chosen and not begin.trained
    monkeypatch.setattr("gtp_engine.training.distillation.plan.run_part.new_loop", None)
    with Log() as log:
        part = PlanPart(MINIATURE, tmp_path, PlanState({}), clock(700.0), log, never)
        train(part, MINIATURE.planned_networks()[0], seconds=100.0)
    assert not part.state.notes


def test_the_longest_run_says_how_many_samples_are_needed() -> None:
    assert most_samples([(0, 100.0)], 10) == 1000
    assert most_samples([(400, 100.0), (0, 50.0)], 10) == 400, "the second one gets 6 seconds: 300"
    assert most_samples([(400, 100.0), (0, 80.0)], 10) == 480
    assert most_samples([(4000, 100.0), (0, 80.0)], 10) == 1000, "nothing is left for the second one"


def test_the_planned_networks() -> None:
    first, second = PlanSettings(networks="b6c96=40M, b10c128").planned_networks()
    assert (first.shape, first.samples) == (Shape(), 40_000_000)
    assert (second.shape, second.samples) == (Shape(blocks=10, channels=128), 0)
    for wrong in ("", "b6", "b6c96,b10c128", "b6c96=1k,b6c96", "b6c96=1G"):
        with pytest.raises(ConfigError, match="expected sizes, each once"):
            PlanSettings(networks=wrong)


def test_seeds_are_those_of_games() -> None:
    """Larger ones have no numbers for their games, which a plan would find out after its start."""
    assert PlanSettings(seed=MOST_SEEDS - 1).seed == MOST_SEEDS - 1
    with pytest.raises(ConfigError, match=r"plan\.seed = 262144: expected an integer from 0 to 262143"):
        PlanSettings(seed=MOST_SEEDS)


def test_the_teacher_alone_may_be_compiled() -> None:
    settings = [PlanSettings(compiled=each) for each in ("auto", "on", "off", "teacher")]
    assert [each.compiled_teacher for each in settings] == ["auto", "on", "off", "auto"]
    assert [each.compiled_training for each in settings] == ["auto", "on", "off", "off"]


def test_a_plan_goes_on_with_its_own_settings(tmp_path: Path) -> None:
    state = read_state(tmp_path, MINIATURE)
    state.notes.append("a note")
    state.network("b1c6").samples = 5
    state.write(tmp_path)
    assert read_state(tmp_path, PlanSettings(**vars(MINIATURE) | {"part": 1.0})) == state
    with pytest.raises(ConfigError, match="the run there has batch 16, not 32"):
        read_state(tmp_path, PlanSettings(**vars(MINIATURE) | {"batch": 32}))
    (tmp_path / "plan.json").write_text("{}")
    with pytest.raises(ConfigError, match="is damaged; delete it"):
        read_state(tmp_path, MINIATURE)


def test_a_plan_goes_on_with_its_teacher_and_its_first_network(tmp_path: Path) -> None:
    """Labels of two teachers were mixed, and a network began again where --init was forgotten, without a word."""
    teacher = tmp_path / "teacher.onnx"
    export_network(tiny_module(), teacher, name="second", origin="", terms="")
    write_data(tmp_path / "data", (5, 5))
    with Log() as log, pytest.raises(ConfigError, match="teacher second: expected counter of stones, by which"):
        run_plan(tmp_path, log, teacher)
    for begun, now, message in (
        (teacher, None, "no --init: expected the file that the plan began with; give the same command"),
        (None, teacher, r"--init '.*teacher.onnx': expected none, as the plan began without"),
        (teacher, tmp_path / "plan.json", r"--init '.*plan.json': expected the file that"),
    ):
        state = PlanState({})
        state.check_init(begun)
        state.check_init(begun)
        with pytest.raises(ConfigError, match=message):
            state.check_init(now)


def test_batches_are_halved_until_memory_suffices(monkeypatch: pytest.MonkeyPatch) -> None:
    def speed(trials: SpeedTrials, shape: Shape, *, batch: int, compiled: bool) -> float:
        if compiled:
            raise RuntimeError("no compiler\nand a long story")
        if batch > 300:
            raise torch.OutOfMemoryError
        return 7.0

    monkeypatch.setattr(SpeedTrials, "training", speed)
    lines: list[str] = []
    trials = SpeedTrials(choose_machine("cpu", "float32"), {(9, 9): 1.0}, seconds=0.0, log=lines.append)
    found = trials.choose_training(Shape(), batch=1024, compiled="on")
    assert found == (256, False, 7.0)
    assert "b6c96 is not compiled: RuntimeError: no compiler" in lines


def test_main_boards_stand_for_all() -> None:
    assert main_boards({(19, 19): 0.6, (9, 9): 0.36, (7, 7): 0.04}) == {(19, 19): 0.625, (9, 9): 0.375}
    assert set(main_boards({(side, side): 0.05 for side in range(2, 22)})) == {(side, side) for side in range(2, 22)}


def test_games_end_where_there_is_no_room_for_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the memory of the device, or on the disk, on which training leaves files too."""
    module, answers = "gtp_engine.training.distillation.plan.run_part", []

    def generate(*_: object, is_enough: Callable[[Counter[tuple[int, int]]], bool], **__: object) -> tuple[int, float]:
        answers.append([is_enough(Counter({(5, 5): count})) for count in (0, 50, 100)])
        return 100, 1.0

    def generated(free: float, room: int) -> list[str]:
        monkeypatch.setattr(f"{module}._free_bytes", lambda machine: free)
        monkeypatch.setattr(f"{module}.shutil.disk_usage", lambda path: SimpleNamespace(free=room))
        settings = replace(MINIATURE, networks="b1c6", epochs=0.1)
        state = read_state(tmp_path, settings)
        state.network("b1c6").speed = 1e6
        with Log() as log:
            work_of(tmp_path, log, clock(100.0), settings=settings, state=state)._generate()
        assert state.generated == answers[-1][-1]
        return state.notes

    monkeypatch.setattr(f"{module}.TorchModel", lambda path, device: None)
    monkeypatch.setattr(f"{module}.generate", generate)
    monkeypatch.setattr(f"{module}.open_folder", lambda *_: None)
    size = bytes_of({(5, 5): 100})
    assert generated(2 * size, 1 << 40) == [] and answers.pop() == [False, False, False]
    assert "because they fill the device's memory" in generated(size / 0.8, 1 << 40)[0]
    assert answers.pop() == [False, False, True]
    assert "50 positions, fewer than planned, because they fill the disk" in generated(2 * size, 1 << 20)[0]
    assert answers.pop() == [False, True, True]


@pytest.mark.parametrize(("positions", "failures", "calls"), [(60, 1, 1), (40, 1, 2), (40, 2, 2)])
def test_games_begin_again_after_a_failure_unless_there_are_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, positions: int, failures: int, calls: int
) -> None:
    """A worker that was killed ended all games of all parts."""
    module, called, trained = "gtp_engine.training.distillation.plan.run_part", [], []

    def generate(*_: object, is_enough: Callable[[Counter[tuple[int, int]]], bool], **__: object) -> tuple[int, float]:
        called.append(True)
        if len(called) <= failures:
            raise WorkerError("a worker ended unexpectedly")
        assert is_enough(Counter({(5, 5): 100}))
        return 100, 1.0

    monkeypatch.setattr(f"{module}.TorchModel", lambda path, device: None)
    monkeypatch.setattr(f"{module}.open_folder", lambda *_: None)
    monkeypatch.setattr(f"{module}.generate", generate)
    monkeypatch.setattr(f"{module}.count_positions", lambda folder: Counter({(5, 5): positions}))
    monkeypatch.setattr(PartWork, "_has_enough", lambda self, found, repeats=1.0: found * repeats >= 100)
    monkeypatch.setattr(PartWork, "_train", lambda self, planned: trained.append(planned.title))
    settings = replace(MINIATURE, networks="b1c6")
    state = read_state(tmp_path, settings)
    with Log() as log:
        work_of(tmp_path, log, clock(100.0), settings=settings, state=state).run()
    assert (len(called), len(state.notes), state.generated) == (calls, failures, failures < 2)
    assert trained == ["b1c6"], "with what there is"


def test_games_are_played_again_when_their_positions_are_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Training found no shards, in this part and in all after it."""
    called, trained = [], []

    def generate(self: PartWork) -> None:
        called.append(self._state.positions)
        self._state.generated = True

    monkeypatch.setattr(PartWork, "_generate", generate)
    monkeypatch.setattr(PartWork, "_train", lambda self, planned: trained.append(planned.title))
    settings = replace(MINIATURE, networks="b1c6")
    for shards, done in ((0, False), (1, False), (0, True)):
        state = read_state(tmp_path, settings)
        state.generated, state.positions, state.network("b1c6").done = True, 100, done
        if shards:
            write_data(tmp_path / "data", (5, 5))
        with Log() as log:
            work_of(tmp_path, log, clock(100.0), settings=settings, state=state).run()
        assert log.has("the positions of earlier parts are gone: games are played again") == (not shards and not done)
        for path in shard_paths(tmp_path / "data" / "train") if shards else ():
            path.unlink()
    assert called == [0] and trained == ["b1c6"] * 2


def test_a_part_that_is_killed_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each one that was ended by kill -9, or with its machine, gave a plan as many minutes more."""
    monkeypatch.setattr("gtp_engine.training.distillation.plan.plan_state._RECORD_SECONDS", 0.0)
    settings = replace(MINIATURE, networks="b1c6=64", sizes="5=1")
    write_data(tmp_path / "data", (5, 5))
    state = read_state(tmp_path, settings)
    state.generated, state.used = True, 60.0
    with Log() as log:
        work_of(tmp_path, log, clock(170.0, used=60.0), settings=settings, state=state).run()  # finish is missing
    found = read_state(tmp_path, settings)
    assert (found.used, found.parts) == (130.0, 1)
    assert found.network("b1c6").samples == 48 and found.network("b1c6").batch == 16, "those before its last step"


def test_a_damaged_shard_of_an_earlier_part_does_not_end_the_games(tmp_path: Path) -> None:
    """It was taken for the end of the games, which the parts after it did not go on with once it was deleted."""
    teacher = tmp_path / "teacher.onnx"
    export_network(tiny_module(), teacher, name="teacher", origin="", terms="")
    data = write_data(tmp_path / "plan" / "data", (5, 5))
    path = shard_paths(data / "train")[0]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    path.write_bytes(content)
    with Log() as log, pytest.raises(ShardError, match=r"'5x5-1-00000.npz' is damaged .*; delete it"):
        run_plan(tmp_path / "plan", log, teacher)
    assert not read_state(tmp_path / "plan", MINIATURE).generated


def test_positions_that_do_not_fit_into_memory_are_read_from_their_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Smaller batches would not help.  A run that began with all of them in memory goes on."""
    settings = replace(MINIATURE, networks="b1c6", sizes="5=1")
    (planned,), state = settings.planned_networks(), NetworkState(batch=16)
    write_data(tmp_path / "data", (5, 5))

    def train_to(samples: int) -> list[str]:
        with Log() as log:
            plan = PlanState({}, networks={"b1c6": state})
            part = PlanPart(settings, tmp_path, plan, clock(100.0), log, never)
            train(part, planned._replace(samples=samples), seconds=600.0)
        return plan.notes

    def load(*_: object) -> None:
        raise torch.OutOfMemoryError

    assert train_to(32) == []
    monkeypatch.setattr("gtp_engine.training.distillation.batches._load", load)
    (note,) = train_to(64)
    assert note == "b1c6: memory was too small for the positions, which are read from shards"
    assert (state.samples, state.batch, state.in_memory) == (64, 16, False)


def test_a_full_disk_costs_no_more_than_what_does_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "b1c6").mkdir()
    (tmp_path / "b1c6" / "log.jsonl").touch()
    (tmp_path / "b1c6" / "checkpoint.pt").write_text("damaged")
    monkeypatch.setattr("gtp_engine.files.os.replace", full)
    with Log() as log:
        work = work_of(tmp_path, log, clock(100.0))
        with pytest.raises(ConfigError, match=r"cannot write plan .*: No space left on device; make room there"):
            work.finish()
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["report.md"]
    report = (tmp_path / "results" / "report.md").read_text(encoding="utf-8")
    assert "cannot write plan" in report and "tengen-b1c6.pt (No space left on device)" in report


def test_the_files_of_all_runs_are_kept(tmp_path: Path) -> None:
    runs = {}
    for i in range(4):
        runs[f"n{i}"] = folder = tmp_path / f"n{i}"
        folder.mkdir()
        for name in (f"n{i}.onnx", "log.jsonl", *(["checkpoint.pt"] if i else [])):
            (folder / name).touch()
    write_data(tmp_path / "data", (9, 9), (5, 5))
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "of an earlier part").touch()
    assert write_results(tmp_path / "results", "What was done.\n", runs, tmp_path / "data" / "held-out") == []
    assert {path.name for path in (tmp_path / "results").iterdir()} == {
        "report.md", "9x9-1-00000.npz",
        *(f"n{i}.{ending}" for i in range(4) for ending in ("onnx", "log.jsonl", "pt") if i or ending != "pt"),
    }  # fmt: skip
    assert (tmp_path / "results" / "report.md").read_text(encoding="utf-8") == "What was done.\n"
