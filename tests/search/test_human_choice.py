"""Weights of moves with a human-like policy: KataGo's formulas and KataGo's numbers."""

import numpy as np
import pytest
from shared_files import shared_records

from gtp_engine.config import Config, HumanConfig
from gtp_engine.config.katago import with_katago_settings
from gtp_engine.go.constants import PASS
from gtp_engine.search.puct.choose import human_weights

POINTS = np.array([50, 60, PASS])
WEIGHTS = np.array([60.0, 30.0, 10.0])
UTILITIES = np.array([0.5, 0.3, 0.1])
HUMAN = np.array([0.2, 0.6, 0.2])


def weights(human: np.ndarray = HUMAN, **settings: float) -> list[float]:
    return human_weights(WEIGHTS, UTILITIES, human, POINTS, HumanConfig(**settings)).tolist()


def test_without_a_share_the_search_decides() -> None:
    assert weights(human_move_share=0.0) == WEIGHTS.tolist()


def test_half_the_policy_of_people() -> None:
    assert weights(human_move_share=0.5) == pytest.approx([40.0, 45.0, 15.0])


def test_worse_moves_are_less_likely() -> None:
    """0.2 · 1, 0.6 · e⁻² and 0.2 · e⁻⁴, as shares of their sum."""
    shares = np.array([0.2, 0.6 * np.exp(-2), 0.2 * np.exp(-4)])
    expected = 100 * shares / shares.sum()
    assert weights(human_move_share=1.0, human_pikl_lambda=0.1) == pytest.approx(expected)


def test_the_limit_of_lambda_is_the_best_move_of_people() -> None:
    assert weights(human_move_share=1.0, human_pikl_lambda=0.0) == [100.0, 0.0, 0.0]
    assert weights(np.array([0.0, 0.7, 0.3]), human_move_share=1.0, human_pikl_lambda=0.0) == [0.0, 100.0, 0.0]


def test_the_search_decides_on_passing() -> None:
    """The pass keeps a tenth; the other moves share the rest as 1 to 3."""
    found = weights(human_move_share=1.0, human_ignore_pass=True)
    assert found == pytest.approx([22.5, 67.5, 10.0])


def test_no_move_of_people_leaves_the_weights() -> None:
    assert weights(np.zeros(3), human_move_share=1.0) == WEIGHTS.tolist()


def test_katago_weights() -> None:
    compared = 0
    for record in shared_records("human-sl-reference/choice.jsonl.gz"):
        children = record["children"]
        names = list(children)
        columns = {key: np.array([children[name][key] for name in names]) for key in ("base", "utility", "humanPrior")}
        points = np.array([PASS if name == "pass" else 100 + i for i, name in enumerate(names)])
        for result in record["results"]:
            config = with_katago_settings(Config(), result["settings"])[0].human
            found = human_weights(columns["base"], columns["utility"], columns["humanPrior"], points, config)
            expected = np.array([result["playSelectionValue"][name] for name in names])
            assert found == pytest.approx(expected, rel=1e-6, abs=1e-9), (record["id"], result["settings"])
            compared += 1
    assert compared == 20
