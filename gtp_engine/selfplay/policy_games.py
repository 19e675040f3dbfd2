"""Games that a network plays against itself by sampling its policy, many at once, without a search.

GamePlan      rules, komi and opening of a game; `plain_plan` draws one
Temperatures  how moves are drawn
PolicyGames   the games: each position costs one evaluation
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.evaluation.evaluation import new_evaluation
from gtp_engine.evaluation.evaluator import Evaluator, Request
from gtp_engine.evaluation.positions import new_positions
from gtp_engine.go.constants import PASS
from gtp_engine.go.game import Game
from gtp_engine.go.rules import PRESETS, Rules
from gtp_engine.selfplay.game_rows import GameRows
from gtp_engine.selfplay.move_policy import MovePolicy

OPENING_SHARE: Final = 0.04
"""Mean length of the varied opening, as a share of the board's points; KataGo's self-play begins games with as many
moves of its policy (`policyInitAreaProp` in its cpp/configs/training/selfplay1.cfg)."""
OPENING_TEMPERATURE: Final = 2.0
"""Temperature of the policy in the opening, so that games differ early; later moves follow the policy itself."""
LONGEST_GAME: Final = 1.5
"""A game stops after this many moves for each point of the board: weak networks never pass."""
KOMI_DEVIATION: Final = 0.15
"""Standard deviation of komi from the usual one of the rules, in points per line of the board: 3 on 19×19, so that some
games are decided before they begin and most are not."""
RULES: Final = ("chinese", "japanese", "tromp-taylor", "aga", "new-zealand", "stone-scoring")
"""Rule sets of the games; together they have every value of ko, scoring, tax and suicide."""
DECIDED: Final = 0.98
"""A game counts as decided where the probabilities to win and to lose differ by this much: 99 % for one side."""
DECIDED_MOVES: Final = 8
"""A game stops once it has been decided for this many moves in a row, so that neither one blunder nor one wrong
evaluation ends it."""


class GamePlan(NamedTuple):
    """How a game is played, except for the size of its board."""

    rules: Rules
    komi: float  # points for White, a multiple of one half
    opening_length: int = 0  # moves drawn at the opening's temperature
    handicap: tuple[int, ...] = ()  # points of Black's handicap stones
    white_passes: int = 0  # White passes this often first, so that Black's handicap stones are moves of the policy
    even_at: int | None = None  # after this many moves komi is set so that the evaluator considers the game even
    stops_when_decided: bool = False
    advantage_black: float = 0.0  # Black's playout doubling advantage, see `Conditions`
    longest: float = LONGEST_GAME  # moves per point of the board after which the game stops


Planner = Callable[[np.random.Generator, int, int], GamePlan]
"""Draws the plan of a game on a board of the given width and height."""


def plain_plan(rng: np.random.Generator, width: int, height: int) -> GamePlan:
    """Return an even game under one of RULES, with a komi near the usual one."""
    rules = PRESETS[RULES[rng.integers(len(RULES))]]
    komi = komi_near(rules, KOMI_DEVIATION, rng, width, height)
    return GamePlan(rules, komi, draw_opening_length(rng, width, height))


def komi_near(rules: Rules, deviation: float, rng: np.random.Generator, width: int, height: int) -> float:
    """Return a random komi around the usual one of `rules`; `deviation` is in points per line of the board."""
    offset = float(rng.normal()) * deviation * math.sqrt(width * height)
    return rules.default_komi() + round(2 * offset) / 2


def draw_opening_length(rng: np.random.Generator, width: int, height: int) -> int:
    """Return for how many moves a game is varied; its mean is OPENING_SHARE of the board."""
    return int(rng.exponential(OPENING_SHARE * width * height))


class Temperatures(NamedTuple):
    """Temperatures of the policy: moves are drawn with probabilities to the power of 1 / temperature."""

    opening: float = OPENING_TEMPERATURE
    rest: float = 1.0
    hot: float = OPENING_TEMPERATURE
    hot_share: float = 0.0  # share of all moves after the opening that are drawn at `hot`


@dataclass
class PlayedGame:
    """A game in progress; `number` counts the games in the order in which they began."""

    number: int
    game: Game
    plan: GamePlan
    decided_moves: int = 0
    """Evaluations in a row in which the game was decided."""
    by_player: bool = False
    """Whether the moves are the player's instead of the evaluator's."""

    @property
    def is_decided(self) -> bool:
        """Whether its plan stops it because it has been decided for long enough."""
        return self.plan.stops_when_decided and self.decided_moves >= DECIDED_MOVES


PLAIN: Final = Temperatures()


class PolicyGames:
    """Games on boards of `width` × `height`, at most `batch` at a time and `games` in all (None: without end).

    While `playing` holds any, call `evaluate`, read what it wrote, and call `play`.  Row i of `positions`, `evaluation`
    and `optimistic`, the optimistic policy, belongs to `playing[i]`; further rows mean nothing.  Games are numbered by
    `numbers` as they begin.  In `player_share` of the games the moves are drawn from the policy
    of `player`, if there is one.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        width: int,
        height: int,
        *,
        games: int | None,
        batch: int,
        rng: np.random.Generator,
        planner: Planner = plain_plan,
        temperatures: Temperatures = PLAIN,
        numbers: Iterator[int] | None = None,
        player: MovePolicy | None = None,
        player_share: float = 0.0,
    ) -> None:
        self.positions: Final = new_positions(batch, width, height)
        self.evaluation: Final = new_evaluation(batch, width, height)
        self.optimistic: Final = np.zeros_like(self.evaluation.policy)
        self._evaluator = evaluator
        self._rows = GameRows(self.positions)
        self._size = (width, height)
        self._games_left = games
        self._rng = rng
        self._planner = planner
        self._temperatures = temperatures
        self._numbers = count() if numbers is None else numbers
        self._player = player
        self._player_share = player_share
        begun = [self._begin() for _ in range(batch)]
        self.playing: list[PlayedGame] = [played for played in begun if played is not None]

    def evaluate(self) -> None:
        """Write the positions of all games and their evaluations."""
        for row, played in enumerate(self.playing):
            self._rows.fill(row, played.game, advantage_black=played.plan.advantage_black)
        count = len(self.playing)
        self._evaluator.evaluate(Request(self.positions, count, self.evaluation, optimistic=self.optimistic))

    def play(self) -> list[PlayedGame]:
        """Play one move in each game, drawn from the policy that `evaluate` wrote; return the games that it ended.

        A new game takes the row of one that ended, as long as there are games left.
        """
        points = self._draw()
        ended, playing = [], []
        for row, played in enumerate(self.playing):
            self._note_evaluation(row, played)
            played.game.play(int(points[row]))
            following: PlayedGame | None = played
            if _has_ended(played):
                ended.append(played)
                following = self._begin()
            if following is not None:
                playing.append(following)
        self.playing = playing
        return ended

    def _draw(self) -> NDArray[np.int64]:
        """Return the next move of each game: a point or PASS."""
        games = len(self.playing)
        policy = self.evaluation.policy[:games].astype(np.float64)
        self._write_player_policy(policy)
        is_hot = self._rng.random(games) < self._temperatures.hot_share
        for row, played in enumerate(self.playing):
            moves = len(played.game.moves)
            if moves < 2 * played.plan.white_passes and moves % 2 == 1:
                policy[row] = 0.0
                policy[row, PASS] = 1.0
            elif (temperature := self._temperature(played, is_hot=bool(is_hot[row]))) != 1.0:
                policy[row] **= 1 / temperature
        sums = policy.cumsum(axis=1)
        drawn = self._rng.random(games) * sums[:, -1]
        # The first point whose cumulative sum exceeds the number drawn; its own probability cannot be 0.
        points: NDArray[np.int64] = np.argmax(sums > drawn[:, None], axis=1)
        return points

    def _write_player_policy(self, policy: NDArray[np.float64]) -> None:
        """Replace the policies of the games that the player plays."""
        rows = [row for row, played in enumerate(self.playing) if played.by_player]
        if rows and self._player is not None:
            games = [self.playing[row].game for row in rows]
            policy[rows] = self._player.policies(self.positions, rows, games)

    def _temperature(self, played: PlayedGame, *, is_hot: bool) -> float:
        if len(played.game.moves) < played.plan.opening_length:
            return self._temperatures.opening
        return self._temperatures.hot if is_hot else self._temperatures.rest

    def _note_evaluation(self, row: int, played: PlayedGame) -> None:
        """Count whether the evaluation of a game decides it, and set an even komi where the plan has one."""
        balance = self.evaluation.win_black[row] - self.evaluation.loss_black[row]
        played.decided_moves = played.decided_moves + 1 if abs(balance) >= DECIDED else 0
        if len(played.game.moves) == played.plan.even_at:
            played.game.komi += round(2 * float(self.evaluation.lead_black[row])) / 2

    def _begin(self) -> PlayedGame | None:
        """Return the next game, or None if none is left."""
        if self._games_left == 0:
            return None
        if self._games_left is not None:
            self._games_left -= 1
        plan = self._planner(self._rng, *self._size)
        game = Game(*self._size, plan.rules, plan.komi)
        if plan.handicap:
            game.set_handicap(plan.handicap)
        by_player = self._player is not None and bool(self._rng.random() < self._player_share)
        return PlayedGame(next(self._numbers), game, plan, by_player=by_player)


def _has_ended(played: PlayedGame) -> bool:
    game = played.game
    is_long = len(game.moves) >= played.plan.longest * game.width * game.height
    return game.is_over or game.has_no_result or is_long or played.is_decided
