"""What a rehearsal has compiled at the first start, and that kernels play the same games while they are interpreted."""

import functools
import gc
import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from busy_machine import bound
from fake_evaluators import FakeEvaluator
from nn.tiny_networks import alphago_policy, alphago_value
from numba.core.dispatcher import Dispatcher
from puct_support import PassingEvaluator

import gtp_engine
from gtp_engine import CancelToken, Config, Engine, Evaluator, load_evaluator
from gtp_engine.compiled import jit as _jit
from gtp_engine.compiled import kernel_cache
from gtp_engine.compiled.jit import KernelCall, interpret_until_loaded
from gtp_engine.engine import kernels, rehearsal
from gtp_engine.engine.kernels import KernelLoader
from gtp_engine.engine.rehearsal import Kernels
from gtp_engine.engine.resources import Resources
from gtp_engine.protocols.gtp.server import GtpServer
from gtp_engine.training.alphago.linear_policy import LinearPolicy, write_linear_policy

ON_UNIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of file sizes")

GAME = """
boardsize 5
place_free_handicap 2
clear_board
set_position b A1 b B1 w C3
clear_board
komi 5
genmove b
genmove w
play b e1
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


def rehearsed(called: set[Signature], config: Config, *networks: Evaluator | None) -> set[Signature]:
    """Return what the rehearsal before a start with these networks calls, and empty the set for what comes."""
    resources = Resources(*networks)
    Kernels(resources, print).rehearse(config, resources.playable_board(5, 5))
    found = set(called)
    called.clear()
    return found


@pytest.mark.parametrize(
    ("search", "last"), [("puct", "go.area:owners_into"), ("rave", "search.rollouts.rollout_select:back_up")]
)
def test_a_game_calls_no_other_kernels(search: str, last: str, called: set[Signature]) -> None:
    """`count_captures` used to be compiled in the middle of the first game."""
    values = {"search.search": search, "search.visits": 4, "search.seed": 1, "search.threads": 1, "search.batch": 2}
    config, is_network = Config().with_values(values), search == "puct"
    evaluator = load_evaluator(config.network, log=lambda line: None, board=(5, 5)) if is_network else None
    compiled = rehearsed(called, config, evaluator)
    play(config, GAME + (END if is_network else ""), is_network)  # rollouts score for a minute
    assert called - compiled == set()
    assert f"gtp_engine.{last}" in {name for name, _ in called}


MOVES_OF_EACH = "boardsize 5\ngenmove b\ngenmove w\nundo"


@pytest.mark.parametrize(
    ("files", "values", "last"),
    [
        ((), {"puct.rollout_share": "0.5"}, "training.alphago.rollout_batches:play_rows"),
        (("value",), {}, "nn.decode:decode_value"),
        (("value", "rollout"), {"puct.rollout_share": "0.5"}, "training.alphago.rollout_batches:play_moves"),
        (("value", "linear"), {"puct.rollout_share": "0.5"}, "training.alphago.linear_rollouts:play_rows_linear"),
        (
            ("value", "linear"),
            {"search.search": "rave", "search.rollout_policy": "linear"},
            "training.alphago.linear_rollouts:play_leaves_linear",
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
        policy = LinearPolicy(codes, none, codes, none, codes, places, near, near)
        write_linear_policy(tmp_path / "rollout-policy.npz", policy)
    config = Config().with_values(common | values)
    evaluator = load_evaluator(config.network, log=lambda line: None, board=(5, 5))
    compiled = rehearsed(called, config, evaluator)
    with Engine(config, evaluator=evaluator) as engine:
        server = GtpServer(config, lambda: engine, log=lambda line: None)
        assert all(server.handle_line(line).startswith("=") for line in MOVES_OF_EACH.split("\n"))
    assert called - compiled == set()
    assert f"gtp_engine.{last}" in {name for name, _ in called}


def test_a_human_like_network_and_noise_call_no_other_kernels(called: set[Signature]) -> None:
    values = {"search.visits": "8", "search.seed": "1", "search.threads": "1", "human.human_profile": "rank_5k"}
    values |= {"human.human_move_share": "0.5", "human.human_root_weightless": "0.5", "puct.noise": "0.25"}
    values |= {"puct.anti_mirror": "true", "puct.subtree_bias": "0.4"}
    config = Config().with_values(values)
    evaluator, human = FakeEvaluator(model_version=15), FakeEvaluator(needs_profile=True)
    compiled = rehearsed(called, config, evaluator, human)
    with Engine(config, evaluator=evaluator, human=human) as engine:
        server = GtpServer(engine.config, lambda: engine, log=lambda line: None)
        lines = (*MOVES_OF_EACH.split("\n"), "kata-search_analyze b 1", "set_random_seed 3")
        assert all(server.handle_line(line).startswith("=") for line in lines)
    assert {name for name, _ in called - compiled if name.startswith("gtp_engine.")} == set()


@pytest.mark.parametrize(
    ("search", "size", "moves"),
    [("puct", 7, ("E5", "D4")), ("rave", 7, ("E5", "D4")), ("puct", 5, (*MOVES[:10], "pass"))],
)
def test_interpreted_kernels_find_the_same(search: str, size: int, moves: tuple[str, ...]) -> None:
    """The first start's first move, under territory rules and after a pass, was an overflow of a stone's color."""
    values = {"search.visits": 24, "search.seed": 1, "search.threads": 1, "search.search": search, "game.komi": 0}
    config, found = Config().with_values(values | {"game.rules": "japanese", "game.board_size": size}), []
    for is_interpreted in (False, True):
        evaluator: Evaluator | None = PassingEvaluator(knows_cleanup=True) if "pass" in moves else None
        if size == 7 and search == "puct":
            evaluator = load_evaluator(config.network, log=lambda line: None, board=(7, 7))
        with Engine(config, evaluator=evaluator) as engine:
            for vertex in moves:
                engine.play(vertex, engine.game.to_play)
            interpret_until_loaded((lambda call: None) if is_interpreted else None)
            try:
                report = engine.genmove(play=False).report
            finally:
                interpret_until_loaded(None)
        found.append([(move.point, move.visits, round(move.value_black, 2)) for move in report.moves])
    assert found[0] == found[1] != []


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = functools.cache(lambda: tmp_path)
    assert directory() == tmp_path  # from now on, the folder in use
    monkeypatch.setattr(kernel_cache, "cache_directory", directory)


@pytest.mark.usefixtures("empty_cache")
def test_garbage_collections_leave_out_what_was_loaded() -> None:
    """A full collection took longer than some moves of a blitz game."""
    kernel_cache.note_kernels("nothing")
    gc.unfreeze()
    loader = KernelLoader("nothing", print)
    loader.start()
    loader.wait()
    assert gc.get_freeze_count() > 10 * len(gc.get_objects())


def test_waiting_for_kernels_can_be_cancelled() -> None:
    loader, cancel = KernelLoader("a start that is not noted", print), CancelToken()
    waiting = threading.Thread(target=loader.wait, args=(cancel,))
    waiting.start()
    waiting.join(0.1)
    assert waiting.is_alive()
    cancel.cancel()
    waiting.join(bound(60))
    assert not waiting.is_alive() and loader.is_compiling


PROGRAM = """
import subprocess, sys
from gtp_engine.engine.kernels import KernelLoader
from gtp_engine.evaluation.positions import new_evaluation, value_black
from gtp_engine.search.puct import transpositions, tree

def refuse(*arguments, **options):
    raise OSError("no more processes")

def play():
    print("rehearsal")
    value_black(new_evaluation(1, 2, 2), 0)
    transpositions.add_all_keys(tree.new_tree(1, 1).graph, 0)

if "refused" in sys.argv:
    subprocess.Popen = refuse
if "full" in sys.argv:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # every write fails
loader = KernelLoader("a-start", print, play)
loader.start()
loader.wait()
print(loader.progress, loader.is_compiling)
play()
"""


def start_program(cache: Path, *options: str) -> "subprocess.Popen[str]":
    """Return a process that has two kernels compiled, with the cache in a folder."""
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment |= {"TENGEN_CACHE_DIR": str(cache), "PYTHONPATH": str(Path(gtp_engine.__file__).parents[1])}
    command = [sys.executable, "-c", PROGRAM, *options]
    return subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_what_a_first_start_has_called_the_next_one_loads(tmp_path: Path) -> None:
    """Two at once compile it once; notes that are cut off, as the machine went down, lead to another first start."""
    for program in [start_program(tmp_path), start_program(tmp_path)]:
        output, errors = program.communicate(timeout=bound(400))
        first, *_, ready, progress, last = output.splitlines()
        assert errors == "" and {first, last} <= {kernels.FIRST_START, kernels.FURTHER_START, "rehearsal"}
        assert ready.startswith("Compiled all 2 kernels (") and progress == "2 of 2 kernels are ready False"
    (compiled,) = tmp_path.rglob("compiled-*")
    names = ["gtp_engine.evaluation.positions:value_black", "gtp_engine.search.puct.transpositions:add_all_keys"]
    assert sorted(compiled.read_text().split()) == names
    assert start_program(tmp_path).communicate(timeout=bound(400)) == ("no kernel is ready yet False\nrehearsal\n", "")
    (notes,) = tmp_path.rglob("complete-*")
    assert sorted(line.split()[0] for line in notes.read_text().split("\n")[:-1]) == names
    whole = notes.read_text()
    notes.write_text(whole[: len(whole) // 2])
    assert "Compiled all 2 kernels (" in start_program(tmp_path).communicate(timeout=bound(400))[0]
    assert len(notes.read_text()) == len(whole)


@pytest.mark.parametrize("option", ["refused", pytest.param("full", marks=ON_UNIX)])
def test_where_no_other_process_compiles_this_one_does(option: str, tmp_path: Path) -> None:
    output, errors = start_program(tmp_path, option).communicate(timeout=bound(400))
    assert "2 of 2 kernels are ready False\n" in output
    if option == "refused":
        assert "cannot start a process that compiles (no more processes)" in output and errors == ""
    else:
        assert "compiled code cannot be written to " in errors and errors.count("\n") == 1
        assert not list(tmp_path.rglob("complete-*")), "the next start must not rely on it"


def test_other_searches_load_their_kernels_when_they_are_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    class Loader(KernelLoader):
        def start(self) -> None:
            loaded.append(self.kind)

    monkeypatch.setattr(rehearsal, "KernelLoader", Loader)
    engine = Engine(evaluator=FakeEvaluator(model_version=15))
    engine.configure({"search.search": "rave"})
    assert loaded == []  # without `load_kernels`, kernels are compiled when they are called
    engine.configure({"search.search": "puct"})
    engine.load_kernels()
    engine.configure({"search.visits": 100})
    engine.configure({"search.search": "uct"})
    engine.configure({"search.search": "rave"})
    engine.close()
    assert loaded == ["network", "rollouts"]


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
        engine.play("C3", "b")
        for color in ("w", "b", "w"):
            engine.genmove(color)
        engine.analyse(engine.game)
        engine.outcome()
        monkeypatch.setattr(Dispatcher, "typeof_pyval", counting)  # each type is looked at once
    engine.close()
    assert not slow
