"""What board and graph draw, in a real browser: labels on a phone, territory, lines that are seen."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from web.browser import Windows, needs_browser, until

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = needs_browser

DRAWN = Path(__file__).with_name("drawn.js").read_text(encoding="utf-8")


async def drawn(page: "Page", name: str, given: object) -> Any:
    """Return what a function of drawn.js returns."""
    return await page.evaluate(f"(given) => {DRAWN}.{name}(given)", given)


async def contrast(page: "Page", name: str, given: object = None) -> float:
    return float(await drawn(page, "contrast", await drawn(page, name, given)))


async def test_what_board_and_graph_draw(windows: Windows, port: int) -> None:
    page = await windows.page(f"http://127.0.0.1:{port}/")
    await until(page, "document.querySelector('#setup').open")
    await no_territory_on_stones(page)
    await labels_of_a_phone(page)
    await lines_are_seen(page)


async def no_territory_on_stones(page: "Page") -> None:
    """Squares lay on top of stones; now a stone that is expected to be captured fades."""
    assert await drawn(page, "board", 600) == [361 - 3, 1]


async def labels_of_a_phone(page: "Page") -> None:
    """They had 7 pixels; a small board has short ones, and turning the phone changes them."""
    await drawn(page, "board", 360)
    await until(page, "place.querySelector('.candidate').textContent === '−14'")
    assert await page.evaluate("place.querySelector('.candidate text').getBoundingClientRect().height") > 10
    await page.evaluate("place.style.width = '700px'")
    await until(page, "place.querySelector('.candidate').textContent === '−14.12'")


async def lines_are_seen(page: "Page") -> None:
    """Compare lines with what is behind them: that of the lead had a contrast of 2.6 : 1; WCAG asks for 3."""
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        for name in ("graph-winrate", "graph-lead"):
            assert await contrast(page, "line", name) >= 3, (scheme, name)
        assert await contrast(page, "ring") >= 3, "of a button that has the focus"
        for wood in ("kaya", "walnut", "paper"):
            rings = [await contrast(page, "ringOnWood", [wood, ring]) for ring in ("ring-dark", "ring-light")]
            assert max(rings) >= 3, f"the focus on {wood}"
