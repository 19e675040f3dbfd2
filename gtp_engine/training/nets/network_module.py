"""A whole network as a torch module: trunk, policy head, value head.

    NetworkModule   runs, trains and describes a network
    unfold_norms    gives the norms of a network from a file statistics, and its filters one size

The module's outputs are the raw ones of `nn.metadata`, for the side to move: the same as those of a
network file of the same description.

A file has the statistics of its norms folded into filters and scales.  In that form no learning rate fits all of it:
Muon's steps are equally large for all filters, and in tengen-b10c128 those before a norm have root mean squares of
0.014 to 0.11, the others of 0.38, as all of them had in training.  So training that goes on from a file unfolds them.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor, nn

from gtp_engine.base.errors import ConfigError, counted
from gtp_engine.nn.katago_format.description import MOST_POLICIES, Network, PolicyHead, Trunk, ValueHead
from gtp_engine.nn.metadata import PROFILE_INPUTS
from gtp_engine.training.nets.layers import (
    ConvLayer,
    GlobalPoolingLayers,
    Layers,
    NormLayer,
    OrdinaryLayers,
    PoolBranchLayer,
    RmsNormLayer,
    activate,
    everywhere,
    norms_of,
    pool_for_trunk,
    pool_for_value,
    to_board,
    to_points,
)
from gtp_engine.training.nets.new import PLAIN, WITH_ERRORS


class Outputs(NamedTuple):
    """A network's outputs for B positions, as `nn.metadata` describes them."""

    policy: Tensor  # [B, P, H·W + 1] logits
    value: Tensor  # [B, 3] logits of win, loss, no result
    misc: Tensor  # [B, 3, 4 or 6] score mean, score deviation before softplus, lead, …: multiples of `Scales`
    ownership: Tensor  # [B, H·W] before tanh


class NetworkModule(nn.Module):
    """The network of a description, which can be run, trained and described again.

    Norms are `x * scale + bias` until `count_statistics` turns them into batch norms.
    """

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network
        """The description that the module was built from: its version and scales are valid, its weights are old."""
        self.trunk = TrunkLayers(network.trunk)
        self.policy = PolicyLayers(network.policy)
        self.value = ValueLayers(network.value)
        if self.needs_profile:  # such a network is never asked for an optimistic policy
            self.policy.keep_first()

    def forward(self, spatial: Tensor, globals_: Tensor) -> Outputs:
        """Return the outputs, float32, for `spatial` [B, planes, H, W] and `globals_` [B, globals]."""
        features = self.trunk(spatial, globals_)
        value, misc, ownership = self.value(features)
        return Outputs(*(each.float() for each in (self.policy(features), value, misc, ownership)))

    def keep_outputs(self, *, optimistic: bool, errors: bool) -> list[str]:
        """Leave out, from now on, the optimistic policy, or the time left and the expected errors; return their names.

        Without the latter the network is of the oldest model version.
        """
        dropped = []
        if len(self.policy.to_logits.weight) > 1 and not optimistic:
            self.policy.keep_first()
            dropped.append("optimistic policy")
        if len(self.value.misc_bias) == WITH_ERRORS.misc and not errors:
            self.value.keep_misc(PLAIN.misc)
            self.network = replace(self.network, version=PLAIN.version)
            dropped.append("expected errors")
        return dropped

    def describe(self) -> Network:
        """Return the network with the current weights."""
        return replace(
            self.network,
            trunk=self.trunk.describe(),
            policy=self.policy.describe(),
            value=self.value.describe(),
            parameters=sum(each.numel() for each in self.parameters()),
        )

    @property
    def needs_profile(self) -> bool:
        """Whether a profile of players follows the global values (`nn.encoders`)."""
        return self.trunk.from_profile is not None

    def freeze(self, blocks: int) -> None:
        """Leave the first blocks, and what is before them, as they are; raises ConfigError for too many."""
        most = len(self.trunk.blocks.layers)
        if self.needs_profile:
            most = min(most, self.trunk.profile_block)
        if blocks > most:
            raise ConfigError(counted(blocks, "frozen block"), expected=f"at most {most}")
        self.trunk.frozen = blocks
        if blocks:
            parts = [self.trunk.conv, self.trunk.from_globals, *self.trunk.blocks.layers[:blocks]]
            for part in parts:
                part.requires_grad_(False)

    @property
    def counts_statistics(self) -> bool:
        """Whether training takes the norms' statistics from each batch."""
        return any(norm.counts for norm in norms_of(self))

    def count_statistics(self, counts: bool) -> None:
        """Have training take the norms' statistics from each batch, or leave them unchanged."""
        for norm in norms_of(self):
            norm.counts = counts


class TrunkLayers(Layers[Trunk]):
    """`activation(norm(blocks(conv(spatial) + globals @ from_globals + from_profile(profile))))`; see `Trunk`."""

    def __init__(self, trunk: Trunk) -> None:
        super().__init__(trunk)
        self.frozen = 0

    def forward(self, spatial: Tensor, globals_: Tensor) -> Tensor:
        """Return what the heads get, [B, C, H, W]; without gradients of the frozen blocks."""
        values = globals_ if self.from_profile is None else globals_[:, :-PROFILE_INPUTS]
        frozen = self.frozen
        place = frozen if self.from_profile is None else self.profile_block
        with torch.set_grad_enabled(torch.is_grad_enabled() and not frozen):
            x = self.conv(spatial)
            x = self.blocks(x + everywhere(self.from_globals(values), x), 0, frozen)
        x = self.blocks(x, frozen, place)
        if self.from_profile is not None:
            x = x + everywhere(self.from_profile(globals_[:, -PROFILE_INPUTS:]), x)
        x = self.blocks(x, place)
        if isinstance(self.norm, RmsNormLayer):
            return to_board(activate(self.norm(to_points(x)), self.activation), x)
        return activate(self.norm(x), self.activation)


class PolicyLayers(Layers[PolicyHead]):
    """The policy head; what a graph does not compute is calculated and dropped."""

    def forward(self, features: Tensor) -> Tensor:
        """Return the logits of every point and of passing, [B, P, H·W + 1]."""
        pooled = pool_for_trunk(self.pool(features))
        hidden = self.conv(features)
        hidden = activate(self.norm(hidden + everywhere(self.pool_to_bias(pooled), hidden)), self.activation)
        points = self.to_logits(hidden).flatten(2)
        passing = self.pool_to_pass(pooled)
        if self.pass_to_logits is not None:
            if self.pass_bias is not None:
                passing = passing + self.pass_bias
            passing = self.pass_to_logits(activate(passing, self.pass_activation))
        return torch.cat([points.float(), passing.float()[:, :, None]], dim=2)[:, :MOST_POLICIES]

    def keep_first(self) -> None:
        """Drop all policies but the first."""
        to_pass = self.pool_to_pass if self.pass_to_logits is None else self.pass_to_logits
        self.to_logits.weight = nn.Parameter(self.to_logits.weight.detach()[:1].clone())
        to_pass.weight = nn.Parameter(to_pass.weight.detach()[:, :1].clone())


class ValueLayers(Layers[ValueHead]):
    """The value head."""

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return value [B, 3], the other numbers [B, M] and ownership [B, H·W]."""
        seen = self.pool(features)
        ownership = self.to_ownership(seen).flatten(1)
        hidden = activate(self.pool_to_hidden(pool_for_value(seen)) + self.hidden_bias, self.hidden_activation)
        value, misc = self.to_value(hidden) + self.value_bias, self.to_misc(hidden) + self.misc_bias
        return value, misc, ownership

    def keep_misc(self, count: int) -> None:
        """Drop all of the other numbers but the first `count`."""
        self.to_misc.weight = nn.Parameter(self.to_misc.weight.detach()[:, :count].clone())
        self.register_parameter("misc_bias", nn.Parameter(self.misc_bias.detach()[:count].clone()))


def unfold_norms(module: NetworkModule, run: Callable[[], object]) -> None:
    """Have the norms of `module`, read from a file, count statistics; its outputs change by rounding errors only.

    `run` runs the module for some batches: the norms get mean and variance of their inputs in them.
    """
    with torch.no_grad():
        _scale_filters(module)
        for norm, (mean, variance) in _measure(module, run).items():
            norm.set_statistics(mean, variance)
    module.count_statistics(True)


def _scale_filters(module: NetworkModule) -> None:
    """Scale the filters before norms to the size of the others, and the norms by the inverse."""
    folded = list(_folded(module))
    before_norms = {filters.data_ptr() for _, filters, _ in folded}
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


def _folded(module: NetworkModule) -> Iterator[tuple[NormLayer, Tensor, Tensor | None]]:
    """Yield the norms that were folded into filters, with these, [O, I, H, W].

    And with the matrix [I, O] that adds a bias to what the norm takes, where one does.
    """
    for layer in module.modules():
        match layer:
            case OrdinaryLayers():
                yield layer.second.norm, layer.first.conv.weight, None
            case GlobalPoolingLayers():
                yield layer.second.norm, layer.first.conv.weight, layer.pool_to_bias.weight
            case PoolBranchLayer():
                yield layer.norm, layer.conv.weight, None
            case PolicyLayers():
                yield layer.norm, layer.conv.weight, layer.pool_to_bias.weight


def _measure(module: NetworkModule, run: Callable[[], object]) -> dict[NormLayer, tuple[Tensor, Tensor]]:
    """Return the means and variances of the norms' inputs by channel, averaged over batches, with equal weights."""
    found: dict[NormLayer, list[tuple[Tensor, Tensor]]] = {norm: [] for norm in norms_of(module)}

    def look(norm: nn.Module, inputs: tuple[Tensor]) -> None:
        assert isinstance(norm, NormLayer)
        places = inputs[0].float().movedim(1, 0).flatten(1)
        found[norm].append((places.mean(dim=1), places.var(dim=1)))

    hooks = [norm.register_forward_pre_hook(look) for norm in found]
    run()
    for hook in hooks:
        hook.remove()
    return {
        norm: (torch.stack([mean for mean, _ in each]).mean(dim=0), torch.stack([var for _, var in each]).mean(dim=0))
        for norm, each in found.items()
    }
