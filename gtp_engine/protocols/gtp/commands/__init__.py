"""The GTP commands, one module per subject; importing this package fills `server.COMMANDS`.

A handler parses words into values, calls the engine once and formats the reply.  It parses everything before it changes
anything, so a command that fails leaves the game as it was, and as far as possible before it asks for `server.engine`,
so that mistakes are answered while the engine is still loading.

    admin        the session and the program: handshake, caches, random seed
    setup        board size, komi, handicap, set-up positions, rules, time settings and clocks
    moves        play, genmove, undo; score and dead stones
    analyze      the analyze commands, the Computer Go Server's too
    evaluations  what the networks or a short search think of the position, also as GoGui draws it
    params       settings of the running engine
    sgf          game records
    gogui        GoGui's menu and interrupts
    debug        board and game state; ladders, eyes and pass-alive stones
"""

from gtp_engine.protocols.gtp.commands import admin, analyze, debug, evaluations, gogui, moves, params, setup, sgf

__all__ = ["admin", "analyze", "debug", "evaluations", "gogui", "moves", "params", "setup", "sgf"]
