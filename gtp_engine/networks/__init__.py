"""Network files: conversion of KataGo's networks to ONNX, and 8-bit quantization.

    katago_format   parses KataGo's network files into plain data
    onnx_export     builds an ONNX graph and file from that data
    katrain_wheels  finds the networks in KaTrain's wheels
    catalogue       the published networks that are known by name
    get             gets one of them, or one from a file, into the user's folder; pip_download fetches its wheel
    quantization    converts a float32 file to 8-bit integers, calibrated on games of the network that ships
    target_file     checks that a file can be written before the work for it begins

Playing needs none of this; `nn` runs the files written here.  The path of a KataGo network is
`katago_format.parser` → `onnx_export.build` → `onnx_export.convert`.
"""
