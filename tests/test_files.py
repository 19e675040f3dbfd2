"""Files are written whole or not at all, and the user's folder is found."""

import ast
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from filelock import FileLock
from package_sources import PACKAGE, SOURCES, parse

from gtp_engine.base import files
from gtp_engine.base.errors import ConfigError, TengenError
from gtp_engine.base.files import (
    LOCK,
    check_writable,
    complete_lines,
    data_folder,
    expanded,
    json_of,
    locked,
    newest_first,
    owning,
    replacing,
)


@pytest.mark.parametrize("reason", [OSError("disk full"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, reason: BaseException) -> None:
    target = tmp_path / "net.onnx"
    target.write_text("old")
    with pytest.raises(type(reason)), replacing(target) as unfinished:
        unfinished.write_text("ne")
        raise reason
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_of_two_writers_at_once_each_writes_a_whole_file(tmp_path: Path) -> None:
    target = tmp_path / "net.onnx"
    target.write_text("old")
    with replacing(target) as first:
        first.write_text("first, and longer")
        assert target.read_text() == "old"
        with replacing(target) as second:
            assert first.read_text() == "first, and longer"
            second.write_text("second")
        assert target.read_text() == "second"
    assert target.read_text() == "first, and longer"
    assert list(tmp_path.iterdir()) == [target]


def test_whether_a_file_can_be_written_is_known_before(tmp_path: Path) -> None:
    target = tmp_path / "games.jsonl"
    check_writable(target)
    assert list(tmp_path.iterdir()) == []
    target.write_text("old")
    check_writable(target)
    assert (target.read_text(), list(tmp_path.iterdir())) == ("old", [target])
    for place in (tmp_path, tmp_path / "missing" / "x", target / "x"):
        with pytest.raises(OSError):
            check_writable(place)


@pytest.mark.usefixtures("no_home")
def test_without_a_home_the_data_folder_has_to_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TengenError, match=r"^there is no home directory; set TENGEN_DATA_DIR to a folder"):
        data_folder()
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", "/share")
    assert data_folder() == Path("/share/tengen")
    monkeypatch.setenv("TENGEN_DATA_DIR", "/data")
    assert data_folder() == Path("/data")


def test_the_home_of_an_unknown_user_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert expanded("~") == Path.home()
    assert expanded("~no-such-user/net.onnx") == Path("~no-such-user/net.onnx")
    monkeypatch.setenv("TENGEN_DATA_DIR", "~no-such-user/data")
    assert data_folder() == Path("~no-such-user/data")
    for name in ("TENGEN_DATA_DIR", "LOCALAPPDATA", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    usual = {"win32": "AppData/Local", "darwin": "Library/Application Support", "linux": ".local/share"}
    for platform, place in usual.items():
        monkeypatch.setattr(sys, "platform", platform)
        assert data_folder() == Path.home() / place / "tengen"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither modes nor such devices")
def test_folders_links_and_modes(tmp_path: Path) -> None:
    folder, file, link = tmp_path / "folder", tmp_path / "file", tmp_path / "link"
    folder.mkdir(mode=0o755)
    files.make_private(folder)
    file.touch(mode=0o640)
    files.copy_whole(file, folder / "copy")
    assert [path.stat().st_mode & 0o777 for path in (folder, folder / "copy")] == [0o700, file.stat().st_mode & 0o777]
    with (
        pytest.raises(ConfigError, match=r"^cannot write '/x': full; make room"),
        files.writing(Path("/x"), ConfigError),
    ):
        raise OSError(28, "full")
    link.symlink_to("/dev/null")
    assert [files.is_special(path) for path in (folder, file, tmp_path / "none", link)] == [False, False, False, True]
    files.write_whole(link, "in its place")
    assert link.read_text() == "in its place" and not link.is_symlink()


def test_a_last_line_that_was_cut_off_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    assert complete_lines(path) == []
    path.write_bytes("one\u2028two\r\n".encode() + b"thr\xff\nfo")
    assert complete_lines(path, cut=False) == ["one\u2028two", "thr\ufffd"] and path.read_bytes().endswith(b"fo")
    assert complete_lines(path) == ["one\u2028two", "thr\ufffd"]
    with path.open("a") as file:
        file.write("five\n")
    assert complete_lines(path) == ["one\u2028two", "thr\ufffd", "five"]


def test_a_lock_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path) as first, locked(path) as second:
        assert (first, second) == (True, False)
    with locked(path) as third, owning(tmp_path, file="x"), owning(tmp_path, file="y"):
        assert third and {each.name for each in tmp_path.iterdir()} == {"lock", "x.lock", "y.lock"}
    held = owning(tmp_path, file="x")
    with pytest.raises(ConfigError, match=r"another process writes to '.*\bx'"), held, owning(tmp_path, file="x"):
        pass
    assert (tmp_path / "x.lock").exists(), "it was there before"


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be removed")
def test_a_lock_file_that_has_been_removed_locks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has opened the file of an owner that removes it, and then gets its lock, does not hold the next one's."""
    path = tmp_path / "lock"
    acquire, other = FileLock.acquire, FileLock(path)

    def acquire_late(self: FileLock, timeout: float) -> None:
        acquire(self, timeout=timeout)
        if not other.is_locked:
            path.unlink()
            acquire(other, timeout=0)

    monkeypatch.setattr(FileLock, "acquire", acquire_late)
    with locked(path) as is_mine:
        assert not is_mine
    other.release()
    monkeypatch.undo()
    with locked(path) as is_mine:
        assert is_mine


def test_owners_that_fail_and_remove_their_locks_are_never_two_at_a_time(tmp_path: Path) -> None:
    inside: list[int] = []

    def own(number: int) -> None:
        for _ in range(200):
            with suppress(ConfigError, ZeroDivisionError), owning(tmp_path / "a" / "b"):
                inside.append(number)
                assert inside == [number]
                assert (tmp_path / "a" / "b" / LOCK).exists()
                inside.remove(number)
                raise ZeroDivisionError

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(own, range(3)))


@pytest.mark.parametrize("error", [OSError("no locks"), NotImplementedError("no flock")])
def test_where_the_system_has_no_locks_nothing_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refuse(self: FileLock, timeout: float) -> None:
        raise error

    monkeypatch.setattr(FileLock, "acquire", refuse)
    with locked(tmp_path / "lock") as is_held:
        assert is_held


WRITERS = {"write_text", "write_bytes", "copyfile", "copy2"}
NEW_FILES = {
    "compiled/kernel_cache.py": "a file of another name each time, which then replaces the kernel's",
    "training/quantization/quantize.py": "`save_model` writes the unfinished file of its callers",
    "nn/quantized_copy.py": "intermediate results, which are computed again where they are missing",
    "people/review/game_analysis.py": "the head of a file that grows line by line",
    "base/streams.py": "the stream stderr",
    "base/workers/ray_cluster.py": "into a temporary folder",
}
"""Files that write without `replacing`, and why nothing of value can be lost."""


def unprotected(tree: ast.AST) -> list[int]:
    """Return the lines that write a file outside a block with `replacing`."""
    found = []

    def visit(node: ast.AST, inside: bool) -> None:
        if isinstance(node, ast.With | ast.AsyncWith):
            calls = [item.context_expr.func for item in node.items if isinstance(item.context_expr, ast.Call)]
            inside = inside or any(getattr(call, "id", getattr(call, "attr", "")) == "replacing" for call in calls)
        if isinstance(node, ast.Call) and not inside:
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            modes = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            is_open = name == "open" and any(re.fullmatch(r"[wx]b?\+?", mode) for mode in modes)
            if name in WRITERS or is_open:
                found.append(node.lineno)
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(tree, False)
    return found


def test_every_file_that_may_replace_another_does_so_whole() -> None:
    """`printsgf FILE` on a full disk emptied the record that was there."""
    found = {str(path.relative_to(PACKAGE)) for path in SOURCES if unprotected(parse(path))}
    assert found - {"base/files.py"} == set(NEW_FILES)
    assert unprotected(ast.parse('with replacing(p) as q:\n q.write_text("")\nopen(p, "w")')) == [3]


@pytest.mark.parametrize(
    "text", ["1e400", "NaN", "[-Infinity]", f"{2**63}", f"{-(2**63) - 1}", "9" * 5000, "[" * 100_000, "{", '"a']
)
def test_json_of_others_raises_nothing_but_valueerror(text: str) -> None:
    with pytest.raises(ValueError):
        json_of(text)


def test_json_of_others_is_read() -> None:
    text = '{"a": [1, -2.5, "x", null, true, 9223372036854775807, -9223372036854775808]}'
    assert json_of(text) == {"a": [1, -2.5, "x", None, True, 2**63 - 1, -(2**63)]}


def test_the_newest_file_comes_first(tmp_path: Path) -> None:
    written = {tmp_path / "a": 2.0, tmp_path / "b": 3.0, tmp_path / "c": 1.0, tmp_path / "d": 3.0}
    for path, time in written.items():
        path.touch()
        os.utime(path, (time, time))
    found = newest_first([*written, tmp_path / "gone"])
    assert [(path.name, time) for path, time in found] == [("d", 3.0), ("b", 3.0), ("a", 2.0), ("c", 1.0)]
