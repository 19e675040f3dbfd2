"""The plot of a match: a picture of either kind, and plain words where there can be none."""

import sys
from functools import partial
from pathlib import Path

import pytest
from match_helpers import won_by

from gtp_engine.arena.elo import elo_difference, format_elo, wilson_interval
from gtp_engine.arena.match.records import GameRecord
from gtp_engine.arena.match.settings import MatchError
from gtp_engine.arena.match.statistics import check_plot, draw_curve, write_plot

GAMES = won_by("first", "draw", "none", "second", "first", "first")


@pytest.mark.parametrize(
    ("name", "games", "start"),
    [
        ("a.svg", GAMES, b"<?xml"),
        ("b.PNG", won_by("second", "second"), b"\x89PNG"),
        ("new/c.svg", [], b"<?xml"),
        ("d.svg", won_by("none"), b"<?xml"),
    ],
)
def test_a_picture_is_written(tmp_path: Path, name: str, games: list[GameRecord], start: bytes) -> None:
    pytest.importorskip("matplotlib", reason="plots need the extra [plot]")
    write_plot(tmp_path / name, games, first="Tengen $1", second="GNU Go & Co")
    assert (tmp_path / name).read_bytes().startswith(start)


def test_the_curve_is_the_win_rate_with_its_interval(tmp_path: Path) -> None:
    figure = pytest.importorskip("matplotlib.figure", reason="plots need the extra [plot]")
    axes = figure.Figure().add_subplot()
    draw_curve(GAMES, axes)
    even, dots, curve = axes.get_lines()
    assert list(even.get_ydata()) == [50, 50]
    assert list(dots.get_ydata()) == [100, 50, 0, 100, 100]
    assert list(curve.get_xdata()) == [1, 2, 3, 4, 5], "the void game does not count"
    assert curve.get_ydata() == pytest.approx([100, 75, 50, 62.5, 70])
    (band,) = axes.collections
    low, high = wilson_interval(3.5, 5)
    assert band.get_paths()[0].contains_points([(5, 100 * low + 1), (5, 100 * high - 1)]).all()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "games won, drawn or lost",
        f"95% interval, at last Elo {format_elo(elo_difference(low))} to {format_elo(elo_difference(high))}",
        "winrate, at last 70.0%, Elo +147",
    ]


@pytest.mark.parametrize("count", [1, 2, 7, 200])
def test_only_whole_games_are_marked_on_the_axis(count: int) -> None:
    figure = pytest.importorskip("matplotlib.figure", reason="plots need the extra [plot]")
    axes = figure.Figure().add_subplot()
    draw_curve(won_by(*["first", "second"] * 100)[:count], axes)
    ticks = axes.get_xticks()
    assert all(tick == int(tick) for tick in ticks) and any(1 <= tick <= count for tick in ticks)


@pytest.mark.parametrize("name", ["plot.pdf", "plot"])
def test_other_formats_are_refused(name: str) -> None:
    with pytest.raises(MatchError, match=rf"plot '{name}': expected a file name ending in \.svg or \.png"):
        check_plot(Path(name))


def test_without_matplotlib_the_advice_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MatchError, match=r"plots need matplotlib; install it: .*(matplotlib>=3\.9|\[plot\])"):
        check_plot(Path("a.svg"))


def test_a_place_that_cannot_be_written_is_noticed_before_the_games(tmp_path: Path) -> None:
    """It was noticed after them, and their table was not printed."""
    pytest.importorskip("matplotlib", reason="plots need the extra [plot]")
    (tmp_path / "file").write_text("")
    for write in (check_plot, partial(write_plot, records=GAMES, first="a", second="b")):
        with pytest.raises(MatchError, match="cannot write the plot"):
            write(tmp_path / "file" / "a.svg")
    check_plot(tmp_path / "pictures" / "a.svg")
    assert list((tmp_path / "pictures").iterdir()) == []
