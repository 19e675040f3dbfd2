"""What a search by rollouts found, from its tree to `SearchReport`, and how it is doing, to `Progress`."""

from typing import Final

import numpy as np

from gtp_engine.go.constants import BLACK, NULL_POINT
from gtp_engine.search.limits import Progress
from gtp_engine.search.report import MoveReport, SearchReport, for_color, winrate_of
from gtp_engine.search.rollouts.reusable_rollout_tree import ReusableRolloutTree
from gtp_engine.search.rollouts.rollout_select import Position
from gtp_engine.search.rollouts.rollout_tree import ROOT, TreeStore

_PV_LENGTH: Final = 12
"""Longest continuation reported, in moves."""


def number_of_choices(store: TreeStore, position: Position) -> int:
    """Return the number of moves at the root that are allowed and not left out."""
    children = store.children(ROOT)
    moves = store.tree.move[children.start : children.stop]
    return int(np.count_nonzero((moves != NULL_POINT) & (position.avoid_until[position.color, moves] <= 0)))


def rollout_progress(store: TreeStore, position: Position, playouts: int, seconds: float) -> Progress:
    """Return how a search is doing; its root must have been expanded."""
    tree, children = store.tree, store.children(ROOT)
    visits = tree.visits[children.start : children.stop]
    values = tree.value[children.start : children.stop] / np.maximum(visits, 1)
    order = np.argsort(-visits, kind="stable")[:2]
    leader = order[0]
    sign = 1.0 if position.color == BLACK else -1.0
    runner_up = int(order[1]) if order.size > 1 else None
    return Progress(
        seconds=seconds,
        visits=int(tree.visits[ROOT]),
        playouts=playouts,
        leader_visits=int(visits[leader]),
        runner_up_visits=0 if runner_up is None else int(visits[runner_up]),
        leader_is_best_value=runner_up is None or sign * values[leader] >= sign * values[runner_up],
        winrate=winrate_of(float(values[leader]), position.color),
        choices=number_of_choices(store, position),
    )


def rollout_report(tree: ReusableRolloutTree, color: int, playouts: int, seconds: float) -> SearchReport:
    """Return the state of a search with `color` to play, the most visited move first."""
    store, arrays, rollouts = tree.store, tree.store.tree, int(tree.buffers.rollouts.sum())
    moves = [_move_report(store, child) for child in store.children(ROOT) if arrays.visits[child] > 0]
    moves.sort(key=lambda move: (-move.visits, -for_color(move.expected_black, color)))
    return SearchReport(
        to_play=color,
        visits=int(arrays.visits[ROOT]),
        playouts=playouts,
        seconds=seconds,
        value_black=float(arrays.value[ROOT]) / max(1, int(arrays.visits[ROOT])),
        moves=tuple(moves),
        ownership_samples=rollouts,
        ownership_black=tree.buffers.owners.sum(axis=0) / max(1, rollouts),
        beside_area_black=float(tree.buffers.beside_area.sum()) / max(1, rollouts),
        nodes=store.used,
        memory=store.memory,
    )


def _move_report(store: TreeStore, child: int) -> MoveReport:
    tree, line = store.tree, _most_visited_line(store, child)
    return MoveReport(
        point=int(tree.move[child]),
        visits=int(tree.visits[child]),
        value_black=float(tree.value[child]) / max(1, int(tree.visits[child])),
        expected_black=_expected_black(store, child),
        pv=tuple(int(tree.move[node]) for node in line),
        pv_visits=tuple(int(tree.visits[node]) for node in line),
    )


def _expected_black(store: TreeStore, child: int) -> float:
    """Return a child's mean result for Black with its prior and all-moves-as-first results, for few visits."""
    tree = store.tree
    prior, amaf = float(tree.prior_visits[child]), float(tree.amaf_visits[child])
    total = float(tree.value[child] + tree.amaf_value[child]) + prior * float(tree.prior_value[child])
    return total / max(1.0, float(tree.visits[child]) + prior + amaf)


def _most_visited_line(store: TreeStore, node: int) -> list[int]:
    """Return the nodes of the most visited line that begins with `node`."""
    line, visits = [node], store.tree.visits
    while len(line) < _PV_LENGTH:
        children = store.children(node)
        if not children:
            break
        node = children.start + int(np.argmax(visits[children.start : children.stop]))
        if visits[node] == 0:
            break
        line.append(node)
    return line
