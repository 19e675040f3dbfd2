"""Plays a record on a board: `SgfRecord` to `Game`."""

from collections import defaultdict

from gtp_engine.errors import IllegalMoveError, SgfError, problem
from gtp_engine.go.constants import EMPTY, Move
from gtp_engine.go.coords import board_points, format_color
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules
from gtp_engine.sgf.record import LaterSetup, SgfRecord


def record_to_game(
    record: SgfRecord,
    *,
    move_number: int | None = None,
    rules: Rules | None = None,
    komi: float | None = None,
) -> Game:
    """Return the game with its moves played.

    With `move_number` N (from 1) the position is the one before move N, as GTP's `loadsgf` defines it, and the colour
    to play is that of move N; a number beyond the end means the end.  `rules` and `komi` are for records that have
    none, and default to those of `Game`.

    Moves that superko forbids are played under all rules, because real records contain them.  If a record changes the
    position between two moves, the game starts afresh from the changed position: earlier moves cannot be taken back any
    more, and captures and handicap up to there are forgotten.

    Raises SgfError for a `move_number` below 1, for a set-up with a chain that has no liberty, and for an illegal move,
    naming its number.
    """
    if move_number is not None and move_number < 1:
        raise SgfError(problem(f"move number {move_number}", expected="1 or more"))
    count = len(record.moves) if move_number is None else min(move_number - 1, len(record.moves))
    game = Game(record.width, record.height, record.rules or rules, record.komi if record.komi is not None else komi)
    _set_up(game, record.setup_stones, record.first_player, where="at the start")
    setups: dict[int, list[LaterSetup]] = defaultdict(list)
    for setup in record.later_setups:
        setups[setup.move_index].append(setup)
    for index in range(count + 1):
        for setup in setups.get(index, ()):
            _change_position(game, setup)
        if index < count:
            _play(game, record.moves[index], index + 1)
    if count < len(record.moves):
        game.to_play = record.moves[count].color
    return game


def _play(game: Game, move: Move, number: int) -> None:
    try:
        game.play(move, allow_superko=True)
    except IllegalMoveError as error:
        raise SgfError(f"move {number} ({format_color(move.color)}): {error}") from None


def _change_position(game: Game, setup: LaterSetup) -> None:
    """Change stones and side to play in the middle of a game.

    If a record only sets the side to play, the game continues, since each move has its own colour.
    """
    player = setup.player or game.to_play
    if setup.stones or setup.emptied:
        colors = {point: int(game.board.color[point]) for point in board_points(game.width, game.height)}
        colors.update((point, color) for color, point in setup.stones)
        colors.update(dict.fromkeys(setup.emptied, EMPTY))
        stones = tuple(Move(color, point) for point, color in colors.items() if color != EMPTY)
        _set_up(game, stones, player, where=f"after move {setup.move_index}")
    else:
        game.to_play = player


def _set_up(game: Game, stones: tuple[Move, ...], player: int, *, where: str) -> None:
    try:
        game.set_up(stones, player)
    except IllegalMoveError as error:
        raise SgfError(f"set-up {where}: {error}") from None
