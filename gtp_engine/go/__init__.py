"""The game of Go: boards, rules, history, ladders, eyes, life and scoring.  No I/O, no logging.

Import the modules directly (`from gtp_engine.go.game import Game`); this file imports nothing so that the protocol
layer can use the light ones (constants, coords, rules) before numpy and numba are loaded.
"""
