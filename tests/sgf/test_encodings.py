"""Records without CA: words about Go, or names alone, tell the encoding."""

import pytest
from texts import texts

from gtp_engine.sgf import parse_sgf
from gtp_engine.sgf.foreign.encodings import encoding_of, is_binary
from gtp_engine.sgf.game_tree import GameTree

JAPANESE = (
    "井山裕太 一力遼 芝野虎丸 許家元 羽根直樹 張栩 依田紀基 小林覚 趙治勲 武宮正樹 加藤正夫 大竹英雄 坂田栄男 石田芳夫"
)
NAMES = {
    "gb18030": "柯洁 常昊 李钦诚 唐韦星 周睿羊 连笑 江维杰 王星昊 丁浩 屠晓宇 马晓春 聂卫平",
    "big5hkscs": "曹薰鉉 周俊勳 林海峰 王立誠 張栩 蕭正浩 王元均 周平強 陳永安 林至涵 黑嘉嘉 聶衛平 馬曉春 劉昌赫",
    "cp932": JAPANESE,
    "euc_jp": JAPANESE,
    "cp949": "이창호 조훈현 서봉수 유창혁 이세돌 최철한 박영훈 강동윤 김지석 박정환 신진서 변상일 신민준 이동훈",
}


@pytest.mark.parametrize("encoding", NAMES)
def test_two_names_tell_the_encoding(encoding: str) -> None:
    names = NAMES[encoding].split()
    for black, white in zip(names, names[1:] + names[:1], strict=True):
        record = parse_sgf(f"(;GM[1]SZ[19]PB[{black}]BR[9d]PW[{white}]KM[6.5];B[pd];W[dp])".encode(encoding))
        assert (record.black_name, record.white_name) == (black, white)


@pytest.mark.parametrize("encoding", NAMES)
@pytest.mark.parametrize("start", ["(;", "(\n"])
def test_results_and_comments_tell_it_too(encoding: str, start: str) -> None:
    text = {"cp949": "흑 불계승", "gb18030": "乗俓 白胜3目半", "big5hkscs": "黑中盤勝"}.get(encoding, "黒中押し勝ち")
    record = parse_sgf(f"{start}PB[A]PW[B]RE[{text}]KO[6.5];B[pd];W[dp])".encode(encoding))
    assert (record.result, len(record.moves)) == (text, 2)


WESTERN = {
    "latin-1": "Jürgen Müller|François Béal|Þórður Ægisson|José Núñez|ÄÖÜ|çãõ|Größe|für Weiß: à ça déjà «non» l½ 3½ ±°",
    "cp1252": "l\u2019idée, l\u2019île – Voilà, c\u2019est “bien” … d\u2019accord – V",
    "koi8-r": "Чёрные играют в углу, белые отвечают тэнуки|Партия Сергея и Александра",
    "cp1251": "Чёрные играют в углу, белые отвечают тэнуки|Партия Сергея и Александра|Казань",
    "cp1250": "Černý hraje špatně, bílý může žít|Łukasz Świątek",
    "iso8859-7": "μαύρος παίζει πρώτος και κερδίζει με μισό πόντο",
    "gb18030": "乗俓",
}


@pytest.mark.parametrize(("encoding", "text"), [(each, text) for each in WESTERN for text in WESTERN[each].split("|")])
def test_other_texts_stay_latin_1(encoding: str, text: str) -> None:
    assert encoding_of(f"(;PB[{text}]PW[{text}];B[pd])".encode(encoding)) in ("latin-1", "cp1252")


@pytest.mark.parametrize(("kind", "charset", "name"), texts("encodings"))
def test_every_usual_encoding_that_a_record_names_is_read(kind: str, charset: str, name: str) -> None:
    encoding = kind.removeprefix("in ")
    data = f"(;CA[{charset}]SZ[9]PB[{name}]C[{name}];B[cc];W[dd])".encode(encoding)
    record = parse_sgf(data)
    assert (record.black_name, len(record.moves)) == (name, 2)
    assert GameTree(data).to_bytes() == data


@pytest.mark.parametrize(("encoding", "name"), [("iso2022_jp", "能見表一"), ("iso2022_kr", "박정환")])
def test_shifts_of_iso_2022_are_known_without_a_name(encoding: str, name: str) -> None:
    """The bytes of these characters are letters and brackets elsewhere."""
    data = f"(;SZ[9]PB[{name}]EV[{name}];B[cc];W[dd])".encode(encoding)
    for record in map(parse_sgf, (data, data.replace(b"\x1b$B", b"\x1b$@"))):  # that of 1978
        assert (record.black_name, len(record.moves)) == (name, 2) and not is_binary(data)


def test_pictures_are_no_text() -> None:
    files = (b"\x89PNG\r\n\x1a\n\0\0\0\r", b"(;B[aa])\x10", "(;C[é])".encode("utf-16"), b"(;B[aa])\x1a\0\0", b"")
    assert [is_binary(data) for data in files] == [True, True, False, False, False]
