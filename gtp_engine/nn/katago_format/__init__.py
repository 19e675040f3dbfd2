"""KataGo's network files: `.bin.gz`, `.txt.gz` and both uncompressed, model versions 8 to 17, as plain data.

    description  the parts of a network: layers, blocks, heads (dataclasses of arrays)
    parser       parses the bytes of a file into a `Network`

Nothing is computed here; `nn.onnx_export` turns a `Network` into an ONNX graph.  The format is that of KataGo's
`cpp/neuralnet/desc.cpp` (its reader) and `python/export_model_pytorch.py` (its writer).
"""
