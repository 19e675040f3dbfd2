"""KataGo's names of settings, its config files and its way to override them."""

from dataclasses import replace
from pathlib import Path

import pytest

from gtp_engine import Config, ConfigError, Rules
from gtp_engine.config import GameConfig
from gtp_engine.config.human import parse_profile
from gtp_engine.config.katago import (
    ANALYSIS_OPTIONS,
    GTP_OPTIONS,
    merged_settings,
    parse_overrides,
    read_katago_config,
    read_setting,
    shown_as_katago,
    with_katago_settings,
    with_start_settings,
)

HUMAN_5K = Path(__file__).parent.parent / "data" / "katago" / "human5k.cfg"


def test_every_name_is_an_option_of_ours() -> None:
    for name in ANALYSIS_OPTIONS:
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
    """Only limits, perspective, history and wide root noise are the game's own in GTP and a query's in an analysis."""
    differ = {name for name in GTP_OPTIONS.keys() & ANALYSIS_OPTIONS if GTP_OPTIONS[name] != ANALYSIS_OPTIONS[name]}
    assert differ == {"maxVisits", "maxTime", "reportAnalysisWinratesAs", "wideRootNoise", "ignorePreRootHistory"}


@pytest.mark.parametrize(
    ("name", "given", "key", "value"),
    [
        ("maxTime", 1e20, "analysis.analysis_time", None),
        ("maxTime", "1e20", "analysis.analysis_time", None),
        ("maxTime", "2.5", "analysis.analysis_time", 2.5),
        ("reportAnalysisWinratesAs", "BLACK", "analysis.perspective", "black"),
        ("reportAnalysisWinratesAs", "SIDETOMOVE", "analysis.perspective", "sidetomove"),
        ("playoutDoublingAdvantagePla", "w", "puct.playout_doubling_advantage_color", "white"),
        ("rootNumSymmetriesToSample", 1, "puct.root_average", False),
        ("rootNumSymmetriesToSample", "8", "puct.root_average", True),
    ],
)
def test_values_are_read_in_katagos_form(name: str, given: object, key: str, value: object) -> None:
    config, _ = with_katago_settings(Config(), {name: given})
    assert config.value(key) == value


def test_values_are_shown_as_they_are_read() -> None:
    """KataGo's `kata-get-param` shows what `kata-set-param` takes: limits, colours, symmetries, winrates."""
    values: dict[str, object] = {"search.visits": 2**50, "time.max_time": 1e20, "play.resign_winrate": -0.9}
    for key, value in (values | {"analysis.perspective": "BLACK"}).items():
        option = read_setting("its name", value, {"its name": key})
        assert shown_as_katago(key, Config().with_values(option).value(key)) == value
    assert [shown_as_katago("puct.root_average", value) for value in (True, False)] == [8, 1]
    assert [shown_as_katago("network.symmetry", value) for value in ("none", "any", "5")] == ["0", "-1", "5"]


def test_unknown_names_are_returned() -> None:
    assert with_katago_settings(Config(), {"avoidMYTDaggerHack": False}) == (Config(), ())
    config, unknown = with_katago_settings(Config(), {"avoidMYTDaggerHack": True, "maxVisits": "9", "homeDataDir": "~"})
    assert (config.analysis.analysis_visits, unknown) == (9, ("avoidMYTDaggerHack", "homeDataDir"))


def test_overrides() -> None:
    for text in ("a", "=1", "a=1,b"):
        with pytest.raises(ConfigError, match="expected key=value"):
            parse_overrides(text)
    assert parse_overrides("") == {}
    assert parse_overrides(" a = 1 ,b=x=y,") == {"a": "1", "b": "x=y"}


def write(folder: Path, **files: str) -> Path:
    """Write config files and return the path of the first."""
    for name, text in files.items():
        (folder / f"{name}.cfg").write_text(text, encoding="utf-8")
    return folder / f"{next(iter(files))}.cfg"


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("\ufeffa=1", {"a": "1"}),
        ("  a-b_2 = x y  # comment", {"a-b_2": "x y"}),
        ('a = "x # y"  # comment', {"a": "x # y"}),
        (r'a = "q \" b \\ c"', {"a": r'q " b \ c'}),
        ("a = x=y\n\n# b = 2\nc = 3\r\n", {"a": "x=y", "c": "3"}),
        ("a = it's", {"a": "it's"}),
    ],
)
def test_lines_are_read_as_katago_reads_them(tmp_path: Path, text: str, settings: dict[str, str]) -> None:
    assert read_katago_config(write(tmp_path, config=text)) == settings


REFUSED = ["a", "a =", "a = # 1", "a b = 1", "= 1", 'a = "x', 'a = "x" y', "@include", "@exclude b", "a = 1\na = 2"]


@pytest.mark.parametrize("text", REFUSED)
def test_lines_that_katago_refuses_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"config\.cfg', line [12]: "):
        read_katago_config(write(tmp_path, config=text))


def test_files_include_files_beside_them(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    main = write(tmp_path, main="a = 1\n@include more/b.cfg # comment\nc = 3\n@include 'd.cfg'", d="e = 5\na = 9")
    write(tmp_path / "more", b="b = 2\nc = 2\n@include=f.cfg", f="f = 6")
    assert read_katago_config(main) == {"a": "9", "b": "2", "c": "3", "e": "5", "f": "6"}
    write(tmp_path, d="@include main.cfg")
    with pytest.raises(ConfigError, match=r"main\.cfg', which is included twice"):
        read_katago_config(main)
    with pytest.raises(ConfigError, match=r"cannot read config file .*missing\.cfg"):
        read_katago_config(write(tmp_path, main="@include missing.cfg"))


def test_later_files_and_overrides_count(tmp_path: Path) -> None:
    first, second = write(tmp_path, a="x = 1\ny = 1\nz = 1\nrules = japanese"), write(tmp_path, b="y = 2\nz = 2")
    assert merged_settings([first, second], ["z=3, w = 4", "x="]) == {"y": "2", "z": "3", "w": "4", "rules": "japanese"}
    changed = merged_settings([first], ["koRule=SIMPLE,scoringRule=AREA"])
    assert changed == {"x": "1", "y": "1", "z": "1", "koRule": "SIMPLE", "scoringRule": "AREA"}
    changed = merged_settings([first], ["koRule=SIMPLE", "rules=aga"])
    assert changed == {"x": "1", "y": "1", "z": "1", "rules": "aga"}


@pytest.mark.parametrize(
    ("settings", "rules"),
    [
        ({"rules": "japanese"}, "japanese"),
        ({"koRule": "SIMPLE", "scoringRule": "TERRITORY", "multiStoneSuicideLegal": "False"}, "japanese"),
        ({"koRule": "POSITIONAL", "scoringRule": "AREA", "taxRule": "NONE", "multiStoneSuicideLegal": "true"}, "tt"),
    ],
)
def test_rules_may_be_set_one_by_one(settings: dict[str, str], rules: str) -> None:
    config, lines = with_start_settings(Config(), settings, for_gtp=True)
    assert lines == ()
    expected = Rules.parse({"tt": "tromp-taylor"}.get(rules, rules))
    assert replace(Rules.parse(config.game.rules), friendly_pass_ok=expected.friendly_pass_ok) == expected


def test_the_human_like_recipe_of_katago_is_understood_as_written() -> None:
    settings = read_katago_config(HUMAN_5K)
    config, lines = with_start_settings(Config(), settings, for_gtp=True)
    assert lines == (
        "KataGo's settings that have no effect here, and what takes their place: logDir, logAllGTPCommunication, "
        "logSearchInfo, logSearchInfoForChosenMove, logToStderr (--log); numSearchThreads (--network-threads, "
        "--eval-batch and --parallel); nnCacheSizePowerOfTwo, nnMutexPoolSizePowerOfTwo (--cache-positions and "
        "--max-memory)",
    )
    assert config.human.profile == parse_profile("preaz_5k")
    assert (config.human.human_move_share, config.human.human_ignore_pass) == (1.0, True)
    assert config.play.resign_winrate == 0.005
    assert (config.play.resign_turns, config.play.resign_min_points, config.play.resign_min_moves) == (20, 40, 0.4)
    assert (config.search.visits, config.time.lag, config.play.delay, config.play.delay_max) == (40, 1.0, 2.0, 10.0)
    assert (config.puct.static_score_weight, config.puct.dynamic_score_weight) == (0.3, 0.0)
    assert (config.puct.use_uncertainty, config.puct.use_noise_pruning, config.puct.lcb) == (False, False, False)
    assert (config.search.forget_history, config.analysis.ignore_history) == (False, False)
    assert config.puct.temperature_halflife == 80


MACHINE_SETTINGS = """
    cudaDeviceToUse cudaDeviceToUseThread0 cudaUseFP16 cudaUseNHWC trtDeviceToUse trtTransformerNHWC
    openclUseFP16 openclDeviceToUseThread1 openclReTunePerBoardSize metalDeviceToUseThread0 metalUseFP16
    deviceToUse gpuToUseThread0 numSearchThreads numSearchThreadsPerAnalysisThread numAnalysisThreads
    numNNServerThreadsPerModel nnMaxBatchSize numEigenThreadsPerModel nnCacheSizePowerOfTwo
    nodeTableShardsPowerOfTwo nnRandomize nnRandSeed searchRandSeed logDir logFile logDirDated
    logToStderr logAllRequests logErrorsAndWarnings logTimeStamp homeDataDir mutexPoolSize
    startupPrintMessageToStderr
    gtpForceMaxNNSize maxBoardXSizeForNNBuffer requireMaxBoardSize
"""


def test_settings_of_a_machine_have_something_in_their_place() -> None:
    for name in MACHINE_SETTINGS.split():
        for for_gtp in (True, False):
            config, lines = with_start_settings(Config(), {name: "1"}, for_gtp=for_gtp)
            assert config == Config()
            assert len(lines) == 1
            assert name in lines[0] and "WARNING" not in lines[0]


@pytest.mark.parametrize("for_gtp", [True, False])
@pytest.mark.parametrize(
    ("settings", "values", "line"),
    [
        ("defaultBoardSize = 13", {"game.board_size": 13}, ""),
        ("defaultBoardXSize = 9, defaultBoardYSize = 9", {"game.board_size": 9}, ""),
        ("defaultBoardXSize = 9, defaultBoardSize = 7", {"game.board_size": 9, "game.board_height": 7}, ""),
        ("defaultBoardXSize = 9", {}, "WARNING: defaultBoardXSize or defaultBoardYSize alone has no effect"),
        ("defaultBoardYSize = 9", {}, "WARNING: defaultBoardXSize or defaultBoardYSize alone has no effect"),
        ("analysisPVLen = 5", {"analysis.pv_length": 5}, ""),
        ("nnForcedSymmetry = 0", {"network.symmetry": "none"}, ""),
        ("nnForcedSymmetry = 5", {"network.symmetry": "5"}, ""),
        ("nnForcedSymmetry = -1", {"network.symmetry": "any"}, ""),
        ("cleanupBeforePass = false, friendlyPass = auto", {}, "friendlyPassOk"),
        ("graphSearchCatchUpProp = 0.1", {}, "one search at a time"),
        ("humanSLProfile = rank_23k", {"human.human_profile": "rank_20k"}, "so it is rank_20k"),
        ("maxTime = 0", None, ""),
    ],
)
def test_settings_of_config_files(settings: str, values: dict[str, object] | None, line: str, for_gtp: bool) -> None:
    if values is None:
        values = {"time.max_time" if for_gtp else "analysis.analysis_time": 0}
    config, lines = with_start_settings(Config(), parse_overrides(settings), for_gtp=for_gtp)
    assert config == Config().with_values(values)
    assert len(lines) == bool(line)
    assert all(line in each for each in lines)


def test_a_board_may_be_no_square() -> None:
    boards = {(None, None): None, (9, None): (9, 9), (9, 7): (9, 7), (None, 7): (7, 7)}
    for (size, height), board in boards.items():
        assert GameConfig(board_size=size, board_height=height).board == board


def test_unknown_settings_are_warned_of_by_name() -> None:
    settings = {"maxVisit": "5", "noSuchSetting": "x", "logFile": "x"}
    _, (first, *lines) = with_start_settings(Config(), settings, for_gtp=True)
    assert first.endswith("what takes their place: logFile (--log)")
    assert lines == [
        "WARNING: unknown setting 'maxVisit' has no effect",
        "WARNING: unknown setting 'noSuchSetting' has no effect",
    ]
    assert with_start_settings(Config(), {"antiMirror": "true"}, for_gtp=False)[1] == ()


@pytest.mark.parametrize(
    ("settings", "mirrors"),
    [
        ({}, (True, False)),
        ({"antiMirror": "false"}, (False, False)),
        ({"antiMirror": "true"}, (True, True)),
        ({"antiMirror": "true", "genmoveAntiMirror": "false"}, (False, True)),
    ],
)
def test_one_setting_may_be_about_mirroring_in_moves_and_analyses(
    settings: dict[str, str], mirrors: tuple[bool, bool]
) -> None:
    config, _ = with_start_settings(Config(), settings, for_gtp=True)
    assert (config.puct.anti_mirror, config.analysis.expect_mirroring) == mirrors
