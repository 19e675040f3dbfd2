"""Structures of arrays for kernels: tuples whose fields say the lengths of their axes, as numbers or by name.

class Work(NamedTuple):
    queue: Annotated[NDArray[np.int32], "n"]  # points
    pairs: Annotated[NDArray[np.int8], "B", 2]
    other: OtherWork  # a structure of the same kind, with lengths of the same names

work = zeros(Work, n=103, B=8)
"""

from functools import cache
from typing import Any, TypeVar, get_args, get_type_hints

import numpy as np

T = TypeVar("T", bound=tuple[Any, ...])


def zeros(kind: type[T], **given: Any) -> T:
    """Return a structure of zeros; `given` are the lengths by their names, and the fields that are something else."""
    made = []
    for name, numbers, axes in _fields(kind):
        if name in given:
            made.append(given[name])
        elif axes:
            made.append(np.zeros([given.get(axis, axis) for axis in axes], dtype=numbers))
        else:
            made.append(zeros(numbers, **given))
    return kind(*made)


def copy_used(target: T, source: T, **used: int) -> None:
    """Copy the first entries of arrays to others as long or longer: as many as are `used` of their first axes, by name.

    Arrays whose first axis is not named stay as they are.
    """
    for own, other, (_name, _numbers, axes) in zip(target, source, _fields(type(source)), strict=True):
        if not axes:
            copy_used(own, other, **used)
        elif axes[0] in used:
            own[: used[axes[0]]] = other[: used[axes[0]]]


@cache
def _fields(kind: type[tuple[Any, ...]]) -> list[tuple[str, Any, tuple[Any, ...]]]:
    """Return the name, the kind of numbers and the axes of each field; one without axes is a structure, or given."""
    fields = []
    for name, hint in get_type_hints(kind, include_extras=True).items():
        axes = getattr(hint, "__metadata__", ())
        numbers = getattr(hint, "__origin__", hint)
        while arguments := get_args(numbers):  # NDArray[X] is ndarray[..., dtype[X]], from NumPy 2.5 on an alias with X
            numbers = arguments[-1]
        fields.append((name, numbers, axes))
    return fields
