"""Reinforcement learning: a policy network gets better at winning by games against earlier versions of itself.

REINFORCE (Williams 1992), as in the paper: in each iteration the network plays games against an opponent drawn from a
pool of its earlier versions; then every move it made becomes more probable if the game was won and less probable if it
was lost.  It joins the pool every so many iterations; the pool begins with the supervised
network, and keeps each version as a file of weights named after its iteration.

The gradient is that of  mean over the learner's moves of  advantage · log p(move),  where p is the distribution that
the move was drawn from: the softmax over all moves that fill no own eye, in the orientation in which the network
evaluated the board.  The advantage is the reward, 1 or −1, less the learner's mean reward with that colour.

A run limited by iterations repeats exactly on a processor, also across interruptions.
"""

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gtp_engine.base.errors import ModelError, counted, problem, shown_path
from gtp_engine.base.files import writing
from gtp_engine.base.steps import check_same
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.evaluation.positions import Positions
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.training.alphago.planes import planes_of
from gtp_engine.training.alphago.stages.game_positions import ExampleBatch, GameStore, Replayer, transform_actions
from gtp_engine.training.alphago.stages.game_records import Collector, write_episodes
from gtp_engine.training.alphago.stages.nets import PolicyNet, export_run, read_policy, torch_player
from gtp_engine.training.alphago.stages.policy_players import SwitchedPlayer, plan_of
from gtp_engine.training.alphago.stages.stage_settings import PolicyGameSettings, ReinforceSettings, StageRun
from gtp_engine.training.core.checkpoint import (
    Checkpoint,
    has_checkpoint,
    read_checkpoint,
    write_checkpoint,
    write_values,
)
from gtp_engine.training.core.devices import Machine, choose_machine, threads_on
from gtp_engine.training.core.learning import longest_gradient
from gtp_engine.training.core.loop import Figures, format_figures
from gtp_engine.training.core.optimizer import ParallelGradients
from gtp_engine.training.core.reporting import CURVES_FILE, LOG_FILE, Curves, RunLog, figure_panels, read_log
from gtp_engine.training.selfplay.policy_games import PolicyGames

FILE_NAME: Final = "policy.onnx"
"""The network's name in the folder of a run."""
POOL: Final = "pool"
EXPERIENCE: Final = "experience"
"""Folders of a run: earlier versions, and shards of games by iteration."""

_LIMITS: Final = ("iterations", "threads", "device", "checkpoint_minutes", "evaluate_every", "evaluation_games")
"""Settings in which a resumed run may differ from its beginning."""
_BATCH: Final = 1024
"""Positions whose gradient is computed at once, because their activations are held in memory."""
_ILLEGAL: Final = -1e4
"""Logit of moves that the policy may not choose: finite, so that probability 0 times its logarithm is 0, not NaN."""


_SUFFIX: Final = ".pt"


class OpponentPool:
    """The versions in a folder; `numbers` are their iterations, ascending."""

    def __init__(self, folder: Path) -> None:
        with writing(folder, ModelError, "versions to"):
            folder.mkdir(parents=True, exist_ok=True)
        self._folder: Final = folder
        self.numbers = sorted(int(path.stem) for path in folder.glob(f"*{_SUFFIX}") if path.stem.isdecimal())

    def add(self, number: int, net: PolicyNet) -> None:
        """Add the weights of `net` as version `number`; raises ModelError if the file cannot be written."""
        write_values(self._path(number), net.state_dict(), "version")
        self.numbers = sorted({*self.numbers, number})

    def draw(self, rng: np.random.Generator) -> int:
        """Return the number of a random version; raises ModelError if there is none."""
        if not self.numbers:
            raise ModelError(problem(f"no versions in {shown_path(self._folder)}", advice="start the run again"))
        return int(rng.choice(self.numbers))

    def load(self, number: int, net: PolicyNet) -> None:
        """Load the weights of a version into `net`; raises ModelError if its file is missing or damaged."""
        path = self._path(number)
        try:
            net.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
        except Exception as error:  # torch raises errors of many types for a damaged file
            raise ModelError(
                problem(f"cannot read version {shown_path(path)} ({error})", advice="delete it")
            ) from error

    def drop(self, *, after: int) -> None:
        """Delete versions from iterations later than `after`: an interrupted run will create them again."""
        for number in [number for number in self.numbers if number > after]:
            self._path(number).unlink()
            self.numbers.remove(number)

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:06}{_SUFFIX}"


class Reinforcement:
    """A run that begins with the network `start`, or with the checkpoint in its folder."""

    def __init__(self, start: PolicyNet, settings: ReinforceSettings, game: PolicyGameSettings, out: Path) -> None:
        self.settings: Final = settings
        self.out: Final = out
        self.machine: Final[Machine] = choose_machine(settings.device, settings.precision, threads=settings.threads)
        shape = start.shape
        self.board: Final = (shape.width, shape.height)
        self.net: Final = self.machine.place(PolicyNet(shape))
        self.net.load_state_dict(start.state_dict())
        self.pool: Final = OpponentPool(out / POOL)
        self.iterations = 0
        self.seconds = 0.0
        self._game: Final = game
        self._first: Final = self.machine.place(start).eval()
        self._opponent: Final = self.machine.place(PolicyNet(shape)).eval()
        self._optimizer: Final = torch.optim.SGD(self.net.parameters(), lr=settings.learning_rate)
        if has_checkpoint(out):
            self._resume()
        else:
            self.pool.drop(after=-1)  # those of a run that was killed before its first checkpoint
            self.pool.add(0, self.net)

    def run(self, run: StageRun) -> bool:
        """Iterate until the end, or until the run is stopped; return whether it is done.

        A checkpoint is written every few minutes, at the end, and before an error ends the run.
        """
        try:
            self._iterate_to_the_end(run)
        except BaseException:
            if self.iterations:
                self.save()
            raise
        self.save()
        return self.iterations >= self.settings.iterations

    def _iterate_to_the_end(self, run: StageRun) -> None:
        """Do the iterations of `run`."""
        settings, saved, curves = self.settings, time.monotonic(), Curves(self.out / CURVES_FILE, run.bar.log)
        with RunLog(self.out, after=self.iterations) as log:
            while self.iterations < settings.iterations and not run.is_stopped():
                started = time.monotonic()
                figures = self.iterate()
                self.seconds += time.monotonic() - started
                log.write({"kind": "step", **self._place(), "figures": figures})
                text = f"{self.iterations:,} iterations, {format_figures(figures)}"
                run.bar.update(self.iterations / settings.iterations, text)
                if self.iterations % settings.evaluate_every == 0 or self.iterations == settings.iterations:
                    self._evaluate(log, run, curves)
                if time.monotonic() - saved > 60 * settings.checkpoint_minutes:
                    self.save()
                    saved = time.monotonic()

    def iterate(self) -> Figures:
        """Play games, learn from them, and perhaps join the pool; return the figures for the log."""
        settings = self.settings
        rng = np.random.default_rng((settings.seed, self.iterations))
        self.pool.load(self.pool.draw(rng), self._opponent)
        collector = self._play_against(self._opponent, settings.games, rng)
        write_episodes(self.out / EXPERIENCE / f"{self.iterations:06}.npz", collector.episodes)
        loss, entropy = self.learn(collector)
        self.iterations += 1
        if self.iterations % settings.pool_every == 0:
            self.pool.add(self.iterations, self.net)
        return {
            "winrate": collector.win_rate(),
            "loss": loss,
            "entropy": entropy,
            "moves of a game": float(np.mean([len(episode.game.points) for episode in collector.episodes])),
            "without result": collector.void_share,
        }

    def learn(self, collector: Collector) -> tuple[float, float]:
        """Do one step along the policy gradient of these games; return loss and mean entropy of the policy, in nats."""
        batches = learner_moves(collector)
        total = sum(len(batch.planes) for batch in batches)
        if total == 0:
            return 0.0, 0.0
        parameters, means = list(self.net.parameters()), torch.zeros(2)
        sums = [torch.zeros_like(parameter) for parameter in parameters]
        self.net.train()
        threads = threads_on(self.machine)
        with ParallelGradients(self.net, self.machine, self._figures, threads=threads) as gradients:
            for batch in batches:
                share = len(batch.planes) / total
                means += share * gradients.write(batch).cpu()
                for summed, parameter in zip(sums, parameters, strict=True):
                    assert parameter.grad is not None, "written just now"
                    summed.add_(parameter.grad, alpha=share)
        for summed, parameter in zip(sums, parameters, strict=True):
            parameter.grad = summed
        torch.nn.utils.clip_grad_norm_(parameters, longest_gradient(self.settings.clip))
        self._optimizer.step()
        loss, entropy = means.tolist()
        return loss, entropy

    def save(self) -> None:
        """Write the checkpoint."""
        checkpoint = Checkpoint(
            kind=self.net.KIND,
            network=self.net.shape.to_json(),
            settings=self._settings(),
            weights=self.net.state_dict(),
            state={"first": self._first.state_dict()},
            steps=self.iterations,
            samples=self.iterations * self.settings.games,
            seconds=self.seconds,
        )
        write_checkpoint(self.out, checkpoint)

    def _resume(self) -> None:
        checkpoint = read_checkpoint(self.out)
        checkpoint.check_kind(self.net.KIND)
        check_same(checkpoint.settings, self._settings(), free=_LIMITS, needed=("game",))
        self.net.load_state_dict(checkpoint.weights)
        self._first.load_state_dict(checkpoint.state["first"])
        self.iterations, self.seconds = checkpoint.steps, checkpoint.seconds
        self.pool.drop(after=self.iterations)
        if self.iterations % self.settings.pool_every == 0 and self.iterations not in self.pool.numbers:
            self.pool.add(self.iterations, self.net)  # it could not be written when the run ended

    def _settings(self) -> dict[str, Any]:
        return {**asdict(self.settings), "game": asdict(self._game)}

    def _figures(self, net: PolicyNet, batch: ExampleBatch) -> Tensor:
        with self.machine.autocast():
            logits = net(self.machine.as_input(batch.planes))
        return policy_gradient(logits, batch)

    def _play_against(self, opponent: PolicyNet, games: int, rng: np.random.Generator) -> Collector:
        """Return games of the network as it is now against `opponent`."""
        players = torch_player(self.net.eval(), self.machine, ""), torch_player(opponent, self.machine, "")
        return play_versus(players, self.board, self._game, games=games, rng=rng)

    def _evaluate(self, log: RunLog, run: StageRun, curves: Curves) -> None:
        """Play a match against the network that the run began with, and draw the curves."""
        rng = np.random.default_rng((self.settings.seed, self.iterations, 1))
        match = self._play_against(self._first, self.settings.evaluation_games, rng)
        rate, games = match.win_rate(), len(match.episodes)
        log.write({"kind": "validation", **self._place(), "figures": {"against the first network": {"winrate": rate}}})
        played = f"{counted(games, 'game')} against the first network"
        run.bar.log(f"after {self.iterations:,} iterations: {rate:.1%} of {played} won")
        curves.draw(figure_panels(read_log(self.out / LOG_FILE), place="games"))

    def _place(self) -> dict[str, Any]:
        games = self.iterations * self.settings.games
        return {"steps": self.iterations, "games": games, "seconds": self.seconds}


def learner_moves(collector: Collector) -> list[ExampleBatch]:
    """Return the learner's moves in games with a winner, as it saw them; `outcomes` are the advantages."""
    store = GameStore([episode.game for episode in collector.episodes])
    learners = np.array([episode.learner for episode in collector.episodes], dtype=np.int8)
    advantages = np.array(collector.advantages(), dtype=np.float32)
    refs = store.move_refs()
    refs = refs.take(np.flatnonzero((refs.to_play == learners[refs.games]) & (store.winners[refs.games] != 0)))
    replayer, batches = Replayer(store, _BATCH), []
    for batch in refs.batches(_BATCH):
        symmetries = replayer.played_symmetries(batch)
        actions = transform_actions(store.actions(batch), symmetries, store.width, store.height)
        batches.append(
            ExampleBatch(
                planes=torch.from_numpy(replayer.encode(batch, symmetries)),
                actions=torch.from_numpy(actions.astype(np.int64)),
                outcomes=torch.from_numpy(advantages[batch.games]),
                owners=torch.zeros(len(batch.games), 0),
            )
        )
    return batches


def policy_gradient(logits: Tensor, batch: ExampleBatch) -> Tensor:
    """Return the loss −advantage · log p(move), whose gradient REINFORCE descends, and the entropy; means, [2]."""
    (plane,) = planes_of("sensibleness")
    may_play = batch.planes[:, plane].flatten(1) > 0
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
) -> Collector:
    """Return games of the first player, the learner: it has Black in half of them (rounded up), White in the rest."""
    collector, plan = Collector(), plan_of(settings)
    for color, count in ((BLACK, (games + 1) // 2), (WHITE, games // 2)):
        if not count:
            continue
        sides = SwitchedPlayer(players if color == BLACK else players[::-1], _by_color)
        batch = min(settings.parallel_games, count)
        running = PolicyGames(sides, *board, games=count, batch=batch, rng=rng, planner=lambda *_: plan)
        while running.playing:
            running.evaluate()
            for played in running.play():
                collector.complete(played.game, learner=color)
    return collector


def _by_color(positions: Positions, rows: int) -> NDArray[np.int64]:
    """Return 0 for rows with Black to play and 1 for rows with White to play."""
    return (positions.to_play[:rows] - BLACK).astype(np.int64)


def run_reinforcement(
    supervised: Path, settings: ReinforceSettings, game: PolicyGameSettings, run: StageRun
) -> Path | None:
    """Iterate until the end, or until the run is stopped; return the network file, None if the run is not done.

    `supervised` is the folder of the run whose network it begins with.
    """
    reinforcement = Reinforcement(read_policy(supervised), settings, game, run.out)
    run.bar.log(f"{reinforcement.machine.title}; {len(reinforcement.pool.numbers)} opponents in the pool")
    if not reinforcement.run(run):
        return None
    games = reinforcement.iterations * settings.games
    origin = f"trained by Tengen on {counted(games, 'game')} against earlier versions of itself"
    return export_run(run, FILE_NAME, default_name="reinforced", origin=origin)
