"""Rules of the house that are read from the sources: attributes, names, the number of modules and of parameters."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import pytest
from package_sources import PACKAGE, SOURCES, parse

MOST_REPEATED_NAMES = 2
"""How many module names may occur in more than one package: those where the package makes the meaning plain, such as
`gtp/server` and `analysis/server`."""

MOST_REPEATED_CLASSES = 6
"""How many names of classes or aliases of types may be defined more than once."""

MOST_MODULES = 260
"""How many modules, apart from `__init__`, a newcomer has to find the way among."""

MANY_PARAMETERS = 6
MOST_FUNCTIONS_WITH_MANY = 45
"""How many functions may take that many parameters or more, self not counted."""


def classes_of(tree: ast.Module) -> dict[str, ast.ClassDef]:
    """Return the classes of a source by name."""
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def methods_of(owner: ast.ClassDef) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in owner.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def own_attributes(method: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """Yield the names that a method assigns on its first parameter, functions inside it included."""
    parameters = [*method.args.posonlyargs, *method.args.args]
    if not parameters:
        return
    for node in ast.walk(method):
        is_assigned = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if is_assigned and isinstance(node.value, ast.Name) and node.value.id == parameters[0].arg:
            yield node.attr


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
    "source",
    [
        "class A:\n    def run(self):\n        self.x = 1",
        "class A:\n    def run(self):\n        self.x: int = 1",
        "class A:\n    def run(self):\n        self.x += 1",
        "class A:\n    def run(self):\n        y, (self.x, z) = 1, (2, 3)",
        "class A:\n    def run(self):\n        for self.x in range(3): pass",
        "class A:\n    x: int\n    def run(self):\n        self.x = 1",
        "class A(Base):\n    def run(self):\n        self.x = 1",
    ],
)
def test_the_check_finds_late_attributes(source: str) -> None:
    assert late_attributes(ast.parse(source), {}) == ["A.x in run"]


@pytest.mark.parametrize(
    "source",
    [
        "class A:\n    def __init__(self):\n        self.x = 0\n    def run(self):\n        self.x += 1",
        "class A:\n    x: int = 0\n    def run(self):\n        self.x = 1",
        "@dataclass\nclass A:\n    x: int\n    def run(self):\n        self.x = 1",
        "class B:\n    def __init__(self):\n        self.x = 0\nclass A(B):\n    def run(self):\n        self.x = 1",
        "class A:\n    def run(self, other):\n        other.x = self.y",
        "class A:\n    def run(self):\n        self.x[0] = 1",
    ],
)
def test_the_check_lets_other_assignments_pass(source: str) -> None:
    tree = ast.parse(source)
    assert late_attributes(tree, classes_of(tree)) == []


def test_a_module_name_means_one_thing() -> None:
    names = Counter(path.stem for path in SOURCES if not path.stem.startswith("__"))
    repeated = sorted(name for name, count in names.items() if count > 1)
    assert len(repeated) <= MOST_REPEATED_NAMES, repeated


def defined_types(tree: ast.Module) -> Iterator[str]:
    """Yield the names of a source's classes and aliases of types; variables of types do not count."""
    yield from (node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and "TypeAlias" in ast.unparse(node.annotation):
            yield ast.unparse(node.target)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, value = node.targets[0].id, node.value
            is_alias = isinstance(value, ast.Subscript | ast.BinOp | ast.Attribute | ast.Name)
            if is_alias and re.fullmatch(r"_?[A-Z][a-z]\w*", name):
                yield name


def test_a_class_name_means_one_thing() -> None:
    names = Counter(name for path in SOURCES for name in set(defined_types(parse(path))))
    repeated = sorted(name for name, count in names.items() if count > 1)
    assert len(repeated) <= MOST_REPEATED_CLASSES, repeated


def test_types_are_found() -> None:
    source = (
        "class A: pass\nFloats = NDArray[np.float32]\n_Pair: TypeAlias = tuple[int, int]\nT = TypeVar('T')\nMOST = 3"
    )
    assert list(defined_types(ast.parse(source))) == ["A", "Floats", "_Pair"]


def test_modules_are_few() -> None:
    assert len([path for path in SOURCES if path.stem != "__init__"]) <= MOST_MODULES


def functions_with_many_parameters(tree: ast.Module) -> list[str]:
    """Return the names of the functions and methods with MANY_PARAMETERS or more."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            parameters = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            if len([name for name in parameters if name not in ("self", "cls")]) >= MANY_PARAMETERS:
                found.append(node.name)
    return found


def test_few_functions_have_many_parameters() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}: {each}"
        for path in SOURCES
        for each in functions_with_many_parameters(parse(path))
    ]
    assert len(found) <= MOST_FUNCTIONS_WITH_MANY, found


def test_many_parameters_are_found() -> None:
    source = "class A:\n    def f(self, a, b, c, *, d, e, f): pass\n    def g(self, a, b, c, *, d, e): pass"
    assert functions_with_many_parameters(ast.parse(source)) == ["f"]


# --- one thing, several things ---

PLURAL = re.compile(r" (games|moves|visits|files|cores|threads)\b(?!/)")


def plurals(tree: ast.Module) -> list[str]:
    """Return the numbers that are written before plural nouns though they may be 1; constants in capitals are not."""
    found = []
    for text in ast.walk(tree):
        for number, noun in pairwise(text.values if isinstance(text, ast.JoinedStr) else []):
            if isinstance(number, ast.FormattedValue) and isinstance(noun, ast.Constant) and PLURAL.match(noun.value):
                found.append(ast.unparse(number.value))
    return [name for name in found if not name.isupper()]


def test_one_thing_is_not_plural() -> None:
    """What counts things is `errors.counted`."""
    found = [f"{path.relative_to(PACKAGE)}: {each}" for path in SOURCES for each in plurals(parse(path))]
    assert found == [
        "benchmark.py: count or 'all'",  # of the threads to measure
        "gtp/reports.py: self._game.vertex(move.point)",  # the name of a value follows
        "gtp/reports.py: self._game.vertex(move.point)",
        "review/annotations.py: each.vertex",
    ]


def test_plurals_are_found() -> None:
    assert plurals(ast.parse('f"{len(games)} games, {n:,} visits, {MOST} moves, {n} moves/s"')) == ["len(games)", "n"]
