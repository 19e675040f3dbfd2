"""Making networks stands apart: what plays would not notice if it were gone."""

import subprocess
import sys

import pytest
from package_sources import PACKAGE, SOURCES, parse
from test_layers import imports_of, name_of

WING = ("training/",)
COMMANDS = tuple(f"cli/{name}.py" for name in ("train_commands", "alphago_command", "levels_command", "models_command"))
"""The command table names these; the last one quantizes on request."""
DOORS = ("nn/plug_ins.py", "search/players.py")
"""What is found by a name in a text."""


def test_only_commands_import_what_makes_networks() -> None:
    modules = tuple("gtp_engine." + part.removesuffix(".py").strip("/").replace("/", ".") for part in WING)
    found = [
        f"{name_of(path)} imports {module}"
        for path in SOURCES
        if not name_of(path).startswith((*WING, *COMMANDS, *DOORS)) and "training" in path.read_text(encoding="utf-8")
        for module in imports_of(parse(path), ".".join(["gtp_engine", *path.relative_to(PACKAGE).parts[:-1]]))
        if module.startswith(modules)
    ]
    assert found == []


@pytest.mark.parametrize("words", ["", "version", "config", "models list", "models --help", "play --help"])
def test_other_commands_import_nothing_of_it(words: str) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "gtp_engine", *words.split()]
    run = subprocess.run(command, input="name\nquit\n", capture_output=True, text=True, check=True)
    assert "gtp_engine.cli" in run.stderr and "gtp_engine.training" not in run.stderr
