"""The fields of a JSON query, read by type: a value of the wrong type or out of bounds raises QueryError.

`Fields` records which fields were read, so that the others can be reported as unexpected.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from gtp_engine.errors import InvalidColorError, InvalidVertexError, TengenError, problem, shown_json
from gtp_engine.go.constants import PASS, Move
from gtp_engine.go.coords import is_on_board, parse_color, parse_vertex, xy_to_point

_PAIRS: Final = 'a list of pairs such as ["B", "Q16"]'
_MISSING: Final = "(missing)"


class QueryError(TengenError):
    """A query that cannot be answered because of its field `field`."""

    def __init__(self, field: str, message: str) -> None:
        self.field: Final = field
        super().__init__(message)


class Fields:
    """Reads the fields of one JSON object; a value of another type or out of bounds raises QueryError."""

    def __init__(self, data: Mapping[str, Any], *, name: str = "") -> None:
        self._data: Final = data
        self._name: Final = name
        self._names_read: Final[set[str]] = set()

    def __contains__(self, name: str) -> bool:
        self._names_read.add(name)
        return name in self._data

    def value(self, name: str) -> Any:
        """Return the value as it is, None if the field is missing."""
        self._names_read.add(name)
        return self._data.get(name)

    def unexpected(self, more: Iterable[str] = ()) -> list[str]:
        """Return the fields that were not read, without those in `more`."""
        known = self._names_read.union(more)
        return [name for name in self._data if name not in known]

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
        value = self.value(name)
        try:
            return parse_color(value if isinstance(value, str) else "")
        except InvalidColorError:
            raise self.error(name, '"B" or "W"') from None

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
            try:
                color = parse_color(pair[0])
            except InvalidColorError:
                raise self.error(name, '"B" or "W"', given=pair[0]) from None
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
        value = self._data.get(name, _MISSING) if given is _MISSING else given
        text = _MISSING if value is _MISSING else shown_json(value)
        field = self._name or name
        return QueryError(field, problem(f"{f'{field}.{name}' if self._name else name} {text}", expected=expected))

    def _list(self, name: str, expected: str) -> list[Any]:
        value = self.value(name)
        if not isinstance(value, list):
            raise self.error(name, expected)
        return value

    def _checked_integer(self, name: str, value: Any, low: int, high: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.error(name, f"an integer from {low} to {high}", given=_MISSING if value is None else value)
        return value

    def _point(self, name: str, text: Any, *, width: int, height: int) -> int:
        if isinstance(text, str) and text.startswith("("):
            return self._point_from_numbers(name, text, width=width, height=height)
        try:
            return parse_vertex(text if isinstance(text, str) else "", width=width, height=height)
        except InvalidVertexError as error:
            raise QueryError(
                self._name or name, f"could not parse board location {shown_json(text)}: {error}"
            ) from None

    def _point_from_numbers(self, name: str, text: str, *, width: int, height: int) -> int:
        """Return the point of "(x,y)", KataGo's other notation, counted from 0 at the top left."""
        numbers = text.removeprefix("(").removesuffix(")").split(",")
        if len(numbers) == 2 and all(number.strip().isdecimal() for number in numbers):
            x, y = (min(int(number[:10]), math.prod((width, height))) for number in numbers)
            point = xy_to_point(x, y, width=width)
            if x < width and y < height and is_on_board(point, width=width, height=height):
                return point
        raise self.error(name, f"(x,y) with x below {width} and y below {height}", given=text)
