"""The first start after an installation: the engine plays while another process compiles."""

import subprocess
from pathlib import Path

import pytest
from gtp.processes import GtpProcess

from gtp_engine.config import Config
from gtp_engine.engine import Engine
from gtp_engine.engine.decision import COMPILING_SECONDS, COMPILING_VISITS, while_compiling
from gtp_engine.engine.kernels import KernelLoader
from gtp_engine.go.constants import BLACK
from gtp_engine.kernel_cache import ROLLOUTS
from gtp_engine.time_manager import TimeBudget

SET_UP = b"boardsize 7\nfixed_handicap 2\nkomi 0.5\nkata-set-rules japanese\nplay w d4\nundo\nplay w d4\nshowboard\n"


def test_a_first_start_sets_up_and_plays_while_it_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`boardsize` used to wait a minute for the compiler; the end of stderr shows that no compiler is left behind."""
    monkeypatch.setenv("TENGEN_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    with GtpProcess("--visits", "5", stderr=subprocess.PIPE, is_cold=True) as engine:
        output, errors, status = engine.finish(SET_UP + b"genmove b\nquit\n")
    *set_up, move, end = output.decode().split("\n\n")[:-1]
    assert status == 0 and len(set_up) == 8
    assert all(reply.startswith("=") for reply in (*set_up, move, end))
    assert "First start: compiling" in errors.decode()
    assert "Still compiling" in errors.decode() and " visits, " in errors.decode()
    assert not list(tmp_path.rglob("complete-*"))


def test_a_search_while_compiling_is_small() -> None:
    assert while_compiling(TimeBudget(60.0, 120.0, 0.5)) == TimeBudget(COMPILING_SECONDS, COMPILING_SECONDS, 0.5)
    assert while_compiling(TimeBudget(1.0, 2.0)) == TimeBudget(1.0, 2.0)
    engine, loader = Engine(Config().with_values({"game.board_size": 9})), KernelLoader(ROLLOUTS, print)
    loader.is_compiling = True
    engine.share_kernels(loader)
    assert engine.genmove(BLACK).report.visits == COMPILING_VISITS[ROLLOUTS]
    engine.close()
