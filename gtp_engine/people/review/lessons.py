"""What players can learn from a review: positions to solve, what people of their rank play, and how they have done.

    completed        a review with lessons, with what people play, and with the ranks that the moves look like
    People           the human-like network, and the rank estimate that belongs to it
    LearningRecord   what was solved over games, in a file

A lesson is the position before one of a player's biggest mistakes.  The moves that the search considered, and those
that people of the player's rank are likely to play, are compared by a search after each of them; see `Answer.is_right`.
"""

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.base.errors import ModelError, TengenError
from gtp_engine.base.files import json_of, write_whole
from gtp_engine.base.streams import Log, write_log
from gtp_engine.config import Config
from gtp_engine.config.human import DAN_RANKS, KYU_RANKS, MOVES_OF_RANK, HumanProfile, rank_name, rank_number
from gtp_engine.engine.level_table import HUMAN_MODEL, table_path
from gtp_engine.evaluation.evaluator import Evaluator, evaluated
from gtp_engine.evaluation.from_game import conditions_of, replayed_rows, write_conditions, write_game
from gtp_engine.evaluation.positions import Positions, new_positions, take_rows
from gtp_engine.go.constants import BLACK, PASS, WHITE, opponent
from gtp_engine.go.coords import to_color
from gtp_engine.go.game import Game
from gtp_engine.nn.evaluators import human_evaluator_of
from gtp_engine.nn.named_networks import model_path
from gtp_engine.people.rank_estimate import (
    RANKS_ENDING,
    RankTable,
    check_comparable,
    estimate,
    measured_moves,
    read_rank_table,
)
from gtp_engine.people.review.game_analysis import GameAnalysis
from gtp_engine.people.review.game_line import GameLine, GamePosition
from gtp_engine.people.review.game_review import (
    Answer,
    Finding,
    GameReview,
    Lesson,
    PeopleChoice,
    PlayedLike,
    PlayedMove,
    points_lost,
    seen_by,
)
from gtp_engine.sgf.record import replay
from gtp_engine.sgf.values import parse_rank

_RANKS_ABOVE: Final = (1, 2, 5)
"""How many ranks stronger those are whose moves are compared with a player's mistakes."""
_NEXT: Final = 2
"""Ranks above a player from which mistakes are learned next."""
_RARER: Final = 0.85
_TYPICAL: Final = 0.02
"""A mistake is worth studying next if _NEXT ranks above at most _RARER times as many people play it, by the human-like
network, and if _TYPICAL of the player's rank do at least: a slip that no rank makes teaches nothing.  In games between
people such mistakes were in fact made 0.59 ± 0.22 times as often (95%) two ranks above, by as many moves; those with a
share of 0.85 to 0.95 there 0.98 ± 0.29 times (`docs/notes/2026-11-28-reviews.md`)."""

_LIKELY_MOVES: Final = 8
_LEAST_SHARE: Final = 0.01
"""Moves of people that a lesson compares at most, and how many of them play such a move at least."""
_VISITS_SHARE: Final = 0.25
"""Visits of the search after a move of a lesson, as a share of those of a position of the game."""
_KNOWN_VISITS: Final = 16
"""Visits with which the search has compared a move well enough."""

Shares = NDArray[np.float32]


class People:
    """What people play, by the human-like network, and what their rank is, by the `table` that belongs to it, if any.

    For any thread.
    """

    def __init__(self, strong: Evaluator, human: Evaluator, table: RankTable | None) -> None:
        self._human: Final = human
        self._measure: Final = partial(measured_moves, strong, human, most=MOVES_OF_RANK)
        self._table: Final = table
        self._lock: Final = threading.Lock()
        self.name: Final = human.info.name

    def plays_on(self, game: Game) -> bool:
        """Return whether the network plays on a board of this size."""
        return self._human.info.boards.include(game.width, game.height)

    def played_like(self, line: GameLine, color: int) -> PlayedLike:
        """Return the rank that the moves of a player look like, or why it cannot be told."""
        record = line.record
        text = record.black_rank if color == BLACK else record.white_rank
        given = _comparable(parse_rank(text or ""))
        if self._table is None:
            return PlayedLike(note=f"the network {self.name} has no table of ranks", rank=given)
        try:
            game = line.positions[-1].game
            check_comparable(record, game)
            with self._lock:
                moves = self._measure(game, color)
            found = estimate(self._table, [moves])
        except TengenError as error:
            return PlayedLike(note=str(error), rank=given)
        return PlayedLike(found.to_json(), rank=given or rank_name(found.rank))

    def choices(self, line: GameLine, moves: Sequence[PlayedMove], ranks: Mapping[str, str]) -> "list[PeopleChoice]":
        """Return what people of the `ranks` of both colors play in the position before each move; raises SgfError."""
        replayed, games = replay(line.record, line.rules, line.komi), [position.game for position in line.positions]
        positions = replayed_rows(replayed, range(len(moves)), games[0].width, games[0].height)
        own = self._shares(games, positions, [ranks[move.color] for move in moves], range(len(moves)))
        of_others: dict[int, dict[str, float]] = {move.number: {} for move in moves if move.is_mistake}
        numbers = list(of_others)
        for above in (0, *_RANKS_ABOVE) if numbers else ():
            others = [_above(ranks[moves[number - 1].color], above) for number in numbers]
            shares = self._shares(games, positions, others, [number - 1 for number in numbers])
            for row, (number, rank) in enumerate(zip(numbers, others, strict=True)):
                of_others[number][rank] = round(float(shares[row, line.moves[number - 1].point]), 4)
        choices = []
        for row, move in enumerate(moves):
            game, likeliest = line.positions[row].game, int(own[row].argmax())
            choices.append(
                PeopleChoice(
                    rank=ranks[move.color],
                    vertex=game.vertex(likeliest),
                    share=round(float(own[row, likeliest]), 4),
                    played_share=round(float(own[row, line.moves[row].point]), 4),
                    shares=of_others.get(move.number, {}),
                )
            )
        return choices

    def likely(self, line: GameLine, number: int, rank: str) -> list[int]:
        """Return the points that people of a rank are likely to play at move `number`, the likeliest first."""
        shares = self.shares(line.positions[number - 1].game, rank)
        points = np.argsort(-shares)[:_LIKELY_MOVES]
        return [int(point) for point in points if shares[point] >= _LEAST_SHARE and point != PASS]

    def shares(self, game: Game, rank: str) -> Shares:
        """Return the share of people of a rank who play each point in the position of a game, float32[points]."""
        positions = new_positions(1, game.width, game.height)
        write_game(positions, 0, game)
        found: Shares = self._shares([game], positions, [rank], [0])[0]
        return found

    def _shares(self, games: Sequence[Game], positions: Positions, ranks: Sequence[str], rows: Sequence[int]) -> Shares:
        """Return the policy of people of each of the ranks in these rows: [rows, points]."""
        chosen = take_rows(positions, rows)
        for i, (row, rank) in enumerate(zip(rows, ranks, strict=True)):
            number = rank_number(rank)
            profile = HumanProfile("rank", number, number).code
            write_conditions(chosen, i, conditions_of(games[row])._replace(human_profile=profile))
        with self._lock:
            return evaluated(self._human, chosen).policy

    def close(self) -> None:
        """Free the human-like network."""
        self._human.close()


def _comparable(rank: str | None) -> str | None:
    """Return the rank among those that the network imitates that is nearest to `rank`; None for none."""
    if rank is None:
        return None
    if rank.endswith("p"):
        return rank_name(1)
    return rank_name(min(rank_number(rank), DAN_RANKS + KYU_RANKS))


def _above(rank: str, ranks: int) -> str:
    """Return the rank that is so many ranks stronger, 9d at most."""
    return rank_name(max(1, rank_number(rank) - ranks))


def open_people(config: Config, strong: Evaluator | None, log: Log = write_log) -> People | None:
    """Return the people of the configuration's human-like network, or of the one that ships; None without a network.

    Raises ModelError for a network that was named and cannot be loaded.
    """
    found = None if strong is None else human_network(config, log)
    return None if strong is None or found is None else People(strong, *found)


def human_network(config: Config, log: Log) -> tuple[Evaluator, RankTable | None] | None:
    """Return the human-like network of `open_people`, and the table of ranks that belongs to it, if any."""
    if not config.wants_network:
        return None
    name = config.network.human_model or HUMAN_MODEL
    try:
        human = human_evaluator_of(config.with_values({"network.human_model": name}), log)
        assert human is not None, "it is named"
        path = table_path(model_path(name), human.info.name, RANKS_ENDING)
        return human, read_rank_table(path) if path.exists() else None
    except ModelError as error:
        if config.network.human_model is not None:
            raise
        log(f"reviews do not say what people play: {error}")
        return None


# Lessons


def completed(review: GameReview, analysis: GameAnalysis | None, people: People | None = None) -> GameReview:
    """Return the review with lessons, and with what `people` play; raises what the evaluators raise.

    Without an `analysis`, or if time limits it, the lessons have the moves that the review has looked at already.
    """
    line, first = review.line, review.line.positions[0].game
    if people is not None and people.plays_on(first):
        review = _with_people(review, people)
    mistakes = sorted((move for color in "BW" for move in review.mistakes_of(color)), key=lambda move: move.number)
    known = [_known_answers(review, move) for move in mistakes]
    visits = None if analysis is None else analysis.effort.first_visits(line.points)
    if analysis is not None and visits is not None:
        wanted = []
        for move, answers in zip(mistakes, known, strict=True):
            points: set[int] = {first.point(each.vertex) for each in review.findings[move.number - 1].candidates}
            if people is not None and move.people is not None:
                points.update(people.likely(line, move.number, move.people.rank))
            others = _positions_after(line, move.number, sorted(points - {PASS, *map(first.point, answers)}))
            wanted += [(move, answers, vertex, position) for vertex, position in others.items()]
        found = analysis.look_at([position for *_, position in wanted], max(2, round(_VISITS_SHARE * visits)))
        for (move, answers, vertex, _), after in zip(wanted, found, strict=True):
            best = seen_by(move.color, review.findings[move.number - 1])[1]
            lost = points_lost(best, seen_by(move.color, after)[1])
            answers[vertex] = Answer(vertex, lost, (vertex, *_line(after)))
    lessons = []
    for move, answers in zip(mistakes, known, strict=True):
        compared = tuple(sorted(answers.values(), key=lambda answer: answer.points_lost))
        lessons.append(Lesson(move.number, compared, is_next=_is_next(move.people)))
    return replace(review, lessons=tuple(lessons))


def _with_people(review: GameReview, people: People) -> GameReview:
    line = review.line
    found = {to_color(color).letter: people.played_like(line, color) for color in (BLACK, WHITE)}
    ranks = {color: each.rank for color, each in found.items() if each.rank is not None}
    if len(ranks) == 1:  # of a player who is not known more is not said than that opponents are alike
        (known,) = ranks.values()
        ranks = dict.fromkeys(found, known)
    if not ranks:
        return replace(review, played_like=found)
    choices = people.choices(line, review.moves, ranks)
    moves = tuple(replace(move, people=choice) for move, choice in zip(review.moves, choices, strict=True))
    return replace(review, moves=moves, played_like=found)


def _known_answers(review: GameReview, move: PlayedMove) -> dict[str, Answer]:
    """Return what the review knows of moves in the position before a mistake, by vertex."""
    before, after = review.findings[move.number - 1], review.findings[move.number]
    best = before.best
    known = {}
    for candidate in before.candidates:
        if candidate is best or candidate.visits >= _KNOWN_VISITS:
            lost = points_lost(seen_by(move.color, before)[1], seen_by(move.color, candidate)[1])
            known[candidate.vertex] = Answer(candidate.vertex, 0.0 if candidate is best else lost, candidate.pv)
    known[move.vertex] = Answer(move.vertex, move.points_lost, (move.vertex, *_line(after)))
    return known


def _positions_after(line: GameLine, number: int, points: Iterable[int]) -> dict[str, GamePosition]:
    """Return the positions after other moves than move `number`, by vertex, without those that the rules forbid."""
    before, color = line.positions[number - 1], line.moves[number - 1].color
    found = {}
    for point in points:
        game = before.game.copy()
        with suppress(TengenError):
            game.play(point, color)
            found[game.vertex(point)] = GamePosition(number, game, opponent(color))
    return found


def _line(finding: Finding) -> tuple[str, ...]:
    """Return how the search goes on from a position."""
    return () if finding.best is None else finding.best.pv


def _is_next(people: PeopleChoice | None) -> bool:
    """Return whether players a little stronger make a mistake less often."""
    if people is None:
        return False
    own, above = (people.shares.get(rank, 0.0) for rank in (people.rank, _above(people.rank, _NEXT)))
    return own >= _TYPICAL and above <= _RARER * own


# What was learned


class LearningRecord:
    """What was solved over games, in a file: by the review's key and the move's number, how it was solved first.

    A lesson is "first" (solved at the first try), "later" or "shown"; raises OSError where the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path: Final = path

    def add(self, game: str, number: int, how: str) -> None:
        """Count a lesson; one that was shown may be solved later, one that was solved stays so."""
        games = self._read()
        known = games.pop(game, {})
        if known.get(str(number)) in (None, "shown"):
            known[str(number)] = how
        games[game] = known
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self._path, json.dumps(dict(list(games.items())[-_MOST_GAMES:])) + "\n")

    def of(self, game: str) -> dict[int, str]:
        """Return how the lessons of a game were solved, by the numbers of their moves."""
        return {int(number): how for number, how in self._read().get(game, {}).items()}

    def counts(self) -> dict[str, int]:
        """Return the numbers of games and lessons, and of those solved, at once or later: "games", "lessons", …."""
        games = [known for known in self._read().values() if known]
        every = [how for known in games for how in known.values()]
        return {
            "games": len(games),
            "lessons": len(every),
            "solved": sum(how != "shown" for how in every),
            "first": every.count("first"),
        }

    def _read(self) -> dict[str, dict[str, str]]:
        try:
            data: Any = json_of(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return data if isinstance(data, dict) else {}


_MOST_GAMES: Final = 1000
"""Games that are counted; the oldest are forgotten."""
