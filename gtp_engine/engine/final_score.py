"""Score and status of the stones of a position (dead, alive, seki, territory), as `final_score` of GTP gives them.

They come from one search for each side; groups that these leave in doubt are read out.  In an open position, where
nothing is settled, no group is read out.  After two passes, a stone that would live only if its side moved first is
dead: it did not get that move.  A score is *counted* only if both searches expect the winner that counting gives.  It
depends on the position and the network, neither on the seed nor on the machine's load.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from gtp_engine.base.languages import later
from gtp_engine.engine.game_end import (
    DEAD_BELOW,
    Ownership,
    StatusEstimate,
    allows_atari,
    chain_ownership,
    chains_of,
    counts_all_stones,
    estimate_status,
    has_both_colors,
    reach,
    settled,
    with_dead,
    with_proofs,
)
from gtp_engine.engine.life_reading import LifeReader
from gtp_engine.engine.searches import Searches
from gtp_engine.go.area import remove_dead, territory_owners
from gtp_engine.go.benson import pass_alive_owners
from gtp_engine.go.board import STRIDE
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE, opponent
from gtp_engine.go.coords import Point, board_points, neighbors, points_by_number
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Scoring
from gtp_engine.go.scoring import Score, find_groups, groups_in_seki
from gtp_engine.search.limits import CancelToken, Limits
from gtp_engine.search.report import SearchReport

ALIVE: Final = "alive"
DEAD: Final = "dead"
SEKI: Final = "seki"
BLACK_TERRITORY: Final = "black_territory"
WHITE_TERRITORY: Final = "white_territory"
DAME: Final = "dame"


CLOSE: Final = 2.0
"""Points by which the lead that searches expect may differ from a count: they are off by as much in settled positions,
and where a last neutral point is left."""

NOISE: Final = 0.75
"""Points by which the lead of a search may differ from a count though both mean the same; see `decision.POINT`."""

_NOT_OVER: Final = later("the game is not over")
_OPEN: Final = later("both sides have passed, but the game is not settled")
_LATE: Final = later("reading out groups took too long")


@dataclass(frozen=True)
class FinalScore:
    """The score of a position, with the dead stones and the owners of all points that it comes from."""

    game: Game = field(repr=False)
    score: Score
    status: StatusEstimate
    doubt: str = ""
    """Why the score is not counted, but the lead that searches expect, or not what they expect; empty if counted."""

    @property
    def is_counted(self) -> bool:
        """Whether the points of `statuses` make the score, and searches expect this winner."""
        return not self.doubt

    @property
    def statuses(self) -> dict[Point, str]:
        """The status of each point: alive, dead or seki for stones, territory or dame for empty points."""
        found = status_map(self.game, self.status.dead)
        for point, owner in _neutral_owners(self.game, self.status).items():
            found[point] = BLACK_TERRITORY if owner == BLACK else WHITE_TERRITORY
        points = points_by_number(self.game.width, self.game.height)
        return {points[point]: status for point, status in found.items()}


class Scorer:
    """Scores positions with the separate search; caches the outcome for the last position unless cancelled."""

    def __init__(self, searches: Searches) -> None:
        self._searches = searches
        self._cached: tuple[object, FinalScore] | None = None

    def clear(self) -> None:
        """Forget the cached outcome."""
        self._cached = None

    def outcome(self, game: Game, cancel: CancelToken) -> FinalScore:
        """Return the score: the expected lead while something is open, else counted without the dead stones."""
        key = (game.hash, game.to_play, game.rules, game.komi, game.moves)
        if self._cached is not None and self._cached[0] == key:
            return self._cached[1]
        thresholds, playouts = self._searches.thresholds, self._searches.reading_playouts(game.width, game.height)
        reader = LifeReader(self._searches, cancel=cancel, playouts=playouts)
        self._searches.restart_separate()
        found = self._estimate(game, thresholds.status_visits, reader, cancel)
        if found.doubt and (game.is_over or found.status.is_decided):
            found = self._estimate(game, thresholds.doubt_visits, reader, cancel)
        if thresholds.pass_visits > thresholds.doubt_visits and _may_need_move(game, found.status):
            found = self._estimate(game, thresholds.pass_visits, reader, cancel)
        if reader.is_late:
            found = replace(found, doubt=_LATE)
        if not cancel.is_cancelled:
            self._cached = key, found
        return found

    def _estimate(self, game: Game, visits: int, reader: LifeReader, cancel: CancelToken) -> FinalScore:
        """Return the outcome that two searches of so many visits expect, one for each side.

        Passes at the end of the game are left out: they decide nothing, but to a network they are moves.
        """
        limits = Limits(visits, cancel=cancel)
        left, taken = game, frozenset[int]()
        reports, status = self._expect(left, limits)
        if game.is_over and counts_all_stones(game):
            return FinalScore(game.copy(), game.score(), with_dead(game, status, frozenset()))
        while game.is_over and not status.is_open and (chain := _left_to_die(left, reports)):
            taken = taken.union(chain)
            left = _without(game, taken)
            reports, status = self._expect(left, limits)
        if has_both_colors(left) and (game.is_over or not status.is_open):
            ownerships = [report.ownership_black for report in reports]
            status = estimate_status(left, np.mean(_read_out(left, ownerships, reader), axis=0))
        if game.is_over:
            status = with_dead(game, status, status.dead | taken) if taken else status
            return outcome_of_ended(game, status, reports, is_settled=not taken)
        return outcome_of_unfinished(game, status, next(each for each in reports if each.to_play == game.to_play))

    def _expect(self, game: Game, limits: Limits) -> tuple[list[SearchReport], StatusEstimate]:
        """Return the reports of two searches, of which Black begins one and White the other, and what both expect."""
        without_passes = game.copy()
        without_passes.undo(game.consecutive_passes)
        reports = [self._searches.search_afresh(without_passes, color, limits) for color in (BLACK, WHITE)]
        return reports, estimate_status(game, np.mean([report.ownership_black for report in reports], axis=0))


def _left_to_die(game: Game, reports: Sequence[SearchReport]) -> list[int]:
    """Return the weakest chain that would live if its side moved first, but is dead if the opponent does; [] if none.

    Both sides have passed: it did not get the move that it needs.  Where either side could take stones of the other,
    the weaker ones are those with fewer stones around their liberties; once they are gone, the others may be safe.
    """
    proved = pass_alive_owners(game.board, suicide=game.rules.suicide)
    expected = {report.to_play: with_proofs(report.ownership_black, proved) for report in reports}

    def is_dying(chain: list[int]) -> bool:
        color = int(game.board.color[chain[0]])
        attacked, defended = (chain_ownership(game, chain, expected[first]) for first in (opponent(color), color))
        return attacked < DEAD_BELOW and defended > -DEAD_BELOW

    return min(filter(is_dying, chains_of(game)), key=lambda chain: len(_with_neighbors(game, chain)), default=[])


def _with_neighbors(game: Game, chain: list[int]) -> set[int]:
    """Return the points of a chain and of the others of its colour that share a liberty with it."""
    around = {near for liberty in game.liberties(chain[0]) for near in neighbors(liberty, width=game.width)}
    found = set(chain)
    for point in around:
        if point not in found and game.board.color[point] == game.board.color[chain[0]]:
            found.update(game.chain(point))
    return found


def _without(game: Game, taken: frozenset[int]) -> Game:
    """Return the position without these stones as a new game that has ended, in which areas count as before."""
    left = Game(game.width, game.height, game.rules, game.komi)
    left.set_up([(color, point) for point, color in game.stones.items() if point not in taken], game.to_play)
    left.komi += game.area_komi - left.area_komi
    left.play(PASS)
    left.play(PASS)
    return left


def _may_need_move(game: Game, status: StatusEstimate) -> bool:
    """Return whether filling neutral points may force a move in one's own territory, which no count of it foresees."""
    is_left = game.is_over and game.rules.scoring is Scoring.TERRITORY and bool(status.neutral)
    return is_left and status.is_decided and not status.is_open and allows_atari(game, status)


def _read_out(game: Game, ownerships: Sequence[Ownership], reader: LifeReader) -> tuple[Ownership, ...]:
    """Return `ownerships` after reading out the groups in doubt.

    Unsettled stones become what the side to play makes of them by moving first.  In a game that is over they keep what
    the searches expected, because both sides have passed.
    """
    if not game.is_over:
        return reader.read_out(game, ownerships, to_play=game.to_play)
    found = reader.read_out(game, ownerships)
    return tuple(np.where(now == 0, before, now) for before, now in zip(ownerships, found, strict=True))


def outcome_of_ended(
    game: Game, status: StatusEstimate, reports: Sequence[SearchReport], *, is_settled: bool = True
) -> FinalScore:
    """Return the outcome after two passes: counted, unless the searches expect another winner, or it is not settled.

    Where the players left an open area, a winner that both searches expect is more reliable than a count.  Elsewhere
    the count is, because groups were read out, unless a side may need a move before all neutral points are filled: then
    a winner that both expect is that by the mean of their leads.  Two leads of which one is more than twice the other
    are no agreement, unless they are `CLOSE`.  Any other lead is that of the side to play, as before the passes.
    """
    final = settled(game, status)
    count = game.score(final.dead)
    leads = [report.lead_black for report in reports]
    winners = [score_by_lead(game, lead).winner for lead in leads]
    is_agreed = all(
        winner == count.winner or abs(lead - count.margin_black) <= NOISE
        for winner, lead in zip(winners, leads, strict=True)
    )
    is_same = max(leads) - min(leads) <= max(CLOSE, min(map(abs, leads)))
    if is_settled and is_same and not final.is_open and is_agreed:
        return FinalScore(game.copy(), count, final)
    if is_settled and is_same and not is_agreed and winners[0] == winners[-1] and _may_need_move(game, final):
        return FinalScore(game.copy(), score_by_lead(game, float(np.mean(leads))), final, _OPEN)
    is_lead = final.is_open or (status.is_open and count.winner not in winners)
    lead = next(lead for report, lead in zip(reports, leads, strict=True) if report.to_play == game.to_play)
    return FinalScore(game.copy(), score_by_lead(game, lead) if is_lead else count, final, _OPEN)


def outcome_of_unfinished(game: Game, status: StatusEstimate, report: SearchReport) -> FinalScore:
    """Return the outcome of a game that is not over, after the search for the side to play."""
    count, expected = estimated_score(game, status), score_by_lead(game, report.lead_black)
    if status.is_decided and expected.winner == count.winner:
        return FinalScore(game.copy(), count, status)
    is_close = status.is_decided and abs(expected.margin_black - count.margin_black) <= CLOSE
    is_count = is_close or not (report.has_score or not has_both_colors(game))
    return FinalScore(game.copy(), count if is_count else expected, status, _NOT_OVER)


def estimated_score(game: Game, status: StatusEstimate) -> Score:
    """Return the score of an unfinished game; neutral points count as in `_neutral_owners`."""
    score = game.score(status.dead)
    owners = [*_neutral_owners(game, status).values()]
    return Score(score.black + owners.count(BLACK), score.white + owners.count(WHITE))


def _neutral_owners(game: Game, status: StatusEstimate) -> dict[int, int]:
    """Return the colour that a neutral point of an unfinished game counts for, where it counts.

    Under area rules it is the one that is expected to fill it.  Under territory rules it counts for neither, but in an
    open area both sides will have territory.
    """
    if game.is_over or (game.rules.scoring is Scoring.TERRITORY and not status.is_open):
        return {}
    return {point: int(status.owners[point]) for point in status.neutral if status.owners[point] != EMPTY}


def score_by_lead(game: Game, lead_black: float) -> Score:
    """Return the possible score nearest to `lead_black`, the points by which Black is expected to win."""
    is_area = game.rules.scoring is Scoring.AREA
    white = game.area_komi if is_area else game.komi
    margin = round(lead_black + white)
    return Score(float(max(margin, 0)), max(-margin, 0) + white)


def status_map(game: Game, dead: Collection[int]) -> dict[int, str]:
    """Return the status of every point: alive, dead or seki for stones, territory or dame for empty points."""
    colors = remove_dead(game.board, dead)
    stride = int(game.board.info[STRIDE])
    owners = territory_owners(colors, stride)
    in_seki = groups_in_seki(find_groups(colors.tolist(), owners.tolist(), stride))
    seki = {point for group in in_seki for point in group.stones}
    empty_names = {BLACK: BLACK_TERRITORY, WHITE: WHITE_TERRITORY, EMPTY: DAME}
    result = {}
    for point in board_points(game.width, game.height):
        if game.board.color[point] == EMPTY:
            result[point] = empty_names[int(owners[point])]
        elif point in dead:
            result[point] = DEAD
        else:
            result[point] = SEKI if point in seki else ALIVE
    return result


def groups_with_status(game: Game, statuses: dict[Point, str], status: str) -> list[list[int]]:
    """Return the groups whose stones have a status, each as its sorted points.

    Dead chains in one enclosed area form one group, because they live or die together; any other chain is a group of
    its own.
    """
    chains = [chain for chain in chains_of(game) if statuses[game.point(chain[0])] == status]
    if status != DEAD:
        return chains
    groups: list[set[int]] = []
    for chain in chains:
        joined = {*chain}
        color = int(game.board.color[chain[0]])
        reachable = reach(game, chain, np.isin(game.board.color, (EMPTY, color)))
        separate = []
        for group in groups:
            if reachable.isdisjoint(group):
                separate.append(group)
            else:
                joined |= group
        groups = [*separate, joined]
    return sorted(sorted(group) for group in groups)
