"""Ko and superko as `Game` knows them: drawn positions, and games from set-up positions against the oracle."""

import random

import pytest
import reference
from board_helpers import CHARACTER, KO, game_from, play_moves, points_of, position_of, vertex
from superko_games import LAP, triple_ko

from gtp_engine import Game, IllegalMoveError, Move, Rules
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.rules import Ko

SNAPBACK = """
    . X . O .
    X O O O .
    X X X O .
    . . X O ."""
"""Black gives two stones, takes one back, and has the old board before it, but with White to play."""


@pytest.mark.parametrize(
    ("diagram", "first_player", "moves", "vertex", "situational"),
    [
        (KO, WHITE, "W B3, B pass, W pass", "C3", "superko"),
        (KO, BLACK, "W B3, B pass, W pass", "C3", None),
        (SNAPBACK, BLACK, "B C4, W A4", "B4", None),
    ],
    ids=["passes lift the simple ko only", "with the other side to play", "sending two, returning one"],
)
def test_superko_forbids(diagram: str, first_player: int, moves: str, vertex: str, situational: str | None) -> None:
    expected = {Ko.SIMPLE: None, Ko.POSITIONAL: "superko", Ko.SITUATIONAL: situational}
    for ko in Ko:
        game = game_from(diagram, Rules(ko=ko), first_player)
        for move in moves.split(", "):
            color, text = move.split()
            game.play(text, color)
        assert game.illegal_reason(vertex, BLACK) == expected[ko]


@pytest.mark.parametrize(("ko", "reason"), [(Ko.SIMPLE, None), (Ko.POSITIONAL, "superko"), (Ko.SITUATIONAL, "superko")])
def test_triple_ko(ko: Ko, reason: str | None):
    """Three kos taken in turn: the sixth move would bring the start back."""
    game = triple_ko(Rules(ko=ko).to_json(), moves=5)
    start = triple_ko("chinese").hash
    assert game.illegal_reason(vertex(game, "B2")) == reason
    assert game.play("B2", tolerant=True) == Move(WHITE, vertex(game, "B2"))
    assert game.hash == start


SUICIDES = """
    . O X .
    X X . .
    . . . X
    . . X ."""
"""A move of White's on A4 kills two of its stones, one on D1 itself."""


@pytest.mark.parametrize(
    ("ko", "moves", "illegal", "reason", "is_recorded"),
    [
        (Ko.POSITIONAL, "B3 pass pass", "C3", "superko", True),
        (Ko.SIMPLE, "B3", "C3", "ko", True),
        (Ko.POSITIONAL, "B3", "C3", "ko", True),
        (Ko.SIMPLE, "", "A4", "suicide", True),
        (Ko.SIMPLE, "", "D1", "suicide", False),
        (Ko.SIMPLE, "", "B4", "occupied", False),
    ],
)
def test_tolerance_is_for_what_records_contain(ko: Ko, moves: str, illegal: str, reason: str, is_recorded: bool):
    game = play_moves(game_from(KO if moves else SUICIDES, Rules(ko=ko, suicide=False), first_player=WHITE), moves)
    with pytest.raises(IllegalMoveError) as caught:
        game.play(illegal)
    assert caught.value.reason == reason
    if not is_recorded:
        with pytest.raises(IllegalMoveError):
            game.play(illegal, tolerant=True)
        return
    game.play(illegal, tolerant=True)
    copied = game.copy()
    copied.undo()
    copied.play(illegal, tolerant=True)
    assert copied == game
    assert position_of(copied.board, 4, 4) == position_of(game.board, 4, 4)


def test_changing_the_rules_applies_to_the_whole_game():
    game = play_moves(game_from(KO, Rules(ko=Ko.SIMPLE), first_player=WHITE), "B3 pass pass")
    assert game.is_legal("C3")
    game.rules = Rules(ko=Ko.POSITIONAL)
    assert game.illegal_reason(vertex(game, "C3")) == "superko"
    game.rules = Rules(ko=Ko.SIMPLE)
    assert game.is_legal("C3")


STARTS = (KO, SNAPBACK, "X.O.\nXXOX\nO.X.\n.OX.", ".OX.\nX.OX\nXXOO\n.XO.")
"""Positions in which repetitions and suicides are near."""


@pytest.mark.parametrize("first_player", [BLACK, WHITE])
@pytest.mark.parametrize("ko", list(Ko))
def test_games_from_set_up_positions_agree_with_the_oracle(ko: Ko, first_player: int):
    rng = random.Random(f"{ko} {first_player}")
    for diagram in STARTS:
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


def test_the_pass_that_takes_the_button_ends_the_history() -> None:
    """White B3 recreates the position before Black C3; KataGo 1.17.2 plays it under aga-button, and not under aga."""
    game = play_moves(Game(5, rules=Rules.parse("aga-button"), komi=7), "B2 C2 A3 D3 B4 C4 C3 B3 E5 E1 C3 pass pass")
    assert game.illegal_reason(vertex(game, "B3"), WHITE) is None
    game.rules = Rules.parse("aga")
    assert game.illegal_reason(vertex(game, "B3"), WHITE) == "superko"
    game.rules = Rules.parse("aga-button")
    assert game.illegal_reason(vertex(game, "B3"), WHITE) is None
    game.undo()
    game.play("C1")
    game.undo()
    game.play("pass")
    assert game.illegal_reason(vertex(game, "B3"), WHITE) is None


@pytest.mark.parametrize(
    ("rules", "moves", "more", "has_no_result"),
    [
        ("japanese", 11, "", False),
        ("japanese", 11, LAP[-1], True),
        ("chinese", 12, "", True),
        ("chinese", 12, "J9", False),
        ("tromp-taylor", 12, "", False),
        ("chinese", 6, f"pass pass {' '.join(LAP)}", False),
        ("chinese", 6, f"pass pass {' '.join(LAP)} {' '.join(LAP)}", True),
    ],
)
def test_a_third_occurrence_since_a_pass_has_no_result(rules: str, moves: int, more: str, has_no_result: bool) -> None:
    """Under simple ko, without a pass in between; play may go on and leave the cycle."""
    game = triple_ko("chinese", moves=moves)
    game.rules = Rules.parse(rules)
    play_moves(game, more)
    assert (game.has_no_result, game.copy().has_no_result, game.is_over) == (has_no_result, has_no_result, False)
    game.play("pass")
    assert not game.has_no_result
    game.undo()
    assert game.has_no_result == has_no_result
