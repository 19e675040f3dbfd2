"""Groups in doubt are read out: which ones are in doubt, what comes out, and that scores follow it."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from board_helpers import parse_diagram, play_moves
from engine_positions import SEKI_DIAGRAM
from knowing_evaluator import KnowingEvaluator

from gtp_engine.config import Config
from gtp_engine.engine import Engine
from gtp_engine.engine.final_score import Expectation, outcome_of_ended, outcome_of_unfinished, score_by_lead
from gtp_engine.engine.game_end import Ownership, estimate_status, settled
from gtp_engine.engine.life_reading import SURE, doubtful_chains, read_out
from gtp_engine.engine.searches import Searches
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE
from gtp_engine.go.coords import board_points, parse_vertex
from gtp_engine.go.game import Game
from gtp_engine.go.rules import PRESETS, Rules
from gtp_engine.nn.loading import load_evaluator
from gtp_engine.search.limits import CancelToken

TWO_ROWS = """
    . . . . . . . . .
    . . . . O . . . .
    . . . . . . . . .
    X X X X X X X X X
    O O O O O O O O O
    . . . . . . . . .
"""
LAST_DAME = """
    . X O . .
    X X O O .
    . X X O .
    . X . O .
"""
ONE_EYE = """
    . X O . . . . . .
    X X O . . . . . .
    O O O O O O O . .
"""
PROVED = """
    . X O . O .
    X X O O O O
    O O O . O .
"""
FOUR_IN_A_ROW = """
    . . . . X O . O .
    X X X X X O O O O
"""
SECOND_EYE_AT_D2 = """
    . X . . O . O . O
    X X X X O O O O O
"""

SHARED_LIBERTIES = """
    . O O O O . O
    O O O O O O O
    X X X X O O .
    . O . X O O O
    O O X X O . O
    O X X X O O .
"""
SEKI_OF_SEVEN = """
    O . O . O X . X . O . O O X . X . X
    O O O O O X X X X O O O O X X X X X
"""
BESIDE_NEUTRAL_POINTS = """
    . X . X . O . O .
    . X X X . O O O .
    . X . X . O . O .
"""

ONE_EYED_CORNER = (
    "B[dc]W[gf]B[ef]W[ed]B[dd]W[cf]B[cg]W[ee]B[df]W[de]B[ce]W[ec]B[ff]W[ge]B[fe]W[gd]B[fd]W[fc]B[gc]W[gb]B[hc]W[db]"
    "B[gg]W[bf]B[hb]W[bg]B[dh]W[hg]B[bd]W[cc]B[cd]W[bc]B[eb]W[fb]B[cb]W[ea]B[bb]W[gh]B[fg]W[fh]B[eh]W[hh]B[ga]W[ha]"
    "B[ia]W[hd]B[bh]W[ic]B[ca]W[da]B[fi]W[gi]B[hf]W[he]B[if]W[ig]B[ha]W[ei]B[ch]W[di]B[ci]W[fi]B[ac]W[]B[hi]W[ii]B[ai]"
    "W[]B[]"
)
"""The shipped network gives Black's corner, H8, an ownership around -0.2; it has one eye and is dead."""

NAKADE = (
    "B[fe]W[de]B[ec]W[dg]B[cd]W[ce]B[bd]W[he]B[gf]W[gc]B[be]W[ed]B[fd]W[fc]B[eb]W[dc]B[dd]W[ee]B[ef]W[eg]B[fg]W[df]"
    "B[eh]W[db]B[dh]W[cg]B[ch]W[bg]B[fb]W[gb]B[cb]W[fa]B[cc]W[ea]B[hf]W[bb]B[ba]W[ab]B[bf]W[af]B[ae]W[ac]B[bh]W[ag]"
    "B[ah]W[hd]B[ca]W[ec]B[ff]W[ie]B[if]W[gd]B[ge]W[hc]B[fh]W[hb]B[]W[eb]B[da]W[hh]B[bc]W[gg]B[gh]W[ha]B[hg]W[]B[cf]W[]"
    "B[ih]W[bi]B[ci]W[]B[hi]W[]B[]"
)
"""The network gives Black's group at B6 0.8; White kills it by A9, which sacrifices four stones, and A8."""


def game_of(text: str, rules: str = "chinese") -> Game:
    diagram = parse_diagram(text)
    game = Game(diagram.width, diagram.height, PRESETS[rules], 0.5)
    game.set_up([(color, point) for point, color in diagram.stones.items()], BLACK)
    return game


def ownership_of(game: Game, **values: float) -> Ownership:
    """Return an ownership in which every stone belongs to its colour, except that of the chains on some vertices."""
    colors = game.board.color
    ownership = np.select([colors == BLACK, colors == WHITE], [1.0, -1.0], 0.0)
    for vertex, value in values.items():
        ownership[game.chain(parse_vertex(vertex, width=game.width, height=game.height))] = value
    return ownership


@pytest.fixture(params=["network", "rollouts"])
def searches(request: pytest.FixtureRequest) -> Iterator[Searches]:
    config = Config().with_values({"search.seed": "1", "search.threads": "1"})
    made = Searches(config, KnowingEvaluator() if request.param == "network" else None)
    yield made
    made.close()


# --- what is in doubt ---


@pytest.mark.parametrize(
    ("first", "second", "is_doubtful"),
    [(0.2, 0.2, True), (0.95, 0.2, True), (0.95, -0.95, True), (0.95, 0.95, False), (-0.95, -0.95, False)],
)
def test_searches_that_are_not_sure_of_the_same_owner_leave_a_group_in_doubt(
    first: float, second: float, is_doubtful: bool
) -> None:
    assert 0.2 < SURE < 0.95
    game = game_of(ONE_EYE)
    chains = doubtful_chains(game, [ownership_of(game, B2=first), ownership_of(game, B2=second)])
    assert bool(chains) is is_doubtful


def test_what_benson_proves_is_not_in_doubt() -> None:
    game = game_of(PROVED)
    assert doubtful_chains(game, [ownership_of(game, B2=0.0, C3=0.0)]) == []


def test_a_proof_overrules_the_ownership() -> None:
    """Else a chain that is alive for certain is taken off the board, where the network thinks so, before reading."""
    game = game_of(PROVED)
    (found,) = read_out(game, [ownership_of(game, C3=1.0)])
    chain = game.chain(parse_vertex("C3", width=game.width, height=game.height))
    assert (found[chain] == -1.0).all()


def test_chains_that_only_share_their_liberties_are_in_doubt_however_sure_the_searches_are() -> None:
    game = game_of(SHARED_LIBERTIES)
    chains = [sorted(map(game.vertex, chain)) for chain in doubtful_chains(game, [ownership_of(game)])]
    assert chains == [["A4", "B1", "B4", "C1", "C2", "C4", "D1", "D2", "D3", "D4"], ["A1", "A2", "B2", "B3"]]
    game = game_of(BESIDE_NEUTRAL_POINTS)
    assert doubtful_chains(game, [ownership_of(game)]) == []


# --- what comes out ---


@pytest.mark.parametrize(
    ("text", "vertex", "to_play", "expected"),
    [
        (ONE_EYE, "B2", EMPTY, -1),
        (ONE_EYE, "B2", BLACK, -1),
        (FOUR_IN_A_ROW, "A1", EMPTY, 1),
        (FOUR_IN_A_ROW, "A1", WHITE, 1),
    ],
    ids=["dead", "dead though it moves", "alive", "alive though attacked"],
)
def test_the_life_of_a_group_is_read_out(text: str, vertex: str, to_play: int, expected: int) -> None:
    assert owner_read_out(text, vertex, to_play) == expected


@pytest.mark.parametrize(("to_play", "expected"), [(EMPTY, 0), (BLACK, 1), (WHITE, -1)])
def test_the_next_move_decides_about_unsettled_stones(to_play: int, expected: int) -> None:
    assert owner_read_out(SECOND_EYE_AT_D2, "A1", to_play) == expected


def owner_read_out(text: str, vertex: str, to_play: int) -> int:
    """Return what reading makes of a black chain in doubt: 1 if it lives, −1 if it dies, 0 if the next move decides."""
    game = game_of(text)
    (found,) = read_out(game, [ownership_of(game, **{vertex: 0.1})], to_play=to_play)
    return int(found[parse_vertex(vertex, width=game.width, height=game.height)])


def test_both_sides_of_a_seki_live() -> None:
    game = game_of(SEKI_DIAGRAM)
    doubtful = ownership_of(game, F2=0.1, K2=-0.1)
    (ownership,) = read_out(game, [doubtful])
    assert ownership[parse_vertex("F2", width=17, height=2)] == 1
    assert ownership[parse_vertex("K2", width=17, height=2)] == -1
    assert settled(game, estimate_status(game, ownership_of(game, F2=0.5, K2=-0.5))).dead == frozenset()


@pytest.mark.parametrize(("text", "life"), [(SEKI_DIAGRAM, 0.1), (SEKI_OF_SEVEN, 1.0)])
def test_a_seki_is_safe_without_reading_if_seven_stones_would_be_taken(text: str, life: float) -> None:
    game = game_of(text)
    (ownership,) = read_out(game, [ownership_of(game, F2=0.1, K2=-0.1)], nodes=1)
    assert [ownership[parse_vertex(vertex, width=game.width, height=2)] for vertex in ("F2", "K2")] == [life, -life]


# --- scores ---


@pytest.fixture(scope="module")
def shipped() -> Iterator[Engine]:
    config = Config().with_values({"search.seed": "1", "network.network_threads": "1"})
    with Engine(config, evaluator=load_evaluator(config.network, log=lambda line: None, board=(9, 9))) as engine:
        yield engine


@pytest.mark.long
@pytest.mark.parametrize(
    ("moves", "rules", "vertex", "score"),
    [
        (ONE_EYED_CORNER, "chinese", "H8", "W+8"),
        (ONE_EYED_CORNER, "japanese", "H8", "W+10"),
        (NAKADE, "chinese", "B6", "W+28"),
    ],
)
def test_groups_that_the_network_gets_wrong_are_dead(
    shipped: Engine, moves: str, rules: str, vertex: str, score: str
) -> None:
    shipped.load_sgf(f"(;SZ[9]KM[7]{moves.replace('B[', ';B[').replace('W[', ';W[')})")
    shipped.set_rules(Rules.parse(rules))
    assert str(shipped.score()) == score
    assert any(parse_vertex(vertex, width=9, height=9) in group for group in shipped.groups_by_status("dead"))


DRAWN = (
    "(;KM[13]RU[Japanese]SZ[7];B[dd];W[cd];B[cc];W[ce];B[de];W[dc];B[ec];W[db];B[cb];W[eb];B[fc];W[df];B[cf];W[bc];B[bf]"
    ";W[bb];B[bd];W[ca];B[cc];W[fe];B[be];W[fb];B[fd];W[gb];B[gd];W[cd];B[ac];W[ad];B[ae];W[cb];B[ab];W[ef];B[ee];W[ff]"
    ";B[fg];W[cc];B[ce];W[gc];B[dg];W[eg];B[ge];W[gg];B[ed];W[aa];B[ad];W[cg];B[gf];W[ba];B[];W[bg];B[fg];W[])"
)
"""White's seven stones in the corner are dead: 22 points for both sides, and one less for Black with D1."""


def test_no_point_is_filled_that_a_draw_depends_on(shipped: Engine) -> None:
    shipped.load_sgf(DRAWN)
    assert str(shipped.score()) == "0"
    config = Config().with_values({"search.seed": "1", "search.visits": "60", "network.network_threads": "1"})
    with Engine(config, evaluator=load_evaluator(config.network, log=lambda line: None, board=(7, 7))) as engine:
        engine.load_sgf(DRAWN)
        assert engine.genmove(BLACK).point == PASS


LONE_STONES = {
    "edge": ("Chinese", 13, "kk jd", "lb", "5"),
    "wall": ("Japanese", 13, "kk jd", "gg", "5"),
    "in atari": ("Chinese", 13, "jf ig jh", "jg", "5"),
    "five": ("Japanese", 19, "pp nn oh qj mj pd", "ok oj oi pk pi", "8"),
}
"""Rules, size, stones of both sides in Black's area, the column, counted from 0, of Black's wall beside White's."""


@pytest.mark.parametrize(("rules", "size", "black", "white", "wall"), LONE_STONES.values(), ids=LONE_STONES)
def test_a_few_stones_in_an_area_do_not_turn_a_finished_game_over(
    shipped: Engine, rules: str, size: int, black: str, white: str, wall: str
) -> None:
    """All of Black's area became neutral: W+57.5 (counted) on 13x13 and W+138.5 on 19x19."""
    letters = "abcdefghijklmnopqrs"[:size]
    column, beside = letters[int(wall)], letters[int(wall) - 1]
    blacks = "".join(f"[{point}]" for point in [*black.split(), *(column + row for row in letters)])
    whites = "".join(f"[{point}]" for point in [*white.split(), *(beside + row for row in letters)])
    shipped.load_sgf(f"(;SZ[{size}]KM[6.5]RU[{rules}]AB{blacks}AW{whites};B[];W[])")
    found = shipped.outcome()
    assert found.score.winner == BLACK
    listed = {point for group in shipped.groups_by_status("dead") for point in group}
    assert listed == {point for point, name in found.statuses.items() if name == "dead"}
    assert found.score == shipped.game.score(found.status.dead)


LEFT_TO_DIE = {
    "corner": (
        "AB[ia][hb][ib][gc][hc][ic][gd][id][ce][de][ee][fe][ie][df][ef][ff][hf][cg][fg][gg][hg][ig][bh][ch][dh][fh][bi]"
        "[ab][ca][cb][bc]AW[ea][fa][ga][ha][db][fb][gb][cc][ec][fc][bd][cd][dd][ed][fd][be][af][bf][cf][ag][bg][dg][ah]"
        "[ai]KM[8]",
        "a8 c9 c8 b7",
        "W+6",
    ),
    "beside more": (
        "AB[ha][gb][hb][bc][cc][dc][gc][hc][ic][ad][bd][fd][hd][ae][ee][fe][ge][he][af][bf][cf][ff][gf][ag][bg][dg][eg]"
        "[bh][dh][eh][bi][ci][di][ih][aa][ii]AW[ea][fa][ga][ab][bb][cb][db][fb][ac][ec][fc][cd][dd][ed][id][be][ce][de]"
        "[ie][df][ef][hf][if][fg][gg][ig][fh][hh][ei][fi][gi]KM[27]",
        "a9 j1 j2",
        "W+33",
    ),
    "both in danger": (
        "AB[ca][da][ha][cb][bc][dc][cd][ed][fd][be][de][ee][fe][ge][cf][ff][if][ag][bg][cg][eg][fg][ah][bh][ai][gc][ia]"
        "[gb]AW[ea][fa][ga][db][eb][hb][ec][fc][hc][gd][hd][he][df][ef][gf][hf][dg][gg][hg][ig][ch][dh][eh][fh][bi][ci]"
        "[di][ei][gi][ii]KM[-7.5]",
        "g8 g7 j9",
        "B+0.5",
    ),
}
"""Stones and komi of games that are over, the stones put into areas of the other side that would live if they moved
first, and the score without them."""


@pytest.mark.parametrize(("position", "dying", "score"), LEFT_TO_DIE.values(), ids=LEFT_TO_DIE)
def test_stones_that_live_only_if_they_move_first_are_dead_after_two_passes(
    shipped: Engine, position: str, dying: str, score: str
) -> None:
    """The mean of the searches for both sides gave B+12, W+28 and B+5.5."""
    shipped.load_sgf(f"(;SZ[9]RU[Japanese]{position};B[];W[])")
    found = shipped.outcome()
    assert (str(found.score), found.is_counted) == (score, False)
    assert found.status.dead >= {parse_vertex(vertex, width=9, height=9) for vertex in dying.split()}


def test_stones_that_decide_more_than_they_are_worth_are_settled_by_ownership() -> None:
    game = game_of(TWO_ROWS)
    lone, wall = (parse_vertex(vertex, width=9, height=6) for vertex in ("E5", "A3"))
    for of_area, of_lone, is_dead in ((0.6, -0.1, True), (0.6, -0.95, False), (-0.2, -0.6, False)):
        ownership = np.zeros(game.board.color.size)
        for point in board_points(9, 6):
            ownership[point] = -0.95 if point >= parse_vertex("A2", width=9, height=6) else of_area
        ownership[list(game.chain(wall))], ownership[lone] = 0.95, of_lone
        before = estimate_status(game, ownership)
        assert before.dead == frozenset() and before.is_open
        found = settled(game, before)
        assert (found.dead, found.is_open) == ((frozenset([lone]), False) if is_dead else (frozenset(), True))


def test_a_score_depends_on_neither_seed_nor_cache(shipped: Engine) -> None:
    """Ten seconds were the limit of reading, so that a busy machine found another result, without a word."""
    found, moves = [], ONE_EYED_CORNER.replace("B[", ";B[").replace("W[", ";W[")
    for seed in (1, 2):
        shipped.load_sgf(f"(;SZ[9]KM[7]RU[Chinese]{moves})")
        shipped.set_seed(seed)
        shipped.clear_cache()
        found.append((str(shipped.score()), shipped.outcome().statuses, shipped.outcome().doubt))
    assert found[0] == found[1]
    assert found[0][0] == "W+8" and not found[0][2]


@pytest.mark.parametrize(("rules", "neutral"), [("japanese", "dame"), ("chinese", "white_territory")])
def test_the_status_of_neutral_points_agrees_with_the_score(rules: str, neutral: str) -> None:
    """A neutral point was listed as dame and counted for White, also by territory."""
    game = game_of(LAST_DAME, rules)
    point = parse_vertex("C1", width=5, height=4)
    ownership = ownership_of(game)
    ownership[point] = -0.9
    expected = Expectation(BLACK, ownership, game.score().margin_black, True)
    outcome = outcome_of_unfinished(game, estimate_status(game, ownership), expected)
    names = list(outcome.statuses.values())
    assert outcome.statuses[point] == neutral
    stones = 5 if rules == "chinese" else 0
    assert outcome.score.white == names.count("white_territory") + stones + game.komi


@pytest.mark.parametrize("rules", ["chinese", "japanese"])
def test_a_dead_stone_in_an_open_area_is_listed_as_dead(rules: str) -> None:
    """It was territory, and neither dead nor alive; what one side owns clearly there is its territory."""
    game = game_of(". . . . .\n. . . O .\n. . . . .\nX X . . .\nO . . . .", rules)
    ownership = ownership_of(game, A1=0.6)
    ownership[game.point("E5")] = -0.9
    outcome = outcome_of_unfinished(game, estimate_status(game, ownership), Expectation(BLACK, ownership, 0.0, True))
    found = [outcome.statuses[game.point(vertex)] for vertex in ("A1", "A2", "D4", "E5")]
    assert found == ["dead", "alive", "alive", "white_territory"]


def test_a_lead_far_from_the_count_leaves_the_score_of_an_unfinished_game_in_doubt() -> None:
    game = game_of("X X O O\n. X O .\nX X O O")
    owners = estimate_status(game, ownership_of(game)).owners
    ownership = np.select([owners == BLACK, owners == WHITE], [1.0, -1.0], 0.0)
    status = estimate_status(game, ownership)
    for lead, has_score, is_counted in ((-0.5, True, True), (-5.0, True, False), (-5.0, False, True)):
        found = outcome_of_unfinished(game, status, Expectation(BLACK, ownership, lead, has_score))
        assert found.is_counted == is_counted


@pytest.mark.parametrize(("rules", "most"), [("japanese", ["B+23.5", "W+26.5"]), ("aga-button", ["B+24", "W+26"])])
def test_no_side_is_expected_to_win_more_than_there_is(rules: str, most: list[str]) -> None:
    """By territory: all points but those of its stones, and as prisoners the other side's, those taken so far too."""
    game = play_moves(game_of(". . . . .\n. . . O .\n. . . . .\nX X . . .\nO . . . .", rules), "B1 pass")
    assert [str(score_by_lead(game, lead)) for lead in (99.0, -99.0)] == most


@pytest.mark.parametrize(("rules", "to_play", "result"), [
    ("chinese", BLACK, "W+2.5"), ("chinese", WHITE, "W+4.5"), ("japanese", BLACK, "W+0.5"),
    ("aga-button", BLACK, "W+3"), ("aga-button", WHITE, "W+4"),
])  # fmt: skip
def test_neutral_points_are_filled_in_turn(rules: str, to_play: int, result: str) -> None:
    """The last one counted for neither side, and a network's opinion replaced what Benson's algorithm proves."""
    game = game_of(". X O O .\nX X . O O\n. X O O .\nX X O O O", rules)
    game.to_play = to_play
    for lead, ownership in ((20.0, 0.4), (-20.0, -0.4)):
        status = estimate_status(game, np.full(game.board.color.size, ownership))
        outcome = outcome_of_unfinished(game, status, Expectation(to_play, status.ownership_black, lead, True))
        assert (str(outcome.score), outcome.is_counted) == (result, True)


def test_what_is_not_expected_after_two_passes_is_not_called_counted() -> None:
    game = game_of(LAST_DAME)
    game.play(PASS)
    game.play(PASS)
    status = estimate_status(game, ownership_of(game))
    assert game.score(status.dead).winner == WHITE
    for lead, is_counted in ((-1.0, True), (1.0, False)):
        leads = {BLACK: lead, WHITE: lead}
        outcome = outcome_of_ended(game, status, leads)
        assert (outcome.is_counted, outcome.score.winner) == (is_counted, WHITE)
        assert not outcome_of_ended(game, status, leads, is_settled=False).is_counted


@pytest.mark.parametrize(("lead", "is_counted"), [(-1.0, True), (0.2, True), (1.0, False)])
def test_another_winner_for_the_side_to_play_is_not_called_counted(lead: float, is_counted: bool) -> None:
    """On 7x7 White moves first to a neutral point and wins by a point; the count is a draw."""
    game = game_of(LAST_DAME)
    game.komi += game.score().margin_black + 0.5
    game.play(PASS)
    game.play(PASS)
    status = replace(estimate_status(game, ownership_of(game)), is_decided=True)
    outcome = outcome_of_ended(game, status, {BLACK: lead, WHITE: -0.5})
    assert (outcome.is_counted, str(outcome.score)) == (is_counted, "W+0.5")


def test_stones_that_live_in_an_open_area_leave_the_lead_of_the_side_to_play() -> None:
    """The mean of both sides' leads named another winner than the score before the passes."""
    game = game_of(TWO_ROWS)
    game.play(PASS)
    game.play(PASS)
    outcome = outcome_of_ended(game, estimate_status(game, ownership_of(game)), {BLACK: 3.0, WHITE: -20.0})
    assert (outcome.score.winner, outcome.is_counted, outcome.is_lead) == (game.to_play, False, True)
    assert abs(outcome.score.margin_black - 3.0) <= 1


def test_a_cancelled_score_is_not_kept() -> None:
    evaluator = KnowingEvaluator()
    with Engine(Config().with_values({"game.board_size": "5", "search.seed": "1"}), evaluator=evaluator) as engine:
        cancelled = CancelToken()
        cancelled.cancel()
        engine.score(cancelled)
        rows = evaluator.rows
        engine.score()
        assert evaluator.rows > rows
        rows = evaluator.rows
        engine.score()
        assert evaluator.rows == rows, "one that was not cancelled is"
