"""Fitting levels to games, and the games themselves."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from fake_evaluators import FakeEvaluator, RecordingEvaluator
from nn import tiny_networks
from superko_games import LAP, triple_ko

from gtp_engine.base.errors import TengenError
from gtp_engine.cli import cli
from gtp_engine.config.sections import LEVELS
from gtp_engine.engine.level_table import TOP_SKILL
from gtp_engine.training.people.calibration import (
    CHECKED_LEVELS,
    COARSE_SKILLS,
    KNOTS,
    Curve,
    GameRow,
    LevelNetworks,
    Measurement,
    SkillPairing,
    checked_board,
    checks_of,
    fit_curve,
    fitted_skills,
    pairings_of,
    play_level_games,
    points_of,
    read_games,
    skills_of_levels,
)

NETWORKS = LevelNetworks(FakeEvaluator(batch=4), FakeEvaluator(seed=1, batch=4, needs_profile=True))


def games_between(low: float, high: float, *, won: int, games: int) -> list[GameRow]:
    """Return games of which the second skill wins some, with both colours."""
    return [
        GameRow(9, 0, low, high, n, float(n >= won), 60, [])
        if n % 2
        else GameRow(9, 0, high, low, n, float(n < won), 60, [])
        for n in range(games)
    ]


def test_a_curve_finds_the_differences_of_ratings_and_rises_even_where_the_weaker_side_won():
    """Three of four games won are 191 points."""
    strong, weak = (
        fit_curve([row for low, high in pairwise(KNOTS) for row in games_between(low, high, won=won, games=games)])
        for won, games in ((900, 1200), (5, 40))
    )
    assert np.diff(strong.elo) == pytest.approx(np.full(len(KNOTS) - 1, 191.0), abs=8.0)
    assert (np.diff(weak.elo) > 0.0).all()


def test_a_curve_finds_what_a_stone_is_worth():
    """Between equal players three stones win 85% of the games: 301 points."""
    games = [GameRow(19, 3, 2.0, 2.0, n, float(n >= 150), 200, []) for n in range(1000)]
    assert fit_curve(games).stone == pytest.approx(100.4, abs=0.5)
    weaker = [GameRow(19, 3, 2.0, 2.0, n, float(n >= 300), 200, []) for n in range(1000)]
    assert fit_curve(weaker).stone == pytest.approx(49.1, abs=0.5)
    assert fit_curve(games_between(0.0, 1.5, won=6, games=8)).stone == pytest.approx(100.0), "until games tell better"


def test_a_curve_knows_its_errors():
    """1,000 games of which half are won: the standard error of the difference is 11 Elo points, of 250 games 22."""
    few, many = (
        fit_curve(games_between(4.0, 8.0, won=games // 2, games=games)).error(4.0, 8.0) for games in (250, 1000)
    )
    assert many == pytest.approx(1.96 * 173.7 / (1000 * 0.25) ** 0.5, rel=0.05)
    assert few == pytest.approx(2 * many, rel=0.1)


def curve_up_to(elo: float) -> Curve:
    """Return a curve that rises evenly from knot to knot."""
    return Curve(np.linspace(0.0, elo, len(KNOTS)), 100.0)


def test_levels_are_evenly_spaced_from_the_top_or_below_it_also_in_a_range_that_is_too_small():
    curve = curve_up_to(4000.0)
    skills = skills_of_levels(curve, 100.0)
    elo = [curve.at(skills[level]) for level in LEVELS]
    assert skills["9d"] == TOP_SKILL
    assert np.diff(elo) == pytest.approx(np.full(len(LEVELS) - 1, 100.0), abs=1.0)
    lower = skills_of_levels(curve, 100.0, below_top=300.0)
    assert [lower[level] for level in LEVELS[3:]] == [skills[level] for level in LEVELS[:-3]]
    small = curve_up_to(1400.0)
    shared = skills_of_levels(small, 100.0)
    assert (shared["20k"], small.at(shared["19k"])) == (KNOTS[0], pytest.approx(50.0, abs=1.0))


def test_checks_count_the_games_between_neighbouring_ranks():
    skills = {level: float(number) for number, level in enumerate(LEVELS)}
    games = games_between(*(skills[level] for level in CHECKED_LEVELS[:2]), won=10, games=10)
    check = checks_of(games, skills, pairwise(CHECKED_LEVELS))[0]
    assert [*check.values()] == ["16k", "19k", 10, 10.0, [0.722, 1.0], 1200]


def test_both_colours_are_played_with_each_opening_and_all_pairs_early():
    first = [(1.0, 2.0, 0), (2.0, 1.0, 0), (2.0, 3.0, 0), (3.0, 2.0, 0)]
    assert pairings_of([1.0, 2.0, 3.0], 4) == [*first, *((black, white, 1) for black, white, _ in first)]


def test_neighbouring_slopes_help_where_games_are_few():
    """Eight games, half of them won, do not make a level place of a slope between others, as 800 such games do."""
    slopes = {}
    for games in (8, 800):
        rows = [
            row
            for low, high in pairwise(KNOTS)
            for row in (
                games_between(low, high, won=games // 2, games=games)
                if low == 12.0
                else games_between(low, high, won=60, games=80)
            )
        ]
        slopes[games] = np.diff(fit_curve(rows).elo) / np.diff(KNOTS)
    assert slopes[8][5] > 0.6 * slopes[8][3]
    assert slopes[800][5] < 0.4 * slopes[800][3]


def test_a_measurement_plays_only_what_is_missing(tmp_path: Path):
    path = tmp_path / "games.jsonl"
    log: list[str] = []
    Measurement(NETWORKS, 7, path, batch=4, log=log.append).play(pairings_of([0.0, 6.0], 2))
    assert len(read_games(path)) == len(log) == 2
    Measurement(NETWORKS, 7, path, batch=4, log=log.append).play(pairings_of([0.0, 6.0, 7.0], 2))
    assert len(read_games(path)) == len(log) == 4
    assert {tuple(sorted(row[2:4])) for row in read_games(path)} == {(0.0, 6.0), (6.0, 7.0)}


def row_of(network: str) -> str:
    return json.dumps(GameRow(7, 0, 0.0, 6.0, 0, 1.0, 60, [0.0, 3.0], network)._asdict())


def test_lines_of_another_network_and_an_interrupted_one_do_not_count_and_a_damaged_one_is_named(tmp_path: Path):
    path, ours = tmp_path / "games.jsonl", NETWORKS.human.info.name
    others = [
        row_of(ours).replace(f'"{name}": {value}', f'"{name}": 9') for name, value in {"size": 7, "handicap": 0}.items()
    ]
    path.write_text("".join(f"{line}\n" for line in (*map(row_of, (ours, "another", "")), *others)))
    assert len(read_games(path)) == 5
    assert [row.network for row in Measurement(NETWORKS, 7, path, batch=4, log=print).games()] == [ours, ""]
    path.write_text(f"{row_of('fake')}\n" * 2 + row_of("fake")[:20])
    assert len(read_games(path)) == 1, "two processes had played the same games, which counted twice"
    path.write_text(f"{row_of('fake')}\n{{}}\n")
    with pytest.raises(TengenError, match=r"games\.jsonl', line 2, is not a game; remove the line"):
        read_games(path)


def measurement_of(path: Path, rows: list[GameRow]) -> Measurement:
    """Return a measurement on 9x9 that has these games already."""
    path.write_text("".join(json.dumps(row._asdict()) + "\n" for row in rows))
    return Measurement(NETWORKS, 9, path, batch=4, log=print)


def test_a_curve_may_be_fitted_to_the_games_that_checked_another(tmp_path: Path):
    coarse = [row for low, high in pairwise(COARSE_SKILLS) for row in games_between(low, high, won=5, games=8)]
    checks = games_between(15.0, 20.0, won=40, games=40)
    measurement = measurement_of(tmp_path / "games.jsonl", [*coarse, *checks])
    first, second = (fitted_skills(measurement, coarse_games=0, refit=refit) for refit in (False, True))
    assert second["8k"] != first["8k"]


def test_ranks_are_rated_by_all_games(tmp_path: Path):
    """Three of four games won are 191 points."""
    levels = CHECKED_LEVELS
    skills = {level: float(number) for number, level in enumerate(LEVELS)}
    games = [
        row for low, high in pairwise(levels) for row in games_between(skills[low], skills[high], won=30, games=40)
    ]
    board = checked_board(measurement_of(tmp_path / "games.jsonl", games), skills, games=0, handicap_games=0)
    assert board["skills"] == skills and board["elo"][LEVELS[0]] == 0
    assert board["games"] == {"all": len(games), "checks": len(games)}
    assert [board["elo"][high] - board["elo"][low] for low, high in pairwise(levels)] == pytest.approx(
        [191] * (len(levels) - 1), abs=25
    )


def test_a_game_without_result_is_a_draw():
    game = triple_ko("chinese", moves=11)
    assert (points_of(game, 5.0), points_of(game, -5.0), points_of(game, 0.0)) == (1.0, 0.0, 0.5)
    game.play(LAP[-1])
    assert points_of(game, 5.0) == 0.5


def test_with_a_handicap_white_has_half_a_point_and_one_for_each_stone():
    pairings, strong = [SkillPairing(0.0, 10.0, 1)], RecordingEvaluator(batch=4)
    (row,) = play_level_games(NETWORKS._replace(strong=strong), 7, pairings, batch=2, seed=1, handicap=3)
    assert strong.conditions[0].komi == 0.5 + 3 and row.handicap == 3


@pytest.mark.parametrize(
    ("folder", "reason"),
    [("other", "expected one that imitates people"), ("x.levels.json", "copy the network to a folder of yours")],
)
def test_what_makes_measuring_impossible_is_refused_before_a_game(tmp_path: Path, folder: str, reason: str) -> None:
    (tmp_path / folder).mkdir()
    model, games = tiny_networks.v7_network(tmp_path / "x.onnx", sizes="9x9"), str(tmp_path / "g.jsonl")
    command = ["calibrate-levels", "--human-model", str(model), "--sizes", "9", "--games-file", games]
    result = CliRunner().invoke(cli, command)
    assert result.exit_code == 2 and reason in result.stderr


def test_games_keep_the_lead_before_each_move_and_both_of_a_pair_begin_with_the_same_ones() -> None:
    """Losses of points are read off them."""
    pairings = [SkillPairing(0.0, 10.0, 1), SkillPairing(10.0, 0.0, 1), SkillPairing(0.0, 10.0, 2)]
    rows = {row[2:5]: row for row in play_level_games(NETWORKS, 10, pairings, batch=3, seed=1)}
    assert all(len(row.leads) == row.moves for row in rows.values())
    first, second, other = (rows[pairing].leads[:3] for pairing in pairings)
    assert first == second != other
