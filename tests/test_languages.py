"""The languages of the interface: which one is taken, and what the catalogues make of a text."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from gtp_engine.base import languages
from gtp_engine.base.errors import SgfError, TengenError
from gtp_engine.base.languages import LANGUAGES, LOCALE, best_language
from gtp_engine.sgf import parse_sgf

TEXTS = ("_", "later", "ngettext")
CATALOGUES = sorted(LOCALE.glob("*/LC_MESSAGES/*.po"))


@pytest.mark.parametrize(
    ("wanted", "language"),
    [
        (["ja_JP.UTF-8"], "ja"), (["ko"], "ko"), (["zh"], "zh-Hans"), (["zh_CN.GB18030"], "zh-Hans"),
        (["zh-TW"], "zh-Hant"), (["zh_HK.UTF-8"], "zh-Hant"), (["zh-MO"], "zh-Hant"), (["zh-Hant-CN"], "zh-Hant"),
        (["zh-Hans-TW"], "zh-Hans"), (["de", " ko-KR"], "ko"), (["en-GB", "ja"], "en"), (["C"], "en"),
        (["C.UTF-8", "ja"], "en"), (["POSIX"], "en"), ([""], "en"), ([], "en")
    ],
)  # fmt: skip
def test_the_first_language_that_we_speak_is_taken(wanted: list[str], language: str) -> None:
    assert best_language(wanted) == language


@pytest.mark.parametrize(
    ("variables", "language"),
    [
        ({"LANG": "ja_JP.UTF-8"}, "ja"),
        ({"LANG": "ja_JP.UTF-8", "LC_ALL": "de_DE.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LANGUAGE": "de:ko:en"}, "ko"),
        ({"LANG": "zh_TW.UTF-8", "LC_MESSAGES": ""}, "zh-Hant"),
        ({}, "en"),
    ],
)
def test_the_environment_names_the_language(
    variables: dict[str, str], language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert best_language(languages._system_languages()) == language


def test_there_is_a_catalogue_of_both_domains_for_every_language_but_english() -> None:
    found = {(path.parent.parent.name.replace("_", "-"), path.stem) for path in CATALOGUES}
    assert found == {(tag, domain) for tag in LANGUAGES if tag != "en" for domain in ("pages", "program")}


def test_values_and_counts_stand_where_the_text_names_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "ja" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    source = tmp_path / "program.po"
    source.write_text(
        'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\nPlural-Forms: nplurals=1; plural=0;\\n"\n\n'
        'msgid "{player} plays {vertex}."\nmsgstr "{player}は{vertex}"\n\n'
        'msgid "{count} stone"\nmsgid_plural "{count} stones"\nmsgstr[0] "{count}子"\n',
        encoding="utf-8",
    )
    with source.open("rb") as text, (folder / "program.mo").open("wb") as target:
        write_mo(target, read_po(text, locale="ja"))
    monkeypatch.setattr(languages, "LOCALE", tmp_path)
    languages.use("ja")
    assert languages._("{player} plays {vertex}.", player="黒", vertex="D4") == "黒はD4"
    assert languages._("Not {known}.", known="yet") == "Not yet."
    assert languages.ngettext("{count} stone", "{count} stones", 3) == "3子"
    languages.use("en")
    assert [languages.ngettext("{count} stone", "{count} stones", count) for count in (0, 1, 2, 1.5)] == [
        "0 stones",
        "1 stone",
        "2 stones",
        "1.5 stones",
    ]
    with pytest.raises(TengenError, match="한국어 are not compiled; install the package"):
        languages.use("ko")


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: f"{path.parent.parent.name}-{path.stem}")
def test_a_translation_names_the_values_of_its_text(path: Path) -> None:
    names = re.compile(r"\{(\w+)[^}]*\}")
    with path.open("rb") as source:
        for message in read_po(source, locale=path.parent.parent.name):
            keys = [message.id] if isinstance(message.id, str) else list(message.id)
            texts = [message.string] if isinstance(message.string, str) else list(message.string)
            for text in texts if message.id and any(texts) else ():
                assert set(names.findall(text)) == set(names.findall(keys[-1])), message.id


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        ("en", ["5k", "1d", "chinese", "Chinese", "AGA", "{}"]),
        ("zh-Hans", ["5 级", "1 段", "中国", "中国", "AGA", "{}"]),
        ("ja", ["5級", "1段", "中国", "中国", "AGA", "{}"]),
        ("ko", ["5급", "1단", "중국", "중국", "AGA", "{}"]),
    ],
)
def test_ranks_and_rule_sets_have_the_names_of_the_language(language: str, texts: list[str]) -> None:
    """They were "5k" and "chinese" within texts of any language."""
    languages.use(language)
    assert [languages.rank_text("5k"), languages.rank_text("1d")] == texts[:2]
    assert [languages.rules_text(name) for name in ("chinese", "Chinese", "AGA", "{}")] == texts[2:]


@pytest.mark.parametrize(
    ("points", "rules", "chinese", "japanese"),
    [
        (0.5, "chinese", "1/4 子", "0.5目"), (7.5, "chinese", "3又3/4 子", "7.5目"),
        (2.0, "chinese-ogs", "1 子", "2目"), (3.0, "chinese", "1又1/2 子", "3目"), (0.0, "chinese", "0 子", "0目"),
        (3.5, "japanese", "3.5 目", "3.5目"), (3.5, "", "3.5 目", "3.5目")
    ],
)  # fmt: skip
def test_games_under_chinese_rules_are_won_by_stones_in_chinese(
    points: float, rules: str, chinese: str, japanese: str
) -> None:
    texts = {}
    try:
        for language in ("zh-Hans", "zh-Hant", "ja"):
            languages.use(language)
            texts[language] = languages.margin_text(points, rules)
    finally:
        languages.use("en")
    assert texts == {"zh-Hans": chinese, "zh-Hant": chinese, "ja": japanese}


def test_a_page_says_which_languages_it_speaks() -> None:
    languages.use("ja")
    page = languages.in_language('<html data-language="@LANGUAGE@" data-languages="@LANGUAGES@">')
    assert 'data-language="ja"' in page
    assert "&quot;ko&quot;: &quot;한국어&quot;" in page
    assert languages.translator("ko")("Black") == "黒", "the one that was chosen"
    languages.use()
    assert languages.in_language("@LANGUAGE@") == ""
    assert languages.translator("de;q=1, ko;q=0.5, ja")("Black") == "흑"


def test_no_text_is_given_as_an_f_string() -> None:
    """Babel finds none on Python 3.12 and later, and warns of those among the values too."""
    found = []
    for path in sorted(LOCALE.parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            is_text = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in TEXTS
            if is_text and any(isinstance(part, ast.JoinedStr) for part in ast.walk(node)):
                found.append(f"{path}:{node.lineno}")
    assert found == []


def test_every_text_is_in_every_catalogue() -> None:
    """`scripts/translations` adds them, and lists what is to be translated."""
    script = Path(__file__).parent.parent / "scripts" / "translations"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("", 0)


RECORDS = {
    "several games": "(;SZ[9])(;SZ[9])",
    "no end": "(;SZ[9];B[aa]",
    "cut off": "(;SZ[9];B[aa];W[b",
    "brackets": "(;SZ[9]C[a [b] c];B[aa])",
    "komi": "(;SZ[9]KM[much];B[aa])",
    "rules": "(;SZ[9]RU[mine];B[aa])",
    "result": "(;SZ[9]RE[who knows];B[aa])",
    "illegal move": "(;SZ[9];B[aa];W[aa])",
}
REFUSED = ("hello", "(;GM[2];B[aa])", "(;SZ[99];B[aa])")


@pytest.mark.parametrize("language", [tag for tag in languages.LANGUAGES if tag != "en"])
def test_what_a_damaged_record_causes_is_read_in_the_readers_language(language: str) -> None:
    """Notes and errors stood in English within sentences of other languages."""
    messages = [note for text in RECORDS.values() for note in parse_sgf(text.encode()).notes]
    for text in REFUSED:
        with pytest.raises(SgfError) as caught:
            parse_sgf(text.encode())
        messages.append(str(caught.value))
    assert len(messages) >= len(RECORDS) + len(REFUSED)
    languages.use(language)
    assert [message for message in messages if languages.message_text(message) == message] == []
    nested = "move 2 (black): illegal move: A9 is occupied; what follows was left out"
    assert re.search("[a-z]", languages.message_text(nested)) is None, "the parts, too"
    texts = languages.page_texts(language)
    assert "{count} point" in texts and not {"", "{count} points"} & {*texts}, "plurals by their singular"
    assert [text for english, text in languages.message_texts(language).items() if text == english] == [], "on the page"
