"""Whether a chain is captured on a tiny board, decided by going through all its positions: the slow oracle of proofs.

A position is a tuple of colours, row by row; a state is a position, the side to play, and the point where the side that
obeys kos may not retake.  A chain is captured if the attacker can force that in a finite number of moves; for that the
states are marked from the captures backwards until nothing changes.  Everything else is survival.
"""

from collections.abc import Collection, Iterator
from functools import cache
from itertools import product

EMPTY, BLACK, WHITE = 0, 1, 2

Position = tuple[int, ...]
State = tuple[Position, int, int]
"""Position, side to play, banned point or −1."""


class TinyBoard:
    """All positions of a board of `width` by `height`; `obeys` is the side that may not retake a ko at once."""

    def __init__(self, width: int, height: int, obeys: int) -> None:
        self.points = range(width * height)
        self.near = [
            [
                other
                for other in self.points
                if abs(other % width - point % width) + abs(other // width - point // width) == 1
            ]
            for point in self.points
        ]
        self.obeys = obeys
        self.captured = cache(self._captured)
        self.moves = cache(self._moves)

    def chain(self, position: Position, point: int) -> tuple[set[int], set[int]]:
        """Return the points of a chain and its liberties."""
        stones, liberties, waiting = {point}, set[int](), [point]
        while waiting:
            for other in self.near[waiting.pop()]:
                if position[other] == EMPTY:
                    liberties.add(other)
                elif position[other] == position[point] and other not in stones:
                    stones.add(other)
                    waiting.append(other)
        return stones, liberties

    def is_legal_position(self, position: Position) -> bool:
        """Return whether each chain has a liberty."""
        return all(self.chain(position, point)[1] for point in self.points if position[point] != EMPTY)

    def positions(self) -> list[Position]:
        """Return all legal positions."""
        return [
            each for each in product((EMPTY, BLACK, WHITE), repeat=len(self.points)) if self.is_legal_position(each)
        ]

    def after(self, position: Position, point: int, color: int) -> tuple[Position, int] | None:
        """Return the position after a move and the point of a ko that it takes, or −1; None for an illegal move."""
        played = list(position)
        played[point] = color
        taken = set[int]()
        for other in self.near[point]:
            if played[other] == 3 - color:
                stones, liberties = self.chain(tuple(played), other)
                taken |= set() if liberties else stones
        for stone in taken:
            played[stone] = EMPTY
        stones, liberties = self.chain(tuple(played), point)
        if not liberties:
            return None
        is_ko = len(taken) == len(stones) == len(liberties) == 1
        return tuple(played), min(taken) if is_ko else -1

    def _moves(self, state: State) -> tuple[State, ...]:
        """Return the states after the moves and the pass of the side to play."""
        position, color, banned = state
        found = [(position, 3 - color, -1)]
        for point in self.points:
            if position[point] == EMPTY and point != banned:
                result = self.after(position, point, color)
                if result is not None:
                    found.append((result[0], 3 - color, result[1] if 3 - color == self.obeys else -1))
        return tuple(found)

    def _captured(self, target: int, color: int) -> frozenset[State]:
        """Return the states in which the chain of `color` on `target` is captured by force."""
        states = {(each, side, -1) for each in self.positions() if each[target] == color for side in (BLACK, WHITE)}
        waiting = list(states)
        before: dict[State, list[State]] = {}
        open_moves: dict[State, int] = {}
        lost: list[State] = []
        while waiting:
            state = waiting.pop()
            following = set(self.moves(state))
            open_moves[state] = 1 if state[1] != color else len(following)
            for after in following:
                if after[0][target] != color:
                    lost.append(state)
                    continue
                before.setdefault(after, []).append(state)
                if after not in states:
                    states.add(after)
                    waiting.append(after)
        captured = set[State]()
        while lost:
            state = lost.pop()
            if state in captured:
                continue
            open_moves[state] -= 1
            if open_moves[state] == 0:
                captured.add(state)
                lost += before.get(state, [])
        return frozenset(captured)


def cases(board: TinyBoard, targets: Collection[int]) -> Iterator[tuple[Position, int, int]]:
    """Yield the positions with a stone on each of the targets, and the side to play."""
    for position in board.positions():
        for target in targets:
            if position[target] != EMPTY:
                yield position, target, BLACK
                yield position, target, WHITE
