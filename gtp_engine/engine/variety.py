"""Variety: has the engine play otherwise than in games before, or than on the other side of the board.

A move counts as the same if the stones around it, within four points in each direction, are the same with the same
chains in atari, and it is played at the same place, mirrored or with colours exchanged.  Each such move in a former
game costs a little utility, so that among moves that are nearly as good another one is played:

    own moves        of this game, `avoid_repeated_patterns`
    a folder         to which the engine adds its moves, `avoid_repeats`; the newest count most
    game records     `avoid_sgf`; the newest count most

Passes and captures in a ko never count.  These are KataGo's options and rules (`cpp/search/patternbonustable.cpp`,
`cpp/program/setup.cpp`), and the folder has its format, so that both can use one.  KataGo also lowers the moves of the
same side deeper in its tree; here only the move that is chosen counts.
"""

import json
import secrets
from collections import defaultdict
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.base.errors import ConfigError, TengenError, shown, shown_path
from gtp_engine.base.files import append, complete_lines, expanded, json_of, newest_first, writing
from gtp_engine.base.streams import Log
from gtp_engine.config.sections import VarietyConfig
from gtp_engine.go.board import Board
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE
from gtp_engine.go.coords import Move, board_points, neighbors, point_to_xy, xy_to_point
from gtp_engine.go.game import Game, is_continued, replayed
from gtp_engine.go.tactics import count_captures
from gtp_engine.sgf import GameTree

_REACH: Final = 4
"""Points that the pattern reaches in each direction from the move: 9×9 (KataGo's)."""

_OUTSIDE: Final = 7
"""The code of a point that is not on the board; others are 0: empty, 1: own, 2: opponent's, and 2 more in atari."""

_SKIP: Final = "%SKIP%"
"""A move of a record with this in its comment does not count (KataGo's)."""

_POSES: Final = "_poses.txt"
"""The end of the names of files in the folder (KataGo's)."""


def pattern_codes(board: Board, color: int, width: int, height: int) -> NDArray[np.uint8]:
    """Return the codes of all points as `color` sees them, uint8[height + 8, width + 8] with a margin of _REACH."""
    points = list(board_points(width, height))
    colors, heads = board.color[points], board.head[points]
    counts, sums, squares = (each[heads].astype(np.int64) for each in (board.libs, board.lib_sum, board.lib_squares))
    in_atari = (counts > 0) & (counts * squares == sums * sums)  # as in `board.is_in_atari`
    seen = np.where(colors == EMPTY, 0, np.where(colors == color, 1, 2) + 2 * in_atari)
    codes = np.full((height + 2 * _REACH, width + 2 * _REACH), _OUTSIDE, dtype=np.uint8)
    codes[_REACH : _REACH + height, _REACH : _REACH + width] = seen.reshape(height, width)
    return codes


def pattern_key(codes: NDArray[np.uint8], point: int, width: int, height: int) -> bytes:
    """Return the key of a move at a point, the same for all moves that count as the same; see the module."""
    x, y = point_to_xy(point, width=width)
    window = codes[y : y + 2 * _REACH + 1, x : x + 2 * _REACH + 1]
    right, low = width - 1 - x, height - 1 - y
    images = [(window, x, y), (window[:, ::-1], right, y), (window[::-1], x, low), (window[::-1, ::-1], right, low)]
    if width == height:
        images += [(image.T, j, i) for image, i, j in images]
    return min(bytes((width, height, i, j)) + image.tobytes() for image, i, j in images)


def move_key(game: Game, move: Move) -> bytes | None:
    """Return the key of a move in a game's position; None for a pass and a capture in a ko."""
    if move.point == PASS or _captures_in_ko(game, move.point, move.color):
        return None
    codes = pattern_codes(game.board, move.color, game.width, game.height)
    return pattern_key(codes, move.point, game.width, game.height)


def _captures_in_ko(game: Game, point: int, color: int) -> bool:
    """Return whether a move captures a single stone with one that then is in atari itself."""
    around = [int(game.board.color[each]) for each in neighbors(point, width=game.width)]
    return EMPTY not in around and color not in around and count_captures(game.board, point, color) == 1


class Variety:
    """What moves cost because they have been played before; `log` is told of files that cannot be read."""

    def __init__(self, config: VarietyConfig, log: Log) -> None:
        self.config: Final = config
        self._log: Final = log
        self._folder: Final = None if config.avoid_repeats is None else expanded(config.avoid_repeats)
        self._file = f"{secrets.token_hex(8).upper()}{_POSES}"
        self._in_file = 0
        self._last_game: Game | None = None
        self._saved: dict[bytes, float] = {}
        self._recorded: Final = {} if config.avoid_sgf is None else _costs_of_records(config, log)
        self.is_on: Final = bool(self._recorded) or self._folder is not None or config.avoid_repeated_patterns != 0.0
        """Whether any move costs something."""

    def bonus_black(self, game: Game, color: int) -> NDArray[np.float64]:
        """Return what is added to Black's utility of each move of `color`, float64[n] by point."""
        self._follow(game)
        costs = defaultdict(float, self._recorded)
        for key, cost in self._saved.items():
            costs[key] += cost
        if self.config.avoid_repeated_patterns != 0.0:
            moves = zip(replayed(game), game.moves, strict=False)
            played = {move_key(before, move) for before, move in moves if move.color == color}
            for own in filter(None, played):
                costs[own] += self.config.avoid_repeated_patterns
        bonus = np.zeros(game.board.color.size)
        codes = pattern_codes(game.board, color, game.width, game.height)
        for point in game.legal_points(color):
            if point != PASS:
                cost = costs.get(pattern_key(codes, point, game.width, game.height), 0.0)
                if cost != 0.0 and not _captures_in_ko(game, point, color):
                    bonus[point] = -cost if color == BLACK else cost
        return bonus

    # --- the folder ---

    def record(self, game: Game, move: Move) -> None:
        """Add a move that is about to be played in `game` to the folder, if there is one; it counts in later games.

        Raises ConfigError if it cannot be written.
        """
        if self._folder is None:
            return
        turn, config = len(game.moves), self.config
        self._last_game = game.copy()
        self._last_game.play(move, tolerant=True)
        if move.point == PASS or not _is_within(turn, config):
            return
        folder = self._folder / f"{game.width}x{game.height}"
        with writing(folder, ConfigError, "to"):
            folder.mkdir(parents=True, exist_ok=True)
            append(folder / self._file, _pose(game, move))
        self._in_file += 1
        if self._in_file >= config.avoid_repeats_chunk:
            self._file, self._in_file = f"{secrets.token_hex(8).upper()}{_POSES}", 0

    def _follow(self, game: Game) -> None:
        """Read the folder again, if there is one, where a new game begins."""
        if self._folder is None:
            return
        if self._last_game is None or not is_continued(self._last_game, game):
            self._saved = self._read(self._folder / f"{game.width}x{game.height}")
        self._last_game = game.copy()

    def _read(self, folder: Path) -> dict[bytes, float]:
        """Return what the moves in a folder cost, the newest most; files beyond the most moves are deleted."""
        costs: dict[bytes, float] = defaultdict(float)
        used, cost = 0, self.config.avoid_repeats_utility
        for file, _time in newest_first(folder.glob(f"*{_POSES}")):
            if used >= self.config.avoid_repeats_most:
                file.unlink(missing_ok=True)
                continue
            seen: set[bytes] = set()
            for line in reversed(complete_lines(file, cut=False)):
                key = _key_of_pose(line, self.config)
                if key is None:
                    continue
                if key not in seen:
                    costs[key] += cost
                seen.add(key)
                used, cost = used + 1, cost * self.config.avoid_repeats_lambda
        return costs


def _is_within(turn: int, config: VarietyConfig) -> bool:
    return config.avoid_repeats_min_turn <= turn <= config.avoid_repeats_max_turn


def _pose(game: Game, move: Move) -> str:
    """Return a position and the move in it as a line of KataGo's."""
    cells = game.board.color[list(board_points(game.width, game.height))].tolist()
    letters = "".join(".XO"[color] for color in cells)
    rows = [letters[start : start + game.width] for start in range(0, len(letters), game.width)]
    data = {
        "board": "/".join(rows) + "/",
        "hintLoc": game.vertex(move.point),
        "initialTurnNumber": len(game.moves),
        "moveLocs": [],
        "movePlas": [],
        "nextPla": "B" if move.color == BLACK else "W",
        "weight": 1.0,
        "xSize": game.width,
        "ySize": game.height,
    }
    return json.dumps(data, separators=(",", ":")) + "\n"


def _key_of_pose(line: str, config: VarietyConfig) -> bytes | None:
    """Return the key of a move in a line of a folder; None for another line, or a move that does not count."""
    try:
        data = json_of(line)
        if data["moveLocs"] or not _is_within(int(data["initialTurnNumber"]), config):
            return None
        game = Game(int(data["xSize"]), int(data["ySize"]))
        rows = [row for row in str(data["board"]).split("/") if row]
        colors = {".": EMPTY, "X": BLACK, "O": WHITE}
        stones = [(x, y, colors[cell]) for y, row in enumerate(rows) for x, cell in enumerate(row)]
        game.set_up([(c, xy_to_point(x, y, width=game.width)) for x, y, c in stones if c != EMPTY])
        color = {"B": BLACK, "W": WHITE}[data["nextPla"]]
        return move_key(game, game.as_move((color, str(data["hintLoc"]))))
    except (ValueError, LookupError, TypeError, TengenError):
        return None


# --- game records ---


def _costs_of_records(config: VarietyConfig, log: Log) -> dict[bytes, float]:
    """Return what the moves of the newest game records cost; raises ConfigError for a folder that is not there."""
    files: list[Path] = []
    for name in _words(config.avoid_sgf or ""):
        path = expanded(name)
        if not path.exists():
            raise ConfigError(f"option variety.avoid_sgf = {shown(name)}", expected="a folder or a record")
        files += path.rglob("*.sgf") if path.is_dir() else [path]
    names, costs, cost = _words(config.avoid_sgf_names), defaultdict[bytes, float](float), config.avoid_sgf_utility
    for file, _time in newest_first(files)[: config.avoid_sgf_files]:
        try:
            keys = _keys_of_record(GameTree.load(file), names, config.avoid_sgf_min_turn)
        except TengenError as error:
            log(f"{shown_path(file)}: {error}")
            continue
        for key in keys:
            costs[key] += cost
        cost *= config.avoid_sgf_lambda
    return costs


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _keys_of_record(tree: GameTree, names: list[str], min_turn: int) -> set[bytes]:
    """Return the keys of the moves of a record's main line, by players of these names if there are any."""
    game, players = tree.game(), {BLACK: tree.record.black_name, WHITE: tree.record.white_name}
    skipped = {number for number, node in tree.nodes_by_moves().items() if _SKIP in node.comment}
    keys = {
        move_key(before, move)
        for number, (before, move) in enumerate(zip(replayed(game), game.moves, strict=False), start=1)
        if number >= min_turn and number not in skipped and (not names or players[move.color] in names)
    }
    return {key for key in keys if key is not None}
