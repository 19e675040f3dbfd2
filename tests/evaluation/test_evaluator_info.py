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
        (BoardSizes((5, 7), (21, 25)), (7, 21), None, "5x21"),
    ],
)
def test_the_usual_board(sizes: BoardSizes, usual: tuple[int, int], only: tuple[int, int] | None, text: str) -> None:
    """The usual one is the nearest to 19x19."""
    assert (sizes.usual, sizes.only, str(sizes)) == (usual, only, text)
    beyond = ((sizes.widths[0] - 1, usual[1]), (sizes.widths[1] + 1, usual[1]), (usual[0], sizes.heights[1] + 1))
    assert sizes.include(*usual) and not any(sizes.include(*each) for each in beyond)


SLOW = ((1, 0.08), (2, 0.15), (4, 0.3))
"""Seconds of calls of a network for which the search's own work is nothing."""
FAST = ((1, 0.0014), (2, 0.0022), (4, 0.0041), (8, 0.0064))
"""Those of tengen-b10c128 on two cores of a Xeon with AMX."""
ZEN4 = ((1, 0.0032), (2, 0.0059), (4, 0.0119), (8, 0.0218))
"""Those on two cores of a Zen 4."""
ZEN5 = ((1, 0.0018), (2, 0.0028), (4, 0.0052), (8, 0.0097))
"""Those on two cores of a Zen 5."""
MANY_CORES = ((1, 0.0004), (2, 0.0005), (4, 0.0007), (8, 0.0009))
"""Such as make the network as fast as the search beside it; not measured."""

Calls = tuple[tuple[int, float], ...]


def batches(calls: Calls, board: int | tuple[int, int] = 19, pairs: Calls = (), **how: int) -> tuple[int, int]:
    """Return the batches for a network of files with these times on a board, square if only its width is given."""
    width, height = (board, board) if isinstance(board, int) else board
    info = EvaluatorInfo("test", 8, call_seconds=calls, pair_seconds=pairs, files=(Path("net.onnx"),))
    return info.batches(width, height, **{"size": 0, "count": 0, "repeats": False, **how})


@pytest.mark.parametrize(
    ("calls", "board", "cores", "expected"),
    [
        (FAST, 19, 2, (8, 1)),  # 1.06 times as fast, which is not worth twice as many positions under way
        (MANY_CORES, 19, 16, (8, 2)),  # 1.5 times
        (MANY_CORES, 19, 1, (8, 1)),  # there is no core on which the search could work beside the network
        (ZEN4, 19, 2, (8, 1)),
        (ZEN4, 9, 2, (8, 1)),
        (SLOW, 19, 2, (1, 1)),
        (SLOW, 19, 1, (1, 1)),
        (((1, 0.3), (2, 0.4)), 19, 1, (1, 1)),  # a call of two would take too long
        (((1, 0.15), (2, 0.2)), (19, 9), 1, (2, 1)),  # which it does not here
        ((), 19, 2, (4, 1)),  # nothing is known yet
    ],
)
def test_batches_keep_the_network_busy_with_few_positions_under_way(
    monkeypatch: pytest.MonkeyPatch, calls: Calls, board: int | tuple[int, int], cores: int, expected: object
) -> None:
    monkeypatch.setattr("gtp_engine.evaluation.evaluator_info.available_cores", lambda: cores)
    assert batches(calls, board) == expected


@pytest.mark.parametrize(
    ("calls", "pairs", "expected"),
    [
        (FAST, ((2, 0.0031), (4, 0.0058)), (4, 2)),
        (FAST, ((2, 0.0035), (4, 0.0068)), (8, 1)),
        (ZEN5, ((2, 0.0050), (4, 0.0097)), (4, 2)),
        (ZEN4, ((2, 0.012), (4, 0.0235)), (8, 1)),
    ],
)
def test_two_calls_are_made_at_a_time_where_that_gains_much(calls: Calls, pairs: Calls, expected: object) -> None:
    assert batches(calls, pairs=pairs) == expected
    assert batches(calls, pairs=pairs, count=1) == (8, 1)
    assert batches(calls, pairs=pairs, repeats=True) == (8, 1)


def test_batches_that_are_configured_or_have_to_be_the_same_everywhere_are_not_chosen() -> None:
    assert [batches(FAST, count=count)[1] for count in (1, 4)] == [1, 4]
    assert [batches(FAST, size=3, count=count) for count in (0, 4)] == [(3, 1), (3, 4)]
    assert {batches(calls, repeats=True) for calls in (FAST, SLOW, ZEN4, ())} == {(8, 1)}
    alone, card = EvaluatorInfo("function", 1), EvaluatorInfo("card", 32)
    assert alone.batches(9, 9, size=0, count=0, repeats=True) == (1, 1)
    assert card.batches(19, 19, size=0, count=0, repeats=False) == (32, 2)


def test_what_changes_evaluations_changes_the_fingerprint(tmp_path: Path) -> None:
    files = [tmp_path / name for name in "ab"]
    for file in files:
        file.write_text(file.name)
    infos = [EvaluatorInfo("x", 8, files=(files[0],), settings="float32"), EvaluatorInfo("x", 8, files=(files[1],))]
    infos += [EvaluatorInfo("x", 8, files=(files[0],), settings="int8"), EvaluatorInfo("x", 8, files=tuple(files))]
    assert len({info.fingerprint for info in infos}) == len(infos)
    assert EvaluatorInfo("y", 4, files=(files[0],), settings="int8").fingerprint == infos[2].fingerprint


def test_a_board_of_its_own_has_the_name_of_its_network() -> None:
    info = EvaluatorInfo("large", 8, names_by_board={(9, 13): "small"})
    assert [info.on(*board).name for board in ((9, 13), (13, 9))] == ["small", "large"]


@pytest.mark.parametrize(("version", "may_lack"), [(15, True), (None, True), (0, False)])
def test_only_networks_of_another_kind_need_the_history(version: int | None, may_lack: bool) -> None:
    info = EvaluatorInfo("x", 8, model_version=version, needs_profile=True)
    assert info.may_lack_history == may_lack
    names = {"name": "x", "internalName": "x", "usingFP16": "false"}
    assert info.katago_facts() == {**names, "version": version or 0, "maxBatchSize": 8, "usesHumanSLProfile": True}
