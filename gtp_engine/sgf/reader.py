"""Reads a line of a game record, mostly the main one: bytes, or the nodes of a tree, to `SgfRecord`.

Of a collection it is the first game, with the properties in `SgfRecord`.  Everything else (comments, clocks, marks,
other variations) is skipped; `game_tree` has all of it.  As much is read as can be read: what is not, or
is guessed, becomes a note of the record.

Limits against malicious files: `MAX_BYTES`, `MAX_TOKENS`, `MAX_MOVES`, `MAX_SETUP_POINTS`, `MAX_LATER_SETUPS`.  Reading
takes time in proportion to the bytes and to the points of set-ups: a byte of no file takes more than four times as long
as one of an ordinary game (tests/sgf/test_damaged_records.py).  Nesting needs no limit, because nothing here is
recursive.
"""

import re
from collections.abc import Callable, Sequence
from itertools import filterfalse, takewhile
from typing import Final

from gtp_engine.base.errors import ArgumentError, HandicapError, SgfError, counted, shown, shown_path
from gtp_engine.base.files import open_regular
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE
from gtp_engine.go.coords import Color, Move
from gtp_engine.go.game import Game
from gtp_engine.go.handicap import fixed_handicap_points
from gtp_engine.go.rules import PRESETS, Rules
from gtp_engine.sgf import values
from gtp_engine.sgf.board import board_of
from gtp_engine.sgf.foreign.encodings import as_utf_8, text_of
from gtp_engine.sgf.foreign.formats import sgf_of
from gtp_engine.sgf.record import LaterSetup, SgfRecord, play_record, usual_first_player
from gtp_engine.sgf.tree_text import GameText, N, TextNode, has_game, main_line_from, parse_game

MAX_BYTES: Final = 4 * 2**20
"""Largest file read; the largest joseki dictionaries have about 3 MiB, a game has 10 KiB."""
MAX_TOKENS: Final = 500_000
"""Greatest number of opening parentheses, semicolons and opening brackets together, also in comments."""
MAX_MOVES: Final = 10_000
"""Longest main line; the longest games on 25x25 have about 2,000 moves."""
MAX_SETUP_POINTS: Final = 40_000
SETUP_POINTS_OF_VALUE: Final = 30
"""Greatest number of points in AB, AW and AE, and how many more for each of their values, of which seven bytes name a
whole board: 110 times a board of 19x19, and those of a lecture that clears the board for each of its positions."""
MAX_LATER_SETUPS: Final = 1_000
"""Greatest number of changes of the position after the first move; each takes as long as dozens of moves."""

MOST_NOTES: Final = 20
"""Notes of a record; a file of another kind could give thousands."""

_DEFAULT_SIZE: Final = "19"
_GAME_NAMES: Final = frozenset({"go", "igo", "weiqi", "baduk", "围棋", "圍棋", "囲碁", "바둑"})
"""Words in GM that mean Go, in small letters."""
_OTHER_GAMES: Final = re.compile(
    r"\b(?:othello|reversi|chess|xiangqi|shogi|gomoku|renju|backgammon|hex|lines of action|octi|amazons|draughts"
    r"|checkers)\b"
    r"|将棋|將棋|象棋|五子棋|五目|连珠|連珠|黑白棋|オセロ|チェス|오목|장기|체스|오셀로"
)
"""Words in it that mean another game."""

_STONES: Final = ("AB", "AW", "AE")
_BEGINNINGS: Final = frozenset([*_STONES, "B", "W"])
_SETUP: Final = frozenset([*_STONES, "PL"])
_MOVE: Final = re.compile(rb";\s*[BW]\s*\[")
_ONCE: Final = frozenset(["SZ", "KM", "RU", "HA"])
"""Properties of which a second, other value is worth a note."""
_GAME_INFO: Final = frozenset(["GM", "SZ", "AP", "KM", "KO", "RU", "HA", "PB", "PW", "BR", "WR", "RE", "DT"])

GAME_PROPERTIES: Final = _GAME_INFO | _SETUP
"""What matters to the game beside its moves."""

_OTHER_FORMATS: Final = {
    rb"<\?xml|<Go>": "an XML file, such as a record of Jago",
    rb"(?i:<!doctype html|<html)": "a page of a browser",
    rb"\{\s*[\"}]": "a JSON file",
    rb"PK\x03\x04|Rar!|\x1f[\x80-\xff]|7z[\x80-\xff]|.{2,4}-lh[0-9]-": "an archive",
    rb"%PDF": "a PDF file",
}
"""How files that are not SGF begin."""


def read_sgf_file(path: str, most_bytes: int | None = MAX_BYTES, *, is_named: bool = True) -> bytes:
    """Return the contents of a regular file; raises SgfError, which may name it, if it is none or too large."""
    try:
        with open_regular(path) as file:
            data = file.read(-1 if most_bytes is None else most_bytes + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a file name"
        raise SgfError(f"cannot open {shown_path(path)}: {reason}" if is_named else reason) from None
    if most_bytes is not None:
        _check_length(data)
    return data


def parse_sgf(data: bytes) -> SgfRecord:
    """Return the main line of the first game in `data`; raises SgfError for what is not a record of Go.

    Stones and moves are on the board; whether moves are legal is checked by `record_to_game`.
    """
    text, _ = text_of_record(data)
    game = first_game(as_utf_8(text.removeprefix("\ufeff")), TextNode)
    return record_of(main_line_from(game.nodes[0]), game.notes, game.cut)


def game_of(data: bytes | str, move_number: int | None = None) -> Game:
    """Return the game of a record as far as it can be played, or the position before a move; raises SgfError."""
    raw = data.encode("utf-8", "replace") if isinstance(data, str) else data
    return play_record(parse_sgf(raw), move_number=move_number)[0]


def text_of_record(data: bytes) -> tuple[str, str]:
    """Return a record as text, and its encoding, as `encodings.text_of` does; raises SgfError if it is long."""
    _check_length(data)
    return text_of(sgf_of(data))


def first_game(data: bytes, make: Callable[[N | None], N]) -> GameText[N]:
    """Return the first game in UTF-8; raises SgfError that names another format, or for a record that is too large."""
    if sum(data.count(mark) for mark in b"(;[") > MAX_TOKENS:
        raise SgfError(f"the SGF record is too large: expected at most {MAX_TOKENS} nodes and values")
    if not has_game(data):
        for beginning, name in _OTHER_FORMATS.items():
            if re.match(rb"\s*(?:%s)" % beginning, data):
                raise SgfError(name, expected="SGF, GIB, NGF or UGF", advice="convert it first")
    game = parse_game(data, make)
    if has_game(data, game.end):
        game.notes.append("the file has several games: the first was taken; to take another, split the file")
    elif _MOVE.search(data, game.end):
        game.notes.append("moves behind the parenthesis that ends the game were left out")
    return game


def record_of(nodes: Sequence[TextNode], notes: Sequence[str] = (), cut: TextNode | None = None) -> SgfRecord:
    """Return the line of these nodes, from the root on, with these notes; raises SgfError for what is not a game of Go.

    `cut` is the node in which the text ends early.
    """
    info = GameInfo(nodes, notes)
    line = _MainLine(info, cut)
    for node in nodes:
        if node.raw or node is cut:
            line.add(node)
    handicap, rules = info.handicap(), info.rules()
    stones = tuple(line.board.moves[color][point] for point, color in line.stones.items() if color != EMPTY)
    if handicap and not stones:
        handicap, stones = _handicap_without_stones(handicap, line, rules, info)
    elif handicap and len(stones) != handicap:
        set_up = counted(len(stones), "stone")
        info.note(f"handicap {handicap} does not fit the {set_up} set up; the stones count")
    if handicap and stones:
        handicap = len(stones) if all(stone.color == BLACK for stone in stones) else 0
    return SgfRecord(
        width=line.board.width,
        height=line.board.height,
        komi=info.komi(),
        rules=rules,
        handicap=handicap,
        setup_stones=stones,
        first_player=line.first_player or usual_first_player(stones, line.moves),
        moves=tuple(line.moves),
        later_setups=tuple(line.later_setups),
        black_name=info.texts.get("PB"),
        white_name=info.texts.get("PW"),
        result=info.result(),
        black_rank=info.texts.get("BR"),
        white_rank=info.texts.get("WR"),
        date=info.texts.get("DT"),
        notes=(*info.notes, *line.end_note),
        is_cut=line.is_cut,
    )


def _check_length(data: bytes) -> None:
    if not isinstance(data, bytes):
        raise ArgumentError(f"record {shown(data)}", expected="bytes or text", advice="read the file first")
    if len(data) > MAX_BYTES:
        raise SgfError(f"the SGF record is too long: expected at most {MAX_BYTES} bytes")


class GameInfo:
    """The properties of the whole game, each from the first node of the main line that has it.

    They belong into the root, but SGF allows them elsewhere.  `notes` collects messages about what was not used.
    """

    def __init__(self, nodes: Sequence[TextNode], notes: Sequence[str]) -> None:
        self.notes: Final[list[str]] = list(notes)
        self.texts: Final[dict[str, str]] = {}
        """The first value of each property on one line, without blanks around it, unless it is empty."""
        self.may_be_refused = len(nodes) > MAX_MOVES
        """Whether `record_of` may refuse the line all the same: for its length, or for set-ups behind the root."""
        has_begun = False
        for node in nodes:
            raw = node.raw
            if len(raw) == 1 and ("B" in raw or "W" in raw):  # as nearly all
                has_begun = True
                continue
            if node is not nodes[0] and not _SETUP.isdisjoint(raw):
                self.may_be_refused = True
            for name in raw:
                if name not in _GAME_INFO:
                    continue
                if name == "KO" and has_begun and node.moves:
                    continue  # here it is not the komi: the move counts though a ko forbids it
                # Terminals and front ends show names and results, so control characters in them become blanks.
                given = [values.one_line(values.unescaped(text)).strip() for text in node.texts(name)]
                text = " ".join(given).strip() if name == "AP" else given[0]
                if text and not (has_begun and name == "SZ"):
                    self.texts.setdefault(name, text)
                known = self.texts.get(name, "")
                others = [other for other in given if other not in ("", known)]
                if known and others and name in _ONCE:
                    self.note(f"{name} is given several times: {shown(known)} counts, {shown(others[0])} does not")
            has_begun = has_begun or not _BEGINNINGS.isdisjoint(raw)
        game = self.texts.get("GM")
        if game is not None and not _names_go(game):
            if re.fullmatch(r"\W*[0-9]+\W*", game) or _OTHER_GAMES.search(game.lower()):
                raise SgfError(f"the record is of another game, GM[{shown(game)[1:-1]}]", expected="GM[1], Go")
            self.note(f"game {shown(game)} is not known; Go was taken")

    def note(self, text: str) -> None:
        """Add a message, unless it is known or there are many."""
        if text not in self.notes and len(self.notes) < MOST_NOTES:
            self.notes.append(text)

    def size(self) -> tuple[int, int]:
        """Return (width, height); raises SgfError for a board that no game can have."""
        text = self.texts.get("SZ") or _DEFAULT_SIZE
        if not values.names_a_size(text):
            self.note(f"board size {shown(text)} is not a number; {_DEFAULT_SIZE} was taken")
            text = _DEFAULT_SIZE
        return values.parse_size(text)

    def komi(self) -> float | None:
        """Return the komi in points: from KM, or else from KO (some Asian servers) or RU (older versions of KataGo).

        The Fox server writes 0 for even games with the usual komi, too; where Black begins without komi, HA is 1.
        """
        text, application = self.texts.get("KM") or self.texts.get("KO"), self.texts.get("AP") or ""
        if text is None:
            return values.komi_of_rules(self.texts.get("RU") or "")
        komi = values.parse_komi(text)
        if komi is None:
            if self.texts.get("KM") is not None:
                self.note(f"komi {shown(text)} is not a number and was ignored")
            return None
        if komi == 0 and values.FOX in application.lower() and self.texts.get("HA") in (None, "0"):
            meant = (self.rules() or PRESETS["japanese"]).default_komi()
            self.note(f"komi 0 of an even game on the Fox server was read as the usual {meant:g} points")
            return meant
        if application.startswith("Tengen"):
            return komi
        meant = values.usual_komi(komi, application)
        if meant != komi and not values.writes_hundredths(application):
            self.note(f"komi {shown(text)} was read as {meant:g} points, which it must mean")
        elif meant % 0.5:
            self.note(f"komi {shown(text)} is neither a whole number of points nor a half")
        width, height = self.size()
        if abs(meant) > width * height:
            self.note(f"komi {shown(text)} is more than the board has points")
        return meant

    def rules(self) -> Rules | None:
        """Return the rules, None if they are unknown."""
        text = self.texts.get("RU")
        rules = None if text is None else values.parse_rules(text)
        if text is not None and rules is None:
            self.note(f"rules {shown(text)} are unknown and were ignored")
        return rules

    def handicap(self) -> int:
        """Return the number of handicap stones, 0 for none."""
        text = self.texts.get("HA")
        handicap = 0 if text is None else values.parse_handicap(text)
        if handicap is None:
            self.note(f"handicap {shown(text or '')} is not a number and was ignored")
        return handicap or 0

    def result(self) -> str | None:
        """Return the result, with stones as points."""
        text = self.texts.get("RE")
        if text is not None and values.parse_result(text) is None and not values.is_no_result(text):
            self.note(f"result {shown(text)} was not understood")
        return None if text is None else values.result_in_points(text)


def _names_go(text: str) -> bool:
    """Return whether a GM value names the game of Go: by its number, 1, or in words."""
    number = re.match(r"\W*([0-9]+)", text)
    if number is not None:
        return int(number[1][:9]) == 1
    return not _GAME_NAMES.isdisjoint(re.findall(r"[^\W\d_]+", text.lower()))


class _MainLine:
    """The stones and moves of the nodes added so far.

    `stones` are the colours by point of the position before the first move.
    """

    def __init__(self, info: GameInfo, cut: TextNode | None) -> None:
        self.board: Final = board_of(*info.size())
        self.stones: Final[dict[int, int]] = {}
        self.first_player: Color | None = None
        self.moves: Final[list[Move]] = []
        self.later_setups: Final[list[LaterSetup]] = []
        self.is_cut = False
        self.end_note: tuple[str, ...] = ()
        self._setup_room = MAX_SETUP_POINTS
        self._cut: Final = cut
        self._info: Final = info

    def add(self, node: TextNode) -> None:
        """Add a node: first its set-up, then its moves (SGF forbids both in one node, programs do it).

        A set-up that only says what its move does, such as which stones are captured, comes after that.
        """
        if self.is_cut:
            return
        raw = node.raw
        has_setup = not _SETUP.isdisjoint(raw)
        if not has_setup and node is not self._cut:
            name = "B" if "B" in raw else "W"
            if name not in raw:
                return
            move = self.board.usual_moves[name].get(raw[name][0])
            if move is not None and node.moves == 1 and len(self.moves) < MAX_MOVES:
                self.moves.append(move)
                return
        is_after = has_setup and _describes_move(node)
        if has_setup and not is_after:
            self._add_setup(node)
        before = len(self.moves)
        for name, text in node.move_texts():
            self._add_move(name, text)
        if has_setup and is_after and len(self.moves) > before:
            self._add_setup(node)
        self.is_cut |= node is self._cut

    def _add_move(self, name: str, text: str) -> None:
        """Add a move of a node."""
        if self.is_cut:
            return
        if len(self.moves) >= MAX_MOVES:
            raise SgfError(f"the SGF record has too many moves: expected at most {MAX_MOVES}")
        try:
            move = self.board.move(name, text)
        except SgfError as error:
            self.end_note = (f"move {len(self.moves) + 1}: {error}; what follows was left out",)
            self.is_cut = True
            return
        self.moves.append(move)
        if move.point == PASS and not self.board.is_usual_pass(text):
            self._info.note(f"move {len(self.moves)}: point {shown(text)} is beyond the board and was read as a pass")

    def _add_setup(self, node: TextNode) -> None:
        black, white, emptied = (self._points(node.texts(name), name) if name in node.raw else () for name in _STONES)
        named = len(black) + len(white) + len(emptied)
        self._setup_room += SETUP_POINTS_OF_VALUE * sum(len(node.raw.get(name, ())) for name in _STONES) - named
        if self._setup_room < 0:
            expected = f"at most {MAX_SETUP_POINTS}, and {SETUP_POINTS_OF_VALUE} for each value"
            raise SgfError("the SGF record sets up too many points", expected=expected)
        if named not in (len(black), len(white), len(emptied)) and len({*black, *white, *emptied}) < named:
            self._info.note("a point is in two of AB, AW and AE: the last of them counts")
            white = tuple(filterfalse({*emptied}.__contains__, white))
            black = tuple(filterfalse({*emptied, *white}.__contains__, black))
        player = self._player(node.texts("PL"))
        if not self.moves:
            for points, color in ((black, BLACK), (white, WHITE), (emptied, EMPTY)):
                self.stones.update(dict.fromkeys(points, color))
            self.first_player = player or self.first_player
        elif named or player:
            if len(self.later_setups) >= MAX_LATER_SETUPS:
                raise SgfError(f"the SGF record has too many set-up nodes: expected at most {MAX_LATER_SETUPS}")
            moves = self.board.moves
            stones = *map(moves[BLACK].__getitem__, black), *map(moves[WHITE].__getitem__, white)
            self.later_setups.append(LaterSetup(len(self.moves), stones, emptied, player))

    def _player(self, texts: Sequence[str]) -> Color | None:
        """Return the colour of a PL value, None if it is absent or invalid."""
        player = values.parse_player(texts[0]) if texts else None
        if texts and player is None:
            self._info.note(f"player {shown(texts[0])} is not B or W and was ignored")
        return player

    def _points(self, texts: Sequence[str], name: str) -> tuple[int, ...]:
        """Return the points of a list such as AB's, as far as they are on the board."""

        def note(error: SgfError) -> None:
            self._info.note(f"{name}: {error}; it was left out")

        return self.board.points(texts, note)


def _describes_move(node: TextNode) -> bool:
    """Return whether the set-up of a node puts nothing but its moves' stones, and takes off single points but these.

    A side to play is said before a move.
    """
    if "PL" in node.raw or not (moves := node.move_texts()):
        return False
    stones = {(color, text) for color in "BW" for text in node.texts(f"A{color}")}
    points, emptied = {text for _, text in moves}, node.texts("AE")
    return stones <= {*moves} and points.isdisjoint(emptied) and all(len(text) == 2 for text in emptied)


def _handicap_without_stones(
    handicap: int, line: _MainLine, rules: Rules | None, info: GameInfo
) -> tuple[int, tuple[Move, ...]]:
    """Return the handicap of a record that has HA without AB, 0 if it is ignored, and its stones.

    Some programs record them as Black's first moves: then they stay moves.  Others (the Fox server, at times) omit the
    stones if they are on the fixed points; this is assumed if White moves first, and the moves can be played then.
    """
    by_black = takewhile(lambda move: move.color == BLACK or move.point == PASS, line.moves)
    leading = sum(move.color == BLACK and move.point != PASS for move in by_black)
    if leading >= handicap:
        return handicap, ()
    if line.moves and line.moves[0].color == WHITE:
        try:
            points = fixed_handicap_points(handicap, line.board.width, line.board.height)
        except HandicapError:
            points = ()
        stones = tuple(line.board.moves[BLACK][point] for point in points)
        if stones and _can_be_played(line, stones, rules):
            info.note(f"handicap {handicap} without stones: the fixed points were assumed")
            return handicap, stones
    info.note(f"handicap {handicap} without stones was ignored")
    return 0, ()


def _can_be_played(line: _MainLine, stones: tuple[Move, ...], rules: Rules | None) -> bool:
    """Return whether the moves, up to a change of the position, can be played after handicap `stones`."""
    end = line.later_setups[0].move_index if line.later_setups else len(line.moves)
    width, height = line.board.width, line.board.height
    trial = SgfRecord(width, height, None, rules, 0, stones, Color.WHITE, tuple(line.moves[:end]))
    return not play_record(trial)[1].is_cut
