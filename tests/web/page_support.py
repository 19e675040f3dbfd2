"""A server in this process for tests in the browser, and what people do on its page."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from puct_support import AreaEvaluator
from web.browser import Windows, until
from web.serving import RolloutSource, serving

from gtp_engine.config import Config
from gtp_engine.engine.shared_engines import SharedEngines

if TYPE_CHECKING:
    from playwright.async_api import Page

MY_MOVE = "document.querySelector('#status').innerText.includes('Your move')"


class PageSource(RolloutSource):
    """A fast engine, which plays by rollouts, and a network for reviews."""

    def load(self, config: Config) -> Any:
        evaluator = AreaEvaluator()
        evaluator.info = replace(evaluator.info, name=config.network.model or "builtin")
        return SharedEngines(config, evaluator=evaluator).load_for_analyses()


@contextlib.asynccontextmanager
async def server(games: Path, port: int = 0, token: str | None = None, **options: Any) -> AsyncIterator[int]:
    """Run a server of `PageSource` and yield its port."""
    async with serving(PageSource(), games=games, port=port, token=token, **options) as client:
        assert client.port is not None
        yield client.port


async def without_a_game(windows: Windows, port: int, **window: Any) -> "Page":
    """Open the page in a new window, and close the dialog with which it begins."""
    page = await windows.page(f"http://127.0.0.1:{port}/", **window)
    await until(page, "document.querySelector('#setup').open")
    await page.click("#setup button[value='']")
    return page


async def new_game(page: "Page", **choices: str) -> None:
    """Start a game with these choices in the dialog, and wait for the person's turn."""
    await until(page, "document.querySelector('#setup').open && document.querySelector('[name=rules]').options.length")
    for name, value in choices.items():
        field = f"document.querySelector('#setup [name={name}]')"
        await page.evaluate(f"{field}.value = '{value}'; {field}.dispatchEvent(new Event('change', {{bubbles: true}}))")
    await page.click("#setup button[value=start]")
    await until(page, f"location.hash.startsWith('#game=') && !document.querySelector('#setup').open && {MY_MOVE}")


async def click_point(page: "Page", vertex: str, size: int = 9) -> None:
    x, y = "ABCDEFGHJ".index(vertex[0]), size - int(vertex[1:])
    await page.click(f".point[data-x='{x}'][data-y='{y}']")


async def play(page: "Page", vertex: str, size: int = 9) -> None:
    """Play a move by a click, and wait for the engine's."""
    before = await page.inner_text("#number")
    await click_point(page, vertex, size)
    await until(page, f"document.querySelector('#number').innerText !== '{before}' && {MY_MOVE}")


async def moves_of(page: "Page") -> int:
    return int((await page.inner_text("#number")).split("/")[1])


async def pass_move(page: "Page") -> None:
    """Pass, and confirm it where the page asks because a move has just been played."""
    await page.click("#pass")
    if await page.evaluate("document.querySelector('#question').open"):
        await page.click("#question-yes")
