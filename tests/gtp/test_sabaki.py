"""The GTP client of the Sabaki board (npm's @sabaki/gtp) drives the engine; `sabaki/client.mjs` plays its part.

It starts the engine with the arguments that Sabaki's guide has users enter for KataGo.

Needs node and, once, `npm install --prefix tests/gtp/sabaki`.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from busy_machine import bound
from nn.katago_files import NetworkFile

from gtp_engine import __version__

FOLDER = Path(__file__).parent / "sabaki"
INSTALL = "npm install --prefix tests/gtp/sabaki"


def rows(board: str) -> dict[int, str]:
    """Return the rows of a board as showboard prints it, by number, with . X O only."""
    found = {}
    for line in board.split("\n"):
        words = line.replace("(", " ").replace(")", " ").replace("+", ".").split()
        if words[0].isdigit() and words[0] == words[-1]:
            found[int(words[0])] = "".join(words[1:-1])
    return found


def test_sabaki_drives_the_engine(tmp_path: Path) -> None:
    """It waits for no reply at the start, and sends hundreds of commands at once."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    if not (FOLDER / "node_modules" / "@sabaki" / "gtp").is_dir():
        pytest.skip(f"@sabaki/gtp is not installed: run {INSTALL}")
    (tmp_path / "gtp.cfg").write_text("maxVisits = 20\nnumSearchThreads = 2\n")
    (tmp_path / "net.bin.gz").write_bytes(NetworkFile(15, seed=3).bytes(gzipped=True))
    arguments = ["gtp", "-model", str(tmp_path / "net.bin.gz"), "-config", str(tmp_path / "gtp.cfg")]
    command = [node, str(FOLDER / "client.mjs"), sys.executable, "-m", "gtp_engine", *arguments]
    environment = {**os.environ, "TENGEN_DATA_DIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=bound(180), env=environment)
    assert done.returncode == 0, done.stderr
    report: Any = json.loads(done.stdout)
    name, version, protocol, commands, time_settings, rules = report["startup"]
    assert (name, protocol, time_settings, rules) == ("KataGo-compatible Tengen", "2", "", "")
    assert version == f"1.17.2 (Tengen {__version__})"
    assert {"play", "undo", "set_free_handicap", "rectangular_boardsize"} <= set(commands.split("\n"))
    assert not {"analyze", "genmove_analyze"} & set(commands.split("\n"))
    board = rows(report["synced"])
    assert (board[3], board[5], board[7]) == ("..X...X..", "....O....", "..O...X..")
    board = rows(report["resynced"])
    assert (board[3], board[5], board[6], board[7]) == ("..X......", ".........", "...X.....", "..O...X..")
    board = rows(report["rectangle"])
    assert (len(board), board[4]) == (13, "...XX....")
    assert report["trackedMove"] == ["B", report["move"].upper()]
    assert report["error"] == ["? illegal move: D4 is occupied"]
    assert (report["inOrder"], report["komi"], report["exitCode"]) == (True, "297.0", 0)
