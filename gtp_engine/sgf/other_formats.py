r"""Records of other servers as SGF: GIB (Tygem) and NGF (Cyberoro, WBaduk), known by their content.

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

The formats are described by the programs that read them: Sabaki, xyz2sgf and A. E. Brouwer's ngf2sgf.
"""

import re
from codecs import BOM_UTF8
from typing import Final
from urllib.parse import unquote_to_bytes

from gtp_engine.errors import HandicapError, SgfError, problem, shown
from gtp_engine.go.coords import parse_vertex
from gtp_engine.go.handicap import fixed_handicap_points
from gtp_engine.sgf.text_encoding import encoding_of, utf_16
from gtp_engine.sgf.values import escaped, format_point, parse_result

_GIB: Final = re.compile(rb"\\HS|\\\[GAME")
_NGF: Final = re.compile(rb"[^\r\n]*\r?\n\s*\d{1,2}\s*\r?\n(?s:.){0,2000}?\nPM[A-Z]{2}[BW]")

_UTF_32: Final = {
    "utf-32-le": re.compile(rb"\xff\xfe\0\0|[(;\s\\]\0\0\0"),
    "utf-32-be": re.compile(rb"\0\0\xfe\xff|\0\0\0[(;\s\\]"),
}
"""How records in UTF-32 begin."""
_BRACES: Final = re.compile(rb"\s*\{\s*;\s*[A-Za-z]{1,20}\s*\[")
_LINK: Final = re.compile(rb"\s*(?:data:[\w/.+;=-]{0,100},)?(?:\(|%28)(?:%20|%0[AD])*%3B", re.IGNORECASE)
"""How a record begins as a part of an address writes it."""

_TAG: Final = re.compile(r"\\\[([A-Z]+)=(.*?)\\\]", re.DOTALL)
_RANK: Final = re.compile(r"(.*?)\s*\(([^()]*)\)\s*")
_GIB_MOVE: Final = re.compile(r"\s*(?:STO\s+\d+\s+\d+\s+([12])\s+(\d{1,9})\s+(\d{1,9})|SKI\s+\d+\s+(\d+))")
_GIB_HANDICAP: Final = re.compile(r"^\s*INI\s+\d+\s+\d+\s+(\d)\b", re.MULTILINE)
_GIB_DATE: Final = re.compile(r"\bC(\d{4}):\s?(\d{1,2}):\s?(\d{1,2})|GDATE:(\d{4})-\s?(\d{1,2})-\s?(\d{1,2})")
_GIB_RESULTS: Final = {0: "B+{}", 1: "W+{}", 3: "B+R", 4: "W+R", 7: "B+T", 8: "W+T"}
_GIB_SIZE: Final = 19

_NGF_MOVE: Final = re.compile(r"PM..([BW])([A-Z])([A-Z])")
_NGF_LINES: Final = 12
_NGF_RANK: Final = re.compile(r"(.*?)\s+(\S{1,4})\s*")
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


def sgf_of(data: bytes) -> bytes:
    """Return a record in GIB or NGF, in UTF-32, or in a link, as SGF in UTF-8, and anything else as it is."""
    data = _unwrapped(data)
    wide = utf_16(data)
    plain = data.decode(wide, "replace").encode("utf-8", "replace") if wide else data
    head = plain[:4000].removeprefix(BOM_UTF8).lstrip()
    if head.startswith(b"("):
        return data
    read = _read_gib if _GIB.match(head) else _read_ngf if _NGF.match(head) else None
    if read is None:
        return data
    return read(plain.decode(encoding_of(plain), "replace").removeprefix("\ufeff")).encode("utf-8")


def _unwrapped(data: bytes) -> bytes:
    """Return a record out of UTF-32, the percent signs of a link, or braces; anything else as it is."""
    for encoding, beginning in _UTF_32.items():
        if beginning.match(data):
            data = data.decode(encoding, "replace").encode("utf-8", "replace")
    if _LINK.match(data):
        data = unquote_to_bytes(data)
    return data.translate(bytes.maketrans(b"{}", b"()")) if _BRACES.match(data) else data


def _read_gib(text: str) -> str:
    tags = {found[1]: found[2].strip() for found in _TAG.finditer(text)}
    main, rest = tags.get("GAMEINFOMAIN", ""), "," + tags.get("GAMETAG", "")
    root = {"SZ": str(_GIB_SIZE), "EV": tags.get("GAMENAME", ""), "PC": tags.get("GAMEPLACE", "")}
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
    if date := _GIB_DATE.search(rest) or _GIB_DATE.search(tags.get("GAMEINFOSUB", "")):
        year, month, day = (number for number in date.groups() if number is not None)
        root["DT"] = f"{year}-{int(month):02}-{int(day):02}"
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
    lines = re.split(r"\r?\n", text)  # as bytes are told to be NGF: a form feed ends no line
    head = [line.strip() for line in [*lines, *[""] * _NGF_LINES][:_NGF_LINES]]
    title, size, white, black, site, handicap, _, komi, date, _, result, _ = head
    if not re.fullmatch(r"\d{1,2}", size):
        raise SgfError(problem(f"board size {shown(size)} of a record in NGF", expected="a number of lines"))
    stones = int(handicap) if re.fullmatch(r"\d{1,2}", handicap) else 0
    root = {"SZ": size, "EV": title, "PC": site, "RE": _ngf_result(result)}
    for color, player in (("B", black), ("W", white)):
        parts = _NGF_RANK.fullmatch(player)
        root[f"P{color}"], root[f"{color}R"] = parts.groups() if parts else (player, "")
        root[f"{color}R"] = root[f"{color}R"].rstrip("*").lower()
    if re.fullmatch(r"-?\d{1,3}", komi):
        root["KM"] = komi if stones else f"{komi}.5"
    if re.match(r"\d{8}", date):
        root["DT"] = f"{date[:4]}-{date[4:6]}-{date[6:8]}"
    moves = []
    for line in lines:
        if move := _NGF_MOVE.match(line):
            column, row = ord(move[2]) - ord("B"), ord(move[3]) - ord("B")
            moves.append(f";{move[1]}[{'' if column < 0 and row < 0 else _point(column, row)}]")
    return _record(root, stones, moves, int(size), is_ngf=True)


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
        try:
            points = list(fixed_handicap_points(handicap, size, size))
        except HandicapError:
            points = []
        if is_ngf and handicap == 3 and size == _GIB_SIZE:  # there the third one is in the lower right corner
            points = [parse_vertex(vertex, width=size, height=size) for vertex in ("Q16", "D4", "Q4")]
        if points:
            stones = f"HA[{handicap}]AB" + "".join(f"[{format_point(point, width=size)}]" for point in points)
    return f"(;FF[4]GM[1]CA[UTF-8]{properties}{stones}\n{''.join(moves)})\n"


def _ngf_result(text: str) -> str:
    """Return the result in words as SGF writes it, "" for none."""
    text = text.split(">>")[0].strip().replace("子", "目")  # they are points here
    return parse_result(text) or parse_result(f"{text}勝") or ""
