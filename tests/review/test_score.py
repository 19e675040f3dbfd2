"""`gtp-engine score`: the result of a record with its dead stones, as text, JSON and marks."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sgfmill import sgf

from gtp_engine.cli import cli
from gtp_engine.sgf import GameTree

DEAD_STONE = "(;GM[1]SZ[5]KM[0.5]RU[{rules}]AB[ca][cb][cc][cd][ce]AW[da][db][dc][dd][de]AB[bc][ec]AW[ac]PL[B];B[];W[])"
"""Black owns the three columns on the left, White the others; each has a dead stone in its area."""


def score(*words: object, data: str) -> Result:
    flags = ["--search", "rave", "--seed", "1"]
    return CliRunner().invoke(cli, ["score", *(str(word) for word in words), *flags], input=data.encode())


@pytest.mark.parametrize(("rules", "result"), [("Chinese", "B+4.5"), ("Japanese", "B+3.5"), ("Tromp-Taylor", "B+0.5")])
def test_the_score_follows_the_rules_of_the_record(rules: str, result: str) -> None:
    done = score("-", data=DEAD_STONE.format(rules=rules))
    assert done.exit_code == 0, done.output
    assert f"{result} (counted)" in done.stdout
    assert ("Dead: A3 E3" in done.stdout) == (rules != "Tromp-Taylor")


@pytest.mark.parametrize(("moves", "how"), [("", "estimated, the game is not over"), (";B[];W[]", "counted")])
def test_a_board_without_stones_is_counted_only_after_two_passes(moves: str, how: str) -> None:
    """A game that had not begun was counted, W+7."""
    assert f" ({how})\n" in score("-", data=f"(;SZ[9]KM[7]{moves})").stdout


def test_json_and_marks(tmp_path: Path) -> None:
    target = tmp_path / "marked.sgf"
    record = DEAD_STONE.format(rules="Chinese")
    done = score("-", "--json", "--sgf", target, data=record)
    found = json.loads(done.stdout)
    assert (found["result"], found["black"], found["white"], found["is_counted"]) == ("B+4.5", 15, 10.5, True)
    assert found["points"]["dead"] == ["A3", "E3"] and len(found["points"]["alive"]) == 11
    last = sgf.Sgf_game.from_bytes(target.read_bytes()).get_last_node()
    assert last.get("MA") == {(2, 0), (2, 4)}
    assert (2, 0) in last.get("TB") and len(last.get("TB")) == 9 and len(last.get("TW")) == 5
    before, after = (GameTree(text).main_line() for text in (record, target.read_bytes()))
    kept = [
        {name: node.properties[name] for name in whole.properties} for node, whole in zip(after, before, strict=True)
    ]
    assert kept == [node.properties for node in before]


@pytest.mark.parametrize(
    ("words", "more", "marked"),
    [(("--move", 1), "", [True, False, False]), ((), ";B[ke];W[aa]", [False, False, True, False, False])],
    ids=["before a move", "where the moves that can be played end"],
)
def test_marks_are_in_the_position_that_was_scored(
    tmp_path: Path, words: tuple[object, ...], more: str, marked: list[bool]
) -> None:
    target = tmp_path / "marked.sgf"
    done = score("-", *words, "--sgf", target, data=f"{DEAD_STONE.format(rules='Chinese')[:-1]}{more})")
    assert ("point 'ke': expected two letters" in done.stderr) == bool(more)
    nodes = list(sgf.Sgf_game.from_bytes(target.read_bytes().replace(b"[ke]", b"[]")).get_main_sequence())
    assert [node.has_property("TB") for node in nodes] == marked


def test_marks_that_are_there_give_way(tmp_path: Path) -> None:
    target = tmp_path / "marked.sgf"
    record = DEAD_STONE.format(rules="Chinese").replace(";W[]", ";W[]TW[aa]MA[ee]C[counted]TB[ba]")
    score("-", "--sgf", target, data=record)
    last = sgf.Sgf_game.from_bytes(target.read_bytes()).get_last_node()
    assert (len(last.get("TB")), len(last.get("TW")), last.get("MA")) == (9, 5, {(2, 0), (2, 4)})
    assert last.get("C") == "counted"


def test_one_of_several_games_is_scored_if_it_is_named(tmp_path: Path) -> None:
    records = "(;SZ[5];B[cc])" + DEAD_STONE.format(rules="Chinese")
    target = tmp_path / "marked.sgf"
    done = score("-", "--game", 2, "--sgf", target, data=records)
    assert done.stdout.startswith("B+4.5 (counted)")
    assert target.read_text().startswith("(;GM[1]") and "TB[" in target.read_text()
