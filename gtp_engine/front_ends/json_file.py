"""Settings in JSON that keep everything that is not ours."""

import json
from pathlib import Path
from typing import Any

from gtp_engine.errors import ConfigError, problem, shown_path
from gtp_engine.front_ends.changes import Change, read_settings

_KINDS: dict[type[Any], str] = {dict: "an object", list: "a list", str: "a text"}


def read_object(path: Path) -> tuple[str | None, dict[str, Any]]:
    """Return the text of a settings file and its JSON object, None and an empty one if there is no file.

    Raises ConfigError if it is anything else, or has a key twice, of which one would get lost.
    """
    text = read_settings(path)
    if text is None:
        return None, {}
    try:
        found = json.loads(text, object_pairs_hook=_without_repetition)
    except (ValueError, RecursionError) as error:
        advice = "start the program once and close it, or move the file away"
        raise ConfigError(problem(f"{shown_path(path)} is not JSON ({error})", advice=advice)) from error
    return text, checked(found, dict, path, "the file")


def checked(value: Any, kind: type[Any], path: Path, what: str) -> Any:
    """Return a value of a settings file if it is of this kind; raises ConfigError."""
    if not isinstance(value, kind):
        expected = _KINDS[kind]
        raise ConfigError(problem(f"{shown_path(path)}: {what}", expected=expected, advice="nothing was changed"))
    return value


def json_change(path: Path, old: str | None, settings: dict[str, Any], *, indent: int) -> Change:
    """Return the change of a settings file to `settings`."""
    return Change(path, old, json.dumps(settings, indent=indent, ensure_ascii=False) + "\n")


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice in one object")
    return found
