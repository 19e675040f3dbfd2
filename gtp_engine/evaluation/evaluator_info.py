"""The description of an evaluator as one value, so that callers need not know what it is made of.

BoardSizes      the boards that a network plays
EvaluatorInfo   an evaluator's name, batch, kinds of outputs and boards
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import Final

from gtp_engine.base.files import sha256_of


@dataclass(frozen=True)
class BoardSizes:
    """The boards a network plays: widths and heights from the first to the second of each pair, in points."""

    widths: tuple[int, int]
    heights: tuple[int, int]

    def include(self, width: int, height: int) -> bool:
        """Return whether a board of `width` by `height` is among them."""
        return self.widths[0] <= width <= self.widths[1] and self.heights[0] <= height <= self.heights[1]

    def common(self, other: "BoardSizes") -> "BoardSizes":
        """Return the boards that are in both; if there are none, the result includes no board."""
        (a, b), (c, d) = (self.widths, self.heights), (other.widths, other.heights)
        return BoardSizes((max(a[0], c[0]), min(a[1], c[1])), (max(b[0], d[0]), min(b[1], d[1])))

    @property
    def only(self) -> tuple[int, int] | None:
        """Width and height of the one board among them, None if there are more."""
        (least_width, width), (least_height, height) = self.widths, self.heights
        return (width, height) if (least_width, least_height) == (width, height) else None

    @property
    def usual(self) -> tuple[int, int]:
        """Width and height of the board that games most likely use: 19×19, or the nearest to it."""
        (least_width, width), (least_height, height) = self.widths, self.heights
        return min(max(19, least_width), width), min(max(19, least_height), height)

    def __str__(self) -> str:
        if self.widths == self.heights and self.widths[0] != self.widths[1]:
            return f"{self.widths[0]}-{self.widths[1]}"
        return f"{self.widths[0]}x{self.heights[0]}"


_LONG_CALL: Final = 0.01
"""Seconds that a call should take if the batch allows it: a search spends 0.7 to 1 ms on each besides (Zen 3)."""

ANY_BOARD: Final = BoardSizes((2, 25), (2, 25))
"""Every board the engine plays on (`go.constants`)."""


@dataclass(frozen=True)
class EvaluatorInfo:
    """The description of an evaluator; it does not change during the evaluator's life."""

    name: str
    """For people: in logs and in the replies that describe the engine."""
    batch: int
    """Rows in one call that this machine evaluates most efficiently; calls may have more or fewer."""
    position_seconds: float = 0.0
    """Estimated seconds for a position on 19×19; 0 where that is unknown, or a full batch takes hardly longer."""
    has_value: bool = True
    """Whether it evaluates who wins; else every position is even, and only rollouts may count."""
    has_score: bool = True
    """Whether it evaluates score, lead and the score's deviation."""
    has_ownership: bool = True
    """Whether it evaluates ownership."""
    knows_komi: bool = True
    """Whether it takes komi into account; else it assumes that of the games it was trained on."""
    knows_advantage: bool = True
    """Whether it takes a playout doubling advantage into account; see `Conditions`."""
    knows_cleanup: bool = False
    """Whether it was trained on the clean-up phases of KataGo's territory rules; see `Positions.phase`."""
    has_rollout_policy: bool = False
    """Whether `write_rollout_policy` may be called."""
    rollout_weights: object = None
    """Weights for rollouts by kernels, for the players that know them (`alphago`); None if none came with the networks.
    """
    boards: BoardSizes = ANY_BOARD
    """The boards it plays."""
    prepares_beside: bool = False
    """Whether `prepare` may be called while another thread evaluates."""
    needs_profile: bool = False
    """Whether a network in it imitates people, and needs `Conditions.human_profile`."""
    files: tuple[Path, ...] = ()
    """The network files."""
    settings: str = ""
    """Precision and options, as far as evaluations depend on them."""
    model_version: int | None = None
    """KataGo's version of the network's inputs and outputs; 0 for another kind of network, None without a file."""
    is_katago: bool = True
    """Whether all networks in it have KataGo's inputs and outputs."""

    @property
    def may_lack_history(self) -> bool:
        """Whether it evaluates positions without the moves before them as well: KataGo's networks are trained to."""
        return self.model_version != 0

    @cached_property
    def fingerprint(self) -> str:
        """Another one wherever evaluations are: with other networks, of one name too, another precision, other options.

        The first time the files are read.
        """
        parts = [*map(sha256_of, self.files), self.settings]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def search_batch(self, width: int, height: int) -> int:
        """Return how many positions a search on a board of this size should have evaluated at once: `batch` or fewer.

        A slow evaluator gets few, as they gain nothing there and are selected without knowing each other's results.
        """
        seconds = self.position_seconds * width * height / 19**2
        if seconds == 0.0:
            return self.batch
        return min(self.batch, ceil(_LONG_CALL / seconds))

    def katago_facts(self) -> "dict[str, str | int]":
        """Return the facts that KataGo reports of a loaded model, by KataGo's keys; version 0 is no network of its."""
        return {
            "name": self.name,
            "internalName": self.name,
            "maxBatchSize": self.batch,
            "usesHumanSLProfile": self.needs_profile,
            "version": self.model_version or 0,
            "usingFP16": "false",
        }
