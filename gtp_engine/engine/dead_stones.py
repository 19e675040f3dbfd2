"""Which stones are dead, and who owns what, judged from ownership.

Ownership is the mean, over many rollouts or a network's evaluations, of who owns a point in the end: float[n], 1 for
Black, −1 for White.  Stones that Benson's algorithm proves alive or dead are taken as proved.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.go.benson import new_life_work, pass_alive_map
from gtp_engine.go.board import STRIDE
from gtp_engine.go.constants import BLACK, EMPTY, WHITE
from gtp_engine.go.coords import board_points
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Scoring
from gtp_engine.go.scoring import Score, find_groups, groups_in_seki, remove_dead, territory_owners

ALIVE: Final = "alive"
DEAD: Final = "dead"
SEKI: Final = "seki"
BLACK_TERRITORY: Final = "black_territory"
WHITE_TERRITORY: Final = "white_territory"
DAME: Final = "dame"

DEAD_BELOW: Final = -0.3
"""A chain whose mean ownership, as its owner sees it, is below this is dead; what lies between that and 0 is more often
a seki, in which some rollouts go wrong, than dead."""

DECIDED: Final = 0.8
"""A point or chain whose mean ownership is at least this far from 0 is decided: nine of ten rollouts agree, or a
network gives it nine chances of ten."""

OPEN_AREA: Final = 0.3
"""Mean ownership from which a point of an area that both colours reach is given to one of them in an estimate."""

Ownership = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """What will become of a position; `owners` is int[n], the colour that will own each point or EMPTY."""

    dead: frozenset[int]
    owners: NDArray[np.int32]
    is_decided: bool
    """Whether every chain's fate and every surrounded point's owner is beyond doubt, and no open area is left."""
    neutral: tuple[int, ...]
    """The points that stones of both colours reach, the dead ones taken off."""
    proved: NDArray[np.int32]
    """The colour of the pass-alive chain or territory each point belongs to, else EMPTY."""
    sure: NDArray[np.int32]
    """The colour that will own each point beyond doubt, else EMPTY."""

    @property
    def area_margin(self) -> int:
        """The points that Black owns less those that White owns."""
        return int(np.count_nonzero(self.owners == BLACK)) - int(np.count_nonzero(self.owners == WHITE))

    def wins_whatever_happens(self, game: Game, color: int) -> bool:
        """Return whether `color` has more area than the opponent even if all that is in doubt is the opponent's."""
        area = game.width * game.height
        margin = 2 * int(np.count_nonzero(self.sure == color)) - area
        return margin > (game.area_komi if color == BLACK else -game.area_komi)


def chains_of(game: Game) -> list[list[int]]:
    """Return every chain on the board as its sorted points, in the order of their first points."""
    seen: set[int] = set()
    chains = []
    for point in board_points(game.width, game.height):
        if game.board.color[point] != EMPTY and point not in seen:
            chain = game.chain(point)
            seen.update(chain)
            chains.append(chain)
    return chains


def pass_alive_owners(game: Game) -> NDArray[np.int32]:
    """Return, int32[n], the colour of the pass-alive chain or territory each point belongs to, else EMPTY."""
    out = np.zeros(game.board.color.size, dtype=np.int32)
    pass_alive_map(game.board, game.rules.suicide, new_life_work(game.width, game.height), out)
    return out


def estimate(game: Game, ownership: Ownership) -> Estimate:
    """Return the fate of the stones and points of a position."""
    proved = pass_alive_owners(game)
    ownership = np.where(proved == EMPTY, ownership, np.where(proved == BLACK, 1.0, -1.0))
    dead: set[int] = set()
    decided = True
    for chain in chains_of(game):
        own = _for(int(game.board.color[chain[0]]), float(np.mean(ownership[chain])))
        if own < DEAD_BELOW:
            dead.update(chain)
        decided &= abs(own) >= DECIDED
    colors = remove_dead(game.board, dead)
    stride = int(game.board.info[STRIDE])
    owners = territory_owners(colors, stride)
    owners[colors == BLACK] = BLACK
    owners[colors == WHITE] = WHITE
    points = board_points(game.width, game.height)
    neutral = tuple(point for point in points if owners[point] == EMPTY)
    decided &= all(_for(int(owners[p]), ownership[p]) >= DECIDED for p in points if owners[p] != EMPTY)
    decided &= all(_touches_stone(colors, stride, point) for point in neutral)
    for point in neutral:  # an open area goes to whoever owns it clearly more often
        if abs(ownership[point]) >= OPEN_AREA:
            owners[point] = BLACK if ownership[point] > 0 else WHITE
    sure = np.where(ownership >= DECIDED, BLACK, np.where(ownership <= -DECIDED, WHITE, EMPTY)).astype(np.int32)
    return Estimate(frozenset(dead), owners, decided, neutral, proved, sure)


def _touches_stone(colors: NDArray[np.int32], stride: int, point: int) -> bool:
    """Return whether a stone is next to `point`; in an open area there are points without one."""
    return any(colors[point + step] in (BLACK, WHITE) for step in (-1, 1, -stride, stride))


def _for(color: int, ownership: float) -> float:
    """Return an ownership as `color` sees it."""
    return ownership if color == BLACK else -ownership


def plays_out(game: Game) -> bool:
    """Return whether the rules count every stone left on the board, as Tromp-Taylor's do: nobody removes dead ones."""
    return game.rules.scoring is Scoring.AREA and not game.rules.friendly_pass_ok


def estimated_score(game: Game, expected: Estimate) -> Score:
    """Return the score of a game: exact once it has ended, apart from the judgement which stones are dead.

    While a game is going on, open areas are given to whoever owns them in the estimate.
    """
    if game.is_over:
        return game.score() if plays_out(game) else game.score(expected.dead)
    score = game.score(expected.dead)
    open_owners = [int(expected.owners[point]) for point in expected.neutral]
    return Score(score.black + open_owners.count(BLACK), score.white + open_owners.count(WHITE))


def score_by_lead(game: Game, lead_black: float) -> Score:
    """Return the possible result next to `lead_black`, the points by which a network expects Black to win."""
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

    Dead stones in one enclosed area live or die together and form one group, chains otherwise stand for themselves.
    """
    chains = [chain for chain in chains_of(game) if statuses[chain[0]] == status]
    if status != DEAD:
        return chains
    groups: list[set[int]] = []
    for chain in chains:
        joined = {*chain}
        beside = _reach(game, chain)
        apart = []
        for group in groups:
            if beside.isdisjoint(group):
                apart.append(group)
            else:
                joined |= group
        groups = [*apart, joined]
    return sorted(sorted(group) for group in groups)


def _reach(game: Game, chain: list[int]) -> set[int]:
    """Return the points that stones of a chain's colour reach from it without crossing enemy stones."""
    color = int(game.board.color[chain[0]])
    stride = int(game.board.info[STRIDE])
    seen = set(chain)
    waiting = list(chain)
    while waiting:
        point = waiting.pop()
        for neighbor in (point - 1, point + 1, point - stride, point + stride):
            if neighbor not in seen and game.board.color[neighbor] in (EMPTY, color):
                seen.add(neighbor)
                waiting.append(neighbor)
    return seen
