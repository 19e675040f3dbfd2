"""Games on many boards at once, evaluated in batches.

policy_games    games that a network plays against itself by sampling its policy
rows_evaluator  evaluation of positions that differ in rules and komi, in one call
game_rows       rows of positions that follow games move by move
replay          rows of positions from recorded games (kernels)
"""
