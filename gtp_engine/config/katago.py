"""KataGo's names of settings, mapped to our options: front ends written for KataGo send them.

They arrive as parameters of `kata-set-param`, as `overrideSettings` of an analysis query, as `-override-config` and in
KataGo's config files.  An option declares its name in KataGo where it is declared itself.  Facts from KataGo 1.17
(`cpp/program/setup.cpp`, `cpp/command/gtp.cpp`, `cpp/core/config_parser.cpp`, `docs/GTP_Extensions.md`,
`docs/Analysis_Engine.md`).  Settings of threads, devices and logs have no counterpart; `_INSTEAD` says what takes their
place.  All others are unknown, which callers report.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Final

from gtp_engine import __version__
from gtp_engine.base.errors import ConfigError, shown, shown_json, shown_path
from gtp_engine.base.files import MAX_TEXT_BYTES, read_regular
from gtp_engine.config.config import Config
from gtp_engine.config.human import nearest_profile_line
from gtp_engine.config.option import Value

KATAGO_VERSION: Final = "1.17.2"
"""The version of KataGo whose commands, queries and command line these are."""

GTP_VERSION: Final = f"{KATAGO_VERSION} (Tengen {__version__})"
"""The answer to GTP's `version`, unless the option gtp.version gives another.

Programs compare its first word with versions of other engines, to know which commands there are.  Lizzie and LizzieYzy
take engines whose name does not begin with KataGo for Leela Zero, read the number after the first dot, and want 15 or
17; LizzieYzy shows more with a KataGo above 1.10.
"""

NO_VISITS_LIMIT: Final = 2**50
"""KataGo's maxVisits for no limit; ours is 0."""

NO_TIME_LIMIT: Final = 1e20
"""KataGo's maxTime for no limit, in seconds; ours is "not set"."""

ALL_SYMMETRIES: Final = 8
"""KataGo's rootNumSymmetriesToSample for the average over all of them."""

_COLORS: Final = {"b": "black", "w": "white"}
"""The short names of colours that KataGo accepts too."""


GTP_OPTIONS: Final[Mapping[str, str]] = {
    name: known.key for known in Config.options() for name in (known.katago, known.katago_gtp) if name
}
"""Options by KataGo's name, for GTP."""

ANALYSIS_OPTIONS: Final[Mapping[str, str]] = {
    name: known.key for known in Config.options() for name in (known.katago, known.katago_analysis) if name
}
"""The same for `gtp-engine analysis`."""


START_OPTIONS: Final = {known.katago_start: known.key for known in Config.options() if known.katago_start}
"""The same for settings that only a config file, or `-override-config`, can have."""


CONSTANTS: Final = {"preventCleanupPhase": True, "useNonBuggyLcb": True, "avoidMYTDaggerHack": False}
"""KataGo's settings that programs read or send and that cannot be changed here."""

_RULES: Final = {
    "koRule": "ko",
    "scoringRule": "scoring",
    "taxRule": "tax",
    "multiStoneSuicideLegal": "suicide",
    "hasButton": "hasButton",
    "friendlyPassOk": "friendlyPassOk",
    "whiteHandicapBonus": "whiteHandicapBonus",
}
"""KataGo's settings of single rules, which take the place of `rules`, with the keys of its JSON for rules."""

_INSTEAD: Final = (
    (r"log[A-Z].*|startupPrintMessageToStderr|warnUnusedFields", "--log"),
    (r"num\w*Threads\w*|minPlayoutsPerThread|nnMaxBatchSize", "--network-threads, --eval-batch and --parallel"),
    (r"(cuda|trt|opencl|metal|rocm|onnx|eigen)[A-Z].*|(device|gpu)ToUse.*", "--provider, --device and --precision"),
    (r"gtpForceMaxNNSize|maxBoard[XY]?SizeForNNBuffer|requireMaxBoardSize", "nothing: any board size is ready"),
    (r"(nn|node|subtree)\w+(PowerOfTwo|NumShards)|mutexPoolSize", "--cache-positions and --max-memory"),
    (r"nnRand\w+|searchRandSeed|forDeterministicTesting", "--seed"),
    (r"treeReuseCarryOverTimeFactor", "--early-stop, which counts the visits of the reused tree"),
    (r"numBots|graphSearchCatchUpProp", "nothing: one search at a time"),
    (r"cleanupBeforePass|friendlyPass", "--rules, whose friendlyPassOk decides, and GTP's kgs-genmove_cleanup"),
    (r"avoidSgf\d+Pattern\w+", "--avoid-sgf, which takes several folders"),
    (r"homeDataDir", "the variable TENGEN_DATA_DIR"),
)
"""KataGo's settings of a machine, as patterns, and what takes their place."""


UNUSED_BY_ANALYSES: Final = re.compile(
    r"lagBuffer|num(SearchThreads|Bots)|minPlayoutsPerThread|mutexPoolSize|nodeTableShardsPowerOfTwo"
    r"|max(Playouts|Time|Visits)Pondering|(overallocate|midgame|obviousMoves)TimeFactor|midgameTurnPeakTime"
    r"|endgameTurnTimeDecay|obviousMovesPolicy\w+Tolerance|searchFactorAfter(One|Two)Pass"
    r"|treeReuseCarryOverTimeFactor|graphSearchCatchUpProp|avoidRepeatedPatternUtility"
)
"""KataGo's settings of a search that a query may have, and that change nothing in an analysis; KataGo reads them all
(`Setup::loadParams` in cpp/program/setup.cpp)."""


# --- values ---


@dataclass(frozen=True)
class _Form:
    """How KataGo writes the values of an option: `read` converts its text (in lower case), `show` our value."""

    read: Callable[[str], Value]
    show: Callable[[Value], Value]


def _limit(most: float, unlimited: Value) -> _Form:
    """Return the form of a limit: KataGo's values from `most` up mean no limit, which is `unlimited` here."""
    return _Form(
        lambda word: _converted(word, lambda value: unlimited if value >= most else word),
        lambda value: most if value == unlimited else value,
    )


_COLOR_FORM: Final = _Form(lambda word: _COLORS.get(word, word), lambda value: str(value).upper())


def _read_symmetries(word: str) -> Value:
    """Return whether a number of symmetries is more than one; our own values stay.  Raises ConfigError."""
    if word in ("true", "false"):
        return word
    if word not in map(str, range(1, ALL_SYMMETRIES + 1)):
        raise ConfigError(shown(word), expected=f"an integer from 1 to {ALL_SYMMETRIES}")
    return word != "1"


_ORIENTATION_FORM: Final = _Form(
    lambda word: {"0": "none", "-1": "any"}.get(word, word),
    lambda value: {"none": "0", "any": "-1"}.get(str(value), value),
)

_SYMMETRIES_FORM: Final = _Form(_read_symmetries, lambda value: ALL_SYMMETRIES if value else 1)

_WINRATE_FORM: Final = _Form(  # KataGo's value is win − loss, from −1 to 1; without the error of binary fractions
    lambda word: _converted(word, lambda value: round((value + 1.0) / 2.0, 12)),
    lambda winrate: _converted(str(winrate), lambda value: round(2.0 * value - 1.0, 12)),
)


def _converted(word: str, formula: Callable[[float], Value]) -> Value:
    """Return the result of a formula for a number; other text as it is."""
    try:
        return formula(float(word))
    except (ValueError, OverflowError):
        return word


_FORMS: Final = {
    "search.visits": _limit(NO_VISITS_LIMIT, 0),
    "search.playouts": _limit(NO_VISITS_LIMIT, 0),
    "time.ponder_visits": _limit(NO_VISITS_LIMIT, 0),
    "time.ponder_playouts": _limit(NO_VISITS_LIMIT, 0),
    "time.effort_winrate": _WINRATE_FORM,
    "play.resign_winrate": _WINRATE_FORM,
    "time.max_time": _limit(NO_TIME_LIMIT, None),
    "analysis.analysis_time": _limit(NO_TIME_LIMIT, None),
    "gtp.analysis_perspective": _COLOR_FORM,
    "analysis.perspective": _COLOR_FORM,
    "puct.playout_doubling_advantage_color": _COLOR_FORM,
    "puct.root_average": _SYMMETRIES_FORM,
    "network.symmetry": _ORIENTATION_FORM,
}
"""The options that KataGo writes differently."""


def shown_as_katago(key: str, value: Value) -> Value:
    """Return the value of an option in KataGo's form."""
    form = _FORMS.get(key)
    return value if form is None else form.show(value)


class UnknownSettingError(ConfigError):
    """A setting of KataGo's that is not known, or has a value that it cannot have here."""


def read_setting(name: str, value: object, options: Mapping[str, str]) -> dict[str, Value]:
    """Return the option that a setting by KataGo's name changes, with its value from text or JSON.

    Constants change none.  Raises UnknownSettingError for a name that is not in `options` and for other values of
    constants, ConfigError for a value that is not a number, text, true or false; `Config.with_values` checks the rest.
    """
    if name in CONSTANTS:
        only = str(CONSTANTS[name]).lower()
        if str(value).lower() != only:
            raise UnknownSettingError(f"{name} {shown(str(value))}", expected=only)
        return {}
    if name not in options:
        raise UnknownSettingError(f"setting {shown(name)}", expected="one of KataGo's that is known here")
    if not isinstance(value, bool | int | float | str):
        raise ConfigError(shown_json(value), expected="a number, true, false or a text")
    key = options[name]
    form = _FORMS.get(key)
    return {key: value if form is None else form.read(str(value).strip().lower())}


def with_katago_settings(
    config: Config, settings: Mapping[str, object], options: Mapping[str, str] = ANALYSIS_OPTIONS
) -> tuple[Config, tuple[str, ...]]:
    """Return the configuration with settings by KataGo's names, and the names that are not known.

    Raises ConfigError naming the setting whose value cannot be used; nothing is set then.
    """
    unknown = []
    for name, value in settings.items():
        try:
            config = config.with_values(read_setting(name, value, options))
        except UnknownSettingError:
            unknown.append(name)
        except ConfigError as error:
            raise ConfigError(f"{name}: {error}") from None
    return config, tuple(unknown)


def with_start_settings(
    config: Config, settings: Mapping[str, str], *, for_gtp: bool
) -> tuple[Config, tuple[str, ...]]:
    """Return the configuration with the settings of KataGo's config files, and lines for the user about the others.

    Raises ConfigError naming the setting whose value cannot be used.
    """
    left = {name: value for name, value in settings.items() if name not in _RULES and instead_of(name) is None}
    if for_gtp and "antiMirror" in left:
        left.setdefault("genmoveAntiMirror", left["antiMirror"])
    if rules := _rules_of(settings):
        left["rules"] = rules
    lines = _join_board_sizes(left)
    options = {**(GTP_OPTIONS if for_gtp else ANALYSIS_OPTIONS), **START_OPTIONS}
    config, unknown = with_katago_settings(config, left, options)
    lines += filter(None, [nearest_profile_line(left.get("humanSLProfile"))])
    replaced: dict[str, list[str]] = {}
    for name in settings:
        if instead := instead_of(name):
            replaced.setdefault(instead, []).append(name)
    lines += [f"WARNING: unknown setting {shown(name)} has no effect" for name in unknown]
    if replaced:
        places = "; ".join(f"{', '.join(names)} ({instead})" for instead, names in replaced.items())
        lines.insert(0, f"KataGo's settings that have no effect here, and what takes their place: {places}")
    return config, tuple(lines)


def _join_board_sizes(settings: dict[str, str]) -> list[str]:
    """Put the sizes of both sides into settings as our options have them; return a line about one without the other."""
    square = settings.get("defaultBoardSize")
    width, height = (settings.pop(f"defaultBoard{side}Size", square) for side in "XY")
    if width is None or height is None:
        one = width or height
        return [] if one is None else ["WARNING: defaultBoardXSize or defaultBoardYSize alone has no effect"]
    settings |= {"defaultBoardSize": width} | ({} if height == width else {"defaultBoardYSize": height})
    return []


def instead_of(name: str) -> str | None:
    """Return what takes the place of a setting of KataGo's, None if it has a counterpart or is unknown."""
    return next((instead for pattern, instead in _INSTEAD if re.fullmatch(pattern, name)), None)


def _rules_of(settings: Mapping[str, str]) -> str:
    """Return KataGo's JSON of rules that are set one by one, "" if none is; raises ConfigError if `rules` is too."""
    given = {_RULES[name]: value for name, value in settings.items() if name in _RULES}
    if not given:
        return ""
    if "rules" in settings:
        single = next(name for name in settings if name in _RULES)
        raise ConfigError(f"settings rules and {single}", expected="one of them")
    words: dict[str, object] = {"true": True, "false": False}
    return json.dumps({key: words.get(value.lower(), value) for key, value in given.items()})


# --- text ---


def merged_settings(files: Iterable[str | PathLike[str]], overrides: Iterable[str]) -> dict[str, str]:
    """Return the settings in KataGo's config files and in texts as `parse_overrides` takes; later ones count.

    An override without a value takes the setting out; one that sets rules takes out those that are set otherwise.

    Raises ConfigError.
    """
    settings: dict[str, str] = {}
    for file in files:
        settings |= read_katago_config(file)
    for text in overrides:
        changes = parse_overrides(text)
        out = {name for name, value in changes.items() if not value}
        if "rules" in changes:
            out.update(_RULES)
        if _RULES.keys() & changes.keys():
            out.add("rules")
        settings = {name: value for name, value in (settings | changes).items() if name not in out}
    return settings


def parse_overrides(text: str) -> dict[str, str]:
    """Return the settings in "key=value,key=value", the form of KataGo's `-override-config`; raises ConfigError."""
    settings = {}
    for piece in filter(None, (piece.strip() for piece in text.split(","))):
        name, equals, value = piece.partition("=")
        if not equals or not name.strip():
            raise ConfigError(f"override {shown(piece)}", expected="key=value, several joined by commas")
        settings[name.strip()] = value.strip()
    return settings


_ASSIGNMENT: Final = re.compile(r"""([A-Za-z0-9_-]+)\s*=\s*(?:"((?:[^"\\]|\\.)+)"\s*|([^"#\s][^#]*))(?:\#.*)?""")
"""A line: a name, and a value that is quoted or ends at the comment."""

_INCLUSION: Final = re.compile(r"@include[\s=]+([^#]+?)\s*(?:\#.*)?")


def read_katago_config(path: str | PathLike[str], included: list[Path] | None = None) -> dict[str, str]:
    """Return the settings in a KataGo config file: lines `key = value` and `@include FILE`, comments after #.

    A file that is included is looked for in the folder of the one that includes it; the later of two settings counts.
    `included` are the files that have been read, to which this one is added.

    Raises ConfigError with the file's name when it cannot be read, holds anything else, sets a name twice or includes
    a file twice.
    """
    path, name, included = Path(path), shown_path(path), [] if included is None else included
    if path in included:
        raise ConfigError(f"config file {name}, which is included twice", expected="each file once")
    included.append(path)
    try:
        lines = read_regular(path, MAX_TEXT_BYTES).decode("utf-8-sig", "replace").splitlines()
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read config file {name}: {getattr(error, 'strerror', error)}") from error
    settings: dict[str, str] = {}
    here: set[str] = set()
    for number, line in enumerate(map(str.strip, lines), start=1):
        if not line or line.startswith("#"):
            continue
        where = f"config file {name}, line {number}: {shown(line)}"
        if inclusion := _INCLUSION.fullmatch(line):
            settings |= read_katago_config(path.parent / inclusion[1].strip("'\""), included)
        elif assignment := _ASSIGNMENT.fullmatch(line):
            key, quoted, plain = assignment.groups()
            if key in here:
                raise ConfigError(f"{where}, a second time", expected="each name once")
            here.add(key)
            settings[key] = plain.strip() if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        else:
            raise ConfigError(where, expected="key = value", advice="a TOML file of ours is named *.toml")
    return settings
