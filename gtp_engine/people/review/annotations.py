"""The annotated record: winrates and leads for several programs, comments, marks and better variations.

What each property is for:

SBKV, SBKS    Black's winrate in percent and lead in points; Sabaki draws its graphs from them
LZ            the analysis as Lizzie and LizzieYzy store it: the winrate of the side that has just moved in percent,
              visits and the lead of the side to move, then candidates with the winrate of the side to move in
              hundredths of a percent
KT, KTV       the analysis as KaTrain stores it, so that it shows it at once
BM DO IT TE   bad, doubtful, interesting and fine moves
C             a sentence at turning points
TENGEN        in the root: the program that made the review, by which its own output is recognised

The original's properties stay: where a node has one of these already, nothing is added to it, except to a comment.

KT has three values, each compressed and in base64: the ownership as 16-bit floats, the network's policy in the same way
(empty: none), and JSON with the moves and the root, winrates and leads Black's.  `GameNode.load_analysis` of KaTrain
1.20 reads them (https://github.com/sanderland/katrain, katrain/core/game_node.py).
"""

import base64
import gzip
import json
import zlib
from collections.abc import Sequence
from typing import Final

import numpy as np

from gtp_engine import __version__
from gtp_engine.base.errors import SgfError, TengenError, counted
from gtp_engine.go.coords import board_points, to_color
from gtp_engine.people.review.game_line import GameLine, GamePosition
from gtp_engine.people.review.game_review import (
    BAD,
    MOST_CANDIDATES,
    MOST_POINTS,
    Candidate,
    Finding,
    GameReview,
    PlayedMove,
    seen_by,
    stones_of,
)
from gtp_engine.sgf.game_tree import GameNode, GameTree

KATRAIN_VERSION: Final = "1.0"
"""The value of KTV in the root: the version of this format."""

MARK: Final = "TENGEN"
"""The property of the root by which own output is recognised."""

_MARK_VALUES: Final = {"BM": "1", "DO": "", "IT": "", "TE": "1"}
_COLOR_NAMES: Final = {"B": "Black", "W": "White"}

_LEAST_VISITS: Final = 8
"""Visits with which another candidate than the best is shown as a variation."""

_VARIATIONS: Final = 2
"""Variations shown at a mistake."""


def katrain_values(finding: Finding) -> list[str]:
    """Return the values of KT."""
    moves = {
        candidate.vertex: {
            "move": candidate.vertex,
            "order": order,
            "visits": candidate.visits,
            "winrate": candidate.winrate,
            "scoreLead": candidate.lead,
            "prior": candidate.prior,
            "pv": candidate.pv,
        }
        for order, candidate in enumerate(finding.candidates)
    }
    root = {"visits": finding.visits, "winrate": finding.winrate, "scoreLead": finding.lead}
    main = json.dumps({"moves": moves, "root": root, "completed": True}, separators=(",", ":"))
    ownership = (np.array(finding.ownership) / 100).astype("<f2").tobytes()
    packed = (gzip.compress(data, mtime=0) for data in (ownership, b"", main.encode("ascii")))
    return [base64.standard_b64encode(data).decode("ascii") for data in packed]


_MOST_BYTES: Final = 1_000_000
"""Bytes that a value of KT may unpack to; an analysis has some thousand."""


def stored_findings(data: bytes, line: GameLine) -> list[Finding] | None:
    """Return what a review of ours has stored in its record about the positions of `line`; None if any is missing."""
    if not is_own_output(data):
        return None
    nodes = GameTree(data).nodes_by_moves()
    try:
        return [_stored(nodes[position.number].get("KT"), position) for position in line.positions]
    except (KeyError, IndexError, TypeError, ValueError, OverflowError, zlib.error, RecursionError, TengenError):
        return None


def _stored(values: Sequence[str], position: GamePosition) -> Finding:
    """Return what `katrain_values` has stored about a position; raises one of many errors for anything else."""
    ownership, _, main = (_unpacked(value) for value in values)
    game, data = position.game, json.loads(main)

    def winrate(value: object) -> float:
        return min(1.0, max(0.0, number(value)))

    def number(value: object) -> float:
        found = float(str(value))
        if not abs(found) <= MOST_POINTS:
            raise ValueError(found)
        return found

    candidates = tuple(
        Candidate(
            game.vertex(each["move"]),
            int(each["visits"]),
            winrate(each["winrate"]),
            number(each["scoreLead"]),
            winrate(each["prior"]),
            tuple(map(game.vertex, each["pv"])),
        )
        for each in sorted(data["moves"].values(), key=lambda each: int(each["order"]))[:MOST_CANDIDATES]
    )
    owners = np.frombuffer(ownership, "<f2").astype(np.float64)
    if owners.shape != (game.width * game.height,) or not (np.abs(owners) <= 1).all():
        raise ValueError("ownership of another board")
    return Finding(
        number=position.number,
        to_play=to_color(position.to_play).letter,
        visits=int(data["root"]["visits"]),
        winrate=winrate(data["root"]["winrate"]),
        lead=number(data["root"]["scoreLead"]),
        stones=stones_of(game),
        candidates=candidates,
        ownership=tuple(int(each) for each in np.rint(100 * owners)),
    )


def _unpacked(value: str) -> bytes:
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    return unpacker.decompress(base64.b64decode(value, validate=True), _MOST_BYTES)


def is_own_output(data: bytes, *, unreadable: bool = False) -> bool:
    """Return whether a record is already a review; `unreadable` for one that cannot be read or kept."""
    try:
        return MARK in GameTree(data).root.names
    except SgfError:
        return unreadable


def annotated(data: bytes, review: GameReview, *, territory: bool = False) -> bytes:
    """Return the record in `data` with the review in it, in its own encoding.

    With `territory` the last position has the expected owner of each point as marks (TB, TW).  Raises SgfError for a
    record that cannot be read.
    """
    tree = GameTree(data)
    _add(tree.root, MARK, f"review {__version__}, {review.network}")
    _add(tree.root, "KTV", KATRAIN_VERSION)
    last_nodes, nodes, main_line = tree.nodes_by_moves(), list(tree.nodes()), tree.main_line()
    for finding in review.findings:
        if finding.number in last_nodes:
            _add_result(last_nodes[finding.number], finding, review)
    played = {node.move_number: node for node in main_line if node.moves == 1}
    for move in review.moves:
        if move.number in played:
            _add_opinion(played[move.number], move, review.findings[move.number - 1], review.findings[move.number])
    for variation in review.variations:
        found = variation.findings
        for number, move, before, after in zip(
            variation.line.nodes, variation.moves, (variation.start, *found), found, strict=False
        ):
            if number is not None:
                _add_result(nodes[number], after, review)
                _add_opinion(nodes[number], move, before, after)
    if territory:
        _add_territory(main_line[-1], review)
    for move in review.moves:
        if move.is_mistake and move.number - 1 in last_nodes:
            _add_variations(last_nodes[move.number - 1], move, review)
    return tree.to_bytes()


def _add(node: GameNode, name: str, *values: str) -> None:
    """Add a property with these values unless the node has it."""
    if name not in node.names:
        node.set(name, *values)


def comment_on(move: PlayedMove, before: Finding, after: Finding) -> str:
    """Return a sentence or two about a move that is marked, "" about any other."""
    name = _COLOR_NAMES[move.color]
    if move.is_mistake:
        size = "a big mistake" if move.points_lost >= BAD else "a mistake"
        best = before.best
        better = "" if best is None else f"Better: {' '.join(best.pv)}."
        return (
            f"{name} {move.vertex} is {size}: it loses {move.points_lost:.1f} points and {move.winrate_lost:.0%} "
            f"winrate. Before it {lead_text(before.lead)}, after it {lead_text(after.lead)}. {better}"
        )
    if move.mark == "TE":
        return f"{name} {move.vertex} is a fine move: hard to see, and better than every other."
    if move.mark == "IT":
        return f"{name} {move.vertex} is an unusual move that loses nothing."
    return ""


def lead_text(lead: float) -> str:
    """Return a lead in words: "Black leads by 3.5"."""
    if abs(lead) < 0.05:
        return "the game is even"
    return f"{'Black' if lead > 0 else 'White'} leads by {abs(lead):.1f}"


def _add_opinion(node: GameNode, move: PlayedMove, before: Finding, after: Finding) -> None:
    """Add the mark and the comment of a move to its node."""
    if move.mark is not None and _MARK_VALUES.keys().isdisjoint(node.names):
        node.set(move.mark, _MARK_VALUES[move.mark])
    if sentence := comment_on(move, before, after):
        node.add_comment(sentence)


def _add_result(node: GameNode, finding: Finding, review: GameReview) -> None:
    _add(node, "SBKV", f"{100 * finding.winrate:.2f}")
    _add(node, "SBKS", f"{finding.lead:.2f}")
    _add(node, "LZ", _lizzie(finding, review))
    _add(node, "KT", *katrain_values(finding))


def _lizzie(finding: Finding, review: GameReview) -> str:
    """Return the value of LZ; its first line has the winrate of the side that has just moved."""
    winrate, lead = seen_by(finding.to_play, finding)
    engine = "Tengen-" + "".join(character for character in review.network if not character.isspace())
    head = f"{engine} {100 * (1 - winrate):.1f} {finding.visits} {lead:.1f} 0"
    moves = []
    for each in finding.candidates:
        winrate, lead = seen_by(finding.to_play, each)
        moves.append(
            f"move {each.vertex} visits {each.visits} winrate {round(10000 * winrate)} "
            f"prior {round(10000 * each.prior)} scoreMean {lead:.2f} pv {' '.join(each.pv)}"
        )
    return head + "\n" + " info ".join(moves)


def _add_variations(node: GameNode, move: PlayedMove, review: GameReview) -> None:
    """Add variations to the node before a mistake: the best move and perhaps the next candidate, named."""
    for place, each in enumerate(review.findings[move.number - 1].candidates[:_VARIATIONS]):
        if each.vertex == move.vertex or (place > 0 and each.visits < _LEAST_VISITS):
            continue
        winrate, _ = seen_by(move.color, each)
        label = f"{each.vertex}: {_COLOR_NAMES[move.color]} {winrate:.0%}, {lead_text(each.lead)}"
        first = node.add_variation(each.pv, move.color)
        first.set("N", label)
        first.set("C", f"{label} ({counted(each.visits, 'visit')})")
        first.set("SBKV", f"{100 * each.winrate:.2f}")
        first.set("SBKS", f"{each.lead:.2f}")


def _add_territory(node: GameNode, review: GameReview) -> None:
    """Mark the points of the last position that one side owns with more than 50%, unless it has such marks."""
    finding, game = review.findings[-1], review.line.positions[-1].game
    points = board_points(game.width, game.height)
    for name, sign in (("TB", 1), ("TW", -1)):
        owned = [point for point, owner in zip(points, finding.ownership, strict=True) if sign * owner > 50]
        _add(node, name, *(game.point(point).sgf for point in owned))
