"""The GTP commands, one module per subject; importing this package fills `registry.COMMANDS`.

Handlers turn words into values, call the engine once and format the answer.  They parse everything before they
change anything, so a command that fails leaves the game as it was.
"""

from gtp_engine.gtp.commands import (
    admin,
    analyze,
    debug,
    evaluations,
    gogui,
    maps,
    moves,
    params,
    rules,
    scoring,
    setup,
    sgf,
    timing,
)

__all__ = [
    "admin",
    "analyze",
    "debug",
    "gogui",
    "maps",
    "evaluations",
    "params",
    "moves",
    "rules",
    "scoring",
    "setup",
    "sgf",
    "timing",
]
