"""Clients of engines that speak GTP: positions, moves, limits, options, analyses, for asyncio too."""

import asyncio
import gc
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from board_helpers import play_moves
from busy_machine import bound, is_over
from gnugo import find_gnugo, needs_gnugo
from match_helpers import ENGINE, WITHOUT_PACKAGES, engine

from gtp_engine import (
    Analysis,
    Color,
    CommandFailedError,
    EngineDiedError,
    EngineError,
    EngineStartError,
    EngineTimeoutError,
    Game,
    GtpEngine,
    Limit,
    LimitError,
    Move,
    Point,
    SimpleAnalysisEngine,
    SimpleGtpEngine,
    TimeSettings,
)
from gtp_engine.go.clock import full_time
from gtp_engine.protocols.client import NO_LIMIT, read_report
from gtp_engine.protocols.client.gtp_engines import vertices_of


def opened(arguments: str = "", timeout: float = 20.0, log: Path | None = None) -> SimpleGtpEngine:
    return SimpleGtpEngine.popen(engine(arguments), timeout=timeout, label="scripted", log=log)


def commands(log: Path) -> list[str]:
    """Return the commands that an engine got, since the last call, without the handshake."""
    lines = [line[3:] for line in log.read_text().splitlines() if line.startswith(">> ")]
    log.write_text("")
    return [line for line in lines if line not in ("protocol_version", "name", "version", "list_commands", "quit")]


def test_only_what_is_new_is_sent(tmp_path: Path) -> None:
    log = tmp_path / "log"
    game = Game(5, rules="japanese", komi=0.5)
    with opened("--lists undo --lists kgs-rules --black 'C3 D4 E5' --white 'pass Resign'", log=log) as client:
        assert (client.name, client.version, client.label) == ("Scripted", "1.0", "scripted") and client.lists("undo")
        result = client.genmove(game)
        assert (str(result), result.resigned, game.moves) == ("C3", False, ())
        assert result.move == (Color.BLACK, game.as_move(("b", "C3")).point)
        assert commands(log) == ["boardsize 5", "clear_board", "kgs-rules japanese", "komi 0.5", "genmove b"]
        game.play(result.move)
        assert str(client.genmove(game)) == "pass"
        assert commands(log) == ["genmove w"]
        game.play("B2")
        game.play("C2")
        client.set_game(game)
        assert commands(log) == ["undo", "play W B2", "play B C2"]
        assert client.genmove(game).move is None
        client.set_game(game)
        assert commands(log)[-2:] == ["play W B2", "play B C2"], "after a resignation the position is unknown"
        game.komi = 6.1234567
        client.set_game(game)
        assert commands(log)[:4] == ["boardsize 5", "clear_board", "kgs-rules japanese", "komi 6.1234567"]
        client.send("play b A1")
        client.set_game(game)
        assert len(commands(log)) == 8, "a command of the caller may change the board"
        client.set_game(game)
        assert commands(log) == []


def test_set_up_stones_and_boards(tmp_path: Path) -> None:
    log = tmp_path / "log"
    game = Game(7, 5)
    game.set_handicap(["C3", "D3"])
    with opened("--lists rectangular_boardsize --lists set_free_handicap --lists kata-set-rules", log=log) as client:
        client.set_game(game)
        sent = commands(log)
        assert (sent[0], sent[-1]) == ("rectangular_boardsize 7 5", "set_free_handicap C3 D3")
        assert sent[2] == f"kata-set-rules {game.rules.to_json()}"
        for color, letter in ((2, "W"), (1, "B")):
            game.set_up([Move(color, Point("A1", 7, 5))], "white")
            client.set_game(game)
            assert commands(log)[-1] == f"play {letter} A1"
    with opened("--lists set_position", log=log) as client, pytest.raises(EngineError, match="only square ones"):
        client.set_game(game)
    with opened("--lists set_position --lists set_free_handicap", log=log) as client:
        square = Game(5)
        square.set_up([Move(1, Point("A1", 5)), Move(1, Point("B1", 5))])
        client.set_game(square)
        assert commands(log)[-1] == "set_position B A1 B B1"
        for moves, first in (["C3"], "play B C3"), ([], "boardsize 5"):  # it does not list undo
            client.set_game(play_moves(square.copy(), moves))
            assert commands(log)[0] == first


def test_limits_clocks_and_options(tmp_path: Path) -> None:
    log, game = tmp_path / "log", Game(5)
    with opened("--lists time_settings --lists time_left", log=log) as client:
        times = TimeSettings.fischer(60, 2)
        client.genmove(game, Limit(time=2.5))
        client.genmove(game, Limit(time=2.5))
        client.set_time_settings(times)
        client.set_time_left("b", times, full_time(times))
        client.genmove(game, Limit(time=2.5))  # a limit takes the clock's place
        client.genmove(game)
        sent = [command.removeprefix("time_") for command in commands(log) if command.startswith("time")]
        assert sent == ["settings 0 3 1", "settings 58 2 1", "left B 58 0", "settings 0 3 1", "settings 0 1 0"]
        for seconds in (1, 2):
            client.genmove(game, Limit(time=seconds))
        sent = [command for command in commands(log) if command.startswith("time")]
        assert sent == ["time_settings 0 1 1", "time_settings 0 2 1"], "a limit that changes is sent once"
        with pytest.raises(EngineError, match="Scripted has no byo-yomi"):
            client.set_time_settings(TimeSettings.byoyomi(60, 10, 3))
        with pytest.raises(EngineError, match="the visits of Scripted cannot be set"):
            client.genmove(game, Limit(visits=10))
        with pytest.raises(EngineError, match="Scripted has no option 'level'"):
            client.set_option("level", 3)
        assert client.options() == {}
    answers = "--answers 'kata-get-param 800' --answers 'kata-get-params {\"p\":true,\"n\":8}' --lists kata-set-param"
    with opened(answers, log=log) as client:
        client.genmove(game, Limit(visits=10))
        client.genmove(game)
        sets = [command for command in commands(log) if command.startswith("kata")]
        assert sets == ["kata-get-param maxVisits", "kata-set-param maxVisits 10", "kata-set-param maxVisits 800"]
        assert client.options() == {"p": "true", "n": "8"}
        client.set_option("maxVisits", True)
        assert commands(log)[-1] == "kata-set-param maxVisits true"
        with pytest.raises(EngineError, match="no limit of time"):
            client.genmove(game, Limit(time=1))
    katago = "--answers 'kata-list-params maxVisits numSearchThreads' --answers 'kata-get-param 8'"
    with opened(katago) as client, pytest.raises(EngineError, match="the reply '' to kata-get-params: expected a JSON"):
        client.options()
    with opened(f"{katago} --refuse kata-get-params") as client:
        assert client.options() == {"maxVisits": "8", "numSearchThreads": "8"}, "kata-get-params is not known"
    with opened("--lists lz-setoption --lists level", log=log) as client:
        client.genmove(game, Limit(visits=10, playouts=5))
        client.genmove(game)
        sets = [command.removeprefix("lz-setoption name ") for command in commands(log) if command.startswith("lz")]
        assert sets == ["visits value 10", "playouts value 5", f"visits value {NO_LIMIT}", f"playouts value {NO_LIMIT}"]
    kinds = "--lists kata-time_settings --answers 'kata-list_time_settings byoyomi fischer' --lists time_settings"
    with opened(kinds, log=log) as client:
        for seconds in (2.5, 3):
            client.genmove(game, Limit(time=seconds))
        sent = [command for command in commands(log) if "settings" in command]
        assert sent == ["kata-list_time_settings", "kata-time_settings byoyomi 0 2.5 1", "time_settings 0 3 1"]
    with opened("--lists level", log=log) as client:
        client.set_option("level", 3)
        assert commands(log) == ["level 3"]


def test_analysis_until_a_limit(tmp_path: Path) -> None:
    game, log = Game(5), tmp_path / "log"
    game.play("C3")
    with opened("--analyzes", log=log) as client:
        found = client.analyse(game, Limit(visits=40), ownership=True)
        assert (found.side, found.to_play, found.turn, found.is_final) == (Color.WHITE, Color.WHITE, 1, True)
        assert (found.winrate, found.lead, found.visits >= 40) == (0.55, 1.25, True)
        client.analyse(game, Limit(visits=10), every=9, timeout=3, allow=["A1", "pass"], avoid=[Point("B2", 5)])
        assert commands(log)[-2:] == ["kata-analyze w 150 rootInfo true allow W A1,pass 1 avoid W B2 1", ""]
        assert (found.best.vertex, found.best.pv, found.best.prior) == ("D4", ("D4", "C3"), 0.3)
        assert (len(found.ownership), found.ownership["E5"]) == (25, 0.5)
        black = found.seen_by("black")
        best = black.moves[0]
        assert (round(black.winrate, 9), black.lead, black.ownership["A1"]) == (0.45, -1.25, -0.5)
        assert (best.winrate, best.lead, best.lcb, best.prior) == (0.4, -1.5, 0.55, 0.3), "an upper bound now"
        assert black.seen_by("white").lead == found.lead
        assert str(black).startswith("black 45.0%, -1.2 points, ")
        assert [row["vertex"] for row in found.to_records()] == ["D4", "E5"]
        started = time.monotonic()
        assert client.analyse(game, Limit(time=0.1)).is_final
        assert not is_over(started, 10)
        assert commands(log)[-2] == "kata-analyze w 5 rootInfo true", "two reports"
        with pytest.raises(LimitError, match="an analysis without a limit"):
            client.analyse(game, Limit())
        with pytest.raises(LimitError, match="expected time or visits"):
            client.watch(game, Limit(playouts=3))
        assert client.send("name") == "Scripted"
    with opened() as client, pytest.raises(EngineError, match="Scripted has no analysis: it lists neither"):
        client.analyse(game, Limit(visits=1))
    with opened("--lists kata-analyze --refuse kata-analyze") as client:
        with pytest.raises(CommandFailedError, match="'kata-analyze w 10 rootInfo true' failed: 'refused'"):
            client.analyse(game, Limit(visits=1))
        assert client.send("name") == "Scripted"


def test_leaving_an_analysis_stops_it(tmp_path: Path) -> None:
    game, log = Game(5), tmp_path / "log"
    with opened("--analyzes", log=log) as client:
        for count, report in enumerate(client.watch(game, every=0.001)):
            assert not report.is_final
            if count == 2:
                break
        gc.collect()
        assert client.send("protocol_version") == "2"
        assert commands(log)[-2:] == ["kata-analyze b 1 rootInfo true", ""], "the stream is gone"
        assert client.send("name") == "Scripted"
        with client.watch(game, every=0.01) as reports:
            next(reports)
        assert client.send("version") == "1.0"
        first = client.watch(game, every=0.01)
        next(first)
        second = client.watch(game, every=0.01)
        assert list(first) == []
        assert next(second).visits >= 10
        second.close()


@pytest.mark.parametrize(
    ("line", "scale", "expected"),
    [
        (
            "info move D4 visits 7 winrate 5500 scoreMean 1.5 prior 1000 lcb 5000 order 0 pv D4 "
            "info move C3 visits 3 winrate 4000 order 1 pv C3 pass",
            10_000.0,
            (10, 0.55, 1.5, [("D4", ("D4",), 0.1, 0.5), ("C3", ("C3", "pass"), None, None)]),
        ),
        (
            "info move pass visits 5 edgeVisits 5 utility 0.1 winrate 0.7 scoreMean 2 scoreStdev 9 scoreLead 2.5 "
            "prior 0.9 lcb 0.6 order 0 pv pass isSymmetryOf A1 pvVisits 5 "
            "rootInfo winrate 0.65 visits 6 scoreLead 2 ownership 0.1 -0.2",
            1.0,
            (6, 0.65, 2.0, [("pass", ("pass",), 0.9, 0.6)]),
        ),
    ],
)
def test_lines_of_other_engines_are_read(line: str, scale: float, expected: object) -> None:
    found = read_report(line, vertices_of(Game(5)), to_play=Color.BLACK, scale=scale, turn=0)
    assert isinstance(found, Analysis)
    moves = [(move.vertex, move.pv, move.prior, move.lcb) for move in found.moves]
    assert (found.visits, found.winrate, found.lead, moves) == expected
    assert read_report("NN eval=0.5", (), to_play=Color.BLACK, scale=1.0, turn=0) is None


@pytest.mark.parametrize(
    ("command", "error", "message"),
    [
        ("hang", EngineTimeoutError, "scripted: no reply to 'hang' within 0.3 s"),
        ("die", EngineDiedError, "scripted: the engine ended with exit code 3 instead of replying to 'die': 'somethi"),
        ("close", EngineDiedError, "scripted: the engine closed its output instead of replying to 'close'"),
        ("flood", EngineTimeoutError, "scripted: no end of the reply to 'flood'|within"),
        ("words", EngineTimeoutError, "scripted: no end of the reply to 'words'|within"),
        ("line", EngineError, "scripted: .* 'line'"),
    ],
)
def test_engines_that_break_off(
    command: str, error: type[EngineError], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gtp_engine.protocols.client.connection.QUIT_SECONDS", 0.2)
    monkeypatch.setattr("gtp_engine.protocols.client.connection.LONGEST_LINE", 1 << 20)
    monkeypatch.setattr("gtp_engine.protocols.client.gtp_engines.MOST_LINES", 10_000)
    client, started = opened(), time.monotonic()
    with pytest.raises(error, match=message):
        client.send(command, timeout={"hang": 0.3, "words": 0.5}.get(command, bound(20)))
    assert command != "hang" or not is_over(started, 5)
    assert not client.is_alive()
    with pytest.raises(EngineError):
        client.send("name")
    client.close()


def test_what_cannot_be_started_or_is_no_engine(tmp_path: Path) -> None:
    with pytest.raises(EngineStartError, match="no-such-engine: cannot run 'no-such-engine': No such file"):
        SimpleGtpEngine.popen("no-such-engine --gtp")
    with pytest.raises(EngineStartError, match="speaks GTP version '1', not 2"):
        SimpleGtpEngine.popen(engine("--answers 'protocol_version 1'"))
    wrong = "scripted: the reply to genmove is not a move: invalid coordinate 'Z9'"
    with opened("--black 'Z9 C3'") as client:
        with pytest.raises(EngineError, match=wrong):
            client.genmove(Game(5))
        with pytest.raises(EngineError, match="expected one line of GTP"):
            client.send("name\nversion")
    spaced = tmp_path / "my engines" / "no such engine"
    with pytest.raises(EngineStartError, match=r"no such engine: cannot run '.*/my engines/no such engine'"):
        SimpleGtpEngine.popen([str(spaced), "--gtp"])
    script = tmp_path / "quiet.py"
    script.write_text("import sys; sys.exit('no network')")
    with pytest.raises(EngineDiedError, match="instead of replying to 'protocol_version': 'no network'"):
        SimpleGtpEngine.popen([sys.executable, str(script)])


@pytest.fixture
def port() -> Iterator[int]:
    """Serve a scripted engine on a TCP port, for one client after the other."""
    listener = socket.create_server(("127.0.0.1", 0))
    processes = []

    def serve() -> None:
        while True:
            try:
                connected, _ = listener.accept()
            except OSError:
                return
            with connected, connected.makefile("rb") as incoming:
                pipes = {"stdin": subprocess.PIPE, "stdout": connected.fileno(), "stderr": subprocess.DEVNULL}
                process = subprocess.Popen([*WITHOUT_PACKAGES, str(ENGINE)], **pipes)
                processes.append(process)
                assert process.stdin is not None
                for line in incoming:
                    process.stdin.write(line)
                    process.stdin.flush()
                    if line == b"die\n":
                        break
                process.kill()
                process.wait()
                process.stdin.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR) if sys.platform != "darwin" else None
    listener.close()
    thread.join(bound(10))


@pytest.mark.skipif(sys.platform == "win32", reason="a process takes no socket as its output there")
def test_engines_on_a_tcp_port(port: int) -> None:
    with SimpleGtpEngine.connect("127.0.0.1", port) as client:
        assert (client.name, str(client.genmove(Game(5)))) == ("Scripted", "pass")
        assert client.is_alive()
    assert not client.is_alive()
    closed = "far: the engine closed the connection instead of replying to 'die'"
    far = SimpleGtpEngine.connect("127.0.0.1", port, label="far")
    with far, pytest.raises(EngineDiedError, match=closed):
        far.send("die")
    unused = socket.create_server(("127.0.0.1", 0))
    free = unused.getsockname()[1]
    unused.close()
    with pytest.raises(EngineStartError, match=f"127.0.0.1:{free}: cannot reach 127.0.0.1:{free}: Connection refused"):
        SimpleGtpEngine.connect("127.0.0.1", free)


# --- asyncio ---


async def test_an_engine_for_asyncio() -> None:
    game = Game(5)
    async with GtpEngine.popen(engine("--analyzes --black wait:0.3 --lists time_settings")) as client:
        assert (client.name, client.version, client.lists("play"), client.is_alive()) == ("Scripted", "1.0", True, True)
        result = await client.genmove(game, Limit(time=10), timeout=0.1)  # beyond the limit
        game.play(result.move)  # type: ignore[arg-type]
        answers = await asyncio.gather(*(client.send("name") for _ in range(5)))
        assert answers == ["Scripted"] * 5
        count = 0
        async for report in client.analyse(game, every=0.01):
            count += 1
            if report.visits >= 50:
                break
        assert count > 1
        assert await client.send("version") == "1.0"
        async with client.analyse(game, every=0.01) as reports:
            assert (await anext(reports)).turn == 1
        final = [report async for report in client.analyse(game, Limit(visits=30), every=0.01)][-1]
        assert final.is_final
        searches = [client.analyse(game, Limit(visits=30)) for _ in range(3)]
        assert all(found.is_final for found in await asyncio.gather(*searches)), "one after the other"
        with pytest.raises(LimitError):
            await client.analyse(game)
        await client.set_time_settings(TimeSettings.canadian(10, 5, 1))
        await client.set_game(game)
        assert await client.options() == {}
    assert not client.is_alive()
    waited = await GtpEngine.popen(engine())
    await waited.close()
    await waited.close()
    with pytest.raises(EngineDiedError, match="has been closed"):
        await waited.genmove(game)


def test_functions_in_the_place_of_engines() -> None:
    said = {"protocol_version": "= 2", "name": "= Mock", "version": "?", "list_commands": "= genmove"}
    said |= {"genmove": "= D4"}
    heard: list[str] = []

    def answer(line: str) -> str:
        heard.append(line)
        reply = said.get(line.split()[0], "=")
        return f"{reply}\n\n" if reply else ""

    with pytest.raises(CommandFailedError, match="mock: 'version' failed"):
        SimpleGtpEngine.mock(answer)
    said |= {"version": "= 1", "undo": ""}
    with SimpleGtpEngine.mock(answer) as client:
        assert client.genmove(Game(9)).move == Move(Color.BLACK, Point("D4", 9))
        with pytest.raises(EngineTimeoutError, match=r"no reply to 'undo' within 0\.1 s"):
            client.send("undo", timeout=0.1)
        assert heard[-2:] == ["genmove b", "undo"] and not client.is_alive()
    versions = {"q1": '{"id":"q1","action":"query_version","version":"9"}\n'}
    with SimpleAnalysisEngine.mock(lambda line: versions[json.loads(line)["id"]]) as queries:
        assert queries.version() == "9"
        for _ in range(2):
            with pytest.raises(KeyError):
                queries.version()
    replies = {"protocol_version": "2", "name": "x", "version": "1", "list_commands": "genmove"}
    with SimpleGtpEngine.mock(lambda line: f"= {replies[line]}\n\n") as client:
        assert client.name == "x"
    client.close()
    assert not client.is_alive(), "closing raises nothing, though the function does for quit"


async def test_calls_that_are_cancelled() -> None:
    game = Game(5)
    client = await GtpEngine.popen(engine("--lists undo --black 'wait:0.3 C3'"))
    async with client:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.genmove(game), 0.05)
        assert await client.send("name") == "Scripted", "the next call reads past the reply to the cancelled one"
    async with GtpEngine.popen(engine("--analyzes")) as client:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.analyse(game, Limit(visits=10**9)), 0.1)
        assert await client.send("name", timeout=bound(5)) == "Scripted", "the analysis has been stopped"
    client = await GtpEngine.popen(engine("--analyzes"))
    async with client.analyse(game) as search:
        client.kill()
        await client.close()
    assert [report async for report in search] == [], "leaving a search of an engine that is gone is no error"
    started = time.monotonic()
    async with GtpEngine.popen(engine("--black hang")) as client:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.genmove(game), 0.05)
    assert not is_over(started, 10)
    assert not client.is_alive()
    opening = asyncio.ensure_future(GtpEngine.popen(engine()))
    await asyncio.sleep(0.01)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening


@needs_gnugo
async def test_gnugo_plays_by_the_example_of_the_documents() -> None:
    game = Game(9, rules="japanese")
    async with GtpEngine.popen(f"{find_gnugo()} --mode gtp --level 1 --seed 1") as client:
        while len(game.moves) < 6:
            result = await client.genmove(game, Limit(time=1))
            game.play(result.move)  # type: ignore[arg-type]
        assert (await client.score(game))[0] in "BW0"
