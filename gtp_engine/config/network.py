"""The options of networks: which one, what runs it, how it looks at a position."""

from dataclasses import dataclass

from gtp_engine.config.option import Section, option


@dataclass(frozen=True)
class NetworkConfig(Section, name="network"):
    """The network that judges positions, and what runs it."""

    model: str | None = option(
        None,
        "Network to play with: an ONNX file, or a folder with one for each purpose (policy, value, rollout), or the "
        "name of one that comes with the engine; not set: the usual one of these.",
        unit="path",
    )
    provider: str = option(
        "auto",
        "What runs the network; auto takes the fastest that is installed and works, `gtp-engine doctor` says which.",
        choices=("auto", "cpu", "openvino", "cuda", "tensorrt", "coreml", "directml"),
    )
    precision: str = option(
        "auto",
        "Numbers the network calculates with: auto is bfloat16 where the processor has it, else float32; int8 needs a "
        "quantized network (`gtp-engine models quantize`).",
        choices=("auto", "float32", "bfloat16", "int8"),
    )
    network_threads: int = option(
        0, "Threads the network runs in; 0: one for each processor core.", unit="threads", low=0, high=1024
    )
    cache_positions: int = option(
        65536,
        "Answers of the network that are remembered, the least recently used are forgotten; one takes up to 3 KiB; "
        "0: none.",
        unit="positions",
        low=0,
        high=2**26,
    )
    symmetry: str = option(
        "any",
        "How the network looks at a position: any turns or mirrors it, always the same way for the same position; none "
        "shows it as it is; all averages over every way, at up to eight times the cost.",
        choices=("any", "none", "all"),
    )
    policy_temperature: float = option(
        1.0, "Temperature of the network's policy: above 1 flattens it, below 1 sharpens it.", low=0.01, high=5
    )
    # Chosen, not measured: seldom enough to cost no visits, often enough that a search finds the end of a game.
    pass_prior: float = option(
        0.005,
        "Probability of passing that is assumed for networks whose policy knows no pass.",
        low=0,
        high=0.5,
    )
