"""Arguments of the public interface: text and numpy's numbers are taken, other kinds are refused in words."""

import copy
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from match_helpers import ANALYSIS_ENGINE, engine

from gtp_engine import (
    BLACK,
    PASS,
    WHITE,
    ArgumentError,
    Color,
    Config,
    ConfigError,
    Engine,
    EngineStartError,
    FunctionEvaluator,
    Game,
    GameTree,
    Guess,
    InvalidColorError,
    InvalidSizeError,
    InvalidVertexError,
    KomiError,
    Limit,
    LimitError,
    MatchSettings,
    Move,
    Point,
    PositionEvaluation,
    Rules,
    RulesError,
    Score,
    SgfError,
    SimpleAnalysisEngine,
    SimpleGtpEngine,
    TengenError,
    TimeSettings,
    TimeSettingsError,
    encode,
    load_evaluator,
    parse_vertex,
    read_headers,
    read_metadata,
    run_match,
    write_metadata,
)
from gtp_engine.engine.answers import Ownership
from gtp_engine.people import play, review
from gtp_engine.search.report import for_color

MATCH = MatchSettings(first="a", second="b")
CONFIG = Config().with_values({"game.board_size": 5, "search.search": "rave", "search.visits": 2, "search.seed": 1})


def test_what_is_taken() -> None:
    game = Game(np.int64(9), rules="japanese", komi=np.float32(0.5))  # type: ignore[arg-type]
    assert (game.rules, game.komi) == (Rules.parse("japanese"), 0.5)
    game.play("E5")
    assert (game.color_at("E5"), len(game.liberties("e5")), game.chain("E5")) == (BLACK, 4, [game.moves[0].point])
    assert game.play("D4", "white") == game.play(Move("B", "C3"))._replace(color=WHITE, point=game.moves[1].point)  # type: ignore[arg-type]
    assert game.legal_points("b") == game.legal_points(BLACK)
    assert game.score(["E5"]) == game.score([game.moves[0].point])
    assert [Color(number) for number in np.array([0, 1, 2], np.int8)] == [0, BLACK, WHITE]  # type: ignore[arg-type]
    numbers = Limit(np.float32(0.5), np.int64(3), 1e3)  # type: ignore[arg-type]
    assert [type(value) for value in (numbers.time, numbers.visits, numbers.playouts)] == [float, int, int]
    config = Config().with_values({"search.visits": np.int64(5), "network.model": Path("x")})  # type: ignore[dict-item]
    assert (config.search.visits, config.network.model) == (5, "x")
    assert "RE[W+84]" in game.to_sgf(result=Score(0, 84)) and "DT[2026-11-29]" in game.to_sgf(date=date(2026, 11, 29))
    assert PositionEvaluation(BLACK, {"E5": 1.0}, 0.5, None).draw(np.random.default_rng(1)) == "E5"
    assert game.svg(marks={"A1": None, "B1": "\0"}) == game.svg(marks={"B1": " "})  # type: ignore[dict-item]
    tree = GameTree()
    tree.root.set_clock("b", np.float32(1.5), np.int64(2))  # type: ignore[arg-type]
    assert tree.root.clocks == {BLACK: (1.5, 2)}
    game.to_play = "white"  # type: ignore[assignment]
    assert game.to_play == WHITE
    assert game.play(np.int32(Point("A1", 9))).point == Point("A1", 9)  # type: ignore[arg-type]
    game.set_handicap(["C3", "G7"])
    assert game.handicap == 2
    assert (play.GameSettings(human="white").engine, for_color(1.0, "white"), for_color(1.0, "b")) == (BLACK, -1, 1)  # type: ignore[arg-type]
    assert play.GameClock(TimeSettings.absolute(60)).left("black").main == 60
    with Engine(CONFIG) as engine:
        engine.play("C3", "B")
        engine.play("b2", WHITE)
        engine.play_sequence([("black", "A1")])  # type: ignore[list-item]
        engine.set_rules("jap" + "anese")
        engine.set_time_left("w", 10, 0)
        engine.set_seed(np.int64(1))  # type: ignore[arg-type]
        engine.genmove("B", play=False)
        assert len(engine.game.moves) == 3


def mocked() -> SimpleAnalysisEngine:
    return SimpleAnalysisEngine.mock(lambda line: "")


WRONG: dict[str, tuple[Callable[[], Any], type[TengenError], str]] = {
    "one point for several": (lambda: Game(9).score("E5"), ArgumentError, "points 'E5': expected a list of points"),
    "text as region": (lambda: Game(9).svg(region="A1:C3"), ArgumentError, "points 'A1:C3'"),
    "list as marks": (lambda: Game(9).svg(marks=["E5"]), ArgumentError, "expected marks by vertex"),  # type: ignore[arg-type]
    "one game to encode": (lambda: encode(Game(5)), ArgumentError, "games <Game 5x5.*expected a list of Games"),  # type: ignore[arg-type]
    "number as comment": (lambda: GameTree().root.set("C", 5), ArgumentError, "value 5: expected text"),  # type: ignore[arg-type]
    "number as a move's comment": (lambda: GameTree().root.add_move("Q16", comment=3), ArgumentError, "comment 3"),  # type: ignore[arg-type]
    "number as files": (lambda: list(GameTree.load_all(3)), ArgumentError, "records 3: expected files or folders"),  # type: ignore[arg-type]
    "text as komi": (lambda: Game(9, komi="7"), KomiError, "komi '7': expected a finite number"),  # type: ignore[arg-type]
    "huge komi": (lambda: Game(9, komi=10**400), KomiError, "expected a finite number"),
    "text as size": (lambda: Game("9"), InvalidSizeError, "board size '9': expected 2 to 25"),  # type: ignore[arg-type]
    "fraction as size": (lambda: Game(9.5), InvalidSizeError, "board size 9.5"),  # type: ignore[arg-type]
    "size of a vertex": (lambda: parse_vertex("Z9", width=90, height=9), InvalidSizeError, "board size 90"),
    "number as rules": (lambda: Game(9, rules=3), RulesError, "rules 3: expected Rules, or a text such"),  # type: ignore[arg-type]
    "rules as their text": (lambda: Rules.parse(Rules()), ArgumentError, "rules .*: expected text"),  # type: ignore[arg-type]
    "text as ko": (lambda: Rules(ko="no"), RulesError, "ko 'no': expected SIMPLE or"),  # type: ignore[arg-type]
    "number as flag": (lambda: Rules(suicide=1), RulesError, "suicide 1: expected true or false"),  # type: ignore[arg-type]
    "pass": (lambda: Game(9).color_at(PASS), InvalidVertexError, "invalid point pass"),
    "None as point": (lambda: Point(None), InvalidVertexError, "point None: expected a point, or a vertex"),  # type: ignore[arg-type]
    "None as vertex": (lambda: parse_vertex(None, width=9, height=9), ArgumentError, "vertex None: expected text"),  # type: ignore[arg-type]
    "None as letters of SGF": (lambda: Point.from_sgf(None), InvalidVertexError, "SGF point None"),  # type: ignore[arg-type]
    "text as column": (lambda: Point.from_xy("4", 4), InvalidVertexError, "invalid point at x '4'"),  # type: ignore[arg-type]
    "False as color": (lambda: Color(False), InvalidColorError, "invalid color False"),
    "one move to add": (lambda: GameTree().root.add_variation("D4"), ArgumentError, "points 'D4': expected a list of"),
    "no move number": (lambda: GameTree().game(0), SgfError, "move number 0: expected 1 or more"),
    "text as move number": (lambda: GameTree().game("5"), ArgumentError, "move number '5': expected an integer"),  # type: ignore[arg-type]
    "tree to analyse": (lambda: mocked().analyse(GameTree()), ArgumentError, "game <GameTree.*: expected a Game"),  # type: ignore[arg-type]
    "number as limit": (lambda: mocked().analyse(Game(9), 100), ArgumentError, "limit 100: expected a Limit"),  # type: ignore[arg-type]
    "tree to play on": (lambda: Engine(CONFIG).set_game(GameTree()), ArgumentError, "game <GameTree.*expected a Game"),  # type: ignore[arg-type]
    "fraction as seed": (lambda: Engine(CONFIG).set_seed(1.5), ArgumentError, "seed 1.5: expected an integer"),  # type: ignore[arg-type]
    "NaN in a query": (lambda: mocked().query({"komi": np.nan}), ArgumentError, "query: .*expected values of JSON"),
    "copied client": (lambda: copy.copy(mocked()), ArgumentError, "an engine is not copied or pickled"),
    "text as main time": (lambda: TimeSettings.absolute("60"), TimeSettingsError, "main time '60': expected seconds"),  # type: ignore[arg-type]
    "part of a period": (lambda: TimeSettings.byoyomi(60, 9, 2.5), TimeSettingsError, "periods 2.5"),  # type: ignore[arg-type]
    "part of a move left": (lambda: GameTree().root.set_clock("b", 1, 2.5), SgfError, "clock 2.5"),  # type: ignore[arg-type]
    "empty name of a folder": (lambda: list(read_headers("")), SgfError, "expected a regular file"),
    "None as move": (lambda: Game(9).play(None), InvalidVertexError, "point None"),  # type: ignore[arg-type]
    "number as stone": (lambda: Game(9).set_up([5]), InvalidVertexError, "move 5: expected a Move of"),  # type: ignore[list-item]
    "color": (lambda: Color("red"), InvalidColorError, "invalid color 'red': expected b, black, w or white"),
    "number off the board": (lambda: Point(3, 9), InvalidVertexError, "invalid point 3: the board is 9x9"),
    "vertex as played": (lambda: GameTree().root.add_played("D4"), ArgumentError, "move 'D4': expected a Move"),  # type: ignore[arg-type]
    "endless search": (lambda: Engine(CONFIG).search(), LimitError, "a search without an end: expected seconds, or"),
    "letters of SGF": (lambda: Point.from_sgf("ja", 9), InvalidVertexError, "invalid point at x 9, y 0"),
    "number as token": (lambda: Engine(CONFIG).score(5), ArgumentError, "cancel 5: expected a CancelToken"),  # type: ignore[arg-type]
    "column of a pass": (lambda: PASS.xy, InvalidVertexError, "the pass has no column and row"),
    "True as color": (lambda: Game(9).play("E5", True), InvalidColorError, "invalid color True"),
    "point as color": (lambda: Game(9).play("E5", PASS), InvalidColorError, "invalid color pass"),
    "color as point": (lambda: Game(9).play(BLACK), InvalidVertexError, "invalid point BLACK"),
    "bytes as TOML": (lambda: Config.from_toml_text(b"x"), ArgumentError, "TOML b'x': expected text"),  # type: ignore[arg-type]
    "periods": (lambda: GameTree().root.set_clock("b", 1, -5), SgfError, "clock -5: expected seconds, moves or"),
    "True as point": (lambda: Game(9).play(True), InvalidVertexError, "invalid point True"),
    "other board": (lambda: GameTree().root.add_played(Move(BLACK, Point("A9", 9))), InvalidVertexError, "of 9x9"),
    "pass as region": (lambda: Game(9).svg(region=["pass"]), InvalidVertexError, "invalid point pass"),
    "side of owners": (lambda: Ownership({}, BLACK).seen_by("x"), InvalidColorError, "invalid color 'x'"),
    "list as color": (lambda: Color([]), InvalidColorError, r"invalid color \[\]"),  # type: ignore[arg-type]
    "section": (lambda: Config({"search.visits": 1}), ConfigError, "expected a GameConfig; Config().with_values"),  # type: ignore[arg-type]
    "number as option": (lambda: Config().with_values({3: 4}), ConfigError, "option 3: expected a name such"),  # type: ignore[dict-item]
    "list of options": (lambda: Config().with_values(["search.visits"]), ArgumentError, "expected a Mapping"),  # type: ignore[arg-type]
    "file as config": (lambda: Engine("t.toml"), ArgumentError, "config 't.toml': expected a Config"),  # type: ignore[arg-type]
    "file as network": (lambda: Engine(evaluator="x"), ArgumentError, "evaluator 'x': expected an Evaluator"),  # type: ignore[arg-type]
    "one game": (lambda: Engine(CONFIG).evaluate(Game(5)), ArgumentError, "games <Game 5x5.*expected a list of Games"),  # type: ignore[arg-type]
    "path as record": (lambda: GameTree(Path("x")), ArgumentError, "expected bytes or text; read the file"),  # type: ignore[arg-type]
    "name as record": (lambda: GameTree("games/x.sgf"), SgfError, "no SGF data found; read the file first"),
    "number as record": (lambda: Game.from_sgf(3), ArgumentError, "record 3: expected bytes or text"),  # type: ignore[arg-type]
    "property": (lambda: GameTree().root.set("c", "a"), SgfError, "property 'c': expected a name of capital letters"),
    "text as limit": (lambda: Limit(time="3"), LimitError, "limit of '3' time: expected a number above 0"),  # type: ignore[arg-type]
    "part of a visit": (lambda: Limit(visits=1.5), LimitError, "limit of 1.5 visits: expected a whole number"),  # type: ignore[arg-type]
    "no visits": (lambda: Limit(visits=0), LimitError, "limit of 0 visits: expected a whole number above 0 and"),
    "NaN as limit": (lambda: Limit(time=np.nan), LimitError, "limit of nan time"),
    "no cap": (lambda: TimeSettings.fischer_capped(60, 5, 90, None), TimeSettingsError, "limit per move None"),  # type: ignore[arg-type]
    "kind of time settings": (lambda: TimeSettings(600), TimeSettingsError, "of the kind 600; call TimeSettings.abs"),  # type: ignore[arg-type]
    "color of a move": (lambda: Game(9).play(Move(BLACK, PASS), "w"), InvalidColorError, "black pass as one of white"),
    "array as owners": (lambda: Game(9).svg(ownership=np.zeros(81)), ArgumentError, "ownership array"),  # type: ignore[arg-type]
    "None as size": (lambda: Game(9).svg(size=None, arrows=None), InvalidSizeError, "picture of None pixels"),  # type: ignore[arg-type]
    "no number as owner": (lambda: Game(9).svg(ownership={"A1": np.nan}), ArgumentError, "of the 9x9 board"),
    "owner elsewhere": (lambda: Game(13).svg(ownership=Ownership({"A1": 1.0}, BLACK)), ArgumentError, "of the 13x13"),
    "shown side": (lambda: for_color(1.0, 3), InvalidColorError, "invalid color 3"),
    "copied engine": (lambda: copy.copy(Engine(CONFIG)), ArgumentError, "an engine is not copied or pickled; make one"),
    "path as a match": (lambda: run_match(MATCH, "games"), ArgumentError, "folder 'games': expected a MatchFolder"),  # type: ignore[arg-type]
    "whole configuration": (lambda: load_evaluator(Config(), log=print), ArgumentError, "expected a NetworkConfig"),  # type: ignore[arg-type]
    "part of a stone": (lambda: Engine(Config()).fixed_handicap(2.5), ArgumentError, "handicap 2.5: expected an int"),  # type: ignore[arg-type]
    "part of visits": (lambda: review.Effort(visits=2.5), ArgumentError, "visits 2.5: expected an integer"),  # type: ignore[arg-type]
    "number as clock": (lambda: play.GameSettings(human=BLACK, time=9), ArgumentError, "time 9: expected a TimeSet"),  # type: ignore[arg-type]
    "no batch": (lambda: FunctionEvaluator(lambda seen: Guess(np.ones(9)), batch=0), LimitError, "batch of 0"),
    "text as problems": (lambda: review.problems_in("(;)"), ArgumentError, "record .*: expected bytes"),  # type: ignore[arg-type]
    "human": (lambda: play.GameSettings(human=3), InvalidColorError, "invalid color 3"),
    "command": (lambda: SimpleGtpEngine.popen(3), ArgumentError, "command 3: expected texts and paths"),  # type: ignore[arg-type]
    "no command": (lambda: SimpleGtpEngine.popen([]), EngineStartError, "engine: cannot run '': no command"),
    "word of a command": (lambda: SimpleGtpEngine.popen(["a", 3]), ArgumentError, r"command \['a', 3\]"),  # type: ignore[list-item]
}


@pytest.mark.parametrize(("call", "error", "message"), WRONG.values(), ids=WRONG)
def test_what_is_refused(call: Callable[[], Any], error: type[TengenError], message: str) -> None:
    with pytest.raises(error, match=message.replace("()", r"\(\)")):
        call()


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), -float("inf"), -(10**400), "soon"], ids=str)
def test_times_to_wait_are_above_0(seconds: Any) -> None:
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


@pytest.mark.parametrize("path", ["", "\0", "\ud800", "n" * 300, ".", "no/such/folder"], ids=ascii)
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


def test_the_former_order_of_play_goes_on_and_warns() -> None:
    with Engine(CONFIG) as engine:
        for color, vertex in (("B", "C3"), ("white", "pass"), (BLACK, Point("A1", 5)), (WHITE, PASS)):
            with pytest.warns(
                DeprecationWarning, match=r"Engine\.play\(color, point\) is now play\(point, color\)"
            ) as seen:
                assert engine.play(color, vertex) == engine.game.moves[-1] == engine.game.as_move((color, vertex))
            assert seen[0].filename == __file__
        assert engine.play("B2") == (BLACK, Point("B2", 5))
        assert engine.play(Move(BLACK, Point("C4", 5))) == engine.game.moves[-1]
        for move, color in ((1, 3), (BLACK, None), ("black", None)):
            with pytest.raises((InvalidColorError, InvalidVertexError)):
                engine.play(move, color)
