"""The rules of Go written to be read: the oracle the compiled kernels must agree with.

A position is a width, a height and a string with one character per point, row by row from the top left: "." empty,
"X" Black, "O" White.  Points are indices into that string (the network's action indices), so nothing here shares
geometry with the padded boards it checks.  Functions take positions and return new ones; chains, liberties and regions
are sets found by flood fill, each time from nothing.  Slow on purpose: no shortcut is taken that needs an argument.

Sources: Tromp and Taylor's "logical rules" (https://tromp.github.io/go.html) for play and area; Benson, "Life in
the game of Go" (1976) for pass-alive chains; the AGA rules for situational superko.
"""

from collections.abc import Collection, Iterable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

PASS = -1
"""The pass as a move; not a point."""
BLACK, WHITE, EMPTY = "X", "O", "."


class Position(NamedTuple):
    """Stones on a board: `cells` is row by row from the top left, `width * height` characters."""

    width: int
    height: int
    cells: str


class Outcome(NamedTuple):
    """What a stone does: the position after it, the opponent's stones it takes and the own stones it kills."""

    position: Position
    captured: frozenset[int]
    suicided: frozenset[int]


def opponent(color: str) -> str:
    """Return the other colour."""
    return WHITE if color == BLACK else BLACK


def empty_position(width: int, height: int) -> Position:
    """Return the empty board."""
    return Position(width, height, EMPTY * (width * height))


def parse(diagram: str) -> Position:
    """Return the position drawn in `diagram`: a line per row, blanks ignored, anything but X and O is empty."""
    rows = [row.replace(" ", "") for row in diagram.strip().splitlines()]
    assert len({len(row) for row in rows}) == 1, "rows of different lengths"
    cells = "".join(c if c in "XO" else EMPTY for row in rows for c in row)
    return Position(len(rows[0]), len(rows), cells)


def draw(position: Position, marks: Collection[int] = (), mark: str = "#") -> str:
    """Return the position as text, `mark` on every point of `marks`."""
    cells = [mark if i in marks else c for i, c in enumerate(position.cells)]
    width = position.width
    return "\n".join("".join(cells[y * width : (y + 1) * width]) for y in range(position.height))


@cache
def neighbors(width: int, height: int) -> tuple[tuple[int, ...], ...]:
    """Return for every point the points next to it, along the lines."""
    return _around(width, height, ((0, -1), (-1, 0), (1, 0), (0, 1)))


@cache
def diagonals(width: int, height: int) -> tuple[tuple[int, ...], ...]:
    """Return for every point the points diagonal to it."""
    return _around(width, height, ((-1, -1), (1, -1), (-1, 1), (1, 1)))


def _around(width: int, height: int, steps: Iterable[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    return tuple(
        tuple((y + dy) * width + x + dx for dx, dy in steps if 0 <= x + dx < width and 0 <= y + dy < height)
        for y in range(height)
        for x in range(width)
    )


@lru_cache(maxsize=4096)
def reach(position: Position, start: int, through: str) -> tuple[frozenset[int], frozenset[int]]:
    """Return the connected points of the colours `through` around `start`, and the other points next to them."""
    around, cells = neighbors(position.width, position.height), position.cells
    inside, border, todo = {start}, set(), [start]
    while todo:
        for point in around[todo.pop()]:
            if cells[point] not in through:
                border.add(point)
            elif point not in inside:
                inside.add(point)
                todo.append(point)
    return frozenset(inside), frozenset(border)


def chain(position: Position, point: int) -> frozenset[int]:
    """Return the stones solidly connected to the stone on `point`, itself included."""
    return reach(position, point, position.cells[point])[0]


def liberties(position: Position, point: int) -> set[int]:
    """Return the empty points next to the chain of the stone on `point`."""
    border = reach(position, point, position.cells[point])[1]
    return {p for p in border if position.cells[p] == EMPTY}


def regions(position: Position, colors: str) -> Iterator[tuple[frozenset[int], frozenset[int]]]:
    """Yield every maximal connected set of points of the colours `colors`, with the points next to it."""
    seen: set[int] = set()
    for point, color in enumerate(position.cells):
        if color in colors and point not in seen:
            inside, border = reach(position, point, colors)
            seen |= inside
            yield inside, border


def has_liberty(position: Position, point: int) -> bool:
    """Return whether an empty point is next to the chain of the stone on `point`; the search ends at the first."""
    around, cells = neighbors(position.width, position.height), position.cells
    color, seen, todo = cells[point], {point}, [point]
    while todo:
        for other in around[todo.pop()]:
            if cells[other] == EMPTY:
                return True
            if cells[other] == color and other not in seen:
                seen.add(other)
                todo.append(other)
    return False


def with_points(position: Position, points: Collection[int], color: str) -> Position:
    """Return the position with `color` on each of `points`, nothing captured."""
    cells = position.cells
    for point in points:
        cells = cells[:point] + color + cells[point + 1 :]
    return Position(position.width, position.height, cells)


@lru_cache(maxsize=4096)
def place(position: Position, point: int, color: str) -> Outcome:
    """Return what a stone of `color` on the empty `point` does, by Tromp-Taylor: the opponent clears first.

    Any suicide is carried out, a single stone's too; whether it was allowed is `ReferenceGame`'s business.
    """
    after = with_points(position, [point], color)
    captured: set[int] = set()
    for p in neighbors(position.width, position.height)[point]:
        if after.cells[p] == opponent(color) and not has_liberty(after, p):
            captured |= chain(after, p)
    after = with_points(after, captured, EMPTY)
    suicided = set() if has_liberty(after, point) else chain(after, point)
    after = with_points(after, suicided, EMPTY)
    return Outcome(after, frozenset(captured), frozenset(suicided))


class ReferenceGame:
    """A game from an empty (or given) position: what may be played, in any order of colours.

    `ko` is "simple", "positional" or "situational"; `suicide` allows killing two or more own stones (one alone is never
    allowed).  A situation is a position and the colour due to move, the opponent of the last mover (`first_player`,
    before the first move).  Passes are always legal, change no stone and are moves like any other: after one a ko is no
    longer immediate, and the situation it leaves counts under situational superko.
    """

    def __init__(self, start: Position, *, ko: str, suicide: bool, first_player: str = BLACK) -> None:
        self.ko = ko
        self.suicide = suicide
        self.position = start
        self.captures = {BLACK: 0, WHITE: 0}
        self.moves: list[tuple[str, int]] = []
        self._before_last_move: Position | None = None
        self._positions = {start}
        self._situations = {(start, first_player)}

    def illegal_reason(self, point: int, color: str) -> str | None:
        """Return None when `color` may play on `point`, else "occupied", "suicide", "ko" or "superko".

        The simple ko, in force under every ko rule: a stone may not restore the position that the opponent's
        last stone changed.  The superko rules: it may not repeat any earlier position, or situation.
        """
        if point == PASS:
            return None
        if self.position.cells[point] != EMPTY:
            return "occupied"
        after, _, suicided = place(self.position, point, color)
        if len(suicided) == 1 or (suicided and not self.suicide):
            return "suicide"
        if after == self._before_last_move and self.moves[-1][0] == opponent(color):
            return "ko"
        if self.ko == "positional" and after in self._positions:
            return "superko"
        if self.ko == "situational" and (after, opponent(color)) in self._situations:
            return "superko"
        return None

    def legal_points(self, color: str) -> list[int]:
        """Return every point `color` may play on, ascending; the pass not included."""
        return [p for p in range(len(self.position.cells)) if self.illegal_reason(p, color) is None]

    def ko_point(self) -> int | None:
        """Return the point the simple ko forbids to the opponent of the last mover, if there is one."""
        if not self.moves:
            return None
        color = opponent(self.moves[-1][0])
        reasons = ((p, self.illegal_reason(p, color)) for p in range(len(self.position.cells)))
        return next((p for p, reason in reasons if reason == "ko"), None)

    def play(self, point: int, color: str) -> int:
        """Play a legal move and return how many stones left the board; the opponent captures a suicide's."""
        reason = self.illegal_reason(point, color)
        if reason is not None:
            raise ValueError(f"illegal: {color} on {point}: {reason}")
        before, taken = self.position, 0
        if point != PASS:
            self.position, captured, suicided = place(before, point, color)
            self.captures[color] += len(captured)
            self.captures[opponent(color)] += len(suicided)
            taken = len(captured) + len(suicided)
        self._before_last_move = before
        self.moves.append((color, point))
        self._positions.add(self.position)
        self._situations.add((self.position, opponent(color)))
        return taken


def area(position: Position) -> str:
    """Return the owner of every point by Tromp-Taylor ("." none): stones, and empty points that reach one colour."""
    owner = list(position.cells)
    for inside, border in regions(position, EMPTY):
        colors = {position.cells[p] for p in border}
        if len(colors) == 1:
            for point in inside:
                owner[point] = next(iter(colors))
    return "".join(owner)


def territory(position: Position, dead: Collection[int] = ()) -> str:
    """Return the owner of every point that holds no living stone, once the `dead` stones are off the board."""
    living = with_points(position, dead, EMPTY)
    return "".join(EMPTY if c != EMPTY else o for c, o in zip(living.cells, area(living), strict=True))


def territory_score(position: Position, dead: Collection[int], captures: dict[str, int]) -> dict[str, int]:
    """Return each colour's points: its territory (seki is disregarded) and its captures, dead stones included."""
    owner = territory(position, dead)
    taken = {color: sum(position.cells[p] == opponent(color) for p in dead) for color in (BLACK, WHITE)}
    return {color: owner.count(color) + captures[color] + taken[color] for color in (BLACK, WHITE)}


def is_eye_shape(position: Position, point: int, color: str) -> bool:
    """Return whether `point` is empty and every neighbour on the board is a stone of `color`."""
    around = neighbors(position.width, position.height)[point]
    return position.cells[point] == EMPTY and all(position.cells[p] == color for p in around)


def is_eye(position: Position, point: int, color: str) -> bool:
    """Return whether an eye shape is not false as the stones stand: too few diagonals are the opponent's.

    In the middle two of the opponent's stones on the diagonals make it false, on the edge and in the corner one.
    """
    corners = diagonals(position.width, position.height)[point]
    hostile = sum(position.cells[p] == opponent(color) for p in corners)
    return is_eye_shape(position, point, color) and hostile < (2 if len(corners) == 4 else 1)


def is_real_eye(position: Position, point: int, color: str) -> bool:
    """Return whether an eye shape cannot become false: the same count, over all diagonals that are not secure.

    Secure are the diagonals with a stone of `color` and those that are eye shapes of `color` themselves.
    """
    corners = diagonals(position.width, position.height)[point]
    insecure = sum(position.cells[p] != color and not is_eye_shape(position, p, color) for p in corners)
    return is_eye_shape(position, point, color) and insecure < (2 if len(corners) == 4 else 1)


def pass_alive(position: Position, color: str, *, suicide: bool = False) -> tuple[set[int], set[int]]:
    """Return the stones of `color` that live though it always passes, and the territory they enclose.

    Benson's algorithm: of all chains of `color` and all regions without its stones, strike out chains with fewer
    than two vital regions and regions next to a chain struck out, until nothing changes.  A region is vital to a
    chain when every empty point of it is next to that chain; with `suicide`, every point of it, for the opponent
    can empty the others by suicide.  Territory are the regions left with at most one point away from `color`.
    """
    around = neighbors(position.width, position.height)
    alive = [inside for inside, _ in regions(position, color)]
    left = list(regions(position, EMPTY + opponent(color)))

    def is_vital(inside: frozenset[int], stones: frozenset[int]) -> bool:
        decisive = [p for p in inside if suicide or position.cells[p] == EMPTY]
        return all(stones & set(around[p]) for p in decisive)

    while True:
        enough = [s for s in alive if sum(is_vital(inside, s) for inside, _ in left) >= 2]
        stones: set[int] = set().union(*enough)
        closed = [(inside, border) for inside, border in left if border <= stones]
        if len(enough) == len(alive) and len(closed) == len(left):
            break
        alive, left = enough, closed
    away = [(inside, sum(not stones & set(around[p]) for p in inside)) for inside, _ in left if stones]
    return stones, set().union(*(inside for inside, count in away if count <= 1))


def unconditionally_alive(position: Position, color: str, *, suicide: bool = False) -> set[int]:
    """Return the stones of `color` that its opponent cannot capture, playing alone and as long as it likes.

    Tries everything: all positions the opponent can reach, without ko rules.  Only for few empty points.
    """
    safe = {p for p, c in enumerate(position.cells) if c == color}
    seen, todo = {position}, [position]
    while todo and safe:
        here = todo.pop()
        safe = {p for p in safe if here.cells[p] == color}
        for point in (p for p, c in enumerate(here.cells) if c == EMPTY):
            after, _, suicided = place(here, point, opponent(color))
            if len(suicided) != 1 and (suicide or not suicided) and after not in seen:
                seen.add(after)
                todo.append(after)
    return safe


def independent_pieces(position: Position, *, suicide: bool = False) -> tuple[str, list[tuple[str, frozenset[int]]]]:
    """Return the owner of every point by area, and colour and points of each piece of area that lives by itself.

    KataGo's notion (`calculateIndependentLifeArea`): no stone in atari, no contact with an empty point of neither.
    """
    owner = list(area(position))
    for color in (BLACK, WHITE):
        for index in pass_alive(position, color, suicide=suicide)[1]:
            owner[index] = color
    owned = position._replace(cells="".join(owner))
    around = neighbors(position.width, position.height)
    pieces = []
    for color in (BLACK, WHITE):
        for piece, _ in regions(owned, color):
            in_atari = any(position.cells[p] == color and len(liberties(position, p)) == 1 for p in piece)
            at_dame = any(position.cells[q] == owner[q] == EMPTY for p in piece for q in around[p])
            if not in_atari and not at_dame:
                pieces.append((color, piece))
    return owned.cells, pieces


def ladder_attacks(position: Position, point: int) -> set[int]:
    """Return the liberties on which the attacker, moving first, starts a ladder that takes the chain.

    A ladder is an unbroken series of ataris: the attacker plays on a liberty of the chain and leaves it exactly
    one.  A chain with one liberty is taken at once, one with three or more is out of reach.
    """
    free = liberties(position, point)
    if len(free) > 2:
        return set()
    return free if len(free) == 1 else {p for p in free if _atari_works(position, point, p)}


def ladder_escapes(position: Position, point: int) -> set[int]:
    """Return the defender's moves that save a chain in atari from capture in a ladder.

    Kos go the defender's way, as in KataGo's reader: it may take any ko at once, and once it has moved, an atari
    by which the attacker takes a ko stone fails.  The one ko that helps the attacker is `_is_double_ko_death`.
    """
    return {p for p in _useful_defences(position, point) if _is_saved_by(position, point, p)}


def _atari_works(position: Position, point: int, atari: int) -> bool:
    after, _, suicided = place(position, atari, opponent(position.cells[point]))
    return not suicided and not ladder_escapes(after, point)


def _useful_defences(position: Position, point: int) -> set[int]:
    """Return the chain's liberties and the last liberties of the chains around it; nothing else lifts an atari."""
    border = reach(position, point, position.cells[point])[1]
    hostile = [liberties(position, p) for p in border if position.cells[p] != EMPTY]
    return liberties(position, point).union(*(free for free in hostile if len(free) == 1))


def _is_saved_by(position: Position, point: int, move: int) -> bool:
    after, _, suicided = place(position, move, position.cells[point])
    free = liberties(after, point)
    if suicided or len(free) == 1 or _is_double_ko_death(after, point):
        return False
    attacker = opponent(position.cells[point])
    ataris = (p for p in free if len(free) == 2 and not _takes_ko(after, p, attacker))
    return not any(_atari_works(after, point, p) for p in ataris)


def _takes_ko(position: Position, point: int, color: str) -> bool:
    """Return whether the stone takes one stone and would stand alone with that point as its one liberty."""
    after, captured, _ = place(position, point, color)
    return len(captured) == 1 and chain(after, point) == {point} and liberties(after, point) == captured


def _is_double_ko_death(position: Position, point: int) -> bool:
    """Return whether both liberties of the chain are mouths of kos, neither worth filling, with nothing to take.

    The attacker takes one ko when the defender takes the other, so no number of threats saves the chain.
    """
    free, color = liberties(position, point), position.cells[point]
    if len(free) != 2 or not all(_takes_ko(position, p, opponent(color)) for p in free):
        return False
    filled = [place(position, p, color) for p in free]
    worth_filling = any(not f.suicided and len(liberties(f.position, point)) > 2 for f in filled)
    return not worth_filling and _useful_defences(position, point) == free
