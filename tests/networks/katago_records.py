"""Records of KataGo's evaluations, and the same positions evaluated here."""

from typing import Any

import numpy as np
from katago_inputs import row_of
from numpy.typing import NDArray

from gtp_engine import Game, Move, Rules, parse_vertex
from gtp_engine.config.human import parse_profile
from gtp_engine.evaluation.evaluator import EvaluationOptions, Request
from gtp_engine.evaluation.from_game import conditions_of, write_conditions
from gtp_engine.evaluation.positions import new_evaluation
from gtp_engine.go.constants import EMPTY, PASS, opponent
from gtp_engine.go.coords import board_points, parse_color

OPTIMISM = 0.2
"""The share of the optimistic policy that `kata-raw-nn` mixes in by default (KataGo's rootPolicyOptimism)."""

TOLERANCE = {
    "policy": 2e-5, "win": 2e-5, "ownership": 2e-5, "score": 2e-3, "score square": 2e-2, "lead": 2e-3,
    "time left": 5e-3, "errors": 2e-3,
}  # fmt: skip
"""Probabilities and ownership come with six digits after the point from KataGo, everything else with three; squares
of scores go into the thousands."""


def game_of(record: dict[str, Any]) -> Game:
    """Return the game of a record."""
    width, height = record["size"]
    game = Game(width, height, Rules.parse(record["rules"]), record["komi"])
    if record["handicap"]:
        game.set_handicap([parse_vertex(v, width=width, height=height) for v in record["handicap"]])
    for color, vertex in record["moves"]:
        game.play(parse_vertex(vertex, width=width, height=height), parse_color(color), tolerant=True)
    return game


def since_last_break(game: Game) -> Game:
    """Return the part of the game since one side moved twice, as a game of its own.

    KataGo's GTP engine starts a new game at that point, which drops the handicap and makes the button available again;
    the comparison needs the komi and button of that game.
    """
    first = 0
    for number, move in enumerate(game.moves):
        expected = opponent(game.moves[number - 1].color) if number else game.first_player
        first = first if move.color == expected else number
    if first == 0:
        return game
    before = game.copy()
    before.undo(len(game.moves) - first)
    part = Game(game.width, game.height, game.rules, game.komi)
    stones = [Move(before.color_at(p), p) for p in board_points(game.width, game.height)]
    part.set_up([stone for stone in stones if stone.color != EMPTY], game.moves[first].color)
    for move in game.moves[first:]:
        part.play(move, tolerant=True)
    return part


def evaluation_of(evaluator: Any, game: Game, profile: str = "") -> dict[str, NDArray[np.float64]]:
    """Return the evaluation in KataGo's form: White's view, row by row, the pass last in the policy."""
    out = new_evaluation(1, game.width, game.height)
    conditions = conditions_of(since_last_break(game), human_profile=parse_profile(profile).code)
    row = row_of(game)
    write_conditions(row, 0, conditions)
    evaluator.evaluate(Request(row, 1, out, EvaluationOptions(symmetry=0, optimism=OPTIMISM)))
    points = list(board_points(game.width, game.height))
    return {
        "policy": out.policy[0, [*points, PASS]],
        "win": np.array([out.loss_black[0], out.win_black[0]]),
        "ownership": -out.ownership_black[0, points],
        "score": -out.score_black,
        "lead": -out.lead_black,
        "score square": out.score_stdev.astype(np.float64) ** 2 + out.score_black.astype(np.float64) ** 2,
        "time left": out.time_left,
        "errors": np.array([out.winloss_error[0], out.score_error[0]]),
    }


def katago_evaluation(record: dict[str, Any]) -> dict[str, NDArray[np.float64]]:
    policy = [share or 0.0 for row in record["policy"] for share in row] + [record["policyPass"]]
    return {
        "policy": np.array(policy),
        "win": np.array([record["whiteWin"], record["whiteLoss"]]),
        "ownership": np.array(record["whiteOwnership"]).reshape(-1),
        "score": np.array([record["whiteScoreSelfplay"]]),
        "lead": np.array([record["whiteLead"]]),
        "score square": np.array([record["whiteScoreSelfplaySq"]]),
        "time left": np.array([record["varTimeLeft"]]),
        "errors": np.array([record["shorttermWinlossError"], record["shorttermScoreError"]]),
    }


def assert_equal(record: dict[str, Any], network: str, evaluator: Any) -> None:
    """Assert that the evaluation of a record's position is KataGo's, up to its digits."""
    found = evaluation_of(evaluator, game_of(record), record.get("profile", ""))
    for output, expected in katago_evaluation(record["nets"][network]).items():
        difference = np.abs(found[output] - expected).max()
        text = f"{record['id']} ({record['rules']}): {output} differs by {difference}"
        assert difference <= TOLERANCE[output], text
