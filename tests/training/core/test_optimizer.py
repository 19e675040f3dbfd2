"""The optimizer: steps of Muon, the matrices of one shape together."""

import pytest
from nn.katago_files import NetworkFile
from training.needs_torch import torch

from gtp_engine.nn.katago_format.parser import parse_network
from gtp_engine.training.core.devices import choose_machine
from gtp_engine.training.core.learning import OPTIMIZERS
from gtp_engine.training.core.optimizer import BatchedMuon, Optimizer
from gtp_engine.training.nets.network_module import NetworkModule

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


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_frequencies_of_a_transformer_are_neither_filter_nor_matrix(kind: str) -> None:
    """Training could not begin with a transformer whose rotation is learned, and its frequencies would have decayed."""
    network = parse_network(NetworkFile(17, ("attention-learned", "ffn")).bytes())
    module = choose_machine("cpu", "float32").place(NetworkModule(network))
    named = dict(module.named_parameters())
    (name,) = (name for name, parameter in named.items() if parameter.ndim == 3)
    before = named[name].detach().clone()
    for parameter in named.values():
        parameter.grad = torch.zeros_like(parameter)
    Optimizer(module, kind, weight_decay=0.5).step(0.1)
    assert torch.equal(named[name], before)
