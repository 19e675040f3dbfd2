"""Clients of engines that speak the analysis protocol: many queries at a time, plain and for asyncio."""

import asyncio
import gc
import json
import sys
import time
from pathlib import Path

import pytest
from busy_machine import bound
from match_helpers import ANALYSIS_ENGINE

from gtp_engine import (
    AnalysisEngine,
    Color,
    CommandFailedError,
    EngineDiedError,
    EngineError,
    EngineTimeoutError,
    Game,
    Limit,
    LimitError,
    Move,
    Point,
    SimpleAnalysisEngine,
)
from gtp_engine.protocols.client import read_response
from gtp_engine.protocols.client.analysis_engines import query_of


def opened(timeout: float = 20.0) -> SimpleAnalysisEngine:
    return SimpleAnalysisEngine.popen(ANALYSIS_ENGINE, timeout=timeout, label="scripted")


def game_of(komi: float = 7.5, moves: str = "C3 D4 B2") -> Game:
    game = Game(5, komi=komi)
    for move in moves.split():
        game.play(move)
    return game


def test_a_query_says_all_about_a_position() -> None:
    game = Game(7, 5, rules="japanese", komi=0.5)
    game.set_up([Move(1, Point("A1", 7, 5)), Move(2, Point("G5", 7, 5))], "white")
    game.play("C3")
    game.play("pass")
    query = query_of(game, Limit(visits=10, time=2, playouts=5), every=0.5, ownership=True)
    assert query["moves"] == [["W", "C3"], ["B", "pass"]]
    assert sorted(query["initialStones"]) == [["B", "A1"], ["W", "G5"]]
    assert (query["initialPlayer"], query["boardXSize"], query["boardYSize"], query["komi"]) == ("W", 7, 5, 0.5)
    assert (query["rules"]["scoring"], query["analyzeTurns"], query["maxVisits"]) == ("TERRITORY", [2], 10)
    assert query["overrideSettings"] == {"reportAnalysisWinratesAs": "BLACK", "maxTime": 2, "maxPlayouts": 5}
    game.to_play = Color.BLACK
    query = query_of(game, Limit(), every=0.5, ownership=False)
    assert (query["moves"], query["initialPlayer"], len(query["initialStones"])) == ([], "B", 3)
    assert "maxVisits" not in query, "the engine's own"
    for limit in (None, Limit(time=1)):
        assert query_of(game, limit, every=1, ownership=False)["maxVisits"] > 10**6, "until it is left"


def test_fields_that_other_engines_leave_out_or_send_in_another_order() -> None:
    moves = [{"move": move, "order": order, "visits": 1, "winrate": 0.4} for move, order in (("C3", 1), ("D4", 0))]
    root = {"visits": 3, "winrate": 0.5}
    found = read_response({"rootInfo": root, "moveInfos": moves}, (), turns_before=4)
    assert ([move.vertex for move in found.moves], found.to_play, found.lead, found.best.lead) == (
        ["D4", "C3"], Color.BLACK, None, None
    )  # fmt: skip
    assert (found.turn, found.is_final, found.ownership, found.best.prior) == (4, True, {}, None)
    later = {"rootInfo": root | {"currentPlayer": "W"}, "moveInfos": [], "turnNumber": 2, "isDuringSearch": True}
    found = read_response(later, (), turns_before=0)
    assert (found.turn, found.is_final, found.to_play) == (2, False, Color.WHITE)
    ended = SimpleAnalysisEngine.mock(lambda line: json.dumps({"id": "q1", "turnNumber": 0, "noResults": True}) + "\n")
    with ended as client, pytest.raises(EngineError, match="the query q1 was ended without results"):
        client.analyse(Game(5), Limit(visits=1))


def test_positions_and_games() -> None:
    game = game_of()
    with opened() as client:
        assert client.version() == "1.0"
        found = client.analyse(game, Limit(visits=12), ownership=True)
        assert (found.side, found.to_play, found.turn, found.visits) == (Color.BLACK, Color.WHITE, 3, 12)
        assert (found.is_final, found.winrate, found.lead, found.ownership["A5"]) == (True, 0.55, 1.25, 0.5)
        assert (found.best.vertex, found.best.pv, found.best.lcb) == ("D4", ("D4",), 0.5)
        assert [each.turn for each in client.analyse_game(game, Limit(visits=3))] == [0, 1, 2, 3]
        assert [each.turn for each in client.analyse_game(game, turns=[2, 0, 2])] == [2, 0, 2]
        game.to_play = Color.BLACK
        assert client.analyse(game).turn == 3, "though the position was sent without its moves"
        assert [each.turn for each in client.analyse_game(game)] == [0, 1, 2, 3]
        for turn in (4, -1, 1.5, None):
            with pytest.raises(LimitError, match=f"turn {turn} of an analysis: expected an integer from 0 to 3"):
                client.analyse_game(game, turns=[0, turn])  # type: ignore[list-item]
        for count, report in enumerate(client.watch(game_of())):
            assert not report.is_final
            if count == 3:
                break
        gc.collect()
        assert client.query({"action": "query_version"})[0]["version"] == "1.0"
        assert not client.client._waiting, "leaving the loop has ended the query"
        with client.watch(game_of()) as reports:
            next(reports)
        assert not client.client._waiting
    assert not client.is_alive()
    with pytest.raises(EngineDiedError, match="scripted: the engine has been closed"):
        client.analyse(game)


@pytest.mark.parametrize(
    ("komi", "error", "message"),
    [
        (101, EngineDiedError, r"scripted: the engine ended with exit code 3 instead of replying to 'a query'"),
        (102, EngineTimeoutError, r"scripted: no response to query q1 within 0\.4 s"),
        (103, CommandFailedError, r"scripted: the query 'q1' \(field 'komi'\) failed: 'no such komi'"),
        (104, EngineError, r"scripted: a response to query q1 cannot be read: .*KeyError"),
        (106, CommandFailedError, r"scripted: the query failed: 'not a query'"),
        (107, CommandFailedError, r"scripted: the engine does not know a limit of the query 'q1': .*maxPlayouts"),
    ],
)
def test_engines_that_break_off(komi: float, error: type[EngineError], message: str) -> None:
    with opened() as client:
        with pytest.raises(error, match=message):
            client.analyse(game_of(komi), Limit(visits=1), timeout=0.4 if komi == 102 else None)
        assert not client.client._waiting
        if komi in (103, 104, 107):
            assert client.analyse(game_of(), Limit(visits=2)).visits == 2
        elif komi != 106:
            assert not client.is_alive()
            with pytest.raises(error):
                client.analyse(game_of())


@pytest.mark.parametrize("komi", [102, 105])
async def test_an_engine_that_does_not_read_or_writes_without_end(komi: float) -> None:
    """A thousand queries fill the pipe; the callers do not wait for it."""
    client = await AnalysisEngine.popen(ANALYSIS_ENGINE, timeout=20.0)
    searches = [client.analyse(game_of(komi), ownership=True) for _ in range(1000)]
    async with asyncio.timeout(bound(60)):
        for search in searches:
            await search.__aenter__()
        client.kill()
        await client.close()
    assert not client.is_alive()
    client = await AnalysisEngine.mock(lambda line: "")
    async with asyncio.timeout(bound(60)), client.analyse(Game(5)) as search:
        await client.close()
        with pytest.raises(EngineDiedError, match="mock: the engine has been closed"):
            await anext(search)


def test_an_engine_that_writes_lines_that_are_no_responses_is_silent() -> None:
    babbling = [sys.executable, "-uc", "import time\nwhile True: print('loading', flush=True); time.sleep(0.02)"]
    engine = SimpleAnalysisEngine.popen(babbling, timeout=0.5, label="babbling")
    time.sleep(0.5)
    started = time.monotonic()
    with engine, pytest.raises(EngineTimeoutError, match="babbling: no response to query q1"):
        engine.analyse(Game(5), Limit(visits=1), timeout=0.5)
    assert time.monotonic() - started >= 0.5, "only the silence after a query counts"


def test_moves_settings_and_raw_queries_are_sent_as_katago_has_them(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with SimpleAnalysisEngine.popen(ANALYSIS_ENGINE, log=log) as client:
        client.analyse(game_of(), allow=["A1", "pass"], avoid=["B2"], overrides={"humanSLProfile": "rank_5k"})
        raw = query_of(game_of(), Limit(visits=3), every=1, ownership=False) | {"analyzeTurns": [0, 2]}
        assert sorted(response["turnNumber"] for response in client.query(raw)) == [0, 2]
        with client.watch(game_of()) as reports:
            next(reports)
        assert client.version() == "1.0"
        assert log.read_text().count('"action":"terminate"') == 1, "the search that was left, and none that ended"
    sent = json.loads(next(line[3:] for line in log.read_text().splitlines() if line.startswith(">> ")))
    assert sent["allowMoves"] == [{"player": "W", "moves": ["A1", "pass"], "untilDepth": 1}]
    assert sent["avoidMoves"] == [{"player": "W", "moves": ["B2"], "untilDepth": 1}]
    assert sent["overrideSettings"] == {"reportAnalysisWinratesAs": "BLACK", "humanSLProfile": "rank_5k"}


async def test_an_engine_for_asyncio() -> None:
    game = game_of()
    async with AnalysisEngine.popen(ANALYSIS_ENGINE, label="scripted", timeout=20) as client:
        found = await asyncio.gather(*(client.analyse(game, Limit(visits=visits)) for visits in range(1, 200)))
        assert [each.visits for each in found] == list(range(1, 200))
        count = 0
        async for report in client.analyse(game, every=0.01):
            assert report.visits == 100
            count += 1
            if count == 3:
                break
        assert client._waiting == {}
        search = client.analyse(game, every=0.01)
        async for _ in search:
            break
        assert client._waiting == {}, "though the search is still referred to"
        async with client.analyse(game) as search:
            assert not (await anext(search)).is_final
            assert (await search).is_final
        assert client._waiting == {}, "the search without an end gives way to the one for its result"
        search = client.analyse(game, Limit(visits=5))
        reports = [report async for report in search]
        assert reports[-1].is_final and await search is await search is reports[-1]
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(_last(client, game), 0.1)
        assert client._waiting == {}, "a cancelled search is ended"
    async with AnalysisEngine.popen(ANALYSIS_ENGINE, label="scripted") as client:
        with pytest.raises(EngineDiedError):
            await asyncio.gather(*(client.analyse(game_of(komi)) for komi in (7.5, 101, 7.5)))


async def _last(client: AnalysisEngine, game: Game) -> None:
    async with client.analyse(game, every=0.01) as reports:
        async for _ in reports:
            pass
