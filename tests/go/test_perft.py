"""Perft: the number of legal move sequences of each length.

The numbers stand in tests/data/perft/*.perft, in the manner of chess programs' perft files: stanzas of "key value"
lines, "#" starts a comment.

    id       a name
    board    rows of the start position from the top, "/" between them: "." empty, "X" Black, "O" White
    ko       SIMPLE, POSITIONAL or SITUATIONAL
    suicide  no, or yes: chains of two or more stones (one stone alone never)
    passes   no, or yes: passes are moves as well (and end nothing)
    perft    depth and count: move sequences of that length, Black first, colours alternating

`Game` plays and takes back its way through the whole tree, so that `undo` is proven along with it.
"""

from pathlib import Path
from typing import NamedTuple

import reference
from board_helpers import game_of

from gtp_engine.go.constants import PASS
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Ko, Rules

DATA = Path(__file__).parent.parent / "data" / "perft"


class Stanza(NamedTuple):
    id: str
    start: reference.Position
    ko: Ko
    suicide: bool
    passes: bool
    counts: dict[int, int]


def read_stanzas(path: Path) -> list[Stanza]:
    stanzas = []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        pairs = [line.split(maxsplit=1) for line in block.splitlines() if line and not line.startswith("#")]
        if not pairs:
            continue
        values = {key: value for key, value in pairs if key != "perft"}
        assert set(values) == {"id", "board", "ko", "suicide", "passes"}, f"{path.name}: {block}"
        counts = dict(tuple(map(int, value.split())) for key, value in pairs if key == "perft")
        assert sorted(counts) == list(range(1, len(counts) + 1)), f"{path.name}: depths of {values['id']}"
        start = reference.parse(values["board"].replace("/", "\n"))
        suicide, passes = (values[key] == "yes" for key in ("suicide", "passes"))
        stanzas.append(Stanza(values["id"], start, Ko(values["ko"]), suicide, passes, counts))
    return stanzas


STANZAS = [stanza for path in sorted(DATA.glob("*.perft")) for stanza in read_stanzas(path)]


def perft_of_game(game: Game, depth: int, *, passes: bool) -> list[int]:
    """Return the numbers of sequences of 1, 2, ... `depth` moves from here."""
    moves = game.legal_points() + [PASS] * passes
    counts = [len(moves)] + [0] * (depth - 1)
    for point in moves if depth > 1 else ():
        game.play(point)
        for length, count in enumerate(perft_of_game(game, depth - 1, passes=passes), start=1):
            counts[length] += count
        game.undo()
    return counts


def test_game_counts():
    for stanza in STANZAS:
        game = game_of(stanza.start, Rules(ko=stanza.ko, suicide=stanza.suicide))
        found = perft_of_game(game, max(stanza.counts), passes=stanza.passes)
        assert dict(enumerate(found, start=1)) == stanza.counts, stanza.id
        assert game.moves == ()
