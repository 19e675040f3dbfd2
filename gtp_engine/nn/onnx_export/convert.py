"""Converts a KataGo network file to a network file of this engine.

convert_file, convert_bytes   the conversion
imported_copy                 what was converted in the user's folder: made once, and found again
info_of_network               the metadata of the new file

A front end that starts `katago` names a file in KataGo's format.  Its copy is the network, in the user's folder or
shipped with the engine, that was made from a file of the same contents.  Reading a hundred megabytes to compare them
takes up to a second, so the hash of each file is kept beside the compiled networks (`kernel_cache.kept_network`).
"""

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gtp_engine.base.errors import ModelError, shown_path
from gtp_engine.base.files import check_result, sha256_of
from gtp_engine.base.streams import Log
from gtp_engine.compiled.kernel_cache import keep_network, kept_network
from gtp_engine.evaluation.evaluator_info import ANY_BOARD
from gtp_engine.nn.katago_format.description import Network
from gtp_engine.nn.katago_format.parser import parse_network
from gtp_engine.nn.loading import store_evaluation
from gtp_engine.nn.metadata import (
    HUMAN_ENCODER,
    KATAGO_ENCODER,
    PROFILE_INPUTS,
    NetworkInfo,
    read_metadata,
    read_network_file,
    write_model,
)
from gtp_engine.nn.named_networks import shipped_networks, user_folder
from gtp_engine.nn.network_files import KATAGO_ENDINGS
from gtp_engine.nn.onnx_export.build import build_model
from gtp_engine.nn.quantized_copy import is_quantized_copy

KATAGO_LICENSE: Final = (
    "KataGo's networks: https://katagotraining.org/network_license/ (kata1), https://katagoarchive.org (older runs)"
)
"""Where the terms of KataGo's networks are published; their files do not contain them."""

_DIGITS: Final = 8
"""Digits of the hash in the name of a copy: files of one name, such as default_model, are different networks."""


@dataclass(frozen=True)
class Conversion:
    """The result of converting a KataGo network file."""

    path: Path
    info: NetworkInfo
    parameters: int
    """Number of learned parameters in the network."""


def onnx_name(name: str) -> str:
    """Return the name of the ONNX file for a KataGo file."""
    ending = next((ending for ending in KATAGO_ENDINGS if name.endswith(ending)), "")
    return name.removesuffix(ending) + ".onnx"


def convert_file(source: Path, target: Path) -> Conversion:
    """Write the KataGo network file `source` to `target`, another file, as an ONNX file; raises TengenError."""
    data = read_network_file(source)
    check_result(target, source)
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
    write_model(build_model(network, info), target, store_evaluation)
    return Conversion(target, info, network.parameters)


def imported_copy(source: Path, *, log: Log) -> Path:
    """Return the ONNX file that was made from a KataGo network file, which is made now if there is none.

    `log` receives a line before and after that.

    Raises ModelError, and TengenError without a home directory.
    """
    try:
        state = source.stat()
        key = repr(("imported", str(source.resolve()), state.st_size, state.st_mtime_ns))
        known = kept_network(key)
        digest = sha256_of(source) if known is None else known.decode()
        target = user_folder() / f"{onnx_name(source.name).removesuffix('.onnx')}-{digest[:_DIGITS]}.onnx"
        copy = _copy_of(digest, target)
        if copy is None:
            log(f"Importing {source}, once; this takes some seconds ...")
            copy = convert_bytes(read_network_file(source), source.name, target).path
            log(f"Imported as {copy}; the next start finds it there.")
    except OSError as error:
        raise ModelError(f"network file {shown_path(source)} cannot be read ({error.strerror})") from error
    if known is None:
        keep_network(key, digest.encode())
    return copy


def _copy_of(digest: str, likely: Path) -> Path | None:
    """Return the network that was made from a file with this hash, None if there is none; `likely` is looked at first.

    Then come the others in its folder, and those that ship.
    """
    others = [file for file in sorted(likely.parent.glob("*.onnx")) if not is_quantized_copy(file)]
    for file in (likely, *others, *(path for path in shipped_networks().values() if path.is_file())):
        with suppress(ModelError):  # another file, or a damaged one
            if read_metadata(file).source_sha256 == digest:
                return file
    return None


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
