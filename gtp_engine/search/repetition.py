"""Repetition inside a search: keys of positions, whether a move would repeat one, and long cycles.  Kernels.

The positions that may not recur at a node of a search are those of the game's history and those on the path from the
root, the only one in a tree and the first one where lines share nodes (`puct/transpositions`).  The pass that takes the
button ends the history, as in `go.game`.

Under simple ko positions may recur.  Where one occurs for the third time without a pass in between, such as in a triple
ko, the game has no result, as in KataGo (`makeBoardMoveAssumeLegal` in its game/boardhistory.cpp).
"""

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.jit import kernel, spliced_kernel, wide
from gtp_engine.evaluation.positions import POSITIONAL_SUPERKO
from gtp_engine.go.board import TABLE, Board, hash_after
from gtp_engine.go.constants import BLACK, OCCURRENCES_WITHOUT_RESULT, WHITE

Keys = NDArray[np.uint64]


@kernel
def position_key(position_hash: np.uint64, to_play: int, superko: int) -> np.uint64:
    """Return the key of a position, as `Game.superko_keys` has them; `superko` is as in `Conditions`.

    Under simple ko, the key includes the side to play.
    """
    return position_hash if superko == POSITIONAL_SUPERKO else position_hash ^ TABLE[0, to_play]


@spliced_kernel
def is_known(keys: Keys, key: np.uint64) -> bool:
    """Return whether `key` is in the sorted array `keys`."""
    low, high = 0, keys.size
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low < keys.size and keys[low] == key


@kernel
def would_repeat(
    board: Board, move: int, color: int, superko: int, history: Keys, path_keys: Keys, first: int, depth: int
) -> bool:
    """Return whether an otherwise legal move recreates a position of the game or of the path.

    `history` (uint64, sorted) holds the keys of the game, path_keys[first … depth] those of the path that count; unless
    `first` is 0, those of the game do not count either.
    """
    key = position_key(hash_after(board, move, color), BLACK + WHITE - color, superko)
    if first == 0 and is_known(history, key):
        return True
    for i in range(first, depth + 1):
        if path_keys[i] == key:
            return True
    return False


@kernel
def has_no_result(history: Keys, path_keys: Keys, first: int, depth: int) -> bool:
    """Return whether the position at the end of a path occurs there for the third time, under simple ko.

    `history` (sorted) holds the keys of the game since its last pass, the root's among them.  path_keys[first … depth]
    are those of the path since its last pass; unless `first` is 0, those of the game do not count.
    """
    key = path_keys[depth]
    count = 0
    for i in range(max(first, 1), depth + 1):
        count += wide(path_keys[i] == key)
    if first == 0 and is_known(history, key):
        for known in history:
            count += wide(known == key)
    return count >= OCCURRENCES_WITHOUT_RESULT
