"""The 8-bit copy of a network where this processor gains from one: whether it is missing, and who makes it behind.

Making it belongs to `training.quantization`, which this module starts as a process and calls by name (`plug_ins`).
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from gtp_engine.base.machine import describe_machine
from gtp_engine.compiled.kernel_cache import kept_network, package_environment
from gtp_engine.nn.network_files import FLOAT, QUANTIZED, find_networks, quantize_command
from gtp_engine.nn.onnx_model import installed_providers
from gtp_engine.nn.plug_ins import FASTER_COPY
from gtp_engine.nn.providers import Provider, can_gain_from_int8, choose_runtimes
from gtp_engine.nn.quantized_copy import LOG_NAME, UnfinishedCopy, can_be_quantized, quantized_path, trial_key

_PROGRAM: Final = f"from {FASTER_COPY} import main; main()"
"""The program of the process that makes a copy behind."""

_DETACHED_ON_WINDOWS: Final = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(subprocess, "IDLE_PRIORITY_CLASS", 0)


def provider_here() -> tuple[Provider, list[str] | None]:
    """Return the provider that runs float32 networks here, and the processor's instruction sets."""
    simd = describe_machine()["simd"]
    runtimes = choose_runtimes("auto", "auto", networks=[FLOAT], available=installed_providers(), simd=simd)
    return runtimes[0].provider, simd


def may_need_copy(path: Path) -> bool:
    """Return whether a float32 network file has no 8-bit copy, and this machine may gain from one.

    Raises ModelError if the network cannot be read.
    """
    files = find_networks(path)["policy"]
    return QUANTIZED not in files.paths and can_be_quantized(files.info) and can_gain_from_int8(*provider_here())


def begin_faster_copy(path: Path) -> str:
    """Begin to make the 8-bit copy that is missing, in another process; return a sentence for the user, or "".

    The process steps aside for all others and outlives this one.  Raises ModelError if the network cannot be read.
    """
    if not may_need_copy(path) or kept_network(trial_key(path)) is not None:
        return ""
    unfinished = UnfinishedCopy(quantized_path(path))
    command = f"`{quantize_command(path)}`"
    if unfinished.is_being_made:
        return f"An 8-bit copy is being made in the background ({unfinished.progress})."
    try:
        unfinished.folder.mkdir(exist_ok=True)
        with (unfinished.folder / LOG_NAME).open("ab") as log:
            subprocess.Popen(
                [sys.executable, "-P", "-c", _PROGRAM, str(path.absolute())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=package_environment(dict(os.environ)),
                start_new_session=True,
                creationflags=_DETACHED_ON_WINDOWS,
            )
    except OSError as error:
        return f"An 8-bit copy cannot be made in the background ({error.strerror or error}): {command} makes it."
    return f"If faster, an 8-bit copy is made in the background (--no-int8: none); if stopped, {command} goes on."
