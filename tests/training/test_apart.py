"""Making networks stands apart: what plays would not notice if it were gone."""

import subprocess
import sys

import pytest
from test_layers import imports_of, sources_of


def test_only_commands_import_what_makes_networks() -> None:
    """The rooms below cannot (`test_layers`)."""
    importing = {name for name, tree in sources_of("cli/") if "gtp_engine.training" in " ".join(imports_of(tree))}
    making = {f"cli/{name}.py" for name in ("train_commands", "alphago_command", "levels_command", "models_command")}
    assert importing == making  # the last one quantizes on request


@pytest.mark.parametrize("words", ["", "version", "config", "models list", "models --help", "play --help"])
def test_other_commands_import_nothing_of_it(words: str) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "gtp_engine", *words.split()]
    run = subprocess.run(command, input="name\nquit\n", capture_output=True, text=True, check=True)
    assert "gtp_engine.cli" in run.stderr and "gtp_engine.training" not in run.stderr
