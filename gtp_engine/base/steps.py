"""Long work: how it is stopped, how it goes on, and commands that build on each other.

    long_work                          the right to write to a folder, a bar on the terminal, an end in an orderly way
    check_same, differences            work goes on with the settings that it began with
    Step, open_folder, carry_out_all   commands, each of which produces what the next ones need

The same command, given once more, goes on after an interruption.  In a chain of commands one whose product exists is
skipped; those without a product (runs, matches) know by themselves what is left to do.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple

from gtp_engine.base.errors import ConfigError, shown_path
from gtp_engine.base.files import json_of, owning, sha256_of, write_whole, writing
from gtp_engine.base.progress import ProgressBar
from gtp_engine.base.signals import stop_on_signals
from gtp_engine.base.streams import write_log
from gtp_engine.base.worker_process import join_command

ENGINE: Final = (sys.executable, "-m", "gtp_engine")
"""The engine's command line without arguments, whether it is installed or not."""

_RECORD: Final = "chain.json"
"""The file in a chain's folder that says which chain it is."""

_UNFINISHED: Final = 1
"""Exit status for a command that ended normally without its product: it was interrupted."""


def never() -> bool:
    """Return False: nothing stops the work."""
    return False


@contextmanager
def long_work(
    folder: Path, *, file: str | None = None, total: float | None = 1.0
) -> Iterator[tuple[ProgressBar, Callable[[], bool]]]:
    """Let work alone write to a folder, or to a file in it (`files.owning`), until a signal stops it.

    Yields the bar that shows it, with this `total`, and a function that says whether it is to end after the step under
    way.  Raises ConfigError where another process writes there.
    """
    with owning(folder, file=file), ProgressBar(total=total) as bar, stop_on_signals() as is_stopped:
        yield bar, is_stopped


# --- How it goes on


def differences(
    began: Mapping[str, Any], now: Mapping[str, Any], *, free: Collection[str] = (), needed: Collection[str] = ()
) -> str:
    """Return "komi 7.0 there, 6.5 now" for each setting in which work differs from how it began; "" if it does not.

    Settings in `free` may differ.  One that there was not yet when it began may have any value, except for those in
    `needed`, which all such work has.
    """
    names = [name for name in sorted(now) if name not in free and (name in began or name in needed)]
    return "; ".join(
        f"{name} {began.get(name)!r} there, {now[name]!r} now" for name in names if began.get(name) != now[name]
    )


def check_same(
    began: Mapping[str, Any], now: Mapping[str, Any], *, free: Collection[str] = (), needed: Collection[str] = ()
) -> None:
    """Raise ConfigError if work is to go on with other settings than it began with (`differences`)."""
    if found := differences(began, now, free=free, needed=needed):
        raise ConfigError(
            f"the run there has other settings ({found})",
            expected="the settings that it began with",
            advice="give these, or another folder",
        )


# --- Chains of commands


class Step(NamedTuple):
    """A command of a chain."""

    title: str
    command: tuple[object, ...]
    product: Path | None = None
    """What the command produces; it is skipped if that exists.  None: the command itself knows what is done."""


def engine_command(*arguments: object) -> str:
    """Return the command line of the engine with these arguments, as text for a match."""
    return join_command([*ENGINE, *map(str, arguments)])


def open_folder(folder: Path, command: str, teacher: Path) -> None:
    """Create the folder of a chain that `command` runs, or check that the chain in it is the same, with that teacher.

    Raises ConfigError if it is another one, if there is no teacher, or if files are damaged or cannot be written.
    """
    record = folder / _RECORD
    try:
        given = {"command": command, "teacher with the SHA-256": sha256_of(teacher)}
    except OSError as error:
        raise ConfigError(f"cannot open the teacher {shown_path(teacher)}: {error.strerror or error}") from error
    with writing(folder, ConfigError, "a chain to"):
        folder.mkdir(parents=True, exist_ok=True)
        if not record.exists():
            write_whole(record, json.dumps(given) + "\n")
        try:
            began: dict[str, str] = json_of(record.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ConfigError(f"chain {shown_path(record)} is damaged", advice="delete it") from error
    check_same(began, given)


def carry_out_all(steps: Sequence[Step]) -> None:
    """Run commands in order, unless their product exists, and log them on stderr; exit with the status of a failure."""
    for number, step in enumerate(steps, start=1):
        write_log(f"\n{number}/{len(steps)}  {step.title}")
        if step.product is not None and step.product.exists():
            write_log(f"{step.product} exists already.")
            continue
        command = [str(part) for part in step.command]
        write_log(join_command(command))
        if status := _status_of(command):
            sys.exit(status)
        if step.product is not None and not step.product.exists():
            write_log(f"{step.product} is missing. The same command continues.")
            sys.exit(_UNFINISHED)


def _status_of(command: Sequence[str]) -> int:
    """Run a command; return its exit status.  Raises KeyboardInterrupt after Ctrl-C or SIGTERM, once it has ended.

    It ends by itself, since it may be writing its checkpoint, and has received Ctrl-C too; SIGTERM is passed on to it.
    """
    process: subprocess.Popen[bytes] | None = None
    is_terminated = is_early = False

    def pass_on(number: int, frame: FrameType | None) -> None:
        nonlocal is_terminated, is_early
        is_terminated = True
        if process is None:
            is_early = True
        else:
            process.terminate()

    before = signal.signal(signal.SIGTERM, pass_on)
    try:
        process = subprocess.Popen(command)
        if is_early:
            process.terminate()
        try:
            status = process.wait()
        except KeyboardInterrupt:  # `subprocess.run` would kill the command
            process.wait()
            raise
    finally:
        signal.signal(signal.SIGTERM, before)
    if is_terminated:
        raise KeyboardInterrupt
    return status
