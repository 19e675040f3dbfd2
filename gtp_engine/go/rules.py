"""Rule sets as plain values: names, KataGo's JSON and compact forms, handicap bonus, default komi.

Not here: the effect of the rules.  `board` implements suicide and simple ko, `game` superko and the end of the game,
`scoring` the score.  Komi is not part of the rules; a rule set only has a usual komi (`Rules.default_komi`).

Names (but for cgos), fields, defaults and texts follow KataGo 1.17 (`cpp/game/rules.cpp`, `docs/GTP_Extensions.md`),
because front ends send and expect exactly those.  Where a country's written rules differ from its tournaments (Chinese
superko, Japanese confirmation of dead stones), we follow KataGo.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, NamedTuple

from gtp_engine.base.errors import SHOWN_VALUE_LENGTH, RulesError, of_kind, shown


class Ko(StrEnum):
    """Which repetitions are forbidden; retaking a single-stone ko at once is forbidden under all of them."""

    SIMPLE = "SIMPLE"
    """Only retaking a ko at once is forbidden; longer cycles are legal, and people end such games without a result."""
    POSITIONAL = "POSITIONAL"
    """Positional superko: no move may recreate an earlier board, with either side to play."""
    SITUATIONAL = "SITUATIONAL"
    """Situational superko: no move may recreate an earlier board with the same side to play."""


class Scoring(StrEnum):
    """Which points count."""

    AREA = "AREA"
    """Own stones on the board and the points they surround."""
    TERRITORY = "TERRITORY"
    """Surrounded points and captured or dead enemy stones."""


class Tax(StrEnum):
    """Which surrounded points do not count."""

    NONE = "NONE"
    """All of them count."""
    SEKI = "SEKI"
    """Eyes of groups in seki do not count."""
    ALL = "ALL"
    """As SEKI, and every living group pays up to two points for the two eyes it needs (stone scoring)."""


class HandicapBonus(StrEnum):
    """Points White receives for Black's N handicap stones."""

    ZERO = "0"
    N = "N"
    N_MINUS_1 = "N-1"


class _Key(NamedTuple):
    """One rule: KataGo's JSON key, our field, the key of the compact form, the type (None: true or false)."""

    name: str
    field: str
    compact: str
    kind: type[StrEnum] | None

    @property
    def words(self) -> tuple[str, ...]:
        """Return the texts a value may have."""
        return ("true", "false") if self.kind is None else tuple(self.kind)


_KEYS: Final = (
    _Key("ko", "ko", "ko", Ko),
    _Key("scoring", "scoring", "score", Scoring),
    _Key("tax", "tax", "tax", Tax),
    _Key("suicide", "suicide", "sui", None),
    _Key("hasButton", "has_button", "button", None),
    _Key("whiteHandicapBonus", "white_handicap_bonus", "whb", HandicapBonus),
    _Key("friendlyPassOk", "friendly_pass_ok", "fpok", None),
)


@dataclass(frozen=True)
class Rules:
    """A rule set; the defaults are Tromp-Taylor's, as in KataGo's JSON with keys left out.

    `suicide`: a move may remove the mover's own chain of several stones; single-stone suicide is always illegal.
    `has_button`: the first pass takes the button, worth half a point, and does not count towards ending the game.
    `white_handicap_bonus`: points for White in handicap games, see `handicap_points`.
    `friendly_pass_ok`: players may pass and agree on dead stones instead of capturing them first.
    Raises RulesError for undefined combinations (a button without area scoring) and for values of other types.

    >>> print(Rules.parse("Japanese"), Rules.parse("Japanese").default_komi())
    japanese 6.5
    """

    ko: Ko = Ko.POSITIONAL
    scoring: Scoring = Scoring.AREA
    tax: Tax = Tax.NONE
    suicide: bool = True
    has_button: bool = False
    white_handicap_bonus: HandicapBonus = HandicapBonus.ZERO
    friendly_pass_ok: bool = False

    def __post_init__(self) -> None:
        for key in _KEYS:
            value = getattr(self, key.field)
            if not isinstance(value, key.kind or bool):
                raise RulesError(f"{key.name} {shown(value)}", expected=" or ".join(key.words))
        if self.has_button and self.scoring is not Scoring.AREA:
            given = f"hasButton true with scoring {self.scoring}"
            raise RulesError(given, expected="scoring AREA", advice="set hasButton to false first")

    def __str__(self) -> str:
        """Return the name of the preset, or else KataGo's JSON: what `parse` reads."""
        return self.preset_name() or self.to_json()

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    @staticmethod
    def parse(text: str) -> "Rules":
        """Return the rules that `text` describes.

        Accepts a preset's name (any case; `-`, `_` and spaces may be swapped or left out), KataGo's JSON with any
        key left out, or the compact form KataGo writes into game records ("koSIMPLEscoreAREAtaxNONEsui0").
        Missing keys have Tromp-Taylor's values, except that territory scoring implies `tax` SEKI.  Raises RulesError.
        """
        text = of_kind(text, str, "rules").strip()
        preset = _BY_SQUEEZED_NAME.get(_squeeze(text))
        if preset is not None:
            return preset
        if text.startswith("{"):
            values = _read_json(text)
        elif _COMPACT.match(text):
            values = _read_compact(text)
        else:
            raise _unknown_name(text, [*PRESETS, "a JSON object"])
        if values.get("scoring") is Scoring.TERRITORY:
            values.setdefault("tax", Tax.SEKI)
        return Rules(**values)

    @staticmethod
    def of(rules: "Rules | str") -> "Rules":
        """Return rules given as such, or as the text that `parse` reads; raises RulesError."""
        if isinstance(rules, Rules):
            return rules
        if not isinstance(rules, str):
            raise RulesError(f"rules {shown(rules)}", expected="Rules, or a text such as chinese")
        return Rules.parse(rules)

    @staticmethod
    def parse_kgs(text: str) -> "Rules":
        """Return the rules for an argument of `kgs-rules`; raises RulesError for any other text."""
        name = KGS_NAMES.get(of_kind(text, str, "rules").strip().lower())
        if name is None:
            raise _unknown_name(text, KGS_NAMES)
        return PRESETS[name]

    def to_json(self) -> str:
        """Return the rules as KataGo's `kata-get-rules` prints them: one line, every key, sorted, no komi."""
        values = {key.name: getattr(self, key.field) for key in _KEYS}
        return json.dumps(values, separators=(",", ":"), sort_keys=True)

    def with_value(self, key: str, text: str) -> "Rules":
        """Return the rules with one of KataGo's keys set from text (`kata-set-rule`), the others unchanged.

        Keys and values in any case; "score" is another name for "scoring".  Raises RulesError.
        """
        known = _key(of_kind(key, str, "key").strip())
        return replace(self, **{known.field: _parse_word(known, of_kind(text, str, "value").strip())})

    def preset_name(self) -> str | None:
        """Return the first preset with these rules, or None; of equal presets (japanese, korean) the first."""
        return next((name for name, rules in PRESETS.items() if rules == self), None)

    def default_komi(self) -> float:
        """Return the usual komi under the rules, in points for White."""
        by_area = _KOMI_BUTTON if self.has_button else _KOMI_AREA
        usual = _KOMI_TERRITORY if self.scoring is Scoring.TERRITORY else by_area
        return _OTHER_KOMI.get(self, usual)

    def fair_komi(self, width: int, height: int) -> float:
        """Return the komi for an even game on a board, in points for White: the usual one, but for 9x9.

        There 7 is a draw with best play by area, and 7.5 lets White win (KataGo's 9x9 opening book, katagobooks.org).
        """
        usual = self.default_komi()
        return _KOMI_9X9 if (width, height) == (9, 9) and usual == _KOMI_AREA else usual

    def handicap_points(self, stones: int) -> int:
        """Return the points White receives for `stones` handicap stones; fewer than two are not a handicap."""
        if stones < 2 or self.white_handicap_bonus is HandicapBonus.ZERO:
            return 0
        return stones if self.white_handicap_bonus is HandicapBonus.N else stones - 1


# --- Presets -----------------------------------------------------------------------------------------------------

_KOMI_AREA: Final = 7.5
_KOMI_TERRITORY: Final = 6.5
_KOMI_BUTTON: Final = 7.0
_KOMI_9X9: Final = 7.0
"""Points; KataGo's defaults.  A button is worth half a point, so area komi drops by one half."""

_CHINESE: Final = Rules(ko=Ko.SIMPLE, suicide=False, white_handicap_bonus=HandicapBonus.N, friendly_pass_ok=True)
_CHINESE_SERVER: Final = replace(_CHINESE, ko=Ko.POSITIONAL)
_JAPANESE: Final = Rules(ko=Ko.SIMPLE, scoring=Scoring.TERRITORY, tax=Tax.SEKI, suicide=False)
_STONES: Final = Rules(ko=Ko.SIMPLE, tax=Tax.ALL, suicide=False, friendly_pass_ok=True)
_AGA: Final = replace(_CHINESE, ko=Ko.SITUATIONAL, white_handicap_bonus=HandicapBonus.N_MINUS_1)
_NEW_ZEALAND: Final = Rules(ko=Ko.SITUATIONAL, friendly_pass_ok=True)
_ING: Final = Rules(friendly_pass_ok=True)
_CGOS: Final = Rules(suicide=False)
"""The Computer Go Server's rules, which count every stone left on the board; KataGo has no name for them."""

PRESETS: Final[Mapping[str, Rules]] = {
    "tromp-taylor": Rules(),
    "chinese": _CHINESE,
    "chinese-ogs": _CHINESE_SERVER,
    "chinese-kgs": _CHINESE_SERVER,
    "japanese": _JAPANESE,
    "korean": _JAPANESE,
    "stone-scoring": _STONES,
    "ancient-area": _STONES,
    "ancient-territory": replace(_JAPANESE, tax=Tax.ALL),
    "aga": _AGA,
    "bga": _AGA,
    "french": _AGA,
    "aga-button": replace(_AGA, has_button=True),
    "new-zealand": _NEW_ZEALAND,
    "nz": _NEW_ZEALAND,
    "ing": _ING,
    "goe": _ING,
    "cgos": _CGOS,
}
"""Every preset by its name, in the order of the documents' table."""

_OTHER_KOMI: Final = {_NEW_ZEALAND: 7.0}
"""Usual komi of presets that have another one than their scoring and their button suggest, points."""

KGS_NAMES: Final = {"chinese": "chinese-kgs", "japanese": "japanese", "aga": "aga", "new_zealand": "new-zealand"}
"""The presets for the arguments of `kgs-rules` (KGS plays Chinese rules with positional superko)."""


def _squeeze(name: str) -> str:
    """Return a name without case, hyphens, underscores and spaces."""
    return re.sub(r"[-_\s]", "", name).lower()


_BY_SQUEEZED_NAME: Final = {_squeeze(name): rules for name, rules in PRESETS.items()}


def _unknown_name(text: str, names: Iterable[str]) -> RulesError:
    """Return the error for a name that is none of `names`, with the closest one as advice."""
    from difflib import get_close_matches  # here: importing it takes milliseconds, which only a mistake needs

    known = list(names)
    close = get_close_matches(text.lower()[:SHOWN_VALUE_LENGTH], known, n=1)
    advice = f"did you mean {close[0]}?" if close else ""
    return RulesError(f"rules {shown(text)}", expected=f"one of {', '.join(known)}", advice=advice)


# --- Keys and values ---------------------------------------------------------------------------------------------


_BY_KEY_NAME: Final = {name.lower(): key for key in _KEYS for name in (key.name, key.compact)}

_COMPACT: Final = re.compile(r"(?P<key>ko|scoring|score|tax|sui|button|whb|fpok)\s*(?P<word>[A-Z]+(?:-1)?|[01])\s*")
_COMPACT_FLAGS: Final = {"0": "false", "1": "true"}


def _key(name: str) -> _Key:
    """Return the key called `name`, in any case; raises RulesError."""
    key = _BY_KEY_NAME.get(name.lower())
    if key is not None:
        return key
    advice = "set the komi with the command komi" if name.lower() == "komi" else ""
    known = ", ".join(key.name for key in _KEYS)
    raise RulesError(f"rule {shown(name)}", expected=f"one of {known}", advice=advice)


def _parse_word(key: _Key, text: str) -> Any:
    """Return the value `text` means for `key`, of the type of its field, in any case; raises RulesError."""
    word = text.lower() if key.kind is None else text.upper()
    if word not in key.words:
        advice = "Spight's ko rule is not supported" if key.kind is Ko and word == "SPIGHT" else ""
        raise RulesError(f"{key.name} {shown(text)}", expected=" or ".join(key.words), advice=advice)
    return word == "true" if key.kind is None else key.kind(word)


def _read_json(text: str) -> dict[str, Any]:
    """Return the fields a JSON object gives; raises RulesError for bad JSON, keys and values."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        example = '{"ko":"SIMPLE","scoring":"AREA"}'
        raise RulesError(f"rules {shown(text)}", expected=f"a JSON object such as {example}") from None
    values: dict[str, Any] = {}
    for name, value in data.items():
        key = _key(name)
        if not isinstance(value, bool if key.kind is None else str):
            raise RulesError(f"{key.name} {shown(value)}", expected=" or ".join(key.words))
        values[key.field] = _parse_word(key, str(value))
    return values


def _read_compact(text: str) -> dict[str, Any]:
    """Return the fields KataGo's compact form gives; raises RulesError."""
    values: dict[str, Any] = {}
    position = 0
    while position < len(text):
        match = _COMPACT.match(text, position)
        if match is None:
            rest = shown(text[position:])
            raise RulesError(f"rules {rest}", expected="the form koSIMPLEscoreAREAtaxNONEsui0")
        key, word = _key(match["key"]), match["word"]
        values[key.field] = _parse_word(key, _COMPACT_FLAGS.get(word, word) if key.kind is None else word)
        position = match.end()
    return values
