"""KataGo's global values: rules, komi, passes."""

import numpy as np
import pytest
from katago_inputs import encode, play, row_of

from gtp_engine import Game, Rules, parse_vertex
from gtp_engine.evaluation.positions import FIRST_CLEANUP, MAIN_PHASE, SECOND_CLEANUP
from gtp_engine.go.constants import BLACK, WHITE

KOMI, PASS_ENDS, BUTTON, PARITY = 5, 14, 17, 18

RULES = {
    "tromp-taylor": (1, 0.5, 1, 0, 0, 0, 0, 0),
    "chinese": (0, 0, 0, 0, 0, 0, 0, 0),
    "chinese-kgs": (1, 0.5, 0, 0, 0, 0, 0, 0),
    "japanese": (0, 0, 0, 1, 1, 0, 0, 0),
    "stone-scoring": (0, 0, 0, 0, 1, 1, 0, 0),
    "ancient-territory": (0, 0, 0, 1, 1, 1, 0, 0),
    "aga": (1, -0.5, 0, 0, 0, 0, 0, 0),
    "new-zealand": (1, -0.5, 1, 0, 0, 0, 0, 0),
    "ing": (1, 0.5, 1, 0, 0, 0, 0, 0),
    "koSIMPLEscoreTERRITORYtaxNONEsui1": (0, 0, 1, 1, 0, 0, 0, 0),
}
"""Values 6 to 13: ko rule, suicide, territory, tax, phases."""


def values_of(game: Game, to_play: int | None = None, **conditions: object) -> list[float]:
    return [float(value) for value in encode(game, to_play, **conditions).values]


def komi_of(game: Game, to_play: int | None = None) -> float:
    """Return a network's input for the points that the side to move gets."""
    return round(20 * values_of(game, to_play)[KOMI], 4)


@pytest.mark.parametrize(("name", "expected"), RULES.items())
def test_rules(name: str, expected: tuple[float, ...]):
    assert tuple(values_of(Game(9, 9, Rules.parse(name)))[6:14]) == expected


def test_the_rest_is_zero_at_the_start():
    values = values_of(Game(9, 9, Rules.parse("chinese"), 7.0))
    assert np.flatnonzero(values).tolist() == [KOMI]


class TestKomi:
    def test_is_whites_shown_as_the_movers_and_clipped_to_the_board_and_twenty_points(self):
        game = Game(9, 9, Rules.parse("chinese"), 6.5)
        assert (komi_of(game, BLACK), komi_of(game, WHITE)) == (-6.5, 6.5)
        assert komi_of(Game(3, 3, komi=200.0), WHITE) == 29
        assert komi_of(Game(3, 3, komi=-200.0), WHITE) == -29
        assert komi_of(Game(3, 3, komi=28.5), BLACK) == -28.5

    @pytest.mark.parametrize(("rules", "expected"), [("chinese", 2.5), ("aga", 1.5), ("tromp-taylor", 0.5)])
    def test_includes_the_handicap_bonus(self, rules: str, expected: float):
        game = Game(9, 9, Rules.parse(rules), 0.5)
        game.set_handicap([parse_vertex(v, width=9, height=9) for v in ("C3", "G7")])
        assert komi_of(game) == expected

    def test_under_territory_scoring_counts_the_stones_placed(self):
        """So that area, which networks count, gives the margin of territory and prisoners."""
        game = Game(5, 5, Rules.parse("japanese"), 6.5)
        assert komi_of(play(game, "A1")) == 7.5
        assert komi_of(play(game, "B1")) == -6.5
        assert komi_of(play(game, "pass", "A2")) == -5.5, "A2 captures: the stone was placed all the same"
        assert komi_of(game, WHITE) == 5.5 == game.area_komi

    def test_includes_the_button(self):
        rules = Rules.parse("aga-button")
        game = Game(9, 9, rules, 7.0)
        assert values_of(game)[BUTTON] == 1 and komi_of(game, WHITE) == 7
        play(game, "pass")
        assert values_of(game)[BUTTON] == 0 and komi_of(game) == 6.5
        assert values_of(game)[PASS_ENDS] == 0, "a pass that takes the button does not count"
        assert komi_of(play(Game(9, 9, rules, 7.0), "C3", "pass"), WHITE) == 7.5

    def test_includes_a_button_taken_since_the_conditions_were_written(self):
        before = Game(9, 9, Rules.parse("aga-button"), 7.0)
        after = play(before.copy(), "pass")
        row = row_of(after)
        row.button[0] = BLACK
        noted = encode(before, positions=row).values
        assert np.array_equal(noted, encode(after).values)

    @pytest.mark.parametrize(
        ("size", "komi", "expected"),
        [
            ((5, 5), 0.0, 0.0), ((5, 5), 0.5, -0.5), ((5, 5), 1.0, 0.0), ((5, 5), 1.5, 0.5), ((5, 5), 2.0, 0.0),
            ((5, 5), 7.0, 0.0), ((5, 5), 7.5, 0.5), ((5, 5), 6.5, -0.5), ((5, 5), 7.25, 0.25), ((5, 5), -7.5, -0.5),
            ((4, 5), 0.0, 0.0), ((4, 5), 0.5, 0.5), ((4, 5), 1.0, 0.0), ((4, 5), 1.5, -0.5), ((4, 5), 6.5, 0.5),
        ],
    )  # fmt: skip
    def test_parity_wave(self, size: tuple[int, int], komi: float, expected: float):
        """It rises where a draw is possible, komi and board being both odd or both even, and falls in between."""
        game = Game(*size, Rules.parse("chinese"), komi)
        assert values_of(game, WHITE)[PARITY] == expected
        assert values_of(game, BLACK)[PARITY] == -expected


class TestPasses:
    def test_a_second_pass_ends_the_game(self):
        for rules in ("tromp-taylor", "japanese"):
            game = play(Game(5, 5, Rules.parse(rules)), "C3")
            assert values_of(game)[PASS_ENDS] == 0
            values = values_of(play(game, "pass"))
            assert values[PASS_ENDS] == 1 and values[:5] == [1, 0, 0, 0, 0]
            assert values_of(game, game.moves[-1].color)[PASS_ENDS] == 0, "a side does not pass twice in a row"

    def test_friendly_passes_do_not_end_the_game(self):
        """The past is hidden then, so that the network does not expect the game to be over."""
        inputs = encode(play(Game(5, 5, Rules.parse("chinese")), "C3", "pass"))
        assert inputs.values[PASS_ENDS] == 0
        assert not inputs.values[:5].any() and not inputs.planes[9:14].any()

    @pytest.mark.parametrize(
        ("tax", "komi", "is_hidden"),
        [("NONE", 25.0, True), ("NONE", 25.5, False), ("ALL", 23.0, True), ("ALL", 23.5, False)],
    )
    def test_passing_hacks_hide_an_end_that_would_not_win(self, tax: str, komi: float, is_hidden: bool):
        """Black owns all 25 points, less 2 where groups are taxed; White wins by passing with more komi than that."""
        rules = Rules.parse(f"koPOSITIONALscoreAREAtax{tax}sui1")
        game = play(Game(5, 5, rules, komi), "C3", "B pass")
        inputs = encode(game, passing_hacks=True)
        assert inputs.values[PASS_ENDS] == (0 if is_hidden else 1)
        assert bool(inputs.values[:5].any()) != is_hidden
        assert encode(game).values[PASS_ENDS] == 1

    def test_territory_scoring_has_no_hacks(self):
        game = play(Game(5, 5, Rules.parse("japanese"), 0.5), "C3", "pass")
        assert encode(game, passing_hacks=True, friendly_pass=True).values[PASS_ENDS] == 1


def test_the_playout_doubling_advantage_is_that_of_the_mover():
    game = Game(9, 9)
    for advantage in (-3.0, 0.0, 0.5, 2.0):
        for color, sign in ((BLACK, 1), (WHITE, -1)):
            values = values_of(game, color, playout_doubling_advantage_black=advantage)
            assert values[15:17] == [float(advantage != 0), sign * advantage / 2]


@pytest.mark.parametrize(
    ("phase", "placed", "parity"), [(MAIN_PHASE, 1, 0.0), (FIRST_CLEANUP, 1, 0.0), (SECOND_CLEANUP, 5, 0.5)]
)
def test_the_cleanup_phases_are_shown_and_stones_of_the_second_one_cost_no_points(
    phase: int, placed: int, parity: float
):
    """They are not in `placed`, and komi counts as under area scoring: its parity matters."""
    game = play(Game(9, rules=Rules.parse("japanese"), komi=6.5), "E5", "C3", "G7")
    row = row_of(game)
    row.phase[0], row.placed[0] = phase, 5
    found = encode(game, positions=row).values[[5, 12, 13, 18]].tolist()
    assert found == pytest.approx(
        [(6.5 + placed) / 20, float(phase != MAIN_PHASE), float(phase == SECOND_CLEANUP), parity]
    )
