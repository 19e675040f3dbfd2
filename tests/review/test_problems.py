"""Life and death in a region: what is searched, the answer tree, and 30 problems."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from board_helpers import parse_diagram
from puct_support import AreaEvaluator
from sgfmill import sgf

from gtp_engine import Config, Game, Move, Rules, parse_vertex
from gtp_engine.base.errors import ConfigError, IllegalMoveError, InvalidVertexError
from gtp_engine.go.benson import pass_alive_owners
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE
from gtp_engine.go.coords import board_points, parse_color, xy_to_point
from gtp_engine.people.review.problems import (
    LifeAndDeath,
    Solution,
    parse_region,
    problem_values,
    problems_in,
    region_of,
)
from gtp_engine.people.review.problems.frames import _nearest, framed
from gtp_engine.people.review.problems.life_and_death import DEEPER, LEAST_VISITS
from gtp_engine.people.review.problems.proofs import NODES, fight_in, proved_moves
from gtp_engine.people.review.problems.solution import AS_GOOD, SolutionMove, Success
from gtp_engine.search.limits import Limits, SearchRequest
from gtp_engine.search.report import SearchReport
from gtp_engine.sgf.game_tree import GameTree

PROBLEMS = (Path(__file__).parent.parent / "data" / "life_and_death.txt").read_text().strip().split("\n\n")[1:]
BASIS = "Expected by the network, not proved; in brackets: how likely the side to move succeeds."


def position(diagram: str) -> Game:
    parsed = parse_diagram(diagram)
    game = Game(parsed.width, parsed.height, rules=Rules.parse("chinese"))
    game.set_up(Move(color, point) for point, color in parsed.stones.items())
    return game


def solved(region: str = "A1:C2", visits: int = 30) -> Solution:
    game = position(". . . . .\n. . . . .\nX X X X O\n. . . X O\n. . . X O")
    solver = LifeAndDeath(Config(), AreaEvaluator(), visits, deeper=())
    return solver.solve(game, 2, parse_region(region, width=5, height=5))


def test_the_answer_tree_is_a_record_of_moves_in_the_region_and_passes() -> None:
    solution = solved()
    region = parse_region("A1:C2", width=5, height=5) | {PASS}
    assert {point for move in solution.moves for point in move.line} <= region
    winrates = [move.winrate for move in solution.moves]
    assert len(winrates) == 5 and max(winrates) - winrates[0] <= AS_GOOD, "none is clearly better than the first"
    game = sgf.Sgf_game.from_bytes(solution.to_sgf().encode())
    first = list(game.get_root())
    assert len(first) == len(solution.moves)
    assert all(node.get_move()[0] == "w" for node in first)
    assert first[0].has_property("TE")
    assert all(node.has_property("BM") == node.get("C").endswith("worse") for node in first)
    assert first[0].get("C").startswith(solution.answer) and first[0].get("C").endswith("best")
    assert solution.to_text().count("\n") == len(solution.moves)


@pytest.mark.parametrize(
    ("failures", "success", "text"),
    [
        ((0.9, 0.05, 0.8, 0.0), Success.SURE, "B2 (100%): best\nB1 (95%): as good\nA2 (20%): worse\nA1 (10%): worse"),
        ((0.08, 0.0, 0.17), Success.SURE, "B1 (100%): best\nA1 (92%): as good\nA2 (83%): worse"),
        ((0.2, 0.25), Success.KO, "A1 (80%, ko): best\nB1 (75%, ko): as good"),
        ((0.2, 0.31), Success.SURE, "A1 (80%): best\nB1 (69%): worse"),
        ((0.83, 0.72), Success.KO, "No move succeeds.\nB1 (28%): best\nA1 (17%): as good"),
        ((0.1, 0.51), Success.KO, "A1 (90%, ko): best\nB1 (49%, ko): worse"),
        ((0.1, 0.5), Success.SURE, "A1 (90%): best\nB1 (50%): worse"),
        ((0.11, 0.9), Success.SURE, "A1 (89%): best\nB1 (10%): worse"),
    ],
)
def test_moves_are_compared_with_the_best_winrate(failures: tuple[float, ...], success: Success, text: str) -> None:
    """Where none succeeds, how unlikely each success is says little."""
    game = position(". .\n. .")
    points = [parse_vertex(vertex, width=2, height=2) for vertex in ("A1", "B1", "A2", "B2")[: len(failures)]]
    moves = [SolutionMove(point, 1 - each, (point,), success) for point, each in zip(points, failures, strict=True)]
    solution = Solution(game, 1, tuple(sorted(moves, key=lambda move: -move.winrate)))
    assert solution.to_text() == f"{BASIS}\n{text}"
    assert solution.is_clear == ("best\nB1 (49%" in text), "only there one move surely succeeds, and no other one does"
    assert GameTree(solution.to_sgf()).main_line()[0].comment == BASIS + " No move succeeds." * (not solution.succeeds)
    bad = text.count("worse") if solution.succeeds else len(failures)
    assert (solution.to_sgf().count("TE[1]"), solution.to_sgf().count("BM[1]")) == (len(failures) - bad, bad)


def test_the_position_and_its_komi_stay_as_they_were() -> None:
    game, region = position(CORNER), parse_region("A1:C2", width=13, height=13)
    solution = LifeAndDeath(Config(), AreaEvaluator(), 8, wrong_moves=0).solve(game, 2, region)
    assert str(solution.game.board.color) == str(game.board.color) and solution.game.komi == game.komi


def corner(size: int) -> str:
    """Return a black group in the corner that White surrounds, on an open board."""
    rest = " ." * (size - 4)
    return "\n".join([". " * size] * (size - 3) + [f"O O O O{rest}", f"X X X O{rest}", f". . X O{rest}"])


CORNER = corner(13)


@pytest.mark.parametrize("size", [9, 13, 19])
def test_a_problem_gets_a_small_settled_board_of_both_sides(size: int) -> None:
    original = position(corner(size))
    frame = framed(original, parse_region("A1:B1", width=size, height=size))
    board, lines = frame.board, min(size, 11)
    assert (board.width, board.height) == (lines, lines)
    problem = {xy_to_point(x, y, width=lines) for x in range(4) for y in range(lines - 3, lines)}
    assert all(board.color_at(point) == original.color_at(frame.outside(point)) for point in problem)
    assert set(map(frame.outside, frame.points)) == frame.region
    alive = pass_alive_owners(board.board, suicide=False)
    beyond = set(board_points(lines, lines)) - problem
    colors = [board.color_at(point) for point in beyond]
    assert all(alive[point] == board.color_at(point) for point in beyond if board.color_at(point))
    assert abs(colors.count(1) - colors.count(2)) < 30 and colors.count(0) < 60


@pytest.mark.parametrize("turned", [False, True])
def test_a_region_around_all_stones_has_the_outer_side_as_its_wall(turned: bool) -> None:
    """Black surrounded such a region whatever stood there, and so killed the white stones outside as well."""
    diagram = corner(19).translate(str.maketrans("XO", "OX")) if turned else corner(19)
    frame = framed(position(diagram), parse_region("A1:E4", width=19, height=19))
    wall = [frame.board.color_at(xy_to_point(5, y, width=11)) for y in range(7, 11)]
    assert set(wall) - {0} == {1 if turned else 2}
    assert frame.board.color_at(xy_to_point(4, 9, width=11)) == 0, "it belongs to the region"


def test_where_both_sides_are_outside_each_has_its_part_of_the_wall() -> None:
    """A wall of one colour would kill the outer stones of the other."""
    rows = [". O . . . . . O .", "O O O O O . . . O", "X X X X X X O O .", ". . . . X . X . O", ". . . X X . . . ."]
    diagram = "\n".join([f"{row}{' .' * 10}" for row in rows] + [". " * 19] * 14)
    frame = framed(position(diagram), parse_region("A15:K19", width=19, height=19))
    size = frame.board.width
    right = {frame.board.color_at(xy_to_point(size - 1, y, width=size)) for y in range(3)}
    below = {frame.board.color_at(xy_to_point(x, size - 1, width=size)) for x in range(5)}
    assert right - {0} == {2} and below - {0} == {1}
    between = np.array([[BLACK, EMPTY, EMPTY, EMPTY, WHITE]])
    assert _nearest(between).tolist() == [[BLACK, BLACK, BLACK, WHITE, WHITE]]


def test_success_is_looked_for_without_ko_then_by_one_then_by_one_with_threats() -> None:
    """The first side never wins; so all are tried, deeper and deeper, then for points; the second comes nearest."""
    game = position(CORNER)
    solver, ways = LifeAndDeath(Config(), AreaEvaluator(), 8, wrong_moves=1), list[tuple[int | None, int]]()
    run = solver._search.run

    def recorded(positions: Sequence[tuple[Game, int]], *asked: SearchRequest | Limits) -> list[SearchReport]:
        requests = [*map(SearchRequest.of, asked)]
        ways.extend((each.limits.visits, each.retaken) for each in requests if each.limits.visits != LEAST_VISITS)
        black = {"value_black": 0.9 if requests[0].retaken == EMPTY else 1.0}
        reports = run(positions, *asked)
        return [replace(report, moves=[replace(move, **black) for move in report.moves]) for report in reports]

    solver._search.run = recorded  # type: ignore[method-assign]
    solution = solver.solve(game, WHITE, parse_region("A1:C2", width=13, height=13))
    tried = [(8 * times, retaken) for times in (1, *DEEPER, DEEPER[-1]) for retaken in (WHITE, EMPTY, BLACK, EMPTY)]
    assert [way for way in ways if way[0] != 1] == tried, "the last one compares first moves"
    assert solution.moves[0].success is Success.KO


def test_where_no_group_dies_the_answer_gains_most() -> None:
    """Four points in a row are two eyes; F1 captures two stones, or connects them."""
    corner = ["X X X X X X X X X", "O O O O O X X X X", ". . . . O . O O X"]
    game = position("\n".join([". " * 13] * 10 + [f"{row}{' .' * 4}" for row in corner]))
    solver = LifeAndDeath(Config(), AreaEvaluator(scale=0.5), 200, nodes=0, deeper=())
    solution = solver.solve(game, BLACK, parse_region("A1:J3", width=13, height=13))
    assert solution.answer == "F1" and not solution.succeeds


@pytest.mark.parametrize("turned", [False, True])
def test_the_life_of_the_surrounded_stones_decides(turned: bool) -> None:
    """The four stones and two eyes are worth 12 points more alive than dead."""
    corner = CORNER.translate(str.maketrans("XO", "OX")) if turned else CORNER
    frame = framed(position(corner), parse_region("A1:B1", width=13, height=13))
    alive = frame.board.score().margin_black + frame.board.komi
    assert frame.life == alive + (6 if turned else -6)


@pytest.mark.parametrize("lines", [0, 1, 2])
def test_lines_between_a_problem_and_an_edge_that_is_near_stay(lines: int) -> None:
    """The frame moved the edge up to the stones, so that the corner was smaller than on the board."""
    left = ". " * (lines + 1)
    rows = [". " * 19] * 16 + [left + f"{row}{' .' * (14 - lines)}" for row in ("O O O O", "X X X O", ". . X O")]
    original = position("\n".join(rows))
    stones = {point for point in board_points(19, 19) if original.color_at(point)}
    frame = framed(original, frozenset(stones))
    assert frame is not None and frame.left == 0
    assert all(
        frame.board.color_at(xy_to_point(x, frame.board.height - 1, width=frame.board.width)) == EMPTY
        for x in range(lines + 1)
    )


def test_a_problem_at_the_side_stays_there() -> None:
    rows = [". " * 19] * 16 + [". " * 6 + "O O O O O O" + " ." * 7] + [". " * 6 + "O X X X X O" + " ." * 7]
    original = position("\n".join([*rows, ". " * 6 + "O X . . X O" + " ." * 7]))
    stones = frozenset(point for point in board_points(19, 19) if original.color_at(point))
    frame = framed(original, stones)
    assert frame is not None and frame.board.width < 19
    assert len(frame.points) == len(stones)
    for point in frame.points:
        assert frame.board.color_at(point) == original.color_at(frame.outside(point))
    solution = LifeAndDeath(Config(), AreaEvaluator(), 8).solve(original, 2, parse_region("J1:K1", width=19, height=19))
    assert solution.answer in ("J1", "K1"), "on the original board"
    assert solution.game.width == 19 and "[" in solution.to_sgf()


@pytest.mark.parametrize(
    "diagram",
    [
        CORNER.replace("O", "."),  # nothing surrounds it
        ". . . . .\n" * 2 + "O O O O .\nX X X O .\n. . X O .",  # no room for two eyes
    ],
)
def test_what_cannot_be_cut_out_keeps_its_board(diagram: str) -> None:
    game = position(diagram)
    assert framed(game, parse_region("A1", width=game.width, height=game.height)) is None


@pytest.mark.parametrize("evaluator", [None, AreaEvaluator(has_score=False)])
def test_a_problem_needs_a_network_that_evaluates_the_score(evaluator: AreaEvaluator | None) -> None:
    with pytest.raises(ConfigError, match="a problem with"):
        LifeAndDeath(Config(), evaluator)


def test_the_first_move_is_none_but_in_the_region() -> None:
    assert solved("A1").answer == "A1", "not a pass, although it is a wasted move"
    with pytest.raises(IllegalMoveError, match="no legal move in the region"):
        solved("A3:B3")


@pytest.mark.parametrize(("text", "count"), [("A1", 1), ("A1:C2", 6), ("C2:A1,E5", 7)])
def test_regions(text: str, count: int) -> None:
    assert len(parse_region(text, width=5, height=5)) == count


@pytest.mark.parametrize("text", ["", "Z9", "A1:B2:C3", "pass", "A1:J9", "A1-C3", "Z9:A1"])
def test_regions_that_are_none(text: str) -> None:
    with pytest.raises(InvalidVertexError, match="as in A1:F5"):
        parse_region(text, width=5, height=5)


@pytest.mark.parametrize("text", PROBLEMS, ids=[text.split(";")[0] for text in PROBLEMS])
def test_problems_that_can_be_cut_out_are_proved(text: str) -> None:
    """Other first moves are not proved to succeed, and at least one is refuted."""
    head, board = text.split("\n", 1)
    _title, first, region, answers = head.split("; ")
    game, points = position(board), parse_region(region, width=9, height=9)
    solution = LifeAndDeath(Config(), AreaEvaluator(), 2).solve(game, parse_color(first), points)
    frame = framed(game, points)
    assert solution.is_proved == (frame is not None and frame.surrounded != EMPTY)
    if not solution.is_proved:
        return
    assert all(move.is_proved for move in solution.moves)
    assert "%" not in solution.to_text()
    right = {game.vertex(move.point) for move in solution.moves if solution.is_right(move.point)}
    assert solution.answer in right and right <= {*answers.split(" or ")}
    assert any(not solution.is_right(move.point) for move in solution.moves)


def test_liberties_of_chains_that_may_be_captured_are_not_filled() -> None:
    rest = " ." * 7
    rows = [f"O O O O O O{rest}", f". O X X X O{rest}", f"O X . . X O{rest}", f". X X . X O{rest}"]
    region = parse_region("A1:E4", width=13, height=13)
    game = position("\n".join([". " * 13] * 9 + rows))
    game.to_play = WHITE
    fight = fight_in(framed(game, region), NODES, None)
    points = {game.vertex(fight.frame.outside(point)) for point in fight.points}
    assert points == {"A1", "A3", "C2", "D1", "D2"}


def test_stones_far_away_do_not_connect_a_chain_that_may_be_cut_off() -> None:
    """D2 cuts off E2 after G4, which was proved to kill: C2 counted as Black's, and so took what cuts."""
    rows = [
        ". . . . X X . X X . . . .",
        ". . . X O O X O O X . . .",
        ". . . . X O O O O X X . .",
        ". . . . . O . O O . . . .",
    ]
    game = position("\n".join([". " * 13] * 9 + rows))
    fight = fight_in(framed(game, region_of(game)), NODES, None)
    assert fight is None or fight.frame.outside(fight.proof.line[0]) != game.point("G4")


def three_in_a_row() -> Game:
    """Return a group with three points in the corner, in the middle of which it lives or dies."""
    rest = " ." * 8
    return position("\n".join([". " * 13] * 10 + [f"O O O O O{rest}", f"X X X X O{rest}", f". . . X O{rest}"]))


def test_nothing_is_proved_beyond_the_limit_and_what_is_asked_is_proved_or_expected_like_the_answer() -> None:
    game = three_in_a_row()
    region, elsewhere = parse_region("A1:C2", width=13, height=13), parse_vertex("J9", width=13, height=13)
    for nodes in (1, NODES):
        solution = LifeAndDeath(Config(), AreaEvaluator(), 8, nodes=nodes).solve(game, WHITE, region, elsewhere)
        asked = next(move for move in solution.moves if move.point == elsewhere)
        assert solution.is_proved == asked.is_proved == (nodes == NODES)
        assert not solution.is_right(elsewhere)
    assert asked.line[1] == solution.moves[0].point, "the answer to a pass"


COLLECTION = (
    "(;SZ[9]AB[aa]AW[bb]C[白先]C[x];W[cc]TE[1](;B[dd];W[ee])(;B[ff]C[Wrong]))"
    "(;C[a title])"
    "(;AB[aa]AW[ab]PL[W];C[later];B[pd](;W[dd]C[the right side])(;W[dp]C[RIGHT])(;W[pp]C[不正解]))"
)


def test_a_file_of_problems_is_split_and_a_game_is_none() -> None:
    assert len(problems_in(COLLECTION.encode())) == 2, "without the title"
    assert problems_in(b"(;SZ[9];B[aa])") == problems_in(b"(;SZ[9]HA[2]AB[aa][bb];W[cc])") == []
    long_game = "(;SZ[19]AB[aa]AW[ss]" + ";B[dd];W[pp]" * 30
    assert [len(problems_in(f"{long_game}{more})".encode())) for more in ("", ";B[cc]")] == [1, 0]


def test_a_problem_says_who_moves_and_which_lines_are_right() -> None:
    first, second = map(problem_values, problems_in(COLLECTION.encode()))
    assert (first["first"], first["setup"]) == ("white", [("black", "A9"), ("white", "B8")])
    assert [(node["parent"], node["move"][1], node.get("is_right")) for node in first["nodes"]] == [
        (None, "C7", True), (1, "D6", None), (2, "E5", None), (1, "F4", False),
    ]  # fmt: skip
    assert (second["first"], second["comment"]) == ("black", "later"), "of the first move"
    assert [node.get("is_right") for node in second["nodes"]] == [None, None, True, False]
    words = dict.fromkeys(("so CORRECT", "Solved!", "正解"), True) | dict.fromkeys(
        ("no: WRONG", "failed", "실패"), False
    )
    found = {word: problem_values(f"(;SZ[9]AB[aa]AW[bb];B[cc]C[{word}])".encode())["nodes"][0] for word in words}
    assert {word: node["is_right"] for word, node in found.items()} == words


@pytest.mark.parametrize(
    ("comment", "color"),
    [("White to live.", "white"), ("흑", "black"), ("白番", "white"), ("White to live.]PL[B", "black")],
)
def test_a_problem_without_moves_says_in_its_comment_who_moves(comment: str, color: str) -> None:
    assert problem_values(f"(;SZ[9]AB[aa]AW[bb]C[{comment}])".encode())["first"] == color


def test_where_a_move_elsewhere_is_not_refuted_nothing_is_said_of_others() -> None:
    game = three_in_a_row()
    game.to_play = WHITE
    fight = fight_in(framed(game, parse_region("A1:C2", width=13, height=13)), NODES, None)
    assert fight is not None and proved_moves(fight, None, 0)
    elsewhere = parse_vertex("N13", width=13, height=13)
    assert proved_moves(replace(fight, nodes=1), elsewhere, 0) == ()


def test_a_move_that_is_asked_about_is_compared_and_one_outside_is_answered() -> None:
    game = position(". . . . .\n. . . . .\nX X X X O\n. . . X O\n. . . X O")
    solver = LifeAndDeath(Config(), AreaEvaluator(), 8, wrong_moves=0, deeper=())
    region = parse_region("A1:C2", width=5, height=5)
    for point in region:
        solution = solver.solve(game, WHITE, region, point)
        assert point in [move.point for move in solution.moves]
        assert solution.is_right(solution.moves[0].point)
    outside = parse_vertex("A5", width=5, height=5)
    solution = solver.solve(game, WHITE, region, outside)
    assert not solution.is_right(outside)
    line = next(move.line for move in solution.moves if move.point == outside)
    assert line[0] == outside
    assert line[1] in region, "there was no answer"


@pytest.mark.parametrize(
    ("record", "region"),
    [
        ("(;SZ[9]KM[7]AB[cc][gg][cg]AW[gc][ee][fc]PL[W])", "A1:J9"),
        ("(;SZ[5]AB[be][bd][ad]AW[ce][cd][bc][ac]PL[W])", "A1:E5"),
        ("(;SZ[9]AB[cc][gg]PL[W])", "A1:J9"),
    ],
)
def test_a_problem_may_be_the_whole_board(record: str, region: str) -> None:
    """It was an internal error, and the page waited for ever."""
    game = GameTree(record).root.game()
    points = parse_region(region, width=game.width, height=game.height)
    assert framed(game, points) is None
    solution = LifeAndDeath(Config(), AreaEvaluator(), 8).solve(game, WHITE, points)
    assert {move.point for move in solution.moves} <= points


@pytest.mark.parametrize(("stones", "region"), [("D16 E18", "A15:F19"), ("P14 Q16", "O13:T19"), ("H12 J12", "G11:K13")])
def test_the_region_of_a_problem_reaches_to_edges_that_are_near(stones: str, region: str) -> None:
    game = Game(19, 19)
    game.set_up([Move(BLACK, parse_vertex(vertex, width=19, height=19)) for vertex in stones.split()])
    assert region_of(game) == parse_region(region, width=19, height=19)
