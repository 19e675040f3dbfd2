"""The seam between searches and networks: what a search passes and what it receives, so that neither imports the other.

positions       Positions, a batch of boards with the history and rules that networks read
from_game       a row of positions, and the rules, from a Game
row_kernels     rows of positions copied, advanced by a move and finished (kernels)
evaluation      Evaluation, the output for a batch
evaluator       Evaluator, the protocol that networks and test doubles implement
evaluator_info  EvaluatorInfo, the description of an evaluator
forwarding      evaluators that stand before another one
exclusive       one evaluator for several threads, whose calls wait for each other
shared          one evaluator for users who search at the same time, whose calls are joined
joining         several requests for evaluations as one call
"""
