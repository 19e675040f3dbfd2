"""SharedEvaluator: what users ask for at the same time becomes one call, and each gets what it would get alone."""

import gc
import itertools
import threading
import weakref
from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
from busy_machine import bound, wait_until
from fake_evaluators import FakeEvaluator

from gtp_engine import Game, ModelError
from gtp_engine.evaluation import shared
from gtp_engine.evaluation.evaluator import (
    BareEvaluator,
    EvaluationOptions,
    ExclusiveEvaluator,
    ForwardingEvaluator,
    Request,
)
from gtp_engine.evaluation.evaluator_info import EvaluatorInfo
from gtp_engine.evaluation.from_game import write_game
from gtp_engine.evaluation.positions import Evaluation, new_evaluation, new_positions
from gtp_engine.evaluation.shared import EvaluatorWork, LentEvaluator, SharedEvaluator

BATCH = 8


class GatedEvaluator(FakeEvaluator):
    """Evaluates while the gate is open, `most_rows` at a time; `asked` are the rows of each call."""

    def __init__(self) -> None:
        super().__init__(batch=BATCH)
        self.gate = threading.Event()
        self.gate.set()
        self.asked: list[int] = []
        self.most_rows = BATCH + 1

    def evaluate(self, request: Request) -> None:
        self.asked.append(request.rows)
        assert self.gate.wait(60)
        if request.rows > self.most_rows:
            raise ModelError(f"{request.rows} rows")
        super().evaluate(request)


class User(threading.Thread):
    """Asks for the evaluation of a game's position, so many times in one call."""

    def __init__(self, evaluator: Any, move: str, rows: int, komi: float = 7.5, optimism: float = 0.0) -> None:
        super().__init__(daemon=True)
        self.evaluator = evaluator
        self.error: Exception | None = None
        game = Game(5, 5, komi=komi)
        game.play(move)
        positions, self.out = new_positions(BATCH + 1, 5, 5), new_evaluation(BATCH + 1, 5, 5)
        for row in range(rows):
            write_game(positions, row, game, game.to_play)
        self.request = Request(positions, rows, self.out, EvaluationOptions(optimism=optimism))
        self.start()

    def run(self) -> None:
        try:
            self.evaluator.evaluate(self.request)
        except ModelError as error:
            self.error = error

    def result(self) -> Evaluation:
        """Return what was found, once it is there."""
        self.join(bound(60))
        assert not self.is_alive()
        return self.out

    def check(self) -> None:
        """Compare the result with that of an evaluator that is not shared."""
        alone = new_evaluation(BATCH + 1, 5, 5)
        FakeEvaluator().evaluate(self.request._replace(out=alone))
        for found, expected in zip(self.result(), alone, strict=True):
            assert np.array_equal(found, expected)


@pytest.fixture
def evaluator() -> GatedEvaluator:
    return GatedEvaluator()


@pytest.fixture
def owner(evaluator: GatedEvaluator, monkeypatch: pytest.MonkeyPatch) -> SharedEvaluator:
    monkeypatch.setattr(shared, "PATIENCE", 0.0)
    return SharedEvaluator(evaluator)


@pytest.fixture
def patient_owner(evaluator: GatedEvaluator, monkeypatch: pytest.MonkeyPatch) -> SharedEvaluator:
    """Return one that waits for a quarter of an hour: its clock goes on by a second whenever it is read."""
    monkeypatch.setattr(shared, "PATIENCE", 900.0)
    monkeypatch.setattr(shared, "time", SimpleNamespace(perf_counter=itertools.count().__next__))
    return SharedEvaluator(evaluator)


@pytest.fixture
def busy(owner: SharedEvaluator, evaluator: GatedEvaluator) -> Iterator[SharedEvaluator]:
    """Yield the evaluator while a call of one row is under way, until the gate opens."""
    evaluator.gate.clear()
    user = User(owner.lend(), "A1", 1)
    wait_until(lambda: evaluator.asked == [1])
    yield owner
    user.check()


def ask_at_once(owner: SharedEvaluator, evaluator: GatedEvaluator, *requests: tuple[Any, ...]) -> list[User]:
    """Return the users with these moves, rows, komis and optimism, who have been waiting for the gate in this order."""
    users = []
    for request in requests:
        users.append(User(owner.lend(), *request))
        wait_until(lambda: len(owner._waiting) == len(users))
    evaluator.gate.set()
    for user in users:
        user.result()
    return users


@pytest.mark.parametrize(
    ("requests", "asked"),
    [
        ([("B2", 2), ("C3", 3), ("D4", 2)], [7]),
        ([("B2", 6), ("C3", 6), ("D4", 2), ("E5", BATCH)], [8, 6, 8]),  # no more rows than a batch
        ([("B2", BATCH + 1), ("C3", 1)], [BATCH + 1, 1]),  # but of one user
        ([("B2", 2), ("B2", 2, 7.5, 0.5), ("C3", 2), ("D4", 1, 7.5, 0.5)], [4, 3]),  # none with other options
    ],
)
def test_waiting_calls_join(
    busy: SharedEvaluator, evaluator: GatedEvaluator, requests: list[tuple[Any, ...]], asked: list[int]
) -> None:
    for user in ask_at_once(busy, evaluator, *requests):
        user.check()
    assert evaluator.asked == [1, *asked]
    assert busy.work() == EvaluatorWork(1 + sum(asked), 1 + len(asked), BATCH, waiting=0)


def test_games_with_another_komi_share_a_call(busy: SharedEvaluator, evaluator: GatedEvaluator) -> None:
    komis: list[float] = []
    evaluator.watch = lambda request: komis.extend(request.positions.conditions[: request.rows, 0].tolist())
    for user in ask_at_once(busy, evaluator, ("B2", 2), ("B2", 2, 0.5), ("C3", 2), ("D4", 1, 0.5)):
        user.check()
    assert evaluator.asked == [1, 7]
    assert komis[1:] == [7.5, 7.5, 0.5, 0.5, 7.5, 7.5, 0.5]


def test_an_error_reaches_all_joined(busy: SharedEvaluator, evaluator: GatedEvaluator) -> None:
    evaluator.most_rows = 2
    users = ask_at_once(busy, evaluator, ("B2", 2), ("C3", 1), ("D4", 2, 7.5, 0.5))
    assert [str(user.error) for user in users] == ["3 rows", "3 rows", "None"]


@pytest.mark.parametrize(("rows", "again"), [(2, 3), (BATCH - 1, 1)])
def test_a_call_waits_for_a_user(
    patient_owner: SharedEvaluator, evaluator: GatedEvaluator, rows: int, again: int
) -> None:
    first, second = patient_owner.lend(), patient_owner.lend()
    User(first, "A1", 1).check()
    waits = User(second, "B2", rows)
    wait_until(lambda: patient_owner._waiting)
    assert evaluator.asked == [1]
    User(first, "C3", again).check()
    waits.check()
    assert evaluator.asked == [1, rows + again]


def test_neither_a_user_alone_nor_a_full_batch_waits(patient_owner: SharedEvaluator, evaluator: GatedEvaluator) -> None:
    alone = patient_owner.lend()
    for rows in (1, 1, 2):
        User(alone, "A1", rows).check()
    User(patient_owner.lend(), "B2", BATCH - 1).check()
    assert evaluator.asked == [1, 1, 2, BATCH - 1]


def test_users_who_do_not_ask_again_are_forgotten(owner: SharedEvaluator) -> None:
    gone = owner.lend()
    User(gone, "A1", 1).check()
    User(owner.lend(), "B2", 1).check()
    reference = weakref.ref(gone)
    del gone
    gc.collect()
    assert reference() is None


def test_every_call_reaches_the_evaluator(
    owner: SharedEvaluator, evaluator: GatedEvaluator, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[tuple[object, ...]] = []
    calls = {"prepare": (5, 4), "clear_cache": (), "write_rollout_policy": ("positions", 3, "policy")}
    for name in calls:
        monkeypatch.setattr(evaluator, name, lambda *given, name=name: called.append((name, *given)))
    for user in (owner, owner.lend()):
        for name, given in calls.items():
            getattr(user, name)(*given)
        User(user, "A1", 2).check()
    assert called == 2 * [(name, *given) for name, given in calls.items()]
    assert owner.work() == EvaluatorWork(4, 2, BATCH, waiting=0)


@pytest.mark.parametrize("beside", [False, True])
def test_every_call_but_one_that_prepares_beside_takes_its_turn(beside: bool) -> None:
    turn = MagicMock()
    forwarding = ForwardingEvaluator(BareEvaluator(EvaluatorInfo("x", 1, prepares_beside=beside)), turn)
    for call in (partial(forwarding.prepare, 9, 9), forwarding.clear_cache, forwarding.close):
        call()
    assert turn.__enter__.call_count == 3 - beside


def test_two_calls_at_a_time_are_made_by_one_user_alone() -> None:
    pairs = BareEvaluator(EvaluatorInfo("pairs", 8, pair_seconds=((2, 0.1),)))
    assert [each.info.at_once for each in (ExclusiveEvaluator(pairs), SharedEvaluator(pairs).lend())] == [2, 1]


def test_only_the_owner_closes_it(owner: SharedEvaluator, evaluator: GatedEvaluator) -> None:
    borrowed: LentEvaluator = owner.lend()
    borrowed.close()
    assert not evaluator.is_closed
    owner.close()
    assert evaluator.is_closed
