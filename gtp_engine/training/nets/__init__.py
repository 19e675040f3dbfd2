"""Networks as torch modules, built from the descriptions in `nn.katago_format` and written back into them.

    layers          layers and blocks, each made from its description
    network_module  a whole network: `NetworkModule`, its `Outputs`; norms of a file with statistics again
    new             the size of a new network, and its description with random weights
    architecture    a description without weights, as JSON, and the one in an exported ONNX file

A module and the graph that `nn.onnx_export` builds from its description compute the same, on any board.
"""
