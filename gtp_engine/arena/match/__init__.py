"""Matches between two GTP engines: alternating colours, clocks, openings, a referee, resumable results.

    runner          all games, several at a time, resumed after an interruption; start reading here
    match_game      one game: its opening, its moves, its score
    match_engine    an engine with the commands that a match sends
    settings        the settings that decide the games of a match
    records         finished games on disk
    statistics      winrate, intervals, times, faults, the sequential test; tables and a picture

Engines are processes and may be any program that speaks GTP 2; ours is treated like any other.
"""
