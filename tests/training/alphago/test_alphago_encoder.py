"""The AlphaGo planes: counts and names, whole-board maps of drawn positions, an oracle on random games, symmetry laws.

In the maps of a count, a digit is the plane that is set, counted from 1 ("8" is the last: 8 or more), and "." is none.
"""

import random
from unittest.mock import patch

import numpy as np
import pytest
import reference
from board_helpers import COLOR, KO, action_to_point, fingerprint, game_from, play_moves, random_moves, vertex
from katago_inputs import inputs_of_nan
from training.alphago.alphago_oracle import FEATURES, AlphaGoOracle, planes_of

from gtp_engine import Game, Rules
from gtp_engine.evaluation.from_game import write_game
from gtp_engine.evaluation.positions import FloatArray, new_positions, view_board
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import board_points
from gtp_engine.nn.symmetry import symmetry_count
from gtp_engine.training.alphago.planes_encoder import AlphaGoEncoder

TROMP_TAYLOR = Rules.parse("tromp-taylor")


def encode(game: Game, to_play: int | None = None, symmetry: int = 0) -> FloatArray:
    """Return the 49 planes of a game's position, float32[49, H, W]; values that are not written stay NaN."""
    positions = new_positions(1, game.width, game.height)
    write_game(positions, 0, game, to_play)
    encoder = AlphaGoEncoder(game.width, game.height, player_color=True)
    with patch("gtp_engine.training.alphago.planes_encoder.new_inputs", inputs_of_nan):
        return encoder.encode(positions, range(1), np.array([symmetry], dtype=np.int32)).spatial[0]


def grid(planes: FloatArray, feature: str) -> str:
    """Return a feature as rows of digits: the plane set at each point counted from 1, "." for none."""
    part = planes[list(planes_of(feature))]
    assert set(np.unique(part)) <= {0.0, 1.0}
    assert part.sum(axis=0).max() <= 1, "no two planes of a feature are set at one point"
    numbers = (part * np.arange(1, len(part) + 1)[:, None, None]).sum(axis=0).astype(int)
    return "\n".join("".join(str(n) if n else "." for n in row) for row in numbers)


STONES = """
    . X O . .
    X O . O .
    . X O . .
    . . . . X"""

TAKES_KO = (KO, WHITE, "B3 D1 C3 C1")
"""White takes the ko at B3, and later connects at C3, where the stone taken had been set up."""


@pytest.mark.parametrize(
    ("diagram", "first", "moves", "feature", "expected"),
    [
        (STONES, BLACK, "", "stone colour", "31233 12323 31233 33331"),
        ("", BLACK, "A5 B5 C5 D5 E5 A1 B1 C1 D1 E1", "turns since", "88876 ..... ..... ..... 54321"),
        (STONES, BLACK, "E4", "turns since", ".88.1 88.8. .88.. ....8"),  # set-up stones are old
        (*TAKES_KO, "turns since", ".88. 8428 .88. ..13"),
    ],
)
def test_maps(diagram: str, first: int, moves: str, feature: str, expected: str) -> None:
    game = game_from(diagram, first_player=first) if diagram else Game(5)
    assert grid(encode(play_moves(game, moves)), feature).split() == expected.split()


LADDER = (
    """
    . . . . . . . . .
    . . . X . . . . .
    . . X O . . . . .
    . . X . . . . . .
"""
    + 5 * ". . . . . . . . .\n"
)


@pytest.mark.parametrize(
    ("moves", "feature", "to_play", "vertices"),
    [
        ("", "ladder capture", BLACK, "E7"),
        ("", "ladder escape", BLACK, ""),
        ("", "ladder capture", WHITE, ""),
        ("pass F4", "ladder capture", BLACK, ""),  # a ladder breaker reverses both
        ("pass F4 E7", "ladder escape", WHITE, "D6"),
    ],
)
def test_ladders(moves: str, feature: str, to_play: int, vertices: str) -> None:
    game = play_moves(game_from(LADDER), moves)
    (plane,) = encode(game, to_play)[list(planes_of(feature))]
    expected = {vertex(game, text) for text in vertices.split()}
    assert {action_to_point(int(action), width=9, height=9) for action in plane.ravel().nonzero()[0]} == expected


@pytest.mark.parametrize("rules", ["chinese", "tromp-taylor", "japanese"])
@pytest.mark.parametrize("size", [(2, 2), (3, 3), (5, 5), (4, 7), (7, 7), (9, 9)], ids=str)
def test_random_games_agree_with_the_oracle(size: tuple[int, int], rules: str) -> None:
    parsed = Rules.parse(rules)
    rng = random.Random(f"{size} {rules}")
    game = Game(*size, parsed)
    oracle = reference.ReferenceGame(
        reference.empty_position(*size), ko=parsed.ko.value.lower(), suicide=parsed.suicide
    )
    points = board_points(*size)
    for number in range(2 * len(points)):
        color = rng.choice("XO") if rng.random() < 0.1 else "XO"[number % 2]
        has_passed = bool(oracle.moves) and oracle.moves[-1][1] == reference.PASS
        legal = oracle.legal_points(color)  # two passes would end the game, and begin a new history
        if has_passed and not legal:
            break
        move = rng.choice(legal if has_passed else [*legal, reference.PASS])
        oracle.play(move, color)
        game.play(PASS if move == reference.PASS else points[move], COLOR[color])
        if number % max(1, len(points) // 8) == 0:
            for player in "XO":
                expected, found = AlphaGoOracle(oracle, player).planes(), encode(game, COLOR[player])
                for feature in FEATURES:
                    assert grid(found, feature) == grid(expected, feature), (feature, number, player)


def some_game(size: tuple[int, int]) -> Game:
    game = Game(*size, TROMP_TAYLOR)
    random_moves(random.Random(f"{size}"), game, 150)
    return game


@pytest.mark.parametrize("size", [(3, 3), (5, 5), (4, 6), (9, 9), (19, 19)], ids=str)
def test_a_symmetry_of_the_encoder_is_that_of_the_board(size: tuple[int, int]) -> None:
    game = some_game(size)
    for symmetry in range(symmetry_count(*size)):
        assert np.array_equal(encode(game, symmetry=symmetry), encode(game.transformed(symmetry)))


def test_any_rows_are_shown_in_their_order_and_boards_are_restored() -> None:
    positions = new_positions(3, 9, 9)
    game = some_game((9, 9))
    for row, each in enumerate((game, Game(9), game)):
        write_game(positions, row, each)
    before = [fingerprint(view_board(positions, row)) for row in range(3)]
    spatial = AlphaGoEncoder(9, 9).encode(positions, [2, 1], np.array([5, 0], dtype=np.int32)).spatial
    assert np.array_equal(spatial[0], encode(game, symmetry=5)[:48])
    assert np.array_equal(spatial[1], encode(Game(9))[:48])
    assert [fingerprint(view_board(positions, row)) for row in range(3)] == before
