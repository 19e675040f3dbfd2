"""Matches between two GTP engines: alternating colours, clocks, openings, a referee, resumable results.

    runner          all games, several at a time, resumed after an interruption; start reading here
    match_game      one game
    player          an engine with the commands that a match sends
    gtp_client      an engine as a child process: commands, replies, times
    settings        the settings that decide the games of a match
    clocks          the time commands for an engine
    openings        the first moves of games
    referee         the winner after two passes
    records         finished games on disk
    statistics      winrate, Elo, intervals, times, faults; the table
    sprt            the sequential test that ends a match early
    ratings         Elo ratings of several players from all their games
    level_games     games between levels in this process, from which `level_calibration` rates the ranks
    plot            the winrate over the games, as a picture
    match_progress  finished games on the progress bar

Engines are processes and may be any program that speaks GTP 2; ours is treated like any other.
"""
