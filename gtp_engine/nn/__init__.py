"""Running networks: from positions to evaluations.

evaluators          makes every evaluator of an engine, from the configuration; start here
loading             from files to an evaluator; tries providers on this machine
network_evaluator   NetworkEvaluator: cache, model and encoder, decoding
cache  decode       its kernels: cached evaluations; raw outputs to probabilities and points in Black's view
onnx_model          a network file on a provider
openvino_session, onnxruntime_session   the two libraries that run networks
providers           which provider runs a network, in which precision, and why
metadata            the `tengen.…` properties of a network file
network_files       the files of a network: one for each purpose, in float32 and quantized to 8 bits
quantized_copy      the 8-bit copy of a network, and whether it is good enough to play
missing_copy        whether one is missing that would be faster here, and who makes it behind
named_networks      networks by name, the user's and those that ship; which one is the default
encoders            the protocol of encoders and KataGo's: the arrays they fill, profiles of human-like networks
katago_inputs       KataGo's inputs (kernels): planes, global values, the ladders that they show
symmetry            the eight orientations of a board
plug_ins            of other parts of the package: encoders, rollout weights, imported, half-precision, 8-bit networks

Making network files is the work of `networks`, games of many boards at once that of `selfplay`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gtp_engine.nn.loading import load_evaluator

__all__ = ["load_evaluator"]


def __getattr__(name: str) -> Any:
    """Return `load_evaluator`; its module loads what runs networks, so it is imported on first use."""
    if name == "load_evaluator":
        from gtp_engine.nn.loading import load_evaluator

        return load_evaluator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
