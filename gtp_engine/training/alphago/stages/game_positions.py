"""Positions of recorded games as network input: replayed when they are needed, in any orientation, and as examples.

    GameStore       games on boards of one size, as the arrays that kernels replay
    MoveNumbers     positions in it
    Replayer        the planes of such positions, and the owners of all points at the end of their games
    ExampleBatch    positions as torch tensors, with the move played and the outcome
    example_stream  batches without end, whose order follows from the seed
    examples_of     given positions as they are

Letters: G games, K positions, A = H·W points of a board.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gtp_engine.base.errors import shown
from gtp_engine.evaluation.from_game import SUPERKO
from gtp_engine.evaluation.positions import Conditions, FloatArray, Positions, new_positions
from gtp_engine.go.board import IntArray, clone, new_board
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE
from gtp_engine.go.coords import board_points
from gtp_engine.nn.symmetry import IDENTITY, cell_orders, cell_table, symmetry_count
from gtp_engine.training.alphago.planes_encoder import AlphaGoEncoder
from gtp_engine.training.alphago.stages.game_records import RecordedGame, RecordsError
from gtp_engine.training.alphago.stages.replay import GameMoves, ReplayWork, replay_rows, write_owners
from gtp_engine.training.core.loop import Place

BATCH: Final = 512
"""Positions of an evaluation batch."""

MoveNumbers = NDArray[np.int64]
"""[K], places in the arrays of `GameMoves`: each stands for the position before a move."""


class GameStore:
    """Games on boards of `width` × `height`; raises RecordsError if there are none, or several board sizes."""

    def __init__(self, games: Sequence[RecordedGame]) -> None:
        self.games: Final = tuple(games)
        self.width, self.height = _board_of(games)
        self.moves: Final = _moves_of(games)
        self.winners: Final = np.array([game.winner for game in games], dtype=np.int8)

    def stones(self) -> MoveNumbers:
        """Return all moves but passes, which are left out because the networks cannot pass."""
        return np.flatnonzero(self.moves.points != PASS)

    def games_of(self, numbers: MoveNumbers) -> NDArray[np.int64]:
        """Return the indices of the games that moves belong to."""
        return np.searchsorted(self.moves.first_move, numbers, side="right") - 1

    def actions(self, numbers: MoveNumbers, symmetries: IntArray) -> IntArray:
        """Return the moves, int32[K], as row · W + column in each position's symmetry; NO_CELL stands for a pass."""
        actions: IntArray = cell_table(self.width, self.height)[symmetries, self.moves.points[numbers]]
        return actions

    def outcomes(self, numbers: MoveNumbers) -> FloatArray:
        """Return the games' outcomes for the side to move, float32[K]: 1 won, −1 lost, 0 neither."""
        winners = self.winners[self.games_of(numbers)]
        signs = np.where(winners == self.moves.colors[numbers], np.float32(1), np.float32(-1))
        outcomes: FloatArray = np.where(winners == EMPTY, np.float32(0), signs)
        return outcomes


StoredPositions = tuple[GameStore, MoveNumbers]
"""Games, and the positions that are meant."""


class ExampleBatch(NamedTuple):
    """N positions on boards of H × W points, from the view of the side to move."""

    planes: Tensor  # float32 [N, 48 or 49, H, W]
    actions: Tensor  # int64 [N] the move played, row · W + column; −1 for none
    outcomes: Tensor  # float32 [N] 1 for a win, −1 for a loss, 0 for neither
    owners: Tensor  # float32 [N, H·W] final owner of each point, 1 own, −1 the opponent's; [N, 0] for a policy network


class Replayer:
    """Replays and encodes positions of a store's games, up to `batch` at a time; not for several threads at once.

    `for_value` adds the value network's plane, and the owners that it predicts beside the outcomes.
    """

    def __init__(self, store: GameStore, batch: int, *, for_value: bool = False) -> None:
        width, height = store.width, store.height
        self._store: Final = store
        self._for_value: Final = for_value
        self._encoder: Final = AlphaGoEncoder(width, height, player_color=for_value)
        self._positions: Final = new_positions(batch, width, height)
        longest = int(np.diff(store.moves.first_move).max())
        empty = new_board(width, height)
        self._work: Final = ReplayWork(empty, clone(empty), np.zeros(longest + 1, dtype=np.uint64))
        self._queue: Final = np.zeros_like(empty.color)
        self._owners: Final = np.zeros((batch, len(empty.color)), dtype=np.int32)

    def examples(self, numbers: MoveNumbers, symmetries: IntArray) -> ExampleBatch:
        """Return the positions as examples, each in its symmetry, int32[K]."""
        store, count = self._store, len(numbers)
        positions = self.replay(numbers)  # first, as it checks the numbers
        planes = self._encoder.encode(positions, range(count), symmetries).spatial
        owners = self.owners(numbers, symmetries) if self._for_value else np.zeros((count, 0), dtype=np.float32)
        return ExampleBatch(
            planes=torch.from_numpy(planes),
            actions=torch.from_numpy(store.actions(numbers, symmetries).astype(np.int64)),
            outcomes=torch.from_numpy(store.outcomes(numbers)),
            owners=torch.from_numpy(owners),
        )

    def owners(self, numbers: MoveNumbers, symmetries: IntArray) -> FloatArray:
        """Return the owner of each point, by area scoring, at the end of the positions' games.

        float32[K, A] in each position's symmetry: 1 for the side to move, −1 for its opponent, 0 for neither.
        """
        store = self._store
        write_owners(store.moves, store.games_of(numbers), self._work, self._queue, self._owners)
        colors = self._owners[: len(numbers), board_points(store.width, store.height)]
        mine = store.moves.colors[numbers][:, None]
        signs = (colors == mine).astype(np.float32) - (colors == BLACK + WHITE - mine)
        owners: FloatArray = np.take_along_axis(signs, cell_orders(store.width, store.height)[symmetries], axis=1)
        return owners

    def played_symmetries(self, numbers: MoveNumbers) -> IntArray:
        """Return the symmetries, int32[K], in which a player of `policy_players` evaluated the positions."""
        count = symmetry_count(self._store.width, self._store.height)
        symmetries: IntArray = (self.replay(numbers).key[: len(numbers)] % np.uint64(count)).astype(np.int32)
        return symmetries

    def replay(self, numbers: MoveNumbers) -> Positions:
        """Return rows of which the first K hold the positions, valid until the next call; their komi is 0."""
        moves, games = self._store.moves, self._store.games_of(numbers)
        batch, total = len(self._positions.key), len(moves.points)
        assert len(numbers) <= batch and ((numbers >= 0) & (numbers < total)).all(), "kernels check no bounds"
        replay_rows(self._positions, moves, games, numbers, self._work)
        self._positions.conditions[: len(numbers), _SUICIDE] = moves.suicide[games]
        return self._positions


_SUICIDE: Final = Conditions._fields.index("suicide")
"""The planes depend on no other condition; points that superko forbids are part of the rows."""


def _board_of(games: Sequence[RecordedGame]) -> tuple[int, int]:
    boards = sorted({(game.width, game.height) for game in games})
    if len(boards) != 1:
        names = ", ".join(f"{width}x{height}" for width, height in boards) or "no board"
        raise RecordsError(f"games on {names}", expected="games on one board", advice="give a folder for each board")
    if not any(len(game.points) for game in games):
        raise RecordsError("games without moves", expected="moves to learn from")
    return boards[0]


def _moves_of(games: Sequence[RecordedGame]) -> GameMoves:
    """Return the games as arrays; raises RecordsError for rules with a button."""
    for game in games:
        if game.rules.has_button:
            raise RecordsError(f"game {shown(game.name)} has a button", expected="rules without one")
    stones = [game.setup_stones for game in games]
    return GameMoves(
        points=np.concatenate([game.points for game in games]),
        colors=np.concatenate([game.colors for game in games]),
        first_move=_firsts([len(game.points) for game in games]),
        stone_points=np.array([stone.point for of_game in stones for stone in of_game], dtype=np.int16),
        stone_colors=np.array([stone.color for of_game in stones for stone in of_game], dtype=np.int8),
        first_stone=_firsts([len(of_game) for of_game in stones]),
        first_player=np.array([game.first_player for game in games], dtype=np.int8),
        superko=np.array([SUPERKO[game.rules.ko] for game in games], dtype=np.int8),
        suicide=np.array([game.rules.suicide for game in games], dtype=np.bool_),
    )


def _firsts(lengths: Sequence[int]) -> NDArray[np.int64]:
    """Return the offsets of parts of these lengths in one array, and the end of the last part."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def example_stream(
    positions: StoredPositions, size: int, place: Place | None, *, seed: int, for_value: bool
) -> Iterator[tuple[ExampleBatch, Place]]:
    """Yield batches of `size` positions without end, each with the place after it (`core.loop.Stream`).

    Each position comes once an epoch, in a random orientation.  An incomplete batch at the end of an epoch is dropped;
    if there are fewer positions than `size`, all of them are one batch.  `for_value` as in `Replayer`.
    """
    store, numbers = positions
    size, symmetries = min(size, len(numbers)), symmetry_count(store.width, store.height)
    replayer = Replayer(store, size, for_value=for_value)
    epoch, batch = (place["epoch"], place["batch"]) if place else (0, 0)
    while True:
        order = np.random.default_rng((seed, epoch)).permutation(numbers)
        while (batch + 1) * size <= len(numbers):
            rng, chosen = np.random.default_rng((seed, epoch, batch)), order[batch * size : (batch + 1) * size]
            batch += 1
            examples = replayer.examples(chosen, rng.integers(symmetries, size=size, dtype=np.int32))
            yield examples, {"epoch": epoch, "batch": batch}
        epoch, batch = epoch + 1, 0


def examples_of(positions: StoredPositions, *, for_value: bool) -> Iterator[ExampleBatch]:
    """Yield the positions in their order, as they are; `for_value` as in `Replayer`."""
    store, numbers = positions
    replayer = Replayer(store, BATCH, for_value=for_value)
    for begin in range(0, len(numbers), BATCH):
        chosen = numbers[begin : begin + BATCH]
        yield replayer.examples(chosen, np.full(len(chosen), IDENTITY, dtype=np.int32))
