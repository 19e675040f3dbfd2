"""Searches the positions of a game in two passes, group by group, and keeps what is done in a file.

`Effort` says how much is searched, and which positions are searched again.  A group is the unit of work, which any
process can do: it is searched from empty trees and an empty cache (`search.puct.joint_search`), so its result depends
on nothing that was searched before, nor on where that was.  A review that was interrupted goes on with the first group
that is missing and ends with the same numbers.
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import inf
from numbers import Integral, Real
from pathlib import Path
from typing import Final, NamedTuple

from gtp_engine import __version__
from gtp_engine.base.errors import ConfigError, of_kind
from gtp_engine.base.files import append, complete_lines, json_of
from gtp_engine.config import Config
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.go.game import Game
from gtp_engine.people.review.game_line import GameLine, GamePosition
from gtp_engine.people.review.game_review import FORMAT, Finding, finding_of, seen_by
from gtp_engine.search.limits import Limits, Progress, SearchRequest
from gtp_engine.search.puct.joint_search import JointSearch

DEFAULT_VISITS: Final = 80
"""Visits of every position on 19×19 in the first pass: at half as many, moves of small prior are hardly tried at all;
with more, twenty games of 250 moves take more than 40 minutes on two cores."""

DEFAULT_POINTS: Final = 19 * 19
LEAST_POINTS: Final = 9 * 9
"""Points of the board that DEFAULT_VISITS is for, and of the board with the most visits; smaller ones get no more."""

SECOND_SHARE: Final = 0.25
"""Share of the positions that are searched again, with SECOND_FACTOR times the visits, so that in long games both
passes cost about the same."""

SECOND_LEAST: Final = 24
"""Least number of positions that are searched again: those before and after ten mistakes, and a few more."""

SECOND_FACTOR: Final = 4

FIRST_PASS_TIME: Final = 0.5
"""Share of a total time that the first pass takes."""

WINRATE_POINTS: Final = 10.0
"""Points that a change of the winrate by 1 adds to the interest of a move: fewer than it is worth in an even game,
because mistakes are listed by points."""

OWN_SHARE: Final = 0.25
"""Factor on the interest of a move that the search would have played: by definition it loses nothing."""

GAIN_SHARE: Final = 0.5
"""Factor on the interest of a move after which its side is better off: the search was wrong, the move is no mistake.
Of the ten biggest mistakes of each of ten games at 20 visits, 82 of 100 were among the fifteen biggest at 200 visits
with these three values, and at least 7 of each game; with 20, 1 and 1 it was 77, and at least 6."""

CLOSE_VISITS: Final = 0.7
"""Visits of the second candidate, as a share of the first's, from which on a decision is close."""

CLOSE_INTEREST: Final = 1.0
"""Interest of a close decision, points: less than that of a mistake."""

GROUP: Final = 32
"""Positions searched side by side: with 16 the network's batches are smaller, with 64 an interruption costs more."""

PROGRESS_INTERVAL: Final = 1.0
"""Seconds between two reports about a group, which takes minutes with a slow network."""

SEED: Final = 1
"""Seed of the search unless the configuration has one."""

OnProgress = Callable[[float, str], None]
"""Receives the share that is done, from 0 to 1, and a text."""


@dataclass(frozen=True)
class Effort:
    """What a review may spend: `visits` for each position, or `seconds` for each, or `total` seconds for a game.

    Without any of them visits depend on the board.  With visits or a total time there is a second pass, over the
    positions where most was at stake.  Raises ConfigError for two limits at once and for values that are not positive.
    """

    visits: int | None = None
    seconds: float | None = None
    total: float | None = None

    def __post_init__(self) -> None:
        """Check the values."""
        given = {name: value for name, value in vars(self).items() if value is not None}
        if len(given) > 1:
            raise ConfigError(f"both {' and '.join(given)}", expected="one limit for the review")
        for name, value in given.items():
            if not of_kind(value, Integral if name == "visits" else Real, name) > 0:
                raise ConfigError(f"{name} {value}", expected="a number above 0")

    def first_visits(self, points: int) -> int | None:
        """Return the visits of each position in the first pass, on a board of `points`; None if time limits it.

        By default a position of any board takes about the same time.
        """
        if self.is_timed:
            return None
        return self.visits or round(DEFAULT_VISITS * DEFAULT_POINTS / min(max(points, LEAST_POINTS), DEFAULT_POINTS))

    @property
    def is_timed(self) -> bool:
        """Whether time limits the review; its result then varies from run to run."""
        return self.seconds is not None or self.total is not None

    @property
    def has_second_pass(self) -> bool:
        """Whether positions of interest are searched again."""
        return self.seconds is None


def of_interest(findings: Sequence[Finding], places: Sequence[GamePosition]) -> list[int]:
    """Return the places to search again, ascending: those before and after what may be the largest mistakes.

    A decision between two candidates counts a little; where the record changes the position, no move is responsible.
    """
    interest = [_closeness(finding) for finding in findings]
    for number, position in enumerate(places):
        if position.before is not None and not position.is_changed:
            change = _change(findings[position.before], findings[number], position.game)
            for each in (position.before, number):
                interest[each] = max(interest[each], change)
    order = sorted(range(len(findings)), key=lambda number: (-interest[number], number))
    return sorted(order[: max(SECOND_LEAST, round(SECOND_SHARE * len(findings)))])


def _change(before: Finding, after: Finding, game: Game) -> float:
    """Return the interest of the last move of a game, in points, from the change of lead and winrate."""
    lost = seen_by(before.to_play, before)[1] - seen_by(before.to_play, after)[1]
    change = abs(lost) + WINRATE_POINTS * abs(before.winrate - after.winrate)
    last, best = game.last_move, before.best
    is_own = last is not None and best is not None and best.vertex == game.vertex(last.point)
    return change * (GAIN_SHARE if lost < 0 else 1.0) * (OWN_SHARE if is_own else 1.0)


def _closeness(finding: Finding) -> float:
    """Return the interest of a position in which two candidates are close, in points; 0 for any other."""
    if len(finding.candidates) < 2:
        return 0.0
    first, second = finding.candidates[:2]
    return CLOSE_INTEREST if second.visits >= CLOSE_VISITS * first.visits else 0.0


class PositionGroup(NamedTuple):
    """Positions to search, and the limits: `visits` of each, `seconds` for all of them together."""

    positions: tuple[GamePosition, ...]
    visits: int | None = None
    seconds: float | None = None


Searcher = Callable[[Iterable[PositionGroup], Callable[[float], None]], Iterator[list[Finding]]]
"""Searches groups, here, in other processes, or on other machines: yields what was found in each, in order.

The second argument receives what has been done of the group that is being searched, in positions, now and then.
"""


def scoring_evaluator(what: str, evaluator: Evaluator | None) -> Evaluator:
    """Return the evaluator if it evaluates score and ownership, which `what` needs; raises ConfigError otherwise.

    None, a search by rollouts, is refused too: rollouts have no policy, and their scores are too rough.
    """
    if evaluator is None:
        raise ConfigError(f"{what} without a network", advice="set network.model (--model FILE)")
    if not evaluator.info.has_score or not evaluator.info.has_ownership:
        expected, advice = "one that evaluates score and ownership", "set network.model (--model FILE) to another"
        raise ConfigError(f"{what} with network {evaluator.info.name}", expected=expected, advice=advice)
    return evaluator


def seeded(config: Config) -> Config:
    """Return the configuration with a seed: its own or SEED."""
    return config.with_values({"search.seed": SEED if config.search.seed is None else config.search.seed})


class SavedWork:
    """What a review has found so far, in a file of JSON lines that begins with a key; without a path only in memory.

    A file with another key, of another record or other settings, is begun again.  Raises OSError.
    """

    def __init__(self, path: Path | None, key: str) -> None:
        self._path: Final = path
        self._findings: Final[dict[tuple[int, int], Finding]] = {}
        if path is None:
            return
        lines = complete_lines(path)
        if not lines or lines[0] != key:
            path.write_text(key + "\n", "utf-8")
            return
        for line in lines[1:]:
            with suppress(ValueError, KeyError, TypeError):  # it is damaged: its position is searched again
                kind, place, data = json_of(line)
                self._findings[kind, place] = Finding.from_json(data)

    def get(self, first_pass: bool, place: int) -> Finding | None:
        """Return what was found in a place of a record, None if it was not searched yet."""
        return self._findings.get((0 if first_pass else 1, place))

    def add(self, first_pass: bool, places: Sequence[int], findings: Sequence[Finding]) -> None:
        """Keep the findings of a group; they reach the disk together."""
        kind, found = 0 if first_pass else 1, dict(zip(places, findings, strict=True))
        self._findings.update({(kind, place): finding for place, finding in found.items()})
        if self._path is not None:
            lines = [
                json.dumps([kind, place, finding.to_json()], separators=(",", ":")) for place, finding in found.items()
            ]
            append(self._path, "\n".join(lines) + "\n")

    def remove(self) -> None:
        """Delete the file."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)


class GameAnalysis:
    """Analyses games with one evaluator, which stays open, `group` positions (by default GROUP) side by side.

    A `searcher`, if given, searches the groups instead, with the same network.  Raises ConfigError without a network
    that evaluates score and ownership.
    """

    def __init__(
        self,
        config: Config,
        evaluator: Evaluator | None,
        effort: Effort,
        *,
        group: int | None = None,
        searcher: Searcher | None = None,
    ) -> None:
        evaluator = scoring_evaluator("a review", evaluator)
        config = seeded(config)
        self.effort: Final = effort
        self._group: Final = group or GROUP
        network = [evaluator.info.name, evaluator.info.fingerprint]
        self._settings: Final = [__version__, FORMAT, *network, str(effort), str(config.search), str(config.puct)]
        self._ignores_history: Final = config.analysis.ignore_history
        self._searcher: Final = searcher
        self._search: Final = None if searcher else JointSearch(config, evaluator, self._group)
        self._info: Final = evaluator.info

    def network(self, line: GameLine) -> str:
        """Return the name of the network that evaluates a game."""
        return self._info.on(line.record.width, line.record.height).name

    def key(self, data: bytes, line: GameLine, *more: str) -> str:
        """Return what identifies a review: the record, the settings, the network, the version, and what is `more`."""
        game = [str(line.rules), str(line.komi), *(["variations"] if line.variations else []), *more]
        return hashlib.sha256(data + "\0".join([*self._settings, *game]).encode()).hexdigest()

    def search_group(self, group: PositionGroup, tell: Callable[[float], None] = lambda done: None) -> list[Finding]:
        """Return what this analysis's own search finds in the positions of a group; see `Searcher`."""
        assert self._search is not None, "another searcher has the groups"
        start = told = time.monotonic()
        done = [0.0] * len(group.positions)

        def is_late(number: int, search: Progress) -> bool:
            nonlocal told
            now = time.monotonic()
            part = (now - start) / group.seconds if group.seconds else search.visits / (group.visits or inf)
            done[number] = min(1.0, part)
            if now > told + PROGRESS_INTERVAL:
                told = now
                tell(sum(done))
            return group.seconds is not None and now - start >= group.seconds

        watchers = (partial(is_late, number) for number in range(len(done)))
        limits = (Limits(visits=group.visits, watcher=watcher) for watcher in watchers)
        asked = (SearchRequest(each, ignores_history=self._ignores_history) for each in limits)
        reports = self._search.run([(position.game, position.to_play) for position in group.positions], *asked)
        return list(map(finding_of, group.positions, reports))

    def _found(self, groups: Iterable[PositionGroup], tell: Callable[[float], None]) -> Iterator[list[Finding]]:
        """Return what is found in the groups, each of which is searched when it is asked for, unless others search."""
        return self._searcher(groups, tell) if self._searcher else (self.search_group(each, tell) for each in groups)

    def look_at(self, positions: Sequence[GamePosition], visits: int) -> list[Finding]:
        """Return what is found in positions beside the game's."""
        groups = (positions[start : start + self._group] for start in range(0, len(positions), self._group))
        asked = (PositionGroup(tuple(group), visits) for group in groups)
        return [finding for found in self._found(asked, lambda done: None) for finding in found]

    def run(self, line: GameLine, saved: SavedWork, progress: OnProgress) -> list[Finding]:
        """Return what was found in each place of `line`; an exception that `progress` raises ends it."""
        search, everything = partial(self._pass, line, saved, progress), range(len(line.places))
        visits, total = self.effort.first_visits(line.points), self.effort.total
        seconds = self.effort.seconds if total is None else FIRST_PASS_TIME * total / len(everything)
        findings = search(everything, visits, seconds)
        if not self.effort.has_second_pass:
            return findings
        again = of_interest(findings, line.places)
        seconds = None if total is None else (1.0 - FIRST_PASS_TIME) * total / len(again)
        found = search(again, None if visits is None else SECOND_FACTOR * visits, seconds, is_first=False)
        for place, finding in zip(again, found, strict=True):
            if finding.visits > findings[place].visits:  # in a short time a second look may see less
                findings[place] = finding
        return findings

    def _pass(
        self,
        line: GameLine,
        saved: SavedWork,
        progress: OnProgress,
        places: Sequence[int],
        visits: int | None,
        seconds: float | None,
        *,
        is_first: bool = True,
    ) -> list[Finding]:
        """Return the findings of these places, each searched with `visits` or for `seconds`."""
        found, passes = list[Finding](), 2 if self.effort.has_second_pass else 1
        groups = [places[start : start + self._group] for start in range(0, len(places), self._group)]
        missing = [group for group in groups if any(saved.get(is_first, place) is None for place in group)]

        def asked(group: Sequence[int]) -> PositionGroup:
            positions = tuple(line.places[place] for place in group)
            return PositionGroup(positions, visits, None if seconds is None else len(group) * seconds)

        def tell(more: float) -> None:
            done, before = len(found) + more, 0 if is_first else 1
            text = f"{'position' if is_first else 'second look'} {int(done)}/{len(places)}"
            progress((before + done / len(places)) / passes, text)

        tell(0.0)
        results = self._found(map(asked, missing), tell)
        for group in groups:
            known = [finding for place in group if (finding := saved.get(is_first, place)) is not None]
            if len(known) < len(group):
                known = next(results)
                saved.add(is_first, group, known)
            found += known
            tell(0.0)
        return found
