"""KataGo's command line: commands that take the flags of `katago`, its config files and its network files.

    gtp-engine gtp -model M.bin.gz -config gtp.cfg -override-config maxVisits=9 -human-model H.bin.gz

A path to `katago` can be replaced by one to `gtp-engine`, or to a link with the name katago.  Flags may have one hyphen
or two; a config file that does not end in .toml is one of KataGo's, and there may be several.  Facts from KataGo 1.17
(`cpp/command/commandline.cpp`, `cpp/dataio/homedata.cpp`, README.md).
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from gtp_engine.base.errors import ConfigError
from gtp_engine.base.streams import write_log
from gtp_engine.cli.options import ConfigCommand, F, build_config, config_options
from gtp_engine.config import Config
from gtp_engine.config.katago import merged_settings, with_start_settings
from gtp_engine.go.rules import Rules

_PROGRAM: Final = "katago"
_IS_KATAGO: Final = "katago"
"""Key of click's `meta` for whether a command line is in KataGo's form."""

_DEFAULT_MODELS: Final = ("default_model.bin.gz", "default_model.txt.gz")
_DEFAULT_CONFIG: Final = "default_gtp.cfg"
"""What `katago` uses where its command line names no network and no config file."""


class KataGoCommand(ConfigCommand):
    """A command that also accepts KataGo's flags: with one hyphen, and by `aliases` of ours, with two."""

    def __init__(self, *about: Any, aliases: Mapping[str, str] | None = None, **more: Any) -> None:
        super().__init__(*about, **more)
        self.aliases: Final = aliases or {}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Translate KataGo's flags, and note whether there are any."""
        known = {flag for parameter in self.get_params(ctx) for flag in parameter.opts if flag.startswith("--")}
        words = []
        for word in args:
            is_short = word.startswith("-") and not word.startswith("--")
            long = "--help" if word == "-h" else (f"-{word}" if is_short else word)
            if long in self.aliases or (is_short and long in known):
                ctx.meta[_IS_KATAGO] = True
                long = self.aliases.get(long, long)
            words.append(long if long in known else word)
        return super().parse_args(ctx, words)


def katago_options(*, for_gtp: bool) -> Callable[[F], F]:
    """Return a decorator that adds the flags of all options, `--config` and KataGo's `--override-config` to a command.

    It receives the `config`; what is without effect is logged.
    """
    overrides = click.option(
        "--override-config",
        "overrides",
        multiple=True,
        metavar="KEY=VALUE,…",
        help="Settings by KataGo's names, such as maxVisits=800; unknown ones are reported and ignored.",
    )
    configured = config_options(partial(_katago_config, for_gtp=for_gtp))
    return lambda function: overrides(configured(function))


def is_katagos() -> bool:
    """Return whether this command line is one of `katago`: it has a flag of its form, or the program is called so."""
    return _is_program_katago() or bool(click.get_current_context().meta.get(_IS_KATAGO))


def _katago_config(flags: dict[str, Any], *, for_gtp: bool) -> Config:
    """Return the configuration of a command line; lines about settings without effect are logged.

    Flags take precedence over overrides, overrides over files, later files over earlier ones.

    A program with the name katago uses KataGo's default files, which are beside it, if none are named.

    Raises ConfigError, and RulesError for unknown rules.
    """
    config_files, overrides = flags.pop("config_files"), flags.pop("overrides")
    tomls = [file for file in config_files if file.lower().endswith(".toml")]
    if len(tomls) > 1:
        raise ConfigError(f"config files {' and '.join(tomls)}", expected="one TOML file")
    base = Config.from_toml(tomls[0]) if tomls else Config()
    files = [_found(file) for file in config_files if file not in tomls]
    if not config_files and for_gtp:
        files = _defaults((_DEFAULT_CONFIG,))
    base, lines = with_start_settings(base, merged_settings(files, overrides), for_gtp=for_gtp)
    config = build_config(base, flags)
    human_model = config.network.human_model and str(_found(config.network.human_model))
    models = {"network.model": katago_model(config.network.model), "network.human_model": human_model}
    config = config.with_values(models)
    if for_gtp and config.game.komi is None and (files or overrides or is_katagos()):  # the same on every board
        config = config.with_values({"game.komi": Rules.parse(config.game.rules).default_komi()})
    if is_katagos() and config.gtp.name == (name := Config().gtp.name):
        config = config.with_values({"gtp.name": f"KataGo-compatible {name}"})  # Lizzie goes by its first word
    for line in lines:
        write_log(line)
    return config


def katago_model(model: str | None) -> str | None:
    """Return the network that a command line names, or KataGo's default; None for ours."""
    return str(_found(model)) if model is not None else next(map(str, _defaults(_DEFAULT_MODELS)), None)


def _is_program_katago() -> bool:
    return Path(sys.argv[0]).name.lower().startswith(_PROGRAM)


def _found(name: str) -> Path:
    """Return the path of a file; one that is missing here is looked for beside the program in KataGo's form."""
    beside = Path(sys.argv[0]).parent / name
    return beside if is_katagos() and not Path(name).exists() and beside.is_file() else Path(name)


def _defaults(names: Sequence[str]) -> list[Path]:
    """Return KataGo's default file, beside the program or in ~/.katago, if there is one and the program is katago."""
    if not _is_program_katago():
        return []
    folders = [Path(sys.argv[0]).parent, Path("~/.katago").expanduser()]
    return [path for folder in folders for name in names if (path := folder / name).is_file()][:1]
