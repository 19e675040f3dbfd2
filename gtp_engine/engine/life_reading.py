"""Reads out disputes about life and death: both sides play until the stones are captured, proved alive or left alone.

A *dispute* is about groups whose life the ownership leaves open.  A chain is *doubtful* if nothing proves its status
and the searches do not agree on a nearly certain owner.  So is a chain that lives only in seki, as far as the searches
can tell: the network takes many capturing races for seki.  Doubtful chains of one colour that meet, directly or across
loose points, are one dispute: they live or die together.  *Loose* are the empty points, the doubtful chains, and those
that the searches expect to die.

The attacker moves first; stones that survive are alive.  Those that do not are dead if they are captured as well when
their own side moves first; else they are unsettled: the next move decides.  The result replaces the ownership that the
searches expected, so that all conclusions from ownership follow it.

Only moves near the stones are read: elsewhere they would decide nothing, and there is no ko threat for either side.
A seki needs no rule of its own: a pass is a move, and the side that would lose its stones by playing passes.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.engine.game_end import (
    SURE,
    Ownership,
    chain_ownership,
    chains_of,
    dead_stones,
    legal_moves,
    reach,
    with_proofs,
)
from gtp_engine.engine.searches import Searches
from gtp_engine.go.area import area_owners, remove_dead
from gtp_engine.go.benson import pass_alive_owners
from gtp_engine.go.board import STRIDE, chain_points
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE, opponent
from gtp_engine.go.coords import board_points, neighbors
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules
from gtp_engine.search.limits import AT_ANY_DEPTH, CancelToken, Limits, Restriction, SearchRequest

SEKI_LIBERTIES: Final = 3
"""Most liberties that a chain in a seki is expected to have; one with more is taken for one beside neutral points."""

OPEN_POINTS: Final = 12
"""Points beside no stone from which an area is open: a reading takes long there, and small networks err in it."""


@dataclass(frozen=True)
class Dispute:
    """Whether the doubtful `chains`, each given by its points, live; all are of one `color`."""

    color: int
    chains: tuple[tuple[int, ...], ...]
    area: frozenset[int]
    """The points of these chains, and all loose ones that they reach."""

    @property
    def stones(self) -> frozenset[int]:
        """The points of all chains."""
        return frozenset().union(*self.chains)

    def is_open(self, game: Game) -> bool:
        """Return whether its area has room for anything: `OPEN_POINTS` that touch no stone."""
        stones = np.isin(game.board.color, (BLACK, WHITE))
        around = ([*neighbors(point, width=game.width), point] for point in self.area)
        return sum(not stones[points].any() for points in around) >= OPEN_POINTS

    def position(self, game: Game, first: int, ownership: Ownership, *, strict: bool = False) -> Game:
        """Return the position as a new game in which `first` moves and the side that wins the dispute wins.

        For that, dead stones elsewhere are taken off the board.  Every stone left at the end counts (Tromp and Taylor's
        rules), so that dead ones have to be captured, and komi is between the margins of the two outcomes.  With that
        komi, an attacker may also win without taking the stones, by filling the points around them while they live.
        With a `strict` komi it does not, but it may lose by an endgame point or two although it takes them.
        """
        dead = dead_stones(game, ownership)
        enemies = {point for point in self.area if game.board.color[point] == opponent(self.color)}
        if_alive = _area_margin(game, dead - self.stones)
        if_dead = _area_margin(game, (dead - enemies) | self.stones)
        komi = (if_alive + if_dead) / 2
        if strict:  # half of the attacker's least loss if the stones live: their points, and one beside them
            cost = len(self.stones) + 0.5
            komi = if_dead - cost if self.color == WHITE else if_dead + cost
        return _new_game(game, dead - self.area, komi, first)

    def continued(self, played: Game) -> Game | None:
        """Return the end of a reading, where stones live, as a new game that the attacker begins; None if they decided.

        They did not if taking them would not have changed the winner, because of moves elsewhere: then the attacker may
        have passed although it could take them.
        """
        colors = played.board.color
        chains = [chain_points(played.board, point) for point in self.stones if colors[point] == self.color]
        outcomes = _area_margin(played, frozenset()), _area_margin(played, frozenset().union(*chains))
        if min(outcomes) < played.komi < max(outcomes):
            return None
        return _new_game(played, frozenset(), sum(outcomes) / 2, opponent(self.color))

    def far_points(self, game: Game) -> frozenset[int]:
        """Return the empty points where a move decides nothing: those more than two steps, or chains, from the area."""
        near = _with_surroundings(game, _with_surroundings(game, self.area))
        points = board_points(game.width, game.height)
        return frozenset(point for point in points if game.board.color[point] == EMPTY and point not in near)


def find_disputes(game: Game, ownerships: Sequence[Ownership]) -> list[Dispute]:
    """Return the disputes of a position for which searches expect `ownerships`, the largest first."""
    proved = pass_alive_owners(game.board, suicide=game.rules.suicide)
    dying = dead_stones(game, np.mean(ownerships, axis=0))
    doubtful, loose = [], game.board.color == EMPTY
    for chain in chains_of(game):
        if proved[chain[0]] != EMPTY:  # alive, or dead in territory that is the opponent's for good
            continue
        values = [chain_ownership(game, chain, ownership) for ownership in ownerships]
        seems_seki = min(values) >= SURE and _seems_seki(game, chain, dying, proved)
        if seems_seki or (max(values) > -SURE and min(values) < SURE):
            doubtful.append(chain)
        if seems_seki or min(values) < SURE:
            loose[chain] = True
    disputes = []
    while doubtful:
        color = int(game.board.color[doubtful[0][0]])
        area = frozenset(reach(game, doubtful[0], loose))
        joined = [chain for chain in doubtful if chain[0] in area and game.board.color[chain[0]] == color]
        disputes.append(Dispute(color, tuple(map(tuple, joined)), area))
        doubtful = [chain for chain in doubtful if chain not in joined]
    return sorted(disputes, key=lambda dispute: -len(dispute.stones))


def _seems_seki(game: Game, chain: list[int], dying: frozenset[int], proved: NDArray[np.int32]) -> bool:
    """Return whether a chain has few liberties, each of them beside enemies that are neither proved alive nor dying."""
    enemy = opponent(int(game.board.color[chain[0]]))
    liberties = game.liberties(chain[0])
    return len(liberties) <= SEKI_LIBERTIES and all(
        any(
            game.board.color[p] == enemy and proved[p] == EMPTY and p not in dying
            for p in neighbors(liberty, width=game.width)
        )
        for liberty in liberties
    )


def _new_game(game: Game, off_board: frozenset[int], komi: float, first: int) -> Game:
    """Return the position without the stones `off_board` as a new game under Tromp and Taylor's rules."""
    start = Game(game.width, game.height, Rules(suicide=game.rules.suicide), komi)
    start.set_up([(color, point) for point, color in game.stones.items() if point not in off_board], first)
    return start


def _with_surroundings(game: Game, points: frozenset[int]) -> frozenset[int]:
    """Return `points`, the empty points next to them, and the liberties of the chains next to them or on them."""
    color = game.board.color
    around = points.union(*(neighbors(point, width=game.width) for point in points))
    chains = [game.liberties(point) for point in around if color[point] in (BLACK, WHITE)]
    return points.union((point for point in around if color[point] == EMPTY), *chains)


def _area_margin(game: Game, taken: frozenset[int]) -> int:
    """Return Black's area less White's once the stones on `taken` are off the board."""
    owners = area_owners(remove_dead(game.board, taken), int(game.board.info[STRIDE]))
    return int(np.count_nonzero(owners == BLACK)) - int(np.count_nonzero(owners == WHITE))


LONGEST_SECONDS: Final = 10.0
"""Longest time for all disputes of a position; those left keep the ownership that the searches expected."""

SCORING_SECONDS: Final = 120.0
"""The same for a score, which is limited by the playouts, so that it is the same on a busy machine."""

LONGEST: Final = 1.5
"""Most moves of a reading for each point of the board; then the stones that are left count as alive."""

REPLIES: Final = 2
"""Moves after a capture that belong to the reading: a snapback takes one."""


class LifeReader:
    """Reads disputes with the separate search, until `deadline` (of time.perf_counter) or `cancel`.

    In any case it takes no longer than LONGEST_SECONDS.  Each move that is read gets at most `visits`, if given.
    With `playouts` all disputes together get so many, and SCORING_SECONDS; those in open areas keep what was expected.
    """

    def __init__(
        self,
        searches: Searches,
        *,
        cancel: CancelToken,
        deadline: float = inf,
        visits: int | None = None,
        playouts: float = inf,
    ) -> None:
        self._searches: Final = searches
        usual = searches.thresholds.reading_visits
        self._visits: Final = usual if visits is None else min(usual, visits)
        longest = LONGEST_SECONDS if playouts == inf else SCORING_SECONDS
        self._deadline: Final = min(deadline, time.perf_counter() + longest)
        self._cancel: Final = cancel
        self._playouts_left = playouts
        self._leaves_open: Final = playouts != inf

    @property
    def is_late(self) -> bool:
        """Whether the deadline has passed."""
        return time.perf_counter() >= self._deadline

    def read_out(self, game: Game, ownerships: Sequence[Ownership], *, to_play: int = EMPTY) -> tuple[Ownership, ...]:
        """Return `ownerships`, in the areas of disputes replaced by what is read there: −1, 0 or 1.

        Unsettled stones get 0, or with `to_play` what that side makes of them by moving first.  Disputes for which
        there is no time keep what was expected.
        """
        proved = pass_alive_owners(game.board, suicide=game.rules.suicide)
        expected = np.array([with_proofs(ownership, proved) for ownership in ownerships], dtype=np.float64)
        for dispute in find_disputes(game, tuple(expected)):
            if self._leaves_open and dispute.is_open(game):
                continue
            lives = self._lives(game, dispute, expected.mean(axis=0), to_play)
            if lives is None:
                break
            for chain, value in zip(dispute.chains, lives, strict=True):
                expected[:, list(chain)] = value if dispute.color == BLACK else -value
            for point, owner in _surrounded(game, dispute, expected.mean(axis=0)):
                expected[:, point] = 1.0 if owner == BLACK else -1.0
        return tuple(expected)

    def _lives(self, game: Game, dispute: Dispute, ownership: Ownership, to_play: int) -> list[float] | None:
        """Return 1 for each chain that lives, −1 if dead, 0 if unsettled; None if there was no time to read it."""
        attacked = self._survivors(game, dispute, ownership, opponent(dispute.color))
        if attacked is None or all(attacked):
            return None if attacked is None else [1.0] * len(attacked)
        defended = self._survivors(game, dispute, ownership, dispute.color, after_pass=attacked)
        if defended is None:
            return None
        first = 0.0 if to_play == EMPTY else (1.0 if to_play == dispute.color else -1.0)
        return [
            1.0 if lives_attacked else (first if lives_defended else -1.0)
            for lives_attacked, lives_defended in zip(attacked, defended, strict=True)
        ]

    def _survivors(
        self, game: Game, dispute: Dispute, ownership: Ownership, first: int, after_pass: list[bool] | None = None
    ) -> list[bool] | None:
        """Return whether each chain survives if `first` moves first; None if there was no time to read it.

        Where `after_pass` is given, it is the answer if the best first move is a pass.
        """
        ends_at_once = after_pass is not None
        played = self._played_out(dispute, dispute.position(game, first, ownership), passing_first_ends=ends_at_once)
        if played is not None and ends_at_once and played.moves[0].point == PASS:
            return after_pass
        if played is not None and any(_are_owned(played, dispute)):
            again: Game | None = None
            if played.score().winner != dispute.color:
                again = dispute.position(game, first, ownership, strict=True)
            elif played.is_over:
                again = dispute.continued(played)
            played = played if again is None else self._played_out(dispute, again)
        return None if played is None else _are_owned(played, dispute)

    def _played_out(self, dispute: Dispute, played: Game, *, passing_first_ends: bool = False) -> Game | None:
        """Return a position of a dispute after moves of both sides that settle it; None if there was no time.

        With `passing_first_ends` a pass as the first move is the only one.
        """
        far = dispute.far_points(played)
        request = SearchRequest(
            Limits(self._visits, lambda progress: self.is_late or self._cancel.is_cancelled, cancel=self._cancel),
            restrictions=tuple(Restriction(color, far, AT_ANY_DEPTH) for color in (BLACK, WHITE)),
            passes_end=True,
        )
        settled_moves = 0
        report = self._searches.search_afresh(played, played.to_play, request)
        while not self._is_exhausted(report.playouts):
            moves = legal_moves(played, report)
            played.play(moves[0].point if moves else PASS)
            settled_moves = settled_moves + 1 if _is_settled(played, dispute) else 0
            if passing_first_ends and [move.point for move in played.moves] == [PASS]:
                return played
            if played.is_over or settled_moves > REPLIES or len(played.moves) >= LONGEST * played.width * played.height:
                return played
            report = self._searches.search_on(played, request)
        return None

    def _is_exhausted(self, playouts: int) -> bool:
        """Count the playouts of a search, and return whether time or playouts are used up."""
        self._playouts_left -= playouts
        return self._playouts_left <= 0 or self.is_late or self._cancel.is_cancelled


def leave_in_doubt(game: Game, ownerships: Sequence[Ownership]) -> Sequence[Ownership]:
    """Return `ownerships` with 0 for groups in doubt, which are then neither dead nor decided: instead of reading."""
    doubtful = [point for dispute in find_disputes(game, ownerships) for point in dispute.stones]
    unread = np.array(ownerships, dtype=np.float64)
    unread[:, doubtful] = 0.0
    return tuple(unread)


def _are_owned(played: Game, dispute: Dispute) -> list[bool]:
    """Return whether the chains, or what came in their place, belong to their colour on the board as it stands."""
    owners = area_owners(played.board.color, int(played.board.info[STRIDE]))
    return [bool(owners[chain[0]] == dispute.color) for chain in dispute.chains]


def _is_settled(played: Game, dispute: Dispute) -> bool:
    """Return whether each of the chains was captured or cannot be captured any more."""
    alive = pass_alive_owners(played.board, suicide=played.rules.suicide)
    return all(
        played.board.color[chain[0]] != dispute.color or alive[chain[0]] == dispute.color for chain in dispute.chains
    )


def _surrounded(game: Game, dispute: Dispute, ownership: Ownership) -> list[tuple[int, int]]:
    """Return the points of a dispute's area that stones surround once the dead ones are off, with the owner of each."""
    colors = remove_dead(game.board, dead_stones(game, ownership))
    owners = area_owners(colors, int(game.board.info[STRIDE]))
    return [(point, int(owners[point])) for point in dispute.area if colors[point] == EMPTY and owners[point] != EMPTY]
