"""A query of the analysis protocol as a plain value, and its parser.

Field names and their meaning are those of KataGo (`docs/Analysis_Engine.md`, version 1.17).  Differences: any komi is
allowed, not only multiples of half a point; stones without liberties cannot be set up, nor two stones on one point;
where a move cannot be played, the turns before it are analysed.

`Fields` reads a JSON object by type and records which fields were read, so that the others can be reported as
unexpected.
"""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from gtp_engine.base.errors import (
    ConfigError,
    IllegalMoveError,
    InvalidVertexError,
    RulesError,
    TengenError,
    problem,
    shown,
    shown_json,
)
from gtp_engine.config import Config, GameConfig
from gtp_engine.config.human import nearest_profile_line
from gtp_engine.config.katago import UNUSED_BY_ANALYSES, with_katago_settings
from gtp_engine.go.constants import MAX_SIZE, MIN_SIZE, PASS
from gtp_engine.go.coords import Color, Move, Point, board_points, is_color, parse_color, parse_vertex
from gtp_engine.go.game import Game
from gtp_engine.go.rules import HandicapBonus, Rules
from gtp_engine.search.limits import Restriction
from gtp_engine.sgf.record import usual_first_player
from gtp_engine.sgf.values import komi_of_rules, without_komi

_PAIRS: Final = 'a list of pairs such as ["B", "Q16"]'
_MISSING: Final = "(missing)"

MAX_KOMI: Final = 400
"""Points for either side; KataGo's bound, since networks are not trained beyond it."""

MAX_VISITS: Final = 2**50
MAX_PRIORITY: Final = 2**62
MAX_DEPTH: Final = 10**9
INTERVALS: Final = (0.001, 1e6)
"""KataGo's bounds; intervals in seconds."""

_MAX_PV: Final = 1000
_PLAYOUTS: Final = "maxPlayouts"
"""KataGo's setting; no option of ours has its name for analyses."""

INCLUDED: Final = (
    "includeOwnership",
    "includeOwnershipStdev",
    "includeMovesOwnership",
    "includeMovesOwnershipStdev",
    "includePolicy",
    "includePVVisits",
    "includeNoResultValue",
)
"""Fields of a query that are true if a response is to hold more."""

_RULES: Final = 'rules by name, such as "chinese" or "tromp-taylor", or a JSON object'
_RESTRICTIONS: Final = "a list of objects with the fields player, moves and untilDepth"


class QueryError(TengenError):
    """A query that cannot be answered because of its field `field`."""

    def __init__(self, field: str, message: str) -> None:
        self.field: Final = field
        super().__init__(message)


class Fields:
    """Reads the fields of one JSON object; a value of another type or out of bounds raises QueryError.

    `name` is that of the field which holds the object; errors have `field`, or else the field that was read, as theirs.
    """

    def __init__(self, data: Mapping[str, Any], *, name: str = "", field: str = "") -> None:
        self.data: Final = data
        """All fields."""
        self._name: Final = name
        self._field: Final = field
        self._names_read: Final[set[str]] = set()

    def __contains__(self, name: str) -> bool:
        self._names_read.add(name)
        return name in self.data

    def value(self, name: str) -> Any:
        """Return the value as it is, None if the field is missing."""
        self._names_read.add(name)
        return self.data.get(name)

    def unexpected(self, more: Iterable[str] = ()) -> list[str]:
        """Return the fields that were not read, without those in `more`."""
        known = self._names_read.union(more)
        return [name for name in self.data if name not in known]

    def integer(self, name: str, low: int, high: int) -> int:
        """Return an integer within the bounds."""
        return self._checked_integer(name, self.value(name), low, high)

    def number(self, name: str, low: float, high: float) -> float:
        """Return a finite number within the bounds."""
        value = self.value(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise self.error(name, f"a number from {low:g} to {high:g}")
        return float(value)

    def flag(self, name: str) -> bool:
        """Return a boolean, false if the field is missing."""
        if name not in self:
            return False
        value = self.value(name)
        if not isinstance(value, bool):
            raise self.error(name, "true or false")
        return value

    def color(self, name: str) -> int:
        """Return BLACK for "B", WHITE for "W"."""
        return self._color(name, self.value(name) if name in self else _MISSING)

    def integers(self, name: str, low: int, high: int) -> list[int]:
        """Return a list of integers within the bounds."""
        return [self._checked_integer(name, value, low, high) for value in self._list(name, "a list of integers")]

    def points(self, name: str, *, width: int, height: int) -> list[int]:
        """Return a list of points or PASS, from vertices."""
        values = self._list(name, 'a list of vertices such as ["Q16", "pass"]')
        return [self._point(name, value, width=width, height=height) for value in values]

    def moves(self, name: str, *, width: int, height: int, passes: bool) -> list[Move]:
        """Return a list of moves from pairs of colour and vertex; `passes` allows passes."""
        moves = []
        for pair in self._list(name, _PAIRS):
            if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str) for text in pair)):
                raise self.error(name, _PAIRS, given=pair)
            color = self._color(name, pair[0])
            point = self._point(name, pair[1], width=width, height=height)
            if point == PASS and not passes:
                raise self.error(name, "a point of the board", given=pair[1])
            moves.append(Move(color, point))
        return moves

    def objects(self, name: str, expected: str) -> list["Fields"]:
        """Return a list of objects."""
        values = self._list(name, expected)
        if not all(isinstance(value, dict) for value in values):
            raise self.error(name, expected)
        return [Fields(value, name=name) for value in values]

    def error(self, name: str, expected: str, *, given: Any = _MISSING) -> QueryError:
        """Return the error for a field, with the value given (by default that of the field) and the one expected."""
        value = self.data.get(name, _MISSING) if given is _MISSING else given
        text = _MISSING if value is _MISSING else shown_json(value)
        shown_name = f"{self._name}.{name}" if self._name else name
        return QueryError(self._field or name, problem(f"{shown_name} {text}", expected=expected))

    def _list(self, name: str, expected: str) -> list[Any]:
        value = self.value(name)
        if not isinstance(value, list):
            raise self.error(name, expected)
        return value

    def _checked_integer(self, name: str, value: Any, low: int, high: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.error(name, f"an integer from {low} to {high}", given=_MISSING if value is None else value)
        return value

    def _color(self, name: str, text: Any) -> Color:
        if not isinstance(text, str) or not is_color(text):
            raise self.error(name, '"B" or "W"', given=text)
        return parse_color(text)

    def _point(self, name: str, text: Any, *, width: int, height: int) -> Point:
        """Return the point of a vertex, or of "(x,y)", KataGo's other notation, counted from 0 at the top left."""
        if isinstance(text, str) and text.startswith("("):
            numbers = text.removeprefix("(").removesuffix(")").split(",")
            if len(numbers) == 2 and all(number.strip().isdecimal() for number in numbers):
                x, y = (min(int(number[:10]), math.prod((width, height))) for number in numbers)
                if x < width and y < height:
                    return Point.from_xy(x, y, width, height)
            raise self.error(name, f"(x,y) with x below {width} and y below {height}", given=text)
        try:
            return parse_vertex(text if isinstance(text, str) else "", width=width, height=height)
        except InvalidVertexError as error:
            raise QueryError(
                self._field or name, f"could not parse board location {shown_json(text)}: {error}"
            ) from None


@dataclass(frozen=True)
class Query:
    """One query: which positions to analyse, how, and what to report.

    The game begins at `start`, and its `moves` lead to the position at each turn.  `turns` are those to analyse, in
    order, with their priorities; higher ones are searched first.  `config` is the server's configuration with the
    query's settings; `wanted` has those of `INCLUDED` that responses are to hold.  `first_report` and `report_interval`
    are seconds; None means no reports before the search is over.
    """

    id: str
    start: Game
    moves: tuple[Move, ...]
    turns: dict[int, int]
    config: Config
    wanted: frozenset[str]
    restrictions: tuple[Restriction, ...]
    first_report: float | None
    report_interval: float | None

    def game_at(self, turn: int) -> Game:
        """Return the game before move number `turn` (from 0); raises IllegalMoveError for moves that no rules allow."""
        game = self.start.copy()
        for move in self.moves[:turn]:
            game.play(move, tolerant=True)
        return game


def parse_query(data: Mapping[str, Any], config: Config) -> tuple[Query, list[dict[str, str]]]:
    """Return the query in a JSON object, whose `id` must be a string, and problems with it; raises QueryError.

    A problem is a `field` and a `warning` about it, or an `error` if the query is answered in part.
    """
    fields = Fields(data)
    start, moves = _game(fields, config.game)
    turns = _turns(fields, len(moves))
    settings, problems = _settings(fields, config)
    interval = fields.number("reportDuringSearchEvery", *INTERVALS) if "reportDuringSearchEvery" in fields else None
    first = interval
    if "firstReportDuringSearchAfter" in fields:
        first = fields.number("firstReportDuringSearchAfter", *INTERVALS)
    query = Query(
        id=data["id"],
        start=start,
        moves=moves,
        turns=turns,
        config=settings,
        wanted=frozenset(name for name in INCLUDED if fields.flag(name)),
        restrictions=_restrictions(fields, start),
        first_report=first,
        report_interval=interval,
    )
    unexpected = fields.unexpected(more=("id", "action"))
    problems += [{"field": name, "warning": "unexpected or unused field, check its spelling"} for name in unexpected]
    if illegal := _first_illegal(query):
        number, message = illegal
        query = replace(query, turns={turn: priority for turn, priority in turns.items() if turn <= number})
        if not query.turns:
            raise QueryError("moves", message)
        problems.append({"field": "moves", "warning" if query.turns == turns else "error": message})
    return query, problems


def _game(fields: Fields, config: GameConfig) -> tuple[Game, tuple[Move, ...]]:
    """Return the game before its first move, and the moves, which are not checked yet."""
    width = fields.integer("boardXSize", MIN_SIZE, MAX_SIZE)
    height = fields.integer("boardYSize", MIN_SIZE, MAX_SIZE)
    stones = []
    if "initialStones" in fields:
        stones = [*dict.fromkeys(fields.moves("initialStones", width=width, height=height, passes=False))]
    moves = fields.moves("moves", width=width, height=height, passes=True)
    game = Game(width, height, *_rules(fields))
    game.handicap_by_moves = config.handicap_by_moves
    first = fields.color("initialPlayer") if "initialPlayer" in fields else usual_first_player(stones, moves)
    try:
        game.set_up(stones, first)
    except IllegalMoveError as error:
        raise QueryError("initialStones", str(error)) from None
    return game, tuple(moves)


def _rules(fields: Fields) -> tuple[Rules, float]:
    """Return rules and komi; the komi may also be one of the rules."""
    given = fields.value("rules")
    komi: Any = None
    if isinstance(given, dict):
        komi, given = given.get("komi"), json.dumps({name: given[name] for name in given if name != "komi"})
    if not isinstance(given, str):
        raise fields.error("rules", _RULES)
    try:
        rules, komi = Rules.parse(without_komi(given)), komi_of_rules(given) if komi is None else komi
    except RulesError as error:
        raise QueryError("rules", f"could not parse rules: {error}") from None
    if "whiteHandicapBonus" in fields:
        try:
            bonus = HandicapBonus(str(fields.value("whiteHandicapBonus")))
        except ValueError:
            raise fields.error("whiteHandicapBonus", '"0", "N" or "N-1"') from None
        rules = replace(rules, white_handicap_bonus=bonus)
    if "komi" in fields:
        return rules, fields.number("komi", -MAX_KOMI, MAX_KOMI)
    if komi is not None:
        return rules, Fields({"komi": komi}, name="rules", field="rules").number("komi", -MAX_KOMI, MAX_KOMI)
    return rules, rules.default_komi()


def _turns(fields: Fields, last: int) -> dict[int, int]:
    """Return the turns to analyse in order, with their priorities; a turn listed twice has its later priority."""
    if "priority" in fields and "priorities" in fields:
        raise QueryError("priority", "cannot specify both priority and priorities")
    priority = fields.integer("priority", -MAX_PRIORITY, MAX_PRIORITY) if "priority" in fields else 0
    if "analyzeTurns" not in fields:
        if "priorities" in fields:
            raise QueryError("priorities", "can only be given together with analyzeTurns")
        return {last: priority}
    numbers = fields.integers("analyzeTurns", 0, last)
    priorities = [priority] * len(numbers)
    if "priorities" in fields:
        priorities = fields.integers("priorities", -MAX_PRIORITY, MAX_PRIORITY)
        if len(priorities) != len(numbers):
            expected = f"{len(numbers)} priorities, one for each entry of analyzeTurns"
            raise QueryError("priorities", problem(f"{len(priorities)} priorities", expected=expected))
    return dict(sorted(dict(zip(numbers, priorities, strict=True)).items()))


def _settings(fields: Fields, config: Config) -> tuple[Config, list[dict[str, str]]]:
    """Return the configuration for this query, and warnings about settings of overrideSettings."""
    settings = fields.value("overrideSettings") if "overrideSettings" in fields else {}
    if not isinstance(settings, dict):
        raise fields.error("overrideSettings", "an object")
    try:
        config, unknown = with_katago_settings(config, settings)
    except ConfigError as error:
        raise QueryError("overrideSettings", f"could not set settings: {error}") from None
    direct: dict[str, object] = {}
    if "maxVisits" in fields:
        direct["maxVisits"] = fields.integer("maxVisits", 1, MAX_VISITS)
    if "analysisPVLen" in fields:
        direct["analysisPVLen"] = fields.integer("analysisPVLen", 1, _MAX_PV)
    if "rootFpuReductionMax" in fields:
        direct["rootFpuReductionMax"] = fields.number("rootFpuReductionMax", 0.0, 2.0)
    if "rootPolicyTemperature" in fields:
        temperature = fields.number("rootPolicyTemperature", 0.01, 100.0)
        direct |= {"rootPolicyTemperature": temperature, "rootPolicyTemperatureEarly": temperature}
    config, _ = with_katago_settings(config, direct)
    if _PLAYOUTS in settings:  # a search begins without a tree, so its playouts are its visits
        override = Fields(settings, name="overrideSettings", field="overrideSettings")
        most = override.integer(_PLAYOUTS, 1, MAX_VISITS)
        config = config.with_values({"analysis.analysis_visits": min(most, config.analysis.analysis_visits)})
    names = ", ".join(shown(n) for n in unknown if n != _PLAYOUTS and not UNUSED_BY_ANALYSES.fullmatch(n))
    lines = [nearest_profile_line(settings.get("humanSLProfile")), names and f"unknown settings, ignored: {names}"]
    return config, [{"field": "overrideSettings", "warning": line} for line in lines if line]


def _restrictions(fields: Fields, game: Game) -> tuple[Restriction, ...]:
    """Return the moves to leave out, from avoidMoves or allowMoves."""
    given = [name for name in ("allowMoves", "avoidMoves") if name in fields]
    if not given:
        return ()
    if len(given) > 1:
        raise QueryError("allowMoves", "cannot specify both allowMoves and avoidMoves")
    (name,), is_allowed = given, "allowMoves" in given
    everything = frozenset((PASS, *board_points(game.width, game.height)))
    restrictions = []
    for entry in fields.objects(name, _RESTRICTIONS):
        if any(key not in entry for key in ("player", "moves", "untilDepth")):
            raise QueryError(name, f"expected {_RESTRICTIONS}")
        points = frozenset(entry.points("moves", width=game.width, height=game.height))
        depth = entry.integer("untilDepth", 1, MAX_DEPTH)
        restrictions.append(Restriction(entry.color("player"), everything - points if is_allowed else points, depth))
    colors = [restriction.color for restriction in restrictions]
    if is_allowed and len(colors) != len(set(colors)):
        raise QueryError(name, "allowMoves may be specified only once for a player")
    return tuple(restrictions)


def _first_illegal(query: Query) -> tuple[int, str] | None:
    """Return the number (from 0) of the first move that cannot be played and why, None if all of them can."""
    game = query.game_at(0)
    for number, move in enumerate(query.moves):
        try:
            game.play(move, tolerant=not query.config.game.strict)
        except IllegalMoveError as error:
            reason = str(error).removeprefix("illegal move: ")
            return number, f"Illegal move {number}: {reason}"  # KaTrain looks for these words
    return None
