"""Collections of games, and games at the nodes of a tree that is walked and edited."""

import random
from pathlib import Path

import pytest

from gtp_engine import GameNode, GameTree, IllegalMoveError, SgfError, TengenError, read_headers
from gtp_engine.go.constants import EMPTY

GAMES = """Games of a club.
(;GM[1]SZ[9]PB[Ann]PW[Bob]RE[B+3.5];B[ee];W[cc](;B[cd])(;B[dc]))
(;GM[1]SZ[13]PB[Cem]KM[0.5]HA[2]AB[dd][jj]AP[x];W[dj]C[(;GM[1\\])];B[jd])
(;GM[2]PB[Othello];B[d3])
(;SZ[9]PB[unescaped [3d]];B[aa];W[bb])
"""
ENDINGS = ("GIB", "ngf", "sgf", "ugf", "ugi")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.sgf").write_text(GAMES)
    (tmp_path / "below.sgf").mkdir()
    (tmp_path / "below.sgf" / "B.SGF").write_bytes("(;CA[gb18030]SZ[9]PB[棋士];B[aa])(;SZ[9]PB[黑])".encode("gb18030"))
    for ending in ENDINGS:
        (tmp_path / f"c.{ending}").write_text("no record")
    (tmp_path / "d.txt").write_text(GAMES)
    (tmp_path / "0123456789abcdef.json").write_text('{"sgf": "(;SZ[9]\\nPB[Eva];B[ee])"}')  # as the server keeps games
    return tmp_path


def test_all_games_of_a_folder_are_read_and_refusals_name_their_place(folder: Path) -> None:
    errors: list[SgfError] = []
    trees = list(GameTree.load_all(folder, errors.append))
    assert [tree.record.black_name for tree in trees] == ["Eva", "Ann", "Cem", "unescaped [3d]", "棋士", "黑"]
    assert [len(tree.main_line()) for tree in trees] == [2, 4, 3, 3, 2, 1]
    assert trees[5].encoding == "gb18030" and "黑".encode("gb18030") in trees[5].to_bytes()
    places = [str(error).removeprefix(f"{folder}/").split(": ")[0] for error in errors]
    assert places == ["a.sgf, game 3", *(f"c.{each}, game 1" for each in ENDINGS)], "others are left out"
    with pytest.raises(SgfError, match=r"a\.sgf, game 3: the record is of another game"):
        list(GameTree.load_all([folder / "below.sgf" / "B.SGF", folder / "a.sgf"]))
    for paths, reason in (([folder / "none.sgf"], "cannot open"), ("", "cannot open '.'"), (5, "expected files")):
        with pytest.raises(TengenError, match=reason):
            list(GameTree.load_all(paths))  # type: ignore[arg-type]


def test_headers_are_those_of_the_records_without_moves(folder: Path) -> None:
    headers = list(read_headers(folder, lambda error: None))
    records = [tree.record for tree in GameTree.load_all(folder, lambda error: None)]
    for header, record in zip(headers, records, strict=True):
        assert header.moves == ()
        for name in ("width", "komi", "handicap", "setup_stones", "black_name", "white_name", "result"):
            assert getattr(header, name) == getattr(record, name)


def test_collections_of_any_length_are_read(tmp_path: Path) -> None:
    """A record may have 4 MiB; a file of thousands of games has more."""
    game = f"(;SZ[19]C[{'long ' * 5_000}];B[aa])\n"
    (tmp_path / "large.sgf").write_text(game * 200)
    assert sum(1 for _ in read_headers(tmp_path / "large.sgf")) == 200
    assert sum(len(tree.main_line()) for tree in GameTree.load_all(tmp_path / "large.sgf")) == 400


STARTS = (
    "(;SZ[5])",
    "(;SZ[5]HA[2])",
    "(;SZ[5]HA[2]AB[bb][dd])",
    "(;SZ[5]PL[W];AB[bb];PL[B])",
    "(;SZ[5]RU[Japanese];W[aa];B[bb];PL[B];C[x];AE[aa];KM[3])",
    "(;SZ[5](;B[aa];W[tt];W[ba])(;W[bb]HA[2];B[cc]))",
)


@pytest.mark.parametrize("start", STARTS)
def test_the_game_at_a_node_is_that_of_the_tree_as_it_is_written(start: str) -> None:
    """However the tree was walked and edited before, and though the game of a neighbour was at hand."""
    for seed in range(12):
        rng = random.Random(f"{start} {seed}")
        tree = GameTree(start)
        node: GameNode | None = tree.root
        for _ in range(40):
            if node is None or rng.random() < 0.1:
                node = rng.choice(list(tree.nodes()))
            compare(tree, node)
            edit(rng, tree, node)
            node = rng.choice([node, node.parent, *node.children]) if node in tree.nodes() else None


def edit(rng: random.Random, tree: GameTree, node: GameNode) -> None:
    """Add a move, perhaps an illegal one; now and then change something else; the games of deleted nodes go, too."""
    act, vertex = rng.random(), rng.choice("ABCDE") + rng.choice("12345")
    try:
        if act < 0.7:
            node.add_move(rng.choice([vertex, "pass"]), rng.choice([None, None, "black", "white"]))
        elif act < 0.75:
            node.add_comment("x")
        elif act < 0.8 and not node.moves:
            node.set_stone(vertex, rng.choice([EMPTY, "black", "white"]))
        elif act < 0.85:
            node.set("PL", rng.choice("BW"))
        elif act < 0.9 and node.parent is not None:
            node.promote()
        elif act < 0.93 and node.parent is not None:
            node.delete()
        elif act < 0.95:
            tree.root.set("KM", str(rng.randrange(9)))
    except (IllegalMoveError, SgfError):
        pass


def compare(tree: GameTree, node: GameNode) -> None:
    number = list(tree.nodes()).index(node)
    try:
        expected = list(GameTree(tree.to_bytes()).nodes())[number].game()
    except SgfError as error:
        with pytest.raises(SgfError, match=str(error).split("(")[0]):
            node.game()
        return
    game = node.game()
    assert game == expected and game.superko_keys().tolist() == expected.superko_keys().tolist()
    assert game.stones == expected.stones and game.captures == expected.captures
