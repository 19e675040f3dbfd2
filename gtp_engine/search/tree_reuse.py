"""Trees kept from search to search: where in one the position to search now is found.

If the game continued since the last search, its moves lead down the tree to the new root.
"""

from dataclasses import dataclass
from typing import Final, Protocol

from gtp_engine.go.constants import EMPTY, opponent
from gtp_engine.go.game import Game
from gtp_engine.search.limits import AT_ANY_DEPTH, Restriction

_ROOT: Final = 0
"""The root's number in every tree."""


@dataclass(frozen=True)
class RootPosition:
    """What the values in a tree hold for: a position with `color` to play, and what the whole tree was searched with.

    The tree owns `game`, which must not change.
    """

    game: Game
    color: int
    restrictions: tuple[Restriction, ...] = ()
    advantage_black: float = 0.0
    """The playout doubling advantage; only networks know one."""
    mirroring: int = EMPTY
    """The colour that mirrors the other's moves, if the search plays against that."""
    explored_for: int = EMPTY
    """The colour for which the search explores otherwise than for the other one, if it does."""
    ignores_history: bool = False
    """Whether the network is not told the moves that led to the root."""
    retaken: int = EMPTY
    """As in `Limits`."""

    @property
    def conditions(self) -> tuple[object, ...]:
        """What has to be the same for another search to use the tree."""
        searched = self.restrictions, self.retaken, self.mirroring, self.explored_for
        return *searched, self.advantage_black, self.ignores_history


class Children(Protocol):
    """A tree that can be walked down by moves."""

    def child_by_move(self, node: int, move: int) -> int | None:
        """Return the node that `move` (a point or PASS) leads to, None if the tree has none."""
        ...


def find_position(tree: Children, root: RootPosition | None, wanted: RootPosition) -> int | None:
    """Return the node of `wanted` in a tree whose root is `root`; None if it is not in the tree.

    A tree searched under other conditions is not reused: its values would be different.  After a move, restrictions
    that end at some depth are such conditions, because depths count from the root.
    """
    if root is None or root.conditions != wanted.conditions:
        return None
    moves = moves_since(root.game, root.color, wanted.game, wanted.color)
    if moves is None or (moves and any(each.depth != AT_ANY_DEPTH for each in wanted.restrictions)):
        return None
    node: int | None = _ROOT
    for move in moves:
        node = None if node is None else tree.child_by_move(node, move)
    return node


def moves_since(root: Game, root_color: int, game: Game, color: int) -> list[int] | None:
    """Return the points (or PASS) played since `root` with `root_color` to play; None if `game` does not continue it.

    It does not if anything but the moves differs, if a side moved twice in a row, or if `color` would not be to play.
    """
    if not is_continued(root, game):
        return None
    to_play = root_color
    points = []
    for move in game.moves[len(root.moves) :]:
        if move.color != to_play:
            return None
        points.append(move.point)
        to_play = opponent(to_play)
    return points if to_play == color else None


def is_continued(root: Game, game: Game) -> bool:
    """Return whether `game` is the game of `root`, played on under the same conditions."""
    return (
        (root.width, root.height, root.rules, root.setup_stones)
        == (game.width, game.height, game.rules, game.setup_stones)
        and (root.komi, root.handicap) == (game.komi, game.handicap)
        and game.moves[: len(root.moves)] == root.moves
    )
