"""A game record as a plain value, played on a board, and written: `SgfRecord` to `Game`, `Game` to text."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Final

from gtp_engine import __version__
from gtp_engine.base.errors import IllegalMoveError, SgfError, counted, of_kind
from gtp_engine.go.constants import EMPTY
from gtp_engine.go.coords import BLACK, WHITE, Color, Move, board_points, format_color
from gtp_engine.go.game import Game
from gtp_engine.go.handicap import HANDICAP_KOMI
from gtp_engine.go.rules import Rules, Scoring
from gtp_engine.go.stones import Stones
from gtp_engine.sgf.tree_text import TextNode, lines_of
from gtp_engine.sgf.values import escaped, format_komi, format_rules, format_size, one_line


@dataclass(frozen=True)
class LaterSetup:
    """A change of the position in the middle of a record, made by AB, AW, AE or PL in a later node."""

    move_index: int
    """Number of moves of the main line before it."""
    stones: tuple[Move, ...]
    """Stones put on the board; they replace other stones."""
    emptied: tuple[int, ...]
    """Points that become empty."""
    player: Color | None
    """The colour to play afterwards; None if the record does not set it."""


@dataclass(frozen=True)
class SgfRecord:
    """The main line of one game; points are those of a board of `width` by `height`.

    Optional fields are None if the record lacks them; texts are one line without control characters.  `notes` are
    messages about values that were ignored or guessed.
    """

    width: int
    height: int
    komi: float | None
    """Points for White; Fox's hundredths and counts in stones are already converted."""
    rules: Rules | None
    handicap: int
    """Number of handicap stones, 0 for none; they are in `setup_stones` unless the record plays them as moves."""
    setup_stones: tuple[Move, ...]
    """The stones on the board before the first move."""
    first_player: Color
    """The colour that moves first."""
    moves: tuple[Move, ...]
    later_setups: tuple[LaterSetup, ...] = ()
    black_name: str | None = None
    white_name: str | None = None
    result: str | None = None
    """RE as the record has it, for example "B+3.5", "W+R" or "0"."""
    black_rank: str | None = None
    white_rank: str | None = None
    date: str | None = None
    notes: tuple[str, ...] = ()
    is_cut: bool = False
    """Whether the file has more of the game, which cannot be read or played; then `result` is not that of its end."""

    def names_player(self, player: str) -> bool:
        """Whether a player has this name, in any case of letters."""
        names = (self.black_name or "", self.white_name or "")
        return player.strip().casefold() in [name.strip().casefold() for name in names]


_NAMES: Final = 10
"""Names at most that are listed."""


def no_game_of_player(records: Iterable[SgfRecord]) -> str:
    """Return the sentence for a player of whom no game is found, with the names that the records have."""
    names = sorted({each for record in records for each in (record.black_name, record.white_name) if each})
    those = f"; the records name {', '.join(names[:_NAMES])}{' …' if len(names) > _NAMES else ''}" if names else ""
    return f"no usable game of this player{those}"


def usual_first_player(stones: Sequence[Move], moves: Sequence[Move]) -> Color:
    """Return the colour that moves first in a record without PL.

    It is the colour of the first move; without moves it is White after a handicap (two or more black stones, no white
    one), else Black.
    """
    if moves:
        return moves[0].color
    return WHITE if _is_handicap(stones) else BLACK


def _is_handicap(stones: Sequence[Move]) -> bool:
    return len(stones) >= 2 and all(stone.color == BLACK for stone in stones)


def record_to_game(
    record: SgfRecord, *, move_number: int | None = None, rules: Rules | None = None, komi: float | None = None
) -> Game:
    """Return the game with its moves played.

    With `move_number` N (from 1) the position is the one before move N, as GTP's `loadsgf` defines it, and the colour
    to play is that of move N; a number beyond the end means the end.  `rules` and `komi` are for records that have
    none, and default to those of `Game`; the komi to `HANDICAP_KOMI` with a handicap.

    Repetitions, kos that are retaken and suicides of several stones are played under all rules: real records have them.
    If a record changes the position between two moves, the game starts afresh from the changed position: earlier moves
    cannot be taken back any more, and captures and handicap up to there are forgotten.  A set-up that changes nothing
    is passed over.  Chains that are set up without a liberty are left out.

    Raises SgfError for a `move_number` below 1, and for an illegal move, naming its number.
    """
    game, _, _, error = _replayed(record, move_number, rules, komi)
    if error is not None:
        raise error
    return game


def _replayed(
    record: SgfRecord, move_number: int | None, rules: Rules | None, komi: float | None
) -> tuple[Game, list[str], int, SgfError | None]:
    """Return the game as far as it can be played, notes on what was left out, the moves played, and why not more."""
    if move_number is not None and of_kind(move_number, Integral, "move number") < 1:
        raise SgfError(f"move number {move_number}", expected="1 or more")
    notes: list[str] = []
    last = len(record.moves) if move_number is None else min(move_number - 1, len(record.moves))
    positions = replay(record, rules, komi, notes)
    game = next(positions)
    for played in range(last):
        try:
            next(positions)
        except SgfError as error:
            return game, notes, played, error
    if last < len(record.moves):
        game.to_play = record.moves[last].color
    return game, notes, last, None


def replay(
    record: SgfRecord, rules: Rules | None, komi: float | None, notes: list[str] | None = None
) -> Iterator[Game]:
    """Play a record as `record_to_game` does; yield the game, always the same one, before every move and at the end.

    `notes` receives notes about what was left out.  Raises SgfError for an illegal move; the game is as before it.
    """
    if record.komi is not None:
        komi = record.komi
    elif record.handicap and komi is None:
        komi = HANDICAP_KOMI
    notes = [] if notes is None else notes
    game = Game(record.width, record.height, record.rules or rules, komi)
    notes += _set_up(game, record.setup_stones, record.first_player, moves=0)
    setups: dict[int, list[LaterSetup]] = defaultdict(list)
    for setup in record.later_setups:
        setups[setup.move_index].append(setup)
    for index in range(len(record.moves) + 1):
        for setup in setups.get(index, ()):
            notes += _change_position(game, setup)
        yield game
        if index < len(record.moves):
            move = record.moves[index]
            try:
                game.play(move, tolerant=True)
            except IllegalMoveError as error:
                raise SgfError(f"move {index + 1} ({format_color(move.color)}): {error}") from None


def play_record(
    record: SgfRecord, *, move_number: int | None = None, rules: Rules | None = None, komi: float | None = None
) -> tuple[Game, SgfRecord]:
    """Return what `record_to_game` returns, as far as the record can be played, and the record up to there.

    Notes say where it ends, and which stones were left out.  Raises SgfError for a `move_number` below 1.
    """
    game, notes, played, error = _replayed(record, move_number, rules, komi)
    if error is not None:
        setups = tuple(setup for setup in record.later_setups if setup.move_index <= played)
        record = replace(record, moves=record.moves[:played], later_setups=setups, is_cut=True)
        notes.append(f"{error}; what follows was left out")
    return game, replace(record, notes=(*record.notes, *notes)) if notes else record


def _change_position(game: Game, setup: LaterSetup) -> list[str]:
    """Change stones and side to play in the middle of a game; return notes about what was left out.

    If a record only sets the side to play, the game continues, since each move has its own colour.
    """
    player = setup.player or game.to_play
    if setup.stones or setup.emptied:
        before = dict.fromkeys(board_points(game.width, game.height), EMPTY) | game.stones
        colors = dict(before)
        colors.update((point, color) for color, point in setup.stones)
        colors.update(dict.fromkeys(setup.emptied, EMPTY))
        if colors != before:
            stones = tuple(game.as_move((color, point)) for point, color in colors.items() if color != EMPTY)
            return [*_forgotten(game, setup.move_index), *_set_up(game, stones, player, moves=setup.move_index)]
    game.to_play = player
    return []


def _forgotten(game: Game, moves: int) -> list[str]:
    """Return a note about what no longer counts when the position is changed after this number of moves."""
    forgotten = []
    if (prisoners := sum(game.captures.values())) and game.rules.scoring is Scoring.TERRITORY:
        forgotten.append(counted(prisoners, "prisoner"))
    if game.rules.handicap_points(game.handicap):
        forgotten.append("the points for the handicap")
    where = f"the position is changed after move {moves}"
    return [f"{where}, from which on this no longer counts: {' and '.join(forgotten)}"] if forgotten else []


def _set_up(game: Game, stones: tuple[Move, ...], player: int, *, moves: int) -> list[str]:
    """Let the game begin with these stones; `moves` is the number of moves of the record before.

    Returns a note about chains without a liberty, which no board has.
    """
    try:
        game.set_up(stones, player)
        return []
    except IllegalMoveError:
        board, lives = Stones(game.width, game.height), dict[int, bool]()
        for color, point in stones:
            board.place(point, color)
        for _, point in stones:
            if point not in lives:
                lives |= dict.fromkeys(board.chain(point), bool(board.liberties(point)))
        dead = {point for point, has_liberty in lives.items() if not has_liberty}
        game.set_up([stone for stone in stones if stone.point not in dead], player)
    where = f"after move {moves}" if moves else "at the start"
    first = next(stone.point for stone in stones if stone.point in dead)
    return [f"set-up {where}: {counted(len(dead), 'stone')} without a liberty left out, the first is {first}"]


def format_sgf(game: Game, *, black_name: str = "", white_name: str = "", result: str = "", date: str = "") -> str:
    """Return the game as an SGF record (FF[4], UTF-8): lines of about 79 characters, none of them empty.

    It contains size, rules, komi, set-up and handicap stones, all moves, and the first player and the one to play at
    the end if these are not the usual ones; `parse_sgf` and `record_to_game` turn it into an equal game.  Names,
    `result` ("B+3.5", "W+R", "0") and `date` (ISO) are left out if empty; line breaks and control characters in them
    become blanks.
    """
    properties = _root(game)
    for name, text in (("PB", black_name), ("PW", white_name), ("RE", result), ("DT", date)):
        if text:
            properties[name] = [escaped(one_line(str(text)))]
    root = node = TextNode(None)
    root.raw = dict(sorted(properties.items(), key=lambda item: (item[0] != "FF", item[0])))
    later = [{move.color.letter: [move.point.sgf]} for move in game.moves]
    if game.moves and game.to_play == game.moves[-1].color:
        later.append({"PL": [game.to_play.letter]})
    for raw in later:
        node.children.append(TextNode(node))
        node = node.children[0]
        node.raw = raw
    return "\n".join(lines_of(root))


def _root(game: Game) -> dict[str, list[str]]:
    """Return the root node without names and result."""
    stones = game.setup_stones
    root = {
        "FF": ["4"],
        "GM": ["1"],
        "CA": ["UTF-8"],
        "AP": [f"Tengen:{__version__}"],
        "SZ": [format_size(game.width, game.height)],
        "KM": [format_komi(game.komi)],
        "RU": [escaped(format_rules(game.rules))],
    }
    for color, name in ((BLACK, "AB"), (WHITE, "AW")):
        if points := [stone.point.sgf for stone in stones if stone.color == color]:
            root[name] = points
    if usual_first_player(stones, game.moves) != game.first_player:
        root["PL"] = [game.first_player.letter]
    if game.first_player == WHITE and _is_handicap(stones):
        root["HA"] = [str(len(stones))]
    return root
