"""Whether a game is the one that was searched, played on: then its moves lead down the tree that is there."""

from gtp_engine.go.constants import opponent
from gtp_engine.go.game import Game


def moves_since(root: Game | None, root_color: int, game: Game, color: int) -> list[int] | None:
    """Return the points (or PASS) played since `root` was searched with `root_color` to play; None if it is not so.

    It is not so if anything but the moves differs, if a side moved twice in a row, or if `color` would not be to play.
    """
    if root is None or not _is_continued(root, game):
        return None
    to_play = root_color
    points = []
    for move in game.moves[len(root.moves) :]:
        if move.color != to_play:
            return None
        points.append(move.point)
        to_play = opponent(to_play)
    return points if to_play == color else None


def _is_continued(root: Game, game: Game) -> bool:
    """Return whether `game` is the game of `root`, played on under the same conditions."""
    return (
        (root.width, root.height, root.rules, root.setup_stones)
        == (game.width, game.height, game.rules, game.setup_stones)
        and (root.komi, root.handicap) == (game.komi, game.handicap)
        and game.moves[: len(root.moves)] == root.moves
    )
