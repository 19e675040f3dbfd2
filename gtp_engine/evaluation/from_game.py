"""From games to what an evaluator receives: rows of positions, with the rules as numbers.

`write_game` replays a game to find its last boards and asks `Game` about every point: ten milliseconds on 19×19, and
more for longer games.  When a game has grown by one move, its row only has to be shifted: its newest board becomes that
of one move ago.  `GameRows` does so, with the same result.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Final

import numpy as np

from gtp_engine.config import PuctConfig
from gtp_engine.evaluation.evaluator_info import EvaluatorInfo
from gtp_engine.evaluation.positions import (
    BOARDS,
    ENDS,
    GOES_ON,
    GROUP_TAX,
    HISTORY,
    IS_OVER,
    NO_TAX,
    POSITIONAL_SUPERKO,
    SEKI_TAX,
    SIMPLE_KO,
    SITUATIONAL_SUPERKO,
    Conditions,
    Positions,
    advance_row,
    finish_row,
    new_positions,
    put_row,
)
from gtp_engine.go.board import KO_COLOR, clear_ko, clone, play_assume_legal
from gtp_engine.go.constants import BLACK, EMPTY, NULL_POINT, PASS, WHITE
from gtp_engine.go.coords import Move
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Ko, Scoring, Tax

SUPERKO: Final = {Ko.SIMPLE: SIMPLE_KO, Ko.POSITIONAL: POSITIONAL_SUPERKO, Ko.SITUATIONAL: SITUATIONAL_SUPERKO}
TAX: Final = {Tax.NONE: NO_TAX, Tax.SEKI: SEKI_TAX, Tax.ALL: GROUP_TAX}


_EVEN_DRAW: Final = 0.5
"""Share of a win that a draw is for either side."""


def advantage_black(config: PuctConfig, info: EvaluatorInfo, color: int) -> float:
    """Return the configured playout doubling advantage as Black's, in a search on behalf of `color`.

    It is 0 for an evaluator that knows none: its network has untrained weights for that input.
    """
    if not info.knows_advantage:
        return 0.0
    holder = {"black": BLACK, "white": WHITE}.get(config.playout_doubling_advantage_color, color)
    return config.playout_doubling_advantage if holder == BLACK else -config.playout_doubling_advantage


def komi_for_draws(game: Game, draw_wins_white: float) -> float:
    """Return the points, from −½ to ½, that make up to White for a draw that counts as this share of a win for it.

    They are 0 where komi rules out a draw.  A button is half a point.
    """
    may_be_drawn = game.komi.is_integer() != game.rules.has_button
    return draw_wins_white - _EVEN_DRAW if may_be_drawn else 0.0


def conditions_of(game: Game, draw_wins_white: float = _EVEN_DRAW) -> Conditions:
    """Return the rules of a game and the points it has granted; for `draw_wins_white` see `komi_for_draws`."""
    rules = game.rules
    draw_komi = komi_for_draws(game, draw_wins_white)
    return Conditions(
        komi=game.komi + rules.handicap_points(game.handicap) - game.button_black + draw_komi,
        superko=SUPERKO[rules.ko],
        suicide=rules.suicide,
        territory=rules.scoring is Scoring.TERRITORY,
        tax=TAX[rules.tax],
        has_free_button=game.has_free_button,
        friendly_pass=rules.friendly_pass_ok,
    )


def write_conditions(positions: Positions, rows: int | slice | Sequence[int], conditions: Conditions) -> None:
    """Write the conditions of some rows."""
    positions.conditions[rows] = conditions
    positions.conditions_key[rows] = key_of_numbers(conditions)


@lru_cache(maxsize=256)
def key_of_numbers(numbers: tuple[float, ...]) -> np.uint64:
    """Return 64 bits that differ wherever one of the numbers does.

    They are a digest of doubles, which hold each number exactly.  Python's own `hash` will not do: it is the same for
    −1 and −2.
    """
    packed = np.array(numbers, dtype=np.float64) + 0.0  # −0 becomes 0
    return np.uint64(int.from_bytes(blake2b(packed.tobytes(), digest_size=8).digest(), "little"))


def write_game(
    positions: Positions,
    row: int,
    game: Game,
    to_play: int | None = None,
    *,
    pass_goes_on: bool = False,
    with_history: bool = True,
    conditions: Conditions | None = None,
) -> None:
    """Fill a row with the position of `game` (not changed) and its history; `to_play` defaults to whose turn it is.

    The conditions are those of the game (`conditions_of`) unless others are given.
    With `pass_goes_on` a pass does not end the game: where it would, under area rules, the history is left out.
    """
    color = int(game.to_play if to_play is None else to_play)
    shown = _write_boards(positions, row, game, color)
    passes, first = _passes(game)
    recent = game.moves[first:][: -shown - 1 : -1] if with_history else ()
    positions.points[row] = [move.point for move in recent] + [NULL_POINT] * (HISTORY - len(recent))
    positions.colors[row] = [move.color for move in recent] + [0] * (HISTORY - len(recent))
    positions.forbidden[row] = 0
    positions.forbidden[row, game.repeating_points(color)] = 1
    is_open = passes == 0 or (game.last_move is not None and color == game.last_move.color)
    pass_ends = GOES_ON if is_open else (ENDS if passes == 1 else IS_OVER)
    if pass_goes_on and pass_ends != GOES_ON and game.rules.scoring is Scoring.AREA:
        positions.points[row], positions.colors[row] = NULL_POINT, 0
        pass_ends = GOES_ON
    write_conditions(positions, row, conditions_of(game) if conditions is None else conditions)
    finish_row(positions, row, color, pass_ends, 0)


def _write_boards(positions: Positions, row: int, game: Game, color: int) -> int:
    """Fill a row's boards; return how many of the last moves, `HISTORY` at most, came after one against the rules.

    KataGo does not show its networks what came before such a move.  A ko ban is left out where the other side moved
    next, which lifts the ban.
    """
    past = game.copy()
    past.undo(min(HISTORY, len(game.moves)))
    first, shown, board = max(0, len(game.moves) - BOARDS + 1), 0, clone(past.board)
    for move in game.moves[len(past.moves) :]:
        if len(past.moves) == first:
            board = clone(past.board)
        shown = shown + 1 if past.is_legal(move) else 0
        past.play(move, tolerant=True)
    moves = game.moves[first:]
    for ago, mover in zip(range(len(moves), -1, -1), [*(move.color for move in moves), color], strict=True):
        if board.info[KO_COLOR] != mover:
            clear_ko(board)
        for older in range(ago, BOARDS if ago == len(moves) else ago + 1):
            positions.storage[row, older] = board.storage
            positions.hash[row, older] = board.hash
        if ago > 0 and moves[-ago].point == PASS:
            clear_ko(board)
        elif ago > 0:
            play_assume_legal(board, int(moves[-ago].point), int(moves[-ago].color))
    return shown


def _passes(game: Game) -> tuple[int, int]:
    """Return how many passes by turns end the game so far, and the number of the first move that counts as history.

    A pass that took the button does not count.  Two passes end a game; if it continues, its history begins with the
    last of them.  A side that passes twice in a row counts as passing once, as in KataGo.
    """
    has_button = game.rules.has_button
    passes = first = 0
    moves = game.moves
    for number, move in enumerate(moves):
        takes_button = has_button and move.point == PASS
        has_button = has_button and not takes_button
        is_in_turn = number == 0 or moves[number - 1].color != move.color
        passes = 0 if move.point != PASS or takes_button else (passes + 1 if is_in_turn else 1)
        if passes >= 2:
            first = number
    return passes, first


class GameRows:
    """Keeps rows of `positions` up to date with games, at little cost where a game has grown by a move."""

    def __init__(self, positions: Positions) -> None:
        self.positions: Final = positions
        self._followed: Final[list[tuple[object, ...]]] = [()] * len(positions.key)  # game, set-up, moves of each row

    def fill(self, row: int, game: Game, *, advantage_black: float = 0.0) -> None:
        """Fill a row with the position of `game` and its history, as `write_game` does.

        `advantage_black` is Black's playout doubling advantage.
        """
        positions, conditions = self.positions, conditions_of(game)
        conditions = conditions._replace(playout_doubling_advantage_black=advantage_black)
        last = game.last_move
        if last is not None and self._has_grown_by_a_turn(row, game, last):
            write_conditions(positions, row, conditions)
            pass_ends = ENDS if game.consecutive_passes == 1 else GOES_ON
            advance_row(positions, row, game.board, last.point, last.color, pass_ends, game.superko_keys())
        else:
            write_game(positions, row, game, conditions=conditions)
        self._followed[row] = (game, game.setup_stones, game.moves)

    def _has_grown_by_a_turn(self, row: int, game: Game, last: Move) -> bool:
        """Return whether the row shows the game before its last move, legal and in turn, and the game goes on."""
        if self._followed[row] != (game, game.setup_stones, game.moves[:-1]):
            return False
        if last.point != PASS and (
            self.positions.forbidden[row, last.point] or (game.color_at(last.point) == EMPTY and not game.rules.suicide)
        ):
            return False
        return last.color == self.positions.to_play[row] and not game.is_over


def replayed_rows(games: Iterable[Game], numbers: Sequence[int], width: int, height: int) -> Positions:
    """Return positions of a game that is being replayed, each by how many of `games` come before it, ascending."""
    positions, latest = new_positions(len(numbers), width, height), new_positions(1, width, height)
    rows, wanted = GameRows(latest), {number: place for place, number in enumerate(numbers)}
    for number, game in zip(range(numbers[-1] + 1), games, strict=False):
        rows.fill(0, game)
        if number in wanted:
            put_row(positions, wanted[number], latest, 0)
    return positions
