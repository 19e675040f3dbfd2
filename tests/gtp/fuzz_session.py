"""A long run of the fuzz test: generated lines to an engine process (`scripts/fuzz_gtp`).

What is generated and what is checked is in `fuzz`.  A failure names the line, and the same seed finds it again.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from gtp.fuzz import run, write_files
from gtp.processes import GtpProcess

PROGRESS_INTERVAL = 10_000
"""Lines between two reports of progress."""


def main() -> int:
    """Run the session; return 0 when every reply was right."""
    parser = argparse.ArgumentParser(
        prog="scripts/fuzz_gtp", description="Send generated GTP lines to the engine and check every reply."
    )
    parser.add_argument("lines", type=int, help="number of lines to send")
    parser.add_argument("--seed", type=int, default=1, help="seed of the generated lines (default 1)")
    options = parser.parse_args()
    started, start_folder = time.monotonic(), Path.cwd()

    def progress(done: int) -> None:
        if done % PROGRESS_INTERVAL == 0:
            print(f"{done} lines, {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory() as folder:
        records, current = Path(folder, "records"), Path(folder, "current")
        records.mkdir()
        current.mkdir()
        write_files(records)
        os.chdir(current)  # printsgf writes here
        with GtpProcess("--visits", "4", "--threads", "1") as engine:
            checker = run(engine.ask_all, seed=options.seed, lines=options.lines, folder=records, progress=progress)
            output, _, status = engine.finish(b"quit\n")
        os.chdir(start_folder)
    assert (output, status) == (b"= \n\n", 0), (output, status)
    report(checker.accepted, checker.rejected)
    print(f"{options.lines} lines, seed {options.seed}, {time.monotonic() - started:.0f} s: every reply was right")
    return 0


def report(accepted: dict[str, int], rejected: dict[str, int]) -> None:
    """Print how often each known command was accepted and rejected."""
    print(f"{'command':28}{'accepted':>10}{'rejected':>10}")
    for name in sorted(accepted):
        print(f"{name:28}{accepted[name]:10}{rejected.get(name, 0):10}")
    unknown = sum(count for name, count in rejected.items() if name not in accepted)
    print(f"{'(anything else)':28}{0:10}{unknown:10}")


if __name__ == "__main__":
    sys.exit(main())
