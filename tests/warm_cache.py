"""Kernels compiled in advance, as users do it, by `gtp-engine warmup`: no kernel is loaded in this process."""

import functools
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import gtp_engine

ROOT: Final = Path(gtp_engine.__file__).parents[1]
ALPHAGO: Final = ("--model", str(ROOT / "models" / "alphago-9x9"), "--board-size", "9")

STARTS: Final = {
    "network": (),
    "other-network": ALPHAGO,
    "rollouts": ("--search", "rave"),
    "other-network-rollouts-auto-weights": (*ALPHAGO, "--rollout-share", "0.5"),
    "network-rollouts-auto": ("--rollout-share", "0.5", "--model", str(ROOT / "models" / "tengen-9x9.onnx")),
}
"""The flags of some kinds of starts, in the order in which two at a time keep two cores at work."""


@functools.cache
def compile_once(kind: str) -> None:
    """Compile the kernels for a kind of start, unless they are in the cache, so that engines search as configured."""
    from gtp_engine.compiled.kernel_cache import is_cache_filled

    if not is_cache_filled(kind):
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        subprocess.run([sys.executable, "-m", "gtp_engine", "warmup", *STARTS[kind]], env=environment, check=True)
        assert is_cache_filled(kind)
