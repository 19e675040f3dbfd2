"""The networks that ship with the engine: the default one, and others that `--model` may name.

The folder `models` lies beside the package in a checkout, and inside it in an installed engine.  It holds the
default network, in float32 and perhaps in int8 too (`nn.loading` chooses), folders with other networks, and a README
about their origin.
"""

from pathlib import Path
from typing import Final

from gtp_engine.errors import ModelError, problem, shown_path

FOLDER_NAME: Final = "models"

_PACKAGE: Final = Path(__file__).parents[1]
_PLACES: Final = (_PACKAGE / FOLDER_NAME, _PACKAGE.parent / FOLDER_NAME)
"""An installed engine's folder, a checkout's."""


def model_path(model: str | None) -> Path:
    """Return the path of a network: of the file or folder `model` if it exists, else of the shipped one of that name.

    None is the default network.  Any other name is returned as a path.  Raises ModelError as `shipped_folder` does.
    """
    if model is None:
        return shipped_folder()
    path = Path(model).expanduser()
    return path if path.exists() else shipped_networks().get(model, path)


def shipped_networks() -> dict[str, Path]:
    """Return the paths of all shipped networks by their names: those of files without suffix, and of folders."""
    found: dict[str, Path] = {}
    for place in _PLACES:
        for file in sorted(place.glob("*.onnx")):
            found.setdefault(file.stem, file)
        for file in sorted(place.glob("*/*.onnx")):
            found.setdefault(file.parent.name, file.parent)
    return found


def shipped_folder() -> Path:
    """Return the folder of the default network; raises ModelError if it was removed."""
    for place in _PLACES:
        if any(place.glob("*.onnx")):
            return place
    raise ModelError(
        problem(
            f"the network that ships with the engine is missing from {shown_path(_PLACES[0])}",
            advice="install the engine again, name a network with --model, or play without one: --search rave",
        )
    )
