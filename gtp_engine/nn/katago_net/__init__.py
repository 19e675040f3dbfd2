"""KataGo's network files: `.bin.gz`, `.txt.gz` and both uncompressed, model versions 8 to 17, as plain data.

    layers    what a network consists of: layers, blocks, heads (dataclasses holding arrays)
    source    the bytes of a file as words, numbers and arrays
    reader    a file as a `Network`

Nothing here computes anything; `nn.katago_onnx` turns a `Network` into a graph that runs.  The format is the one of
KataGo's `cpp/neuralnet/desc.cpp` (its reader) and `python/export_model_pytorch.py` (its writer).
"""

from gtp_engine.nn.katago_net.layers import (
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
from gtp_engine.nn.katago_net.reader import (
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
