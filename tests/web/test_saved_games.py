"""Games on the disk: room for new ones, values that come back as they were, damaged files."""

import contextlib
import itertools
import json
import os
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from busy_machine import within
from web.serving import RolloutSource, saved_game, serving
from web.test_play_socket import ask, noted_engines

from gtp_engine import read_headers
from gtp_engine.engine.shared_engines import SharedEngines
from gtp_engine.people.web import saved_games
from gtp_engine.people.web.open_games import OpenGames
from gtp_engine.people.web.saved_games import DamagedFileError, JsonFileError, SavedGame, SavedGames, new_id


def test_the_oldest_game_makes_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_games, "MOST_GAMES", 2)
    saved = SavedGames(tmp_path)
    names = []
    for number in range(4):
        saved.make_room()
        names.append(new_id())
        saved.save(names[-1], saved_game(f"(;SZ[{number + 2}])"))
    assert {path.stem for path in tmp_path.iterdir()} <= set(names)
    assert sorted(header.width for header in read_headers(tmp_path)) == [4, 5], "games are records"


@pytest.mark.skipif(os.name == "nt", reason="the folder of a user on Windows is that user's alone")
def test_games_are_for_their_user_alone(tmp_path: Path) -> None:
    for folder in (tmp_path / "data" / "games", tmp_path / "old"):
        (tmp_path / "old").mkdir(mode=0o755, exist_ok=True)
        SavedGames(folder).save(new_id(), saved_game("(;SZ[9])"))
        (file,) = folder.iterdir()
        assert (folder.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)


def test_a_game_that_cannot_be_removed_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ended the connection of the page without a word."""

    def unlink(path: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(saved_games, "MOST_GAMES", 1)
    saved = SavedGames(tmp_path)
    saved.save(new_id(), saved_game("(;SZ[9])"))
    monkeypatch.setattr(Path, "unlink", unlink)
    with pytest.raises(JsonFileError, match=r"the game [0-9a-f]{16} cannot be removed: Permission denied"):
        saved.make_room()


async def test_damaged_games_are_put_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = noted_engines(monkeypatch)
    good = asdict(saved_game("(;SZ[9]KM[7])"))
    texts = [json.dumps(good | damage) for damage in ({"human": "red"}, {"dead": ["Z99"]}, {"node": 10**30})]
    texts += ["", "[]", "7", '{"sgf":', "[" * 100_000, "\ud800"]
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


LEFT = [True, 60.0, 3, 30.0, 0]
VALUES: list[Any] = [None, True, False, 0, 1, -1, 10**30, 0.5, float("nan"), "", "black", "3", "(;SZ[99])", "Z99", "E5"]
VALUES += [[], [None], [7], ["Z99"], ["E5"], [[]], ["byoyomi", "60", "30", "inf"], {}, {"0": 7}, {"0": {"black": LEFT}}]
ODD: list[Any] = [None, "sixty", -1.0, 1e300, 10**400, float("inf"), float("nan")]
CLOCKS = [[*LEFT[:place], odd, *LEFT[place + 1 :]] for place in range(5) for odd in ODD]
VALUES += [{"0": {"black": clock, "white": LEFT}} for clock in [LEFT, *CLOCKS]]
VALUES += [{"many": {"black": LEFT, "white": LEFT}}, {"0": {"black": LEFT, "white": LEFT, "red": LEFT}}]
GOOD = asdict(saved_game("(;SZ[9]KM[7];B[ee])", time=("byoyomi", "60", "30", "3")))


OPENED = {
    "clocks": 6, "dead": 5, "encoding": 7, "free_handicap": 2, "human": 1, "is_own": 2, "level": 7, "may_resign": 2,
    "node": 4, "notes": 36, "result": 6, "resumed_at": 3, "time": 1, "title": 6,
}  # fmt: skip
"""How many of the values a field may have."""


def test_a_game_with_any_value_in_any_field_opens_or_is_refused(tmp_path: Path) -> None:
    """One that opens is the same when it has been saved again."""
    name, saved, opened = "0123456789abcdef", SavedGames(tmp_path), Counter[str]()
    with SharedEngines(RolloutSource.config) as engines, within(60):
        engine = engines.new_engine()
        for field, value in itertools.product(GOOD, VALUES):
            (tmp_path / f"{name}.json").write_text(json.dumps(GOOD | {field: value}))
            with contextlib.suppress(DamagedFileError):
                kept = SavedGame.of(saved.load(name).session(engine), None)
                saved.save(name, kept)
                assert SavedGame.of(saved.load(name).session(engine), None) == kept
                opened[field] += 1
        engine.close()
    assert opened == OPENED


def test_a_game_that_goes_on_is_read_again_for_its_opening(tmp_path: Path) -> None:
    host: Any = None
    saved, names = SavedGames(tmp_path), ["0" * 16, "1" * 16, "2" * 16]
    games, read = OpenGames(host, saved), list[str]()
    for name in names:
        saved.save(name, saved_game("(;SZ[5]RE[B+R];B[cc])"))
    saved.load = lambda name: read.append(name) or SavedGames.load(saved, name)  # type: ignore[method-assign]
    assert [each.winner for each in games.openings(names[2])] == ["B", "B"]
    saved.save(names[0], saved_game("(;SZ[5]RE[W+R];B[cc];W[bb])"))
    os.utime(tmp_path / f"{names[0]}.json", (1, 1))
    saved.remove(names[1])
    assert [each.winner for each in games.openings(None)] == ["B", "W"]
    assert sorted(read) == [names[0], names[0], names[1], names[2]], "the one that stayed is known"
