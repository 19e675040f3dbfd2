"""What commands cost in Python: calls, and the files they go through."""

import os
import re
import subprocess
import sys
from pathlib import Path

from shared_files import shared_file

MOST = {"genmove w": (2600, 42), "kata-set-param maxVisits 9": (200, 20), "kata-get-params": (3000, 10)}
"""Calls of functions of the package, and its files, by the command."""


def test_commands_take_few_calls_in_few_files() -> None:
    here = {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    program = [sys.executable, str(shared_file("tools/calls.py")), *MOST]
    printed = subprocess.run(program, env=os.environ | here, capture_output=True, text=True, check=True).stdout
    counts = [*map(int, re.findall(r"(\d+) (?:calls|files)", printed))]
    assert len(counts) == 2 * len(MOST)
    assert all(count <= most for count, most in zip(counts, sum(MOST.values(), ()), strict=True)), printed
