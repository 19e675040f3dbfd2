"""Human-like networks beside the network that plays: evaluations, choice of moves, settings that do not go together."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nn.katago_files import NetworkFile

from gtp_engine import CancelToken, Config, ConfigError, Engine, Move, load_evaluator, parse_vertex
from gtp_engine.config.sections import NetworkConfig
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import xy_to_point
from gtp_engine.nn.evaluators import networks_of
from gtp_engine.nn.onnx_export.convert import convert_bytes
from gtp_engine.protocols.analysis.query import parse_query
from gtp_engine.protocols.analysis.results import response
from gtp_engine.protocols.gtp.server import GtpServer
from gtp_engine.search.limits import Limits, Reporting, SearchRequest
from gtp_engine.search.report import SearchReport

LOAD = "set network.human_model (--human-model FILE)"

EXPLORATION = (
    *(f"humanSL{who}ExploreProb{kind}" for who in ("Root", "Pla", "Opp") for kind in ("Weightless", "Weightful")),
    "humanSLCpuctExploration",
    "humanSLCpuctPermanent",
)
"""KataGo's parameters of exploration by people."""

QUERY = {"id": "a", "moves": [], "rules": "chinese", "komi": 7, "boardXSize": 5, "boardYSize": 5, "includePolicy": True}


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """Return a function that loads a network of random weights: "plain" or "human"."""
    folder: Path = tmp_path_factory.mktemp("networks")
    for name, human, seed in (("plain", 0, 1), ("human", 1, 2)):
        data = NetworkFile(15, ("ordinary",), human=human, seed=seed).bytes()
        convert_bytes(data, name, folder / f"{name}.onnx")

    def load(name: str) -> Any:
        config = NetworkConfig(model=str(folder / f"{name}.onnx"), provider="cpu", network_threads=1)
        return load_evaluator(config, log=lambda line: None, board=(5, 5))

    return load


def new_engine(evaluator: Any, human: Any, log: list[str] | None = None, **values: Any) -> Engine:
    settings = {"game.board_size": 5, "search.visits": 4, "search.seed": 1, "play.resign": False, "puct.eval_batch": 1}
    keys = {f"human.human_{name}": value for name, value in values.items()}
    config = Config().with_values(settings | keys)
    return Engine(config, (log if log is not None else []).append, evaluator, human)


@pytest.fixture
def engine(load: Callable[[str], Any]) -> Any:
    with new_engine(load("plain"), load("human"), profile="rank_9d_20k") as engine:
        engine.set_up([Move(BLACK, xy_to_point(1, 1, width=5)), Move(WHITE, xy_to_point(3, 2, width=5))])
        yield engine


def test_the_profile_changes_the_evaluation(engine: Engine) -> None:
    first = engine.raw_evaluation(by_people=True)
    engine.configure({"human.human_profile": "proyear_1800"})
    second = engine.raw_evaluation(by_people=True)
    assert np.abs(first.policy - second.policy).sum() > 0.01


def test_the_ranks_turn_with_the_side_to_move(engine: Engine) -> None:
    """Black's 9d against White's 20k is what White sees with the ranks exchanged, on an empty board without komi."""
    engine.clear_board()
    engine.set_komi(0.0)
    as_black = engine.raw_evaluation(BLACK, by_people=True).policy[0]
    engine.configure({"human.human_profile": "rank_20k_9d"})
    as_white = engine.raw_evaluation(WHITE, by_people=True).policy[0]
    assert as_white == pytest.approx(as_black, abs=1e-6)


def test_people_decide_where_their_share_is_one(engine: Engine) -> None:
    """The move that people play most is played, though a search of two visits did not try it."""
    moves = engine.genmove(BLACK, play=False).report.moves
    assert 0 < moves[0].visits == max(move.visits for move in moves) and all(move.visits > 0 for move in moves)
    engine.configure({"human.human_move_share": 1.0, "search.visits": 2})
    choice = engine.genmove(BLACK, play=False)
    report = choice.report
    assert report.human is not None
    likeliest = int(np.argmax(report.human.policy))
    assert report.best_point == likeliest
    assert report.best is not None and report.best.visits == 0
    assert sum(move.human_prior or 0.0 for move in report.moves) == pytest.approx(1.0, abs=1e-5)


def test_a_share_for_people_and_a_bad_move(engine: Engine) -> None:
    """With a small lambda a move that the search finds bad is not played, however many people play it."""
    engine.configure({"human.human_move_share": 1.0, "human.human_pikl_lambda": 0.0, "search.visits": 60})
    report = engine.genmove(BLACK, play=False).report
    played = [move for move in report.moves if move.selection_weight > 0]
    utility = {move.point: move.utility_black for move in report.moves if move.visits > 0}
    assert utility[played[0].point] == max(utility.values())


def test_a_hint_is_the_best_move_where_people_decide_what_is_played(engine: Engine) -> None:
    engine.configure({"human.human_move_share": 1.0, "search.visits": 20})
    reports: list[SearchReport] = []
    limits = SearchRequest(Limits(cancel=CancelToken()), reporting=Reporting(0.0, reports.append))
    final = engine.search(600.0, BLACK, request=limits)
    assert reports
    for report in (*reports, final):
        assert all(move.visits > 0 for move in report.moves)
        assert report.moves[0].selection_weight == max(move.selection_weight for move in report.moves)
        assert report.moves[0].selection_weight <= report.visits
    assert final.moves[0].visits == max(move.visits for move in final.moves)


@pytest.mark.parametrize(("precision", "of_human"), [("int8", "auto"), ("float32", "float32"), ("auto", "auto")])
def test_int8_is_meant_for_the_network_that_plays(
    precision: str, of_human: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[NetworkConfig] = []
    monkeypatch.setattr("gtp_engine.nn.loading.load_evaluator", lambda network, **_: loaded.append(network))
    values = {"network.model": "net.onnx", "network.human_model": "human.onnx", "network.precision": precision}
    networks_of(Config().with_values(values))
    found = [(network.model, network.precision) for network in loaded]
    assert found == [("net.onnx", precision), ("human.onnx", of_human)]


class TestSettings:
    def test_without_a_network_that_uses_it_a_profile_is_ignored(self, load: Callable[[str], Any]) -> None:
        log: list[str] = []
        with new_engine(load("plain"), None, log, profile="rank_5k") as engine:
            assert log == [f"No network uses the profile rank_5k, which is ignored: {LOAD}."]
            assert engine.config.human.human_profile == ""
            with pytest.raises(
                ConfigError, match=f"humanSLProfile rank_3d without a network that uses it; {re.escape(LOAD)}"
            ):
                engine.configure({"human.human_profile": "rank_3d"})
            assert engine.config.human.human_profile == ""

    def test_a_network_that_needs_a_profile(self, load: Callable[[str], Any]) -> None:
        with pytest.raises(ConfigError, match="network 'tiny-network' imitates people: expected a profile"):
            new_engine(load("human"), None)
        with new_engine(load("human"), None, profile="rank_5k") as engine:
            assert engine.genmove(BLACK).point != PASS
            with pytest.raises(ConfigError, match="imitates people"):
                engine.configure({"human.human_profile": ""})

    @pytest.mark.parametrize("option", ["move_share", "root_weightless"])
    def test_choices_and_exploration_by_people_need_their_network(
        self, load: Callable[[str], Any], option: str
    ) -> None:
        message = f"option human.human_{option} without a human-like network; {re.escape(LOAD)}"
        with pytest.raises(ConfigError, match=message):
            new_engine(load("plain"), None, **{option: 0.5})

    def test_a_human_network_without_a_profile_is_not_used(self, load: Callable[[str], Any]) -> None:
        log: list[str] = []
        with new_engine(load("plain"), load("human"), log) as engine:
            assert log[0].startswith("The human-like network is not used without a profile: set human.human_profile")
            assert engine.genmove(BLACK, play=False).report.human is None


class TestGtp:
    def test_raw_human_evaluation(self, engine: Engine) -> None:
        server = GtpServer(engine.config, lambda: engine, lambda line: None)
        reply = server.handle_line("kata-raw-human-nn 0")
        names = [line.split()[0] for line in reply[2:].splitlines() if line and line[0].isalpha()]
        assert names == [
            "symmetry", "whiteWin", "whiteLoss", "noResult", "whiteScore", "whiteScoreSq", "shorttermWinlossError",
            "shorttermScoreError", "policy", "policyPass", "whiteOwnership",
        ]  # fmt: skip
        assert server.handle_line("kata-raw-human-nn b 3").startswith("= symmetry 3\n")
        assert server.handle_line("kata-raw-human-nn 0 0.5").startswith("? syntax error: too many arguments")

    def test_what_is_missing(self, load: Callable[[str], Any]) -> None:
        with new_engine(load("plain"), None) as engine:
            server = GtpServer(engine.config, lambda: engine, lambda line: None)
            missing = "? cannot run kata-raw-human-nn, -human-model was not provided"
            assert missing in server.handle_line("kata-raw-human-nn 0")
            reply = server.handle_line("kata-set-param humanSLProfile rank_0k")
            assert reply.startswith("? Unknown human SL network profile: rank_0k: expected rank_20k to rank_9d")

    def test_parameters(self, engine: Engine) -> None:
        server = GtpServer(engine.config, lambda: engine, lambda line: None)
        assert server.handle_line("kata-get-param humanSLProfile") == "= rank_9d_20k\n\n"
        assert server.handle_line("kata-set-param humanSLProfile preaz_1d") == "= \n\n"
        assert server.handle_line("kata-get-param humanSLProfile") == "= preaz_1d\n\n"
        for clearing in ("humanSLProfile", "humanSLProfile _", 'humanSLProfile ""'):
            assert server.handle_line(f"kata-set-param {clearing}") == "= \n\n"
            reply = server.handle_line("kata-raw-human-nn 0")
            assert reply.startswith("? cannot run kata-raw-human-nn, humanSLProfile parameter was not set")
        for name in EXPLORATION:
            assert server.handle_line(f"kata-set-param {name} 0.25") == "= \n\n"
            assert server.handle_line(f"kata-get-param {name}") == "= 0.25\n\n"
            most = 1000 if "Cpuct" in name else 1
            assert f"expected a number from 0 to {most}" in server.handle_line(f"kata-set-param {name} {most + 1}")
        models = json.loads(server.handle_line("kata-get-models")[2:])
        assert [model["usesHumanSLProfile"] for model in models] == [False, True]


def test_analysis_reports_moves_that_were_explored_without_weight(engine: Engine) -> None:
    engine.configure({"human.human_root_weightless": 1.0, "search.visits": 6})
    query, _ = parse_query({**QUERY, "includePVVisits": True}, engine.config)
    report = engine.genmove(BLACK, play=False).report
    found = response(query, 0, engine.game, report, is_during_search=False)
    assert found["rootInfo"]["visits"] == 1
    assert sum(info["visits"] for info in found["moveInfos"]) == 5
    for info in found["moveInfos"]:
        assert (info["edgeVisits"], info["edgeWeight"]) == (0, 0.0)
        assert info["weight"] > 0.0
        assert (info["pvVisits"][0], info["pvEdgeVisits"][0]) == (info["visits"], 0)


def test_analysis_reports_what_people_play(engine: Engine) -> None:
    query, _ = parse_query(QUERY, engine.config)
    report = engine.genmove(BLACK, play=False).report
    found = response(query, 0, engine.game, report, is_during_search=False)
    assert report.human is not None
    assert len(found["humanPolicy"]) == len(found["policy"]) == 26
    assert sum(share for share in found["humanPolicy"] if share > 0) == pytest.approx(1.0, abs=1e-4)
    assert found["rootInfo"]["humanWinrate"] == pytest.approx(report.human.winrate_black, abs=1e-5)
    assert set(found["rootInfo"]) >= {"humanScoreMean", "humanScoreStdev", "humanStWrError", "humanStScoreError"}
    for info in found["moveInfos"]:
        point = parse_vertex(info["move"], width=5, height=5)
        assert info["humanPrior"] == pytest.approx(float(report.human.policy[point]), abs=1e-5)
