"""Former names of public methods, which go on working for one minor version and warn meanwhile.

Former names of the package itself stand in `gtp_engine.__init__`, which loads what it exports by name.
"""

import warnings
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def former_name(name: str, function: Callable[P, R], *, gone: str) -> Callable[P, R]:
    """Return a function under a former name, of which each call warns.

    `gone` is the version without it, the minor version after the one that renames; a test demands its removal then.
    """

    @wraps(function)
    def call(*args: P.args, **named: P.kwargs) -> R:
        now = f"{name} is now {function.__qualname__}; the former name goes with version {gone}"
        warnings.warn(now, DeprecationWarning, stacklevel=2)
        return function(*args, **named)

    call.__doc__ = f"Do the same as `{function.__name__}`, whose former name this is; it goes with version {gone}."
    return call
