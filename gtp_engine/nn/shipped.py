"""The networks that ship with the engine: the default one, and others that `--model` may name.

The folder `models` lies beside the package in a checkout, and inside it in an installed engine.  It holds the
default network in float32 and quantized to 8 bits (`providers` chooses), folders with other networks, and a README
about their origin.
"""

from pathlib import Path
from typing import Final

from gtp_engine.errors import ModelError, problem, shown_path
from gtp_engine.nn.quantized_copy import is_quantized_copy

FOLDER_NAME: Final = "models"

_PACKAGE: Final = Path(__file__).parents[1]
PLACES: Final = (_PACKAGE / FOLDER_NAME, _PACKAGE.parent / FOLDER_NAME)
"""An installed engine's folder, a checkout's."""


def shipped_networks() -> dict[str, Path]:
    """Return the paths of all shipped networks by their names: those of files without suffix, and of folders.

    The 8-bit copy of a network has no name of its own.
    """
    found: dict[str, Path] = {}
    for place in PLACES:
        for file in sorted(place.glob("*.onnx")):
            if is_quantized_copy(file):
                continue
            found.setdefault(file.stem, file)
        for file in sorted(place.glob("*/*.onnx")):
            found.setdefault(file.parent.name, file.parent)
    return found


def shipped_folder() -> Path:
    """Return the folder of the default network; raises ModelError if it was removed."""
    for place in PLACES:
        if any(place.glob("*.onnx")):
            return place
    raise ModelError(
        problem(
            f"the network that ships with the engine is missing from {shown_path(PLACES[0])}",
            advice="install the engine again, name a network with --model, or play without one: --search rave",
        )
    )
