"""Cancel tokens: cancelled once and for good, and a waiting thread is woken."""

from gtp_engine.search.cancellation import CancelToken


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
