"""What thousands of game records have in common: results, openings, and where games are decided.

python many_records.py FOLDER

As cells of a notebook, the rows go into `pandas.DataFrame`, and a game that ends a cell is shown as a picture.
"""

import sys
from collections import Counter

from gtp_engine import Game, GameTree, SgfError, read_headers

MOVES = 4
"""Moves of an opening."""


def results(folder: str) -> Counter[str]:
    """Return how often each side won, by the first nodes of the records alone."""
    headers = read_headers(folder, pass_over=lambda error: print(error, file=sys.stderr))
    return Counter((header.result or "?")[0] for header in headers)


def openings(folder: str) -> dict[int, list[Game]]:
    """Return the positions after the first moves, those together that a symmetry exchanges, the most frequent first."""
    found: dict[int, list[Game]] = {}
    for tree in GameTree.load_all(folder, pass_over=lambda error: None):
        node = tree.nodes_by_moves().get(MOVES)
        try:
            game = None if node is None else node.game()
        except SgfError:  # a move up to there cannot be played
            continue
        if game is not None:
            found.setdefault(game.canonical_hash, []).append(game)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def rows(folder: str) -> list[dict[str, object]]:
    """Return a row for each game: players, length, captures."""
    table: list[dict[str, object]] = []
    for tree in GameTree.load_all(folder, pass_over=lambda error: None):
        record = tree.record
        last = tree.game()
        captured = sum(last.captures.values())
        table.append(
            {"black": record.black_name, "white": record.white_name, "moves": len(record.moves), "captured": captured}
        )
    return table


def main(folder: str) -> None:
    """Print what the records have in common."""
    print("winners:", dict(results(folder)))
    for games in list(openings(folder).values())[:3]:
        print(f"{len(games)} times:", *(move.point for move in games[0].moves))
    table = rows(folder)
    longest = max(table, key=lambda row: str(row["moves"]).zfill(9), default=None)
    print(len(table), "games, the longest:", longest)


if __name__ == "__main__":
    main(sys.argv[1])
