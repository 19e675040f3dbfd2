"""A trial of how fast a network can be in 8 bits here: it takes seconds, where making a good copy takes minutes.

The trial's copy has all layers in 8 bits, with ranges of values from random boards.  So it is of no use for playing,
but as fast as any copy can be.

On a Zen 3, which has AVX2 without VNNI, g170e-b15c192 is 1.5 times as fast as in float32 (19×19, batches of 4, on
a busy machine), the transformer b10c384h6nbttflrs 0.7 times.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import onnx

from gtp_engine.networks.quantization.calibration_inputs import Examples
from gtp_engine.networks.quantization.compare import speeds
from gtp_engine.networks.quantization.quantize import BATCH, runtimes_by_precision, save_model
from gtp_engine.networks.quantization.ranges import measure_ranges
from gtp_engine.networks.quantization.rewrite import quantized_model
from gtp_engine.networks.quantization.target_layers import NetworkGraph
from gtp_engine.nn.metadata import read_info
from gtp_engine.nn.onnx_model import OnnxModel
from gtp_engine.nn.provider_trial import random_inputs


def largest_gain(path: Path, provider: str) -> float:
    """Return how fast an 8-bit copy of a float32 network file can be here, as a multiple of the original's speed.

    It is 0 if no layer can be quantized.  Raises ModelError if the network cannot be run.
    """
    model, info, runtimes = onnx.load(path), read_info(path), runtimes_by_precision(provider)
    layers = NetworkGraph(model).layers()
    if not layers:
        return 0.0
    examples = Examples(*info.sizes.usual, *random_inputs(info, BATCH))
    ranges = measure_ranges(model, layers, [examples], runtimes["float32"], lambda done, total: None)
    with TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        save_model(quantized_model(model, layers, ranges), copy, {}, "")
        models = {
            name: OnnxModel(copy if name == "int8" else path, runtime, batch=BATCH)
            for name, runtime in runtimes.items()
        }
        found = speeds(models, examples)
        for each in models.values():
            each.close()
    return found.pop("int8") / max(found.values())
