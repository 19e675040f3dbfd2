"""Training networks.

core          what every training run uses: optimizer, schedule, devices, gradients, checkpoints, log, curves, progress
nets          KataGo's architectures as torch modules
distillation  a network that learns from a teacher's games and evaluations
alphago       the stages of AlphaGo: supervised policy, rollout policy, reinforcement, value network

What needs PyTorch comes with the extra `train`; generating data with an ONNX teacher does not.
"""
