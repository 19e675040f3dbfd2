"""Positions of recorded games as network input: replayed when they are needed, in any orientation, and as examples.

    GameStore      games on boards of one size, as the arrays that kernels replay
    PositionRefs   references to positions in it (`replay`)
    Replayer       the planes of such positions, and the owners of all points at the end of their games
    ExampleBatch   positions as torch tensors, with the move played and the outcome
    ExampleStream  an endless stream of batches, whose order follows from its seed and `state`
    examples_of    given positions as they are

Letters: G games, K positions, A = H·W points of a board.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

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
from gtp_engine.nn.symmetry import IDENTITY, NO_CELL, cell_orders, cell_table, symmetry_count
from gtp_engine.training.alphago.planes_encoder import AlphaGoEncoder
from gtp_engine.training.alphago.stages.game_records import RecordedGame, RecordsError
from gtp_engine.training.alphago.stages.replay import GameMoves, PositionRefs, ReplayWork, replay_rows, write_owners

BATCH: Final = 512
"""Positions of an evaluation batch."""


class GameStore:
    """Games on boards of `width` × `height`; raises RecordsError if there are none, or several board sizes."""

    def __init__(self, games: Sequence[RecordedGame]) -> None:
        self.games: Final = tuple(games)
        self.width, self.height = _board_of(games)
        self.moves: Final = _moves_of(games)
        self.winners: Final = np.array([game.winner for game in games], dtype=np.int8)

    def move_refs(self) -> PositionRefs:
        """Return every position in which a stone is played, game by game.

        Passes are left out, because the networks cannot pass.
        """
        games = np.repeat(np.arange(len(self.games)), np.diff(self.moves.first_move))
        counts = np.arange(len(games)) - self.moves.first_move[games]
        is_stone = self.moves.points != PASS
        return PositionRefs(games[is_stone], counts[is_stone], self.moves.colors[is_stone])

    def actions(self, refs: PositionRefs, symmetries: IntArray) -> IntArray:
        """Return the moves that follow the positions, int32[K], as row · W + column in each position's symmetry.

        NO_CELL stands for a pass and for the end of a game.
        """
        numbers = self.moves.first_move[refs.games] + refs.counts
        has_move = numbers < self.moves.first_move[refs.games + 1]
        points = self.moves.points[np.where(has_move, numbers, 0)]
        cells = cell_table(self.width, self.height)[symmetries, points]
        actions: IntArray = np.where(has_move, cells, np.int32(NO_CELL))
        return actions

    def outcomes(self, refs: PositionRefs) -> FloatArray:
        """Return the games' outcomes for the side to move, float32[K]: 1 won, −1 lost, 0 neither."""
        winners = self.winners[refs.games]
        signs = np.where(winners == refs.to_play, np.float32(1), np.float32(-1))
        outcomes: FloatArray = np.where(winners == EMPTY, np.float32(0), signs)
        return outcomes


StoredPositions = tuple[GameStore, PositionRefs]
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

    def examples(self, refs: PositionRefs, symmetries: IntArray) -> ExampleBatch:
        """Return the positions as examples, each in its symmetry, int32[K]."""
        store, count = self._store, len(refs.games)
        owners = self.owners(refs, symmetries) if self._for_value else np.zeros((count, 0), dtype=np.float32)
        planes = self._encoder.encode(self.replay(refs), range(count), symmetries).spatial
        return ExampleBatch(
            planes=torch.from_numpy(planes),
            actions=torch.from_numpy(store.actions(refs, symmetries).astype(np.int64)),
            outcomes=torch.from_numpy(store.outcomes(refs)),
            owners=torch.from_numpy(owners),
        )

    def owners(self, refs: PositionRefs, symmetries: IntArray) -> FloatArray:
        """Return the owner of each point, by area scoring, at the end of the positions' games.

        float32[K, A] in each position's symmetry: 1 for the side to move, −1 for its opponent, 0 for neither.
        """
        store, count = self._store, len(refs.games)
        ends = self.replay(refs._replace(counts=np.diff(store.moves.first_move)[refs.games]))
        write_owners(ends, count, self._queue, self._owners)
        colors = self._owners[:count, board_points(store.width, store.height)]
        mine = refs.to_play[:, None]
        signs = (colors == mine).astype(np.float32) - (colors == BLACK + WHITE - mine)
        owners: FloatArray = np.take_along_axis(signs, cell_orders(store.width, store.height)[symmetries], axis=1)
        return owners

    def played_symmetries(self, refs: PositionRefs) -> IntArray:
        """Return the symmetries, int32[K], in which a player of `policy_players` evaluated the positions."""
        count = symmetry_count(self._store.width, self._store.height)
        symmetries: IntArray = (self.replay(refs).key[: len(refs.games)] % np.uint64(count)).astype(np.int32)
        return symmetries

    def replay(self, refs: PositionRefs) -> Positions:
        """Return rows of which the first K hold the positions, valid until the next call; their komi is 0."""
        lengths = np.diff(self._store.moves.first_move)[refs.games]
        batch = len(self._positions.key)
        assert len(refs.games) <= batch and (refs.counts <= lengths).all(), "kernels check no bounds"
        replay_rows(self._positions, self._store.moves, refs, self._work)
        self._positions.conditions[: len(refs.games), _SUICIDE] = self._store.moves.suicide[refs.games]
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


class ExampleStream(Iterator[ExampleBatch]):
    """An endless stream of batches of `size` positions; each position comes once an epoch, in a random orientation.

    An incomplete batch at the end of an epoch is dropped; if there are fewer positions than `size`, all of them are one
    batch.  `for_value` as in `Replayer`.
    """

    def __init__(self, store: GameStore, refs: PositionRefs, size: int, *, seed: int, for_value: bool) -> None:
        self._store: Final = store
        self._refs: Final = refs
        self.positions: Final = len(refs.games)
        """In an epoch."""
        self._size: Final = min(size, self.positions)
        self._seed: Final = seed
        self._replayer: Final = Replayer(store, self._size, for_value=for_value)
        self._epoch = self._batch = 0
        self._order = self._shuffled()

    def state(self) -> dict[str, Any]:
        """Return the position in the stream, as plain values."""
        return {"epoch": self._epoch, "batch": self._batch}

    def go_to(self, state: dict[str, Any]) -> None:
        """Continue where `state` was taken."""
        self._epoch, self._batch = state["epoch"], state["batch"]
        self._order = self._shuffled()

    def __next__(self) -> ExampleBatch:
        """Return the next batch."""
        if (self._batch + 1) * self._size > self.positions:
            self.go_to({"epoch": self._epoch + 1, "batch": 0})
        refs = self._refs.take(self._order[self._batch * self._size :][: self._size])
        rng = np.random.default_rng((self._seed, self._epoch, self._batch))
        self._batch += 1
        count = symmetry_count(self._store.width, self._store.height)
        return self._replayer.examples(refs, rng.integers(count, size=len(refs.games), dtype=np.int32))

    def _shuffled(self) -> NDArray[np.int64]:
        """Return the order of the epoch."""
        return np.random.default_rng((self._seed, self._epoch)).permutation(self.positions)


def examples_of(store: GameStore, refs: PositionRefs, *, size: int = BATCH, for_value: bool) -> Iterator[ExampleBatch]:
    """Yield the positions in their order, up to `size` at a time, as they are.

    `for_value` as in `Replayer`.
    """
    replayer = Replayer(store, size, for_value=for_value)
    for batch in refs.batches(size):
        yield replayer.examples(batch, np.full(len(batch.games), IDENTITY, dtype=np.int32))
