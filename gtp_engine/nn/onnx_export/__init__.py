"""KataGo networks as ONNX graphs, in the form that `nn.metadata` describes.

    convert   converts a KataGo file to one of ours
    build     builds the graph of a whole network
    graph     nodes and constants, and the values that depend only on the board's size; the only module that uses `onnx`

A graph has no mask: it computes exactly on the board of its input, whose sides are free dimensions.  As much as
possible is computed in advance: norms are folded into the weights of a product beside them, and values that depend
only on the board's size are computed from the input's shape, so that they are constant once a session fixes it.

The form of the graph is the one that ran fastest among those tried, with OpenVINO and onnxruntime's own CPU code at
19×19 (bfloat16 and float32); comments explain the gain where a form looks odd.
"""
