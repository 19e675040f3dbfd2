"""Reinforcement learning: a policy network gets better at winning by games against earlier versions of itself.

REINFORCE (Williams 1992), as in the paper: in each iteration the network plays games against an opponent drawn from a
pool of its earlier versions; then every move it made becomes more probable if the game was won and less probable if it
was lost.  It joins the pool every so many iterations; the pool begins with the supervised
network, and keeps each version as a file of weights named after its iteration.  Files of later iterations than the
run's are of one that was interrupted, which will write them again.

The gradient is that of  mean over the learner's moves of  advantage · log p(move),  where p is the distribution that
the move was drawn from: the softmax over all moves that fill no own eye, in the orientation in which the network
evaluated the board.  The advantage is the reward, 1 or −1, less the learner's mean reward with that colour.

A run limited by iterations repeats exactly on a processor, also across interruptions.
"""

import math
from collections.abc import Generator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from gtp_engine.base.errors import ModelError, counted, shown_path
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.go.constants import BLACK, EMPTY, WHITE
from gtp_engine.training.alphago.planes import SENSIBLE
from gtp_engine.training.alphago.stages.game_positions import ExampleBatch, GameStore, Replayer
from gtp_engine.training.alphago.stages.game_records import RecordedGame, advantages, scored, win_rate, write_shard
from gtp_engine.training.alphago.stages.nets import PolicyNet, export_run, read_policy, torch_player
from gtp_engine.training.alphago.stages.policy_players import SwitchedPlayer, plan_of
from gtp_engine.training.alphago.stages.stage_settings import PolicyGameSettings, ReinforceSettings, StageRun
from gtp_engine.training.core.checkpoint import Checkpoint, write_values
from gtp_engine.training.core.devices import Machine, choose_machine
from gtp_engine.training.core.learning import StepSchedule
from gtp_engine.training.core.loop import RunIdentity, TrainingRun, Validation
from gtp_engine.training.core.optimizer import ParallelGradients
from gtp_engine.training.core.reporting import run_and_report
from gtp_engine.training.selfplay.policy_games import PolicyGames

POOL: Final = "pool"
EXPERIENCE: Final = "experience"
"""Folders of a run: earlier versions, and shards of games by iteration."""

_LIMITS: Final = ("iterations", "threads", "device", "checkpoint_minutes", "evaluate_every", "evaluation_games")
"""Settings in which a resumed run may differ from its beginning."""
_BATCH: Final = 1024
"""Positions whose gradient is computed at once, because their activations are held in memory."""
_ILLEGAL: Final = -1e4
"""Logit of moves that the policy may not choose: finite, so that probability 0 times its logarithm is 0, not NaN."""


class Reinforcement(TrainingRun):
    """A run that begins with the network `start`, or with the checkpoint in its folder; a step is an iteration."""

    names = ("loss", "entropy", "winrate", "moves of a game", "without result")
    unit = "games"

    def __init__(self, start: PolicyNet, settings: ReinforceSettings, game: PolicyGameSettings, out: Path) -> None:
        identity = RunIdentity(PolicyNet.KIND, asdict(start.shape), {**asdict(settings), "game": asdict(game)})
        schedule = StepSchedule(
            settings.iterations,
            settings.evaluate_every,
            settings.learning_rate,
            checkpoint_minutes=settings.checkpoint_minutes,
        )
        super().__init__(out, identity, schedule)
        self.settings: Final = settings
        self.machine: Final[Machine] = choose_machine(settings.device, settings.precision, threads=settings.threads)
        shape = start.shape
        self.board: Final = (shape.width, shape.height)
        self.net: Final = self.machine.place(PolicyNet(shape))
        self.net.load_state_dict(start.state_dict())
        self._game: Final = game
        self._first: Final = self.machine.place(start).eval()
        self._opponent: Final = self.machine.place(PolicyNet(shape)).eval()
        self._optimizer: Final = torch.optim.SGD(self.net.parameters(), lr=settings.learning_rate)
        self.resume_in_folder(free=_LIMITS, needed=("game",))

    def work(self) -> Generator[tuple[Tensor, int], None, None]:
        """Join the pool now and then, play games, and learn from them; see `TrainingRun`."""
        while True:
            if self.steps % self.settings.pool_every == 0:
                write_values(self._version(self.steps), self.net.state_dict(), "version")
            rng = np.random.default_rng((self.settings.seed, self.steps))
            self.load_opponent(rng)
            games = self._play_against(self._opponent, self.settings.games, rng)
            write_shard(self.folder / EXPERIENCE / f"{self.steps:06}.npz", games)
            length = float(np.mean([len(game.points) for game in games]))
            void_share = float(np.mean([game.winner == EMPTY for game in games]))
            of_games = torch.tensor([win_rate(games), length, void_share])
            yield torch.cat([self.learn(games), of_games]), self.settings.games

    def load_opponent(self, rng: np.random.Generator) -> None:
        """Have the opponent play as a random version of the run so far; raises ModelError if none can be read."""
        every, pool = self.settings.pool_every, self.folder / POOL
        numbers = [number for number in range(0, self.steps + 1, every) if self._version(number).exists()]
        if not numbers:
            raise ModelError(f"no versions in {shown_path(pool)}", advice="start the run again")
        path = self._version(int(rng.choice(numbers)))
        try:
            self._opponent.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
        except Exception as error:  # torch raises errors of many types for a damaged file
            raise ModelError(f"cannot read version {shown_path(path)} ({error})", advice="delete it") from error

    def learn(self, games: Sequence[RecordedGame]) -> Tensor:
        """Do one step along the policy gradient of these games.

        Returns the gradient's norm, the loss and the mean entropy of the policy, in nats.
        """
        batches = learner_moves(games)
        total = sum(len(batch.planes) for batch in batches)
        if total == 0:
            return torch.zeros(3)
        parameters, means = list(self.net.parameters()), torch.zeros(2)
        sums = [torch.zeros_like(parameter) for parameter in parameters]
        self.net.train()
        with ParallelGradients(self.net, self.machine) as gradients:
            for batch in batches:
                share = len(batch.planes) / total
                means += share * gradients.write(batch, self._figures).cpu()
                for summed, parameter in zip(sums, parameters, strict=True):
                    assert parameter.grad is not None, "written just now"
                    summed.add_(parameter.grad, alpha=share)
        for summed, parameter in zip(sums, parameters, strict=True):
            parameter.grad = summed
        gradient = torch.nn.utils.clip_grad_norm_(parameters, self.settings.clip or math.inf)
        self._optimizer.step()
        return torch.cat([gradient.reshape(1).cpu(), means])

    def validate(self) -> Validation:
        """Return the result of a match against the network that the run began with."""
        rng = np.random.default_rng((self.settings.seed, self.steps, 1))
        match = self._play_against(self._first, self.settings.evaluation_games, rng)
        return {"against the first network": {"winrate": win_rate(match)}}

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return the weights of now, and those that the run began with."""
        return self.net.state_dict(), {"first": self._first.state_dict()}

    def restore(self, checkpoint: Checkpoint) -> None:
        """Take over a checkpoint; see `TrainingRun`."""
        self.net.load_state_dict(checkpoint.weights)
        self._first.load_state_dict(checkpoint.state["first"])

    def _version(self, iteration: int) -> Path:
        """Return the file of the network as it was before an iteration."""
        return self.folder / POOL / f"{iteration:06}.pt"

    def _figures(self, net: PolicyNet, batch: ExampleBatch) -> Tensor:
        return policy_gradient(self.machine.run(net, batch.planes), batch)

    def _play_against(self, opponent: PolicyNet, games: int, rng: np.random.Generator) -> list[RecordedGame]:
        """Return games of the network as it is now against `opponent`."""
        players = torch_player(self.net.eval(), self.machine, ""), torch_player(opponent, self.machine, "")
        return play_versus(players, self.board, self._game, games=games, rng=rng)


def learner_moves(games: Sequence[RecordedGame]) -> list[ExampleBatch]:
    """Return the learner's moves in games with a winner, as it saw them; `outcomes` are the advantages."""
    store = GameStore(games)
    learners = np.array([game.learner for game in games], dtype=np.int8)
    outcomes = np.array(advantages(games), dtype=np.float32)
    stones = store.stones()
    of_game = store.games_of(stones)
    stones = stones[(store.moves.colors[stones] == learners[of_game]) & (store.winners[of_game] != EMPTY)]
    replayer, batches = Replayer(store, _BATCH), []
    for begin in range(0, len(stones), _BATCH):
        chosen = stones[begin : begin + _BATCH]
        examples = replayer.examples(chosen, replayer.played_symmetries(chosen))
        batches.append(examples._replace(outcomes=torch.from_numpy(outcomes[store.games_of(chosen)])))
    return batches


def policy_gradient(logits: Tensor, batch: ExampleBatch) -> Tensor:
    """Return the loss −advantage · log p(move), whose gradient REINFORCE descends, and the entropy; means, [2]."""
    may_play = batch.planes[:, SENSIBLE].flatten(1) > 0
    log_policy = logits.masked_fill(~may_play, _ILLEGAL).log_softmax(dim=1)
    chosen = log_policy.gather(1, batch.actions[:, None]).squeeze(1)
    entropy = -(log_policy.exp() * log_policy).sum(dim=1).mean()
    return torch.stack([-(batch.outcomes * chosen).mean(), entropy.detach()])


def play_versus(
    players: tuple[Evaluator, Evaluator],
    board: tuple[int, int],
    settings: PolicyGameSettings,
    *,
    games: int,
    rng: np.random.Generator,
) -> list[RecordedGame]:
    """Return games of the first player, the learner: it has Black in half of them (rounded up), White in the rest."""
    found, plan = list[RecordedGame](), plan_of(settings)
    for color, count in ((BLACK, (games + 1) // 2), (WHITE, games // 2)):
        sides = SwitchedPlayer(
            players if color == BLACK else players[::-1],
            lambda positions, rows: (positions.to_play[:rows] - BLACK).astype(np.int64),
        )
        batch, numbers = settings.parallel_games, range(count)
        running = PolicyGames(sides, *board, numbers=numbers, batch=batch, rng=rng, planner=lambda *_: plan)
        while running.playing:
            running.evaluate()
            found += [scored(played.game, learner=color) for played in running.play()]
    return found


def run_reinforcement(supervised: Path, settings: ReinforceSettings, game: PolicyGameSettings, run: StageRun) -> None:
    """Iterate until the end, when the network is written, or until the run is stopped.

    `supervised` is the folder of the run whose network it begins with.
    """
    reinforcement = Reinforcement(read_policy(supervised), settings, game, run.out)
    run.bar.log(reinforcement.machine.title)
    if run_and_report(reinforcement, run.bar, run.is_stopped):
        games = counted(reinforcement.samples, "game")
        export_run(run, f"trained by Tengen on {games} against earlier versions of itself", title="reinforced")
