"""`gtp-engine play` as a process: on a terminal, in a pipe."""

import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from busy_machine import bound, is_over
from click.testing import CliRunner
from warm_cache import compile_once

from gtp_engine.cli import cli

pty = pytest.importorskip("pty", reason="pseudo-terminals of Unix")

COMMAND = [sys.executable, "-m", "gtp_engine", "play", "--size", "5", "--search", "rave", "--visits", "20"]
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A process on a pseudo-terminal of 80 columns and 30 rows."""

    def __init__(self, folder: Path, *options: str) -> None:
        compile_once("rollouts")
        self._master, slave = pty.openpty()
        environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLORTERM")}
        environment["TENGEN_DATA_DIR"] = str(folder / "data")
        environment |= {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "30", "LC_ALL": "C.UTF-8"}
        root = str(Path(__file__).parents[2])
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [root, environment.get("PYTHONPATH")]))
        self.process = subprocess.Popen(
            [*COMMAND, *options],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
        os.close(slave)
        self.text = ""
        self._raw = b""
        self._done = 0

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def wait_for(self, text: str | re.Pattern[str]) -> str:
        """Return what was written until `text` appeared, without escape sequences; the next call goes on from there."""
        pattern = re.compile(re.escape(text)) if isinstance(text, str) else text
        started = time.monotonic()
        while (match := pattern.search(self.text)) is None:
            ready, _, _ = select.select([self._master], [], [], 1.0)
            assert not is_over(started, 60), f"{text!r} has not appeared in {self.text!r}"
            self._raw += os.read(self._master, 65536) if ready else b""
            self.text = ESCAPES.sub("", self._raw.decode("utf-8", "replace"))[self._done :]
        found, self.text = self.text[: match.end()], self.text[match.end() :]
        self._done += match.end()
        return found

    def has_echo(self) -> bool:
        """Return whether the terminal shows what is typed, as the shell needs it."""
        import termios

        return bool(termios.tcgetattr(self._master)[3] & termios.ECHO)

    def close(self) -> int:
        try:
            return self.process.wait(bound(60))
        finally:
            self.process.kill()
            os.close(self._master)

    def hang_up(self) -> int:
        """Close the window, as the system does it: first the signals, then the end of input; return the exit status."""
        for number in (signal.SIGHUP, signal.SIGCONT):
            self.process.send_signal(number)
        os.close(self._master)
        try:
            return self.process.wait(bound(60))
        finally:
            self.process.kill()


@pytest.mark.parametrize(
    ("options", "color"), [([], "white"), (["--color", "black"], "black"), (["--color", "white"], "white")]
)
def test_a_color_that_is_given_counts_in_a_loaded_game(options: list[str], color: str, tmp_path: Path) -> None:
    record = tmp_path / "game.sgf"
    record.write_text("(;SZ[5];B[cc])")
    flags = ["--search", "rave", "--visits", "4", "--load", str(record)]
    done = CliRunner().invoke(cli, ["play", *flags, *options], input="quit\nno\n")
    assert done.exit_code == 0, done.output
    assert f"your move ({color})>" in done.output


def test_a_game_of_a_file_with_several_is_chosen_by_its_number(tmp_path: Path) -> None:
    record = tmp_path / "games.sgf"
    record.write_text("(;SZ[5];B[cc])(;SZ[5];B[aa];W[bb];B[cc];W[dd])")
    flags = ["play", "--search", "rave", "--visits", "4", "--load", str(record)]
    done = CliRunner().invoke(cli, flags, input="quit\nno\n")
    assert "The file has several games: the first was taken" in done.output
    done = CliRunner().invoke(cli, [*flags, "--game", "2"], input="quit\nno\n")
    assert "Move 4: White D2" in done.output and "several" not in done.output


def test_a_game_on_a_terminal(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    assert "┼" in terminal.wait_for("your move (black)>")
    terminal.type("\x1b[A\x1b[B\r")  # the cursor begins in the middle
    assert "●" in terminal.wait_for("Tengen plays")
    terminal.wait_for("your move")
    terminal.type("resign\r")
    terminal.wait_for("Tengen wins by resignation (W+R)")
    terminal.wait_for("quit>")
    terminal.type("\x04")
    terminal.wait_for("is saved as")
    assert terminal.close() == 0
    (saved,) = tmp_path.glob("*.sgf")
    assert "B[cc]" in saved.read_text() and "RE[W+R]" in saved.read_text()


@pytest.mark.parametrize("end", ["its window is closed", "it is ended", "it is ended while the engine thinks"])
def test_a_game_is_saved_when_the_program_has_to_end(tmp_path: Path, end: str) -> None:
    is_thinking = end.endswith("thinks")
    terminal = Terminal(tmp_path, *(["--visits", "0", "--time-per-move", "300"] if is_thinking else []))
    terminal.wait_for("your move (black)>")
    terminal.type("c3\r")
    terminal.wait_for(re.compile(r"is thinking … \(Ctrl-C stops\) [1-9]\d* s") if is_thinking else "Tengen plays")
    if end == "its window is closed":
        assert terminal.hang_up() == 0
    else:
        terminal.process.send_signal(signal.SIGTERM)
        terminal.wait_for("is saved as")
        assert terminal.has_echo()
        assert terminal.close() == 0
    (saved,) = tmp_path.glob("*.sgf")
    assert "B[cc]" in saved.read_text()


def test_a_game_without_a_cursor_is_saved_when_the_system_ends_the_program(tmp_path: Path) -> None:
    compile_once("rollouts")
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as game:
        assert game.stdin is not None and game.stdout is not None
        game.stdin.write("c3\n")
        game.stdin.flush()
        while "Tengen plays" not in game.stdout.readline():
            pass
        game.terminate()
        assert "is saved as" in game.stdout.read()
    assert game.returncode == 0
    assert len(list(tmp_path.glob("*.sgf"))) == 1


def test_a_game_in_a_pipe(tmp_path: Path) -> None:
    compile_once("rollouts")
    done = subprocess.run(COMMAND, input="c3\nquit\nno\n", capture_output=True, text=True, cwd=tmp_path, check=True)
    assert " 3  . .(X). .  3" not in done.stdout, "the engine has answered"
    assert "X" in done.stdout and "(O)" in done.stdout
    assert "\x1b" not in done.stdout
    assert list(tmp_path.iterdir()) == []
