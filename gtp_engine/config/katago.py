"""KataGo's names of settings: what front ends that were written for it send, as options of ours.

They come as `-override-config`, in KataGo's config files, as `overrideSettings` of an analysis query and as parameters
of `kata-set-param`.  Facts from KataGo 1.17 (`cpp/program/setup.cpp`, `docs/Analysis_Engine.md`); what has no
counterpart here is in no table, and callers say so to whoever sent it.
"""

from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from types import MappingProxyType
from typing import Final

from gtp_engine.config.config import Config
from gtp_engine.config.option import Value
from gtp_engine.errors import ConfigError, problem, shown

SEARCH_OPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "numVirtualLossesPerThread": "puct.virtual_weight",
        "cpuctExploration": "puct.c_puct",
        "cpuctExplorationLog": "puct.c_puct_log",
        "cpuctExplorationBase": "puct.c_puct_base",
        "cpuctUtilityStdevPrior": "puct.utility_stdev_prior",
        "cpuctUtilityStdevPriorWeight": "puct.utility_stdev_prior_weight",
        "cpuctUtilityStdevScale": "puct.utility_stdev_scale",
        "fpuReductionMax": "puct.fpu_reduction",
        "rootFpuReductionMax": "puct.root_fpu_reduction",
        "fpuParentWeightByVisitedPolicyPow": "puct.fpu_parent_power",
        "staticScoreUtilityFactor": "puct.static_score_weight",
        "dynamicScoreUtilityFactor": "puct.dynamic_score_weight",
        "dynamicScoreCenterZeroWeight": "puct.dynamic_score_zero_weight",
        "dynamicScoreCenterScale": "puct.dynamic_score_scale",
        "valueWeightExponent": "puct.value_weight_exponent",
        "noisePruneUtilityScale": "puct.noise_pruning_scale",
        "uncertaintyCoeff": "puct.uncertainty",
        "uncertaintyExponent": "puct.uncertainty_exponent",
        "uncertaintyMaxWeight": "puct.uncertainty_max_weight",
        "rootPolicyOptimism": "puct.root_policy_optimism",
        "rootSymmetryPruning": "puct.symmetry_pruning",
        "useLcbForSelection": "puct.lcb",
        "lcbStdevs": "puct.lcb_stdevs",
        "minVisitPropForLCB": "puct.lcb_min_share",
        "rootEndingBonusPoints": "puct.ending_bonus",
        "chosenMoveTemperature": "puct.temperature",
        "chosenMoveTemperatureEarly": "puct.temperature_early",
        "chosenMoveTemperatureHalflife": "puct.temperature_halflife",
        "rootPolicyTemperature": "puct.root_temperature",
        "rootPolicyTemperatureEarly": "puct.root_temperature_early",
        "rootDirichletNoiseWeight": "puct.noise",
        "rootDirichletNoiseTotalConcentration": "puct.noise_concentration",
        "rootNumSymmetriesToSample": "puct.root_average",
    }
)
"""How to search, by KataGo's name."""

ANALYSIS_OPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **SEARCH_OPTIONS,
        "maxVisits": "analysis.analysis_visits",
        "maxTime": "analysis.analysis_time",
        "wideRootNoise": "analysis.wide_root_noise",
        "analysisWideRootNoise": "analysis.wide_root_noise",
        "analysisPVLen": "analysis.pv_length",
        "reportAnalysisWinratesAs": "analysis.perspective",
    }
)
"""The same and what to report, for `gtp-engine analysis`."""

_COLORS: Final = {"b": "black", "w": "white"}
"""What KataGo also takes for a colour."""


def with_katago_settings(
    config: Config, settings: Mapping[str, object], names: Mapping[str, str] = ANALYSIS_OPTIONS
) -> tuple[Config, tuple[str, ...]]:
    """Return the configuration with settings by KataGo's names, and those names that mean nothing here.

    Raises ConfigError naming the setting whose value cannot be used; nothing is set then.
    """
    unknown = []
    for name, value in settings.items():
        key = names.get(name)
        if key is None:
            unknown.append(name)
            continue
        try:
            config = config.with_values({key: _value(key, value)})
        except ConfigError as error:
            raise ConfigError(f"{name}: {error}") from None
    return config, tuple(unknown)


def parse_overrides(text: str) -> dict[str, str]:
    """Return the settings in "key=value,key=value", as KataGo's `-override-config` takes them; raises ConfigError."""
    settings = {}
    for piece in filter(None, (piece.strip() for piece in text.split(","))):
        name, equals, value = piece.partition("=")
        if not equals or not name.strip():
            raise ConfigError(problem(f"override {shown(piece)}", expected="key=value, several joined by commas"))
        settings[name.strip()] = value.strip()
    return settings


def read_katago_config(path: str | PathLike[str]) -> dict[str, str]:
    """Return the settings in one of KataGo's config files: lines `key = value`, comments after #.

    Raises ConfigError with the file's name when it cannot be read or holds anything else.
    """
    name = shown(fspath(path), length=1000)
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


def _value(key: str, value: object) -> Value:
    """Return a value as it came, from text or JSON, as `Config.with_values` takes it."""
    if key == "analysis.perspective":
        word = str(value).strip().lower()  # KataGo reads it in any case
        return _COLORS.get(word, word)
    if key == "puct.root_average" and str(value).isdecimal():
        return int(str(value)) > 1  # one orientation, or all of them
    if not isinstance(value, bool | int | float | str):
        raise ConfigError(problem(shown(value), expected="a number, true, false or a text"))
    return value
