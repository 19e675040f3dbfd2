"""KataGo's planes: whole-board maps of drawn positions, an oracle on random games, symmetry laws, the ladder cache."""

import random

import numpy as np
import pytest
from board_helpers import action_to_point, game_from, random_moves
from katago_inputs import draw, encode, play, row_of, tidy
from katago_oracle import KatagoOracle

from gtp_engine.evaluation.from_game import write_game
from gtp_engine.evaluation.positions import ENDS, FIRST_CLEANUP, SECOND_CLEANUP, Positions, new_positions
from gtp_engine.go.constants import BLACK, NULL_POINT, PASS, WHITE
from gtp_engine.go.coords import board_points, is_on_board, point_to_xy, transform
from gtp_engine.go.game import Game
from gtp_engine.go.rules import PRESETS, Rules
from gtp_engine.nn.encoders import KatagoV7Encoder
from gtp_engine.nn.symmetry import NO_CELL, cell_table, symmetry_count

TROMP_TAYLOR = Rules.parse("tromp-taylor")
CHINESE = Rules.parse("chinese")
JAPANESE = Rules.parse("japanese")
AREA_PLANES = {18: "m", 19: "t"}
"""Grids: "m" is mine (the side to move's), "t" theirs."""


class TestCleanup:
    DIAGRAM = """
        . X . O . .
        X X . O O O
        X X O O . X"""

    START = ".X.O..XX..OOXXOO.."

    def row(self, phase: int) -> tuple[Game, Positions]:
        """Return a game, and its position in a phase; White's stone in the middle row is of the second one."""
        game = game_from(self.DIAGRAM, JAPANESE)
        row = row_of(game)
        row.phase[0] = phase
        row.no_retake[0, action_to_point(5 + 12, width=6, height=3)] = 1
        if phase == SECOND_CLEANUP:
            for action, cell in enumerate(self.START):
                row.start[0, action_to_point(action, width=6, height=3)] = {".": 0, "X": BLACK, "O": WHITE}[cell]
            row.placed[0] = 3
        return game, row

    def test_the_first_phase_shows_stones_that_may_not_be_retaken(self):
        game, row = self.row(FIRST_CLEANUP)
        planes = encode(game, positions=row).planes
        assert draw(planes, {7: "1"}) == tidy("......\n......\n.....1")
        assert not planes[[8, 18, 19, 20, 21]].any()

    def test_the_second_phase_shows_the_stones_at_its_start_and_the_territory(self):
        game, row = self.row(SECOND_CLEANUP)
        planes = encode(game, positions=row).planes
        assert draw(planes, {20: "m", 21: "t"}) == tidy(".m.t..\nmm..tt\nmmtt..")
        assert draw(planes, AREA_PLANES) == tidy(".m.t..\nmm..tt\nmmtt..")
        game.rules = Rules.parse("koSIMPLEscoreTERRITORYtaxNONEsui0")
        assert draw(encode(game, positions=row).planes, AREA_PLANES) == tidy("mm.ttt\nmm..tt\nmmtttt")

    def test_independent_groups_own_their_territory(self):
        game = game_from(". X O .\nX X O O\n. X O .", JAPANESE)
        row = row_of(game)
        row.phase[0] = SECOND_CLEANUP
        planes = encode(game, positions=row).planes
        assert draw(planes, AREA_PLANES) == tidy("mmtt\nmmtt\nmmtt")

    def test_an_end_that_would_not_win_is_hidden_in_the_second_phase_only(self):
        for komi, phase, is_hidden in (
            (100, SECOND_CLEANUP, True), (-100, SECOND_CLEANUP, False), (100, FIRST_CLEANUP, False),
        ):  # fmt: skip
            game, row = self.row(phase)
            game.komi = komi
            row.pass_ends[0] = ENDS
            values = encode(game, positions=row, passing_hacks=True).values
            assert values[14] == (0.0 if is_hidden else 1.0)


class TestLastMoves:
    def test_nothing_is_shown_to_the_side_that_moved_last(self):
        game = play(Game(5, 5, CHINESE), "A1", "B1", "C1")
        inputs = encode(game, BLACK)
        assert not inputs.planes[9:14].any() and not inputs.values[:5].any()

    def test_of_a_game_that_is_over_the_last_pass_is_shown(self):
        for rules in (CHINESE, TROMP_TAYLOR, JAPANESE):
            inputs = encode(play(Game(5, 5, rules), "A1", "B1", "pass", "pass"))
            assert not inputs.planes[9:14].any()
            assert inputs.values[:5].tolist() == [1, 0, 0, 0, 0] and inputs.values[14] == 1


class TestLadders:
    GAME = """
        . . . . . . .
        . . . X . . .
        . . X O . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . ."""

    def ladders(self, game: Game, to_play: int | None = None) -> list[str]:
        planes = encode(game, to_play).planes
        return [draw(planes, {plane: "1"}) for plane in (14, 15, 16, 17)]

    CAUGHT = tidy("\n".join(["......."] * 2 + ["...1..."] + ["......."] * 4))
    NONE = tidy("\n".join(["......."] * 7))

    def test_three_boards_and_the_moves_that_work(self):
        game = play(game_from(self.GAME, CHINESE), "C4")
        assert self.ladders(game) == [self.CAUGHT, self.NONE, self.NONE, self.NONE], "no move of White's captures"
        game = play(game, "B6")
        works = tidy("\n".join(["......."] * 2 + ["....1.."] + ["......."] * 4))
        assert self.ladders(game) == [self.CAUGHT, self.CAUGHT, self.NONE, works]
        game = play(game, "F7", "B3")
        assert self.ladders(game) == [self.CAUGHT] * 3 + [works]
        game = play(game, "G6", "F2")
        assert self.ladders(game) == [self.NONE, self.CAUGHT, self.CAUGHT, self.NONE], "F2 breaks the ladder"

    def test_boards_of_hidden_moves_are_replaced_by_later_ones(self):
        game = play(game_from(self.GAME, CHINESE), "C4", "B6", "F7", "W F2")
        assert self.ladders(game) == [self.NONE, self.CAUGHT, self.CAUGHT, self.NONE]
        assert self.ladders(game, WHITE) == [self.NONE] * 4, "nothing is shown to the side that moved last"
        game = play(game_from(self.GAME, CHINESE), "C4", "W F2", "W B6")
        assert self.ladders(game) == [self.NONE] * 4, "of White's two moves only the second is shown"
        game = play(game_from(self.GAME, CHINESE), "C4", "F2", "pass")
        assert self.ladders(game) == [self.NONE] * 4, "a pass that ends the game is hidden among friends"
        game = play(game_from(self.GAME, TROMP_TAYLOR), "C4", "F2", "pass")
        assert self.ladders(game) == [self.NONE, self.NONE, self.CAUGHT, self.NONE]


def test_suicide_counts_where_the_rules_or_the_network_allow_it():
    """White's stone is dead while suicide is illegal."""
    diagram = "XXXXXX\nX...X.\nX.O.XX\nX...XX\nXXXXXX\n......\n......"
    dead = tidy("mmmmmm\nmmmmmm\nmmmmmm\nmmmmmm\nmmmmmm\nmmmmmm\nmmmmmm")
    alive = tidy("mmmmmm\nm...mm\nm.t.mm\nm...mm\nmmmmmm\nmmmmmm\nmmmmmm")
    game = game_from(diagram, CHINESE)
    assert draw(encode(game).planes, AREA_PLANES) == dead
    assert draw(encode(game_from(diagram, TROMP_TAYLOR)).planes, AREA_PLANES) == alive
    wanting = KatagoV7Encoder(6, 7, suicide_area=True)
    assert draw(encode(game, encoder=wanting).planes, AREA_PLANES) == alive


RANDOM_SIZES = [(2, 2), (3, 3), (5, 4), (4, 7), (7, 7), (9, 9)]


def random_game(rng: random.Random, width: int, height: int, rules: Rules) -> Game:
    """Return a game of random legal moves, by turns but for a few; many end in the middle of a ko."""
    game = Game(width, height, rules)
    points = [action_to_point(action, width=width, height=height) for action in range(width * height)]
    for _ in range(rng.randint(0, 2 * width * height)):
        point = PASS if rng.random() < 0.06 else rng.choice(points)
        color = rng.choice((BLACK, WHITE)) if rng.random() < 0.03 else game.to_play
        if game.illegal_reason(point, color) is None and not game.is_over:
            game.play(point, color)
        if game.ko_point is not None and rng.random() < 0.3:
            break
    return game


@pytest.mark.parametrize("size", RANDOM_SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_random_games_agree_with_the_oracle(size: tuple[int, int]):
    rng = random.Random(f"katago {size}")
    encoder = KatagoV7Encoder(*size)
    seen = np.zeros(22, dtype=int)
    for _ in range(1500 // (size[0] * size[1]) + 15):
        game = random_game(rng, *size, rng.choice([*PRESETS.values()]))
        planes = encode(game, encoder=encoder).planes.reshape(22, -1)
        oracle = KatagoOracle(game)
        for number in range(22):
            assert set(np.flatnonzero(planes[number])) == oracle.planes[number], f"plane {number}\n{game}"
        assert set(np.unique(planes)) <= {0.0, 1.0}
        seen += planes.any(axis=1)
    area = size[0] * size[1]
    common = [*(range(6) if area > 50 else range(7)), *range(9, 20)]  # bans are rare on large boards
    assert area < 20 or all(seen[common]), f"planes never set: {np.flatnonzero(seen == 0)}"


@pytest.mark.parametrize("size", [(2, 2), (5, 5), (4, 7), (9, 9), (25, 2), (19, 19)])
def test_inputs_turn_with_the_board(size: tuple[int, int]):
    """Showing a position in a symmetry is showing the turned position: only the places of the values change."""
    rng = random.Random(f"turn {size}")
    width, height = size
    for _ in range(4):
        game = random_game(rng, width, height, rng.choice([*PRESETS.values()]))
        plain = encode(game)
        for symmetry in range(symmetry_count(width, height)):
            turned = encode(game, symmetry=symmetry)
            assert np.array_equal(turned.values, plain.values)
            for y in range(height):
                for x in range(width):
                    u, v = transform(x, y, symmetry, width=width, height=height)
                    assert np.array_equal(turned.planes[:, v, u], plain.planes[:, y, x])


@pytest.mark.parametrize("width", range(2, 26))
def test_every_size_is_encoded(width: int):
    for height in {2, width, 25}:
        game = Game(width, height)
        random_moves(random.Random(width), game, 10)
        planes, values = encode(game)
        assert np.isfinite(planes).all() and np.isfinite(values).all()
        assert planes[0].all() and planes[1:3].sum() == sum(int(c) in (BLACK, WHITE) for c in game.board.color)


def test_a_used_encoder_writes_what_a_new_one_writes():
    """Leftovers of one position, cached ladders among them, must not reach the next."""
    rng = random.Random(8)
    used = KatagoV7Encoder(9, 9)
    for _ in range(6):
        game = random_game(rng, 9, 9, rng.choice([*PRESETS.values()]))
        for step in range(4):
            for to_play in (BLACK, WHITE):
                new = encode(game, to_play)
                for _ in range(2):
                    again = encode(game, to_play, encoder=used)
                    assert np.array_equal(again.planes, new.planes) and np.array_equal(again.values, new.values)
            game.undo(min(step, len(game.moves)))


def test_boards_that_share_a_slot_of_the_ladder_cache_are_distinguished():
    game = play(game_from(TestLadders.GAME, CHINESE), "C4", "B6")
    other = play(game_from(TestLadders.GAME, CHINESE), "F2", "B6")
    positions = [row_of(game), row_of(other)]
    for position in positions:
        position.hash[0, :, 0] = (position.hash[0, :, 0] & ~np.uint64(4095)) | np.arange(3, dtype=np.uint64)
    used = KatagoV7Encoder(7, 7)
    for turn in (0, 1, 0, 1):
        expected = encode((game, other)[turn]).planes
        assert np.array_equal(encode(game, positions=positions[turn], encoder=used).planes, expected)


def test_any_rows_are_shown_in_their_order():
    games = [Game(5, 5), play(Game(5, 5), "C3", "D4"), play(Game(5, 5), "B2"), Game(5, 5)]
    positions = new_positions(4, 5, 5)
    for row, game in enumerate(games):
        write_game(positions, row, game)
    spatial, values = KatagoV7Encoder(5, 5).encode(positions, [2, 1], np.array([5, 1], dtype=np.int32))
    for k, (row, symmetry) in enumerate([(2, 5), (1, 1)]):
        expected = encode(games[row], symmetry=symmetry)
        assert np.array_equal(spatial[k], expected.planes) and np.array_equal(values[k], expected.values)


KATAGO = "abc def ghi, ghi def abc, cba fed ihg, ihg fed cba, adg beh cfi, gda heb ifc, cfi beh adg, ifc heb gda"
"""What becomes of the board abc / def / ghi by each symmetry."""


@pytest.mark.parametrize("symmetry", range(8))
def test_numbers_are_katagos(symmetry: int):
    cells = cell_table(3, 3)[symmetry]
    seen = [""] * 9
    for letter, point in zip("abcdefghi", board_points(3, 3), strict=True):
        seen[cells[point]] = letter
    assert " ".join("".join(seen[i : i + 3]) for i in (0, 3, 6)) == KATAGO.split(", ")[symmetry]


@pytest.mark.parametrize("size", [(2, 2), (5, 5), (19, 19), (25, 25), (2, 3), (3, 2), (19, 7), (25, 2)])
def test_tables_follow_the_coordinates(size: tuple[int, int]):
    width, height = size
    table = cell_table(width, height)
    assert table.shape == (8 if width == height else 4, (width + 1) * (height + 2) + 1)
    assert table.dtype == np.int32 and not table.flags.writeable
    for symmetry, cells in enumerate(table):
        for point in range(cells.size):
            if not is_on_board(point, width=width, height=height):
                assert cells[point] == NO_CELL
                continue
            x, y = transform(*point_to_xy(point, width=width), symmetry, width=width, height=height)
            assert cells[point] == y * width + x
        assert sorted(cells[list(board_points(width, height))]) == list(range(width * height))
        assert cells[PASS] == cells[NULL_POINT] == NO_CELL
