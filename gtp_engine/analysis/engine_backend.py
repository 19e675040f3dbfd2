"""The backend of a real analysis session: the networks of the configuration and this engine's searches."""

from collections.abc import Callable
from typing import Any, Final

from gtp_engine.config import Config
from gtp_engine.engine.human_settings import human_settings_at_start
from gtp_engine.engine.search_factory import new_searcher
from gtp_engine.engine.starting_board import first_board, playable_board
from gtp_engine.engine.warm_up import warm_up
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.evaluation.exclusive import ExclusiveEvaluator
from gtp_engine.search.searcher import Searcher


class EngineBackend:
    """Searches of this engine, all with one `evaluator`, or with rollouts if there is none.

    `human` is a human-like network beside it.

    Creating a backend also compiles all kernels; `log` receives lines for the user.  Raises ConfigError if the
    configuration requires a network and there is none.
    """

    def __init__(
        self,
        config: Config,
        evaluator: Evaluator | None,
        log: Callable[[str], None],
        human: Evaluator | None = None,
    ) -> None:
        config, warning = human_settings_at_start(config, evaluator, human)
        if warning is not None:
            log(warning)
        self._shared: Final = None if evaluator is None else ExclusiveEvaluator(evaluator)
        self._human: Final = None if human is None else ExclusiveEvaluator(human)
        if evaluator is None:
            log(
                "no network: positions are evaluated by rollouts, so there is no policy and scores are rough; "
                "name a network with --model FILE"
            )
        self.open_searcher(config).close()  # reports a wrong configuration now, not at the first query
        warm_up(config, evaluator, playable_board(evaluator, *first_board(config, evaluator)), log)

    def open_searcher(self, config: Config) -> Searcher:
        """Return a new searcher with these settings."""
        return new_searcher(config, self._shared, self._human)

    def models(self) -> list[dict[str, Any]]:
        """Return an entry for each network, with the keys of KataGo's `query_models`."""
        return [evaluator.info.katago_facts() for evaluator in self._evaluators]

    def clear_cache(self) -> None:
        """Clear cached evaluations."""
        for evaluator in self._evaluators:
            evaluator.clear_cache()

    def close(self) -> None:
        """Free the networks."""
        for evaluator in self._evaluators:
            evaluator.close()

    @property
    def _evaluators(self) -> list[ExclusiveEvaluator]:
        return [evaluator for evaluator in (self._shared, self._human) if evaluator is not None]
