"""Tournaments between any number of GTP engines, described by a TOML file; `match` plays two.

Modules:

    tournament_file      the file as values: engines, conditions, who meets whom; start reading here
    tournament_runner    all games, several at a time, resumed after an interruption
    standings            ratings and crosstables, as text and JSON
    page                 the same as a page for a browser
    tournament_progress  keeps both up to date while games are played

Every pairing is a match in a folder of its own, with the files that `match` writes.
"""
