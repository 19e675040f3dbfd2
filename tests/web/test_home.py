"""Beginning and finding games on the page: three questions, the games on the disk, links for others."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from web.browser import Windows, needs_browser, open_record, until
from web.page_support import MY_MOVE, click_point, moves_of, new_game, play, server

from gtp_engine.config import Config
from gtp_engine.people.web import access, engine_host
from gtp_engine.people.web.access import Role, Tokens
from gtp_engine.people.web.saved_games import SavedGames
from gtp_engine.people.web.web_process import with_chosen_network

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = needs_browser


async def test_a_new_game_asks_three_things_and_remembers_them(windows: Windows, port: int) -> None:
    page = await windows.page(f"http://127.0.0.1:{port}/")
    await until(page, "document.querySelector('#setup').open && document.querySelector('[name=komi]').value")
    shown = "[...document.querySelectorAll('#setup select, #setup input')].filter((each) => each.checkVisibility())"
    names = await page.evaluate(f"{shown}.map((each) => each.name)")
    assert names == ["experience", "experience", "experience", "size", "human"], "the server has no levels"
    await page.click("[name=experience][value=rank]")
    values = [await page.input_value(f"#setup [name={name}]") for name in ("rank", "size", "level")]
    assert values == ["10k", "19", "10k"], "not full strength"
    await page.click("[name=experience][value=new]")
    assert [await page.input_value(f"#setup [name={name}]") for name in ("size", "level")] == ["9", "20k"]
    rules = "[...document.querySelector('[name=rules]').options].map((each) => each.text)"
    names = await page.evaluate(rules)
    assert len(names) == len(set(names)) < 12 and "Japanese, Korean" in names
    await stones_that_the_board_has_points_for(page)
    await new_game(page, size="7", human="W", rules="japanese", komi="3.5")
    await page.click("#new")
    assert await page.inner_text("#question-text") == "Leave this game? It stays in your games."
    await page.click("#question-yes")
    await until(page, "document.querySelector('#setup').open")
    await page.reload()
    await until(page, MY_MOVE)
    await page.click("#new")
    await page.click("#question-yes")
    chosen = "Object.fromEntries(new FormData(document.querySelector('#setup form')))"
    values = await page.evaluate(chosen)
    assert [values[name] for name in ("size", "human", "rules", "komi")] == ["7", "W", "japanese", "3.5"]


async def test_a_first_game_is_explained(windows: Windows, port: int) -> None:
    page = await windows.page(f"http://127.0.0.1:{port}/")
    await until(page, "document.querySelector('[name=komi]').value")
    await page.click("#first-visit .show-rules")
    await page.click("#rules [name=after]")
    assert await page.is_visible("#rules section:last-of-type")
    await page.click("#rules .main")
    await page.click("[name=experience][value=new]")
    await page.click("#setup button[value=start]")
    await until(page, "document.querySelector('#guide p').innerText.startsWith('Place a stone')")
    await play(page, "C7")
    await until(page, "document.querySelector('#guide p').innerText.includes('your stone C7')")
    assert await page.locator("#board .mark.circle").count() > 1, "its liberties"
    await page.click("#guide-end")
    await page.reload()
    await until(page, MY_MOVE)
    assert await page.is_hidden("#guide")


async def stones_that_the_board_has_points_for(page: "Page") -> None:
    """Nine of them on 7x7 were offered, and refused once the dialog was closed."""
    await page.click("#more summary")
    offered = "[...document.querySelector('[name=handicap]').options].filter((each) => !each.disabled).at(-1).value"
    await page.select_option("[name=handicap]", "9")
    for size, most in (("7", "4"), ("10", "4"), ("13", "9")):
        await page.select_option("[name=size]", size)
        assert await page.evaluate(offered) == most
    assert [await page.input_value(f"[name={name}]") for name in ("handicap", "komi")] == ["4", "0.5"]
    await page.select_option("[name=size]", "8")
    await page.select_option("[name=placement]", "free")
    assert await page.evaluate(offered) == "9"
    await page.select_option("[name=placement]", "fixed")
    await page.select_option("[name=handicap]", "0")


async def test_back_stays_on_the_page_and_games_are_found_again(windows: Windows, port: int, tmp_path: Path) -> None:
    page = await windows.page(f"http://127.0.0.1:{port}/")
    await new_game(page, size="9", human="B")
    await play(page, "C3")
    first = await page.evaluate("location.hash")
    await page.click("#new")
    await page.click("#question-yes")
    await page.click("#setup button[value=start]")
    await until(page, f"location.hash.startsWith('#game=') && location.hash !== '{first}'")
    await play(page, "D4")  # a game without a move is not listed
    await page.go_back()
    await until(page, f"location.hash === '{first}' && document.querySelector('#number').innerText === '2 / 2'")
    await page.go_back()
    await until(page, "document.querySelectorAll('#game-list li').length === 2")
    assert await page.evaluate("location.pathname") == "/"
    text = await page.inner_text(f"#game-list [data-id='{first.partition('=')[2]}']")
    assert "You – Tengen" in text and "Not finished. 2 moves" in text
    assert await page.evaluate("document.querySelector('#game-list canvas').width") > 0
    other = f"#game-list li:has(.game:not([data-id='{first.partition('=')[2]}']))"
    await page.click(f"{other} button >> text=Delete")
    await asyncio.sleep(0.6)  # sooner, it would be the second click of a pair
    await page.click("#question-yes")
    await until(page, "document.querySelectorAll('#game-list li').length === 1")
    assert len([*tmp_path.glob("games/*.json")]) == 1
    await page.click("#game-list .game")
    await until(page, f"location.hash === '{first}' && !document.querySelector('#home').open && {MY_MOVE}")
    await refused_in_the_list(page)


async def refused_in_the_list(page: "Page") -> None:
    """Why a game was not deleted was said below the list, which covered it."""
    other = await page.context.new_page()
    await other.goto(page.url.partition("#")[0])
    await until(other, MY_MOVE)
    await other.click("#new")
    await other.click("#question-yes")
    await other.click("#setup button[value=start]")
    await until(other, f"location.href !== '{page.url}'")
    await other.click("#games")
    await other.click("#game-list li div button:enabled:has-text('Delete') >> nth=0")
    await asyncio.sleep(0.6)  # sooner, it would be the second click of a pair
    await other.click("#question-yes")
    await until(other, "document.querySelector('#home #error')?.innerText.startsWith('The game is open on a page')")
    await other.close()


async def test_links_to_watch_and_to_play(windows: Windows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anyone with the address of a game played for its owner; links from this machine led others to their own."""
    monkeypatch.setattr(access, "machine_addresses", lambda: ["localhost"])
    async with server(tmp_path, token="the-token-of-the-owner", host="0.0.0.0") as port:
        page = await windows.page(f"http://127.0.0.1:{port}/?token=the-token-of-the-owner")
        await new_game(page, size="9", human="B")
        await play(page, "C3")
        await page.click("#share")
        await until(page, "document.querySelector('#link-play').value")
        links = [await page.input_value(f"#link-{kind}") for kind in ("watch", "play")]
        assert all(link.startswith(f"http://localhost:{port}/") for link in links)
        await page.click("#links-close")
        watcher = await windows.page(links[0], width=390, height=844, touch=True)
        await until(watcher, "document.querySelector('#number').innerText === '2 / 2'")
        for name in ("actions", "new", "load", "games"):
            assert not await watcher.is_visible(f"#{name}"), name
        await click_point(watcher, "G7")
        assert await moves_of(watcher) == 2
        player = await windows.page(links[1])
        await until(player, f"{MY_MOVE}")
        assert not await player.is_visible("#games")
        await play(player, "G7" if await player.is_visible(".point[aria-label='G7, empty']") else "G3")
        await until(watcher, "document.querySelector('#number').innerText === '4 / 4'")
        guest = await windows.page(links[0].partition("#")[0])  # without the name of a game
        await until(guest, "document.querySelector('#status').innerText.startsWith('You are watching')")
        assert not await guest.evaluate("document.querySelector('#setup').open"), "it may begin none"


async def test_the_page_can_be_installed(windows: Windows, tmp_path: Path) -> None:
    async with server(tmp_path, token="the-token-of-the-owner") as port:
        page = await windows.page(f"http://127.0.0.1:{port}/?token=the-token-of-the-owner", service_workers="allow")
        script = "fetch(document.querySelector('link[rel=manifest]').href).then((answer) => answer.json())"
        manifest = await page.evaluate(script)
        rules = "[...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).map((rule) => rule.cssText)"
        sizes = await page.evaluate(f"{rules}.filter((rule) => /^:root.*font(-size)?: [^;]*px/s.test(rule))")
        assert sizes == [], "the reader's font has its size"
        assert (manifest["name"], manifest["display"], manifest["start_url"]) == ("Tengen", "standalone", "./")
        fetched = "performance.getEntriesByType('resource').map(({ name, encodedBodySize }) => [name, encodedBodySize])"
        loaded = dict(await page.evaluate(fetched))
        page_size = await page.evaluate("performance.getEntriesByType('navigation')[0].encodedBodySize")
        assert len(loaded) > 10 and page_size + sum(loaded.values()) < 100_000, "a first load"
        assert not [name for name in loaded if name.endswith(".png")], "phones fetch them when they install"
        for icon in manifest["icons"]:
            kind = await page.evaluate(f"fetch('{icon['src']}').then((answer) => answer.headers.get('content-type'))")
            assert kind.partition(";")[0] == icon["type"]
            image = f"Object.assign(new Image(), {{ src: '{icon['src']}' }})"
            width = f"((image) => image.decode().then(() => image.naturalWidth))({image})"
            assert icon["sizes"] in ("any", "{0}x{0}".format(await page.evaluate(width)))


async def test_network_and_effort_are_chosen_on_the_page(
    windows: Windows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everyone plays and analyses with the network that one page chooses; only who may compute is offered any."""
    monkeypatch.setattr(engine_host, "get_network", lambda name, log: [tmp_path / f"the-{name}.onnx"])
    monkeypatch.setattr(engine_host, "begin_faster_copy", lambda file: "")
    network = """new Promise((resolve) => {
        const socket = new WebSocket(`ws://${location.host}/analysis`);
        socket.onopen = () => socket.send(JSON.stringify({ id: "", action: "query_models" }));
        socket.onmessage = ({ data }) => resolve(JSON.parse(data).models[0].name);
    })"""
    verdict = "document.querySelector('#verdict').innerText"
    news = "document.querySelector('#network-news').innerText"
    async with server(tmp_path, token="the-token-of-the-owner") as port:
        page = await windows.page(f"http://127.0.0.1:{port}/?token=the-token-of-the-owner", width=390, touch=True)
        await page.click("#setup button[value='']")
        await open_record(page, "(;SZ[9]KM[0.5]RU[Chinese];B[ee];W[aa];B[gg];W[ab];B[cc];W[ac])")
        await until(page, "document.querySelector('#number').innerText === '6 / 6'")
        await page.click("#preferences summary")
        await until(page, "document.querySelector('#network').options.length > 2")
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await page.select_option("[name=analysis]", "visits 100")
        await page.click("#analyse")
        await until(page, f"{verdict}.endsWith('100 visits')")
        assert await page.evaluate(network) == "builtin"
        await page.select_option("#network", "alphago-9x9")
        await until(page, f"{news}.startsWith('Tengen plays and analyses with alphago-9x9 (9x9) now.')")
        assert await page.evaluate(network) == "alphago-9x9"
        await until(page, f"{verdict}.endsWith('100 visits')")
        await page.click("#analyse")
        await click_point(page, "E3")
        await until(page, f"document.querySelector('#number').innerText === '8 / 8' && {MY_MOVE}")
        other = await windows.page(f"{page.url.replace('/#', '/?token=the-token-of-the-owner#')}")
        await other.click("#preferences summary")
        await until(other, "document.querySelector('#network').value === 'alphago-9x9'")
        await other.select_option("#network", "best")
        await other.click("#question-yes")
        await until(page, f"{news}.startsWith('Tengen plays and analyses with the-best now.')")
        await page.reload()
        await page.click("#preferences summary")
        await until(page, "document.querySelector('#network').value === 'the-best'")
        assert await page.input_value("[name=analysis]") == "visits 100", "the browser remembers it"
        player = await windows.page(
            f"http://127.0.0.1:{port}/?token={Tokens('the-token-of-the-owner').for_role(Role.PLAY)}"
        )
        await new_game(player)
        await player.click("#preferences summary")
        for name in ("engine", "analysis", "review"):
            assert not await player.is_visible(f"#{name}"), name
    remembered = SavedGames(tmp_path)
    assert remembered.remembered_network() == "the-best"
    config = Config().with_values({"network.model": None})
    assert with_chosen_network(config, remembered) == config, "it is not here"
    remembered.remember_network("alphago-9x9")
    assert with_chosen_network(config, remembered).network.model == "alphago-9x9"
    named = Config().with_values({"network.model": "builtin"})
    assert with_chosen_network(named, remembered) == named
