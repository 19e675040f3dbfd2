"""Where compiled kernels are kept, above all if the home directory cannot be written."""

import contextlib
import functools
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from unittest.mock import Mock

import llvmlite.binding
import pytest
from busy_machine import wait_until

import gtp_engine
from gtp_engine.compiled import jit as _jit
from gtp_engine.compiled import kernel_cache

ROOT = Path(gtp_engine.__file__).parents[1]
HAS_USERS = hasattr(os, "getuid")

USE_THE_CACHE = "from gtp_engine.compiled import kernel_cache; print(kernel_cache.cache_directory())"
KEEP_APART = (
    "import os; os.environ |= dict(TENGEN_CACHE_DIR='', XDG_CACHE_HOME='/dev/null', HOME='/dev/null'); "
    "from gtp_engine.compiled import kernel_cache; print(kernel_cache.keep_apart())"
)


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """Return an empty folder for temporary files, beside a file where the caches should be."""
    (tmp_path / "no-folder").touch()
    (tmp_path / "temporary").mkdir()
    return tmp_path / "temporary"


def run(code: str, temporary: Path) -> tuple[Path, str]:
    """Return the folder that a process prints, and its stderr; it cannot create the cache folder that is wanted."""
    removed = ("NUMBA_CACHE_DIR", "TENGEN_CACHE_DIR")
    environment = {name: value for name, value in os.environ.items() if name not in removed}
    unwritable = str(temporary.parent / "no-folder" / "cache")
    environment |= {"TENGEN_CACHE_DIR": unwritable, "PYTHONPATH": str(ROOT)}
    environment |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))
    process = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return Path(process.stdout.strip()), process.stderr


def test_one_folder_in_the_temporary_directory_is_reused(temporary: Path) -> None:
    """Each start used to compile again, into a folder of its own that stayed behind."""
    first, message = run(USE_THE_CACHE, temporary)
    assert "no-folder" in message and str(first) in message and "TENGEN_CACHE_DIR" in message
    assert run(USE_THE_CACHE, temporary)[0] == first
    (only,) = temporary.iterdir()
    assert first.is_relative_to(only) and kernel_cache.is_private(only)


@pytest.mark.skipif(not HAS_USERS, reason="Windows has no modes; its temporary directory is the user's own")
@pytest.mark.parametrize("code", [USE_THE_CACHE, KEEP_APART])
def test_a_folder_that_others_can_write_is_not_used(code: str, temporary: Path) -> None:
    """It holds code that will be run."""
    user = os.getuid()
    planted = temporary / f"tengen-{user}"
    planted.mkdir(mode=0o777)
    planted.chmod(0o777)
    directory, _ = run(code, temporary)
    assert directory.is_relative_to(temporary) and not directory.is_relative_to(planted)
    assert list(temporary.iterdir()) == [planted]  # a folder that no later start would find is removed
    assert list(planted.iterdir()) == []


@pytest.mark.skipif(not HAS_USERS, reason="Windows has no modes")
def test_privacy_means_a_folder_of_this_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "folder"
    assert not kernel_cache.is_private(folder)
    folder.mkdir(mode=0o700)
    assert kernel_cache.is_private(folder)
    (tmp_path / "link").symlink_to(folder)
    (tmp_path / "file").touch(mode=0o700)
    assert not any(map(kernel_cache.is_private, (tmp_path / "link", tmp_path / "file")))
    folder.chmod(0o750)
    assert not kernel_cache.is_private(folder)
    folder.chmod(0o700)
    monkeypatch.setattr("os.getuid", lambda: folder.stat().st_uid + 1)
    assert not kernel_cache.is_private(folder)


@pytest.mark.usefixtures("no_home")
def test_without_a_home_the_temporary_directory_is_used(monkeypatch: pytest.MonkeyPatch, temporary: Path) -> None:
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(temporary))
    monkeypatch.setattr(kernel_cache, "cache_directory", functools.cache(kernel_cache.cache_directory.__wrapped__))
    assert kernel_cache.wanted_directory() is None
    assert kernel_cache.find_directory().is_relative_to(temporary)
    assert list(temporary.iterdir()) == []
    assert kernel_cache.cache_directory() == kernel_cache.find_directory()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(temporary.parent / "no-folder"))
    of_child = kernel_cache.environment()
    assert Path(of_child["TENGEN_CACHE_DIR"], "kernels", kernel_cache.kernel_hash()) == kernel_cache.cache_directory()
    assert "NUMBA_CACHE_DIR" not in of_child
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(kernel_cache.cache_directory().parent))
    assert kernel_cache.environment() == os.environ
    path = kernel_cache.package_environment({"PYTHONPATH": "there"})["PYTHONPATH"]
    assert path == os.pathsep.join([str(kernel_cache.PACKAGE.parent), "there"])


def test_what_was_sent_from_another_machine_is_kept_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In one folder, also by the processes that such a process starts."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    monkeypatch.setenv("TENGEN_CACHE_DIR", str(tmp_path))
    assert kernel_cache.keep_apart() == kernel_cache.keep_apart() == tmp_path / "cluster"


def test_caches_lie_where_each_platform_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TENGEN_CACHE_DIR", "LOCALAPPDATA", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for platform, place in {"win32": "AppData/Local", "darwin": "Library/Caches", "linux": ".cache"}.items():
        monkeypatch.setattr(sys, "platform", platform)
        assert kernel_cache.cache_root() == Path.home() / place / "tengen"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert kernel_cache.cache_root() == Path.home() / ".cache" / "tengen"
    monkeypatch.setenv("TENGEN_CACHE_DIR", "~/caches")
    assert kernel_cache.cache_root() == Path.home() / "caches"


def test_what_was_used_least_recently_makes_room(tmp_path: Path) -> None:
    for before, left in ((2, [3, 4, 5]), (9, [4, 5])):
        for size in range(1, 6):
            (tmp_path / str(size)).write_bytes(bytes(size))
            os.utime(tmp_path / str(size), (size - 1, size - 1))
        kernel_cache.remove_unused(tmp_path.iterdir(), 9, lambda path: path.stat().st_size, used_before=before)
        assert sorted(int(path.name) for path in tmp_path.iterdir()) == left


def test_only_the_caches_of_the_latest_versions_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    caches = [tmp_path / f"{number:016x}" for number in range(6)]
    for age, path in enumerate(reversed(caches)):
        path.mkdir()
        os.utime(path, (1e9 - age, 1e9 - age))
    (tmp_path / "notes").mkdir()
    kernel_cache._remove_old_caches(caches[-1])
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*(p.name for p in caches[2:]), "notes"])
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))  # where other programs may keep theirs
    assert kernel_cache.cache_directory.__wrapped__().parent == tmp_path
    assert all(path.exists() for path in caches[2:])


def test_an_edited_kernel_of_a_user_is_compiled_again(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    environment = os.environ | {"TENGEN_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    code = "from gtp_engine.compiled.jit import kernel\n@kernel\ndef f(x):\n    return x + {}\nprint(f(1))"
    for number in (1, 2):
        script.write_text(code.format(number))
        found = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, check=True)
        assert found.stdout.split() == [str(1 + number).encode()]


def test_installations_of_equal_sources_share_their_code(tmp_path: Path) -> None:
    """The folder used to be named by the package's path, so that each of two clones or environments compiled."""
    code = (
        "import numpy; from gtp_engine.go.board import count_liberties, new_board; board = new_board(9, 9); "
        "count_liberties(board, numpy.zeros(board.color.size, dtype=numpy.int32))"
    )
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment |= {"TENGEN_CACHE_DIR": str(tmp_path / "cache")}
    written, ignored = list[dict[str, int]](), shutil.ignore_patterns("__pycache__")
    for name in ("first", "second"):
        shutil.copytree(ROOT / "gtp_engine", tmp_path / name / "gtp_engine", ignore=ignored)
    (tmp_path / "link").symlink_to(tmp_path / "second")
    for name in ("first", "second", "link"):
        environment["PYTHONPATH"] = str(tmp_path / name)
        # Python looks into the current folder first.
        subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, check=True)
        files = (tmp_path / "cache").rglob("*.nb?")
        written.append({path.relative_to(tmp_path).as_posix(): path.stat().st_mtime_ns for path in files})
    assert written[0] and written[0] == written[1] == written[2]


def test_processors_of_one_name_may_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    """A virtual machine can hide features; numba then compiles again, which took minutes without a word."""
    before = kernel_cache._file_tag("network")
    features = llvmlite.binding.get_host_cpu_features()
    features["sse2"] = not features["sse2"]
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", lambda: features)
    kernel_cache._processor.cache_clear()
    assert kernel_cache._file_tag("network") != before
    kernel_cache._processor.cache_clear()


# --- Files that are damaged or cannot be written

KERNEL = """
import sys
from gtp_engine.compiled import jit as _jit, kernel_cache

@_jit.kernel
def add(a, b):
    return a + b

if "full" in sys.argv:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))  # every write fails
if "require" in sys.argv:
    kernel_cache.require_saving()
print(add(1, 2), add(1.5, 2))
"full" in sys.argv and resource.setrlimit(resource.RLIMIT_FSIZE, 2 * resource.getrlimit(resource.RLIMIT_FSIZE)[1:])
kernel_cache.note_kernels("network")
kernel_cache.record_compiled("add")
"""


def run_kernel(folder: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    """Run a program that compiles a kernel for two types, with the cache in a folder."""
    script = folder / "program.py"
    script.write_text(KERNEL)
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment |= {"TENGEN_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(script), *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_damaged_code_is_compiled_again(tmp_path: Path) -> None:
    """The machine may go down before the system has written a file."""
    assert run_kernel(tmp_path).stdout == "3 3.5\n"
    for ending in ("nbi", "nbc"):
        files = {path: path.read_bytes() for path in (tmp_path / "cache").rglob(f"*.{ending}")}
        assert files
        for path, data in files.items():
            path.write_bytes(data[: len(data) // 2])
        process = run_kernel(tmp_path)
        assert process.stdout == "3 3.5\n"
        (line,) = (line for line in process.stderr.splitlines() if line != kernel_cache._COMPILING)
        assert line.startswith("Tengen: compiled code in ") and "is damaged and is compiled again" in line
        assert {path: len(path.read_bytes()) for path in files} == {path: len(data) for path, data in files.items()}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of file sizes")
def test_code_that_cannot_be_written_runs_all_the_same(tmp_path: Path) -> None:
    process = run_kernel(tmp_path, "full")
    assert process.stdout == "3 3.5\n"
    (line,) = (line for line in process.stderr.splitlines() if line != kernel_cache._COMPILING)
    assert line.startswith("Tengen: compiled code cannot be written to ") and "(File too large), so every start" in line
    assert not list((tmp_path / "cache").rglob("complete-*")), "the next start must not rely on it"
    process = run_kernel(tmp_path, "full", "require")
    assert process.stdout == "" and "OSError: [Errno" in process.stderr


def test_a_call_that_waits_for_the_compiler_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """`Engine` in Python sat silent for 25 s; two threads that waited could both say why."""
    heard: list[tuple[str, object]] = []

    def write(text: str, file: object) -> None:
        heard.append((text, file))
        kernel_cache._note_compiling()  # as another thread may meanwhile

    monkeypatch.setattr(kernel_cache, "print", write, raising=False)
    monkeypatch.setattr(kernel_cache, "_PATIENCE", 0.1)
    monkeypatch.setattr(kernel_cache, "_seconds_compiling", 0.0)
    monkeypatch.setattr(kernel_cache, "_said", threading.Lock())
    with kernel_cache.compiling():
        pass
    assert not heard
    with kernel_cache.compiling():
        wait_until(lambda: bool(heard))
    with kernel_cache.compiling():
        time.sleep(0.3)
    assert heard == [(kernel_cache._COMPILING, sys.stderr)]


def test_several_short_waits_for_the_compiler_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    timer = Mock()
    monkeypatch.setattr("threading.Timer", timer)
    monkeypatch.setattr(kernel_cache, "_seconds_compiling", 0.0)
    for _ in range(3):
        with kernel_cache.compiling():
            time.sleep(0.05)
    first, second, third = (call.args[0] for call in timer.call_args_list)
    assert 0 < third < second - 0.04 < first - 0.08


def test_what_is_kept_counts_once_it_is_complete(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(kernel_cache, "cache_directory", lambda: tmp_path)
    monkeypatch.setattr(kernel_cache, "find_directory", lambda: tmp_path)
    assert kernel_cache.compiled_so_far() == []
    kernel_cache.record_compiled("first")
    kernel_cache.record_compiled("second")
    assert kernel_cache.compiled_so_far() == ["first", "second"]
    (file,) = tmp_path.iterdir()
    file.write_text("first\nsec", encoding="utf-8")
    assert kernel_cache.compiled_so_far() == ["first"]
    file.unlink()
    kernel_cache.note_kernels("rollouts", ["a", "b"])
    (file,) = tmp_path.iterdir()
    for data, lines in ((file.read_bytes(), ["a", "b"]), (b"a\nb\ncomp", None), (b"\xff\ncomplete", None)):
        file.write_bytes(data)
        assert kernel_cache.noted_kernels("rollouts") == lines


def test_only_kernels_compiled_for_a_call_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who loads kernels in advance says so himself, with the progress."""
    noted: list[str] = []

    def double(x: int) -> int:
        return 2 * x

    monkeypatch.setattr(_jit, "compiling", lambda: noted.append("compiling") or contextlib.nullcontext())
    kernel = _jit._Kernel(double, {**_jit._OPTIONS})
    empty = Mock(**{"load_overload.return_value": None})
    monkeypatch.setattr("gtp_engine.compiled.jit_linking.TolerantCache", lambda function: empty)
    kernel.load(_jit.KernelCall(kernel, (1,)).types)
    assert kernel(1) == 2 and noted == []
    assert kernel(1.5) == 3.0 and noted == ["compiling"]
