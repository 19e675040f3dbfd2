"""What other parts of the package add to networks, found by names in a model's files and imported on demand.

`nn` stands below these parts, and neither it nor a program that plays with another network imports them.
"""

from importlib import import_module
from typing import Any, Final

from gtp_engine.nn.encoder import Encoder

_ENCODERS: Final = {
    "alphago-48": "gtp_engine.alphago.planes_encoder:new_policy_encoder",
    "alphago-49": "gtp_engine.alphago.planes_encoder:new_value_encoder",
}
"""By the name in a network's metadata: what makes the encoder, given width and height of its boards."""


def plugged_in_encoder(name: str, width: int, height: int) -> Encoder:
    """Return the encoder of a name, one from the table, for boards of this size."""
    encoder: Encoder = _attribute(_ENCODERS[name])(width, height)
    return encoder


def _attribute(path: str) -> Any:
    """Return the attribute that "module:attribute" names."""
    module, name = path.split(":")
    return getattr(import_module(module), name)
