"""Disputes: groups whose life the ownership leaves open, and the positions from which they are read out.

A chain is *doubtful* if nothing proves its status and the searches do not agree on a nearly certain owner.  So is a
chain that lives only in seki, as far as the searches can tell: the network takes many capturing races for seki.
Doubtful chains of one colour that meet, directly or across loose points, are one dispute: they live or die together.
*Loose* are the empty points, the doubtful chains, and those that the searches expect to die.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.engine.dead_stones import (
    Ownership,
    chain_ownership,
    chains_of,
    dead_stones,
    reach,
)
from gtp_engine.go.board import STRIDE, chain_points
from gtp_engine.go.constants import BLACK, EMPTY, WHITE, Move, opponent
from gtp_engine.go.coords import board_points, neighbors
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules
from gtp_engine.go.scoring import area_owners, pass_alive_owners, remove_dead

SURE: Final = 0.9
"""A chain is beyond doubt if each search gives it a mean ownership at least this far from 0, on the same side."""


SEKI_LIBERTIES: Final = 3
"""Most liberties that a chain in a seki is expected to have; one with more is taken for one beside neutral points."""


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
    stones = [point for point in board_points(game.width, game.height) if game.board.color[point] != EMPTY]
    start.set_up([Move(int(game.board.color[p]), p) for p in stones if p not in off_board], first)
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
