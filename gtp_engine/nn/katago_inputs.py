"""KataGo's inputs, version 7, which all its networks since 2019 read: 22 planes and 19 global values.

Planes:

     0      on the board: 1 everywhere
     1, 2   own stones, the opponent's stones
     3–5    stones of chains with one, two, three liberties
     6      points forbidden by ko or superko
     7      stones that may not be retaken in a ko, in the clean-up phases of KataGo's territory rules
     8      nothing
     9–13   the last move, the one before, …, unless it was a pass
    14–16   stones that a ladder captures: on this board, on that one move ago, on that two moves ago
    17      moves that capture an opponent's chain of two liberties in a ladder
    18, 19  own area, the opponent's area; with territory scoring own points and the opponent's, if the game were over,
            in the second clean-up phase only
    20, 21  own stones and the opponent's at the start of the second clean-up phase, and in that only

Global values:

     0–4   the last move, the one before, … (up to five, see `shown_moves`) was a pass
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

Everything is seen by the side to move.  The source is `fillRowV7` in KataGo's neuralnet/nninputs.cpp, version 1.17.2;
what it does with the history is `shown_moves` here.

Komi is White's and includes everything: handicap bonus, the button once it is taken, and under territory scoring
the number of stones by which Black has placed more than White (in the second clean-up phase: before it), so that the
network can count area in either case.

The planes show ladders on three boards: the position and those one and two moves ago.  In a search as in a game the
older ones were positions themselves a moment before, so two of three readings can be saved (`LadderCache`).

K is the number of rows that are encoded, A = H·W the points of the board, n its padded length, S the symmetries.
"""

from math import floor
from typing import Annotated, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.arrays import zeros
from gtp_engine.compiled.jit import kernel, spliced_kernel, wide
from gtp_engine.evaluation.positions import (
    ENDS,
    GOES_ON,
    GROUP_TAX,
    IS_OVER,
    MAIN_PHASE,
    NO_TAX,
    POSITIONAL_SUPERKO,
    SECOND_CLEANUP,
    SIMPLE_KO,
    Conditions,
    FloatArray,
    Positions,
    board_of,
    conditions_of_row,
)
from gtp_engine.go.area import cleaned_up_map, taxed_area_map
from gtp_engine.go.benson import LifeWork, area_map
from gtp_engine.go.board import HEIGHT, KO_POINT, WIDTH, Board, IntArray, count_liberties, stones_placed
from gtp_engine.go.constants import BLACK, BUTTON_POINTS, EMPTY, PASS, WALL, WHITE, padded_length
from gtp_engine.go.ladder import (
    CAPTURED,
    WORKS_FOR_BLACK,
    WORKS_FOR_WHITE,
    LadderWork,
    MarkArray,
    ladder_marks,
    new_ladder_work,
)

_SLOTS: Final = 4096
"""Boards, a power of two: as many as a few seconds of search evaluate.  A slot of a 19×19 board takes 430 bytes."""

_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)
"""2⁶⁴ divided by the golden ratio: spreads keys that differ in the ko point only (Fibonacci hashing)."""


class LadderCache(NamedTuple):
    """The slots, and work arrays for reading; n is the padded length of a board."""

    keys: Annotated[NDArray[np.uint64], _SLOTS]  # 0 in a slot never used
    marks: Annotated[MarkArray, _SLOTS, "n"]  # as `ladder_marks` writes them
    counts: Annotated[IntArray, "n"]
    work: LadderWork


@spliced_kernel
def find_ladders(board: Board, cache: LadderCache) -> int:
    """Return the slot with the marks of `board`, which are computed unless they are cached; the board is restored."""
    key = board.hash[0] ^ (np.uint64(board.info[KO_POINT]) * _SPREAD)
    slot = int(key & np.uint64(_SLOTS - 1))
    if cache.keys[slot] != key:
        ladder_marks(board, cache.counts, cache.work, cache.marks[slot])
        cache.keys[slot] = key
    return wide(slot)


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


@kernel
def own_komi(positions: Positions, row: int, conditions: Conditions) -> float:
    """Return the points that the side to move of a row gets beside the area of its stones and eyes."""
    komi = conditions.komi
    button = positions.button[row]
    if button != 0:
        komi += BUTTON_POINTS if button == WHITE else -BUTTON_POINTS
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
def _write_rules(conditions: Conditions, has_button: bool, values: FloatArray) -> None:
    """Write what the rules alone decide."""
    if conditions.superko != SIMPLE_KO:
        values[_KO_RULE] = 1.0
        values[_KO_RULE + 1] = 0.5 if conditions.superko == POSITIONAL_SUPERKO else -0.5
    values[_SUICIDE] = 1.0 if conditions.suicide else 0.0
    values[_TERRITORY] = 1.0 if conditions.territory else 0.0
    values[_TAX] = 0.0 if conditions.tax == NO_TAX else 1.0
    values[_TAX + 1] = 1.0 if conditions.tax == GROUP_TAX else 0.0
    values[_BUTTON] = 1.0 if has_button else 0.0


@kernel
def write_globals(
    positions: Positions, row: int, conditions: Conditions, shown: int, pass_ends: bool, values: FloatArray
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
    advantage = conditions.playout_doubling_advantage_black
    if advantage != 0.0:
        values[ADVANTAGE] = 1.0
        values[ADVANTAGE + 1] = 0.5 * (advantage if positions.to_play[row] == BLACK else -advantage)
    if not conditions.territory or phase == SECOND_CLEANUP:
        values[_PARITY] = _parity_wave(komi, area)


PLANES: Final = 22

_STONES: Final = 1
_LIBERTIES: Final = 3
_FORBIDDEN: Final = 6
_NO_RETAKE: Final = 7
_MOVES: Final = 9
_LADDERS: Final = 14
_LADDER_MOVES: Final = 17
_AREA: Final = 18
_START: Final = 20

_SHOWN_MOVES: Final = 5
_LIBERTY_PLANES: Final = 3


class EncoderWork(NamedTuple):
    """Work arrays of one encoder, used by one thread at a time."""

    life: LifeWork
    ladders: LadderCache
    liberties: Annotated[IntArray, "n"]  # by head
    area: Annotated[IntArray, "n"]
    owners: Annotated[IntArray, "n"]


def new_encoder_work(width: int, height: int) -> EncoderWork:
    """Return work arrays for boards of this size."""
    n = padded_length(width, height)
    ladders = zeros(LadderCache, n=n, work=new_ladder_work(width, height))
    return zeros(EncoderWork, n=n, ladders=ladders)


@spliced_kernel
def _write_stones(board: Board, color: int, cells: IntArray, work: EncoderWork, planes: FloatArray) -> None:
    """Write the planes 0 to 5: the board, both sides' stones, their liberties."""
    count_liberties(board, work.liberties)
    for cell in range(planes.shape[1]):
        planes[0, cell] = 1.0
    for point in range(cells.size):
        stone = board.color[point]
        if stone == EMPTY or stone == WALL:
            continue
        planes[_STONES + wide(stone != color), cells[point]] = 1.0
        liberties = work.liberties[board.head[point]]
        if liberties <= _LIBERTY_PLANES:
            planes[_LIBERTIES - 1 + liberties, cells[point]] = 1.0


@kernel
def _write_marks(marks: MarkArray, mark: int, cells: IntArray, plane: FloatArray) -> None:
    """Write 1 to a plane where `marks`, by point, have the bit `mark`."""
    for point in range(cells.size):
        if marks[point] & mark:
            plane[cells[point]] = 1.0


@spliced_kernel
def _write_ladders(
    positions: Positions, row: int, shown: int, cells: IntArray, cache: LadderCache, planes: FloatArray
) -> None:
    """Write the planes 14 to 17; boards before the shown moves are replaced by the oldest board after them."""
    for ago in range(3):
        slot = find_ladders(board_of(positions, row, wide(min(ago, shown))), cache)
        _write_marks(cache.marks[slot], CAPTURED, cells, planes[_LADDERS + ago])
        if ago == 0:
            works = WORKS_FOR_BLACK if positions.to_play[row] == BLACK else WORKS_FOR_WHITE
            _write_marks(cache.marks[slot], works, cells, planes[_LADDER_MOVES])


@kernel
def _write_area(
    positions: Positions,
    row: int,
    conditions: Conditions,
    suicide: bool,
    cells: IntArray,
    work: EncoderWork,
    planes: FloatArray,
) -> int:
    """Return the points of the side to move minus the opponent's, tax paid, after writing the planes 18 and 19."""
    board, color, tax = board_of(positions, row, wide(0)), wide(positions.to_play[row]), conditions.tax
    groups, owners = wide(0), work.owners
    if conditions.territory:
        start = positions.start[row]
        groups = cleaned_up_map(board, start, tax == NO_TAX, suicide, work.life, work.area, owners)
    elif tax == NO_TAX:
        area_map(board, suicide, work.life, owners)
    else:
        groups = taxed_area_map(board, suicide, work.life, work.area, owners)
    margin = wide(0) if tax != GROUP_TAX else (-2 * groups if color == BLACK else 2 * groups)
    for point in range(cells.size):
        owner = owners[point]
        if owner != EMPTY:
            planes[_AREA + wide(owner != color), cells[point]] = 1.0
            margin += 1 if owner == color else -1
    return margin


@spliced_kernel
def _write_cleanup(positions: Positions, row: int, color: int, cells: IntArray, planes: FloatArray) -> None:
    """Write the planes 7, 20 and 21."""
    for point in range(cells.size):
        if positions.no_retake[row, point] != 0:
            planes[_NO_RETAKE, cells[point]] = 1.0
        stone = positions.start[row, point]
        if stone != EMPTY:
            planes[_START + wide(stone != color), cells[point]] = 1.0


@spliced_kernel
def _hides_pass(positions: Positions, row: int, conditions: Conditions, margin: int) -> bool:
    """Return whether to hide from a network that a pass now would end the game; `margin` is that of `_write_area`."""
    counts = not conditions.territory or positions.phase[row] == SECOND_CLEANUP
    if not counts or positions.pass_ends[row] == GOES_ON:
        return False
    if conditions.friendly_pass and not conditions.territory and positions.pass_ends[row] == ENDS:
        return True
    return conditions.passing_hacks and margin + own_komi(positions, row, conditions) <= 0.0


@spliced_kernel
def shown_moves(positions: Positions, row: int) -> int:
    """Return how many of the last moves a network is shown: five at most, as long as both sides took turns.

    Of a game that passes have ended it is shown the last pass.
    """
    limit = 1 if positions.pass_ends[row] == IS_OVER else _SHOWN_MOVES
    color = BLACK + WHITE - wide(positions.to_play[row])
    count = 0
    while count < limit and positions.colors[row, count] == color:
        color = BLACK + WHITE - color
        count += 1
    return count


@kernel
def _encode_row(
    positions: Positions,
    row: int,
    conditions: Conditions,
    suicide_area: bool,
    cells: IntArray,
    work: EncoderWork,
    planes: FloatArray,
    values: FloatArray,
) -> None:
    """Fill the planes, float32[PLANES, A], and values, float32[GLOBALS], of one row; `cells` [n] are its symmetry's."""
    board = board_of(positions, row, wide(0))
    color = wide(positions.to_play[row])
    for plane in range(PLANES):
        for cell in range(planes.shape[1]):
            planes[plane, cell] = 0.0
    _write_stones(board, color, cells, work, planes)
    for point in range(cells.size):
        if positions.forbidden[row, point] != 0:
            planes[_FORBIDDEN, cells[point]] = 1.0
    margin, phase = wide(0), wide(positions.phase[row])
    if not conditions.territory or phase == SECOND_CLEANUP:
        margin = _write_area(positions, row, conditions, suicide_area or conditions.suicide, cells, work, planes)
    if phase != MAIN_PHASE:
        _write_cleanup(positions, row, color, cells, planes)
    hides_pass = _hides_pass(positions, row, conditions, margin)
    shown = wide(0) if hides_pass else shown_moves(positions, row)
    for i in range(shown):
        if positions.points[row, i] > PASS:
            planes[_MOVES + i, cells[positions.points[row, i]]] = 1.0
    _write_ladders(positions, row, shown, cells, work.ladders, planes)
    pass_ends = positions.pass_ends[row] != GOES_ON and not hides_pass
    write_globals(positions, row, conditions, shown, pass_ends, values)


@kernel
def encode_rows(
    positions: Positions,
    rows: IntArray,
    suicide_area: bool,
    symmetries: IntArray,
    table: IntArray,
    work: EncoderWork,
    spatial: FloatArray,
    globals_: FloatArray,
) -> None:
    """Fill `spatial` and `globals_` with what shows some rows, int32[K], in their order; every value is written.

    `suicide_area` treats suicide as legal in the planes 18 and 19 under all rules, as some networks expect.
    `symmetries` is int32[K], `table` int32[S, n] (`symmetry.cell_table`), `spatial` float32[K, PLANES, A], `globals_`
    float32[K, GLOBALS or more].  The boards of `positions` are played on and restored.
    """
    for k in range(rows.size):
        row = wide(rows[k])
        conditions, cells = conditions_of_row(positions, row), table[symmetries[k]]
        _encode_row(positions, row, conditions, suicide_area, cells, work, spatial[k], globals_[k])
