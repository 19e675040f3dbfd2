"""What a person who types into the terminal reads on stderr; the replies on stdout are the protocol's."""

import pytest
from gtp.fake_engine import FakeEngine

from gtp_engine import Config, Game
from gtp_engine.people.terminal.gtp_guide import HELP, WELCOME, advice
from gtp_engine.protocols.gtp.server import GtpServer


class Engine(FakeEngine):
    game = Game(9)


def advised(line: str) -> str:
    """Return what the log of a session in a terminal says about a line, and check its reply."""
    log: list[str] = []
    plain = GtpServer(Config(), Engine, log.append).handle_line(line)  # type: ignore[arg-type]
    assert plain.startswith("? ") and log == [], "nothing is explained to a program"
    assert GtpServer(Config(), Engine, log.append, advise=advice).handle_line(line) == plain  # type: ignore[arg-type]
    return "\n".join(log)


@pytest.mark.parametrize("line", ["help", "?", "HELP me"])
def test_help(line: str) -> None:
    assert advised(line) == HELP


@pytest.mark.parametrize("line", ["d4", "D4", "play D4", "play d4 b"])
def test_a_move_that_is_not_a_command(line: str) -> None:
    assert advised(line) == "play b D4 plays it for Black, play w D4 for White; genmove w lets the engine answer."


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("pass", "play b pass plays it"),
        ("play", "play b D4 plays it"),
        ("genmove", "genmove needs a color"),
        ("genmove D4", "genmove needs a color"),
        ("exit", "Type quit to end"),
        ("resign now", "There is no command 'resign'; help explains"),
        ("komi x", ""),
        ("play b Z99", ""),
        ("play b here", "play b D4 plays it"),
    ],
)
def test_other_slips(line: str, words: str) -> None:
    found = advised(line)
    assert found.startswith(words) and bool(found) == bool(words)


def test_every_command_that_is_explained_exists_and_the_welcome_is_two_lines() -> None:
    server = GtpServer(Config(), FakeEngine, print)  # type: ignore[arg-type]
    assert all(server.find(line.split()[0]) for line in HELP.splitlines() if line.startswith("  "))
    assert len(WELCOME.splitlines()) == 2
    assert "gtp-engine play" in WELCOME and "gtp-engine --help" in WELCOME
