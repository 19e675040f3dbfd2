"""Games for the value network, which learns one position of each game with the game's outcome.

As in the paper (Silver et al. 2016, "Value network: regression"): a number U is drawn; the supervised policy plays
U − 1 moves, the next is a uniformly random legal move, and from there the reinforced policy plays both sides.  The
position after the random move is the sample, and its outcome is that of the reinforced policy's game.  No two samples
share a game, because the network could memorize its outcome.

Games are stored in shards (`experience`) named by seed and number; a folder with too few games gets more.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.alphago.stages.experience import Collector, Episode, read_episodes, write_episodes
from gtp_engine.alphago.stages.game_records import RecordsError
from gtp_engine.alphago.stages.policy_rows import SwitchedRows, UniformRows
from gtp_engine.alphago.stages.stage_settings import AREA_RULES, PolicyGameSettings
from gtp_engine.alphago.stages.torch_games import plan_of
from gtp_engine.errors import ConfigError, counted, problem, shown_path
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.evaluation.positions import Positions
from gtp_engine.files import writing
from gtp_engine.go.constants import EMPTY, PASS
from gtp_engine.go.rules import PRESETS
from gtp_engine.progress import ProgressBar
from gtp_engine.selfplay.policy_games import GamePlan, PlayedGame, PolicyGames, Temperatures

SHARD_GAMES: Final = 512
"""Games of a shard."""

_NAME: Final = re.compile(r"(\d+)-(\d+)\.npz")
_UNCHANGED_POLICY: Final = Temperatures(opening=1.0)
_SUPERVISED, _RANDOM, _REINFORCED = 0, 1, 2


def value_games(
    supervised: Evaluator,
    reinforced: Evaluator,
    board: tuple[int, int],
    settings: PolicyGameSettings,
    rng: np.random.Generator,
) -> Iterator[Episode]:
    """Yield an endless stream of games; `moment` is U, drawn uniformly from 1 to the number of points.

    Games that ended before their sample and games without a winner are left out.
    """
    collector, running = Collector(), _running_games(supervised, reinforced, board, settings, rng)
    while True:
        running.evaluate()
        for played in running.play():
            moment = sample_moment(played)
            episode = collector.complete(played.game, moment=moment)
            points = episode.game.points
            if episode.game.winner != EMPTY and len(points) > moment and points[moment - 1] != PASS:
                yield episode


def sample_moment(played: PlayedGame) -> int:
    """Return the number of moves before the sample of a game, U."""
    return played.plan.opening_length + 1


def _running_games(
    supervised: Evaluator,
    reinforced: Evaluator,
    board: tuple[int, int],
    settings: PolicyGameSettings,
    rng: np.random.Generator,
) -> PolicyGames:
    """Return the games; `opening_length` of a plan is U − 1."""

    def plan(rng: np.random.Generator, width: int, height: int) -> GamePlan:
        return plan_of(settings, opening_length=int(rng.integers(width * height)))

    def choose(positions: Positions, rows: int) -> NDArray[np.int64]:
        return np.array([_phase(played) for played in running.playing[:rows]], dtype=np.int64)

    players = SwitchedRows([supervised, UniformRows(), reinforced], choose)
    batch = settings.parallel_games
    running = PolicyGames(
        players, *board, games=None, batch=batch, rng=rng, planner=plan, temperatures=_UNCHANGED_POLICY
    )
    return running


def _phase(played: PlayedGame) -> int:
    """Return the index of the player of the next move of a game."""
    moves, before = len(played.game.moves), played.plan.opening_length
    if moves < before:
        return _SUPERVISED
    return _RANDOM if moves == before else _REINFORCED


def fill_folder(
    folder: Path,
    games: int,
    play: Callable[[np.random.Generator], Iterator[Episode]],
    *,
    terms: PolicyGameSettings,
    seed: int,
    bar: ProgressBar,
    is_stopped: Callable[[], bool],
) -> list[Episode]:
    """Return the first `games` games of a folder, after playing those that it lacks; fewer if `is_stopped`.

    `play` yields games from a random generator, whose seed is the first from `seed` on above those in the folder.
    Raises ConfigError if those have other rules or another komi than `terms`: the network knows neither.
    """
    with writing(folder, RecordsError, "games to"):
        folder.mkdir(parents=True, exist_ok=True)
    episodes = read_folder(folder)
    _check_terms(episodes, terms, folder)
    first = max([seed, *(int(found[1]) + 1 for found in _shards(folder))])
    played, numbers = play(np.random.default_rng(first)), count()
    shard: list[Episode] = []
    while len(episodes) + len(shard) < games and not is_stopped():
        shard.append(next(played))
        total = len(episodes) + len(shard)
        bar.update(total / games, f"{counted(total, 'game')} of one position each")
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
            names = [name for name in AREA_RULES if PRESETS[name] == game.rules] or ["other"]
            raise ConfigError(
                problem(
                    f"the games in {shown_path(folder)} have {names[0]} rules and komi {game.komi:g}",
                    expected=f"{terms.rules} rules and komi {terms.komi:g}",
                    advice="give the settings that they were played with, or another folder",
                )
            )


def read_folder(folder: Path) -> list[Episode]:
    """Return the games of all shards in a folder, in the order of seeds and numbers."""
    return [episode for found in _shards(folder) for episode in read_episodes(folder / found[0])]


def _shards(folder: Path) -> list[re.Match[str]]:
    """Return the names of the shards, sorted by seed and number."""
    names = [found for entry in folder.iterdir() if (found := _NAME.fullmatch(entry.name))]
    return sorted(names, key=lambda found: (int(found[1]), int(found[2])))
