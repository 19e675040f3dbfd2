"""Options are declared once; files, names and texts are checked, and messages say what was expected."""

import dataclasses
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtp_engine.base.errors import ConfigError
from gtp_engine.config import Config, GameConfig, SearchConfig, TimeConfig
from gtp_engine.config.option import Option
from gtp_engine.config.sections import QuantizeSettings

OPTIONS = {option.key: option for option in Config.options()}


def _values(option: Option) -> st.SearchStrategy[Any]:
    """Return valid values of an option."""
    kinds: dict[type, st.SearchStrategy[Any]] = {
        bool: st.booleans(),
        int: st.integers(_whole(option.low), _whole(option.high) or 2**63 - 1),
        float: st.floats(option.low, option.high, allow_nan=False, allow_infinity=False),
        str: st.sampled_from(option.choices)
        if option.choices
        else st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])),
    }
    values = kinds[option.kind]
    if option.key == "play.level":
        return st.sampled_from(["max", "20k", "9d"])
    if option.key == "human.human_profile":
        values = st.sampled_from(["", "rank_5k", "rank_9d_20k", "preaz_1d", "proyear_1950"])
    if option.kind is str and option.optional:
        values = values.filter(lambda text: text.strip().lower() != "none")
    return st.none() | values if option.optional else values


def _whole(bound: float | None) -> int | None:
    return None if bound is None else int(bound)


def _any_config() -> st.SearchStrategy[Config]:
    sections = {}
    for entry in dataclasses.fields(Config):
        options = [option for option in OPTIONS.values() if option.section == entry.name]
        sections[entry.name] = st.builds(entry.type, **{option.name: _values(option) for option in options})
    return st.builds(Config, **sections)


# --- Declarations


def test_every_field_is_an_option() -> None:
    fields = [
        f"{section.name}.{entry.name}"
        for section in dataclasses.fields(Config)
        for entry in dataclasses.fields(section.type)  # type: ignore[arg-type]
    ]
    assert fields == list(OPTIONS)


def test_option_is_well_declared() -> None:
    for key in OPTIONS:
        option = OPTIONS[key]
        assert option.check(option.default) == option.default
        assert option.kind in (bool, int, float, str)
        assert re.fullmatch(r"[a-z][a-z_]*", option.name)
        assert option.help[-1] == "."
        assert option.help[0].isupper()
        assert not option.katago or len(re.findall(rf"\b{option.katago}\b", option.help)) == 1
        if option.default is None:
            assert "not set: " in option.help


def test_config_is_frozen_and_hashable() -> None:
    config = Config()
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.search.visits = 3  # type: ignore[misc]
    assert hash(config) == hash(Config())


# --- Values from text


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("search.visits", "100", 100), ("search.visits", " 100 ", 100), ("search.seed", "none", None),
        ("search.seed", "NONE", None), ("search.search", "uct", "uct"), ("game.komi", "-0.5", -0.5),
        ("game.komi", "7", 7.0), ("game.komi", "3.75", 3.75), ("game.strict", "Yes", True),
        ("game.strict", "on", True), ("game.strict", "1", True), ("game.strict", "TRUE", True),
        ("game.strict", "off", False), ("game.strict", "No", False), ("game.strict", "0", False),
        ("gtp.name", "none", "none"), ("gtp.log", "none", None), ("gtp.log", "/tmp/a log.txt", "/tmp/a log.txt"),
        ("time.lag", "0", 0.0), ("play.level", " 05K ", "5k")
    ],
)  # fmt: skip
def test_value_from_text(key: str, text: str, value: object) -> None:
    found = Config().with_values({key: text}).value(key)
    assert found == value
    assert type(found) is type(value)


def test_with_values_takes_values_that_are_no_text() -> None:
    files = ["network.model", "play.book", "variety.avoid_repeats"]
    assert [Config().with_values({key: Path("x")}).value(key) for key in files] == ["x"] * 3
    config = Config().with_values(
        {"search.visits": np.int64(500), "game.komi": 7, "game.strict": True, "search.seed": None}
    )
    assert config == Config(game=GameConfig(komi=7.0, strict=True), search=SearchConfig(visits=500))
    limited = [SearchConfig(**{name: 1}).is_limited for name in ("visits", "playouts", "threads")]
    sides = ((13, 9), (13, None), (None, 9), (None, None))
    boards = [GameConfig(board_size=width, board_height=height).board for width, height in sides]
    assert boards == [(13, 9), (13, 13), (9, 9), None]
    wanting = [Config(search=SearchConfig(search=kind)).wants_network for kind in ("auto", "puct", "rave", "uct")]
    assert (limited, wanting) == ([True, True, False], [True, True, False, False])
    with pytest.raises(ConfigError, match=r"option search\.visits = 1\.5: expected an integer"):
        Config().with_values({"search.visits": 1.5})


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("search.visits", "-1", "option search.visits = -1: expected an integer from 0 to 1000000000000 (visits)"),
        ("search.visits", "1.5", "option search.visits = '1.5': expected an integer"),
        pytest.param("search.visits", "9" * 5000, "expected an integer from 0 to", id="long integer"),
        ("search.visits", "none", "option search.visits = 'none': expected an integer"),
        ("search.search", "alphabeta", "option search.search = 'alphabeta': expected auto or puct or rave or uct"),
        ("game.komi", "nan", "option game.komi = nan: expected a number (points), or none"),
        ("game.komi", "1e999", "option game.komi = inf: expected a number"),
        ("game.komi", "seven", "option game.komi = 'seven': expected a number"),
        ("game.strict", "2", "option game.strict = '2': expected true or false"),
        ("gtp.name", "Ten\ngen", "option gtp.name = 'Ten?gen': expected a text"),
        ("gtp.name", "Tengen\x7f", "option gtp.name = 'Tengen?': expected a text"),
        ("search.seed", "-1", "option search.seed = -1: expected an integer of at least 0, or none"),
        ("time.lag", "3601", "option time.lag = 3601.0: expected a number from 0 to 3600 (seconds)"),
        ("time.time_per_move", "0", "expected a number from 0.001 to 1000000 (seconds)"),
        ("search.visit", "1", "option 'search.visit': expected a known option; did you mean search.visits?"),
        ("search.komi", "1", "option 'search.komi': expected a known option; did you mean game.komi?"),
        ("search.xyz", "1", "expected a known option; options of search are search, visits, threads"),
        ("serach.visits", "1", "section 'serach': expected a known section; did you mean search?"),
        (
            "visits",
            "1",
            "section 'visits': expected a known section; sections are game, search, puct, human, network, time",
        ),
        ("", "1", "section '': expected a known section"),
    ],
)
def test_bad_value_is_refused_by_name(key: str, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        Config().with_values({key: text})


@pytest.mark.parametrize(
    "make",
    [
        lambda: SearchConfig(visits=-1),
        lambda: SearchConfig(visits=True),
        lambda: SearchConfig(visits=1.0),  # type: ignore[arg-type]
        lambda: SearchConfig(visits=10**400),
        lambda: SearchConfig(visits=None),  # type: ignore[arg-type]
        lambda: GameConfig(komi=float("inf")),
        lambda: GameConfig(komi=10**400),
        lambda: GameConfig(komi="7.5"),  # type: ignore[arg-type]
        lambda: TimeConfig(lag=float("nan")),
        lambda: QuantizeSettings(seed=2**63),
    ],
)
def test_sections_check_their_values(make: Any) -> None:
    with pytest.raises(ConfigError, match=r"^option (search|game|time|quantize)\.\w+ = "):
        make()


@given(data=st.data())
def test_parse_reads_what_str_writes(data: st.DataObject) -> None:
    option = data.draw(st.sampled_from(list(OPTIONS.values())))
    value = data.draw(_values(option))
    assert option.parse("none" if value is None else str(value)) == value


# --- Files


@given(config=_any_config())
def test_toml_round_trip(config: Config) -> None:
    assert Config.from_toml_text(config.to_toml()) == config


def test_default_file_comments_out_every_option_and_explains_it() -> None:
    text = Config().to_toml()
    assert tomllib.loads(text) == {section.name: {} for section in dataclasses.fields(Config)}
    assert text.count(f"\n[search]\n# {SearchConfig.__doc__}\n\n") == 1
    prose = " ".join(line.removeprefix("# ") for line in text.splitlines())
    for option in OPTIONS.values():
        assert f"\n# {option.name} = {option.format(option.default)}\n" in text
        assert option.help in prose
        assert option.expectation in prose


def test_default_file_uncommented_is_the_default() -> None:
    assignments = r"^# ((?:" + "|".join(option.name for option in OPTIONS.values()) + r") = )"
    text = re.sub(assignments, r"\1", Config().to_toml(), flags=re.MULTILINE)
    assert sum(map(len, tomllib.loads(text).values())) == len(OPTIONS)
    assert Config.from_toml_text(text) == Config()


def test_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes("\ufeff[search]\r\nvisits = 100 # a comment\r\n\r\n[game]\nkomi = 7\n".encode())
    for name in (path, str(path)):
        assert Config.from_toml(name) == Config(search=SearchConfig(visits=100), game=GameConfig(komi=7.0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[serach]\nvisits = 1", "section 'serach': expected a known section; did you mean search?"),
        ("[serach]", "section 'serach': expected a known section"),
        ("[search]\nvisit = 1", "option 'search.visit': expected a known option; did you mean search.visits?"),
        ("visits = 1", "option 'visits' outside a section; options belong to sections such as [game]"),
        ("[search]\nvisits = -1", "option search.visits = -1: expected an integer from 0"),
        ("[search]\nvisits = '1'", "option search.visits = '1': expected an integer"),
        ("[search]\nvisits = true", "option search.visits = True: expected an integer"),
        ("[search]\nvisits = [1]", "option search.visits = [1]: expected an integer"),
        ("[search]\nvisits = 2020-01-01", "option search.visits = datetime.date(2020, 1, 1): expected an integer"),
        ("[search.visits]\n", "option search.visits = {}: expected an integer"),
        pytest.param("[search]\nvisits = 0x" + "f" * 9999, "option search.visits = <int>: expected", id="long hex"),
        pytest.param("[search]\nvisits = " + "9" * 9999, "integer string conversion", id="long integer"),
        ("[search]\nvisits = \n", "line 2"),
        pytest.param("[search]\nx = " + "[" * 100_000, "nested too deeply", id="deep"),
        ("[game]\nstrict = 1", "option game.strict = 1: expected true or false"),
        ("[game]\nkomi = nan", "option game.komi = nan: expected a number"),
        ('[gtp]\nlog = "C:\\games"', "; put a path with backslashes in single quotes"),
    ],
)
def test_bad_file_is_refused_with_file_and_option(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)) as caught:
        Config.from_toml_text(text, source="my.toml")
    assert str(caught.value).startswith("my.toml: ")
    assert "\n" not in str(caught.value)


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read config file '.*missing\.toml': No such file"):
        Config.from_toml(tmp_path / "missing.toml")
    with pytest.raises(ConfigError, match="cannot read config file"):
        Config.from_toml(tmp_path)
    (tmp_path / "binary.toml").write_bytes(b"[game]\n\xff\xfe")
    with pytest.raises(ConfigError, match="byte 7: expected UTF-8 text"):
        Config.from_toml(tmp_path / "binary.toml")
    with pytest.raises(ConfigError, match="cannot read config file"):
        Config.from_toml("nul\x00byte")


@given(text=st.text(max_size=200) | st.text("[]gamekoi=.'\"\n0123456789", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        assert isinstance(Config.from_toml_text(text), Config)
    except ConfigError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("key", "value", "keeps"),
    [
        ("search.visits", 7, True), ("search.playouts", 7, True), ("search.forget_history", True, True),
        ("time.ponder", True, True), ("play.resign", False, True), ("analysis.parallel", 3, True),
        ("gtp.name", "x", True), ("search.threads", 3, False), ("puct.c_puct", 2.0, False),
        ("human.human_profile", "rank_5k", False), ("network.model", "x", False)
    ],
)  # fmt: skip
def test_which_options_shape_the_tree(key: str, value: Any, keeps: bool) -> None:
    config = Config().with_values({key: value})
    assert config != Config()
    assert config.shapes_trees_like(Config()) == Config().shapes_trees_like(config) == keeps
