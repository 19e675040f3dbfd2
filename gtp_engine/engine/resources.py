"""Resources: what a search needs that takes time to load, networks and compiled kernels, and the searches made of it.

An engine has resources of its own; those of `SharedEngines` are lent to several.  A search is by PUCT with a network
unless the configuration says otherwise, by rollouts without one.  Here is also what the networks decide beside it: the
board that games start on, and whether the settings of human-like play go with them.
"""

import contextlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Final

from gtp_engine.base.errors import ConfigError, ModelError, problem, shown
from gtp_engine.compiled.kernel_cache import NETWORK
from gtp_engine.config import Config, HumanConfig
from gtp_engine.config.option import Value
from gtp_engine.config.sections import MAX_LEVEL
from gtp_engine.engine.kernels import KernelLoader
from gtp_engine.engine.rehearsal import ANY_BOARD, rehearse
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.nn.evaluators import USUAL_BOARD
from gtp_engine.search.limits import CancelToken, Searcher
from gtp_engine.search.rollouts.rollout_search import RolloutSearch

if TYPE_CHECKING:
    from gtp_engine.search.puct.transpositions import Remembered

_PLAIN_EXPLORATION: Final[dict[str, Value]] = {
    "puct.root_noise": False,
    "puct.remember": False,
    "human.human_root_weightless": 0.0,
    "human.human_root_weightful": 0.0,
    "human.human_own_weightless": 0.0,
    "human.human_own_weightful": 0.0,
    "human.human_opponent_weightless": 0.0,
    "human.human_opponent_weightful": 0.0,
}
"""How a search explores that answers questions, however varied or human-like the games are meant to be."""

ROLLOUTS: Final = "rollouts"
_OTHER_NETWORK: Final = "other-network"
"""Other kinds of start than `kernel_cache.NETWORK`."""

_SET_PROFILE: Final = "set human.human_profile (humanSLProfile), for example to rank_5k"
_LOAD_NETWORK: Final = "set network.human_model (--human-model FILE)"


class Resources:
    """Networks, and the kernels that are being loaded for their searches; `close` frees both.

    `evaluator` is the main network, None without one; `human` is a human-like network beside it.
    """

    def __init__(self, evaluator: Evaluator | None, human: Evaluator | None = None) -> None:
        self.evaluator: Final = evaluator
        self.human: Final = human
        self.others: Final[list[Evaluator]] = []
        """Networks that were loaded later, for a level; they are cleared and closed with these."""
        self.kernels: KernelLoader | None = None
        """What loads the kernels; None if they are loaded, or are compiled when they are called."""
        self._owns_kernels = False
        self._preparation: Final = _Preparation()
        self._remembered: Remembered | None = None

    # --- networks ---

    @property
    def evaluators(self) -> list[Evaluator]:
        """The networks, the main one first."""
        return [evaluator for evaluator in (self.evaluator, self.human) if evaluator is not None]

    def uses_network(self, config: Config) -> bool:
        """Return whether searches with this configuration evaluate positions by the network."""
        return self.evaluator is not None and config.search.search in ("auto", "puct")

    def prepare(self, width: int, height: int) -> None:
        """Get the networks ready for boards of this size, which may take seconds; raises ModelError if one cannot."""
        for evaluator in self.evaluators:
            evaluator.prepare(width, height)

    def begin_to_prepare(self, width: int, height: int, others: Sequence[Evaluator] = ()) -> None:
        """Do the same beside what comes next, for the networks and for others, and return at once.

        A search that needs a network waits until that is ready.  Raises ModelError if one does not play this size.
        Networks that cannot be prepared while they evaluate get ready before this returns.
        """
        evaluators = [*self.evaluators, *others]
        later = [each for each in evaluators if each.info.prepares_beside and each.info.boards.include(width, height)]
        for evaluator in evaluators:
            if evaluator not in later:
                evaluator.prepare(width, height)
        self._preparation.begin(later, width, height)

    def clear_cache(self) -> None:
        """Forget cached evaluations, and what searches remember."""
        if self._remembered is not None:
            self._remembered.key[:] = self._remembered.found[:] = 0
        for evaluator in (*self.evaluators, *self.others):
            evaluator.clear_cache()

    def close(self) -> None:
        """Free the networks, and end a compiler of their own that is still running."""
        self.close_kernels()
        self._preparation.end()
        for evaluator in (*self.evaluators, *self.others):
            evaluator.close()

    # --- searches ---

    def new_searcher(self, config: Config) -> Searcher:
        """Return a new search.

        Raises ConfigError if the configuration requires a network and there is none, and for settings of human-like
        play that do not go with the networks.
        """
        self.check_human_settings(config)
        if self.evaluator is None and config.search.search == "puct":
            advice = "give the engine an evaluator, or leave search.search at auto"
            raise ConfigError(problem("search.search = puct without a network", advice=advice))
        if self.evaluator is None or not self.uses_network(config):
            return RolloutSearch(config.search, None if self.evaluator is None else self.evaluator.info)
        from gtp_engine.search.puct.puct_search import PuctSearch  # here: rollouts need none of its kernels
        from gtp_engine.search.puct.transpositions import PLACES, new_remembered

        search = PuctSearch(config, self.evaluator, self.human)
        if config.puct.remember:
            search.remembered = self._remembered = self._remembered or new_remembered(PLACES)
        return search

    def new_searches(self, config: Config) -> tuple[Searcher, Searcher]:
        """Return a new search for moves, and one with `impartial_config`; raises ConfigError as `new_searcher` does."""
        return self.new_searcher(config), self.new_searcher(self.impartial_config(config))

    def impartial_config(self, config: Config) -> Config:
        """Return the configuration for questions about a position: which stones are dead, whether a group lives.

        Neither noise nor people's moves guide the search, and no side has a playout doubling advantage.  To read out a
        group, komi is set so that its life decides the game: where the network assumes another komi, rollouts answer.
        """
        values = {"puct.playout_doubling_advantage": 0.0, **_PLAIN_EXPLORATION}
        if self.evaluator is None or self.evaluator.info.knows_komi or not self.uses_network(config):
            return config.with_values(values)
        return config.with_values(values | {"search.search": "rave", "search.rollout_policy": "auto"})

    # --- kernels ---

    @property
    def is_compiling(self) -> bool:
        """Whether kernels are still being compiled, so that searches are small and slow."""
        return self.kernels is not None and self.kernels.is_compiling

    def plays_out(self, config: Config) -> bool:
        """Return whether searches play positions out, which takes longest while kernels are interpreted."""
        return not self.uses_network(config) or config.puct.rollout_share > 0.0

    def kind_of_start(self, config: Config) -> str:
        """Return a name for what the searches of a configuration call, under which their kernels are noted.

        The maps of GoGui's analyze menu (ladders, eyes) are not among them: they are compiled on first use.
        """
        evaluator, policy = self.evaluator, config.search.rollout_policy
        if evaluator is None or not self.uses_network(config):
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

    def warm_up(self, config: Config, log: Callable[[str], None]) -> None:
        """Compile or load every kernel for the searches of the configuration; `log` receives a few lines."""
        board = self.playable_board(*self.first_board(config))
        loader = KernelLoader(self.kind_of_start(config), log, lambda: self.rehearse(config, board))
        loader.start()
        loader.wait()

    def load_kernels(self, config: Config, log: Callable[[str], None], board: tuple[int, int]) -> None:
        """Begin to load every kernel in the background, and get the networks ready for a board, as `prepare` does.

        At a first start searches rehearse on that board meanwhile.
        """
        is_prepared = threading.Event()

        def rehearse_then() -> None:
            is_prepared.wait()  # two threads must not prepare a network at once
            self.rehearse(config, board)

        self.close_kernels()
        self.kernels, self._owns_kernels = KernelLoader(self.kind_of_start(config), log, rehearse_then), True
        self.kernels.start()
        try:
            self.prepare(*board)
        finally:
            is_prepared.set()

    def rehearse(self, config: Config, board: tuple[int, int]) -> None:
        """Let new searches of a configuration call what games call; the engine's searches find nothing of it."""
        self.prepare(*board)
        for purpose in (config, self.impartial_config(config)):
            with contextlib.closing(self.new_searcher(purpose)) as searcher:
                rehearse(searcher, *(board if self.uses_network(purpose) else ANY_BOARD))
        self.clear_cache()

    def wait_for_kernels(self, cancel: CancelToken, log: Callable[[str], None]) -> None:
        """Wait until all kernels are loaded, or until `cancel`; `log` is told if they are being compiled."""
        if self.kernels is not None:
            if self.kernels.is_compiling:
                log(f"Waiting until the engine is compiled ({self.kernels.progress}) …")
            self.kernels.wait(cancel)

    def share_kernels(self, kernels: KernelLoader | None) -> None:
        """Use kernels that another object loads (None: all are loaded) and closes, instead of `load_kernels`."""
        self.kernels, self._owns_kernels = kernels, False

    def close_kernels(self) -> None:
        """End a compiler of their own that is still running."""
        if self.kernels is not None and self._owns_kernels:
            self.kernels.close()

    # --- the first board ---

    def first_board(self, config: Config) -> tuple[int, int]:
        """Return the width and height that a game starts with: as configured, else the network's usual ones."""
        return config.game.board or self.usual_board()

    def usual_board(self) -> tuple[int, int]:
        """Return the usual width and height of the networks."""
        board = USUAL_BOARD if self.evaluator is None else self.evaluator.info.boards.usual
        return board if self.plays(*board) else USUAL_BOARD

    def playable_board(self, width: int, height: int) -> tuple[int, int]:
        """Return `width` and `height` if the networks play such a board, else their usual ones."""
        return (width, height) if self.plays(width, height) else self.usual_board()

    def plays(self, width: int, height: int) -> bool:
        """Return whether all networks of the main evaluator play a board of this size, according to their files."""
        return self.evaluator is None or self.evaluator.info.boards.include(width, height)

    # --- human-like play ---

    def check_human_settings(self, config: Config) -> None:
        """Raise ConfigError for a network without the profile it needs, or a setting without its network."""
        if self.human is None:
            for entry in fields(HumanConfig):
                if entry.name != "human_profile" and getattr(config.human, entry.name) != entry.default:
                    given = f"option human.{entry.name} without a human-like network"
                    raise ConfigError(problem(given, advice=_LOAD_NETWORK))
        if self.evaluator is not None and self.evaluator.info.needs_profile and not config.human.human_profile:
            name = shown(self.evaluator.info.name)
            raise ConfigError(problem(f"network {name} imitates people", expected="a profile", advice=_SET_PROFILE))
        if self._is_profile_unused(config):
            given = f"humanSLProfile {config.human.human_profile} without a network that uses it"
            raise ConfigError(problem(given, advice=_LOAD_NETWORK))

    def config_at_start(self, config: Config, log: Callable[[str], None]) -> Config:
        """Return the configuration with settings of human-like play that go with the networks; `log` gets warnings.

        A profile that no network uses is left out.  Where a level is set, the main network may need a profile, which is
        then that of the level.  Raises ConfigError for other mistakes.
        """
        level = config.play.level
        if _needs_profile(self.evaluator) and not config.human.human_profile and level != MAX_LEVEL:
            config = config.with_values({"human.human_profile": profile_of_level(level)})
        if self._is_profile_unused(config):
            log(f"No network uses the profile {config.human.human_profile}, which is ignored: {_LOAD_NETWORK}.")
            config = replace(config, human=replace(config.human, human_profile=""))
        elif _needs_profile(self.human) and not config.human.human_profile and level == MAX_LEVEL:
            log(f"The human-like network is not used without a profile: {_SET_PROFILE}.")
        self.check_human_settings(config)
        return config

    def with_profile_of_level(self, old: Config, new: Config) -> Config:
        """Return a changed configuration in which the main network's profile follows the level, if it did before."""
        level = new.play.level
        if not _needs_profile(self.evaluator) or level in (old.play.level, MAX_LEVEL):
            return new
        if new.human.human_profile not in ("", profile_of_level(old.play.level)):
            return new
        return new.with_values({"human.human_profile": profile_of_level(level)})

    def _is_profile_unused(self, config: Config) -> bool:
        """Return whether a profile is set that no network uses."""
        return bool(config.human.human_profile) and not any(map(_needs_profile, self.evaluators))


class _Preparation:
    """Gets networks ready in a thread of its own: for the board that was named last, after the one that it is at."""

    def __init__(self) -> None:
        self._lock: Final = threading.Lock()
        self._next: tuple[Sequence[Evaluator], int, int] | None = None
        self._thread: threading.Thread | None = None

    def begin(self, evaluators: Sequence[Evaluator], width: int, height: int) -> None:
        """Begin, and forget a board that was to be the next one."""
        with self._lock:
            self._next = (evaluators, width, height)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="network preparation", daemon=True)
                self._thread.start()

    def end(self) -> None:
        """Wait until nothing is being prepared."""
        with self._lock:
            self._next, thread = None, self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while True:
            with self._lock:
                if self._next is None:
                    self._thread = None
                    return
                (evaluators, width, height), self._next = self._next, None
            for evaluator in evaluators:
                with contextlib.suppress(ModelError):  # raised again by the search that needs it
                    evaluator.prepare(width, height)


def profile_of_level(level: str) -> str:
    """Return the profile of the players of a rank."""
    return f"rank_{level}"


def _needs_profile(evaluator: Evaluator | None) -> bool:
    return evaluator is not None and evaluator.info.needs_profile
