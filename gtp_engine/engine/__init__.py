"""The engine: a game, its searches and two clocks; no protocol."""

from gtp_engine.engine.choice import Choice
from gtp_engine.engine.dead_stones import ALIVE, DEAD, SEKI
from gtp_engine.engine.engine import Engine
from gtp_engine.engine.request import Request

__all__ = ["Engine", "Choice", "Request", "ALIVE", "DEAD", "SEKI"]
