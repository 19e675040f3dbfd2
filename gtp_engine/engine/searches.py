"""The searches of an engine: which algorithm they use, and the limits for each purpose.

    Searches          the game search keeps its tree from move to move; the separate search starts afresh for every
                      position: it confirms the end of a game and estimates dead stones (`impartial_config`); so does
                      that of other games
    new_searcher      makes a search as configured
    Thresholds        how many visits and samples a conclusion needs: a single rollout proves little, a single network
                      evaluation a lot
    DynamicAdvantage  the advantage of a side in a handicap game, with which the game is searched
    measure_searches  how fast searches are
    evaluate_game     the network's evaluation of a position in a game, without a search, as in KataGo's `kata-raw-nn`

They share one evaluator, if there is one, so only one of them runs at a time.  All methods are for one thread
at a time; any other thread ends a search by its cancel token.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from gtp_engine.base.errors import ConfigError
from gtp_engine.compiled.arrays import zeros
from gtp_engine.config import Config
from gtp_engine.config.option import Value
from gtp_engine.engine.book.book import orientation
from gtp_engine.engine.resources import Resources
from gtp_engine.engine.time_manager import SETTLED_MIN_VISITS, TimeBudget, TimeWatcher
from gtp_engine.evaluation.evaluator import (
    ALL_SYMMETRIES,
    ANY_SYMMETRY,
    SUICIDE_AREAS,
    EvaluationOptions,
    Evaluator,
    ExclusiveEvaluator,
    ForwardingEvaluator,
    Request,
    evaluated,
    join_rows,
)
from gtp_engine.evaluation.from_game import GameRows, advantage_black, conditions_of, write_conditions, write_game
from gtp_engine.evaluation.positions import Evaluation, Positions, new_positions
from gtp_engine.go.constants import BLACK, WHITE, opponent
from gtp_engine.go.game import Game, is_continued
from gtp_engine.go.phases import initial_advantage_black
from gtp_engine.nn.symmetry import symmetry_count
from gtp_engine.search.limits import CancelToken, FirstMove, Limits, Searcher, SearchRequest, Watcher
from gtp_engine.search.puct.puct_search import PuctSearch
from gtp_engine.search.puct.transpositions import PLACES, Remembered
from gtp_engine.search.report import FEW_VISITS, SearchReport, for_color, turned_back
from gtp_engine.search.rollouts.rollout_search import RolloutSearch

LARGEST_ADVANTAGE: Final = 2.75
"""Doublings; KataGo's networks have seen few games with more."""

ADVANTAGE_STEP: Final = 0.125
"""Doublings by which the advantage changes from one of the engine's moves to the next."""

LOW_VALUE: Final = -0.9
HIGH_VALUE: Final = -0.5
"""Results in [−1, 1] between which the side that started behind is kept."""

LARGEST_SMALL_BOARD: Final = 7
"""Width or height up to which a game is never a handicap game."""

_AREA_19: Final = 19 * 19


@dataclass(frozen=True)
class Thresholds:
    """Numbers of visits and samples for one kind of search."""

    status_visits: int
    """Visits of each of the two searches (Black first, White first) that estimate which stones are dead; 1 where the
    network evaluates the position in all orientations instead."""
    confirm_visits: int
    """Visits of each search that confirms that a game is over, or that a pass is best, time permitting."""
    pass_visits: int
    """Visits of the search before a pass by which something may be lost, time permitting."""
    ownership_samples: int
    """Fewest samples of an ownership from which the status of stones is estimated."""
    tried_visits: int
    """Fewest visits of a root move for its result to count."""
    settled_visits: int
    """Fewest visits of the best move for an extreme winrate to end the search."""


ROLLOUT_THRESHOLDS: Final = Thresholds(
    status_visits=6000,
    confirm_visits=1000,
    pass_visits=4000,
    ownership_samples=32,  # a batch; a finished position has few, as most playouts pass twice
    tried_visits=FEW_VISITS,
    settled_visits=SETTLED_MIN_VISITS,
)
"""A rollout is either won or lost; the mean of n of them has a standard error of about 1/√n."""

NETWORK_THRESHOLDS: Final = Thresholds(
    status_visits=1,
    confirm_visits=32,  # 16 did not find the move that wins a race, and so one game of 618, though 32 do
    pass_visits=1000,  # with 400 one game of 816 was lost that these win
    ownership_samples=1,
    tried_visits=1,
    settled_visits=50,
)
"""An evaluation already is an expectation: the search only has to check that the next moves change nothing.

Chosen for networks with 7 to 60 evaluations a second: an estimate takes one or two seconds at most, and a settled move
one.  KataGo spends 8 visits or more on the same questions (`maybeFriendlyPass`).
"""


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

BATCH_ROWS: Final = 64
"""Positions of many games that are evaluated in one call."""

BENCHMARK_STAGES: Final = tuple(0.06 * number for number in range(10))
"""Moves, per point of the board, before the positions that `measure_searches` searches, as many as KataGo's benchmark:
the last one is late in the middle game."""


@dataclass(frozen=True)
class Speed:
    """What a number of searches took: visits, evaluations by the network in a number of calls, seconds."""

    positions: int
    visits: int
    evaluations: int
    batches: int
    seconds: float


class CountingEvaluator(ForwardingEvaluator):
    """Counts the positions that `evaluator` evaluates, call by call, of which as many may be made at a time."""

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__(evaluator, at_once=evaluator.info.at_once)
        self.rows: Final[list[int]] = []

    def evaluate(self, request: Request) -> None:
        """Count and forward a request."""
        self.rows.append(request.rows)
        super().evaluate(request)


def new_searcher(resources: Resources, config: Config) -> Searcher:
    """Return a new search: by PUCT with a network unless the configuration says otherwise, by rollouts without one.

    Raises ConfigError if the configuration requires a network and there is none, and for settings of human-like play
    that do not go with the networks.
    """
    resources.check_human_settings(config)
    evaluator = resources.evaluator
    if evaluator is None and config.search.search == "puct":
        advice = "give the engine an evaluator, or leave search.search at auto"
        raise ConfigError("search.search = puct without a network", advice=advice)
    if evaluator is None or not resources.uses_network(config):
        return RolloutSearch(config.search, None if evaluator is None else evaluator.info)
    search = PuctSearch(config, evaluator, resources.human)
    if config.puct.remember:
        search.remembered = resources.remembered = resources.remembered or zeros(Remembered, places=PLACES)
    return search


def impartial_config(resources: Resources, config: Config) -> Config:
    """Return the configuration for questions about a position: which stones are dead, whether a group lives.

    Neither noise nor people's moves guide the search, and no side has a playout doubling advantage.  To read out a
    group, komi is set so that its life decides the game: where the network assumes another komi, rollouts answer.
    """
    values = {"puct.playout_doubling_advantage": 0.0, **_PLAIN_EXPLORATION}
    if resources.evaluator is None or resources.evaluator.info.knows_komi or not resources.uses_network(config):
        return config.with_values(values)
    return config.with_values(values | {"search.search": "rave", "search.rollout_policy": "auto"})


def new_searches(resources: Resources, config: Config) -> tuple[Searcher, Searcher, Searcher]:
    """Return new searches: for moves, with `impartial_config`, of other games; raises ConfigError as `new_searcher`.

    What the second finds depends on the position alone.
    """
    configs = (config, impartial_config(resources, config), config)
    game, separate, other = (new_searcher(resources, each) for each in configs)
    separate.set_seed(0)
    return game, separate, other


class Searches:
    """The searches of an engine: with an evaluator by PUCT unless the configuration says otherwise, else by rollouts.

    Raises ConfigError if the configuration requires a network and there is none.
    """

    def __init__(self, config: Config, evaluator: Evaluator | None, human: Evaluator | None = None) -> None:
        self.config = config
        self.resources: Final = Resources(
            None if evaluator is None else ExclusiveEvaluator(evaluator),
            None if human is None else ExclusiveEvaluator(human),
        )
        """The networks, which may be used while a search runs."""
        self.uses_network = self.resources.uses_network(config)
        """Whether searches evaluate positions by the network."""
        self.seed: int | None = None
        """Where the random numbers start that were set to repeat; None: they never do."""
        self._game_search, self._separate_search, self._other_search = new_searches(self.resources, config)
        self._known: dict[int, tuple[Game, GameRows]] = {}
        """What keeps the position of each game up to date that was evaluated last, with the game, by its id."""

    @property
    def thresholds(self) -> Thresholds:
        """The visits and samples that count: few only where a network evaluates positions and their ownership."""
        evaluator = self.resources.evaluator
        if evaluator is None or not self.uses_network or self.config.puct.rollout_share == 1.0:
            return ROLLOUT_THRESHOLDS
        info = evaluator.info
        return NETWORK_THRESHOLDS if info.has_ownership and info.knows_komi else ROLLOUT_THRESHOLDS

    @property
    def knows_advantage(self) -> bool:
        """Whether searches take a playout doubling advantage into account."""
        evaluator = self.resources.evaluator
        return evaluator is not None and self.uses_network and evaluator.info.knows_advantage

    def search_move(
        self,
        game: Game,
        color: int,
        asked: SearchRequest | Limits,
        watcher: Watcher | None = None,
        first_move: FirstMove = FirstMove.BEST,
    ) -> SearchReport:
        """Search for a move of `color` as asked, within the configured number of visits, until the watcher stops it."""
        search, puct = self.config.search, self.config.puct
        request = SearchRequest.of(asked)
        limits = request.limits
        request = replace(
            request,
            limits=Limits(
                lowest(search.visits, limits.visits), watcher, lowest(search.playouts, limits.playouts), limits.cancel
            ),
            first_move=first_move,
            anti_mirror=puct.anti_mirror,
            wide_root_noise=puct.wide_noise,
            ignores_history=search.forget_history,
        )
        return self._game_search.run(game, request, to_play=color)

    def analyze(self, game: Game, color: int, asked: SearchRequest | Limits) -> SearchReport:
        """Search with the settings of analyses; the first report comes once a move has been tried."""
        request = replace(
            SearchRequest.of(asked),
            wide_root_noise=self.config.analysis.wide_root_noise,
            ignores_history=self.config.analysis.ignore_history,
            anti_mirror=self.config.analysis.expect_mirroring,
            first_move=FirstMove.LIKELIEST,
        )
        return self._game_search.run(game, request, to_play=color)

    def search_other(self, game: Game, limits: Limits) -> SearchReport:
        """Search a position of any game with the engine's configuration and a new tree; the others stay as they are."""
        self._other_search.clear()
        return self._other_search.run(game, limits)

    def ponder(self, game: Game, advantage_black: float | None, cancel: CancelToken) -> None:
        """Search the position, with the opponent to play, within the limits of pondering; the tree keeps what it finds.

        For `advantage_black` see `SearchRequest`.
        """
        config = self.config.time
        limits = SearchRequest(
            Limits(
                visits=lowest(config.ponder_visits),
                playouts=lowest(config.ponder_playouts),
                watcher=lambda progress: progress.seconds >= config.ponder_time,
                cancel=cancel,
            ),
            behalf_of=opponent(game.to_play),
            advantage_black=advantage_black,
        )
        self._game_search.run(game, limits)

    def search_afresh(self, game: Game, to_play: int, asked: SearchRequest | Limits) -> SearchReport:
        """Search the position for either side with a new tree; that of the game stays as it is.

        What it finds depends on the position alone.
        """
        self._separate_search.clear()
        return self._separate_search.run(game, asked, to_play=to_play)

    def confirm(
        self, game: Game, to_play: int, *, deadline: float, cancel: CancelToken, visits: int | None = None
    ) -> SearchReport | None:
        """Return what a search with a new tree finds by `deadline` (of time.perf_counter), None after that.

        It has `visits`, by default those that confirm the end of a game; how the board is turned changes nothing.
        """
        seconds = deadline - time.perf_counter()
        if seconds <= 0:
            return None
        watcher = TimeWatcher(TimeBudget(seconds, seconds), self.config, self.thresholds.settled_visits)
        limits = Limits(visits or self.thresholds.confirm_visits, watcher, cancel=cancel)
        symmetry = orientation(game)
        return turned_back(self.search_afresh(game.transformed(symmetry), to_play, limits), symmetry, game)

    def evaluate(
        self,
        game: Game,
        color: int,
        symmetries: tuple[int, ...],
        optimism: float | None = None,
        *,
        by_people: bool = False,
    ) -> Evaluation:
        """Return the network's evaluation, see `evaluate_game`; `optimism` None is the one configured for the root.

        With `by_people` it is the human-like network's.  Raises ConfigError without the network.
        """
        config = self.config
        if optimism is not None:
            config = replace(config, puct=replace(config.puct, root_policy_optimism=optimism))
        return evaluate_game(self._network(by_people=by_people), game, color, config, symmetries)

    def evaluate_impartially(self, game: Game, color: int) -> Evaluation:
        """Return the network's evaluation with `color` to play, one row for each orientation of the board.

        No side has a playout doubling advantage.  Raises ConfigError without a network.
        """
        config = impartial_config(self.resources, self.config)
        return evaluate_game(self._network(), game, color, config, range(symmetry_count(game.width, game.height)))

    def _network(self, *, by_people: bool = False) -> Evaluator:
        """Return the network, or the human-like one; raises ConfigError without it."""
        evaluator = self.resources.human if by_people else self.resources.evaluator
        if evaluator is None and by_people:
            raise ConfigError("no human-like network is loaded", advice="set network.human_model (--human-model FILE)")
        if evaluator is None:
            raise ConfigError("no network is loaded", advice="set network.model (--model FILE)")
        return evaluator

    def evaluate_many(self, games: Sequence[Game], *, all_orientations: bool) -> Iterator[tuple[int, Evaluation, int]]:
        """Yield the number of each game, in no fixed order, with an evaluation and the row of it that is the game's.

        What is known of the games of the last call costs little after a move.  Raises ConfigError without a network,
        and ModelError for a board that the network does not play.
        """
        evaluator = self._network()
        options = EvaluationOptions(
            ALL_SYMMETRIES if all_orientations else ANY_SYMMETRY,
            suicide_area=SUICIDE_AREAS[self.config.puct.suicide_area],
        )
        self._known = {
            id(game): self._known.get(id(game)) or (game, GameRows(new_positions(1, game.width, game.height)))
            for game in games
        }
        for size in dict.fromkeys((game.width, game.height) for game in games):
            numbers = [number for number, game in enumerate(games) if (game.width, game.height) == size]
            evaluator.prepare(*size)
            for first in range(0, len(numbers), BATCH_ROWS):
                part = numbers[first : first + BATCH_ROWS]
                positions = join_rows(self._position_of(games[number]) for number in part)
                evaluation = evaluated(evaluator, positions, options)
                yield from ((number, evaluation, row) for row, number in enumerate(part))

    def _position_of(self, game: Game) -> Positions:
        """Return the position of a game that is known, in one row."""
        row, part = self._known[id(game)][1], since_move_out_of_turn(game, game.to_play)
        row.fill(0, game)
        if part is not game:
            write_conditions(row.positions, 0, conditions_of(part))
        return row.positions

    def known(self, game: Game, color: int) -> SearchReport | None:
        """Return what the tree of the last search holds about a position of the game, None if it is not in the tree."""
        return self._game_search.known(game, color)

    def _searchers(self) -> tuple[Searcher, Searcher, Searcher]:
        return self._game_search, self._separate_search, self._other_search

    def clear(self) -> None:
        """Forget trees and cached evaluations."""
        for search in self._searchers():
            search.clear()
        self.resources.clear_cache()

    def set_seed(self, seed: int | None) -> None:
        """Start the random numbers of the searches at `seed` (None: differently every time) and forget their trees."""
        self.seed = seed
        for search in (self._game_search, self._other_search):
            search.set_seed(seed)

    def configure(self, config: Config) -> None:
        """Use another configuration; trees and random numbers stay unless an option that shapes the trees changes.

        Then trees are dropped, and the random numbers restart at the seed that was set.  Nothing changes if it raises
        ConfigError.
        """
        if not config.shapes_trees_like(self.config):
            searches = new_searches(self.resources, config)
            self.end()
            self._game_search, self._separate_search, self._other_search = searches
            if self.seed is not None:
                self.set_seed(self.seed)
        self.config, self.uses_network = config, self.resources.uses_network(config)

    def end(self) -> None:
        """End the searches; the networks stay open."""
        for search in self._searchers():
            search.close()

    def close(self) -> None:
        """End the searches and free the networks."""
        self.end()
        self.resources.close()


def measure_searches(
    config: Config, evaluator: Evaluator | None, board: tuple[int, int], visits: int, cancel: CancelToken
) -> Speed:
    """Return how fast positions of a game that the network plays are searched, each with `visits` and a new tree.

    `board` is its width and height.  Raises ConfigError without a network.
    """
    if evaluator is None or not Resources(evaluator).uses_network(config):
        raise ConfigError("no network is loaded", advice="set network.model (--model FILE)")
    counting = CountingEvaluator(evaluator)
    search = PuctSearch(impartial_config(Resources(counting), config), counting)
    games, reports = positions_of_a_game(search, *board, BENCHMARK_STAGES), list[SearchReport]()
    counting.rows.clear()
    for each in games:
        search.clear()
        reports.append(search.run(each, Limits(visits, cancel=cancel)))
        if cancel.is_cancelled:
            break
    search.close()
    return Speed(
        positions=len(reports),
        visits=sum(report.visits for report in reports),
        evaluations=sum(counting.rows),
        batches=len(counting.rows),
        seconds=sum(report.seconds for report in reports),
    )


def positions_of_a_game(search: PuctSearch, width: int, height: int, stages: Iterable[float]) -> list[Game]:
    """Return positions of a game of first choices, after as many moves per point of the board as `stages` say."""
    game, found = Game(width, height), []
    for stage in stages:
        while len(game.moves) < stage * width * height and not game.is_over:
            game.play(search.run(game, Limits(visits=1)).moves[0].point)
        found.append(game.copy())
    return found


def lowest(*limits: int | None) -> int | None:
    """Return the lowest limit, None if there is none; 0 and None are none."""
    return min(filter(None, limits), default=None)


def evaluate_game(
    evaluator: Evaluator, game: Game, color: int, config: Config, symmetries: Iterable[int]
) -> Evaluation:
    """Return the evaluation of the position with `color` to play, one row for each of `symmetries`.

    As in KataGo, a move out of turn counts as the beginning of a new game, with handicap and button reset.  Profile,
    advantage and optimism are those that `config` has for the root.
    """
    part = since_move_out_of_turn(game, color)
    conditions = conditions_of(part, config.puct.draw_wins_white)._replace(
        playout_doubling_advantage_black=advantage_black(config.puct, evaluator.info, color),
        human_profile=config.human.profile.code,
    )
    positions = new_positions(1, game.width, game.height)
    write_game(positions, 0, game, color, conditions=conditions)
    plain = EvaluationOptions(
        optimism=config.puct.root_policy_optimism, suicide_area=SUICIDE_AREAS[config.puct.suicide_area]
    )
    found = [evaluated(evaluator, positions, plain._replace(symmetry=symmetry)) for symmetry in symmetries]
    return Evaluation._make(np.concatenate(arrays) for arrays in zip(*found, strict=True))


def since_move_out_of_turn(game: Game, color: int) -> Game:
    """Return the game with `color` to play as if it had begun before the last move out of turn; if none, `game`."""
    moves, turn, first = game.moves, int(game.first_player), 0
    for number, move in enumerate(moves):
        first = first if move.color == turn else number
        turn = opponent(move.color)
    first = first if color == turn else len(moves)
    if first == 0 and color == turn:
        return game
    before = game.copy()
    before.undo(len(moves) - first)
    stones = [(color, point) for point, color in before.stones.items()]
    part = Game(game.width, game.height, game.rules, game.komi)
    part.handicap_by_moves = game.handicap_by_moves
    part.set_up(stones, moves[first].color if first < len(moves) else color)
    for move in moves[first:]:
        part.play(move, tolerant=True)
    return part


class DynamicAdvantage:
    """The advantage with which the engine plays a handicap game, so that it neither despairs nor plays carelessly.

    The side that starts behind has to expect that it outplays the other one, or all moves look equally lost; the side
    that starts ahead should expect the opposite and play safely.  The advantage begins at a cap that grows with the
    handicap, `per_point` (`puct.dynamic_advantage`).  Then it follows the winrate of the side that started behind: it
    grows while that is below 5%, and shrinks while it is above 25%.  So it vanishes as the game becomes even.  The
    rule and its numbers are KataGo's (`updateDynamicPDAHelper` in `cpp/command/gtp.cpp`).

    Some controllers set up the whole game before each move, so a game is recognised by its moves: it is the same game
    as long as they continue those of the last call.
    """

    def __init__(self, per_point: float) -> None:
        self.per_point = per_point
        self._last_game: Game | None = None
        self._last_black = 0.0
        self._last_value_black = 0.0

    def black(self, game: Game) -> float:
        """Return Black's advantage, doublings, for the next move of either colour; negative if White has it."""
        ahead_black = initial_advantage_black(game)
        behind = WHITE if ahead_black >= 0.0 else BLACK
        advantage = cap = largest_advantage(abs(ahead_black), game.width, game.height, per_point=self.per_point)
        has_begun = self._last_game is not None and is_continued(self._last_game, game)
        if has_begun and np.any(game.board.color == WHITE):
            last, value = (for_color(each, behind) for each in (self._last_black, self._last_value_black))
            change = ADVANTAGE_STEP if value < LOW_VALUE else -ADVANTAGE_STEP if value > HIGH_VALUE else 0.0
            advantage = min(max(0.0, last + change), cap)
        return for_color(advantage, behind) if advantage > 0.0 else 0.0

    def record(self, game: Game, report: SearchReport) -> None:
        """Note the search for a move that is about to be played in `game`; its advantage was `black(game)`."""
        self._last_black = self.black(game)
        self._last_value_black = report.value_black
        self._last_game = game.copy()


def largest_advantage(points: float, width: int, height: int, *, per_point: float) -> float:
    """Return the cap, doublings, for a side that started `points` behind; 0 where that is too little for a handicap.

    On small boards a point counts for more.
    """
    scaling = float(_AREA_19 / (width * height)) ** 0.75
    threshold = max(4.0 / scaling, 2.0)
    if points < threshold or min(width, height) <= LARGEST_SMALL_BOARD:
        return 0.0
    cap = min(LARGEST_ADVANTAGE, per_point * (points - threshold) * scaling)
    return float(np.floor(cap / ADVANTAGE_STEP + 0.5)) * ADVANTAGE_STEP
