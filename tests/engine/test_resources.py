"""What networks decide: which search a configuration names, on which board games start, what is warmed up.

A network for one board size only: the engine starts on it, and refuses others without an end of the session.
"""

import contextlib
from pathlib import Path

import pytest
from fake_evaluators import FakeEvaluator
from nn.tiny_networks import alphago_policy, alphago_value

from gtp_engine import Config, ConfigError, Engine, Evaluator, Game
from gtp_engine.engine.resources import Resources
from gtp_engine.engine.searches import new_searcher, new_searches
from gtp_engine.engine.shared_engines import SharedEngines
from gtp_engine.nn.evaluators import evaluator_of
from gtp_engine.protocols.gtp.server import GtpServer
from gtp_engine.search.limits import Limits

NETWORK, ROLLOUTS = True, False


@pytest.mark.parametrize(("evaluator", "values", "moves", "questions"), [
    (FakeEvaluator(), {"search.search": "auto"}, NETWORK, NETWORK),
    (FakeEvaluator(), {"search.search": "puct"}, NETWORK, NETWORK),
    (FakeEvaluator(), {"search.search": "rave"}, ROLLOUTS, ROLLOUTS),
    (None, {"search.search": "auto"}, ROLLOUTS, ROLLOUTS),
    (None, {"search.search": "uct"}, ROLLOUTS, ROLLOUTS),
    # rollouts answer questions where the network assumes a komi
    (FakeEvaluator(knows_komi=False, has_rollout_policy=True), {"search.rollout_policy": "network"}, NETWORK, ROLLOUTS),
    (FakeEvaluator(knows_komi=False), {"search.search": "uct"}, ROLLOUTS, ROLLOUTS),
])  # fmt: skip
def test_the_configuration_and_the_network_decide_what_evaluates(
    evaluator: Evaluator | None, values: dict[str, str], moves: bool, questions: bool
) -> None:
    config, resources = Config().with_values(values), Resources(evaluator)
    assert resources.uses_network(config) == moves != resources.plays_out(config)
    assert resources.plays_out(config.with_values({"puct.rollout_share": 0.5}))
    found = []
    for searcher in new_searches(resources, config):
        with contextlib.closing(searcher):
            found.append(searcher.run(Game(5), Limits(2)).raw is not None)
    assert found == [moves, questions, moves]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"search.search": "puct"}, "puct without a network; give the engine an evaluator"),
        ({"search.rollout_policy": "network"}, "rollout_policy = network in a search without a network"),
    ],
)
def test_a_missing_network_is_reported_at_once(values: dict[str, str], message: str) -> None:
    config = Config().with_values(values)
    with pytest.raises(ConfigError, match=message):
        new_searcher(Resources(None), config)
    with pytest.raises(ConfigError, match=message):
        SharedEngines(config, evaluator=None).load_for_analyses()


def test_an_engine_loads_the_networks_that_its_configuration_names() -> None:
    """In Python it played without one, while the command line loaded the network that ships."""
    with Engine(Config()) as engine, SharedEngines() as engines:
        assert engine.evaluator is not None and engine.evaluator.info.name == "tengen-b10c128"
        assert engines.models()[0]["name"] == "tengen-b10c128"
    with Engine(Config().with_values({"search.search": "rave"})) as engine, Engine(evaluator=None) as other:
        assert engine.evaluator is other.evaluator is None
    with Engine(evaluator=FakeEvaluator()) as engine:
        assert isinstance(engine.evaluator, FakeEvaluator)


def network_for(folder: Path, *, policy: str, value: str) -> Path:
    """Write a policy and a value network for these board sizes; return their folder."""
    alphago_policy(folder / "policy.onnx", sizes=policy)
    alphago_value(folder / "value.onnx", sizes=value)
    return folder


def config_of(model: Path, **values: str) -> Config:
    usual = {"network.model": str(model), "network.provider": "cpu", "search.visits": "4", "search.seed": "1"}
    return Config().with_values(usual | {key.replace("__", "."): text for key, text in values.items()})


def evaluator_for(config: Config) -> Evaluator:
    evaluator = evaluator_of(config)
    assert evaluator is not None
    return evaluator


@pytest.mark.parametrize(
    ("policy", "value", "board"),
    [
        ("9x9", "9x9", (9, 9)),
        ("2-25", "9x9", (9, 9)),
        ("5x7", "2-25", (5, 7)),
        ("2-13", "2-25", (13, 13)),
        ("2-25", "2-25", (19, 19)),
    ],
)
def test_games_start_on_the_board_that_all_networks_play(
    policy: str, value: str, board: tuple[int, int], tmp_path: Path
) -> None:
    config = config_of(network_for(tmp_path, policy=policy, value=value))
    evaluator = evaluator_for(config)
    resources = Resources(evaluator)
    assert resources.first_board(config) == resources.usual_board() == board
    assert resources.playable_board(*board) == resources.playable_board(19, 19) == board
    with Engine(config, evaluator=evaluator) as engine:
        assert (engine.game.width, engine.game.height) == board
    assert Resources(None).first_board(Config()) == Resources(FakeEvaluator()).first_board(Config()) == (19, 19)


@pytest.mark.parametrize("asked", [{}, {"game__board_size": "19"}])
def test_boardsize_of_gtp_works_after_any_first_board(asked: dict[str, str], tmp_path: Path) -> None:
    log: list[str] = []
    config = config_of(network_for(tmp_path, policy="9x9", value="9x9"), **asked)
    with Engine(config, log=log.append, evaluator=evaluator_for(config)) as engine:
        engine.warm_up()
        server = GtpServer(config, lambda: engine)
        assert server.handle_line("query_boardsize") == ("= 19\n\n" if asked else "= 9\n\n")
        assert any("does not play 19x19; preparing it for 9x9" in line for line in log) == bool(asked)
        if asked:
            assert "on a board of 19x19: expected boards of 9x9" in server.handle_line("genmove b")
        assert server.handle_line("boardsize 9") == "= \n\n"
        assert server.handle_line("genmove b").startswith("= ")
        refused = server.handle_line("boardsize 13")
        assert refused.startswith("? ") and "on a board of 13x13: expected boards of 9x9" in refused
        assert server.handle_line("query_boardsize") == "= 9\n\n" and server.handle_line("genmove w").startswith("= ")
