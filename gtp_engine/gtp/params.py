"""Settings that GTP may read and change while the engine runs: KataGo's names and our own `section.option`.

Facts about KataGo's names from its `docs/GTP_Extensions.md` and `cpp/program/setup.cpp`; the defaults of the search are
KataGo's, so most values mean the same.  What belongs to a game (boardsize, komi, rules) or was loaded at the start (the
network) is set by other means.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from gtp_engine.clock import read_number
from gtp_engine.config import Config
from gtp_engine.config.option import Value
from gtp_engine.errors import problem, shown
from gtp_engine.gtp.protocol import GtpError

SECTIONS: Final = ("search", "puct", "time", "play", "analysis")
"""Sections whose options may be changed."""

OTHER_OPTIONS: Final = ("gtp.analysis_perspective",)
"""Options of other sections that may be changed."""

NO_VISITS_LIMIT: Final = 2**50
"""What KataGo answers for maxVisits where there is no limit; ours is 0."""

NO_TIME_LIMIT: Final = 1e20
"""The same for maxTime, seconds; ours is not set."""


@dataclass(frozen=True)
class _Katago:
    """An option by KataGo's name: `show` turns our value into KataGo's, `read` KataGo's text into ours."""

    key: str
    show: Callable[[Value], Value] = lambda value: value
    read: Callable[[str], str] = lambda text: text


def _limit(text: str, most: float, unlimited: str) -> str:
    """Return `unlimited` for a number of `most` or more, other text as it is."""
    try:
        return unlimited if float(text) >= most else text
    except ValueError:
        return text


KATAGO_NAMES: Final[Mapping[str, _Katago]] = {
    "maxVisits": _Katago(
        "search.visits",
        lambda value: value or NO_VISITS_LIMIT,
        lambda text: _limit(text, NO_VISITS_LIMIT, "0"),
    ),
    "maxTime": _Katago(
        "time.time_per_move",
        lambda value: NO_TIME_LIMIT if value is None else value,
        lambda text: _limit(text, NO_TIME_LIMIT, "none"),
    ),
    "numSearchThreads": _Katago("search.threads"),
    "ponderingEnabled": _Katago("time.ponder"),
    "allowResignation": _Katago("play.resign"),
    "analysisWideRootNoise": _Katago("analysis.wide_root_noise"),
    "reportAnalysisWinratesAs": _Katago(
        "gtp.analysis_perspective", lambda value: str(value).upper(), lambda text: text.lower()
    ),
    "numVirtualLossesPerThread": _Katago("puct.virtual_weight"),
    "cpuctExploration": _Katago("puct.c_puct"),
    "cpuctExplorationLog": _Katago("puct.c_puct_log"),
    "cpuctExplorationBase": _Katago("puct.c_puct_base"),
    "cpuctUtilityStdevPrior": _Katago("puct.utility_stdev_prior"),
    "cpuctUtilityStdevPriorWeight": _Katago("puct.utility_stdev_prior_weight"),
    "cpuctUtilityStdevScale": _Katago("puct.utility_stdev_scale"),
    "fpuReductionMax": _Katago("puct.fpu_reduction"),
    "rootFpuReductionMax": _Katago("puct.root_fpu_reduction"),
    "fpuParentWeightByVisitedPolicyPow": _Katago("puct.fpu_parent_power"),
    "staticScoreUtilityFactor": _Katago("puct.static_score_weight"),
    "dynamicScoreUtilityFactor": _Katago("puct.dynamic_score_weight"),
    "dynamicScoreCenterZeroWeight": _Katago("puct.dynamic_score_zero_weight"),
    "dynamicScoreCenterScale": _Katago("puct.dynamic_score_scale"),
    "valueWeightExponent": _Katago("puct.value_weight_exponent"),
    "noisePruneUtilityScale": _Katago("puct.noise_pruning_scale"),
    "uncertaintyCoeff": _Katago("puct.uncertainty"),
    "uncertaintyExponent": _Katago("puct.uncertainty_exponent"),
    "uncertaintyMaxWeight": _Katago("puct.uncertainty_max_weight"),
    "policyOptimism": _Katago("puct.policy_optimism"),
    "rootPolicyOptimism": _Katago("puct.root_policy_optimism"),
    "rootSymmetryPruning": _Katago("puct.symmetry_pruning"),
    "useLcbForSelection": _Katago("puct.lcb"),
    "lcbStdevs": _Katago("puct.lcb_stdevs"),
    "minVisitPropForLCB": _Katago("puct.lcb_min_share"),
    "rootEndingBonusPoints": _Katago("puct.ending_bonus"),
    "chosenMoveTemperature": _Katago("puct.temperature"),
    "chosenMoveTemperatureEarly": _Katago("puct.temperature_early"),
    "chosenMoveTemperatureHalflife": _Katago("puct.temperature_halflife"),
    "rootPolicyTemperature": _Katago("puct.root_temperature"),
    "rootPolicyTemperatureEarly": _Katago("puct.root_temperature_early"),
    "rootDirichletNoiseWeight": _Katago("puct.noise"),
    "rootDirichletNoiseTotalConcentration": _Katago("puct.noise_concentration"),
}
"""The options that KataGo knows too."""

CONSTANTS: Final[Mapping[str, Value]] = {
    "playoutDoublingAdvantage": 0.0,
    "humanSLProfile": "",
    "antiMirror": False,
    "genmoveAntiMirror": False,
}
"""KataGo's settings that front ends ask for and that cannot be changed here."""


def names() -> list[str]:
    """Return the name of every setting, KataGo's first, then our own."""
    own = [option.key for option in Config.options() if option.section in SECTIONS or option.key in OTHER_OPTIONS]
    return [*KATAGO_NAMES, *CONSTANTS, *own]


def get_value(config: Config, name: str) -> Value:
    """Return the value of a setting in the form of the name; raises GtpError for an unknown one."""
    _check(name)
    if name in CONSTANTS:
        return CONSTANTS[name]
    known = KATAGO_NAMES.get(name)
    return config.value(name) if known is None else known.show(config.value(known.key))


def format_value(value: Value) -> str:
    """Return a value as `kata-get-param` answers it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else "none" if value is None else str(value)


def to_options(settings: Mapping[str, str | None]) -> dict[str, Value]:
    """Return settings (None: back to the default) as options by full name; raises GtpError for an unknown one."""
    options: dict[str, Value] = {}
    for name, text in settings.items():
        _check(name)
        if name in CONSTANTS:
            _check_constant(name, text)
            continue
        known = KATAGO_NAMES.get(name, _Katago(name))
        options[known.key] = Config().value(known.key) if text is None else known.read(text)
    return options


def _check(name: str) -> None:
    if name not in names():
        raise GtpError(problem(f"unknown parameter {shown(name)}", expected="one that kata-list-params names"))


def _check_constant(name: str, text: str | None) -> None:
    value = CONSTANTS[name]
    number = read_number(text or "")
    if text is not None and text.lower() != format_value(value) and not (isinstance(value, float) and number == value):
        raise GtpError(problem(f"{name} {shown(text)}", expected=format_value(value) or "nothing: it is not supported"))
