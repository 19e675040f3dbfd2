"""The commands `gtp-engine book …`: make, check, show and play books of small boards."""

import sys
import time
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from gtp_engine.base.errors import ConfigError, TengenError, counted, shown
from gtp_engine.base.files import check_result, write_result
from gtp_engine.base.steps import long_work
from gtp_engine.base.streams import write_log
from gtp_engine.cli.options import FILE, INTERRUPTED, ConfigCommand, settings_options
from gtp_engine.config import NetworkConfig
from gtp_engine.config.option import Section, option
from gtp_engine.go.rules import Rules

if TYPE_CHECKING:
    from gtp_engine.engine.book.book import BookHeader
    from gtp_engine.nn.network_evaluator import NetworkEvaluator

BOARD: Final = 7
"""Side of a new book's board unless another is given."""

_NETWORK: Final = ("model", "provider", "device", "precision")


@dataclass(frozen=True)
class BookBoard(Section, name="book_board"):
    """The board, rules and komi of a book; for one that exists, the same."""

    size: int | None = option(None, "Lines of the board; not set: 7.", unit="lines", bounds=(5, 9))
    rules: str | None = option(None, "Rules, as for the engine; not set: tromp-taylor.")
    komi: float | None = option(None, unit="points", bounds=(-150, 150))
    """Komi of the searches, best near the book's value, so that each point matters; not set: the whole number that a
    search of the empty board expects."""


@dataclass(frozen=True)
class BookSettings(Section, name="book"):
    """How large a book becomes, and how its positions are searched."""

    positions: int = option(1000, "Positions that the book should have.", unit="positions", bounds=(1, 10_000_000))
    minutes: float | None = option(None, unit="minutes", low=0.01)
    """End after this many minutes; not set: when the book has all positions."""
    visits: int = option(200, "Visits of the search of each position.", unit="visits", bounds=(2, 1_000_000))
    at_once: int = option(8, "Positions searched side by side.", unit="positions", bounds=(1, 256))
    threads: int = option(0, "Threads of the network; 0: all cores.", unit="threads", bounds=(0, 1024))


@dataclass(frozen=True)
class BookCheck(Section, name="book_check"):
    """What a check searches again."""

    samples: int = option(0, "Random positions to search again; 0: none.", unit="positions", bounds=(0, 1_000_000))
    visits: int = option(2000, "Visits of these searches.", unit="visits", bounds=(2, 10_000_000))
    seed: int = option(1, "Which positions are chosen.", bounds=(0, 2**31))
    at_once: int = option(8, "Positions searched side by side.", unit="positions", bounds=(1, 256))
    threads: int = option(0, "Threads of the network; 0: all cores.", unit="threads", bounds=(0, 1024))


@click.group("book")
def book_command() -> None:
    """Make and use books: positions of a small board with the values of their moves, found by many searches.

    \N{BACKSPACE}
    gtp-engine book make 7x7.book --size 7 --rules tromp-taylor --positions 5000
    gtp-engine book check 7x7.book --samples 50
    gtp-engine book show 7x7.book --line "D4 C3"
    gtp-engine book play 7x7.book
    gtp-engine play --size 7 --rules tromp-taylor --book 7x7.book
    """


@book_command.command("make", cls=ConfigCommand)
@click.argument("file", type=FILE)
@settings_options(BookBoard, "board", is_own=True)
@settings_options(BookSettings, is_own=True)
@settings_options(NetworkConfig, "network", only=_NETWORK, is_own=True)
def make_command(file: Path, board: BookBoard, settings: BookSettings, network: NetworkConfig) -> None:
    """Make a book, or make one larger.

    Every position is saved at once: stop with Ctrl-C whenever you like, and run the command again to go on. Only one
    process at a time writes to a book; others may play from it.
    """
    network = replace(network, network_threads=settings.threads)
    from gtp_engine.engine.book.book import Book, shown_interval
    from gtp_engine.engine.book.checks import best_moves, describe
    from gtp_engine.engine.book.making import BookSearch, enlarge, fair_komi

    end = time.monotonic() + 60.0 * (inf if settings.minutes is None else settings.minutes)
    with long_work(file.parent, file=file.name, total=settings.positions) as (bar, is_stopped):

        def show(book: Book) -> None:
            line = " ".join(vertex for vertex, _ in best_moves(book, header.game()))
            value = shown_interval(book.nodes[0].found)
            bar.update(len(book), f"{counted(len(book), 'position')}, value {value}: {line}")

        book = Book.load(file, cut=True) if file.exists() else None
        header = _header(board) if book is None else _same_header(book.header, board)
        evaluator = _evaluator(network, header, settings.at_once)
        if book is None:
            komi = fair_komi(header, evaluator, settings.visits) if board.komi is None else header.komi
            network_name = evaluator.info.on(header.width, header.height).name
            book = Book.create(file, replace(header, komi=komi, network=network_name))
        enlarge(
            book,
            BookSearch(evaluator, settings.visits, settings.at_once),
            settings.positions,
            is_stopped=lambda: is_stopped() or time.monotonic() >= end,
            progress=show,
        )
    click.echo(describe(book))
    if is_stopped():
        sys.exit(INTERRUPTED)


def _header(board: BookBoard) -> "BookHeader":
    """Return what a new book is for, with the usual komi of its rules unless another is given."""
    from gtp_engine.engine.book.book import BookHeader

    size, rules = board.size or BOARD, Rules.parse(board.rules or "tromp-taylor")
    return BookHeader(size, size, rules, rules.default_komi() if board.komi is None else board.komi)


def _same_header(header: "BookHeader", board: BookBoard) -> "BookHeader":
    """Return what a book is for; raises ConfigError if something else is given."""
    rules = None if board.rules is None else Rules.parse(board.rules)
    given = {"size": (board.size, header.width), "rules": (rules, header.rules), "komi": (board.komi, header.komi)}
    for name, (value, there) in given.items():
        if value is not None and value != there:
            text = f"--{name} {shown(str(value))} for a book with {shown(str(there))}"
            raise ConfigError(text, advice="leave it out, or name another file")
    return header


def _evaluator(network: NetworkConfig, header: "BookHeader", at_once: int) -> "NetworkEvaluator":
    """Return the network, ready for a book's board; raises ModelError."""
    from gtp_engine.nn.loading import load_evaluator

    evaluator = load_evaluator(network, log=write_log, board=(header.width, header.height), batch=at_once)
    evaluator.prepare(header.width, header.height)
    return evaluator


@book_command.command("check", cls=ConfigCommand)
@click.argument("file", type=FILE)
@click.option("--against", type=FILE, help="Compare with a game record.")
@settings_options(BookCheck, is_own=True)
@settings_options(NetworkConfig, "network", only=_NETWORK, is_own=True)
def check_command(file: Path, against: Path | None, settings: BookCheck, network: NetworkConfig) -> None:
    """Check a book.

    Plays every line under the book's rules, mirrors every position, and computes every value again; --samples also
    searches random positions again, with more visits. The exit status is 1 if something is wrong.
    """
    network = replace(network, network_threads=settings.threads)
    from gtp_engine.engine.book.book import Book
    from gtp_engine.engine.book.checks import MOST_TROUBLES, check, compare_record, describe, search_deeper
    from gtp_engine.engine.book.making import BookSearch

    if against is not None and settings.samples:
        raise click.UsageError("--against with --samples: give one or the other")
    book = Book.load(file)
    if against is not None:
        click.echo("\n".join(compare_record(book, against)) or "The book has none of its positions.")
        return
    click.echo(describe(book))
    troubles = check(book)
    for trouble in troubles[:MOST_TROUBLES]:
        click.echo(trouble)
    click.echo(counted(len(troubles), "problem") if troubles else "no problem in any line, position or value")
    if settings.samples:
        evaluator = _evaluator(network, book.header, settings.at_once)
        search = BookSearch(evaluator, settings.visits, settings.at_once)
        click.echo(search_deeper(book, search, settings.samples, settings.seed))
    if troubles:
        sys.exit(1)


@book_command.command("show")
@click.argument("file", type=FILE)
@click.option("--line", default=None, metavar="MOVES", help="Show the moves after these, such as 'D4 C3'.")
@click.option("--sgf", "target", type=FILE, help="Write the best lines to a game record.")
@click.option(
    "--moves", "most", type=click.IntRange(1, 100_000), default=500, show_default=True, help="Most moves of the record."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs instead of text.")
def show_command(file: Path, line: str | None, target: Path | None, most: int, as_json: bool) -> None:
    """Show how large a book is, its value and its lines, or write them to a game record."""
    from gtp_engine.engine.book.book import Book
    from gtp_engine.engine.book.checks import describe, json_text, position_lines, to_tree

    if (target is not None) + (line is not None) + as_json > 1:
        raise click.UsageError("--line, --sgf and --json: give one of them")
    if target is not None:
        check_result(target, file)
    book = Book.load(file)
    if target is not None:
        tree = to_tree(book, most)
        write_result(target, tree.to_bytes())
        click.echo(f"{target}: {counted(sum(1 for _ in tree.nodes()) - 1, 'move')}")
    elif line is not None:
        try:
            game = book.header.game(line.split())
        except TengenError as error:
            raise ConfigError(f"--line {shown(line)}: {error}") from error
        click.echo("\n".join(position_lines(book, game)) or "The book has no move here.")
    else:
        click.echo(json_text(book) if as_json else describe(book))


@book_command.command("play", context_settings={"ignore_unknown_options": True})
@click.argument("file", type=FILE)
@click.argument("flags", nargs=-1, type=click.UNPROCESSED, metavar="[FLAGS OF PLAY]")
@click.pass_context
def play_book_command(context: click.Context, file: Path, flags: tuple[str, ...]) -> None:
    """Play in this terminal against a book and the engine.

    This is `gtp-engine play` with the book's board, rules and komi, and takes its other flags.
    """
    from gtp_engine.cli.play_command import play_command
    from gtp_engine.engine.book.book import Book

    header = Book.load(file).header
    board = ["--size", str(header.width), "--rules", header.rules.to_json(), "--komi", f"{header.komi:g}"]
    with play_command.make_context("play", [*board, "--book", str(file), *flags], parent=context) as inner:
        play_command.invoke(inner)
