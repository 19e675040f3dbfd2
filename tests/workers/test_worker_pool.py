"""A pool of workers: nothing is lost when they die, nothing is done double, and a bad task concerns no other."""

import multiprocessing
import re
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from busy_machine import bound, wait_until
from workers.worker_tasks import Doer, fail_always, fail_at_first, job, number_and_wait, refuse, stop_at_first

from gtp_engine.base.errors import ConfigError, ModelError, TaskError, WorkerError
from gtp_engine.base.workers import open_workers, worker_pool
from gtp_engine.base.workers.worker_pool import (
    HERE,
    MOST_LOSSES,
    PLACED,
    Lost,
    TellMessage,
    WorkerPool,
    _Answered,
    _Ready,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_pool, "_FIRST_PAUSE", 0.01)


def test_a_dead_worker_is_replaced_and_its_task_is_done_by_another(tmp_path: Path) -> None:
    notes: list[str] = []
    with open_workers(job(Doer(tmp_path)), 2, note=notes.append) as pool:
        words = [pool.submit((f"word{number}", number == 3)) for number in range(20)]
        assert [each.result(bound(60)) for each in words] == [f"word{number} done" for number in range(20)]
        assert pool.workers == 2
        assert sum(tally.lost for tally in pool.nodes.values()) == 1
    done = sorted(path.name.split("-")[0] for path in tmp_path.iterdir())
    assert done == sorted([*(f"word{number}" for number in range(20)), "word3"]), "nothing twice"
    assert notes == ["a worker ended unexpectedly (signal 9); its tasks go to others, and another one replaces it"]
    assert not multiprocessing.active_children()


def test_a_bad_task_and_a_bug_concern_no_other(tmp_path: Path) -> None:
    with open_workers(job(Doer(tmp_path)), 1) as pool:
        bad, bug, good = (pool.submit((word, 0)) for word in ("bad", "bug", "good"))
        with pytest.raises(ConfigError, match=r"^a bad task$"):
            bad.result(bound(60))
        with pytest.raises(TaskError, match=r"^KeyError: 'a bug'$"):
            bug.result(bound(60))
        assert good.result(bound(60)) == "good done"


@pytest.mark.parametrize(("ahead", "deaths"), [(1, MOST_LOSSES - 1), (2, 0)])
def test_a_task_that_ends_its_workers_is_given_up_and_the_others_are_done(
    ahead: int, deaths: int, tmp_path: Path
) -> None:
    with open_workers(replace(job(Doer(tmp_path)), ahead=ahead), 1) as pool:
        deadly, good = pool.submit(("deadly", 99)), pool.submit(("good", deaths))
        with pytest.raises(TaskError, match=r"^5 workers ended while doing it; the last: ended unexpectedly \(signal"):
            deadly.result(bound(120))
        assert good.result(bound(120)) == "good done"
    assert len(list(tmp_path.glob("deadly-*"))) == MOST_LOSSES


def test_what_no_worker_can_do_fails_at_once() -> None:
    with open_workers(job(refuse), 2) as pool:
        for _ in range(2):
            with pytest.raises(ModelError, match=r"^no such network$"):
                pool.submit(None).result(bound(60))


def test_a_worker_that_dies_at_its_start_is_started_again(tmp_path: Path) -> None:
    with open_workers(job(partial(fail_at_first, tmp_path)), 2) as pool:
        assert [pool.submit(each).result(bound(60)) for each in range(5)] == [0, 1, 4, 9, 16]


def test_a_pool_whose_workers_always_die_gives_up() -> None:
    with (
        open_workers(job(fail_always), 1) as pool,
        pytest.raises(WorkerError, match=r"^all workers failed 5 times in a row; the last one: ended unexpectedly"),
    ):
        pool.submit(None).result(bound(120))


def test_closing_ends_tasks_under_way() -> None:
    with open_workers(job(number_and_wait), 1) as pool:
        waiting = [pool.submit(600.0) for _ in range(2)]
        wait_until(waiting[0].running)
    for each in [*waiting, pool.submit(0.0)]:
        with pytest.raises(WorkerError, match="ended"):
            each.result(bound(60))
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        pytest.param(0, r"has been starting for [\d.]+ s and is ended", marks=pytest.mark.long),
        (1, r"has been at a task for [\d.]+ s and is ended"),
        (10, r"has been at a task for [\d.]+ s \(usual: 0\.\d s\) and is ended"),
    ],
)
def test_a_worker_that_hangs_is_ended_and_its_task_is_done_elsewhere(
    turn: int, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_pool, "HANGING", 4.0)
    monkeypatch.setenv("TENGEN_WORKER_MINUTES", f"{bound(0.5) / 60}")
    notes: list[str] = []
    with open_workers(job(partial(stop_at_first, tmp_path, turn)), 1, note=notes.append) as pool:
        found = [pool.submit(each) for each in range(30)]
        assert [each.result(bound(60)) for each in found] == [each * each for each in range(30)]
    assert re.fullmatch(rf"a worker {reason}; its tasks go to others, and .*", "\n".join(notes)), notes
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("text", ["soon", "-1", "inf", "nan"])
def test_a_time_limit_that_is_none_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENGEN_WORKER_MINUTES", text)
    with pytest.raises(ConfigError, match=r"^TENGEN_WORKER_MINUTES .*expected minutes"), open_workers(job(refuse), 1):
        pass


class ScriptedHost:
    """Stands for a cluster: its workers are told what to say by the test."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.reports: list[TellMessage] = []
        self.sent: list[tuple[int, int, object]] = []
        self.lives: list[tuple[int, int]] = []

    def start(self, number: int, life: int, tell: TellMessage) -> "ScriptedStation":
        self.reports.append(tell)
        self.lives.append((number, life))
        return ScriptedStation(self, len(self.reports) - 1)

    def capacity(self) -> int:
        return self.room


class ScriptedStation:
    def __init__(self, host: ScriptedHost, start: int) -> None:
        self.host, self.number = host, start

    def send(self, number: int, task: object) -> None:
        self.host.sent.append((self.number, number, task))

    def end(self) -> None:
        pass


Scripted = tuple[ScriptedHost, WorkerPool[str, str], list[str]]


@pytest.fixture
def scripted(request: pytest.FixtureRequest) -> Scripted:
    host, notes = ScriptedHost(2), []
    pool: WorkerPool[str, str] = WorkerPool(host.start, job(refuse), host.capacity, notes.append)
    request.addfinalizer(pool.close)
    return host, pool, notes


def settled(host: ScriptedHost, count: int) -> None:
    wait_until(lambda: len(host.sent) >= count)
    time.sleep(0.05)
    assert len(host.sent) == count


def test_on_a_new_machine_one_worker_compiles_before_the_others_begin(scripted: Scripted) -> None:
    host, pool, _ = scripted
    for tell in host.reports:
        tell(_Ready("a", is_warm=False))
    answers = [pool.submit(word) for word in ("x", "y", "z")]
    settled(host, 1)
    host.reports[0](Lost("died"))  # before it has compiled all: the other one does it
    settled(host, 2)
    assert [(start, task) for start, _, task in host.sent] == [(0, "x"), (1, "x")]
    host.reports[1](_Answered(host.sent[1][1], "X"))
    host.reports[2](_Ready("a", is_warm=False))
    settled(host, 4)
    for start, number, task in host.sent[2:]:
        host.reports[start](_Answered(number, str(task).upper()))
    assert [each.result(bound(60)) for each in answers] == ["X", "Y", "Z"]
    assert host.lives == [(0, 0), (1, 0), (0, 1)], "a worker that replaces one which had begun knows of it"


def test_a_worker_that_failed_twice_is_started_again_after_a_while(
    scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, _, _ = scripted
    monkeypatch.setattr(worker_pool, "_FIRST_PAUSE", 0.5)
    host.reports[0](Lost("died"))
    wait_until(lambda: len(host.reports) == 3)
    started = time.monotonic()
    host.reports[2](Lost("died"))
    wait_until(lambda: len(host.reports) == 4)
    assert time.monotonic() - started >= 0.5


def test_an_answer_that_arrives_after_the_loss_of_its_worker_is_not_taken_twice(scripted: Scripted) -> None:
    host, pool, _ = scripted
    assert pool.submit("a task that is cancelled is not done").cancel()
    answer = pool.submit("x")
    host.reports[0](_Ready("a", is_warm=True))
    settled(host, 1)
    host.reports[0](Lost("died"))
    host.reports[0](_Answered(host.sent[0][1], "late"))
    host.reports[1](_Ready("b", is_warm=True))
    settled(host, 2)
    host.reports[1](_Answered(host.sent[1][1], "X"))
    assert answer.result(bound(60)) == "X"
    assert {node: (tally.answers, tally.lost) for node, tally in pool.nodes.items()} == {"a": (0, 1), "b": (1, 0)}
    assert pool.report() == ["a: 0 answers, 1 worker lost", "b: 1 answer, 0 workers lost"]


def test_patience_is_that_of_the_tasks_before(scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker may be at a task twenty times as long as others were, and ten minutes in any case."""
    host, pool, notes = scripted
    now = [1000.0]
    monkeypatch.setattr(worker_pool, "time", SimpleNamespace(monotonic=lambda: now[0]))
    for tell in host.reports:
        tell(_Ready(HERE, is_warm=True))
    answers = [pool.submit(word) for word in ("x", "y")]
    settled(host, 2)
    now[0] += 190 * 60.0
    answers.append(pool.submit("z"))
    wait_until(lambda: not pool._events.qsize())
    host.reports[0](_Answered(host.sent[0][1], "X"))  # it took three hours
    settled(host, 3)
    assert pool._patience(pool._workers[0]) == 20 * 190 * 60.0
    now[0] += 18 * 190 * 60.0
    host.reports[0](_Answered(host.sent[2][1], "Z"))  # the median is nine and a half times as long
    assert answers[2].result(bound(60)) == "Z"
    assert notes == []
    now[0] += 200 * 190 * 60.0
    host.reports[0](_Ready(HERE, is_warm=True))  # anything that wakes the pool
    wait_until(lambda: len(host.sent) == 4)
    assert [task for *_, task in host.sent] == ["x", "y", "z", "y"]
    assert len(notes) == 1


def test_before_any_task_is_done_patience_grows(scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers may be three hours at their first tasks, then six …: tasks that take long are done in the end."""
    host, pool, notes = scripted
    now = [1000.0]
    monkeypatch.setattr(worker_pool, "time", SimpleNamespace(monotonic=lambda: now[0]))
    host.reports[0](PLACED)
    host.reports[1](_Ready(HERE, is_warm=True))
    answers = [pool.submit(word) for word in ("x", "y")]
    settled(host, 1)

    def pass_minutes(minutes: float) -> None:
        now[0] += 60 * minutes
        pool.submit("wake").cancel()
        wait_until(lambda: not pool._events.qsize())

    pass_minutes(199)
    assert notes == []
    pass_minutes(2)  # neither the one that is being made nor the other has said anything
    wait_until(lambda: len(notes) == 2)
    assert [note.partition(" and is ended")[0] for note in notes] == [
        "a worker has been starting for 12060 s",
        "a worker has been at a task for 12060 s",
    ]
    wait_until(lambda: len(host.reports) == 4)
    host.reports[3](_Ready(HERE, is_warm=True))
    settled(host, 2)
    pass_minutes(399)
    assert len(notes) == 2
    host.reports[3](_Answered(host.sent[1][1], "X"))
    settled(host, 3)
    host.reports[3](_Answered(host.sent[2][1], "Y"))
    assert [each.result(bound(60)) for each in answers] == ["X", "Y"]


def test_machines_that_join_late_get_workers(scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    host, pool, notes = scripted
    assert pool.workers == 2
    monkeypatch.setattr(worker_pool, "_GROWTH_INTERVAL", 0.0)
    pool._look_again = 0.0
    host.room = 3
    pool.submit("x")
    wait_until(lambda: pool.workers == 3)
    host.reports[2](_Ready("late", is_warm=True))
    settled(host, 1)
    assert notes == ["node late has joined"]
    pool._tell_again = 0.0
    pool.submit("y")
    wait_until(lambda: len(notes) > 1)
    assert notes[1:] == ["1 worker on 1 node, 0 answers"], "now and then"
