"""KataGo's planes from their description, slow and obvious: sets of indices of the oracle's positions (`reference`)."""

import reference
from board_helpers import COLOR, point_to_action, position_of

from gtp_engine.go.board import KO_COLOR
from gtp_engine.go.constants import PASS, opponent
from gtp_engine.go.coords import board_points
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Scoring, Tax

CHARACTER = {color: character for character, color in COLOR.items()}


class KatagoOracle:
    """The planes of a game's position: `planes[k]` is the set of the indices where plane k is 1."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.mine = CHARACTER[game.to_play]
        self.theirs = CHARACTER[opponent(game.to_play)]
        self.position = position_of(game.board, game.width, game.height)
        self.shown = self._shown_moves()
        self.planes: list[set[int]] = [set() for _ in range(22)]
        self._stones()
        self._moves()
        self._ladders()
        if game.rules.scoring is Scoring.AREA:
            self._area()

    def _with(self, color: str) -> set[int]:
        return {i for i, c in enumerate(self.position.cells) if c == color}

    def _index(self, point: int) -> int:
        return point_to_action(point, width=self.game.width, height=self.game.height)

    def _shown_moves(self) -> int:
        """Return how many of the last five moves were in turn, ending with the opponent's; 0 before a hidden pass."""
        game = self.game
        passes = game.consecutive_passes
        if game.rules.scoring is Scoring.AREA and game.rules.friendly_pass_ok and passes == 1:
            return 0
        limit = 1 if passes >= 2 else 5
        expected = opponent(game.to_play)
        count = 0
        for move in reversed(game.moves):
            if count == limit or move.color != expected:
                break
            count, expected = count + 1, opponent(expected)
        return count

    def _stones(self) -> None:
        self.planes[0] = set(range(len(self.position.cells)))
        self.planes[1], self.planes[2] = self._with(self.mine), self._with(self.theirs)
        for index in self.planes[1] | self.planes[2]:
            count = len(reference.liberties(self.position, index))
            if count <= 3:
                self.planes[2 + count].add(index)
        for point in board_points(self.game.width, self.game.height):
            if self.game.illegal_reason(point) in ("ko", "superko"):
                self.planes[6].add(self._index(point))

    def _moves(self) -> None:
        for ago in range(self.shown):
            point = self.game.moves[-1 - ago].point
            if point != PASS:
                self.planes[9 + ago].add(self._index(point))

    def _ladders(self) -> None:
        past = self.game.copy()
        for ago in range(3):
            if 0 < ago <= self.shown:
                past.undo()
            position = position_of(past.board, past.width, past.height)
            banned = (set(), "") if past.ko_point is None else self._banned(past)
            for index, cell in enumerate(position.cells):
                if cell == reference.EMPTY or len(reference.liberties(position, index)) > 2:
                    continue
                if len(reference.liberties(position, index)) == 1:
                    captured = not reference.ladder_escapes(position, index)
                else:
                    works = reference.ladder_attacks(position, index) - (banned[0] if cell != banned[1] else set())
                    captured = bool(works)
                    if ago == 0 and cell == self.theirs:
                        self.planes[17] |= works
                if captured:
                    self.planes[14 + ago].add(index)

    def _banned(self, game: Game) -> tuple[set[int], str]:
        """Return the point a ko forbids, and the colour it is forbidden to."""
        return {self._index(game.ko_point)}, CHARACTER[int(game.board.info[KO_COLOR])]

    def _area(self) -> None:
        owner = list(reference.area(self.position))
        for color in "XO":
            for index in reference.pass_alive(self.position, color, suicide=self.game.rules.suicide)[1]:
                owner[index] = color
        if self.game.rules.tax is not Tax.NONE:
            owner = self._taxed(owner)
        for plane, color in ((18, self.mine), (19, self.theirs)):
            self.planes[plane] = {i for i, o in enumerate(owner) if o == color}

    def _taxed(self, owner: list[str]) -> list[str]:
        """Return the owners left where the eyes of pieces in atari or next to neutral points do not count."""
        cells = self.position.cells
        around = reference.neighbors(self.position.width, self.position.height)
        taxed = [o if o == c else reference.EMPTY for o, c in zip(owner, cells, strict=True)]
        for color in "XO":
            for piece, _ in reference.regions(self.position._replace(cells="".join(owner)), color):
                in_atari = any(cells[p] == color and len(reference.liberties(self.position, p)) == 1 for p in piece)
                if not in_atari and not any(cells[q] == owner[q] == reference.EMPTY for p in piece for q in around[p]):
                    for p in piece:
                        taxed[p] = color
        return taxed
