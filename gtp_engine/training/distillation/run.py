"""A whole distillation run: training with log and curves, the network file at its end, and its validation."""

from collections.abc import Callable
from pathlib import Path

from gtp_engine.errors import problem, shown_path
from gtp_engine.progress import ProgressBar
from gtp_engine.training.core.checkpoint import Checkpoint, has_checkpoint, read_checkpoint
from gtp_engine.training.core.devices import choose_machine
from gtp_engine.training.core.loop import TrainingError
from gtp_engine.training.core.reporting import run_and_report
from gtp_engine.training.distillation.batches import count_positions
from gtp_engine.training.distillation.distillation_settings import TrainConfig
from gtp_engine.training.distillation.export import export_network
from gtp_engine.training.distillation.shards import HELD_OUT, TRAIN, ShardError, shard_paths
from gtp_engine.training.distillation.start import KIND, module_of_checkpoint, module_of_file, untrained_module
from gtp_engine.training.distillation.task import new_loop, panels
from gtp_engine.training.distillation.validation import Agreement, HeldOut, ValidationSet
from gtp_engine.training.nets.shape import Shape


def run_training(
    config: TrainConfig, bar: ProgressBar, is_stopped: Callable[[], bool], checkpoint: Checkpoint | None = None
) -> bool:
    """Train until the end, or `is_stopped`, and return whether the run is done; then the network is written too.

    Without `checkpoint` the run begins; raises TrainingError if there is one in its folder already.
    """
    if checkpoint is None and has_checkpoint(config.out):
        advice = "resume it, or give another folder"
        raise TrainingError(problem(f"there is a run in {shown_path(config.out)} already", advice=advice))
    loop = new_loop(config, checkpoint, log=bar.log)
    parameters = sum(each.numel() for each in loop.module.parameters())
    counts = count_positions(config.data / TRAIN)
    positions = ", ".join(f"{count:,} on {width}x{height}" for (width, height), count in counts.items())
    bar.log(f"{parameters:,} parameters, {loop.machine.title}; positions: {positions}")
    held_out = config.data / HELD_OUT
    if not (held_out.is_dir() and shard_paths(held_out)):
        bar.log(f"no positions are held out in {config.data}: there are no validations")
    is_done = run_and_report(loop, bar, is_stopped, panels=panels, tensorboard=config.tensorboard)
    if is_done:
        bar.log(f"Written: {export_run(config.out)}")
    return is_done


def config_of(checkpoint: Checkpoint) -> TrainConfig:
    """Return the run that a checkpoint is of; raises ModelError for one of another kind."""
    checkpoint.check_kind(KIND)
    return TrainConfig.from_json(checkpoint.settings["config"])


def export_run(
    folder: Path, target: Path | None = None, *, name: str = "", terms: str = "", origin: str | None = None
) -> Path:
    """Write the averaged network of the checkpoint in `folder`; return its path (default: its name, in `folder`).

    `name` is by default the run's.
    """
    checkpoint = read_checkpoint(folder)
    module, config = module_of_checkpoint(checkpoint), config_of(checkpoint)
    name = name or config.name or module.network.name
    target = target or folder / f"{name}.onnx"
    origin = origin or _origin(checkpoint, config)
    advantages = bool(checkpoint.settings.get("advantages"))
    export_network(module, target, name=name, origin=origin, terms=terms, advantages=advantages)
    return target


def _origin(checkpoint: Checkpoint, config: TrainConfig) -> str:
    """Return where the weights of a run are from, the network included that it began with, whose terms may bind it."""
    began = "" if config.init is None else f", beginning with {config.init.name}"
    teacher = checkpoint.settings["teacher"]
    return f"trained by Tengen on {checkpoint.samples:,} samples of positions labelled by {teacher}{began}"


def validate_file(network: Path, data: Path, *, positions: int, device: str) -> dict[ValidationSet, Agreement]:
    """Return the agreement of the network in a file (`start.module_of_file`), in float32, on each validation set.

    `data` is a folder of data, `positions` the most of each set.  Raises ShardError if none are held out there.
    """
    machine = choose_machine(device, "float32")
    agreements = HeldOut(data / HELD_OUT, positions).validate(machine.place(module_of_file(network)), machine)
    if not agreements:
        raise ShardError(problem(f"no positions in {shown_path(data / HELD_OUT)}", advice="generate some"))
    return agreements


def export_new(shape: Shape, target: Path, *, seed: int) -> Path:
    """Write a network that has learned nothing; return its path."""
    name = f"untrained-{shape.title}"
    module = untrained_module(shape, name=name, seed=seed).eval()
    export_network(module, target, name=name, origin="random weights", terms="")
    return target
