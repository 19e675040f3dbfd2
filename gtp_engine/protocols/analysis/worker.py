"""The searching thread: takes jobs from the schedule, searches them slice by slice and sends the responses.

Each job has a searcher of its own, which keeps its tree from slice to slice; all of them share one evaluator.  A
searcher is cleared before its next job, so that no visits of another query count.
"""

import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Final

from gtp_engine.base.errors import ConfigError, TengenError
from gtp_engine.base.streams import Log
from gtp_engine.config import Config
from gtp_engine.config.sections import AnalysisConfig
from gtp_engine.protocols.analysis.results import missing_fields, no_results, response
from gtp_engine.protocols.analysis.schedule import SLICE, Errand, Job, SharedSchedule
from gtp_engine.search.limits import FirstMove, Limits, Progress, Searcher, SearchRequest
from gtp_engine.search.report import SearchReport

if TYPE_CHECKING:
    from gtp_engine.engine.shared_engines import SharedEngines

LEAST_PLAYOUTS: Final = 2
"""Playouts before time ends a search: the position and a move (KataGo's, `numPlayouts` in cpp/search/search.cpp)."""


@dataclass(eq=False)
class Worker:
    """Does the jobs and errands of a schedule in the thread that calls `run`, with the `engines` of the moment."""

    schedule: SharedSchedule
    engines: "Callable[[], SharedEngines]"
    log: Log
    _idle: list[Searcher] = field(init=False, default_factory=list)
    """Searchers that are reused instead of creating new ones, and the configuration for which they can be."""
    _idle_config: Config | None = field(init=False, default=None)

    def run(self) -> None:
        """Work until the schedule is closed and empty."""
        while (task := self.schedule.next()) is not None:
            try:
                if isinstance(task, Job):
                    self._work_on(task)
                else:
                    task(self.engines())
            except Exception as error:
                self._fail(task, error)
        self._close_idle()

    def _work_on(self, job: Job) -> None:
        """Search for a slice and send the response or report that is due."""
        job.search = job.search or self._search(job)
        try:
            next(job.search)
        except StopIteration:
            job.owner.finished(job)

    def _search(self, job: Job) -> Iterator[None]:
        """Search for a job until it is over, and send its reports and its response; yields between two slices."""
        query, analysis = job.query, job.query.config.analysis
        if job.is_terminated:
            job.send(no_results(query, job.turn))
            return
        game = query.game_at(job.turn)
        next_report = inf if query.first_report is None else time.monotonic() + query.first_report
        deadline = inf  # set by the first playout: before it, the network may have to be prepared for the board
        report: SearchReport | None = None
        begun: float | None = None  # when the slice was ready to go on, which takes a while in a large tree
        is_suspended = False  # whether the watcher ended the slice, and not the number of visits

        def watch(progress: Progress) -> bool:
            nonlocal begun, deadline, is_suspended
            now = time.monotonic()
            if begun is None:
                begun = now
                if analysis.analysis_time is not None and report is None:
                    deadline = now + analysis.analysis_time
            job.searched = searched_before + now - start
            is_suspended = progress.playouts >= LEAST_PLAYOUTS and (
                now >= min(deadline, next_report) or (now - begun >= SLICE and self.schedule.has_rivals(job))
            )
            return is_suspended

        with self._searcher(query.config) as searcher:
            while True:
                start, searched_before = time.monotonic(), job.searched
                begun, is_suspended = None, False
                report = searcher.run(game, _request(job, watch, resumes=report is not None))
                is_over = not is_suspended or report.visits >= analysis.analysis_visits
                if is_over or job.is_terminated or time.monotonic() >= deadline:
                    break
                if time.monotonic() >= next_report:
                    job.send(response(query, job.turn, game, report, is_during_search=True))
                    next_report = inf if query.report_interval is None else time.monotonic() + query.report_interval
                yield
                if job.is_terminated:
                    break
            if job.turn == min(query.turns):  # once for a query
                for name in missing_fields(query, report):
                    job.send({"id": query.id, "field": name, "warning": "not known to this search, left out"})
            job.send(response(query, job.turn, game, report, is_during_search=False))

    @contextmanager
    def _searcher(self, config: Config) -> Iterator[Searcher]:
        """Yield a searcher, and keep it for the next job; idle ones with other settings are closed: trees are large."""
        wanted = replace(config, analysis=AnalysisConfig())  # without what a searcher does not depend on
        can_reuse = self._idle and wanted == self._idle_config
        searcher = self._idle.pop() if can_reuse else self.engines().open_searcher(config)
        try:
            yield searcher
            searcher.clear()
        except BaseException:
            searcher.close()  # its state is unknown
            raise
        if wanted != self._idle_config:
            self._close_idle()
            self._idle_config = wanted
        self._idle.append(searcher)

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _fail(self, task: Job | Errand, error: Exception) -> None:
        """Report why a task failed and end its job; any error but a TengenError is a bug and goes to the log too."""
        reason = str(error)
        if not isinstance(error, TengenError):
            self.log(f"internal error in an analysis:\n{traceback.format_exc().rstrip()}")
            reason = f"internal error: {type(error).__name__}: {error}"
        if isinstance(task, Job):
            field = {"field": "overrideSettings"} if isinstance(error, ConfigError) else {}
            task.send({"id": task.query.id, **field, "error": reason})
            task.owner.finished(task)


def _request(job: Job, watch: Callable[[Progress], bool], *, resumes: bool) -> SearchRequest:
    """Return the search of a slice."""
    query, analysis = job.query, job.query.config.analysis
    return SearchRequest(
        Limits(visits=analysis.analysis_visits, watcher=watch, cancel=job.cancel),
        restrictions=query.restrictions,
        wide_root_noise=analysis.wide_root_noise,
        ignores_history=analysis.ignore_history,
        anti_mirror=analysis.expect_mirroring,
        move_ownership=not query.wanted.isdisjoint(("includeMovesOwnership", "includeMovesOwnershipStdev")),
        first_move=FirstMove.LIKELIEST,
        resumes=resumes,
    )
