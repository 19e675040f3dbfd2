"""Books: values by hand, files, moves in games."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from book.books import HEADER, link, node, searched_book, small_book, write
from fake_evaluators import FakeEvaluator

from gtp_engine import Config, ConfigError, Engine, Game
from gtp_engine.engine.book.book import Book, BookPlay, Interval, _value_black, place
from gtp_engine.go.game import after_move


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book.load(small_book(tmp_path / "small.book"))


def test_values_are_the_best_of_what_is_known(book: Book) -> None:
    """White's best answer to C3 is C2 (8 points; of 80 visits of 100, so its bars are 2 √(100/80) wide).

    A1 has a single visit and does not count, though White would like it; the pass is not the most visited other move.
    D3 is answered by C3, worth 2.5.  E3 has 10% of the visits: as the most visited move without a position it counts,
    and is worth most; its bars are √(100/10) times as wide as the position's.
    """
    root, after_c3, after_d3 = book.nodes
    assert after_c3.found == pytest.approx((8.0, 8.0 - 5.0**0.5, 8.0 + 5.0**0.5))
    assert after_d3.found == (2.5, 2.0, 3.0)
    assert root.found == pytest.approx((12.0, 12.0 - 10.0**0.5, 12.0 + 10.0**0.5))
    assert [move.vertex for move, _ in book.options(root)] == ["E3", "C3", "D3"]
    assert book.interval(after_c3, after_c3.moves[2]) == (-9.0, -17.0, -1.0), "four times as wide at most"
    assert book.minimax(replace(root, moves=[])) == (0.0, -1.0, 1.0)


def test_a_move_with_few_visits_does_not_count_beside_positions(tmp_path: Path) -> None:
    path = small_book(tmp_path / "a.book")
    path.write_text(path.read_text().replace('["E3", 0.1, 10, 12.0]', '["E3", 0.1, 9, 12.0]'))
    book = Book.load(path)
    assert book.nodes[0].found.value == 8.0
    assert [move.vertex for move, _ in book.best_line()] == ["C3", "C2"]


def test_a_line_that_comes_back_does_not_count(tmp_path: Path) -> None:
    """The second position leads to the first: only its other move counts."""
    moves = [["C2", 0.5, 50, 1.0], ["A1", 0.5, 50, 5.0]]
    path = write(tmp_path / "a.book", node("", [["C3", 1.0, 100, 9.0]]), node("C3", moves), link(0, "C3", 1))
    path.write_text(path.read_text() + link(1, "C2", 0) + "\n")
    book = Book.load(path)
    assert book.nodes[1].linked[0].is_cycle
    assert book.nodes[0].found.value == 5.0


def test_moves_of_a_game_that_lies_otherwise(book: Book) -> None:
    """The book has D3 and E3 for the empty board; of their images in a game the same ones, and C3's reply mirrored."""
    game = HEADER.game()
    assert [game.vertex(reply.point) for reply in book.find(game)] == ["E3", "C3", "D3"]
    game.play("B3")
    assert book.find(game) == []  # after D3 nothing leads on
    assert book.node("no such key") is None


def test_the_moves_of_a_position_are_the_same_however_it_lies(tmp_path: Path) -> None:
    def led_to(game: Game) -> list[str]:
        return [place(after_move(game, reply.point)).key for reply in book.find(game)]

    book = searched_book(tmp_path / "made.book", 12)
    for game in (HEADER.game(each.line) for each in book.nodes):
        assert all(led_to(game.transformed(symmetry)) == led_to(game) for symmetry in range(8))


def test_a_book_is_the_same_when_it_is_read_and_a_line_that_was_being_written_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "made.book"
    assert len(made := searched_book(path, 12)) == 12
    assert made.nodes == Book.load(path).nodes
    whole = path.read_bytes()
    path.write_bytes(whole[:-7])
    assert len(Book.load(path)) in (11, 12)
    assert path.read_bytes() == whole[:-7]  # another process may be writing it
    Book.load(path, cut=True)
    assert whole.startswith(path.read_bytes())
    assert path.read_bytes().endswith(b"\n")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (lambda: ["nonsense"], "line 2"),
        (lambda: ['{"at": 0, "move": "C3", "to": 1}'], "line 2"),
        (lambda: [node("", []), node("", [])], "line 3"),
        (lambda: [node("", [["C3", 1.0]])], "line 2"),
        (lambda: [node("", []), '{"at": -1, "move": "C3", "to": 0}'], "line 3"),
        (lambda: [node("", []), '{"at": 0, "move": "C3", "to": 0}'], "line 3"),
    ],
    ids=["no JSON", "no position", "twice", "half a move", "negative", "no such move"],
)
def test_wrong_lines_are_named(tmp_path: Path, lines: Callable[[], list[str]], message: str) -> None:
    path = write(tmp_path / "wrong.book", *lines())
    with pytest.raises(ConfigError, match=message):
        Book.load(path)


@pytest.mark.parametrize(
    "text", ["", "{}", "(;SZ[5])", '{"book": 2}'], ids=["empty", "no keys", "SGF", "another format"]
)
def test_other_files_are_no_books(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.book"
    path.write_text(f"{text}\n")
    with pytest.raises(ConfigError, match="a book of format 1"):
        Book.load(path)
    with pytest.raises(ConfigError, match="cannot read book"):
        Engine(Config().with_values({"play.book": str(tmp_path / "missing.book")}), evaluator=FakeEvaluator())
    for sides in ({"width": 4}, {"width": 10}, {"height": 4}, {"height": 10}):
        with pytest.raises(ConfigError, match="sides from 5 to 9"):
            Book.create(tmp_path / "a.book", replace(HEADER, **sides))
    Book.create(tmp_path / "a.book", replace(HEADER, width=9, height=5))


class TestPlay:
    """The book in games."""

    def test_the_best_move_is_reported_with_its_value(self, tmp_path: Path) -> None:
        """E3 is worth 12 ± 3.2 points, 9 more than komi: all of its error bars are won."""
        lines: list[str] = []
        report = BookPlay(str(small_book(tmp_path / "a.book")), lines.append).report(HEADER.game())
        assert report is not None and report.best is not None
        assert (report.best.lead_black, report.best.value_black) == (9.0, 1.0)
        assert lines == ["E3 from the book: B+12.0 (from B+8.8 to B+15.2)"]

    def test_winrates_are_the_share_of_the_error_bars_beyond_komi(self, tmp_path: Path) -> None:
        """C3 is worth 8 from 5.76 to 10.24; at komi 10, 0.24 of 4.47 points are more."""
        game = Game(5, 5, HEADER.rules, 10.0)
        report = BookPlay(str(small_book(tmp_path / "a.book")), print).report(game)
        assert report is not None
        assert report.moves[1].value_black == pytest.approx(2 * (8.0 + 5.0**0.5 - 10.0) / (2 * 5.0**0.5) - 1)
        assert [_value_black(Interval(exact, exact, exact), 3.0) for exact in (2.0, 3.0, 4.0)] == [-1.0, 0.0, 1.0]

    def test_other_boards_and_rules_are_told_once(self, tmp_path: Path) -> None:
        lines: list[str] = []
        play = BookPlay(str(small_book(tmp_path / "a.book")), lines.append)
        for game in (Game(5, 5, "japanese"), Game(5, 5, "japanese"), Game(7, 7, HEADER.rules)):
            assert play.report(game) is None
        assert len(lines) == 2 and "is for the rules" in lines[0]
        assert "is for 5x5, the game is on 7x7" in lines[1]

    def test_the_engine_plays_it_at_once(self, tmp_path: Path) -> None:
        path = small_book(tmp_path / "a.book")
        values = {"play.book": str(path), "search.visits": 2, "game.board_size": 5, "game.rules": "tromp-taylor"}
        with Engine(Config().with_values(values), evaluator=FakeEvaluator()) as engine:
            assert engine.genmove("white", play=False).report.playouts > 0  # the book has Black's moves
            choice = engine.genmove()
            assert (engine.game.vertex(choice.point), choice.report.playouts) == ("E3", 0)
            assert engine.genmove().report.playouts > 0  # the book has nothing after E3
            with pytest.raises(ConfigError, match="start the engine with it"):
                engine.configure({"play.book": "elsewhere"})
