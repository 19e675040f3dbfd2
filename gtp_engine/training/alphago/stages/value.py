"""The value network: the winner of a position when the reinforced policy plays on, learned from one position a game.

As in the paper (Silver et al. 2016, "Value network: regression"): a number U is drawn; the supervised policy plays
U − 1 moves, the next is a uniformly random legal move, and from there the reinforced policy plays both sides.  The
position after the random move is the sample, and its outcome is that of the reinforced policy's game.  No two samples
share a game, because the network could memorize its outcome.

Games are stored in shards (`game_records`) named by seed and number; a folder with too few games gets more.

The loss is the mean squared error of the outcome, 1 or −1 for the side to move, plus that of the points' owners.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import count
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gtp_engine.base.errors import ConfigError, counted, shown_path
from gtp_engine.base.files import writing
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.evaluation.positions import Positions
from gtp_engine.go.constants import EMPTY, PASS
from gtp_engine.go.rules import PRESETS
from gtp_engine.training.alphago.stages.game_positions import ExampleBatch, GameStore, StoredPositions
from gtp_engine.training.alphago.stages.game_records import (
    Episode,
    RecordsError,
    episode_of,
    read_episodes,
    split_games,
    write_episodes,
)
from gtp_engine.training.alphago.stages.nets import PolicyNet, ValueNet, export_run, new_net, read_policy, torch_player
from gtp_engine.training.alphago.stages.policy_players import SwitchedPlayer, plan_of, uniform_player
from gtp_engine.training.alphago.stages.replay import PositionRefs
from gtp_engine.training.alphago.stages.stage_settings import PolicyGameSettings, StageRun, ValueLearning, ValueSettings
from gtp_engine.training.alphago.stages.supervised import ExampleTask, train
from gtp_engine.training.core.devices import choose_machine
from gtp_engine.training.selfplay.plans import GamePlan
from gtp_engine.training.selfplay.policy_games import PlayedGame, PolicyGames, Temperatures

FILE_NAME: Final = "value.onnx"
"""The network's name in the folder of a run."""
GAMES: Final = "games"
"""Folder of a run with the shards of its games."""

SHARD_GAMES: Final = 512
"""Games of a shard."""

_NAME: Final = re.compile(r"(\d+)-(\d+)\.npz")
_UNCHANGED_POLICY: Final = Temperatures(opening=1.0)
_SUPERVISED, _RANDOM, _REINFORCED = 0, 1, 2


class ValueStage(NamedTuple):
    """What a value network is trained from: the folders of the runs whose policies play, and all settings."""

    supervised: Path
    reinforced: Path
    settings: ValueSettings
    game: PolicyGameSettings
    learning: ValueLearning


def value_games(
    supervised: Evaluator,
    reinforced: Evaluator,
    board: tuple[int, int],
    settings: PolicyGameSettings,
    rng: np.random.Generator,
) -> Iterator[Episode]:
    """Yield an endless stream of games; `moment` is U, drawn uniformly from 1 to the number of points.

    The `opening_length` of a plan is U − 1.  Games that ended before their sample and games without a winner are left
    out.
    """

    def plan(rng: np.random.Generator, width: int, height: int) -> GamePlan:
        return plan_of(settings, opening_length=int(rng.integers(width * height)))

    def choose(positions: Positions, rows: int) -> NDArray[np.int64]:
        return np.array([_phase(played) for played in running.playing[:rows]], dtype=np.int64)

    players, batch = SwitchedPlayer([supervised, uniform_player(), reinforced], choose), settings.parallel_games
    running = PolicyGames(
        players, *board, numbers=count(), batch=batch, rng=rng, planner=plan, temperatures=_UNCHANGED_POLICY
    )
    while True:
        running.evaluate()
        for played in running.play():
            moment = played.plan.opening_length + 1
            episode = episode_of(played.game, moment=moment)
            points = episode.game.points
            if episode.game.winner != EMPTY and len(points) > moment and points[moment - 1] != PASS:
                yield episode


def _phase(played: PlayedGame) -> int:
    """Return the index of the player of the next move of a game."""
    moves, before = len(played.game.moves), played.plan.opening_length
    if moves < before:
        return _SUPERVISED
    return _RANDOM if moves == before else _REINFORCED


def fill_games(
    run: StageRun,
    games: int,
    play: Callable[[np.random.Generator], Iterator[Episode]],
    *,
    terms: PolicyGameSettings,
    seed: int,
) -> list[Episode]:
    """Return the first `games` games of a run, after playing those that it lacks; fewer if it is stopped.

    `play` yields games from a random generator, whose seed is the first from `seed` on above those in the folder.
    Raises ConfigError if those have other rules or another komi than `terms`: the network knows neither.
    """
    folder = run.out / GAMES
    with writing(folder, RecordsError, "games to"):
        folder.mkdir(parents=True, exist_ok=True)
    episodes = read_folder(folder)
    _check_terms(episodes, terms, folder)
    first = max([seed, *(int(found[1]) + 1 for found in _shards(folder))])
    played, numbers = play(np.random.default_rng(first)), count()
    shard: list[Episode] = []
    while len(episodes) + len(shard) < games and not run.is_stopped():
        shard.append(next(played))
        total = len(episodes) + len(shard)
        run.bar.update(total / games, f"{counted(total, 'game')} of one position each")
        if len(shard) == SHARD_GAMES:
            write_episodes(folder / f"{first}-{next(numbers):05}.npz", shard)
            episodes, shard = episodes + shard, []
    if shard:
        write_episodes(folder / f"{first}-{next(numbers):05}.npz", shard)
    return read_folder(folder)[:games]


def _check_terms(episodes: Sequence[Episode], terms: PolicyGameSettings, folder: Path) -> None:
    """Raise ConfigError if games have other rules, or another komi, than `terms`."""
    wanted = PRESETS[terms.rules]
    for game in (episode.game for episode in episodes):
        if game.rules != wanted or game.komi != terms.komi:
            rules = game.rules.preset_name() or "other"
            raise ConfigError(
                f"the games in {shown_path(folder)} have {rules} rules and komi {game.komi:g}",
                expected=f"{terms.rules} rules and komi {terms.komi:g}",
                advice="give the settings that they were played with, or another folder",
            )


def read_folder(folder: Path) -> list[Episode]:
    """Return the games of all shards in a folder, in the order of seeds and numbers."""
    return [episode for found in _shards(folder) for episode in read_episodes(folder / found[0])]


def _shards(folder: Path) -> list[re.Match[str]]:
    """Return the names of the shards, sorted by seed and number."""
    names = [found for entry in folder.iterdir() if (found := _NAME.fullmatch(entry.name))]
    return sorted(names, key=lambda found: (int(found[1]), int(found[2])))


@dataclass(frozen=True)
class ValueTask(ExampleTask):
    """Predicting outcomes and owners; the error of the owners counts `owners_weight` in the loss."""

    owners_weight: float

    names = tested_names = ("loss", "error", "owners' error", "right winner")
    for_value = True

    def measure(self, outputs: Tensor, examples: ExampleBatch) -> Tensor:
        """Return the loss, the mean squared errors of outcome and owners, and how often the winner is right."""
        right = (outputs[:, 0].detach() * examples.outcomes > 0).float().mean()
        error = (outputs[:, 0] - examples.outcomes).square().mean()
        of_owners = (outputs[:, 1:] - examples.owners).square().mean()
        return torch.stack([error + self.owners_weight * of_owners, error, of_owners, right])


def samples_of(episodes: Sequence[Episode]) -> StoredPositions:
    """Return the games and the one position of each that is a sample."""
    store = GameStore([episode.game for episode in episodes])
    moments = np.array([episode.moment for episode in episodes], dtype=np.int64)
    to_play = np.array([episode.game.colors[episode.moment] for episode in episodes], dtype=np.int8)
    return store, PositionRefs(np.arange(len(episodes)), moments, to_play)


def run_value(stage: ValueStage, run: StageRun) -> Path | None:
    """Play the games and train until the end, or until the run is stopped; return the network file, or None."""
    settings, game, learning = stage.settings, stage.game, stage.learning
    policy, reinforced = read_policy(stage.supervised), read_policy(stage.reinforced)
    machine = choose_machine(learning.device, learning.precision, threads=learning.threads)
    players = [torch_player(machine.place(net).eval(), machine, net.KIND) for net in (policy, reinforced)]
    board = (policy.shape.width, policy.shape.height)

    def play(rng: np.random.Generator) -> Iterator[Episode]:
        return value_games(players[0], players[1], board, game, rng)

    episodes = fill_games(run, settings.games, play, terms=game, seed=learning.seed)
    if len(episodes) < settings.games:
        return None
    train_games, test_games = split_games(episodes, settings.test_share, attrgetter("game.name"))
    positions = samples_of(train_games), samples_of(test_games)
    task = ValueTask(*positions, learning, machine, settings.owners_weight)
    net = _new_value_net(policy, settings, learning.seed)
    facts = {"stage": "value network", "shape": asdict(net.shape), "games": settings.games}
    facts |= {name: getattr(settings, name) for name in ("test_share", "from_scratch", "owners_weight")}
    run.bar.log(f"{counted(len(train_games), 'game')} to train on, {len(test_games):,} to test on")
    if not train(net, task, run, facts):
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
