"""The architecture of a network: its description as JSON, with the sizes of arrays in place of their values.

It is stored in exported files and checkpoints, so that a module can be built before it takes their weights.  Every
dataclass of `nn.katago_format.description` becomes an object with its name as "kind", every array {"sizes": […]}.

    architecture_of, network_of   a description as JSON, and with other arrays again
    read_onnx                     the description in an ONNX file that was exported here, its weights read back exactly

The graph of an architecture is always built in the same way.  So `read_onnx` builds a second graph from the same
architecture with a distinct number, a mark, for every weight: the position of a mark in that graph is the position of
the weight in the file.  Norms after a convolution were folded into it; they are read back as a scale of 1 and a bias,
so that the network computes the same and would be exported as the same file.
"""

import json
import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gtp_engine.base.errors import ModelError, shown
from gtp_engine.base.files import json_of
from gtp_engine.nn.katago_format import description
from gtp_engine.nn.katago_format.description import Activation, Network
from gtp_engine.nn.metadata import read_network_file
from gtp_engine.nn.onnx_export.build import build_model
from gtp_engine.nn.onnx_export.convert import info_of_network

PROPERTY: Final = "tengen.architecture"
"""Metadata property of exported ONNX files."""

_FIRST_MARK: Final = 1000
"""Larger than any other number in a graph (`nn.onnx_export.graph.BoardGraph`)."""

_LEADING_NORMS: Final = ("first", "narrow", "widen", "trunk")
"""Parts of a network that begin with their norm, which is therefore not folded into a convolution."""

Json: TypeAlias = Any
FieldPath: TypeAlias = tuple[str, ...]
"""Names of fields, from the network down."""
Fill: TypeAlias = Callable[[FieldPath, tuple[int, ...]], NDArray[Any]]
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
        network = _decode(json_of(architecture), (), fill)
        if not isinstance(network, Network):
            raise TypeError
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"architecture {shown(architecture)}", expected="that of a network") from error
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


def _decode(value: Json, path: FieldPath, fill: Fill) -> Any:
    if isinstance(value, list):
        return tuple(_decode(each, (*path, str(index)), fill) for index, each in enumerate(value))
    if not isinstance(value, dict):
        return value
    if "kind" not in value:
        return Activation(value["activation"]) if "activation" in value else fill(path, tuple(value["sizes"]))
    parts = {name: _decode(part, (*path, name), fill) for name, part in value.items() if name != "kind"}
    return _KINDS[value["kind"]](**parts)


def read_onnx(path: Path) -> Network:
    """Return the network in a file; raises ModelError if it was not exported here, or is damaged."""
    import onnx

    data = read_network_file(path)
    try:
        model = onnx.load_model_from_string(data)
    except Exception as error:  # protobuf's own kinds, which differ between its versions
        raise ModelError(f"{shown(path.name)} is damaged or no ONNX file") from error
    properties = {entry.key: entry.value for entry in model.metadata_props}
    if PROPERTY not in properties:
        raise ModelError(
            f"{shown(path.name)} has no recorded architecture",
            expected="a network that `gtp-engine train export` wrote",
            advice="for an imported network, give the .bin.gz file",
        )
    network = _with_weights_of(properties[PROPERTY], model)
    if network is not None:
        again = build_model(network, info_of_network(network, origin="", terms="", sha256=""))
        if _constants(again) == _constants(model):
            return network
    given = f"the graph of {shown(path.name)} is not that of its architecture"
    raise ModelError(given, expected="a file as it was exported")


def _with_weights_of(architecture: str, model: Any) -> Network | None:
    """Return the network with the weights of `model` at the positions of the marks, None where they do not fit.

    Scales that are folded into other weights are 1 and get no mark.
    """
    marks: dict[FieldPath, NDArray[np.int64]] = {}

    def mark(path: FieldPath, sizes: tuple[int, ...]) -> NDArray[np.float64]:
        """Return the next marks, in double precision, which represents all of them exactly."""
        if path[-2:] == ("norm", "scale") and path[-3] not in _LEADING_NORMS:  # of a norm that follows a convolution
            return np.ones(sizes)
        first = sum(known.size for known in marks.values())
        marks[path] = np.arange(first, first + math.prod(sizes)).reshape(sizes)
        return _FIRST_MARK + marks[path].astype(np.float64)

    marked = network_of(architecture, mark)
    graph = build_model(marked, info_of_network(marked, origin="", terms="", sha256="")).graph
    weights = np.full(sum(known.size for known in marks.values()), np.nan)
    in_file = _float_inputs(model.graph)
    for place, numbers in _float_inputs(graph).items():
        found = in_file.get(place)
        if found is None or found.shape != numbers.shape:
            return None
        is_mark = numbers >= _FIRST_MARK
        weights[numbers[is_mark].astype(np.int64) - _FIRST_MARK] = found[is_mark]
    if np.isnan(weights).any():
        return None
    return network_of(
        architecture, lambda path, sizes: (weights[marks[path]] if path in marks else np.ones(sizes)).astype(np.float32)
    )


def _float_inputs(graph: Any) -> dict[tuple[int, int], NDArray[np.floating[Any]]]:
    """Return the floating-point constants of a graph by number of node and of input."""
    import onnx.numpy_helper

    arrays = {entry.name: onnx.numpy_helper.to_array(entry) for entry in graph.initializer}
    return {
        (node, number): arrays[name]
        for node, operation in enumerate(graph.node)
        for number, name in enumerate(operation.input)
        if name in arrays and arrays[name].dtype.kind == "f"
    }


def _constants(model: Any) -> list[bytes]:
    return [entry.SerializeToString() for entry in model.graph.initializer]
