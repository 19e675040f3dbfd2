"""The engine: a game, its searches and two clocks; no protocol.

engine     Engine: set up, play, choose a move, analyze, score; what GTP, the command line and programs call
thinking   the searches: by a network or by rollouts, for a move, an analysis, an estimate; when to stop them
searchers  which search a configuration asks for
ponder     searches in the background
decision   from what a search found to a move: legal, sensible, a pass when nothing is left, resignation
estimate   which stones are dead, and the score that follows, once somebody knows the ownership
judge      the same for a position, searching for the ownership
effort     how much a search must have seen to be believed
warm_up    compiling before the first command
"""

from gtp_engine.engine.dead_stones import ALIVE, DEAD, SEKI
from gtp_engine.engine.decision import Choice
from gtp_engine.engine.engine import Engine
from gtp_engine.engine.thinker import Request

__all__ = ["Engine", "Choice", "Request", "ALIVE", "DEAD", "SEKI"]
