"""Searchers in other processes: in order, with the same result as in this one, and errors with their text.

The Ray cluster has two nodes on this machine; its test takes half a minute and is skipped without Ray.
"""

import threading
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing import Pipe
from pathlib import Path

import pytest
from puct_support import AreaEvaluator
from ray_support import needs_ray, two_nodes
from review.review_support import RECORD, silent

from gtp_engine import Config, Rules
from gtp_engine.errors import WorkerError
from gtp_engine.review import Effort, Finding, GameAnalysis, SavedWork, read_game
from gtp_engine.review.game_analysis import GroupSearcher, PositionGroup, seeded
from gtp_engine.review.review_files import FileReviewer, ReviewOutcome, SharesDone, Terms, review_all, sources_of
from gtp_engine.review.worker_pool import (
    GroupAnswer,
    ReviewWorker,
    WorkerPool,
    _ProcessCall,
    open_pool,
    pool_of_cluster,
    pool_of_processes,
)

GROUP = 3
CONFIG = seeded(Config())


def found(number: int) -> list[Finding]:
    return [Finding(number, "B", 1, 0.5, 0.0, "", (), ())]


def group(number: int) -> PositionGroup:
    return PositionGroup((), (), visits=number)


def analysis_with(searcher: GroupSearcher | None) -> GameAnalysis:
    return GameAnalysis(Config(), AreaEvaluator(), Effort(visits=8), group=GROUP, searcher=searcher)


def findings_with(searcher: GroupSearcher | None) -> list[Finding]:
    return analysis_with(searcher).run(read_game(RECORD, rules=Rules()), SavedWork(None, ""), silent)


def test_groups_are_searched_at_once_and_answered_in_order() -> None:
    second_is_done = threading.Event()

    def ask(asked: PositionGroup) -> GroupAnswer:
        if asked.visits == 0:
            assert second_is_done.wait(60)
        else:
            second_is_done.set()
        return found(asked.visits or 0)

    pool = WorkerPool([ask, ask])
    assert [each[0].number for each in pool.search(map(group, range(3)))] == [0, 1, 2]
    pool.close()


def test_the_text_of_a_workers_error_is_raised() -> None:
    pool = WorkerPool([lambda _: "no such network"])
    with pytest.raises(WorkerError, match=r"^no such network$"):
        list(pool.search([group(0)]))
    pool.close()


def test_a_process_that_ended_is_reported() -> None:
    here, there = Pipe()
    there.close()
    assert _ProcessCall(here)(group(0)) == "a worker ended unexpectedly; try fewer workers"  # type: ignore[arg-type]


def test_processes_find_what_this_one_finds() -> None:
    with pool_of_processes(AreaEvaluator, CONFIG, GROUP, workers=2) as pool:
        assert findings_with(pool) == findings_with(None)


def test_one_process_for_one_game() -> None:
    with open_pool(Config(), games=1, workers=None) as pool:
        assert pool is None


@needs_ray
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_of_two_nodes_finds_what_this_process_finds() -> None:
    with two_nodes() as address:
        config = CONFIG.with_values({"network.network_threads": 1})
        with pool_of_cluster(AreaEvaluator, config, GROUP, workers=None, address=address) as pool:
            assert pool.workers == 2
            assert findings_with(pool) == findings_with(None)
        broken = partial(read_game, b"nothing", rules=Rules())
        with (
            pool_of_cluster(broken, config, GROUP, workers=1, address=address) as pool,  # type: ignore[arg-type]
            pytest.raises(WorkerError, match=r"^not a readable SGF record"),
        ):
            findings_with(pool)


@pytest.fixture
def threads() -> Iterator[WorkerPool]:
    """Return a pool whose workers are in threads of this process."""
    pool = WorkerPool([ReviewWorker(AreaEvaluator, CONFIG, GROUP).search for _ in range(2)])
    yield pool
    pool.close()


def reviewed(folder: Path, pool: WorkerPool | None, show: Callable[[float, str], None] = silent) -> list[ReviewOutcome]:
    reviewer = FileReviewer(analysis_with(pool), Terms(Rules()))
    sources = sources_of([folder], folder / ("one" if pool is None else "many"))
    return list(review_all(reviewer, sources, SharesDone(sources, show), at_once=1 if pool is None else 3))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(5):
        (tmp_path / f"{number}.sgf").write_bytes(RECORD.replace(b"Ann", b"Ann %d" % number))
    return tmp_path


def test_a_folder_in_parallel_has_the_same_results(folder: Path, threads: WorkerPool) -> None:
    shares = []
    for pool in (None, threads):
        assert len(reviewed(folder, pool, lambda share, text: shares.append(share))) == 5
    for number in range(5):
        one, many = ((folder / name / f"{number}.review.json").read_bytes() for name in ("one", "many"))
        assert one == many
    assert max(shares) == shares[-1] == pytest.approx(5.0), "the shares of all games are added up"
    shares.clear()
    reviewed(folder, threads, lambda share, text: shares.append(share))
    assert shares[-1] == pytest.approx(5.0), "what was finished earlier counts too"


def test_an_interruption_ends_the_games_under_way_and_the_next_run_goes_on(folder: Path, threads: WorkerPool) -> None:
    reviewer, sources = FileReviewer(analysis_with(threads), Terms(Rules())), sources_of([folder], None)
    is_done, is_closed = threading.Event(), threading.Event()

    def show(share: float, text: str) -> None:
        """Let the other games wait, once one is done, until the interruption."""
        if is_done.is_set():
            assert is_closed.wait(60)
        elif text.endswith(": done"):
            is_done.set()

    outcomes = review_all(reviewer, sources, SharesDone(sources, show), at_once=2)
    next(outcomes)
    outcomes.close()
    is_closed.set()
    done = len(list(folder.glob("*.review.json")))
    assert 1 <= done < 5
    assert len(list(review_all(reviewer, sources, SharesDone(sources, silent), at_once=2))) == 5
    assert not list(folder.glob("*.part"))
