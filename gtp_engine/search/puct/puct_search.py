"""PuctSearch: searches the positions of a game with a network, keeping the tree from move to move.

The whole search is on this page: `PuctSearch.playouts` is the loop, `SearchRun` what it does in each step.

    1. the root     the tree's root moves to the position; the networks evaluate it
    2. select       one kernel call fills a batch with walks from the root to leaves
    3. evaluate     the evaluation thread has the networks evaluate the leaves, and rollouts play them out
    4. back up      one kernel call gives the leaves their evaluations and edges, and the paths their results

The searching thread selects and backs up.  While a batch is being evaluated, it reports, selects the next batch if the
pipeline has one free, and stops waiting once the search is cancelled: batches under way are then taken back from the
tree, and their evaluations are dropped when they come (the evaluator's cache keeps them).

The pipeline, with two batches:

    searching thread     select A   select B   wait ...   back up A   select A'   wait ...   back up B   select B'
    evaluation thread               evaluate A ............ evaluate B ............ evaluate A' ...

With one batch the two threads take turns.  Where the evaluator may be called twice at a time, two batches are evaluated
at a time, in a thread each.  It says how many positions and batches suit this machine (`EvaluatorInfo.batches`).

With a seed, a search of a given number of visits repeats exactly: batches are selected and backed up in an order that
does not depend on time, and are as large on every machine.  Without one, a leaf may get the cached evaluation of the
same position after other moves, so that results depend on what was searched before.
"""

import time
from collections import deque
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from typing import Final

import numpy as np

from gtp_engine.config import Config
from gtp_engine.evaluation.evaluator import (
    ALL_SYMMETRIES,
    ANY_SYMMETRY,
    SUICIDE_AREAS,
    EvaluationOptions,
    Evaluator,
    Request,
)
from gtp_engine.evaluation.from_game import advantage_black, conditions_of, key_of_numbers, write_conditions, write_game
from gtp_engine.evaluation.memory_budget import BUDGET, tree_memory
from gtp_engine.evaluation.positions import Conditions, Evaluation
from gtp_engine.go.constants import EMPTY, PASS, padded_length
from gtp_engine.go.game import Game
from gtp_engine.search.limits import CancelToken, FirstMove, Limits, Pace, Progress, RootPosition, SearchRequest
from gtp_engine.search.players import rollout_players
from gtp_engine.search.puct.anti_mirror import (
    adjust_evaluation,
    is_difficult,
    mirroring_in,
    plain_averages,
    raise_priors,
    value_centre,
)
from gtp_engine.search.puct.evaluation_thread import Calls, EvaluationThread, IsDropped, Job
from gtp_engine.search.puct.expand import (
    Results,
    abandon,
    back_up,
    expand_and_back_up,
    expand_leaves,
    mix_rollouts,
    recompute_utilities,
    remember,
    update_means,
    write_network_evaluation,
)
from gtp_engine.search.puct.root import (
    cleans_up,
    duplicates,
    early_value,
    ending_points,
    human_exploration_of,
    key_of_root,
    mirrors_of,
    new_root,
    params_of,
    pass_goes_on,
    root_policy,
    score_center,
    useless_points,
)
from gtp_engine.search.puct.select import select_batch
from gtp_engine.search.puct.transpositions import Remembered
from gtp_engine.search.puct.tree import NEW, ROOT, SCORE, Extras, Tree, set_human_priors, set_priors
from gtp_engine.search.puct.tree_ownership import keep_ownership
from gtp_engine.search.puct.tree_report import (
    SearchState,
    entropy_and_surprise,
    node_report,
    progress_of,
    raw_evaluation,
    report_of,
)
from gtp_engine.search.puct.tree_store import Batch, Buffers, ReusableTree
from gtp_engine.search.puct.utility import utility_per_point, utility_radius
from gtp_engine.search.report import SearchReport, completed, for_color


class PuctSearch:
    """Searches positions of one game after the other with an evaluator, which stays open when the search is closed.

    `human` is a human-like network beside it, which evaluates the root, and all leaves if the search explores by its
    policy there, unless it lacks a profile.  `calls` makes the evaluator's calls; by default a thread of its own does.
    Raises ConfigError if the configuration asks for rollouts by a network or weights that are not loaded.

    One thread at a time uses it.  It owns what outlives a single search: the random numbers, the tree, the batches.
    """

    def __init__(
        self, config: Config, evaluator: Evaluator, human: Evaluator | None = None, calls: Calls | None = None
    ) -> None:
        self._new_player: Final = rollout_players(config, evaluator)
        self.config: Final = config
        self.evaluator: Final = evaluator
        lacks_profile = human is not None and human.info.needs_profile and not config.human.human_profile
        self._human: Final = None if lacks_profile else human
        self._explores: Final = self._human is not None and config.human.explores
        self.calls: Final[Calls] = EvaluationThread("evaluator") if calls is None else calls
        self.seed = config.search.seed
        self.random = np.random.default_rng(self.seed)
        self._tree: ReusableTree | None = None
        self._at_once: Final = min(each.info.at_once for each in (evaluator, self._human) if each is not None)
        self.remembered: Remembered | None = None
        """What earlier searches have found, for this one to use and to add to; set before the first search."""

    def run(self, game: Game, asked: SearchRequest | Limits, *, to_play: int | None = None) -> SearchReport:
        """Search the position of `game` (not changed) and return what was found.

        `to_play` defaults to the side whose turn it is.  The root is always evaluated, even if the search was cancelled
        before, so that there is a move to choose.  Raises what the evaluator raises.
        """
        self.calls.drain()
        request = SearchRequest.of(asked)
        with (request.limits.cancel or CancelToken()).calling(self.calls.wake):
            playouts = self.playouts(game, request, to_play=to_play)
            while True:
                try:
                    next(playouts)
                except StopIteration as end:
                    report: SearchReport = end.value
                    return report

    def playouts(
        self, game: Game, request: SearchRequest, *, to_play: int | None = None
    ) -> Generator[None, None, SearchReport]:
        """Search a position as `run` does, and return what was found.

        Yields before each wait for an evaluation, so that other searches can ask for theirs as well (`joint_search`).
        """
        # 1. The root.
        start = time.perf_counter()
        position = self._position(game, request, game.to_play if to_play is None else to_play)
        with self._tree_at(position, pass_goes_on=pass_goes_on(self.config.puct, request)) as kept:
            is_new = kept.raw is None
            if is_new:
                job = self._evaluate_root(kept)
                yield
                self._receive_root(kept, job)
            run = SearchRun(self, kept, position, request, start)
            run.enter_root(is_new=is_new)
            free, under_way = list(kept.buffers.batches), deque[Batch]()
            try:
                while run.goes_on():
                    # 2. Select, while older batches are being evaluated.
                    while free and run.select(free[-1], under_way):
                        # 3. Evaluate.
                        run.evaluate(free[-1])
                        under_way.append(free.pop())
                    if not under_way:
                        break
                    yield
                    if not run.wait(under_way[0]):
                        break
                    # 4. Expand and back up.
                    free.append(under_way[0])
                    run.back_up(under_way.popleft())
            finally:
                for batch in under_way:
                    abandon(kept.tree, batch.leaves)
            run.remember()
            return run.final_report()

    def known(self, game: Game, color: int) -> SearchReport | None:
        """Return what the tree of the last search holds about a position (`node_report`), None if it is not in it."""
        if self._tree is None:
            return None
        with BUDGET.using(self._tree):
            node = self._tree.node_of(game, color)
            return None if node is None else node_report(self._tree, node, color)

    def clear(self) -> None:
        """Forget the tree, and start the random numbers again if they have a seed."""
        self.calls.drain()
        self.random = np.random.default_rng(self.seed)
        if self._tree is not None:
            with BUDGET.using(self._tree):
                self._tree.clear()
            self._tree.buffers.set_seed(self.seed)

    def set_seed(self, seed: int | None) -> None:
        """Start the random numbers at `seed` (None: differently every time) and forget the tree."""
        self.calls.close()
        self.seed, self._tree = seed, None  # batches are of another size with a seed, and of one thread
        self.clear()

    def close(self) -> None:
        """End the thread after the call it is in; the search cannot be used afterwards."""
        self.calls.close()

    # --- the root ---

    def _position(self, game: Game, request: SearchRequest, color: int) -> RootPosition:
        """Return the position that is to be searched."""
        info, advantage = self.evaluator.info, request.advantage_black
        holder = color if request.behalf_of is None else request.behalf_of
        mirroring = mirroring_in(game, color) if request.anti_mirror else None
        return RootPosition(
            game.copy(),
            color,
            request.restrictions,
            advantage_black=advantage_black(self.config.puct, info, holder) if advantage is None else advantage,
            mirroring=EMPTY if mirroring is None else mirroring.color,
            explored_for=holder if self._explores and self.config.human.explores_unevenly else EMPTY,
            ignores_history=(request.ignores_history or self.config.puct.ignore_all_history) and info.may_lack_history,
            retaken=request.retaken,
        )

    @contextmanager
    def _tree_at(self, position: RootPosition, *, pass_goes_on: bool) -> Iterator[ReusableTree]:
        """Yield the tree with its root at a position, which is in `root_positions` as the evaluator is to see it.

        Its memory is not given to others in the `with` block.
        """
        board_size = position.game.width, position.game.height
        if self._tree is None or self._tree.buffers.board_size != board_size:
            puct, info = self.config.puct, self.evaluator.info
            size, batches = info.batches(
                *board_size, size=puct.eval_batch, count=puct.pipeline, repeats=self.seed is not None
            )
            with_people = self._human is not None and self.config.human.explores_tree
            buffers = Buffers(board_size, batches=batches, size=size, with_people=with_people)
            buffers.set_seed(self.seed)
            if self._new_player is not None:
                buffers.player = self._new_player(size, board_size, buffers.rollout_rng)
            extras = Extras(
                bias=puct.subtree_bias > 0.0,
                graph=puct.graph_search,
                human_prior=self._explores,
                edge_visits=puct.more_passing_hacks,
                ownership=padded_length(*board_size) if info.has_ownership or puct.rollout_share > 0.0 else 0,
                remembered=self.remembered if puct.graph_search else None,
            )
            memory, share = tree_memory(self.config.search), puct.subtree_bias_free_share
            self._tree = ReusableTree(buffers, extras, max_memory=memory, bias_free_share=share)
        kept = self._tree
        with BUDGET.using(kept):
            kept.move_root(position, pass_goes_on=pass_goes_on)
            for batch in kept.buffers.batches:
                write_conditions(batch.leaves.positions, slice(None), self.conditions(position))
            self.write_root(kept, position, pass_goes_on=pass_goes_on)
            yield kept

    def write_root(self, kept: ReusableTree, position: RootPosition, *, pass_goes_on: bool = False) -> None:
        """Write a position to the `root_positions` of a tree."""
        write_game(
            kept.buffers.root_positions,
            0,
            position.game,
            position.color,
            pass_goes_on=pass_goes_on,
            with_history=not position.ignores_history,
            conditions=self.conditions(position),
        )

    def _evaluate_root(self, kept: ReusableTree) -> Job:
        """Return the job that evaluates the root.

        A root that is new is played out as well; one that was a leaf before has been.
        """
        puct, buffers = self.config.puct, kept.buffers
        options = self.options(
            symmetry=ALL_SYMMETRIES if puct.root_average else ANY_SYMMETRY, optimism=puct.root_policy_optimism
        )
        results = buffers.batches[0].results if kept.tree.state[ROOT] == NEW else None
        request = Request(buffers.root_positions, 1, buffers.root_evaluation, options)
        return self.submit(request, results, buffers.root_by_people)

    def _receive_root(self, kept: ReusableTree, job: Job) -> None:
        """Wait for the evaluation of the root, even if the search was cancelled."""
        while not self.calls.wait(job):
            pass
        buffers = kept.buffers
        kept.raw = raw_evaluation(buffers.root_evaluation, 0, has_score=self.evaluator.info.has_score)
        if self._human is not None:
            kept.human = raw_evaluation(buffers.root_by_people, 0, has_score=self._human.info.has_score)

    def conditions(self, position: RootPosition) -> Conditions:
        """Return the conditions under which the leaves of a search are evaluated."""
        return conditions_of(position.game, self.config.puct.draw_wins_white)._replace(
            playout_doubling_advantage_black=position.advantage_black,
            passing_hacks=self.config.puct.passing_hacks,
            human_profile=self.config.human.profile.code,
        )

    def options(self, *, optimism: float, symmetry: int = ANY_SYMMETRY, shares: bool = False) -> EvaluationOptions:
        """Return how the network is applied; `shares` stands for `shares_transpositions`."""
        puct = self.config.puct
        return EvaluationOptions(symmetry, optimism, shares, puct.policy_temperature, SUICIDE_AREAS[puct.suicide_area])

    def submit(self, request: Request, results: Results | None, by_people: Evaluation | None) -> Job:
        """Return the job that has the evaluator answer a request.

        With `results` the positions are played out too, with `by_people` the human-like network evaluates them.
        """
        human, player = self._human, None if self._tree is None else self._tree.buffers.player

        def evaluate(is_dropped: IsDropped) -> None:
            self.evaluator.evaluate(request)
            if human is not None and by_people is not None:
                human.evaluate(request._replace(out=by_people))
            if player is not None and results is not None:
                player(request.positions, request.rows, results, is_dropped)

        return self.calls.submit(evaluate, 1 if player or self.seed is not None else self._at_once)


class SearchRun:
    """A search of one position, the root of the tree `kept`, by `search`, that began at `start` (`time.perf_counter`).

    The root has been evaluated.  `cancel` is checked between batches and while waiting.
    """

    def __init__(
        self, search: PuctSearch, kept: ReusableTree, position: RootPosition, request: SearchRequest, start: float
    ) -> None:
        config, info, game, color, raw = search.config, search.evaluator.info, position.game, position.color, kept.raw
        assert raw is not None, "evaluated now or by an earlier search"
        self._search: Final = search
        self._position: Final = position
        self._request: Final = request
        self._pace: Final = Pace(request, start)
        self._mirroring: Final = mirroring_in(game, color) if request.anti_mirror else None
        positions, arrays, goes_on = kept.buffers.root_positions, kept.tree, pass_goes_on(config.puct, request)
        if goes_on and game.consecutive_passes > 0:
            search.write_root(kept, position)  # as for leaves
        is_known, resumes = arrays.state[ROOT] != NEW, request.resumes and not kept.has_moved
        score = float(arrays.mean[ROOT, SCORE]) if is_known else raw.score_black
        center = kept.score_center if resumes else score_center(config.puct, game, score)
        params = params_of(config, game, request, info, has_errors=raw.winloss_error >= 0.0)
        params = params._replace(dynamic_center=center)
        params = params if self._mirroring is None else plain_averages(params)
        prunes = config.puct.symmetry_pruning and not request.restrictions and request.behalf_of is None
        mirrors = mirrors_of(game, positions) if prunes else []  # the opponent of who ponders may play either move
        same = duplicates(game, color, mirrors)
        left_out = same | (useless_points(game, color) if config.puct.useless_pruning else set())
        ending = ending_points(game, color, raw.ownership_black, config.puct.ending_bonus)
        root = new_root(position, positions, left_out)._replace(
            bonus=for_color(utility_per_point(raw.score_black, params), color) * ending
            + (0.0 if request.bonus_black is None else request.bonus_black),
            cleans_up=cleans_up(config, game, info),
            pass_goes_on=goes_on,
            tells_history=not (config.puct.ignore_all_history and info.may_lack_history),
            people=human_exploration_of(config.human),
            rng=kept.buffers.rng,
        )
        is_best = request.first_move is FirstMove.BEST
        self._state: Final = SearchState(
            kept=kept,
            root=root,
            params=params,
            raw=raw,
            config=config.puct,
            human_config=replace(config.human, human_move_share=0.0) if is_best else config.human,
            mirrors=mirrors,
            duplicates=same,
            move_ownership=request.move_ownership,
        )
        has_forgotten = is_known and kept.forget_moves(left_out)
        self._visits_before: Final = int(kept.tree.visits[ROOT])
        self._most_visits: Final = request.limits.most_visits(self._visits_before)
        self._playouts = 0
        self._begin_to_remember()
        if is_known and not resumes:
            self._update_reused_tree(has_forgotten=has_forgotten)
        kept.score_center, puct = center, config.puct
        kept.bounds = puct.lcb_stdevs, puct.lcb_min_share if puct.lcb else inf, utility_radius(params)
        self._has_choices = True

    def _begin_to_remember(self) -> None:
        """Let the search use what is remembered, unless it searches otherwise than those that remembered it."""
        remembered, request, game, state = self._tree.remembered, self._request, self._position.game, self._state
        if remembered.key.size == 0:
            return
        is_usual = not request.restrictions and request.retaken == EMPTY and self._mirroring is None
        conditions = int(state.kept.buffers.root_positions.conditions_key[0]) ^ int(
            key_of_numbers((game.width, game.height, self._position.explored_for))
        )
        remembered.conditions[0] = conditions if is_usual else 0
        if self._tree.graph.key[ROOT] == 0:
            self._tree.graph.key[ROOT] = key_of_root(game, self._position.color, state.params)

    def remember(self) -> None:
        """Remember what was found, but for positions in which the game goes on only because it is the root's."""
        tree, game = self._tree, self._position.game
        if tree.remembered.key.size > 0 and tree.remembered.conditions[0] != 0:
            first = ROOT + 1 if game.consecutive_passes > 0 else ROOT
            after_pass = self._state.kept.child_by_move(ROOT, PASS)
            remember(tree, self._state.params.remember_visits, after_pass or -1, first)

    def _update_reused_tree(self, *, has_forgotten: bool) -> None:
        """Recompute what has changed in an earlier search's tree; `has_forgotten`: the root has fewer moves now."""
        kept, params, color = self._state.kept, self._state.params, self._state.root.color
        tree, work = kept.tree, kept.buffers.means_work
        has_new_center = params.dynamic_weight > 0.0 and params.dynamic_center != kept.score_center
        if has_new_center or params.subtree_bias > 0.0:  # corrections change when nodes leave the tree
            recompute_utilities(tree, color, params, np.zeros((4, kept.used), dtype=np.int32), work)
        elif has_forgotten:
            update_means(tree, ROOT, color, params, work)

    # --- 1. the root ---

    def enter_root(self, *, is_new: bool) -> None:
        """Make the root ready for playouts; `is_new`: its evaluation is not in the tree yet."""
        if is_new:
            self._add_root_evaluation()
        tree, game, state = self._tree, self._position.game, self._state
        first = int(tree.first_edge[ROOT])
        legal = tree.move[first : first + int(tree.edges[ROOT])]
        policy = root_policy(state.raw.policy, legal, state.config, game, self._search.random)
        if self._mirroring is not None:
            raise_priors(self._mirroring, [], game.board, policy)
        set_priors(tree, ROOT, policy)
        if state.human is not None and tree.human_prior.size > 0:
            set_human_priors(tree, ROOT, state.human.policy)
        self._has_choices = progress_of(state, 0, 0.0).choices > 0

    def _add_root_evaluation(self) -> None:
        """Add the evaluation of the root: as the first playout, or instead of the one it had as a leaf."""
        buffers, params = self._state.kept.buffers, self._state.params
        evaluation = buffers.root_evaluation
        if self._tree.state[ROOT] == NEW:
            batch = buffers.batches[0]
            self._fill(batch, 1)
            self._add(batch, evaluation)
            self._playouts += 1
            return
        tree = self._tree
        if self._mirroring is not None and is_difficult(self._mirroring, self._position.game.board):
            value_centre(self._mirroring, evaluation, 0)
        if params.rollout_share == 0.0:
            write_network_evaluation(tree, ROOT, evaluation, 0, params)
            update_means(tree, ROOT, self._state.root.color, params, buffers.means_work)
        if params.has_ownership:
            keep_ownership(tree, ROOT, evaluation.ownership_black[0])

    # --- 2. select ---

    def select(self, batch: Batch, under_way: Collection[Batch]) -> bool:
        """Return whether a batch holds new playouts; not if none is due, or if all leaves in reach are under way.

        At most `in_flight_share` of the root's visits are under way at a time: playouts are selected without the
        results of those under way, and while the root has few visits that would be most of a large batch.  All batches
        have an equal part in it, so that none has to wait for the others.
        """
        kept, buffers, limit = self._state.kept, self._state.kept.buffers, self._most_visits
        pending = sum(other.playouts for other in under_way)
        share = max(1, int(self._state.config.in_flight_share * self._visits))
        count = min(buffers.batch_size, -(-share // len(buffers.batches)), share - pending)
        if limit is not None:
            count = min(count, limit - self._visits - pending)
        if count <= 0:
            return False
        if kept.is_full(count):
            if under_way:
                return False  # their paths name nodes, which pruning renumbers
            kept.prune()
        self._fill(batch, count)
        if batch.playouts == 0:
            abandon(self._tree, batch.leaves)
        return batch.playouts > 0

    def _fill(self, batch: Batch, count: int) -> None:
        """Fill a batch with `count` playouts, or as many as can be selected."""
        kept, state = self._state.kept, self._state
        kept.reserve(count)  # which may replace the tree's arrays
        params = state.params
        if params.futile_visits > 0.0 and self._most_visits is not None:
            params = params._replace(visits_left=float(self._most_visits - self._visits))
        select_batch(self._tree, state.root, params, batch.leaves, count, kept.buffers.path_work)

    # --- 3. evaluate ---

    def evaluate(self, batch: Batch) -> None:
        """Have the positions of a batch evaluated, if there are any."""
        batch.job = None
        if batch.evaluations > 0:
            options = self._search.options(
                optimism=self._state.config.policy_optimism, shares=self._search.seed is None
            )
            request = Request(batch.leaves.positions, batch.evaluations, batch.evaluation, options)
            batch.job = self._search.submit(request, batch.results, batch.by_people)

    def wait(self, batch: Batch) -> bool:
        """Return whether a batch was evaluated before the search was cancelled; reports meanwhile."""
        if batch.job is None:
            return True
        while not self._search.calls.wait(batch.job, self._pace.seconds_to_report()):
            if self._request.limits.is_cancelled:
                return False
            self._report_if_due()
        return True

    # --- 4. expand and back up ---

    def back_up(self, batch: Batch) -> None:
        """Add an evaluated batch to the tree."""
        self._add(batch, batch.evaluation)
        batch.add_human_priors(self._tree)
        self._playouts += batch.counted

    def _add(self, batch: Batch, evaluation: Evaluation) -> None:
        """Add the rows of a batch, whose positions have this evaluation."""
        tree, params, kept, leaves = self._tree, self._state.params, self._state.kept, batch.leaves
        work = kept.buffers.means_work
        if self._mirroring is not None:
            adjust_evaluation(self._mirroring, leaves, evaluation)
        if kept.buffers.player is None:
            expand_and_back_up(tree, params, leaves, evaluation, work)
            return
        expand_leaves(tree, params, leaves, evaluation, work)
        mix_rollouts(tree, params, leaves, evaluation, batch.results)
        back_up(tree, params, leaves, evaluation, work)

    # --- limits and reports ---

    def goes_on(self) -> bool:
        """Return whether no limit has been reached; reports if it is time to."""
        has_all = self._most_visits is not None and self._visits >= self._most_visits
        if self._request.limits.is_cancelled or has_all or not self._has_choices:
            return False
        self._report_if_due()
        return not self._pace.watcher_stops(self._progress)

    @property
    def _tree(self) -> Tree:
        """The arrays of the tree; others as it grows."""
        return self._state.kept.tree

    @property
    def _visits(self) -> int:
        """The visits of the root, and the playouts of this search that were explored without weight."""
        return self._visits_before + self._playouts

    def _progress(self, seconds: float) -> Progress:
        """Return what the watcher is called with."""
        progress = progress_of(self._state, self._playouts, seconds)
        if self._search.config.time.obvious_share < 1.0:
            entropy, surprise = entropy_and_surprise(self._state)
            progress = replace(progress, entropy=entropy, surprise=surprise)
        return progress

    def _report_if_due(self) -> None:
        """Report when the interval is over, for the first time as soon as a move was tried."""
        if self._visits > 1:
            state, game = self._state, self._position.game
            self._pace.report_if_due(lambda seconds: completed(report_of(state, self._playouts, seconds), game))

    def final_report(self) -> SearchReport:
        """Return what was found; the first move is drawn if the limits say so."""
        game, config, temperature, random = self._position.game, self._state.config, 0.0, None
        if self._request.first_move is FirstMove.DRAWN:
            temperature = early_value(config, game, early=config.temperature_early, late=config.temperature)
            random = self._search.random
        return completed(report_of(self._state, self._playouts, self._pace.seconds(), temperature, random), game)
