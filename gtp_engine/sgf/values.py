"""Single SGF values as text: board size, handicap, komi, result, rules; `board` has points.

All text here is already decoded and without SGF's escapes.
"""

import html
import math
import re
import unicodedata
from decimal import Decimal
from typing import Final

from gtp_engine.base.errors import RulesError, SgfError, of_kind, shown
from gtp_engine.go.constants import BLACK, MAX_SIZE, MIN_SIZE, WHITE
from gtp_engine.go.coords import COLORS, Color
from gtp_engine.go.rules import PRESETS, Rules

_SIZE: Final = re.compile(r"([0-9]{1,3})(?:\s?[:xX×*]\s?([0-9]{1,3}))?(?:[^0-9.:][^0-9:]*)?")
"""Numbers of lines; Chinese sites write "19路", people who write records by hand "19x19"."""

_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,7});")
_SURROGATES: Final = re.compile("[\ud800-\udfff]+")
_CONTROL: Final = re.compile(r"[\0-\x09\x0b-\x1f\x7f]")
_HANDICAP: Final = re.compile(r"([0-9]{1,3})(?:\s?(?:stones?|[子目점]))?")

_SIGNS: Final = {ord("½"): ".5", ord("¼"): ".25", ord("¾"): ".75", 0x2212: "-"}
"""Fractions as pages write them, and the sign of a negative number."""
_NUMBER: Final = re.compile(r"([+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+))[^0-9]*")
_FRACTION: Final = re.compile(r"(?<![0-9.,/])(?:([0-9]{1,3})(?:\s?又\s?|\s))?([13])/([24])(?![0-9])")
"""Sina's and MultiGo's "3又3/4", GoGoD's "2 3/4" and "5 1/2"."""
_HALF: Final = re.compile(r"(?<![0-9.,/])([0-9]{0,3})\s?[目집]?\s?[半반]")
"""The Nihon Ki-in's "6目半", and Cyberoro's "3집반" and "半目"."""
_STONES: Final = re.compile(r"(?<![0-9.,/])([0-9]{1,3}(?:\.[0-9]{1,3})?)\s?子")
"""Stones, in which Chinese sites count."""
_KOMI_WORDS: Final = re.compile(r"^(?:komi[:\s]{0,3}|[黑黒]?[贴貼]目?|コミ)\s?", re.IGNORECASE)
"""What precedes komi: "黑贴6.5目" for A. E. Brouwer's programs, "コミ6目半" in Japanese comments."""
_KOMI_REVERSED: Final = re.compile(r"reverse,?\s?", re.IGNORECASE)
"""Where White gives it to Black: "Reverse, 20p" in records that A. E. Brouwer's programs read."""

_WIN: Final = re.compile(r"([BW])[A-Za-z]*\s*\+\s*(.*)", re.IGNORECASE | re.DOTALL)
_SIDE: Final = re.compile(r"(?:\d+\s*手完?[、,]?\s*)?((?:black|white|b|w)(?![a-z])|[黑黒흑白백])")
"""The side named first, behind the number of moves that the Nihon Ki-in writes; in small letters."""
_SIDES: Final = {"黑": "B", "黒": "B", "흑": "B", "白": "W", "백": "W"}
_OUTCOME: Final = re.compile(
    r"(?P<won>[胜勝승+]|\bw[io]n|\bby\b|\A\s?[0-9]{1,3}(?:\.[0-9]+)?\s*\Z)|[负負패]|超[时時](?![胜勝])|\blos[et]|\bresign|\bforfeit"
)
"""Whether the side named first has won or lost, in the words behind it; the first of them counts.

Sina, TOM and Fox write Chinese, the Nihon Ki-in, Kiseido and Cyberoro Japanese, Cyberoro Korean and English, too.
"""
_REASON_WORDS: Final = {
    "R": re.compile(r"中[盘盤押]|불계|resign"),
    "T": re.compile(r"[时時][间間切]|超[时時]|시간|\btime"),
    "F": re.compile(r"反則|forfeit"),
}
"""The words for what decides a game other than points, by its first letter: resignation, time, forfeit."""
_POINTS: Final = re.compile(r"(?<![0-9.,])([0-9]{1,3}(?:[.,][0-9]{1,3})?)(?![0-9.,]|\s?(?:[手수]|moves?\b))")
"""A number that does not count moves."""
_DRAWS: Final = frozenset({"0", "draw", "tie", "jigo", "持碁", "和棋", "和局", "무승부"})
_NO_RESULT: Final = re.compile(
    r"\W*|(?:void|null|nr|unknown|unfinished|no result|[无無][胜勝][负負]|打ち?掛け?)\b.*", re.IGNORECASE
)
"""Words of a game without a result."""

_CHINESE_DIGITS: Final = {"初": 1} | {digit: number for number, digit in enumerate("一二三四五六七八九", start=1)}
_RANK: Final = re.compile(
    r"(?P<pro>p)?(?P<number>\d{1,2}|[初一二三四五六七八九])[\s-]?"
    r"(?:(?P<dan>d|dan|段|단)|(?P<kyu>k|kyu|级|級|급)|p)(?!(?!p\b)[a-z])(?P<pro_after>\s?(?:p|\(p\)))?"
)
"""A rank in lower case: "5k", "3 dan", Sina's "九段", Fox's "P9段", Cyberoro's "9段P", GoGoD's "6d pro"."""
_MOST_KYU: Final = 30
_MOST_DAN: Final = 9

VOID: Final = "Void"
"""RE of a game without result, such as one that ended in a long cycle."""

FOX: Final = "foxwq"
"""What AP has in records of the Fox server, in small letters."""
_HUNDREDTHS_WRITERS: Final = (FOX, "sgfc:2.0")
"""Substrings of AP in files of programs that write komi in hundredths: the Fox server, and SGFC 2.0 on gokifu.com."""
_SMALLEST_HUNDREDTHS: Final = 50.0
_QUARTERS: Final = re.compile(r"([BWbw]\+)([0-9]{1,3}\.[27]5)")
_STONE_KOMI: Final = frozenset((2.75, 3.25, 3.5, 3.75))
"""Komi values in stones, half the difference, as the Chinese count them; in points they are twice as large."""


def one_line(text: str) -> str:
    """Return a SimpleText value without control characters and other invisible ones: each becomes a blank.

    What could not be decoded becomes U+FFFD.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else " " for each in _SURROGATES.sub("\ufffd", text))


def escaped(text: str) -> str:
    """Return text as a value with SGF's escapes; control characters but line breaks become blanks.

    What no encoding has, lone surrogates, becomes a question mark.  Raises ArgumentError for what is not text.
    """
    text = of_kind(text, str, "value").encode("utf-8", "replace").decode("utf-8")
    return re.sub(r"([\\\]])", r"\\\1", _CONTROL.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n")))


def parse_size(text: str) -> tuple[int, int]:
    """Return (width, height) of an SZ value, "19" or "13:9", perhaps with words behind; raises SgfError for others."""
    match = _SIZE.fullmatch(_plain(text))
    expected = f"one or two numbers from {MIN_SIZE} to {MAX_SIZE}, as in 19 or 13:9"
    if match:
        width, height = int(match[1]), int(match[2] or match[1])
        if MIN_SIZE <= width <= MAX_SIZE and MIN_SIZE <= height <= MAX_SIZE:
            return width, height
    raise SgfError(f"board size SZ[{shown(text)[1:-1]}]", expected=expected)


def names_a_size(text: str) -> bool:
    """Return whether an SZ value has a number that is not 0."""
    return re.search("[1-9]", _plain(text)) is not None


def format_size(width: int, height: int) -> str:
    """Return the SZ value of a board: one number if it is square."""
    return str(width) if width == height else f"{width}:{height}"


def unescaped(text: str) -> str:
    """Return text with the characters that entities of a page stand for: some sites save names so.

    >>> unescaped("O&#39;Brien &amp; Co"), unescaped("A&B;")
    ("O'Brien & Co", 'A&B;')
    """
    return _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)


def _plain(text: str) -> str:
    """Return a value without blanks around it or marks before it, its digits and signs as ordinary ones."""
    return unicodedata.normalize("NFKC", text.translate(_SIGNS)).strip().lstrip("[(;")


def parse_handicap(text: str) -> int | None:
    """Return the number of an HA value (0 for 0 and 1, which mean no handicap); None if it is not a number.

    >>> [parse_handicap(text) for text in ("2", "1", "3 stones", "?")]
    [2, 0, 3, None]
    """
    match = _HANDICAP.fullmatch(_plain(text).lower())
    number = None if match is None else int(match[1])
    return 0 if number == 1 else number


def parse_player(text: str) -> Color | None:
    """Return the colour of a PL value ("B" or "black" for Black); None for other text."""
    return {"B": COLORS[BLACK], "W": COLORS[WHITE]}.get(text.strip()[:1].upper())


def parse_komi(text: str) -> float | None:
    """Return the number in a KM value; None if there is none.  `usual_komi` is what it means.

    Decimal commas, halves and trailing words are accepted: "7,5", "6½", "6 1/2", "6目半", "7.5 points"; stones are
    twice as many points: "3.75子", "3又3/4子"; "3 3/4" is a number.
    """
    text = _plain(text)
    if text.lower() == "none":
        return 0.0
    reverse = _KOMI_REVERSED.match(text)
    amount = _KOMI_WORDS.sub("", text[reverse.end() :] if reverse else text, count=1)
    match = _NUMBER.fullmatch(_with_decimals(amount))
    komi = float(match[1].replace(",", ".")) if match else math.inf
    return (-komi if reverse else komi) if math.isfinite(komi) else None


def usual_komi(komi: float, application: str = "") -> float:
    """Return the points that a number means in a record of an application, which is what AP has.

    The Fox server and SGFC 2.0 write hundredths (KM[650] for 6.5) and, for games under Chinese rules, hundredths of
    stones (KM[375]: 3.75 stones, 7.5 points), but also plain values; so do the programs read them that read such files
    (KataGo's `dataio/sgf.cpp`, KaTrain, goban).  With others, a number that no game has is read in the same way:
    hundredths of 1 to 15 points, and quarters, of stones.

    >>> usual_komi(375.0), usual_komi(650.0), usual_komi(3.75), usual_komi(350.0), usual_komi(350.0, "foxwq")
    (7.5, 6.5, 7.5, 3.5, 7.0)
    """
    is_hundredths = writes_hundredths(application) and abs(komi) >= _SMALLEST_HUNDREDTHS
    if is_hundredths or (100 <= abs(komi) <= 1500 and komi % 25 == 0):
        komi /= 100
    return 2 * komi if abs(komi) in _STONE_KOMI and (is_hundredths or komi % 0.5) else komi


def writes_hundredths(application: str) -> bool:
    """Return whether an application writes komi in hundredths."""
    return any(writer in application.lower() for writer in _HUNDREDTHS_WRITERS)


def result_in_points(text: str) -> str:
    """Return an RE value; quarters are of stones, of which the margin in points is twice the number."""
    match = _QUARTERS.fullmatch(text.strip())
    return text if match is None else f"{match[1]}{2 * float(match[2]):g}"


def format_komi(komi: float) -> str:
    """Return a finite `komi` as an exact decimal without exponent, which SGF's Real does not allow."""
    if komi == 0:
        return "0"
    return format(Decimal(repr(komi)), "f").removesuffix(".0")


_RULES_WORDS: Final = {
    "ancient-area": r"\bold\b|\bancient\b|古",
    "ancient-territory": r"\btang\b",
    "aga": r"\baga\b|\bamerican\b",
    "bga": r"\bbga\b|\bbritish\b",
    "french": r"\bffg\b|\bfrench\b|\bfrançaise\b",
    "ing": r"\bing\b|\bgoe\b|[应應]氏",
    "new-zealand": r"\bnzl?\b|\bzealand\b",
    "tromp-taylor": r"\btt\b|\btromp",
    "korean": r"\bkor|[韩韓][国國]|한국",
    "japanese": r"\bjapan|\bjapon|\bjpn?\b|日本|数目|일본",
    "chinese": r"\bchin|\bchn\b|\bcn\b|中[国國]|数子|중국",
}
"""Words in RU that name a preset, for values that are not its name.

KGS has "Chinese, Pair Go", Weida "日本规则", UGF "JPN", GoGoD "Ancient" and "Ing".
"""
_RULES_KOMI: Final = re.compile(r"komi\s?([-+]?[0-9.]{1,20})|,?\s{0,9}\"komi\"\s{0,9}:\s{0,9}([-+]?[0-9.]{1,20})")
"""The komi in RU, which KataGo wrote there for some years."""
_RULES_TEXT_LENGTH: Final = 200
"""Characters of RU searched for such words."""
_SGF_NAMES: Final = {
    "tromp-taylor": "Tromp-Taylor",
    "chinese": "Chinese",
    "japanese": "Japanese",
    "aga": "AGA",
    "new-zealand": "NZ",
    "ing": "GOE",
}
"""The name of a preset in RU: one of the four in the SGF specification, or a customary one."""
_UNKNOWN_ELSEWHERE: Final = ("cgos",)
"""Presets whose names other programs do not know; many read KataGo's JSON instead."""


def parse_rank(text: str) -> str | None:
    """Return the rank in a BR or WR value as "5k", "3d" or "9p" (30k to 9p); None if it names none, as "?" and "-".

    Signs of doubt and of a server, as in "3d*", "2k?" and "5k+", are left out; so are words after the rank.
    """
    found = _RANK.match(_plain(text).lower())
    if found is None:
        return None
    number = _CHINESE_DIGITS.get(found["number"]) or int(found["number"])
    is_amateur_dan = found["dan"] and not (found["pro"] or found["pro_after"])
    letter = "k" if found["kyu"] else "d" if is_amateur_dan else "p"
    return f"{number}{letter}" if 1 <= number <= (_MOST_KYU if letter == "k" else _MOST_DAN) else None


def parse_result(text: str) -> str | None:
    """Return an RE value in its short form: "B+3.5", "B+R", "B+T" (time), "B+F" (forfeit), "B+" or "0".

    None for a game without a result ("?", "Void"), and for other text.  The words of Chinese, Japanese and Korean
    programs are known, with stones as twice as many points.

    >>> parse_result("W+Resign"), parse_result("Draw"), parse_result("Void"), parse_result("黑胜2又3/4子")
    ('W+R', '0', None, 'B+5.5')
    """
    text = _plain(text)
    if text.lower() in _DRAWS:
        return "0"
    if match := _WIN.fullmatch(text):
        return _result(match[1].upper(), _margin(match[2]))
    text = text.lower()
    side = _SIDE.match(text)
    outcome = None if side is None else _OUTCOME.search(text[side.end() :])
    if side is None or outcome is None:
        return None
    first = _SIDES.get(side[1], side[1][0].upper())
    points = _POINTS.search(_with_decimals(text))
    margin = _reason_in_words(text) or (points[1].replace(",", ".") if points else "")
    return _result(first if outcome["won"] else "W" if first == "B" else "B", margin)


def is_no_result(text: str) -> bool:
    """Return whether an RE value says that the game has no result, or that it is not known: "Void", "?"."""
    return _NO_RESULT.fullmatch(_plain(text)) is not None


def _result(winner: str, margin: str) -> str:
    """Return a result; a margin of 0 is a draw."""
    return "0" if re.fullmatch(r"0+(?:\.0*)?", margin) else f"{winner}+{margin}"


def _margin(text: str) -> str:
    """Return what follows the plus sign of a result: points, the letter of a reason, or "" if it is not known.

    GoGoD has remarks in parentheses behind points.
    """
    if number := _NUMBER.fullmatch(_with_decimals(re.split(r"(?<=[0-9])\s?[({]", text, maxsplit=1)[0])):
        return number[1].replace(",", ".")
    letter = text[:1].upper()
    return letter if letter in _REASON_WORDS else _reason_in_words(text)


def _reason_in_words(text: str) -> str:
    """Return the letter of the reason that Chinese, Japanese or Korean words name, "" for none."""
    return next((letter for letter, words in _REASON_WORDS.items() if words.search(text)), "")


def _with_decimals(text: str) -> str:
    """Return text with halves and quarters as decimals, and stones as twice as many points."""
    text = _FRACTION.sub(lambda part: f"{int(part[1] or 0) + int(part[2]) / int(part[3]):g}", text)
    text = _HALF.sub(lambda half: f"{half[1] or '0'}.5", text)
    return _STONES.sub(lambda stones: f"{2 * float(stones[1]):g}目", text)


def parse_rules(text: str) -> Rules | None:
    """Return the rules of an RU value; None if they are unknown.

    The value may be one of SGF's names (AGA, GOE, Japanese, NZ), a preset's name, KataGo's JSON or compact form (a komi
    in them is ignored), or free text with a known word.  Spight's ko rule in them is read as situational superko, the
    nearest that there is here.
    """
    try:
        return Rules.parse(without_komi(text).replace("SPIGHT", "SITUATIONAL"))
    except RulesError:
        pass
    text = text.lower()[:_RULES_TEXT_LENGTH]
    preset = next((name for name, words in _RULES_WORDS.items() if re.search(words, text)), None)
    return None if preset is None else PRESETS[preset]


def without_komi(text: str) -> str:
    """Return KataGo's compact or JSON rules without the komi that `komi_of_rules` finds in them."""
    return _RULES_KOMI.sub("", text).replace("{,", "{")


def komi_of_rules(text: str) -> float | None:
    """Return the komi in rules as KataGo writes them, None if there is none.

    >>> komi_of_rules("koSIMPLEscoreTERRITORYtaxSEKIsui0komi6.5"), komi_of_rules("Japanese")
    (6.5, None)
    """
    match = _RULES_KOMI.search(text)
    return None if match is None else parse_komi(match[1] or match[2])


def format_rules(rules: Rules) -> str:
    """Return an RU value that `parse_rules` reads as the same rules: a common name if any, else KataGo's JSON."""
    name = rules.preset_name()
    if name is None or name in _UNKNOWN_ELSEWHERE:
        return rules.to_json()
    return _SGF_NAMES.get(name, name)
