"""A slow and simple version of the network search: dictionaries, recursion, one playout at a time, KataGo's formulas.

It is the oracle of the kernels: both must visit the same moves equally often and find the same means.  It explores by
a human-like policy too if it gets `People`, whose random numbers are those of the kernels.  It has no batches,
symmetries, noise or ending bonus; games end after two passes and are counted by area, unless the first of them is that
of the opponent before the search (`conservative_pass`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import atan, exp, log, pi, sqrt
from typing import NamedTuple

from gtp_engine.config import HumanConfig, PuctConfig
from gtp_engine.evaluation.evaluator import Evaluator, Request
from gtp_engine.evaluation.from_game import conditions_of, write_game
from gtp_engine.evaluation.positions import new_evaluation, new_positions
from gtp_engine.go.constants import BLACK, EMPTY, PASS
from gtp_engine.go.coords import board_points, point_to_xy
from gtp_engine.go.game import Game


@dataclass
class PositionEvaluation:
    """The evaluation of a position, Black's view."""

    value: float
    no_result: float
    score: float
    stdev: float
    winloss_error: float
    score_error: float
    policy: dict[int, float] = field(default_factory=dict)


@dataclass
class Bucket:
    """What subtree value bias correction knows about similar positions."""

    difference: float = 0.0
    weight: float = 0.0


class People(NamedTuple):
    """A human-like network and how the search explores by its policy; `chances` are in [0, 1)."""

    config: HumanConfig
    evaluator: Evaluator
    chances: Iterator[float]


@dataclass
class Node:
    evaluation: PositionEvaluation
    own_utility: float
    own_weight: float
    bucket: Bucket | None = None
    added: Bucket = field(default_factory=Bucket)
    children: dict[int, "Node"] = field(default_factory=dict)
    edge_visits: dict[int, int] = field(default_factory=dict)
    human_policy: dict[int, float] = field(default_factory=dict)
    key: object = None
    visits: int = 0
    value: float = 0.0
    utility: float = 0.0
    utility_square: float = 0.0
    weight: float = 0.0


class ReferenceSearch:
    """Searches one position; `root` holds the tree."""

    def __init__(self, game: Game, config: PuctConfig, evaluator: Evaluator, people: People | None = None) -> None:
        self.config = config
        self.evaluator = evaluator
        self.people = people
        self.side = sqrt(game.width * game.height)
        self.game = game
        evaluation = self.evaluate(game, evaluator, pass_goes_on=config.conservative_pass)
        center = evaluation.score * (1 - config.dynamic_score_zero_weight)
        cap = self.side * config.dynamic_score_scale
        self.center = min(max(center, evaluation.score - cap), evaluation.score + cap)
        self.certain_weight = (
            config.uncertainty_max_weight if self.weighs_by_certainty and evaluation.winloss_error >= 0 else 1.0
        )
        self.buckets: dict[object, Bucket] = {}
        self.shared: dict[object, Node] = {}
        self.is_extra = False  # whether the playout tries a move only because a pass ends the game
        self.root = self.new_node(evaluation, game)
        self.update(self.root, game.to_play)
        self.root.visits = 1

    def run(self, visits: int) -> None:
        done = 1
        while done < visits:
            self.is_extra, self.visits_left = False, visits - done
            self.play([self.root], self.game.copy())
            done += int(not self.is_extra)

    def play(self, path: list[Node], game: Game) -> bool:
        """Return whether the playout counts for the first node of the path, too."""
        node, color, is_counted = path[-1], game.to_play, True
        if not self.is_over(game):
            by_people, is_counted = self.draw_selection(node, color)
            move = self.choose(node, color, by_people, has_weight=is_counted)
            if game.consecutive_passes > 0 and self.config.more_passing_hacks:
                usual, move = move, self.with_both_kinds(node, move)
                if move != usual:
                    is_counted, self.is_extra = False, True
            bucket = bucket_key(game, move)
            game.play(move)
            child = node.children.get(move)
            if child is None:
                child = node.children[move] = self.find_or_add(game, node.key, bucket)
            elif self.goes_on(path, child, node.edge_visits[move], has_weight=is_counted):
                is_counted = self.play([*path, child], game) and is_counted
            node.edge_visits[move] = node.edge_visits.get(move, 0) + int(is_counted)
        if is_counted:
            node.visits += 1
            self.update(node, color)
        return is_counted

    def goes_on(self, path: list[Node], child: Node, edge_visits: int, has_weight: bool) -> bool:
        return all(child is not node for node in path) and (child.visits <= edge_visits or not has_weight)

    def draw_selection(self, node: Node, color: int) -> tuple[bool, bool]:
        """Return whether the human-like policy selects the move, and whether it counts."""
        if self.people is None:
            return False, True
        config = self.people.config
        shares = config.human_opponent_weightless, config.human_opponent_weightful
        if node is self.root:
            shares = config.human_root_weightless, config.human_root_weightful
        elif color == self.game.to_play:
            shares = config.human_own_weightless, config.human_own_weightful
        if sum(shares) == 0:
            return False, True
        chance = next(self.people.chances)
        return chance < sum(shares), chance >= shares[0]

    def is_over(self, game: Game) -> bool:
        is_first_move = len(game.moves) == len(self.game.moves) + 1
        return game.is_over and not (is_first_move and self.config.conservative_pass)

    def with_both_kinds(self, node: Node, move: int) -> int:
        if node.visits < 3:
            return move
        if PASS not in node.children:
            return PASS
        if len(node.children) == 1 and move == PASS:
            policy = node.evaluation.policy
            return max((m for m in sorted(policy) if m != PASS), key=lambda m: policy[m], default=PASS)
        return move

    def find_or_add(self, game: Game, previous: object, bucket: object) -> Node:
        key: object = None
        if self.config.graph_search and not self.is_over(game):
            key = position_key(game, previous, self.config.graph_search_bound)
            if key in self.shared:
                return self.shared[key]
        child = self.new_node(self.evaluate(game, self.evaluator), game)
        child.visits, child.key = 1, key
        if bucket is not None:
            child.bucket = self.buckets.setdefault(bucket, Bucket())
        if key is not None:
            self.shared[key] = child
        self.update(child, game.to_play)
        return child

    def evaluate(self, game: Game, evaluator: Evaluator, *, pass_goes_on: bool = False) -> PositionEvaluation:
        if self.is_over(game):
            margin = game.score().margin_black
            value, score = float((margin > 0) - (margin < 0)), margin
            if game.komi.is_integer():
                value, score = value or 1 - 2 * self.config.draw_wins_white, margin + 0.5 - self.config.draw_wins_white
            return PositionEvaluation(value, 0.0, score, 0.0, -2.0, 0.0)
        positions, out = new_positions(1, game.width, game.height), new_evaluation(1, game.width, game.height)
        conditions = conditions_of(game, self.config.draw_wins_white)._replace(passing_hacks=self.config.passing_hacks)
        write_game(positions, 0, game, pass_goes_on=pass_goes_on, conditions=conditions)
        evaluator.evaluate(Request(positions, 1, out))
        moves = [PASS, *game.legal_points()]
        return PositionEvaluation(
            value=float(out.win_black[0]) - float(out.loss_black[0]),
            no_result=max(0.0, 1.0 - float(out.win_black[0]) - float(out.loss_black[0])),
            score=float(out.score_black[0]),
            stdev=float(out.score_stdev[0]),
            winloss_error=float(out.winloss_error[0]),
            score_error=float(out.score_error[0]),
            policy={move: float(out.policy[0, move]) for move in sorted(moves)},
        )

    def new_node(self, evaluation: PositionEvaluation, game: Game) -> Node:
        return Node(
            evaluation,
            self.utility(evaluation),
            self.weight_of(evaluation),
            human_policy={} if self.people is None else self.evaluate(game, self.people.evaluator).policy,
        )

    @property
    def weighs_by_certainty(self) -> bool:
        return self.config.use_uncertainty and self.config.uncertainty > 0

    def utility(self, evaluation: PositionEvaluation) -> float:
        config, score, stdev = self.config, evaluation.score, evaluation.stdev
        result = config.win_weight * evaluation.value - config.no_result_utility_white * evaluation.no_result
        static = config.static_score_weight * mean_share(score, stdev, 0.0, 2.0 * self.side)
        scale = config.dynamic_score_scale * self.side
        return result + static + config.dynamic_score_weight * mean_share(score, stdev, self.center, scale)

    def weight_of(self, evaluation: PositionEvaluation) -> float:
        config = self.config
        if evaluation.winloss_error == -2.0:
            return self.certain_weight
        if not self.weighs_by_certainty or evaluation.winloss_error < 0:
            return 1.0
        scale = config.dynamic_score_scale * self.side
        slope = config.static_score_weight * slope_of(evaluation.score, 0.0, 2.0 * self.side)
        slope += config.dynamic_score_weight * slope_of(evaluation.score, self.center, scale)
        error = (
            config.win_weight * evaluation.winloss_error + slope * evaluation.score_error
        ) ** config.uncertainty_exponent
        return config.uncertainty / (error + config.uncertainty / config.uncertainty_max_weight)

    def choose(self, node: Node, color: int, by_people: bool, has_weight: bool) -> int:
        config, sign, is_root = self.config, 1.0 if color == BLACK else -1.0, node is self.root
        policy = node.human_policy if by_people else node.evaluation.policy
        total = sum(weights_of(node)) if has_weight else sum(child.weight for child in node.children.values())
        tried = sum(policy[move] for move in node.children)
        known = min(1.0, tried**config.fpu_parent_power) if config.fpu_parent_power else 1.0
        known = known if config.fpu_parent_by_policy else 1 - config.fpu_parent_weight
        parent = known * node.utility + (1 - known) * node.own_utility
        urgency = sign * parent - (config.root_fpu_reduction if is_root else config.fpu_reduction) * sqrt(tried)
        loss = config.root_fpu_loss if is_root and config.root_fpu_loss is not None else config.fpu_loss
        radius = config.win_weight + config.static_score_weight + config.dynamic_score_weight
        urgency = (1 - loss) * urgency - loss * radius
        scaling = config.c_puct + config.c_puct_log * log((total + config.c_puct_base) / config.c_puct_base)
        scaling *= sqrt(total + 0.01) * (1 + config.utility_stdev_scale * (self.stdev(node) / self.prior_stdev - 1))
        if self.people is not None and by_people:
            people = self.people.config
            scaling = (people.human_c_puct + people.human_c_puct_permanent * sqrt(total)) * sqrt(total + 0.01)
        scores = {}
        for move, prior in policy.items():
            child, weight, utility = node.children.get(move), 0.0, urgency
            if child is not None:
                weight = child.weight * (node.edge_visits[move] / child.visits if has_weight else 1)
                utility = sign * child.utility if weight > 0 else urgency
            scores[move] = utility + scaling * prior / (1 + weight)
            if is_root and has_weight and self.is_futile(node, move, weight):
                scores[move] = -1e40
            elif is_root and has_weight and child and weight < sqrt(prior * total * config.root_child_visits):
                scores[move] = 1e20
        order = [*node.children, *sorted(scores, key=lambda move: (move == PASS, move))]
        return max(order, key=lambda move: scores[move])

    def is_futile(self, node: Node, move: int, weight: float) -> bool:
        """Return whether a move of the root cannot get its share of the most weight with the visits that are left."""
        needed = self.config.futile_visits * max(weights_of(node), default=0.0)
        child, per_visit = node.children.get(move), node.weight / node.visits
        if child is None:
            return self.visits_left < needed / per_visit
        return child.visits + self.visits_left < needed * (node.edge_visits[move] + 1) / (weight + per_visit)

    @property
    def prior_stdev(self) -> float:
        return self.config.utility_stdev_prior

    def stdev(self, node: Node) -> float:
        if node.weight <= 1:
            return self.prior_stdev
        square, prior_weight = node.utility**2, self.config.utility_stdev_prior_weight
        total = (square + self.prior_stdev**2) * prior_weight + max(square, node.utility_square) * node.weight
        return sqrt(max(0.0, total / (prior_weight + node.weight - 1) - square))

    def update(self, node: Node, color: int) -> None:
        sign = 1.0 if color == BLACK else -1.0
        children = [(move, child) for move, child in node.children.items() if node.edge_visits[move] > 0]
        weights = weights_of(node)
        utilities = [sign * child.utility for _, child in children]
        if len(children) > 1:
            weights = self.without_noise(
                weights, utilities, [max(1e-30, node.evaluation.policy[m]) for m, _ in children]
            )
            weights = self.weighed(weights, utilities)
        own_utility = self.corrected_utility(node, sign, weights, utilities)
        own = max(1, node.visits) if not children else 1
        parts = [(own * node.own_weight, node.evaluation.value, own_utility, own_utility**2)]
        parts += [(w, c.value, c.utility, c.utility_square) for w, (_, c) in zip(weights, children, strict=True)]
        node.weight = sum(part[0] for part in parts)
        node.value = sum(part[0] * part[1] for part in parts) / node.weight
        node.utility = sum(part[0] * part[2] for part in parts) / node.weight
        node.utility_square = sum(part[0] * part[3] for part in parts) / node.weight

    def corrected_utility(self, node: Node, sign: float, weights: list[float], utilities: list[float]) -> float:
        bucket, config = node.bucket, self.config
        if bucket is None or config.subtree_bias == 0:
            return node.own_utility
        if weights:
            below = sign * sum(w * u for w, u in zip(weights, utilities, strict=True)) / sum(weights)
            weight = sum(weights_of(node)) ** config.subtree_bias_exponent
            added = Bucket((below - node.own_utility) * weight, weight)
            bucket.difference += added.difference - node.added.difference
            bucket.weight += added.weight - node.added.weight
            node.added = added
        correction = bucket.difference / bucket.weight if bucket.weight > 0.001 else 0.0
        return node.own_utility + config.subtree_bias * correction

    def without_noise(self, weights: list[float], utilities: list[float], priors: list[float]) -> list[float]:
        if self.config.noise_pruning_scale == 0 or not self.config.use_noise_pruning:
            return weights
        pruned: list[float] = []
        for i, (weight, utility, prior) in enumerate(zip(weights, utilities, priors, strict=True)):
            if i > 0:
                mean = sum(w * u for w, u in zip(pruned, utilities, strict=False)) / sum(pruned)
                surplus = weight - 2 * sum(pruned) * prior / sum(priors[:i])
                if surplus > 0 and utility < mean:
                    vain = surplus * (1 - exp((utility - mean) / self.config.noise_pruning_scale))
                    weight -= min(self.config.noise_pruning_cap, vain)
            pruned.append(weight)
        return pruned

    def weighed(self, weights: list[float], utilities: list[float]) -> list[float]:
        mean = sum(w * u for w, u in zip(weights, utilities, strict=True)) / sum(weights)
        new = []
        for weight, utility in zip(weights, utilities, strict=True):
            z = (utility - mean) / sqrt(1e-8 + 1 / (1.5 * sqrt(weight)))
            new.append(weight * (student(z) + 0.0001) ** self.config.value_weight_exponent)
        return [weight * sum(weights) / sum(new) for weight in new]


def weights_of(node: Node) -> list[float]:
    """Return the weight of each child, as far as the visits of the edge to it account for it, if any do."""
    visited = [(child, node.edge_visits[move]) for move, child in node.children.items() if node.edge_visits[move] > 0]
    return [child.weight * visits / child.visits for child, visits in visited]


def position_key(game: Game, previous: object, bound: int) -> object:
    """Return what is equal for lines that share a node; `previous` is that of the position before the last move."""
    last = game.last_move.point
    state = (*game.board.color.tolist(), game.to_play, game.ko_point, game.consecutive_passes)
    if last != PASS:
        stride = game.width + 1
        region = set(game.chain(last)) or {last}
        border = list(region)
        while border:
            point = border.pop()
            for neighbor in (point - 1, point + 1, point - stride, point + stride):
                if game.board.color[neighbor] == EMPTY and neighbor not in region:
                    region.add(neighbor)
                    border.append(neighbor)
        if len(region) > bound:
            return state
    return (state, previous)


def bucket_key(game: Game, move: int) -> tuple[object, ...] | None:
    """Return what positions after `move` have in common if they share a bucket, None if they have none."""
    if move == PASS or game.last_move is None:
        return None
    x, y = point_to_xy(move, width=game.width)
    pattern = []
    for point in board_points(game.width, game.height):
        column, row = point_to_xy(point, width=game.width)
        if abs(column - x) <= 2 and abs(row - y) <= 2 and game.color_at(point) != EMPTY:
            pattern.append((point, game.color_at(point), len(game.liberties(point)) == 1))
    return (game.to_play, move, game.last_move.point, game.ko_point, *pattern)


def student(z: float) -> float:
    """Return Student's t distribution function with 3 degrees of freedom."""
    return 0.5 + (z / sqrt(3) / (1 + z * z / 3) + atan(z / sqrt(3))) / pi


DENSITY = [(i / 50, exp(-((i / 50) ** 2) / 2)) for i in range(-300, 301)]
"""Deviations from the mean and the normal distribution's density there, by fine steps."""

TOTAL_DENSITY = sum(density for _, density in DENSITY)


def mean_share(score: float, stdev: float, center: float, scale: float) -> float:
    """Return the mean of 2/π atan((x − center) / scale) over the normal distribution, by fine steps."""
    if stdev == 0:
        return atan((score - center) / scale) * 2 / pi
    total = sum(w * atan((score + z * stdev - center) / scale) for z, w in DENSITY)
    return total / TOTAL_DENSITY * 2 / pi


def slope_of(score: float, center: float, scale: float) -> float:
    return 2 / pi * scale / (scale**2 + (score - center) ** 2)
