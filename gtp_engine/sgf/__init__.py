"""Game records: SGF text to a `Game` and back.

    bytes --parse_sgf--> SgfRecord --record_to_game--> Game --format_sgf--> text

sgfmill parses the grammar of SGF (FF[4], https://www.red-bean.com/sgf/); this package interprets the properties of a
game of Go: board sizes, points, komi, rules, handicap, set-up, and the common mistakes of other programs.  Files are
untrusted input, so reading is bounded in size, time and memory, and raises nothing but `SgfError`.

    reader            bytes to `SgfRecord`
    guessed_encoding  the encoding of Asian records that do not name it
    values            single values as text: parse and format
    record            the plain value of a record
    playback          `SgfRecord` to `Game`
    tree_text         the text of a record, to insert properties and variations
    writer            `Game` to text
"""

from gtp_engine.sgf.playback import record_to_game
from gtp_engine.sgf.reader import MAX_BYTES, MAX_MOVES, parse_sgf, read_sgf_file
from gtp_engine.sgf.record import LaterSetup, SgfRecord
from gtp_engine.sgf.writer import format_sgf

__all__ = [
    "parse_sgf",
    "record_to_game",
    "format_sgf",
    "read_sgf_file",
    "SgfRecord",
    "LaterSetup",
    "MAX_BYTES",
    "MAX_MOVES",
]
