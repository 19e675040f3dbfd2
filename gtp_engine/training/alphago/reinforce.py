"""Reinforcement: a policy network gets better at winning by playing against earlier versions of itself.

REINFORCE (Williams 1992), as in the paper: in each iteration the network plays some games against an opponent drawn
from a pool of its earlier versions, and every move it made becomes more probable where the game was won, less where it
was lost.  Its place in the pool comes every so many iterations; the first in it is the supervised network.

The gradient is that of  mean over the learner's moves of  advantage · log p(move),  where p is what the move was drawn
from: the softmax over all moves that fill no own eye, in the orientation in which the network saw the board.  The
advantage is the reward, 1 or −1, less what the learner got on average with that colour in these games.

A run by iterations on a processor repeats exactly, also across interruptions.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from gtp_engine.nn.alphago_planes import planes_of
from gtp_engine.progress import ProgressBar
from gtp_engine.training.alphago.examples import Examples
from gtp_engine.training.alphago.experience import Collector, write_episodes
from gtp_engine.training.alphago.game_positions import Replayer, Shelf, turned_actions
from gtp_engine.training.alphago.net_export import export_net
from gtp_engine.training.alphago.nets import PolicyNet
from gtp_engine.training.alphago.opponent_pool import Pool
from gtp_engine.training.alphago.stage_checkpoint import policy_of
from gtp_engine.training.alphago.torch_games import GameSettings, play_versus, player_of
from gtp_engine.training.core.checkpoint import Checkpoint, has_checkpoint, read_checkpoint, write_checkpoint
from gtp_engine.training.core.curves import FILE_NAME as CURVES
from gtp_engine.training.core.curves import figure_panels, write_panels
from gtp_engine.training.core.data_parallel import threads_on
from gtp_engine.training.core.devices import Machine, choose_machine
from gtp_engine.training.core.gradients import ParallelGradients
from gtp_engine.training.core.learning import check_same
from gtp_engine.training.core.run_log import FILE_NAME as LOG
from gtp_engine.training.core.run_log import RunLog, read_log

FILE_NAME: Final = "policy.onnx"
"""The network's name in the folder of a run."""
POOL: Final = "pool"
EXPERIENCE: Final = "experience"
"""Folders of a run: earlier versions, and shards of games by iteration."""

_FREE: Final = ("iterations", "threads", "device", "checkpoint_minutes", "validation_every", "validation_games")
"""Settings in which a continued run may differ."""
_TOGETHER: Final = 1024
"""Positions whose gradient is calculated together: as many activations have to be kept."""
_IMPOSSIBLE: Final = -1e4
"""Logit of moves that may not be played: their probability is 0, and finite, so that 0 times it is 0."""


@dataclass(frozen=True)
class ReinforceSettings:
    """How a network learns from playing."""

    iterations: int = 1000
    games: int = 128
    """Games of an iteration, as in the paper."""
    learning_rate: float = 0.05
    """Of plain gradient descent, for a mean over moves; the paper's 0.001 is for the sum over a game's.  On 9×9 (7
    layers of 64) the network won 87 % of 400 games against its beginning after 10 iterations, 91 % after 30; with 0.3
    it won 84 and 76 %."""
    clip: float = 1.0
    """Largest length of the gradient; a longer one is shortened to it."""
    pool_every: int = 20
    """Iterations after which the network joins the pool; the paper's run of 10,000 had 500."""
    validation_every: int = 20
    """Iterations between two matches against the network that the run began with."""
    validation_games: int = 200
    """Games of such a match."""
    game: GameSettings = field(default_factory=GameSettings)
    seed: int = 1
    precision: str = "auto"
    device: str = "auto"
    threads: int = 0
    checkpoint_minutes: float = 5.0


class Reinforcement:
    """A run in the folder `out` that begins with the network `start`, or with the checkpoint there."""

    def __init__(self, start: PolicyNet, settings: ReinforceSettings, out: Path) -> None:
        self.settings: Final = settings
        self.out: Final = out
        self.machine: Final[Machine] = choose_machine(settings.device, settings.precision, threads=settings.threads)
        shape = start.shape
        self.board: Final = (shape.width, shape.height)
        self._first: Final = self.machine.place(start).eval()
        self.net: Final = self.machine.place(PolicyNet(shape))
        self.net.load_state_dict(start.state_dict())
        self._optimizer: Final = torch.optim.SGD(self.net.parameters(), lr=settings.learning_rate)
        self._opponent: Final = self.machine.place(PolicyNet(shape)).eval()
        self.pool: Final = Pool(out / POOL)
        self.iterations = 0
        self.seconds = 0.0
        if has_checkpoint(out):
            self._resume()
        else:
            self.pool.add(0, self.net)

    def run(self, bar: ProgressBar, is_stopped: Callable[[], bool]) -> bool:
        """Go on until all iterations are done, or `is_stopped`; return whether they are."""
        settings, saved = self.settings, time.monotonic()
        with RunLog(self.out, after=self.iterations) as log:
            while self.iterations < settings.iterations and not is_stopped():
                begun = time.monotonic()
                figures = self.iterate()
                self.seconds += time.monotonic() - begun
                log.write({"kind": "step", **self._where(), "figures": figures})
                bar.update(self.iterations / settings.iterations, self._text(figures))
                if self.iterations % settings.validation_every == 0 or self.iterations == settings.iterations:
                    self._validate(log, bar)
                if time.monotonic() - saved > 60 * settings.checkpoint_minutes:
                    self.save()
                    saved = time.monotonic()
        self.save()
        return self.iterations >= settings.iterations

    def iterate(self) -> dict[str, float]:
        """Play, learn from it, and perhaps join the pool; return what is to be told about it."""
        settings = self.settings
        rng = np.random.default_rng((settings.seed, self.iterations))
        number = self.pool.draw(rng)
        self.pool.load(number, self._opponent)
        learner, opponent = (player_of(net, self.machine, "") for net in (self.net.eval(), self._opponent))
        collector = play_versus(learner, opponent, self.board, settings.game, games=settings.games, rng=rng)
        write_episodes(self.out / EXPERIENCE / f"{self.iterations:06}.npz", collector.episodes)
        loss, entropy = self.learn(collector)
        self.iterations += 1
        if self.iterations % settings.pool_every == 0:
            self.pool.add(self.iterations, self.net)
        lengths = [len(episode.game.points) for episode in collector.episodes]
        return {
            "win rate": collector.win_rate(),
            "loss": loss,
            "entropy": entropy,
            "moves of a game": float(np.mean(lengths)),
            "without result": collector.void_share,
        }

    def learn(self, collector: Collector) -> tuple[float, float]:
        """Do one step along the policy gradient of these games; return loss and mean entropy of the policy, in nats."""
        batches = decisions(collector)
        threads = threads_on(self.machine)
        total = sum(len(batch.planes) for batch in batches)
        if total == 0:
            return 0.0, 0.0
        sums, means = [torch.zeros_like(each) for each in self.net.parameters()], torch.zeros(2)
        self.net.train()
        with ParallelGradients(self.net, self.machine, self._figures, threads=threads) as gradients:
            for batch in batches:
                share = len(batch.planes) / total
                means += share * gradients.write(batch).cpu()
                for summed, parameter in zip(sums, self.net.parameters(), strict=True):
                    assert parameter.grad is not None, "written just now"
                    summed.add_(parameter.grad, alpha=share)
        for summed, parameter in zip(sums, self.net.parameters(), strict=True):
            parameter.grad = summed
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), self.settings.clip)
        self._optimizer.step()
        loss, entropy = means.tolist()
        return loss, entropy

    def save(self) -> None:
        """Write the checkpoint."""
        checkpoint = Checkpoint(
            kind=self.net.KIND,
            network=self.net.shape.to_json(),
            settings=asdict(self.settings),
            weights=self.net.state_dict(),
            state={"first": self._first.state_dict()},
            steps=self.iterations,
            samples=self.iterations * self.settings.games,
            seconds=self.seconds,
        )
        write_checkpoint(self.out, checkpoint)

    def _resume(self) -> None:
        checkpoint = read_checkpoint(self.out)
        check_same(checkpoint.settings, asdict(self.settings), free=_FREE)
        self.net.load_state_dict(checkpoint.weights)
        self._first.load_state_dict(checkpoint.state["first"])
        self.iterations, self.seconds = checkpoint.steps, checkpoint.seconds
        self.pool.forget(after=self.iterations)

    def _figures(self, net: PolicyNet, batch: Examples) -> Tensor:
        with self.machine.autocast():
            logits = net(self.machine.as_input(batch.planes))
        return policy_gradient(logits, batch)

    def _validate(self, log: RunLog, bar: ProgressBar) -> None:
        """Play a match against the network that the run began with, and draw the curves."""
        rng = np.random.default_rng((self.settings.seed, self.iterations, 1))
        now, first = (player_of(net, self.machine, "") for net in (self.net.eval(), self._first))
        match = play_versus(now, first, self.board, self.settings.game, games=self.settings.validation_games, rng=rng)
        rate = match.win_rate()
        log.write({"kind": "validation", **self._where(), "figures": {"match": {"win rate": rate}}})
        games = len(match.episodes)
        bar.log(f"after {self.iterations:,} iterations: {rate:.1%} of {games} games against the first network won")
        write_panels(self.out / CURVES, figure_panels(read_log(self.out / LOG), place="games"))

    def _where(self) -> dict[str, Any]:
        games = self.iterations * self.settings.games
        return {"steps": self.iterations, "games": games, "seconds": self.seconds}

    def _text(self, figures: dict[str, float]) -> str:
        text = ", ".join(f"{name} {value:.3g}" for name, value in figures.items())
        return f"{self.iterations:,} iterations, {text}"


def decisions(collector: Collector) -> list[Examples]:
    """Return the learner's moves in games that have a winner, as it saw them; `outcomes` are the advantages."""
    shelf = Shelf([episode.game for episode in collector.episodes])
    learners = np.array([episode.learner for episode in collector.episodes], dtype=np.int8)
    advantages = np.array(collector.advantages(), dtype=np.float32)
    picks = shelf.move_picks()
    picks = picks.take(np.flatnonzero((picks.to_play == learners[picks.games]) & (shelf.winners[picks.games] != 0)))
    replayer, batches = Replayer(shelf, _TOGETHER), []
    for begin in range(0, len(picks.games), _TOGETHER):
        part = picks.take(np.arange(begin, min(begin + _TOGETHER, len(picks.games))))
        symmetries = replayer.played_symmetries(part)
        actions = turned_actions(shelf.actions(part), symmetries, shelf.width, shelf.height)
        batches.append(
            Examples(
                planes=torch.from_numpy(replayer.encode(part, symmetries)),
                actions=torch.from_numpy(actions.astype(np.int64)),
                outcomes=torch.from_numpy(advantages[part.games]),
                owners=torch.zeros(len(part.games), 0),
            )
        )
    return batches


def policy_gradient(logits: Tensor, batch: Examples) -> Tensor:
    """Return the loss −advantage · log p(move), whose gradient REINFORCE descends, and the entropy; means, [2]."""
    (plane,) = planes_of("sensibleness")
    may_play = batch.planes[:, plane].flatten(1) > 0
    log_policy = logits.masked_fill(~may_play, _IMPOSSIBLE).log_softmax(dim=1)
    chosen = log_policy.gather(1, batch.actions[:, None]).squeeze(1)
    entropy = -(log_policy.exp() * log_policy).sum(dim=1).mean()
    return torch.stack([-(batch.outcomes * chosen).mean(), entropy.detach()])


def run_reinforcement(
    supervised: Path,
    settings: ReinforceSettings,
    out: Path,
    bar: ProgressBar,
    is_stopped: Callable[[], bool],
    *,
    name: str = "",
    terms: str = "",
) -> Path | None:
    """Go on until the end, or `is_stopped`; return the network file, None if the run is not done.

    `supervised` is the folder of the run whose network it begins with.
    """
    run = Reinforcement(policy_of(supervised), settings, out)
    bar.log(f"{run.machine.title}; {len(run.pool.numbers)} opponents in the pool")
    if not run.run(bar, is_stopped):
        return None
    net, target = policy_of(out), out / FILE_NAME
    origin = f"trained by Tengen on {run.iterations * settings.games:,} games against earlier versions of itself"
    export_net(net, target, name=name or f"reinforced-{net.shape.title}", origin=origin, terms=terms)
    bar.log(f"Written: {target}")
    return target
