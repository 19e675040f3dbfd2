"""Optional requests of a caller for a search: what to report, which moves to leave out."""

from dataclasses import dataclass

from gtp_engine.search.limits import Reporting, Restriction


@dataclass(frozen=True)
class Request:
    """Optional requests for a search: reports, moves to leave out, ownership, visits, an advantage."""

    reporting: Reporting | None = None
    restrictions: tuple[Restriction, ...] = ()
    move_ownership: bool = False
    """Ownership after each move."""
    visits: int | None = None
    """Most visits of the search, if that is fewer than configured."""
    advantage_black: float | None = None
    """Black's playout doubling advantage; None: the configured one."""
