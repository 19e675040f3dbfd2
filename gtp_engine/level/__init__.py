"""Play at the level of a person: how a rank chooses its move from the network's policy and a small search.

    skills     `LevelSettings`: what a skill means: visits, how much the policy is softened, the points a move may lose
    blunders   moves that no player of a rank makes: kinds that can be read from the board
    drawing    `choose_move`: draws a move as a person might, and checks what it loses
    found      what that starts from: one evaluation of the network, or a search
    table      `LevelTable`: which skill each rank has, by board size; the file NET.levels.json beside a network

A *skill* is one number: −3 is a beginner, 11 the strongest level.  Its scale has no unit; matches measure what a skill
is worth (`match.level_calibration`), and the table gives each rank a skill such that ranks are evenly spaced, on large
boards by what a handicap stone is worth.

Not here: the search and the end of the game, which are the engine's (`engine.level_play`).
"""
