"""Recorded games: played, read, split by names, and their positions in every orientation."""

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from board_helpers import action_to_point, play_moves
from full_disk import fill_disk_of
from nn.tiny_networks import alphago_policy, alphago_value, v7_network
from training.alphago.games import played, random_game, record, wild_game, write_records
from training.alphago.test_alphago_encoder import encode
from training.distillation.test_sgf_labels import write
from training.selfplay.test_policy_games import ScriptedRows

pytest.importorskip("torch", reason="training needs PyTorch")

from gtp_engine import ConfigError, Game, ModelError
from gtp_engine.base.progress import ProgressBar
from gtp_engine.base.steps import never
from gtp_engine.evaluation.from_game import write_game
from gtp_engine.evaluation.positions import Positions, new_positions
from gtp_engine.go.area import area_owners
from gtp_engine.go.board import clone, new_board
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE, opponent
from gtp_engine.go.coords import board_points, point_to_xy, transform, xy_to_point
from gtp_engine.go.rules import PRESETS
from gtp_engine.nn.symmetry import symmetry_count
from gtp_engine.training.alphago.stages import game_records
from gtp_engine.training.alphago.stages.game_positions import GameStore, Replayer
from gtp_engine.training.alphago.stages.play_records import load_player, play_records, result_of
from gtp_engine.training.alphago.stages.policy_players import uniform_player
from gtp_engine.training.alphago.stages.replay import ReplayWork, replay_rows
from gtp_engine.training.alphago.stages.stage_settings import RecordSettings
from gtp_engine.training.core.game_data import is_name_held_out
from gtp_engine.training.selfplay.plans import GamePlan
from gtp_engine.training.selfplay.policy_games import DECIDED_MOVES, PlayedGame


def test_games_of_a_folder_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    write(tmp_path, "b.sgf", "(;SZ[9]KM[7]RU[Chinese]RE[W+R];B[aa];W[];B[ba])")
    write(tmp_path, "a/c.SGF", "(;SZ[9:7]RE[B+0.5]AB[aa][ba]PL[W];W[bb])")
    write(tmp_path, "notes.txt", "no game")
    first, second = game_records.read_games(tmp_path, log=print)
    assert (first.name, first.width, first.height, first.winner) == ("a/c.SGF", 9, 7, BLACK)
    assert [stone.color for stone in first.setup_stones] == [BLACK, BLACK] and first.first_player == WHITE
    assert (second.name, second.komi, second.winner) == ("b.sgf", 7.0, WHITE)
    assert second.rules.preset_name() == "chinese"
    assert second.points.tolist() == [xy_to_point(0, 0, width=9), PASS, xy_to_point(1, 0, width=9)]
    assert second.colors.tolist() == [BLACK, WHITE, BLACK]
    assert second.points.dtype == np.int16 and second.colors.dtype == np.int8


def test_all_games_of_a_file_are_read(tmp_path: Path) -> None:
    """Only the first one was, without a word; an unusable one costs no more than itself."""
    write(tmp_path, "a.sgf", "(;SZ[9]RE[B+R];B[aa])\n(;SZ[9];B[aa];W[aa])\n(;SZ[9]RE[W+R];B[bb])")
    logged: list[str] = []
    games = game_records.read_games(tmp_path, log=logged.append)
    assert [(game.name, game.winner) for game in games] == [("a.sgf", BLACK), ("a.sgf, game 3", WHITE)]
    assert len(logged) == 1 and "a.sgf, game 2: move 2 (white)" in logged[0]


def test_what_follows_the_passes_that_end_a_game_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, "a.sgf", "(;SZ[9];B[];B[];W[aa];B[];W[];B[bb];W[cc])")  # the first two are of one side
    (game,) = game_records.read_games(tmp_path, log=print)
    assert [each == PASS for each in game.points] == [True, True, False, True, True]


def test_winners() -> None:
    for winner, results in ((BLACK, "B+3.5,黑中盘胜"), (WHITE, "w+R, W+Time"), (EMPTY, "0,Void,,Both")):
        assert {game_records.winner_of(result) for result in results.split(",")} == {winner}


def test_games_are_split_by_their_names(tmp_path: Path) -> None:
    """The test games do not depend on the other games of the folder, and their share is about right."""
    games = game_records.read_games(write_records(tmp_path, 40), log=print)
    train, test = game_records.split_games(games, 0.3)
    assert len(train) + len(test) == 40 and 4 <= len(test) <= 20
    assert game_records.split_games(list(reversed(games)), 0.3)[1] == list(reversed(test))
    assert all(is_name_held_out(game.name, 0.3) for game in test)
    for part, found in ((train[:1], "1 game to train on and 0 to"), (test[:2], "0 games to train on and 2 to")):
        with pytest.raises(game_records.RecordsError, match=f"{found} test on: expected some of both; give more games"):
            game_records.split_games(part, 0.3)
    assert sum(is_name_held_out(str(number), 0.1) for number in range(2000)) == pytest.approx(200, rel=0.2)


def finished(winner: int, size: int = 3) -> Game:
    """Return a game that Black wins by all points, or White by komi."""
    return play_moves(Game(size, size, komi=0.5), "B2 pass pass" if winner == BLACK else "pass pass")


def six_games() -> list[game_records.RecordedGame]:
    """Return six games: as Black 2 of 3 won, as White 0 of 2, one aborted."""
    pairs = ((BLACK, BLACK), (BLACK, BLACK), (WHITE, BLACK), (BLACK, WHITE), (BLACK, WHITE))
    games = [game_records.scored(finished(winner), learner=learner) for winner, learner in pairs]
    return [*games, game_records.scored(random_game(1, 3, 3, moves=2), learner=WHITE, moment=2)]


def test_rewards_are_those_of_the_learner_and_advantages_are_less_the_mean_of_the_colour() -> None:
    games = six_games()
    assert [game.reward for game in games] == [1, 1, -1, -1, -1, 0]
    assert game_records.win_rate(games) == 2 / 5 and game_records.win_rate([]) == 0.5
    assert game_records.advantages(games) == pytest.approx([2 / 3, 2 / 3, -4 / 3, 0, 0, 0])


def test_shards_round_trip(tmp_path: Path) -> None:
    games, path = six_games(), tmp_path / "new" / "000003.npz"
    game_records.write_shard(path, games)
    found = game_records.read_shard(path)
    assert [game.name for game in found] == [f"000003-{number}" for number in range(6)]
    for one, other in zip(found, games, strict=True):
        for entry in fields(one):
            if entry.name != "name":
                assert np.array_equal(getattr(one, entry.name), getattr(other, entry.name)), entry.name
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    assert found[5].winner == EMPTY and found[5].moment == 2


def test_shards_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with pytest.raises(game_records.RecordsError, match=r"^cannot read shard"):
        game_records.read_shard(path)
    game_records.write_shard(path, six_games())
    whole = path.read_bytes()
    locked = bytearray(whole)
    locked[whole.rindex(b"PK\x01\x02") + 8] |= 1  # the bit of a file with a password
    packed = 30 + whole[26] + whole[28]  # behind the head of the first array
    torn = whole[:packed] + b"\xff" + whole[packed + 1 :]
    for damaged in (b"", b"junk", whole[:200], whole[:-30], locked, torn):
        path.write_bytes(damaged)
        with pytest.raises(game_records.RecordsError, match=r"^shard 'a.npz' is damaged"):
            game_records.read_shard(path)
    np.savez(path, meta=np.array('{"format": 7}'))
    with pytest.raises(game_records.RecordsError, match="has another format: expected 1"):
        game_records.read_shard(path)


def replayed(game: Game, counts: list[int], to_play: list[int]) -> Positions:
    """Return the kernel's rows of positions of a game, each before a pass of the side to move."""
    whole, records = game_records.recorded(game, name="x", winner=EMPTY), []
    for count, color in zip(counts, to_play, strict=True):
        points = np.append(whole.points[:count], np.int16(PASS))
        records.append(replace(whole, points=points, colors=np.append(whole.colors[:count], np.int8(color))))
    moves = GameStore(records).moves
    positions = new_positions(len(counts), game.width, game.height)
    empty = new_board(game.width, game.height)
    work = ReplayWork(empty, clone(empty), np.zeros(len(game.moves) + 1, dtype=np.uint64))
    replay_rows(positions, moves, np.arange(len(counts)), moves.first_move[1:] - 1, work)
    return positions


def check_all(game: Game) -> None:
    """Check every position of a game that has not ended, for both colours."""
    length = len(game_records.recorded(game, name="x", winner=EMPTY).points)
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
            if name not in ("conditions", "conditions_key"):  # kernels write no conditions
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


@pytest.mark.parametrize("for_value", [False, True])
def test_planes_are_those_of_the_game(for_value: bool) -> None:
    game = random_game(5)
    store = GameStore([record(1), game_records.recorded(game, name="x", winner=EMPTY), record(2)])
    counts, symmetries = np.array([0, 7, 12, 25]), np.array([0, 3, 6, 5], dtype=np.int32)
    numbers = store.moves.first_move[1] + counts
    planes = Replayer(store, 4, for_value=for_value).examples(numbers, symmetries).planes.numpy()
    for row, (count, symmetry) in enumerate(zip(counts, symmetries, strict=True)):
        past = game.copy()
        past.undo(len(game.moves) - int(count))
        wanted = encode(past, past.to_play, int(symmetry))[: planes.shape[1]]
        assert np.array_equal(planes[row], wanted)


def test_games_of_different_rules_share_a_batch() -> None:
    """Suicide is legal under one of the rules."""
    games = [random_game(seed, rules=rules) for seed, rules in enumerate(("chinese", "tromp-taylor", "chinese"))]
    store = GameStore([game_records.recorded(game, name=str(i), winner=EMPTY) for i, game in enumerate(games)])
    of_games, counts = np.array([1, 0, 2, 1]), np.array([20, 20, 20, 21])
    numbers = store.moves.first_move[of_games] + counts
    planes = Replayer(store, 4).examples(numbers, np.zeros(4, dtype=np.int32)).planes.numpy()
    for row, (number, count) in enumerate(zip(of_games, counts, strict=True)):
        past = games[number].copy()
        past.undo(len(past.moves) - int(count))
        assert np.array_equal(planes[row], encode(past, past.to_play)[:48])


def test_moves_to_learn_are_the_stones_of_either_side() -> None:
    games = [record(seed) for seed in range(3)]
    store = GameStore(games)
    numbers = store.stones()
    moves = [(g, i) for g, game in enumerate(games) for i in range(len(game.points)) if game.points[i] != PASS]
    of_games = store.games_of(numbers)
    assert [*zip(of_games.tolist(), (numbers - store.moves.first_move[of_games]).tolist(), strict=True)] == moves
    actions = store.actions(numbers, np.zeros(len(numbers), dtype=np.int32))
    points = [action_to_point(int(action), width=5, height=5) for action in actions]
    assert points == [int(games[g].points[i]) for g, i in moves]
    assert {BLACK, opponent(BLACK)} == set(store.moves.colors[numbers].tolist())


@pytest.mark.parametrize(("width", "height"), [(5, 5), (4, 3)])
def test_actions_turn_with_the_board(width: int, height: int) -> None:
    store = GameStore([record(1, width, height)])
    numbers = store.stones()
    for symmetry in range(symmetry_count(width, height)):
        found = store.actions(numbers, np.full(len(numbers), symmetry, dtype=np.int32))
        for action, point in zip(found.tolist(), store.moves.points[numbers].tolist(), strict=True):
            x, y = transform(*point_to_xy(point, width=width), symmetry, width=width, height=height)
            assert action == y * width + x


@pytest.mark.parametrize(("width", "height"), [(5, 5), (4, 3)])
def test_owners_are_those_at_the_end_of_the_game(width: int, height: int) -> None:
    """From any position of the game, for either colour and in every orientation; owned and neutral points."""
    games = [random_game(seed, width, height, moves=moves) for seed, moves in ((1, 60), (2, 60), (3, 9))]
    store = GameStore([game_records.recorded(game, name=str(i), winner=EMPTY) for i, game in enumerate(games)])
    points, seen = board_points(width, height), set()
    for number, game in enumerate(games):
        colors = game.board.color
        reached = np.where(colors == EMPTY, area_owners(game.board), EMPTY)
        for symmetry in range(symmetry_count(width, height)):
            for color, count in ((BLACK, 0), (WHITE, 5)):
                numbers = store.moves.first_move[[number]] + count
                found = Replayer(store, 1).owners(numbers, np.array([symmetry], dtype=np.int32))[0]
                for point in points:
                    x, y = transform(*point_to_xy(point, width=width), symmetry, width=width, height=height)
                    owner = colors[point] or reached[point]
                    assert found[y * width + x] == {color: 1, opponent(color): -1, EMPTY: 0}[int(owner)]
                seen |= set(found.tolist())
    assert seen == {-1.0, 0.0, 1.0}


def test_games_that_do_not_go_together() -> None:
    with pytest.raises(game_records.RecordsError, match=r"^games on 4x3, 5x5: expected games on one board"):
        GameStore([record(1), record(2, 4, 3)])
    with pytest.raises(game_records.RecordsError, match="no board"):
        GameStore([])
    with pytest.raises(game_records.RecordsError, match="games without moves"):
        GameStore([record(1, moves=0)])


SETTINGS = RecordSettings(size=5, games=6, parallel_games=4)
PLAN = GamePlan(PRESETS["chinese"], 0.5)


def play(folder: Path, settings: RecordSettings = SETTINGS, is_stopped: Callable[[], bool] = never) -> int:
    before, now = play_records(uniform_player(), folder, settings, ProgressBar(), is_stopped)
    return now - before


def test_results_are_the_area_on_the_board(tmp_path: Path) -> None:
    assert play(tmp_path) == 6
    games = game_records.read_games(tmp_path, log=print)
    assert len(games) == 6 and all(game.komi == 7.5 for game in games)
    for game in games:
        end = played(game, len(game.points))
        cut_off = len(game.points) >= 3 * 25
        assert (end.is_over or cut_off) and game.winner == (end.score().winner if end.is_over else 0)


def test_a_folder_is_filled_up_and_seeds_decide_the_games(tmp_path: Path) -> None:
    assert play(tmp_path / "a", is_stopped=lambda: True) == 0
    play(tmp_path / "a")
    play(tmp_path / "b", RecordSettings(size=5, games=4, parallel_games=4))
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == [f"1-{number:06}.sgf" for number in range(6)]
    first = (tmp_path / "a" / names[0]).read_text()
    assert first == (tmp_path / "b" / names[0]).read_text()
    assert play(tmp_path / "b") == 2 and play(tmp_path / "b") == 0
    assert sorted(path.name for path in (tmp_path / "b").iterdir())[4:] == ["2-000000.sgf", "2-000001.sgf"]


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ({"size": 4}, "expected 4x4, chinese rules and komi 7.5; give the settings that they were played with"),
        ({"komi": 6.5}, "expected 5x5, chinese rules and komi 6.5"),
        ({"rules": "tromp-taylor"}, "expected 5x5, tromp-taylor rules and komi 7.5"),
    ],
)
def test_a_folder_is_filled_up_with_the_same_games(tmp_path: Path, other: dict[str, Any], expected: str) -> None:
    """Others counted for those that were wanted, or were mixed with them."""
    play(tmp_path)
    (tmp_path / "1-000000.sgf").write_text("damaged", encoding="utf-8")
    play(tmp_path, replace(SETTINGS, games=7))
    with pytest.raises(game_records.RecordsError, match="are on 5x5, with chinese rules and komi 7.5: " + expected):
        play(tmp_path, replace(SETTINGS, games=8, **other))
    assert len(list(tmp_path.iterdir())) == 7


def test_a_full_disk_and_a_file_in_the_way_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(
        game_records.RecordsError, match=r"cannot write records to '.*file': File exists; make room there, or name"
    ):
        play(tmp_path / "file")
    (tmp_path / "records").mkdir()
    fill_disk_of(tmp_path / "records" / "game.part", monkeypatch)
    with pytest.raises(game_records.RecordsError, match=r"cannot write record '.*\.sgf': No space left on device"):
        play(tmp_path / "records")


def test_decided_games_end_by_resignation_if_requested(tmp_path: Path) -> None:
    sure = ScriptedRows(win=0.001, weights={})
    settings = RecordSettings(size=5, games=2, parallel_games=2, stop_decided=True)
    play_records(sure, tmp_path, settings, ProgressBar())
    games = game_records.read_games(tmp_path, log=print)
    assert [game.winner for game in games] == [WHITE, WHITE] and all(len(game.points) == 8 for game in games)


def test_results() -> None:
    """A game that reached the limit of its moves was resigned by the side that was behind, by however little."""
    played = PlayedGame(0, Game(5, 5, PLAN.rules, PLAN.komi), PLAN._replace(stops_when_decided=True))
    played.game.play("C3")
    assert (result_of(played, 0.99), result_of(played, -0.99)) == ("Void", "Void"), "not decided for long enough"
    played.decided_moves = DECIDED_MOVES
    assert (result_of(played, 0.99), result_of(played, -0.99)) == ("B+R", "W+R")
    played.game.play(PASS, WHITE)
    played.game.play(PASS, BLACK)
    assert result_of(played, -0.99) == "B+24.5"


def test_networks_that_can_play(tmp_path: Path) -> None:
    katago = load_player(v7_network(tmp_path / "net.onnx", kind="policy+value"), batch=2, provider="cpu")
    alphago = load_player(alphago_policy(tmp_path / "policy.onnx"), batch=2, provider="cpu")
    for name, player in (("katago", katago), ("alphago", alphago)):
        settings, folder = RecordSettings(size=4, games=2, parallel_games=2), tmp_path / name
        assert play_records(player, folder, settings, ProgressBar()) == (0, 2)
    with pytest.raises(ModelError, match="is for value and takes alphago-49"):
        load_player(alphago_value(tmp_path / "value.onnx"), batch=2, provider="cpu")
    with pytest.raises(ConfigError, match=r"records\.rules = .go.: expected"):
        RecordSettings(rules="go")
