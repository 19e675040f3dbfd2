"""From a network in float32 to one whose trunk multiplies 8-bit integers.

    quantize      a file as a quantized file: the steps below, in order
    layers        which convolutions and products of a graph are worth quantizing
    examples      inputs to calibrate and to judge with, from games that the network plays
    ranges        what values reach a layer, and the 8-bit scales that follow
    rewrite       a graph with QuantizeLinear and DequantizeLinear in it
    sensitivity   what each layer costs in accuracy, and which are left in floating point for it
    compare       difference and speed of two networks

The recipe, and what each part of it is worth, stands in `quantize`.
"""

from gtp_engine.networks.quantization.quantize import Quantized, QuantizeSettings, quantize_file

__all__ = ["QuantizeSettings", "Quantized", "quantize_file"]
