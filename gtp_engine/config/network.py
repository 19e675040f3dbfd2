"""The options of networks: which one is used, what runs it, how it evaluates a position."""

from dataclasses import dataclass

from gtp_engine.config.option import Section, option


@dataclass(frozen=True)
class NetworkConfig(Section, name="network"):
    """The network that evaluates positions, and what runs it."""

    model: str | None = option(
        None,
        "Network to play with: an ONNX file, or a folder with separate files for policy, value and rollouts, or the "
        "name of one that `gtp-engine models list` shows; not set: the one that `gtp-engine models default` sets, or "
        "the engine's own.",
        unit="path",
    )
    human_model: str | None = option(
        None,
        "Human-like network beside the one to play with, an ONNX file: KataGo's b18c384nbt-humanv0, imported with "
        "`gtp-engine models import`.  What its policy decides is set in section human; not set: none.",
        unit="path",
    )
    provider: str = option(
        "auto",
        "What runs the network; auto is the fastest that is installed and works, `gtp-engine doctor` shows which.",
        choices=("auto", "cpu", "openvino", "cuda", "tensorrt", "coreml", "directml"),
    )
    precision: str = option(
        "auto",
        "Number format the network calculates in: auto is the best for the processor, int8 where it has instructions "
        "for that and the network has an 8-bit copy (`gtp-engine models quantize`), else bfloat16, else float32.",
        choices=("auto", "float32", "bfloat16", "int8"),
    )
    network_threads: int = option(
        0, "Threads the network runs in; 0: one for each processor core.", unit="threads", low=0, high=1024
    )
    cache_positions: int = option(
        65536,
        "Evaluations to cache; the least recently used are dropped first.  One takes up to 3 KiB; 0: none.",
        unit="positions",
        low=0,
        high=2**26,
    )
    symmetry: str = option(
        "any",
        "Orientation in which the network sees a position: any rotates or mirrors it, always the same way for the same "
        "position; none leaves it unchanged; all averages over all orientations, at up to eight times the cost.",
        choices=("any", "none", "all"),
    )
    policy_temperature: float = option(
        1.0, "Temperature of the network's policy: above 1 flattens it, below 1 sharpens it.", low=0.01, high=5
    )
    # Chosen, not measured: low enough to cost no visits, high enough that a search finds the end of a game.
    pass_prior: float = option(
        0.005,
        "Probability of a pass, for networks whose policy has none.",
        low=0,
        high=0.5,
    )
