"""The root of a search: its position and parameters for the kernels, from the configuration, the game and the request.

Also its prior with temperature and noise, the bonuses of its moves late in a game, and which of its moves mirror each
other in a symmetric position, so that only one of them is searched.
"""

from collections.abc import Collection
from dataclasses import fields
from functools import cache
from math import inf, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.config import Config, HumanConfig, PuctConfig
from gtp_engine.evaluation.evaluator_info import EvaluatorInfo
from gtp_engine.evaluation.from_game import SUPERKO, TAX, komi_for_draws
from gtp_engine.evaluation.positions import Positions
from gtp_engine.go.benson import pass_alive_owners
from gtp_engine.go.board import KO_POINT
from gtp_engine.go.constants import BLACK, EMPTY, NULL_POINT, PASS, opponent, padded_length
from gtp_engine.go.coords import board_points, neighbors, transformed_points, xy_to_point
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Ko, Scoring
from gtp_engine.go.tactics import count_captures
from gtp_engine.search.limits import RootPosition, SearchRequest, avoid_until_depths
from gtp_engine.search.puct.leaves import MAX_DEPTH, Root
from gtp_engine.search.puct.transpositions import key_in_game, repeats_late
from gtp_engine.search.puct.utility import STATIC_SCALE, HumanExploration, Params

_OWNED: Final = 0.95
"""Ownership from which a point counts as settled (KataGo's)."""

_PASS_SHARE: Final = 2.0 / 3.0
"""Share of the ending bonus that a pass loses under territory rules, so that neutral points are filled first
(KataGo's)."""

_BUTTON_SHARE: Final = 0.5
"""The same for a pass that takes the button (KataGo's)."""

_PASSES_IN_A_ROW: Final = 4
"""Moves of the opponent, all of them passes, after which useless moves are left out (KataGo's)."""

_NOISE_CAP: Final = 0.01
"""Prior above which a move's share of the noise grows no further (KataGo's)."""

_TINY: Final = 1e-20

_TAKEN_OVER: Final = tuple(field.name for field in fields(PuctConfig) if field.name in Params._fields)
"""Options that are parameters of the same name."""

Mirror = tuple[int, ...]
"""Where a symmetry of the board takes each point, by point; PASS, NULL_POINT and the wall stay where they are."""


def new_root(position: RootPosition, positions: Positions, left_out: Collection[int] = ()) -> Root:
    """Return the root for a search of a position, which is in row 0 of `positions`; `left_out` are points not searched.

    It is plain: its moves have no bonus, two passes end the game, no move is selected by people.
    """
    game, color = position.game, position.color
    avoid_until = avoid_until_depths(position.restrictions, game.board.color.size)
    avoid_until[color, list(left_out)] = np.maximum(avoid_until[color, list(left_out)], 1)
    return Root(
        positions=positions,
        color=int(color),
        last_move=NULL_POINT if game.last_move is None else int(game.last_move.point),
        passes=game.consecutive_passes,
        free_button=game.has_free_button,
        cleans_up=False,
        pass_goes_on=False,
        retaken=position.retaken,
        tells_history=True,
        history=np.sort(game.keys_since_pass() if game.rules.ko is Ko.SIMPLE else game.superko_keys()),
        occupied=_occupied(game),
        avoid_until=avoid_until,
        unrestricted_from=int(avoid_until.max()),
        is_restricted=np.isin(np.arange(3), [restriction.color for restriction in position.restrictions]),
        bonus=np.zeros(game.board.color.size),
        people=_NO_PEOPLE,
        rng=np.zeros(1, dtype=np.uint64),
    )


def key_of_root(game: Game, color: int, params: Params) -> int:
    """Return the key that the position of a game with `color` to play has in a tree that began with the game."""
    past, found, lines = game.copy(), np.zeros(game.board.color.size, dtype=np.int32), list[tuple[Game, int]]()
    while True:
        lines.append((past.copy(), color if not lines else past.to_play))
        last = past.last_move
        if last is None or repeats_late(past.board, int(last.point), params.graph_search_bound, found):
            break
        past.undo()
    key = 0
    for each, to_play in reversed(lines):
        key = key_in_game(each.board, int(to_play), each.consecutive_passes, params.counts_area, np.uint64(key))
    return key


def _occupied(game: Game) -> NDArray[np.uint8]:
    """Return, uint8[n], bit 0 where Black ever had a stone and bit 1 where White had."""
    occupied = np.zeros(game.board.color.size, dtype=np.uint8)
    for color, point in (*game.setup_stones, *game.moves):
        if point != PASS:
            occupied[point] |= color
    return occupied


def params_of(config: Config, game: Game, request: SearchRequest, info: EvaluatorInfo, *, has_errors: bool) -> Params:
    """Return the parameters for a search of a game's position, in which points count most near the score 0.

    `info` and `has_errors` are about what the evaluator's output includes; see `score_center`.
    """
    puct, side = config.puct, sqrt(game.width * game.height)
    taken = {name: getattr(puct, name) for name in _TAKEN_OVER}
    if not puct.use_uncertainty:
        taken["uncertainty"] = 0.0
    if not puct.use_noise_pruning:
        taken["noise_pruning_scale"] = 0.0
    if puct.root_fpu_loss is None:
        taken["root_fpu_loss"] = puct.fpu_loss
    weighs = taken["uncertainty"] > 0.0 and has_errors
    return Params(
        **taken,
        visits_left=inf,
        no_result_utility=-puct.no_result_utility_white,
        draw_value=1.0 - 2.0 * puct.draw_wins_white,
        draw_points=-komi_for_draws(game, puct.draw_wins_white),
        static_weight=puct.static_score_weight if info.has_score else 0.0,
        static_scale=STATIC_SCALE * side,
        dynamic_weight=puct.dynamic_score_weight if info.has_score else 0.0,
        dynamic_scale=puct.dynamic_score_scale * side,
        dynamic_center=0.0,
        wide_root_noise=request.wide_root_noise,
        max_depth=puct.playout_depth or MAX_DEPTH,
        certain_weight=puct.uncertainty_max_weight if weighs else 1.0,
        has_ownership=info.has_ownership,
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


def pass_goes_on(config: PuctConfig, request: SearchRequest) -> bool:
    """Return whether the game goes on after a pass at the root, whatever the rules say."""
    return config.conservative_pass and not request.passes_end


def human_exploration_of(config: HumanConfig) -> HumanExploration:
    """Return the parameters of exploration by a human-like policy."""
    return HumanExploration(*(getattr(config, name) for name in HumanExploration._fields))


_NO_PEOPLE: Final = human_exploration_of(HumanConfig())


def score_center(config: PuctConfig, game: Game, score: float) -> float:
    """Return the score around which points count most, in points for Black, if `score` is expected at the root.

    It is drawn towards 0 by the share `dynamic_score_zero_weight`, but by no more than the scale of the dynamic score.
    """
    cap = config.dynamic_score_scale * sqrt(game.width * game.height)
    return min(max(score * (1.0 - config.dynamic_score_zero_weight), score - cap), score + cap)


# --- the prior ---


def early_value(config: PuctConfig, game: Game, *, early: float, late: float) -> float:
    """Return a value that decays from `early` on the empty board to `late`, with the configured half-life.

    Stones that were set up count as moves, as in KataGo.
    """
    played = len(game.setup_stones) + len(game.moves)
    halves = played / config.temperature_halflife * 19.0 / np.sqrt(game.width * game.height)
    return float(late + (early - late) * 0.5**halves)


def root_policy(
    policy: NDArray[np.float32], legal: NDArray[np.int16], config: PuctConfig, game: Game, random: np.random.Generator
) -> NDArray[np.float32]:
    """Return the root's prior, float32[n] by point: the policy of the `legal` moves, flattened and with noise.

    Temperature and noise are as configured; all other moves have 0.
    """
    prior = policy[legal].astype(np.float64)
    early, late = config.root_temperature_early, config.root_temperature
    temperature = early_value(config, game, early=late if early is None else early, late=late)
    if temperature != 1.0 and prior.max() > 0.0:
        prior = (prior / prior.max()) ** (1.0 / temperature)
        prior /= prior.sum()
    if config.root_noise and config.noise > 0.0:
        noise = random.gamma(noise_shares(prior) * config.noise_concentration)
        prior += config.noise * (noise / max(_TINY, noise.sum()) - prior)
    changed = np.zeros_like(policy)
    changed[legal] = prior
    return changed


def noise_shares(prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how the Dirichlet distribution's concentration is shared among moves with these probabilities.

    One half evenly, the other by how far a move's log probability is above the mean: even noise hardly ever finds a
    blind spot among 300 moves (KataGo's, docs/KataGoMethods.md).
    """
    logs = np.log(np.minimum(_NOISE_CAP, prior) + _TINY)
    shaped = np.maximum(0.0, logs - logs.mean())
    even = np.full(prior.size, 1.0 / prior.size)
    return even if shaped.sum() <= 0.0 else 0.5 * (even + shaped / shaped.sum())


# --- the end of a game ---


def ending_points(game: Game, color: int, ownership_black: NDArray[np.float32], points: float) -> NDArray[np.float64]:
    """Return the ending bonus of `color`'s moves, float64[n] by point, in points: 0 or a penalty.

    Moves that change nothing lose up to `points`: those in the opponent's settled territory that capture nothing
    (threats; except while a ko is fought), and those in the player's own that neither touch an opposing stone nor
    connect chains of which one is not yet alive.  So neutral points are filled and dead stones captured first.
    KataGo's rule (`getEndingWhiteScoreBonus` in cpp/search/searchhelpers.cpp).
    """
    bonus = np.zeros(ownership_black.size)
    is_area = game.rules.scoring is Scoring.AREA
    if is_area:
        bonus[PASS] = -points * _BUTTON_SHARE if game.rules.has_button and game.button_black == 0.0 else 0.0
    else:
        bonus[PASS] = -points * _PASS_SHARE
    owned = ownership_black if color == BLACK else -ownership_black
    if points == 0.0 or game.board.info[KO_POINT] != NULL_POINT or np.abs(owned).max() < _OWNED:
        return bonus
    alive = pass_alive_owners(game.board, suicide=game.rules.suicide)
    for point in board_points(game.width, game.height):
        share = (abs(float(owned[point])) - _OWNED) / (1.0 - _OWNED)
        if game.board.color[point] != EMPTY or share <= 0.0:
            continue
        if owned[point] < 0.0:
            useful = is_area and count_captures(game.board, point, color) > 0
        else:
            around = [game.board.color[neighbor] for neighbor in neighbors(point, width=game.width)]
            useful = opponent(color) in around or _connects(game, point, color, alive)
        if not useful:
            bonus[point] = -points * share
    return bonus


def useless_points(game: Game, color: int) -> set[int]:
    """Return the pass-alive territory of both sides if all the opponent of `color` still does is pass, else no points.

    KataGo's rule (`isAllowedRootMove` in cpp/search/searchhelpers.cpp), so that a lost game is not prolonged.
    """
    of_opponent = game.moves[-1 : -2 * _PASSES_IN_A_ROW : -2]
    if len(of_opponent) < _PASSES_IN_A_ROW or set(of_opponent) != {(opponent(color), PASS)}:
        return set()
    alive = pass_alive_owners(game.board, suicide=game.rules.suicide)
    colors = game.board.color
    return {p for p in board_points(game.width, game.height) if colors[p] == EMPTY and alive[p] != EMPTY}


def _connects(game: Game, point: int, color: int, alive: NDArray[np.int32]) -> bool:
    """Return whether a move connects chains of which at least one is not pass-alive."""
    if alive[point] == color:
        return False
    own = [neighbor for neighbor in neighbors(point, width=game.width) if game.board.color[neighbor] == color]
    heads = {int(game.board.head[stone]) for stone in own}
    return len(heads) > 1 and any(alive[stone] == EMPTY for stone in own)


# --- symmetric positions ---


def mirrors_of(game: Game, root: Positions) -> list[Mirror]:
    """Return the symmetries of the position in row 0 of `root`, without the identity; none while ko forbids a move."""
    if game.board.info[KO_POINT] != NULL_POINT or root.forbidden[0].any():
        return []
    colors, numbers = game.board.color, range(1, 8 if game.width == game.height else 4)
    mirrors = (mirror(number, game.width, game.height) for number in numbers)
    return [each for each in mirrors if np.array_equal(colors[list(each)], colors)]


def duplicates(game: Game, color: int, mirrors: list[Mirror]) -> set[int]:
    """Return the empty points that mirror another one, so that one of each kind remains.

    Black keeps the one on the right, and the upper one of two there, which is the etiquette for the first move; White
    keeps the one on the left, and the lower one.  The order is KataGo's.
    """
    xs, ys = range(game.width), range(game.height)
    columns = reversed(xs) if color == BLACK else iter(xs)
    colors, found = game.board.color, set[int]()
    for x in columns:
        for y in ys if color == BLACK else reversed(ys):
            point = xy_to_point(x, y, width=game.width)
            if point not in found and colors[point] == EMPTY:
                found.update(each[point] for each in mirrors if each[point] != point)
    return found


@cache
def mirror(number: int, width: int, height: int) -> Mirror:
    """Return symmetry `number`, numbered as in `coords.transform`."""
    moved: dict[int, int] = {**transformed_points(number, width, height)}
    return tuple(int(moved.get(point, point)) for point in range(padded_length(width, height)))
