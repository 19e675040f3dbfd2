"""Whether what only training needs is installed.  Imports none of it."""

import os
import shutil
from importlib.util import find_spec
from typing import Final

from gtp_engine.errors import ConfigError, problem

_COMPILERS: Final = ("g++", "clang++", "c++", "cl")


def check_torch() -> None:
    """Raise ConfigError, with one sentence, if PyTorch is missing."""
    if find_spec("torch") is None:
        raise ConfigError(problem("training needs PyTorch", advice='install it: pip install "gtp-engine[train]"'))


def check_compiler() -> None:
    """Raise ConfigError if there is no C++ compiler for torch to compile networks with."""
    if not any(shutil.which(name) for name in (os.environ.get("CXX", ""), *_COMPILERS) if name):
        names = ", ".join(_COMPILERS)
        raise ConfigError(problem("no C++ compiler", expected=f"one of {names}", advice="train without --compile"))
