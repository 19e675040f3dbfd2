"""Finished reviews on disk, one file each, so that a server that is restarted still has them."""

import base64
from pathlib import Path
from typing import Final

from gtp_engine.web.json_files import JsonFiles
from gtp_engine.web.review_work import FinishedReview

MOST_REVIEWS: Final = 50
"""Reviews that are kept on disk, about a megabyte each; the oldest makes room for a new one."""

_FORMAT: Final = 1
"""The format of the files, which changes with what pages expect of a review; others are left alone."""


class SavedReviews:
    """The reviews in a folder, which is created with the first one; methods wait for the disk."""

    def __init__(self, folder: Path) -> None:
        self._files: Final = JsonFiles(folder, "review")

    def save(self, name: str, review: FinishedReview) -> None:
        """Write the review of the game `name`; raises JsonFileError."""
        files = {ending: base64.b64encode(data).decode("ascii") for ending, data in review.files.items()}
        self._files.write(name, {"format": _FORMAT, "message": review.message, "files": files})
        self._files.keep(MOST_REVIEWS)

    def load(self, name: str) -> FinishedReview | None:
        """Return the review of the game `name`, None if there is none of this format; raises JsonFileError."""
        values = self._files.read(name)
        if values is None or values.get("format") != _FORMAT:
            return None
        try:
            files = {ending: base64.b64decode(text, validate=True) for ending, text in values["files"].items()}
            return FinishedReview({**values["message"]}, files)
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise self._files.unreadable(name, error) from None
