"""The evaluator of networks: cache, encoder and model, decoding.

Model              what runs a network: `OnnxModel`, or anything else with the same inputs and outputs (`ReadyModel`)
NetworkEvaluator   looks positions up in the cache, encodes the rest, runs its models and decodes their outputs

The only place where a network's side-to-move view becomes Black's is `decode`.  Letters as there: B rows of a batch, of
which K are evaluated.
"""

import functools
import threading
from collections import OrderedDict
from dataclasses import astuple
from pathlib import Path
from typing import Any, Final, Protocol

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
    decode_katago_value,
    decode_ownership,
    decode_policy,
    decode_value,
    finish_rows,
)
from gtp_engine.nn.encoders import new_encoder
from gtp_engine.nn.metadata import KATAGO_ENCODER, NetworkInfo
from gtp_engine.nn.onnx_model import MAX_BOARDS, RawOutputs
from gtp_engine.nn.symmetry import IDENTITY, cell_table


class Model(Protocol):
    """Runs the network of a file: `OnnxModel`, or anything else with the same inputs and outputs."""

    @property
    def info(self) -> NetworkInfo: ...  # noqa: D102

    @property
    def files(self) -> tuple[Path, ...]:
        """All files on which its outputs depend, its own first, as far as this process has them."""

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


class ReadyModel:
    """What a `Model` is beside its `info`, `batch` and `run`, where it needs no preparation and holds nothing."""

    files: tuple[Path, ...] = ()
    precision: str = "float32"

    def prepare(self, width: int, height: int) -> None:
        """Do nothing: every board is ready."""

    def close(self) -> None:
        """Do nothing: nothing is held."""


class NetworkEvaluator:
    """An `evaluation.evaluator.Evaluator` that runs networks.

    `policy` gives the policy and `value` everything else; they may be the same.  Without a value network every value is
    even, and rollouts have to say what a position is worth.  For searches that play positions out,
    `rollout` is a faster policy network and `rollout_weights` those of a policy that is faster still.  `config`
    holds symmetry, pass prior and size of the cache.  A position in ANY_SYMMETRY is evaluated in `looks`
    orientations, whose mean is taken.

    Two threads may use it, and take turns with the encoders.  Raises ModelError if the planes of a model are not those
    of its encoder.
    """

    def __init__(
        self,
        policy: Model,
        value: Model | None,
        *,
        rollout: Model | None = None,
        rollout_weights: object = None,
        config: NetworkConfig,
        looks: int = 1,
    ) -> None:
        self.models: Final = tuple(dict.fromkeys(model for model in (policy, value, rollout) if model is not None))
        for model in self.models:
            _check_planes(model)
        infos, of_value = [model.info for model in self.models], (value or policy).info
        precisions = [model.precision for model in self.models]
        self.info = EvaluatorInfo(
            name=" + ".join(dict.fromkeys(info.name for info in infos)),
            batch=policy.batch,
            has_value=value is not None,
            has_score=of_value.is_katago,
            has_ownership=of_value.has_ownership,
            knows_komi=of_value.is_katago,
            knows_advantage=policy.info.advantages and of_value.advantages,
            knows_cleanup=policy.info.knows_cleanup and of_value.knows_cleanup,
            has_rollout_policy=rollout is not None,
            rollout_weights=rollout_weights,
            needs_profile=any(info.needs_profile for info in infos),
            boards=functools.reduce(BoardSizes.common, [info.sizes for info in infos]),
            prepares_beside=True,
            files=tuple(file for model in self.models for file in model.files),
            settings=" ".join([*precisions, config.symmetry, str(config.pass_prior)]),
            model_version=max((info.model_version for info in infos if info.is_katago), default=0),
            is_katago=all(info.is_katago for info in infos),
        )
        self._policy = policy
        self._value = value
        self._rollout = rollout
        self._encoder_for: Final = functools.lru_cache(maxsize=len(self.models))(new_encoder)
        self._encoding: Final = threading.Lock()
        self._config = config
        self._looks = looks
        self._scales = np.array(astuple(of_value.scales), dtype=np.float32)
        numbers = {"any": ANY_SYMMETRY, "none": IDENTITY, "all": ALL_SYMMETRIES}
        self._default_symmetry = numbers[config.symmetry] if config.symmetry in numbers else int(config.symmetry)
        self._caches: OrderedDict[tuple[int, int], Cache] = OrderedDict()
        """One for each size of board; the last one was used last."""
        self._caching: Final = threading.Lock()
        """Held while they are read or written."""

    def prepare(self, width: int, height: int) -> None:
        """Get the networks ready for boards of this size, which may take seconds; raises ModelError if they cannot."""
        for model in self.models:
            model.prepare(width, height)

    def evaluate(self, request: Request) -> None:
        """Write the evaluation of the positions; see `Evaluator`.

        Boards that are not square have four symmetries: 4 to 7 are applied without the exchange of rows and columns.
        The cache serves requests for the optimistic policy neither way, as it does not hold that.

        Raises ModelError if the network does not play this board size, or returned NaN or infinity.
        """
        if request.options.symmetry == ANY_SYMMETRY:
            request = request._replace(options=request.options._replace(symmetry=self._default_symmetry))
        positions, options, rows = request.positions, request.options, np.arange(request.rows, dtype=np.int32)
        if not self._config.cache_positions or request.optimistic is not None:
            self._run_networks(request, rows)
            return
        keys = positions.situation if options.shares_transpositions else positions.key
        keys = keys ^ positions.conditions_key ^ key_of_numbers(options)
        with self._caching:
            cache = self._cache_for(positions)
            misses = find(cache, keys, request.rows, request.out, rows)
        if misses > 0:
            self._run_networks(request, rows[:misses])
            with self._caching:
                store(cache, keys, rows[:misses], request.out)

    def write_rollout_policy(self, positions: Positions, count: int, policy: FloatArray) -> None:
        """Write the rollout network's policy for the first `count` rows into `policy` [B, n]; see `Evaluator`."""
        assert self._rollout is not None, "callers check `info.has_rollout_policy`"
        rows, symmetries = np.arange(count, dtype=np.int32), np.full(count, IDENTITY, dtype=np.int32)
        policy[:count] = 0.0
        encoded = EncodedRows(rows, cell_table(*board_size(positions)), symmetries, 1.0, np.empty_like(policy[0]))
        raw = self.raw_outputs(self._rollout, positions, rows, symmetries)
        self._add_policy(positions, encoded, DEFAULT_OPTIONS, raw, policy)

    def clear_cache(self) -> None:
        """Empty the cache."""
        self._caches.clear()

    def close(self) -> None:
        """Free the networks and the cache."""
        self._caches.clear()
        for model in self.models:
            model.close()

    def raw_outputs(
        self, model: Model, positions: Positions, rows: IntArray, symmetries: IntArray, suicide_area: int = AS_TRAINED
    ) -> RawOutputs:
        """Return what one of the models returns for `rows` [K], each encoded in one of `symmetries` [K].

        `suicide_area` is as in `EvaluationOptions`.  Raises ModelError if the model cannot be run.
        """
        is_legal = model.info.suicide_area if suicide_area == AS_TRAINED else bool(suicide_area)
        with self._encoding:
            encoder = self._encoder_for(model.info.encoder, *board_size(positions), suicide_area=is_legal)
            inputs = encoder.encode(positions, rows, symmetries)
        return model.run(*inputs)

    def _run_networks(self, request: Request, rows: IntArray) -> None:
        """Write what the networks return for `rows` [K], in one or more symmetries; raises ModelError for NaN."""
        cells = cell_table(*board_size(request.positions))
        symmetry, out, count = request.options.symmetry, request.out, len(cells)
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
            shown_in = np.full(len(rows), symmetries, dtype=np.int32)
            scratch = np.empty_like(out.policy[0])
            self._add_outputs(request, EncodedRows(rows, cells, shown_in, 1.0 / len(orientations), scratch))
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
        raw = self.raw_outputs(self._policy, positions, rows, symmetries, options.suicide_area)
        self._add_policy(positions, encoded, options, raw, out.policy)
        if request.optimistic is not None and raw.policy is not None and raw.policy.shape[1] > 1:
            self._add_policy(positions, encoded, options._replace(optimism=1.0), raw, request.optimistic)
        if self._value is None:
            decode_value(positions.to_play, encoded, np.zeros((len(rows), 1), dtype=np.float32), out)
            return
        if self._value is not self._policy:
            raw = self.raw_outputs(self._value, positions, rows, symmetries, options.suicide_area)
        assert raw.value is not None, "checked when the session was created"
        if raw.misc is None:
            decode_value(positions.to_play, encoded, raw.value, out)
        else:
            version = self._value.info.model_version
            decode_katago_value(positions, encoded, raw.value, raw.misc, self._scales, version, out)
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
        optimism, temperature = options.optimism, options.temperature
        decode_policy(positions, encoded, raw.policy, optimism, temperature, self._config.pass_prior, policy)

    def _cache_for(self, positions: Positions) -> Cache:
        """Return the cache for boards of this size; that of the least recent ones makes room (`MAX_BOARDS`)."""
        board = board_size(positions)
        if board not in self._caches:
            if len(self._caches) == MAX_BOARDS:
                self._caches.popitem(last=False)
            cache = new_cache(self._config.cache_positions, positions.forbidden.shape[1])
            BUDGET.keep(cache.key, sum(array.nbytes for array in cache) / 2**20)
            self._caches[board] = cache
        self._caches.move_to_end(board)
        return self._caches[board]


def _check_planes(model: Model) -> None:
    """Raise ModelError if the planes of a model are not those of its encoder."""
    encoder = new_encoder(model.info.encoder, 19, 19)
    wanted, found = (encoder.planes, encoder.globals), (model.info.planes, model.info.globals_)
    if found != wanted:
        name = model.files[0].name if model.files else model.info.name
        raise ModelError(
            f"network {shown(name)} takes {found[0]} planes and {found[1]} global values",
            expected=f"{wanted[0]} and {wanted[1]}, as {encoder.name} has",
            advice="import or train it again",
        )


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
    return NetworkEvaluator(model, model, config=NetworkConfig(cache_positions=0), looks=looks)
