"""Files are written whole or not at all."""

from pathlib import Path

import pytest

from gtp_engine.files import complete_lines, replacing


def test_the_new_file_appears_at_the_end(tmp_path: Path) -> None:
    target = tmp_path / "net.onnx"
    target.write_text("old")
    with replacing(target) as unfinished:
        unfinished.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("reason", [OSError("disk full"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, reason: BaseException) -> None:
    target = tmp_path / "net.onnx"
    target.write_text("old")
    with pytest.raises(type(reason)), replacing(target) as unfinished:
        unfinished.write_text("ne")
        raise reason
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_last_line_that_was_cut_off_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    assert complete_lines(path) == []
    path.write_bytes("one\u2028two\r\nthree\nfo".encode())
    assert complete_lines(path) == ["one\u2028two", "three"]
    with path.open("a") as file:
        file.write("five\n")
    assert complete_lines(path) == ["one\u2028two", "three", "five"]
