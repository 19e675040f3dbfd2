"""What a search is asked: SearchRequest, with Limits, which watch Progress; Searcher is asked.

A CancelToken, created by the caller for one command and never used again, ends the searches of that command.

Trees are kept from search to search.  RootPosition is what of a request the values in a tree hold for; if the game
continued since the last search, its moves lead down the tree to the new root (`find_position`).
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from itertools import cycle
from math import inf
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from gtp_engine.go.constants import EMPTY, opponent
from gtp_engine.go.game import Game, is_continued
from gtp_engine.search.report import SearchReport


class CancelToken:
    """Once cancelled, cancelled for good.  Any thread may use it.

    The caller creates a token for a command and puts it into the limits of every search that the command needs.  So a
    cancellation is never lost, even if it comes before the first search or between two.

        threading.Timer(10, token.cancel).start()
        analysis = engine.analyse(game, Limit(visits=100_000), cancel=token)
    """

    def __init__(self) -> None:
        self._lock: Final = threading.Lock()
        self._callbacks: Final[list[Callable[[], None]]] = []
        self._is_cancelled = False

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` has been called."""
        return self._is_cancelled

    def cancel(self) -> None:
        """End the searches that hold the token soon, without waiting for them; a second call does nothing."""
        with self._lock:
            if self._is_cancelled:
                return
            self._is_cancelled = True
            callbacks = tuple(self._callbacks)
        for callback in callbacks:
            callback()

    @contextmanager
    def calling(self, callback: Callable[[], None]) -> Iterator[None]:
        """Call `callback` upon the cancellation while the context lasts, at once if that has happened before.

        It is called from the cancelling thread, at most once, and must not block.  The call may still be under way
        when the context ends.
        """
        with self._lock:
            self._callbacks.append(callback)
            is_late = self._is_cancelled
        if is_late:
            callback()
        try:
            yield
        finally:
            with self._lock:
                self._callbacks.remove(callback)


@dataclass(frozen=True)
class Progress:
    """A running search at one moment.

    The leader is the most visited move at the root, the runner-up the next; `leader_is_best_value` is whether the
    leader also has the better result of the two.  `winrate`, in [0, 1], is the leader's for the side to play;
    `choices` is the number of moves that may be searched at the root, the pass included.  `entropy` is that of the
    network's policy at the root and `surprise` the divergence of the moves' weights from it, both in nats; None unless
    `time.obvious_share` needs them, and without a network.
    """

    seconds: float
    visits: int
    playouts: int
    leader_visits: int
    runner_up_visits: int
    leader_is_best_value: bool
    winrate: float
    choices: int
    entropy: float | None = None
    surprise: float = 0.0


Watcher = Callable[[Progress], bool]
"""Returns whether a search is to stop now; called every few milliseconds from the searching thread, which it must not
block."""


AT_ANY_DEPTH: Final = 1_000_000
"""Depth of a restriction that holds in the whole tree: more moves than any line of a search has."""


@dataclass(frozen=True)
class Restriction:
    """Moves of `color` that a search leaves out, at every depth below `depth` (1: at the root only)."""

    color: int
    points: frozenset[int]
    depth: int = 1


def avoid_until_depths(restrictions: Iterable[Restriction], n: int) -> NDArray[np.int32]:
    """Return, int32[3, n] by colour and point, the depth from which on a move is allowed; the last one given counts."""
    avoid_until = np.zeros((3, n), dtype=np.int32)
    for restriction in restrictions:
        avoid_until[restriction.color, list(restriction.points)] = restriction.depth
    return avoid_until


@dataclass(frozen=True)
class Reporting:
    """Reports while a search is running: `receive` is called every `interval` seconds from the searching thread.

    The first call comes as soon as a move has been tried.  `receive` must return quickly.  The report at the end of the
    search is the result of `run` and does not go to `receive`.
    """

    interval: float
    receive: Callable[[SearchReport], None]


class FirstMove(Enum):
    """Which move a report has first; a search by rollouts always has the best."""

    BEST = auto()
    """The best one, whatever temperature and share of a human-like policy are configured."""
    LIKELIEST = auto()
    """The one that would be drawn most often, of those that were tried."""
    DRAWN = auto()
    """One drawn with the configured temperature and share; while the search is running, the likeliest."""


@dataclass(frozen=True)
class Limits:
    """When a search ends: at the first of its limits, of which it needs one at least.

    `visits` counts root visits, those of the reused tree included, and playouts without weight (`search.puct.select`);
    `playouts` only what this search adds.  `watcher` is called every few milliseconds; `cancel` is the token of the
    command that needs the search.
    """

    visits: int | None = None
    watcher: Watcher | None = None
    playouts: int | None = None
    cancel: CancelToken | None = None

    def __post_init__(self) -> None:
        """Refuse a search without end."""
        if all(limit is None for limit in (self.visits, self.playouts, self.watcher, self.cancel)):
            raise ValueError("a search needs a number of visits, a watcher or a cancel token; none was given")

    @property
    def is_cancelled(self) -> bool:
        """Whether the command that needs the search has been cancelled."""
        return self.cancel is not None and self.cancel.is_cancelled

    def most_visits(self, before: int) -> int | None:
        """Return the visits of the root at which a search ends that began at `before` visits; None for no limit."""
        most = [] if self.visits is None else [self.visits]
        most += [] if self.playouts is None else [before + self.playouts]
        return min(most, default=None)


@dataclass(frozen=True)
class SearchRequest:
    """What is asked about a position, within `limits`; these alone ask for a plain search."""

    limits: Limits
    reporting: Reporting | None = None
    restrictions: tuple[Restriction, ...] = ()
    retaken: int = EMPTY
    """The colour whose captures in kos may be retaken at once, as if the other side had any number of threats; only
    searches with a network know it.  It is not for positions in which a ko has just been taken."""
    wide_root_noise: float = 0.0
    """Makes an analysis explore more moves (0: none), see `search.puct.select`."""
    ignores_history: bool = False
    """Whether the network is not told the moves that led to the root."""
    move_ownership: bool = False
    """Whether to report the ownership below each root move, with its deviation (`MoveReport.ownership_black`)."""
    behalf_of: int | None = None
    """The colour a move is searched for, which pondering does in the other's turn; None: the side to play."""
    anti_mirror: bool = False
    """Whether to play against an opponent who mirrors the moves (`search.puct.anti_mirror`)."""
    advantage_black: float | None = None
    """Black's playout doubling advantage; None: the configured one."""
    first_move: FirstMove = FirstMove.BEST
    """Only a search for a move to play draws it."""
    passes_end: bool = False
    """Whether a pass at the root ends the game where the rules say so, even with `puct.conservative_pass`."""
    resumes: bool = False
    """Whether this goes on with the last search, of the same position: it is as if that had not ended."""
    bonus_black: NDArray[np.float64] | None = field(default=None, compare=False)
    """What is added to Black's utility of the root's moves, float64[n] by point; only in searches with a network."""

    @staticmethod
    def of(asked: "SearchRequest | Limits") -> "SearchRequest":
        """Return the request, a plain one for limits alone."""
        return SearchRequest(asked) if isinstance(asked, Limits) else asked


_WATCH_INTERVAL: Final = 0.005
"""Least seconds between two calls of the watcher, which would slow fast networks down and took 3% of a search by
rollouts on 9×9 after every batch, and between two readings of the clock while a slow network is waited for."""


class Pace:
    """When a search that began at `start` (`time.perf_counter`) calls its watcher and reports."""

    def __init__(self, request: SearchRequest, start: float) -> None:
        self._watcher: Final = request.limits.watcher
        self._reporting: Final = request.reporting
        self._start: Final = start
        self._next_watch = 0.0
        self._next_report = 0.0 if request.reporting is not None else inf

    def seconds(self) -> float:
        """Return how long the search has taken so far."""
        return time.perf_counter() - self._start

    def watcher_stops(self, progress: Callable[[float], Progress]) -> bool:
        """Return whether the watcher ends the search; `progress` returns what it is called with, given the seconds."""
        seconds = self.seconds()
        if self._watcher is None or seconds < self._next_watch:
            return False
        self._next_watch = seconds + _WATCH_INTERVAL
        return self._watcher(progress(seconds))

    def report_if_due(self, report: Callable[[float], SearchReport]) -> None:
        """Report when the interval is over; `report` returns the state of the search, given the seconds."""
        seconds = self.seconds()
        if self._reporting is not None and seconds >= self._next_report:
            self._reporting.receive(report(seconds))
            self._next_report = seconds + self._reporting.interval

    def seconds_to_report(self) -> float | None:
        """Return how long to wait before the clock is read for the next report; None if there is none.

        A search without reports is woken by the end of a batch or a cancellation alone: reading the clock takes the
        processor from the network.
        """
        return None if self._next_report == inf else max(_WATCH_INTERVAL, self._next_report - self.seconds())


_ROOT: Final = 0
"""The root's number in every tree."""


@dataclass(frozen=True)
class RootPosition:
    """What the values in a tree hold for: a position with `color` to play, and what the whole tree was searched with.

    The tree owns `game`, which must not change.
    """

    game: Game
    color: int
    restrictions: tuple[Restriction, ...] = ()
    advantage_black: float = 0.0
    """The playout doubling advantage; only networks know one."""
    mirroring: int = EMPTY
    """The colour that mirrors the other's moves, if the search plays against that."""
    explored_for: int = EMPTY
    """The colour for which the search explores otherwise than for the other one, if it does."""
    ignores_history: bool = False
    """Whether the network is not told the moves that led to the root."""
    retaken: int = EMPTY
    """As in `SearchRequest`."""


def find_position(
    child_by_move: Callable[[int, int], int | None], root: RootPosition | None, wanted: RootPosition
) -> int | None:
    """Return the node of `wanted` in a tree whose root is `root`; None if it is not in the tree.

    `child_by_move` returns the node that a move (a point or PASS) from a node leads to, None if the tree has none.
    A tree searched under other conditions is not reused: its values would be different.  After a move, restrictions
    that end at some depth are such conditions, because depths count from the root.
    """
    if root is None or replace(root, game=wanted.game, color=wanted.color) != wanted:
        return None
    node = follow_game(child_by_move, root, wanted.game, wanted.color)
    return None if node != _ROOT and any(each.depth != AT_ANY_DEPTH for each in wanted.restrictions) else node


def follow_game(
    child_by_move: Callable[[int, int], int | None], root: RootPosition, game: Game, color: int
) -> int | None:
    """Return the node of a position as `find_position` does, however the tree was searched.

    None also if a side has moved twice in a row since the root, or if `color` would not be to play.
    """
    moves, turns = game.moves[len(root.game.moves) :], cycle((root.color, opponent(root.color)))
    colors = (*(move.color for move in moves), color)
    if not is_continued(root.game, game) or any(each != next(turns) for each in colors):
        return None
    node: int | None = _ROOT
    for move in moves:
        node = None if node is None else child_by_move(node, move.point)
    return node


class Searcher(Protocol):
    """Searches positions of one game after the other, and keeps its tree between calls.

    One thread at a time uses it; any other ends a running search by the cancel token in its limits.
    """

    def run(self, game: Game, asked: SearchRequest | Limits, *, to_play: int | None = None) -> SearchReport:
        """Search the position of `game` (not changed) and return what was found.

        `to_play` defaults to the side whose turn it is.  Ends at the limits; a search that was cancelled before it
        began still returns a move.
        """

    def known(self, game: Game, color: int) -> SearchReport | None:
        """Return what the tree holds about a position with `color` to play; None if nothing.

        Only searches with a network tell.
        """

    def clear(self) -> None:
        """Forget the game, and start the random numbers again if they have a seed."""

    def set_seed(self, seed: int | None) -> None:
        """Start the random numbers at `seed` (None: differently every time) and forget the game."""

    def close(self) -> None:
        """End threads; the search cannot be used afterwards."""
