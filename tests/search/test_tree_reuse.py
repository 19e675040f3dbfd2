"""Where the position to search is found in the tree of the last search, and how much memory a tree may take."""

import pytest

from gtp_engine.config import SearchConfig
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.game import Game
from gtp_engine.search import tree_reuse
from gtp_engine.search.limits import AT_ANY_DEPTH, Restriction
from gtp_engine.search.tree_reuse import (
    LEAST_MEMORY,
    MOST_MEMORY,
    UNKNOWN_MEMORY,
    RootPosition,
    find_position,
    tree_memory,
)


class OneLine:
    """A tree of which every node has one child."""

    def child_by_move(self, node: int, move: int) -> int:
        return node + 1


@pytest.mark.parametrize(
    ("restrictions", "here", "later"),
    [
        ((), 0, 2),
        ((Restriction(BLACK, frozenset({20}), AT_ANY_DEPTH),), 0, 2),
        ((Restriction(BLACK, frozenset({20}), 1),), 0, None),
        ((Restriction(BLACK, frozenset({20}), AT_ANY_DEPTH), Restriction(WHITE, frozenset({21}), 3)), 0, None),
    ],
)
def test_restrictions_that_end_at_a_depth_hold_for_one_root(
    restrictions: tuple[Restriction, ...], here: int, later: int | None
) -> None:
    """Below the old root a move was free at a depth at which it is left out below the new one."""
    game = Game(5)
    root = RootPosition(game.copy(), BLACK, restrictions)
    assert find_position(OneLine(), root, RootPosition(game.copy(), BLACK, restrictions)) == here
    game.play("C3")
    game.play("D4")
    assert find_position(OneLine(), root, RootPosition(game, BLACK, restrictions)) == later


@pytest.mark.parametrize(
    ("configured", "free", "expected"),
    [
        (64, 8000, 64),
        (None, 8000, 1000),
        (None, 100, LEAST_MEMORY),
        (None, None, UNKNOWN_MEMORY),
        (None, 10**6, MOST_MEMORY),
    ],
)
def test_a_tree_takes_what_is_configured_else_a_share_of_what_is_free(
    configured: int | None, free: int | None, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_reuse, "free_memory_mib", lambda: free)
    assert tree_memory(SearchConfig(max_memory=configured)) == expected
