"""Networks as torch modules, made of the descriptions in `networks.katago_format` and written back into them.

    network       a whole network: `NetworkModule`, its `Outputs`
    blocks        residual blocks
    transformer   attention and feed-forward blocks
    layers        convolutions, norms, matrices, pooling
    new           descriptions of networks that have learned nothing yet
    read_onnx     the description in an ONNX file that was exported here

A module and the graph that `networks.onnx_export` builds of its description calculate the same, on any board.
"""
