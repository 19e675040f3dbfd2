"""KataGo networks as ONNX graphs, in the form that `nn.metadata` describes.

    convert        a file of KataGo's as a file of ours
    build          a whole network as a graph
    convolutions   blocks of convolutions
    transformer    attention and feed-forward blocks
    heads          policy and value head
    board          what follows from the board's size: pooling factors, rotation angles
    graph          nodes and constants, the only part that knows `onnx`

A graph has no mask: it computes exactly on the board of its input, whose sides are free dimensions.  Everything that
can be done beforehand is: norms are folded into weights where a product follows or precedes, and what hangs on the
board's size alone starts from its shape, so that it is constant once a session fixes that.

The shape of the graph is the one that ran fastest among those tried, by OpenVINO's and onnxruntime's own CPU code at
19×19 (bfloat16 and float32): notes where a form looks odd say what it gains.
"""

from gtp_engine.networks.onnx_export.build import build_model
from gtp_engine.networks.onnx_export.convert import Conversion, convert_bytes, convert_file, info_of_network

__all__ = ["Conversion", "build_model", "convert_bytes", "convert_file", "info_of_network"]
