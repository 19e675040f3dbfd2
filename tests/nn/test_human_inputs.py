"""The values that describe the players to human-like networks."""

import gzip
import json

import numpy as np
import pytest
from katago_inputs import encode
from shared_files import shared_file

from gtp_engine import Game, ModelError
from gtp_engine.config.human import parse_profile
from gtp_engine.go.constants import BLACK
from gtp_engine.go.coords import parse_color
from gtp_engine.nn.encoders import KatagoHumanEncoder, KatagoV7Encoder, profile_values
from gtp_engine.nn.metadata import PROFILE_INPUTS


def values_of(profile: str, color: int, area: int = 361) -> np.ndarray:
    values = profile_values(parse_profile(profile).code, color, area)
    assert values.shape == (PROFILE_INPUTS,) and values.dtype == np.float32
    return values


def test_time_area_and_source() -> None:
    """Numbers worked out by hand from the description of the inputs."""
    rank, professional = values_of("rank_5k", BLACK, 81), values_of("proyear_2021", BLACK)
    assert rank[82:86] == pytest.approx([0.255547, 0.130196, 0.222955, -0.201713], abs=1e-6)
    assert professional[82:86] == pytest.approx([-0.962262, -0.9, -0.403426, -0.201713], abs=1e-6)
    assert rank[86] == pytest.approx(0.5 * np.log(81 / 361))
    assert np.flatnonzero(rank[75:82]).tolist() == [4] and np.flatnonzero(professional[75:82]).tolist() == [0]
    assert np.flatnonzero(rank[151:]).tolist() == [2] and np.flatnonzero(professional[151:]).tolist() == [6]
    assert np.flatnonzero(values_of("proyear_2020", BLACK)[151:]).tolist() == [5]
    assert (rank[74], professional[74]) == (0.5, 0.0)


def test_values_of_katago() -> None:
    with gzip.open(shared_file("human-sl-reference/metarows.jsonl.gz"), "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    assert len(rows) == 40
    for row in rows:
        found = values_of(row["profile"], parse_color(row["next"]), row["boardArea"])
        assert np.abs(found - np.array(row["row"])).max() <= 1e-6, row["profile"]


def test_the_encoder_adds_them_to_the_inputs_of_other_networks() -> None:
    game, code = Game(9), parse_profile("rank_3d_8k").code
    human = encode(game, encoder=KatagoHumanEncoder(9, 9), human_profile=code)
    plain = encode(game, encoder=KatagoV7Encoder(9, 9))
    assert (human.planes == plain.planes).all() and (human.values[:19] == plain.values).all()
    assert (human.values[19:] == values_of("rank_3d_8k", BLACK, 81)).all()


def test_no_profile_is_an_error() -> None:
    with pytest.raises(ModelError, match=r"imitates people: expected a profile .*; set human\.human_profile"):
        encode(Game(9), encoder=KatagoHumanEncoder(9, 9))
