"""Game records: SGF text to a `Game` and back, or to a tree with everything that a record has.

    bytes --parse_sgf--> SgfRecord --record_to_game--> Game --format_sgf--> text
    bytes --GameTree--> nodes, each with its Game --to_bytes--> bytes

Records in SGF (FF[4], https://www.red-bean.com/sgf/) are read by sgfmill's grammar, damaged ones after a repair.  This
package knows the properties of a game of Go: board sizes, points, komi, rules, handicap, set-up, and the usual
mistakes of other programs.  Files are untrusted input, so reading is bounded in size, time and memory, and raises
nothing but `SgfError`.

    reader         bytes to `SgfRecord`
    foreign        records in GIB, NGF and UGF as SGF; which encoding a record has, its bytes as text and back
    repair         the nodes in damaged text
    tree_text      the nodes in the text of a record, read by the grammar of sgfmill
    collection     the games of files with several: to split them, to go through them, to read their headers
    game_tree      the tree of a record: to walk, to edit and to write
    values         single values as text: parse and format
    board          the points and moves of a board of one size, from text
    record         the plain value of a record, `SgfRecord` to `Game`, `Game` to text
"""

from gtp_engine.sgf.game_tree import GameNode, GameTree
from gtp_engine.sgf.reader import game_of, parse_sgf, read_sgf_file
from gtp_engine.sgf.record import SgfRecord, format_sgf, play_record, record_to_game

__all__ = ["parse_sgf", "record_to_game", "play_record", "format_sgf", "read_sgf_file", "game_of"]
__all__ += ["GameTree", "GameNode", "SgfRecord"]
