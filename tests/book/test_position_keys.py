"""Which positions are the same one in a book."""

import pytest
from board_helpers import play_moves

from gtp_engine import Game, Move
from gtp_engine.engine.book.book import mirrored, place, to_play_of
from gtp_engine.go.constants import PASS

SIZE = (5, 5)
KO = "B3 C3 C4 D4 C2 D2 A1 E3 D3"
"""Black captures C3's stone by D3, a ko."""


def played(moves: str, rules: str = "tromp-taylor") -> Game:
    return play_moves(Game(*SIZE, rules), moves)


def image(game: Game, symmetry: int) -> Game:
    result = Game(*SIZE, game.rules)
    for move in game.moves:
        result.play(Move(move.color, mirrored(move.point, symmetry, SIZE)))
    return result


@pytest.mark.parametrize("moves", ["", "B2", "B2 D4 B4", KO, f"{KO} pass A2"])
def test_images_of_a_position_have_one_key_and_lie_as_they_say(moves: str) -> None:
    game = played(moves)
    key, _ = place(game)
    for symmetry in range(8):
        found = place(image(game, symmetry))
        assert found.key == key
        assert place(image(image(game, symmetry), found.symmetry)) == (key, 0)


def test_the_key_is_the_board_and_whose_turn_it_is() -> None:
    assert place(played("C3")).key == "...../...../..X../...../..... w0"
    assert to_play_of(place(played("C3")).key) == "w"
    assert place(played("C3 pass")).key == "...../...../..X../...../..... b1"
    assert place(played("B2 D4 B4")) == place(played("B4 D4 B2"))


def test_a_ko_and_the_boards_before_a_capture_are_part_of_the_key() -> None:
    after_capture = place(played(KO)).key
    same_board = Game(*SIZE, "tromp-taylor")
    same_board.set_up([Move(color, point) for point, color in played(KO).stones.items()], "white")
    bare = place(same_board).key
    assert after_capture.split()[:2] == bare.split()[:2]
    assert after_capture.split()[2].startswith("ko")
    assert len(after_capture.split()) == 4  # the board before the capture may not come again
    assert len(bare.split()) == 2


def test_a_capture_long_ago_is_not() -> None:
    """After nine more moves without captures the earlier boards are left out."""
    game = played(f"{KO} A5 B5 A4 E5 B1 A3 D5 E2")
    assert len(place(game).key.split()) == 3
    game.play("C5")
    assert len(place(game).key.split()) == 2


@pytest.mark.parametrize("symmetry", range(8))
def test_mirroring_back_returns_every_point(symmetry: int) -> None:
    points = played("").legal_points()
    assert [mirrored(mirrored(p, symmetry, SIZE), symmetry, SIZE, back=True) for p in points] == points
    assert mirrored(PASS, symmetry, SIZE) == PASS
