"""Players other than the evaluator of a batch of games: where the moves of `PolicyGames` come from.

MovePolicy     the protocol
NetworkMoves   the policy of another network
SearchMoves    the visits of a search with it
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from gtp_engine.config import Config
from gtp_engine.evaluation.evaluation import new_evaluation
from gtp_engine.evaluation.evaluator import Evaluator, Request
from gtp_engine.evaluation.positions import Positions, board_size, take_rows
from gtp_engine.go.board import padded_length
from gtp_engine.go.game import Game
from gtp_engine.search.limits import Limits
from gtp_engine.search.puct.puct_search import PuctSearch

SEARCH_BATCH: Final = 8
"""Positions that a search evaluates together."""


class MovePolicy(Protocol):
    """Gives the probabilities that moves are drawn with; one thread calls it at a time."""

    def policies(self, positions: Positions, rows: Sequence[int], games: Sequence[Game]) -> NDArray[np.floating]:
        """Return probabilities [K, n] by point for K rows of `positions`, which show `games`."""
        ...


class NetworkMoves:
    """Moves by the policy of a network."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator: Final = evaluator

    def policies(self, positions: Positions, rows: Sequence[int], games: Sequence[Game]) -> NDArray[np.floating]:
        """Return the network's policies; see `MovePolicy`."""
        batch = len(positions.key)
        chosen = take_rows(positions, np.resize(rows, batch))  # always as many: evaluators keep buffers for each number
        evaluation = new_evaluation(batch, *board_size(positions))
        self._evaluator.evaluate(Request(chosen, len(rows), evaluation))
        return evaluation.policy[: len(rows)]


class SearchMoves:
    """Moves in proportion to the visits of a search of `visits` visits with `evaluator`, and its plain policy."""

    def __init__(self, evaluator: Evaluator, visits: int, *, seed: int) -> None:
        config = Config()
        puct = replace(config.puct, eval_batch=SEARCH_BATCH, pipeline=1, root_average=False)
        puct = replace(puct, root_policy_optimism=0.0, policy_optimism=0.0)
        config = replace(config, search=replace(config.search, seed=seed), puct=puct)
        self._search: Final = PuctSearch(config, evaluator)
        self._limits: Final = Limits(visits=visits)

    def policies(self, positions: Positions, rows: Sequence[int], games: Sequence[Game]) -> NDArray[np.floating]:
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
