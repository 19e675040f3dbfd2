"""Results on disk: nothing finished is lost, and nothing is mixed with the games of another match."""

import dataclasses
import json
from pathlib import Path

import pytest
from match_helpers import record

from gtp_engine.arena.match.records import MatchFolder
from gtp_engine.arena.match.settings import MatchError, MatchSettings, Sprt

SETTINGS = MatchSettings(first="engine-a", second="engine-b", size=9, komi=7.0)
LINES = {game: json.dumps(vars(record(game))) for game in (1, 2)}


def play(path: Path, version: str = "") -> None:
    """Play one game of the match, with a first engine of this version."""
    folder = MatchFolder(path, SETTINGS)
    with folder.playing():
        folder.check_engine("first", {"name": "Tengen", "version": version})
        folder.add(record(1), "")


def test_half_a_line_is_cut_off_and_its_game_played_again(tmp_path: Path) -> None:
    play(tmp_path)
    results = tmp_path / "results.jsonl"
    with results.open("a") as file:
        file.write(LINES[2][:40])
    again = MatchFolder(tmp_path, SETTINGS)
    assert again.records() == [record(1)]
    with again.playing():
        again.add(record(2), "")
    again = MatchFolder(tmp_path, SETTINGS)
    assert again.records() == [record(1), record(2)] and again.sgf_path(2).read_text() == ""


def test_only_one_process_plays_a_match(tmp_path: Path) -> None:
    folder, other = MatchFolder(tmp_path, SETTINGS), MatchFolder(tmp_path, SETTINGS)
    with folder.playing():
        folder.add(record(1), "")
        with pytest.raises(MatchError, match=r"another process writes to .*; wait for its end"):
            other.playing().__enter__()
    with other.playing():
        assert other.records() == [record(1)]


def test_a_match_that_is_being_played_can_be_read(tmp_path: Path) -> None:
    folder = MatchFolder(tmp_path, SETTINGS)
    with folder.playing():
        MatchFolder(tmp_path, dataclasses.replace(SETTINGS, komi=6.5))
        folder.add(record(2), "")
        with (tmp_path / "results.jsonl").open("a") as file:
            file.write(LINES[1][:40])
            file.flush()
            assert MatchFolder(tmp_path, SETTINGS).records() == [record(2)]
            file.write(LINES[1][40:] + "\n")
    assert MatchFolder(tmp_path, SETTINGS).records() == [record(1), record(2)]


def test_other_settings_are_refused_by_name(tmp_path: Path) -> None:
    play(tmp_path)
    longer = dataclasses.replace(SETTINGS, games=100, parallel=2)
    assert MatchFolder(tmp_path, longer).records() == [record(1)], "more games, and more at once"
    with pytest.raises(MatchError, match=r"another match \(komi 7\.0 there, 6\.5 now\)"):
        MatchFolder(tmp_path, dataclasses.replace(SETTINGS, komi=6.5))


def test_a_failed_start_does_not_block_the_corrected_command(tmp_path: Path) -> None:
    failed = MatchFolder(tmp_path, dataclasses.replace(SETTINGS, second="gnugoo"))
    with failed.playing():
        failed.check_engine("first", {"name": "Tengen", "version": "0.1"})
    play(tmp_path, version="0.2")
    assert MatchFolder(tmp_path, SETTINGS).records() == [record(1)]


def test_a_folder_from_before_a_setting_existed_goes_on(tmp_path: Path) -> None:
    play(tmp_path)
    header = json.loads((tmp_path / "match.json").read_text())
    del header["settings"]["sprt"]
    (tmp_path / "match.json").write_text(json.dumps(header))
    assert MatchFolder(tmp_path, SETTINGS).records() == [record(1)]
    with pytest.raises(MatchError, match="sprt None there"):
        MatchFolder(tmp_path, dataclasses.replace(SETTINGS, sprt=Sprt(0, 10)))


def test_a_game_is_a_row_of_a_table() -> None:
    row = record(7, winner="draw", scores={"referee": "0"}, overruns={"first": 0, "second": 2}).to_record()
    assert (row["game"], row["reason"], row["points"], row["score_referee"]) == (7, "resign", 0.5, "0")
    assert [row[f"{side}_seconds"] for side in ("first", "second")] == [4.0, 0.5]
    assert [row[f"{side}_overruns"] for side in ("first", "second")] == [0, 2]


@pytest.mark.parametrize(
    ("version", "shown"),
    [
        ("1.17.2 (Tengen 1.0.0)", "Tengen 1.0.0"),
        ("1.17.2 (KataGo 1.0.0)", "Tengen 1.17.2 (KataGo 1.0.0)"),
        ("2 (Tengen)", "Tengen 2 (Tengen)"),
        ("0.1", "Tengen 0.1"),
        ("", "Tengen"),
    ],
)
def test_engines_that_tell_another_version_too_are_named_by_theirs(tmp_path: Path, version: str, shown: str) -> None:
    folder = MatchFolder(tmp_path, dataclasses.replace(SETTINGS, second_name="of the match"))
    for side in ("first", "second"):
        folder.check_engine(side, {"name": "Tengen", "version": version})
    assert [folder.engine_name(side) for side in ("first", "second")] == [shown, "of the match"]


def test_another_engine_is_refused(tmp_path: Path) -> None:
    play(tmp_path, version="0.1")
    again = MatchFolder(tmp_path, SETTINGS)
    again.check_engine("first", {"name": "Tengen", "version": "0.1"})
    assert again.engine_name("first") == "Tengen 0.1"
    with pytest.raises(MatchError, match=r"another first engine \(version '0\.1' there, '0\.2' now\)"):
        again.check_engine("first", {"name": "Tengen", "version": "0.2"})


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("match.json", "", r"match\.json"),
        ("match.json", "{}", r"match\.json"),
        ("match.json", "[1]", r"match\.json"),
        ("match.json", '{"format": 99, "settings": {}, "engines": {}}', r"match\.json has format 99"),
        ("match.json", None, r"holds results without match\.json"),
        ("results.jsonl", "not json\n", "line 2, is not a game"),
        ("results.jsonl", "[]\n", "line 2, is not a game"),
        ("results.jsonl", '{"game": 1}\n', "line 2, is not a game"),
        # Two processes of an earlier version, or where the system has no locks; it was counted twice.
        ("results.jsonl", f"{LINES[1]}\n", "line 2, holds game 1 again, .*: expected each game once"),
    ],
)
def test_damage_is_named(tmp_path: Path, file: str, text: str | None, message: str) -> None:
    play(tmp_path)
    path = tmp_path / file
    if text is None:
        path.unlink()
    else:
        path.write_text(text if file == "match.json" else path.read_text() + text)
    with pytest.raises(MatchError, match=message):
        MatchFolder(tmp_path, SETTINGS)
