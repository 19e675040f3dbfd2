"""The icons of the page, and pictures for the documentation: `scripts/make_web_pictures` runs this."""

import io
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.text import Text
from web.browser import Chromium, Windows, open_record, until

from gtp_engine.config import Config
from gtp_engine.engine import Engine
from gtp_engine.people.review.finished_reviews import terminal_report
from gtp_engine.sgf import format_sgf

if TYPE_CHECKING:
    from playwright.async_api import Page

ROOT: Final = Path(__file__).parent.parent.parent
PICTURES: Final = ROOT / "docs" / "pictures"
STATIC: Final = ROOT / "gtp_engine" / "web" / "static"

ICON_SIZES: Final = (192, 512)
"""Pixels; phones that install a page want both."""

PARTS: Final = ("icons", "page", "study", "languages", "review")

RECORD: Final = "(;SZ[9]KM[7]RU[Chinese]PB[Human]PW[Tengen];B[ee];W[cc];B[gc];W[fg];B[dd];W[gf];B[cg];W[ec])"
"""The beginning of a game, with the person to move."""

PROBLEM: Final = (
    "(;SZ[19]AB[ab][bb][cb][db][da]AW[ac][bc][cc][dc][ec][eb][ea]C[Black to live.](;B[ba]C[RIGHT])(;B[ca];W[ba]))"
)
"""Two points of an eye space of three are no eyes yet."""

LECTURE: Final = (
    "(;SZ[9]KM[7]RU[Chinese]PB[Lee]PW[Cho]RE[W+R];B[ee];W[ec];B[dg](;W[gd]C[White takes the right side. What if it "
    "were the left one? See the other line.]LB[cd:A][ge:B]TR[ee];B[fb];W[eb](;B[fc];W[cc])(;B[gc];W[cc];B[hd]))"
    "(;W[cd];B[gd](;W[gg])(;W[hc];B[fc])))"
)
"""A record with variations, a comment and marks."""

LANGUAGES: Final = ("zh-Hans", "zh-Hant", "ja", "ko")

VISITS: Final = 2000
"""Visits of the analysis that is shown."""

REVIEWED_MOVES: Final = 90
REVIEWED_LEVEL: Final = "3k"
"""Length of the game that is reviewed, and the level of both players."""

REVIEW_SECONDS: Final = 1500
FINISHED: Final = "document.querySelector('#review-news').innerText.startsWith('The review is finished')"
WIDTH: Final = 110
"""Columns of the terminal."""


async def draw_icons(windows: Windows) -> None:
    """Draw icon.svg in the sizes that installed pages need."""
    for size in ICON_SIZES:
        page = await windows.page((STATIC / "icon.svg").as_uri(), width=size, height=size)
        await page.screenshot(path=STATIC / f"icon-{size}.png", omit_background=True)


async def take(windows: Windows, address: str) -> None:
    """Write the pictures of the page at an address, on a desktop and a phone, of a score, and of the list of games."""
    await take_settings(await windows.page(address, width=1180, height=760))
    await take_analysis(await windows.page(address, width=1180, height=760), "web.png")
    page = await windows.page(address, width=390, height=844, touch=True)
    await take_analysis(page, "web-phone.png")
    page = await windows.page(address, width=1180, height=760)
    await open_game(page, played_game(9))
    await until(page, "!document.querySelector('#score').hidden", 300)
    await page.screenshot(path=PICTURES / "web-score.png")
    await page.click("#accept")
    await review_briefly(page)
    await page.click("#games")
    await page.click("#game-list button >> nth=1")
    await page.fill("#title", "First game of the evening")
    await page.click("#naming .main")
    await until(page, "document.querySelector('#game-list').innerText.includes('First game of the evening')")
    await page.screenshot(path=PICTURES / "web-games.png")


async def take_settings(page: "Page") -> None:
    """Write a picture of the settings beside a candidate's continuation on the board."""
    await open_game(page, RECORD)
    await until(page, "document.querySelector('#number').innerText === '8 / 8'", 300)
    await page.click("#analyse")
    await until(page, "document.querySelector('#moves td:last-child')?.innerText.split(' ').length > 4", 300)
    await page.click("#preferences summary")
    await until(page, "document.querySelector('#network').options.length > 1")
    await page.evaluate("document.querySelector('#preferences').scrollIntoView({ block: 'end' })")
    await page.hover("#moves tbody tr >> nth=0")
    await until(page, "document.querySelectorAll('.in-line').length > 4", 300)
    await page.screenshot(path=PICTURES / "web-settings.png")
    await page.close()


async def open_game(page: "Page", record: str) -> None:
    """Open a record instead of beginning a game."""
    await until(page, "document.querySelector('#setup').open")
    await page.evaluate("document.querySelector('#setup').close()")
    await open_record(page, record)


async def take_analysis(page: "Page", picture: str) -> None:
    """Write a picture of a game that is being analysed."""
    await open_game(page, RECORD)
    await until(page, "document.querySelector('#number').innerText === '8 / 8'", 300)
    await page.click("#analyse")
    await until(
        page,
        f"Number(document.querySelector('#verdict').innerText.match(/(\\d+) visits/)[1]) > {VISITS} && "
        "document.querySelector('.graph-winrate').getAttribute('points').split(' ').length === 9",
        300,
    )
    await page.evaluate("scrollTo(0, 0)")
    await page.screenshot(path=PICTURES / picture, scale="css")
    await page.close()  # else the analysis goes on, and what follows waits


async def take_study(windows: Windows, address: str) -> None:
    """Write the pictures of an opening that is explored, and of a problem with its refutation."""
    page = await windows.page(address, width=1180, height=760)
    await open_game(page, "(;SZ[19]KM[7.5]RU[Chinese];B[pd];W[dp];B[pp])")
    await until(page, "document.querySelector('#number').innerText === '3 / 3'", 300)
    await page.click("#openings summary")
    rows, news = "document.querySelectorAll('#openings tbody tr').length", "document.querySelector('#opening-news')"
    await until(page, f"{rows} && {news}.innerText === ''", 300)
    await page.evaluate("document.querySelector('#openings').scrollIntoView({ block: 'end' })")
    await page.screenshot(path=PICTURES / "web-opening.png")
    await open_record(page, PROBLEM)
    await page.click("#question-yes")
    await until(page, "!document.querySelector('#problems').hidden")
    await page.evaluate("scrollTo(0, 0)")
    await page.click("#board [data-x='2'][data-y='0']")
    await until(page, "document.querySelector('.problem-text').innerText.startsWith('C19 is wrong: B19')", 300)
    await until(page, "document.querySelectorAll('#board .number').length === 2")
    await page.wait_for_timeout(500)  # the stone fades in
    await page.screenshot(path=PICTURES / "web-problem.png")
    await page.close()


async def take_lecture(windows: Windows, address: str) -> None:
    """Write the pictures of a record that is edited and shared, of a new game, and of a phone on its side."""
    page = await windows.page(address, width=1180, height=760)
    await page.click("#more summary")
    await page.screenshot(path=PICTURES / "web-new.png")
    await open_game(page, LECTURE)
    await until(page, "document.querySelector('#number').innerText.startsWith('8')", 300)
    for _ in range(4):
        await page.click("#back")
    await page.click("#edit")
    await page.screenshot(path=PICTURES / "web-edit.png")
    await page.click("#share")
    await until(page, "document.querySelector('#link-watch').value")
    await page.screenshot(path=PICTURES / "web-share.png")
    await page.close()
    page = await windows.page(address, width=844, height=390, touch=True)
    await open_game(page, RECORD)
    await until(page, "document.querySelector('#number').innerText === '8 / 8'", 300)
    await page.click("#hint")
    await until(page, "document.querySelectorAll('#board .candidate').length > 1", 300)
    await page.screenshot(path=PICTURES / "web-phone-side.png", scale="css")
    await page.close()


async def take_languages(windows: Windows, address: str) -> None:
    """Write a picture of a game on a phone in each language but English."""
    for language in LANGUAGES:
        page = await windows.page(address, width=390, height=844, touch=True, locale=language)
        await open_game(page, RECORD)
        await until(page, "document.querySelector('#number').innerText === '8 / 8'", 300)
        await page.click("#analyse")
        points = "document.querySelector('.graph-winrate').getAttribute('points').split(' ')"
        visits = "Number(document.querySelector('#verdict').innerText.match(/\\d+/g).at(-1))"
        await until(page, f"{visits} > {VISITS} && {points}.length === {RECORD.count(';')}", 300)
        await page.evaluate("document.querySelector('#status').scrollIntoView()")
        await page.screenshot(path=PICTURES / f"web-{language}.png", scale="css")
        await page.close()


async def take_review(windows: Windows, address: str, folder: Path) -> None:
    """Write the pictures of a review in the browser, of its own page, and of its report in a terminal."""
    page = await windows.page(address, width=1180, height=1040)
    await open_game(page, played_game(19, REVIEWED_MOVES))
    await until(page, f"document.querySelector('#number').innerText.endsWith('/ {REVIEWED_MOVES}')", 300)
    await review_briefly(page)
    await page.click("#mistakes button >> nth=0")
    await page.evaluate("document.querySelector('#ranks').scrollIntoView()")
    await page.screenshot(path=PICTURES / "review-browser.png")
    await page.click(".quiz-start")
    asked = re.search(r"\b[A-T]\d+\b", await page.inner_text(".quiz-text"))
    assert asked is not None
    await page.click(f"#board .point[aria-label^='{asked[0]},']")
    await until(page, "document.querySelectorAll('#board .number').length > 3")
    await page.screenshot(path=PICTURES / "web-quiz.png")
    await page.get_by_role("button", name="Stop").click()
    async with page.expect_download() as download:
        await page.click("#review-html")
    file = folder / "review.html"
    await (await download.value).save_as(file)
    page = await windows.page(file.as_uri(), width=1180, height=1240)
    await page.click("#mistakes button >> nth=0")
    await page.screenshot(path=PICTURES / "review-page.png")
    result = json.loads(await page.evaluate("document.querySelector('#data').textContent"))
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.from_ansi(terminal_report(result, width=WIDTH, color=True)))
    picture = PICTURES / "review-terminal.svg"
    picture.write_text(
        console.export_svg(title="gtp-engine review --terminal", code_format=svg_format()), encoding="utf-8"
    )


async def review_briefly(page: "Page") -> None:
    """Review the game with few visits, which is enough for a picture."""
    await page.click("#preferences summary")
    await page.select_option("[name=review]", "visits 20")
    await page.click("#preferences summary")
    await page.click("#review-start")
    await until(page, FINISHED, REVIEW_SECONDS)


def played_game(size: int, moves: int = 400) -> str:
    """Return the record of a game between two players of a level, `moves` long unless it ends before."""
    values: dict[str, str | bool | int] = {
        "play.level": REVIEWED_LEVEL,
        "play.resign": False,
        "search.seed": 1,
        "game.board_size": size,
    }
    engine = Engine(Config().with_values(values))
    try:
        while not engine.game.is_over and len(engine.game.moves) < moves:
            engine.genmove(engine.game.to_play)
        return format_sgf(engine.game, black_name="Human", white_name="Tengen")
    finally:
        engine.close()


def svg_format() -> str:
    """Return the format of SVG pictures, which contain no fonts, from `scripts/make_pictures`."""
    script = (ROOT / "scripts" / "make_pictures").read_text("utf-8")
    text = re.search(r'FORMAT: Final = """\\\n(.*?)"""', script, re.DOTALL)
    assert text is not None
    return text[1].replace("A game in the terminal: gtp-engine play", "A review in the terminal")


def make(folder: Path, parts: Collection[str]) -> None:
    """Write the pictures of these parts; `folder` is for files that are not kept."""
    command = [sys.executable, "-m", "gtp_engine", "serve", "--port", "0"]
    chromium = Chromium()
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment(folder)) as server:
        try:
            assert server.stderr is not None
            address = re.search(r"http://\S+", server.stderr.readline())
            assert address is not None
            if "icons" in parts:
                chromium.run(draw_icons)
            if "page" in parts:
                chromium.run(lambda windows: take(windows, address[0]), seconds=REVIEW_SECONDS)
            if "study" in parts:
                chromium.run(lambda windows: take_study(windows, address[0]), seconds=REVIEW_SECONDS)
                chromium.run(lambda windows: take_lecture(windows, address[0]), seconds=REVIEW_SECONDS)
            if "languages" in parts:
                chromium.run(lambda windows: take_languages(windows, address[0]), seconds=REVIEW_SECONDS)
            if "review" in parts:
                chromium.run(lambda windows: take_review(windows, address[0], folder), seconds=REVIEW_SECONDS)
        finally:
            server.terminate()
            server.communicate()
            chromium.close()


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of the server, whose games are not kept."""
    return {**os.environ, "TENGEN_DATA_DIR": str(folder / "data")}


if __name__ == "__main__":
    if unknown := set(sys.argv[1:]) - set(PARTS):
        sys.exit(f"{', '.join(unknown)}: expected {', '.join(PARTS)}, or nothing for all of them")
    with tempfile.TemporaryDirectory() as name:
        make(Path(name), sys.argv[1:] or PARTS)
