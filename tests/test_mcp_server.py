"""The tools for language models, asked through the protocol's own client."""

import asyncio
import contextlib
import json
import random
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from itertools import islice
from typing import Any

import numpy as np
import pytest
import reference
from board_helpers import random_position
from busy_machine import is_over
from knowing_evaluator import KnowingEvaluator

from gtp_engine import Config, Engine, GameTree, Rules
from gtp_engine.evaluation.evaluator import Request
from gtp_engine.evaluation.positions import view_board
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.coords import xy_to_point
from gtp_engine.people.mcp_server import TOOLS, GoTools, Position, server
from gtp_engine.people.review import Effort, review_game
from gtp_engine.search.report import SearchReport

pytestmark = pytest.mark.skipif(find_spec("mcp") is None, reason="the package mcp is missing")
"""It takes seconds to import, which workers without one of these tests need not do."""

SIZE = 7
LETTERS = "ABCDEFGHJKLMNOPQRST"
COLORS = {"X": "black", "O": "white"}

Question = tuple[str, dict[str, Any], dict[str, Any]]
"""A tool, its arguments, and what of its answer is known independently."""


@pytest.fixture(scope="module")
def tools() -> Iterator[GoTools]:
    config = Config().with_values({"search.seed": "1", "game.board_size": str(SIZE)})
    evaluator = KnowingEvaluator()
    evaluator.info = replace(evaluator.info, names_by_board={(SIZE, SIZE): "of this board"})
    with Engine(config, evaluator=evaluator) as engine:
        yield GoTools(engine)


async def ask(tools: GoTools, *questions: tuple[str, dict[str, Any]]) -> list[Any]:
    """Return the answers, each the value of its JSON or the text of an error; each is given once, without blanks."""
    from mcp import Client

    async with Client(server(tools)) as client:
        answers = []
        for name, arguments in questions:
            result = await client.call_tool(name, arguments)
            (content,) = result.content
            assert result.structured_content is None
            answers.append(content.text if result.is_error else json.loads(content.text))
            compact = json.dumps(answers[-1], ensure_ascii=False, separators=(",", ":"))
            assert result.is_error or compact == content.text
        return answers


def vertex(index: int, size: int = SIZE) -> str:
    return f"{LETTERS[index % size]}{size - index // size}"


def record_of(position: reference.Position) -> str:
    """Return the position as SGF, Black to play."""

    def points(color: str) -> str:
        found = (divmod(i, position.width) for i, cell in enumerate(position.cells) if cell == color)
        return "".join(f"[{chr(97 + x)}{chr(97 + y)}]" for y, x in found)

    stones = {color: points(color) for color in "XO"}
    setup = "".join(f"A{letter}{stones[color]}" for letter, color in (("B", "X"), ("W", "O")) if stones[color])
    return f"(;SZ[{position.width}]RU[chinese]KM[7]PL[B]{setup})"


def generated(rng: random.Random) -> Iterator[Question]:
    """Yield questions about random positions, answered by the tests' own rules of the game."""
    while True:
        position = random_position(rng, SIZE, SIZE, rng.randrange(20, 90))
        given = {"position": {"sgf": record_of(position)}}
        stones = [i for i, cell in enumerate(position.cells) if cell != "."]
        weak = [i for i in stones if len(reference.liberties(position, i)) <= 2]
        for i in rng.sample(stones, min(2, len(stones))) + rng.sample(weak, min(2, len(weak))):
            alive = any(i in reference.pass_alive(position, color)[0] for color in "XO")
            attacks = sorted(map(vertex, reference.ladder_attacks(position, i)))
            yield (
                "group",
                given | {"point": vertex(i)},
                {
                    "color": COLORS[position.cells[i]],
                    "stones": sorted(map(vertex, reference.chain(position, i))),
                    "liberties": sorted(map(vertex, reference.liberties(position, i))),
                    "is_in_atari": len(reference.liberties(position, i)) == 1,
                    "is_alive_unconditionally": alive,
                    "ladder": attacks,
                },
            )
        for i in rng.sample(range(SIZE * SIZE), 3):
            color = rng.choice("XO")
            game = reference.ReferenceGame(position, ko="simple", suicide=False)
            reason = game.illegal_reason(i, color)
            known: dict[str, Any] = {"is_legal": reason is None}
            if reason is None:
                outcome = reference.place(position, i, color)
                known["captures"] = sorted(map(vertex, outcome.captured))
                known["liberties_after"] = len(reference.liberties(outcome.position, i))
            else:
                known["reason"] = reason
            yield "check_move", given | {"move": vertex(i).lower(), "color": COLORS[color]}, known | {"move": vertex(i)}


def test_three_hundred_questions_and_no_false_statement(tools: GoTools) -> None:
    kinds = set()
    for name, arguments, known in islice(generated(random.Random(47)), 300):
        position = Position(**arguments["position"])
        told = getattr(tools, name)(**arguments | {"position": position})
        told |= {key: sorted(told[key]) for key in ("stones", "liberties", "captures") if key in told}
        if name == "group":
            told["is_alive_unconditionally"] = told["is_alive_unconditionally"]["answer"]
            told["ladder"] = sorted(told["ladder"].get("capturing_moves", []))
        assert {key: told[key] for key in known} == known, (name, arguments)
        assert told["rests_on"]["is_exact"] is True
        kinds |= {(key, bool(value)) for key, value in known.items() if not isinstance(value, str)}
    both = {"is_legal", "captures", "is_in_atari", "is_alive_unconditionally", "ladder"}
    assert {(key, value) for key in both for value in (True, False)} <= kinds, "every kind of answer was asked for"


async def test_a_dead_stone_in_living_territory_is_not_alive(tools: GoTools) -> None:
    """What owns its point for ever is the other colour."""
    position = {"sgf": "(;SZ[7]RU[chinese]PL[B]AB[aa]AW[ca][cb][bb][bc][ac][cc][da][ea][eb][ec][dc][fb][fa])"}
    (dead, living) = await ask(tools, *(("group", {"position": position, "point": point}) for point in ("A7", "C7")))
    assert living["is_alive_unconditionally"]["answer"] is True
    assert dead["is_alive_unconditionally"]["answer"] is False


async def test_what_a_search_says_names_its_visits_and_its_network(tools: GoTools) -> None:
    position = {"moves": ["D4", "C3", "B D3"], "size": SIZE, "komi": 6.5}
    answers = await ask(
        tools,
        ("analyse", {"position": position, "visits": 40}),
        ("compare_move", {"position": position, "move": "A1", "visits": 40}),
        ("what_if", {"position": position, "line": ["C4", "E4"], "visits": 40}),
        ("review_moves", {"position": position, "first": 1, "last": 3, "visits": 40}),
        ("life_and_death", {"position": position, "region": "A1:C4", "first": "white", "visits": 20}),
    )
    for answer in answers:
        basis = answer["rests_on"]
        assert (basis["method"], basis["is_exact"]) == ("search", False)
        assert basis["visits"] >= 20 and basis["network"] == "of this board"
    analysis, comparison, what_if, review, _ = answers
    assert analysis["to_play"] == "white"
    growing = await ask(tools, *(("analyse", {"position": position, "visits": each}) for each in range(60, 200, 10)))
    best = growing[-1]["best_moves"][0]
    assert best["winrate_percent_at_least"] < best["winrate_percent_of_mover"]
    assert best["move"] not in best["continuation"]
    visits = [move["visits"] for each in growing for move in each["best_moves"]]
    assert min(visits) == 8, "what was hardly searched is not told"
    (empty,) = await ask(tools, ("analyse", {"position": {"size": SIZE}, "visits": 400, "moves": 50}))
    searched = {move["move"]: move["visits"] for move in empty["best_moves"] if "is_symmetry_of" not in move}
    mirrored = [move for move in empty["best_moves"] if "is_symmetry_of" in move]
    assert mirrored and all(move["visits"] == searched[move["is_symmetry_of"]] for move in mirrored)
    assert sum(searched.values()) <= 400
    assert comparison["move"] == "A1" and comparison["points_lost"] >= 0
    assert what_if["line"] == ["C4", "E4"]
    assert [(row["number"], row["move"]) for row in review["moves"]] == [(1, "D4"), (2, "C3"), (3, "D3")]


SET_UP_LATER = "(;SZ[7]KM[7];B[dd];W[cc];AW[aa];B[ff];W[])"


async def test_moves_have_the_numbers_of_their_record_and_what_was_guessed_is_told(tools: GoTools) -> None:
    """Moves after a set-up were counted from it, and of two games the first was taken without a word."""
    position = {"position": {"sgf": SET_UP_LATER * 2}}
    shown, review = await ask(
        tools, ("show_position", position), ("review_moves", position | {"first": 4, "last": 4, "visits": 8})
    )
    assert shown["moves_played"] == 4
    assert [(row["number"], row["move"]) for row in review["moves"]] == [(4, "pass")]
    assert all("several games" in answer["notes_on_the_record"][0] for answer in (shown, review))


async def test_a_record_counts_as_far_as_it_can_be_played(tools: GoTools) -> None:
    """A second stone on a point, or Little Golem's swap, made the whole record useless here alone."""
    records = [f"(;SZ[7];B[dd];W[{unplayable}];B[cc])" for unplayable in ("dd", "swap")]
    asked = (("check_move", {"position": {"sgf": record}, "move": "PASS"}) for record in records)
    for answer in await ask(tools, *asked):
        assert (answer["color"], answer["move"]) == ("white", "pass")
        assert answer["notes_on_the_record"][0].startswith("move 2")


EDGE = [xy_to_point(x, y, width=SIZE) for x in range(SIZE) for y in range(SIZE) if {x, y} & {0, SIZE - 1}]
EDGE_LOSS = 20.0


class EdgeEvaluator(KnowingEvaluator):
    """Knows that a stone on the edge costs its side EDGE_LOSS points, and likes to play there nearly as much."""

    def evaluate(self, request: Request) -> None:
        super().evaluate(request)
        for row in range(request.rows):
            stones = view_board(request.positions, row).color[EDGE]
            lead = EDGE_LOSS * (np.sum(stones == WHITE) - np.sum(stones == BLACK))
            request.out.lead_black[row] = lead
            request.out.win_black[row], request.out.loss_black[row] = 0.5 + 0.004 * lead, 0.5 - 0.004 * lead
            request.out.policy[row, EDGE] *= 0.8
            request.out.policy[row] /= request.out.policy[row].sum()


def test_the_tools_and_a_review_tell_the_same_points_lost() -> None:
    """The tools told 0.9 where the review told 2.3: they compared means over all moves of both positions."""
    moves, visits = ["D4", "A7", "C3", "G7", "E3", "A1"], 100
    config = Config().with_values({"search.seed": "1", "game.board_size": str(SIZE)})
    record = GameTree(Position(moves=moves, size=SIZE).game()).to_sgf().encode()
    review = review_game(record, EdgeEvaluator(), effort=Effort(visits=visits), config=config)
    with Engine(config, evaluator=EdgeEvaluator()) as engine:
        tools = GoTools(engine)
        rows = tools.review_moves(Position(moves=moves, size=SIZE), 1, len(moves), visits)["moves"]
        compared = [
            tools.compare_move(Position(moves=moves[:number], size=SIZE), vertex, visits)
            for number, vertex in enumerate(moves)
        ]
    told = [move.points_lost for move in review.moves]
    assert told == [0, EDGE_LOSS] * 3 == [row["points_lost"] for row in rows]
    assert told == [answer["points_lost"] for answer in compared]
    assert [answer["winrate_lost_percent"] for answer in compared] == [100 * each.winrate_lost for each in review.moves]


def test_fifty_moves_are_compared_at_once(tools: GoTools) -> None:
    """One more is refused, see below."""
    rows = tools.review_moves(Position(moves=["pass"] * 60, size=5), 3, 52, visits=8)["moves"]
    assert [row["number"] for row in rows] == list(range(3, 53))


class OneQuestionEngine(Engine):
    """Refuses what a question asks while another one's search is under way; two searches at once might never end."""

    is_searching = False

    def set_board_size(self, width: int, height: int | None = None) -> None:
        assert not self.is_searching
        super().set_board_size(width, height)

    def search(self, *limits: Any, **request: Any) -> SearchReport:
        assert not self.is_searching
        self.is_searching = True
        time.sleep(0.005)
        report = super().search(*limits, **request)
        self.is_searching = False
        return report


def test_questions_asked_at_once_are_answered_one_after_the_other() -> None:
    """There is one engine, whose game each question sets."""
    engine = OneQuestionEngine(Config().with_values({"search.seed": "1"}), evaluator=KnowingEvaluator())
    tools = GoTools(engine)
    positions = [Position(moves=[f"{'B' if number % 2 else 'W'} C3"], size=4 + number) for number in range(8)]
    wanted = [tools.what_if(position, ["D4"], 30)["before"] for position in positions]
    with ThreadPoolExecutor(8) as threads:
        found = threads.map(lambda position: tools.what_if(position, ["D4"], 30)["before"], positions)
        assert list(found) == wanted
    engine.close()


async def test_the_score_of_a_finished_game(tools: GoTools) -> None:
    columns = "".join(f"[{column}{row}]" for column in "cd" for row in "abcdefg")
    black, white = (columns[i * 28 : i * 28 + 28] for i in (0, 1))
    record = f"(;SZ[7]RU[chinese]KM[7]AB{black}AW{white};B[];W[])"
    (answer,) = await ask(tools, ("score", {"position": {"sgf": record}}))
    assert (answer["result"], answer["is_counted"]) == ("W+14", True)
    assert answer["rests_on"]["is_exact"] is False


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("group", {"position": {"size": 7}, "point": "D4"}, "D4 is empty"),
        ("group", {"position": {"size": 7, "moves": ["D4"]}, "point": "Z9"}, "Z9"),
        ("check_move", {"position": {"size": 99}, "move": "D4"}, "99"),
        ("show_position", {"position": {"sgf": "no record"}}, "SGF"),
        ("show_position", {"position": {"size": 7, "moves": ["D4", "D4"]}}, "move 2 of the moves"),
        ("show_position", {"position": {"sgf": "(;SZ[7];B[dd])", "after": 5}}, "expected 0 to 1"),
        ("show_position", {"position": {"sgf": "(;SZ[7];B[dd])", "after": -1}}, "after -1: expected 0 to 1"),
        ("show_position", {"position": {"moves": ["D4"], "after": 0}}, "after 0 without sgf; give the record"),
        ("show_position", {"position": {"move": ["D4"]}}, "position.move: expected one of sgf, after, moves"),
        ("show_position", {"position": {}, "moves": ["D4"]}, "arguments 'moves': expected position"),
        ("show_position", {"position": {"moves": "D4 Q16"}}, "position.moves 'D4 Q16': expected a valid list"),
        ("show_position", {"position": "D4"}, 'expected an object, as in {"moves"'),
        ("check_move", {"position": {}}, "no move"),
        ("group", {"position": {"moves": ["D4"]}, "point": "pass"}, "pass: expected the vertex of a stone"),
        ("analyse", {"position": {"size": 7}, "visits": 10**9}, "8 to 20000"),
        ("what_if", {"position": {"size": 7}, "line": []}, "an empty line"),
        ("review_moves", {"position": {"size": 7, "moves": ["D4"]}, "first": 1, "last": 2}, "numbers from 1 to 1"),
        ("review_moves", {"position": {"size": 7, "moves": ["pass"] * 60}, "first": 2, "last": 52}, "at most fifty"),
        ("review_moves", {"position": {"sgf": SET_UP_LATER}, "first": 1, "last": 3}, "numbers from 3 to 4"),
        ("life_and_death", {"position": {"size": 7}, "region": "Q1:Q3", "first": "black"}, "Q1"),
        ("rules", {"name": "martian"}, "martian"),
    ],
)
async def test_a_wrong_question_is_refused_with_a_sentence(
    tools: GoTools, name: str, arguments: dict[str, Any], message: str
) -> None:
    (answer,) = await ask(tools, (name, arguments))
    assert message in answer and "\n" not in answer and "http" not in answer


async def test_rules_and_the_picture_of_a_position(tools: GoTools) -> None:
    position = {"position": {"sgf": "(;SZ[7];B[dd];W[cc])", "rules": "japanese", "komi": 3}}
    shown, rules = await ask(tools, ("show_position", position), ("rules", {"name": "AGA"}))
    assert "X" in shown["diagram"] and (shown["to_play"], shown["moves_played"], shown["ko_at"]) == ("black", 2, None)
    assert (shown["rules"], shown["komi"]) == ("japanese", 3)
    assert [Position(size=9, komi=komi).game().komi for komi in (None, 0)] == [7, 0]
    suicide = Position("(;SZ[3]RU[Tromp-Taylor]PL[W]AB[ab][bb][ca]AW[aa])")
    assert tools.check_move(suicide, "B3")["captures"] == []
    aga = Rules.parse("aga")
    assert (rules["ko"], rules["scoring"], rules["usual_komi"]) == (aga.ko, aga.scoring, aga.default_komi())


async def test_every_tool_is_described(tools: GoTools) -> None:
    from mcp import Client

    async with Client(server(tools)) as client:
        found = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(found) == set(TOOLS)
    del found["rules"]
    assert all(len(tool.description) > 30 and "position" in str(tool.input_schema) for tool in found.values())
    assert "main line" in str(found["analyse"].input_schema), "the fields of a position are described"


async def test_the_command_serves_on_its_standard_streams() -> None:
    from mcp import Client, StdioServerParameters, stdio_client

    arguments = ["-m", "gtp_engine", "mcp", "--search", "rave", "--board-size", "5"]

    async with Client(stdio_client(StdioServerParameters(command=sys.executable, args=arguments))) as client:
        answer = await client.call_tool("check_move", {"position": {"size": 5}, "move": "C3"})
    assert json.loads(answer.content[0].text)["is_legal"] is True


@pytest.mark.parametrize("asks_for", ["analyse", "life_and_death"])
async def test_a_cancelled_question_leaves_the_engine_free_and_a_long_one_tells_its_progress(
    asks_for: str, tools: GoTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next question waited for the search of the cancelled one, 70 s."""
    from mcp import Client

    monkeypatch.setattr("gtp_engine.people.mcp_server.PROGRESS_SECONDS", 0.01)
    told: list[tuple[float, float | None]] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total))

    position = {"position": {"size": SIZE}}
    async with Client(server(tools)) as client:
        how = {} if asks_for == "analyse" else {"region": f"A1:{'ABCDEFGHJ'[SIZE - 1]}{SIZE}", "first": "black"}
        long = asyncio.create_task(
            client.call_tool(asks_for, {**position, **how, "visits": 20_000}, progress_callback=tell)
        )
        while not (told or how):
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.5 if how else 0.0)
        assert not long.done()
        long.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await long
        started = time.monotonic()
        await client.call_tool("analyse", {**position, "visits": 8})
        assert not is_over(started, 10)
        assert asks_for != "analyse" or 0 < told[0][0] < told[0][1] == 20_000
        told.clear()
        await client.call_tool("what_if", {**position, "line": ["D4"], "visits": 200}, progress_callback=tell)
    assert told == sorted(told) and told[-1][0] <= told[-1][1] >= 400
