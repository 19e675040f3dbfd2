"""The best moves of a search as plain values, from the view of the side that makes them."""

from dataclasses import dataclass

from gtp_engine.go.game import Game
from gtp_engine.search.report import MoveReport, SearchReport, completed


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
    report = completed(report, game)
    return [_hint(game, report.to_play, move) for move in report.moves[:count]]


def _hint(game: Game, color: int, move: MoveReport) -> Hint:
    seen = move.seen_by(color)
    return Hint(
        vertex=game.vertex(move.point),
        winrate=seen.winrate,
        lead=seen.lead,
        visits=move.visits,
        prior=move.prior,
        pv=tuple(map(game.vertex, move.pv)),
    )
