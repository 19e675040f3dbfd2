"""Former names of public methods and modules, which go on working until the next major version and warn meanwhile."""

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from importlib import import_module
from importlib.machinery import ModuleSpec
from operator import attrgetter
from types import ModuleType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from importlib.abc import Loader
else:  # half of the time of `import gtp_engine` would go into that module
    Loader = object

P = ParamSpec("P")
R = TypeVar("R")


def former_name(name: str, function: Callable[P, R], *, gone: str, now: str = "") -> Callable[P, R]:
    """Return a function under a former name, of which each call warns.

    `gone` is the version without it, the major version after the one that renames; a test demands its removal then.
    `now` is what does the same today, by default the function itself.
    """

    @wraps(function)
    def call(*args: P.args, **named: P.kwargs) -> R:
        message = f"{name} is now {now or function.__qualname__}; the former name goes with version {gone}"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return function(*args, **named)

    call.__doc__ = f"Do the same as `{now or function.__name__}`, whose former name this is until version {gone}."
    return call


def former_property(owner: str, name: str, now: str, *, gone: str) -> Any:
    """Return a property under a former name, of which each use warns; see `former_name`."""
    return property(former_name(f"{owner}.{name}", attrgetter(now), gone=gone, now=now))


class FormerModules(Loader):
    """Imports modules of a package under their former names, which warns; their own modules with them.

    `moved` has the former name and the name now, both below the package; `gone` is the version without the former ones.
    """

    def __init__(self, package: str, moved: Mapping[str, str], *, gone: str) -> None:
        self._package = package
        self._moved = moved
        self._gone = gone

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return that this loads a former name; None for any other."""
        return ModuleSpec(fullname, self) if self._name_now(fullname) else None

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to Python to make an empty module."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the module that has moved in place of an empty one."""
        former, now = module.__name__, self._name_now(module.__name__)
        message = f"{former} is now {now}; the former name goes with version {self._gone}"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        sys.modules[former] = import_module(now)

    def _name_now(self, fullname: str) -> str:
        """Return what a former name stands for, "" for a name that has not moved."""
        package, *names = fullname.split(".")
        if package != self._package or not names or names[0] not in self._moved:
            return ""
        return ".".join([package, self._moved[names[0]], *names[1:]])
