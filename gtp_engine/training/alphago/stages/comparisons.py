"""Comparisons at the end of a training: a value network with averages of rollouts, and rollout policies.

Estimators of a position's value are compared by stage of the game, figure 2b of the paper in miniature: the mean
squared error of an estimate, −1 to 1, against the game's outcome.  Rollout policies are compared by that error, by how
often they draw the move played, and by their speed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from gtp_engine.base.steps import never
from gtp_engine.evaluation.from_game import conditions_of, write_conditions
from gtp_engine.evaluation.positions import FloatArray
from gtp_engine.go.board import copy_board, new_board, view_storage
from gtp_engine.go.constants import BLACK
from gtp_engine.nn.symmetry import cell_table, symmetry_count
from gtp_engine.search.puct.evaluation_thread import RolloutPlayer
from gtp_engine.search.puct.expand import new_results
from gtp_engine.search.rng import new_states
from gtp_engine.search.rollouts.rollout import POLICIES, new_rollout_work, play_out, rollouts_per_second
from gtp_engine.training.alphago.linear_policy import LinearPolicy, new_tables, read_linear_policy
from gtp_engine.training.alphago.linear_rollouts import (
    LinearWork,
    linear_rollouts_per_second,
    new_linear_work,
    play_out_linear,
)
from gtp_engine.training.alphago.rollout_players import KernelPlayer, LinearPlayer, RolloutNetworkPlayer
from gtp_engine.training.alphago.stages.game_positions import GameStore, Replayer
from gtp_engine.training.alphago.stages.game_records import RecordedGame
from gtp_engine.training.alphago.stages.nets import read_net, read_policy, torch_player
from gtp_engine.training.alphago.stages.policy_players import PolicyPlayer
from gtp_engine.training.alphago.stages.replay import PositionRefs
from gtp_engine.training.alphago.stages.rollout_policy import split_stores
from gtp_engine.training.alphago.stages.stage_settings import RolloutReport, RolloutSettings
from gtp_engine.training.alphago.stages.supervised import Evaluate, evaluate_with
from gtp_engine.training.alphago.stages.value import (
    GAMES,
    ValueStage,
    read_folder,
    samples_of,
    split_episodes,
    values_of,
)
from gtp_engine.training.core.devices import choose_machine
from gtp_engine.training.core.reporting import Curves, Panel

ValueEstimator = Callable[[GameStore, PositionRefs], FloatArray]
"""Returns the expected outcome of positions for the side to move, float32[K], −1 to 1."""
PlayerFactory = Callable[[int, int], RolloutPlayer]
"""Returns a rollout player for boards of a width and height."""

LINEAR: Final = "linear"
_DRAWS: Final = 4
"""Moves drawn in each position, to estimate how often a policy draws the move played."""
FILE_NAME: Final = "comparison.png"
"""The picture's name in the folder of a run."""
STAGES: Final = 6
"""Default number of stages of the game, with about as many positions in each."""
_BATCH: Final = 64
"""Rollouts that are played at once."""


@dataclass(frozen=True)
class Stage:
    """The errors of all estimators on the positions after `first` to `last` moves."""

    first: int
    last: int
    positions: int
    errors: dict[str, float]
    """Mean squared error by estimator."""


def network_estimator(evaluate: Evaluate) -> ValueEstimator:
    """Return the estimator that evaluates each position once with a value network."""
    return lambda store, refs: values_of(store, refs, evaluate)


def averaged_network_estimator(evaluate: Evaluate) -> ValueEstimator:
    """Return the estimator that averages a value network over all symmetries of each position."""

    def estimate(store: GameStore, refs: PositionRefs) -> FloatArray:
        symmetries = range(symmetry_count(store.width, store.height))
        values = [values_of(store, refs, evaluate, symmetry=symmetry) for symmetry in symmetries]
        mean: FloatArray = np.mean(values, axis=0, dtype=np.float32)
        return mean

    return estimate


def rollout_estimator(policy: str | LinearPolicy, rollouts: int, *, seed: int) -> ValueEstimator:
    """Return the estimator that averages rollouts of a linear policy, or of one in `rollout.POLICIES` by its name."""
    rng = new_states(1, seed)[0]

    def new_player(width: int, height: int) -> RolloutPlayer:
        if isinstance(policy, str):
            return KernelPlayer(POLICIES[policy], 0, _BATCH, (width, height), rng)
        return LinearPlayer(policy, 0, _BATCH, (width, height), rng)

    return _average_estimator(new_player, rollouts)


def policy_rollout_estimator(player: PolicyPlayer, rollouts: int, *, seed: int) -> ValueEstimator:
    """Return the estimator that averages games that a player of `policy_players` plays against itself."""
    rng = new_states(1, seed)[0]

    def new_player(width: int, height: int) -> RolloutPlayer:
        return RolloutNetworkPlayer(player, 0, _BATCH, (width, height), rng)

    return _average_estimator(new_player, rollouts)


def compare(
    store: GameStore, refs: PositionRefs, estimators: Mapping[str, ValueEstimator], *, stages: int = STAGES
) -> list[Stage]:
    """Return the mean squared error of each estimator in each stage of the game."""
    outcomes = store.outcomes(refs)
    squares = {name: np.square(estimate(store, refs) - outcomes) for name, estimate in estimators.items()}
    order = np.argsort(refs.counts, kind="stable")
    return [
        Stage(
            first=int(refs.counts[rows[0]]),
            last=int(refs.counts[rows[-1]]),
            positions=len(rows),
            errors={name: float(errors[rows].mean()) for name, errors in squares.items()},
        )
        for rows in np.array_split(order, min(stages, len(order)))
    ]


def format_stages(stages: Sequence[Stage]) -> str:
    """Return the errors as a Markdown table, with the means over all positions in the last line."""
    names = list(stages[0].errors)
    total = sum(stage.positions for stage in stages)
    lines = [f"| moves | positions | {' | '.join(names)} |", "|---|---|" + "---|" * len(names)]
    for stage in stages:
        errors = " | ".join(f"{stage.errors[name]:.3f}" for name in names)
        lines.append(f"| {stage.first}–{stage.last} | {stage.positions} | {errors} |")
    means = [sum(stage.errors[name] * stage.positions for stage in stages) / total for name in names]
    lines.append(f"| all | {total} | {' | '.join(f'{mean:.3f}' for mean in means)} |")
    return "\n".join(lines)


def stages_panel(stages: Sequence[Stage]) -> Panel:
    """Return the errors as curves."""
    curves = {
        name: [((stage.first + stage.last) / 2, stage.errors[name]) for stage in stages] for name in stages[0].errors
    }
    return Panel("mean squared error of the outcome", "moves played", curves)


def compare_run(
    stage: ValueStage, folder: Path, *, rollouts: int, linear: Path | None = None, warn: Callable[[str], None]
) -> str:
    """Return as a table how a finished run's network compares with averages of rollouts, on its test positions.

    Rollouts are those of the supervised policy, of the linear one in the file `linear`, and of the policies without
    weights.  The picture is written to the run's `folder`; `warn` receives why there is none.
    """
    settings, learning = stage.settings, stage.learning
    machine = choose_machine(learning.device, learning.precision, threads=learning.threads)
    evaluate = evaluate_with(machine.place(read_net(folder)).eval(), machine)
    player = torch_player(machine.place(read_policy(stage.supervised)).eval(), machine, "supervised")
    title, seed = f"{rollouts} rollouts of the policy network", learning.seed
    estimators = {
        "value network": network_estimator(evaluate),
        "all orientations": averaged_network_estimator(evaluate),
        title: policy_rollout_estimator(player, rollouts, seed=seed),
    }
    if linear is not None:
        estimators[f"{rollouts} linear"] = rollout_estimator(read_linear_policy(linear), rollouts, seed=seed)
    for policy in POLICIES:
        estimators[f"{rollouts} {policy}"] = rollout_estimator(policy, rollouts, seed=seed)
    _, test = split_episodes(read_folder(folder / GAMES)[: settings.games], settings.test_share)
    stages = compare(*samples_of(test), estimators)
    Curves(folder / FILE_NAME, warn).draw([stages_panel(stages)])
    return format_stages(stages)


def _average_estimator(new_player: PlayerFactory, rollouts: int) -> ValueEstimator:
    """Return the estimator that averages `rollouts` rollouts from each position."""

    def estimate(store: GameStore, refs: PositionRefs) -> FloatArray:
        player, replayer = new_player(store.width, store.height), Replayer(store, _BATCH)
        batches = refs.batches(_BATCH)
        return np.concatenate([_averages(store, batch, player, replayer, rollouts) for batch in batches])

    return estimate


def _averages(
    store: GameStore, refs: PositionRefs, player: RolloutPlayer, replayer: Replayer, rollouts: int
) -> FloatArray:
    """Return the average outcome of rollouts from each position, for the side to move."""
    count = len(refs.games)
    positions, results = replayer.positions(refs), new_results(count, store.width, store.height)
    conditions = [conditions_of(store.games[game].game()) for game in refs.games.tolist()]
    for row, of_row in enumerate(conditions):
        write_conditions(positions, row, of_row)
    komi = np.array([of_row.komi for of_row in conditions])
    total = np.zeros(count)
    for _ in range(rollouts):
        player.play_out(positions, count, results, never)
        total += np.sign(results.margin[:count] - komi)
    sign = np.where(refs.to_play == BLACK, 1.0, -1.0)
    averages: FloatArray = (sign * total / rollouts).astype(np.float32)
    return averages


@dataclass(frozen=True)
class PolicyQuality:
    """Measurements of a rollout policy."""

    drawn: float
    """Share of its moves that are the move played."""
    per_second: float
    """Rollouts per second on one core from the empty board."""
    error: float
    """Mean squared error of the average of rollouts, −1 to 1, against the game's outcome."""


def measure_policies(
    store: GameStore, policy: LinearPolicy, report: RolloutReport, *, seed: int
) -> dict[str, PolicyQuality]:
    """Return the quality of every policy by its name, on random positions of the games."""
    refs, width, height = store.move_refs(), store.width, store.height
    chosen = np.random.default_rng(seed).permutation(len(refs.games))[: report.positions]
    refs = refs.take(np.sort(chosen))
    linear, one_move = (new_linear_work(new_tables(policy), width, height, limit) for limit in (0, 1))
    estimators = {name: rollout_estimator(name, report.rollouts, seed=seed) for name in POLICIES}
    estimators[LINEAR] = rollout_estimator(policy, report.rollouts, seed=seed)
    (stage,) = compare(store, refs, estimators, stages=1)
    return {
        name: PolicyQuality(
            drawn=_drawn_share(store, refs, one_move if name == LINEAR else POLICIES[name], seed=seed),
            per_second=(
                linear_rollouts_per_second(width, height, linear, report.speed_seconds)
                if name == LINEAR
                else rollouts_per_second(width, height, name, report.speed_seconds)
            ),
            error=stage.errors[name],
        )
        for name in estimators
    }


def report_run(policy: Path, games: list[RecordedGame], settings: RolloutSettings, report: RolloutReport) -> str:
    """Return the comparison of a trained policy's file with the other policies on its test games, as a table."""
    _, test = split_stores(games, settings.test_share)
    return format_qualities(measure_policies(test, read_linear_policy(policy), report, seed=settings.seed))


def format_qualities(found: Mapping[str, PolicyQuality]) -> str:
    """Return the measurements as a Markdown table."""
    lines = ["| rollouts | draws the move played | rollouts/s | error of their average |", "|---|---|---|---|"]
    lines += [
        f"| {name} | {quality.drawn:.1%} | {quality.per_second:,.0f} | {quality.error:.3f} |"
        for name, quality in found.items()
    ]
    return "\n".join(lines)


def _drawn_share(store: GameStore, refs: PositionRefs, policy: int | LinearWork, *, seed: int) -> float:
    """Return the share of a policy's moves that are the moves played."""
    board, work = new_board(store.width, store.height), new_rollout_work(store.width, store.height)
    first_player, rng = np.zeros(board.color.size, dtype=np.int8), new_states(1, seed)[0]
    played, hits = store.actions(refs), 0
    cells, replayer = cell_table(store.width, store.height)[0], Replayer(store, 1)
    for row in range(len(refs.games)):
        position = replayer.positions(refs.take(np.array([row])))
        start = view_storage(position.storage[0, 0], position.hash[0, 0], position.zobrist, board.color.size)
        color, last = int(position.to_play[0]), int(position.points[0, 0])
        for _ in range(_DRAWS):
            copy_board(board, start)
            first_player[:] = 0
            if isinstance(policy, LinearWork):
                play_out_linear(board, color, last, policy, rng, first_player)
            else:
                play_out(board, color, last, policy, work, rng, first_player, 1)
            hits += bool(cells[first_player.argmax()] == played[row])
    return hits / (_DRAWS * len(refs.games))
