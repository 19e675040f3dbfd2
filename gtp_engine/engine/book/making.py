"""Making a book larger: again and again the positions that matter most are added, each searched once.

What to add next is decided by cost, as in KataGo's books, whose numbers these are (`cpp/configs/book/genbook7tt.cfg`;
those about winrates are left out, because values here are points):

    a move costs     0.45 + 0.75 for each point, up to three, by which its upper bound is behind the best one
                          + 0.75 for each e-fold by which its prior is below 1
                          + 3.5 if a pass is best in its position
    adding it also   0.25 for each move of its position that is in the book, and 0.05 times the square of their number,
                     less 0.03 for each point of its error

The cheapest moves, by the sum from the empty board on, come first.  Up to half of a step goes to the best line itself:
the move at its end, and those at the ends of the lines after each second best move in it, so that the value of the book
is that of lines that have been looked at.  A position that other moves have led to costs no
search.  The searches of a step are made side by side (`search.puct.joint_search`), and written before the next step.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from heapq import heappop, heappush, nsmallest
from math import inf, log
from typing import Final

from gtp_engine.config import Config
from gtp_engine.engine.book.book import DECIMALS, Book, BookHeader, BookMove, BookNode, mirrored, place
from gtp_engine.engine.game_end import counts_all_stones
from gtp_engine.evaluation.evaluator import Evaluator, ForwardingEvaluator
from gtp_engine.go.game import Game
from gtp_engine.search.limits import Limits, SearchRequest
from gtp_engine.search.puct.joint_search import JointSearch
from gtp_engine.search.report import SearchReport

COST: Final = 0.45
COST_PER_POINT: Final = 0.75
MOST_POINTS: Final = 3.0
COST_PER_NAT: Final = 0.75
COST_AFTER_PASS: Final = 3.5
COST_PER_SIBLING: Final = 0.25
COST_PER_SQUARE: Final = 0.05
BONUS_PER_ERROR: Final = 0.03
"""The costs of the module's docstring; KataGo's."""

MOST_MOVES: Final = 12
"""Most moves that a book keeps of a position's search, the most visited ones."""

LEAST_PRIOR: Final = 1e-4
"""Prior that a move is taken to have at least."""

WIDE_NOISE: Final = 0.05
"""`wide_root_noise` of the searches, so that no good move is missed; KataGo's (`wideRootNoise` in the file above)."""


FAIR_SEARCHES: Final = 4
"""Most searches for a fair komi, each at the komi that the last one expected to be fair."""


class KeepingEvaluator(ForwardingEvaluator):
    """An evaluator whose cache outlives searches: a position was a leaf of the search of the one before it."""

    def clear_cache(self) -> None:
        """Do nothing."""


class BookSearch:
    """Searches positions for books with an evaluator, `at_once` of them side by side."""

    def __init__(self, evaluator: Evaluator, visits: int, at_once: int) -> None:
        config = Config().with_values(
            {"search.seed": 1, "puct.useless_pruning": False, "puct.conservative_pass": False}
        )
        self.visits: Final = visits
        self.at_once: Final = at_once
        self._request: Final = SearchRequest(Limits(visits=visits), wide_root_noise=WIDE_NOISE, passes_end=True)
        self._search: Final = JointSearch(config, KeepingEvaluator(evaluator), at_once)

    def search(self, games: Sequence[Game]) -> list[BookNode]:
        """Return what searches find in the positions of games, which are not over."""
        found = []
        for start in range(0, len(games), self.at_once):
            some = games[start : start + self.at_once]
            reports = self._search.run([(game, game.to_play) for game in some], self._request)
            found += [searched(game, report) for game, report in zip(some, reports, strict=True)]
        return found


def line_of(game: Game, symmetry: int) -> tuple[str, ...]:
    """Return the moves of a game as the book has them that lays its board by this symmetry."""
    return tuple(_vertex(game, move.point, symmetry) for move in game.moves)


def _vertex(game: Game, point: int, symmetry: int) -> str:
    return game.vertex(mirrored(point, symmetry, (game.width, game.height)))


def fair_komi(header: BookHeader, evaluator: Evaluator, visits: int) -> float:
    """Return the whole komi that searches of the empty board expect to be fair, starting from the header's."""
    search = BookSearch(evaluator, visits, at_once=1)
    for _ in range(FAIR_SEARCHES):
        (node,) = search.search([header.game()])
        points = max(node.moves, key=lambda move: move.visits).score if node.moves else node.score
        if round(points) == header.komi:
            break
        header = replace(header, komi=float(round(points)))
    return header.komi


def searched(game: Game, report: SearchReport) -> BookNode:
    """Return the position of a game with what a search found."""
    key, symmetry = place(game)
    moves = sorted(report.moves, key=lambda move: (-move.visits, -move.prior))
    chosen = [move for move in moves if move.visits > 0 and move.symmetry_of is None][:MOST_MOVES]
    raw = report.raw
    assert raw is not None, "a search with a network evaluates the root"
    error = report.score_stdev if raw.score_error < 0.0 else raw.score_error
    return BookNode(
        key,
        line_of(game, symmetry),
        report.visits,
        round(report.score_black + game.komi, DECIMALS),
        round(error, DECIMALS),
        [
            BookMove(
                _vertex(game, move.point, symmetry),
                round(move.prior, DECIMALS),
                move.visits,
                round(move.score_black + game.komi, DECIMALS),
            )
            for move in chosen
        ],
    )


def finished(game: Game) -> BookNode:
    """Return the position of a game that is over, which the stones on the board decide."""
    key, symmetry = place(game)
    return BookNode(key, line_of(game, symmetry), 0, game.score().margin_black + game.komi, 0.0)


def enlarge(
    book: Book, search: BookSearch, positions: int, *, is_stopped: Callable[[], bool], progress: Callable[[Book], None]
) -> None:
    """Add positions until the book has so many, nothing is left to add, or `is_stopped` after a step.

    `progress` is called after each.
    """
    if not book.nodes:
        (first,) = search.search([book.header.game()])
        book.extend([(first, None, None)])
        progress(book)
    while len(book) < positions and not is_stopped():
        count = min(search.at_once, positions - len(book))
        chosen = line_ends(book, (count + 1) // 2)
        for _, node, move in expansions(book, count):
            if len(chosen) < count and not any(move is other for _, other in chosen):
                chosen.append((node, move))
        if not chosen:
            return
        _add(book, search, chosen)
        progress(book)


def _add(book: Book, search: BookSearch, wanted: Sequence[tuple[BookNode, BookMove]]) -> None:
    """Add the positions after moves; those that are in the book already are only led to."""
    games: dict[str, Game] = {}
    keys, done = [], {}
    for node, move in wanted:
        game = book.header.game(node.line)
        game.play(move.vertex)
        key = place(game).key
        keys.append(key)
        if book.node(key) is None and key not in done:
            if game.is_over:
                done[key] = finished(game)
            else:
                games.setdefault(key, game)
    done |= zip(games, search.search(list(games.values())), strict=True)
    book.extend([(node, move, done.get(key) or book.node(key)) for (node, move), key in zip(wanted, keys, strict=True)])


def costs(book: Book) -> list[float]:
    """Return the cost of each position of a book, from the empty board on; infinite where no line leads to it."""
    found = [inf] * len(book)
    waiting = [(0.0, 0)] if book.nodes else []
    while waiting:
        cost, number = heappop(waiting)
        if cost >= found[number]:
            continue
        found[number] = cost
        node = book.nodes[number]
        for move, price in zip(node.moves, _prices(book, node), strict=True):
            if move.to is not None and cost + price < found[move.to]:
                heappush(waiting, (cost + price, move.to))
    return found


def line_ends(book: Book, count: int) -> list[tuple[BookNode, BookMove]]:
    """Return up to `count` moves to be added: at the end of the best line, then where a second best move leads to."""
    main = book.best_line()
    starts = [main]
    for _, node in main:
        for move, _ in book.options(node)[1:2]:
            starts.append([(move, node), *([] if move.to is None else book.best_line(book.nodes[move.to]))])
    found: list[tuple[BookNode, BookMove]] = []
    for move, node in (line[-1] for line in starts if line):
        if len(found) < count and _may_be_added(book, node, move) and (node, move) not in found:
            found.append((node, move))
    return found


def _may_be_added(book: Book, node: BookNode, move: BookMove) -> bool:
    """Return whether a move leads to a position that is not in the book yet, and that a book can have.

    A second pass is never added where players would then agree on dead stones, which no book knows.
    """
    ends = node.line[-1:] == ("pass",) and move.vertex == "pass"
    return move.to is None and (counts_all_stones(book.header.rules) or not ends)


def expansions(book: Book, count: int) -> list[tuple[float, BookNode, BookMove]]:
    """Return the moves that are to be added next, each with its cost from the empty board on, the cheapest first."""
    found = []
    for node, cost in zip(book.nodes, costs(book), strict=True):
        if cost == inf:
            continue
        siblings = len(node.linked)
        extra = siblings * COST_PER_SIBLING + siblings * siblings * COST_PER_SQUARE - node.error * BONUS_PER_ERROR
        for move, price in zip(node.moves, _prices(book, node), strict=True):
            if _may_be_added(book, node, move):
                found.append((cost + price + extra, node, move))
    return nsmallest(count, found, key=lambda each: each[0])


def _prices(book: Book, node: BookNode) -> list[float]:
    """Return what each move of a position costs."""
    found = [book.interval(node, move) for move in node.moves]
    bounds = [each.upper if node.sign > 0.0 else -each.lower for each in found]
    best = max(bounds, default=0.0)
    options = book.options(node)
    fixed = COST + (COST_AFTER_PASS if options and options[0][0].vertex == "pass" else 0.0)
    return [
        fixed + COST_PER_POINT * min(MOST_POINTS, best - bound) - COST_PER_NAT * log(max(LEAST_PRIOR, move.prior))
        for move, bound in zip(node.moves, bounds, strict=True)
    ]
