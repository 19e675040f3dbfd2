"""Questions about Go that language models ask, as tools of the Model Context Protocol (modelcontextprotocol.io).

    GoTools       the answers, as plain values; knows nothing of the protocol
    server        serves them with the package `mcp` (extra `[mcp]`)

A language model repeats what it was told as a fact, so every answer says what it `rests_on`: the rules of the game,
which are exact; reading, which is exact within its limits; or a search, with its visits and the network, an estimate.
What was not searched is not in an answer.
"""

import inspect
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from functools import cached_property, wraps
from typing import Any, ClassVar, Final

from gtp_engine import __version__
from gtp_engine.base.errors import GameStateError, InvalidVertexError, TengenError, counted, problem, shown
from gtp_engine.engine.engine import Engine
from gtp_engine.go.constants import EMPTY, PASS
from gtp_engine.go.coords import BLACK, WHITE, Color, Move, parse_color
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules
from gtp_engine.people.review.game_line import GamePosition
from gtp_engine.people.review.game_review import PlayedMove, finding_of, played_move
from gtp_engine.people.review.problems import parse_region
from gtp_engine.people.review.problems.life_and_death import DEEPER, LifeAndDeath
from gtp_engine.people.review.score_report import score_record
from gtp_engine.search.limits import CancelToken, Limits, Reporting, SearchRequest
from gtp_engine.search.report import MoveReport, SearchReport
from gtp_engine.sgf.game_tree import GameNode, GameTree
from gtp_engine.sgf.record import play_record

DEFAULT_VISITS: Final = 200
"""Visits of a search unless the question asks for others: some seconds on a laptop."""

MOST_VISITS: Final = 20_000
MOST_SECONDS: Final = 120.0
"""Limits of one search, however many visits a question asks for: a caller waits for its answer."""

FEWEST_VISITS: Final = 8
"""Visits from which a move is reported; the mean of fewer is mostly the network's first guess."""

PROGRESS_SECONDS: Final = 1.0
"""Time between two notifications of progress."""

_BY_RULES: Final = {"method": "the rules of the game", "is_exact": True}
_BY_LADDERS: Final = {
    "method": "reading of ladders: the attacker always gives atari, the defender extends or captures",
    "is_exact": True,
    "not_covered": "nets, throw-ins and other captures without a ladder",
}


@dataclass(frozen=True)
class Position:
    """A position: a game record in SGF, or moves from an empty board, or both, the moves after those of the record.

    `sgf` is the text of a record, of which the main line is taken, up to move number `after` if that is given.  `moves`
    are vertices such as "D4" or "pass", colours in turn, each with a colour in front ("W Q16") where they are not.
    `size` is the number of lines, `rules` and `komi` are for positions without a record, or one that names none.
    """

    sgf: str = ""
    after: int | None = None
    moves: list[str] = field(default_factory=list)
    size: int = 19
    rules: str = "chinese"
    komi: float | None = None

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    @cached_property
    def node(self) -> GameNode | None:
        """The node of the record after which `moves` follow, None without a record; raises a TengenError."""
        if not self.sgf:
            if self.after is not None:
                raise GameStateError(f"after {self.after} without sgf", advice="give the record, or leave it out")
            return None
        line, last = self.line[0], self.line[0][-1].move_number
        if self.after is not None and not 0 <= self.after <= last:
            raise GameStateError(f"after {self.after}", expected=f"0 to {last}, the moves of the record")
        return [node for node in line if self.after is None or node.move_number <= self.after][-1]

    @cached_property
    def line(self) -> tuple[list[GameNode], tuple[str, ...]]:
        """The nodes of the record as far as it can be played, and what was left out or guessed; raises SgfError."""
        tree = GameTree(self.sgf)
        record = play_record(tree.record)[1]
        return [node for node in tree.main_line() if node.move_number <= len(record.moves)], record.notes

    @property
    def number(self) -> int:
        """How many moves were played, also those before stones that the record sets up, which a game does not hold."""
        return (self.node.move_number if self.node else 0) + len(self.moves)

    def game(self) -> Game:
        """Return the game at this position; raises a TengenError for a record or a move that cannot be read."""
        if self.node is not None:
            game = self.node.game(rules=self.rules, komi=self.komi)
        else:
            rules = Rules.parse(self.rules)
            komi = rules.fair_komi(self.size, self.size) if self.komi is None else self.komi
            game = Game(self.size, rules=rules, komi=komi)
        play_all(game, self.moves)
        return game


def play_all(game: Game, moves: Sequence[str]) -> None:
    """Play moves given as text; raises a TengenError that says which one is wrong."""
    for number, text in enumerate(moves, start=1):
        words = text.split()
        try:
            vertex, color = (words[1], parse_color(words[0])) if len(words) == 2 else (text, None)
            game.play(vertex, color)
        except TengenError as error:
            raise GameStateError(f"move {number} of the moves, {shown(text)}: {error}") from None


@dataclass
class Question:
    """A question while it is answered: `cancel` ends its searches, `visits` of `most` are what they have done."""

    cancel: CancelToken = field(default_factory=CancelToken)
    visits: int = 0
    most: int = 0


_QUESTION: Final[ContextVar[Question]] = ContextVar("question")
"""The question that is answered in this context; none where no client asks."""


class GoTools:
    """The answers; `engine` searches, one question at a time.  All methods raise a TengenError for a wrong question.

    Winrates are in percent and leads in points, both Black's unless a key says otherwise.  Points are vertices: columns
    A to T without I, rows from below.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine: Final = engine
        self._lock: Final = threading.Lock()

    # --- by the rules ---

    def show_position(self, position: Position) -> dict[str, Any]:
        """Draw a position, with whose turn it is, the captures, the ko and the number of legal moves."""
        game = position.game()
        return {
            "diagram": game.diagram(),
            "to_play": str(game.to_play),
            "moves_played": position.number,
            "captured_by": {str(color): game.captures[color] for color in (BLACK, WHITE)},
            "ko_at": game.ko_point.vertex if game.ko_point else None,
            "legal_points": len(game.legal_points()),
            "rules": str(game.rules),
            "komi": game.komi,
            "rests_on": _BY_RULES,
        }

    def check_move(self, position: Position, move: str, color: str | None = None) -> dict[str, Any]:
        """Say whether a move is legal, and what it captures; `color` is the side to play unless it is given."""
        game = position.game()
        mover = game.to_play if color is None else parse_color(color)
        reason = game.illegal_reason(move, mover)
        answer: dict[str, Any] = {"move": game.vertex(move), "color": str(mover), "is_legal": reason is None}
        if reason is not None:
            return answer | {"reason": reason, "rests_on": _BY_RULES}
        before, played = game.stones, game.play(move, mover)
        return answer | {
            "captures": [str(point) for point, held in before.items() if held != mover and not game.color_at(point)],
            "liberties_after": 0 if played.point == PASS else len(game.liberties(played.point)),
            "rests_on": _BY_RULES,
        }

    def group(self, position: Position, point: str) -> dict[str, Any]:
        """Give the facts about the chain of stones on a point.

        These are its stones and liberties, whether it is in atari, whether it lives even if its side always passes
        (Benson's theorem), and whether a ladder captures it.
        """
        game = position.game()
        where = game.point(point)
        color = Color.EMPTY if where == PASS else game.color_at(where)
        if color == EMPTY:
            given = "pass" if where == PASS else f"{point.upper()} is empty"
            raise InvalidVertexError(given, expected="the vertex of a stone")
        stones, liberties = game.chain(point), game.liberties(point)
        return {
            "color": str(color),
            "stones": [game.vertex(each) for each in stones],
            "liberties": [game.vertex(each) for each in liberties],
            "is_in_atari": len(liberties) == 1,
            "is_alive_unconditionally": {
                "answer": stones[0] in game.pass_alive(color),
                "rests_on": {"method": "Benson's theorem", "is_exact": True},
                "note": "a group may also live in other ways: ask life_and_death or analyse",
            },
            "ladder": _ladder(game, stones[0]),
            "rests_on": _BY_RULES,
        }

    def rules(self, name: str) -> dict[str, Any]:
        """Describe a rule set (chinese, japanese, korean, aga, new-zealand, tromp-taylor and others)."""
        found = Rules.parse(name)
        return {
            "rules": found.preset_name() or name,
            "ko": str(found.ko),
            "scoring": str(found.scoring),
            "tax": str(found.tax),
            "suicide_is_legal": found.suicide,
            "handicap_bonus_for_white": str(found.white_handicap_bonus),
            "has_button": found.has_button,
            "usual_komi": found.default_komi(),
            "rests_on": _BY_RULES,
        }

    # --- by searching ---

    def analyse(self, position: Position, visits: int = DEFAULT_VISITS, moves: int = 5) -> dict[str, Any]:
        """Search a position: winrate, lead, and the best moves with their continuations."""
        game = position.game()
        report, basis = self._search(game, visits)
        found = [_move(game, each) for each in report.moves[: max(1, moves)] if each.visits >= FEWEST_VISITS]
        return {"to_play": str(game.to_play), **_outlook(report), "best_moves": found, "rests_on": basis}

    def compare_move(self, position: Position, move: str, visits: int = DEFAULT_VISITS) -> dict[str, Any]:
        """Measure what a move loses against the engine's best one, each searched with `visits` visits."""
        game = position.game()
        before, basis = self._search(game, visits)
        if before.best is None:
            raise GameStateError("the game is over: there is no move to compare")
        move_played = game.as_move((game.to_play, move))
        played, _ = self._compared(game, before, move_played, visits)
        return {
            "mover": str(move_played.color),
            "best_move": played.best,
            "best_continuation": [game.vertex(point) for point in before.best.pv],
            "move": played.vertex,
            "points_lost": round(played.points_lost, 1),
            "winrate_lost_percent": round(100 * played.winrate_lost, 1),
            "rests_on": basis | {"note": "differences below half a point mean little"},
        }

    def what_if(self, position: Position, line: list[str], visits: int = DEFAULT_VISITS) -> dict[str, Any]:
        """Play a line from a position; give winrate and lead before and after it."""
        if not line:
            raise GameStateError("an empty line", expected='moves, as in ["D4", "Q16"]')
        game = position.game()
        before, basis = self._search(game, visits)
        play_all(game, line)
        after, _ = self._search(game, visits)
        return {"before": _outlook(before), "line": line, "after": _outlook(after), "rests_on": basis}

    def life_and_death(self, position: Position, region: str, first: str, visits: int = 500) -> dict[str, Any]:
        """Solve a problem of life and death: the best first move of `first` in a region such as "A1:F5"."""
        game = position.game()
        points = parse_region(region, width=game.width, height=game.height)
        with self._answering() as question:
            solver = LifeAndDeath(self._engine.config, self._engine.evaluator, _visits(visits), deeper=DEEPER[:1])
            solution = solver.solve(game, parse_color(first), points, cancel=question.cancel)
        basis = self._basis(game, visits) | {"note": "expected, not proved; a winrate near 50% is often a ko"}
        if solution.is_proved:
            basis = {"method": "a proof; the explanation says for which surroundings", "is_exact": True}
        return {"answer": solution.answer, "explanation": solution.to_text(), "rests_on": basis}

    def score(self, position: Position) -> dict[str, Any]:
        """Score a finished position: dead stones, territory, the result, and whether it is counted or estimated."""
        with self._answering() as question:
            self._engine.set_game(position.game())
            report = score_record(self._engine, self._engine.to_sgf().encode(), cancel=question.cancel)
        found = report.to_json()
        basis = {"method": "dead stones by search, then counted by the rules", "is_exact": False}
        basis |= {"note": f"estimated, {report.doubt}"} if report.doubt else {}
        keys = ("result", "black", "white", "komi", "points")
        return {key: found[key] for key in keys} | {"is_counted": not report.doubt, "rests_on": basis}

    def review_moves(self, position: Position, first: int, last: int, visits: int = DEFAULT_VISITS) -> dict[str, Any]:
        """Say what each of the moves number `first` to `last` of a record lost, at most fifty of them."""
        game = position.game()
        played, end = game.moves, position.number
        before = end - len(played)
        if not before < first <= last <= end or last - first >= 50:
            expected = f"numbers from {before + 1} to {end}, at most fifty moves"
            raise GameStateError(f"moves {first} to {last}", expected=expected)
        game.undo(end - first + 1)
        report, basis = self._search(game, visits)
        rows = []
        for number, move in enumerate(played[first - before - 1 : last - before], start=first):
            row, report = self._compared(game, report, move, visits, tolerant=True)
            rows.append(
                {
                    "number": number,
                    "color": str(move.color),
                    "move": row.vertex,
                    "points_lost": round(row.points_lost, 1),
                    "engine_prefers": None if row.best == row.vertex else row.best,
                }
            )
        return {"moves": rows, "rests_on": basis | {"note": "losses below half a point mean little"}}

    # --- how ---

    def _compared(
        self, game: Game, before: SearchReport, move: Move, visits: int, *, tolerant: bool = False
    ) -> tuple[PlayedMove, SearchReport]:
        """Play a move; return it with what it lost, as a review has it, and the search of the position after it."""
        found = finding_of(GamePosition(len(game.moves), game, move.color, played=move.point), before)
        game.play(move, tolerant=tolerant)
        after, _ = self._search(game, visits)
        position = GamePosition(len(game.moves), game, game.to_play)
        return played_move(move, found, finding_of(position, after), position), after

    @contextmanager
    def _answering(self) -> Iterator[Question]:
        """Yield the question that the engine answers next; raises GameStateError if its client cancels it."""
        question = _QUESTION.get(None) or Question()
        with self._lock:
            yield question
        if question.cancel.is_cancelled:
            raise GameStateError("the question was cancelled")

    def _search(self, game: Game, visits: int) -> tuple[SearchReport, dict[str, Any]]:
        """Return a search of a position with that many visits, and what it rests on."""
        started, most = time.monotonic(), _visits(visits)
        with self._answering() as question:
            before, question.most = question.visits, question.visits + most

            def count(report: SearchReport) -> None:
                question.visits = before + report.visits

            limits = Limits(visits, cancel=question.cancel)
            self._engine.set_game(game.copy())
            request = SearchRequest(limits, reporting=Reporting(PROGRESS_SECONDS, count))
            report = self._engine.search(MOST_SECONDS, request=request)
            count(report)
        return report, self._basis(game, report.visits) | {"seconds": round(time.monotonic() - started, 1)}

    def _basis(self, game: Game, visits: int) -> dict[str, Any]:
        evaluator = self._engine.evaluator
        network = "none, random playouts" if evaluator is None else evaluator.info.on(game.width, game.height).name
        return {"method": "search", "is_exact": False, "visits": visits, "network": network}


TOOLS: Final = tuple(name for name in vars(GoTools) if not name.startswith("_"))
"""The methods of `GoTools` that are offered: all that are public."""

_INSTRUCTIONS: Final = (
    "Facts and evaluations of the game of Go, from the engine Tengen. Every answer has rests_on: repeat it when you "
    "repeat the answer. Answers with is_exact true are facts; a search is an estimate, the better the more visits. Do "
    "not evaluate a move, a group or a score yourself: ask. Vertices are columns A to T without I and rows from below: "
    "D4 is near the lower left corner. A position is one argument, an object: "
    '{"position": {"size": 9, "moves": ["D4", "F6"]}, "visits": 100}.'
)


def server(tools: GoTools) -> Any:
    """Return the server of the package `mcp` with the tools."""
    import anyio
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from pydantic import ValidationError

    class Server(MCPServer):
        """Says in a sentence what is wrong with arguments, also with names that no argument has.

        A question whose client cancels it ends its search; its client gets the progress of one that goes on.
        """

        async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
            question = Question()
            _QUESTION.set(question)

            async def watch() -> None:
                try:
                    while True:
                        await anyio.sleep(PROGRESS_SECONDS)
                        if context is not None and question.visits:
                            await context.report_progress(question.visits, question.most)
                finally:  # the answer is there, or the client has cancelled
                    question.cancel.cancel()

            try:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(watch)
                    answer = await self._answer(name, arguments, context)
                    tasks.cancel_scope.cancel()
                    return answer
            except BaseExceptionGroup as errors:
                raise errors.exceptions[0] from errors.exceptions[0].__cause__

        async def _answer(self, name: str, arguments: dict[str, Any], context: Any) -> Any:
            if name in TOOLS:
                names = [*inspect.signature(getattr(tools, name)).parameters]
                if unknown := [shown(given) for given in arguments if given not in names]:
                    raise ToolError(problem(f"{name}: arguments {', '.join(unknown)}", expected=", ".join(names)))
            try:
                return await super().call_tool(name, arguments, context)
            except ToolError as error:
                if isinstance(error.__cause__, ValidationError):
                    reasons = (_wrong_argument(each) for each in error.__cause__.errors())
                    raise ToolError(f"{name}: {'; '.join(reasons)}") from error.__cause__
                raise

    def answering(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def answer(**values: Any) -> str:
            try:
                found, position = method(**values), values.get("position")
                told = position.line[1] if position and position.sgf else ()
                notes = {"notes_on_the_record": told} if told else {}
                return json.dumps(found | notes, ensure_ascii=False, separators=(",", ":"))
            except TengenError as error:
                raise ToolError(str(error)) from error

        return answer

    made = Server("Tengen", version=__version__, instructions=_INSTRUCTIONS, log_level="ERROR")
    for name in TOOLS:
        made.add_tool(answering(getattr(tools, name)), name=name, structured_output=False)
    return made


def _wrong_argument(error: Mapping[str, Any]) -> str:
    """Return what an error of pydantic says, with what was expected."""
    where = ".".join(str(part) for part in error["loc"])
    if error["type"] == "missing":
        return problem(f"no {where}", expected="one")
    if error["type"] == "unexpected_keyword_argument":
        return problem(where, expected=f"one of {', '.join(each.name for each in fields(Position))}")
    if error["type"] == "dataclass_type":
        return problem(f"{where} {shown(error['input'])}", expected='an object, as in {"moves": ["D4", "Q16"]}')
    return problem(f"{where} {shown(error['input'])}", expected=error["msg"].removeprefix("Input should be "))


def _visits(visits: int) -> int:
    if not FEWEST_VISITS <= visits <= MOST_VISITS:
        raise GameStateError(counted(visits, "visit"), expected=f"{FEWEST_VISITS} to {MOST_VISITS}")
    return visits


def _ladder(game: Game, point: int) -> dict[str, Any]:
    """Return whether a ladder captures the chain on a point: if it moves first, and if the other side does."""
    liberties, found = game.liberties(point), game.ladder_moves(point)
    answer: dict[str, Any] = {"is_captured_if_attacker_moves_first": len(found) > 0}
    if len(liberties) > 2:
        return answer | {"note": "three or more liberties", "rests_on": _BY_LADDERS}
    answer["capturing_moves"] = list(map(str, found))
    if len(liberties) == 1:
        answer["is_captured_even_if_its_side_moves_first"] = game.is_in_ladder(point)
    return answer | {"rests_on": _BY_LADDERS}


def _outlook(report: SearchReport) -> dict[str, Any]:
    black = report.seen_by(BLACK)
    return {"black_winrate_percent": round(100 * black.winrate, 1), "black_lead": round(black.lead, 1)}


def _move(game: Game, move: MoveReport) -> dict[str, Any]:
    """Return a move of a search, as its own side sees it."""
    mine = move.seen_by(game.to_play)
    least, _ = move.bounds_seen_by(game.to_play, game.to_play)
    return {
        "move": game.vertex(move.point),
        "winrate_percent_of_mover": round(100 * mine.winrate, 1),
        "winrate_percent_at_least": round(100 * min(max(least, 0.0), mine.winrate), 1),
        "lead_of_mover": round(mine.lead, 1),
        "visits": move.visits,
        **({} if move.symmetry_of is None else {"is_symmetry_of": game.vertex(move.symmetry_of)}),
        "continuation": [game.vertex(point) for point in move.pv[1:]],
    }
