"""What an analysis session loads: the networks of the configuration and the searches that use them."""

from collections.abc import Callable
from typing import Any, Final

from gtp_engine.config import Config
from gtp_engine.engine.search_factory import new_searcher
from gtp_engine.engine.starting_board import first_board, playable_board
from gtp_engine.engine.warm_up import warm_up
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.evaluation.exclusive import ExclusiveEvaluator
from gtp_engine.search.searcher import Searcher


class EngineBackend:
    """Searchers of this engine, all of which ask `evaluator`, or play positions out where there is none.

    Compiles what has to be compiled; `log` takes lines for the user.  Raises ConfigError where the configuration asks
    for a network that is not there.
    """

    def __init__(self, config: Config, evaluator: Evaluator | None, log: Callable[[str], None]) -> None:
        self._evaluator: Final = evaluator
        self._shared: Final = None if evaluator is None else ExclusiveEvaluator(evaluator)
        if evaluator is None:
            log(
                "no network: positions are judged by rollouts, so there is no policy and scores are rough; "
                "name a network with --model FILE"
            )
        self.open_searcher(config).close()  # says now, not at the first query, what cannot be done
        warm_up(config, evaluator, playable_board(evaluator, *first_board(config, evaluator)), log)

    def open_searcher(self, config: Config) -> Searcher:
        """Return a new searcher with these settings."""
        return new_searcher(config, self._shared)

    def models(self) -> list[dict[str, Any]]:
        """Return facts about the network, as KataGo's `query_models` names them; nothing without one."""
        if self._evaluator is None:
            return []
        info = self._evaluator.info
        facts = {"name": info.name, "internalName": info.name, "maxBatchSize": info.batch, "usesHumanSLProfile": False}
        return [facts if info.model_version is None else facts | {"version": info.model_version}]

    def clear_cache(self) -> None:
        """Forget remembered evaluations."""
        if self._shared is not None:
            self._shared.clear_cache()

    def close(self) -> None:
        """Free the network."""
        if self._shared is not None:
            self._shared.close()
