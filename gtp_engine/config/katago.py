"""KataGo's names of settings, mapped to our options: front ends written for KataGo send them.

They arrive as parameters of `kata-set-param`, as `overrideSettings` of an analysis query, as `-override-config` and in
KataGo's config files.  Facts from KataGo 1.17 (`cpp/program/setup.cpp`, `docs/GTP_Extensions.md`,
`docs/Analysis_Engine.md`).  Settings without a counterpart here are not in the table; callers report them as unknown.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from types import MappingProxyType
from typing import Final

from gtp_engine.config.config import Config
from gtp_engine.config.option import Value
from gtp_engine.errors import ConfigError, problem, shown, shown_json, shown_path

NO_VISITS_LIMIT: Final = 2**50
"""KataGo's maxVisits for no limit; ours is 0."""

NO_TIME_LIMIT: Final = 1e20
"""KataGo's maxTime for no limit, in seconds; ours is "not set"."""

ALL_SYMMETRIES: Final = 8
"""KataGo's rootNumSymmetriesToSample for the average over all of them."""

_COLORS: Final = {"b": "black", "w": "white"}
"""The short names of colours that KataGo accepts too."""


@dataclass(frozen=True)
class _Name:
    """A KataGo setting: the options it stands for in GTP and in an analysis server, "" where it has no counterpart."""

    name: str
    gtp: str
    analysis: str


def _both(name: str, key: str) -> _Name:
    """Return a setting that stands for one option everywhere."""
    return _Name(name, key, key)


_NAMES: Final = (
    _Name("maxVisits", "search.visits", "analysis.analysis_visits"),
    _Name("maxTime", "time.time_per_move", "analysis.analysis_time"),
    _Name("numSearchThreads", "search.threads", ""),
    _Name("ponderingEnabled", "time.ponder", ""),
    _Name("allowResignation", "play.resign", ""),
    _Name("delayMoveScale", "play.delay", ""),
    _Name("delayMoveMax", "play.delay_max", ""),
    _Name("genmoveAntiMirror", "puct.anti_mirror", ""),
    _Name("analysisPVLen", "", "analysis.pv_length"),
    _Name("wideRootNoise", "", "analysis.wide_root_noise"),
    _Name("ignorePreRootHistory", "", "analysis.ignore_history"),
    _Name("reportAnalysisWinratesAs", "gtp.analysis_perspective", "analysis.perspective"),
    _Name("ogsChatToStderr", "gtp.ogs_chat", ""),
    _both("analysisWideRootNoise", "analysis.wide_root_noise"),
    _both("analysisIgnorePreRootHistory", "analysis.ignore_history"),
    _both("numVirtualLossesPerThread", "puct.virtual_weight"),
    _both("cpuctExploration", "puct.c_puct"),
    _both("cpuctExplorationLog", "puct.c_puct_log"),
    _both("cpuctExplorationBase", "puct.c_puct_base"),
    _both("cpuctUtilityStdevPrior", "puct.utility_stdev_prior"),
    _both("cpuctUtilityStdevPriorWeight", "puct.utility_stdev_prior_weight"),
    _both("cpuctUtilityStdevScale", "puct.utility_stdev_scale"),
    _both("fpuReductionMax", "puct.fpu_reduction"),
    _both("rootFpuReductionMax", "puct.root_fpu_reduction"),
    _both("fpuParentWeightByVisitedPolicyPow", "puct.fpu_parent_power"),
    _both("staticScoreUtilityFactor", "puct.static_score_weight"),
    _both("dynamicScoreUtilityFactor", "puct.dynamic_score_weight"),
    _both("dynamicScoreCenterZeroWeight", "puct.dynamic_score_zero_weight"),
    _both("dynamicScoreCenterScale", "puct.dynamic_score_scale"),
    _both("valueWeightExponent", "puct.value_weight_exponent"),
    _both("noisePruneUtilityScale", "puct.noise_pruning_scale"),
    _both("useGraphSearch", "puct.graph_search"),
    _both("graphSearchRepBound", "puct.graph_search_bound"),
    _both("subtreeValueBiasFactor", "puct.subtree_bias"),
    _both("subtreeValueBiasWeightExponent", "puct.subtree_bias_exponent"),
    _both("subtreeValueBiasFreeProp", "puct.subtree_bias_free_share"),
    _both("uncertaintyCoeff", "puct.uncertainty"),
    _both("uncertaintyExponent", "puct.uncertainty_exponent"),
    _both("uncertaintyMaxWeight", "puct.uncertainty_max_weight"),
    _both("policyOptimism", "puct.policy_optimism"),
    _both("rootPolicyOptimism", "puct.root_policy_optimism"),
    _both("rootNumSymmetriesToSample", "puct.root_average"),
    _both("enablePassingHacks", "puct.passing_hacks"),
    _both("enableMorePassingHacks", "puct.more_passing_hacks"),
    _both("conservativePass", "puct.conservative_pass"),
    _both("playoutDoublingAdvantage", "puct.playout_doubling_advantage"),
    _both("playoutDoublingAdvantagePla", "puct.playout_doubling_advantage_color"),
    _both("dynamicPlayoutDoublingAdvantageCapPerOppLead", "puct.dynamic_advantage"),
    _both("rootSymmetryPruning", "puct.symmetry_pruning"),
    _both("rootPruneUselessMoves", "puct.useless_pruning"),
    _both("fillDameBeforePass", "puct.fill_dame"),
    _both("useLcbForSelection", "puct.lcb"),
    _both("lcbStdevs", "puct.lcb_stdevs"),
    _both("minVisitPropForLCB", "puct.lcb_min_share"),
    _both("rootEndingBonusPoints", "puct.ending_bonus"),
    _both("chosenMoveTemperature", "puct.temperature"),
    _both("chosenMoveTemperatureEarly", "puct.temperature_early"),
    _both("chosenMoveTemperatureHalflife", "puct.temperature_halflife"),
    _both("chosenMoveTemperatureOnlyBelowProb", "puct.temperature_below"),
    _both("chosenMovePrune", "puct.choice_prune"),
    _both("chosenMoveSubtract", "puct.choice_subtract"),
    _both("rootPolicyTemperature", "puct.root_temperature"),
    _both("rootPolicyTemperatureEarly", "puct.root_temperature_early"),
    _both("rootDirichletNoiseWeight", "puct.noise"),
    _both("rootDirichletNoiseTotalConcentration", "puct.noise_concentration"),
    _both("humanSLProfile", "human.human_profile"),
    _both("humanSLChosenMoveProp", "human.human_move_share"),
    _both("humanSLChosenMoveIgnorePass", "human.human_ignore_pass"),
    _both("humanSLChosenMovePiklLambda", "human.human_pikl_lambda"),
    _both("humanSLRootExploreProbWeightless", "human.human_root_weightless"),
    _both("humanSLRootExploreProbWeightful", "human.human_root_weightful"),
    _both("humanSLPlaExploreProbWeightless", "human.human_own_weightless"),
    _both("humanSLPlaExploreProbWeightful", "human.human_own_weightful"),
    _both("humanSLOppExploreProbWeightless", "human.human_opponent_weightless"),
    _both("humanSLOppExploreProbWeightful", "human.human_opponent_weightful"),
    _both("humanSLCpuctExploration", "human.human_c_puct"),
    _both("humanSLCpuctPermanent", "human.human_c_puct_permanent"),
)

GTP_OPTIONS: Final[Mapping[str, str]] = MappingProxyType({known.name: known.gtp for known in _NAMES if known.gtp})
"""Options by KataGo's name, for GTP."""

ANALYSIS_OPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {known.name: known.analysis for known in _NAMES if known.analysis}
)
"""The same for `gtp-engine analysis`."""


CONSTANTS: Final[Mapping[str, Value]] = MappingProxyType({"antiMirror": False})
"""KataGo's settings that programs read or send and that cannot be changed here."""


# --- values ---


@dataclass(frozen=True)
class _Form:
    """How KataGo writes the values of an option: `read` converts its text (in lower case), `show` our value."""

    read: Callable[[str], Value]
    show: Callable[[Value], Value]


def _limit(most: float, unlimited: Value) -> _Form:
    """Return the form of a limit: KataGo's values from `most` up mean no limit, which is `unlimited` here."""

    def read(word: str) -> Value:
        try:
            return unlimited if float(word) >= most else word
        except ValueError:
            return word

    return _Form(read, lambda value: most if value == unlimited else value)


_COLOR_FORM: Final = _Form(lambda word: _COLORS.get(word, word), lambda value: str(value).upper())
_SYMMETRIES_FORM: Final = _Form(  # true for more than one; compared as text, as int() refuses very long numbers
    lambda word: word.lstrip("0") not in ("", "1") if word.isdecimal() else word,
    lambda value: ALL_SYMMETRIES if value else 1,
)

_FORMS: Final[Mapping[str, _Form]] = MappingProxyType(
    {
        "search.visits": _limit(NO_VISITS_LIMIT, 0),
        "time.time_per_move": _limit(NO_TIME_LIMIT, None),
        "analysis.analysis_time": _limit(NO_TIME_LIMIT, None),
        "gtp.analysis_perspective": _COLOR_FORM,
        "analysis.perspective": _COLOR_FORM,
        "puct.playout_doubling_advantage_color": _COLOR_FORM,
        "puct.root_average": _SYMMETRIES_FORM,
    }
)
"""The options that KataGo writes differently."""


def shown_as_katago(key: str, value: Value) -> Value:
    """Return the value of an option in KataGo's form."""
    form = _FORMS.get(key)
    return value if form is None else form.show(value)


def read_as_katago(key: str, value: object) -> Value:
    """Return KataGo's value of an option, from text or JSON, as `Config.with_values` takes it; raises ConfigError."""
    if not isinstance(value, bool | int | float | str):
        raise ConfigError(problem(shown_json(value), expected="a number, true, false or a text"))
    form = _FORMS.get(key)
    return value if form is None else form.read(str(value).strip().lower())


def with_katago_settings(config: Config, settings: Mapping[str, object]) -> tuple[Config, tuple[str, ...]]:
    """Return the configuration of an analysis with settings by KataGo's names, and the names without a counterpart.

    Raises ConfigError naming the setting whose value cannot be used; nothing is set then.
    """
    unknown = []
    for name, value in settings.items():
        key = ANALYSIS_OPTIONS.get(name)
        if key is None:
            if name not in CONSTANTS or str(value).lower() != str(CONSTANTS[name]).lower():
                unknown.append(name)
            continue
        try:
            config = config.with_values({key: read_as_katago(key, value)})
        except ConfigError as error:
            raise ConfigError(f"{name}: {error}") from None
    return config, tuple(unknown)


# --- text ---


def parse_overrides(text: str) -> dict[str, str]:
    """Return the settings in "key=value,key=value", the form of KataGo's `-override-config`; raises ConfigError."""
    settings = {}
    for piece in filter(None, (piece.strip() for piece in text.split(","))):
        name, equals, value = piece.partition("=")
        if not equals or not name.strip():
            raise ConfigError(problem(f"override {shown(piece)}", expected="key=value, several joined by commas"))
        settings[name.strip()] = value.strip()
    return settings


def read_katago_config(path: str | PathLike[str]) -> dict[str, str]:
    """Return the settings in a KataGo config file: lines `key = value`, comments after #.

    Raises ConfigError with the file's name when it cannot be read or holds anything else.
    """
    name = shown_path(path)
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            return _settings_in(file, name)
    except (OSError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"cannot read config file {name}: {getattr(error, 'strerror', error)}") from error


def _settings_in(lines: Iterable[str], name: str) -> dict[str, str]:
    settings = {}
    for number, line in enumerate(lines, start=1):
        content = line.partition("#")[0].strip()
        if not content or content.startswith("@include"):
            continue
        key, equals, value = content.partition("=")
        if not equals or not key.strip():
            given = f"config file {name}, line {number}: {shown(content)}"
            raise ConfigError(problem(given, expected="key = value", advice="a TOML file of ours is named *.toml"))
        settings[key.strip()] = value.strip()
    return settings
