"""The positions of a record's main line, with rules, komi, handicap and set-up stones, and those of its variations.

A variation begins at the first node that is in no earlier line; lines come in the order of the text, the main line
first.  All positions of a record have a place: first those of the main line, then those of the variations in order.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np

from gtp_engine.base.errors import SgfError, counted
from gtp_engine.go.coords import BLACK, WHITE, Move
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules
from gtp_engine.sgf import SgfRecord, parse_sgf, play_record
from gtp_engine.sgf.game_tree import GameTree
from gtp_engine.sgf.reader import record_of
from gtp_engine.sgf.record import replay

MOST_VARIATIONS: Final = 1000
"""Lines that are read beside the main line; a commented game has dozens, a dictionary of openings tens of thousands."""


@dataclass(frozen=True)
class GamePosition:
    """The position after `number` moves, and the colour to play there.

    `is_changed` is set where the record adds or removes stones after the last move; `played` is the point played next,
    None at the end of a line; `before` the place of the position before (see `GameLine.places`), None for the first.
    """

    number: int
    game: Game
    to_play: int
    is_changed: bool = False
    played: int | None = None
    before: int | None = None


class Variation(NamedTuple):
    """A line of moves beside those before it: `positions[k]` is the one after `moves[k]`.

    `nodes[k]` is the number (in `GameTree.nodes`) of the last node with `positions[k]`, None if its node goes on with
    another move.
    """

    moves: tuple[Move, ...]
    positions: tuple[GamePosition, ...]
    nodes: tuple[int | None, ...]


@dataclass(frozen=True)
class GameLine:
    """The main line of a game; `positions[k]` is the one after k moves, so there is one more than moves.

    With `variations` (see `read_game`) there are more; `notes` say which were left out, and which
    moves cannot be compared.  `seconds` is the time that each move took, None where the record does not tell it.
    """

    record: SgfRecord
    positions: tuple[GamePosition, ...]
    variations: tuple[Variation, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: tuple[float | None, ...] = ()

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
    def places(self) -> tuple[GamePosition, ...]:
        """All positions: the main line's, then the variations' in order."""
        return (*self.positions, *(each for variation in self.variations for each in variation.positions))

    @cached_property
    def rules(self) -> Rules:
        """The rules under which the game is reviewed."""
        return self.positions[0].game.rules

    @property
    def komi(self) -> float:
        """The komi, without points for a handicap."""
        return self.positions[0].game.komi


def read_game(data: bytes, *, rules: Rules, komi: float | None = None, variations: bool = False) -> GameLine:
    """Return the main line of the first game in an SGF file, and its `variations` if they are wanted.

    It ends before a move that cannot be played; variations that cannot be read are left out, with a note.  `rules` and
    `komi` are for records that name none.  Raises SgfError for a record that cannot be read, and for one without moves.
    """
    _, record = play_record(parse_sgf(data), rules=rules, komi=komi)
    if not record.moves:
        raise SgfError("; ".join(["the record has no moves to review", *record.notes]))
    line = replace(_line_of(record, rules, komi), seconds=_seconds_used(data, len(record.moves)))
    return _with_variations(line, data, rules, komi) if variations else line


_BYOYOMI: Final = re.compile(r"[0-9]+\s*[x×]\s*([0-9]+(?:\.[0-9]+)?)")
_FISCHER: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(?:s|sec|seconds)?\s*fischer", re.IGNORECASE)
"""Overtime as servers write it: "5x30 byo-yomi", "10 fischer"; SGF leaves the text to the program."""
_MAIN_TIME: Final = re.compile(r"\A\s*\+?([0-9]{1,7}(?:\.[0-9]*)?)\s*\Z")
"""Seconds, less than a hundred days."""


def _seconds_used(data: bytes, moves: int) -> tuple[float | None, ...]:
    """Return the time that each move took, from the time left after it (BL, WL) and the overtime (OT, OB, OW)."""
    nodes = GameTree(data).main_line()
    overtime = " ".join(nodes[0].get("OT"))
    period, increment = _first_number(_BYOYOMI, overtime), _first_number(_FISCHER, overtime) or 0.0
    main = _first_number(_MAIN_TIME, "".join(nodes[0].get("TM")[:1]))
    left: dict[int, float | None] = {BLACK: main, WHITE: main}
    used: list[float | None] = []
    for node in nodes:
        color = BLACK if "B" in node.names else WHITE
        now, stones = node.clocks.get(color, (None, None))
        before, spent = left[color], None
        if now is not None and period is not None and stones is not None:
            # Main time that was left is spent first; a clock that shows the whole period was set after the move.
            left[color] = 0.0
            spent = None if before is None or now == period else before + period - now
        elif now is not None:
            left[color] = now
            spent = None if before is None else before + increment - now
        is_known = node.moves == 1 and spent is not None and spent >= 0
        used += [spent if is_known else None] * node.moves
    return (*(None if each is None else round(each, 1) for each in used), *[None] * moves)[:moves]


def _first_number(pattern: re.Pattern[str], text: str) -> float | None:
    found = pattern.search(text)
    return None if found is None else float(found[1])


def _line_of(record: SgfRecord, rules: Rules, komi: float | None) -> GameLine:
    """Return the line of a record; raises SgfError if it cannot be replayed."""
    changed = {setup.move_index for setup in record.later_setups if setup.stones or setup.emptied}
    positions = []
    for number, game in enumerate(replay(record, rules, komi)):
        is_last = number == len(record.moves)
        color, point = (game.to_play, None) if is_last else record.moves[number]
        before = number - 1 if number else None
        positions.append(GamePosition(number, game.copy(), color, number in changed, point, before))
    return GameLine(record, tuple(positions), notes=notes_on_changes(positions))


def notes_on_changes(positions: Sequence[GamePosition]) -> tuple[str, ...]:
    """Return a note about the moves after which a record changes the position, none if there are none."""
    numbers = ", ".join(str(position.number) for position in positions if position.is_changed)
    if not numbers:
        return ()
    return (f"the record changes the position after move {numbers}: what was lost there is not known",)


def _with_variations(line: GameLine, data: bytes, rules: Rules, komi: float | None) -> GameLine:
    """Return the line with the variations of its record; what cannot be read is left out, with a note."""
    paths = (node.path() for node in GameTree(data).nodes() if not node.children)
    main = next(paths)
    places, notes, variations = list(line.positions), list(line.notes), list[Variation]()
    # The place of the position after each node of an earlier line.
    seen = dict(zip((node.id for node in main), accumulate(node.moves for node in main), strict=True))
    for number, path in enumerate(paths, start=1):
        if number > MOST_VARIATIONS:
            notes.append(f"the record has more than {counted(MOST_VARIATIONS, 'variation')}; the others were left out")
            break
        start = next(place for place, node in enumerate(path) if node.id not in seen)
        branch, moves = seen[path[start - 1].id], path[start - 1].move_number
        try:
            record = record_of(path)
            if len(record.moves) < sum(node.moves for node in path):
                raise SgfError(record.notes[-1])
            whole = _line_of(record, rules, komi)
        except SgfError as error:
            notes.append(f"the variation after move {moves} was left out: {error}")
            continue
        if not np.array_equal(whole.positions[moves].game.board.color, places[branch].game.board.color):
            notes.append(f"the variation after move {moves} was left out: it sets up another position")
            continue
        own = [branch, *range(len(places), len(places) + len(whole.moves) - moves)]  # its places, from the branch on
        last, played = dict[int, int](), moves
        for node in path[start:]:
            played += node.moves
            seen[node.id], last[played] = own[played - moves], node.id
        after = zip(whole.positions[moves + 1 :], own, strict=False)
        if positions := tuple(replace(position, before=before) for position, before in after):
            numbers = tuple(last.get(position.number) for position in positions)
            variations.append(Variation(whole.moves[moves:], positions, numbers))
            places += positions
            notes += notes_on_changes(positions)
    return replace(line, variations=tuple(variations), notes=tuple(notes))
