"""What typed lines mean."""

from pathlib import Path

import pytest

from gtp_engine.base.errors import SgfError
from gtp_engine.people.terminal.typed_command import _NAMES, POINT, help_text, parse_typed, read_record, unused_path


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("d4", (POINT, "D4")), (" Q16 ", (POINT, "Q16")), ("Q 16", (POINT, "Q16")), ("p  3", (POINT, "P3")),
        ("", ("", "")), ("pass", ("pass", "")), ("p", ("pass", "")), ("UNDO", ("undo", "")), ("un", ("undo", "")),
        ("save my game.sgf", ("save", "my game.sgf")), ("new 9 white", ("new", "9 white")), ("?", ("help", "")),
        ("ok", ("accept", "")), ("Exit", ("quit", "")), ("foo bar", ("foo", "bar")), ("re", ("re", "")),
        ("i5", (POINT, "I5")), ("b", ("back", "")), ("f", ("forward", "")), ("h", ("hint", "")),
        ("s", ("score", "")), ("estimate", ("score", "")), ("q", ("quit", "")), ("done", ("accept", "")),
        ("yes", ("accept", "")), ("continue", ("resume", "")), ("u", ("undo", ""))
    ],
)  # fmt: skip
def test_lines(line: str, command: tuple[str, str]) -> None:
    assert parse_typed(line) == command


def test_the_help_fits_beside_a_board_of_19_lines_on_80_columns() -> None:
    assert max(map(len, help_text().splitlines())) <= 80 - (2 * 19 + 6) - 3
    words = {parse_typed(line[:12].split()[0])[0] for line in help_text().splitlines() if "arrows" not in line}
    assert words < {POINT, *_NAMES}
    assert "PgUp" in help_text() and "arrows" in help_text(), "keys, which a plain terminal has not"
    assert not {"PgUp", "arrows"} & {*help_text(has_keys=False).replace(",", " ").split()}


def test_a_folder_is_named_as_it_was_typed(tmp_path: Path) -> None:
    with pytest.raises(SgfError, match="expected a regular file") as caught:
        read_record(str(tmp_path))
    assert f"'{tmp_path}'" in str(caught.value)
    (tmp_path.parent / f"{tmp_path.name}.sgf").write_text("(;SZ[9])")
    assert read_record(str(tmp_path)) == b"(;SZ[9])", "a record has precedence"


def test_games_saved_at_the_same_time_have_different_names(tmp_path: Path) -> None:
    for number in range(4):
        unused_path(tmp_path).touch()
        assert len([*tmp_path.iterdir()]) == number + 1
