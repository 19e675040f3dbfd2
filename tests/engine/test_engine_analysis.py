"""`Engine.analyse`: any game's position, apart from the engine's own game, as a value with vertices."""

from dataclasses import replace

import pytest
from fake_evaluators import FakeEvaluator

from gtp_engine import BLACK, CancelToken, Color, Config, Engine, Game, Limit, Point
from gtp_engine.engine.engine import analysis_of


def engine_of(**values: object) -> Engine:
    options = {"game.board_size": 7, "search.seed": 1, "search.visits": 20, **values}
    return Engine(Config().with_values(options), evaluator=FakeEvaluator())  # type: ignore[arg-type]


def test_an_analysis_leaves_game_and_tree_as_they_are() -> None:
    with engine_of() as engine, engine_of() as other:
        expected = [other.genmove().point for _ in range(4)]
        game = Game(9)
        game.play("E5")
        copy, found = game.copy(), []
        for _ in range(4):
            analyses = [engine.analyse(game, Limit(visits=30)), engine.analyse(Game(5), Limit(visits=10))]
            found.append(engine.genmove().point)
            assert analyses[0] == engine.analyse(game, Limit(visits=30)), "a seed repeats it"
            assert [each.visits for each in analyses] == [30, 10]
        assert found == expected
        assert game == copy
        assert len(engine.game.moves) == 4


def test_results_are_those_of_a_stated_side() -> None:
    with engine_of() as engine:
        game = Game(7)
        game.play("D4")
        found = engine.analyse(game, Limit(visits=40))
        assert (found.side, found.to_play, found.turn, found.is_final) == (Color.WHITE, Color.WHITE, 1, True)
        assert found.best.pv[0] == found.best.vertex
        assert len(found.ownership) == 49
        assert all(-1 <= owner <= 1 for owner in found.ownership.values())
        engine.set_board_size(7)
        engine.play("D4", "b")
        token = CancelToken()
        report = engine.search(0.2, cancel=token)
        shown, black = analysis_of(report, engine.game), report.position_results.seen_by(BLACK)
        assert shown.seen_by("black").winrate == pytest.approx(black.winrate)
        assert shown.seen_by("black").lead == pytest.approx(black.lead)
        point = Point("D4", 7)
        assert shown.seen_by("black").ownership["D4"] == pytest.approx(report.ownership_black[point])
        moves = tuple(replace(move, surplus_visits=3) for move in report.moves)
        found = analysis_of(replace(report, moves=moves), engine.game)
        assert [move.visits for move in found.moves] == [move.visits + 3 for move in moves], "on other ways, too"


def test_limits_of_an_analysis() -> None:
    with engine_of() as engine:
        assert engine.analyse(Game(7)).visits == 20, "those of the configuration"
        assert engine.analyse(Game(7), Limit(playouts=7)).visits == 7
        assert engine.analyse(Game(7), Limit(time=0.05)).visits > 0
        token = CancelToken()
        token.cancel()
        assert engine.analyse(Game(7), Limit(visits=1000), token).visits < 1000


def test_what_an_engine_finds_prints_on_one_line() -> None:
    """`genmove()` printed 57,511 characters in a notebook."""
    with Engine(Config().with_values({"game.board_size": 5, "search.visits": 5}), evaluator=FakeEvaluator()) as engine:
        (evaluation,) = engine.evaluate([engine.game])
        found = engine.analyse(engine.game, Limit(visits=3))
        choice = engine.genmove()
    for shown in map(repr, (choice, choice.report, evaluation, found)):
        assert "\n" not in shown and 20 < len(shown) < 200
        assert repr(choice.point) == engine.game.vertex(choice.point), "a point of the board"
    assert str(choice.point) in repr(choice) and found.best.vertex in repr(found)
    assert found._repr_svg_().startswith("<svg")  # type: ignore[union-attr]
