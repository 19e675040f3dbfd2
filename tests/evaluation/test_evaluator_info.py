"""The boards of an evaluator: what several networks have in common, which games start on, and batches for them."""

from pathlib import Path

import pytest

from gtp_engine.evaluation.evaluator_info import ANY_BOARD, BoardSizes, EvaluatorInfo

SQUARES_TO_13 = BoardSizes((2, 13), (2, 13))
ONLY_9 = BoardSizes((9, 9), (9, 9))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (ANY_BOARD, SQUARES_TO_13, SQUARES_TO_13),
        (SQUARES_TO_13, ONLY_9, ONLY_9),
        (BoardSizes((5, 25), (5, 25)), SQUARES_TO_13, BoardSizes((5, 13), (5, 13))),
    ],
)
def test_common_boards_are_those_of_both(first: BoardSizes, second: BoardSizes, expected: BoardSizes) -> None:
    assert first.common(second) == second.common(first) == expected
    assert expected.include(9, 9)
    nothing = ONLY_9.common(BoardSizes((13, 13), (13, 13)))
    assert not any(nothing.include(size, size) for size in (9, 11, 13))


@pytest.mark.parametrize(
    ("sizes", "usual", "only", "text"),
    [
        (ANY_BOARD, (19, 19), None, "2-25"),
        (SQUARES_TO_13, (13, 13), None, "2-13"),
        (ONLY_9, (9, 9), (9, 9), "9x9"),
        (BoardSizes((13, 13), (9, 9)), (13, 9), (13, 9), "13x9"),
        (BoardSizes((21, 25), (5, 7)), (21, 7), None, "21x5"),
    ],
)
def test_the_usual_and_the_only_board(
    sizes: BoardSizes, usual: tuple[int, int], only: tuple[int, int] | None, text: str
) -> None:
    """The usual one is the nearest to 19x19."""
    assert (sizes.usual, sizes.only, str(sizes)) == (usual, only, text)


@pytest.mark.parametrize(
    ("seconds", "board", "expected"),
    [
        (0.0, (19, 19), 8),  # unknown, or a GPU
        (0.001, (19, 19), 8),
        (0.004, (19, 19), 3),  # two take 8 ms, three 12 ms
        (0.005, (19, 19), 2),
        (0.02, (19, 19), 1),
        (0.02, (9, 9), 3),
        (0.02, (19, 5), 2),
        (0.5, (25, 25), 1),
    ],
)
def test_a_search_has_a_batch_that_takes_ten_milliseconds(
    seconds: float, board: tuple[int, int], expected: int
) -> None:
    assert EvaluatorInfo("test", 8, position_seconds=seconds).search_batch(*board) == expected


def test_what_changes_evaluations_changes_the_fingerprint(tmp_path: Path) -> None:
    files = []
    for name in ("a", "b"):
        files.append(tmp_path / name)
        files[-1].write_text(name)
    infos = [EvaluatorInfo("x", 8, files=(files[0],), settings="float32"), EvaluatorInfo("x", 8, files=(files[1],))]
    infos += [EvaluatorInfo("x", 8, files=(files[0],), settings="int8"), EvaluatorInfo("x", 8, files=tuple(files))]
    assert len({info.fingerprint for info in infos}) == len(infos)
    assert EvaluatorInfo("y", 4, files=(files[0],), settings="int8").fingerprint == infos[2].fingerprint


@pytest.mark.parametrize(("version", "may_lack"), [(15, True), (None, True), (0, False)])
def test_only_networks_of_another_kind_need_the_history(version: int | None, may_lack: bool) -> None:
    info = EvaluatorInfo("x", 8, model_version=version, needs_profile=True)
    assert info.may_lack_history == may_lack
    facts = info.katago_facts()
    assert (facts["version"], facts["maxBatchSize"], facts["usesHumanSLProfile"]) == (version or 0, 8, True)
