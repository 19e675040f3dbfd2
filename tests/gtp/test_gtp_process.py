"""The engine as a real process: start, ends of input and output, junk, descriptors."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from busy_machine import bound, require_once
from gtp.processes import TIMEOUT, GtpProcess
from warm_cache import compile_once

from gtp_engine.base.errors import SHOWN_PATH_LENGTH
from gtp_engine.nn.named_networks import shipped_folder
from gtp_engine.people.terminal.gtp_guide import WELCOME


@pytest.mark.parametrize(("sent", "replies"), [(b"", b""), (b"quit\n", b"= \n\n")])
def test_the_end_while_loading_ends_the_process(sent: bytes, replies: bytes) -> None:
    with GtpProcess() as engine:
        assert engine.finish(sent)[::2] == (replies, 0)


def test_the_handshake_is_fast() -> None:
    compile_once("network")

    def seconds() -> float:
        """Return how long it takes from the start to the first reply: 0.3 s on an idle machine."""
        started = time.monotonic()
        with GtpProcess() as engine:
            assert engine.ask(b"name\n") == b"= Tengen\n\n"
            found = time.monotonic() - started
            assert engine.ask(b"list_commands\n").count(b"\n") > 50
            assert engine.ask(b"quit\n") == b"= \n\n"
            assert engine.wait() == 0
            assert engine.read_reply() == b""
        return found

    require_once(seconds, below=5)


def test_a_line_of_a_megabyte() -> None:
    junk = b"x" * 1_000_000
    sequence = b"gogui-play_sequence" + b" b A1 w pass" * 80_000
    with GtpProcess("--search", "uct") as engine:
        output, _, status = engine.finish(
            b"1 %s\n2 play b %s\n3 komi %s\n4 %s\n5 loadsgf %s\n# %s\n6 name\n"
            % (junk, junk, junk, sequence, junk, junk)
        )
    replies = output.split(b"\n\n")
    assert replies[0] == b"?1 unknown command"
    assert replies[1].startswith(b"?2 invalid coordinate 'xxxx")
    assert replies[2].startswith(b"?3 komi not a float")
    assert replies[3].startswith(b"?4 illegal move")
    assert replies[4].startswith(b"?5 cannot load file")
    assert replies[5:] == [b"=6 Tengen", b""]
    assert all(len(reply) < 300 for reply in replies if not reply.startswith(b"?5"))
    assert len(replies[4]) < SHOWN_PATH_LENGTH + 300  # a path is no help if it is cut short
    assert status == 0


def test_stdout_closed_by_the_reader() -> None:
    with GtpProcess(stderr=subprocess.PIPE) as engine:
        assert engine.ask(b"name\n") == b"= Tengen\n\n"
        assert engine.process.stdout is not None
        engine.process.stdout.close()
        engine.send(b"name\n" * 10)
        assert engine.wait() == 0
        assert engine.process.stderr is not None
        errors = engine.process.stderr.read()
    assert b"Traceback" not in errors
    assert b"BrokenPipe" not in errors


def test_stderr_closed_by_the_reader() -> None:
    with GtpProcess("--search", "uct", "--visits", "4", stderr=subprocess.PIPE) as engine:
        assert engine.process.stderr is not None
        engine.process.stderr.close()
        assert engine.ask(b"boardsize 5\n") == b"= \n\n"
        assert engine.ask(b"genmove b\n").startswith(b"= ")
        assert engine.ask(b"quit\n") == b"= \n\n"
        assert engine.wait() == 0


@pytest.mark.skipif(os.name == "nt", reason="POSIX hang-up of pipes")
def test_a_controller_that_dies_ends_a_long_search() -> None:
    with GtpProcess("--search", "uct", "--time-per-move", "300", "--no-early-stop") as engine:
        assert engine.ask(b"boardsize 9\n") == b"= \n\n"
        engine.send(b"genmove b\n")
        time.sleep(0.5)
        assert engine.process.stdin is not None
        assert engine.process.stdout is not None
        engine.process.stdin.close()
        engine.process.stdout.close()
        assert engine.wait() == 0


@pytest.mark.skipif(os.name == "nt", reason="POSIX file descriptors")
@pytest.mark.parametrize(
    ("redirection", "output"),
    [
        ("<&-", b""),
        (">&-", b""),
        (
            "2>&-",
            b"= Tengen\n\n= 7.5\n\n? cannot load file: cannot open 'missing': No such file or directory\n\n= \n\n",
        ),
        ("<&- >&- 2>&-", b""),
    ],
)
def test_descriptors_that_are_closed_at_the_start(redirection: str, output: bytes) -> None:
    command = f"exec '{sys.executable}' -m gtp_engine gtp --search uct {redirection}"
    sent = b"name\nget_komi\nloadsgf missing\nquit\n"
    done = subprocess.run(["/bin/sh", "-c", command], input=sent, capture_output=True, timeout=bound(TIMEOUT))
    assert done.stdout == output
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_quietly() -> None:
    with GtpProcess("--search", "uct", stderr=subprocess.PIPE) as engine:
        assert engine.ask(b"get_komi\n") == b"= 7.5\n\n"
        engine.process.send_signal(signal.SIGINT)
        _, errors, status = engine.finish()
    assert status == 130
    assert b"Traceback" not in errors


@pytest.mark.skipif(os.name == "nt", reason="POSIX terminals")
def test_a_person_in_a_terminal_reads_what_to_type_and_stdout_is_the_protocols() -> None:
    keyboard, terminal = os.openpty()
    with GtpProcess(stdin=terminal, stderr=subprocess.PIPE) as engine:
        os.write(keyboard, b"D4\nname\nquit\n")
        output, errors = engine.process.communicate(timeout=bound(TIMEOUT))
    os.close(keyboard)
    os.close(terminal)
    assert output == b"? unknown command\n\n= Tengen\n\n= \n\n"
    assert f"{WELCOME}\n".encode() in errors, "perhaps after a line about the network, which another thread loads"
    assert b"\nplay b D4 plays it for Black" in errors


def serve(program: str, sent: bytes) -> "subprocess.CompletedProcess[bytes]":
    """Send lines to a process in which the function `engine` of a program makes the engine."""
    head = "import os, sys, time\nfrom gtp_engine.config import Config\nfrom gtp_engine.protocols.gtp import session\n"
    words = [sys.executable, "-c", f"{head}{program}sys.exit(session.serve(Config(), engine))"]
    return subprocess.run(words, input=sent, capture_output=True, timeout=bound(TIMEOUT))


def test_quit_does_not_wait_for_an_engine_that_never_loads() -> None:
    done = serve("def engine(): time.sleep(600)\n", b"name\nquit\n")
    assert (done.stdout, done.returncode) == (b"= Tengen\n\n= \n\n", 0)


def test_lines_that_were_sent_before_the_engine_failed_are_answered() -> None:
    done = serve("from gtp_engine.base.errors import TengenError\ndef engine(): raise TengenError()\n", b"name\n")
    assert (done.stdout, done.returncode) == (b"= Tengen\n\n", 2)


def test_what_libraries_print_does_not_reach_the_controller() -> None:
    prints = "print('= from print'); os.write(1, b'= from descriptor 1'); os.system('echo = from a child')"
    done = serve(f"def engine(): {prints}; raise RuntimeError('no engine')\n", b"get_komi\nname\n")
    assert done.stdout == b"? engine not available: RuntimeError: no engine\n\n= Tengen\n\n"
    for text in (b"from print", b"from descriptor 1", b"from a child", b"Traceback", b"cannot be started"):
        assert text in done.stderr
    assert done.returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no file that is always full")
@pytest.mark.parametrize(
    ("command", "line"), [("gtp", b"name\n"), ("analysis", b'{"id":"v","action":"query_version"}\n')]
)
def test_an_output_that_cannot_be_written_is_reported(command: str, line: bytes) -> None:
    program = [sys.executable, "-m", "gtp_engine", command, "--search", "rave"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(program, input=line, stdout=full, stderr=subprocess.PIPE, timeout=bound(TIMEOUT))
    assert done.returncode == 1
    assert b"Error: the output: No space left on device" in done.stderr


@contextmanager
def waiting_input(lines: bytes, *, ends: bool) -> Iterator[int]:
    """Yield a descriptor with input that waits for the process: one that cannot start reads no lines that come late."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb"), os.fdopen(writing, "wb", buffering=0) as writer:
        writer.write(lines)
        if ends:
            writer.close()
        yield reading


@pytest.mark.parametrize("content", [None, b"no network at all"], ids=["missing", "text"])
def test_a_bad_model_ends_the_process_with_one_sentence(content: bytes | None, tmp_path: Path) -> None:
    """The handshake is answered meanwhile, and the process ends without further input."""
    model = tmp_path / "model.onnx"
    if content is not None:
        model.write_bytes(content)
    with (
        waiting_input(b"1 name\n2 genmove b\n", ends=False) as stdin,
        GtpProcess("--model", str(model), stdin=stdin, stderr=subprocess.PIPE) as engine,
    ):
        assert engine.read_reply() == b"=1 Tengen\n\n"
        assert engine.read_reply().startswith(b"?2 engine not available: ")
        assert engine.wait() == 2
        assert engine.process.stderr is not None
        errors = engine.process.stderr.read()
    assert errors.count(b"\n") == 1
    assert errors.startswith(b"Error: the engine cannot be started: ")
    assert b"model.onnx" in errors


def test_a_bad_model_is_reported_although_the_input_ends_at_once(tmp_path: Path) -> None:
    with (
        waiting_input(b"quit\n", ends=True) as stdin,
        GtpProcess("--model", str(tmp_path / "missing.onnx"), stdin=stdin, stderr=subprocess.PIPE) as engine,
    ):
        output, errors, status = engine.finish()
    assert (output, status) == (b"= \n\n", 2)
    assert b"missing.onnx" in errors


def test_levels_are_left_to_the_networks_that_ship(tmp_path: Path) -> None:
    shutil.copy(shipped_folder() / "tengen-b10c128.onnx", tmp_path / "other.onnx")
    with GtpProcess("--model", str(tmp_path / "other.onnx"), "--level", "8k", stderr=subprocess.PIPE) as engine:
        output, log, status = engine.finish(b"boardsize 9\ngenmove b\nkata-set-param level max\nkata-raw-nn 0\n")
    assert status == 0
    assert b"Level 8k: tengen-human with profile rank_" in log
    assert b"calibrated on 9x9, 13x13, 19x19." in log
    assert output.count(b"= ") == 4


FINISHED = Path(__file__).parent.parent / "data" / "cases" / "dead_stone_9.sgf"
"""A game that was played out, but for a dead stone of White's on H3; GNU Go counts it as we do."""


def test_alphagos_set_plays_a_game_to_its_end_and_finds_dead_stones() -> None:
    """From the empty board to the passes, which its networks cannot predict; then a finished game, with every mixture.

    With this seed and half of rollouts, reading by the value network found H3 alive: it assumes komi 7.5.
    """
    with GtpProcess("--model", "alphago-9x9", "--rollout-share", "0.5", "--no-resign") as engine:
        assert engine.ask(b"query_boardsize\n") == b"= 9\n\n"
        assert engine.ask(b"kata-set-param maxVisits 2\n") == b"= \n\n"
        moves: list[bytes] = []
        while moves[-2:] != [b"pass", b"pass"] and len(moves) < 162:
            reply = engine.ask(b"genmove " + b"bw"[len(moves) % 2 :][:1] + b"\n")
            moves.append(reply.removeprefix(b"= ").strip().lower())
        assert moves[-2:] == [b"pass", b"pass"] and len(moves) > 30
        assert re.fullmatch(rb"= [BW]\+\d+\.[05]\n\n", engine.ask(b"final_score\n"))
        assert engine.ask(b"kata-set-param maxVisits\n") == b"= \n\n"
        for share in ("0", "0.5", "1"):
            assert engine.ask(f"kata-set-param puct.rollout_share {share}\n".encode()) == b"= \n\n"
            engine.ask(b"set_random_seed 8019\n")
            engine.ask(f"loadsgf {FINISHED}\n".encode())
            assert engine.ask(b"final_status_list dead\n") == b"= H3\n\n", share
            assert engine.ask(b"final_score\n") == b"= W+0.5\n\n", share
