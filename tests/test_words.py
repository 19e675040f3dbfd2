"""Source, scripts, tests and documents use the field's words (docs/architecture.md)."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent

NOT_USED = re.compile(r"judg|foretell|foretold|somebody|nobody|whoever|\banew\b", re.IGNORECASE)
"""Words for which the field has usual ones, and pronouns for parties that have names."""

FOLDERS = ("gtp_engine", "scripts", "tests", "docs", "models", ".ci")
SUFFIXES = ("", ".py", ".md", ".toml", ".yaml")
INSTALLED = {"node_modules", "wheels"}
"""Folders of other projects' files, which tests install beside their own."""
FILES = sorted(
    path
    for path in [*ROOT.glob("*.*"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))]
    if path.is_file() and path.suffix in SUFFIXES and path != Path(__file__) and not INSTALLED & {*path.parts}
)


def test_the_usual_words_are_used() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in FILES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if NOT_USED.search(line)
    ]
    assert found == []
