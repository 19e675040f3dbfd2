"""One line in, one reply out: dispatch, errors, the table of commands."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from documents import SECTIONS
from full_disk import fill_disk_of
from gtp.fake_engine import FakeEngine

from gtp_engine import CancelToken, Choice, Config, Game, TengenError
from gtp_engine.base.streams import MAX_LINE_BYTES
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.protocols.gtp.commands.analyze import MOST_RESTRICTIONS, parse_analysis
from gtp_engine.protocols.gtp.commands.gogui import ANALYZE_COMMANDS, NETWORK_COMMANDS
from gtp_engine.protocols.gtp.protocol import Command, GtpError
from gtp_engine.protocols.gtp.server import COMMANDS, CommandSpec, GtpServer
from gtp_engine.search.report import SearchReport


def make_server(
    provider: Callable[[], Any] = FakeEngine, config: Config | None = None, log: list[str] | None = None
) -> GtpServer:
    return GtpServer(config or Config(), provider, (log if log is not None else []).append)


def no_engine() -> Any:
    raise AssertionError("a handshake command asked for the engine")


def test_list_commands_agrees_with_known_command() -> None:
    server = make_server(no_engine)
    names = server.handle_line("list_commands").removeprefix("= ").split()
    assert names == sorted(set(names))
    assert all(server.handle_line(f"known_command {name}") == "= true\n\n" for name in names)


def test_lizzie_does_not_warn_about_the_version() -> None:
    """It takes the engine for Leela Zero: of the first word's second number Lizzie wants 15, LizzieYzy 17."""
    reply = make_server(no_engine).handle_line("version")
    assert int(reply.strip().split(" ")[1].split(".")[1]) >= 17


def test_too_long_a_line_is_refused_under_its_id() -> None:
    server = make_server(no_engine)
    refused = f"line too long: the limit is {MAX_LINE_BYTES} bytes\n\n"
    assert server.handle_line("42 play b " + "x" * MAX_LINE_BYTES) == f"?42 {refused}"
    assert server.handle_line("é" * (MAX_LINE_BYTES // 2 + 1)) == f"? {refused}"
    assert server.handle_line("1 name" + " " * (MAX_LINE_BYTES - 6)) == "=1 Tengen\n\n"


def test_restrictions_of_an_analysis_are_bounded() -> None:
    """Seventy thousand in a line took half a minute: each was copied for the next one."""
    words = ("avoid", "b", "A1", "1")
    assert len(parse_analysis(words * MOST_RESTRICTIONS, Game(5), is_kata=True).restrictions) == MOST_RESTRICTIONS
    with pytest.raises(GtpError, match=r"^syntax error: too many restrictions: expected 1000 at most$"):
        parse_analysis(words * (MOST_RESTRICTIONS + 1), Game(5), is_kata=True)


@pytest.mark.parametrize(
    ("words", "color", "interval", "least", "most", "flags"),
    [
        ("", None, None, 0, None, []),
        ("0 minmoves 2", None, 0.01, 2, None, []),
        ("W 1e11 maxmoves 3", WHITE, 1e9, 0, 3, []),
        ("black interval 50 ownership TRUE pvVisits 1", BLACK, 0.5, 0, None, ["ownership", "pvVisits"]),
        ("1.5 rootInfo true ownership 1 rootInfo 0 pvVisits False", None, 0.015, 0, None, ["ownership"]),
    ],
)
def test_arguments_of_an_analysis(
    words: str, color: int | None, interval: float | None, least: int, most: int | None, flags: list[str]
) -> None:
    found = parse_analysis(tuple(words.split()), Game(5), is_kata=True)
    assert (found.color, found.interval, found.min_moves, found.max_moves) == (color, interval, least, most)
    assert sorted(found.flags) == flags
    for wrong in ("1.01e11", "interval -1", "b 10 minmoves", "5 5"):
        with pytest.raises(GtpError, match=r"^syntax error"):
            parse_analysis(tuple(wrong.split()), Game(5), is_kata=True)


@pytest.mark.parametrize("line", ["# ", "  \t # 7 name ", " ", "12 "])
def test_a_comment_or_blanks_get_no_reply_however_long(line: str) -> None:
    assert make_server(no_engine).handle_line(line + " " * MAX_LINE_BYTES) == ""
    assert make_server(no_engine).handle_line(line + "#" + "x" * MAX_LINE_BYTES) == ""


def test_an_unknown_exception_is_an_internal_error_and_the_session_continues() -> None:
    log: list[str] = []
    server = make_server(log=log)
    assert server.handle_line("5 clear_cache") == "?5 internal error: ZeroDivisionError: 'a bug?in two lines'\n\n"
    assert "Traceback" in log[0]
    assert "clear_cache" in log[0]
    assert server.handle_line("6 komi 0.5") == "=6 \n\n"
    assert server.handle_line("7 get_komi") == "=7 0.5\n\n"
    assert server.handle_line("8 \ud800") == "?8 unknown command\n\n"


def test_an_exception_after_the_reply_is_logged_and_the_session_continues() -> None:
    class Unable(FakeEngine):
        config = Config()

        def genmove(self, color: int, **options: object) -> Choice:
            report = SearchReport(color, 1, 1, 1.0, (), 0, np.zeros(0), value_black=0.0)
            return Choice(PASS, report)

        def ponder(self, cancel: CancelToken, *, after: Choice) -> None:
            raise RuntimeError("can't start new thread")

    log: list[str] = []
    server = make_server(Unable, log=log)
    assert server.handle_line("1 genmove b") == "=1 pass\n\n"
    assert any("can't start new thread" in line for line in log)
    assert server.handle_line("2 get_komi") == "=2 7.5\n\n"
    assert server.handle_line("gomill-explain_last_move") == "= pass without a search\n\n"


def test_an_error_after_the_stream_has_begun_goes_to_the_log() -> None:
    class Unable(FakeEngine):
        config = Config()

        def genmove(self, color: int, **options: object) -> Choice:
            raise TengenError("no network")

    log: list[str] = []
    assert make_server(Unable, log=log).handle_line("7 kata-search_analyze b") == "=7\n\n"
    assert log == ["no network"]


def test_a_wrong_coordinate_is_refused_before_the_status_of_stones_is_estimated() -> None:
    class Unasked(FakeEngine):
        game = Game(9)

        def outcome(self, cancel: CancelToken) -> object:
            raise AssertionError("an estimate takes seconds")

    assert make_server(Unasked).handle_line("final_status K1").startswith("? invalid coordinate 'K1'")


def test_commands_of_a_handshake_do_not_wait_for_the_engine() -> None:
    def provider() -> Any:
        raise TengenError("asked for the engine")

    arguments = {"COLOR": "b", "VERTEX": "D4", "KIND": "none", "RULES": "japanese", "STATUS": "dead", "KEY": "ko"}
    arguments |= {"NAME": "maxVisits", "JSON": '{"maxVisits":9}'}
    server, early = make_server(provider, Config().with_values({"gtp.kgs_chat": "true"})), []
    for _, spec in sorted(COMMANDS.items()):
        words = [arguments.get(word.rstrip("."), "9") for word in spec.usage.split() if not word.startswith("[")]
        if server.handle_line(f"{spec.name} {' '.join(words)}") != "? asked for the engine\n\n":
            early.append(spec.name)
    assert " ".join(sorted(early)) == (
        "cputime gogui-analyze_commands gogui-interrupt gomill-cpu_time gomill-describe_engine gomill-explain_last_move"
        " kata-list-params kata-list_time_settings kgs-chat kgs-game_over known_command list_commands name"
        " protocol_version quit stop version"
    )


def test_every_module_of_commands_has_a_heading_and_summaries_are_sentences() -> None:
    assert {spec.handler.__module__.rpartition(".")[2] for spec in COMMANDS.values()} == set(SECTIONS)
    for spec in COMMANDS.values():
        assert spec.summary.endswith("."), spec.name
        assert "|" not in spec.summary, spec.name


@pytest.mark.parametrize(
    ("usage", "accepted"),
    [
        ("", {0}),
        ("COLOR", {1}),
        ("COLOR VERTEX", {2}),
        ("WIDTH [HEIGHT]", {1, 2}),
        ("[NUMBER]", {0, 1}),
        ("VERTEX...", {1, 2, 3, 4}),
        ("[COLOR VERTEX]...", {0, 1, 2, 3, 4}),
        ("KIND [SECONDS...]", {1, 2, 3, 4}),
    ],
)
def test_usage_defines_the_number_of_arguments(usage: str, accepted: set[int]) -> None:
    spec = CommandSpec("test", usage, "", cast(Any, None), "syntax error", True, None)

    def accepts(count: int) -> bool:
        try:
            spec.check_count(Command("test", ("x",) * count))
        except GtpError:
            return False
        return True

    assert {count for count in range(5) if accepts(count)} == accepted


def test_the_handshake_waits_for_no_networks_and_kernels() -> None:
    program = (
        "import sys; from gtp_engine.protocols.gtp import session; from gtp_engine.config import Config;"
        "server = session.GtpServer(Config(), lambda: None);"
        "assert server.handle_line('name') and server.handle_line('list_commands');"
        "print(*sys.modules)"
    )
    modules = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert not {"numba", "onnxruntime", "openvino", "rich", "gtp_engine.engine"} & set(modules.split())


def test_the_analyze_menu_holds_commands_that_exist() -> None:
    server = make_server(no_engine)
    for entry in (*NETWORK_COMMANDS, *ANALYZE_COMMANDS):
        kind, label, text = entry.split("/")
        assert re.fullmatch(r"plist|pspairs|(h|hp|p)?string|[cd]board|varc|none|param", kind), entry
        assert label
        assert server.find(text.split()[0]), entry


def test_the_analyze_menu_shows_the_policy_where_there_is_one() -> None:
    rollouts = Config().with_values({"search.search": "rave"})
    assert "policy" not in make_server(no_engine, rollouts).handle_line("gogui-analyze_commands")
    for config in (Config(), rollouts.with_values({"network.model": "net.onnx"})):
        assert "dboard/Policy/tengen-policy" in make_server(no_engine, config).handle_line("gogui-analyze_commands")


def test_printsgf_on_a_full_disk_leaves_the_record_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It emptied the old record."""
    record = tmp_path / "game.sgf"
    record.write_text("(;SZ[9]C[old])")
    fill_disk_of(tmp_path / "unfinished", monkeypatch)
    server = make_server(lambda: SimpleNamespace(to_sgf=lambda cancel: "(;SZ[9])"))
    reply = server.handle_line(f"printsgf {record}")
    assert reply.startswith("? cannot open") and "No space left on device" in reply
    assert record.read_text() == "(;SZ[9]C[old])"
