"""Workers on a Ray cluster: what needs no Ray, and, where it is installed, a cluster of two nodes on this machine."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from busy_machine import bound, wait_until
from ray_support import HAS_RAY, needs_ray, small_cluster
from workers.worker_tasks import Doer, job, number_and_wait, stop_at_first

from gtp_engine.base.errors import TaskError, WorkerError
from gtp_engine.base.workers import open_workers, ray_cluster, worker_pool
from gtp_engine.base.workers.ray_cluster import (
    LOCAL,
    SentFolder,
    _check_address,
    _sent_folders,
    check_versions,
    keep_all,
    keep_files,
    versions,
)
from gtp_engine.base.workers.worker_pool import WorkerPlace
from gtp_engine.compiled import kernel_cache

# Addresses


@pytest.mark.parametrize("address", ["nonsense", "host:", ":6379", "host:port", ""])
def test_what_is_no_address_is_a_sentence(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(WorkerError, match=r"^Ray cluster '.*': expected host:port, auto or local$"):
        _check_address(address)
    monkeypatch.setenv("RAY_ADDRESS", "nonsense")
    with pytest.raises(WorkerError, match=r"^Ray cluster 'nonsense'"):
        _check_address("auto")


@pytest.fixture
def silent() -> Iterator[int]:
    """Return the port of a server that accepts connections, and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def web() -> Iterator[int]:
    """Return the port of a web server."""
    server = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_a_wrong_address_is_a_sentence_within_ten_seconds(
    scheme: str, silent: int, web: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        closed = server.getsockname()[1]
    monkeypatch.setattr(ray_cluster, "PATIENCE", 0.5)
    for port, reason in ((closed, "Connection refused"), (silent, "no answer within 10 s"), (web, "another program")):
        address = f"{scheme}127.0.0.1:{port}"
        with pytest.raises(WorkerError, match=rf"^no Ray cluster at '{address}' \({reason}.*\); `ray start --head`"):
            _check_address(address)
    with pytest.raises(WorkerError, match=r"^no Ray cluster at 'host\.invalid:6379' \("):
        _check_address("host.invalid:6379")


@pytest.mark.skipif(HAS_RAY, reason="Ray is installed")
def test_without_ray_the_error_names_the_extra() -> None:
    with pytest.raises(WorkerError, match=r"install it: .*(ray>=2\.9|\[ray\])"), open_workers(job(), 1, LOCAL):
        pass


# What a machine of the cluster needs


def test_other_versions_are_a_sentence() -> None:
    here = versions()
    assert f"({ray_cluster._package_digest()})" in here["gtp-engine"], "its content"
    check_versions(here, here, "10.0.0.7/abc")
    other = {name: version for name, version in here.items() if name != "onnx"} | {"numba": "0.1"}
    text = (
        rf"^node 10.0.0.7/abc has numba 0\.1, onnx \(missing\): expected numba {here['numba']}, onnx {here['onnx']}, "
        r"as on the machine that sends the work; install these versions there$"
    )
    with pytest.raises(WorkerError, match=text):
        check_versions(here, other, "10.0.0.7/abc")


def sent(tmp_path: Path, text: bytes) -> SentFolder:
    for name, data in {"a.onnx": text, "b.onnx": b"b"}.items():
        (tmp_path / name).write_bytes(data)
    (folder,) = _sent_folders([tmp_path / "a.onnx", tmp_path / "b.onnx"], lambda data: data)
    return folder


def test_files_are_written_once_and_named_by_content(tmp_path: Path) -> None:
    got: list[bytes] = []

    def get(content: bytes) -> bytes:
        got.append(content)
        return content

    root = tmp_path / "root"
    first, again, other = (keep_files(sent(tmp_path, text), root, get) for text in (b"1", b"1", b"2"))
    assert first == again != other
    assert got == [b"1", b"b", b"2", b"b"]
    assert (first / "a.onnx").read_bytes() == b"1"
    place = WorkerPlace(folders={tmp_path: first})
    assert place.path(tmp_path / "a.onnx") == first / "a.onnx"
    assert (place.path(tmp_path), place.path(Path("/elsewhere/c"))) == (first, Path("/elsewhere/c"))


def test_files_used_least_recently_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "_MOST_FILE_BYTES", 10)
    folders = []
    for age, text in ((3, b"111111"), (2, b"222222"), (0, b"333333"), (0, b"444444")):
        folders.append(keep_files(sent(tmp_path, text), tmp_path, lambda data: data))
        used = time.time() - age * 3600
        os.utime(folders[-1], (used, used))
    assert [folder.exists() for folder in folders] == [False, False, True, True], "workers may be starting with them"


def test_caches_of_installations_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    monkeypatch.setenv("TENGEN_CACHE_DIR", str(tmp_path))
    for _ in range(2):
        keep_all([], "node", bytes)
        assert kernel_cache.wanted_directory() == tmp_path / "cluster" / "kernels" / kernel_cache.kernel_hash()
    monkeypatch.setenv("TENGEN_CACHE_DIR", str(tmp_path))
    own = tmp_path / "kernels" / kernel_cache.kernel_hash()
    own.mkdir(parents=True)
    (kept,) = keep_all([sent(tmp_path, b"1")], "node", bytes).values()
    assert kept.is_relative_to(tmp_path / "cluster")
    assert kernel_cache.wanted_directory() == own, "an installation has compiled these sources"
    assert list(own.parent.iterdir()) == [own]


NO_DISK = r"^node .* cannot keep networks and compiled kernels in '.*cluster': .*; make room there, or set TENGEN_CACHE"


def test_a_machine_without_disk_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    (tmp_path / "file").touch()
    monkeypatch.setenv("TENGEN_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(WorkerError, match=NO_DISK):
        keep_all([], "10.0.0.7/abc", bytes)
    if Path("/dev/full").exists():
        monkeypatch.setenv("TENGEN_CACHE_DIR", str(tmp_path))
        (tmp_path / "cluster").mkdir()
        (tmp_path / "cluster" / "probe").symlink_to("/dev/full")
        with pytest.raises(WorkerError, match=NO_DISK.replace(": .*;", ": No space left on device;")):
            keep_all([], "10.0.0.7/abc", bytes)


# A cluster

pytest_ray = [needs_ray, pytest.mark.filterwarnings("ignore"), pytest.mark.long]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with small_cluster(2) as found:
        yield found


def on_cluster(test: Callable[..., None]) -> Callable[..., None]:
    for mark in pytest_ray:
        test = mark(test)
    return test


@on_cluster
def test_kills_of_workers_and_nodes_lose_nothing(cluster: Any, tmp_path: Path) -> None:
    """A miniature of scripts/kill_ray_workers."""
    words = [f"word{number}" for number in range(12)]
    notes: list[str] = []
    with open_workers(job(Doer(tmp_path)), None, cluster.address, note=notes.append) as pool:
        assert pool.workers == 2
        answers = [pool.submit((word, int(number == 3))) for number, word in enumerate(words)]
        answers[0].result(bound(120))
        cluster.remove_node(sorted(cluster.worker_nodes, key=id)[0], allow_graceful=False)
        answers += [pool.submit((word, 0)) for word in ("more", "and")]
        cluster.add_node(num_cpus=1)
        answers += [pool.submit(("bug", 0))]
        found = [answer.result(bound(120)) for answer in answers[:-1]]
        with pytest.raises(TaskError, match=r"^KeyError: 'a bug'$"):
            answers[-1].result(bound(60))
    assert found == [f"{word} done" for word in [*words, "more", "and"]]
    assert any("its tasks go to others" in note for note in notes)


@on_cluster
def test_workers_are_named_and_a_maker_gets_its_files(cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "net.onnx").write_bytes(b"net")
    made = job(partial(_read, tmp_path / "net.onnx"), files=[tmp_path / "net.onnx"])
    with open_workers(made, 1, cluster.address) as pool:
        path, data = pool.submit(None).result(bound(120))
        import ray

        (actor,) = [each for each in ray.util.list_named_actors(all_namespaces=True)]
        assert actor["name"].startswith("test 0 (")
    assert data == b"net"
    assert path != tmp_path / "net.onnx"


def _read(path: Path, place: WorkerPlace) -> Callable[[object], tuple[Path, bytes]]:
    return lambda _: (place.path(path), place.path(path).read_bytes())


@on_cluster
def test_a_machine_that_does_not_fit_is_told_of_and_the_others_work(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes: list[str] = []
    bad = cluster.add_node(num_cpus=1, env_vars={"TENGEN_CACHE_DIR": "/dev/null/cache"})
    try:
        with open_workers(job(number_and_wait), 3, cluster.address, note=notes.append) as pool:
            for _ in range(20):
                pool.submit(0.05).result(bound(120))
                if any("cannot keep networks and compiled kernels" in note for note in notes):
                    break
    finally:
        cluster.remove_node(bad, allow_graceful=False)
    assert any("cannot keep networks and compiled kernels" in note for note in notes)
    monkeypatch.setattr(ray_cluster, "versions", lambda: versions() | {"numba": "0.1"})
    with (
        open_workers(job(number_and_wait), 1, cluster.address) as pool,
        pytest.raises(WorkerError, match=r"^all workers failed 5 times in a row; the last one: node .* expected numba"),
    ):
        pool.submit(0.0).result(bound(240))


@on_cluster
@pytest.mark.parametrize("turn", [0, 1, 10])
def test_a_worker_that_hangs_is_ended(cluster: Any, turn: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it is made, at its first task, at a later one.  Ray asks a process to end itself; a stopped one cannot."""
    monkeypatch.setattr(worker_pool, "HANGING", 4.0)
    monkeypatch.setenv("TENGEN_WORKER_MINUTES", f"{bound(1.0) / 60}")
    notes: list[str] = []
    with open_workers(job(partial(stop_at_first, tmp_path, turn)), 2, cluster.address, note=notes.append) as pool:
        found = [pool.submit(each) for each in range(60)]
        assert [each.result(bound(120)) for each in found] == [each * each for each in range(60)]
        stopped = int((tmp_path / "stopped").read_text())
        wait_until(lambda: not Path(f"/proc/{stopped}").exists())
    assert any("and is ended; its tasks go to others" in note for note in notes), notes


@on_cluster
def test_a_cluster_of_its_own_leaves_nothing_in_the_temporary_directory() -> None:
    code = (
        "from workers.worker_tasks import job, number_and_wait\n"
        "from gtp_engine.base.workers import open_workers\n"
        "with open_workers(job(number_and_wait), 1, 'local') as pool:\n"
        "    print(pool.submit(0.0).result())\n"
    )
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    with TemporaryDirectory(prefix="ray-") as folder:  # sockets have short paths
        environment = {**os.environ, "PYTHONPATH": path, "TMPDIR": folder}
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
        )
        assert done.stdout == "0\n", done.stderr
        assert list(Path(folder).iterdir()) == []
