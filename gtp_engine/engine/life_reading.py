"""Replaces what searches expect of stones by what can be proved of them.

A chain is *doubtful* if Benson's algorithm proves nothing about it and the searches do not agree on a nearly certain
owner.  So is a chain that lives only in seki, as far as they can tell: the network takes many capturing races for
seki.  Its status is proved where that takes few moves (`search.fights`); else what the searches expect stays, and is
no more than an estimate.  Everything is limited by the number of positions opened, so that answers repeat exactly.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.engine.game_end import (
    SURE,
    Ownership,
    StatusEstimate,
    chain_ownership,
    chains_of,
    dead_stones,
    opponent_may_atari,
    with_proofs,
)
from gtp_engine.go.benson import pass_alive_owners
from gtp_engine.go.constants import BLACK, EMPTY, WALL, WHITE, opponent
from gtp_engine.go.coords import neighbors
from gtp_engine.go.game import Game, after_move
from gtp_engine.search.fights import FightReader, Life
from gtp_engine.search.report import for_color

SEKI_LIBERTIES: Final = 3
"""Most liberties that a chain in a seki is expected to have; one with more is taken for one beside neutral points."""

LARGE: Final = 7
"""Stones of a chain whose capture leaves room for two eyes: the largest eye that one move reduces to one, the rabbity
six, has six points."""

PROOF_NODES: Final = 2000
"""Positions of one proof; of the chains that are proved with 20,000, five in six need no more."""

READING_NODES: Final = 200_000
"""Positions after which no other chain of the same board is read, some two seconds of one core."""


def doubtful_chains(game: Game, ownerships: Sequence[Ownership]) -> list[list[int]]:
    """Return the chains of which nothing is proved and on whose life the ownerships do not agree, the largest first."""
    proved = pass_alive_owners(game.board, suicide=game.rules.suicide)
    dying, found = dead_stones(game, np.mean(ownerships, axis=0)), []
    for chain in chains_of(game):
        values = [chain_ownership(game, chain, ownership) for ownership in ownerships]
        is_open = max(values) > -SURE and (min(values) < SURE or _seems_seki(game, chain, dying, proved))
        if proved[chain[0]] == EMPTY and is_open:
            found.append(chain)
    return sorted(found, key=lambda chain: -len(chain))


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


def _is_safe_in_seki(game: Game, chain: list[int]) -> bool:
    """Return whether neither this chain nor the enemies at its liberties can be approached but by a large sacrifice.

    Every move of either side on one of their liberties is illegal, or leaves its chain in atari and `LARGE`.
    """
    board, color = game.board, int(game.board.color[chain[0]])
    around = {near for liberty in game.liberties(chain[0]) for near in neighbors(liberty, width=game.width)}
    enemies = [point for point in around if board.color[point] == opponent(color)]
    liberties = {liberty for point in (chain[0], *enemies) for liberty in game.liberties(point)}

    def is_punished(point: int, mover: int) -> bool:
        if not game.is_legal(point, mover):
            return True
        after = after_move(game, point, mover)
        last = after.liberties(point)
        return len(after.chain(point)) >= LARGE and len(last) == 1 and after.is_legal(last[0], opponent(mover))

    return bool(enemies) and all(is_punished(point, mover) for point in liberties for mover in (BLACK, WHITE))


def read_out(
    game: Game, ownerships: Sequence[Ownership], *, to_play: int = EMPTY, nodes: int = PROOF_NODES
) -> tuple[Ownership, ...]:
    """Return `ownerships`, for doubtful chains replaced by −1, 0 or 1 where their status is proved.

    Unsettled stones get 0, or with `to_play` what that side makes of them by moving first.  `nodes` are the positions
    of one proof.
    """
    proved = pass_alive_owners(game.board, suicide=game.rules.suicide)
    expected = np.array([with_proofs(ownership, proved) for ownership in ownerships], dtype=np.float64)
    reader = FightReader(game.board, suicide=game.rules.suicide, nodes=nodes)
    for chain in doubtful_chains(game, ownerships):
        if reader.nodes >= READING_NODES:
            break
        color = int(game.board.color[chain[0]])
        life = Life.ALIVE if _is_safe_in_seki(game, chain) else reader.life(chain[0])
        if life is Life.UNSETTLED:
            expected[:, chain] = 0.0 if to_play == EMPTY else for_color(1.0, to_play)
        elif life in (Life.ALIVE, Life.DEAD):
            expected[:, chain] = for_color(1.0 if life is Life.ALIVE else -1.0, color)
    for point in np.flatnonzero(game.board.color == EMPTY).tolist():  # eyes belong to those whose chains are proved
        owners = expected[:, [near for near in neighbors(point, width=game.width) if game.board.color[near] != WALL]]
        if (np.abs(owners.sum(axis=1)) == owners.shape[1]).all():
            expected[:, point] = owners[:, 0]
    return tuple(expected)


def is_in_doubt(game: Game, before: Sequence[Ownership], after: Sequence[Ownership]) -> bool:
    """Return whether a chain that was doubtful by the ownerships `before` is not proved by those of `read_out`."""
    return any(abs(float(each[chain[0]])) != 1.0 for chain in doubtful_chains(game, before) for each in after)


def may_pass_safely(game: Game, status: StatusEstimate, color: int, *, nodes: int = PROOF_NODES) -> bool:
    """Return whether each living chain of `color` that the opponent could put in atari survives, by proof."""
    chains = [
        chain
        for chain in chains_of(game)
        if game.board.color[chain[0]] == color and opponent_may_atari(game, status, chain)
    ]
    if not chains:
        return True
    reader = FightReader(game.board, suicide=game.rules.suicide, nodes=nodes)
    return all(reader.survives(chain[0], opponent(color)).is_proved for chain in chains)


def proved_capture(game: Game, chains: Sequence[Sequence[int]], color: int, *, nodes: int = PROOF_NODES) -> int | None:
    """Return a move of `color` that begins a proved capture of one of these enemy chains, None without a proof."""
    reader = FightReader(game.board, suicide=game.rules.suicide, nodes=nodes)
    for chain in chains:
        proof = reader.captures(chain[0], color)
        if proof.is_proved and game.is_legal(proof.line[0], color):
            return proof.line[0]
    return None
