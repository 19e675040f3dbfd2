"""Games that the workers of a pool play: here processes of this machine, on a Ray cluster just the same."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from match_helpers import engine, play, settings

from gtp_engine.arena.match import runner
from gtp_engine.arena.match.match_game import Opening
from gtp_engine.arena.match.records import GameRecord, MatchFolder
from gtp_engine.arena.match.runner import EnginePair, _command_at, _sent_command, job_of_games, run_match
from gtp_engine.arena.match.settings import MatchError, MatchSettings
from gtp_engine.arena.tournament.tournament_file import Meeting, parse_description
from gtp_engine.arena.tournament.tournament_runner import TournamentRunner
from gtp_engine.base.errors import TaskError
from gtp_engine.base.workers import open_workers
from gtp_engine.base.workers.worker_pool import WorkerPlace
from gtp_engine.nn import named_networks
from gtp_engine.nn.named_networks import shipped_folder, use_as_shipped

MOVES = ('--black "C3 D4"', '--white "resign"')


def outcomes(records: list[GameRecord]) -> list[tuple[int, str, str, str]]:
    return [(each.game, each.black, each.result, each.digest) for each in records]


def test_a_pool_plays_what_this_process_plays(tmp_path: Path) -> None:
    match = settings(*MOVES, games=6, parallel=4)
    job = job_of_games([match.first, match.second], threads=1)
    with open_workers(job, 2) as pool:
        folder = MatchFolder(tmp_path / "pool", match)
        found = run_match(match, folder, pool=pool)
    assert outcomes(found) == outcomes(play(tmp_path / "alone", *MOVES, games=6))
    assert folder.engine_name("first").startswith("Scripted")
    logs = "".join(path.read_text() for path in sorted((tmp_path / "pool" / "logs").iterdir()))
    assert logs.count(">> clear_board") == 12, "the dialogue of each game, once for each engine"


def test_an_engine_that_cannot_be_started_there_ends_the_match(tmp_path: Path) -> None:
    match = MatchSettings(first="/no/such", second=engine(), size=5, referee="board")
    with (
        open_workers(job_of_games([match.first, match.second], threads=1), 1) as pool,
        pytest.raises(MatchError, match=r"^first: cannot run '/no/such': No such file"),
    ):
        run_match(match, MatchFolder(tmp_path, match), pool=pool)


def test_a_tournament_is_played_by_a_pool(tmp_path: Path) -> None:
    engines = [{"name": name, "command": engine('--black "C3" --white "resign"')} for name in ("a", "b", "c")]
    conditions = [{"size": 5, "komi": 0.5, "referee": "board"}]
    description = parse_description({"games": 2, "engines": engines, "conditions": conditions})
    played: list[tuple[Meeting, GameRecord]] = []
    commands = [entrant.command for entrant in description.entrants]
    with open_workers(job_of_games(commands, threads=1), 2) as pool:
        tournament = TournamentRunner(description, tmp_path, lambda *game: played.append(game), pool)
        tournament.run()
    games = sorted((description.meetings.index(meeting), record.game) for meeting, record in played)
    assert games == [(meeting, game) for meeting in range(3) for game in (1, 2)]
    assert all(len(records) == 2 for records in tournament.results.values())


@pytest.mark.parametrize("error", [TaskError("5 workers ended while doing it"), ZeroDivisionError("a bug")])
def test_a_game_that_fails_fails_alone(error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play_pair = EnginePair.play

    def failing(self: EnginePair, number: int, opening: Opening) -> Any:
        if number in (2, 4):
            raise error
        return play_pair(self, number, opening)

    monkeypatch.setattr(EnginePair, "play", failing)
    reason = str(error) if isinstance(error, TaskError) else "ZeroDivisionError: a bug"
    with pytest.raises(MatchError, match=rf"^2 games could not be played, the first of them game 2: {reason}$"):
        play(tmp_path, *MOVES, games=4)
    match = settings(*MOVES, games=4)
    assert [each.game for each in MatchFolder(tmp_path, match).records()] == [1, 3]
    monkeypatch.undo()
    assert [each.game for each in play(tmp_path, *MOVES, games=4)] == [1, 2, 3, 4]


def test_commands_of_this_engine_are_sent_with_their_files(tmp_path: Path) -> None:
    for name in ("net.onnx", "net-int8.onnx", "net.levels.json", "other.onnx"):
        (tmp_path / name).touch()
    command = f"gtp-engine --model={tmp_path}/net.onnx --visits 9 --human-model tengen-human --name x"
    sent = _sent_command(command)
    human = shipped_folder() / "tengen-human"
    network = tmp_path / "net.onnx"
    assert sent == ["gtp-engine", "--model", network, "--visits", "9", "--human-model", human, "--name", "x"]
    files = job_of_games([command, "gnugo --mode gtp"], threads=1).files
    names = {path.name for path in files}
    assert {"net.onnx", "net-int8.onnx", "net.levels.json"} < names and "other.onnx" not in names
    assert human in files and shipped_folder() in files
    there = WorkerPlace(folders={tmp_path: Path("/there"), human: Path("/human")})
    assert _command_at(sent, there) == (
        f"{sys.executable} -P -m gtp_engine --model /there/net.onnx --visits 9 --human-model /human --name x"
    )
    assert _command_at(_sent_command("gnugo --mode gtp"), there) == "gnugo --mode gtp"
    (tmp_path / "empty").mkdir()
    for value, is_sent in ((tmp_path, True), (tmp_path / "empty", False), (tmp_path / "missing", False)):
        assert _sent_command(f"gtp-engine --model {value}")[2] == (value if is_sent else str(value))


def test_the_end_of_long_logs_comes_back_and_old_ones_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "cache_root", lambda: tmp_path)
    folders = [runner._log_folder(), runner._log_folder()]
    os.utime(folders[0], (0, 0))
    folders.append(runner._log_folder())
    assert [folder.is_dir() for folder in folders] == [False, True, True]
    log = folders[-1] / "first.log"
    log.write_bytes(b"a" * 10 + b"b" * (runner._LOG_BYTES - 5) + b"end")
    assert runner._log_since(log, log.stat().st_size - 3) == b"end"
    assert len(runner._log_since(log, 0)) == runner._LOG_BYTES
    assert runner._log_since(log, 0).startswith(b"aab")


def test_sent_networks_take_the_place_of_those_that_ship(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "package" / "models"
    place.parent.mkdir()
    monkeypatch.setattr(named_networks, "PLACES", (place, tmp_path / "models"))
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.onnx").touch()
    use_as_shipped(tmp_path / "one")
    assert shipped_folder().resolve() == tmp_path / "one"
    use_as_shipped(tmp_path / "two")
    assert shipped_folder().resolve() == tmp_path / "one", "it is there"
    (tmp_path / "one" / "one.onnx").unlink()
    use_as_shipped(tmp_path / "two")
    assert shipped_folder().resolve() == tmp_path / "two"
