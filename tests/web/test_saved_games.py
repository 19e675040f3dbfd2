"""Games on the disk: room for new ones, values that come back as they were, damaged files."""

import contextlib
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from web.serving import RolloutSource, serving
from web.test_play_socket import ask, noted_engines

from gtp_engine.engine.shared_engines import SharedEngines
from gtp_engine.go.clock import TimeLeft, TimeSettings
from gtp_engine.people.play import state_of
from gtp_engine.people.web import saved_games
from gtp_engine.people.web.saved_games import DamagedFileError, JsonFileError, SavedGame, SavedGames, new_id


def test_the_oldest_game_makes_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_games, "MOST_GAMES", 2)
    saved = SavedGames(tmp_path)
    names = []
    for number in range(4):
        saved.make_room()
        names.append(new_id())
        saved.save(names[-1], SavedGame(f"(;SZ[{number + 2}])", "black", None, ("none",), {}, ()))
    assert {path.stem for path in tmp_path.iterdir()} <= set(names)
    assert len(list(tmp_path.iterdir())) == 2
    assert saved.load(names[-1]).sgf == "(;SZ[5])"


def test_a_game_that_cannot_be_removed_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ended the connection of the page without a word."""

    def unlink(path: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(saved_games, "MOST_GAMES", 1)
    saved = SavedGames(tmp_path)
    saved.save(new_id(), SavedGame("(;SZ[9])", "black", None, ("none",), {}, ()))
    monkeypatch.setattr(Path, "unlink", unlink)
    with pytest.raises(JsonFileError, match=r"the oldest game cannot be removed from .*: Permission denied"):
        saved.make_room()


@pytest.mark.parametrize(
    "time",
    [
        TimeSettings.none(),
        TimeSettings.absolute(1_234_567.25),
        TimeSettings.canadian(0, 0.1, 25),
        TimeSettings.byoyomi(600, 30, 5),
        TimeSettings.fischer(1e12, 5),
        TimeSettings.fischer_capped(600, 5, -1, -1),
        TimeSettings.fischer_capped(600, 5, 900, 60),
    ],
    ids=str,
)
def test_time_settings_come_back_as_they_were(time: TimeSettings) -> None:
    assert TimeSettings.parse(time.words()) == time


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"sgf":1}', "nonsense", '{"time":7,"dead":[]}'])
def test_a_damaged_file_is_an_error(text: str, tmp_path: Path) -> None:
    (tmp_path / "0123456789abcdef.json").write_text(text)
    with pytest.raises(JsonFileError, match="cannot be read"):
        SavedGames(tmp_path).load("0123456789abcdef")


LEFT = [True, 60.0, 3, 30.0, 0]
DAMAGES: list[tuple[str, Any]] = [
    ("sgf", 1),
    ("sgf", "(;SZ[99])"),
    ("sgf", ""),
    ("human", 2),
    ("human", "red"),
    ("level", 3),
    ("time", [7]),
    ("time", ["byoyomi", "1"]),
    ("time", ["byoyomi", "60", "30", "inf"]),
    ("dead", [None]),
    ("dead", ["Z99"]),
    ("resumed_at", "3"),
    ("free_handicap", None),
    ("notes", [1]),
    ("node", 10**30),
    ("encoding", "none such"),
    ("clocks", {"0": {"black": [True, "sixty", 0, 0.0, 0], "white": LEFT}}),
    ("clocks", {"0": {"black": [True, 60.0, float("inf"), 0.0, 0], "white": LEFT}}),
    ("clocks", {"0": {"black": [True, float("nan"), 0, 0.0, 0], "white": LEFT}}),
    ("clocks", {"0": {"black": [True, -1.0, 0, 0.0, 0], "white": LEFT}}),
    ("clocks", {"0": {"black": [True, 1e300, 0, 0.0, 0], "white": LEFT}}),
    ("clocks", {"0": {"black": [True, 60.0, 10**400, 0.0, 0], "white": LEFT}}),
    ("clocks", {"0": {"black": LEFT}}),
    ("clocks", {"0": {"black": LEFT, "white": LEFT, "red": LEFT}}),
    ("clocks", {"many": {"black": LEFT, "white": LEFT}}),
    ("clocks", {"0": 7}),
]


async def test_damaged_games_are_put_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Infinite periods, times that are no numbers or the clock of one side ended the connection and left an engine."""
    opened = noted_engines(monkeypatch)
    clocks = {0: {color: TimeLeft(True, 60.0, 3, 30.0, 0) for color in ("black", "white")}}
    good = SavedGame("(;SZ[9]KM[7])", "black", None, ("byoyomi", "60", "30", "3"), clocks, ()).to_json()
    texts = [json.dumps(good | {field: value}) for field, value in DAMAGES]
    texts += ["", "[]", "7", '{"sgf":', "[" * 100_000, json.dumps(good)[:-10], "\ud800"]
    async with serving(RolloutSource(), games=tmp_path) as client, client.ws_connect("/play") as socket:
        for number, text in enumerate(texts):
            name = f"{number:016x}"
            (tmp_path / f"{name}.json").write_text(text, encoding="utf-8", errors="surrogatepass")
            message = (await ask(socket, "error", do="open", id=name))["message"]
            assert message == f"the game {name} is damaged and was put aside", text
            assert (tmp_path / f"{name}.damaged").read_text("utf-8", errors="surrogatepass") == text
        assert opened == []
        (tmp_path / f"{'a' * 16}.json").write_text(json.dumps(good))
        assert (await ask(socket, do="open", id="a" * 16))["phase"] == "playing"


VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    10**30,
    0.5,
    float("nan"),
    "",
    "black",
    "Z99",
    "E5",
    [],
    ["E5"],
    [[]],
    {},
]
GOOD = SavedGame("(;SZ[9]KM[7];B[ee])", "black", None, ("byoyomi", "60", "30", "3"), {}, ()).to_json()


def test_a_game_with_any_value_in_any_field_opens_or_is_refused(tmp_path: Path) -> None:
    name, saved = "0123456789abcdef", SavedGames(tmp_path)
    with SharedEngines(RolloutSource.config) as engines:
        engine = engines.new_engine()
        for field, value in itertools.product(GOOD, VALUES):
            (tmp_path / f"{name}.json").write_text(json.dumps(GOOD | {field: value}))
            with contextlib.suppress(DamagedFileError):
                session = saved.load(name).session(engine)
                saved.save(name, SavedGame.of(session, None))
                saved.load(name)
                state_of(session)
        engine.close()
