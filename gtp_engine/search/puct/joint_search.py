"""JointSearch: searches several positions side by side, so that the network evaluates leaves of all of them at once.

A search of few visits can have few positions under way (`puct.in_flight_share`), so alone it calls the network for one
or two at a time.  Here each of several searches selects a batch, all batches are evaluated by one call, and each search
backs its own up:

    select A   select B   select C   evaluate A, B and C   back up A   back up B   back up C   select A ...

Each search builds the tree that it would build alone, apart from the rounding of a network that depends on the number
of positions in a call.  The order does not depend on time, so joint searches with a seed repeat exactly as well.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gtp_engine.config import Config
from gtp_engine.evaluation.evaluator import Evaluator, ForwardingEvaluator, Kind, Request
from gtp_engine.evaluation.shared import evaluate_joined
from gtp_engine.go.game import Game
from gtp_engine.search.limits import Limits, SearchRequest
from gtp_engine.search.puct.evaluation_thread import Call, Job
from gtp_engine.search.puct.puct_search import PuctSearch
from gtp_engine.search.report import SearchReport


class JointCalls(ForwardingEvaluator):
    """The calls of several searches in one thread, and the evaluator that they call: it only collects requests.

    The first wait of any search makes the calls of all of them, and has `evaluator` answer the requests.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__(evaluator)
        self._jobs: list[Job] = []
        self._requests: dict[Kind, list[Request]] = {}

    def submit(self, call: Call, at_once: int = 1) -> Job:
        """Return the job that will run `call`."""
        job = Job(call)
        self._jobs.append(job)
        return job

    def evaluate(self, request: Request) -> None:
        """Collect a request, whose positions must not change until it is answered."""
        self._requests.setdefault(request.kind, []).append(request)

    def wait(self, job: Job, seconds: float | None = None) -> bool:
        """Return True, once all jobs have been done; requests of one kind share a call.  Raises what that raises."""
        if not job.is_done:
            jobs, self._jobs = self._jobs, []
            for each in jobs:
                each.run()
            requests, self._requests = self._requests, {}
            for alike in requests.values():
                evaluate_joined(alike, self._evaluator)
        if job.error is not None:
            raise job.error
        return True

    def wake(self) -> None:
        """Do nothing: the searching thread makes the calls itself."""

    def drain(self) -> None:
        """Drop the jobs, those of the other searches too."""
        self._jobs = []

    def close(self) -> None:
        """Do nothing: there is no thread, and `evaluator` belongs to the caller."""


class JointSearch:
    """Searches up to `count` positions at once with one evaluator, which stays open; one thread uses it."""

    def __init__(self, config: Config, evaluator: Evaluator, count: int) -> None:
        one_under_way = replace(config, puct=replace(config.puct, pipeline=1))
        calls = JointCalls(evaluator)
        self._calls: Final = calls
        self._searches: Final = [PuctSearch(one_under_way, calls, calls=calls) for _ in range(count)]

    def run(self, positions: Sequence[tuple[Game, int]], *asked: SearchRequest | Limits) -> list[SearchReport]:
        """Return the report of each position, a game and the colour to play; there may be `count` of them.

        Every search has a tree of its own, and what it is asked, or the same if only one is given.

        The cache of evaluations is emptied before, so that the result does not depend on what was searched before.
        Raises what the evaluator raises.
        """
        self._calls.drain()
        self._calls.clear_cache()
        searches = self._searches[: len(positions)]
        for search in searches:
            search.clear()
        under_way = {
            number: search.playouts(game, SearchRequest.of(asked[number % len(asked)]), to_play=color)
            for number, (search, (game, color)) in enumerate(zip(searches, positions, strict=True))
        }
        reports: dict[int, SearchReport] = {}
        try:
            while len(reports) < len(under_way):
                for number, playouts in under_way.items():
                    if number not in reports:
                        try:
                            next(playouts)
                        except StopIteration as end:
                            reports[number] = end.value
        finally:
            for playouts in under_way.values():
                playouts.close()
        return [reports[number] for number in under_way]
