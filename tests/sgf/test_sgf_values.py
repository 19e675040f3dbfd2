"""Single SGF values: what programs write for board sizes, points, komi, rules, and that writing and reading agree."""

import re
from collections.abc import Callable

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
    escaped,
    format_komi,
    format_point,
    format_rules,
    format_size,
    is_no_result,
    parse_handicap,
    parse_komi,
    parse_label,
    parse_move_point,
    parse_player,
    parse_point,
    parse_points,
    parse_rank,
    parse_result,
    parse_rules,
    parse_size,
    usual_komi,
)

LONG = "x" * 10**5
VALUES: dict[str, tuple[Callable[[str], object], dict[str, object]]] = {
    "rank": (
        parse_rank,
        (
            {"5k": "5k", "5 kyu": "5k", "5-kyu": "5k", "12K": "12k", "30k": "30k", "18급": "18k", "3级": "3k"}
            | {"３級": "3k", "3d*": "3d", "1d?": "1d", "5k+": "5k", "7d (Fox)": "7d", "3 dan": "3d", "3DAN": "3d"}
            | {"初段": "1d", "2段": "2d", "三段": "3d", "9段": "9d"}
            | {"9p": "9p", "9P": "9p", "6d pro": "6p", " 4d ": "4d"}
            | {"P9段": "9p", "九段(P)": "9p", "9段P": "9p", "1 dan pro": "1p"}
            | dict.fromkeys(["", "?", "-", "NR", "10d", "0k", "31k", "5", "dan", "1500", "5dollars", "k5", LONG])
        ),
    ),
    "size": (
        parse_size,
        (
            {
                "19": (19, 19),
                " 13 ": (13, 13),
                "5:9": (5, 9),
                "25:2": (25, 2),
                "19路": (19, 19),
                "9x13": (9, 13),
                "\uff19": (9, 9),
            }
            | {"19 by mistake": (19, 19)}
        ),
    ),
    "komi": (
        parse_komi,
        (
            {"6.5": 6.5, "0": 0.0, "-5.5": -5.5, "+7": 7.0, " 7.50 ": 7.5, "3.75": 3.75, "375": 375.0, "6.5.": 6.5}
            | {"7,5": 7.5, ",5": 0.5, ".5": 0.5, "7.": 7.0, "5.5 points": 5.5, "20p": 20.0, "6.5目": 6.5, "6½": 6.5}
            | {"½": 0.5, "-5 1/2": -5.5, "1/2": 0.5}
            | {"2 3/4": 2.75, "6目半": 6.5, "\uff16\uff0e\uff15": 6.5, "\u22126.5": -6.5}
            | {"6집반": 6.5, "3¾": 3.75, "コミ6目半": 6.5, "黑贴6.5目": 6.5, "貼目 6.5": 6.5, "Komi: 6.5": 6.5}
            | {"Reverse, 20p": -20.0, "reverse 5.5": -5.5, "none": 0.0, "3.75子": 7.5, "3又3/4子": 7.5, "3又3/4": 3.75}
            | {"2 3/4 子": 5.5, "\uff16目半": 6.5, "半目": 0.5}
            | dict.fromkeys(["", "nan", "inf", "9" * 400, "7.5.5", "61/2", "٦٦٦x6", "B+6.5", "many", "1/3", LONG])
            | dict.fromkeys(["1" * 5000 + "½", "1" + " " * 10**5 + "½", "(" * 10**5])
        ),
    ),
    "hundredths": (
        lambda text: usual_komi(float(text), "GNU Go:3.8 foxwq"),
        (
            {"375": 7.5, "750": 7.5, "650": 6.5, "325": 6.5, "550": 5.5, "275": 5.5, "350": 7.0, "700": 7.0}
            | {"50": 0.5, "0": 0.0, "6.5": 6.5, "7.5": 7.5, "-375": -7.5, "49": 49.0}
        ),
    ),
    "usual komi": (
        lambda text: usual_komi(float(text)),
        (
            {"375": 7.5, "650": 6.5, "3.75": 7.5, "3.5": 3.5, "350": 3.5, "50": 50}
            | {"-2.75": -5.5, "1500": 15, "1525": 1525, "160": 160, "75": 75}
        ),
    ),
    "handicap": (
        parse_handicap,
        (
            {"2": 2, "0": 0, "1": 0, " 9 ": 9, "3 stones": 3, "1 stone": 0, "4子": 4, "2점": 2}
            | dict.fromkeys(["", "-", "even", "2.5", "2-3", "many", "2" + " a" * 9999, LONG])
        ),
    ),
    "player": (parse_player, {"B": 1, "W": 2, " white ": 2, "black": 1, "": None, "x": None}),
    "result": (
        parse_result,
        (
            {"B+3.5": "B+3.5", "W+0.5 ": "W+0.5", "W+2,5": "W+2.5", "B+12 points": "B+12", "b+3": "B+3"}
            | {"W+3½": "W+3.5", "B+1/2": "B+0.5", "W+2 1/2 points": "W+2.5", "B+.75": "B+.75", "B+1 3/4": "B+1.75"}
            | {"B+R": "B+R", "B+Resign": "B+R", "W+Resignation": "W+R", "W+T": "W+T", "B+Time": "B+T", "B+F": "B+F"}
            | {"W+Forfeit": "W+F", "B+": "B+", "Black+": "B+", "W+?": "W+", "W+4.5 {W 70 B 65}": "W+4.5"}
            | {"B+0.75 (Moves beyond 235 not recorded)": "B+0.75", "Black+ (203 moves)": "B+", "B+中盘": "B+R"}
            | {"0": "0", "Draw": "0", "jigo": "0", "Tie": "0", "B+0.00": "0", "W+0": "0", "持碁": "0", "和棋": "0"}
            | {"黑中盘胜": "B+R", "白中盤勝": "W+R", "黑胜1.5目": "B+1.5", "白胜3目半": "W+3.5", "白勝 半目": "W+0.5"}
            | {"黑胜3/4子": "B+1.5", "白胜2又3/4子": "W+5.5", "黑胜1.25子": "B+2.5", "黑方胜1/4子": "B+0.5"}
            | {"白超时负": "B+T", "黑時間勝": "B+T", "白超時勝": "W+T", "黑超时": "W+T", "白中盘胜(共203手)": "W+R"}
            | {"白胜黑": "W+", "黑胜": "B+", "黒中押し勝ち": "B+R", "白1.5目勝ち!": "W+1.5", "黒番2目半勝ち": "B+2.5"}
            | {"黒時間切れ負け": "W+T", "白反則勝ち": "W+F"}
            | {"41手完, 黒中押し勝ち": "B+R", "232手完、黒2目半勝ち": "B+2.5"}
            | {"흑 불계승": "B+R", "백불계승": "W+R", "백 반집승": "W+0.5", "흑 3집반승": "B+3.5", "백 시간패": "B+T"}
            | {"Black wins by resignation": "B+R", "W wins by 3.5": "W+3.5", "White resigns": "B+R", "B 3.5": "B+3.5"}
            | {"White forfeits on time": "B+T", "White (Feng Yun) wins by 16.5 points.": "W+16.5"}
            | {"White lost on time": "B+T", "White wins after 214 moves": "W+", "B+7 (by count)": "B+7"}
            | dict.fromkeys(
                ["?", "Void", "", "unfinished", "無勝負", "打ち掛け", "黑", "白先", "大胜", "Black", "Resign"]
            )
            | dict.fromkeys(["Blackout", "B to play", "W 9p", LONG])
        ),
    ),
    "no result": (
        is_no_result,
        (
            dict.fromkeys(
                ["", "?", "Void", "void {Triple ko}", "NR", "Unfinished", "无胜负", "無勝負", "打ち掛け"], True
            )
            | dict.fromkeys(["no winner", "draw", "nrx"], False)
        ),
    ),
    "escaped": (escaped, {"a]b\\c é\t\r\nd": "a\\]b\\\\c é \nd", "\ud800": "?"}),
    "label": (
        lambda text: parse_label(text, width=9, height=9),
        {
            "ee:A": (at("E5", 9), "A"),
            "ee:a:b": (at("E5", 9), "a:b"),
            "ee:": (at("E5", 9), ""),
            "ee": None,
            "zz:A": None,
        },
    ),
}


@pytest.mark.parametrize(
    ("name", "text"),
    [(name, text) for name, (_, known) in VALUES.items() for text in known],
    ids=lambda text: text[:30],
)
def test_values(name: str, text: str) -> None:
    parse, known = VALUES[name]
    assert parse(text) == known[text]


@pytest.mark.parametrize(
    "text",
    ["1", "26", "0", "-9", "9:", ":9", "9:9:9", "19.5", "x", "9:26", "26:9", "٩", "13,9", "13 9", "9x9x9", "1" * 5000],
)
def test_wrong_board_sizes(text: str) -> None:
    with pytest.raises(SgfError, match=r"board size SZ\[.*\]: expected one or two numbers from 2 to 25"):
        parse_size(text)


@given(width=st.integers(MIN_SIZE, MAX_SIZE), height=st.integers(MIN_SIZE, MAX_SIZE))
def test_points_and_sizes_round_trip(width: int, height: int) -> None:
    assert parse_size(format_size(width, height)) == (width, height)
    for point in (*board_points(width, height), PASS):
        assert parse_move_point(format_point(point, width=width), width=width, height=height) == point


@pytest.mark.parametrize(
    ("text", "width", "height", "vertex"),
    [
        *(
            ("pd", 19, 19, "Q16"),
            ("aa", 5, 9, "A9"),
            ("ei", 5, 9, "E1"),
            ("PD", 19, 19, "Q16"),
            (" pD\n", 19, 19, "Q16"),
        ),
        *(("p\nd", 19, 19, "Q16"), ("[pd", 19, 19, "Q16"), ("Q16", 19, 19, "Q16"), ("q16", 19, 19, "Q16")),
        *(
            ("tt", 21, 21, "U2"),
            ("tt", 19, 19, ""),
            ("TT", 19, 25, ""),
            ("tt", 25, 9, ""),
            ("", 9, 9, ""),
            ("\n", 9, 9, ""),
        ),
        *(("jj", 9, 9, ""), ("nn", 13, 13, ""), ("``", 19, 19, ""), ("zz", 19, 19, ""), ("PASS", 9, 9, "")),
        *(("p\nass", 9, 9, ""), ("uu", 19, 19, "")),
    ],
)
def test_points_of_moves(text: str, width: int, height: int, vertex: str) -> None:
    point = at(vertex, width, height) if vertex else PASS
    assert parse_move_point(text, width=width, height=height) == point


@pytest.mark.parametrize("text", ["a", "aaa", "İa", "at", "ta", "a0", "I5", "a20", "a:b", "éa", "passed", "--", '"pd"'])
def test_wrong_points(text: str) -> None:
    with pytest.raises(SgfError, match="expected two letters from aa to ss on 19x19"):
        parse_move_point(text, width=19, height=19)


def test_point_lists_hold_rectangles_and_repetitions() -> None:
    points = parse_points(["ba:cb", "aa", "ba", " ba", "aa:aa"], width=3, height=3)
    assert [format_point(point, width=3) for point in points] == ["ba", "ca", "bb", "cb", "aa"]
    for corners in ("cb:ba", "ca:bb", "bb:ca", "B3:C2"):
        assert sorted(parse_points([corners], width=3, height=3)) == sorted(points[i] for i in (0, 1, 2, 3))
    with pytest.raises(SgfError, match="point 'dd'"):
        parse_points(["aa:dd"], width=3, height=3)
    assert parse_point("pd", width=19, height=19) == at("Q16")


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("RE[no winner]", "result 'no winner' was not understood"),
        ("KM[six]", "komi 'six' is not a number and was ignored"),
        ("HA[some]", "handicap 'some' is not a number and was ignored"),
        ("RU[house rules]", "rules 'house rules' are unknown and were ignored"),
        ("AB[cc,dd]", "AB: point 'cc,dd': expected two letters from aa to ii on 9x9; it was left out"),
    ],
)
def test_values_that_are_not_understood_get_a_note(text: str, note: str) -> None:
    assert parse_sgf(f"(;SZ[9]{text};B[ee])".encode()).notes == (note,)


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


RULES = {
    "japanese": "Japanese|japanese rules|日本ルール|日本规则|일본룰|JP|JPN|数目法",
    "chinese": "Chinese|Chinese, Pair Go|OGS Chinese|中国规则|中國|중국|CN|CHN|数子",
    "korean": "Korean|한국룰|KOR|韩国",
    "aga": "AGA|American",
    "bga": "BGA|British",
    "french": "French|Règle française",
    "new-zealand": "NZ|New Zealand|NZL",
    "ing": "GOE|Ing|Ing's rules|应氏规则|應氏",
    "tromp-taylor": "Tromp-Taylor|Tromp/Taylor|TT--",
    "ancient-area": "Old Chinese|Ancient Chinese rules|中国古棋",
    "ancient-territory": "Tang (Japanese + group tax)",
    "chinese-ogs": "chinese-ogs",
    "stone-scoring": "stone_scoring",
}


@pytest.mark.parametrize(("preset", "text"), [(preset, text) for preset in RULES for text in RULES[preset].split("|")])
def test_names_of_rules(preset: str, text: str) -> None:
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
