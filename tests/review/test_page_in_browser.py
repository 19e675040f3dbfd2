"""The page in a real browser: it draws itself, and what it shows are the numbers of the JSON.  Needs Chromium."""

import html
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from review.review_support import TIMED, analysis_of, review_of, with_mistakes
from review.test_game_review import reviewed
from web.browser import Chromium, Windows, needs_browser, until

from gtp_engine.config.human import rank_number
from gtp_engine.people.rank_estimate import RankEstimate
from gtp_engine.people.review import completed, page_of

if TYPE_CHECKING:
    from playwright.async_api import Page

LEADS = [0, -1, -1, -1, 6, 6, 6]
RESULT = reviewed(LEADS, ["C5"] * 7).to_json()


pytestmark = needs_browser

PHONE = {"width": 390, "height": 844, "touch": True}
windows_of_all_kinds = pytest.mark.parametrize("window", [{}, PHONE], ids=["desktop", "phone"])


@pytest.fixture(scope="module")
def page(chromium: Chromium, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the page of a game after move 4, as the browser has it."""
    file = tmp_path_factory.mktemp("browser") / "page.html"
    for position in RESULT["positions"]:
        position["stones"], position["ownership"] = "." * 25, [0] * 25
    file.write_text(page_of(RESULT, title="game"), encoding="utf-8")
    content, windows = [], Windows(chromium)

    async def read() -> None:
        page = await windows.page(f"{file.as_uri()}#4", width=500, height=1500)
        await until(page, "document.querySelector('#lost rect')")
        content.append(await page.content())

    chromium.run(read())
    windows.close()
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
        heights = [float(pair.split(",")[1]) for pair in line[1].split()]
        low, high = (0, 1) if name == "winrate" else (-6, 6)
        expected = [112 - 104 * (value - low) / (high - low) for value in values]
        assert heights == pytest.approx(expected, abs=0.06), name
    bars = re.findall(r'<rect [^>]*height="([\d.]+)"', part(page, "lost"))
    lost = [move["points_lost"] for move in RESULT["moves"] if move["points_lost"] > 0]
    assert [float(bar) for bar in bars] == pytest.approx([42 * each / max(lost) for each in lost], abs=0.06)


def test_move_mistakes_and_players_are_described(page: str) -> None:
    text = plain(page)
    assert "Move 4: White A5 bad move · lost 7.0 points and 7.0% winrate" in text
    assert "Black to play: winrate 56.0%, lead +6.0; 50 visits." in text
    assert "White A5 lost 7.0; better C5 −7.0 −7% winrate" in text
    accuracies = [f"{RESULT['players'][color]['accuracy']:.1f}" for color in "BW"]
    assert f"Accuracy {' '.join(accuracies)}" in text


def test_the_page_needs_nothing_else_and_its_script_is_allowed(page: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None and policy[1].startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy[1]
    assert json.loads(html.unescape(part(page, "data"))) == json.loads(json.dumps(RESULT))


async def test_the_board_shows_continuations_step_by_step_and_owners(windows: Windows, tmp_path: Path) -> None:
    result = review_of().to_json()
    line = result["positions"][2]["candidates"][0]["line"]
    page = await opened(windows, tmp_path, result, "#2")
    await page.click(point(line[0]))
    for count in (1, 2, 3):
        assert await page.locator(".number").all_text_contents() == [str(number + 1) for number in range(count)]
        await page.keyboard.press("ArrowRight")
    await page.keyboard.press("ArrowLeft")
    assert await page.locator(".number").count() == 3
    await page.keyboard.press("Escape")
    await page.keyboard.press("ArrowRight")
    assert (await page.inner_text("#now")).startswith("Move 3: Black D2")
    assert not await page.locator(".number").count()
    await page.click("#owner")
    position = result["positions"][3]
    free = [each for each, stone in zip(position["ownership"], position["stones"], strict=True) if stone == "."]
    await page.click("#hints")
    drawn = await page.locator(".owner-black, .owner-white").count()
    assert drawn == sum(abs(each) >= 10 for each in free) > 0


async def opened(windows: Windows, folder: Path, result: dict[str, Any], place: str = "", **options: Any) -> "Page":
    file = folder / "page.html"
    file.write_text(page_of(result, title="game"), encoding="utf-8")
    return await windows.page(f"{file.as_uri()}{place}", **options)


def point(vertex: str) -> str:
    return f"#board [data-x='{'ABCDE'.index(vertex[0])}'][data-y='{5 - int(vertex[1])}']"


@pytest.fixture(scope="module")
def lessons() -> dict[str, Any]:
    """Return a review in which moves 1 (Black C3) and 2 (White B4) lost eight points; Ann is told a rank."""
    result = json.loads(json.dumps(completed(with_mistakes(TIMED), analysis_of()).to_json()))
    estimate = RankEstimate(rank_number("3k"), rank_number("5k"), rank_number("1k"), 60, 1)
    result["players"]["B"]["played_like"]["estimate"] = estimate.to_json()
    shares = {"3k": 0.31, "1k": 0.2, "3d": 0.06}
    choice = {"rank": "3k", "vertex": "C3", "share": 0.31, "played_share": 0.31, "shares": shares}
    result["moves"][0]["people"] = choice
    result["lessons"] = [lesson for lesson in result["lessons"] if lesson["number"] < 3]
    result["players"]["B"]["mistakes"] = [1]
    result["lessons"][0]["answers"].insert(1, {"vertex": "B2", "points_lost": 0.4, "line": ["B2", "D4"]})
    return result


@windows_of_all_kinds
async def test_a_mistake_is_shown_from_the_position_before_with_what_was_played_and_what_was_better(
    windows: Windows, tmp_path: Path, lessons: dict[str, Any], window: dict[str, Any]
) -> None:
    better = lessons["moves"][0]["best"]
    page = await opened(windows, tmp_path, lessons, "#6", **window)
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.keyboard.press("p")
    while await page.input_value("#slider") != "0":
        await page.keyboard.press("p")
    assert f"Black C3 lost 8.0; better {better}" in await page.inner_text("#now")
    assert "A 3k plays C3 in 31% of such positions, a 3d in 6%." in await page.inner_text("#now")
    assert await page.text_content(".candidate.played") == "−8.0"
    assert await page.locator(".candidate.played .disc").evaluate("e => getComputedStyle(e).fill") == RED
    assert await page.locator(".candidate.best").count() == 1
    await page.get_by_role("button", name="C3, as played").click()
    assert await page.locator(".number").all_text_contents() == ["1"]
    await page.click("#next")
    assert await page.locator(".number").all_text_contents() == ["1", "2"], "how it is answered"
    await page.get_by_role("button", name="Back to the game").click()
    await page.click("#next-mistake")
    assert await page.input_value("#slider") == "1"
    assert (await page.inner_text("#now")).splitlines()[0].endswith("took 12 s"), "the move before it"
    rows = [row.split("\t") for row in (await page.inner_text("#players")).splitlines()]
    assert ["Seconds per move", "12.0", "3.0"] in rows
    assert [row[0] for row in rows if row[0].startswith("·")] == ["· opening", "· middle game", "· endgame"]
    assert await page.locator("#time .graph-time").count() == 2


RED = "rgb(179, 38, 30)"


async def test_the_players_mistakes_are_listed_apart_and_the_persons_come_first(
    windows: Windows, tmp_path: Path, lessons: dict[str, Any]
) -> None:
    page = await opened(windows, tmp_path, lessons | {"person": "W"})
    assert await page.locator("#mistakes h3").all_inner_texts() == ["Bob", "Ann"]
    better = [" ".join(each["candidates"][0]["line"][:6]) for each in lessons["positions"][1::-1]]
    assert [each.split(" · ")[3] for each in await page.locator("#mistakes .more").all_inner_texts()] == better
    await page.click("#reader-B")
    assert await page.locator("#mistakes h3").all_inner_texts() == ["Ann", "Bob"]
    assert "Ann played like 3k, between 5k or weaker and 1k." in await page.inner_text("#ranks")
    chips = await page.locator(".candidates button").all_inner_texts()
    assert chips and not any("B+" in chip or "W+" in chip for chip in chips), "all as one side sees them"


async def test_the_page_names_ranks_and_rules_in_the_readers_language(
    windows: Windows, tmp_path: Path, lessons: dict[str, Any]
) -> None:
    """They stood in it as programs write them."""
    page = await opened(windows, tmp_path, lessons, locale="zh-CN")
    assert " 5\u00a0级或以下与 1\u00a0级之间。" in await page.inner_text("#ranks")
    assert " · 中国规则 · 贴目 " in await page.inner_text("#facts")


async def test_the_board_is_a_grid_for_screen_readers(
    windows: Windows, tmp_path: Path, lessons: dict[str, Any]
) -> None:
    """It was an image without a word."""
    page = await opened(windows, tmp_path, lessons)
    snapshot = await page.locator("#board").aria_snapshot()
    assert snapshot.count("- row") == 5 and snapshot.count("gridcell") == 25
    assert 'gridcell "C3, empty, was played, lost 8.0 points"' in snapshot
    best = lessons["moves"][0]["best"]
    assert f'gridcell "{best}, empty, best move"' in snapshot
    await page.focus(".point[tabindex='0']")
    await page.keyboard.press("ArrowLeft")
    assert await page.evaluate("document.activeElement.ariaLabel.slice(0, 2)") == "B3"
    assert await page.input_value("#slider") == "0", "arrow keys on the board move on the board"
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("Enter")
    assert (await page.inner_text("#now")).startswith("Continuation")


@windows_of_all_kinds
async def test_mistakes_are_solved_on_the_page_without_a_server(
    windows: Windows, tmp_path: Path, lessons: dict[str, Any], window: dict[str, Any]
) -> None:
    answers = lessons["lessons"][0]["answers"]
    right = next(each["vertex"] for each in answers if each["points_lost"] == 0.4)
    unknown = next(
        f"{letter}{number}" for letter in "ABCDE" for number in range(1, 6)
        if f"{letter}{number}" not in {each["vertex"] for each in answers}
    )  # fmt: skip
    page = await opened(windows, tmp_path, lessons, **window)
    await page.click(".quiz-start")
    text = "document.querySelector('.quiz-text').innerText"
    assert "Black to play. C3 was played here and lost 8.0 points." in await page.inner_text("#quiz")
    assert await page.locator(".candidate").all_text_contents() == ["−8.0"], "the answer is not shown"
    for name in (".quiz-text", "#board svg"):
        box = await page.locator(name).bounding_box()
        assert box is not None and box["y"] >= 0 and box["y"] + box["height"] <= window.get("height", 860) + 1
    await page.click(point(unknown))
    await until(page, f"{text}.startsWith('The review did not look at {unknown}')")
    await page.click(point("C3"))
    await until(page, f"/C3 loses 8.0 points: White answers [A-E][1-5]/.test({text})")
    assert not await page.is_visible("#mistakes"), "which has the answers"
    assert await page.inner_text("#now") == "", "it asked for a click while it showed the refutation"
    await until(page, "document.querySelectorAll('.number').length > 2")  # the refutation goes on by itself
    await page.get_by_role("button", name="Try again").click()
    await page.click(point(right))
    await until(page, f"/^Right: {right} loses 0.4 points; the best move is/.test({text})")
    await page.get_by_role("button", name="Finish").click()
    assert "1 of 1 solved, 0 on the first try." in await page.inner_text("#quiz")
    assert "Over 1 game: 1 of 1 positions solved, 0 on the first try." in await page.inner_text("#quiz")
    await page.reload()
    while not await page.evaluate("localStorage.length"):  # Chromium may reload before it has kept the result
        await page.reload()
    await page.click("#reader-W")
    await page.click(".quiz-start")
    await page.click(point(lessons["moves"][1]["best"]))
    await until(page, f"/^Right: .. is the best move/.test({text})")
    await page.get_by_role("button", name="Finish").click()
    assert "2 of 2 positions solved, 1 on the first try." in await page.inner_text("#quiz"), "counted over games"


async def test_the_page_on_paper_has_diagrams_of_the_mistakes(
    windows: Windows, tmp_path: Path, lessons: dict[str, Any]
) -> None:
    page = await opened(windows, tmp_path, lessons, dark=True)
    await page.emulate_media(media="print", color_scheme="dark")
    await page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert await page.locator("figure").count() == 2 and await page.locator("figure").first.is_visible()
    assert not await page.locator("#quiz-card, .controls").first.is_visible()
    assert await page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert len(await page.pdf()) > 5000
    color = "stone.closest('svg').querySelector(stone.getAttribute('fill').slice(4, -1)) !== null"
    found = await page.evaluate(f"[...document.querySelectorAll('figure [fill^=url]')].map((stone) => {color})")
    assert found and all(found), "stones had the colours of the board that paper does not show, and were missing"
