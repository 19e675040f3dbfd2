"""Network files: conversion of KataGo's networks to ONNX, and 8-bit quantization.

    katago_format        parses KataGo's network files into plain data
    onnx_export          builds an ONNX graph and file from that data
    published_networks   the published networks that are known by name, and how one gets into the user's folder
    half_precision       a network in float16, for graphics cards
    wheel_download       downloads a wheel from the package index that the user's tools are configured to use
    quantization         converts a float32 file to 8-bit integers, calibrated on games of the network that ships

Playing on the processor needs none of this; `nn` runs the files written here.  The path of a KataGo network is
`katago_format.parser` → `onnx_export.build` → `onnx_export.convert`.
"""
