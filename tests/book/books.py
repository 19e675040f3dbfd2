"""Books for tests: one written by hand on 5x5, and searches with an evaluator without a network."""

import json
from pathlib import Path
from typing import Any

from board_helpers import play_moves
from fake_evaluators import FakeEvaluator

from gtp_engine.engine.book.book import Book, BookHeader, place
from gtp_engine.engine.book.making import BookSearch, enlarge
from gtp_engine.go.rules import Rules

HEADER = BookHeader(5, 5, Rules.parse("tromp-taylor"), 3.0, "by hand")


def node(line: str, moves: list[list[Any]], *, score: float = 0.0, error: float = 1.0, visits: int = 100) -> str:
    """Return the line of a book for the position after a line, which must lie as in the position's key."""
    game = play_moves(HEADER.game(), line)
    assert place(game).symmetry == 0, f"{line}: the board lies otherwise in the key"
    data = {"key": place(game).key, "line": line, "visits": visits, "score": score, "error": error, "moves": moves}
    return json.dumps(data)


def link(at: int, move: str, to: int) -> str:
    return json.dumps({"at": at, "move": move, "to": to})


def write(path: Path, *lines: str, header: BookHeader = HEADER) -> Path:
    path.write_text("".join(f"{line}\n" for line in (json.dumps(header.to_json()), *lines)))
    return path


def small_book(path: Path) -> Path:
    """Write a book of three positions: C3 answered by C2 or the pass, and D3, whose position lies as after C2."""
    return write(
        path,
        node("", [["C3", 0.7, 60, 9.0], ["D3", 0.2, 30, 4.0], ["E3", 0.1, 10, 12.0]]),
        node("C3", [["C2", 0.6, 80, 8.0], ["pass", 0.1, 19, 20.0], ["A1", 0.1, 1, -9.0]], score=8.5, error=2.0),
        link(0, "C3", 1),
        node("C2", [["C3", 0.9, 100, 2.5]], score=3.0, error=0.5),
        link(0, "D3", 2),
    )


def searched_book(path: Path, positions: int, *, at_once: int = 4, steps: int = 1000) -> Book:
    """Return a book of so many positions, made or gone on with by searches of four visits with a fake evaluator.

    It is stopped after so many steps.
    """
    book = Book.load(path, cut=True) if path.exists() else Book.create(path, HEADER)
    search = BookSearch(FakeEvaluator(), visits=4, at_once=at_once)
    done: list[Book] = []
    enlarge(book, search, positions, is_stopped=lambda: len(done) >= steps, progress=done.append)
    return book
