"""The oracle and the engine play the same random games and must never differ.

Over 100,000 moves on boards of 2x2 to 25x25, all ko rules, with and without suicide, colours alternating or at random,
passes in between.  Compared at every move: the verdict on a random empty point with its reason, the stones taken, the
captures, the whole board, the ko point, and the hash, which must be equal exactly for equal positions.  Compared every
so many moves: the reason for every point and both colours.

The environment variable TENGEN_ORACLE_FACTOR multiplies the number of moves (default 1).
"""

import os
import random
from collections import Counter

import pytest
import reference
from board_helpers import CHARACTER, COLOR, points_of

from gtp_engine.go.board import hash_after
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Ko, Rules

FACTOR = int(os.environ.get("TENGEN_ORACLE_FACTOR", "1"))

MOVES = {
    (2, 2): 400, (3, 2): 400, (2, 3): 150, (3, 3): 1000, (4, 2): 300, (4, 3): 500, (4, 4): 2500, (5, 2): 200,
    (5, 5): 700, (6, 4): 300, (7, 7): 300, (9, 9): 250, (13, 13): 100, (19, 19): 150, (25, 2): 60, (2, 25): 60,
    (9, 13): 60, (19, 25): 60, (25, 25): 60,
}  # fmt: skip
"""Legal moves compared for each of the six rule sets, by width and height."""

RULES = [(ko, suicide) for ko in Ko for suicide in (False, True)]


class Twins:
    """One game played by the oracle and by the engine at once."""

    def __init__(self, width: int, height: int, ko: Ko, suicide: bool, positions: dict[int, reference.Position]):
        self.game = Game(width, height, Rules(ko=ko, suicide=suicide))
        self.oracle = reference.ReferenceGame(reference.empty_position(width, height), ko=ko.lower(), suicide=suicide)
        self.points = list(points_of(self.oracle.position))
        self.positions = positions

    def try_move(self, index: int, color: int) -> str | None:
        """Compare the verdicts on a move and return them; play it if it is legal and compare the results."""
        point = PASS if index == reference.PASS else self.points[index]
        reason = self.oracle.illegal_reason(index, CHARACTER[color])
        assert self.game.illegal_reason(point, color) == reason
        if reason is not None:
            return reason
        expected_hash = int(hash_after(self.game.board, point, color))
        taken = self.oracle.play(index, CHARACTER[color])
        before = sum(self.game.captures.values())
        self.game.play(point, color)
        assert self.game.hash == expected_hash
        assert sum(self.game.captures.values()) - before == taken
        self.compare_boards(taken)
        return None

    def compare_boards(self, taken: int) -> None:
        position = self.oracle.position
        colors = self.game.board.color[self.points].tolist()
        assert "".join(map(CHARACTER.__getitem__, colors)) == position.cells
        assert self.game.captures == {COLOR[c]: count for c, count in self.oracle.captures.items()}
        # A retake of one stone restores a position only if exactly that stone was taken.
        ko = self.oracle.ko_point() if taken == 1 else None
        assert self.game.ko_point == (None if ko is None else self.points[ko])
        assert self.positions.setdefault(self.game.hash, position) == position, "one hash, two positions"

    def compare_everything(self) -> bool:
        """Compare legality at every point; return whether either side has a legal move."""
        can_move = False
        for color in (BLACK, WHITE):
            reasons = [self.oracle.illegal_reason(i, CHARACTER[color]) for i in range(len(self.points))]
            legal = [point for point, reason in zip(self.points, reasons, strict=True) if reason is None]
            assert self.game.legal_points(color) == legal
            assert [self.game.illegal_reason(p, color) for p in self.points] == reasons
            can_move |= bool(legal)
        return can_move


def play_games(rng: random.Random, ko: Ko, suicide: bool, size: tuple[int, int], moves: int) -> Counter[str | None]:
    """Play random games until `moves` legal moves were compared; return how often each verdict was given."""
    verdicts: Counter[str | None] = Counter()
    positions: dict[int, reference.Position] = {}
    area = size[0] * size[1]
    while verdicts[None] < moves:
        twins = Twins(*size, ko, suicide, positions)
        alternate = rng.random() < 0.5
        for number in range(4 * area + 20):
            empty = [i for i, c in enumerate(twins.oracle.position.cells) if c == reference.EMPTY]
            index = reference.PASS if rng.random() < 0.03 or not empty else rng.choice(empty)
            color = twins.game.to_play if alternate else rng.choice((BLACK, WHITE))
            verdicts[twins.try_move(index, color)] += 1
            if number % max(8, area // 4) == 7 and not twins.compare_everything():
                break
            if verdicts[None] >= moves:
                break
    assert len(set(positions.values())) == len(positions), "one position, two hashes"
    return verdicts


@pytest.mark.parametrize("size", MOVES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_random_games(size: tuple[int, int]):
    for ko, suicide in RULES:
        rng = random.Random(f"{ko} {suicide} {size}")
        verdicts = play_games(rng, ko, suicide, size, FACTOR * MOVES[size])
        assert verdicts[None] == FACTOR * MOVES[size]
        if size == (4, 4):  # crowded enough for every kind of illegal move
            assert set(verdicts) == {None, "ko", "suicide"} | ({"superko"} if ko is not Ko.SIMPLE else set())
