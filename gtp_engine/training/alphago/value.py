"""The value network: who wins a position that the reinforced policy plays on from, learned from one position a game.

The loss is the mean squared error of the outcome, 1 or −1 for the side to move, and that of the points' owners.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor

from gtp_engine.evaluation.evaluation import FloatArray
from gtp_engine.nn.symmetry import IDENTITY
from gtp_engine.progress import ProgressBar
from gtp_engine.training.alphago.examples import Examples, ExampleStream, examples_of
from gtp_engine.training.alphago.experience import Episode
from gtp_engine.training.alphago.game_positions import Picks, Shelf
from gtp_engine.training.alphago.game_records import TEST_SHARE, split_named
from gtp_engine.training.alphago.learner import Evaluate, new_loop
from gtp_engine.training.alphago.net_export import export_net
from gtp_engine.training.alphago.nets import PolicyNet, ValueNet, new_net
from gtp_engine.training.alphago.stage_checkpoint import net_of, policy_of
from gtp_engine.training.alphago.torch_games import GameSettings, player_of
from gtp_engine.training.alphago.value_games import fill_folder, value_games
from gtp_engine.training.core.checkpoint import read_checkpoint
from gtp_engine.training.core.devices import choose_machine
from gtp_engine.training.core.learning import Learning
from gtp_engine.training.core.reporting import run_and_report

FILE_NAME: Final = "value.onnx"
"""The network's name in the folder of a run."""
GAMES: Final = "games"
"""Folder of a run with the shards of its games."""


@dataclass(frozen=True)
class ValueRun:
    """A run in the folder `out`, about the policies of two other runs."""

    supervised: Path
    reinforced: Path
    out: Path
    learning: Learning
    games: int = 10_000
    """Games, of which one position each is learned."""
    game: GameSettings = field(default_factory=GameSettings)
    layers: int = 0
    """Convolutions, the one of 1×1 included; 0: as many as the policy has."""
    hidden: int = 256
    """Units of the dense layer."""
    owners_weight: float = 1.0
    """What the error of the points' owners counts beside that of the outcome; the paper's 0."""
    takes_trunk: bool = True
    """Whether the network begins with the supervised policy's filters, not with random ones."""
    test_share: float = TEST_SHARE
    name: str = ""
    terms: str = ""


class ValueTask:
    """Foretelling outcomes."""

    names: Final = ("loss", "error", "owners' error", "right winner")

    def __init__(self, shelf: Shelf, picks: Picks, owners_weight: float) -> None:
        self._shelf: Final = shelf
        self._picks: Final = picks
        self._owners_weight: Final = owners_weight

    def figures(self, answers: Tensor, examples: Examples) -> Tensor:
        """Return the loss, the mean squared errors of outcome and owners, and how often the winner is right."""
        right = (answers[:, 0].detach() * examples.outcomes > 0).float().mean()
        error = (answers[:, 0] - examples.outcomes).square().mean()
        of_owners = (answers[:, 1:] - examples.owners).square().mean()
        return torch.stack([error + self._owners_weight * of_owners, error, of_owners, right])

    def validate(self, evaluate: Evaluate) -> dict[str, float]:
        """Return the same of the test positions."""
        parts = examples_of(self._shelf, self._picks, for_value=True)
        figures = [self.figures(evaluate(part.planes), part) * len(part.planes) for part in parts]
        means = torch.stack(figures).sum(dim=0) / len(self._picks.games)
        return dict(zip(self.names, means.tolist(), strict=True))


def values_of(shelf: Shelf, picks: Picks, evaluate: Evaluate, *, symmetry: int = IDENTITY) -> FloatArray:
    """Return what a value network says about positions that it is shown in one orientation, for the side to move.

    float32[K].
    """
    parts = examples_of(shelf, picks, for_value=True, symmetry=symmetry)
    return np.concatenate([evaluate(examples.planes)[:, 0].numpy() for examples in parts])


def sampled(episodes: Sequence[Episode]) -> tuple[Shelf, Picks]:
    """Return games with the one position of each that is to be judged."""
    shelf = Shelf([episode.game for episode in episodes])
    moments = np.array([episode.moment for episode in episodes], dtype=np.int64)
    to_play = np.array([episode.game.colors[episode.moment] for episode in episodes], dtype=np.int8)
    return shelf, Picks(np.arange(len(episodes)), moments, to_play)


def split_episodes(episodes: Sequence[Episode], share: float) -> tuple[list[Episode], list[Episode]]:
    """Return the games to learn from and those for testing; raises RecordsError unless there are some of both."""
    return split_named(episodes, [episode.game.name for episode in episodes], share)


def run_value(run: ValueRun, bar: ProgressBar, is_stopped: Callable[[], bool]) -> Path | None:
    """Play the games and train until the end, or `is_stopped`; return the network file, None if the run is not done.

    Goes on where an earlier run in the same folder ended.
    """
    policy = policy_of(run.supervised)
    episodes = _play(run, policy, bar, is_stopped)
    if len(episodes) < run.games:
        return None
    train, test = split_episodes(episodes, run.test_share)
    shelf, picks = sampled(train)
    task = ValueTask(*sampled(test), run.owners_weight)
    shape = replace(policy.shape, layers=run.layers or policy.shape.layers, hidden=run.hidden)
    net = new_net(ValueNet, shape, seed=run.learning.seed)
    if run.takes_trunk:
        net.take_trunk(policy)
    stream = ExampleStream(shelf, picks, run.learning.batch, seed=run.learning.seed, for_value=True)
    facts = {"stage": "value network", "shape": shape.to_json(), "games": run.games, "test_share": run.test_share}
    facts |= {"takes_trunk": run.takes_trunk, "owners_weight": run.owners_weight}
    loop = new_loop(net, task, stream, run.learning, run.out, facts)
    bar.log(f"{loop.machine.title}; {len(train):,} positions of as many games, {len(test):,} to test on")
    return _export(run, bar) if run_and_report(loop, bar, is_stopped) else None


def _play(run: ValueRun, policy: PolicyNet, bar: ProgressBar, is_stopped: Callable[[], bool]) -> list[Episode]:
    """Return the games of a run, those that are missing being played now."""
    learning, board = run.learning, (policy.shape.width, policy.shape.height)
    machine = choose_machine(learning.device, learning.precision, threads=learning.threads)
    supervised = player_of(machine.place(policy_of(run.supervised)).eval(), machine, "supervised")
    reinforced = player_of(machine.place(policy_of(run.reinforced)).eval(), machine, "reinforced")
    return fill_folder(
        run.out / GAMES,
        run.games,
        lambda rng: value_games(supervised, reinforced, board, run.game, rng),
        seed=learning.seed,
        bar=bar,
        is_stopped=is_stopped,
    )


def _export(run: ValueRun, bar: ProgressBar) -> Path:
    """Write the network of the run's checkpoint; return the file."""
    net, target = net_of(read_checkpoint(run.out)), run.out / FILE_NAME
    origin = f"trained by Tengen on one position of each of {run.games:,} games of a policy network with itself"
    export_net(net, target, name=run.name or f"value-{net.shape.title}", origin=origin, terms=run.terms)
    bar.log(f"Written: {target}")
    return target
