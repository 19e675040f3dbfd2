"""The evaluator: networks' answers about positions, remembered, for searches.

It looks positions up in the cache, has the networks judge the rest and decodes what they say.  The only place where
a network's side-to-move view becomes Black's is `decode`.
"""

import functools
from dataclasses import dataclass, fields
from typing import Final

import numpy as np

from gtp_engine.config.network import NetworkConfig
from gtp_engine.errors import ModelError, problem, shown
from gtp_engine.evaluation.evaluation import Evaluation, FloatArray
from gtp_engine.evaluation.evaluator import ALL_SYMMETRIES, ANY_SYMMETRY, EvaluationOptions
from gtp_engine.evaluation.evaluator_info import BoardSizes, EvaluatorInfo
from gtp_engine.evaluation.linear_policy import LinearPolicy
from gtp_engine.evaluation.positions import SIMPLE_KO, Conditions, Positions, board_size
from gtp_engine.go.board import IntArray
from gtp_engine.nn.cache import Cache, find, new_cache, store
from gtp_engine.nn.decode import (
    clear_rows,
    decode_katago_value,
    decode_ownership,
    decode_policy,
    decode_value,
    finish_rows,
)
from gtp_engine.nn.encoded_network import Network
from gtp_engine.nn.metadata import Scales
from gtp_engine.nn.onnx_model import RawOutputs
from gtp_engine.nn.symmetry import cell_table

_KEY_MASK: Final = 2**64 - 1

_SQUARE_ONLY: Final = 4
"""The bit of a symmetry's number that exchanges rows and columns."""


@dataclass(frozen=True)
class _Room:
    """What is kept for one board size (width, height) and number of rows B: tables and work arrays."""

    shape: tuple[int, int, int]
    cells: IntArray  # [S, n]
    rows: IntArray  # [B] 0, 1, 2 …
    missing: IntArray  # [B]
    symmetries: IntArray  # [B]
    scratch: FloatArray  # [n]
    cache: Cache | None


class NetworkEvaluator:
    """Judges positions by networks, as `evaluation.evaluator.Evaluator` describes.

    `policy` gives the policy and `value` everything else; they may be the same.  `rollout`, for searches that play
    positions out, is a quick policy network, and `linear_policy` the weights of a still quicker one.  `config` holds
    symmetry, temperature, pass prior and size of the cache.
    """

    def __init__(
        self,
        policy: Network,
        value: Network,
        *,
        rollout: Network | None = None,
        linear_policy: LinearPolicy | None = None,
        config: NetworkConfig,
    ) -> None:
        self.networks: Final = tuple(dict.fromkeys([policy, value, *([] if rollout is None else [rollout])]))
        infos, info = [network.model.info for network in self.networks], value.model.info
        self.info: Final = EvaluatorInfo(
            name=" + ".join(dict.fromkeys(info.name for info in infos)),
            batch=policy.model.batch,
            has_score=info.encoder == "katago-v7",
            has_ownership=info.has_ownership,
            has_rollout_policy=rollout is not None,
            linear_policy=linear_policy,
            boards=functools.reduce(BoardSizes.common, [info.sizes for info in infos]),
            model_version=max(info.model_version for info in infos),
        )
        self._policy = policy
        self._value = value
        self._rollout = rollout
        self._config = config
        self._scales = np.array([getattr(info.scales, field.name) for field in fields(Scales)], dtype=np.float32)
        self._default_symmetry = {"any": ANY_SYMMETRY, "none": 0, "all": ALL_SYMMETRIES}[config.symmetry]
        self._room: _Room | None = None

    @property
    def runtime_text(self) -> str:
        """What runs the networks, in a few words: "OpenVINO in bfloat16"."""
        runtime = self._policy.model.runtime
        return f"{runtime.provider.title} in {runtime.precision}"

    def prepare(self, width: int, height: int) -> None:
        """Get the networks ready for boards of this size, which may take seconds; raises ModelError if they cannot."""
        for network in self.networks:
            network.model.prepare(width, height)

    def evaluate(
        self, positions: Positions, count: int, conditions: Conditions, out: Evaluation, options: EvaluationOptions
    ) -> None:
        """Write the answers for the first `count` rows into `out`, as the Evaluator protocol says.

        Boards that are not square have four symmetries: for 4 to 7, rows and columns stay where they are.

        Raises ModelError if the network does not play this board size, or answers with what is no number.
        """
        room = self._fit(positions)
        if options.symmetry == ANY_SYMMETRY:
            options = options._replace(symmetry=self._default_symmetry)
        salt = np.uint64(hash((conditions, *options)) & _KEY_MASK)
        rows = room.rows[:count]
        if room.cache is not None:
            misses = find(room.cache, positions.key, count, salt, out, room.missing)
            if misses == 0:
                return
            rows = room.missing[:misses]
        self._ask(room, positions, rows, conditions, options, out)
        if room.cache is not None:
            store(room.cache, positions.key, rows, salt, out)

    def write_rollout_policy(
        self, positions: Positions, count: int, conditions: Conditions, policy: FloatArray
    ) -> None:
        """Write the rollout network's policy for the first `count` rows into `policy` [B, n]; there must be one."""
        assert self._rollout is not None, "the caller asks whether there is a rollout network"
        room = self._fit(positions)
        rows = room.rows[:count]
        room.symmetries[:count] = 0
        policy[:count] = 0.0
        raw = self._rollout.run(positions, rows, conditions, room.symmetries)
        self._add_policy(room, positions, rows, conditions, raw, 0.0, 1.0, policy)

    def clear_cache(self) -> None:
        """Forget remembered answers."""
        self._room = None

    def close(self) -> None:
        """Free the networks and the cache."""
        self._room = None
        for network in self.networks:
            network.model.close()

    def _ask(
        self,
        room: _Room,
        positions: Positions,
        rows: IntArray,
        conditions: Conditions,
        options: EvaluationOptions,
        out: Evaluation,
    ) -> None:
        """Have the networks judge `rows`, in one or all symmetries, and write what they say."""
        clear_rows(rows, out)
        symmetries = len(room.cells)
        passes = range(symmetries) if options.symmetry == ALL_SYMMETRIES else [options.symmetry]
        for number in passes:
            if number == ANY_SYMMETRY:
                room.symmetries[rows] = positions.key[rows] % np.uint64(symmetries)
            else:
                room.symmetries[rows] = number if number < symmetries else number - _SQUARE_ONLY
            self._add_answers(room, positions, rows, conditions, options.optimism, 1.0 / len(passes), out)
        if finish_rows(rows, out):
            raise ModelError(
                problem(
                    f"network {shown(self.info.name)} answered with what is no number",
                    advice="try --precision float32 or --provider cpu; if that does not help, the file is damaged",
                )
            )

    def _add_answers(
        self,
        room: _Room,
        positions: Positions,
        rows: IntArray,
        conditions: Conditions,
        optimism: float,
        weight: float,
        out: Evaluation,
    ) -> None:
        """Run the networks once, and add `weight` times their answers to `out`."""
        raw = self._policy.run(positions, rows, conditions, room.symmetries)
        self._add_policy(room, positions, rows, conditions, raw, optimism, weight, out.policy)
        if self._value is not self._policy:
            raw = self._value.run(positions, rows, conditions, room.symmetries)
        assert raw.value is not None, "checked when the session was made"
        if raw.misc is None:
            decode_value(positions.to_play, rows, raw.value, weight, out)
        else:
            can_be_void = conditions.superko == SIMPLE_KO or conditions.territory
            version = self._value.model.info.model_version
            decode_katago_value(
                positions.to_play, rows, raw.value, raw.misc, self._scales, version, can_be_void, weight, out
            )
        if raw.ownership is not None:
            decode_ownership(
                positions.to_play, rows, raw.ownership, room.cells, room.symmetries, weight, out.ownership_black
            )

    def _add_policy(
        self,
        room: _Room,
        positions: Positions,
        rows: IntArray,
        conditions: Conditions,
        raw: RawOutputs,
        optimism: float,
        weight: float,
        policy: FloatArray,
    ) -> None:
        """Add `weight` times a network's policy to `policy` [B, n]."""
        assert raw.policy is not None, "checked when the session was made"
        decode_policy(
            positions,
            rows,
            conditions.suicide,
            raw.policy,
            room.cells,
            room.symmetries,
            optimism,
            self._config.policy_temperature,
            self._config.pass_prior,
            conditions.passing_hacks,
            weight,
            policy,
            room.scratch,
        )

    def _fit(self, positions: Positions) -> _Room:
        """Return room for the boards and number of rows of `positions`; the cache lasts while boards stay alike."""
        batch = positions.to_play.size
        width, height = board_size(positions)
        room = self._room
        if room is not None and room.shape == (batch, width, height):
            return room
        n = positions.forbidden.shape[1]
        same_board = room is not None and room.shape[1:] == (width, height)
        size = self._config.cache_positions
        cache = room.cache if room is not None and same_board else (new_cache(size, n) if size else None)
        self._room = _Room(
            shape=(batch, width, height),
            cells=cell_table(width, height),
            rows=np.arange(batch, dtype=np.int32),
            missing=np.zeros(batch, dtype=np.int32),
            symmetries=np.zeros(batch, dtype=np.int32),
            scratch=np.zeros(n, dtype=np.float32),
            cache=cache,
        )
        return self._room
