"""From a game to what an evaluator is given: a row of positions, and the rules as numbers."""

from typing import Final

from gtp_engine.evaluation.positions import HISTORY, Conditions, Positions, set_key
from gtp_engine.go.constants import EMPTY, NULL_POINT
from gtp_engine.go.coords import board_points
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Ko, Scoring, Tax

SUPERKO: Final = {Ko.SIMPLE: 0, Ko.POSITIONAL: 1, Ko.SITUATIONAL: 2}
TAX: Final = {Tax.NONE: 0, Tax.SEKI: 1, Tax.ALL: 2}


def conditions_of(game: Game, *, playout_doubling_advantage: float = 0.0) -> Conditions:
    """Return the rules of a game as it stands; `playout_doubling_advantage` is the side to play's."""
    rules = game.rules
    return Conditions(
        komi=game.komi + rules.handicap_points(game.handicap) - game.button_black,
        superko=SUPERKO[rules.ko],
        suicide=rules.suicide,
        territory=rules.scoring is Scoring.TERRITORY,
        tax=TAX[rules.tax],
        has_free_button=rules.has_button and game.button_black == 0.0,
        playout_doubling_advantage=playout_doubling_advantage,
    )


def write_game(positions: Positions, row: int, game: Game, to_play: int | None = None) -> None:
    """Fill a row with the position of `game` (not changed) and its history; `to_play` defaults to whose turn it is."""
    color = game.to_play if to_play is None else to_play
    past = game
    for ago in range(positions.storage.shape[1]):
        if ago > 0 and past.moves:
            past = past.copy()
            past.undo()
        positions.storage[row, ago] = past.board.storage
        positions.hash[row, ago] = past.board.hash
    positions.to_play[row] = color
    recent = game.moves[: -HISTORY - 1 : -1]
    positions.points[row] = [move.point for move in recent] + [NULL_POINT] * (HISTORY - len(recent))
    positions.colors[row] = [move.color for move in recent] + [0] * (HISTORY - len(recent))
    positions.forbidden[row] = 0
    for point in board_points(game.width, game.height):
        if game.board.color[point] == EMPTY and game.illegal_reason(point, color) in ("ko", "superko"):
            positions.forbidden[row, point] = 1
    is_free_button = game.rules.has_button and game.button_black == 0.0
    positions.pass_ends[row] = game.consecutive_passes == 1 and not is_free_button
    set_key(positions, row)
