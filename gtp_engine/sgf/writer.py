"""Writes SGF: `Game` to text."""

from collections.abc import Iterable
from typing import Final

from sgfmill import sgf_grammar

from gtp_engine import __version__
from gtp_engine.go.constants import BLACK, WHITE, Move
from gtp_engine.go.game import Game
from gtp_engine.sgf.record import usual_first_player
from gtp_engine.sgf.values import format_komi, format_point, format_rules, format_size, one_line

_LINE_LENGTH: Final = 79
_APPLICATION: Final = b"Tengen"
_COLOR_LETTERS: Final = {BLACK: "B", WHITE: "W"}


def format_sgf(game: Game, *, black_name: str = "", white_name: str = "", result: str = "", date: str = "") -> str:
    """Return the game as an SGF record (FF[4], UTF-8): lines of about 79 characters, none of them empty.

    It contains size, rules, komi, set-up and handicap stones, all moves, and the first player and the one to play at
    the end if these are not the usual ones; `parse_sgf` and `record_to_game` turn it into an equal game.  Names,
    `result` ("B+3.5", "W+R", "0") and `date` (ISO) are left out if empty; line breaks and control characters in them
    become blanks.
    """
    nodes = [_root(game)]
    for name, text in (("PB", black_name), ("PW", white_name), ("RE", result), ("DT", date)):
        if text:
            nodes[0][name] = [_simple_text(text)]
    nodes += [{_COLOR_LETTERS[move.color]: _points([move.point], game)} for move in game.moves]
    if game.moves and game.to_play == game.moves[-1].color:
        nodes.append({"PL": [_COLOR_LETTERS[game.to_play].encode()]})
    tree = sgf_grammar.Coarse_game_tree()
    tree.sequence = nodes
    text = sgf_grammar.serialise_game_tree(tree, wrap=_LINE_LENGTH).decode("utf-8")
    return str(text).strip()


def _root(game: Game) -> dict[str, list[bytes]]:
    """Return the root node without names and result."""
    stones = game.setup_stones
    root = {
        "FF": [b"4"],
        "GM": [b"1"],
        "CA": [b"UTF-8"],
        "AP": [sgf_grammar.compose(_APPLICATION, __version__.encode())],
        "SZ": [format_size(game.width, game.height).encode()],
        "KM": [format_komi(game.komi).encode()],
        "RU": [_simple_text(format_rules(game.rules))],
    }
    for color, name in ((BLACK, "AB"), (WHITE, "AW")):
        points = [stone.point for stone in stones if stone.color == color]
        if points:
            root[name] = _points(points, game)
    if usual_first_player(stones, game.moves) != game.first_player:
        root["PL"] = [_COLOR_LETTERS[game.first_player].encode()]
    if _is_handicap(stones, game.first_player):
        root["HA"] = [str(len(stones)).encode()]
    return root


def _is_handicap(stones: tuple[Move, ...], first_player: int) -> bool:
    return first_player == WHITE and len(stones) >= 2 and all(stone.color == BLACK for stone in stones)


def _points(points: Iterable[int], game: Game) -> list[bytes]:
    return [format_point(point, width=game.width).encode() for point in points]


def _simple_text(text: str) -> bytes:
    """Return `text` as a raw SimpleText value: one line, escaped, with lone surrogates replaced."""
    raw: bytes = sgf_grammar.escape_text(one_line(text).encode("utf-8", "replace"))
    return raw
