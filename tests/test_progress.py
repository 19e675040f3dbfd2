"""The progress bar of long commands, as it appears where stderr is not a terminal."""

import re
import sys

import pytest

from gtp_engine.base.progress import ProgressBar, _duration


def test_without_a_terminal_there_is_a_line_each_interval(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gtp_engine.base.progress.LINE_INTERVAL", 0.0)
    with ProgressBar(total=200) as bar:
        for done, text in ((10, "10 of 200"), (30, "30 of 200 [bold]"), (30, "the next")):
            bar.update(done, text)
    first, *others = capsys.readouterr().err.splitlines()
    assert first == "  5.0%  10 of 200"
    assert re.fullmatch(r" 15\.0%  30 of 200 \[bold\], \d+ s left\n 15\.0%  the next, \d+ s left", "\n".join(others))
    with ProgressBar(total=None) as bar:  # of which no share is known
        bar.update(10, "10 games")
        bar.update(20, "20 games")
    assert capsys.readouterr().err == "10 games\n20 games\n"


def test_lines_are_rare(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for interval, first in ((10.0, ""), (0.0, "  0.0%  0\n")):
        monkeypatch.setattr("gtp_engine.base.progress.LINE_INTERVAL", interval)
        with ProgressBar() as bar:
            monkeypatch.undo()
            for step in range(100):
                bar.update(step / 100, str(step))
            bar.log("a line [of text]")
        assert capsys.readouterr() == ("", f"{first}a line [of text]\n")


@pytest.mark.parametrize(("is_terminal", "kind"), [(False, "xterm"), (True, "dumb")])
def test_colors_in_a_file_do_not_make_it_a_terminal(
    is_terminal: bool, kind: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`models quantize` once wrote its bar fifty times in twenty seconds into a log."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", kind)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    monkeypatch.setattr("gtp_engine.base.progress.LINE_INTERVAL", 0.0)
    with ProgressBar() as bar:
        for _ in range(5):
            bar.update(0.0, "0 of 12")
    assert capsys.readouterr().err.split() == ["0.0%", "0", "of", "12"]


def test_a_terminal_shows_the_bar_again_for_a_second_stage(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with ProgressBar(total=4) as bar:
        bar.update(4, "first stage")
        bar.update(1, "second stage [50%–60%]")
    shown = capsys.readouterr().err
    assert "second stage [50%–60%]" in shown and "25%" in shown


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0 s"), (89, "89 s"), (90, "2 minutes"), (600, "10 minutes")])
def test_time_left_in_words(seconds: float, text: str) -> None:
    assert _duration(seconds) == text
