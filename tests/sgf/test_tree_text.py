"""TreeText: what is inserted, and that everything else survives byte for byte."""

from pathlib import Path

import pytest
from sgfmill import sgf

from gtp_engine.errors import SgfError
from gtp_engine.sgf import parse_sgf
from gtp_engine.sgf.text_encoding import sections_of
from gtp_engine.sgf.tree_text import TreeText, escaped, game_in, games_in

FILES = sorted((Path(__file__).parent.parent / "data" / "sgf").glob("*.sgf"))


def text_of(text: str) -> TreeText:
    return TreeText(text.encode())


def test_properties_go_to_the_end_of_their_node() -> None:
    tree = text_of("(;SZ[9] ;B[aa] C[hi] ;W[bb])")
    assert tree.add_property(tree.nodes[1], "SBKV", "50")
    assert not tree.add_property(tree.nodes[0], "SZ", "13"), "the original's value stays"
    assert tree.to_bytes() == b"(;SZ[9] ;B[aa] C[hi]SBKV[50] ;W[bb])"


def test_properties_are_removed_wherever_they_stand_in_a_node() -> None:
    tree = text_of("(;SZ[9]TB[aa];TB[aa]\n[bb:cc] C[TB[a\\]] TerritoryWhite[dd] B[aa]TB[ee];TB[ff])")
    tree.remove_properties(tree.nodes[1], ("TB", "TW", "MA"))
    tree.add_values(tree.nodes[1], "TB", ["gg"])
    assert tree.to_bytes() == b"(;SZ[9]TB[aa]; C[TB[a\\]] B[aa]TB[gg];TB[ff])"


def test_a_comment_goes_below_the_one_that_is_there() -> None:
    tree = text_of(r"(;C[one \] two];B[aa])")
    tree.add_comment(tree.nodes[0], "a ] b")
    tree.add_comment(tree.nodes[1], "new")
    assert tree.to_bytes() == b"(;C[one \\] two\n\na \\] b];B[aa]C[new])"


@pytest.mark.parametrize(
    ("record", "after", "expected"),
    [
        ("(;SZ[9];B[aa];W[bb];B[cc])", 1, "(;SZ[9];B[aa](;W[bb];B[cc])(;W[xx]))"),
        ("(;SZ[9];B[aa](;W[bb])(;W[dd]))", 1, "(;SZ[9];B[aa](;W[bb])(;W[dd])(;W[xx]))"),
        ("(;SZ[9];B[aa](;W[bb];B[cc])(;W[dd]))", 2, "(;SZ[9];B[aa](;W[bb](;B[cc])(;W[xx]))(;W[dd]))"),
        ("(;SZ[9];B[aa])", 1, "(;SZ[9];B[aa])"),
    ],
)
def test_variations_begin_where_they_should(record: str, after: int, expected: str) -> None:
    tree = text_of(record)
    tree.add_variations({after: [";W[xx]"]})
    assert tree.to_bytes().decode().replace("\n", "") == expected


def test_variations_at_several_nodes_are_nested() -> None:
    tree = text_of("(;SZ[9];B[aa];W[bb];B[cc];W[dd])")
    tree.add_variations({0: [";B[ee]"], 2: [";B[ff]", ";B[gg]"]})
    game = sgf.Sgf_game.from_bytes(tree.to_bytes())
    main = game.get_main_sequence()
    assert [node.get_move()[1] for node in main[1:]] == [(8, 0), (7, 1), (6, 2), (5, 3)]
    assert [len(node) for node in main] == [2, 1, 3, 1, 0]


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_every_encoding_survives_byte_for_byte(path: Path) -> None:
    data = path.read_bytes()
    tree = TreeText(data)
    assert tree.to_bytes() == data
    assert sum(node.moves for node in tree.nodes) == len(parse_sgf(data).moves)
    tree.add_property(tree.nodes[-1], "TENGEN", "x")
    inserted = "TENGEN[x]".encode("utf-16-le" if path.stem == "utf16" else "ascii")
    assert tree.to_bytes().replace(inserted, b"", 1) == data


def test_properties_of_old_records_count_by_their_capitals() -> None:
    tree = text_of("(;SiZe[9];Black[aa]Comment[hi])")
    assert tree.nodes[1].moves == 1
    assert not tree.add_property(tree.nodes[1], "C", "no")


def test_nodes_of_variations_are_no_nodes_of_the_main_line() -> None:
    assert [node.moves for node in text_of("(;(;B[aa](;W[bb])(;W[cc];B[dd]))(;B[ee]))").nodes] == [0, 1, 1]


@pytest.mark.parametrize("record", ["", "hello", "(;", "(;SZ[9"])
def test_what_is_not_a_game_is_refused(record: str) -> None:
    with pytest.raises(SgfError):
        text_of(record)


def test_a_file_of_several_games_is_split() -> None:
    assert games_in(b"x (;C[(;]) y (;B[aa](;W[bb])) (;W[cc]") == [b"(;C[(;])", b"(;B[aa](;W[bb]))", b"(;W[cc]"]


def test_a_game_of_a_file_is_named_by_its_number() -> None:
    several = b"(;B[aa]) (;B[bb])\n"
    assert [game_in(several, number) for number in (1, 2)] == [b"(;B[aa])", b"(;B[bb])"]
    assert game_in(b"x (;B[aa])\n", None) == game_in(b"x (;B[aa])\n", 1) == b"x (;B[aa])\n"
    assert game_in(b"(;CA[Shift_JIS]C[\xfa\x5b])", None), "it counts as one"
    for number, reason in ((None, "2 games in one file"), (3, "game 3 of 2")):
        with pytest.raises(SgfError, match=reason):
            game_in(several, number)


def test_escaped_text_reads_as_it_was() -> None:
    assert escaped("a]b\\c é") == "a\\]b\\\\c ?"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_the_games_of_a_file_with_a_byte_order_mark_keep_it(encoding: str) -> None:
    games = games_in("(;C[é];B[aa])(;C[ü];B[bb])".encode(encoding))
    assert [len(parse_sgf(game).moves) for game in games] == [1, 1]
    assert games[1] == "(;C[ü];B[bb])".encode(encoding)


def test_games_of_a_collection_keep_the_encodings_that_they_name() -> None:
    unicode = "(;PB[日](;B[aa])(;W[bb]))".encode()
    japanese = "\n(;FF[4]CA[Shift_JIS]PB[表];B[aa](;W[bb])(;W[cc]))".encode("cp932")  # ends like an escaped bracket
    latin = "(;FF[4]PW[a (b)] CA [ISO-8859-1]PB[é];B[aa])(;PB[ü])".encode("latin-1")
    games = games_in(unicode + japanese + latin)
    assert [parse_sgf(game).black_name for game in games] == ["日", "表", "é", "ü"]
    assert parse_sgf(unicode + japanese).black_name == "日"


def test_charset_in_a_comment_is_none() -> None:
    tree = text_of("(;C[in CA[Shift_JIS]CA[UTF-8]PB[日])")
    assert tree.to_bytes().decode().endswith("PB[日])")
    assert parse_sgf(tree.to_bytes()).black_name == "日"


@pytest.mark.parametrize("piece", [b")(;A[", b")(;", b") ", b")(;A[x]"])
def test_long_hostile_collections_are_split_quickly(piece: bytes) -> None:
    assert sections_of(piece * 100_000) == [piece * 100_000]


@pytest.mark.parametrize("data", [b"\xff\xfe(\0;\0x", b"\xff\xfe\0\xd8(\0", b"(;CA[Shift_JIS]C[\xfa\x5b])"])
def test_bytes_that_would_change_are_refused(data: bytes) -> None:
    for read in (TreeText, games_in):
        with pytest.raises(SgfError, match="cannot be kept; save it in UTF-8"):
            read(data)
