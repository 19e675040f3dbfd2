"""Who may use an engine: one thread at a time, of the process that made it, until it is closed."""

import multiprocessing
import sys
import threading
import traceback
from collections.abc import Callable

import pytest
from fake_evaluators import FakeEvaluator

from gtp_engine import CancelToken, Config, Engine, EngineBusyError, EngineDiedError, Game, Limit

SEARCHES = {"area": FakeEvaluator, "rollouts": lambda: None}
USES: dict[str, Callable[[Engine], object]] = {
    "genmove": lambda engine: engine.genmove(),
    "play": lambda engine: engine.play("black", "A1"),
    "undo": lambda engine: engine.undo(0),
    "analyse": lambda engine: engine.analyse(Game(5), Limit(visits=2)),
    "search": lambda engine: engine.search(0.01),
    "start_analysis": lambda engine: engine.start_analysis(None, CancelToken()),  # type: ignore[arg-type]
    "score": lambda engine: engine.score(),
    "configure": lambda engine: engine.configure({"search.visits": 3}),
    "clear_board": lambda engine: engine.clear_board(),
}


def new_engine(search: str) -> Engine:
    return Engine(Config().with_values({"game.board_size": 5, "search.visits": 5}), evaluator=SEARCHES[search]())


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("search", SEARCHES)
def test_a_second_thread_is_refused_and_the_first_one_goes_on(search: str, use: Callable[[Engine], object]) -> None:
    """It was a segmentation fault."""
    token, found = CancelToken(), []
    with new_engine(search) as engine:
        engine.genmove()
        thread = threading.Thread(target=lambda: found.append(engine.search(cancel=token)))
        thread.start()
        try:
            with pytest.raises(EngineBusyError, match="in use by another thread; call it from one thread at a time"):
                while thread.is_alive():
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


def _used(engine: Engine, answers: "multiprocessing.Queue[str]") -> None:
    try:
        answers.put(str(engine.genmove().point))
    except EngineDiedError as error:
        answers.put(str(error))
    except BaseException:
        answers.put(traceback.format_exc())


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("search", SEARCHES)
def test_an_engine_is_refused_in_a_forked_process(search: str) -> None:
    """It waited for threads that only run in the other process."""
    context = multiprocessing.get_context("fork")
    with new_engine(search) as engine:
        engine.genmove()
        answers: multiprocessing.Queue[str] = context.Queue()
        process = context.Process(target=_used, args=(engine, answers))
        process.start()
        assert 'forked from; make one in each process, or start processes by multiprocessing.get_context("spawn")' in (
            answers.get(timeout=60)
        )
        process.join()
        engine.genmove()
