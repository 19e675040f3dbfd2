"""`Game`: moves, what bad input does, set-up and handicap, copies, and the end of the game.

Ko and superko are tested in test_superko.py, undo in test_undo.py, scores in test_scoring.py, and equality with the
oracle move by move in test_board_oracle.py.
"""

import random

import pytest
import reference
from board_helpers import KO, game_from, play_moves, position_of, random_moves, state, vertex

from gtp_engine import Color, Config, Engine, GameTree, Point, TengenError
from gtp_engine.base.errors import IllegalMoveError, InvalidColorError, InvalidSizeError, InvalidVertexError
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE
from gtp_engine.go.coords import Move
from gtp_engine.go.game import Game, is_continued, replayed
from gtp_engine.go.rules import PRESETS, Ko, Rules

# --- a new game ---


def test_a_new_game_is_empty_and_blacks():
    game = Game()
    assert (game.width, game.height, game.to_play, game.moves) == (19, 19, BLACK, ())
    assert game.rules == PRESETS["chinese"]
    assert (game.komi, Game(komi=0).komi) == (7.5, 0)
    assert game.last_move is None
    assert game.ko_point is None
    assert game.captures == {BLACK: 0, WHITE: 0}
    assert (game.consecutive_passes, game.is_over, game.handicap) == (0, False, 0)
    assert len(game.legal_points()) == 361


@pytest.mark.parametrize("size", [(1, 1), (0, 5), (26, 26), (5, 26), (1, 19), (-3, 3)])
def test_sizes_outside_the_limits_are_refused(size: tuple[int, int]):
    with pytest.raises(InvalidSizeError):
        Game(*size)


# --- playing ---


def test_moves_are_given_as_point_vertex_or_move():
    by_point, by_vertex, by_move = Game(9), Game(9), Game(9)
    point = vertex(by_point, "C3")
    assert by_point.play(point) == by_vertex.play("c3") == by_move.play(Move(BLACK, point)) == Move(BLACK, point)
    assert state(by_point) == state(by_vertex) == state(by_move)


@pytest.mark.parametrize(
    ("text", "color", "reason"),
    [("B4", WHITE, "occupied"), ("B4", BLACK, "occupied"), ("A4", WHITE, "suicide"), ("B3", BLACK, None)],
)
def test_reasons(text: str, color: int, reason: str | None):
    game = game_from(KO)
    assert game.illegal_reason(vertex(game, text), color) == reason
    assert game.is_legal(text, color) == (reason is None)
    if reason:
        before = state(game)
        with pytest.raises(IllegalMoveError) as caught:
            game.play(text, color)
        assert caught.value.reason == reason
        assert state(game) == before


@pytest.mark.parametrize("point", [0, 2, 5, 25, 31, 1000, -1, -7, 10**12])
def test_points_off_the_board_are_refused(point: int):
    game = Game(4)
    before = state(game)
    for use in (game.illegal_reason, game.is_legal, game.play, game.point):
        with pytest.raises(InvalidVertexError):
            use(point)
    with pytest.raises(InvalidVertexError):
        game.color_at(point)
    assert state(game) == before


@pytest.mark.parametrize("color", [EMPTY, 3, -1, 56])
def test_a_number_that_is_no_color_is_refused(color: int):
    """Exchanged arguments, play(color, point), left a broken position."""
    game = Game(4)
    before = state(game)
    point = vertex(game, "B2")
    for call in (
        lambda: game.play(point, color),
        lambda: game.play(PASS, color),
        lambda: game.play(Move(color, point)),
        lambda: game.is_legal(point, color),
        lambda: game.illegal_reason(point, color),
        lambda: game.legal_points(color),
        lambda: game.set_up([Move(color, point)]),
        lambda: game.set_up([], color),
        lambda: setattr(game, "to_play", color),
    ):
        with pytest.raises(InvalidColorError, match=f"invalid color {color}: expected 1 .black. or 2 .white."):
            call()
    assert state(game) == before


def test_arguments_that_are_something_else_are_refused():
    game = play_moves(Game(9), "E5")
    before = state(game)
    for use, error in (
        (lambda: game.play(True), "invalid point True"),
        (lambda: game.play(Color.WHITE), "invalid point"),
        (lambda: game.play("D5", True), "invalid color True"),
        (lambda: game.play(Move(BLACK, vertex(game, "D5")), "white"), "move black D5 as one of white"),
        (lambda: game.as_move("D5"), "move 'D5': expected a Move"),
        (lambda: game.set_handicap("D5"), "points 'D5': expected a list of points"),
        (lambda: setattr(game, "komi", 10**400), "expected a finite number"),
        (lambda: game.undo(2), "cannot undo: 2 asked for, 1 to take back"),
        (lambda: Game(9).undo(), "cannot undo: 1 asked for, none to take back"),
    ):
        with pytest.raises(TengenError, match=error):
            use()
    assert state(game) == before


def test_a_game_goes_on_from_its_beginning_under_the_same_conditions():
    root = play_moves(Game(9), "E5 D5")
    longer = play_moves(root.copy(), "C5")
    assert is_continued(root, longer) and is_continued(root, root) and not is_continued(longer, root)
    for name, value in (("komi", 0.5), ("rules", "japanese")):
        other = longer.copy()
        setattr(other, name, value)
        assert not is_continued(root, other)
    assert [len(game.moves) for game in replayed(longer)] == [0, 1, 2, 3]


# --- set-up, handicap, copies ---


def test_set_up_starts_a_new_history():
    game = play_moves(Game(4, rules=Rules(ko=Ko.POSITIONAL)), "A1 D4")
    game.set_up([Move(BLACK, vertex(game, "B2")), Move(WHITE, vertex(game, "C3"))], WHITE)
    assert game.moves == ()
    assert game.to_play == game.first_player == WHITE
    assert game.setup_stones == ((BLACK, vertex(game, "B2")), (WHITE, vertex(game, "C3")))
    assert position_of(game.board, 4, 4) == reference.parse("....\n..O.\n.X..\n....")
    assert game.captures == {BLACK: 0, WHITE: 0}
    assert game.superko_keys().size == 1


@pytest.mark.parametrize(
    ("stones", "reason"),
    [
        (["B B2", "W B2"], "occupied"),
        (["W A1", "B A2", "B B1"], "suicide"),
        (["B A1", "W A2", "W B1", "B B2"], "suicide"),
    ],
)
def test_set_up_refuses_impossible_positions_and_changes_nothing(stones: list[str], reason: str):
    game = Game(4)
    game.play("C3")
    before = state(game)
    with pytest.raises(IllegalMoveError) as caught:
        game.set_up([tuple(stone.split()) for stone in stones])
    assert caught.value.reason == reason
    with pytest.raises(InvalidVertexError):
        game.set_up([(BLACK, 3)])
    with pytest.raises(InvalidVertexError):
        game.set_up([(BLACK, PASS)])
    assert state(game) == before


@pytest.mark.parametrize("size", [(19, 19), (9, 8), (8, 9), (10, 9)])
def test_points_of_a_board_of_another_size_are_refused_everywhere(size: tuple[int, int]):
    """Their numbers would be other points here; the pass is that of every board."""
    game, tree = Game(9), GameTree("(;SZ[9])")
    engine = Engine(Config().with_values({"game.board_size": 9}), evaluator=None)
    asking = "play is_legal illegal_reason color_at __getitem__ vertex chain liberties is_in_ladder ladder_moves point"
    for point in (Point("A1", *size), Point.from_xy(2, 3, *size), Point.from_sgf("bb", *size)):
        for use in (
            *(getattr(game, name) for name in asking.split()),
            lambda point: game.territory(BLACK, [point]),
            lambda point: game.score([point]),
            lambda point: game.as_move((BLACK, point)),
            lambda point: game.set_up([Move(Color.BLACK, point)]),
            lambda point: game.set_handicap([point, "E5"]),
            lambda point: game.svg(marks={point: "circle"}),
            tree.root.add_move,
            lambda point: tree.root.set_mark(point, "circle"),
            lambda point: engine.play(point, BLACK),
            lambda point: engine.free_handicap([point, "E5"]),
        ):
            with pytest.raises(InvalidVertexError, match=f"{point} of a board of {size[0]}x{size[1]}"):
                use(point)
    engine.close()
    assert not game.stones and game.play(Point("pass", *size)).point is Game(5).play("pass").point


def test_set_up_of_a_crowded_position_captures_nothing():
    """Both chains have their last liberty at B1."""
    game = game_from("X X X\nO O X\nO . X")
    assert position_of(game.board, 3, 3) == reference.parse("X X X\nO O X\nO . X")
    game.play("B1", BLACK)
    assert game.captures == {BLACK: 3, WHITE: 0}


def test_the_turn_can_be_given_to_either_side_until_the_next_move():
    game = Game(5)
    game.play("C3")
    game.to_play = BLACK
    game.undo(0)
    assert (game.to_play, game.copy().to_play, game.first_player) == (BLACK, BLACK, BLACK)
    game.rules = Rules.parse("aga-button")
    assert game.to_play == BLACK
    game.play("D3")
    assert [move.color for move in game.moves] == [BLACK, BLACK]
    assert game.to_play == WHITE
    game.to_play = BLACK
    game.undo()
    assert game.to_play == WHITE
    game.undo()
    game.to_play = WHITE
    assert (game.to_play, game.first_player) == (WHITE, WHITE)


def test_copies_are_equal_and_independent():
    rng = random.Random(3)
    for ko in Ko:
        game = Game(5, 4, Rules(ko=ko), 3.5)
        game.set_up([Move(BLACK, vertex(game, "B2"))], WHITE)
        random_moves(rng, game, 60)
        copy = game.copy()
        before = state(game)
        assert state(copy) == before
        random_moves(rng, copy, 20)
        copy.undo(len(copy.moves))
        copy.komi = 0
        copy.rules = PRESETS["japanese"]
        assert state(game) == before
        kept = state(copy)
        game.undo(len(game.moves))
        assert state(copy) == kept


# --- passes and the end ---


def test_two_passes_end_the_game_but_not_the_moves():
    game = Game(9)
    game.play("pass")
    assert (game.consecutive_passes, game.is_over) == (1, False)
    game.play("C3")
    assert game.consecutive_passes == 0
    play_moves(game, "pass pass")
    assert (game.consecutive_passes, game.is_over) == (2, True)
    game.play("D4")
    assert (game.consecutive_passes, game.is_over) == (0, False)
    game.rules = Rules.parse("aga-button")  # the first pass took the button, and does not count towards the end
    game.undo()
    assert (game.consecutive_passes, game.is_over) == (2, True)
    game.undo(3)
    assert (game.consecutive_passes, game.is_over) == (0, False)


# --- what handicap, button and passes count for ---


@pytest.mark.parametrize(
    ("moves", "handicap"),
    [
        ("B C3", 0),
        ("B C3, B G7", 2),
        ("B C3, W pass, B G7, W pass, B C7", 3),
        ("B C3, B G7, W E5, B D5, B D6", 2),
        ("B C3, B G7, B pass, B C7, W E5", 3),
        ("B C3, B G7, W pass, W E5", 0),
        ("W E5, B C3, B G7", 0),
    ],
)
def test_black_moves_at_the_start_are_a_handicap(moves: str, handicap: int) -> None:
    """Unless White moved twice in a row before its first stone."""
    game = Game(9)
    for move in moves.split(", "):
        color, text = move.split()
        game.play(text, color)
    assert game.handicap == handicap
    game.handicap_by_moves = False
    assert game.handicap == 0


@pytest.mark.parametrize(
    ("moves", "button", "margin"),
    [
        ("B C3", 0.0, 25 - 7.0 - 0.5),  # free, and White's to take
        ("W C3", 0.0, -25 - 7.0 + 0.5),
        ("B C3, W pass", -0.5, 25 - 7.0 - 0.5),
        ("B C3, B pass, W pass", 0.5, 25 - 7.0 + 0.5),
    ],
)
def test_the_button_is_worth_half_a_point(moves: str, button: float, margin: float) -> None:
    game = Game(5, rules="aga-button")
    for move in moves.split(", "):
        color, text = move.split()
        game.play(text, color)
    assert (game.button_black, game.has_free_button) == (button, button == 0.0)
    assert game.score().margin_black == margin
    assert game.area_komi == 7.0 - button
    for each in (game, game.copy()):  # which share what undoing the button's pass needs
        each.undo(len(each.moves))
        assert state(each) == state(Game(5, rules="aga-button"))


@pytest.mark.parametrize(("rules", "area_komi"), [("chinese", 0.5), ("japanese", 0.5 + 3 - 2)])
def test_area_komi_counts_the_stones_that_black_placed_more(rules: str, area_komi: float) -> None:
    game = Game(9, rules=rules, komi=0.5)
    game.set_up([(BLACK, "C3"), (WHITE, "G7")])  # type: ignore[list-item]
    play_moves(game, "C4 pass C5 D5")
    assert game.area_komi == area_komi
