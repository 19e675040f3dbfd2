"""Players of rollouts that another part of the package has: AlphaGo's policies, imported by name when asked for.

A search finds its players here by itself, from its configuration and what was loaded, so that no caller can forget
them, and a search without such rollouts imports nothing.
"""

from pkgutil import resolve_name
from typing import TYPE_CHECKING, Final

from gtp_engine.config import Config, SearchConfig
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.evaluation.evaluator_info import EvaluatorInfo

if TYPE_CHECKING:
    from gtp_engine.search.puct.evaluation_thread import NewRolloutPlayer
    from gtp_engine.search.rollouts.reusable_rollout_tree import NewLeafPlayer

_ROLLOUTS: Final = "gtp_engine.training.alphago.rollout_players:rollout_players"
_LEAVES: Final = "gtp_engine.training.alphago.rollout_players:leaf_players"


def rollout_players(config: Config, evaluator: Evaluator) -> "NewRolloutPlayer | None":
    """Return what makes the players of rollouts for a search with a network, None if it mixes no rollouts in.

    Raises ConfigError if the configuration asks for a rollout network or weights that are not loaded, or where rollouts
    alone can say who wins and do not.
    """
    share, policy = config.puct.rollout_share, config.search.rollout_policy
    if share == 0.0 and policy not in ("linear", "network") and evaluator.info.has_value:
        return None
    found: NewRolloutPlayer | None = resolve_name(_ROLLOUTS)(config, evaluator)
    return found


def leaf_players(config: SearchConfig, info: EvaluatorInfo | None) -> "NewLeafPlayer | None":
    """Return what makes the players for a search without a network, None where its kernels' own policies play.

    `info` describes what was loaded.  Raises ConfigError if the configuration asks for weights that are not there.
    """
    if config.rollout_policy != "linear":
        return None
    found: NewLeafPlayer | None = resolve_name(_LEAVES)(config, info)
    return found
