"""Scores, dead stones and passes at the end of games that the shipped networks played or that were reported wrong."""

from collections.abc import Iterator

import pytest

from gtp_engine.config import Config
from gtp_engine.engine import Engine
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import point_to_xy
from gtp_engine.nn.loading import load_evaluator

BIG_GROUP = (
    13,
    "ad ae ai aj be bh bi ce ch cm df dg dk dl dm ee ef ej ek ff fg fk ga gg gk ha hb hc hj id ii ij jc jd je jh jj kd "
    "kf kh ki lc lf li md mf mh mi",
    "ac ak bb bd bj bl bm cd ci cj ck cl dc dd de dh dj eb ed eh ei fa fe fh fj gb gc gd gf gh gj hd hf hg hh hi ie ih "
    "jf jg kg lg lh mg",
)
"""The winner depended on how the board was turned, by 47 points: a black group was dead in one orientation."""

ATARI_STONE = (
    13,
    "mb mc me mf mh mi la lb lc lf lg lh kb kc kg kh jd jf jh ie ig hd hg hl gc gd gh gi gl gm fb fc fh fk fl ea ef eg "
    "el dd de dg ce ck cl cm bd bf bk bl af ag ak am",
    "mj mm li lj lk ll lm ka ki kk kl ja jb jc ji jk jm ia ic id ih ij il im hb hc hh hi hk hm ga gb gj fa fi fj fm eh "
    "ei ek em df dh di dj dk dl dm cf cg ch cj bg bh bj ah aj",
)
"""One black stone at the top, called dead, made forty points neutral, and White won."""


@pytest.fixture(scope="module")
def shipped() -> Iterator[Engine]:
    config = Config().with_values({"search.seed": "1", "network.network_threads": "1"})
    with Engine(config, evaluator=load_evaluator(config.network, log=lambda line: None, board=(9, 9))) as engine:
        yield engine


def record_of(size: int, black: str, white: str, symmetry: int, rules: str = "Chinese") -> bytes:
    """Return a game that is over, with these stones, mirrored by bits 1 and 2 and transposed by bit 4."""

    def turned(text: str) -> str:
        found = []
        for x, y in ((ord(point[0]) - 97, ord(point[1]) - 97) for point in text.split()):
            column, row = (size - 1 - x if symmetry & 2 else x), (size - 1 - y if symmetry & 1 else y)
            column, row = (row, column) if symmetry & 4 else (column, row)
            found.append(f"[{chr(97 + column)}{chr(97 + row)}]")
        return "".join(found)

    return f"(;SZ[{size}]RU[{rules}]KM[7.5]AB{turned(black)}AW{turned(white)}PL[B];B[];W[])".encode()


@pytest.mark.parametrize("symmetry", range(8))
@pytest.mark.parametrize(
    ("position", "score", "dead"), [(BIG_GROUP, "B+24.5", 0), (ATARI_STONE, "B+3.5", 6)], ids=["group", "stone"]
)
def test_a_score_does_not_depend_on_how_the_board_is_turned(
    shipped: Engine, position: tuple[int, str, str], score: str, dead: int, symmetry: int
) -> None:
    shipped.load_sgf(record_of(*position, symmetry))
    found = shipped.outcome()
    assert (str(found.score), len(found.status.dead)) == (score, dead)


def test_an_estimate_is_possible_on_the_board(shipped: Engine) -> None:
    """Black had 93 points on 9x9; and with a komi of 100 White had more than the board and the komi."""
    shipped.load_sgf(
        b"(;SZ[9]KM[7.5]RU[Chinese];B[ee];W[ai];B[cg];W[ii];B[gc];W[aa];B[cc];W[ia];B[gg];W[ae];B[bh];W[ie];B[he])"
    )
    found = shipped.outcome()
    assert (str(found.score), found.is_counted) == ("B+73.5", False)
    for komi in (-150.0, 150.0):
        shipped.set_komi(komi)
        assert abs(shipped.score().margin_black + komi) <= 81


SEKI = (
    "ba da ea fa ga ha ia ab bb cb db eb fb gb hb ib af bf cf df ef ff gf hf if ag cg dg eg fg gg hg ig ah bh ch dh eh "
    "fh gh hh ih",
    "ac bc cc dc ec fc gc hc ic ad cd dd ed fd gd hd id ae be ce de ee fe ge he ai bi ci di ei fi gi hi ii aj bj cj dj "
    "ej fj gj hj ij bk dk ek fk gk hk ik",
)
"""On 9 columns and 11 rows; the two groups in the middle have an eye each, B8 and B5, and share J7."""


def test_eyes_in_seki_are_no_territory_by_japanese_rules(shipped: Engine) -> None:
    points = ["".join(f"[{point}]" for point in text.split()) for text in SEKI]
    for rules, eyes, score in (("Japanese", "dame", "W+0.5"), ("Chinese", "white_territory", "W+8.5")):
        shipped.load_sgf(f"(;SZ[9:11]RU[{rules}]KM[0.5]AB{points[0]}AW{points[1]}PL[B];B[];W[])".encode())
        found = shipped.outcome()
        status = {point_to_xy(point, width=9): name for point, name in found.statuses.items()}
        assert (status[1, 3], status[8, 4], str(found.score)) == (eyes, "dame", score)


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
        engine.set_position(
            [(color, vertex) for color, text in zip((BLACK, WHITE), DEAD_LEFT, strict=True) for vertex in text.split()]
        )
        for _ in range(20):
            engine.play(WHITE, PASS)
            if engine.genmove(BLACK).point == PASS:
                break
        assert str(engine.score()) == "B+29"
