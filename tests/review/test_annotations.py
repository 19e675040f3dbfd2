"""The annotated record: every original property survives, and other programs' readers find ours."""

import base64
import gzip
import json
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from busy_machine import bound
from review.review_support import RECORD, review_of
from review.test_game_review import reviewed
from sgfmill import sgf

from gtp_engine import Rules
from gtp_engine.people.review import Candidate, annotated, read_game
from gtp_engine.people.review.annotations import comment_on, is_own_output, lead_text, stored_findings
from gtp_engine.sgf.game_tree import GameTree

TESTS = Path(__file__).parent.parent
SABAKI = TESTS / "gtp" / "sabaki"
WHEELS = Path(os.environ.get("TENGEN_KATRAIN_WHEELS", TESTS / "analysis" / "wheels"))


def mistaken() -> bytes:
    """Return a record in which White's move 4 is a mistake of seven points, with a better move at C5."""
    return annotated(RECORD, reviewed([0, -1, -1, -1, 6, 6, 6], ["C5"] * 7))


def nodes_of(data: bytes) -> list[sgf.Tree_node]:
    return list(sgf.Sgf_game.from_bytes(data).get_main_sequence())


def test_original_properties_survive_and_keep_their_order() -> None:
    original, written = nodes_of(RECORD), nodes_of(mistaken())
    assert len(original) == len(written)
    for before, after in zip(original, written, strict=True):
        names = [name for name in after.properties() if name in before.properties()]
        assert [after.get_raw_list(name) for name in names] == [before.get_raw_list(name) for name in names]
        assert set(names) == set(before.properties())


def test_sabaki_and_lizzie_find_their_properties() -> None:
    node = nodes_of(mistaken())[4]  # after White's mistake, Black to play
    assert node.get_raw("SBKV") == b"56.00" and node.get_raw("SBKS") == b"6.00"
    head, moves = node.get_raw("LZ").decode().split("\n")
    assert head == "Tengen-test 44.0 50 6.0 0", "the winrate of White, who has just moved; the lead of Black, to play"
    assert moves == "move C5 visits 7 winrate 5000 prior 3000 scoreMean 6.00 pv C5"


def test_a_mistake_has_a_mark_a_comment_and_a_variation() -> None:
    after = nodes_of(mistaken())[4]
    assert after.get_raw("BM") == b"1"
    assert after.get("C") == (
        "White A5 is a big mistake: it loses 7.0 points and 7% winrate. Before it White leads by 1.0, after it Black "
        "leads by 6.0. Better: C5."
    )
    review = reviewed([0, -1, -1, -1, 6, 6, 6], ["C5"] * 7)
    visits = {"C5": 7, "D5": 8, "E5": 9}
    others = [Candidate(each, count, 0.3, -1.5, 0.1, (each, "A1")) for each, count in visits.items()]
    findings = [*review.findings[:3], replace(review.findings[3], candidates=tuple(others)), *review.findings[4:]]
    _main, *variations = nodes_of(annotated(RECORD, replace(review, findings=tuple(findings))))[3]
    for node, vertex in zip(variations, ("C5", "D5"), strict=True):
        label = f"{vertex}: White 70%, White leads by 1.5"
        assert (node.get("N"), node.get("C")) == (label, f"{label} ({visits[vertex]} visits)")
        assert (node.get_raw("SBKV"), node.get_raw("SBKS"), node[0].get_move()) == (b"30.00", b"-1.50", ("b", (0, 0)))


def test_an_original_mark_or_comment_is_kept() -> None:
    record = RECORD.replace(b"W[aa]", b"W[aa]TE[1]C[well]")
    node = nodes_of(annotated(record, reviewed([0, -1, -1, -1, 6, 6, 6], ["C5"] * 7)))[4]
    assert not node.has_property("BM") and node.has_property("TE")
    assert node.get("C").startswith("well\n\nWhite A5 is a big mistake")


def test_territory_is_marked_on_request() -> None:
    node = nodes_of(annotated(RECORD, review_of(), territory=True))[-1]
    assert (2, 2) in node.get("TB") and (3, 1) in node.get("TW")
    review = review_of()
    last = replace(review.findings[-1], ownership=(50, *[-50] * 23, 51))
    node = nodes_of(annotated(RECORD, replace(review, findings=(*review.findings[:-1], last)), territory=True))[-1]
    assert node.get("TB") == {(0, 4)} and not node.has_property("TW"), "more than 50%"


def test_what_is_said_of_moves_by_their_marks_and_points() -> None:
    review = reviewed([0] * 7, ["C5"] * 7)
    before, after, usual = *review.findings[:2], review.moves[0]
    assert [comment_on(move, before, after) for move in review.moves] == [""] * 6
    marks = {mark: comment_on(replace(usual, mark=mark), before, after) for mark in ("TE", "IT")}
    assert "is a fine move: hard" in marks["TE"] and "is an unusual move that loses nothing" in marks["IT"]
    sizes = {lost: comment_on(replace(usual, points_lost=lost), before, after) for lost in (2.0, 4.9, 5.0)}
    assert ["a big mistake" in sizes[lost] for lost in sizes] == [False, False, True]
    marked = [replace(usual, number=number, mark=mark) for number, mark in enumerate(("DO", "IT", "TE"), start=1)]
    nodes = nodes_of(annotated(RECORD, replace(review, moves=tuple(marked))))[1:4]
    assert [node.get_raw(move.mark) for node, move in zip(nodes, marked, strict=True)] == [b"", b"", b"1"]
    leads = [lead_text(lead) for lead in (0.04, -0.04, 0.05, -0.06)]
    assert leads == ["the game is even"] * 2 + ["Black leads by 0.1", "White leads by 0.1"]


def test_sabakis_own_parser_reads_it() -> None:
    node = shutil.which("node")
    if node is None or not (SABAKI / "node_modules" / "@sabaki" / "sgf").is_dir():
        pytest.skip("@sabaki/sgf is not installed: run npm install --prefix tests/gtp/sabaki")
    done = subprocess.run(
        [node, str(SABAKI / "parse.mjs")], input=mistaken(), capture_output=True, timeout=bound(60), check=True
    )
    root: Any = json.loads(done.stdout)
    line, current = [], root
    while current:
        line.append(current["data"])
        current = current["children"][0] if current["children"] else None
    assert [each.get("B") or each.get("W") for each in line[1:]] == [["cc"], ["bb"], ["dd"], ["aa"], ["bc"], ["ee"]]
    assert [each["SBKV"] for each in line] == [["50.00"], *[["49.00"]] * 3, *[["56.00"]] * 3]


KATRAIN = """
import json, sys, types
for name, values in {"kivy": {}, "kivy.utils": {"platform": "linux"}, "kivy._event": {"Observable": object},
                     "chardet": {"detect": lambda data: {"encoding": "utf-8"}}}.items():
    module = sys.modules[name] = types.ModuleType(name)
    module.__dict__.update(values)
from katrain.core.game import KaTrainSGF
root = KaTrainSGF.parse_file("game.sgf")
nodes = [root]
while nodes[-1].children:
    nodes.append(nodes[-1].children[0])
print(json.dumps({
    "moves": [node.move.gtp() for node in nodes[1:]], "children": [len(node.children) for node in nodes],
    "loaded": [node.load_analysis() for node in nodes], "leads": [node.score for node in nodes],
    "winrates": [node.winrate for node in nodes], "lost": [node.points_lost for node in nodes[1:]],
    "best": [node.candidate_moves[0]["move"] for node in nodes], "pv": nodes[3].candidate_moves[0]["pv"],
    "ownership": nodes[3].ownership, "policy": nodes[3].policy, "text": nodes[4].comment(sgf=True, interactive=False),
    "name": root.get_property("PB"),
}))
"""


def test_katrain_itself_shows_the_analysis(tmp_path: Path) -> None:
    wheels = [*sorted(WHEELS.glob("katrain-*.whl"))[-1:], *sorted(WHEELS.glob("pysgf-*.whl"))]
    if len(wheels) < 2:
        pytest.skip(f"no wheels of KaTrain in {WHEELS}: pip download --no-deps katrain==1.20.0 pysgf")
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(tmp_path, [name for name in archive.namelist() if name.endswith((".py", ".mo"))])
    review = reviewed([0, -1, -1, -1, 6, 6, 6], ["C5"] * 7)
    findings = [replace(found, ownership=(*[100] * 5, *[-50] * 20)) for found in review.findings]
    (tmp_path / "game.sgf").write_bytes(annotated(RECORD, replace(review, findings=tuple(findings))))
    done = subprocess.run([sys.executable, "-c", KATRAIN], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout.splitlines()[-1])
    assert (shown["name"], shown["moves"]) == ("Ann", ["C3", "B4", "D2", "A5", "B3", "E1"])
    assert shown["children"] == [1, 1, 1, 2, 1, 1, 0]
    assert all(shown["loaded"])
    assert shown["leads"] == [0, -1, -1, -1, 6, 6, 6] and shown["winrates"][4] == 0.56
    assert shown["lost"] == [1, 0, 0, 7, 0, 0], "KaTrain counts from the position before, too"
    assert (shown["best"], shown["pv"], shown["policy"]) == (["C5"] * 7, ["C5"], None)
    assert shown["ownership"] == [*[1.0] * 5, *[-0.5] * 20]
    assert "7.0" in shown["text"] and "C5" in shown["text"]


def test_a_review_is_read_from_its_own_record() -> None:
    """What the review found of each position, but for priors of moves that were no candidates."""
    review = review_of()
    record = annotated(RECORD, review)
    line = read_game(record, rules=Rules())
    found = stored_findings(record, line)
    assert [replace(each, played_prior=None) for each in review.findings] == found
    assert stored_findings(RECORD, line) is None, "no review"
    assert [is_own_output(data) for data in (record, RECORD, b"nothing")] == [True, False, False]
    assert is_own_output(b"nothing", unreadable=True) and GameTree(record).root.get("KTV") == ["1.0"]


@pytest.mark.parametrize("damage", ["bomb", "board", "text", "point", "number", "gone"])
def test_a_stored_analysis_that_is_damaged_is_not_used(damage: str) -> None:
    def packed(data: bytes) -> str:
        return base64.b64encode(gzip.compress(data)).decode()

    root = {"visits": 8, "winrate": 0.5, "scoreLead": 1.0}
    move = {"move": "C3", "order": 0, "visits": 8, "winrate": 0.5, "scoreLead": 1.0, "prior": 0.1, "pv": ["C3"]}
    move |= {"point": {"pv": ["Z99"]}, "number": {"scoreLead": float("nan")}}.get(damage, {})
    main = b"no JSON" if damage == "text" else json.dumps({"moves": {"C3": move}, "root": root}).encode()
    owners = b"\0" * {"bomb": 2_000_000, "board": 60}.get(damage, 50)
    values = [packed(each) for each in (owners, b"", main)]
    tree = GameTree(annotated(RECORD, review_of()))
    node = tree.main_line()[2]
    node.set("KT", *values)
    if damage == "gone":
        node.set("KT")
    data = tree.to_bytes()
    assert stored_findings(data, read_game(data, rules=Rules())) is None
