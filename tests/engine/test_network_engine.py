"""The engine with fake networks: ends of games, time, background searches, settings."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from math import inf

import pytest
from busy_machine import bound, require_once, wait_until
from engine_positions import DEAD_STONE, NEUTRAL, point, set_up
from fake_evaluators import FakeEvaluator, RecordingEvaluator, UniformEvaluator
from knowing_evaluator import KnowingEvaluator, SlowEvaluator

from gtp_engine.base.errors import ConfigError, LimitError, ModelError
from gtp_engine.config import Config
from gtp_engine.engine import Engine
from gtp_engine.engine.answers import PositionEvaluation
from gtp_engine.engine.move_choice import with_less_effort
from gtp_engine.engine.searches import evaluate_game
from gtp_engine.engine.time_manager import TimeBudget
from gtp_engine.evaluation.evaluator import Evaluator, Request
from gtp_engine.evaluation.positions import view_board
from gtp_engine.go.clock import TimeSettings
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE, opponent
from gtp_engine.go.coords import Color, Move, parse_vertex, points_by_number
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules
from gtp_engine.search.limits import CancelToken, Limits, Reporting, Restriction, SearchRequest
from gtp_engine.search.report import SearchReport


def make(evaluator: Evaluator | None, log: Callable[[str], None] | None = None, **values: object) -> Engine:
    texts = {key.replace("__", "."): str(value) for key, value in values.items()}
    defaults = {"game.board_size": "7", "search.visits": "24", "search.seed": "1"}
    return Engine(Config().with_values({**defaults, **texts}), log=log, evaluator=evaluator)


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = make(KnowingEvaluator())
    yield made
    made.close()


# --- the end of games ---


@pytest.mark.parametrize("color", [BLACK, WHITE], ids=["black", "white"])
@pytest.mark.parametrize(
    ("rules", "fill_dame", "vertex"),
    [("chinese", False, "D4"), ("tromp-taylor", False, "D4"), ("japanese", False, "pass"), ("japanese", True, "D4")],
)
def test_neutral_points_are_filled_where_they_count_or_are_to_be(
    engine: Engine, rules: str, fill_dame: bool, vertex: str, color: int
) -> None:
    engine.configure({"puct.fill_dame": fill_dame, "search.visits": 60 if fill_dame else 24})
    engine.set_rules(Rules.parse(rules))
    set_up(engine, NEUTRAL, color)
    assert engine.genmove(color).point == point(engine, vertex)
    assert engine.genmove(opponent(color)).point == PASS


@pytest.mark.parametrize(
    ("rules", "cleanup", "is_captured"),
    [("tromp-taylor", False, True), ("chinese", False, False), ("japanese", False, False), ("chinese", True, True)],
)
def test_dead_stones_are_captured_where_what_is_left_counts(rules: str, cleanup: bool, is_captured: bool) -> None:
    with make(KnowingEvaluator(), search__visits=200) as engine:
        engine.set_rules(Rules.parse(rules))
        set_up(engine, DEAD_STONE)
        engine.set_komi(0)
        for _ in range(6):
            engine.genmove(BLACK, cleanup=cleanup)
            engine.play(PASS, WHITE)
        assert (engine.game.color_at(point(engine, "A7")) != WHITE) is is_captured
        assert {p for chain in engine.groups_by_status("dead") for p in chain} <= {point(engine, "A7")}


class PassingEvaluator(UniformEvaluator):
    """Gives the pass nearly all of the probability, then E5, then C3, as networks do in a hopeless handicap game."""

    def evaluate(self, request: Request) -> None:
        super().evaluate(request)
        board, policy = view_board(request.positions, 0), request.out.policy[: request.rows]
        policy *= 1e-4
        for vertex, probability in (("E5", 2e-3), ("C3", 1e-3), ("pass", 0.99)):
            place = parse_vertex(vertex, width=7, height=7)
            if place == PASS or board.color[place] == EMPTY:
                policy[:, place] = probability


def test_a_search_of_few_visits_that_tried_only_the_pass_does_not_pass_early() -> None:
    with make(PassingEvaluator(), search__visits=4) as engine:
        engine.fixed_handicap(4)
        choice = engine.genmove(WHITE, play=False)
        assert {move.point for move in choice.report.moves} == {PASS}
        assert choice.point != PASS
        engine.clear_board()
        assert engine.genmove(BLACK, play=False).point == point(engine, "E5")
        avoided = Restriction(BLACK, frozenset({point(engine, "E5")}), 1)
        assert engine.genmove(
            BLACK, play=False, request=SearchRequest(Limits(cancel=CancelToken()), restrictions=(avoided,))
        ).point == point(engine, "C3")


# --- scores ---


def test_scores_come_from_the_network(engine: Engine) -> None:
    engine.set_komi(0.5)
    set_up(engine, DEAD_STONE)
    dead = [point(engine, "A7")]
    assert engine.groups_by_status("dead") == [dead]
    assert engine.score() == engine.game.score(dead)
    engine.play(PASS, BLACK)
    engine.play(PASS, WHITE)
    assert engine.score() == engine.game.score(dead)


def test_an_open_position_is_scored_by_the_lead(engine: Engine) -> None:
    engine.set_rules(Rules.parse("japanese"))
    engine.play(point(engine, "D4"), BLACK)
    for komi, expected in ((6.5, "W+6.5"), (0.0, "0"), (-3.25, "B+3.25")):
        engine.set_komi(komi)
        assert str(engine.score()) == expected, "not the whole board for one stone"


# --- playing with an advantage ---


def test_the_network_receives_the_engines_advantage() -> None:
    evaluator = RecordingEvaluator()
    with make(evaluator, puct__playout_doubling_advantage=2) as engine:
        for color, black in ((BLACK, 2.0), (WHITE, -2.0)):
            evaluator.conditions.clear()
            engine.genmove(color)
            engine.raw_evaluation(color)
            assert evaluator.advantages == {black}
        engine.configure({"puct.playout_doubling_advantage_color": "white"})
        evaluator.conditions.clear()
        engine.genmove(BLACK)
        engine.raw_evaluation(BLACK)
        assert evaluator.advantages == {-2.0}
        evaluator.conditions.clear()
        engine.clear_cache()
        engine.score()
        assert evaluator.advantages == {0.0}, "games are counted without"


# --- board sizes ---


class PickyEvaluator(FakeEvaluator):
    """Plays boards of odd size and records those that it was prepared for."""

    def __init__(self) -> None:
        super().__init__()
        self.prepared: list[tuple[int, int]] = []

    def prepare(self, width: int, height: int) -> None:
        if width % 2 == 0:
            raise ModelError(f"the network does not play {width}x{height}")
        self.prepared.append((width, height))


def test_the_network_gets_ready_while_no_clock_is_running() -> None:
    evaluator = PickyEvaluator()
    with make(evaluator) as engine:
        engine.set_board_size(9)
        engine.clear_board()
        engine.load_sgf("(;SZ[5:4];B[aa])")
        assert evaluator.prepared == [(9, 9), (5, 4)]


class SlowToPrepare(FakeEvaluator):
    """Gets boards ready beside its evaluations, once it may."""

    def __init__(self) -> None:
        super().__init__(prepares_beside=True)
        self.prepared: list[tuple[int, int]] = []
        self.may_go_on = threading.Event()

    def prepare(self, width: int, height: int) -> None:
        assert self.may_go_on.wait(bound(60))
        self.prepared.append((width, height))


def test_a_new_board_is_prepared_beside_and_those_passed_over_are_not() -> None:
    evaluator = SlowToPrepare()
    with make(evaluator) as engine:
        try:
            for size in [*range(2, 26)] * 20:
                engine.set_board_size(size)
            assert evaluator.prepared == []
            assert engine.game.width == 25
            engine.genmove(BLACK)  # what can be evaluated is evaluated meanwhile
            threads = [each for each in threading.enumerate() if each.name.startswith("network preparation")]
            assert threads and all(each.daemon for each in threads), "a program that ends does not wait"
        finally:
            evaluator.may_go_on.set()
        wait_until(lambda: evaluator.prepared[-1:] == [(25, 25)])
        assert len(evaluator.prepared) <= 2  # the other is the size at which the thread began


def test_a_board_the_network_does_not_play_changes_nothing() -> None:
    with make(PickyEvaluator()) as engine:
        engine.play(point(engine, "D4"), BLACK)
        with pytest.raises(ModelError, match="does not play 8x8"):
            engine.set_board_size(8)
        assert (engine.game.width, len(engine.game.moves)) == (7, 1)


# --- time ---


def test_a_slow_network_keeps_to_the_maximum() -> None:
    """Each batch takes 50 ms: the search ends before the batch that would go beyond the time, not after it."""
    with make(SlowEvaluator(0.05), search__visits=0, time__time_per_move=0.4, time__early_stop=False) as engine:

        def seconds_for_a_move() -> float:
            start = time.perf_counter()
            engine.genmove(BLACK)
            return time.perf_counter() - start

        require_once(seconds_for_a_move, below=0.42)


def test_a_clock_is_not_overstepped_by_a_slow_network() -> None:
    def seconds_for_twenty_moves() -> float:
        engine = make(SlowEvaluator(0.02), search__visits=0, play__resign=False)
        engine.set_time_settings(TimeSettings.absolute(3.0))
        start = time.perf_counter()
        for _ in range(20):
            engine.genmove(BLACK)
        seconds = time.perf_counter() - start
        engine.close()
        return seconds

    require_once(seconds_for_twenty_moves, below=4.0)


@pytest.mark.parametrize("color", [BLACK, WHITE], ids=["ahead", "behind"])
def test_a_lopsided_game_gets_all_the_visits_asked_for(color: int) -> None:
    with make(KnowingEvaluator(), game__board_size=3, search__visits=900, game__komi=-60) as engine:
        assert engine.genmove(color, play=False).report.visits == 900


# --- in the background ---


def test_pondering_leaves_visits_in_the_tree_on_behalf_of_the_engine() -> None:
    evaluator = RecordingEvaluator()
    engine = make(evaluator, puct__playout_doubling_advantage=2, time__ponder="true", search__visits=50)
    engine.genmove(BLACK)
    before = evaluator.rows
    wait_until(lambda: evaluator.rows > before + 500)
    engine.play(engine.known(engine.game).moves[0].point, WHITE)  # type: ignore[union-attr]
    report = engine.genmove(BLACK).report
    assert report.visits - report.playouts > 100 and evaluator.advantages == {2.0}
    engine.close()
    after = evaluator.rows
    time.sleep(0.1)
    assert evaluator.rows == after, "closing ends pondering"


def test_an_analysis_continues_until_it_is_cancelled() -> None:
    with make(FakeEvaluator()) as engine:
        reports: list[SearchReport] = []
        cancel = CancelToken()
        engine.start_analysis(WHITE, SearchRequest(Limits(cancel=cancel), reporting=Reporting(0.01, reports.append)))
        wait_until(lambda: len(reports) > 3)
        engine.play(point(engine, "D4"), BLACK)  # the analysis has a copy of the game
        seen = len(reports)
        wait_until(lambda: len(reports) > seen + 3 and reports[-1].visits > reports[0].visits)
        cancel.cancel()
        wait_until(lambda: "background search" not in {thread.name for thread in threading.enumerate()})
        assert all(report.to_play == WHITE for report in reports)


def test_a_search_in_the_background_chooses_without_playing_and_the_clock_knows_whether_it_was_late() -> None:
    with make(FakeEvaluator()) as engine:
        choices: list[int] = []
        engine.set_time_settings(TimeSettings.canadian(0, 1, 1))
        assert engine.time_for_move(BLACK)[0].lateness is None
        engine.start_analysis(BLACK, Limits(cancel=CancelToken()), lambda choice: choices.append(choice.point))
        wait_until(lambda: bool(choices))
        assert engine.game.moves == ()
        assert engine.game.is_legal(choices[0], BLACK)
        assert engine.time_for_move(BLACK)[0].lateness is not None


def test_a_cancellation_before_the_search_begins_is_not_lost() -> None:
    with make(FakeEvaluator(), search__visits=0, time__time_per_move=60) as engine:
        cancel = CancelToken()
        cancel.cancel()

        def seconds_to_end() -> float:
            start = time.perf_counter()
            assert engine.genmove(BLACK, play=False, cancel=cancel).point != PASS
            engine.search(60.0, cancel=cancel)
            engine.score(cancel)
            engine.search(cancel=cancel)
            return time.perf_counter() - start

        require_once(seconds_to_end, below=20.0, attempts=3)


def test_after_a_cancellation_a_score_evaluates_no_other_position() -> None:
    cancel, evaluator = CancelToken(), UniformEvaluator()
    evaluator.watch = lambda request: cancel.cancel()
    with make(evaluator) as engine:
        engine.score(cancel)
        assert evaluator.rows == 16, "eight orientations with each side to play"


def test_a_failure_in_the_background_is_logged() -> None:
    lines: list[str] = []
    evaluator = FakeEvaluator()
    evaluator.watch = lambda request: 1 / 0
    with make(evaluator, log=lines.append) as engine:
        engine.start_analysis(None, Limits(cancel=CancelToken()))
        wait_until(lambda: bool(lines))
        assert "Traceback" in lines[0]
        with pytest.raises(ZeroDivisionError):
            engine.genmove(BLACK)


# --- raw evaluations ---


def test_without_a_network_nothing_is_evaluated_and_a_setting_that_needs_one_changes_nothing() -> None:
    with Engine(Config(), evaluator=None) as engine:
        for ask in (engine.raw_evaluation, lambda: engine.evaluate([Game(9)])):
            with pytest.raises(ConfigError, match=r"no network is loaded; set network\.model"):
                ask()
        with pytest.raises(ConfigError, match="without a network"):
            engine.configure({"search.search": "puct"})
        assert engine.config.search.search == "auto"


def vary(game: Game, chance: random.Random) -> None:
    """Play a move, mostly in turn, after taking some back or not."""
    if chance.random() < 0.3:
        game.undo(chance.randint(0, len(game.moves)))
    color = chance.choice([game.to_play] * 9 + [opponent(game.to_play)])
    game.play(chance.choice([*game.legal_points(color), PASS]), color)
    if chance.random() < 0.1:
        game.komi += 1.0


def test_many_games_are_evaluated_as_each_of_them_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than a batch holds, on two boards, which grow, are taken back, come and go."""
    monkeypatch.setattr("gtp_engine.engine.searches.BATCH_ROWS", 4)
    chance, evaluator = random.Random(1), FakeEvaluator()
    games = [Game(*((5, 5) if number % 3 else (6, 4)), rules="aga", komi=0.5) for number in range(13)]
    games[1].set_up([Move(BLACK, games[1].legal_points()[0])], WHITE)
    with make(evaluator) as engine:
        for _ in range(15):
            chosen = [*chance.sample(games, chance.randint(0, len(games))), games[0], games[0]]
            for game, found in zip(chosen, engine.evaluate(chosen), strict=True):
                alone = evaluate_game(evaluator, game, game.to_play, Config(), (0,))
                points, sign = points_by_number(game.width, game.height), 1.0 if game.to_play == BLACK else -1.0
                shares = {points[int(p)].vertex: alone.policy[0, p] for p in alone.policy[0].nonzero()[0]}
                owners = {
                    each.vertex: sign * alone.ownership_black[0, each] for each in points.values() if not each.is_pass
                }
                for given, expected in ((found.policy, shares), (found.ownership, owners)):
                    assert given.keys() == expected.keys()
                    assert max(abs(given[vertex] - expected[vertex]) for vertex in expected) < 1e-5
                assert list(found.policy.values()) == sorted(found.policy.values(), reverse=True)
                winrate = (1 + sign * (alone.win_black[0] - alone.loss_black[0])) / 2
                assert (found.winrate, found.lead) == pytest.approx((winrate, sign * alone.lead_black[0]), abs=1e-5)
                assert (found.side, found.turn) == (game.to_play, len(game.moves))
            for game in games:
                vary(game, chance)
        assert engine.evaluate([]) == []
        assert engine.evaluate([Game(5)], all_orientations=True)[0].best in engine.evaluate([Game(5)])[0].policy


def test_a_game_that_could_not_be_evaluated_is_mixed_up_with_no_later_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A later game may have its `id`."""
    evaluator = FakeEvaluator()

    def prepare(width: int, height: int) -> None:
        if width == 6:
            raise ModelError("6x6")

    monkeypatch.setattr(evaluator, "prepare", prepare)
    with make(evaluator) as engine:
        for _ in range(50):
            with pytest.raises(ModelError, match="6x6"):
                engine.evaluate([Game(6)])
            assert engine.evaluate([Game(5)])[0].policy


def test_moves_are_drawn_by_their_probabilities() -> None:
    found = PositionEvaluation(side=Color.BLACK, policy={"A1": 0.8, "pass": 0.2}, winrate=0.5, lead=None)
    draws = [found.draw(random.Random(number)) for number in range(500)]
    assert found.best == "A1" and 70 < draws.count("pass") < 130
    assert {found.draw(random.Random(number), temperature=0.01) for number in range(50)} == {"A1"}
    with pytest.raises(LimitError, match="temperature 0: expected a number above 0"):
        found.draw(temperature=0)


# --- settings ---


def test_settings_change_while_the_engine_runs() -> None:
    with make(FakeEvaluator()) as engine:
        visits = engine.genmove(BLACK, play=False).report.visits
        engine.configure({"search.visits": 60, "time.ponder": "true", "play.resign": False})
        report = engine.genmove(BLACK, play=False).report
        assert (report.visits, report.playouts) == (60, 60 - visits), "the tree is kept"
        engine.configure({"puct.c_puct": 2.0})
        assert engine.genmove(BLACK, play=False).report.playouts == 60, "another search begins again"
        assert engine.config.play.resign is False


@pytest.mark.parametrize(
    ("key", "advice"), [("game.komi", "use boardsize, komi"), ("network.model", "start the engine with it")]
)
def test_the_error_for_a_fixed_setting_gives_advice(engine: Engine, key: str, advice: str) -> None:
    with pytest.raises(ConfigError, match=advice):
        engine.configure({"search.visits": 7, key: "1"})
    assert engine.config.search.visits == 24


# --- limits of KataGo's ---


@pytest.mark.parametrize(("option", "most"), [("ponder_visits", 200), ("ponder_playouts", 150), ("ponder_time", None)])
def test_pondering_has_its_own_limits(option: str, most: int | None) -> None:
    evaluator = FakeEvaluator()
    values = {f"time__{option}": most or 0.001, "time__ponder": "true", "search__visits": 50}
    with make(evaluator, **values) as engine:
        expected = engine.genmove(BLACK).report.moves[0].pv[1]
        thread = engine._background._thread
        wait_until(lambda: thread is not None and not thread.is_alive())
        engine.play(expected, WHITE)
        report = engine.genmove(BLACK, ponder=False).report  # the next pondering would count, too
        assert 0 <= report.visits - report.playouts <= (most or 50)
        assert evaluator.rows <= 50 + 50 + (most or 50) + 16


def test_a_move_after_passes_gets_less_effort() -> None:
    values = {"time__effort_after_pass": 0.5, "time__effort_after_passes": 0.25, "search__visits": 90}
    with make(FakeEvaluator(), search__playouts=80, **values) as engine:
        assert engine.genmove(BLACK, play=False).report.playouts == 80
        engine.clear_cache()
        engine.play(PASS, BLACK)
        assert engine.genmove(WHITE, play=False).report.playouts == 40
        engine.clear_cache()
        engine.play(point(engine, "D4"), WHITE)
        engine.play(PASS, BLACK)
        assert engine.genmove(WHITE, play=False).report.playouts == 20
        assert engine.search(60.0).visits == 90, "an analysis is not a move"


def test_the_time_for_a_move_after_a_pass_is_shorter_too() -> None:
    limits, budget = with_less_effort(Limits(1), Config(), 0.5), TimeBudget(4.0, 10.0, 0.5).times(0.25)
    assert (limits.visits, limits.playouts) == (1, None)
    configured = Config().with_values({"search.visits": 1000})
    assert with_less_effort(Limits(10), configured, 0.5).visits == 5, "the fewer of both limits counts"
    assert with_less_effort(Limits(4000), configured, 0.5).visits == 500
    assert budget == TimeBudget(1.0, 2.5, 0.5)
    assert TimeBudget(inf, inf).times(0.0) == TimeBudget(0.0, 0.0)
    assert TimeBudget(inf, inf).times(0.5) == TimeBudget(inf, inf)


@pytest.mark.parametrize("forgets", [False, True])
def test_a_move_may_be_searched_without_the_history(forgets: bool) -> None:
    """KataGo's `ignorePreRootHistory`; the root is evaluated as if the game began there."""
    histories: list[bool] = []
    evaluator = FakeEvaluator(model_version=15)
    evaluator.watch = lambda request: histories.append(bool((request.positions.points[: request.rows] > 0).any()))
    with make(evaluator, search__forget_history=forgets, search__visits=1) as engine:
        engine.play(point(engine, "D4"), BLACK)
        engine.genmove(WHITE, play=False)
    assert histories[0] is not forgets


@pytest.mark.parametrize("settings", [{}, {"search.seed": "7"}], ids=["none", "set"])
def test_only_searches_with_a_seed_that_was_set_repeat(settings: dict[str, str]) -> None:
    """Others share evaluations of transpositions, and take the batches that suit the machine."""
    shares: list[bool] = []
    evaluator = FakeEvaluator()
    evaluator.watch = lambda request: shares.append(request.options.shares_transpositions)
    config = Config().with_values({"game.board_size": "5", "search.visits": "30", **settings})
    made = Engine(config, evaluator=evaluator)
    made.genmove(BLACK)
    assert any(shares) == (not settings)
    shares.clear()
    made.set_seed(3)
    made.genmove(WHITE)
    assert shares and not any(shares)
    made.close()
