"""Collectors and shards of experience: rewards by colour, and a round trip through a file."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from alphago.games import random_game

from gtp_engine.alphago.stages.game_records import Collector, Episode, RecordsError, read_episodes, write_episodes
from gtp_engine.go.constants import BLACK, EMPTY, WHITE
from gtp_engine.go.game import Game


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
