"""Rules of the house that are read from the sources: attributes are created in `__init__`, one thing is not plural."""

import ast
import functools
import re
from collections.abc import Iterator
from itertools import pairwise

import pytest
from package_sources import PACKAGE, SOURCES, nodes_of, parse


def classes_of(tree: ast.Module) -> dict[str, ast.ClassDef]:
    """Return the classes of a source by name."""
    return {node.name: node for node in nodes_of(tree) if isinstance(node, ast.ClassDef)}


def methods_of(owner: ast.ClassDef) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in owner.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def own_attributes(method: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """Yield the names that a method assigns on its first parameter, functions inside it included."""
    parameters = [*method.args.posonlyargs, *method.args.args]
    if not parameters:
        return
    for node in nodes_of(method):
        is_assigned = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if is_assigned and isinstance(node.value, ast.Name) and node.value.id == parameters[0].arg:
            yield node.attr


@functools.cache
def declared_names(owner: ast.ClassDef) -> set[str]:
    """Return what exists as soon as an object is made: values and fields in the class's body, and `__init__`'s.

    A bare annotation declares a field of dataclasses and NamedTuples; in any other class it creates nothing.
    """
    has_fields = any("dataclass" in ast.unparse(each) for each in owner.decorator_list) or any(
        ast.unparse(base) in ("NamedTuple", "Protocol") for base in owner.bases
    )
    names: set[str] = set()
    for node in owner.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and (node.value or has_fields):
            names.add(node.target.id)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    for method in methods_of(owner):
        if method.name in ("__init__", "__new__"):
            names |= set(own_attributes(method))
        elif any(ast.unparse(each).endswith(".setter") for each in method.decorator_list):
            names.add(method.name)
    return names


def late_attributes(tree: ast.Module, known: dict[str, ast.ClassDef]) -> list[str]:
    """Return the attributes of a source's classes that a method other than `__init__` creates.

    `known` are the classes of the whole package by name, among which bases are found.
    """
    late = []
    for owner in classes_of(tree).values():
        names, waiting = set[str](), [owner]
        while waiting:
            current = waiting.pop()
            names |= declared_names(current)
            bases = [ast.unparse(base).split("[")[0].split(".")[-1] for base in current.bases]
            waiting += [known[base] for base in bases if base in known and known[base] is not current]
        for method in methods_of(owner):
            late += [f"{owner.name}.{name} in {method.name}" for name in own_attributes(method) if name not in names]
    return late


def package_classes() -> dict[str, ast.ClassDef]:
    return {name: owner for path in SOURCES for name, owner in classes_of(parse(path)).items()}


def test_attributes_are_created_in_init() -> None:
    known = package_classes()
    late = [f"{path.relative_to(PACKAGE)}: {each}" for path in SOURCES for each in late_attributes(parse(path), known)]
    assert late == []


@pytest.mark.parametrize(
    ("late", "source"),
    [
        (True, "class A:\n    def run(self):\n        y, (self.x, z) = 1, (2, 3)"),
        (True, "class A:\n    def run(self):\n        for self.x in range(3): pass"),
        (True, "class A:\n    x: int\n    def run(self):\n        self.x = 1"),
        (True, "class A(Base):\n    def run(self):\n        self.x = 1"),
        (False, "class A:\n    def __init__(self):\n        self.x = 0\n    def run(self):\n        self.x += 1"),
        (False, "class A:\n    x: int = 0\n    def run(self):\n        self.x = 1"),
        (False, "@dataclass\nclass A:\n    x: int\n    def run(self):\n        self.x = 1"),
        (False, "class B:\n def __init__(self):\n  self.x = 0\nclass A(B):\n def run(self):\n  self.x = 1"),
        (False, "class A:\n    def run(self, other):\n        other.x = self.y"),
        (False, "class A:\n    def run(self):\n        self.x[0] = 1"),
    ],
)
def test_late_attributes_are_found(late: bool, source: str) -> None:
    tree = ast.parse(source)
    assert late_attributes(tree, classes_of(tree)) == ["A.x in run"] * late


PLURAL = re.compile(r" (games|moves|visits|files|cores|threads)\b(?!/)")


def plurals(tree: ast.Module) -> list[str]:
    """Return the numbers that are written before plural nouns though they may be 1; constants in capitals are not."""
    found = []
    for text in nodes_of(tree):
        for number, noun in pairwise(text.values if isinstance(text, ast.JoinedStr) else []):
            if isinstance(number, ast.FormattedValue) and isinstance(noun, ast.Constant) and PLURAL.match(noun.value):
                found.append(ast.unparse(number.value))
    return [name for name in found if not name.isupper()]


def test_one_thing_is_not_plural() -> None:
    """What counts things is `errors.counted`."""
    found = [f"{path.relative_to(PACKAGE)}: {each}" for path in SOURCES for each in plurals(parse(path))]
    assert found == ["people/review/annotations.py: each.vertex"]


def test_plurals_are_found() -> None:
    assert plurals(ast.parse('f"{len(games)} games, {n:,} visits, {MOST} moves, {n} moves/s"')) == ["len(games)", "n"]
