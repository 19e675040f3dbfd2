"""Making network files: conversion of KataGo's networks, and 8-bit quantization.

katago_format   KataGo's network files as plain data
onnx_export     such a network as an ONNX graph and file
katrain_wheels  the networks that KaTrain's wheels contain
quantization    a float32 file as one that multiplies 8-bit integers, with the games it is calibrated on

Playing needs none of this; `nn` runs what is made here.
"""
