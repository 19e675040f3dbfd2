"""Groups in doubt are read out: which ones are in doubt, what comes out, and that scores follow it."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from board_helpers import parse_diagram
from engine_positions import SEKI_DIAGRAM
from knowing_evaluator import KnowingEvaluator

from gtp_engine.config import Config
from gtp_engine.engine import Engine
from gtp_engine.engine.final_score import FinalScore, Scorer, estimated_score, outcome_of_ended
from gtp_engine.engine.game_end import Ownership, estimate_status, settled
from gtp_engine.engine.life_reading import SURE, Dispute, LifeReader, find_disputes
from gtp_engine.engine.searches import Searches
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE
from gtp_engine.go.coords import Move, board_points, parse_vertex
from gtp_engine.go.game import Game
from gtp_engine.go.rules import PRESETS, Rules
from gtp_engine.nn.loading import load_evaluator
from gtp_engine.search.limits import CancelToken, Limits
from gtp_engine.search.report import MoveReport, RawEvaluation, SearchReport

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
MEETING = """
    X . X O . . .
    O O O O . . .
"""
ONE_EYE = """
    . X O . . . . . .
    X X O . . . . . .
    O O O O O O O . .
"""
WALLED = """
    . . . . . . O . .
    . . . . . . O . .
    O O O . . . O . .
    X X O . . . O . .
    . X O . . . O . .
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
    . X . . O . . . .
    X X X X O O . . .
"""

LONE_STONE = """
    . . . . X O . O .
    . . . . X O O O O
    . . O . X O . O .
    . . . . X O O O O
    . . . . X O . O .
"""
SHARED_LIBERTIES = """
    . O O O O . O
    O O O O O O O
    X X X X O O .
    . O . X O O O
    O O X X O . O
    O X X X O O .
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

BULKY_FIVE = (
    "B[de]W[fe]B[ec]W[fg]B[gd]W[ge]B[hd]W[be]B[dg]W[cc]B[eh]W[fh]B[he]W[hf]B[hg]W[if]B[bf]W[ce]B[cf]W[dd]B[ed]W[ee]"
    "B[df]W[db]B[eb]W[dc]B[ae]W[bd]B[bb]W[bc]B[da]W[ca]B[ea]W[cb]B[hh]W[fd]B[fc]W[gc]B[gb]W[hi]B[gf]W[gg]B[ig]W[ff]"
    "B[ie]W[gf]B[hc]W[gh]B[fi]W[ih]B[ad]W[ac]B[af]W[eg]B[dh]W[bh]B[ch]W[bg]B[bi]W[ah]B[ei]W[gi]B[ef]W[ci]B[di]W[ai]"
    "B[ci]W[]B[]"
)
"""The network is certain of a seki at A2; but White plays A3, and Black takes five stones and has one eye."""


def game_of(text: str, rules: str = "chinese") -> Game:
    diagram = parse_diagram(text)
    game = Game(diagram.width, diagram.height, PRESETS[rules], 0.5)
    game.set_up([Move(color, point) for point, color in diagram.stones.items()], BLACK)
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


def test_chains_of_one_colour_that_meet_across_empty_points_are_one_dispute() -> None:
    game = game_of(MEETING)
    disputes = find_disputes(game, [ownership_of(game, A2=0.1, C2=0.1, A1=-0.1)])
    assert [(dispute.color, len(dispute.chains)) for dispute in disputes] == [(WHITE, 1), (BLACK, 2)]


@pytest.mark.parametrize(
    ("first", "second", "is_doubtful"),
    [(0.2, 0.2, True), (0.95, 0.2, True), (0.95, -0.95, True), (0.95, 0.95, False), (-0.95, -0.95, False)],
)
def test_searches_that_are_not_sure_of_the_same_owner_leave_a_group_in_doubt(
    first: float, second: float, is_doubtful: bool
) -> None:
    assert 0.2 < SURE < 0.95
    game = game_of(ONE_EYE)
    disputes = find_disputes(game, [ownership_of(game, B2=first), ownership_of(game, B2=second)])
    assert bool(disputes) is is_doubtful


def test_what_benson_proves_is_not_in_doubt() -> None:
    game = game_of(PROVED)
    assert find_disputes(game, [ownership_of(game, B2=0.0, C3=0.0)]) == []


def test_a_proof_overrules_the_ownership() -> None:
    """Else a chain that is alive for certain is taken off the board, where the network thinks so, before reading."""
    game = game_of(PROVED)
    searches = Searches(Config(), None)
    (found,) = LifeReader(searches, cancel=CancelToken()).read_out(game, [ownership_of(game, C3=1.0)])
    searches.close()
    chain = game.chain(parse_vertex("C3", width=game.width, height=game.height))
    assert (found[chain] == -1.0).all()


def test_chains_that_only_share_their_liberties_are_in_doubt_however_sure_the_searches_are() -> None:
    game = game_of(SHARED_LIBERTIES)
    disputes = find_disputes(game, [ownership_of(game)])
    assert [(dispute.color, sorted(map(game.vertex, dispute.stones))) for dispute in disputes] == [
        (BLACK, ["A4", "B1", "B4", "C1", "C2", "C4", "D1", "D2", "D3", "D4"]),
        (WHITE, ["A1", "A2", "B2", "B3"]),
    ]
    game = game_of(BESIDE_NEUTRAL_POINTS)
    assert find_disputes(game, [ownership_of(game)]) == []


def test_the_dispute_decides_the_game() -> None:
    """With the black stones White leads by 19 points, without them by 27."""
    game = game_of(ONE_EYE)
    (dispute,) = find_disputes(game, [ownership_of(game, B2=0.0)])
    position = dispute.position(game, WHITE, ownership_of(game, B2=0.0))
    assert (position.to_play, position.komi) == (WHITE, -23)
    assert position.score().winner == BLACK, "as long as they are on the board"


@pytest.mark.parametrize("strict", [False, True])
def test_with_strict_komi_the_attacker_does_not_win_by_filling_points_around_living_stones(strict: bool) -> None:
    game = game_of(LONE_STONE)
    (dispute,) = find_disputes(game, [ownership_of(game, C3=0.0)])
    position = dispute.position(game, BLACK, ownership_of(game, C3=0.0), strict=strict)
    for point in sorted(dispute.area - dispute.stones - {parse_vertex("C2", width=9, height=5)}):
        position.play(point)
        position.play(PASS)
    assert position.score().winner == (WHITE if strict else BLACK)
    position.play(parse_vertex("C2", width=9, height=5))
    assert position.score().winner == BLACK, "it has taken the stone"


def test_a_reading_goes_on_if_moves_elsewhere_have_decided_it() -> None:
    """White has passed although it could take the stones, because it would lose all the same."""
    game = game_of(ONE_EYE)
    (dispute,) = find_disputes(game, [ownership_of(game, B2=0.0)])
    position = dispute.position(game, WHITE, ownership_of(game, B2=0.0))
    assert dispute.continued(position) is None, "White loses by 4 points, and wins by 4 if it takes them"
    position.komi -= 10
    continued = dispute.continued(position)
    assert continued is not None
    assert (continued.to_play, continued.komi) == (WHITE, -23)


def test_the_end_of_a_reading_that_was_decided_elsewhere_is_read_again(
    searches: Searches, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = game_of(ONE_EYE)
    ownership = ownership_of(game, B2=0.0)
    (dispute,) = find_disputes(game, [ownership])
    read: list[Game] = []

    def pass_at_once(self: LifeReader, dispute: Dispute, played: Game, **options: bool) -> Game:
        read.append(played)
        if len(read) == 1:
            played.komi -= 10  # in place of points that Black gains elsewhere
        played.play(PASS)
        played.play(PASS)
        return played

    monkeypatch.setattr(LifeReader, "_played_out", pass_at_once)
    assert LifeReader(searches, cancel=CancelToken())._survivors(game, dispute, ownership, WHITE) == [True]
    assert [(each.moves[0].color, each.komi) for each in read] == [(WHITE, -33), (WHITE, -23)]


def test_only_moves_two_steps_from_the_stones_are_read() -> None:
    """The first step leads to the liberties of the wall around them."""
    game = game_of(WALLED)
    (dispute,) = find_disputes(game, [ownership_of(game, B2=0.0)])
    assert {game.vertex(point) for point in dispute.area} == {"A1", "A2", "B1", "B2"}
    near = {point for point in game.legal_points(WHITE) if point not in dispute.far_points(game)}
    wall = {"A1", "A4", "B4", "C4", "D1", "D2", "D3"}
    assert {game.vertex(point) for point in near} == wall | {"A5", "B5", "C5", "D4", "E1", "E2", "E3"}


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
def test_the_life_of_a_group_is_read_out(
    searches: Searches, text: str, vertex: str, to_play: int, expected: int
) -> None:
    assert owner_read_out(searches, text, vertex, to_play) == expected


@pytest.mark.parametrize(("to_play", "expected"), [(EMPTY, 0), (BLACK, 1), (WHITE, -1)])
@pytest.mark.parametrize("searches", ["rollouts"], indirect=True)
def test_the_next_move_decides_about_unsettled_stones(searches: Searches, to_play: int, expected: int) -> None:
    assert owner_read_out(searches, SECOND_EYE_AT_D2, "A1", to_play) == expected


@pytest.mark.parametrize("searches", ["rollouts"], indirect=True)
def test_players_who_both_pass_leave_unsettled_stones_alive(searches: Searches) -> None:
    game = game_of(SECOND_EYE_AT_D2)
    game.play(PASS)
    scorer = Scorer(searches)
    assert parse_vertex("A1", width=9, height=2) in scorer.outcome(game, CancelToken()).status.dead
    game.play(PASS)
    assert scorer.outcome(game, CancelToken()).status.dead == frozenset()


@pytest.mark.parametrize("searches", ["rollouts"], indirect=True)
def test_unsettled_stones_of_a_finished_game_are_what_the_searches_expect(
    searches: Searches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weak searches err in the line in which the defender moves first."""
    game = game_of(ONE_EYE)
    chain = list(game.chain(parse_vertex("B2", width=9, height=3)))
    read_out = LifeReader.read_out

    def unsettled(*args, **options):
        found = read_out(*args, **options)
        for ownership in found:
            ownership[chain] = 0.0
        return found

    monkeypatch.setattr(LifeReader, "read_out", unsettled)
    game.play(PASS)
    game.play(PASS)
    assert Scorer(searches).outcome(game, CancelToken()).status.dead >= set(chain)


def owner_read_out(searches: Searches, text: str, vertex: str, to_play: int) -> float:
    """Return the ownership of a chain about which the searches are in doubt."""
    game = game_of(text)
    doubtful = ownership_of(game, **{vertex: 0.1})
    (ownership,) = LifeReader(searches, cancel=CancelToken()).read_out(game, [doubtful], to_play=to_play)
    point = parse_vertex(vertex, width=game.width, height=game.height)
    assert doubtful[point] == 0.1, "the searches' own is kept"
    return float(ownership[point])


def test_both_sides_of_a_seki_live(searches: Searches) -> None:
    game = game_of(SEKI_DIAGRAM)
    doubtful = ownership_of(game, F2=0.1, K2=-0.1)
    (ownership,) = LifeReader(searches, cancel=CancelToken()).read_out(game, [doubtful])
    assert ownership[parse_vertex("F2", width=17, height=2)] == 1
    assert ownership[parse_vertex("K2", width=17, height=2)] == -1


def test_what_a_group_surrounds_goes_with_it(searches: Searches) -> None:
    game = game_of(ONE_EYE)
    (ownership,) = LifeReader(searches, cancel=CancelToken()).read_out(game, [ownership_of(game, B2=0.1)])
    assert ownership[parse_vertex("A3", width=9, height=3)] == -1, "the eye of a dead group"


def test_without_time_the_expected_ownership_stays(searches: Searches) -> None:
    game = game_of(ONE_EYE)
    doubtful = ownership_of(game, B2=0.1)
    cancelled = CancelToken()
    cancelled.cancel()
    for reader in (LifeReader(searches, cancel=cancelled), LifeReader(searches, cancel=CancelToken(), deadline=0.0)):
        assert np.array_equal(reader.read_out(game, [doubtful])[0], doubtful)


def test_a_reading_takes_no_more_visits_than_given() -> None:
    evaluator = KnowingEvaluator()
    searches = Searches(Config().with_values({"search.seed": "1"}), evaluator)
    game = game_of(FOUR_IN_A_ROW)
    rows = []
    for visits in (4, 8, None):
        before = evaluator.rows
        LifeReader(searches, cancel=CancelToken(), visits=visits).read_out(game, [ownership_of(game, A1=0.1)])
        rows.append(evaluator.rows - before)
    assert rows[0] <= 4 * 2 * game.width * game.height
    assert rows == sorted(rows)
    assert rows[1] < rows[2]
    searches.close()


@pytest.mark.parametrize("searches", ["network"], indirect=True)
def test_what_follows_a_pass_of_the_defender_is_not_read_twice(
    searches: Searches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hopeless groups took twice as long as needed, so that ten seconds were over before most of them were read."""
    game = game_of(ONE_EYE)
    search_afresh, search_on = searches.search_afresh, searches.search_on
    capture = parse_vertex("A3", width=9, height=3)
    read: list[Game] = []

    def expected(played: Game, report: SearchReport) -> SearchReport:
        read.append(played)
        point = capture if played.to_play == WHITE and played.is_legal(capture) else PASS
        return replace(report, moves=(MoveReport(point, visits=1, value_black=0.0, expected_black=0.0),))

    monkeypatch.setattr(
        searches, "search_afresh", lambda game, color, limits: expected(game, search_afresh(game, color, limits))
    )
    monkeypatch.setattr(searches, "search_on", lambda game, limits: expected(game, search_on(game, limits)))
    (found,) = LifeReader(searches, cancel=CancelToken()).read_out(game, [ownership_of(game, B2=0.1)])
    assert found[parse_vertex("B2", width=9, height=3)] == -1
    assert [each.first_player for each in read].count(BLACK) == 1


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
        (BULKY_FIVE, "japanese", "C2", "W+45"),
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
    """The network took the finished position for a point and a half better than it counts: D1 lost the game."""
    shipped.load_sgf(DRAWN)
    assert str(shipped.score()) == "0"
    config = Config().with_values({"search.seed": "1", "search.visits": "60", "network.network_threads": "1"})
    with Engine(config, evaluator=load_evaluator(config.network, log=lambda line: None, board=(7, 7))) as engine:
        engine.load_sgf(DRAWN)
        assert engine.genmove(BLACK).point == PASS


LONE_STONES = {
    "edge": (13, "kk jd", "lb", "5"),
    "wall": (13, "kk jd", "gg", "5"),
    "in atari": (13, "jf ig jh", "jg", "5"),
    "five": (19, "pp nn oh qj mj pd", "ok oj oi pk pi", "8"),
}
"""Size, stones of Black and White in Black's area, and the column, counted from 0, of Black's wall beside White's."""


@pytest.mark.parametrize("rules", ["Chinese", "Japanese"])
@pytest.mark.parametrize(("size", "black", "white", "wall"), LONE_STONES.values(), ids=LONE_STONES)
def test_a_few_stones_in_an_area_do_not_turn_a_finished_game_over(
    shipped: Engine, size: int, black: str, white: str, wall: str, rules: str
) -> None:
    """All of Black's area became neutral: W+57.5 (counted) on 13x13 and W+138.5 on 19x19."""
    letters = "abcdefghijklmnopqrs"[:size]
    column, beside = letters[int(wall)], letters[int(wall) - 1]
    blacks = "".join(f"[{point}]" for point in [*black.split(), *(column + row for row in letters)])
    whites = "".join(f"[{point}]" for point in [*white.split(), *(beside + row for row in letters)])
    shipped.load_sgf(f"(;SZ[{size}]KM[6.5]RU[{rules}]AB{blacks}AW{whites};B[];W[])")
    found = shipped.outcome()
    assert found.score.winner == BLACK
    assert {point for group in shipped.groups_by_status("dead") for point in group} == {
        point for point, name in found.statuses.items() if name == "dead"
    }
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


def test_both_sides_of_a_seki_stay_after_the_end() -> None:
    game = game_of(SEKI_DIAGRAM)
    doubtful = ownership_of(game, F2=0.5, K2=-0.5)
    assert settled(game, estimate_status(game, doubtful)).dead == frozenset()


DISPUTED = "(;SZ[9]KM[7]RU[Chinese]" + ONE_EYED_CORNER.replace("B[", ";B[").replace("W[", ";W[") + ")"


def test_a_score_depends_on_neither_seed_nor_time(shipped: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten seconds were the limit of reading, so that a busy machine found another result, without a word."""
    found = []
    monkeypatch.setattr("gtp_engine.engine.life_reading.LONGEST_SECONDS", 0.0)
    for seed in (1, 2):
        shipped.load_sgf(DISPUTED)
        shipped.set_seed(seed)
        found.append((str(shipped.score()), shipped.final_status(), shipped.outcome().doubt))
    assert found[0] == found[1]
    assert found[0][0] == "W+8" and not found[0][2]
    monkeypatch.setattr("gtp_engine.engine.life_reading.SCORING_SECONDS", 0.0)
    shipped.clear_cache()
    assert shipped.outcome().doubt == "reading out groups took too long"


def test_a_reading_for_a_score_ends_when_its_playouts_are_used_up(searches: Searches) -> None:
    game = game_of(ONE_EYE)
    doubtful = ownership_of(game, B2=0.1)
    reader = LifeReader(searches, cancel=CancelToken(), playouts=1)
    assert np.array_equal(reader.read_out(game, [doubtful])[0], doubtful)
    assert not reader.is_late


@pytest.mark.parametrize(("rules", "neutral"), [("japanese", "dame"), ("chinese", "white_territory")])
def test_the_status_of_neutral_points_agrees_with_the_score(rules: str, neutral: str) -> None:
    """A neutral point was listed as dame and counted for White, also by territory."""
    game = game_of(LAST_DAME, rules)
    point = parse_vertex("C1", width=5, height=4)
    ownership = ownership_of(game)
    ownership[point] = -0.5
    status = estimate_status(game, ownership)
    outcome = FinalScore(game, estimated_score(game, status), status)
    names = list(outcome.statuses.values())
    assert outcome.statuses[point] == neutral
    stones = 5 if rules == "chinese" else 0
    assert outcome.score.white == names.count("white_territory") + stones + game.komi


def test_what_searches_expect_after_two_passes_is_not_called_counted(searches: Searches) -> None:
    game = game_of(LAST_DAME)
    game.play(PASS)
    game.play(PASS)
    status = estimate_status(game, ownership_of(game))
    assert game.score(status.dead).winner == WHITE
    for winner, is_counted in ((-1.0, True), (1.0, False)):
        reports = [
            replace(searches.search_afresh(game, color, Limits(8)), lead_black=winner) for color in (BLACK, WHITE)
        ]
        ownership = np.full(game.board.color.size, winner)
        raw = RawEvaluation(0.5, winner, winner, 0.0, 0.0, 0.0, 0.0, 0.0, policy=ownership, ownership_black=ownership)
        reports = [replace(report, raw=raw) for report in reports]
        outcome = outcome_of_ended(game, status, reports)
        assert (outcome.is_counted, outcome.score.winner) == (is_counted, WHITE)
        assert not outcome_of_ended(game, status, reports, is_settled=False).is_counted


@pytest.mark.parametrize(("other_lead", "is_counted"), [(-1.0, True), (0.2, True), (1.0, False)])
def test_two_searches_that_name_different_winners_are_not_called_counted(
    searches: Searches, other_lead: float, is_counted: bool
) -> None:
    """On 7x7 White moves first to a neutral point and wins by a point; the count is a draw."""
    game = game_of(LAST_DAME)
    game.komi += game.score().margin_black + 0.5
    game.play(PASS)
    game.play(PASS)
    ownership = ownership_of(game)
    status = replace(estimate_status(game, ownership), is_decided=True)
    raw = RawEvaluation(0.5, -0.5, -0.5, *([0.0] * 5), policy=ownership, ownership_black=ownership)
    reports = [
        replace(searches.search_afresh(game, color, Limits(8)), lead_black=lead, raw=raw)
        for color, lead in ((BLACK, other_lead), (WHITE, -0.5))
    ]
    outcome = outcome_of_ended(game, status, reports)
    assert (outcome.is_counted, str(outcome.score)) == (is_counted, "W+0.5")


NEEDS_A_MOVE = (
    "(;KM[7]RU[Japanese]SZ[7];B[de];W[ec];B[dc];W[dd];B[ed];W[cd];B[fc];W[ee];B[eb];W[fd];B[ce];W[ec];B[cc];W[ed];B[b"
    "d];W[be];B[bf];W[bc];B[ae];W[fb];B[fa];W[gc];B[cb];W[bb];B[ba];W[ab];B[ad];W[da];B[ea];W"
    "[df];B[ef];W[ff];B[cf];W[eg];B[cg];W[ca];B[db];W[dg];B[ga];W[ca];B[ac];W[];B[])"
)
"""A draw by counting, with G6 neutral.  There White puts stones in atari, and Black has to capture at A7 or D7."""


def test_moves_that_neutral_points_force_in_territory_count_in_an_estimate(shipped: Engine) -> None:
    shipped.load_sgf(NEEDS_A_MOVE)
    found = shipped.outcome()
    assert found.status.neutral == (parse_vertex("G6", width=7, height=7),)
    assert shipped.game.score(found.status.dead).winner == EMPTY
    assert (str(found.score), found.is_counted) == ("W+1", False)


def test_stones_that_live_in_an_open_area_leave_the_lead_of_the_side_to_play(searches: Searches) -> None:
    """The mean of both sides' leads named another winner than the score before the passes."""
    game = game_of(TWO_ROWS)
    game.play(PASS)
    game.play(PASS)
    ownership = ownership_of(game)
    found = searches.search_afresh(game, BLACK, Limits(8))
    raw = RawEvaluation(0.5, 0.0, 0.0, *([0.0] * 5), policy=ownership, ownership_black=ownership)
    leads = {BLACK: 3.0, WHITE: -20.0}
    reports = [replace(found, to_play=color, lead_black=lead, raw=raw) for color, lead in leads.items()]
    outcome = outcome_of_ended(game, estimate_status(game, ownership), reports)
    assert (outcome.score.winner, outcome.is_counted) == (game.to_play, False)
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
