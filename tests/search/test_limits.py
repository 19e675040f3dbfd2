"""Cancel tokens, and where the position to search is found in the tree of the last search."""

import pytest

from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.game import Game
from gtp_engine.search.limits import AT_ANY_DEPTH, CancelToken, Restriction, RootPosition, find_position


def test_a_token_is_cancelled_for_good() -> None:
    token = CancelToken()
    assert not token.is_cancelled
    for _ in range(2):
        token.cancel()
        assert token.is_cancelled


def test_callbacks_are_called_once_while_their_context_lasts() -> None:
    token, calls = CancelToken(), []
    with token.calling(lambda: calls.append("over before")):
        pass
    with token.calling(lambda: calls.append("outer")), token.calling(lambda: calls.append("inner")):
        token.cancel()
        token.cancel()
        assert calls == ["outer", "inner"]


def test_a_callback_that_comes_after_the_cancellation_is_called_at_once() -> None:
    token, calls = CancelToken(), []
    token.cancel()
    with token.calling(lambda: calls.append("late")):
        assert calls == ["late"]
    assert calls == ["late"]


def test_a_callback_may_be_registered_twice() -> None:
    token, calls = CancelToken(), []

    def callback() -> None:
        calls.append(1)

    with token.calling(callback):
        with token.calling(callback):
            pass
        token.cancel()
    assert calls == [1]


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
