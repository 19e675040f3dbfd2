"""What a network is asked and what it answers: types only, so that search and networks need not know each other.

positions   a batch of positions with the history and rules that networks look at
evaluation  Evaluation, the answers for a batch
evaluator   Evaluator, whoever gives them
"""
