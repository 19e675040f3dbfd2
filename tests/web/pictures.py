"""The picture of the page in the documentation: `scripts/make_web_pictures` runs this."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from web.browser import Chromium, Windows, open_record, until

PICTURE: Final = Path(__file__).parent.parent.parent / "docs" / "pictures" / "web.png"

RECORD: Final = "(;SZ[9]KM[7]RU[Chinese]PB[Human]PW[Tengen];B[ee];W[cc];B[gc];W[fg];B[dd];W[gf];B[cg];W[ec])"
"""The beginning of a game, with the person to move."""

VISITS: Final = 2000
"""Visits of the analysis that is shown."""


async def take(windows: Windows, address: str) -> None:
    """Write the picture of the page at an address."""
    page = await windows.page(address, width=1180, height=760)
    await until(page, "document.querySelector('#setup').open")
    await page.evaluate("document.querySelector('#setup').close()")
    await open_record(page, RECORD)
    await until(page, "document.querySelector('#number').innerText === '8 / 8'", 300)
    await page.click("#analyse")
    await until(
        page,
        f"Number(document.querySelector('#verdict').innerText.match(/(\\d+) visits/)[1]) > {VISITS} && "
        "document.querySelector('.graph-winrate').getAttribute('points').split(' ').length === 9",
        300,
    )
    await page.screenshot(path=PICTURE)


def make(folder: Path) -> None:
    """Write the picture; `folder` is for files that are not kept."""
    command = [sys.executable, "-m", "gtp_engine", "serve", "--port", "0"]
    chromium = Chromium()
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment(folder)) as server:
        try:
            assert server.stderr is not None
            address = re.search(r"http://\S+", server.stderr.readline())
            assert address is not None
            chromium.run(lambda windows: take(windows, address[0]))
        finally:
            server.terminate()
            server.communicate()
            chromium.close()


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of the server, whose games are not kept."""
    return {**os.environ, "TENGEN_DATA_DIR": str(folder / "data")}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        make(Path(name))
