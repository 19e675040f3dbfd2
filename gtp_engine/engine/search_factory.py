"""Creates the searches that a configuration names: by default PUCT with a network, rollouts without one.

An engine has two: one for its moves, and one for questions about a position, with `impartial_config`.
"""

from typing import Final

from gtp_engine.config import Config
from gtp_engine.config.option import Value
from gtp_engine.engine.human_settings import check_human_settings
from gtp_engine.errors import ConfigError, problem
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.search.limits import Searcher
from gtp_engine.search.rollouts.rollout_search import RolloutSearch

_PLAIN_EXPLORATION: Final[dict[str, Value]] = {
    "puct.noise": 0.0,
    "human.human_root_weightless": 0.0,
    "human.human_root_weightful": 0.0,
    "human.human_own_weightless": 0.0,
    "human.human_own_weightful": 0.0,
    "human.human_opponent_weightless": 0.0,
    "human.human_opponent_weightful": 0.0,
}
"""How a search explores that answers questions, however varied or human-like the games are meant to be."""


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


def new_searches(
    config: Config, evaluator: Evaluator | None, human: Evaluator | None = None
) -> tuple[Searcher, Searcher]:
    """Return a new search for moves, and one with `impartial_config`; raises ConfigError as `new_searcher` does."""
    impartial = impartial_config(config, evaluator)
    return new_searcher(config, evaluator, human), new_searcher(impartial, evaluator, human)


def impartial_config(config: Config, evaluator: Evaluator | None) -> Config:
    """Return the configuration for questions about a position: which stones are dead, whether a group lives.

    Neither noise nor people's moves guide the search, and no side has a playout doubling advantage.  To read out a
    group, komi is set so that its life decides the game: where the network assumes another komi, rollouts answer.
    """
    values = {"puct.playout_doubling_advantage": 0.0, **_PLAIN_EXPLORATION}
    if evaluator is None or evaluator.info.knows_komi or not uses_network(config, evaluator):
        return config.with_values(values)
    return config.with_values(values | {"search.search": "rave", "search.rollout_policy": "auto"})
