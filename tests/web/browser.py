"""A headless Chromium, driven by its own protocol over a WebSocket.

The methods are described at https://chromedevtools.github.io/devtools-protocol.
"""

import asyncio
import base64
import contextlib
import itertools
import json
import os
import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse
from busy_machine import bound

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

POLL = 0.02
"""Seconds between two looks at a page."""

OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--no-first-run",
    "--disable-extensions", "--disable-background-networking", "--hide-scrollbars", "--force-color-profile=srgb",
)  # fmt: skip


class Browser:
    """A connection to the browser; every page has cookies and storage of its own."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.complaints: list[str] = []
        """What pages wrote to their consoles, and exceptions."""

    async def page(
        self, url: str, *, width: int = 1280, height: int = 860, dark: bool = False, touch: bool = False
    ) -> "Page":
        """Open a page in a window of this size."""
        context = (await self.call("Target.createBrowserContext"))["browserContextId"]
        target = (await self.call("Target.createTarget", url="about:blank", browserContextId=context))["targetId"]
        session = (await self.call("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
        page = Page(self, session)
        for domain in ("Page", "Runtime", "Log"):
            await page.call(f"{domain}.enable")
        await page.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if touch else 1,
            mobile=touch,
        )  # fmt: skip
        await page.call("Emulation.setTouchEmulationEnabled", enabled=touch)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        await page.call("Emulation.setEmulatedMedia", features=scheme)
        await page.call("Page.navigate", url=url)
        return page

    async def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Return the result of a method of the protocol."""
        number = next(self._numbers)
        self._answers[number] = asyncio.get_running_loop().create_future()
        message = {"id": number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        await self._socket.send_json(message)
        answer = await self._answers[number]
        del self._answers[number]
        assert "error" not in answer, f"{method}: {answer['error']}"
        result: dict[str, Any] = answer["result"]
        return result

    async def receive(self) -> None:
        """Pass on answers until the browser ends."""
        async for message in self._socket:
            data = json.loads(message.data)
            if data.get("id") in self._answers:
                self._answers[data["id"]].set_result(data)
            elif data.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"):
                self.complaints.append(json.dumps(data["params"])[:600])


class Page:
    """One page."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser = browser
        self._session = session

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        return await self._browser.call(method, self._session, **parameters)

    async def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression."""
        answer = await self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, f"{expression}: {answer['exceptionDetails']}"
        return answer["result"].get("value")

    async def until(self, expression: str, seconds: float = 20) -> None:
        """Wait until an expression is true; one that fails, because the page is still loading, is not."""
        condition = f"(() => {{ try {{ return Boolean({expression}); }} catch {{ return false; }} }})()"
        try:
            async with asyncio.timeout(bound(seconds)):
                while not await self.evaluate(condition):
                    await asyncio.sleep(POLL)
        except TimeoutError:
            text = await self.evaluate("document.body.innerText")
            raise AssertionError(f"{expression} did not come true: {text} {self._browser.complaints}") from None

    async def click(self, selector: str) -> None:
        """Click in the middle of an element, which has to be visible."""
        query = f"document.querySelector({json.dumps(selector)})"
        await self.evaluate(f"{query}.scrollIntoView({{block: 'nearest'}})")
        box = await self.evaluate(
            f"(() => {{ const b = {query}.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; }})()"
        )
        assert box[2] and box[3], f"{selector} is not visible: {await self.evaluate('document.body.innerText')}"
        where = {"x": box[0] + box[2] / 2, "y": box[1] + box[3] / 2, "button": "left", "clickCount": 1}
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            await self.call("Input.dispatchMouseEvent", type=kind, **where)

    async def press(self, key: str) -> None:
        """Press a key by its name, such as "ArrowLeft"."""
        codes = {"Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "PageUp": 33}
        values = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key]} | (
            {"text": "\r"} if key == "Enter" else {}
        )
        await self.call("Input.dispatchKeyEvent", type="keyDown", **values)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **values)

    async def open_record(self, record: str) -> None:
        """Choose a file with this game record, as *Open* lets people do."""
        await self.evaluate(
            "(() => { const files = new DataTransfer(), field = document.querySelector('#file');"
            f"files.items.add(new File([{json.dumps(record)}], 'game.sgf')); field.files = files.files;"
            "field.dispatchEvent(new Event('change')); })()"
        )

    async def text(self, selector: str) -> str:
        """Return the text of an element."""
        return str(await self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText"))

    async def screenshot(self, path: Path) -> None:
        """Write a picture of the window."""
        path.write_bytes(base64.b64decode((await self.call("Page.captureScreenshot", format="png"))["data"]))


@contextlib.asynccontextmanager
async def browser(folder: Path) -> AsyncIterator[Browser]:
    """Start a browser that keeps its files in `folder`."""
    assert PROGRAM is not None
    process = await asyncio.create_subprocess_exec(
        PROGRAM, *OPTIONS, f"--user-data-dir={folder}", "about:blank",
        stderr=asyncio.subprocess.PIPE, env={**os.environ, "HOME": str(folder)},
    )  # fmt: skip
    assert process.stderr is not None
    try:
        while (address := re.search(rb"ws://\S+", await process.stderr.readline())) is None:
            assert process.returncode is None
        async with ClientSession() as session, session.ws_connect(address[0].decode(), max_msg_size=1 << 26) as socket:
            connection = Browser(socket)
            receiver = asyncio.create_task(connection.receive())
            yield connection
            await socket.send_json({"id": 0, "method": "Browser.close"})
            await receiver
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()
