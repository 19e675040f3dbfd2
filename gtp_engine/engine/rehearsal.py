"""The kernels of an engine's searches: compiled in a rehearsal, loaded from the cache, awaited.

In a rehearsal a search calls every kernel that games call, so that these can be compiled (`engine.kernels`).  Until
then kernels are interpreted, so that each visit counts: there are as few as lead to all the calls.
"""

import contextlib
import threading
from typing import Final

from gtp_engine.base.streams import Log
from gtp_engine.compiled.kernel_cache import NETWORK
from gtp_engine.config import Config
from gtp_engine.engine.kernels import KernelLoader
from gtp_engine.engine.resources import Resources
from gtp_engine.engine.searches import impartial_config, new_searcher
from gtp_engine.go.area import area_owners
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import xy_to_point
from gtp_engine.go.game import Game
from gtp_engine.go.ladder import is_captured_defender_first, new_ladder_work
from gtp_engine.go.rules import Rules
from gtp_engine.go.tactics import count_captures, is_real_eye, would_be_self_atari
from gtp_engine.search.fights import FightReader
from gtp_engine.search.limits import CancelToken, Limits, Reporting, Searcher, SearchRequest

ANY_BOARD: Final = (5, 5)
"""Width and height for searches that do not depend on the board: rollouts are short on it."""

ROLLOUTS: Final = "rollouts"
_OTHER_NETWORK: Final = "other-network"
"""Other kinds of start than `kernel_cache.NETWORK`."""

_VISITS: Final = 6
"""Of each search: enough for children with children, which are copied when the tree is reused."""


class Kernels:
    """The kernels that searches with the networks of `resources` call; `log` receives lines for the user."""

    def __init__(self, resources: Resources, log: Log) -> None:
        self._resources: Final = resources
        self._log: Final = log
        self.loader: KernelLoader | None = None
        """What loads them, perhaps for other engines too; None if they are loaded, or compiled when they are called."""
        self._own: KernelLoader | None = None

    @property
    def is_compiling(self) -> bool:
        """Whether kernels are still being compiled, so that searches are small and slow."""
        return self.loader is not None and self.loader.is_compiling

    @property
    def progress(self) -> str:
        """How far the compilation is, for the log; "" if nothing is loaded."""
        return "" if self.loader is None else self.loader.progress

    def kind_of_start(self, config: Config) -> str:
        """Return a name for what the searches of a configuration call, under which their kernels are noted.

        The maps of GoGui's analyze menu (ladders, eyes) are not among them: they are compiled on first use.
        """
        evaluator, policy = self._resources.evaluator, config.search.rollout_policy
        if evaluator is None or not self._resources.uses_network(config):
            return f"{ROLLOUTS}-{policy}" if policy == "linear" else ROLLOUTS
        words = [NETWORK if evaluator.info.is_katago else _OTHER_NETWORK]
        if config.puct.rollout_share > 0.0:
            loaded = {
                "weights": evaluator.info.rollout_weights is not None,
                "network": evaluator.info.has_rollout_policy,
            }
            words += [ROLLOUTS, policy, *(name for name, is_loaded in loaded.items() if is_loaded)]
        if config.puct.remember:
            words.append("remember")
        return "-".join(words)

    def load(self, config: Config, board: tuple[int, int]) -> None:
        """Begin to load every kernel in the background, and get the networks ready for a board, as `prepare` does.

        At a first start searches rehearse on that board meanwhile.
        """
        is_prepared = threading.Event()

        def rehearse_then() -> None:
            is_prepared.wait()  # two threads must not prepare a network at once
            self.rehearse(config, board)

        self.close()
        self.loader = self._own = KernelLoader(self.kind_of_start(config), self._log, rehearse_then)
        self._own.start()
        try:
            self._resources.prepare(*board)
        finally:
            is_prepared.set()

    def lack(self, config: Config) -> bool:
        """Return whether kernels have been loaded for other searches than those of a configuration."""
        return self.loader is not None and self.loader.kind != self.kind_of_start(config)

    def rehearse(self, config: Config, board: tuple[int, int]) -> None:
        """Let new searches of a configuration call what games call; the engine's searches find nothing of it."""
        self._resources.prepare(*board)
        for purpose in (config, impartial_config(self._resources, config)):
            with contextlib.closing(new_searcher(self._resources, purpose)) as searcher:
                rehearse(searcher, *(board if self._resources.uses_network(purpose) else ANY_BOARD))
        self._resources.clear_cache()

    def wait(self, cancel: CancelToken) -> None:
        """Wait until all kernels are loaded, or until `cancel`; the log says so if they are being compiled."""
        if self.loader is not None:
            if self.loader.is_compiling:
                self._log(f"Waiting until the engine is compiled ({self.progress}) …")
            self.loader.wait(cancel)

    def close(self) -> None:
        """End a compiler of their own that is still running."""
        if self._own is not None:
            self._own.close()


def warm_up(resources: Resources, config: Config, log: Log) -> None:
    """Compile or load every kernel for the searches of a configuration; `log` receives a few lines."""
    kernels = Kernels(resources, log)
    board = resources.playable_board(*resources.first_board(config))
    loader = KernelLoader(kernels.kind_of_start(config), log, lambda: kernels.rehearse(config, board))
    loader.start()
    loader.wait()


def rehearse(searcher: Searcher, width: int, height: int) -> None:
    """Search a position, a later one in the same tree, and end a search while positions are being evaluated."""
    searcher.set_seed(1)
    game, limits = _play(width, height), SearchRequest(Limits(visits=_VISITS), move_ownership=True)
    game.play(searcher.run(game, limits).moves[0].point)
    searcher.run(game, SearchRequest(Limits(visits=2 * _VISITS), wide_root_noise=0.1))
    token = CancelToken()
    reporting = Reporting(0.0, lambda report: token.cancel())
    searcher.run(game, SearchRequest(Limits(visits=10 * _VISITS, cancel=token), reporting=reporting))


def _play(width: int, height: int) -> Game:
    """Return a game in which a stone is captured, after calls of the kernels that answer questions about a position."""
    game = Game(width, height, rules=Rules.parse("tromp-taylor"))  # with superko
    at = [[xy_to_point(x, y, width=width) for x in range(3)] for y in range(3)]
    game.set_up([(BLACK, at[0][0]), (BLACK, at[0][1]), (WHITE, at[1][0])], WHITE)
    for point, answer in ((at[1][1], PASS), (at[0][2], at[2][2])):
        would_be_self_atari(game.board, point, WHITE)
        count_captures(game.board, point, WHITE)
        game.play(point, WHITE)
        game.play(answer, BLACK)
    is_real_eye(game.board, at[0][0], WHITE)
    FightReader(game.board, nodes=_VISITS).life(at[2][2])
    is_captured_defender_first(game.board, at[2][2], new_ladder_work(width, height))
    game.pass_alive(WHITE)
    area_owners(game.board)
    return game
