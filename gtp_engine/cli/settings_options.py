"""Flags generated from settings: frozen dataclasses whose fields are options (`config.option`), such as `Learning`.

A command decorated with `settings_options(Learning)` gets a flag for every option, with type, bounds, choices, default
and help of the field; `settings_of` takes the values back out of the command's keyword arguments:

    @click.command(cls=ConfigCommand)
    @settings_options(Learning)
    def command(**flags):
        learning = settings_of(Learning, flags)
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import click

from gtp_engine.cli.config_options import ConfigOption, add_parameter, parameter_name, value_text
from gtp_engine.config.option import Section, section_options

F = TypeVar("F", bound=Callable[..., Any])
S = TypeVar("S", bound=Section)


def settings_options(
    settings: type[Section], *, only: Sequence[str] = (), show_defaults: bool = True
) -> Callable[[F], F]:
    """Return a decorator that adds the flags of `settings`, or those of the fields in `only`, to a command.

    Without `show_defaults` the help leaves defaults out: for commands in which a missing flag changes nothing.
    """

    def decorate(function: F) -> F:
        for option in reversed(section_options(settings)):
            if not only or option.name in only:
                add_parameter(function, ConfigOption(option if show_defaults else replace(option, default=None)))
        return function

    return decorate


def given_settings(settings: type[Section], flags: dict[str, Any]) -> dict[str, Any]:
    """Remove the values of `settings` from a command's keyword arguments; return those that were given, by field.

    Raises ConfigError for a value that the field does not allow.
    """
    given: dict[str, Any] = {}
    for option in section_options(settings):
        value = flags.pop(parameter_name(option), None)
        if value is not None:
            given[option.name] = option.parse(value_text(value))
    return given


def refuse_unused(settings: Section, names: Sequence[str], why: str) -> None:
    """Raise UsageError if a field in `names` differs from its default: for flags without effect beside other flags.

    `why` completes the message "--flag has no effect …", such as "with --torch".
    """
    for option in section_options(type(settings)):
        if option.name in names and getattr(settings, option.name) != option.default:
            raise click.UsageError(f"{option.flag} has no effect {why}: leave it out.")


def settings_of(settings: type[S], flags: dict[str, Any]) -> S:
    """Return the settings that a command's keyword arguments give, and remove them; raises ConfigError."""
    return settings(**given_settings(settings, flags))
