"""From the configuration and a game to the numbers a search is run with."""

from math import sqrt

from gtp_engine.config import Config
from gtp_engine.evaluation.games import SUPERKO
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Scoring
from gtp_engine.search.limits import Limits
from gtp_engine.search.puct.leaves import MAX_DEPTH
from gtp_engine.search.puct.utility import STATIC_SCALE, Params
from gtp_engine.search.rollouts.rollout import POLICIES


def params_of(
    config: Config,
    game: Game,
    limits: Limits,
    *,
    expected_score: float,
    has_score: bool,
    has_ownership: bool,
    has_errors: bool,
) -> Params:
    """Return the numbers for a search of a game's position.

    `expected_score` is what the root is thought to be worth, points for Black; the others say what the evaluator tells.
    """
    puct, side = config.puct, sqrt(game.width * game.height)
    weighs = puct.uncertainty > 0.0 and has_errors
    return Params(
        c_puct=puct.c_puct,
        c_puct_log=puct.c_puct_log,
        c_puct_base=puct.c_puct_base,
        stdev_prior=puct.utility_stdev_prior,
        stdev_prior_weight=puct.utility_stdev_prior_weight,
        stdev_scale=puct.utility_stdev_scale,
        fpu_reduction=puct.fpu_reduction,
        root_fpu_reduction=puct.root_fpu_reduction,
        fpu_parent_power=puct.fpu_parent_power,
        virtual_weight=puct.virtual_weight,
        value_weight_exponent=puct.value_weight_exponent,
        noise_pruning_scale=puct.noise_pruning_scale,
        uncertainty=puct.uncertainty,
        uncertainty_exponent=puct.uncertainty_exponent,
        uncertainty_max_weight=puct.uncertainty_max_weight,
        static_weight=puct.static_score_weight if has_score else 0.0,
        static_scale=STATIC_SCALE * side,
        dynamic_weight=puct.dynamic_score_weight if has_score else 0.0,
        dynamic_scale=puct.dynamic_score_scale * side,
        dynamic_center=_center(expected_score, puct.dynamic_score_zero_weight, puct.dynamic_score_scale * side),
        wide_root_noise=limits.wide_root_noise,
        rollout_share=puct.rollout_share,
        rollout_limit=puct.rollout_limit,
        rollout_policy=POLICIES[config.search.rollout_policy],
        max_depth=puct.playout_depth or MAX_DEPTH,
        sure_weight=puct.uncertainty_max_weight if weighs else 1.0,
        has_ownership=has_ownership,
        komi=game.area_komi,
        counts_area=game.rules.scoring is Scoring.AREA,
        superko=SUPERKO[game.rules.ko],
        suicide=game.rules.suicide,
    )


def _center(score: float, zero_weight: float, cap: float) -> float:
    """Return a score drawn towards 0 by this share, but by no more than `cap` points."""
    center = score * (1.0 - zero_weight)
    return min(max(center, score - cap), score + cap)
