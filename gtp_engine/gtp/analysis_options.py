"""The arguments of the analyze commands: whose move, how often to report, what to show, which moves to leave out.

    lz-analyze [COLOR] [CENTISECONDS] {KEY VALUE}
    kata-analyze b 50 maxmoves 10 ownership true avoid w D4,Q16 3

Keys and grammar are KataGo's (`docs/GTP_Extensions.md`): interval, minmoves, maxmoves, avoid and allow for all, the
rest for the kata- commands.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from gtp_engine.clock import read_number
from gtp_engine.errors import problem, shown
from gtp_engine.go.constants import PASS
from gtp_engine.go.coords import board_points, format_color, parse_color, parse_vertex
from gtp_engine.gtp.args import color_or_none, parse_integer
from gtp_engine.gtp.protocol import GtpError

if TYPE_CHECKING:
    from gtp_engine.go.game import Game
    from gtp_engine.search.limits import Restriction

SHORTEST_INTERVAL: Final = 0.01
"""Seconds; shorter intervals between reports are raised to this, which is faster than any front end draws."""

LONGEST_INTERVAL: Final = 1e9
"""Seconds; a longer interval is refused."""

FLAGS: Final = (
    "rootInfo",
    "ownership",
    "ownershipStdev",
    "movesOwnership",
    "movesOwnershipStdev",
    "pvVisits",
    "pvEdgeVisits",
    "noResultValue",
)
"""Keys of the kata- commands that are followed by true or false."""

_BOOLEANS: Final = {"true": True, "false": False, "1": True, "0": False}


@dataclass(frozen=True, slots=True)
class AnalysisOptions:
    """The arguments of an analyze command; without an `interval` (seconds) the search sends no reports."""

    color: int | None = None
    interval: float | None = None
    min_moves: int = 0
    max_moves: int | None = None
    flags: frozenset[str] = frozenset()
    """Those of `FLAGS` that are true."""
    restrictions: "tuple[Restriction, ...]" = ()
    allowed: frozenset[int] = frozenset()
    """The colors whose restrictions are those of `allow`."""


def parse_analysis(words: tuple[str, ...], game: "Game", *, is_kata: bool) -> AnalysisOptions:
    """Return the arguments of an analyze command; raises GtpError, InvalidColorError or InvalidVertexError."""
    options = AnalysisOptions()
    position = 0
    if position < len(words) and (color := color_or_none(words[position])) is not None:
        options, position = replace(options, color=color), position + 1
    if position < len(words) and read_number(words[position]) >= 0:
        options, position = replace(options, interval=_interval(words[position])), position + 1
    rest = iter(words[position:])
    for key in rest:
        options = _with_key(options, key, rest, game, is_kata=is_kata)
    return options


def _with_key(
    options: AnalysisOptions, key: str, rest: Iterator[str], game: "Game", *, is_kata: bool
) -> AnalysisOptions:
    """Return the options with one key set, its values taken from `rest`."""
    if key == "interval":
        return replace(options, interval=_interval(_next(rest, key)))
    if key == "minmoves":
        return replace(options, min_moves=_count(_next(rest, key), key))
    if key == "maxmoves":
        return replace(options, max_moves=_count(_next(rest, key), key))
    if key in FLAGS and is_kata:
        return replace(options, flags=options.flags | {key} if _flag(_next(rest, key), key) else options.flags - {key})
    if key in ("avoid", "allow"):
        return _with_restriction(options, key, rest, game)
    known = ["interval", "minmoves", "maxmoves", "avoid", "allow", *(FLAGS if is_kata else ())]
    raise GtpError(problem(f"syntax error: {shown(key)}", expected=f"one of {', '.join(known)}"))


def _with_restriction(options: AnalysisOptions, key: str, rest: Iterator[str], game: "Game") -> AnalysisOptions:
    """Return the options without the moves of `avoid COLOR VERTEX,... DEPTH`, or without all others for `allow`."""
    from gtp_engine.search.limits import Restriction  # here: it needs numpy, which comes with the engine

    color = parse_color(_next(rest, key))
    vertices = [word for word in _next(rest, key).split(",") if word]
    named = frozenset(parse_vertex(word, width=game.width, height=game.height) for word in vertices)
    depth = parse_integer(_next(rest, key), failure=f"syntax error in {key}", expected="a depth in moves")
    if depth < 1:
        raise GtpError(problem(f"syntax error in {key}: depth {depth}", expected="1 or more"))
    allowed = options.allowed
    if color in allowed or (key == "allow" and any(known.color == color for known in options.restrictions)):
        expected = "one allow or any number of avoid for a color, not both"
        raise GtpError(problem(f"syntax error in {key}: {format_color(color)} again", expected=expected))
    if key == "allow":
        allowed |= {color}
        named = frozenset((*board_points(game.width, game.height), PASS)) - named
    restrictions = (*options.restrictions, Restriction(color, named, depth))
    return replace(options, restrictions=restrictions, allowed=allowed)


def _interval(word: str) -> float:
    """Return the seconds in a number of centiseconds."""
    value = read_number(word)
    if not 0 <= value <= 100 * LONGEST_INTERVAL:
        raise GtpError(problem(f"syntax error in interval: got {shown(word)}", expected="centiseconds, 0 or more"))
    return max(SHORTEST_INTERVAL, value / 100)


def _count(word: str, key: str) -> int:
    count = parse_integer(word, failure=f"syntax error in {key}", expected="a number of moves")
    if count < 0:
        raise GtpError(problem(f"syntax error in {key}: got {count}", expected="0 or more"))
    return count


def _flag(word: str, key: str) -> bool:
    if word.lower() not in _BOOLEANS:
        raise GtpError(problem(f"syntax error in {key}: got {shown(word)}", expected="true or false"))
    return _BOOLEANS[word.lower()]


def _next(rest: Iterator[str], key: str) -> str:
    word = next(rest, None)
    if word is None:
        raise GtpError(problem(f"syntax error: {key} at the end", expected="a value after it"))
    return word
