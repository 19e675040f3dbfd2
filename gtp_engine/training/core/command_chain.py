"""Chains of commands, each of which makes what the next ones need.

A chain that was interrupted is given once more: what a command made is not made again, and commands without a product
of their own (runs, matches) see for themselves how far they are.
"""

import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from gtp_engine.streams import write_log

ENGINE: Final = (sys.executable, "-m", "gtp_engine")
"""The engine's command line without arguments, whether it is installed or not."""

_UNFINISHED: Final = 1
"""Exit status of a command that ended in good order without its product: it was interrupted."""


def shipped_teacher() -> Path:
    """Return the file of the network that ships with the engine, in float32: who teaches where nobody else is named."""
    from gtp_engine.nn.loading import find_networks  # here: it takes a while, and --help does without
    from gtp_engine.nn.shipped import shipped_folder

    return find_networks(shipped_folder())["policy"][0]


class Step(NamedTuple):
    """A command of a chain."""

    title: str
    command: tuple[object, ...]
    product: Path | None = None
    """What the command makes and what makes it needless; None: the command itself sees what is done already."""


def engine_command(*arguments: object) -> str:
    """Return the command line of the engine with these arguments, as text for a match."""
    return shlex.join([*ENGINE, *map(str, arguments)])


def carry_out(step: Step, number: str) -> int:
    """Run a command unless its product is there, after saying so on stderr; return its exit status."""
    write_log(f"\n{number}  {step.title}")
    if step.product is not None and step.product.exists():
        write_log(f"{step.product} is there already.")
        return 0
    command = [str(part) for part in step.command]
    write_log(shlex.join(command))
    status = subprocess.run(command).returncode
    if status == 0 and step.product is not None and not step.product.exists():
        write_log(f"{step.product} was not made. The same chain goes on.")
        return _UNFINISHED
    return status


def carry_out_all(steps: Sequence[Step]) -> int:
    """Run the commands in their order up to the first that fails; return its exit status, 0 if none does."""
    for number, step in enumerate(steps, start=1):
        if status := carry_out(step, f"{number}/{len(steps)}"):
            return status
    return 0
