"""Positions of games that a network plays against itself by sampling its policy: what a quantizer calibrates with.

    GameSetup      rules and komi of a game; `random_setup` draws one
    PolicyGames    games played side by side: one evaluation for each move of each
    sample_games   positions drawn evenly from such games

There is no search, so that a few hundred positions of whole games take a minute or two.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.evaluation.evaluation import Evaluation, new_evaluation
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.evaluation.games import conditions_of, write_game
from gtp_engine.evaluation.positions import Conditions, Positions, new_positions
from gtp_engine.go.game import Game
from gtp_engine.go.rules import PRESETS, Rules
from gtp_engine.nn.network import board_size

OPENING_SHARE: Final = 0.04
"""Mean length of the varied opening, as a share of the board's points; KataGo's self-play begins games with as many
moves of its policy (`policyInitAreaProp` in its cpp/configs/training/selfplay1.cfg)."""
OPENING_TEMPERATURE: Final = 2.0
"""Temperature of the policy in the opening, for games that differ early; later moves have the policy's own odds."""
LONGEST_GAME: Final = 1.5
"""A game stops after this many moves for each point of the board: weak networks never pass."""
KOMI_DEVIATION: Final = 0.15
"""Standard deviation of komi from what the rules suggest, in points for each line of the board: 3 on 19×19, so that
some games are decided before they begin and most are not."""
RULES: Final = ("chinese", "japanese", "tromp-taylor", "aga", "new-zealand", "stone-scoring")
"""Rule sets of the games: between them every value of ko, scoring, tax and suicide."""

Progress = Callable[[int, int], None]
"""Called with how many games have ended, and of how many."""


class GameSetup(NamedTuple):
    """What a game is about, beside its board."""

    rules: Rules
    komi: float  # points for White, a multiple of one half


def random_setup(rng: np.random.Generator, width: int, height: int) -> GameSetup:
    """Return one of RULES and a komi near the one that it suggests."""
    rules = PRESETS[RULES[rng.integers(len(RULES))]]
    deviation = rng.normal() * KOMI_DEVIATION * (width * height) ** 0.5
    return GameSetup(rules, rules.default_komi() + round(2 * deviation) / 2)


@dataclass(frozen=True)
class PlayedGame:
    """A game that is being played; games are numbered from 0 in the order of their beginning."""

    number: int
    game: Game
    opening_length: int
    """Moves played at OPENING_TEMPERATURE."""


class PolicyGames:
    """`games` games on boards of `width` × `height`, at most `batch` at a time.

    While `playing` holds any: `look`, read what it wrote, `play`.  Row i of `positions`, `conditions` and `evaluation`
    is about `playing[i]`; further rows mean nothing.
    """

    def __init__(
        self, evaluator: Evaluator, width: int, height: int, *, games: int, batch: int, rng: np.random.Generator
    ) -> None:
        self.positions: Final = new_positions(batch, width, height)
        self.evaluation: Final = new_evaluation(batch, width, height)
        self.conditions: list[Conditions] = []
        self._evaluator = evaluator
        self._size = (width, height)
        self._games = games
        self._begun = 0
        self._rng = rng
        self.playing: list[PlayedGame] = []
        self._fill()

    def look(self) -> None:
        """Write the positions of all games, and what the evaluator says about them."""
        self.conditions = [conditions_of(played.game) for played in self.playing]
        for row, played in enumerate(self.playing):
            write_game(self.positions, row, played.game)
        evaluate_rows(self._evaluator, self.positions, self.conditions, self.evaluation)

    def play(self) -> list[PlayedGame]:
        """Play one move in each game, drawn from the policy that `look` wrote; return the games that ended with it."""
        for row, played in enumerate(self.playing):
            played.game.play(self._draw(row, played))
        ended = [played for played in self.playing if _has_ended(played.game)]
        self.playing = [played for played in self.playing if not _has_ended(played.game)]
        self._fill()
        return ended

    def _draw(self, row: int, played: PlayedGame) -> int:
        """Return a move: a point or PASS."""
        policy = self.evaluation.policy[row].astype(np.float64)
        if len(played.game.moves) < played.opening_length:
            policy **= 1 / OPENING_TEMPERATURE
        return int(self._rng.choice(policy.size, p=policy / policy.sum()))

    def _fill(self) -> None:
        """Begin games as long as there is room and any are left to begin."""
        width, height = self._size
        while len(self.playing) < len(self.positions.key) and self._begun < self._games:
            rules, komi = random_setup(self._rng, width, height)
            opening_length = int(self._rng.exponential(OPENING_SHARE * width * height))
            self.playing.append(PlayedGame(self._begun, Game(width, height, rules, komi), opening_length))
            self._begun += 1


def _has_ended(game: Game) -> bool:
    return game.is_over or len(game.moves) >= LONGEST_GAME * game.width * game.height


def evaluate_rows(
    evaluator: Evaluator, positions: Positions, conditions: Sequence[Conditions], out: Evaluation
) -> None:
    """Write what `evaluator` says about the first rows, each under its own conditions; equal ones share a call."""
    for common in dict.fromkeys(conditions):
        rows = [row for row, of_row in enumerate(conditions) if of_row == common]
        part = new_evaluation(len(rows), *board_size(positions))
        evaluator.evaluate(take_rows(positions, rows), len(rows), common, part)
        for array, values in zip(out, part, strict=True):
            array[rows] = values


def take_rows(positions: Positions, rows: Sequence[int] | NDArray[np.int64]) -> Positions:
    """Return a copy of some rows."""
    copies = {name: array[rows] for name, array in positions._asdict().items() if name != "zobrist"}
    return Positions(zobrist=positions.zobrist, **copies)


@dataclass(frozen=True)
class Sample:
    """Positions of one board size, each with its conditions; `games` tells which are of the same game."""

    width: int
    height: int
    positions: Positions
    conditions: tuple[Conditions, ...]
    games: NDArray[np.int64]


def sample_games(
    evaluator: Evaluator,
    width: int,
    height: int,
    *,
    games: int,
    per_game: int,
    batch: int,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Sample:
    """Return up to `per_game` positions of each of `games` games, every position of a game equally likely."""
    kept = new_positions(games * per_game, width, height)
    conditions: dict[int, Conditions] = {}
    batch_of_games = PolicyGames(evaluator, width, height, games=games, batch=min(batch, games), rng=rng)
    ended = 0
    while batch_of_games.playing:
        batch_of_games.look()
        for row, played in enumerate(batch_of_games.playing):
            place = _place_in_reservoir(len(played.game.moves), per_game, rng)
            if place is not None:
                slot = played.number * per_game + place
                _copy_row(kept, slot, batch_of_games.positions, row)
                conditions[slot] = batch_of_games.conditions[row]
        ended += len(batch_of_games.play())
        if progress is not None:
            progress(ended, games)
    slots = sorted(conditions)
    numbers = np.array(slots, dtype=np.int64) // per_game
    return Sample(width, height, take_rows(kept, slots), tuple(conditions[slot] for slot in slots), numbers)


def _place_in_reservoir(index: int, size: int, rng: np.random.Generator) -> int | None:
    """Return where in a reservoir of `size` its `index`-th candidate (from 0) goes, or None.

    Vitter's Algorithm R (1985): in the end every candidate is there with the same probability.
    """
    place = index if index < size else int(rng.integers(index + 1))
    return place if place < size else None


def _copy_row(target: Positions, row: int, source: Positions, source_row: int) -> None:
    for name, array in target._asdict().items():
        if name != "zobrist":
            array[row] = getattr(source, name)[source_row]
