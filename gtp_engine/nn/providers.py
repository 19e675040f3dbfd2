"""The providers that can run a network (OpenVINO, ONNX Runtime's execution providers), their precision, the choice.

The choice depends on what is installed and on the processor's instruction sets; nothing is loaded (`onnx_model` does)
or measured (`loading` does) here.

Speed decided the order.  On two Zen 4 cores with AVX512-BF16, 19×19, evaluations/s of KataGo's b6c96 / b15c192 /
b18c384nbt: ONNX Runtime's own CPU provider 289 / 31 / 6.9, OpenVINO in float32 300 / 33 / 12, in bfloat16
571 / 66 / 22; in bfloat16 the first move of the policy was the same in 99% of positions.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from gtp_engine.base.errors import ModelError
from gtp_engine.base.installation import advice_for, command_with
from gtp_engine.base.machine import available_cores
from gtp_engine.nn.quantized_copy import NOTHING_KNOWN, CopyQuality, objection

BFLOAT16_FLAGS: Final = frozenset({"avx512_bf16", "amx_bf16"})
"""Instruction sets (`machine.SIMD_FLAGS`) with which OpenVINO calculates in bfloat16 faster than in float32."""

VNNI_FLAGS: Final = frozenset({"avx512_vnni", "avx_vnni", "amx_int8"})
"""Instruction sets that multiply 8-bit integers and add the products in one step.  Without one of them the products are
added in pairs, as 16-bit integers, which overflows with some networks."""

INT8_FLAGS: Final = VNNI_FLAGS | {"avx2"}
"""Instruction sets with which most networks quantized to 8 bits play better in OpenVINO than in float32 or bfloat16.

Matches at equal time decided (docs/notes/2026-11-28-strength.md): tengen-b10c128 against float32 on a Zen 3, which has
AVX2 alone, b6c96 against float32 where there is VNNI alone, b6c96 against bfloat16 on a Zen 4, b15c192 against bfloat16
on a Xeon with AMX.  With AVX2 alone, transformers are slower in 8 bits (`quantization.faster_copy`)."""

_WHY_INT8_VNNI: Final = (
    "The processor has instructions for 8-bit integers: about three times as fast as float32, with almost the same "
    "results."
)
_WHY_INT8: Final = (
    "In 8 bits the processor is one and a half times to twice as fast as in float32, with almost the same results."
)
_WHY_FLOAT16: Final = "Half precision, with almost the same results, is faster on most cards."
_WHY_BFLOAT16: Final = (
    "The processor has instructions for bfloat16: about twice as fast as float32, with almost the same results."
)

AUTO_ORDER: Final = ("cuda", "tensorrt-rtx", "tensorrt", "directml", "coreml", "webgpu", "openvino", "cpu")
"""Providers that `auto` tries, best first.  TensorRT comes after CUDA because it takes minutes to start.  OpenVINO's
drivers for graphics and neural processors are part of every installation and compile for seconds at each start, so they
are used only if they are named."""

OPENVINO: Final = "openvino"
"""OpenVINO on the processor."""

ANY_SIZE: Final = "any size"
"""One session takes calls of any number of positions, about as fast as one created for that number."""
IN_PARTS: Final = "in parts"
"""Calls are divided among sessions of fixed sizes, with the same results, bit for bit.

In OpenVINO a session for any number takes 1 to 3 ms longer whenever the number changes (tengen-b10c128 in int8:
6 positions 1.27 times as long as one for 6 on 9×9, 1.12 times on 19×19), and its results differ in the last bits.
4 + 2 positions take 1.06 and 1.02 times as long."""
PADDED: Final = "padded"
"""Calls are filled up to one of a few sizes that have sessions of their own."""

GPU_BATCH: Final = 32
"""Positions in one call on a GPU, which needs many to be fully used (KataGo's guide suggests 16 to 64)."""

LARGEST_CPU_BATCH: Final = 8
"""Most positions in one call on a processor: larger batches are no faster per position (b6c96: 612, 640, 639, 648 and
647 evaluations/s with batches of 1, 2, 4, 8 and 16)."""

_LONGEST_CALL: Final = 0.1
"""Seconds that a batch on a processor should take at most, as far as can be estimated: sessions are created for such
batches.  What a search takes of them is measured (`call_times`)."""

_BYTES_PER_CORE_SECOND: Final = 1.2e9
"""Evaluations/s in bfloat16 on 19×19 times bytes of the float32 file, for each core: 1.17e9, 1.31e9 and 1.15e9 were
measured for b6c96, b15c192 and b18c384nbt on a Zen 4 core; 0.7e9 for the transformer b10c384h6nbttflrs."""

_SLOWNESS: Final[Mapping[str, float]] = MappingProxyType({"bfloat16": 1.0, "float32": 2.0, "int8": 2.0})
"""Factor on that time by precision.  An int8 file has a quarter of the bytes, so an evaluation in int8 takes half the
time of one in bfloat16."""


@dataclass(frozen=True)
class Provider:
    """One of OpenVINO's devices, or one of ONNX Runtime's execution providers.

    name             what the configuration calls it
    onnx_name        its name in ONNX Runtime, "" for OpenVINO
    title            for messages
    package          what brings it, "" where it is part of every ONNX Runtime on some system
    steps            what has to be done besides
    calls            how numbers of positions are served: ANY_SIZE, IN_PARTS or PADDED
    openvino_device  its name in OpenVINO, "" for ONNX Runtime
    plug_in          the module with its library, if it is not part of ONNX Runtime
    driver           what to install if it finds no card
    has_half         whether its cards may calculate in float16
    """

    name: str
    onnx_name: str
    title: str
    package: str
    steps: str = ""
    calls: str = PADDED
    openvino_device: str = ""
    plug_in: str = ""
    driver: str = ""
    has_half: bool = True

    @property
    def is_cpu(self) -> bool:
        """Whether it runs on the processor, and so is known to agree with the plain CPU provider."""
        return self.name in ("cpu", OPENVINO)

    @property
    def advice(self) -> str:
        """How to install it."""
        return self.steps or f"run `{command_with(self.package)}`"


_INSTEAD: Final = "in an environment with `onnxruntime-gpu` in place of `onnxruntime`"

_TABLE: Final = (
    Provider(
        "cpu", "CPUExecutionProvider", "ONNX Runtime's own CPU provider", "onnxruntime", calls=ANY_SIZE, has_half=False
    ),
    Provider(OPENVINO, "", "OpenVINO", "openvino", calls=IN_PARTS, openvino_device="CPU", has_half=False),
    Provider("cuda", "CUDAExecutionProvider", "CUDA", "onnxruntime-gpu", f"install CUDA and cuDNN, {_INSTEAD}"),
    Provider(
        "tensorrt",
        "TensorrtExecutionProvider",
        "TensorRT",
        "onnxruntime-gpu",
        f"install CUDA, cuDNN and TensorRT, {_INSTEAD}",
    ),
    Provider("coreml", "CoreMLExecutionProvider", "Core ML", "", "it is part of onnxruntime on macOS", has_half=False),
    Provider(
        "directml",
        "DmlExecutionProvider",
        "DirectML",
        "onnxruntime-directml",
        "on Windows, install `onnxruntime-directml` in place of `onnxruntime`",
    ),
    Provider(
        "webgpu",
        "WebGpuExecutionProvider",
        "WebGPU",
        "onnxruntime-ep-webgpu",
        plug_in="onnxruntime_ep_webgpu",
        driver="install the card's driver, on Linux one for Vulkan: `apt-get install libvulkan1 mesa-vulkan-drivers`",
    ),
    Provider(
        "tensorrt-rtx",
        "NvTensorRTRTXExecutionProvider",
        "TensorRT RTX",
        "onnxruntime-ep-nv-tensorrt-rtx",
        plug_in="onnxruntime_ep_nv_tensorrt_rtx",
        driver="it needs NVIDIA's driver and a card of the series RTX 30 or later",
    ),
    Provider(
        "openvino-gpu",
        "",
        "OpenVINO on Intel graphics",
        "openvino",
        openvino_device="GPU",
        driver="it needs Intel's driver for OpenCL, on Linux `apt-get install intel-opencl-icd`",
    ),
    Provider(
        "openvino-npu",
        "",
        "OpenVINO on Intel's neural processor",
        "openvino",
        openvino_device="NPU",
        driver="it needs Intel's driver for the NPU",
    ),
)
PROVIDERS: Final[Mapping[str, Provider]] = MappingProxyType({provider.name: provider for provider in _TABLE})
"""By the name that the configuration uses."""


@dataclass(frozen=True)
class Runtime:
    """A provider and how it calculates; `reasons` are sentences for `gtp-engine doctor`.

    `precision` is float32, float16, bfloat16 or int8; the last reason explains it.  `has_bfloat16` means that the
    layers which an int8 network leaves in floating point are calculated in bfloat16.  `device` is the number of a
    provider's device, from 1, or 0: the one that it chooses.
    """

    provider: Provider
    precision: str
    reasons: tuple[str, ...] = ()
    has_bfloat16: bool = False
    device: int = 0

    @property
    def title(self) -> str:
        """Provider and precision in words: "OpenVINO in bfloat16", "WebGPU (device 2) in float16"."""
        device = f" (device {self.device})" if self.device else ""
        return f"{self.provider.title}{device} in {self.precision}"

    def place_of_device(self, names: Sequence[str]) -> int:
        """Return which of the provider's devices, by their names, runs networks; raises ModelError if it has fewer."""
        if self.device > len(names):
            expected = " or ".join(f"{number} ({name})" for number, name in enumerate(names, 1))
            raise ModelError(f"device {self.device} of {self.provider.title}", expected=expected)
        return max(0, self.device - 1)


def choose_runtimes(
    provider: str,
    precision: str,
    *,
    networks: Collection[str],
    available: Collection[str],
    simd: Collection[str] | None,
    quality: CopyQuality = NOTHING_KNOWN,
) -> tuple[Runtime, ...]:
    """Return the runtimes that can run a network, best first; more than one only for `provider` "auto".

    `provider` and `precision` are the configuration's, `networks` the precisions of the network's files (float32, int8
    or both), `available` the installed providers by name, `simd` the processor's instruction sets (None: unknown), and
    `quality` what is known of the file in int8.

    Raises ModelError if the provider that was named is not installed, or does not support the precision.
    """
    _check_network_precision(precision, networks)
    flags = frozenset(simd or ())

    def runtime(chosen: Provider, reason: str) -> Runtime:
        has_bfloat16 = chosen.name == OPENVINO and bool(BFLOAT16_FLAGS & flags)
        if precision not in ("auto", "int8"):
            _check(chosen, precision, has_bfloat16=has_bfloat16)
            return Runtime(chosen, precision, (reason, f"{precision} was requested."))
        if set(networks) == {"int8"} or precision == "int8":
            why = "int8 was requested." if "float32" in networks else "The network is quantized to int8."
            return Runtime(chosen, "int8", (reason, why), has_bfloat16)
        floating, why = "float32", "It calculates in float32, as the network was trained."
        if chosen.name == OPENVINO:
            why = "The processor is not known to have instructions for bfloat16."
        if has_bfloat16:
            floating, why = "bfloat16", _WHY_BFLOAT16
        if "int8" not in networks or not can_gain_from_int8(chosen, flags):
            return Runtime(chosen, floating, (reason, why))
        if against := objection(quality, floating, has_vnni=has_vnni(flags)):
            return Runtime(chosen, floating, (reason, why, f"The 8-bit copy is not used: {against}."))
        return Runtime(chosen, "int8", (reason, _WHY_INT8_VNNI if has_vnni(flags) else _WHY_INT8), has_bfloat16)

    if provider != "auto":
        chosen = PROVIDERS[provider]
        if provider not in available:
            names = " or ".join(["auto", *(name for name in PROVIDERS if name in available)])
            raise ModelError(f"provider {provider} is not installed", expected=names, advice=chosen.advice)
        return (runtime(chosen, "It was requested."),)
    installed = [PROVIDERS[name] for name in AUTO_ORDER if name in available]
    if not installed:
        raise ModelError("no provider is installed", advice=PROVIDERS["cpu"].advice)
    able = [
        each for each in installed if {"bfloat16": each.name == OPENVINO, "float16": each.has_half}.get(precision, True)
    ]
    if not able:
        needs, advice = ("OpenVINO", PROVIDERS[OPENVINO].advice) if precision == "bfloat16" else ("a graphics card", "")
        raise ModelError(f"precision {precision} without {needs}", expected="auto or float32", advice=advice)
    return tuple(runtime(each, _why(each, has_openvino=PROVIDERS[OPENVINO] in installed)) for each in able)


def for_cards(runtimes: Sequence[Runtime], precision: str, device: int) -> tuple[Runtime, ...]:
    """Return the runtimes to try, of those that `choose_runtimes` has found for `precision`, for a requested device.

    Half precision comes before float32 where the card may have it and the choice is free.  With a `device` (from 1)
    only runtimes that have devices are left; raises ModelError if there is none.
    """
    if device:
        runtimes = [replace(runtime, device=device) for runtime in runtimes if not runtime.provider.is_cpu]
        if not runtimes:
            raise ModelError(
                f"device {device} without a graphics card",
                expected="a provider that `gtp-engine doctor` shows with devices",
                advice=advice_for("gpu"),
            )
    found: list[Runtime] = []
    for runtime in runtimes:
        if precision == "auto" and runtime.precision == "float32" and runtime.provider.has_half:
            found.append(replace(runtime, precision="float16", reasons=(*runtime.reasons[:-1], _WHY_FLOAT16)))
        found.append(runtime)
    return tuple(found)


def has_vnni(simd: Collection[str] | None) -> bool:
    """Return whether the processor adds 8-bit products exactly, in one step."""
    return bool(VNNI_FLAGS.intersection(simd or ()))


def can_gain_from_int8(provider: Provider, simd: Collection[str] | None) -> bool:
    """Return whether a network quantized to 8 bits may play better than in floating point, in the same time.

    With VNNI every one does, as far as is known.  ONNX Runtime's own CPU provider does not gain: b6c96 took 1.4 times
    as long as in float32 on a Zen 4.
    """
    return provider.name == OPENVINO and bool(INT8_FLAGS.intersection(simd or ()))


def suitable_batch(runtime: Runtime, file_bytes: int, cores: int) -> int:
    """Return how many positions to pass to a network in one call at most, a power of two, by the size of its file."""
    if not runtime.provider.is_cpu:
        return GPU_BATCH
    batch, position_seconds = LARGEST_CPU_BATCH, file_bytes * _SLOWNESS[runtime.precision]
    position_seconds /= _BYTES_PER_CORE_SECOND * cores
    while batch > 1 and batch * position_seconds > _LONGEST_CALL:
        batch //= 2
    return batch


def thread_count(threads: int) -> int:
    """Return the number of threads to request; 0 lets the library choose, which takes one per physical core.

    Where a container's quota allows fewer cores than the machine has, the library would choose too many.
    """
    if threads:
        return threads
    cores = available_cores()
    return cores if cores < (os.cpu_count() or 1) else 0


def _check_network_precision(precision: str, networks: Collection[str]) -> None:
    """Raise ModelError if no file of the network suits the precision that was requested."""
    if precision == "int8" and "int8" not in networks:
        raise ModelError(
            "precision int8",
            expected="a quantized network, this one is float32",
            advice="`gtp-engine models quantize` creates one",
        )
    if precision not in ("auto", "int8") and "float32" not in networks:
        raise ModelError(f"precision {precision}", expected="int8 or auto, as the network is quantized to int8")


def _check(provider: Provider, precision: str, *, has_bfloat16: bool) -> None:
    """Raise ModelError if the provider does not support the precision that was requested."""
    if precision == "float16" and not provider.has_half:
        raise ModelError(f"precision float16 on {provider.title}", expected="a graphics card", advice="use auto")
    if precision == "bfloat16" and not has_bfloat16:
        needs = "a processor with AVX512-BF16 or AMX" if provider.name == OPENVINO else "OpenVINO"
        raise ModelError(f"precision bfloat16 on {provider.title}", expected=needs, advice="use auto or float32")


def _why(provider: Provider, *, has_openvino: bool) -> str:
    """Return why `auto` chooses the provider."""
    if provider.name == OPENVINO:
        return "OpenVINO is the fastest provider on processors."
    if provider.name == "cpu":
        return "Nothing faster could be used." if has_openvino else "Nothing faster is installed."
    return f"{provider.title} uses a graphics or neural processor, if a trial at the start finds it right and faster."
