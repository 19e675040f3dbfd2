"""Game records: SGF text to a `Game` and back.

    bytes --parse_sgf--> SgfRecord --record_to_game--> Game --format_sgf--> text

This package reads the grammar of SGF (FF[4], https://www.red-bean.com/sgf/) and the properties of a game of Go: board
sizes, points, komi, rules, handicap, set-up, and the common mistakes of other programs.  Files are untrusted input, so
reading is bounded in size, time and memory, and raises nothing but `SgfError`.

    reader         bytes to `SgfRecord`
    text_encoding  which encoding a record has
    tree_text      the nodes in the text of a record; to insert properties and variations there
    values         single values as text: parse and format
    record         the plain value of a record, `SgfRecord` to `Game`, `Game` to text
"""

from gtp_engine.sgf.reader import MAX_BYTES, MAX_MOVES, parse_sgf, read_sgf_file
from gtp_engine.sgf.record import LaterSetup, SgfRecord, format_sgf, play_record, record_to_game

__all__ = [
    "parse_sgf",
    "record_to_game",
    "play_record",
    "format_sgf",
    "read_sgf_file",
    "SgfRecord",
    "LaterSetup",
    "MAX_BYTES",
    "MAX_MOVES",
]
