"""Life and death in a region: the best first move, and why other first moves fail.

First a proof is looked for (`search.fights`): that a first move saves or captures a chain without a ko, and that it is
needed.  It holds if all points of the region more than `STEPS` from the surrounded side's stones are the other side's.
Where there is none, a search with a network says what is to be expected, in the following way.

Only moves in the region are searched, and passes after the first move, in a settled board (`framed`) where the problem
can be cut out.  The komi is moved to the middle between the life and the death of the surrounded stones, or, where
these are not at stake, between what the region is worth if Black moves first and if White does.  So the game is won by
the side that succeeds in the region.

A region has no ko threats, so who takes a ko first would win it.  Instead three questions are asked, one after the
other (`Success`): does the first side succeed if all kos it takes can be retaken at once, as if the other side had any
number of threats; if each side has none; or if it may retake all kos itself?  An answer to the first one needs no ko.

In a settled board everything beyond the problem is replaced by living stones of both sides.  On an open board a network
expects fights and large areas outside the region, and a lead that is larger than any it was trained with; inside a
frame the result of the region decides.  The idea is that of the frames of tsumego solvers (the one of KaTrain and
LizGoban).

    . . . .             the zone: the region and stones next to it, the defender's chains there and what they touch
    S S S S S . S S     S the side that surrounds the zone: a wall around it, and eyes
    D . D D S S . S     D the other side, far away, so that both have about the same

The frame is on the smallest board of `SIZES` that has room for it: there an evaluation takes a third of the time that
it takes on 19×19.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import takewhile
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.base.errors import IllegalMoveError, InvalidVertexError, problem, shown
from gtp_engine.base.languages import _, later
from gtp_engine.config import Config
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.go.benson import pass_alive_owners
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE, opponent
from gtp_engine.go.coords import board_points, format_color, neighbors, parse_vertex, point_to_xy, to_color, xy_to_point
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Ko, Rules
from gtp_engine.people.review.game_analysis import scoring_evaluator, seeded
from gtp_engine.search.fights import FightReader, Proof
from gtp_engine.search.limits import AT_ANY_DEPTH, CancelToken, Limits, Restriction, SearchRequest
from gtp_engine.search.puct.joint_search import JointSearch
from gtp_engine.search.report import SearchReport, winrate_of
from gtp_engine.sgf.collection import each_game
from gtp_engine.sgf.game_tree import GameNode, GameTree

NODES: Final = 100_000
"""Positions of the longest search for a proof, about a second."""

STEPS: Final = 2
"""Steps across empty points from a surrounded stone to where moves may matter in a proof."""

_SHORT: Final = 8
"""Part of `NODES` of the searches that come first, and of those about other first moves."""

_CHAINS: Final = 4
"""Chains of a side that may be at stake: the largest."""

DEFAULT_VISITS: Final = 500

WRONG_MOVES: Final = 4
"""Other first moves that are compared with the best: those the search tried most."""

SUCCESS: Final = 0.5
"""Winrate from which a move succeeds."""

AS_GOOD: Final = 0.1
"""A move is as good as the best if its winrate is at most this much below the largest; one that fails is far worse."""

KOMI_SHARE: Final = 0.25
"""Share of the visits in each of two searches that find the komi."""

LEAST_VISITS: Final = 50
"""Least visits of each of these two searches."""

EYES: Final = 2
"""Points of a group that lives, besides its stones."""

RULES: Final = Rules.parse("chinese")

_LINE: Final = 12
"""Moves shown of each line."""

SURROUNDED_SHARE: Final = 0.75
"""Share of the zone counted for the surrounding side: the mean of all of it, if it succeeds, and half, if it fails."""

CLEAR_SHARE: Final = 0.7
"""Share of the outermost stones from which on one side surrounds a problem; else each has its part of the wall."""

SHARES: Final = (1.0, 0.8, 0.6, 0.4, 0.2)
"""How much of its fair part the other side gets, in the order tried: on small boards the wall needs room for eyes."""

SIZES: Final = (11, 13, 15, 17, 19)
"""Lines of boards for a frame, in the order tried."""

_MARGIN: Final = 1
_NEAR: Final = 3
"""Lines around the stones of a problem that belong to it, and how near an edge is that does too."""

Grid = NDArray[np.bool_]
"""Points of a board, by row and column."""


class Success(Enum):
    """How a move succeeds, the best way first; the value is what is said about it."""

    SURE = ""
    KO = later("ko")
    """By a ko for which the other side has to find the first threat."""
    KO_WITH_THREATS = later("ko that needs threats")

    def request(self, request: SearchRequest, color: int) -> SearchRequest:
        """Return the request of a search of whether `color` succeeds in this way."""
        return replace(request, retaken=(color, EMPTY, opponent(color))[list(Success).index(self)])


@dataclass(frozen=True)
class Frame:
    """A problem in a settled board, which shows a part of the original board from column `left` and row `top` on.

    `life` is Black's margin without komi in the middle between the life and the death of the surrounded stones; None
    where neither side surrounds the other.
    """

    board: Game
    original: Game
    left: int = 0
    top: int = 0
    life: float | None = None
    surrounded: int = EMPTY
    """The colour of the surrounded stones."""

    def outside(self, point: int) -> int:
        """Return the point of the original board for one of the frame's, or PASS."""
        if point == PASS:
            return PASS
        x, y = point_to_xy(point, width=self.board.width)
        return xy_to_point(x + self.left, y + self.top, width=self.original.width)

    def beside(self, points: Iterable[int]) -> set[int]:
        """Return points of the frame and those next to them."""
        return {near for point in points for near in (point, *neighbors(point, width=self.board.width))}

    def inside(self, points: Iterable[int]) -> frozenset[int]:
        """Return the points of the frame for those of the original board that are in it."""
        places = (point_to_xy(point, width=self.original.width) for point in points)
        width, height = self.board.width, self.board.height
        found = ((x - self.left, y - self.top) for x, y in places)
        return frozenset(xy_to_point(x, y, width=width) for x, y in found if 0 <= x < width and 0 <= y < height)


@dataclass(frozen=True)
class SolutionMove:
    """A first move with the continuation, itself first; `winrate` is that of the side that moves first.

    It is 1 or 0 where success or failure `is_proved`.  The line ends where it goes on with a move that a ko forbids.
    """

    point: int
    winrate: float
    line: tuple[int, ...]
    success: Success = Success.SURE
    is_proved: bool = False


@dataclass(frozen=True)
class Solution:
    """What was found in `game`, with `color` to move first: `moves[0]` is the best first move, then come others."""

    game: Game
    color: int
    moves: tuple[SolutionMove, ...]

    @property
    def answer(self) -> str:
        """The vertex of the best first move."""
        return self.game.vertex(self.moves[0].point)

    def to_text(self) -> str:
        """Return the answer and the refutations, one line each; the first line says if no move succeeds."""
        how = {success: _(success.value) if success.value else "" for success in Success}
        lines = [f"{self._described(move, how[move.success])}: {_(self._verdict(move))}" for move in self.moves]
        return "\n".join([_(self._basis), *([] if self.succeeds else [_("No move succeeds.")]), *lines])

    def to_sgf(self) -> str:
        """Return the position as a record: the best line first, then the other first moves with their refutations."""
        tree = GameTree(self.game)
        end = tree.main_line()[-1]
        for move in self.moves:
            verdict = self._verdict(move)
            node = end.add_variation(move.line, self.color)
            node.set("TE" if self.succeeds and verdict != "worse" else "BM", "1")
            node.comment = f"{self._described(move, move.success.value)}: {verdict}"
        end.comment = self._basis if self.succeeds else f"{self._basis} No move succeeds."
        return tree.to_sgf()

    @property
    def is_proved(self) -> bool:
        """Whether the answer is proved, and with it what is said of each other move."""
        return self.moves[0].is_proved

    @property
    def _basis(self) -> str:
        if self.is_proved:
            return later("Proved, with all points more than two steps away counted for the surrounding side.")
        return later("Expected by the network, not proved.")

    @property
    def succeeds(self) -> bool:
        """Whether any of the moves succeeds."""
        return any(move.winrate >= SUCCESS for move in self.moves)

    def _verdict(self, move: SolutionMove) -> str:
        """Return how a move compares with the others."""
        if move is self.moves[0]:
            return later("best")
        return later("as good") if move.winrate >= _least_good(self.moves) else later("worse")

    def is_right(self, point: int) -> bool:
        """Return whether a first move succeeds, and as well as the best one; no move is right where none succeeds."""
        move = next((move for move in self.moves if move.point == point), None)
        return move is not None and SUCCESS <= move.winrate >= _least_good(self.moves)

    def _described(self, move: SolutionMove, how: str) -> str:
        line = " ".join(map(self.game.vertex, move.line))
        how = how if self.succeeds else ""  # then it is only how they were compared
        return f"{line} ({move.winrate:.0%}{f', {how}' if how else ''})"


def parse_region(text: str, *, width: int, height: int) -> frozenset[int]:
    """Return the points of a region: vertices and rectangles such as "A1:F5", with commas between.

    Raises InvalidVertexError.
    """
    points: set[int] = set()
    for part in text.split(","):
        try:
            corners = [parse_vertex(corner, width=width, height=height) for corner in part.split(":")]
        except InvalidVertexError as error:
            raise InvalidVertexError(f"region {shown(text)}: {error}; rectangles are given as in A1:F5") from None
        if len(corners) > 2 or PASS in corners:
            raise InvalidVertexError(problem(f"region {shown(text)}", expected="vertices and rectangles, as in A1:F5"))
        (x1, y1), (x2, y2) = point_to_xy(corners[0], width=width), point_to_xy(corners[-1], width=width)
        for y in range(min(y1, y2), max(y1, y2) + 1):
            points.update(xy_to_point(x, y, width=width) for x in range(min(x1, x2), max(x1, x2) + 1))
    return frozenset(points)


def region_of(game: Game) -> frozenset[int]:
    """Return where a problem may be: the rectangle around all stones with a line more, up to edges that are near."""
    stones = [point for point in board_points(game.width, game.height) if game.color_at(point) != EMPTY]
    places = [point_to_xy(point, width=game.width) for point in stones] or [(0, 0)]
    sides = []
    for values, length in zip(zip(*places, strict=True), (game.width, game.height), strict=True):
        low, high = min(values) - _MARGIN, max(values) + _MARGIN
        sides.append(range(0 if low < _NEAR else low, length if high >= length - _NEAR else high + 1))
    return frozenset(xy_to_point(x, y, width=game.width) for x in sides[0] for y in sides[1])


class LifeAndDeath:
    """Solves problems by proofs of up to `nodes` positions (0: without), else with one evaluator, which stays open.

    Each position is searched with `visits`; `wrong_moves` is how many other first moves are compared with the best at
    most, each by a search of the position after it.  Raises ConfigError without a network that evaluates score and
    ownership.
    """

    def __init__(
        self,
        config: Config,
        evaluator: Evaluator | None,
        visits: int = DEFAULT_VISITS,
        *,
        nodes: int = NODES,
        wrong_moves: int = WRONG_MOVES,
    ) -> None:
        self._nodes: Final = nodes
        evaluator = scoring_evaluator("a problem", evaluator)
        self._others: Final = wrong_moves
        self._search: Final = JointSearch(seeded(config), evaluator, max(2, wrong_moves + 1))
        self._visits: Final = visits

    def solve(
        self,
        game: Game,
        color: int | str | None = None,
        region: Iterable[int | str] | None = None,
        asked: int | None = None,
        *,
        cancel: CancelToken | None = None,
    ) -> Solution:
        """Return the best first move of `color` in a region of a position, and why others are worse.

        They default to the side to play, and to the `region_of` the stones.  `asked` is a point that is compared in any
        case; one outside the region leaves the next move there to the other side, as a pass does.  The position becomes
        the start of a new game: bans by ko are forgotten.  `cancel` ends the searches early.  Raises IllegalMoveError
        if there is no legal move in the region, InvalidVertexError and InvalidColorError.
        """
        color = game.to_play if color is None else to_color(color)
        region = region_of(game) if region is None else frozenset(map(game.point, region))
        limits = Limits(self._visits, cancel=cancel)
        start = _afresh(game, color)
        frame = framed(start, region) or Frame(_afresh(start, color, ko=Ko.SIMPLE), start)
        fight = _fight(frame, color, frame.inside(region), self._nodes, cancel) if self._nodes else None
        if fight is not None:
            proved = _proved(fight, frame, region, asked, self._others)
            if proved:
                return Solution(start, color, proved)
        board, region = frame.board, frame.inside(region)
        outside = frozenset(board_points(board.width, board.height)) - region
        inside = tuple(Restriction(each, outside, AT_ANY_DEPTH) for each in (BLACK, WHITE))
        no_pass = tuple(Restriction(each, frozenset({PASS})) for each in (BLACK, WHITE))
        report, success = self._best(frame, color, SearchRequest(limits, restrictions=(*inside, *no_pass)))
        best = report.moves[0]
        moves = [_first_move(frame, color, best.pv, winrate_of(best.value_black, color), success)]
        others = _other_moves(board, report, region)
        asked_for = [point for point in others if asked is not None and frame.outside(point) == asked]
        others = list(dict.fromkeys([*asked_for, *others[: self._others]]))[: max(1, self._others)]
        elsewhere = None if asked is None or asked in (PASS, *map(frame.outside, region)) else asked
        if self._others or asked_for:
            points = [best.point, *others]
            request = success.request(SearchRequest(limits, restrictions=inside), color)
            boards = [_after(board, point, color, is_retaken=success is Success.SURE) for point in points]
            reports = self._search.run([(each, opponent(color)) for each in boards], request)
            moves = _compared(frame, color, points, reports, success)
        if elsewhere is not None:
            request = success.request(SearchRequest(limits, restrictions=(*inside, *no_pass)), color)
            (after,) = self._search.run([(_after(board, PASS, color, is_retaken=False), opponent(color))], request)
            moves.append(_left_alone(frame, color, elsewhere, after, success))
        return Solution(start, color, tuple(moves))

    def _best(self, frame: Frame, color: int, request: SearchRequest) -> tuple[SearchReport, Success]:
        """Return the search that found how `color` succeeds at best, and by which way; sets the komi of the frame.

        If it does not succeed, it is the search without threats.  Raises IllegalMoveError.
        """
        board, life = frame.board, frame.life
        middle, is_at_stake = self._middle(board, request, life)
        if life is not None and (is_at_stake or (life > middle) == (color == BLACK)):
            # The stones live or die, or perhaps they do and the short searches did not find out how.
            board.komi = _half_points(life)
            by_threats = None if is_at_stake else self._found(board, color, request, Success.KO_WITH_THREATS)
            if by_threats is None or _succeeds(by_threats, color):
                for success in Success:
                    found = self._found(board, color, request, success)
                    if _succeeds(found, color):
                        return found, success
        board.komi = _half_points(middle)
        without_threats = None
        for success in Success:
            found = self._found(board, color, request, success)
            if _succeeds(found, color):
                return found, success
            without_threats = found if success is Success.KO or without_threats is None else without_threats
        assert without_threats is not None
        return without_threats, Success.KO

    def _found(self, board: Game, color: int, request: SearchRequest, success: Success) -> SearchReport:
        """Return the search of whether `color` succeeds in this way; raises IllegalMoveError if it has no move."""
        (report,) = self._search.run([(board, color)], success.request(request, color))
        if not report.moves:
            raise IllegalMoveError("region", problem("no legal move in the region", advice="name a larger one"))
        return report

    def _middle(self, board: Game, request: SearchRequest, life: float | None) -> tuple[float, bool]:
        """Return Black's margin without komi in the middle between Black moving first and White moving first.

        Both win all kos.  Also returns whether `life` is between the two.
        """
        (raw,) = self._search.run([(board, board.to_play)], Limits(1))
        board.komi = _half_points(board.komi + raw.lead_black)
        short = replace(request, limits=Limits(max(LEAST_VISITS, round(KOMI_SHARE * self._visits))))
        colors = BLACK, WHITE
        reports = self._search.run(
            [(board, each) for each in colors], *(Success.KO_WITH_THREATS.request(short, each) for each in colors)
        )
        white, black = sorted(
            board.komi + (report.best.lead_black if report.best is not None else report.lead_black)
            for report in reports
        )
        return (white + black) / 2, life is not None and white < life < black


@dataclass(frozen=True)
class _Fight:
    """A chain of `board` that `color` saves or captures without a ko, but only by moving first: `proof` shows how."""

    board: Game
    points: frozenset[int]
    """Empty points of the region where moves may matter."""
    stone: int
    color: int
    nodes: int
    proof: Proof | None = None

    def prove(self, board: Game, first: int, nodes: int, *, reverse: bool = False, retakes: bool = False) -> Proof:
        """Return the search for a proof that `color` reaches its aim, or not with `reverse`, if `first` moves first."""
        reader = FightReader(board.board, suicide=board.rules.suicide, nodes=nodes)
        saves = board.color_at(self.stone) == self.color
        return (reader.survives if saves != reverse else reader.captures)(self.stone, first, retakes=retakes)

    def compared(self, point: int) -> tuple[float, tuple[int, ...]] | None:
        """Return whether a first move succeeds as a winrate of 1 or 0, with its line; None if neither is proved."""
        board, opposite = self.board.copy(), opponent(self.color)
        board.play(point, self.color)
        for reverse in (True, False):
            proof = self.prove(board, opposite, max(1, self.nodes // _SHORT), reverse=reverse)
            if proof.is_proved:
                return 0.0 if reverse else 1.0, (point, *proof.line)
        return None


def _fight(frame: Frame, color: int, region: frozenset[int], nodes: int, cancel: CancelToken | None) -> _Fight | None:
    """Return the chain that is proved to be at stake in a frame, None if none is.

    It is the surrounded side's, and counts only if nothing is at stake about each larger one: the problem may be that.
    """
    closed = _closed(frame, region, frame.surrounded) if frame.surrounded != EMPTY else None
    if closed is None:
        return None
    board, points, stones = closed
    for limit in (max(1, nodes // _SHORT), nodes):
        for fight in (_Fight(board, points, stone, color, nodes) for stone in stones):
            if cancel is not None and cancel.is_cancelled:
                return None
            proof = fight.prove(board, color, limit)
            if proof.is_proved:
                if proof.line[0] != PASS and not fight.prove(board, opponent(color), limit).is_proved:
                    return replace(fight, proof=proof) if proof.line[0] in points else None
            elif not proof.is_exhausted or not fight.prove(board, color, limit, retakes=True).is_exhausted:
                break
    return None


def _closed(frame: Frame, region: frozenset[int], side: int) -> tuple[Game, frozenset[int], list[int]] | None:
    """Return a frame with its far points filled, its points where moves may matter, and chains of `side` at stake.

    Filled are areas of the region that lie more than `STEPS` from all stones of `side` and touch stones of the other
    side.  None if stones would have no liberty then.
    """
    board = frame.board
    color, other = board.board.color, opponent(side)
    alive = pass_alive_owners(board.board, suicide=board.rules.suicide)
    stones = {point for point in frame.beside(region) if color[point] == side and alive[point] == EMPTY}
    near: set[int] = {point for stone in stones for point in board.liberties(stone)}
    for _step in range(STEPS - 1):
        near |= {point for point in frame.beside(near) & region if color[point] == EMPTY}
    filled, left = set[int](), {point for point in region - near if color[point] == EMPTY}
    while left:
        area, around = {left.pop()}, set[int]()
        while more := (around := frame.beside(area)) & left:
            area |= more
            left -= more
        if any(color[point] == other for point in around):
            filled |= area
    if filled:
        stood = [(each, point) for point, each in board.stones.items()]
        board = Game(board.width, board.height, board.rules, board.komi)
        try:
            board.set_up([*stood, *((other, point) for point in filled)], side)
        except IllegalMoveError:
            return None
    free = frozenset(point for point in region - filled if color[point] == EMPTY)
    chains: dict[int, int] = {min(board.chain(point)): len(board.chain(point)) for point in stones}
    return board, free, sorted(chains, key=lambda stone: (-chains[stone], stone))[:_CHAINS]


def _proved(
    fight: _Fight, frame: Frame, region: frozenset[int], asked: int | None, others: int
) -> tuple[SolutionMove, ...]:
    """Return what is proved of the best first move, of `asked` and of up to `others` more; none if not of `asked`."""
    assert fight.proof is not None
    best, found = fight.proof.line[0], list[SolutionMove]()
    if asked is not None and asked not in (PASS, *region):
        frame.original.copy().play(asked, fight.color)
    (x, y), width = point_to_xy(best, width=fight.board.width), fight.board.width
    places = ((point, *point_to_xy(point, width=width)) for point in sorted(fight.points - {best}))
    nearest = [point for point, *_at in sorted(places, key=lambda each: abs(each[1] - x) + abs(each[2] - y))]
    wanted = [point for point in nearest if frame.outside(point) == asked]
    if asked is not None and asked != frame.outside(best) and not wanted:
        refuted = fight.prove(fight.board, opponent(fight.color), fight.nodes, reverse=True)
        if not refuted.is_proved:
            return ()
        line = tuple(map(frame.outside, refuted.line))
        found.append(SolutionMove(asked, 0.0, (asked, *line[: _LINE - 1]), is_proved=True))
    legal = [point for point in (*wanted, *nearest) if fight.board.is_legal(point, fight.color)]
    for point in dict.fromkeys(legal[: len(wanted) + others]):
        compared = fight.compared(point)
        if compared is not None:
            move = _first_move(frame, fight.color, compared[1], compared[0], Success.SURE)
            found.append(replace(move, is_proved=True))
        elif point in wanted:
            return ()
    answer = replace(_first_move(frame, fight.color, fight.proof.line, 1.0, Success.SURE), is_proved=True)
    return (answer, *sorted(found, key=lambda move: -move.winrate))


def _succeeds(report: SearchReport, color: int) -> bool:
    """Return whether the best move of `color` succeeds."""
    return winrate_of(report.moves[0].value_black, color) >= SUCCESS


def _compared(
    frame: Frame, color: int, points: Sequence[int], reports: Sequence[SearchReport], success: Success
) -> list[SolutionMove]:
    """Return first moves by the searches of the positions after them: those as good as the best, then the others.

    Moves as good as the best keep the order of `points`; the others are sorted by winrate.  `success` is what they
    were searched for.
    """
    moves = []
    for point, report in zip(points, reports, strict=True):
        line = (point, *(report.best.pv if report.best is not None else ()))
        winrate = report.winrate if report.to_play == color else 1.0 - report.winrate
        moves.append(_first_move(frame, color, line, winrate, success))
    least = _least_good(moves)
    failing = [move for move in moves if move.winrate < least]
    return [move for move in moves if move.winrate >= least] + sorted(failing, key=lambda move: -move.winrate)


def _least_good(moves: Sequence[SolutionMove]) -> float:
    """Return the least winrate of a move that is as good as the best of `moves`: any, if none succeeds."""
    best = max(move.winrate for move in moves)
    return best - AS_GOOD if best >= SUCCESS else 0.0


def _afresh(game: Game, color: int, *, ko: Ko | None = None) -> Game:
    """Return a new game that begins with the position of `game`, under its rule of ko unless another is given."""
    stones = [(color, point) for point, color in game.stones.items()]
    rules = game.rules if ko is None else replace(game.rules, ko=ko)
    start = Game(game.width, game.height, rules, game.komi)
    start.set_up(stones, color)
    return start


def _other_moves(game: Game, report: SearchReport, region: frozenset[int]) -> list[int]:
    """Return the first moves to refute: those with the most visits, then those with the largest priors."""
    visits = {move.point: move.visits for move in report.moves}
    policy = report.raw.policy if report.raw is not None else None
    legal: list[int] = [*game.legal_points()]
    legal = [point for point in legal if point in region and point != report.moves[0].point]
    priors = {point: 0.0 if policy is None else float(policy[point]) for point in legal}
    return sorted(legal, key=lambda point: (-visits.get(point, 0), -priors[point], point))


def _after(game: Game, point: int, color: int, *, is_retaken: bool) -> Game:
    """Return the game after a move; where a ko that it takes may be retaken, a new game begins."""
    played = game.copy()
    played.play(point, color)
    return _afresh(played, opponent(color)) if is_retaken and played.ko_point is not None else played


def _half_points(komi: float) -> float:
    """Return the nearest number of points and a half, so that nothing is drawn."""
    return round(komi - 0.5) + 0.5


def _first_move(frame: Frame, color: int, line: Sequence[int], winrate: float, success: Success) -> SolutionMove:
    """Return a first move on the original board with its line, `line` being that of the frame.

    The line is cut where it cannot be played, and after two passes in a row.
    """
    points = [frame.outside(each) for each in line[:_LINE]]
    played, length = frame.original.copy(), 0
    while length < len(points) and not played.is_over and played.is_legal(points[length], color):
        played.play(points[length], color)
        length, color = length + 1, opponent(color)
    return SolutionMove(points[0], round(winrate, 4), tuple(points[: max(1, length)]), success)


def _left_alone(frame: Frame, color: int, point: int, after: SearchReport, success: Success) -> SolutionMove:
    """Return a first move that lies elsewhere, given the search of the problem with the other side to move.

    Raises IllegalMoveError.
    """
    frame.original.copy().play(point, color)
    reply = () if after.best is None else tuple(frame.outside(each) for each in after.best.pv[: _LINE - 1])
    return SolutionMove(point, round(winrate_of(after.value_black, color), 4), (point, *reply), success)


def framed(game: Game, region: frozenset[int]) -> Frame | None:
    """Return the problem in `region` of a position in a settled board, None if it cannot be cut out.

    That is so if neither side surrounds stones of the other there, or if there is no room for two eyes of each side.
    If either side could be the surrounding one, it is the side with more of the stones that are outermost.  Area counts
    there, and a ko forbids only to retake at once.
    """
    colors = np.array(
        [[game.color_at(xy_to_point(x, y, width=game.width)) for x in range(game.width)] for y in range(game.height)]
    )
    inside = np.zeros(colors.shape, dtype=np.bool_)
    for point in region:
        x, y = point_to_xy(point, width=game.width)
        inside[y, x] = True
    zones = [(each, zone) for each in (BLACK, WHITE) if (zone := _zone(game, colors, inside, each)) is not None]
    zones.sort(key=lambda each: (-_outer_share(colors, each[1], each[0]), each[1].sum()))
    if len(zones) == 2 and _outer_share(colors, zones[0][1], zones[0][0]) < CLEAR_SHARE:
        zones.insert(0, (EMPTY, zones[0][1] | zones[1][1]))
    sizes = [(size, size) for size in SIZES if size < min(game.width, game.height)] + [(game.width, game.height)]
    for size in sizes:
        for surrounding, zone in zones:
            place = _window(zone, size)
            if place is not None:
                left, top = place
                part = np.s_[top : top + size[1], left : left + size[0]]
                shares = SHARES if zone.shape == (size[1], size[0]) else SHARES[:1]
                filled = _filled(game, colors[part], zone[part], surrounding, shares)
                if filled is not None:
                    surrounded = EMPTY if surrounding == EMPTY else opponent(surrounding)
                    return Frame(filled[0], game, left, top, filled[1], surrounded)
    return None


def _window(zone: Grid, size: tuple[int, int]) -> tuple[int, int] | None:
    """Return the first column and row of a part of the board, of this width and height, that holds a zone.

    It lies at the edges that the zone lies at; None if it is too small, or the zone lies at opposite edges of a larger
    board.
    """
    starts = []
    for axis, length in ((0, size[0]), (1, size[1])):
        used, whole = np.flatnonzero(zone.any(axis=axis)), zone.shape[1 - axis]
        first, last = int(used[0]), int(used[-1])
        if last - first >= length or (first == 0 and last == whole - 1 and whole > length):
            return None
        if first == 0 or last == whole - 1:
            starts.append(0 if first == 0 else whole - length)
        else:  # in the middle, with a line beyond it at least
            if last - first + 2 >= length:
                return None
            starts.append(
                min(max(1 if whole > length else 0, first - (length - (last - first + 1)) // 2), whole - length)
            )
    return starts[0], starts[1]


def _outer_share(colors: NDArray[np.int64], zone: Grid, color: int) -> float:
    """Return the share of `color` in the outermost stones of a zone."""
    outer = _outermost(colors, zone)
    return int((outer == color).sum()) / max(1, int((outer != EMPTY).sum()))


def _outermost(colors: NDArray[np.int64], zone: Grid) -> NDArray[np.int64]:
    """Return the stones of a zone that come first in a row or column from the open board, by row and column."""
    stones, outer = np.where(zone, colors, EMPTY), np.full_like(colors, EMPTY)
    for _side in range(4):
        stones, zone, outer = np.rot90(stones), np.rot90(zone), np.rot90(outer)
        for y in np.flatnonzero(stones.any(axis=1)) if not zone[:, 0].any() else ():  # it is open on the left
            x = np.flatnonzero(stones[y])[0]
            outer[y, x] = stones[y, x]
    return outer


def _zone(game: Game, colors: NDArray[np.int64], inside: Grid, surrounding: int) -> Grid | None:
    """Return the points of a problem that `surrounding` encloses, None if it encloses nothing."""
    defending = colors == opponent(surrounding)
    zone = inside | (_grown(inside) & (colors != EMPTY))
    if not (defending & zone).any():
        return None
    while (new := _with_chains(game, zone, defending & zone)).sum() > zone.sum():
        zone = new
    return zone if (zone & (colors == surrounding)).any() else None


def _with_chains(game: Game, zone: Grid, stones: Grid) -> Grid:
    """Return the zone with the chains of these stones and one line around them."""
    chains = np.zeros_like(zone)
    for y, x in zip(*np.nonzero(stones), strict=True):
        if not chains[y, x]:
            for point in game.chain(xy_to_point(int(x), int(y), width=game.width)):
                column, row = point_to_xy(point, width=game.width)
                chains[row, column] = True
    return zone | _grown(chains)


def _grown(points: Grid) -> Grid:
    """Return the points with one line around them."""
    padded = np.pad(points, 1)
    height, width = points.shape
    grown = np.zeros_like(points)
    for y in range(3):
        for x in range(3):
            grown |= padded[y : y + height, x : x + width]
    return grown


def _filled(
    game: Game, colors: NDArray[np.int64], zone: Grid, surrounding: int, shares: Sequence[float]
) -> tuple[Game, float | None] | None:
    """Return the position with everything outside the zone filled, and `Frame.life`; None if one side does not live.

    `shares` are those of the other side's fair part to try.  If no side is `surrounding` (EMPTY), each point gets the
    colour of the outermost stone that is nearest.
    """
    wall = _grown(zone) & ~zone
    fair = (int((~zone).sum()) + SURROUNDED_SHARE * int(zone.sum())) / 2
    for share in shares:
        if surrounding == EMPTY:
            outer = _outermost(colors, zone)
            if not all((outer == color).any() for color in (BLACK, WHITE)):  # the zone lies at all edges
                return None
            owner = _nearest(outer)
        else:
            far = _farthest(~zone & ~wall, zone, round(share * fair))
            owner = np.where(far, opponent(surrounding), surrounding)
        stones = np.where(zone, colors, owner)
        for color in (BLACK, WHITE):
            area = ~zone & (owner == color)
            stones[_eyes(area) & ~(_grown(~area) if surrounding == EMPTY else ~area)] = EMPTY
        board = _board_of(game, stones)
        if board is not None and _lives(board, ~zone & (stones != EMPTY)):
            if surrounding == EMPTY:
                return board, None
            own, other = (int((~zone & (owner == color)).sum()) for color in (surrounding, opponent(surrounding)))
            surrounded = int((zone & (colors == opponent(surrounding))).sum())
            margin = own + int(zone.sum()) - other - surrounded - EYES
            return board, float(margin if surrounding == BLACK else -margin)
    return None


def _nearest(stones: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the colour of the stone that is nearest to each point, Black where both are as near."""
    height, width = stones.shape
    ys, xs = np.mgrid[:height, :width]
    black, white = (
        np.min([(ys - y) ** 2 + (xs - x) ** 2 for y, x in zip(*np.nonzero(stones == color), strict=True)], axis=0)
        for color in (BLACK, WHITE)
    )
    return np.where(black <= white, BLACK, WHITE)


def _board_of(game: Game, stones: NDArray[np.int64]) -> Game | None:
    """Return a game that begins with these stones, None if one of them has no liberty."""
    height, width = stones.shape
    board = Game(width, height, replace(RULES, suicide=game.rules.suicide), game.komi)
    try:
        board.set_up(
            [
                (int(stones[y, x]), xy_to_point(int(x), int(y), width=width))
                for y, x in zip(*np.nonzero(stones), strict=True)
            ],
            game.to_play,
        )
    except IllegalMoveError:
        return None
    return board


def _farthest(beyond: Grid, zone: Grid, count: int) -> Grid:
    """Return up to `count` connected points of `beyond`, grown from the one farthest from the zone."""
    distance = np.zeros(zone.shape, dtype=np.int64)
    reached = zone
    while not reached.all():
        distance[~reached] += 1
        reached = _grown(reached)
    chosen = np.zeros_like(zone)
    if not beyond.any():
        return chosen
    chosen[np.unravel_index(np.argmax(np.where(beyond, distance, -1)), zone.shape)] = True
    while chosen.sum() < count:
        edge = _grown(chosen) & beyond & ~chosen
        if not edge.any():
            break
        candidates = sorted(zip(*np.nonzero(edge), strict=True), key=lambda place: (-distance[place], place))
        for place in candidates[: count - int(chosen.sum())]:
            chosen[place] = True
    return chosen


def _eyes(area: Grid) -> Grid:
    """Return single points of an area, apart from each other and from its border, to be eyes."""
    eyes = np.zeros_like(area)
    padded = np.pad(area, 1, constant_values=True)
    taken = np.pad(eyes, 1)
    for y, x in zip(*np.nonzero(area), strict=True):
        neighbors = (padded[y, x + 1], padded[y + 2, x + 1], padded[y + 1, x], padded[y + 1, x + 2])
        if all(neighbors) and not taken[y : y + 3, x : x + 3].any():
            taken[y + 1, x + 1] = eyes[y, x] = True
    return eyes


def _lives(game: Game, stones: Grid) -> bool:
    """Return whether these stones are of both colours and all pass-alive."""
    alive = pass_alive_owners(game.board, suicide=game.rules.suicide)
    points = [xy_to_point(int(x), int(y), width=game.width) for y, x in zip(*np.nonzero(stones), strict=True)]
    colors = [game.color_at(point) for point in points]
    return len(set(colors)) == 2 and all(alive[point] == color for point, color in zip(points, colors, strict=True))


# Records of problems

_LONGEST: Final = 60
"""Moves of a problem's main line at most: a longer one is a game that goes on from a position."""

_HAS_STONES: Final = re.compile(rb"A[BW]\s*\[")

_SAID_RIGHT: Final = re.compile(
    r"\b(RIGHT|CORRECT)\b|^\s*(?i:right|correct|success|solved)\b\s*(?=[.!,:;]|$)|正解|正确|正確|정답"
)
_SAID_WRONG: Final = re.compile(
    r"\b(WRONG|INCORRECT)\b|^\s*(?i:wrong|incorrect|fail(?:ure|s|ed)?)\b|不正解|失敗|失败|错误|錯誤|실패|오답"
)
"""How comments of problem collections say that a line is right or wrong; SGF has TE and BM for it."""

_WHITE_FIRST: Final = re.compile(r"(?i:\bwhite to\b)|白先|白番|백선|백차례")


def problems_in(data: bytes) -> list[bytes]:
    """Return the problems of a file, one record each; none if its first game with stones set up is no problem.

    A problem begins with stones of both colours, and goes on for a few moves at most.  Raises SgfError.
    """
    found = [game for game in each_game(data) if _HAS_STONES.search(game)]
    if not found:
        return []
    record = GameTree(found[0]).record
    colors = {stone.color for stone in record.setup_stones}
    return found if len(colors) == 2 and len(record.moves) <= _LONGEST else []


def problem_values(data: bytes) -> dict[str, Any]:
    """Return a problem as plain values; raises SgfError, and IllegalMoveError for stones without liberties.

    These are width and height, `setup`, [colour, vertex] each, `first`, the colour that is to succeed, `comment`, and
    the `nodes` of its moves, each with `id` and `parent` (None for the position itself), `move`, and as far as it has
    one its `comment` and whether it `is_right`.
    """
    tree = GameTree(data)
    start = list(takewhile(lambda node: not node.moves, tree.main_line()))[-1]
    game = start.game()
    record, comment = tree.record, "\n".join(filter(None, (node.comment for node in start.path())))
    first = int(game.to_play)
    if not record.moves and not any(node.get("PL") for node in start.path()) and _WHITE_FIRST.search(comment):
        first = WHITE
    nodes: list[dict[str, Any]] = []
    parents: dict[int, int | None] = {}
    for node in start.walk():
        above = parents.get(node.parent.id) if node.parent is not None else None
        move = None if node is start else node.move
        parents[node.id] = above if move is None else node.id
        if move is not None:
            values = {"comment": node.comment, "is_right": _is_right(node)}
            nodes.append(
                {"id": node.id, "parent": above, "move": (format_color(move.color), tree.vertex(move.point))}
                | {name: value for name, value in values.items() if value not in ("", None)}
            )
    stones = ((point, game.color_at(point)) for point in board_points(game.width, game.height))
    setup = [(format_color(color), game.vertex(point)) for point, color in stones if color != EMPTY]
    size = {"width": game.width, "height": game.height}
    return {**size, "setup": setup, "first": format_color(first), "comment": comment, "nodes": nodes}


def _is_right(node: GameNode) -> bool | None:
    """Return what a node of a problem says of its move, None for nothing."""
    names, comment = node.names, node.comment
    if "BM" in names or _SAID_WRONG.search(comment):
        return False
    return True if "TE" in names or _SAID_RIGHT.search(comment) else None
