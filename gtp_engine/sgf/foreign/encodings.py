"""The encoding of a record: which one it has, and where a collection changes it.

SGF names the encoding in CA.  But in Chinese, Japanese and Korean encodings the second byte of a character may look
like "]" or a backslash, so a file is decoded first and then parsed.  A byte order mark has precedence, then CA if it is
one of the usual encodings, then UTF-8, then one that words about Go suggest, and last Latin-1, SGF's default, in which
any bytes are valid, or its superset of Windows.  UTF-8 is so unlikely to be anything else that a record in it is read
so whatever CA says, and one of which little is valid UTF-8 is not.  Games of a collection may each name their own.

Many programs wrote records in Chinese, Japanese or Korean in the encoding of their system, without CA.  In Latin-1
names and results are garbled, and a second byte that looks like a bracket breaks the record.  Words about Go tell the
encoding of comments and results; where a record has but names, characters that are common in names do.
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

_CHARACTERS: Final = {
    "gb18030": "黑白胜负盘围棋赛先目中国业余对局轮决职段级贴让韩预选战联届名",
    "big5hkscs": "黑白勝圍棋賽先目中國對局輪級韓選戰屆",
    "cp932": "黒白勝負目碁戦先番半中押因聖名級互持時間切棋",
    "euc_jp": "黒白勝負目碁戦先番半中押因聖名級互持時間切棋段",
    "cp949": "흑백승반집국단급기전호선불계패한중일대회",
}
"""Common characters of records by encoding.  They are those with both bytes above 127, because in Western European text
a byte above 127 is often followed by an ASCII letter."""

_NAMES: Final = {
    "gb18030": (
        "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪"
        "田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文柯古芈时连党檀伟芳娜敏静丽强磊"
        "军洋勇艳杰娟涛明超秀霞平刚桂英华玉萍红兰建国志海波宇鹏飞辉浩天峰俊晓东春洁昊廷毅笑昕睿羽瑞豪博然琪泽宁昱辰思嘉子梓涵"
        "欣怡诗阳雪梅琳佳慧凯旭斌健鑫洪光德永福生荣胜学祥才发成星达安岩中茂进有坚和彪诚先敬震振壮会群心邦承乐绍功松善厚庆民友"
        "裕河哲亮政谦亨奇固之轮翰朗伯宏言若鸣朋栋维启克伦翔晨士以家致树炎圣立卫美清小元大"
    ),
    "big5hkscs": (
        "王李張劉陳楊趙黃周吳徐孫胡朱高林何郭馬羅梁宋鄭謝韓唐馮于董蕭程曹袁鄧許傅沈曾彭呂蘇盧蔣蔡賈丁魏薛葉閻余潘杜戴夏鍾汪"
        "田任姜范方石姚譚廖鄒熊金陸郝孔白崔康毛邱秦江史顧侯邵孟龍萬段雷錢湯尹黎易常武喬賀賴龔文柯古偉芳娜敏靜麗強磊軍洋勇艷傑"
        "娟濤明超秀霞平剛桂英華玉萍紅蘭建國志海波宇鵬飛輝浩天峰俊曉東春潔昊廷毅笑昕睿羽瑞豪博然琪澤寧昱辰思嘉子梓涵欣怡詩陽雪"
        "梅琳佳慧凱旭斌健鑫洪光德永福生榮勝學祥才發成星達安岩中茂進有堅和彪誠先敬震振壯會群心邦承樂紹功松善厚慶民友裕河哲亮政"
        "謙亨奇固之輪翰朗伯宏言若鳴朋棟維啟克倫翔晨士以家致樹炎聖立衛美清小元大勳鎬鉉薰賢正昌仁義禮信彥宗君奕淑雅婷惠"
    ),
    "cp949": (
        "김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구나민진지엄채원천방공현함변염여추도소석선설마"
        "길연위표명기반왕금옥인맹제모탁국어은편용예경봉사부수영준호희미혜재훈승태건규환세돌창목병종근식열혁빈찬결림란아라동상철보"
        "대범관광덕두락령률만무범별복삼섭숙순슬시애언요웅월율의익일자중채춘충탄택필학해향형화효흥가다리루스트크"
    ),
}
_JAPANESE_NAMES: Final = (
    "佐藤鈴木高橋田中伊渡辺山本村小林加吉井松斎清水崎森池阿部石前川原岡長谷後近坂遠青西福太三浦金和上野竹内島大塚平柴酒宮武今"
    "丸増安河杉千葉桜久保菊矢新市関荒横張栩羽根直樹結城聡依紀基治勲趙光一力遼虎芝許家元潤永訓秀哲裕介子美恵智彦男雄夫正幸弘明"
    "博隆郎次二四五六七八九十本因坊名人王座天棋聖碁星段道知文則昭英敏健司俊宏信義徳昌泉土岩藍梅影沢東南北原溝片結古謝依洪淸仲"
    "邑宗達秀策丈和安節察元仙角松節幻庵雁金準呉源高修格男壽行常昌輝雅之慎也翔真希那央奈菜沙由香里理"
)
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
"""What such a character counts beside one that is common in names."""

_LEAST_OF_NAMES: Final = 0.6
_LEAST_LEAD: Final = 0.1
"""The mean over a record's characters that an encoding must reach where nothing else decides, and by how much it must
surpass the next."""

_LEAST_KINDS: Final = 2
_LEAST_SHARE: Final = 0.02
"""How many different ones of these characters a record must have, and their least share of its non-ASCII characters.
The share is 5% or more in comments, and mostly 0 in text that is decoded wrongly."""


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
    if canonical == "utf-8" and _is_hardly_utf_8(data):
        canonical = ""
    if data.startswith(codecs.BOM_UTF8) or canonical == "utf-8" or _is_certainly_utf_8(data, canonical):
        # In UTF-8 a broken character never hides a bracket, so the rest of the file can still be read.
        return "utf-8"
    shifted = next((encoding for shift, encoding in _SHIFTS.items() if shift in data), None)
    named = canonical if _OF_ONE_BYTE.fullmatch(canonical) else _CODECS.get(canonical)
    for encoding in (shifted, named, "utf-8" if canonical != "iso8859-1" else None):
        if encoding is not None:
            try:
                data.decode(encoding)
            except UnicodeDecodeError:
                continue
            return encoding
    single = "cp1252" if _WINDOWS.search(data) else "latin-1"
    return (_guessed(data) if canonical != "iso8859-1" else None) or single


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
    """Return whether a file is no text but, say, a picture: it begins with control characters that no text has."""
    return utf_16(data) is None and _NO_TEXT.search(data[:_SAMPLE].rstrip(b"\0")) is not None


def _is_certainly_utf_8(data: bytes, declared: str) -> bool:
    """Return whether a record is in UTF-8 although CA names another encoding."""
    if not declared or data.isascii():
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return declared.startswith(_SINGLE_BYTE) or len(_WIDE.findall(data)) >= _LEAST_WIDE


def _is_hardly_utf_8(data: bytes) -> bool:
    """Return whether a record has more characters that are broken in UTF-8 than others beyond ASCII."""
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    return 2 * broken > len(text) - len(text.encode("ascii", "ignore"))


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
    return max(found, key=lambda encoding: found[encoding], default=None) or _guessed_by_names(data)


def _guessed_by_names(data: bytes) -> str | None:
    """Return the encoding in which a record's characters are those of names; None if none is, or two are."""
    means: dict[str, float] = {}
    for encoding, (low, high) in _FREQUENT.items():
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        characters = [each for each in text if each.isalpha() and not each.isascii()]
        if text.encode(encoding) != data or len(characters) < _LEAST_KINDS:
            continue
        common = _NAMES.get(encoding, _JAPANESE_NAMES)
        points = 0.0
        for each in characters:
            if each in common or (encoding not in _NAMES and _KANA.match(each)):
                points += 1
            elif low <= each.encode(encoding)[0] <= high:
                points += _FREQUENT_COUNTS
        means[encoding] = points / len(characters)
    best, *others = sorted(means, key=lambda encoding: means[encoding], reverse=True) or [""]
    lead = means[best] - max((means[each] for each in others), default=0.0) if best else 0.0
    return best if best and means[best] >= _LEAST_OF_NAMES and lead >= _LEAST_LEAD else None
