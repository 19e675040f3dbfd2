"""What is compiled at the first start, and that the same source gives the same games while it is interpreted."""

import functools
import gc
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from fake_evaluators import FakeEvaluator
from nn.tiny_networks import alphago_policy, alphago_value
from numba.core.dispatcher import Dispatcher
from puct_support import PassingEvaluator

from gtp_engine import _jit, kernel_cache
from gtp_engine._jit import KernelCall, interpret_until_loaded
from gtp_engine.alphago.linear_policy import LinearPolicy, write_linear_policy
from gtp_engine.config import Config
from gtp_engine.engine import Engine, kernels, resources
from gtp_engine.engine.kernels import KernelLoader
from gtp_engine.go.constants import BLACK, WHITE, Move
from gtp_engine.gtp.server import GtpServer
from gtp_engine.kernel_cache import NETWORK, ROLLOUTS
from gtp_engine.nn import load_evaluator
from gtp_engine.search.cancellation import CancelToken

GAME = """
boardsize 5
place_free_handicap 2
clear_board
set_position b A1 b B1 w C3
clear_board
komi 5
genmove b
genmove w
play b c2
genmove w
genmove w
kata-raw-nn 0
lz-analyze 10
stop
undo
"""
END = """
clear_board
{moves}
final_score
final_status_list dead
kata-set-rules japanese
final_score
genmove b
"""
MOVES = ("c1", "d1", "c2", "d2", "c3", "d3", "c4", "d4", "c5", "d5", "b3", "e3", "pass", "pass")
"""A wall each, and the game is over."""

Signature = tuple[str, tuple[Any, ...]]


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> set[Signature]:
    """Return a set that gets the kernels that Python calls with the types of their arguments; all are interpreted."""
    signatures = set[Signature]()

    def call(kernel: Any, *arguments: Any) -> Any:
        signatures.add(signature(KernelCall(kernel, arguments)))
        with np.errstate(all="ignore"):
            return kernel.interpreted(*arguments)

    monkeypatch.setattr(_jit._Kernel, "__call__", call)
    return signatures


def signature(call: KernelCall) -> Signature:
    return call.name, tuple(numba.typeof(argument) for argument in call.arguments)


def play(config: Config, lines: str, network: bool) -> None:
    """Send lines to a GTP server."""
    evaluator = load_evaluator(config.network, log=lambda line: None, board=(5, 5)) if network else None
    engine = Engine(config, evaluator=evaluator)
    server = GtpServer(config, lambda: engine, log=lambda line: None)
    moves = "\n".join(f"play {'bw'[i % 2]} {vertex}" for i, vertex in enumerate(MOVES))
    replies = [server.handle_line(line) for line in lines.format(moves=moves).split("\n")]
    engine.close()
    assert [reply for reply in replies if reply.startswith("?") and "no network" not in reply] == []


@pytest.mark.parametrize("searches", [NETWORK, ROLLOUTS])
def test_a_game_calls_no_other_kernels(searches: str, called: set[Signature]) -> None:
    """`count_captures` used to be compiled in the middle of the first game."""
    listed = {signature(call) for call in kernels.kernel_calls(searches)}
    values = {"search.visits": 4, "search.seed": 1, "search.threads": 1, "search.batch": 2}
    is_network = searches == NETWORK
    play(Config().with_values(values), GAME + (END if is_network else ""), is_network)  # rollouts score for a minute
    assert called - listed == set()
    last = "go.area.owners_into" if is_network else "search.rollouts.rollout_select.back_up"
    assert f"gtp_engine.{last}" in {name for name, _ in called}


MOVES_OF_EACH = "boardsize 5\ngenmove b\ngenmove w\nundo"


@pytest.mark.parametrize(
    ("files", "values", "last"),
    [
        ((), {"puct.rollout_share": "0.5"}, "alphago.rollout_batches.play_rows"),
        (("value",), {}, "nn.decode.decode_value"),
        (("value", "rollout"), {"puct.rollout_share": "0.5"}, "alphago.rollout_batches.count_unfinished"),
        (("value", "linear"), {"puct.rollout_share": "0.5"}, "alphago.linear_rollouts.play_rows_linear"),
        (
            ("value", "linear"),
            {"search.search": "rave", "search.rollout_policy": "linear"},
            "alphago.linear_rollouts.play_leaves_linear",
        ),
    ],
    ids=["rollouts", "AlphaGo", "AlphaGo, rollout network", "AlphaGo, linear rollouts", "linear leaves"],
)
def test_other_networks_and_rollouts_call_no_other_kernels(
    files: tuple[str, ...], values: dict[str, str], last: str, tmp_path: Path, called: set[Signature]
) -> None:
    """A first start with `--rollout-share` answered nothing for minutes, also after `warmup`: they were not listed."""
    common = {"search.visits": "4", "search.seed": "1", "search.threads": "1", "search.batch": "2"}
    if files:
        common |= {"network.model": str(tmp_path), "network.provider": "cpu", "puct.rollout_limit": "4"}
        alphago_policy(tmp_path / "policy.onnx")
        alphago_value(tmp_path / "value.onnx")
    if "rollout" in files:
        alphago_policy(tmp_path / "rollout.onnx", seed=1, kind="rollout")
    if "linear" in files:
        none, codes = np.zeros(0, dtype=np.float32), np.zeros(0, dtype=np.int64)
        near, places = np.zeros(3, dtype=np.float32), np.zeros((0, 12), dtype=np.float32)
        write_linear_policy(
            tmp_path / "rollout-policy.npz", LinearPolicy(codes, none, codes, none, codes, places, near)
        )
    config = Config().with_values(common | values)
    with Engine(config, evaluator=load_evaluator(config.network, log=lambda line: None, board=(5, 5))) as engine:
        listed = {signature(call) for call in kernels.kernel_calls(engine.kernels_used)}
        server = GtpServer(config, lambda: engine, log=lambda line: None)
        assert all(server.handle_line(line).startswith("=") for line in MOVES_OF_EACH.split("\n"))
    assert called - listed == set()
    assert f"gtp_engine.{last}" in {name for name, _ in called}


def test_a_human_like_network_and_noise_call_no_other_kernels(called: set[Signature]) -> None:
    values = {"search.visits": "8", "search.seed": "1", "search.threads": "1", "human.human_profile": "rank_5k"}
    values |= {"human.human_move_share": "0.5", "human.human_root_weightless": "0.5", "puct.noise": "0.25"}
    values |= {"puct.anti_mirror": "true", "puct.subtree_bias": "0.4"}
    human = FakeEvaluator(needs_profile=True)
    with Engine(Config().with_values(values), evaluator=FakeEvaluator(model_version=15), human=human) as engine:
        listed = {signature(call) for call in kernels.kernel_calls(engine.kernels_used)}
        server = GtpServer(engine.config, lambda: engine, log=lambda line: None)
        lines = (*MOVES_OF_EACH.split("\n"), "kata-search_analyze b 1", "set_random_seed 3")
        assert all(server.handle_line(line).startswith("=") for line in lines)
    assert {name for name, _ in called - listed if name.startswith("gtp_engine.")} == set()


def searched(values: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return the moves and visits of a search of the empty board after two moves."""
    config = Config().with_values({"search.visits": 24, "search.seed": 1, "search.threads": 1, **values})
    evaluator = load_evaluator(config.network, log=lambda line: None, board=(7, 7)) if config.wants_network else None
    engine = Engine(config, evaluator=evaluator)
    engine.set_board_size(7)
    engine.play_sequence([Move(BLACK, 20), Move(WHITE, 27)])
    report = engine.genmove(BLACK, play=False).report
    engine.close()
    return [(move.point, move.visits, round(move.value_black, 2)) for move in report.moves]


@pytest.mark.parametrize("searches", ["puct", "rave"])
def test_interpreted_kernels_find_the_same(searches: str) -> None:
    compiled = searched({"search.search": searches})
    interpret_until_loaded(True)
    try:
        interpreted = searched({"search.search": searches})
    finally:
        interpret_until_loaded(False)
    assert interpreted == compiled != []


def test_interpreted_kernels_find_the_same_in_the_clean_up() -> None:
    """The first start's first move, under territory rules and after a pass, was an overflow of a stone's color."""
    config = Config().with_values({"search.visits": 24, "search.seed": 1, "game.rules": "japanese", "game.komi": "0"})
    found = []
    for is_interpreted in (False, True):
        with Engine(config, evaluator=PassingEvaluator(knows_cleanup=True)) as engine:
            engine.set_board_size(5)
            for vertex in (*MOVES[:10], "pass"):
                engine.play(engine.game.to_play, vertex)
            interpret_until_loaded(is_interpreted)
            try:
                report = engine.genmove(play=False).report
            finally:
                interpret_until_loaded(False)
        found.append([(move.point, move.visits, round(move.value_black, 2)) for move in report.moves])
    assert found[0] == found[1] != []


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = functools.cache(lambda: tmp_path)
    assert directory() == tmp_path  # from now on, the folder in use
    monkeypatch.setattr(kernel_cache, "cache_directory", directory)


@pytest.mark.usefixtures("empty_cache")
def test_an_engine_that_cannot_start_a_compiler_compiles_and_is_ready_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    class Call:
        name = "a"

        def load(self) -> None:
            loaded.append(self.name)

    def refuse(*_: str) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(kernels, "kernel_calls", lambda searches: [Call()])
    monkeypatch.setattr(kernels, "kernel_halves", lambda searches: ([Call()], []))
    monkeypatch.setattr(kernels, "start_compiler", refuse)
    lines: list[str] = []
    loader = KernelLoader(NETWORK, lines.append)
    loader.start()
    loader.wait(CancelToken())
    assert (loader.loaded, loader.is_compiling) == (1, False) and loaded
    assert any("no more processes" in line for line in lines)
    assert [line for line in lines if line.endswith("Ready.")] == lines[-1:]


def test_garbage_collections_leave_out_what_was_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full collection took longer than some moves of a blitz game."""
    monkeypatch.setattr(kernels, "is_cache_filled", lambda searches: True)
    monkeypatch.setattr(kernels, "kernel_calls", lambda searches: [])
    gc.unfreeze()
    loader = KernelLoader(NETWORK, print)
    loader.start()
    loader.wait(CancelToken())
    assert gc.get_freeze_count() > 10 * len(gc.get_objects())


@pytest.mark.usefixtures("empty_cache")
def test_waiting_for_kernels_can_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    may_end = threading.Event()
    monkeypatch.setattr(KernelLoader, "_follow_compiler", lambda loader: may_end.wait())
    monkeypatch.setattr(kernels, "kernel_calls", lambda searches: [])
    loader, cancel = KernelLoader(NETWORK, print), CancelToken()
    loader.start()
    try:
        waiting = threading.Thread(target=loader.wait, args=(cancel,))
        waiting.start()
        waiting.join(0.1)
        assert waiting.is_alive()
        cancel.cancel()
        waiting.join(60)
        assert not waiting.is_alive() and loader.is_compiling
    finally:
        may_end.set()
        loader.wait(CancelToken())


def test_other_searches_load_their_kernels_when_they_are_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    class Loader(KernelLoader):
        def start(self) -> None:
            loaded.append(self.kernels)

    monkeypatch.setattr(resources, "KernelLoader", Loader)
    engine = Engine(evaluator=FakeEvaluator(model_version=15))
    engine.configure({"search.search": "rave"})
    assert loaded == []  # without `load_kernels`, kernels are compiled when they are called
    engine.configure({"search.search": "puct"})
    engine.load_kernels()
    engine.configure({"search.visits": 100})
    engine.configure({"search.search": "uct"})
    engine.configure({"search.search": "rave"})
    engine.close()
    assert loaded == [NETWORK, ROLLOUTS]


@pytest.mark.parametrize("search", ["puct", "rave"])
def test_numba_knows_the_types_of_all_arguments_at_once(monkeypatch: pytest.MonkeyPatch, search: str) -> None:
    """A game's `Point`, an int of another class, made it look at all arguments in Python: 0.2 ms each call."""
    slow: Counter[str] = Counter()
    typeof = Dispatcher.typeof_pyval

    def counting(self: Any, value: object) -> object:
        slow[f"{self.py_func.__name__}({type(value).__name__})"] += 1
        return typeof(self, value)

    config = Config().with_values({"search.search": search, "search.visits": 12, "search.seed": 1})
    engine = Engine(config, evaluator=FakeEvaluator(model_version=15) if search == "puct" else None)
    for _ in range(2):
        slow.clear()
        engine.set_board_size(5)
        engine.play("b", "C3")
        for color in ("w", "b", "w"):
            engine.genmove(color)
        engine.analyse(engine.game)
        engine.final_status()
        monkeypatch.setattr(Dispatcher, "typeof_pyval", counting)  # each type is looked at once
    engine.close()
    assert not slow


class TestOneCompilerAtATime:
    """`compile_kernels` by two processes, played by threads; nothing is compiled."""

    @pytest.mark.usefixtures("empty_cache")
    def test_the_second_waits_for_the_first_and_follows_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(kernels, "PROGRESS_INTERVAL", 0.0)
        has_begun, may_end = threading.Event(), threading.Event()
        loaded: list[str] = []

        class Call:
            def __init__(self, name: str) -> None:
                self.name = name

            def load(self) -> None:
                loaded.append(self.name)
                has_begun.set()
                assert may_end.wait(60)

        monkeypatch.setattr(kernels, "kernel_halves", lambda searches: ([Call("a")], [Call("b")]))
        monkeypatch.setattr(kernels, "available_cores", lambda: 1)
        lines: list[str] = []

        def wait_in_line(line: str) -> None:
            lines.append(line)
            if line.startswith("Compiled"):
                may_end.set()

        first = threading.Thread(target=kernels.compile_kernels, args=(NETWORK, lambda line: None))
        first.start()
        assert has_begun.wait(60)
        kernels.compile_kernels(NETWORK, wait_in_line)
        first.join()
        assert lines[0] == kernels.FIRST_START
        assert any(line.startswith("Compiled 0 of 2 kernels (") for line in lines)
        assert loaded == ["a", "b", "a", "b"]  # the second one's from the cache
        assert kernel_cache.compiled_so_far() == ["a", "b"]
        assert kernel_cache.is_cache_filled(NETWORK) and not kernel_cache.is_cache_filled(ROLLOUTS)


@pytest.mark.usefixtures("empty_cache")
def test_progress_is_reported_while_a_large_kernel_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine the first line came after 322 s."""
    is_reported = threading.Event()

    class Call:
        name = "large"

        def load(self) -> None:
            assert is_reported.wait(60)

    def report(line: str) -> None:
        if line.startswith("Compiled 0 of 1 kernels"):
            is_reported.set()

    monkeypatch.setattr(kernels, "PROGRESS_INTERVAL", 0.0)
    monkeypatch.setattr(kernels, "kernel_halves", lambda searches: ([Call()], []))
    monkeypatch.setattr(kernels, "available_cores", lambda: 1)
    kernels.compile_kernels(NETWORK, report)


class FakeHelper:
    """A compiling process that ends when it is looked at for the second time; `work` is what it has done by then."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._looks = 0

    def __enter__(self) -> "FakeHelper":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def poll(self) -> int | None:
        self._looks += 1
        if self._looks == 1:
            return None
        self._work()
        return 0


@pytest.mark.usefixtures("empty_cache")
@pytest.mark.parametrize("fails", [False, True])
def test_a_helper_compiles_the_second_half(fails: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process compiles the first, then loads the second, or compiles what the helper has left undone."""
    events: list[str] = []

    class Call:
        def __init__(self, name: str) -> None:
            self.name = name

        def load(self) -> None:
            events.append(self.name)

    def work() -> None:
        events.append("helper")
        if not fails:
            monkeypatch.setattr("sys.argv", ["", NETWORK, "helper"])
            kernels.main()

    def start(kernels: str, part: str) -> FakeHelper:
        assert (kernels, part) == (NETWORK, "helper")
        return FakeHelper(work)

    monkeypatch.setattr(kernels, "kernel_halves", lambda searches: ([Call("a"), Call("b")], [Call("c"), Call("d")]))
    monkeypatch.setattr(kernels, "available_cores", lambda: 2)
    monkeypatch.setattr(kernels, "start_compiler", start)
    for name in ("exit_at_end_of_input", "require_saving"):
        monkeypatch.setattr(kernels, name, lambda: None)
    monkeypatch.setattr(kernels, "_POLL", 0.0)
    monkeypatch.setattr(kernels.signal, "signal", lambda *_: None)
    monkeypatch.setattr(kernels.gc, "set_threshold", lambda _: None)
    kernels.compile_kernels(NETWORK, lambda line: None)
    assert events == ["a", "b", "helper", *([] if fails else ["c", "d"]), "c", "d"]
    assert kernel_cache.compiled_so_far() == ["a", "b", "c", "d"]
    assert kernel_cache.is_cache_filled(NETWORK)


@pytest.mark.usefixtures("empty_cache")
def test_a_compiling_process_ends_where_it_cannot_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """It used to write a traceback; its work is of no use, and the engine's process says what is wrong."""

    class Call:
        name = "a"

        def load(self) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("sys.argv", ["", NETWORK, "helper"])
    monkeypatch.setattr(kernels, "kernel_halves", lambda searches: ([], [Call()]))
    for name in ("exit_at_end_of_input", "require_saving"):
        monkeypatch.setattr(kernels, name, lambda: None)
    monkeypatch.setattr(kernels.signal, "signal", lambda *_: None)
    monkeypatch.setattr(kernels.gc, "set_threshold", lambda _: None)
    with pytest.raises(SystemExit, match="1"):
        kernels.main()
