"""Guesses the encoding of a record in Chinese, Japanese or Korean that does not name it, from words about Go.

Many programs wrote such records in the encoding of their system, without CA.  In Latin-1, SGF's default, names and
results are garbled, and a second byte that looks like "]" or a backslash breaks the record.
"""

from typing import Final

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


def guessed_encoding(data: bytes) -> str | None:
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
