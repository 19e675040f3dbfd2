"""The calls of kernels that Python makes to play and score a game, with arguments of the right types."""

from typing import Final

import numpy as np

from gtp_engine._jit import KernelCall
from gtp_engine.go.area import owners_into
from gtp_engine.go.benson import new_life_work, pass_alive_map
from gtp_engine.go.board import add_stone, clear_ko, hash_after, is_legal, merge, new_board, play_assume_legal
from gtp_engine.go.ladder import is_captured_defender_first, new_ladder_work
from gtp_engine.go.tactics import count_captures, is_real_eye, would_be_self_atari

_SIZE: Final = 2
"""Side of the board; the types of its arrays are those of every board."""


def game_calls() -> list[KernelCall]:
    """Return one call for each kernel; they are meant for their types, not to be executed."""
    board = new_board(_SIZE, _SIZE)
    points = np.zeros_like(board.color)
    return [
        KernelCall(is_legal, (board, 0, 0, False)),
        KernelCall(play_assume_legal, (board, 0, 0)),
        KernelCall(hash_after, (board, 0, 0)),
        KernelCall(clear_ko, (board,)),
        KernelCall(add_stone, (board, 0, 0)),
        KernelCall(merge, (board, 0, 0)),
        KernelCall(count_captures, (board, 0, 0)),
        KernelCall(would_be_self_atari, (board, 0, 0)),
        KernelCall(is_real_eye, (board, 0, 0)),
        KernelCall(is_captured_defender_first, (board, 0, new_ladder_work(_SIZE, _SIZE))),
        KernelCall(pass_alive_map, (board, False, new_life_work(_SIZE, _SIZE), points)),
        KernelCall(owners_into, (board.color, 0, points, points)),
    ]
