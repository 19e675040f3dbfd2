"""Playing at a level: what it plays, what it says, what it needs."""

import pytest
from fake_evaluators import FakeEvaluator, RecordingEvaluator

from gtp_engine.config import Config
from gtp_engine.config.human import profile_of
from gtp_engine.engine import Engine
from gtp_engine.engine.decision import Delays
from gtp_engine.errors import ConfigError, ModelError
from gtp_engine.evaluation.evaluator import Evaluator, Request
from gtp_engine.evaluation.positions import view_board
from gtp_engine.go.constants import BLACK, PASS, WHITE, Move
from gtp_engine.go.coords import parse_vertex
from gtp_engine.go.rules import Rules
from gtp_engine.nn import load_evaluator
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.search.limits import Limits, Restriction


def engine_at(level: str, log: list[str] | None = None, **options: object) -> Engine:
    values = {"play.level": level, "game.board_size": 7, "search.seed": 3, "time.time_per_move": 600, **options}
    lines = [] if log is None else log
    return Engine(Config().with_values(values), log=lines.append, evaluator=FakeEvaluator())  # type: ignore[arg-type]


def stones(color: int, vertices: str) -> list[Move]:
    return [Move(color, parse_vertex(vertex, width=7, height=7)) for vertex in vertices.split()]


def test_a_policy_level_searches_one_visit():
    engine = engine_at("20k")
    assert engine.genmove(BLACK).report.visits == 1
    assert engine.genmove(WHITE).report.visits == 1


def test_the_strongest_level_searches_more():
    assert engine_at("9d").genmove(BLACK).report.visits > 4


def test_the_level_of_an_engine_with_a_seed_repeats():
    first, second = ([engine_at("15k").genmove(BLACK).point for _ in range(2)] for _ in range(2))
    assert first == second


def test_the_level_changes_while_the_engine_runs():
    log: list[str] = []
    engine = engine_at("max", log, **{"search.visits": 50})
    assert engine.genmove(BLACK).report.visits == 50
    engine.configure({"play.level": "12k"})
    assert "Level 12k: not calibrated" in log[-1]
    assert engine.genmove(WHITE).report.visits == 1


def test_an_analysis_does_not_make_a_level_stronger():
    engine = engine_at("12k")
    engine.timed_search(0.05)
    assert engine.genmove(BLACK).report.visits == 1


def test_a_level_does_not_limit_an_analysis():
    engine = engine_at("12k", **{"search.visits": 40})
    assert engine.timed_search(600.0).visits == 40


@pytest.mark.parametrize("level", ["20k", "5k"])
def test_dead_stones_are_captured_before_a_pass_where_the_rules_count_them(level: str):
    """The policy passes; under other rules the stones are taken off after the game."""
    config = Config().with_values({"play.level": level, "search.seed": 1, "network.network_threads": 1})
    with Engine(config, evaluator=load_evaluator(config.network, log=lambda line: None, board=(7, 7))) as engine:
        engine.set_board_size(7)
        engine.set_rules(Rules.parse("tromp-taylor"))
        dead = stones(WHITE, "B6 B4 C4")
        engine.set_position([*stones(BLACK, "D1 D2 D3 D4 D5 D6 D7"), *stones(WHITE, "E1 E2 E3 E4 E5 E6 E7"), *dead])
        passes = 0
        while passes < 3 and len(engine.game.moves) < 60:
            passes += engine.genmove(BLACK).point == PASS
            engine.play(WHITE, PASS)
        assert not any(engine.game.color_at(move.point) == WHITE for move in dead)


def test_a_level_needs_a_network():
    with pytest.raises(ConfigError, match="level 8k in a search without a network"):
        Engine(Config().with_values({"play.level": "8k", "search.search": "rave"}), evaluator=None)


def test_a_level_needs_a_network_that_evaluates_the_score():
    config = Config().with_values({"play.level": "8k", "game.board_size": 7})
    with pytest.raises(ConfigError, match="one that evaluates score"):
        Engine(config, evaluator=FakeEvaluator(has_score=False))


def test_an_unknown_level_is_refused():
    with pytest.raises(ConfigError, match="expected 20k to 1k"):
        Config().with_values({"play.level": "21k"})


def test_the_delay_is_short_for_an_obvious_move_and_ends_at_its_maximum():
    engine = engine_at("max", **{"search.visits": 8})
    choice = engine.genmove(BLACK, play=False)
    raw = choice.report.raw
    assert raw is not None
    config = Config().with_values({"play.delay": 2.0}).play
    raw.policy[choice.point] = 0.9
    obvious = sum(Delays(seed).seconds(choice, config) for seed in range(400)) / 400
    raw.policy[choice.point] = 0.0
    surprising = sum(Delays(seed).seconds(choice, config) for seed in range(400)) / 400
    assert obvious == pytest.approx(1.0, rel=0.1)
    assert surprising == pytest.approx(10.0, rel=0.1)
    capped = Config().with_values({"play.delay": 2.0, "play.delay_max": 0.25}).play
    assert max(Delays(seed).seconds(choice, capped) for seed in range(20)) == 0.25
    assert Delays(1).seconds(choice, Config().play) == 0.0


def test_a_seed_repeats_the_delays(monkeypatch: pytest.MonkeyPatch):
    waits: list[float] = []
    monkeypatch.setattr("gtp_engine.engine.decision.wait", lambda seconds, cancel: waits.append(seconds))
    engine = engine_at("max", **{"search.visits": 8, "play.delay": 0.1})
    for _ in range(2):
        engine.set_seed(7)
        engine.genmove(BLACK, play=False)
    assert waits[0] == waits[1] > 0.0


def profiles_asked(network: RecordingEvaluator) -> list[str]:
    """Return the profiles that a human-like network was asked for, one for each position."""
    return [str(profile_of(each.human_profile)) for each in network.conditions]


def test_a_level_with_a_human_like_network_is_its_profile_of_that_rank():
    log: list[str] = []
    human = RecordingEvaluator(seed=1, needs_profile=True)
    config = Config().with_values({"play.level": "8k", "game.board_size": 7})
    engine = Engine(config, log.append, FakeEvaluator(), human)
    assert "profile rank_8k" in log[-1]
    assert not any("without a profile" in line for line in log)
    engine.genmove(BLACK)
    engine.configure({"play.level": "2d"})
    engine.genmove(WHITE)
    assert profiles_asked(human) == ["rank_8k", "rank_2d"]


def test_a_human_like_network_alone_plays_at_a_level():
    network = RecordingEvaluator(seed=1, needs_profile=True)
    engine = Engine(Config().with_values({"play.level": "8k", "game.board_size": 7}), evaluator=network)
    engine.genmove(BLACK)
    assert set(profiles_asked(network)) == {"rank_8k"}


class Counting(FakeEvaluator):
    """Counts the calls, and keeps whether it was closed."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed=seed)
        self.calls = 0
        self.is_closed = False

    def evaluate(self, request: Request) -> None:
        """Write the evaluation."""
        super().evaluate(request)
        self.calls += 1

    def close(self) -> None:
        """Note it."""
        self.is_closed = True


def test_levels_are_left_to_a_network_that_is_loaded_when_one_is_chosen():
    log: list[str] = []
    main, calibrated, loads = Counting(1), Counting(2), []

    def load() -> Evaluator:
        loads.append(1)
        return calibrated

    config = Config().with_values({"game.board_size": 7, "search.visits": 20, "search.seed": 3})
    engine = Engine(config, log.append, main, load_calibrated=load)
    engine.genmove(BLACK)
    assert not loads
    engine.configure({"play.level": "12k"})
    assert "Level 12k: moves of tengen-b10c128" in log[-1]
    calls = main.calls
    choice = engine.genmove(WHITE)
    assert choice.report.visits == 1
    assert calibrated.calls > 0
    assert main.calls == calls
    engine.set_board_size(9)
    engine.configure({"play.level": "8k"})
    engine.timed_search(0.02)
    assert main.calls > calls
    assert len(loads) == 1
    engine.close()
    assert main.is_closed
    assert calibrated.is_closed


def test_a_level_chosen_at_the_start_loads_its_network_before_the_first_move():
    calibrated = Counting(2)
    config = Config().with_values({"play.level": "8k", "game.board_size": 7, "search.seed": 3})
    moves = []
    for seed in (1, 4):
        log: list[str] = []
        engine = Engine(config, log.append, Counting(seed), load_calibrated=lambda: calibrated)
        assert "moves of tengen-b10c128" in log[-1]
        moves.append([engine.genmove(color).point for color in (BLACK, WHITE, BLACK)])
    assert moves[0] == moves[1]


def test_nothing_changes_if_the_network_for_a_level_is_missing():
    def load() -> Evaluator:
        raise ModelError("the network that ships with the engine is missing")

    engine = Engine(evaluator=FakeEvaluator(), load_calibrated=load)
    with pytest.raises(ModelError, match="is missing"):
        engine.configure({"play.level": "12k"})
    assert engine.config.play.level == "max"


def test_no_network_is_loaded_for_levels_beside_a_human_like_one():
    def load() -> Evaluator:
        raise AssertionError

    config = Config().with_values({"play.level": "8k", "game.board_size": 7})
    engine = Engine(
        config, evaluator=FakeEvaluator(), human=RecordingEvaluator(needs_profile=True), load_calibrated=load
    )
    engine.genmove(BLACK)


@pytest.mark.parametrize("level", ["20k", "10k", "9d"])
def test_a_level_plays_no_move_that_was_left_out(level: str) -> None:
    engine = engine_at(level)
    allowed = {21, 22}
    others = frozenset(range(engine.game.board.color.size)) - allowed
    limits = Limits(restrictions=(Restriction(BLACK, others),), cancel=CancelToken())
    for _ in range(5):
        assert engine.genmove(BLACK, play=False, limits=limits).point in allowed


def test_a_level_of_another_network_ignores_settings_of_human_like_play() -> None:
    config = Config().with_values({"play.level": "8k", "game.board_size": 7, "human.human_move_share": 0.5})
    engine = Engine(config, evaluator=FakeEvaluator(), human=FakeEvaluator(), load_calibrated=FakeEvaluator)
    engine.genmove(BLACK)
    engine.configure({"human.human_move_share": 1.0})
    assert engine.config.human.human_move_share == 1.0
    engine.genmove(WHITE)


def test_the_profile_of_a_human_like_main_network_follows_the_level() -> None:
    network = FakeEvaluator(needs_profile=True)
    engine = Engine(Config().with_values({"play.level": "8k", "game.board_size": 7}), evaluator=network)
    engine.configure({"play.level": "2d"})
    assert engine.config.human.human_profile == "rank_2d"
    engine.configure({"human.human_profile": "rank_9d"})
    engine.configure({"play.level": "5k"})
    assert engine.config.human.human_profile == "rank_9d"


def test_a_level_stays_a_level_after_a_dispute_about_dead_stones() -> None:
    engine = engine_at("20k")
    assert engine.genmove(BLACK, cleanup=True).report.visits == 1


@pytest.mark.parametrize("level", ["20k", "9d"])
def test_no_level_plays_where_nothing_can_change(level: str) -> None:
    """The search's best move used to be played even in territory that is proved to be the opponent's."""
    corner = parse_vertex("A1", width=7, height=7)

    class LikesTheCorner(FakeEvaluator):
        def evaluate(self, request: Request) -> None:
            super().evaluate(request)
            positions, out = request.positions, request.out
            out.policy[: request.rows] *= 0.01
            out.policy[: request.rows, corner] = 0.99
            for row in range(request.rows):  # every other move loses 80 points
                is_in_corner = view_board(positions, row).color[corner] == WHITE
                out.lead_black[row] = -40.0 if is_in_corner or positions.to_play[row] == WHITE else 40.0

    config = Config().with_values({"play.level": level, "game.board_size": 7, "search.seed": 1, "play.resign": False})
    engine = Engine(config, evaluator=LikesTheCorner())
    wall = [f"{column}2" for column in "ABCDEFG"]
    engine.set_position([Move(BLACK, parse_vertex(vertex, width=7, height=7)) for vertex in ("D1", *wall)], WHITE)
    outside = {parse_vertex(f"{column}{row}", width=7, height=7) for column in "ABCDEFG" for row in range(3, 8)}
    assert engine.genmove(WHITE, play=False).point in outside
