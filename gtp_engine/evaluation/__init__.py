"""The seam between searches and networks: what a search passes and what it receives, so that neither imports the other.

positions       Positions, a batch of boards with the history and rules that networks read (kernels)
from_game       rows of positions, with their rules, from a Game
evaluation      Evaluation, the output for a batch
evaluator       Evaluator, the protocol that networks and test doubles implement, and Request, what it is given
evaluator_info  EvaluatorInfo, the description of an evaluator
memory_budget   the memory that trees and caches share
shared          one evaluator for users who search at the same time, whose requests are joined
"""
