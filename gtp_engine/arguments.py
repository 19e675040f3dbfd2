"""Arguments of the public interface: what does not fit a parameter's annotation is refused by a TengenError.

    @checked
    class Game:
        def play(self, move: Move | int | str, ...) -> Move: ...

    game.play(None)   # ArgumentError: Game.play: move None: expected a Move, an integer or a text

Only the kind of a value is looked at, not what is in it: that a text names a point is checked where it is read.  Kinds
that have passed once are remembered for each parameter, so that a call costs less than a microsecond more.
"""

import types
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import Parameter, signature
from numbers import Integral, Real
from typing import Any, Final, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from gtp_engine.errors import ArgumentError, problem, shown

T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")

_NAMES: Final[dict[object, str]] = {
    int: "an integer",
    float: "a number",
    str: "a text",
    bytes: "bytes",
    bool: "True or False",
    type(None): "None",
    types.EllipsisType: "...",
}


def former_name(name: str, function: Callable[P, R], *, gone: str) -> Callable[P, R]:
    """Return a function under a former name, of which each call warns; for a method of a `checked` class.

    `gone` is the version without it, the minor version after the one that renames; a test demands its removal then.
    """

    @wraps(function)
    def call(*args: P.args, **named: P.kwargs) -> R:
        now = f"{name} is now {function.__qualname__}; the former name goes with version {gone}"
        warnings.warn(now, DeprecationWarning, stacklevel=3)
        return function(*args, **named)

    call.__doc__ = f"Do the same as `{function.__name__}`, whose former name this is; it goes with version {gone}."
    return call


def checked(target: T) -> T:
    """Return a function, or a class with its public methods, that raises ArgumentError for arguments of other kinds."""
    if not isinstance(target, type):
        return _checked_function(target)  # type: ignore[return-value, arg-type]
    for name, value in list(vars(target).items()):
        if name.startswith("_") and name not in ("__init__", "__new__"):
            continue
        if isinstance(value, staticmethod | classmethod):
            setattr(target, name, type(value)(_checked_function(value.__func__)))
        elif isinstance(value, property) and value.fset is not None:
            setattr(target, name, property(value.fget, _checked_function(value.fset), None, value.__doc__))
        elif isinstance(value, types.FunctionType):
            setattr(target, name, _checked_function(value))
    return target


def _checked_function(function: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[str, set[type]] = {}
    order: list[tuple[str, set[type]]] = []
    hints: dict[str, Any] = {}
    more: dict[int, str] = {}

    def learn() -> None:
        """Look at the annotations, at the first call only: they may name what is defined later."""
        try:
            hints.update(get_type_hints(function))
        except NameError:  # a name for type checkers only
            hints.update(function.__annotations__)
        for name, parameter in signature(function).parameters.items():
            known[name] = set()
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                order.append((name, known[name]))
            elif parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                more[parameter.kind] = name

    def check(name: str, value: object, args: tuple[Any, ...], given_as: str = "") -> None:
        hint = hints.get(name, Any)
        if not _fits(value, hint):
            given = f"{_title(function, args)}: {given_as or name} {shown(value)}"
            raise ArgumentError(problem(given, expected=_described(hint)))
        known[name].add(type(value))

    @wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        if not known:
            learn()
        for (name, kinds), value in zip(order, args, strict=False):
            if type(value) not in kinds:
                check(name, value, args)
        for value in args[len(order) :] if Parameter.VAR_POSITIONAL in more else ():
            check(more[Parameter.VAR_POSITIONAL], value, args)
        for name, value in named.items():
            if name not in known and Parameter.VAR_KEYWORD in more:
                check(more[Parameter.VAR_KEYWORD], value, args, name)
            elif type(value) not in known.get(name, (type(value),)):
                check(name, value, args)
        return function(*args, **named)

    return call


def _title(function: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """Return the name of a function; that of a method with the class on which it was called, which may inherit it."""
    owner, _, name = function.__qualname__.rpartition(".")
    kind = args[0] if args and isinstance(args[0], type) else type(args[0]) if args else object
    if any(each.__name__ == owner for each in kind.__mro__):
        owner = kind.__name__
    return ".".join(part for part in (owner, name) if part not in ("", "__init__"))


def _fits(value: object, hint: Any) -> bool:
    """Return whether a value is of the kind that an annotation names; what cannot be decided fits."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return any(_fits(value, part) for part in get_args(hint))
    kind = origin or hint
    if kind is float or kind is int:
        return isinstance(value, Real if kind is float else Integral) and not isinstance(value, bool)
    if kind is Callable:
        return callable(value)
    if kind is Any or not isinstance(kind, type):
        return True
    if getattr(kind, "_is_protocol", False):
        return all(hasattr(value, name) for name in vars(kind) if not name.startswith("_"))
    if type(value) in (str, bytes) and kind not in (str, bytes):  # no list of characters, as Iterable would allow
        return isinstance(value, kind) and not issubclass(kind, Iterable)
    return isinstance(value, kind)


def _described(hint: Any) -> str:
    """Return the kinds that an annotation names, for a message."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        *names, last = (_described(part) for part in parts)
        return f"{', '.join(names)} or {last}"
    kind = origin or hint
    if kind in _NAMES:
        return _NAMES[kind]
    if kind is Callable:
        return "a function"
    if isinstance(kind, type) and issubclass(kind, Mapping):
        return "a dictionary"
    if isinstance(kind, type) and issubclass(kind, Iterable) and parts and origin is not None:
        return f"several values ({_described(parts[0])} each)"
    name = getattr(kind, "__name__", str(kind))
    return f"{'an' if name[:1] in 'AEIOU' else 'a'} {name}"
