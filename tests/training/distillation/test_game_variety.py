"""The boards of training games and their shares."""

import pytest

from gtp_engine.errors import ConfigError
from gtp_engine.training.distillation.labelled_games import SIZE_PRESETS, parse_sizes


def test_sizes_become_shares() -> None:
    shares = parse_sizes("9=4, 13=2,19x13=.5,7=1.5,5=0")
    assert shares == {(9, 9): 0.5, (13, 13): 0.25, (19, 13): 0.0625, (7, 7): 0.1875}


@pytest.mark.parametrize("text", ["", "9", "9=", "9=-1", "1=1", "26=1", "9=1,9=2", "9=1;13=1", "9=0", "x9=1", "large"])
def test_sizes_that_make_no_sense(text: str) -> None:
    with pytest.raises(ConfigError, match=r"expected sizes from 2 to 25 .* or mixed or small"):
        parse_sizes(text)


def test_the_mixed_preset_has_every_size_and_9_13_and_19_most_often() -> None:
    shares = parse_sizes("mixed")
    assert {(size, size) for size in range(7, 20)} <= shares.keys()
    assert {board for board, share in shares.items() if share > 0.1} == {(9, 9), (13, 13), (19, 19)}
    assert any(width != height for width, height in shares)
    assert all(sum(parse_sizes(name).values()) == pytest.approx(1) for name in SIZE_PRESETS)
