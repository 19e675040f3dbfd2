"""The layers of the package: who may import whom, who may touch stdin and stdout, who may start threads.

Read from the sources with `ast`, imports inside functions and for type checking included, and names given to
`import_module` as plain text, or in a table as "module:attribute".
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from package_sources import PACKAGE, SCRIPTS, SOURCES, nodes_of, parse

from gtp_engine.compiled.kernel_cache import kernel_sources

FLOORS = (
    ("cli",),
    ("training",),
    ("people",),
    ("arena",),
    ("protocols",),
    ("engine",),
    ("nn", "search"),
    ("evaluation", "sgf"),
    ("go",),
    ("config",),
    ("base",),
    ("compiled",),
)
"""The rooms of the house from the top down: a file imports from its own room and from the floors below it, never from a
room beside or above.  The package's `__init__` stands above all: it hands out the public names."""

FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}

PLUG_INS = {"nn/plug_ins.py": ("training",), "search/players.py": ("training",), "go/game.py": ("sgf",)}
"""The rooms from which a source may import on demand, by names from a table ("module:attribute")."""

MOST_ARROWS = 100
"""Pairs of rooms of which one imports the other; the package's `__init__` and `__main__` count as a room."""

ONLY_IN = {
    "onnxruntime": ("nn/onnxruntime_session.py",),
    "openvino": ("nn/openvino_session.py",),
    "onnx": (
        "nn/onnx_export/",
        "nn/half_precision.py",
        "nn/metadata.py",
        "training/quantization/",
        "training/nets/architecture.py",
    ),
    "torch": ("training/",),
    "matplotlib": ("arena/match/statistics.py", "training/core/reporting.py"),
    "click": ("cli/",),
    "rich": ("base/progress.py", "people/review/finished_reviews.py", "people/terminal/"),
    "ray": ("base/workers/ray_cluster.py",),
    "aiohttp": ("people/web/",),
    "prometheus_client": ("people/web/operations.py",),
    "segno": ("people/web/server_settings.py",),
    "mcp": ("people/mcp_server.py",),
    "filelock": ("compiled/kernel_cache.py", "base/files.py"),
    "shlex": ("base/worker_process.py",),
    "numba": ("compiled/jit.py", "compiled/jit_linking.py", "people/doctor.py"),
}
"""Packages from outside, and the only files (or folders) that import them."""


def test_types_are_checked_alike_where_pytorch_is_missing() -> None:
    """In an environment set up as CONTRIBUTING.md says, mypy failed: what derives from missing classes is Any."""
    overrides = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())["tool"]["mypy"]["overrides"]
    modules = [f"gtp_engine.{folder.replace('/', '.')}*" for folder in ONLY_IN["torch"]]
    (found,) = [override for override in overrides if override["module"] == modules]
    flags = {"disallow_subclassing_any", "disallow_untyped_decorators", "warn_return_any", "warn_unused_ignores"}
    assert {name: found[name] for name in flags} == dict.fromkeys(flags, False)


WITHOUT_PYTORCH = (
    "training.alphago.stages.play_records",
    "training.alphago.stages.stage_chain",
    "training.distillation.generate",
    "training.people.human_data",
    "training.nets.architecture",
)
"""Modules of trainings that play games, make data and describe networks, for which PyTorch is not needed."""


def test_games_and_data_of_trainings_are_made_without_pytorch() -> None:
    """`alphago records` failed without it, by a constant that it took from the module of another stage."""
    blocked = "import sys; sys.modules['torch'] = None; from importlib import import_module as load; "
    code = blocked + "; ".join(f"load('gtp_engine.{name}')" for name in WITHOUT_PYTORCH)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


STANDARD_STREAMS = ("base/streams.py", "protocols/line_session.py", "people/terminal/", "cli/")
"""The only files that read stdin or write to stdout; everything else has stderr, or returns its text."""

THREADS = (
    "compiled/kernel_cache.py",
    "protocols/line_session.py",
    "protocols/gtp/session.py",
    "protocols/analysis/server.py",
    "engine/threads.py",
    "engine/kernels.py",
    "engine/resources.py",
    "nn/call_times.py",
    "nn/onnx_model.py",
    "base/signals.py",
    "base/streams.py",
    "search/",
    "protocols/client/",
    "arena/match/",
    "arena/tournament/tournament_runner.py",
    "arena/benchmark.py",
    "people/review/review_files.py",
    "base/worker_process.py",
    "base/workers/worker_pool.py",
    "training/core/loop.py",
    "training/core/devices.py",
    "training/distillation/evaluation_server.py",
    "training/distillation/batches.py",
    "people/web/engine_host.py",
    "people/web/protocol_sockets.py",
    "people/web/web_process.py",
)
"""The only files that start threads: the sessions' readers, loaders and writers, pondering, searches, parallel games,
the watchdog of a process that is being timed, the readers of a training's data, the server of its generation, the
analyses and engines of the web server, the pool of workers, the note about a long compilation."""

ENTRY = re.compile(r"gtp_engine(\.\w+)+:\w+")
"""How a table names what is to be imported on demand."""


def name_of(path: Path) -> str:
    """Return a source's path below the package, with slashes."""
    return path.relative_to(PACKAGE).as_posix()


def room_of(module: str) -> str:
    """Return the room a module belongs to: "go" for gtp_engine.go.board; "" for the package itself."""
    return [*module.split("."), ""][1]


def imports_of(tree: ast.Module) -> Iterator[str]:
    """Yield the full name of everything a source imports."""
    for node in nodes_of(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and called_name(node) in ("import_module", "__import__"):
            yield from (arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and ENTRY.fullmatch(node.value):
            yield node.value.split(":")[0]


def called_name(node: ast.Call) -> str:
    """Return the last name of what is called: "echo" for click.echo(...)."""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def has_keyword(node: ast.Call, name: str) -> bool:
    return any(keyword.arg == name for keyword in node.keywords)


def rooms_imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield each module of the package that a source imports, with its room; names of the package itself left out."""
    for module in imports_of(tree):
        if module.split(".")[0] == "gtp_engine" and (room := room_of(module)) in FLOOR_OF:
            yield module, room


def breaches(tree: ast.Module, path: str) -> list[str]:
    """Return the imports of a source that go sideways or up."""
    room = path.split("/")[0]
    if room in ("__init__.py", "__main__.py"):
        return []
    if room not in FLOOR_OF:
        return [f"{path}: {room} is on no floor"]
    return [
        f"{path} imports {module}"
        for module, other in rooms_imported(tree)
        if other not in (room, *PLUG_INS.get(path, ())) and FLOOR_OF[other] <= FLOOR_OF[room]
    ]


def run_part(tree: ast.Module) -> ast.Module:
    """Return a source without the imports that are for type checkers only."""
    tests = ((node, ast.dump(getattr(node, "test", ast.Pass()))) for node in tree.body)
    return ast.Module([node for node, test in tests if "TYPE_CHECKING" not in test], [])


def circle_in(graph: Mapping[str, set[str]]) -> list[str]:
    """Return names that import each other, directly or through others; none if there are none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def stream_uses(tree: ast.Module) -> list[str]:
    """Return what in a source reads stdin or writes to stdout."""
    uses = []
    for node in nodes_of(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "sys":
            if node.attr.strip("_") in ("stdin", "stdout"):
                uses.append(f"sys.{node.attr}")
        elif isinstance(node, ast.ImportFrom) and node.module == "sys":
            uses += [f"from sys import {alias.name}" for alias in node.names if alias.name in ("stdin", "stdout")]
        elif isinstance(node, ast.Call):
            uses += stream_call(node)
    return uses


def stream_call(node: ast.Call) -> list[str]:
    """Return the call if it reads stdin or writes to stdout by itself."""
    name = called_name(node)
    first = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
    is_plain = isinstance(node.func, ast.Name)
    if (name == "print" and is_plain and not has_keyword(node, "file")) or (name == "input" and is_plain):
        return [f"{name}()"]
    if (name == "echo" and not has_keyword(node, "err")) or (name == "Console" and not has_keyword(node, "stderr")):
        return [f"{name}()"]
    if name in ("write", "read", "dup", "dup2", "fdopen", "open") and type(first) is int and first in (0, 1):
        return [f"{name}({first})"]
    return []


def starts_threads(tree: ast.Module) -> bool:
    makers = ("Thread", "Timer", "ThreadPoolExecutor", "ThreadPool", "start_new_thread")
    return any(isinstance(node, ast.Call) and called_name(node) in makers for node in nodes_of(tree))


def sources_of(part: str) -> Iterator[tuple[str, ast.Module]]:
    """Yield name and contents of each source of a part of the package; of all for ""."""
    return ((name_of(path), parse(path)) for path in SOURCES if name_of(path).startswith(part))


def test_imports_point_down() -> None:
    assert [each for name, tree in sources_of("") for each in breaches(tree, name)] == []


def test_scripts_import_what_there_is() -> None:
    """One failed: a function that it called, and a test, had been taken out with the test."""
    for node in (each for path in SCRIPTS for each in ast.walk(parse(path)) if isinstance(each, ast.ImportFrom)):
        path = PACKAGE.parent / (node.module or "").replace(".", "/")
        if PACKAGE in (path, *path.parents):
            text = (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8")
            names = {*re.findall(r"\w+", text), *(file.stem for file in path.glob("*.py"))}
            assert {each.name for each in node.names} <= names


def test_rooms_are_few_and_joined_by_few_arrows() -> None:
    names = {name_of(path).split("/")[0].removesuffix(".py") for path in SOURCES}
    assert names == {*FLOOR_OF, "__init__", "__main__"}
    assert len(names) <= 16
    assert len(FLOORS) <= 12
    arrows = {
        (room, other)
        for name, tree in sources_of("")
        for _, other in rooms_imported(tree)
        if (room := "" if name.startswith("__") else name.split("/")[0]) != other
    }
    assert len(arrows) <= MOST_ARROWS, sorted(arrows)


def test_nothing_imports_itself_by_a_detour() -> None:
    """Neither modules nor the parts of a room import each other in a circle; imports for type checkers run nothing."""
    modules = {name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in map(name_of, SOURCES)}
    graph: dict[str, set[str]] = {}
    parts: dict[str, set[str]] = {}
    for name, tree in sources_of(""):
        module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for imported, room in rooms_imported(run_part(tree)):
            other = imported.removeprefix("gtp_engine.")
            other = other if other in modules else other.rpartition(".")[0]
            if other == module or room in PLUG_INS.get(name, ()):
                continue
            graph.setdefault(module, set()).add(other)
            part, others_part = (".".join(each.split(".")[:2]) for each in (module, other))
            if part != others_part and part.count(".") == others_part.count(".") == 1:
                parts.setdefault(part, set()).add(others_part)
    assert circle_in(graph) == []
    assert circle_in(parts) == []


def test_outside_packages_stay_where_they_belong():
    strays = []
    for name, tree in sources_of(""):
        roots = {module.split(".")[0] for module in imports_of(tree)}
        strays += [(name, root) for root, homes in ONLY_IN.items() if root in roots and not name.startswith(homes)]
    assert strays == []


def test_only_session_and_command_line_touch_the_standard_streams():
    uses = [(name, stream_uses(tree)) for name, tree in sources_of("") if not name.startswith(STANDARD_STREAMS)]
    assert [each for each in uses if each[1]] == []


def test_threads_are_started_in_few_places():
    starting = [name for name, tree in sources_of("") if starts_threads(tree)]
    assert [name for name in starting if not name.startswith(THREADS)] == []


def test_kernels_depend_on_hashed_sources_only():
    """The cache of compiled code is named by a hash of `kernel_sources`; no kernel may depend on any other file."""
    sources, wings = kernel_sources()
    hashed, hashed_apart = {name_of(path) for path in sources}, {name_of(path) for path in wings}
    with_kernels = [path for path in SOURCES if holds_kernels(parse(path))]
    helpers = {"compiled/arrays.py", "compiled/jit.py", "compiled/jit_linking.py", "go/constants.py"}
    assert {*map(name_of, with_kernels)} | helpers == hashed | hashed_apart, (
        "an edit of any other file must not make users compile again"
    )
    for path in with_kernels:
        modules = [m.rsplit(".", 1)[0] for m in imports_of(parse(path)) if m.startswith("gtp_engine.")]
        needed = {"/".join(module.split(".")[1:]) + ".py" for module in modules}
        allowed = hashed | hashed_apart if name_of(path) in hashed_apart else hashed
        assert {name_of(path)} | needed <= allowed, name_of(path)


def holds_kernels(tree: ast.Module) -> bool:
    """Return whether a function of the source is compiled by `compiled.jit`."""
    functions = [node for node in nodes_of(tree) if isinstance(node, ast.FunctionDef)]
    names = {getattr(decorator, "id", "") for function in functions for decorator in function.decorator_list}
    return bool(names & {"kernel", "inlined_kernel", "spliced_kernel"})


@pytest.mark.parametrize(
    ("path", "source", "is_breach"),
    [
        ("go/board.py", "from gtp_engine.search import report", True),
        ("go/board.py", "from gtp_engine import engine", True),
        ("go/board.py", "def f():\n    import gtp_engine.engine", True),
        ("search/limits.py", "if TYPE_CHECKING:\n    from gtp_engine.engine import Engine", True),
        ("search/limits.py", "importlib.import_module('gtp_engine.protocols.gtp.session')", True),
        ("search/limits.py", "PLAYER = 'gtp_engine.cli.options:flags'", True),
        ("nn/cache.py", "from gtp_engine.search import report", True),
        ("novelty.py", "", True),
        ("go/board.py", "from gtp_engine.go.constants import EMPTY\nimport numpy", False),
        ("protocols/gtp/session.py", "from gtp_engine import __version__\nfrom gtp_engine.engine import Engine", False),
        ("nn/plug_ins.py", "TABLE = {'a': 'gtp_engine.training.alphago.planes:Planes'}", False),
        ("__init__.py", "from gtp_engine.engine import Engine", False),
    ],
)
def test_the_check_finds_breaches(path: str, source: str, is_breach: bool):
    assert bool(breaches(ast.parse(source), path)) == is_breach


@pytest.mark.parametrize(
    ("is_use", "sources"),
    [
        (True, "print('x')|sys.stdout.write('x')|for line in sys.stdin: pass|from sys import stdout|input()"),
        (True, "os.write(1, b'x')|os.dup(1)|open(0)|click.echo('x')|Console()|sys.__stdout__"),
        (False, "print('x', file=sys.stderr)|process.stdin.write('x')|open('name')|log.write('x')"),
    ],
)
def test_the_check_finds_stream_uses(is_use: bool, sources: str):
    assert {bool(stream_uses(ast.parse(source))) for source in sources.split("|")} == {is_use}


PACKAGES = sorted(path.parent for path in PACKAGE.glob("*/**/__init__.py"))


def test_packages_describe_their_modules() -> None:
    """`katago_…` describes all modules whose names begin like that."""
    for folder in PACKAGES:
        text = ast.get_docstring(parse(folder / "__init__.py")) or ""
        words, beginnings = set(re.findall(r"\w+", text)), tuple(re.findall(r"(\w+_)…", text))
        modules = [path.stem for path in folder.glob("*.py") if path.stem not in ("__init__", "__main__")]
        assert [name for name in modules if name not in words and not name.startswith(beginnings)] == []
