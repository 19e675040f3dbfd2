"""Games that a network plays by sampling its policy, side by side, and their plans."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from fake_evaluators import FakeEvaluator, RecordingEvaluator, UniformEvaluator
from numpy.typing import NDArray

from gtp_engine.evaluation.evaluator import Evaluator, Request
from gtp_engine.evaluation.from_game import conditions_of, write_game
from gtp_engine.evaluation.positions import Positions, conditions_of_row, new_positions
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import parse_vertex, xy_to_point
from gtp_engine.go.game import Game
from gtp_engine.go.rules import PRESETS
from gtp_engine.training.selfplay import plans as game_plans
from gtp_engine.training.selfplay.policy_games import DECIDED_MOVES, PlayedGame, PolicyGames, Temperatures

UNIFORM = UniformEvaluator()
CHINESE = game_plans.GamePlan(PRESETS["chinese"], 7.5)


class ScriptedRows(UniformEvaluator):
    """Evaluates every position as `win` and `lead` for Black; the policy is `weights` ({}: uniform)."""

    def __init__(self, *, win: float = 0.5, lead: float = 0.0, weights: dict[int, float] | None = None) -> None:
        super().__init__()
        self.win, self.lead = win, lead
        self.weights = {PASS: 1.0} if weights is None else weights

    def evaluate(self, request: Request) -> None:
        super().evaluate(request)
        out = request.out
        out.win_black[:] = self.win
        out.loss_black[:] = 1 - self.win
        out.lead_black[:] = self.lead
        if self.weights:
            out.policy[:] = 0.0
            for point, weight in self.weights.items():
                out.policy[:, point] = weight


def always(plan: game_plans.GamePlan) -> game_plans.Planner:
    return lambda rng, width, height: plan


def play(
    evaluator: Evaluator,
    plan: game_plans.GamePlan,
    *,
    games: int = 1,
    size: int = 5,
    temperatures: Temperatures = Temperatures(),  # noqa: B008
    seed: int = 1,
) -> list[PlayedGame]:
    rng = np.random.default_rng(seed)
    made = PolicyGames(
        evaluator, size, size, numbers=range(games), batch=4, rng=rng, planner=always(plan), temperatures=temperatures
    )
    return play_all(made)


def play_all(games: PolicyGames) -> list[PlayedGame]:
    ended = []
    while games.playing:
        games.evaluate()
        ended += games.play()
    return ended


def games_of(seed: int) -> dict[int, tuple[object, ...]]:
    games = PolicyGames(FakeEvaluator(), 5, 4, numbers=range(5), batch=2, rng=np.random.default_rng(seed))
    return {each.number: (each.game.rules, each.game.komi, *each.game.moves) for each in play_all(games)}


class Cycling:
    """Plays the six moves of a cycle on 2×2, of captures of two, one and three stones, again and again."""

    def __call__(self, positions: Positions, rows: Sequence[int], games: Sequence[Game]) -> NDArray[np.floating]:
        policies = np.zeros((len(games), positions.forbidden.shape[1]))
        for policy, game in zip(policies, games, strict=True):
            place = [(0, 0), (1, 1), (0, 1), (1, 0), (0, 0), (0, 1)][len(game.moves) % 6]
            policy[xy_to_point(*place, width=2)] = 1.0
        return policies


def test_a_long_cycle_ends_a_game_under_simple_ko() -> None:
    planner, rng = always(CHINESE._replace(longest=10.0)), np.random.default_rng(1)
    games = PolicyGames(
        UNIFORM, 2, 2, numbers=range(1), batch=1, rng=rng, planner=planner, player=Cycling(), player_share=1.0
    )
    (played,) = play_all(games)
    assert len(played.game.moves) == 13 and played.game.has_no_result and not played.game.is_over


def test_seeds_decide_the_games() -> None:
    assert games_of(3) == games_of(3)
    assert games_of(3) != games_of(4)
    assert len(set(games_of(3).values())) == 5, "games of one run differ"


def test_a_game_that_begins_takes_the_row_of_one_that_ended() -> None:
    games = PolicyGames(UNIFORM, 4, 4, numbers=range(20), batch=3, rng=np.random.default_rng(1))
    row = new_positions(1, 4, 4)
    seen = list[int]()
    while games.playing:
        assert len(games.playing) <= 3
        games.evaluate()
        for number, played in enumerate(games.playing):
            write_game(row, 0, played.game)
            assert row.key[0] == games.positions.key[number]
            assert conditions_of_row(games.positions, number) == conditions_of(played.game)
            assert row.conditions_key[0] == games.positions.conditions_key[number]
        before = games.playing
        ended = games.play()
        seen += [played.number for played in ended]
        assert all(each.game.is_over or len(each.game.moves) == game_plans.LONGEST_GAME * 16 for each in ended)
        if len(games.playing) == len(before):  # games that continue stay in their rows
            assert all(games.playing[row] is each for row, each in enumerate(before) if each not in ended)
    assert sorted(seen) == list(range(20))


def test_without_a_limit_new_games_begin_for_ever() -> None:
    games = PolicyGames(UNIFORM, 3, 3, numbers=range(100, 999), batch=2, rng=np.random.default_rng(1))
    numbers = set()
    for _ in range(200):
        games.evaluate()
        numbers |= {played.number for played in games.playing}
        games.play()
        assert len(games.playing) == 2
    assert min(numbers) == 100 and len(numbers) > 10


# --- How moves are drawn


def first_moves(temperatures: Temperatures, plan: game_plans.GamePlan) -> Counter[int]:
    """Return how often each point came first, where A1 has the weight 9 and B1 the weight 1."""
    a1, b1 = parse_vertex("A1", width=5, height=5), parse_vertex("B1", width=5, height=5)
    evaluator = ScriptedRows(weights={a1: 0.9, b1: 0.1})
    rng = np.random.default_rng(1)
    board = PolicyGames(
        evaluator, 5, 5, numbers=range(2000), batch=2000, rng=rng, planner=always(plan), temperatures=temperatures
    )
    board.evaluate()
    board.play()
    return Counter(played.game.moves[0].point - a1 for played in board.playing)


@pytest.mark.parametrize(
    ("temperatures", "plan", "share"),
    [
        (Temperatures(), CHINESE, 0.1),
        (Temperatures(opening=2.0), CHINESE._replace(opening_length=1), 0.25),  # a square root: 3 : 1
        (Temperatures(rest=2.0), CHINESE, 0.25),
        (Temperatures(hot_share=1.0), CHINESE, 0.25),
        (Temperatures(hot_share=0.5), CHINESE, (0.1 + 0.25) / 2),
    ],
)
def test_moves_are_drawn_by_policy_and_temperature(
    temperatures: Temperatures, plan: game_plans.GamePlan, share: float
) -> None:
    drawn = first_moves(temperatures, plan)
    assert drawn.keys() == {0, 1}, "and nothing else is played"
    assert drawn[1] / drawn.total() == pytest.approx(share, abs=0.03)


# --- Plans


def test_komi_becomes_even_once_the_opening_is_over() -> None:
    (played,) = play(ScriptedRows(lead=5.3, weights={}), CHINESE._replace(even_at=2))
    assert played.game.komi == 13.0, "7.5 and the 5.5 nearest to 5.3, once"
    (played,) = play(ScriptedRows(lead=5.3, weights={}), CHINESE)
    assert played.game.komi == 7.5


def test_the_evaluator_knows_of_an_advantage() -> None:
    evaluator = RecordingEvaluator()
    play(evaluator, CHINESE._replace(advantage_black=-1.5))
    assert evaluator.advantages == {-1.5}


def test_handicap_stones_stand_before_white_begins() -> None:
    points = tuple(parse_vertex(vertex, width=5, height=5) for vertex in ("B2", "D4"))
    (played,) = play(UNIFORM, CHINESE._replace(handicap=points))
    assert played.game.handicap == 2
    assert played.game.moves[0].color == WHITE


def test_white_passes_while_the_policy_places_the_handicap() -> None:
    games = play(UNIFORM, CHINESE._replace(white_passes=2), games=8)
    placed = [each.game for each in games if PASS not in [each.game.moves[number].point for number in (0, 2, 4)]]
    assert len(placed) > 3
    for game in placed:
        assert [move.point == PASS for move in game.moves[:5]] == [False, True, False, True, False]
        assert game.moves[4].color == BLACK and game.handicap >= 3


@pytest.mark.parametrize(
    ("wins", "plan", "length"),
    [
        ([0.995], {}, DECIDED_MOVES),
        ([0.995], {"decided_from": 0.5}, 13),
        ([0.995], {"stops_when_decided": False}, 38),
        ([0.98], {}, 38),
        ([0.005] * 7 + [0.5], {}, 38),
    ],
)
def test_games_may_stop_when_they_are_decided(wins: list[float], plan: dict[str, Any], length: int) -> None:
    """38 moves: the longest game on 5×5."""
    (played,) = play(NeverPassing(wins), CHINESE._replace(**{"stops_when_decided": True} | plan))
    assert len(played.game.moves) == length


class NeverPassing(ScriptedRows):
    """Never passes, and evaluates positions as wins of Black with these probabilities in turn."""

    def __init__(self, wins: list[float]) -> None:
        super().__init__(weights={})
        self.wins = iter(wins * 99)

    def evaluate(self, request: Request) -> None:
        self.win = next(self.wins)
        super().evaluate(request)
        request.out.policy[:, PASS] = 1e-9


PLANS = 3000


@pytest.fixture(scope="module")
def plans() -> list[game_plans.GamePlan]:
    rng = np.random.default_rng(1)
    return [game_plans.varied_plan(rng, 19, 19) for _ in range(PLANS)]


def test_rules_are_drawn_by_their_weights(plans: list[game_plans.GamePlan]) -> None:
    drawn = Counter(plan.rules for plan in plans)
    assert set(PRESETS.values()) == {PRESETS[name] for name in game_plans.RULE_WEIGHTS}
    total = sum(game_plans.RULE_WEIGHTS.values())
    for name, weight in game_plans.RULE_WEIGHTS.items():
        assert drawn[PRESETS[name]] / PLANS == pytest.approx(weight / total, abs=0.03), name


def test_komi_is_near_what_the_rules_suggest_and_sometimes_is_not(plans: list[game_plans.GamePlan]) -> None:
    offsets = np.array([abs(plan.komi - plan.rules.default_komi()) for plan in plans])
    assert all((2 * plan.komi).is_integer() for plan in plans)
    rng = np.random.default_rng(1)
    for width, height, side in ((19, 19, 19), (25, 9, 15)):
        komi = [game_plans.komi_near(PRESETS["chinese"], 0.15, rng, width, height) for _ in range(1000)]
        assert {each % 1 for each in komi} == {0.0, 0.5}
        assert np.std(komi) == pytest.approx(0.15 * side, rel=0.1)
    assert 0.6 < np.mean(offsets <= 3) < 0.75
    assert 0.01 < np.mean(offsets > 12) < 0.06


def test_handicaps(plans: list[game_plans.GamePlan]) -> None:
    placed = [plan for plan in plans if plan.handicap]
    by_policy = [plan for plan in plans if plan.white_passes]
    assert (len(placed) + len(by_policy)) / PLANS == pytest.approx(game_plans.HANDICAP_SHARE, abs=0.02)
    assert len(placed) == pytest.approx(len(by_policy), rel=0.4)
    assert {len(plan.handicap) for plan in placed} == {2, 3, 4, 5}
    assert {plan.white_passes + 1 for plan in by_policy} == {2, 3, 4, 5}
    assert all(plan.even_at is None or plan.even_at > 2 * plan.white_passes for plan in by_policy), "stones stand first"
    assert np.mean([plan.even_at is not None for plan in plans]) == pytest.approx(game_plans.EVEN_SHARE, abs=0.04)
    assert np.mean([plan.opening_length for plan in plans]) == pytest.approx(game_plans.OPENING_SHARE * 361, rel=0.1)
    assert np.mean([plan.stops_when_decided for plan in plans]) == pytest.approx(game_plans.STOPPED_SHARE, abs=0.04)


@pytest.mark.parametrize(("width", "height", "most"), [(9, 9, 3), (7, 7, 0), (8, 8, 2), (13, 8, 4)])
def test_small_boards_have_small_handicaps(width: int, height: int, most: int) -> None:
    rng = np.random.default_rng(1)
    plans = [game_plans.varied_plan(rng, width, height) for _ in range(1000)]
    assert max(max(len(plan.handicap), plan.white_passes and plan.white_passes + 1) for plan in plans) == most


def test_advantages_are_mostly_those_of_white_in_handicap_games(plans: list[game_plans.GamePlan]) -> None:
    assert not any(plan.advantage_black for plan in plans)
    rng = np.random.default_rng(1)
    found = [game_plans.plan_with_advantages(rng, 19, 19) for _ in range(PLANS)]
    with_handicap = [plan.advantage_black for plan in found if plan.handicap or plan.white_passes]
    assert np.mean(np.array(with_handicap) < 0) == pytest.approx(game_plans.HANDICAP_ADVANTAGE_SHARE, abs=0.1)
    assert set(with_handicap) == {0.0, -0.5, -1.0, -1.5, -2.0, -2.5, -3.0}
    even = [plan.advantage_black for plan in found if not plan.handicap and not plan.white_passes]
    assert min(even) < 0 < max(even) and np.mean(np.array(even) != 0) < 0.03
