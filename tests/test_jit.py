"""Calls of kernels, and the start of numba while other threads import packages."""

import subprocess
import sys
from typing import Any

from numpy import float32

from gtp_engine.compiled.jit import KernelCall, interpret_until_loaded, kernel

PROGRAM = """
import builtins
from numba.core import base

add_symbol = base.ll.add_symbol

def add_and_change(name, address):
    if name.startswith("PyExc_"):  # numba goes through the built-in names
        vars(builtins).setdefault("added_meanwhile", None)
    add_symbol(name, address)

base.ll.add_symbol = add_and_change

from gtp_engine import Game

print(Game(9).is_legal(45))
"""


def test_kernels_load_while_another_thread_adds_a_builtin_name() -> None:
    """The import of onnxruntime does; `gtp-engine analysis` lost its first query by this in 1 of 25 starts."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=400)
    assert (done.stdout, done.returncode) == ("True\n", 0), done.stderr


@kernel
def half(number: float) -> float:
    """Return half of a number."""
    return number / 2


def test_each_engine_is_told_once_of_a_kernel_which_is_then_called_by_the_classes_of_its_arguments() -> None:
    """Later calls skip numba's look at the types: other classes must not meet the code of those before."""
    told: list[KernelCall] = []
    for _ in ("one engine", "another in the same process"):
        interpret_until_loaded(told.append)
        assert (half(3.0), half(5.0)) == (1.5, 2.5)
    interpret_until_loaded(None)
    assert [call.arguments for call in told] == [(3.0,), (3.0,)]
    numbers: list[Any] = [3.0, 5.0, 7, 1.0, float32(2.5), 3]
    assert [half(number) for number in numbers] == [1.5, 2.5, 3.5, 0.5, 1.25, 1.5]
