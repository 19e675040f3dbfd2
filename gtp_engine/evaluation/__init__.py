"""What a network is asked and what it answers, so that search and networks need not know each other.

positions   a batch of positions with the history and rules that networks look at
games       a row of positions, and the rules, from a game
evaluation  Evaluation, the answers for a batch
evaluator   Evaluator, whoever gives them; RolloutPolicy, what some of them offer beside
exclusive   one evaluator for several searches
"""
