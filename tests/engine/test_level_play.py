"""Playing at a level: what it plays, what it says, what it needs."""

import threading
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest
from engine_positions import only
from fake_evaluators import FakeEvaluator, RecordingEvaluator, fake_shipped

from gtp_engine.base.errors import ConfigError, ModelError
from gtp_engine.config import Config
from gtp_engine.config.human import profile_of, rank_name
from gtp_engine.engine import Choice, Engine
from gtp_engine.engine.level_play import LevelPlay
from gtp_engine.engine.level_table import HUMAN_MODEL, STRONG_MODEL, read_table, settings_of
from gtp_engine.engine.move_choice import delay_before
from gtp_engine.engine.shared_engines import SharedEngines
from gtp_engine.evaluation.evaluator import Evaluator, Request
from gtp_engine.evaluation.positions import view_board
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import Move, parse_vertex
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules
from gtp_engine.nn.loading import load_evaluator
from gtp_engine.search.report import SearchReport


def engine_at(level: str, log: list[str] | None = None, **options: object) -> Engine:
    values = {"play.level": level, "game.board_size": 7, "search.seed": 3, "time.time_per_move": 600, **options}
    lines = [] if log is None else log
    config = Config().with_values(values)  # type: ignore[arg-type]
    return Engine(config, lines.append, FakeEvaluator(), load_shipped=fake_shipped)


def stones(color: int, vertices: str) -> list[Move]:
    return [Move(color, parse_vertex(vertex, width=7, height=7)) for vertex in vertices.split()]


@pytest.mark.parametrize("level", ["20k", "9d"])
def test_a_level_evaluates_the_position_once(level: str):
    """An analysis does not make it stronger, nor does a dispute about dead stones."""
    engine = engine_at(level)
    engine.search(0.05)
    assert engine.genmove(BLACK).report.visits == 1
    assert engine.genmove(WHITE, cleanup=True).report.visits == 1


def test_the_level_of_an_engine_with_a_seed_repeats():
    found, engine = [], engine_at("15k")
    for each in (engine, engine, engine_at("15k")):
        each.set_seed(3)
        found.append([each.genmove(BLACK, play=False).point for _ in range(6)])
    assert found[0] == found[1] == found[2]
    assert len(set(found[0])) > 1, "moves are drawn"


def test_dead_stones_are_captured_before_a_pass_where_the_rules_count_them():
    """The policy passes; under other rules the stones are taken off after the game."""
    config = Config().with_values({"play.level": "20k", "search.seed": 1, "network.network_threads": 1})
    with Engine(config, evaluator=load_evaluator(config.network, log=lambda line: None, board=(7, 7))) as engine:
        engine.set_board_size(7)
        engine.set_rules(Rules.parse("tromp-taylor"))
        dead = stones(WHITE, "B6 B4 C4")
        engine.set_up([*stones(BLACK, "D1 D2 D3 D4 D5 D6 D7"), *stones(WHITE, "E1 E2 E3 E4 E5 E6 E7"), *dead])
        passes = 0
        while passes < 3 and len(engine.game.moves) < 60:
            passes += engine.genmove(BLACK).point == PASS
            engine.play(PASS, WHITE)
        assert not any(engine.game.color_at(move.point) == WHITE for move in dead)


@pytest.mark.parametrize(
    ("evaluator", "message"),
    [(None, "level 8k in a search without a network"), (FakeEvaluator(has_score=False), "one that evaluates score")],
)
def test_a_level_needs_a_network_that_evaluates_the_score(evaluator: Evaluator | None, message: str):
    with pytest.raises(ConfigError, match=message):
        Engine(Config().with_values({"play.level": "8k"}), evaluator=evaluator, load_shipped=fake_shipped)


def mean_delay(choice: Choice) -> float:
    config, random = Config().with_values({"play.delay": 2.0}).play, np.random.default_rng(1)
    return sum(delay_before(choice, config, random) for _ in range(400)) / 400


def test_the_delay_is_short_for_an_obvious_move_and_ends_at_its_maximum():
    engine = engine_at("max", **{"search.visits": 8})
    choice = engine.genmove(BLACK, play=False)
    raw = choice.report.raw
    assert raw is not None
    for probability, seconds in ((0.9, 1.0), (0.0, 10.0)):
        raw.policy[choice.point] = probability
        assert mean_delay(choice) == pytest.approx(seconds, rel=0.1)
    capped = Config().with_values({"play.delay": 2.0, "play.delay_max": 0.25}).play
    random = np.random.default_rng(1)
    assert max(delay_before(choice, capped, random) for _ in range(20)) == 0.25
    assert delay_before(choice, Config().play, random) == 0.0
    assert mean_delay(Choice(choice.point, choice.report, resign=True)) == 0.0
    assert mean_delay(Choice(choice.point, replace(choice.report, raw=None))) == 0.0, "without a network"


def test_a_seed_repeats_the_delays(monkeypatch: pytest.MonkeyPatch):
    waits: list[float] = []
    path = "gtp_engine.engine.move_choice.delay_before"
    monkeypatch.setattr(path, lambda *given: waits.append(delay_before(*given)) or 0.0)
    engine = engine_at("max", **{"search.visits": 8, "play.delay": 0.1})
    for _ in range(2):
        engine.set_seed(7)
        engine.genmove(BLACK, play=False)
    assert waits[0] == waits[1] > 0.0


def profiles_asked(network: RecordingEvaluator) -> list[str]:
    """Return the profiles that a human-like network was asked for, one for each position."""
    return [str(profile_of(each.human_profile)) for each in network.conditions]


def only_strong(name: str) -> Evaluator:
    """Load what levels need beside a human-like network."""
    assert name == STRONG_MODEL
    return FakeEvaluator(seed=5)


def test_a_level_with_a_human_like_network_is_its_profile_of_that_rank():
    log: list[str] = []
    human = RecordingEvaluator(seed=1, needs_profile=True)
    config = Config().with_values({"play.level": "4k", "game.board_size": 19})
    engine = Engine(config, log.append, FakeEvaluator(), human, load_shipped=only_strong)
    assert "fake (seed 1) with profile rank_4k, chosen for this strength; calibrated for tengen-human" in log[-1]
    assert not any("without a profile" in line for line in log)
    engine.genmove(BLACK)
    engine.configure({"play.level": "2d"})
    engine.genmove(WHITE)
    assert profiles_asked(human) == ["rank_4k", "rank_2d"]


def test_a_human_like_network_alone_plays_at_a_level():
    network = RecordingEvaluator(seed=1, needs_profile=True)
    config = Config().with_values({"play.level": "8k", "game.board_size": 7})
    engine = Engine(config, evaluator=network, load_shipped=only_strong)
    engine.genmove(BLACK)
    rank = settings_of(read_table(None, HUMAN_MODEL).skill("8k", 7, 7), 7, 7).rank
    assert set(profiles_asked(network)) == {f"rank_{rank_name(rank)}"}


def test_the_networks_of_levels_are_loaded_when_one_is_chosen():
    log: list[str] = []
    main, loaded = FakeEvaluator(1), dict[str, FakeEvaluator]()

    def load(name: str) -> Evaluator:
        assert name not in loaded
        loaded[name] = FakeEvaluator(2, name=name, needs_profile=name == HUMAN_MODEL)
        return loaded[name]

    config = Config().with_values({"game.board_size": 7, "search.visits": 20, "search.seed": 3})
    engine = Engine(config, log.append, main, load_shipped=load)
    assert engine.genmove(BLACK).report.visits == 20
    assert not loaded
    engine.configure({"play.level": "12k"})
    assert "Level 12k: tengen-human with profile" in log[-1]
    calls = main.calls
    assert engine.genmove(WHITE).report.visits == 1
    assert loaded[STRONG_MODEL].calls > 0 < loaded[HUMAN_MODEL].calls
    assert main.calls == calls
    engine.set_board_size(9)
    engine.configure({"play.level": "8k"})
    assert engine.search(600.0).visits == 20, "an analysis has no level"
    assert main.calls > calls
    engine.close()
    assert all(evaluator.is_closed for evaluator in (main, *loaded.values()))


def test_the_network_that_ships_is_not_loaded_a_second_time():
    loads: list[str] = []

    def load(name: str) -> Evaluator:
        loads.append(name)
        return fake_shipped(name)

    main = FakeEvaluator(1, name=STRONG_MODEL)
    config = Config().with_values({"play.level": "12k", "game.board_size": 7})
    Engine(config, evaluator=main, load_shipped=load).genmove(BLACK)
    assert loads == [HUMAN_MODEL] and main.calls > 0


def test_nothing_changes_if_a_network_for_a_level_is_missing():
    def load(name: str) -> Evaluator:
        raise ModelError(f"{name} is missing")

    engine = Engine(evaluator=FakeEvaluator(), load_shipped=load)
    with pytest.raises(ModelError, match="is missing"):
        engine.configure({"play.level": "12k"})
    assert engine.config.play.level == "max"


def test_the_delay_at_a_level_follows_the_policy_of_its_rank():
    engine = engine_at("5k")
    choice = engine.genmove(BLACK, play=False)
    report = choice.report
    assert report.human is not None and report.raw is not None
    report.raw.policy[choice.point] = 0.0
    for probability, seconds in ((0.9, 1.0), (0.1, 5.0)):
        report.human.policy[choice.point] = probability
        assert mean_delay(choice) == pytest.approx(seconds, rel=0.1)


@pytest.mark.parametrize(("level", "points"), [("9d", 5.0), ("8d", 6.5), ("20k", 47.0)])
def test_weak_levels_see_later_that_a_game_is_lost(level: str, points: float) -> None:
    player = LevelPlay(Mock(config=Config().with_values({"play.level": level})), 1, fake_shipped)
    for size, lead in (((19, 19), points), ((4, 9), points * 6 / 19)):
        report = SearchReport(2, 1, 1, 0, (), 0, np.zeros(0), value_black=0)
        reports = [replace(report, lead_black=lead + more) for more in (-0.1, 0.1)]
        assert [player.gives_up(Game(*size), report) for report in reports] == [False, True]


@pytest.mark.parametrize("level", ["20k", "10k", "9d"])
def test_a_level_plays_no_move_that_was_left_out(level: str) -> None:
    engine = engine_at(level)
    allowed = {21, 22}
    for _ in range(5):
        assert engine.genmove(BLACK, play=False, request=only(engine, allowed)).point in allowed


def test_a_level_ignores_settings_of_human_like_play() -> None:
    config = Config().with_values({"play.level": "8k", "game.board_size": 7, "human.human_move_share": 0.5})
    engine = Engine(config, evaluator=FakeEvaluator(), human=FakeEvaluator(), load_shipped=fake_shipped)
    engine.genmove(BLACK)
    engine.configure({"human.human_move_share": 1.0})
    assert engine.config.human.human_move_share == 1.0
    engine.genmove(WHITE)


def test_the_profile_of_a_human_like_main_network_follows_the_level() -> None:
    network = FakeEvaluator(needs_profile=True)
    config = Config().with_values({"play.level": "8k", "game.board_size": 7})
    engine = Engine(config, evaluator=network, load_shipped=only_strong)
    engine.configure({"play.level": "2d"})
    assert engine.config.human.human_profile == "rank_2d"
    engine.configure({"human.human_profile": "rank_9d"})
    engine.configure({"play.level": "5k"})
    assert engine.config.human.human_profile == "rank_9d"
    with pytest.raises(ConfigError, match="expected a profile"):
        engine.configure({"human.human_profile": ""})


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

    def likes_the_corner(name: str) -> Evaluator:
        return LikesTheCorner(needs_profile=name == HUMAN_MODEL)

    engine = Engine(config, evaluator=LikesTheCorner(), load_shipped=likes_the_corner)
    wall = [f"{column}2" for column in "ABCDEFG"]
    engine.set_up([Move(BLACK, parse_vertex(vertex, width=7, height=7)) for vertex in ("D1", *wall)], WHITE)
    outside = {parse_vertex(f"{column}{row}", width=7, height=7) for column in "ABCDEFG" for row in range(3, 8)}
    assert engine.genmove(WHITE, play=False).point in outside


def test_engines_open_while_another_loads_the_networks_of_its_level() -> None:
    waited = []

    def load(name: str) -> Evaluator:
        other = threading.Thread(target=lambda: shared.open_engine(Config(), print).close(), daemon=True)
        other.start()
        other.join(10)
        waited.append(other.is_alive())
        return fake_shipped(name)

    shared = SharedEngines(Config(), evaluator=FakeEvaluator(), load_shipped=load)
    with shared, shared.open_engine(Config(), print) as engine:
        engine.configure({"play.level": "8k"})
    assert waited and not any(waited)
