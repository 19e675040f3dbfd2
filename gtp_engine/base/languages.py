"""The languages of the interface: texts of the terminal, of the command line's summaries and of the pages.

English texts are the keys of gettext's catalogues, `locale/LANGUAGE/LC_MESSAGES/DOMAIN.po`: domain `program` for the
texts of Python, `pages` for those of the pages' HTML and JavaScript.  `scripts/translations` collects them from the
sources; installing the package compiles the catalogues.

    use("ja")
    _("{player} passes.", player=_("Black"))      # 黒はパスしました。
    ngettext("{count} stone", "{count} stones", 3)  # 3子

A process speaks one language, that of `--language` or else of its locale.  A page speaks that of its reader's browser,
unless the page or `--language` says otherwise; review/page/language.js finds the best one as `best_language` does.
GTP, JSON, configuration and error messages are English: programs and bug reports read them.  Those that a person at a
page or in the terminal often causes are translated where they are shown (`message_text`).
"""

import gettext as _gettext
import html
import json
import locale
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from gtp_engine.base.errors import TengenError

ENGLISH: Final = "en"

LANGUAGES: Final = {ENGLISH: "English", "zh-Hans": "简体中文", "zh-Hant": "繁體中文", "ja": "日本語", "ko": "한국어"}
"""Names of the languages in themselves, by their tags (BCP 47)."""

LOCALE: Final = Path(__file__).parent / "locale"
"""The folder of the catalogues."""

_TRADITIONAL: Final = frozenset({"hant", "tw", "hk", "mo"})
"""Scripts and regions whose Chinese is written in traditional characters (CLDR's likely subtags)."""

_VARIABLES: Final = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
"""The environment's variables that name a language, the first that is set (gettext's order)."""

_catalogue: _gettext.NullTranslations | None = None
_spoken, _chosen = ENGLISH, ""


def use(language: str | None = None) -> None:
    """Let this process speak the best of our languages for a tag or the name of a locale; None: that of the system."""
    global _catalogue, _spoken, _chosen
    _spoken = best_language(_system_languages() if language is None else [language])
    _catalogue = _load("program", _spoken)
    _chosen = "" if language is None else best_language([language])


def _(text: str, **values: object) -> str:
    """Return `text` in the language of this process, with `values` in place of their names in braces."""
    translated = _current().gettext(text)
    return translated.format(**values) if values else translated


def translator(accepted: str) -> Callable[[str], str]:
    """Return what translates for a browser that accepts these languages (RFC 9110), unless one was chosen."""
    return _load("program", _chosen or best_language(re.sub(";[^,]*", "", accepted).split(","))).gettext


def later(text: str) -> str:
    """Return `text`, which is kept in English and translated where people see it, by `_(text)`."""
    return text


def ngettext(one: str, many: str, count: float, **values: object) -> str:
    """Return the text for this `count`, which stands for `{count}`, in the language of this process."""
    return _current().ngettext(one, many, 1 if count == 1 else 2).format(count=count, **values)


def rank_text(rank: str) -> str:
    """Return a rank such as "5k" in the language of this process: 5級."""
    number = rank[:-1]
    return _("{number}d", number=number) if rank.endswith("d") else _("{number}k", number=number)


_RULES: Final = (
    later("chinese"), later("japanese"), later("aga"), later("new-zealand"), later("nz"), later("ing"), later("goe"),
    later("tromp-taylor"), later("chinese-ogs"), later("aga-button"), later("stone-scoring"),
    later("ancient-territory"),
)  # fmt: skip


def rules_text(name: str) -> str:
    """Return the name of a rule set, KataGo's or as SGF writes it, in the language of this process; English stays."""
    translated = _(name.lower())
    return name if translated == name.lower() else translated


def margin_text(points: float, rules: str) -> str:
    """Return by how many points a game under rules of this name is won, in the language of this process.

    In Chinese, games under Chinese rules are won by stones (子), each of which is two points, and quarters of them.
    """
    if not rules.startswith("chinese") or not _spoken.startswith("zh"):
        return ngettext("{count} point", "{count} points", points if points % 1 else int(points))
    whole, quarters = divmod(round(2 * points), 4)
    parts = [str(whole)] * (whole > 0 or not quarters) + ["1/4", "1/2", "3/4"][quarters - 1 : quarters or 0]
    return "又".join(parts) + " 子"


_MESSAGES: Final = (
    later("the file has several games: the first was taken; to take another, split the file"),
    later("moves behind the parenthesis that ends the game were left out"), later("the record has no end"),
    later("the record is cut off in a value"), later("the bracket that ends a value is missing"),
    later("brackets in a text lack a backslash"), later("text that belongs to no property was left out"),
    later("komi {value} is not a number and was ignored"),
    later("komi {value} was read as {points} points, which it must mean"),
    later("rules {value} are unknown and were ignored"),
    later("handicap {stones} without stones: the fixed points were assumed"),
    later("move {number}: {reason}; what follows was left out"), later("{number} (black)"), later("{number} (white)"),
    later("illegal move: {reason}"), later("{vertex} is occupied"), later("{vertex} retakes a ko"),
    later("{vertex} repeats an earlier position"), later("{vertex} is suicide"),
    later("result {value} was not understood"), later("not a readable SGF record: no SGF data found"),
    later("the record is of another game, {game}: expected GM[1], Go"), later("cannot open {path}: {reason}"),
    later("board size {value}: expected one or two numbers from 2 to 25, as in 19 or 13:9"),
    # of records from which a rank is estimated, and of their players
    later("a game on {size}: expected one on 19x19, where ranks have been compared"),
    later("a game with handicap or stones set up: expected an even game from the start"),
    later("a game that White begins, as after handicap stones: expected an even game from the start"),
    later("a game with a pass among the first {number} moves: expected an even game from the start"),
    later("a game with komi {komi}: expected an even game from the start"),
    later("a game whose moves {number} and {next} are of one color: expected an even game from the start"),
    later("both players are called {name}: expected two names"),
    later("the same moves as in {record}: expected each game once"),
    later("1 move of a player: expected at least {least} to tell a rank"),
    later("{number} moves of a player: expected at least {least} to tell a rank"),
    later("no usable game of this player"), later("no usable game of this player; the records name {names}"),
    later("{name} looks like a program: people of this rank play like this, which says little about its strength."),
    later("{name}'s moves are unlike those of people from 9d to 5k: weaker or stronger, of a program, or not serious."),
    later("Record {name}: {note}."), later("{record}, game {number}"), later("Black of {record}"),
    later("White of {record}"), later("Black"), later("White"),
)  # fmt: skip
"""Notes and errors that records and files of a person often cause."""


def message_text(message: str) -> str:
    """Return a note or the text of an error in the language of this process, if it is one of `_MESSAGES`.

    So are the parts that stand for names in braces.
    """
    for template in _MESSAGES:
        pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", re.escape(template))
        if found := re.fullmatch(pattern, message):
            return _(template, **{name: message_text(part) for name, part in found.groupdict().items()})
    return message


def page_texts(language: str) -> dict[str, str]:
    """Return the texts of the pages in one of `LANGUAGES`, by their English; plurals by their singular."""
    found = getattr(_load("pages", language), "_catalog", {})
    return {key[0] if isinstance(key, tuple) else key: text for key, text in found.items() if key}


def message_texts(language: str) -> dict[str, str]:
    """Return `_MESSAGES` in one of `LANGUAGES`, by their English."""
    catalogue = _load("program", language)
    return {message: catalogue.gettext(message) for message in _MESSAGES}


def in_language(page: str) -> str:
    """Return a page's HTML with the languages that it can speak, and the one that was chosen for this process."""
    names = html.escape(json.dumps(LANGUAGES, ensure_ascii=False))
    return page.replace("@LANGUAGES@", names).replace("@LANGUAGE@", _chosen)


def best_language(wanted: Iterable[str]) -> str:
    """Return the tag of the first language of `wanted`, tags or names of locales, that we speak; "en" if there is none.

    Chinese without a script is traditional for Taiwan, Hong Kong and Macau, and simplified otherwise.
    """
    for name in wanted:
        first, *rest = re.split(r"[-_.@]", name.strip().lower())
        if first == "zh":
            return "zh-Hant" if _TRADITIONAL.intersection(rest) and "hans" not in rest else "zh-Hans"
        if first in LANGUAGES or first in ("c", "posix"):
            return first if first in LANGUAGES else ENGLISH
    return ENGLISH


def _current() -> _gettext.NullTranslations:
    if _catalogue is None:
        use()
    assert _catalogue is not None
    return _catalogue


def _load(domain: str, language: str) -> _gettext.NullTranslations:
    """Return the compiled catalogue; English needs none.  Raises TengenError if it was not compiled."""
    if language == ENGLISH:
        return _gettext.NullTranslations()
    try:
        return _gettext.translation(domain, LOCALE, [language.replace("-", "_")])
    except FileNotFoundError as error:
        reason = f"the texts in {LANGUAGES[language]} are not compiled"
        raise TengenError(reason, advice="install the package, in a checkout with pip install -e .") from error


def _system_languages() -> Iterator[str]:
    """Return the languages of the environment, else that of Windows, the preferred first."""
    for variable in _VARIABLES:
        if value := os.environ.get(variable):
            yield from value.split(":")
            return
    if sys.platform == "win32":
        import ctypes

        yield locale.windows_locale.get(ctypes.windll.kernel32.GetUserDefaultUILanguage(), ENGLISH)
