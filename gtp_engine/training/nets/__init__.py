"""Networks as torch modules, built from the descriptions in `networks.katago_format` and written back into them.

    network_module  a whole network: `NetworkModule`, its `Outputs`
    blocks          residual blocks
    transformer     attention and feed-forward blocks
    layers          convolutions, norms, matrices, pooling
    shape  new      the size of a new network, and its description with random weights
    architecture    a description without weights, as JSON
    read_onnx       the description in an ONNX file that was exported here
    unfold_norms    norms with statistics again, for training on from a file

A module and the graph that `networks.onnx_export` builds from its description compute the same, on any board.
"""
