"""The value network: the winner of a position when the reinforced policy plays on, learned from one position a game.

As in the paper (Silver et al. 2016, "Value network: regression"): a number U is drawn; the supervised policy plays
U − 1 moves, the next is a uniformly random legal move, and from there the reinforced policy plays both sides.  The
position after the random move is the sample, and its outcome is that of the reinforced policy's game.  No two samples
share a game, because the network could memorize its outcome.

Games are stored in shards (`game_records`) named by seed and number; a folder with too few games gets more.

The loss is the mean squared error of the outcome, 1 or −1 for the side to move, plus that of the points' owners.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import count
from pathlib import Path
from typing import Final

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
    RecordedGame,
    RecordsError,
    read_shard,
    scored,
    split_games,
    write_shard,
)
from gtp_engine.training.alphago.stages.nets import ValueNet, export_run, new_net, read_policy, torch_player
from gtp_engine.training.alphago.stages.policy_players import SwitchedPlayer, plan_of, uniform_player
from gtp_engine.training.alphago.stages.stage_settings import PolicyGameSettings, StageRun, ValueLearning, ValueSettings
from gtp_engine.training.alphago.stages.supervised import ExampleRun, train
from gtp_engine.training.core.devices import Machine, choose_machine
from gtp_engine.training.selfplay.plans import GamePlan
from gtp_engine.training.selfplay.policy_games import PolicyGames, Temperatures

GAMES: Final = "games"
"""Folder of a run with the shards of its games."""

SHARD_GAMES: Final = 512
"""Games of a shard."""

_NAME: Final = re.compile(r"(\d+)-(\d+)\.npz")
_UNCHANGED_POLICY: Final = Temperatures(opening=1.0)


def value_games(
    supervised: Evaluator,
    reinforced: Evaluator,
    board: tuple[int, int],
    settings: PolicyGameSettings,
    rng: np.random.Generator,
) -> Iterator[RecordedGame]:
    """Yield an endless stream of games; `moment` is U, drawn uniformly from 1 to the number of points.

    The `opening_length` of a plan is U − 1.  Games that ended before their sample and games without a winner are left
    out.
    """

    def plan(rng: np.random.Generator, width: int, height: int) -> GamePlan:
        return plan_of(settings, opening_length=int(rng.integers(width * height)))

    def choose(positions: Positions, rows: int) -> NDArray[np.int64]:
        moves = [len(played.game.moves) - played.plan.opening_length for played in running.playing[:rows]]
        numbers: NDArray[np.int64] = 1 + np.sign(moves)  # of the players: before, at and after the random move
        return numbers

    players, batch = SwitchedPlayer([supervised, uniform_player(), reinforced], choose), settings.parallel_games
    running = PolicyGames(
        players, *board, numbers=count(), batch=batch, rng=rng, planner=plan, temperatures=_UNCHANGED_POLICY
    )
    while True:
        running.evaluate()
        for played in running.play():
            moment = played.plan.opening_length + 1
            game = scored(played.game, moment=moment)
            if game.winner != EMPTY and len(game.points) > moment and game.points[moment - 1] != PASS:
                yield game


def fill_games(
    run: StageRun,
    wanted: int,
    players: tuple[Evaluator, Evaluator],
    board: tuple[int, int],
    terms: PolicyGameSettings,
    *,
    seed: int,
) -> list[RecordedGame]:
    """Return the first `wanted` games of a run, after playing those that it lacks; fewer if it is stopped.

    The players are those of `value_games`, the seed is the first from `seed` on above those in the folder.  Raises
    ConfigError if the games there have other rules or another komi than `terms`: the network knows neither.
    """
    folder = run.out / GAMES
    with writing(folder, RecordsError, "games to"):
        folder.mkdir(parents=True, exist_ok=True)
    games = read_folder(folder)
    _check_terms(games, terms, folder)
    first = max([seed, *(int(found[1]) + 1 for found in _shards(folder))])
    played, total = value_games(*players, board, terms, np.random.default_rng(first)), len(games)
    for number in count():
        shard: list[RecordedGame] = []
        while len(shard) < SHARD_GAMES and total < wanted and not run.is_stopped():
            shard.append(next(played))
            total += 1
            run.bar.update(total / wanted, f"{counted(total, 'game')} of one position each")
        if not shard:
            break
        write_shard(folder / f"{first}-{number:05}.npz", shard)
    return read_folder(folder)[:wanted]


def _check_terms(games: Sequence[RecordedGame], terms: PolicyGameSettings, folder: Path) -> None:
    """Raise ConfigError if games have other rules, or another komi, than `terms`."""
    wanted = PRESETS[terms.rules]
    for game in games:
        if game.rules != wanted or game.komi != terms.komi:
            rules = game.rules.preset_name() or "other"
            raise ConfigError(
                f"the games in {shown_path(folder)} have {rules} rules and komi {game.komi:g}",
                expected=f"{terms.rules} rules and komi {terms.komi:g}",
                advice="give the settings that they were played with, or another folder",
            )


def read_folder(folder: Path) -> list[RecordedGame]:
    """Return the games of all shards in a folder, in the order of seeds and numbers."""
    return [game for found in _shards(folder) for game in read_shard(folder / found[0])]


def _shards(folder: Path) -> list[re.Match[str]]:
    """Return the names of the shards, sorted by seed and number."""
    names = [found for entry in folder.iterdir() if (found := _NAME.fullmatch(entry.name))]
    return sorted(names, key=lambda found: (int(found[1]), int(found[2])))


class ValueRun(ExampleRun):
    """Predicting outcomes and owners; the settings say how much the error of the owners counts in the loss."""

    names = tested_names = ("loss", "error", "owners' error", "right winner")
    for_value = True

    def __init__(
        self,
        net: ValueNet,
        positions: tuple[StoredPositions, StoredPositions],
        settings: ValueSettings,
        learning: ValueLearning,
        machine: Machine,
        out: Path,
    ) -> None:
        facts = {"stage": "value network", "shape": asdict(net.shape), "games": settings.games}
        facts |= {name: getattr(settings, name) for name in ("test_share", "from_scratch", "owners_weight")}
        super().__init__(net, positions, learning, machine, out, facts)
        self._owners_weight: Final = settings.owners_weight

    def measure(self, outputs: Tensor, examples: ExampleBatch) -> Tensor:
        """Return the loss, the mean squared errors of outcome and owners, and how often the winner is right."""
        right = (outputs[:, 0].detach() * examples.outcomes > 0).float().mean()
        error = (outputs[:, 0] - examples.outcomes).square().mean()
        of_owners = (outputs[:, 1:] - examples.owners).square().mean()
        return torch.stack([error + self._owners_weight * of_owners, error, of_owners, right])


def samples_of(games: Sequence[RecordedGame]) -> StoredPositions:
    """Return the games and the one position of each that is a sample."""
    store = GameStore(games)
    return store, store.moves.first_move[:-1] + np.array([game.moment for game in games], dtype=np.int64)


def run_value(
    folders: tuple[Path, Path],
    settings: ValueSettings,
    game: PolicyGameSettings,
    learning: ValueLearning,
    run: StageRun,
) -> None:
    """Play the games and train until the end, when the network is written, or until the run is stopped.

    The policies of the runs in `folders`, the supervised one and the reinforced one, play the games.
    """
    policy, reinforced = map(read_policy, folders)
    machine = choose_machine(learning.device, learning.precision, threads=learning.threads)
    first, second = (torch_player(machine.place(net).eval(), machine, net.KIND) for net in (policy, reinforced))
    board = (policy.shape.width, policy.shape.height)
    games = fill_games(run, settings.games, (first, second), board, game, seed=learning.seed)
    if len(games) < settings.games:
        return
    train_games, test_games = split_games(games, settings.test_share)
    positions = samples_of(train_games), samples_of(test_games)
    shape = replace(policy.shape, layers=settings.layers or policy.shape.layers, hidden=settings.hidden)
    net = new_net(ValueNet, shape, seed=learning.seed)
    if not settings.from_scratch:
        net.copy_trunk(policy)
    if train(ValueRun(net, positions, settings, learning, machine, run.out), run):
        played = counted(settings.games, "game")
        export_run(run, f"trained by Tengen on one position of each of {played} of a policy network with itself")
