"""The evaluator of networks: cache, encoder and model, decoding.

Model              what runs a network: `OnnxModel`, or anything else with the same inputs and outputs
EncodedNetwork     a model with its encoder: rows of positions in, raw outputs out
NetworkEvaluator   looks positions up in the cache, runs the networks on the rest and decodes their outputs

The only place where a network's side-to-move view becomes Black's is `decode`.  Letters as there: B rows of a batch, of
which K are evaluated.
"""

import functools
import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from gtp_engine.base.errors import ModelError, shown
from gtp_engine.config.sections import NetworkConfig
from gtp_engine.evaluation.evaluator import (
    ALL_SYMMETRIES,
    ANY_SYMMETRY,
    AS_TRAINED,
    DEFAULT_OPTIONS,
    EvaluationOptions,
    Request,
)
from gtp_engine.evaluation.evaluator_info import BoardSizes, EvaluatorInfo
from gtp_engine.evaluation.from_game import key_of_numbers
from gtp_engine.evaluation.memory_budget import BUDGET
from gtp_engine.evaluation.positions import FloatArray, Positions, board_size
from gtp_engine.go.board import IntArray
from gtp_engine.go.coords import TRANSPOSE
from gtp_engine.nn.cache import Cache, find, new_cache, store
from gtp_engine.nn.decode import (
    EncodedRows,
    KatagoOutputs,
    PolicyOptions,
    decode_katago_value,
    decode_ownership,
    decode_policy,
    decode_value,
    finish_rows,
)
from gtp_engine.nn.encoders import Encoder, Inputs, KatagoHumanEncoder, KatagoV7Encoder, new_inputs
from gtp_engine.nn.metadata import KATAGO_ENCODER, NetworkInfo
from gtp_engine.nn.onnx_model import MAX_BOARDS, RawOutputs
from gtp_engine.nn.plug_ins import plugged_in_encoder
from gtp_engine.nn.symmetry import IDENTITY, cell_table


class Model(Protocol):
    """Runs the network of a file: `OnnxModel`, or anything else with the same inputs and outputs."""

    @property
    def info(self) -> NetworkInfo: ...  # noqa: D102

    @property
    def path(self) -> Path | None:
        """The file, where this process has it."""

    @property
    def files(self) -> tuple[Path, ...]:
        """All files on which its outputs depend, as far as this process has them."""

    @property
    def precision(self) -> str:
        """The number format in which it calculates."""

    @property
    def batch(self) -> int:
        """Positions in one call that it runs most efficiently."""

    def prepare(self, width: int, height: int) -> None:
        """Get ready for boards of this size; raises ModelError."""

    def run(self, spatial: FloatArray, globals_: FloatArray) -> RawOutputs:
        """Return the outputs for `spatial` [K, planes, H, W] and `globals_` [K, globals]; K ≥ 1."""

    def close(self) -> None:
        """Free the network."""


class InputBuffers(threading.local):
    """The arrays that an encoder fills, of each thread its own, for as many rows of boards of one size as were last."""

    inputs = Inputs(np.zeros((0, 0, 0, 0), dtype=np.float32), np.zeros((0, 0), dtype=np.float32))

    def of(self, encoder: Encoder, batch: int, width: int, height: int) -> Inputs:
        """Return arrays for so many rows."""
        if self.inputs.spatial.shape != (batch, encoder.planes, height, width):
            self.inputs = new_inputs(encoder, batch, width, height)
        return self.inputs


class EncodedNetwork:
    """Runs a model on positions; two threads may run it, and take turns with its encoder.

    Raises ModelError if the file's planes are not those of its encoder.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._buffers: Final = InputBuffers()
        self._encoding: Final = threading.Lock()
        self._encoder: Encoder | None = None
        self._encodes: tuple[int, int, bool] | None = None
        """Width and height of the boards that the encoder is for, and what it takes for areas."""
        encoder = new_encoder(model.info, 19, 19)
        wanted, found = (encoder.planes, encoder.globals), (model.info.planes, model.info.globals_)
        if found != wanted:
            name = model.info.name if model.path is None else model.path.name
            raise ModelError(
                f"network {shown(name)} takes {found[0]} planes and {found[1]} global values",
                expected=f"{wanted[0]} and {wanted[1]}, as {encoder.name} has",
                advice="import or train it again",
            )

    def run(
        self, positions: Positions, rows: IntArray, symmetries: IntArray, suicide_area: int = AS_TRAINED
    ) -> RawOutputs:
        """Return the outputs for `rows` [K], ascending; row i of the batch is encoded in symmetry `symmetries[i]` [B].

        `suicide_area` is as in `EvaluationOptions`.  Raises ModelError if the model cannot be run.
        """
        with self._encoding:
            board, first = board_size(positions), 0
            encoder = self._encoder_for(board, suicide_area)
            inputs = self._buffers.of(encoder, positions.to_play.size, *board)
            for last in [*np.flatnonzero(np.diff(rows) != 1), len(rows) - 1]:  # an encoder takes rows without gaps
                encoder.encode(positions, range(int(rows[first]), int(rows[last]) + 1), symmetries, inputs)
                first = last + 1
        spatial, globals_ = inputs
        if len(rows) == rows[-1] + 1:
            return self.model.run(spatial[: len(rows)], globals_[: len(rows)])
        return self.model.run(spatial[rows], globals_[rows])

    def _encoder_for(self, board: tuple[int, int], suicide_area: int) -> Encoder:
        """Return the encoder for boards of this size, the last one if it is."""
        info = self.model.info
        wanted = (*board, info.suicide_area if suicide_area == AS_TRAINED else bool(suicide_area))
        if self._encoder is None or self._encodes != wanted:
            self._encoder = new_encoder(replace(info, suicide_area=wanted[2]), *board)
            self._encodes = wanted
        return self._encoder


def new_encoder(info: NetworkInfo, width: int, height: int) -> Encoder:
    """Return the encoder that a network file names, for boards of one size."""
    if info.needs_profile:
        return KatagoHumanEncoder(width, height, suicide_area=info.suicide_area)
    if info.is_katago:
        return KatagoV7Encoder(width, height, suicide_area=info.suicide_area)
    return plugged_in_encoder(info.encoder, width, height)


class _Workspace(NamedTuple):
    """Tables and the cache for one board size, and work arrays of a call."""

    cells: IntArray  # [S, n]
    cache: Cache | None
    symmetries: IntArray  # [B]
    scratch: FloatArray  # [n]


class NetworkEvaluator:
    """An `evaluation.evaluator.Evaluator` that runs networks.

    `policy` gives the policy and `value` everything else; they may be the same.  Without a value network every value is
    even, and rollouts have to say what a position is worth.  For searches that play positions out,
    `rollout` is a faster policy network and `rollout_weights` those of a policy that is faster still.  `config`
    holds symmetry, pass prior and size of the cache.  A position in ANY_SYMMETRY is evaluated in `looks`
    orientations, whose mean is taken.
    """

    def __init__(
        self,
        policy: EncodedNetwork,
        value: EncodedNetwork | None,
        *,
        rollout: EncodedNetwork | None = None,
        rollout_weights: object = None,
        config: NetworkConfig,
        looks: int = 1,
    ) -> None:
        self.networks: Final = tuple(dict.fromkeys(each for each in (policy, value, rollout) if each is not None))
        infos, of_value = [network.model.info for network in self.networks], (value or policy).model.info
        self.info = EvaluatorInfo(
            name=" + ".join(dict.fromkeys(info.name for info in infos)),
            batch=policy.model.batch,
            has_value=value is not None,
            has_score=of_value.is_katago,
            has_ownership=of_value.has_ownership,
            knows_komi=of_value.is_katago,
            knows_advantage=policy.model.info.advantages and of_value.advantages,
            knows_cleanup=policy.model.info.knows_cleanup and of_value.knows_cleanup,
            has_rollout_policy=rollout is not None,
            rollout_weights=rollout_weights,
            needs_profile=any(info.needs_profile for info in infos),
            boards=functools.reduce(BoardSizes.common, [info.sizes for info in infos]),
            prepares_beside=True,
            files=tuple(file for network in self.networks for file in network.model.files),
            settings=_settings([network.model.precision for network in self.networks], config),
            model_version=max((info.model_version for info in infos if info.is_katago), default=0),
            is_katago=all(info.is_katago for info in infos),
        )
        self._policy = policy
        self._value = value
        self._rollout = rollout
        self._config = config
        self._looks = looks
        self._scales = np.array(astuple(of_value.scales), dtype=np.float32)
        numbers = {"any": ANY_SYMMETRY, "none": IDENTITY, "all": ALL_SYMMETRIES}
        self._default_symmetry = numbers[config.symmetry] if config.symmetry in numbers else int(config.symmetry)
        self._boards: OrderedDict[tuple[int, int], tuple[IntArray, Cache | None]] = OrderedDict()
        self._caching: Final = threading.Lock()
        """Held while the caches, of which `_boards` has one for each size of board, are read or written."""

    def prepare(self, width: int, height: int) -> None:
        """Get the networks ready for boards of this size, which may take seconds; raises ModelError if they cannot."""
        for network in self.networks:
            network.model.prepare(width, height)

    def evaluate(self, request: Request) -> None:
        """Write the evaluation of the positions; see `Evaluator`.

        Boards that are not square have four symmetries: 4 to 7 are applied without the exchange of rows and columns.
        The cache serves requests for the optimistic policy neither way, as it does not hold that.

        Raises ModelError if the network does not play this board size, or returned NaN or infinity.
        """
        if request.options.symmetry == ANY_SYMMETRY:
            request = request._replace(options=request.options._replace(symmetry=self._default_symmetry))
        positions, options = request.positions, request.options
        space, rows = self._workspace_for(positions), np.arange(request.rows, dtype=np.int32)
        if space.cache is None or request.optimistic is not None:
            self._run_networks(space, request, rows)
            return
        keys = positions.situation if options.shares_transpositions else positions.key
        keys = keys ^ positions.conditions_key ^ key_of_numbers(options)
        with self._caching:
            misses = find(space.cache, keys, request.rows, request.out, rows)
        if misses > 0:
            self._run_networks(space, request, rows[:misses])
            with self._caching:
                store(space.cache, keys, rows[:misses], request.out)

    def write_rollout_policy(self, positions: Positions, count: int, policy: FloatArray) -> None:
        """Write the rollout network's policy for the first `count` rows into `policy` [B, n]; see `Evaluator`."""
        assert self._rollout is not None, "callers check `info.has_rollout_policy`"
        space = self._workspace_for(positions)
        rows = np.arange(count, dtype=np.int32)
        policy[:count] = 0.0
        encoded = EncodedRows(rows, space.cells, space.symmetries, 1.0, space.scratch)
        raw = self._rollout.run(positions, rows, space.symmetries)
        self._add_policy(positions, encoded, DEFAULT_OPTIONS, raw, policy)

    def clear_cache(self) -> None:
        """Empty the cache."""
        self._boards.clear()

    def close(self) -> None:
        """Free the networks and the cache."""
        self._boards.clear()
        for network in self.networks:
            network.model.close()

    def _run_networks(self, space: _Workspace, request: Request, rows: IntArray) -> None:
        """Write what the networks return for `rows` [K], in one or more symmetries; raises ModelError for NaN."""
        symmetry, out, count = request.options.symmetry, request.out, len(space.cells)
        for array in out if request.optimistic is None else (*out, request.optimistic):
            array[rows] = 0.0
        orientations: list[Any]  # a symmetry for all rows, or one for each [K]
        if symmetry == ALL_SYMMETRIES:
            orientations = [*range(count)]
        elif symmetry == ANY_SYMMETRY:
            keys = request.positions.key[rows]
            orientations = [(keys + np.uint64(look)) % np.uint64(count) for look in range(self._looks)]
        else:
            orientations = [symmetry if symmetry < count else symmetry - TRANSPOSE]
        for symmetries in orientations:
            space.symmetries[rows] = symmetries
            encoded = EncodedRows(rows, space.cells, space.symmetries, 1.0 / len(orientations), space.scratch)
            self._add_outputs(request, encoded)
        if finish_rows(rows, out):
            raise ModelError(
                f"network {shown(self.info.name)} returned NaN or infinity",
                advice="set network.precision to float32 (--precision float32) or network.provider to cpu "
                "(--provider cpu); if that does not help, the file is damaged",
            )

    def _add_outputs(self, request: Request, encoded: EncodedRows) -> None:
        """Run the networks once, and add their decoded outputs to the evaluation."""
        positions, out = request.positions, request.out
        options, rows, symmetries = request.options, encoded.rows, encoded.symmetries
        raw = self._policy.run(positions, rows, symmetries, options.suicide_area)
        self._add_policy(positions, encoded, options, raw, out.policy)
        if request.optimistic is not None and raw.policy is not None and raw.policy.shape[1] > 1:
            self._add_policy(positions, encoded, options._replace(optimism=1.0), raw, request.optimistic)
        if self._value is None:
            decode_value(positions.to_play, encoded, np.zeros((len(rows), 1), dtype=np.float32), out)
            return
        if self._value is not self._policy:
            raw = self._value.run(positions, rows, symmetries, options.suicide_area)
        assert raw.value is not None, "checked when the session was created"
        if raw.misc is None:
            decode_value(positions.to_play, encoded, raw.value, out)
        else:
            outputs = KatagoOutputs(self._scales, self._value.model.info.model_version)
            decode_katago_value(positions, encoded, outputs, raw.value, raw.misc, out)
        if raw.ownership is not None:
            decode_ownership(positions.to_play, encoded, raw.ownership, out.ownership_black)

    def _add_policy(
        self,
        positions: Positions,
        encoded: EncodedRows,
        options: EvaluationOptions,
        raw: RawOutputs,
        policy: FloatArray,
    ) -> None:
        """Add a network's decoded policy to `policy` [B, n]."""
        assert raw.policy is not None, "checked when the session was created"
        how = PolicyOptions(options.optimism, options.temperature, self._config.pass_prior)
        decode_policy(positions, encoded, how, raw.policy, policy)

    def _workspace_for(self, positions: Positions) -> _Workspace:
        """Return the workspace for `positions`; the cache of the least recent board makes room (`MAX_BOARDS`)."""
        (batch, n), board, size = positions.forbidden.shape, board_size(positions), self._config.cache_positions
        with self._caching:
            if board not in self._boards:
                if len(self._boards) == MAX_BOARDS:
                    self._boards.popitem(last=False)
                cache = new_cache(size, n) if size else None
                if cache is not None:
                    BUDGET.keep(cache.key, sum(array.nbytes for array in cache) / 2**20)
                self._boards[board] = cell_table(*board), cache
            self._boards.move_to_end(board)
            tables = self._boards[board]
        return _Workspace(*tables, np.zeros(batch, dtype=np.int32), np.zeros(n, dtype=np.float32))


def uncached_evaluator(model: Model, *, looks: int = 1) -> NetworkEvaluator:
    """Return an evaluator without a cache for games that are played side by side, whose positions hardly ever repeat.

    It evaluates each position in `looks` orientations.  Raises ModelError for a network that is not of KataGo's kind,
    because others lack outputs for score and ownership.
    """
    info = model.info
    if info.encoder != KATAGO_ENCODER or info.kind != "policy+value":
        raise ModelError(
            f"network {shown(info.name)} is for {info.kind} and takes {info.encoder}",
            expected=f"policy+value and {KATAGO_ENCODER}",
            advice="use a network imported from KataGo's, or trained like them",
        )
    network = EncodedNetwork(model)
    return NetworkEvaluator(network, network, config=NetworkConfig(cache_positions=0), looks=looks)


def _settings(precisions: Iterable[str], config: NetworkConfig) -> str:
    """Return what evaluations depend on besides the files."""
    return f"{' '.join(precisions)} {config.symmetry} {config.pass_prior}"
