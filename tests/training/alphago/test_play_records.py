"""Games played for records: scored results, resumption, and the networks that can play."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from full_disk import fill_disk_of
from nn.tiny_networks import alphago_policy, alphago_value, v7_network
from training.selfplay.test_policy_games import ScriptedRows

from gtp_engine.base.errors import ConfigError, ModelError
from gtp_engine.base.progress import ProgressBar
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.game import Game
from gtp_engine.go.rules import PRESETS
from gtp_engine.training.alphago.stages.game_records import RecordsError, read_games
from gtp_engine.training.alphago.stages.play_records import (
    RecordFolder,
    load_player,
    play_records,
    result_of,
)
from gtp_engine.training.alphago.stages.policy_players import UniformPlayer
from gtp_engine.training.alphago.stages.stage_settings import RecordSettings
from gtp_engine.training.selfplay.plans import GamePlan
from gtp_engine.training.selfplay.policy_games import DECIDED_MOVES, PlayedGame

SETTINGS = RecordSettings(size=5, games=6, parallel_games=4)
PLAN = GamePlan(PRESETS["chinese"], 0.5)


def play(folder: Path, settings: RecordSettings = SETTINGS, *, seed: int = 1) -> int:
    return play_records(UniformPlayer(), RecordFolder(folder, least_seed=seed), settings, ProgressBar())


def test_results_are_the_area_on_the_board(tmp_path: Path) -> None:
    assert play(tmp_path) == 6
    games = read_games(tmp_path, log=print)
    assert len(games) == 6 and all(game.komi == 7.5 for game in games)
    for game in games:
        end = game.game(len(game.points))
        cut_off = len(game.points) >= 3 * 25
        assert (end.is_over or cut_off) and game.winner == (end.score().winner if end.is_over else 0)


def test_a_folder_is_filled_up_and_seeds_decide_the_games(tmp_path: Path) -> None:
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
    with pytest.raises(RecordsError, match="are on 5x5, with chinese rules and komi 7.5: " + expected):
        play(tmp_path, replace(SETTINGS, games=8, **other))
    assert len(list(tmp_path.iterdir())) == 7


def test_a_run_can_be_stopped(tmp_path: Path) -> None:
    assert play_records(UniformPlayer(), RecordFolder(tmp_path), SETTINGS, ProgressBar(), lambda: True) == 0


def test_a_full_disk_and_a_file_in_the_way_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ended in a traceback."""
    (tmp_path / "file").touch()
    with pytest.raises(RecordsError, match=r"cannot write records to '.*file': File exists; make room there, or name"):
        RecordFolder(tmp_path / "file")
    (tmp_path / "records").mkdir()
    fill_disk_of(tmp_path / "records" / "game.part", monkeypatch)
    with pytest.raises(RecordsError, match=r"cannot write record '.*\.sgf': No space left on device"):
        play(tmp_path / "records")


def test_decided_games_end_by_resignation_if_requested(tmp_path: Path) -> None:
    sure = ScriptedRows(win=0.001, weights={})
    settings = RecordSettings(size=5, games=2, parallel_games=2, stop_decided=True)
    play_records(sure, RecordFolder(tmp_path), settings, ProgressBar())
    games = read_games(tmp_path, log=print)
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
    for player in (katago, alphago):
        folder = RecordFolder(tmp_path / type(player).__name__)
        assert play_records(player, folder, RecordSettings(size=4, games=2, parallel_games=2), ProgressBar()) == 2
    with pytest.raises(ModelError, match="is for value and takes alphago-49"):
        load_player(alphago_value(tmp_path / "value.onnx"), batch=2, provider="cpu")
    with pytest.raises(ConfigError, match=r"records\.rules = .go.: expected"):
        RecordSettings(rules="go")
