"""The encoder of a profile of players, in networks that imitate people."""

from gtp_engine.networks.katago_format.description import ProfileEncoder
from gtp_engine.networks.onnx_export.convolutions import activate, with_bias
from gtp_engine.networks.onnx_export.graph import Graph, Tensor
from gtp_engine.networks.onnx_export.transformer_blocks import product


def profile_bias(graph: Graph, profile: Tensor, encoder: ProfileEncoder) -> Tensor:
    """Return what `profile`, [B, 192], adds to each channel of the trunk's input, [B, C]."""
    hidden = with_bias(graph, product(graph, profile, encoder.mul1), encoder.bias1)
    hidden = with_bias(graph, product(graph, activate(graph, hidden, encoder.act1), encoder.mul2), encoder.bias2)
    return product(graph, activate(graph, hidden, encoder.act2), encoder.mul3)
