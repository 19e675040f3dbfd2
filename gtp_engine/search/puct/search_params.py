"""The parameters of a search, from the configuration, the game and the limits."""

from dataclasses import fields
from math import sqrt
from typing import Final

from gtp_engine.config import Config, HumanConfig, PuctConfig
from gtp_engine.evaluation.evaluator_info import EvaluatorInfo
from gtp_engine.evaluation.from_game import SUPERKO, TAX
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Scoring
from gtp_engine.search.limits import Limits
from gtp_engine.search.puct.human_exploration import HumanExploration
from gtp_engine.search.puct.leaves import MAX_DEPTH
from gtp_engine.search.puct.utility import STATIC_SCALE, Params

_TAKEN_OVER: Final = tuple(field.name for field in fields(PuctConfig) if field.name in Params._fields)
"""Options that are parameters of the same name."""


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
    """Return the parameters for a search of a game's position.

    `expected_score` is the score expected at the root, points for Black; the others are what the evaluator's output
    includes.
    """
    puct, side = config.puct, sqrt(game.width * game.height)
    cap = puct.dynamic_score_scale * side
    weighs = puct.uncertainty > 0.0 and has_errors
    return Params(
        **{name: getattr(puct, name) for name in _TAKEN_OVER},
        static_weight=puct.static_score_weight if has_score else 0.0,
        static_scale=STATIC_SCALE * side,
        dynamic_weight=puct.dynamic_score_weight if has_score else 0.0,
        dynamic_scale=cap,
        dynamic_center=_center(expected_score, puct.dynamic_score_zero_weight, cap),
        wide_root_noise=limits.wide_root_noise,
        max_depth=puct.playout_depth or MAX_DEPTH,
        certain_weight=puct.uncertainty_max_weight if weighs else 1.0,
        has_ownership=has_ownership,
        komi=game.area_komi,
        territory_komi=game.komi + game.rules.handicap_points(game.handicap),
        counts_area=game.rules.scoring is Scoring.AREA,
        friendly_pass=game.rules.friendly_pass_ok,
        tax=TAX[game.rules.tax],
        superko=SUPERKO[game.rules.ko],
        suicide=game.rules.suicide,
    )


def cleans_up(config: Config, game: Game, info: EvaluatorInfo) -> bool:
    """Return whether two passes inside the search lead to a clean-up phase; rollouts know none."""
    counts_territory = game.rules.scoring is Scoring.TERRITORY
    return counts_territory and info.knows_cleanup and config.puct.rollout_share == 0.0


def pass_goes_on(config: PuctConfig, limits: Limits) -> bool:
    """Return whether the game goes on after a pass at the root, whatever the rules say."""
    return config.conservative_pass and not limits.passes_end


def human_exploration_of(config: HumanConfig) -> HumanExploration:
    """Return the parameters of exploration by a human-like policy."""
    return HumanExploration(*(getattr(config, name) for name in HumanExploration._fields))


def _center(score: float, zero_weight: float, cap: float) -> float:
    """Return a score drawn towards 0 by the share `zero_weight`, but by no more than `cap` points."""
    center = score * (1.0 - zero_weight)
    return min(max(center, score - cap), score + cap)
