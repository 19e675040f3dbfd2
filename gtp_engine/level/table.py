"""Which skill each rank has with a network, by board size: measured by matches and kept in a file beside the network.

`NET.levels.json` belongs to `NET.onnx` and to its 8-bit copy; for a folder with networks it is named after the
network's own name:

    {"format": 1, "network": NAME, "boards": {"19": {"skills": {"20k": 0.4, …}, …}, …}}

Other keys of a board describe the measurement (`match.level_calibration`) and are not read here.  A network without a
file has the skills of the network that ships, with which a stronger network plays better than the rank; where that
network can be loaded, it plays instead (`engine.level_play`).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, sqrt
from pathlib import Path
from typing import Any, Final

from gtp_engine.config.sections import LEVELS
from gtp_engine.errors import ModelError, problem, shown_path
from gtp_engine.files import replacing
from gtp_engine.nn.quantized_copy import original_path
from gtp_engine.nn.shipped import shipped_folder

FORMAT: Final = 1

_ENDING: Final = ".levels.json"


@dataclass(frozen=True)
class LevelTable:
    """The skill of each rank, by the side of the board."""

    skills: Mapping[int, Mapping[str, float]]
    borrowed_from: str = ""
    """Name of the network with which the skills were measured, if it is another one."""

    @property
    def is_calibrated(self) -> bool:
        """Whether the skills were measured with this network."""
        return not self.borrowed_from

    def skill(self, level: str, width: int, height: int) -> float:
        """Return the skill of a rank on a board; between the sizes that were measured it is interpolated."""
        side, sizes = sqrt(width * height), sorted(self.skills)
        below = max((size for size in sizes if size <= side), default=sizes[0])
        above = min((size for size in sizes if size >= side), default=sizes[-1])
        share = (side - below) / (above - below) if above > below else 0.0
        first, last = self.skills[below][level], self.skills[above][level]
        return first + share * (last - first)

    def describe(self) -> str:
        """Return on which boards the levels were measured, as the end of a sentence."""
        if not self.is_calibrated:
            return (
                f"not calibrated for this network, which may play stronger or weaker; --model {self.borrowed_from} has "
                "calibrated levels, and `gtp-engine calibrate-levels` measures those of a network"
            )
        return "calibrated on " + ", ".join(f"{size}x{size}" for size in sorted(self.skills))


def table_path(network: Path, name: str) -> Path:
    """Return where the table of a network lies, given the network's file or folder and its own name."""
    if network.is_dir():
        return network / f"{name}{_ENDING}"
    return network.with_name(f"{original_path(network).stem}{_ENDING}")


def read_table(network: Path, name: str) -> LevelTable:
    """Return the table of a network, that of the network that ships if it has none; raises ModelError if damaged."""
    path = table_path(network, name)
    data = read_table_file(path) if path.exists() else None
    if data is not None and data["network"] == name and (skills := _skills(data)):
        return LevelTable(skills)
    return _shipped_table()


def _shipped_table() -> LevelTable:
    """Return the table of the network that ships, for another network; raises ModelError if it was removed."""
    folder = shipped_folder()
    paths = list(folder.glob(f"*{_ENDING}"))
    if not paths:
        given = f"the level table of the network that ships is missing from {shown_path(folder)}"
        raise ModelError(problem(given, advice="install the engine again, or play at --level max"))
    data = read_table_file(paths[0])
    return LevelTable(_skills(data), borrowed_from=data["network"])


def _skills(data: Mapping[str, Any]) -> dict[int, Mapping[str, float]]:
    return {int(size): board["skills"] for size, board in data["boards"].items() if board["skills"]}


def read_skills(path: Path, size: int) -> dict[str, float]:
    """Return the skill of each rank on one board from a table's file; raises ModelError if it holds none."""
    board = read_table_file(path)["boards"].get(str(size)) if path.exists() else None
    if board is None or not board["skills"]:
        given = f"level table {shown_path(path)} has no ranks for {size}x{size}"
        raise ModelError(problem(given, advice="measure them first with `gtp-engine calibrate-levels`"))
    return dict(board["skills"])


def read_table_file(path: Path) -> dict[str, Any]:
    """Return the contents of a table's file; raises ModelError if they are not such a table."""
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        measured = [board["skills"] for size, board in data["boards"].items() if int(size) > 0 and board["skills"]]
        complete = all(_is_skill(skills[level]) for skills in measured for level in LEVELS)
        if data["format"] != FORMAT or not complete or not isinstance(data["network"], str):
            raise ValueError("another format")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(
            problem(
                f"level table {shown_path(path)} cannot be read ({error})",
                expected=f"format {FORMAT} with a skill for each rank",
                advice="remove the file, or measure the levels with `gtp-engine calibrate-levels`",
            )
        ) from error
    return data


def _is_skill(value: object) -> bool:
    return isinstance(value, (int, float)) and isfinite(value)


def write_board(path: Path, network: str, size: int, board: Mapping[str, Any]) -> None:
    """Put the measurement of one board into a table's file, which is created if it does not exist; raises ModelError.

    `board` has the key "skills"; the others are for people.
    """
    old: dict[str, Any] = read_table_file(path) if path.exists() else {}
    boards = old["boards"] if old.get("network") == network else {}
    boards[str(size)] = dict(board)
    data = {"format": FORMAT, "network": network, "boards": {key: boards[key] for key in sorted(boards, key=int)}}
    try:
        with replacing(path) as unfinished:
            unfinished.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        given = f"level table {shown_path(path)} cannot be written ({error.strerror})"
        raise ModelError(
            problem(given, advice="make room there, and run the command again: the games are kept")
        ) from error
