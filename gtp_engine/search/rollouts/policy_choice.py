"""Which policy plays rollouts: one of the kernels' own, or the linear one with weights from a file."""

from gtp_engine.config import SearchConfig
from gtp_engine.errors import ConfigError, problem
from gtp_engine.evaluation.linear_policy import LinearPolicy
from gtp_engine.search.rollouts.rollout import POLICIES


def kernel_policy(config: SearchConfig) -> int:
    """Return the number of the kernels' policy, which has no meaning where there are weights (`chosen_weights`).

    Raises ConfigError if the configuration asks for a network.
    """
    if config.rollout_policy == "network":
        given = "search.rollout_policy = network in a search without a network"
        raise ConfigError(problem(given, expected="auto, linear, tactical or uniform"))
    return POLICIES["tactical" if config.rollout_policy in ("auto", "linear") else config.rollout_policy]


def chosen_weights(
    config: SearchConfig, linear_policy: LinearPolicy | None, *, by_default: bool
) -> LinearPolicy | None:
    """Return the weights of the linear policy if that one plays the rollouts, else None.

    With `by_default` it also plays them if the configuration leaves the choice to the search.  Raises ConfigError if
    the configuration asks for weights and there are none.
    """
    if config.rollout_policy == "linear" and linear_policy is None:
        raise ConfigError(
            problem(
                "search.rollout_policy = linear without weights",
                advice="put rollout-policy.npz into the folder that --model names, or leave out --rollout-policy",
            )
        )
    is_chosen = config.rollout_policy == "linear" or (by_default and config.rollout_policy == "auto")
    return linear_policy if is_chosen else None
