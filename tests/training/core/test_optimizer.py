"""The optimizer: steps of Muon, the matrices of one shape together."""

from training.needs_torch import torch

from gtp_engine.training.core.optimizer import BatchedMuon

SHAPES = ((8, 24), (8, 24), (24, 8), (8, 8), (8, 24))


def test_matrices_of_one_shape_take_the_steps_of_torch() -> None:
    generator = torch.Generator().manual_seed(1)
    initial = [torch.randn(shape, generator=generator) for shape in SHAPES]
    ours, theirs = ([torch.nn.Parameter(matrix.clone()) for matrix in initial] for _ in range(2))
    settings = {"lr": 0.02, "weight_decay": 0.1, "adjust_lr_fn": "match_rms_adamw"}
    optimizers = BatchedMuon(ours, **settings), torch.optim.Muon(theirs, **settings)
    for _ in range(3):
        for our, their in zip(ours, theirs, strict=True):
            our.grad = torch.randn(our.shape, generator=generator)
            their.grad = our.grad.clone()
        for optimizer in optimizers:
            optimizer.step()
    for our, their, before in zip(ours, theirs, initial, strict=True):
        moved = (their - before).norm()
        assert moved > 0.05
        assert (our - their).norm() < 0.01 * moved, "bfloat16 rounds differently in batches"
    first, second = (optimizer.state_dict()["state"] for optimizer in optimizers)
    assert all(torch.allclose(first[i]["momentum_buffer"], second[i]["momentum_buffer"]) for i in range(len(SHAPES)))
