"""Who may use an engine: one thread at a time, of the process that made it, until it is closed."""

import contextlib
import multiprocessing
import sys
import threading
import traceback
from collections.abc import Callable
from functools import partial

import pytest
from busy_machine import bound
from fake_evaluators import FakeEvaluator
from match_helpers import engine as scripted

from gtp_engine import (
    CancelToken,
    Config,
    Engine,
    EngineBusyError,
    EngineDiedError,
    Game,
    Limit,
    SimpleGtpEngine,
    TimeSettings,
)
from gtp_engine.people.play import SharedEngines
from gtp_engine.search.limits import Limits

SEARCHES = {"area": FakeEvaluator, "rollouts": lambda: None}
USES: dict[str, Callable[[Engine], object]] = {
    "genmove": lambda engine: engine.genmove(),
    "play": lambda engine: engine.play("A1", "black"),
    "undo": lambda engine: engine.undo(0),
    "analyse": lambda engine: engine.analyse(Game(5), Limit(visits=2)),
    "search": lambda engine: engine.search(0.01),
    "start_analysis": lambda engine: engine.start_analysis(None, CancelToken()),  # type: ignore[arg-type]
    "score": lambda engine: engine.score(),
    "configure": lambda engine: engine.configure({"search.visits": 3}),
    "clear_board": lambda engine: engine.clear_board(),
    "set_komi": lambda engine: engine.set_komi(0.5),
    "set_rules": lambda engine: engine.set_rules("japanese"),
    "set_time_settings": lambda engine: engine.set_time_settings(TimeSettings.none()),
    "set_time_left": lambda engine: engine.set_time_left("black", 1, 0),
}


def new_engine(search: str) -> Engine:
    return Engine(Config().with_values({"game.board_size": 5, "search.visits": 5}), evaluator=SEARCHES[search]())


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("search", SEARCHES)
def test_a_second_thread_is_refused_and_the_first_one_goes_on(search: str, use: Callable[[Engine], object]) -> None:
    """It was a segmentation fault."""
    token, begun, found = CancelToken(), threading.Event(), []
    limits = Limits(watcher=lambda progress: bool(begun.set()), cancel=token)
    with new_engine(search) as engine:
        engine.genmove()
        thread = threading.Thread(target=lambda: found.append(engine.search(request=limits)))
        thread.start()
        try:
            assert begun.wait(bound(10))
            with pytest.raises(EngineBusyError, match="in use by another thread; call it from one thread at a time"):
                use(engine)
        finally:
            token.cancel()
            thread.join()
        assert found[0].visits > 0
        engine.genmove()


@pytest.mark.parametrize("search", SEARCHES)
def test_a_closed_engine_refuses_and_is_closed_again_without_harm(search: str) -> None:
    engine = new_engine(search)
    engine.genmove()
    engine.close()
    engine.close()
    for use in USES.values():
        with pytest.raises(EngineDiedError, match="has been closed"):
            use(engine)


def test_engines_end_with_those_that_lent_them_a_network() -> None:
    config = Config().with_values({"game.board_size": 5, "search.visits": 5})
    engines = SharedEngines(config, evaluator=FakeEvaluator())
    engine = engines.new_engine()
    engine.genmove()
    engines.close()
    for use in (engine.genmove, engines.new_engine):
        with pytest.raises(EngineDiedError, match="been closed"):
            use()


def _used(use: Callable[[], object], answers: "multiprocessing.Queue[str]", end: Callable[[], object]) -> None:
    try:
        answers.put(str(use()))
    except EngineDiedError as error:
        answers.put(str(error))
    except BaseException:
        answers.put(traceback.format_exc())
    end()


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("kind", [*SEARCHES, "shared", "client"])
def test_an_engine_is_refused_in_a_forked_process(kind: str) -> None:
    """It waited for threads that only run in the other process."""
    context = multiprocessing.get_context("fork")
    use: Callable[[], object]
    end: Callable[[], object] = list
    with contextlib.ExitStack() as stack:
        if kind == "client":
            client = stack.enter_context(SimpleGtpEngine.popen(scripted()))
            use, end, advice = partial(client.send, "name"), client.close, "before the fork; make one in each process"
        else:
            engines = stack.enter_context(SharedEngines(evaluator=FakeEvaluator()))
            use = engines.new_engine if kind == "shared" else stack.enter_context(new_engine(kind)).genmove
            advice = 'forked from; make one in each process, or start processes by multiprocessing.get_context("spawn")'
        use()
        answers: multiprocessing.Queue[str] = context.Queue()
        process = context.Process(target=_used, args=(use, answers, end))
        process.start()
        assert advice in answers.get(timeout=bound(60))
        process.join()
        assert process.exitcode == 0
        use()
