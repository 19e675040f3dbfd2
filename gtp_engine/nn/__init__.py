"""Networks: from positions to what they say about them.

loading          from the configuration to an evaluator
evaluator        NetworkEvaluator: cache, networks, decoding
cache  decode    its kernels: answers remembered; raw outputs to probabilities and points, Black's view
network          a network with its encoder
onnx_model       a network's file in ONNX Runtime
providers trial  what runs it, with what numbers, and why; whether that can be trusted
metadata         what a network file says about itself
encoder          what encoders offer; symmetry, the eight ways to look at a board
features_…       KataGo's inputs and AlphaGo's
katago_…         importing KataGo's networks
policy_games     games that a network plays by its policy alone, side by side
rows_evaluator   positions under different rules in one call; game_rows row_shift, rows that follow games
calibration      positions drawn from such games
quantize         networks in int8
fakes            evaluators without a network, for tests
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gtp_engine.nn.loading import load_evaluator

__all__ = ["load_evaluator"]


def __getattr__(name: str) -> Any:
    """Return `load_evaluator`, whose module loads onnxruntime: only those who ask for it pay for that."""
    if name == "load_evaluator":
        from gtp_engine.nn.loading import load_evaluator

        return load_evaluator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
