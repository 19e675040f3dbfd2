"""Keys from the bytes of a terminal."""

import os
import signal
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import BinaryIO

import pytest

pytest.importorskip("termios", reason="keys of Unix terminals")

from gtp_engine.people.terminal.key_reader import (
    BACKSPACE,
    DOWN,
    END,
    ENTER,
    HOME,
    LAST,
    LEFT,
    OTHER,
    PAGE_DOWN,
    PAGE_UP,
    RIGHT,
    UP,
    ReadKey,
    _windows_key,
    open_keys,
    unix_keys,
)


@pytest.fixture
def pipe() -> Iterator[tuple[ReadKey, BinaryIO]]:
    reading, writing = os.pipe()
    with open(reading, "rb", buffering=0), open(writing, "wb", buffering=0) as typed:
        yield unix_keys(reading), typed


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        (b"d4\r", ["d", "4", ENTER]), (b"\x1b[A\x1b[B\x1b[C\x1b[D", [UP, DOWN, RIGHT, LEFT]), (b"\x1bOA", [UP]),
        (b"a\x7f\x08\x04", ["a", BACKSPACE, BACKSPACE, END]), (b"\x1b[1;5C\x1b[3~x", [RIGHT, OTHER, "x"]),
        (b"\x1b[5~\x1b[6~\x1b[H\x1b[4~", [PAGE_UP, PAGE_DOWN, HOME, LAST]), (b"\x1b[1~\x1b[7~\x1bOH", [HOME] * 3),
        (b"\x1b[8~\x1b[F\x1bOF", [LAST] * 3), (b"\n\x1a", [ENTER, END]), ("é\t".encode(), ["é", OTHER]),
        (b"\x1b", [OTHER]), (b"\x01", [OTHER])
    ],
)  # fmt: skip
def test_keys(pipe: tuple[ReadKey, BinaryIO], typed: bytes, keys: list[str]) -> None:
    read, terminal = pipe
    terminal.write(typed)
    assert [read(1) for _ in keys] == keys
    assert read(0) is None


def test_keys_of_a_windows_console(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = iter("\xe0H\xe0P\xe0M\xe0K\xe0G\xe0O\0I\0Q\0;a\r\b\x1a\1")
    console = SimpleNamespace(kbhit=lambda: True, getwch=lambda: next(typed))
    monkeypatch.setitem(sys.modules, "msvcrt", console)
    keys = [UP, DOWN, RIGHT, LEFT, HOME, LAST, PAGE_UP, PAGE_DOWN, OTHER, "a", ENTER, BACKSPACE, END, OTHER]
    assert [_windows_key(1) for _ in keys] == keys


def test_a_terminal_that_has_gone_is_the_end(pipe: tuple[ReadKey, BinaryIO]) -> None:
    read, terminal = pipe
    terminal.close()
    assert read(1) == END


def test_keys_are_single_again_after_ctrl_z(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shell sets the terminal to whole lines; after fg, arrows were printed instead of moving the cursor."""
    import termios

    master, slave = os.openpty()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(fileno=lambda: slave))
    before = termios.tcgetattr(slave)
    assert before[3] & termios.ICANON
    with open_keys():
        assert not termios.tcgetattr(slave)[3] & termios.ICANON
        termios.tcsetattr(slave, termios.TCSANOW, before)
        signal.raise_signal(signal.SIGCONT)
        assert not termios.tcgetattr(slave)[3] & termios.ICANON
    assert termios.tcgetattr(slave)[3] & termios.ICANON
    os.close(master)
    os.close(slave)
