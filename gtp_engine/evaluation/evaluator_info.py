"""The description of an evaluator as one value, so that callers need not know what it is made of.

BoardSizes      the boards that a network plays
EvaluatorInfo   an evaluator's name, batch, kinds of outputs and boards
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import log2
from pathlib import Path
from typing import Final

from gtp_engine.base.files import sha256_of
from gtp_engine.base.machine import available_cores


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


FULL_AREA: Final = 19 * 19
"""Points of the board for which times are given."""

LARGE_BATCH: Final = 16
"""An evaluator that prefers batches of this size runs on a device of its own, so selecting meanwhile gains time."""

_SAME_EVERYWHERE: Final = 8
_UNMEASURED: Final = 4
"""Positions that a search has evaluated at once with a network of files if it has to repeat on other machines, and as
long as calls have not been measured."""

_LONGEST_CALL: Final = 0.1
"""Seconds that a call may take: results are reported between calls."""

_CALL_WORK: Final = 0.0007
_POSITION_WORK: Final = 0.00015
"""Processor time in seconds that a search spends besides on a call, and on each of its positions on 19×19.  Calls of
about 3.5 positions cost 1.26 ms on a Xeon with AMX, 0.8 to 1 ms on Zen 3 and Zen 4."""

_DOUBLING_GAINS: Final = 1.2
"""Speed that twice as many positions under way, beyond 8, have to gain: on 9×9, 16 or 24 of them cost a search of 800
visits more accuracy than 200 visits fewer do (docs/notes)."""

_GOOD_ENOUGH: Final = 0.97
"""Share of the best speed for which a search takes fewer positions at a time, as it selects them knowing more."""

ANY_BOARD: Final = BoardSizes((2, 25), (2, 25))
"""Every board the engine plays on (`go.constants`)."""


@dataclass(frozen=True)
class EvaluatorInfo:
    """The description of an evaluator; it does not change during the evaluator's life.

    For example:

        print(engine.evaluator.info.name, engine.evaluator.info.has_score)
    """

    name: str
    """For people: in logs and in the replies that describe the engine."""
    batch: int
    """Rows in one call that this machine evaluates most efficiently; calls may have more or fewer."""
    call_seconds: tuple[tuple[int, float], ...] = ()
    """Seconds for calls of different numbers of positions on 19×19, as measured on this machine (`nn.call_times`)."""
    pair_seconds: tuple[tuple[int, float], ...] = ()
    """The same for calls of which two are made at a time; none where only one may be."""
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
    names_by_board: Mapping[tuple[int, int], str] = field(default_factory=dict, hash=False)
    """Other names, by width and height, where a network plays one board in place of the usual one."""
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

    def on(self, width: int, height: int) -> "EvaluatorInfo":
        """Return the description for boards of this size, with the name of the network that evaluates them."""
        return replace(self, name=self.names_by_board.get((width, height), self.name))

    @property
    def at_once(self) -> int:
        """Calls that may be made at a time."""
        return 2 if self.pair_seconds else 1

    @property
    def may_lack_history(self) -> bool:
        """Whether it evaluates positions without the moves before them as well: KataGo's networks are trained to."""
        return self.model_version != 0

    @cached_property
    def fingerprint(self) -> str:
        """Another one wherever evaluations are: with other networks, of one name too, another precision, other options.

        The first time the files are read.
        """
        return hashlib.sha256("\0".join([*map(sha256_of, self.files), self.settings]).encode()).hexdigest()

    def batches(self, width: int, height: int, *, size: int, count: int, repeats: bool) -> tuple[int, int]:
        """Return how many positions a search on a board of this size has evaluated at once, and batches under way.

        `size` and `count` are what is configured, 0: as many as suit.  A search that `repeats`, also on other machines,
        has the same everywhere.  Otherwise it takes the fewest positions that play nearly as well as any: more of them
        under way are faster, but selected knowing less.
        Where their number is configured, batches follow each other: with 1, each position is selected knowing all.
        """
        if repeats:
            return size or (_SAME_EVERYWHERE if self.files else min(_SAME_EVERYWHERE, self.batch)), count or 1
        if size or not self.call_seconds:
            is_small = self.batch < LARGE_BATCH
            size = size or (min(_UNMEASURED, self.batch) if self.files and is_small else self.batch)
            return size, count or 2 - is_small
        rates = self._rates(width * height / FULL_AREA)
        rates = {each: rate for each, rate in rates.items() if each[1] == count} or rates
        worth = {
            each: rate * min(1.0, _SAME_EVERYWHERE / (each[0] * each[1])) ** log2(_DOUBLING_GAINS)
            for each, rate in rates.items()
        }
        enough = _GOOD_ENOUGH * max(worth.values())
        best = min((each for each in worth if worth[each] >= enough), key=lambda each: (each[0] * each[1], each[1]))
        return best[0], count or best[1]

    def _rates(self, area: float) -> dict[tuple[int, int], float]:
        """Return positions a second by their number at once and the batches under way; `area` is in boards of 19×19.

        With one batch, network and search take turns.  With two, the half of the work that is not done by the thread
        that calls the network (selecting, expanding, backing up) goes on beside it, on one of its cores.  On a Xeon
        with AMX this predicts 1.06 times the speed with batches of 8, and so it was; more than two were no faster.
        Where two calls may be made at a time, each of two batches has half of the cores, also for the work for it, but
        waits while the other one is worked for.
        """
        rates: dict[tuple[int, int], float] = {}
        for size, full_seconds in self.call_seconds:
            network, work = full_seconds * area, _CALL_WORK + _POSITION_WORK * size * area
            if network <= _LONGEST_CALL or not rates:
                rates[size, 1] = size / (network + work)
                if not self.pair_seconds:
                    rates[size, 2] = size / (network + work / 2 + work / 2 / available_cores())
        for size, full_seconds in self.pair_seconds:
            work = _CALL_WORK + _POSITION_WORK * size * area
            turn = full_seconds * area + work
            rates[size, 2] = 2 * size / (turn + work * work / turn)
        return rates

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
