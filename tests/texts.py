"""Tables of texts and what they mean, in `tests/data/texts`: [] for nothing, behind "!" why a text is refused."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gtp_engine import TengenError


def texts(name: str) -> list[tuple[str, str, Any]]:
    """Return the kind, the text and the meaning in each line of a table."""
    table = tomllib.loads((Path(__file__).parent / "data" / "texts" / f"{name}.toml").read_text("utf-8"))
    return [(kind, text, meaning) for kind, meanings in table.items() for text, meaning in meanings.items()]


def meaning(parse: Callable[[str], object], text: str) -> object:
    """Return what a text means, as it stands in a table."""
    try:
        found = parse(text)
    except TengenError as error:
        return f"! {error}"
    return [] if found is None else list(found) if isinstance(found, tuple) else found
