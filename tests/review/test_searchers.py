"""Searchers in other processes: in order, with the same result as in this one; what is wrong with one game."""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from puct_support import AreaEvaluator
from review.review_support import RECORD, silent

from gtp_engine import Config, Rules
from gtp_engine.base.errors import TaskError
from gtp_engine.base.workers import open_workers
from gtp_engine.base.workers.worker_pool import FIRST_PLACE, WorkerJob, WorkerPlace
from gtp_engine.people.review import Effort, Finding, GameAnalysis, SavedWork, read_game, review_files
from gtp_engine.people.review.game_analysis import PositionGroup, Searcher, seeded
from gtp_engine.people.review.review_files import (
    FileReviewer,
    PooledSearcher,
    ReviewOutcome,
    Terms,
    open_searcher,
    packed,
    review_all,
    sources_of,
    unpacked,
    worker_with,
)

GROUP = 3
CONFIG = seeded(Config())


def found(number: int) -> list[Finding]:
    return [Finding(number, "B", 1, 0.5, 0.0, "", (), ())]


def group(number: int) -> PositionGroup:
    return PositionGroup((), visits=number)


def analysis_with(searcher: Searcher | None) -> GameAnalysis:
    return GameAnalysis(Config(), AreaEvaluator(), EFFORT, group=GROUP, searcher=searcher)


def findings_with(searcher: Searcher | None) -> list[Finding]:
    return analysis_with(searcher).run(read_game(RECORD, rules=Rules()), SavedWork(None, ""), silent)


EFFORT = Effort(visits=4)


def area_worker(place: WorkerPlace = FIRST_PLACE) -> Callable[[bytes], Any]:
    """Return a worker with an evaluator of a few lines, and no people."""
    return worker_with(GameAnalysis(CONFIG, AreaEvaluator(), EFFORT, group=GROUP), lambda: None)


class ThreadPool:
    """In place of a pool: two threads of this process."""

    def __init__(self, ask: Callable[[Any], Any]) -> None:
        self.ask, self.threads = ask, ThreadPoolExecutor(2)

    def submit(self, task: bytes) -> "Future[Any]":
        return self.threads.submit(self.ask, unpacked(task))


def searcher_of(ask: Callable[[Any], Any]) -> PooledSearcher:
    return PooledSearcher(ThreadPool(ask), at_once=3)  # type: ignore[arg-type]


def test_groups_are_searched_at_once_and_answered_in_order() -> None:
    second_is_done = threading.Event()

    def ask(asked: PositionGroup) -> list[Finding]:
        if asked.visits == 0:
            assert second_is_done.wait(60)
        else:
            second_is_done.set()
        return found(asked.visits or 0)

    assert [each[0].number for each in searcher_of(ask).search(map(group, range(3)), print)] == [0, 1, 2]


def test_processes_find_what_this_one_finds() -> None:
    with open_workers(WorkerJob("review", [area_worker]), 2) as pool:
        assert findings_with(PooledSearcher(pool, at_once=3).search) == findings_with(None)


@pytest.mark.parametrize(("games", "free"), [(1, 10**6), (8, 600)])
def test_one_process_for_one_game_or_little_memory(games: int, free: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of many cores had its copy of a large network."""
    monkeypatch.setattr(review_files, "available_cores", lambda: 16)
    monkeypatch.setattr(review_files, "free_memory_mib", lambda: free)
    with open_searcher(Config(), EFFORT, games=games) as searcher:
        assert searcher is None


@pytest.fixture
def threads() -> PooledSearcher:
    """Return a searcher whose workers are in threads of this process."""
    local = threading.local()

    def ask(asked: Any) -> Any:
        if not hasattr(local, "search"):
            local.search = area_worker()
        found: Any = local.search(packed(asked))
        return found

    return searcher_of(ask)


def reviewed(
    folder: Path, searcher: PooledSearcher | None, show: Callable[[float, str], None] = silent
) -> list[ReviewOutcome]:
    analysis = analysis_with(searcher and searcher.search)
    reviewer = FileReviewer(analysis, Terms(Rules()), complete=searcher and searcher.complete)
    sources = sources_of([folder], folder / ("one" if searcher is None else "many"))
    return list(review_all(reviewer, sources, show, at_once=1 if searcher is None else 3))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(4):
        (tmp_path / f"{number}.sgf").write_bytes(RECORD.replace(b"Ann", b"Ann %d" % number))
    return tmp_path


def test_a_folder_in_parallel_has_the_same_results(folder: Path, threads: PooledSearcher) -> None:
    shares = []
    for pool in (None, threads):
        assert len(reviewed(folder, pool, lambda share, text: shares.append(share))) == 4
    for number in range(4):
        one, many = ((folder / name / f"{number}.review.json").read_bytes() for name in ("one", "many"))
        assert one == many
    assert max(shares) == shares[-1] == pytest.approx(4.0), "the shares of all games are added up"
    shares.clear()
    reviewed(folder, threads, lambda share, text: shares.append(share))
    assert shares[-1] == pytest.approx(4.0), "what was finished earlier counts too"


def test_an_interruption_ends_the_games_under_way_and_the_next_run_goes_on(
    folder: Path, threads: PooledSearcher
) -> None:
    reviewer, sources = FileReviewer(analysis_with(threads.search), Terms(Rules())), sources_of([folder], None)
    is_done, is_closed = threading.Event(), threading.Event()

    def show(share: float, text: str) -> None:
        """Let the other games wait, once one is done, until the interruption."""
        if is_done.is_set():
            assert is_closed.wait(60)
        elif text.endswith(": done"):
            is_done.set()

    outcomes = review_all(reviewer, sources, show, at_once=2)
    next(outcomes)
    outcomes.close()
    is_closed.set()
    done = len(list(folder.glob("*.review.json")))
    assert 1 <= done < 4
    assert len(list(review_all(reviewer, sources, silent, at_once=2))) == 4
    assert not list(folder.glob("*.part"))


@pytest.mark.parametrize("in_threads", [False, True])
def test_what_goes_wrong_in_a_game_leaves_the_others_alone(folder: Path, in_threads: bool) -> None:
    """A worker's error ended the whole run."""
    bad = RECORD.replace(b"Ann", b"Bob")
    (folder / "2.sgf").write_bytes(bad)
    search = area_worker()
    lock = threading.Lock()

    def searcher(groups: Iterable[PositionGroup], _: object) -> Iterator[list[Finding]]:
        for asked in groups:
            with lock:
                yield search(packed(asked))

    class Reviewer(FileReviewer):
        def _review(self, source, progress):  # type: ignore[no-untyped-def]
            if source.read() == bad:
                raise ZeroDivisionError("a bug")
            if source.name.endswith("3.sgf"):
                raise TaskError("5 workers ended")
            return super()._review(source, progress)

    reviewer, sources = Reviewer(analysis_with(searcher), Terms(Rules())), sources_of([folder], None)
    outcomes = list(review_all(reviewer, sources, silent, at_once=3 if in_threads else 1))
    failures = {Path(each.source.name).name: each.failure for each in outcomes if each.failure}
    assert failures == {"2.sgf": "ZeroDivisionError: a bug", "3.sgf": "5 workers ended"}
    assert len([each for each in outcomes if each.result]) == 2
