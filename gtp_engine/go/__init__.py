"""The game of Go: boards, rules, history, ladders, eyes, life and scoring.  No I/O, no logging.

Values, pure Python
    constants         colours, reserved points, size limits, `Move`, the keys of hashes
    coords            vertices, points, actions and their conversions
    rules             `Rules`: presets, KataGo's JSON, komi
    handicap          the points of fixed and free handicaps
    diagram           boards as text and as pictures
    clock             time settings and clocks

A game
    game              `Game`: moves, passes, set-up, legality, score; start reading here
    superko           the positions that may not recur, and long cycles
    phases            the start and the end of a game
    stones            the stones of a game in plain Python: placing, capturing, simple ko, hash, taking back
    scoring           the score of a finished position

Kernels on `Board`, a NamedTuple of arrays
    board             the layout of the arrays; placing, capturing, simple ko, hash
    undo              moves that can be taken back, for reading ahead
    tactics           properties of one point: captures, self-atari, escapes, real and false eyes
    ladder            whether a ladder captures a chain; all ladders of a board
    benson            unconditional life and the area it implies
    area              the owner of every point by Tromp and Taylor's rules or under group tax; what taxes take

Import the modules directly (`from gtp_engine.go.game import Game`).
"""
