"""The command line: builds a configuration from flags and files, and calls the code that does the work.

    options             flags generated from options, and what several commands share
    play_command        `gtp-engine play`
    serve_commands      `serve`, `connect`, `analysis`, `mcp`
    record_commands     `review`, `score`, `rank`, `solve`
    katago_command      KataGo's command line, for `gtp`, `analysis` and `benchmark`
    setup_command       `setup`
    models_command      `models …`
    levels_command      `calibrate-levels`
    book_command        `book …`
    match_commands      `match`, `tournament`
    train_commands      `generate`, `train …`
    alphago_command     `alphago …`
    tools               `benchmark`, `doctor`, `warmup`, `config`, `genconfig`, `version`

No logic of its own.  `gtp-engine` alone is `gtp-engine gtp`, because that is what a front end starts.  A command is
imported when it is run, or when the help lists it, and imports what it needs when it runs: this package must stay cheap
(no numpy, numba, onnxruntime, torch or rich).  Its docstring is its help, where lines below BACKSPACE, click's mark,
stay as they are.

Exit codes: 0 success; 1 the engine could not be started, a record could not be reviewed or `doctor` found a problem;
2 a wrong command line, option, model or other file (with one sentence on stderr); 130 interrupted.
"""

import contextlib
import io
import os
import sys
from collections import ChainMap
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from typing import Any, Final, cast

import click

from gtp_engine import __version__
from gtp_engine.base.errors import TengenError, problem, shown_path
from gtp_engine.base.installation import command_with
from gtp_engine.base.languages import _
from gtp_engine.base.signals import ending_cleanly
from gtp_engine.base.streams import discard, write_log
from gtp_engine.cli.katago_command import KataGoCommand, katago_options
from gtp_engine.cli.options import INTERRUPTED
from gtp_engine.config import Config

_HELP_FLAGS = ("--help", "-h")
_DEFAULT_COMMAND = "gtp"

COMMANDS: Final[dict[str, dict[str, str]]] = {
    title: {name: module for module, names in modules.items() for name in names.split()}
    for title, modules in {
        "Play": {"play_command": "play", "serve_commands": "serve", "": "gtp"},
        "Analyse": {
            "record_commands": "review score rank solve",
            "book_command": "book",
            "serve_commands": "analysis mcp",
        },
        "Other programs and machines": {"setup_command": "setup", "serve_commands": "connect"},
        "Networks": {"models_command": "models", "levels_command": "calibrate-levels"},
        "Engines against each other": {"match_commands": "match tournament"},
        "This installation": {"tools": "warmup doctor benchmark config genconfig version"},
        "Training": {"train_commands": "train generate", "alphago_command": "alphago"},
    }.items()
}
"""The commands as `gtp-engine --help` lists them, each with the module of its function NAME_command; `gtp` is here."""
_MODULES: Final = ChainMap(*COMMANDS.values())

_FAILED: Final = 1
"""Exit status of a command that could not do its work."""

SENTENCE: Final = 200
"""Longest first sentence of a command's help, in characters."""


class _Failure(click.ClickException):
    """A deliberate error, shown by click as "Error: …"."""

    exit_code = 2


class TengenGroup(click.Group):
    """The commands: `gtp` is the default, and every TengenError ends in one sentence and exit code 2."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert `gtp` before flags without a command.

        With other flags `--version` sets the reply to GTP's `version`.
        """
        if args[:1] in (["-help"], ["help"]):  # as `katago` takes them
            args = [*args[1:], "--help"]
        if not args or (args[0].startswith("-") and args[0] not in _HELP_FLAGS and args != ["--version"]):
            args = [_DEFAULT_COMMAND, *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name, or say which one may have been meant."""
        name = args[0]
        if self.get_command(ctx, name) is None:
            names = self.list_commands(ctx)
            near = [
                f"`gtp-engine {each}`"
                for each in names
                if name in each or each in get_close_matches(name, names, cutoff=0.75)
            ]
            options = {param.name: opt for param in gtp_command.params for opt in param.opts}.values()
            near += [f"the option {each}" for each in options if each == f"--{name}"]
            if near:
                ctx.fail(f"No such command '{name}'. Did you mean {' or '.join(near)}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by subject, each with the first sentence of its help."""
        width = max(map(len, self.list_commands(ctx)))
        for title, names in COMMANDS.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(_(title)):
                formatter.write_dl(
                    [(f"{name:<{width}}", _(known.get_short_help_str(SENTENCE))) for name, known in commands if known]
                )

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, sorted."""
        return sorted(_MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with this name, imported now; None if there is none."""
        if not (module := _MODULES.get(cmd_name)):
            return super().get_command(ctx, cmd_name)
        function = f"{cmd_name.replace('-', '_')}_command"
        return cast(click.Command, getattr(import_module(f"{__name__}.{module}"), function))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; exit with code 2 after a TengenError or without a package, with 130 after Ctrl-C."""
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, click.Abort):
            click.echo("Interrupted.", err=True)
            ctx.exit(INTERRUPTED)
        except click.NoSuchOption as error:
            near = get_close_matches(error.option_name, error.possibilities or [], 1)
            raise click.NoSuchOption(error.option_name, possibilities=near, ctx=error.ctx) from error
        except ModuleNotFoundError as error:  # installed without what it needs, as with pip's --no-deps
            package = (error.name or "").partition(".")[0]
            if package in ("", __package__.partition(".")[0]):
                raise
            raise _Failure(problem(f"this command needs {package}", advice=f"run `{command_with(package)}`")) from error
        except TengenError as error:
            raise _Failure(str(error)) from error


@click.group(cls=TengenGroup, context_settings={"help_option_names": list(_HELP_FLAGS), "max_content_width": 110})
@click.version_option(__version__, message="gtp-engine %(version)s")
def cli() -> None:
    """Tengen, a Go engine.

    `gtp-engine play` plays in this terminal.

    Without a command it speaks GTP on stdin and stdout: give `gtp-engine` to Sabaki, GoGui or any other Go program
    as the engine's command. Flags after it configure the engine, for example

        gtp-engine --rules japanese --time-per-move 2

    `gtp-engine gtp --help-all` lists them all.
    """


@cli.command("gtp", cls=KataGoCommand, aliases={"--override-version": "--version"})
@katago_options(for_gtp=True)
def gtp_command(config: Config) -> None:
    """Speak GTP on stdin and stdout (the default command).

    KataGo's command line (katago gtp -model … -config … -override-config … -human-model …) works, too. A config file
    that does not end in .toml is read as one of KataGo's; a network file of KataGo's is imported once.
    """
    from gtp_engine.protocols.gtp.session import serve, start_engine

    advise = None
    if sys.stdin.isatty():
        from gtp_engine.people.terminal.gtp_guide import WELCOME, advice

        write_log(WELCOME)
        advise = advice
    sys.exit(serve(config, partial(start_engine, config), advise=advise))


def main() -> None:
    """Run the command line of this process and exit."""
    if sys.stdin is None:  # closed (`<&-`), or a Windows program without console: nothing to read
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY), encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a Windows code page may lack characters of help texts and tables
            stream.reconfigure(errors="replace")
    try:
        try:
            with ending_cleanly():
                cli(prog_name="gtp-engine")
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except OSError as error:
        sys.exit(_refused(error))
    except KeyboardInterrupt:  # as the command ended
        sys.exit(1)


def _refused(error: OSError) -> int:
    """Say in one sentence what the system refused, unless the reader of the output has gone; return the exit status."""
    with contextlib.suppress(OSError, ValueError):
        discard(sys.stdout)  # what is left would fail again
    if not isinstance(error, BrokenPipeError):
        place = "the output" if error.filename is None else shown_path(os.fspath(error.filename))
        with contextlib.suppress(OSError):
            click.echo(f"Error: {place}: {error.strerror or error}", err=True)
    return _FAILED
