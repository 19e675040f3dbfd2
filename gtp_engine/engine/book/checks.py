"""What is said about a book: its size and lines, whether it is sound, how it compares with other sources.

    describe        size, depth, value and best line
    position_lines  the moves of one position
    check           every line played, every key and value computed again
    search_deeper   some positions searched again with more visits: how far that differs
    compare_record  the moves of a game record by the book
    to_tree         the best lines as a game tree

Nothing here changes a book; `making` does.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gtp_engine.base.errors import ConfigError, IllegalMoveError, TengenError, counted
from gtp_engine.engine.book.book import Book, BookNode, BookReply, place, shown_interval
from gtp_engine.engine.book.making import BookSearch, costs
from gtp_engine.go.constants import BLACK
from gtp_engine.go.coords import Color
from gtp_engine.go.game import Game, after_move
from gtp_engine.nn.symmetry import symmetry_count
from gtp_engine.sgf import GameTree, read_sgf_file

MOST_TROUBLES: Final = 20
"""Troubles that a check names; of more it gives the number."""


def describe(book: Book) -> str:
    """Return some lines about a book: board, rules, size, depth, value and best line."""
    header = book.header
    lines = [
        f"{header.width}x{header.height}, {header.rules}, "
        f"searched at komi {header.komi:g} with {header.network or 'an unnamed network'}"
    ]
    if not book.nodes:
        return f"{lines[0]}\nno positions yet"
    links, visits = sum(len(each.linked) for each in book.nodes), sum(each.visits for each in book.nodes)
    depths = Counter(len(node.line) for node in book.nodes)
    lines.append(
        f"{counted(len(book), 'position')}, {counted(links, 'move')} between them, "
        f"{counted(visits, 'visit')}, longest line {counted(max(depths), 'move')}"
    )
    lines.append("positions by depth: " + " ".join(f"{depth}:{depths[depth]}" for depth in sorted(depths)))
    lines.append(f"value {shown_interval(book.nodes[0].found)}")
    lines.append(f"best line {' '.join(vertex for vertex, _ in best_moves(book, header.game()))}")
    return "\n".join(lines)


def best_moves(book: Book, game: Game) -> Iterator[tuple[str, BookReply]]:
    """Yield the best moves from a position on, with their values, while the book has any; plays them in `game`."""
    while not game.is_over and (replies := book.find(game)):
        vertex = game.vertex(replies[0].point)
        yield vertex, replies[0]
        game.play(replies[0].point)


def position_lines(book: Book, game: Game) -> list[str]:
    """Return a line for each move that the book has for a position, the best first, with the line that follows."""
    lines = []
    for reply in book.find(game):
        following = best_moves(book, after_move(game, reply.point))
        line = " ".join([game.vertex(reply.point), *(vertex for vertex, _ in following)])
        visits = counted(reply.move.visits, "visit")
        source = "" if reply.move.to is not None else f", {visits} of the position's own search"
        lines.append(f"{shown_interval(reply.found)}: {line}{source}")
    return lines


# --- checks ---


def check(book: Book) -> list[str]:
    """Return what is wrong with a book: moves that are not legal, keys that differ, values that are not the best ones.

    The positions that no line leads to are named too: they were being added when a process was killed.
    """
    troubles: list[str] = []
    for number, node in enumerate(book.nodes):
        try:
            troubles += [f"position {number}: {trouble}" for trouble in _troubles(book, node, number)]
        except TengenError as error:
            troubles.append(f"position {number}: {error}")
    lost = [number for number, cost in enumerate(costs(book)) if cost == float("inf")]
    if lost:
        troubles.append(f"no line leads to {counted(len(lost), 'position')}: {', '.join(map(str, lost[:10]))}")
    return troubles


def _troubles(book: Book, node: BookNode, number: int) -> Iterator[str]:
    """Yield what is wrong with a position; raises IllegalMoveError and InvalidVertexError for its line."""
    game, header = book.header.game(node.line), book.header
    if (key := place(game).key) != node.key:
        yield f"its line leads to {key}, not to {node.key}"
        return
    symmetry = number % symmetry_count(header.width, header.height)
    if place(game.transformed(symmetry)).key != node.key:
        yield f"mirrored by symmetry {symmetry} it has another key"
    for move in node.moves:
        after = game.copy()
        try:
            after.play(move.vertex)
        except IllegalMoveError as error:
            yield f"move {move.vertex}: {error}"
            continue
        if move.to is not None and place(after).key != book.nodes[move.to].key:
            yield f"move {move.vertex} does not lead to position {move.to}"
    best = [sign * value for sign, value in ((node.sign, option.value) for _, option in book.options(node))]
    if best and abs(max(best) - node.sign * node.found.value) > 1e-9:
        yield f"its value is {node.found.value:g}, its best move has {node.sign * max(best):g}"
    if not node.found.lower <= node.found.value <= node.found.upper:
        yield f"its bounds {node.found.lower:g} and {node.found.upper:g} are not around {node.found.value:g}"


def search_deeper(book: Book, search: BookSearch, count: int, seed: int) -> str:
    """Search up to `count` random positions that are not over again; return how far that differs from the book."""
    nodes = [node for node in book.nodes if node.visits > 0]
    chosen = random.Random(seed).sample(nodes, min(count, len(nodes)))
    if not chosen:
        return "no position was searched again"
    sizes, within, same = list[float](), 0, 0
    for node, new in zip(chosen, search.search([book.header.game(node.line) for node in chosen]), strict=True):
        options = book.options(node)
        best = max(new.moves, key=lambda move: move.visits, default=None)
        score = new.score if best is None else best.score
        sizes.append(abs(score - node.found.value))
        within += node.found.lower <= score <= node.found.upper
        same += best is not None and bool(options) and options[0][0].vertex == best.vertex
    sizes.sort()
    return (
        f"{counted(len(sizes), 'position')} searched again with {counted(search.visits, 'visit')}: scores differ by "
        f"{sum(sizes) / len(sizes):.2f} points on average, {sizes[len(sizes) // 2]:.2f} in the middle, {sizes[-1]:.2f} "
        f"at most; {within / len(sizes):.0%} within the error bars, {same / len(sizes):.0%} with the same best move. "
        "That is a sample of what longer searches would change, no fault of the book."
    )


def compare_record(book: Book, path: Path) -> list[str]:
    """Return a line for each move of a record's main line that the book has something to say about; raises SgfError.

    Raises ConfigError for a record of another board, whose rules and komi do not matter.
    """
    record = Game.from_sgf(read_sgf_file(str(path)))
    if (record.width, record.height) != (book.header.width, book.header.height):
        given = f"a record on {record.width}x{record.height}"
        raise ConfigError(given, expected=f"{book.header.width}x{book.header.height}, the book's board")
    game = book.header.game()
    game.set_up(record.setup_stones, record.first_player)
    lines = []
    for number, move in enumerate(record.moves, start=1):
        replies = book.find(game)
        before = game.copy()
        game.play(move, tolerant=True)
        if not replies:
            continue
        best, key = replies[0], place(game).key
        same = [reply for reply in replies if place(after_move(before, reply.point)).key == key]
        sign = 1.0 if move.color == BLACK else -1.0
        verdict = "not in the book"
        if same:
            lost = sign * (best.found.value - same[0].found.value)
            verdict = f"{shown_interval(same[0].found)}, {max(0.0, lost):.1f} points lost"
        lines.append(
            f"move {number}, {Color(move.color).letter} {game.vertex(move.point)}: {verdict}; "
            f"best {before.vertex(best.point)}, {shown_interval(best.found)}"
        )
    return lines


# --- as a game tree ---


def to_tree(book: Book, most: int) -> GameTree:
    """Return the best lines of a book, up to `most` moves of it, as a game tree with values in the comments."""
    game = book.header.game()
    tree = GameTree(game)
    tree.root.comment = describe(book)
    waiting, added = [(tree.root, game)], 0
    for node, position in waiting:  # breadth first: grows meanwhile
        for reply in book.find(position):
            if added == most:
                return tree
            after = position.copy()
            child = node.add_played(after.play(reply.point))
            child.comment = shown_interval(reply.found)
            added += 1
            if reply.move.to is not None and not after.is_over:
                waiting.append((child, after))
    return tree


def json_text(book: Book) -> str:
    """Return what `describe` says as JSON."""
    found = book.nodes[0].found if book.nodes else None
    return json.dumps(
        book.header.to_json()
        | {"positions": len(book), "moves": sum(len(node.linked) for node in book.nodes)}
        | {"depth": max((len(node.line) for node in book.nodes), default=0)}
        | {"value": found and found._asdict(), "line": [v for v, _ in best_moves(book, book.header.game())]},
        indent=2,
    )
