"""Graphics cards: plug-ins of ONNX Runtime and OpenVINO's own drivers, with devices that are not there."""

import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import onnxruntime
import pytest
from nn import tiny_networks

from gtp_engine import ModelError, load_evaluator
from gtp_engine.config import NetworkConfig
from gtp_engine.nn import onnx_model, openvino_session
from gtp_engine.nn.onnx_model import OnnxModel, installed_providers, listed_devices, random_inputs
from gtp_engine.nn.onnxruntime_session import cards_of, plug_in_troubles
from gtp_engine.nn.providers import PROVIDERS, Runtime, choose_runtimes, for_cards
from gtp_engine.people.doctor import examine, format_findings

WEBGPU = PROVIDERS["webgpu"]
INSTEAD = "WebGPU in float32 runs the network instead."


def device(*, maker: int, vendor: str = "", **metadata: str) -> SimpleNamespace:
    hardware = SimpleNamespace(
        type=SimpleNamespace(name="GPU"), vendor=vendor, vendor_id=maker, device_id=0x2684, metadata=metadata
    )
    return SimpleNamespace(ep_name=WEBGPU.onnx_name, device=hardware)


INTEGRATED = device(maker=0x8086, Discrete="0")
DISCRETE = device(maker=0x10DE, Discrete="1", Description="GeForce RTX 4070")


class FakePlugIn:
    """A plug-in whose devices calculate on the processor."""

    def __init__(self) -> None:
        self.devices = [INTEGRATED, DISCRETE]
        self.registered: list[tuple[str, str]] = []
        self.sessions: list[tuple[Any, dict[str, str]]] = []
        self.failure = ""
        self.has_half = True

    def register(self, name: str, path: str) -> None:
        if self.failure:
            raise RuntimeError(f"{self.failure}\nat line 5")
        self.registered.append((name, path))

    def options(self) -> Any:
        plug_in = self

        class Options(onnxruntime.SessionOptions):  # type: ignore[misc]
            chosen: tuple[Any, dict[str, str]] | None = None

            def add_provider_for_devices(self, devices: list[Any], settings: dict[str, str]) -> None:
                (chosen,) = devices
                self.chosen = chosen, settings
                plug_in.sessions.append(self.chosen)

        return Options

    def session(self) -> Any:
        plug_in = self

        class Session(onnxruntime.InferenceSession):  # type: ignore[misc]
            def __init__(self, model: str | bytes, options: Any, **how: Any) -> None:
                self._is_ours = options.chosen is not None
                if self._is_ours and isinstance(model, bytes) and not plug_in.has_half:
                    raise RuntimeError("the device does not support f16")
                super().__init__(model, options, **({"providers": ["CPUExecutionProvider"]} | how))

            def get_providers(self) -> list[str]:
                return [*([WEBGPU.onnx_name] if self._is_ours else []), *super().get_providers()]

        return Session


@pytest.fixture
def plug_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakePlugIn]:
    fake, module = FakePlugIn(), ModuleType(WEBGPU.plug_in)
    module.__spec__ = ModuleSpec(WEBGPU.plug_in, None)
    module.get_library_path = lambda: "libwebgpu.so"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, WEBGPU.plug_in, module)
    monkeypatch.setattr("onnxruntime.register_execution_provider_library", fake.register)
    monkeypatch.setattr("onnxruntime.get_ep_devices", lambda: fake.devices)
    monkeypatch.setattr("onnxruntime.SessionOptions", fake.options())
    monkeypatch.setattr("onnxruntime.InferenceSession", fake.session())
    cards_of.cache_clear()
    yield fake
    cards_of.cache_clear()


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_networks.v7_network(tmp_path_factory.mktemp("networks") / "tiny.onnx")


def config(network: Path, **options: Any) -> NetworkConfig:
    return NetworkConfig(model=str(network), network_threads=1, **options)


def loaded(network: Path, **options: Any) -> tuple[OnnxModel, list[str]]:
    lines: list[str] = []
    evaluator = load_evaluator(config(network, **options), log=lines.append, board=(5, 5), batch=2)
    model = evaluator.models[0]
    assert isinstance(model, OnnxModel)
    return model, lines


def test_a_plug_in_is_registered_once_and_its_discrete_cards_come_first(plug_in: FakePlugIn) -> None:
    plug_in.devices.append(device(maker=0x1ED5, vendor="Moore"))
    for _ in range(2):
        assert "webgpu" in installed_providers()
        devices = [entry for entry in listed_devices() if entry[0] == "webgpu"]
        names = ("GeForce RTX 4070", "Intel GPU 8086:2684", "Moore GPU 1ed5:2684")
        assert devices == [("webgpu", number, name) for number, name in enumerate(names, 1)]
    assert plug_in.registered == [("onnxruntime_ep_webgpu", "libwebgpu.so")]
    findings = examine()
    assert {"provider": "webgpu", "number": 2, "name": "Intel GPU 8086:2684"} in findings["devices"]
    assert "graphics cards webgpu 1: GeForce RTX 4070, webgpu 2: Intel GPU 8086:2684" in format_findings(findings)
    assert findings["missing"] == []


@pytest.mark.parametrize(
    ("number", "card", "settings"),
    [(0, DISCRETE, {}), (1, DISCRETE, {}), (2, INTEGRATED, {"powerPreference": "low-power"})],
)
def test_the_option_device(
    plug_in: FakePlugIn, network: Path, number: int, card: Any, settings: dict[str, str]
) -> None:
    model, lines = loaded(network, provider="webgpu", device=number)
    assert plug_in.sessions and all(entry == (card, settings) for entry in plug_in.sessions)
    name = f"WebGPU (device {number})" if number else "WebGPU"
    assert f"Network tiny: {name} in float16, up to 2 positions at a time. Half precision" in " ".join(lines)
    assert model.runtime.device == number


def test_a_card_that_is_not_there_is_refused(plug_in: FakePlugIn, network: Path) -> None:
    expected = r"device 3 of WebGPU: expected 1 \(GeForce RTX 4070\) or 2 \(Intel GPU 8086:2684\)"
    with pytest.raises(ModelError, match=expected):
        loaded(network, provider="webgpu", device=3)
    for provider in ("cpu", "openvino"):
        expected = r"device 1 without a graphics card: .*(onnxruntime-ep-webgpu>=0\.4|\[gpu\])"
        with pytest.raises(ModelError, match=expected):
            loaded(network, provider=provider, device=1)


def test_a_card_agrees_with_the_processor_in_half_precision(plug_in: FakePlugIn, network: Path) -> None:
    model, _ = loaded(network, provider="webgpu")
    spatial, globals_ = random_inputs(model.info, 3)
    found = model.run(spatial, globals_)
    expected = OnnxModel(network, Runtime(PROVIDERS["cpu"], "float32"), batch=2).run(spatial, globals_)
    for one, other in zip(found, expected, strict=True):
        assert one is not None and other is not None and one.dtype == np.float32
        assert one == pytest.approx(other, abs=0.02)
        assert (one != other).any(), "it was calculated in half precision"


def test_a_card_without_half_precision_calculates_in_float32(plug_in: FakePlugIn, network: Path) -> None:
    plug_in.has_half = False
    model, lines = loaded(network, provider="webgpu")
    assert model.precision == "float32"
    assert lines[0].endswith(f"does not support f16'. {INSTEAD}")
    with pytest.raises(ModelError, match="does not support f16"):
        loaded(network, provider="webgpu", precision="float16")


def test_half_precision_must_agree(plug_in: FakePlugIn, network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even with a provider that was named: it would play wrongly without a word."""
    monkeypatch.setattr("gtp_engine.nn.loading.LARGEST_DIFFERENCE", 1e-7)
    model, lines = loaded(network, provider="webgpu")
    assert model.precision == "float32"
    assert lines[0] == f"WebGPU in float16 gives other results than the CPU. {INSTEAD}"


def test_auto_tries_card_and_processor(plug_in: FakePlugIn, network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rivals = []
    real = onnx_model.OnnxModel.run

    def run(model: OnnxModel, *inputs: Any) -> Any:
        rivals.append(model.runtime.provider.name)
        return real(model, *inputs)

    monkeypatch.setattr(OnnxModel, "run", run)
    clock = iter([0.0, 3.0] * 4 + [0.0, 1.0] * 4 + [0.0, 1.0] * 4 + [0.0, 8.0] * 4)
    monkeypatch.setattr("gtp_engine.nn.call_times.time", SimpleNamespace(perf_counter=lambda: next(clock)))
    monkeypatch.setattr("gtp_engine.nn.onnx_model.installed_providers", lambda: ["webgpu", "openvino", "cpu"])
    model, lines = loaded(network, provider="auto")
    assert lines[0] == f"WebGPU in float16 takes 12.0 times as long as the CPU. {INSTEAD}"
    assert (model.runtime.provider, model.precision) == (WEBGPU, "float32")
    assert set(rivals) == {"webgpu", "cpu", "openvino"}
    assert loaded(network, provider="webgpu")[0].precision == "float16", "one that is named is not timed"


@pytest.mark.parametrize(
    ("failure", "trouble"),
    [
        (
            "libcuda.so.1: cannot open shared object file",
            "WebGPU cannot be used: 'libcuda.so.1: cannot open shared object file'; install the card's driver",
        ),
        ("", "WebGPU is installed but finds no graphics card; install the card's driver"),
    ],
)
def test_a_missing_driver_is_named(plug_in: FakePlugIn, network: Path, failure: str, trouble: str) -> None:
    plug_in.failure, plug_in.devices = failure, []
    assert "webgpu" not in installed_providers()
    assert plug_in_troubles()["webgpu"].startswith(trouble)
    with pytest.raises(ModelError, match="libvulkan1"):
        loaded(network, provider="webgpu")
    model, lines = loaded(network, provider="auto")
    assert model.runtime.provider.is_cpu
    assert lines[0].startswith(trouble) and lines[0].endswith("`apt-get install libvulkan1 mesa-vulkan-drivers`.")
    findings = examine()
    assert findings["problems"] == []
    assert f"\nmissing        {trouble}" in format_findings(findings)


def test_a_plug_in_for_another_onnxruntime(plug_in: FakePlugIn, network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("onnxruntime.register_execution_provider_library")
    model, lines = loaded(network, provider="auto")
    assert model.runtime.provider.is_cpu
    assert "register_execution_provider_library" in lines[0]


# --- OpenVINO's own devices


class FakeCore:
    """OpenVINO with two graphics cards and a neural processor, which calculate on the processor."""

    def __init__(self, core: Any) -> None:
        self._core = core
        self.available_devices = ["CPU", "GPU.0", "GPU.1", "NPU"]
        self.compiled: list[tuple[str, str]] = []

    def read_model(self, *arguments: Any) -> Any:
        return self._core.read_model(*arguments)

    def get_property(self, name: str, key: str) -> str:
        return f"Intel {name}"

    def compile_model(self, network: Any, name: str, settings: dict[str, str]) -> Any:
        self.compiled.append((name, settings["INFERENCE_PRECISION_HINT"]))
        return self._core.compile_model(network, "CPU", {})


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> FakeCore:
    fake = FakeCore(openvino_session._core())
    monkeypatch.setattr(openvino_session, "_core", lambda: fake)
    return fake


@pytest.mark.parametrize(
    ("provider", "number", "expected"),
    [("openvino-gpu", 0, "GPU.0"), ("openvino-gpu", 2, "GPU.1"), ("openvino-npu", 1, "NPU")],
)
def test_other_devices_of_openvino(core: FakeCore, network: Path, provider: str, number: int, expected: str) -> None:
    model, _ = loaded(network, provider=provider, device=number)
    assert model.precision == "float16"
    assert {name for name, _ in core.compiled} == {expected}
    assert core.compiled[0] == (expected, "f16")
    spatial, globals_ = random_inputs(model.info, 3)
    assert len(model.run(spatial, globals_)[0]) == 3  # type: ignore[arg-type]


def test_openvino_names_its_devices(core: FakeCore, network: Path) -> None:
    listed = [entry for entry in listed_devices() if entry[0].startswith("openvino")]
    assert listed == [
        ("openvino-gpu", 1, "Intel GPU.0"),
        ("openvino-gpu", 2, "Intel GPU.1"),
        ("openvino-npu", 1, "Intel NPU"),
    ]
    with pytest.raises(ModelError, match=r"device 2 of OpenVINO on Intel's neural processor: expected 1 \(Intel NPU\)"):
        loaded(network, provider="openvino-npu", device=2)
    core.available_devices = ["CPU"]
    with pytest.raises(ModelError, match="finds no device; it needs Intel's driver for OpenCL"):
        loaded(network, provider="openvino-gpu")


# --- the choice


def chosen(provider: str, precision: str, device: int = 0, available: tuple[str, ...] = ("webgpu", "cpu")) -> list[str]:
    found = choose_runtimes(provider, precision, networks=["float32"], available=available, simd=["avx512_bf16"])
    return [runtime.title for runtime in for_cards(found, precision, device)]


def test_half_precision_comes_first_on_cards_only() -> None:
    cpu = "ONNX Runtime's own CPU provider in float32"
    assert chosen("auto", "auto") == ["WebGPU in float16", "WebGPU in float32", cpu]
    assert chosen("auto", "float32") == ["WebGPU in float32", cpu]
    assert chosen("auto", "float16") == chosen("webgpu", "float16") == ["WebGPU in float16"]
    assert chosen("auto", "auto", 2) == ["WebGPU (device 2) in float16", "WebGPU (device 2) in float32"]
    with pytest.raises(ModelError, match="precision float16 without a graphics card: expected auto or float32"):
        chosen("auto", "float16", available=("openvino", "cpu"))
    with pytest.raises(ModelError, match="precision float16 on ONNX Runtime's own CPU provider: expected a graphics"):
        chosen("cpu", "float16")
