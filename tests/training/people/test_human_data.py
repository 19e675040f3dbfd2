"""Games between people as data: reading, samples, players that are held out, and a network that learns from them."""

import contextlib
import gzip
import json
import lzma
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from fake_evaluators import UniformEvaluator
from training.needs_torch import torch
from training.toy import TINY, exported, tiny_config, trained, unpacked, write_data

from gtp_engine import ConfigError, TengenError, load_evaluator
from gtp_engine.cli import cli
from gtp_engine.config.human import rank_number
from gtp_engine.config.sections import NetworkConfig
from gtp_engine.evaluation.from_game import write_game
from gtp_engine.evaluation.positions import new_positions
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.nn.encoders import KatagoV7Encoder, profile_values
from gtp_engine.nn.metadata import read_metadata
from gtp_engine.people.rank_estimate import COLUMNS, measured_moves, read_rank_table
from gtp_engine.training.core.checkpoint import read_checkpoint
from gtp_engine.training.core.devices import choose_machine
from gtp_engine.training.core.game_data import is_name_held_out
from gtp_engine.training.distillation.distillation_settings import HumanDataSettings, RankFitSettings
from gtp_engine.training.distillation.losses import HeldOut, profiles
from gtp_engine.training.distillation.module_files import module_of_file
from gtp_engine.training.distillation.run import DistillationRun, export_run
from gtp_engine.training.distillation.shards import HELD_OUT, TRAIN, Samples, join, read_shard, shard_paths
from gtp_engine.training.people.human_data import TEMPERATURES, fill_folder, fresh_shards, mix_in, read_games
from gtp_engine.training.people.rank_fit import look_at

SIDE = 5


def line(number: int, *, rank: str = "3k", **changes: Any) -> dict[str, Any]:
    """Return a game of random moves on a small board, as a line of JSON holds it; players have ten games each."""
    rng = np.random.default_rng(number)
    points = rng.permutation(SIDE * SIDE)[:12]
    moves = "".join("abcde"[point % SIDE] + "abcde"[point // SIDE] for point in points) + "tt"
    return {
        "black_rank": rank, "white_rank": rank, "black": number // 10, "white": 1000 + number // 10, "width": SIDE,
        "height": SIDE, "rules": "japanese", "komi_field": "650", "handicap_field": "0", "result": "B+R", "first": "B",
        "moves": moves,
    } | changes  # fmt: skip


def write_lines(path: Path, lines: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    return path


def samples_of(folder: Path) -> Samples:
    return join([read_shard(path)[0] for path in shard_paths(folder)])


def fill(folder: Path, lines: Sequence[dict[str, Any]], **settings: Any) -> Path:
    folder.mkdir(exist_ok=True)
    games = list(read_games([write_lines(folder / "games.jsonl", lines)], pytest.fail))
    fill_folder(games, folder, HumanDataSettings(**settings), progress=lambda count: None)
    return folder


def test_an_unfinished_attempt_is_made_again_and_a_finished_one_is_added_to(tmp_path: Path) -> None:
    games = [line(i, moves="aabbccdd") for i in range(40)]
    whole = fill(tmp_path / "whole", games, positions=40, held_out_positions=10)
    wanted = sorted(path.name for path in whole.glob("*/*.npz"))
    folder = tmp_path / "human"
    folder.mkdir()
    for is_finished in (False, False, True):
        with contextlib.suppress(OSError), fresh_shards(folder):
            fill(folder, games, positions=40, held_out_positions=10)
            if not is_finished:
                raise OSError("the disk is full")
    assert sorted(path.name for path in folder.glob("*/*.npz")) == wanted
    with fresh_shards(folder, is_stopped=lambda: True):
        fill(folder, games, positions=40, held_out_positions=10)
    assert len([*folder.glob("*/*.npz")]) == 2 * len(wanted), "other games might have been added"
    with fresh_shards(folder):
        assert sorted(path.name for path in folder.glob("*/*.npz")) == wanted


def test_lines_and_records_are_read_alike(tmp_path: Path) -> None:
    game = line(1, white_rank="初段", moves="aabbtt")
    packed = tmp_path / "games.jsonl.xz"
    packed.write_bytes(lzma.compress((json.dumps(game) + "\nno JSON\n" + json.dumps({"moves": "aabb"})).encode()))
    folder = tmp_path / "sgf"
    folder.mkdir()
    (folder / "game.sgf").write_text(
        "(;SZ[5]RU[Japanese]KM[6.5]PB[0]PW[1000]BR[3k]WR[初段]RE[B+R];B[aa];W[bb];B[])", encoding="utf-8"
    )
    (folder / "unranked.sgf").write_text("(;SZ[5]BR[?]WR[-];B[aa];W[bb])", encoding="utf-8")
    told: list[str] = []
    first, second = read_games([packed, folder], told.append)
    assert [entry.split(": ")[0][-6:] for entry in told] == ["line 2", "line 3"]
    for game_read in (first, second):
        assert game_read.ranks == (rank_number("3k"), rank_number("1d")) and game_read.result == "B+R"
        assert (game_read.start.komi, game_read.start.rules) == (6.5, first.start.rules)
        assert game_read.moves == first.moves and len(game_read.moves) == 3
    assert first.players == second.players == ("0", "1000")
    (tmp_path / "g.gz").write_bytes(gzip.compress(json.dumps(game | {"white_rank": "3p"}).encode()))
    assert next(read_games([tmp_path / "g.gz"], pytest.fail)).ranks == (rank_number("3k"), rank_number("9d"))


@pytest.mark.parametrize(
    ("changes", "komi"),
    [
        ({"komi_field": "0"}, 6.5),
        ({"komi_field": ""}, 6.5),
        ({"komi_field": "375", "rules": "chinese"}, 7.5),
        ({"komi_field": "750"}, 7.5),
        ({"komi_field": "0", "handicap_field": "1", "first": "W"}, 0.0),
    ],
)
def test_komi_is_what_the_server_means(tmp_path: Path, changes: dict[str, Any], komi: float) -> None:
    (game,) = read_games([write_lines(tmp_path / "games.jsonl", [line(1, **changes)])], pytest.fail)
    assert (game.start.komi, game.moves[0].color) == (komi, WHITE if "first" in changes else BLACK)


def test_without_ranks_there_are_no_games(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "games.jsonl", [line(1, black_rank="?")])
    with pytest.raises(TengenError, match=r"no usable game in .*: expected games whose players' ranks are known"):
        list(read_games([path], pytest.fail))
    (tmp_path / "bad.jsonl.xz").write_bytes(b"no archive")
    with pytest.raises(TengenError, match="cannot read games"):
        list(read_games([tmp_path / "bad.jsonl.xz"], pytest.fail))


def test_a_sample_is_the_position_before_a_move(tmp_path: Path) -> None:
    """Compared with the position that the engine itself would evaluate."""
    folder = fill(tmp_path, [line(1, black_rank="3k", white_rank="2d")], positions=100, per_game=20, held_out=0.0)
    (game,) = read_games([tmp_path / "games.jsonl"], pytest.fail)
    samples = samples_of(folder / TRAIN)
    assert samples.count == len(game.moves)
    encoder, positions = KatagoV7Encoder(SIDE, SIDE), new_positions(1, SIDE, SIDE)
    wanted, played = {}, game.start.copy()
    for ply, move in enumerate(game.moves):
        write_game(positions, 0, played)
        inputs = encoder.encode(positions, range(1), np.zeros(1, np.int32))
        planes = np.packbits(inputs.spatial[0].reshape(22, -1) > 0, axis=1)
        is_black = move.color == BLACK
        action = int(samples.policy[0].size - 1) if ply == len(game.moves) - 1 else None
        wanted[planes.tobytes()] = (inputs.globals_[0], is_black, action)
        played.play(move)
    for row in range(samples.count):
        globals_, is_black, action = wanted.pop(samples.planes[row].tobytes())
        np.testing.assert_array_equal(samples.globals[row], globals_)
        own, other = rank_number("3k"), rank_number("2d")
        assert samples.ranks[row].tolist() == ([own, other] if is_black else [other, own])
        assert samples.value[row].tolist() == ([1, 0, 0] if is_black else [0, 1, 0])
        assert samples.policy[row].sum() == 1
        assert action is None or samples.policy[row, action] == 1
    assert not wanted
    drawn = fill(tmp_path / "drawn", [line(1, result="0")], positions=100, held_out=0.0)
    assert (samples_of(drawn / TRAIN).value == [0.5, 0.5, 0.0]).all()


def test_no_player_is_in_both_parts(tmp_path: Path) -> None:
    """Of a game with a held-out player only that player's moves are used: here the ranks tell the players apart."""
    lines = [line(i, black_rank="3k" if i % 2 else "4d", white_rank="2d") for i in range(400)]
    folder = fill(tmp_path, lines, positions=6000, held_out_positions=500, held_out=0.2, per_game=20)
    train, held_out = samples_of(folder / TRAIN), samples_of(folder / HELD_OUT)
    assert not set(train.game.tolist()) & set(held_out.game.tolist())
    sides = [
        {tuple(pair) for pair in held_out.ranks[held_out.game == game].tolist()} for game in set(held_out.game.tolist())
    ]
    assert sum(len(each) == 1 for each in sides) > len(sides) / 2, "mostly one side of a game"


def test_groups_have_equal_shares(tmp_path: Path) -> None:
    lines = [line(i, rank="3k" if i % 10 else "9d") for i in range(300)]
    folder = fill(tmp_path, lines, positions=400, per_game=10, held_out=0.0, held_out_positions=0)
    ranks = samples_of(folder / TRAIN).ranks[:, 0]
    assert 0.45 < (ranks == rank_number("9d")).mean() < 0.55


def test_mixed_in_positions_have_ranks_and_softer_policies(tmp_path: Path) -> None:
    labelled, folder = write_data(tmp_path / "labelled", (4, 3)), tmp_path / "data"
    assert mix_in(labelled, folder, seed=3) == sum(read_shard(path)[0].count for path in labelled.glob("*/*.npz"))
    found = samples_of(folder / TRAIN)
    source = {planes.tobytes(): policy for planes, policy in zip(*samples_of(labelled / TRAIN)[0:3:2], strict=True)}
    for row in range(found.count):
        teacher = source[found.planes[row].tobytes()].astype(np.float64)
        wanted = teacher ** (1 / TEMPERATURES[int(found.ranks[row, 0])])
        np.testing.assert_allclose(found.policy[row], wanted / wanted.sum(), atol=2e-3)
    assert (found.ranks[:, 0] == found.ranks[:, 1]).all() and len(set(found.ranks[:, 0].tolist())) > 10


def test_profiles_in_training_are_those_of_play_in_what_is_learned(tmp_path: Path) -> None:
    """All inputs that do not vary in the data have no weights, so that training may leave them at zero."""
    folder = fill(tmp_path, [line(1, black_rank="3k", white_rank="2d")], positions=100, held_out=0.0)
    batch = unpacked(samples_of(folder / TRAIN), (SIDE, SIDE))
    for row, ranks in enumerate(batch.ranks.tolist()):
        expected = profile_values(10**8 + ranks[0] * 10**4 + ranks[1], BLACK, SIDE * SIDE)
        found = profiles(batch)[row].numpy()
        assert found.any()
        np.testing.assert_allclose(found[6:74], expected[6:74])
        np.testing.assert_allclose(found[86], expected[86])
        assert not np.delete(found, [*range(6, 74), 86]).any()


def test_a_network_learns_to_imitate_people(tmp_path: Path) -> None:
    """In miniature: 3k always play the first free point, 9d the last; the frozen blocks stay as they are."""

    def moves(rank: str) -> str:
        points = [f"{x}{y}" for y in "abcde" for x in "abcde"][:8]
        return "".join(points if rank == "3k" else [f"{x}{y}" for y in "edcba" for x in "edcba"][:8])

    lines = [line(i, rank=rank, moves=moves(rank)) for i in range(100) for rank in ("3k", "9d")]
    folder = fill(tmp_path, lines, positions=1600, held_out_positions=200, held_out=0.2, per_game=8)
    init = exported(tmp_path / "first.onnx")
    config = tiny_config(
        tmp_path, data=folder, init=init, name="imitator", shape=TINY, samples=80 * 32, batch=32, frozen_blocks=1,
        fixed_norms=0.99, learning_rate=0.03, validation_positions=64,
    )  # fmt: skip
    assert trained(config)
    target = config.out / "imitator.onnx"
    info = read_metadata(target)
    assert info.needs_profile and info.globals_ == 211
    first, learned = module_of_file(init), module_of_file(target)
    assert learned.trunk.profile_block == 1
    np.testing.assert_allclose(learned.trunk.conv.weight.detach(), first.trunk.conv.weight.detach(), atol=1e-4)
    machine, held_out = choose_machine("cpu", "float32", threads=1), HeldOut(folder / HELD_OUT, 64)
    agreements, before = held_out.validate(learned, machine), held_out.validate(first, machine)
    assert {str(place) for place in agreements} == {"5x5 3k", "5x5 9d"}
    for place, found in agreements.items():
        assert found.policy_loss < before[place].policy_loss - 0.4, (place, found, before[place])
        assert np.isnan(found.lead_error)
    evaluator = load_evaluator(NetworkConfig(model=str(target), provider="cpu"), log=lambda _: None, board=(5, 5))
    assert evaluator.info.needs_profile


def test_a_run_with_frozen_blocks_resumes_exactly(tmp_path: Path) -> None:
    folder = fill(tmp_path, [line(i) for i in range(40)], positions=400, held_out=0.0, held_out_positions=0)
    for changes in ({}, {"data": folder}):  # the profile was added after a third block, so never
        with pytest.raises(ConfigError, match="3 frozen blocks: expected at most 2"):
            DistillationRun(tiny_config(tmp_path, init=exported(tmp_path / "first.onnx"), frozen_blocks=3, **changes))
    frozen = {"samples": 160, "frozen_blocks": 1, "fixed_norms": 0.99, "validations": 0}
    config = tiny_config(tmp_path, data=folder, init=exported(tmp_path / "first.onnx"), **frozen)
    whole = DistillationRun(config)
    whole.run()
    parts = DistillationRun(replace(config, out=tmp_path / "parts"))
    parts.run(is_stopped=lambda: parts.steps == 4)
    again = DistillationRun(replace(config, out=tmp_path / "parts"), read_checkpoint(tmp_path / "parts"))
    again.run()
    torch.testing.assert_close(*(run.average.module.state_dict() for run in (whole, again)), rtol=0, atol=0)
    assert export_run(tmp_path / "parts").exists()


def test_the_command(tmp_path: Path) -> None:
    games = write_lines(tmp_path / "games.jsonl", [line(i) for i in range(40)])
    mixed = write_data(tmp_path / "labelled", (4, 3))
    arguments = ["train", "human", str(games), "--data", str(tmp_path / "data"), "--mix", str(mixed)]
    result = CliRunner().invoke(cli, [*arguments, "--positions", "100", "--held-out", "0.2"])
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[-1].startswith("40 games; positions: ") and "mixed in: 144" in result.output
    assert {path.name[:3] for path in (tmp_path / "data" / TRAIN).iterdir()} == {"5x5", "4x3"}


def ranked_lines(players: int) -> list[dict[str, Any]]:
    """Return two games for each player of two ranks on 19×19, in which Black has walls to build and White none."""
    letters = "abcdefghijklmnopqrs"
    moves = "".join(letters[i % 19] + letters[2 * (i // 19)] for i in range(80))
    return [
        line(0, rank=rank, black=f"{rank} {player}", white=f"{rank} {player} too", width=19, height=19, moves=moves)
        for player in range(players)
        for rank in ("3k", "9d")
        for _ in range(2)
    ]


def test_the_command_that_measures_ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In miniature, with networks that see no difference between moves."""
    monkeypatch.setattr("gtp_engine.nn.loading.load_evaluator", lambda *_, **__: UniformEvaluator())
    games, target = write_lines(tmp_path / "games.jsonl", ranked_lines(4)), tmp_path / "human.ranks.json"
    arguments = ["train", "rank", str(games), "--human-model", "human.onnx", "-o", str(target)]
    arguments += ["--players", "4", "--held-out", "1"]
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 0, result.output
    assert "| games | group right |" in result.output and "16 games of a player" in result.output
    table = read_rank_table(target)
    assert table.networks == ("uniform", "uniform") and table.of_move.shape == (len(COLUMNS), len(COLUMNS))


def test_players_of_all_groups_are_looked_at_alike(tmp_path: Path) -> None:
    lines = [*ranked_lines(6) * 2, *(each for each in ranked_lines(30) if each["black_rank"] == "9d")]
    games = list(read_games([write_lines(tmp_path / "games.jsonl", lines)], pytest.fail))
    measure = partial(measured_moves, UniformEvaluator(), UniformEvaluator(), most=24)
    found = list(look_at(games, measure, RankFitSettings(players=5, moves=24, held_out=1.0)))
    assert {rank: sum(game.rank == rank for game in found) for rank in (1, 12)} == {1: 10, 12: 10}
    assert all(game.moves.shape == (24, len(COLUMNS)) for game in found)
    of_half = list(look_at(games, measure, RankFitSettings(players=5, moves=24, held_out=0.5)))
    assert of_half and all(is_name_held_out(game.player, 0.5) for game in of_half)
