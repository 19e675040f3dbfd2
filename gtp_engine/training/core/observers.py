"""What is reported about a run, and to whom.  Needs no torch.

Progress   where a run is
Observer   receives the progress and the validations: the log, the curves, the bar on the terminal
"""

from typing import NamedTuple, Protocol

Figures = dict[str, float]
"""Means by name."""
Validation = dict[str, Figures]
"""The figures of each validation set."""


class Progress(NamedTuple):
    """Where a run is; figures and speed are means since the last report."""

    fraction: float
    steps: int
    samples: int
    seconds: float
    """Since the beginning of the run, interruptions left out."""
    learning_rate: float
    gradient: float
    """Norm of the gradient before it is clipped."""
    figures: Figures
    samples_per_second: float


class Observer(Protocol):
    """Receives the progress of a run."""

    def stepped(self, progress: Progress) -> None:
        """Receive the means of the steps since the last report."""
        ...

    def validated(self, progress: Progress, validation: Validation) -> None:
        """Receive the figures of the averaged network on the validation sets."""
        ...


def format_figures(figures: Figures) -> str:
    """Return figures as one line for people: "loss 1.234, top-1 0.321"."""
    return ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in figures.items())
