"""The planes of AlphaGo, slowly: every count as a set, every move on a copy of the position, nothing cached.

The oracle for `gtp_engine.training.alphago.planes`, whose docstring defines the features; built on `reference`.
"""

from collections.abc import Callable

import numpy as np
import reference

from gtp_engine.evaluation.positions import FloatArray

FEATURES = {
    "stone colour": 3,
    "ones": 1,
    "zeros": 1,
    "turns since": 8,
    "liberties": 8,
    "capture size": 8,
    "self-atari size": 8,
    "liberties after move": 8,
    "ladder capture": 1,
    "ladder escape": 1,
    "sensibleness": 1,
    "player color": 1,
}
"""The number of planes of each feature in their order: extended data table 2 of the paper."""


def planes_of(feature: str) -> range:
    """Return the numbers of a feature's planes."""
    names = list(FEATURES)
    first = sum(FEATURES[name] for name in names[: names.index(feature)])
    return range(first, first + FEATURES[feature])


class AlphaGoOracle:
    """The planes of one position of a game, seen by `color`; a method for each feature, which returns its number."""

    def __init__(self, game: reference.ReferenceGame, color: str) -> None:
        self.game, self.color, self.position = game, color, game.position
        self.legal = game.legal_points(color)
        self.attacks = self._ladder_moves(reference.opponent(color), 2, reference.ladder_attacks)
        self.escapes = self._ladder_moves(color, 1, reference.ladder_escapes)

    def planes(self) -> FloatArray:
        """Return what `AlphaGoEncoder` should write, float32[49, H, W]."""
        width, height = self.position.width, self.position.height
        result = np.zeros((49, width * height), dtype=np.float32)
        for feature in FEATURES:
            method = getattr(self, feature.replace(" ", "_").replace("-", "_"))
            for point in range(width * height):
                number = min(method(point), FEATURES[feature])
                if number > 0:
                    result[planes_of(feature)[number - 1], point] = 1
        return result.reshape(49, height, width)

    def stone_colour(self, point: int) -> int:
        return {self.color: 1, reference.opponent(self.color): 2, reference.EMPTY: 3}[self.position.cells[point]]

    def ones(self, point: int) -> int:
        return 1

    def zeros(self, point: int) -> int:
        return 0

    def player_color(self, point: int) -> int:
        return int(self.color == reference.BLACK)

    def turns_since(self, point: int) -> int:
        if self.position.cells[point] == reference.EMPTY:
            return 0
        return next((turns for turns, (_, p) in enumerate(reversed(self.game.moves), start=1) if p == point), 8)

    def liberties(self, point: int) -> int:
        is_stone = self.position.cells[point] != reference.EMPTY
        return len(reference.liberties(self.position, point)) if is_stone else 0

    def capture_size(self, point: int) -> int:
        return len(reference.place(self.position, point, self.color).captured) if point in self.legal else 0

    def self_atari_size(self, point: int) -> int:
        if point not in self.legal:
            return 0
        after, _, suicided = reference.place(self.position, point, self.color)
        if suicided:
            return len(suicided)
        return len(reference.chain(after, point)) if len(reference.liberties(after, point)) == 1 else 0

    def liberties_after_move(self, point: int) -> int:
        if point not in self.legal:
            return 0
        after, _, suicided = reference.place(self.position, point, self.color)
        return 0 if suicided else len(reference.liberties(after, point))

    def ladder_capture(self, point: int) -> int:
        return int(point in self.attacks)

    def ladder_escape(self, point: int) -> int:
        return int(point in self.escapes)

    def _ladder_moves(
        self, color: str, liberties: int, moves: Callable[[reference.Position, int], set[int]]
    ) -> set[int]:
        """Return the legal ones of all `moves` about chains of `color` with so many liberties."""
        chains = reference.regions(self.position, color)
        short = [min(s) for s, around in chains if sum(self.position.cells[p] == "." for p in around) == liberties]
        return set().union(*(moves(self.position, stone) for stone in short)) & set(self.legal)

    def sensibleness(self, point: int) -> int:
        return int(point in self.legal and not reference.is_real_eye(self.position, point, self.color))
