"""Time settings of every kind that limits time, for properties that hold under all of them."""

from hypothesis import strategies as st

from gtp_engine import TimeSettings


def limited(seconds: st.SearchStrategy[float], count: st.SearchStrategy[int]) -> st.SearchStrategy[TimeSettings]:
    return st.one_of(
        st.builds(TimeSettings.absolute, seconds),
        st.builds(TimeSettings.canadian, seconds, seconds, count),
        st.builds(TimeSettings.byoyomi, seconds, seconds, count),
        st.builds(TimeSettings.fischer, seconds, seconds),
        st.builds(
            lambda main, increment, more, per_move: TimeSettings.fischer_capped(main, increment, main + more, per_move),
            seconds, seconds, seconds, seconds | st.just(-1.0),
        ),
    )  # fmt: skip
