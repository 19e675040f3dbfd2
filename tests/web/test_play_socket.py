"""What a page sends and receives: games, and their rules of conduct."""

import asyncio
import base64
import os
import re
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientWebSocketResponse, WSCloseCode, WSMsgType
from busy_machine import bound
from web.attacks import NEW
from web.play_transcripts import FOLDER, received, replay
from web.serving import RolloutSource, client_at, close, connections, saved_game, serving, two_at, until

from gtp_engine.engine import Engine
from gtp_engine.engine.final_score import FinalScore
from gtp_engine.engine.rehearsal import Kernels
from gtp_engine.engine.shared_engines import SharedEngines
from gtp_engine.go.clock import TimeLeft
from gtp_engine.go.coords import parse_vertex
from gtp_engine.people.play import GameSession
from gtp_engine.people.review.finished_reviews import PAGE_PARTS
from gtp_engine.people.web import client_socket, open_games, play_socket
from gtp_engine.people.web.engine_host import EngineHost
from gtp_engine.people.web.open_games import OpenGames
from gtp_engine.people.web.saved_games import JsonFiles, SavedGames
from gtp_engine.people.web.web_process import FOLDER as STATIC
from gtp_engine.search.limits import CancelToken


async def hear_any(socket: ClientWebSocketResponse) -> dict[str, Any]:
    """Return the next state of a game, whether the engine thinks or not."""
    while True:
        message: dict[str, Any] = await socket.receive_json(timeout=bound(60))
        if message["type"] == "game":
            return message


def in_base_64(record: str, encoding: str = "utf-8") -> str:
    return base64.b64encode(record.encode(encoding)).decode("ascii")


async def ask(socket: ClientWebSocketResponse, kind: str = "game", **message: Any) -> dict[str, Any]:
    await socket.send_json(message)
    return await received(socket, kind)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
async def test_transcript(path: Path, tmp_path: Path) -> None:
    await replay(path, tmp_path)


async def test_a_game_that_is_opened_again_goes_on_with_its_clocks(tmp_path: Path) -> None:
    """And a move that is taken back gives no more time than there was before it."""
    name, left = "0123456789abcdef", (True, 600.0, 0, 0.0, 0)
    clocks = {0: {"black": TimeLeft(*left), "white": TimeLeft(*left)}}
    game = saved_game("(;SZ[9]KM[7])", time=("absolute", "6000"), clocks=clocks)
    SavedGames(tmp_path).save(name, game)
    async with serving(RolloutSource(), games=tmp_path) as client, client.ws_connect("/play") as socket:
        assert (await ask(socket, do="open", id=name))["clocks"]["black"]["main"] <= 600
        while len((await ask(socket, do="play", vertex="E5"))["moves"]) < 2:
            await asyncio.sleep(0.05)
        again = await ask(socket, do="undo")
        assert (again["moves"], again["running"]) == ([], "black")
        assert 500 < again["clocks"]["black"]["main"] <= 600


async def test_a_page_that_closes_while_the_network_is_loaded_is_answered(tmp_path: Path) -> None:
    """It waited until the silence of the connection was noticed, half a minute."""
    source = RolloutSource()
    source.is_loaded.clear()
    async with serving(source, games=tmp_path) as client:
        async with client.ws_connect("/play") as socket:
            await socket.send_json(NEW)
        source.is_loaded.set()
    assert socket.close_code == WSCloseCode.OK


async def test_a_page_learns_how_old_the_clocks_are(tmp_path: Path) -> None:
    """A page that is loaded again showed the time that there was at the last move."""
    async with serving(RolloutSource(), games=tmp_path) as client, client.ws_connect("/play") as socket:
        game = await ask(socket, **NEW | {"time": "absolute 600"})
        assert game["running"] == "black" and 0 <= game["age"] < 600
        await asyncio.sleep(0.2)
        again = await ask(socket, do="open", id=game["id"])
        assert again["clocks"] == game["clocks"] and again["age"] >= game["age"] + 0.2


async def test_the_longest_file_fits_into_a_message(tmp_path: Path) -> None:
    async with serving(RolloutSource(), games=tmp_path) as client, client.ws_connect("/play") as socket:
        longest = (await received(socket, "hello"))["max_file"]
        record = "(;SZ[9]C[{}];B[ee])"
        record = record.format("x" * (longest - len(record) + 2))
        assert len(record) == longest
        assert len((await ask(socket, do="load", file=in_base_64(record), human="B"))["moves"]) >= 1


async def test_the_page_learns_that_the_engine_is_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Kernels, "is_compiling", True)
    async with serving(RolloutSource(), games=tmp_path) as client, client.ws_connect("/play") as socket:
        game = await ask(socket, **NEW)
        assert game["compiling"]
        monkeypatch.undo()
        assert not (await ask(socket, do="open", id=game["id"]))["compiling"]


@pytest.mark.parametrize("is_saved", [False, True])
async def test_dead_stones_are_found_in_a_game_that_begins_with_its_scoring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_saved: bool
) -> None:
    """A record that ends with two passes, or a game that was saved before its dead stones were known."""
    name, record = "0123456789abcdef", "(;SZ[9]KM[7]RU[Japanese]PB[Human]PW[Tengen];B[ee];W[];B[])"
    SavedGames(tmp_path).save(name, saved_game(record, dead=None))
    opening = {"do": "open", "id": name} if is_saved else {"do": "load", "file": in_base_64(record)}

    outcome = Engine.outcome

    def find(engine: Engine, cancel: CancelToken) -> FinalScore:
        found = outcome(engine, cancel)
        return replace(found, status=replace(found.status, dead=frozenset({parse_vertex("E5", width=9, height=9)})))

    monkeypatch.setattr(Engine, "outcome", find)
    async with serving(RolloutSource(), games=tmp_path) as client, client.ws_connect("/play") as socket:
        await socket.send_json(opening)
        shown = await hear_any(socket)
        assert (shown["phase"], shown["score"]) == ("scoring", "")
        found = await received(socket)
        assert found["score"] and found["dead"] == ["E5"]
        assert SavedGames(tmp_path).load(found["id"]).dead == ("E5",)


@pytest.mark.parametrize("dead", [("E5",), ()])
async def test_the_choice_of_dead_stones_survives_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dead: tuple[str, ...]
) -> None:
    """Where the person had marked all stones as alive, the engine proposed dead ones again."""
    name, record = "0123456789abcdef", "(;SZ[9]KM[7]RU[Japanese]PB[Human]PW[Tengen];B[ee];W[];B[])"
    SavedGames(tmp_path).save(name, saved_game(record, dead=dead))
    sought: list[Engine] = []

    def find(engine: Engine, cancel: CancelToken) -> None:
        sought.append(engine)

    monkeypatch.setattr(Engine, "outcome", find)
    async with serving(RolloutSource(), games=tmp_path) as client, client.ws_connect("/play") as socket:
        game = await ask(socket, do="open", id=name)
        assert (game["dead"], bool(game["score"])) == (list(dead), True)
    assert (SavedGames(tmp_path).load(name).dead, sought) == (dead, [])


async def test_games_end_while_dead_stones_are_being_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, sgf = "0123456789abcdef", "(;SZ[9]KM[7]RU[Japanese];B[ee];W[])"
    SavedGames(tmp_path).save(name, saved_game(sgf))
    was_cancelled: list[bool] = []

    def find(engine: Engine, cancel: CancelToken) -> None:
        ended = threading.Event()
        with cancel.calling(ended.set):
            ended.wait(60)
        was_cancelled.append(cancel.is_cancelled)

    source: Any = RolloutSource()
    host = EngineHost(source.config, source.load, print)
    host.start()
    games = OpenGames(host, SavedGames(tmp_path))
    game = await games.find(name, client_at(""))
    monkeypatch.setattr(Engine, "outcome", find)
    passing = asyncio.create_task(game.change(lambda session: session.play("pass")))
    await until(lambda: game.message()["phase"] == "scoring")
    await games.close()
    await passing
    await close(host)
    assert was_cancelled == [True]


async def test_only_so_many_games_have_engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Games that no page shows give way; where every game is shown, another one is refused."""
    monkeypatch.setattr(open_games, "MOST_OPEN", 1)
    async with two_at("/play", RolloutSource(), games=tmp_path) as (client, one, other):
        first = await ask(one, **NEW)
        assert "1 game are being played" in (await ask(other, "error", **NEW))["message"]
        await one.close()
        await until(lambda: len(connections(client)) == 1)
        assert (await ask(other, **NEW))["id"] != first["id"]
        assert "close one" in (await ask(other, "error", do="open", id=first["id"]))["message"]


async def test_paths_lead_to_the_page_only() -> None:
    async with serving() as client:
        for path in ("../saved_games.py", "static/app.js", "%2e%2e/%2e%2e/pyproject.toml", "..%2fweb_process.py"):
            reader, writer = await asyncio.open_connection(client.host, client.port)
            writer.write(f"GET /{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            answer = await reader.read()
            writer.close()
            assert answer.startswith(b"HTTP/1.1 404 ") and b"import" not in answer, path


async def test_the_page_and_its_parts() -> None:
    async with serving() as client:
        page = await client.get("/")
        text = await page.text()
        assert (page.content_type, page.charset, text[:15]) == ("text/html", "utf-8", "<!doctype html>")
        assert "http" not in text, "nothing comes from elsewhere"
        for name, kind in (("app.js", "text/javascript"), ("style.css", "text/css"), ("icon.svg", "image/svg+xml")):
            response = await client.get(f"/{name}")
            assert (response.status, response.content_type) == (200, kind)
            known = {"If-None-Match": response.headers["ETag"]}
            assert (await client.get(f"/{name}", headers=known)).status == 304, "sent again at each visit"
        modules = {file.name: file.read_text() for folder in (STATIC, PAGE_PARTS) for file in folder.glob("*.js")}
        alone = {"page.js", "qr.js", "worker.js"}
        assert {*re.findall(r'="(\w+\.js)"', text), *alone} == {*modules}, "loaded in turn otherwise"
        first = {*re.findall(r'module(?:preload)?" (?:src|href)="(\w+\.js)">', text)}  # the others have less priority
        needed = {name for each in first for name in re.findall(r'^import .*"\./(.+)";', modules[each], re.MULTILINE)}
        assert needed < first and len(first) < 8, "the first board waits for nothing else"
        assert (await client.post("/", data=b"x")).status == 405
        socket = await client.ws_connect("/play")
        await socket.send_str("x" * (2 << 20))
        while (message := await socket.receive()).type is WSMsgType.TEXT:
            pass
        assert message.type is WSMsgType.CLOSE
        assert (socket.close_code, message.extra) == (1009, "a message has 1048576 bytes at most")


def noted_engines(monkeypatch: pytest.MonkeyPatch) -> list[Engine]:
    """Return a list of the engines that are open from now on."""
    opened: list[Engine] = []
    open_engine = SharedEngines.open_engine

    def noting(source: SharedEngines, config: Any, log: Any) -> Engine:
        opened.append(open_engine(source, config, log))
        monkeypatch.setattr(opened[-1], "close", lambda engine=opened[-1]: opened.remove(engine))
        return opened[-1]

    monkeypatch.setattr(SharedEngines, "open_engine", noting)
    return opened


async def test_a_bug_in_a_request_ends_no_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(session: Any, vertex: str) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("gtp_engine.people.play.GameSession.play", fail)
    async with serving(RolloutSource(), games=tmp_path, errors=1) as client, client.ws_connect("/play") as socket:
        await ask(socket, **NEW)
        message = (await ask(socket, "error", do="play", vertex="E5"))["message"]
        assert message == "internal error: ZeroDivisionError"
        assert (await ask(socket, do="resign"))["result"] == "W+R"


async def test_games_that_no_page_shows_keep_few_engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to as many as may be played at once were kept, with their trees and records."""
    monkeypatch.setattr(open_games, "MOST_IDLE", 2)
    opened = noted_engines(monkeypatch)
    async with serving(RolloutSource(), games=tmp_path) as client, client.ws_connect("/play") as socket:
        for _ in range(6):
            await ask(socket, **NEW)
        assert len(opened) == 3, "the one that is shown, and two"


async def test_new_games_of_an_address_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each may push an old game out: some hundred of them had removed all that others had played."""
    monkeypatch.setattr(open_games, "NEW_GAMES", (2.0, 0.01))
    async with serving(RolloutSource(), games=tmp_path, proxy="127.0.0.1") as client:
        sockets = [await client.ws_connect("/play") for _ in range(3)]
        for socket in sockets[:2]:
            game = await ask(socket, **NEW)
        for request in (NEW, {"do": "load", "file": in_base_64("(;SZ[9])")}):
            message = (await ask(sockets[2], "error", **request))["message"]
            assert re.fullmatch(
                r"too many games have been begun from your address; wait (100|[5-9]\d) seconds", message
            )
        assert (await ask(sockets[2], do="open", id=game["id"]))["phase"] == "playing"
        async with client.ws_connect("/play", headers={"X-Forwarded-For": "192.0.2.1"}) as other:
            await ask(other, **NEW)
            assert (await ask(other, do="open", id=game["id"]))["phase"] == "playing"
        await asyncio.gather(*(socket.close() for socket in sockets))


@pytest.mark.skipif(os.name == "nt", reason="a folder that cannot be written to is another one there")
async def test_a_game_goes_on_where_it_cannot_be_saved(tmp_path: Path) -> None:
    """It could not even be started."""
    (tmp_path / "file").write_text("")
    games = tmp_path / "file" / "games"
    async with serving(RolloutSource(), games=games) as client, client.ws_connect("/play") as socket:
        await socket.send_json(NEW)
        reason = f"the game cannot be saved in {tmp_path}/file/games: Not a directory"
        assert (await received(socket))["unsaved"] == reason
        assert (await received(socket, "error"))["message"] == reason
        game = await ask(socket, do="play", vertex="E5")
        assert (len(game["moves"]) > 0, game["unsaved"]) == (True, reason)
        (tmp_path / "file").unlink()
        assert (await ask(socket, do="resign"))["unsaved"] == ""
        assert SavedGames(games).load(game["id"]).result == "W+R"


async def test_a_move_is_on_the_disk_before_it_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of six moves that pages had been shown, kill -9 left one."""
    synced: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.readlink(f"/proc/self/fd/{descriptor}")))
    async with serving(RolloutSource(), games=tmp_path) as client, client.ws_connect("/play") as socket:
        game = await ask(socket, **NEW)
        for _ in range(4):
            await socket.send_json({"do": "play", "vertex": "pass" if game["phase"] == "playing" else "E5"})
            moves = len(game["moves"])
            while len(game["moves"]) == moves or game["thinking"]:
                game = await hear_any(socket)
                saved = SavedGames(tmp_path).load(game["id"]).sgf
                assert all(f";{color[0].upper()}[" in saved for color, _ in game["moves"])
                assert saved.count(";B[") + saved.count(";W[") >= len(game["moves"])
            await ask(socket, do="undo" if game["phase"] == "scoring" else "resign")
            game = await ask(socket, **NEW)
    if Path("/proc/self/fd").exists():
        assert {Path(path).name.split(".")[-1] for path in synced} == {"part", tmp_path.name}


async def test_a_request_that_changes_nothing_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each wrote the file of the game again, and the moves of a game that was shown to many waited for that."""
    saved: list[str] = []
    write = JsonFiles.write

    def written(files: JsonFiles, name: str, values: dict[str, Any], **options: Any) -> None:
        saved.append(name)
        write(files, name, values, **options)

    monkeypatch.setattr(JsonFiles, "write", written)
    async with serving(RolloutSource(), games=tmp_path) as client, client.ws_connect("/play") as socket:
        await ask(socket, **NEW)
        count = len(saved)
        for request in ({"do": "play", "vertex": "Z99"}, {"do": "go", "node": 99}, {"do": "accept"}):
            await ask(socket, "error", **request)
        assert len(saved) == count == 1
        for text in ("a", "b"):
            await ask(socket, "nodes", do="comment", node=0, comment=text)
        assert len(saved) == 3


async def test_a_record_that_is_full_is_not_edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It grew without bound, and was written whole at every change, but could not have been opened as a file."""
    monkeypatch.setattr(play_socket, "MAX_FILE", 2000)
    async with serving(RolloutSource(), games=tmp_path) as client, client.ws_connect("/play") as socket:
        await ask(socket, **NEW)
        await ask(socket, "nodes", do="try", node=0, vertex="E5")
        long = (await ask(socket, "error", do="comment", node=0, comment="c" * 60_001))["message"]
        assert long.endswith("expected 60000 characters at most")
        await ask(socket, "nodes", do="comment", node=0, comment="c" * 2000)
        for request in ({"do": "comment", "comment": "d"}, {"do": "play", "vertex": "E4"}):
            message = (await ask(socket, "error", node=0, **request))["message"]
            assert message.endswith("expected 2,000 at most; delete variations")
        assert (await ask(socket, do="play", vertex="E5"))["phase"] == "playing"
        assert len((await ask(socket, "tree", do="delete", node=1))["nodes"]) == 1


async def test_an_address_sends_and_gets_so_much_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifty pages that opened a game of 700 kB again and again kept the player of another waiting for three seconds."""
    monkeypatch.setattr(client_socket, "BULK", (100_000.0, 20_000.0))
    record, started = in_base_64(f"(;SZ[9]C[{'c' * 40_000}])"), time.monotonic()
    async with two_at("/play", RolloutSource(), games=tmp_path) as (_, one, other):
        game = await ask(one, do="load", file=record)
        tree = await ask(other, "tree", do="open", id=game["id"])
    sent = len(record) + 2 * len(tree["nodes"][0]["comment"])
    assert len(tree["nodes"]) == 1 and time.monotonic() - started > (sent - 100_000) / 20_000 > 1.5


async def test_those_at_one_address_take_turns(tmp_path: Path) -> None:
    """Fifty pages that commented on a game let its player wait for 19 seconds."""
    SavedGames(tmp_path).save("0123456789abcdef", saved_game("(;SZ[9])"))
    source: Any = RolloutSource()
    host = EngineHost(source.config, source.load, print)
    host.start()
    games, gate, order = OpenGames(host, SavedGames(tmp_path)), threading.Event(), list[str]()
    game = await games.find("0123456789abcdef", client_at(""))
    addresses = ["192.0.2.1"] * 4 + ["192.0.2.2"]

    def change(address: str) -> Callable[[GameSession], object]:
        return lambda session: (gate.wait(60), order.append(address))

    changes = [asyncio.create_task(game.change(change(each), address=each)) for each in addresses]
    await asyncio.sleep(0)  # so that all wait
    gate.set()
    await asyncio.gather(*changes)
    await games.close()
    await close(host)
    assert order.index("192.0.2.2") == 1, order


async def test_requests_stop_no_search_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 20 players who sent what is not allowed the engine hardly moved, as each request began its search again."""
    searches: list[CancelToken] = []
    engine_move = GameSession.engine_move

    def slow(session: GameSession, cancel: CancelToken) -> Any:
        searches.append(cancel)
        ended = threading.Event()
        with cancel.calling(ended.set):
            ended.wait(1.0 if searches[1:] else 60)
        return engine_move(session, cancel)

    monkeypatch.setattr(GameSession, "engine_move", slow)
    async with serving(RolloutSource(), games=tmp_path) as client, client.ws_connect("/play") as socket:
        game = await ask(socket, **NEW)
        await socket.send_json({"do": "play", "vertex": "E5"})
        await until(lambda: searches)
        node = (await hear_any(socket))["node"]
        for request in ({"do": "play", "vertex": "E4"}, {"do": "hint"}):
            message = (await ask(socket, "error", **request))["message"]
            assert message == "it is the engine's move; let it play, or undo"
        await socket.send_json({"do": "check_time"})
        assert not searches[0].is_cancelled and len(searches) == 1
        others = [await client.ws_connect("/play") for _ in range(5)]
        for other in others:
            await other.send_json({"do": "open", "id": game["id"]})
        refused = (
            {"do": "accept"}, {"do": "resume"}, {"do": "redo"}, {"do": "toggle_dead", "vertex": "E5"},
            {"do": "go", "node": 99}, {"do": "play", "node": 99, "vertex": "C3"}, {"do": "delete", "node": 99},
            {"do": "play", "node": game["node"], "vertex": "Z9"},
        )  # fmt: skip
        for request in refused:
            await ask(socket, "error", **request)
        assert not searches[0].is_cancelled and len(searches) == 1, "they are refused at once"
        for other in others * 4:
            await other.send_json({"do": "go", "node": node})  # where the game is already
        while len((await hear_any(socket))["moves"]) < 2:
            pass
        assert len(searches) <= 1 + open_games.MOST_INTERRUPTIONS
        await asyncio.gather(*(other.close() for other in others))


async def test_files_are_written_and_read_in_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow disk must not hold up the event loop."""
    threads = set()

    def noting(method: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **options: object) -> object:
            threads.add(threading.current_thread())
            return method(*arguments, **options)

        return call

    for name in ("read", "write", "keep"):
        monkeypatch.setattr(JsonFiles, name, noting(getattr(JsonFiles, name)))
    async with serving(RolloutSource(), games=tmp_path) as client, client.ws_connect("/play") as socket:
        game = await ask(socket, **NEW)
        await ask(socket, do="resign")
    async with serving(RolloutSource(), games=tmp_path) as client, client.ws_connect("/play") as socket:
        await ask(socket, do="open", id=game["id"])
    assert threads and threading.main_thread() not in threads
