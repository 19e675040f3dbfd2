"""Reported cases: each file of `../shared/cases` in `scores`, `katago` and `seeds` gives what its name or comment says.

Where the board may be turned, it gives the same when it is.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from analysis.client import SessionClient
from shared_files import shared_file

from gtp_engine.config import Config
from gtp_engine.engine import Engine
from gtp_engine.engine.shared_engines import SharedEngines
from gtp_engine.go.constants import EMPTY, WHITE
from gtp_engine.go.coords import board_points, transformed_points
from gtp_engine.go.rules import Rules
from gtp_engine.nn.loading import load_evaluator
from gtp_engine.people.review.problems import LifeAndDeath, problems_in
from gtp_engine.protocols.gtp.server import GtpServer
from gtp_engine.sgf.game_tree import GameTree

NETWORK = "nets/g170-b6c96-s175395328-d26788732.bin.gz"

AS_KATAGO = {"network.precision": "float32", "network.symmetry": "none", "puct.eval_batch": "1"}

DATA = Path(__file__).parent / "data" / "cases"


def engine_with(values: dict[str, str], size: int = 9) -> Engine:
    config = Config().with_values({"network.network_threads": "1", "search.seed": "1"} | values)
    network = load_evaluator(config.network, log=print, board=(size, size)) if config.wants_network else None
    return Engine(config, evaluator=network)


@pytest.fixture(scope="module")
def shipped() -> Iterator[Engine]:
    with engine_with({}) as engine:
        yield engine


@pytest.fixture(scope="module")
def katago_network(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("onnx")
    from gtp_engine.nn.onnx_export.convert import convert_file

    path = tmp_path_factory.mktemp("networks") / "b6c96.onnx"
    convert_file(shared_file(NETWORK), path)
    return str(path)


def replies(engine: Engine, text: str) -> list[str]:
    """Return what a GTP session with this engine answers to each command, without comments."""
    server = GtpServer(engine.config, lambda: engine, print)
    sent = [line for line in text.splitlines() if line and not line.startswith(("#", "quit"))]
    return [server.handle_line(line).strip() for line in sent]


@pytest.mark.parametrize(
    ("name", "rules", "komi", "expected", "statuses"),
    [
        ("big_group_called_dead_mirrored_13", "chinese", 7.5, ("B+24.5",), {}),
        ("big_group_alive_transposed_13", "chinese", 7.5, ("B+24.5",), {}),
        ("atari_stone_opens_area_13", "chinese", 7.5, ("B+3.5",), {}),
        ("lead_beyond_board_9", "chinese", 7.5, ("B+73.5", False), {}),
        ("seki_eyes_marked_as_territory", "japanese", 0.5, ("W+0.5", True, 0), {"B8": "dame", "J7": "dame"}),
        ("seki_eyes_marked_as_territory", "chinese", 0.5, ("W+8.5", True, 0), {"B8": "white_territory", "J7": "dame"}),
        # The network is sure of a seki at A2, unproved: White plays A3, and Black takes five stones for one eye.
        ("bulky_five_9", "chinese", 7.0, ("W+8", False), {}),
        # It expected thirteen stones to live though White moves first, but not once White had played A19.
        ("corner_dies_19", "japanese", 6.5, ("W+6.5", False), {"B16": "dead"}),
        ("finished_7x9", "chinese", 7.5, (), {}),
        ("finished_7x9", "japanese", 7.5, (), {}),
    ],
)
def test_scores(
    shipped: Engine, name: str, rules: str, komi: float, expected: tuple[object, ...], statuses: dict[str, str]
) -> None:
    """A score, whether it is counted, the number of dead stones, and what is expected of each point."""
    found, ownership, own = [], [], DATA / f"{name}.sgf"
    for symmetry in (0, 3, 5):
        shipped.load_sgf((own if own.exists() else shared_file(f"cases/scores/{name}.sgf")).read_bytes())
        shipped.set_rules(Rules.parse(rules))
        shipped.set_komi(komi)
        game = shipped.game
        turned = transformed_points(symmetry, game.width, game.height)
        shipped.set_game(game.transformed(symmetry))
        outcome = shipped.outcome()
        status = {
            point: outcome.statuses[shipped.game.point(turned[point])]
            for point in board_points(game.width, game.height)
        }
        found.append((str(outcome.score), outcome.is_counted, len(outcome.status.dead), status))
        ownership.append([float(outcome.status.ownership_black[turned[point]]) for point in status])
    assert all(each == found[0] for each in found)
    assert np.ptp(ownership, axis=0).max() < 0.002
    assert found[0][: len(expected)] == expected
    assert {vertex: found[0][3][game.point(vertex)] for vertex in statuses} == statuses


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("katago/suicide", {"search.visits": "2"}, "="),
        ("seeds/final-score", {"search.search": "rave", "search.visits": "10"}, r"= ([BW]\+\d+\.0|0)"),
    ],
)
def test_last_replies(name: str, values: dict[str, str], expected: str) -> None:
    with engine_with(values, 7) as engine:
        assert re.fullmatch(expected, replies(engine, shared_file(f"cases/{name}.gtp").read_text())[-1])


def test_dead_stones_are_captured_before_a_pass_where_all_stones_count() -> None:
    """It passed with three white stones on the board, and had 25 points for 29."""
    with engine_with({"search.visits": "30"}, 7) as engine:
        (last,) = replies(engine, shared_file("cases/scores/tt_dead_stones_left.gtp").read_text())[-1:]
        while last != "= PASS":
            assert len(engine.game.moves) < 40
            last = replies(engine, "play w pass\ngenmove b")[-1].upper()
        assert replies(engine, "final_score") == ["= B+29.0"]


@pytest.mark.parametrize(("name", "visits", "symmetry", "saving"), [
    *(("pass_loses_chain", visits, symmetry, "J7 J8 J9 K7 K8") for visits, symmetry in (("8", 5), ("200", 0))),
    *(("pass_loses_race", "16" if symmetry else "8", symmetry, "A15 B15") for symmetry in range(8)),
])  # fmt: skip
def test_a_move_that_saves_the_game_is_found_before_a_pass(
    shipped: Engine, name: str, visits: str, symmetry: int, saving: str
) -> None:
    """It passed: moves that save seven stones had one visit or a hundred, one that wins a race had three."""
    shipped.configure({"search.visits": visits})
    if name == "pass_loses_race":
        shipped.load_sgf((DATA / "pass_loses_race_19.sgf").read_bytes())
    else:
        replies(shipped, shared_file("cases/scores/pass_loses_chain.gtp").read_text().removesuffix("genmove w\n"))
    turned = transformed_points(symmetry, 19, 19)
    expected = {turned[shipped.game.point(vertex)] for vertex in saving.split()}
    shipped.set_game(shipped.game.transformed(symmetry))
    assert shipped.genmove(WHITE, play=False).point in expected


def test_a_rollout_that_is_cut_off_has_no_opinion() -> None:
    values = {
        "network.model": "alphago-9x9",
        "puct.rollout_share": "1",
        "search.rollout_policy": "tactical",
        "search.visits": "100",
    }
    winrates = []
    for limit in ("0", "5"):
        with engine_with(values | {"puct.rollout_limit": limit}) as engine:
            found = replies(engine, shared_file("cases/seeds/rollout-limit.gtp").read_text())[-1]
            winrates.append(int(re.findall(r"winrate (\d+)", found)[0]))
    assert abs(winrates[0] - winrates[1]) < 2500


def test_ties_among_moves_without_visits_are_drawn() -> None:
    """Without priors every move is tried once before any other; forty visits tried the upper left with every seed."""
    values = {"search.search": "uct", "search.prior_weight": "0", "search.expand_visits": "1", "search.visits": "40"}
    tried = []
    for seed in "12":
        with engine_with(values | {"search.seed": seed}) as engine:
            found = replies(engine, shared_file("cases/seeds/uct-order.gtp").read_text())[-1]
            tried.append(set(re.findall(r"info move (\w+)", found)))
    assert len(tried[0]) == len(tried[1]) == 40 and tried[0] != tried[1]
    assert all({"1", "2"} & {vertex[1:] for vertex in vertices} for vertices in tried), "not the first rows alone"


def test_results_of_gogui_twogtp_have_a_decimal(tmp_path: Path) -> None:
    if shutil.which("gogui-twogtp") is None:
        pytest.skip("gogui-twogtp is not installed")
    done = subprocess.run(
        ["sh", shared_file("cases/seeds/twogtp.sh")], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["1", "1"]


@pytest.mark.parametrize(
    ("name", "answers"), [("prob", ["", None]), ("prob2", ["B9"]), ("prob3", ["B9"]), ("prob4", [""])]
)
def test_problems(name: str, answers: list[str | None]) -> None:
    """The answer to each problem of a file: "" where no move succeeds, None where it is open."""
    config = Config()
    solver = LifeAndDeath(config, load_evaluator(config.network, log=print), 100)
    records = problems_in(shared_file(f"cases/scores/{name}.sgf").read_bytes())
    for record, answer in zip(records, answers, strict=True):
        solution = solver.solve(GameTree(record).root.game())
        right = {solution.game.vertex(move.point) for move in solution.moves if solution.is_right(move.point)}
        assert answer is None or (solution.answer == answer and answer in right if answer else not right)


@pytest.fixture(scope="module")
def responses(katago_network: str) -> dict[str, dict[str, Any]]:
    """Return the response to each query of the cases, by its name and turn; warnings by their name alone."""
    config = Config().with_values({**AS_KATAGO, "network.model": katago_network})
    paths = [*sorted(shared_file("cases/katago").glob("*.json")), *shared_file("cases/scores").glob("*.jsonl")]
    settings = (f"{key}={value}" for key, value in {**AS_KATAGO, "analysis.wide_root_noise": "0"}.items())
    with (
        SharedEngines(config, print).load_for_analyses() as engines,
        SessionClient(lambda: engines, *settings) as client,
    ):
        for path in paths:
            client.send(path.read_bytes().strip())
        found = client.finish()
    return {" ".join(str(each[key]) for key in ("id", "turnNumber") if key in each): each for each in found}


def test_queries_are_taken_as_katago_takes_them(responses: dict[str, dict[str, Any]]) -> None:
    """Suicides, kos that are retaken, settings without counterpart; but not two stones on a point."""
    assert sorted(responses) == ["h", "ko 0", "ko 7", "lcb 5", "one 0", "own 8", "s 0", "x", "x 0", "x 7"]
    assert "occupied" in responses["x"]["error"] and "human_model" in responses["h"]["error"]
    assert responses["one 0"]["moveInfos"] == []
    record = GameTree(shared_file("cases/katago/suicide.sgf").read_bytes())
    assert record.main_line()[-1].game().color_at("A1") == EMPTY


def test_reports_have_katagos_numbers(responses: dict[str, dict[str, Any]]) -> None:
    """Children weigh by the square of their weight in the ownership, and the radius of lcb follows the utility."""
    lcb = [move["lcb"] for move in responses["lcb 5"]["moveInfos"]]
    assert lcb == pytest.approx([0.53, 1.39], abs=0.002)
    ownership = responses["own 8"]["ownership"]
    assert [ownership[index] for index in range(4)] == pytest.approx([0.94, 0.95, 0.88, 0.86], abs=0.01), ownership


def test_evaluations_of_rectangles_are_named_by_the_symmetry_that_was_asked_for(katago_network: str) -> None:
    with engine_with(AS_KATAGO | {"network.model": katago_network, "search.visits": "2"}) as engine:
        asked = replies(engine, shared_file("cases/katago/label.gtp").read_text())[1]
    assert asked.startswith("= symmetry 5")
