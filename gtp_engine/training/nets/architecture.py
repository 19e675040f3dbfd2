"""The architecture of a network: its description as JSON, with the sizes of arrays in place of their values.

It is stored in exported files and checkpoints, so that a module can be built before it takes their weights.  Every
dataclass of `networks.katago_format.description` becomes an object with its name as "kind", every array {"sizes": […]}.
"""

import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gtp_engine.errors import ModelError, problem, shown
from gtp_engine.networks.katago_format import description
from gtp_engine.networks.katago_format.description import Activation, Network

PROPERTY: Final = "tengen.architecture"
"""Metadata property of exported ONNX files."""

Json: TypeAlias = Any
Path: TypeAlias = tuple[str, ...]
"""Names of fields, from the network down."""
Fill: TypeAlias = Callable[[Path, tuple[int, ...]], NDArray[Any]]
"""Returns the array of the given sizes that belongs at a path."""

_KINDS: Final[dict[str, type[Any]]] = {
    kind.__name__: kind for kind in vars(description).values() if isinstance(kind, type) and is_dataclass(kind)
}
"""The dataclasses of a description, `Scales` included, by name."""


def architecture_of(network: Network) -> str:
    """Return the architecture of `network`, as JSON."""
    return json.dumps(_encode(network))


def network_of(architecture: str, fill: Fill) -> Network:
    """Return the network of an architecture with the arrays that `fill` gives; raises ModelError if it is invalid."""
    try:
        network = _decode(json.loads(architecture), (), fill)
        if not isinstance(network, Network):
            raise TypeError
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(problem(f"architecture {shown(architecture)}", expected="that of a network")) from error
    return network


def empty_network(architecture: str) -> Network:
    """Return the network of an architecture with zeros for weights."""
    return network_of(architecture, lambda _, sizes: np.zeros(sizes, np.float32))


def _encode(value: Any) -> Json:
    if isinstance(value, np.ndarray):
        return {"sizes": list(value.shape)}
    if isinstance(value, Activation):
        return {"activation": value.value}
    if is_dataclass(value):
        return {"kind": type(value).__name__} | {
            field.name: _encode(getattr(value, field.name)) for field in fields(value)
        }
    return [_encode(each) for each in value] if isinstance(value, tuple) else value


def _decode(value: Json, path: Path, fill: Fill) -> Any:
    if isinstance(value, list):
        return tuple(_decode(each, (*path, str(index)), fill) for index, each in enumerate(value))
    if not isinstance(value, dict):
        return value
    if "kind" not in value:
        return Activation(value["activation"]) if "activation" in value else fill(path, tuple(value["sizes"]))
    parts = {name: _decode(part, (*path, name), fill) for name, part in value.items() if name != "kind"}
    return _KINDS[value["kind"]](**parts)
