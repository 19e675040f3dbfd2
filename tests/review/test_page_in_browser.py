"""The page in a real browser: it draws itself, and what it shows are the numbers of the JSON.  Needs Chromium."""

import html
import json
import re
from pathlib import Path

import pytest
from review.review_support import review_of
from review.test_game_review import reviewed
from web.browser import Chromium, Windows, needs_browser, until

from gtp_engine.review import page_of

LEADS = [0, -1, -1, -1, 6, 6, 6]
RESULT = reviewed(LEADS, ["C5"] * 7).to_json()


pytestmark = needs_browser


@pytest.fixture(scope="module")
def page(chromium: Chromium, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the page of a game after move 4, as the browser has it."""
    file = tmp_path_factory.mktemp("browser") / "page.html"
    for position in RESULT["positions"]:
        position["stones"], position["ownership"] = "." * 25, [0] * 25
    file.write_text(page_of(RESULT, title="game"), encoding="utf-8")
    content = []

    async def read(windows: Windows) -> None:
        page = await windows.page(f"{file.as_uri()}#4", width=500, height=1500)
        await until(page, "document.querySelector('#lost rect')")
        content.append(await page.content())

    chromium.run(read)
    return content[0]


def part(page: str, name: str) -> str:
    """Return the content of the element with this id."""
    found = re.search(rf'<(\w+)[^>]*id="{name}"[^>]*>(.*?)</\1>', page, re.DOTALL)
    assert found is not None, name
    return found[2]


def plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def test_the_graphs_have_the_values_of_the_json(page: str) -> None:
    for name, values in (("winrate", [each["winrate"] for each in RESULT["positions"]]), ("lead", LEADS)):
        line = re.search(r'<polyline points="([^"]+)"', part(page, name))
        assert line is not None
        heights = [float(pair.split(",")[1]) for pair in line[1].split()]
        low, high = (0, 1) if name == "winrate" else (-6, 6)
        expected = [112 - 104 * (value - low) / (high - low) for value in values]
        assert heights == pytest.approx(expected, abs=0.06), name
    bars = re.findall(r'<rect [^>]*height="([\d.]+)"', part(page, "lost"))
    lost = [move["points_lost"] for move in RESULT["moves"] if move["points_lost"] > 0]
    assert [float(bar) for bar in bars] == pytest.approx([84 * each / max(lost) for each in lost], abs=0.06)


def test_move_mistakes_and_players_are_described(page: str) -> None:
    text = plain(page)
    assert "Move 4: White A5 bad move , loses 7.0 points, 7.0 % winrate" in text
    assert "Black's winrate 56.0 %, lead B+6.0. Black to play" in text
    assert "White A5, better C5 −7.0" in text
    accuracy = RESULT["players"]["W"]["accuracy"]
    assert re.search(rf"Accuracy {RESULT['players']['B']['accuracy']} {accuracy}", text)


def test_the_page_needs_nothing_else_and_its_script_is_allowed(page: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None and policy[1].startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy[1]
    assert json.loads(html.unescape(part(page, "data"))) == json.loads(json.dumps(RESULT))


def test_the_board_shows_continuations_and_owners_and_leaves_arrows_to_the_game(
    chromium: Chromium, tmp_path: Path
) -> None:
    result = review_of().to_json()
    (tmp_path / "page.html").write_text(page_of(result, title="game"), encoding="utf-8")
    line = result["positions"][2]["candidates"][0]["line"]
    x, y = "ABCDE".index(line[0][0]), 5 - int(line[0][1])

    async def look(windows: Windows) -> None:
        page = await windows.page(f"file://{tmp_path}/page.html#2")
        await until(page, "document.querySelectorAll('.candidate').length")
        await page.click(f"#board [data-x='{x}'][data-y='{y}']")
        numbers = await page.evaluate("Array.from(document.querySelectorAll('.number'), (each) => each.textContent)")
        assert numbers[0] == "1" and len(numbers) <= len(line)
        await page.keyboard.press("ArrowRight")
        assert (await page.inner_text("#now")).startswith("Move 3: Black D2")
        assert not await page.evaluate("document.querySelectorAll('.number').length")
        await page.click("#owner")
        position = result["positions"][3]
        free = [each for each, stone in zip(position["ownership"], position["stones"], strict=True) if stone == "."]
        owned = sum(abs(each) >= 10 for each in free)
        await page.click("#hints")
        drawn = await page.evaluate("document.querySelectorAll('.owner-black, .owner-white').length")
        assert drawn == owned > 0

    chromium.run(look)
