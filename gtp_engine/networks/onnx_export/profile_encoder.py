"""The encoder of a profile of players, in networks that imitate people."""

from gtp_engine.networks.katago_format.description import ProfileEncoder
from gtp_engine.networks.onnx_export.convolutions import activate_between_products, with_bias
from gtp_engine.networks.onnx_export.graph import Graph, Tensor
from gtp_engine.networks.onnx_export.transformer_blocks import product


def profile_bias(graph: Graph, profile: Tensor, encoder: ProfileEncoder) -> Tensor:
    """Return what `profile`, [B, 192], adds to each channel of the trunk's input, [B, C]."""
    hidden = with_bias(graph, product(graph, profile, encoder.mul1), encoder.bias1)
    hidden = product(graph, activate_between_products(graph, hidden, encoder.act1), encoder.mul2)
    hidden = activate_between_products(graph, with_bias(graph, hidden, encoder.bias2), encoder.act2)
    return product(graph, hidden, encoder.mul3)
