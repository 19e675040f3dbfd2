"""Kills, full disks, broken disks, no descriptors, closed pipes: nothing is lost, nothing double, no traceback.

Each command is carried out in forks, at its smallest: what a kill leaves at each of its writes is looked at, and it is
run again after one of them; one of its writes is refused.  `scripts/inject_faults` tries all.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path

import click
import pytest
from busy_machine import bound

from gtp_engine.cli import cli


def commands(command: click.Command, context: click.Context, words: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the names of all commands."""
    if not isinstance(command, click.Group):
        yield " ".join(words)
        return
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        yield from commands(found, click.Context(found, parent=context, info_name=name), (*words, name))


def test_every_command_is_tried() -> None:
    """A new command needs a line in `miniatures`."""
    from faults.miniatures import PLAIN, SEARCHES, TRAINING

    assert sorted([*PLAIN, *SEARCHES, *TRAINING]) == sorted(commands(cli, click.Context(cli)))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks, and reads what descriptors are in /proc")
@pytest.mark.long
def test_commands_end_at_any_moment() -> None:
    """SIGTERM left unfinished files, and `serve` did not end at all while a thread was at work."""
    folder = Path(__file__).parents[1]
    path = os.pathsep.join([str(folder), str(folder.parent), os.environ.get("PYTHONPATH", "")])
    run = [sys.executable, "-m", "faults.run_faults", "SEARCHES", "SIGTERM:3", "gtp", "score", "serve", "review"]
    done = subprocess.run(
        run, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=bound(300), check=False
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(found) == 4 and [each["faults"] for each in found if each["faults"]] == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks, and reads what descriptors are in /proc")
@pytest.mark.long
def test_faults() -> None:
    """One process tries all groups, as each needs what those before it have loaded."""
    needs = {"PLAIN": (), "SEARCHES": ("mcp",), "TRAINING": ("torch", "matplotlib")}
    groups = list(takewhile(lambda group: all(map(find_spec, needs[group])), needs))
    folder = Path(__file__).parents[1]
    path = os.pathsep.join([str(folder), str(folder.parent), os.environ.get("PYTHONPATH", "")])
    run = [sys.executable, "-m", "faults.run_faults", ",".join(groups), "0"]
    done = subprocess.run(
        run, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=bound(600), check=False
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert found and [each["faults"] for each in found if each["faults"]] == []
    assert sum(each["writes"] for each in found) > 20 * len(groups), "writes are counted"
    if len(groups) < len(needs):
        pytest.skip(f"only {', '.join(groups)}: one of {', '.join(needs[[*needs][len(groups)]])} is missing")
