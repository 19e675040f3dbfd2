"""The sources of the package, for the tests that read them."""

import ast
import functools
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parent.parent / "gtp_engine"
SOURCES: Final = sorted(PACKAGE.rglob("*.py"))


@functools.cache
def parse(path: Path) -> ast.Module:
    """Return the syntax tree of a source."""
    return ast.parse(path.read_text(encoding="utf-8"))
