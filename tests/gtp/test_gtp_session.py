"""Pipes and threads: order, ends of input and output, interrupts, loading in the background."""

import io
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import pytest
from busy_machine import bound, wait_for_readers, wait_until
from gtp.fake_engine import FakeEngine

from gtp_engine import Config, TengenError
from gtp_engine.base import streams
from gtp_engine.base.streams import read_lines
from gtp_engine.protocols.gtp.server import GtpServer
from gtp_engine.protocols.gtp.session import REFUSED, LineQueue, Loader, Record, run_session, transcript
from gtp_engine.protocols.line_session import BROKEN, Writer


def answer(sent: bytes, provider: Callable[[], Any] = FakeEngine, record: Record = lambda *_: None) -> bytes:
    stdout = io.BytesIO()
    run_session(make_server(provider), io.BytesIO(sent), stdout, record)
    return stdout.getvalue()


def make_server(provider: Callable[[], Any] = FakeEngine) -> GtpServer:
    return GtpServer(Config(), provider, print)


class Pieces(io.RawIOBase):
    """A stream that returns its data in pieces, and then fails if it is given how."""

    def __init__(self, *pieces: bytes, failure: OSError | None = None) -> None:
        self._pieces, self._failure = iter(pieces), failure

    def read(self, size: int = -1) -> bytes:
        piece = next(self._pieces, b"")
        if not piece and self._failure is not None:
            raise self._failure
        return piece


class ClosedOutput(io.RawIOBase):
    """A pipe whose reader goes away after a number of writes."""

    def __init__(self, writes: int) -> None:
        self.left = writes

    def write(self, data: Any) -> int:
        if not self.left:
            raise BrokenPipeError(32, "Broken pipe")
        self.left -= 1
        return len(data)


class SlowOutput(io.RawIOBase):
    """A pipe that takes three bytes at a time."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: Any) -> int:
        self.data += bytes(data[:3])
        return min(3, len(data))


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"name", [b"name"]),
        (b"name\n", [b"name"]),
        (b"\n\nname\n\n", [b"", b"", b"name", b""]),
        (b"a\r\nb\rc\n\x00\xff\n", [b"a\r", b"b\rc", b"\x00\xff"]),
        (b"x" * 1_000_000 + b"\ny", [b"x" * 1_000_000, b"y"]),
    ],
)
def test_lines_of_a_stream(data: bytes, lines: list[bytes]) -> None:
    assert list(read_lines(io.BytesIO(data))) == lines
    assert list(read_lines(io.BufferedReader(io.BytesIO(data)))) == lines
    if len(data) < 100:
        assert list(read_lines(cast(BinaryIO, Pieces(*(bytes([byte]) for byte in data))))) == lines


def test_a_stream_that_fails_has_ended() -> None:
    """As a terminal does when it is closed."""
    broken = Pieces(b"name\nvers", failure=OSError(5, "Input/output error"))
    assert list(read_lines(cast(BinaryIO, broken))) == [b"name", b"vers"]


def test_the_end_of_an_overlong_line_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MAX_LINE_BYTES", 1000)
    lines = list(read_lines(io.BytesIO(b"1 " + b"x" * 500_000 + b"\nname\n" + b"y" * 1000 + b"\n")))
    assert [len(line) for line in lines] == [1001, 4, 1000]


def test_replies() -> None:
    sent = b"1 name\r\n# comment\r\n\r\n2 nonsense\r\n  \r\n\x00\xff\xfe\n4 get_komi\nquit\nname\n"
    replies = b"=1 Tengen\n\n?2 unknown command\n\n? unknown command\n\n=4 7.5\n\n= \n\n"
    assert answer(sent) == replies


def test_output_that_takes_little_at_a_time_gets_everything() -> None:
    stdout = SlowOutput()
    run_session(make_server(), io.BytesIO(b"name\nname\n"), cast(BinaryIO, stdout))
    assert stdout.data == b"= Tengen\n\n= Tengen\n\n"


@pytest.mark.parametrize(
    ("error", "in_a_file", "elsewhere"),
    [
        (BrokenPipeError(32, "Broken pipe"), None, None),
        (ValueError("closed"), None, None),
        (OSError(5, "Input/output error"), "Error: the output: Input/output error", None),
        (OSError(28, "No space left"), "Error: the output: No space left", "Error: the output: No space left"),
    ],
)
def test_trouble_with_an_output(error: Exception, in_a_file: str | None, elsewhere: str | None, tmp_path: Path) -> None:
    """A terminal that has gone says what a broken disk says."""
    with (tmp_path / "file").open("wb") as file:
        assert streams.trouble_of(file, error) == in_a_file
    assert streams.trouble_of(io.BytesIO(), error) == elsewhere


def test_pieces_of_several_threads_stay_whole() -> None:
    class Slow(SlowOutput):
        def write(self, data: Any) -> int:
            time.sleep(0.0001)  # another thread's turn
            return super().write(data)

    stdout, pieces = Slow(), [bytes([letter]) * 20 for letter in b"abc"]
    writer = Writer(cast(BinaryIO, stdout))
    threads = [threading.Thread(target=writer.write, args=(piece,)) for piece in pieces]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(bound(30))
    assert all(piece in stdout.data for piece in pieces)


def test_a_closed_output_ends_the_session() -> None:
    stdout = ClosedOutput(writes=2)
    engine = FakeEngine()
    sent = io.BytesIO(b"name\nkomi 1\nkomi 2\nkomi 3\n")
    run_session(make_server(lambda: engine), sent, cast(BinaryIO, stdout))
    assert engine.game.komi == 2.0


@contextmanager
def session(provider: Callable[[], Any]) -> Iterator[tuple[BinaryIO, io.BytesIO]]:
    """Yield the input and output of a session, which has ended after the block."""
    (read_end, write_end), stdout = os.pipe(), io.BytesIO()
    with os.fdopen(read_end, "rb", buffering=0) as reader, os.fdopen(write_end, "wb", buffering=0) as writer:
        thread = threading.Thread(target=run_session, args=(make_server(provider), reader, stdout), daemon=True)
        thread.start()
        yield writer, stdout
        writer.close()
        thread.join(bound(30))
        assert not thread.is_alive()
        wait_for_readers()


def test_interrupt_concerns_the_running_command_and_those_that_have_not_begun() -> None:
    engine = FakeEngine()
    with session(lambda: engine) as (writer, stdout):
        writer.write(b"1 final_score\n2 get_random_seed\n")
        assert engine.searching.wait(bound(30))
        writer.write(b"# interrupt\n3 final_score\n4 final_score\n# interrupt\n5 get_random_seed\n6 quit\n")
    assert stdout.getvalue() == b"=1 0\n\n=2 1\n\n=3 0\n\n=4 0\n\n=5 3\n\n=6 \n\n"


def test_only_what_is_not_answered_is_cancelled() -> None:
    lines = LineQueue()
    for _ in range(3):
        lines.put(b"name")
    answered = lines.next()
    lines.answered()
    lines.cancel_all()
    waiting = [lines.next(), lines.next()]
    assert [each.cancel.is_cancelled for each in (answered, *waiting) if each] == [False, True, True]


def test_interrupt_of_a_command_that_still_waits_for_the_engine() -> None:
    engine, loaded = FakeEngine(), threading.Event()

    def provide() -> Any:
        assert loaded.wait(bound(30))
        return engine

    with session(provide) as (writer, stdout):
        writer.write(b"final_score\n# interrupt\nquit\n")
        time.sleep(0.1)
        loaded.set()
    assert stdout.getvalue() == b"= 0\n\n= \n\n"


def test_interrupt_between_commands_does_nothing() -> None:
    engine = FakeEngine()
    with session(lambda: engine) as (writer, stdout):
        writer.write(b"get_komi\n# interrupt\n")
        time.sleep(0.1)
        writer.write(b"final_score\n")
        assert engine.searching.wait(bound(30))
        time.sleep(0.1)
        assert not engine.cancelled
        writer.write(b"# interrupt\n")
    assert stdout.getvalue() == b"= 7.5\n\n= 0\n\n"


def test_the_handshake_is_answered_while_the_engine_is_loading() -> None:
    loading = threading.Event()
    loader = Loader(lambda: FakeEngine() if loading.wait(bound(30)) else None, print)  # type: ignore[arg-type, return-value]
    loader.start()
    with session(loader) as (writer, stdout):
        writer.write(b"name\nnonsense\nkomi x\nget_komi\n")
        wait_until(lambda: stdout.getvalue().count(b"\n\n") >= 3)
        early = stdout.getvalue()
        assert early.startswith(b"= Tengen\n\n? unknown command\n\n? komi not a float")
        assert not loader.close(timeout=0.01)
        loading.set()
    assert stdout.getvalue() == early + b"= 7.5\n\n"
    assert loader.close(timeout=bound(30))


@pytest.mark.parametrize(
    ("error", "reply", "status"),
    [
        (TengenError("the model is missing"), b"? engine not available: the model is missing\n\n", REFUSED),
        (RuntimeError("boom"), b"? engine not available: RuntimeError: boom\n\n", BROKEN),
        (SystemExit(3), b"? engine not available: SystemExit: 3\n\n", BROKEN),
    ],
)
def test_a_failed_start_is_explained(error: BaseException, reply: bytes, status: int) -> None:
    def factory() -> Any:
        raise error

    log: list[str] = []
    loader = Loader(factory, log.append)
    loader.start()
    assert answer(b"get_komi\nname\nget_komi\n", loader) == reply + b"= Tengen\n\n" + reply
    assert loader.close(timeout=bound(30))
    assert loader.status == status
    assert any("Traceback" in line for line in log) == (status == BROKEN)
    assert any("cannot be started" in line for line in log)


def test_closing_the_loader_closes_the_engine() -> None:
    engine = FakeEngine()
    loader = Loader(lambda: cast(Any, engine), print)
    loader.start()
    assert loader.close(timeout=bound(30))
    assert engine.closed


def test_the_transcript_records_both_directions(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    with transcript(str(path), print) as record:
        answer(b"1 name\r\n\xff\xfe\n", record=record)
    lines = [line.split(" ", 2)[2] for line in path.read_text(encoding="utf-8").splitlines() if line]
    assert lines == ["< 1 name", "> =1 Tengen", r"< \udcff\udcfe", "> ? unknown command"]


def test_a_log_in_the_home_folder_needs_no_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs pass ~ on as it is; there was no folder of that name."""
    monkeypatch.setattr(Path, "expanduser", lambda path: tmp_path / path.name)
    with transcript("~/log.txt", print):
        pass
    assert (tmp_path / "log.txt").exists()


def test_a_log_that_cannot_be_written_is_reported_once(tmp_path: Path) -> None:
    log: list[str] = []
    with transcript(str(tmp_path / "missing" / "log.txt"), log.append) as record:
        assert answer(b"name\nname\n", record=record) == b"= Tengen\n\n= Tengen\n\n"
    assert len(log) == 1
    assert log[0] == f"the log {tmp_path / 'missing' / 'log.txt'} is not written: No such file or directory"
