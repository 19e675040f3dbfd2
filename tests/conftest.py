"""Settings of the whole suite."""

import asyncio
import gc
import inspect
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest
from busy_machine import bound
from hypothesis import HealthCheck, settings

# The networks of the user who runs the tests, and their choice of a default, must not matter.
os.environ["TENGEN_DATA_DIR"] = str(Path(__file__).parent / "no-such-folder")

# Tests that import onnxruntime themselves report nothing to its makers either.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

# A process that crashes in compiled code says where.
os.environ["PYTHONFAULTHANDLER"] = "1"

# Tests start some hundred processes, which should not have to compile the sources of the package again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# No limit of time: the first call of a kernel compiles it, and machines that run tests are often loaded.
# Derandomized: the same commit gives the same verdict.
settings.register_profile("tengen", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tengen")

# Tests compile kernels and play games; at Python's threshold the collector takes a tenth of that (`engine.kernels`).
gc.set_threshold(100_000)

MANY_TESTS: Final = 500
"""Tests from which a run uses most kernels of searches, such as those of tests/search."""

MOST_TESTS: Final = 2000
"""Tests from which a run uses AlphaGo's kernels as well."""

COROUTINE_SECONDS: Final = 120
"""The longest that a test that is a coroutine may take on an idle machine, if its module has no `TEST_SECONDS`."""


@pytest.fixture(autouse=True)
def _no_language_was_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the language that a test has chosen: the next one's pages and messages must not be in it."""
    from gtp_engine.base import languages

    monkeypatch.setattr(languages, "_catalogue", None)
    monkeypatch.setattr(languages, "_chosen", "")


@pytest.fixture(autouse=True)
def _few_curves(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw only the first curves of a run, and coarsely, unless the test is about curves: a short run takes less."""
    if (reporting := sys.modules.get("gtp_engine.training.core.reporting")) and "curves" not in request.node.name:
        write = reporting.write_panels
        monkeypatch.setattr(reporting, "write_panels", lambda path, panels: write(path, dict([*panels.items()][:1])))
        monkeypatch.setattr(reporting, "_DOTS_PER_INCH", 25)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine to its end, in the event loop of the browser if it has `windows`."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}

    async def limited() -> None:
        async with asyncio.timeout(bound(getattr(pyfuncitem.module, "TEST_SECONDS", COROUTINE_SECONDS))):
            await pyfuncitem.obj(**arguments)

    run = arguments["windows"].chromium.run if "windows" in arguments else asyncio.run
    run(limited())
    return True


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Start two workers more than there are cores: a third of the time, tests wait for processes and the browser."""
    return 2 + (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: Sequence[str]) -> None:
    """Compile all kernels on all cores before many tests are handed out, rather than some in each worker.

    The workers wait meanwhile.  Two that need the same kernels at a time would both compile them.
    """
    compile_for(len(ids))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Do the same without workers: a test that compiles the largest kernel on a busy machine looks as if it hung."""
    gc.freeze()  # tests and modules, which the collector would go through again and again
    if not hasattr(session.config, "workerinput") and not session.config.option.collectonly:
        compile_for(len(session.items))


def compile_for(tests: int) -> None:
    """Compile the kernels that most tests use, on two cores, if there are many tests."""
    if tests >= MANY_TESTS:
        from warm_cache import STARTS, compile_once

        with ThreadPoolExecutor(2) as threads:  # a start that another leaves a core compiles on it what only it needs
            list(threads.map(compile_once, STARTS if tests >= MOST_TESTS else ("network", "rollouts")))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let each worker begin with its share of the long tests, so that none of them is left for the end.

    Those of a file go to one worker, which makes their networks once.  Workers first get equal parts of the list, in
    its order, and take from each other once they have no more.  Tests that are long because the first of them compiles
    kernels of its own are not marked: in one worker, one compiles.
    """
    if not hasattr(config, "workerinput"):
        return
    workers: int = config.workerinput["workercount"]
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("long"):
            files.setdefault(item.path, []).append(item)
    others = iter([item for item in items if not item.get_closest_marker("long")])
    ordered: list[pytest.Item] = []
    for worker in range(workers):
        part = (len(items) - len(ordered)) // (workers - worker)
        share = [item for file in list(files.values())[worker::workers] for item in file]
        ordered += [*share, *(item for _, item in zip(range(part - len(share)), others, strict=False))]
    items[:] = ordered


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Return the browser of `web.browser`."""
    from web.browser import Chromium

    browser = Chromium()
    yield browser
    browser.close()


@pytest.fixture
def windows(chromium: Any) -> Iterator[Any]:
    """Return the windows of a test."""
    from web.browser import Windows

    windows = Windows(chromium)
    yield windows
    windows.close()


@pytest.fixture
def port(windows: Any, tmp_path: Path) -> Iterator[int]:
    """Return the port of a server for pages, whose games are in the folder `games`."""
    from web.page_support import server

    running = server(tmp_path / "games")
    yield windows.chromium.run(running.__aenter__())
    windows.chromium.run(running.__aexit__(None, None, None))


@pytest.fixture
def no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave this process without home directory and without variables that name folders in its place."""

    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", unknown)
    for name in ("NUMBA_CACHE_DIR", "TENGEN_CACHE_DIR", "TENGEN_DATA_DIR", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name in ("CACHE", "CONFIG", "DATA"):
        monkeypatch.delenv(f"XDG_{name}_HOME", raising=False)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let SIGINT interrupt this process and those it starts, also where the tests run as a background job.

    A shell without job control lets its background jobs ignore SIGINT, and their children inherit that.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
