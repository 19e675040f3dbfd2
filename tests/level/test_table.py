"""What a skill means, and which skill each rank has with a network."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from gtp_engine.base.errors import ModelError
from gtp_engine.config.human import rank_name
from gtp_engine.config.sections import LEVELS
from gtp_engine.engine.level_table import (
    BOTTOM_SKILL,
    HUMAN_MODEL,
    TOP_SKILL,
    LevelTable,
    read_skills,
    read_table,
    read_table_file,
    settings_of,
    table_path,
    write_board,
)
from gtp_engine.nn.named_networks import shipped_network


def test_settings_narrow_as_the_skill_grows():
    settings = [settings_of(skill / 4, 19, 19) for skill in range(int(4 * BOTTOM_SKILL), int(4 * TOP_SKILL) + 1)]
    assert all(a.rank >= b.rank for a, b in pairwise(settings))
    assert all(a.temperature > b.temperature for a, b in pairwise(settings))
    assert all(a.tolerance >= b.tolerance for a, b in pairwise(settings))
    small, large = (settings_of(2.0, size, size).tolerance for size in (9, 19))
    assert small == pytest.approx(large * 9 / 19), "moves may lose less on a small board"


def test_a_skill_is_the_place_of_a_rank():
    ranks = [settings_of(float(place), 19, 19).rank for place in range(len(LEVELS))]
    assert [rank_name(rank) for rank in ranks] == list(LEVELS)
    assert settings_of(BOTTOM_SKILL, 19, 19).rank == ranks[0]
    assert settings_of(BOTTOM_SKILL - 1.0, 19, 19) == settings_of(BOTTOM_SKILL, 19, 19), "none is below the beginner"
    assert settings_of(TOP_SKILL, 19, 19).rank == ranks[-1]


def ramp(first: float, step: float) -> dict[str, float]:
    return {level: first + step * number for number, level in enumerate(LEVELS)}


def write(path: Path, **changes: object) -> None:
    data = {"format": 2, "network": "net", "boards": {"9": {"skills": ramp(0.0, 0.1)}}} | changes
    path.write_text(json.dumps(data))


def test_a_board_between_two_measured_ones_is_interpolated():
    table = LevelTable({9: ramp(0.0, 0.1), 19: ramp(1.0, 0.1)})
    assert [table.skill("20k", size, size) for size in (5, 9, 14, 19, 25)] == pytest.approx([0.0, 0.0, 0.5, 1.0, 1.0])
    assert table.skill("20k", 8, 18) == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("network", "changes", "is_calibrated"),
    [("x", {}, True), ("x-int8", {}, True), ("x", {"boards": {}}, False), ("x", {"network": "other"}, False)],
)
def test_which_table_counts(tmp_path: Path, network: str, changes: dict[str, object], is_calibrated: bool):
    """That of the 8-bit copy is the same; one without boards or of another network is none."""
    assert table_path(tmp_path / "x-int8.onnx", "net") == tmp_path / "x.levels.json"
    assert table_path(tmp_path, "net") == tmp_path / "net.levels.json"
    write(tmp_path / "x.levels.json", **changes)
    table = read_table(tmp_path / f"{network}.onnx", "net")
    assert (not table.borrowed_from) == is_calibrated
    assert not is_calibrated or table.skill("9d", 9, 9) == pytest.approx(2.8)


def test_a_network_without_a_table_takes_that_of_the_network_that_ships(tmp_path: Path):
    table = read_table(tmp_path / "x.onnx", "net")
    assert table.borrowed_from
    assert "calibrated for tengen-human" in table.describe()
    shipped = read_table(None, HUMAN_MODEL)
    assert table.skills == shipped.skills
    assert not shipped.borrowed_from
    assert {9, 13, 19} <= shipped.skills.keys()


@pytest.mark.parametrize("size", [9, 13, 16, 19, 25])
def test_skills_rise_with_the_rank(size: int):
    skills = [read_table(None, HUMAN_MODEL).skill(level, size, size) for level in LEVELS]
    assert skills == sorted(skills)


@pytest.mark.parametrize("size", ["9", "13", "19"])
def test_ranks_are_evenly_spaced(size: str):
    """By the games that checked them, no three ranks differ from the mean by more than the error."""
    spans = read_table_file(table_path(shipped_network(HUMAN_MODEL), HUMAN_MODEL))["boards"][size]["spans"]
    mean = sum(span["elo"] for span in spans) / len(spans)
    assert len(spans) == 9
    assert all(abs(span["elo"] - mean) <= span["error"] <= 60 for span in spans)


def test_a_level_imitates_people_of_its_rank_on_19x19():
    """From 5k on: there were no games of people below."""
    for level in LEVELS[LEVELS.index("5k") :]:
        assert rank_name(settings_of(read_table(None, HUMAN_MODEL).skill(level, 19, 19), 19, 19).rank) == level


def test_an_installation_without_that_network_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("gtp_engine.nn.named_networks.PLACES", (tmp_path, tmp_path))
    with pytest.raises(ModelError, match="network tengen-human, which ships with the engine, is missing from"):
        read_table(tmp_path / "x.onnx", "net")


@pytest.mark.parametrize(
    "changes",
    [
        {"network": 1}, {"format": 1}, {"boards": {"9": {"skills": {"20k": 1.0}}}}, {"boards": []},
        {"boards": {"9x9": {"skills": {}}}}, {"boards": {"9": {"skills": dict.fromkeys(LEVELS, "1")}}},
        {"boards": {"9": {"skills": dict.fromkeys(LEVELS, float("nan"))}}}
    ],
)  # fmt: skip
def test_a_damaged_table_is_refused(tmp_path: Path, changes: dict[str, object]):
    write(tmp_path / "x.levels.json", **changes)
    with pytest.raises(ModelError, match="cannot be read"):
        read_table(tmp_path / "x.onnx", "net")


def test_a_table_that_cannot_be_written_is_named(tmp_path: Path):
    path = tmp_path / "missing" / "net.levels.json"
    with pytest.raises(ModelError, match=r"cannot write level table .*net\.levels\.json': No such file.*; make room"):
        write_board(path, "net", 9, {"skills": ramp(0.0, 0.1)})


def test_boards_that_were_measured_with_another_network_are_left_out(tmp_path: Path):
    for network, size in (("other", 19), ("net", 13), ("net", 9)):
        write_board(tmp_path / "net.levels.json", network, size, {"skills": ramp(0.0, 0.1)})
    assert [*read_table_file(tmp_path / "net.levels.json")["boards"]] == ["9", "13"]
    assert LevelTable({13: {}, 9: {}}).describe() == "calibrated on 9x9, 13x13"


@pytest.mark.parametrize("exists", [True, False])
def test_a_table_without_the_board_says_so(tmp_path: Path, exists: bool):
    path = tmp_path / "net.levels.json"
    if exists:
        write(path, boards={"9": {"skills": ramp(0.0, 0.1)}, "19": {"skills": {}}})
        assert read_skills(path, 9) == ramp(0.0, 0.1)
    with pytest.raises(ModelError, match=r"net\.levels\.json' has no ranks for 19x19; measure them first"):
        read_skills(path, 19)
