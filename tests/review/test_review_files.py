"""Files of reviews: the command, what is written where, what is skipped, and what cannot be read."""

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from puct_support import AreaEvaluator
from review.review_support import RECORD, review_of, with_mistakes
from rich.cells import cell_len

from gtp_engine.base import languages
from gtp_engine.cli import cli
from gtp_engine.cli.record_commands import ReviewSettings
from gtp_engine.engine.game_end import StatusEstimate
from gtp_engine.go.constants import padded_length
from gtp_engine.go.game import Game
from gtp_engine.go.scoring import Score
from gtp_engine.people.review.finished_reviews import _graph, csv_of, summary, terminal_report
from gtp_engine.people.review.game_review import PeopleChoice
from gtp_engine.people.review.score_report import ScoreReport
from gtp_engine.sgf import parse_sgf


@pytest.fixture(autouse=True)
def evaluator(monkeypatch: pytest.MonkeyPatch) -> AreaEvaluator:
    """Have the command use an evaluator of a few lines."""
    found = AreaEvaluator()
    monkeypatch.setattr("gtp_engine.nn.evaluators.evaluator_of", lambda *_: found)
    monkeypatch.setattr("gtp_engine.people.review.lessons.open_people", lambda *_: None)
    monkeypatch.setattr("gtp_engine.engine.rehearsal.warm_up", lambda *_: None)
    return found


def review(*arguments: object, data: bytes = b"") -> Result:
    words = ["review", *(str(word) for word in arguments), "--visits", "4"]
    return CliRunner().invoke(cli, words, prog_name="gtp-engine", input=data)


@pytest.fixture
def game(tmp_path: Path) -> Path:
    path = tmp_path / "game.sgf"
    path.write_bytes(RECORD)
    return path


def names_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_results_of_a_folder_keep_their_place_below_out(game: Path, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "other.SGF").write_bytes(RECORD)
    out = tmp_path / "out"
    done = review(tmp_path, "--out", out, "--csv", out / "table.csv")
    assert done.exit_code == 0, done.output
    assert names_in(out) == [
        *(f"deep/other.review.{kind}" for kind in ("html", "json", "sgf")),
        *(f"game.review.{kind}" for kind in ("html", "json", "sgf")),
        "table.csv",
    ]
    rows = list(csv.DictReader((out / "table.csv").read_text().splitlines()))
    assert [(row["black"], row["black rank"], row["result"], row["moves"]) for row in rows] == [
        ("Ann", "3k", "B+2", "6")
    ] * 2
    first = json.loads((out / "game.review.json").read_text())
    assert [float(row["black accuracy"]) for row in rows] == [first["players"]["B"]["accuracy"]] * 2


def test_a_second_run_searches_nothing_and_reviews_no_review(game: Path, evaluator: AreaEvaluator) -> None:
    review(game.parent)
    before = {path: path.read_bytes() for path in game.parent.iterdir()}
    evaluator.asked.clear()
    assert review(game.parent).exit_code == 0
    assert evaluator.asked == []
    assert {path: path.read_bytes() for path in game.parent.iterdir()} == before
    done = review(game.parent / "game.review.sgf")
    assert done.exit_code == 0 and "it is a review already" in done.output and evaluator.asked == []


def test_the_record_may_come_from_stdin(tmp_path: Path) -> None:
    assert review("-", "--out", tmp_path, data=RECORD).exit_code == 0
    assert names_in(tmp_path) == ["stdin.review.html", "stdin.review.json", "stdin.review.sgf"]


HOSTILE = {
    "broken.sgf": (b"(;SZ[9];B[aa", "no moves"),
    "chess.sgf": (b"(;GM[3];B[aa])", "another game"),
    "collection.sgf": (RECORD * 2, "2 games in one file: expected one; name one with --game N"),
    "empty.sgf": (b"", "not a readable SGF record"),
    "huge.sgf": (b"(;C[" + b"x" * 5_000_000 + b"])", "too long"),
    "illegal.sgf": (b"(;SZ[9]AB[aa];W[aa])", "move 1"),
    "image.sgf": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "not a readable SGF record"),
    "marks.sgf": (b"(;SZ[9]C[" + b"(" * 500_000 + b"])", "too large"),
}


def test_files_that_cannot_be_read_are_named_and_the_rest_is_done(game: Path) -> None:
    for name, (data, _) in HOSTILE.items():
        (game.parent / name).write_bytes(data)
    done = review(game.parent)
    assert done.exit_code == 1
    messages = re.findall(r"Could not review (.*)", done.output)
    assert len(messages) == len(HOSTILE)
    for (name, (_, reason)), message in zip(sorted(HOSTILE.items()), messages, strict=True):
        assert re.search(f"/{name}: .*({reason})", message), message
    assert (game.parent / "game.review.json").exists()


def test_a_damaged_record_is_reviewed_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_bytes(RECORD.removesuffix(b")") + b";B[cc];W[cd]")
    done = review(path, "--terminal")
    assert done.exit_code == 0
    result = json.loads((tmp_path / "game.review.json").read_text())
    notes = ["the record has no end", "move 7 (black): illegal move: C3 is occupied; what follows was left out"]
    assert (len(result["moves"]), result["notes"]) == (6, notes)
    assert all(f"Note: {note}" in done.output for note in notes)
    assert len(parse_sgf((tmp_path / "game.review.sgf").read_bytes()).moves) == 8, "nothing is taken away"


def test_one_game_of_several_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "two.sgf"
    path.write_bytes(RECORD + RECORD.replace(b"Ann", b"Eve"))
    assert review(path, "--game", 2).exit_code == 0
    first = review(path, "--game", 1)
    assert f"{tmp_path / 'two-game1.review.html'}" in first.output
    for number, name in ((1, "Ann"), (2, "Eve")):
        result = json.loads((tmp_path / f"two-game{number}.review.json").read_text())
        assert result["players"]["B"]["name"] == name
    assert "game 3 of 2" in review(path, "--game", 3).output


def test_the_page_contains_the_json_and_nothing_can_break_out_of_it(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_bytes(RECORD.replace(b"Ann", b"</script><script>alert(1)</script>@DATA@"))
    review(path)
    page = (tmp_path / "game.review.html").read_text()
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page)
    assert json.loads(data[1]) == json.loads((tmp_path / "game.review.json").read_text())
    assert page.count("<script") == 3 and "alert" not in page.replace(data[1], "").replace("&lt;script&gt;alert", "")
    assert not re.search(r"(src|href)=|url\((?!#)|https?://(?!www\.w3\.org/)", page)


def test_a_review_ends_with_four_lines(game: Path) -> None:
    """It ended with the name of a file; the only game may be named."""
    lines = [line for line in review(game, "--game", 1).output.splitlines() if line]
    result = json.loads((game.parent / "game.review.json").read_text())
    black, white = (result["players"][color] for color in "BW")
    assert lines[-3].endswith("game.review.html")
    assert lines[-2] == f"Ann: {black['accuracy']}% accuracy, {black['mean_points_lost']} points lost per move"
    assert lines[-1].endswith(f"{white['accuracy']}% accuracy, {white['mean_points_lost']} points lost per move")
    black["mistakes"], white["mistakes"] = [1, 3], [2, 4]
    for number, lost in enumerate((2.0, 5.0, 3.5, 1.0)):
        result["moves"][number]["points_lost"] = lost
    last = summary(result).splitlines()[-1]
    best = [position["candidates"][0]["line"][0] for position in result["positions"]]
    moves = ((2, "B4", 5.0, best[1]), (3, "D2", 3.5, best[2]), (1, "C3", 2.0, best[0]))
    said = ("move {}, {}, lost {} points, {} was better".format(*move) for move in moves)
    assert last == "Largest mistakes: " + "; ".join(said)


def test_the_graph_is_as_wide_as_the_terminal(game: Path) -> None:
    review(game)
    result = json.loads((game.parent / "game.review.json").read_text())
    result["positions"] = result["positions"] * 100
    text = terminal_report(result, width=60, color=False)
    assert max(len(line) for line in text.splitlines()) <= 60
    result["positions"] = [{"lead": -8.0}] * 9
    assert terminal_report(result | {"notes": []}, width=60, color=False).splitlines()[1].strip() == "+8.0"
    rows = [line[8:] for line in _graph([4.0, -4.0, 0.6], 60).splitlines()[1:]]
    assert rows == ["█  "] * 3 + ["█ █", "───"] + [" █ "] * 4


def test_every_number_of_a_report_has_its_column() -> None:
    review, people = with_mistakes(), PeopleChoice("3k", "B4", 0.31, 0.31, {"3k": 0.31, "1k": 0.204})
    moves = (review.moves[0], replace(review.moves[1], people=people), *review.moves[2:])
    result = replace(review, moves=moves, player="Bob").to_json()
    phases = {"opening": 4.25, "middle game": 0.5, "endgame": None}
    numbers = {"accuracy": 62.5, "accuracy_interval": (14.0, 99.0), "mean_points_lost": 3.15, "best_moves": 4}
    result["players"]["B"] |= {**numbers, "blunders": {"2": 3, "5": 2, "10": 1}, "by_phase": phases}
    result["players"]["W"]["played_like"]["note"] = "too few moves"
    text = terminal_report(result, width=120, color=False)
    rows = [[cell.strip() for cell in line[1:-1].split("│")] for line in text.splitlines() if line.startswith("│")]
    assert rows[0] == ["Black Ann", "62.5", "14.0–99.0", "3.15", "4", "3, 2, 1"]
    better = [" ".join(position["candidates"][0]["line"]) for position in result["positions"]]
    assert rows[2] == ["2", "W B4", "8.0", "−30%", better[1], "3k 31%, 1k 20%"], "the person's come first"
    assert [*rows[3][:3], *rows[3][4:]] == ["1", "B C3", "8.0", better[0], ""] and "Bob: no rank." in text
    _head, row = csv.reader(csv_of([("x", result)]).splitlines())
    shown = ["x", "B+2", "6", "Ann", "3k", "62.5", "14.0", "99.0", "3.15", "4", "3", "2", "1", "4.25", "0.5", ""]
    assert row[:18] == [*shown, "Bob", ""]


def test_reports_in_the_terminal_speak_the_readers_language(game: Path) -> None:
    """Those of `review`, `score`, `rank` and `solve` were English only; wide characters count twice."""
    review(game)
    result = json.loads((game.parent / "game.review.json").read_text())
    result["players"]["W"]["played_like"] = {"estimate": None, "note": "too few", "rank": None}
    languages.use("ko")
    text = terminal_report(result, width=80, color=False)
    assert max(map(cell_len, text.splitlines())) <= 80
    assert "정확도" in text and "형세(집)" in text and "최소" not in text
    assert not re.search(r"accuracy|Lead|Black|White|lost|better|rank", text), text
    neither = np.zeros(padded_length(5, 5), dtype=np.int32)
    status = StatusEstimate(frozenset(), neither, True, False, (), neither, neither, neither.astype(np.float32))
    report = ScoreReport(Game(5, 5), Score(15.0, 10.5), status, "the game is not over")
    assert report.to_text().startswith("B+4.5 (추정: 대국이 끝나지 않았습니다)\n흑 15, 백 10.5 (덤 ")
    assert report.to_text().splitlines()[1].endswith("규칙 중국")


def test_a_time_on_the_command_line_overrides_the_visits_of_the_configuration(game: Path, tmp_path: Path) -> None:
    seconds = {"90": 90, " 1.5Min": 90, "2m": 120, "3 sec": 3, "4s": 4, "1h": 3600}
    assert {text: float(ReviewSettings(total=text).total or 0) for text in seconds} == seconds
    (tmp_path / "config.toml").write_text("[search]\nvisits = 50\n")
    words = ["review", str(game), "--config", str(tmp_path / "config.toml"), "--seconds", "0.001"]
    assert CliRunner().invoke(cli, words).exit_code == 0
    assert "both visits and seconds: expected one" in CliRunner().invoke(cli, [*words, "--visits", "5"]).output


@pytest.mark.parametrize("command", ["review", "rank"])
def test_records_that_cannot_be_read_are_named_before_networks_are_loaded(command: str, tmp_path: Path) -> None:
    """A first start compiled for a minute before it said that there is no such file."""
    (tmp_path / "text.sgf").write_text("no record")
    files = [str(tmp_path / name) for name in ("nothing.sgf", "text.sgf")]
    done = CliRunner().invoke(cli, [command, *files, "--model", str(tmp_path / "none.onnx")])
    assert done.exit_code == 1
    lines = done.stderr.splitlines()
    assert [line.partition(": ")[0] for line in lines] == [f"Could not read {name}" for name in files]
    assert lines[0] == f"Could not read {files[0]}: No such file or directory"


def test_one_unreadable_game_of_a_file_does_not_hide_the_others(tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"
    path.write_text("(;SZ[37]GM[1];B[aa])\n(;SZ[9]GM[1];B[ee];W[cc])\n")
    assert review(path, "--game", "2").exit_code == 0
    assert "board size SZ[37]" in review(path, "--game", "1").stderr


def test_records_of_one_name_do_not_overwrite_each_other(game: Path, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    other = tmp_path / "a" / "game.sgf"
    other.write_bytes(RECORD.replace(b"Ann", b"Eve"))
    assert review(game, other, game, "--out", tmp_path / "out").exit_code == 0
    names = [tmp_path / "out" / f"game{number}.review.json" for number in ("", "-2")]
    assert [json.loads(name.read_text())["players"]["B"]["name"] for name in names] == ["Ann", "Eve"]
    assert len(list((tmp_path / "out").iterdir())) == 6


@pytest.mark.parametrize(
    "data",
    [
        b"(;SZ[5]CA[Shift_JIS]C[\xfa\x5b];B[aa])",
        b"\xff\xfe" + "(;SZ[5];B[aa])".encode("utf-16-le") + b"x",
        "(;SZ[5]PB[é];B[aa])".encode("utf-16-le") + b"\xff",
    ],
)
def test_a_record_with_bytes_that_cannot_be_kept_is_reviewed(data: bytes, tmp_path: Path) -> None:
    """It was refused, with the advice to save it in UTF-8."""
    path = tmp_path / "game.sgf"
    path.write_bytes(data)
    assert review(path).exit_code == 0
    assert len(parse_sgf((tmp_path / "game.review.sgf").read_bytes()).moves) == 1


def test_a_file_that_is_missing_is_written_again_without_a_search(game: Path, evaluator: AreaEvaluator) -> None:
    review(game)
    page = game.with_name("game.review.html")
    before = page.read_bytes()
    assert "<title>Ann – Bob</title>" in before.decode()
    page.unlink()
    evaluator.asked.clear()
    assert review(game).exit_code == 0
    assert page.read_bytes() == before and evaluator.asked == []
    assert names_in(game.parent) == ["game.review.html", "game.review.json", "game.review.sgf", "game.sgf"]


def test_territory_can_be_marked_later_without_a_search(game: Path, evaluator: AreaEvaluator) -> None:
    review(game)
    record, evaluator.asked[:] = game.with_name("game.review.sgf"), []
    plain = record.read_bytes()
    assert review(game, "--territory").exit_code == 0
    assert b"TB[" in record.read_bytes() and b"TB[" not in plain
    review(game)
    assert record.read_bytes() == plain and evaluator.asked == []


@pytest.mark.parametrize(("name", "shown"), [(b"\x1bc", "Black c"), (b"A[/b\\]", "Black A[/b]")])
def test_names_control_no_terminal_and_are_printed_as_they_are(game: Path, name: bytes, shown: str) -> None:
    game.write_bytes(RECORD.replace(b"Ann", name))
    done = review(game, "--terminal")
    assert done.exit_code == 0 and shown in done.output and "\x1b" not in done.output


def test_mistakes_are_asked_for_after_a_review_of_one_record(game: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENGEN_DATA_DIR", str(game.parent / "data"))
    result = review(game, "--learn", "--player", "Ann")
    assert result.exit_code == 0, result.output
    unknown = review(game, "--player", "Zed")
    assert (unknown.exit_code, unknown.output) == (1, "Zed: no usable game of this player; the records name Ann, Bob\n")
    assert re.search(r"Ann made no big mistake\.|Find a better move", result.output)
    assert "--learn with several records or stdin: name one file" in review("-", "--learn", data=RECORD).output


@pytest.mark.parametrize(
    ("name", "cell"),
    [("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@SUM(A1)", "'@SUM(A1)"), ("a=b", "a=b"), ("'x", "'x")],
)
def test_no_name_is_a_formula_in_the_table(name: str, cell: str) -> None:
    result = review_of(RECORD.replace(b"Ann", name.encode())).to_json()
    (row,) = csv.DictReader(csv_of([(name, result)]).splitlines())
    assert (row["file"], row["black"]) == (cell, cell)
