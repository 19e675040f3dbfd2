"""Single SGF values: board sizes, points, komi, rules, and that writing and reading them agree."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sgf_support import all_rules, at

from gtp_engine.base.errors import SgfError
from gtp_engine.go.constants import MAX_SIZE, MIN_SIZE, PASS
from gtp_engine.go.coords import board_points
from gtp_engine.go.rules import PRESETS, Ko, Rules, Scoring, Tax
from gtp_engine.sgf import parse_sgf
from gtp_engine.sgf.values import (
    format_komi,
    format_point,
    format_rules,
    format_size,
    names_a_size,
    parse_handicap,
    parse_komi,
    parse_move_point,
    parse_point,
    parse_points,
    parse_rank,
    parse_result,
    parse_rules,
    parse_size,
)


@pytest.mark.parametrize(
    ("text", "rank"),
    [
        ("5k", "5k"), ("5 kyu", "5k"), ("5-kyu", "5k"), ("12K", "12k"), ("30k", "30k"), ("18급", "18k"), ("3级", "3k"),
        ("３級", "3k"), ("十五级", "15k"), ("二十級", "20k"), ("二十三级", "23k"), ("3d*", "3d"), ("1d?", "1d"),
        ("5k+", "5k"), ("7d (Fox)", "7d"), ("3 dan", "3d"), ("3DAN", "3d"), ("初段", "1d"), ("２段", "2d"),
        ("三段", "3d"), ("9段", "9d"), ("9p", "9p"), ("9 Pro", "9p"), ("1 dan pro", "1p"), ("P9段", "9p"),
        ("职业九段", "9p"), ("九段(P)", "9p"), ("九段 プロ", "9p"), (" 4d ", "4d"),
    ],
)  # fmt: skip
def test_ranks(text: str, rank: str) -> None:
    assert parse_rank(text) == rank


@pytest.mark.parametrize("text", ["", "?", "-", "NR", "10d", "0k", "31k", "5", "dan", "1500", "5dollars", "k5"])
def test_texts_that_name_no_rank(text: str) -> None:
    assert parse_rank(text) is None


@pytest.mark.parametrize(
    ("text", "size"), [("19", (19, 19)), ("9", (9, 9)), (" 13 ", (13, 13)), ("5:9", (5, 9)), ("25:2", (25, 2))]
)
def test_board_sizes(text: str, size: tuple[int, int]) -> None:
    assert parse_size(text) == size
    assert parse_size(format_size(*size)) == size


@pytest.mark.parametrize(
    "text",
    ["13,9", "13 9", "13/9", "13-9", "13;9", "13 by 9", "13.0:9.0", "'13:9'", "13x9 (small)", "size 13x9", "(13:9)"],
)
def test_board_sizes_in_other_words(text: str) -> None:
    assert parse_size(text) == (13, 9)
    assert parse_size("9.0") == (9, 9)


@pytest.mark.parametrize("text", ["1", "26", "0", "-9", "9:", ":9", "9:9:9", "19.5", "x", "9:26", "٩", "1" * 5000])
def test_wrong_board_sizes(text: str) -> None:
    with pytest.raises(SgfError, match=r"board size SZ\[.*\]: expected one or two numbers from 2 to 25"):
        parse_size(text)


@given(width=st.integers(MIN_SIZE, MAX_SIZE), height=st.integers(MIN_SIZE, MAX_SIZE))
def test_points_round_trip(width: int, height: int) -> None:
    for point in (*board_points(width, height), PASS):
        assert parse_move_point(format_point(point, width=width), width=width, height=height) == point


def test_points_count_from_the_top_left() -> None:
    assert parse_point("pd", width=19, height=19) == at("Q16")
    assert parse_point("aa", width=5, height=9) == at("A9", 5, 9)
    assert parse_point("ei", width=5, height=9) == at("E1", 5, 9)


@pytest.mark.parametrize("text", ["PD", "pD", " pd\n", '"pd"', "'PD'"])
def test_points_may_have_capitals_and_quotation_marks(text: str) -> None:
    assert parse_move_point(text, width=19, height=19) == at("Q16")


@pytest.mark.parametrize("text", ["", "tt", " ", "\n"])
def test_passes_on_19x19(text: str) -> None:
    assert parse_move_point(text, width=19, height=19) == PASS


def test_tt_is_a_point_of_larger_boards_and_a_pass_where_it_would_be_outside() -> None:
    assert parse_move_point("tt", width=21, height=21) == at("U2", 21)
    assert parse_move_point("tt", width=19, height=25) == PASS
    assert parse_move_point("tt", width=25, height=9) == PASS


@pytest.mark.parametrize("text", ["a", "aaa", "İa", "at", "ta", "a0", "I5", "a20", "a:b", "éa", "passed"])
def test_wrong_points(text: str) -> None:
    with pytest.raises(SgfError, match="expected two letters from aa to ss on 19x19"):
        parse_move_point(text, width=19, height=19)


@pytest.mark.parametrize(
    "text", ["-", "--", "..", "@@", "Pass.", "none", "null", "Tenuki", "p\nass", "パス", "虚手", "패스", "Passe"]
)
def test_passes_in_words_and_signs(text: str) -> None:
    assert parse_move_point(text, width=9, height=9) == PASS


def test_points_may_be_broken_between_lines() -> None:
    assert parse_move_point("p\nd", width=19, height=19) == at("Q16")


def test_lists_of_points_in_one_value() -> None:
    """They were left out."""
    for text in ("aa bb cc", "aa;bb;cc", "aa, bb,cc", "aabbcc", "aa\nbb\r\ncc", "A9 B8 C7"):
        record = parse_sgf(f"(;SZ[9]AB[{text}])".encode())
        assert [point for _, point in record.setup_stones] == [at("A9", 9), at("B8", 9), at("C7", 9)], text
        assert record.notes == ()


def test_vertices_are_points_too() -> None:
    """SmartGo wrote them."""
    assert [parse_move_point(text, width=19, height=19) for text in ("Q16", "q16", " T1 ", "Pass")] == [
        *(at("Q16", 19), at("Q16", 19), at("T1", 19), PASS)
    ]
    assert parse_points(["A1:C2"], width=3, height=3) == parse_points(["ab:cc"], width=3, height=3)


def test_point_lists_hold_rectangles_and_repetitions() -> None:
    points = parse_points(["ba:cb", "aa", "ba", " ba", "aa:aa"], width=3, height=3)
    assert [format_point(point, width=3) for point in points] == ["ba", "ca", "bb", "cb", "aa"]
    for corners in ("cb:ba", "ca:bb", "bb:ca"):
        assert sorted(parse_points([corners], width=3, height=3)) == sorted(points[i] for i in (0, 1, 2, 3))
    with pytest.raises(SgfError, match="point 'dd'"):
        parse_points(["aa:dd"], width=3, height=3)


@pytest.mark.parametrize(
    ("text", "komi"),
    [
        ("6.5", 6.5),
        ("0", 0.0),
        ("-5.5", -5.5),
        ("+7", 7.0),
        (" 7.50 ", 7.5),
        ("3.75", 3.75),
        ("375", 375.0),
        ("6.5.", 6.5),
        ("7,5", 7.5),
        (",5", 0.5),
        (".5", 0.5),
        ("7.", 7.0),
        ("1e3", 1000.0),
        ("5.5 points", 5.5),
        ("6.5目", 6.5),
        *(
            ("6½", 6.5),
            ("½", 0.5),
            ("-5 1/2", -5.5),
            ("1/2", 0.5),
            ("6目半", 6.5),
            ("\uff16\uff0e\uff15", 6.5),
            ("6집반", 6.5),
        ),
        *(("3¾", 3.75), ("61/2", None), ("6.5½", 6.5), ("1" * 5000 + "½", None), ("1" + " " * 10**5 + "½", None)),
        *(("六目半", 6.5), ("七目", 7.0), ('"6.5"', 6.5), ("'7'", 7.0), ("無", 0.0)),
        ("", None),
        ("none", 0.0),
        ("nan", None),
        ("inf", None),
        ("1e999", None),
        ("3 3/4", 3.75),
        ("7.5.5", None),
        ("٦", None),
    ],
)
def test_komi_values(text: str, komi: float | None) -> None:
    assert parse_komi(text) == komi


@pytest.mark.parametrize(
    ("text", "komi"),
    [
        *(("375", 7.5), ("750", 7.5), ("650", 6.5), ("325", 6.5), ("550", 5.5), ("275", 5.5), ("350", 7.0)),
        *(("700", 7.0), ("50", 0.5), ("0", 0.0), ("6.5", 6.5), ("7.5", 7.5), ("-375", -7.5)),
    ],
)
@pytest.mark.parametrize("applications", [["GNU Go:3.8", "foxwq"], ["SGFC:2.0"]])
def test_komi_in_hundredths(text: str, komi: float, applications: list[str]) -> None:
    assert parse_komi(text, applications=applications) == komi


@pytest.mark.parametrize(
    ("text", "result"),
    [
        *(("B+3.5", "B+3.5"), ("W+0.5 ", "W+0.5"), ("W+2,5", "W+2.5"), ("B+12 points", "B+12"), ("b+3", "B+3")),
        *(("W+3½", "W+3.5"), ("B+1/2", "B+0.5"), ("W+半目", "W+0.5"), ("W+2 1/2 points", "W+2.5")),
        *(("B+R", "B+R"), ("B+Resign", "B+R"), ("W+Resignation", "W+R"), ("W+T", "W+T"), ("B+Time", "B+T")),
        *(("B+F", "B+F"), ("W+Forfeit", "W+F"), ("B+", "B+"), ("Black+", "B+"), ("W+?", "W+")),
        *(("0", "0"), ("Draw", "0"), ("jigo", "0"), ("?", None), ("Void", None), ("", None), ("unfinished", None)),
    ],
)
def test_results_have_a_short_form(text: str, result: str | None) -> None:
    assert parse_result(text) == result


def test_results_in_chinese_japanese_and_korean() -> None:
    """They were taken for games without result."""
    for text, result in [
        *(("黑中盘胜", "B+R"), ("白中盤勝", "W+R"), ("黑胜1.5目", "B+1.5"), ("白胜3目半", "W+3.5")),
        *(("白勝 半目", "W+0.5"), ("黑胜3/4子", "B+1.5"), ("白胜2又3/4子", "W+5.5"), ("黑胜1.25子", "B+2.5")),
        *(("黑方胜1/4子", "B+0.5"), ("白超时负", "B+T"), ("黑時間勝", "B+T"), ("黑中盘认输", "W+R")),
        *(("白中盘胜(共203手)", "W+R"), ("黑胜", "B+"), ("黒中押し勝ち", "B+R"), ("白番中押し勝ち", "W+R")),
        *(("白3目半勝ち", "W+3.5"), ("黒番２目半勝ち", "B+2.5"), ("黒時間切れ負け", "W+T"), ("白半目勝ち", "W+0.5")),
        *(("白反則勝ち", "W+F"), ("黒投了", "W+R"), ("白勝ち", "W+"), ("흑 불계승", "B+R")),
        *(("백불계승", "W+R"), ("백 반집승", "W+0.5"), ("흑 3집반승", "B+3.5"), ("백 2.5집승", "W+2.5")),
        *(("흑 시간승", "B+T"), ("백 시간패", "B+T"), ("흑승", "B+"), ("B+中盘", "B+R")),
        *(("W+불계", "W+R"), ("黑+2.5", "B+2.5"), ("持碁", "0"), ("ジゴ", "0")),
        *(("黑胜二又四分之一子", "B+4.5"), ("白勝1又4分之3子", "W+3.5"), ("白胜四分之三子", "W+1.5")),
        *(("白胜2子半", "W+5"), ("黒番2目半勝", "B+2.5")),
        *(("黑超时", "W+T"), ("白超時勝", "W+T"), ("黑胜(白超时)", "B+T"), ("W+4.5 {W 70 B 65}", "W+4.5")),
        *(("和棋", "0"), ("무승부", "0"), ("无胜负", None), ("無勝負", None)),
        *(("打ち掛け", None), ("Black+ (203 moves)", "B+")),
        *(("257手完, 黒中押し勝ち", "B+R"), ("黑", None), ("白先", None), ("大胜", None)),
    ]:
        assert parse_result(text) == result


def test_results_in_english_words() -> None:
    """They were taken for games without result, so that `play` went on with a finished game."""
    for text, result in [
        *(("Black wins by resignation", "B+R"), ("W wins by 3.5", "W+3.5"), ("White won by 12 points", "W+12")),
        *(("White resigns", "B+R"), ("Black resigned", "W+R"), ("White lost on time", "B+T"), ("W by resign", "W+R")),
        *(("B 3.5", "B+3.5"), ("B3.5", "B+3.5"), ("Black win by time", "B+T"), ("White forfeits", "B+F")),
        *(("White wins after 214 moves", "W+"), ("B+0.00", "0"), ("W+0", "0"), ("Tie", "0"), ("和", "0")),
        *(("Black", None), ("Resign", None), ("Blackout", None), ("B to play", None), ("W 9p", None)),
    ]:
        assert parse_result(text) == result, text


@pytest.mark.parametrize(("text", "komi"), [("3.75子", 7.5), ("3又3/4子", 7.5), ("2 3/4 子", 5.5), ("６目半", 6.5)])
def test_komi_in_stones_is_doubled(text: str, komi: float) -> None:
    """Stones were taken for points."""
    assert parse_komi(text) == komi


@pytest.mark.parametrize(
    ("text", "komi"),
    [
        *(("no komi", 0.0), ("none", 0.0), ("コミなし", 0.0), ("无贴目", 0.0), ("貼目: 無", 0.0), ("W 6.5", 6.5)),
        *(("White: 6.5", 6.5), ("白6.5", 6.5), ("(6.5)", 6.5), ("=6.5", 6.5), ("\u22126.5", -6.5), ("3¾", 3.75)),
        *(("3¾子", 7.5), ("3又3/4", 3.75), ("B+6.5", None), ("黑6.5", None), ("no idea", None)),
        *(("三又四分之三子", 7.5), ("3又4分之3子", 7.5), ("3 3/4 stones", 3.75), ("2子半", 5.0), ("6 and a half", 6.5)),
        *(("6호반", 6.5), ("덤6호반", 6.5), ("덤 6집 반", 6.5), ("없음", 0.0), ("不贴目", 0.0), ("komi is 6.5", 6.5)),
        *(("7目半(3又3/4子)", 7.5), ("6.5 (white)", 6.5), ("komi (6.5)", 6.5), ("(" * 10**5, None)),
    ],
)
def test_komi_in_other_words(text: str, komi: float | None) -> None:
    assert parse_komi(text) == komi


@pytest.mark.parametrize(
    ("text", "komi"),
    [
        *(("黑贴3又3/4子", 7.5), ("黑贴6目半", 6.5), ("黒6目半コミ出し", 6.5), ("先番5目半コミ出し", 5.5)),
        *(("互先 6目半コミ出し", 6.5), ("先コミ5目半", 5.5), ("White gets 6.5", 6.5), ("KM6.5", 6.5), ("5-1/2", 5.5)),
        *(("黑棋贴6.5目", 6.5), ("黑方贴3.75子", 7.5), ("先番5目半", 5.5), ("6目半逆コミ", -6.5)),
        *(("白方贴2目半", -2.5), ("先番 5目半", 5.5)),
        *(("倒贴3.75子", -7.5), ("白贴2目半", -2.5), ("逆コミ5目", -5.0), ("reverse komi 5.5", -5.5), ("白6.5", 6.5)),
    ],
)
def test_komi_with_who_gives_it(text: str, komi: float) -> None:
    assert parse_komi(text) == komi


@pytest.mark.parametrize(
    ("text", "stones"),
    [
        *(("让二子", 2), ("让2子", 2), ("受三子", 3), ("二子局", 2), ("2점 접바둑", 2), ("H 2", 2), ("handicap: 4", 4)),
        *(("two stones", 2), ("2 (fixed)", 2), ("二目", 2), ("9 stones", 9), ("先", 0), ("先相先", 0), ("让先", 0)),
        *(("受让四子", 4), ("黑受4子", 4), ("置き石3", 3), ("置石 3", 3), ("even game", 0)),
        *(("호선", 0), ("no handicap", 0), ("n/a", 0), ("2.5", None), ("2-3", None), ("x" * 9999, None)),
        *(("2" + " a" * 9999, None), ("2" + "a" * 9999 + "!", None), ("many", None)),
    ],
    ids=lambda value: str(value)[:20],
)
def test_handicaps_in_words(text: str, stones: int | None) -> None:
    assert parse_handicap(text) == stones


@pytest.mark.parametrize(("text", "size"), [("九路", 9), ("十三路盤", 13), ("十九路", 19)])
def test_sizes_in_chinese(text: str, size: int) -> None:
    """A 9x9 game was read as one of 19x19."""
    assert names_a_size(text) and parse_size(text) == (size, size)


@given(komi=st.floats(allow_nan=False, allow_infinity=False))
def test_komi_round_trip_without_exponent(komi: float) -> None:
    text = format_komi(komi)
    assert parse_komi(text) == komi
    assert re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text)


@pytest.mark.parametrize(
    ("komi", "text"),
    [(7.5, "7.5"), (7.0, "7"), (3.75, "3.75"), (-0.5, "-0.5"), (1e3, "1000"), (-0.0, "0"), (1e22, "1" + "0" * 22)],
)
def test_komi_is_written_plainly(komi: float, text: str) -> None:
    assert format_komi(komi) == text


@pytest.mark.parametrize(
    ("text", "preset"),
    [
        ("Japanese", "japanese"),
        ("japanese rules", "japanese"),
        ("Chinese", "chinese"),
        ("Chinese, Pair Go", "chinese"),
        ("OGS Chinese", "chinese"),
        ("chinese-ogs", "chinese-ogs"),
        ("AGA", "aga"),
        ("NZ", "new-zealand"),
        ("New Zealand", "new-zealand"),
        ("GOE", "ing"),
        ("Ing", "ing"),
        ("Ing's rules", "ing"),
        ("Korean", "korean"),
        ("Tromp-Taylor", "tromp-taylor"),
        ("Tromp/Taylor", "tromp-taylor"),
        ("日本ルール", "japanese"),
        ("中国规则", "chinese"),
        ("한국룰", "korean"),
        ("stone_scoring", "stone-scoring"),
        *(("JP", "japanese"), ("CN", "chinese"), ("KR", "korean"), ("JPN", "japanese"), ("NZL", "new-zealand")),
        *(
            ("Old Chinese", "ancient-area"),
            ("Tang (Japanese + group tax)", "ancient-territory"),
            ("TT--", "tromp-taylor"),
        ),
        *(("Ancient", "ancient-area"), ("Ancient Chinese rules", "ancient-area"), ("Area scoring", "chinese")),
        *(("Territory", "japanese"), ("数目法", "japanese"), ("数子", "chinese"), ("일본룰", "japanese")),
        *(
            ("Japanisch", "japanese"),
            ("Jap.", "japanese"),
            ("Nihon Kiin", "japanese"),
            ("Cinesi", "chinese"),
            ("Règles chinoises", "chinese"),
            ("японские правила", "japanese"),
            ("日韩规则", "japanese"),
            ("应氏计点制", "ing"),
            ("計點制", "ing"),
            ("中国古棋", "ancient-area"),
            ("Règle française", "french"),
        ),
    ],
)
def test_names_of_rules(text: str, preset: str) -> None:
    assert parse_rules(text) == PRESETS[preset]


@pytest.mark.parametrize(
    "text",
    ["", "scoring", "house rules", "{", '{"ko":"SPITE"}', "nzx", "usual", "areas", "x" + " " * 10**5 + "x"],
    ids=lambda text: text[:20],
)
def test_unknown_rules(text: str) -> None:
    assert parse_rules(text) is None


def test_rules_in_katagos_forms() -> None:
    assert parse_rules("koPOSITIONALscoreAREAtaxALLsui1") == Rules(ko=Ko.POSITIONAL, tax=Tax.ALL, suicide=True)
    assert parse_rules('{"ko":"SIMPLE","scoring":"TERRITORY","tax":"NONE","suicide":false}') == Rules(
        ko=Ko.SIMPLE, scoring=Scoring.TERRITORY, tax=Tax.NONE, suicide=False
    )


@pytest.mark.parametrize(
    ("text", "scoring", "tax", "ko", "komi"),
    [
        ("koSIMPLEscoreTERRITORYtaxSEKIsui0komi6.5", Scoring.TERRITORY, Tax.SEKI, Ko.SIMPLE, 6.5),
        ("koSIMPLEscoreTERRITORYsui0komi-12", Scoring.TERRITORY, Tax.SEKI, Ko.SIMPLE, -12.0),  # before there were taxes
        ("koSIMPLEscoringTERRITORYtaxALLsui0", Scoring.TERRITORY, Tax.ALL, Ko.SIMPLE, None),
        ("koPOSITIONALscoreAREAtaxNONEsui0button1whbN-1fpok1komi7", Scoring.AREA, Tax.NONE, Ko.POSITIONAL, 7.0),
        ("koSPIGHTscoreTERRITORYtaxNONEsui1komi0.5", Scoring.TERRITORY, Tax.NONE, Ko.SITUATIONAL, 0.5),
        ("scoreTERRITORY komi6.5 koSIMPLE", Scoring.TERRITORY, Tax.SEKI, Ko.SIMPLE, 6.5),
        ('{"ko":"SIMPLE","komi":6.5,"scoring":"TERRITORY"}', Scoring.TERRITORY, Tax.SEKI, Ko.SIMPLE, 6.5),
        ('{"komi": 6.5, "ko": "SIMPLE", "score": "TERRITORY"}', Scoring.TERRITORY, Tax.SEKI, Ko.SIMPLE, 6.5),
        ('{"komi": 6.5}', Scoring.AREA, Tax.NONE, Ko.POSITIONAL, 6.5),
    ],
)
def test_rules_of_older_records_of_katago(text: str, scoring: Scoring, tax: Tax, ko: Ko, komi: float | None) -> None:
    rules = parse_rules(text)
    assert rules is not None and (rules.scoring, rules.tax, rules.ko) == (scoring, tax, ko)
    assert parse_sgf(f"(;SZ[9]RU[{text}])".encode()).komi == komi
    assert parse_sgf(f"(;SZ[9]KM[3.5]RU[{text}])".encode()).komi == 3.5


def test_a_name_that_only_we_know_is_not_written() -> None:
    assert format_rules(PRESETS["cgos"]) == PRESETS["cgos"].to_json()


@given(rules=all_rules())
def test_rules_round_trip(rules: Rules) -> None:
    assert parse_rules(format_rules(rules)) == rules
