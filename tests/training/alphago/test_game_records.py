"""Recorded games: reading, truncation after the end, the split by names; collectors of episodes, and their shards."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from training.alphago.games import random_game, write_records

from gtp_engine.base.errors import SgfError
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE
from gtp_engine.go.coords import xy_to_point
from gtp_engine.go.game import Game
from gtp_engine.training.alphago.stages.game_records import (
    Collector,
    Episode,
    RecordsError,
    is_test,
    read_episodes,
    read_games,
    recorded,
    split_games,
    winner_of,
    write_episodes,
)


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_games_of_a_folder_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    write(tmp_path, "b.sgf", "(;SZ[9]KM[7]RU[Chinese]RE[W+R];B[aa];W[];B[ba])")
    write(tmp_path, "a/c.SGF", "(;SZ[9:7]RE[B+0.5]AB[aa][ba]PL[W];W[bb])")
    write(tmp_path, "notes.txt", "no game")
    first, second = read_games(tmp_path, log=print)
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
    games = read_games(tmp_path, log=logged.append)
    assert [(game.name, game.winner) for game in games] == [("a.sgf", BLACK), ("a.sgf, game 3", WHITE)]
    assert len(logged) == 1 and "a.sgf, game 2: move 2 (white)" in logged[0]


def test_a_folder_without_games(tmp_path: Path) -> None:
    write(tmp_path, "broken.sgf", "(;")
    with pytest.raises(SgfError, match=r"^1 file in .*, none of them usable: expected readable game records"):
        read_games(tmp_path, log=lambda _: None)


def test_what_follows_the_passes_that_end_a_game_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, "a.sgf", "(;SZ[9];B[aa];W[];B[];W[bb];B[cc])")
    (game,) = read_games(tmp_path, log=print)
    assert game.points.tolist()[1:] == [PASS, PASS]


@pytest.mark.parametrize(
    ("result", "winner"),
    [
        ("B+3.5", BLACK),
        ("w+R", WHITE),
        (" W+Time", WHITE),
        ("黑中盘胜", BLACK),
        ("0", EMPTY),
        ("Void", EMPTY),
        ("", EMPTY),
        ("Both", EMPTY),
    ],
)
def test_winners(result: str, winner: int) -> None:
    assert winner_of(result) == winner


def test_a_record_replays_its_game() -> None:
    game = random_game(3)
    record = recorded(game, name="x", winner=EMPTY)
    assert record.game(len(record.points)).diagram() == game.diagram()
    assert record.game(4).moves == game.moves[:4]


def test_games_are_split_by_their_names(tmp_path: Path) -> None:
    """The test games do not depend on the other games of the folder, and their share is about right."""
    games = read_games(write_records(tmp_path, 40), log=print)
    train, test = split_games(games, 0.3)
    assert len(train) + len(test) == 40 and 4 <= len(test) <= 20
    assert split_games(list(reversed(games)), 0.3)[1] == list(reversed(test))
    assert all(is_test(game.name, 0.3) for game in test)
    assert sum(is_test(str(number), 0.1) for number in range(2000)) == pytest.approx(200, rel=0.2)


def finished(winner: int, size: int = 3) -> Game:
    """Return a game that Black wins by all points, or White by komi."""
    game = Game(size, size, komi=0.5)
    if winner == BLACK:
        game.play("B2")
        game.play("pass")
        game.play("pass")
    else:
        game.play("pass")
        game.play("pass")
    return game


def filled() -> Collector:
    """Return six games: as Black 2 of 3 won, as White 0 of 2, one aborted."""
    collector = Collector()
    for winner, learner in ((BLACK, BLACK), (BLACK, BLACK), (WHITE, BLACK), (BLACK, WHITE), (BLACK, WHITE)):
        collector.complete(finished(winner), learner=learner)
    collector.complete(random_game(1, 3, 3, moves=2), learner=WHITE, moment=2)
    return collector


def test_rewards_are_those_of_the_learner() -> None:
    collector = filled()
    assert [episode.reward for episode in collector.episodes] == [1, 1, -1, -1, -1, 0]
    assert collector.win_rate() == 2 / 5 and collector.win_rate(BLACK) == 2 / 3 and collector.win_rate(WHITE) == 0
    assert collector.void_share == 1 / 6 and Collector().win_rate() == 0.5


def test_advantages_are_rewards_less_the_mean_of_the_colour() -> None:
    advantages = filled().advantages()
    assert advantages == pytest.approx([2 / 3, 2 / 3, -4 / 3, 0, 0, 0])
    assert sum(advantages[:3]) == pytest.approx(0)


def test_shards_round_trip(tmp_path: Path) -> None:
    collector, path = filled(), tmp_path / "new" / "000003.npz"
    write_episodes(path, collector.episodes)
    found = read_episodes(path)
    assert [episode.game.name for episode in found] == [f"000003-{number}" for number in range(6)]
    for one, other in zip(found, collector.episodes, strict=True):
        assert (one.learner, one.moment) == (other.learner, other.moment)
        for entry in fields(one.game):
            if entry.name != "name":
                assert np.array_equal(getattr(one.game, entry.name), getattr(other.game, entry.name)), entry.name
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    assert found[5].game.winner == EMPTY and found[5].moment == 2


def test_shards_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with pytest.raises(RecordsError, match=r"^cannot read shard"):
        read_episodes(path)
    write_episodes(path, filled().episodes)
    whole = path.read_bytes()
    locked = bytearray(whole)
    locked[whole.rindex(b"PK\x01\x02") + 8] |= 1  # the bit of a file with a password
    for damaged in (b"", b"junk", whole[:200], whole[:-30], locked):
        path.write_bytes(damaged)
        with pytest.raises(RecordsError, match=r"^shard 'a.npz' is damaged"):
            read_episodes(path)
    np.savez(path, meta=np.array('{"format": 7}'))
    with pytest.raises(RecordsError, match="has another format: expected 1"):
        read_episodes(path)


def test_scored_games_have_the_winner_of_the_board() -> None:
    collector = Collector()
    for seed in range(4):
        game = random_game(seed)
        episode = collector.complete(game, learner=BLACK)
        assert episode.game.winner == (game.score().winner if game.is_over else EMPTY)
    assert isinstance(collector.episodes[0], Episode)
