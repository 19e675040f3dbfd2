"""The state of a session and the nodes of its tree, as plain values that JSON can hold."""

from dataclasses import asdict
from typing import Any, Final

from gtp_engine.go.area import area_owners
from gtp_engine.go.board import IntArray
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.coords import format_color, xy_to_point
from gtp_engine.go.diagram import CHARACTERS
from gtp_engine.go.game import Game
from gtp_engine.people.play.game_session import GameSession, Phase
from gtp_engine.sgf import GameNode

_TERRITORY: Final = {"black": "TB", "white": "TW"}
INFORMATION: Final = ("PB", "BR", "PW", "WR", "DT", "EV", "RO", "PC", "GN", "GC")
"""SGF's properties that pages show and change: players, ranks, date, event, round, place, title, comment."""


def state_of(session: GameSession) -> dict[str, Any]:
    """Return everything a page shows of a game, to be called between the session's methods, not while one of them runs.

    Colours are "black" and "white", points are vertices, and boards are given by their rows from the top.
    """
    game, settings, clock = session.game, session.settings, session.clock
    colors = game.board.color.copy()
    colors[list(session.placed)] = BLACK
    tally = game.tally(session.dead) if session.is_counted else {}
    clocks = {format_color(color): clock.left(color)._asdict() for color in (BLACK, WHITE)}
    return {
        "phase": session.phase.value,
        "width": game.width,
        "height": game.height,
        "rows": rows_of(game, colors),  # "." for an empty point, "X" for a black stone, "O" for a white one
        "setup": [(format_color(stone.color), game.vertex(stone.point)) for stone in game.setup_stones],
        "first": format_color(game.first_player),
        "to_play": format_color(game.to_play),
        "human": format_color(settings.human),  # the person's colour
        "names": {format_color(color): name for color, name in settings.names().items()},  # as in records
        "is_engine_turn": session.is_engine_turn,
        "level": session.level,  # as the option play.level
        "moves": [(format_color(move.color), game.vertex(move.point)) for move in game.moves],
        "node": session.node.id,  # of the tree, with this position
        "can_redo": bool(session.node.children),  # whether moves follow in the tree
        "ko": game.ko_point.vertex if game.ko_point else None,  # where a simple ko may not be retaken now
        "captures": {format_color(color): count for color, count in game.captures.items()},  # by each colour
        "rules": str(game.rules),
        "komi": game.komi,
        "handicap": game.handicap,
        "stones_to_place": session.stones_to_place,  # handicap stones that the person still has to place
        "dead": [*map(game.vertex, sorted(session.dead))],  # while they are marked, and in a game that was scored
        "score": str(session.score()) if session.phase is Phase.SCORING else "",  # with these dead stones, as "B+3.5"
        # Where the score is counted: whose each point is, and what each side has (`SideCount`).
        "owners": rows_of(game, area_owners(game.board, session.dead)) if tally else (),
        "tally": {format_color(color): {**asdict(each), "total": each.total} for color, each in tally.items()},
        "result": session.result,  # as SGF writes it; "" before the end
        "time": settings.time.words(),
        "clocks": clocks if clock.is_limited else None,  # at this moment (`TimeLeft`)
        "running": format_color(clock.running) if clock.running else None,  # whose clock runs
        "notes": session.notes,  # what of the record that was loaded was left out or guessed
    }


def rows_of(game: Game, colors: IntArray) -> tuple[str, ...]:
    """Return `colors`, by padded point, as rows from the top: ".", "X" or "O"."""
    points = [[xy_to_point(x, y, width=game.width) for x in range(game.width)] for y in range(game.height)]
    return tuple("".join(CHARACTERS[int(colors[point])] for point in row) for row in points)


def node_values(node: GameNode) -> dict[str, Any]:
    """Return a node of a tree as plain values: `id`, `parent`, and what it has of the rest.

    These are `move` (colour and vertex), `setup` (stones, and "empty" points, in the same form), `player` whose turn it
    is, `name`, `comment`, `marks` and `labels` by vertex, `territory` (colour and vertex), and at the root the
    `information` about the game, by its properties.
    """
    vertex, move = node.tree.vertex, node.move
    stones = node.tree.record.setup_stones if node.parent is None and not node.setup else node.setup
    turn = (node.get("PL") or [""])[0][:1].upper()
    values: dict[str, Any] = {
        "move": None if move is None else (format_color(move.color), vertex(move.point)),
        "setup": [(str(stone.color), vertex(stone.point)) for stone in stones],
        "player": {"B": "black", "W": "white"}.get(turn),
        "name": " ".join(node.get("N")),
        "comment": node.comment,
        "marks": node.marks,
        "labels": node.labels,
        "territory": [(color, each) for color, name in _TERRITORY.items() for each in node.vertices(name)],
        "information": {name: "\n".join(node.get(name)) for name in INFORMATION if not node.parent and node.get(name)},
    }
    parent = None if node.parent is None else node.parent.id
    return {"id": node.id, "parent": parent} | {name: value for name, value in values.items() if value}
