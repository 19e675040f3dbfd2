"""Settings by KataGo's names and our own."""

import json
from typing import Any

import pytest
from gtp.fake_engine import FakeEngine
from texts import texts

from gtp_engine import Config, ConfigError
from gtp_engine.config.katago import GTP_OPTIONS
from gtp_engine.config.option import Value
from gtp_engine.protocols.gtp.commands.params import (
    CONSTANTS,
    OPTION_OF,
    WITHOUT_EFFECT,
    format_value,
    get_value,
    to_options,
)
from gtp_engine.protocols.gtp.protocol import GtpError
from gtp_engine.protocols.gtp.server import GtpServer


class ConfiguredEngine(FakeEngine):
    """Keeps a configuration."""

    config = Config()

    def configure(self, values: dict[str, Value]) -> None:
        self.config = self.config.with_values(values)


def test_katagos_names_are_options_of_ours() -> None:
    """Every default is unchanged after it is shown in KataGo's form and read again."""
    for name in GTP_OPTIONS:
        config = Config()
        text = format_value(get_value(config, name))
        assert config.with_values(to_options({name: text})) == config


@pytest.mark.parametrize(("kind", "setting", "expected"), texts("params"))
def test_values_are_read_and_shown_in_the_form_of_the_name(kind: str, setting: str, expected: list[Any]) -> None:
    (name, _, text), (key, *value, shown) = setting.partition(" "), expected
    config = Config().with_values(to_options({name: text or None}))
    assert (kind == "KataGo's") == (name in GTP_OPTIONS)
    assert config.value(key) == (value[0] if value else None)
    assert format_value(get_value(config, name)) == shown


@pytest.mark.parametrize("name", WITHOUT_EFFECT)
def test_a_setting_without_effect_is_taken_with_what_takes_its_place(name: str) -> None:
    engine, log = ConfiguredEngine(), list[str]()
    server = GtpServer(Config(), lambda: engine, log.append)  # type: ignore[arg-type, return-value]
    assert server.handle_line(f"kata-set-param {name} 8") == "= \n\n"
    assert engine.config == Config() and "has no effect here; instead: --" in log[0]


@pytest.mark.parametrize("text", ["0", "9", "-1", "2.5", "many", "1" * 5000])
def test_a_board_has_eight_symmetries(text: str) -> None:
    with pytest.raises(ConfigError, match="expected an integer from 1 to 8"):
        to_options({"rootNumSymmetriesToSample": text})


def test_all_values_as_json() -> None:
    server = GtpServer(Config(), ConfiguredEngine, print)  # type: ignore[arg-type]
    values = json.loads(server.handle_line("kata-get-params").removeprefix("= "))
    assert list(values) == list(OPTION_OF) == server.handle_line("kata-list-params").removeprefix("= ").split()
    assert values["maxVisits"] == 2**50
    assert values["search.seed"] is None


def test_several_settings_are_set_together_or_not_at_all() -> None:
    engine = ConfiguredEngine()
    server = GtpServer(Config(), lambda: engine, print)  # type: ignore[arg-type, return-value]
    assert server.handle_line('kata-set-params {"maxVisits": 9, "allowResignation": false}') == "= \n\n"
    assert (engine.config.search.visits, engine.config.play.resign) == (9, False)
    assert server.handle_line('kata-set-params {"maxVisits": 5, "maxTime": []}').startswith("? option time")
    assert engine.config.search.visits == 9


def test_all_values_as_json_can_be_set_again() -> None:
    engine = ConfiguredEngine()
    server = GtpServer(Config(), lambda: engine, print)  # type: ignore[arg-type, return-value]
    values = server.handle_line("kata-get-params").removeprefix("= ")
    engine.configure({"search.seed": 7, "play.delay": 2.5})
    assert server.handle_line(f"kata-set-params {values}") == "= \n\n"
    assert engine.config == Config()


@pytest.mark.parametrize("text", ["123456.789", "1000000", "0.1", "1e-08"])
def test_a_number_that_was_set_is_shown_in_full(text: str) -> None:
    assert float(format_value(float(text))) == float(text)


@pytest.mark.parametrize("name", ["nonsense", "game.komi", "network.model", "gtp.name", "maxvisits"])
def test_options_that_cannot_be_changed_are_unknown(name: str) -> None:
    with pytest.raises(GtpError, match="unknown parameter"):
        to_options({name: "1"})


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_may_be_set_to_their_value(name: str) -> None:
    shown = format_value(get_value(Config(), name))
    assert to_options({name: shown}) == to_options({name: None}) == {}
    with pytest.raises(ConfigError, match="expected"):
        to_options({name: "0.5"})
