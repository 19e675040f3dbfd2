"""Searches the positions of a game in two passes, group by group, and keeps what is done in a file.

The result of a group depends on nothing that was searched before (`group_search`), so a review that was interrupted
goes on with the first group that is missing and ends with the same numbers.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from gtp_engine import __version__
from gtp_engine.config import Config
from gtp_engine.errors import ConfigError, problem
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.files import complete_lines
from gtp_engine.review.effort import FIRST_PASS_TIME, SECOND_FACTOR, Effort, of_interest
from gtp_engine.review.findings import Finding
from gtp_engine.review.game_line import GameLine
from gtp_engine.review.group_search import GROUP, Group, GroupSearch, Searcher

SEED: Final = 1
"""Seed of the search unless the configuration has one."""

OnProgress = Callable[[float, str], None]
"""Receives the share that is done, from 0 to 1, and a text."""


def scoring_evaluator(what: str, evaluator: Evaluator | None) -> Evaluator:
    """Return the evaluator if it evaluates score and ownership, which `what` needs; raises ConfigError otherwise.

    None, a search by rollouts, is refused too: rollouts have no policy, and their scores are too rough.
    """
    if evaluator is None:
        raise ConfigError(problem(f"{what} without a network", advice="name one with --model FILE"))
    if not evaluator.info.has_score or not evaluator.info.has_ownership:
        expected, advice = "one that evaluates score and ownership", "name another with --model FILE"
        raise ConfigError(problem(f"{what} with network {evaluator.info.name}", expected=expected, advice=advice))
    return evaluator


def seeded(config: Config) -> Config:
    """Return the configuration with a seed: its own or SEED."""
    seed = SEED if config.search.seed is None else config.search.seed
    return config.with_values({"search.seed": seed})


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
        if lines and lines[0] == key:
            for line in lines[1:]:
                self._read(line)
        else:
            path.write_text(key + "\n", "utf-8")

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
            with self._path.open("a", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")

    def remove(self) -> None:
        """Delete the file."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def _read(self, line: str) -> None:
        """Add a line, unless it is damaged; its position is then searched again."""
        try:
            kind, place, data = json.loads(line)
            finding = Finding.from_json(data)
        except (ValueError, KeyError, TypeError):
            return
        self._findings[kind, place] = finding


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
        self._effort: Final = effort
        self._group: Final = group or GROUP
        network = [evaluator.info.name, evaluator.info.fingerprint]
        self._settings: Final = [__version__, *network, str(effort), str(config.search), str(config.puct)]
        self._searcher: Final = searcher or GroupSearch(config, evaluator, self._group)
        self.network: Final = evaluator.info.name

    def key(self, data: bytes, line: GameLine) -> str:
        """Return what identifies a review: the record, the settings, the network and the version."""
        game = [str(line.rules), str(line.komi), *(["variations"] if line.variations else [])]
        return hashlib.sha256(data + "\0".join([*self._settings, *game]).encode()).hexdigest()

    def run(self, line: GameLine, saved: SavedWork, progress: OnProgress) -> list[Finding]:
        """Return what was found in each place of `line`; an exception that `progress` raises ends it between groups."""
        run = _Run(self._searcher, line, saved, progress, self._group)
        visits = self._effort.first_visits(line.points)
        total, seconds = self._effort.total, self._effort.seconds
        everything = range(len(line.places))
        share = 0.5 if self._effort.has_second_pass else 1.0
        if total is not None:
            seconds = FIRST_PASS_TIME * total / len(everything)
        findings = run.search(everything, visits, seconds=seconds, share=share)
        if not self._effort.has_second_pass:
            return findings
        again = of_interest(findings, line.places)
        seconds = None if total is None else (1.0 - FIRST_PASS_TIME) * total / len(again)
        more = None if visits is None else SECOND_FACTOR * visits
        found = run.search(again, more, seconds=seconds, share=0.5, is_first=False)
        for place, finding in zip(again, found, strict=True):
            if finding.visits > findings[place].visits:  # in a short time a second look may see less
                findings[place] = finding
        return findings


class _Run:
    """The review of one game."""

    def __init__(self, searcher: Searcher, line: GameLine, saved: SavedWork, progress: OnProgress, group: int) -> None:
        self._searcher: Final = searcher
        self._line: Final = line
        self._saved: Final = saved
        self._progress: Final = progress
        self._group: Final = group

    def search(
        self,
        places: Sequence[int],
        visits: int | None,
        *,
        seconds: float | None = None,
        share: float,
        is_first: bool = True,
    ) -> list[Finding]:
        """Return the findings of these places, each searched with `visits` or for `seconds`.

        `share` is that of this pass in the whole review, for the progress; the second pass comes last.
        """
        groups = [places[start : start + self._group] for start in range(0, len(places), self._group)]
        missing = [group for group in groups if self._known(group, is_first) is None]
        results = self._searcher.search(self._request(group, visits, seconds) for group in missing)
        found: list[Finding] = []
        for group in groups:
            known = self._known(group, is_first)
            if known is None:
                known = next(results)
                self._saved.add(is_first, group, known)
            found += known
            done = share * len(found) / len(places)
            self._progress(
                done if is_first else 1.0 - share + done,
                f"{'position' if is_first else 'second look'} {len(found)}/{len(places)}",
            )
        return found

    def _known(self, places: Sequence[int], is_first: bool) -> list[Finding] | None:
        """Return what was found in a group earlier, None if any of it is missing."""
        known = [finding for place in places if (finding := self._saved.get(is_first, place)) is not None]
        return known if len(known) == len(places) else None

    def _request(self, places: Sequence[int], visits: int | None, seconds: float | None) -> Group:
        found = [self._line.places[place] for place in places]
        return Group(
            positions=tuple(place.position for place in found),
            played=tuple(place.played for place in found),
            visits=visits,
            seconds=None if seconds is None else len(places) * seconds,
        )
