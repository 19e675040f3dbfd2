"""The measurement of levels: games between skills, their ratings, and from these the skill of each rank.

1. Games between neighbouring skills of a coarse scale show what a skill is worth.
2. A curve that rises everywhere is fitted to them and inverted: ranks get skills such that they are evenly spaced.
3. Games between every second or every fourth rank and the next of these check the spacing.  On large boards, games with
   a handicap check that a stone makes up for a rank.
4. The curve may be fitted again to all games so far.  Those with a handicap tell what a stone is worth, which is the
   spacing of ranks on large boards.

Every game is appended to a file as it ends, so that an interrupted measurement goes on where it stopped.  All games
together then rate the ranks.

The games are played side by side inside this process (`training.selfplay.policy_games`).  Both sides choose their moves
as `engine.level_play` does (`level_drawing`), but the network decides when a game ends: a side passes where a pass is
its best move, neither resigns, a game that has been decided for a while stops, and the winner is the side that the
network expects to win.  A long cycle is a draw.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.arena.elo import ELO_PER_NAT, Z_95, RatingArray, elo_difference, fit_strengths, wilson_interval
from gtp_engine.base.errors import TengenError, counted, shown_path
from gtp_engine.base.files import append, complete_lines, json_of
from gtp_engine.base.streams import Log
from gtp_engine.config.sections import LEVELS
from gtp_engine.engine.level_drawing import Question, choose_move, found_at
from gtp_engine.engine.level_table import BOTTOM_SKILL, TOP_SKILL, LevelSettings, settings_of
from gtp_engine.evaluation.evaluator import Evaluator, Request
from gtp_engine.evaluation.from_game import conditions_of, write_conditions, write_game
from gtp_engine.evaluation.positions import (
    GOES_ON,
    Evaluation,
    Positions,
    advance_row,
    board_size,
    new_evaluation,
    take_rows,
)
from gtp_engine.go.constants import BLACK, PASS, padded_length
from gtp_engine.go.game import Game
from gtp_engine.go.handicap import HANDICAP_KOMI, free_handicap_points
from gtp_engine.go.rules import PRESETS
from gtp_engine.search.puct.tree_report import raw_evaluation
from gtp_engine.training.selfplay.plans import GamePlan
from gtp_engine.training.selfplay.policy_games import PolicyGames

RULES: Final = "chinese"
KOMI: Final = 7.5

OPENING_SHARE: Final = 0.02
"""Moves of an opening, drawn from the policy itself, as a share of the board's points: 7 on 19×19.  Both games of a
pair begin with the same ones."""

_DECIDED_FROM: Final = 0.45
"""Moves, as a share of the board's points, before which no game stops: until then weak players turn games round."""

KNOTS: Final = (BOTTOM_SKILL, -4.0, 0.0, 4.0, 8.0, 12.0, 15.0, 18.0, 22.0, 25.0, 28.0, 32.0, TOP_SKILL)
"""Skills between which the rating is taken to be linear."""

_PRIOR_SLOPE: Final = 0.45
_PRIOR_WEIGHT: Final = 1.0
_SMOOTHNESS: Final = 100.0
_LEAST_SLOPE: Final = 0.05
"""Expected rise of the rating with a unit of skill, in nats (0.45 is 78 points), the weight of that, one divided by the
variance of the change of this rise from one interval between knots to the next (0.1 nats), and the smallest rise."""

_PRIOR_STONE: Final = 100.0 / ELO_PER_NAT
_PRIOR_STONE_WEIGHT: Final = 4.0
"""Expected worth of a handicap stone, in nats (100 points), and its weight; 40 games of three stones weigh 90."""

COARSE_SKILLS: Final = (*(float(skill) for skill in range(-8, 32, 3)), 33.0, TOP_SKILL)
"""Skills between which the first games are played."""

LARGE_SIZE: Final = 17
LARGE_RANGE: Final = (-2.0, 31.0)
"""Side of the board from which smaller and larger skills are left out: they are far weaker than 20k, or stronger than
9d."""

SPACING: Final[Mapping[int, float]] = {9: 60.0, 13: 80.0}
"""Elo points from rank to rank, if the range of skills is wide enough.  On large boards it is the worth of a stone; on
smaller ones there is less room for mistakes."""

HANDICAP_STONES: Final = 3
HANDICAP_PAIRS: Final = (("15k", "12k"), ("8k", "5k"), ("2k", "2d"))
"""Ranks three apart, which play handicap games of three stones without komi."""

_NEAREST_SIZE: Final = 13
"""The board whose spacing holds for sizes that `SPACING` lacks."""

CHECKED_LEVELS: Final = LEVELS[1::3]
"""Ranks that are checked by games, each against the next: 19k, 16k, … 9d."""


class SkillPairing(NamedTuple):
    """A game to be played; the openings of equal `opening` are equal."""

    black_skill: float
    white_skill: float
    opening: int


class GameRow(NamedTuple):
    """A game that was played, as it is kept in the file; one without the network's name counts for every network."""

    size: int
    handicap: int
    black: float  # skill
    white: float
    opening: int
    points: float  # Black's
    moves: int
    leads: list[float]  # Black's, before each move but the last
    network: str = ""


class LevelNetworks(NamedTuple):
    """The network that sees what a move loses, and the one that imitates people."""

    strong: Evaluator
    human: Evaluator


def draw_moves(
    networks: LevelNetworks,
    positions: Positions,
    evaluation: Evaluation,
    games: Mapping[int, Game],
    settings: Mapping[int, LevelSettings],
    rng: np.random.Generator,
) -> dict[int, int]:
    """Return a move by the settings of the side to play for some games, by the rows of `positions` they are in.

    `evaluation` is that of the network that sees what a move loses.
    """
    of_people, people = take_rows(positions, [*games]), new_evaluation(len(games), *board_size(positions))
    for place, (row, game) in enumerate(games.items()):
        profile = settings[row].profile.code
        write_conditions(of_people, place, conditions_of(game)._replace(human_profile=profile))
    networks.human.evaluate(Request(of_people, len(games), people))
    questions: dict[int, Question] = {}
    for place, (row, game) in enumerate(games.items()):
        raw = raw_evaluation(evaluation, row, has_score=True)
        found = found_at(game, game.to_play, raw, people.policy[place])
        questions[row] = choose_move(game, game.to_play, found, settings[row], rng)
    moves: dict[int, int] = {}
    answers: dict[int, float] = {}
    while questions:
        asked: dict[int, Game] = {}
        for row, question in list(questions.items()):
            try:
                asked[row] = question.send(answers[row]) if row in answers else next(question)
            except StopIteration as ended:
                moves[row] = int(ended.value)
                del questions[row]
        answers = dict(zip(asked, _leads(networks.strong, positions, asked, games), strict=True)) if asked else {}
    return moves


def _leads(
    strong: Evaluator, positions: Positions, asked: Mapping[int, Game], games: Mapping[int, Game]
) -> list[float]:
    """Return Black's lead in games that are a move or two further than the ones in their rows."""
    after, evaluation = take_rows(positions, [*asked]), new_evaluation(len(asked), *board_size(positions))
    for place, (row, game) in enumerate(asked.items()):
        if len(game.moves) > len(games[row].moves) + 1:
            write_game(after, place, game)
        else:
            last = game.moves[-1]
            advance_row(after, place, game.board, last.point, last.color, GOES_ON, game.superko_keys())
    strong.evaluate(Request(after, len(asked), evaluation))
    return [float(lead) for lead in evaluation.lead_black]


def play_level_games(
    networks: LevelNetworks, size: int, pairings: Sequence[SkillPairing], *, batch: int, seed: int, handicap: int = 0
) -> Iterator[GameRow]:
    """Yield games on boards of `size` points a side, `batch` of them side by side, in the order in which they end.

    With a `handicap`, Black begins with that many stones, two or more, and the komi is HANDICAP_KOMI (0.5).
    """
    plan = GamePlan(
        PRESETS[RULES],
        HANDICAP_KOMI if handicap else KOMI,
        handicap=free_handicap_points(handicap, size, size) if handicap else (),
        stops_when_decided=True,
        decided_from=_DECIDED_FROM,
    )
    rng, opening_length = np.random.default_rng(seed), round(OPENING_SHARE * size**2)
    openings = [np.random.default_rng(pairing.opening) for pairing in pairings]
    leads: list[list[float]] = [[] for _ in pairings]

    def policies(positions: Positions, rows: Sequence[int], games: Sequence[Game]) -> NDArray[np.floating]:
        """Return the one move of each game that is drawn, from the policy in the opening, and then by the level."""
        moves, later, settings = dict[int, int](), dict[int, Game](), dict[int, LevelSettings]()
        for row, game in zip(rows, games, strict=True):
            number = running.playing[row].number
            if len(game.moves) < opening_length:
                policy = running.evaluation.policy[row].astype(np.float64)
                policy[PASS] = 0.0
                moves[row] = int(openings[number].choice(policy.size, p=policy / policy.sum()))
            else:
                pairing, is_black = pairings[number], game.to_play == BLACK
                skill = pairing.black_skill if is_black else pairing.white_skill
                later[row], settings[row] = game, settings_of(skill, size, size)
        if later:
            moves |= draw_moves(networks, positions, running.evaluation, later, settings, rng)
        found = np.zeros((len(rows), padded_length(size, size)))
        found[np.arange(len(rows)), [moves[row] for row in rows]] = 1.0
        return found

    running = PolicyGames(
        networks.strong,
        size,
        size,
        numbers=range(len(pairings)),
        batch=batch,
        rng=np.random.default_rng(seed),
        planner=lambda *_: plan,
        player=policies,
        player_share=1.0,
    )
    while running.playing:
        running.evaluate()
        for row, played in enumerate(running.playing):
            leads[played.number].append(float(running.evaluation.lead_black[row]))
        for played in running.play():
            moves, of_game = len(played.game.moves), leads[played.number]
            points, rounded = points_of(played.game, of_game[-1]), [round(lead, 1) for lead in of_game]
            name = networks.human.info.name
            yield GameRow(size, handicap, *pairings[played.number], points, moves, rounded, name)


def points_of(game: Game, lead_black: float) -> float:
    """Return Black's points for a game that has ended with this lead: 1, ½ or 0."""
    return 0.5 if game.has_no_result or lead_black == 0.0 else float(lead_black > 0.0)


def read_games(path: Path) -> list[GameRow]:
    """Return the games in a file, if there is one, each once; raises TengenError for a line that is not a game."""
    games: dict[tuple[object, ...], GameRow] = {}
    for number, line in enumerate(complete_lines(path), start=1):
        try:
            row = GameRow(**json_of(line))
        except (ValueError, TypeError) as error:
            advice = "remove the line, or name another file"
            raise TengenError(f"{shown_path(path)}, line {number}, is not a game", advice=advice) from error
        games.setdefault((row.size, row.handicap, row.black, row.white, row.opening, row.network), row)
    return [*games.values()]


def pairings_of(skills: Sequence[float], games: int) -> list[SkillPairing]:
    """Return `games` games, an even number, between each skill and the next one, with both colours in turn."""
    found = []
    for opening in range(games // 2):  # outside, so that an interrupted measurement knows something about all
        for low, high in pairwise(skills):
            found += [SkillPairing(low, high, opening), SkillPairing(high, low, opening)]
    return found


@dataclass(frozen=True)
class Measurement:
    """The games on boards of `size` points a side, kept in the file `path`; `log` receives a line for each game."""

    networks: LevelNetworks
    size: int
    path: Path
    _: KW_ONLY
    batch: int
    log: Log

    def games(self, handicap: int = 0) -> list[GameRow]:
        """Return the games that this network has played so far on this board with this handicap."""
        networks = ("", self.networks.human.info.name)
        return [
            row
            for row in read_games(self.path)
            if (row.size, row.handicap) == (self.size, handicap) and row.network in networks
        ]

    def play(self, pairings: Iterable[SkillPairing], *, handicap: int = 0) -> None:
        """Play those games that are not in the file yet."""
        known = {(row.black, row.white, row.opening) for row in self.games(handicap)}
        missing = [pairing for pairing in pairings if pairing not in known]
        if not missing:
            return
        rows = play_level_games(self.networks, self.size, missing, batch=self.batch, seed=len(known), handicap=handicap)
        for number, row in enumerate(rows, start=1):
            append(self.path, json.dumps(row._asdict()) + "\n")
            self.log(
                f"{self.size}x{self.size}: game {number} of {len(missing)}: skills {row.black:g} and {row.white:g}, "
                f"Black leads by {row.leads[-1]:+.1f} after {counted(row.moves, 'move')}"
            )


class Curve(NamedTuple):
    """Elo points at the skills `KNOTS`, 0 at the first, linear in between; and those that a handicap stone is worth."""

    elo: RatingArray
    stone: float
    covariance: RatingArray = np.zeros((len(KNOTS), len(KNOTS)))
    """Of the errors of the slopes between knots and of the stone, in nats."""

    def at(self, skill: float) -> float:
        """Return the rating of a skill."""
        return float(np.interp(skill, KNOTS, self.elo))

    def error(self, low: float, high: float) -> float:
        """Return half the 95% interval of the difference between two skills, in Elo points."""
        direction = np.append(_heights(high) - _heights(low), 0.0)
        return float(Z_95 * ELO_PER_NAT * np.sqrt(direction @ self.covariance @ direction))


def fit_curve(games: Sequence[GameRow]) -> Curve:
    """Return the most likely ratings of skills, as a curve that rises everywhere, and the worth of a stone.

    A smooth curve needs fewer games than a rating for each skill.  There are normal priors about `_PRIOR_SLOPE` and
    `_PRIOR_STONE`, and about changes of the slope (`_SMOOTHNESS`).
    """
    slopes = len(KNOTS) - 1
    precision = np.diag(np.append(np.full(slopes, _PRIOR_WEIGHT), _PRIOR_STONE_WEIGHT))
    changes = np.diff(np.eye(slopes), axis=0)
    precision[:slopes, :slopes] += _SMOOTHNESS * changes.T @ changes
    prior = np.append(np.full(slopes, _PRIOR_SLOPE), _PRIOR_STONE), precision
    differences = np.array([np.append(_heights(row.black) - _heights(row.white), row.handicap) for row in games])
    points = np.array([row.points for row in games])
    fitted, covariance = fit_strengths(differences, np.ones(len(games)), points, prior, least=_LEAST_SLOPE)
    elo = np.append(0.0, np.cumsum(fitted[:slopes] * np.diff(KNOTS)))
    return Curve(elo * ELO_PER_NAT, float(fitted[slopes]) * ELO_PER_NAT, covariance)


def _heights(skill: float) -> RatingArray:
    """Return how far a skill reaches into each interval between knots, so that slopes times this is its rating."""
    knots = np.array(KNOTS)
    return np.clip(skill - knots[:-1], 0.0, np.diff(knots))


def skills_of_levels(curve: Curve, spacing: float, below_top: float = 0.0) -> dict[str, float]:
    """Return the skill of each rank; the strongest rank is `below_top` Elo points weaker than the largest skill.

    Each rank is `spacing` points weaker than the next.  If the weakest skill is too strong for that, the ranks share
    the range evenly.
    """
    top = float(curve.elo[-1]) - below_top
    spacing = min(spacing, top / (len(LEVELS) - 1))
    ranks = [top - spacing * (len(LEVELS) - 1 - number) for number in range(len(LEVELS))]
    return {
        level: round(float(np.interp(rank, curve.elo, KNOTS)), 3) for level, rank in zip(LEVELS, ranks, strict=True)
    }


def checks_of(
    games: Sequence[GameRow], skills: Mapping[str, float], pairs: Iterable[tuple[str, str]]
) -> list[dict[str, Any]]:
    """Return the results of the games between pairs of ranks, where there are any, as plain values for the file.

    The weaker rank comes first; points are those of the stronger one.
    """
    results: dict[tuple[float, float], list[float]] = defaultdict(list)
    for row in games:
        results[row.black, row.white].append(row.points)
        results[row.white, row.black].append(1.0 - row.points)
    found = []
    for weaker, level in pairs:
        if points := results[skills[level], skills[weaker]]:
            low, high = wilson_interval(sum(points), len(points))
            elo = elo_difference(min(max(sum(points) / len(points), 1e-3), 1 - 1e-3))
            check = {"level": level, "weaker": weaker, "games": len(points), "points": sum(points)}
            found.append(check | {"interval": [round(low, 3), round(high, 3)], "elo": round(elo)})
    return found


def spans_of(curve: Curve, skills: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return how many Elo points are between CHECKED_LEVELS, as plain values for the file; the error is 95%."""
    found = []
    for low, high in pairwise(CHECKED_LEVELS):
        ends = skills[low], skills[high]
        elo, error = curve.at(ends[1]) - curve.at(ends[0]), curve.error(*ends)
        found.append({"weaker": low, "level": high, "elo": round(elo), "error": round(error)})
    return found


def fitted_skills(
    measurement: Measurement,
    *,
    coarse_games: int,
    spacing: float | None = None,
    below_top: float = 0.0,
    refit: bool = False,
) -> dict[str, float]:
    """Play the games that are missing between neighbours of COARSE_SKILLS, and return the skill of each rank.

    `spacing` None is that of `SPACING`, on large boards the worth of a stone; `below_top` is as in `skills_of_levels`.
    With `refit` the curve is fitted to all games so far, those that checked an earlier curve too.
    """
    size = measurement.size
    least, most = LARGE_RANGE if size >= LARGE_SIZE else (BOTTOM_SKILL, TOP_SKILL)
    coarse_skills = [skill for skill in COARSE_SKILLS if least <= skill <= most]
    measurement.play(pairings_of(coarse_skills, coarse_games))
    coarse = [row for row in measurement.games() if {row.black, row.white} <= set(coarse_skills)]
    curve = fit_curve(measurement.games() + measurement.games(HANDICAP_STONES) if refit else coarse)
    if spacing is None:
        spacing = curve.stone if size >= LARGE_SIZE else SPACING.get(size, SPACING[_NEAREST_SIZE])
    return skills_of_levels(curve, spacing, below_top)


def checked_board(
    measurement: Measurement, skills: Mapping[str, float], *, games: int, handicap_games: int
) -> dict[str, Any]:
    """Play the games that are missing to check the skills of ranks, and return the board's part of the level table.

    There are `games` between neighbours of CHECKED_LEVELS, and on large boards `handicap_games` of each of
    HANDICAP_PAIRS.  The ratings in the table are those of a curve that is fitted to all games.
    """
    levels = CHECKED_LEVELS
    measurement.play(pairings_of([skills[level] for level in levels], games))
    if measurement.size >= LARGE_SIZE:
        for weaker, level in HANDICAP_PAIRS:  # the weaker rank has Black
            pairings = [SkillPairing(skills[weaker], skills[level], opening) for opening in range(handicap_games)]
            measurement.play(pairings, handicap=HANDICAP_STONES)
    played, given = measurement.games(), measurement.games(HANDICAP_STONES)
    curve, checks = fit_curve(played + given), checks_of(played, skills, pairwise(levels))
    board = {
        "skills": dict(skills),
        "elo": {level: round(curve.at(skill) - curve.at(skills[LEVELS[0]])) for level, skill in skills.items()},
        "games": {"all": len(played), "checks": sum(check["games"] for check in checks)},
        "spans": spans_of(curve, skills),
        "checks": checks,
    }
    if with_handicap := checks_of(given, skills, HANDICAP_PAIRS):
        board["handicap"] = with_handicap
        board["stone"] = round(curve.stone)
    return board
