"""Pictures of boards: SVG that every reader takes, with stones, marks, numbers, owners and candidates."""

import importlib.util
import pickle
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from board_helpers import play_moves

from gtp_engine import Analysis, ArgumentError, Color, Game, InvalidVertexError, MoveAnalysis, TengenError

NAMESPACE = "{http://www.w3.org/2000/svg}"


def drawn(picture: str) -> dict[str, list[ET.Element]]:
    """Return the elements of a picture by their kind."""
    found: dict[str, list[ET.Element]] = {}
    for element in ET.fromstring(picture).iter():
        found.setdefault(element.tag.removeprefix(NAMESPACE), []).append(element)
    return found


def texts(picture: str) -> list[str]:
    return [element.text or "" for element in drawn(picture)["text"]]


def played(width: int, height: int | None, moves: str) -> Game:
    return play_moves(Game(width, height), moves)


@pytest.mark.parametrize(("width", "height"), [(2, 2), (9, 9), (25, 2), (19, 25)])
def test_boards_of_every_size(width: int, height: int) -> None:
    game = Game(width, height)
    game.play("A1")
    picture = game.svg(size=300)
    root = ET.fromstring(picture)
    assert root.get("viewBox") == f"0 0 {(width + 2) * 24} {(height + 2) * 24}"
    assert (root.get("width"), root.get("height")) == ("300", str(round(300 * (height + 2) / (width + 2))))
    assert texts(picture)[: 2 * width : width] == ["A", "A"]
    assert len(texts(picture)) == 2 * (width + height)
    assert game.svg() == game._repr_svg_()


def test_stones_lie_on_their_points() -> None:
    circles = drawn(played(9, None, "E5 A1 pass").svg())["circle"]
    stones = [(each.get("cx"), each.get("cy"), each.get("fill")) for each in circles if each.get("r") == "11.3"]
    assert stones == [("132", "132", "#1b1b1b"), ("36", "228", "#fcfcfa")]
    title = drawn(played(9, None, "E5").svg())["title"][0].text
    assert title == "Game 9x9, chinese rules, komi 7.5, 1 move, last black E5, white to play"


def test_marks_numbers_and_labels() -> None:
    game = played(9, None, "E5 C3 D4")
    kinds = ["triangle", "square", "circle", "cross", "selected"]
    plain = drawn(game.svg(marks={"D4": ""}))
    for kind in kinds:
        marked = drawn(game.svg(marks={"D4": kind}))
        more = sum(map(len, marked.values())) - sum(map(len, plain.values()))
        assert more == 0, f"{kind}: in place of the text"
    assert texts(game.svg(marks={"A1": "<\a&>"}))[-1] == "< &>"
    assert texts(game.svg(numbers=2))[-2:] in (["3", "2"], ["2", "3"])
    assert texts(game.svg(numbers=99))[-3:] == ["1", "2", "3"]
    assert len(texts(played(9, None, "A9 B9 E5 A8").svg(numbers=9))) == 4 * 9 + 3, "what was captured has none"
    assert len(texts(game.svg(numbers=2, marks={"D4": "triangle"}))) == len(texts(game.svg())) + 1
    with pytest.raises(InvalidVertexError):
        game.svg(marks={"K10": "circle"})


def test_owners_and_candidates() -> None:
    game = played(9, None, "E5")
    moves = [MoveAnalysis("D4", 10000, 0.5), MoveAnalysis("pass", 40, 0.2), MoveAnalysis("C3", 1000, 0.456)]
    moves += [MoveAnalysis(vertex, 999, 0.4) for vertex in ("C4", "C5", "C6", "C7", "C8", "C9", "D9")]
    ownership = {point.vertex: 0.0 for point in game.legal_points()} | {"A9": 1.0, "J1": -0.5, "E5": 0.9, "A1": 0.05}
    analysis = Analysis(Color.WHITE, Color.WHITE, 1690, 0.5, None, tuple(moves), ownership)
    picture = game.svg(analysis=analysis)
    assert texts(picture)[-14:] == ["50", "10k", "46", "1.0k", *["40", "999"] * 5], "eight moves, one of them a pass"
    assert game.svg(analysis=analysis.seen_by("black")) == picture, "it shows the side to play"
    fills = [each.get("fill") for each in drawn(picture)["circle"] if each.get("fill-opacity")]
    assert fills == ["#12856f", "#4f7f2a", *["#9a6a12"] * 5], "the best, a tenth of its visits, and less"
    squares = [each for each in drawn(picture)["rect"] if each.get("stroke")]
    assert [each.get("fill") for each in squares] == ["#fcfcfa", "#1b1b1b", "#fcfcfa"], "White's view; E5 is dead then"
    alone = [each for each in drawn(game.svg(ownership=ownership))["rect"] if each.get("stroke")]
    assert [(each.get("fill"), each.get("width")) for each in alone] == [("#1b1b1b", "10"), ("#fcfcfa", "5")]
    assert game.svg(analysis=analysis, ownership={"A1": 0.0}) != picture
    for of_a_side in (
        analysis.ownership,
        analysis.seen_by("black").ownership,
        pickle.loads(pickle.dumps(analysis.ownership)),
    ):
        fills = [each.get("fill") for each in drawn(game.svg(ownership=of_a_side))["rect"] if each.get("stroke")]
        assert fills == ["#fcfcfa", "#1b1b1b", "#fcfcfa"], "an analysis says whose ownership it is"


OF_A_SIDE = Analysis(Color.BLACK, Color.BLACK, 1, 0.5, None, (), {"A1": 1.0}).ownership


@pytest.mark.parametrize(
    ("drawing", "message"),
    [
        ({"size": 0}, "picture of 0 pixels: expected 1 to 100000"),
        ({"size": 100_001}, "picture of 100001 pixels"),
        ({"marks": ["D4"]}, "expected marks by vertex"),
        ({"ownership": {"A1": 1.01}}, "expected numbers from -1 to 1 by points of the 9x5 board"),
        ({"ownership": OF_A_SIDE}, "by points of the 9x5 board"),
    ],
)
def test_what_cannot_be_drawn_is_refused(drawing: dict[str, Any], message: str) -> None:
    with pytest.raises(TengenError, match=message):
        Game(9, 5).svg(**drawing)


def test_a_picture_is_an_image_where_a_library_is_there() -> None:
    game = played(9, None, "E5")
    if importlib.util.find_spec("cairosvg"):
        assert game.png(size=100, marks={"E5": "circle"}).startswith(b"\x89PNG")
    else:
        with pytest.raises(ArgumentError, match="PNG: No module named 'cairosvg': expected cairosvg and Cairo; pip"):
            game.png()


def test_arrows_and_regions() -> None:
    game = played(9, None, "E5")
    path = drawn(game.svg(arrows=[("E5", "G5"), ("A9", "A9")]))["path"][-2].get("d")
    assert path == "M132.0 132.0 171.0 132.0 171.0 137.0 180.0 132.0 171.0 127.0 171.0 132.0", "in G5 is its tip"
    squares = [each for each in drawn(game.svg(region=["A9", "B9"]))["rect"] if each.get("fill") == "#f3dca4"]
    found = [(each.get("x"), each.get("y"), each.get("width")) for each in squares]
    assert found == [("24", "24", "24"), ("48", "24", "24")]
    with pytest.raises(InvalidVertexError):
        game.svg(arrows=[("E5", "K10")])


@pytest.mark.parametrize(
    ("drawing", "circles"),
    [({}, 1), ({"numbers": 1}, 0), ({"marks": {"E5": "square"}}, 0), ({"marks": {"C3": "circle"}}, 2)],
)
def test_the_last_move_has_a_circle_unless_it_is_marked_or_numbered(drawing: dict[str, Any], circles: int) -> None:
    found = drawn(played(9, None, "D4 E5").svg(**drawing))["circle"]
    assert len([each for each in found if each.get("r") == "5.5"]) == circles
