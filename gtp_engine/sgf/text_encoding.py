"""The encoding of a record: which one it has, and where a collection changes it.

SGF names the encoding in CA.  But in Chinese, Japanese and Korean encodings the second byte of a character may look
like "]" or a backslash, so a file is decoded first and then parsed.  A byte order mark has precedence, then CA if it is
one of the usual encodings, then UTF-8, then one that words about Go suggest, and last Latin-1, SGF's default, in which
any bytes are valid.  UTF-8 is so unlikely to be anything else that a record in it is read so whatever CA says.  Games
of a collection may each name their own.

Many programs wrote records in Chinese, Japanese or Korean in the encoding of their system, without CA.  In Latin-1
names and results are garbled, and a second byte that looks like a bracket breaks the record.
"""

import codecs
import re
from itertools import pairwise
from typing import Final

_CHARSET: Final = re.compile(rb"[;\]]\s*CA\s*\[\s*([A-Za-z0-9_:.\-]{1,40})\s*\]")
_NEXT_CHARSET: Final = re.compile(
    rb"\)\s*(?=\(\s{0,20};(?:(?!\)\s{0,20}\().){0,400}?(?<=[;\]])\s{0,20}CA\s{0,20}\[)", re.DOTALL
)
"""The end of a game if the next one names its encoding in its first 400 bytes; the limits keep the search linear."""
_CODECS: Final = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "big5": "big5hkscs",
    "big5hkscs": "big5hkscs",
    "cp950": "cp950",
    "shift_jis": "cp932",
    "cp932": "cp932",
    "euc_jp": "euc_jp",
    "euc_kr": "cp949",
    "cp949": "cp949",
    "koi8-r": "koi8-r",
    "cp1250": "cp1250",
    "cp1251": "cp1251",
    "cp1252": "cp1252",
    "iso8859-2": "iso8859-2",
    "iso8859-5": "iso8859-5",
    "iso8859-15": "iso8859-15",
}
"""Encodings in CA besides UTF-8 and Latin-1 (Python's canonical names), and the supersets they are read as.

Python's own list also contains codecs that are not text encodings or not supersets of ASCII.
"""

_OTHER_NAMES: Final = {"windows-31j": "cp932"}
"""Registered names of encodings that Python does not know; it knows those with "x-" without that prefix."""

_BYTE_ORDER_MARKS: Final = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UNMARKED: Final = {"utf-16-le": re.compile(rb"(?:\s\0)*\(\0"), "utf-16-be": re.compile(rb"(?:\0\s)*\0\(")}
"""How records in UTF-16 without a byte order mark begin."""

_SINGLE_BYTE: Final = ("iso8859", "koi8", "cp125")
"""Beginnings of the names of encodings in which any bytes are text, so that being valid proves nothing."""

_WIDE: Final = re.compile(rb"[\xe0-\xef][\x80-\xbf]{2}")
_LEAST_WIDE: Final = 2
"""Characters of three bytes that valid UTF-8 must have to be no accident in an encoding of two bytes."""

_CHARACTERS: Final = {
    "gb18030": "黑白胜负盘围棋赛先目中国业余对局轮决职段级贴让韩预选战联届名",
    "big5hkscs": "黑白勝圍棋賽先目中國對局輪級韓選戰屆",
    "cp932": "黒白勝負目碁戦先番半中押因聖名級互持時間切棋",
    "euc_jp": "黒白勝負目碁戦先番半中押因聖名級互持時間切棋段",
    "cp949": "흑백승반집국단급기전호선불계패한중일대회",
}
"""Common characters of records by encoding.  They are those with both bytes above 127, because in Western European text
a byte above 127 is often followed by an ASCII letter."""

_LEAST_KINDS: Final = 2
_LEAST_SHARE: Final = 0.02
"""How many different ones of these characters a record must have, and their least share of its non-ASCII characters.
The share is 5 % or more in comments, and mostly 0 in text that is decoded wrongly."""


def encoding_of(data: bytes) -> str:
    """Return the encoding of a record's first game, as Python names it; see the module's docstring."""
    if wide := _utf_16(data):
        return wide
    data = sections_of(data)[0]
    charset = _CHARSET.search(data)
    name = "" if charset is None else charset[1].decode("ascii").lower().removeprefix("x-")
    try:
        canonical = codecs.lookup(_OTHER_NAMES.get(name, name)).name
    except LookupError:
        canonical = ""
    if data.startswith(codecs.BOM_UTF8) or canonical == "utf-8" or _is_certainly_utf_8(data, canonical):
        # In UTF-8 a broken character never hides a bracket, so the rest of the file can still be read.
        return "utf-8"
    for encoding in (_CODECS.get(canonical), "utf-8" if canonical != "iso8859-1" else None):
        if encoding is not None:
            try:
                data.decode(encoding)
            except UnicodeDecodeError:
                continue
            return encoding
    return (_guessed(data) if canonical != "iso8859-1" else None) or "latin-1"


def sections_of(data: bytes) -> list[bytes]:
    """Return the parts of a collection that have one encoding each: games that name none belong to the one before."""
    if data.startswith(_BYTE_ORDER_MARKS) or _utf_16(data):
        return [data]
    cuts = [end.end() for end in _NEXT_CHARSET.finditer(data)]
    return [data[start:end] for start, end in pairwise([0, *cuts, len(data)])]


def _utf_16(data: bytes) -> str | None:
    """Return which UTF-16 a record is in, None for any other encoding."""
    marks = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
    if data[:2] in marks:
        return marks[data[:2]]
    return next((encoding for encoding, beginning in _UNMARKED.items() if beginning.match(data)), None)


def _is_certainly_utf_8(data: bytes, declared: str) -> bool:
    """Return whether a record is in UTF-8 although CA names another encoding."""
    if not declared or data.isascii():
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return declared.startswith(_SINGLE_BYTE) or len(_WIDE.findall(data)) >= _LEAST_WIDE


def _guessed(data: bytes) -> str | None:
    """Return the encoding of a record that is not in UTF-8, as Python names it; None if nothing suggests one.

    Decoding the record and encoding it again gives the same bytes.
    """
    found: dict[str, int] = {}
    for encoding, characters in _CHARACTERS.items():
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if text.encode(encoding) != data:
            continue
        counts = [text.count(character) for character in characters]
        beyond_ascii = len(text) - len(text.encode("ascii", "ignore"))
        if len(counts) - counts.count(0) >= _LEAST_KINDS and sum(counts) >= _LEAST_SHARE * beyond_ascii:
            found[encoding] = sum(counts)
    return max(found, key=lambda encoding: found[encoding], default=None)
