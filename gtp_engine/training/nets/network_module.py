"""A whole network as a torch module: trunk, policy head, value head.

The module's outputs are the raw ones of `nn.metadata`, for the side to move: the same as those of a
network file of the same description.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor, nn

from gtp_engine.networks.katago_format.description import Network, PolicyHead, RmsNorm, Trunk, ValueHead
from gtp_engine.networks.onnx_export.heads import policy_count
from gtp_engine.training.nets.blocks import BlockStack
from gtp_engine.training.nets.layers import (
    ConvLayer,
    MatrixLayer,
    NormLayer,
    PoolBranchLayer,
    RmsNormLayer,
    activate,
    everywhere,
    floats,
    parameter,
    pool_for_trunk,
    pool_for_value,
)
from gtp_engine.training.nets.new import PLAIN, WITH_ERRORS
from gtp_engine.training.nets.transformer import to_board, to_points


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
        self._network = network
        self.trunk = TrunkLayers(network.trunk)
        self.policy = PolicyLayers(network.policy)
        self.value = ValueLayers(network.value)

    def forward(self, spatial: Tensor, globals_: Tensor) -> Outputs:
        """Return the outputs, float32, for `spatial` [B, planes, H, W] and `globals_` [B, globals]."""
        features = self.trunk(spatial, globals_)
        value, misc, ownership = self.value(features)
        return Outputs(*(each.float() for each in (self.policy(features), value, misc, ownership)))

    @property
    def network(self) -> Network:
        """The description that the module was built from: its version and scales are valid, its weights are old."""
        return self._network

    @property
    def has_optimistic_policy(self) -> bool:
        """Whether there is a second policy."""
        return self.policy.kept > 1

    @property
    def has_errors(self) -> bool:
        """Whether there are the time left and the expected errors of value and score."""
        return len(self.value.misc_bias) == WITH_ERRORS.misc

    def drop_optimistic_policy(self) -> None:
        """Leave the optimistic policy out from now on."""
        self.policy.keep_first()

    def drop_errors(self) -> None:
        """Leave the time left and the expected errors out from now on, as the oldest model version does."""
        self.value.keep_misc(PLAIN.misc)
        self._network = replace(self._network, version=PLAIN.version)

    def follow_rules(self) -> None:
        """Have the areas of the inputs follow the rules from now on, as those of all data do (`labels.Labeller`)."""
        self._network = replace(self._network, suicide_area=False)

    def describe(self) -> Network:
        """Return the network with the current weights."""
        return replace(
            self._network,
            trunk=self.trunk.describe(),
            policy=self.policy.describe(),
            value=self.value.describe(),
            parameters=sum(each.numel() for each in self.parameters()),
        )

    def norms(self) -> Iterator[NormLayer]:
        """Yield every batch norm."""
        return (layer for layer in self.modules() if isinstance(layer, NormLayer))

    @property
    def counts_statistics(self) -> bool:
        """Whether training takes the norms' statistics from each batch."""
        return any(norm.counts for norm in self.norms())

    def count_statistics(self, counts: bool) -> None:
        """Have training take the norms' statistics from each batch, or leave them unchanged."""
        for norm in self.norms():
            norm.counts = counts


class TrunkLayers(nn.Module):
    """`activation(norm(blocks(conv(spatial) + globals @ from_globals)))`."""

    def __init__(self, trunk: Trunk) -> None:
        super().__init__()
        self.conv = ConvLayer(trunk.conv)
        self.from_globals = MatrixLayer(trunk.from_globals)
        self.blocks = BlockStack(trunk.blocks)
        self.norm = RmsNormLayer(trunk.norm) if isinstance(trunk.norm, RmsNorm) else NormLayer(trunk.norm)
        self._activation = trunk.activation

    def forward(self, spatial: Tensor, globals_: Tensor) -> Tensor:
        """Return what the heads get, [B, C, H, W]."""
        x = self.conv(spatial)
        x = self.blocks(x + everywhere(self.from_globals(globals_), x))
        if isinstance(self.norm, RmsNormLayer):
            return to_board(activate(self.norm(to_points(x)), self._activation), x)
        return activate(self.norm(x), self._activation)

    def describe(self) -> Trunk:
        """Return the trunk as plain data."""
        return Trunk(
            self.conv.describe(),
            self.from_globals.describe(),
            self.blocks.describe(),
            self.norm.describe(),
            self._activation,
        )


class PolicyLayers(nn.Module):
    """The policy head; what a graph drops (`heads.policy_count`) is calculated and dropped."""

    def __init__(self, head: PolicyHead) -> None:
        super().__init__()
        self.kept = policy_count(head)
        self.conv = ConvLayer(head.conv)
        self.pool = PoolBranchLayer(head.pool)
        self.pool_to_bias = MatrixLayer(head.pool_to_bias)
        self.norm = NormLayer(head.norm)
        self._activation = head.activation
        self.to_logits = ConvLayer(head.to_logits)
        self.pool_to_pass = MatrixLayer(head.pool_to_pass)
        self.pass_bias = None if head.pass_bias is None else parameter(head.pass_bias)
        self._pass_activation = head.pass_activation
        self.pass_to_logits = None if head.pass_to_logits is None else MatrixLayer(head.pass_to_logits)

    def forward(self, features: Tensor) -> Tensor:
        """Return the logits of every point and of passing, [B, P, H·W + 1]."""
        pooled = pool_for_trunk(self.pool(features))
        hidden = self.conv(features)
        hidden = activate(self.norm(hidden + everywhere(self.pool_to_bias(pooled), hidden)), self._activation)
        points = self.to_logits(hidden).flatten(2)
        passing = self.pool_to_pass(pooled)
        if self.pass_to_logits is not None:
            if self.pass_bias is not None:
                passing = passing + self.pass_bias
            passing = self.pass_to_logits(activate(passing, self._pass_activation))
        return torch.cat([points.float(), passing.float()[:, :, None]], dim=2)[:, : self.kept]

    def keep_first(self) -> None:
        """Drop all policies but the first."""
        self.kept = 1
        to_pass = self.pool_to_pass if self.pass_to_logits is None else self.pass_to_logits
        self.to_logits.weight = nn.Parameter(self.to_logits.weight.detach()[:1].clone())
        to_pass.weight = nn.Parameter(to_pass.weight.detach()[:, :1].clone())

    def describe(self) -> PolicyHead:
        """Return the head as plain data."""
        return PolicyHead(
            self.conv.describe(),
            self.pool.describe(),
            self.pool_to_bias.describe(),
            self.norm.describe(),
            self._activation,
            self.to_logits.describe(),
            self.pool_to_pass.describe(),
            None if self.pass_bias is None else floats(self.pass_bias),
            self._pass_activation,
            None if self.pass_to_logits is None else self.pass_to_logits.describe(),
        )


class ValueLayers(nn.Module):
    """The value head."""

    def __init__(self, head: ValueHead) -> None:
        super().__init__()
        self.pool = PoolBranchLayer(head.pool)
        self.pool_to_hidden = MatrixLayer(head.pool_to_hidden)
        self.hidden_bias = parameter(head.hidden_bias)
        self._activation = head.hidden_activation
        self.to_value, self.value_bias = MatrixLayer(head.to_value), parameter(head.value_bias)
        self.to_misc, self.misc_bias = MatrixLayer(head.to_misc), parameter(head.misc_bias)
        self.to_ownership = ConvLayer(head.to_ownership)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return value [B, 3], the other numbers [B, M] and ownership [B, H·W]."""
        seen = self.pool(features)
        ownership = self.to_ownership(seen).flatten(1)
        hidden = activate(self.pool_to_hidden(pool_for_value(seen)) + self.hidden_bias, self._activation)
        value, misc = self.to_value(hidden) + self.value_bias, self.to_misc(hidden) + self.misc_bias
        return value, misc, ownership

    def keep_misc(self, count: int) -> None:
        """Drop all of the other numbers but the first `count`."""
        self.to_misc.weight = nn.Parameter(self.to_misc.weight.detach()[:, :count].clone())
        self.misc_bias = nn.Parameter(self.misc_bias.detach()[:count].clone())

    def describe(self) -> ValueHead:
        """Return the head as plain data."""
        return ValueHead(
            self.pool.describe(),
            self.pool_to_hidden.describe(),
            floats(self.hidden_bias),
            self._activation,
            self.to_value.describe(),
            floats(self.value_bias),
            self.to_misc.describe(),
            floats(self.misc_bias),
            self.to_ownership.describe(),
        )
