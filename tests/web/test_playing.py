"""Playing on the page: fingers that slip, a server that hangs, what the score is made of, windows of all shapes."""

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest
from busy_machine import bound
from web.browser import Windows, needs_browser, open_record, until
from web.page_support import MY_MOVE, click_point, moves_of, new_game, without_a_game

from gtp_engine.people.play import GameSession
from gtp_engine.people.web.open_games import OpenGame

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = needs_browser

PHONE = {"width": 390, "height": 844, "touch": True}
SCORED = "(;SZ[5]KM[0.5]RU[Chinese];B[cc];W[ac];B[bb];W[bd];B[];W[])"


async def middle(page: "Page", selector: str) -> tuple[float, float]:
    box = await page.locator(selector).bounding_box()
    assert box is not None, f"{selector} is not visible"
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


async def double_tap(page: "Page", selector: str) -> None:
    place = await middle(page, selector)
    await page.evaluate("performance.now = ((time) => () => time)(performance.now())")  # a busy machine is late
    await page.touchscreen.tap(*place)
    await asyncio.sleep(0.15)  # the engine answers meanwhile
    await page.touchscreen.tap(*place)


async def test_a_double_tap_does_one_thing(windows: Windows, port: int) -> None:
    """The button "Pass" slid to the place of the one that confirms a move: the second tap passed."""
    page = await windows.page(f"http://127.0.0.1:{port}/", **PHONE)
    await new_game(page, size="13", human="B")
    place = await middle(page, "#pass")
    await page.locator(".point[data-x='2'][data-y='2']").tap()
    await until(page, "document.querySelector('#confirm').innerText === 'Play C11'")
    assert await middle(page, "#pass") == place
    await double_tap(page, "#confirm")
    await until(page, f"{MY_MOVE} && document.querySelector('#number').innerText === '2 / 2'")
    assert await middle(page, "#pass") == place
    assert not await page.evaluate("document.querySelector('#question').open")
    await page.locator("#pass").tap()
    await until(page, "document.querySelector('#question').open")
    assert await page.inner_text("#question-text") == "Pass?"
    await page.locator("#question-no").tap()
    assert await moves_of(page) == 2, "right after a move, a pass asks"
    await page.evaluate("performance.now = () => 1e9")
    await page.locator("#pass").tap()
    await until(page, "document.querySelector('#number').innerText === '4 / 4'")


async def test_the_second_of_two_clicks_does_not_hit_a_button_that_has_just_come(windows: Windows, port: int) -> None:
    page = await without_a_game(windows, port, **PHONE)
    await open_record(page, SCORED)
    await until(page, "document.querySelector('#accept').offsetParent")
    await double_tap(page, "#accept")
    await until(page, "document.querySelector('#accept').hidden")
    assert await page.inner_text("#number") == "6 / 6"


async def label(page: "Page", vertex: str, size: int = 5) -> str | None:
    x, y = "ABCDE".index(vertex[0]), size - int(vertex[1:])
    return await page.get_attribute(f".point[data-x='{x}'][data-y='{y}']", "aria-label")


async def test_a_server_that_hangs(windows: Windows, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stone is there at once, and after two seconds the page says what it waits for; it gave no sign for 16."""
    change, gates = OpenGame.change, [asyncio.Event()]

    async def hang(self: OpenGame, *asked: Any, **options: Any) -> None:
        await gates[0].wait()
        await change(self, *asked, **options)

    monkeypatch.setattr(OpenGame, "change", hang)
    gates[0] = asyncio.Event()
    page = await windows.page(f"http://127.0.0.1:{port}/")
    await new_game(page, size="9", human="B")
    await click_point(page, "C3")
    assert await label(page, "C3", 9) == "C3, black stone, last move"
    assert await page.evaluate("document.querySelector('#pass').disabled")
    await until(page, "document.querySelector('#status').innerText === 'Waiting for the server …'", 5)
    gates[0].set()
    await until(page, f"document.querySelector('#number').innerText === '2 / 2' && {MY_MOVE}")


async def test_an_illegal_move_is_taken_back(windows: Windows, port: int) -> None:
    page = await without_a_game(windows, port)
    await open_record(page, "(;SZ[5]RU[Chinese];B[ba];W[ee];B[ab];W[de];B[bb])")
    await until(page, MY_MOVE)
    await click_point(page, "A5", 5)
    await until(page, "!document.querySelector('#error').hidden")
    assert await label(page, "A5") == "A5, empty"
    await open_record(page, SCORED)
    await until(page, "document.querySelector('#number').innerText === '6 / 6'")
    assert await page.evaluate("document.querySelector('#error').hidden"), "of another game"


@pytest.mark.parametrize("slow", ["play", "engine_move"])
async def test_a_hint_that_is_asked_for_in_the_engines_turn(
    slow: str, windows: Windows, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It came, for the engine, and was gone with the engine's move; before the move had arrived, it was refused."""
    method, is_asked_for = getattr(GameSession, slow), threading.Event()

    def after_a_while(*arguments: object, **named: object) -> object:
        is_asked_for.wait(bound(20))
        return method(*arguments, **named)

    monkeypatch.setattr(GameSession, slow, after_a_while)
    page = await windows.page(f"http://127.0.0.1:{port}/")
    await new_game(page, size="9", human="B")
    await click_point(page, "C3")
    await until(page, "document.querySelector('#status').innerText.includes('thinking')")
    await page.click("#hint")
    await asyncio.sleep(0.2)  # until the server has been asked
    is_asked_for.set()
    await until(page, "document.querySelectorAll('.candidate').length > 0")
    assert await moves_of(page) == 2
    assert (await page.inner_text("#status")).startswith("Hint: ")


async def test_the_board_uses_the_window(windows: Windows, port: int) -> None:
    """On a phone on its side, and at 200%, it had 300 pixels and all else was below; 1920 were not used."""
    page = await windows.page(f"http://127.0.0.1:{port}/", width=844, height=390)
    await new_game(page, size="19", human="B", clock="byoyomi")
    sizes = {(844, 390): 0.92, (640, 400): 0.9, (1024, 700): 0.85, (1920, 1080): 0.9, (2560, 1440): 0.9}
    for (width, height), least in sizes.items():
        await page.set_viewport_size({"width": width, "height": height})
        board = await page.locator("#board svg").bounding_box()
        status = await page.locator("#status").bounding_box()
        undo = await page.locator("#undo").bounding_box()
        assert board is not None and status is not None and undo is not None
        assert board["height"] >= least * height
        assert board["y"] + board["height"] <= height
        assert status["x"] > board["x"] + board["width"]
        assert undo["y"] + undo["height"] <= height, "above the fold"
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        clocks = "[...document.querySelectorAll('.clock')].every((each) => each.scrollWidth <= each.clientWidth)"
        assert await page.evaluate(clocks)


async def test_the_focus_goes_on_where_its_button_goes(windows: Windows, port: int) -> None:
    """After resigning by keyboard, or at the start of the game, it was nowhere."""
    focused = "document.activeElement.id || document.activeElement.className.baseVal"
    page = await windows.page(f"http://127.0.0.1:{port}/")
    await new_game(page, size="9", human="B")
    await page.keyboard.press("Tab")
    await page.focus("#pass")
    await page.keyboard.press("Enter")
    await until(page, f"document.querySelector('#number').innerText === '2 / 2' && {MY_MOVE}")
    assert "point" in await page.evaluate(focused), "the next move is made on the board"
    await page.focus("#back")
    for _ in range(2):
        await page.keyboard.press("Enter")
    assert await page.evaluate(focused) == "forward"
    await page.keyboard.press("End")
    await page.focus("#resign")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await until(page, "document.querySelector('#resign').hidden")
    assert await page.evaluate(focused) == "resume"
    assert (await page.inner_text("#status")).endswith("You have resigned.")
