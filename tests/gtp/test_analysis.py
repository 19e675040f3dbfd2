"""Analyses in a session: reports until the next line, which ends them at once, even with a slow network."""

import io
import os
import queue
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import pytest
from busy_machine import bound, require_once, wait_for_readers, wait_until
from fake_evaluators import FakeEvaluator
from gtp.processes import GtpProcess
from knowing_evaluator import SlowEvaluator

from gtp_engine import CancelToken, Choice, Config, Engine, Rules
from gtp_engine.go.coords import board_points
from gtp_engine.people.review import Effort, GameAnalysis, read_game
from gtp_engine.protocols.gtp.server import GtpServer
from gtp_engine.protocols.gtp.session import run_session

WAIT = 400.0
"""Seconds to wait for any output on an idle machine; the first search may have to be compiled."""

LATENCY = 0.05
"""Seconds within which a line has to end an analysis."""

FIRST_LINE = 0.5
"""Seconds within which an analysis has to send its first line."""


class Session:
    """A session of an engine in this process, on pipes; a thread reads its output line by line."""

    def __init__(self, output: BinaryIO, input: BinaryIO) -> None:
        self._input = input
        self._lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._read, args=(output,), daemon=True).start()

    def send(self, text: str) -> None:
        self._input.write(text.encode())

    def line(self) -> bytes:
        """Return the next line without its end."""
        return self._lines.get(timeout=bound(WAIT))

    def rest(self) -> list[bytes]:
        """Return the lines up to the blank one that ends a reply."""
        return list(iter(self.line, b""))

    def ask(self, line: str) -> list[bytes]:
        """Return the lines of the reply to a line, or of the one that it ends."""
        self.send(f"{line}\n")
        return self.rest()

    def time_to_end(self, line: str) -> float:
        """Return the seconds until a reply has ended because this line was sent."""
        started = time.monotonic()
        self.ask(line)
        return time.monotonic() - started

    def _read(self, output: BinaryIO) -> None:
        with output:
            for line in output:
                self._lines.put(line.removesuffix(b"\n"))


@contextmanager
def session(engine: Engine) -> Iterator[Session]:
    """Run a session until the end of the block."""
    (stdin, to_stdin), (from_stdout, stdout) = os.pipe(), os.pipe()
    reader, writer = os.fdopen(stdin, "rb", 0), os.fdopen(stdout, "wb", 0)
    input, output = os.fdopen(to_stdin, "wb", 0), os.fdopen(from_stdout, "rb")
    server = GtpServer(engine.config, lambda: engine, print)
    thread = threading.Thread(target=run_session, args=(server, reader, writer), daemon=True)
    thread.start()
    try:
        yield Session(output, input)
    finally:
        input.close()
        thread.join(bound(WAIT))
        assert not thread.is_alive()
        engine.close()
        writer.close()
        wait_for_readers()
        reader.close()


def make(evaluator: FakeEvaluator | SlowEvaluator, **values: str) -> Engine:
    options = {"game.board_size": "9", "search.visits": "30", "search.seed": "1"}
    return Engine(Config().with_values({**options, **values}), log=print, evaluator=evaluator)


@pytest.mark.parametrize(
    ("ending", "replies"),
    [
        ("", []),
        ("  \r", []),
        ("# a comment", []),
        ("# interrupt", []),
        ("1 name", [b"=1 Tengen"]),
        ("nonsense", [b"? unknown command"]),
    ],
)
def test_any_line_ends_an_analysis(ending: str, replies: list[bytes]) -> None:
    with session(make(FakeEvaluator())) as gtp:
        gtp.send("7 kata-analyze b 1 maxmoves 2\n")
        assert gtp.line() == b"=7"
        for _ in range(3):
            assert gtp.line().startswith(b"info move ")
        assert all(line.startswith(b"info ") for line in gtp.ask(ending))
        if replies:
            assert gtp.rest() == replies
        assert gtp.ask("2 protocol_version") == [b"=2 2"]


def test_a_slow_network_delays_neither_the_end_nor_commands_that_do_not_need_it() -> None:
    """Each batch takes half a second: only a command that searches waits for it."""

    def seconds(gtp: Session) -> float:
        """Return how long the end takes, or the reply to a command after it if that takes longer."""
        gtp.send("kata-analyze b 10\n")
        assert gtp.line() == b"="
        time.sleep(0.1)
        return max(gtp.time_to_end(""), gtp.time_to_end("name"))

    with session(make(SlowEvaluator(0.5))) as gtp:
        gtp.ask("get_komi")
        require_once(lambda: seconds(gtp), below=LATENCY)


def test_a_move_that_is_reported_on_is_not_interrupted() -> None:
    with session(make(SlowEvaluator(0.02))) as gtp:
        gtp.send("1 kata-genmove_analyze b 1 maxmoves 1\n\n2 name\n")
        first, *lines, last = gtp.rest()
        assert first == b"=1"
        assert len(lines) > 1
        assert all(line.startswith(b"info move ") for line in lines)
        assert last.startswith(b"play ")
        assert gtp.rest() == [b"=2 Tengen"]
        assert gtp.ask("move_history") == [b"= black " + last.removeprefix(b"play ")]


def test_a_cancellable_search_ends_with_its_move_if_not_cancelled() -> None:
    with session(make(FakeEvaluator())) as gtp:
        first, *lines, last = gtp.ask("1 kata-search_analyze_cancellable b 1 maxmoves 1")
        assert first == b"=1"
        assert lines[-1].startswith(b"info move ")
        assert last.startswith(b"play ")
        assert gtp.ask("2 kata-search_cancellable w")[0].startswith(b"=2 ")
        assert gtp.ask("move_history") == [b"= "]


def test_a_cancelled_search_is_reported_at_once() -> None:
    with session(make(SlowEvaluator(0.5), **{"search.visits": "1000000"})) as gtp:
        gtp.send("1 kata-search_cancellable b\n")
        time.sleep(0.1)
        assert gtp.ask("") == [b"=1 cancelled"]
        gtp.send("2 kata-search_analyze_cancellable b 10\n")
        time.sleep(0.1)
        assert gtp.ask("3 name")[-1] == b"play cancelled"
        assert gtp.rest() == [b"=3 Tengen"]


def test_pondering_ends_with_the_next_line() -> None:
    evaluator = FakeEvaluator()
    with session(make(evaluator, **{"time.ponder": "true"})) as gtp:
        gtp.ask("genmove b")
        before = evaluator.rows
        wait_until(lambda: evaluator.rows > before)
        gtp.ask("name")
        gtp.ask("clear_cache")  # waits for what is running
        after = evaluator.rows
        time.sleep(0.1)
        assert evaluator.rows == after


@pytest.mark.parametrize("command", ["genmove b", "KATA-Genmove_analyze b 10 ownership true", "cgos-genmove_analyze b"])
def test_pondering_begins_when_the_move_has_been_sent(command: str) -> None:
    """A search beside the thread that replies would delay the reply, on a busy machine by tenths of a second."""
    sent, pondered_after = [], []

    class PonderingEngine(Engine):
        def ponder(self, cancel: CancelToken | None = None, *, after: Choice | None = None) -> None:
            pondered_after.append("".join(sent))

    config = Config().with_values({"game.board_size": "7", "search.visits": "8", "time.ponder": "true"})
    with PonderingEngine(config, evaluator=FakeEvaluator()) as engine:
        server = GtpServer(engine.config, lambda: engine, print)
        server.answer(command.encode(), sent.append)
        assert pondered_after == ["".join(sent)]
        assert sent[-1].endswith("\n\n")
        for other in ("name", "kata-search b", "play w A1", "genmove x"):
            server.answer(other.encode(), sent.append)
        assert len(pondered_after) == 1, "only after a move of ours that was played"
        for move in (b"play b B1", b"play b C1"):
            server.answer(move, sent.append)
        assert len(pondered_after) == 2, "the controller has played the move that kata-search chose"


def test_the_end_of_the_input_ends_an_analysis() -> None:
    stdout = io.BytesIO()
    with make(FakeEvaluator()) as engine:
        run_session(GtpServer(engine.config, lambda: engine, print), io.BytesIO(b"1 kata-analyze 1\n"), stdout)
        assert stdout.getvalue().startswith(b"=1\n") and stdout.getvalue().endswith(b"\n\n")


@contextmanager
def serving(evaluator: FakeEvaluator | None = None, **values: str) -> Iterator[GtpServer]:
    """Yield a server whose engine is closed after the block."""
    with make(evaluator or FakeEvaluator(), **values) as engine:
        yield GtpServer(engine.config, lambda: engine, print)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `handle_line` wait for the first line of a reply, however slow the machine is."""
    monkeypatch.setattr("gtp_engine.protocols.gtp.server.FIRST_LINE_TIMEOUT", bound(WAIT))


def test_every_symmetry_has_its_own_block() -> None:
    """KataGo names all eight on a rectangle, too, where the last four exchange no rows and columns."""
    with serving() as server:
        for size in ("9", "9 7"):
            server.handle_line(f"boardsize {size}")
            reply = server.handle_line("kata-raw-nn All")
            blocks = [f"symmetry {number}" for number in range(8)]
            assert [line for line in reply[2:].split("\n") if line.startswith("symmetry")] == blocks
            assert (reply.count("\n\n"), reply.count("whiteOwnership")) == (1, 8)


@pytest.mark.usefixtures("patient")
def test_without_a_network_moves_are_left_out_and_nothing_is_raw() -> None:
    with Engine(Config().with_values({"game.board_size": "5", "search.visits": "200"}), evaluator=None) as engine:
        server = GtpServer(engine.config, lambda: engine, print)
        for command in ("kata-analyze", "lz-genmove_analyze", "kata-search_analyze"):
            reply = server.handle_line(f"{command} b 10 allow b B2,pass 3")
            moves = set(re.findall(r"info move (\S+)", reply))
            assert moves
            assert moves <= {"B2", "pass"}
            server.handle_line("clear_board")
        assert server.handle_line("kata-raw-nn 0") == "? no network is loaded; set network.model (--model FILE)\n\n"
        assert server.handle_line("kata-get-models") == "= []\n\n"


def test_the_network_of_the_board_is_named() -> None:
    evaluator = FakeEvaluator(names_by_board={(5, 5): "of this board"})
    with Engine(Config().with_values({"game.board_size": "5"}), evaluator=evaluator) as engine:
        server = GtpServer(engine.config, lambda: engine, print)
        assert '"name":"of this board"' in server.handle_line("kata-get-models")
        server.handle_line("boardsize 6")
        assert '"name":"fake' in server.handle_line("kata-get-models")
        for size, name in ((5, "of this board"), (6, evaluator.info.name)):
            line = read_game(f"(;SZ[{size}];B[aa])".encode(), rules=Rules())
            assert GameAnalysis(engine.config, evaluator, Effort(visits=1)).network(line) == name


def reported_moves(server: GtpServer, line: str) -> list[str]:
    """Return the moves in the last report of the reply to a line."""
    reply = server.handle_line(line)
    assert reply.startswith("=")
    return re.findall(r"info move (\S+)", [text for text in reply.split("\n") if text.startswith("info")][-1])


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    "command",
    (
        *("lz-analyze", "kata-analyze", "lz-genmove_analyze", "kata-genmove_analyze", "kata-search_analyze"),
        "kata-search_analyze_cancellable",
    ),
)
def test_moves_left_out_are_never_reported_and_a_single_one_is_searched(command: str) -> None:
    """A search with one move to choose from ended before it was tried, and `minmoves` listed moves left out."""
    with serving(**{"search.visits": "5"}) as server:
        assert reported_moves(server, f"{command} w 1 allow w C3 1") == ["C3"]
        server.handle_line("clear_board")
        assert reported_moves(server, f"{command} w 1 minmoves 3 allow w C3 1") == ["C3"]
        server.handle_line("clear_board")
        assert set(reported_moves(server, f"{command} b 1 minmoves 9 allow b C3,D4,pass 2")) == {"C3", "D4", "pass"}
        server.handle_line("clear_board")
        moves = reported_moves(server, f"{command} b 1 minmoves 99 avoid b C3 1 avoid b D4,pass 3")
        assert len(moves) > 70 and not {"C3", "D4", "pass"} & set(moves)


def test_as_many_moves_are_reported_as_asked_for_in_a_symmetric_position() -> None:
    """Moves that mirror others were missing, unless the other one was searched."""
    with serving() as server:
        moves = reported_moves(server, "kata-search_analyze b minmoves 99")
        assert len(moves) == len(set(moves)) == 82


def test_the_prior_is_the_one_that_the_search_used() -> None:
    """It was the policy's, which the root's temperature flattens; moves that mirror others had their own."""
    with serving() as server:
        for temperature in ("1", "100"):
            server.handle_line(f"kata-set-param rootPolicyTemperature {temperature}")
            reply = server.handle_line("kata-search_analyze b minmoves 30")
            moves = re.findall(r"info move (\S+) .*? prior (\S+) .*?(?:isSymmetryOf (\S+) )?order", reply)
            priors = {move: float(prior) for move, prior, _ in moves}
            assert all(priors[move] == priors[original] for move, _, original in moves if original)
            assert (max(priors.values()) < 1.2 / 82) == (temperature == "100")


def test_ownership_of_every_move_and_its_deviation_on_request() -> None:
    with serving() as server:
        reply = server.handle_line(
            "kata-search_analyze b movesOwnership true movesOwnershipStdev true ownershipStdev true"
        )
        *moves, last = reply.split("info move ")[1:]
        for words in (move.split() for move in (*moves, last.split(" ownershipStdev ")[0])):
            owned, deviation = words.index("movesOwnership"), words.index("movesOwnershipStdev")
            assert deviation - owned == len(words) - deviation == 1 + 81
            assert all(0 <= float(value) <= 1 for value in words[deviation + 1 :])
        assert len(last.split(" ownershipStdev ")[1].split("\n")[0].split()) == 81
        assert "wnership" not in server.handle_line("kata-search_analyze b")
        reply = server.handle_line("kata-search_analyze b movesOwnership true")
        assert reply.count("movesOwnership") == reply.count("info move") > 1


def test_tables_of_what_a_search_knows() -> None:
    log: list[str] = []
    with make(FakeEvaluator()) as engine:
        server = GtpServer(engine.config, lambda: engine, log.append)
        assert "N " not in server.handle_line("debug_moves"), "nothing was searched"
        move = server.handle_line("Kata-Search_Debug b").split()[1]
        table = log[-1].splitlines()
        assert "Root visits: 30" in table and any(line.startswith(f"{move:<3} : T ") for line in table)
        reply = server.handle_line("debug_moves")
        assert reply.startswith("= ") and "\n\n" not in reply[:-2]
        root, side, *moves = [line for line in reply.splitlines() if ": T " in line or line.startswith("---")]
        assert root.startswith(": T ") and " N      30  -- " in root and side == "---Black(^)---"
        visits = [int(line.split(" N ")[1].split()[0]) for line in moves]
        assert sum(visits) == 29 and visits == sorted(visits, reverse=True)
        best = moves[0].split()[0]
        child = server.handle_line(f"debug_moves {best} rawstats")
        assert f" N {visits[0]:7d}  -- " in child and "---White(^)---" in child
        assert "last " + best in child
        assert "whiteWin 0." in child and "shorttermScoreError" in child and "policy" not in child
        server.handle_line(f"play b {best}")
        assert f" N {visits[0]:7d}  -- " in server.handle_line("debug_moves"), "the root follows the game"
        assert server.handle_line("debug_moves D4 D4").startswith("? illegal move")
        assert server.handle_line("debug_moves Z1").startswith("? invalid ")
        assert re.fullmatch(r"= \S+\n\n", server.handle_line("genmove_debug w")) and "Tree:" in log[-1]


def test_gogui_is_shown_what_a_short_search_found() -> None:
    with serving(**{"game.board_size": "5", "search.visits": "200"}) as server:
        server.handle_line("play b C3")
        engine, report = server.engine, server.engine.search(600.0)  # to its visits, which the tree keeps
        moves = [f"{engine.game.vertex(move.point)} {100 - 50 * (1 + move.value_black):.1f}" for move in report.moves]
        assert len(moves) > 10 and server.handle_line("tengen-top_moves") == f"= {' '.join(moves[:10])}\n\n"
        line = " ".join(map(engine.game.vertex, report.moves[0].pv))
        assert server.handle_line("tengen-pv w").upper() == f"= {line}\n\n".upper()
        reply = server.handle_line("tengen-winrate")
        winrate, lead = 100 * report.winrate, -report.lead_black
        assert reply == f"= Winrate: white {winrate:.1f}%\nLead: white {lead:+.1f}\nVisits: {report.visits}\n\n"
        move, choice = server.handle_line("genmove w").strip("= \n"), server.last_choice
        assert choice is not None and choice.report.best is not None
        found = f"winrate {100 * choice.report.winrate:.1f}% after {choice.report.visits} visits"
        line = " ".join(map(engine.game.vertex, choice.report.best.pv))
        assert server.handle_line("gomill-explain_last_move") == f"= {move}, {found}, expected {line}\n\n"
        server.handle_line("undo")
        owners = [float(word) for word in server.handle_line("tengen-ownership").removeprefix("= ").split()]
        assert owners == pytest.approx(report.ownership_black[list(board_points(5, 5))], abs=6e-3)


def first_and_last(engine: GtpProcess) -> tuple[float, float]:
    """Return how long an analysis takes to report, and then to end."""
    assert engine.process.stdout is not None
    started = time.monotonic()
    engine.send(b"1 kata-analyze b 100\n")
    received = b""
    while b"info" not in received:
        received += (read := engine.process.stdout.read(1 << 16))
        assert read, "the process has ended"
    first = time.monotonic() - started
    started = time.monotonic()
    engine.send(b"\n")
    while not received.endswith(b"\n\n"):
        received += (read := engine.process.stdout.read(1 << 16))
        assert read, "the process has ended"
    return first, time.monotonic() - started


@pytest.mark.skipif(os.name == "nt", reason="POSIX pipes")
def test_a_process_reports_soon_and_stops_at_once() -> None:
    """And plays with the network that ships; the last line lacks its end."""
    with GtpProcess("--board-size", "9", "--visits", "8") as engine:
        assert engine.ask(b"get_komi\n") == b"= 7.0\n\n"
        require_once(lambda: first_and_last(engine)[0], below=FIRST_LINE)
        require_once(lambda: first_and_last(engine)[1], below=LATENCY)
        output, _, status = engine.finish(b"2 kata-raw-nn 0\r\n3 genmove b\r\n4 get_komi")
    network, move, *rest = output.split(b"\n\n")
    assert (rest, status) == ([b"=4 7.0", b""], 0)
    assert network.startswith(b"=2 symmetry 0\nwhiteWin ") and move.startswith(b"=3 ")
