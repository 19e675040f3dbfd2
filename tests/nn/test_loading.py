"""From a configuration to an evaluator: files and folders, falling back, plain words for what does not work."""

import json
import shutil
from collections.abc import Callable
from itertools import count, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import numpy as np
import onnx
import onnx.numpy_helper
import pytest
from board_helpers import play_moves
from nn import tiny_networks
from nn.boards import random_rows
from nn.katago_files import NetworkFile
from numpy.typing import NDArray

from gtp_engine import Game, ModelError, Rules, load_evaluator
from gtp_engine.base.files import sha256_of
from gtp_engine.config import Config, NetworkConfig
from gtp_engine.config.human import HumanProfile
from gtp_engine.evaluation.evaluator import Request
from gtp_engine.evaluation.evaluator_info import ANY_BOARD
from gtp_engine.evaluation.from_game import conditions_of, write_game
from gtp_engine.evaluation.positions import new_evaluation, new_positions
from gtp_engine.nn import loading, named_networks, onnx_model, quantized_copy
from gtp_engine.nn.call_times import _call_of_pairs
from gtp_engine.nn.evaluators import networks_of
from gtp_engine.nn.loading import EVALUATION, disagreement
from gtp_engine.nn.metadata import read_metadata, read_properties
from gtp_engine.nn.named_networks import model_path, shipped_folder, shipped_networks
from gtp_engine.nn.network_evaluator import NetworkEvaluator
from gtp_engine.nn.network_files import NetworkFiles, find_networks, may_need_copy, quantization_hint
from gtp_engine.nn.onnx_export.convert import convert_file
from gtp_engine.nn.onnx_model import OnnxModel, RawOutputs
from gtp_engine.nn.providers import PROVIDERS, Runtime
from gtp_engine.nn.quantized_copy import NOTHING_KNOWN, read_quality
from gtp_engine.training.alphago.linear_policy import read_linear_policy

CPU = Runtime(PROVIDERS["cpu"], "float32")


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a network of each kind."""
    folder = tmp_path_factory.mktemp("networks")
    original = tiny_networks.v7_network(folder / "katago.onnx")
    tiny_networks.v7_network(folder / "katago-int8.onnx", precision="int8", quantized_from=sha256_of(original))
    tiny_networks.v7_network(folder / "small.onnx", sizes="9x9", name="small", seed=3)
    tiny_networks.v7_network(folder / "other.onnx", seed=4)
    tiny_networks.alphago_policy(folder / "policy.onnx", name="p")
    tiny_networks.alphago_value(folder / "value.onnx", name="v")
    tiny_networks.alphago_policy(folder / "rollout.onnx", name="r", kind="rollout")
    return folder


def folder_of(tmp_path: Path, networks: Path, *names: str) -> Path:
    for name in names:
        shutil.copy(networks / f"{name}.onnx", tmp_path)
    return tmp_path


def config(path: Path, **options: str) -> NetworkConfig:
    return NetworkConfig(model=str(path), network_threads=1, **{"provider": "cpu"} | options)  # type: ignore[arg-type]


def test_a_file_becomes_an_evaluator_that_is_logged(networks: Path) -> None:
    lines: list[str] = []
    evaluator = load_evaluator(config(networks / "small.onnx"), log=lines.append)
    what = "Network small: ONNX Runtime's own CPU provider in float32, up to 8 positions at a time."
    assert lines == [what, "It calculates in float32, as the network was trained."]
    assert policy_on(evaluator, 9).sum() == pytest.approx(1, abs=1e-4)
    with pytest.raises(ModelError, match="on a board of 19x19"):
        evaluator.prepare(19, 19)
    evaluator.close()


def test_what_holds_for_all_networks_of_an_engine_is_logged_once(networks: Path) -> None:
    lines: list[str] = []
    networks_of(Config(network=config(networks / "katago.onnx", human_model=f"{networks}/small.onnx")), lines.append)
    assert [line.partition(":")[0] for line in lines[::2]] == ["Network tiny", "Network small"] and len(lines) == 3
    assert networks_of(Config(network=config(networks / "small.onnx")), lines.append)[1] is None


@pytest.mark.parametrize(
    ("files", "name"), [(["policy", "value"], "p + v"), (["policy", "value", "rollout"], "p + v + r")]
)
def test_a_folder_may_hold_several_networks(tmp_path: Path, networks: Path, files: list[str], name: str) -> None:
    evaluator = load_evaluator(config(folder_of(tmp_path, networks, *files)), log=print, board=(9, 9))
    assert evaluator.info.name == name
    assert evaluator.info.has_rollout_policy == ("rollout" in files)


@pytest.mark.parametrize(("precision", "chosen"), [("auto", "float32"), ("float32", "float32"), ("int8", "int8")])
@pytest.mark.parametrize("name", ["", "katago.onnx"], ids=["folder", "file"])
def test_precision_may_choose_the_8_bit_copy(
    tmp_path: Path, networks: Path, name: str, precision: str, chosen: str
) -> None:
    folder = folder_of(tmp_path, networks, "katago", "katago-int8")
    evaluator = load_evaluator(config(folder / name, precision=precision), log=print, board=(9, 9))
    assert [model.info.precision for model in evaluator.models] == [chosen]


def test_the_8_bit_copy_is_the_default_where_it_is_faster(networks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_model, "describe_machine", lambda: {"simd": ["avx512_vnni"]})
    monkeypatch.setattr(onnx_model, "installed_providers", lambda: ["openvino"])
    made: list[tuple[str, str]] = []

    def no_evaluator(files: dict[str, NetworkFiles], _: object, __: object, runtime: Runtime, *rest: object) -> None:
        made.append((files["policy"].path(runtime.precision).name, runtime.precision))
        raise ModelError("stop")

    monkeypatch.setattr(loading, "_evaluator", no_evaluator)
    for name in ("katago.onnx", "katago-int8.onnx"):
        with pytest.raises(ModelError, match="stop"):
            load_evaluator(config(networks / name, provider="auto"), log=print)
    assert made == [("katago-int8.onnx", "int8")] * 2


def test_a_copy_of_an_older_network_is_not_used_and_logged(tmp_path: Path, networks: Path) -> None:
    folder = folder_of(tmp_path, networks, "katago-int8")
    tiny_networks.v7_network(folder / "katago.onnx", seed=5)
    lines: list[str] = []
    evaluator = load_evaluator(config(folder / "katago.onnx"), log=lines.append, board=(9, 9))
    assert [model.files[0].name for model in evaluator.models] == ["katago.onnx"]
    assert lines[0].startswith(
        "katago-int8.onnx was not made from this katago.onnx and is not used; `gtp-engine models"
    )
    with pytest.raises(ModelError, match="precision int8: expected a quantized network"):
        load_evaluator(config(folder / "katago.onnx", precision="int8"), log=print)


@pytest.mark.parametrize("note", ["", "[]", '{"held_out": {}}', '{"held_out": {"int8": {"policy_kl": "x"}}}'])
def test_nothing_is_known_of_a_copy_with_another_note(tmp_path: Path, note: str) -> None:
    copy = tiny_networks.v7_network(tmp_path / "net-int8.onnx", precision="int8", quantization=note)
    assert read_quality(copy) == NOTHING_KNOWN
    original = quantized_copy.original_path(copy)
    assert original.name == "net.onnx" and not quantized_copy.is_quantized_copy(copy), "of nothing"
    assert quantized_copy.quantized_path(original) == copy


def test_an_inaccurate_copy_is_not_used_unless_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_model, "describe_machine", lambda: {"simd": ["avx512_vnni"]})
    monkeypatch.setattr(onnx_model, "installed_providers", lambda: ["openvino"])

    def no_evaluator(files: dict[str, NetworkFiles], _: object, __: object, runtime: Runtime, *rest: object) -> None:
        pytest.fail(files["policy"].path(runtime.precision).name)

    monkeypatch.setattr(loading, "_evaluator", no_evaluator)
    note = {"held_out": {"int8": {"policy_kl": 0.02, "winrate_error": 0.003}}, "evaluations_per_second": {}}
    original = tiny_networks.v7_network(tmp_path / "net.onnx")
    changes = {"precision": "int8", "quantized_from": sha256_of(original), "quantization": json.dumps(note)}
    tiny_networks.v7_network(tmp_path / "net-int8.onnx", **changes)  # type: ignore[arg-type]
    for precision, file in (("auto", "net.onnx"), ("int8", "net-int8.onnx")):
        with pytest.raises(pytest.fail.Exception, match=f"^{file}$"):
            load_evaluator(config(original, provider="auto", precision=precision), log=print)


def test_a_missing_copy_that_would_be_faster_is_hinted_at(networks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, openvino = find_networks(networks / "small.onnx")["policy"], PROVIDERS["openvino"]
    assert quantization_hint(files, openvino, ["avx_vnni"]) == "", "not worth while for so few weights"
    assert not may_need_copy(networks / "katago.onnx"), "it has one"
    monkeypatch.setattr("gtp_engine.nn.network_files._SMALLEST_TO_QUANTIZE", 0)
    hint = quantization_hint(files, openvino, ["avx_vnni"])
    assert "`gtp-engine models quantize " in hint and "small.onnx" in hint
    for provider, simd in ((openvino, "avx2"), (PROVIDERS["cpu"], "avx_vnni")):
        assert quantization_hint(files, provider, [simd]) == ""
    both, alphago = find_networks(networks / "katago.onnx"), find_networks(networks / "policy.onnx", needs_value=False)
    for each in (both, alphago):
        assert quantization_hint(each["policy"], openvino, ["avx_vnni"]) == ""
    monkeypatch.setattr("gtp_engine.nn.network_files.kept_network", lambda key: b"{}")
    assert quantization_hint(files, openvino, ["avx_vnni"]) == "", "a trial has found that it gains nothing"
    assert both["policy"] is both["value"], "a network and its copy are compared, and hashed, once"


def test_commands_in_messages_can_be_entered(tmp_path: Path, networks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gtp_engine.nn.network_files._SMALLEST_TO_QUANTIZE", 0)
    (tmp_path / "my nets").mkdir()
    original = tmp_path / "my nets" / "net.onnx"
    shutil.copy(networks / "katago.onnx", original)
    command = f"`gtp-engine models quantize '{original}'` makes it"
    hint = quantization_hint(find_networks(original)["policy"], PROVIDERS["openvino"], ["avx_vnni"])
    assert hint.endswith(f"{command}.")
    tiny_networks.v7_network(original.with_name("net-int8.onnx"), precision="int8", quantized_from="0" * 64)
    assert find_networks(original)["policy"].remark.endswith(f"{command} again.")


def policy_on(evaluator: NetworkEvaluator, size: int) -> NDArray[np.float32]:
    """Return what an evaluator thinks of some moves' weights on a square board."""
    positions, _ = random_rows(1, size)
    out = new_evaluation(1, size, size)
    evaluator.prepare(size, size)
    evaluator.evaluate(Request(positions, 1, out))
    return out.policy.copy()


@pytest.mark.parametrize("board", [(9, 9), (13, 13)])
def test_a_network_for_one_board_plays_it(tmp_path: Path, networks: Path, board: tuple[int, int]) -> None:
    lines: list[str] = []
    both = load_evaluator(config(folder_of(tmp_path, networks, "katago", "small")), log=lines.append, board=board)
    assert lines[-2].startswith("Network tiny, on 9x9 small: ONNX Runtime")
    assert (both.info.name, both.info.boards) == ("tiny", ANY_BOARD)
    assert (both.info.on(9, 9).name, both.info.on(13, 13).name) == ("small", "tiny")
    for size, name in ((9, "small"), (13, "katago"), (9, "small")):
        alone = load_evaluator(config(networks / f"{name}.onnx"), log=print, board=(size, size))
        assert np.allclose(policy_on(both, size), policy_on(alone, size), atol=1e-6)
        alone.close()
    both.clear_cache()
    without = load_evaluator(config(networks / "katago.onnx"), log=print, board=board)
    assert not np.allclose(policy_on(both, 9), policy_on(without, 9), atol=1e-3), "another network is another policy"
    assert both.info.fingerprint != without.info.fingerprint
    both.close()


@pytest.mark.parametrize("damaged", ["katago", "small"])
def test_damaged_weights_are_found_when_their_board_is_prepared(tmp_path: Path, networks: Path, damaged: str) -> None:
    folder, sizes = folder_of(tmp_path, networks, "katago", "small"), {"katago": 13, "small": 9}
    changed(folder / f"{damaged}.onnx", lambda weights: weights * np.float32(np.nan))
    sound = sizes["small" if damaged == "katago" else "katago"]
    evaluator = load_evaluator(config(folder), log=print, board=(sound, sound))
    with pytest.raises(ModelError, match=f"'{damaged}.onnx' returns NaN, infinity or absurd numbers"):
        evaluator.prepare(sizes[damaged], sizes[damaged])
    positions, _ = random_rows(1, sizes[damaged])
    for _ in range(2):  # each time: a thread that prepared the board drops the error
        with pytest.raises(ModelError, match=f"'{damaged}.onnx' returns NaN, infinity or absurd numbers"):
            evaluator.evaluate(Request(positions, 1, new_evaluation(1, sizes[damaged], sizes[damaged])))
    evaluator.prepare(sound, sound)
    evaluator.close()


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([], "holds no ONNX file; convert it with `gtp-engine models import`"),
        (["policy"], "is for policy: expected one for value too; put the files into one folder"),
        (["value", "rollout"], "is for rollout, value: expected one for policy too"),
        (["katago", "policy"], r"has several policy networks \(katago.onnx, policy.onnx\): expected one for each"),
        (["katago", "other"], r"has several policy networks \(katago.onnx, other.onnx\): expected one for each"),
        (
            ["small", "policy"],
            r"network 'small', for 9x9, beside 'p' in folder .*: expected the same inputs and outputs",
        ),
    ],
)
def test_unusable_folders_are_refused(tmp_path: Path, networks: Path, files: list[str], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        load_evaluator(config(folder_of(tmp_path, networks, *files)), log=print)


def test_files_that_are_not_networks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"absent\.onnx' does not exist: expected an ONNX file or one of K"):
        load_evaluator(config(tmp_path / "absent.onnx"), log=print)
    katago = tmp_path / "kata1-b18.bin.gz"
    katago.touch()
    with pytest.raises(ModelError, match=r"'kata1-b18.bin.gz': expected an ONNX file; convert it with"):
        load_evaluator(config(katago), log=print)


def test_the_default_is_the_shipped_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    evaluator = load_evaluator(NetworkConfig(provider="cpu"), log=print, board=(9, 9))
    assert evaluator.info.name.startswith("tengen-")
    monkeypatch.setattr(named_networks, "PLACES", (tmp_path / "models",))
    with pytest.raises(ModelError, match=r"ships with the engine is missing from .*; install the engine again"):
        load_evaluator(NetworkConfig(), log=print)


def test_shipped_networks_can_be_named(networks: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ours = NetworkConfig(model="tengen-b10c128", provider="cpu")
    assert load_evaluator(ours, log=print, board=(9, 9)).info.name.startswith("tengen-")
    assert model_path("builtin") == shipped_folder()
    models = tmp_path / "models"
    for name in ("pair", "empty"):
        (models / name).mkdir(parents=True)
    for file in networks.glob("*.onnx"):
        (models / "pair" / file.name).write_bytes(file.read_bytes())
    monkeypatch.setattr(named_networks, "PLACES", (models,))
    assert shipped_networks() == {"pair": models / "pair"}
    assert model_path("pair") == models / "pair"
    with pytest.raises(ModelError, match=r"network 'other' does not exist: .* one of KataGo's or a folder or pair$"):
        load_evaluator(NetworkConfig(model="other"), log=print)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pair").mkdir()
    assert model_path("pair") == Path("pair"), "an existing file or folder comes first"


@pytest.mark.parametrize("board", [None, (9, 9)])
def test_the_default_ships_in_8_bits_too(board: tuple[int, int] | None) -> None:
    files = find_networks(shipped_folder())["policy"]
    paths = (files if board is None else files.for_boards[board]).paths
    assert paths.keys() == {"float32", "int8"}
    quality = read_quality(paths["int8"])
    assert quality.keys() == {True, False}, "the copy that ships is compared on processors with and without VNNI"
    for comparison in quality.values():
        assert comparison.policy_kl < 0.001 and comparison.winrate_error < 0.006, "on games with any komi and handicap"


def test_shipped_networks_have_an_origin_and_a_licence() -> None:
    files = sorted(shipped_folder().glob("*.onnx"))
    assert sum(file.stat().st_size for file in shipped_folder().rglob("*")) <= 52_000_000
    for file in files:
        info = read_metadata(file)
        assert info.kind == "policy+value"
        assert info.sizes == ANY_BOARD or info.name == f"tengen-{info.sizes}"
        assert info.license == "MIT"
        assert "b10c384h6nbttflrs" in info.origin, "the teacher"


def test_the_shipped_human_network_imitates_people_of_each_rank() -> None:
    """Ranks below those of its games are an extrapolation: the policy gets softer."""
    files = find_networks(model_path("tengen-human"))["policy"]
    assert files.info.needs_profile and files.info.license == "MIT" and files.paths.keys() == {"float32", "int8"}
    assert files.paths["int8"].stat().st_size <= 8_000_000 and not files.remark
    evaluator = load_evaluator(NetworkConfig(model="tengen-human"), log=lambda _: None)
    positions, evaluation = new_positions(3, 19, 19), new_evaluation(3, 19, 19)
    game = play_moves(Game(19, 19, Rules.parse("japanese")), "Q16 D4 Q3 D17")
    for row, rank in enumerate((1, 13, 25)):
        conditions = conditions_of(game)._replace(human_profile=HumanProfile("rank", rank, rank).code)
        write_game(positions, row, game, conditions=conditions)
    evaluator.evaluate(Request(positions, 3, evaluation))
    strong, weak, weakest = (policy / policy.sum() for policy in evaluation.policy.astype(np.float64))
    entropies = [-(each[each > 0] * np.log(each[each > 0])).sum() for each in (strong, weak, weakest)]
    assert entropies[0] < entropies[1] < entropies[2] < 4, "of 360 moves the weakest still play few"
    evaluator.close()


def test_the_alphago_networks_have_an_origin_and_a_licence() -> None:
    folder = model_path("alphago-9x9")
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 8 * 2**20
    for purpose, encoder in (("policy", "alphago-48"), ("value", "alphago-49")):
        info = find_networks(folder)[purpose].info
        assert (info.kind, info.encoder, info.license) == (purpose, encoder, "MIT")
        assert info.sizes.include(9, 9) and not info.sizes.include(19, 19)
        assert info.origin.startswith("trained by Tengen on ")
    assert read_linear_policy(folder / "rollout-policy.npz").license == "MIT"


def test_a_provider_that_does_not_load_is_replaced_and_logged(networks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = onnx_model.new_session

    def without_openvino(model: str | bytes, runtime: Runtime, *rest: object, **how: object) -> object:
        if runtime.provider.name == "openvino":
            raise ModelError("OpenVINO could not be started")
        return real(model, runtime, *rest, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(onnx_model, "new_session", without_openvino)
    monkeypatch.setattr(onnx_model, "installed_providers", lambda: ["openvino", "cpu"])
    lines: list[str] = []
    load_evaluator(config(networks / "katago.onnx", provider="auto"), log=lines.append, board=(5, 5))
    assert len(lines) == 3
    replaced = "ONNX Runtime's own CPU provider in float32 runs the network instead."
    assert f"OpenVINO could not be started. {replaced}" in lines[0]
    with pytest.raises(ModelError, match="OpenVINO could not be started"):
        load_evaluator(config(networks / "katago.onnx", provider="openvino"), log=print, board=(5, 5))


def test_a_provider_that_fails_in_its_trial_is_replaced(networks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, run = onnx_model.new_session, Mock(side_effect=RuntimeError("CUDA error 2: out of memory\nat line 5"))

    def failing(model: str | bytes, runtime: Runtime, *rest: Any, **how: Any) -> object:
        session = real(model, CPU, *rest, **how)
        is_cuda = runtime.provider.name == "cuda"
        return Mock(inputs=session.inputs, outputs=session.outputs, run=run) if is_cuda else session

    monkeypatch.setattr(onnx_model, "new_session", failing)
    monkeypatch.setattr(onnx_model, "installed_providers", lambda: ["cuda", "cpu"])
    lines: list[str] = []
    load_evaluator(config(networks / "small.onnx", provider="auto"), log=lines.append, board=(9, 9))
    following = ("CUDA", "ONNX Runtime's own CPU provider")
    for line, title in zip(lines[:2], following, strict=True):
        assert line.endswith(f"'CUDA error 2: out of memory'. {title} in float32 runs the network instead.")


# --- Providers on trial


class Strange(OnnxModel):
    """Returns other outputs, or is slow."""

    factor = 1.0

    def run(self, spatial: np.ndarray, globals_: np.ndarray) -> RawOutputs:
        raw = super().run(spatial, globals_)
        assert raw.policy is not None
        return raw._replace(policy=raw.policy * self.factor)


@pytest.mark.parametrize("factor", [-100.0, float("nan")])
def test_a_provider_that_disagrees_is_not_used(networks: Path, factor: float) -> None:
    model = Strange(networks / "small.onnx", CPU, batch=2)
    model.factor = factor
    assert disagreement(model) == "gives other results than the CPU"


def test_a_provider_slower_than_the_processor_is_not_used(networks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = OnnxModel(networks / "small.onnx", CPU, batch=2)
    rival = OnnxModel(networks / "small.onnx", CPU, batch=1)
    clock = iter([0.0, 6.0, 0.0, 8.0] * 2 + [0.0, 9.0, 0.0, 1.0] * 2)
    monkeypatch.setattr("gtp_engine.nn.call_times.time", SimpleNamespace(perf_counter=lambda: next(clock)))
    assert disagreement(model, rival) == "takes 3.0 times as long as the CPU", "for each position"


def test_a_call_of_pairs_is_one_of_three(networks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, one_thread = OnnxModel(networks / "small.onnx", CPU, batch=1), cast(Any, SimpleNamespace(map=map))
    monkeypatch.setattr("gtp_engine.nn.call_times.time", SimpleNamespace(perf_counter=count(0, 6).__next__))
    assert _call_of_pairs(model, 1, (9, 9), one_thread) == 2.0


def test_calls_are_measured_once_and_again_for_another_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose search is faster in batches depends on the machine; a search with a seed does not.

    What was measured while the machine became slower was kept for ever, and a busy machine measured at each start.
    """
    monkeypatch.setenv("TENGEN_CACHE_DIR", str(tmp_path / "cache"))
    path, seconds = tiny_networks.v7_network(tmp_path / "net.onnx"), []
    for busy, full, seed, power in ((0, 0, 1, 1), (1, 1, 1, 1), (0, 1, 1, 9), (0, 1, 1, 1), (1, 1, 1, 2), (0, 1, 2, 2)):
        monkeypatch.setattr("gtp_engine.nn.call_times.is_busy", lambda busy=busy: busy)
        clock = SimpleNamespace(perf_counter=map(lambda n, power=power: (n / 1000) ** power, count()).__next__)
        monkeypatch.setattr("gtp_engine.nn.call_times.time", clock)
        monkeypatch.setattr("gtp_engine.nn.call_times.is_cache_filled", lambda full=full: full)
        tiny_networks.v7_network(path, seed=seed) if seed == 2 else None
        evaluator = load_evaluator(config(path), log=print, board=(9, 9))
        seconds.append(evaluator.info.call_seconds)
        evaluator.close()
    assert seconds[:2] == [(), ()], "kernels are being compiled, then others use the cores"
    assert [size for size, _ in seconds[2]] == [1, 2, 4, 8] and all(each > 0 for _, each in seconds[2])
    assert all(large <= 2 * small for (_, small), (_, large) in pairwise(seconds[2])), "as fast as two calls at least"
    assert seconds[3] == tuple((size, pytest.approx(0.001 * 361 / 81)) for size in (1, 2, 4, 8)), "as on 19x19"
    assert seconds[2] != seconds[3] == seconds[4] != seconds[5]


# --- damaged weights ---


def changed(path: Path, change: Callable[[NDArray[np.float32]], NDArray[np.float32]]) -> Path:
    """Change all weights of a network file, and leave its properties as they are."""
    model = onnx.load(path)
    for tensor in model.graph.initializer:
        array = onnx.numpy_helper.to_array(tensor)
        if array.dtype == np.float32:
            tensor.CopyFrom(onnx.numpy_helper.from_array(change(array).astype(np.float32), tensor.name))
    onnx.save(model, path)
    return path


@pytest.mark.parametrize("factor", [np.nan, np.inf, 1e9], ids=["nan", "inf", "absurd"])
@pytest.mark.parametrize("board", [(19, 19), (9, 9)])
def test_damaged_weights_are_refused_at_the_start(tmp_path: Path, factor: float, board: tuple[int, int]) -> None:
    """The first search failed instead, or the engine played nonsense."""
    network = changed(tiny_networks.v7_network(tmp_path / "net.onnx"), lambda weights: weights * factor)
    with pytest.raises(ModelError, match=r"'net.onnx' returns NaN, infinity or absurd numbers; the file is damaged"):
        load_evaluator(config(network), log=lambda line: None, board=board)


def test_a_network_has_to_find_what_it_found_when_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "net.bin.gz").write_bytes(NetworkFile(8).bytes(gzipped=True))
    network = convert_file(tmp_path / "net.bin.gz", tmp_path / "net.onnx").path
    assert json.loads(read_properties(network)[EVALUATION]).keys() == {"moves", "value"}
    load_evaluator(config(network), log=lambda line: None).close()
    changed(network, lambda weights: -0.5 * weights)
    with pytest.raises(ModelError, match=r"'net.onnx' is off by .* from what it found .* the file is damaged"):
        load_evaluator(config(network), log=lambda line: None)
    model = onnx.load(network)
    (kept,) = (entry for entry in model.metadata_props if entry.key == EVALUATION)
    values = ('{"value": ["x", 0, 0]}', '{"value": [NaN, 0, 0]}')
    for text in ("[]", "{", '{"moves": {"x": 1}}', '{"moves": {"9999": 1}}', *values):
        kept.value = text
        onnx.save(model, network)
        with pytest.raises(ModelError, match="the file is damaged"):
            load_evaluator(config(network), log=lambda line: None)
    model.metadata_props.remove(kept)
    onnx.save(model, network)
    load_evaluator(config(network), log=print).close()  # a file that was written before such evaluations were kept


@pytest.mark.parametrize("number", [np.nan, np.inf, 1e30])
def test_a_katago_file_with_damaged_weights_is_not_imported(tmp_path: Path, number: float) -> None:
    data = bytearray(NetworkFile(8).bytes(gzipped=False))
    place = data.rindex(b"@BIN@") + 5
    data[place : place + 4] = np.float32(number).tobytes()
    (tmp_path / "net.bin").write_bytes(data)
    with pytest.raises(ModelError, match=r"damaged|finite"):
        convert_file(tmp_path / "net.bin", tmp_path / "net.onnx")
    assert not (tmp_path / "net.onnx").exists()
