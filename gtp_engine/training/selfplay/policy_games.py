"""Games that a network plays against itself by sampling its policy, many at once, without a search.

Temperatures  how moves are drawn
PolicyGames   the games: each position costs one evaluation
MovePolicy    another player in some of them: the policy of another network (network_moves) or a search (search_moves)
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.config import Config
from gtp_engine.evaluation.evaluator import Evaluator, Request, evaluated
from gtp_engine.evaluation.from_game import GameRows
from gtp_engine.evaluation.positions import Positions, board_size, new_evaluation, new_positions, take_rows
from gtp_engine.go.constants import PASS, padded_length
from gtp_engine.go.game import Game
from gtp_engine.search.limits import Limits
from gtp_engine.search.puct.puct_search import PuctSearch
from gtp_engine.training.selfplay.plans import GamePlan, Planner, varied_plan

SEARCH_BATCH: Final = 8
"""Positions that a search evaluates together."""


MovePolicy = Callable[[Positions, Sequence[int], Sequence[Game]], NDArray[np.floating]]
"""Returns the probabilities [K, n] by point that moves are drawn with, for K rows of the positions, which show the
games; one thread calls it at a time."""


def network_moves(evaluator: Evaluator) -> MovePolicy:
    """Return what gives the policy of a network."""

    def policies(positions: Positions, rows: Sequence[int], games: Sequence[Game]) -> NDArray[np.floating]:
        return evaluated(evaluator, take_rows(positions, rows)).policy

    return policies


def search_moves(evaluator: Evaluator, visits: int, *, seed: int) -> MovePolicy:
    """Return what gives the shares of the visits of a search with `evaluator` and its plain policy."""
    config = Config()
    puct = replace(config.puct, eval_batch=SEARCH_BATCH, pipeline=1, root_average=False)
    puct = replace(puct, root_policy_optimism=0.0, policy_optimism=0.0)
    search = PuctSearch(replace(config, search=replace(config.search, seed=seed), puct=puct), evaluator)

    def policies(positions: Positions, rows: Sequence[int], games: Sequence[Game]) -> NDArray[np.floating]:
        found = np.zeros((len(games), padded_length(*board_size(positions))))
        for policy, game in zip(found, games, strict=True):
            report = search.run(game, Limits(visits=visits))
            for move in report.moves:
                policy[move.point] = move.visits
            if not policy.any():  # a single visit is the root's
                assert report.raw is not None, "a search with a network evaluates the root"
                policy[:] = report.raw.policy
            policy /= policy.sum()
        return found

    return policies


OPENING_TEMPERATURE: Final = 2.0
"""Temperature of the policy in the opening, so that games differ early; later moves follow the policy itself."""
DECIDED: Final = 0.98
"""A game counts as decided where the probabilities to win and to lose differ by this much: 99% for one side."""
DECIDED_MOVES: Final = 8
"""A game stops once it has been decided for this many moves in a row, so that neither one blunder nor one wrong
evaluation ends it."""


class Temperatures(NamedTuple):
    """Temperatures of the policy: moves are drawn with probabilities to the power of 1 / temperature."""

    opening: float = OPENING_TEMPERATURE
    rest: float = 1.0
    hot_share: float = 0.0  # share of all moves after the opening that are drawn at its temperature


@dataclass
class PlayedGame:
    """A game in progress; games are numbered as they begin."""

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
        is_early = len(self.game.moves) < self.plan.decided_from * self.game.width * self.game.height
        return self.plan.stops_when_decided and self.decided_moves >= DECIDED_MOVES and not is_early

    @property
    def has_ended(self) -> bool:
        """Whether there are no more moves: by the rules or by its plan."""
        game = self.game
        is_long = len(game.moves) >= self.plan.longest * game.width * game.height
        return game.is_over or game.has_no_result or is_long or self.is_decided


PLAIN: Final = Temperatures()


class PolicyGames:
    """Games on boards of `width` × `height`, at most `batch` at a time, each with the next of `numbers` as it begins.

    While `playing` holds any, call `evaluate`, read what it wrote, and call `play`.  Row i of `positions`, `evaluation`
    and `optimistic`, the optimistic policy if that is asked for, belongs to `playing[i]`; further rows mean nothing.
    In `player_share` of the games the moves are drawn from the policy of `player`, if there is one.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        width: int,
        height: int,
        *,
        numbers: Iterable[int],
        batch: int,
        rng: np.random.Generator,
        planner: Planner = varied_plan,
        temperatures: Temperatures = PLAIN,
        player: MovePolicy | None = None,
        player_share: float = 0.0,
        asks_optimistic: bool = False,
    ) -> None:
        self._evaluator = evaluator
        self._size = (width, height)
        self._rng = rng
        self._planner = planner
        self._temperatures = temperatures
        self._player = player
        self._player_share = player_share
        self._asks_optimistic = asks_optimistic
        self._games: Final = self._begun(numbers)
        self.playing: list[PlayedGame] = list(islice(self._games, batch))
        rows = max(1, len(self.playing))
        self.positions: Final = new_positions(rows, width, height)
        self.evaluation: Final = new_evaluation(rows, width, height)
        self.optimistic: Final = np.zeros_like(self.evaluation.policy)
        self._rows = GameRows(self.positions)

    def evaluate(self) -> None:
        """Write the positions of all games and their evaluations."""
        for row, played in enumerate(self.playing):
            self._rows.fill(row, played.game, advantage_black=played.plan.advantage_black)
        optimistic = self.optimistic if self._asks_optimistic else None
        self._evaluator.evaluate(Request(self.positions, len(self.playing), self.evaluation, optimistic=optimistic))

    def play(self) -> list[PlayedGame]:
        """Play one move in each game, drawn from the policy that `evaluate` wrote; return the games that it ended.

        A new game takes the row of one that ended, as long as there are numbers left.
        """
        points = self._draw()
        ended, playing = list[PlayedGame](), list[PlayedGame]()
        for row, played in enumerate(self.playing):
            self._note_evaluation(row, played)
            played.game.play(int(points[row]))
            if played.has_ended:
                ended.append(played)
                playing += islice(self._games, 1)
            else:
                playing.append(played)
        self.playing = playing
        return ended

    def _draw(self) -> NDArray[np.int64]:
        """Return the next move of each game: a point or PASS."""
        games = len(self.playing)
        policy = self.evaluation.policy[:games].astype(np.float64)
        rows = [row for row, played in enumerate(self.playing) if played.by_player]
        if rows and self._player is not None:
            policy[rows] = self._player(self.positions, rows, [self.playing[row].game for row in rows])
        is_hot = self._rng.random(games) < self._temperatures.hot_share
        for row, played in enumerate(self.playing):
            moves = len(played.game.moves)
            is_varied = moves < played.plan.opening_length or is_hot[row]
            temperature = self._temperatures.opening if is_varied else self._temperatures.rest
            if moves < 2 * played.plan.white_passes and moves % 2 == 1:
                policy[row] = 0.0
                policy[row, PASS] = 1.0
            elif temperature != 1.0:
                policy[row] **= 1 / temperature
        sums = policy.cumsum(axis=1)
        drawn = self._rng.random(games) * sums[:, -1]
        # The first point whose cumulative sum exceeds the number drawn; its own probability cannot be 0.
        points: NDArray[np.int64] = np.argmax(sums > drawn[:, None], axis=1)
        return points

    def _note_evaluation(self, row: int, played: PlayedGame) -> None:
        """Count whether the evaluation of a game decides it, and set an even komi where the plan has one."""
        balance = self.evaluation.win_black[row] - self.evaluation.loss_black[row]
        played.decided_moves = played.decided_moves + 1 if abs(balance) >= DECIDED else 0
        if len(played.game.moves) == played.plan.even_at:
            played.game.komi += round(2 * float(self.evaluation.lead_black[row])) / 2

    def _begun(self, numbers: Iterable[int]) -> Iterator[PlayedGame]:
        """Yield the games as they begin."""
        for number in numbers:
            plan = self._planner(self._rng, *self._size)
            game = Game(*self._size, plan.rules, plan.komi)
            if plan.handicap:
                game.set_handicap(plan.handicap)
            by_player = self._player is not None and bool(self._rng.random() < self._player_share)
            yield PlayedGame(number, game, plan, by_player=by_player)
