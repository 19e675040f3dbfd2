"""Records played and written: positions before a move, exact text, and that writing and reading agree."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from busy_machine import bound
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sgf_support import all_rules, load, parse, position
from sgfmill import sgf as sgfmill_sgf

from gtp_engine import __version__
from gtp_engine.base.errors import IllegalMoveError, SgfError
from gtp_engine.go.constants import BLACK, EMPTY, MAX_SIZE, MIN_SIZE, PASS, WHITE
from gtp_engine.go.coords import Move, board_points, format_vertex
from gtp_engine.go.game import Game
from gtp_engine.go.handicap import fixed_handicap_points, free_handicap_points
from gtp_engine.go.rules import PRESETS
from gtp_engine.sgf import format_sgf, parse_sgf, record_to_game

GNUGO = shutil.which("gnugo") or shutil.which("gnugo", path="/usr/games")


def test_komi_and_rules_of_the_caller_count_when_the_record_has_none() -> None:
    game = record_to_game(parse("(;B[aa])"), rules=PRESETS["aga"], komi=3.75)
    assert (game.rules, game.komi) == (PRESETS["aga"], 3.75)
    game = record_to_game(parse("(;KM[0]RU[Japanese])"), rules=PRESETS["aga"], komi=3.75)
    assert (game.rules, game.komi) == (PRESETS["japanese"], 0.0)
    assert record_to_game(parse("(;RU[Japanese])")).komi == 6.5
    assert "HA[" not in format_sgf(load("(;AB[dp][pd]PL[B])")), "Black moves first"


def test_illegal_records_name_the_move_unless_it_comes_later() -> None:
    text = "(;SZ[2]RU[Chinese];B[aa];W[];B[bb];W[ba])"
    with pytest.raises(SgfError, match=r"move 4 \(white\): illegal move: B2 is suicide"):
        load(text)
    assert len(load(text, 4).moves) == 3
    with pytest.raises(SgfError, match="move number 0: expected 1 or more"):
        load(text, 0)


@pytest.mark.parametrize(
    ("text", "vertex", "color"),
    [
        ("(;SZ[5]AB[ba][ab][bc]AW[ca][bb][db][cc];B[cb];W[bb])", "C4", EMPTY),
        ("(;GM[1]FF[4]SZ[9]KM[7]RU[Chinese];B[ah];W[ai];B[bh];W[ia];B[ci];W[bi];B[ii])", "A1", EMPTY),
    ],
)
def test_a_ko_that_is_retaken_and_suicides_are_played(text: str, vertex: str, color: int) -> None:
    game = load(text)
    assert game.color_at(vertex) == color
    assert position(load(format_sgf(game))) == position(game)


def test_a_written_record_byte_for_byte() -> None:
    game = Game(9, rules=PRESETS["japanese"], komi=6.5)
    for vertex in ("E5", "C3", "pass"):
        game.play(vertex)
    text = format_sgf(game, black_name="Black [1]", white_name="a\\b\n\nc", result="B+3.5", date="2026-01-31")
    assert text == (
        f"(;FF[4]AP[Tengen:{__version__}]CA[UTF-8]DT[2026-01-31]GM[1]KM[6.5]PB[Black [1\\]]\n"
        "PW[a\\\\b  c]RE[B+3.5]RU[Japanese]SZ[9];B[ee];W[cg];B[])"
    )


def test_long_records_have_no_empty_line_and_moderate_lines() -> None:
    game = Game(19)
    for count, point in enumerate(board_points(19, 19)):
        game.play(point if count % 2 == 0 else PASS)
        lines = format_sgf(game, black_name="B" * 200).split("\n")
        assert all(len(line) < 80 or "PB" in line for line in lines) and all(lines)


@given(name=st.text(st.characters(), min_size=1))
def test_names_are_one_line_and_come_back(name: str) -> None:
    text = format_sgf(Game(2), black_name=name, result=name)
    assert all(line.strip() for line in text.split("\n"))
    record = parse_sgf(text.encode())
    expected = "".join(char if char.isprintable() else " " for char in name)
    assert (record.black_name or "") == expected.strip()
    assert record.result == record.black_name


def test_sgfmill_reads_the_same_game() -> None:
    game = Game(13, komi=3.75)
    game.set_handicap(fixed_handicap_points(4, 13, 13))
    for vertex in ("C3", "L11", "pass", "A13"):
        game.play(vertex)
    other = sgfmill_sgf.Sgf_game.from_bytes(format_sgf(game, white_name="白").encode())
    assert (other.get_size(), other.get_komi(), other.get_handicap()) == (13, 3.75, 4)
    assert other.get_player_name("w") == "白"
    moves = [node.get_move() for node in other.get_main_sequence()[1:]]
    assert moves == [("w", (2, 2)), ("b", (10, 10)), ("w", None), ("b", (12, 0))]


@st.composite
def games(draw: st.DrawFn, max_size: int = MAX_SIZE, *, square: bool = False, max_moves: int = 40) -> Game:
    """Return a game of random stones, passes and colours, with set-up or handicap or neither."""
    width = draw(st.integers(MIN_SIZE, max_size))
    height = width if square else draw(st.integers(MIN_SIZE, max_size))
    komi = draw(st.sampled_from((3.75, -0.5, 0.0, 1e3, 7.5)) | st.floats(allow_nan=False, allow_infinity=False))
    game = Game(width, height, draw(all_rules()), komi)
    points = board_points(width, height)
    if draw(st.booleans()):
        game.set_handicap(free_handicap_points(draw(st.integers(2, min(20, len(points) - 1))), width, height))
    elif draw(st.booleans()):
        stones = draw(st.lists(st.sampled_from(points), unique=True, max_size=30))
        colors = draw(st.lists(st.sampled_from((BLACK, WHITE)), min_size=len(stones), max_size=len(stones)))
        try:
            game.set_up(map(Move, colors, stones), draw(st.sampled_from((BLACK, WHITE))))
        except IllegalMoveError:
            assume(False)
    for point in draw(st.lists(st.sampled_from((PASS, *points)), max_size=max_moves)):
        color = draw(st.sampled_from((None, None, None, BLACK, WHITE)))
        if game.illegal_reason(point, color) in (None, "superko"):
            game.play(point, color, tolerant=True)
    if draw(st.booleans()):
        game.to_play = draw(st.sampled_from((BLACK, WHITE)))
    return game


def facts(game: Game) -> dict[str, object]:
    names = ("moves", "first_player", "to_play", "handicap", "komi", "rules", "ko_point", "captures", "hash")
    found = {name: getattr(game, name) for name in ("width", "height", *names)}
    return found | {"position": position(game), "setup": set(game.setup_stones)}


@given(game=games())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_write_and_read_are_inverse(game: Game) -> None:
    text = format_sgf(game)
    assert all(line.strip() for line in text.split("\n"))
    record = parse_sgf(text.encode())
    assert record.notes == ()
    again = record_to_game(record)
    assert facts(again) == facts(game)
    assert format_sgf(again) == text


@given(game=games(max_size=7), data=st.data())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_every_position_of_a_record_comes_back(game: Game, data: st.DataObject) -> None:
    number = data.draw(st.integers(1, len(game.moves) + 1))
    part = record_to_game(parse_sgf(format_sgf(game).encode()), move_number=number)
    assert part.moves == game.moves[: number - 1]
    assert part.to_play == (game.moves[number - 1].color if number <= len(game.moves) else game.to_play)
    game.undo(len(game.moves) - number + 1)
    assert position(part) == position(game)
    assert part.ko_point == game.ko_point


@pytest.mark.skipif(GNUGO is None, reason="GNU Go is not installed")
def test_gnugo_reads_the_same_position(tmp_path: Path) -> None:
    assert GNUGO is not None
    game = Game(9, rules=PRESETS["japanese"], komi=3.5)
    game.set_handicap(fixed_handicap_points(3, 9, 9))
    choose = random.Random(1).choice
    for _ in range(60):
        game.play(choose(game.legal_points()))
    path = tmp_path / "game.sgf"
    path.write_text(format_sgf(game), encoding="utf-8")
    commands = f"loadsgf {path}\nlist_stones black\nlist_stones white\nget_komi\nloadsgf {path} 21\nquit\n"
    done = subprocess.run(
        [GNUGO, "--mode", "gtp"], input=commands, capture_output=True, text=True, timeout=bound(60), check=True
    )
    answers = [answer.removeprefix("=").strip() for answer in done.stdout.split("\n\n")]
    to_play = "black" if game.to_play == BLACK else "white"
    stones = [
        sorted(format_vertex(p, width=9, height=9) for p in board_points(9, 9) if game.color_at(p) == color)
        for color in (BLACK, WHITE)
    ]
    assert answers[0] == to_play
    assert [sorted(answers[1].split()), sorted(answers[2].split())] == stones
    assert (float(answers[3]), answers[4]) == (3.5, "white")
