"""Games on many boards at once, evaluated in batches.

policy_games    games that a network plays against itself by sampling its policy, and other players in them; start here
plans           plans of such games, which may differ in rules, komi and handicap
"""
