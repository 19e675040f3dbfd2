"""Networks and evaluators of one's own: the scripts of docs/own-networks.md, functions, metadata that is written."""

import contextlib
import io
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest
from board_helpers import play_moves
from busy_machine import bound
from documents import ROOT
from fake_evaluators import FakeEvaluator
from nn.tiny_networks import alphago_policy, metadata, v7_network
from superko_games import game_with_superko

from gtp_engine import (
    BLACK,
    PASS,
    ArgumentError,
    Config,
    Engine,
    EvaluatorInfo,
    FunctionEvaluator,
    Game,
    Guess,
    ModelError,
    Seen,
    SimpleGtpEngine,
    read_metadata,
    write_metadata,
)
from gtp_engine.evaluation.evaluator import BareEvaluator, Request
from gtp_engine.evaluation.from_game import conditions_of, write_game
from gtp_engine.evaluation.positions import new_evaluation, new_positions

PAGE = (ROOT / "docs" / "own-networks.md").read_text(encoding="utf-8")
FUNCTION = re.findall("```python\n(.*?)```", PAGE, re.DOTALL)[0]
SCRIPTS = {"function": FUNCTION} | {
    path.stem: path.read_text("utf-8") for path in (ROOT / "docs" / "evaluators").glob("*.py")
}


@pytest.mark.parametrize("title", SCRIPTS)
def test_the_scripts_end_in_a_game(title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = SCRIPTS[title]
    if "torch" in code:
        pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of PyTorch's exporter
        exec(compile(code, title, "exec"), {"__name__": "__main__"})
    assert re.search(r"Move \d|;B\[", printed.getvalue())


def test_a_function_becomes_a_bot(tmp_path: Path) -> None:
    """As the page says: the function, and the lines with serve_gtp in place of the game."""
    function = FUNCTION.partition("\nconfig = ")[0]
    (lines,) = re.findall("```python\n(from gtp_engine import serve_gtp\n.*?)```", PAGE, re.DOTALL)
    (tmp_path / "bot.py").write_text(f"{function}\n{lines}")
    with SimpleGtpEngine.popen([sys.executable, str(tmp_path / "bot.py")], timeout=bound(60)) as bot:
        assert (bot.name, bot.genmove(Game(5)).resigned) == ("Stone counter", False)


def evaluated(function: object, game: Game, **facts: bool) -> object:
    """Return what an evaluator with this function writes about a position."""
    positions = new_positions(1, game.width, game.height)
    write_game(positions, 0, game, game.to_play, conditions=conditions_of(game))
    out = new_evaluation(1, game.width, game.height)
    FunctionEvaluator(function, **facts).evaluate(Request(positions, 1, out))  # type: ignore[arg-type]
    return out


@pytest.mark.parametrize(
    ("guess", "message"),
    [
        (None, "answer None: expected a Guess"),
        (Guess(np.ones(20)), "expected 26 finite numbers from 0"),
        (Guess(np.full(26, np.inf)), "expected 26 finite numbers from 0"),
        (Guess(None), "policy None: expected 26 finite numbers from 0"),
        (Guess(np.ones(26), winrate=float("nan")), "winrate nan: expected a finite number from 0 to 1"),
        (Guess(np.ones(26), winrate="0.5"), "winrate '0.5'"),
        (Guess(np.ones(26), lead=float("inf")), "lead inf: expected a finite number"),
        (Guess(np.ones(26), ownership=np.ones(3)), "ownership"),
        (Guess(np.ones(26, complex)), "expected 26 finite numbers from 0"),
        (Guess(np.full(26, np.nan)), "expected 26 finite numbers from 0"),
        (Guess(np.r_[np.ones(25), -0.01]), "expected 26 finite numbers from 0"),
        (Guess(np.ones(26), winrate=7), "winrate 7: expected a finite number from 0 to 1"),
        (Guess(np.ones(26), winrate=-0.1), "winrate -0.1"),
        (Guess(np.ones(26), ownership=np.full((5, 5), 1.1)), "expected 5×5 finite numbers from -1 to 1"),
        (Guess(np.ones(26), ownership=np.full((5, 5), np.nan)), "ownership"),
    ],
)
def test_what_is_no_guess_is_refused_with_a_sentence(guess: Guess, message: str) -> None:
    with pytest.raises(ArgumentError, match=re.escape(message)) as caught:
        evaluated(lambda seen: guess, Game(5))
    assert "\n" not in str(caught.value) and "evaluator function" in str(caught.value)
    assert "expected" not in message or str(caught.value).endswith(message)


def test_a_function_sees_a_position_and_answers_for_the_side_to_play() -> None:
    game = play_moves(Game(5, 4, komi=0.5), "C3 B2 pass")
    seen_here = []

    def think(seen: Seen) -> Guess:
        seen_here.append(seen)
        policy = np.zeros(21)
        policy[[0, 7, 20]] = (3, 5, 1)  # A4, the occupied C3, the pass
        return Guess(policy, winrate=0.75, lead=2.5, ownership=np.full((4, 5), 0.5))

    out = evaluated(think, game, has_score=True, has_ownership=True)
    (seen,) = seen_here
    assert (seen.width, seen.height, str(seen.to_play)) == (5, 4, "white")
    assert [f"{move.color.letter} {move.point!r}" for move in seen.moves()] == ["B pass", "W B2", "B C3"]  # type: ignore[attr-defined]
    assert seen.colors().tolist() == [[0] * 5, [0, 0, 1, 0, 0], [0, 2, 0, 0, 0], [0] * 5]
    assert seen.colors(2).tolist() == [[0] * 5, [0, 0, 1, 0, 0], [0] * 5, [0] * 5]
    assert seen.legal().sum() == len(game.legal_points()) + 1
    point = game.as_move(("w", "A4")).point
    assert out.policy[0, [point, PASS]].tolist() == [0.75, 0.25]  # type: ignore[attr-defined]
    assert out.policy.sum() == 1.0  # type: ignore[attr-defined]
    results = out.win_black[0], out.loss_black[0], out.lead_black[0], out.ownership_black[0, point]  # type: ignore[attr-defined]
    assert results == (0.25, 0.75, -2.5, -0.5)


@pytest.mark.parametrize("weight", [0.0, 1e308])
def test_a_policy_may_have_any_sum(weight: float) -> None:
    out = evaluated(lambda seen: Guess(np.full((1, 26), weight)), Game(5))
    assert out.policy[0, PASS] == pytest.approx(1 / 26)  # type: ignore[attr-defined]


def test_a_function_sees_what_superko_forbids() -> None:
    game, banned = game_with_superko("tromp-taylor")
    seen: list[Seen] = []
    evaluated(lambda each: seen.append(each) or Guess(np.ones(10), winrate=0.5), game)
    assert banned and seen[0].legal().sum() == len(game.legal_points()) + 1


@pytest.mark.parametrize("illegal", [-1.0, np.nan, np.inf])
def test_what_a_policy_says_of_illegal_moves_does_not_count(illegal: float) -> None:
    """KataGo's JSON has −1 there, its kata-raw-nn NAN; half precision may round a winrate beyond 1."""
    game = Game(5)
    game.play("A5")
    out = evaluated(lambda seen: Guess(np.r_[illegal, np.ones(25)], winrate=1.0002), game)
    assert out.policy[0, PASS] == pytest.approx(1 / 25)  # type: ignore[attr-defined]
    assert (out.win_black[0], out.loss_black[0]) == (0.0, 1.0)  # type: ignore[attr-defined]


def test_a_function_that_knows_the_ownership_has_to_tell_it() -> None:
    """Dead stones were taken from an ownership of 0 everywhere."""
    with pytest.raises(ArgumentError, match="an answer without ownership: expected one, as has_ownership says"):
        evaluated(lambda seen: Guess(np.ones(26)), Game(5), has_ownership=True)


def test_an_ownership_has_the_shape_of_the_board() -> None:
    """Columns and rows that change places were taken."""
    with pytest.raises(ArgumentError, match="expected 4×5 finite numbers"):
        evaluated(lambda seen: Guess(np.ones(21), ownership=np.zeros((5, 4))), Game(5, 4))


class Writes(BareEvaluator):
    """Writes one number everywhere."""

    def __init__(self, number: float) -> None:
        super().__init__(FakeEvaluator().info)
        self.number = number

    def evaluate(self, request: Request) -> None:
        for array in request.out:
            array[...] = self.number


@pytest.mark.parametrize("number", [np.nan, np.inf, -1.0])
def test_what_no_network_returns_is_refused_of_any_evaluator(number: float) -> None:
    with Engine(Config().with_values({"game.board_size": 5}), evaluator=Writes(number)) as engine:
        for ask in (engine.genmove, lambda: engine.evaluate([Game(5)]), engine.raw_evaluation):
            with pytest.raises(ArgumentError, match="an evaluation with NaN, infinity or a negative policy"):
                ask()


def test_metadata_is_written_and_replaced(tmp_path: Path) -> None:
    path = alphago_policy(tmp_path / "net.onnx", encoder="", name="old", planes="", other="gone")
    before = onnx.load(path)
    before.metadata_props.add(key="author", value="kept")
    path.write_bytes(before.SerializeToString())
    with pytest.raises(ModelError):
        read_metadata(path)
    info = write_metadata(path, encoder="alphago-48", name="Ünï", sizes="9x9", origin="here", license="MIT")
    assert (info.name, str(info.sizes), info.planes, info.passes, info.kind) == ("Ünï", "9x9", 48, "none", "policy")
    assert read_metadata(path) == info
    after = onnx.load(path)
    assert after.graph == before.graph
    properties = {entry.key: entry.value for entry in after.metadata_props}
    assert (properties["author"], "tengen.other" in properties) == ("kept", False)
    assert len(properties) == len(after.metadata_props)
    network = v7_network(tmp_path / "v7.onnx")
    written = write_metadata(network, encoder="katago-v7", name="mine", sizes="2-25", model_version=14, advantages=True)
    assert (written.globals_, written.model_version, written.advantages) == (19, 14, True)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"sizes": "nine"}, "sizes 'nine': expected a range such as 2-25 or one size such as 9x9"),
        ({"encoder": "mine"}, "encoder 'mine': expected one of katago-v7"),
        ({"colour": "blue"}, "metadata colour: expected"),
        ({"kind": "oracle"}, "kind 'oracle'"),
        ({"sizes": "1-99"}, "sizes '1-99': expected a range such as 2-25"),
        ({"sizes": "26x26"}, "sizes '26x26': expected a range such as 2-25"),
        (
            {"encoder": "katago-v7"},
            r"inputs {'spatial': 48} of 'net.onnx': expected {'spatial': 22, 'globals': 19} for",
        ),
        ({"encoder": "alphago-49"}, r"inputs {'spatial': 48} of 'net.onnx': expected {'spatial': 49} for alphago-49"),
    ],
)
def test_metadata_that_does_not_fit_is_refused(tmp_path: Path, values: dict[str, str], message: str) -> None:
    path = alphago_policy(tmp_path / "net.onnx")
    before = path.read_bytes()
    with pytest.raises(ModelError, match=message):
        write_metadata(path, **({"encoder": "alphago-48", "name": "net", "sizes": "9x9"} | values))
    assert path.read_bytes() == before


def test_only_onnx_files_get_metadata(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    for content in ("no network", ""):
        path.write_text(content)
        with pytest.raises(ModelError, match="damaged or no ONNX file"):
            write_metadata(path, encoder="alphago-48", name="net", sizes="9x9")
        assert path.read_text() == content
    assert metadata()


def test_an_engine_plays_by_a_function_that_knows_the_score() -> None:
    def think(seen: Seen) -> Guess:
        mine = np.where(seen.colors() == seen.to_play, 1.0, 0.0) - (seen.colors() == seen.to_play.opponent)
        return Guess(np.ones(26), winrate=0.5 + mine.sum() / 60, lead=float(mine.sum()), ownership=mine)

    evaluator = FunctionEvaluator(think, "stones", has_score=True, has_ownership=True, batch=4)
    config = Config().with_values({"game.board_size": 5, "search.visits": 40, "search.seed": 1})
    with Engine(config, evaluator=evaluator) as engine:
        first = [engine.genmove().point for _ in range(3)]
        assert engine.analyse(engine.game).lead is not None
        assert len(set(first)) == 3
        assert engine.evaluator is evaluator
        assert engine.game.moves[0].color == BLACK
    assert evaluator.info == EvaluatorInfo("stones", 4, knows_advantage=False, is_katago=False)
    unknown = dict.fromkeys(("has_score", "has_ownership", "knows_komi", "knows_advantage", "is_katago"), False)
    assert FunctionEvaluator(think).info == EvaluatorInfo("function", 1, **unknown)
