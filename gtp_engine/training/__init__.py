"""Training networks.

core          what every run uses: the training loop, settings of learning, devices, gradients, checkpoints, log, curves
nets          KataGo's architectures as torch modules
distillation  a network that learns from a teacher's games and evaluations: `gtp-engine generate`, `gtp-engine train`

The other user of `core` is `training.alphago.stages`, AlphaGo's pipeline; neither task imports the other.  Begin with
`core.loop`: a new kind of training derives its run from the ones there.  PyTorch comes with the extra `train`; data can
be generated with an ONNX teacher without it.
"""
