"""The evaluator of networks: cache, networks, decoding.

It looks positions up in the cache, runs the networks on the rest and decodes their outputs.  The only place where a
network's side-to-move view becomes Black's is `decode`.
"""

import functools
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from typing import Final, NamedTuple

import numpy as np

from gtp_engine.config.sections import NetworkConfig
from gtp_engine.errors import ModelError, problem, shown
from gtp_engine.evaluation.evaluation import Evaluation, FloatArray
from gtp_engine.evaluation.evaluator import ALL_SYMMETRIES, ANY_SYMMETRY, EvaluationOptions
from gtp_engine.evaluation.evaluator_info import BoardSizes, EvaluatorInfo
from gtp_engine.evaluation.positions import SIMPLE_KO, Conditions, Positions, board_size
from gtp_engine.go.board import IntArray
from gtp_engine.nn.cache import Cache, find, new_cache, store
from gtp_engine.nn.cache_key import conditions_key
from gtp_engine.nn.decode import (
    EncodedRows,
    KatagoOutputs,
    PolicyOptions,
    clear_rows,
    decode_katago_value,
    decode_ownership,
    decode_policy,
    decode_value,
    finish_rows,
)
from gtp_engine.nn.encoded_network import Network
from gtp_engine.nn.onnx_model import RawOutputs
from gtp_engine.nn.symmetry import TRANSPOSE, cell_table

MAX_BOARDS: Final = 3
"""Board sizes whose cached evaluations are kept, for games on several boards at once: as many as a network has open
sessions for (`onnx_model.MAX_SESSIONS`)."""


@dataclass(frozen=True)
class _Workspace:
    """Tables and work arrays for one board size and number of rows B, and the cache."""

    shape: tuple[int, int, int]  # B, width, height
    cells: IntArray  # [S, n]
    rows: IntArray  # [B] 0, 1, 2 …
    missing: IntArray  # [B]
    symmetries: IntArray  # [B]
    scratch: FloatArray  # [n]
    cache: Cache | None


class _Batch(NamedTuple):
    """Rows that the networks are to evaluate."""

    positions: Positions
    rows: IntArray  # [K] ascending
    conditions: Conditions


class NetworkEvaluator:
    """An `evaluation.evaluator.Evaluator` that runs networks.

    `policy` gives the policy and `value` everything else; they may be the same.  For searches that play positions out,
    `rollout` is a faster policy network and `rollout_weights` those of a policy that is faster still.  `config`
    holds symmetry, temperature, pass prior and size of the cache.
    """

    def __init__(
        self,
        policy: Network,
        value: Network,
        *,
        rollout: Network | None = None,
        rollout_weights: object = None,
        config: NetworkConfig,
    ) -> None:
        self.networks: Final = tuple(dict.fromkeys([policy, value, *([] if rollout is None else [rollout])]))
        infos, of_value = [network.model.info for network in self.networks], value.model.info
        self.info: Final = EvaluatorInfo(
            name=" + ".join(dict.fromkeys(info.name for info in infos)),
            batch=policy.model.batch,
            position_seconds=sum(each.model.position_seconds for each in {policy, value}),
            has_score=of_value.is_katago,
            has_ownership=of_value.has_ownership,
            knows_komi=of_value.is_katago,
            knows_advantage=policy.model.info.advantages and of_value.advantages,
            knows_cleanup=policy.model.info.knows_cleanup and of_value.knows_cleanup,
            has_rollout_policy=rollout is not None,
            rollout_weights=rollout_weights,
            needs_profile=any(info.needs_profile for info in infos),
            boards=functools.reduce(BoardSizes.common, [info.sizes for info in infos]),
            files=tuple(network.model.path for network in self.networks),
            settings=_settings([network.model.runtime.precision for network in self.networks], config),
            model_version=max(info.model_version for info in infos),
        )
        self._policy = policy
        self._value = value
        self._rollout = rollout
        self._config = config
        self._scales = np.array(astuple(of_value.scales), dtype=np.float32)
        self._default_symmetry = {"any": ANY_SYMMETRY, "none": 0, "all": ALL_SYMMETRIES}[config.symmetry]
        self._workspaces: OrderedDict[tuple[int, int, int], _Workspace] = OrderedDict()

    @property
    def runtime_text(self) -> str:
        """Provider and precision in words: "OpenVINO in bfloat16"."""
        runtime = self._policy.model.runtime
        return f"{runtime.provider.title} in {runtime.precision}"

    def prepare(self, width: int, height: int) -> None:
        """Get the networks ready for boards of this size, which may take seconds; raises ModelError if they cannot."""
        for network in self.networks:
            network.model.prepare(width, height)

    def evaluate(
        self, positions: Positions, count: int, conditions: Conditions, out: Evaluation, options: EvaluationOptions
    ) -> None:
        """Write the evaluation of the first `count` rows into `out`; see `Evaluator`.

        Boards that are not square have four symmetries: 4 to 7 are applied without the exchange of rows and columns.

        Raises ModelError if the network does not play this board size, or returned NaN or infinity.
        """
        space = self._workspace_for(positions)
        if options.symmetry == ANY_SYMMETRY:
            options = options._replace(symmetry=self._default_symmetry)
        keys = positions.situation if options.shares_transpositions else positions.key
        salt = conditions_key(conditions, options)
        rows = space.rows[:count]
        if space.cache is not None:
            misses = find(space.cache, keys, count, salt, out, space.missing)
            if misses == 0:
                return
            rows = space.missing[:misses]
        self._run_networks(space, _Batch(positions, rows, conditions), options, out)
        if space.cache is not None:
            store(space.cache, keys, rows, salt, out)

    def write_rollout_policy(
        self, positions: Positions, count: int, conditions: Conditions, policy: FloatArray
    ) -> None:
        """Write the rollout network's policy for the first `count` rows into `policy` [B, n]; see `RolloutPolicy`."""
        assert self._rollout is not None, "callers check `info.has_rollout_policy`"
        space = self._workspace_for(positions)
        rows = space.rows[:count]
        space.symmetries[:count] = 0
        policy[:count] = 0.0
        encoded = EncodedRows(rows, space.cells, space.symmetries, 1.0, space.scratch)
        raw = self._rollout.run(positions, rows, conditions, space.symmetries)
        self._add_policy(_Batch(positions, rows, conditions), encoded, 0.0, raw, policy)

    def clear_cache(self) -> None:
        """Empty the cache."""
        self._workspaces.clear()

    def close(self) -> None:
        """Free the networks and the cache."""
        self._workspaces.clear()
        for network in self.networks:
            network.model.close()

    def _run_networks(self, space: _Workspace, batch: _Batch, options: EvaluationOptions, out: Evaluation) -> None:
        """Write what the networks return for a batch, in one or all symmetries; raises ModelError for NaN."""
        rows, symmetries = batch.rows, len(space.cells)
        clear_rows(rows, out)
        numbers = range(symmetries) if options.symmetry == ALL_SYMMETRIES else [options.symmetry]
        for number in numbers:
            if number == ANY_SYMMETRY:
                space.symmetries[rows] = batch.positions.key[rows] % np.uint64(symmetries)
            else:
                space.symmetries[rows] = number if number < symmetries else number - TRANSPOSE
            encoded = EncodedRows(rows, space.cells, space.symmetries, 1.0 / len(numbers), space.scratch)
            self._add_outputs(batch, encoded, options.optimism, out)
        if finish_rows(rows, out):
            raise ModelError(
                problem(
                    f"network {shown(self.info.name)} returned NaN or infinity",
                    advice="try --precision float32 or --provider cpu; if that does not help, the file is damaged",
                )
            )

    def _add_outputs(self, batch: _Batch, encoded: EncodedRows, optimism: float, out: Evaluation) -> None:
        """Run the networks once, and add their decoded outputs to `out`."""
        conditions, to_play = batch.conditions, batch.positions.to_play
        raw = self._policy.run(*batch, encoded.symmetries)
        self._add_policy(batch, encoded, optimism, raw, out.policy)
        if self._value is not self._policy:
            raw = self._value.run(*batch, encoded.symmetries)
        assert raw.value is not None, "checked when the session was created"
        if raw.misc is None:
            decode_value(to_play, encoded, raw.value, out)
        else:
            can_be_void = conditions.superko == SIMPLE_KO or conditions.territory
            outputs = KatagoOutputs(self._scales, self._value.model.info.model_version, can_be_void)
            decode_katago_value(to_play, encoded, outputs, raw.value, raw.misc, out)
        if raw.ownership is not None:
            decode_ownership(to_play, encoded, raw.ownership, out.ownership_black)

    def _add_policy(
        self, batch: _Batch, encoded: EncodedRows, optimism: float, raw: RawOutputs, policy: FloatArray
    ) -> None:
        """Add a network's decoded policy to `policy` [B, n]."""
        assert raw.policy is not None, "checked when the session was created"
        options = PolicyOptions(
            suicide=batch.conditions.suicide,
            optimism=optimism,
            temperature=self._config.policy_temperature,
            pass_prior=self._config.pass_prior,
            caps_passing=batch.conditions.passing_hacks,
        )
        decode_policy(batch.positions, encoded, options, raw.policy, policy)

    def _workspace_for(self, positions: Positions) -> _Workspace:
        """Return the workspace for the boards and number of rows of `positions`; see `MAX_BOARDS`."""
        shape = (positions.to_play.size, *board_size(positions))
        if shape not in self._workspaces:
            self._workspaces[shape] = self._new_workspace(shape, n=positions.forbidden.shape[1])
        self._workspaces.move_to_end(shape)
        return self._workspaces[shape]

    def _new_workspace(self, shape: tuple[int, int, int], *, n: int) -> _Workspace:
        """Return a workspace for `shape` and padded boards of length `n`; the least recent board makes room for it."""
        batch, width, height = shape
        same_board = [space.cache for space in self._workspaces.values() if space.shape[1:] == (width, height)]
        last_use = {each[1:]: number for number, each in enumerate(self._workspaces)}
        if not same_board and len(last_use) == MAX_BOARDS:
            oldest = min(last_use, key=last_use.__getitem__)
            for other in [each for each in self._workspaces if each[1:] == oldest]:
                del self._workspaces[other]
        size = self._config.cache_positions
        return _Workspace(
            shape=shape,
            cells=cell_table(width, height),
            rows=np.arange(batch, dtype=np.int32),
            missing=np.zeros(batch, dtype=np.int32),
            symmetries=np.zeros(batch, dtype=np.int32),
            scratch=np.zeros(n, dtype=np.float32),
            cache=same_board[0] if same_board else (new_cache(size, n) if size else None),
        )


def _settings(precisions: Iterable[str], config: NetworkConfig) -> str:
    """Return what evaluations depend on besides the files."""
    return f"{' '.join(precisions)} {config.symmetry} {config.policy_temperature} {config.pass_prior}"
