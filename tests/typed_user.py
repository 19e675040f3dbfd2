"""What type checkers know of the public interface: mypy (scripts/check) and pyright (test_examples) check it."""

from collections.abc import Iterator
from typing import assert_type

from gtp_engine import (
    BLACK,
    PASS,
    Analysis,
    Choice,
    Color,
    Engine,
    Game,
    GameNode,
    GameTree,
    GtpEngine,
    Limit,
    Move,
    Point,
    SimpleGtpEngine,
)


def of_a_game(game: Game) -> None:
    assert_type(game["E5"].opponent, Color)
    assert_type(game.play("E5", "black"), Move)
    assert_type([(move.color, move.point.xy) for move in game.moves], list[tuple[Color, tuple[int, int]]])
    assert_type(game.stones, dict[Point, Color])
    assert_type(game.captures, dict[Color, int])
    assert_type((game.last_move, game.ko_point), tuple[Move | None, Point | None])
    assert_type(game.score(dead=["E5", PASS]).winner, Color)


def of_an_engine(engine: Engine) -> None:
    assert_type(engine.genmove(BLACK), Choice)
    assert_type(engine.genmove("white").point, Point)
    assert_type(engine.play("E5"), Move)
    assert_type([*engine.fixed_handicap(4), *engine.groups_by_status("dead")[0]], list[Point])


def of_a_tree(tree: GameTree) -> None:
    assert_type([node.move.point for node in tree.main_line() if node.move is not None], list[Point])
    assert_type(tree.root.next, GameNode | None)
    assert_type(tree.game(), Game)


async def of_another_engine(engine: GtpEngine) -> None:
    assert_type((await engine.genmove(Game(9), Limit(time=1))).move, Move | None)
    async for report in engine.analyse(Game(9), every=0.5):
        assert_type(report, Analysis)
    assert_type(await engine.analyse(Game(9), Limit(visits=5)), Analysis)


def without_asyncio(engine: SimpleGtpEngine) -> Iterator[str]:
    for report in engine.watch(Game(9)):
        yield report.best.vertex
