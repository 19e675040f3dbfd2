"""Flags generated from settings have the fields' types, bounds, choices, defaults and help."""

import re
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from documents import cli_commands

from gtp_engine.base.errors import ConfigError
from gtp_engine.cli import cli
from gtp_engine.cli.options import ConfigCommand, settings_options
from gtp_engine.config.option import section_options
from gtp_engine.training.alphago.stages.stage_settings import PolicyLearning
from gtp_engine.training.core.learning import Learning


def given(*arguments: str, **how: Any) -> dict[str, Any]:
    """Return the settings that a command line gives."""
    found: dict[str, Any] = {}

    @click.command(cls=ConfigCommand)
    @click.option("--name")
    @settings_options(Learning, "given", is_whole=False, **how)
    def command(given: dict[str, Any], **flags: Any) -> None:
        found.update(given)
        assert flags == {"name": None}, "nothing else is taken"

    CliRunner().invoke(command, arguments, catch_exceptions=False)
    return found


def test_only_given_flags_are_returned() -> None:
    assert given() == {}
    assert given("--samples=820_000", "--clip", "2", "--optimizer=adamw") == {
        "samples": 820_000, "clip": 2.0, "optimizer": "adamw"
    }  # fmt: skip
    assert Learning(**given("--minutes=1.5")) == Learning(minutes=1.5)


@pytest.mark.parametrize("arguments", ["--samples=-1", "--samples=x", "--optimizer=sgd", "--warm-up=1"])
def test_values_that_a_field_does_not_allow(arguments: str) -> None:
    with pytest.raises(ConfigError, match=r"^--[\w-]+ .*expected"):
        given(arguments)


def test_a_command_may_have_some_of_the_flags_only() -> None:
    @click.command(cls=ConfigCommand)
    @settings_options(Learning, "given", only=("threads",), show_defaults=False, is_whole=False)
    def command(given: dict[str, Any]) -> None:
        assert given == {}

    shown = CliRunner().invoke(command, ["--help"], catch_exceptions=False).output
    assert "--threads" in shown and "one for each core" in shown and "--samples" not in shown and "default" not in shown
    assert CliRunner().invoke(command, []).exit_code == 0


def test_a_field_with_another_default_has_the_same_help() -> None:
    helps = [{each.name: each.help for each in section_options(kind)} for kind in (Learning, PolicyLearning)]
    assert helps[0] == helps[1] and "averaged weights" in helps[1]["average_steps"]


def flags_shown(*command: str) -> list[str]:
    """Return the lines of a command's whole help that show its use, its flags and their subjects, without texts."""
    width: dict[str, Any] = {"prog_name": "gtp-engine", "terminal_width": 9999, "max_content_width": 9999}
    pages = [CliRunner().invoke(cli, [*command, page], **width).output for page in ("--help-all", "--help")]
    text = re.sub(r"\n {9,}", "  ", pages["--help-all" not in pages[1]])
    lines = [line for line in text.splitlines() if re.match(r"  -|Options \[|Usage", line)]
    return [re.sub(r"^  (-.*?)(  .*?)?( \[[^\]]*\])?$", r"  \1\3", line) for line in lines]


def test_which_flags_commands_have_with_units_bounds_and_defaults() -> None:
    """Those of `gtp` in the order of its page, those of other commands where they are others."""
    usual, lines = flags_shown("gtp"), list[str]()
    for command, _ in cli_commands():
        flags = flags_shown(*command.split())
        lacks = [flag.split()[0] for flag in usual[1:] if flag not in flags] if len(flags) > 100 else []
        lines += [line for line in flags if command == "gtp" or line not in usual]
        lines += ["  without " + " ".join(flag for flag in lacks if flag != "Options")] if lacks else []
    assert lines == (Path(__file__).parent / "data" / "flags.txt").read_text("utf-8").splitlines()
