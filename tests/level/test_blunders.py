"""Kinds of blunders that no rank makes."""

import pytest
from board_helpers import shape

from gtp_engine.engine.level_drawing import LADDER_RUN, OWN_EYE, SELF_ATARI, UNANSWERED_ATARI, Blunders
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import Move, parse_vertex

SHORT_OF_LIBERTIES = ". . . . . . . / . O O O . . . / O X X . O . . / . O O O . . ."
"""Black at D5 extends to three stones with no liberty but that to the left, which White has taken: none at all."""
FILLS_LIBERTY = ". . . . . . . / . O O O . . . / . X X . O . . / . O O O . . ."
"""Black at D5 makes three stones whose only liberty is A5."""
EYE = ". X . X O . . / X X X X O . . / O O O O O . ."
LADDER = ". . . . . . . / . . . . . . . / . . O O . . . / . O X . . . . / . . O . . . ."
"""The black stone is in atari, and a ladder captures it when it runs to D4."""
ATARI = ". . . . . . . / . O O O . . . / O X X X . . . / . O O O . . ."
"""Three black stones are in atari; E5 saves them."""
CAPTURE_BESIDE = ". . . . . . . / . O O O X . . / . X X X O X . / . O O O . . ."
"""A5 saves the three black stones, and so does E4, which captures a white one."""


@pytest.mark.parametrize(
    ("text", "vertex", "kind"),
    [
        (FILLS_LIBERTY, "D5", SELF_ATARI), (FILLS_LIBERTY, "G1", None), (SHORT_OF_LIBERTIES, "G1", None),
        (EYE, "A7", OWN_EYE), (LADDER, "D4", LADDER_RUN),
        ("O . X O . . . / X . O . . . .", "B7", None),  # captures in place of running
        (ATARI, "E5", None), (ATARI, "G1", UNANSWERED_ATARI), (ATARI, "pass", UNANSWERED_ATARI),
        (f"{ATARI} / . . . . . . . / X X X . . . . / O O O . . . .", "D1", None),  # captures as many
    ],
)  # fmt: skip
def test_kinds_of_blunders(text: str, vertex: str, kind: str | None):
    game = shape(text)
    point = PASS if vertex == "pass" else parse_vertex(vertex, width=7, height=7)
    assert Blunders(game, BLACK).kind(point) == kind


@pytest.mark.parametrize(("text", "saving"), [(ATARI, ["E5"]), (CAPTURE_BESIDE, ["A5", "E4"])])
def test_a_chain_in_atari_is_saved_by_extending_it_or_by_capturing(text: str, saving: list[str]):
    saved = Blunders(shape(text), BLACK).rescues()
    assert set(saved) == {parse_vertex(vertex, width=7, height=7) for vertex in saving}


def test_the_refutation_captures_the_stones():
    game = shape(ATARI)
    refuted = Blunders(game, BLACK).refuted(parse_vertex("G1", width=7, height=7))
    assert refuted is not None
    assert refuted.last_move == Move(WHITE, parse_vertex("E5", width=7, height=7))
    assert refuted.captures[WHITE] == 3
    assert Blunders(game, BLACK).refuted(parse_vertex("E5", width=7, height=7)) is None
