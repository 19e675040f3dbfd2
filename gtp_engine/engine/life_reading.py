"""Reads out disputes about life and death: both sides play until the stones are captured, proved alive or left alone.

The attacker moves first; stones that survive are alive.  Those that do not are dead if they are captured as well when
their own side moves first; else they are unsettled: the next move decides.  The result replaces the ownership that the
searches expected, so that all conclusions from ownership follow it.

Only moves near the stones are read: elsewhere they would decide nothing, and there is no ko threat for either side.
A seki needs no rule of its own: a pass is a move, and the side that would lose its stones by playing passes.
"""

import time
from collections.abc import Sequence
from math import inf
from typing import Final

import numpy as np

from gtp_engine.engine.dead_stones import Ownership, dead_stones, with_proofs
from gtp_engine.engine.disputes import Dispute, find_disputes
from gtp_engine.engine.game_end import legal_moves
from gtp_engine.engine.searches import Searches
from gtp_engine.go.board import STRIDE
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE, opponent
from gtp_engine.go.game import Game
from gtp_engine.go.scoring import area_owners, pass_alive_owners, remove_dead
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.search.limits import AT_ANY_DEPTH, Limits, Restriction

LONGEST_SECONDS: Final = 10.0
"""Longest time for all disputes of a position; those left keep the ownership that the searches expected."""

LONGEST: Final = 1.5
"""Most moves of a reading for each point of the board; then the stones that are left count as alive."""

REPLIES: Final = 2
"""Moves after a capture that belong to the reading: a snapback takes one."""


class LifeReader:
    """Reads disputes with the separate search, until `deadline` (of time.perf_counter) or `cancel`.

    In any case it takes no longer than LONGEST_SECONDS.  Each move that is read gets at most `visits`, if given.
    """

    def __init__(
        self, searches: Searches, *, cancel: CancelToken, deadline: float = inf, visits: int | None = None
    ) -> None:
        self._searches: Final = searches
        usual = searches.thresholds.reading_visits
        self._visits: Final = usual if visits is None else min(usual, visits)
        self._deadline: Final = min(deadline, time.perf_counter() + LONGEST_SECONDS)
        self._cancel: Final = cancel

    def read_out(self, game: Game, ownerships: Sequence[Ownership], *, to_play: int = EMPTY) -> tuple[Ownership, ...]:
        """Return `ownerships`, in the areas of disputes replaced by what is read there: −1, 0 or 1.

        Unsettled stones get 0, or with `to_play` what that side makes of them by moving first.  Disputes for which
        there is no time keep what was expected.
        """
        proved = pass_alive_owners(game.board, suicide=game.rules.suicide)
        expected = np.array([with_proofs(ownership, proved) for ownership in ownerships], dtype=np.float64)
        for dispute in find_disputes(game, tuple(expected)):
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
        limits = Limits(
            self._visits,
            lambda progress: self._is_out_of_time(),
            restrictions=tuple(Restriction(color, far, AT_ANY_DEPTH) for color in (BLACK, WHITE)),
            passes_end=True,
            cancel=self._cancel,
        )
        settled_moves = 0
        report = self._searches.search_afresh(played, played.to_play, limits)
        while not self._is_out_of_time():
            moves = legal_moves(played, report)
            played.play(moves[0].point if moves else PASS)
            settled_moves = settled_moves + 1 if _is_settled(played, dispute) else 0
            if passing_first_ends and [move.point for move in played.moves] == [PASS]:
                return played
            if played.is_over or settled_moves > REPLIES or len(played.moves) >= LONGEST * played.width * played.height:
                return played
            report = self._searches.search_on(played, limits)
        return None

    def _is_out_of_time(self) -> bool:
        return self._cancel.is_cancelled or time.perf_counter() >= self._deadline


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
