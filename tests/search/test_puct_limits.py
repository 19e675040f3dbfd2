"""How a search ends, and what it reports until then: visits, time, cancellation, intervals; where it goes on."""

import threading
import time

import numpy as np
import pytest
from busy_machine import bound, require_once, wait_until
from puct_support import AreaEvaluator, Searching, check_tree, search, store_of

from gtp_engine import CancelToken, Game
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.search.limits import (
    AT_ANY_DEPTH,
    Limits,
    Progress,
    Reporting,
    Restriction,
    RootPosition,
    SearchRequest,
    find_position,
)
from gtp_engine.search.puct.evaluation_thread import EvaluationThread, Job
from gtp_engine.search.puct.expand import abandon
from gtp_engine.search.puct.leaves import new_leaves
from gtp_engine.search.report import SearchReport


def test_a_cancelled_search_does_not_wait_for_a_slow_network() -> None:
    def seconds_to_end() -> float:
        """Return how long a search goes on that is cancelled during a call of the network, which takes 0.8 s."""
        evaluator, token = AreaEvaluator(batch=4), CancelToken()
        with Searching(evaluator, in_flight_share=1) as searcher:
            searcher.run(Game(5), Limits(20))
            abandon(store_of(searcher).tree, new_leaves(1, 5, 5))  # compiled before time counts
            evaluator.delay = 0.2
            cancelled = 0.0

            def cancel() -> None:
                nonlocal cancelled
                wait_until(lambda: searcher.calls._unfinished[-1:] and not searcher.calls._unfinished[-1].is_done)
                cancelled = time.perf_counter()
                token.cancel()

            thread = threading.Thread(target=cancel)
            thread.start()
            report = searcher.run(Game(5), Limits(cancel=token))
            late = time.perf_counter() - cancelled
            thread.join()
            check_tree(searcher)
            evaluator.delay = 0.0
            assert report.moves
            assert searcher.run(Game(5), Limits(100)).visits == 100
        return late

    require_once(seconds_to_end, below=0.05)


@pytest.mark.parametrize("is_before", [False, True])
def test_a_search_cancelled_before_or_during_its_first_evaluation_still_has_moves(is_before: bool) -> None:
    token, evaluator = CancelToken(), AreaEvaluator()
    if is_before:
        token.cancel()
    evaluator.watch = lambda request: token.cancel()
    with Searching(evaluator) as searcher:
        report = searcher.run(Game(5), Limits(cancel=token))
        assert report.visits == 1 and report.best_point > 0
        assert searcher.run(Game(5), Limits(100)).visits == 100, "the next search has a token of its own"


def test_the_watcher_is_called_after_each_batch_of_a_slow_network() -> None:
    seen: list[Progress] = []

    def watch(progress: Progress) -> bool:
        seen.append(progress)
        return len(seen) == 10

    report = search(Game(5), Limits(watcher=watch), AreaEvaluator(delay=0.006))
    visits, last = [progress.visits for progress in seen], seen[-1]
    assert visits == sorted(visits) and report.visits == last.visits
    assert last.leader_visits >= last.runner_up_visits >= 0 < last.leader_visits
    assert last.choices > 1 and 0 <= last.winrate <= 1


def test_reports_come_at_their_interval_and_early() -> None:
    seen: list[SearchReport] = []
    reporting = Reporting(0.05, seen.append)
    limits = SearchRequest(
        Limits(watcher=lambda progress: len(seen) >= 5 or progress.seconds > bound(300)), reporting=reporting
    )
    search(Game(7), limits, AreaEvaluator(delay=0.02, batch=2), in_flight_share=1)
    assert len(seen) >= 5 and seen[0].visits <= 4
    assert all(report.moves[0].visits > 0 for report in seen)
    assert 0.05 <= np.diff([report.seconds for report in seen]).min() < bound(0.15)


def test_a_search_without_reports_is_not_woken_while_the_network_evaluates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each waking takes the processor from the network's own threads; it was every 5 ms."""
    waits: list[float | None] = []
    real = EvaluationThread.wait

    def wait(calls: EvaluationThread, job: Job, seconds: float | None = None) -> bool:
        waits.append(seconds)
        return real(calls, job, seconds)

    monkeypatch.setattr(EvaluationThread, "wait", wait)
    search(Game(5), Limits(12), AreaEvaluator(delay=0.03, batch=2))
    assert set(waits) == {None} and len(waits) <= 2 * 12, "an old wake-up may be left"
    waits.clear()
    request = SearchRequest(Limits(12), reporting=Reporting(0.05, lambda report: None))
    search(Game(5), request, AreaEvaluator(delay=0.03, batch=2))
    assert max(seconds for seconds in waits if seconds is not None) > 0.02, "until the next report"


def test_an_evaluator_that_fails_ends_only_the_running_search() -> None:
    evaluator = AreaEvaluator()
    with Searching(evaluator) as searcher:
        searcher.run(Game(5), Limits(50))
        evaluator.delay = -1.0  # time.sleep refuses
        with pytest.raises(ValueError, match="sleep"):
            searcher.run(Game(5), Limits(100))
        evaluator.delay = 0.0
        check_tree(searcher)
        assert searcher.run(Game(5), Limits(100)).visits == 100


def test_a_closed_search_has_no_thread() -> None:
    before = set(threading.enumerate())
    with Searching() as searcher:
        searcher.run(Game(5), Limits(10))
        started = set(threading.enumerate()) - before
        assert [thread.name for thread in started] == ["evaluator"]
    assert not started & set(threading.enumerate())


def test_a_token_is_cancelled_once_and_for_good() -> None:
    """Callbacks are called while their context lasts, at once if they come late; one may be registered twice."""
    token, calls = CancelToken(), list[str]()
    with token.calling(lambda: calls.append("over before")):
        assert not token.is_cancelled

    def callback() -> None:
        calls.append("outer")

    with token.calling(callback):
        with token.calling(callback):
            pass
        with token.calling(lambda: calls.append("inner")):
            for _ in range(2):
                token.cancel()
                assert token.is_cancelled
            assert calls == ["outer", "inner"]
    with token.calling(lambda: calls.append("late")):
        assert calls == ["outer", "inner", "late"]
    assert len(calls) == 3


def only_child(node: int, _: int) -> int:
    """Return the node after a move in a tree of which every node has one child."""
    return node + 1


@pytest.mark.parametrize(
    ("restrictions", "here", "later"),
    [
        ((), 0, 2),
        ((Restriction(BLACK, frozenset({20}), AT_ANY_DEPTH),), 0, 2),
        ((Restriction(BLACK, frozenset({20}), 1),), 0, None),
        ((Restriction(BLACK, frozenset({20}), AT_ANY_DEPTH), Restriction(WHITE, frozenset({21}), 3)), 0, None),
    ],
)
def test_restrictions_to_a_depth_hold_for_one_root(
    restrictions: tuple[Restriction, ...], here: int, later: int | None
) -> None:
    """Below the old root a move was free at a depth at which it is left out below the new one."""
    game = Game(5)
    root = RootPosition(game.copy(), BLACK, restrictions)
    assert find_position(only_child, root, RootPosition(game.copy(), BLACK, restrictions)) == here
    game.play("C3")
    game.play("D4")
    assert find_position(only_child, root, RootPosition(game, BLACK, restrictions)) == later
