"""Converts a float32 network to one whose trunk multiplies 8-bit integers.

    quantize            converts a file: the steps below, in order
    target_layers       which convolutions and products of a graph are worth quantizing
    calibration_games   positions of games that the network that ships plays against itself
    calibration_inputs  these positions as network inputs, for calibration and for validation
    ranges              the range of values that reach a layer, and the 8-bit scales for it
    rewrite             a graph with QuantizeLinear and DequantizeLinear inserted
    sensitivity         the loss of accuracy from each layer, and which layers stay in floating point
    compare             difference and speed of two networks
    speed_trial         how fast a network can be in 8 bits here, in seconds
    faster_copy         makes the quantized copy of a file, where this processor gains from it

`quantize` documents the recipe and the gain from each part of it.
"""

from gtp_engine.networks.quantization.quantize import GOOD_ENOUGH, Quantized, QuantizeSettings, quantize_file

__all__ = ["GOOD_ENOUGH", "QuantizeSettings", "Quantized", "quantize_file"]
