r"""Records of other servers as SGF: GIB (Tygem), NGF (Cyberoro, WBaduk) and UGF (Pandanet), known by their content.

GIB has a head of tags and a line for each move; lines of a set-up give the handicap, passes are SKI:

    \HS
    \[GAMEBLACKNAME=Ann (3D)\]
    \[GAMEINFOMAIN=GBKIND:3,GTYPE:0,GRLT:0,ZIPSU:45,DUM:0,GONGJE:65,TCNT:119\]
    \[GAMETAG=S1,R3,D5,G65,W0,Z45,T30-3-1200,C2016:03:26:17:29\]
    \HE
    \GS
    INI 0 1 3 &4
    STO 0 2 2 15 15

GRLT (or W) is how the game ended: 0 and 1 by points, 3 and 4 by resignation, 7 and 8 on time, Black winning first;
ZIPSU (Z) is the margin and GONGJE (G) the komi, in tenths of points.  Points are column and row from the upper left
corner, from 0 on.

NGF has twelve lines, then the moves: title, size, White and Black with their ranks, site, handicap, a number, komi
without its half, date, minutes, result in words, number of moves.

    PMABBQEEQ

is the first move (AB), of Black, on the point QE, written twice; column and row begin with B, AA is a pass.

In some files every line before the moves begins with GI: title, two players, two empty lines, date, size, handicap,
a number, komi, number of moves.

UGF has sections of lines; a handicap and komi, a winner and how (C by resignation), and for each move a point, its
color, number and seconds.  Stones before the game have the number 0; a point beyond the board, such as YA, is a pass:

    [Header]
    Size=19
    Hdcp=0,6.50
    Winner=B,C
    CoordinateType=IGS
    PlayerB=Ann,3d,,
    [Data]
    QP,B1,1,0

The letters are column and row, from the lower left corner if the coordinates are those of IGS, else from the upper
left one.

The formats are described by the programs that read them: Sabaki, xyz2sgf and A. E. Brouwer's ngf2sgf and ugi2sgf.
"""

import contextlib
import html
import re
from codecs import BOM_UTF8
from typing import Final

from gtp_engine.base.errors import HandicapError, SgfError, of_kind, shown
from gtp_engine.base.files import json_of
from gtp_engine.go.coords import Point
from gtp_engine.go.handicap import fixed_handicap_points
from gtp_engine.sgf.foreign.encodings import encoding_of, utf_16
from gtp_engine.sgf.values import escaped, parse_result

_GIB: Final = re.compile(rb"\\HS|\\GS|\\\[GAME|(?:INI|STO)\s+\d+\s+\d+\s+\d\s")
_NGF: Final = re.compile(rb"[^\n]*\n(?:[ \t]*\d{1,2}[ \t]*\n|GI)(?s:.){0,2000}?\n[ \t]*PM[A-Z]{2}[BW]")
_UGF: Final = re.compile(rb"(?:#[^\n]*\n|\s)*\[Header\]\s*\n", re.IGNORECASE)
_HEAD: Final = 4_000
"""Bytes by which formats are known."""
_LINE_END: Final = re.compile(rb"\r+\n|\n\r|\r")

_ENTITIES: Final = re.compile(
    rb"(?:\(|&#40;|&#x28;|&lpar;)\s*(?:;|&#59;|&#x3b;|&semi;)\s*[A-Za-z]{1,20}\s*(?:\[|&#91;|&#x5b;|&lsqb;|&lbrack;)",
    re.IGNORECASE,
)
_LATIN_GAME: Final = re.compile(rb"\(\s*;\s*[A-Za-z]{1,20}\s*\[")
"""How a record begins in a page that writes some characters as entities, and how it begins otherwise."""

_TAG: Final = re.compile(r"\\\[([A-Z]+)=(.*?)\\\]", re.DOTALL)
_RANK: Final = re.compile(r"(.*?)\s*\(([^()]*)\)\s*")
_GIB_MOVE: Final = re.compile(r"\s*(?:STO\s+\d+\s+\d+\s+([12])\s+(\d{1,9})\s+(\d{1,9})|SKI\s+\d+\s+(\d+))")
_GIB_HANDICAP: Final = re.compile(r"^\s*INI\s+\d+\s+\d+\s+(\d)\b", re.MULTILINE)
_GIB_DATE: Final = re.compile(r"\bC(\d{4}):\s?(\d{1,2}):\s?(\d{1,2})|GDATE:(\d{4})-\s?(\d{1,2})-\s?(\d{1,2})")
_GIB_RESULTS: Final = {0: "B+{}", 1: "W+{}", 3: "B+R", 4: "W+R", 7: "B+T", 8: "W+T"}
_GIB_SIZE: Final = 19
_KOREAN: Final = "Korean"
"""The rules of the Korean servers, whose records do not name any."""

_NGF_MOVE: Final = re.compile(r"\s*PM..([BW])([A-Z])([A-Z])")
_NGF_LINES: Final = 12
_NGF_RANK: Final = re.compile(r"(.*?)\s+(\S{1,4})\s*")
_NGF_INFO: Final = re.compile(r"\s*GI")
_UGF_MOVE: Final = re.compile(r"\s*([A-Z])([A-Z])\s*,\s*([BW])\w*\s*,\s*(\d+)?", re.IGNORECASE)
_UGF_WINS: Final = {"C": "R", "T": "T", "F": "F"}
"""How a game ends in UGF other than by points, and in SGF."""
_LANGUAGES: Final = {"sjis": "cp932", "eucjp": "euc_jp", "big5": "big5hkscs", "gb": "gb18030", "kr": "cp949"}
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


def sgf_of(data: bytes) -> bytes:
    """Return a record in GIB, NGF or UGF, in a page's entities or as the server keeps it, as SGF; else as it is."""
    if b"&" in of_kind(data, bytes, "record") and not _LATIN_GAME.search(data) and _ENTITIES.search(data):
        return html.unescape(data.decode(encoding_of(data), "replace")).encode("utf-8", "replace")
    wide = utf_16(data)
    plain = (data.decode(wide, "replace").encode("utf-8", "replace") if wide else data).removeprefix(BOM_UTF8)
    if plain.startswith(b"{"):
        with contextlib.suppress(ValueError, TypeError, LookupError):
            return str(json_of(plain)["sgf"]).encode()
    if plain[:_HEAD].lstrip().startswith(b"("):
        return data
    plain = _LINE_END.sub(b"\n", plain)
    for lines in (plain, plain.lstrip()):
        for format_, read in ((_GIB, _read_gib), (_NGF, _read_ngf), (_UGF, _read_ugf)):
            if format_.match(lines[:_HEAD]):
                return read(_text_of(lines)).encode("utf-8")
    return data


def _text_of(data: bytes) -> str:
    """Return a record as text; UGF names its encoding as a language."""
    language = re.search(rb"\nLang=([\w-]{1,20})", data[:_HEAD])
    encoding = encoding_of(data)
    if language is not None and encoding != "utf-8":
        encoding = _LANGUAGES.get(language[1].decode().lower().replace("-", "").replace("_", ""), encoding)
    return data.decode(encoding, "replace").removeprefix("\ufeff")


def _read_gib(text: str) -> str:
    tags = {found[1]: found[2].strip() for found in _TAG.finditer(text)}
    main, rest = tags.get("GAMEINFOMAIN", ""), "," + tags.get("GAMETAG", "")
    root = {"SZ": str(_GIB_SIZE), "RU": _KOREAN, "EV": tags.get("GAMENAME", ""), "PC": tags.get("GAMEPLACE", "")}
    for color, side in (("B", "BLACK"), ("W", "WHITE")):
        name = tags.get(f"GAME{side}NAME", "")
        parts = _RANK.fullmatch(name)
        root[f"P{color}"], root[f"{color}R"] = parts.groups() if parts else (name, "")
        root[f"P{color}"] = root[f"P{color}"] or tags.get(f"GAME{side}NICK", "")
    komi = _number(main, "GONGJE:", rest, ",G")
    if komi is not None:
        root["KM"] = f"{komi / 10:g}"
    ending, margin = _number(main, "GRLT:", rest, ",W"), _number(main, "ZIPSU:", rest, ",Z")
    if ending in _GIB_RESULTS:
        root["RE"] = _GIB_RESULTS[ending].format(f"{(margin or 0) / 10:g}" if margin else "")
    root["DT"] = _date(_GIB_DATE.search(rest) or _GIB_DATE.search(tags.get("GAMEINFOSUB", "")))
    handicap = _GIB_HANDICAP.search(text)
    moves: list[str] = []
    color = "W" if handicap and int(handicap[1]) > 1 else "B"
    for line in text[handicap.end() if handicap else 0 :].splitlines():
        if move := _GIB_MOVE.match(line):
            if move[1]:
                color = "B" if move[1] == "1" else "W"
            moves.append(f";{color}[{'' if move[1] is None else _point(int(move[2]), int(move[3]))}]")
            color = "W" if color == "B" else "B"
    return _record(root, int(handicap[1]) if handicap else 0, moves, _GIB_SIZE)


def _read_ngf(text: str) -> str:
    lines = text.split("\n")  # as bytes are told to be NGF: a form feed ends no line
    head = [line.strip() for line in [*lines, *[""] * _NGF_LINES][:_NGF_LINES]]
    title, size, white, black, site, handicap, _, komi, date, _, result, _ = head
    if _NGF_INFO.match(title):
        title, white, black, site, _, date, size, handicap, _, komi, _, _ = (_NGF_INFO.sub("", line) for line in head)
        result = ""
    if not re.fullmatch(r"\d{1,2}", size):
        raise SgfError(f"board size {shown(size)} of a record in NGF", expected="a number of lines")
    stones = int(handicap) if re.fullmatch(r"\d{1,2}", handicap) else 0
    root = {"SZ": size, "RU": _KOREAN, "EV": title, "PC": site, "RE": _ngf_result(result)}
    for color, player in (("B", black), ("W", white)):
        parts = _NGF_RANK.fullmatch(player)
        root[f"P{color}"], root[f"{color}R"] = parts.groups() if parts else (player, "")
        root[f"{color}R"] = root[f"{color}R"].rstrip("*").lower()
    if re.fullmatch(r"-?\d{1,3}", komi):
        root["KM"] = komi if stones else f"{komi}.5"
    root["DT"] = _date(re.match(r"(\d{4})(?:-?(\d\d)-?(\d\d)|-(\d\d?)-(\d\d?))", date))
    moves = []
    for line in lines:
        if move := _NGF_MOVE.match(line):
            column, row = ord(move[2]) - ord("B"), ord(move[3]) - ord("B")
            moves.append(f";{move[1]}[{'' if column < 0 and row < 0 else _point(column, row)}]")
    return _record(root, stones, moves, int(size), is_ngf=True)


def _read_ugf(text: str) -> str:
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.split("\n"):
        if found := re.fullmatch(r"\s*\[(\w+)\]\s*", line):
            lines = sections.setdefault(found[1].lower(), [])
        else:
            lines.append(line)
    pairs = (line.partition("=") for line in sections["header"])
    head = {name.strip().lower(): value.strip() for name, _, value in pairs}
    fields = {name: [part.strip() for part in f"{value},".split(",")] for name, value in head.items()}
    size = head.get("size") or str(_GIB_SIZE)
    if not re.fullmatch(r"\d{1,2}", size):
        raise SgfError(f"board size {shown(size)} of a record in UGF", expected="a number of lines")
    handicap, komi, *_ = fields.get("hdcp", ["", ""])
    winner, reason, *_ = fields.get("winner", ["", ""])
    root = {"SZ": size, "HA": handicap.lstrip("0"), "KM": komi, "RU": head.get("rule", ""), "PC": head.get("place", "")}
    root["EV"] = ", ".join(part for part in fields.get("title", []) if part)
    for color in ("B", "W"):
        root[f"P{color}"], root[f"{color}R"], *_ = fields.get(f"player{color.lower()}", ["", ""])
    root["RE"] = parse_result(f"{winner}+{_UGF_WINS.get(reason[:1].upper(), reason)}") or "" if winner in "BW" else ""
    root["DT"] = fields.get("date", [""])[0].replace("/", "-").strip("-")
    is_upward = head.get("coordinatetype", "").upper() == "IGS"
    moves: list[str] = []
    stones: dict[str, str] = {"B": "", "W": ""}
    for line in sections.get("data", []):
        if move := _UGF_MOVE.match(line):
            column, row = (ord(letter) - ord("A") for letter in (move[1].upper(), move[2].upper()))
            row = int(size) - 1 - row if is_upward else row
            is_on_board = 0 <= column < int(size) and 0 <= row < int(size)
            color, point = move[3].upper(), _point(column, row) if is_on_board else ""
            if not moves and move[4] is not None and int(move[4]) == 0 and is_on_board:
                stones[color] += f"[{point}]"
            else:
                moves.append(f";{color}[{point}]")
    set_up = "".join(f"A{color}{points}" for color, points in stones.items() if points)
    return _record(root, 0, [set_up, *moves], int(size))


def _date(found: re.Match[str] | None) -> str:
    """Return a date of year, month and day as SGF writes it, "" for none."""
    return "" if found is None else "{}-{:02}-{:02}".format(*map(int, filter(None, found.groups())))


def _number(main: str, name: str, rest: str, letter: str) -> int | None:
    """Return the integer after a name in the main tag, or else after a letter in the other one."""
    found = re.search(rf"{name}(-?\d{{1,9}})", main) or re.search(rf"{letter}(-?\d{{1,9}})", rest)
    return int(found[1]) if found else None


def _point(column: int, row: int) -> str:
    """Return a point as SGF writes it; "?" for what is on no board."""
    return "".join(_LETTERS[place] if 0 <= place < len(_LETTERS) else "?" for place in (column, row))


def _record(root: dict[str, str], handicap: int, moves: list[str], size: int, *, is_ngf: bool = False) -> str:
    """Return a record; the handicap stones are on their usual points."""
    properties = "".join(f"{name}[{escaped(value)}]" for name, value in root.items() if value)
    stones = ""
    if handicap > 1:
        points = list[int]()
        with contextlib.suppress(HandicapError):
            points += fixed_handicap_points(handicap, size, size)
        if is_ngf and handicap == 3 and size == _GIB_SIZE:  # there the third one is in the lower right corner
            points = [Point(vertex) for vertex in ("Q16", "D4", "Q4")]
        if points:
            stones = f"HA[{handicap}]AB" + "".join(f"[{Point(point, size).sgf}]" for point in points)
    return f"(;FF[4]GM[1]CA[UTF-8]{properties}{stones}\n{''.join(moves)})\n"


def _ngf_result(text: str) -> str:
    """Return the result in words as SGF writes it, "" for none."""
    text = text.split(">>")[0].strip().replace("子", "目")  # they are points here
    return parse_result(text) or parse_result(f"{text}勝") or ""
