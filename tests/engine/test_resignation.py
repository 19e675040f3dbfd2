"""When the engine resigns, in even and in handicap games; the schedule is KataGo's, worked out by hand."""

import random
from dataclasses import replace

import numpy as np
import pytest
from board_helpers import play_moves

from gtp_engine import Config, Engine, FunctionEvaluator, Game, Guess, Move, Rules
from gtp_engine.config.katago import GTP_OPTIONS, with_katago_settings
from gtp_engine.config.sections import PlayConfig
from gtp_engine.engine.move_choice import Resignation, is_on_schedule
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.coords import board_points
from gtp_engine.go.handicap import fixed_handicap_points
from gtp_engine.search.report import RawEvaluation, SearchReport, completed

NONE = np.zeros(1, dtype=np.float32)
RAW = RawEvaluation(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, NONE, NONE)


def game_of(moves: int, *, height: int = 19, komi: float = 0.5, handicap: int = 0, placed: str = "handicap") -> Game:
    """Return a game on 19 lines of this height, of so many random moves after the handicap."""
    game = Game(19, height, rules=Rules.parse("tromp-taylor"), komi=komi)
    stones = fixed_handicap_points(handicap, 19, 19) if handicap else ()
    if placed == "handicap" and stones:
        game.set_handicap(stones)
    for stone in stones if placed == "played" else ():
        game.play(Move(BLACK, stone))
    rng, points = random.Random(1), board_points(19, height)
    for _ in range(moves):
        game.play(next(point for point in rng.sample(points, len(points)) if game.is_legal(point)))
    assert game.handicap == handicap
    return game


def report_of(
    lead_black: float, color: int, *, raw: RawEvaluation | None = RAW, ownership: float = 0.0
) -> SearchReport:
    value = 0.98 if lead_black > 0 else -0.98
    owners = np.full(21 * 20 + 1, 0.0)
    owners[list(board_points(19, 19))] = ownership
    return SearchReport(color, 100, 100, 1.0, (), 100, owners, value_black=value, lead_black=lead_black, raw=raw)


def resigns(game: Game, lead_black: float, color: int) -> bool:
    """Return whether the third lost search in a row leads to resignation."""
    resignation = Resignation(PlayConfig())
    return [resignation.is_due(game, report_of(lead_black, color)) for _ in range(3)][-1]


@pytest.mark.parametrize(("moves", "deficit"), [(74, 35.8), (60, 68.3), (20, 99.9), (100, 100.0), (200, 20.0)])
@pytest.mark.parametrize("placed", ["handicap", "played"])
def test_white_goes_on_with_a_handicap_game_that_it_will_win(moves: int, deficit: float, placed: str) -> None:
    assert not resigns(game_of(moves - moves % 2, handicap=9, placed=placed), deficit, WHITE)


@pytest.mark.parametrize(("moves", "deficit"), [(100, 160.0), (160, 80.0), (180, 60.0), (230, 30.0)])
def test_white_resigns_a_handicap_game_when_behind_schedule(moves: int, deficit: float) -> None:
    assert resigns(game_of(moves, handicap=9), deficit, WHITE)


def test_the_schedule_of_nine_stones() -> None:
    """126.5 points behind at the start; 73 moves grace, then 143.6 moves to catch up; 5 + 18.975 points of margin."""
    game = game_of(143, handicap=9)
    expected = 126.5 * (1 - 70 / 143.6) + 5 + 0.15 * 126.5
    assert is_on_schedule(game, WHITE, -expected + 0.01)
    assert not is_on_schedule(game, WHITE, -expected - 0.01)
    assert not is_on_schedule(game, BLACK, -expected + 0.01)
    assert is_on_schedule(game_of(40, handicap=9), WHITE, -300.0)
    wide = game_of(61, height=8, komi=-50.0)  # 57 points behind; 31 moves grace, then 60.2 to catch up
    expected = 57 * (1 - 30 / 60.2) + 5 + 0.15 * 57
    assert [is_on_schedule(wide, WHITE, -expected + more) for more in (0.01, -0.01)] == [True, False]


@pytest.mark.parametrize(("komi", "color"), [(-50.0, WHITE), (64.0, BLACK)])
def test_komi_may_stand_for_a_handicap(komi: float, color: int) -> None:
    sign = 1 if color == WHITE else -1
    assert not resigns(game_of(90, komi=komi), sign * 55.0, color)
    assert resigns(game_of(90, komi=komi), sign * 80.0, color)


def test_even_games_are_resigned_as_before() -> None:
    assert resigns(game_of(90, komi=7.0), 20.0, WHITE)
    assert resigns(game_of(90, komi=7.5), -3.0, BLACK)
    assert not resigns(game_of(40, komi=7.0), 20.0, WHITE)
    assert [resigns(game_of(moves, height=8, komi=7.0), 20.0, WHITE) for moves in (29, 30)] == [False, True]


def test_black_may_resign_a_handicap_game() -> None:
    assert resigns(game_of(90, handicap=9), -20.0, BLACK)


def test_a_search_by_rollouts_has_its_lead_from_ownership() -> None:
    game = game_of(180, handicap=9)
    resignation = Resignation(PlayConfig())
    bare = [report_of(0.5, WHITE, raw=None, ownership=share) for share in (0.1, 0.1, 0.1, 0.3)]
    reports = [completed(report, game) for report in bare]
    assert [resignation.is_due(game, report) for report in reports] == [False, False, False, True]


def test_a_game_that_is_set_up_anew_before_each_move_is_resigned() -> None:
    """As gtp2ogs does with a pool of engines."""
    resignation, game = Resignation(PlayConfig()), game_of(90, komi=7.0)
    due = []
    for _ in range(3):
        again = play_moves(Game(19, rules=game.rules, komi=7.0), game.moves)
        due.append(resignation.is_due(again, report_of(-20.0, BLACK)))
        for color in (BLACK, WHITE):
            game.play(Move(color, game.legal_points(color)[0]))
    assert due == [False, False, True]


@pytest.mark.parametrize(
    ("option", "before", "after"),
    [("play.resign", False, True), ("play.resign_winrate", 0.001, 0.2), ("play.resign_turns", 3, 1)],
)
def test_a_running_engine_resigns_as_it_is_configured(option: str, before: object, after: object) -> None:
    lost = FunctionEvaluator(lambda seen: Guess(np.ones(26) / 26, winrate=0.05), "lost")
    values = {"play.resign_winrate": 0.2, "play.resign_turns": 1, "play.resign_min_moves": 0.0, "search.visits": 1}
    config = Config().with_values({"game.board_size": 5, "game.komi": 7.0, **values, option: before})  # type: ignore[dict-item]
    with Engine(config, evaluator=lost) as engine:
        assert not engine.genmove(BLACK).resign
        engine.configure({option: after})  # type: ignore[dict-item]
        assert engine.genmove(BLACK).resign


def test_lost_moves_of_another_game_do_not_count() -> None:
    game = game_of(90, komi=7.0)
    shorter = game.copy()
    shorter.undo(2)
    for other in (shorter, game_of(90, komi=7.0, handicap=2), game_of(90, komi=6.0)):
        resignation = Resignation(PlayConfig())
        assert not any(resignation.is_due(game, report_of(-20.0, BLACK)) for _ in range(2))
        assert not resignation.is_due(other, report_of(-20.0, BLACK))


@pytest.mark.parametrize(("ownership", "resigned"), [(0.02, False), (-0.3, True)])
def test_without_a_networks_score_the_deficit_follows_the_ownership(ownership: float, resigned: bool) -> None:
    """With six more points of komi than is fair, Black is behind from the start."""
    game = game_of(150, komi=13.0)
    report = completed(report_of(0.0, BLACK, raw=replace(RAW, has_score=False), ownership=ownership), game)
    resignation = Resignation(PlayConfig())
    due = [resignation.is_due(game, replace(report, value_black=-0.98)) for _ in range(3)][-1]
    assert due == resigned


def test_katagos_settings_of_its_human_like_configuration() -> None:
    """ResignThreshold -0.99, resignConsecTurns 20, resignMinScoreDifference 40, resignMinMovesPerBoardArea 0.4."""
    settings = {"resignThreshold": "-0.99", "resignConsecTurns": "20"}
    settings |= {"resignMinScoreDifference": "40", "resignMinMovesPerBoardArea": "0.4"}
    config = with_katago_settings(Config(), settings, GTP_OPTIONS)[0].play

    def lost_moves(value: float, lead: float, moves: int = 144) -> int | None:
        """Return after how many lost moves Black resigns."""
        resignation, game = Resignation(config), game_of(moves, komi=7.0)
        report = replace(report_of(lead, BLACK), value_black=value)
        return next((count for count in range(1, 30) if resignation.is_due(game, report)), None)

    assert lost_moves(-0.991, -40.0) == 20
    assert lost_moves(-0.989, -40.0) is None
    assert lost_moves(-0.991, -39.9) is None
    assert lost_moves(-0.991, -40.0, moves=143) is None, "0.4 x 361, in whole moves"


def test_the_winrates_of_another_game_are_not_this_ones() -> None:
    resignation, game = Resignation(PlayConfig()), game_of(30, komi=7.0)
    resignation.is_due(game, report_of(20.0, BLACK))
    assert resignation.winrates(game, BLACK) == pytest.approx([0.99])
    assert not resignation.winrates(game, WHITE)
    assert not resignation.winrates(game_of(20, komi=7.0), BLACK)
