"""Hundreds of calls of every kind, kills, timeouts and floods between them: nothing hangs, nothing is left over."""

import asyncio
import gc
import os
import random
import shutil
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from busy_machine import bound, is_over
from gnugo import find_gnugo, needs_gnugo
from match_helpers import ANALYSIS_ENGINE, engine
from warm_cache import compile_once

from gtp_engine import AnalysisEngine, EngineError, Game, GtpEngine, Limit, TengenError

SCRIPTED = engine("--analyzes --lists undo --lists time_settings --lists kata-set-param --score B+3.5")
OURS = [sys.executable, "-m", "gtp_engine", "--visits", "2", "--seed", "1"]
KATAGO = shutil.which("katago")
NEEDS_KATAGO = pytest.mark.skipif(KATAGO is None, reason="no katago on the PATH, which also needs a model beside it")

Call = Callable[[GtpEngine, Game, random.Random], Awaitable[object]]


async def watched(client: GtpEngine, game: Game, chance: random.Random) -> None:
    async for _ in client.analyse(game, every=0.01):
        if chance.random() < 0.5:
            break


async def cancelled(client: GtpEngine, game: Game, chance: random.Random) -> None:
    await asyncio.wait_for(client.genmove(game), chance.random() / 100)


CALLS: dict[str, Call] = {
    "name": lambda client, game, chance: client.send("name"),
    "unknown": lambda client, game, chance: client.send("no_such_command"),
    "play": lambda client, game, chance: client.genmove(game),
    "timed": lambda client, game, chance: client.genmove(game, Limit(time=chance.choice([1, 2]))),
    "position": lambda client, game, chance: client.set_game(game),
    "score": lambda client, game, chance: client.score(game),
    "analyse": lambda client, game, chance: client.analyse(game, Limit(visits=10)),
    "watch": watched,
    "cancelled": cancelled,
    "together": lambda client, game, chance: asyncio.gather(client.send("name"), client.send("version")),
}
BREAKS = {"hang": 0.05, "die": 20.0, "flood": 20.0, "words": 0.05, "line": 20.0, "close": 20.0}


def left_over() -> tuple[int, int, int]:
    """Return how many threads of clients, open files and child processes there are, on systems that tell."""
    gc.collect()
    threads = [each for each in threading.enumerate() if each.name.startswith(("lines of", "stderr of", "engine_"))]
    files = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    return len(threads), files, len(children.read_text().split()) if children.exists() else 0


def settled(before: tuple[int, int, int]) -> tuple[int, int, int]:
    """Return what is left over once the last threads have had time to end."""
    started = time.monotonic()
    while (now := left_over()) > before and not is_over(started, 20):
        time.sleep(0.05)
    return now


def vary(game: Game, chance: random.Random) -> None:
    """Play, take back, or begin another game."""
    if chance.random() < 0.3 and game.moves:
        game.undo(chance.randint(1, len(game.moves)))
    if legal := game.legal_points():
        game.play(chance.choice(legal))
    if len(game.moves) > 12:
        game.undo(len(game.moves))


async def drive(command: str | list[str], calls: int, breaks: int, timeout: float) -> None:
    """Make calls of every kind; start the engine again where it has gone."""
    chance, game = random.Random(1), Game(5)
    kinds = [*chance.choices(list(CALLS), k=calls - breaks), *[["kill", *BREAKS][i % 7] for i in range(breaks)]]
    chance.shuffle(kinds)
    client: GtpEngine | None = None
    for kind in kinds:
        if client is None or not client.is_alive():
            if client is not None:
                await client.close()
            client = await GtpEngine.popen(command, timeout=timeout)
        vary(game, chance)
        try:
            if kind == "kill":
                asyncio.get_running_loop().call_later(chance.random() / 100, client.kill)
                await client.genmove(game)
            elif kind in BREAKS:
                await client.send(kind, timeout=BREAKS[kind])
            else:
                await CALLS[kind](client, game, chance)
        except (EngineError, TimeoutError) as error:
            assert str(error) or isinstance(error, TimeoutError)
    assert client is not None
    await client.close()


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "calls", "breaks"),
    [
        pytest.param(SCRIPTED, 200, 14, id="scripted"),
        pytest.param(f"{find_gnugo()} --mode gtp --level 0", 75, 7, id="gnugo", marks=needs_gnugo),
        pytest.param(OURS, 20, 1, id="ours"),
        pytest.param([KATAGO or "katago", "gtp"], 100, 3, id="katago", marks=NEEDS_KATAGO),
    ],
)
def test_calls_of_every_kind(
    command: str | list[str], calls: int, breaks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gtp_engine.protocols.client.connection.QUIT_SECONDS", 0.2)
    monkeypatch.setattr("gtp_engine.protocols.client.connection.LONGEST_LINE", 1 << 18)
    monkeypatch.setattr("gtp_engine.protocols.client.gtp_engines.MOST_LINES", 2000)
    if command is OURS:
        compile_once("network")
    before = left_over()
    asyncio.run(asyncio.wait_for(drive(command, calls, breaks, timeout=bound(60)), bound(300)))
    assert settled(before) <= before


async def ask(calls: int) -> None:
    """Ask in groups, some of which hold a query at which the engine breaks off; start it again then."""
    chance, client = random.Random(1), None
    while calls > 0:
        if client is None or not client.is_alive():
            if client is not None:
                await client.close()
            client = await AnalysisEngine.popen(ANALYSIS_ENGINE, timeout=0.5)
        komis = [chance.choice([0.5, 7.5, 103, 104]) for _ in range(20)]
        if chance.random() < 0.4:
            komis[chance.randrange(20)] = chance.choice([101, 102, 105, 106])
        answers = await asyncio.gather(
            *(client.analyse(Game(5, komi=komi), Limit(visits=3)) for komi in komis), return_exceptions=True
        )
        for komi, answer in zip(komis, answers, strict=True):
            assert not isinstance(answer, Exception) or isinstance(answer, TengenError), answer
            assert komi < 100 or isinstance(answer, EngineError)
        calls -= len(komis)
    assert client is not None
    await client.close()


def test_queries_of_every_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gtp_engine.protocols.client.connection.QUIT_SECONDS", 0.2)
    before = left_over()
    asyncio.run(asyncio.wait_for(ask(400), bound(120)))
    assert settled(before) <= before
