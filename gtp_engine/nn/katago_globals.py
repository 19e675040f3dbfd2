"""The 19 global values of KataGo's inputs, version 7: passes, komi, rules.

     0–4   the last move, the one before, … (up to five, see `katago_planes.shown_moves`) was a pass
     5     points the side to move gets beside its area ("self komi"), in units of 20
     6, 7  ko rule: simple 0, 0; positional superko 1, ½; situational superko 1, −½
     8     suicide of several stones is legal
     9     territory scoring
    10, 11 tax: none 0, 0; on eyes in seki 1, 0; on each group 1, 1
    12, 13 the clean-up phases of KataGo's territory rules: main 0, 0; first 1, 0; second 1, 1
    14     a pass now ends the game
    15, 16 playout doubling advantage of the side to move: whether there is any, half of it
    17     the button has not been taken yet
    18     how much more komi helps, which with area scoring depends on the parity of komi and board

Komi is White's and includes everything: handicap bonus, the button once it is taken, and under territory scoring
the number of stones by which Black has placed more than White (in the second clean-up phase: before it), so that the
network can count area in either case.
"""

from math import floor
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine._jit import kernel, spliced_kernel, wide
from gtp_engine.evaluation.positions import (
    GROUP_TAX,
    MAIN_PHASE,
    NO_TAX,
    POSITIONAL_SUPERKO,
    SECOND_CLEANUP,
    SIMPLE_KO,
    Conditions,
    Positions,
    board_of,
)
from gtp_engine.go.board import HEIGHT, WIDTH, stones_placed
from gtp_engine.go.constants import BLACK, PASS, WHITE

GLOBALS: Final = 19

_KOMI: Final = 5
_KO_RULE: Final = 6
_SUICIDE: Final = 8
_TERRITORY: Final = 9
_TAX: Final = 10
_PHASE: Final = 12
_PASS_ENDS: Final = 14
ADVANTAGE: Final = 15
_BUTTON: Final = 17
_PARITY: Final = 18

_KOMI_UNIT: Final = 20.0
_KOMI_MARGIN: Final = 20.0
"""Points: komi is clipped to the board's area and this much more (KataGo's KOMI_CLIP_RADIUS)."""
_BUTTON_POINTS: Final = 0.5


@kernel
def own_komi(positions: Positions, row: int, conditions: Conditions) -> float:
    """Return the points that the side to move of a row gets beside the area of its stones and eyes."""
    komi = conditions.komi
    button = positions.button[row]
    if button != 0:
        komi += _BUTTON_POINTS if button == WHITE else -_BUTTON_POINTS
    if conditions.territory:
        placed = wide(positions.placed[row])
        if positions.phase[row] < SECOND_CLEANUP:
            placed = stones_placed(board_of(positions, row, wide(0)))
        komi += placed
    return komi if positions.to_play[row] == WHITE else -komi


@spliced_kernel
def _parity_wave(komi: float, area: int) -> float:
    """Return komi relative to the komi that allows a draw: a triangular wave of period 2 in komi, from −½ to ½.

    It is 0 where a draw is possible, and rises from there.  With area scoring, the difference of the areas is usually
    odd on a board with an odd number of points, and even on others, so only every second point of komi changes results.
    """
    offset = wide(area) % 2
    delta = komi - offset - 2.0 * floor((komi - offset) / 2.0)
    if delta < 0.5:
        return delta
    return 1.0 - delta if delta < 1.5 else delta - 2.0


@spliced_kernel
def _write_rules(conditions: Conditions, has_button: bool, values: NDArray[np.float32]) -> None:
    """Write what the rules alone decide."""
    if conditions.superko != SIMPLE_KO:
        values[_KO_RULE] = 1.0
        values[_KO_RULE + 1] = 0.5 if conditions.superko == POSITIONAL_SUPERKO else -0.5
    values[_SUICIDE] = 1.0 if conditions.suicide else 0.0
    values[_TERRITORY] = 1.0 if conditions.territory else 0.0
    values[_TAX] = 0.0 if conditions.tax == NO_TAX else 1.0
    values[_TAX + 1] = 1.0 if conditions.tax == GROUP_TAX else 0.0
    values[_BUTTON] = 1.0 if has_button else 0.0


@spliced_kernel
def _write_advantage(advantage_black: float, to_play: int, values: NDArray[np.float32]) -> None:
    """Write the playout doubling advantage of the side to move."""
    if advantage_black != 0.0:
        values[ADVANTAGE] = 1.0
        values[ADVANTAGE + 1] = 0.5 * (advantage_black if to_play == BLACK else -advantage_black)


@spliced_kernel
def write_globals(
    positions: Positions, row: int, conditions: Conditions, shown: int, pass_ends: bool, values: NDArray[np.float32]
) -> None:
    """Fill `values`, float32[GLOBALS], for a row, of which `shown` last moves are shown, and `pass_ends` as given."""
    for i in range(GLOBALS):
        values[i] = 0.0
    for i in range(shown):
        values[i] = 1.0 if positions.points[row, i] == PASS else 0.0
    board = board_of(positions, row, wide(0))
    area = wide(board.info[WIDTH]) * wide(board.info[HEIGHT])
    limit = area + _KOMI_MARGIN
    komi = min(max(own_komi(positions, row, conditions), -limit), limit)
    values[_KOMI] = komi / _KOMI_UNIT
    phase = wide(positions.phase[row])
    values[_PHASE] = 1.0 if phase != MAIN_PHASE else 0.0
    values[_PHASE + 1] = 1.0 if phase == SECOND_CLEANUP else 0.0
    values[_PASS_ENDS] = 1.0 if pass_ends else 0.0
    _write_rules(conditions, conditions.has_free_button and positions.button[row] == 0, values)
    _write_advantage(conditions.playout_doubling_advantage_black, wide(positions.to_play[row]), values)
    if not conditions.territory or phase == SECOND_CLEANUP:
        values[_PARITY] = _parity_wave(komi, area)
