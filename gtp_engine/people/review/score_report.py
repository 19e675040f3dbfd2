"""The score of a finished or nearly finished position with its dead stones: as text, SGF marks and JSON."""

from dataclasses import dataclass
from typing import Any, Final

from gtp_engine import __version__
from gtp_engine.base.errors import SgfError
from gtp_engine.base.languages import _, rules_text
from gtp_engine.engine.engine import Engine
from gtp_engine.engine.final_score import ALIVE, BLACK_TERRITORY, DAME, DEAD, SEKI, WHITE_TERRITORY, FinalScore
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.coords import Point
from gtp_engine.search.limits import CancelToken
from gtp_engine.sgf.game_tree import GameTree
from gtp_engine.sgf.values import format_rules

FORMAT: Final = "tengen-score-1"
"""The value of `format` in the JSON."""

_STATUSES: Final = (ALIVE, DEAD, SEKI, BLACK_TERRITORY, WHITE_TERRITORY, DAME)


@dataclass(frozen=True)
class ScoreReport(FinalScore):
    """The score of a position of a record: `statuses` has the status of every point, as in GTP's final_status_list."""

    moves: int = 0
    """Moves of the record before the position."""
    notes: tuple[str, ...] = ()
    """What of the record was ignored or guessed."""

    @property
    def result(self) -> str:
        """The result as SGF writes it: "B+3.5", "0" for a draw."""
        return str(self.score)

    def to_json(self) -> dict[str, Any]:
        """Return it as values of JSON; docs/review.md describes them."""
        return {
            "format": FORMAT,
            "program": f"Tengen {__version__}",
            "result": self.result,
            "is_counted": self.is_counted,
            "doubt": self.doubt,
            "black": None if self.is_lead else self.score.black,
            "white": None if self.is_lead else self.score.white,
            "rules": format_rules(self.game.rules),
            "komi": self.game.komi,
            "points": {status: [point.vertex for point in self._points(status)] for status in _STATUSES},
            "notes": list(self.notes),
        }

    def to_text(self) -> str:
        """Return the result in the first line, then both sides' points with komi and rules, and the dead stones."""
        terms = {"komi": format(self.game.komi, "g"), "rules": rules_text(format_rules(self.game.rules))}
        points = {"black": f"{self.score.black:g}", "white": f"{self.score.white:g}"}
        sums = _("Black {black}, White {white} with komi {komi}, rules {rules}", **points, **terms)
        if self.is_lead:
            sums = _("Komi {komi}, rules {rules}", **terms)
        how = _("estimated, {doubt}", doubt=_(self.doubt)) if self.doubt else _("counted")
        dead = " ".join(point.vertex for point in self._points(DEAD))
        stones = _("Dead: {stones}", stones=dead) if dead else _("No dead stones")
        return "\n".join([f"{self.result} ({how})", sums, stones])

    def marked(self, data: bytes) -> bytes:
        """Return the record with marks in the position that was scored: territory (TB, TW), dead stones crossed (MA).

        Dead stones lie in the territory of the other side.  They replace marks of these kinds in the record.  Raises
        SgfError if the next move shares its node with the one before.
        """
        tree = GameTree(data)
        node = tree.nodes_by_moves().get(self.moves)
        if node is None:
            raise SgfError(f"move {self.moves + 1} shares its node with the move before, so there is no node to mark")
        for name in ("TB", "TW", "MA"):
            node.set(name)
        dead = self._points(DEAD)
        for name, status, color in (("TB", BLACK_TERRITORY, BLACK), ("TW", WHITE_TERRITORY, WHITE)):
            owned = [*self._points(status), *(point for point in dead if self.game.color_at(point) != color)]
            node.set(name, *(point.sgf for point in owned))
        node.set("MA", *(point.sgf for point in dead))
        return tree.to_bytes()

    def _points(self, status: str) -> list[Point]:
        return [point for point, found in self.statuses.items() if found == status]


def score_record(
    engine: Engine, data: bytes, *, move_number: int | None = None, cancel: CancelToken | None = None
) -> ScoreReport:
    """Return the score of the last position of a record, or of the one before move `move_number`.

    The engine's rules and komi are for records that name none; `cancel` ends the searches early.  Raises SgfError for a
    record that cannot be read.
    """
    record = engine.load_sgf(data, move_number)
    moves = len(record.moves) if move_number is None else min(move_number - 1, len(record.moves))
    found = engine.outcome(cancel)
    return ScoreReport(found.game, found.score, found.status, found.doubt, found.is_lead, moves, record.notes)
