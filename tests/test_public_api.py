"""The package's public names: all there, nothing else, and importing the package loads none of them."""

import ast
import doctest
import importlib
import inspect
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest
from documents import ROOT
from package_sources import PACKAGE, parse

import gtp_engine
import gtp_engine.base.errors
from gtp_engine.base.former_names import FormerModules, former_name

DOCUMENT = (ROOT / "docs" / "python-api.md").read_text("utf-8")
OWN_NETWORKS = (ROOT / "docs" / "own-networks.md").read_text("utf-8")
TABLE = re.findall(r"^\| (`.*?) \|", DOCUMENT.partition("## Games")[0], re.MULTILINE)
"""What stands in the first column of the names that are public."""
NAMES = gtp_engine.__all__[1:]


def test_the_document_lists_the_public_names() -> None:
    """A test of errors knows those beside TengenError; what networks of one's own need stands in their document."""
    listed = [name for cell in TABLE for name in re.findall(r"`(\w+)`", cell)]
    others = {name for name in NAMES if not name.endswith("Error")} - {*listed}
    assert set(listed) <= {*NAMES} and len(listed) == len(set(listed)) and len(NAMES) == len(set(NAMES))
    assert all(re.search(rf"\b{name}\b", OWN_NETWORKS) for name in others), others
    assert gtp_engine.__all__[0] == "__version__"


def test_the_table_of_other_libraries_names_what_there_is() -> None:
    notes = (ROOT / "docs" / "notes" / "2026-11-28-library.md").read_text("utf-8")
    cells = re.findall(r"^\|[^|]+\|([^|]+)\|", notes.partition("## What things are called\n")[2], re.MULTILINE)[2:]
    named = {name for cell in cells for name in re.findall(r"`(?:[a-z]\w*\.)?(\w+)", cell)}
    values = [getattr(gtp_engine, name) for name in NAMES]
    known = {name for value in values for name in [*dir(value), *getattr(value, "__annotations__", ())]} | {*NAMES}
    known |= set(inspect.signature(gtp_engine.AnalysisEngine.analyse).parameters)
    assert len(named) > 50 and named <= known, named - known


def test_type_checkers_and_the_documentation_know_every_name() -> None:
    """They read imports, not `__getattr__`; every deliberate error is public."""
    (unread,) = (node for node in parse(PACKAGE / "__init__.py").body if isinstance(node, ast.If))
    imports = [
        (str(node.module), each.name) for node in unread.body if isinstance(node, ast.ImportFrom) for each in node.names
    ]
    known = {name for _, name in imports} - {"*"}
    known |= {each for module, name in imports if name == "*" for each in importlib.import_module(module).__all__}
    classes = [value for value in vars(gtp_engine.base.errors).values() if isinstance(value, type)]
    assert {each.__name__ for each in classes if issubclass(each, gtp_engine.TengenError)} <= known == {*NAMES}


def public_functions() -> Iterator[tuple[str, Any, str]]:
    """Yield public functions, methods and properties with the docstring of their class."""
    for module in (gtp_engine, gtp_engine.play, gtp_engine.review):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isfunction(value):
                yield name, value, ""
            for member in dir(value) if isinstance(value, type) else ():
                found = getattr(value, member)
                found = getattr(found, "fget", found)
                if not member.startswith("_") and hasattr(inspect.unwrap(found), "__code__"):
                    yield f"{name}.{member}", found, value.__doc__ or ""


def errors_of(function: Any, depth: int = 1) -> set[str]:
    """Return the names of the errors that a function raises, or those that it calls by their names."""
    nodes, names = [*ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function))))], set[str]()
    calls = [node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    raised = {ast.unparse(node.exc).partition("(")[0] for node in nodes if isinstance(node, ast.Raise) and node.exc}
    for each in [function.__globals__.get(name) for name in calls] if depth else []:
        if inspect.isfunction(each) and each.__module__.startswith("gtp_engine."):
            names |= errors_of(each, depth - 1)
    return names | {name for name in raised if hasattr(gtp_engine.base.errors, name)}


def test_docstrings_name_errors_seconds_and_shapes() -> None:
    """Errors, or a base of them, units of times and shapes stand in the docstring or that of the class.

    Arguments of another kind than their annotations raise ArgumentError everywhere.
    """
    missing = []
    for name, function, of_class in public_functions():
        inner = inspect.unwrap(function)
        said = f"{inner.__doc__} {of_class}"
        for error in errors_of(inner) - {"ArgumentError", "TengenError"}:
            kind = getattr(gtp_engine, error)
            if not any(base.__name__ in said for base in kind.__mro__[:-4]):
                missing.append(f"{name}: {error}")
        if "ndarray" in str(inner.__annotations__.get("return")) and not re.search(r"\w\[[\w·, +]+\]", said):
            missing.append(f"{name}: the shape")
        times = {"timeout", "every", "seconds"} & set(inspect.signature(inner).parameters)
        missing += [f"{name}: {each}" for each in times if not ("second" in said or f"`{each}`" in said)]
    assert not missing, "\n".join(missing)


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="'gtp_engine' has no attribute 'Board'"):
        _ = gtp_engine.Board


def test_former_names_of_methods_warn_where_they_are_called() -> None:
    class Pot:
        """A pot."""

        def fill(self, cups: int) -> int:
            """Return the cups."""
            return cups

        pour = former_name("Pot.pour", fill, gone="9.9")
        drip = former_name("Pot.drip", fill, now="Pot.leak", gone="9.9")

    for call, now in ((Pot().pour, r"pour is now .*Pot\.fill"), (Pot().drip, r"drip is now Pot\.leak")):
        with pytest.warns(DeprecationWarning, match=rf"Pot\.{now}; the former name goes with version 9\.9") as seen:
            assert call(3) == 3
        assert seen[0].filename == __file__


def test_former_names_go_in_time() -> None:
    """A name that was renamed before a major version is gone in the next one."""
    gone = set[str]()
    for path in PACKAGE.rglob("*.py"):
        gone.update(
            re.findall(
                r'(?:former_name|former_property|FormerModules)\([^)]*gone="([0-9.]+)"\)', path.read_text("utf-8")
            )
        )
    assert "3.0" in gone, "Engine.timed_search"
    now = tuple(map(int, re.findall("[0-9]+", gtp_engine.__version__)))
    assert all(now < tuple(map(int, version.split("."))) for version in gone)


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = "{'numpy', 'numba', 'onnxruntime', 'rich', 'click', 'importlib.resources', 'tempfile', 'urllib'}"
    code = (
        f"import sys; before = set(sys.modules); import gtp_engine; print(sorted({heavy} & {{*sys.modules}} - before))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"


@pytest.mark.parametrize("former", ["gtp_engine.play", "gtp_engine.review", "gtp_engine.play.game_session"])
def test_modules_that_moved_are_found_under_their_former_names(former: str) -> None:
    sys.modules.pop(former, None)
    assert FormerModules("gtp_engine", {"play": "people.play"}, gone="3.0").find_spec("other.play") is None
    now = former.replace("gtp_engine.", "gtp_engine.people.")
    with pytest.warns(DeprecationWarning, match=f"{former} is now {now}; the former name goes with version 3.0"):
        assert importlib.import_module(former) is importlib.import_module(now)


def test_each_public_name_has_an_example() -> None:
    """In its docstring, indented or as a session that runs; errors are raised, not called."""
    values = {name: getattr(gtp_engine, name) for name in NAMES if not name.endswith("Error")}
    for name, value in values.items():
        assert re.search("^(?: {4}|>>> )", inspect.getdoc(value) or "", re.MULTILINE), name
    described = [*values.items(), *((name, function) for name, function, _ in public_functions())]
    for name, value in described:
        for test in doctest.DocTestFinder(recurse=False).find(value, name, globs=values) if value.__doc__ else ():
            assert doctest.DocTestRunner().run(test).failed == 0, name
