"""The root of a search: its position for the kernels, its prior with temperature and noise, bonuses late in a game."""

from collections.abc import Collection, Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.config import PuctConfig
from gtp_engine.evaluation.positions import Positions
from gtp_engine.go.benson import new_life_work, pass_alive_map
from gtp_engine.go.board import KO_POINT
from gtp_engine.go.constants import BLACK, EMPTY, NULL_POINT, PASS, Move, opponent
from gtp_engine.go.coords import board_points
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Ko, Scoring
from gtp_engine.go.tactics import count_captures
from gtp_engine.search.limits import Restriction, avoid_until_depths
from gtp_engine.search.puct.leaves import Root

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


def new_root(
    game: Game,
    color: int,
    positions: Positions,
    *,
    restrictions: Iterable[Restriction],
    left_out: Collection[int],
    bonus: NDArray[np.float64],
    cleans_up: bool,
    pass_goes_on: bool,
) -> Root:
    """Return the root for a search with `color` to play; row 0 of `positions` holds its position.

    The points `left_out` are not searched at the root, `bonus` float64[n] is added to the utility of its moves.
    """
    avoid_until = avoid_until_depths(restrictions, game.board.color.size)
    avoid_until[color, list(left_out)] = np.maximum(avoid_until[color, list(left_out)], 1)
    return Root(
        positions=positions,
        color=color,
        last_move=NULL_POINT if game.last_move is None else game.last_move.point,
        passes=game.consecutive_passes,
        free_button=game.has_free_button,
        cleans_up=cleans_up,
        pass_goes_on=pass_goes_on,
        history=np.sort(game.keys_since_pass() if game.rules.ko is Ko.SIMPLE else game.superko_keys()),
        occupied=_occupied(game),
        avoid_until=avoid_until,
        unrestricted_from=int(avoid_until.max()),
        bonus=bonus,
    )


def _occupied(game: Game) -> NDArray[np.uint8]:
    """Return, uint8[n], bit 0 where Black ever had a stone and bit 1 where White had."""
    occupied = np.zeros(game.board.color.size, dtype=np.uint8)
    for color, point in (*game.setup_stones, *game.moves):
        if point != PASS:
            occupied[point] |= color
    return occupied


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
    temperature = early_value(config, game, early=config.root_temperature_early, late=config.root_temperature)
    if temperature != 1.0 and prior.max() > 0.0:
        prior = (prior / prior.max()) ** (1.0 / temperature)
        prior /= prior.sum()
    if config.noise > 0.0:
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
    alive = _pass_alive(game)
    for point in board_points(game.width, game.height):
        share = (abs(float(owned[point])) - _OWNED) / (1.0 - _OWNED)
        if game.board.color[point] != EMPTY or share <= 0.0:
            continue
        if owned[point] < 0.0:
            useful = is_area and count_captures(game.board, point, color) > 0
        else:
            useful = _touches(game, point, opponent(color)) or _connects(game, point, color, alive)
        if not useful:
            bonus[point] = -points * share
    return bonus


def useless_points(game: Game, color: int) -> set[int]:
    """Return the pass-alive territory of both sides if all the opponent of `color` still does is pass, else no points.

    KataGo's rule (`isAllowedRootMove` in cpp/search/searchhelpers.cpp), so that a lost game is not prolonged.
    """
    of_opponent = game.moves[-1 : -2 * _PASSES_IN_A_ROW : -2]
    if len(of_opponent) < _PASSES_IN_A_ROW or set(of_opponent) != {Move(opponent(color), PASS)}:
        return set()
    alive = _pass_alive(game)
    colors = game.board.color
    return {p for p in board_points(game.width, game.height) if colors[p] == EMPTY and alive[p] != EMPTY}


def _pass_alive(game: Game) -> NDArray[np.int32]:
    """Return, int32[n], whose pass-alive stones or territory a point belongs to: BLACK, WHITE or EMPTY."""
    alive = np.zeros(game.board.color.size, dtype=np.int32)
    pass_alive_map(game.board, game.rules.suicide, new_life_work(game.width, game.height), alive)
    return alive


def _neighbors(game: Game, point: int) -> tuple[int, int, int, int]:
    return point - 1, point + 1, point - game.width - 1, point + game.width + 1


def _touches(game: Game, point: int, color: int) -> bool:
    """Return whether a stone of `color` is next to a point."""
    return any(game.board.color[neighbor] == color for neighbor in _neighbors(game, point))


def _connects(game: Game, point: int, color: int, alive: NDArray[np.int32]) -> bool:
    """Return whether a move connects chains of which at least one is not pass-alive."""
    if alive[point] == color:
        return False
    own = [neighbor for neighbor in _neighbors(game, point) if game.board.color[neighbor] == color]
    heads = {int(game.board.head[stone]) for stone in own}
    return len(heads) > 1 and any(alive[stone] == EMPTY for stone in own)
