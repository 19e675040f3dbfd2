"""Matches between two GTP engines: alternating colours, clocks, openings, a referee, results that survive.

    gtp_client   an engine as a child process: one command, one reply, one time
    settings     what decides the games of a match
    clocks       how engines are told their time
    player       an engine with the commands a match sends
    openings     where games begin
    referee      who has won
    play         one game
    records      finished games on disk
    runner       all games, several at a time, resumed after an interruption
    sprt         whether enough games have been played
    statistics   win rate, Elo, intervals, times, faults; the table
    ratings      several players from all their games: Elo, intervals, the table
    plot         the win rate over the games, as a picture
    progress     the bar on the terminal

Engines are processes and may be any program that speaks GTP 2; our own gets no favours.
"""
