"""The layers of the package: who may import whom, who may touch stdin and stdout, who may start threads.

Read from the sources with `ast`, imports inside functions and for type checking included, and names given to
`import_module` as plain text, or in a table as "module:attribute".
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from package_sources import PACKAGE, SOURCES, parse

from gtp_engine.kernel_cache import kernel_sources

LAYERS = (
    ("__main__",),
    ("cli",),
    ("alphago.stages",),
    ("training", "tournament", "web", "terminal", "mcp_server"),
    ("match", "benchmark", "doctor", "review", "front_ends"),
    ("gtp", "analysis", "client"),
    ("protocols",),
    ("play",),
    ("engine",),
    ("networks", "level", "alphago", "book"),
    ("selfplay",),
    ("search", "nn", "sgf", "time_manager"),
    ("evaluation", "clock"),
    ("go", "workers", "memory_budget", "steps"),
    ("config", "_jit", "files", "elo", "languages", "machine", "progress", "worker_process", "streams"),
    ("_jit_linking", "former_names"),
    ("errors", "kernel_cache"),
)
"""From the top down: a part imports from the rows below its own, never from its own row or above.  The package's
`__init__` stands above all: it hands out the public names."""

INNER_PARTS = ("alphago.stages",)
"""Packages with a row of their own, apart from that of the package around them."""

PLUG_INS = {"nn/plug_ins.py": ("alphago", "networks"), "search/players.py": ("alphago",), "go/game.py": ("sgf",)}
"""The parts above its row that a source may import on demand, by names from a table ("module:attribute")."""

TRAINING_LAYERS = (("distillation",), ("core",), ("nets",))
"""The parts of `training` in the same manner: the tasks stand on one core and know nothing of each other."""

ONLY_IN = {
    "onnxruntime": ("nn/onnxruntime_session.py",),
    "openvino": ("nn/openvino_session.py",),
    "onnx": ("networks/", "training/nets/architecture.py"),
    "torch": ("training/", "alphago/stages/"),
    "matplotlib": ("match/statistics.py", "training/core/reporting.py"),
    "click": ("cli/", "cli.py"),
    "rich": ("progress.py", "review/finished_reviews.py", "terminal/"),
    "ray": ("workers/ray_cluster.py",),
    "aiohttp": ("web/",),
    "prometheus_client": ("web/operations.py",),
    "sgfmill": ("sgf/",),
    "segno": ("web/server_settings.py",),
    "mcp": ("mcp_server.py",),
    "filelock": ("kernel_cache.py", "files.py"),
    "shlex": ("worker_process.py",),
    "numba": ("_jit.py", "_jit_linking.py", "doctor.py"),
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
    "alphago.stages.play_records",
    "alphago.stages.stage_chain",
    "training.distillation.generate",
    "training.distillation.human_data",
    "training.distillation.workers",
    "training.nets.architecture",
)
"""Modules of trainings that play games, make data and describe networks, for which PyTorch is not needed."""


def test_games_and_data_of_trainings_are_made_without_pytorch() -> None:
    """`alphago records` failed without it, by a constant that it took from the module of another stage."""
    blocked = "import sys; sys.modules['torch'] = None; from importlib import import_module as load; "
    code = blocked + "; ".join(f"load('gtp_engine.{name}')" for name in WITHOUT_PYTORCH)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


STANDARD_STREAMS = ("streams.py", "protocols/line_session.py", "terminal/", "cli/", "cli.py")
"""The only files that read stdin or write to stdout; everything else has stderr, or returns its text."""

THREADS = (
    "kernel_cache.py",
    "protocols/line_session.py",
    "analysis/server.py",
    "engine/engine.py",
    "engine/kernels.py",
    "engine/resources.py",
    "streams.py",
    "search/",
    "client/",
    "match/",
    "tournament/tournament_runner.py",
    "benchmark.py",
    "review/review_files.py",
    "worker_process.py",
    "workers/worker_pool.py",
    "training/core/loop.py",
    "training/core/devices.py",
    "training/distillation/evaluation_server.py",
    "training/distillation/batches.py",
    "web/engine_host.py",
    "web/protocol_sockets.py",
    "web/web_process.py",
)
"""The only files that start threads: the sessions' readers, loaders and writers, pondering, searches, parallel games,
the watchdog of a process that is being timed, the readers of a training's data, the server of its generation, the
analyses and engines of the web server, the pool of workers, the note about a long compilation."""

ENTRY = re.compile(r"gtp_engine(\.\w+)+:\w+")
"""How a table names what is to be imported on demand."""


def name_of(path: Path) -> str:
    """Return a source's path below the package, with slashes."""
    return path.relative_to(PACKAGE).as_posix()


def part_of(module: str) -> str:
    """Return the part of the package a module belongs to: "go" for gtp_engine.go.board; "" for the package itself."""
    _, part, *rest = [*module.split("."), ""]
    inner = ".".join([part, *rest[:1]])
    return inner if inner in INNER_PARTS else part


def imports_of(tree: ast.Module, package: str) -> Iterator[str]:
    """Yield the full name of everything a source imports; `package` is the package that holds it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parents, *([base] if base else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)
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


def layer_breaches(tree: ast.Module, path: str) -> list[str]:
    """Return the imports of a source that go sideways or up."""
    package = ".".join(["gtp_engine", *path.split("/")[:-1]])
    part = part_of(".".join(["gtp_engine", *path.removesuffix(".py").split("/")]))
    if part == "__init__":
        return []
    row = next((number for number, names in enumerate(LAYERS) if part in names), None)
    if row is None:
        return [f"{path}: {part} is in no layer"]
    below = {name for names in LAYERS[row + 1 :] for name in names} | {part, *PLUG_INS.get(path, ())}
    breaches = []
    for module in imports_of(tree, package):
        other = part_of(module)
        is_package_itself = other not in {name for names in LAYERS for name in names}
        if module.split(".")[0] == "gtp_engine" and not is_package_itself and other not in below:
            breaches.append(f"{path} imports {module}")
    return breaches


def training_breaches(tree: ast.Module, path: str) -> list[str]:
    """Return the imports of a source of `training` that go sideways or up among its parts."""
    part, known = path.split("/")[1], {name for names in TRAINING_LAYERS for name in names}
    if part == "__init__.py":
        return []
    row = next(number for number, names in enumerate(TRAINING_LAYERS) if part in names)
    below = {name for names in TRAINING_LAYERS[row + 1 :] for name in names} | {part}
    package = ".".join(["gtp_engine", *path.split("/")[:-1]])
    modules = [module for module in imports_of(tree, package) if module.startswith("gtp_engine.training.")]
    return [f"{path} imports {each}" for each in modules if each.split(".")[2] in known - below]


def stream_uses(tree: ast.Module) -> list[str]:
    """Return what in a source reads stdin or writes to stdout."""
    uses = []
    for node in ast.walk(tree):
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
    return any(isinstance(node, ast.Call) and called_name(node) in makers for node in ast.walk(tree))


def sources_of(part: str) -> Iterator[tuple[str, ast.Module]]:
    """Yield name and contents of each source of a part of the package; of all for ""."""
    return ((name_of(path), parse(path)) for path in SOURCES if name_of(path).startswith(part))


def test_imports_point_down():
    assert [each for name, tree in sources_of("") for each in layer_breaches(tree, name)] == []


def test_training_tasks_stand_on_one_core():
    assert [each for name, tree in sources_of("training/") for each in training_breaches(tree, name)] == []


def test_outside_packages_stay_where_they_belong():
    strays = []
    for name, tree in sources_of(""):
        roots = {module.split(".")[0] for module in imports_of(tree, "gtp_engine")}
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
    compilers = [PACKAGE / "_jit.py", PACKAGE / "_jit_linking.py", PACKAGE / "go" / "constants.py"]
    assert {name_of(path) for path in [*with_kernels, *compilers]} == hashed | hashed_apart, (
        "an edit of any other file must not make users compile again"
    )
    for path in with_kernels:
        package = ".".join(["gtp_engine", *name_of(path).split("/")[:-1]])
        modules = [m.rsplit(".", 1)[0] for m in imports_of(parse(path), package) if m.startswith("gtp_engine.")]
        needed = {"/".join(module.split(".")[1:]) + ".py" for module in modules}
        allowed = hashed | hashed_apart if name_of(path) in hashed_apart else hashed
        assert {name_of(path)} | needed <= allowed, name_of(path)


def holds_kernels(tree: ast.Module) -> bool:
    """Return whether a function of the source is compiled by `_jit`."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    names = {getattr(decorator, "id", "") for function in functions for decorator in function.decorator_list}
    return bool(names & {"kernel", "inlined_kernel", "spliced_kernel"})


def test_every_part_has_a_layer():
    known = {name for names in LAYERS for name in names} | {"__init__"}
    parts = {path.stem for path in PACKAGE.glob("*.py")} | {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert parts <= known


@pytest.mark.parametrize(
    ("path", "source", "is_breach"),
    [
        ("go/board.py", "from gtp_engine.search import report", True),
        ("go/board.py", "from gtp_engine import engine", True),
        ("go/board.py", "def f():\n    import gtp_engine.engine", True),
        ("go/board.py", "from ..engine import Engine", True),
        ("go/board.py", "from .. import engine", True),
        ("search/limits.py", "if TYPE_CHECKING:\n    from gtp_engine.engine import Engine", True),
        ("search/limits.py", "importlib.import_module('gtp_engine.gtp.session')", True),
        ("search/limits.py", "PLAYER = 'gtp_engine.cli.options:flags'", True),
        ("gtp/commands/moves.py", "from ...match import runner", True),
        ("novelty.py", "", True),
        ("go/board.py", "from gtp_engine.go.constants import EMPTY\nimport numpy", False),
        ("gtp/session.py", "from gtp_engine import __version__\nfrom gtp_engine.engine import Engine", False),
        ("gtp/commands/moves.py", "from ..args import Arguments\nfrom ...engine import Engine", False),
        ("__init__.py", "from gtp_engine.engine import Engine", False),
    ],
)
def test_the_check_finds_breaches(path: str, source: str, is_breach: bool):
    assert bool(layer_breaches(ast.parse(source), path)) == is_breach


@pytest.mark.parametrize(
    ("is_use", "sources"),
    [
        (True, "print('x')|sys.stdout.write('x')|for line in sys.stdin: pass|from sys import stdout|input()"),
        (True, "os.write(1, b'x')|os.dup(1)|open(0)|click.echo('x')|Console()|sys.__stdout__"),
        (
            False,
            "print('x', file=sys.stderr)|process.stdin.write('x')|open('name')|log.write('x')",
        ),
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
