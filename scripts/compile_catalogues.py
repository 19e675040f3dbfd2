"""Compile the catalogues of the interface's languages as the package is built or installed (a build hook of Hatch)."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NO_DATE: Final = datetime(2020, 2, 2, tzinfo=UTC)
"""The date in a catalogue's head, that of Hatch's archives: a build makes the same bytes at any time."""


class CompileCatalogues(BuildHookInterface):  # type: ignore[type-arg]
    """Writes a `.mo` file beside each `.po` file, which wheels take alone; editable installations lack the networks."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile all of them, before the wheel, or the link of an editable installation, is made."""
        from babel.messages.mofile import write_mo
        from babel.messages.pofile import read_po

        for path in sorted(Path(self.root, "gtp_engine", "base", "locale").glob("*/LC_MESSAGES/*.po")):
            with path.open("rb") as source:
                catalogue = read_po(source, locale=path.parent.parent.name)
            catalogue.creation_date = catalogue.revision_date = NO_DATE
            with path.with_suffix(".mo").open("wb") as target:
                write_mo(target, catalogue)
        if version == "editable":  # a checkout has its networks already: compressing them again took most of the time
            build_data["force_include_editable"] = {"gtp_engine/py.typed": "gtp_engine/py.typed"}
