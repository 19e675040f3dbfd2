"""Converts a KataGo network file to a network file of this engine.

convert_file, convert_bytes   the conversion
info_of_network               the metadata of the new file
check_target                  checks that a file can be written, before the work for it begins
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gtp_engine.errors import ModelError, problem, shown_path
from gtp_engine.evaluation.evaluator_info import ANY_BOARD
from gtp_engine.files import check_writable, replacing
from gtp_engine.networks.katago_format.description import Network
from gtp_engine.networks.katago_format.parser import parse_network
from gtp_engine.networks.onnx_export.build import build_model
from gtp_engine.nn.metadata import HUMAN_ENCODER, KATAGO_ENCODER, PROFILE_INPUTS, NetworkInfo
from gtp_engine.nn.network_files import KATAGO_ENDINGS

KATAGO_LICENSE: Final = (
    "KataGo's networks: https://katagotraining.org/network_license/ (kata1), https://katagoarchive.org (older runs)"
)
"""Where the terms of KataGo's networks are published; their files do not contain them."""


@dataclass(frozen=True)
class Conversion:
    """The result of converting a KataGo network file."""

    path: Path
    info: NetworkInfo
    parameters: int
    """Number of learned parameters in the network."""
    size: int
    """Size of the new file in bytes."""


def onnx_name(name: str) -> str:
    """Return the name of the ONNX file for a KataGo file."""
    ending = next((ending for ending in KATAGO_ENDINGS if name.endswith(ending)), "")
    return name.removesuffix(ending) + ".onnx"


def convert_file(source: Path, target: Path) -> Conversion:
    """Write the KataGo network file `source` to `target`, another file, as an ONNX file; raises ModelError."""
    try:
        data = source.read_bytes()
    except OSError as error:
        raise ModelError(problem(f"network file {shown_path(source)} cannot be read ({error.strerror})")) from error
    check_target(target, source=source)
    return convert_bytes(data, source.name, target)


def convert_bytes(data: bytes, name: str, target: Path, *, origin: str = "", terms: str = KATAGO_LICENSE) -> Conversion:
    """Write the network in `data`, a KataGo file called `name`, to `target` as an ONNX file; raises ModelError.

    `origin` (default: the name) and `terms` are written to the metadata.  A file at `target` is replaced once the new
    one is complete.
    """
    try:
        network = parse_network(data)
    except ModelError as error:
        raise ModelError(f"{name}: {error}") from error
    digest = hashlib.sha256(data).hexdigest()
    info = info_of_network(network, origin=origin or name, terms=terms, sha256=digest, advantages=True)
    content = build_model(network, info).SerializeToString()
    try:
        with replacing(target) as unfinished:
            unfinished.write_bytes(content)
    except OSError as error:
        raise not_written(target, error) from error
    return Conversion(target, info, network.parameters, len(content))


def info_of_network(network: Network, *, origin: str, terms: str, sha256: str, advantages: bool = False) -> NetworkInfo:
    """Return the metadata of the ONNX file of `network`.

    `advantages` says whether the network was trained with playout doubling advantages, as KataGo's are.  Networks that
    imitate people were not, so it is ignored for them.
    """
    imitates_people = network.trunk.from_profile is not None
    return NetworkInfo(
        kind="policy+value",
        encoder=HUMAN_ENCODER if imitates_people else KATAGO_ENCODER,
        planes=network.planes,
        globals_=network.globals_ + (PROFILE_INPUTS if imitates_people else 0),
        sizes=ANY_BOARD,
        name=network.name,
        precision="float32",
        passes="policy",
        model_version=network.version,
        scales=network.scales,
        suicide_area=network.suicide_area,
        advantages=advantages and not imitates_people,
        origin=origin,
        license=terms,
        source_sha256=sha256,
    )


def check_target(target: Path, *, source: Path) -> None:
    """Raise ModelError if `target` cannot be written, or is the file `source` that is read, which would be lost."""
    if target.exists() and source.exists() and target.samefile(source):
        raise ModelError(problem(f"{shown_path(target)} is the network itself", expected="another file to write"))
    try:
        check_writable(target)
    except OSError as error:
        raise not_written(target, error) from error


def not_written(target: Path, error: OSError) -> ModelError:
    """Return the error for a network file that could not be written."""
    return ModelError(f"network file {shown_path(target)} cannot be written ({error.strerror})")
