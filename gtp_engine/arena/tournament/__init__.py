"""Tournaments between any number of GTP engines, described by a TOML file; `match` plays two.

Modules:

    tournament_file      the file as values: engines, conditions, who meets whom; start reading here
    tournament_runner    all games, several at a time, resumed after an interruption, and what shows them meanwhile
    standings            ratings and crosstables, as text, as JSON and as a page for a browser

Every meeting is a match in a folder of its own, with the files that `match` writes.
"""
