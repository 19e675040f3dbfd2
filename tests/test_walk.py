"""The walk through the source in CONTRIBUTING.md is what happens: a `genmove` calls its functions in its order."""

import ast
import io
import re
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import gtp_engine
from gtp_engine import Config, Engine, load_evaluator
from gtp_engine.protocols.gtp.server import GtpServer
from gtp_engine.protocols.gtp.session import run_session

ROOT = Path(__file__).parent.parent
PACKAGE = Path(gtp_engine.__file__).parent
TEXT = (
    (ROOT / "CONTRIBUTING.md")
    .read_text(encoding="utf-8")
    .partition("## From `genmove b` to `= D4`")[2]
    .partition("\n## ")[0]
)


class Call(NamedTuple):
    """A function that is called, and its file below the root of the project."""

    file: str
    function: str


class Step(NamedTuple):
    """One step of the walk: what is called, and "", "kernel" or "inner kernel" (which Python does not call)."""

    call: Call
    kind: str


STEPS = [
    Step(Call(file, function), kind)
    for file, function, kind in re.findall(
        r"^\d+\. `(gtp_engine/[\w/]+\.py)`, `(\w+)`(?:, \*((?:inner )?kernel)\*)?: ", TEXT, re.MULTILINE
    )
]


def test_the_walk_names_each_file_once() -> None:
    files = [step.call.file for step in STEPS]
    assert len(files) > 20
    assert re.findall(r"^(\d+)\. ", TEXT, re.MULTILINE) == [str(number + 1) for number in range(len(files))]
    assert re.findall(r"`(gtp_engine/[^`]+)`", TEXT) == files
    assert len(set(files)) == len(files)


def test_kernels_are_marked_as_such() -> None:
    for call, kind in STEPS:
        decorators = functions_of(ROOT / call.file)[call.function]
        assert any(name.endswith("kernel") for name in decorators) == bool(kind), call


def test_inner_kernels_are_called_by_a_file_named_before() -> None:
    before = ""
    for call, kind in STEPS:
        assert kind != "inner kernel" or f"{call.function}(" in before, call
        before += (ROOT / call.file).read_text(encoding="utf-8")


def test_a_genmove_takes_the_steps_in_their_order() -> None:
    steps = [step.call for step in STEPS if step.kind != "inner kernel"]
    calls = iter(calls_of_genmove())
    for before, call in zip([None, *steps], steps, strict=False):
        assert call in calls, f"{call} is not called after {before}"


def functions_of(path: Path) -> dict[str, list[str]]:
    """Return the functions and methods of a source with the names of their decorators."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {
        node.name: [getattr(decorator, "id", "") for decorator in node.decorator_list]
        for node in nodes
        if isinstance(node, ast.FunctionDef)
    }


def calls_of_genmove() -> list[Call]:
    """Return the calls of the package's functions in a session of one `genmove`, in the order of time."""
    config = Config().with_values({"game.board_size": "9", "search.visits": "40", "search.seed": "1"})
    evaluator = load_evaluator(config.network, log=print, board=(9, 9))
    engine = Engine(config, evaluator=evaluator)
    engine.warm_up()
    server = GtpServer(config, lambda: engine, print)
    assert server.engine is engine
    stdout = io.BytesIO()
    calls = list(recorded_calls(lambda: run_session(server, io.BytesIO(b"genmove b\n"), stdout)))
    assert re.fullmatch(rb"= [A-J]\d\n\n", stdout.getvalue())
    return calls


def recorded_calls(run: Callable[[], object]) -> Iterator[Call]:
    """Yield the calls that `run` makes in all threads that it starts; those of kernels as far as Python makes them."""
    found: list[tuple[str, str]] = []

    def record(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call":
            if code.co_name == "__call__" and code.co_filename.endswith("compiled/jit.py"):
                code = frame.f_locals["self"].py_func.__code__
            found.append((code.co_filename, code.co_name))

    previous = sys.getprofile()
    threading.setprofile(record)
    sys.setprofile(record)
    try:
        run()
    finally:
        sys.setprofile(previous)
        threading.setprofile(None)  # type: ignore[arg-type]
    for file, function in found:
        path = Path(file)
        if path.is_relative_to(PACKAGE):
            yield Call(f"gtp_engine/{path.relative_to(PACKAGE).as_posix()}", function)
