"""The variations of a record: the positions that are not in its main line, each once.

A variation begins at the first node that is in no earlier line; lines come in the order of the text, the main line
first.  All positions of a record have a place: first those of the main line, then those of the variations in order.
"""

from typing import Final, NamedTuple

import numpy as np

from gtp_engine.errors import SgfError, counted
from gtp_engine.go.rules import Rules
from gtp_engine.review.game_line import GameLine, Variation, notes_on_changes, read_game
from gtp_engine.sgf.tree_text import TreeText

MOST_VARIATIONS: Final = 1000
"""Lines that are read beside the main line; a commented game has dozens, a dictionary of openings tens of thousands."""


class _Seen(NamedTuple):
    """What is known of a node in an earlier line: the place of the position after it, and the moves up to there."""

    place: int
    moves: int


def read_variations(data: bytes, line: GameLine, *, rules: Rules, komi: float | None) -> GameLine:
    """Return the line with the variations of its record; `rules` and `komi` are for records that name none.

    What cannot be read is left out, with a note.  Raises SgfError for a record that cannot be kept as it is.
    """
    text = TreeText(data)
    seen: dict[int, _Seen] = {}
    variations: list[Variation] = []
    notes = list(line.notes)
    games = [position.game for position in line.positions]
    for count, path in enumerate(text.paths()):
        if count == 0:
            _add_nodes(seen, text, path, _Seen(0, 0), first_place=1)
            continue
        if count > MOST_VARIATIONS:
            notes.append(f"the record has more than {counted(MOST_VARIATIONS, 'variation')}; the others were left out")
            break
        start = next(number for number, node in enumerate(path) if node not in seen)
        branch = seen[path[start - 1]]
        try:
            whole = read_game(text.line(path), rules=rules, komi=komi)
        except SgfError as error:
            notes.append(f"the variation after move {branch.moves} was left out: {error}")
            continue
        same = np.array_equal(whole.positions[branch.moves].game.board.color, games[branch.place].board.color)
        if not same:
            notes.append(f"the variation after move {branch.moves} was left out: it sets up another position")
            continue
        positions = whole.positions[branch.moves + 1 :]
        nodes = _add_nodes(seen, text, path[start:], branch, first_place=len(games))
        if positions:
            moves = whole.moves[branch.moves :]
            numbers = tuple(nodes.get(position.number) for position in positions)
            variations.append(Variation(branch.place, moves, positions, numbers))
            games += [position.game for position in positions]
            notes += notes_on_changes(positions)
    return GameLine(line.record, line.positions, tuple(variations), tuple(notes))


def _add_nodes(
    seen: dict[int, _Seen], text: TreeText, nodes: list[int], branch: _Seen, *, first_place: int
) -> dict[int, int]:
    """Add the nodes of a line after `branch`; return for each number of moves the last node after that many moves."""
    moves, last = branch.moves, {}
    for node in nodes:
        moves += text.all_nodes[node].moves
        new = moves - branch.moves
        seen[node] = _Seen(first_place + new - 1 if new else branch.place, moves)
        last[moves] = node
    return last
