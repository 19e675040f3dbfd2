"""Network files in ONNX Runtime: sessions, batches, and one clear sentence for every kind of broken file."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier, Event
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import onnx
import pytest
from busy_machine import bound
from nn import tiny_networks
from nn.katago_files import NetworkFile

from gtp_engine.base.errors import ModelError
from gtp_engine.compiled import kernel_cache
from gtp_engine.nn import onnx_model, openvino_session
from gtp_engine.nn.named_networks import shipped_folder
from gtp_engine.nn.onnx_export.convert import convert_file
from gtp_engine.nn.onnx_model import OnnxModel, RawOutputs, installed_providers, try_provider
from gtp_engine.nn.providers import PROVIDERS, Provider, Runtime

CPU = Runtime(PROVIDERS["cpu"], "float32")
OPENVINO = Runtime(PROVIDERS["openvino"], "float32")
FIXED = Runtime(Provider("cpu", "CPUExecutionProvider", "CPU", ""), "float32")
"""As a provider that wants a session for each number of positions."""
needs_openvino = pytest.mark.skipif("openvino" not in installed_providers(), reason="OpenVINO is not installed")


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_networks.v7_network(tmp_path_factory.mktemp("networks") / "tiny.onnx")


def inputs(count: int, width: int = 9, height: int = 7, planes: int = 22) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(count)
    spatial = random.random((count, planes, height, width)).astype(np.float32)
    return spatial, random.random((count, 19)).astype(np.float32)


def assert_alike(a: RawOutputs, b: RawOutputs, tolerance: float = 1e-4) -> None:
    for one, other in zip(a, b, strict=True):
        assert one is not None and other is not None
        np.testing.assert_allclose(one, other, rtol=0, atol=tolerance)


@pytest.mark.parametrize("runtime", [CPU, FIXED], ids=["any batch", "sessions for each batch"])
def test_a_row_has_the_same_outputs_in_every_batch(network: Path, runtime: Runtime) -> None:
    model = OnnxModel(network, runtime, batch=4)
    spatial, globals_ = inputs(7)
    whole = model.run(spatial, globals_)
    for count in (1, 2, 3, 4, 5):
        part = model.run(spatial[:count], globals_[:count])
        assert_alike(part, RawOutputs(*(array[:count] for array in whole if array is not None)))
    if runtime is FIXED:  # calls are padded to powers of two
        assert [model.sessions_for(count) for count in (1, 2, 3, 5, 8, 9)] == [[1], [2], [4], [8], [8], [16]]


def test_full_batches_have_a_session_of_their_own(network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    created: list[dict[str, int]] = []
    real = onnx_model.new_session

    def counted(model: str | bytes, runtime: Runtime, dimensions: dict[str, int], **how: int) -> object:
        created.append(dimensions)
        return real(model, runtime, dimensions, **how)

    monkeypatch.setattr(onnx_model, "new_session", counted)
    model = OnnxModel(network, CPU, batch=4)
    model.prepare(9, 7)
    assert [model.sessions_for(count) for count in (3, 4, 9)] == [[0], [4], [4, 4, 0]], "the attention of 64: 700 MiB"
    for count in (1, 2, 3, 4, 9):
        model.run(*inputs(count))
    assert sorted(created, key=len) == [{"height": 7, "width": 9}, {"height": 7, "width": 9, "batch": 4}]
    for size in range(3, 4 + onnx_model.MAX_BOARDS):
        model.run(*inputs(1, size, size))
    assert len(model._sessions) == onnx_model.MAX_BOARDS
    model = OnnxModel(network, CPU, batch=4, for_boards={(3, 3): network})
    for size in range(3, 5 + onnx_model.MAX_BOARDS):
        model.run(*inputs(1, size, size))
    assert [*model._sessions] == [(size, size) for size in (3, 5, 6, 7)], "the one for a board takes no other's place"


def test_a_board_is_prepared_while_another_one_is_evaluated(network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new board size kept every other client of a server waiting for seconds."""
    model, real, began, go_on = OnnxModel(network, CPU, batch=4), onnx_model.new_session, Event(), Event()
    model.prepare(9, 7)
    created = []

    def slow(*args: object, **more: object) -> object:
        created.append(args[2])
        began.set()
        assert go_on.wait(bound(60))
        return real(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(onnx_model, "new_session", slow)
    with ThreadPoolExecutor() as pool:
        prepared = pool.submit(model.prepare, 5, 5)
        assert began.wait(bound(60))
        model.run(*inputs(1))
        waiting = pool.submit(model.run, *inputs(1, 5, 5))
        assert not waiting.done()
        go_on.set()
        prepared.result(bound(60))
        waiting.result(bound(60))
    assert len(created) == len({*map(str, created)}) == 2, "none is created twice"


@pytest.mark.parametrize("provider", [name for name in ("cpu", "openvino") if name in installed_providers()])
def test_calls_of_several_threads_take_turns(network: Path, provider: str) -> None:
    """A network for a new board is checked for damage beside a search; that said "Infer Request is busy"."""
    model = OnnxModel(network, Runtime(PROVIDERS[provider], "float32"), threads=1, batch=1)
    given = [(spatial[i : i + 1], globals_[i : i + 1]) for spatial, globals_ in [inputs(4)] for i in range(4)]
    expected = [model.run(*each) for each in given]

    def run_often(i: int) -> list[RawOutputs]:
        return [model.run(*given[i]) for _ in range(100)]

    with ThreadPoolExecutor(len(given)) as pool:
        for found, right in zip(pool.map(run_often, range(len(given))), expected, strict=True):
            for outputs in found:
                assert_alike(outputs, right)


def test_a_session_that_cannot_be_created_is_tried_again(network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, real = OnnxModel(network, CPU), onnx_model.new_session

    def broken(*_: object, **__: object) -> object:
        raise ModelError("no memory")

    monkeypatch.setattr(onnx_model, "new_session", broken)
    with pytest.raises(ModelError, match="no memory"):
        model.prepare(9, 9)
    assert not model._sessions
    monkeypatch.setattr(onnx_model, "new_session", real)
    model.run(*inputs(1, 9, 9))


def test_boards_that_a_network_does_not_play_take_no_place(tmp_path: Path) -> None:
    model = OnnxModel(tiny_networks.v7_network(tmp_path / "net.onnx", sizes="7-9"), CPU)
    model.prepare(9, 9)
    for size in range(10, 11 + onnx_model.MAX_BOARDS):
        with pytest.raises(ModelError, match="expected boards of 7-9"):
            model.prepare(size, size)
    assert list(model._sessions) == [(9, 9)]


@needs_openvino
@pytest.mark.parametrize("batch", [6, 8])
def test_calls_in_openvino_are_divided_among_sessions_of_fixed_sizes(network: Path, batch: int) -> None:
    """A session for any number takes milliseconds longer whenever the number changes, and its last bits differ."""
    model = OnnxModel(network, OPENVINO, threads=1, batch=batch)
    model.prepare(9, 7)
    assert {1, batch} <= {*model._sessions[9, 7]}, "the others are created beside what follows"
    assert [model.sessions_for(count) for count in (5, 7, 13)] == (
        [[4, 1], [8], [8, 4, 1]] if batch == 8 else [[4, 1], [6, 1], [6, 6, 1]]
    )
    spatial, globals_ = inputs(2 * batch)
    whole = model.run(spatial, globals_)
    for count in range(1, 2 * batch):
        part = model.run(spatial[:count], globals_[:count])
        assert_alike(part, RawOutputs(*(array[:count] for array in whole if array is not None)), 0.0)
    assert sorted(model._sessions[9, 7]) == [1, 2, 4, batch], "no call had to create another one"


@needs_openvino
def test_numbers_that_come_often_get_a_session_of_their_own(network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On that board, as long as it is among the last ones."""
    monkeypatch.setattr(onnx_model, "OFTEN", 2)
    model = OnnxModel(network, OPENVINO, threads=1, batch=8)
    seen = []
    for _ in range(4):
        outputs = model.run(*inputs(6))
        assert_alike(outputs, model.run(*inputs(6)), 0.0)
        seen.append(sorted(model._sessions[9, 7]))
    assert seen == [[2, 4]] + [[2, 4, 6]] * 3
    before = model.run(*inputs(6))
    for size in range(3, 3 + onnx_model.MAX_BOARDS):
        model.run(*inputs(6, size, size))
        assert 6 not in model._sessions[size, size]
    assert (9, 7) not in model._sessions
    assert_alike(model.run(*inputs(6)), before, 0.0)
    assert sorted(model._sessions[9, 7]) == [2, 4], "counted from the start again"
    for _ in range(4):
        model.run(*inputs(9))
    assert sorted(model._sessions[9, 7]) == [1, 2, 4, 8], "more than a batch is divided"


@needs_openvino
@pytest.mark.parametrize(
    ("size", "rows", "cores", "are_equal", "parts"),
    [(19, 4, 2, True, 2), (19, 2, 2, True, 1), (9, 8, 2, True, 1), (19, 5, 2, True, 1), (19, 4, 3, True, 1),
     (19, 4, 1, True, 1), (19, 8, 2, False, 1), (19, 8, 4, True, 2)],
)  # fmt: skip
def test_openvino_runs_large_batches_as_halves(
    network: Path, monkeypatch: pytest.MonkeyPatch, size: int, rows: int, cores: int, are_equal: bool, parts: int
) -> None:
    monkeypatch.setattr(openvino_session, "has_equal_cores", lambda: are_equal)
    spatial, globals_ = inputs(rows, size, size)
    feeds = {"spatial": spatial, "globals": globals_}
    dimensions = {"height": size, "width": size, "batch": rows}
    session = openvino_session.OpenVinoSession(str(network), OPENVINO, dimensions, threads=cores)
    assert len(session._requests) == parts
    monkeypatch.setattr(openvino_session, "has_equal_cores", lambda: False)
    whole = openvino_session.OpenVinoSession(str(network), OPENVINO, dimensions, threads=cores)
    for given in (feeds, {name: array[::-1].copy() for name, array in feeds.items()}, feeds):
        expected, found = whole.run(given), session.run(given)
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name], array)
        assert expected["policy"].shape == (rows, 2, size * size + 1) == found["policy"].shape


@needs_openvino
def test_calls_are_run_two_at_a_time_on_half_of_the_cores(network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One call that is alone has all cores, and the outputs are the same bit for bit."""
    monkeypatch.setattr(openvino_session, "has_equal_cores", lambda: True)
    model, given = OnnxModel(network, OPENVINO, threads=2, batch=4), [inputs(count) for count in (1, 2, 3, 4)]
    expected = [model.run(*each) for each in given]
    assert model.halve_cores() and sorted(model._sessions[9, 7]) == [1, 2, 4]
    both = Barrier(2)

    def run_often(_: int) -> list[RawOutputs]:
        both.wait(bound(60))
        return [model.run(*each) for _ in range(50) for each in given]

    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(run_often, range(2)):
            for outputs, right in zip(found, expected * 50, strict=True):
                for one, other in zip(outputs, right, strict=True):
                    np.testing.assert_array_equal(one, other)
    assert {-1, -2} <= {*model._sessions[9, 7]}
    model.run(*given[0])
    model.join_cores()
    model.run(*given[0])
    assert min(model._sessions[9, 7]) > 0, "sessions for pairs are freed"
    assert not OnnxModel(network, OPENVINO, threads=1).halve_cores()
    assert not OnnxModel(network, CPU, threads=2).halve_cores()


@needs_openvino
def test_halves_of_a_batch_share_the_inputs_that_are_not_of_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """`models quantize` gives all positions the same switches, and failed where batches are halved."""
    given = [
        onnx.helper.make_tensor_value_info("spatial", onnx.TensorProto.FLOAT, ["batch", 1, 19, 19]),
        onnx.helper.make_tensor_value_info("switches", onnx.TensorProto.FLOAT, [6]),
    ]
    found = onnx.helper.make_tensor_value_info("out", onnx.TensorProto.FLOAT, ["batch", 1, 19, 19])
    nodes = [
        onnx.helper.make_node("ReduceSum", ["switches"], ["sum"], keepdims=0),
        onnx.helper.make_node("Mul", ["spatial", "sum"], ["out"]),
    ]
    graph = onnx.helper.make_graph(nodes, "switched", given, [found])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    monkeypatch.setattr(openvino_session, "has_equal_cores", lambda: True)
    dimensions = {"height": 19, "width": 19, "batch": 4}
    session = openvino_session.OpenVinoSession(model.SerializeToString(), OPENVINO, dimensions, threads=2)
    assert len(session._requests) == 2
    spatial = np.arange(4, dtype=np.float32)[:, None, None, None] * np.ones((1, 1, 19, 19), dtype=np.float32)
    switches = np.arange(6, dtype=np.float32)
    np.testing.assert_array_equal(session.run({"spatial": spatial, "switches": switches})["out"], 15 * spatial)


@needs_openvino
@pytest.mark.parametrize("fails", ["wait 0", "wait 1", "start 1"])
def test_halves_of_a_batch_are_waited_for(network: Path, monkeypatch: pytest.MonkeyPatch, fails: str) -> None:
    """After an error in the first half the second went on, while the next batch was written to its inputs."""
    called: list[str] = []

    def note(call: str, *_: object) -> None:
        called.append(call)
        if call == fails:
            raise RuntimeError(call)

    monkeypatch.setattr(openvino_session, "has_equal_cores", lambda: True)
    dimensions = {"height": 19, "width": 19, "batch": 4}
    session = openvino_session.OpenVinoSession(str(network), OPENVINO, dimensions, threads=2)
    calls = [(partial(note, f"start {i}"), partial(note, f"wait {i}")) for i in range(2)]
    session._requests[:] = [SimpleNamespace(start=start, wait=wait) for start, wait in calls]
    with pytest.raises(RuntimeError, match=fails):
        session.run(dict(zip(("spatial", "globals"), inputs(4, 19, 19), strict=True)))
    assert sorted(called) == ["start 0", "start 1", "wait 0", "wait 1"][: 3 if fails == "start 1" else 4]


@needs_openvino
def test_outputs_stay_as_they_are_when_the_network_runs_again(network: Path) -> None:
    """OpenVINO writes to the same memory each time."""
    model = OnnxModel(network, OPENVINO, threads=1, batch=2)
    spatial, globals_ = inputs(2)
    first = model.run(spatial, globals_)
    assert first.value is not None
    before = first.value.copy()
    model.run(1.0 - spatial, globals_)
    assert (first.value == before).all()


@needs_openvino
def test_openvino_reports_nothing_to_its_makers(network: Path) -> None:
    """Its tools for conversion report their import from a thread of their own, without asking."""
    code = (
        "import pathlib, sys, threading\n"
        "sockets = []\n"
        "sys.addaudithook(lambda event, _: sockets.append(event) if event.startswith('socket.') else None)\n"
        "import numpy\n"
        "from gtp_engine.nn.onnx_model import OnnxModel\n"
        "from gtp_engine.nn.providers import PROVIDERS, Runtime\n"
        "model = OnnxModel(pathlib.Path(sys.argv[1]), Runtime(PROVIDERS['openvino'], 'float32'), batch=1)\n"
        "model.run(numpy.zeros((1, 22, 9, 9), numpy.float32), numpy.zeros((1, 19), numpy.float32))\n"
        "assert sockets == []\n"
        "assert 'openvino' in sys.modules and 'openvino_telemetry' not in sys.modules\n"
        "assert threading.enumerate() == [threading.main_thread()]\n"
    )
    subprocess.run([sys.executable, "-c", code, str(network)], check=True, timeout=bound(60))


@pytest.mark.skipif(os.name == "nt", reason="it looks for files where Unix has them")
def test_onnx_runtime_reports_nothing_to_its_makers(network: Path, tmp_path: Path) -> None:
    """It collects reports in files of the user, for a thread that sends them."""
    code = (
        "import os, pathlib, sys\n"
        "from gtp_engine.nn.onnx_model import OnnxModel\n"
        "from gtp_engine.nn.onnxruntime_session import available_providers\n"
        "from gtp_engine.nn.providers import PROVIDERS, Runtime\n"
        "available_providers()\n"
        "OnnxModel(pathlib.Path(sys.argv[1]), Runtime(PROVIDERS['cpu'], 'float32'), batch=1)\n"
        "assert 'onnxruntime' in sys.modules\n"
    )
    environment = os.environ | {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    del environment["ORT_DISABLE_TELEMETRY"]
    subprocess.run([sys.executable, "-c", code, str(network)], env=environment, check=True, timeout=bound(60))
    assert not [*tmp_path.rglob("*.db"), *tmp_path.rglob("Microsoft")]


@pytest.mark.parametrize("provider", ["cpu", pytest.param("openvino", marks=needs_openvino)])
def test_a_process_may_end_while_a_thread_gets_a_network_ready(network: Path, provider: str) -> None:
    """It was aborted (status 134) when the thread came back from the library."""
    code = (
        "import itertools, pathlib, sys, threading\n"
        "from gtp_engine.nn.onnx_model import OnnxModel\n"
        "from gtp_engine.nn.providers import PROVIDERS, Runtime\n"
        "model = OnnxModel(pathlib.Path(sys.argv[1]), Runtime(PROVIDERS[sys.argv[2]], 'float32'))\n"
        "has_begun = threading.Event()\n"
        "def work():\n"
        "    for size in itertools.cycle(range(7, 20)):\n"
        "        model.prepare(size, size)\n"
        "        has_begun.set()\n"
        "threading.Thread(target=work, daemon=True).start()\n"
        "has_begun.wait()\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(network), provider], capture_output=True, timeout=bound(60))
    assert (done.returncode, done.stderr) == (0, b"")


@needs_openvino
def test_a_process_may_end_while_a_thread_frees_a_network(tmp_path: Path) -> None:
    """One in three was aborted that ended while its thread got a network ready, and let go of it then."""
    code = (
        "import pathlib, sys, threading\n"
        "from gtp_engine.nn.onnx_model import OnnxModel\n"
        "from gtp_engine.nn.providers import PROVIDERS, Runtime\n"
        "has_begun = threading.Event()\n"
        "def work():\n"
        "    model = OnnxModel(pathlib.Path(sys.argv[1]), Runtime(PROVIDERS['openvino'], 'float32'), batch=1)\n"
        "    has_begun.set()\n"
        "    model.prepare(9, 9)\n"
        "threading.Thread(target=work, daemon=True).start()\n"
        "has_begun.wait()\n"
    )
    command, processes = [sys.executable, "-c", code, str(shipped_folder() / "tengen-b10c128.onnx")], []
    for number in range(4):
        environment = os.environ | {"TENGEN_CACHE_DIR": str(tmp_path / str(number))}  # so that it is compiled
        processes.append(subprocess.Popen(command, env=environment, stderr=subprocess.PIPE))
    for process in processes:
        assert (process.communicate(timeout=bound(60))[1], process.returncode) == (b"", 0)


@needs_openvino
@pytest.mark.parametrize("human", [0, 1])
@pytest.mark.parametrize("activation", ["RELU", "MISH", "SILU"])
def test_openvino_runs_the_products_of_newer_networks(tmp_path: Path, activation: str, human: int) -> None:
    """Those for the pass, and for the profile of a player: it had no Mish between two products with matrices."""
    source, target = tmp_path / "net.bin.gz", tmp_path / "net.onnx"
    source.write_bytes(NetworkFile(15, human=human, activation=activation).bytes(gzipped=True))
    convert_file(source, target)
    spatial, globals_ = inputs(2)
    globals_ = np.concatenate([globals_, np.ones((2, 192 * human), np.float32)], axis=1)
    openvino = OnnxModel(target, OPENVINO, threads=1, batch=2)
    assert_alike(openvino.run(spatial, globals_), OnnxModel(target, CPU).run(spatial, globals_), 1e-3)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: b"", "'broken.onnx' is damaged or no ONNX file; import a KataGo network with"),
        (lambda data: b"PK\x03\x04 not a network at all", "damaged or no ONNX file"),
        (lambda data: data[: len(data) // 2], "damaged or no ONNX file"),
        (lambda data: data[:200] + b"\xff" * 40 + data[240:], "network 'broken.onnx': .* cannot load it: "),
    ],
    ids=["empty", "something else", "truncated", "overwritten"],
)
def test_damaged_files_are_reported(network: Path, tmp_path: Path, damage: object, message: str) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(damage(network.read_bytes()))  # type: ignore[operator]
    with pytest.raises(ModelError, match=message) as caught:
        OnnxModel(broken, CPU).prepare(9, 9)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"planes": "21"}, r"has the inputs .*'spatial': 22.*: expected .*'spatial': 21.*, as its metadata .*; import"),
        ({"globals": "0"}, r"has the inputs"),
        ({"format": "2"}, r"'odd.onnx': network format '2': expected 1"),
        ({"encoder": "v9"}, r"'odd.onnx': the network's metadata tengen.encoder 'v9': expected one of katago-v7"),
        ({"sizes": "13x13"}, r"network 'tiny' on a board of 9x9: expected boards of 13x13"),
    ],
)
def test_files_unlike_their_metadata_are_reported(tmp_path: Path, changes: dict[str, str], message: str) -> None:
    odd = tiny_networks.v7_network(tmp_path / "odd.onnx", **changes)
    with pytest.raises(ModelError, match=message):
        OnnxModel(odd, CPU).prepare(9, 9)
    policy_only = tiny_networks.alphago_policy(tmp_path / "policy.onnx", kind="policy+value")
    with pytest.raises(ModelError, match=r"has the outputs \['policy'\]: expected \['policy', 'value'\]"):
        OnnxModel(policy_only, CPU).prepare(9, 9)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"misc": 3}, r"'odd.onnx' has the output misc of shape \[2, 3\]: expected 6 values for each of 2 positions"),
        ({"misc": 5, "model_version": "8"}, r"output misc of shape \[2, 5\]: expected 3 or 4 or 6 values"),
        ({"encoder": "alphago-48"}, r"output value of shape \[2, 3\]: expected 1 values"),
    ],
)
def test_outputs_that_are_too_small_are_reported(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    odd = tiny_networks.v7_network(tmp_path / "odd.onnx", **changes)
    with pytest.raises(ModelError, match=message):
        OnnxModel(odd, CPU).run(*inputs(2))


def test_outputs_for_another_board_are_reported(tmp_path: Path) -> None:
    graph = tiny_networks.Graph(0)
    graph.output("policy", graph.reshape(graph.convolution(graph.planes(48), 48, 1, 3), -1, 49), ("batch", "points"))
    described = tiny_networks.metadata(kind="policy", encoder="alphago-48", planes="48", globals="0")
    odd = graph.save(tmp_path / "odd.onnx", described)
    spatial, globals_ = inputs(7, 9, 7, planes=48)
    assert OnnxModel(odd, CPU).run(*inputs(7, 7, 7, planes=48)).policy is not None
    with pytest.raises(
        ModelError, match=r"output policy of shape \[7, 1, 49\]: expected 63 or 64 values for each of 7 positions"
    ):
        OnnxModel(odd, CPU).run(spatial, globals_)


def test_providers_can_be_tried_without_a_network() -> None:
    assert try_provider(CPU) is None
    absent = Runtime(Provider("cuda", "NoSuchExecutionProvider", "No Such", "get it"), "float32")
    assert "No Such" in str(try_provider(absent))


# --- Compiled networks on disk


def outputs_of(path: Path, rows: int, threads: int = 1) -> RawOutputs:
    """Return what a new model, with sessions of its own, returns for random inputs."""
    model = OnnxModel(path, OPENVINO, threads=threads, batch=rows)
    rng = np.random.default_rng(1)
    spatial = rng.random((rows, model.info.planes, 5, 5), dtype=np.float32)
    found = model.run(spatial, rng.random((rows, model.info.globals_), dtype=np.float32))
    model.close()
    return found


@needs_openvino
def test_compiled_networks_are_loaded_from_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each start, and each change to a board size seen before, compiled the network again."""
    monkeypatch.setenv("TENGEN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(openvino_session, "_LEAST_KEPT", 0)
    core = Mock(wraps=openvino_session._core())
    monkeypatch.setattr(openvino_session, "_core", lambda: core)
    path = tiny_networks.v7_network(tmp_path / "tiny.onnx", blocks=2)
    first = outputs_of(path, 2)
    assert core.read_model.call_count == 1
    for expected in (1, 2):  # then from the disk, with any number of threads; damaged, it is compiled again
        again = outputs_of(path, 2, threads=2)
        assert all(np.array_equal(one, other) for one, other in zip(first, again, strict=True) if one is not None)
        assert core.read_model.call_count == expected
        (kept,) = (tmp_path / "cache" / kernel_cache.NETWORKS_FOLDER).iterdir()
        kept.write_bytes(kept.read_bytes()[:-9])
    outputs_of(path, 4)
    tiny_networks.v7_network(path, blocks=2, seed=7)
    other = outputs_of(path, 2)
    assert core.read_model.call_count == 4 and not np.array_equal(other.value, first.value)
    (tmp_path / "cache" / kernel_cache.NETWORKS_FOLDER).rename(tmp_path / "away")
    (tmp_path / "cache" / kernel_cache.NETWORKS_FOLDER).touch()  # nothing can be kept
    assert np.array_equal(outputs_of(path, 2).value, other.value)


def test_compiled_networks_used_least_recently_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENGEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(kernel_cache, "_MOST_NETWORK_BYTES", 350)
    for age, key in enumerate("ab"):
        kernel_cache.keep_network(key, bytes(100))
        os.utime(kernel_cache._network_path(key), (1e9 + age, 1e9 + age))
    assert kernel_cache.kept_network("a") == bytes(100)  # it is in use
    kernel_cache.keep_network("c", bytes(100))
    assert [key for key in "abc" if kernel_cache.kept_network(key)] == ["a", "c"]
