"""Games on many boards at once, evaluated in batches.

policy_games    games that a network plays against itself by sampling its policy; start here
varied_plans    plans of such games that differ in rules, komi and handicap
move_policy     other players in these games: the policy of another network, or a search
game_rows       rows of positions that follow games move by move
"""
