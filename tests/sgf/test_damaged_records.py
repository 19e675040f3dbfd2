"""Records that break the grammar, as common programs write them or as files get damaged: what can be read is read."""

import contextlib
import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sgf_support import at, parse, position

from gtp_engine.base.errors import SgfError
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.coords import Move
from gtp_engine.go.game import Game
from gtp_engine.go.rules import PRESETS
from gtp_engine.sgf import format_sgf, parse_sgf, play_record, record_to_game
from gtp_engine.sgf.collection import game_in, games_in
from gtp_engine.sgf.game_tree import GameTree

BACKSLASH = "a text ends with a backslash, as a Windows path: the bracket behind it was taken for its end"
SEVERAL = "several moves are in one node: each of them counts"
CASES = Path(__file__).parents[3] / "shared" / "cases" / "records"


@pytest.mark.parametrize(
    ("text", "moves", "note"),
    [
        ("(\nTE[Title]\nKO[6.5]\nPB[Ann]\n;B[pd];W[dp])", 2, "the semicolon before a node is missing"),
        (";GM[1]SZ[19];B[pd];W[dp])", 2, "the first parenthesis is missing"),
        (";SZ[9];B[ee](;W[cc])(;W[dd]))", 2, "the first parenthesis is missing"),
        ("(B[pd];W[dp])", 2, "the semicolon before a node is missing"),
        ("(B[pd]C[corner];W[dp])", 2, "the semicolon before a node is missing"),
        (";B[];W[dp]", 2, "the first parenthesis is missing"),
        ("\n B[pd];W[dp]", 2, "the first parenthesis is missing"),
        ("SZ[9]KM[7];B[cc];W[dd])", 2, "the semicolon before a node is missing"),
        ("B[cc] is an answer to (;SZ[9];B[ee])", 1, ""),
        ("(;SZ[9]US[name[3d]];B[ee];W[cc])", 2, "brackets in a text lack a backslash"),
        ("(;SZ[9];B[ee]C[see [1] and [2] here];W[cc];B[gg])", 3, "brackets in a text lack a backslash"),
        ("(;SZ[9];B[ee]C[one [1]] two];W[cc])", 2, "brackets in a text lack a backslash"),
        ("(;SZ[9];B[ee]C[(;B[cc];W[dd])];W[cc];B[gg])", 3, "brackets in a text lack a backslash"),
        ("(;SZ[9];B[ee]C[variation: ;W[dd];B[de]];W[cc];B[gg])", 3, "brackets in a text lack a backslash"),
        ("(;SZ[9];B[ee]C[x [b];W[cc] is possible];W[dd];B[gg])", 3, "brackets in a text lack a backslash"),
        ("(;SZ[9];B[ee]C[ref W[cc]B[dd]W[ee]];W[cc];B[gg])", 3, "brackets in a text lack a backslash"),
        ("(;SZ[9];B[ee]C[an open [ one];W[cc];B[gg])", 3, ""),
        (r"(;SZ[9]SO[C:\games\];B[ee];W[cc])", 2, BACKSLASH),
        ("(;SZ[9]SO[C:\\games\\]PC[D:\\club\\]\n;B[ee];W[cc]C[good])", 2, BACKSLASH),
        (r"(;so[C:\games\]sz[9];b[ee];w[cc])", 2, BACKSLASH),
        (r"(;SZ[9];B[ee]C[in C:\games\](;W[cc];B[gg])(;W[gc]))", 3, BACKSLASH),
        (r"(;SZ[9];B[ee];W[cc]C[in C:\games\])", 2, BACKSLASH),
        (r"(;SZ[9]C[written (;B[aa\];W[bb\])];B[ee];W[cc])", 2, ""),
        (r"(;SZ[9]C[:\] B[pd\] is good, C:\games\\];B[ee];W[cc])", 2, ""),
        ("(;SZ[9]PB[Ann] stray text ;B[ee];W[cc])", 2, "a property without a value was left out"),
        ("(;SZ[9]PB[Ann] ? ;B[ee];W[cc])", 2, "text that belongs to no property was left out"),
        ("(;SZ[9];B[ee]];W[cc])", 2, "text that belongs to no property was left out"),
        ("(;SZ[9];B[ee]);W[cc];B[gg])", 3, "a parenthesis before the end of the game was left out"),
        ("(;SZ[9]);B[ee];W[cc])", 2, "a parenthesis before the end of the game was left out"),
        ("(;SZ[9];B[ee];W[cc]) B[gg];W[gc]", 2, ""),
        ("(;SZ[9];B[ee];W[cc]", 2, "the record has no end"),
        ("(;SZ[9];B[ee](;W[cc]", 2, "the record has no end"),
        ("(;SZ[9];B[ee];W[cc];B[g", 2, "the record is cut off in a value"),
        ("(;SZ[9];B[ee];W[cc];B", 2, "a property without a value was left out"),
        ("(;SZ[9]KM;B[ee])", 1, "a property without a value was left out"),
        ("(;SZ[9];[[dc]](;B[ee])(;B[cc]))", 1, "a value that belongs to no property was left out"),
        ("(;SZ[9];B[ee](W[cc])(;W[dd]))", 2, "the semicolon before a node is missing"),
        ("(;SZ[9];B[ee](;W[cc])B[dd])", 2, "a value that belongs to no property was left out"),
        ("(;SZ[9]AB[];B[ee])", 1, "AB: point '': expected two letters from aa to ii on 9x9; it was left out"),
        ("(;SZ[9]AW[aa][xy];B[ee])", 1, "AW: point 'xy': expected two letters from aa to ii on 9x9; it was left out"),
        ("(;SZ[9]AB[aa]AW[aa];B[ee])", 1, "a point is in two of AB, AW and AE: the last of them counts"),
        ("(;SZ[9];B[ee][first][cc][])", 2, "a second value of a move, which is not a point, was left out"),
        ("(;SZ[9];B[ee]W[]B[cc])", 3, "several moves are in one node: each of them counts"),
        ("(;SZ[19 by mistake];B[pd];W[TT])", 2, ""),
        ("(;SZ[large];B[pd])", 1, "board size 'large' is not a number; 19 was taken"),
        ("(;SZ[0];B[pd])", 1, "board size '0' is not a number; 19 was taken"),
        ("(;SZ[9]KM[900];B[ee])", 1, "komi '900' was read as 9 points, which it must mean"),
        ("(;SZ[9]KM[99];B[ee])", 1, "komi '99' is more than the board has points"),
        ("(;SZ[9]HA[3])", 0, "handicap 3 without stones was ignored"),
        ("(;SZ[9];B[ee][cc];W[dd])", 3, "several moves are in one node: each of them counts"),
        ("(;SZ[9];B[ee]W[cc]B[dd];W[gg])", 4, "several moves are in one node: each of them counts"),
        ("(;SZ[9]AB[cc]PL[x];W[ee])", 1, "player 'x' is not B or W and was ignored"),
        ("(;SZ[9]KM[6.5];KM[7]B[ee])", 1, "KM is given several times: '6.5' counts, '7' does not"),
        ("(;SZ[9]SZ[13];B[ee])", 1, "SZ is given several times: '9' counts, '13' does not"),
        ("(;SZ[9]RU[AGA][Japanese];B[ee])", 1, "RU is given several times: 'AGA' counts, 'Japanese' does not"),
        ("(;SZ[9];B[ee];W[ka];B[cc])", 1, "move 2: point 'ka': expected two letters from aa to ii on 9x9; "
         "what follows was left out"),
        ("(;GM[Friendly match]SZ[9];B[ee])", 1, "game 'Friendly match' is not known; Go was taken"),
        ("(;SZ[9];B[];B[];W[tt];W[tt])", 4, ""),
        ("(;SZ[9];B[ee]w[cc])", 1, ""),
        ("(;SZ[9];B[ee];W[kk];B[cc])", 3, "move 2: point 'kk' is beyond the board and was read as a pass"),
        ("(;SZ[19];B[pd];W[uu];B[dp])", 3, "move 2: point 'uu' is beyond the board and was read as a pass"),
    ],
)  # fmt: skip
def test_what_can_be_read_is_read(text: str, moves: int, note: str) -> None:
    record = parse(text)
    assert len(record.moves) == moves
    assert note in record.notes or not note


@pytest.mark.parametrize(
    "text",
    [
        "(;SZ[9]V1[x]X_Y[z];B[ee])",
        "(;gm[1]sz[9]\npb[Ann]\npw[Bob];b[ee])",
        "(;Gm[1]Sz[9]Km[5.5];B[ee])",
        "(;SZ[9 路];B[ee])",
        "(;GM[Go]SZ[9];B[ee])",
        "(;SZ[\uff19];B[ee])",
        "(;SZ[9]()(;B[ee]))",
        "(;SZ[9]C[a \\] b]PB[(;B[aa\\]];B[ee])",
        "(;SZ[9]PB[:[]PW[:\\]];B[ee])",
        "(;SZ[9]KM[6.5]KM[ 6.5 ];KM[6.5]B[ee])",
    ],
)
def test_what_means_the_same_needs_no_note(text: str) -> None:
    record = parse(text)
    assert (record.width, record.moves, record.notes) == (9, (Move(BLACK, at("E5", 9)),), ())


def test_moves_with_small_letters_count_where_there_are_no_others() -> None:
    record = parse("(;GM[1]SZ[9];b[ee];w[cc](;b[gg])(;b[gc]))")
    assert [at(vertex, 9) for vertex in ("E5", "C7", "G3")] == [move.point for move in record.moves]
    assert record.notes == ("moves have small letters as names",)
    assert GameTree(b"(;GM[1]SZ[9];b[ee];w[cc])").to_bytes() == b"(;GM[1]SZ[9];b[ee];w[cc])"
    assert len(parse("(;GM[1]SZ[9];b[ee];w[cc];B[gg])").moves) == 3, "a move was added"


@pytest.mark.parametrize("text", ["Game[1]Size[9]Komi[5.5];Black[ee]", "GAME[1]SIZE[9]KOMI[5.5];BLACK[ee]",
    "game[1]size[9]komi[5.5];black[ee]"])  # fmt: skip
def test_names_may_be_plain_words(text: str) -> None:
    record = parse(f"(;{text})")
    assert (record.width, record.komi, record.moves) == (9, 5.5, (Move(BLACK, at("E5", 9)),))


@pytest.mark.parametrize(
    ("text", "note"),
    [
        *(("B[ee;W[cc];B[gg]", "the bracket that ends a value is missing"),),
        *((f"{text};W[cc];B[gg]", "the bracket that ends a value is missing") for text in ("B[ee)", "B[ee]C[good")),
        *((f"B[ee]{text}W[cc]{text}B[gg]", SEVERAL) for text in ("\n", "")),
        *((f"B[ee]{text};W[cc];B[gg]", "a move that is written twice counts once") for text in (";B[ee]", "B[ee]")),
        *((text, "moves have small letters as names") for text in ("B[ee];w[cc];b[gg]", "b[ee];w[cc];b[gg]")),
        *((text, "") for text in ("B[[ee];W[cc];B[gg]",)),
    ],
)  # fmt: skip
def test_moves_beside_slips_of_the_pen_count_in_their_order(text: str, note: str) -> None:
    """The move in such a value was lost, what followed it was another game or no game, or moves changed places."""
    data = f"(;GM[1]SZ[9];{text})".encode()
    record = parse_sgf(data)
    assert [at(vertex, 9) for vertex in ("E5", "C7", "G3")] == [move.point for move in record.moves]
    assert [move.color for move in record.moves] == [BLACK, WHITE, BLACK]
    assert record.notes == ((note,) if note else ())
    tree = GameTree(data)
    assert tree.to_bytes() == data
    assert [len(tree.main_line()[-1].game().moves), tree.main_line()[-1].move_number] == [3, 3]


def test_a_variation_is_added_to_a_record_with_a_parenthesis_too_many() -> None:
    tree = GameTree(b"(;SZ[9];B[ee]);W[cc];B[gg])")
    tree.main_line()[1].add_move("A9")
    assert tree.to_bytes().replace(b"\n", b"") == b"(;SZ[9];B[ee](;W[cc];B[gg])(;W[aa]))"
    assert len(games_in(b"(;SZ[9];B[ee]);W[cc]) (;B[aa])")) == 2


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        *(("PB[Ann[3d]]PW[x]", "black_name", "Ann[3d]"), ("PW[Bob [x] (y)]", "white_name", "Bob [x] (y)")),
        *(("PB[O&#39;Brien &amp; Co]", "black_name", "O'Brien & Co"), ("KM[6&frac12;]", "komi", 6.5)),
        *(("PW[&#26607;&#27905;]", "white_name", "柯洁"), ("RE[W+0.25]", "result", "W+0.5")),
        *(("RE[W+R]", "result", "W+R"), ("ab[aa][bb]", "setup_stones", ((1, 11), (1, 22)))),
        *(("RE[B+2.75]", "result", "B+5.5"), ("RE[B+2.5]", "result", "B+2.5"), ("RE[Void]", "notes", ())),
        *((f"GM[1]PB[Ann PW[Bob]{end}", "white_name", "Bob") for end in ("KM[6.5PB[x]", "")),
        *(("PB[Ann PW[Bob]KM[6.5PB[x]", *each) for each in (("black_name", "Ann"), ("komi", 6.5))),
        ("C[written (;B[aa\\];W[bb\\])]", "notes", ()),
    ],
)  # fmt: skip
def test_what_values_of_the_game_mean(text: str, field: str, value: object) -> None:
    assert getattr(parse(f"(;GM[1]SZ[9]{text};B[ee];W[cc])"), field) == value


def test_the_properties_of_a_game_may_stand_in_later_nodes() -> None:
    record = parse("(;FF[4];KM[0.5]HA[2]RU[Japanese]SZ[9]PB[Ann]AB[cc][gg];W[ee];B[ce];PW[Bob]SZ[19])")
    assert (record.width, record.komi, record.handicap, record.rules) == (9, 0.5, 2, PRESETS["japanese"])
    assert (record.black_name, record.white_name) == ("Ann", "Bob")
    assert parse("(;B[ee];W[cc]SZ[9])").width == 19, "not after the first move"


@pytest.mark.parametrize(
    ("text", "komi", "has_note"),
    [
        *(("KM[3.75]RU[Chinese]", 7.5, True), ("KM[2.75]", 5.5, True), ("KM[375]AP[Other:1]", 7.5, True)),
        *(("KM[650]", 6.5, True), ("KM[750]", 7.5, True), ("KM[375]AP[foxwq]", 7.5, False), ("KM[7.5]", 7.5, False)),
        *(("KM[3.5]", 3.5, False), ("KM[361]", 361.0, False), ("KM[3.75]AP[Tengen:1]", 3.75, False)),
        *(
            ("KM[100.5]", 100.5, False),
            ("KO[6目半]", 6.5, False),
            ("KM[5.5]KO[6.5]", 5.5, False),
            ("KO[x]", None, False),
        ),
        *(("KO[3.75]", 7.5, True), ("KM[0.75]", 0.75, True), ("KM[3又3/4]", 7.5, True), ("KM[6.25]", 6.25, True)),
        *((";B[ee];W[cc]KO[1]", None, False), ("KO[5.5];W[cc]", 5.5, False), ("KO[5.5]W[cc]", 5.5, False)),
    ],
)
def test_komi_that_no_game_has_is_read_as_what_it_means(text: str, komi: float | None, has_note: bool) -> None:
    record = parse(f"(;{text};B[dd])")
    assert (record.komi, any("komi" in note for note in record.notes)) == (komi, has_note)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("(;CA[ISO-8859-1]PB[Jürgen])".encode(), "Jürgen"),
        ("(;CA[GBK]PB[日本語])".encode(), "日本語"),
        ("(;CA[GBK]PB[联通])".encode("gbk"), "联通"),
        ("(;PB[黑])".encode("utf-16-le"), "黑"),
        ("\n(;PB[黑])".encode("utf-16-be"), "黑"),
        ("(;CA[UTF-8]PB[古力]PW[李世石])".encode("gb18030"), "古力"),
        ("(;CA[UTF-8]PB[周俊勳]PW[張栩])".encode("big5"), "周俊勳"),
        ("(;CA[UTF-8]PB[Jürgen Groß]C[".encode() + b"\xfc cut here])", "Jürgen Groß"),
        ("(;CA[ISO-8859-1]PB[“Zoë”])".encode("cp1252"), "“Zoë”"),
    ],
)
def test_encodings_that_are_not_the_declared_ones(data: bytes, name: str) -> None:
    assert parse_sgf(data).black_name == name
    assert GameTree(data).to_bytes() == data


def test_a_record_is_used_up_to_an_illegal_move() -> None:
    record = parse("(;SZ[9];B[ee];W[ee];B[cc];AB[dd])")
    with pytest.raises(SgfError, match=r"^move 2 \(white\): illegal move: E5 is occupied$"):
        record_to_game(record)
    game, part = play_record(record)
    assert len(game.moves) == len(part.moves) == 1
    assert (part.later_setups, part.notes) == (
        (),
        ("move 2 (white): illegal move: E5 is occupied; what follows was left out",),
    )
    assert len(play_record(parse("(;SZ[9];B[ee];AB[cc];W[ee])"))[1].later_setups) == 1
    assert play_record(record, move_number=2)[1] is record, "nothing illegal is before it"
    assert (record.is_cut, part.is_cut) == (False, True)


def test_a_record_whose_first_move_is_illegal_has_its_position() -> None:
    game, part = play_record(parse("(;SZ[9]AB[ee];W[ee];B[cc])"))
    assert (game.vertex(game.setup_stones[0].point), part.moves, part.is_cut) == ("E5", (), True)
    assert part.notes == ("move 1 (white): illegal move: E5 is occupied; what follows was left out",)


@pytest.mark.parametrize(
    ("text", "note", "stones", "moves"),
    [
        ("AW[aa]AB[ab][ba];B[cc]", "at the start: 1 stone without a liberty left out, the first is A3", "A2 B3", 1),
        (";B[bb];AW[aa]AB[ab][ba];W[cc]", "after move 1: 1 stone without a liberty left out, the first is A3", "", 2),
        ("AB[aa:cc];B[bb]", "at the start: 9 stones without a liberty left out, the first is A3", "", 1),
        ("AB[aa][ab]AW[ba][bb][ac];B[cc]", "at the start: 2 stones without a liberty left out, the first is A3", "", 1),
    ],
)
def test_stones_without_a_liberty_are_not_set_up(text: str, note: str, stones: str, moves: int) -> None:
    game, record = play_record(parse(f"(;SZ[3]{text})"))
    assert (record.notes, len(record.moves), record.is_cut) == ((f"set-up {note}",), moves, False)
    black = [game.vertex(stone.point) for stone in game.setup_stones if stone.color == BLACK]
    assert not stones or black == stones.split()
    assert position(record_to_game(record)) == position(game)


@pytest.mark.parametrize(
    ("text", "is_cut"),
    [
        *(("(;SZ[9]RE[B+R];B[ee];W[c", True), ("(;SZ[9]RE[B+R];B[ee];W[cc]", False)),
        *(("(;SZ[9];B[ee];W[ka];B[cc])", True), ("(;SZ[9];B[ee](;W[cc])(;W[d", False)),
    ],
)
def test_a_record_knows_whether_moves_are_missing(text: str, is_cut: bool) -> None:
    assert parse(text).is_cut == is_cut


def test_a_resignation_in_place_of_a_move_ends_the_game() -> None:
    """Little Golem writes it; the result of the record was lost."""
    for text, result in [("B[resign]", "W+R"), ("W[Resigns]", "B+R"), ("RE[B+3.5]", "B+3.5"), ("W[投了]", "B+R")]:
        data = f"(;SZ[9];B[ee];W[cc];{text})".encode()
        record = parse_sgf(data)
        assert (len(record.moves), record.result, record.is_cut) == (2, result, False)
        tree = GameTree(data)
        assert (tree.to_bytes(), tree.main_line()[-1].move, len(tree.main_line()[-1].game().moves)) == (data, None, 2)


@pytest.mark.parametrize("text", ["(;)\n", "Subject: a game (;-)\n\n", "(: see (;) and (;o) \n"])
def test_what_is_closed_before_its_first_value_is_no_game(text: str) -> None:
    """A smiley in a letter made the record unreadable, and an empty tree was the game, or one of several."""
    data = f"{text}(;SZ[9];B[ee];W[cc])".encode()
    assert (parse_sgf(data).width, len(parse_sgf(data).moves), parse_sgf(data).notes) == (9, 2, ())
    assert GameTree(data).to_bytes() == data
    assert games_in(data + b" (;)") == [b"(;SZ[9];B[ee];W[cc])"]
    assert parse("(;)").moves == ()


def test_the_first_of_several_games_is_taken_with_a_note() -> None:
    note = "the file has several games: the first was taken; to take another, split the file"
    for text in ("(;SZ[9];B[ee])(;SZ[9];B[cc])", "(;SZ[9];B[ee])\n\n( ; GM[1])", "(;SZ[9];B[ee]) x (;B[cc]"):
        record = parse(text)
        assert (len(record.moves), record.notes) == (1, (note,))
    assert parse("(;SZ[9];B[ee]) (end;)").notes == ()


def test_a_record_without_an_end_gets_one_when_it_is_written() -> None:
    tree = GameTree(b"(;SZ[9];B[ee](;W[cc];B[dd];W[g")
    _, first, second, *_ = tree.main_line()
    first.add_move("A9")
    second.add_move("B8")
    (game,) = games_in(tree.to_bytes())
    assert game.replace(b"\n", b"") == b"(;SZ[9];B[ee](;W[cc](;B[dd];)(;B[bb]))(;W[aa]))"


def test_a_file_of_games_with_brackets_is_split() -> None:
    games = [b"(;C[a [1] b];B[aa])", b"(;C[(;B[cc\\]];B[bb])", b"(SZ[9];B[cc])"]
    assert games_in(b" ".join(games)) == games
    assert game_in(b"(;B[aa]) (;", None) == b"(;B[aa]) (;"


def damaged(data: bytes, place: int, draw: random.Random) -> bytes:
    """Return a record with some bytes from a place on dropped, doubled, moved or cut off."""
    count = draw.choice((1, 1, 2, 5, 20))
    piece, rest = data[place : place + count], data[place + count :]
    other = draw.randrange(len(rest) + 1)
    changes: tuple[Callable[[], bytes], ...] = (
        lambda: rest,
        lambda: piece + piece + rest,
        lambda: rest[:other] + piece + rest[other:],
        lambda: b"",
    )
    return data[:place] + draw.choice(changes)()


def random_record(draw: random.Random) -> bytes:
    """Return a good record with comments and a variation."""
    game = Game(9, 9)
    for _ in range(draw.randrange(5, 40)):
        game.play(Move(game.to_play, draw.choice(game.legal_points())))
    nodes = format_sgf(game, black_name="Ann (1)", white_name=r"B\o[b]").split(";")
    nodes[3] = nodes[3].rstrip("\n)") + "C[see (1\\]; and more]"
    return ";".join(nodes).replace("\n", "").encode()


def test_damaged_records_have_all_moves_before_the_damage() -> None:
    draw = random.Random(5)
    records = [random_record(draw) for _ in range(40)]
    for number in range(600):
        data = records[number % len(records)]
        place = draw.randrange(data.index(b";", 2) + 1, len(data))
        whole = parse_sgf(data).moves
        # The moves whose bytes, and what shows that their values have ended, lie before the damage.
        before = sum(found.end() + 1 < place for found in re.finditer(rb";[BW]\[\w*\]", data))
        broken = damaged(data, place, draw)
        _, record = play_record(parse_sgf(broken))
        assert record.moves[:before] == whole[:before], (number, data, broken)


@pytest.mark.skipif(not CASES.is_dir(), reason="the shared cases are not here")
def test_every_shared_case_is_read() -> None:
    files = sorted(CASES.glob("[rs][0-9]*.sgf"))
    moves = {path.name[:3]: len(play_record(parse_sgf(path.read_bytes()))[1].moves) for path in files}
    expected = "r01 6 r03 3 r04 3 r06 4 r07 3 r09 2 r10 2 r12 11 r13 2 r15 2 r16 2 r18 1 s01 4 s02 2 s04 2 s06 3 s07 2"
    assert " ".join(f"{name} {count}" for name, count in moves.items()) == expected


PIECES = (
    b"(;",
    b"(",
    b";",
    b")",
    b"B[aa]",
    b"W[bb]",
    b"C[x",
    b"C[",
    b"]",
    b"\\]",
    b"[",
    b"\\",
    b"x",
    b" ",
    b"PB[a",
    b"b[cc]",
)


SET_UPS = (
    b"AB[aa:ss]",
    b"AW[ss:aa]",
    b"AE[aa:ii][ii:ss]",
    b"AB[aa][bb]",
    b"AW[aa]",
    b"PL[B]",
    b";",
    b";B[dd]",
    b"HA[9]",
    b"SZ[9]",
    b"AB[aa:yy]AE[aa:yy]",
)
"""Pieces of set-ups, seven bytes of which name every point of a board."""


def seconds_per_byte(read: Callable[[bytes], object], text: bytes) -> float:
    """Return the processor time that reading takes for each byte."""
    start = time.process_time()
    with contextlib.suppress(SgfError):
        read(text)
    return (time.process_time() - start) / len(text)


def repeated(unit: bytes, start: bytes = b"", end: bytes = b"", size: int = 8_000) -> bytes:
    return start + unit * (size // len(unit)) + end


MOVES = b";B[ee]C[see [1] here];W[cc]"


def test_no_record_takes_much_longer_for_a_byte() -> None:
    """What was sought in vain was sought again for each game: 8,000 games took 16 s; 38 kB of set-ups took 9 s.

    One that seems to is measured beside an ordinary one, because others run beside this test.
    """
    readers: tuple[Callable[[bytes], object], ...] = games_in, parse_sgf, GameTree
    ordinary = repeated(b"(;SZ[9]" + MOVES + b")"), *[repeated(MOVES, b"(;SZ[9]", b")")] * 2
    usual = [min(seconds_per_byte(*each) for _ in range(5)) for each in zip(readers, ordinary, strict=True)]
    draw = random.Random(7)
    texts = [repeated(b"(;C[x\\])", size=40_000)] * len(readers)
    for number in range(300):
        pieces = PIECES if number % 2 else SET_UPS
        unit, end = b"".join(draw.choices(pieces, k=draw.randrange(1, 9))), draw.choice([b"", b"]", b")"])
        texts.append(repeated(unit, draw.choice([b"", b"(;SZ[19]", b"(;SZ[25];B[bb]"]), end))
    for number, text in enumerate(texts):
        read, beside = readers[number % 3], ordinary[number % 3]
        if seconds_per_byte(read, text) >= 4 * usual[number % 3]:
            pairs = ((seconds_per_byte(read, text), seconds_per_byte(read, beside)) for _ in range(5))
            assert any(seconds < 4 * most for seconds, most in pairs), (read, text[:100])
