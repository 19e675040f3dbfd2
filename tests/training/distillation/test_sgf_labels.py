"""Samples of game records."""

from pathlib import Path

import numpy as np
import pytest
from fake_evaluators import FakeEvaluator
from training.distillation.test_labels import label

from gtp_engine import Game, Rules, SgfError, parse_vertex
from gtp_engine.training.distillation.generate import input_keys
from gtp_engine.training.distillation.labelled_games import LabelledBlock, blocks_of_records
from gtp_engine.training.distillation.shards import BoardSides, Samples, is_of_player, join

FAKE = FakeEvaluator()


def samples_of(folder: Path, *, batch: int = 4, errors: list[str] | None = None) -> dict[BoardSides, Samples]:
    log = [].append if errors is None else errors.append
    parts: dict[BoardSides, list[Samples]] = {}
    for block in blocks_of_records(FAKE, folder, batch=batch, log=log):
        parts.setdefault(block.board, []).append(block.samples)
    return {board: join(found) for board, found in parts.items()}


def check(found: Samples, game: Game, *vertices: str) -> None:
    """Compare samples with the labels of the position of `game`, and of those after each move."""
    wanted = [label(game, FAKE)]
    for vertex in vertices:
        game.play(vertex)
        wanted.append(label(game, FAKE))
    assert input_keys(found).tolist() == input_keys(join(wanted)).tolist()
    np.testing.assert_array_equal(found.value, join(wanted).value)


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True, parents=True)
    (folder / name).write_text(text)


def test_every_position_of_a_record_is_labelled(tmp_path: Path) -> None:
    write(tmp_path, "game.sgf", "(;SZ[5]RU[Japanese]KM[3.5];B[cc];W[bb];B[];W[dd])")
    samples = samples_of(tmp_path)[5, 5]
    check(samples, Game(5, 5, Rules.parse("japanese"), 3.5), "C3", "B4", "pass", "D2")
    (number,) = set(samples.game.tolist())
    assert number > 0 and not is_of_player(samples.game).any()


def test_a_game_keeps_its_number_when_its_folder_grows(tmp_path: Path) -> None:
    """What was left of a game that a run had trained on when it was interrupted could be held out by the next run."""
    write(tmp_path, "game.sgf", "(;SZ[5];B[cc])")
    before = samples_of(tmp_path)[5, 5].game.tolist()
    write(tmp_path, "a/new.sgf", "(;SZ[5];B[dd])")
    after = samples_of(tmp_path)[5, 5].game.tolist()
    assert after[2:] == before and before[0] not in after[:2]


def test_folders_are_searched_and_boards_kept_apart(tmp_path: Path) -> None:
    write(tmp_path, "b/deep/two.SGF", "(;SZ[7];B[cc];W[bb])")
    write(tmp_path, "a.sgf", "(;SZ[5];B[cc])")
    write(tmp_path, "c.sgf", "(;SZ[5:4];B[ba])")
    write(tmp_path, "notes.txt", "(;SZ[5];B[cc])")
    samples = samples_of(tmp_path)
    assert {board: found.count for board, found in samples.items()} == {(7, 7): 3, (5, 5): 2, (5, 4): 2}
    assert len({int(found.game[0]) for found in samples.values()}) == 3


def test_batches_are_full_but_for_the_last(tmp_path: Path) -> None:
    for number in range(4):
        write(tmp_path, f"{number}.sgf", "(;SZ[5];B[cc];W[bb];B[dd];W[aa])")
    blocks: list[LabelledBlock] = list(blocks_of_records(FAKE, tmp_path, batch=8, log=print))
    assert [block.samples.count for block in blocks] == [8, 8, 4]
    games = np.concatenate([block.samples.game for block in blocks])
    assert np.unique(games, return_counts=True)[1].tolist() == [5, 5, 5, 5]


def test_handicap_and_set_up_stones_are_there_from_the_beginning(tmp_path: Path) -> None:
    write(tmp_path, "game.sgf", "(;SZ[5]HA[2]AB[bb][dd]KM[0.5];W[cc])")
    game = Game(5, 5, None, 0.5)
    game.set_handicap([parse_vertex(vertex, width=5, height=5) for vertex in ("B4", "D2")])
    check(samples_of(tmp_path)[5, 5], game, "C3")


@pytest.mark.parametrize(
    "moves",
    [
        "B[cc];W[];B[];W[dd]",  # nothing follows the end of a game: the empty board, after C3, after the first pass
        "B[cc];B[bb];W[dd]",  # the wrong side moves: not the position after C3, where Black moves again
        "B[cc];AW[ab]PL[W];W[bb];B[dd]",  # a later change of the board begins a new game
    ],
)
def test_positions_that_are_not_those_of_a_game_are_left_out(tmp_path: Path, moves: str) -> None:
    write(tmp_path, "game.sgf", f"(;SZ[5];{moves})")
    assert samples_of(tmp_path)[5, 5].count == 3


def test_files_that_cannot_be_read_are_logged_and_left_out(tmp_path: Path) -> None:
    write(tmp_path, "a.sgf", "no record")
    message = r"^1 file in .*, none of them usable: expected readable game records whose names end in \.sgf"
    with pytest.raises(SgfError, match=message):
        samples_of(tmp_path)
    write(tmp_path, "b.sgf", "(;SZ[5];B[cc];W[cc])")
    write(tmp_path, "c.sgf", "(;SZ[5];B[cc])")
    errors: list[str] = []
    assert samples_of(tmp_path, errors=errors)[5, 5].count == 2
    assert [line.split(": ")[0] for line in errors] == [str(tmp_path / "a.sgf"), str(tmp_path / "b.sgf")]
