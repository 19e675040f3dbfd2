"""Running networks: from positions to evaluations.

evaluators          makes every evaluator of an engine, from the configuration; start here
loading             from files to an evaluator; tries providers on this machine
call_times          how long calls of 1, 2, 4 … positions take on this machine
network_evaluator   NetworkEvaluator: cache, model and encoder, decoding
cache  decode       its kernels: cached evaluations; raw outputs to probabilities and points in Black's view
onnx_model          a network file on a provider
openvino_session, onnxruntime_session   the two libraries that run networks
providers           which provider runs a network, in which precision, and why
metadata            the `tengen.…` properties of a network file
network_files       the files of a network, in float32 and quantized to 8 bits; who makes a missing copy behind
quantized_copy      the 8-bit copy of a network, and whether it is good enough to play
named_networks      networks by name, the user's and those that ship; which one is the default
encoders            the protocol of encoders and KataGo's: the arrays they fill, profiles of human-like networks
encoding            games as such arrays, for the public interface
katago_inputs       KataGo's inputs (kernels): planes, global values, the ladders that they show
symmetry            the eight orientations of a board
plug_ins            of other parts of the package: encoders, rollout weights, 8-bit networks

Getting and importing networks:

network_catalogue    the published networks that can be downloaded by name
published_networks   how one of them gets into the user's folder
wheel_download       downloads a wheel by pip, from the package index that the user's tools are configured to use
katago_format        parses KataGo's network files into plain data
onnx_export          builds an ONNX graph and file from that data: `build`, then `convert`
half_precision       a network in float16, for graphics cards

Making networks and their 8-bit copies is the work of `training`.
"""
