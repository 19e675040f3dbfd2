"""Playing at the level of a rank: whose policy the move is drawn from, and when a player of that rank resigns.

The move is drawn from what people of the rank play, by a human-like network, as the network's level table says
(`level`); what a move loses is seen by the network that ships.  Both are loaded when a level is first chosen, unless
the engine has them already: a human-like network that the user has chosen takes the place of the one that ships.  The
end of the game is the engine's own in all cases (`decision`).
"""

from dataclasses import replace
from typing import Final

import numpy as np

from gtp_engine.base.errors import ConfigError
from gtp_engine.config import Config, HumanConfig
from gtp_engine.config.sections import LEVELS, MAX_LEVEL
from gtp_engine.engine.level_drawing import choose_move, found_at
from gtp_engine.engine.level_table import (
    HUMAN_MODEL,
    STRONG_MODEL,
    LevelSettings,
    LevelTable,
    read_table,
    scaled,
    settings_of,
)
from gtp_engine.engine.searches import Searches, evaluate_game
from gtp_engine.evaluation.evaluator import ANY_SYMMETRY, Evaluator
from gtp_engine.go.game import Game
from gtp_engine.nn.evaluators import LoadShipped
from gtp_engine.nn.named_networks import model_path
from gtp_engine.search.limits import Limits, SearchRequest, Watcher
from gtp_engine.search.puct.tree_report import raw_evaluation
from gtp_engine.search.report import SearchReport, for_color

HOPE: Final = 1.5
"""Points on 19×19, for each rank below 9d, that a player must be behind to resign, besides `LOST`."""

LOST: Final = 5.0
"""Points by which the strongest level must be behind to resign."""


class LevelError(ConfigError):
    """The network cannot play at a level below full strength."""


def check_level(config: Config, evaluator: Evaluator | None) -> None:
    """Raise LevelError if the configuration names a level for which the network is missing or not fit."""
    if config.play.level == MAX_LEVEL:
        return
    given = f"level {config.play.level}"
    if evaluator is None or config.search.search not in ("auto", "puct"):
        advice = "leave search.search at auto, or set play.level to max (--level max)"
        raise LevelError(f"{given} in a search without a network", expected="a network", advice=advice)
    if not evaluator.info.has_score or not evaluator.info.has_ownership:
        expected = "one that evaluates score and ownership"
        raise LevelError(f"{given} with network {evaluator.info.name}", expected=expected)


class LevelPlay:
    """Chooses moves at the configured level; `seed` starts the random numbers.

    `searches` are the engine's.  Networks that a level needs besides theirs are loaded by `load_shipped`, once, and
    belong to these searches from then on.
    """

    def __init__(self, searches: Searches, seed: int, load_shipped: LoadShipped) -> None:
        self._main: Final = searches
        self._load_shipped: Final = load_shipped
        self._levels: LevelTable | None = None
        self._beside: Searches | None = None
        self._random = np.random.default_rng(seed)

    @property
    def is_on(self) -> bool:
        """Whether moves are chosen at a level below the full strength."""
        return self.level != MAX_LEVEL

    @property
    def level(self) -> str:
        """The configured level."""
        return self._main.config.play.level

    def set_seed(self, seed: int) -> None:
        """Restart the random numbers of the draws."""
        self._random = np.random.default_rng(seed)

    def prepare(self, width: int, height: int) -> None:
        """Load the networks of levels and get them ready for boards of this size, which may take seconds.

        Raises ModelError if that fails, or for a damaged level table.  The engine's own networks are prepared by it.
        """
        for evaluator in self.own_evaluators():
            evaluator.prepare(width, height)

    def own_evaluators(self) -> list[Evaluator]:
        """Return the networks beside the engine's own, which are loaded now if need be; raises as `prepare` does."""
        self._table()
        self._strong()
        return [*self._main.resources.others.values()]

    def describe(self, width: int, height: int) -> str:
        """Return a sentence about the level on this board, for the log."""
        profile = self._settings(width, height).profile
        people = f"{self._human.info.name} with profile {profile}, chosen for this strength"
        return f"Level {self.level}: {people}; {self._table().describe()}."

    def search(self, game: Game, color: int, request: SearchRequest, watcher: Watcher) -> SearchReport:
        """Return the network's evaluation, and that of people's moves; no analysis makes it stronger."""
        limits = Limits(1, watcher, request.limits.playouts, request.limits.cancel)
        report = self._searches().search_afresh(game, color, replace(request, limits=limits))
        profile = str(self._settings(game.width, game.height).profile)
        config = self._main.config.with_values({"human.human_profile": profile, "puct.root_policy_optimism": 0.0})
        people = evaluate_game(self._human, game, color, config, (ANY_SYMMETRY,))
        return replace(report, human=raw_evaluation(people, 0, has_score=self._human.info.has_score))

    def draw(self, game: Game, report: SearchReport, excluded: frozenset[int]) -> int:
        """Return the move that the level plays after this search, where the game cannot end yet; none of `excluded`."""
        assert report.raw is not None and report.human is not None, "`search` has found both"
        found = found_at(game, report.to_play, report.raw, report.human.policy, excluded)
        settings = self._settings(game.width, game.height)
        question, searches = choose_move(game, report.to_play, found, settings, self._random), self._searches()
        try:
            after = next(question)
            while True:
                evaluation = searches.evaluate(after, after.to_play, (ANY_SYMMETRY,), optimism=0.0)
                after = question.send(float(evaluation.lead_black[0]))
        except StopIteration as ended:
            return int(ended.value)

    def gives_up(self, game: Game, report: SearchReport) -> bool:
        """Return whether a player of the level may see that the game is lost: weak ones must be far behind."""
        below = len(LEVELS) - 1 - LEVELS.index(self.level)
        points = scaled(LOST + HOPE * below, game.width, game.height)
        return for_color(report.lead_black, report.to_play) < -points

    def close(self) -> None:
        """End the searches with another network than the engine's main one; it is freed with all the others."""
        if self._beside is not None:
            self._beside.end()

    def _searches(self) -> Searches:
        """Return searches with the network that sees what a move loses."""
        strong = self._strong()
        if strong is self._main.resources.evaluator:
            return self._main
        config = replace(self._main.config, human=HumanConfig())
        if self._beside is None:
            self._beside = Searches(config, strong)
        self._beside.configure(config)
        return self._beside

    def _strong(self) -> Evaluator:
        """Return the network that sees what a move loses, the main one or the one that ships; raises ModelError."""
        main = self._main.resources.evaluator
        return main if main is not None and main.info.name == STRONG_MODEL else self._shipped(STRONG_MODEL)

    @property
    def _human(self) -> Evaluator:
        """The network that imitates people: beside the main one, or that itself, or the one that ships."""
        for evaluator in reversed(self._main.resources.evaluators):
            if evaluator.info.needs_profile:
                return evaluator
        return self._shipped(HUMAN_MODEL)

    def _shipped(self, name: str) -> Evaluator:
        """Return a network that ships; it belongs to the engine's once it has been loaded.  Raises ModelError."""
        others = self._main.resources.others
        if name not in others:
            others[name] = self._load_shipped(name)
        return others[name]

    def _settings(self, width: int, height: int) -> LevelSettings:
        """Return how the level chooses its moves on this board."""
        return settings_of(self._table().skill(self.level, width, height), width, height)

    def _table(self) -> LevelTable:
        """Return the level table of the human-like network, which is read once; raises ModelError if damaged."""
        if self._levels is None:
            human, config, resources = self._human, self._main.config.network, self._main.resources
            is_main = human is resources.evaluator
            given = None if human in resources.others.values() else config.model if is_main else config.human_model
            self._levels = read_table(None if given is None else model_path(given), human.info.name)
        return self._levels
