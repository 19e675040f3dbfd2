"""The engine: a game, its searches and two clocks; no protocol.

One move, from `Engine.genmove` to the board:

    engine            ends the background search, has a move chosen, plays it and takes its time off the clock
    move_chooser      the clock of the colour gives a time budget (`time_manager`); logs the choice, waits as configured
    decision          `decide`: search, confirm, then resign, pass or play
    searches          `search_move` runs the game search with the limits of this move (`search.puct`, `search.rollouts`)
    time_watcher      is called during the search, and stops it in time
    dynamic_advantage follows a handicap game with a playout doubling advantage for the side that started behind
    resignation       counts the moves in a row that were lost; the engine may resign here
    dead_stones       estimates from the search's ownership which stones are dead and which points are neutral
    game_end          confirms by short searches for both sides (`Searches.confirm`) that the game can end
    disputes          finds the groups that these leave in doubt
    life_reading      reads out whether they live, by playing on from the position
    useful_moves      picks a neutral point, or the best move that changes something, or a pass
    level_play        draws the move instead, for a level below full strength (`level`)
    choice            the result, and its line for the log

Around it:

    delay             waits before a move as a person does
    request           optional requests of a caller: reports while the search runs, moves to leave out
    thresholds        how many visits and samples a conclusion needs, with a network and without
    resources         networks and kernels, the searches that a configuration makes of them, what it needs of them
    shared_engines    several engines, and searches for analyses, with one set of networks and kernels
    background        the thread for pondering, analysis and cancellable searches
    final_score       score and status of the stones, by one search for each side and by reading out what is in doubt
    raw_evaluation    the network's evaluation of a position, without a search
    compiling         compiles all kernels before the first command, or loads them
    kernel_loader     does so in the background; `first_moves` limits the searches meanwhile

Every command has one cancel token (`search.cancellation`), which goes into the limits of all its searches.
"""

from gtp_engine.engine.choice import Choice
from gtp_engine.engine.dead_stones import ALIVE, DEAD, SEKI
from gtp_engine.engine.engine import Engine
from gtp_engine.engine.request import Request

__all__ = ["Engine", "Choice", "Request", "ALIVE", "DEAD", "SEKI"]
