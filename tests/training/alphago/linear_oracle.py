"""The linear rollout policy, slow and simple: the features of moves, computed afresh in every position of `reference`.

Every pattern has a weight, drawn with the pattern as the seed; `policy_for` collects those of some positions as in a
file.
"""

import random
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from reference import EMPTY, Position, chain, diagonals, is_eye_shape, liberties, neighbors, opponent, place

from gtp_engine.training.alphago.linear_policy import LinearPolicy

BESIDE = ((-1, 0), (1, 0), (0, -1), (0, 1))
DIAGONAL = ((-1, -1), (1, -1), (-1, 1), (1, 1))
DIAMOND = (*BESIDE, *DIAGONAL, (-2, 0), (2, 0), (0, -2), (0, 2))
NEAR = (1.5, 0.75, -0.5)
CAPTURE, ESCAPE, NAKADE = 1.25, 0.625, 2.0

Turn = Callable[[int, int], tuple[int, int]]
TURNS: Sequence[Turn] = [
    lambda x, y, a=a, b=b, swap=swap: (b * y, a * x) if swap else (a * x, b * y)
    for a in (1, -1)
    for b in (1, -1)
    for swap in (False, True)
]


def at(position: Position, point: int, step: tuple[int, int]) -> int | None:
    """Return the point at a step to the right and down of another, None off the board."""
    x, y = point % position.width + step[0], point // position.width + step[1]
    return y * position.width + x if 0 <= x < position.width and 0 <= y < position.height else None


@lru_cache(maxsize=4)
def states(position: Position, color: str) -> list[int]:
    """Return a state for every point: 0 empty, 2 to 4 a stone of `color` by its chain's liberties, 5 to 7 another.

    One entry more, the last, is for points off the board: 1.
    """
    found = []
    for point, cell in enumerate(position.cells):
        base = 0 if cell == EMPTY else (1 if cell == color else 4)
        found.append(0 if cell == EMPTY else base + min(3, len(liberties(position, point))))
    return [*found, 1]


def around(position: Position, point: int, steps: Sequence[tuple[int, int]], turn: Turn, color: str) -> list[int]:
    """Return the states of the points at these steps from another, on the board in another orientation."""
    places = [at(position, point, turn(*step)) for step in steps]
    found = states(position, color)
    return [found[-1 if place is None else place] for place in places]


def pattern(position: Position, point: int, color: str, *, plain: bool) -> int:
    """Return the least code of the pattern around a point, from the view of `color`; `plain`: all chains in atari."""

    def code(turn: Turn) -> int:
        beside = around(position, point, BESIDE, turn, color)
        if plain:
            beside = [found if found < 2 else (2 if found < 5 else 5) for found in beside]
        corners = around(position, point, DIAGONAL, turn, color)
        colors = [0 if found == 0 else 3 if found == 1 else 1 if found < 5 else 2 for found in corners]
        return sum(f << 3 * i for i, f in enumerate(beside)) + sum(c << 12 + 2 * i for i, c in enumerate(colors))

    return min(code(turn) for turn in TURNS)


def diamond(position: Position, last: int, color: str) -> tuple[int, dict[tuple[int, int], int]]:
    """Return the least code of the diamond around a point, and the least place in it of each step."""
    best: tuple[int, dict[tuple[int, int], int]] = (1 << 40, {})
    for turn in TURNS:
        code = sum(found << 3 * i for i, found in enumerate(around(position, last, DIAMOND, turn, color)))
        places = {turn(*step): i for i, step in enumerate(DIAMOND)}
        if code == best[0]:
            best = code, {step: min(i, best[1][step]) for step, i in places.items()}
        elif code < best[0]:
            best = code, places
    return best


def weight(kind: str, *what: int) -> float:
    """Return the weight of a pattern: arbitrary, but always the same."""
    return float(np.float32(random.Random(f"{kind} {what}").uniform(-2, 2)))


def is_playable(position: Position, point: int, color: str) -> bool:
    """Return whether a stone is legal there, ko aside, and fills no eye."""
    if position.cells[point] != EMPTY or place(position, point, color).suicided:
        return False
    corners = diagonals(position.width, position.height)[point]
    enemies = sum(position.cells[corner] == opponent(color) for corner in corners)
    return not (is_eye_shape(position, point, color) and enemies + (len(corners) < 4) < 2)


def pattern_score(position: Position, point: int, color: str) -> float:
    """Return the sum of the weights of the patterns around a point."""
    seen = (pattern(position, point, color, plain=plain) for plain in (False, True))
    return sum(weight(kind, code) for kind, code in zip(("pattern", "plain"), seen, strict=True))


class Scene(NamedTuple):
    """A position in which `color` is to play after the opponent's stone on `last`, which took `captured`."""

    position: Position
    color: str
    last: int
    captured: Collection[int]


def local_scores(scene: Scene, known: Collection[int]) -> dict[int, float]:
    """Return the sum of the weights of local features of every point that has any; `known` diamonds have weights."""
    position, color = scene.position, scene.color
    scores: dict[int, float] = {}
    code, places = diamond(position, scene.last, color)
    for number, step in enumerate(DIAMOND):
        point = at(position, scene.last, step)
        if point is not None:
            scores[point] = NEAR[number // 4]
            if code in known:
                scores[point] += weight("answer", code, places[step])
    for feature, points in ((CAPTURE, captures(scene)), (ESCAPE, escapes(scene)), (NAKADE, vital_points(scene))):
        for point in points:
            scores[point] = scores.get(point, 0.0) + feature
    return {point: score for point, score in scores.items() if is_playable(position, point, color)}


def threatened(scene: Scene) -> list[set[int]]:
    """Return the chains of the side to play in atari beside the last move."""
    position = scene.position
    beside = neighbors(position.width, position.height)[scene.last]
    own = [point for point in beside if position.cells[point] == scene.color]
    return [chain(position, point) for point in own if len(liberties(position, point)) == 1]


def captures(scene: Scene) -> set[int]:
    """Return the moves that save a threatened chain by capturing a chain beside it."""
    position, points = scene.position, set()
    for stone in set().union(*threatened(scene)):
        for other in neighbors(position.width, position.height)[stone]:
            if position.cells[other] == opponent(scene.color) and len(liberties(position, other)) == 1:
                points |= liberties(position, other)
    return points


def escapes(scene: Scene) -> set[int]:
    """Return the moves on the last liberty of a threatened chain that gain liberties, or capture; without ladders."""
    points = set()
    for stones in threatened(scene):
        (liberty,) = liberties(scene.position, min(stones))
        outcome = place(scene.position, liberty, scene.color)
        if outcome.captured or (not outcome.suicided and len(liberties(outcome.position, liberty)) > 1):
            points.add(liberty)
    return points


def vital_points(scene: Scene) -> set[int]:
    """Return the middle of the captured stones if theirs is a shape that a stone in its middle makes one eye."""
    stones, beside = set(scene.captured), neighbors(scene.position.width, scene.position.height)
    contacts = {stone: len(stones & set(beside[stone])) for stone in stones}
    shape = tuple(sorted(contacts.values()))
    nakade = {(1, 1, 2), (1, 1, 1, 3), (1, 1, 1, 1, 4), (1, 2, 2, 2, 3), (1, 1, 2, 2, 2, 4)}
    return {max(stones, key=contacts.__getitem__)} if shape in nakade else set()


def policy_for(scenes: Iterable[Scene], share: float = 0.5) -> LinearPolicy:
    """Return a policy with weights for the patterns in these positions, and for a share of the diamonds."""
    patterns, plains, diamonds = set(), set(), set()
    for scene in scenes:
        for point, cell in enumerate(scene.position.cells):
            for color in "XO" if cell == EMPTY else "":
                patterns.add(pattern(scene.position, point, color, plain=False))
                plains.add(pattern(scene.position, point, color, plain=True))
        code, _ = diamond(scene.position, scene.last, scene.color)
        diamonds |= {code} if random.Random(code).random() < share else set()
    return LinearPolicy(
        patterns=np.array(sorted(patterns)),
        pattern_weights=np.array([weight("pattern", code) for code in sorted(patterns)], dtype=np.float32),
        plain_patterns=np.array(sorted(plains)),
        plain_weights=np.array([weight("plain", code) for code in sorted(plains)], dtype=np.float32),
        diamonds=np.array(sorted(diamonds)),
        diamond_weights=np.array(
            [[weight("answer", code, place) for place in range(12)] for code in sorted(diamonds)], dtype=np.float32
        ),
        near=np.array(NEAR, dtype=np.float32),
        urgent=np.array([CAPTURE, ESCAPE, NAKADE], dtype=np.float32),
    )
