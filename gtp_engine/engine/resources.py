"""Resources: the networks of an engine or of `SharedEngines`, and what they decide.

That is the board that games start on, whether searches evaluate by a network or by rollouts, and which settings of
human-like play go with them.
"""

import contextlib
import threading
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Final

from gtp_engine.base.errors import ConfigError, ModelError, shown
from gtp_engine.base.streams import Log
from gtp_engine.config import Config, HumanConfig
from gtp_engine.config.sections import MAX_LEVEL
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.evaluation.evaluator_info import ANY_BOARD
from gtp_engine.search.puct.transpositions import Remembered

_SET_PROFILE: Final = "set human.human_profile (humanSLProfile, --human-profile), for example to rank_5k"
_LOAD_NETWORK: Final = "set network.human_model (--human-model FILE)"


class Resources:
    """Networks, which `close` frees, and what they have found out.

    `evaluator` is the main network, None without one; `human` is a human-like network beside it.
    """

    def __init__(self, evaluator: Evaluator | None, human: Evaluator | None = None) -> None:
        self.evaluator: Final = evaluator
        self.human: Final = human
        self.others: Final[dict[str, Evaluator]] = {}
        """Networks that were loaded later, for a level, by name; they are cleared and closed with these."""
        self.remembered: Remembered | None = None
        """What searches with `puct.remember` have found; None before the first."""
        self._preparation: Final = _Preparation()

    # --- networks ---

    @property
    def evaluators(self) -> list[Evaluator]:
        """The networks, the main one first."""
        return [evaluator for evaluator in (self.evaluator, self.human) if evaluator is not None]

    def uses_network(self, config: Config) -> bool:
        """Return whether searches with this configuration evaluate positions by the network."""
        return self.evaluator is not None and config.search.search in ("auto", "puct")

    def plays_out(self, config: Config) -> bool:
        """Return whether searches play positions out, which takes longest while kernels are interpreted."""
        return not self.uses_network(config) or config.puct.rollout_share > 0.0

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
        if self.remembered is not None:
            self.remembered.key[:] = self.remembered.found[:] = 0
        for evaluator in (*self.evaluators, *self.others.values()):
            evaluator.clear_cache()

    def close(self) -> None:
        """Free the networks."""
        self._preparation.end()
        for evaluator in (*self.evaluators, *self.others.values()):
            evaluator.close()

    # --- the first board ---

    def first_board(self, config: Config) -> tuple[int, int]:
        """Return the width and height that a game starts with: as configured, else the network's usual ones."""
        return config.game.board or self.usual_board()

    def usual_board(self) -> tuple[int, int]:
        """Return the usual width and height of the networks."""
        board = (ANY_BOARD if self.evaluator is None else self.evaluator.info.boards).usual
        return board if self.plays(*board) else ANY_BOARD.usual

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
                    raise ConfigError(f"option human.{entry.name} without a human-like network", advice=_LOAD_NETWORK)
        if self.evaluator is not None and self.evaluator.info.needs_profile and not config.human.human_profile:
            name = shown(self.evaluator.info.name)
            raise ConfigError(f"network {name} imitates people", expected="a profile", advice=_SET_PROFILE)
        if self._is_profile_unused(config):
            given = f"humanSLProfile {config.human.human_profile} without a network that uses it"
            raise ConfigError(given, advice=_LOAD_NETWORK)

    def config_at_start(self, config: Config, log: Log) -> Config:
        """Return the configuration with settings of human-like play that go with the networks; `log` gets warnings.

        A profile that no network uses is left out.  Where a level is set, the main network may need a profile, which is
        then that of the level.  Raises ConfigError for other mistakes.
        """
        config = self.with_profile_of_level(Config(), config)
        if self._is_profile_unused(config):
            log(f"No network uses the profile {config.human.human_profile}, which is ignored: {_LOAD_NETWORK}.")
            config = replace(config, human=replace(config.human, human_profile=""))
        elif _needs_profile(self.human) and not config.human.human_profile and config.play.level == MAX_LEVEL:
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
    """Gets networks ready in a thread of its own: for the board that was named last, after the one that it is at.

    A program that ends does not wait for the thread, as it would for an executor's, which starts none by then either.
    """

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
            with contextlib.suppress(RuntimeError):  # Ctrl-C came as it was started: it finds nothing to do
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
