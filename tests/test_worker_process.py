"""Commands that the user names, split as the platform does."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from busy_machine import bound, wait_until
from hypothesis import given
from hypothesis import strategies as st

from gtp_engine.base.worker_process import join_command, split_command


def test_a_command_is_split_as_a_shell_does() -> None:
    assert split_command(" '/my go/katago' gtp -model a.bin.gz ") == ["/my go/katago", "gtp", "-model", "a.bin.gz"]


@given(st.lists(st.text('a \\"\t\u3000', max_size=5), min_size=1, max_size=4))
def test_on_windows_a_command_is_split_as_a_program_in_c_does(words: list[str]) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("sys.platform", "win32")
        assert split_command(join_command(words, "win32")) == words
        program = r'"C:\My Go\katago.exe" gtp -model C:\nets\a.bin.gz'
        assert split_command(f" {program} ") == [r"C:\My Go\katago.exe", "gtp", "-model", r"C:\nets\a.bin.gz"]


@pytest.mark.parametrize(("command", "reason"), [("", "no command"), (" ", "no command"), ("a 'b", "No closing quot")])
def test_no_command_is_an_error(command: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        split_command(command)


PARENT = """
import sys, time
from multiprocessing.connection import Connection
from gtp_engine.base.worker_process import start_worker

def work(pipe):
    import os
    pipe.send(os.getpid())
    time.sleep(600)

if __name__ == "__main__":
    print(start_worker(work).pipe.recv(), flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_ends_with_its_parent(number: signal.Signals, tmp_path: Path) -> None:
    """Workers of `review` and `generate` went on using the processor."""
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        parent.send_signal(number)
        parent.wait(bound(30))
    with pytest.raises(ProcessLookupError):
        wait_until(lambda: os.kill(worker, 0))
