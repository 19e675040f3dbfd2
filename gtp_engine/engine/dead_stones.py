"""The status of stones and points at the end of the game (dead, alive, seki, territory), estimated from ownership.

Ownership is the final owner of each point, averaged over many rollouts or network evaluations: float[n], 1 for Black,
−1 for White.  Where Benson's algorithm proves stones alive or dead, the proof replaces the average.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.go.board import STRIDE
from gtp_engine.go.constants import BLACK, EMPTY, WHITE
from gtp_engine.go.coords import board_points, neighbors
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Scoring
from gtp_engine.go.scoring import (
    Score,
    area_owners,
    find_groups,
    groups_in_seki,
    pass_alive_owners,
    remove_dead,
    territory_owners,
)
from gtp_engine.search.report import for_color

ALIVE: Final = "alive"
DEAD: Final = "dead"
SEKI: Final = "seki"
BLACK_TERRITORY: Final = "black_territory"
WHITE_TERRITORY: Final = "white_territory"
DAME: Final = "dame"

DEAD_BELOW: Final = -0.3
"""A chain is dead if its mean ownership, from its owner's view, is below this; between this and 0 it is more often a
seki that some rollouts misplay."""

DECIDED: Final = 0.8
"""A point or chain is decided if its mean ownership is at least this far from 0: nine of ten rollouts agree, or the
network gives it a probability of nine tenths."""

OPEN_AREA: Final = 0.3
"""Mean ownership from which an estimate assigns a point that both colours reach to one of them."""

Ownership = NDArray[np.float64]


@dataclass(frozen=True)
class StatusEstimate:
    """The expected end of a game from one position; arrays are int32[n] by point."""

    dead: frozenset[int]
    """The stones that will be captured."""
    owners: NDArray[np.int32]
    """The colour that will own each point, else EMPTY."""
    is_open: bool
    """Whether an open area is left, where some point that belongs to neither side touches no stone."""
    is_decided: bool
    """Whether every chain and every surrounded point is decided and no open area is left."""
    neutral: tuple[int, ...]
    """The points that stones of both colours reach once the dead ones are removed."""
    proved: NDArray[np.int32]
    """The colour of the pass-alive chain or territory each point belongs to, else EMPTY."""
    decided: NDArray[np.int32]
    """The colour that will own each point, where that is decided, else EMPTY."""
    ownership_black: Ownership = field(repr=False)
    """The ownership that the estimate is based on, with proofs."""

    @property
    def area_margin(self) -> int:
        """Black's points less White's, by area and without komi."""
        return int(np.count_nonzero(self.owners == BLACK)) - int(np.count_nonzero(self.owners == WHITE))

    def is_certain_win(self, game: Game, color: int) -> bool:
        """Return whether `color` wins by area even if every undecided point goes to the opponent."""
        area = game.width * game.height
        margin = 2 * int(np.count_nonzero(self.decided == color)) - area
        return margin > (game.area_komi if color == BLACK else -game.area_komi)


def chains_of(game: Game) -> list[list[int]]:
    """Return every chain on the board, each as its sorted points, in the order of their first points."""
    seen: set[int] = set()
    chains = []
    for point in board_points(game.width, game.height):
        if game.board.color[point] != EMPTY and point not in seen:
            chain = game.chain(point)
            seen.update(chain)
            chains.append(chain)
    return chains


def with_proofs(ownership: Ownership, proved: NDArray[np.int32]) -> Ownership:
    """Return the ownership with 1 and −1 where an owner is `proved` (`pass_alive_owners`)."""
    return np.where(proved == EMPTY, ownership, np.where(proved == BLACK, 1.0, -1.0))


def estimate_status(game: Game, ownership: Ownership) -> StatusEstimate:
    """Return the expected status of all stones and points of a position."""
    proved = pass_alive_owners(game.board, suicide=game.rules.suicide)
    ownership = with_proofs(ownership, proved)
    dead = dead_stones(game, ownership)
    colors = remove_dead(game.board, dead)
    stride = int(game.board.info[STRIDE])
    owners = area_owners(colors, stride)
    points = board_points(game.width, game.height)
    if not has_both_colors(game):  # stones of one colour surround everything, which proves nothing yet
        owners[game.board.color == EMPTY] = EMPTY
    neutral = tuple(point for point in points if owners[point] == EMPTY)
    is_open = not all(_touches_stone(colors, stride, point) for point in neutral)
    is_decided = (
        all(abs(chain_ownership(game, chain, ownership)) >= DECIDED for chain in chains_of(game))
        and all(for_color(ownership[p], int(owners[p])) >= DECIDED for p in points if owners[p] != EMPTY)
        and not is_open
    )
    for point in neutral:  # an open area goes to the side that owns it clearly more often
        if abs(ownership[point]) >= OPEN_AREA:
            owners[point] = BLACK if ownership[point] > 0 else WHITE
    decided = np.where(ownership >= DECIDED, BLACK, np.where(ownership <= -DECIDED, WHITE, EMPTY)).astype(np.int32)
    return StatusEstimate(dead, owners, is_open, is_decided, neutral, proved, decided, ownership)


def has_both_colors(game: Game) -> bool:
    """Return whether stones of both colours are on the board."""
    return bool((game.board.color == BLACK).any() and (game.board.color == WHITE).any())


def dead_stones(game: Game, ownership: Ownership) -> frozenset[int]:
    """Return the stones that will be captured."""
    chains = chains_of(game)
    return frozenset(
        point for chain in chains if chain_ownership(game, chain, ownership) < DEAD_BELOW for point in chain
    )


def chain_ownership(game: Game, chain: list[int], ownership: Ownership) -> float:
    """Return the mean ownership of a chain's points, from its owner's view."""
    return for_color(float(np.mean(ownership[chain])), int(game.board.color[chain[0]]))


def _touches_stone(colors: NDArray[np.int32], stride: int, point: int) -> bool:
    """Return whether a stone is next to `point`; in an open area there are points without one."""
    return any(colors[point + step] in (BLACK, WHITE) for step in (-1, 1, -stride, stride))


def counts_all_stones(game: Game) -> bool:
    """Return whether the rules count every stone left on the board, as Tromp-Taylor's do: no dead ones are removed."""
    return game.rules.scoring is Scoring.AREA and not game.rules.friendly_pass_ok


def estimated_score(game: Game, status: StatusEstimate) -> Score:
    """Return the score of an unfinished game; open areas count for the side that owns them in the estimate."""
    score = game.score(status.dead)
    open_owners = [int(status.owners[point]) for point in status.neutral]
    return Score(score.black + open_owners.count(BLACK), score.white + open_owners.count(WHITE))


def score_by_lead(game: Game, lead_black: float) -> Score:
    """Return the possible score nearest to `lead_black`, the points by which Black is expected to win."""
    is_area = game.rules.scoring is Scoring.AREA
    white = game.area_komi if is_area else game.komi
    margin = round(lead_black + white)
    return Score(float(max(margin, 0)), max(-margin, 0) + white)


def status_map(game: Game, dead: Collection[int]) -> dict[int, str]:
    """Return the status of every point: alive, dead or seki for stones, territory or dame for empty points."""
    colors = remove_dead(game.board, dead)
    stride = int(game.board.info[STRIDE])
    owners = territory_owners(colors, stride)
    in_seki = groups_in_seki(find_groups(colors, owners, stride))
    seki = {point for group in in_seki for point in group.stones}
    empty_names = {BLACK: BLACK_TERRITORY, WHITE: WHITE_TERRITORY, EMPTY: DAME}
    result = {}
    for point in board_points(game.width, game.height):
        if game.board.color[point] == EMPTY:
            result[point] = empty_names[int(owners[point])]
        elif point in dead:
            result[point] = DEAD
        else:
            result[point] = SEKI if point in seki else ALIVE
    return result


def groups_with_status(game: Game, statuses: dict[int, str], status: str) -> list[list[int]]:
    """Return the groups whose stones have a status, each as its sorted points.

    Dead chains in one enclosed area form one group, because they live or die together; any other chain is a group of
    its own.
    """
    chains = [chain for chain in chains_of(game) if statuses[chain[0]] == status]
    if status != DEAD:
        return chains
    groups: list[set[int]] = []
    for chain in chains:
        joined = {*chain}
        color = int(game.board.color[chain[0]])
        reachable = reach(game, chain, np.isin(game.board.color, (EMPTY, color)))
        separate = []
        for group in groups:
            if reachable.isdisjoint(group):
                separate.append(group)
            else:
                joined |= group
        groups = [*separate, joined]
    return sorted(sorted(group) for group in groups)


def reach(game: Game, chain: Iterable[int], passable: NDArray[np.bool_]) -> set[int]:
    """Return the points connected to a chain through `passable` ones (by point), the chain included."""
    seen = set(chain)
    waiting = list(seen)
    while waiting:
        for neighbor in neighbors(waiting.pop(), width=game.width):
            if passable[neighbor] and neighbor not in seen:
                seen.add(neighbor)
                waiting.append(neighbor)
    return seen
