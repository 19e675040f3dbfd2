"""The network that comes with the engine: what plays where `--model` names none.

The folder `models` lies beside the package in a checkout, and inside it in an installed engine.  It holds one network
for every purpose, in float32 and perhaps in int8 too (`nn.loading` chooses), and a README about where it is from.
"""

from pathlib import Path
from typing import Final

from gtp_engine.errors import ModelError, problem, shown_path

FOLDER_NAME: Final = "models"

_PACKAGE: Final = Path(__file__).parents[1]
_PLACES: Final = (_PACKAGE / FOLDER_NAME, _PACKAGE.parent / FOLDER_NAME)
"""An installed engine's folder, a checkout's."""


def shipped_folder() -> Path:
    """Return the folder of the network that ships with the engine; raises ModelError if it was removed."""
    for place in _PLACES:
        if any(place.glob("*.onnx")):
            return place
    raise ModelError(
        problem(
            f"the network that ships with the engine is missing from {shown_path(_PLACES[0])}",
            advice="install the engine again, name a network with --model, or play without one: --search rave",
        )
    )
