"""After a warm-up nothing has to be compiled during a game."""

import os
import subprocess
import sys
from pathlib import Path

import gtp_engine

ROOT = Path(gtp_engine.__file__).parents[1]

GAME = """
boardsize 7
fixed_handicap 2
clear_board
set_position b A1 b B1 w C3
clear_board
komi 5
{moves}
final_score
final_status_list dead
kata-raw-nn 0
kata-set-rules japanese
clear_board
{moves}
final_score
undo
lz-analyze 10
stop
quit
"""


def compiled(cache: Path) -> set[str]:
    return {path.name for path in cache.rglob("*.nbc")}


def test_a_game_compiles_nothing(tmp_path: Path) -> None:
    """`captures_something` used to be compiled in the middle of the first game."""
    environment = {**os.environ, "TENGEN_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    environment.pop("NUMBA_CACHE_DIR", None)
    engine = [sys.executable, "-m", "gtp_engine"]
    subprocess.run([*engine, "warmup"], env=environment, check=True, capture_output=True)
    before = compiled(tmp_path)
    moves = "\n".join(["genmove b", "genmove w"] * 30)
    played = subprocess.run(
        [*engine, "gtp", "--visits", "20", "--no-resign"],
        input=GAME.format(moves=moves),
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    assert "PASS" in played.stdout.upper()
    assert "?" not in played.stdout
    assert len(before) > 100
    assert compiled(tmp_path) - before == set()
