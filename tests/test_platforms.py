"""Windows and macOS, as far as they can be tried on another system: what is missing there, paths, programs, files."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from package_sources import SCRIPTS, SOURCES, parse

from gtp_engine.arena.match.settings import MatchError
from gtp_engine.arena.tournament.tournament_file import read_description
from gtp_engine.base import files
from gtp_engine.base.errors import ConfigError, shown_path
from gtp_engine.base.files import replacing
from gtp_engine.base.streams import read_lines
from gtp_engine.base.worker_process import join_command, kill_program, own_session, split_command
from gtp_engine.config import Config, NetworkConfig
from gtp_engine.protocols.gtp.commands.sgf import _read_arguments
from gtp_engine.protocols.gtp.protocol import Command, decode_line, parse_line

PATHS = [
    r"C:\Program Files\Go\b10.onnx",
    r"\\server\new\table.onnx",
    "D:/Игра/囲碁 net.onnx",
    "/home/jörg/my nets/b10.onnx",
]

WITHOUT_UNIX = """
import importlib, os, pkgutil, select, signal, sys
# These adapt to any system, and other packages do:
import asyncio, concurrent.futures, multiprocessing.connection, multiprocessing.pool, socket, ssl, subprocess, tempfile
for name in ("aiohttp.web", "click.testing", "filelock", "hypothesis", "matplotlib.pyplot", "numba", "onnx",
             "onnxruntime", "rich.console", "torch"):
    try:
        importlib.import_module(name)
    except ImportError:
        pass
import gtp_engine

for name in ("fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"):
    sys.modules[name] = None
missing = {
    os: "O_NONBLOCK WNOHANG fchmod fork forkpty getegid geteuid getgid getloadavg getpgid getpriority getuid killpg "
        "mkfifo nice openpty posix_fadvise posix_spawn register_at_fork sched_getaffinity sched_setaffinity "
        "sched_yield set_blocking setpgid setpriority setsid setuid statvfs sysconf sysconf_names uname wait wait3",
    select: "POLLERR POLLHUP POLLIN epoll kqueue poll",
    signal: "SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGUSR1 SIGUSR2 SIGWINCH alarm "
            "pause pthread_sigmask setitimer",
}
for module, names in missing.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
sys.platform = "win32"
multiprocessing.connection.PipeConnection = multiprocessing.connection.Connection
failed = []
for module in pkgutil.walk_packages(gtp_engine.__path__, "gtp_engine."):
    if module.name == "gtp_engine.__main__":
        continue
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            failed.append(f"{module.name}: {error!r}")
    except Exception as error:
        failed.append(f"{module.name}: {error!r}")
from gtp_engine.compiled.kernel_cache import cache_root, fallback_root, is_private
from gtp_engine.base.files import data_folder
from gtp_engine.base.machine import describe_machine
from gtp_engine.base.streams import claim_streams
from gtp_engine.people.terminal.key_reader import ignoring_termination, outliving_terminal
for name in ("TENGEN_CACHE_DIR", "TENGEN_DATA_DIR"):
    os.environ.pop(name, None)
os.environ["LOCALAPPDATA"] = "local"
assert str(cache_root()) == str(data_folder()) == os.path.join("local", "tengen")
assert str(fallback_root()).endswith("tengen-cache") and not is_private(fallback_root() / "missing")
assert describe_machine()["cores"]["usable"] == os.cpu_count()
with outliving_terminal(), ignoring_termination():
    pass
assert claim_streams() is not None
print("\\n".join(failed), file=sys.stderr)
os._exit(len(failed))
"""


@pytest.mark.long
def test_every_module_is_imported_where_unix_is_missing() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_UNIX], capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr.strip()) == (0, "")


def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")


@pytest.mark.parametrize("path", PATHS)
def test_a_path_survives_config_files_commands_and_messages(path: str) -> None:
    config = Config(network=NetworkConfig(model=path))
    assert Config.from_toml_text(config.to_toml().replace("\n", "\r\n")) == config
    assert Config.from_toml_text(f"[network]\nmodel = '{path}'").network.model == path
    command = parse_line(decode_line(f'loadsgf "{path}" 12\r'.encode()))
    assert command is not None and _read_arguments(command) == (path, 12)
    assert shown_path(path) == f"'{path}'"
    words = ["gtp-engine", "--model", path, "--level", "5k"]
    assert split_command(join_command(words, "linux")) == words
    quoted = f'"{path}"' if " " in path else path
    assert join_command(words, "win32") == f"gtp-engine --model {quoted} --level 5k"


@pytest.mark.parametrize("text", [r"C:\nets\b10.onnx", r"C:\Users\me\x.onnx", r"C:\games\x.onnx"])
def test_backslashes_in_double_quotes_are_explained(tmp_path: Path, text: str) -> None:
    advice = "; put a path with backslashes in single quotes$"
    with pytest.raises(ConfigError, match=advice):
        Config.from_toml_text(f'[network]\nmodel = "{text}"')
    file = tmp_path / "tournament.toml"
    file.write_text(f'[[engines]]\nname = "a"\ncommand = "{text}"\nx = 1', encoding="utf-8-sig")
    with pytest.raises(MatchError, match=advice):
        read_description(file)
    for mistake in (r'[network]\nmodel = "C:\\nets\\b10.onnx"\nx = 1', "[network]\nmodel = 'C:\\nets'\nx = 1"):
        with pytest.raises(ConfigError) as caught:
            Config.from_toml_text(mistake.replace("\\n", "\n", 1).replace("\\nx", "\nx"))
        assert "backslashes" not in str(caught.value)


def test_a_tournament_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "tournament.toml"
    engines = "".join(f"[[engines]]\r\nname = '{name}'\r\ncommand = 'C:\\{name}.exe'\r\n" for name in "ab")
    file.write_bytes(f"{engines}[[conditions]]\r\nsize = 9\r\nkomi = 7\r\nvisits = 10\r\n".encode("utf-8-sig"))
    assert [entrant.command for entrant in read_description(file).entrants] == [r"C:\a.exe", r"C:\b.exe"]


def test_gtp_lines_may_end_as_on_windows(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    pipe.write_bytes(b"\xef\xbb\xbf7 komi 6.5\r\n\r\nquit\r")
    with pipe.open("rb", buffering=0) as stream:
        commands = [parse_line(decode_line(line)) for line in read_lines(stream)]
    assert commands == [Command("komi", ("6.5",), "6.5", 7), None, Command("quit")]


def test_a_file_that_another_program_reads_is_replaced_later(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    target, move, refusals = tmp_path / "game.json", os.replace, [True, True]

    def refuse(*paths: Path) -> None:
        if refusals:
            refusals.pop()
            raise PermissionError(13, "Permission denied")
        move(*paths)

    monkeypatch.setattr(files.os, "replace", refuse)
    monkeypatch.setattr(files.time, "sleep", lambda seconds: None)
    with pytest.raises(PermissionError), replacing(target) as unfinished:
        unfinished.touch()
    windows(monkeypatch)
    with replacing(target) as unfinished:
        unfinished.touch()
    assert list(tmp_path.iterdir()) == [target]
    refusals += [True] * 10
    with pytest.raises(PermissionError), replacing(target) as unfinished:
        unfinished.touch()
    assert list(tmp_path.iterdir()) == [target]


def test_engines_of_a_match_are_started_and_killed_as_windows_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    killed = []
    windows(monkeypatch)
    monkeypatch.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0x200, raising=False)
    monkeypatch.setattr(subprocess, "run", lambda arguments, **_: killed.append(arguments))
    assert own_session()["creationflags"] == 0x200
    kill_program(123)
    assert killed == [["taskkill", "/T", "/F", "/PID", "123"]]


def uses_encoding_of_system(call: ast.Call) -> bool:
    """Return whether a call reads or writes text in an encoding that the system chooses."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    given = {each.arg: each.value for each in call.keywords}
    values = [each.value for each in (*call.args, *given.values()) if isinstance(each, ast.Constant)]
    if "encoding" in given or "utf-8" in values:
        return False
    if name == "read_text" and any(isinstance(value, str) and "." in value for value in values):
        return False  # a file in the metadata of a distribution: importlib.metadata reads UTF-8
    if name in ("open", "fdopen"):
        modes = [value for value in values if isinstance(value, str) and re.fullmatch("[rwax][+bt]*", value)]
        is_binary = any("b" in mode for mode in modes)
        return not is_binary and (bool(modes) or isinstance(call.func, ast.Name))
    switches = (given.get(name) for name in ("text", "universal_newlines"))
    is_process = any(isinstance(each, ast.Constant) and each.value is True for each in switches)
    return name in ("read_text", "write_text") or is_process


def test_text_is_read_and_written_in_utf_8() -> None:
    found = [
        f"{path.name}:{node.lineno}"
        for path in (*SOURCES, *SCRIPTS)
        for node in ast.walk(parse(path))
        if isinstance(node, ast.Call) and uses_encoding_of_system(node)
    ]
    assert found == []


WITHOUT_ENCODING = """open(path); open(path, 'w'); path.open('a'); path.read_text(); path.write_text(text)
subprocess.run(x, text=True); path.read_text('latin-1')"""
WITH_ENCODING = """open(path, 'rb'); path.open('a', encoding='utf-8'); path.read_text('utf-8'); reply.open()
distribution.read_text('direct_url.json'); web.HTTPBadRequest(text='what')"""


@pytest.mark.parametrize(("code", "expected"), [(WITHOUT_ENCODING, True), (WITH_ENCODING, False)])
def test_calls_without_an_encoding_are_found(code: str, expected: bool) -> None:
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    assert [call for call in calls if uses_encoding_of_system(call) != expected] == []
