"""The clean-up phases inside a search under territory rules, against an oracle that plays the same moves."""

from itertools import pairwise

import numpy as np
import pytest
import reference
from board_helpers import CHARACTER, COLOR, KO, play_moves, points_of, position_of
from puct_support import PassingEvaluator, Searching, game_from, lines_to, rows_under_way, run, search, tried_edges

from gtp_engine import Game, Rules
from gtp_engine.engine.game_end import chains_of
from gtp_engine.evaluation.evaluator import Request
from gtp_engine.evaluation.positions import FIRST_CLEANUP, MAIN_PHASE, SECOND_CLEANUP, Conditions, Evaluation
from gtp_engine.go.area import area_owners
from gtp_engine.go.board import Board
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE
from gtp_engine.go.coords import board_points, neighbors
from gtp_engine.search.limits import Limits
from gtp_engine.search.puct.cleanup import GAME_OVER
from gtp_engine.search.puct.leaves import EVALUATE, TERMINAL
from gtp_engine.search.puct.puct_search import PuctSearch
from gtp_engine.search.puct.tree import EXPANDED, ROOT, SCORE, VALUE

RULES = {
    "japanese": Rules.parse("japanese"),
    "no tax": Rules.parse("koSIMPLEscoreTERRITORYtaxNONEsui0"),
    "group tax and superko": Rules.parse("koPOSITIONALscoreTERRITORYtaxALLsui1"),
}

NEARLY_FULL = """
    . X O . O
    X X O O O
    X X X O .
    . X O O O
"""


class Oracle:
    """KataGo's territory rules from the position of a game on; points are the engine's."""

    def __init__(self, game: Game) -> None:
        self.position = position_of(game.board, game.width, game.height)
        self.index = {point: index for index, point in enumerate(points_of(self.position))}
        self.color = CHARACTER[game.to_play]
        self.rules, self.komi = game.rules, game.komi
        self.placed = round(game.area_komi - game.komi)
        self.phase, self.passes = MAIN_PHASE, game.consecutive_passes
        self.no_retake: set[int] = set()
        self.taken: set[tuple[str, int, str]] = set()
        self.start = reference.EMPTY * len(self.position.cells)

    def play(self, move: int) -> None:
        """Play a legal move."""
        if move == PASS:
            self.passes += 1
            if self.passes == 2:
                self._begin_phase()
        else:
            self.passes = 0
            self._place(self.index[move])
        self.color = reference.opponent(self.color)

    def _begin_phase(self) -> None:
        self.phase, self.passes = self.phase + 1, 0
        self.no_retake.clear()
        self.taken.clear()
        if self.phase == SECOND_CLEANUP:
            self.start = self.position.cells

    def _place(self, index: int) -> None:
        after, captured, _ = reference.place(self.position, index, self.color)
        around = {self.position.cells[p] for p in reference.neighbors(*self.position[:2])[index]}
        takes_ko = len(captured) == 1 and around == {reference.opponent(self.color)}
        if self.phase != MAIN_PHASE and takes_ko and captured <= self.no_retake:
            self.no_retake -= captured
            return
        if self.phase < SECOND_CLEANUP:
            self.placed += 1 if self.color == reference.BLACK else -1
        if self.phase != MAIN_PHASE and takes_ko and reference.liberties(after, index) == captured:
            self.taken.add((self.position.cells, index, self.color))
            self.no_retake.add(index)
        self.position = after
        self.no_retake = {p for p in self.no_retake if after.cells[p] != reference.EMPTY}

    def forbidden(self) -> set[int]:
        """Return the points where, in a phase, a ko has been taken in this position already."""
        return {p for cells, p, color in self.taken if (cells, color) == (self.position.cells, self.color)}

    def margin(self) -> float:
        """Return by how many points Black wins when the last phase is over."""
        owner, pieces = reference.independent_pieces(self.position, suicide=self.rules.suicide)
        keeps_territory = self.rules.tax.name == "NONE"
        stones = zip(owner, self.position.cells, self.start, strict=True)
        owners = [o if keeps_territory and o != c else c if c == s else "." for o, c, s in stones]
        for color, piece in pieces:
            for p in piece:
                owners[p] = color
        margin = owners.count("X") - owners.count("O") - self.placed - self.komi
        if self.rules.tax.name == "ALL":
            margin -= sum(2 if color == "X" else -2 for color, _ in pieces)
        return margin


class Checker(PassingEvaluator):
    """Compares the rows of a search, and the results in it, with the oracle."""

    def __init__(self, game: Game) -> None:
        super().__init__(knows_cleanup=True)
        self.game = game
        self.searcher: PuctSearch | None = None
        self.seen: dict[str, int] = dict.fromkeys(("first", "second", "over", "ko", "repeated"), 0)

    def evaluate(self, request: Request) -> None:
        super().evaluate(request)
        for leaves, row, moves in rows_under_way(self.searcher, request.positions):
            if leaves.kind[row] in (EVALUATE, TERMINAL):
                self.check(leaves, row, moves, request.positions)

    def check(self, leaves, row: int, moves: list[int], positions) -> None:
        kind, slot = int(leaves.kind[row]), int(leaves.slot[row])
        oracle = Oracle(self.game)
        for move in moves:
            oracle.play(move)
        if kind == TERMINAL:
            assert oracle.phase == GAME_OVER, moves
            assert leaves.margin[row] == pytest.approx(oracle.margin()), (moves, reference.draw(oracle.position))
            self.seen["over"] += 1
            return
        assert positions.phase[slot] == oracle.phase, moves
        points = points_of(oracle.position)
        assert {*np.flatnonzero(positions.no_retake[slot]).tolist()} == {points[p] for p in oracle.no_retake}, moves
        start = [COLOR.get(cell, 0) for cell in oracle.start]
        assert positions.start[slot, list(points)].tolist() == start
        if oracle.phase == SECOND_CLEANUP:
            assert positions.placed[slot] == oracle.placed
        if oracle.phase != MAIN_PHASE:
            assert {*np.flatnonzero(positions.forbidden[slot]).tolist()} == {points[p] for p in oracle.forbidden()}
            self.seen["repeated"] += bool(oracle.forbidden())
        self.seen["first"] += oracle.phase == FIRST_CLEANUP
        self.seen["second"] += oracle.phase == SECOND_CLEANUP
        self.seen["ko"] += bool(oracle.no_retake)


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
@pytest.mark.parametrize("diagram", [KO, NEARLY_FULL], ids=["ko", "nearly full"])
@pytest.mark.parametrize("has_passed", [False, True])
def test_rows_and_results_are_the_oracles(diagram: str, rules: Rules, has_passed: bool) -> None:
    game = game_from(diagram, WHITE)
    game.rules = rules
    if has_passed:
        game.play(PASS)
    checker = Checker(game)
    with Searching(checker, symmetry_pruning=False, graph_search=False) as searcher:
        checker.searcher = searcher
        searcher.run(game, Limits(1000))
    assert min(checker.seen["first"], checker.seen["second"], checker.seen["over"]) > 10
    if diagram == KO:
        assert checker.seen["ko"] > 10


# --- what users see


@pytest.mark.parametrize("knows_cleanup", [True, False])
def test_only_evaluators_that_know_the_phases_play_on(knows_cleanup: bool) -> None:
    game = game_from(NEARLY_FULL, WHITE, "japanese")
    with Searching(PassingEvaluator(knows_cleanup=knows_cleanup), symmetry_pruning=False) as searcher:
        store = run(searcher, game, 200)
        node = store.child_by_move(store.child_by_move(ROOT, PASS), PASS)
        assert bool(store.tree.state[node] == EXPANDED) is knows_cleanup


@pytest.mark.parametrize("rules", ["tromp-taylor", "chinese"])
def test_area_rules_have_no_phases(rules: str) -> None:
    evaluator = PhaseRecorder(knows_cleanup=True)
    search(game_from(NEARLY_FULL, WHITE, rules), 300, evaluator, symmetry_pruning=False)
    assert evaluator.phases == {MAIN_PHASE}


def test_rows_are_of_the_main_phase_again_in_the_next_search() -> None:
    evaluator = PhaseRecorder(knows_cleanup=True)
    with Searching(evaluator, symmetry_pruning=False) as searcher:
        searcher.run(game_from(NEARLY_FULL, WHITE, "japanese"), Limits(300))
        assert evaluator.phases == {MAIN_PHASE, FIRST_CLEANUP, SECOND_CLEANUP}
        evaluator.phases.clear()
        searcher.run(game_from(NEARLY_FULL, WHITE, "chinese"), Limits(300))
    assert evaluator.phases == {MAIN_PHASE}


class PhaseRecorder(PassingEvaluator):
    """Collects the phases of the rows it evaluates; those of the main phase must have none of the other fields."""

    def __init__(self, **facts: bool) -> None:
        super().__init__(**facts)
        self.phases: set[int] = set()

    def evaluate(self, request: Request) -> None:
        super().evaluate(request)
        positions = request.positions
        for row in range(request.rows):
            self.phases.add(int(positions.phase[row]))
            if positions.phase[row] == MAIN_PHASE:
                assert not (positions.no_retake[row].any() or positions.start[row].any() or positions.placed[row])


def test_reported_lines_end_with_the_game() -> None:
    game = game_from(NEARLY_FULL, WHITE, "japanese")
    for passes in (0, 1):
        report = search(game, 600, PassingEvaluator(knows_cleanup=True), symmetry_pruning=False)
        lines = [move.pv for move in report.moves]
        assert all((PASS, PASS) not in pairwise(line[:-1]) for line in lines)
        assert all(len(move.pv) == len(move.pv_visits) for move in report.moves)
        passing = next(line for line in lines if line[0] == PASS)
        assert passing[: 2 - passes] == (PASS,) * (2 - passes)
        assert len(passing) == 2 - passes
        game.play(PASS)


def test_one_pass_after_the_end_of_a_game_leads_to_the_first_phase() -> None:
    game = play_moves(game_from(NEARLY_FULL, WHITE, "japanese"), "pass pass")
    evaluator = PhaseRecorder(knows_cleanup=True)
    report = search(game, 2, evaluator, symmetry_pruning=False)
    assert report.moves[0].pv[0] == PASS
    assert evaluator.phases == {MAIN_PHASE, FIRST_CLEANUP}


def test_a_game_that_goes_on_after_two_passes_begins_a_new_tree() -> None:
    """In the tree that move was made in a clean-up phase."""
    game = game_from(NEARLY_FULL, WHITE, "japanese")
    with Searching(PassingEvaluator(knows_cleanup=True), symmetry_pruning=False) as searcher:
        store = run(searcher, game, 500)
        node = store.child_by_move(store.child_by_move(ROOT, PASS), PASS)
        move = next(int(m) for m in store.tree.move[tried_edges(store.tree, node)] if m != PASS)
        play_moves(game, (PASS, PASS, move))
        assert searcher.run(game, Limits(50)).playouts == 50


# --- networks that know no clean-up phases


class OwningEvaluator(PassingEvaluator):
    """Takes white stones without a neighbour of their colour for dead, and is sure of it unless a point is left open.

    Of positions with an odd number of stones it is less sure.  Its score is always five points off.
    """

    def write_values(self, board: Board, color: int, conditions: Conditions, out: Evaluation, row: int) -> None:
        super().write_values(board, color, conditions, out, row)
        stones = [int(p) for p in np.flatnonzero((board.color == BLACK) | (board.color == WHITE))]
        lonely = [p for p in stones if board.color[p] == WHITE and board.size[board.head[p]] == 1]
        owners = area_owners(board, lonely)
        out.ownership_black[row] = (0.85 if len(stones) % 2 == 0 else 0.7) * (
            (owners == BLACK) * 1.0 - (owners == WHITE)
        )
        out.score_black[row] += 5.0


SEKI = """
    . X O X . .
    X X O X X X
    O O O X O O
    O . O X O O
    O O X X O .
    . O X . X O
"""
"""The stones in the lower right corner and those around them share two liberties of White's, one of which is an eye."""

FINISHED = [NEARLY_FULL, KO, SEKI, ". X O . O\nX X O O .\n. X X O O\nO X . X X\n. X O . X", ". . .\n. X .\n. . ."]


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("text", FINISHED, ids=["nearly full", "ko", "seki", "captures", "one colour"])
def test_without_clean_up_phases_a_final_position_is_counted_where_its_owners_are_known(text: str, rules: str) -> None:
    """A network's score is a point off, more or less; where it knows which stones are dead, they can be counted."""
    game = game_from(text, BLACK, komi=1.0)
    game.rules = RULES[rules]
    checked = {True: 0, False: 0}
    with Searching(OwningEvaluator(), symmetry_pruning=False, graph_search=False) as searcher:
        store = run(searcher, game, 300)
    for node, line in lines_to(store):
        over = play_moves(game.copy(), line)
        if over.consecutive_passes >= 2:
            dead, mean = dead_of(over), store.tree.mean[node]
            margin = None if dead is None else over.score(dead).margin_black
            assert store.tree.state[node] != EXPANDED
            if margin is None:
                assert abs(mean[VALUE]) < 1.0
            else:
                assert (mean[SCORE], mean[VALUE]) == (pytest.approx(margin), np.sign(margin)), over.diagram()
            checked[dead is not None] += 1
    assert checked[True] > 1 or text is FINISHED[-1]
    assert checked[False] > 1


def dead_of(game: Game) -> set[int] | None:
    """Return the stones that `OwningEvaluator` takes for Black's, None if it leaves something open."""
    chains, colors = chains_of(game), game.board.color.copy()
    lonely = [chain[0] for chain in chains if len(chain) == 1 and colors[chain[0]] == WHITE]
    colors[lonely] = EMPTY
    owners = area_owners(game.board, lonely)
    neutral = [p for p in board_points(game.width, game.height) if owners[p] == EMPTY]
    around = [[colors[near] for near in neighbors(point, width=game.width)] for point in neutral]
    has_open_point = any(BLACK not in near and WHITE not in near for near in around)
    is_sure = sum(map(len, chains)) % 2 == 0 and all(owners[point] != EMPTY for point in lonely)
    return {point for point in lonely if owners[point] == BLACK} if is_sure and not has_open_point else None
