"""Ctrl-C and SIGTERM, once and twice, whatever a command does meanwhile."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from signal import SIGINT, SIGTERM

import pytest
from busy_machine import bound

from gtp_engine.base.signals import stop_on_signals

COMMAND = """
import hashlib, signal, sys, threading, time, weakref
from contextlib import suppress
from pathlib import Path
from gtp_engine.base.files import replacing
from gtp_engine.base.signals import ending_cleanly, stop_on_signals

def work():
    print("works", flush=True)
    while True:
        pass

with ending_cleanly(), replacing(Path(sys.argv[1])) as unfinished:
    unfinished.touch()
    exec(sys.argv[2])
"""
"""A command that writes a file meanwhile; it says `works` before each signal."""
CALCULATING = "print('works', flush=True); hashlib.pbkdf2_hmac('sha256', b'', b'', 10**9)"
SWALLOWING = "with suppress(KeyboardInterrupt): work()\nwork()"
IGNORED = "thing = type('Thing', (), {})()\nreference = weakref.ref(thing, lambda _: work())\ndel thing\nwork()"
STOPPED = """
with stop_on_signals() as is_stopped:
    print("works", flush=True)
    while not is_stopped():
        pass
"""
WRITING = """
def write():
    while True:
        with replacing(Path(sys.argv[1]).with_name("game.sgf")) as unfinished:
            time.sleep(0.001)
            unfinished.touch()

for _ in range(20):
    threading.Thread(target=write, daemon=True).start()
work()
"""
WAITED_FOR = "threading.Thread(target=threading.Event().wait).start()\nwork()"
TERMINAL = "signal.signal(signal.SIGINT, lambda *_: print('works', flush=True))\nwork()"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals for another process")
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(
    ("body", "signals", "status"),
    [
        ("work()", [SIGINT], -SIGINT), ("work()", [SIGTERM], -SIGTERM), (SWALLOWING, [SIGINT, SIGINT], -SIGINT),
        (IGNORED, [SIGINT], -SIGINT), (f"print('works'); {CALCULATING}", [SIGINT, SIGINT], 128 + SIGINT),
        (f"print('works'); {CALCULATING}", [SIGINT, SIGTERM], 128 + SIGTERM), (STOPPED, [SIGINT], 0),
        (STOPPED, [SIGTERM], 0), (f"{STOPPED}    {SWALLOWING[:-7]}", [SIGINT, SIGINT], -SIGINT),
        (f"{STOPPED}    work()", [SIGTERM, SIGTERM], -SIGTERM),
        (f"{STOPPED}    {CALCULATING}", [SIGTERM, SIGINT], 128 + SIGINT), (WAITED_FOR, [SIGINT], 128 + SIGINT),
        (WRITING, [SIGINT], -SIGINT), (WRITING, [SIGTERM], -SIGTERM),
        (TERMINAL, [SIGINT, SIGINT, SIGINT, SIGTERM], -SIGTERM)
    ],
)  # fmt: skip
def test_commands_end(body: str, signals: list[int], status: int, tmp_path: Path) -> None:
    """`train rank` went on for two seconds after the second signal, `models quantize` to its end.

    A match that was interrupted left the file that one of its threads was about to create, and `mcp` waited for
    a thread of AnyIO for ever.
    """
    command = [sys.executable, "-c", COMMAND, str(tmp_path / "net.onnx"), body]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as program:
        assert program.stdout is not None
        try:
            for number in signals:
                assert program.stdout.readline() == "works\n"
                time.sleep(0.1)  # the system takes two of a kind at once for one
                program.send_signal(number)
            assert program.wait(bound(60)) == status
        finally:
            program.kill()
    assert {path.name for path in tmp_path.iterdir()} - {"game.sgf"} == ({"net.onnx"} if status == 0 else set())


@pytest.mark.usefixtures("interruptible")
def test_a_command_ends_in_one_line_while_it_is_imported() -> None:
    interrupt = "lambda event, names: event == 'import' and names[0] == 'click' and signal.raise_signal(signal.SIGINT)"
    code = f"import runpy, signal, sys; sys.addaudithook({interrupt}); runpy.run_module('gtp_engine', None, '__main__')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (128 + SIGINT, "Interrupted.\n")


@pytest.mark.usefixtures("interruptible")
def test_the_first_signal_stops_and_the_second_interrupts() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), stop_on_signals() as is_stopped:
        assert not is_stopped()
        signal.raise_signal(signal.SIGINT)
        assert is_stopped()
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
