"""The encoding of a record: which one it has, and where a collection changes it.

SGF names the encoding in CA.  But in Chinese, Japanese and Korean encodings the second byte of a character may look
like "]" or a backslash, so a file is decoded first and then parsed.  A byte order mark has precedence, then CA if it is
one of the usual encodings, then UTF-8, then one that its characters suggest, and last Latin-1, SGF's default, in which
any bytes are valid, or its superset of Windows.  UTF-8 is so unlikely to be anything else that a record in it is read
so whatever CA says, and one of which little is valid UTF-8 is not.  Games of a collection may each name their own.

Many programs wrote records in Chinese, Japanese or Korean in the encoding of their system, without CA.  In Latin-1
names and results are garbled, and a second byte that looks like a bracket breaks the record.  Characters that are
common in names, results and comments tell the encoding.
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
    "iso2022_jp": "iso2022_jp_2",
    "iso2022_kr": "iso2022_kr",
    "hz": "hz",
    "iso8859-9": "cp1254",
    "tis-620": "cp874",
}
"""Encodings in CA besides UTF-8 and Latin-1 (Python's canonical names), and the supersets they are read as.

Python's own list also contains codecs that are not text encodings or not supersets of ASCII.
"""
_OF_ONE_BYTE: Final = re.compile(
    r"koi8-[rtu]|cp125[0-8]|cp(?:437|85[0258]|86[0-6]|874)|iso8859-(?:[2-8]|1[0-6])|mac-\w+"
)
"""Others that may be in CA and are read as they are."""

_BY_DEFAULT: Final = ("iso8859-1", "cp1252")
"""What programs write in CA whatever the text is in."""

_OTHER_NAMES: Final = {"windows-31j": "cp932"}
"""Registered names of encodings that Python does not know; it knows those with "x-" without that prefix."""

_SHIFTS: Final = {b"\x1b$)C": "iso2022_kr", b"\x1b$B": "iso2022_jp_2", b"\x1b$@": "iso2022_jp_2"}
"""The sequences by which records in ISO 2022 turn to Korean or Japanese; nothing else has them."""

_BYTE_ORDER_MARKS: Final = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_NO_TEXT: Final = re.compile(rb"[\0-\x06\x10-\x19]")
"""Control characters that no text has: not white space, nor the shifts of ISO 2022, nor the end of a file under DOS."""

_UNMARKED: Final = {"utf-16-le": re.compile(rb"(?:\s\0)*\(\0"), "utf-16-be": re.compile(rb"(?:\0\s)*\0\(")}
"""How records in UTF-16 without a byte order mark begin."""

_SAMPLE: Final = 1_000
_LEAST_ZEROS: Final = 0.3
_MOST_ZEROS: Final = 0.05
"""Shares of zeros in the first and in the second bytes of such a record, within its first bytes."""

_SINGLE_BYTE: Final = ("iso8859", "koi8", "cp125", "cp4", "cp8", "mac", "tis")
"""Beginnings of the names of encodings in which any bytes are text, so that being valid proves nothing."""

_WIDE: Final = re.compile(rb"[\xe0-\xef][\x80-\xbf]{2}")
_WINDOWS: Final = re.compile(rb"[\x80-\x9f]")
"""Control characters in Latin-1, which no text has; quotes and dashes in the superset that Windows uses."""

_LEAST_WIDE: Final = 2
"""Characters of three bytes that valid UTF-8 must have to be no accident in an encoding of two bytes."""

_JAPANESE: Final = (
    "黒白勝負目碁戦先番半中押因聖名級互持時間切棋段佐藤鈴木高橋田伊渡辺山本村小林加吉井松斎清水崎森池阿部石前川原岡長谷後"
    "近坂遠青西福太三浦金和上野竹内島大塚平柴酒宮武今丸増安河杉千葉桜久保菊矢新市関荒横張栩羽根直樹結城聡依紀基治勲趙光一"
    "力遼虎芝許家元潤永訓秀哲裕介子美恵智彦男雄夫正幸弘明博隆郎次二四五六七八九十坊人王座天星道知文則昭英敏健司俊宏信義徳"
    "昌泉土岩藍梅影沢東南北溝片古謝洪淸仲邑宗達策丈節察仙角幻庵雁準呉源修格壽行常輝雅之慎也翔真希那央奈菜沙由香里理"
)
_COMMON: Final = {
    "gb18030": (
        "半黑白胜负盘围棋赛先目中国业余对局轮决职段级贴让韩预选战联届名王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢唐冯于董"
        "萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔崔康毛邱秦江史顾侯邵孟龙万雷钱汤"
        "尹黎易常武乔贺赖龚文柯古芈时连党檀伟芳娜敏静丽强磊军洋勇艳杰娟涛明超秀霞平刚桂英华玉萍红兰建志海波宇鹏飞辉浩天峰俊晓"
        "东春洁昊廷毅笑昕睿羽瑞豪博然琪泽宁昱辰思嘉子梓涵欣怡诗阳雪梅琳佳慧凯旭斌健鑫洪光德永福生荣学祥才发成星达安岩茂进有坚"
        "和彪诚敬震振壮会群心邦承乐绍功松善厚庆民友裕河哲亮政谦亨奇固之翰朗伯宏言若鸣朋栋维启克伦翔晨士以家致树炎圣立卫美清小"
        "元大"
    ),
    "big5hkscs": (
        "半黑白勝圍棋賽先目中國對局輪級韓選戰屆王李張劉陳楊趙黃周吳徐孫胡朱高林何郭馬羅梁宋鄭謝唐馮于董蕭程曹袁鄧許傅沈曾彭呂蘇"
        "盧蔣蔡賈丁魏薛葉閻余潘杜戴夏鍾汪田任姜范方石姚譚廖鄒熊金陸郝孔崔康毛邱秦江史顧侯邵孟龍萬段雷錢湯尹黎易常武喬賀賴龔文"
        "柯古偉芳娜敏靜麗強磊軍洋勇艷傑娟濤明超秀霞平剛桂英華玉萍紅蘭建志海波宇鵬飛輝浩天峰俊曉東春潔昊廷毅笑昕睿羽瑞豪博然琪"
        "澤寧昱辰思嘉子梓涵欣怡詩陽雪梅琳佳慧凱旭斌健鑫洪光德永福生榮學祥才發成星達安岩茂進有堅和彪誠敬震振壯會群心邦承樂紹功"
        "松善厚慶民友裕河哲亮政謙亨奇固之翰朗伯宏言若鳴朋棟維啟克倫翔晨士以家致樹炎聖立衛美清小元大勳鎬鉉薰賢正昌仁義禮信彥宗"
        "君奕淑雅婷惠"
    ),
    "cp949": (
        "흑백승반집국단급기전호선불계패한중일대회김이박최정강조윤장임오서신권황안송류홍고문양손배허유남심노하곽성차주우구나민"
        "진지엄채원천방공현함변염여추도소석설마길연위표명왕금옥인맹제모탁어은편용예경봉사부수영준희미혜재훈태건규환세돌창목병"
        "종근식열혁빈찬결림란아라동상철보범관광덕두락령률만무별복삼섭숙순슬시애언요웅월율의익자춘충탄택필학해향형화효흥가다리"
        "루스트크"
    ),
    "cp932": _JAPANESE,
    "euc_jp": _JAPANESE,
}
"""Characters that are common in names, results and comments of records, by encoding."""
_KANA: Final = re.compile("[\u3041-\u30fe]")

_FREQUENT: Final = {
    "gb18030": (0xB0, 0xD7),
    "big5hkscs": (0xA4, 0xC6),
    "cp949": (0xB0, 0xC8),
    "cp932": (0x88, 0x97),
    "euc_jp": (0xB0, 0xCF),
}
"""The first bytes of the characters that each encoding has first, because they are the more frequent ones."""

_FREQUENT_COUNTS: Final = 0.4
"""What such a character counts beside one of the common ones."""

_LEAST_MEAN: Final = 0.4
_LEAST_LEAD: Final = 0.1
"""The mean over a record's characters that an encoding must reach, and by how much it must surpass the next.

Names, words and sentences of thirteen languages that are written in single bytes reach it in none of 1,367 cases; of
3,100 names and messages of this program in the five encodings 90% do."""

_MARGIN: Final = 1.0
"""What is taken off the sum, so that a few characters, which may be common by chance, need a greater mean."""

_MOST_BROKEN: Final = 2
"""Places, such as both bytes of a character, that may be damaged in the encoding that CA names."""

_LEAST_KINDS: Final = 2
"""How many different characters beyond ASCII a record must have."""


def encoding_of(data: bytes) -> str:
    """Return the encoding of a record's first game, as Python names it; see the module's docstring."""
    if data.isascii() and not any(mark in data for mark in (b"CA", b"\0", b"\x1b")):
        return "utf-8"
    if wide := utf_16(data):
        return wide
    data = sections_of(data)[0]
    charset = _CHARSET.search(data)
    name = "" if charset is None else charset[1].decode("ascii").lower().removeprefix("x-")
    try:
        canonical = codecs.lookup(_OTHER_NAMES.get(name, name)).name
    except LookupError:
        canonical = ""
    if canonical in _BY_DEFAULT or (canonical == "utf-8" and _is_hardly_utf_8(data)):
        canonical = ""
    if data.startswith(codecs.BOM_UTF8) or canonical == "utf-8" or _is_certainly_utf_8(data, canonical):
        # In UTF-8 a broken character never hides a bracket, so the rest of the file can still be read.
        return "utf-8"
    shifted = next((encoding for shift, encoding in _SHIFTS.items() if shift in data), None)
    named = canonical if _OF_ONE_BYTE.fullmatch(canonical) else _CODECS.get(canonical)
    for encoding, broken in ((shifted, 0), (named, 0), ("utf-8", 0), (named, _MOST_BROKEN)):
        if encoding is not None and _is_valid(data, encoding, broken):
            return encoding
    return _guessed(data) or ("cp1252" if _WINDOWS.search(data) else "latin-1")


def text_of(data: bytes) -> tuple[str, str]:
    """Return a record as text that `encoded` turns back, and its encoding; broken UTF-16 cannot be turned back."""
    encoding = encoding_of(data)
    try:
        return data.decode(encoding, "surrogateescape"), encoding
    except UnicodeDecodeError:
        return data.decode(encoding, "replace"), encoding


def encoded(text: str, encoding: str) -> bytes:
    """Return text as the bytes of a record; bytes that could not be decoded are restored."""
    return text.encode(encoding, "surrogateescape")


def as_utf_8(text: str) -> bytes:
    """Return decoded text in UTF-8, with what could not be decoded."""
    return text.encode("utf-8", "surrogatepass")


def as_text(data: bytes) -> str:
    """Return the text of which `as_utf_8` made these bytes."""
    return data.decode("utf-8", "surrogatepass")


def sections_of(data: bytes) -> list[bytes]:
    """Return the parts of a collection that have one encoding each: games that name none belong to the one before."""
    if data.startswith(_BYTE_ORDER_MARKS) or utf_16(data):
        return [data]
    cuts = [end.end() for end in _NEXT_CHARSET.finditer(data)]
    return [data[start:end] for start, end in pairwise([0, *cuts, len(data)])]


def utf_16(data: bytes) -> str | None:
    """Return which UTF-16 a record is in, None for any other encoding."""
    marks = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
    if data[:2] in marks:
        return marks[data[:2]]
    for encoding, beginning in _UNMARKED.items():
        if beginning.match(data):
            return encoding
    # Behind other text it shows by the zeros in half of the bytes.
    zeros = [data[start:_SAMPLE:2].count(0) / (min(len(data), _SAMPLE) // 2 or 1) for start in (0, 1)]
    if max(zeros) > _LEAST_ZEROS and min(zeros) < _MOST_ZEROS:
        return "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
    return None


def is_binary(data: bytes) -> bool:
    """Return whether a file is not text but, say, a picture: it begins with control characters that no text has."""
    return utf_16(data) is None and _NO_TEXT.search(data[:_SAMPLE].rstrip(b"\0")) is not None


def _is_valid(data: bytes, encoding: str, broken: int = 0) -> bool:
    """Return whether a record is text in an encoding, but for so many places at most."""
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        return broken > 0 and _is_valid(data[error.end :], encoding, broken - 1)
    return True


def _is_certainly_utf_8(data: bytes, declared: str) -> bool:
    """Return whether a record is in UTF-8 although CA names another encoding."""
    if not declared or data.isascii() or not _is_valid(data, "utf-8"):
        return False
    return declared.startswith(_SINGLE_BYTE) or len(_WIDE.findall(data)) >= _LEAST_WIDE


def _is_hardly_utf_8(data: bytes) -> bool:
    """Return whether a record has more characters that are broken in UTF-8 than others beyond ASCII."""
    text = data.decode("utf-8", "replace")
    return 2 * text.count("\ufffd") > len(text) - len(text.encode("ascii", "ignore"))


def _guessed(data: bytes) -> str | None:
    """Return the encoding of a record that is not in UTF-8, as Python names it; None if nothing suggests one.

    Decoding the record and encoding it again gives the same bytes.
    """
    means = {"": 0.0}
    for encoding, common in _COMMON.items():
        try:  # but for a last character that is cut off
            text = codecs.getincrementaldecoder(encoding)().decode(data)
        except UnicodeDecodeError:
            continue
        characters = [each for each in text if each.isalpha() and not each.isascii()]
        if not data.startswith(text.encode(encoding)) or len(set(characters)) < _LEAST_KINDS:
            continue
        low, high = _FREQUENT[encoding]
        points = 0.0
        for each in characters:
            if each in common or (common is _JAPANESE and _KANA.match(each)):
                points += 1
            elif low <= each.encode(encoding)[0] <= high:
                points += _FREQUENT_COUNTS
        means[encoding] = (points - _MARGIN) / len(characters)
    best, *others = sorted(means, key=lambda encoding: means[encoding], reverse=True)
    is_clear = means[best] >= _LEAST_MEAN and means[best] - max(map(means.__getitem__, others)) >= _LEAST_LEAD
    return best if is_clear else None
