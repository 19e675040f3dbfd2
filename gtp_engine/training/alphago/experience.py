"""Experience: games that a network has played to learn from, gathered by a collector and kept in shards.

A shard is a `.npz` of G games on boards of one size and under one rule set, T moves in all:

    points      int16 [T]      points of the board, or PASS
    colors      int8 [T]       who moved
    lengths     int32 [G]      moves of each game
    winner      int8 [G]       BLACK, WHITE, or EMPTY where the game had to be broken off
    learner     int8 [G]       whose moves are to be learned from; EMPTY: nobody's
    moment      int32 [G]      after how many moves there is a position to be judged; −1: none
    meta        JSON: format, width, height, rules, komi

A few hundred bytes a game: positions are played up again when they are needed (`positions`).
"""

import json
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from gtp_engine.errors import problem, shown, shown_path
from gtp_engine.go.constants import BLACK, EMPTY, WHITE
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules
from gtp_engine.training.alphago.game_records import RecordedGame, RecordsError, recorded

FORMAT: Final = 1
NO_MOMENT: Final = -1


@dataclass(frozen=True)
class Episode:
    """A game, and what is to be learned from it; fields as in a shard."""

    game: RecordedGame
    learner: int = EMPTY
    moment: int = NO_MOMENT

    @property
    def reward(self) -> int:
        """What the learner got: 1 for a win, −1 for a loss, 0 where the game has no winner."""
        if self.game.winner == EMPTY:
            return 0
        return 1 if self.game.winner == self.learner else -1


class Collector:
    """Gathers games as they end, in `episodes`, all on boards of one size and under one rule set."""

    def __init__(self) -> None:
        self.episodes: Final[list[Episode]] = []

    def complete(self, game: Game, *, learner: int = EMPTY, moment: int = NO_MOMENT) -> Episode:
        """Take in a game that has ended, counted by area; one that was broken off has no winner."""
        winner = game.score().winner if game.is_over else EMPTY
        episode = Episode(recorded(game, name=str(len(self.episodes)), winner=winner), learner, moment)
        self.episodes.append(episode)
        return episode

    def win_rate(self, color: int | None = None) -> float:
        """Return the share of games that the learner won, of those that have a winner (½ if none has).

        With `color`, only games count that it played with that colour.
        """
        rewards = [episode.reward for episode in self.episodes if color in (None, episode.learner)]
        won, lost = rewards.count(1), rewards.count(-1)
        return won / (won + lost) if won + lost else 0.5

    @property
    def void_share(self) -> float:
        """The share of games without winner."""
        return sum(episode.game.winner == EMPTY for episode in self.episodes) / max(1, len(self.episodes))

    def advantages(self) -> list[float]:
        """Return each game's reward less the mean of those in which the learner had the same colour.

        Komi favours a colour; the difference is no merit of the moves.  Games without winner have 0.
        """
        means = {color: 2 * self.win_rate(color) - 1 for color in (BLACK, WHITE)}
        return [episode.reward - means[episode.learner] if episode.reward else 0.0 for episode in self.episodes]


def write_episodes(path: Path, episodes: Sequence[Episode]) -> None:
    """Write a shard, replacing an older one: at least one game, all on one board, under one rule set and komi.

    None may have set-up stones.
    """
    games = [episode.game for episode in episodes]
    first = games[0]
    common = {(game.width, game.height, game.rules, game.komi) for game in games}
    assert len(common) == 1 and not any(game.setup_stones for game in games), "as the docstring says"
    meta = {"width": first.width, "height": first.height, "rules": first.rules.to_json(), "komi": first.komi}
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".part")
    with open(unfinished, "wb") as file:
        np.savez_compressed(
            file,
            meta=np.array(json.dumps({"format": FORMAT, **meta})),
            points=np.concatenate([game.points for game in games]),
            colors=np.concatenate([game.colors for game in games]),
            lengths=np.array([len(game.points) for game in games], dtype=np.int32),
            winner=np.array([game.winner for game in games], dtype=np.int8),
            learner=np.array([episode.learner for episode in episodes], dtype=np.int8),
            moment=np.array([episode.moment for episode in episodes], dtype=np.int32),
        )
    unfinished.replace(path)


def read_episodes(path: Path) -> list[Episode]:
    """Return the games of a shard, named by it and their number; raises RecordsError if it cannot be read."""
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays: dict[str, Any] = {name: file[name] for name in file.files}
        meta: dict[str, Any] = json.loads(str(arrays.pop("meta")))
        if meta.pop("format") != FORMAT:
            raise RecordsError(problem(f"shard {shown(path.name)} has another format", expected=f"{FORMAT}"))
        return _episodes(path.stem, arrays, meta)
    except OSError as error:
        raise RecordsError(problem(f"cannot read shard {shown_path(path)}: {error.strerror}")) from error
    except (ValueError, KeyError, TypeError, IndexError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        if isinstance(error, RecordsError):
            raise
        raise RecordsError(problem(f"shard {shown(path.name)} is damaged ({error})", advice="delete it")) from error


def _episodes(name: str, arrays: dict[str, Any], meta: dict[str, Any]) -> list[Episode]:
    rules = Rules.parse(meta["rules"])
    edges = [0, *np.cumsum(arrays["lengths"]).tolist()]
    episodes = []
    for number, (begin, end) in enumerate(pairwise(edges)):
        game = RecordedGame(
            name=f"{name}-{number}",
            width=meta["width"],
            height=meta["height"],
            rules=rules,
            komi=meta["komi"],
            points=arrays["points"][begin:end],
            colors=arrays["colors"][begin:end],
            winner=int(arrays["winner"][number]),
        )
        episodes.append(Episode(game, int(arrays["learner"][number]), int(arrays["moment"][number])))
    return episodes
