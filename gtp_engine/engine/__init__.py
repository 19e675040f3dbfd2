"""The engine: a game, a search and two clocks; no protocol.

engine     Engine: set up, play, choose a move, score; what GTP, the command line and programs call
decision   from what a search found to a move: legal, sensible, a pass when nothing is left, resignation
estimate   which stones are dead, and the score that follows
"""

from gtp_engine.engine.decision import Choice
from gtp_engine.engine.engine import Engine
from gtp_engine.engine.estimate import ALIVE, DEAD, SEKI

__all__ = ["Engine", "Choice", "ALIVE", "DEAD", "SEKI"]
