"""Results on disk: nothing finished is lost, and nothing is mixed with the games of another match."""

import dataclasses
import json
from pathlib import Path

import pytest

from gtp_engine.match.records import GameRecord, MatchFolder
from gtp_engine.match.settings import MatchError, MatchSettings, Sprt

SETTINGS = MatchSettings(first="engine-a", second="engine-b", size=9, komi=7.0)


def record(game: int) -> GameRecord:
    return GameRecord(
        game=game,
        opening="random 1",
        black="first",
        result="B+3",
        winner="first",
        reason="score",
        moves=61,
        scores={"referee": "B+3", "first": "B+3"},
        think_times={"first": [0.25], "second": [0.5, 1.0]},
        overruns={"first": 0, "second": 1},
    )


def test_record_survives_its_line() -> None:
    line = record(7).to_line()
    assert "\n" not in line
    assert GameRecord.from_line(line) == record(7)


def test_games_are_found_again(tmp_path: Path) -> None:
    folder = MatchFolder(tmp_path / "match", SETTINGS)
    folder.add(record(2), "(;FF[4])")
    folder.add(record(1), "(;FF[4])")
    again = MatchFolder(tmp_path / "match", SETTINGS)
    assert again.records() == [record(1), record(2)]
    assert again.sgf_path(2).read_text() == "(;FF[4])"


def test_half_a_line_is_cut_off_and_its_game_played_again(tmp_path: Path) -> None:
    folder = MatchFolder(tmp_path, SETTINGS)
    folder.add(record(1), "")
    results = tmp_path / "results.jsonl"
    with results.open("a") as file:
        file.write(record(2).to_line()[:40])
    again = MatchFolder(tmp_path, SETTINGS)
    assert again.records() == [record(1)]
    with again.playing():
        again.add(record(2), "")
    assert MatchFolder(tmp_path, SETTINGS).records() == [record(1), record(2)]


def test_only_one_process_plays_a_match(tmp_path: Path) -> None:
    """Both played the same games, which were then counted twice."""
    folder, other = MatchFolder(tmp_path, SETTINGS), MatchFolder(tmp_path, SETTINGS)
    with folder.playing():
        folder.add(record(1), "")
        with pytest.raises(MatchError, match=r"another process writes to .*; wait for its end"):
            other.playing().__enter__()
    with other.playing():
        assert other.records() == [record(1)]


def test_a_match_that_is_being_played_can_be_read(tmp_path: Path) -> None:
    """A line that the other process was writing was cut off, and its settings were replaced before its first game."""
    folder = MatchFolder(tmp_path, SETTINGS)
    with folder.playing():
        MatchFolder(tmp_path, dataclasses.replace(SETTINGS, komi=6.5))
        folder.add(record(1), "")
        with (tmp_path / "results.jsonl").open("a") as file:
            file.write(record(2).to_line()[:40])
            file.flush()
            assert MatchFolder(tmp_path, SETTINGS).records() == [record(1)]
            file.write(record(2).to_line()[40:] + "\n")
    assert MatchFolder(tmp_path, SETTINGS).records() == [record(1), record(2)]


def test_other_settings_are_refused_by_name(tmp_path: Path) -> None:
    MatchFolder(tmp_path, SETTINGS).add(record(1), "")
    with pytest.raises(MatchError, match=r"another match \(komi 7\.0 there, 6\.5 now\)"):
        MatchFolder(tmp_path, dataclasses.replace(SETTINGS, komi=6.5))


def test_a_failed_start_does_not_block_the_corrected_command(tmp_path: Path) -> None:
    failed = MatchFolder(tmp_path, dataclasses.replace(SETTINGS, second="gnugoo"))
    failed.check_engine("first", {"name": "Tengen", "version": "0.1"})
    corrected = MatchFolder(tmp_path, SETTINGS)
    corrected.check_engine("first", {"name": "Tengen", "version": "0.2"})
    corrected.add(record(1), "")
    assert MatchFolder(tmp_path, SETTINGS).records() == [record(1)]


def test_more_games_and_more_at_once_are_the_same_match(tmp_path: Path) -> None:
    MatchFolder(tmp_path, SETTINGS).add(record(1), "")
    longer = dataclasses.replace(SETTINGS, games=100, parallel=2)
    assert MatchFolder(tmp_path, longer).records() == [record(1)]


def test_a_folder_from_before_a_setting_existed_goes_on(tmp_path: Path) -> None:
    MatchFolder(tmp_path, SETTINGS).add(record(1), "")
    header = json.loads((tmp_path / "match.json").read_text())
    del header["settings"]["sprt"]
    (tmp_path / "match.json").write_text(json.dumps(header))
    assert MatchFolder(tmp_path, SETTINGS).records() == [record(1)]
    with pytest.raises(MatchError, match="sprt None there"):
        MatchFolder(tmp_path, dataclasses.replace(SETTINGS, sprt=Sprt(0, 10)))


def test_names_of_the_match_come_first(tmp_path: Path) -> None:
    folder = MatchFolder(tmp_path, dataclasses.replace(SETTINGS, first_name="new"))
    for side in ("first", "second"):
        folder.check_engine(side, {"name": "Tengen", "version": "0.1"})
    assert [folder.engine_name(side) for side in ("first", "second")] == ["new", "Tengen 0.1"]


@pytest.mark.parametrize(
    ("version", "shown"),
    [
        ("1.17.2 (Tengen 1.0.0)", "Tengen 1.0.0"),
        ("1.17.2 (KataGo 1.0.0)", "Tengen 1.17.2 (KataGo 1.0.0)"),
        ("2 (Tengen)", "Tengen 2 (Tengen)"),
        ("", "Tengen"),
    ],
)
def test_engines_that_also_tell_another_engines_version_are_named_by_their_own(
    tmp_path: Path, version: str, shown: str
) -> None:
    folder = MatchFolder(tmp_path, SETTINGS)
    folder.check_engine("first", {"name": "Tengen", "version": version})
    assert folder.engine_name("first") == shown


def test_another_engine_is_refused(tmp_path: Path) -> None:
    folder = MatchFolder(tmp_path, SETTINGS)
    folder.check_engine("first", {"name": "Tengen", "version": "0.1"})
    folder.add(record(1), "")
    again = MatchFolder(tmp_path, SETTINGS)
    again.check_engine("first", {"name": "Tengen", "version": "0.1"})
    assert again.engine_name("first") == "Tengen 0.1"
    with pytest.raises(MatchError, match=r"another first engine \(version '0\.1' there, '0\.2' now\)"):
        again.check_engine("first", {"name": "Tengen", "version": "0.2"})


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"format": 99, "settings": {}, "engines": {}}'])
def test_unreadable_header_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "match.json").write_text(text)
    with pytest.raises(MatchError, match=r"match\.json"):
        MatchFolder(tmp_path, SETTINGS)


@pytest.mark.parametrize("line", ["not json", "[]", json.dumps({"game": 1})])
def test_unreadable_line_is_refused_by_number(tmp_path: Path, line: str) -> None:
    MatchFolder(tmp_path, SETTINGS).add(record(1), "")
    with (tmp_path / "results.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(MatchError, match="line 2, is not a game"):
        MatchFolder(tmp_path, SETTINGS)


def test_a_game_that_was_stored_twice_is_refused_by_its_line(tmp_path: Path) -> None:
    """Two processes of an earlier version, or where the system has no locks; it was counted twice."""
    folder = MatchFolder(tmp_path, SETTINGS)
    for game in (1, 2, 1):
        folder.add(record(game), "")
    with pytest.raises(MatchError, match=r"line 3, holds game 1 again, .*: expected each game once; remove the line"):
        MatchFolder(tmp_path, SETTINGS)


def test_results_without_header_are_refused(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").write_text("")
    with pytest.raises(MatchError, match=r"without match\.json"):
        MatchFolder(tmp_path, SETTINGS)


def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MatchError, match=r"cannot use the match folder .*file"):
        MatchFolder(tmp_path / "file", SETTINGS)
