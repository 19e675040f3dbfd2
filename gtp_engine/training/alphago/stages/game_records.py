"""Games that are learned from: records read from SGF files, and games that networks in training have played.

Both are kept as arrays of moves, a few hundred bytes a game; positions are replayed when they are needed
(`game_positions`).  Where a record edits the board in the middle, the game begins there (`sgf.record`).  Moves after
the passes that end a game are left out.

Games of networks are stored in shards.  A shard is a `.npz` of G games on boards of one size and under one rule set, T
moves in all:

    points      int16 [T]      points of the board, or PASS
    colors      int8 [T]       the colour that moved
    lengths     int32 [G]      moves of each game
    winner      int8 [G]       BLACK, WHITE, or EMPTY where the game was aborted
    learner     int8 [G]       the colour whose moves are learned from; EMPTY: neither
    moment      int32 [G]      moves played before the position that is a sample for the value network; −1: none
    meta        JSON: format, width, height, rules, komi
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.base.errors import TengenError, counted, shown, shown_path
from gtp_engine.base.files import ZIP_DAMAGE, json_of, open_regular, replacing, writing
from gtp_engine.base.streams import Log
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE
from gtp_engine.go.coords import Move
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules
from gtp_engine.sgf.values import parse_result
from gtp_engine.training.core.game_data import is_name_held_out, sgf_games

FORMAT: Final = 1
"""The format of shards."""
NO_MOMENT: Final = -1


class RecordsError(TengenError, ValueError):
    """Games that cannot be learned from."""


@dataclass(frozen=True)
class RecordedGame:
    """A game of M moves, and what is learned from it."""

    name: str
    """The file's path below the folder that was read, with slashes; of a shard's game its stem and the game's index."""
    width: int
    height: int
    rules: Rules
    komi: float
    """Points for White."""
    points: NDArray[np.int16]
    """The moves, [M]: points of the board (`go.coords`), or PASS."""
    colors: NDArray[np.int8]
    """The colours of the moves, [M]: BLACK or WHITE, usually alternating."""
    winner: int
    """BLACK or WHITE; EMPTY if the game has no winner or the record names none."""
    setup_stones: tuple[Move, ...] = ()
    """Stones on the board before the first move, handicap stones among them."""
    first_player: int = BLACK
    """The colour that moves first."""
    learner: int = EMPTY
    moment: int = NO_MOMENT
    """As in a shard."""

    @property
    def reward(self) -> int:
        """The learner's reward: 1 for a win, −1 for a loss, 0 where the game has no winner."""
        if self.winner == EMPTY:
            return 0
        return 1 if self.winner == self.learner else -1


def read_games(folder: Path, *, log: Log) -> list[RecordedGame]:
    """Return the games of all `.sgf` files in a folder and its subfolders, sorted by name; see `sgf_games`."""
    games = sgf_games(folder, log)
    return [recorded(each.game, name=each.name, winner=winner_of(each.record.result or "")) for each in games]


def recorded(game: Game, *, name: str, winner: int) -> RecordedGame:
    """Return the record of a game, up to its end."""
    ends = (
        number
        for number, (before, move) in enumerate(pairwise(game.moves), start=2)
        if before.point == move.point == PASS and before.color != move.color
    )
    moves = game.moves[: next(ends, len(game.moves))]
    return RecordedGame(
        name=name,
        width=game.width,
        height=game.height,
        rules=game.rules,
        komi=game.komi,
        points=np.array([move.point for move in moves], dtype=np.int16),
        colors=np.array([move.color for move in moves], dtype=np.int8),
        winner=winner,
        setup_stones=game.setup_stones,
        first_player=game.first_player,
    )


def winner_of(result: str) -> int:
    """Return the winner by SGF's RE, such as "B+3.5" or "W+R": BLACK, WHITE, or EMPTY for "0", "Void" and the like."""
    return {"B+": BLACK, "W+": WHITE}.get((parse_result(result) or "")[:2], EMPTY)


def split_games(games: Iterable[RecordedGame], share: float) -> tuple[list[RecordedGame], list[RecordedGame]]:
    """Return the training games and the test games, by their names; raises RecordsError if either part is empty."""
    parts: tuple[list[RecordedGame], list[RecordedGame]] = ([], [])
    for game in games:
        parts[is_name_held_out(game.name, share)].append(game)
    if not all(parts):
        raise RecordsError(
            f"{counted(len(parts[0]), 'game')} to train on and {len(parts[1])} to test on",
            expected="some of both",
            advice="give more games, or another --test-share",
        )
    return parts


def scored(game: Game, *, learner: int = EMPTY, moment: int = NO_MOMENT) -> RecordedGame:
    """Return the record of a game that was played, scored by area; an aborted game has no winner."""
    winner = game.score().winner if game.is_over else EMPTY
    return replace(recorded(game, name="", winner=winner), learner=learner, moment=moment)


def win_rate(games: Iterable[RecordedGame]) -> float:
    """Return the share of games with a winner that the learner won; ½ if there is no such game."""
    rewards = [game.reward for game in games]
    won, lost = rewards.count(1), rewards.count(-1)
    return won / (won + lost) if won + lost else 0.5


def advantages(games: Sequence[RecordedGame]) -> list[float]:
    """Return each game's reward minus the mean reward of the learner's games with the same colour.

    Komi favours one colour, which says nothing about its moves.  Games without a winner have advantage 0.
    """
    means = {color: 2 * win_rate(each for each in games if each.learner == color) - 1 for color in (BLACK, WHITE)}
    return [game.reward - means[game.learner] if game.reward else 0.0 for game in games]


def write_shard(path: Path, games: Sequence[RecordedGame]) -> None:
    """Write a shard, replacing an older one.

    There must be at least one game; all have the same board, rules and komi, and none has set-up stones.  Raises
    RecordsError if the shard cannot be written.
    """
    first = games[0]
    common = {(game.width, game.height, game.rules, game.komi) for game in games}
    assert len(common) == 1 and not any(game.setup_stones for game in games), "see the docstring"
    meta = {"width": first.width, "height": first.height, "rules": first.rules.to_json(), "komi": first.komi}
    arrays: dict[str, Any] = {
        "meta": np.array(json.dumps({"format": FORMAT, **meta})),
        "points": np.concatenate([game.points for game in games]),
        "colors": np.concatenate([game.colors for game in games]),
        "lengths": np.array([len(game.points) for game in games], dtype=np.int32),
        "winner": np.array([game.winner for game in games], dtype=np.int8),
        "learner": np.array([game.learner for game in games], dtype=np.int8),
        "moment": np.array([game.moment for game in games], dtype=np.int32),
    }
    with writing(path, RecordsError, "shard"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as unfinished, open(unfinished, "wb") as file:
            np.savez_compressed(file, **arrays)


def read_shard(path: Path) -> list[RecordedGame]:
    """Return the games of a shard, named after its file and their index; raises RecordsError if it cannot be read."""
    try:
        with open_regular(path) as stream, np.load(stream, allow_pickle=False) as file:
            arrays: dict[str, Any] = {name: file[name] for name in file.files}
        meta: dict[str, Any] = json_of(str(arrays["meta"]))
        if meta.pop("format") == FORMAT:
            return _games_of(path.stem, arrays, meta)
    except OSError as error:
        raise RecordsError(f"cannot read shard {shown_path(path)}: {error.strerror or error}") from error
    except ZIP_DAMAGE as error:
        raise RecordsError(f"shard {shown(path.name)} is damaged ({error})", advice="delete it") from error
    raise RecordsError(f"shard {shown(path.name)} has another format", expected=f"{FORMAT}")


def _games_of(name: str, arrays: dict[str, Any], meta: dict[str, Any]) -> list[RecordedGame]:
    meta["rules"] = Rules.parse(meta["rules"])
    ends = np.cumsum(arrays["lengths"])[:-1]
    moves = [np.split(arrays[column], ends) for column in ("points", "colors")]
    facts = [arrays[column].tolist() for column in ("winner", "learner", "moment")]
    return [
        RecordedGame(
            name=f"{name}-{index}", points=points, colors=colors, winner=winner, learner=learner, moment=moment, **meta
        )
        for index, (points, colors, winner, learner, moment) in enumerate(zip(*moves, *facts, strict=True))
    ]
