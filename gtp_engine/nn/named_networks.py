"""Networks that have a name: those the user has got, in a folder of their own, and those that ship with the engine.

The user's folder also holds the name of the network to play with when none is given (`models default`).  Without
that, it is the network that ships.

What ships lies in the folder `models`, beside the package in a checkout and inside it in an installed engine: the
default network and one that plays 9×9 in its place (`network_files`), each in float32 and quantized to 8 bits
(`providers` chooses), folders with other networks, and a README about their origin.
"""

import contextlib
import os
from pathlib import Path
from typing import Final

from gtp_engine.base.errors import ModelError, TengenError, shown_path
from gtp_engine.base.files import data_folder, expanded, write_whole, writing
from gtp_engine.nn.network_catalogue import published_network
from gtp_engine.nn.quantized_copy import is_quantized_copy

FOLDER_NAME: Final = "models"

_PACKAGE: Final = Path(__file__).parents[1]
PLACES: Final = (_PACKAGE / FOLDER_NAME, _PACKAGE.parent / FOLDER_NAME)
"""An installed engine's folder, a checkout's."""


def shipped_networks() -> dict[str, Path]:
    """Return the paths of all shipped networks by their names: those of files without suffix, and of folders.

    The 8-bit copy of a network has no name of its own.
    """
    found: dict[str, Path] = {}
    for place in PLACES:
        for file in sorted(place.glob("*.onnx")):
            if is_quantized_copy(file):
                continue
            found.setdefault(file.stem, file)
        for file in sorted(place.glob("*/*.onnx")):
            found.setdefault(file.parent.name, file.parent)
    return found


def shipped_folder() -> Path:
    """Return the folder of the default network; raises ModelError if it was removed."""
    for place in PLACES:
        if any(place.glob("*.onnx")):
            return place
    raise ModelError(
        f"the network that ships with the engine is missing from {shown_path(PLACES[0])}",
        advice="install the engine again, set network.model (--model FILE), or search.search to rave (--search rave)",
    )


def shipped_network(name: str) -> Path:
    """Return the path of a network that ships; raises ModelError if it was removed.

    For the default network that is its folder, since others in it play a board of their own (`network_files`).
    """
    path = shipped_networks().get(name)
    if path is None:
        given = f"the network {name}, which ships with the engine, is missing from {shown_path(PLACES[0])}"
        raise ModelError(given, advice="install the engine again")
    return path if path.is_dir() else path.parent


def use_as_shipped(folder: Path) -> None:
    """Let the networks in a folder be those that ship, where the package has come without them.

    Raises ModelError if there is no place for them.
    """
    if any(any(place.glob("*.onnx")) for place in PLACES):
        return
    for place in PLACES:
        with contextlib.suppress(OSError):
            place.unlink(missing_ok=True)  # a link to what has been removed
            place.symlink_to(folder, target_is_directory=True)
            return
    raise ModelError(f"the networks that ship cannot be put into {shown_path(PLACES[0])}")


BUILTIN: Final = "builtin"
"""What `models default` calls the network that ships with the engine."""

_DEFAULT_FILE: Final = "default.txt"


def user_folder() -> Path:
    """Return the folder of the user's networks, which need not exist; raises TengenError without a home directory."""
    return data_folder() / "networks"


def find_user_folder() -> Path | None:
    """Return `user_folder()`, or None without a home directory: then the user has no networks."""
    try:
        return user_folder()
    except TengenError:
        return None


def named_networks() -> dict[str, Path]:
    """Return the paths of all networks by their names; the user's come before those that ship."""
    folder = find_user_folder()
    files = [] if folder is None else sorted(folder.glob("*.onnx"))
    return shipped_networks() | {file.stem: file for file in files if not is_quantized_copy(file)}


def model_path(model: str | None) -> Path:
    """Return the path of a network: of the file or folder `model` if it exists, else of the network of that name.

    None stands for the default network, BUILTIN for the one that ships, "best" for the first of the published ones.  An
    unknown name is returned as a path, which does not exist.  Raises ModelError if the default network is missing or
    its name cannot be read, and for a published network that has not been downloaded.
    """
    if model is not None:
        path = expanded(model)
        if model == BUILTIN and not path.exists():
            return shipped_folder()
        if os.path.exists(path):  # False for what names no file
            return path
        return _named(model) or path
    name = default_name()
    if name == BUILTIN:
        return shipped_folder()
    path = named_networks().get(name, Path(name))  # a file of that name in the current folder is not meant
    if not path.exists():
        raise ModelError(
            f"the network {shown_path(name)}, which `gtp-engine models default` has set, is missing",
            advice="set another one, or `gtp-engine models default builtin`",
        )
    return path


def _named(name: str) -> Path | None:
    """Return the path of the network of a name, None if there is none; raises ModelError if it can be downloaded."""
    known = named_networks()
    if name in known:
        return known[name]
    published = published_network(name)
    if published is None:
        return None
    if published.name not in known:
        given = f"network {name} has not been downloaded ({published.wheel_bytes / 1e6:.0f} MB)"
        raise ModelError(given, advice=f"`gtp-engine models get {name}` gets it")
    return known[published.name]


def default_name() -> str:
    """Return the name or path of the default network, BUILTIN for the one that ships.

    Raises ModelError if the file that holds it is damaged.
    """
    folder = find_user_folder()
    if folder is None:
        return BUILTIN
    file = folder / _DEFAULT_FILE
    try:
        return file.read_text(encoding="utf-8").strip() or BUILTIN
    except OSError:
        return BUILTIN
    except UnicodeDecodeError as error:
        raise ModelError(
            f"{shown_path(file)} is damaged",
            expected="the name of the default network",
            advice="set it again with `gtp-engine models default`",
        ) from error


def set_default(name: str) -> None:
    """Make a network the default: a name or a path, BUILTIN for the one that ships.

    Raises ModelError if there is no such network, or the user's folder cannot be written, and TengenError without a
    home directory.
    """
    if name != BUILTIN and (named := _named(name)) is not None:
        name = named.stem if named.is_file() else named.name
    elif name != BUILTIN:
        if not os.path.exists(expanded(name)):
            known = " or ".join([BUILTIN, *sorted(named_networks()), "an ONNX file", "a folder"])
            raise ModelError(f"network {shown_path(name)}", expected=known, advice="`gtp-engine models get` gets one")
        name = str(expanded(name).resolve())
    file = user_folder() / _DEFAULT_FILE
    with writing(file, ModelError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, name + "\n")
