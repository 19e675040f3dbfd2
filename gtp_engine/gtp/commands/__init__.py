"""The GTP commands, one module per subject; importing this package fills `registry.COMMANDS`.

A handler parses words into values, calls the engine once and formats the reply.  It parses everything before it changes
anything, so a command that fails leaves the game as it was.

    admin        the session and the program: handshake, caches, random seed
    setup        board size, komi, handicap, set-up positions
    moves        play, genmove, undo
    analyze      the analyze commands
    networks     the networks and their evaluation of the position
    cgos         the Computer Go Server
    evaluations  policy, ownership and winrate as GoGui shows them
    params       settings of the running engine
    timing       time settings and clocks
    scoring      score and dead stones
    rules        rule sets
    sgf          game records
    gogui        GoGui's menu and interrupts
    debug        board and game state
    maps         ladders, eyes and pass-alive stones
    common       helpers of several of these modules
"""

from gtp_engine.gtp.commands import (
    admin,
    analyze,
    cgos,
    debug,
    evaluations,
    gogui,
    maps,
    moves,
    networks,
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
    "cgos",
    "debug",
    "gogui",
    "maps",
    "evaluations",
    "params",
    "moves",
    "networks",
    "rules",
    "scoring",
    "setup",
    "sgf",
    "timing",
]
