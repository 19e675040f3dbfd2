"""The AlphaGo planes: counts and names, whole-board maps of drawn positions, an oracle on random games, symmetry laws.

In the maps of a count, a digit is the plane that is set, counted from 1 ("8" is the last: 8 or more), and "." is none.
"""

import random

import numpy as np
import pytest
import reference
from board_helpers import COLOR, action_to_point, fingerprint, game_from, random_moves, rows, vertex
from superko_games import game_with_superko
from training.alphago.alphago_oracle import AlphaGoOracle

from gtp_engine.evaluation.from_game import write_game
from gtp_engine.evaluation.positions import FloatArray, new_positions, view_board
from gtp_engine.go.constants import BLACK, PASS, WHITE, opponent
from gtp_engine.go.coords import Move, board_points, point_to_xy, transform, xy_to_point
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules
from gtp_engine.nn.encoders import Inputs
from gtp_engine.nn.symmetry import symmetry_count
from gtp_engine.training.alphago.planes import FEATURES, planes_of
from gtp_engine.training.alphago.planes_encoder import AlphaGoEncoder

MOVE_FEATURES = [*FEATURES][5:-1]
"""Those that are about a move of the side to play."""

TROMP_TAYLOR = Rules.parse("tromp-taylor")
CHINESE = Rules.parse("chinese")


def encode(game: Game, to_play: int | None = None, symmetry: int = 0) -> FloatArray:
    """Return the 49 planes of a game's position, float32[49, H, W]; values that are not written stay NaN."""
    positions = new_positions(1, game.width, game.height)
    write_game(positions, 0, game, to_play)
    spatial = np.full((1, 49, game.height, game.width), np.nan, dtype=np.float32)
    symmetries = np.array([symmetry], dtype=np.int32)
    no_globals = np.zeros((1, 0), dtype=np.float32)
    encoder = AlphaGoEncoder(game.width, game.height, player_color=True)
    encoder.encode(positions, range(1), symmetries, Inputs(spatial, no_globals))
    return spatial[0]


def grid(planes: FloatArray, feature: str) -> str:
    """Return a feature as rows of digits: the plane set at each point counted from 1, "." for none."""
    part = planes[list(planes_of(feature))]
    assert set(np.unique(part)) <= {0.0, 1.0}
    assert part.sum(axis=0).max() <= 1, "no two planes of a feature are set at one point"
    numbers = (part * np.arange(1, len(part) + 1)[:, None, None]).sum(axis=0).astype(int)
    return "\n".join("".join(str(n) if n else "." for n in row) for row in numbers)


def tidy(diagram: str) -> str:
    return "\n".join(line.replace(" ", "") for line in diagram.strip().splitlines())


def check(game: Game, feature: str, expected: str, to_play: int | None = None) -> None:
    assert grid(encode(game, to_play), feature) == tidy(expected)


def play(game: Game, *vertices: str) -> Game:
    """Play alternating moves, a vertex or "pass", and return the game."""
    for text in vertices:
        game.play(PASS if text == "pass" else vertex(game, text))
    return game


class TestTable:
    """Extended data table 2 of the paper."""

    def test_names_and_numbers_of_planes(self) -> None:
        assert list(FEATURES.items()) == [
            ("stone colour", 3),
            ("ones", 1),
            ("zeros", 1),
            ("turns since", 8),
            ("liberties", 8),
            ("capture size", 8),
            ("self-atari size", 8),
            ("liberties after move", 8),
            ("ladder capture", 1),
            ("ladder escape", 1),
            ("sensibleness", 1),
            ("player color", 1),
        ]

    def test_planes_are_found_by_name(self) -> None:
        found = [plane for feature in FEATURES for plane in planes_of(feature)]
        assert found == list(range(49))
        assert planes_of("self-atari size") == range(29, 37)
        with pytest.raises(KeyError):
            planes_of("komi")

    def test_the_policy_planes_are_the_first_of_the_value_planes(self) -> None:
        game = play(Game(5), "C3", "B2", "D4")
        positions = new_positions(1, 5, 5)
        write_game(positions, 0, game)
        spatial = np.full((1, 48, 5, 5), np.nan, dtype=np.float32)
        no_globals, symmetries = np.zeros((1, 0), dtype=np.float32), np.zeros(1, dtype=np.int32)
        AlphaGoEncoder(5, 5).encode(positions, range(1), symmetries, Inputs(spatial, no_globals))
        assert np.array_equal(spatial[0], encode(game)[:48])


class TestConstants:
    """Planes that are the same everywhere."""

    @pytest.mark.parametrize(("to_play", "color"), [(BLACK, 1), (WHITE, 0)])
    def test_ones_zeros_and_player_color(self, to_play: int, color: int) -> None:
        planes = encode(play(Game(3, 4), "B2"), to_play)
        for feature, value in (("ones", 1), ("zeros", 0), ("player color", color)):
            assert (planes[planes_of(feature)[0]] == value).all(), feature


STONES = """
    . X O . .
    X O . O .
    . X O . .
    . . . . X"""

KO = """
    . X O .
    X . X O
    . X O .
    . . . ."""
"""White takes a ko at B3."""


class TestStones:
    """Features of the stones on the board."""

    def test_stone_colour_is_player_opponent_empty(self) -> None:
        check(game_from(STONES), "stone colour", "31233 \n 12323 \n 31233 \n 33331")
        check(game_from(STONES), "stone colour", "32133 \n 21313 \n 32133 \n 33332", WHITE)

    def test_turns_since(self) -> None:
        game = play(Game(5), "A5", "B5", "C5", "D5", "E5", "A1", "B1", "C1", "D1", "E1")
        check(game, "turns since", "88876 \n ..... \n ..... \n ..... \n 54321")

    def test_a_pass_is_a_turn(self) -> None:
        game = play(Game(5), "A5", "pass", "C5", "pass")
        check(game, "turns since", "4.2.. \n ..... \n ..... \n ..... \n .....")

    def test_set_up_stones_are_old(self) -> None:
        game = play(game_from(STONES), "E4")
        check(game, "turns since", ".88.1 \n 88.8. \n .88.. \n ....8")

    def test_a_point_played_again_counts_from_its_last_stone(self) -> None:
        """White takes the ko at B3, and later connects at C3, where the stone taken had been set up."""
        game = play(game_from(KO, first_player=WHITE), "B3", "D1", "C3", "C1")
        check(game, "turns since", ".88. \n 8428 \n .88. \n ..13")

    def test_liberties_of_chains(self) -> None:
        game = game_from(
            """
            X X . . . .
            O . . X . .
            O . X X X .
            . . . X . .
            O . . . X X"""
        )
        check(game, "liberties", "22.... \n 3..8.. \n 3.888. \n ...8.. \n 2...33")


class TestMoves:
    """Features of the moves of the side to play."""

    def test_capture_size(self) -> None:
        game = game_from(
            """
            . O O O O X .
            X X X X X . .
            . X O . X O .
            X O O X . . .
            . X X . . . ."""
        )
        check(game, "capture size", "4...... \n ....... \n ...3... \n ....... \n .......")
        check(game, "liberties after move", "8.....2 \n .....63 \n 5..8..2 \n ....733 \n 2..4332")

    def test_self_atari_size(self) -> None:
        game = game_from(
            """
            X X . . O .
            O O O O . .
            . . . . . .
            . . . . O O
            . . . . O ."""
        )
        check(game, "self-atari size", "..31.1 \n ...... \n ...... \n ...... \n ......")

    def test_capturing_can_be_self_atari(self) -> None:
        """The ko, besides two moves that capture nothing; the ban keeps all planes of the recapture empty."""
        game = game_from(KO, first_player=WHITE)
        check(game, "capture size", ".... \n .1.. \n .... \n ....")
        check(game, "self-atari size", "...3 \n .1.. \n 1... \n ....")
        play(game, "B3")
        check(game, "capture size", ".... \n .... \n .... \n ....")
        check(game, "self-atari size", "3... \n .... \n ...1 \n ....")

    def test_superko_forbids_too(self) -> None:
        game, banned = game_with_superko("tromp-taylor")
        planes = encode(game)
        move_features = [plane for feature in MOVE_FEATURES for plane in planes_of(feature)]
        for point in banned:
            x, y = point_to_xy(point, width=game.width)
            assert not planes[move_features, y, x].any()

    def test_allowed_suicide_is_self_atari_of_all_its_stones(self) -> None:
        diagram = """
            X X . O . .
            O O O . . .
            . . . . . .
            . . . . O O
            . . . . O ."""
        planes = {"self-atari size": "..3...", "liberties after move": "....22", "sensibleness": "..1.11"}
        for feature, first_row in planes.items():
            assert grid(encode(game_from(diagram, TROMP_TAYLOR)), feature).splitlines()[0] == first_row
            expected = first_row.replace("3", ".") if feature != "sensibleness" else "....11"
            assert grid(encode(game_from(diagram, CHINESE)), feature).splitlines()[0] == expected

    def test_liberties_after_move(self) -> None:
        check(game_from(STONES), "liberties after move", "1..12 \n ..1.2 \n 3..23 \n 2323.")

    def test_sensibleness_excludes_illegal_moves_and_real_own_eyes(self) -> None:
        """White's corner is a false eye: filling it stays sensible."""
        diagram = """
            . X . X O .
            X X X X O O
            . X O O O .
            O X O . O O
            . O O O O ."""
        check(game_from(diagram), "sensibleness", "...... \n ...... \n 1..... \n ...... \n ......")
        check(game_from(diagram), "sensibleness", "...... \n ...... \n 1..... \n ...... \n 1.....", WHITE)


LADDER = """
    . . . . . . . . .
    . . . X . . . . .
    . . X O . . . . .
    . . X . . . . . .
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . ."""
BREAKER = "F4"
NOTHING = "\n".join(["." * 9] * 9)


def marks(*vertices: str) -> str:
    """Return a map of 9 by 9 points with 1 on the vertices."""
    game = Game(9)
    points = {vertex(game, text) for text in vertices}
    return rows("".join("1" if action_to_point(i, width=9, height=9) in points else "." for i in range(81)), 9)


class TestLadders:
    """Ladder capture and ladder escape."""

    def test_the_atari_that_works_is_a_ladder_capture(self) -> None:
        check(game_from(LADDER), "ladder capture", marks("E7"))
        check(game_from(LADDER), "ladder escape", NOTHING)

    def test_it_is_not_one_for_the_other_side(self) -> None:
        check(game_from(LADDER), "ladder capture", NOTHING, WHITE)

    def test_a_ladder_breaker_reverses_both(self) -> None:
        game = play(game_from(LADDER, first_player=WHITE), BREAKER)
        check(game, "ladder capture", NOTHING)
        check(play(game, "E7"), "ladder escape", marks("D6"))

    def test_capturing_an_attacker_is_an_escape(self) -> None:
        game = game_from(
            """
            . . . . . . .
            . O X X . . .
            O X O . X . .
            . . X X . . .
            . O . . . . .
            . . . . . . ."""
        )
        check(game, "ladder escape", "....... \n ....... \n ....... \n .1..... \n ....... \n .......", WHITE)


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


def replayed(moves: list[Move], size: tuple[int, int], *, swapped: bool = False, symmetry: int = 0) -> Game:
    """Return a game of these moves, shown through a symmetry, the colours exchanged if `swapped`."""
    width, height = size
    game = Game(width, height, TROMP_TAYLOR)
    for color, point in moves:
        x, y = transform(*point_to_xy(point, width=width), symmetry, width=width, height=height)
        place = PASS if point == PASS else xy_to_point(x, y, width=width)
        game.play(place, opponent(color) if swapped else color)
    return game


def some_moves(size: tuple[int, int]) -> list[Move]:
    return random_moves(random.Random(f"{size}"), Game(*size, TROMP_TAYLOR), 150)


SIZES = [(3, 3), (5, 5), (4, 6), (9, 9), (19, 19)]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_symmetry_of_the_encoder_is_that_of_the_board(size: tuple[int, int]) -> None:
    moves = some_moves(size)
    game = replayed(moves, size)
    for symmetry in range(symmetry_count(*size)):
        assert np.array_equal(encode(game, symmetry=symmetry), encode(replayed(moves, size, symmetry=symmetry)))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_exchanging_the_colours_changes_only_the_colour_plane(size: tuple[int, int]) -> None:
    moves = some_moves(size)
    planes, swapped = encode(replayed(moves, size)), encode(replayed(moves, size, swapped=True))
    assert np.array_equal(planes[:48], swapped[:48])
    assert np.array_equal(planes[48], 1 - swapped[48])


def test_no_other_rows_are_written_and_boards_are_restored() -> None:
    positions = new_positions(3, 9, 9)
    game = replayed(some_moves((9, 9)), (9, 9))
    for row in range(3):
        write_game(positions, row, game)
    before = [fingerprint(view_board(positions, row)) for row in range(3)]
    spatial = np.full((3, 48, 9, 9), np.nan, dtype=np.float32)
    symmetries, no_globals = np.array([0, 5, 0], dtype=np.int32), np.zeros((3, 0), dtype=np.float32)
    AlphaGoEncoder(9, 9).encode(positions, range(1, 2), symmetries, Inputs(spatial, no_globals))
    assert np.isnan(spatial[[0, 2]]).all()
    assert np.array_equal(spatial[1], encode(game, symmetry=5)[:48])
    assert [fingerprint(view_board(positions, row)) for row in range(3)] == before
