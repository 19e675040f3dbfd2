"""Source, scripts, tests and documents use the field's words (docs/architecture.md)."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent

NOT_USED = (
    *("judg", "foretell", "foretold", r"\banew\b"),
    *("somebody", "nobody", "whoever"),  # the parties have names
    *(r"\bhears?\b", r"\btells\b"),  # a program gets, says, shows, reports
    *("is to be had", "gets the mend", "queries that are none", "as servers have it", "in the place of", "what is no "),
    r"[0-9}] %(?![s\w(]| \d)",  # 31%
)
"""Words for which the field or the language has usual ones, as regular expressions."""

FOLDERS = ("gtp_engine", "scripts", "tests", "docs", "models", ".ci")
SUFFIXES = ("", ".py", ".md", ".toml", ".yaml", ".js", ".html")
INSTALLED = {"node_modules", "wheels"}
"""Folders of other projects' files, which tests install beside their own."""
FILES = sorted(
    path
    for path in [*ROOT.glob("*.*"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))]
    if path.is_file() and path.suffix in SUFFIXES and path != Path(__file__) and not INSTALLED & {*path.parts}
)


def test_the_usual_words_are_used() -> None:
    not_used = re.compile("|".join(NOT_USED), re.IGNORECASE)
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in FILES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if not_used.search(line)
    ]
    assert found == []
