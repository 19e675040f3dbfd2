"""KataGo's network files: `.bin.gz`, `.txt.gz` and both uncompressed, model versions 8 to 17, as plain data.

    description  what a network consists of: layers, blocks, heads (dataclasses of arrays)
    tokens       the bytes of a file as words, numbers and arrays
    parser       a file as a `Network`

Nothing is computed here; `networks.onnx_export` turns a `Network` into an ONNX graph.  The format is that of KataGo's
`cpp/neuralnet/desc.cpp` (its reader) and `python/export_model_pytorch.py` (its writer).
"""

from gtp_engine.networks.katago_format.description import (
    Activation,
    AttentionBlock,
    BatchNorm,
    Block,
    BottleneckBlock,
    Conv,
    FeedForwardBlock,
    GlobalPoolingBlock,
    MatMul,
    Network,
    NormActConv,
    OrdinaryBlock,
    PolicyHead,
    PoolBranch,
    RmsNorm,
    Trunk,
    ValueHead,
)
from gtp_engine.networks.katago_format.parser import (
    NEWEST_VERSION,
    OLDEST_VERSION,
    load_network,
    parse_network,
)

__all__ = [
    "Activation",
    "AttentionBlock",
    "BatchNorm",
    "Block",
    "BottleneckBlock",
    "Conv",
    "FeedForwardBlock",
    "GlobalPoolingBlock",
    "MatMul",
    "NEWEST_VERSION",
    "Network",
    "NormActConv",
    "OLDEST_VERSION",
    "OrdinaryBlock",
    "PolicyHead",
    "PoolBranch",
    "RmsNorm",
    "Trunk",
    "ValueHead",
    "load_network",
    "parse_network",
]
