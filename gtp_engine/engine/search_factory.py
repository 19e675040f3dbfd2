"""Creates the search that a configuration names: by default PUCT with a network, rollouts without one."""

from gtp_engine.config import Config
from gtp_engine.engine.human_settings import check_human_settings
from gtp_engine.errors import ConfigError, problem
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.search.rollouts.rollout_search import RolloutSearch
from gtp_engine.search.searcher import Searcher


def uses_network(config: Config, evaluator: Evaluator | None) -> bool:
    """Return whether a search with this configuration evaluates positions by the network."""
    return evaluator is not None and config.search.search in ("auto", "puct")


def new_searcher(config: Config, evaluator: Evaluator | None, human: Evaluator | None = None) -> Searcher:
    """Return a new search; `human` is a human-like network beside `evaluator`.

    Raises ConfigError if the configuration requires a network and there is none, and for settings of human-like play
    that do not go with the networks.
    """
    check_human_settings(config, evaluator, human)
    if evaluator is None and config.search.search == "puct":
        advice = "name one with --model FILE, or leave out --search"
        raise ConfigError(problem("search.search = puct without a network", advice=advice))
    if evaluator is None or not uses_network(config, evaluator):
        return RolloutSearch(config.search, None if evaluator is None else evaluator.info.linear_policy)
    from gtp_engine.search.puct.puct_search import PuctSearch  # here: rollouts need none of its kernels

    return PuctSearch(config, evaluator, human)
