"""Records of problems: the problems of a file, and one of them as plain values."""

import re
from itertools import takewhile
from typing import Any, Final

from gtp_engine.go.constants import WHITE
from gtp_engine.go.coords import format_color
from gtp_engine.sgf.collection import games_in
from gtp_engine.sgf.game_tree import GameNode, GameTree

_LONGEST: Final = 60
"""Moves of a problem's main line at most: a longer one is a game that goes on from a position."""

_HAS_STONES: Final = re.compile(rb"A[BW]\s*\[")

_SAID_RIGHT: Final = re.compile(
    r"\b(RIGHT|CORRECT)\b|^\s*(?i:right|correct|success|solved)\b\s*(?=[.!,:;]|$)|正解|正确|正確|정답"
)
_SAID_WRONG: Final = re.compile(
    r"\b(WRONG|INCORRECT)\b|^\s*(?i:wrong|incorrect|fail(?:ure|s|ed)?)\b|不正解|失敗|失败|错误|錯誤|실패|오답"
)
"""How comments of problem collections say that a line is right or wrong; SGF has TE and BM for it."""

_WHITE_FIRST: Final = re.compile(r"(?i:\bwhite to\b)|白先|白番|백선|백차례")


def problems_in(data: bytes) -> list[bytes]:
    """Return the problems of a file, one record each; none if its first game with stones set up is no problem.

    A problem begins with stones of both colours, and goes on for a few moves at most.  Raises SgfError.
    """
    found = [game for game in games_in(data) if _HAS_STONES.search(game)]
    if not found:
        return []
    record = GameTree(found[0]).record
    colors = {stone.color for stone in record.setup_stones}
    return found if len(colors) == 2 and len(record.moves) <= _LONGEST else []


def problem_values(data: bytes) -> dict[str, Any]:
    """Return a problem as plain values; raises SgfError, and IllegalMoveError for stones without liberties.

    These are width and height, `setup`, [colour, vertex] each, `first`, the colour that is to succeed, `comment`, and
    the `nodes` of its moves, each with `id` and `parent` (None for the position itself), `move`, and as far as it has
    one its `comment` and whether it `is_right`.
    """
    tree = GameTree(data)
    start = list(takewhile(lambda node: not node.moves, tree.main_line()))[-1]
    game = start.game()
    record, comment = tree.record, "\n".join(filter(None, (node.comment for node in start.path())))
    first = int(game.to_play)
    if not record.moves and not any(node.get("PL") for node in start.path()) and _WHITE_FIRST.search(comment):
        first = WHITE
    nodes: list[dict[str, Any]] = []
    parents: dict[int, int | None] = {}
    for node in start.walk():
        above = parents.get(node.parent.id) if node.parent is not None else None
        move = None if node is start else node.move
        parents[node.id] = above if move is None else node.id
        if move is not None:
            values = {"comment": node.comment, "is_right": _is_right(node)}
            nodes.append(
                {"id": node.id, "parent": above, "move": (format_color(move.color), tree.vertex(move.point))}
                | {name: value for name, value in values.items() if value not in ("", None)}
            )
    setup = [(str(color), game.vertex(point)) for point, color in game.stones.items()]
    size = {"width": game.width, "height": game.height}
    return {**size, "setup": setup, "first": format_color(first), "comment": comment, "nodes": nodes}


def _is_right(node: GameNode) -> bool | None:
    """Return what a node of a problem says of its move, None for nothing."""
    names, comment = node.names, node.comment
    if "BM" in names or _SAID_WRONG.search(comment):
        return False
    return True if "TE" in names or _SAID_RIGHT.search(comment) else None
