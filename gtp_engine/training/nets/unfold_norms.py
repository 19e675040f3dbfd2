"""Norms taken out of the weights of a network file again, so that training continues from it as before.

A file has the statistics of its norms folded into filters and scales.  In that form no learning rate fits all of it:
Muon's steps are equally large for all filters, and in tengen-b10c128 those before a norm have root mean squares of
0.014 to 0.11, the others of 0.38, as all of them had in training.

    unfold_norms   give a network's norms statistics, and its filters one size; it computes the same as before
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn

from gtp_engine.training.nets.blocks import GlobalPoolingLayers, OrdinaryLayers
from gtp_engine.training.nets.layers import ConvLayer, NormLayer, PoolBranchLayer
from gtp_engine.training.nets.network_module import NetworkModule, PolicyLayers


class _Folded(NamedTuple):
    """A norm, the filters whose outputs it normalizes, and the matrix that adds a bias to these, if one does."""

    norm: NormLayer
    filters: Tensor  # [O, I, H, W]
    bias_matrix: Tensor | None = None  # [I, O]


def unfold_norms(module: NetworkModule, runs: Iterable[Callable[[], object]]) -> None:
    """Have the norms of `module`, read from a file, count statistics; its outputs change by rounding errors only.

    Each of `runs` runs the module for some positions: the norms get mean and variance of their inputs in them.
    """
    with torch.no_grad():
        _scale_filters(module)
        for norm, (mean, variance) in _measure(module, runs).items():
            norm.set_statistics(mean, variance)
    module.count_statistics(True)


def _scale_filters(module: NetworkModule) -> None:
    """Scale the filters before norms to the size of the others, and the norms by the inverse."""
    folded = list(_folded(module))
    before_norms = {each.filters.data_ptr() for each in folded}
    others = [layer.weight for layer in module.modules() if isinstance(layer, ConvLayer)]
    others = [weight for weight in others if weight.data_ptr() not in before_norms]
    size = torch.cat([weight.flatten() for weight in others]).square().mean().sqrt()
    for norm, filters, bias_matrix in folded:
        own = filters.square().mean(dim=(1, 2, 3)).sqrt()
        factors = torch.where(own > 0, size / own, torch.ones_like(own))
        filters.mul_(factors[:, None, None, None])
        if bias_matrix is not None:
            bias_matrix.mul_(factors)
        norm.scale.div_(factors)


def _folded(module: NetworkModule) -> Iterator[_Folded]:
    """Yield the norms that were folded into filters."""
    for layer in module.modules():
        match layer:
            case OrdinaryLayers():
                yield _Folded(layer.second.norm, layer.first.conv.weight)
            case GlobalPoolingLayers():
                yield _Folded(layer.second.norm, layer.first.conv.weight, layer.pool_to_bias.weight)
            case PoolBranchLayer():
                yield _Folded(layer.norm, layer.conv.weight)
            case PolicyLayers():
                yield _Folded(layer.norm, layer.conv.weight, layer.pool_to_bias.weight)


def _measure(module: NetworkModule, runs: Iterable[Callable[[], object]]) -> dict[NormLayer, tuple[Tensor, Tensor]]:
    """Return the means and variances of the norms' inputs by channel, averaged over `runs`, with equal weights."""
    found: dict[NormLayer, list[tuple[Tensor, Tensor]]] = {norm: [] for norm in module.norms()}

    def look(norm: nn.Module, inputs: tuple[Tensor]) -> None:
        assert isinstance(norm, NormLayer)
        places = inputs[0].float().movedim(1, 0).flatten(1)
        found[norm].append((places.mean(dim=1), places.var(dim=1)))

    hooks = [norm.register_forward_pre_hook(look) for norm in found]
    was_training = module.training
    module.eval()
    for run in runs:
        run()
    module.train(was_training)
    for hook in hooks:
        hook.remove()
    return {
        norm: (torch.stack([mean for mean, _ in each]).mean(dim=0), torch.stack([var for _, var in each]).mean(dim=0))
        for norm, each in found.items()
    }
