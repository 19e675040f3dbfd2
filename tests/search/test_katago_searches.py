"""The search visits the moves that KataGo's visits, with the same network, options and number of visits.

`data/katago_searches.jsonl` holds the visits of the root's moves after searches by KataGo 1.17.2 (Eigen build,
float32), each of a new tree, in positions of its games against itself: what `kata-search_debug` printed in

    katago gtp -model g170-b6c96-s175395328-d26788732.bin.gz -config gtp.cfg
        -override-config numSearchThreads=1,nnRandomize=false,maxVisits=200

where gtp.cfg sets `chosenMoveTemperature` and `chosenMoveTemperatureEarly` to 0, and the rest is as KataGo has it.
`data/katago_analyses.jsonl` holds the same for `katago analysis` with wideRootNoise 0, in positions of games of
tengen-b10c128: there the network is not told the moves before the position.

KataGo prints ten moves at most in GTP.  The ending bonus, which counts in the last position on 9×9 under Chinese rules,
is not quite KataGo's (`root.ending_points`).

`data/katago_endings.jsonl` holds positions at most six moves before the end of games that Tengen and KataGo have played
with g170e-b15c192, by `katago analysis` with wideRootNoise 0, rootEndingBonusPoints 0, ignorePreRootHistory false and
nnCacheSizePowerOfTwo -1: no evaluation serves positions with other moves before them.  They are under Chinese rules;
`data/katago_territory_endings.jsonl` holds the same under territory rules, where both searches play on after passes,
`data/katago_finished.jsonl` positions after the passes that ended such games.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from shared_files import shared_file

from gtp_engine import Config, Game, Rules, parse_vertex
from gtp_engine.search.limits import Limits, SearchRequest
from gtp_engine.search.puct.puct_search import PuctSearch
from gtp_engine.search.report import SearchReport

DATA: Final = Path(__file__).resolve().parents[1] / "data"
NETWORK: Final = "nets/g170-b6c96-s175395328-d26788732.bin.gz"

AS_KATAGO: Final[dict[str, bool | int | float | str | None]] = {
    "puct.eval_batch": 1,
    "network.symmetry": "none",
    "network.precision": "float32",
}
"""Where our defaults differ from KataGo's, and what makes searches repeat."""

VISITS: Final = 200

MOST_DIFFERENT: Final = 0.01
"""Share of the visits that may differ: evaluations differ in their last digits, and so may the choice between equal
moves."""


AT_THE_END: Final[dict[str, bool | int | float | str | None]] = {"puct.ending_bonus": 0.0, "search.seed": 1}
"""For the positions at the ends of games: with a seed, each evaluation is of the position with its history."""

Search = Callable[[Game, Limits], SearchReport]


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the network of the searches."""
    pytest.importorskip("onnx")
    from gtp_engine.nn.onnx_export.convert import convert_file

    path = tmp_path_factory.mktemp("networks") / "b6c96.onnx"
    convert_file(shared_file(NETWORK), path)
    return path


@pytest.fixture
def search(network: Path, options: dict[str, bool | int | float | str | None]) -> Iterator[Search]:
    """Return a search of a position with a number of visits, which begins without tree and cached evaluations."""
    from gtp_engine.nn.loading import load_evaluator

    config = Config().with_values(AS_KATAGO | options | {"network.model": str(network)})
    evaluator = load_evaluator(config.network, log=print)
    searcher = PuctSearch(config, evaluator)

    def search(game: Game, limits: Limits) -> SearchReport:
        searcher.clear()
        evaluator.clear_cache()
        return searcher.run(game, limits)

    yield search
    searcher.close()
    evaluator.close()


def position_of(record: dict[str, Any]) -> Game:
    """Return the game of a record."""
    size = record["size"]
    game = Game(size, size, rules=Rules.parse(record["rules"]), komi=record["komi"])
    for vertex in record["moves"].split():
        game.play(parse_vertex(vertex, width=size, height=size))
    return game


def visits_elsewhere(search: Search, record: dict[str, Any], limits: Limits) -> int:
    """Return how many of KataGo's visits went to other moves, after asserting that the best move is the same."""
    game, expected = position_of(record), record["visits"]
    report = search(game, limits)
    assert game.vertex(report.moves[0].point) == record["move"], record["moves"]
    found = {game.vertex(move.point): move.visits for move in report.moves}
    return sum(max(0, visits - found.get(vertex, 0)) for vertex, visits in expected.items())


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "count", "ignores_history", "options"),
    [
        ("searches", 5, False, {}),
        ("analyses", 3, True, {}),
        ("endings", 4, False, AT_THE_END),
        ("territory_endings", 4, False, AT_THE_END),
        ("finished", 4, False, AT_THE_END),
    ],
)
def test_moves_have_the_visits_of_katago(search: Search, name: str, count: int, ignores_history: bool) -> None:
    records = [json.loads(line) for line in (DATA / f"katago_{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(records) == count
    limits = SearchRequest(Limits(VISITS), ignores_history=ignores_history)
    elsewhere = [visits_elsewhere(search, record, limits) for record in records]
    total = sum(sum(record["visits"].values()) for record in records)
    assert sum(elsewhere) <= MOST_DIFFERENT * total, elsewhere
