"""Descriptions of new networks, with random weights, and their size, recorded in every checkpoint.  Needs no torch.

A residual trunk in pre-activation order (He et al., "Identity Mappings in Deep Residual Networks", 2016) in which some
blocks pool over the whole board, and the heads of one of KataGo's model versions, so that every output is one that the
teacher labels: those of version 8 for a teacher of the g170 run, those of version 14, with an optimistic policy and
expected errors, for a newer one.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from gtp_engine.base.errors import ConfigError
from gtp_engine.config.option import Section, option
from gtp_engine.evaluation.positions import FloatArray
from gtp_engine.nn.katago_format import description as desc
from gtp_engine.nn.katago_inputs import GLOBALS, PLANES
from gtp_engine.nn.metadata import PROFILE_INPUTS, Scales

ACTIVATIONS: Final = ("relu", "mish", "silu")


@dataclass(frozen=True)
class Shape(Section, name="shape"):
    """The sizes of a network; every field is an option (`config.option`)."""

    blocks: int = option(6, "Residual blocks.", low=1)
    channels: int = option(96, "Channels of the trunk.", low=1)
    pooling_every: int = option(3, "A block pools over the board every so many blocks; 0: none does.", low=0)
    pooled_channels: int = option(32, "Channels of the trunk that are pooled there.", low=1)
    policy_channels: int = option(32, "Channels of the policy head.", low=1)
    value_channels: int = option(32, "Channels of the value head.", low=1)
    value_hidden: int = option(64, "Hidden units of the value head.", low=1)
    activation: str = option("relu", "Activation after each norm.", choices=ACTIVATIONS)

    def __post_init__(self) -> None:
        """Raise ConfigError for sizes that are out of bounds or do not fit together."""
        super().__post_init__()
        if self.pooling_every and self.pooled_channels >= self.channels:
            raise ConfigError(
                f"{self.pooled_channels} pooled of {self.channels} channels", expected="fewer pooled ones"
            )

    @property
    def title(self) -> str:
        """Its size as KataGo's names have it: b6c96."""
        return f"b{self.blocks}c{self.channels}"


@dataclass(frozen=True)
class OutputSet:
    """What a model version has beside value and ownership."""

    version: int
    policies: int
    """The policy, and the optimistic one."""
    misc: int
    """Score mean, score deviation, lead; time left, short-term errors of value and score."""


PLAIN: Final = OutputSet(version=8, policies=1, misc=3)
"""KataGo's own files have the time left as a fourth value, which nothing was ever trained for."""
WITH_ERRORS: Final = OutputSet(version=14, policies=2, misc=6)

_VALUES_POOLED: Final = 3
"""Values that pooling computes from a channel."""

_POOLED_GAIN: Final = 0.3
"""Factor of the deviation with which pooled values enter, so that at the start the board's points still differ."""
_PROFILE_WIDTH: Final = 64
"""Hidden units of what reads a profile."""
_OUTPUT_GAIN: Final = 0.1
"""The same for outputs: training begins with a nearly uniform policy and an even game."""


def new_network(shape: Shape, *, name: str, seed: int, outputs: OutputSet = PLAIN) -> desc.Network:
    """Return a network with random weights, for KataGo's inputs of version 7."""
    maker = _Maker(shape, outputs, np.random.default_rng(seed))
    return desc.Network(
        name=name,
        version=outputs.version,
        planes=PLANES,
        globals_=GLOBALS,
        scales=Scales(),
        suicide_area=False,
        trunk=maker.trunk(),
        policy=maker.policy_head(),
        value=maker.value_head(),
        parameters=0,  # the trained module counts them
    )


def with_profile(network: desc.Network, block: int, *, seed: int) -> desc.Network:
    """Return a network that also reads a profile of players, which is added before a block and changes nothing yet.

    The weights of its inputs are zero, and stay so for inputs that are zero in all data.
    """
    rng, width, channels = np.random.default_rng(seed), _PROFILE_WIDTH, len(network.trunk.norm.scale)
    encoder = desc.ProfileEncoder(
        mul1=desc.MatMul(np.zeros((PROFILE_INPUTS, width), np.float32)),
        bias1=rng.standard_normal(width).astype(np.float32),
        act1=desc.Activation.RELU,
        mul2=desc.MatMul((rng.standard_normal((width, width)) * np.sqrt(2 / width)).astype(np.float32)),
        bias2=np.zeros(width, np.float32),
        act2=desc.Activation.RELU,
        mul3=desc.MatMul(np.zeros((width, channels), np.float32)),
    )
    return replace(network, trunk=replace(network.trunk, from_profile=encoder, profile_block=block))


class _Maker:
    """Draws weights; the same seed gives the same network."""

    def __init__(self, shape: Shape, outputs: OutputSet, rng: np.random.Generator) -> None:
        self._shape = shape
        self._outputs = outputs
        self._rng = rng
        self._activation = desc.Activation(shape.activation.upper())

    # Layers

    def _conv(self, inputs: int, outputs: int, size: int, gain: float = 1.0) -> desc.Conv:
        """Return a convolution that preserves variance after a ReLU (He et al., 2015), times `gain`²."""
        deviation = gain * np.sqrt(2 / (inputs * size * size))
        return desc.Conv(self._normal(deviation, outputs, inputs, size, size), (1, 1))

    def _matrix(self, inputs: int, outputs: int, gain: float) -> desc.MatMul:
        return desc.MatMul(self._normal(gain / np.sqrt(inputs), inputs, outputs))

    def _normal(self, deviation: float, *sizes: int) -> FloatArray:
        return (deviation * self._rng.standard_normal(sizes)).astype(np.float32)

    def _norm_act_conv(self, inputs: int, outputs: int, gain: float = 1.0) -> desc.NormActConv:
        return desc.NormActConv(_norm(inputs), self._activation, self._conv(inputs, outputs, 3, gain))

    def _pool_branch(self, inputs: int, outputs: int, size: int) -> desc.PoolBranch:
        return desc.PoolBranch(self._conv(inputs, outputs, size), _norm(outputs), self._activation)

    # Trunk

    def trunk(self) -> desc.Trunk:
        shape = self._shape
        conv = self._conv(PLANES, shape.channels, 5)
        from_globals = self._matrix(GLOBALS, shape.channels, 1.0)
        blocks = tuple(self._block(number) for number in range(1, shape.blocks + 1))
        return desc.Trunk(conv, from_globals, blocks, _norm(shape.channels), self._activation)

    def _block(self, number: int) -> desc.Block:
        """Return block `number` from 1 on; its last convolution is small: all blocks together add a variance of 1."""
        shape = self._shape
        channels, gain = shape.channels, shape.blocks**-0.5
        if not shape.pooling_every or number % shape.pooling_every:
            return desc.OrdinaryBlock(
                self._norm_act_conv(channels, channels), self._norm_act_conv(channels, channels, gain)
            )
        regular = channels - shape.pooled_channels
        return desc.GlobalPoolingBlock(
            first=self._norm_act_conv(channels, regular),
            pool=self._pool_branch(channels, shape.pooled_channels, 3),
            pool_to_bias=self._matrix(_VALUES_POOLED * shape.pooled_channels, regular, _POOLED_GAIN),
            second=self._norm_act_conv(regular, channels, gain),
        )

    # Heads

    def policy_head(self) -> desc.PolicyHead:
        shape = self._shape
        hidden = shape.policy_channels
        pooled = _VALUES_POOLED * hidden
        return desc.PolicyHead(
            conv=self._conv(shape.channels, hidden, 1),
            pool=self._pool_branch(shape.channels, hidden, 1),
            pool_to_bias=self._matrix(pooled, hidden, _POOLED_GAIN),
            norm=_norm(hidden),
            activation=self._activation,
            to_logits=self._conv(hidden, self._outputs.policies, 1, _OUTPUT_GAIN),
            pool_to_pass=self._matrix(pooled, self._outputs.policies, _OUTPUT_GAIN),
            pass_bias=None,
            pass_activation=desc.Activation.IDENTITY,
            pass_to_logits=None,
        )

    def value_head(self) -> desc.ValueHead:
        shape = self._shape
        channels, hidden = shape.value_channels, shape.value_hidden
        return desc.ValueHead(
            pool=self._pool_branch(shape.channels, channels, 1),
            pool_to_hidden=self._matrix(_VALUES_POOLED * channels, hidden, 1.0),
            hidden_bias=np.zeros(hidden, np.float32),
            hidden_activation=self._activation,
            to_value=self._matrix(hidden, 3, _OUTPUT_GAIN),
            value_bias=np.zeros(3, np.float32),
            to_misc=self._matrix(hidden, self._outputs.misc, _OUTPUT_GAIN),
            misc_bias=np.zeros(self._outputs.misc, np.float32),
            to_ownership=self._conv(channels, 1, 1, _OUTPUT_GAIN),
        )


def _norm(channels: int) -> desc.BatchNorm:
    return desc.BatchNorm(np.ones(channels, np.float32), np.zeros(channels, np.float32))
