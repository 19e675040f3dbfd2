"""What operators see of a server: health, figures, log; and how it ends."""

import asyncio
import json
import logging
import threading
from pathlib import Path
from typing import Any

import pytest
from fake_evaluators import FakeEvaluator
from prometheus_client.parser import text_string_to_metric_families
from web.play_transcripts import received
from web.serving import TOKEN, RolloutSource, serving, until
from web.test_play_socket import NEW, ask, hear_any, noted_engines
from yarl import URL

from gtp_engine.base.errors import EngineBusyError
from gtp_engine.config import Config
from gtp_engine.engine.shared_engines import SharedEngines
from gtp_engine.people.play import GameSession
from gtp_engine.people.web.access import Role, Tokens
from gtp_engine.people.web.open_games import ENDING
from gtp_engine.people.web.operations import Operations, ServerLog, watch_delays
from gtp_engine.people.web.saved_games import SavedGames
from gtp_engine.search.limits import CancelToken


class NetworkSource(RolloutSource):
    """Searches with a network, which is a fake one."""

    config = RolloutSource.config.with_values({"search.search": "puct"})

    def load(self, config: Config) -> Any:
        return SharedEngines(config, evaluator=FakeEvaluator()).load_for_analyses()


def figures(text: str) -> dict[str, float]:
    """Return the values in Prometheus' text format by name and labels, read by Prometheus' own parser."""
    return {
        sample.name + "".join(f" {value}" for value in sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def read_all(socket: Any) -> None:
    async for _ in socket:
        pass


async def test_a_page_reads_why_an_engine_in_use_by_another_thread_does_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that shared an engine between threads ended with a segmentation fault."""
    opened = noted_engines(monkeypatch)
    async with serving(RolloutSource(), games=tmp_path) as client, client.ws_connect("/play") as socket:
        await ask(socket, **NEW)
        (engine,), token = opened, CancelToken()
        searching = asyncio.create_task(asyncio.to_thread(engine.search, cancel=token))

        def is_in_use() -> bool:
            try:
                engine.undo(0)
            except EngineBusyError:
                return True
            return False

        try:
            await until(is_in_use)
            error = await ask(socket, "error", do="play", vertex="E5")
        finally:
            token.cancel()
            await searching
        assert error["message"].startswith("the engine is in use by another thread; call it from one thread at a time")
        assert len((await ask(socket, do="play", vertex="E5"))["moves"]) >= 1


async def test_figures(tmp_path: Path) -> None:
    bearer = {"Authorization": f"Bearer {Tokens(TOKEN).for_role(Role.WATCH)}"}
    everything = {"Authorization": f"Bearer {TOKEN}"}
    async with serving(NetworkSource(), token=TOKEN, games=tmp_path) as client:
        assert (await client.get("/metrics")).status == 401
        async with (
            client.ws_connect("/play", headers=everything) as socket,
            client.ws_connect("/gtp", headers=everything) as gtp,
            asyncio.TaskGroup() as reading,
        ):
            reading.create_task(gtp.receive())  # only who reads answers the pings of the server
            game = await ask(socket, **NEW)
            await socket.send_json({"do": "play", "vertex": "E5"})
            while len(game["moves"]) < 2:
                game = await hear_any(socket)
            reading.create_task(read_all(socket))
            found = {"tengen_event_loop_delay_seconds_bucket +Inf": 0.0}
            while not found["tengen_event_loop_delay_seconds_bucket +Inf"]:  # looked at once in a while
                response = await client.get("/metrics", headers=bearer)
                assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
                found = figures(await response.text())
                await asyncio.sleep(0.05)
            await asyncio.gather(gtp.close(), socket.close())
    assert found["tengen_loaded"] == found["tengen_games open"] == found["tengen_games shown"] == 1
    assert found["tengen_games unsaved"] == found["tengen_wrong_tokens_total"] == 0
    assert (found["tengen_clients socket"], found["tengen_clients engine"]) == (2, 1)
    assert found["tengen_requests_total 401"] == 1
    assert found["tengen_evaluations_total"] >= found["tengen_evaluation_batches_total"] > 0
    assert found["tengen_batch_rows"] >= 1
    assert found["tengen_queued_evaluations"] == found["tengen_queued_positions"] == 0
    assert found["process_resident_memory_bytes"] > 1e7


async def test_delays_of_the_event_loop_are_counted() -> None:
    delays = Operations(ServerLog()).delays

    def late(most: str = "+Inf") -> float:
        (metric,) = delays.collect()
        return sum(each.value for each in metric.samples if each.labels.get("le") == most)

    watching = asyncio.create_task(watch_delays(delays))
    await asyncio.sleep(0.01)
    threading.Event().wait(0.7)  # blocks the loop
    await until(lambda: late() > 0)
    watching.cancel()
    assert late("0.5") < late("1.0")


@pytest.mark.parametrize("is_json", [True, False])
async def test_the_log_of_requests_has_no_secrets(is_json: bool) -> None:
    lines: list[str] = []
    operations = Operations(ServerLog(is_json=is_json, write=lines.append), logs_requests=True)
    async with serving(token=TOKEN, proxy="127.0.0.1", operations=operations) as client:
        await client.get("/gtp?token=wrong-but-secret")
        await client.get(f"/?token={TOKEN}", headers={"X-Forwarded-For": "192.0.2.1"}, allow_redirects=False)
        await client.get("/missing", headers={"Authorization": f"Bearer {TOKEN}"})
        await client.get("/health")
    assert TOKEN not in "".join(lines) and "secret" not in "".join(lines)
    if not is_json:
        assert lines[1].startswith("request: 192.0.2.1 compute GET / 303 0")
        return
    events = [json.loads(line) for line in lines]
    assert [(event["event"], event["address"], event["role"], event["path"], event["status"]) for event in events] == [
        ("request", "127.0.0.1", "-", "/gtp", 401), ("request", "192.0.2.1", "compute", "/", 303),
        ("request", "127.0.0.1", "compute", "/missing", 404), ("request", "127.0.0.1", "watch", "/health", 200),
    ]  # fmt: skip


SIGNS = [*["%0a", "%0d", "%1b[2J", "%e2%80%a8", "%c2%85", "%00", "%20", "%e2%80%ae", "%ed%a0%80", "%ff"], "x" * 2000]


@pytest.mark.parametrize("is_json", [True, False])
async def test_no_request_writes_a_line_of_the_log(is_json: bool) -> None:
    """A line feed in a path began a line of its own, in which anything could stand."""
    lines: list[str] = []
    operations = Operations(ServerLog(is_json=is_json, write=lines.append), logs_requests=True)
    headers = {"X-Forwarded-For": "\u202e192.0.2.1 forged", "User-Agent": "forged", "Referer": "forged"}
    async with serving(token=TOKEN, proxy="127.0.0.1", operations=operations) as client:
        for sign in SIGNS:
            await client.get(URL(f"/{sign}request:{sign}10.0.0.9{sign}compute", encoded=True), headers=headers)
    for line, _ in zip(lines, SIGNS, strict=True):
        assert line.isprintable() and "forged" not in line and len(line) < 400
        if is_json:
            event = json.loads(line)
            assert event["status"] == 401 and event["path"].isprintable() and " " not in event["path"]
        else:
            assert len(line.split(" ")) == 7, "no value is two words"


async def test_libraries_write_to_the_same_log() -> None:
    lines: list[str] = []
    record = logging.LogRecord("aiohttp", logging.ERROR, "", 0, "no\x1b[2J\nrequest: %s", ("forged",), None)
    ServerLog(write=lines.append).emit(record)
    ServerLog(is_json=True, write=lines.append).emit(record)
    assert lines[0] == "no\\x1b[2J\n    request: forged"
    assert json.loads(lines[1])["message"] == "no\x1b[2J\nrequest: forged" and lines[1].isprintable()


async def test_a_server_is_healthy_until_it_ends(tmp_path: Path) -> None:
    operations = Operations(ServerLog())
    async with serving(token=TOKEN, operations=operations) as client:
        response = await client.get("/health")
        assert (response.status, await response.json()) == (200, {"status": "ok"})
        await operations.end()
        response = await client.get("/health")
        assert (response.status, await response.json()) == (503, {"status": "ending"})


@pytest.mark.parametrize("is_hurried", [False, True])
async def test_moves_that_are_searched_end_before_the_server(
    is_hurried: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Searches were cancelled at once, and their moves not played; nor were pages told why they lost the server."""
    operations = Operations(ServerLog(), patience=60.0)
    searching, may_end = threading.Event(), threading.Event()
    engine_move = GameSession.engine_move

    def slow(session: GameSession, cancel: Any) -> Any:
        searching.set()
        with cancel.calling(may_end.set):
            assert may_end.wait(60)
        return engine_move(session, cancel)

    monkeypatch.setattr(GameSession, "engine_move", slow)
    found: list[dict[str, Any]] = []
    async with (
        serving(RolloutSource(), games=tmp_path, operations=operations) as client,
        client.ws_connect("/play") as socket,
        client.ws_connect("/gtp") as gtp,
    ):
        found.append(await ask(socket, **NEW))
        await socket.send_json({"do": "play", "vertex": "E5"})
        await gtp.send_str("1 boardsize 9\n2 genmove b\n")
        await until(searching.is_set)
        ending = asyncio.create_task(client.server.close())
        assert (await received(socket, "error"))["message"] == ENDING
        if is_hurried:
            operations.hurry.set()
        else:
            may_end.set()
        replies = ""
        async for message in gtp:
            replies += message.data
        assert is_hurried or replies.startswith("=1 \n\n=2 ")
        async for _ in socket:
            pass
        assert (socket.close_code, gtp.close_code) == (1001, 1001)
        await ending
    saved = SavedGames(tmp_path).load(found[0]["id"]).sgf
    assert (";W[" in saved) is not is_hurried
