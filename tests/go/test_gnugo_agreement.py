"""GNU Go, an unrelated program, agrees about legality, captures, liberties, stones and the area at the end.

Both play the same random games through GTP, on several sizes and under GNU Go's ko and suicide rules.  Colours move in
any order where the ko rule is simple; with superko they alternate, because GNU Go takes the side that really moved for
the side to play.
"""

import random
from collections.abc import Callable
from typing import Any

import pytest
from gnugo import GnuGo, needs_gnugo

from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE
from gtp_engine.go.coords import Move, board_points, format_color, format_vertex, parse_vertex
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Ko, Rules
from gtp_engine.go.tactics import is_eye

pytestmark = needs_gnugo

KO_OPTIONS = {Ko.SIMPLE: "--simple-ko", Ko.POSITIONAL: "--positional-superko", Ko.SITUATIONAL: "--situational-superko"}
SUICIDE_OPTIONS = {False: "--forbid-suicide", True: "--allow-suicide"}
GAMES = {2: 5, 3: 7, 4: 7, 5: 5, 7: 1, 9: 1}
"""Random games for each rule set, by board size."""


class Witnessed:
    """A game of ours and the same game in GNU Go, which gets moves and questions together at the end: pipes are slow.

    Each question has its check, which knows what we found when the question was asked.
    """

    def __init__(self, gnugo: GnuGo, size: int, rules: Rules):
        self.gnugo = gnugo
        self.game = Game(size, size, rules, 0.0)
        self.waiting: list[tuple[str, Callable[[str], None]]] = []
        for command in (f"boardsize {size}", "clear_board", "komi 0"):
            self.ask(command, lambda answer: None)

    def __enter__(self) -> "Witnessed":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            answers = self.gnugo.ask_all(command for command, _ in self.waiting)
            for (_, check), answer in zip(self.waiting, answers, strict=True):
                check(answer)

    def ask(self, command: str, check: Callable[[str], None]) -> None:
        self.waiting.append((command, check))

    def expect(self, command: str, found: Any, read: Callable[[str], Any] = str) -> None:
        """Require that the answer, read by `read`, is what we found."""
        number = len(self.game.moves)

        def check(answer: str) -> None:
            assert read(answer) == found, self.diagram(number)

        self.ask(command, check)

    def vertex(self, point: int) -> str:
        return format_vertex(point, width=self.game.width, height=self.game.height).upper()

    def points(self, vertices: str) -> list[int]:
        size = self.game.width
        return sorted(parse_vertex(text, width=size, height=size) for text in vertices.split())

    def play(self, move: Move) -> None:
        self.game.play(move)
        self.ask(f"play {format_color(move.color)} {self.vertex(move.point)}", lambda answer: None)

    def diagram(self, number: int) -> str:
        """Return the position after this number of moves."""
        game = Game(self.game.width, self.game.height, self.game.rules, 0.0)
        for move in self.game.moves[:number]:
            game.play(move)
        return game.diagram()

    def compare_legality(self) -> None:
        """Both know the same legal points for both colours, and the same verdict on a pass."""
        for color in (BLACK, WHITE):
            name = format_color(color)
            expected = self.game.legal_points(color) + self.repetitions_by_suicide(color)
            self.expect(f"all_legal {name}", sorted(expected), self.points)
            self.expect(f"is_legal {name} pass", "1")

    def repetitions_by_suicide(self, color: int) -> list[int]:
        """Return the suicides that superko forbids; GNU Go does not look for repetitions behind a suicide."""
        points = board_points(self.game.width, self.game.height)
        repeating = [p for p in points if self.game.illegal_reason(p, color) == "superko"]
        if not repeating or not self.game.rules.suicide:
            return []
        strict = self.game.copy()
        strict.rules = Rules(suicide=False)
        return [p for p in repeating if strict.illegal_reason(p, color) == "suicide"]

    def compare_stones(self) -> None:
        """Stones, captures, and the liberties of every chain are the same."""
        board = self.game.board
        stones = [p for p in board_points(self.game.width, self.game.height) if board.color[p] != EMPTY]
        for color in (BLACK, WHITE):
            name = format_color(color)
            self.expect(f"list_stones {name}", sorted(p for p in stones if board.color[p] == color), self.points)
            self.expect(f"captures {name}", self.game.captures[color], int)
        for point in stones:
            liberties = self.game.liberties(point)
            self.expect(f"countlib {self.vertex(point)}", len(liberties), int)
            if board.head[point] == point:
                self.expect(f"findlib {self.vertex(point)}", liberties, self.points)


def random_move(rng: random.Random, game: Game) -> Move:
    """Return a legal move, rarely a pass; under superko colours alternate."""
    free = game.rules.ko is Ko.SIMPLE and rng.random() < 0.3
    color = rng.choice((BLACK, WHITE)) if free else game.to_play
    empty = [p for p in board_points(game.width, game.height) if game.color_at(p) == EMPTY]
    rng.shuffle(empty)
    point = next((p for p in empty if game.illegal_reason(p, color) is None), PASS)
    return Move(color, PASS if rng.random() < 0.03 else point)


@pytest.mark.parametrize("suicide", [False, True], ids=["no suicide", "suicide"])
@pytest.mark.parametrize("ko", list(Ko))
def test_random_games(ko: Ko, suicide: bool):
    rng = random.Random(f"{ko} {suicide}")
    rules = Rules(ko=ko, suicide=suicide)
    is_large = ko is Ko.POSITIONAL and suicide  # comparing 361 points takes longer than all games on small boards
    with GnuGo(KO_OPTIONS[ko], SUICIDE_OPTIONS[suicide]) as gnugo:
        for size, games in (GAMES | {19: is_large}).items():
            for _ in range(games):
                with Witnessed(gnugo, size, rules) as both:
                    play_random_game(rng, both)


def play_random_game(rng: random.Random, both: Witnessed) -> None:
    area = both.game.width * both.game.height
    for number in range(min(2 * area + 10, 400)):
        if number % max(1, area // 9) == 0:
            both.compare_legality()
        if number % max(1, area // 6) == 0:
            both.compare_stones()
        both.play(random_move(rng, both.game))
    both.compare_legality()
    both.compare_stones()


@pytest.mark.parametrize(("size", "games"), [(5, 8), (7, 5), (9, 4), (13, 1)])
def test_area_of_games_played_out(size: int, games: int):
    """Random games that fill everything but eyes: no stone is dead, so GNU Go's score is Tromp and Taylor's area."""
    rng = random.Random(size)
    with GnuGo("--chinese-rules", "--simple-ko", "--forbid-suicide") as gnugo:
        for _ in range(games):
            with Witnessed(gnugo, size, Rules(ko=Ko.SIMPLE, suicide=False)) as both:
                fill_up(rng, both)
                both.compare_stones()
                ours = str(both.game.score())
                both.expect("final_score", ours if "." in ours or ours == "0" else f"{ours}.0")


def fill_up(rng: random.Random, both: Witnessed) -> None:
    """Play random moves that fill no own eye until neither side has one."""
    game = both.game
    for _ in range(6 * game.width * game.height):
        color = game.to_play
        choices = [p for p in game.legal_points() if not is_eye(game.board, p, color)]
        both.play(Move(color, rng.choice(choices) if choices else PASS))
        if game.is_over:
            return
