"""How well positions are judged, by stage of the game: the value network beside averages of rollouts.

Figure 2b of the paper in miniature: the mean squared error of what a judge expects, −1 to 1, from how the game ended.

A judge is a function that returns what it expects of some positions, for the side to move.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor

from gtp_engine.evaluation.evaluation import FloatArray, new_evaluation
from gtp_engine.evaluation.from_game import conditions_of
from gtp_engine.evaluation.linear_policy import LinearPolicy
from gtp_engine.evaluation.positions import Conditions, Positions, board_size
from gtp_engine.go.constants import BLACK
from gtp_engine.nn.linear_policy_file import read_linear_policy
from gtp_engine.nn.symmetry import symmetry_count
from gtp_engine.search.puct.leaf_rollouts import new_results
from gtp_engine.search.puct.rollout_players import KernelPlayer, NetworkPlayer, RolloutPlayer
from gtp_engine.search.rng import new_states
from gtp_engine.search.rollouts.rollout import POLICIES
from gtp_engine.selfplay.rows_evaluator import RowsEvaluator
from gtp_engine.training.alphago.game_positions import Picks, Replayer, Shelf
from gtp_engine.training.alphago.stage_checkpoint import net_of, policy_of
from gtp_engine.training.alphago.torch_games import player_of
from gtp_engine.training.alphago.value import GAMES, ValueRun, sampled, split_episodes, values_of
from gtp_engine.training.alphago.value_games import read_folder
from gtp_engine.training.core.checkpoint import read_checkpoint
from gtp_engine.training.core.curves import Panel, write_panels
from gtp_engine.training.core.devices import choose_machine
from gtp_engine.training.core.stopping import never

Judge = Callable[[Shelf, Picks], FloatArray]

FILE_NAME: Final = "comparison.png"
"""The picture's name in the folder of a run."""
STAGES: Final = 6
"""Stages of the game that are told apart, with about as many positions in each."""
_TOGETHER: Final = 64
"""Positions that are played out together."""


@dataclass(frozen=True)
class Stage:
    """What judges were worth on the positions after `first` to `last` moves."""

    first: int
    last: int
    positions: int
    errors: dict[str, float]
    """Mean squared error by judge."""


def network_judge(answer: Callable[[Tensor], Tensor]) -> Judge:
    """Return the judge that a value network is when it looks once."""
    return lambda shelf, picks: values_of(shelf, picks, answer)


def turning_judge(answer: Callable[[Tensor], Tensor]) -> Judge:
    """Return the judge that a value network is when it looks in every orientation, and takes the mean."""

    def judge(shelf: Shelf, picks: Picks) -> FloatArray:
        turns = range(symmetry_count(shelf.width, shelf.height))
        looks = [values_of(shelf, picks, answer, symmetry=symmetry) for symmetry in turns]
        mean: FloatArray = np.mean(looks, axis=0, dtype=np.float32)
        return mean

    return judge


def rollout_judge(make_player: Callable[[int, int], RolloutPlayer], rollouts: int) -> Judge:
    """Return the judge that expects the average of `rollouts` rollouts; `make_player` gets width and height."""

    def judge(shelf: Shelf, picks: Picks) -> FloatArray:
        player, replayer = make_player(shelf.width, shelf.height), Replayer(shelf, _TOGETHER)
        parts = []
        for begin in range(0, len(picks.games), _TOGETHER):
            part = picks.take(np.arange(begin, min(begin + _TOGETHER, len(picks.games))))
            parts.append(_averages(shelf, part, player, replayer, rollouts))
        return np.concatenate(parts)

    return judge


def kernel_judge(policy: str, rollouts: int, *, seed: int) -> Judge:
    """Return the judge that averages rollouts of one of the policies of `search.rollouts.rollout.POLICIES`."""
    rng = new_states(1, seed)[0]
    return rollout_judge(
        lambda width, height: KernelPlayer(POLICIES[policy], 0, width=width, height=height, rng=rng), rollouts
    )


def linear_judge(weights: LinearPolicy, rollouts: int, *, seed: int) -> Judge:
    """Return the judge that averages rollouts of a linear policy."""
    rng = new_states(1, seed)[0]
    return rollout_judge(
        lambda width, height: KernelPlayer(0, 0, width=width, height=height, rng=rng, weights=weights), rollouts
    )


def policy_judge(player: RowsEvaluator, rollouts: int, *, seed: int) -> Judge:
    """Return the judge that averages games that a player of `policy_rows` plays with itself."""
    rng = new_states(1, seed)[0]

    def make_player(width: int, height: int) -> RolloutPlayer:
        return NetworkPlayer(_AsRollouts(player), 0, size=_TOGETHER, width=width, height=height, rng=rng)

    return rollout_judge(make_player, rollouts)


def compare(shelf: Shelf, picks: Picks, judges: Mapping[str, Judge], *, stages: int = STAGES) -> list[Stage]:
    """Return what each judge was worth in each stage of the game."""
    outcomes = shelf.outcomes(picks)
    squares = {name: np.square(judge(shelf, picks) - outcomes) for name, judge in judges.items()}
    order = np.argsort(picks.counts, kind="stable")
    return [
        Stage(
            first=int(picks.counts[rows[0]]),
            last=int(picks.counts[rows[-1]]),
            positions=len(rows),
            errors={name: float(errors[rows].mean()) for name, errors in squares.items()},
        )
        for rows in np.array_split(order, min(stages, len(order)))
    ]


def format_stages(stages: Sequence[Stage]) -> str:
    """Return the errors as a table in Markdown, the mean over all positions in its last line."""
    names = list(stages[0].errors)
    total = sum(stage.positions for stage in stages)
    lines = [f"| moves | positions | {' | '.join(names)} |", "|---|---|" + "---|" * len(names)]
    for stage in stages:
        errors = " | ".join(f"{stage.errors[name]:.3f}" for name in names)
        lines.append(f"| {stage.first}–{stage.last} | {stage.positions} | {errors} |")
    means = [sum(stage.errors[name] * stage.positions for stage in stages) / total for name in names]
    lines.append(f"| all | {total} | {' | '.join(f'{mean:.3f}' for mean in means)} |")
    return "\n".join(lines)


def draw_stages(path: Path, stages: Sequence[Stage]) -> None:
    """Write the errors as a picture; raises ConfigError where matplotlib is missing."""
    curves = {
        name: [((stage.first + stage.last) / 2, stage.errors[name]) for stage in stages] for name in stages[0].errors
    }
    write_panels(path, [Panel("mean squared error of the outcome", "moves played", curves)])


def compare_run(run: ValueRun, *, rollouts: int, linear: Path | None = None) -> str:
    """Return the comparison of a finished run's network with averages of rollouts, on its test positions, as a table.

    Rollouts are those of the supervised policy, of the linear one in the file `linear`, and of the policies without
    weights.  The picture is written beside the network.
    """
    learning = run.learning
    machine = choose_machine(learning.device, learning.precision, threads=learning.threads)
    net = machine.place(net_of(read_checkpoint(run.out))).eval()

    def answer(planes: Tensor) -> Tensor:
        with torch.inference_mode(), machine.autocast():
            values: Tensor = net(machine.as_input(planes.to(machine.device)))
        return values.cpu()

    supervised = player_of(machine.place(policy_of(run.supervised)).eval(), machine, "supervised")
    judges = {
        "value network": network_judge(answer),
        "turned all ways": turning_judge(answer),
        f"{rollouts} rollouts of the policy network": policy_judge(supervised, rollouts, seed=learning.seed),
    }
    if linear is not None:
        judges[f"{rollouts} linear"] = linear_judge(read_linear_policy(linear), rollouts, seed=learning.seed)
    for policy in POLICIES:
        judges[f"{rollouts} {policy}"] = kernel_judge(policy, rollouts, seed=learning.seed)
    _, test = split_episodes(read_folder(run.out / GAMES)[: run.games], run.test_share)
    stages = compare(*sampled(test), judges)
    draw_stages(run.out / FILE_NAME, stages)
    return format_stages(stages)


class _AsRollouts:
    """A player of `policy_rows` as `evaluation.evaluator.RolloutPolicy`."""

    def __init__(self, player: RowsEvaluator) -> None:
        self._player: Final = player

    def write_rollout_policy(
        self, positions: Positions, count: int, conditions: Conditions, policy: FloatArray
    ) -> None:
        """Write the player's odds."""
        found = new_evaluation(len(policy), *board_size(positions))
        self._player.evaluate_rows(positions, [conditions] * count, found)
        policy[:count] = found.policy[:count]


def _averages(shelf: Shelf, picks: Picks, player: RolloutPlayer, replayer: Replayer, rollouts: int) -> FloatArray:
    """Return the average of rollouts from each position, for the side to move."""
    count = len(picks.games)
    positions, results = replayer.positions(picks), new_results(count, shelf.width, shelf.height)
    conditions = [_conditions(shelf, int(game)) for game in picks.games]
    komi = np.array([each.komi for each in conditions])
    total = np.zeros(count)
    for _ in range(rollouts):
        player.play_out(positions, count, conditions[0], results, never)
        total += np.sign(results.margin[:count] - komi)
    sign = np.where(picks.to_play == BLACK, 1.0, -1.0)
    averages: FloatArray = (sign * total / rollouts).astype(np.float32)
    return averages


def _conditions(shelf: Shelf, game: int) -> Conditions:
    return conditions_of(shelf.games[game].game())
