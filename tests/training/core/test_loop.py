"""The training loop learns, repeats, resumes exactly, and follows its schedule; its optimizer, and what it needs."""

import dataclasses
import math
import threading
import traceback
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from full_disk import fill_disk_of
from nn.katago_files import NetworkFile
from training.needs_torch import torch
from training.toy import count_stones, exported, run, tiny_config, tiny_module, unpacked, write_data

from gtp_engine import ConfigError, ModelError
from gtp_engine.nn.katago_format.parser import parse_network
from gtp_engine.training.core.checkpoint import CHECKPOINT_FILE, check_output, read_checkpoint
from gtp_engine.training.core.devices import choose_machine
from gtp_engine.training.core.learning import OPTIMIZERS, Learning, StepSchedule, rate_at
from gtp_engine.training.core.loop import RunProgress, TrainingError, TrainingLoop, Validation
from gtp_engine.training.core.optimizer import Average, BatchedMuon, Optimizer, ParallelGradients
from gtp_engine.training.core.reporting import add_line, begin_log
from gtp_engine.training.distillation.batches import SampleBatch
from gtp_engine.training.distillation.distillation_settings import TrainConfig
from gtp_engine.training.distillation.losses import LOSS_WEIGHTS, HeldOut, ValidationSet
from gtp_engine.training.distillation.module_files import module_of_checkpoint
from gtp_engine.training.distillation.run import DistillationRun, config_of, figures_of
from gtp_engine.training.distillation.shards import ShardError
from gtp_engine.training.nets.layers import norms_of
from gtp_engine.training.nets.network_module import NetworkModule

Loop = TrainingLoop[NetworkModule, SampleBatch]


class Diary:
    """Records the progress of a run, and may stop it after a step."""

    def __init__(self, last_step: int = 0) -> None:
        self._last_step = last_step
        self.progress: list[RunProgress] = []
        self.validations: list[Validation] = []

    def __call__(self, progress: RunProgress, validation: Validation | None) -> None:
        if validation is None:
            self.progress.append(progress)
        else:
            self.validations.append(validation)

    def is_stopped(self) -> bool:
        return bool(self.progress) and self.progress[-1].steps == self._last_step

    @property
    def losses(self) -> list[float]:
        return [progress.figures["loss"] for progress in self.progress]


def train(config: TrainConfig, **how: Any) -> tuple[Loop, Diary]:
    loop, diary = DistillationRun(config), Diary(**how)
    loop.run(diary, diary.is_stopped)
    return loop, diary


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_network_learns_to_count_stones(tmp_path: Path, optimizer: str) -> None:
    _, diary = train(tiny_config(tmp_path, samples=70 * 16, optimizer=optimizer))
    begin, end = diary.progress[0], diary.progress[-1]
    assert end.figures["loss"] < 0.9 * begin.figures["loss"]
    first, last = diary.validations
    assert set(last) == {"5x5", "4x3"}
    for board, figures in last.items():
        assert figures["policy_kl"] < first[board]["policy_kl"] and figures["policy_kl"] < 0.1
        assert figures["ownership_error"] < first[board]["ownership_error"]
        assert figures["positions"] == 48


@pytest.mark.parametrize(("threads", "optimizer"), [(1, "muon"), (2, "muon"), (1, "adamw")])
def test_a_stopped_run_resumes_exactly(tmp_path: Path, threads: int, optimizer: str) -> None:
    config = tiny_config(tmp_path, threads=threads, optimizer=optimizer, samples=20 * 16)
    whole, expected = train(config)
    before, stopped = Diary(last_step=13), DistillationRun(config)
    assert not stopped.run(before, before.is_stopped) and len(before.progress) == 13
    checkpoint = read_checkpoint(config.out)
    resumed, after = DistillationRun(config_of(checkpoint), checkpoint), Diary()
    assert resumed.steps == 13 and resumed.module.counts_statistics
    assert resumed.run(after)
    assert before.losses + after.losses == expected.losses
    assert after.validations[-1] == expected.validations[-1]
    averages = (run.average.module.state_dict() for run in (whole, resumed))
    torch.testing.assert_close(*averages, rtol=0, atol=0)


def test_a_run_ends_with_its_samples_or_its_minutes(tmp_path: Path) -> None:
    loop, diary = train(tiny_config(tmp_path, samples=5 * 16, validations=0, log_steps=2))
    assert [each.steps for each in diary.progress] == [2, 4, 5], "its end is reported in any case"
    assert loop.steps == 5 and "batches_0" not in {thread.name for thread in threading.enumerate()}
    loop, _ = train(tiny_config(tmp_path, samples=0, minutes=0.01))
    assert 0.6 <= loop.seconds < 30
    assert Learning(samples=100, minutes=1).fraction(1, 10, 30.0) == 0.5


@pytest.mark.parametrize(
    ("found", "wanted", "fits"),
    [(0.5, 0.50009, True), (0.5, 0.5002, False), (1e3, 1000.09, True), (1e3, 1000.2, False), (math.nan, 0.0, False)],
)
def test_a_file_may_differ_from_its_module_by_rounding(found: float, wanted: float, fits: bool) -> None:
    with nullcontext() if fits else pytest.raises(ModelError, match="the exported network differs by"):
        check_output(np.array([found], np.float32), np.array([wanted], np.float32), "network")


def test_checkpoints_are_written_during_a_run(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, checkpoint_minutes=0.0, samples=3 * 16)
    steps, path = [], config.out / CHECKPOINT_FILE
    DistillationRun(config).run(lambda *_: steps.append(read_checkpoint(path).steps if path.exists() else 0))
    assert steps == [0, 1, 1, 2, 2], "two of the three reports are followed by a validation"
    assert sorted(path.name for path in config.out.iterdir()) == [CHECKPOINT_FILE]


def test_gradients_may_have_any_length(tmp_path: Path) -> None:
    """With 0 for no limit, as elsewhere: it scaled all of them to nothing, and a run learned nothing."""
    runs = [train(tiny_config(tmp_path / str(clip), samples=3 * 16, clip=clip))[0] for clip in (0.0, 1e30)]
    torch.testing.assert_close(*(run.module.state_dict() for run in runs), rtol=0, atol=0)


def test_the_learning_rate_rises_and_falls() -> None:
    learning = Learning(samples=1, warm_up=0.1, final_rate=0.05, learning_rate=1.0)
    rates = [rate_at(i / 100, learning) for i in range(101)]
    assert rates[5] == pytest.approx(0.5) and rates[10] == 1.0
    assert rates[10:] == sorted(rates[10:], reverse=True)
    assert rates[55] == pytest.approx((1 + 0.05) / 2) and rates[100] == pytest.approx(0.05)


def test_a_run_of_steps_is_validated_now_and_then_and_at_its_end() -> None:
    schedule = StepSchedule(total=5, validate_every=2, learning_rate=3.0)
    assert [schedule.validations_due(steps, 0, 0.0) for steps in range(6)] == [0, 0, 1, 1, 2, 3]
    assert [schedule.fraction(steps, 0, 0.0) for steps in (0, 4, 9)] == [0.0, 0.8, 1.0]
    assert {rate_at(i / 4, schedule) for i in range(5)} == {3.0}
    both = Learning(samples=10, minutes=2.0)
    assert [both.fraction(0, *done) for done in ((5, 0.0), (5, 90.0), (11, 0.0))] == [0.5, 0.75, 1.0]


def test_a_machine_is_chosen_by_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    for simd, precision in ((["amx_bf16"], "bfloat16"), (["avx512_bf16"], "float32"), (None, "float32")):
        monkeypatch.setattr("gtp_engine.training.core.devices.describe_machine", lambda simd=simd: {"simd": simd})
        machine = choose_machine("cpu", "auto", threads=16)
        assert (machine.title, machine.shares) == (f"cpu in {precision}", 8)
    assert choose_machine("cpu", "float32", threads=2).shares == 2
    assert dataclasses.replace(machine, device=torch.device("cuda")).shares == 1


def write_gradients(
    module: NetworkModule, batch: SampleBatch, *, threads: int, precision: str = "float32", counts: bool = False
) -> torch.Tensor:
    """Write the gradients of a batch into the module's parameters; return its figures."""
    machine = choose_machine("cpu", precision, threads=threads)
    with ParallelGradients(machine.place(module), machine) as gradients:
        return gradients.write(batch, lambda *share: figures_of(*share, machine, LOSS_WEIGHTS), counts=counts)


def test_shares_of_a_batch_give_the_gradient_of_the_whole() -> None:
    batch = unpacked(count_stones(5, 5, 7, seed=1), (5, 5))
    found = []
    for threads in (1, 3):
        module = tiny_module().train()
        loss, *_ = write_gradients(module, batch, threads=threads)
        found.append([loss, *(parameter.grad for parameter in module.parameters())])
    for whole, sum_of_shares in zip(*found, strict=True):
        torch.testing.assert_close(sum_of_shares, whole, rtol=1e-4, atol=1e-6)


def test_threads_average_their_statistics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gtp_engine.training.core.devices.MOST_THREADS", 9)
    batch = unpacked(count_stones(5, 5, 8, seed=1), (5, 5))
    means = []
    for threads in (1, 2, 9):
        module = tiny_module().train()
        write_gradients(module, batch, threads=threads, counts=True)
        means.append(norms_of(module)[0].mean.clone())
    torch.testing.assert_close(means[0], means[1])
    torch.testing.assert_close(means[0], means[2])
    assert not torch.equal(means[0], norms_of(tiny_module())[0].mean)


def test_bfloat16_is_like_float32() -> None:
    batch = unpacked(count_stones(5, 5, 8, seed=1), (5, 5))
    losses = []
    for precision in ("float32", "bfloat16"):
        module = tiny_module()
        losses.append(write_gradients(module, batch, threads=1, precision=precision)[0].item())
        assert all(parameter.grad.dtype == torch.float32 for parameter in module.parameters())
    assert losses[0] != losses[1] and losses[0] == pytest.approx(losses[1], rel=0.02)


def test_the_average_follows_the_weights() -> None:
    module = tiny_module(seed=1)
    average = Average(module, steps=5)
    other = tiny_module(seed=2)
    start, target = (next(each.parameters()).clone() for each in (module, other))
    average.add(other, step=1)
    torch.testing.assert_close(next(average.module.parameters()).data, target.data)
    for step in range(2, 200):
        average.add(module, step)
    torch.testing.assert_close(next(average.module.parameters()).data, start.data, atol=1e-4, rtol=0)


@pytest.mark.parametrize("kind", ["checkpoint", "onnx"])
def test_a_run_can_begin_with_trained_weights(tmp_path: Path, kind: str) -> None:
    config = tiny_config(tmp_path, samples=10 * 16)
    trained, _ = train(config)
    path = config.out / CHECKPOINT_FILE
    if kind == "onnx":
        path = exported(tmp_path / "net.onnx", module_of_checkpoint(read_checkpoint(config.out)))
    again = DistillationRun(dataclasses.replace(config, init=path, out=tmp_path / "second"))
    begun, wanted = (run(each.average.module, 5, 5) for each in (again, trained))
    torch.testing.assert_close(begun, wanted, atol=1e-4, rtol=1e-4)
    assert again.module.counts_statistics
    assert again.run()


def test_norms_keep_their_statistics_at_the_end(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, samples=20 * 16, fixed_norms=0.25)
    statistics: list[torch.Tensor] = []
    loop = DistillationRun(config)

    def record(progress: RunProgress, validation: Validation | None) -> None:
        if validation is None:
            statistics.append(torch.cat([torch.cat([norm.mean, norm.variance]) for norm in norms_of(loop.module)]))

    loop.run(record)
    changes = [not torch.equal(one, other) for one, other in pairwise(statistics)]
    assert changes == [True] * 14 + [False] * 5, "the last quarter of 20 steps"
    assert read_checkpoint(config.out).network["counts_statistics"], (
        "a run that begins with this checkpoint takes them again"
    )


def test_muon_steps_are_orthogonal() -> None:
    module = tiny_module()
    machine = choose_machine("cpu", "float32", threads=1)
    optimizer = Optimizer(machine.place(module), "muon", weight_decay=0.0)
    before = [parameter.detach().clone() for parameter in module.parameters()]
    generator = torch.Generator().manual_seed(1)
    for parameter in module.parameters():
        parameter.grad = torch.randn(parameter.shape, generator=generator)
    optimizer.step(0.1)
    for old, new in zip(before, module.parameters(), strict=True):
        if new.ndim > 1:
            lengths = torch.linalg.svdvals((new - old).detach().flatten(1))
            assert lengths.min() > 0.3 * lengths.max() > 0, "Newton-Schulz brings singular values near to each other"


def test_a_damaged_shard_ends_a_run_after_a_checkpoint(tmp_path: Path) -> None:
    config, diary = tiny_config(tmp_path, board_shares=((5, 5, 1.0),)), Diary()

    def damage(progress: RunProgress, validation: Validation | None) -> None:
        diary(progress, validation)
        for path in (config.data / "train").glob("5x5-*"):
            path.write_bytes(path.read_bytes()[:-100])

    with pytest.raises(ShardError, match="is damaged"):
        DistillationRun(config).run(damage)
    assert read_checkpoint(config.out).steps == len(diary.progress) > 0


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = DistillationRun(tiny_config(tmp_path))
    loop.folder.mkdir()
    fill_disk_of(loop.folder / "checkpoint.part", monkeypatch)
    with pytest.raises(ModelError, match=r"cannot write checkpoint .*: No space left on device") as failure:
        loop.save()
    cause = failure.value.__cause__
    assert cause is not None
    values = [value for frame, _ in traceback.walk_tb(cause.__traceback__) for value in frame.f_locals.values()]
    views = [value for value in values if isinstance(value, memoryview)]
    assert all(isinstance(view.obj, bytes) for view in views), "Python 3.12.1 crashes on collecting one of BytesIO"
    (loop.folder / "log.jsonl").symlink_to("/dev/full")
    with pytest.raises(ConfigError, match=r"cannot write log .*: No space left on device"):
        add_line(loop.folder / "log.jsonl", {"kind": "step", "steps": 1})


def test_a_run_that_is_resumed_on_a_full_disk_keeps_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log was emptied before it was written again, and with it the curves of the run."""
    log = tmp_path / "log.jsonl"
    add_line(log, {"kind": "step", "steps": 1, "figures": {}})
    before = log.read_text()
    fill_disk_of(tmp_path / "log.jsonl.part", monkeypatch)
    with pytest.raises(ConfigError, match=r"cannot write log .*: No space left on device"):
        begin_log(log, after=1)
    assert log.read_text() == before


def test_a_loss_of_nan_ends_a_run(tmp_path: Path) -> None:
    loop = DistillationRun(tiny_config(tmp_path))
    with torch.no_grad():
        next(loop.module.parameters()).fill_(float("nan"))
    with pytest.raises(TrainingError, match="the loss after 1 steps is nan; resume from the last checkpoint"):
        loop.run()
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("ending", ["time for a checkpoint", "stopped", "error"])
def test_a_loss_of_nan_leaves_the_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    """It was replaced by one whose weights are NaN, from which no run can go on."""
    config = tiny_config(tmp_path, log_steps=100, validations=0, checkpoint_minutes=0.0 if ending[0] == "t" else 10.0)
    loop = DistillationRun(config)
    loop.run(is_stopped=lambda: loop.steps == 3)
    before = (tmp_path / "run" / CHECKPOINT_FILE).read_bytes()
    with torch.no_grad():
        next(loop.module.parameters()).fill_(float("nan"))
    write = ParallelGradients.write

    def failing_write(*arguments: Any, **how: Any) -> torch.Tensor:
        if ending == "error" and loop.steps == 5:
            raise OSError("the disk is gone")
        return write(*arguments, **how)

    monkeypatch.setattr(ParallelGradients, "write", failing_write)
    with pytest.raises(OSError if ending == "error" else TrainingError):
        loop.run(is_stopped=lambda: loop.steps == 6)
    assert (tmp_path / "run" / CHECKPOINT_FILE).read_bytes() == before


def test_held_out_positions_that_come_later_are_used(tmp_path: Path) -> None:
    machine, module = choose_machine("cpu", "float32", threads=1), tiny_module()
    write_data(tmp_path, (5, 5), count=10)
    held_out = HeldOut(tmp_path / "held-out", 25)
    assert held_out.validate(module, machine)[ValidationSet(5, 5)].positions == 10
    for seed in (2, 3):
        write_data(tmp_path, (5, 5), (4, 3), count=10, seed=seed)
    found = held_out.validate(module, machine)
    assert (found[ValidationSet(5, 5)].positions, found[ValidationSet(4, 3)].positions) == (25, 20)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"samples": 0}, "without end"),
        ({"batch": 1}, "batches of 1"),
        ({"precision": "float16"}, "expected auto or float32 or bfloat16"),
        ({"device": "tpu"}, "expected auto or cpu or cuda"),
    ],
)
def test_settings_out_of_bounds(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        tiny_config(tmp_path, **changes)
    config = tiny_config(tmp_path, init=Path("x.onnx"), board_shares=((5, 5, 2.0),), minutes=3.5)
    assert TrainConfig.from_json(config.to_json()) == config


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_a_missing_device(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="expected a CUDA device"):
        DistillationRun(tiny_config(tmp_path, device="cuda"))


def test_damaged_checkpoints(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, samples=16)
    train(config)
    path = config.out / CHECKPOINT_FILE
    content, values = path.read_bytes(), torch.load(path)
    said = r"^(checkpoint '.*checkpoint.pt' (is damaged or none|has format 0).*expected|cannot read .*: No such file)"
    for damage in (
        lambda: path.write_bytes(content[: len(content) // 2]),
        lambda: path.write_bytes(b"junk" * 50),
        lambda: path.write_bytes(b""),
        lambda: torch.save(values | {"format": 0}, path),
        lambda: torch.save({"format": 2, "kind": Path("x")}, path),
        path.unlink,
    ):
        damage()
        with pytest.raises(ModelError, match=said):
            read_checkpoint(path)


SHAPES = ((8, 24), (8, 24), (24, 8), (8, 8), (8, 24))


def test_matrices_of_one_shape_take_the_steps_of_torch() -> None:
    generator = torch.Generator().manual_seed(1)
    initial = [torch.randn(shape, generator=generator) for shape in SHAPES]
    ours, theirs = ([torch.nn.Parameter(matrix.clone()) for matrix in initial] for _ in range(2))
    settings = {"lr": 0.02, "weight_decay": 0.1, "adjust_lr_fn": "match_rms_adamw"}
    optimizers = BatchedMuon(ours, **settings), torch.optim.Muon(theirs, **settings)
    for _ in range(3):
        for our, their in zip(ours, theirs, strict=True):
            our.grad = torch.randn(our.shape, generator=generator)
            their.grad = our.grad.clone()
        for optimizer in optimizers:
            optimizer.step()
    for our, their, before in zip(ours, theirs, initial, strict=True):
        moved = (their - before).norm()
        assert moved > 0.05
        assert (our - their).norm() < 0.01 * moved, "bfloat16 rounds differently in batches"
    first, second = (optimizer.state_dict()["state"] for optimizer in optimizers)
    assert all(torch.allclose(first[i]["momentum_buffer"], second[i]["momentum_buffer"]) for i in range(len(SHAPES)))


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_frequencies_of_a_transformer_are_neither_filter_nor_matrix(kind: str) -> None:
    """Training could not begin with a transformer whose rotation is learned, and its frequencies would have decayed."""
    network = parse_network(NetworkFile(17, ("attention-learned", "ffn")).bytes())
    module = choose_machine("cpu", "float32").place(NetworkModule(network))
    named = dict(module.named_parameters())
    (name,) = (name for name, parameter in named.items() if parameter.ndim == 3)
    before = named[name].detach().clone()
    for parameter in named.values():
        parameter.grad = torch.zeros_like(parameter)
    Optimizer(module, kind, weight_decay=0.5).step(0.1)
    assert torch.equal(named[name], before)
