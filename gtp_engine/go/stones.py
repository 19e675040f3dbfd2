"""Stones on a board in plain Python: placing, capturing, simple ko, hash, taking back.

Rules and records need nothing else, so that they wait for no compiler and import no numpy.  `board` has the same for
kernels, over arrays; the two agree on every position and hash.  Not here: history, superko, passes (`game.Game`).

Points are those of `board`: a wall around the board makes every neighbour an index.  A chain is a tuple of its stones
under one of them, its head.  Liberties are counted once for every stone that they touch: the count is 0 exactly when
the chain has no liberty, and a move changes it by additions alone.  Empty points and walls have the head 0, whose count
has no meaning.

The hash (Zobrist, 1970) is the exclusive or of one random number per stone and one for the board's size.  A move
changes it by a few exclusive ors, and equal positions have equal hashes on every machine and in every run.
"""

from functools import cache
from typing import TypeAlias

from gtp_engine.go.constants import EMPTY, KEYS, NULL_POINT, WALL, padded_length, size_key
from gtp_engine.go.coords import board_points, neighbors

_Joined: TypeAlias = tuple[tuple[int, tuple[int, ...], int], ...]
"""Head, stones and liberties of each chain that a stone joined; the first one's head is that of the new chain."""
_Captured: TypeAlias = tuple[tuple[int, tuple[int, ...]], ...]
"""Head and stones of the chains that a stone captured, or of its own for a suicide."""

Played: TypeAlias = tuple[int, int, int, int, _Joined, _Captured, int]
"""What `Stones.undo` needs: point and colour of a stone, those of the ko before it, `_Joined`, `_Captured`, and how
many stones of its own it removed.  A plain tuple, because a move takes two thirds of the time with it."""


class Stones:
    """The stones on a board of `width` by `height`, and the point where a ko may not be retaken.

    `color` are the colours of all points, walls included; `captured[color]` is the number of stones of this colour that
    were captured.  `ko_point` is where `ko_color` may not recapture a simple ko, or NULL_POINT; any move or pass lifts
    it.  Arguments are not checked: points must be on the board.
    """

    __slots__ = ("_around", "_chains", "_heads", "_liberties", "captured", "color", "hash", "ko_color", "ko_point")

    def __init__(self, width: int, height: int) -> None:
        length = padded_length(width, height)
        self._around = _neighbors_of(width, height)
        self.color = list(_empty_board(width, height))
        self._heads = [0] * length
        self._chains: list[tuple[int, ...]] = [()] * length
        self._liberties = [0] * length
        self.hash = size_key(width, height)
        self.captured = [0, 0, 0]
        self.ko_point, self.ko_color = NULL_POINT, EMPTY

    def copy(self) -> "Stones":
        """Return an independent copy."""
        other = Stones.__new__(Stones)
        other._around = self._around
        other.color = self.color.copy()
        other._heads = self._heads.copy()
        other._chains = self._chains.copy()
        other._liberties = self._liberties.copy()
        other.hash = self.hash
        other.captured = self.captured.copy()
        other.ko_point, other.ko_color = self.ko_point, self.ko_color
        return other

    def chain(self, point: int) -> tuple[int, ...]:
        """Return the points of the chain on `point`, in no order; none for an empty point."""
        head = self._heads[point]
        return self._chains[head] if head else ()

    def liberties(self, point: int) -> set[int]:
        """Return the liberties of the chain on `point`; none for an empty point."""
        around = {neighbor for stone in self.chain(point) for neighbor in self._around[stone]}
        return {neighbor for neighbor in around if self.color[neighbor] == EMPTY}

    def hash_after(self, point: int, color: int) -> tuple[int, int]:
        """Return the hash after `color` plays on `point`, which is empty, and how many stones a suicide removes, or 0.

        A ko does not matter; nothing is changed.
        """
        heads, result, lives = self._heads, self.hash ^ KEYS[color][point], False
        contacts: dict[int, int] = {}
        for neighbor in self._around[point]:
            if head := heads[neighbor]:
                contacts[head] = contacts.get(head, 0) + 1
            elif self.color[neighbor] == EMPTY:
                lives = True
        for head, count in contacts.items():
            has_liberty = self._liberties[head] > count
            if self.color[head] == color:
                lives |= has_liberty
            elif not has_liberty:
                lives = True
                for stone in self._chains[head]:
                    result ^= KEYS[3 - color][stone]
        if lives:
            return result, 0
        own = [stone for head in contacts if self.color[head] == color for stone in self._chains[head]]
        result = self.hash
        for stone in own:
            result ^= KEYS[color][stone]
        return result, len(own) + 1

    def play(self, point: int, color: int) -> Played:
        """Put a stone on an empty point and remove what it captures, or its own chain; ko and legality do not count."""
        ko_point, ko_color = self.ko_point, self.ko_color
        head, joined, dead = self.place(point, color)
        self.ko_point = NULL_POINT
        captured: _Captured = ()
        if dead:
            captured = tuple([(each, self._chains[each]) for each in dead])
            for _, chain in captured:
                self._remove(chain, 3 - color)
            if not joined and len(dead) == 1 and len(captured[0][1]) == 1 and self._liberties[head] == 1:
                self.ko_point, self.ko_color = dead[0], 3 - color
        suicide = 0
        if self._liberties[head] == 0:
            suicide, captured = len(self._chains[head]), ((head, self._chains[head]),)
            self._remove(self._chains[head], color)
        return point, color, ko_point, ko_color, joined, captured, suicide

    def undo(self, played: Played) -> None:
        """Take back the last stone that was played."""
        point, color, ko_point, ko_color, joined, captured, suicide = played
        heads, liberties = self._heads, self._liberties
        for head, chain in captured:
            self._put_back(head, chain, color if suicide else 3 - color)
        for number, (head, chain, count) in enumerate(joined):
            self._chains[head], liberties[head] = chain, count
            if number:
                for stone in chain:
                    heads[stone] = head
        self.color[point] = EMPTY
        heads[point] = 0
        self.hash ^= KEYS[color][point]
        for neighbor in self._around[point]:
            liberties[heads[neighbor]] += 1
        self.ko_point, self.ko_color = ko_point, ko_color

    def place(self, point: int, color: int) -> tuple[int, _Joined, list[int]]:
        """Put a stone on the board, where chains without a liberty stay.

        Returns its head, the chains that it joins, and the enemy's without a liberty.
        """
        colors, heads, chains, liberties = self.color, self._heads, self._chains, self._liberties
        own: list[int] = []
        dead: list[int] = []
        count = 0
        for neighbor in self._around[point]:
            if head := heads[neighbor]:
                left = liberties[head] = liberties[head] - 1
                if colors[neighbor] == color:
                    if head not in own:
                        own.append(head)
                elif left == 0:
                    dead.append(head)
            elif colors[neighbor] == EMPTY:
                count += 1
        colors[point] = color
        self.hash ^= KEYS[color][point]
        if not own:
            heads[point], chains[point], liberties[point] = point, (point,), count
            return point, (), dead
        if len(own) > 1:
            own.sort(key=lambda head: len(chains[head]), reverse=True)  # fewer stones change their head
        first = own[0]
        chain = chains[first]
        joined: _Joined = ((first, chain, liberties[first]),)
        for head in own[1:]:
            joined += ((head, chains[head], liberties[head]),)
            for stone in chains[head]:
                heads[stone] = first
            chain += chains[head]
            count += liberties[head]
        heads[point], chains[first] = first, (*chain, point)
        liberties[first] += count
        return first, joined, dead

    def _remove(self, chain: tuple[int, ...], color: int) -> None:
        """Remove a chain, and give its points as liberties to those around it."""
        colors, heads, liberties, keys, key = self.color, self._heads, self._liberties, KEYS[color], self.hash
        for stone in chain:
            colors[stone] = EMPTY
            heads[stone] = 0
            key ^= keys[stone]
        for stone in chain:
            for neighbor in self._around[stone]:
                liberties[heads[neighbor]] += 1
        self.hash = key
        self.captured[color] += len(chain)

    def _put_back(self, head: int, chain: tuple[int, ...], color: int) -> None:
        """Put a chain back that has no liberty."""
        colors, heads, liberties, keys, key = self.color, self._heads, self._liberties, KEYS[color], self.hash
        for stone in chain:
            colors[stone] = color
            heads[stone] = head
            key ^= keys[stone]
        for stone in chain:
            for neighbor in self._around[stone]:
                liberties[heads[neighbor]] -= 1
        self._chains[head], liberties[head] = chain, 0
        self.hash = key
        self.captured[color] -= len(chain)


@cache
def _empty_board(width: int, height: int) -> tuple[int, ...]:
    """Return the colours of an empty board, walls included."""
    points = frozenset(board_points(width, height))
    return tuple(EMPTY if point in points else WALL for point in range(padded_length(width, height)))


@cache
def _neighbors_of(width: int, height: int) -> dict[int, tuple[int, int, int, int]]:
    """Return the neighbours of each point of the board: left, right, above, below."""
    return {point: neighbors(point, width=width) for point in board_points(width, height)}
