"""Life and death in a region: the best first move, and why other first moves fail.

First a proof is looked for (`proofs`): that a first move saves or captures a chain without a ko, and that it is needed,
or that none does.  Where there is none, a search with a network says what is to be expected, in the following way.

Only moves in the region are searched, and passes after the first move, in a settled board (`framed`) where the problem
can be cut out.  The komi is moved to the middle between the life and the death of the surrounded stones, or, where
there are none or the first side seems to have its way with them already, between what the region is worth if Black
moves first and if White does.  So the game is won by the side that succeeds in the region.

A region has no ko threats, so who takes a ko first would win it.  Instead three questions are asked, one after the
other (`Success`): does the first side succeed if all kos it takes can be retaken at once, as if the other side had any
number of threats; if each side has none; or if it may retake all kos itself?  An answer to the first one needs no ko.

Where it is not clear that one move alone succeeds, all of this is done again with `DEEPER` times as many visits.  Where
no move succeeds after that, the answer is one that surely gains points: a part of the stones may be what matters.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from gtp_engine.base.errors import IllegalMoveError, counted, problem
from gtp_engine.base.streams import Log
from gtp_engine.config import Config
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.go.constants import BLACK, PASS, WHITE, opponent
from gtp_engine.go.coords import board_points, to_color
from gtp_engine.go.game import Game, after_move
from gtp_engine.go.rules import Ko
from gtp_engine.people.review.game_analysis import scoring_evaluator, seeded
from gtp_engine.people.review.problems.frames import Frame, framed
from gtp_engine.people.review.problems.proofs import NODES, fight_in, lost_moves, proved_moves
from gtp_engine.people.review.problems.regions import region_of
from gtp_engine.people.review.problems.solution import LINE, SUCCESS, Solution, SolutionMove, Success, first_move
from gtp_engine.search.limits import AT_ANY_DEPTH, CancelToken, Limits, Restriction, SearchRequest
from gtp_engine.search.puct.joint_search import JointSearch
from gtp_engine.search.report import SearchReport, winrate_of

DEFAULT_VISITS: Final = 500

DEEPER: Final = (4, 16)
"""Times as many visits, one after the other, while no answer is clear: after 500 visits that is so of 50 of 102
problems, all 15 wrong ones among them (docs/notes/2026-11-30-problems.md)."""

WRONG_MOVES: Final = 4
"""Other first moves that are compared with the best: those the search tried most."""

KOMI_SHARE: Final = 0.25
"""Share of the visits in each of two searches that find the komi."""

LEAST_VISITS: Final = 50
"""Least visits of each of these two searches."""


class LifeAndDeath:
    """Solves problems by proofs of up to `nodes` positions (0: without), else with one evaluator, which stays open.

    Each position is searched with `visits`, while no answer is clear with `deeper` times as many; `wrong_moves` is how
    many other first moves are compared with the best at most, each by a search of the position after it.  `log` gets
    a line for each deeper search.  Raises ConfigError without a network that evaluates score and ownership.
    """

    def __init__(
        self,
        config: Config,
        evaluator: Evaluator | None,
        visits: int = DEFAULT_VISITS,
        *,
        nodes: int = NODES,
        wrong_moves: int = WRONG_MOVES,
        deeper: Sequence[int] = DEEPER,
        log: Log = lambda _text: None,
    ) -> None:
        self._nodes: Final = nodes
        evaluator = scoring_evaluator("a problem", evaluator)
        self._others: Final = wrong_moves
        self._search: Final = JointSearch(seeded(config), evaluator, max(2, wrong_moves + 1))
        self._visits: Final = [visits, *(times * visits for times in deeper)]
        self._log: Final = log

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
        if there is no legal move in the region or at `asked`, InvalidVertexError and InvalidColorError.
        """
        color = game.to_play if color is None else to_color(color)
        region = region_of(game) if region is None else frozenset(game.all_on_board(region))
        start = _afresh(game, color)
        if asked is not None and asked not in (PASS, *region):
            start.copy().play(asked, color)  # raises IllegalMoveError
        frame = framed(start, region) or Frame(_afresh(start, color, ko=Ko.SIMPLE), start, region)
        if self._nodes:
            fight = fight_in(frame, self._nodes, cancel)
            proved = lost_moves(frame, self._nodes) if fight is None else proved_moves(fight, asked, self._others)
            if proved:
                return Solution(start, color, proved)
        return self._searched(frame, asked, cancel)

    def _searched(self, frame: Frame, asked: int | None, cancel: CancelToken | None) -> Solution:
        """Return what searches expect, deeper ones while it is not clear; see `solve`."""
        found = tuple[SolutionMove, ...]()
        for visits in self._visits:
            if visits > self._visits[0]:
                self._log(f"no clear answer yet: searching with {counted(visits, 'visit')}")
            limits = Limits(visits, cancel=cancel)
            found = self._expected(frame, asked, limits, found[:1])
            solution = Solution(frame.original, frame.color, found)
            if solution.is_clear or limits.is_cancelled:
                return solution
        if frame.life is not None and not solution.succeeds:
            gaining = self._expected(replace(frame, life=None), asked, limits, found[:1])[0]
            if gaining.winrate >= SUCCESS:
                gaining = replace(gaining, winrate=min(gaining.winrate, found[0].winrate))
                return replace(solution, moves=(gaining, *(move for move in found if move.point != gaining.point)))
        return solution

    def _expected(
        self, frame: Frame, asked: int | None, limits: Limits, earlier: Sequence[SolutionMove]
    ) -> tuple[SolutionMove, ...]:
        """Return first moves, the best first, by searches with these limits; see `solve`.

        The answers of `earlier` searches are among the moves that are compared, if there is room.  A point `asked` that
        lies elsewhere comes last, with the search of the problem with the other side to move.
        """
        board, color = frame.board, frame.color
        outside = frozenset(board_points(board.width, board.height)) - frame.points
        inside = tuple(Restriction(each, outside, AT_ANY_DEPTH) for each in (BLACK, WHITE))
        no_pass = tuple(Restriction(each, frozenset({PASS})) for each in (BLACK, WHITE))
        report, success = self._best(frame, SearchRequest(limits, restrictions=(*inside, *no_pass)))
        best, others = report.moves[0], _other_moves(frame, report)
        asked_for = [point for point in others if asked is not None and frame.outside(point) == asked]
        answers = [point for point in others if frame.outside(point) in [move.point for move in earlier]]
        others = list(dict.fromkeys([*asked_for, *answers, *others[: self._others]]))[: max(1, self._others)]
        moves = [first_move(frame, best.pv, _winrate(report, color), success)]
        if self._others or asked_for:
            points = [best.point, *others]
            request = success.request(SearchRequest(limits, restrictions=inside), color)
            boards = [_after(board, point, is_retaken=success is Success.SURE) for point in points]
            reports = self._search.run([(each, opponent(color)) for each in boards], request)
            moves = []
            for point, after in zip(points, reports, strict=True):
                line = (point, *(after.best.pv if after.best is not None else ()))
                moves.append(first_move(frame, line, 1.0 - after.winrate, success))
            moves.sort(key=lambda move: -move.winrate)
        if asked is not None and asked not in (PASS, *frame.region):
            request = success.request(SearchRequest(limits, restrictions=(*inside, *no_pass)), color)
            (after,) = self._search.run([(_after(board, PASS, is_retaken=False), opponent(color))], request)
            reply = () if after.best is None else tuple(map(frame.outside, after.best.pv[: LINE - 1]))
            winrate = round(winrate_of(after.value_black, color), 4)
            moves.append(SolutionMove(asked, winrate, (asked, *reply), success))
        return tuple(moves)

    def _best(self, frame: Frame, request: SearchRequest) -> tuple[SearchReport, Success]:
        """Return the search of the best way in which the first side succeeds, else of that in which it comes nearest.

        Sets the komi of the frame.  Raises IllegalMoveError without a legal move.
        """
        board, color = frame.board, frame.color
        board.komi = self._komi(frame, request)
        tried = list[tuple[SearchReport, Success]]()
        for success in Success:
            (report,) = self._search.run([(board, color)], success.request(request, color))
            if not report.moves:
                raise IllegalMoveError("region", problem("no legal move in the region", advice="name a larger one"))
            tried.append((report, success))
            if _winrate(report, color) >= SUCCESS:
                return tried[-1]
        return max(tried, key=lambda way: _winrate(way[0], color))

    def _komi(self, frame: Frame, request: SearchRequest) -> float:
        """Return the komi with which the side wins that succeeds: in the middle between life and death.

        Where these are not at stake, it is between Black moving first and White moving first; both win all kos.
        """
        board, life = frame.board, frame.life
        (raw,) = self._search.run([(board, board.to_play)], Limits(1))
        board.komi = _half_points(board.komi + raw.lead_black)
        visits = max(LEAST_VISITS, round(KOMI_SHARE * (request.limits.visits or 0)))
        short = replace(request, limits=replace(request.limits, visits=visits))
        colors = BLACK, WHITE
        reports = self._search.run(
            [(board, each) for each in colors], *(Success.KO_WITH_THREATS.request(short, each) for each in colors)
        )
        white, black = sorted(
            board.komi + (report.best.lead_black if report.best is not None else report.lead_black)
            for report in reports
        )
        middle = (white + black) / 2
        # The stones live or die, or perhaps they do and the short searches did not find out how.
        if life is not None and (white < life < black or (life > middle) == (frame.color == BLACK)):
            middle = life
        return _half_points(middle)


def _winrate(report: SearchReport, color: int) -> float:
    """Return the winrate of the best move of `color`."""
    return winrate_of(report.moves[0].value_black, color)


def _afresh(game: Game, color: int, *, ko: Ko | None = None) -> Game:
    """Return a new game that begins with the position of `game`, under its rule of ko unless another is given."""
    stones = [(color, point) for point, color in game.stones.items()]
    rules = game.rules if ko is None else replace(game.rules, ko=ko)
    start = Game(game.width, game.height, rules, game.komi)
    start.set_up(stones, color)
    return start


def _other_moves(frame: Frame, report: SearchReport) -> list[int]:
    """Return the first moves to refute: those with the most visits, then those with the largest priors."""
    visits = {move.point: move.visits for move in report.moves}
    policy = report.raw.policy if report.raw is not None else None
    legal: list[int] = [*frame.board.legal_points()]
    legal = [point for point in legal if point in frame.points and point != report.moves[0].point]
    priors = {point: 0.0 if policy is None else float(policy[point]) for point in legal}
    return sorted(legal, key=lambda point: (-visits.get(point, 0), -priors[point], point))


def _after(game: Game, point: int, *, is_retaken: bool) -> Game:
    """Return the game after a move; where a ko that it takes may be retaken, a new game begins."""
    played = after_move(game, point)
    return _afresh(played, played.to_play) if is_retaken and played.ko_point is not None else played


def _half_points(komi: float) -> float:
    """Return the nearest number of points and a half, so that nothing is drawn."""
    return round(komi - 0.5) + 0.5
