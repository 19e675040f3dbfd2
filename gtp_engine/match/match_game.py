"""One game between two players, from the opening to its record.

The referee's own `Game` decides legality: a move that it forbids loses, even if the opponent would accept it.  A think
time lasts from the end of the `genmove` command to the arrival of the reply's first line.
"""

import hashlib
from dataclasses import dataclass, field
from typing import NamedTuple

from gtp_engine.clock import TimeLeft, full_time, time_after_move
from gtp_engine.errors import IllegalMoveError, InvalidVertexError, counted, shown
from gtp_engine.go.constants import BLACK, WHITE, Move, opponent
from gtp_engine.go.coords import parse_vertex
from gtp_engine.go.game import Game
from gtp_engine.match.gtp_client import CommandFailedError, EngineDiedError, EngineTimeoutError
from gtp_engine.match.openings import Opening, new_game
from gtp_engine.match.player import Player
from gtp_engine.match.records import GameRecord, Reason, Winner
from gtp_engine.match.referee import Referee, winner_of
from gtp_engine.match.settings import SIDES, MatchSettings, Side
from gtp_engine.sgf.values import VOID


class PlayedGame(NamedTuple):
    """A finished game: its record for the statistics, and the game itself for the SGF."""

    record: GameRecord
    game: Game


class _Ending(NamedTuple):
    """How a game ended: RE, the winner, the reason, a sentence of detail, and the scores where it was scored."""

    result: str
    winner: Winner
    reason: Reason
    detail: str = ""
    scores: dict[str, str] | None = None


@dataclass
class _Seat:
    """One player during one game, with its colour, its clock (None without one) and its times in seconds."""

    player: Player
    color: int
    time_left: TimeLeft | None
    think_times: list[float] = field(default_factory=list)
    overruns: int = 0

    @property
    def side(self) -> Side:
        return self.player.side


def play_game(
    number: int, opening: Opening, *, black: Player, white: Player, settings: MatchSettings, referee: Referee
) -> PlayedGame:
    """Play game `number` and return it with its record; either engine may have died when this returns.

    Raises MatchError when the game cannot be set up; neither engine has lost then.
    """
    game = new_game(settings, opening)
    times = settings.time_settings()
    seats = {
        color: _Seat(player, color, full_time(times) if times is not None else None)
        for color, player in ((BLACK, black), (WHITE, white))
    }
    ending = _set_up(seats, opening) or _play_on(game, seats, settings, referee)
    by_side = {seat.side: seat for seat in seats.values()}
    record = GameRecord(
        game=number,
        opening=opening.name,
        black=black.side,
        result=ending.result,
        winner=ending.winner,
        reason=ending.reason,
        detail=ending.detail,
        moves=len(game.moves),
        scores=ending.scores or {},
        think_times={side: [round(seconds, 3) for seconds in by_side[side].think_times] for side in SIDES},
        overruns={side: by_side[side].overruns for side in SIDES},
        digest=_digest(game),
    )
    return PlayedGame(record, game)


def _digest(game: Game) -> str:
    """Return 16 hexadecimal digits that differ for games of other stones or moves."""
    texts = [f"{move.color}{game.vertex(move.point)}" for move in (*game.setup_stones, *game.moves)]
    return hashlib.sha256(f"{len(game.moves)} {' '.join(texts)}".encode()).hexdigest()[:16]


def _set_up(seats: dict[int, _Seat], opening: Opening) -> _Ending | None:
    """Prepare both engines; return the ending if one of them fails."""
    for color, seat in seats.items():
        try:
            seat.player.start_game()
            seat.player.place_handicap()
            # White's stones first: Black's moves before White's first one would count as a handicap.
            seat.player.play_all(sorted(opening.setup, key=lambda stone: stone.color != WHITE))
            seat.player.play_all(opening.moves)
        except (EngineDiedError, EngineTimeoutError) as error:
            return _lost(seat, seats[opponent(color)], "failure", str(error))
    return None


def _play_on(game: Game, seats: dict[int, _Seat], settings: MatchSettings, referee: Referee) -> _Ending:
    """Let the engines move in turn until the game has ended."""
    while not game.is_over:
        if game.has_no_result:
            return _Ending(VOID, "draw", "cycle", "no result: a position occurred for the third time")
        if len(game.moves) >= settings.max_moves:
            return _Ending(VOID, "none", "max_moves", f"stopped after {counted(settings.max_moves, 'move')}")
        ending = _one_move(game, seats[game.to_play], seats[opponent(game.to_play)], settings)
        if ending is not None:
            return ending
    scores = referee.decide(game, [seats[BLACK].player, seats[WHITE].player])
    winner = winner_of(scores["referee"], black=seats[BLACK].side, white=seats[WHITE].side)
    return _Ending(scores["referee"], winner, "score", scores=scores)


def _one_move(game: Game, mover: _Seat, waiting: _Seat, settings: MatchSettings) -> _Ending | None:
    """Request a move from one engine, check it and send it to the other; return the ending if it ended the game."""
    try:
        if mover.time_left is not None:
            mover.player.send_time_left(mover.color, mover.time_left)
        reply = mover.player.genmove(mover.color)
    except (CommandFailedError, EngineDiedError, EngineTimeoutError) as error:
        return _lost(mover, waiting, "failure", str(error))
    mover.think_times.append(reply.seconds)
    if _is_lost_on_time(mover, reply.seconds, settings) and settings.forfeit_on_time:
        return _lost(mover, waiting, "time", f"{mover.side} took {reply.seconds:.2f} s for its last move")
    if reply.text.lower() == "resign":
        return _lost(mover, waiting, "resign")
    try:
        point = parse_vertex(reply.text, width=game.width, height=game.height)
        game.play(point, mover.color)
    except InvalidVertexError:
        return _lost(mover, waiting, "illegal", f"{mover.side} answered {shown(reply.text)} to genmove")
    except IllegalMoveError as error:
        return _lost(mover, waiting, "illegal", f"{mover.side} played {shown(reply.text)}: {error}")
    try:
        waiting.player.play(Move(mover.color, point))
    except CommandFailedError as error:
        refusal = f"{waiting.side} refused the legal move {game.vertex(point)}: {error.reply}"
        return _lost(waiting, mover, "refused", refusal)
    except (EngineDiedError, EngineTimeoutError) as error:
        return _lost(waiting, mover, "failure", str(error))
    return None


def _is_lost_on_time(seat: _Seat, seconds: float, settings: MatchSettings) -> bool:
    """Deduct a move from its player's clock; return whether it took more than the clock and the grace allow.

    The grace forgives each overstep separately, for delays of the machine rather than the engine.  The full time is
    still deducted, so an engine cannot use the grace as extra time.
    """
    times = settings.time_settings()
    before = seat.time_left
    if times is None or before is None:
        return False
    after = time_after_move(times, before, seconds)
    seat.time_left = after._replace(has_time=True)
    if after.has_time:
        return False
    seat.overruns += 1
    return not time_after_move(times, before, max(0.0, seconds - settings.time_grace)).has_time


def _lost(loser: _Seat, winner: _Seat, reason: Reason, detail: str = "") -> _Ending:
    """Return the ending of a game that is not scored; RE names resignation, time, or a forfeit."""
    letter = "B" if winner.color == BLACK else "W"
    suffix = {"resign": "R", "time": "T"}.get(reason, "F")
    return _Ending(f"{letter}+{suffix}", winner.side, reason, detail)
