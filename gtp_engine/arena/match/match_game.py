"""One game between two engines: its opening, its moves, its score.

Openings are an empty board, random moves, or game records from a folder.  Games go in pairs: both games of a pair have
the same opening, with the colours of the engines swapped.  With a handicap each game has its own.

The match's own `Game` decides legality: a move that it forbids loses, even if the opponent would accept it.  A think
time lasts from the end of the `genmove` command to the arrival of the reply's first line.

The *referee* scores a game after both engines have passed, in one of three ways, by the match's `referee` setting:

    players    the engines' own `final_score` where both name the same winner, otherwise the estimate
    estimate   our engine reads out which stones are dead, with the network that ships, and scores by the match's rules
    board      every stone on the board is alive (Tromp-Taylor scoring): for engines that capture before they pass

The engines' scores are recorded in every case, and the summary reports games in which the scores differ.

In 92 scored games between GNU Go and the policy of the network that ships, on 9×9, both engines named the same winner,
and in 90 the same score, always the estimate's.  Rollouts, the estimate of earlier versions, gave 8 games to the loser.
"""

import hashlib
import random
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from gtp_engine.arena.match.match_engine import MatchEngine
from gtp_engine.arena.match.records import GameRecord, Reason, Winner
from gtp_engine.arena.match.settings import SIDES, MatchError, MatchSettings, MatchSide, other_side
from gtp_engine.base.errors import (
    CommandFailedError,
    EngineDiedError,
    EngineTimeoutError,
    IllegalMoveError,
    InvalidVertexError,
    SgfError,
    counted,
    shown,
)
from gtp_engine.config import Config
from gtp_engine.go.constants import BLACK, WHITE, opponent
from gtp_engine.go.coords import Color
from gtp_engine.go.game import Game
from gtp_engine.sgf import parse_sgf, read_sgf_file, record_to_game
from gtp_engine.sgf.values import VOID

if TYPE_CHECKING:
    from gtp_engine.engine import Engine


EDGE_LINES: Final = 2
"""Random moves avoid the first two lines, where a stone is often useless.  Boards below `SMALL_BOARD` use every line,
because few points would be left."""

SMALL_BOARD: Final = 7


class Opening(NamedTuple):
    """A position from which the engines go on, and the moves that led there; `name` is written to the game's record."""

    name: str
    game: Game


def load_openings(settings: MatchSettings) -> tuple[list[Opening], str]:
    """Return the openings in the order of the pairs of games, and a hash of those in a folder, "" without a folder.

    A list shorter than the pairs is repeated.  The hash is the SHA-256 of the records, names and contents.  Raises
    MatchError for a folder without usable records.
    """
    if settings.openings:
        return _from_folder(Path(settings.openings), settings)
    if settings.random_plies:
        numbers = range(settings.opening(settings.games) + 1)
        return [Opening(f"random {number + 1}", _after_random_moves(number, settings)) for number in numbers], ""
    return [Opening("", _new_game(settings))], ""


def _new_game(settings: MatchSettings) -> Game:
    """Return a game under the match's rules, with the handicap stones."""
    game = Game(settings.size, rules=settings.parsed_rules(), komi=settings.komi)
    if settings.handicap:
        game.set_handicap(settings.handicap_points())
    return game


def _after_random_moves(number: int, settings: MatchSettings) -> Game:
    """Return a game with legal random moves, which depend on the seed and the number, not on the number of games."""
    generator = random.Random(f"{settings.seed}/{number}")
    margin = EDGE_LINES if settings.size >= SMALL_BOARD else 0
    lines, game = range(margin, settings.size - margin), _new_game(settings)
    for _ in range(settings.random_plies):
        points = [point for point in game.legal_points() if all(line in lines for line in point.xy)]
        if not points:
            break
        game.play(generator.choice(sorted(points)))
    return game


def _from_folder(folder: Path, settings: MatchSettings) -> tuple[list[Opening], str]:
    openings, digest = list[Opening](), hashlib.sha256()
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".sgf")
    except OSError as error:
        raise MatchError(f"cannot read the openings folder {folder}: {error.strerror}") from error
    if not paths:
        raise MatchError(f"the openings folder {folder} holds no .sgf file")
    for path in paths:
        try:
            data = read_sgf_file(str(path))
            openings.append(Opening(path.name, _from_record(data, path, settings)))
        except (SgfError, IllegalMoveError) as error:
            raise MatchError(f"cannot use the opening {path}: {error}") from error
        digest.update(f"{path.name}\n{hashlib.sha256(data).hexdigest()}\n".encode())
    return openings, digest.hexdigest()


def _from_record(data: bytes, path: Path, settings: MatchSettings) -> Game:
    """Return the game in the record of a file, played under the match's own rules."""
    record, size = record_to_game(parse_sgf(data)), settings.size
    if (record.width, record.height) != (size, size):
        raise MatchError(f"the opening {path} is for {record.width}×{record.height}, the match is {size}×{size}")
    game = _new_game(settings)
    if record.setup_stones:
        game.set_up(record.setup_stones, record.first_player)
    for move in record.moves:
        game.play(move)
    game.to_play = record.to_play
    if game.is_over or game.has_no_result:
        given = f"the opening {path} ends with two passes" if game.is_over else f"the opening {path} has no result"
        raise MatchError(given, expected="a game that goes on", advice="cut it after some moves")
    return game


_ESTIMATOR: Final = {"search.threads": "1", "network.network_threads": "1"}
"""The engine that reads out dead stones uses one core, because other games may be running."""

_SEED: Final = 1
"""Seed of each estimate, so that a position always gets the same score."""

_SCORE = re.compile(r"([BW])\+(\d+(?:\.\d*)?)", re.IGNORECASE)


def normalize_score(text: str) -> str:
    """Return a score in GTP's form without trailing zeros: "B+3", "W+0.5", "0"; other text unchanged.

    >>> normalize_score("b+3.0"), normalize_score("W+0.50"), normalize_score("B+0.0"), normalize_score("?")
    ('B+3', 'W+0.5', '0', '?')
    """
    text = text.strip()
    match = _SCORE.fullmatch(text)
    if match is None:
        return text
    margin = float(match.group(2))
    return f"{match.group(1).upper()}+{margin:g}" if margin else "0"


class Referee:
    """Scores games that ended with two passes.  Safe to use from several threads.

    The estimating engine is created when it is first needed; a match of engines that resign never needs it.
    """

    def __init__(self, settings: MatchSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._engine: Engine | None = None

    def decide(self, game: Game, players: Sequence[MatchEngine]) -> dict[str, str]:
        """Return the scores by "referee", and by "first" and "second" if those engines give one."""
        scores = {player.side: normalize_score(score) for player in players if (score := player.final_score())}
        if self._settings.referee == "board":
            decision = str(game.score())
        elif self._settings.referee == "players" and (agreed := agreed_score(list(scores.values()))):
            decision = agreed
        else:
            with self._lock:
                decision = self._estimate(game)
        return {"referee": decision} | {side: scores[side] for side in SIDES if side in scores}

    def _estimate(self, game: Game) -> str:
        """Return the score without the stones that our engine finds dead."""
        if self._engine is None:
            from gtp_engine.engine import Engine  # here: they import numba, the search and what runs networks
            from gtp_engine.nn.loading import load_evaluator
            from gtp_engine.nn.named_networks import shipped_folder

            config = Config().with_values({**_ESTIMATOR, "network.model": str(shipped_folder())})
            self._engine = Engine(config, evaluator=load_evaluator(config.network, log=lambda line: None))
        self._engine.set_seed(_SEED)
        self._engine.set_game(game.copy())
        return str(self._engine.score())

    def close(self) -> None:
        """Close the estimating engine, if there is one."""
        if self._engine is not None:
            self._engine.close()


def agreed_score(scores: Sequence[str]) -> str | None:
    """Return the smaller of two scores that name the same winner, or "0" if both are draws, otherwise None.

    >>> agreed_score(["W+9", "W+8"]), agreed_score(["0", "0"]), agreed_score(["B+1", "0"]), agreed_score(["W+8"])
    ('W+8', '0', None, None)
    """
    if len(scores) < len(SIDES) or len({score[:1] for score in scores}) > 1:
        return None
    if not all(score == "0" or _SCORE.fullmatch(score) for score in scores):
        return None
    return min(scores, key=lambda score: float(score[2:] or 0))


class FinishedGame(NamedTuple):
    """A finished game: its record for the statistics, and the game itself for the SGF."""

    record: GameRecord
    game: Game


@dataclass(frozen=True)
class _Ending:
    """How a game ended: RE, the winner, the reason, a sentence of detail, and the scores where it was scored."""

    result: str
    winner: Winner
    reason: Reason
    detail: str = ""
    scores: dict[str, str] = field(default_factory=dict)


def play_game(
    number: int, opening: Opening, engines: Mapping[MatchSide, MatchEngine], settings: MatchSettings, referee: Referee
) -> FinishedGame:
    """Play game `number` and return it with its record; either of the engines may have died when this returns.

    Raises MatchError when the game cannot be set up; neither engine has lost then.
    """
    game, black = opening.game.copy(), settings.black(number)
    seats = {BLACK: engines[black], WHITE: engines[other_side(black)]}
    for color, player in seats.items():
        player.sit_down(color)
    ending = _play(game, seats, settings, referee)
    placed = [f"{int(move.color)}{game.vertex(move.point)}" for move in (*game.setup_stones, *game.moves)]
    record = GameRecord(
        game=number,
        opening=opening.name,
        black=black,
        moves=len(game.moves),
        think_times={side: [round(seconds, 3) for seconds in engines[side].think_times] for side in SIDES},
        overruns={side: engines[side].overruns for side in SIDES},
        digest=hashlib.sha256(f"{len(game.moves)} {' '.join(placed)}".encode()).hexdigest()[:16],
        **vars(ending),
    )
    return FinishedGame(record, game)


def _play(game: Game, seats: dict[int, MatchEngine], settings: MatchSettings, referee: Referee) -> _Ending:
    """Prepare both engines, and let them move in turn until the game has ended."""
    for color, player in seats.items():
        try:
            player.set_up_game(game)
        except (EngineDiedError, EngineTimeoutError) as error:
            return _won_by(seats[opponent(color)], "failure", str(error))
    while not game.is_over:
        if game.has_no_result:
            return _Ending(VOID, "draw", "cycle", "no result: a position occurred for the third time")
        if len(game.moves) >= settings.max_moves:
            return _Ending(VOID, "none", "max_moves", f"stopped after {counted(settings.max_moves, 'move')}")
        ending = _one_move(game, seats[game.to_play], seats[opponent(game.to_play)])
        if ending is not None:
            return ending
    scores = referee.decide(game, list(seats.values()))
    winners: dict[str, Winner] = {"B": seats[BLACK].side, "W": seats[WHITE].side}
    return _Ending(scores["referee"], winners.get(scores["referee"][:1], "draw"), "score", scores=scores)


def _one_move(game: Game, mover: MatchEngine, waiting: MatchEngine) -> _Ending | None:
    """Request a move from one engine, check it and send it to the other; return the ending if it ended the game."""
    try:
        mover.send_time_left()
        reply = mover.send_genmove(mover.color)
    except (CommandFailedError, EngineDiedError, EngineTimeoutError) as error:
        return _won_by(waiting, "failure", str(error))
    mover.think_times.append(reply.seconds)
    if mover.loses_on_time(reply.seconds):
        return _won_by(waiting, "time", f"{mover.side} took {reply.seconds:.2f} s for its last move")
    if reply.text.lower() == "resign":
        return _won_by(waiting, "resign")
    try:
        played = game.play(reply.text, mover.color)
    except InvalidVertexError:
        return _won_by(waiting, "illegal", f"{mover.side} answered {shown(reply.text)} to genmove")
    except IllegalMoveError as error:
        return _won_by(waiting, "illegal", f"{mover.side} played {shown(reply.text)}: {error}")
    try:
        waiting.play_moves(game, [played])
    except CommandFailedError as error:
        refusal = f"{waiting.side} refused the legal move {played.point.vertex}: {error.reply}"
        return _won_by(mover, "refused", refusal)
    except (EngineDiedError, EngineTimeoutError) as error:
        return _won_by(mover, "failure", str(error))
    return None


def _won_by(winner: MatchEngine, reason: Reason, detail: str = "") -> _Ending:
    """Return the ending of a game that is not scored; RE names resignation, time, or a forfeit."""
    suffix = {"resign": "R", "time": "T"}.get(reason, "F")
    return _Ending(f"{Color(winner.color).letter}+{suffix}", winner.side, reason, detail)
