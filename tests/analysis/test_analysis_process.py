"""The analysis server as a real process, without a network and with a small one."""

import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from analysis.client import Client, query
from busy_machine import bound, require_once, wait_until
from gtp.processes import EngineProcess
from nn.tiny_networks import v7_network

import gtp_engine

START = 400
"""Seconds after which a process is taken for dead; a first start compiles."""

ENDLESS = 10_000_000


class AnalysisProcess(EngineProcess, Client):
    """A process that speaks the analysis protocol."""

    def __init__(self, *args: str, is_cold: bool = False) -> None:
        EngineProcess.__init__(self, "analysis", *args, stderr=subprocess.PIPE, is_cold=is_cold)
        assert self.process.stdin is not None and self.process.stdout is not None
        Client.__init__(self, self.process.stdin, io.BufferedReader(self.process.stdout), timeout=START)  # type: ignore[arg-type]

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.join()
        super().__exit__()

    def receive(self) -> dict[str, Any]:
        """Return the next response; fails at the end of the process, with its status and what it wrote to stderr."""
        try:
            return super().receive()
        except AssertionError:
            raise AssertionError("the process has ended with status {}:\n{}".format(*self.end())) from None

    def end(self) -> tuple[int, str]:
        """Wait for the process to end; return its exit status and what it wrote to stderr."""
        assert self.process.stderr is not None
        errors = self.process.stderr.read().decode()
        return self.process.wait(timeout=bound(START)), errors


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(v7_network(tmp_path_factory.mktemp("networks") / "tiny.onnx"))


def test_without_a_network() -> None:
    with AnalysisProcess("--threads", "1", "--search", "rave") as server:
        server.send(query(id="a", maxVisits=50, includeOwnership=True, includePolicy=True))
        server.send(query(id="b", boardXSize=13, maxVisits=20))
        avoid = [{"player": "B", "moves": ["E5", "pass"], "untilDepth": 8}]
        server.send(query(id="c", maxVisits=200, avoidMoves=avoid))
        received = server.finish()
        status, errors = server.end()
    (warning,) = (response for response in received if "warning" in response)
    answers = {response["id"]: response for response in received if response is not warning}
    assert (warning["id"], warning["field"]) == ("a", "includePolicy")
    assert len(received) == 4, "in any order: a position takes turns with others once it has taken a second"
    assert {name: answer["rootInfo"]["visits"] for name, answer in answers.items()} == {"a": 50, "b": 20, "c": 200}
    assert not {info["move"] for info in answers["c"]["moveInfos"]} & {"E5", "pass"}
    assert len(answers["a"]["ownership"]) == 81
    assert all(info["pv"][0] == info["move"] for info in answers["a"]["moveInfos"])
    assert (status, "Traceback" in errors) == (0, False)
    assert "no network" in errors


def test_with_a_network(network: str) -> None:
    """With a seed, the same query has the same answer."""
    wanted = ("Ownership", "OwnershipStdev", "MovesOwnership", "MovesOwnershipStdev", "Policy", "PVVisits")
    everything = {f"include{name}": True for name in (*wanted, "NoResultValue")}
    with AnalysisProcess("-model", network, "--seed", "1") as server:
        first, second = (server.ask(query(moves=[["B", "E5"]], maxVisits=30)) for _ in range(2))
        assert first == second
        server.send(query(moves=[["B", "E5"], ["W", "C3"]], analyzeTurns=[0, 2], maxVisits=40, **everything))
        avoid = [{"player": "B", "moves": ["E5", "pass"], "untilDepth": 1}]
        server.send(query(id="avoid", maxVisits=60, avoidMoves=avoid))
        allow = [{"player": "B", "moves": ["E5", "C3"], "untilDepth": 1}]
        server.send(query(id="allow", maxVisits=60, allowMoves=allow))
        server.send({"id": "models", "action": "query_models"})
        responses = {(response["id"], response.get("turnNumber")): response for response in server.finish()}
        status, errors = server.end()
    assert (status, "Traceback" in errors) == (0, False)
    for turn in (0, 2):
        response = responses["q", turn]
        assert response["rootInfo"]["visits"] == 40
        policy = response["policy"]
        assert sum(probability for probability in policy if probability >= 0) == pytest.approx(1, abs=1e-3)
        assert policy.count(-1) == turn
        for field in ("ownership", "ownershipStdev"):
            assert len(response[field]) == 81
        for info in response["moveInfos"]:
            assert len(info["pv"]) == len(info["pvVisits"])
            assert len(info["ownership"]) == len(info["ownershipStdev"]) == 81
    assert not {info["move"] for info in responses["avoid", 0]["moveInfos"]} & {"E5", "pass"}
    assert {info["move"] for info in responses["allow", 0]["moveInfos"]} <= {"E5", "C3"}
    (model,) = responses["models", None]["models"]
    assert model["name"] and model["maxBatchSize"] > 0
    assert (isinstance(model["version"], int), model["usingFP16"]) == (True, "false")


def test_a_first_start_answers_while_it_compiles(network: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first analysis used to wait for the compiler, a minute on an idle machine."""
    monkeypatch.setenv("TENGEN_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    with AnalysisProcess("-model", network, "-quit-without-waiting", is_cold=True) as server:
        answer = server.ask(query(moves=[["B", "E5"]], maxVisits=3))
        server.process.stdin.close()  # type: ignore[union-attr]
        status, errors = server.end()
    assert (answer["rootInfo"]["visits"], status) == (3, 0)
    assert "Analysis is slow until everything is compiled." in errors
    assert not list(tmp_path.rglob("complete-*"))


def test_an_endless_search_is_terminated_at_once(network: str) -> None:
    request = {"id": "t", "action": "terminate", "terminateId": "ponder"}

    def seconds(server: AnalysisProcess) -> float:
        """Return how long the end takes: 0.05 s and a batch on an idle machine."""
        server.send(query(id="ponder", maxVisits=ENDLESS, reportDuringSearchEvery=0.1))
        reports = [server.receive() for _ in range(3)]
        assert all(report["isDuringSearch"] for report in reports)
        started = time.monotonic()
        received = [server.ask(request)]
        while received[-1].get("isDuringSearch", True):
            received.append(server.receive())
        ended = time.monotonic()
        assert request in received or server.receive() == request
        return ended - started

    with AnalysisProcess("--model", network) as server:
        server.ask(query(maxVisits=2))
        require_once(lambda: seconds(server), below=2)
        assert server.finish() == []
        assert server.end()[0] == 0


@pytest.mark.skipif(os.name == "nt", reason="POSIX hang-up of pipes")
def test_a_controller_that_dies_ends_an_endless_search() -> None:
    """The shell in between sends a query and dies at once; both ends of the pipes are closed then."""
    line = json.dumps(query(maxVisits=ENDLESS))
    code = (
        "import subprocess, sys\n"
        "server = subprocess.Popen([sys.executable, '-m', 'gtp_engine', 'analysis'], stdin=-1, stdout=-1, bufsize=0)\n"
        f"server.stdin.write(b'{line}' + b'\\n')\n"
        "print(server.pid)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(gtp_engine.__file__).parent.parent)}
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment, check=True, timeout=bound(START)
    )
    pid = int(done.stdout.split()[0])
    wait_until(lambda: not _is_alive(pid), START)


def _is_alive(pid: int) -> bool:
    """Return whether a process that is not our child is still running."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_ogatak_meets_katago(network: str, tmp_path: Path) -> None:
    """Its command line and first queries (`src/modules/engine.js`); it warns of boards above 19 that are analysed."""
    (tmp_path / "a.cfg").write_text("maxVisits = 10\nnumAnalysisThreads = 2\n")
    with AnalysisProcess("-config", str(tmp_path / "a.cfg"), "-model", network, "-quit-without-waiting") as server:
        version = server.ask({"id": "query_version", "action": "query_version"})["version"]
        assert version == "1.17.2", "which decides about the fields of queries"
        tested = query(id="test_bs29", rules="Chinese", komi=None, boardXSize=29, boardYSize=29, maxVisits=1)
        assert "error" in server.ask(tested)
        asked = query(rules="Chinese", overrideSettings={"wideRootNoise": 0.02}, includeOwnership=True, maxVisits=9)
        assert server.ask(asked)["rootInfo"]["visits"] == 9
        server.send(query(maxVisits=ENDLESS))
        server.finish()
        assert server.end()[0] == 0, "without waiting"


def test_the_error_for_a_bad_network_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "net.bin.gz").write_bytes(b"nothing")
    with AnalysisProcess("-model", str(tmp_path / "net.bin.gz")) as server:
        status, errors = server.end()
    assert status == 2
    assert errors.splitlines()[-1].startswith("Error: net.bin.gz: the file ends too early: expected")
    assert "Traceback" not in errors
