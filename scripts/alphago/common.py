"""What the scripts of the AlphaGo chain share: the package on the path, options, errors in one line, Ctrl-C."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from gtp_engine.errors import TengenError  # noqa: E402
from gtp_engine.progress import ProgressBar  # noqa: E402
from gtp_engine.training.alphago.stage_settings import StageLearning  # noqa: E402
from gtp_engine.training.core.learning import DEVICES, OPTIMIZERS, PRECISIONS  # noqa: E402
from gtp_engine.training.core.requirements import check_torch  # noqa: E402
from gtp_engine.training.core.stopping import stop_on_signals  # noqa: E402

SETTINGS = {"help_option_names": ["-h", "--help"], "show_default": True, "max_content_width": 120}
FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)

Decorator = Callable[[Any], Any]


def options(*decorators: Decorator) -> Decorator:
    """Return a decorator that adds all these options, in this order."""

    def add(command: Any) -> Any:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return add


def help_of(docstring: str | None) -> str:
    r"""Return a script's docstring as click wants its help: a line of \b keeps the line breaks that follow."""
    return (docstring or "").replace("\\b\n", "\b\n")


def option(name: str, default: Any, text: str, kind: Any = None) -> Decorator:
    """Return an option that has its default from the settings it belongs to."""
    return click.option(f"--{name.replace('_', '-')}", name, default=default, type=kind, help=text)


def _learning(name: str, text: str, kind: Any = None) -> Decorator:
    return option(name, getattr(StageLearning, name), text, kind)


NET_OPTIONS = options(
    option("layers", 7, "Convolutions, the 1×1 at the end included; the paper has 13.", click.IntRange(2)),
    option("channels", 64, "Filters of each; the paper has 192.", click.IntRange(1)),
    option("name", "", "Name of the network; by default one of its size."),
    click.option("--license", "terms", default="", help="Licence of the weights, to be written into the file."),
)
DEVICE_OPTIONS = options(
    _learning("precision", "Numbers to calculate with.", click.Choice(PRECISIONS)),
    _learning("device", "What to calculate on.", click.Choice(DEVICES)),
    _learning("threads", "Threads; 0: one for each core.", click.IntRange(0)),
    _learning("seed", "Seed of weights and order.", click.IntRange(0)),
)


def learning_options(learning_rate: float = StageLearning.learning_rate) -> Decorator:
    """Return the options of a stage that learns from examples; `learning_rate` is the default of that one."""
    return options(
        _learning("minutes", "Length of the run in minutes; it ends with the first limit.", click.FloatRange(0)),
        _learning("samples", "Length of the run in positions.", click.IntRange(0)),
        _learning("batch", "Positions of a step.", click.IntRange(1)),
        _learning("optimizer", "What makes steps of gradients.", click.Choice(OPTIMIZERS)),
        option("learning_rate", learning_rate, "Highest learning rate.", click.FloatRange(0, min_open=True)),
        _learning("weight_decay", "Weight decay.", click.FloatRange(0)),
        _learning("validations", "How often the network is tested.", click.IntRange(1)),
        DEVICE_OPTIONS,
    )


def learning_of(given: dict[str, Any]) -> StageLearning:
    """Take the options that are about learning out of `given` and return them; raises ConfigError."""
    return StageLearning(
        **{field.name: given.pop(field.name) for field in fields(StageLearning) if field.name in given}
    )


@contextmanager
def stage() -> Iterator[tuple[ProgressBar, Callable[[], bool]]]:
    """Yield a bar and what tells whether Ctrl-C was pressed; an error of the engine's ends the script in one line."""
    try:
        check_torch()
        with ProgressBar() as bar, stop_on_signals() as is_stopped:
            yield bar, is_stopped
    except TengenError as error:
        raise click.ClickException(str(error)) from None


def say_end(target: Path | None) -> None:
    """Tell how a run that was interrupted goes on."""
    if target is None:
        click.echo("Interrupted. The same command goes on.", err=True)
