"""The command line: builds a configuration from flags and files, and calls the code that does the work.

    config_options      flags generated from the configuration's options
    settings_options    flags generated from other settings, those of training
    evaluator_setup     the evaluator that a configuration selects
    play_command        `gtp-engine play`
    setup_command       `gtp-engine setup`
    analysis_command    `gtp-engine analysis`
    serve_command       `gtp-engine serve`
    connect_command     `gtp-engine connect`
    review_command      `gtp-engine review`
    score_command       `gtp-engine score`
    solve_command       `gtp-engine solve`
    match_command       `gtp-engine match`
    levels_command      `gtp-engine calibrate-levels`
    tournament_command  `gtp-engine tournament`
    models_command      `gtp-engine models`
    get_command         `gtp-engine models get`, `models default`
    quantize_command    `gtp-engine models quantize`
    generate_command    `gtp-engine generate`
    train_command       `gtp-engine train`
    alphago_command     `gtp-engine alphago`
    record_file         what commands about a record share
    result_file         files that commands write beside what they print
    parameters          parameters that several commands share
    tools               `benchmark`, `doctor`, `warmup`, `config`

No logic of its own.  `gtp-engine` alone is `gtp-engine gtp`, because that is what a front end starts.  Importing
this package must stay cheap (no numpy, numba, onnxruntime, torch or rich): commands import these when they run.

Exit codes: 0 success; 1 the engine could not be started, a record could not be reviewed or `doctor` found a problem;
2 a wrong command line, option, model or other file (with one sentence on stderr); 130 interrupted.
"""

import io
import os
import sys
from itertools import chain
from typing import Any, Final

import click

from gtp_engine import __version__
from gtp_engine.cli.alphago_command import alphago_command
from gtp_engine.cli.analysis_command import analysis_command
from gtp_engine.cli.config_options import ConfigCommand, build_config, config_options
from gtp_engine.cli.connect_command import connect_command
from gtp_engine.cli.evaluator_setup import networks_of
from gtp_engine.cli.generate_command import generate_command
from gtp_engine.cli.levels_command import calibrate_levels_command
from gtp_engine.cli.match_command import match_command
from gtp_engine.cli.models_command import models_command
from gtp_engine.cli.parameters import INTERRUPTED
from gtp_engine.cli.play_command import play_command
from gtp_engine.cli.review_command import review_command
from gtp_engine.cli.score_command import score_command
from gtp_engine.cli.serve_command import serve_command
from gtp_engine.cli.setup_command import setup_command
from gtp_engine.cli.solve_command import solve_command
from gtp_engine.cli.tools import benchmark_command, config_command, doctor_command, warmup_command
from gtp_engine.cli.tournament_command import tournament_command
from gtp_engine.cli.train_command import train_command
from gtp_engine.errors import TengenError

_HELP_FLAGS = ("--help", "-h")
_DEFAULT_COMMAND = "gtp"

_SENTENCE: Final = 200
"""Longest first sentence of a command's help, in characters."""


class _Failure(click.ClickException):
    """A deliberate error, shown by click as "Error: …"."""

    exit_code = 2


class TengenGroup(click.Group):
    """The commands: `gtp` is the default, and every TengenError ends in one sentence and exit code 2."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert `gtp` before flags without a command.

        `--version` alone prints the version of gtp-engine; with other flags it sets the reply to GTP's `version`.
        """
        if args == ["--version"]:
            click.echo(f"gtp-engine {__version__}")
            ctx.exit()
        if not args or (args[0].startswith("-") and args[0] not in _HELP_FLAGS):
            args = [_DEFAULT_COMMAND, *args]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by subject, each with the first sentence of its help."""
        width = max(len(command.name or "") for command in self.commands.values())
        for title, commands in _SECTIONS.items():
            rows = [(f"{command.name:<{width}}", command.get_short_help_str(_SENTENCE)) for command in commands]
            with formatter.section(title):
                formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a TengenError becomes click's error message and exit code 2, Ctrl-C exit code 130."""
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, click.Abort):
            click.echo("Interrupted.", err=True)
            ctx.exit(INTERRUPTED)
        except TengenError as error:
            raise _Failure(str(error)) from error


@click.group(cls=TengenGroup, context_settings={"help_option_names": list(_HELP_FLAGS), "max_content_width": 110})
def cli() -> None:
    """Tengen, a Go engine.

    `gtp-engine play` plays in this terminal.

    Without a command it speaks GTP on stdin and stdout: give `gtp-engine` to Sabaki, GoGui or any other Go program
    as the engine's command. Flags after it configure the engine, for example

        gtp-engine --rules japanese --time-per-move 2

    `gtp-engine gtp --help` lists them all; `gtp-engine --version` prints the version.
    """


@cli.command("gtp", cls=ConfigCommand)
@config_options()
def gtp_command(config_file: str | None, **flags: object) -> None:
    """Speak GTP on stdin and stdout (the default command)."""
    config = build_config(config_file, flags)
    from gtp_engine.gtp.session import serve
    from gtp_engine.streams import write_log

    def start_engine() -> Any:
        from gtp_engine.engine import Engine

        engine = Engine(config, write_log, *networks_of(config))
        engine.load_kernels()
        return engine

    sys.exit(serve(config, start_engine, write_log, in_terminal=sys.stdin.isatty()))


_SECTIONS: Final[dict[str, tuple[click.Command, ...]]] = {
    "Play": (play_command, serve_command, gtp_command),
    "Analyse": (review_command, score_command, solve_command, analysis_command),
    "Other programs and machines": (setup_command, connect_command),
    "Networks": (models_command, calibrate_levels_command),
    "Engines against each other": (match_command, tournament_command),
    "This installation": (warmup_command, doctor_command, benchmark_command, config_command),
    "Training": (train_command, generate_command, alphago_command),
}
"""The commands as `gtp-engine --help` lists them."""

for _command in chain.from_iterable(_SECTIONS.values()):
    cli.add_command(_command)


def main() -> None:
    """Run the command line of this process and exit."""
    if sys.stdin is None:  # closed (`<&-`), or a Windows program without console: nothing to read
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY), encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a Windows code page may lack characters of help texts and tables
            stream.reconfigure(errors="replace")
    cli(prog_name="gtp-engine")
