"""The page in a real browser: a whole game by clicks, analysis, two browsers, a reload, a server that is restarted."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from web.browser import Windows, needs_browser, open_record, until
from web.page_support import MY_MOVE, moves_of, new_game, pass_move, play, server, without_a_game

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = needs_browser


async def test_a_whole_game(windows: Windows, tmp_path: Path) -> None:
    """A game against passes of the person's, until both pass; dead stones; then two browsers, a reload, a restart."""
    games = tmp_path / "games"
    async with server(games) as port:
        page = await windows.page(f"http://127.0.0.1:{port}/", service_workers="allow")
        await new_game(page, size="7", human="B", komi="5.5")
        await play(page, "E5", 7)
        assert await moves_of(page) == 2
        await keyboard_move(page)
        await analysis_on_and_off(page)
        await page.click("#undo")
        await until(page, "document.querySelector('#number').innerText === '2 / 4'")
        await page.reload()
        await until(page, f"document.querySelector('#number').innerText === '2 / 4' && {MY_MOVE}")
        other = await windows.page(f"http://127.0.0.1:{port}/")
        await new_game(other, human="W")
        assert await moves_of(other) == 1
        viewer = await windows.page(await page.evaluate("location.href"))
        await until(viewer, "document.querySelector('#number').innerText === '2 / 4'")
        await play(page, await free_vertex(page), 7)
        await until(viewer, "document.querySelector('#number').innerText === '4 / 4'")
        assert await moves_of(other) == 1, "games do not mix"
        await viewer.evaluate(f"location.hash = '{await other.evaluate('location.hash')}'")
        await until(viewer, "document.querySelector('#number').innerText === '1 / 1'")
    await until(page, "document.querySelector('#status').innerText.includes('connection')")
    async with server(games, port):
        await until(page, f"document.querySelector('#number').innerText === '4 / 4' && {MY_MOVE}", 30)
        await to_the_end(page)
        assert sorted(path.suffix for path in games.iterdir()) == [".json", ".json"]
        assert {path.name for path in tmp_path.iterdir()} == {"games"}


async def keyboard_move(page: "Page") -> None:
    """Play a move by arrow keys and Enter; a screen reader announces where the focus is and what was played."""
    await page.evaluate("document.activeElement.blur()")  # a click gave it the focus: then the keys go through the game
    await page.evaluate("document.querySelector('.point[tabindex=\"0\"]').focus()")
    label = "document.activeElement.getAttribute('aria-label')"
    assert str(await page.evaluate(label)).startswith("E5, black stone")
    for key in ("ArrowLeft", "ArrowUp", "ArrowUp"):
        await page.keyboard.press(key)
    assert str(await page.evaluate(label)).startswith("D7, ")
    number = await moves_of(page)
    while "empty" not in str(await page.evaluate(label)):
        await page.keyboard.press("ArrowLeft")
    await page.keyboard.press("Enter")
    await until(page, f"document.querySelector('#number').innerText === '{number + 2} / {number + 2}' && {MY_MOVE}")
    assert (await page.inner_text("#status")).startswith("White ")
    assert await page.inner_text("#heard") == await page.inner_text("#status")


async def analysis_on_and_off(page: "Page") -> None:
    await page.click("#analyse")
    await until(page, "document.querySelectorAll('.candidate').length > 1 && document.querySelector('.candidate.best')")
    await until(page, "document.querySelectorAll('.owner-black, .owner-white').length > 5")
    await until(page, "document.querySelector('.graph-winrate').getAttribute('points').split(' ').length === 5")
    assert "visits" in await page.inner_text("#verdict")
    await page.click("#ownership")
    await until(page, "!document.querySelector('.owner-black, .owner-white')")
    await page.click("#graph svg")
    await until(page, "document.querySelector('#number').innerText === '2 / 4'")
    assert await page.inner_text("#graph .graph-key") == "Black's winrate\nlead"
    assert re.fullmatch(r"Move 2 · Black \d+\.\d% · [BW]\+\d+\.\d", await page.inner_text("#graph .graph-readout"))
    await page.click("#analyse")
    await until(page, "!document.querySelector('.candidate')")
    await page.keyboard.press("PageUp")
    await until(page, "document.querySelector('#number').innerText === '1 / 4'")


async def free_vertex(page: "Page") -> str:
    label = await page.evaluate("document.querySelector('.point[aria-label*=empty]').getAttribute('aria-label')")
    return str(label).partition(",")[0]


async def to_the_end(page: "Page") -> None:
    """Pass until the engine passes too, dispute a stone, accept the score."""
    while not await page.evaluate("document.querySelector('#accept').offsetParent !== null"):
        before = await page.inner_text("#number")
        await pass_move(page)
        await until(
            page,
            f"document.querySelector('#number').innerText !== '{before}' && "
            f"({MY_MOVE} || /Click a group/.test(document.querySelector('#status').innerText))",
        )
    await until(page, "/(Tengen wins|You win) by .* Click a group/.test(document.querySelector('#status').innerText)")
    crosses = await page.evaluate("document.querySelectorAll('.cross').length")
    await page.click(".point[aria-label*='white stone']")
    await until(page, f"document.querySelectorAll('.cross').length !== {crosses}")
    await page.click("#accept")
    await until(page, "/ won by [\\d.]+ points?\\.$/.test(document.querySelector('#status').innerText)")


async def test_a_page_whose_connection_comes_back(windows: Windows, tmp_path: Path) -> None:
    """What was typed in the dialog stays; and a file that is too long for a message does not end the connection."""
    async with server(tmp_path / "games") as port:
        page = await windows.page(f"http://127.0.0.1:{port}/", service_workers="allow")
        await until(page, "document.querySelector('#setup').open && document.querySelector('[name=komi]').value")
        await page.evaluate("document.querySelector('[name=komi]').value = '3.5'")
    await until(page, "document.querySelector('#status').innerText.includes('connection')")
    async with server(tmp_path / "games", port):
        await until(page, "document.querySelector('#status').innerText.startsWith('Start a new game')", 30)
        assert await page.evaluate("document.querySelector('[name=komi]').value") == "3.5"
        await new_game(page)
        await open_record(page, f"(;SZ[9]C[{'x' * 900_000}];B[ee])")
        await until(page, "!document.querySelector('#error').hidden")
        text = await page.inner_text("#error")
        assert text == "game.sgf has 901 kB; a game record may have at most 780 kB."
        assert "connection" not in await page.inner_text("#status")


async def test_a_page_without_its_server(windows: Windows, tmp_path: Path) -> None:
    """The browser keeps the page and the last games, and plays on once the server is back."""
    number, status = "document.querySelector('#number').innerText", "document.querySelector('#status').innerText"
    async with server(tmp_path / "games") as port:
        page = await without_a_game(windows, port, service_workers="allow")
        await open_record(page, "(;SZ[9]C[first];B[cc];W[gg])")
        await until(page, f"{number} === '2 / 2'")
        await open_record(page, "(;SZ[5]KM[0.5]RU[Chinese];B[cc];W[bb]C[kept];B[dd])")
        await until(page, f"{number} === '3 / 3'")
        await until(page, "navigator.serviceWorker.controller")
        found = "caches.match('kept/games').then((found) => (found ? found.json() : [{ games: [] }]))"
        listed = f"{found}.then(([{{ games }}]) => (kept = games))"
        await until(page, f"{listed} && kept.length === 2")
    await page.reload()
    await until(
        page, f"{status} === 'The server is away: this is the game as you last saw it.' && {number} === '3 / 3'"
    )
    await page.keyboard.press("ArrowLeft")
    assert await page.input_value("#comment") == "kept"
    assert not await page.is_visible("#actions")
    await page.click("#games")
    await page.click("#game-list .game >> nth=1")
    await until(page, f"{number} === '2 / 2'")
    async with server(tmp_path / "games", port):
        await until(page, "document.querySelector('#actions').checkVisibility()", 30)


async def test_a_page_whose_token_is_no_longer_valid(windows: Windows, tmp_path: Path) -> None:
    """It said forever that it was trying again, and went on checking a clock that had run out."""
    windows.expected = "401|WebSocket connection"
    async with server(tmp_path / "games", token="first") as port:
        page = await windows.page(f"http://127.0.0.1:{port}/?token=first", service_workers="allow")
        await new_game(page, size="9", clock="absolute")
    await until(page, "document.querySelector('#status').innerText.includes('trying again')")
    await page.evaluate("performance.now = () => 1e9")
    async with server(tmp_path / "games", port, token="second"):
        await until(page, "document.querySelector('#status').innerText.includes('token has changed')", 30)
        await until(page, "document.querySelector('#black .clock').innerText === '0:00'")
        assert await page.evaluate("document.querySelector('#error').hidden")


async def test_a_phone(windows: Windows, port: int) -> None:
    """On a large board a finger's first tap shows the stone, a button places it; nothing is wider than the screen."""
    page = await windows.page(f"http://127.0.0.1:{port}/", width=360, height=740, touch=True)
    await new_game(page, size="19", handicap="2", human="B", clock="byoyomi")
    await until(page, "document.querySelectorAll('.point').length === 361")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    clock = await page.inner_text("#black .clock")
    assert re.match(r"10:00|9:[345]\d", clock), "it runs as soon as the engine has moved"
    await until(page, MY_MOVE)
    before, corner = await moves_of(page), page.locator(".point[data-x='2'][data-y='2']")
    await corner.tap()
    await until(page, "document.querySelector('#confirm').innerText === 'Play C17'")
    assert await moves_of(page) == before
    await page.click("#first")
    await until(page, "document.querySelector('#confirm').disabled")
    await page.click("#last")
    assert await page.evaluate("document.querySelector('#confirm').disabled")
    await corner.tap()
    await page.click("#confirm")
    await until(page, f"document.querySelector('#number').innerText.endsWith('/ {before + 2}')")
