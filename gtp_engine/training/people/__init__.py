"""Networks and levels from what people play.

    human_data   games of people as rows for training
    rank_fit     how likely each rank's moves are, fitted to such games
    calibration  what skills are worth, measured by games in this process, and the skill that each rank is given

A *skill* is one number that counts as ranks do, 0 for 20k and 28 for 9d.  The level table (`engine.level_table`) gives
each rank a skill such that ranks are evenly spaced, on large boards by what a handicap stone is worth.
"""
