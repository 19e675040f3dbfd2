"""GameTree: walks and edits, and that everything else survives byte for byte."""

import copy
import pickle
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from sgfmill import sgf

from gtp_engine.base.errors import IllegalMoveError, InvalidVertexError, SgfError
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE
from gtp_engine.go.coords import Move, parse_vertex
from gtp_engine.sgf import parse_sgf
from gtp_engine.sgf.collection import game_in, games_in
from gtp_engine.sgf.foreign.encodings import sections_of
from gtp_engine.sgf.game_tree import GameNode, GameTree

FILES = sorted((Path(__file__).parent.parent / "data" / "sgf").glob("*.sgf"))


def children(node: GameNode) -> list[str | None]:
    return [child.vertex for child in node.children]


def test_a_tree_is_walked_edited_and_written() -> None:
    tree = GameTree("(;SZ[9]KM[6.5]RU[Japanese]PB[Ann];B[ee];W[cc](;B[gg])(;B[gc]C[better]))")
    line = tree.main_line()
    assert [node.vertex for node in line] == [None, "E5", "C7", "G3"]
    assert [node.move_number for node in tree.nodes()] == [0, 1, 2, 3, 3]
    assert (line[1].next, line[-1].next, line[0].parent) == (line[2], None, None)
    assert tree.nodes_by_moves() == dict(enumerate(line)) and repr(line[1]) == "<GameNode 1: B[ee]>"
    variation = line[2].children[1]
    assert (variation.comment, variation.is_in_main_line, line[-1].is_in_main_line) == ("better", False, True)
    assert (variation.move, variation.path()) == (
        Move(BLACK, parse_vertex("G7", width=9, height=9)),
        [*line[:3], variation],
    )
    game = variation.game()
    assert (len(game.moves), game.komi, game.rules.preset_name(), game.to_play) == (3, 6.5, "japanese", WHITE)
    assert variation.add_move("C3", comment="a") is variation.add_move("C3", "white", comment="b"), "found again"
    assert variation.children[0].comment == "a\n\nb"
    assert variation.add_played(Move(WHITE, parse_vertex("C3", width=9, height=9))) is variation.children[0]
    variation.make_main_line()
    assert [node.vertex for node in tree.main_line()] == [None, "E5", "C7", "G7", "C3"]
    variation.demote()
    line[2].add_move("A1")
    assert children(line[2]) == ["G3", "G7", "A1"]
    for place in (["G7", "G3", "A1"], ["G7", "A1", "G3"], ["G7", "A1", "G3"]):
        line[-1].demote()
        assert children(line[2]) == place, "one place back, the last one stays"
    for node in line[2].children[1:]:
        node.delete()
    assert children(line[2]) == ["G7"]
    assert GameTree(tree.to_bytes()).to_sgf() == tree.to_sgf()
    assert (tree.record.black_name, tree.node(variation.id)) == ("Ann", variation)
    assert repr(tree) == "<GameTree 9x9, 5 nodes: 'SZ[9]KM[6.5]RU[Japanese]PB[Ann]'>"


def test_properties_are_removed_wherever_they_stand_in_a_node() -> None:
    tree = GameTree("(;SZ[9]TB[aa];TB[aa]\n[bb:cc] C[TB[a\\]] TerritoryWhite[dd] B[aa]TB[ee];TB[ff])")
    node = tree.main_line()[1]
    for name in ("TB", "TW", "MA"):
        node.set(name)
    node.set("TB", "gg")
    assert tree.to_bytes() == b"(;SZ[9]TB[aa];C[TB[a\\]]B[aa]TB[gg];TB[ff])"


def test_a_property_is_replaced_where_it_stands() -> None:
    tree = GameTree("(;SZ[9]\n PB[Ann][B] KM[7] PB[C] X[y];B[aa])")
    tree.root.set("PB", "D]", "E")
    assert tree.size == (9, 9)
    assert tree.to_sgf() == "(;SZ[9]PB[D\\]][E]KM[7]X[y];B[aa])"
    assert tree.root.properties == {"SZ": ["9"], "PB": ["D]", "E"], "KM": ["7"], "X": ["y"]}
    tree.root.set("SZ", "13")
    assert tree.size == (13, 13)


def test_a_size_behind_the_first_node_counts() -> None:
    """Vertices were those of another board."""
    tree = GameTree("(;GM[1];SZ[9:5];B[ea])")
    assert (tree.size, tree.main_line()[-1].vertex, tree.vertex(tree.point("J5"))) == ((9, 5), "E5", "J5")
    assert (tree.root.game(komi=0).komi, tree.root.game(rules="japanese").komi) == (0, 6.5)
    tree.root.set("SZ", "13")
    assert tree.size == (13, 13)


def test_comments_keep_their_lines() -> None:
    tree = GameTree("(;C[one \\] two\\\n three\r\nfour];B[aa])")
    first, second = tree.main_line()
    assert first.comment == "one ] two three\nfour"
    first.add_comment("a ] b")
    second.add_comment("new")
    second.comment += "\r\nline\\"
    assert tree.to_bytes() == b"(;C[one \\] two\\\n three\r\nfour\n\na \\] b];B[aa]C[new\nline\\\\])"
    second.comment = ""
    assert tree.to_bytes().endswith(b";B[aa])")


def test_marks_and_labels() -> None:
    tree = GameTree("(;SZ[9]TR[aa:bb]MA[ii]LB[cc:a\\:b][xx:n][dd:D])")
    root = tree.root
    assert root.marks == dict.fromkeys(["A9", "B9", "A8", "B8"], "triangle") | {"J1": "cross"}
    assert root.labels == {"C7": "a:b", "D6": "D"}
    root.set_mark("B9", "circle")
    root.set_mark("J1", None)
    root.set_label("D6", "1:2]")
    root.set_label("A9", "x")
    root.set_label("A8", "")
    assert root.marks == {"B8": "triangle", "B9": "circle"}
    assert GameTree(tree.to_bytes()).root.labels == {"C7": "a:b", "D6": "1:2]", "A9": "x"}
    assert "LB[cc:a\\:b][xx:n][dd:1\\:2\\]]" in tree.to_sgf(), "what is not a label of this board stays"
    with pytest.raises(SgfError, match="mark 'star': expected one of triangle"):
        root.set_mark("A1", "star")
    with pytest.raises(InvalidVertexError):
        root.set_label("K1", "x")


def test_stones_are_set_up() -> None:
    tree = GameTree("(;SZ[9]AB[ee];B[cc])")
    first = tree.main_line()[1]
    with pytest.raises(SgfError, match="a stone set up in the node of move C7; add a node for it"):
        first.set_stone("A1", "white")
    node = first.add_node()
    node.set_stone("E5", EMPTY)
    node.set_stone("C7", "white")
    node.set_stone("G7", "black")
    assert {(stone.color, tree.vertex(stone.point)) for stone in node.setup} == {
        (EMPTY, "E5"),
        (WHITE, "C7"),
        (BLACK, "G7"),
    }
    game = node.game()
    assert [game.color_at(vertex) for vertex in ("E5", "C7", "G7")] == [EMPTY, WHITE, BLACK]
    node.set_stone("E5", "black")
    node.set_stone("G7", "empty")
    assert [tree.vertex(stone.point) for stone in node.setup] == ["C7"], "nothing that changes nothing is written"
    tree.root.set_stone("E5", "empty")
    assert tree.root.game().setup_stones == ()


@pytest.mark.parametrize(
    ("record", "after", "expected"),
    [
        ("(;SZ[9];B[aa];W[bb];B[cc])", 1, "(;SZ[9];B[aa](;W[bb];B[cc])(;W[ii]))"),
        ("(;SZ[9];B[aa](;W[bb])(;W[dd]))", 1, "(;SZ[9];B[aa](;W[bb])(;W[dd])(;W[ii]))"),
        ("(;SZ[9];B[aa](;W[bb];B[cc])(;W[dd]))", 2, "(;SZ[9];B[aa](;W[bb](;B[cc])(;B[ii]))(;W[dd]))"),
        ("(;SZ[9];B[aa])", 1, "(;SZ[9];B[aa];W[ii])"),
        ("(;SZ[9](B[aa])(B[bb]))", 0, "(;SZ[9](;B[aa])(;B[bb])(;B[ii]))"),
        ("(;SZ[9]();B[aa])", 0, "(;SZ[9](;B[aa])(;B[ii]))"),
    ],
)
def test_variations_begin_where_they_should(record: str, after: int, expected: str) -> None:
    tree = GameTree(record)
    tree.main_line()[after].add_move("J1")
    assert tree.to_bytes().decode().replace("\n", "") == expected


def test_variations_at_several_nodes_are_nested() -> None:
    tree = GameTree("(;SZ[9];B[aa];W[bb];B[cc];W[dd])")
    line = tree.main_line()
    for node, vertex in ((line[0], "E5"), (line[2], "F4"), (line[2], "G3")):
        node.add_variation([vertex])
    assert line[0].add_variation(["D4", "C3", Move(BLACK, PASS)], "black").next is not None
    game = sgf.Sgf_game.from_bytes(tree.to_bytes())
    main = game.get_main_sequence()
    assert [node.get_move()[1] for node in main[1:]] == [(8, 0), (7, 1), (6, 2), (5, 3)]
    assert [len(node) for node in main] == [3, 1, 3, 1, 0]
    for wrong in ([], ["A1", "A1"]):
        with pytest.raises((SgfError, IllegalMoveError)):
            line[1].add_variation(wrong)
    assert len(line[1].children) == 1, "nothing was added"


def test_what_the_root_cannot_do() -> None:
    root = GameTree("(;SZ[9]RU[NZ]AB[ba][ab][bc][cb]AW[ca][db][cc];W[bb])").root
    for edit in (root.delete, root.promote, root.demote, partial(root.tree.node, 99)):
        with pytest.raises(SgfError, match=r"the root|has no node 99"):
            edit()
    with pytest.raises(IllegalMoveError, match="C8 retakes a ko"):
        root.children[0].add_move("C8")
    assert root.children[0].add_move("pass").add_move("pass").add_move("C8").vertex == "C8", "records repeat positions"
    with pytest.raises(SgfError, match="a name of capital letters"):
        root.set("pb", "x")


def test_a_node_whose_position_cannot_be_reached() -> None:
    tree = GameTree("(;SZ[9];B[ee];W[ee];B[cc](;W[ka])(;W[dd]))")
    assert len(tree.main_line()[1].game().moves) == 1
    with pytest.raises(SgfError, match=r"move 2 \(white\): illegal move: E5 is occupied"):
        tree.main_line()[2].game()
    other = GameTree("(;SZ[9]KM[?];B[ee];W[ka];B[cc])").main_line()
    assert other[2].move is None
    with pytest.raises(SgfError, match="move 2: point 'ka'"):
        other[3].game()


def test_stones_of_a_handicap_that_the_record_omits_stand_at_the_root_too() -> None:
    tree = GameTree("(;SZ[9]HA[2];W[ee];C[again];W[cc];PL[B])")
    assert [len(node.game().setup_stones) for node in tree.nodes()] == [2] * 5
    assert [node.game().to_play for node in tree.nodes()] == [WHITE] * 3 + [BLACK] * 2


def test_text_that_the_encoding_lacks_makes_the_record_unicode() -> None:
    tree = GameTree("(;CA[Shift_JIS]PB[本因坊];B[aa])".encode("cp932"))
    tree.root.comment = "黒"
    assert tree.to_bytes().decode("cp932").endswith("C[黒];B[aa])")
    tree.root.comment = "안녕 ü"
    assert tree.to_bytes().decode("utf-8") == "(;CA[UTF-8]PB[本因坊]C[안녕 ü];B[aa])"
    plain = GameTree(b"(;B[aa])")
    plain.root.comment = "é \ud800"
    assert plain.to_bytes().decode("utf-8") == "(;B[aa]C[é ?]CA[UTF-8])", "without CA it is Latin-1"


def test_bytes_that_are_no_text_are_kept() -> None:
    for data in (b"(;C[\xff\xe9]SZ[9];B[aa])", b"(;CA[UTF-8]C[a\xff];B[aa])", b"(;CA[GBK]C[\x81];B[aa])"):
        assert GameTree(data).to_bytes() == data
    text = GameTree(b"(;CA[Shift_JIS]C[\xfa\x5b])").root.comment  # two codes for one character
    assert text == b"\xfa\x5b".decode("cp932")


def test_a_deep_tree_is_read_and_written() -> None:
    text = "(;" + "C[a](;" * 100_000 + ")" * 100_001
    tree = GameTree(text)
    assert tree.to_sgf() == text
    assert len(tree.main_line()) == sum(1 for _ in tree.nodes()) == 100_001


def test_a_file_is_read_and_written(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    GameTree("(;SZ[9];B[aa])").save(path)
    assert [node.vertex for node in GameTree.load(path).nodes()] == [None, "A9"]
    assert repr(GameTree("(;SZ[9:7])")) == "<GameTree 9x7, 1 node: 'SZ[9:7]'>"


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_every_encoding_survives_an_edit(path: Path) -> None:
    tree = GameTree(path.read_bytes())
    before = [node.properties for node in tree.nodes()]
    tree.main_line()[-1].set("TENGEN", "x")
    again = GameTree(tree.to_bytes())
    assert again.main_line()[-1].get("TENGEN") == ["x"]
    again.main_line()[-1].set("TENGEN")
    assert [node.properties for node in again.nodes()] == before
    assert [[*node.raw] for node in again.nodes()] == [[*properties] for properties in before]


def test_a_game_of_a_file_is_named_by_its_number() -> None:
    several = b"(;B[aa]) (;B[bb])\n"
    assert [game_in(several, number) for number in (1, 2)] == [b"(;B[aa])", b"(;B[bb])"]
    assert game_in(b"x (;B[aa])\n", None) == game_in(b"x (;B[aa])\n", 1) == b"x (;B[aa])\n"
    assert game_in(b"(;CA[Shift_JIS]C[\xfa\x5b])", None), "it counts as one"
    for number, reason in ((None, "2 games in one file"), (3, "game 3 of 2: expected 1 to 2")):
        with pytest.raises(SgfError, match=reason):
            game_in(several, number)


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
    tree = GameTree("(;C[in CA[Shift_JIS]CA[UTF-8]PB[日])")
    assert tree.to_bytes().decode().endswith("PB[日])")
    assert parse_sgf(tree.to_bytes()).black_name == "日"


@pytest.mark.parametrize("piece", [b")(;A[", b")(;", b") ", b")(;A[x]"])
def test_long_hostile_collections_are_split_quickly(piece: bytes) -> None:
    assert sections_of(piece * 100_000) == [piece * 100_000]


@pytest.mark.parametrize("data", [b"\xff\xfe(\0;\0x", b"\xff\xfe\0\xd8(\0", b"(;CA[Shift_JIS]C[\xfa\x5b])"])
def test_a_file_whose_bytes_would_change_is_not_split(data: bytes) -> None:
    assert games_in(data) == [data]


def test_a_node_that_has_been_deleted_is_not_deleted_again() -> None:
    tree = GameTree("(;SZ[9];B[ee](;W[cc])(;W[gc]))")
    node = tree.main_line()[2]
    node.delete()
    for again in (node.delete, node.promote, node.make_main_line, partial(copy.copy, node)):
        with pytest.raises(SgfError, match="a node that has been deleted"):
            again()


def test_games_of_sgfmill_come_back_as_they_went() -> None:
    tree = GameTree("(;SZ[9]KM[6.5]PB[黑 \\]]XX[a];B[ee](;W[cc])(;W[tt]C[a:b])")  # its end is missing
    back = GameTree.from_sgfmill(tree.to_sgfmill())
    assert [node.properties for node in back.nodes()][1:] == [node.properties for node in tree.nodes()][1:]
    assert (back.record.black_name, len(back.main_line()[1].children)) == ("黑 ]", 2)
    assert back.record.moves == tree.record.moves
    with pytest.raises(SgfError, match="no game for sgfmill"):
        GameTree("(;SZ[9:7];B[ee])").to_sgfmill()


@pytest.mark.parametrize(
    ("text", "clocks"),
    [
        ("BL[59.5]OB[2]WL[10]", {BLACK: (59.5, 2), WHITE: (10.0, None)}),
        ("BL[ 7 ]OB[x]WL[]OW[2]", {BLACK: (7.0, None)}),
        *((f"BL[{wrong}]", {}) for wrong in ("nan", "-1", "1e9", "inf", "x")),
    ],
)
def test_clocks(text: str, clocks: dict[int, tuple[float, int | None]]) -> None:
    node = GameTree(f"(;SZ[9];B[aa]{text})").main_line()[1]
    assert node.clocks == clocks
    node.set_clock("white", 1e-7, 1)
    node.set_clock(BLACK, 600)
    assert node.clocks == {BLACK: (600.0, None), WHITE: (1e-7, 1)} and "WL[0.0000001]" in node.text
    for wrong in ((-1,), (float("nan"),), (float("inf"),), (1e9,), (0, -1), (0, 10**9), (0, 2.5)):
        with pytest.raises(SgfError, match="expected seconds, moves or periods, 0 or more"):
            node.set_clock(BLACK, *wrong)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda tree: pickle.loads(pickle.dumps(tree))])
def test_trees_are_copied_and_compared(copied: Callable[[GameTree], GameTree]) -> None:
    tree = GameTree("x(;CA[GBK]SZ[9]PB[古力](;B[aa])(;B[bb])(;W))y".encode("gbk"))
    for comment in ("", "new"):
        tree.main_line()[1].comment = comment
        other = copied(tree)
        assert other == tree and other.to_bytes() == tree.to_bytes() and other.encoding == "gb18030"
        assert (other.notes, len(tree.notes)) == (tree.notes, 1), "what was repaired, though it is no more to be seen"
    node = pickle.loads(pickle.dumps(tree.main_line()[1]))
    assert (node.comment, node in [*node.tree], node.tree == tree) == ("new", True, True)
    other.main_line()[1].promote()
    assert other == tree and [node.vertex for node in other] == [None, "A9", "B8", None]
    other.main_line()[1].demote()
    assert other != tree and other.root.children[1].comment == "new" and tree != other.root
    assert GameTree("(;SZ[9];B[aa];W[bb])") != GameTree("(;SZ[9];B[aa])")


def test_any_threads_may_read_a_tree() -> None:
    line = "".join(f";B[{x}a];W[{x}c]" for x in "abcdefghi")
    nodes, interval = GameTree(f"(;SZ[9]{line})").main_line()[9:11], sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            found = [*pool.map(lambda _: [len(node.game().moves) for node in nodes * 2000], range(4))]
    finally:
        sys.setswitchinterval(interval)
    assert found == [[9, 10] * 2000] * 4


def test_a_node_is_a_picture_with_its_marks_and_arrows() -> None:
    node = GameTree("(;SZ[9];B[ee]TR[ee]LB[aa:x]AR[ee:aa][aa][ee:ee][zz:aa])").main_line()[1]
    assert node.arrows == [("E5", "A9")]
    marks = {"E5": "triangle", "A9": "x"}
    assert node._repr_svg_() == node.game().svg(marks=marks, arrows=[("E5", "A9")]) != node.game().svg(marks=marks)
