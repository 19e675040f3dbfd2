"""The variations of a record: which positions they add, and where what was found goes."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from review.review_support import analysis_of, silent
from sgfmill import sgf

from gtp_engine import Rules
from gtp_engine.people.review import (
    Candidate,
    Finding,
    GameLine,
    GameReview,
    SavedWork,
    annotated,
    new_review,
    read_game,
)
from gtp_engine.people.review.review_files import FileReviewer, RecordSource, Terms
from gtp_engine.sgf import GameTree

RECORD = b"(;SZ[5]KM[0.5];B[cc](;W[bb];B[dd])(;W[dc]C[or];C[no move];B[cd](;W[dd])(;W[bd];B[bc]))(;W[aa]))"
MAIN = 4  # positions of the main line: places 0 to 3


def line_of(data: bytes) -> GameLine:
    return read_game(data, rules=Rules(), variations=True)


def vertices(line: GameLine) -> list[list[str]]:
    return [[line.positions[0].game.vertex(move.point) for move in each.moves] for each in line.variations]


def test_every_position_has_one_place() -> None:
    line = line_of(RECORD)
    assert vertices(line) == [["D3", "C2", "D2"], ["B2", "B3"], ["A5"]]
    positions = line.places
    assert [position.before for position in positions] == [None, 0, 1, 2, 1, 4, 5, 5, 7, 1]
    assert [position.number for position in positions] == [0, 1, 2, 3, 2, 3, 4, 4, 5, 2]
    assert [sum(position.game.board.color == 1) for position in positions] == [0, 1, 1, 2, 1, 2, 2, 2, 3, 1]
    played = [None if each.played is None else each.game.vertex(each.played) for each in positions]
    assert played == ["C3", "B4", "D2", None, "C2", "D2", None, "B3", None, None]


@pytest.mark.parametrize(
    ("variation", "note"),
    [
        (b";W[cc]", "the variation after move 1 was left out: move 2"),
        (b";AB[aa]PL[W];W[bb]", "the variation after move 1 was left out: it sets up another position"),
    ],
)
def test_what_cannot_be_read_is_left_out_with_a_note(variation: bytes, note: str) -> None:
    line = line_of(b"(;SZ[5];B[cc](;W[bb])(" + variation + b")(;W[aa]))")
    assert len(line.notes) == 1 and line.notes[0].startswith(note)
    assert vertices(line) == [["A5"]]


def test_a_record_without_variations_has_none() -> None:
    line = line_of(b"(;SZ[5];B[cc];W[bb])")
    assert (line.variations, line.notes, len(line.places)) == ((), (), 3)


def test_the_times_of_the_moves_are_kept() -> None:
    assert line_of(b"(;SZ[5]TM[60];B[cc]BL[50](;W[bb]WL[57])(;W[aa]))").seconds == (10.0, 3.0)


def review_of(line: GameLine) -> GameReview:
    analysis = analysis_of()
    return new_review(line, analysis.run(line, SavedWork(None, ""), silent), analysis.network(line))


def test_variations_are_searched_and_written_into_their_nodes() -> None:
    review = review_of(line_of(RECORD))
    assert [len(variation.findings) for variation in review.variations] == [3, 2, 1]
    assert all(found.visits >= 8 for variation in review.variations for found in variation.findings)
    branch = sgf.Sgf_game.from_bytes(annotated(RECORD, review)).get_root()[0]
    first = next(node for node in branch if node.get_move() == ("w", (2, 3)))
    assert not first.has_property("SBKV") and first.get("C") == "or", "the position ends with the next node"
    found = review.variations[0].findings
    assert first[0].get_raw("SBKS") == f"{found[0].lead:.2f}".encode()
    assert first[0][0][0].get_raw("SBKS") == f"{found[2].lead:.2f}".encode()


def test_points_lost_in_a_variation_count_from_the_position_before_it() -> None:
    line = line_of(RECORD)
    findings = analysis_of().run(line, SavedWork(None, ""), silent)
    changed = [replace(found, lead=0.0, candidates=(), played_prior=None) for found in findings]
    changed[MAIN] = replace(changed[MAIN], lead=6.0)
    review = new_review(line, changed, "test")
    (first, other, _), nodes = review.variations, [*GameTree(annotated(RECORD, review)).nodes()]
    assert "Before it the game is even, after it Black leads by 6.0." in nodes[first.line.nodes[0]].comment
    assert [(move.points_lost, move.mark) for move in first.moves] == [(6.0, "BM"), (6.0, "BM"), (0.0, None)]
    assert [move.points_lost for move in other.moves] == [0.0, 0.0]
    assert [move.number for move in other.moves] == [4, 5]


def test_the_first_move_of_a_variation_is_marked_by_its_own_prior() -> None:
    line = line_of(b"(;SZ[5]KM[0.5];B[cc](;W[bb])(;W[dc])(;W[aa])(;B[dd]))")
    priors = {"B4": 0.01, "D3": 0.5, "A5": 0.02, "D2": 0.02}
    candidates = tuple(Candidate(vertex, 9, 0.5, 0.0, prior, (vertex,)) for vertex, prior in priors.items())
    findings = [
        Finding(position.number, "BW"[position.number % 2], 9, 0.5, 0.0, "", candidates, (), 0.01)
        for position in line.places
    ]
    review = new_review(line, findings, "test")
    assert review.moves[1].mark == "IT"
    firsts = {each.moves[0].vertex: each.moves[0].mark for each in review.variations}
    assert firsts == {"D3": None, "A5": "IT", "D2": None}, "D2 is a move of the side that is not to play"
    unknown = [replace(found, candidates=candidates[:1]) for found in findings]
    assert [each.moves[0].mark for each in new_review(line, unknown, "test").variations] == [None, None, None]


def test_a_change_of_the_position_in_a_variation_is_charged_to_no_move() -> None:
    line = line_of(b"(;SZ[5]KM[0.5];B[cc];AE[ee];W[bb](;B[dd])(;B[dc];AW[aa][ab];W[cd]))")
    findings = analysis_of().run(line, SavedWork(None, ""), silent)
    changed = [replace(found, lead=0.0, candidates=(), played_prior=None) for found in findings]
    changed[4], changed[5] = replace(changed[4], lead=-9.0), replace(changed[5], lead=-5.0)
    review = new_review(line, changed, "test")
    assert [move.points_lost for move in review.variations[0].moves] == [0.0, 4.0]
    note = "the record changes the position after move {}: what was lost there is not known"
    assert review.to_json()["notes"] == [note.format(1), note.format(3)]


def test_finished_variations_are_read_from_the_json(tmp_path: Path) -> None:
    source = RecordSource("game.sgf", lambda: RECORD, tmp_path / "game")
    plain = FileReviewer(analysis_of(), Terms(Rules())).review(source, silent).result
    assert plain is not None and plain["variations"] == []
    reviewer = FileReviewer(analysis_of(), Terms(Rules(), variations=True))
    first = reviewer.review(source, silent).result
    assert first is not None and [each["before"] for each in first["variations"]] == [1, MAIN + 1, 1]
    (tmp_path / "game.review.html").unlink()
    assert reviewer.review(source, silent).result == json.loads(json.dumps(first))
