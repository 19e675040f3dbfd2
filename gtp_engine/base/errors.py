"""The exception tree: every error the engine raises on purpose.

    TengenError
    ├── InvalidVertexError   (ValueError)   text or coordinates that are not a point of the board
    ├── InvalidColorError    (ValueError)   neither black nor white, as text or as a number
    ├── InvalidSizeError     (ValueError)   a board size outside the limits
    ├── RulesError           (ValueError)   an unknown rule set, rule or value, or rules that do not go together
    ├── KomiError            (ValueError)   a komi that is not a finite number
    ├── IllegalMoveError     (ValueError)   a move the rules forbid; carries `reason`
    ├── HandicapError        (ValueError)   a handicap the board cannot hold, or a bad list of stones
    ├── SgfError             (ValueError)   a record that cannot be read or written
    ├── ConfigError          (ValueError)   an unknown option or a value outside its bounds
    ├── ModelError           (ValueError)   a network file that cannot be read or used
    ├── TimeSettingsError    (ValueError)   time settings that make no sense
    ├── ArgumentError        (TypeError)    an argument of a public function that is of another kind than expected
    ├── LimitError           (ValueError)   a limit of a search that is not a number above 0
    ├── EngineError                         another program that plays has failed; its label and command are named
    │   ├── EngineStartError                it cannot be run or reached
    │   ├── EngineDiedError                 it has ended, closed its output or been closed
    │   ├── EngineTimeoutError              it did not reply in time, and was ended
    │   └── CommandFailedError              it refused a command; carries `reply`
    ├── WorkerError                         a process or another machine that failed or could not be reached
    ├── TaskError                           what was handed to one and cannot be done, while all else can
    ├── EngineBusyError                     a method of an engine that another thread is using
    ├── GameStateError                      what the state of a game against the engine does not allow
    ├── BoardNotEmptyError                  an operation that needs an empty board, on another one
    └── CannotUndoError                     more moves to take back than were played

Errors about a value are also `ValueError`, so that a user of the library may catch either.  An exception outside
this tree is a bug of the engine, never a reply to the user.

Messages are one line, in the order *what was given, what was expected, what to do* (see `problem`), because GTP's `?`
replies and the command line show them unchanged.
"""

import copyreg
import json
import re
from numbers import Integral, Real
from os import PathLike, fspath
from typing import Any, Final, TypeVar

__all__ = [
    "ArgumentError", "BoardNotEmptyError", "CannotUndoError", "CommandFailedError", "ConfigError", "EngineBusyError",
    "EngineDiedError", "EngineError", "EngineStartError", "EngineTimeoutError", "GameStateError", "HandicapError",
    "IllegalMoveError", "InvalidColorError", "InvalidSizeError", "InvalidVertexError", "KomiError", "LimitError",
    "ModelError", "RulesError", "SgfError", "TaskError", "TengenError", "TimeSettingsError", "WorkerError"
]  # fmt: skip

T = TypeVar("T")

SHOWN_VALUE_LENGTH: Final = 60
"""Longest part of a given value repeated in a message, in characters: a megabyte of junk must not be echoed."""

SHOWN_PATH_LENGTH: Final = 1000
"""Longest path repeated in a message, in characters; a longer one is not a path that a user typed."""


class TengenError(Exception):
    """Base of every error raised on purpose; `str(error)` is one line for the user, see `problem`."""

    def __init__(self, given: str = "", *, expected: str = "", advice: str = "") -> None:
        super().__init__(problem(given, expected=expected, advice=advice))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle message and fields, which so survive a process boundary, whatever the constructor takes."""
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]


class InvalidVertexError(TengenError, ValueError):
    """The text or the coordinates are not a point of the board."""


class InvalidColorError(TengenError, ValueError):
    """The text or the number stands for neither black nor white."""


class InvalidSizeError(TengenError, ValueError):
    """The board size lies outside the limits of `go.constants`."""


class RulesError(TengenError, ValueError):
    """No such rule set, rule or value, or rules that do not go together."""


class KomiError(TengenError, ValueError):
    """The komi is not a finite number."""


class IllegalMoveError(TengenError, ValueError):
    """The rules forbid the move.

    `reason` is one word for programs: "occupied", "ko", "superko", "suicide" or, when nothing more is known, "illegal".
    The message is for the user and defaults to the reason.
    """

    def __init__(self, reason: str, message: str | None = None) -> None:
        self.reason = reason
        super().__init__(message if message is not None else f"illegal move: {reason}")


class HandicapError(TengenError, ValueError):
    """The board cannot hold the handicap, or the list of handicap stones is unusable."""


class SgfError(TengenError, ValueError):
    """The game record cannot be read or written."""


class ConfigError(TengenError, ValueError):
    """No such option, or a value outside its type, bounds or choices."""


class ModelError(TengenError, ValueError):
    """The network file cannot be read or used."""


class ArgumentError(TengenError, TypeError):
    """An argument of a public function or method is of another kind than its annotation says."""


class LimitError(TengenError, ValueError):
    """A limit of a search is not a number above 0."""


class EngineError(TengenError):
    """Another program that plays has failed; the message begins with its label and names the command."""


class EngineStartError(EngineError):
    """The engine's command cannot be run, or its address cannot be reached."""


class EngineDiedError(EngineError):
    """The engine exited or closed its output before its reply, or has been closed, or belongs to another process."""


class EngineTimeoutError(EngineError):
    """The engine did not reply in time; it has been killed."""


class CommandFailedError(EngineError):
    """The engine refused a command; `reply` is what it said."""

    def __init__(self, message: str, *, reply: str) -> None:
        self.reply = reply
        super().__init__(message)


class WorkerError(TengenError):
    """A process or another machine that failed or ended unexpectedly, or could not be reached."""


class TaskError(TengenError):
    """A task that ended the processes that did it, or raised what ought not to be raised; others are not concerned."""


class TimeSettingsError(TengenError, ValueError):
    """The time settings make no sense (negative, not a number, overtime without stones, a cap below the start)."""


class EngineBusyError(TengenError):
    """Another thread is using the engine, which serves one at a time."""


class GameStateError(TengenError):
    """The state of a game against the engine does not allow this now, such as a move after its end."""


class BoardNotEmptyError(TengenError):
    """An operation that needs an empty board was called on another one."""


class CannotUndoError(TengenError):
    """More moves were to be taken back than have been played; handicap and set-up stones are not moves."""


def shown(value: object, *, length: int = SHOWN_VALUE_LENGTH) -> str:
    """Return `value` quoted for a message: on one line, printable, cut to `length` characters."""
    try:
        text = value if isinstance(value, str) else repr(value)
    except ValueError:  # an integer of more than 4300 digits
        text = f"<{type(value).__name__}>"
    if len(text) > length:
        text = text[:length] + "…"
    printable = "".join(char if char.isprintable() else "?" for char in text)
    return f"'{printable}'" if isinstance(value, str) else printable


def shown_json(value: object) -> str:
    """Return a value from JSON for a message as `shown` does, in JSON's words: null, true, ["B"]."""
    return shown(value) if isinstance(value, str) else shown(json.dumps(value, ensure_ascii=False))[1:-1]


def shown_path(path: str | PathLike[str]) -> str:
    """Return a path quoted for a message: whole, because a shortened path does not help; of a huge one its end."""
    text = fspath(path)
    return shown(text if len(text) <= SHOWN_PATH_LENGTH else "…" + text[-SHOWN_PATH_LENGTH:], length=len(text))


def counted(number: int, noun: str) -> str:
    """Return a number of things: "1 game", "1,200 games"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def problem(given: str, *, expected: str = "", advice: str = "") -> str:
    """Return a one-line message: what was given, what was expected, what to do.

    >>> problem("komi 'nan'", expected="a finite number")
    "komi 'nan': expected a finite number"
    >>> problem("option search.visit", expected="a known option", advice="did you mean search.visits?")
    'option search.visit: expected a known option; did you mean search.visits?'
    """
    message = given
    if expected:
        message += f": expected {expected}"
    if advice:
        message += f"; {advice}"
    return message


def of_kind(value: T, kind: type, what: str) -> T:
    """Return an argument that is of this kind; raises ArgumentError for any other."""
    if isinstance(value, kind):
        return value
    words: dict[type, str] = {str: "text", bytes: "bytes", Integral: "an integer", Real: "a number"}
    raise ArgumentError(f"{what} {shown(value)}", expected=words.get(kind, f"a {kind.__name__}"))


def refuse_copy(engine: object) -> str:
    """Raise ArgumentError: the `__reduce__` of what is not copied or pickled."""
    raise ArgumentError("an engine is not copied or pickled", advice="make one where it is used")


_LONE_BACKSLASH: Final = re.compile(r'"(?:[^"\\\n]|\\\\)*\\[^\\"]')
"""In TOML's double quotes, where a path of Windows needs two."""


def toml_advice(text: str) -> str:
    """Return what may help where TOML text has a mistake, "" if nothing does: often a path of Windows is the cause."""
    return "put a path with backslashes in single quotes" if _LONE_BACKSLASH.search(text) else ""
