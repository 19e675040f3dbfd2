"""Tournaments: their description, whole ones between scripted engines, and tables."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from match_helpers import engine, record, won_by

from gtp_engine.arena.match.settings import MatchError
from gtp_engine.arena.tournament import tournament_runner
from gtp_engine.arena.tournament.standings import format_tables, page_of, tables_of, to_json
from gtp_engine.arena.tournament.tournament_file import Meeting, Tournament, parse_description, read_description
from gtp_engine.arena.tournament.tournament_runner import TournamentRunner, run_tournament, show_games
from gtp_engine.cli import cli
from gtp_engine.search.limits import CancelToken

CONDITION: dict[str, Any] = {"size": 5, "komi": 0.5, "referee": "board", "reply-timeout": 20}
STONE = "--black C3 --white C3"
"""The engine puts the only stone on the board and wins, if its opponent passes."""


def described(*commands: str, conditions: list[dict[str, Any]] | None = None, **values: Any) -> Tournament:
    engines = [{"name": f"engine {number}", "command": engine(each)} for number, each in enumerate(commands)]
    return parse_description({"engines": engines, "conditions": conditions or [CONDITION], "games": 2, **values})


class TestDescription:
    def test_the_example_of_the_documents_can_be_played(self, tmp_path: Path) -> None:
        text = (Path(__file__).parents[2] / "docs" / "strength.md").read_text(encoding="utf-8")
        file = tmp_path / "cup.toml"
        file.write_text(text.partition("```toml\n")[2].partition("```")[0], encoding="utf-8")
        description = read_description(file)
        matches = [description.match(meeting) for meeting in description.meetings]
        assert len(matches) == 1
        assert any(match.second.startswith("gnugo ") for match in matches)
        assert all(not match.overtime_periods for match in matches)

    def test_everyone_meets_everyone_else_under_every_condition_and_in_a_gauntlet_the_first_the_others(self) -> None:
        conditions = [CONDITION, CONDITION | {"komi": 7}]
        assert described("", "", "", conditions=conditions).meetings == [
            Meeting(*pair, condition) for condition in (0, 1) for pair in ((0, 1), (0, 2), (1, 2))
        ]
        assert described("", "", "", format="gauntlet").meetings == [Meeting(0, 1, 0), Meeting(0, 2, 0)]

    def test_a_condition_is_the_settings_of_a_match(self) -> None:
        clocks = [{"size": 9, "time-per-move": 2}, {"handicap": 4, "main-time": 60, "increment": 1, "time-left": True}]
        description = described("", "", conditions=clocks)
        first, second = (description.match(meeting) for meeting in description.meetings)
        assert (first.size, first.overtime, first.overtime_stones, first.komi) == (9, 2.0, 1, 7.0)
        assert (second.size, second.handicap, second.komi) == (19, 4, 0.5)
        assert (second.main_time, second.increment, second.time_left) == (60.0, 1.0, True)
        assert [condition.title for condition in description.conditions] == [
            "9×9, time-per-move 2",
            "19×19, handicap 4, main-time 60, increment 1, time-left True",
        ]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (None, "cannot read"),
            ("[[", "is not TOML"),
            ("x = 1", "key 'x'"),
            ("x = " + "[" * 100_000, "nested too deeply"),
            ("games = " + "9" * 5000, "4300 digits"),
        ],
        ids=["none", "brackets", "key", "nested", "digits"],
    )
    def test_a_bad_file_is_named(self, tmp_path: Path, text: str | None, message: str) -> None:
        path = tmp_path / "cup.toml"
        if text is not None:
            path.write_text(text)
        with pytest.raises(MatchError, match=rf"cup\.toml.*{message}|{message}.*cup\.toml"):
            read_description(path)


class TestGames:
    def test_a_tournament_is_played_and_resumed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("concurrent.futures.thread._shutdown", True)  # the main thread has ended, this one goes on
        description = described(STONE, STONE, "", parallel=2)
        played: list[tuple[Meeting, int]] = []
        runner = TournamentRunner(description, tmp_path, lambda meeting, record: played.append((meeting, record.game)))
        runner.run()
        assert len(played) == 6
        assert set(played) == {(meeting, game) for meeting in description.meetings for game in (1, 2)}
        table = tables_of(description, runner.results)[0]
        assert table.points.tolist() == [[0, 1, 2], [1, 0, 2], [0, 0, 0]]
        order: list[Meeting] = []
        again = TournamentRunner(described(STONE, STONE, "", games=5), tmp_path, lambda each, _: order.append(each))
        monkeypatch.setattr(tournament_runner, "GAMES_IN_A_ROW", 1)
        again.run()
        assert [*dict.fromkeys(order[:6])] == description.meetings, "the meeting with the fewest games is next"
        assert [len(records) for records in again.results.values()] == [5, 5, 5]

    def test_openings_lie_beside_the_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        cups, elsewhere = tmp_path / "cups", tmp_path / "elsewhere"
        for folder in (cups / "openings", elsewhere):
            folder.mkdir(parents=True)
        (cups / "openings" / "middle.sgf").write_text("(;GM[1]SZ[5];B[cc])")
        engines = [f"[[engines]]\nname = '{name}'\ncommand = {json.dumps(engine())}" for name in "ab"]
        condition = "[[conditions]]\nsize = 5\nreferee = 'board'\nopenings = 'openings'"
        (cups / "cup.toml").write_text("\n".join(["games = 2", *engines, condition]))
        played: list[str] = []
        cancel = CancelToken()
        for folder, path in ((elsewhere, "../cups/cup.toml"), (cups, "cup.toml")):
            monkeypatch.chdir(folder)
            tables = run_tournament(
                path, cups / "cup", lambda game: played.append(game.opening) or cancel.cancel(), cancel
            )
            assert len(tables["games"]) == len(played) == 1, "a tournament that has been cancelled stays so"
        assert len(run_tournament(Path(path), cups / "cup")["games"]) == 2 and played == ["middle.sgf"]

    def test_names_in_any_script_name_their_folders(self) -> None:
        engines = [{"name": name, "command": "x"} for name in ("绝艺", "星阵", "a_-_b (1.0)")]
        description = parse_description({"engines": engines, "conditions": [CONDITION]})
        folders = [description.folder(meeting) for meeting in description.meetings]
        assert folders == ["1-绝艺-星阵", "1-绝艺-a_b_1.0_", "1-星阵-a_b_1.0_"]

    def test_games_of_engines_that_were_renamed_are_not_left_out_in_silence(self, tmp_path: Path) -> None:
        file = tmp_path / "cup.toml"
        for names in ("ab", "ac"):
            engines = [f"[[engines]]\nname = '{name}'\ncommand = {json.dumps(engine())}" for name in names]
            file.write_text("\n".join(["games = 1", *engines, "[[conditions]]\nsize = 5\nreferee = 'board'"]))
            result = CliRunner().invoke(cli, ["tournament", str(file)])
            assert result.exit_code == 0
            assert f"Tables and games for the browser: {tmp_path / 'cup' / 'index.html'}" in result.stdout
        assert f"holds matches that {file} does not describe; their games do not count: 1-a-b\n" in result.stderr

    def test_an_engine_that_fails_ends_the_tournament_with_its_name(self, tmp_path: Path) -> None:
        conditions = [CONDITION, CONDITION | {"openings": "nowhere"}]
        with pytest.raises(MatchError, match="cannot read the openings folder nowhere"):
            TournamentRunner(described("", "", conditions=conditions), tmp_path / "a")
        runner = TournamentRunner(described("", "--refuse komi", ""), tmp_path / "b")
        with pytest.raises(MatchError, match=r"engine 0 \(first\) – engine 1 \(second\): .*komi"):
            runner.run()
        engines = [{"name": name, "command": command} for name, command in (("a", engine("")), ("b", "no-such-engine"))]
        missing = parse_description({"games": 2, "engines": engines, "conditions": [CONDITION]})
        with pytest.raises(MatchError, match=r"^(first|second): cannot run 'no-such-engine': No such file"):
            TournamentRunner(missing, tmp_path / "c").run()
        assert not [*(tmp_path / "c").glob("*/logs/*")]

    @pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux binds processes to cores")
    def test_games_are_bound_to_cores_of_their_own(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("os.sched_getaffinity", lambda _: {1, 2, 4, 8, 16})
        cores: list[list[int]] = []
        monkeypatch.setattr("os.sched_setaffinity", lambda _, given: cores.append(sorted(given)))
        bound = {number: described("", "", "", parallel=number, **{"bind-to-cores": True}) for number in (2, 6)}
        TournamentRunner(bound[2], tmp_path).run()
        assert sorted(cores) == [[1, 2], [4, 8]]
        with pytest.raises(MatchError, match=r"at most this machine's 5 cores$"):
            TournamentRunner(bound[6], tmp_path)


class TestTables:
    @pytest.fixture
    def description(self) -> Tournament:
        return described("", "'<b>'", "", conditions=[CONDITION, CONDITION | {"title": "<small>"}])

    def test_points_draws_and_void_games(self, description: Tournament) -> None:
        results = {
            Meeting(0, 1, 0): won_by("first", "draw", "none"),
            Meeting(0, 2, 1): won_by("second", "second"),
            Meeting(1, 2, 0): won_by("first"),
        }
        whole, first, second = tables_of(description, results)
        assert whole.points.tolist() == [[0, 1.5, 0], [0.5, 0, 1], [2, 0, 0]] and whole.void == 1
        assert np.count_nonzero(first.games) == 4 and np.count_nonzero(second.games) == 2
        assert first.ratings is not None and second.ratings is None
        assert second.order == [2, 0, 1]
        text = format_tables(description, [whole, first, second])
        assert "1 void game left out" in text and "no ratings until games that count connect all engines" in text
        document = json.loads(json.dumps(to_json(description, [whole, first, second], results)))
        assert document["tables"][0]["points"] == whole.points.tolist() and len(document["games"]) == 6
        expected = {"number": 2, "black": "second", "winner": "draw", "result": "B+R", "reason": "resign", "moves": 50}
        expected |= {"first": 0, "second": 1, "condition": 0, "record": "1-engine_0-engine_1/games/0002.sgf"}
        assert document["games"][1] == expected and document["engines"][1]["command"] == engine("'<b>'")
        assert document["conditions"][1]["board_size"] == 5 and first.seconds.tolist() == [2.0, 1.1, 0.5]
        for name, numbers in (("elo", first.ratings.elo), ("margin", first.ratings.margin)):
            assert document["tables"][1][name] == [round(number, 1) for number in numbers.tolist()]
        assert "<details>" not in page_of("Cup", description, [whole], {Meeting(0, 1, 0): []})
        assert "<p>1 void game left out.</p>" in page_of("Cup", description, [whole], results)

    def test_standings_begin_with_the_best_and_show_who_beat_whom(self) -> None:
        engines = [{"name": name, "command": "x"} for name in ("we|ak", "strong", "new")]
        description = parse_description({"games": 4, "engines": engines, "conditions": [CONDITION]})
        results = {
            Meeting(0, 1, 0): won_by("first", "second", "second", "second"),
            Meeting(1, 2, 0): won_by("first", "first", "draw", "second"),
        }
        (table,) = tables_of(description, results)
        text = format_tables(description, [replace(table, seconds=np.array([0.1, 0.2, np.nan]))])
        lines = text.partition("\n\n")[2].splitlines()
        assert lines[0] == "| # | player | Elo | games | points | 1 | 2 | 3 | s per move |"
        assert lines[2].startswith("| 1 | strong | +") and lines[2].endswith("| 8 | 69% | – | 62% | 75% | 0.20 |")
        assert lines[3].startswith("| 2 | new | ") and lines[3].endswith("| 4 | 38% | 38% | – | – | – |")
        assert lines[4].startswith("| 3 | we\\|ak | -"), "a name does not end its cell"
        assert len(lines) == 5

    def test_games_that_repeat_earlier_ones_are_counted(self, description: Tournament) -> None:
        same = [record(game, black="first" if game % 2 else "second", digest="a") for game in (1, 2, 3)]
        results = {Meeting(0, 1, 0): same, Meeting(1, 2, 0): same[:1]}
        tables = tables_of(description, results)
        assert [table.repeated for table in tables] == [1, 1, 0]
        remark = "1 game repeats an earlier one move by move, so the intervals are too narrow; random plies vary them"
        assert format_tables(description, tables[:1]).endswith(f"\n\n{remark}")
        assert f"<p>{remark}</p>" in page_of("Cup", description, tables, results)
        assert to_json(description, tables, results)["tables"][0]["repeated"] == 1

    def test_no_engine_leads_before_the_first_game(self, description: Tournament, tmp_path: Path) -> None:
        texts, meeting = list[str](), Meeting(1, 0, 0)
        bar: Any = SimpleNamespace(update=lambda share, text: texts.append(text), log=texts.append)
        for games in ([], [record(1, black="second", detail="late")]):
            runner: Any = SimpleNamespace(description=description, out=tmp_path, results={meeting: games})
            show_games(runner, "cup", bar, (meeting, games[0]) if games else None)
        ended = f"{description.conditions[0].title}: engine 0 (B) – engine 1 (W) B+R, 50 moves late"
        assert texts == ["0 games", ended, "1 game, engine 1 leads"]

    def test_the_page_shows_the_same_numbers_and_escapes_names(self, description: Tournament) -> None:
        best = replace(description.entrants[0], name="A & B", command="a '<b>'")
        description = replace(description, entrants=(best, *description.entrants[1:]))
        results = {Meeting(0, 1, 0): won_by("first"), Meeting(1, 2, 1): won_by("first")}
        tables = tables_of(description, results)
        page = page_of("<Cup>", description, tables, results)
        assert re.findall(r'<li value="1"><a href="([^"]+)">([^<]+)</a>', page) == [
            ("1-A_B-engine_1/games/0001.sgf", "A &amp; B (B) – engine 1 (W): B+R"),
            ("2-engine_1-engine_2/games/0001.sgf", "engine 1 (B) – engine 2 (W): B+R"),
        ]
        assert "<summary>&lt;small&gt;: engine 1 – engine 2</summary>" in page
        both = page_of("Cup", description, tables, {Meeting(1, 2, 0): won_by("first", "first")})
        assert re.findall(r">engine (\d) \(B\) – engine (\d) \(W\): ", both) == [("1", "2"), ("2", "1")]
        assert "<h1>&lt;Cup&gt;</h1>" in page and "<h2>&lt;small&gt;</h2>" in page and "<b>" not in page
        heads = "".join(f"<th scope=col>{head}</th>" for head in ("#", "engine", "Elo", "games", "points", 1, 2, 3))
        elo, margin = (numbers[0] for numbers in tables[0].ratings or ())
        cells = "</td><td>".join([f"{elo:+.0f} ± {margin:.0f}", "1", "100%", "–"])
        cells += '</td><td style="--share:100" title="1 of 1">100%</td><td>–</td>'
        row = f"<td>1</td><th scope=row>A &amp; B</th><td>{cells}"
        assert f"<thead><tr>{heads}</tr></thead><tbody><tr>{row}</tr>" in page
        assert "<dt>A &amp; B</dt><dd><code>a &#x27;&lt;b&gt;&#x27;</code></dd>" in page
