"""The values in a graph that depend only on the size of the board.

All of them are computed from `Shape` of the input.  A session that fixes the size folds them into constants.
"""

from functools import cached_property

import numpy as np

from gtp_engine.networks.katago_format.description import MIDDLE_WIDTH, Floats
from gtp_engine.networks.onnx_export.graph import Graph, Tensor


class BoardSize:
    """Numbers and tables computed from the height and width of `spatial` [B, planes, H, W]."""

    def __init__(self, graph: Graph, spatial: Tensor) -> None:
        self._graph = graph
        self._spatial = spatial
        self._turns: dict[tuple[bytes, tuple[int, ...]], tuple[Tensor, Tensor]] = {}

    @cached_property
    def shape(self) -> Tensor:
        """Height and width, int64 [2]."""
        graph = self._graph
        return graph.add("Slice", graph.add("Shape", self._spatial), graph.integers(2), graph.integers(4))

    @cached_property
    def _sides(self) -> tuple[Tensor, Tensor]:
        """Height and width, int64 scalars."""
        height, width = (self._graph.add("Gather", self.shape, self._graph.integer(index)) for index in (0, 1))
        return height, width

    @cached_property
    def _spread(self) -> Tensor:
        """(√(H·W) − 14) · 0.1: the factor of the mean in the second of three pooled values."""
        graph = self._graph
        width = graph.add("Sqrt", graph.to_float(graph.add("Mul", *self._sides)))
        return graph.add("Mul", graph.add("Sub", width, graph.floats(MIDDLE_WIDTH)), graph.floats(0.1))

    @cached_property
    def _square(self) -> Tensor:
        """(√(H·W) − 14)² · 0.01 − 0.1: the factor of the mean in the third of the value head's pooled values."""
        square = self._graph.add("Mul", self._spread, self._spread)
        return self._graph.add("Sub", square, self._graph.floats(0.1))

    def trunk_matrix(self, weights: Floats) -> Tensor:
        """Return the matrix [2C, O] for (mean, max) equivalent to `weights` [3C, O] for (mean, mean · spread, max).

        The second of KataGo's pooled values is the first times a number that depends only on the board's size, so
        that number can be folded into the weights.
        """
        means, spreads, maxima = np.split(weights, 3)
        combined = self._combined(means, (spreads, self._spread))
        return self._graph.add("Concat", combined, self._graph.constant(maxima), axis=0)

    def value_matrix(self, weights: Floats) -> Tensor:
        """Return the matrix [C, O] for the mean equivalent to `weights` [3C, O] for (mean, · spread, · square)."""
        means, spreads, squares = np.split(weights, 3)
        return self._combined(means, (spreads, self._spread), (squares, self._square))

    def _combined(self, matrix: Floats, *others: tuple[Floats, Tensor]) -> Tensor:
        """Return `matrix` plus the others times their factors."""
        graph = self._graph
        total = graph.constant(matrix)
        for other, factor in others:
            total = graph.add("Add", total, graph.add("Mul", graph.constant(other), factor))
        return total

    def turns(self, frequencies: Floats) -> tuple[Tensor, Tensor]:
        """Return cosine and sine of the angle x · fx + y · fy at every point, row by row: two of [1, N, H·W, C].

        `frequencies` is [N, C, 2], (fx, fy) in radians per point.
        """
        key = frequencies.tobytes(), frequencies.shape
        if key not in self._turns:
            self._turns[key] = self._new_turns(frequencies)
        return self._turns[key]

    def _new_turns(self, frequencies: Floats) -> tuple[Tensor, Tensor]:
        graph = self._graph
        groups, channels, _ = frequencies.shape
        rows, columns = (
            graph.to_float(graph.add("Range", graph.integer(0), side, graph.integer(1))) for side in self._sides
        )
        fx, fy = (graph.constant(frequencies[None, :, None, None, :, direction]) for direction in (0, 1))
        down = graph.add("Mul", graph.add("Reshape", rows, graph.integers(1, 1, -1, 1, 1)), fy)
        across = graph.add("Mul", graph.add("Reshape", columns, graph.integers(1, 1, 1, -1, 1)), fx)
        angles = graph.add("Reshape", graph.add("Add", down, across), graph.integers(1, groups, -1, channels))
        return graph.add("Cos", angles), graph.add("Sin", angles)
