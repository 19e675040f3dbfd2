"""README as package indexes show it, which know no other file of the project (a metadata hook of Hatch)."""

import re
from pathlib import Path
from typing import Any, Final

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK: Final = re.compile(r"(?P<image>!?)\[(?P<text>[^]]*)\]\((?P<target>(?![a-z]+:)[^)\s]+)\)")
"""A link to a file of the project, or to a heading of README."""


def readme_elsewhere(text: str, repository: str) -> str:
    """Return README with links to `repository`, the address of its default branch's files.

    Without an address, links become plain text and pictures go.
    """

    def link(found: re.Match[str]) -> str:
        if not repository:
            return "" if found["image"] else found["text"]
        kind = "raw" if found["image"] else "blob"
        return f"{found['image']}[{found['text']}]({repository.rstrip('/')}/{kind}/HEAD/{found['target']})"

    return LINK.sub(link, text)


class PackageReadme(MetadataHookInterface):
    """Sets `readme`; the address is `Repository` of [project.urls], as code hosts such as GitHub have it."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set it."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        repository = metadata.get("urls", {}).get("Repository", "")
        metadata["readme"] = {"content-type": "text/markdown", "text": readme_elsewhere(text, repository)}
