"""The engine: a game, its searches and two clocks; no protocol.

One move, from `Engine.genmove` to the board:

    engine            ends the background search, has a move chosen, plays it and takes its time off the clock
    move_choice       the clock of the colour gives a time budget (`time_manager`), a handicap game an advantage;
                      search, then resign, or pass or play (`decision`)
    searches          `search_move` runs the game search (`search.puct`, `search.rollouts`); a `TimeWatcher`
                      stops it in time
    decision          the pass or move after the search: a neutral point, a capture, a useful move
    ending            whether the players can stop here, and what a pass may lose
    game_end          estimates from ownership which stones are dead and which points are neutral; whether the players
                      may stop here, and which moves still change something
    life_reading      puts what can be proved of doubtful chains (`search.fights`) in place of what searches expect
    level_play        draws the move instead, for a level below full strength: `level_drawing` from what people would
                      play, `level_table` says how much each rank overlooks
    variety           what moves cost the search that have been played before

Around it:

    threads           who may use an engine, and the job that it runs in the background
    answers           what is asked of an engine from Python, and what it answers
    resources         networks, and what they decide: the first board, what evaluates, settings of human-like play
    shared_engines    several engines, and searches for analyses, with one set of networks and kernels
    final_score       score and status of the stones: what is expected, and what is proved of doubtful chains
    kernels           has kernels compiled as they are called, or loads them in the background
    time_manager      the time for a move
    book              books of small boards: played here, made and checked
    rehearsal         the kernels of the searches: loaded, awaited, and called at a first start as games call them

Every command has one cancel token (`search.limits`), which goes into the limits of all its searches.
"""

from gtp_engine.engine.engine import Engine
from gtp_engine.engine.final_score import ALIVE, DEAD, SEKI
from gtp_engine.engine.move_choice import Choice

__all__ = ["Engine", "Choice", "ALIVE", "DEAD", "SEKI"]
