"""The public interface with wrong arguments and with text: it takes them, or says by a TengenError what to give."""

import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_evaluators import FakeEvaluator
from match_helpers import ANALYSIS_ENGINE, engine

import gtp_engine
from gtp_engine import (
    BLACK,
    PASS,
    WHITE,
    ArgumentError,
    CancelToken,
    Color,
    Config,
    Engine,
    Game,
    GameNode,
    GameTree,
    GtpEngine,
    InvalidColorError,
    InvalidSizeError,
    InvalidVertexError,
    KomiError,
    Limit,
    LimitError,
    Move,
    Point,
    PositionEvaluation,
    Rules,
    RulesError,
    SimpleAnalysisEngine,
    SimpleGtpEngine,
    TengenError,
    TimeSettings,
    format_vertex,
    load_evaluator,
    parse_vertex,
    play,
    read_metadata,
    review,
    write_metadata,
)
from gtp_engine.arguments import checked
from gtp_engine.errors import shown
from gtp_engine.search.limits import Limits

CONFIG = Config().with_values({"game.board_size": 5, "search.search": "rave", "search.visits": 2, "search.seed": 1})


def cancelled() -> CancelToken:
    token = CancelToken()
    token.cancel()
    return token


HOSTILE: tuple[Any, ...] = (
    *(
        None,
        True,
        -1,
        0,
        3,
        10**400,
        10**5000,
        2.5,
        float("nan"),
        float("inf"),
        Fraction(1, 3),
        np.int64(2),
        np.float32(0.5),
    ),
    *("", "nonsense", "C3", "pass", "black", "japanese", "\ud800", "9" * 500, b"", b"C3", b"(;SZ[5];B[aa])", object()),
    *([], [None], [3], ["C3"], [Move(BLACK, 99)], [(WHITE, "C3")], (1,), {}, {"search.visits": "x"}, {3: 4}, {"C3"}),
    *(
        lambda *_: None,
        int,
        date(2026, 1, 1),
        Game(5),
        Rules(),
        cancelled(),
        Limits(visits=1, cancel=cancelled()),
        TimeSettings.none(),
    ),
)


GOOD: dict[str, Callable[[], Any]] = {
    "color": lambda: BLACK,
    "point": lambda: PASS,
    "move": lambda: "pass",
    "vertex": lambda: "C3",
    "stones": lambda: (),
    "points": lambda: (),
    "moves": lambda: (),
    "settings": TimeSettings.none,
    "cancel": cancelled,
    "limits": lambda: Limits(visits=1, cancel=cancelled()),
    "text": lambda: "none",
    "game": lambda: Game(5),
    "kernels": lambda: None,
    "done": lambda: print,
    "seconds": lambda: 0.0,
    "values": dict,
    "data": lambda: "(;SZ[5];B[aa])",
    "status": lambda: "dead",
    "rules": Rules,
    "key": str,
    "words": lambda: ["none"],
    "main_time": lambda: 1.0,
    "increment": lambda: 1.0,
    "result": lambda: "B+R",
    "level": lambda: "max",
    "callback": lambda: print,
    "limit": lambda: Limit(visits=1),
    "width": lambda: 5,
    "height": lambda: 5,
    "komi": lambda: 0.5,
    "config": lambda: CONFIG,
    "evaluator": lambda: None,
    "log": lambda: print,
    "left": dict,
    "to_play": lambda: 1,
    "clock": lambda: None,
    "first_player": lambda: BLACK,
    "choice": lambda: chosen(),
    "path": lambda: "no-such-file",
    "value": lambda: 1,
}
NUMBERS = {"visits": 1, "count": 2, "stones": 1, "overtime": 1.0, "periods": 1, "seed": 1, "number": 1}


def chosen() -> Any:
    with Engine(CONFIG) as engine:
        return engine.genmove(BLACK, play=False)


def good(name: str, owner: object) -> Any:
    if name in NUMBERS and not (name == "stones" and owner in (Game, Engine)):
        return NUMBERS[name]
    return GOOD[name]() if name in GOOD else "9"


def methods(owner: type) -> Iterator[tuple[str, list[inspect.Parameter]]]:
    """Yield the names of an object's public methods that take arguments, with these."""
    for name, value in inspect.getmembers(owner, callable):
        if not name.startswith("_") and not isinstance(value, type):
            parameters = [
                parameter
                for parameter in inspect.signature(value).parameters.values()
                if parameter.name != "self" and parameter.kind is not parameter.VAR_POSITIONAL
            ]
            if parameters:
                yield name, parameters


def attack(call: Callable[..., Any], parameters: list[inspect.Parameter], owner: object) -> None:
    """Call with each hostile value in each place; anything but a TengenError fails."""
    for attacked in parameters:
        for value in HOSTILE:
            arguments = {
                parameter.name: good(parameter.name, owner)
                for parameter in parameters
                if (parameter.default is parameter.empty or parameter.name == "config") and parameter is not attacked
            }
            given = arguments | {attacked.name: value}
            try:
                call(**given)
            except TengenError as error:
                assert "\n" not in str(error) and len(str(error)) < 1200, error
            except Exception as error:
                raise AssertionError(
                    f"{getattr(call, '__qualname__', call)}: {attacked.name} = {shown(value)}"
                ) from error


@pytest.mark.parametrize("function", [parse_vertex, format_vertex, play.parse_time, play.format_time, play.state_of])
def test_functions(function: Callable[..., Any]) -> None:
    attack(function, list(inspect.signature(function).parameters.values()), None)


@pytest.mark.parametrize(
    "owner", [Limit, Color, Point, Game, Engine, Config, TimeSettings, play.GameSettings, review.Effort]
)
def test_new_objects(owner: type) -> None:
    attack(owner, [each for each in inspect.signature(owner).parameters.values()], owner)


@pytest.mark.parametrize(
    ("owner", "make"),
    [
        (Game, lambda: Game(5)),
        (Rules, Rules),
        (Config, Config),
        (TimeSettings, TimeSettings.none),
        (CancelToken, CancelToken),
        (GameTree, lambda: GameTree("(;SZ[5];B[aa](;W[bb])(;W[cc]))")),
        (GameNode, lambda: GameTree("(;SZ[5];B[aa](;W[bb])(;W[cc]))").root.children[0]),
        (PositionEvaluation, lambda: PositionEvaluation(Color.BLACK, {"C3": 0.7, "pass": 0.3}, 0.5, None)),
        (play.GameSettings, lambda: play.GameSettings(human=BLACK, width=5)),
        (play.GameClock, lambda: play.GameClock(TimeSettings.none())),
    ],
)
def test_methods(owner: type, make: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # some write files
    for name, parameters in methods(owner):
        attack(getattr(make(), name), parameters, owner)


WAITED = ("every", "timeout")
"""Seconds: any above 0 would be waited for."""


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), -float("inf"), -(10**400)])
def test_times_to_wait_are_above_0(seconds: float) -> None:
    game, scripted = Game(5), engine("--analyzes")
    calls: list[Callable[[], Any]] = [lambda: SimpleGtpEngine.popen(scripted, timeout=seconds)]
    with SimpleGtpEngine.popen(scripted) as one, SimpleAnalysisEngine.popen(ANALYSIS_ENGINE) as two:
        calls += [lambda: one.send("name", timeout=seconds), lambda: two.analyse_game(game, timeout=seconds)]
        for client in (one, two):
            calls += [partial(client.watch, game, every=seconds), partial(client.watch, game, timeout=seconds)]
        for call in calls:
            with pytest.raises(LimitError, match="expected a number above 0"):
                call()
        assert one.send("name") == "Scripted", "nothing has been sent that was not answered"


def test_methods_of_a_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # logs are written
    monkeypatch.setattr("gtp_engine.client.connection.QUIT_SECONDS", 0.2)
    kinds = {SimpleGtpEngine: engine("--analyzes --lists undo"), SimpleAnalysisEngine: ANALYSIS_ENGINE}
    for owner, command in kinds.items():
        with owner.popen(command) as client:
            for name, parameters in methods(owner):
                if name not in ("popen", "connect", "submit", "submit_analysis"):
                    attack(getattr(client, name), [each for each in parameters if each.name not in WAITED], owner)
    for call in (GtpEngine.popen, SimpleGtpEngine.popen, SimpleGtpEngine.connect):
        attack(call, list(inspect.signature(call).parameters.values()), GtpEngine)


@pytest.mark.parametrize("path", ["", "\0", "\ud800", "n" * 300, ".", "no/such/folder"])
def test_names_that_no_file_has(path: str) -> None:
    onnx, config = partial(write_metadata, encoder="katago-v7", name="x", sizes="9x9"), Config().network
    calls: list[Callable[[str], Any]] = [GameTree.load, GameTree().save, read_metadata, onnx]
    if path not in ("", "."):  # these are the folder itself, and the network that ships
        calls += [lambda path: load_evaluator(replace(config, model=path), log=print)]
    calls += [lambda path: SimpleGtpEngine.popen([sys.executable, "-c", ""], log=path)]
    for call in calls:
        with pytest.raises(TengenError) as caught:
            call(path)
        assert "\n" not in str(caught.value) and len(str(caught.value)) < 1200


WAITS = frozenset({"measure", "wait_for_kernels", "warm_up", "share_kernels", "ponder_after", "analyze"})
"""Methods that these values let wait, or that only change what is compiled, and a former name."""


@pytest.mark.parametrize("evaluator", [None, FakeEvaluator()], ids=["rollouts", "network"])
def test_methods_of_an_engine(evaluator: Any) -> None:
    with Engine(
        CONFIG if evaluator is None else Config().with_values({"search.visits": 2}), evaluator=evaluator
    ) as engine:
        for name, parameters in methods(Engine):
            if name not in WAITS:
                engine.set_board_size(5)
                attack(getattr(engine, name), parameters, Engine)


def test_methods_of_a_session() -> None:
    settings = play.GameSettings(human=BLACK, width=5)
    with Engine(CONFIG) as engine:
        for name, parameters in methods(play.GameSession):
            if name not in ("start", "load", "check", "check_record"):
                attack(getattr(play.GameSession.start(engine, settings), name), parameters, play.GameSession)
        for call in (play.GameSession.start, play.GameSession.load, play.GameSession.check_record):
            attack(partial(call, engine), list(inspect.signature(call).parameters.values())[1:], play.GameSession)


def test_what_text_is_taken() -> None:
    game = Game(9, rules="japanese")
    assert game.rules == Rules.parse("japanese")
    game.play("E5")
    assert (game.color_at("E5"), len(game.liberties("e5")), game.chain("E5")) == (BLACK, 4, [game.moves[0].point])
    assert game.play("D4", "white") == game.play(Move("B", "C3"))._replace(color=WHITE, point=game.moves[1].point)  # type: ignore[arg-type]
    assert game.legal_points("b") == game.legal_points(BLACK)
    assert game.score(["E5"]) == game.score([game.moves[0].point])
    game.to_play = "white"  # type: ignore[assignment]
    assert game.to_play == WHITE
    game.set_handicap(["C3", "G7"])
    assert game.handicap == 2
    with Engine(CONFIG) as engine:
        engine.play("B", "C3")
        engine.play(WHITE, "b2")
        engine.play_sequence([("black", "A1")])  # type: ignore[list-item]
        engine.set_rules("jap" + "anese")
        engine.set_time_left("w", 10, 0)
        engine.genmove("B", play=False)
        assert len(engine.game.moves) == 3


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Game(9, komi="7"), ArgumentError, "Game: komi '7': expected a number or None"),
        (lambda: Game(9, komi=10**400), KomiError, "expected a finite number"),
        (lambda: Game("9"), ArgumentError, "Game: width '9': expected an integer"),
        (lambda: Game(90), InvalidSizeError, "board size 90: expected 2 to 25"),
        (lambda: Game(9, rules="jap"), RulesError, "rules 'jap': expected one of"),
        (lambda: Game(9).color_at("Z9"), InvalidVertexError, "invalid coordinate 'Z9'"),
        (lambda: Game(9).color_at(PASS), InvalidVertexError, "invalid point 1"),
        (lambda: Game(9).play("E5", "red"), InvalidColorError, "invalid color 'red'"),
        (lambda: Game(9).play(None), ArgumentError, "Game.play: move None: expected a Move, an integer or a text"),
        (lambda: Game(9).set_up([5]), InvalidVertexError, "move 5: expected a Move of color and point"),
        (lambda: Game(9).set_up("E5"), ArgumentError, r"stones 'E5': expected several values \(a Move each\)"),
        (lambda: parse_vertex("Z9", width=90, height=9), InvalidSizeError, "board size 90"),
        (
            lambda: load_evaluator("model.onnx", log=print),
            ArgumentError,
            "config 'model.onnx': expected a NetworkConfig",
        ),
        (lambda: GtpEngine.popen(3), ArgumentError, "^GtpEngine.popen: command 3: expected a text or several values"),
        (lambda: Engine(CONFIG, log=3), ArgumentError, "Engine: log 3: expected a function or None"),
    ],
)
def test_messages_say_what_to_give(call: Callable[[], Any], error: type[TengenError], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_several_values_are_checked_one_by_one(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"GameNode\.set: values 3: expected a text"):
        GameTree().root.set("C", "a", 3)  # type: ignore[arg-type]
    with pytest.raises(
        ArgumentError, match=r"write_metadata: license None: expected a text, a number or True or False"
    ):
        write_metadata("x.onnx", encoder="katago-v7", name="x", sizes="9x9", license=None)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"command \['gnugo', 3\]: expected texts and paths"):
        SimpleGtpEngine.popen(["gnugo", 3])  # type: ignore[list-item]


def test_all_public_functions_check_their_arguments() -> None:
    plain = {"Choice", "Score", "Move", "GameState", "Hint", "Phase", *dir(gtp_engine.errors)}
    plain |= {"Color"}  # checks its one argument itself
    plain |= {"TimeLeft", "Evaluator", "EvaluatorInfo", "Seen", "Guess", "NetworkInfo"}  # a protocol and values
    plain |= {"PlayResult", "Analysis", "MoveAnalysis"}  # results
    plain |= {"AnalysisStream", "AsyncAnalysis"}
    plain |= {"GameReview", "People", "PlayedMove", "Side", "Finding", "Candidate", "GameLine"}  # results
    for module in (gtp_engine, play, review):
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value) and name not in plain:
                makers = (value.__init__, value.__new__) if isinstance(value, type) else (value,)
                assert any(hasattr(maker, "__wrapped__") for maker in makers), name


def test_a_checked_call_behaves_as_before() -> None:
    @checked
    def join(text: str, *, times: int = 2) -> str:
        """Return it."""
        return text * times

    assert (join("a"), join("b", times=np.int64(3)), join.__doc__) == ("aa", "bbb", "Return it.")
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        join()
