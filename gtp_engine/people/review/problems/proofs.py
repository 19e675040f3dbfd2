"""First moves that are proved to save or capture a chain, and why others fail (`search.fights`).

A proof holds without a ko, and if all points of the region more than `STEPS` from the surrounded side's stones (that no
move succeeds: `_STEPS_LOST`) are the other side's.  Kos are never proved: where one side needs a ko, or where who has
more threats decides, the network's search answers.
"""

from dataclasses import dataclass, replace
from typing import Final

from gtp_engine.base.errors import IllegalMoveError
from gtp_engine.go.benson import pass_alive_owners
from gtp_engine.go.constants import EMPTY, PASS, opponent
from gtp_engine.go.coords import point_to_xy
from gtp_engine.go.game import Game
from gtp_engine.people.review.problems.frames import Frame
from gtp_engine.people.review.problems.solution import LINE, SolutionMove, first_move
from gtp_engine.search.fights import FightReader, Proof
from gtp_engine.search.limits import CancelToken

NODES: Final = 100_000
"""Positions of the longest search for a proof, about a second."""

STEPS: Final = 3
"""Steps across empty points from a surrounded stone to where moves may matter in a proof.  With 2, Q3 of Maeda's
problem 1k-1d 114 is proved; the known answer is S1, a ko (docs/notes/2026-11-30-problems.md)."""

_STEPS_LOST: Final = 5
"""The same in a proof that no move succeeds: such a claim wants more room than an answer.  With it none of 102 problems
that have an answer was called lost."""

_SHORT: Final = 8
"""Part of `NODES` of the searches that come first, and of those about other first moves."""

_ATTACKABLE: Final = 3
"""Liberties up to which a chain of the other side beside the fight may be captured in it.  Maeda's problem 1k-5k 181 of
the collection in docs/notes has such a chain of two, without whose liberty another first move would be proved."""

_WEAK: Final = 2
_CUT: Final = 2
"""Liberties up to which such a chain may be cut off, and steps beyond them that stay open: stones of its side there
would connect it, or take what cuts it off."""

_CHAINS: Final = 4
"""Chains of a side that may be at stake: the largest."""


@dataclass(frozen=True)
class Fight:
    """A chain that the first side saves or captures without a ko, but only by moving first: `proof` shows how."""

    frame: Frame
    board: Game
    """The frame with its far points filled."""
    points: frozenset[int]
    """Empty points of the region where moves may matter."""
    stone: int
    nodes: int
    proof: Proof | None = None

    def prove(self, board: Game, first: int, nodes: int, *, reverse: bool = False, retakes: bool = False) -> Proof:
        """Return the search for a proof that the aim is reached, or not with `reverse`, if `first` moves first."""
        reader = FightReader(board.board, suicide=board.rules.suicide, nodes=nodes)
        saves = board.color_at(self.stone) == self.frame.color
        return (reader.survives if saves != reverse else reader.captures)(self.stone, first, retakes=retakes)

    def compared(self, point: int) -> tuple[float, tuple[int, ...]] | None:
        """Return whether a first move succeeds as a winrate of 1 or 0, with its line; None if neither is proved."""
        board, color = self.board.copy(), self.frame.color
        board.play(point, color)
        for reverse in (True, False):
            proof = self.prove(board, opponent(color), max(1, self.nodes // _SHORT), reverse=reverse)
            if proof.is_proved:
                return 0.0 if reverse else 1.0, (point, *proof.line)
        return None


def fight_in(frame: Frame, nodes: int, cancel: CancelToken | None) -> Fight | None:
    """Return the chain that is proved to be at stake in a frame, None if none is.

    It is the surrounded side's, and counts only if nothing is at stake about each larger one: the problem may be that.
    """
    fights, color = _fights(frame, STEPS, nodes)[:_CHAINS], frame.color
    for limit in (max(1, nodes // _SHORT), nodes):
        for fight in fights:
            if cancel is not None and cancel.is_cancelled:
                return None
            proof = fight.prove(fight.board, color, limit)
            if proof.is_proved:
                if proof.line[0] != PASS and not fight.prove(fight.board, opponent(color), limit).is_proved:
                    return replace(fight, proof=proof) if proof.line[0] in fight.points else None
            elif not proof.is_exhausted or not fight.prove(fight.board, color, limit, retakes=True).is_exhausted:
                break
    return None


def _fights(frame: Frame, steps: int, nodes: int) -> list[Fight]:
    """Return the fights about the surrounded side's chains, the largest first, in a frame with its far points filled.

    Filled are areas of the region that lie more than `steps` from all stones of that side and touch stones of the other
    one, but no liberties of the other side's chains that may be captured, nor what is near those of its chains that may
    be cut off.  There are none if neither side surrounds the other, or stones would have no liberty then.
    """
    board, region, side = frame.board, frame.points, frame.surrounded
    if side == EMPTY:
        return []
    color, other = board.board.color, opponent(side)
    alive = pass_alive_owners(board.board, suicide=board.rules.suicide)
    stones = {point for point in frame.beside(region) if color[point] == side and alive[point] == EMPTY}
    near: set[int] = {point for stone in stones for point in board.liberties(stone)}
    for _step in range(steps - 1):
        near |= {point for point in frame.beside(near) & region if color[point] == EMPTY}
    beside = {point for point in frame.beside(near | stones) if color[point] == other and alive[point] == EMPTY}
    liberties = [board.liberties(point) for point in beside]
    near |= {point for each in liberties if len(each) <= _ATTACKABLE for point in each} & region
    cuts: set[int] = {point for each in liberties if len(each) <= _WEAK for point in each}
    for _step in range(_CUT):
        cuts |= {point for point in frame.beside(cuts) if color[point] == EMPTY}
    near |= cuts & region
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
            return []
    free = frozenset(point for point in region - filled if color[point] == EMPTY)
    chains: dict[int, int] = {min(board.chain(point)): len(board.chain(point)) for point in stones}
    largest = sorted(chains, key=lambda stone: (-chains[stone], stone))
    return [Fight(frame, board, free, stone, nodes) for stone in largest]


def proved_moves(fight: Fight, asked: int | None, others: int) -> tuple[SolutionMove, ...]:
    """Return what is proved of the best first move, of `asked` and of up to `others` more; none if not of `asked`."""
    assert fight.proof is not None
    best, found, frame = fight.proof.line[0], list[SolutionMove](), fight.frame
    (x, y), width = point_to_xy(best, width=fight.board.width), fight.board.width
    places = ((point, *point_to_xy(point, width=width)) for point in sorted(fight.points - {best}))
    nearest = [point for point, *_at in sorted(places, key=lambda each: abs(each[1] - x) + abs(each[2] - y))]
    wanted = [point for point in nearest if frame.outside(point) == asked]
    if asked is not None and asked != frame.outside(best) and not wanted:
        refuted = fight.prove(fight.board, opponent(frame.color), fight.nodes, reverse=True)
        if not refuted.is_proved:
            return ()
        replies = map(frame.outside, refuted.line[: LINE - 1])
        found.append(SolutionMove(asked, 0.0, (asked, *replies), is_proved=True))
    legal = [point for point in (*wanted, *nearest) if fight.board.is_legal(point, frame.color)]
    for point in dict.fromkeys(legal[: len(wanted) + others]):
        compared = fight.compared(point)
        if compared is not None:
            winrate, line = compared
            found.append(first_move(frame, line, winrate, is_proved=True))
        elif point in wanted:
            return ()
    answer = first_move(frame, fight.proof.line, 1.0, is_proved=True)
    return (answer, *sorted(found, key=lambda move: -move.winrate))


def lost_moves(frame: Frame, nodes: int) -> tuple[SolutionMove, ...]:
    """Return the longest resistance if it is proved that no first move succeeds, else nothing.

    That is so if each chain at stake is captured, or survives, though `color` moves first.
    """
    lines = list[tuple[int, ...]]()
    for fight in _fights(frame, _STEPS_LOST, nodes):
        lost = fight.prove(fight.board, frame.color, max(1, nodes // _SHORT), reverse=True)
        if not lost.is_proved:
            return ()
        lines.append(lost.line or (PASS,))
    return (first_move(frame, max(lines, key=len), 0.0, is_proved=True),) if lines else ()
