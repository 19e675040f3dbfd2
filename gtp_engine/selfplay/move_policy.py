"""Players other than the evaluator of a batch of games: where the moves of `PolicyGames` come from.

MovePolicy     the protocol
NetworkMoves   the policy of another network
SearchMoves    the visits of a search with it
RowsForSearch  a `RowsEvaluator` as the `Evaluator` that a search wants
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from gtp_engine.config import Config
from gtp_engine.evaluation.evaluation import Evaluation, FloatArray, new_evaluation
from gtp_engine.evaluation.evaluator import EvaluationOptions, Evaluator
from gtp_engine.evaluation.evaluator_info import EvaluatorInfo
from gtp_engine.evaluation.positions import Conditions, Positions, board_size, take_rows
from gtp_engine.go.board import padded_length
from gtp_engine.go.game import Game
from gtp_engine.search.limits import Limits
from gtp_engine.search.puct.puct_search import PuctSearch
from gtp_engine.selfplay.rows_evaluator import RowsEvaluator


class MovePolicy(Protocol):
    """Gives the probabilities that moves are drawn with; one thread calls it at a time."""

    def policies(
        self, positions: Positions, rows: Sequence[int], conditions: Sequence[Conditions], games: Sequence[Game]
    ) -> NDArray[np.floating]:
        """Return probabilities [K, n] by point for K rows of `positions`, which show `games` under `conditions`."""
        ...


class NetworkMoves:
    """Moves by the policy of a network."""

    def __init__(self, evaluator: RowsEvaluator) -> None:
        self._evaluator: Final = evaluator

    def policies(
        self, positions: Positions, rows: Sequence[int], conditions: Sequence[Conditions], games: Sequence[Game]
    ) -> NDArray[np.floating]:
        """Return the network's policies; see `MovePolicy`."""
        batch = len(positions.key)
        chosen = take_rows(positions, np.resize(rows, batch))  # always as many: evaluators keep buffers for each number
        evaluation = new_evaluation(batch, *board_size(positions))
        self._evaluator.evaluate_rows(chosen, conditions, evaluation)
        return evaluation.policy[: len(rows)]


class SearchMoves:
    """Moves in proportion to the visits of a search of `visits` visits with `evaluator`."""

    def __init__(self, evaluator: Evaluator, visits: int, *, seed: int) -> None:
        config = Config()
        config = replace(config, search=replace(config.search, seed=seed))
        self._search: Final = PuctSearch(config, evaluator)
        self._limits: Final = Limits(visits=visits)

    def policies(
        self, positions: Positions, rows: Sequence[int], conditions: Sequence[Conditions], games: Sequence[Game]
    ) -> NDArray[np.floating]:
        """Return the shares of the visits; see `MovePolicy`."""
        found = np.zeros((len(games), padded_length(*board_size(positions))))
        for policy, game in zip(found, games, strict=True):
            report = self._search.run(game, self._limits)
            for move in report.moves:
                policy[move.point] = move.visits
            if not policy.any():  # a single visit is the root's
                assert report.raw is not None, "a search with a network evaluates the root"
                policy[:] = report.raw.policy
            policy /= policy.sum()
        return found


class RowsForSearch:
    """Evaluates rows that all have the same conditions, for a search in batches of `batch`; see `Evaluator`.

    Nothing is cached, and options are ignored.
    """

    def __init__(self, rows: RowsEvaluator, *, batch: int) -> None:
        self.info: Final = EvaluatorInfo(rows.name, batch)
        self._rows: Final = rows

    def evaluate(
        self, positions: Positions, count: int, conditions: Conditions, out: Evaluation, options: EvaluationOptions
    ) -> None:
        """Write the evaluation of the first `count` rows."""
        self._rows.evaluate_rows(positions, [conditions] * count, out)

    def write_rollout_policy(
        self, positions: Positions, count: int, conditions: Conditions, policy: FloatArray
    ) -> None:
        """Never called: `info.has_rollout_policy` is False."""
        raise AssertionError("callers check `info.has_rollout_policy`")

    def prepare(self, width: int, height: int) -> None:
        """Do nothing: there is nothing to prepare."""

    def clear_cache(self) -> None:
        """Do nothing: there is no cache."""

    def close(self) -> None:
        """Do nothing: the network belongs to the caller."""
