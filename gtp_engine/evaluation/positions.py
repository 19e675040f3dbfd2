"""A batch of positions as an evaluator receives them: boards, the last moves, what ko forbids, the rules.

`Evaluation` is what it returns: arrays with a row for each position.  Everything there is Black's view, as in the
search tree, except the policy, which is that of the side to move.

Encoders turn rows into a network's input.  B is the number of rows, n the padded length of a board, S the length of
its storage.

Every row has its own conditions: rules, komi and what else holds for a whole game (`Conditions`).  So positions of
several games can be evaluated together.

A row holds as much of the past as networks read.  Moves are left out by ending the history early, with NULL_POINT and
colour 0 from there on: everything before the passes that ended a game which nevertheless continues, or all moves if the
position is to be evaluated without its past.  To have a network evaluate a pass as if the game continued, end the
history before the first move and set `pass_ends` to 0 (KataGo's "conservative pass" at the root of a search).

Kernels that fill rows, as those of the search do at its leaves, write the boards (`board_of`), the moves (`write_move`,
`end_history`) and `forbidden`, then call `finish_row`, which takes everything else; conditions stay as they are.  So a
new field of `Positions` means editing this file only; the callers of `finish_row` then fail to compile until they pass
it.  `from_game` fills rows without these kernels and is what tests compare them with.  The fields about the clean-up
phases are zero in all rows but those of a search, which writes them itself (`puct.cleanup`).
"""

from collections.abc import Sequence
from typing import Annotated, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.arrays import zeros
from gtp_engine.compiled.jit import inlined_kernel, kernel, spliced_kernel, wide
from gtp_engine.go.board import (
    CAPTURED,
    EMPTY_COUNT,
    HEIGHT,
    KO_COLOR,
    KO_POINT,
    TABLE,
    WIDTH,
    Board,
    IntArray,
    copy_board,
    hash_after,
    is_legal,
    storage_length,
    view_storage,
    view_storage_in_kernel,
)
from gtp_engine.go.constants import BLACK, NULL_POINT, WHITE, padded_length

BOARDS: Final = 3
"""Boards of a row: the position, and those one and two moves ago."""

HISTORY: Final = 8
"""Moves of a row, most recent first: as many as the AlphaGo planes "turns since" distinguish."""

SIMPLE_KO: Final = 0
POSITIONAL_SUPERKO: Final = 1
SITUATIONAL_SUPERKO: Final = 2
"""Values of `Conditions.superko`."""

NO_TAX: Final = 0
SEKI_TAX: Final = 1
GROUP_TAX: Final = 2
"""Values of `Conditions.tax`."""

GOES_ON: Final = 0
ENDS: Final = 1
IS_OVER: Final = 2
"""Values of `Positions.pass_ends`."""

MAIN_PHASE: Final = 0
FIRST_CLEANUP: Final = 1
SECOND_CLEANUP: Final = 2
"""Values of `Positions.phase`."""

_MIX_A: Final = np.uint64(0xBF58476D1CE4E5B9)
_MIX_B: Final = np.uint64(0x94D049BB133111EB)
"""Multipliers of splitmix64's finalizer (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators",
2014; variant 13 of Stafford)."""


Keys = NDArray[np.uint64]


class Positions(NamedTuple):
    """The arrays of B rows."""

    storage: Annotated[IntArray, "B", BOARDS, "S"]  # a game younger than that repeats its first board
    hash: Annotated[Keys, "B", BOARDS, 1]
    to_play: Annotated[IntArray, "B"]  # BLACK or WHITE
    points: Annotated[IntArray, "B", HISTORY]  # the last moves, latest first: a point, PASS, or NULL_POINT for none
    colors: Annotated[IntArray, "B", HISTORY]  # the colours that made them; 0 before the first
    forbidden: Annotated[NDArray[np.uint8], "B", "n"]  # 1 where ko or superko, nothing else, forbids `to_play` to play
    pass_ends: Annotated[IntArray, "B"]  # GOES_ON, or ENDS if a pass now ends the game, or IS_OVER if passes have
    button: Annotated[IntArray, "B"]  # the side that took the button since the conditions were written, or 0
    phase: Annotated[IntArray, "B"]  # MAIN_PHASE, or by territory a clean-up phase of a search (`puct.cleanup`)
    no_retake: Annotated[NDArray[np.uint8], "B", "n"]  # 1 at stones that took a ko in a clean-up, not to be retaken
    start: Annotated[NDArray[np.int8], "B", "n"]  # in the second clean-up phase, the stones at its start; else 0
    placed: Annotated[IntArray, "B"]  # in the second clean-up phase, stones Black placed before it less White's; else 0
    key: Annotated[Keys, "B"]  # equal where all of the above is equal (up to collisions); written by `set_key`
    situation: Annotated[Keys, "B"]  # the same without the past: earlier boards and the moves that led here
    conditions: Annotated[NDArray[np.float64], "B", 10]  # the fields of each row's `Conditions`, in their order
    conditions_key: Annotated[Keys, "B"]  # equal where these are; both by `from_game.write_conditions`


class Conditions(NamedTuple):
    """The conditions of one row: rules and komi, as scalars (`nn` encodes them, `search` obeys them).

    Each is a number that a double holds exactly.
    """

    komi: float  # points White gets beside the area: komi, handicap bonus, a button taken (− if Black has it)
    superko: int  # SIMPLE_KO, POSITIONAL_SUPERKO or SITUATIONAL_SUPERKO
    suicide: bool  # whether a move may take the last liberty of its own chain of several stones
    territory: bool  # territory scoring, else area
    tax: int  # NO_TAX, SEKI_TAX (no points in seki) or GROUP_TAX (also two points less for each living group)
    has_free_button: bool  # the button has not been taken yet
    playout_doubling_advantage_black: float = 0.0  # −3 to 3, see `PuctConfig`; networks read the mover's
    friendly_pass: bool = False  # area rules under which players may pass before all dead stones are taken
    passing_hacks: bool = False  # hide from networks that a pass ends the game where that would lose or draw it
    human_profile: int = 0  # the players that a human-like network imitates: `HumanProfile.code`


def new_positions(batch: int, width: int, height: int) -> Positions:
    """Return `batch` rows of zeros for boards of this size: area scoring, komi 0, simple ko, no suicide."""
    n, length = padded_length(width, height), storage_length(width, height)
    return zeros(Positions, B=batch, S=length, n=n)


def board_size(positions: Positions) -> tuple[int, int]:
    """Return width and height of the boards in `positions`, whose first row must be filled."""
    info = positions.storage[0, 0]
    return int(info[WIDTH]), int(info[HEIGHT])


def take_rows(positions: Positions, rows: Sequence[int] | NDArray[np.int64]) -> Positions:
    """Return a copy of some rows, in this order."""
    return Positions._make(array[rows] for array in positions)


def put_row(target: Positions, place: int, source: Positions, row: int) -> None:
    """Make row `place` of `target` equal to a row of `source` (`copy_row` is the same for kernels)."""
    for name in Positions._fields:
        getattr(target, name)[place] = getattr(source, name)[row]


def view_board(positions: Positions, row: int, ago: int = 0) -> Board:
    """Return the board of a row, `ago` (0, 1 or 2) moves ago, as views, for Python code."""
    return view_storage(positions.storage[row, ago], positions.hash[row, ago], positions.forbidden.shape[1])


@inlined_kernel
def board_of(positions: Positions, row: int, ago: int) -> Board:
    """Return the board of a row, `ago` (0, 1 or 2) moves ago, as views; kernels may play on it if they undo it."""
    return view_storage_in_kernel(positions.storage[row, ago], positions.hash[row, ago], positions.forbidden.shape[1])


@inlined_kernel
def conditions_of_row(positions: Positions, row: int) -> Conditions:
    """Return the conditions of a row."""
    values = positions.conditions[row]
    return Conditions(
        values[0],
        wide(values[1]),
        values[2] != 0.0,
        values[3] != 0.0,
        wide(values[4]),
        values[5] != 0.0,
        values[6],
        values[7] != 0.0,
        values[8] != 0.0,
        wide(values[9]),
    )


@inlined_kernel
def mix(key: np.uint64, value: Any) -> Any:
    """Return a hash of both."""
    key = key ^ np.uint64(value)
    key = (key ^ (key >> np.uint64(30))) * _MIX_A
    key = (key ^ (key >> np.uint64(27))) * _MIX_B
    return key ^ (key >> np.uint64(31))


@inlined_kernel
def _mix_board(key: np.uint64, positions: Positions, row: int, ago: int) -> Any:
    """Return a hash of a key and of a row's board, with its ko, `ago` moves ago."""
    board = board_of(positions, row, ago)
    return mix(mix(key, board.hash[0]), board.info[KO_POINT])


@spliced_kernel
def _mix_phase(key: np.uint64, positions: Positions, row: int) -> Any:
    """Return a hash of a key and of what a row says of the clean-up phase."""
    key = mix(mix(key, positions.phase[row]), positions.placed[row])
    for point in range(positions.start.shape[1]):
        mark = wide(positions.no_retake[row, point]) * 4 + wide(positions.start[row, point])
        if mark != 0:
            key = mix(mix(key, point), mark)
    return key


@kernel
def set_key(positions: Positions, row: int) -> None:
    """Write `key` of a row, a hash of everything else in it and of its prisoners (points under territory rules).

    And `situation`, the same without the past.  Neither depends on the row's conditions.
    """
    key = np.uint64(positions.to_play[row]) | (np.uint64(positions.pass_ends[row]) << np.uint64(8))
    key |= np.uint64(positions.button[row]) << np.uint64(16)
    captured = board_of(positions, row, wide(0)).info
    key = mix(key, captured[CAPTURED + BLACK] - captured[CAPTURED + WHITE])
    if positions.phase[row] != MAIN_PHASE:
        key = _mix_phase(key, positions, row)
    key = situation = _mix_board(key, positions, row, wide(0))
    for ago in range(1, BOARDS):
        key = _mix_board(key, positions, row, wide(ago))
    for i in range(HISTORY):
        key = mix(key, positions.points[row, i] * 4 + positions.colors[row, i])
    for point in range(positions.forbidden.shape[1]):
        if positions.forbidden[row, point] != 0:
            key = mix(key, point)
            situation = mix(situation, point)
    positions.key[row] = key
    positions.situation[row] = situation


@kernel
def copy_row(target: Positions, place: int, source: Positions, row: int) -> None:
    """Make row `place` of `target` equal to a row of `source`."""
    for ago in range(BOARDS):
        copy_board(board_of(target, place, wide(ago)), board_of(source, row, wide(ago)))
    for ago in range(HISTORY):
        target.points[place, ago] = source.points[row, ago]
        target.colors[place, ago] = source.colors[row, ago]
    for point in range(source.forbidden.shape[1]):
        target.forbidden[place, point] = source.forbidden[row, point]
        target.no_retake[place, point] = source.no_retake[row, point]
        target.start[place, point] = source.start[row, point]
    target.to_play[place] = source.to_play[row]
    target.pass_ends[place] = source.pass_ends[row]
    target.button[place] = source.button[row]
    target.phase[place] = source.phase[row]
    target.placed[place] = source.placed[row]
    target.key[place] = source.key[row]
    target.situation[place] = source.situation[row]
    for field in range(source.conditions.shape[1]):
        target.conditions[place, field] = source.conditions[row, field]
    target.conditions_key[place] = source.conditions_key[row]


@inlined_kernel
def write_move(positions: Positions, row: int, ago: int, point: int, color: int) -> None:
    """Write the move that was made `ago` moves before the last one (0: the last)."""
    positions.points[row, ago] = point
    positions.colors[row, ago] = color


@inlined_kernel
def end_history(positions: Positions, row: int, length: int) -> None:
    """Leave out all moves of a row but the last `length`."""
    for ago in range(length, HISTORY):
        positions.points[row, ago] = NULL_POINT
        positions.colors[row, ago] = 0


@inlined_kernel
def forbid_ko(positions: Positions, row: int, color: int) -> None:
    """Write a row's `forbidden` for `color`: the point that simple ko forbids on its newest board, if any."""
    board = board_of(positions, row, wide(0))
    for point in range(positions.forbidden.shape[1]):
        positions.forbidden[row, point] = 0
    ko = wide(board.info[KO_POINT])
    if ko != NULL_POINT and board.info[KO_COLOR] == color:
        positions.forbidden[row, ko] = 1


@spliced_kernel
def write_forbidden(
    positions: Positions, row: int, color: int, suicide: bool, situational: bool, superko_keys: Keys
) -> None:
    """Write a row's `forbidden` for `color`: simple ko, and the positions with these keys, which may not recur."""
    forbid_ko(positions, row, color)
    board, opponent = board_of(positions, row, wide(0)), BLACK + WHITE - color
    if superko_keys.size == 0:
        return
    for i in range(wide(board.info[EMPTY_COUNT])):
        point = wide(board.empties[i])
        if is_legal(board, point, color, suicide):
            key = hash_after(board, point, color)
            if situational:
                key = key ^ TABLE[0, opponent]
            for k in range(superko_keys.size):
                if superko_keys[k] == key:
                    positions.forbidden[row, point] = 1


@kernel
def shift_row(positions: Positions, row: int, point: int, color: int) -> None:
    """Make a row's boards and moves one move older and write a new last move; the newest board stays as it was."""
    for ago in range(BOARDS - 1, 0, -1):
        copy_board(board_of(positions, row, wide(ago)), board_of(positions, row, wide(ago) - 1))
    for ago in range(HISTORY - 1, 0, -1):
        positions.points[row, ago] = positions.points[row, ago - 1]
        positions.colors[row, ago] = positions.colors[row, ago - 1]
    write_move(positions, row, wide(0), point, color)


@inlined_kernel
def finish_row(positions: Positions, row: int, to_play: int, pass_ends: int, button: int) -> None:
    """Write the rest of a row whose boards, moves and `forbidden` are written: these values, and the key of it all."""
    positions.to_play[row] = to_play
    positions.pass_ends[row] = pass_ends
    positions.button[row] = button
    set_key(positions, row)


@kernel
def advance_row(
    positions: Positions, row: int, board: Board, point: int, color: int, pass_ends: int, superko_keys: Keys
) -> None:
    """Turn a row into that of one move later, under its conditions: `color` has played `point`, which led to `board`.

    `pass_ends` is as in `Positions`; `superko_keys` are the keys of the positions that may not recur
    (`Game.superko_keys`), none without superko.
    """
    conditions = conditions_of_row(positions, row)
    is_situational = conditions.superko == SITUATIONAL_SUPERKO
    shift_row(positions, row, point, color)
    copy_board(board_of(positions, row, wide(0)), board)
    to_play = BLACK + WHITE - color
    write_forbidden(positions, row, to_play, conditions.suicide, is_situational, superko_keys)
    finish_row(positions, row, to_play, pass_ends, wide(0))


FloatArray = NDArray[np.float32]


class Evaluation(NamedTuple):
    """The evaluation of B positions; n is the padded length of a board."""

    policy: Annotated[FloatArray, "B", "n"]  # probability of each move by its point, of a pass at PASS; 0 where illegal
    win_black: Annotated[FloatArray, "B"]  # probability that Black wins
    loss_black: Annotated[FloatArray, "B"]  # probability that White wins; the rest is "no result"
    score_black: Annotated[FloatArray, "B"]  # points Black ends up ahead, komi counted, the mean over possible results
    score_stdev: Annotated[FloatArray, "B"]  # standard deviation of that, points
    lead_black: Annotated[FloatArray, "B"]  # points Black is ahead: the extra komi that would make the game even
    ownership_black: Annotated[FloatArray, "B", "n"]  # in [−1, 1]; 0 off the board
    time_left: Annotated[FloatArray, "B"]  # variance of the number of moves left (KataGo's varTimeLeft); −1 if unknown
    winloss_error: Annotated[FloatArray, "B"]  # expected error of win − loss over the next moves; −1 if unknown
    score_error: Annotated[FloatArray, "B"]  # expected error of the score, points; −1 if unknown


def new_evaluation(batch: int, width: int, height: int) -> Evaluation:
    """Return `batch` rows of zeros for boards of this size."""
    return zeros(Evaluation, B=batch, n=padded_length(width, height))


def put_rows(out: Evaluation, rows: Sequence[int] | NDArray[np.int64], source: Evaluation) -> None:
    """Copy row i of `source` to row rows[i] of `out`, for all i."""
    for array, values in zip(out, source, strict=True):
        array[rows] = values


@inlined_kernel
def value_black(evaluation: Evaluation, row: int) -> float:
    """Return win − loss, in [−1, 1]."""
    return np.float64(evaluation.win_black[row]) - np.float64(evaluation.loss_black[row])


@inlined_kernel
def no_result(evaluation: Evaluation, row: int) -> float:
    """Return the probability that the game has no result."""
    return max(0.0, 1.0 - np.float64(evaluation.win_black[row]) - np.float64(evaluation.loss_black[row]))
