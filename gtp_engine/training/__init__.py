"""Training networks.

core          what every run uses: the training loop, settings of learning, devices, gradients, checkpoints, log, curves
nets          KataGo's architectures as torch modules
distillation  a network that learns from a teacher's games and evaluations: `gtp-engine generate`, `gtp-engine train`
alphago       the stages of AlphaGo: supervised policy, rollout policy, reinforcement, value network

The two tasks, `distillation` and `alphago`, use `core` and do not import each other.  Begin with `core.loop`: its
`Task` is what a new kind of training has to provide.  PyTorch comes with the extra `train`; data can be generated with
an ONNX teacher without it.
"""
