"""The state of a session, and the best moves of a search, as plain values that JSON can hold (`dataclasses.asdict`)."""

from dataclasses import asdict, dataclass
from typing import Any, Final

from gtp_engine.go.area import area_owners, remove_dead
from gtp_engine.go.board import STRIDE, IntArray
from gtp_engine.go.constants import BLACK, EMPTY, WHITE
from gtp_engine.go.coords import format_color, xy_to_point
from gtp_engine.go.game import Game
from gtp_engine.people.play.game_session import GameSession, Phase
from gtp_engine.search.report import MoveReport, Outlook, SearchReport
from gtp_engine.sgf import GameNode

_COLORS: Final = {EMPTY: "empty", BLACK: "black", WHITE: "white"}
_TERRITORY: Final = {"black": "TB", "white": "TW"}
INFORMATION: Final = ("PB", "BR", "PW", "WR", "DT", "EV", "RO", "PC", "GN", "GC")
"""SGF's properties that pages show and change: players, ranks, date, event, round, place, title, comment."""

_STONES: Final = {EMPTY: ".", BLACK: "X", WHITE: "O"}


@dataclass(frozen=True)
class GameState:
    """Everything a page or a screen shows of a game; colours are "black" and "white", points are vertices."""

    phase: str
    """A value of `Phase`."""
    width: int
    height: int
    rows: tuple[str, ...]
    """The board from the top, "." for an empty point, "X" for a black stone, "O" for a white one."""
    to_play: str
    human: str
    """The person's colour."""
    names: dict[str, str]
    """The players' names by colour, as in records; see `GameSettings`."""
    is_engine_turn: bool
    level: str
    """The engine's level, as the option play.level."""
    moves: tuple[tuple[str, str], ...]
    """All moves: colour and vertex, or "pass"."""
    node: int
    """The `id` of the node of the tree with this position."""
    can_redo: bool
    """Whether moves follow in the tree."""
    ko: str | None
    """The point where a simple ko may not be retaken now."""
    captures: dict[str, int]
    """How many stones each colour has captured."""
    rules: str
    komi: float
    """Points for White."""
    handicap: int
    stones_to_place: int
    """Handicap stones that the person still has to place."""
    dead: tuple[str, ...]
    """Stones that count as dead, while dead stones are marked and when the game has been scored."""
    score: str
    """The score with these dead stones, while they are marked, as "B+3.5"; else ""."""
    owners: tuple[str, ...]
    """Whose each point is where the score is counted, from the top: "X", "O" or "."; else empty."""
    tally: dict[str, dict[str, float]]
    """By colour what the score is made of (`SideCount`) and its `total`, where it is counted; else empty."""
    result: str
    """As SGF writes it; "" before the end."""
    clocks: dict[str, dict[str, float]] | None
    """Both clocks at this moment (`TimeLeft`); None without a time limit."""
    running: str | None
    """Whose clock runs."""
    notes: tuple[str, ...]
    """What of the record that the game was loaded from was left out or guessed."""


def state_of(session: GameSession) -> GameState:
    """Return the state of a session, to be called between its methods, not while one of them runs."""
    game = session.game
    is_scoring = session.phase is Phase.SCORING
    colors = game.board.color.copy()
    colors[list(session.placed)] = BLACK
    tally = game.tally(session.dead) if session.is_counted else {}
    clocks = {format_color(color): session.clock.left(color)._asdict() for color in (BLACK, WHITE)}
    return GameState(
        phase=session.phase.value,
        width=game.width,
        height=game.height,
        rows=rows_of(game, colors),
        to_play=format_color(game.to_play),
        human=format_color(session.settings.human),
        names={format_color(color): name for color, name in session.settings.names().items()},
        is_engine_turn=session.is_engine_turn,
        level=session.level,
        moves=tuple((format_color(move.color), game.vertex(move.point)) for move in game.moves),
        node=session.node.id,
        can_redo=bool(session.node.children),
        ko=game.ko_point.vertex if game.ko_point else None,
        captures={format_color(color): count for color, count in game.captures.items()},
        rules=str(game.rules),
        komi=game.komi,
        handicap=game.handicap,
        stones_to_place=session.stones_to_place,
        dead=tuple(map(game.vertex, sorted(session.dead))),
        score=str(session.score()) if is_scoring else "",
        owners=_owners(session) if tally else (),
        tally={format_color(color): {**asdict(each), "total": each.total} for color, each in tally.items()},
        result=session.result,
        clocks=clocks if session.clock.is_limited else None,
        running=format_color(session.clock.running) if session.clock.running else None,
        notes=session.notes,
    )


def rows_of(game: Game, colors: IntArray) -> tuple[str, ...]:
    """Return `colors`, by padded point, as rows from the top: ".", "X" or "O"."""
    points = [[xy_to_point(x, y, width=game.width) for x in range(game.width)] for y in range(game.height)]
    return tuple("".join(_STONES[int(colors[point])] for point in row) for row in points)


def _owners(session: GameSession) -> tuple[str, ...]:
    """Return whose each point is in a counted score, living stones included."""
    game = session.game
    return rows_of(game, area_owners(remove_dead(game.board, session.dead), int(game.board.info[STRIDE])))


def node_values(node: GameNode) -> dict[str, Any]:
    """Return a node of a tree as plain values: `id`, `parent`, and what it has of the rest.

    These are `move` (colour and vertex), `setup` (stones, and "empty" points, in the same form), `player` whose turn it
    is, `name`, `comment`, `marks` and `labels` by vertex, `territory` (colour and vertex), and at
    the root the `information` about the game, by its properties.
    """
    vertex, move = node.tree.vertex, node.move
    stones = node.tree.record.setup_stones if node.parent is None and not node.setup else node.setup
    turn = (node.get("PL") or [""])[0][:1].upper()
    values: dict[str, Any] = {
        "move": None if move is None else (format_color(move.color), vertex(move.point)),
        "setup": [(_COLORS[stone.color], vertex(stone.point)) for stone in stones],
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


@dataclass(frozen=True)
class Hint:
    """One move of a search.

    `winrate` in [0, 1] and `lead` in points are those of the side that makes the move; `prior` is the network's
    probability of the move, 0 without a network; `pv` is the expected continuation, the move itself first.
    """

    vertex: str
    winrate: float
    lead: float
    visits: int
    prior: float
    pv: tuple[str, ...]


def hints_of(game: Game, report: SearchReport, count: int) -> list[Hint]:
    """Return the best `count` moves of a search of `game`, the best first."""
    return [_hint(game, move, move.seen_by(report.to_play)) for move in report.moves[:count]]


def _hint(game: Game, move: MoveReport, seen: Outlook) -> Hint:
    return Hint(
        vertex=game.vertex(move.point),
        winrate=seen.winrate,
        lead=seen.lead,
        visits=move.visits,
        prior=move.prior,
        pv=tuple(map(game.vertex, move.pv)),
    )
