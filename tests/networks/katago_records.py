"""Records of KataGo's evaluations, and the same positions evaluated here."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gtp_engine import Config, Game, Rules, parse_vertex
from gtp_engine.engine.searches import evaluate_game
from gtp_engine.go.constants import PASS
from gtp_engine.go.coords import board_points, parse_color

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


def evaluation_of(evaluator: Any, game: Game, profile: str = "") -> dict[str, NDArray[np.float64]]:
    """Return the evaluation in KataGo's form: White's view, row by row, the pass last in the policy."""
    config = Config().with_values({"human.human_profile": profile})
    out = evaluate_game(evaluator, game, game.to_play, config, (0,))
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
