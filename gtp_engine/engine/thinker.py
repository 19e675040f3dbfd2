"""The searches of an engine: which algorithm, for how long, and on whose behalf; knows games, not the running game.

Two searches of one kind: that of the game keeps its tree from move to move, the other looks at positions apart, for
estimates, without the bias of a playout doubling advantage.  Both ask the same evaluator where there is one, so only
one of them runs at a time.  Methods are for one thread at a time, except `stop`.
"""

import threading
import time
from collections import deque
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from gtp_engine.config import Config
from gtp_engine.engine.search_factory import asks_network, new_searcher
from gtp_engine.engine.thresholds import NETWORK, ROLLOUTS, Effort
from gtp_engine.errors import ConfigError, problem
from gtp_engine.evaluation.evaluation import Evaluation, new_evaluation
from gtp_engine.evaluation.evaluator import EvaluationOptions, Evaluator
from gtp_engine.evaluation.exclusive import ExclusiveEvaluator
from gtp_engine.evaluation.from_game import advantage_black, conditions_of, write_game
from gtp_engine.evaluation.positions import new_positions
from gtp_engine.go.constants import EMPTY, Move, opponent
from gtp_engine.go.coords import board_points
from gtp_engine.go.game import Game
from gtp_engine.search.limits import Limits, Progress, Reporting, Restriction
from gtp_engine.search.report import SearchReport
from gtp_engine.search.searcher import Searcher
from gtp_engine.time_manager import TimeBudget, is_settled, should_stop

REMEMBERED_STEPS: Final = 4
"""Steps of a search (a step lies between two questions to its watcher) whose longest predicts the next."""

KNOWN_RATE: Final = 16
"""Playouts from which their rate is known: the first ones of a search wait for its root, and come one at a time."""


@dataclass(frozen=True)
class Request:
    """What somebody wants of a search beside a move: reports while it runs, moves left out, more moves looked at."""

    reporting: Reporting | None = None
    restrictions: tuple[Restriction, ...] = ()
    wide_root_noise: float = 0.0
    """For analyses only; see `Limits`."""
    move_ownership: bool = False


class TimeWatcher:
    """Asked by a running search whether to stop; `late` seconds of the budget had passed when the search began.

    A search is asked between two batches, and a batch of a slow network takes half a second.  So the search is stopped
    when the next step would go beyond the maximum, not when it has.
    """

    def __init__(self, budget: TimeBudget, config: Config, effort: Effort, *, late: float = 0.0) -> None:
        self._budget: Final = budget
        self._config: Final = config
        self._effort: Final = effort
        self._late: Final = late
        self._steps: Final[deque[float]] = deque(maxlen=REMEMBERED_STEPS)
        self._asked = 0.0

    def __call__(self, progress: Progress) -> bool:
        """Return whether to stop now."""
        self._steps.append(progress.seconds - self._asked)
        self._asked = progress.seconds
        maximum = self._budget.maximum - self._late - max(self._steps)
        target = min(self._budget.target - self._late, maximum)
        config, rate = self._config.time, progress.playouts / max(progress.seconds, 1e-6)
        settled = is_settled(
            candidates=progress.choices,
            visits=progress.leader_visits,
            winrate=progress.winrate,
            config=config,
            enough_visits=self._effort.settled_visits,
        )
        return should_stop(
            progress.seconds,
            replace(self._budget, target=target, maximum=maximum),
            leader_visits=progress.leader_visits,
            runner_up_visits=progress.runner_up_visits,
            visits_per_second=rate if progress.playouts >= KNOWN_RATE else 0.0,
            leader_has_best_value=progress.leader_is_best_value,
            settled=settled,
            early_stop=config.early_stop,
        )


class Thinker:
    """Searches for an engine; with an evaluator by PUCT unless the configuration says otherwise, else by rollouts.

    `cancelled` ends every search while it is set.  Raises ConfigError where the configuration asks for a search that
    needs a network and there is none.
    """

    def __init__(self, config: Config, evaluator: Evaluator | None, cancelled: threading.Event) -> None:
        self.config = config
        self.evaluator: Final = None if evaluator is None else ExclusiveEvaluator(evaluator)
        self._cancelled: Final = cancelled
        self._game_search, self._second_search = self._new_searches()

    @property
    def has_network(self) -> bool:
        """Whether the searches ask a network."""
        return asks_network(self.config, self.evaluator)

    @property
    def effort(self) -> Effort:
        """How many visits the searches need: few only where a network tells the owners of the points."""
        told = self.evaluator is not None and self.evaluator.info.has_ownership and self.config.puct.rollout_share < 1.0
        return NETWORK if self.has_network and told else ROLLOUTS

    def prepare(self, width: int, height: int) -> None:
        """Get the network ready for boards of this size, which may take seconds; raises ModelError if it cannot."""
        if self.evaluator is not None:
            self.evaluator.prepare(width, height)

    def search_move(self, game: Game, color: int, watcher: TimeWatcher, request: Request) -> SearchReport:
        """Search for a move of `color` until `watcher` or the configured number of visits ends it."""
        limits = Limits(
            visits=self.config.search.visits or None,
            watcher=lambda progress: self._cancelled.is_set() or watcher(progress),
            reporting=request.reporting,
            restrictions=request.restrictions,
            move_ownership=request.move_ownership,
        )
        return self._game_search.run(game, limits, to_play=color)

    def analyze(self, game: Game, color: int, request: Request) -> SearchReport:
        """Search until `stop` or `cancelled`, with reports as requested, the first as soon as there is something."""
        limits = Limits(
            watcher=lambda progress: self._cancelled.is_set(),
            reporting=request.reporting,
            restrictions=request.restrictions,
            wide_root_noise=request.wide_root_noise,
            move_ownership=request.move_ownership,
        )
        return self._game_search.run(game, limits, to_play=color)

    def ponder(self, game: Game, seconds: float) -> None:
        """Search the position, in which the opponent is to play, until `stop` or `cancelled`, at most so long.

        What is found stays in the tree.
        """
        limits = Limits(
            watcher=lambda progress: self._cancelled.is_set() or progress.seconds >= seconds,
            behalf_of=opponent(game.to_play),
        )
        self._game_search.run(game, limits)

    def search_apart(self, game: Game, to_play: int, limits: Limits) -> SearchReport:
        """Search the position afresh for either side, without touching the tree of the game."""
        self._second_search.clear()
        return self._second_search.run(game, limits, to_play=to_play)

    def search_in_time(self, game: Game, to_play: int, *, deadline: float) -> SearchReport | None:
        """Return a short search apart that ends by `deadline` (of time.perf_counter), or None if that has passed."""
        seconds = deadline - time.perf_counter()
        if seconds <= 0:
            return None
        watcher = TimeWatcher(TimeBudget(seconds, seconds), self.config, self.effort)
        limits = Limits(self.effort.confirm_visits, lambda progress: self._cancelled.is_set() or watcher(progress))
        return self.search_apart(game, to_play, limits)

    def evaluate(self, game: Game, color: int, symmetries: tuple[int, ...], optimism: float | None) -> Evaluation:
        """Return what the network says of the position with `color` to play: a row for each of `symmetries`.

        As in KataGo, whoever moves out of turn begins a new game, in which handicap and button count anew; `optimism`
        None is that of the root.  Raises ConfigError without a network.
        """
        if self.evaluator is None:
            raise ConfigError(problem("no network is loaded", advice="name one with --model FILE"))
        optimism = self.config.puct.root_policy_optimism if optimism is None else optimism
        positions = new_positions(1, game.width, game.height)
        write_game(positions, 0, game, color)
        part, advantage = since_move_out_of_turn(game, color), advantage_black(self.config.puct, color)
        conditions = conditions_of(part, playout_doubling_advantage_black=advantage)
        rows = []
        for symmetry in symmetries:
            row = new_evaluation(1, game.width, game.height)
            self.evaluator.evaluate(positions, 1, conditions, row, EvaluationOptions(symmetry, optimism))
            rows.append(row)
        return join_evaluations(rows)

    def stop(self) -> None:
        """End running searches at once, from any thread; they answer with what they have."""
        self._game_search.stop()
        self._second_search.stop()

    def clear(self) -> None:
        """Forget trees and remembered evaluations."""
        self._game_search.clear()
        self._second_search.clear()
        if self.evaluator is not None:
            self.evaluator.clear_cache()

    def set_seed(self, seed: int) -> None:
        """Start the random numbers of both searches at `seed` and forget their trees."""
        for search in (self._game_search, self._second_search):
            search.set_seed(seed)

    def configure(self, config: Config) -> None:
        """Search by another configuration; the trees are kept unless something changes that shaped them."""
        keeps_trees = _tree_options(config) == _tree_options(self.config)
        old = self.config
        self.config = config
        if keeps_trees:
            return
        try:
            searches = self._new_searches()
        except ConfigError:
            self.config = old
            raise
        for search in (self._game_search, self._second_search):
            search.close()
        self._game_search, self._second_search = searches

    def close(self) -> None:
        """End the searches and free the network; nothing can be searched afterwards."""
        self._game_search.close()
        self._second_search.close()
        if self.evaluator is not None:
            self.evaluator.close()

    def _new_searches(self) -> tuple[Searcher, Searcher]:
        """Return a new search for the game and one for positions apart."""
        impartial = self.config.with_values({"puct.playout_doubling_advantage": 0.0})
        return new_searcher(self.config, self.evaluator), new_searcher(impartial, self.evaluator)


def join_evaluations(rows: list[Evaluation]) -> Evaluation:
    """Return evaluations as one, row after row."""
    return Evaluation(*(np.concatenate(field) for field in zip(*rows, strict=True)))


def since_move_out_of_turn(game: Game, color: int) -> Game:
    """Return the game with `color` to play as if it had begun before the last move that was out of turn, if any was."""
    moves, turn, first = game.moves, game.first_player, 0
    for number, move in enumerate(moves):
        first = first if move.color == turn else number
        turn = opponent(move.color)
    first = first if color == turn else len(moves)
    if first == 0 and color == turn:
        return game
    before = game.copy()
    before.undo(len(moves) - first)
    points = board_points(game.width, game.height)
    stones = [Move(int(before.board.color[point]), point) for point in points if before.board.color[point] != EMPTY]
    part = Game(game.width, game.height, game.rules, game.komi)
    part.set_up(stones, moves[first].color if first < len(moves) else color)
    for move in moves[first:]:
        part.play(move, allow_superko=True)
    return part


def _tree_options(config: Config) -> Config:
    """Return the configuration without what a tree does not depend on."""
    defaults = Config()
    return replace(
        config,
        game=defaults.game,
        search=replace(config.search, visits=defaults.search.visits),
        time=defaults.time,
        play=defaults.play,
        gtp=defaults.gtp,
        analysis=defaults.analysis,
    )
