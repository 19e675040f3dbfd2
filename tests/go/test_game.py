"""`Game`: history, superko, passes, undo, set-up and handicap, the end of the game, and what bad input does.

Equality with the oracle move by move is tested in test_board_oracle.py, scores in test_scoring.py.
"""

import random

import pytest
import reference
from board_helpers import CHARACTER, COLOR, points_of, position_of

from gtp_engine.errors import CannotUndoError, IllegalMoveError, InvalidSizeError, InvalidVertexError
from gtp_engine.go.constants import BLACK, EMPTY, NULL_POINT, PASS, WHITE, Move
from gtp_engine.go.coords import format_vertex, parse_vertex
from gtp_engine.go.game import Game
from gtp_engine.go.rules import PRESETS, Ko, Rules

KO = """
    . X O .
    X . X O
    . X O .
    . . . ."""
"""White takes a ko at B3 (capturing C3), Black would retake at C3."""


def game_from(diagram: str, rules: Rules | None = None, first_player: int = BLACK) -> Game:
    position = reference.parse(diagram)
    game = Game(position.width, position.height, rules or Rules())
    cells = zip(points_of(position), position.cells, strict=True)
    stones = [Move(COLOR[cell], point) for point, cell in cells if cell != reference.EMPTY]
    game.set_up(stones, first_player)
    return game


def state(game: Game) -> tuple[object, ...]:
    """Return everything a game tells about itself, to compare games with."""
    verdicts = [
        game.illegal_reason(point, color)
        for point in points_of(reference.empty_position(game.width, game.height))
        for color in (BLACK, WHITE)
    ]
    return (
        position_of(game.board, game.width, game.height), game.moves, game.to_play, game.ko_point, game.captures,
        game.hash, game.consecutive_passes, game.is_over, game.handicap, game.setup_stones, game.komi, game.rules,
        sorted(game.superko_keys().tolist()), verdicts, str(game.score()), game.diagram(),
    )  # fmt: skip


def vertex(game: Game, text: str) -> int:
    return parse_vertex(text, width=game.width, height=game.height)


# --- a new game ---


def test_a_new_game_is_empty_and_blacks():
    game = Game()
    assert (game.width, game.height, game.to_play, game.moves) == (19, 19, BLACK, ())
    assert game.rules == PRESETS["chinese"]
    assert game.komi == 7.5
    assert game.last_move is None
    assert game.ko_point == NULL_POINT
    assert game.captures == {BLACK: 0, WHITE: 0}
    assert (game.consecutive_passes, game.is_over, game.handicap) == (0, False, 0)
    assert len(game.legal_points()) == 361


def test_height_defaults_to_the_width_and_komi_to_the_rules():
    assert (Game(13).width, Game(13).height) == (13, 13)
    assert (Game(7, 5).width, Game(7, 5).height) == (7, 5)
    assert Game(9, rules=PRESETS["japanese"]).komi == 6.5
    assert Game(9, rules=PRESETS["japanese"], komi=0).komi == 0


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


def test_colours_may_move_in_any_order():
    game = Game(9)
    for text in ("C3", "D3", "E3"):
        game.play(text, WHITE)
    assert game.to_play == BLACK
    game.play("C4")
    assert [move.color for move in game.moves] == [WHITE, WHITE, WHITE, BLACK]
    assert game.to_play == WHITE


def test_captures_are_counted_for_the_captor():
    game = game_from(". X O\n. O .\n. . .")
    game.play("B1", BLACK)
    game.play("A3", WHITE)
    assert game.captures == {BLACK: 0, WHITE: 1}
    assert game.color_at(vertex(game, "B3")) == EMPTY


def test_chain_and_liberties():
    game = game_from(". X X\n. . O\n. . .")
    assert game.chain(vertex(game, "B3")) == [vertex(game, "B3"), vertex(game, "C3")]
    assert game.liberties(vertex(game, "C3")) == [vertex(game, "A3"), vertex(game, "B2")]
    assert game.chain(vertex(game, "A1")) == [] == game.liberties(vertex(game, "A1"))


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
def test_points_off_the_board_are_illegal(point: int):
    game = Game(4)
    before = state(game)
    assert game.illegal_reason(point) == "off-board"
    assert not game.is_legal(point)
    with pytest.raises(IllegalMoveError) as caught:
        game.play(point)
    assert caught.value.reason == "off-board"
    with pytest.raises(InvalidVertexError):
        game.color_at(point)
    assert state(game) == before


@pytest.mark.parametrize("text", ["E5", "A0", "I3", "", "Z99", "resign"])
def test_vertices_off_the_board_are_refused(text: str):
    game = Game(4)
    with pytest.raises(InvalidVertexError):
        game.play(text)
    assert game.moves == ()


def test_single_stone_suicide_is_illegal_under_every_rule_set():
    for rules in PRESETS.values():
        game = game_from(". O .\nO . .\n. . .", rules)
        assert game.illegal_reason(vertex(game, "A3"), BLACK) == "suicide"


def test_suicide_of_two_stones_depends_on_the_rules():
    for name, rules in PRESETS.items():
        game = game_from(". X O\nO O .\n. . .", rules)
        expected = None if name in ("tromp-taylor", "new-zealand", "nz", "ing", "goe") else "suicide"
        assert game.illegal_reason(vertex(game, "A3"), BLACK) == expected, name


# --- ko and superko ---


@pytest.mark.parametrize("ko", list(Ko))
def test_a_ko_may_not_be_retaken_at_once_by_the_opponent(ko: Ko):
    game = game_from(KO, Rules(ko=ko))
    game.play("B3", WHITE)
    assert game.ko_point == vertex(game, "C3")
    assert game.illegal_reason(game.ko_point, BLACK) == "ko"
    assert game.illegal_reason(game.ko_point, WHITE) is None, "the captor may fill it"
    assert game.ko_point not in game.legal_points(BLACK)
    with pytest.raises(IllegalMoveError, match="ko"):
        game.play("C3", BLACK, allow_superko=True)


@pytest.mark.parametrize("ko", list(Ko))
def test_after_a_threat_and_its_answer_the_ko_may_be_retaken(ko: Ko):
    game = game_from(KO, Rules(ko=ko))
    game.play("B3", WHITE)
    game.play("A1", BLACK)
    game.play("D1", WHITE)
    assert game.illegal_reason(vertex(game, "C3"), BLACK) is None


def test_passes_lift_the_simple_ko_but_no_superko():
    """White takes, Black passes, White passes: retaking repeats the board, with the same side to play as before."""
    reasons = {}
    for ko in Ko:
        game = game_from(KO, Rules(ko=ko), first_player=WHITE)
        for move in ("B3", "pass", "pass"):
            game.play(move)
        assert game.ko_point == NULL_POINT
        reasons[ko] = game.illegal_reason(vertex(game, "C3"), BLACK)
    assert reasons == {Ko.SIMPLE: None, Ko.POSITIONAL: "superko", Ko.SITUATIONAL: "superko"}


def test_situational_superko_looks_at_the_side_to_play():
    """The start had Black to play, the repetition leaves White to play: only the positional rule forbids it."""
    reasons = {}
    for ko in Ko:
        game = game_from(KO, Rules(ko=ko), first_player=BLACK)
        for move in ((WHITE, "B3"), (BLACK, "pass"), (WHITE, "pass")):
            game.play(move[1], move[0])
        reasons[ko] = game.illegal_reason(vertex(game, "C3"), BLACK)
    assert reasons == {Ko.SIMPLE: None, Ko.POSITIONAL: "superko", Ko.SITUATIONAL: None}


def test_sending_two_and_returning_one():
    """Black gives two stones, takes one back, and has the old board before it, but with White to play."""
    reasons = {}
    for ko in Ko:
        game = game_from(
            """
            . X . O .
            X O O O .
            X X X O .
            . . X O .""",
            Rules(ko=ko),
        )
        game.play("C4", BLACK)
        game.play("A4", WHITE)
        assert game.captures[WHITE] == 2
        reasons[ko] = game.illegal_reason(vertex(game, "B4"), BLACK)
    assert reasons == {Ko.SIMPLE: None, Ko.POSITIONAL: "superko", Ko.SITUATIONAL: None}


@pytest.mark.parametrize(("ko", "reason"), [(Ko.SIMPLE, None), (Ko.POSITIONAL, "superko"), (Ko.SITUATIONAL, "superko")])
def test_triple_ko(ko: Ko, reason: str | None):
    """Three kos taken in turn: the sixth move would bring the start back."""
    game = game_from(
        """
        . X O .
        X O . O
        . X O .
        . X O .
        X . X O
        . X O .
        . X O .
        X O . O
        . X O .""",
        Rules(ko=ko),
    )
    start = game.hash
    for text in ("C8", "B5", "C2", "B8", "C5"):
        game.play(text)
    assert game.illegal_reason(vertex(game, "B2")) == reason
    assert game.play("B2", allow_superko=True) == Move(WHITE, vertex(game, "B2"))
    assert game.hash == start


def test_allow_superko_plays_a_repetition_and_only_that():
    game = game_from(KO, Rules(ko=Ko.POSITIONAL), first_player=WHITE)
    for move in ("B3", "pass", "pass"):
        game.play(move)
    with pytest.raises(IllegalMoveError) as caught:
        game.play("C3")
    assert caught.value.reason == "superko"
    game.play("C3", allow_superko=True)
    assert position_of(game.board, 4, 4) == reference.parse(KO)
    with pytest.raises(IllegalMoveError):
        game.play("A4", WHITE, allow_superko=True)


def test_changing_the_rules_applies_to_the_whole_game():
    game = game_from(KO, Rules(ko=Ko.SIMPLE), first_player=WHITE)
    for move in ("B3", "pass", "pass"):
        game.play(move)
    assert game.is_legal("C3")
    game.rules = Rules(ko=Ko.POSITIONAL)
    assert game.illegal_reason(vertex(game, "C3")) == "superko"
    game.rules = Rules(ko=Ko.SIMPLE)
    assert game.is_legal("C3")


# --- undo ---


def random_moves(rng: random.Random, game: Game, count: int) -> list[Move]:
    """Play up to `count` random legal moves and passes, colours at random, and return them."""
    points = points_of(reference.empty_position(game.width, game.height))
    for _ in range(count):
        point, color = (PASS if rng.random() < 0.05 else rng.choice(points)), rng.choice((BLACK, WHITE))
        if game.illegal_reason(point, color) is None:
            game.play(point, color)
    return list(game.moves)


@pytest.mark.parametrize("ko", list(Ko))
@pytest.mark.parametrize("size", [(2, 2), (3, 4), (5, 5), (9, 9)])
def test_undo_equals_replaying_the_shorter_game(ko: Ko, size: tuple[int, int]):
    rng = random.Random(f"{ko} {size}")
    for _ in range(6):
        game = Game(*size, Rules(ko=ko))
        moves = random_moves(rng, game, 4 * size[0] * size[1])
        while game.moves:
            count = rng.randint(1, min(8, len(game.moves)))
            game.undo(count)
            del moves[-count:]
            replayed = Game(*size, Rules(ko=ko))
            for move in moves:
                replayed.play(move)
            assert state(game) == state(replayed)


def test_undo_restores_the_ko():
    game = game_from(KO)
    before = state(game)
    game.play("B3", WHITE)
    taken = state(game)
    game.play("A1", BLACK)
    game.undo()
    assert state(game) == taken
    assert game.illegal_reason(vertex(game, "C3"), BLACK) == "ko"
    game.undo()
    assert state(game) == before


def test_undo_forgets_positions_for_superko():
    """A position that was taken back may come again."""
    game = game_from(KO, Rules(ko=Ko.POSITIONAL), first_player=WHITE)
    game.play("D1")
    game.play("A1")
    game.undo(2)
    game.play("D1")
    game.play("A1")
    for move in ("B3", "pass", "pass"):
        game.play(move)
    assert game.illegal_reason(vertex(game, "C3")) == "superko"
    game.undo(3)
    game.play("B3")
    game.play("C1")
    game.play("B1")
    assert game.is_legal("C3")


def test_undo_after_a_tolerated_repetition_still_knows_the_first_occurrence():
    game = game_from(KO, Rules(ko=Ko.POSITIONAL), first_player=WHITE)
    for move in ("B3", "pass", "pass"):
        game.play(move)
    before = state(game)
    game.play("C3", allow_superko=True)
    game.undo()
    assert state(game) == before
    assert game.illegal_reason(vertex(game, "C3")) == "superko"


def test_undo_keeps_set_up_and_handicap():
    game = game_from(KO)
    before = state(game)
    game.play("A1")
    game.undo()
    assert state(game) == before
    with pytest.raises(CannotUndoError):
        game.undo()
    assert state(game) == before

    game = Game(9)
    game.set_handicap([vertex(game, "C3"), vertex(game, "G7")])
    before = state(game)
    with pytest.raises(CannotUndoError):
        game.undo()
    game.play("E5")
    game.undo()
    assert state(game) == before
    assert game.handicap == 2


@pytest.mark.parametrize("count", [3, 100, -1])
def test_undo_of_more_moves_than_played_changes_nothing(count: int):
    game = Game(9)
    game.play("C3")
    game.play("pass")
    before = state(game)
    with pytest.raises(CannotUndoError):
        game.undo(count)
    assert state(game) == before


def test_undo_of_several_moves_and_of_none():
    game = Game(9)
    before = state(game)
    for text in ("C3", "G7", "pass"):
        game.play(text)
    played = state(game)
    game.undo(0)
    assert state(game) == played
    game.undo(3)
    assert state(game) == before


# --- set-up, handicap, copies ---


def test_set_up_starts_a_new_history():
    game = Game(4, rules=Rules(ko=Ko.POSITIONAL))
    game.play("A1")
    game.play("D4")
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
        (["B E5"], "off-board"),
    ],
)
def test_set_up_refuses_impossible_positions_and_changes_nothing(stones: list[str], reason: str):
    game = Game(4)
    game.play("C3")
    before = state(game)
    wider = Game(5)
    moves = []
    for stone in stones:
        color, text = stone.split()
        board = wider if text == "E5" else game
        moves.append(Move(BLACK if color == "B" else WHITE, vertex(board, text)))
    if reason == "off-board":
        moves = [Move(BLACK, 3)]
    with pytest.raises(IllegalMoveError) as caught:
        game.set_up(moves)
    assert caught.value.reason == reason
    assert state(game) == before


def test_set_up_of_a_crowded_position_captures_nothing():
    """Both chains have their last liberty at B1."""
    game = game_from("X X X\nO O X\nO . X")
    assert position_of(game.board, 3, 3) == reference.parse("X X X\nO O X\nO . X")
    game.play("B1", BLACK)
    assert game.captures == {BLACK: 3, WHITE: 0}


def test_the_start_counts_for_superko():
    game = game_from(KO, Rules(ko=Ko.SITUATIONAL), first_player=WHITE)
    for move in ("B3", "pass", "pass"):
        game.play(move)
    assert game.illegal_reason(vertex(game, "C3")) == "superko"


def test_handicap_stones_are_blacks_and_white_moves():
    game = Game(9)
    points = [vertex(game, text) for text in ("C3", "G7", "C7")]
    game.set_handicap(points)
    assert game.handicap == 3
    assert game.to_play == WHITE
    assert game.moves == ()
    assert [game.color_at(point) for point in points] == [BLACK] * 3
    assert game.captures == {BLACK: 0, WHITE: 0}


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
    game.play("pass")
    game.play("pass")
    assert (game.consecutive_passes, game.is_over) == (2, True)
    game.play("D4")
    assert (game.consecutive_passes, game.is_over) == (0, False)


def test_passes_are_legal_and_change_no_stone():
    game = game_from(KO)
    before = position_of(game.board, 4, 4), game.hash
    for color in (BLACK, WHITE, WHITE, BLACK):
        assert game.illegal_reason(PASS, color) is None
        game.play("PASS", color)
    assert (position_of(game.board, 4, 4), game.hash) == before
    assert game.last_move == Move(BLACK, PASS)


def test_legal_points_leave_out_the_pass_and_are_in_reading_order():
    game = game_from(KO)
    vertices = [format_vertex(point, width=4, height=4) for point in game.legal_points(WHITE)]
    assert vertices == ["D4", "B3", "A2", "D2", "A1", "B1", "C1", "D1"]


# --- the whole against the oracle, from set-up positions ---


@pytest.mark.parametrize("first_player", [BLACK, WHITE])
@pytest.mark.parametrize("ko", list(Ko))
def test_games_from_set_up_positions_agree_with_the_oracle(ko: Ko, first_player: int):
    rng = random.Random(f"{ko} {first_player}")
    for diagram in (KO, ". X . O .\nX O O O .\nX X X O .\n. . X O .", "X.O.\nXXOX\nO.X.\n.OX.", ".OX.\nX.OX\nXXOO\n.XO."):
        for suicide in (False, True):
            game = game_from(diagram, Rules(ko=ko, suicide=suicide), first_player)
            oracle = reference.ReferenceGame(
                reference.parse(diagram), ko=ko.lower(), suicide=suicide, first_player=CHARACTER[first_player]
            )
            points = points_of(oracle.position)
            for _ in range(60):
                for color in (BLACK, WHITE):
                    legal = [points[i] for i in oracle.legal_points(CHARACTER[color])]
                    assert game.legal_points(color) == legal
                color = game.to_play if rng.random() < 0.8 else rng.choice((BLACK, WHITE))
                legal = oracle.legal_points(CHARACTER[color])
                index = rng.choice(legal) if legal and rng.random() < 0.9 else reference.PASS
                oracle.play(index, CHARACTER[color])
                game.play(PASS if index == reference.PASS else points[index], color)
