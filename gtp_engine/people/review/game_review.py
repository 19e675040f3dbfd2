"""GameReview: the moves of a game with what each lost, the accuracy of both players, and the biggest mistakes.

It is made of what a search found in each position (`Finding`), plain values that are rounded once, so that every output
shows the same.  Winrates are in [0, 1] and leads in points, both Black's.

Points lost by a move: the lead of its side under the best move that the search found, less its lead in the position
after the move, but never less than 0 (`points_lost`); a move that is the search's own choice loses nothing.  Winrates
likewise.  Moves after which the record changes the position are not compared, and lose nothing.

Mistakes are weighed by the winrate that they lost while the game was undecided, and by points afterwards.

Accuracy: the mean over a player's moves of 100 · 2^(−points lost / HALF_POINTS).  Its interval is that of the mean of a
sample, the moves, with 95% confidence (1.96 standard errors), cut off at 0 and 100.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import sqrt
from typing import Any, Final, NamedTuple

import numpy as np

from gtp_engine import __version__
from gtp_engine.base.former_names import former_property
from gtp_engine.go.constants import PASS
from gtp_engine.go.coords import BLACK, Move, board_points, to_color
from gtp_engine.go.diagram import CHARACTERS
from gtp_engine.go.game import Game
from gtp_engine.people.review.game_line import GameLine, GamePosition, Variation
from gtp_engine.search.report import FEW_VISITS, MoveReport, Outlook, SearchReport
from gtp_engine.sgf.values import format_rules

MOST_CANDIDATES: Final = 6
"""Candidates kept of each position: as many as a board can show at a time without being covered."""

MOST_POINTS: Final = 1000.0
"""Points that a lead may have, in a review that is read: more than a board of 25 lines has."""

LONGEST_LINE: Final = 12
"""Moves kept of each continuation; beyond it a search of some hundred visits has looked at single lines only."""

FORMAT: Final = "tengen-review-2"
"""The value of `format` in the JSON."""

HALF_POINTS: Final = 3.0
"""Points lost with which a move counts half in the accuracy: about what a small endgame move is worth."""

CONFIDENCE: Final = 1.96
"""Standard errors on each side of a mean, for a confidence of 95%."""

BIGGEST: Final = 5
"""How many of the biggest mistakes of a player a review lists."""

RIGHT: Final = 1.0
"""Points lost below which a move is right."""

DECISIVE: Final = 0.1
"""Winrate lost from which on a move of an undecided game is a mistake, however few points from RIGHT on it loses."""

BLUNDERS: Final = (2, 5, 10)
"""Points lost from which on moves are counted."""

DOUBTFUL: Final = 2.0
BAD: Final = 5.0
"""Points lost from which on a move is marked as doubtful or bad."""

SURPRISING: Final = 0.05
"""Largest prior of a move that is marked as interesting, or as a fine move, if it loses nothing."""

NOTHING: Final = 0.5
"""Points lost up to which a surprising move is interesting: within the noise of two searches."""

OPEN_WINRATES: Final = (0.05, 0.95)
"""Winrates between which a game is undecided; beyond, an unusual move need not be interesting."""

FINE_GAIN: Final = 2.0
"""Points by which a fine move is better than every other candidate."""

OPENING_SHARE: Final = 0.14
MIDDLE_SHARE: Final = 0.42
"""Moves played, as a share of the board's points, at which the opening and the middle game end: on 19×19 moves 50 and
151, on 9×9 moves 11 and 34."""

PHASES: Final = ("opening", "middle game", "endgame")

_PROGRAMS: Final = re.compile(r"(?i)(tengen|kata|gnu ?go|leela|pachi|fuego|zen\b|crazy ?stone|.*bot\b)")
"""Names of engines, as they begin, and of bots."""


@dataclass(frozen=True)
class Candidate:
    """A move that the search considered, with the continuation it expects (`pv`, the move itself first).

    `winrate` is from 0 to 1 and `lead` in points, both of the side to play; `prior` is the network's probability.
    """

    vertex: str
    visits: int
    winrate: float
    lead: float
    prior: float
    pv: tuple[str, ...]

    line = former_property("Candidate", "line", "pv", gone="3.0")


@dataclass(frozen=True)
class Finding:
    """What the search found in the position after `number` moves.

    `winrate` and `lead` are those of the best move, or of the position if that move has few visits.  `stones` is the
    board, row by row from the upper left corner: "X" black, "O" white, "." empty.  `ownership` is the expected owner of
    each point in percent in the same order, 100 Black's and −100 White's.  `played_prior` is the network's prior of the
    move that was played, None in the last position.
    """

    number: int
    to_play: str
    visits: int
    winrate: float
    lead: float
    stones: str
    candidates: tuple[Candidate, ...]
    ownership: tuple[int, ...]
    played_prior: float | None = None

    @property
    def best(self) -> Candidate | None:
        """The move that the search would play."""
        return self.candidates[0] if self.candidates else None

    def to_json(self) -> dict[str, Any]:
        """Return it as values of JSON; there `pv` is `line`."""
        found = asdict(self)
        renamed = [{"line" if name == "pv" else name: each[name] for name in each} for each in found["candidates"]]
        return found | {"candidates": renamed}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Finding":
        """Return what `to_json` wrote; raises KeyError or TypeError for anything else."""
        candidates = tuple(
            Candidate(pv=tuple(each["line"]), **{name: value for name, value in each.items() if name != "line"})
            for each in data["candidates"]
        )
        return cls(**{**data, "candidates": candidates, "ownership": tuple(data["ownership"])})


def finding_of(position: GamePosition, report: SearchReport) -> Finding:
    """Return what a search of a position found."""
    game, played = position.game, position.played
    points = board_points(game.width, game.height)
    seen = outlook_of(report, BLACK)
    moves = [move for move in report.moves if move.symmetry_of is None][:MOST_CANDIDATES]
    prior = None if played is None or report.raw is None else round(float(report.raw.policy[played]), 4)
    return Finding(
        number=position.number,
        to_play=to_color(position.to_play).letter,
        visits=report.visits,
        winrate=round(seen.winrate, 4),
        lead=round(seen.lead, 2),
        stones=stones_of(game),
        candidates=tuple(_candidate(move, position) for move in moves),
        ownership=tuple(int(each) for each in np.rint(100 * report.ownership_black[list(points)])),
        played_prior=prior,
    )


def outlook_of(report: SearchReport, color: int) -> Outlook:
    """Return what a position is worth to `color`: what its best move is, or all of them if that has few visits."""
    best = report.best
    return (report if best is None or best.visits < FEW_VISITS else best).seen_by(color)


def points_lost(best: float, after: float) -> float:
    """Return what a move loses, given the leads of its side under the best move and after its own."""
    return round(max(0.0, best - after), 2)


def stones_of(game: Game) -> str:
    """Return the stones of a position as a finding has them."""
    return "".join(CHARACTERS[game.color_at(point)] for point in board_points(game.width, game.height))


def seen_by(color: str, found: Candidate | Finding) -> tuple[float, float]:
    """Return winrate and lead of a position or a move as a colour, "B" or "W", sees them."""
    return (found.winrate, found.lead) if color == "B" else (1.0 - found.winrate, -found.lead)


def _candidate(move: MoveReport, position: GamePosition) -> Candidate:
    game, seen, line = position.game, move.seen_by(BLACK), move.pv[:LONGEST_LINE]
    ends = (i for i in range(2, len(line)) if line[i - 2] == line[i - 1] == PASS)  # the game would be over
    return Candidate(
        vertex=game.vertex(move.point),
        visits=move.visits,
        winrate=round(seen.winrate, 4),
        lead=round(seen.lead, 2),
        prior=round(move.prior, 4),
        pv=tuple(map(game.vertex, line[: next(ends, None)])),
    )


@dataclass(frozen=True)
class PeopleChoice:
    """What people of `rank` play in a position: their likeliest move, how many play it, and how many the one played.

    `shares` says the latter of other ranks too, from the weakest on; only of mistakes.
    """

    rank: str
    vertex: str
    share: float
    played_share: float
    shares: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class PlayedMove:
    """A move of the game; `number` counts from 1, and winrates and leads are in the findings before and after it.

    `winrate_lost` is from 0 to 1, `points_lost` in points, both of the player and 0 where nothing was lost.
    `best` is the move that the search would have played, `mark` an SGF property: BM bad, DO doubtful, IT interesting,
    TE fine; None for most moves.  `is_decided` says whether the game was decided before and after it.  `seconds` is the
    time that it took, if the record has it.
    """

    number: int
    color: str
    vertex: str
    points_lost: float
    winrate_lost: float
    best: str | None
    phase: str
    mark: str | None
    is_decided: bool = False
    seconds: float | None = None
    people: PeopleChoice | None = None

    @property
    def is_mistake(self) -> bool:
        """Whether the move lost enough to be marked."""
        is_decisive = not self.is_decided and self.winrate_lost >= DECISIVE and self.points_lost >= RIGHT
        return self.points_lost >= DOUBTFUL or is_decisive

    @property
    def weight(self) -> tuple[bool, float, float]:
        """What mistakes are ordered by: winrate lost in an undecided game; then points lost in a decided one."""
        return not self.is_decided, 0.0 if self.is_decided else self.winrate_lost, self.points_lost


def _biggest(moves: Iterable[PlayedMove]) -> list[PlayedMove]:
    """Return the biggest mistakes among the moves, the biggest first; of those that missed one move, the biggest."""
    found = sorted((move for move in moves if move.is_mistake), key=lambda move: move.number)
    found.sort(key=lambda move: move.weight, reverse=True)
    heaviest = {(move.color, move.best or move.number): move for move in reversed(found)}
    return [move for move in found if heaviest[move.color, move.best or move.number] is move][:BIGGEST]


@dataclass(frozen=True)
class Answer:
    """A move in a position to solve: the points that it loses, and its continuation, the move itself first."""

    vertex: str
    points_lost: float
    line: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        """Whether the move loses less than RIGHT points."""
        return self.points_lost < RIGHT


@dataclass(frozen=True)
class Lesson:
    """The position before mistake `number`, to be solved: the moves that were looked at, the best first.

    `is_next` marks a mistake that is worth studying next: players one or two ranks above make it less often.
    """

    number: int
    answers: tuple[Answer, ...]
    is_next: bool = False


@dataclass(frozen=True)
class PlayedLike:
    """The rank that a player's moves look like (`RankEstimate.to_json`), or in `note` why it cannot be told.

    `rank` is the one with whose players the mistakes are compared: the record's, or else that of the moves.
    """

    estimate: Mapping[str, Any] | None = None
    note: str | None = None
    rank: str | None = None


@dataclass(frozen=True)
class Side:
    """One player's moves in numbers; `blunders` counts moves by points lost, `by_phase` has means of points lost.

    `accuracy` is in percent, with the interval of 95% that it lies in, and `mean_points_lost` in points a move.
    Accuracies and means are None for a player, or in a phase, without moves.  `mistakes` are numbers of the biggest
    mistakes, the biggest first; `seconds` is the mean time of a move, as far as it is known.
    """

    name: str | None
    rank: str | None
    moves: int
    accuracy: float | None
    accuracy_interval: tuple[float, float] | None
    mean_points_lost: float | None
    best_moves: int
    blunders: dict[str, int]
    by_phase: dict[str, float | None]
    mistakes: tuple[int, ...]
    seconds: float | None
    played_like: PlayedLike


class ReviewedVariation(NamedTuple):
    """A reviewed variation: `findings[k]` is about the position after `moves[k]`; `start` about the one before."""

    line: Variation
    start: Finding
    moves: tuple[PlayedMove, ...]
    findings: tuple[Finding, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as values of JSON."""
        return {
            "before": self.line.positions[0].before,
            "moves": [asdict(move) for move in self.moves],
            "positions": [finding.to_json() for finding in self.findings],
        }


@dataclass(frozen=True)
class GameReview:
    """A reviewed game: `findings[k]` is about the position after k moves, `moves[k]` the move played there."""

    line: GameLine
    findings: tuple[Finding, ...]
    moves: tuple[PlayedMove, ...]
    network: str
    variations: tuple[ReviewedVariation, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    played_like: Mapping[str, PlayedLike] = field(default_factory=dict)
    player: str | None = None
    """The name of the player for whom the review is made, if known."""

    def to_records(self) -> list[dict[str, Any]]:
        """Return a row for each move of the game, as tables such as pandas.DataFrame take them: plain values by name.

        Beside the fields of `PlayedMove` (without `people`) they have `winrate` and `lead` in points after the move,
        both Black's, and `visits` of the search of that position.
        """
        rows = []
        for move, after in zip(self.moves, self.findings[1:], strict=False):
            row = {name: value for name, value in vars(move).items() if name != "people"}
            rows.append({**row, "winrate": after.winrate, "lead": after.lead, "visits": after.visits})
        return rows

    @property
    def mistakes(self) -> list[PlayedMove]:
        """The biggest mistakes of both players, the biggest first, up to five; see `PlayedMove.weight`."""
        return _biggest(self.moves)

    def mistakes_of(self, color: int | str) -> list[PlayedMove]:
        """Return the biggest mistakes of a player, the biggest first, up to five; raises InvalidColorError."""
        letter = to_color(color).letter
        return _biggest(move for move in self.moves if move.color == letter)

    @property
    def person(self) -> str | None:
        """The color of the player for whom the review is made: `player`, or else a person against an engine."""
        record = self.line.record
        names, player = {"B": record.black_name or "", "W": record.white_name or ""}, (self.player or "").strip()
        people = [color for color, name in names.items() if not _PROGRAMS.match(name)]
        named = [color for color, name in names.items() if name.strip().casefold() == player.casefold()]
        found = people if self.player is None else named
        return found[0] if len(found) == 1 else None

    def side(self, color: int | str) -> Side:
        """Return the statistics of a player; raises InvalidColorError."""
        letter = to_color(color).letter
        is_black = letter == "B"
        record, moves = self.line.record, [move for move in self.moves if move.color == letter]
        accuracy, interval = _accuracy(moves)
        seconds = [move.seconds for move in moves if move.seconds is not None]
        return Side(
            name=record.black_name if is_black else record.white_name,
            rank=record.black_rank if is_black else record.white_rank,
            moves=len(moves),
            accuracy=accuracy,
            accuracy_interval=interval,
            mean_points_lost=_mean_lost(moves),
            best_moves=sum(move.vertex == move.best for move in moves),
            blunders={str(least): sum(move.points_lost >= least for move in moves) for least in BLUNDERS},
            by_phase={phase: _mean_lost([move for move in moves if move.phase == phase]) for phase in PHASES},
            mistakes=tuple(move.number for move in self.mistakes_of(color)),
            seconds=round(sum(seconds) / len(seconds), 1) if seconds else None,
            played_like=self.played_like.get(letter, PlayedLike()),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the review as values of JSON; docs/review.md describes them."""
        line, game = self.line, self.line.positions[0].game
        return {
            "format": FORMAT,
            "program": f"Tengen {__version__}",
            "network": self.network,
            "game": {
                "width": game.width,
                "height": game.height,
                "rules": format_rules(line.rules),
                "komi": line.komi,
                "handicap": line.record.handicap,
                "result": line.record.result,
                "date": line.record.date,
                "setup": [[stone.color.letter, game.vertex(stone.point)] for stone in game.setup_stones],
            },
            "players": {color: asdict(self.side(color)) for color in ("B", "W")},
            "person": self.person,
            "mistakes": [move.number for move in self.mistakes],
            "lessons": [asdict(lesson) for lesson in self.lessons],
            "moves": [asdict(move) for move in self.moves],
            "positions": [finding.to_json() for finding in self.findings],
            "variations": [variation.to_json() for variation in self.variations],
            "notes": [*line.record.notes, *line.notes],
        }


def new_review(line: GameLine, findings: Sequence[Finding], network: str) -> GameReview:
    """Return the review of a game from what was found in each of its places."""
    game, count = line.positions[0].game, len(line.positions)
    played = zip(line.moves, findings[: count - 1], findings[1:count], line.positions[1:], strict=True)
    times = line.seconds or (None,) * len(line.moves)
    moves = tuple(replace(played_move(*each), seconds=time) for each, time in zip(played, times, strict=False))
    variations = []
    for variation in line.variations:
        after = findings[count : count + len(variation.moves)]
        branch, first = variation.positions[0].before, game.vertex(variation.moves[0].point)
        assert branch is not None, "no variation has the first position"
        start = findings[branch]
        prior = next((each.prior for each in start.candidates if each.vertex == first), None)
        start = replace(start, played_prior=prior)
        played = zip(variation.moves, [start, *after[:-1]], after, variation.positions, strict=True)
        variations.append(
            ReviewedVariation(variation, start, tuple(played_move(*each) for each in played), tuple(after))
        )
        count += len(after)
    return GameReview(line, tuple(findings[: len(line.positions)]), moves, network, tuple(variations))


def played_move(move: Move, before: Finding, after: Finding, position: GamePosition) -> PlayedMove:
    """Return a move with what it lost; `position` is the one after it."""
    game = position.game
    area = game.width * game.height
    color, vertex = move.color.letter, game.vertex(move.point)
    (winrate, lead), (winrate_after, lead_after) = seen_by(color, before), seen_by(color, after)
    best = None if before.best is None else before.best.vertex
    # A variation may begin with a move of the other side.
    is_compared = before.to_play == color and not position.is_changed
    may_lose = is_compared and vertex != best
    least, most = OPEN_WINRATES
    played = PlayedMove(
        number=after.number,
        color=color,
        vertex=vertex,
        points_lost=points_lost(lead, lead_after) if may_lose else 0.0,
        winrate_lost=round(max(0.0, winrate - winrate_after), 4) if may_lose else 0.0,
        best=best,
        phase=PHASES[(after.number > OPENING_SHARE * area) + (after.number > MIDDLE_SHARE * area)],
        mark=None,
        is_decided=max(winrate, winrate_after) < least or min(winrate, winrate_after) > most,
    )
    return replace(played, mark=_mark(before, played)) if is_compared else played


def _mark(before: Finding, move: PlayedMove) -> str | None:
    """Return the property that marks a move, None for a usual one."""
    if move.is_mistake:
        return "BM" if move.points_lost >= BAD else "DO"
    least, most = OPEN_WINRATES
    is_surprising = before.played_prior is not None and before.played_prior <= SURPRISING
    if move.points_lost > NOTHING or not is_surprising or not least <= before.winrate <= most:
        return None
    leads = [seen_by(before.to_play, candidate)[1] for candidate in before.candidates]
    is_far_better = len(leads) > 1 and all(leads[0] - lead >= FINE_GAIN for lead in leads[1:])
    return "TE" if move.vertex == move.best and is_far_better else "IT"


def _mean_lost(moves: Sequence[PlayedMove]) -> float | None:
    return round(sum(move.points_lost for move in moves) / len(moves), 2) if moves else None


def _accuracy(moves: Sequence[PlayedMove]) -> tuple[float | None, tuple[float, float] | None]:
    """Return accuracy and its interval; without moves there is neither, and one move alone has no interval."""
    if not moves:
        return None, None
    scores = [100.0 * 2.0 ** (-move.points_lost / HALF_POINTS) for move in moves]
    mean = sum(scores) / len(scores)
    if len(scores) == 1:
        return round(mean, 1), None
    variance = sum((score - mean) ** 2 for score in scores) / (len(scores) - 1)
    radius = CONFIDENCE * sqrt(variance / len(scores))
    return round(mean, 1), (round(max(0.0, mean - radius), 1), round(min(100.0, mean + radius), 1))
