"""The positions of a record's main line, with the rules, komi, handicap and set-up stones of the game."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from gtp_engine.errors import SgfError
from gtp_engine.go.constants import Move
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules
from gtp_engine.sgf import SgfRecord, parse_sgf, record_to_game


@dataclass(frozen=True)
class Position:
    """The position after `number` moves, and the colour to play there.

    `is_changed` is set where the record adds or removes stones after the last move.
    """

    number: int
    game: Game
    to_play: int
    is_changed: bool = False


class Place(NamedTuple):
    """A position of a record, and how its line goes on.

    `before` is the place of the position before and `vertex` the move played there, both None for the first position;
    `played` is the point played next, None at the end of a line.
    """

    position: Position
    before: int | None
    vertex: str | None
    played: int | None


class Variation(NamedTuple):
    """A line of moves beside those before it: `positions[k]` is the one after `moves[k]`.

    `before` is the place of the position in which it begins, see `GameLine.places`; `nodes[k]` is the number (in
    `TreeText.all_nodes`) of the last node with `positions[k]`, None if its node goes on with another move.
    """

    before: int
    moves: tuple[Move, ...]
    positions: tuple[Position, ...]
    nodes: tuple[int | None, ...]


@dataclass(frozen=True)
class GameLine:
    """The main line of a game; `positions[k]` is the one after k moves, so there is one more than moves.

    With `variations` (see `variations.read_variations`) there are more; `notes` say which were left out, and which
    moves cannot be compared.
    """

    record: SgfRecord
    positions: tuple[Position, ...]
    variations: tuple[Variation, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def moves(self) -> tuple[Move, ...]:
        """The moves of the main line."""
        return self.record.moves

    @property
    def points(self) -> int:
        """The points of the board."""
        game = self.positions[0].game
        return game.width * game.height

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """All positions: those of the main line, then those of the variations in order."""
        places = [Place(self.positions[0], None, None, self.moves[0].point if self.moves else None)]
        _extend(places, 0, self.moves, self.positions[1:])
        for variation in self.variations:
            _extend(places, variation.before, variation.moves, variation.positions)
        return tuple(places)

    @cached_property
    def rules(self) -> Rules:
        """The rules under which the game is reviewed."""
        return self.positions[0].game.rules

    @property
    def komi(self) -> float:
        """The komi, without points for a handicap."""
        return self.positions[0].game.komi


def _extend(places: list[Place], before: int, moves: Sequence[Move], positions: Sequence[Position]) -> None:
    """Add the positions after `moves`, which begin in place `before`."""
    following = [*(move.point for move in moves[1:]), None]
    for move, position, played in zip(moves, positions, following, strict=True):
        places.append(Place(position, before, position.game.vertex(move.point), played))
        before = len(places) - 1


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
    changed = {setup.move_index for setup in record.later_setups if setup.stones or setup.emptied}
    positions = tuple(Position(number, *game, is_changed=number in changed) for number, game in enumerate(games))
    return GameLine(record, positions, notes=notes_on_changes(positions))


def notes_on_changes(positions: Sequence[Position]) -> tuple[str, ...]:
    """Return a note about the moves after which a record changes the position, none if there are none."""
    numbers = ", ".join(str(position.number) for position in positions if position.is_changed)
    if not numbers:
        return ()
    return (f"the record changes the position after move {numbers}: what was lost there is not known",)


def _game_before(record: SgfRecord, number: int, rules: Rules, komi: float | None) -> tuple[Game, int]:
    """Return the game after `number` moves and the colour to play."""
    game = record_to_game(record, move_number=number + 1, rules=rules, komi=komi)
    return game, game.to_play


def _replayed(record: SgfRecord, rules: Rules, komi: float | None) -> list[tuple[Game, int]]:
    """Return game and colour to play for each position of a record that sets up stones before the first move only."""
    last = record_to_game(record, rules=rules, komi=komi)  # reports an illegal move with its number
    game, _ = _game_before(record, 0, rules, komi)
    games = []
    for move in record.moves:
        games.append((game.copy(), move.color))
        game.play(move, allow_superko=True)
    return [*games, (last, last.to_play)]
