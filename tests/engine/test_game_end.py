"""Ends of games: when to pass, which stones are dead, who has won, under all rule sets and in seki."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from board_helpers import play_moves
from engine_positions import DEAD_STONE, FINISHED, SEKI_DIAGRAM, set_up
from knowing_evaluator import KnowingEvaluator
from puct_support import game_from

from gtp_engine import Config, Engine, Game, IllegalMoveError, Move, parse_vertex
from gtp_engine.engine import SEKI
from gtp_engine.engine.decision import Decision
from gtp_engine.engine.ending import Confirm, Ending
from gtp_engine.engine.final_score import status_map
from gtp_engine.engine.game_end import Ownership, _misfit, estimate_status
from gtp_engine.engine.searches import NETWORK_THRESHOLDS, ROLLOUT_THRESHOLDS, Thresholds
from gtp_engine.go.constants import BLACK, PASS, WHITE, opponent
from gtp_engine.go.coords import board_points
from gtp_engine.go.rules import PRESETS
from gtp_engine.search.report import MoveReport, RawEvaluation, SearchReport


def make(rules: str, komi: float, evaluator: KnowingEvaluator | None = None, **values: str) -> Engine:
    config = {"search.visits": "600", "search.seed": "5", "search.threads": "1", "game.rules": rules}
    return Engine(Config().with_values({**config, "game.komi": str(komi), **values}), evaluator=evaluator)


def same_for_both(report: SearchReport) -> Confirm:
    """Return searches that find for either side what the first one has found."""
    return lambda color: replace(report, to_play=color)


def report_of(
    game: Game,
    moves: Mapping[str, int],
    value_black: float,
    ownership_black: Ownership,
    *,
    to_play: int = WHITE,
    visits: int = 50,
) -> SearchReport:
    """Return the report of a search that found these moves with their visits, the best first, all of one value."""
    found = [MoveReport(game.point(at), count, value_black, value_black=value_black) for at, count in moves.items()]
    return SearchReport(
        to_play=to_play, visits=visits, playouts=visits, seconds=0.1, value_black=value_black, moves=tuple(found),
        ownership_samples=visits, ownership_black=ownership_black,
    )  # fmt: skip


def by_column(game: Game, owner: Callable[[int], float]) -> Ownership:
    """Return an ownership that is the same in all rows."""
    ownership = np.zeros(game.board.color.size)
    for number, point in enumerate(board_points(game.width, game.height)):
        ownership[point] = owner(number % game.width)
    return ownership


def chosen_by(
    game: Game,
    report: SearchReport,
    thresholds: Thresholds = NETWORK_THRESHOLDS,
    *,
    confirm: Confirm | None = None,
    again: Confirm = lambda color: None,
) -> str:
    """Return the vertex of the move that is chosen after a search, which finds the same for either side."""
    ending = Ending(game, report, thresholds, confirm or same_for_both(report), again)
    return game.vertex(Decision(ending).move())


@pytest.mark.parametrize(("komi", "color", "points", "is_certain"), [
    (0.5, BLACK, 5, True), (0.5, BLACK, 4, False), (1.0, BLACK, 5, False), (-1.5, BLACK, 4, True),
    (0.5, WHITE, 4, False), (1.0, WHITE, 4, False), (1.5, WHITE, 4, True), (-1.5, WHITE, 5, False),
])  # fmt: skip
def test_a_win_is_certain_if_every_undecided_point_may_be_lost(
    komi: float, color: int, points: int, is_certain: bool
) -> None:
    """On 3x3, five points are one more than the other four."""
    game = Game(3, komi=komi)
    status = estimate_status(game, np.zeros(game.board.color.size))
    status.decided[list(board_points(3, 3))[:points]] = color
    assert status.is_certain_win(game, color) == is_certain


@pytest.mark.parametrize(("diagram", "ownership", "white_is_dead", "expected"), [
    ("X . O\nX . O", 0.0, False, 4.0),  # the neutral points fit, each stone is one off
    ("X . O\nX . O", 1.0, False, 2 * 1.0 + 2 * 2.0),
    ("X . O\nX . O", 1.0, True, 0.0),  # all is Black's
    ("X . O\nX . O", -0.5, True, 6 * 1.5),
    ("X . . . O\nX . . . O", 0.0, False, 4 * 1.0 + 6 * 1.0),  # as bad as an unknown owner
    ("X . . . O\nX . . . O", 0.5, False, 2 * 0.5 + 2 * 1.5 + 6 * 0.5 + 6 * 0.5),
])  # fmt: skip
def test_how_much_an_ownership_differs_from_the_owners(
    diagram: str, ownership: float, white_is_dead: bool, expected: float
) -> None:
    game = game_from(diagram)
    dead = frozenset(np.flatnonzero(game.board.color == WHITE).tolist() if white_is_dead else ())
    assert _misfit(game, dead, np.full(game.board.color.size, ownership)) == pytest.approx(expected)


@pytest.mark.parametrize(("row", "is_owned"), [(". X . .", False), (". O . .", False), (". X O .", True)])
def test_stones_of_one_color_alone_own_nothing(row: str, is_owned: bool) -> None:
    game = game_from(f"{row}\n{row}")
    owners = estimate_status(game, np.zeros(game.board.color.size)).owners
    assert bool(owners[parse_vertex("A1", width=4, height=2)]) == is_owned


@pytest.fixture(params=["rave", "uct"])
def seki(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with make("chinese", 0.5, **{"search.search": request.param}) as engine:
        set_up(engine, SEKI_DIAGRAM, BLACK)
        yield engine


@pytest.mark.parametrize("komi", [-2.5, 0.5, 2.5])
def test_a_seki_is_left_alone(seki: Engine, komi: float) -> None:
    seki.set_komi(komi)
    for color in (BLACK, WHITE):
        stones = seki.game.hash
        assert seki.genmove(color).point == PASS
        assert seki.game.hash == stones


def test_stones_in_seki_are_reported_as_such(seki: Engine) -> None:
    statuses = status_map(seki.game, dead=())
    in_seki = {point for point, status in statuses.items() if status == SEKI}
    middle = ["F2", "F1", "G1", "H1", "H2", "J1", "K2", "K1", "L1", "M1", "M2"]
    assert in_seki == {parse_vertex(vertex, width=17, height=2) for vertex in middle}
    assert statuses[parse_vertex("J2", width=17, height=2)] == "dame"


@pytest.mark.parametrize("has_network", [False, True], ids=["rollouts", "network"])
@pytest.mark.parametrize("rules", PRESETS)
def test_a_finished_game_ends_for_either_winner_and_when_drawn(rules: str, has_network: bool) -> None:
    """At little cost: a slow network makes ten evaluations a second."""
    for balance in [-0.5, 0.0, 0.5]:
        for color in [BLACK, WHITE]:
            evaluator = KnowingEvaluator()
            visits = {"search.visits": "24" if has_network else "200"}
            with make(rules, 0.0, evaluator if has_network else None, **visits) as engine:
                set_up(engine, FINISHED, color)
                engine.set_komi(engine.game.score().margin_black + balance)
                assert abs(engine.game.score().margin_black) == abs(balance)
                for to_play in (color, opponent(color), color):  # the third pass, where the first took the button
                    before = evaluator.rows
                    assert engine.genmove(to_play).point == PASS
                    assert evaluator.rows - before <= 24 + 2 * 8
                assert engine.game.is_over


@pytest.mark.parametrize(("komi", "stones"), [(-60.0, 0), (60.0, 0), (0.5, 9)])
@pytest.mark.parametrize("rules", ["chinese", "japanese"])
def test_no_pass_at_the_start_even_with_a_lopsided_komi_or_a_handicap(rules: str, komi: float, stones: int) -> None:
    with make(rules, komi, **{"game.board_size": "9"}) as engine:
        if stones:
            engine.free_handicap(stones)
        assert engine.genmove(engine.game.to_play).point != PASS


TWO_WALLS = 9 * ". . . . X O . . .\n"
"""Fewer stones than people stop with."""


@pytest.mark.parametrize(("rules", "has_passed", "owned", "is_over"), [
    ("japanese", True, 1.0, True),
    ("japanese", False, 1.0, False),
    ("japanese", True, 0.7, False),  # not decided: in a lost position a pass may look as good as any move
    ("chinese", True, 1.0, False),  # another move costs nothing
])  # fmt: skip
def test_a_pass_is_answered_early_where_all_is_settled_and_moves_cost_points(
    rules: str, has_passed: bool, owned: float, is_over: bool
) -> None:
    game = game_from(TWO_WALLS, WHITE if has_passed else BLACK, rules)
    if has_passed:
        game.play(PASS)
    ownership = by_column(game, lambda column: owned if column < 5 else -owned)
    report = report_of(game, {"pass": 60, "B7": 40}, 0.98, ownership, to_play=BLACK, visits=100)
    assert chosen_by(game, report, ROLLOUT_THRESHOLDS) == ("pass" if is_over else "B7")


@pytest.mark.parametrize(("rules", "balance", "answers"), [
    ("tromp-taylor", -0.5, ("A6", "B7")),  # lost unless the dead stone is taken
    ("tromp-taylor", 0.5, ("A6", "B7")),  # won in any case
    ("tromp-taylor", -4.5, ("A6", "B7")),  # lost in any case
    ("chinese", -0.5, ("pass",)),
])  # fmt: skip
def test_no_pass_while_dead_stones_are_left_that_count(rules: str, balance: float, answers: Sequence[str]) -> None:
    """An opponent who passed won: moves that change nothing seemed best, a pass second, and the captures came after."""
    game = game_from(DEAD_STONE, BLACK, rules, 0.0)
    game.komi = game.score().margin_black - balance
    ownership = np.where(game.board.color == BLACK, 0.95, -0.95)
    ownership[[game.point(vertex) for vertex in ("A7", "A6", "B7", "B4", "A2")]] = 0.95
    report = report_of(game, {"B4": 9, "pass": 7, "A6": 4}, -0.2, ownership, to_play=BLACK, visits=20)
    assert chosen_by(game, report) in answers


def test_asking_twice_gives_a_move_twice() -> None:
    """The second search finds all its visits in the tree already and must not rely on the one playout it adds."""
    with make("japanese", -30.5, **{"game.board_size": "9", "search.visits": "400"}) as engine:
        for vertex in ("E5", "C3", "G7", "C7", "G3", "E3"):
            engine.play(parse_vertex(vertex, width=9, height=9), engine.game.to_play)
        assert PASS not in [engine.genmove(BLACK, play=False).point for _ in range(4)]


def test_territory_games_are_searched_with_the_stones_placed_in_mind() -> None:
    """Area counts every stone on the board; by territory Black's extra stones are worth nothing."""
    for rules, winner in (("chinese", BLACK), ("japanese", WHITE)):
        with make(rules, 0.0) as engine:
            set_up(engine, FINISHED, BLACK)
            engine.set_komi(4.5)
            assert (engine.game.score().winner == winner) is True
            report = engine.genmove(BLACK, play=False).report
            assert (report.winrate > 0.9) is (winner == BLACK)
            assert (report.winrate < 0.1) is (winner == WHITE)


def test_a_resignation_is_the_result_in_the_record() -> None:
    with make("chinese", 7.5, **{"game.board_size": "5", "play.resign_turns": "1"}) as engine:
        for vertex in ("A2", "B2", "C2", "D2", "E2", "A4", "B4", "C4", "D4", "E4"):
            engine.play(parse_vertex(vertex, width=5, height=5), WHITE)
        assert "RE[" not in engine.to_sgf()
        assert engine.genmove(BLACK).resign
        assert "RE[W+R]" in engine.to_sgf()
        engine.undo()
        assert "RE[" not in engine.to_sgf()
        assert engine.genmove(BLACK).resign
        moves = [Move(WHITE, PASS), Move(BLACK, parse_vertex("A2", width=5, height=5))]
        with pytest.raises(IllegalMoveError):
            engine.play_sequence(moves)
        assert "RE[W+R]" in engine.to_sgf()
        engine.genmove(WHITE)  # a controller that plays on all the same
        assert "RE[" not in engine.to_sgf()


NEUTRAL = """
    . X O .
    X X O .
    . X O O
    X X . .
"""
"""C1 and D1 are neutral points."""


@pytest.mark.parametrize(("rules", "loss", "filled"), [
    ("chinese", 0.05, "C1"), ("chinese", 0.5, "D1"), ("japanese", 0.05, "D1")
])  # fmt: skip
def test_neutral_points_are_compared_with_the_best_move_where_another_was_drawn(
    rules: str, loss: float, filled: str
) -> None:
    """The move drawn by a temperature comes first in a report, and was taken for the best one."""
    game = game_from(NEUTRAL, WHITE, rules)
    drawn, best = (
        MoveReport(game.point(vertex), visits, value, value_black=value, selection_weight=visits)
        for vertex, visits, value in (("C1", 10, loss - 0.9), ("D1", 90, -0.9))
    )
    status = estimate_status(game, np.zeros(game.board.color.size))
    assert {drawn.point, best.point} <= set(status.neutral)
    report = report_of(game, {}, 0.0, status.ownership_black)
    decision = Decision(Ending(game, report, NETWORK_THRESHOLDS, same_for_both(report)), fill_dame=True)
    assert decision.neutral_point([drawn, best], status) == game.point(filled)


PASSED_TOO_EARLY = (
    "(;FF[4]GM[1]SZ[9]KM[7]RU[Chinese];B[ge];W[ee];B[dd];W[de];B[ed];W[ce];B[cd];W[eg];B[gg];W[bd];B[bc];W[be];B[fd];"
    "W[ac];B[bb];W[fh];B[gh];W[gi];B[hh];W[hi];B[ff];W[ab];B[ef];W[bg];B[df];W[dg];B[gb];W[cf];B[cc];W[fg];B[ih];W[fe];"
    "B[gf];W[ba];B[ca];W[fi];B[hc];W[ii];B[gd];W[ad];B[aa];W[])"
)
"""From a game against GNU Go: the engine passed here, with a ko for four points open in the corner."""


@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_it_does_not_pass_with_a_ko_open(seed: str) -> None:
    with make("chinese", 7.0, **{"search.seed": seed, "search.visits": "4000"}) as engine:
        engine.load_sgf(PASSED_TOO_EARLY)
        assert engine.genmove(BLACK, play=False).point != PASS


THREATENED = """
    X . . X O . . . .
    . X X X O . . . .
    X X . X O . . . .
    . . . X O O . . .
    . . . X O . . . .
    . . . X O . . . .
    . . . X O . . . .
"""
"""White has 35 points and Black 28, if nothing dies."""

CIRCLE = ("B7", "pass", "A6", "pass", "C7", "A7", "B7", "pass")
"""White throws in, takes A7 and fills; Black takes three and has the corner that it had before."""


@pytest.mark.parametrize(("moves", "komi", "doubtful_columns", "rules", "expected"), [
    (8, 0.5, 4, "chinese", "pass"),  # Black's side only is in doubt, and White has more than half of the board
    (6, 0.5, 4, "chinese", "J1"),  # the opponent has not passed
    (2, 0.5, 4, "chinese", "J1"),  # nothing repeats itself yet
    (8, 0.5, 5, "chinese", "J1"),
    (8, 7.5, 5, "chinese", "pass"),  # 28 points and komi
    (8, 7.5, 4, "japanese", "J1"),  # prisoners count
])  # fmt: skip
def test_a_side_that_wins_in_any_case_passes_instead_of_going_in_circles(
    moves: int, komi: float, doubtful_columns: int, rules: str, expected: str
) -> None:
    """White threw stones into Black's living corner for ever in a game against GNU Go, under rules without superko."""
    game = play_moves(game_from(THREATENED, WHITE, rules, komi), CIRCLE[:moves])
    ownership = by_column(game, lambda column: -0.9 if column >= doubtful_columns else 0.0)
    assert chosen_by(game, report_of(game, {"J1": 50}, -0.98, ownership), ROLLOUT_THRESHOLDS) == expected


@pytest.mark.parametrize(("rules", "moves", "expected"), [
    ("chinese", ["pass", "C1"], "C1"),
    ("chinese", ["pass"], "pass"),
    ("japanese", ["pass", "C1"], "pass"),
])  # fmt: skip
def test_only_a_neutral_point_is_played_instead_of_a_pass_that_is_the_best_move(
    rules: str, moves: list[str], expected: str
) -> None:
    game = game_from(NEUTRAL, WHITE, rules)
    ownership = np.select([game.board.color == BLACK, game.board.color == WHITE], [0.95, -0.95], 0.0)
    ownership[[game.point("D4"), game.point("D3")]] = -0.95
    assert chosen_by(game, report_of(game, dict.fromkeys(moves, 50), 0.98, ownership)) == expected


LAST_NEUTRAL = """
    . X O . .
    X X O O .
    . X X O .
    . X . O .
"""
"""Black has 9 points and White 10, C1 is neutral."""


def found_at_the_end(game: Game, color: int, winrates: Sequence[float], owner_of_c1: float) -> SearchReport:
    """Return a search by which everything is decided, with these winrates of `color` by E4 and by a pass."""
    values = [(2 * winrate - 1) * (1 if color == BLACK else -1) for winrate in winrates]
    moves = tuple(
        MoveReport(game.point(vertex), visits, value, value_black=value, selection_weight=visits)
        for vertex, visits, value in zip(("E4", "pass"), (900, 100), values, strict=True)
    )
    ownership = by_column(game, lambda column: 1.0 if column < 2 else -1.0)
    ownership[game.board.color == BLACK] = 1.0
    ownership[game.point("C1")] = owner_of_c1
    return replace(report_of(game, {}, values[0], ownership, to_play=color, visits=1000), moves=moves)


def passing_first(report: SearchReport, visits: int) -> SearchReport:
    """Return the same search after fewer visits, by which the pass is the best move."""
    return replace(report, visits=visits, moves=tuple(reversed(report.moves)))


@pytest.mark.parametrize(("rules", "komi", "white_first", "black_first", "chosen"), [
    ("chinese", -1.0, (0.99, 0.4), (0.99, 0.99), "E4"),  # who fills C1 wins
    ("chinese", 0.0, (0.99, 0.4), (0.5, 0.5), "E4"),  # or draws
    ("chinese", 7.0, (0.99, 0.98), (0.01, 0.01), "pass"),
    ("chinese", 7.0, (0.99, 0.6), (0.01, 0.01), "E4"),
    ("japanese", -2.0, (0.53, 0.36), (0.5, 0.5), "E4"),  # a draw by counting, which the search wins
    ("japanese", -2.0, (0.53, 0.51), (0.5, 0.5), "pass"),
])  # fmt: skip
def test_it_does_not_pass_where_the_search_rates_the_pass_well_below_its_best_move(
    rules: str, komi: float, white_first: tuple[float, float], black_first: tuple[float, float], chosen: str
) -> None:
    """The searches for both sides agreed on dead stones and neutral points, but not on the winner."""
    game = game_from(LAST_NEUTRAL, WHITE, rules, komi)
    owners = {WHITE: -1.0, BLACK: 1.0} if rules == "chinese" else {WHITE: 0.0, BLACK: 0.0}
    reports = {
        WHITE: found_at_the_end(game, WHITE, white_first, owners[WHITE]),
        BLACK: found_at_the_end(game, BLACK, black_first, owners[BLACK]),
    }
    assert chosen_by(game, reports[WHITE], confirm=reports.__getitem__) == chosen


@pytest.mark.parametrize(("komi", "winrate", "other", "is_agreed"), [
    (7.0, 0.81, 0.01, True),  # White wins by counting
    (7.0, 0.79, 0.01, False),
    (-2.0, 0.69, 0.5, True),  # a draw
    (-2.0, 0.71, 0.5, False),
    (-2.0, 0.29, 0.5, False),
    (-9.0, 0.04, 0.99, True),  # lost
    (-9.0, 0.06, 0.99, False),
])  # fmt: skip
def test_players_stop_where_the_side_to_move_expects_what_counting_gives(
    komi: float, winrate: float, other: float, is_agreed: bool
) -> None:
    game = game_from(LAST_NEUTRAL, WHITE, "japanese", komi)
    first, second = (
        passing_first(found_at_the_end(game, color, (expected, expected), 0.0), 1000)
        for color, expected in ((WHITE, winrate), (BLACK, other))
    )
    agreed = Ending(game, first, NETWORK_THRESHOLDS, lambda color: second).agreed()
    assert (agreed is not None) == is_agreed


Leads = tuple[float] | tuple[float, float, float | None] | tuple[float, float, float | None, str]


def with_leads(
    report: SearchReport, lead: float, by_move: float = 0.0, by_pass: float | None = 0.0, few: str = ""
) -> SearchReport:
    """Return a search with these leads of White, None after a pass that was not tried; what has too `few` visits."""
    passing, move = reversed(report.moves)
    visits = 0 if by_pass is None else 99 if few == "pass" else passing.visits
    moves = (replace(passing, lead_black=-(by_pass or 0.0), visits=visits), replace(move, lead_black=-by_move))
    first = () if few in ("", "pass") else (replace(move, point=parse_vertex(few, width=5, height=4), visits=99),)
    return replace(report, lead_black=-lead, moves=(*first, *moves))


@pytest.mark.parametrize(("rules", "first", "passed_first", "longer", "passed_longer", "chosen"), [
    ("chinese", (2.2, 2.0, 2.1), (-0.1,), (2.1, 2.1, 0.1), 0.1, "E4"),  # the opponent's first move is worth two points
    ("japanese", (1.0, 2.5, 0.9), (1.1,), (2.6, 2.7, 0.6), 0.6, "E4"),  # a move that was tried seems better
    ("japanese", (1.0, 1.5, 0.9), (1.1,), (2.6, 2.7, 0.6), 0.6, "pass"),  # nothing hints at it
    ("japanese", (1.0, 2.5, 0.9), (1.1,), (1.1, 1.2, 1.0), 0.9, "pass"),  # a longer search denies it
    ("japanese", (1.0, 2.5, 0.9), (1.1,), (2.6, 2.7, 2.4), 0.6, "pass"),  # it expects as much of a pass
    ("japanese", (1.0, 2.5, 0.9), (1.1,), (2.6, 2.7, 2.4, "pass"), 0.6, "E4"),  # after too few visits
    ("japanese", (1.0, 2.5, 0.9), (1.1,), (2.6, 2.7, 0.6, "E3"), 0.6, "E4"),  # a move that is little known comes first
    ("japanese", (1.0, 2.5, None), (1.1,), (2.6, 2.7, 0.6), 0.6, "E4"),  # no pass was tried: the opponent expects less
    ("japanese", (1.0, 1.5, None), (1.1,), (2.6, 2.7, 0.6), 0.6, "pass"),
    ("japanese", (1.0, 1.5, 0.9), (1.1, -0.2, 0.9), (2.6, 2.7, 0.6), 0.6, "E4"),  # the opponent has a better move
    ("japanese", (1.0, 1.5, 0.9), (1.1, 0.2, None), (2.6, 2.7, 0.6), 0.6, "pass"),  # by less than a point
    ("chinese", (2.2, 2.0, 2.1), (-0.1,), None, 0.0, "pass"),  # no time
])  # fmt: skip
def test_no_pass_throws_points_away_where_the_game_is_decided(
    rules: str, first: Leads, passed_first: Leads, longer: Leads | None, passed_longer: float, chosen: str
) -> None:
    game = game_from(LAST_NEUTRAL, WHITE, rules, 7.0)
    report = found_at_the_end(game, WHITE, (0.99, 0.99), -1.0)
    none = np.zeros(game.board.color.size, dtype=np.float32)
    raw = RawEvaluation(0.99, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, policy=none, ownership_black=none)
    report = replace(report, raw=raw, moves=tuple(replace(move, selection_weight=0.0) for move in report.moves))
    confirmed = {
        WHITE: with_leads(replace(report, visits=16), *first),
        BLACK: with_leads(replace(report, to_play=BLACK), *passed_first),
    }
    again = {WHITE: with_leads(report, *longer), BLACK: replace(report, lead_black=-passed_longer)} if longer else {}
    assert chosen_by(game, confirmed[WHITE], confirm=confirmed.__getitem__, again=again.get) == chosen


ATTACKED = """
    . X O . .
    X X O . .
    . X O . .
    . X X O .
"""
"""Black has 3 points and White 7 by territory, 9 and 11 by area; D2 puts D1 in atari."""


@pytest.mark.parametrize(("rules", "color", "diagram", "komi", "winrate", "again", "chosen"), [
    ("chinese", WHITE, LAST_NEUTRAL, -2.0, 0.5, (0.9, 0.5), "E4"),  # a neutral point is left
    ("chinese", WHITE, LAST_NEUTRAL, -2.0, 0.5, (0.52, 0.5), "pass"),
    ("chinese", WHITE, LAST_NEUTRAL, -2.0, 0.5, None, "pass"),
    ("japanese", WHITE, LAST_NEUTRAL, -2.0, 0.5, (0.9, 0.5), "pass"),  # a draw by counting too, and nothing to attack
    ("japanese", WHITE, LAST_NEUTRAL, -1.5, 0.5, (0.9, 0.5), "E4"),  # lost by Black, by counting
    ("japanese", WHITE, ATTACKED, -4.0, 0.5, (0.9, 0.5), "E4"),  # a draw by counting
    ("japanese", BLACK, ATTACKED, -4.0, 0.5, (0.9, 0.5), "E4"),  # the attacker moves
    ("chinese", WHITE, ATTACKED, -2.0, 0.5, (0.9, 0.5), "E4"),
    ("japanese", WHITE, ATTACKED, -3.5, 0.98, (0.99, 0.6), "E4"),  # won by half a point, if the opponent has nothing
    ("japanese", WHITE, ATTACKED, -4.5, 0.02, (0.6, 0.02), "E4"),  # lost by half a point
    ("japanese", WHITE, ATTACKED, -4.5, 0.02, (0.02, 0.02), "pass"),
    ("japanese", WHITE, ATTACKED, -6.0, 0.02, (0.6, 0.02), "E4"),  # by two points
])  # fmt: skip
def test_a_pass_by_which_something_may_be_lost_is_searched_once_more(
    rules: str, color: int, diagram: str, komi: float, winrate: float, again: tuple[float, float] | None, chosen: str
) -> None:
    """Few visits did not find the move on which the game depended, such as an atari at a neutral point."""
    game = game_from(diagram, color, rules, komi)
    first = passing_first(found_at_the_end(game, color, (winrate, winrate), -1.0), 8)
    longer = None if again is None else found_at_the_end(game, color, again, -1.0)
    assert chosen_by(game, first, again=lambda color: longer) == chosen


@pytest.mark.parametrize(("komi", "winrate", "by_pass", "tried", "again", "chosen"), [
    (-2.0, 0.5, 0.28, 1, (0.9, 0.5), "E4"),  # a draw by counting
    (-1.5, 0.98, 0.28, 1, (0.99, 0.6), "E4"),  # won by half a point, if the opponent has nothing
    (-6.0, 0.02, 0.28, 1, (0.6, 0.02), "E4"),  # lost by four points
    (2.0, 0.99, 0.28, 1, (0.99, 0.6), "E4"),
    (-2.0, 0.5, 0.28, 1, (0.52, 0.5), "pass"),
    (-2.0, 0.5, 0.9, 1, (0.9, 0.5), "pass"),  # the network has no doubt
    (-2.0, 0.5, 0.28, 2, (0.9, 0.5), "pass"),  # another move was tried, and is no better
])  # fmt: skip
def test_a_pass_is_searched_once_more_if_nothing_else_was_tried_though_the_network_expects_another_move(
    komi: float, winrate: float, by_pass: float, tried: int, again: tuple[float, float], chosen: str
) -> None:
    """On 7x7 eight visits looked at nothing but a pass, and drew a game that a move wins by 13 points."""
    game = game_from(LAST_NEUTRAL, WHITE, "japanese", komi)
    longer = found_at_the_end(game, WHITE, again, 0.0)
    policy = np.zeros(game.board.color.size, dtype=np.float32)
    policy[PASS] = by_pass
    raw = RawEvaluation(0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, policy=policy, ownership_black=policy)
    first = passing_first(found_at_the_end(game, WHITE, (winrate, winrate), 0.0), 8)
    first = replace(first, raw=raw, moves=first.moves[:tried])
    assert first.best_point == PASS and estimate_status(game, first.ownership_black).is_decided
    assert chosen_by(game, first, again=lambda color: longer) == chosen


TWO_KOS = """
    . X O .
    X O . O
    . X O .
    . . . .
    . X O .
    X . X O
    . X O .
"""
"""Black can take B6 and White C2."""

FOUGHT = ("pass", "B2", "C6", "pass", "C2", "B6", "pass")
"""Each side takes a ko, passes, and takes the other one back; then Black passes as it did at first."""


@pytest.mark.parametrize(("rules", "first", "vertex", "chosen"), [
    ("japanese", 0, "B2", "pass"),
    ("chinese", 0, "B2", "pass"),
    ("japanese", 0, "D4", "D4"),  # another move
    ("japanese", 1, "B2", "B2"),  # Black has not passed here before
])  # fmt: skip
def test_two_kos_are_not_fought_for_ever_with_passes_between(rules: str, first: int, vertex: str, chosen: str) -> None:
    game = game_from(TWO_KOS, BLACK, rules)
    for number, played in enumerate(FOUGHT):
        game.play("A4" if number < first else played, tolerant=True)
    assert chosen_by(game, report_of(game, {vertex: 50}, 0.0, np.zeros(game.board.color.size))) == chosen


@pytest.mark.parametrize(("again", "chosen"), [((0.9, 0.5), "E4"), ((0.52, 0.5), "pass"), (None, "pass")])
def test_a_pass_is_searched_once_more_if_a_move_with_fewer_visits_seems_better(
    again: tuple[float, float] | None, chosen: str
) -> None:
    """On 9x9 four visits passed, two of them at a winrate of 0.16, and lost 23 points: one visit at H1 gave 0.73."""
    game = game_from(LAST_NEUTRAL, WHITE, "japanese", -2.0)
    first = passing_first(found_at_the_end(game, WHITE, (0.73, 0.5), -1.0), 4)
    passing, better = first.moves
    first = replace(first, moves=(replace(passing, selection_weight=2.0), replace(better, selection_weight=1.0)))
    assert first.best_point == PASS
    longer = None if again is None else found_at_the_end(game, WHITE, again, -1.0)
    assert chosen_by(game, first, again=lambda color: longer) == chosen


HIDDEN_RACE = """
(;SZ[9]KM[-18.5]RU[Japanese];B[de];W[cc];B[fc];W[ed];B[dd];W[ec];B[ee];W[fd];B[dc];W[db];B[eb];W[fb];B[fe];W[ea]
;B[be];W[gg];B[ge];W[eg];B[dh];W[dg];B[ch];W[eh];B[hg];W[hh];B[hf];W[cg];B[bg];W[bf];B[bh];W[cf];B[af];W[ce];B[c
d];W[bd];B[bc];W[ae];B[gc];W[gb];B[cb];W[hc];B[gd];W[eb];B[hd];W[hb];B[ih];W[gh];B[gf];W[ag];B[ac];W[ig];B[ad];W
[ii];B[be];W[af];B[fg];W[fh];B[if];W[ih];B[ca];W[ic];B[ff];W[id];B[bd];W[ie];B[da];W[df];B[he];W[ef];B[ah];W[di]
;B[ei];W[bi];B[ci];W[fi])
"""
"""Black wins a race by H1, to which neither the network nor 400 visits give much."""


def test_a_pass_by_which_a_game_may_be_lost_is_searched_as_far_as_a_race_needs() -> None:
    config = Config().with_values({"search.visits": "30", "search.seed": "1", "network.network_threads": "1"})
    with Engine(config) as engine:
        engine.load_sgf(HIDDEN_RACE.encode())
        assert engine.game.vertex(engine.genmove(BLACK, play=False).point) == "H1"
