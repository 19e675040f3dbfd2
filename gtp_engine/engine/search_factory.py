"""Which search a configuration asks for: with a network by PUCT unless it says otherwise, else by rollouts."""

from gtp_engine.config import Config
from gtp_engine.errors import ConfigError, problem
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.search.rollouts.rollout_search import RolloutSearch
from gtp_engine.search.searcher import Searcher


def asks_network(config: Config, evaluator: Evaluator | None) -> bool:
    """Return whether a search with this configuration asks the evaluator."""
    return evaluator is not None and config.search.search in ("auto", "puct")


def new_searcher(config: Config, evaluator: Evaluator | None) -> Searcher:
    """Return a new search; raises ConfigError where the configuration asks for a network that is not there."""
    if evaluator is None and config.search.search == "puct":
        advice = "name one with --model FILE, or leave out --search"
        raise ConfigError(problem("search.search = puct without a network", advice=advice))
    if evaluator is None or not asks_network(config, evaluator):
        return RolloutSearch(config.search, None if evaluator is None else evaluator.info.linear_policy)
    from gtp_engine.search.puct.puct_search import PuctSearch  # here: rollouts need none of its kernels

    return PuctSearch(config, evaluator)
