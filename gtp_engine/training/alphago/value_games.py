"""Games for the value network: one position of each is judged by who won it.

As in the paper (Silver et al. 2016, "Value network: regression"): a number U is drawn; the supervised policy plays
U − 1 moves, the next is any legal one, with equal odds, and from there on the reinforced policy plays both sides.
The position after the random move is the sample: the game that follows is what the reinforced policy makes of it, and
no two samples share a game, whose outcome could be learned by heart.

Games lie in shards (`collectors`) of the folder of a run, named by seed and number; the same folder is filled up.
"""

import re
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.evaluation.positions import Positions
from gtp_engine.go.constants import EMPTY, PASS
from gtp_engine.progress import ProgressBar
from gtp_engine.selfplay.policy_games import GamePlan, PlayedGame, PolicyGames, Temperatures
from gtp_engine.selfplay.rows_evaluator import RowsEvaluator
from gtp_engine.training.alphago.experience import Collector, Episode, read_episodes, write_episodes
from gtp_engine.training.alphago.policy_rows import SwitchedRows, UniformRows
from gtp_engine.training.alphago.torch_games import GameSettings

SHARD_GAMES: Final = 512
"""Games of a shard."""

_NAME: Final = re.compile(r"(\d+)-(\d+)\.npz")
_SAME_ODDS: Final = Temperatures(opening=1.0)
_SUPERVISED, _RANDOM, _REINFORCED = 0, 1, 2


def value_games(
    supervised: RowsEvaluator,
    reinforced: RowsEvaluator,
    board: tuple[int, int],
    settings: GameSettings,
    rng: np.random.Generator,
) -> Iterator[Episode]:
    """Yield games without end; `moment` is U, drawn evenly from 1 to the number of points.

    Games that ended before, and those without winner, are left out.
    """
    collector, table = Collector(), _table(supervised, reinforced, board, settings, rng)
    while True:
        table.evaluate()
        for played in table.play():
            moment = moment_of(played)
            episode = collector.complete(played.game, moment=moment)
            points = episode.game.points
            if episode.game.winner != EMPTY and len(points) > moment and points[moment - 1] != PASS:
                yield episode


def moment_of(played: PlayedGame) -> int:
    """Return after how many moves the position of a game is to be judged, U."""
    return played.plan.opening_length + 1


def _table(
    supervised: RowsEvaluator,
    reinforced: RowsEvaluator,
    board: tuple[int, int],
    settings: GameSettings,
    rng: np.random.Generator,
) -> PolicyGames:
    """Return the games; `opening_length` of a plan is U − 1."""

    def plan(rng: np.random.Generator, width: int, height: int) -> GamePlan:
        return settings.plan(opening_length=int(rng.integers(width * height)))

    def choose(positions: Positions, rows: int) -> NDArray[np.int64]:
        return np.array([_phase(played) for played in table.playing[:rows]], dtype=np.int64)

    players = SwitchedRows([supervised, UniformRows(), reinforced], choose)
    table = PolicyGames(
        players, *board, games=None, batch=settings.batch, rng=rng, planner=plan, temperatures=_SAME_ODDS
    )
    return table


def _phase(played: PlayedGame) -> int:
    """Return who makes the next move of a game."""
    moves, before = len(played.game.moves), played.plan.opening_length
    if moves < before:
        return _SUPERVISED
    return _RANDOM if moves == before else _REINFORCED


def fill_folder(
    folder: Path,
    games: int,
    make: Callable[[np.random.Generator], Iterator[Episode]],
    *,
    seed: int,
    bar: ProgressBar,
    is_stopped: Callable[[], bool],
) -> list[Episode]:
    """Return the first `games` games in a folder, after adding those that are missing; fewer if `is_stopped`.

    `make` yields games of a random generator, which is that of the first seed from `seed` on that the folder has none
    of.
    """
    folder.mkdir(parents=True, exist_ok=True)
    episodes = read_folder(folder)
    first = max([seed, *(int(found[1]) + 1 for found in _shards(folder))])
    made, numbers = make(np.random.default_rng(first)), count()
    waiting: list[Episode] = []
    while len(episodes) + len(waiting) < games and not is_stopped():
        waiting.append(next(made))
        total = len(episodes) + len(waiting)
        bar.update(total / games, f"{total:,} games of one position each")
        if len(waiting) == SHARD_GAMES:
            write_episodes(folder / f"{first}-{next(numbers):05}.npz", waiting)
            episodes, waiting = episodes + waiting, []
    if waiting:
        write_episodes(folder / f"{first}-{next(numbers):05}.npz", waiting)
    return read_folder(folder)[:games]


def read_folder(folder: Path) -> list[Episode]:
    """Return the games of all shards in a folder, in the order of their names."""
    return [episode for found in _shards(folder) for episode in read_episodes(folder / found[0])]


def _shards(folder: Path) -> list[re.Match[str]]:
    """Return the names of the shards, sorted by seed and number."""
    names = [found for entry in folder.iterdir() if (found := _NAME.fullmatch(entry.name))]
    return sorted(names, key=lambda found: (int(found[1]), int(found[2])))
