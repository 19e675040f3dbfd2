"""Whole matches between scripted engines: order of commands, clocks, colours, endings, faults, scores, resumption."""

import dataclasses
import doctest
import json
import re
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from board_helpers import play_moves
from busy_machine import bound
from match_helpers import engine, play, record, sent, settings
from superko_games import LAP, triple_ko

from gtp_engine import Game, MatchFolder, MatchSettings, TimeLeft, TimeSettings, run_match
from gtp_engine.arena.match import match_game
from gtp_engine.arena.match.match_game import Referee, load_openings
from gtp_engine.arena.match.records import GameRecord
from gtp_engine.arena.match.runner import show_games
from gtp_engine.arena.match.settings import MatchError, Sprt
from gtp_engine.arena.match.statistics import run_sprt, summarize
from gtp_engine.base.files import owning
from gtp_engine.go.clock import full_time, settings_command, time_after_move, time_left_arguments
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import Point, point_to_xy
from gtp_engine.sgf import format_sgf, parse_sgf, record_to_game

STONE = "--black C3 --white C3"
"""The only stone on the board: who puts it there owns all 25 points, with either colour."""
GNUGO = shutil.which("gnugo") or shutil.which("gnugo", path="/usr/games")


def test_commands_come_in_the_order_of_gogui_twogtp(tmp_path: Path) -> None:
    play(tmp_path, "--lists time_settings --black C3", "--lists time_settings", overtime=10.0, overtime_stones=1)
    start = ["protocol_version", "name", "version", "list_commands"]
    new_game = ["boardsize 5", "clear_board", "komi 0.5", "time_settings 0 10 1"]
    assert sent(tmp_path, "first") == [*start, *new_game, "genmove b", "play W pass", "genmove b", "quit"]
    assert sent(tmp_path, "second") == [*start, *new_game, "play B C3", "genmove w", "play B pass", "quit"]


def test_rules_and_visits_are_told_where_listed(tmp_path: Path) -> None:
    kata = "--lists kata-set-rules --lists kgs-rules --lists kata-set-param"
    play(tmp_path, kata, "--lists kgs-rules --lists kata-set-param", visits=50)
    assert "kata-set-param maxVisits 50" in sent(tmp_path, "first")
    (told,) = [line for line in sent(tmp_path, "first") if "-rules" in line]
    assert json.loads(told.removeprefix("kata-set-rules "))["scoring"] == "AREA"
    assert "kgs-rules chinese" in sent(tmp_path, "second")


def test_with_a_handicap_the_second_engine_is_black_in_every_game(tmp_path: Path) -> None:
    games = play(tmp_path, "--lists set_free_handicap", size=9, games=2, random_plies=1, handicap=3)
    assert [(game.black, game.opening) for game in games] == [("second", "random 1"), ("second", "random 2")]
    assert sent(tmp_path, "first")[7] == "set_free_handicap C3 G7 C7"
    assert sent(tmp_path, "second")[7:10] == ["play B C3", "play B G7", "play B C7"]
    assert sent(tmp_path, "second")[10].startswith("play W ") and sent(tmp_path, "second")[11] == "genmove b"
    assert "AB[cg][gc][cc]" in (tmp_path / "games" / "0001.sgf").read_text()


@pytest.mark.parametrize(
    ("first", "second", "match", "expected", "detail"),
    [
        (STONE, "", {"games": 2, "komi": 7.0}, [("B+18", "first", "score", 3), ("W+32", "first", "score", 4)], ""),
        ("", "", {"komi": 0.0}, [("0", "draw", "score", 2)], ""),
        ("--black 'C3 Resign'", "--white A1", {}, [("W+R", "second", "resign", 2)], ""),
        ("--answers 'komi die'", "", {}, [("W+F", "second", "failure", 0)], "exit code 3 instead of replying to 'komi"),
        ("--black fail", "", {}, [("W+F", "second", "failure", 0)], "'genmove b' failed: 'no idea'"),
        ("--black hang", "", {"reply_timeout": 2.0}, [("W+F", "second", "failure", 0)], "'genmove b' within 2 s"),
        ("--black C3", "--refuse 'play B C3'", {}, [("B+F", "first", "refused", 1)], "the legal move C3: refused"),
        ("--black C3", "--white C3", {}, [("B+F", "first", "illegal", 1)], "played 'C3': illegal move: C3 is occupied"),
        ("--black C3", "--white T19", {}, [("B+F", "first", "illegal", 1)], "second answered 'T19' to genmove"),
        ("--black C3", "--white nonsense", {}, [("B+F", "first", "illegal", 1)], "answered 'nonsense' to genmove"),
        ("--black 'C3 A1'", "--white 'E5 A5'", {"max_moves": 3}, [("Void", "none", "max_moves", 3)], "after 3 moves"),
    ],
)  # fmt: skip
def test_endings(tmp_path: Path, first: str, second: str, match: dict[str, Any], expected: Any, detail: str) -> None:
    games = play(tmp_path, first, second, **match)
    assert [(game.result, game.winner, game.reason, game.moves) for game in games] == expected
    assert [game.black for game in games] == ["first", "second"][: len(games)]
    assert detail in games[0].detail


@pytest.mark.parametrize(
    ("first", "second", "referee", "result", "scores"),
    [
        ("--black C3 --score B+24.50", "--score W+3", "board", "B+24.5", ("B+24.5", "W+3")),
        ("--score W+9.0", "--score W+9", "players", "W+9", ("W+9", "W+9")),
        ("--black C3 --score W+9", "--score W+8", "players", "W+8", ("W+9", "W+8")),
        ("--black C3 --score B+9", "--score W+8", "players", "B+24.5", ("B+9", "W+8")),
    ],
    ids=["board", "agreed", "the same winner", "disputed"],
)
def test_one_score_decides(
    tmp_path: Path, first: str, second: str, referee: str, result: str, scores: list[str]
) -> None:
    (game,) = play(tmp_path, first, second, referee=referee)
    assert (game.result, game.winner) == (result, "first" if result[0] == "B" else "second")
    assert game.scores == {"referee": result, "first": scores[0], "second": scores[1]}


def test_a_dead_engine_loses_and_is_replaced(tmp_path: Path) -> None:
    """Three failures, but not in a row, do not end the match."""
    games = play(tmp_path, "--black die", games=5)
    failed, scored = ("second", "failure"), ("first", "score")
    assert [(game.winner, game.reason) for game in games] == [failed, scored, failed, scored, failed]
    assert "exit code 3" in games[0].detail


@pytest.mark.parametrize(
    ("first", "second", "detail"),
    [("", "--black die --white die", "exit code 3"), (STONE, "--refuse play", "second refused the legal move C3")],
)
def test_the_match_ends_when_one_engine_keeps_failing(tmp_path: Path, first: str, second: str, detail: str) -> None:
    with pytest.raises(MatchError, match=rf"second failed in 3 games in a row; the last time: .*{detail}"):
        play(tmp_path, first, second, games=10)
    assert len((tmp_path / "results.jsonl").read_text().splitlines()) == 3


@pytest.mark.parametrize(
    ("arguments", "match", "message"),
    [
        ("--refuse boardsize", {}, "first: 'boardsize 5' failed: 'refused'"),
        ("--refuse name", {}, "first: 'name' failed"),
        ("--answers 'list_commands play'", {}, "list boardsize, clear_board, komi, genmove, which every game needs"),
        ("", {"visits": 10}, "first: the visits of Scripted cannot be set"),
        ("", {"main_time": 5.0}, "first: Scripted does not list time_settings"),
        ("", {"main_time": 60.0, "increment": 2.0}, "first: Scripted does not list time_settings"),
    ],
)
def test_matches_that_cannot_begin(tmp_path: Path, arguments: str, match: dict[str, Any], message: str) -> None:
    with pytest.raises(MatchError, match=message):
        play(tmp_path, arguments, **match)
    assert not (tmp_path / "results.jsonl").exists()


def test_a_missing_program_is_named_before_an_engine_starts(tmp_path: Path) -> None:
    match = dataclasses.replace(settings(), second="/no/such")
    with pytest.raises(MatchError, match=r"^second: cannot run '/no/such': No such file"):
        run_match(match, MatchFolder(tmp_path, match))
    assert not [*tmp_path.glob("logs/*")]


@pytest.mark.parametrize(
    ("wait", "clock", "expected"),
    [
        ("0.6", {"overtime": 0.1, "overtime_stones": 1, "time_grace": 0.1}, ("W+T", "time", 1)),
        ("1.3 C3", {"overtime": 1.0, "overtime_stones": 1, "time_grace": 30.0}, ("W+0.5", "score", 1)),
        ("1.3", {"main_time": 1.0, "forfeit_on_time": False, "time_left": True}, ("W+25.5", "score", 2)),
    ],
)
def test_slow_moves(tmp_path: Path, wait: str, clock: dict[str, Any], expected: tuple[str, str, int]) -> None:
    """Time losses are decided by the referee's watch, which begins again with each game."""
    lists, match = "--lists time_settings --lists time_left", {"time_grace": 0.0, "games": 2} | clock
    game, other = play(tmp_path, f"{lists} --black 'wait:{wait}'", f"{lists} --white A1", **match)
    assert (other.overruns["first"], len(other.think_times["first"])) == (0, 1)
    assert (times_sent(tmp_path)[-1] == "time_left W 1 0") == ("time_left" in clock)
    assert (game.result, game.reason, game.overruns["first"]) == expected
    assert 0.3 < game.think_times["first"][0] < 20


class TestLongCycles:
    """Games that begin with three kos, which both engines take in turn."""

    BLACK, WHITE = (" ".join(4 * LAP[first::2]) for first in (0, 1))

    def play(self, folder: Path, moves: int = 0, **values: Any) -> list[GameRecord]:
        openings = folder / "openings"
        openings.mkdir()
        (openings / "triple-ko.sgf").write_text(format_sgf(triple_ko("chinese", moves)))
        moves_of_both = f"--black '{self.BLACK}' --white '{self.WHITE}'"
        match = {"size": 9, "games": 2, "openings": str(openings), **values}
        return play(folder / "match", moves_of_both, moves_of_both, **match)

    def test_under_simple_ko_they_have_no_result_and_are_drawn(self, tmp_path: Path) -> None:
        games = self.play(tmp_path, rules="japanese")
        for game in games:
            assert (game.result, game.winner, game.reason, game.moves) == ("Void", "draw", "cycle", 12)
        assert "RE[Void]" in (tmp_path / "match" / "games" / "0001.sgf").read_text()
        summary = summarize(games)
        assert (summary.games, summary.void, summary.win_rate) == (2, 0, 0.5)

    def test_under_superko_the_repetition_is_illegal(self, tmp_path: Path) -> None:
        (game,) = self.play(tmp_path, rules="aga", games=1)
        assert (game.winner, game.reason, game.moves) == ("first", "illegal", 5)

    def test_an_opening_without_result_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(MatchError, match=r"triple-ko\.sgf has no result: expected a game that goes on"):
            self.play(tmp_path, moves=12)


def test_games_run_side_by_side_and_their_records_are_readable_sgf_with_names_and_result(tmp_path: Path) -> None:
    games = play(tmp_path, "--name Alpha --black 'wait:0.1 C3'", "--name Beta", games=6, parallel=3)
    assert [game.game for game in games] == [1, 2, 3, 4, 5, 6]
    text = (tmp_path / "games" / "0002.sgf").read_text()
    for part in ("PB[Beta 1.0]", "PW[Alpha 1.0]", "RE[W+0.5]", "KM[0.5]", "SZ[5]", "DT[20"):
        assert part in text
    game = record_to_game(parse_sgf((tmp_path / "games" / "0001.sgf").read_bytes()))
    assert [move.point == PASS for move in game.moves][-2:] == [True, True]
    assert sorted(path.name for path in (tmp_path / "logs").iterdir()) == [
        f"{side}-{worker}.log" for side in ("first", "second") for worker in (1, 2, 3)
    ]


class TestSequentialTest:
    """A match ends with the verdict of its test, for good."""

    TEST = Sprt(0, 400, alpha=0.2, beta=0.2)

    @pytest.mark.parametrize("games", [40, 80])
    def test_nothing_is_played_after_the_verdict(self, tmp_path: Path, games: int) -> None:
        engines = ("--black resign --white resign", "")
        played = play(tmp_path, *engines, games=40, sprt=self.TEST)
        assert run_sprt(self.TEST, played[:-1]).verdict == "undecided"
        assert play(tmp_path, *engines, games=games, sprt=self.TEST) == played
        assert run_sprt(self.TEST, played).verdict == "H0"

    def test_games_being_played_are_broken_off(self, tmp_path: Path) -> None:
        """What is finished gives the verdict, however many games run side by side."""
        second = "--black resign --white wait:0.3"
        games = play(tmp_path, "", second, games=40, komi=-0.5, parallel=3, sprt=self.TEST)
        assert [game.winner for game in games] == ["first"] * len(games)
        assert run_sprt(self.TEST, games).verdict == "H1"
        assert len(games) <= 12
        assert play(tmp_path, "", second, games=40, komi=-0.5, parallel=3, sprt=self.TEST) == games


class TestOpenings:
    """Pairs of games begin alike, with the colours swapped."""

    def test_random_openings_are_the_same_for_a_pair_and_for_a_seed(self) -> None:
        openings, _ = load_openings(settings(games=20, size=9, random_plies=4, seed=3))
        assert len(openings) == 10
        assert openings[:3] == load_openings(settings(games=5, size=9, random_plies=4, seed=3))[0]
        assert openings[:1] != load_openings(settings(games=1, size=9, random_plies=4, seed=4))[0]
        assert len({opening.game.moves for opening in openings}) > 5

    def test_random_openings_keep_off_the_edge(self) -> None:
        matches = [settings(games=20, size=size, random_plies=6) for size in (7, 9)]
        for game in (opening.game for match in matches for opening in load_openings(match)[0]):
            assert [move.color for move in game.moves] == [BLACK, WHITE] * 3
            places = [point_to_xy(move.point, width=game.width) for move in game.moves]
            assert all(2 <= coordinate <= game.width - 3 for place in places for coordinate in place)

    def test_both_engines_get_the_opening(self, tmp_path: Path) -> None:
        games = play(tmp_path, games=2, random_plies=2)
        assert games[0].opening == games[1].opening == "random 1"
        plays = [line for line in sent(tmp_path, "first") if line.startswith("play") and "pass" not in line]
        assert plays == [line for line in sent(tmp_path, "second") if line.startswith("play") and "pass" not in line]
        assert plays[:2] == plays[2:]
        assert [line.split()[1] for line in plays[:2]] == ["B", "W"]
        assert [game.moves for game in games] == [4, 4]

    def test_records_are_openings(self, tmp_path: Path) -> None:
        folder = tmp_path / "openings"
        folder.mkdir()
        (folder / "b.SGF").write_text("(;FF[4]GM[1]SZ[5]AB[aa]AW[dd]PL[W])")
        (folder / "a.sgf").write_text("(;FF[4]GM[1]SZ[5]AB[aa]AW[ee]PL[W])")
        games = play(tmp_path / "match", games=4, openings=str(folder))
        assert [game.opening for game in games] == ["a.sgf", "a.sgf", "b.SGF", "b.SGF"]
        assert summarize(games).repeated == (), "the same moves after other stones"
        assert "play B A5" in sent(tmp_path / "match", "first")
        assert "genmove w" in sent(tmp_path / "match", "second")

    def test_set_up_stones_are_no_handicap_and_a_record_may_set_the_side_to_move(self, tmp_path: Path) -> None:
        (tmp_path / "a.sgf").write_text("(;FF[4]GM[1]SZ[5]AB[aa][bb]AW[ee]PL[B])")
        play(tmp_path / "match", games=2, openings=str(tmp_path))
        lines = [line for line in sent(tmp_path / "match", "first") if line.startswith("play")]
        assert lines[:3] == ["play W E1", "play B A5", "play B B4"], "two stones of Black's first would be a handicap"
        (tmp_path / "a.sgf").write_text("(;FF[4]GM[1]SZ[5];B[cc];W[dd];PL[W])")
        assert load_openings(settings(openings=str(tmp_path)))[0][0].game.to_play == WHITE

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (None, r"holds no \.sgf file"),
            ("(;FF[4]GM[1]SZ[9])", "9×9, the match is 5×5"),
            ("no record", r"cannot use the opening .*bad\.sgf"),
            ("(;FF[4]GM[1]SZ[5];B[aa];W[aa])", "occupied"),
            ("(;FF[4]GM[1]SZ[5];B[cc];W[];B[])", r"bad\.sgf ends with two passes: expected a game that goes on"),
        ],
    )
    def test_unusable_records_are_named(self, tmp_path: Path, text: str | None, message: str) -> None:
        if text is not None:
            (tmp_path / "bad.sgf").write_text(text)
        with pytest.raises(MatchError, match=message):
            load_openings(settings(openings=str(tmp_path)))

    def test_a_folder_that_changed_is_refused_when_a_match_goes_on(self, tmp_path: Path) -> None:
        folder, one = tmp_path / "openings", "(;FF[4]GM[1]SZ[5];B[cc])"
        folder.mkdir()
        (folder / "a.sgf").write_text(one)
        match = settings(openings=str(folder), games=1)
        run_match(match, MatchFolder(tmp_path / "match", match))
        longer = dataclasses.replace(match, games=2)
        (folder / "a.sgf").write_text("(;FF[4]GM[1]SZ[5];B[bb])")
        with pytest.raises(MatchError, match=r"was played with other openings than .*openings' holds now; restore"):
            run_match(longer, MatchFolder(tmp_path / "match", longer))
        (folder / "a.sgf").write_text(one)
        (folder / "readme.txt").write_text("no opening")
        header = json.loads((tmp_path / "match" / "match.json").read_text())
        del header["openings"]  # as an earlier version wrote it
        (tmp_path / "match" / "match.json").write_text(json.dumps(header))
        games = run_match(longer, MatchFolder(tmp_path / "match", longer))
        assert [game.opening for game in games] == ["a.sgf", "a.sgf"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send to another process")
@pytest.mark.usefixtures("interruptible")
def test_interruption_keeps_finished_games_and_the_match_goes_on(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gtp_engine", "match", "--first", engine("--black wait:0.4 --white wait:0.4")]
    command += ["--second", engine("--name Other"), "--size", "5", "--komi", "0.5", "--referee", "board"]
    command += ["--out", str(tmp_path), "--games"]
    with subprocess.Popen([*command, "500"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr.readline().startswith("game 1: ")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=bound(60))
    assert process.returncode == 130
    kept = (tmp_path / "results.jsonl").read_text()
    games = len(kept.splitlines()) + 2
    assert f"Interrupted; {tmp_path} keeps {games - 2} finished game" in errors
    assert 3 <= games < 500
    more = [*command, str(games)]
    done = subprocess.run(more, capture_output=True, text=True, timeout=bound(60), check=True)
    assert (tmp_path / "results.jsonl").read_text().startswith(kept)
    assert "Scripted 1.0  against  Other 1.0" in done.stdout
    assert f"games          {games}\n" in done.stdout


def test_a_bar_shows_the_score_and_a_line_for_each_game() -> None:
    shown, test = list[str](), Sprt(0, 100)
    bar: Any = SimpleNamespace(update=lambda done, text: shown.append(f"{done}: {text}"), log=shown.append)
    stopped = record(2, black="second", winner="none", result="Void", moves=1, detail="late")
    for games, sprt in (([], test), ([record(1)], test), ([stopped], None)):
        folder: Any = SimpleNamespace(records=lambda games=games: games)
        show_games(bar, folder, sprt, *games)
    assert shown == [
        "0: 0 games, first – LLR +0.00",
        "game 1: B+R (first black, 50 moves)",
        "1: 1 game, first 100% [21%–100%] LLR +0.00",
        "game 2: Void (second black, 1 move) late",
        "1: 1 game, first –",
    ]


def test_a_game_that_is_repeated_is_recognised(tmp_path: Path) -> None:
    assert summarize(play(tmp_path, "--black C3", "--name Other --black D4", games=4)).repeated == (3, 4)


def test_a_second_process_reads_the_games_of_a_finished_match(tmp_path: Path) -> None:
    one, two = settings("", "--name Other"), settings("", "--name Other", games=2)
    run_match(one, MatchFolder(tmp_path, one))
    with owning(tmp_path):
        assert [game.game for game in run_match(one, MatchFolder(tmp_path, one))] == [1]
    assert [game.game for game in run_match(two, MatchFolder(tmp_path, two))] == [1, 2]


@pytest.mark.skipif(GNUGO is None, reason="GNU Go is not installed")
def test_gnugo_against_itself(tmp_path: Path) -> None:
    command = f"{GNUGO} --mode gtp --level 0 --chinese-rules"
    values: dict[str, Any] = {"games": 2, "size": 7, "komi": 7.0, "main_time": 60.0, "referee": "players"}
    match = MatchSettings(first=f"{command} --seed 1", second=f"{command} --seed 2", **values)
    games = run_match(match, MatchFolder(tmp_path, match))
    assert [game.reason in ("score", "resign") for game in games] == [True, True]
    assert all(game.moves > 6 for game in games)
    assert all(len(set(game.scores.values())) <= 1 for game in games)


FISCHER = TimeSettings.fischer(60, 2)
CANADIAN = TimeSettings.canadian(60, 30.5, 5)
BYOYOMI = TimeSettings.byoyomi(60, 30, 5)
KATA = "--lists time_settings --lists time_left --lists kata-time_settings"
KNOWS = f"{KATA} --answers 'kata-list_time_settings none absolute byoyomi canadian fischer fischer-capped'"
KNOWS_NOT = f"{KATA} --answers 'kata-list_time_settings none absolute byoyomi canadian fischer-capped'"


@pytest.mark.parametrize(
    ("times", "knows_fischer", "command"),
    [
        (CANADIAN, False, "time_settings 60 30.5 5"),
        (CANADIAN, True, "time_settings 60 30.5 5"),
        (TimeSettings.absolute(600), False, "time_settings 600 0 0"),
        (BYOYOMI, False, "kata-time_settings byoyomi 60 30 5"),
        (FISCHER, True, "kata-time_settings fischer 60 2"),
        (FISCHER, False, "time_settings 58 2 1"),
        (TimeSettings.fischer(1, 2.5), False, "time_settings 0 2.5 1"),
    ],
)
def test_settings(times: TimeSettings, knows_fischer: bool, command: str) -> None:
    assert settings_command(times, knows_fischer=knows_fischer) == command


@pytest.mark.parametrize(
    ("times", "spent", "knows_fischer", "arguments"),
    [
        (CANADIAN, [10.5], False, "49 0"),
        (CANADIAN, [70.0], False, "20 4"),
        (BYOYOMI, [10.5], False, "49 0"),
        (BYOYOMI, [100.0], False, "30 4"),
        (FISCHER, [], True, "60 0"),
        (FISCHER, [10.0, 20.5], True, "33 0"),
        (FISCHER, [], False, "58 0"),
        (FISCHER, [10.0, 20.5], False, "31 0"),
        (FISCHER, [60.0], False, "2 1"),
        (FISCHER, [59.5], False, "0 0"),
    ],
)
def test_time_left(times: TimeSettings, spent: list[float], knows_fischer: bool, arguments: str) -> None:
    left: TimeLeft = full_time(times)
    for seconds in spent:
        left = time_after_move(times, left, seconds)
    assert time_left_arguments(times, left, knows_fischer=knows_fischer) == arguments


def times_sent(folder: Path) -> list[str]:
    return [line for line in sent(folder, "first") if "time" in line]


@pytest.mark.parametrize("on_request", [[], ["time_left B 60 0"]])
def test_an_engine_with_fischer_clocks_gets_one(tmp_path: Path, on_request: list[str]) -> None:
    play(tmp_path, KNOWS, KNOWS, main_time=60.0, increment=2.0, time_left=bool(on_request))
    told = ["kata-list_time_settings", "kata-time_settings fischer 60 2", *on_request]
    assert times_sent(tmp_path) == told


@pytest.mark.parametrize("lists", [KNOWS_NOT, "--lists time_settings --lists time_left"])
def test_another_engine_gets_a_canadian_clock_and_always_time_left(tmp_path: Path, lists: str) -> None:
    play(tmp_path, f"{lists} --black 'C3 C4'", lists, main_time=60.0, increment=2.0)
    commands = [line for line in times_sent(tmp_path) if line != "kata-list_time_settings"]
    assert commands[:2] == ["time_settings 58 2 1", "time_left B 58 0"]
    assert len(commands) == 1 + 3, "before each of its three moves"


def test_byoyomi_needs_an_engine_that_has_it(tmp_path: Path) -> None:
    values = {"main_time": 60.0, "overtime": 30.0, "overtime_periods": 5}
    play(tmp_path / "knows", KNOWS, KNOWS, **values)
    assert times_sent(tmp_path / "knows")[1:] == ["kata-time_settings byoyomi 60 30 5"]
    with pytest.raises(MatchError, match="has no byo-yomi; play with --overtime-stones"):
        play(tmp_path / "knows not", "--lists time_settings", "--lists time_settings", **values)


def test_the_increment_is_given_after_each_move(tmp_path: Path) -> None:
    """Two moves of 1.2 s need more than 2 s of main time, but not more than that and one increment."""
    moves, white = f"{KNOWS} --black 'wait:1.2 wait:1.2 C3'", f"{KNOWS} --white 'A1 A2 A3'"
    with ThreadPoolExecutor() as both:
        clocks = [{"main_time": 2.0, "increment": increment, "time_grace": 0.0} for increment in (30.0, 0.0)]
        given, none = both.map(lambda clock: play(tmp_path / f"{clock['increment']}", moves, white, **clock), clocks)
    assert [(game.reason, game.overruns["first"]) for game in given] == [("score", 0)]
    assert [(game.result, game.reason, game.overruns["first"], game.moves) for game in none] == [("W+T", "time", 1, 2)]


# Black owns the left side and White the right; the white stone at B8 cannot live, even if White plays first.
POSITION = """
    . . X X O . . . .
    . O X X O . . . .
    X X X X O . . . .
    X X X X O . . . .
    . X X X O . . . .
    X X X X O . . . .
    X X X X O . . . .
    X X X X O . . . .
    . X X X O . . . .
"""


@pytest.mark.parametrize(("mode", "score"), [("estimate", "W+16"), ("board", "W+21")])
def test_dead_stones_are_removed_or_not(mode: str, score: str) -> None:
    game = Game.from_diagram(POSITION)
    game.komi = 7.0
    referee = Referee(MatchSettings(first="a", second="b", size=9, komi=7.0, referee=mode))
    # The two sides have 36 and 45 points; alive, the stone would make the 3 points around it neutral.
    assert [referee.decide(game, []) for _ in range(2)] == [{"referee": score}] * 2
    referee.close()


def test_stones_that_rollouts_give_to_the_loser() -> None:
    """The end of a game between GNU Go and a policy: both said W+8; by rollouts it was B+23."""
    moves = "cffcgeddefggfhcebffegffffggdeefdhgbeheafagaebhhdidiciehcdeedcdbd"
    game = Game(9, komi=7.0)
    for move in re.findall("..", moves):
        game.play(Point.from_sgf(move, 9))
    play_moves(game, "pass pass")
    referee = Referee(MatchSettings(first="a", second="b", size=9, komi=7.0, referee="estimate"))
    assert referee.decide(game, []) == {"referee": "W+8"}
    referee.close()


def test_docstring_examples() -> None:
    failed, attempted = doctest.testmod(match_game)
    assert (failed, attempted) == (0, 2)
