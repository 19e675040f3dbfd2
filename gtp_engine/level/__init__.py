"""The level of a person: how a rank chooses its move, and which rank a player's moves look like.

    drawing      draws a move as a person might, from a human-like policy, and checks what it loses
    table        `LevelSettings`: what a skill means: whose policy, its temperature, how many points are overlooked;
                 `LevelTable`: which skill each rank has, by board size; the file NET.levels.json beside a network
    calibration  measures what skills are worth by games in this process, and gives ranks theirs
    rank_estimate  which rank moves look like, by games between people

A *skill* is one number that counts as ranks do, 0 for 20k and 28 for 9d.  Games measure what a skill is worth, and the
table gives each rank a skill such that ranks are evenly spaced, on large boards by what a handicap stone is worth.

Not here: the evaluations and the end of the game, which are the engine's (`engine.level_play`).
"""
