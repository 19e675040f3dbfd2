"""Chromium, driven by Playwright: one browser for all tests of a process, and windows of it, the fixture `windows`.

    pytestmark = needs_browser

    async def test_the_page(windows: Windows, port: int) -> None:
        page = await windows.page(f"http://127.0.0.1:{port}/", width=390, height=844, touch=True)
        await page.click("#new")
        await until(page, "document.querySelector('#setup').open")

A page is Playwright's: https://playwright.dev/python/docs/api/class-page.  All tests share an event loop, in which
they can run servers too.
"""

import asyncio
import contextlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import pytest
from busy_machine import bound, is_over

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page

PROGRAMS: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
PROGRAM: Final = next(filter(None, map(shutil.which, PROGRAMS)), None)
"""The browser: first the one without windows and desktop, which takes half of the processor time."""

MISSING: Final = (
    "no Chromium: apt-get install chromium-headless-shell" if PROGRAM is None
    else "no Playwright: pip install playwright" if find_spec("playwright") is None
    else None
)  # fmt: skip

needs_browser: Final = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))

WAIT_SECONDS: Final = 60
POLL: Final = 0.02
LONGEST_POLL: Final = 0.1
"""Seconds between looks at a page: first and at last, as each look takes the processors some milliseconds."""


class Windows:
    """The windows of one test; each has cookies and storage of its own."""

    def __init__(self, chromium: "Chromium") -> None:
        self.chromium: Final = chromium
        self._contexts: list[BrowserContext] = []
        self.complaints: list[str] = []
        """What pages wrote to their consoles, and exceptions."""
        self.expected = "(?!)"
        """A regular expression of what they may write, beside that a connection is refused (a server restarts)."""

    async def page(
        self, url: str, *, width: int = 1280, height: int = 860, dark: bool = False, touch: bool = False, **options: Any
    ) -> "Page":
        """Open a page in a window of this size; `options` are Playwright's of a context, such as a locale.

        Unless they allow `service_workers`, no page is kept for times without its server: each would be loaded twice.
        """
        browser = await self.chromium.started()
        context = await browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light",
            has_touch=touch, is_mobile=touch, device_scale_factor=2 if touch else 1, reduced_motion="reduce",
            **{"service_workers": "block"} | options,
        )  # fmt: skip
        self._contexts.append(context)
        context.set_default_timeout(1000 * bound(WAIT_SECONDS))
        context.on("console", lambda message: self.complaints.append(f"{message.text} {message.location}"))
        context.on("weberror", lambda error: self.complaints.append(str(error.error)))
        page = await context.new_page()
        await page.goto(url)
        return page

    def close(self) -> None:
        """Close them; raise AssertionError if their pages complained."""
        for context in self._contexts:
            self.chromium.run(context.close())
        allowed = re.compile(f"ERR_CONNECTION_REFUSED|Service Worker registration blocked|{self.expected}")
        complaints = [text for text in self.complaints if not allowed.search(text)]
        assert not complaints, complaints


class Chromium:
    """The browser, which starts with the first test, and the event loop of its tests."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._home = tempfile.TemporaryDirectory()
        self._browser: Browser | None = None
        self._stop: Callable[[], Awaitable[None]] | None = None

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a test in the event loop of the browser, or what it needs there; return what that returns."""
        return self._runner.run(coroutine)

    async def started(self) -> "Browser":
        """Return the browser; the first call starts it."""
        if self._browser is not None:
            return self._browser
        from playwright.async_api import async_playwright

        playwright = await async_playwright().start()
        self._stop = playwright.stop
        self._browser = await playwright.chromium.launch(
            executable_path=PROGRAM,
            chromium_sandbox=hasattr(os, "geteuid") and os.geteuid() != 0,  # root has none
            env={**os.environ, "HOME": self._home.name},
        )
        return self._browser

    def close(self) -> None:
        async def close() -> None:
            if self._browser is not None:
                await self._browser.close()
            if self._stop is not None:
                await self._stop()

        with self._runner, self._home:
            self._runner.run(close())


async def until(page: "Page", expression: str, seconds: float = WAIT_SECONDS) -> None:
    """Wait until a JavaScript expression is true; one that fails, because the page is still loading, is not.

    `page.wait_for_function` evaluates text in the page, which its security policy forbids.
    """
    from playwright.async_api import Error

    started, pause = time.monotonic(), POLL
    while not is_over(started, seconds):
        with contextlib.suppress(Error):
            if await page.evaluate(f"Boolean({expression})"):
                return
        await asyncio.sleep(pause)
        pause = min(1.5 * pause, LONGEST_POLL)
    raise AssertionError(f"{expression} did not come true: {await page.inner_text('body')}")


async def open_record(page: "Page", record: str | bytes) -> None:
    """Choose a file with this game record, as *Open* lets people do."""
    content = record.encode() if isinstance(record, str) else record
    await page.set_input_files("#file", {"name": "game.sgf", "mimeType": "application/x-go-sgf", "buffer": content})
