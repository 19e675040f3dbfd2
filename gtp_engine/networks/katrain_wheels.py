"""The KataGo networks in KaTrain, a program for studying Go: in its wheels on PyPI, or in an installed copy.

They are the simplest source of a strong network: no account and no other site than the package index is needed.
"""

import os
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from gtp_engine.errors import ModelError, problem, shown, shown_path
from gtp_engine.files import ZIP_DAMAGE
from gtp_engine.networks.onnx_export.convert import KATAGO_LICENSE, Conversion, convert_bytes
from gtp_engine.nn.network_files import is_katago_file

_NETWORK_ENDINGS: Final = (".bin.gz", ".txt.gz")
_LICENSE_NAME: Final = "LICENSE"


@dataclass(frozen=True)
class Package:
    """The networks in a package and their licence."""

    name: str
    license: str
    """Text of the licence; empty if the package contains none."""
    networks: tuple[Path | zipfile.Path, ...]
    """Paths of the KataGo network files."""


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
def open_package(path: Path) -> Iterator[Package]:
    """Open a wheel or a folder while its networks are read; raises ModelError if it contains none or cannot be read.

    A KataGo network file counts as a package with one network.
    """
    if path.is_dir():
        yield _package(path.resolve(), path.name)
        return
    if path.is_file() and is_katago_file(path):
        yield Package(path.name, "", (path,))
        return
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        expected = "a wheel (.whl) or a folder with networks, or a network file (.bin.gz)"
        raise ModelError(problem(shown_path(path), expected=expected)) from error
    with archive:
        yield _package(zipfile.Path(archive), path.name)


def read_networks(package: Package) -> Iterator[tuple[bytes, str]]:
    """Yield content and name of each network file of an open package; raises ModelError if one cannot be read."""
    for file in package.networks:
        yield _content(file, package.name), file.name


def convert_packed(data: bytes, name: str, package: Package, target: Path) -> Conversion:
    """Convert a network file of a package to `target`, with its origin and licence; raises ModelError."""
    origin = name if package.name == name else f"{name} in {package.name}"
    terms = f"{KATAGO_LICENSE}\n\n{package.license}".strip()
    return convert_bytes(data, name, target, origin=origin, terms=terms)


def _package(root: Path | zipfile.Path, name: str) -> Package:
    networks = tuple(sorted(_found(root, _NETWORK_ENDINGS), key=str))
    if not networks:
        endings = " or ".join(_NETWORK_ENDINGS)
        raise ModelError(problem(f"{shown(name)} holds no KataGo network", expected=f"a file that ends in {endings}"))
    texts = [_content(path, name).decode("utf-8", errors="replace") for path in _licenses(root)]
    return Package(name, texts[0].strip() if texts else "", networks)


def _content(file: Path | zipfile.Path, package: str) -> bytes:
    """Return the content of a file in a package; raises ModelError if it cannot be read."""
    try:
        return file.read_bytes()
    except (OSError, *ZIP_DAMAGE) as error:
        given = f"{file.name} in {shown(package)} cannot be read ({error})"
        raise ModelError(problem(given, advice="download it again")) from error


def _licenses(root: Path | zipfile.Path) -> list[Path | zipfile.Path]:
    """Return the licence files of a package; an installed package has them in a folder beside it."""
    places = [root]
    if isinstance(root, Path):
        places += root.parent.glob(f"{root.name}-*.dist-info")
    return [path for place in places for path in _found(place, (_LICENSE_NAME,))]


def _found(folder: Path | zipfile.Path, endings: tuple[str, ...]) -> Iterator[Path | zipfile.Path]:
    """Yield the files in a folder, at any depth, whose name has one of the endings; raises ModelError."""
    try:
        entries: list[Path | zipfile.Path] = [*folder.iterdir()]
    except OSError as error:
        given = f"folder {shown_path(str(folder))} cannot be read ({error.strerror})"
        raise ModelError(problem(given, advice="name the file of the network")) from error
    for entry in entries:
        if entry.is_dir():
            yield from _found(entry, endings)
        elif entry.name.endswith(endings):
            yield entry
