"""The two searches of an engine: which algorithm they use, and the limits for each purpose.

The game search keeps its tree from move to move.  The separate search starts afresh for every position; it confirms the
end of a game and estimates dead stones (`Resources.impartial_config`).  Both share one evaluator, if there is one,
so only one of them runs at a time.  All methods are for one thread at a time; any other thread ends a search by its
cancel token.
"""

import time
from dataclasses import replace
from typing import Final

from gtp_engine.config import Config
from gtp_engine.engine.raw_evaluation import evaluate_game
from gtp_engine.engine.resources import Resources
from gtp_engine.engine.thresholds import NETWORK_THRESHOLDS, ROLLOUT_THRESHOLDS, Thresholds
from gtp_engine.engine.time_watcher import TimeWatcher
from gtp_engine.errors import ConfigError, problem
from gtp_engine.evaluation.evaluation import Evaluation
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.evaluation.exclusive import ExclusiveEvaluator
from gtp_engine.go.constants import opponent
from gtp_engine.go.game import Game
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.search.limits import FirstMove, Limits
from gtp_engine.search.report import SearchReport
from gtp_engine.time_manager import TimeBudget


class Searches:
    """The searches of an engine: with an evaluator by PUCT unless the configuration says otherwise, else by rollouts.

    Raises ConfigError if the configuration requires a network and there is none.
    """

    def __init__(self, config: Config, evaluator: Evaluator | None, human: Evaluator | None = None) -> None:
        self.config = config
        self.resources: Final = Resources(
            None if evaluator is None else ExclusiveEvaluator(evaluator),
            None if human is None else ExclusiveEvaluator(human),
        )
        """The networks, which may be used while a search runs, and their kernels."""
        self._seed: int | None = None
        self._game_search, self._separate_search = self.resources.new_searches(config)

    @property
    def evaluator(self) -> Evaluator | None:
        """The main network."""
        return self.resources.evaluator

    @property
    def human(self) -> Evaluator | None:
        """The human-like network."""
        return self.resources.human

    @property
    def thresholds(self) -> Thresholds:
        """The visits and samples that count: few only where a network evaluates positions and their ownership."""
        if self.evaluator is None or not self.uses_network or self.config.puct.rollout_share == 1.0:
            return ROLLOUT_THRESHOLDS
        info = self.evaluator.info
        return NETWORK_THRESHOLDS if info.has_ownership and info.knows_komi else ROLLOUT_THRESHOLDS

    @property
    def uses_network(self) -> bool:
        """Whether searches evaluate positions by the network."""
        return self.resources.uses_network(self.config)

    @property
    def knows_advantage(self) -> bool:
        """Whether searches take a playout doubling advantage into account."""
        return self.evaluator is not None and self.uses_network and self.evaluator.info.knows_advantage

    def search_move(self, game: Game, color: int, limits: Limits) -> SearchReport:
        """Search for a move of `color` within `limits` and the configured number of visits."""
        visits = [most for most in (self.config.search.visits, limits.visits) if most]
        limits = replace(limits, visits=min(visits, default=None), anti_mirror=self.config.puct.anti_mirror)
        return self._game_search.run(game, limits, to_play=color)

    def analyze(self, game: Game, color: int, limits: Limits) -> SearchReport:
        """Search with the settings of analyses; the first report comes once a move has been tried."""
        limits = replace(
            limits,
            wide_root_noise=self.config.analysis.wide_root_noise,
            ignores_history=self.config.analysis.ignore_history,
            first_move=FirstMove.LIKELIEST,
        )
        return self._game_search.run(game, limits, to_play=color)

    def ponder(self, game: Game, seconds: float, advantage_black: float | None, cancel: CancelToken) -> None:
        """Search the position, with the opponent to play, for at most `seconds`; the tree keeps what it finds.

        For `advantage_black` see `Limits`.
        """
        limits = Limits(
            watcher=lambda progress: progress.seconds >= seconds,
            behalf_of=opponent(game.to_play),
            advantage_black=advantage_black,
            cancel=cancel,
        )
        self._game_search.run(game, limits)

    def search_afresh(self, game: Game, to_play: int, limits: Limits) -> SearchReport:
        """Search the position for either side with a new tree; that of the game stays as it is."""
        self._separate_search.clear()
        return self._separate_search.run(game, limits, to_play=to_play)

    def search_on(self, game: Game, limits: Limits) -> SearchReport:
        """Search a position that moves lead to from that of `search_afresh`, in the same tree."""
        return self._separate_search.run(game, limits)

    def confirm(self, game: Game, to_play: int, *, deadline: float, cancel: CancelToken) -> SearchReport | None:
        """Return what a short search with a new tree finds by `deadline` (of time.perf_counter), None after that."""
        seconds = deadline - time.perf_counter()
        if seconds <= 0:
            return None
        watcher = TimeWatcher(TimeBudget(seconds, seconds), self.config, self.thresholds)
        return self.search_afresh(game, to_play, Limits(self.thresholds.confirm_visits, watcher, cancel=cancel))

    def evaluate(self, game: Game, color: int, symmetries: tuple[int, ...], optimism: float | None) -> Evaluation:
        """Return the network's evaluation, see `evaluate_game`; raises ConfigError without a network."""
        if self.evaluator is None:
            raise ConfigError(problem("no network is loaded", advice="name one with --model FILE"))
        return evaluate_game(self.evaluator, game, color, config=self.config, symmetries=symmetries, optimism=optimism)

    def evaluate_as_people(self, game: Game, color: int, symmetries: tuple[int, ...]) -> Evaluation:
        """Return the human-like network's evaluation; raises ConfigError if it is missing or has no profile."""
        if self.human is None:
            raise ConfigError(problem("no human-like network is loaded", advice="name one with --human-model FILE"))
        return evaluate_game(self.human, game, color, config=self.config, symmetries=symmetries)

    def clear(self) -> None:
        """Forget trees and cached evaluations."""
        self._game_search.clear()
        self._separate_search.clear()
        self.resources.clear_cache()

    def set_seed(self, seed: int) -> None:
        """Start the random numbers of both searches at `seed` and forget their trees."""
        self._seed = seed
        for search in (self._game_search, self._separate_search):
            search.set_seed(seed)

    def configure(self, config: Config) -> None:
        """Use another configuration; trees and random numbers stay unless an option that shapes the trees changes.

        Then trees are dropped, and the random numbers restart at the seed that was set.
        """
        keeps_trees = _tree_options(config) == _tree_options(self.config)
        old = self.config
        self.config = config
        if keeps_trees:
            return
        try:
            searches = self.resources.new_searches(config)
        except ConfigError:
            self.config = old
            raise
        for search in (self._game_search, self._separate_search):
            search.close()
        self._game_search, self._separate_search = searches
        if self._seed is not None:
            self.set_seed(self._seed)

    def close(self) -> None:
        """End the searches and free the networks."""
        self._game_search.close()
        self._separate_search.close()
        self.resources.close()


def _tree_options(config: Config) -> Config:
    """Return the configuration with defaults for all options that a tree does not depend on."""
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
