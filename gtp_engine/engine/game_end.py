"""What the end of a game depends on: which stones are dead, whether players may stop, which moves change something.

The status of stones and points is estimated from ownership: the final owner of each point, averaged over many rollouts
or network evaluations: float[n], 1 for Black, −1 for White.  Where Benson's algorithm proves stones alive or dead, the
proof replaces the average.  `decision` puts it together with what searches and readings find.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.go.area import area_owners
from gtp_engine.go.benson import pass_alive_owners
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE, opponent
from gtp_engine.go.coords import Move, board_points, neighbors
from gtp_engine.go.game import Game, replayed
from gtp_engine.go.phases import may_stop
from gtp_engine.go.rules import Ko, Rules, Scoring
from gtp_engine.go.scoring import components
from gtp_engine.go.tactics import would_be_self_atari
from gtp_engine.search.puct.cleanup import DECIDED
from gtp_engine.search.report import MoveReport, SearchReport, for_color

DEAD_BELOW: Final = -0.3
"""A chain is dead if its mean ownership, from its owner's view, is below this; between this and 0 it is more often a
seki that some rollouts misplay."""

SURE: Final = 0.9
"""A chain is beyond doubt if each search gives it a mean ownership at least this far from 0, on the same side."""

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

    def margin_black(self, game: Game) -> float:
        """Return the points by which Black wins by counting, negative if White does.

        By area neutral points count for the side that is expected to fill them, by territory for neither.
        """
        owners = self.owners.copy()
        if game.rules.scoring is Scoring.TERRITORY:
            owners[list(self.neutral)] = EMPTY
        return int(np.count_nonzero(owners == BLACK)) - int(np.count_nonzero(owners == WHITE)) - game.area_komi

    def is_certain_win(self, game: Game, color: int) -> bool:
        """Return whether `color` wins by area even if every undecided point goes to the opponent."""
        area = game.width * game.height
        margin = 2 * int(np.count_nonzero(self.decided == color)) - area
        return margin > (game.area_komi if color == BLACK else -game.area_komi)


def chains_of(game: Game) -> list[list[int]]:
    """Return every chain on the board, each as its sorted points, in the order of their first points."""
    colors, seen = game.board.color.tolist(), set[int]()
    chains = []
    for point in board_points(game.width, game.height):
        if colors[point] != EMPTY and point not in seen:
            chain: list[int] = [*game.chain(point)]
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
    owners = area_owners(game.board, dead)
    points = board_points(game.width, game.height)
    if not has_both_colors(game):  # stones of one colour surround everything, which proves nothing yet
        owners[game.board.color == EMPTY] = EMPTY
    neutral = tuple(point for point in points if owners[point] == EMPTY)
    is_open = _is_open(game, neutral, dead)
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


def settled(game: Game, status: StatusEstimate) -> StatusEstimate:
    """Return the status of a game that both players have ended, in which no area is left between doubtful stones.

    A stone alive in a large area makes it neutral, all of it, and so may the death of one that closed it.  Where the
    ownership contradicts that, those chains beside the area are dead, or alive, which make the owners of all points fit
    the ownership best: a few doubtful stones are worth less than what depends on them.  Chains beyond doubt stay.
    """
    dead, misfit = status.dead, partial(_misfit, game, ownership=status.ownership_black)
    while misfit(best := min(_other_dead(game, dead, status), key=misfit, default=dead)) < misfit(dead):
        dead = best
    return with_dead(game, status, dead)


def with_dead(game: Game, status: StatusEstimate, dead: frozenset[int]) -> StatusEstimate:
    """Return the status with these dead stones, and with the owners that the others on the board surround."""
    owners = area_owners(game.board, dead)
    points = board_points(game.width, game.height)
    neutral = tuple(point for point in points if owners[point] == EMPTY)
    return replace(status, dead=dead, owners=owners, neutral=neutral, is_open=_is_open(game, neutral, dead))


def neutral_areas(game: Game, owners: NDArray[np.int32]) -> list[frozenset[int]]:
    """Return the connected areas of points that belong to neither side by `owners`."""
    neutral = [point for point in board_points(game.width, game.height) if owners[point] == EMPTY]
    return sorted(components(neutral, game.width + 1), key=min)


def _is_open(game: Game, area: Iterable[int], dead: frozenset[int]) -> bool:
    """Return whether some point of an area touches no living stone: it is not only sekis and a few neutral points."""
    stones = np.isin(game.board.color, (BLACK, WHITE))
    stones[list(dead)] = False
    return any(not stones[list(neighbors(point, width=game.width))].any() for point in area)


def _misfit(game: Game, dead: frozenset[int], ownership: Ownership) -> float:
    """Return how much the owners of all points differ from the ownership if these stones are dead.

    A point of an open area that belongs to neither side fits no better than one whose owner is unknown.
    """
    owners = area_owners(game.board, dead)
    assumed = np.select([owners == BLACK, owners == WHITE], [1.0, -1.0], 0.0)
    misfit = float(np.abs(ownership - assumed)[list(board_points(game.width, game.height))].sum())
    for area in neutral_areas(game, owners):
        if _is_open(game, area, dead):
            misfit += sum(1.0 - abs(float(ownership[point])) for point in area)
    return misfit


def _other_dead(game: Game, dead: frozenset[int], status: StatusEstimate) -> Iterator[frozenset[int]]:
    """Yield the dead stones with the weakest chains of one colour beside a neutral area, or less a dead one there."""
    ownership = status.ownership_black
    owners = area_owners(game.board, dead)
    doubtful = sorted(
        (value, chain)
        for chain in chains_of(game)
        if status.proved[chain[0]] == EMPTY and abs(value := chain_ownership(game, chain, ownership)) < SURE
    )
    for area in neutral_areas(game, owners):
        beside = area.union(near for point in area for near in neighbors(point, width=game.width))
        yield from (dead.difference(chain) for _, chain in doubtful if chain[0] in dead and not area.isdisjoint(chain))
        for color in (BLACK, WHITE):
            option = dead
            for _, chain in doubtful:
                if game.board.color[chain[0]] == color and chain[0] not in dead and not beside.isdisjoint(chain):
                    option = option.union(chain)
                    yield option


def counts_all_stones(rules: Rules) -> bool:
    """Return whether rules count every stone left on the board, as Tromp-Taylor's do: no dead ones are removed."""
    return rules.scoring is Scoring.AREA and not rules.friendly_pass_ok


def may_be_over(game: Game) -> bool:
    """Return whether the players may agree that nothing is left to play for, so that it takes time to confirm it."""
    return may_stop(game) and not counts_all_stones(game.rules)


def goes_in_circles(game: Game) -> bool:
    """Return whether the same stones were on the board before, with stones played since."""
    return any(True for _ in _moves_made_here(game))


def goes_round(game: Game, move: Move) -> bool:
    """Return whether a move was made before in this position, in which the opponent then passed as it has now.

    By KataGo's rules the second of these passes ends a game under simple ko.  Otherwise both sides could take two kos
    for ever, with passes between them.
    """
    last = game.last_move
    if last is None or last.point != PASS or game.rules.ko is not Ko.SIMPLE:
        return False
    made = [*_moves_made_here(game)]
    return last in made and move in made


def _moves_made_here(game: Game) -> Iterator[Move]:
    """Yield the moves that were made while the same stones were on the board, with stones played since."""
    for number, (earlier, move) in enumerate(zip(replayed(game), game.moves, strict=False)):
        if earlier.hash == game.hash and any(later.point != PASS for later in game.moves[number:]):
            yield move


def opponent_may_atari(game: Game, status: StatusEstimate, chain: list[int]) -> bool:
    """Return whether a chain lives, but not by proof, and a move of the opponent's attacks it without self-atari.

    Of 150 positions at the end of games 34 had such a chain.
    """
    if chain[0] in status.dead or status.proved[chain[0]] != EMPTY:
        return False
    attacker, liberties = opponent(int(game.board.color[chain[0]])), game.liberties(chain[0])
    return len(liberties) <= 2 and any(
        game.is_legal(point, attacker) and not would_be_self_atari(game.board, point, attacker) for point in liberties
    )


def legal_moves(game: Game, report: SearchReport) -> list[MoveReport]:
    """Return the moves of a report that the game's rules allow, superko included, the best first."""
    return [move for move in report.moves if move.point == PASS or game.is_legal(move.point, report.to_play)]


def liberties_of_dead(game: Game, status: StatusEstimate, color: int) -> set[int]:
    """Return the liberties of the dead stones of `color`'s opponent; none if there are no such stones."""
    stones = [point for point in status.dead if game.board.color[point] == opponent(color)]
    return {liberty for stone in stones for liberty in game.liberties(stone)}


def useless_points(game: Game, status: StatusEstimate, color: int) -> frozenset[int]:
    """Return the empty points where a move is useless."""
    points = board_points(game.width, game.height)
    return frozenset(p for p in points if game.board.color[p] == EMPTY and is_useless(game, p, status, color))


def is_useless(game: Game, point: int, status: StatusEstimate, color: int) -> bool:
    """Return whether a move lies in pass-alive territory, which nothing can change.

    Exception: where the rules count all stones, the owner has to capture the dead ones in it.
    """
    owner = int(status.proved[point])
    if point == PASS or owner == EMPTY:
        return False
    has_to_capture = counts_all_stones(game.rules) and owner == color
    return not (has_to_capture and point in liberties_of_dead(game, status, color))
