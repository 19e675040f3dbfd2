"""Games between levels inside this process: many side by side, their positions evaluated in batches.

Both sides choose their moves as `engine.level_play` does (`level.drawing`, and for more than one visit a search with a
new tree), but the network decides when a game ends: a side passes where a pass is its best move, neither resigns, a
game that has been decided for a while stops, and the winner is the side that the network expects to win.  A long cycle
is a draw.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from gtp_engine.config import Config
from gtp_engine.evaluation.evaluation import Evaluation, new_evaluation
from gtp_engine.evaluation.evaluator import DEFAULT_OPTIONS, Evaluator
from gtp_engine.evaluation.from_game import conditions_of, write_game
from gtp_engine.evaluation.positions import GOES_ON, Positions, new_positions, put_row
from gtp_engine.evaluation.row_kernels import advance_row
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.game import Game
from gtp_engine.go.handicap import HANDICAP_KOMI, free_handicap_points
from gtp_engine.go.rules import PRESETS, Ko
from gtp_engine.level.drawing import Question, choose_move
from gtp_engine.level.found import found_by_network, found_by_search
from gtp_engine.level.skills import LevelSettings, settings_of
from gtp_engine.search.limits import Limits
from gtp_engine.search.puct.puct_search import PuctSearch
from gtp_engine.selfplay.game_rows import GameRows

RULES: Final = "chinese"
KOMI: Final = 7.5

OPENING_SHARE: Final = 0.02
"""Moves of an opening, drawn from the policy itself, as a share of the board's points: 7 on 19×19.  Both games of a
pair begin with the same ones."""

_DECIDED: Final = 0.98
"""Difference between the probabilities of winning and losing from which on a position counts as decided."""

_DECIDED_MOVES: Final = 8
"""Moves in a row for which a game must have been decided to stop."""

_DECIDED_FROM: Final = 0.45
"""Moves, as a share of the board's points, before which no game stops: until then weak players turn games round."""

_DECIDED_FROM_IF_STRONG: Final = 0.2
"""The same where both sides search."""

_LONGEST: Final = 1.5
"""Moves for each point of the board after which a game stops."""


@dataclass(frozen=True)
class Pairing:
    """A game to be played; the openings of equal `opening` are equal."""

    black_skill: float
    white_skill: float
    opening: int


@dataclass(frozen=True)
class Outcome:
    """A game that has ended; `black_points` is 1, ½ or 0."""

    pairing: Pairing
    black_points: float
    lead_black: float
    moves: int
    game: Game = field(repr=False, compare=False)


@dataclass
class _Seat:
    """A game under way."""

    pairing: Pairing
    game: Game
    opening: np.random.Generator
    settings: Mapping[int, LevelSettings]
    decided_moves: int = 0
    lead_black: float = 0.0
    """By the last evaluation, points."""


class LevelGames:
    """Plays games on boards of `size` points a side with one evaluator, `batch` of them at a time.

    With a `handicap`, Black begins with that many stones, two or more, and the komi is HANDICAP_KOMI (0.5).
    """

    def __init__(self, evaluator: Evaluator, size: int, *, batch: int, seed: int, handicap: int = 0) -> None:
        self._evaluator: Final = evaluator
        self._size: Final = size
        self._handicap: Final = handicap
        self._conditions: Final = conditions_of(self._new_game())
        self._positions: Final = new_positions(batch, size, size)
        self._evaluation: Final = new_evaluation(batch, size, size)
        self._positions_after: Final = new_positions(batch, size, size)
        self._evaluation_after: Final = new_evaluation(batch, size, size)
        self._rows: Final = GameRows(self._positions)
        self._search: Final = PuctSearch(Config(), evaluator)
        self._random: Final = np.random.default_rng(seed)

    def play(self, pairings: Sequence[Pairing]) -> Iterator[Outcome]:
        """Yield the outcome of each game, in the order in which they end."""
        waiting = list(reversed(pairings))
        batch = len(self._positions.key)
        seats = [self._begin(waiting.pop()) for _ in range(min(batch, len(waiting)))]
        while seats:
            self._evaluate(seats)
            self._play_moves(seats)
            playing = []
            for row, seat in enumerate(seats):
                if not self._has_ended(row, seat):
                    playing.append(seat)
                    continue
                yield _outcome(seat)
                if waiting:
                    playing.append(self._begin(waiting.pop()))
            seats = playing

    def close(self) -> None:
        """End the search's thread; the evaluator stays open."""
        self._search.close()

    def _new_game(self) -> Game:
        game = Game(self._size, self._size, PRESETS[RULES], HANDICAP_KOMI if self._handicap else KOMI)
        if self._handicap:
            game.set_handicap(free_handicap_points(self._handicap, self._size, self._size))
        return game

    def _begin(self, pairing: Pairing) -> _Seat:
        skills = {BLACK: pairing.black_skill, WHITE: pairing.white_skill}
        settings = {color: settings_of(skill, self._size, self._size) for color, skill in skills.items()}
        return _Seat(pairing, self._new_game(), np.random.default_rng(pairing.opening), settings)

    def _evaluate(self, seats: Sequence[_Seat]) -> None:
        """Write the evaluation of each game's position."""
        for row, seat in enumerate(seats):
            self._rows.fill(row, seat.game)
        self._run(self._positions, len(seats), self._evaluation)

    def _play_moves(self, seats: Sequence[_Seat]) -> None:
        """Play a move in each game; positions that choices ask about are evaluated together."""
        opening_length = round(OPENING_SHARE * self._size**2)
        questions: dict[int, Question] = {}
        for row, seat in enumerate(seats):
            if len(seat.game.moves) < opening_length:
                seat.game.play(self._opening_point(row, seat))
            else:
                questions[row] = self._choice(row, seat)
        answers: dict[int, float] = {}
        lengths = [len(seat.game.moves) for seat in seats]
        while questions:
            asked: dict[int, Game] = {}
            for row, question in list(questions.items()):
                try:
                    asked[row] = question.send(answers[row]) if row in answers else next(question)
                except StopIteration as ended:
                    seats[row].game.play(int(ended.value))
                    del questions[row]
            answers = dict(zip(asked, self._leads(asked, lengths), strict=True)) if asked else {}

    def _choice(self, row: int, seat: _Seat) -> Question:
        """Return the generator that chooses a move in a game; see `choose_move`."""
        game, color = seat.game, seat.game.to_play
        settings = seat.settings[color]
        if settings.visits == 1:
            found = found_by_network(game, color, self._evaluation, row)
        else:
            self._search.clear()
            found = found_by_search(game, self._search.run(game, Limits(visits=settings.visits)))
        return choose_move(game, color, found, settings, self._random)

    def _opening_point(self, row: int, seat: _Seat) -> int:
        """Return a move of the opening."""
        policy = self._evaluation.policy[row].astype(np.float64)
        policy[PASS] = 0.0
        return int(seat.opening.choice(policy.size, p=policy / policy.sum()))

    def _leads(self, asked: Mapping[int, Game], lengths: Sequence[int]) -> list[float]:
        """Return Black's lead in games that are a move or two further than the ones in their rows."""
        for place, (row, game) in enumerate(asked.items()):
            if len(game.moves) > lengths[row] + 1:
                write_game(self._positions_after, place, game)
                continue
            put_row(self._positions_after, place, self._positions, row)
            last, rules = game.moves[-1], game.rules
            advance_row(
                self._positions_after,
                place,
                game.board,
                last.point,
                last.color,
                GOES_ON,
                rules.suicide,
                rules.ko is Ko.SITUATIONAL,
                game.superko_keys(),
            )
        self._run(self._positions_after, len(asked), self._evaluation_after)
        return [float(lead) for lead in self._evaluation_after.lead_black[: len(asked)]]

    def _run(self, positions: Positions, count: int, out: Evaluation) -> None:
        self._evaluator.evaluate(positions, count, self._conditions, out, DEFAULT_OPTIONS)

    def _has_ended(self, row: int, seat: _Seat) -> bool:
        """Return whether a game has ended or is decided; records the lead before the last move."""
        game, evaluation = seat.game, self._evaluation
        seat.lead_black = float(evaluation.lead_black[row])
        balance = abs(float(evaluation.win_black[row] - evaluation.loss_black[row]))
        seat.decided_moves = seat.decided_moves + 1 if balance >= _DECIDED else 0
        area = self._size**2
        if game.is_over or game.has_no_result or len(game.moves) >= _LONGEST * area:
            return True
        searches = all(settings.visits > 1 for settings in seat.settings.values())
        first = _DECIDED_FROM_IF_STRONG if searches else _DECIDED_FROM
        return seat.decided_moves >= _DECIDED_MOVES and len(game.moves) >= first * area


def _outcome(seat: _Seat) -> Outcome:
    """Return the outcome of a game that has ended."""
    is_draw = seat.game.has_no_result or seat.lead_black == 0.0
    points = 0.5 if is_draw else float(seat.lead_black > 0.0)
    return Outcome(seat.pairing, points, seat.lead_black, len(seat.game.moves), seat.game)
