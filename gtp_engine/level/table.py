"""What a skill means, and which skill each rank has with a network, by board size.

    LevelSettings  how many visits the search has, and how freely a move is drawn from what it found
    LevelTable     the skill of each rank: measured by matches and kept in a file beside the network

Up to `POLICY_SKILL` a level plays from the network's policy for the position alone; what it plays may lose fewer points
as the skill grows.  Above that the visits grow, and the choice narrows to the best move.

`NET.levels.json` belongs to `NET.onnx` and to its 8-bit copy; for a folder with networks it is named after the
network's own name:

    {"format": 1, "network": NAME, "boards": {"19": {"skills": {"20k": 0.4, …}, …}, …}}

Other keys of a board describe the measurement (`calibration`) and are not read here.  A network without a file has the
skills of the network that ships, with which a stronger network plays better than the rank; where that network can be
loaded, it plays instead (`engine.level_play`).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, sqrt
from pathlib import Path
from typing import Any, Final, NamedTuple

from gtp_engine.config.sections import LEVELS
from gtp_engine.errors import ModelError, problem, shown_path
from gtp_engine.files import replacing
from gtp_engine.nn.named_networks import shipped_folder
from gtp_engine.nn.quantized_copy import original_path

BOTTOM_SKILL: Final = -3.0
"""Skill of the weakest player that can be set: on small boards, on which mistakes cost less, the ranks reach that far
down."""

POLICY_SKILL: Final = 6.0
"""Skill up to which one evaluation has to do."""

TOP_SKILL: Final = 11.0
"""Skill of the strongest level."""

_FIRST_VISITS: Final = 4
"""Visits of the first searches: with fewer no second move is tried."""

_TOP_VISITS: Final = 32
"""Visits at `TOP_SKILL`: on 19×19 less than half a second on a slow core."""

_BOARD: Final = 19.0
"""Side of the board for which points are given; see `scaled`."""

_FIRST_TEMPERATURE: Final = 2.2
_POLICY_TEMPERATURE: Final = 0.25
_FIRST_LOSS: Final = 24.0
_POLICY_LOSS: Final = 2.0
"""Temperature of the policy, and points that a move may lose on 19×19, at skill 0 and at `POLICY_SKILL`; in even ratios
between and below.  Chosen so that moves of 20k still look like Go, and that no rank throws away a large group."""

_TOP_LOSS: Final = 0.25
"""Points that a move may lose at `TOP_SKILL`."""


class LevelSettings(NamedTuple):
    """How a move is chosen."""

    visits: int
    """Of the search; 1 is the network's evaluation of the position alone."""
    temperature: float
    """Exponent 1/T of the probabilities that a move is drawn with."""
    allowed_loss: float
    """Points that a move may lose against the best one."""


def settings_of(skill: float, width: int, height: int) -> LevelSettings:
    """Return the settings of a skill from `BOTTOM_SKILL` to `TOP_SKILL`, beyond which others count as these."""
    skill = min(max(skill, BOTTOM_SKILL), TOP_SKILL)
    scale = scaled(1.0, width, height)
    if skill <= POLICY_SKILL:
        share = skill / POLICY_SKILL
        temperature = _between(_FIRST_TEMPERATURE, _POLICY_TEMPERATURE, share)
        return LevelSettings(1, temperature, scale * _between(_FIRST_LOSS, _POLICY_LOSS, share))
    share = (skill - POLICY_SKILL) / (TOP_SKILL - POLICY_SKILL)
    visits = round(_between(_FIRST_VISITS, _TOP_VISITS, share))
    return LevelSettings(visits, _POLICY_TEMPERATURE * (1.0 - share), scale * _between(_POLICY_LOSS, _TOP_LOSS, share))


def scaled(points: float, width: int, height: int) -> float:
    """Return points on 19×19 as those on another board: mistakes cost less on a smaller one."""
    return points * sqrt(width * height) / _BOARD


def _between(first: float, last: float, share: float) -> float:
    """Return the value at `share` of the way from `first` to `last`, in even ratios."""
    return float(first * (last / first) ** share)


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
                f"not calibrated for this network, which may play stronger or weaker; {self.borrowed_from} has "
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
        raise ModelError(problem(given, advice="install the engine again, or set play.level to max (--level max)"))
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
        skills = [board[level] for board in measured for level in LEVELS]
        complete = all(isinstance(skill, (int, float)) and isfinite(skill) for skill in skills)
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
