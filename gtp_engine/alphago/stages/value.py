"""The value network: the winner of a position when the reinforced policy plays on, learned from one position a game.

The loss is the mean squared error of the outcome, 1 or −1 for the side to move, plus that of the points' owners.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor

from gtp_engine.alphago.stages.experience import Episode
from gtp_engine.alphago.stages.game_positions import ExampleBatch, ExampleStream, GameStore, examples_of
from gtp_engine.alphago.stages.game_records import split_named
from gtp_engine.alphago.stages.nets import PolicyNet, ValueNet, export_run, new_net, read_policy
from gtp_engine.alphago.stages.replay import PositionRefs
from gtp_engine.alphago.stages.stage_settings import PolicyGameSettings, StageRun, ValueLearning, ValueSettings
from gtp_engine.alphago.stages.supervised import Evaluate, train
from gtp_engine.alphago.stages.torch_games import torch_player
from gtp_engine.alphago.stages.value_games import fill_folder, value_games
from gtp_engine.errors import counted
from gtp_engine.evaluation.evaluation import FloatArray
from gtp_engine.nn.symmetry import IDENTITY
from gtp_engine.training.core.devices import choose_machine

FILE_NAME: Final = "value.onnx"
"""The network's name in the folder of a run."""
GAMES: Final = "games"
"""Folder of a run with the shards of its games."""


class ValueObjective:
    """Predicting outcomes and owners; the error of the owners counts `owners_weight` in the loss."""

    names: Final = ("loss", "error", "owners' error", "right winner")

    def __init__(self, store: GameStore, refs: PositionRefs, owners_weight: float) -> None:
        self._store: Final = store
        self._refs: Final = refs
        self._owners_weight: Final = owners_weight

    def figures(self, outputs: Tensor, examples: ExampleBatch) -> Tensor:
        """Return the loss, the mean squared errors of outcome and owners, and how often the winner is right."""
        right = (outputs[:, 0].detach() * examples.outcomes > 0).float().mean()
        error = (outputs[:, 0] - examples.outcomes).square().mean()
        of_owners = (outputs[:, 1:] - examples.owners).square().mean()
        return torch.stack([error + self._owners_weight * of_owners, error, of_owners, right])

    def validate(self, evaluate: Evaluate) -> dict[str, float]:
        """Return the same figures on the test positions."""
        batches = examples_of(self._store, self._refs, for_value=True)
        figures = [self.figures(evaluate(batch.planes), batch) * len(batch.planes) for batch in batches]
        means = torch.stack(figures).sum(dim=0) / len(self._refs.games)
        return dict(zip(self.names, means.tolist(), strict=True))


def values_of(store: GameStore, refs: PositionRefs, evaluate: Evaluate, *, symmetry: int = IDENTITY) -> FloatArray:
    """Return a value network's values of positions in one orientation, for the side to move, float32[K]."""
    batches = examples_of(store, refs, for_value=True, symmetry=symmetry)
    return np.concatenate([evaluate(batch.planes)[:, 0].numpy() for batch in batches])


def samples_of(episodes: Sequence[Episode]) -> tuple[GameStore, PositionRefs]:
    """Return the games and the one position of each that is a sample."""
    store = GameStore([episode.game for episode in episodes])
    moments = np.array([episode.moment for episode in episodes], dtype=np.int64)
    to_play = np.array([episode.game.colors[episode.moment] for episode in episodes], dtype=np.int8)
    return store, PositionRefs(np.arange(len(episodes)), moments, to_play)


def split_episodes(episodes: Sequence[Episode], share: float) -> tuple[list[Episode], list[Episode]]:
    """Return the training games and the test games; raises RecordsError if either part is empty."""
    return split_named(episodes, [episode.game.name for episode in episodes], share)


def run_value(
    supervised: Path,
    reinforced: Path,
    settings: ValueSettings,
    game: PolicyGameSettings,
    learning: ValueLearning,
    run: StageRun,
) -> Path | None:
    """Play the games and train until the end, or until the run is stopped; return the network file, or None.

    `supervised` and `reinforced` are the folders of the runs whose policies play.
    """
    policy = read_policy(supervised)
    machine = choose_machine(learning.device, learning.precision, threads=learning.threads)
    players = [torch_player(machine.place(net).eval(), machine, net.KIND) for net in (policy, read_policy(reinforced))]
    board = (policy.shape.width, policy.shape.height)
    episodes = fill_folder(
        run.out / GAMES,
        settings.games,
        lambda rng: value_games(players[0], players[1], board, game, rng),
        terms=game,
        seed=learning.seed,
        bar=run.bar,
        is_stopped=run.is_stopped,
    )
    if len(episodes) < settings.games:
        return None
    train_games, test_games = split_episodes(episodes, settings.test_share)
    stream = ExampleStream(*samples_of(train_games), learning.batch, seed=learning.seed, for_value=True)
    objective = ValueObjective(*samples_of(test_games), settings.owners_weight)
    net = _new_value_net(policy, settings, learning.seed)
    facts = {"stage": "value network", "shape": net.shape.to_json(), "games": settings.games}
    facts |= {name: getattr(settings, name) for name in ("test_share", "from_scratch", "owners_weight")}
    run.bar.log(f"{counted(len(train_games), 'game')} to train on, {len(test_games):,} to test on")
    if not train(net, objective, stream, learning, run, facts):
        return None
    games = counted(settings.games, "game")
    origin = f"trained by Tengen on one position of each of {games} of a policy network with itself"
    return export_run(run, FILE_NAME, default_name="value", origin=origin)


def _new_value_net(policy: PolicyNet, settings: ValueSettings, seed: int) -> ValueNet:
    """Return the untrained network, with the policy's filters unless it starts from scratch."""
    shape = replace(policy.shape, layers=settings.layers or policy.shape.layers, hidden=settings.hidden)
    net = new_net(ValueNet, shape, seed=seed)
    if not settings.from_scratch:
        net.copy_trunk(policy)
    return net
