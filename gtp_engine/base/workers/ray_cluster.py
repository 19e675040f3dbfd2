"""Workers on a Ray cluster (https://docs.ray.io): actors on the machines that Ray chooses.

Every machine needs the same version of Ray (the extra `ray`) and the dependencies of this package; the package itself
is sent along.  A worker compares all versions before it begins.

What workers need is kept once on a machine, for all of them and for later runs, in the folder `cluster` of the user's
cache: the files of a job in folders named by their content, and the compiled kernels, unless an installation of the
same sources has compiled them.  The caches of installations are left alone.

Ray decides where a worker runs, and waits until a machine has room for it; where it can start machines, those that
wait are its reason to do so.
"""

import contextlib
import hashlib
import logging
import os
import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import gtp_engine
from gtp_engine.base.errors import WorkerError, shown, shown_path
from gtp_engine.base.files import locked, write_whole
from gtp_engine.base.installation import advice_for
from gtp_engine.base.workers.worker_pool import (
    PLACED,
    Lost,
    TaskRunner,
    TellMessage,
    WorkerJob,
    WorkerMaker,
    WorkerMessage,
    WorkerPlace,
)
from gtp_engine.compiled.kernel_cache import PACKAGE, keep_apart, remove_unused

LOCAL: Final = "local"
"""In place of an address: start a cluster on this machine, for this run."""

AUTO: Final = "auto"
"""The same for the cluster that runs on this machine, or that RAY_ADDRESS names."""

PATIENCE: Final = 10.0
"""Seconds within which a cluster has to answer; Ray itself tries for 14 minutes."""

_FILES: Final = "files"
_MOST_FILE_BYTES: Final = 4 << 30
"""Size of all files of jobs that a machine keeps; those used least recently are removed …"""
_LEAST_AGE: Final = 3600.0
"""… unless they were used in these seconds, since their workers may be starting."""
_PROBE_BYTES: Final = 1 << 20
"""Written to see whether there is room: about a tenth of what kernels take."""

_DEPENDENCIES: Final = ("numpy", "numba", "llvmlite", "onnx", "onnxruntime", "openvino", "ray")
"""Packages on which results depend."""

_WORKER_BYTES: Final = 1 << 30
_BYTES_OF_A_NETWORK: Final = 4
"""Memory that Ray reserves for a worker: this, and so many times the size of its files."""

_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
"""The beginning of a connection of gRPC, Ray's protocol (RFC 9113, 3.4), with empty settings."""
_SETTINGS: Final = 4
_FRAME_HEADER: Final = 9
"""The first frame of the answer has settings, too."""


# The connection


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Yield the package `ray`, connected to the cluster at `address`; what was started there ends with the context.

    Raises WorkerError where Ray is missing or cannot be reached.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # else clusters that it starts report to its makers
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else Ray warns of a change to come
    try:
        import ray
    except ImportError:
        raise WorkerError("Ray is not installed", advice=advice_for("ray")) from None
    with contextlib.ExitStack() as stack:
        options: dict[str, Any] = {"address": address}
        if address == LOCAL:
            folder = stack.enter_context(TemporaryDirectory(prefix="tengen-", ignore_cleanup_errors=True))
            options = {"_temp_dir": folder, "include_dashboard": False}
        else:
            _check_address(address)
        try:
            ray.init(
                **options,
                runtime_env={"py_modules": [gtp_engine], "excludes": ["models/"]},
                log_to_driver=False,
                logging_level=logging.CRITICAL,
            )
        except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
            raise _unreachable(address, " ".join(str(error).split())) from None
        stack.callback(ray.shutdown)
        _keep_off_stdout(ray)
        yield ray


def _keep_off_stdout(ray: Any) -> None:
    """Drop the pages that Ray prints on stdout, of all places, for each node that is lost; the pool has a sentence."""
    with contextlib.suppress(AttributeError):
        if callable(ray._private.worker.print_to_stdstream):
            ray._private.worker.print_to_stdstream = lambda *_, **__: None


def _unreachable(address: str, reason: str) -> WorkerError:
    given = f"no Ray cluster at {shown_path(address)} ({shown(reason, length=200)[1:-1]})"
    return WorkerError(given, advice="`ray start --head` starts one and prints its address")


def _check_address(address: str) -> None:
    """Raise WorkerError unless a server that speaks Ray's protocol answers at an address of the form host:port."""
    if address == AUTO:
        address = os.environ.get("RAY_ADDRESS", AUTO)
    if address in (AUTO, LOCAL):
        return  # Ray finds only what runs on this machine
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not (host and port.isdecimal()):
        raise WorkerError(f"Ray cluster {shown_path(address)}", expected=f"host:port, {AUTO} or {LOCAL}")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE) as connection:
            connection.sendall(_PREFACE)
            answer = connection.makefile("rb").read(_FRAME_HEADER)
    except (OSError, OverflowError) as error:
        reason = "no answer within 10 s" if isinstance(error, TimeoutError) else getattr(error, "strerror", None)
        raise _unreachable(address, reason or str(error)) from None
    if len(answer) < _FRAME_HEADER or answer[3] != _SETTINGS:
        raise _unreachable(address, "another program answers there")


class RayHost:
    """Starts actors, each with the cores and the memory that a worker of the job needs."""

    def __init__(self, ray: Any, job: WorkerJob) -> None:
        self._ray: Final = ray
        self._job: Final = job
        self._makers: Final = [ray.put(make) for make in job.makers]
        self._versions: Final = versions()
        self._sent: Final = _sent_folders(job.files, ray.put)
        self._bytes: Final = _WORKER_BYTES + _BYTES_OF_A_NETWORK * sum(folder.size for folder in self._sent)

    def start(self, number: int, life: int, tell: TellMessage) -> "_ActorStation":
        """Ask Ray for an actor, which it starts when there is room for it; a `StartWorker`."""
        name = f"{self._job.title} {number}" + (f", life {life + 1}" if life else "")
        unique = f"{name} ({os.getpid()}-{time.monotonic_ns():x})"  # Ray has no two actors of one name
        actor = self._ray.remote(
            num_cpus=self._job.threads, memory=self._bytes, scheduling_strategy="SPREAD", name=unique
        )(RayWorker).remote(name, self._job.title if self._job.calls_kernels else None)
        placed, make = actor.placed.remote(), [self._makers[number % len(self._makers)]]
        made = actor.become.remote(make, self._versions, self._sent, number, life)  # which it does after that
        return _ActorStation(self._ray, actor, [placed, made], tell)

    def capacity(self) -> int:
        """Return for how many workers the machines of the cluster have cores and memory, if they do nothing else."""
        resources = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        return sum(
            min(int(has.get("CPU", 0) // self._job.threads), int(has.get("memory", 0) // self._bytes))
            for has in resources
        )


class _ActorStation:
    """An actor seen from here, a `WorkerStation`."""

    def __init__(self, ray: Any, actor: Any, begun: Iterable[Any], tell: TellMessage) -> None:
        self._ray: Final = ray
        self._actor: Final = actor
        self._tell: Final = tell
        for reference in begun:
            self._follow(reference)

    def send(self, number: int, task: Any) -> None:
        try:
            self._follow(self._actor.do.remote(number, task))
        except self._ray.exceptions.RayError as error:
            self._tell(Lost(_reason(error)))

    def end(self) -> None:
        with contextlib.suppress(self._ray.exceptions.RayError):
            self._ray.kill(self._actor)

    def _follow(self, reference: Any) -> None:
        reference.future().add_done_callback(self._done)

    def _done(self, future: Any) -> None:
        error = future.exception()
        self._tell(future.result() if error is None else Lost(_reason(error)))


def _reason(error: BaseException) -> str:
    """Return what became of an actor, in a few words that are the same for all that go the same way."""
    text = str(error)
    if "Unavailable" in type(error).__name__:
        return "cannot be reached"
    if "OutOfMemory" in type(error).__name__ or "memory usage exceeds" in text:
        return "was ended, since its node ran out of memory"
    if "node" in text and ("node has died" in text or "node died" in text or "terminated" in text):
        return "was lost with its node"
    if "worker process has died" in text or "connection error" in text:
        return "ended unexpectedly"
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return f"failed ({shown(lines[-1].strip(), length=200)[1:-1] if lines else type(error).__name__})"


# On the cluster's machines


def versions() -> dict[str, str]:
    """Return the versions of the package, by its content, of Python, and of the packages on which results depend."""
    found = {"gtp-engine": f"{gtp_engine.__version__} ({_package_digest()})", "Python": sys.version.split()[0]}
    for name in _DEPENDENCIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


@cache
def _package_digest() -> str:
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:8]


def check_versions(wanted: Mapping[str, str], found: Mapping[str, str], node: str) -> None:
    """Raise WorkerError unless a node has the versions of the machine that sends the work."""
    names = [name for name in wanted if wanted[name] != found.get(name)]
    if names:
        given = ", ".join(f"{name} {found.get(name, '(missing)')}" for name in names)
        expected = ", ".join(f"{name} {wanted[name]}" for name in names)
        raise WorkerError(
            f"node {node} has {given}",
            expected=f"{expected}, as on the machine that sends the work",
            advice="install these versions there",
        )


@dataclass(frozen=True)
class SentFolder:
    """Files of one folder: where they came from, what names their content, their size, and how their bytes are had."""

    source: Path
    digest: str
    size: int
    contents: Mapping[str, Any]


def _sent_folders(paths: Iterable[Path], put: Callable[[bytes], Any]) -> list[SentFolder]:
    """Return folders, with all that is in them, and the folders of single files, with these; raises OSError."""
    whole = {path for path in paths if path.is_dir()}
    found = {folder: [path for path in folder.rglob("*") if path.is_file()] for folder in whole}
    for path in paths:
        if not any(folder in whole for folder in (path, *path.parents)):
            found.setdefault(path.parent, []).append(path)
    folders = []
    for source, files in sorted(found.items()):
        contents = {path.relative_to(source).as_posix(): path.read_bytes() for path in sorted(files)}
        digest = hashlib.sha256()
        for name, data in contents.items():
            digest.update(f"{name}\0{len(data)}\0".encode() + data)
        sent = {name: put(data) for name, data in contents.items()}
        folders.append(SentFolder(source, digest.hexdigest()[:32], sum(map(len, contents.values())), sent))
    return folders


def keep_files(sent: SentFolder, root: Path, get: Callable[[Any], bytes]) -> Path:
    """Return the folder below `root` with these files, which one process of a machine writes for all; raises OSError.

    `get` returns the bytes of what the contents name.
    """
    place = root / _FILES / sent.digest
    place.parent.mkdir(parents=True, exist_ok=True)
    while not place.exists():
        with locked(place.with_suffix(".lock")) as is_mine:
            if is_mine and not place.exists():
                unfinished = place.with_suffix(".part")
                shutil.rmtree(unfinished, ignore_errors=True)
                unfinished.mkdir()
                for name, content in sent.contents.items():
                    (unfinished / name).parent.mkdir(parents=True, exist_ok=True)
                    write_whole(unfinished / name, get(content))
                unfinished.replace(place)
                with contextlib.suppress(OSError):  # others are removing them
                    folders = [path for path in place.parent.iterdir() if path.is_dir()]
                    remove_unused(folders, _MOST_FILE_BYTES, _size, used_before=time.time() - _LEAST_AGE)
        time.sleep(0.0 if is_mine else 0.1)
    place.touch()  # the time shows which are in use
    return place


def _size(folder: Path) -> int:
    return sum(each.stat().st_size for each in folder.rglob("*"))


def keep_all(folders: Iterable[SentFolder], node: str, get: Callable[[Any], bytes]) -> dict[Path, Path]:
    """Return the folders on this machine with what workers need, by those from which it was sent.

    Compiled kernels go beside them from now on.  Raises WorkerError if there is no room for either.
    """
    root = keep_apart()
    try:
        root.mkdir(parents=True, exist_ok=True)
        probe = root / "probe"  # of one name, so that killed workers leave one at most
        try:
            probe.write_bytes(bytes(_PROBE_BYTES))
        finally:
            probe.unlink(missing_ok=True)
        return {sent.source: keep_files(sent, root, get) for sent in folders}
    except OSError as error:
        given = f"node {node} cannot keep networks and compiled kernels in {shown_path(root)}: {error.strerror}"
        advice = "make room there, or set TENGEN_CACHE_DIR on that node before `ray start`"
        raise WorkerError(given, advice=advice) from None


class RayWorker(TaskRunner):
    """The actor.  Ray's dashboard and logs call it by its title and number."""

    def __init__(self, name: str, kernels: str | None) -> None:
        super().__init__(kernels)
        self._name: Final = name

    def __repr__(self) -> str:
        return f"Tengen {self._name}"

    def placed(self) -> WorkerMessage:
        """Say that Ray has found room for it."""
        return PLACED

    def become(
        self, make: Sequence[Any], wanted: Mapping[str, str], sent: Sequence[SentFolder], number: int, life: int
    ) -> WorkerMessage:
        """Become worker `number`, made by the one element of `make`: Ray loads what is named by an argument itself.

        It is loaded only after versions were compared.
        """
        import ray

        address: str = ray.util.get_node_ip_address()  # type: ignore[no-untyped-call, unused-ignore]
        node = f"{address}/{ray.get_runtime_context().get_node_id()[:6]}"

        def made() -> Callable[[Any], Any]:
            check_versions(wanted, versions(), node)
            folders = keep_all(sent, node, ray.get)
            maker: WorkerMaker = ray.get(make[0])
            return maker(WorkerPlace(number, life, folders))

        return self.begin(made, node)
