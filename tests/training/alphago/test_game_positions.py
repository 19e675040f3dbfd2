"""Positions of recorded games equal those of a game as it is played, in every orientation."""

import numpy as np
import pytest
from board_helpers import action_to_point
from training.alphago.games import random_game, record, wild_game
from training.alphago.test_alphago_encoder import encode
from training.needs_torch import torch  # noqa: F401  # comes first: examples are tensors

from gtp_engine.evaluation.from_game import write_game
from gtp_engine.evaluation.positions import Positions, new_positions
from gtp_engine.go.area import territory_owners
from gtp_engine.go.board import clone, new_board
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE, opponent
from gtp_engine.go.coords import board_points, point_to_xy, transform
from gtp_engine.go.game import Game
from gtp_engine.nn.symmetry import symmetry_count
from gtp_engine.training.alphago.stages.game_positions import (
    GameStore,
    RecordsError,
    Replayer,
    draw_symmetries,
    transform_actions,
)
from gtp_engine.training.alphago.stages.game_records import recorded
from gtp_engine.training.alphago.stages.replay import PositionRefs, ReplayWork, replay_rows


def replayed(game: Game, counts: list[int], to_play: list[int]) -> Positions:
    """Return the kernel's rows of positions of a game."""
    store = GameStore([recorded(game, name="x", winner=EMPTY)])
    positions = new_positions(len(counts), game.width, game.height)
    empty = new_board(game.width, game.height)
    work = ReplayWork(empty, clone(empty), np.zeros(len(game.moves) + 1, dtype=np.uint64))
    games = np.zeros(len(counts), dtype=np.int64)
    refs = PositionRefs(games, np.array(counts), np.array(to_play, dtype=np.int8))
    replay_rows(positions, store.moves, refs, work)
    return positions


def check_all(game: Game) -> None:
    """Check every position of a game that has not ended, for both colours."""
    length = len(recorded(game, name="x", winner=EMPTY).points)
    wanted = new_positions(1, game.width, game.height)
    counts = [count for count in range(length + 1) for _ in range(2)]
    colors = [1, 2] * (length + 1)
    rows = replayed(game, counts, colors)
    for row, (count, color) in enumerate(zip(counts, colors, strict=True)):
        past = game.copy()
        past.undo(len(game.moves) - count)
        if past.is_over:
            continue
        write_game(wanted, 0, past, color)
        for name in Positions._fields:
            if name not in ("zobrist", "conditions", "conditions_key"):  # kernels write no conditions
                same = np.array_equal(getattr(rows, name)[row], getattr(wanted, name)[0])
                assert same, (name, count, color)


@pytest.mark.parametrize("rules", ["chinese", "tromp-taylor", "aga", "new-zealand", "japanese"])
@pytest.mark.parametrize("seed", range(4))
def test_rows_are_those_of_the_game(rules: str, seed: int) -> None:
    check_all(random_game(seed, 3, 4, rules=rules))
    check_all(wild_game(seed, rules))


@pytest.mark.parametrize("rules", ["tromp-taylor", "new-zealand"])
def test_superko_is_known(rules: str) -> None:
    """Positional and situational superko, in a position where they forbid moves."""
    for seed in range(1000):
        game = random_game(seed, 3, 3, rules=rules, moves=seed % 30)
        banned = [point for point in board_points(3, 3) if game.illegal_reason(point) == "superko"]
        if banned and not game.is_over:
            break
    check_all(game)
    row = replayed(game, [len(game.moves)], [game.to_play]).forbidden[0]
    assert banned and set(banned) <= set(np.flatnonzero(row).tolist())


@pytest.mark.parametrize("player_color", [False, True])
def test_planes_are_those_of_the_game(player_color: bool) -> None:
    game = random_game(5)
    store = GameStore([record(1), recorded(game, name="x", winner=EMPTY), record(2)])
    counts = np.array([0, 7, 12, 25], dtype=np.int64)
    colors = np.array([1, 2, 1, 2], dtype=np.int8)
    symmetries = np.array([0, 3, 6, 5], dtype=np.int32)
    refs = PositionRefs(np.full(4, 1, dtype=np.int64), counts, colors)
    planes = Replayer(store, 4, player_color=player_color).encode(refs, symmetries)
    for row, (count, color, symmetry) in enumerate(zip(counts, colors, symmetries, strict=True)):
        past = game.copy()
        past.undo(len(game.moves) - int(count))
        wanted = encode(past, int(color), int(symmetry))[: planes.shape[1]]
        assert np.array_equal(planes[row], wanted)


def test_games_of_different_rules_share_a_batch() -> None:
    """Suicide is legal under one of the rules."""
    games = [random_game(seed, rules=rules) for seed, rules in enumerate(("chinese", "tromp-taylor", "chinese"))]
    store = GameStore([recorded(game, name=str(i), winner=EMPTY) for i, game in enumerate(games)])
    refs = PositionRefs(np.array([1, 0, 2, 1]), np.array([20, 20, 20, 21]), np.array([1, 1, 1, 2], dtype=np.int8))
    planes = Replayer(store, 4).encode(refs, np.zeros(4, dtype=np.int32))
    for row, (number, count, color) in enumerate(zip(*refs, strict=True)):
        past = games[number].copy()
        past.undo(max(0, len(past.moves) - int(count)))
        assert np.array_equal(planes[row], encode(past, int(color))[:48])


def test_moves_to_learn_are_the_stones_of_either_side() -> None:
    games = [record(seed) for seed in range(3)]
    store = GameStore(games)
    refs = store.move_refs()
    moves = [(g, i) for g, game in enumerate(games) for i in range(len(game.points)) if game.points[i] != PASS]
    assert list(zip(refs.games.tolist(), refs.counts.tolist(), strict=True)) == moves
    points = [action_to_point(int(action), width=5, height=5) for action in store.actions(refs)]
    assert points == [int(games[g].points[i]) for g, i in moves]
    assert refs.to_play.tolist() == [int(games[g].colors[i]) for g, i in moves]
    assert {BLACK, opponent(BLACK)} == set(refs.to_play.tolist())


@pytest.mark.parametrize(("width", "height"), [(5, 5), (4, 3)])
def test_actions_turn_with_the_board(width: int, height: int) -> None:
    for symmetry in range(symmetry_count(width, height)):
        actions = np.arange(width * height, dtype=np.int32)
        found = transform_actions(actions, np.full(width * height, symmetry, dtype=np.int32), width, height)
        for action in actions:
            x, y = point_to_xy(action_to_point(int(action), width=width, height=height), width=width)
            x, y = transform(x, y, symmetry, width=width, height=height)
            assert found[action] == y * width + x
    drawn = draw_symmetries(np.random.default_rng(1), 200, width, height)
    assert set(drawn.tolist()) == set(range(symmetry_count(width, height)))


@pytest.mark.parametrize(("width", "height"), [(5, 5), (4, 3)])
def test_owners_are_those_at_the_end_of_the_game(width: int, height: int) -> None:
    """From any position of the game, for either colour and in every orientation; owned and neutral points."""
    games = [random_game(seed, width, height, moves=moves) for seed, moves in ((1, 60), (2, 60), (3, 9))]
    store = GameStore([recorded(game, name=str(i), winner=EMPTY) for i, game in enumerate(games)])
    points, seen = board_points(width, height), set()
    for number, game in enumerate(games):
        colors = game.board.color
        reached = territory_owners(colors, width + 1)
        for symmetry in range(symmetry_count(width, height)):
            for color, count in ((BLACK, 0), (WHITE, 5)):
                refs = PositionRefs(np.array([number]), np.array([count]), np.array([color], dtype=np.int8))
                found = Replayer(store, 1).owners(refs, np.array([symmetry], dtype=np.int32))[0]
                for point in points:
                    x, y = transform(*point_to_xy(point, width=width), symmetry, width=width, height=height)
                    owner = colors[point] or reached[point]
                    assert found[y * width + x] == {color: 1, opponent(color): -1, EMPTY: 0}[int(owner)]
                seen |= set(found.tolist())
    assert seen == {-1.0, 0.0, 1.0}


def test_games_that_do_not_go_together() -> None:
    with pytest.raises(RecordsError, match=r"^games on 4x3, 5x5: expected games on one board"):
        GameStore([record(1), record(2, 4, 3)])
    with pytest.raises(RecordsError, match="no board"):
        GameStore([])
    with pytest.raises(RecordsError, match="games without moves"):
        GameStore([record(1, moves=0)])
