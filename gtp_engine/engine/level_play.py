"""Playing at the level of a rank: the small search, the draw of a move, and when a player of that rank resigns.

With a human-like network the move is drawn from what people of the rank play, by the profile rank_X.  Otherwise it is
drawn from the network's own policy, softened as the network's level table says (`level`).  A network without a table
leaves its levels to the network that ships, which is loaded when a level is first chosen.  The end of the game is the
engine's own in all cases (`decision`).
"""

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Final

import numpy as np

from gtp_engine.config import Config, HumanConfig
from gtp_engine.config.sections import LEVELS, MAX_LEVEL
from gtp_engine.engine.resources import profile_of_level
from gtp_engine.engine.searches import Searches, evaluate_game
from gtp_engine.errors import ConfigError, problem
from gtp_engine.evaluation.evaluator import ANY_SYMMETRY, Evaluator
from gtp_engine.go.game import Game
from gtp_engine.level.drawing import Found, choose_move, found_by_network, found_by_search
from gtp_engine.level.table import LevelSettings, LevelTable, read_table, scaled, settings_of
from gtp_engine.nn.named_networks import model_path
from gtp_engine.search.limits import FirstMove, Limits
from gtp_engine.search.report import SearchReport, for_color

HUMAN_TEMPERATURE: Final = 1.0
"""Temperature of a human-like policy: moves are drawn as often as people play them."""

HOPE: Final = 1.5
"""Points on 19×19, for each rank below 9d, that a player must be behind to resign, besides `LOST`."""

LOST: Final = 5.0
"""Points by which the strongest level must be behind to resign."""


def check_level(config: Config, evaluator: Evaluator | None) -> None:
    """Raise ConfigError if the configuration names a level for which the network is missing or not fit."""
    if config.play.level == MAX_LEVEL:
        return
    given = f"level {config.play.level}"
    if evaluator is None or config.search.search not in ("auto", "puct"):
        advice = "leave search.search at auto, or set play.level to max (--level max)"
        raise ConfigError(problem(f"{given} in a search without a network", expected="a network", advice=advice))
    if not evaluator.info.has_score or not evaluator.info.has_ownership:
        expected = "one that evaluates score and ownership"
        raise ConfigError(problem(f"{given} with network {evaluator.info.name}", expected=expected))


class LevelPlay:
    """Chooses moves at the configured level; `seed` starts the random numbers.

    Moves are chosen by the engine's `searches`.  If their network has no level table, `load_calibrated` loads the
    network that ships, which then searches instead; without it, moves are chosen by the table of another network.
    """

    def __init__(self, searches: Searches, seed: int, load_calibrated: Callable[[], Evaluator] | None = None) -> None:
        self._main: Final = searches
        self._load_calibrated: Final = load_calibrated
        self._calibrated: Searches | None = None
        self._seed = seed
        self._random = np.random.default_rng(seed)
        self._tables: Final[dict[str, LevelTable]] = {}

    @property
    def is_on(self) -> bool:
        """Whether moves are chosen at a level below the full strength."""
        return self.level != MAX_LEVEL

    @property
    def level(self) -> str:
        """The configured level."""
        return self._main.config.play.level

    @property
    def own_searches(self) -> list[Searches]:
        """The searches with a network that was loaded for levels, if any; the engine clears and closes them."""
        return [] if self._calibrated is None else [self._calibrated]

    def set_seed(self, seed: int) -> None:
        """Restart the random numbers of the draws; the engine does so for `own_searches`."""
        self._seed = seed
        self._random = np.random.default_rng(seed)

    def prepare(self, width: int, height: int) -> None:
        """Load the network of levels and get it ready for boards of this size, which may take seconds.

        Raises ModelError if that fails.  The main network is prepared by its owner.
        """
        if self._leaves_levels:
            self._searches.resources.prepare(width, height)

    def configure(self, config: Config) -> None:
        """Use another configuration for `own_searches`."""
        for searches in self.own_searches:
            searches.configure(_without_human_settings(config))

    def describe(self) -> str:
        """Return a sentence about the level, for the log.  Raises ModelError for a damaged table."""
        if self._human is not None:
            name, profile = self._human.info.name, profile_of_level(self.level)
            return f"Level {self.level}: moves of the human-like network {name}, profile {profile}."
        if self._leaves_levels:
            return f"Level {self.level}: moves of {self._table().borrowed_from}, whose levels are calibrated."
        return f"Level {self.level}: {self._table().describe()}."

    def settings(self, game: Game) -> LevelSettings:
        """Return how the level chooses its moves on this board."""
        if self._human is not None:
            return LevelSettings(1, HUMAN_TEMPERATURE, inf)
        skill = self._table().skill(self.level, game.width, game.height)
        return settings_of(skill, game.width, game.height)

    def search(self, game: Game, color: int, limits: Limits) -> SearchReport:
        """Return what the search of the level's size finds; it starts afresh, so that no analysis makes it stronger."""
        visits = self.settings(game).visits
        visits = visits if limits.visits is None else min(visits, limits.visits)
        limits = replace(limits, visits=visits, first_move=FirstMove.BEST)
        return self._searches.search_afresh(game, color, limits)

    def draw(self, game: Game, report: SearchReport, excluded: frozenset[int]) -> int:
        """Return the move that the level plays after this search, where the game cannot end yet; none of `excluded`."""
        found = self._found(game, report, excluded)
        question = choose_move(game, report.to_play, found, self.settings(game), self._random)
        try:
            after = next(question)
            while True:
                evaluation = self._searches.evaluate(after, after.to_play, (ANY_SYMMETRY,), 0.0)
                after = question.send(float(evaluation.lead_black[0]))
        except StopIteration as ended:
            return int(ended.value)

    def gives_up(self, game: Game, report: SearchReport) -> bool:
        """Return whether a player of the level may see that the game is lost: weak ones must be far behind."""
        below = len(LEVELS) - 1 - LEVELS.index(self.level)
        points = scaled(LOST + HOPE * below, game.width, game.height)
        return for_color(report.lead_black, report.to_play) < -points

    @property
    def _searches(self) -> Searches:
        """The searches for moves at the level; raises ModelError if its network cannot be loaded."""
        if self._load_calibrated is None or not self._leaves_levels:
            return self._main
        if self._calibrated is None:
            self._calibrated = Searches(_without_human_settings(self._main.config), self._load_calibrated())
            self._calibrated.set_seed(self._seed)
        return self._calibrated

    @property
    def _leaves_levels(self) -> bool:
        """Whether levels are left to a network that is loaded for them."""
        return self._human is None and self._load_calibrated is not None and not self._table().is_calibrated

    @property
    def _human(self) -> Evaluator | None:
        """The network that imitates people of a rank: the one beside the main network, or that itself."""
        networks = reversed(self._main.resources.evaluators)
        return next((evaluator for evaluator in networks if evaluator.info.needs_profile), None)

    def _found(self, game: Game, report: SearchReport, excluded: frozenset[int]) -> Found:
        """Return what the move is drawn from: the search, or what people play."""
        if self._human is None:
            return found_by_search(game, report, excluded)
        profile = profile_of_level(self.level)
        config = self._main.config.with_values({"human.human_profile": profile, "puct.root_policy_optimism": 0.0})
        evaluation = evaluate_game(self._human, game, report.to_play, config, (ANY_SYMMETRY,))
        return found_by_network(game, report.to_play, evaluation, 0, excluded)

    def _table(self) -> LevelTable:
        """Return the level table of the main network, which is read once."""
        evaluator = self._main.resources.evaluator
        assert evaluator is not None, "check_level has been called"
        name = evaluator.info.name
        if name not in self._tables:
            self._tables[name] = read_table(model_path(self._main.config.network.model), name)
        return self._tables[name]


def _without_human_settings(config: Config) -> Config:
    """Return the configuration for a network without a human-like one beside it."""
    return replace(config, human=HumanConfig())
