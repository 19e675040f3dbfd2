"""The review of one game, in a thread: what has been found so far as messages for pages, in the end the files.

A message of the type `review` has these fields; winrates in [0, 1] and leads are Black's, colours "B" and "W":

    id         the game
    state      "none", "running" or "finished"; with "none" there are no other fields
    share      how much is done, from 0 to 1
    line       the moves of the game that is reviewed, as [colour, vertex]
    positions  [winrate, lead] after each number of moves, as far as positions have been searched
    moves      for each move between them: [points lost, the move that the search would have played or null]
    players    "B" and "W": accuracy, its interval, mean points lost, best moves (see docs/review.md)
    mistakes   the biggest mistakes so far: number, continuation of the better move
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, NamedTuple

from gtp_engine.config import Config
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.go.rules import Rules
from gtp_engine.review import Effort, Finding, GameAnalysis, GameLine, GameReview, SavedWork, new_review, read_game
from gtp_engine.review.game_review import color_letter
from gtp_engine.review.review_files import files_of

GROUP: Final = 8
"""Positions searched side by side: few, so that a game that begins to search waits for a small batch only, and that
pages hear of progress every few seconds."""

Message = dict[str, Any]
"""A message for pages, as JSON has it."""

OnMessage = Callable[[Message], None]


class FinishedReview(NamedTuple):
    """A finished review: its last message, and its files by their endings."""

    message: Message
    files: dict[str, bytes]


class ReviewWork:
    """Reviews the game `name` with the record `data`; `send` receives a message whenever some of it is done."""

    def __init__(self, name: str, data: bytes, config: Config, send: OnMessage) -> None:
        self._name: Final = name
        self._data: Final = data
        self._config: Final = config
        self._send: Final = send

    def run(self, evaluator: Evaluator | None) -> FinishedReview:
        """Return the finished review.

        Raises ConfigError without an evaluator, SgfError for a record that cannot be reviewed, and what the evaluator
        raises.
        """
        analysis = GameAnalysis(self._config, evaluator, Effort(), group=GROUP)
        game = self._config.game
        line = read_game(self._data, rules=Rules.parse(game.rules), komi=game.komi)
        saved = SavedWork(None, "")

        def progress(share: float, text: str) -> None:
            found = _found(saved, len(line.positions))
            self._send(self._message(new_review(_beginning(line, len(found)), found, analysis.network), line, share))

        self._send(self._message(None, line, 0.0))
        review = new_review(line, analysis.run(line, saved, progress), analysis.network)
        result = {**review.to_json(), "key": analysis.key(self._data, line)}
        files = files_of(self._data, review, result, title="Game")
        return FinishedReview({**self._message(review, line, 1.0), "state": "finished"}, files)

    def _message(self, review: GameReview | None, line: GameLine, share: float) -> Message:
        """Return the message about a review that is running; it covers the beginning of `line`, None nothing of it."""
        game = line.positions[0].game
        return {
            "type": "review",
            "id": self._name,
            "state": "running",
            "share": round(share, 3),
            "line": [[color_letter(move.color), game.vertex(move.point)] for move in line.moves],
            "positions": [] if review is None else [[each.winrate, each.lead] for each in review.findings],
            "moves": [] if review is None else [[move.points_lost, move.best] for move in review.moves],
            "players": {} if review is None else _players(review),
            "mistakes": [] if review is None else _mistakes(review),
        }


def _found(saved: SavedWork, count: int) -> list[Finding]:
    """Return the findings of the positions that have been searched, from the first one on; second looks count."""
    first = [saved.get(True, number) for number in range(count)]
    return [saved.get(False, each.number) or each for each in first if each is not None]


def _beginning(line: GameLine, count: int) -> GameLine:
    """Return the first `count` positions of a game with the moves between them."""
    return GameLine(replace(line.record, moves=line.moves[: count - 1]), line.positions[:count])


def _players(review: GameReview) -> Message:
    sides = {color: review.side(color) for color in ("B", "W")}
    return {
        color: {
            "moves": side.moves,
            "accuracy": side.accuracy,
            "accuracy_interval": side.accuracy_interval,
            "mean_points_lost": side.mean_points_lost,
            "best_moves": side.best_moves,
        }
        for color, side in sides.items()
    }


def _mistakes(review: GameReview) -> list[Message]:
    found = []
    for move in review.mistakes:
        best = review.findings[move.number - 1].best
        found.append({"number": move.number, "line": [] if best is None else best.line})
    return found
