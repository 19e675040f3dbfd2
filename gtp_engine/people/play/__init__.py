"""A game between a person and the engine, without any user interface.

    game_session   the game: moves of both sides, undo, hints, estimates, dead stones, the result, SGF
    game_settings  what a game is set up with: colours, board, rules, handicap, clock; what continues it later
    game_clock     the clocks of both players, one of which runs
    game_state     the state of a session and the nodes of its tree, as plain values for a page

    with SharedEngines(config, evaluator=evaluator) as engines:
        session = GameSession.start(engines.new_engine(), GameSettings(human=BLACK, width=9))
        session.play("E5")
        choice = session.engine_move()

Nothing here prints, reads input or starts threads (an engine may: pondering, `KernelLoader`).  All methods of a session
are for one thread at a time, and block while they search; a cancel token ends a search from any thread.
A page shows the last `state_of` while the engine thinks.
"""

from gtp_engine.engine.answers import analysis_of
from gtp_engine.engine.shared_engines import SharedEngines
from gtp_engine.go.clock import format_time, parse_time
from gtp_engine.people.play.game_clock import GameClock, format_time_left
from gtp_engine.people.play.game_session import GameSession, Phase
from gtp_engine.people.play.game_settings import ENGINE_NAME, GameSettings, SessionExtras
from gtp_engine.people.play.game_state import state_of

__all__ = [
    "ENGINE_NAME",
    "GameClock",
    "GameSession",
    "GameSettings",
    "Phase",
    "SharedEngines",
    "SessionExtras",
    "analysis_of",
    "format_time",
    "format_time_left",
    "parse_time",
    "state_of",
]
