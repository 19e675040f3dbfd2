"""What else there is on the page, by fingers, on a phone that is upright, and looked at on its side."""

from typing import TYPE_CHECKING

from web.browser import Windows, needs_browser, open_record, until
from web.page_support import MY_MOVE, new_game

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = needs_browser

UPRIGHT, SIDE = (390, 844), (844, 390)
NUMBER = "document.querySelector('#number').innerText"
SOUNDS = """() => {
  window.sounds = 0;
  const start = AudioBufferSourceNode.prototype.start;
  AudioBufferSourceNode.prototype.start = function (...rest) {
    window.sounds += 1;
    return start.apply(this, rest);
  };
}"""


async def tap(page: "Page", *selectors: str) -> None:
    for selector in selectors:
        await page.locator(selector).first.tap()


async def tap_point(page: "Page", vertex: str) -> None:
    await tap(page, f"#board .point[aria-label^='{vertex},']")


async def nothing_is_cut_off(page: "Page") -> None:
    """Look at the page as it is on a phone on its side, and upright again."""
    buttons = "[...document.querySelectorAll('button')].filter((each) => each.checkVisibility())"
    cut = f"{buttons}.filter((each) => each.scrollWidth > each.clientWidth + 1)"
    for width, height in (SIDE, UPRIGHT):
        await page.set_viewport_size({"width": width, "height": height})
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert await page.evaluate(f"{cut}.map((each) => each.textContent)") == []


async def test_everything_is_done_by_fingers(windows: Windows, port: int) -> None:
    width, height = UPRIGHT
    page = await windows.page(f"http://127.0.0.1:{port}/", width=width, height=height, touch=True)
    await new_game(page, size="9", human="B")
    await page.evaluate(SOUNDS)
    await sounds(page)
    await moves(page)
    await study(page)
    await library(page)
    await in_another_language(page)


async def sounds(page: "Page") -> None:
    """Each stone is heard, unless that is turned off."""
    await until(page, MY_MOVE)
    await tap_point(page, "E5")
    await until(page, f"{NUMBER} === '2 / 2' && {MY_MOVE} && sounds >= 1")
    heard = await page.evaluate("sounds")
    await tap(page, "#preferences summary", "[name=sound]", "#back", "#forward")
    assert await page.evaluate("sounds") == heard
    await tap(page, "[name=sound]", "#back", "#forward")
    await until(page, f"sounds > {heard}")


async def moves(page: "Page") -> None:
    """Use a hint, undo and redo, another move in the past, a comment, a mark, the score."""
    await tap(page, "#hint")
    await until(page, "document.querySelector('#status').innerText.startsWith('Hint: ')")
    await tap(page, "#undo")
    await until(page, f"{NUMBER} === '0 / 2'")
    await tap(page, "#redo")
    await until(page, f"{NUMBER} === '2 / 2'")
    await tap(page, "#first")
    await tap_point(page, "C3")
    await until(page, f"{NUMBER} === '2 / 2' && {MY_MOVE}")
    await page.fill("#comment", "another corner")
    await tap(page, "#edit", "label:has([value=circle])")
    await tap_point(page, "C3")
    await until(page, "document.querySelectorAll('#board .mark.circle').length === 1")
    await nothing_is_cut_off(page)
    await tap(page, "#edit")
    await open_record(page, "(;SZ[5]KM[0.5]RU[Chinese]RE[?];B[cc];W[ac];B[bb];W[bd];B[];W[])")
    await until(page, "!document.querySelector('#score').hidden")
    assert (await page.inner_text("#tally")).split()[:3] == ["Black", "White", "Territory"]
    assert "a point for each of its living stones" in await page.inner_text("#counting")
    assert await page.locator("#board .owner-black").count() > 0
    await nothing_is_cut_off(page)


async def study(page: "Page") -> None:
    """Look at the analysis with a continuation on the board, and at an opening."""
    record = "(SZ[9]PB[이창호]PW[조훈현];B[gc];W[cg];B[ee])"
    await open_record(page, record.encode("euc_kr"))  # without CA, and without the first semicolon
    await until(page, f"{NUMBER} === '3 / 3'")
    await tap(page, "#analyse")
    await until(page, "document.querySelector('#moves td:last-child')?.innerText")
    await tap(page, "#moves tbody tr")
    await until(page, "document.querySelectorAll('#board .in-line').length > 1")
    await nothing_is_cut_off(page)
    await tap(page, "#analyse")
    await open_record(page, "(;SZ[9])")
    await until(page, f"{NUMBER} === '0 / 0'")
    await tap(page, "#openings summary")
    await until(page, "document.querySelectorAll('#openings tbody button').length")
    await tap(page, "#openings tbody button")
    await until(page, "document.querySelector('#opening-path').innerText")
    await nothing_is_cut_off(page)
    await tap(page, "#opening-leave")


async def library(page: "Page") -> None:
    """Find a game, and name it."""
    await tap(page, "#games")
    await page.fill("#game-search", "이창호")
    await until(page, "document.querySelectorAll('#game-list li').length === 1")
    assert await page.evaluate("document.querySelector('#game-list canvas').width") > 0
    await tap(page, "#game-list li > div button")
    await page.fill("#title", "Club evening")
    await tap(page, "#naming .main")
    await until(page, "document.querySelector('#game-list').innerText.includes('Club evening')")
    await nothing_is_cut_off(page)
    await tap(page, "#game-list .game")
    await until(page, f"{NUMBER} === '3 / 3'")


async def in_another_language(page: "Page") -> None:
    """Choose a language, which lasts."""
    await page.select_option("#language", "ko")
    for step in (nothing_is_cut_off, lambda page: page.reload(), nothing_is_cut_off):
        await until(page, f"document.documentElement.lang === 'ko' && {NUMBER} === '3 / 3'")
        await step(page)
