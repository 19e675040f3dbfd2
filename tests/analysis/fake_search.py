"""A fake search with a fixed result that adds visits one by one, a backend with such searches, a clock for them."""

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gtp_engine import Config, Game, parse_vertex
from gtp_engine.go.constants import PASS
from gtp_engine.search.limits import Limits, Progress, SearchRequest
from gtp_engine.search.report import MoveReport, RawEvaluation, SearchReport


@dataclass
class FakeSearcher:
    """Adds a visit every `seconds_per_visit`; two moves, the first with all visits but one.

    Limits are obeyed as in a real search: the watcher is called before every visit but the very first, and there is at
    least one.  Every run takes `seconds_to_begin` before.  `ended` is when the last one was over.
    """

    seconds_per_visit: float = 0.0
    seconds_to_begin: float = 0.0
    has_network: bool = True
    visits: int = 0
    seen: list[tuple[Game, SearchRequest]] = field(default_factory=list)
    playouts: list[int] = field(default_factory=list)
    ended: float = math.nan
    is_closed: bool = False
    failure: Exception | None = None

    def run(self, game: Game, asked: SearchRequest | Limits, *, to_play: int | None = None) -> SearchReport:
        request = SearchRequest.of(asked)
        self.seen.append((game, request))
        if self.failure is not None:
            raise self.failure
        start, before = time.perf_counter(), self.visits
        time.sleep(self.seconds_to_begin)
        while self.visits == 0 or not self._is_over(request.limits, start, before):
            if self.seconds_per_visit:
                time.sleep(self.seconds_per_visit)
            self.visits += 1
        self.playouts.append(self.visits - before)
        self.ended = time.perf_counter()
        return report_of(game, visits=self.visits, has_network=self.has_network)

    def _is_over(self, limits: Limits, start: float, before: int) -> bool:
        if limits.visits is not None and self.visits >= limits.visits:
            return True
        if limits.is_cancelled:
            return True
        seconds, playouts = time.perf_counter() - start, self.visits - before
        progress = Progress(seconds, self.visits, playouts, self.visits - 1, 1, True, 0.5, 2)
        return limits.watcher is not None and limits.watcher(progress)

    def clear(self) -> None:
        self.visits = 0

    def set_seed(self, seed: int | None) -> None: ...

    def close(self) -> None:
        self.is_closed = True


def report_of(game: Game, *, visits: int = 10, has_network: bool = True) -> SearchReport:
    """Return a report in which Black is 5 points and a winrate of 0.8 ahead, the best move is A1, then the pass."""
    n = game.board.color.size
    corner = parse_vertex("A1", width=game.width, height=game.height)
    ownership = np.zeros(n)
    ownership[corner] = 0.75
    raw = RawEvaluation(
        winrate_black=0.7,
        lead_black=4.0,
        score_black=6.0,
        score_stdev=9.0,
        no_result=0.01,
        winloss_error=0.3,
        score_error=-1.0,
        time_left=12.0,
        policy=np.full(n, 0.0123456789, dtype=np.float32),
        ownership_black=ownership.astype(np.float32),
    )
    best = MoveReport(
        point=corner,
        visits=max(0, visits - 1),
        value_black=0.6,
        expected_black=0.6,
        pv=(corner, PASS, PASS),
        pv_visits=(visits, 2, 1),
        prior=0.25,
        lcb=0.1,
        utility_black=0.65,
        utility_lcb=-0.7,
        score_black=7.0,
        score_stdev=11.0,
        lead_black=5.0,
        no_result=0.02,
        weight=float(visits),
        ownership_black=ownership.astype(np.float32),
        ownership_stdev=np.full(n, 0.25, dtype=np.float32),
    )
    second = MoveReport(point=PASS, visits=1, value_black=0.2, expected_black=0.2, pv=(PASS,), pv_visits=(1,))
    return SearchReport(
        to_play=game.to_play,
        visits=visits,
        playouts=visits,
        seconds=1.0,
        value_black=0.6,
        moves=(best, second),
        ownership_samples=visits,
        ownership_black=ownership,
        utility_black=0.65,
        score_black=7.0,
        score_stdev=10.0,
        lead_black=5.0,
        no_result=0.02,
        weight=float(visits),
        ownership_stdev=np.full(n, 0.5),
        raw=raw if has_network else None,
    )


class FakeBackend:
    """Opens searchers that take `seconds_per_visit`, and records them; loading waits for `is_loaded`."""

    def __init__(self, seconds_per_visit: float = 0.0, seconds_to_begin: float = 0.0) -> None:
        self.seconds_per_visit = seconds_per_visit
        self.seconds_to_begin = seconds_to_begin
        self.opened: list[FakeSearcher] = []
        self.configs: list[Config] = []
        self.caches_cleared = 0
        self.is_closed = False
        self.is_loaded = threading.Event()
        self.is_loaded.set()

    def load(self) -> "FakeBackend":
        assert self.is_loaded.wait(60)
        return self

    def open_searcher(self, config: Config) -> FakeSearcher:
        self.opened.append(FakeSearcher(self.seconds_per_visit, self.seconds_to_begin))
        self.configs.append(config)
        return self.opened[-1]

    def models(self) -> list[dict[str, Any]]:
        return [{"name": "fake"}]

    def clear_cache(self) -> None:
        self.caches_cleared += 1

    def close(self) -> None:
        self.is_closed = True


class FakeTime:
    """A clock in place of the module `time` that goes on only while someone sleeps, by exactly that long.

    At `stop_at` it stands: the sleep that gets there lasts until the block of `standing` is over.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.stop_at = math.inf
        self._stands = threading.Event()
        self._goes_on = threading.Event()

    def monotonic(self) -> float:
        return self.now

    perf_counter = monotonic

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        if self.now >= self.stop_at:
            self.stop_at = math.inf
            self._stands.set()
            assert self._goes_on.wait(60)

    @contextmanager
    def standing(self) -> Iterator[None]:
        """Wait until the clock stands; it goes on after the block."""
        assert self._stands.wait(60)
        try:
            yield
        finally:
            self._goes_on.set()
