"""The picture of the page in the documentation: `scripts/make_web_pictures` runs this."""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from web.browser import browser

PICTURE: Final = Path(__file__).parent.parent.parent / "docs" / "pictures" / "web.png"

RECORD: Final = "(;SZ[9]KM[7]RU[Chinese]PB[Human]PW[Tengen];B[ee];W[cc];B[gc];W[fg];B[dd];W[gf];B[cg];W[ec])"
"""The beginning of a game, with the person to move."""

VISITS: Final = 2000
"""Visits of the analysis that is shown."""


async def make(folder: Path) -> None:
    """Write the picture; `folder` is for files that are not kept."""
    command = [sys.executable, "-m", "gtp_engine", "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment(folder)) as server:
        try:
            assert server.stderr is not None
            address = re.search(r"http://\S+", server.stderr.readline())
            assert address is not None
            async with browser(folder / "browser") as chromium:
                page = await chromium.page(address[0], width=1180, height=760)
                await page.until("document.querySelector('#setup').open")
                await page.evaluate("document.querySelector('#setup').close()")
                await page.open_record(RECORD)
                await page.until("document.querySelector('#number').innerText === '8 / 8'", 300)
                await page.click("#analyse")
                await page.until(
                    f"Number(document.querySelector('#verdict').innerText.match(/(\\d+) visits/)[1]) > {VISITS} && "
                    "document.querySelector('.graph-winrate').getAttribute('points').split(' ').length === 9",
                    300,
                )
                await page.screenshot(PICTURE)
        finally:
            server.terminate()
            server.communicate()


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of the server, whose games are not kept."""
    return {**os.environ, "TENGEN_DATA_DIR": str(folder / "data")}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(make(Path(name)))
