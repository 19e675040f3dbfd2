"""The referee: scores a game after both engines have passed.

Three ways, by the match's `referee` setting:

    players    the engines' own `final_score` where both name the same winner, otherwise the estimate
    estimate   our engine reads out which stones are dead, with the network that ships, and scores by the match's rules
    board      every stone on the board is alive (Tromp-Taylor scoring): for engines that capture before they pass

The engines' scores are recorded in every case, and the summary reports games in which the scores differ.

In 92 scored games between GNU Go and the policy of the network that ships, on 9×9, both engines named the same winner,
and in 90 the same score, always the estimate's.  Rollouts, the estimate of earlier versions, gave 8 games to the loser.
"""

import re
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

from gtp_engine.config import Config
from gtp_engine.go.game import Game
from gtp_engine.match.player import Player
from gtp_engine.match.settings import SIDES, MatchSettings, Side

if TYPE_CHECKING:
    from gtp_engine.engine import Engine

_ESTIMATOR: Final = {"search.threads": "1", "network.network_threads": "1"}
"""The engine that reads out dead stones uses one core, because other games may be running."""

_SEED: Final = 1
"""Seed of each estimate, so that a position always gets the same score."""

_SCORE = re.compile(r"([BW])\+(\d+(?:\.\d*)?)", re.IGNORECASE)


def normalize_score(text: str) -> str:
    """Return a score in GTP's form without trailing zeros: "B+3", "W+0.5", "0"; other text unchanged.

    >>> normalize_score("b+3.0"), normalize_score("W+0.50"), normalize_score("B+0.0"), normalize_score("?")
    ('B+3', 'W+0.5', '0', '?')
    """
    text = text.strip()
    match = _SCORE.fullmatch(text)
    if match is None:
        return text
    margin = float(match.group(2))
    return f"{match.group(1).upper()}+{margin:g}" if margin else "0"


class Referee:
    """Scores games that ended with two passes.  Safe to use from several threads.

    The estimating engine is created when it is first needed; a match of engines that resign never needs it.
    """

    def __init__(self, settings: MatchSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._engine: Engine | None = None

    def decide(self, game: Game, players: Sequence[Player]) -> dict[str, str]:
        """Return the scores by "referee", and by "first" and "second" if those engines give one."""
        scores = {player.side: normalize_score(score) for player in players if (score := player.final_score())}
        return {"referee": self._decision(game, scores)} | {side: scores[side] for side in SIDES if side in scores}

    def _decision(self, game: Game, scores: Mapping[Side, str]) -> str:
        """Return the score that decides the game; `scores` are those of the engines."""
        if self._settings.referee == "board":
            return normalize_score(str(game.score()))
        if self._settings.referee == "players" and (agreed := agreed_score(list(scores.values()))):
            return agreed
        with self._lock:
            return normalize_score(self._estimate(game))

    def _estimate(self, game: Game) -> str:
        """Return the score without the stones that our engine finds dead."""
        if self._engine is None:
            self._engine = _estimator()
        engine = self._engine
        engine.set_seed(_SEED)
        engine.set_board_size(game.width, game.height)
        engine.set_rules(game.rules)
        engine.set_komi(game.komi)
        engine.set_position(game.setup_stones, game.first_player)
        engine.play_sequence(game.moves)
        return str(engine.score())

    def close(self) -> None:
        """Close the estimating engine, if there is one."""
        if self._engine is not None:
            self._engine.close()


def _estimator() -> "Engine":
    """Return the engine that scores."""
    from gtp_engine.engine import Engine  # here: they import numba, the search and what runs networks
    from gtp_engine.nn import load_evaluator
    from gtp_engine.nn.shipped import shipped_folder

    config = Config().with_values({**_ESTIMATOR, "network.model": str(shipped_folder())})
    return Engine(config, evaluator=load_evaluator(config.network, log=lambda line: None))


def agreed_score(scores: Sequence[str]) -> str | None:
    """Return the smaller of two scores that name the same winner, or "0" if both are draws, otherwise None.

    >>> agreed_score(["W+9", "W+8"]), agreed_score(["0", "0"]), agreed_score(["B+1", "0"]), agreed_score(["W+8"])
    ('W+8', '0', None, None)
    """
    found = [_SCORE.fullmatch(score) for score in scores]
    if len(scores) < len(SIDES):
        return None
    if all(score == "0" for score in scores):
        return "0"
    if None in found or len({score[0] for score in scores}) > 1:
        return None
    return min(scores, key=lambda score: float(score[2:]))


def winner_of(score: str, *, black: Side, white: Side) -> Side | Literal["draw"]:
    """Return the side that won by a score in GTP's form, or "draw"."""
    winners: dict[str, Side] = {"B": black, "W": white}
    return winners.get(score[:1], "draw")
