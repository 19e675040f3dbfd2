"""The engine's interface: set-up, legal and sensible moves, passing, resigning, scores, time."""

import threading
import time
from collections.abc import Iterator
from unittest.mock import Mock

import pytest
from busy_machine import require_once
from engine_positions import NEUTRAL, only, point, set_up
from fake_evaluators import FakeEvaluator, fake_shipped
from puct_support import visits_of
from superko_games import game_with_superko

from gtp_engine.base.errors import ConfigError, IllegalMoveError, KomiError, SgfError
from gtp_engine.config import Config
from gtp_engine.engine import Engine
from gtp_engine.engine.kernels import KernelLoader
from gtp_engine.engine.time_manager import TimeBudget
from gtp_engine.evaluation.from_game import conditions_of
from gtp_engine.go.clock import TimeSettings
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import Move
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules

SETTLED = """
    . X X O .
    . X O O .
    . X X O .
    . X O O .
    . X X O .
"""
"""Each side has one open column of territory."""


def make(**values: object) -> Engine:
    defaults = {"game.board_size": 9, "search.visits": 300, "search.seed": 5, "search.threads": 1}
    texts = {key.replace("__", "."): str(value) for key, value in values.items()}
    return Engine(Config().with_values({key: str(value) for key, value in (defaults | texts).items()}), evaluator=None)


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = make()
    yield made
    made.close()


# --- set-up ---


@pytest.mark.parametrize(
    ("steps", "komi"),
    [
        ("boardsize 9", 7),
        ("boardsize 19", 7.5),
        ("boardsize 9 13", 7.5),
        ("rules japanese", 6.5),
        ("rules japanese, boardsize 19, boardsize 9", 6.5),
        ("boardsize 19, rules button, boardsize 9", 7),
        ("boardsize 19, rules japanese, boardsize 9, rules aga", 7),
        ("komi 7.5, boardsize 9", 7.5),
        ("boardsize 19, komi 5.5, boardsize 9, rules japanese, rules aga", 5.5),
        ("rules japanese, komi 3.75, boardsize 13 7", 3.75),
    ],
)
def test_the_komi_follows_rules_and_board_until_it_is_set(engine: Engine, steps: str, komi: float) -> None:
    engine.play("E5", BLACK)
    for step in steps.split(", "):
        name, *words = step.split()
        match name:
            case "boardsize":
                before = engine.game.rules
                engine.set_board_size(*map(int, words))
                game = engine.game
                assert (game.width, game.height, game.rules) == (int(words[0]), int(words[-1]), before)
                assert game.moves == ()
            case "rules":
                engine.set_rules("aga-button" if words == ["button"] else words[0])
            case _:
                engine.set_komi(float(words[0]))
    assert engine.game.komi == komi


@pytest.mark.parametrize(
    ("values", "komi", "lines"),
    [({}, 7, 1), ({"game__komi": 7}, 7, 0), ({"game__komi": 0}, 0, 0), ({"game__rules": "japanese"}, 6.5, 0)],
)
def test_a_komi_that_nothing_has_set_is_logged_once(values: dict[str, object], komi: float, lines: int) -> None:
    logged: list[str] = []
    with Engine(make(search__visits=1, **values).config, evaluator=None, log=logged.append) as engine:
        assert engine.game.komi == komi
        for _ in range(2):
            engine.genmove()
    assert [line for line in logged if "omi" in line] == lines * [
        "Komi is 7 on 9x9, where White wins with 7.5; --komi and GTP's komi set another."
    ]


# --- playing ---


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("moves", "reason"),
    [
        ("A2 A1 B2 J9 C1", "B1 is suicide"),
        ("B2 C2 A1 D1 C1 B1", "C1 retakes a ko"),
        ("", "repeats an earlier position"),
    ],
)
def test_what_records_contain_is_tolerated_unless_strict(strict: bool, moves: str, reason: str) -> None:
    game, banned = game_with_superko("tromp-taylor")
    illegal = game.vertex(banned[0])
    if moves:
        illegal, game = reason.split()[0], Game(9)
        for move in moves.split():
            game.play(move)
    warnings: list[str] = []
    config = Config().with_values({"game.strict": strict, "game.rules": game.rules.preset_name()})
    with Engine(config, log=warnings.append, evaluator=None) as engine:
        engine.set_board_size(game.width)
        engine.play_sequence(game.moves)
        if strict:
            with pytest.raises(IllegalMoveError, match=reason):
                engine.play(illegal, game.to_play)
        else:
            engine.play(illegal, game.to_play)
            assert reason in warnings[-1]
        assert len(engine.game.moves) == len(game.moves) + (not strict)


def test_a_sequence_with_an_illegal_move_is_not_played_at_all(engine: Engine) -> None:
    e5 = point(engine, "E5")
    with pytest.raises(IllegalMoveError):
        engine.play_sequence([Move(BLACK, point(engine, "D4")), Move(WHITE, e5), Move(BLACK, e5)])
    assert engine.game.moves == ()


@pytest.mark.parametrize("rules", ["chinese", "japanese", "tromp-taylor", "aga-button", "new-zealand"])
def test_it_plays_whole_games_by_the_rules(rules: str) -> None:
    with make(search__visits=20, play__resign=False) as engine:
        engine.set_rules(Rules.parse(rules))
        engine.set_board_size(5, 4)
        for _ in range(3 * 5 * 4):
            color = engine.game.to_play
            before = engine.game.copy()
            choice = engine.genmove(color)
            assert before.illegal_reason(choice.point, color) is None
            if engine.game.is_over:
                break
        assert engine.game.is_over
        dead = [stone for group in engine.groups_by_status("dead") for stone in group]
        assert engine.score().margin_black == engine.game.score(dead).margin_black


# --- passing ---


@pytest.mark.parametrize("color", [BLACK, WHITE], ids=["black", "white"])
def test_it_does_not_fill_its_territory_while_neutral_points_are_left(engine: Engine, color: int) -> None:
    set_up(engine, NEUTRAL, color)
    assert engine.genmove(color).point == point(engine, "D4")
    assert engine.genmove(3 - color).point == PASS


# --- results ---


def test_an_estimate_is_not_taken_for_another_game_with_the_same_stones(engine: Engine) -> None:
    """The estimate was kept by the number of moves, so that it was the same after two passes and without them."""
    engine.set_board_size(5)
    middle = point(engine, "C3")
    found = []
    for moves in ((middle, PASS, PASS), (PASS, PASS, middle)):
        engine.play_sequence(Move(color, move) for color, move in zip((BLACK, WHITE, BLACK), moves, strict=True))
        found += [engine.outcome(), engine.outcome()]
        engine.undo(3)
    assert found[0] is found[1] is not found[2] is found[3]


# --- records ---


def test_a_record_that_cannot_be_read_leaves_the_game_as_it_was(engine: Engine) -> None:
    engine.play(point(engine, "E5"), BLACK)
    before = engine.game.copy()
    with pytest.raises(SgfError):
        engine.load_sgf(b"not a record")
    assert engine.game == before and engine.to_sgf() == before.to_sgf()


# --- time ---


def test_a_move_takes_no_longer_than_the_time_for_it() -> None:
    """Also where the clock has run out."""
    with make(search__visits=0, time__time_per_move=0.3) as engine:
        require_once(lambda: seconds_for_a_move(engine), below=1.0)  # budgets to the millisecond: on a fake clock
        engine.set_time_settings(TimeSettings.absolute(10.0))
        engine.set_time_left(BLACK, 0.0, 0)
        require_once(lambda: seconds_for_a_move(engine), below=1.0)


def seconds_for_a_move(engine: Engine) -> float:
    start = time.perf_counter()
    assert engine.genmove(BLACK, play=False).point is not None
    return time.perf_counter() - start


@pytest.mark.parametrize(
    ("settings", "is_compiling", "waits"),
    [
        (TimeSettings.byoyomi(0.0, 1.0, 1), False, 1),
        (TimeSettings.none(), False, 0),
        (TimeSettings.absolute(60.0), True, 0),
    ],
    ids=["clock", "no clock", "first start"],
)
def test_kernels_are_loaded_before_a_clock_runs(settings: TimeSettings, is_compiling: bool, waits: int) -> None:
    engine, loader = make(), Mock(is_compiling=is_compiling)
    engine.kernels.loader = loader
    engine.set_time_settings(settings)
    assert loader.wait.call_count == waits
    engine.close()


@pytest.mark.parametrize(
    ("values", "is_compiling", "ponders"),
    [
        ({"time.ponder": True}, False, True),
        ({}, False, False),
        ({"time.ponder": True}, True, False),  # an interpreted search held up the next move for seconds
        ({"time.ponder": True, "play.level": "8k"}, False, False),
    ],
    ids=["on", "off", "first start", "level"],
)
def test_when_it_ponders(values: dict[str, object], is_compiling: bool, ponders: bool) -> None:
    config = Config().with_values({"game.board_size": 7, "search.visits": 8, **values})
    loader = KernelLoader("network", print)
    loader.is_compiling = is_compiling
    with Engine(config, evaluator=FakeEvaluator(), load_shipped=fake_shipped) as engine:
        engine.kernels.loader = loader if is_compiling else None
        engine.genmove(BLACK)
        assert ("background search" in [thread.name for thread in threading.enumerate()]) == ponders


def test_moves_on_time_leave_more_of_a_short_period(engine: Engine) -> None:
    engine.genmove(BLACK)  # without a clock, none is late
    engine.set_time_settings(TimeSettings.canadian(0, 1, 1))
    assert engine.time_for_move(BLACK)[1] == TimeBudget(0.5, 0.5, 0.5, is_saved=False)
    engine.genmove(BLACK)
    clock, allowed = engine.time_for_move(BLACK)
    assert clock.lateness is not None
    assert allowed.lag == pytest.approx(min(0.5, 0.125 + clock.lateness))
    assert engine.time_for_move(WHITE)[1].lag == 0.5


# --- defaults that follow others ---


def test_a_seed_outlives_settings_that_need_new_searches(engine: Engine) -> None:
    engine.set_seed(7)
    engine.configure({"search.exploration_uct": 1.1})
    first = engine.genmove(BLACK, play=False).report
    engine.set_seed(7)
    second = engine.genmove(BLACK, play=False).report
    assert visits_of(first) == visits_of(second) and engine.seed == 7


def test_seed_and_drift_may_be_set_as_options(engine: Engine) -> None:
    engine.configure({"search.seed": 11})
    assert engine.seed == 11
    engine.configure({"search.seed": None})
    assert engine.seed != 11
    engine.set_time_settings(TimeSettings.absolute(100.0))
    engine.configure({"time.drift": 5.0})
    engine.genmove(BLACK)
    assert engine._clocks[BLACK].left.main <= 95.0


def test_values_of_a_record_that_are_ignored_or_guessed_are_logged() -> None:
    lines: list[str] = []
    with Engine(Config(), lines.append, evaluator=None) as engine:
        engine.load_sgf("(;SZ[9]KM[six]RU[House]HA[2];W[ee])")
        assert lines == [
            "the record: rules 'House' are unknown and were ignored",
            "the record: handicap 2 without stones: the fixed points were assumed",
            "the record: komi 'six' is not a number and was ignored",
        ]


@pytest.mark.parametrize(("given", "komi"), [(None, 6.5), (5.5, 5.5)])
def test_a_record_with_rules_and_no_komi_has_their_komi_unless_one_was_set(given: float | None, komi: float) -> None:
    with make() as engine:
        if given is not None:
            engine.set_komi(given)
        engine.load_sgf("(;SZ[9]RU[Japanese];B[ee];W[cc])")
        assert engine.game.komi == komi
        for own in (4.5, 0):
            engine.load_sgf(f"(;SZ[9]KM[{own}])")
            engine.set_rules(Rules.parse("japanese"))
            assert engine.game.komi == own, "that of a record survives a change of rules"


def test_a_record_leaves_nothing_of_its_own_to_the_next_one() -> None:
    """The score of a record depended on which was loaded before."""
    first = "(;SZ[9]HA[2]KM[0]RU[AGA]AB[cc][gg];W[ee])"
    with make(game__komi=5.5, game__rules="japanese") as engine:
        engine.load_sgf(first)
        engine.load_sgf("(;SZ[9];B[ee];W[cc])")
        assert (engine.game.komi, engine.game.rules.preset_name()) == (5.5, "japanese")
    with make(game__rules="japanese") as engine:
        for text, komi in [("(;SZ[9];B[ee])", 6.5), ("(;SZ[9]HA[2]AB[cc][gg];W[ee])", 0.5)]:
            engine.load_sgf(first)
            engine.load_sgf(text)
            assert engine.game.komi == komi
        engine.set_rules("chinese")
        engine.load_sgf(first)
        engine.load_sgf("(;SZ[9];B[ee])")
        assert (engine.game.komi, engine.game.rules.preset_name()) == (7.5, "chinese")


def test_moves_that_are_refused_leave_the_side_to_play_as_it_was_set() -> None:
    with make() as engine:
        engine.load_sgf("(;SZ[9];B[aa];B[bb];W[cc])", 2)
        before = engine.game.copy()
        assert before.to_play == BLACK, "the second move is Black's"
        with pytest.raises(IllegalMoveError):
            engine.play_sequence([Move(WHITE, point(engine, "C3")), Move(BLACK, point(engine, "A9"))])
        assert (engine.game, engine.game.to_play) == (before, BLACK)
        engine.undo(0)
        assert (engine.game, engine.game.to_play) == (before, BLACK)


def test_an_option_of_a_running_engine_may_be_set_to_what_it_is() -> None:
    with make() as engine:
        engine.configure({"play.book": engine.config.value("play.book"), "search.visits": 7})
        assert engine.config.search.visits == 7
        with pytest.raises(ConfigError, match=r"option play\.book of a running engine"):
            engine.configure({"play.book": "other.book"})


def test_a_pass_that_was_left_out_is_not_played(engine: Engine) -> None:
    engine.set_board_size(5)
    set_up(engine, SETTLED, BLACK)
    assert engine.genmove(BLACK, play=False).point == PASS
    for allowed in ({"A1", "A2"}, {"A3"}):
        points = {point(engine, vertex) for vertex in allowed}
        assert engine.genmove(BLACK, play=False, request=only(engine, points)).point in points


@pytest.mark.parametrize("komi", [7, 0])
def test_a_komi_that_is_forced_is_that_of_every_game(komi: int) -> None:
    """KataGo's `ignoreGTPAndForceKomi`."""
    lines: list[str] = []
    config = Config().with_values({"game.board_size": 9, "game.komi": 5.5, "game.forced_komi": str(komi)})
    with Engine(config, lines.append, evaluator=None) as engine:
        assert engine.game.komi == komi
        engine.set_komi(0.5)
        engine.set_rules(Rules.parse("japanese"))
        assert engine.game.komi == komi
        assert lines == [f"komi 0.5 is ignored: game.forced_komi is {komi}"]
        engine.load_sgf("(;SZ[9]KM[6.5]RU[Japanese];B[ee];W[cc])")
        assert engine.game.komi == komi
        with pytest.raises(KomiError):
            engine.set_komi(float("nan"))


@pytest.mark.parametrize(("counts", "handicap", "komi"), [("true", 2, 9.0), ("false", 0, 7.0)])
def test_first_moves_count_as_handicap_unless_configured_otherwise(counts: str, handicap: int, komi: float) -> None:
    """KataGo's `assumeMultipleStartingBlackMovesAreHandicap`; Chinese rules give White a point for each stone."""
    with make(game__handicap_by_moves=counts, game__komi=7) as engine:
        for start in (lambda: None, engine.clear_board):
            start()
            engine.play_sequence([Move(BLACK, point(engine, "C3")), Move(BLACK, point(engine, "G7"))])
            for game in (engine.game, engine.game.copy()):
                assert game.handicap == handicap
                assert conditions_of(game).komi == komi
