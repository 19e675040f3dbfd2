"""The playout doubling advantage in handicap games; the numbers are KataGo's rule, worked out by hand."""

import pytest
from board_helpers import play_moves
from fake_evaluators import FakeEvaluator, RecordingEvaluator, fake_shipped

from gtp_engine import CancelToken, Config, Engine, Game, Rules
from gtp_engine.engine.level_table import STRONG_MODEL
from gtp_engine.engine.searches import DynamicAdvantage, largest_advantage
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.handicap import fixed_handicap_points
from gtp_engine.search.report import SearchReport

NEW_ZEALAND = Rules.parse("new-zealand")
"""Rules without compensation for handicap stones."""


def handicap_game(stones: int, komi: float, *, size: int = 19) -> Game:
    game = Game(size, rules=NEW_ZEALAND, komi=komi)
    if stones:
        game.set_handicap(fixed_handicap_points(stones, size, size))
    return game


def report_of(value_black: float) -> SearchReport:
    return SearchReport(WHITE, 1, 1, 1.0, (), 0, Game(2).board.color.astype(float), value_black=value_black)


@pytest.mark.parametrize(
    ("points", "size", "expected"),
    [
        (3.9, 19, 0.0),
        (5.3, 19, 0.0),  # 0.045 · 1.3 = 0.0585, less than half a step
        (5.4, 19, 0.125),  # 0.063
        (51.5, 19, 2.125),  # four stones, komi 0.5: 0.045 · 47.5 = 2.1375
        (126.5, 19, 2.75),
        (2.2, 13, 0.0),  # (361 / 169)^¾ = 1.767; threshold 4 / 1.767 = 2.264
        (21.5, 13, 1.5),  # 0.045 · 19.236 · 1.767 = 1.5295
        (6.5, 9, 0.625),  # (361 / 81)^¾ = 3.0670, threshold 2: 0.045 · 4.5 · 3.067 = 0.6211
        (50.0, (7, 25), 0.0),
        (50.0, (25, 7), 0.0),
        (21.5, (19, 9), 1.5),  # (361 / 171)^¾ = 1.751, threshold 2.284: 0.045 · 19.216 · 1.751 = 1.5143
    ],
)
def test_the_cap_grows_with_the_points_behind(points: float, size: int | tuple[int, int], expected: float) -> None:
    width, height = (size, size) if isinstance(size, int) else size
    assert largest_advantage(points, width, height, per_point=0.045) == expected


def test_the_advantage_is_that_of_the_side_that_started_behind() -> None:
    assert DynamicAdvantage(0.045).black(handicap_game(4, 0.5)) == -2.125
    assert DynamicAdvantage(0.045).black(handicap_game(0, 58.5)) == 2.125
    assert DynamicAdvantage(0.0).black(handicap_game(4, 0.5)) == 0.0
    for komi in (5.5, 6.5, 7.0, 7.5):
        assert DynamicAdvantage(0.045).black(handicap_game(0, komi)) == 0.0


def test_the_advantage_follows_the_winrate_of_that_side() -> None:
    game, advantage = handicap_game(4, 0.5), DynamicAdvantage(0.045)
    values = [(0.99, -2.125), (0.91, -2.125), (0.7, -2.125), (0.49, -2.0), (-0.3, -1.875), (0.6, -1.875), (0.95, -2.0)]
    for value_black, expected in values:
        advantage.record(game, report_of(value_black))
        if not game.moves:
            game.play("C6", WHITE)
        assert advantage.black(game) == expected
    for _ in range(20):
        advantage.record(game, report_of(-0.9))
    assert advantage.black(game) == 0.0


def test_it_begins_anew_in_another_game_or_when_moves_are_taken_back() -> None:
    game, advantage, other = handicap_game(4, 0.5), DynamicAdvantage(0.045), DynamicAdvantage(0.045)
    other.record(game, report_of(-1.0))
    assert other.black(game) == -2.125, "White has no stone yet"
    play_moves(game, "C6 F3")
    advantage.record(game, report_of(-0.3))
    same = handicap_game(4, 0.5)  # as set up by a controller that sends all moves before each genmove
    play_moves(same, "C6 F3 R10 C10")
    assert advantage.black(same) == -2.0
    same.undo(3)
    assert advantage.black(same) == -2.125
    same.play("F4")
    assert advantage.black(same) == -2.125
    assert advantage.black(handicap_game(4, 0.5)) == -2.125


# --- in the engine


def engine_with(evaluator: FakeEvaluator, **values: float) -> Engine:
    options = {key.replace("__", "."): value for key, value in values.items()}
    engine = Engine(Config().with_values({"search.visits": 2, "search.seed": 1} | options), evaluator=evaluator)
    engine.set_rules(NEW_ZEALAND)
    engine.set_komi(0.5)
    engine.fixed_handicap(4)
    return engine


def advantages_of(engine: Engine, evaluator: RecordingEvaluator, color: int) -> set[float]:
    evaluator.conditions.clear()
    engine.clear_cache()
    engine.genmove(color, play=False)
    return evaluator.advantages


def test_both_colours_play_a_handicap_game_with_it_and_neither_analysis_nor_scoring_use_it() -> None:
    evaluator = RecordingEvaluator()
    with engine_with(evaluator) as engine:
        assert advantages_of(engine, evaluator, WHITE) == advantages_of(engine, evaluator, BLACK) == {-2.125}
        evaluator.conditions.clear()
        engine.clear_cache()
        cancel = CancelToken()
        cancel.cancel()
        engine.search(cancel=cancel)
        engine.raw_evaluation()
        engine.score()
        assert evaluator.advantages == {0.0}


def test_a_configured_advantage_wins() -> None:
    evaluator = RecordingEvaluator()
    with engine_with(evaluator, puct__playout_doubling_advantage=-1) as engine:
        assert advantages_of(engine, evaluator, WHITE) == {1.0}
        engine.configure({"puct.playout_doubling_advantage": 0.0, "puct.dynamic_advantage": 0.0})
        assert advantages_of(engine, evaluator, WHITE) == {0.0}


def test_networks_that_know_no_advantage_receive_none() -> None:
    evaluator = RecordingEvaluator(knows_advantage=False)
    with engine_with(evaluator) as engine:
        assert advantages_of(engine, evaluator, WHITE) == {0.0}
        engine.configure({"puct.playout_doubling_advantage": -1.0})
        assert advantages_of(engine, evaluator, WHITE) == {0.0}
        engine.raw_evaluation()
        assert evaluator.advantages == {0.0}


def test_a_level_plays_without_it() -> None:
    """Levels are measured without; the log line names none either."""
    lines: list[str] = []
    evaluator = RecordingEvaluator(name=STRONG_MODEL)
    config = Config().with_values({"play.level": "5k"})
    with Engine(config, lines.append, evaluator, load_shipped=fake_shipped) as engine:
        engine.set_komi(58.5)
        engine.genmove(WHITE)
        assert evaluator.advantages == {0.0}
        assert "advantage" not in lines[-1]


def test_the_log_line_names_it() -> None:
    lines: list[str] = []
    config = Config().with_values({"search.visits": 2})
    with Engine(config, log=lines.append, evaluator=FakeEvaluator()) as engine:
        engine.set_komi(58.5)
        engine.genmove(WHITE)
        assert "advantage -2.125 doublings" in lines[-1]
        engine.set_komi(7)
        engine.genmove(BLACK)
        assert "advantage" not in lines[-1]
