"""Flags generated from options (`config.option`), and parameters that several commands share.

A command decorated with `config_options()` gets a flag for every option of the configuration (`--visits` for
search.visits), grouped by section in its help, and `--config FILE`, and receives the `config`.  A flag overrides the
file, the file the default.

A command decorated with `settings_options(Learning)` gets a flag for every option of other settings, a frozen dataclass
derived from `Section`, with type, bounds, choices, default and help of the field, and receives the `settings`:

    @click.command(cls=ConfigCommand)
    @settings_options(Learning)
    def command(settings: Learning) -> None:
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import click

from gtp_engine.base.errors import shown_path
from gtp_engine.base.files import expanded, is_special
from gtp_engine.base.languages import LANGUAGES, use
from gtp_engine.config import Config
from gtp_engine.config.option import Option, Section, section_options
from gtp_engine.go.rules import Rules
from gtp_engine.nn.network_catalogue import published_network

F = TypeVar("F", bound=Callable[..., Any])


class UserPath(click.Path):
    """The path of a file, a folder or either; what is there already is neither a pipe nor a device.

    A pipe would be waited for, and a device has no end; nor could a result take its place.  In help texts it is a FILE,
    a FOLDER or a PATH.
    """

    def __init__(self, **checks: Any) -> None:
        super().__init__(**checks)
        self.name = "folder" if self.dir_okay and not self.file_okay else self.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; raises BadParameter, also for an empty text, which would be the current folder."""
        if not str(value):
            self.fail("an empty name", param, ctx)
        found = super().convert(value, param, ctx)
        if not (self.allow_dash and value == "-") and is_special(value):
            self.fail(f"{shown_path(value)} is not a regular file", param, ctx)
        return found


class _NetworkFile(UserPath):
    """The file of a network, or its name (`named_networks.model_path`); of a folder that of its policy in float32."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; raises BadParameter, and ModelError for a network that has not been downloaded."""
        from gtp_engine.nn.named_networks import model_path

        path = model_path(str(value))
        if path.is_dir():
            from gtp_engine.nn.network_files import find_networks

            path = find_networks(path, needs_value=False)["policy"].path("float32")
        return super().convert(str(path), param, ctx)


PATH: Final = UserPath(path_type=Path)
FILE: Final = UserPath(path_type=Path, dir_okay=False)
FOLDER: Final = UserPath(path_type=Path, file_okay=False)
"""Paths of a file or folder, which need not exist."""
NETWORK: Final = _NetworkFile(path_type=Path)

RECORD: Final = UserPath(path_type=Path, allow_dash=True)
"""The path of a record or a folder of them, or - for stdin."""

INTERRUPTED: Final = 130
"""Exit status of a command that was interrupted."""


@contextmanager
def saying_when_interrupted(text: str) -> Iterator[None]:
    """Let Ctrl-C in the `with` block end the program with a line."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo(text, err=True)
        sys.exit(INTERRUPTED)


int8_option: Final = click.option(
    "--int8/--no-int8",
    default=None,
    help="Make an 8-bit copy now, in one to five minutes, if this processor is faster with one; or make none. "
    "[default: make it in the background]",
)


language_option: Final = click.option(
    "--language",
    type=click.Choice(list(LANGUAGES)),
    expose_value=False,
    is_eager=True,
    callback=lambda _context, _option, language: use(language) if language else None,
    help="Language of texts for people, not of JSON, GTP and most errors. [default: the system's, or the browser's]",
)


def out_option(default: str) -> Callable[[F], F]:
    """Return the option `--out` for the file to write, received as `target`; `default` describes its default."""
    return click.option("-o", "--out", "target", type=FILE, help=f"File to write. [default: {default}]")


USUAL_OPTIONS: Final = (
    "network.model",
    "play.level",
    "time.time_per_move",
    "search.visits",
    "game.rules",
    "game.komi",
    "game.board_size",
    "time.ponder",
    "play.resign",
    "search.search",
    "gtp.log",
)
"""The options of play that most users need: those of the README, the board, and the log that a bug report needs."""

_FIRST_BLOCK: Final = "Options"
_SECTIONS: Final = frozenset(option.section for option in Config.options())

_WHOLE: Final = f"{__name__}.whole"
"""The key by which a context knows that the help is to list every option."""


def _show_whole_help(context: click.Context, _option: click.Parameter, is_given: bool) -> None:
    if is_given:
        context.meta[_WHOLE] = True
        click.echo(context.get_help())
        context.exit()


_HELP_ALL: Final = click.Option(
    ["--help-all"],
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_whole_help,
    help="Show this message with every option and exit.",
)


class ConfigOption(click.Option):
    """A flag for an option; its value stays text until the configuration, or other settings, parse it.

    The help of its command lists it among the command's own flags if it `is_own`, else by its section.
    """

    def __init__(self, _: Sequence[str], declared: Option, *, is_own: bool = False) -> None:
        self.declared = declared
        self.is_own = is_own
        flag = declared.flag
        is_switch = declared.kind is bool
        value = f"[{'|'.join(declared.choices)}]" if declared.choices else declared.unit or declared.kind.__name__
        super().__init__(
            [parameter_name(declared), f"{flag}/--no-{flag[2:]}" if is_switch else flag],
            type=click.BOOL if is_switch else click.STRING,
            default=None,
            metavar=None if is_switch else value if declared.choices else value.upper().replace(" ", "_"),
        )

    @property
    def help(self) -> str | None:
        """The option's help with its bounds and, unless it is unset by default, its default; made when it is shown."""
        option, notes = self.declared, []
        if option.low is not None and option.high is not None:
            notes.append(f"{_number(option.low)} to {_number(option.high)}")
        elif option.low is not None:
            notes.append(f"{_number(option.low)} or more")
        if option.kind is bool:
            notes.append(f"default {'on' if option.default else 'off'}")
        elif option.default not in (None, ""):
            notes.append(f"default {option.default}")
        return f"{option.help} [{', '.join(notes)}]" if notes else option.help

    @help.setter
    def help(self, _: str | None) -> None: ...


class ConfigCommand(click.Command):
    """A command whose help lists the usual flags and its own; `--help-all` lists the others by section too.

    `usual` are the full names of the options that most users need, `unused` the sections of options that change nothing
    in this command, which its help leaves out and which it refuses, `texts` help texts of options that differ for it,
    by full name.
    """

    def __init__(
        self,
        *about: Any,
        usual: Sequence[str] = USUAL_OPTIONS,
        unused: Sequence[str] = (),
        texts: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(*about, **more)
        self.usual, self.unused, self.texts = usual, unused, texts or {}

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; raises UsageError for a flag that would change nothing."""
        for each in self.params:
            if self._block(each) in self.unused and ctx.params[each.name] is not None:
                raise click.UsageError(f"{each.opts[0]} has no effect in {ctx.command_path}: leave it out")
        return super().invoke(ctx)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, and the flag for the whole help if the usual one leaves something out."""
        found = super().get_params(ctx)
        return [*found, _HELP_ALL] if any(map(self._is_rare, self.params)) else found

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a block of the usual flags and the command's own, then, if asked for, one for each section."""
        blocks: dict[str, list[tuple[str, str]]] = {_FIRST_BLOCK: []}
        hidden = 0
        for parameter in sorted(self.get_params(ctx), key=self._rank):
            if self._is_rare(parameter) and not ctx.meta.get(_WHOLE, False):
                hidden += 1
                continue
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option) and self._block(parameter) not in self.unused:
                text = self.texts.get(parameter.declared.key) if isinstance(parameter, ConfigOption) else None
                blocks.setdefault(self._block(parameter), []).append((record[0], text or record[1]))
        for name, records in blocks.items():
            named = f"Options [{name}]" if name in _SECTIONS else f"Options for {name.replace('_', ' ')}"
            with formatter.section(name if name == _FIRST_BLOCK else named):
                formatter.write_dl(records, col_max=min(30, formatter.width // 3))  # 30: click's own
        if hidden:
            formatter.write_paragraph()
            formatter.write(f"{hidden} more options, by subject: {ctx.command_path} {_HELP_ALL.opts[0]}\n")

    def _is_rare(self, parameter: click.Parameter) -> bool:
        """Return whether a flag is one of the engine's that only the whole help lists."""
        return self._block(parameter) in _SECTIONS.difference(self.unused)

    def _rank(self, parameter: click.Parameter) -> int:
        """Return the place of a flag in the help: the usual options, then the rest as declared."""
        key = parameter.declared.key if isinstance(parameter, ConfigOption) else ""
        return self.usual.index(key) if key in self.usual else len(self.usual)

    def _block(self, parameter: click.Parameter) -> str:
        """Return the block of the help in which a flag is listed."""
        if not isinstance(parameter, ConfigOption) or parameter.is_own or parameter.declared.key in self.usual:
            return _FIRST_BLOCK
        return parameter.declared.section


def config_options(katagos: Callable[[dict[str, Any]], Config] | None = None) -> Callable[[F], F]:
    """Return a decorator that adds `--config` and the flags of all options to a command, which receives the `config`.

    With `katagos`, which makes it of the flags, `config_files` and `overrides`, there may be several files.
    """
    also = "; others are read as KataGo's" if katagos else ""
    file_option = click.option(
        "--config",
        "config_files" if katagos else "config_file",
        multiple=katagos is not None,
        type=UserPath(dir_okay=False),
        metavar="FILE",
        help=f"Read options from a TOML file; `gtp-engine config` prints one{also}. Flags override it.",
    )

    def ours(flags: dict[str, Any]) -> Config:
        file = flags.pop("config_file")
        return build_config(Config() if file is None else Config.from_toml(file), flags)

    return lambda function: file_option(_receiving(function, "config", katagos or ours, Config.options()))


def _receiving(
    function: F, name: str, make: Callable[[dict[str, Any]], Any], options: Sequence[Option], *, is_own: bool = False
) -> F:
    """Return a command's function with the flags of options, of which it receives what `make` makes, as `name`.

    If that is made of other parameters too, `make` takes these out.
    """
    own = {*map(parameter_name, options)}

    @wraps(function)
    def call(*given: Any, **parameters: Any) -> Any:
        made = make(parameters)
        rest = {each: value for each, value in parameters.items() if each not in own}
        return function(*given, **{name: made}, **rest)

    for option in reversed(options):
        click.option(cls=ConfigOption, declared=option, is_own=is_own)(call)
    return cast(F, call)


def build_config(base: Config, flags: Mapping[str, object]) -> Config:
    """Return the configuration that the flags of a command line make of `base`; other parameters are ignored.

    Raises ConfigError, and RulesError when game.rules is not a rule set: better now than at the first move.  A
    published network that is not here is downloaded if the user on a terminal agrees; else click.Abort is raised.
    """
    config = base.with_values(_given_values(Config.options(), flags))
    Rules.parse(config.game.rules)
    for model in (config.network.model, config.network.human_model):
        if model is not None:
            _offer_download(model)
    return config


def _offer_download(model: str) -> None:
    """Ask on a terminal whether to download the published network of this name, unless it is here.

    Without one, loading the network raises ModelError, which names the command that downloads it.
    """
    from gtp_engine.nn.named_networks import named_networks

    published = published_network(model)
    if published is None or expanded(model).exists() or not {model, published.name}.isdisjoint(named_networks()):
        return
    if sys.stdin.isatty() and sys.stderr.isatty():
        from gtp_engine.nn.published_networks import get_network

        click.confirm(
            f"Download the network {published.name} ({published.wheel_bytes / 1e6:.0f} MB)?", abort=True, err=True
        )
        get_network(model, log=lambda line: click.echo(line, err=True))


def parameter_name(option: Option) -> str:
    """Return the name of the keyword argument that carries the flag's value."""
    return option.key.replace(".", "__")


def given_text(key: str) -> str | None:
    """Return the text that `Option.parse` reads of a flag of this command line, by the option's full name, if given."""
    value = click.get_current_context().params[key.replace(".", "__")]
    return None if value is None else _value_text(value)


def _value_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else str(value)


def settings_options(
    settings: type[Section],
    name: str = "settings",
    *,
    only: Sequence[str] = (),
    show_defaults: bool = True,
    is_own: bool = False,
    is_whole: bool = True,
) -> Callable[[F], F]:
    """Return a decorator that adds the flags of `settings`, or those of the fields in `only`, to a command.

    The command receives them as `name`; unless they are to be `is_whole`, only the values that were given, by field.

    Without `show_defaults` the help leaves defaults out: for commands in which a missing flag changes nothing.  With
    `is_own` it lists the flags among the command's own, else in a block named by the section.
    """
    options = [option for option in section_options(settings) if not only or option.name in only]
    shown = [option if show_defaults else replace(option, default=None) for option in options]

    def make(flags: dict[str, Any]) -> Any:
        values = {key.partition(".")[2]: value for key, value in _given_values(options, flags).items()}
        return settings(**values) if is_whole else values

    return lambda function: _receiving(function, name, make, shown, is_own=is_own)


def _given_values(options: Sequence[Option], flags: Mapping[str, object]) -> dict[str, Any]:
    """Return the values of a command's flags by the options' full names; raises ConfigError, which names the flag."""
    given = {option: flags.get(parameter_name(option)) for option in options}
    return {
        option.key: replace(option, called=option.flag).parse(_value_text(value))
        for option, value in given.items()
        if value is not None
    }


def refuse_unused(settings: Section, names: Sequence[str], why: str) -> None:
    """Raise UsageError if a field in `names` differs from its default: for flags without effect beside other flags.

    `why` completes the message "--flag has no effect …", such as "with --torch".
    """
    for option in section_options(type(settings)):
        if option.name in names and getattr(settings, option.name) != option.default:
            raise click.UsageError(f"{option.flag} has no effect {why}: leave it out.")
