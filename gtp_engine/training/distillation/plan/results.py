"""The files of a plan to keep, within the limits of a transfer: a number of files, each of limited size.

report.md                what was done, the tables of agreement, what to do next
<network>.onnx           the averaged network
<network>.log.jsonl      the log of its run
<network>.pt             its checkpoint
19x19-….npz, …           a shard of held-out positions of each main board, for the calibration of 8 bits
"""

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from gtp_engine.errors import ConfigError
from gtp_engine.files import writing
from gtp_engine.training.core.checkpoint import CHECKPOINT_FILE
from gtp_engine.training.core.reporting import LOG_FILE
from gtp_engine.training.distillation.shards import first_shards

REPORT: Final = "report.md"
MOST_FILES: Final = 8
MOST_BYTES: Final = 16 << 20
"""The limits of a transfer."""
_MAIN_BOARDS: Final = ((19, 19), (13, 13), (9, 9))


class _File(NamedTuple):
    source: Path
    name: str


def write_results(results: Path, report: str, runs: Iterable[tuple[str, Path]], held_out: Path) -> list[str]:
    """Write the files of `runs`, each a name and a folder, to `results`; return what the limits, or the disk, left out.

    Files of an earlier part are replaced.  Raises ConfigError if not even the report can be written.
    """
    with writing(results, ConfigError, "results to"):
        results.mkdir(parents=True, exist_ok=True)
        for old in results.iterdir():
            if old.is_file():
                old.unlink()
        (results / REPORT).write_text(report, encoding="utf-8")
    runs = list(runs)
    wanted = [
        *(_File(folder / f"{name}.onnx", f"{name}.onnx") for name, folder in runs),
        *(_File(folder / LOG_FILE, f"{name}.log.jsonl") for name, folder in runs),
        *_held_out_files(held_out),
        *(_File(folder / CHECKPOINT_FILE, f"{name}.pt") for name, folder in runs),
    ]
    left_out, written = [], 1
    for source, name in wanted:
        if not source.exists():
            continue
        size = source.stat().st_size
        if size > MOST_BYTES or written == MOST_FILES:
            left_out.append(f"{name} ({size:,} bytes)")
            continue
        try:
            shutil.copyfile(source, results / name)
        except OSError as error:
            (results / name).unlink(missing_ok=True)
            left_out.append(f"{name} ({error.strerror or error})")
        else:
            written += 1
    if left_out:
        with writing(results, ConfigError, "results to"), (results / REPORT).open("a", encoding="utf-8") as file:
            file.write(f"\nLeft out of these files: {', '.join(left_out)}.\n")
    return left_out


def _held_out_files(folder: Path) -> list[_File]:
    """Return the first held-out shard of each main board."""
    first = first_shards(folder) if folder.is_dir() else {}
    return [_File(first[board], first[board].name) for board in _MAIN_BOARDS if board in first]
