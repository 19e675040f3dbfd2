"""Games as rows of positions and as conditions: what a network may know of them."""

import numpy as np
import pytest
from board_helpers import KO, game_from
from katago_inputs import play, row_of

from gtp_engine import Config, EvaluatorInfo, Game, Rules, parse_vertex
from gtp_engine.evaluation.from_game import advantage_black, conditions_of, komi_for_draws, write_game
from gtp_engine.evaluation.positions import BOARDS, ENDS, GOES_ON, HISTORY, IS_OVER, set_key, view_board
from gtp_engine.go.board import KO_POINT
from gtp_engine.go.constants import BLACK, NULL_POINT, PASS, WHITE
from gtp_engine.go.coords import board_points

CHINESE = Rules.parse("chinese")


def stones(game: Game) -> list[int]:
    return [game.color_at(point) for point in board_points(game.width, game.height)]


class TestBoards:
    @pytest.mark.parametrize("moves", [(), ("A1",), ("A1", "B2")])
    def test_of_a_young_game_repeat_the_first(self, moves: tuple[str, ...]):
        positions = row_of(play(Game(3, 3, CHINESE), *moves))
        counts = [int((view_board(positions, 0, ago).color == BLACK).sum()) for ago in range(BOARDS)]
        assert counts == [(len(moves) - ago + 1) // 2 if ago <= len(moves) else 0 for ago in range(BOARDS)]
        assert not np.shares_memory(positions.storage[0, 0], positions.storage[0, 1])

    def test_keep_the_ko(self):
        game = play(game_from(KO, CHINESE, WHITE), "B3")
        mouth = parse_vertex("C3", width=4, height=4)
        assert view_board(row_of(game), 0).info[KO_POINT] == mouth
        assert row_of(game).forbidden[0].nonzero()[0].tolist() == [mouth]
        assert view_board(row_of(play(game, "A1")), 0, 1).info[KO_POINT] == mouth

    def test_have_no_ko_where_the_other_side_moves_next(self):
        game = play(game_from(KO, CHINESE, WHITE), "B3")
        assert view_board(row_of(game, WHITE), 0).info[KO_POINT] == NULL_POINT
        assert not row_of(game, WHITE).forbidden.any()
        assert view_board(row_of(play(game, "W A1")), 0, 1).info[KO_POINT] == NULL_POINT


class TestHistory:
    def test_holds_no_more_than_it_can(self):
        game = play(Game(5, 5, CHINESE), *(f"{letter}{row}" for row in (1, 3, 5) for letter in "ABCDE"))
        assert row_of(game).points[0].tolist() == [move.point for move in game.moves[:-9:-1]]

    @pytest.mark.parametrize("rules", ["chinese", "japanese"])
    def test_begins_with_the_last_pass_of_a_game_that_is_over(self, rules: str):
        game = play(Game(5, 5, Rules.parse(rules)), "A1", "pass", "pass")
        assert row_of(game).points[0, :2].tolist() == [PASS, NULL_POINT]
        play(game, "C3", "D4")
        points = [parse_vertex(text, width=5, height=5) for text in ("D4", "C3")]
        assert row_of(game).points[0, :4].tolist() == [*points, PASS, NULL_POINT]

    def test_may_be_left_out(self):
        game = play(Game(5, 5, CHINESE), "A1", "pass", "B2")
        positions = row_of(game)
        write_game(positions, 0, game, with_history=False)
        assert (positions.points[0].tolist(), positions.colors[0].tolist()) == ([NULL_POINT] * HISTORY, [0] * HISTORY)
        assert positions.key[0].tolist() != row_of(game).key[0].tolist()


class TestPasses:
    @pytest.mark.parametrize(
        ("moves", "expected"),
        [
            ("", GOES_ON),
            ("C3", GOES_ON),
            ("C3, pass", ENDS),
            ("pass", ENDS),
            ("C3, pass, D4", GOES_ON),
            ("C3, pass, pass", IS_OVER),
            ("pass, pass, pass", IS_OVER),
            ("B pass, B pass", ENDS),
            ("C3, pass, pass, D4", GOES_ON),
        ],
    )
    def test_two_in_turn_end_the_game(self, moves: str, expected: int):
        assert row_of(play(Game(5, 5, CHINESE), *filter(None, moves.split(", ")))).pass_ends[0] == expected

    @pytest.mark.parametrize(("rules", "expected"), [("chinese", GOES_ON), ("japanese", ENDS)])
    def test_a_second_one_may_go_on_by_area_and_of_the_same_side_does(self, rules: str, expected: int):
        game = play(Game(5, 5, Rules.parse(rules)), "C3", "pass")
        positions = row_of(game, WHITE)
        assert positions.pass_ends[0] == GOES_ON
        write_game(positions, 0, game, pass_goes_on=True)
        assert positions.pass_ends[0] == expected


class TestKey:
    def key(self, game: Game, to_play: int | None = None) -> int:
        return int(row_of(game, to_play).key[0])

    def test_distinguishes_what_encoders_distinguish(self):
        game = play(Game(5, 5, CHINESE), "C3", "D4", "E5", "A1")
        assert self.key(play(Game(5, 5, Rules.parse("japanese")), "C3", "D4", "E5", "A1")) == self.key(game)
        keys = {self.key(game), self.key(game, WHITE), self.key(play(Game(5, 5, CHINESE), "E5", "D4", "C3", "A1"))}
        row = row_of(game)
        for field in ("pass_ends", "button"):
            getattr(row, field)[0] = 1
            set_key(row, 0)
            keys.add(int(row.key[0]))
        assert len(keys) == 5

    def test_the_situation_has_no_past(self):
        one, other = (play(Game(5, 5, CHINESE), *moves) for moves in (("C3", "D4", "E5"), ("E5", "D4", "C3")))
        assert row_of(one).situation[0] == row_of(other).situation[0]
        assert self.key(one) != self.key(other)
        situations = {
            int(row_of(game, color).situation[0]) for game, color in ((one, BLACK), (one, WHITE), (Game(5), BLACK))
        }
        row = row_of(one)
        for field in ("pass_ends", "button"):
            getattr(row, field)[0] = 1
            set_key(row, 0)
            situations.add(int(row.situation[0]))
        row.forbidden[0, 8] = 1
        set_key(row, 0)
        assert len({*situations, int(row.situation[0])}) == 6

    def test_counts_prisoners(self):
        """Under territory scoring they are points; here Black has lost two stones in the same place, or one."""
        once = game_from(". O\nO O\n. .", CHINESE)
        longer = play(game_from("X O\n. .\n. .", CHINESE, WHITE), "A2", "B pass", "B2", "B pass")
        keys = set()
        for game in (once, longer):
            row = row_of(game, BLACK)
            row.points[:], row.colors[:] = NULL_POINT, 0
            row.storage[0, 1:], row.hash[0, 1:] = row.storage[0, 0], row.hash[0, 0]
            set_key(row, 0)
            keys |= {int(row.key[0]), int(row.situation[0])}
        assert stones(once) == stones(longer) and len(keys) == 4


@pytest.mark.parametrize(
    ("holder", "side", "knows", "expected"),
    [
        ("black", WHITE, True, 2.0),
        ("white", WHITE, True, -2.0),
        ("sidetomove", BLACK, True, 2.0),
        ("sidetomove", WHITE, True, -2.0),
        ("black", BLACK, False, 0.0),
    ],
)
def test_whose_playouts_count_double(holder: str, side: int, knows: bool, expected: float) -> None:
    option = "puct.playout_doubling_advantage"
    config = Config().with_values({option: 2.0, f"{option}_color": holder})
    info = EvaluatorInfo("test", 1, knows_advantage=knows)
    assert advantage_black(config.puct, info, side) == expected


@pytest.mark.parametrize(
    ("rules", "komi", "share", "expected"),
    [
        ("chinese", 7.0, 0.5, 0.0),
        ("chinese", 7.0, 1.0, 0.5),
        ("chinese", 7.0, 0.0, -0.5),
        ("chinese", 7.5, 1.0, 0.0),
        ("aga-button", 7.0, 1.0, 0.0),
        ("aga-button", 7.5, 1.0, 0.5),
    ],
)
def test_komi_makes_up_for_draws(rules: str, komi: float, share: float, expected: float) -> None:
    game = Game(9, rules=Rules.parse(rules), komi=komi)
    assert komi_for_draws(game, share) == expected
    conditions = conditions_of(game, share)
    assert conditions.komi == komi + expected and conditions._replace(komi=komi) == conditions_of(game)
    assert komi_for_draws(play(game, "pass"), share) == expected, "with the button, too"


@pytest.mark.parametrize(
    ("moves", "komi", "is_free"), [((), 7.0, True), (("pass",), 6.5, False), (("A1", "pass"), 7.5, False)]
)
def test_a_button_that_was_taken_counts_for_its_side(moves: tuple[str, ...], komi: float, is_free: bool) -> None:
    conditions = conditions_of(play(Game(9, rules=Rules.parse("aga-button"), komi=7.0), *moves))
    assert (conditions.komi, conditions.has_free_button) == (komi, is_free)


def test_conditions_are_those_of_the_rules() -> None:
    """Points for two handicap stones, superko, suicide, territory, tax and passes, in the numbers of `Conditions`."""
    for rules, expected in {
        "chinese": (2, 0, False, False, 0, True),
        "tromp-taylor": (0, 1, True, False, 0, False),
        "aga": (1, 2, False, False, 0, True),
        "japanese": (0, 0, False, True, 1, False),
        "ancient-area": (0, 0, False, False, 2, True),
    }.items():
        game = Game(9, rules=Rules.parse(rules), komi=0.0)
        game.set_handicap(["C3", "G7"])
        found = conditions_of(game)
        assert (found.komi, *found[1:5], found.friendly_pass) == expected, rules
