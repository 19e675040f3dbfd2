"""A disk that is always full, for files that replace others once they are complete."""

from pathlib import Path

import pytest

from gtp_engine.base import files


def fill_disk_of(unfinished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `replacing` write to `unfinished`, which lies on a full disk; skips the test where there is none."""
    if not Path("/dev/full").exists():
        pytest.skip("only Linux has a disk that is always full")
    unfinished.symlink_to("/dev/full")
    monkeypatch.setattr(files, "_unfinished_path", lambda target: unfinished)
