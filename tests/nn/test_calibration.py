"""Games that a network plays by sampling its policy, and positions drawn from them."""

from collections import Counter

import numpy as np
import pytest

from gtp_engine.evaluation.evaluation import new_evaluation
from gtp_engine.evaluation.games import conditions_of, write_game
from gtp_engine.evaluation.positions import new_positions
from gtp_engine.go.game import Game
from gtp_engine.go.rules import PRESETS, Ko, Scoring, Tax
from gtp_engine.nn.calibration import (
    LONGEST_GAME,
    RULES,
    PlayedGame,
    PolicyGames,
    Sample,
    _place_in_reservoir,
    evaluate_rows,
    random_setup,
    sample_games,
    take_rows,
)
from gtp_engine.nn.fakes import FakeEvaluator, UniformEvaluator


def play_all(games: PolicyGames) -> list[PlayedGame]:
    ended = []
    while games.playing:
        games.look()
        ended += games.play()
    return ended


def moves_of(played: list[PlayedGame]) -> dict[int, tuple[object, ...]]:
    return {game.number: (game.game.rules, game.game.komi, *game.game.moves) for game in played}


def games_of(seed: int, count: int = 5) -> dict[int, tuple[object, ...]]:
    games = PolicyGames(FakeEvaluator(), 5, 4, games=count, batch=2, rng=np.random.default_rng(seed))
    return moves_of(play_all(games))


def sample(seed: int = 1, games: int = 4, per_game: int = 6) -> Sample:
    rng = np.random.default_rng(seed)
    return sample_games(UniformEvaluator(), 5, 5, games=games, per_game=per_game, batch=3, rng=rng)


def test_all_games_are_played_to_their_end() -> None:
    games = PolicyGames(UniformEvaluator(), 5, 4, games=7, batch=3, rng=np.random.default_rng(1))
    ended = play_all(games)
    assert sorted(played.number for played in ended) == list(range(7))
    for played in ended:
        assert played.game.is_over or len(played.game.moves) == LONGEST_GAME * 20


def test_no_more_games_than_the_batch_at_a_time() -> None:
    games = PolicyGames(UniformEvaluator(), 4, 4, games=5, batch=2, rng=np.random.default_rng(1))
    assert len(games.playing) == 2
    while games.playing:
        games.look()
        games.play()
        assert len(games.playing) <= 2


def test_seeds_decide_the_games() -> None:
    assert games_of(3) == games_of(3)
    assert games_of(3) != games_of(4)
    assert len(set(games_of(3).values())) == 5, "games of one run differ"


def test_rows_are_the_games_positions() -> None:
    games = PolicyGames(UniformEvaluator(), 5, 5, games=2, batch=2, rng=np.random.default_rng(1))
    for _ in range(6):
        games.look()
        games.play()
    games.look()
    row = new_positions(1, 5, 5)
    for number, played in enumerate(games.playing):
        write_game(row, 0, played.game)
        assert row.key[0] == games.positions.key[number]
        assert games.conditions[number] == conditions_of(played.game)


def test_rules_between_them_have_every_value() -> None:
    chosen = [PRESETS[name] for name in RULES]
    assert {rules.ko for rules in chosen} == set(Ko)
    assert {rules.scoring for rules in chosen} == set(Scoring)
    assert {rules.tax for rules in chosen} == set(Tax)
    assert {rules.suicide for rules in chosen} == {False, True}


def test_komi_lies_near_what_the_rules_suggest() -> None:
    rng = np.random.default_rng(1)
    setups = [random_setup(rng, 19, 19) for _ in range(400)]
    deviations = [setup.komi - setup.rules.default_komi() for setup in setups]
    assert all((2 * deviation).is_integer() for deviation in deviations)
    assert 2.3 < np.std(deviations) < 3.6
    assert len({setup.rules for setup in setups}) == len(RULES)


def test_rows_of_different_rules_are_judged_each_under_its_own() -> None:
    games = [
        Game(5, 5, PRESETS[rules], komi) for rules, komi in (("chinese", 7.5), ("japanese", 6.5), ("chinese", 7.5))
    ]
    for game, vertex in zip(games, ("A1", "B2", "C3"), strict=True):
        game.play(vertex)
    positions, together, alone = new_positions(3, 5, 5), new_evaluation(3, 5, 5), new_evaluation(1, 5, 5)
    for row, game in enumerate(games):
        write_game(positions, row, game)
    evaluator = FakeEvaluator()
    evaluate_rows(evaluator, positions, [conditions_of(game) for game in games], together)
    assert (evaluator.calls, evaluator.rows) == (2, 3), "equal conditions share a call"
    for row, game in enumerate(games):
        FakeEvaluator().evaluate(take_rows(positions, [row]), 1, conditions_of(game), alone)
        for array, expected in zip(together, alone, strict=True):
            np.testing.assert_array_equal(array[row], expected[0])


def test_a_sample_has_so_many_positions_of_each_game() -> None:
    drawn = sample()
    assert Counter(drawn.games.tolist()) == dict.fromkeys(range(4), 6)
    assert len(drawn.conditions) == len(drawn.positions.key) == 24
    assert len(set(drawn.positions.key.tolist())) > 20, "hardly any position twice"


def test_a_sample_depends_on_the_seed_alone() -> None:
    np.testing.assert_array_equal(sample(2).positions.key, sample(2).positions.key)
    assert (sample(2).positions.key != sample(3).positions.key).any()


def test_progress_counts_ended_games() -> None:
    steps: list[tuple[int, int]] = []
    rng = np.random.default_rng(1)
    sample_games(
        UniformEvaluator(), 3, 3, games=4, per_game=2, batch=2, rng=rng, progress=lambda *step: steps.append(step)
    )
    assert steps[-1] == (4, 4)
    assert steps == sorted(steps)


@pytest.mark.parametrize(("size", "candidates"), [(3, 10), (1, 5)])
def test_every_candidate_has_the_same_chance_to_stay_in_a_reservoir(size: int, candidates: int) -> None:
    rng, counts, rounds = np.random.default_rng(1), np.zeros(candidates), 4000
    for _ in range(rounds):
        reservoir: dict[int, int] = {}
        for index in range(candidates):
            place = _place_in_reservoir(index, size, rng)
            if place is not None:
                reservoir[place] = index
        counts[list(reservoir.values())] += 1
    np.testing.assert_allclose(counts / rounds, size / candidates, atol=0.03)
