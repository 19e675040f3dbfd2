"""Structures of arrays, as NumPy names their types before 2.5 and since."""

from typing import Annotated, Any, NamedTuple, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray
from typing_extensions import TypeAliasType

from gtp_engine.compiled.arrays import copy_used, zeros

Scalar = TypeVar("Scalar", bound=np.generic)
Alias: Any = TypeAliasType("Alias", NDArray[Scalar], type_params=(Scalar,))
OfArray: Any = np.ndarray[tuple[Any, ...], np.dtype[Scalar]]


@pytest.mark.parametrize("array", [NDArray, Alias, OfArray])
def test_fields_have_the_numbers_and_the_axes_that_they_name(array: Any) -> None:
    fields = [("queue", Annotated[array[np.int32], "n"]), ("pairs", Annotated[array[np.uint8], "B", 2]), ("seed", int)]
    work: Any = zeros(NamedTuple("Work", fields), n=7, B=3, seed=5)
    assert [(each.dtype, each.shape) for each in work[:2]] == [(np.int32, (7,)), (np.uint8, (3, 2))]
    assert not work.queue.any() and work.seed == 5


def test_the_entries_in_use_are_copied_to_a_larger_structure() -> None:
    inner: Any = NamedTuple("Inner", [("ages", Annotated[NDArray[np.int8], "N"])])
    pairs, info = Annotated[NDArray[np.int8], "N", 2], Annotated[NDArray[np.int8], 2]
    kind: Any = NamedTuple("Outer", [("inner", inner), ("pairs", pairs), ("info", info)])
    small, large = (zeros(kind, N=length) for length in (3, 5))
    for array in (small.inner.ages, small.pairs, small.info):
        array[:] = 1
    copy_used(large, small, N=2)
    assert large.inner.ages.tolist() == [1, 1, 0, 0, 0]
    assert large.pairs.sum() == 4 and not large.info.any()
