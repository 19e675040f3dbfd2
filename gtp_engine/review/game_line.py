"""The positions of a record's main line, with the rules, komi, handicap and set-up stones of the game."""

from dataclasses import dataclass
from functools import cached_property

from gtp_engine.errors import SgfError
from gtp_engine.go.constants import Move
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules
from gtp_engine.sgf import SgfRecord, parse_sgf, record_to_game


@dataclass(frozen=True)
class Position:
    """The position after `number` moves, and the colour to play there."""

    number: int
    game: Game
    to_play: int


@dataclass(frozen=True)
class GameLine:
    """The main line of a game; `positions[k]` is the one after k moves, so there is one more than moves."""

    record: SgfRecord
    positions: tuple[Position, ...]

    @property
    def moves(self) -> tuple[Move, ...]:
        """The moves of the main line."""
        return self.record.moves

    @cached_property
    def rules(self) -> Rules:
        """The rules under which the game is reviewed."""
        return self.positions[0].game.rules

    @property
    def komi(self) -> float:
        """The komi, without points for a handicap."""
        return self.positions[0].game.komi


def read_game(data: bytes, *, rules: Rules, komi: float | None = None) -> GameLine:
    """Return the main line of the first game in an SGF file.

    `rules` and `komi` are for records that name none.  Raises SgfError for a record that cannot be read or replayed,
    and for one without moves.
    """
    record = parse_sgf(data)
    if not record.moves:
        raise SgfError("the record has no moves to review")
    if record.later_setups:
        games = [_game_before(record, number, rules, komi) for number in range(len(record.moves) + 1)]
    else:
        games = _replayed(record, rules, komi)
    return GameLine(record, tuple(Position(number, *position) for number, position in enumerate(games)))


def _game_before(record: SgfRecord, number: int, rules: Rules, komi: float | None) -> tuple[Game, int]:
    """Return the game after `number` moves and the colour to play."""
    return record_to_game(record, move_number=number + 1, rules=rules, komi=komi)


def _replayed(record: SgfRecord, rules: Rules, komi: float | None) -> list[tuple[Game, int]]:
    """Return the same for all positions of a record whose stones are set up before the first move."""
    last, color = record_to_game(record, rules=rules, komi=komi)  # reports an illegal move with its number
    game, _ = _game_before(record, 0, rules, komi)
    games = []
    for move in record.moves:
        games.append((game.copy(), move.color))
        game.play(move, allow_superko=True)
    return [*games, (last, color)]
