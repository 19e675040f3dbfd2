"""The levels that the engine can play at, by name: 20k to 1k, 1d to 9d, and max for full strength."""

from typing import Final

from gtp_engine.errors import ConfigError, problem, shown

MAX_LEVEL: Final = "max"

LEVELS: Final = (*(f"{kyu}k" for kyu in range(20, 0, -1)), *(f"{dan}d" for dan in range(1, 10)))
"""The ranks, the weakest first."""


def parse_level(text: str) -> str:
    """Return the name of a level, in lower case and without leading zeros; raises ConfigError."""
    name = text.strip().lower().lstrip("0")
    if name != MAX_LEVEL and name not in LEVELS:
        raise ConfigError(problem(f"level {shown(text)}", expected=f"20k to 1k, 1d to 9d, or {MAX_LEVEL}"))
    return name
