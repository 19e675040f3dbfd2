"""What is said about books: checks, records, trees."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from book.books import HEADER, link, node, searched_book, small_book, write

from gtp_engine.base.errors import ConfigError, SgfError
from gtp_engine.engine.book import checks
from gtp_engine.engine.book.book import Book, BookMove, BookNode
from gtp_engine.go.game import Game


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book.load(small_book(tmp_path / "small.book"))


def test_describe_and_lines(book: Book) -> None:
    assert "3 positions, 2 moves between them, 300 visits, longest line 1 move" in checks.describe(book)
    assert "best line E3" in checks.describe(book)
    assert checks.position_lines(book, HEADER.game()) == [
        "B+12.0 (from B+8.8 to B+15.2): E3, 10 visits of the position's own search",
        "B+8.0 (from B+5.8 to B+10.2): C3",
        "B+2.5 (from B+2.0 to B+3.0): D3",
    ]


def test_a_sound_book_has_no_troubles(tmp_path: Path) -> None:
    assert checks.check(searched_book(tmp_path / "a.book", 40)) == []


@pytest.mark.parametrize(
    ("lines", "trouble"),
    [
        (lambda: [node("", [["C3", 1.0, 9, 0.0]]).replace('"line": ""', '"line": "C3"')], "its line leads to"),
        (lambda: [node("", [["C3", 1.0, 9, 0.0]]).replace('"line": ""', '"line": "C3 C3"')], "occupied"),
        (lambda: [node("C3", [["C3", 1.0, 9, 0.0]])], "move C3: "),
        (
            lambda: [node("", [["C3", 1.0, 9, 0.0]]), node("C2", []), link(0, "C3", 1)],
            "move C3 does not lead to position 1",
        ),
        (lambda: [node("", [["C3", 1.0, 9, 0.0]]), node("C2", [])], "no line leads to 1 position: 1"),
    ],
    ids=["another key", "illegal line", "illegal move", "another position", "lost"],
)
def test_troubles_are_found(tmp_path: Path, lines: Callable[[], list[str]], trouble: str) -> None:
    assert trouble in "\n".join(checks.check(Book.load(write(tmp_path / "a.book", *lines()))))


def test_a_value_that_is_not_the_best_is_found(book: Book) -> None:
    book.nodes[1].found = book.nodes[1].found._replace(value=7.0)
    assert "position 1: its value is 7, its best move has 8" in checks.check(book)


def test_deeper_searches_are_compared(book: Book) -> None:
    found = {"": ("E3", 12.5), "C3": ("A1", 5.0), "C2": ("C3", 6.5)}

    def answer(game: Game) -> BookNode:
        vertex, score = found[" ".join(game.vertex(move.point) for move in game.moves)]
        return BookNode("", (), 9, 0.0, 0.0, [BookMove("A2", 0.0, 1, 0.0), BookMove(vertex, 1.0, 9, score)])

    search: Any = SimpleNamespace(visits=9, search=lambda games: map(answer, games))
    text = checks.search_deeper(book, search, 5, seed=1)
    assert text.startswith("3 positions searched again with 9 visits: scores differ by 2.50 points on average, ")
    assert "3.00 in the middle, 4.00 at most; 33% within the error bars, 67%" in text


@pytest.mark.parametrize(
    ("record", "line"),
    [
        ("(;SZ[5];B[bc];W[cc])", "move 1, B B3: B+2.5 (from B+2.0 to B+3.0), 9.5 points lost; {best}"),
        ("(;SZ[5];B[aa])", "move 1, B A5: not in the book; {best}"),
    ],
    ids=["mirrored", "not in the book"],
)
def test_a_record_beside_the_book(book: Book, tmp_path: Path, record: str, line: str) -> None:
    """B3 is D3 mirrored: 2.5 points where E3 has 12."""
    (tmp_path / "a.sgf").write_text(record)
    best = "best E3, B+12.0 (from B+8.8 to B+15.2)"
    assert checks.compare_record(book, tmp_path / "a.sgf") == [line.format(best=best)]


def test_white_loses_what_black_gains(book: Book, tmp_path: Path) -> None:
    (tmp_path / "a.sgf").write_text("(;SZ[5];B[cc];W[cd])")
    book.nodes[1].moves[2].to = 2
    _, found = checks.compare_record(book, tmp_path / "a.sgf")
    assert found.endswith("W C2: B+8.0 (from B+5.8 to B+10.2), 5.5 points lost; best A1, B+2.5 (from B+2.0 to B+3.0)")


def test_a_record_that_cannot_be_compared(book: Book, tmp_path: Path) -> None:
    (tmp_path / "a.sgf").write_text("(;SZ[9];B[aa])")
    with pytest.raises(ConfigError, match="5x5, the book's board"):
        checks.compare_record(book, tmp_path / "a.sgf")
    with pytest.raises(SgfError, match="cannot open"):
        checks.compare_record(book, tmp_path / "none.sgf")


def test_the_tree_has_the_best_lines_first(book: Book) -> None:
    tree = checks.to_tree(book, 10)
    assert [child.vertex for child in tree.root.children] == ["E3", "C3", "D3"]
    assert tree.root.children[1].comment == "B+8.0 (from B+5.8 to B+10.2)"
    assert len(list(checks.to_tree(book, 2).nodes())) == 3
