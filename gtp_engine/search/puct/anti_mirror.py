"""Play against mirror Go: an opponent who answers every move with its reflection in the centre of the board.

Left alone such an opponent keeps a balance that komi or the centre may decide, far below the horizon of a search.  So
while the opponent mirrors, the search assumes that it continues, looks for moves around the centre, which end the
symmetry, and values the centre more where it belongs to the opponent.  Rule and numbers are KataGo's
(`cpp/search/searchmirror.cpp`), with one difference: KataGo also forces a share of the visits on these moves, here only
their priors are raised.

All of it changes the evaluations of leaves before they go into the tree, so the kernels know nothing of it.
"""

from math import atanh, sqrt, tanh
from typing import Final, NamedTuple

import numpy as np

from gtp_engine.evaluation.positions import Evaluation, FloatArray, view_board
from gtp_engine.go.board import HEIGHT, WIDTH, Board
from gtp_engine.go.constants import BLACK, EMPTY, NULL_POINT, PASS, opponent
from gtp_engine.go.coords import MIRROR_COLUMNS, MIRROR_ROWS, xy_to_point
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Scoring
from gtp_engine.search.puct.leaves import EVALUATE, Leaves
from gtp_engine.search.puct.root import Mirror, mirror
from gtp_engine.search.puct.utility import Params

_LEAST_MIRRORED: Final = 7.0
_MIRRORED_SHARE: Final = 0.5
"""The opponent mirrors if at least this number of its moves did, and at least this share of them."""

_RECENT_SHARE: Final = 0.45
_DECAY: Final = 0.75
"""It must still do so: the share of mirrored moves when each move counts this much less than the next."""

_SMALLEST_BOARD: Final = 7
"""Width and height from which the symmetry around the centre is examined, within `_REACH` points of it."""

_REACH: Final = 3

_TOLERANCE: Final = -0.5
"""Points by which a mirrored game may be lost for the opponent for it still to be difficult to refute."""

_REPLY: Final = 1.0
_DIFFICULT_REPLY: Final = 3.0
"""Share of the missing probability that the mirrored reply receives, one move into the search half of it, and so on."""

_CENTRE: Final = 0.3
_NEAR_CENTRE: Final = 0.05
_AROUND_CENTRE: Final = 0.03
"""The same for the player's own moves: on the centre, next to it or to its chain, two points away from it."""

_AROUND: Final = 4
"""Square of the largest distance from the centre of the last of these, points."""

_SYMMETRIC_CENTRE: Final = 0.7
_BROKEN_CENTRE: Final = 0.3
"""Weight of the centre's owner beside the result (as its inverse hyperbolic tangent)."""

_RECENT_MOVES: Final = 4
"""Last moves before a leaf that need not be mirrored for the centre to count."""

_CERTAIN: Final = 1.0 - 1e-15
_TINY: Final = 1e-10


class Mirroring(NamedTuple):
    """What is known about an opponent who mirrors."""

    color: int
    """The opponent's."""
    reflection: Mirror
    """Where a half turn of the board takes each point; the wall and PASS stay where they are."""
    centre: int
    """The point in the middle, NULL_POINT where there is none."""
    has_centre: bool
    """Whether the opponent has it."""
    wins: bool
    """Whether the opponent wins the game, or nearly so, if it mirrors to the end."""
    is_symmetric: bool
    """Whether it has mirrored all of the player's stones around the centre."""


def mirroring_in(game: Game, color: int) -> Mirroring | None:
    """Return what is known if the opponent of `color`, who is to play, mirrors; None if it does not."""
    reflection = mirror(MIRROR_ROWS | MIRROR_COLUMNS, game.width, game.height)
    if not _mirrors(game, color, reflection):
        return None
    enemy, centre, width, height = opponent(color), NULL_POINT, game.width, game.height
    if width % 2 == height % 2 == 1:
        centre = xy_to_point(width // 2, height // 2, width=width)
    return Mirroring(
        color=enemy,
        reflection=reflection,
        centre=centre,
        has_centre=centre != NULL_POINT and game.board.color[centre] == enemy,
        wins=mirrored_margin(game, enemy) >= _TOLERANCE,
        is_symmetric=_is_symmetric(game, enemy, reflection),
    )


def _mirrors(game: Game, color: int, reflection: Mirror) -> bool:
    mirrored = total = 0
    recent_mirrored = recent_total = 0.0
    is_last = False
    for before, move in zip(game.moves, game.moves[1:], strict=False):
        if move.color == color:
            continue
        is_last = move.point == reflection[before.point]
        mirrored, total = mirrored + is_last, total + 1
        recent_mirrored = (recent_mirrored + is_last) * _DECAY
        recent_total = (recent_total + 1.0) * _DECAY
    return (
        is_last
        and mirrored >= _LEAST_MIRRORED + _MIRRORED_SHARE * total
        and recent_mirrored >= _RECENT_SHARE * recent_total
    )


def mirrored_margin(game: Game, enemy: int) -> float:
    """Return the points by which `enemy` wins if it mirrors to the end: komi, handicap, and the last point."""
    stones = game.handicap
    black = 0.0
    if game.rules.scoring is Scoring.AREA:
        black += max(0, stones - 1)
        is_odd = game.width % 2 == game.height % 2 == 1
        black += is_odd == (stones == 0 or stones % 2 == 1)
    black -= game.rules.handicap_points(stones) + game.komi
    return black if enemy == BLACK else -black


def _is_symmetric(game: Game, enemy: int, reflection: Mirror) -> bool:
    """Return whether every stone of the player around the centre has its reflection."""
    if min(game.width, game.height) < _SMALLEST_BOARD:
        return False
    colors = game.board.color
    surroundings = (
        xy_to_point(x, y, width=game.width)
        for y in range(game.height // 2 - _REACH, game.height // 2 + _REACH + 1)
        for x in range(game.width // 2 - _REACH, game.width // 2 + _REACH + 1)
    )
    return all(
        colors[point] != opponent(enemy) or colors[reflection[point]] == enemy or reflection[point] == point
        for point in surroundings
    )


def plain_averages(params: Params) -> Params:
    """Return the parameters of a search without corrections of its averages, which would undo what is changed here."""
    return params._replace(noise_pruning_scale=0.0, value_weight_exponent=0.0, subtree_bias=0.0)


# --- evaluations


def is_mirrored(moves: list[int], mirroring: Mirroring, *, skip_recent: int = 0) -> bool:
    """Return whether the opponent mirrored every move on a path, whose first is the player's."""
    replies = range(1, len(moves) - skip_recent, 2)
    return all(moves[i] == mirroring.reflection[moves[i - 1]] for i in replies)


def adjust_evaluation(mirroring: Mirroring, leaves: Leaves, evaluation: Evaluation) -> None:
    """Change the evaluations of the leaves whose paths are mirrored."""
    for row in range(int(leaves.filled[0])):
        if leaves.kind[row] != EVALUATE:
            continue
        moves, slot = leaves.moves[row, : leaves.depth[row]].tolist(), int(leaves.slot[row])
        board = view_board(leaves.positions, slot)
        if is_mirrored(moves, mirroring):
            raise_priors(mirroring, moves, board, evaluation.policy[slot])
        if is_difficult(mirroring, board) and is_mirrored(moves, mirroring, skip_recent=_RECENT_MOVES):
            value_centre(mirroring, evaluation, slot)


def is_difficult(mirroring: Mirroring, board: Board) -> bool:
    """Return whether the opponent has the centre on `board` and wins if it mirrors to the end."""
    return mirroring.wins and mirroring.centre != NULL_POINT and board.color[mirroring.centre] == mirroring.color


def raise_priors(mirroring: Mirroring, moves: list[int], board: Board, policy: FloatArray) -> None:
    """Raise the probabilities, float32[n], of the mirrored reply, or of moves around the centre, after `moves`."""
    if len(moves) % 2 == 1:
        weights = _reply_weights(mirroring, moves[-1], board, policy)
    else:
        weights = _centre_weights(mirroring, board)
    for point, weight in weights.items():
        if policy[point] > 0.0:
            policy[point] += (1.0 - policy[point]) * weight / (1.0 + sqrt(len(moves)))


def _reply_weights(mirroring: Mirroring, move: int, board: Board, policy: FloatArray) -> dict[int, float]:
    """Return the weight of the opponent's mirrored reply to a move; a pass where it is illegal."""
    if move == PASS:
        return {}
    reply = mirroring.reflection[move]
    weight = _DIFFICULT_REPLY if is_difficult(mirroring, board) else _REPLY
    return {reply if policy[reply] > 0.0 else PASS: weight}


def _centre_weights(mirroring: Mirroring, board: Board) -> dict[int, float]:
    """Return the weights of the player's moves on the centre and around it."""
    width, height = int(board.info[WIDTH]), int(board.info[HEIGHT])
    weights = {}
    for y in range(max(0, (height - 1) // 2 - 2), min(height, height // 2 + 3)):
        for x in range(max(0, (width - 1) // 2 - 2), min(width, width // 2 + 3)):
            # 0 on the centre, which is up to four points on even boards, 1 beside it, 2 two points away.
            dx = max((width - 1) // 2 - x, x - width // 2, 0)
            dy = max((height - 1) // 2 - y, y - height // 2, 0)
            weight = _CENTRE if max(dx, dy) == 0 else (_NEAR_CENTRE if max(dx, dy) == 1 else 0.0)
            if mirroring.has_centre and weight == 0.0 and dx * dx + dy * dy <= _AROUND:
                weight = _AROUND_CENTRE
            weights[xy_to_point(x, y, width=width)] = weight
    if mirroring.has_centre and board.color[mirroring.centre] != EMPTY:
        chain = np.flatnonzero(board.head == board.head[mirroring.centre])
        around = np.concatenate([chain + step for step in (-1, 1, -width - 1, width + 1)])
        weights |= dict.fromkeys(around[board.color[around] == EMPTY].tolist(), _NEAR_CENTRE)
    return weights


def value_centre(mirroring: Mirroring, evaluation: Evaluation, row: int) -> None:
    """Shift the result of a row towards the owner of the centre."""
    win, loss = float(evaluation.win_black[row]), float(evaluation.loss_black[row])
    value = (win - loss) / (win + loss + _TINY)
    share = _SYMMETRIC_CENTRE if mirroring.is_symmetric else _BROKEN_CENTRE
    owned = share * float(evaluation.ownership_black[row, mirroring.centre])
    value = tanh(atanh(min(max(value, -_CERTAIN), _CERTAIN)) + owned)
    evaluation.win_black[row] = (win + loss) * (0.5 + 0.5 * value)
    evaluation.loss_black[row] = (win + loss) * (0.5 - 0.5 * value)
