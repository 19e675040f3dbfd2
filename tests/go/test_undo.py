"""`Game.undo`: taking moves back equals playing the shorter game, in every respect."""

import random
from typing import Any

import pytest
from board_helpers import KO, game_from, play_moves, random_moves, state, vertex

from gtp_engine import CannotUndoError, Game, Rules
from gtp_engine.go.constants import WHITE
from gtp_engine.go.rules import Ko


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
            replayed = play_moves(Game(*size, Rules(ko=ko)), moves)
            assert state(game) == state(replayed)


def test_undo_after_a_tolerated_repetition_still_knows_the_first_occurrence():
    game = play_moves(game_from(KO, Rules(ko=Ko.POSITIONAL), first_player=WHITE), "B3 pass pass")
    before = state(game)
    game.play("C3", tolerant=True)
    game.undo()
    assert state(game) == before
    assert game.illegal_reason(vertex(game, "C3")) == "superko"


@pytest.mark.parametrize("count", [3, 100, -1, None, "1"])
def test_undo_of_more_moves_than_played_changes_nothing(count: Any):
    """Nor does it take back the set-up."""
    start = state(game_from(KO))
    game = play_moves(game_from(KO), "A1 pass")
    before = state(game)
    with pytest.raises(CannotUndoError):
        game.undo(count)
    assert state(game) == before
    game.undo(2)
    assert state(game) == start
