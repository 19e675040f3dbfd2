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
from typing import Final

import numpy as np

from gtp_engine import __version__
from gtp_engine.arguments import checked
from gtp_engine.errors import SgfError, counted
from gtp_engine.go.coords import board_points, parse_vertex
from gtp_engine.review.game_review import BAD, Candidate, Finding, GameReview, PlayedMove, ReviewedVariation, seen_by
from gtp_engine.sgf.tree_text import Node, TreeText, escaped
from gtp_engine.sgf.values import format_point

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
            "pv": candidate.line,
        }
        for order, candidate in enumerate(finding.candidates)
    }
    root = {"visits": finding.visits, "winrate": finding.winrate, "scoreLead": finding.lead}
    main = json.dumps({"moves": moves, "root": root, "completed": True}, separators=(",", ":"))
    ownership = (np.array(finding.ownership) / 100).astype("<f2").tobytes()
    packed = (gzip.compress(data, mtime=0) for data in (ownership, b"", main.encode("ascii")))
    return [base64.standard_b64encode(data).decode("ascii") for data in packed]


def is_own_output(data: bytes) -> bool:
    """Return whether a record is already a review; False for one that cannot be read."""
    return _is_marked(data) is True


def can_be_annotated(data: bytes) -> bool:
    """Return whether a record can be kept byte for byte in a review of it, and is not a review already."""
    return _is_marked(data) is False


def _is_marked(data: bytes) -> bool | None:
    """Return whether a record is marked as a review, None if it cannot be read or kept."""
    try:
        return MARK in TreeText(data).nodes[0].values
    except SgfError:
        return None


@checked
def annotated(data: bytes, review: GameReview, *, territory: bool = False) -> bytes:
    """Return the record in `data` with the review in it, in its own encoding.

    With `territory` the last position has the expected owner of each point as marks (TB, TW).  Raises SgfError if the
    record's bytes cannot be kept as they are.
    """
    text = TreeText(data)
    text.add_property(text.nodes[0], MARK, f"review {__version__}, {review.network}")
    text.add_property(text.nodes[0], "KTV", KATRAIN_VERSION)
    last_nodes = text.nodes_by_moves()
    for finding in review.findings:
        number = last_nodes.get(finding.number)
        if number is not None:
            _add_result(text, text.nodes[number], finding, review)
    for move in review.moves:
        node = _node_of_move(text.nodes, move.number)
        if node is not None:
            _add_opinion(text, node, move, review.findings[move.number - 1], review.findings[move.number])
    for variation in review.variations:
        _annotate_variation(text, variation, review)
    if territory:
        _add_territory(text, review)
    text.add_variations(
        {
            last_nodes[move.number - 1]: _variations(move, review)
            for move in review.moves
            if move.is_mistake and move.number - 1 in last_nodes
        }
    )
    return text.to_bytes()


def comment_on(move: PlayedMove, before: Finding, after: Finding) -> str:
    """Return a sentence or two about a move that is marked, "" about any other."""
    name = _COLOR_NAMES[move.color]
    if move.is_mistake:
        size = "a big mistake" if move.points_lost >= BAD else "a mistake"
        best = before.best
        better = "" if best is None else f"Better is {best.vertex}: {' '.join(best.line)}."
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


def _add_opinion(text: TreeText, node: Node, move: PlayedMove, before: Finding, after: Finding) -> None:
    """Add the mark and the comment of a move to its node."""
    if move.mark is not None and not _MARK_VALUES.keys() & node.values.keys():
        text.add_property(node, move.mark, _MARK_VALUES[move.mark])
    if sentence := comment_on(move, before, after):
        text.add_comment(node, sentence)


def _annotate_variation(text: TreeText, variation: ReviewedVariation, review: GameReview) -> None:
    """Add to the nodes of a variation what its positions and moves are worth."""
    before = variation.start
    for number, move, finding in zip(variation.line.nodes, variation.moves, variation.findings, strict=True):
        if number is not None:
            node = text.all_nodes[number]
            _add_result(text, node, finding, review)
            _add_opinion(text, node, move, before, finding)
        before = finding


def _node_of_move(nodes: list[Node], number: int) -> Node | None:
    """Return the node of a move, which counts from 1; None if it holds several moves."""
    moves = 0
    for node in nodes:
        moves += node.moves
        if moves >= number:
            return node if node.moves == 1 else None
    return None


def _add_result(text: TreeText, node: Node, finding: Finding, review: GameReview) -> None:
    text.add_property(node, "SBKV", f"{100 * finding.winrate:.2f}")
    text.add_property(node, "SBKS", f"{finding.lead:.2f}")
    text.add_property(node, "LZ", _lizzie(finding, review))
    text.add_values(node, "KT", katrain_values(finding))


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
            f"prior {round(10000 * each.prior)} scoreMean {lead:.2f} pv {' '.join(each.line)}"
        )
    return head + "\n" + " info ".join(moves)


def _variations(move: PlayedMove, review: GameReview) -> list[str]:
    """Return the variations at a mistake, as the text of their nodes: the best move and perhaps the next candidate."""
    before = review.findings[move.number - 1]
    shown = [
        each
        for place, each in enumerate(before.candidates[:_VARIATIONS])
        if each.vertex != move.vertex and (place == 0 or each.visits >= _LEAST_VISITS)
    ]
    return [_variation(each, move.color, review) for each in shown]


def _variation(candidate: Candidate, color: str, review: GameReview) -> str:
    """Return a candidate's continuation as SGF nodes, the first one with a name and a comment."""
    winrate, _ = seen_by(color, candidate)
    label = f"{candidate.vertex}: {_COLOR_NAMES[color]} {winrate:.0%}, {lead_text(candidate.lead)}"
    note = escaped(f"{label} ({counted(candidate.visits, 'visit')})")
    nodes, game = [], review.line.positions[0].game
    for vertex in candidate.line:
        point = parse_vertex(vertex, width=game.width, height=game.height)
        nodes.append(f";{color}[{format_point(point, width=game.width)}]")
        color = "W" if color == "B" else "B"
    nodes[0] += f"N[{escaped(label)}]C[{note}]SBKV[{100 * candidate.winrate:.2f}]SBKS[{candidate.lead:.2f}]"
    return "".join(nodes)


def _add_territory(text: TreeText, review: GameReview) -> None:
    """Mark the points of the last position that one side owns with more than 50 %."""
    finding, game = review.findings[-1], review.line.positions[-1].game
    points = board_points(game.width, game.height)
    for name, sign in (("TB", 1), ("TW", -1)):
        owned = [point for point, owner in zip(points, finding.ownership, strict=True) if sign * owner > 50]
        text.add_values(text.nodes[-1], name, [format_point(point, width=game.width) for point in owned])
