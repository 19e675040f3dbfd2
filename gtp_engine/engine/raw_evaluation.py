"""The network's evaluation of a position in a game, without a search, as in KataGo's `kata-raw-nn`."""

from collections.abc import Iterable

import numpy as np

from gtp_engine.config import Config
from gtp_engine.evaluation.evaluation import Evaluation, new_evaluation
from gtp_engine.evaluation.evaluator import EvaluationOptions, Evaluator
from gtp_engine.evaluation.from_game import advantage_black, conditions_of, write_game
from gtp_engine.evaluation.positions import new_positions
from gtp_engine.go.constants import EMPTY, Move, opponent
from gtp_engine.go.coords import board_points
from gtp_engine.go.game import Game


def evaluate_game(
    evaluator: Evaluator,
    game: Game,
    color: int,
    *,
    config: Config,
    symmetries: Iterable[int],
    optimism: float | None = None,
) -> Evaluation:
    """Return the evaluation of the position with `color` to play, one row for each of `symmetries`.

    As in KataGo, a move out of turn counts as the beginning of a new game, with handicap and button reset.  `optimism`
    None is the one configured for the root.
    """
    optimism = config.puct.root_policy_optimism if optimism is None else optimism
    positions = new_positions(1, game.width, game.height)
    write_game(positions, 0, game, color)
    part = since_move_out_of_turn(game, color)
    conditions = conditions_of(
        part,
        playout_doubling_advantage_black=advantage_black(config.puct, evaluator.info, color),
        human_profile=config.human.profile.code,
    )
    rows = []
    for symmetry in symmetries:
        row = new_evaluation(1, game.width, game.height)
        evaluator.evaluate(positions, 1, conditions, row, EvaluationOptions(symmetry, optimism))
        rows.append(row)
    return join_evaluations(rows)


def join_evaluations(rows: list[Evaluation]) -> Evaluation:
    """Return evaluations as one, row after row."""
    return Evaluation(*(np.concatenate(field) for field in zip(*rows, strict=True)))


def since_move_out_of_turn(game: Game, color: int) -> Game:
    """Return the game with `color` to play as if it had begun before the last move out of turn; if none, `game`."""
    moves, turn, first = game.moves, game.first_player, 0
    for number, move in enumerate(moves):
        first = first if move.color == turn else number
        turn = opponent(move.color)
    first = first if color == turn else len(moves)
    if first == 0 and color == turn:
        return game
    before = game.copy()
    before.undo(len(moves) - first)
    points = board_points(game.width, game.height)
    stones = [Move(int(before.board.color[point]), point) for point in points if before.board.color[point] != EMPTY]
    part = Game(game.width, game.height, game.rules, game.komi)
    part.set_up(stones, moves[first].color if first < len(moves) else color)
    for move in moves[first:]:
        part.play(move, allow_superko=True)
    return part
