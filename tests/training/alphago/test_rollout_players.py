"""The mixture of AlphaGo: rollouts from leaves, by policies of kernels or by a network, and their mixture."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from board_helpers import parse_diagram, play_moves
from fake_evaluators import FakeEvaluator, rows_of
from puct_support import AreaEvaluator, Searching, ShapedEvaluator, config, game_from, is_allowed, search, store_of

from gtp_engine import Config, ConfigError, Game, Rules, parse_vertex
from gtp_engine.compiled.arrays import zeros
from gtp_engine.engine.resources import Resources
from gtp_engine.engine.searches import new_searcher
from gtp_engine.evaluation.evaluator import ExclusiveEvaluator, Request
from gtp_engine.evaluation.positions import Positions, conditions_of_row, view_board
from gtp_engine.go.constants import BLACK, NULL_POINT, PASS, WHITE, opponent
from gtp_engine.search.limits import Limits
from gtp_engine.search.players import rollout_players
from gtp_engine.search.puct.evaluation_thread import RolloutPlayer
from gtp_engine.search.puct.expand import Results
from gtp_engine.search.puct.tree import LEAD, ROOT, VALUE
from gtp_engine.search.rng import new_states
from gtp_engine.search.rollouts.rollout import TACTICAL, UNIFORM
from gtp_engine.training.alphago.linear_policy import LinearPolicy
from gtp_engine.training.alphago.rollout_players import kernel_player, linear_player, network_player

Preference = Callable[[Positions, int, int], float]
"""The preference of a network for a point in a row, not normalized."""


_CODES, _WEIGHTS, _THREE = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32), np.zeros(3, dtype=np.float32)
INDIFFERENT = LinearPolicy(
    _CODES, _WEIGHTS, _CODES, _WEIGHTS, _CODES, np.zeros((0, 12), dtype=np.float32), _THREE, _THREE
)
"""Weights that make no difference between moves."""


class RolloutEvaluator(AreaEvaluator):
    """Has a rollout network that prefers allowed points as given, and the pass; records the rows of each call."""

    def __init__(
        self, preference: Preference = lambda positions, row, point: 1.0, batch: int = 4, **facts: Any
    ) -> None:
        super().__init__(batch, has_rollout_policy=True, **facts)
        self.preference = preference
        self.rollout_rows: list[int] = []

    def write_rollout_policy(self, positions: Positions, count: int, policy: np.ndarray) -> None:
        self.rollout_rows.append(count)
        policy[:] = np.nan  # what is not written must not be looked at
        policy[:count] = 0
        for row in range(count):
            for point in range(2, policy.shape[1]):
                if is_allowed(positions, row, point, conditions_of_row(positions, row).suicide):
                    policy[row, point] = self.preference(positions, row, point)
            policy[row, PASS] = 1
            policy[row] /= policy[row].sum()


def script(*points: int) -> Preference:
    """Return the preference of a network that plays the first of these points that is free, and nothing else."""

    def preference(positions: Positions, row: int, point: int) -> float:
        color = view_board(positions, row).color
        return float(point == next((p for p in points if color[p] == 0), NULL_POINT))

    return preference


def play_out(player: RolloutPlayer, games: list[Game], is_dropped: Callable[[], bool] = lambda: False) -> Results:
    game = games[0]
    positions, results = rows_of(games), zeros(Results, S=len(games), n=game.board.color.size)
    player(positions, len(games), results, is_dropped)
    return results


def player_of(evaluator: RolloutEvaluator, size: int, board: int, limit: int = 0, seed: int = 1) -> RolloutPlayer:
    rng = new_states(1, seed)[0]
    return network_player(evaluator, limit, size, (board, board), rng)


# --- the mixture


def test_with_no_share_rollouts_change_nothing() -> None:
    plain = search(Game(7), 200, FakeEvaluator())
    none = search(Game(7), 200, FakeEvaluator(), rollout_share=0, rollout_limit=3, rollout_policy="uniform")
    assert plain.moves == none.moves
    assert plain.value_black == none.value_black


@pytest.mark.parametrize("weights", [None, INDIFFERENT], ids=["tactical", "linear"])
def test_with_the_whole_share_only_rollouts_count(weights: LinearPolicy | None) -> None:
    """Two evaluators that agree about policies but on nothing else give the same search."""

    class Shaped(ShapedEvaluator):
        def __init__(self) -> None:
            super().__init__(rollout_weights=weights)

    class Contrary(Shaped):
        def write_values(self, board, color, conditions, out, row):
            super().write_values(board, color, conditions, out, row)
            out.win_black[row], out.loss_black[row] = 0.3, 0.7
            out.score_black[row] = out.lead_black[row] = -20

    options = {"rollout_share": 1, "symmetry_pruning": False, "ending_bonus": 0, "dynamic_score_weight": 0}
    game = Game(5, 5, Rules.parse("tromp-taylor"), 0.5)
    with Searching(Shaped(), **options) as searcher:
        one = searcher.run(game, Limits(150))
        tree = store_of(searcher).tree
        assert set(tree.own[: one.nodes, 0]) <= {-1.0, 0.0, 1.0}
    other = search(game, 150, Contrary(), **options)
    assert one.moves == other.moves
    assert one.value_black == other.value_black


def test_a_mixture_lies_between() -> None:
    game = Game(5, 5, Rules.parse("tromp-taylor"), 0.5)
    values = []
    for share in (0.0, 0.25, 1.0):
        with Searching(AreaEvaluator(), rollout_share=share, seed=4) as searcher:
            searcher.run(game, Limits(1))
            values.append(float(store_of(searcher).tree.own[ROOT, 0]))
    assert values[1] == pytest.approx(0.75 * values[0] + 0.25 * values[2], abs=1e-6)


def test_rollouts_can_be_limited_in_moves_and_playouts_in_depth() -> None:
    report = search(Game(7), 300, ShapedEvaluator(), rollout_share=0.5, rollout_limit=1, playout_depth=2)
    assert report.visits == 300
    assert max(len(move.pv) for move in report.moves) == 2


def test_rollouts_find_who_lives() -> None:
    text = """
        . a . X O .
        X X X X O O
        O O O O O .
        . O . O O O
        O O O O . O
    """

    class Blind(ShapedEvaluator):
        def write_values(self, board, color, conditions, out, row):
            super().write_values(board, color, conditions, out, row)
            out.win_black[row] = out.loss_black[row] = 0.5
            out.score_black[row] = out.lead_black[row] = 0

    point = parse_diagram(text).marks["a"]
    for color in (BLACK, WHITE):
        game = game_from(text, color, komi=-22)
        report = search(game, 1200, Blind(batch=1), rollout_share=1)
        assert report.best_point == point
        assert opponent(color) != report.to_play


# --- a network as player

NEUTRAL = 5 * ". X . O .\n"
"""The side that moves first gets three points of the middle, the other two: Black wins or loses by 1, less komi."""


@pytest.mark.parametrize("share", [0.25, 1.0])
@pytest.mark.parametrize("color", [BLACK, WHITE])
def test_a_rollout_network_that_plays_a_known_sequence_decides_the_mixed_value(color: int, share: float) -> None:
    game = game_from(NEUTRAL, color, komi=0.5)
    middle = [parse_vertex(vertex, width=5, height=5) for vertex in ("C3", "C1", "C5", "C2", "C4")]
    evaluator = RolloutEvaluator(script(*middle))
    with Searching(evaluator, rollout_share=share) as searcher:
        report = searcher.run(game, Limits(1))
        own = store_of(searcher).tree.own[ROOT].copy()
    assert report.raw is not None
    margin = 0.5 if color == BLACK else -1.5
    assert own[VALUE] == pytest.approx((1 - share) * (2 * report.raw.winrate_black - 1) + share * np.sign(margin))
    assert own[LEAD] == pytest.approx((1 - share) * report.raw.lead_black + share * margin)
    ours, theirs = middle[0], middle[1]
    sign = 1 if color == BLACK else -1
    assert report.ownership_black[[ours, theirs]] == pytest.approx([share * sign, -share * sign])
    assert evaluator.rollout_rows == [1] * 7, "five moves and two passes"


def test_all_rollouts_of_a_batch_step_together() -> None:
    """After a batch has been evaluated all its rows are played, then those that have not ended, move by move."""
    batches: list[tuple[int, list[int]]] = []

    def watch(request: Request) -> None:
        evaluator.rollout_rows = []
        batches.append((request.rows, evaluator.rollout_rows))

    evaluator = RolloutEvaluator(batch=8)
    evaluator.watch = watch
    assert search(Game(4), 200, evaluator, rollout_share=0.5, in_flight_share=1).visits == 200
    for evaluated, asked in batches:
        assert asked[0] == evaluated
        assert asked == sorted(asked, reverse=True)
        assert 2 <= len(asked) <= 3 * 16, "two passes at least, three moves for each point at most"
    assert max(evaluated for evaluated, _ in batches) == 8


@pytest.mark.parametrize("policy", ["network", "linear"])
def test_a_policy_without_preferences_plays_uniform_rollouts(policy: str) -> None:
    """Moves are left out, games ended and areas counted in the same way."""
    game, count = Game(4, 4, Rules.parse("chinese")), 300
    rng = new_states(1, 2)[0]
    expected = play_out(kernel_player(UNIFORM, 0, count, (4, 4), rng), [game] * count).margin
    linear = linear_player(INDIFFERENT, 0, count, (4, 4), rng)
    player = linear if policy == "linear" else player_of(RolloutEvaluator(), count, 4)
    found = play_out(player, [game] * count).margin
    error = np.hypot(expected.std(), found.std()) / np.sqrt(count)
    assert abs(expected.mean() - found.mean()) < 3 * error
    assert abs(expected.std() - found.std()) < 3 * error


def test_rows_of_network_rollouts_equal_those_of_the_game() -> None:
    """After every move its row is the one that `write_game` makes, except for superko, which rollouts ignore."""
    text = ". X O . .\nX . X O .\n. X O . .\n. . . . .\n. . . . ."
    game, moves = game_from(text, WHITE, rules="chinese"), 0

    def check(positions: Positions) -> None:
        nonlocal moves
        if moves:
            game.play(int(positions.points[0, 0]))
        expected = rows_of([game])
        for name in ("to_play", "points", "colors", "forbidden", "pass_ends", "hash", "key"):
            found = getattr(positions, name)[0]
            assert np.array_equal(found, getattr(expected, name)[0]), (name, game.diagram())
        for ago in range(3):
            assert np.array_equal(view_board(positions, 0, ago).color, view_board(expected, 0, ago).color)
        moves += 1

    class Checked(RolloutEvaluator):
        def write_rollout_policy(self, positions, count, policy):
            check(positions)
            super().write_rollout_policy(positions, count, policy)

    play_out(player_of(Checked(), 1, 5), [game.copy()])
    assert moves > 20


def test_rows_of_ended_rollouts_are_reused_and_results_keep_their_slots() -> None:
    """Each rollout is a game of its own: played in a batch or alone, it ends the same."""
    middle = [parse_vertex(vertex, width=5, height=5) for vertex in ("C3", "C1", "C5", "C2", "C4")]
    games = []
    for number in range(6):
        game = play_moves(game_from(NEUTRAL, BLACK if number % 2 else WHITE), middle[: number // 2 * 2])
        games.append(game)
    evaluator = RolloutEvaluator(script(*middle))
    found = play_out(player_of(evaluator, 6, 5), games)
    assert evaluator.rollout_rows == [6, 6, 6, 4, 4, 2, 2]
    for number, game in enumerate(games):
        alone = play_out(player_of(evaluator, 1, 5), [game])
        assert found.margin[number] == alone.margin[0] == (1 if number % 2 else -1)
        assert np.array_equal(found.owner[number], alone.owner[0])


@pytest.mark.parametrize("limit", [1, 0], ids=["cut off", "to the end"])
def test_a_rollout_that_is_cut_off_has_no_opinion(limit: int) -> None:
    common = limit, 2, (5, 5), new_states(1, 1)[0]
    network = player_of(RolloutEvaluator(), 2, 5, limit)
    for player in (kernel_player(TACTICAL, *common), linear_player(INDIFFERENT, *common), network):
        assert play_out(player, [Game(5), Game(5)]).finished.tolist() == [limit == 0] * 2


@pytest.mark.parametrize("has_ownership", [True, False])
def test_leaves_of_rollouts_that_are_cut_off_keep_the_networks_evaluation(has_ownership: bool) -> None:
    """`--rollout-limit 5` in the opening counted the empty board: 0% for Black at komi 7.5, 100% at −7.5."""
    options = {"rollout_policy": "tactical", "rollout_limit": 1}
    plain = search(Game(7), 100, ShapedEvaluator(has_ownership=has_ownership))
    mixed = search(Game(7), 100, ShapedEvaluator(has_ownership=has_ownership), rollout_share=1, **options)
    assert mixed.moves == plain.moves
    assert mixed.value_black == plain.value_black
    assert np.array_equal(mixed.ownership_black, plain.ownership_black)


@pytest.mark.parametrize(("share", "owned"), [(0.0, 0.0), (1.0, 1.0)])
def test_ends_of_games_have_owners_where_rollouts_count(share: float, owned: float) -> None:
    """A single rollout says little; after passes nearly every playout ends the game at once, with the same owners."""

    class Passing(ShapedEvaluator):
        def policy(self, board, color, moves):
            return np.array([1.0 if point == PASS else 1e-6 for point in moves])

    game = game_from(NEUTRAL, BLACK)
    report = search(game, 200, Passing(has_ownership=False), rollout_share=share, rollout_policy="uniform")
    assert report.ownership_samples == 200 * (share > 0)
    black = [point for point in game.stones if game.color_at(point) == BLACK]
    assert min(report.ownership_black[black]) > owned - 0.2


def test_a_dropped_rollout_ends_early_and_a_shared_evaluator_shares_its_rollout_network() -> None:
    evaluator = RolloutEvaluator()
    shared = ExclusiveEvaluator(evaluator)
    assert shared.info is evaluator.info
    play_out(player_of(shared, 1, 5), [Game(5)], lambda: len(evaluator.rollout_rows) == 3)
    assert len(evaluator.rollout_rows) == 3


# --- the choice of the player


class WeightedEvaluator(RolloutEvaluator):
    """Has weights for a linear policy too."""

    def __init__(self) -> None:
        super().__init__(rollout_weights=INDIFFERENT)


@pytest.mark.parametrize(
    ("evaluator", "policy", "player"),
    [
        (WeightedEvaluator, "auto", linear_player),
        (WeightedEvaluator, "linear", linear_player),
        (WeightedEvaluator, "network", network_player),
        (WeightedEvaluator, "tactical", kernel_player),
        (RolloutEvaluator, "auto", network_player),
        (RolloutEvaluator, "uniform", kernel_player),
        (AreaEvaluator, "auto", kernel_player),
        (AreaEvaluator, "tactical", kernel_player),
    ],
)
def test_the_setting_selects_the_player(evaluator: type[AreaEvaluator], policy: str, player: object) -> None:
    for each in (evaluator(), ExclusiveEvaluator(evaluator())):
        found = rollout_players(config(rollout_policy=policy, rollout_share=0.5), each)
        assert isinstance(found, partial) and found.func is player
        assert rollout_players(config(rollout_policy=policy), each) is None


@pytest.mark.parametrize(
    ("evaluator", "options"),
    [
        (RolloutEvaluator, {"rollout_share": 0.5, "pipeline": 1, "in_flight_share": 1}),
        (RolloutEvaluator, {"rollout_share": 0.5, "pipeline": 2, "in_flight_share": 1}),
        (WeightedEvaluator, {"rollout_share": 0.5, "rollout_policy": "linear"}),
        (WeightedEvaluator, {"rollout_share": 1.0, "rollout_policy": "linear"}),
    ],
)
def test_a_search_with_rollouts_repeats_itself(evaluator: Callable[[], RolloutEvaluator], options: Any) -> None:
    one, same, other = (search(Game(4), 60, evaluator(), **options, seed=seed).moves for seed in (1, 1, 2))
    assert one == same != other


def test_a_search_by_rollouts_plays_by_a_linear_policy_if_configured() -> None:
    game, linear = Game(5), INDIFFERENT
    reports = {}
    for policy, weights in (("linear", linear), ("auto", linear), ("auto", None), ("uniform", linear)):
        values = {"search.search": "rave", "search.rollout_policy": policy, "search.seed": "1", "search.threads": "2"}
        searcher = new_searcher(Resources(FakeEvaluator(rollout_weights=weights)), Config().with_values(values))
        reports[policy, weights is not None] = searcher.run(game, Limits(500)).moves
        searcher.close()
    assert reports["auto", True] == reports["auto", False]
    assert len({str(moves) for moves in reports.values()}) == 3


@pytest.mark.parametrize(
    ("policy", "with_network", "without"),
    [
        ("network", "= network without a rollout network; put one into", "without a network: expected auto, linear"),
        ("linear", r"linear without weights; put rollout-policy\.npz into the folder", "linear without weights"),
    ],
)
def test_what_is_missing_for_a_policy_is_refused(policy: str, with_network: str, without: str) -> None:
    with pytest.raises(ConfigError, match=with_network):
        Searching(AreaEvaluator(), rollout_policy=policy)
    with pytest.raises(ConfigError, match=without):
        new_searcher(Resources(None), config(rollout_policy=policy))
