"""The searching thread: takes jobs from the schedule, searches them slice by slice and sends the responses.

Each job has a searcher of its own, which keeps its tree from slice to slice; all of them share one evaluator.  A
searcher is cleared before its next job, so that no visits of another query count.
"""

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Final

from gtp_engine.base.errors import ConfigError, TengenError
from gtp_engine.config import Config
from gtp_engine.config.sections import AnalysisConfig
from gtp_engine.go.game import Game
from gtp_engine.protocols.analysis.results import missing_fields, no_results, response
from gtp_engine.protocols.analysis.schedule import SLICE, Errand, Job, SharedSchedule
from gtp_engine.search.limits import FirstMove, Limits, Progress, Searcher, SearchRequest
from gtp_engine.search.report import SearchReport

if TYPE_CHECKING:
    from gtp_engine.engine.shared_engines import SharedEngines

LEAST_PLAYOUTS: Final = 2
"""Playouts before time ends a search: the position and a move (KataGo's, `numPlayouts` in cpp/search/search.cpp)."""


@dataclass
class _Search:
    """A job that has begun: its position and searcher, its next report and its deadline (of `time.monotonic`)."""

    job: Job
    game: Game
    searcher: Searcher
    next_report: float
    deadline: float = inf
    """Set by the first playout: before it, the network may have to be prepared for the board."""
    report: SearchReport | None = None
    is_suspended: bool = False
    """Whether the watcher ended the last slice, and not the number of visits."""


@dataclass(eq=False)
class Worker:
    """Does the jobs and errands of a schedule in the thread that calls `run`, with the `engines` of the moment."""

    schedule: SharedSchedule
    engines: "Callable[[], SharedEngines]"
    log: Callable[[str], None]
    _searches: dict[Job, _Search] = field(init=False, default_factory=dict)
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
        if job.is_terminated and job not in self._searches:
            job.send(no_results(job.query, job.turn))
            job.owner.finished(job)
            return
        search = self._searches.get(job) or self._begin(job)
        report = search.report
        if report is None or not job.is_terminated:
            report = search.report = self._search_slice(search)
        if self._is_over(search, report):
            if job.turn == min(job.query.turns):  # once for a query
                for name in missing_fields(job.query, report):
                    job.send({"id": job.query.id, "field": name, "warning": "not known to this search, left out"})
            self._report(search, report, is_during_search=False)
            self._keep(search.searcher, job.query.config)
            self._forget(job)
        elif time.monotonic() >= search.next_report:
            self._report(search, report, is_during_search=True)
            interval = job.query.report_interval
            search.next_report = inf if interval is None else time.monotonic() + interval

    def _begin(self, job: Job) -> _Search:
        """Return a new search for a job."""
        query, game = job.query, job.query.game_at(job.turn)
        next_report = inf if query.first_report is None else time.monotonic() + query.first_report
        can_reuse = self._idle and _searcher_config(query.config) == self._idle_config
        searcher = self._idle.pop() if can_reuse else self.engines().open_searcher(query.config)
        search = self._searches[job] = _Search(job, game, searcher, next_report)
        return search

    def _keep(self, searcher: Searcher, config: Config) -> None:
        """Clear a searcher and keep it for the next job; close idle ones with other settings, since trees are large."""
        if (wanted := _searcher_config(config)) != self._idle_config:
            self._close_idle()
            self._idle_config = wanted
        searcher.clear()
        self._idle.append(searcher)

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _search_slice(self, search: _Search) -> SearchReport:
        """Search until the job is over, a report is due or another job has its turn; return the report."""
        job, query = search.job, search.job.query
        longest = query.config.analysis.analysis_time
        start, searched_before = time.monotonic(), job.searched
        begun: float | None = None  # when the search was ready to go on, which takes a while in a large tree

        def watch(progress: Progress) -> bool:
            nonlocal begun
            now = time.monotonic()
            if begun is None:
                begun = now
                if longest is not None and search.report is None:
                    search.deadline = now + longest
            job.searched = searched_before + now - start
            search.is_suspended = progress.playouts >= LEAST_PLAYOUTS and (
                now >= min(search.deadline, search.next_report)
                or (now - begun >= SLICE and self.schedule.has_rivals(job))
            )
            return search.is_suspended

        search.is_suspended = False
        request = SearchRequest(
            Limits(visits=query.config.analysis.analysis_visits, watcher=watch, cancel=job.cancel),
            restrictions=query.restrictions,
            wide_root_noise=query.config.analysis.wide_root_noise,
            ignores_history=query.config.analysis.ignore_history,
            anti_mirror=query.config.analysis.expect_mirroring,
            move_ownership=not query.wanted.isdisjoint(("includeMovesOwnership", "includeMovesOwnershipStdev")),
            first_move=FirstMove.LIKELIEST,
            resumes=search.report is not None,
        )
        return search.searcher.run(search.game, request)

    def _is_over(self, search: _Search, report: SearchReport) -> bool:
        """Return whether a search has reached its limits or been terminated."""
        return (
            search.job.is_terminated
            or not search.is_suspended
            or report.visits >= search.job.query.config.analysis.analysis_visits
            or time.monotonic() >= search.deadline
        )

    def _report(self, search: _Search, report: SearchReport, *, is_during_search: bool) -> None:
        job = search.job
        job.send(response(job.query, job.turn, search.game, report, is_during_search=is_during_search))

    def _fail(self, task: Job | Errand, error: Exception) -> None:
        """Report why a task failed and end its job; any error but a TengenError is a bug and goes to the log too."""
        reason = str(error)
        if not isinstance(error, TengenError):
            self.log(f"internal error in an analysis:\n{traceback.format_exc().rstrip()}")
            reason = f"internal error: {type(error).__name__}: {error}"
        if isinstance(task, Job):
            field = {"field": "overrideSettings"} if isinstance(error, ConfigError) else {}
            task.send({"id": task.query.id, **field, "error": reason})
            if task in self._searches:
                self._searches[task].searcher.close()  # its state is unknown
            self._forget(task)

    def _forget(self, job: Job) -> None:
        job.owner.finished(job)
        self._searches.pop(job, None)


def _searcher_config(config: Config) -> Config:
    """Return the configuration without the options that a searcher does not depend on."""
    return replace(config, analysis=AnalysisConfig())
