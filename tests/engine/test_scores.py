"""Scores, dead stones and passes at the end of games that the shipped networks played or that were reported wrong."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gtp_engine.config import Config
from gtp_engine.engine import Engine
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import transformed_points
from gtp_engine.go.rules import Rules
from gtp_engine.nn.loading import load_evaluator

CASES = Path(__file__).parents[1] / "data" / "cases"


@pytest.fixture(scope="module")
def shipped() -> Iterator[Engine]:
    config = Config().with_values({"search.seed": "1", "network.network_threads": "1"})
    with Engine(config, evaluator=load_evaluator(config.network, log=lambda line: None, board=(9, 9))) as engine:
        yield engine


def load(engine: Engine, name: str, symmetry: int = 0) -> None:
    engine.load_sgf((CASES / f"{name}.sgf").read_bytes())
    engine.set_game(engine.game.transformed(symmetry))


@pytest.mark.parametrize("symmetry", range(8))
@pytest.mark.parametrize(
    ("name", "score", "dead"),
    [("big_group_called_dead_mirrored_13", "B+24.5", 0), ("atari_stone_opens_area_13", "B+3.5", 6)],
)
def test_a_score_does_not_depend_on_how_the_board_is_turned(
    shipped: Engine, name: str, score: str, dead: int, symmetry: int
) -> None:
    """A black group was dead in one orientation, 47 points; one stone called dead made forty points neutral."""
    load(shipped, name, symmetry)
    found = shipped.outcome()
    assert (str(found.score), len(found.status.dead)) == (score, dead)


@pytest.mark.parametrize("rules", ["chinese", "japanese"])
def test_dead_stones_turn_with_a_rectangle(shipped: Engine, rules: str) -> None:
    """A network has four orientations of a rectangle: those of the board turned by 90 degrees were others."""
    found = set()
    for symmetry in range(8):
        load(shipped, "finished_7x9", symmetry)
        shipped.set_rules(Rules.parse(rules))
        outcome = shipped.outcome()
        back: dict[int, int] = {turned: point for point, turned in transformed_points(symmetry, 7, 9).items()}
        ownership = tuple(
            round(float(outcome.status.ownership_black[point]), 3) for point in sorted(back, key=back.__getitem__)
        )
        found.add((str(outcome.score), outcome.doubt, frozenset(back[p] for p in outcome.status.dead), ownership))
    assert len(found) == 1


def test_an_estimate_is_possible_on_the_board(shipped: Engine) -> None:
    """Black had 93 points on 9x9; and with a komi of 100 White had more than the board and the komi."""
    load(shipped, "lead_beyond_board_9")
    found = shipped.outcome()
    assert (str(found.score), found.is_counted) == ("B+73.5", False)
    for komi in (-150.0, 150.0):
        shipped.set_komi(komi)
        assert abs(shipped.score().margin_black + komi) <= 81


@pytest.mark.parametrize(("rules", "eyes", "score"), [("Japanese", "dame", "W+0.5"), ("Chinese", "territory", "W+8.5")])
def test_eyes_in_seki_are_no_territory_by_japanese_rules(shipped: Engine, rules: str, eyes: str, score: str) -> None:
    """The two groups in the middle have an eye each, B8 and B5, and share J7: who plays there is captured."""
    load(shipped, "seki_eyes_marked_as_territory")
    shipped.set_rules(Rules.parse(rules))
    shipped.set_komi(0.5)
    found = shipped.outcome()
    statuses = {shipped.game.vertex(point): status for point, status in found.statuses.items()}
    assert (statuses["B8"][-len(eyes) :], statuses["J7"]) == (eyes, "dame")
    assert (str(found.score), found.is_counted) == (score, True)


def test_no_neutral_point_is_filled_while_a_chain_is_in_danger(shipped: Engine) -> None:
    """Eight visits gave a neutral point two and the moves that save seven stones, and the game, one or two each."""
    shipped.configure({"search.visits": "8"})
    load(shipped, "pass_loses_chain", symmetry=5)
    saving = {transformed_points(5, 19, 19)[shipped.game.point(vertex)] for vertex in ("J7", "J8", "J9", "K7", "K8")}
    assert shipped.genmove(WHITE, play=False).point in saving


BULKY_FIVE = (
    ";B[de];W[fe];B[ec];W[fg];B[gd];W[ge];B[hd];W[be];B[dg];W[cc];B[eh];W[fh];B[he];W[hf];B[hg];W[if];B[bf];W[ce];B[cf];W[dd];B[ed];W[ee]"
    ";B[df];W[db];B[eb];W[dc];B[ae];W[bd];B[bb];W[bc];B[da];W[ca];B[ea];W[cb];B[hh];W[fd];B[fc];W[gc];B[gb];W[hi];B[gf];W[gg];B[ig];W[ff]"
    ";B[ie];W[gf];B[hc];W[gh];B[fi];W[ih];B[ad];W[ac];B[af];W[eg];B[dh];W[bh];B[ch];W[bg];B[bi];W[ah];B[ei];W[gi];B[ef];W[ci];B[di];W[ai]"
    ";B[ci];W[];B[]"
)
"""The network is certain of a seki at A2; but White plays A3, and Black takes five stones and has one eye."""


def test_what_the_network_is_certain_of_without_a_proof_is_an_estimate(shipped: Engine) -> None:
    shipped.load_sgf(f"(;SZ[9]RU[Chinese]KM[7]{BULKY_FIVE})".encode())
    assert not shipped.outcome().is_counted


DEAD_LEFT = (
    "B7 A6 B6 A5 B5 C5 D5 E5 F5 G5 A1 B1 C1 D1 E1 F1 G1",
    "C7 E7 G7 C6 D6 E6 F6 G6 B3 D3 F3",
)


def test_dead_stones_are_captured_before_a_pass_where_all_stones_count() -> None:
    """It passed with three white stones on the board, and had 25 points for 29."""
    config = Config().with_values(
        {
            "search.seed": "1",
            "search.visits": "30",
            "game.board_size": "7",
            "game.rules": "tromp-taylor",
            "game.komi": "0",
        }
    )
    with Engine(config, evaluator=load_evaluator(config.network, log=lambda line: None, board=(7, 7))) as engine:
        engine.set_up(
            [(color, vertex) for color, text in zip((BLACK, WHITE), DEAD_LEFT, strict=True) for vertex in text.split()]
        )
        for _ in range(20):
            engine.play(PASS, WHITE)
            if engine.genmove(BLACK).point == PASS:
                break
        assert str(engine.score()) == "B+29"
