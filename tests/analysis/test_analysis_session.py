"""Sessions with a fake search: responses, their order, and the end of a session."""

import io
import json
import threading
import time
from typing import Any

import pytest
from analysis import fake_search, transcripts
from analysis.client import SessionClient, query
from analysis.fake_search import FakeBackend, FakeTime
from busy_machine import require_once

from gtp_engine import Config, ConfigError, format_vertex
from gtp_engine.go.constants import BLACK
from gtp_engine.protocols.analysis import server, worker
from gtp_engine.protocols.analysis.schedule import SLICE, SharedSchedule
from gtp_engine.protocols.analysis.server import MOST_UNREAD, Output

ENDLESS = 10_000_000


@pytest.mark.parametrize("name", sorted(path.stem for path in transcripts.FOLDER.glob("*.txt")))
async def test_transcript(name: str) -> None:
    values = ("analysis.analysis_visits=12",) if name == "settings" else ()
    with SessionClient(FakeBackend(), *values) as client:

        async def send(line: str) -> None:
            client.send(line)

        async def receive() -> str:
            return json.dumps(client.receive(), separators=(",", ":"))

        await transcripts.replay(name, send, receive)
        assert client.finish() == []


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    """Let the searches go by a clock that only they move on, so that their order does not depend on the machine."""
    clock = FakeTime()
    for module in (fake_search, worker):
        monkeypatch.setattr(module, "time", clock)
    return clock


def settle(client: SessionClient) -> None:
    """Wait until the session has read everything that was sent; nothing is answered meanwhile."""
    assert client.ask({"id": "v", "action": "query_version"})["version"] == "1.2.3"


class TestAnswers:
    """Queries and their responses."""

    @pytest.mark.parametrize("wanted", ["includeMovesOwnership", "includeMovesOwnershipStdev"])
    def test_the_limits_of_the_search(self, wanted: str) -> None:
        backend = FakeBackend()
        with SessionClient(backend) as client:
            asked = query(moves=[["B", "E5"], ["W", "C3"]], analyzeTurns=[1], overrideSettings={"wideRootNoise": 0.5})
            client.ask(asked | {"maxVisits": 5, wanted: True})
        ((game, request),) = backend.opened[0].seen
        assert [(move.color, format_vertex(move.point, width=9, height=9)) for move in game.moves] == [(BLACK, "E5")]
        assert (request.limits.visits, request.wide_root_noise, request.move_ownership) == (5, 0.5, True)

    @pytest.mark.parametrize(
        ("settings", "ignores_history", "anti_mirror"),
        [({}, True, False), ({"ignorePreRootHistory": False}, False, False), ({"antiMirror": True}, True, True)],
    )
    def test_history_is_ignored_and_mirroring_not_expected_unless_a_query_says_otherwise(
        self, settings: dict[str, bool], ignores_history: bool, anti_mirror: bool
    ) -> None:
        backend = FakeBackend()
        with SessionClient(backend) as client:
            client.ask(query(overrideSettings=settings))
        ((_, limits),) = backend.opened[0].seen
        assert (limits.ignores_history, limits.anti_mirror) == (ignores_history, anti_mirror)

    def test_reports_during_the_search(self) -> None:
        """Only the first search of the position begins from the start."""
        backend = FakeBackend(0.002)
        with SessionClient(backend) as client:
            client.send(query(maxVisits=100, reportDuringSearchEvery=0.03))
            responses = client.finish()
        first, *later = [request.resumes for _, request in backend.opened[0].seen]
        assert not first and later and all(later)
        assert [response["isDuringSearch"] for response in responses] == [True] * (len(responses) - 1) + [False]
        assert len(responses) >= 3
        visits = [response["rootInfo"]["visits"] for response in responses]
        assert visits == sorted(set(visits))
        assert visits[-1] == 100

    def test_reports_at_short_intervals_leave_time_to_search(self) -> None:
        with SessionClient(FakeBackend(seconds_to_begin=0.01)) as client:
            client.send(query(maxVisits=6, reportDuringSearchEvery=0.001))
            visits = [response["rootInfo"]["visits"] for response in client.finish()]
        assert visits == sorted(set(visits))
        assert visits[-1] == 6

    def test_positions_that_take_long_to_go_on_with_take_turns(self, clock: FakeTime) -> None:
        """Slices counted from before the search was ready, so that two long analyses stopped each other."""
        backend = FakeBackend(seconds_per_visit=0.01, seconds_to_begin=1.5 * SLICE)
        backend.is_loaded.clear()
        with SessionClient(backend) as client:
            client.send(query(id="1", maxVisits=ENDLESS, overrideSettings={"maxTime": 4}))
            client.send(query(id="2", maxVisits=ENDLESS, overrideSettings={"maxTime": 4}))
            settle(client)
            backend.is_loaded.set()
            client.finish()
        for searcher in backend.opened:
            assert len(searcher.playouts) > 3
            assert min(searcher.playouts[:-1]) > 1

    def test_only_a_first_report(self) -> None:
        with SessionClient(FakeBackend(0.002)) as client:
            client.send(query(maxVisits=50, firstReportDuringSearchAfter=0.02))
            assert [response["isDuringSearch"] for response in client.finish()] == [True, False]

    def test_a_limit_in_seconds(self, clock: FakeTime) -> None:
        with SessionClient(FakeBackend(0.001)) as client:
            response = client.ask(query(maxVisits=ENDLESS, overrideSettings={"maxTime": 0.2}))
        assert clock.now == pytest.approx(0.2, abs=0.002)
        assert response["rootInfo"]["visits"] == pytest.approx(200, abs=2)

    def test_preparing_the_network_for_a_board_takes_no_time_of_the_search(self, clock: FakeTime) -> None:
        with SessionClient(FakeBackend(0.001, seconds_to_begin=2.0)) as client:
            response = client.ask(query(maxVisits=ENDLESS, overrideSettings={"maxTime": 0.2}))
        assert response["rootInfo"]["visits"] == pytest.approx(200, abs=2)

    def test_a_searcher_serves_one_position_after_the_other(self) -> None:
        backend = FakeBackend()
        with SessionClient(backend) as client:
            for number in range(20):
                assert client.ask(query(id=str(number), maxVisits=9))["rootInfo"]["visits"] == 9
        assert len(backend.opened) == 1
        assert backend.opened[0].is_closed
        assert backend.is_closed

    def test_other_search_settings_need_another_searcher(self) -> None:
        backend = FakeBackend()
        with SessionClient(backend) as client:
            client.ask(query())
            client.ask(query(overrideSettings={"cpuctExploration": 2.5}))
            client.ask(query(rootPolicyTemperature=1.5, rootFpuReductionMax=0.0))
        assert [config.puct.c_puct for config in backend.configs] == [1.0, 2.5, 1.0]
        assert backend.configs[2].puct.root_temperature == backend.configs[2].puct.root_temperature_early == 1.5
        assert backend.configs[2].puct.root_fpu_reduction == 0.0
        assert backend.opened[0].is_closed


class TestOrder:
    """By priority, then by arrival; long analyses take turns."""

    def test_an_endless_analysis_does_not_block_others(self, clock: FakeTime) -> None:
        backend, clock.stop_at = FakeBackend(0.001), 1.2
        with SessionClient(backend) as client:
            client.send(query(id="endless", maxVisits=ENDLESS))
            with clock.standing():
                client.send(query(id="short", maxVisits=20))
                settle(client)
            assert client.receive()["id"] == "short"
            client.send({"id": "t", "action": "terminate", "terminateId": "endless"})
            ends = {response["id"]: response for response in client.finish()}
        assert backend.opened[1].ended < 1.2 + SLICE
        assert ends["endless"]["rootInfo"]["visits"] > 1000

    def test_more_urgent_queries_interrupt_what_has_just_begun(self, clock: FakeTime) -> None:
        clock.stop_at = 0.05
        with SessionClient(FakeBackend(0.001)) as client:
            client.send(query(id="first", maxVisits=600))
            with clock.standing():
                client.send(query(id="later", maxVisits=20))
                client.send(query(id="urgent", maxVisits=20, priority=1))
                settle(client)
            assert [response["id"] for response in client.finish()] == ["urgent", "first", "later"]


class TestActions:
    """query_version, query_models, clear_cache, terminate, terminate_all."""

    @pytest.mark.parametrize("name", ["one", "other"])
    def test_the_configuration_may_change_while_a_client_is_connected(self, name: str) -> None:
        """Which network a client got depended on what others had asked for, once another was chosen on a page."""
        sent: list[dict[str, Any]] = []
        config, schedule = Config(), SharedSchedule().open(1, sent.append)
        handle = server.AnalysisServer(lambda: config, schedule, print).handle_bytes
        config = config.with_values({"network.model": name})
        handle(json.dumps(query()).encode())
        assert schedule.take().query.config.network.model == name  # type: ignore[union-attr]

    def test_a_query_for_too_many_positions_is_refused(self) -> None:
        sent: list[dict[str, Any]] = []
        schedule = SharedSchedule().open(1, sent.append)
        handle = server.AnalysisServer(Config, schedule, print, most_positions=3).handle_bytes
        for name, turns in (("a", [0, 1]), ("b", [0, 1]), ("c", [0])):
            handle(json.dumps(query(id=name, moves=[["B", "E5"]], analyzeTurns=turns)).encode())
        error = "4 positions at once: expected 3 at most"
        assert sent == [{"id": "b", "field": "analyzeTurns", "error": error}] and schedule.positions() == 3

    def test_models_and_cache_while_searching(self) -> None:
        backend = FakeBackend(0.001)
        with SessionClient(backend) as client:
            client.send(query(maxVisits=ENDLESS))
            time.sleep(0.1)
            assert client.ask({"id": "m", "action": "query_models"})["models"] == [{"name": "fake"}]
            assert client.ask({"id": "c", "action": "clear_cache"}) == {"id": "c", "action": "clear_cache"}
        assert backend.caches_cleared == 1

    def test_terminating_a_running_search_reports_what_it_has(self, clock: FakeTime) -> None:
        request, clock.stop_at = {"id": "t", "action": "terminate", "terminateId": "q"}, 0.3
        with SessionClient(FakeBackend(0.001)) as client:
            client.send(query(maxVisits=ENDLESS))
            with clock.standing():
                assert client.ask(request) == request
            response = client.receive()
        assert (response["id"], response["isDuringSearch"]) == ("q", False)
        assert response["rootInfo"]["visits"] == pytest.approx(300, abs=2), "it has ended at once"

    def test_terminating_what_waits_gives_no_results(self, clock: FakeTime) -> None:
        clock.stop_at = 0.05
        with SessionClient(FakeBackend(0.001)) as client:
            client.send(query(id="running", maxVisits=ENDLESS))
            with clock.standing():
                client.send(query(id="waiting", moves=[["B", "E5"]], analyzeTurns=[0, 1]))
                first = client.ask({"id": "t", "action": "terminate", "terminateId": "waiting", "turnNumbers": [1]})
                assert first == {"id": "waiting", "turnNumber": 1, "isDuringSearch": False, "noResults": True}
                assert client.receive()["id"] == "t"
                rest = [client.ask({"id": "all", "action": "terminate_all"}), client.receive()]
            rest += client.finish()
        assert [response["id"] for response in rest] == ["waiting", "all", "running"]
        assert [response["id"] for response in rest if response.get("noResults")] == ["waiting"]


class TestMistakes:
    """No input but its end ends a session."""

    @pytest.mark.parametrize("line", ["\x00", "[" * 100_000, b"\xff\xfe\x00", '"' + "x" * 100_000, "9" * 5000])
    def test_lines_that_no_transcript_holds(self, line: str | bytes) -> None:
        with SessionClient(FakeBackend()) as client:
            response = client.ask(line)
            assert list(response) == ["error"]
            assert len(response["error"]) < 400
            assert client.ask(query())["id"] == "q"

    def test_an_error_of_a_search_is_reported_for_its_query(self) -> None:
        backend = FakeBackend()
        with SessionClient(backend) as client:
            client.ask(query())
            backend.opened[0].failure = ConfigError("not without a network")
            expected = {"id": "much", "field": "overrideSettings", "error": "not without a network"}
            assert (client.ask(query(id="much")), client.log) == (expected, [])
            client.ask(query())
            backend.opened[-1].failure = ZeroDivisionError("a bug")
            response = client.ask(query(id="unlucky"))
            assert response == {"id": "unlucky", "error": "internal error: ZeroDivisionError: a bug"}
            assert client.ask(query(id="next"))["id"] == "next"
        assert "Traceback" in client.log[0]
        assert all(searcher.is_closed for searcher in backend.opened)

    def test_an_errand_that_fails_does_not_end_the_session(self) -> None:
        backend = FakeBackend()
        backend.clear_cache = lambda: 1 / 0  # type: ignore[method-assign, assignment]
        with SessionClient(backend) as client:
            client.send({"id": "c", "action": "clear_cache"})
            assert client.ask(query())["id"] == "q"
        assert "ZeroDivisionError" in client.log[0]


class TestEnd:
    """How sessions end."""

    def test_a_controller_may_read_slowly(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The responses are more than a pipe holds, and the end comes before the first of them is read."""
        monkeypatch.setattr(server, "END_WAIT", 0.1)
        with SessionClient(FakeBackend(), silence=1.0) as client:
            for number in range(100):
                client.send(query(id=f"{number} {'long' * 1000}", maxVisits=1))
            assert len(client.finish()) == 100

    def test_without_waiting(self) -> None:
        def seconds() -> float:
            with SessionClient(FakeBackend(0.001), quit_without_waiting=True) as client:
                client.send(query(maxVisits=ENDLESS))
                client.send(query(id="other", maxVisits=ENDLESS))
                time.sleep(0.1)
                started = time.monotonic()
                client.finish()
                client.wait()
                return time.monotonic() - started

        require_once(seconds, below=2)

    def test_a_controller_that_stops_reading_ends_the_session(self) -> None:
        class Broken(io.RawIOBase):
            def writable(self) -> bool:
                return True

            def write(self, data: Any) -> int:
                raise BrokenPipeError

        gone = threading.Event()
        output = Output(Broken(), gone.set)  # type: ignore[arg-type]
        output.send({"id": "q"})
        assert gone.wait(60)
        output.send({"id": "q"})
        output.close()

    def test_a_controller_that_does_not_read_gets_fewer_reports_and_every_result(self) -> None:
        may_write, written = threading.Event(), io.BytesIO()

        class Slow(io.RawIOBase):
            def writable(self) -> bool:
                return True

            def write(self, data: Any) -> int:
                assert may_write.wait(60)
                return written.write(data)

        output = Output(Slow(), lambda: None)  # type: ignore[arg-type]
        for number in range(3 * MOST_UNREAD):
            output.send({"id": "q", "turnNumber": number, "isDuringSearch": True})
            output.send({"id": "q", "turnNumber": number, "isDuringSearch": False})
        may_write.set()
        output.close(60)
        responses = [json.loads(line) for line in written.getvalue().splitlines()]
        finished = [response["turnNumber"] for response in responses if not response["isDuringSearch"]]
        assert finished == list(range(3 * MOST_UNREAD))
        assert len(responses) - len(finished) <= MOST_UNREAD
