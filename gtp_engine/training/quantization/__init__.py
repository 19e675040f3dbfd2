"""Converts a float32 network to one whose trunk multiplies 8-bit integers.

    quantize            converts a file: the steps below, in order
    calibration         inputs for calibration and validation: positions of games of the network that ships
    quantized_graph     the layers worth quantizing, the ranges of values that reach them, the graph in 8 bits
    sensitivity         difference and speed of two networks, the loss from each layer, and which stay in floating point
    faster_copy         makes the quantized copy of a file, where this processor gains from it

`quantize` documents the recipe and the gain from each part of it.
"""

from gtp_engine.training.quantization.quantize import Quantized, quantize_file

__all__ = ["Quantized", "quantize_file"]
