"""KataGo's names of settings, its config files and its way to override them."""

from pathlib import Path

import pytest

from gtp_engine.config import Config
from gtp_engine.config.katago import (
    ANALYSIS_OPTIONS,
    GTP_OPTIONS,
    parse_overrides,
    read_katago_config,
    with_katago_settings,
)
from gtp_engine.errors import ConfigError

KATAGO_CONFIG = """# Config for KataGo C++ Analysis engine

logDir = analysis_logs  # Each run of KataGo will log to a separate file in this dir
reportAnalysisWinratesAs = SIDETOMOVE
  maxVisits=800
# maxTime = 60
wideRootNoise = 0.0
numAnalysisThreads = 2
"""


@pytest.mark.parametrize("name", ANALYSIS_OPTIONS)
def test_every_name_is_an_option_of_ours(name: str) -> None:
    option = next(option for option in Config.options() if option.key == ANALYSIS_OPTIONS[name])
    value = option.default if option.default is not None else option.low
    config, unknown = with_katago_settings(Config(), {name: value})
    assert unknown == ()
    assert config.value(option.key) == value


def test_different_names_are_different_options() -> None:
    assert len(set(GTP_OPTIONS.values())) == len(GTP_OPTIONS)
    # KataGo's names in its analysis server, and in GTP
    twice = {"wideRootNoise", "analysisWideRootNoise", "ignorePreRootHistory", "analysisIgnorePreRootHistory"}
    others = [key for name, key in ANALYSIS_OPTIONS.items() if name not in twice]
    assert len(set(others)) == len(others)


def test_names_of_both_protocols_are_the_same_option() -> None:
    """Only limits, the perspective and the wide root noise are the game's own in GTP and a query's in an analysis."""
    differ = {name for name in GTP_OPTIONS.keys() & ANALYSIS_OPTIONS if GTP_OPTIONS[name] != ANALYSIS_OPTIONS[name]}
    assert differ == {"maxVisits", "maxTime", "reportAnalysisWinratesAs", "wideRootNoise"}


@pytest.mark.parametrize(("given", "seconds"), [(1e20, None), ("1e20", None), (2.5, 2.5), ("2.5", 2.5)])
def test_katagos_endless_time_is_no_limit(given: object, seconds: float | None) -> None:
    config, _ = with_katago_settings(Config(), {"maxTime": given})
    assert config.analysis.analysis_time == seconds


@pytest.mark.parametrize(("given", "color"), [("BLACK", "black"), ("w", "white"), ("SIDETOMOVE", "sidetomove")])
def test_colours_are_read_as_katago_reads_them(given: str, color: str) -> None:
    settings = {"reportAnalysisWinratesAs": given, "playoutDoublingAdvantagePla": given}
    config, _ = with_katago_settings(Config(), settings)
    assert (config.analysis.perspective, config.puct.playout_doubling_advantage_color) == (color, color)


@pytest.mark.parametrize(("given", "average"), [(1, False), ("1", False), (2, True), (8, True), ("8", True)])
def test_symmetries_are_one_or_all(given: object, average: bool) -> None:
    config, _ = with_katago_settings(Config(), {"rootNumSymmetriesToSample": given})
    assert config.puct.root_average is average


def test_unknown_names_are_returned() -> None:
    assert with_katago_settings(Config(), {"antiMirror": False}) == (Config(), ())
    config, unknown = with_katago_settings(Config(), {"antiMirror": True, "maxVisits": "9", "homeDataDir": "~"})
    assert (config.analysis.analysis_visits, unknown) == (9, ("antiMirror", "homeDataDir"))


def test_a_bad_value_is_named() -> None:
    with pytest.raises(
        ConfigError, match=r"^maxVisits: option analysis\.analysis_visits = 'many': expected an integer"
    ):
        with_katago_settings(Config(), {"maxVisits": "many"})


@pytest.mark.parametrize("text", ["a", "=1", "a=1,b"])
def test_overrides_that_cannot_be_read(text: str) -> None:
    with pytest.raises(ConfigError, match="expected key=value"):
        parse_overrides(text)


def test_overrides() -> None:
    assert parse_overrides("") == {}
    assert parse_overrides(" a = 1 ,b=x=y,") == {"a": "1", "b": "x=y"}


def test_config_file(tmp_path: Path) -> None:
    file = tmp_path / "analysis.cfg"
    file.write_text(KATAGO_CONFIG, encoding="utf-8")
    settings = read_katago_config(file)
    assert settings["logDir"] == "analysis_logs"
    config, unknown = with_katago_settings(Config(), settings)
    assert (config.analysis.perspective, config.analysis.analysis_visits) == ("sidetomove", 800)
    assert (config.analysis.wide_root_noise, config.analysis.analysis_time) == (0.0, None)
    assert unknown == ("logDir", "numAnalysisThreads")


def test_config_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read config file 'missing\.cfg': No such file"):
        read_katago_config("missing.cfg")
    file = tmp_path / "toml.cfg"
    file.write_text("[search]\nvisits = 3\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"toml\.cfg', line 1: '\[search\]': expected key = value"):
        read_katago_config(file)
