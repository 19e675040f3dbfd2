"""How this copy of the program was installed, and the command that adds the packages of an extra to it.

The project's name is not registered on PyPI, so no advice may have pip look it up there: what is added is what the
extra requires, by the metadata of the installed copy.

Sources: pipx keeps `pipx_metadata.json` in an environment of its own (pipx, `pipx_metadata_file.py`); uv keeps
`uv-receipt.toml` in that of a tool (docs.astral.sh/uv/concepts/tools), and its cache has a `CACHEDIR.TAG`
(bford.info/cachedir); pip records where a copy came from in `direct_url.json` (PEP 610).
"""

import contextlib
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

PROJECT: Final = "gtp-engine"

_PIPX: Final = "pipx_metadata.json"
_UV_TOOL: Final = "uv-receipt.toml"
_CACHE: Final = "CACHEDIR.TAG"

_EXTRA: Final = re.compile(r"(?P<requirement>[^;]+?)\s*;.*\bextra\s*==\s*['\"](?P<extra>[\w-]+)['\"]")
_OF_OURSELVES: Final = re.compile(rf"{PROJECT}\[(?P<extras>[\w,-]+)\]")


@dataclass(frozen=True)
class Installation:
    """An environment with the program in it.

    `source` is the folder or file that it was installed from, None for an index; `requires` are the requirements of
    its metadata, None for a checkout that is not installed, whose folder `source` is then.
    """

    prefix: Path
    python: str
    has_pip: bool
    source: str | None
    requires: Sequence[str] | None

    @classmethod
    def of_this_process(cls) -> "Installation":
        """Return the installation that runs."""
        source: str | None = str(Path(__file__).parents[2])
        requires: Sequence[str] | None = None
        with contextlib.suppress(PackageNotFoundError):
            found = distribution(PROJECT)
            source, requires = _source(found), found.requires or ()
        is_active = os.environ.get("VIRTUAL_ENV") == sys.prefix
        python = "python" if is_active else sys.executable
        return cls(Path(sys.prefix), python, find_spec("pip") is not None, source, requires)

    def command_for(self, extra: str) -> str:
        """Return the command line that installs what `extra` requires; /bin/sh and cmd read it alike."""
        if self.requires is None:
            return f'{_word(self.python)} -m pip install -e "{self.source}[{extra}]"'
        return self.command_with([f'"{each}"' for each in dict.fromkeys(self._packages_of(extra))])

    def command_with(self, packages: Sequence[str]) -> str:
        """Return the command line that installs packages, given as words for a shell."""
        if (self.prefix / _PIPX).is_file():
            return " ".join(["pipx inject", self.prefix.name, *packages])
        source = _word(self.source or PROJECT)
        added = [word for package in packages for word in ("--with", package)]
        if (self.prefix / _UV_TOOL).is_file():
            return " ".join(["uv tool install", *added, source])
        if any((folder / _CACHE).is_file() for folder in self.prefix.parents):  # uvx
            return " ".join(["uvx", *added, "--from", source, PROJECT])
        if self.has_pip:
            return " ".join([_word(self.python), "-m pip install", *packages])
        return " ".join(["uv pip install --python", _word(str(self.prefix)), *packages])

    def _packages_of(self, extra: str) -> Iterator[str]:
        """Yield the requirements of an extra, and of those of our own that it names."""
        for entry in filter(None, map(_EXTRA.match, self.requires or ())):
            if entry["extra"] != extra:
                continue
            if ours := _OF_OURSELVES.match(entry["requirement"]):
                for other in ours["extras"].split(","):
                    yield from self._packages_of(other)
            else:
                yield entry["requirement"]


def advice_for(extra: str) -> str:
    """Return the advice to install what an extra of this project requires, for a message."""
    return f"install it: {Installation.of_this_process().command_for(extra)}"


def command_with(package: str) -> str:
    """Return the command line that installs a package beside this copy of the program."""
    return Installation.of_this_process().command_with([package])


def _source(found: Distribution) -> str | None:
    """Return the folder or file that a distribution was installed from, None if it was an index."""
    text = found.read_text("direct_url.json")
    if text is None:
        return None
    url = str(json.loads(text)["url"])
    parts = urlsplit(url)
    return url2pathname(unquote(parts.path)) if parts.scheme == "file" else url


def _word(text: str) -> str:
    """Return a word for a shell."""
    return f'"{text}"' if re.search(r"\s", text) else text
