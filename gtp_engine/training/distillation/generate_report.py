"""What a run that generates data reports: the text beside its progress bar, and a table at the end."""

from gtp_engine.training.distillation.data_folder import DataFolder
from gtp_engine.training.distillation.generate import Tally


def format_progress(folder: DataFolder, tally: Tally) -> str:
    """Return where a run is: the positions in the folder and the speed."""
    return f"{folder.positions:,} positions, {tally.rate:.0f}/s"


def format_tally(folder: DataFolder, tally: Tally) -> str:
    """Return what a run has done as lines of text: a line for each board, speed, duplicates.

    The speeds of the boards are those of one worker at work, duplicates included.
    """
    total = max(tally.labelled.total(), 1)
    lines = [f"{'board':<8}{'labelled':>12}{'share':>8}{'a worker, /s':>14}{'in the folder':>16}"]
    for board in sorted(folder.kept, key=lambda board: board[0] * board[1]):
        count, seconds = tally.labelled[board], tally.worker_seconds[board]
        speed = f"{count / seconds:.0f}" if seconds else "–"
        name = f"{board[0]}x{board[1]}"
        lines.append(f"{name:<8}{count:>12,}{count / total:>8.1%}{speed:>14}{folder.kept[board]:>16,}")
    lines.append(
        f"{tally.kept:,} new positions in {tally.seconds:.0f} s ({tally.rate:.0f}/s), "
        f"{folder.duplicates:,} duplicates left out{', stopped' if tally.stopped else ''}"
    )
    return "\n".join(lines)
