"""A run on the terminal, on stderr: a bar with speed and loss, and a line for each judging."""

from gtp_engine.progress import ProgressBar
from gtp_engine.training.distillation.batches import Board
from gtp_engine.training.distillation.trainer import Progress
from gtp_engine.training.distillation.validation import Verdict


class TrainProgress:
    """Shows steps and validations of a run on a bar."""

    def __init__(self, bar: ProgressBar) -> None:
        self._bar = bar

    def stepped(self, progress: Progress) -> None:
        """Show where the run is."""
        self._bar.update(progress.fraction, _format_progress(progress))

    def judged(self, progress: Progress, verdicts: dict[Board, Verdict]) -> None:
        """Print a line for each board size."""
        for (width, height), verdict in verdicts.items():
            self._bar.log(
                f"held-out {width}x{height} after {progress.samples:,} samples: policy KL {verdict.policy_kl:.3f}, "
                f"first move {verdict.same_first_move:.1%}, win rate ±{verdict.winrate_error:.3f}, "
                f"lead ±{verdict.lead_error:.2f}, ownership ±{verdict.ownership_error:.3f}"
            )


def _format_progress(progress: Progress) -> str:
    losses = progress.losses
    return (
        f"{progress.samples:,} samples, {progress.samples_per_second:.0f}/s, loss {progress.loss:.3f} "
        f"(policy {losses['policy']:.3f}, value {losses['value']:.3f}, ownership {losses['ownership']:.3f}), "
        f"rate {progress.learning_rate:.2g}"
    )
