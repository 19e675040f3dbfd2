"""Which provider and which precision are chosen, in every combination that machines have."""

import math
from itertools import product

import pytest

from gtp_engine.base.errors import ModelError
from gtp_engine.nn.providers import PROVIDERS, Runtime, choose_runtimes, suitable_batch, thread_count
from gtp_engine.nn.quantized_copy import NOTHING_KNOWN, Comparison, CopyQuality

OPENVINO = ["openvino", "cpu"]
PLAIN = ["cpu"]
CUDA = ["tensorrt", "cuda", "cpu"]
ZEN4 = ["avx2", "avx512f", "avx512_bf16"]
ICE_LAKE = ["avx2", "avx512f", "avx512_vnni"]
MB = 1_000_000


def chosen(
    provider: str = "auto",
    precision: str = "auto",
    *,
    network: str | tuple[str, ...] = "float32",
    available: list[str] = OPENVINO,
    simd: list[str] | None = ZEN4,
) -> list[tuple[str, str]]:
    networks = (network,) if isinstance(network, str) else network
    runtimes = choose_runtimes(provider, precision, networks=networks, available=available, simd=simd)
    return [(runtime.provider.name, runtime.precision) for runtime in runtimes]


def test_bfloat16_where_the_processor_has_it() -> None:
    assert chosen() == [("openvino", "bfloat16"), ("cpu", "float32")]
    assert chosen(simd=["amx_bf16"])[0] == ("openvino", "bfloat16")
    assert chosen(simd=["avx2"]) == [("openvino", "float32"), ("cpu", "float32")]
    assert chosen(simd=None)[0] == ("openvino", "float32")


def test_a_provider_that_is_named_is_the_only_choice() -> None:
    assert chosen("cpu") == [("cpu", "float32")]
    assert chosen("openvino", "float32") == [("openvino", "float32")]
    assert chosen("auto", "bfloat16") == [("openvino", "bfloat16")]


@pytest.mark.parametrize("precision", ["auto", "int8"])
def test_quantized_networks_are_calculated_in_int8(precision: str) -> None:
    assert chosen(precision=precision, network="int8") == [("openvino", "int8"), ("cpu", "int8")]
    runtime, plain = choose_runtimes("auto", precision, networks=["int8"], available=OPENVINO, simd=ZEN4)
    assert (runtime.has_bfloat16, plain.has_bfloat16) == (True, False)


BOTH = ("float32", "int8")


@pytest.mark.parametrize(
    ("simd", "precision"),
    [
        ([], "float32"),
        (None, "float32"),
        (["avx2", "avx_vnni"], "int8"),
        (ICE_LAKE, "int8"),
        ([*ICE_LAKE, "avx512_bf16"], "int8"),
        ([*ICE_LAKE, "amx_bf16", "amx_int8"], "int8"),
        (["asimd", "bf16", "i8mm"], "float32"),
    ],
)
def test_of_a_network_in_both_precisions_the_processor_gets_the_better(simd: list[str] | None, precision: str) -> None:
    assert chosen(network=BOTH, simd=simd) == [("openvino", precision), ("cpu", "float32")]


def test_a_request_overrides_the_better_precision() -> None:
    for precision in ("float32", "int8", "bfloat16"):
        assert chosen(precision=precision, network=BOTH, simd=[*ICE_LAKE, "avx512_bf16"])[0] == ("openvino", precision)
    assert chosen(available=CUDA, network=BOTH, simd=ICE_LAKE)[0] == ("cuda", "float32")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"provider": "cuda"}, r"provider cuda is not installed: expected auto or cpu or openvino; .*onnxruntime-gpu"),
        ({"provider": "openvino", "available": PLAIN}, r"expected auto or cpu; run `.*install.* openvino`"),
        ({"precision": "int8"}, r"precision int8: expected a quantized network.*models quantize"),
        ({"precision": "float32", "network": "int8"}, r"precision float32: expected int8 or auto"),
        (
            {"provider": "cpu", "precision": "bfloat16"},
            r"bfloat16 on ONNX Runtime's own CPU provider: expected OpenVINO",
        ),
        ({"precision": "bfloat16", "simd": ["avx2"]}, r"bfloat16 on OpenVINO: expected a processor with AVX512-BF16"),
        ({"precision": "bfloat16", "available": PLAIN}, r"precision bfloat16 without OpenVINO: .*install.* openvino"),
        ({"available": []}, r"no provider is installed; run"),
    ],
)
def test_impossible_choices_are_reported(given: dict[str, object], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        chosen(**given)  # type: ignore[arg-type]


SPEEDS = {"float32": 1.0, "bfloat16": 1.9, "int8": 2.2}


@pytest.mark.parametrize(
    ("comparison", "simd", "precision", "reason"),
    [
        (Comparison(0.002, 0.005, SPEEDS | {"int8": 2.4}), ["avx512_bf16", "avx512_vnni"], "int8", ""),
        (Comparison(0.002, 0.005, SPEEDS), ["avx512_bf16", "avx512_vnni"], "bfloat16", "1.16 times as fast as bfl"),
        (Comparison(0.002, 0.005, SPEEDS), ICE_LAKE, "int8", ""),
        (Comparison(0.002, 0.005, {}), ICE_LAKE, "int8", ""),
        (Comparison(0.005, 0.01, {"float32": 1.0, "int8": 1.2}), ICE_LAKE, "int8", ""),
        (Comparison(0.002, 0.005, {"float32": 1.0}), ICE_LAKE, "int8", ""),
        (Comparison(0.006, 0.005, SPEEDS), ICE_LAKE, "float32", "differs too much from float32 (policy KL 0.0060, "),
        (Comparison(0.002, 0.011, SPEEDS), ICE_LAKE, "float32", "winrate off by 0.0110; at most 0.005 and 0.01 are"),
        (Comparison(math.nan, 0.005, SPEEDS), ICE_LAKE, "float32", "differs too much from float32 (policy KL nan, "),
        (Comparison(0.002, math.nan, SPEEDS), ICE_LAKE, "float32", "winrate off by nan; at most 0.005 and 0.01 are"),
        (Comparison(0.002, 0.005, SPEEDS), ["avx2"], "int8", ""),
        (Comparison(0.006, 0.005, SPEEDS), ["avx2"], "float32", "differs too much from float32 (policy KL 0.0060, "),
        (Comparison(0.002, 0.005, SPEEDS | {"int8": 0.7}), ["avx2"], "float32", "0.70 times as fast as float32"),
    ],
)
def test_a_copy_plays_where_it_is_accurate_and_faster_than_what_would_play_instead(
    comparison: Comparison, simd: list[str], precision: str, reason: str
) -> None:
    quality = {simd != ["avx2"]: comparison}
    for wish, expected in (("auto", precision), ("int8", "int8")):
        runtime = choose_runtimes("openvino", wish, networks=BOTH, available=OPENVINO, simd=simd, quality=quality)[0]
        assert runtime.precision == expected
        assert (reason in runtime.reasons[-1]) == (wish == "auto") or not reason


@pytest.mark.parametrize("quality", [NOTHING_KNOWN, {True: Comparison(0.001, 0.002, SPEEDS)}])
def test_a_copy_that_was_not_compared_without_vnni_does_not_play_without_it(quality: CopyQuality) -> None:
    def runtime(simd: list[str]) -> Runtime:
        return choose_runtimes("auto", "auto", networks=BOTH, available=OPENVINO, simd=simd, quality=quality)[0]

    assert runtime(["avx2"]).precision == "float32"
    assert "8-bit sums may overflow; `gtp-engine models quantize`" in runtime(["avx2"]).reasons[-1]
    assert runtime(["avx2", "avx_vnni"]).precision == "int8"


def test_the_reason_for_8_bits_names_what_the_processor_gains() -> None:
    quality = dict.fromkeys((True, False), Comparison(0.001, 0.002))
    for simd, gain in ((["avx2"], "one and a half times to twice as fast"), (ICE_LAKE, "three times as fast")):
        runtime = choose_runtimes("auto", "auto", networks=BOTH, available=OPENVINO, simd=simd, quality=quality)[0]
        assert runtime.precision == "int8" and gain in runtime.reasons[-1]


def test_providers_are_tried_in_order_for_their_reasons() -> None:
    found = [*choose_runtimes("auto", "auto", networks=BOTH, available=[*PROVIDERS], simd=[])]
    names = ["cuda", "tensorrt-rtx", "tensorrt", "directml", "coreml", "webgpu", "openvino", "cpu"]
    assert [runtime.provider.name for runtime in found] == names
    plain = choose_runtimes("auto", "auto", networks=BOTH, available=PLAIN, simd=[])
    reasons = [runtime.reasons[0] for runtime in (*found[-3:], *plain)]
    beginnings = ("WebGPU uses a graphics", "OpenVINO is the fast", "Nothing faster could be", "Nothing faster is inst")
    assert all(reason.startswith(beginning) for reason, beginning in zip(reasons, beginnings, strict=True))


def test_every_choice_has_reasons_in_sentences() -> None:
    known = dict.fromkeys((True, False), Comparison(0.001, 0.002))
    for available, simd in product((OPENVINO, PLAIN, CUDA), (ZEN4, ICE_LAKE)):
        for runtime in choose_runtimes("auto", "auto", networks=BOTH, available=available, simd=simd, quality=known):
            assert len(runtime.reasons) == 2
            assert all(reason.endswith(".") and reason[0].isupper() for reason in runtime.reasons)


@pytest.mark.parametrize(
    ("provider", "precision", "size", "cores", "batch"),
    [
        ("openvino", "bfloat16", 4 * MB, 2, 8),  # b6c96
        ("openvino", "bfloat16", 40 * MB, 2, 4),  # b15c192
        ("openvino", "bfloat16", 105 * MB, 2, 2),  # b18c384nbt
        ("openvino", "bfloat16", 105 * MB, 16, 8),
        ("openvino", "int8", 10 * MB, 2, 8),
        ("openvino", "int8", 20 * MB, 2, 4),
        ("cpu", "float32", 40 * MB, 2, 2),
        ("cpu", "float32", 105 * MB, 1, 1),
        ("cuda", "float32", 105 * MB, 2, 32),
    ],
)
def test_slow_networks_get_small_batches(provider: str, precision: str, size: int, cores: int, batch: int) -> None:
    runtime = Runtime(PROVIDERS[provider], precision)
    assert suitable_batch(runtime, size, cores) == batch


def test_the_library_chooses_the_threads_where_no_quota_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 16)
    for threads, cores, expected in ((3, 16, 3), (0, 2, 2), (0, 16, 0)):
        monkeypatch.setattr("gtp_engine.nn.providers.available_cores", lambda cores=cores: cores)
        assert thread_count(threads) == expected
