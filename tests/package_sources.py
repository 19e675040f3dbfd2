"""The sources of the package, and the scripts beside it, for the tests that read them."""

import ast
import functools
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parent.parent / "gtp_engine"
SOURCES: Final = sorted(PACKAGE.rglob("*.py"))
SCRIPTS: Final = [
    path for path in sorted((PACKAGE.parent / "scripts").rglob("*"))
    if path.is_file() and (path.suffix == ".py" or path.read_bytes().startswith(b"#!/usr/bin/env python"))
]  # fmt: skip


@functools.cache
def parse(path: Path) -> ast.Module:
    """Return the syntax tree of a source."""
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """Return all nodes of a syntax tree, which several tests go through."""
    return [*ast.walk(tree)]
