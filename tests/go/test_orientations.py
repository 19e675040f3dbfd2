"""Games in their eight orientations, as arrays and as diagrams, and as the inputs of networks."""

import random

import numpy as np
import pytest
from board_helpers import random_moves

from gtp_engine import WHITE, ArgumentError, Game, IllegalMoveError, InvalidSizeError, Move, Rules, encode

SIZES = [(2, 2), (9, 9), (5, 3), (19, 19)]


def random_game(size: tuple[int, int]) -> Game:
    rng = random.Random(str(size))
    game = Game(*size, rules="japanese")
    game.set_up([Move(1, point) for point in rng.sample(game.legal_points(), 2)], "white")
    random_moves(rng, game, 60)
    game.to_play = game.to_play.opponent
    return game


@pytest.mark.parametrize("size", SIZES)
def test_orientations_are_those_of_arrays(size: tuple[int, int]) -> None:
    game = random_game(size)
    for number, turned in enumerate(game.symmetries()):
        colors = game.to_numpy()[:: -1 if number & 1 else 1, :: -1 if number & 2 else 1]
        assert (turned.to_numpy() == (colors.T if number & 4 else colors)).all()
        assert (turned.captures, turned.to_play, turned.rules) == (game.captures, game.to_play, game.rules)
        assert [*turned.moves] == [Move(color, point.transformed(number)) for color, point in game.moves]
        assert turned.canonical_hash == game.canonical_hash <= turned.hash
    assert min(turned.hash for turned in game.symmetries()) == game.canonical_hash
    assert game.transformed(5).transformed(6) == game


def test_other_positions_have_other_canonical_hashes() -> None:
    games = [Game(5) for _ in range(4)]
    for game, vertex in zip(games, ("A1", "E5", "B1", "A2"), strict=True):
        game.play(vertex)
    assert games[0].canonical_hash == games[1].canonical_hash != games[2].canonical_hash == games[3].canonical_hash
    with pytest.raises(ArgumentError, match="symmetry 8"):
        games[0].transformed(8)


@pytest.mark.parametrize("size", SIZES)
def test_a_diagram_gives_the_position_back(size: tuple[int, int]) -> None:
    game = random_game(size)
    again = Game.from_diagram(game.diagram(), rules=game.rules)
    assert (again.stones, again.to_play, again.hash) == (game.stones, game.to_play, game.hash)
    assert Game.from_diagram(again.diagram()).to_numpy().tolist() == game.to_numpy().tolist()


def test_diagrams_without_borders_and_wrong_ones() -> None:
    game = Game.from_diagram("X.O\n. # +\n.@.", to_play="white", rules=Rules.parse("japanese"))
    assert game.to_numpy().tolist() == [[1, 0, 2], [0, 1, 0], [0, 2, 0]]
    assert (game.to_play, game.rules.preset_name()) == (WHITE, "japanese")
    for text in ("", "X.\n...", "X?O"):
        with pytest.raises(ArgumentError, match="diagram"):
            Game.from_diagram(text)
    with pytest.raises(InvalidSizeError):
        Game.from_diagram(".")
    with pytest.raises(IllegalMoveError):
        Game.from_diagram("XO\nOO")


def test_games_are_encoded_as_their_orientations() -> None:
    """In any number, and each as if it were alone."""
    games = [random_game((9, 9)), Game(9), *(Game(9, komi=number / 4) for number in range(300))]
    spatial, values = encode(games)
    assert (spatial.shape, values.shape, spatial.dtype) == ((302, 22, 9, 9), (302, 19), np.float32)
    for number in (0, 1, 256, 301):
        alone = encode([games[number]])
        assert (alone.spatial[0] == spatial[number]).all() and (alone.globals_[0] == values[number]).all()
    assert len({tuple(row) for row in values[2:].tolist()}) == 300, "komi is a value"
    for number, turned in enumerate(games[0].symmetries()):
        assert (encode([turned]).spatial == encode([games[0]], symmetry=number).spatial).all()
    assert (spatial[0, 0] == 1).all()
    own = spatial[0, 1] if games[0].to_play == 1 else spatial[0, 2]
    assert (own == (games[0].to_numpy() == 1)).all()


def test_what_cannot_be_encoded_is_refused() -> None:
    for games, name, symmetry in (([], "katago-v7", 0), ([Game(9)], "mine", 0), ([Game(9, 7)], "katago-v7", 4)):
        with pytest.raises(ArgumentError, match=r"encode|mine|symmetry 4"):
            encode(games, name, symmetry=symmetry)
    with pytest.raises(InvalidSizeError, match="2 sizes"):
        encode([Game(9), Game(13)])
