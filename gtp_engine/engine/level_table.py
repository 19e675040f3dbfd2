"""What a skill means, and which skill each rank has with a human-like network, by board size.

    LevelSettings  whom a level imitates, how freely it draws, and how many points it may overlook
    LevelTable     the skill of each rank: measured by matches and kept in a file beside the network

Skills count as ranks do, 0 for 20k to 28 for 9d, and go beyond both ends for boards on which games between ranks ask
for that.  `NET.levels.json` belongs to the human-like network `NET.onnx` and to its 8-bit copy; for a folder with
networks it is named after the network's own name:

    {"format": 2, "network": NAME, "boards": {"19": {"skills": {"20k": 0.4, …}, …}, …}}

Other keys of a board describe the measurement (`calibration`) and are not read here.  A network without a file has the
skills of the human-like network that ships.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, isfinite, log, sqrt
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from gtp_engine.base.errors import ModelError, shown_path
from gtp_engine.base.files import MAX_TEXT_BYTES, json_of, read_regular, write_whole, writing
from gtp_engine.config.human import HumanProfile, rank_number
from gtp_engine.config.sections import LEVELS
from gtp_engine.nn.named_networks import shipped_network
from gtp_engine.nn.quantized_copy import original_path

HUMAN_MODEL: Final = "tengen-human"
"""Name of the human-like network that ships."""

STRONG_MODEL: Final = "tengen-b10c128"
"""Name of the network that ships beside it, by which levels see what a move loses."""

BOTTOM_SKILL: Final = -8.0
TOP_SKILL: Final = 36.0
"""Skills of the weakest and the strongest player that can be set."""

_BOARD: Final = 19.0
"""Side of the board for which points are given; see `scaled`."""

_SETTINGS: Final = (
    (-8.0, 3.0, 110.0),
    (0.0, 1.62, 80.0),
    (10.0, 1.47, 75.0),
    (15.0, 1.28, 75.0),
    (18.0, 1.06, 55.0),
    (21.0, 0.9, 30.0),
    (25.0, 0.73, 15.0),
    (28.0, 0.5, 5.5),
    (36.0, 0.2, 1.0),
)
"""Temperature and tolerance by skill, in even ratios between.  From 5k (15) to 9d (28) they were chosen such that moves
on 19×19 lose as many points as people's (`scripts/measure/compare_levels`); outside they continue the trend."""


class LevelSettings(NamedTuple):
    """How a move is chosen."""

    rank: int
    """Whose moves the human-like network is asked for, as `HumanProfile` counts."""
    temperature: float
    """Exponent 1/T of the probabilities that a move is drawn with."""
    tolerance: float
    """A loss of so many points is overlooked with probability 1/e, one of twice as many with 1/e²."""

    @property
    def profile(self) -> HumanProfile:
        """That of a game between two people of the rank."""
        return HumanProfile("rank", self.rank, self.rank)


def settings_of(skill: float, width: int, height: int) -> LevelSettings:
    """Return the settings of a skill from `BOTTOM_SKILL` to `TOP_SKILL`, beyond which others count as these."""
    skill = min(max(skill, BOTTOM_SKILL), TOP_SKILL)
    level = LEVELS[min(max(round(skill), 0), len(LEVELS) - 1)]
    skills = [knot[0] for knot in _SETTINGS]
    temperature, tolerance = (exp(np.interp(skill, skills, [log(knot[i]) for knot in _SETTINGS])) for i in (1, 2))
    return LevelSettings(rank_number(level), temperature, scaled(tolerance, width, height))


def scaled(points: float, width: int, height: int) -> float:
    """Return points on 19×19 as those on another board: mistakes cost less on a smaller one."""
    return points * sqrt(width * height) / _BOARD


FORMAT: Final = 2

_ENDING: Final = ".levels.json"


@dataclass(frozen=True)
class LevelTable:
    """The skill of each rank, by the side of the board."""

    skills: Mapping[int, Mapping[str, float]]
    borrowed_from: str = ""
    """Name of the network with which the skills were measured, "" if with this one."""

    def skill(self, level: str, width: int, height: int) -> float:
        """Return the skill of a rank on a board; between the sizes that were measured it is interpolated."""
        sizes = sorted(self.skills)
        return float(np.interp(sqrt(width * height), sizes, [self.skills[size][level] for size in sizes]))

    def describe(self) -> str:
        """Return on which boards the levels were measured, as the end of a sentence."""
        if self.borrowed_from:
            return (
                f"calibrated for {self.borrowed_from}, so this network may play stronger or weaker; "
                "`gtp-engine calibrate-levels` measures the levels of a network"
            )
        return "calibrated on " + ", ".join(f"{size}x{size}" for size in sorted(self.skills))


def table_path(network: Path, name: str, ending: str = _ENDING) -> Path:
    """Return where a table of a network lies, given the network's file or folder and its own name."""
    if network.is_dir():
        return network / f"{name}{ending}"
    return network.with_name(f"{original_path(network).stem}{ending}")


def read_table(network: Path | None, name: str) -> LevelTable:
    """Return the table of a human-like network, that of the one that ships if it has none or its file is not known.

    Raises ModelError if a table is damaged, or if that network was removed.
    """
    path = None if network is None else table_path(network, name)
    data = read_table_file(path) if path is not None and path.exists() else None
    if data is not None and data["network"] == name and (skills := _skills(data)):
        return LevelTable(skills)
    shipped = read_table_file(table_path(shipped_network(HUMAN_MODEL), HUMAN_MODEL))
    return LevelTable(_skills(shipped), borrowed_from="" if name == HUMAN_MODEL else HUMAN_MODEL)


def _skills(data: Mapping[str, Any]) -> dict[int, Mapping[str, float]]:
    return {int(size): board["skills"] for size, board in data["boards"].items() if board["skills"]}


def read_skills(path: Path, size: int) -> dict[str, float]:
    """Return the skill of each rank on one board from a table's file; raises ModelError if it holds none."""
    board = read_table_file(path)["boards"].get(str(size)) if path.exists() else None
    if board is None or not board["skills"]:
        given = f"level table {shown_path(path)} has no ranks for {size}x{size}"
        raise ModelError(given, advice="measure them first with `gtp-engine calibrate-levels`")
    return dict(board["skills"])


def read_table_file(path: Path) -> dict[str, Any]:
    """Return the contents of a table's file; raises ModelError if they are not such a table."""
    try:
        data: dict[str, Any] = json_of(read_regular(path, MAX_TEXT_BYTES))
        measured = [board["skills"] for size, board in data["boards"].items() if int(size) > 0 and board["skills"]]
        skills = [board[level] for board in measured for level in LEVELS]
        complete = all(isinstance(skill, (int, float)) and isfinite(skill) for skill in skills)
        if data["format"] != FORMAT or not complete or not isinstance(data["network"], str):
            raise ValueError("another format")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(
            f"level table {shown_path(path)} cannot be read ({error})",
            expected=f"format {FORMAT} with a skill for each rank",
            advice="remove the file, or measure the levels with `gtp-engine calibrate-levels`",
        ) from error
    return data


def write_board(path: Path, network: str, size: int, board: Mapping[str, Any]) -> None:
    """Put the measurement of one board into a table's file, which is created if it does not exist; raises ModelError.

    `board` has the key "skills"; the others are for people.
    """
    old: dict[str, Any] = read_table_file(path) if path.exists() else {}
    boards = old["boards"] if old.get("network") == network else {}
    boards[str(size)] = dict(board)
    data = {"format": FORMAT, "network": network, "boards": {key: boards[key] for key in sorted(boards, key=int)}}
    advice = "make room there, and run the command again: the games are kept"
    with writing(path, ModelError, "level table", advice=advice):
        write_whole(path, json.dumps(data, indent=1) + "\n")
