"""Making books: what is added next, going on after an end, and the command."""

import json
import time
from dataclasses import replace
from math import log, sqrt
from pathlib import Path

import pytest
from board_helpers import play_moves
from book.books import HEADER, link, node, searched_book, small_book, write
from click.testing import CliRunner
from fake_evaluators import FakeEvaluator

from gtp_engine.cli import cli
from gtp_engine.engine.book.book import Book
from gtp_engine.engine.book.checks import check
from gtp_engine.engine.book.making import BookSearch, costs, enlarge, expansions, fair_komi, finished, line_ends
from gtp_engine.go.rules import Rules
from gtp_engine.people.terminal.terminal_game import TerminalGame


def test_costs_by_hand(tmp_path: Path) -> None:
    """Upper bounds at the root: C3 8 + √5, D3 3, E3 12 + √10, the best; three points behind is the most that counts."""
    book = Book.load(small_book(tmp_path / "a.book"))
    book.nodes[1].moves[2].score = 11.0
    root, after_c3, after_d3 = costs(book)
    assert (root, after_c3) == (0.0, pytest.approx(0.45 + 0.75 * 3.0 - 0.75 * log(0.7)))
    assert after_d3 == pytest.approx(0.45 + 0.75 * 3.0 - 0.75 * log(0.2))
    found = {(" ".join(node.line), move.vertex): cost for cost, node, move in expansions(book, 10)}
    assert found["", "E3"] == pytest.approx(0.45 - 0.75 * log(0.1) + 2 * 0.25 + 4 * 0.05 - 0.03)
    # White wants few points: A1's lower bound, 11 less four times 2 points, is best; C2's is 8 less √5.
    assert found["C3", "C2"] == pytest.approx(after_c3 + 0.45 + 0.75 * (5 - sqrt(5)) - 0.75 * log(0.6) - 0.03 * 2.0)
    assert found["C3", "A1"] == pytest.approx(after_c3 + 0.45 - 0.75 * log(0.1) - 0.03 * 2.0)
    assert list(found.values()) == sorted(found.values())


def test_the_best_line_and_second_best_moves_in_it_are_followed(tmp_path: Path) -> None:
    """E3 is best and leads nowhere yet; the second best move is C3, which is answered by C2."""
    book = Book.load(small_book(tmp_path / "a.book"))
    assert [(node.line, move.vertex) for node, move in line_ends(book, 5)] == [((), "E3"), (("C3",), "C2")]
    assert len(line_ends(book, 1)) == 1
    path = small_book(tmp_path / "b.book")
    path.write_text(path.read_text().replace('["E3", 0.1, 10', '["E3", 0.0001, 10'))
    book = Book.load(path)
    assert expansions(book, 1)[0][2].vertex != "E3"
    search = BookSearch(FakeEvaluator(), visits=4, at_once=1)
    enlarge(book, search, 4, is_stopped=lambda: False, progress=lambda book: None)
    assert book.nodes[0].moves[2].to == 3, "the end of the best line, not the cheapest move"


def test_going_on_makes_the_same_book(tmp_path: Path) -> None:
    searched_book(tmp_path / "whole.book", 25)
    assert 1 < len(searched_book(tmp_path / "parts.book", 25, steps=3)) < 25
    searched_book(tmp_path / "parts.book", 25)
    assert (tmp_path / "whole.book").read_text() == (tmp_path / "parts.book").read_text()


@pytest.mark.parametrize("cut", [1, 60, 400, 1500])
def test_a_book_goes_on_after_a_kill_at_any_byte(tmp_path: Path, cut: int) -> None:
    """A position whose move was not written any more is found again by its key, not searched or written twice."""
    path = tmp_path / "a.book"
    searched_book(path, 15)
    path.write_bytes(path.read_bytes()[:-cut])
    book = searched_book(path, 20)
    assert len({node.key for node in book.nodes}) == 20
    assert [trouble for trouble in check(Book.load(path)) if "no line leads" not in trouble] == []


def test_finished_games_are_counted() -> None:
    """After two passes the board with a black stone is Black's: 25 points, without an error."""
    game = play_moves(HEADER.game(), "C3 pass pass")
    node = finished(game)
    assert (node.line, node.visits, node.score, node.error, node.moves) == (("C3", "pass", "pass"), 0, 25.0, 0.0, [])


def test_a_second_pass_ends_a_line(tmp_path: Path) -> None:
    """It is added where the stones decide, and then nothing more; not where players would agree on dead stones."""
    for header, ends in ((HEADER, True), (replace(HEADER, rules=Rules.parse("japanese")), False)):
        lines = node("", [["pass", 1.0, 9, 0.0]]), node("pass", [["pass", 1.0, 9, 0.0]]), link(0, "pass", 1)
        book = Book.load(write(tmp_path / "a.book", *lines, header=header))
        search = BookSearch(FakeEvaluator(), visits=4, at_once=2)
        enlarge(book, search, 10, is_stopped=lambda: False, progress=lambda book: None)
        assert len(book) == (3 if ends else 2)
        assert check(book) == []


def test_a_fair_komi_is_the_whole_number_that_searches_expect() -> None:
    komi = fair_komi(HEADER, FakeEvaluator(), 4)
    assert komi % 1.0 == 0.0 and abs(komi - HEADER.komi) > 20.0, "the evaluator gives Black about 35 points"


class TestCommand:
    """`gtp-engine book`."""

    @pytest.fixture(autouse=True)
    def no_network(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("gtp_engine.nn.loading.load_evaluator", lambda *args, **flags: FakeEvaluator())

    def run(self, *words: str | Path, status: int = 0) -> str:
        result = CliRunner().invoke(cli, ["book", *map(str, words)])
        assert result.exit_code == status, result.output
        return result.output

    def test_make_check_and_show(self, tmp_path: Path) -> None:
        path = tmp_path / "a.book"
        self.run("make", path, "--size", 5, "--positions", 6, "--visits", 4)
        assert "6 positions, 5 moves between them" in self.run("make", path, "--positions", 6)
        checked = "no problem in any line, position or value\n2 positions searched again with 2,000 visits"
        assert checked in self.run("check", path, "--samples", 2)
        (tmp_path / "no.sgf").write_text("(;SZ[5])")
        assert self.run("check", path, "--against", tmp_path / "no.sgf") == "The book has none of its positions.\n"
        assert json.loads(self.run("show", path, "--json"))["positions"] == 6
        assert "B+" in self.run("show", path, "--line", "")
        assert "no move here" in self.run("show", path, "--line", "pass")
        said, text = self.run("show", path, "--sgf", tmp_path / "a.sgf"), (tmp_path / "a.sgf").read_text()
        assert text.startswith("(;") and said.endswith(f"a.sgf: {text.count(';B[') + text.count(';W[')} moves\n")
        made = self.run("make", tmp_path / "b.book", "--size", 5, "--komi", 0, "--positions", 1, "--visits", 2)
        assert "searched at komi 0 with" in made
        began = time.monotonic()
        self.run("make", path, "--positions", 10**6, "--visits", 2, "--minutes", 0.01)
        assert time.monotonic() - began >= 0.6

    def test_mistakes(self, tmp_path: Path) -> None:
        path = small_book(tmp_path / "a.book")
        assert "--size '7' for a book with '5'" in self.run("make", path, "--size", 7, status=2)
        assert "--komi" in self.run("make", path, "--komi", 0, status=2)
        assert "--line 'C3 C3'" in self.run("show", path, "--line", "C3 C3", status=2)
        path.write_text(path.read_text().replace('"line": "C2"', '"line": "B2"'))
        assert "1 problem" in self.run("check", path, status=1)

    def test_play_is_play_with_the_book(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        seen: list[TerminalGame] = []
        monkeypatch.setattr(TerminalGame, "run", lambda game: seen.append(game) or "")
        path = small_book(tmp_path / "a.book")
        self.run("play", path)
        config, settings = seen[0]._engine.config, seen[0]._settings
        assert (config.play.book, settings.width, settings.komi) == (str(path), 5, 3.0)
