"""Data of games between people: samples whose policy is the move played, with the ranks of both players.

    read_games     the games of files in JSON Lines and of folders of SGF files
    fill_folder    samples of them as shards (`shards`), as many of each group of ranks
    mix_in         positions that a network has labelled, as if players of all ranks played like it, but less surely
    fresh_shards   around both: what an attempt wrote that did not come to its end is made again, not added to

A line of JSON holds one game: `black_rank`, `white_rank`, `black` and `white` (the players, by name or number), `moves`
(two letters of SGF each, `tt` for a pass, colours by turns) and, where they are known, `first`, `width`, `height`,
`rules`, `komi_field`, `handicap_field` and `result` as a record has them.

Some of the players are held out: of their games only their own moves are used, for validation only, and the others'
moves in these games not at all.  So no player and no position is in both parts.
"""

import gzip
import json
import lzma
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from gtp_engine.base.errors import IllegalMoveError, TengenError, shown_path
from gtp_engine.base.files import json_of, write_whole
from gtp_engine.base.steps import never
from gtp_engine.base.streams import Log
from gtp_engine.config.human import DAN_RANKS, KYU_RANKS, rank_number
from gtp_engine.evaluation.from_game import GameRows
from gtp_engine.evaluation.positions import new_positions, put_row
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import Move, board_points
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules
from gtp_engine.sgf.board import board_of
from gtp_engine.sgf.values import FOX, parse_komi, parse_rank, parse_result, parse_rules, usual_komi
from gtp_engine.training.core.game_data import is_name_held_out, sgf_games
from gtp_engine.training.distillation.distillation_settings import HumanDataSettings
from gtp_engine.training.distillation.labelled_games import Labeller
from gtp_engine.training.distillation.shards import (
    HELD_OUT,
    PLAYER_GAME,
    SCORES,
    TRAIN,
    UNKNOWN,
    UNKNOWN_OWNER,
    Samples,
    ShardMeta,
    ShardWriter,
    read_shard,
    record_number,
    shard_paths,
    unused_seed,
)

Item = TypeVar("Item")

TEMPERATURES: Final = {rank: 0.8 + 0.034 * (rank - 1) for rank in range(1, DAN_RANKS + KYU_RANKS + 1)}
"""The temperature at which the policy of tengen-b10c128 predicts the moves of people of a rank best, by rank.

Found on 250 moves of held-out players on 19×19 of each group: 9d 0.85, 8d 0.80, 7d 0.90, 6d 0.90, 5d 0.95, 4d to 2d
1.00, 1d and 1–2k 1.10, 3–5k 1.20; below 5k the line is continued.
"""
_UNFINISHED: Final = "unfinished.json"
"""The file in the folder, as long as shards are being made, that lists those of earlier attempts."""
_PAIR: Final = 2
_KYU_GROUP: Final = 3
"""Ranks of the strongest group of kyus, 1–2k, and of those after it."""
_NO_KOMI: Final = "1"
"""The Fox server's handicap of a game in which Black moves first without komi."""


def group_of(rank: int) -> int:
    """Return the group of a rank: each dan, 1–2k, 3–5k, 6–8k, …; it is named after its strongest rank."""
    kyu = rank - DAN_RANKS
    if kyu <= _PAIR:
        return min(rank, DAN_RANKS + 1)
    return rank - kyu % _KYU_GROUP


@dataclass(frozen=True)
class HumanGame:
    """A game between people; ranks as `HumanProfile` counts them, 0 where unknown, by BLACK and WHITE − 1."""

    name: str
    start: Game
    """Before the first move."""
    moves: tuple[Move, ...]
    players: tuple[str, str]
    ranks: tuple[int, int]
    result: str


def read_games(paths: Sequence[Path], log: Log) -> Iterator[HumanGame]:
    """Yield the games with moves of two players of known rank; `log` receives a line for each game left out.

    Raises TengenError for files that cannot be read, and if there is no usable game.
    """
    found = 0
    for path in paths:
        for game in _games_of_folder(path, log) if path.is_dir() else _games_of_lines(path, log):
            if all(game.ranks) and game.moves:
                found += 1
                yield game
    if not found:
        names = ", ".join(shown_path(path) for path in paths)
        raise TengenError(f"no usable game in {names}", expected="games whose players' ranks are known")


def _games_of_folder(folder: Path, log: Log) -> Iterator[HumanGame]:
    for found in sgf_games(folder, log):
        game, record = found.game, found.record
        start = Game(game.width, game.height, game.rules, game.komi)
        start.set_up(game.setup_stones, game.first_player)
        ranks = (_rank(record.black_rank), _rank(record.white_rank))
        players = (record.black_name or found.name + ", Black", record.white_name or found.name + ", White")
        yield HumanGame(found.name, start, game.moves, players, ranks, record.result or "")


def _games_of_lines(path: Path, log: Log) -> Iterator[HumanGame]:
    openers: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open}
    try:
        with openers.get(path.suffix, open)(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    yield _game_of(json_of(line), f"{path.name}:{number}")
                except (ValueError, KeyError, TypeError, TengenError) as error:
                    log(f"{path}, line {number}: {error}")
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise TengenError(f"cannot read games {shown_path(path)}: {error}") from error


def _game_of(fields: dict[str, Any], name: str) -> HumanGame:
    """Return the game of a line; raises ValueError, KeyError, TypeError or TengenError."""
    width, height = int(fields.get("width", 19)), int(fields.get("height", 19))
    rules = parse_rules(str(fields.get("rules", ""))) or Rules.parse("japanese")
    komi = parse_komi(str(fields.get("komi_field", "")))
    if fields.get("handicap_field") == _NO_KOMI:
        komi = 0.0
    elif not komi:
        komi = rules.default_komi()
    text, colors = str(fields["moves"]), ("W", "B") if fields.get("first") == "W" else ("B", "W")
    board = board_of(width, height)
    return HumanGame(
        name,
        Game(width, height, rules, usual_komi(komi, FOX)),
        tuple(board.move(colors[i // 2 % 2], text[i : i + 2]) for i in range(0, len(text), 2)),
        (str(fields["black"]), str(fields["white"])),
        (_rank(fields["black_rank"]), _rank(fields["white_rank"])),
        str(fields.get("result", "")),
    )


def _rank(text: str | None) -> int:
    """Return the number of the rank in BR or WR, 0 if it is none; professionals are 9d."""
    rank = parse_rank(text or "")
    if rank is None:
        return 0
    return 1 if rank.endswith("p") else rank_number(rank)


# Samples


@contextmanager
def fresh_shards(folder: Path, *, is_stopped: Callable[[], bool] = never) -> Iterator[None]:
    """Let the shards made in the `with` block be new ones: what an unfinished attempt left is removed first.

    The attempt is unfinished if the block raises, if `is_stopped`, or if the process ends.  A finished one's shards
    stay, so that games of several sources can be joined in one folder.  Raises OSError.
    """
    marker = folder / _UNFINISHED
    for split in (TRAIN, HELD_OUT):
        (folder / split).mkdir(parents=True, exist_ok=True)
    found = {f"{split}/{path.name}": path for split in (TRAIN, HELD_OUT) for path in shard_paths(folder / split)}
    if marker.exists():
        kept = set(json.loads(marker.read_text(encoding="utf-8")))
        for name in found.keys() - kept:
            found[name].unlink()
    else:
        write_whole(marker, json.dumps(sorted(found)))
    yield
    if not is_stopped():
        marker.unlink()


def fill_folder(
    games: Sequence[HumanGame],
    folder: Path,
    settings: HumanDataSettings,
    *,
    progress: Callable[[int], None],
    is_stopped: Callable[[], bool] = never,
) -> dict[str, int]:
    """Write shards of positions of `games`; return the number of positions of each part.

    Each group of ranks has as many positions, as far as there are enough games.  `progress` receives the number of
    positions so far.
    """
    rng = np.random.default_rng(settings.seed)
    is_of_held_out = {name: is_name_held_out(name, settings.held_out) for game in games for name in game.players}
    held_out = [game for game in games if any(is_of_held_out[name] for name in game.players)]
    train = [game for game in games if not any(is_of_held_out[name] for name in game.players)]
    written: dict[str, int] = {}
    labeller_of = cache(Labeller)
    with closing(_writer(folder, settings.seed, rng)) as writer:
        for split, chosen, positions in (
            (HELD_OUT, held_out, settings.held_out_positions),
            (TRAIN, train, settings.positions),
        ):
            count = 0
            groups: dict[int, list[HumanGame]] = {}
            for i in rng.permutation(len(chosen)):
                groups.setdefault(group_of(chosen[i].ranks[0]), []).append(chosen[i])
            in_turn = in_turns(games for _, games in sorted(groups.items()))
            for game in islice(in_turn, -(-positions // settings.per_game)):
                if is_stopped() or count >= positions:
                    break
                plies = [
                    ply
                    for ply, move in enumerate(game.moves)
                    if split == TRAIN or is_of_held_out[game.players[move.color - BLACK]]
                ]
                picked = rng.permutation(plies)[: settings.per_game]
                board = (game.start.width, game.start.height)
                samples = _samples(game, set(picked.tolist()), labeller_of(*board))
                writer.add(split, board, samples)
                count += samples.count
                progress(sum(written.values()) + count)
            written[split] = count
    return written


def in_turns(groups: Iterable[Iterable[Item]]) -> Iterator[Item]:
    """Yield what the groups hold, one of each in turn; a group that is used up has no more."""
    return (each for turn in zip_longest(*groups) for each in turn if each is not None)


def _writer(folder: Path, seed: int, rng: np.random.Generator) -> ShardWriter:
    """Return what writes shards of people's positions, with the first unused seed from `seed` on."""
    unused = unused_seed(folder, seed)
    return ShardWriter(folder, rng, lambda board: ShardMeta(*board, "people", "", "", unused))


def _samples(record: HumanGame, plies: set[int], labeller: Labeller) -> Samples:
    """Return a sample of the position before each of these moves, up to the end of the game."""
    game, board = record.start.copy(), (record.start.width, record.start.height)
    latest, positions = (new_positions(rows, *board) for rows in (1, max(1, len(plies))))
    rows, moves = GameRows(latest), list[Move]()
    for ply, move in enumerate(record.moves[: max(plies, default=-1) + 1]):
        if game.is_over:
            break
        if move.color == game.to_play:
            rows.fill(0, game)
            if ply in plies and game.illegal_reason(move.point, move.color) in (None, "superko"):
                put_row(positions, len(moves), latest, 0)
                moves.append(move)
        try:
            game.play(move, tolerant=True)
        except IllegalMoveError:
            break
    count, points = len(moves), [*board_points(*board), PASS]
    planes, globals_ = labeller.encode(positions, count)
    policy = np.zeros((count, len(points)), dtype=np.float16)
    policy[np.arange(count), [points.index(move.point) for move in moves]] = 1
    score = np.full((count, SCORES), UNKNOWN, dtype=np.float32)
    score[:, :3] = np.nan
    ranks = [(record.ranks[move.color - BLACK], record.ranks[WHITE - move.color]) for move in moves]
    return Samples(
        planes=planes,
        globals=globals_,
        policy=policy,
        value=np.array([_value(record.result, move.color) for move in moves], dtype=np.float16).reshape(count, 3),
        score=score,
        ownership=np.full((count, len(points) - 1), UNKNOWN_OWNER, dtype=np.int8),
        optimistic=np.zeros_like(policy),
        game=np.full(count, record_number(record.name), dtype=np.int64),
        ranks=np.array(ranks, dtype=np.int8).reshape(count, 2),
    )


def _value(result: str, color: int) -> tuple[float, float, float]:
    """Return the probabilities of win, loss and no result for `color`, all 0 if the result is unknown."""
    found = parse_result(result) or ""
    if found[:2] in ("B+", "W+"):
        won = (found[0] == "B") == (color == BLACK)
        return (float(won), float(not won), 0.0)
    return (0.5, 0.5, 0.0) if found == "0" else (0.0, 0.0, 0.0)


# Boards without games


def mix_in(labelled: Path, folder: Path, *, seed: int) -> int:
    """Write the positions of `labelled`, which a network labelled, as positions of people; return how many.

    On boards of which there are no games, a network that imitates people so stays as sensible as its teacher.  Each
    position gets a rank, for both players, and the teacher's policy with the temperature of that rank (`TEMPERATURES`).
    """
    rng = np.random.default_rng(seed)
    count = 0
    with closing(_writer(folder, seed, rng)) as writer:
        for split in (TRAIN, HELD_OUT):
            for path in shard_paths(labelled / split):
                samples, meta = read_shard(path)
                ranks = rng.choice(list(TEMPERATURES), samples.count)
                writer.add(split, (meta.width, meta.height), _as_people(samples, ranks))
                count += samples.count
    return count


def _as_people(samples: Samples, ranks: NDArray[np.int64]) -> Samples:
    exponents = np.array([1 / TEMPERATURES[int(rank)] for rank in ranks])
    policy = samples.policy.astype(np.float64) ** exponents[:, None]
    policy = np.where(samples.policy > 0, policy, 0.0)
    policy /= policy.sum(axis=1, keepdims=True)
    return samples._replace(
        policy=policy.astype(np.float16),
        ranks=np.repeat(ranks[:, None], 2, axis=1).astype(np.int8),
        game=samples.game & ~np.int64(PLAYER_GAME),
    )
