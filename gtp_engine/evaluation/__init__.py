"""The seam between searches and networks: what a search passes and what it receives, so that neither imports the other.

positions       Positions, a batch of boards with the history and rules that networks read, and Evaluation, what is
                found about a batch (kernels)
from_game       rows of positions, with their rules, from a Game
evaluator       Evaluator, the protocol that networks and test doubles implement, and Request, what it is given
evaluator_info  EvaluatorInfo, the description of an evaluator
memory_budget   the memory that trees and caches share
shared          one evaluator for users who search at the same time, whose requests are joined
"""
