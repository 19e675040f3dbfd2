"""The work arrays of a proof, what it is to prove, and the steps on its board and table."""

from typing import Annotated, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.arrays import zeros
from gtp_engine.compiled.jit import inlined_kernel, kernel, wide
from gtp_engine.go.benson import LifeWork
from gtp_engine.go.board import KO_COLOR, KO_POINT, TABLE, Board, IntArray, clear_ko
from gtp_engine.go.constants import PASS, padded_length
from gtp_engine.go.undo import RECORD_SIZE, play_recorded, undo

DEPTH: Final = 120
"""Moves and passes of the longest line; one that is longer proves nothing."""

MOVES: Final = 72
"""Moves of a position at most: the winner has the nearest ones, and a position in which the loser has more is given
up."""

TARGETS: Final = 8
"""Chains that one proof is about, at most."""

LIBERTIES: Final = 20
"""Liberties of a chain that are counted."""

NODES_OPENED: Final = 0
FOUND: Final = 1
STAMP: Final = 2
SAFE: Final = 2
"""Entries of `counters`; those from `SAFE` + `BLACK` on are the numbers of each colour's stones in `ProofWork.safe`."""

_KO_KEY: Final = np.uint64(0x9E3779B97F4A7C15)
"""Odd factor that makes a key of a ko point (2**64 divided by the golden ratio)."""

Zones = NDArray[np.uint8]


class ProofWork(NamedTuple):
    """Work arrays; n is the padded length of the board, T the size of the table."""

    records: Annotated[IntArray, DEPTH, RECORD_SIZE]
    stack: Annotated[NDArray[np.int64], DEPTH, 8]
    keys: Annotated[NDArray[np.uint64], DEPTH]  # of the positions on the path
    moves: Annotated[IntArray, DEPTH, MOVES]
    numbers: Annotated[IntArray, DEPTH, MOVES, 2]  # proof and disproof numbers of the moves
    zones: Annotated[Zones, DEPTH, "n"]  # what is known of the zones on the path
    examined: Annotated[Zones, DEPTH, "n"]  # points where the loser's move is on the list, proved or illegal
    table_keys: Annotated[NDArray[np.uint64], "T"]  # 0 for a free entry
    table: Annotated[IntArray, "T", 5]
    table_zones: Annotated[Zones, "T", "n"]  # zones of proved positions
    liberties: Annotated[IntArray, LIBERTIES]
    queue: Annotated[IntArray, "n"]
    distance: Annotated[IntArray, "n"]
    seen: Annotated[IntArray, "n"]  # by head: the last stamp
    counters: Annotated[NDArray[np.int64], 5]
    near: Annotated[IntArray, MOVES]
    safe: Annotated[IntArray, "n"]  # the colour of a stone that is pass-alive at the start, else EMPTY
    within: Annotated[IntArray, "n"]  # 1 for points that `core_into` went through, 2 for the core
    life: LifeWork
    targets: Annotated[IntArray, TARGETS]
    result: Annotated[NDArray[np.int64], 4]


def new_proof_work(width: int, height: int, nodes: int) -> ProofWork:
    """Return work arrays for boards of this size and searches of up to `nodes` positions."""
    size = 1 << (2 * nodes + 2 * DEPTH).bit_length()
    return zeros(ProofWork, n=padded_length(width, height), T=size)


class Aim(NamedTuple):
    """What a search is to prove, as int64 for kernels."""

    targets: int
    """The number of the chains, of each of which `work.targets` has a stone."""
    winner: int
    """The side whose aim it is."""
    captures: int
    """1 if that is to capture one of the chains, 0 if it is to save all of them."""
    obeys: int
    """The colour that may not retake a ko at once; the other one may."""
    suicide: int
    """1 if the loser may play suicide."""
    reserve: int
    """Liberties from which a chain of an attacking winner counts as safe during the proof (`proofs._RESERVE`)."""


@inlined_kernel
def slot_of(work: ProofWork, key: np.uint64) -> int:
    """Return the entry of a position in the table, or the free one where it belongs."""
    mask = np.uint64(work.table_keys.size - 1)
    slot = wide(key & mask)
    while work.table_keys[slot] != 0 and work.table_keys[slot] != key:
        slot = (slot + 1) & (work.table_keys.size - 1)
    return slot


@inlined_kernel
def position_key(board: Board, to_play: int) -> np.uint64:
    """Return the key of a position with this side to move, which depends on a ban by ko; never 0 in practice."""
    key = board.hash[0] ^ TABLE[0, to_play]
    return np.uint64(key ^ np.uint64(wide(board.info[KO_POINT])) * _KO_KEY)


@kernel
def play_move(board: Board, work: ProofWork, depth: int, point: int, color: int, aim: Aim) -> None:
    """Play a move or PASS, to be undone by `take_back`; a ban by ko stays only for the side that obeys it."""
    record = work.records[depth]
    if point == PASS:
        record[0] = PASS
        record[2] = board.info[KO_POINT]
        record[3] = board.info[KO_COLOR]
        clear_ko(board)
        return
    play_recorded(board, point, color, record)
    if board.info[KO_COLOR] != aim.obeys:
        clear_ko(board)


@kernel
def take_back(board: Board, work: ProofWork, depth: int) -> None:
    """Take back what `play_move` played at this depth."""
    record = work.records[depth]
    if record[0] == PASS:
        board.info[KO_POINT] = record[2]
        board.info[KO_COLOR] = record[3]
    else:
        undo(board, record)
