"""The positions of a game that may not recur: superko, and the cycles that end a game under simple ko."""

from gtp_engine.go.constants import KEYS
from gtp_engine.go.rules import Ko


class History:
    """Positions in the order in which they occurred: `hashes`, and `keys`, which are hashes with the side to play.

    Situational superko compares keys, positional superko hashes.
    """

    def __init__(self) -> None:
        self.hashes: list[int] = []
        self.keys: list[int] = []
        self._times: dict[int, int] = {}

    def add(self, position_hash: int, to_play: int) -> None:
        """Add a position."""
        key = position_hash ^ KEYS[0][to_play]
        self.hashes.append(position_hash)
        self.keys.append(key)
        self._times[key] = self._times.get(key, 0) + 1

    def remove_last(self) -> None:
        """Forget the last position."""
        self.hashes.pop()
        key = self.keys.pop()
        if left := self._times.pop(key) - 1:
            self._times[key] = left

    def forbids(self, ko: Ko, position_hash: int, to_play: int) -> bool:
        """Return whether the superko rule forbids a position with this hash and side to play."""
        if ko is Ko.SIMPLE:
            return False
        if position_hash ^ KEYS[0][to_play] in self._times:
            return True
        return ko is Ko.POSITIONAL and position_hash ^ KEYS[0][3 - to_play] in self._times

    def copy(self) -> "History":
        """Return an independent copy."""
        other = History()
        other.hashes, other.keys, other._times = self.hashes.copy(), self.keys.copy(), self._times.copy()
        return other
