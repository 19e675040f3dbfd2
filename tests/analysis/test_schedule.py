"""The order in which positions are searched; time is given, not measured."""

import threading
from typing import Any

import pytest
from analysis.client import query
from busy_machine import bound

from gtp_engine.config import Config
from gtp_engine.protocols.analysis.query import Query, parse_query
from gtp_engine.protocols.analysis.schedule import PATIENCE, Job, Schedule, SharedSchedule


def asked(name: str, **fields: Any) -> Query:
    return parse_query(query(id=name, **fields), Config())[0]


def unused(response: dict[str, Any]) -> None:
    """Take the place of what sends responses."""


def schedule_of(*names: str, parallel: int = 4, **priorities: int) -> Schedule:
    """Return a schedule with a query for each name."""
    schedule = SharedSchedule().open(parallel, unused)
    for name in names:
        schedule.add(asked(name, priority=priorities.get(name, 0)))
    return schedule


def next_job(schedule: Schedule | SharedSchedule, seconds: float = 0.0) -> Job:
    """Return the next job after it has been searched for this long."""
    job = schedule.take() if isinstance(schedule, Schedule) else schedule.next()
    assert isinstance(job, Job)
    job.searched += seconds
    return job


def slices(schedule: Schedule, count: int, seconds: float = PATIENCE / 8) -> str:
    """Return whose turn it is in the next slices."""
    return "".join(next_job(schedule, seconds).query.id for _ in range(count))


def test_a_short_job_is_served_until_it_is_long() -> None:
    schedule = schedule_of("a", "b")
    assert slices(schedule, 8) == "a" * 8
    assert slices(schedule, 6) == "bababa"


def test_a_finished_short_job_gives_way() -> None:
    schedule = schedule_of("a", "b", "c", c=1)
    for name in "cab":
        job = next_job(schedule)
        assert job.query.id == name
        schedule.finished(job)


def test_slices_alternate_between_a_long_job_and_many_short_ones() -> None:
    schedule = schedule_of("x", "a", "b")
    next_job(schedule, PATIENCE)
    assert slices(schedule, 6) == "axaxax"


def test_long_jobs_take_turns() -> None:
    schedule = schedule_of("x", "y", "z")
    for _ in range(3):
        next_job(schedule, PATIENCE)
    found = slices(schedule, 9, PATIENCE)
    assert sorted(found[:3]) == sorted(found[3:6]) == sorted(found[6:]) == ["x", "y", "z"]


def test_a_short_job_above_all_long_ones_goes_first() -> None:
    schedule = schedule_of("x")
    next_job(schedule, PATIENCE)
    schedule.add(asked("a", priority=1))
    assert slices(schedule, 8) == "a" * 8
    assert slices(schedule, 4, PATIENCE) in ("xaxa", "axax")


def test_no_more_jobs_are_begun_than_allowed() -> None:
    schedule = schedule_of("x", "y", "a", parallel=2)
    jobs = [next_job(schedule, PATIENCE) for _ in range(2)]
    schedule.add(asked("urgent", priority=5))
    assert set(slices(schedule, 6)) == {"x", "y"}
    schedule.finished(jobs[0])
    assert slices(schedule, 1) == "urgent"


@pytest.mark.parametrize(("names", "seconds", "priority"), [("a", PATIENCE, 0), ("ab", PATIENCE / 2, 1)])
def test_rivals(names: str, seconds: float, priority: int) -> None:
    """A short job has none of its own priority."""
    schedule = schedule_of(*names)
    job = next_job(schedule, seconds)
    assert not schedule.has_rivals(job)
    schedule.add(asked("c", priority=priority))
    assert schedule.has_rivals(job)


def test_errands_go_before_everything() -> None:
    schedule = schedule_of("a")
    job = next_job(schedule)
    schedule.call(print)
    assert schedule.has_rivals(job)
    assert schedule.take() is print
    assert next_job(schedule) is job


def test_terminated_jobs() -> None:
    """Waiting jobs are removed, begun ones are ended before anything else."""
    schedule = schedule_of("a", "b", "c")
    begun = next_job(schedule, PATIENCE)
    other = next_job(schedule)
    removed = schedule.terminate(lambda job: job.query.id in "ac")
    assert [job.query.id for job in removed] == ["c"]
    assert begun.is_terminated and not other.is_terminated
    assert next_job(schedule) is begun


def test_nothing_is_done_for_a_controller_that_has_gone() -> None:
    schedule = schedule_of("a", "b")
    begun = next_job(schedule)
    schedule.call(print)
    schedule.abandon()
    schedule.call(print)
    schedule.add(asked("c"))
    assert begun.is_terminated
    assert not schedule.is_over
    assert schedule.take() is begun, "so that its tree is freed"
    schedule.finished(begun)
    assert schedule.is_over


@pytest.mark.parametrize("wake", ["add", "call", "close", "open"])
def test_waiting_for_something_to_do(wake: str) -> None:
    shared, (schedule,) = shared_by("")
    found: list[object] = []
    waiter = threading.Thread(target=lambda: found.append(shared.next()))
    waiter.start()
    {
        "add": lambda: schedule.add(asked("a")),
        "call": lambda: schedule.call(print),
        "close": shared.close,
        "open": lambda: shared.open(1, unused).add(asked("a")),  # a client that comes later
    }[wake]()
    waiter.join(bound(10))
    assert len(found) == 1
    assert isinstance(found[0], {"call": type(print), "close": type(None)}.get(wake, Job))


def shared_by(*clients: str) -> tuple[SharedSchedule, list[Schedule]]:
    """Return a schedule shared by clients, whose queries are named by the letters of each text."""
    shared = SharedSchedule()
    schedules = []
    for names in clients:
        schedules.append(shared.open(4, unused))
        for name in names:
            schedules[-1].add(asked(name))
    return shared, schedules


def test_clients_take_turns_however_much_they_ask_for() -> None:
    shared, _ = shared_by("abc", "x")
    found = []
    for _ in range(4):
        job = next_job(shared)
        found.append(job.query.id)
        job.owner.finished(job)
    assert "".join(found) == "axbc"


def test_a_client_alone_is_not_interrupted() -> None:
    shared, (_, other) = shared_by("a", "")
    job = next_job(shared)
    assert not shared.has_rivals(job)
    other.add(asked("x"))
    assert shared.has_rivals(job)


def test_clients_terminate_their_own_jobs_only() -> None:
    shared, (one, _) = shared_by("a", "a")
    jobs = [next_job(shared), next_job(shared)]
    one.terminate(lambda job: True)
    assert [job.is_terminated for job in jobs] == [True, False]


def test_a_closed_schedule_is_emptied_first() -> None:
    shared, (one, other) = shared_by("a", "")
    shared.close()
    one.call(list)
    assert shared.next() is list
    job = next_job(shared)
    one.finished(job)
    other.call(print)
    assert shared.next() is print
    assert shared.next() is None
