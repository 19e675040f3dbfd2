"""Files that are too large or too special for the repository: they lie in `shared/` beside the checkout, if at all."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


def shared_file(name: str) -> Path:
    """Return the path of a file in `shared/`; skips the test, saying why, where it is not there."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{name} is not in {SHARED}")
    return path


def reference_records() -> list[dict[str, Any]]:
    """Return the positions that KataGo 1.17.2 has evaluated, as `katago-reference/README.md` describes them."""
    return shared_records("katago-reference/positions.jsonl.gz")


def shared_records(name: str) -> list[dict[str, Any]]:
    """Return the lines of a gzipped file of JSON in `shared/`; a README beside it describes them."""
    with gzip.open(shared_file(name), "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
