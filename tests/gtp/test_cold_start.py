"""The first start after an installation: the engine plays while another process compiles."""

import re
import subprocess
from pathlib import Path

import pytest
from fake_evaluators import FakeEvaluator
from gtp.processes import GtpProcess

from gtp_engine import CancelToken, Config, Engine, TimeSettings
from gtp_engine.engine.kernels import KernelLoader
from gtp_engine.engine.move_choice import COMPILING_ROLLOUTS
from gtp_engine.engine.shared_engines import SharedEngines
from gtp_engine.engine.time_manager import TimeBudget
from gtp_engine.go.constants import BLACK

SET_UP = b"boardsize 7\nfixed_handicap 2\nkomi 0.5\nkata-set-rules japanese\nplay w d4\nundo\nplay w d4\nshowboard\n"


def test_a_first_start_sets_up_and_plays_while_it_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENGEN_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    with GtpProcess("--visits", "5", stderr=subprocess.PIPE, is_cold=True) as engine:
        output, errors, status = engine.finish(SET_UP + b"genmove b\nquit\n")
    *set_up, move, end = output.decode().split("\n\n")[:-1]
    assert status == 0 and len(set_up) == 8
    assert all(reply.startswith("=") for reply in (*set_up, move, end))
    assert "First start: compiling" in errors.decode()
    assert "Still compiling" in errors.decode() and re.search(r"visits \d+, ", errors.decode())
    assert not list(tmp_path.rglob("complete-*"))


def test_a_search_while_compiling_is_small() -> None:
    assert TimeBudget(60.0, 120.0, 0.5).at_most(4.0) == TimeBudget(4.0, 4.0, 0.5)
    assert TimeBudget(1.0, 2.0).at_most(4.0) == TimeBudget(1.0, 2.0)
    engine = Engine(Config().with_values({"game.board_size": 9}), evaluator=None)
    loader = KernelLoader("rollouts", print)
    loader.is_compiling = True
    engine.kernels.loader = loader
    assert engine.genmove(BLACK).report.visits == COMPILING_ROLLOUTS
    engine.close()


class Compiling(KernelLoader):
    """A loader whose kernels are being compiled until it is waited for."""

    def __init__(self) -> None:
        super().__init__("a start", print)
        self.is_compiling = True

    def wait(self, cancel: CancelToken | None = None) -> None:
        """Note that everything is compiled now."""
        self.is_compiling = False


@pytest.mark.parametrize(
    ("values", "settings", "waits"),
    [
        ({"search.seed": "1", "search.visits": "40"}, TimeSettings.none(), True),
        ({"search.seed": "1", "search.visits": "40"}, TimeSettings.absolute(600.0), False),
        ({"search.seed": "1", "search.visits": "40", "time.time_per_move": "60"}, TimeSettings.none(), False),
        ({"search.visits": "40"}, TimeSettings.none(), False),
        ({"search.seed": "1"}, TimeSettings.none(), False),
    ],
)
def test_a_search_that_is_to_repeat_exactly_waits_for_the_compiler(
    values: dict[str, str], settings: TimeSettings, waits: bool
) -> None:
    """README promises the same moves on every machine; a first start played others."""
    log: list[str] = []
    with Engine(Config().with_values({"game.board_size": "5"} | values), log.append, evaluator=None) as engine:
        engine.set_time_settings(settings)
        engine.kernels.loader = Compiling()
        assert engine.genmove(BLACK).report.visits == (40 if waits else COMPILING_ROLLOUTS)
    assert (
        any(line.startswith("Waiting until the engine is compiled (no kernel is ready yet)") for line in log) == waits
    )


def test_a_seed_that_a_controller_sets_counts_as_given() -> None:
    with Engine(Config().with_values({"game.board_size": "5", "search.visits": "40"}), evaluator=None) as engine:
        engine.set_seed(3)
        for waits in (True, False):
            engine.kernels.loader = Compiling()
            engine.genmove(BLACK)
            assert engine.kernels.is_compiling != waits
            engine.configure({"search.seed": "none"})


@pytest.mark.parametrize(
    ("values", "waits"),
    [
        ({}, False),
        ({"search.seed": "1"}, False),
        ({"search.seed": "1", "search.visits": "8"}, True),
        ({"puct.rollout_share": "0.5"}, True),
        ({"search.search": "rave"}, True),
    ],
)
def test_a_score_does_not_wait_for_the_compiler(values: dict[str, str], waits: bool) -> None:
    """`final_status_list` blocked for 264 s.  Rollouts are too slow while they are interpreted."""
    log: list[str] = []
    config = Config().with_values({"game.board_size": "5", "search.threads": "1", **values})
    with Engine(config, log.append, FakeEvaluator(model_version=15)) as engine:
        engine.kernels.loader = Compiling()
        engine.outcome()
        assert engine.kernels.is_compiling != waits
    assert len(log) == 1 and log[0].startswith("Waiting until" if waits else "Still compiling (no kernel is ready yet)")


def test_analyses_that_are_to_repeat_exactly_wait_for_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr("gtp_engine.engine.shared_engines.is_cache_filled", lambda kind: False)
    monkeypatch.setattr("gtp_engine.engine.shared_engines.warm_up", lambda *_: done.append("waited"))
    monkeypatch.setattr("gtp_engine.engine.rehearsal.Kernels.load", lambda *_: done.append("began"))
    for values in ({"search.seed": "1"}, {}, {"puct.rollout_share": "0.5"}):
        SharedEngines(Config().with_values(values), evaluator=FakeEvaluator(model_version=15)).load_for_analyses()
    assert done == ["waited", "began", "waited"]
