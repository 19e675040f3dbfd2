"""The search signatures: what each search finds in three fixed searches, on file in `tests/data`.

They show whether a commit changes what is played.  Any change of the rules, the order of evaluation, selection,
rollouts or random numbers changes a signature; a change of names or of speed does not.  The tests of both searches
compare what they find with the files, and `scripts/update_signatures` rewrites the files.
"""

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from fake_evaluators import FakeEvaluator
from puct_support import Searching

from gtp_engine import Config, Game, format_vertex
from gtp_engine.search.limits import Limits
from gtp_engine.search.report import MoveReport
from gtp_engine.search.rollouts.rollout_search import RolloutSearch

DATA: Final = Path(__file__).parent / "data"
PUCT_FILE: Final = DATA / "puct_signature.txt"
ROLLOUTS_FILE: Final = DATA / "search_signature.txt"

SEARCHES: Final = ((9, 1000), (13, 500), (19, 300))
"""Board size and visits of the searches, each from the empty board with seed 1."""

MOVES: Final = 5
"""Moves of each search in the signature."""


def puct_signature() -> str:
    """Return the signature of the search with a network, for which a deterministic fake stands in."""
    lines = []
    for size, visits in SEARCHES:
        with Searching(FakeEvaluator()) as search:
            report = search.run(Game(size), Limits(visits))
        best = _visits_of([move for move in report.moves if move.symmetry_of is None], size)
        lines.append(f"{size}x{size} {visits} visits: {best}; value {report.value_black:.4f}; {report.nodes} nodes")
    return "\n".join(lines)


def rollouts_signature() -> str:
    """Return the signature of the search without a network, on two threads."""
    config = Config().with_values({"search.seed": "1", "search.threads": "2"}).search
    lines = []
    for size, visits in SEARCHES:
        with contextlib.closing(RolloutSearch(config)) as search:
            report = search.run(Game(size), Limits(visits))
        lines.append(f"{size}x{size} {visits} visits: {_visits_of(report.moves, size)}; {report.nodes} nodes")
    return "\n".join(lines)


def _visits_of(moves: Iterable[MoveReport], size: int) -> str:
    """Return the first moves with their visits as text."""
    first = list(moves)[:MOVES]
    return ", ".join(f"{format_vertex(move.point, width=size, height=size)} {move.visits}" for move in first)


SIGNATURES: Final = {PUCT_FILE: puct_signature, ROLLOUTS_FILE: rollouts_signature}
"""What each file holds, with a line feed at its end."""


def main() -> None:
    """Write the files, and print whether they changed."""
    for path, signature in SIGNATURES.items():
        text = signature() + "\n"
        print(f"{path.name}: {'unchanged' if text == path.read_text(encoding='utf-8') else 'CHANGED'}")
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
