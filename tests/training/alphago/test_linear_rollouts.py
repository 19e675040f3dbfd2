"""The linear rollout policy: updated weights, odds and draws agree with the slow oracle on random games."""

import random
from collections.abc import Iterator, Sequence
from math import exp
from typing import Any

import numpy as np
import pytest
import reference
from board_helpers import COLOR, points_of
from reference import ReferenceGame, empty_position, opponent
from training.alphago import linear_oracle as oracle
from training.alphago.linear_oracle import Scene

from gtp_engine.go.board import Board, clone, copy_board, is_legal, new_board
from gtp_engine.go.constants import BLACK, EMPTY, NULL_POINT, PASS, WHITE
from gtp_engine.go.tactics import is_eye
from gtp_engine.search.rng import new_states
from gtp_engine.training.alphago.linear_policy import LinearPolicy, least_places, new_tables
from gtp_engine.training.alphago.linear_rollouts import (
    NAKADE,
    LinearWork,
    begin_linear,
    draw_linear,
    find_local,
    new_linear_work,
    play_linear,
    play_out_linear,
)
from gtp_engine.training.alphago.neighborhoods import diamond_images

SIZES = [(2, 3), (4, 4), (7, 5)]
MOVES = 60
DRAWS = 5_000
TAKES_KO = (1, 2, 4, 7, 9, 10, 6, 5)
"""On 4×4: White's last move takes a stone in a ko."""


def random_scenes(width: int, height: int, seed: int) -> Iterator[tuple[Scene, int]]:
    """Yield the scenes of a game of random moves, as `play` does."""
    rng = random.Random(seed)
    return play(width, height, [rng.random() for _ in range(MOVES)])


def play(width: int, height: int, moves: Sequence[int | float]) -> Iterator[tuple[Scene, int]]:
    """Yield the positions of a game, and what simple ko forbids in each (PASS: nothing).

    Moves are points, or fractions that index the moves that fill no eye.
    """
    game = ReferenceGame(empty_position(width, height), ko="simple", suicide=False)
    color = reference.BLACK
    for move in moves:
        choices = [p for p in game.legal_points(color) if oracle.is_playable(game.position, p, color)]
        if not choices:
            return
        point = move if isinstance(move, int) else choices[int(move * len(choices))]
        captured = reference.place(game.position, point, color).captured
        game.play(point, color)
        color = opponent(color)
        ko = game.ko_point()
        yield Scene(game.position, color, point, captured), reference.PASS if ko is None else ko


def all_scenes(sizes=SIZES, seeds: int = 1) -> list[list[tuple[Scene, int]]]:
    return [list(random_scenes(*size, seed)) for size in sizes for seed in range(seeds)]


class Follower:
    """A board and its work arrays, which follow the scenes of a game."""

    def __init__(self, width: int, height: int, policy: LinearPolicy) -> None:
        self.board: Board = new_board(width, height)
        self.work: LinearWork = new_linear_work(new_tables(policy), width, height)
        begin_linear(self.board, self.work)

    def follow(self, scene: Scene) -> None:
        play_linear(self.board, self.work, points_of(scene.position)[scene.last], COLOR[opponent(scene.color)])


def followed(game: list[tuple[Scene, int]], policy: LinearPolicy) -> Iterator[tuple[Scene, int, Follower]]:
    """Yield the scenes of a game, the ko, and a follower that has played up to there."""
    follower = Follower(game[0][0].position.width, game[0][0].position.height, policy)
    for scene, ko in game:
        follower.follow(scene)
        yield scene, ko, follower


def test_updated_weights_equal_those_of_the_oracle_after_every_move() -> None:
    games = all_scenes()
    policy = oracle.policy_for(scene for game in games for scene, _ in game)
    captures = 0
    for game in games:
        for scene, _, follower in followed(game, policy):
            captures += len(scene.captured)
            points = points_of(scene.position)
            for color in "XO":
                for index, point in enumerate(points):
                    found = follower.work.weight[COLOR[color] - BLACK, point]
                    if oracle.is_playable(scene.position, index, color):
                        expected = exp(oracle.pattern_score(scene.position, index, color))
                        assert found == pytest.approx(expected, rel=1e-4), reference.draw(scene.position, [index])
                    else:
                        assert found == 0, reference.draw(scene.position, [index])
    assert captures > 20


def test_updated_sums_equal_fresh_sums_exactly() -> None:
    games = all_scenes([(9, 9)], seeds=2)
    policy = oracle.policy_for(scene for scene, _ in games[0][::10])
    for game in games:
        fresh = Follower(9, 9, policy)
        for _, _, follower in followed(game, policy):
            begin_linear(follower.board, fresh.work)
            for name in ("weight", "row_sum", "total"):
                assert np.array_equal(getattr(follower.work, name), getattr(fresh.work, name))
            assert follower.work.weight.sum(axis=1) == pytest.approx(follower.work.total)


def local_factors(scene: Scene, follower: Follower) -> dict[int, float]:
    """Return the product of the local factors of every point that has any."""
    work = follower.work
    count = find_local(follower.board, COLOR[scene.color], points_of(scene.position)[scene.last], work)
    factors: dict[int, float] = {}
    for point, feature in zip(work.local_point[:count], work.local_feature[:count], strict=True):
        index = points_of(scene.position).index(int(point))
        factors[index] = factors.get(index, 1.0) * float(work.tables.factors[feature])
    return factors


def test_local_features_equal_those_of_the_oracle() -> None:
    games = all_scenes([(5, 5), (7, 5)], seeds=2)
    policy = oracle.policy_for(scene for game in games for scene, _ in game)
    known, urgent = set(policy.diamonds.tolist()), 0
    for game in games:
        for scene, _, follower in followed(game, policy):
            expected = {point: exp(score) for point, score in oracle.local_scores(scene, known).items()}
            assert local_factors(scene, follower) == pytest.approx(expected, rel=1e-5), reference.draw(scene.position)
            urgent += len(oracle.captures(scene) | oracle.escapes(scene))
    assert urgent > 20


@pytest.mark.parametrize(
    ("shape", "vital"),
    [
        ("ooo", 1),
        ("oo/o", 0),
        ("ooo/.o.", 1),
        ("oooo", None),
        ("oo/oo", None),
        (".o./ooo/.o.", 2),
        ("ooo/oo.", 1),
        ("oooo/.o..", None),
        ("ooo/ooo", None),
        (".o./ooo/.oo", 2),
        ("oo", None),
    ],
)
def test_the_middle_of_a_captured_shape_is_nakade(shape: str, vital: int | None) -> None:
    """`vital` is the number of the stone in the middle, row by row."""
    rows = shape.split("/")
    stones = [(y + 2) * 9 + x + 3 for y, row in enumerate(rows) for x, cell in enumerate(row) if cell == "o"]
    border = sorted({stone + step for stone in stones for step in (-1, 1, -9, 9)} - set(stones))
    follower = Follower(8, 8, POLICY)
    for point in stones:
        play_linear(follower.board, follower.work, point, WHITE)
    for point in border:
        play_linear(follower.board, follower.work, point, BLACK)
    assert follower.board.color[stones[0]] == EMPTY
    count = find_local(follower.board, WHITE, border[-1], follower.work)
    features = zip(follower.work.local_point[:count], follower.work.local_feature[:count], strict=True)
    found = [int(point) for point, feature in features if feature == NAKADE]
    assert found == ([] if vital is None else [stones[vital]])


def odds(scene: Scene, ko: int, known: set[int]) -> dict[int, float]:
    """Return the probability of every move by the oracle."""
    position, color = scene.position, scene.color
    local = oracle.local_scores(scene, known)
    weights = {
        point: exp(oracle.pattern_score(position, point, color) + local.get(point, 0.0))
        for point in range(len(position.cells))
        if point != ko and oracle.is_playable(position, point, color)
    }
    return {point: weight / sum(weights.values()) for point, weight in weights.items()}


def drawn(scene: Scene, board: Board, linear: LinearWork) -> list[int]:
    """Return DRAWS moves as the oracle's points, each the first one of a rollout."""
    rng, copy = new_states(1, 3)[0], clone(board)
    points, first_player, moves = points_of(scene.position), np.zeros(board.color.size, dtype=np.int8), []
    for _ in range(DRAWS):
        copy_board(copy, board)
        first_player[:] = 0
        play_out_linear(copy, COLOR[scene.color], points[scene.last], linear._replace(limit=1), rng, first_player)
        moves.append(points.index(int(first_player.argmax())))
    return moves


@pytest.mark.parametrize("with_ko", [False, True])
def test_moves_are_drawn_with_the_odds_of_the_softmax(with_ko: bool) -> None:
    game = list(play(4, 4, TAKES_KO)) if with_ko else list(random_scenes(5, 5, seed=3))
    policy = oracle.policy_for((scene for scene, _ in game), share=1.0)
    for number, (scene, ko, follower) in enumerate(followed(game, policy)):
        if number not in ((len(TAKES_KO) - 1,) if with_ko else (15, 30, 45)):
            continue
        assert (ko != reference.PASS) == with_ko
        expected = odds(scene._replace(captured=()), ko, set(policy.diamonds.tolist()))
        moves = drawn(scene, follower.board, follower.work)
        counts = {point: moves.count(point) for point in expected}
        assert sum(counts.values()) == DRAWS, "nothing else is ever drawn"
        square = sum((counts[point] - DRAWS * p) ** 2 / (DRAWS * p) for point, p in expected.items())
        degrees = len(expected) - 1
        assert square < degrees + 4 * (2 * degrees) ** 0.5 + 4, "chi-square: mean d, variance 2 d"


def test_it_passes_without_other_moves() -> None:
    """Black has two eyes, White no stone that could live: both pass at once."""
    follower = Follower(2, 2, POLICY)
    for point in (4, 8):
        play_linear(follower.board, follower.work, point, BLACK)
    draw: Any = draw_linear  # interpreted: it is compiled in rollouts, and on its own that takes seconds
    for color in (BLACK, WHITE):
        with np.errstate(over="ignore"):  # of random numbers
            assert draw.interpreted(follower.board, color, PASS, follower.work, new_states(1, 1)[0]) == PASS


@pytest.mark.parametrize("size", [(2, 2), (5, 7), (9, 9), (19, 19)], ids=str)
def test_a_rollout_ends_where_neither_side_has_a_move_that_fills_no_eye(size: tuple[int, int]) -> None:
    linear = new_linear_work(new_tables(POLICY), *size)
    for seed in range(5):
        board = new_board(*size)
        first_player = np.zeros(board.color.size, dtype=np.int8)
        moves = play_out_linear(board, BLACK, NULL_POINT, linear, new_states(1, seed)[0], first_player)
        assert moves > size[0] * size[1] // 2
        if moves == 3 * size[0] * size[1]:
            continue  # cut off in a cycle of kos
        left = np.flatnonzero(board.color == EMPTY).tolist()
        for color in (BLACK, WHITE):
            assert not [p for p in left if is_legal(board, p, color, False) and not is_eye(board, p, color)]


def test_equivalent_places_of_symmetric_diamonds_have_the_same_weight() -> None:
    empty, lopsided = 0, 2  # nothing around; one stone, left of the last move
    least = least_places(np.array([empty, lopsided]))
    assert least.tolist() == [[0] * 4 + [4] * 4 + [8] * 4, [0, 1, 2, 2, 4, 5, 4, 5, 8, 9, 10, 10]]
    assert (diamond_images(np.array([lopsided]))[:, 0] != lopsided).sum() == 6


POLICY = oracle.policy_for(scene for game in all_scenes([(5, 5)]) for scene, _ in game)
"""An arbitrary policy."""
